/*
 * From the command line to samples: takes --input, --data, --seed, --samples and --dim apart
 * against the inputs of a model, loads or makes the tensors of one sample at a time, and notes for
 * the reports where each comes from; takes --labels apart against its outputs. Assumes that the
 * types of the model are inferred; prints nothing.
 */
#include "cli/inputs.h"

#include "check/random_input.h"
#include "cli/options/option_pair.h"
#include "core/buffer.h"
#include "core/words.h"
#include "onnx/sample/sample.h"
#include "onnx/sample/tensor_file.h"
#include "ops/kernel/tensor_cast.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t count_inputs(const struct amp_model *model)
{
    return model->graphs[0].inputs.count;
}

static const struct amp_value *input_at(const struct amp_model *model, size_t i)
{
    return amp_value_at(model, model->graphs[0].inputs.items[i]);
}

/* Whether a run needs a tensor from outside for the input. */
static bool is_required(const struct amp_value *input)
{
    return input->initial == NULL && input->constant == NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A list of names that an option may give, of inputs or of symbols. */
struct names {
    const char **items;
    size_t count;
};

static void push_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    names->items = amp_xrealloc(names->items, names->count + 1, sizeof *names->items);
    names->items[names->count++] = name;
}

/* Fails with AMP_USAGE, since the model has no WHAT that is called NAME; the message has the
   nearest of the KNOWN names, or all of them. Frees the list. */
static enum amp_status unknown_name(const char *what, const char *option, const char *name,
                                    struct names *known, struct amp_error *err)
{
    char list[512] = "none";
    const char *nearest = amp_word_nearest(name, known->items, known->count);
    for (size_t i = 0, used = 0; i < known->count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", i ? ", " : "",
                                 known->items[i]);
    free(known->items);
    if (nearest != NULL)
        return amp_fail(err, AMP_USAGE, "--%s %s: the model has no such %s; did you mean '%s'?",
                        option, name, what, nearest);
    return amp_fail(err, AMP_USAGE, "--%s %s: the model has no such %s; there are: %s", option,
                    name, what, list);
}

static enum amp_status unknown_input(const struct amp_model *model, const char *name,
                                     struct amp_error *err)
{
    struct names known = {.count = 0};
    for (size_t i = 0; i < count_inputs(model); i++)
        if (input_at(model, i)->constant == NULL)
            push_name(&known, input_at(model, i)->name);
    return unknown_name("input", "input", name, &known, err);
}

static enum amp_status find_input(const struct amp_model *model, const char *name, size_t *found,
                                  struct amp_error *err)
{
    for (size_t i = 0; i < count_inputs(model); i++)
        if (strcmp(input_at(model, i)->name, name) == 0) {
            *found = i;
            if (input_at(model, i)->constant == NULL)
                return AMP_OK;
            return amp_fail(err, AMP_USAGE, "--input %s: it is constant in the model", name);
        }
    return unknown_input(model, name, err);
}

/* ---- sizes of symbolic dims ------------------------------------------------------------------ */

static struct names symbols_of_inputs(const struct amp_model *model)
{
    struct names names = {.count = 0};
    for (size_t i = 0; i < count_inputs(model); i++)
        for (int d = 0; d < input_at(model, i)->rank; d++) {
            const char *symbol = amp_dim_symbol(model, input_at(model, i)->dims[d]);
            if (symbol != NULL)
                push_name(&names, symbol);
        }
    return names;
}

static enum amp_status set_size(const struct amp_model *model, const char *text, int64_t *sizes,
                                struct amp_error *err)
{
    struct amp_option_pair pair;
    char *end;
    AMP_TRY(amp_option_pair_split("dim", text, &pair, err));
    errno = 0;
    int64_t size = strtoll(pair.value, &end, 10);
    if (errno != 0 || *end != '\0' || size < 0)
        return amp_fail(err, AMP_USAGE, "--dim %s: a number of 0 or more is needed", text);
    struct names known = symbols_of_inputs(model);
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.items[i], pair.name) == 0) {
            for (size_t s = 0; s < model->n_symbols; s++)
                if (strcmp(model->symbols[s], pair.name) == 0)
                    sizes[s] = size;
            free(known.items);
            return AMP_OK;
        }
    return unknown_name("symbolic dim in its inputs", "dim", pair.name, &known, err);
}

/* Gives one size per symbol of the model, 1 unless --dim says otherwise, in *SIZES, to be freed
   also on failure. */
