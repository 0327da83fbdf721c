#ifndef AMP_CORE_FILE_OUTPUT_H
#define AMP_CORE_FILE_OUTPUT_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * An output that exists whole or not at all: written in the target's folder under a temporary name
 * and renamed when it is complete; removed when it is abandoned, when the program exits without
 * that, and when a signal ends it. A symbolic link stays, and what it leads to is the target. PATH
 * "-" is stdout, where, as with what is no regular file, only the order of the bytes can be
 * promised. Where the folder is moved or removed in the meantime, nothing is left of it.
 */
struct amp_output;

/* Two can be open at a time. AMP_IO when it cannot be created; PATH must outlive the output. */
enum amp_status amp_output_open(struct amp_output **output, const char *path,
                                struct amp_error *err);
/* For those who would otherwise work long before they hear of it: AMP_IO when no file can be
   created or replaced at PATH. Creates nothing. */
enum amp_status amp_output_check(const char *path, struct amp_error *err);
/* The same for a file that is added to, and made where there is none. */
enum amp_status amp_output_check_log(const char *path, struct amp_error *err);
/* The same for a folder that files are written to, and which is made where there is none. */
enum amp_status amp_output_check_folder(const char *path, struct amp_error *err);
/* Whether what is written to one of the paths replaces what is written to the other. */
bool amp_output_is_same(const char *a, const char *b);
/* Whether the paths INPUT and OUTPUT lead to one regular file, through links of both kinds; "-" is
   what stdin is. */
bool amp_output_is_input(const char *input, const char *output);
/* Appends SIZE bytes. AMP_IO when they cannot be written. */
enum amp_status amp_output_write(struct amp_output *output, const void *data, size_t size,
                                 struct amp_error *err);
/* Flushes, closes and renames; frees OUTPUT in every case. */
enum amp_status amp_output_commit(struct amp_output *output, struct amp_error *err);
/* Writes TEXT and the end of its last line to PATH, whole or not at all. */
enum amp_status amp_output_write_text(const char *path, const char *text, struct amp_error *err);
/*
 * Commits COUNT outputs that belong together, of which the last makes the earlier ones count; frees
 * them in every case. Nothing is renamed before all are complete. Then the old targets step aside,
 * the last one first, and the new ones take their places, the last one last: at no time does an old
 * file go with a new one, even if the program is killed there; then it may be that none is in its
 * place. No other signal comes between, and when a rename fails all is put back.
 */
enum amp_status amp_outputs_commit(struct amp_output *const *outputs, size_t count,
                                   struct amp_error *err);
/* Removes what was written; frees OUTPUT. NULL is fine. */
void amp_output_abandon(struct amp_output *output);

/* Sets the function that says, when all is written and before anything takes its place, whether the
   inputs are what they were. Its failure becomes that of the commit. */
typedef enum amp_status amp_outputs_check(struct amp_error *err);
void amp_outputs_require(amp_outputs_check *check);

#endif
