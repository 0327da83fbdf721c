/*
 * Samples on disk: single tensors as .pb or .npy, and folders of inputs with expected outputs as
 * ONNX's backend tests and NumPy users keep them.
 */
#include "onnx/testdata.h"

#include "core/file.h"
#include "onnx/npy.h"
#include "onnx/tensor_proto.h"
#include "onnx/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

/* Copies strings into ARENA, so that the file's bytes can go. */
static void keep_strings(struct amp_arena *arena, struct amp_tensor *tensor)
{
    struct amp_str *strings = tensor->data;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        strings[i].data =
            amp_arena_strndup(arena, strings[i].data ? strings[i].data : "", strings[i].size);
}

static enum amp_status parse_pb(struct amp_bytes *bytes, struct amp_arena *arena,
                                struct amp_arena *scratch, struct amp_tensor *tensor,
                                const char **name, struct amp_error *err)
{
    ProtobufCMessage *message;
    struct amp_tensor view;
    AMP_TRY(amp_wire_parse(&onnx__tensor_proto__descriptor, bytes->data, bytes->size, scratch,
                           &message, err));
    const Onnx__TensorProto *proto = (const Onnx__TensorProto *)message;
    AMP_TRY(amp_tensor_from_proto(proto, scratch, NULL, &view, err));
    *tensor = (struct amp_tensor){.dtype = view.dtype, .shape = view.shape};
    AMP_TRY(amp_tensor_alloc(tensor, err));
    memcpy(tensor->data, view.data, amp_tensor_size(&view));
    if (tensor->dtype == AMP_STRING)
        keep_strings(arena, tensor);
    if (name != NULL)
        *name = proto->name ? amp_arena_strdup(arena, proto->name) : "";
    return AMP_OK;
}

static enum amp_status load_pb(struct amp_bytes *bytes, struct amp_arena *arena,
                               struct amp_tensor *tensor, const char **name, struct amp_error *err)
{
    struct amp_arena *scratch = amp_arena_create();
    enum amp_status status = parse_pb(bytes, arena, scratch, tensor, name, err);
    amp_arena_destroy(scratch);
    return status;
}

enum amp_status amp_tensor_load(const char *path, struct amp_arena *arena,
                                struct amp_tensor *tensor, const char **name, struct amp_error *err)
{
    struct amp_bytes bytes;
    enum amp_status status;
    *tensor = (struct amp_tensor){.data = NULL};
    if (name != NULL)
        *name = "";
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    if (has_ending(path, ".npy"))
        status = amp_npy_parse(bytes.data, bytes.size, tensor, err);
    else if (has_ending(path, ".pb"))
        status = load_pb(&bytes, arena, tensor, name, err);
    else
        status = amp_fail(err, AMP_MODEL, "not a .npy or .pb file");
    amp_bytes_close(&bytes);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", path);
    return status;
}

struct pack {
    ProtobufCBuffer base;
    struct amp_output *output;
    struct amp_error *err;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    struct pack *pack = (struct pack *)buffer;
    amp_output_write(pack->output, data, size, pack->err);
}

static enum amp_status write_pb(struct amp_output *output, const char *name,
                                const struct amp_tensor *tensor, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    struct pack pack = {.base.append = append, .output = output, .err = err};
    const Onnx__TensorProto *proto = amp_tensor_to_proto(tensor, name, arena);
    protobuf_c_message_pack_to_buffer(&proto->base, &pack.base);
    amp_arena_destroy(arena);
    return err->status;
}

enum amp_status amp_tensor_save(const char *path, const char *name, const struct amp_tensor *tensor,
                                struct amp_error *err)
{
    struct amp_output *output;
    AMP_TRY(amp_output_open(&output, path, err));
    enum amp_status status = has_ending(path, ".npy") ? amp_npy_write(output, tensor, err)
                                                      : write_pb(output, name, tensor, err);
    if (status == AMP_OK)
        return amp_output_commit(output, err);
    amp_output_abandon(output);
    return status;
}