static enum amp_status read_sizes(const struct amp_inputs *inputs, int64_t **sizes,
                                  struct amp_error *err)
{
    const struct amp_texts *dims = &inputs->options->dims;
    *sizes = amp_xmalloc(inputs->model->n_symbols, sizeof **sizes);
    for (size_t i = 0; i < inputs->model->n_symbols; i++)
        (*sizes)[i] = 1;
    for (size_t i = 0; i < dims->count; i++)
        AMP_TRY(set_size(inputs->model, dims->items[i], *sizes, err));
    return AMP_OK;
}

/* ---- element types --------------------------------------------------------------------------- */

static bool is_whole(enum amp_dtype dtype)
{
    enum amp_dtype_class class = amp_dtype_class(dtype);
    return class == AMP_CLASS_INT || class == AMP_CLASS_UINT || class == AMP_CLASS_BOOL;
}

static enum amp_status check_same(const struct amp_value *input, const struct amp_tensor *from,
                                  const struct amp_tensor *to, struct amp_error *err)
{
    for (size_t i = 0; i < amp_tensor_count(from); i++)
        if (amp_tensor_int(from, i) != amp_tensor_int(to, i) ||
            amp_tensor_double(from, i) != amp_tensor_double(to, i))
            return amp_fail(err, AMP_MODEL, "input '%s': element %zu, %.17g, does not fit into %s",
                            input->name, i, amp_tensor_double(from, i), amp_dtype_name(to->dtype));
    return AMP_OK;
}

/* Turns floats into the float type that the model declares, integers into its integer type as long
   as all values fit. Other types stay as they are, for the executor to refuse. */
static enum amp_status cast_to_declared(const struct amp_value *input, struct amp_tensor *tensor,
                                        struct amp_error *err)
{
    struct amp_tensor cast;
    bool are_floats = amp_dtype_class(input->dtype) == AMP_CLASS_FLOAT &&
                      amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT;
    bool are_whole = is_whole(input->dtype) && is_whole(tensor->dtype);
    if (tensor->data == NULL || amp_tensor_is_list(tensor) || tensor->dtype == input->dtype ||
        (!are_floats && !are_whole))
        return AMP_OK;
    AMP_TRY(amp_tensor_cast_copy(tensor, input->dtype, &cast, err));
    enum amp_status status = are_whole ? check_same(input, tensor, &cast, err) : AMP_OK;
    amp_tensor_release(tensor);
    *tensor = cast;
    return status;
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum amp_status load_given(struct amp_inputs *inputs, const char *text,
                                  struct amp_error *err)
{
    struct amp_option_pair pair;
    size_t i = 0;
    AMP_TRY(amp_option_pair_split("input", text, &pair, err));
    AMP_TRY(find_input(inputs->model, pair.name, &i, err));
    struct amp_tensor *tensor = &inputs->given[i];
    if (tensor->data != NULL)
        return amp_fail(err, AMP_USAGE, "--input %s: '%s' is given twice", text, pair.name);
    AMP_TRY(amp_tensor_load(pair.value, input_at(inputs->model, i)->kind, tensor, err));
    AMP_TRY(cast_to_declared(input_at(inputs->model, i), tensor, err));
    amp_input_notes_set(&inputs->notes, i, &tensor->shape, pair.value);
    return AMP_OK;
}

/* AMP_USAGE, with their names, when --input leaves inputs out that need a tensor. */
static enum amp_status check_given(const struct amp_inputs *inputs, struct amp_error *err)
{
    char list[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < count_inputs(inputs->model) && used < sizeof list; i++)
        if (is_required(input_at(inputs->model, i)) && inputs->given[i].data == NULL)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", used ? ", " : "",
                                     input_at(inputs->model, i)->name);
    if (used == 0)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "no --input for %s; give all inputs or none", list);
}

static enum amp_status open_data(struct amp_inputs *inputs, struct amp_error *err)
{
    AMP_TRY(amp_samples_open(inputs->options->data, &inputs->samples, err));
    inputs->count = inputs->samples.count;
    if (inputs->options->samples > 0 && (size_t)inputs->options->samples < inputs->count)
        inputs->count = (size_t)inputs->options->samples;
    for (size_t i = 0; i < count_inputs(inputs->model); i++) {
        struct amp_shape shape;
        amp_value_shape(input_at(inputs->model, i), &shape);
        if (inputs->given[i].data == NULL && input_at(inputs->model, i)->constant == NULL)
            amp_input_notes_set(&inputs->notes, i, &shape, inputs->options->data);
    }
    return AMP_OK;
}

