#ifndef AMP_ONNX_SAMPLE_PATH_H
#define AMP_ONNX_SAMPLE_PATH_H

#include <stdbool.h>

/* Private to onnx/sample. The path of NAME in FOLDER, which the caller frees; FOLDER where NAME is
   empty. */
char *amp_path_join(const char *folder, const char *name);

/* Whether FOLDER has a file NAME. */
bool amp_path_exists(const char *folder, const char *name);

#endif
