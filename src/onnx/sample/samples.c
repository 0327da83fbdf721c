/*
 * Samples on disk: single tensors as .pb or .npy, and folders of inputs with expected outputs as
 * ONNX's backend tests and NumPy users keep them.
 */
#include "onnx/sample/samples.h"

#include "core/file/input.h"
#include "core/file/output.h"
#include "core/strmap.h"
#include "core/words.h"
#include "onnx/sample/npy.h"
#include "onnx/sample/value_proto.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum amp_status amp_tensor_load(const char *path, enum amp_kind kind, struct amp_tensor *tensor,
                                struct amp_error *err)
{
    struct amp_bytes bytes;
    enum amp_status status;
    *tensor = (struct amp_tensor){.data = NULL};
    bool is_npy = amp_word_has_ending(path, ".npy");
    if (!is_npy && !amp_word_has_ending(path, ".pb"))
        return amp_fail(err, AMP_MODEL, "%s: not a .npy or .pb file", path);
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    if (is_npy)
        status = amp_npy_parse(bytes.data, bytes.size, tensor, err);
    else
        status = amp_value_parse(kind, bytes.data, bytes.size, tensor, err);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", path);
    else if ((status = amp_bytes_check(&bytes, err)) != AMP_OK)
        amp_tensor_release(tensor);
    amp_bytes_close(&bytes);
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
    if (pack->err->status == AMP_OK)
        amp_output_write(pack->output, data, size, pack->err);
}

enum amp_status amp_tensor_save(const char *path, const char *name, const struct amp_tensor *tensor,
                                struct amp_error *err)
{
    struct pack pack = {.base.append = append, .err = err};
    AMP_TRY(amp_output_open(&pack.output, path, err));
    if (amp_word_has_ending(path, ".npy"))
        amp_npy_write(pack.output, tensor, err);
    else
        amp_value_pack(tensor, name, &pack.base);
    if (err->status == AMP_OK)
        return amp_output_commit(pack.output, err);
    amp_output_abandon(pack.output);
    return err->status;
}

/* ---- folders --------------------------------------------------------------------------------- */

static char *join_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = amp_xmalloc(size, 1);
    snprintf(path, size, "%s%s%s", folder, name[0] ? "/" : "", name);
    return path;
}

static bool file_exists(const char *folder, const char *name)
{
    char *path = join_path(folder, name);
    bool exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}

static void push_path(struct amp_samples *samples, char *path)
{
    size_t count = samples->count;
    /* Room for as many again when it is used up: at each power of two. */
    if ((count & (count - 1)) == 0)
        samples->paths =
            amp_xrealloc(samples->paths, count > 0 ? 2 * count : 1, sizeof *samples->paths);
    samples->paths[samples->count++] = path;
}

