/*
 * A step of training as a model that runs: takes the message of a model with training_info, joins
 * the main graph and the algorithm's to one, as ONNX says they are executed, and makes inputs and
 * outputs of what bindings assign. Puts what has been trained back into the message. Runs nothing.
 */
#include "onnx/training/step.h"

#include "core/graph/order.h"
#include "onnx/file/read.h"
#include "onnx/file/reader.h"
#include "onnx/schema/infer.h"

#include <string.h>

/* What one call works on. */
struct joining {
    const struct amp_model_file *file;
    const Onnx__ModelProto *proto;
    const Onnx__TrainingInfoProto *info;
    struct amp_arena *arena;
    struct amp_error *err;
};

/* ---- messages -------------------------------------------------------------------------------- */

/* The pointers of A, then those of B. */
static void *join(struct amp_arena *arena, const void *a, size_t n_a, const void *b, size_t n_b)
{
    void **both = amp_arena_array(arena, n_a + n_b, sizeof *both);
    if (n_a > 0)
        memcpy(both, a, n_a * sizeof *both);
    if (n_b > 0)
        memcpy(both + n_a, b, n_b * sizeof *both);
    return both;
}

/* Lists of messages A and B as one, where TO is a copy of A. */
#define JOIN(arena, to, a, b, field)                                                    \
    ((to)->field = join(arena, (a)->field, (a)->n_##field, (b)->field, (b)->n_##field), \
     (to)->n_##field = (a)->n_##field + (b)->n_##field)

static Onnx__GraphProto *join_graphs(struct amp_arena *arena, const Onnx__GraphProto *a,
                                     const Onnx__GraphProto *b)
{
    Onnx__GraphProto *both = amp_arena_memdup(arena, a, sizeof *a);
    JOIN(arena, both, a, b, input);
    JOIN(arena, both, a, b, output);
    JOIN(arena, both, a, b, node);
    JOIN(arena, both, a, b, initializer);
    JOIN(arena, both, a, b, sparse_initializer);
    JOIN(arena, both, a, b, value_info);
    return both;
}

static enum amp_status read_graph(const struct joining *joining, Onnx__GraphProto *graph,
                                  const char *text, struct amp_model **model)
{
    const struct amp_model *whole = joining->file->model;
    Onnx__ModelProto *proto = amp_arena_memdup(joining->arena, joining->proto, sizeof *proto);
    struct amp_model *made = amp_model_create(joining->arena, whole->path);
    struct amp_reader reader = {
        .model = made, .external = joining->file->external, .err = joining->err};
    proto->graph = graph;
    proto->n_training_info = 0;
    made->path = amp_arena_printf(joining->arena, "%s: %s", whole->path, text);
    made->ir_version = whole->ir_version;
    made->origin = proto;
    for (size_t i = 0; i < whole->n_opsets; i++)
        amp_model_import(made, whole->opsets[i].domain, whole->opsets[i].version);
    *model = made;
    if (amp_reader_read_graph(&reader, graph) != AMP_OK) {
        amp_error_prefix(joining->err, "%s", made->path);
        return joining->err->status;
    }
    return amp_graph_sort(made, NULL, joining->err);
}

/* ---- variables ------------------------------------------------------------------------------- */

static uint32_t find_value(const struct amp_model *model, const char *name)
{
    for (uint32_t id = 0; id < model->n_values; id++)
        if (amp_value_at(model, id)->graph == 0 && strcmp(amp_value_at(model, id)->name, name) == 0)
            return id;
    return AMP_NONE;
}

/* The place of ID in IDS, at whose end it comes to stand if it is not there. */
static size_t place_of(struct amp_model *model, struct amp_ids *ids, uint32_t id)
{
    size_t i = 0;
    while (i < ids->count && ids->items[i] != id)
        i++;
    if (i == ids->count)
        amp_ids_push(model, ids, id);
    return i;
}

static enum amp_status fail_binding(const struct joining *joining, const char *what,
                                    const Onnx__StringStringEntryProto *binding, const char *lacks)
{
    return amp_fail(joining->err, AMP_MODEL,
                    "%s: training_info 0, %s of '%s' to '%s': no %s has "
                    "that name",
                    joining->file->model->path, what, binding->key ? binding->key : "",
                    binding->value ? binding->value : "", lacks);
}

/* Makes an input of the step of initializer NAME, unless it is one; NULL: there is none. */
static struct amp_training_variable *add_variable(struct amp_training_step *step, const char *name)
{
    for (size_t i = 0; i < step->n_variables; i++)
        if (strcmp(step->variables[i].name, name) == 0)
            return &step->variables[i];
    uint32_t id = find_value(step->model, name);
    if (id == AMP_NONE || !amp_value_at(step->model, id)->is_initializer)
        return NULL;
    struct amp_value *value = amp_value_at(step->model, id);
    struct amp_training_variable *variable = &step->variables[step->n_variables++];
    *variable = (struct amp_training_variable){.name = value->name,
                                               .value = id,
                                               .before = value->initial,
                                               .output = SIZE_MAX,
                                               .initial = SIZE_MAX};
    value->constant = NULL;
    value->is_input = true;
    return variable;
}

static enum amp_status bind_updates(const struct joining *joining, struct amp_training_step *step)
{
    static const char text[] = "update_binding";
    for (size_t i = 0; i < joining->info->n_update_binding; i++) {
        const Onnx__StringStringEntryProto *binding = joining->info->update_binding[i];
        struct amp_training_variable *variable =
            binding->key != NULL ? add_variable(step, binding->key) : NULL;
        uint32_t id = binding->value != NULL ? find_value(step->model, binding->value) : AMP_NONE;
        if (variable == NULL || id == AMP_NONE)
            return fail_binding(joining, text, binding,
                                variable == NULL ? "initializer" : "output");
        amp_value_at(step->model, id)->is_output = true;
        variable->output = place_of(step->model, &step->model->graphs[0].outputs, id);
    }
    return AMP_OK;
}

static enum amp_status bind_initial(const struct joining *joining, struct amp_training_step *step)
{
    static const char text[] = "initialization_binding";
    for (size_t i = 0; i < joining->info->n_initialization_binding; i++) {
        const Onnx__StringStringEntryProto *binding = joining->info->initialization_binding[i];
        struct amp_training_variable *variable =
            binding->key != NULL ? add_variable(step, binding->key) : NULL;
        uint32_t id = step->initialization != NULL && binding->value != NULL
                          ? find_value(step->initialization, binding->value)
                          : AMP_NONE;
        if (variable == NULL || id == AMP_NONE)
            return fail_binding(joining, text, binding,
                                variable == NULL ? "initializer" : "output");
        amp_value_at(step->initialization, id)->is_output = true;
        variable->initial =
            place_of(step->initialization, &step->initialization->graphs[0].outputs, id);
    }
    return AMP_OK;
}

/* Puts the variables behind the other inputs. */
static void give_inputs(struct amp_training_step *step)
{
    struct amp_ids *inputs = &step->model->graphs[0].inputs;
    size_t kept = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        bool is_variable = false;
        for (size_t k = 0; k < step->n_variables; k++)
            is_variable |= step->variables[k].value == inputs->items[i];
        if (!is_variable)
            inputs->items[kept++] = inputs->items[i];
    }
    inputs->count = step->n_inputs = kept;
    for (size_t k = 0; k < step->n_variables; k++) {
        step->variables[k].input = inputs->count;
        amp_ids_push(step->model, inputs, step->variables[k].value);
    }
}

enum amp_status amp_training_step_read(const struct amp_model_file *file,
                                       struct amp_training_step *step, struct amp_error *err)
{
    const Onnx__ModelProto *proto = file->model->origin;
    *step = (struct amp_training_step){.model = NULL};
    if (proto->n_training_info == 0 || proto->training_info[0]->algorithm == NULL)
        return amp_fail(err, AMP_MODEL, "%s: there is no training_info with an algorithm",
                        file->model->path);
    if (proto->n_training_info > 1)
        return amp_fail(err, AMP_UNSUPPORTED, "%s: training_info has %zu entries; 1 can be trained",
                        file->model->path, proto->n_training_info);
    const Onnx__TrainingInfoProto *info = proto->training_info[0];
    const struct joining joining = {file, proto, info, file->arena, err};
    size_t most = info->n_update_binding + info->n_initialization_binding;
    step->variables = amp_arena_array(file->arena, most, sizeof *step->variables);
    AMP_TRY(read_graph(&joining, join_graphs(file->arena, proto->graph, info->algorithm),
                       "a step of training", &step->model));
    if (info->initialization != NULL)
        AMP_TRY(read_graph(
            &joining,
            amp_arena_memdup(file->arena, info->initialization, sizeof *info->initialization),
            "training_info 0, initialization", &step->initialization));
    step->first_own = proto->graph->n_output;
    step->n_own = info->algorithm->n_output;
    AMP_TRY(bind_updates(&joining, step));
    AMP_TRY(bind_initial(&joining, step));
    give_inputs(step);
    AMP_TRY(amp_infer(step->model, err));
    return step->initialization != NULL ? amp_infer(step->initialization, err) : AMP_OK;
}

/* ---- what has been trained ------------------------------------------------------------------- */

static Onnx__TensorProto *find_initializer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (graph->initializer[i]->name != NULL && strcmp(graph->initializer[i]->name, name) == 0)
            return graph->initializer[i];
    return NULL;
}

