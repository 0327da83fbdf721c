/*
 * NumPy's .npz files: zip archives of .npy files, one per array, stored or deflated. Each array is
 * inflated where it stays, after the caller has said where that is; npy.c reads what the entries
 * hold. Encrypted archives are refused.
 */
#include "onnx/sample/npz.h"

#include "core/arena.h"
#include "core/file/input.h"
#include "core/words.h"
#include "onnx/sample/npy.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* An entry, inflated as it is read. */
struct inflated {
    struct amp_npy_source base; /* first, so that a pointer to it is the entry's */
    zip_file_t *file;
};

/* At the end of an entry there must be no more data; libzip checks the checksum when it gets there.
 */
static enum amp_status check_end(zip_file_t *file, struct amp_error *err)
{
    char more;
    zip_int64_t n = zip_fread(file, &more, sizeof more);
    if (n > 0)
        return amp_fail(err, AMP_MODEL, "more data than the .npz file says it has");
    if (n < 0)
        return amp_fail(err, AMP_MODEL, "cannot be read: %s", zip_file_strerror(file));
    return AMP_OK;
}

static enum amp_status read_file(struct amp_npy_source *source, void *to, size_t size,
                                 struct amp_error *err)
{
    zip_file_t *file = ((struct inflated *)source)->file;
    for (size_t done = 0; done < size;) {
        zip_int64_t n = zip_fread(file, (unsigned char *)to + done, size - done);
        if (n < 0)
            return amp_fail(err, AMP_MODEL, "cannot be read: %s", zip_file_strerror(file));
        if (n == 0)
            return amp_fail(err, AMP_MODEL, "ends %zu bytes before it should", size - done);
        done += (size_t)n;
    }
    return AMP_OK;
}

/* Reads entry INDEX of the archive into TENSOR. */
static enum amp_status inflate(zip_t *zip, zip_uint64_t index, struct amp_tensor *tensor,
                               struct amp_error *err)
{
    zip_stat_t info;
    if (zip_stat_index(zip, index, 0, &info) != 0 || !(info.valid & ZIP_STAT_SIZE) ||
        info.size > SIZE_MAX / 2)
        return amp_fail(err, AMP_MODEL, "cannot be read: its size is not known");
    if ((info.valid & ZIP_STAT_ENCRYPTION_METHOD) && info.encryption_method != ZIP_EM_NONE)
        return amp_fail(err, AMP_MODEL, "is encrypted; plain arrays are read");
    zip_file_t *file = zip_fopen_index(zip, index, 0);
    if (file == NULL)
        return amp_fail(err, AMP_MODEL, "cannot be read: %s", zip_strerror(zip));
    struct inflated source = {
        .base = {.read = read_file, .left = (size_t)info.size, .is_exact = true}, .file = file};
    enum amp_status status = amp_npy_read(&source.base, tensor, err);
    if (status == AMP_OK && (status = check_end(file, err)) != AMP_OK)
        amp_tensor_release(tensor);
    zip_fclose(file);
    return status;
}

/* Reads entry INDEX where it is an array that FIND has a place for. */
static enum amp_status read_entry(zip_t *zip, zip_uint64_t index, amp_npz_find *find, void *context,
                                  struct amp_error *err)
{
    const char *name = zip_get_name(zip, index, 0);
    struct amp_tensor *tensor = NULL;
    if (name == NULL || !amp_word_has_ending(name, ".npy"))
        return AMP_OK;
    char *stem = amp_xstrdup(name);
    stem[strlen(name) - strlen(".npy")] = '\0';
    enum amp_status status = find(context, stem, &tensor, err);
    if (status == AMP_OK && tensor != NULL && (status = inflate(zip, index, tensor, err)) != AMP_OK)
        amp_error_prefix(err, "array '%s'", stem);
    free(stem);
    return status;
}

static enum amp_status read_entries(zip_t *zip, amp_npz_find *find, void *context,
                                    struct amp_error *err)
{
    zip_int64_t count = zip_get_num_entries(zip, 0);
    for (zip_int64_t i = 0; i < count; i++)
        AMP_TRY(read_entry(zip, (zip_uint64_t)i, find, context, err));
    return AMP_OK;
}

/* The archive in BYTES, which must outlive it; NULL when they are none. */
static zip_t *open_zip(const struct amp_bytes *bytes)
{
    if (bytes->size == 0) /* to libzip an archive without entries */
        return NULL;
    zip_source_t *source = zip_source_buffer_create(bytes->data, bytes->size, 0, NULL);
    zip_t *zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, NULL) : NULL;
    if (zip == NULL && source != NULL)
        zip_source_free(source);
    return zip;
}

enum amp_status amp_npz_read(const char *path, amp_npz_find *find, void *context,
                             struct amp_error *err)
{
    struct amp_bytes bytes;
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    zip_t *zip = open_zip(&bytes);
    enum amp_status status =
        zip != NULL ? read_entries(zip, find, context, err)
                    : amp_fail(err, AMP_MODEL, "not a .npz file (a zip of .npy files)");
    if (zip != NULL)
        zip_discard(zip);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", path);
    else
        status = amp_bytes_check(&bytes, err);
    amp_bytes_close(&bytes);
    return status;
}
