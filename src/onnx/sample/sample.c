/*
 * Loads one sample: finds the files or arrays for the inputs and outputs of a model, by number as
 * ONNX's backend tests have them or by name, and reads each into memory of its own. Does not
 * compare them with what the model declares, but for types that the files cannot say.
 */
#include "onnx/sample/sample.h"

#include "core/strmap.h"
#include "core/words.h"
#include "onnx/sample/npz.h"
#include "onnx/sample/output_stems.h"
#include "onnx/sample/tensor_file.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- numbered files -------------------------------------------------------------------------- */

/* Loads file NAME of FOLDER for the value DECLARED. ONNX's test data keep bfloat16, which NumPy
   does not have, as the uint16 of its bits; of the elements of an empty list only the model knows
   the type. */
static enum amp_status load_file(const char *folder, const char *name,
                                 const struct amp_value *declared, struct amp_tensor *tensor,
                                 struct amp_error *err)
{
    char *path = amp_path_join(folder, name);
    amp_tensor_release(tensor);
    enum amp_status status = amp_tensor_load(path, declared->kind, tensor, err);
    if (tensor->dtype == AMP_UINT16 && declared->dtype == AMP_BFLOAT16)
        tensor->dtype = AMP_BFLOAT16;
    if (amp_tensor_is_list(tensor) && tensor->dtype == AMP_UNDEFINED)
        tensor->dtype = declared->dtype;
    free(path);
    return status;
}

/* Writes the name of file K of FOLDER, "input_3.pb" or with .npy where there is that alone, into
   TEXT. */
static const char *numbered(const char *folder, char *text, size_t size, const char *stem, size_t k)
{
    snprintf(text, size, "%s_%zu.npy", stem, k);
    if (!amp_path_exists(folder, text))
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
    bool takes_all =
        amp_path_exists(folder, numbered(folder, name, sizeof name, "input", n_required));
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *input = amp_value_at(model, ids->items[i]);
        if (!is_required(input) && !(takes_all && input->constant == NULL))
            continue;
        if (amp_path_exists(folder, numbered(folder, name, sizeof name, "input", k++)))
            AMP_TRY(load_file(folder, name, input, &tensors[i], err));
    }
    if (amp_path_exists(folder, numbered(folder, name, sizeof name, "input", k)))
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
        if (amp_path_exists(folder, numbered(folder, name, sizeof name, "output", k)))
            AMP_TRY(load_file(folder, name, amp_value_at(model, ids->items[k]), &tensors[k], err));
    return AMP_OK;
}

/* The inputs and outputs that the arrays of a .npz file are for, by name. */
struct named {
    const struct amp_sample *to;
    struct amp_arena *arena;
    struct amp_strmap places; /* name -> number among the inputs and then the outputs */
    bool *is_taken;           /* by place */
};

/* Notes the values IDS by name, as places from FIRST on. Of two of one name the first counts. */
static void put_places(struct named *named, const struct amp_ids *ids, size_t first)
{
    for (size_t i = ids->count; i-- > 0;)
        amp_strmap_put(&named->places, named->arena,
                       amp_value_at(named->to->model, ids->items[i])->name, (uint32_t)(first + i));
}

/* Where the array NAME goes (amp_npz_find). */
static enum amp_status find_array(void *context, const char *name, struct amp_tensor **tensor,
                                  struct amp_error *err)
{
    const struct named *named = context;
    const struct amp_sample *to = named->to;
    size_t n_inputs = to->model->graphs[0].inputs.count;
    uint32_t place;
    if (!amp_strmap_get(&named->places, name, &place))
        return amp_fail(err, AMP_MODEL, "array '%s' is no input or output of the model", name);
    if (named->is_taken[place])
        return amp_fail(err, AMP_MODEL, "array '%s' is there twice", name);
    named->is_taken[place] = true;
    if (place >= n_inputs)
        *tensor = &to->outputs[place - n_inputs];
    else
        *tensor = to->inputs != NULL ? &to->inputs[place] : NULL;
    if (*tensor != NULL)
        amp_tensor_release(*tensor);
    return AMP_OK;
}