/* Adds the entries of FOLDER that match PATTERN. */
static enum amp_status add_matches(struct amp_samples *samples, const char *folder,
                                   const char *pattern, struct amp_error *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return amp_fail(err, AMP_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
            push_path(samples, join_path(folder, entry->d_name));
    closedir(dir);
    return AMP_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The entries of FOLDER that match the first pattern that any matches; PATTERNS ends with NULL. */
static enum amp_status find_samples(struct amp_samples *samples, const char *folder,
                                    const char *const *patterns, struct amp_error *err)
{
    *samples = (struct amp_samples){.count = 0};
    for (; *patterns != NULL && samples->count == 0; patterns++)
        AMP_TRY(add_matches(samples, folder, *patterns, err));
    if (samples->count > 1)
        qsort(samples->paths, samples->count, sizeof *samples->paths, compare_paths);
    return AMP_OK;
}

enum amp_status amp_samples_open(const char *folder, struct amp_samples *samples,
                                 struct amp_error *err)
{
    static const char *const patterns[] = {"test_data_set_*", "*.npz", NULL};
    AMP_TRY(find_samples(samples, folder, patterns, err));
    if (samples->count == 0 && file_exists(folder, "input_0.pb"))
        push_path(samples, join_path(folder, ""));
    if (samples->count > 0)
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: no samples; test_data_set_N folders, input_K.pb or .npz files are read",
                    folder);
}

enum amp_status amp_expected_open(const char *folder, struct amp_samples *samples,
                                  struct amp_error *err)
{
    static const char *const patterns[] = {"test_data_set_*", "sample_*", "*.npz", NULL};
    AMP_TRY(find_samples(samples, folder, patterns, err));
    if (samples->count == 0)
        push_path(samples, join_path(folder, ""));
    return AMP_OK;
}

void amp_samples_close(struct amp_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        free(samples->paths[i]);
    free(samples->paths);
    *samples = (struct amp_samples){.count = 0};
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* Loads what is given for VALUE. ONNX's test data keep bfloat16, which NumPy does not have, as the
   uint16 of its bits; of the elements of an empty list only the model knows the type. */
static enum amp_status load_file(const char *folder, const char *name,
                                 const struct amp_model *model, uint32_t value,
                                 struct amp_tensor *tensor, struct amp_error *err)
{
    const struct amp_value *declared = amp_value_at(model, value);
    char *path = join_path(folder, name);
    amp_tensor_release(tensor);
    enum amp_status status = amp_tensor_load(path, declared->kind, tensor, err);
    if (tensor->dtype == AMP_UINT16 && declared->dtype == AMP_BFLOAT16)
        tensor->dtype = AMP_BFLOAT16;
    if (amp_tensor_is_list(tensor) && tensor->dtype == AMP_UNDEFINED)
        tensor->dtype = declared->dtype;
    free(path);
    return status;
}

/* "input_3.pb" */
static const char *numbered(char *text, size_t size, const char *stem, size_t k)
{
    snprintf(text, size, "%s_%zu.pb", stem, k);
    return text;
}

static bool is_required(const struct amp_value *input)
{
    return input->constant == NULL && input->initial == NULL;
}

/* File K is the K-th input that has to be supplied; when there are more files, the K-th of those
   that may be. */
static enum amp_status load_inputs(const char *folder, const struct amp_model *model,
                                   struct amp_tensor *tensors, struct amp_error *err)
{
    char name[32];
    const struct amp_ids *ids = &model->graphs[0].inputs;
    size_t n_required = 0, k = 0;
    for (size_t i = 0; i < ids->count; i++)
        n_required += is_required(amp_value_at(model, ids->items[i]));
    bool takes_all = file_exists(folder, numbered(name, sizeof name, "input", n_required));
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *input = amp_value_at(model, ids->items[i]);
        if (!is_required(input) && !(takes_all && input->constant == NULL))
            continue;
        if (file_exists(folder, numbered(name, sizeof name, "input", k++)))
            AMP_TRY(load_file(folder, name, model, ids->items[i], &tensors[i], err));
    }
    if (file_exists(folder, numbered(name, sizeof name, "input", k)))
        return amp_fail(err, AMP_MODEL, "%s/%s: the model has no input for it; it takes %zu",
                        folder, name, k);
    return AMP_OK;
}

static enum amp_status load_outputs(const char *folder, const struct amp_model *model,
                                    struct amp_tensor *tensors, struct amp_error *err)
{
    char name[32];
    const struct amp_ids *ids = &model->graphs[0].outputs;
    for (size_t k = 0; k < ids->count; k++)
        if (file_exists(folder, numbered(name, sizeof name, "output", k)))
            AMP_TRY(load_file(folder, name, model, ids->items[k], &tensors[k], err));
    return AMP_OK;
}

/* The inputs and outputs that the arrays of a .npz file are for, by name. */
struct named {
    const struct amp_model *model;
    struct amp_tensor *inputs, *outputs; /* inputs NULL: not wanted */
    struct amp_arena *arena;
    struct amp_strmap places; /* name -> number among the inputs and then the outputs */
    bool *is_taken;           /* by place */
};

/* Of places of the same name the first counts. */
static void put_places(struct named *named, const struct amp_ids *ids, size_t first)
{
    for (size_t i = ids->count; i-- > 0;)
        amp_strmap_put(&named->places, named->arena,
                       amp_value_at(named->model, ids->items[i])->name, (uint32_t)(first + i));
}

static enum amp_status find_array(void *context, const char *name, struct amp_tensor **tensor,
                                  struct amp_error *err)
{
    const struct named *named = context;
    size_t n_inputs = named->model->graphs[0].inputs.count;
    uint32_t place;
    if (!amp_strmap_get(&named->places, name, &place))
        return amp_fail(err, AMP_MODEL, "array '%s' is no input or output of the model", name);
    if (named->is_taken[place])
        return amp_fail(err, AMP_MODEL, "array '%s' is there twice", name);
    named->is_taken[place] = true;
    if (place >= n_inputs)
        *tensor = &named->outputs[place - n_inputs];
    else
        *tensor = named->inputs != NULL ? &named->inputs[place] : NULL;
    if (*tensor != NULL)
        amp_tensor_release(*tensor);
    return AMP_OK;
}

static enum amp_status load_arrays(const char *path, const struct amp_model *model,
                                   struct amp_tensor *inputs, struct amp_tensor *outputs,
                                   struct amp_error *err)
{
    const struct amp_ids *in = &model->graphs[0].inputs, *out = &model->graphs[0].outputs;
    struct named named = {model, inputs, outputs, .arena = amp_arena_create()};
    named.is_taken = amp_arena_array(named.arena, in->count + out->count, sizeof *named.is_taken);
    put_places(&named, out, in->count);
    put_places(&named, in, 0);
    enum amp_status status = amp_npz_read(path, find_array, &named, err);
    amp_arena_destroy(named.arena);
    return status;
}

enum amp_status amp_sample_load(const struct amp_samples *samples, size_t i,
                                const struct amp_model *model, struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err)
{
    const char *path = samples->paths[i];
    if (amp_word_has_ending(path, ".npz"))
        return load_arrays(path, model, inputs, outputs, err);
    AMP_TRY(load_inputs(path, model, inputs, err));
    return load_outputs(path, model, outputs, err);
}

/* ---- named files ----------------------------------------------------------------------------- */

/* What stays of the characters of a value's name in a file's. */
static void put_file_name(const char *name, char *text, size_t size)
{
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < size; n++)
        text[n] = strchr("/\\:*?\"<>|", name[n]) || (unsigned char)name[n] < ' ' ? '_' : name[n];
    text[n] = '\0';
    if (n == 0 || text[0] == '.') {
        text[0] = '_';
        text[n > 1 ? n : 1] = '\0';
    }
}

