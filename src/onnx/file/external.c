/*
 * External tensor data: finds the files, sees that they lie inside the model's folder, and maps
 * them whole; the pages that nobody reads cost nothing. Takes locations as the model has them; what
 * the bytes mean is tensor_proto.c's question.
 */
#include "onnx/file/external.h"

#include "core/arena.h"
#include "core/file/input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is mapped. */
struct file {
    char *location; /* as the model has it */
    char *path;     /* real */
    struct amp_bytes bytes;
};

struct amp_external {
    char *folder; /* of the model */
    struct file *files;
    size_t n_files;
};

struct amp_external *amp_external_create(const char *model_path)
{
    struct amp_external *external = amp_xmalloc(1, sizeof *external);
    const char *slash = amp_file_is_stream(model_path) ? NULL : strrchr(model_path, '/');
    *external = (struct amp_external){.files = NULL};
    external->folder = amp_xstrdup(slash != NULL ? model_path : ".");
    if (slash != NULL)
        external->folder[slash == model_path ? 1 : slash - model_path] = '\0';
    return external;
}

void amp_external_destroy(struct amp_external *external)
{
    if (external == NULL)
        return;
    for (size_t i = 0; i < external->n_files; i++) {
        free(external->files[i].location);
        free(external->files[i].path);
        amp_bytes_close(&external->files[i].bytes);
    }
    free(external->files);
    free(external->folder);
    free(external);
}

uint64_t amp_external_size(const struct amp_external *external)
{
    uint64_t size = 0;
    for (size_t i = 0; i < external->n_files; i++)
        size += external->files[i].bytes.size;
    return size;
}

bool amp_external_has(const struct amp_external *external, const char *path)
{
    char *real = realpath(path, NULL);
    bool is_there = false;
    for (size_t i = 0; i < external->n_files && real != NULL; i++)
        is_there |= strcmp(external->files[i].path, real) == 0;
    free(real);
    return is_there;
}

/* Whether one of the path's parts is "..". */
static bool climbs(const char *path)
{
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

/* Resolves LOCATION to a real path within the model's folder; the caller frees it. */
static enum amp_status resolve(const struct amp_external *external, const char *location,
                               char **path, struct amp_error *err)
{
    char joined[PATH_MAX];
    if (location[0] == '/' || location[0] == '\0' || climbs(location))
        return amp_fail(err, AMP_MODEL,
                        "external data location '%s'; a path below the model's folder is needed",
                        location);
    int n = snprintf(joined, sizeof joined, "%s/%s", external->folder, location);
    if (n < 0 || (size_t)n >= sizeof joined)
        return amp_fail(err, AMP_MODEL, "external data location of %d bytes is too long", n);
    char *folder = realpath(external->folder, NULL), *real = realpath(joined, NULL);
    int reason = errno;
    size_t length = folder ? strlen(folder) : 0;
    bool is_root = length == 1;
    enum amp_status status = AMP_OK;
    if (folder == NULL || real == NULL)
        status = amp_fail(err, AMP_MODEL, "external data file '%s': %s", joined, strerror(reason));
    else if (!is_root && (strncmp(real, folder, length) != 0 || real[length] != '/'))
        status = amp_fail(err, AMP_MODEL,
                          "external data location '%s' lies outside the model's folder", location);
    free(folder);
    if (status != AMP_OK) {
        free(real);
        real = NULL;
    }
    *path = real;
    return status;
}

/* The bytes of file LOCATION, which is mapped when it was not yet. */
static enum amp_status find_file(struct amp_external *external, const char *location,
                                 const struct amp_bytes **bytes, struct amp_error *err)
{
    for (size_t i = 0; i < external->n_files; i++)
        if (strcmp(external->files[i].location, location) == 0) {
            *bytes = &external->files[i].bytes;
            return AMP_OK;
        }
    struct file file = {.location = NULL};
    AMP_TRY(resolve(external, location, &file.path, err));
    enum amp_status status = amp_bytes_open(&file.bytes, file.path, err);
    if (status != AMP_OK) {
        free(file.path);
        return status;
    }
    file.location = amp_xstrdup(location);
    external->files = amp_xrealloc(external->files, external->n_files + 1, sizeof *external->files);
    external->files[external->n_files] = file;
    *bytes = &external->files[external->n_files++].bytes;
    return AMP_OK;
}

enum amp_status amp_external_map(struct amp_external *external,
                                 const struct amp_external_range *range, void **data,
                                 struct amp_error *err)
{
    const struct amp_bytes *bytes;
    AMP_TRY(find_file(external, range->location, &bytes, err));
    if (range->offset > bytes->size || range->size > bytes->size - range->offset)
        return amp_fail(err, AMP_MODEL,
                        "external data file '%s' has %zu bytes; %llu at offset %llu are needed",
                        range->location, bytes->size, (unsigned long long)range->size,
                        (unsigned long long)range->offset);
    *data = bytes->data ? bytes->data + range->offset : NULL;
    return AMP_OK;
}
