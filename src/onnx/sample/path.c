/*
 * Paths of files in the folder of a sample.
 */
#include "onnx/sample/path.h"

#include "core/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *amp_path_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = amp_xmalloc(size, 1);
    snprintf(path, size, "%s%s%s", folder, name[0] ? "/" : "", name);
    return path;
}

bool amp_path_exists(const char *folder, const char *name)
{
    char *path = amp_path_join(folder, name);
    bool exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}