/* TEXT in lower case, as the file systems compare that see no difference. */
static char *fold_case(struct amp_arena *arena, const char *text)
{
    char *folded = amp_arena_strdup(arena, text);
    for (char *at = folded; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    return folded;
}

const char *const *amp_output_stems(const struct amp_model *model, struct amp_arena *arena)
{
    enum { STEM_SIZE = 128 };
    char stem[STEM_SIZE];
    const struct amp_ids *ids = &model->graphs[0].outputs;
    const char **stems = amp_arena_array(arena, ids->count, sizeof *stems);
    struct amp_strmap taken = {.count = 0};
    for (size_t k = 0; k < ids->count; k++) {
        put_file_name(amp_value_at(model, ids->items[k])->name, stem, sizeof stem);
        const char *folded = fold_case(arena, stem);
        bool is_taken = amp_strmap_get(&taken, folded, NULL);
        amp_strmap_put(&taken, arena, folded, 0);
        stems[k] =
            is_taken ? amp_arena_printf(arena, "%s.%zu", stem, k) : amp_arena_strdup(arena, stem);
    }
    return stems;
}

static enum amp_status load_stem(const char *folder, const struct amp_model *model, uint32_t value,
                                 const char *stem, struct amp_tensor *tensor, struct amp_error *err)
{
    static const char *const endings[] = {"npy", "pb"};
    char name[192];
    for (size_t i = 0; i < 2 && tensor->data == NULL; i++) {
        snprintf(name, sizeof name, "%s.%s", stem, endings[i]);
        if (file_exists(folder, name))
            AMP_TRY(load_file(folder, name, model, value, tensor, err));
    }
    return AMP_OK;
}

static enum amp_status load_named(const char *folder, const struct amp_model *model,
                                  struct amp_tensor *tensors, struct amp_error *err)
{
    const struct amp_ids *ids = &model->graphs[0].outputs;
    struct amp_arena *arena = amp_arena_create();
    const char *const *stems = amp_output_stems(model, arena);
    enum amp_status status = AMP_OK;
    for (size_t k = 0; k < ids->count && status == AMP_OK; k++)
        status = load_stem(folder, model, ids->items[k], stems[k], &tensors[k], err);
    amp_arena_destroy(arena);
    return status;
}

enum amp_status amp_expected_load(const struct amp_samples *samples, size_t i,
                                  const struct amp_model *model, struct amp_tensor *outputs,
                                  struct amp_error *err)
{
    const char *path = samples->paths[i];
    if (amp_word_has_ending(path, ".npz")) {
        AMP_TRY(load_arrays(path, model, NULL, outputs, err));
    } else {
        AMP_TRY(load_outputs(path, model, outputs, err));
        AMP_TRY(load_named(path, model, outputs, err));
    }
    for (size_t k = 0; k < model->graphs[0].outputs.count; k++)
        if (outputs[k].data != NULL)
            return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: no expected outputs; output_K.pb, NAME.npy, NAME.pb or .npz are read",
                    path);
}
