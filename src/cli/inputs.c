/*
 * From the command line to samples: takes --input, --data, --seed, --samples, --dim, --input-shape
 * and --input-range apart against the inputs of a model, loads or makes the tensors of one sample
 * at a time, and notes for the reports where each comes from; takes --labels apart against its
 * outputs. Assumes that the types of the model are inferred; prints nothing.
 */
#include "cli/inputs.h"

#include "check/random_input.h"
#include "cli/options/option_pair.h"
#include "core/buffer.h"
#include "core/words.h"
#include "onnx/sample/tensor_file.h"
#include "ops/kernel/tensor_cast.h"
#include "run/exec/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

/* Whether a run needs a tensor from outside for the input; one that is constant has the initial. */
static bool is_required(const struct amp_value *input)
{
    return input->initial == NULL;
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

static enum amp_status unknown_input(const struct amp_model *model, const char *option,
                                     const char *name, struct amp_error *err)
{
    struct names known = {.count = 0};
    for (size_t i = 0; i < count_inputs(model); i++)
        if (input_at(model, i)->constant == NULL)
            push_name(&known, input_at(model, i)->name);
    return unknown_name("input", option, name, &known, err);
}

/* Sets *FOUND to the graph input that OPTION calls NAME. */
static enum amp_status find_input(const struct amp_model *model, const char *option,
                                  const char *name, size_t *found, struct amp_error *err)
{
    for (size_t i = 0; i < count_inputs(model); i++)
        if (strcmp(input_at(model, i)->name, name) == 0) {
            *found = i;
            if (input_at(model, i)->constant == NULL)
                return AMP_OK;
            return amp_fail(err, AMP_USAGE, "--%s %s: it is constant in the model", option, name);
        }
    return unknown_input(model, option, name, err);
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

static enum amp_status set_size(const struct amp_model *model, const char *text,
                                struct amp_input_dims *dims, struct amp_error *err)
{
    struct amp_option_pair pair;
    char *end;
    AMP_TRY(amp_option_pair_split("dim", text, &pair, err));
    errno = 0;
    int64_t size = strtoll(pair.value, &end, 10);
    if (errno != 0 || *end != '\0' || size < 0)
        return amp_fail(err, AMP_USAGE, "--dim %s: a number of 0 or more is needed", text);
    if (amp_input_dims_set(dims, pair.name, size))
        return AMP_OK;
    struct names known = symbols_of_inputs(model);
    return unknown_name("symbolic dim in its inputs", "dim", pair.name, &known, err);
}

/* Reads "1,3,224,224" into SHAPE; false for what is no shape. */
static bool parse_shape(const char *text, struct amp_shape *shape)
{
    for (shape->rank = 0; shape->rank < AMP_RANK_MAX;) {
        char *end;
        errno = 0;
        shape->dims[shape->rank++] = strtoll(text, &end, 10);
        if (errno != 0 || text[0] < '0' || text[0] > '9' || (*end != ',' && *end != '\0'))
            return false;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
    return false;
}

static enum amp_status set_shape(const struct amp_model *model, const char *text,
                                 struct amp_input_dims *dims, struct amp_error *err)
{
    struct amp_option_pair pair;
    struct amp_shape shape, declared;
    char shape_text[256];
    size_t i = 0;
    AMP_TRY(amp_option_pair_split("input-shape", text, &pair, err));
    AMP_TRY(find_input(model, "input-shape", pair.name, &i, err));
    if (!parse_shape(pair.value, &shape))
        return amp_fail(err, AMP_USAGE,
                        "--input-shape %s: sizes with commas between them are needed, as "
                        "%s=1,3,224,224",
                        text, pair.name);
    if (amp_input_dims_set_shape(dims, i, &shape, err) == AMP_OK)
        return AMP_OK;
    amp_value_shape(input_at(model, i), &declared);
    amp_error_prefix(err, "--input-shape %s: '%s' is %s", text, pair.name,
                     amp_shape_text(&declared, shape_text, sizeof shape_text));
    return err->status;
}

/* What --dim and --input-shape say of the inputs, in *DIMS, to be destroyed also on failure. */
static enum amp_status read_sizes(const struct amp_inputs *inputs, struct amp_input_dims **dims,
                                  struct amp_error *err)
{
    const struct amp_texts *sizes = &inputs->options->dims, *shapes = &inputs->options->shapes;
    *dims = amp_input_dims_create(inputs->model);
    for (size_t i = 0; i < sizes->count; i++)
        AMP_TRY(set_size(inputs->model, sizes->items[i], *dims, err));
    for (size_t i = 0; i < shapes->count; i++)
        AMP_TRY(set_shape(inputs->model, shapes->items[i], *dims, err));
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
        if (amp_tensor_double(from, i) != amp_tensor_double(to, i))
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
    AMP_TRY(find_input(inputs->model, "input", pair.name, &i, err));
    struct amp_tensor *tensor = &inputs->given[i];
    if (tensor->data != NULL)
        return amp_fail(err, AMP_USAGE, "--input %s: '%s' is given twice", text, pair.name);
    AMP_TRY(amp_tensor_load(pair.value, input_at(inputs->model, i)->kind, tensor, err));
    AMP_TRY(cast_to_declared(input_at(inputs->model, i), tensor, err));
    amp_input_notes_set(&inputs->notes, i, &(struct amp_input_note){.shape = tensor->shape},
                        pair.value);
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

/* Notes that --data supplies graph input I with a tensor of SHAPE. */
static void note_data(struct amp_inputs *inputs, size_t i, const struct amp_shape *shape)
{
    char source[1024] = "";
    const struct amp_texts *data = &inputs->options->data;
    for (size_t k = 0, used = 0; k < data->count && used < sizeof source; k++)
        used += (size_t)snprintf(source + used, sizeof source - used, "%s%s", k > 0 ? ", " : "",
                                 data->items[k]);
    amp_input_notes_set(&inputs->notes, i, &(struct amp_input_note){.shape = *shape}, source);
}

/* Notes how rows of --data became batches. */
static void note_batches(struct amp_inputs *inputs)
{
    const struct amp_batches *batches = &inputs->batches;
    char text[128];
    if (batches->rows == 0)
        return;
    int used =
        snprintf(text, sizeof text, "%zu rows in batches of %zu", batches->rows, batches->size);
    if (batches->left_out > 0)
        snprintf(text + used, sizeof text - (size_t)used, "; %zu that fill none %s left out",
                 batches->left_out, batches->left_out == 1 ? "is" : "are");
    inputs->notes.batches = amp_xstrdup(text);
    inputs->notes.left_out = batches->left_out;
}

static enum amp_status open_data(struct amp_inputs *inputs, struct amp_error *err)
{
    const struct amp_options *options = inputs->options;
    size_t most = options->samples > 0 ? (size_t)options->samples : SIZE_MAX;
    AMP_TRY(amp_batches_open(&options->data, most, inputs->model, &inputs->batches, err));
    inputs->count = inputs->batches.count;
    note_batches(inputs);
    for (size_t i = 0; i < count_inputs(inputs->model); i++) {
        struct amp_shape shape;
        amp_value_shape(input_at(inputs->model, i), &shape);
        if (inputs->given[i].data == NULL && input_at(inputs->model, i)->constant == NULL)
            note_data(inputs, i, &shape);
    }
    return AMP_OK;
}

/* ---- random ones ----------------------------------------------------------------------------- */

static enum amp_status set_range(struct amp_inputs *inputs, const char *text, struct amp_error *err)
{
    struct amp_option_pair pair;
    char *middle = NULL, *end = NULL;
    size_t i = 0;
    AMP_TRY(amp_option_pair_split("input-range", text, &pair, err));
    AMP_TRY(find_input(inputs->model, "input-range", pair.name, &i, err));
    double low = strtod(pair.value, &middle), high = NAN;
    if (middle != pair.value && *middle == ',')
        high = strtod(middle + 1, &end);
    if (end == NULL || end == middle + 1 || *end != '\0' || !isfinite(low) || !isfinite(high))
        return amp_fail(err, AMP_USAGE,
                        "--input-range %s: two numbers with a comma between them are needed, as "
                        "%s=0,255",
                        text, pair.name);
    if (!is_required(input_at(inputs->model, i)))
        return amp_fail(err, AMP_USAGE, "--input-range %s: the model has values for it itself",
                        text);
    if (amp_random_input_limit(&inputs->random[i], low, high, err) == AMP_OK)
        return AMP_OK;
    amp_error_prefix(err, "--input-range %s", text);
    return err->status;
}

/* Plans the values of all inputs that need some, for BOUND: the model with inputs of known shapes.
 */
static enum amp_status plan_all(struct amp_inputs *inputs, const struct amp_model *bound,
                                struct amp_error *err)
{
    const struct amp_texts *ranges = &inputs->options->ranges_of_inputs;
    struct amp_random_planner *planner = amp_random_planner_create(bound);
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < count_inputs(bound) && status == AMP_OK; i++)
        if (is_required(input_at(bound, i)))
            status = amp_random_planner_plan(planner, bound->graphs[0].inputs.items[i], NULL,
                                             &inputs->random[i], err);
    amp_random_planner_destroy(planner);
    for (size_t i = 0; i < ranges->count && status == AMP_OK; i++)
        status = set_range(inputs, ranges->items[i], err);
    return status;
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

/* Runs BOUND on the first sample (amp_input_dims_trial). */
static enum amp_status try_sample(void *context, const struct amp_model *bound,
                                  struct amp_error *err)
{
    struct amp_inputs *inputs = context;
    size_t n_inputs = count_inputs(bound), n_outputs = bound->graphs[0].outputs.count;
    struct amp_session *session = NULL;
    struct amp_tensor *tensors = amp_xcalloc(n_inputs, sizeof *tensors);
    struct amp_tensor *outputs = amp_xcalloc(n_outputs, sizeof *outputs);
    enum amp_status status = plan_all(inputs, bound, err);
    if (status == AMP_OK)
        status = make_random(inputs, 0, tensors, err);
    if (status == AMP_OK)
        status = amp_session_open(bound, AMP_FREE, &session, err);
    if (status == AMP_OK)
        status = amp_session_run(session, tensors, outputs, err);
    amp_session_destroy(session);
    amp_tensors_release(tensors, n_inputs);
    amp_tensors_release(outputs, n_outputs);
    free(tensors);
    free(outputs);
    return status;
}

static void note_sizes(struct amp_inputs *inputs, const struct amp_input_dims *dims)
{
    char text[1024] = "", name[256];
    int64_t size;
    size_t used = 0;
    for (size_t k = 0; (size = amp_input_dims_found(dims, k, name, sizeof name)) > 0; k++)
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s = %" PRId64,
                                     k > 0 ? ", " : "", name, size);
    if (used > 0)
        inputs->notes.sizes = amp_xstrdup(text);
}

static void note_random(struct amp_inputs *inputs, size_t i)
{
    char text[128], seed[32] = "";
    const struct amp_value *input = input_at(inputs->model, i);
    const struct amp_random_input *plan = &inputs->random[i];
    if (!is_required(input)) {
        struct amp_input_note own = {.shape.rank = -1};
        if (input->constant != NULL)
            return;
        own.shape = input->initial->shape;
        amp_input_notes_set(&inputs->notes, i, &own, "the model's own");
        return;
    }
    struct amp_input_note note = {.shape = plan->shape, .kind = plan->name};
    note.has_range = amp_random_input_range(plan, &note.low, &note.high);
    amp_random_input_text(plan, text, sizeof text - sizeof seed);
    if (amp_random_input_is_drawn(plan))
        snprintf(seed, sizeof seed, ", seed %" PRId64, inputs->options->seed);
    strcat(text, seed);
    amp_input_notes_set(&inputs->notes, i, &note, text);
}

static enum amp_status plan_random(struct amp_inputs *inputs, struct amp_input_dims *dims,
                                   struct amp_error *err)
{
    inputs->count = inputs->options->samples > 0 ? (size_t)inputs->options->samples : 1;
    inputs->notes.are_random = true;
    inputs->random = amp_xcalloc(count_inputs(inputs->model), sizeof *inputs->random);
    AMP_TRY(amp_input_dims_find(dims, try_sample, inputs, err));
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status = plan_all(inputs, amp_input_dims_bind(dims, arena), err);
    amp_arena_destroy(arena);
    AMP_TRY(status);
    note_sizes(inputs, dims);
    for (size_t i = 0; i < count_inputs(inputs->model); i++)
        note_random(inputs, i);
    return AMP_OK;
}

/* AMP_USAGE for an option about random inputs where files supply the inputs. */
static enum amp_status check_random_options(const struct amp_options *options,
                                            struct amp_error *err)
{
    const struct amp_texts *some =
        options->shapes.count > 0 ? &options->shapes : &options->ranges_of_inputs;
    if (some->count == 0 || (options->data.count == 0 && options->inputs.count == 0))
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "--%s %s is about random inputs; --%s supplies them",
                    options->shapes.count > 0 ? "input-shape" : "input-range", some->items[0],
                    options->data.count > 0 ? "data" : "input");
}

enum amp_status amp_inputs_check(const struct amp_options *options, struct amp_error *err)
{
    if (options->samples == 0)
        return amp_fail(err, AMP_USAGE, "--samples 0: at least 1 is needed");
    return check_random_options(options, err);
}

static enum amp_status open_all(struct amp_inputs *inputs, struct amp_error *err)
{
    struct amp_input_dims *dims = NULL;
    const struct amp_texts *given = &inputs->options->inputs;
    AMP_TRY(amp_inputs_check(inputs->options, err));
    enum amp_status status = read_sizes(inputs, &dims, err);
    for (size_t i = 0; i < given->count && status == AMP_OK; i++)
        status = load_given(inputs, given->items[i], err);
    inputs->count = 1;
    if (status == AMP_OK && inputs->options->data.count > 0)
        status = open_data(inputs, err);
    else if (status == AMP_OK)
        status = given->count > 0 ? check_given(inputs, err) : plan_random(inputs, dims, err);
    amp_input_dims_destroy(dims);
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
    amp_batches_close(&inputs->batches);
    free(inputs->given);
    free(inputs->random);
    *inputs = (struct amp_inputs){.count = 0};
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Checks that a sample of --data supplies every input that needs a tensor and has no --input, and
   casts the tensors to the declared types. */
static enum amp_status check_sample(struct amp_inputs *inputs, size_t sample,
                                    struct amp_tensor *tensors, struct amp_error *err)
{
    const char *path = amp_batches_path(&inputs->batches, sample);
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
            note_data(inputs, i, &tensors[i].shape);
    }
    return AMP_OK;
}

enum amp_status amp_inputs_load(struct amp_inputs *inputs, size_t i, struct amp_tensor *tensors,
                                struct amp_tensor *expected, struct amp_error *err)
{
    if (inputs->batches.count > 0) {
        AMP_TRY(amp_batches_load(&inputs->batches, i, tensors, expected, err));
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

enum amp_status amp_label_files_load(const struct amp_inputs *inputs, struct amp_label_files *files,
                                     struct amp_error *err)
{
    enum amp_status status = AMP_OK;
    const struct amp_texts *texts = &inputs->options->labels;
    *files = (struct amp_label_files){.items = amp_xcalloc(texts->count, sizeof *files->items)};
    while (files->count < texts->count && status == AMP_OK) {
        struct amp_labels *labels = &files->items[files->count];
        status = load_labels(inputs->model, texts->items[files->count++], labels, err);
        if (status == AMP_OK)
            status = amp_batches_keep_rows(&inputs->batches, &labels->tensor, err);
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
