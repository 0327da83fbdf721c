/*
 * Model files for those who judge models from outside: takes a model and where its data would go,
 * gives a path that others can read for a while. Knows nothing of what is judged.
 */
#include "check/task/candidate.h"

#include "core/file/output.h"
#include "core/file/scratch.h"
#include "onnx/file/external.h"
#include "onnx/file/write.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char model_name[] = "model.onnx";

/* The name of the data file, relative to the folder of the model; NULL without one. */
static const char *data_name(const struct amp_placement *placement)
{
    const char *slash = strrchr(placement->path, '/');
    if (placement->data_path == NULL)
        return NULL;
    return placement->data_path + (slash == NULL ? 0 : slash + 1 - placement->path);
}

/* Makes the folders below FOLDER that the file NAME lies in. */
static enum amp_status make_folders(const char *folder, const char *name, struct amp_arena *arena,
                                    struct amp_error *err)
{
    for (const char *at = name; (at = strchr(at, '/')) != NULL; at++) {
        const char *path = amp_arena_printf(arena, "%s/%.*s", folder, (int)(at - name), name);
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return amp_fail(err, AMP_IO, "%s: cannot create the folder: %s", path, strerror(errno));
    }
    return AMP_OK;
}

static enum amp_status write_below(const char *folder, const struct amp_model *model,
                                   const struct amp_placement *placement, const char **path,
                                   struct amp_error *err)
{
    struct amp_placement elsewhere = *placement;
    const char *data = data_name(placement);
    bool is_taken = data != NULL && strcmp(data, model_name) == 0;
    elsewhere.path =
        amp_arena_printf(model->arena, "%s/%s%s", folder, is_taken ? "_" : "", model_name);
    if (data != NULL) {
        AMP_TRY(make_folders(folder, data, model->arena, err));
        elsewhere.data_path = amp_arena_printf(model->arena, "%s/%s", folder, data);
    }
    *path = elsewhere.path;
    return amp_model_write(model, &elsewhere, err);
}

enum amp_status amp_candidate_write(const struct amp_model *model,
                                    const struct amp_placement *placement, const char **path,
                                    struct amp_error *err)
{
    const char *folder;
    AMP_TRY(amp_scratch_open(&folder, err));
    enum amp_status status = write_below(folder, model, placement, path, err);
    if (status != AMP_OK)
        amp_scratch_close();
    return status;
}

static enum amp_status copy_bytes(const struct amp_model_file *file, const char *path,
                                  struct amp_error *err)
{
    struct amp_output *output;
    AMP_TRY(amp_output_open(&output, path, err));
    if (amp_output_write(output, file->bytes.data, file->bytes.size, err) == AMP_OK)
        return amp_output_commit(output, err);
    amp_output_abandon(output);
    return err->status;
}

enum amp_status amp_candidate_of_input(const struct amp_model_file *file, const char **path,
                                       struct amp_error *err)
{
    const char *folder;
    *path = file->path;
    if (!amp_file_is_stream(file->path))
        return AMP_OK;
    if (amp_external_size(file->external) > 0)
        return amp_fail(err, AMP_USAGE,
                        "%s: a model with external data came through a stream; a command that "
                        "judges it needs a file",
                        file->path);
    AMP_TRY(amp_scratch_open(&folder, err));
    *path = amp_arena_printf(file->arena, "%s/%s", folder, model_name);
    enum amp_status status = copy_bytes(file, *path, err);
    if (status != AMP_OK)
        amp_scratch_close();
    return status;
}

void amp_candidate_remove(void)
{
    amp_scratch_close();
}
