#ifndef AMP_CHECK_TASK_CANDIDATE_H
#define AMP_CHECK_TASK_CANDIDATE_H

#include "onnx/file/placement.h"
#include "onnx/file/read.h"

/* Writes MODEL, with its data file beside it, to a folder of the program's own and gives its path
   in *PATH, in MODEL's arena. PLACEMENT says what goes where when the model itself is written.
   amp_candidate_remove removes it, and so does the end of the program. One at a time. AMP_IO when
   it cannot be written. */
enum amp_status amp_candidate_write(const struct amp_model *model,
                                    const struct amp_placement *placement, const char **path,
                                    struct amp_error *err);

/* Gives in *PATH a file that holds the model FILE, in its arena: its own, or a copy where it came
   through a stream, as amp_candidate_write makes one. AMP_USAGE for a stream with external data,
   which a copy would not find. */
enum amp_status amp_candidate_of_input(const struct amp_model_file *file, const char **path,
                                       struct amp_error *err);

/* Removes what was written last; nothing when nothing was. */
void amp_candidate_remove(void);

#endif