static enum amp_status load_arrays(const char *path, const struct amp_sample *to,
                                   struct amp_error *err)
{
    const struct amp_graph *graph = &to->model->graphs[0];
    const struct amp_ids *in = &graph->inputs, *out = &graph->outputs;
    struct named named = {.to = to, .arena = amp_arena_create()};
    named.is_taken = amp_arena_array(named.arena, in->count + out->count, sizeof *named.is_taken);
    put_places(&named, out, in->count);
    put_places(&named, in, 0);
    enum amp_status status = amp_npz_read(path, find_array, &named, err);
    amp_arena_destroy(named.arena);
    return status;
}

/* Loads the array at PATH for the one input of the model. */
static enum amp_status load_array(const char *path, const struct amp_sample *to,
                                  struct amp_error *err)
{
    const struct amp_ids *ids = &to->model->graphs[0].inputs;
    size_t n_required = 0, input = 0;
    for (size_t i = ids->count; i-- > 0;)
        if (is_required(amp_value_at(to->model, ids->items[i]))) {
            n_required++;
            input = i;
        }
    if (n_required != 1)
        return amp_fail(err, AMP_MODEL,
                        "%s: a .npy file is for a model of one input, this one takes %zu; a .npz "
                        "file or a folder with NAME.npy for each is for all",
                        path, n_required);
    return load_file(path, "", amp_value_at(to->model, ids->items[input]), &to->inputs[input], err);
}

/* Loads the inputs of FOLDER that are called by their names. */
static enum amp_status load_named_inputs(const char *folder, const struct amp_model *model,
                                         struct amp_tensor *tensors, struct amp_error *err)
{
    char name[192];
    const struct amp_ids *ids = &model->graphs[0].inputs;
    struct amp_arena *arena = amp_arena_create();
    const char *const *stems = amp_input_stems(model, arena);
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < ids->count && status == AMP_OK; i++) {
        const struct amp_value *input = amp_value_at(model, ids->items[i]);
        snprintf(name, sizeof name, "%s.npy", stems[i]);
        if (tensors[i].data == NULL && input->constant == NULL && amp_path_exists(folder, name))
            status = load_file(folder, name, input, &tensors[i], err);
    }
    amp_arena_destroy(arena);
    return status;
}

enum amp_status amp_sample_load(const struct amp_samples *samples, size_t i,
                                const struct amp_sample *to, struct amp_error *err)
{
    const char *path = samples->paths[i];
    if (amp_word_has_ending(path, ".npz"))
        return load_arrays(path, to, err);
    if (amp_word_has_ending(path, ".npy"))
        return load_array(path, to, err);
    AMP_TRY(load_inputs(path, to->model, to->inputs, err));
    AMP_TRY(load_named_inputs(path, to->model, to->inputs, err));
    return load_outputs(path, to->model, to->outputs, err);
}

/* ---- files by the names of outputs ----------------------------------------------------------- */

/* Loads STEM.npy or STEM.pb, where there is one, for the value DECLARED. */
static enum amp_status load_stem(const char *folder, const char *stem,
                                 const struct amp_value *declared, struct amp_tensor *tensor,
                                 struct amp_error *err)
{
    static const char *const endings[] = {"npy", "pb"};
    char name[192];
    for (size_t i = 0; i < 2 && tensor->data == NULL; i++) {
        snprintf(name, sizeof name, "%s.%s", stem, endings[i]);
        if (amp_path_exists(folder, name))
            AMP_TRY(load_file(folder, name, declared, tensor, err));
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
        status = load_stem(folder, stems[k], amp_value_at(model, ids->items[k]), &tensors[k], err);
    amp_arena_destroy(arena);
    return status;
}

enum amp_status amp_sample_load_expected(const struct amp_samples *samples, size_t i,
                                         const struct amp_sample *to, struct amp_error *err)
{
    const struct amp_model *model = to->model;
    const char *path = samples->paths[i];
    if (amp_word_has_ending(path, ".npz")) {
        struct amp_sample outputs = {.model = model, .outputs = to->outputs};
        AMP_TRY(load_arrays(path, &outputs, err));
    } else {
        AMP_TRY(load_outputs(path, model, to->outputs, err));
        AMP_TRY(load_named(path, model, to->outputs, err));
    }
    for (size_t k = 0; k < model->graphs[0].outputs.count; k++)
        if (to->outputs[k].data != NULL)
            return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: no expected outputs; output_K.pb, NAME.npy, NAME.pb or .npz are read",
                    path);
}
