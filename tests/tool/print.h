#ifndef TOOL_PRINT_H
#define TOOL_PRINT_H

#include "buffer.h"

/* Appends cases: each of PATHS is a folder, or what the paths of a case's files begin with
 * (run/fused/fold_conv.). */
void put_cases(struct buffer *buffer, char **paths, int n);
/* Appends a model, sample, function or .npy file as text. */
void put_file(struct buffer *buffer, const char *path);

#endif