static enum amp_status plan_input(struct amp_inputs *inputs, size_t i, const int64_t *sizes,
                                  struct amp_random_planner *planner, struct amp_error *err)
{
    char text[64], source[128];
    struct amp_random_input *plan = &inputs->random[i];
    const struct amp_value *input = input_at(inputs->model, i);
    if (!is_required(input)) {
        if (input->constant == NULL)
            amp_input_notes_set(&inputs->notes, i, &input->initial->shape, "the model's own");
        return AMP_OK;
    }
    AMP_TRY(amp_random_planner_plan(planner, inputs->model->graphs[0].inputs.items[i], sizes, plan,
                                    err));
    amp_random_input_text(plan, source, sizeof source);
    if (plan->kind == AMP_RANDOM_NORMAL || plan->kind == AMP_RANDOM_INTEGERS)
        snprintf(source, sizeof source, "%s, seed %" PRId64,
                 amp_random_input_text(plan, text, sizeof text), inputs->options->seed);
    amp_input_notes_set(&inputs->notes, i, &plan->shape, source);
    return AMP_OK;
}

static enum amp_status plan_random(struct amp_inputs *inputs, const int64_t *sizes,
                                   struct amp_error *err)
{
    struct amp_random_planner *planner = amp_random_planner_create(inputs->model);
    enum amp_status status = AMP_OK;
    inputs->count = inputs->options->samples > 0 ? (size_t)inputs->options->samples : 1;
    inputs->notes.are_random = true;
    inputs->random = amp_xcalloc(count_inputs(inputs->model), sizeof *inputs->random);
    for (size_t i = 0; i < count_inputs(inputs->model) && status == AMP_OK; i++)
        status = plan_input(inputs, i, sizes, planner, err);
    amp_random_planner_destroy(planner);
    return status;
}

enum amp_status amp_inputs_check(const struct amp_options *options, struct amp_error *err)
{
    if (options->samples == 0)
        return amp_fail(err, AMP_USAGE, "--samples 0: at least 1 is needed");
    return AMP_OK;
}

static enum amp_status open_all(struct amp_inputs *inputs, struct amp_error *err)
{
    int64_t *sizes = NULL;
    const struct amp_texts *given = &inputs->options->inputs;
    AMP_TRY(amp_inputs_check(inputs->options, err));
    enum amp_status status = read_sizes(inputs, &sizes, err);
    for (size_t i = 0; i < given->count && status == AMP_OK; i++)
        status = load_given(inputs, given->items[i], err);
    inputs->count = 1;
    if (status == AMP_OK && inputs->options->data != NULL)
        status = open_data(inputs, err);
    else if (status == AMP_OK)
        status = given->count > 0 ? check_given(inputs, err) : plan_random(inputs, sizes, err);
    free(sizes);
    return status;
}

enum amp_status amp_inputs_open(const struct amp_options *options, const struct amp_model *model,
                                struct amp_inputs *inputs, struct amp_error *err)
{
    *inputs = (struct amp_inputs){.options = options, .model = model};
    inputs->given = amp_xcalloc(count_inputs(model), sizeof *inputs->given);
    inputs->notes = amp_input_notes_create(model);
    enum amp_status status = open_all(inputs, err);
    if (status != AMP_OK)
        amp_inputs_close(inputs);
    return status;
}

void amp_inputs_close(struct amp_inputs *inputs)
{
    size_t count = inputs->model != NULL ? count_inputs(inputs->model) : 0;
    amp_tensors_release(inputs->given, count);
    amp_input_notes_destroy(&inputs->notes);
    amp_samples_close(&inputs->samples);
    free(inputs->given);
    free(inputs->random);
    *inputs = (struct amp_inputs){.count = 0};
}

/* ---- loading --------------------------------------------------------------------------------- */

static enum amp_status load_sample(struct amp_inputs *inputs, size_t sample,
                                   struct amp_tensor *tensors, struct amp_tensor *expected,
                                   struct amp_error *err)
{
    size_t n_outputs = inputs->model->graphs[0].outputs.count;
    struct amp_tensor *unused = NULL;
    if (expected == NULL)
        expected = unused = amp_xcalloc(n_outputs, sizeof *unused);
    const struct amp_sample to = {inputs->model, tensors, expected};
    enum amp_status status = amp_sample_load(&inputs->samples, sample, &to, err);
    if (unused != NULL)
        amp_tensors_release(unused, n_outputs);
    free(unused);
    return status;
}

/* Checks that a sample of --data supplies every input that needs a tensor and has no --input, and
   casts the tensors to the declared types. */