/* Gives PROTO the data of TENSOR, and takes those that it has away, whatever form they have. */
static void fill(Onnx__TensorProto *proto, const struct amp_tensor *tensor)
{
    proto->n_float_data = proto->n_int32_data = proto->n_int64_data = 0;
    proto->n_double_data = proto->n_uint64_data = proto->n_string_data = 0;
    proto->n_external_data = 0;
    proto->has_data_location = false;
    proto->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT;
    proto->has_raw_data = true;
    proto->raw_data.data = tensor->data;
    proto->raw_data.len = amp_tensor_size(tensor);
}

enum amp_status amp_training_step_store(const struct amp_model_file *file,
                                        const struct amp_training_step *step,
                                        const struct amp_tensor *values, struct amp_error *err)
{
    const Onnx__ModelProto *proto = file->model->origin;
    for (size_t i = 0; i < step->n_variables; i++) {
        const struct amp_training_variable *variable = &step->variables[i];
        Onnx__TensorProto *found = find_initializer(proto->graph, variable->name);
        char before[200], after[200];
        if (found == NULL)
            found = find_initializer(proto->training_info[0]->algorithm, variable->name);
        if (found == NULL)
            return amp_fail(err, AMP_UNSUPPORTED,
                            "%s: initializer '%s' is sparse; only dense ones "
                            "can be trained",
                            file->model->path, variable->name);
        if (values[i].dtype != variable->before->dtype ||
            !amp_shape_equal(&values[i].shape, &variable->before->shape))
            return amp_fail(err, AMP_MODEL,
                            "%s: training makes %s%s of initializer '%s', which is "
                            "%s%s",
                            file->model->path, amp_dtype_name(values[i].dtype),
                            amp_shape_text(&values[i].shape, after, sizeof after), variable->name,
                            amp_dtype_name(variable->before->dtype),
                            amp_shape_text(&variable->before->shape, before, sizeof before));
        fill(found, &values[i]);
    }
    return AMP_OK;
}