/* Adds the entries of FOLDER that match PATTERN. */
static enum amp_status add_matches(struct amp_samples *samples, const char *folder,
                                   const char *pattern, struct amp_error *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return amp_fail(err, AMP_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (fnmatch(pattern, entry->d_name, 0) != 0)
            continue;
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        char *path = amp_xmalloc(size, 1);
        snprintf(path, size, "%s/%s", folder, entry->d_name);
        samples->paths = amp_xrealloc(samples->paths, samples->count + 1, sizeof *samples->paths);
        samples->paths[samples->count++] = path;
    }
    closedir(dir);
    return AMP_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

enum amp_status amp_samples_open(const char *folder, struct amp_samples *samples,
                                 struct amp_error *err)
{
    *samples = (struct amp_samples){.count = 0};
    AMP_TRY(add_matches(samples, folder, "test_data_set_*", err));
    if (samples->count == 0)
        AMP_TRY(add_matches(samples, folder, "*.npz", err));
    if (samples->count == 0) {
        AMP_TRY(add_matches(samples, folder, "input_0.pb", err));
        if (samples->count == 1) {
            free(samples->paths[0]);
            samples->paths[0] = strdup(folder);
        }
    }
    if (samples->count == 0)
        return amp_fail(
            err, AMP_MODEL,
            "%s: no samples; test_data_set_N folders, input_K.pb or .npz files are read", folder);
    qsort(samples->paths, samples->count, sizeof *samples->paths, compare_paths);
    return AMP_OK;
}

void amp_samples_close(struct amp_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        free(samples->paths[i]);
    free(samples->paths);
    *samples = (struct amp_samples){.count = 0};
}

/* The files STEM_0.pb, STEM_1.pb ... are IDS in this order, without inputs that have an
   initializer. */
static enum amp_status load_numbered(const char *folder, const char *stem,
                                     const struct amp_ids *ids, const struct amp_model *model,
                                     struct amp_tensor *tensors, struct amp_error *err)
{
    char path[PATH_MAX];
    size_t number = 0;
    bool is_input = ids == &model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        if (is_input && amp_value_at(model, ids->items[i])->is_initializer)
            continue;
        snprintf(path, sizeof path, "%s/%s_%zu.pb", folder, stem, number++);
        FILE *file = fopen(path, "rb");
        if (file == NULL)
            continue;
        fclose(file);
        AMP_TRY(amp_tensor_load(path, model->arena, &tensors[i], NULL, err));
        /* ONNX's test data keep bfloat16, which numpy does not have, as the uint16 of its bits. */
        if (tensors[i].dtype == AMP_UINT16 &&
            amp_value_at(model, ids->items[i])->dtype == AMP_BFLOAT16)
            tensors[i].dtype = AMP_BFLOAT16;
    }
    return AMP_OK;
}

struct named {
    const struct amp_model *model;
    struct amp_tensor *inputs, *outputs;
};

static bool take(const struct amp_model *model, const struct amp_ids *ids, const char *name,
                 struct amp_tensor *to, struct amp_tensor *tensor)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(amp_value_at(model, ids->items[i])->name, name) == 0) {
            amp_tensor_release(&to[i]);
            to[i] = *tensor;
            return true;
        }
    return false;
}

static enum amp_status visit_array(void *context, const char *name, struct amp_tensor *tensor,
                                   struct amp_error *err)
{
    const struct named *named = context;
    const struct amp_graph *graph = &named->model->graphs[0];
    if (take(named->model, &graph->inputs, name, named->inputs, tensor) ||
        take(named->model, &graph->outputs, name, named->outputs, tensor))
        return AMP_OK;
    amp_tensor_release(tensor);
    return amp_fail(err, AMP_MODEL, "array '%s' is no input or output of the model", name);
}

enum amp_status amp_sample_load(const struct amp_samples *samples, size_t i,
                                const struct amp_model *model, struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err)
{
    const char *path = samples->paths[i];
    const struct amp_graph *graph = &model->graphs[0];
    if (has_ending(path, ".npz")) {
        struct named named = {model, inputs, outputs};
        return amp_npz_read(path, visit_array, &named, err);
    }
    AMP_TRY(load_numbered(path, "input", &graph->inputs, model, inputs, err));
    return load_numbered(path, "output", &graph->outputs, model, outputs, err);
}