static enum amp_status check_sample(struct amp_inputs *inputs, size_t sample,
                                    struct amp_tensor *tensors, struct amp_error *err)
{
    const char *path = inputs->samples.paths[sample];
    for (size_t i = 0; i < count_inputs(inputs->model); i++) {
        const struct amp_value *input = input_at(inputs->model, i);
        if (inputs->given[i].data != NULL || input->constant != NULL)
            continue;
        if (tensors[i].data == NULL && input->initial == NULL)
            return amp_fail(err, AMP_MODEL, "%s: nothing for input '%s'", path, input->name);
        if (cast_to_declared(input, &tensors[i], err) != AMP_OK) {
            amp_error_prefix(err, "%s", path);
            return err->status;
        }
        if (sample == 0 && tensors[i].data != NULL)
            amp_input_notes_set(&inputs->notes, i, &tensors[i].shape, inputs->options->data);
    }
    return AMP_OK;
}

static enum amp_status make_random(struct amp_inputs *inputs, size_t sample,
                                   struct amp_tensor *tensors, struct amp_error *err)
{
    for (size_t i = 0; i < count_inputs(inputs->model); i++) {
        if (!is_required(input_at(inputs->model, i)))
            continue;
        if (amp_random_input_make(&inputs->random[i], (uint64_t)inputs->options->seed, sample,
                                  &tensors[i], err) == AMP_OK)
            continue;
        amp_error_prefix(err, "input '%s'", input_at(inputs->model, i)->name);
        return err->status;
    }
    return AMP_OK;
}

enum amp_status amp_inputs_load(struct amp_inputs *inputs, size_t i, struct amp_tensor *tensors,
                                struct amp_tensor *expected, struct amp_error *err)
{
    if (inputs->samples.count > 0) {
        AMP_TRY(load_sample(inputs, i, tensors, expected, err));
        AMP_TRY(check_sample(inputs, i, tensors, err));
    }
    if (inputs->random != NULL)
        return make_random(inputs, i, tensors, err);
    for (size_t k = 0; k < count_inputs(inputs->model); k++)
        if (inputs->given[k].data != NULL) {
            amp_tensor_release(&tensors[k]);
            tensors[k] = inputs->given[k];
            amp_buffer_ref(tensors[k].buffer);
        }
    return AMP_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static const char *output_name(const struct amp_model *model, size_t i)
{
    return amp_value_at(model, model->graphs[0].outputs.items[i])->name;
}

static enum amp_status unknown_output(const struct amp_model *model, const char *text,
                                      struct amp_error *err)
{
    struct amp_option_pair pair;
    struct names known = {.count = 0};
    AMP_TRY(amp_option_pair_split("labels", text, &pair, err));
    for (size_t i = 0; i < model->graphs[0].outputs.count; i++)
        push_name(&known, output_name(model, i));
    return unknown_name("output", "labels", pair.name, &known, err);
}

/* Takes TEXT, [NAME=]FILE, apart. Names and files may have = in them: the longest name that the
   model has counts, else it is a file. */
static enum amp_status split_labels(const struct amp_model *model, const char *text,
                                    struct amp_labels *labels, struct amp_error *err)
{
    size_t longest = 0;
    labels->path = text;
    for (size_t i = 0; i < model->graphs[0].outputs.count; i++) {
        const char *name = output_name(model, i);
        size_t length = strlen(name);
        if (length <= longest || strncmp(text, name, length) != 0 || text[length] != '=')
            continue;
        longest = length;
        labels->output = name;
        labels->path = text + length + 1;
    }
    if (longest == 0 && strchr(text, '=') != NULL && access(text, F_OK) != 0)
        return unknown_output(model, text, err);
    return AMP_OK;
}

static enum amp_status load_labels(const struct amp_model *model, const char *text,
                                   struct amp_labels *labels, struct amp_error *err)
{
    AMP_TRY(split_labels(model, text, labels, err));
    AMP_TRY(amp_tensor_load(labels->path, AMP_KIND_TENSOR, &labels->tensor, err));
    enum amp_dtype dtype = labels->tensor.dtype;
    if (amp_dtype_class(dtype) == AMP_CLASS_FLOAT || (is_whole(dtype) && dtype != AMP_BOOL))
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: labels of type %s; integers are needed for classes, floats for targets",
                    labels->path, amp_dtype_name(dtype));
}

enum amp_status amp_label_files_load(const struct amp_options *options,
                                     const struct amp_model *model, struct amp_label_files *files,
                                     struct amp_error *err)
{
    enum amp_status status = AMP_OK;
    *files =
        (struct amp_label_files){.items = amp_xcalloc(options->labels.count, sizeof *files->items)};
    while (files->count < options->labels.count && status == AMP_OK) {
        struct amp_labels *labels = &files->items[files->count];
        status = load_labels(model, options->labels.items[files->count++], labels, err);
    }
    if (status != AMP_OK)
        amp_label_files_close(files);
    return status;
}

void amp_label_files_close(struct amp_label_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        amp_tensor_release(&files->items[i].tensor);
    free(files->items);
    *files = (struct amp_label_files){.count = 0};
}
