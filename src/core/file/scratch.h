#ifndef AMP_CORE_FILE_SCRATCH_H
#define AMP_CORE_FILE_SCRATCH_H

#include "core/status.h"

/* Makes a folder for files that are not to stay, in $TMPDIR, else /tmp, and gives its absolute path
   in *FOLDER, good until it is closed. It goes with all that is in it when it is closed and
   whatever ends the program. One can be open at a time. AMP_IO when it cannot be made. */
enum amp_status amp_scratch_open(const char **folder, struct amp_error *err);

/* Removes the folder with what anybody put into it; nothing when none is open. */
void amp_scratch_close(void);

#endif
