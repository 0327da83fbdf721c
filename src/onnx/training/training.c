/*
 * Keeps training_info and the main graph consistent while that is converted: takes a model as it
 * was read, holds the values that training names, and brings the training graphs to the opset of
 * the result. Each graph is read as a model of its own, whose inputs are those of the graph and
 * what it names of the main graph. Lowers nothing in these graphs, and runs none.
 */
#include "onnx/training/training.h"

#include "core/graph/copy.h"
#include "core/graph/order.h"
#include "core/tensor.h"
#include "onnx/file/reader.h"
#include "onnx/file/type_proto.h"
#include "onnx/file/update.h"
#include "onnx/opset/opset.h"
#include "onnx/schema/infer.h"
#include "onnx/training/gradient_node.h"
#include "onnx/training/references.h"
#include "onnx/training/scaler.h"

#include <string.h>

/* One graph of training_info. */
struct part {
    const char *text; /* for messages */
    Onnx__TrainingInfoProto *info;
    Onnx__GraphProto *graph;
    struct amp_graph_names names;
    struct amp_model *model; /* that is this graph */
    bool is_changed;
};

/* A value of the main graph that training names. */
struct held {
    const char *name;
    const char *user; /* who names it, for messages */
    enum amp_dtype dtype;
};

struct amp_training {
    struct amp_model *model; /* the main one */
    struct amp_arena *arena;
    struct amp_external *external;
    struct amp_strmap values; /* of the main graph: name -> id */
    struct part *parts;
    size_t n_parts;
    struct held *held;
    size_t n_held, held_capacity;
    struct amp_strmap held_names;
    struct amp_ids variables; /* initializers that were constants */
    struct amp_ids points;    /* values that gradients are taken by and at */
    bool has_gradient;
    size_t n_outputs; /* of the main graph, without held values */
};

static bool is_algorithm(const struct part *part)
{
    return part->graph == part->info->algorithm;
}

/* ---- what training names ----------------------------------------------------------------------
 */

/* Notes that USER names value NAME; false when the main graph has none of that name. */
static bool hold(struct amp_training *training, const char *name, const char *user)
{
    if (!amp_strmap_get(&training->values, name, NULL))
        return false;
    if (amp_strmap_get(&training->held_names, name, NULL))
        return true;
    struct held *held = amp_arena_push(training->arena, &training->held, &training->n_held,
                                       &training->held_capacity, sizeof *held);
    *held = (struct held){.name = name, .user = user};
    amp_strmap_put(&training->held_names, training->arena, name, 1);
    return true;
}

/* Makes NAME, an initializer of the main graph, one that changes; false when there is none. */
static bool make_variable(struct amp_training *training, const char *name)
{
    uint32_t id;
    if (!amp_strmap_get(&training->values, name, &id) ||
        !amp_value_at(training->model, id)->is_initializer)
        return false;
    struct amp_value *value = amp_value_at(training->model, id);
    if (value->constant != NULL)
        amp_ids_push(training->model, &training->variables, id);
    value->constant = NULL;
    return true;
}

static bool has_initializer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; graph != NULL && i < graph->n_initializer; i++)
        if (graph->initializer[i]->name != NULL && strcmp(graph->initializer[i]->name, name) == 0)
            return true;
    for (size_t i = 0; graph != NULL && i < graph->n_sparse_initializer; i++) {
        const Onnx__TensorProto *values = graph->sparse_initializer[i]->values;
        if (values != NULL && values->name != NULL && strcmp(values->name, name) == 0)
            return true;
    }
    return false;
}

static bool has_output(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; graph != NULL && i < graph->n_output; i++)
        if (graph->output[i]->name != NULL && strcmp(graph->output[i]->name, name) == 0)
            return true;
    return false;
}

/* A list of bindings: outputs of SOURCE, or of FURTHER (NULL: none), to initializers of the main
   graph or of ALGORITHM. */
struct bindings {
    const char *text; /* for messages */
    Onnx__StringStringEntryProto *const *items;
    size_t count;
    const Onnx__GraphProto *source, *further, *algorithm;
    struct amp_name_list *foreign; /* of the graph: gets the initializers of the main graph */
};

static enum amp_status bind(struct amp_training *training, const struct bindings *bindings,
                            struct amp_error *err)
{
    for (size_t i = 0; i < bindings->count; i++) {
        const char *key = bindings->items[i]->key, *value = bindings->items[i]->value;
        key = key != NULL ? key : "";
        value = value != NULL ? value : "";
        if (make_variable(training, key)) {
            hold(training, key, bindings->text);
            amp_name_list_add(bindings->foreign, training->arena, key);
        } else if (!has_initializer(bindings->algorithm, key))
            return amp_fail(err, AMP_MODEL, "%s: %s of '%s': no initializer has that name",
                            training->model->path, bindings->text, key);
        if (has_output(bindings->source, value))
            continue;
        if (!has_output(bindings->further, value) || !hold(training, value, bindings->text))
            return amp_fail(err, AMP_MODEL, "%s: %s of '%s' to '%s': no output has that name",
                            training->model->path, bindings->text, key, value);
    }
    return AMP_OK;
}

/* Notes that gradients are taken of, by or at the values called as POINTS are: initializers among
   them are no constants. */
static void add_points(struct amp_training *training, const struct amp_name_list *points)
{
    training->has_gradient |= points->count > 0;
    for (size_t i = 0; i < points->count; i++) {
        uint32_t id;
        if (!amp_strmap_get(&training->values, points->items[i], &id))
            continue;
        make_variable(training, points->items[i]);
        amp_ids_push(training->model, &training->points, id);
    }
}

static struct part *add_part(struct amp_training *training, Onnx__TrainingInfoProto *info,
                             Onnx__GraphProto *graph, const char *text)
{
    struct part *part = &training->parts[training->n_parts];
    *part = (struct part){.graph = graph, .text = text, .info = info};
    if (graph == NULL)
        return part;
    training->n_parts++;
    amp_graph_find_names(graph, training->arena, &part->names);
    for (size_t i = 0; i < part->names.own.count; i++)
        if (!amp_strmap_get(&training->model->names, part->names.own.items[i], NULL))
            amp_strmap_put(&training->model->names, training->arena, part->names.own.items[i], 1);
    for (size_t i = 0; i < part->names.foreign.count; i++)
        hold(training, part->names.foreign.items[i], text);
    add_points(training, &part->names.points);
    return part;
}

/* Takes entry INDEX of training_info. */
static enum amp_status add_info(struct amp_training *training, Onnx__TrainingInfoProto *info,
                                size_t index, struct amp_error *err)
{
    struct amp_arena *arena = training->arena;
    const Onnx__ModelProto *proto = training->model->origin;
    const char *text = amp_arena_printf(arena, "training_info %zu", index);
    struct part *first = add_part(training, info, info->initialization,
                                  amp_arena_printf(arena, "%s, initialization", text));
    struct part *second =
        add_part(training, info, info->algorithm, amp_arena_printf(arena, "%s, algorithm", text));
    const struct bindings initial = {
        .text = amp_arena_printf(arena, "%s, initialization_binding", text),
        .items = info->initialization_binding,
        .count = info->n_initialization_binding,
        .source = info->initialization,
        .algorithm = info->algorithm,
        .foreign = &first->names.foreign};
    const struct bindings update = {.text = amp_arena_printf(arena, "%s, update_binding", text),
                                    .items = info->update_binding,
                                    .count = info->n_update_binding,
                                    .source = info->algorithm,
                                    .further = proto->graph,
                                    .algorithm = info->algorithm,
                                    .foreign = &second->names.foreign};
    AMP_TRY(bind(training, &initial, err));
    return bind(training, &update, err);
}

/* The values of the main graph that are there, by name. */
static struct amp_strmap find_values(const struct amp_model *model)
{
    struct amp_strmap values = {.count = 0};
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        bool is_given = value->producer != AMP_NONE
                            ? !amp_node_at(model, value->producer)->is_removed
                            : value->is_input || (value->is_initializer && !value->is_removed);
        if (value->graph == 0 && is_given)
            amp_strmap_put(&values, model->arena, value->name, id);
    }
    return values;
}

static bool has_gradient(const struct amp_model *model)
{
    bool found = false;
    for (uint32_t id = 0; id < model->n_nodes; id++)
        found |= amp_node_is_gradient(amp_node_at(model, id));
    return found;
}

/* Holds what the gradients in the main graph itself are taken of, by and at. */
static void hold_points(struct amp_training *training)
{
    static const char user[] = "a gradient";
    const struct amp_model *model = training->model;
    struct amp_name_list points = {.count = 0};
    struct amp_ids ids = {.count = 0};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (!amp_node_is_gradient(amp_node_at(model, id)))
            continue;
        amp_gradient_add_points(model, id, &ids);
        uint32_t target = amp_gradient_target(model, id);
        if (target != AMP_NONE)
            hold(training, amp_value_at(model, target)->name, user);
    }
    for (size_t i = 0; i < ids.count; i++) {
        const char *name = amp_value_at(model, ids.items[i])->name;
        hold(training, name, user);
        amp_name_list_add(&points, training->arena, name);
    }
    add_points(training, &points);
}

enum amp_status amp_training_open(struct amp_model_file *file, struct amp_training **training,
                                  struct amp_error *err)
{
    const Onnx__ModelProto *proto = file->model->origin;
    struct amp_arena *arena = file->model->arena;
    *training = NULL;
    if (proto->n_training_info == 0 && !has_gradient(file->model))
        return AMP_OK;
    struct amp_training *made = amp_arena_alloc(arena, sizeof *made);
    *made = (struct amp_training){.model = file->model, .arena = arena, .external = file->external};
    made->values = find_values(file->model);
    made->parts = amp_arena_array(arena, 2 * proto->n_training_info, sizeof *made->parts);
    for (size_t i = 0; i < proto->n_training_info; i++)
        AMP_TRY(add_info(made, proto->training_info[i], i, err));
    hold_points(made);
    *training = made;
    return AMP_OK;
}

/* ---- the graphs as models ---------------------------------------------------------------------
 */

/* The value of the main graph that is called NAME, as an input. */
static Onnx__ValueInfoProto *create_input(const struct amp_training *training, const char *name)
{
    uint32_t id = 0;
    Onnx__ValueInfoProto *info = amp_arena_alloc(training->arena, sizeof *info);
    onnx__value_info_proto__init(info);
    info->name = amp_arena_strdup(training->arena, name);
    amp_strmap_get(&training->values, name, &id);
    const struct amp_value *value = amp_value_at(training->model, id);
    if (value->kind == AMP_KIND_TENSOR && value->dtype != AMP_UNDEFINED)
        info->type = amp_type_to_proto(training->model, value);
    return info;
}

/* A copy of the graph of PART with what it names of the main graph among its inputs, behind its
   own. */
static Onnx__GraphProto *close_graph(const struct amp_training *training, const struct part *part)
{
    Onnx__GraphProto *closed = amp_arena_memdup(training->arena, part->graph, sizeof *part->graph);
    closed->input = amp_arena_array(training->arena, closed->n_input + part->names.foreign.count,
                                    sizeof *closed->input);
    for (size_t i = 0; i < part->graph->n_input; i++)
        closed->input[i] = part->graph->input[i];
    for (size_t i = 0; i < part->names.foreign.count; i++)
        if (amp_strmap_get(&training->values, part->names.foreign.items[i], NULL))
            closed->input[closed->n_input++] = create_input(training, part->names.foreign.items[i]);
    return closed;
}

/* The message of a model with the imports of the main one and with GRAPH. */
static Onnx__ModelProto *create_message(const struct amp_training *training,
                                        Onnx__GraphProto *graph)
{
    const Onnx__ModelProto *main_proto = training->model->origin;
    size_t count = main_proto->n_opset_import;
    Onnx__ModelProto *proto = amp_arena_alloc(training->arena, sizeof *proto);
    onnx__model_proto__init(proto);
    proto->graph = graph;
    proto->n_opset_import = count;
    proto->opset_import = amp_arena_array(training->arena, count, sizeof *proto->opset_import);
    for (size_t i = 0; i < count; i++)
        proto->opset_import[i] = amp_arena_memdup(training->arena, main_proto->opset_import[i],
                                                  sizeof *proto->opset_import[i]);
    return proto;
}

/* Whether training assigns to the initializer called NAME of the graph of PART, or gradients are
   taken by it. */
static bool is_own_variable(const struct part *part, const char *name)
{
    const Onnx__TrainingInfoProto *info = part->info;
    bool found = amp_strmap_get(&part->names.points.known, name, NULL);
    for (size_t i = 0; i < info->n_update_binding; i++)
        found |=
            info->update_binding[i]->key != NULL && strcmp(info->update_binding[i]->key, name) == 0;
    for (size_t i = 0; i < info->n_initialization_binding; i++)
        found |= info->initialization_binding[i]->key != NULL &&
                 strcmp(info->initialization_binding[i]->key, name) == 0;
    return found;
}

static void make_own_variables(const struct part *part)
{
    struct amp_model *model = part->model;
    const struct amp_ids *ids = &model->graphs[0].initializers;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_value *value = amp_value_at(model, ids->items[i]);
        if (is_own_variable(part, value->name))
            value->constant = NULL;
    }
}

static enum amp_status read_part(const struct amp_training *training, struct part *part,
                                 struct amp_error *err)
{
    const struct amp_model *whole = training->model;
    struct amp_model *model = amp_model_create(training->arena, whole->path);
    struct amp_reader reader = {.model = model, .external = training->external, .err = err};
    model->path = amp_arena_printf(training->arena, "%s: %s", whole->path, part->text);
    model->ir_version = whole->ir_version;
    model->origin = create_message(training, close_graph(training, part));
    for (size_t i = 0; i < whole->n_opsets; i++)
        amp_model_import(model, whole->opsets[i].domain, whole->opsets[i].version);
    part->model = model;
    if (amp_reader_read_graph(&reader, ((Onnx__ModelProto *)model->origin)->graph) != AMP_OK) {
        amp_error_prefix(err, "%s", model->path);
        return err->status;
    }
    make_own_variables(part);
    AMP_TRY(amp_graph_sort(model, NULL, err));
    return amp_infer(model, err);
}

/* Makes an output of the main graph of value NAME, unless it is one. */
static void give_out(struct amp_training *training, struct held *held)
{
    uint32_t id = 0;
    amp_strmap_get(&training->values, held->name, &id);
    struct amp_value *value = amp_value_at(training->model, id);
    held->dtype = value->dtype;
    if (value->is_output)
        return;
    value->is_output = true;
    amp_ids_push(training->model, &training->model->graphs[0].outputs, id);
}

enum amp_status amp_training_hold(struct amp_training *training, struct amp_error *err)
{
    if (training == NULL)
        return AMP_OK;
    for (size_t i = 0; i < training->n_parts; i++)
        AMP_TRY(read_part(training, &training->parts[i], err));
    training->n_outputs = training->model->graphs[0].outputs.count;
    for (size_t i = 0; i < training->n_held; i++)
        give_out(training, &training->held[i]);
    return AMP_OK;
}

int amp_training_opset(struct amp_training *training, int target, const char **obstacle)
{
    for (size_t i = 0; training != NULL && i < training->n_parts; i++) {
        const struct part *part = &training->parts[i];
        struct amp_opset_limit limit = {.node = AMP_NONE, .opset = target - 1};
        struct amp_error blocked = {.status = AMP_OK};
        while (amp_opset_raise(amp_model_copy(part->model, training->arena), target, &limit,
                               &blocked) != AMP_OK) {
            *obstacle = amp_arena_printf(training->arena, "%s: %s", part->text, blocked.text);
            target = limit.opset < target ? limit.opset : target - 1;
            blocked = (struct amp_error){.status = AMP_OK};
        }
    }
    return target;
}

/* ---- the graphs, changed ----------------------------------------------------------------------
 */

/* Makes new names in PART differ from all in the main graph. */
static void take_names(const struct amp_training *training, const struct part *part)
{
    const struct amp_model *model = training->model;
    struct amp_strmap *names = &part->model->names;
    for (size_t i = 0; i < model->n_values; i++)
        if (!amp_strmap_get(names, model->values[i].name, NULL))
            amp_strmap_put(names, training->arena, model->values[i].name, 1);
    for (size_t i = 0; i < model->n_nodes; i++)
        if (!amp_strmap_get(names, model->nodes[i].name, NULL))
            amp_strmap_put(names, training->arena, model->nodes[i].name, 1);
}

/* Gives the initializers of MODEL that are another's in another dtype data of their own. */
static void fill_initializers(struct amp_model *model)
{
    const struct amp_ids *ids = &model->graphs[0].initializers;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_tensor *tensor = amp_value_at(model, ids->items[i])->initial;
        if (tensor->data != NULL || tensor->source == NULL)
            continue;
        void *data = amp_arena_alloc(model->arena, amp_tensor_size(tensor));
        amp_tensor_convert(tensor, 0, amp_tensor_count(tensor), data);
        tensor->data = data;
    }
}

/* Brings the message of PART up to date with its model, and leaves out the inputs that are values
   of the main graph. */
static void write_part(struct part *part)
{
    struct amp_deferred none = {.count = 0};
    size_t n_inputs = part->graph->n_input;
    Onnx__ValueInfoProto **inputs = part->graph->input;
    fill_initializers(part->model);
    amp_message_update(part->model, &none);
    *part->graph = *((const Onnx__ModelProto *)part->model->origin)->graph;
    part->graph->input = inputs;
    part->graph->n_input = n_inputs;
}

static enum amp_status raise_part(const struct amp_training *training, struct part *part,
                                  struct amp_error *err)
{
    int64_t opset = amp_model_opset(training->model, "");
    take_names(training, part);
    if (amp_model_opset(part->model, "") >= opset)
        return AMP_OK;
    part->is_changed = true;
    if (amp_opset_raise(part->model, (int)opset, NULL, err) != AMP_OK) {
        amp_error_prefix(err, "%s: %s", training->model->path, part->text);
        return err->status;
    }
    return AMP_OK;
}

enum amp_status amp_training_raise(struct amp_training *training, struct amp_error *err)
{
    for (size_t i = 0; training != NULL && i < training->n_parts; i++)
        AMP_TRY(raise_part(training, &training->parts[i], err));
    return AMP_OK;
}

/* ---- what autocast is told, and does --------------------------------------------------------- */

size_t amp_training_algorithm_count(const struct amp_training *training)
{
    size_t count = 0;
    for (size_t i = 0; training != NULL && i < training->n_parts; i++)
        count += is_algorithm(&training->parts[i]);
    return count;
}

static struct part *algorithm_at(const struct amp_training *training, size_t index)
{
    size_t i = 0;
    while (!is_algorithm(&training->parts[i]) || index-- > 0)
        i++;
    return &training->parts[i];
}

struct amp_model *amp_training_algorithm(struct amp_training *training, size_t index)
{
    return algorithm_at(training, index)->model;
}

void amp_training_note_change(struct amp_training *training, size_t index)
{
    algorithm_at(training, index)->is_changed = true;
}

bool amp_training_has_gradient(const struct amp_training *training)
{
    return training != NULL && training->has_gradient;
}

struct amp_ids amp_training_points(const struct amp_training *training)
{
    return training != NULL ? training->points : (struct amp_ids){.count = 0};
}

enum amp_status amp_training_scale(struct amp_training *training,
                                   const struct amp_grad_scaler *scaler, size_t *n_scaled,
                                   struct amp_error *err)
{
    *n_scaled = 0;
    for (size_t i = 0; training != NULL && i < training->n_parts; i++) {
        struct part *part = &training->parts[i];
        bool is_scaled = false;
        if (!is_algorithm(part))
            continue;
        const struct amp_grad_scaler_graph graph = {part->model, training->model, part->info};
        AMP_TRY(amp_grad_scaler_add(&graph, scaler, &is_scaled, err));
        part->is_changed |= is_scaled;
        *n_scaled += is_scaled;
    }
    return AMP_OK;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* Whether a value that training names is what it was. */
static enum amp_status check_held(const struct amp_training *training,
                                  const struct amp_strmap *values, const struct held *held,
                                  struct amp_error *err)
{
    uint32_t id;
    if (!amp_strmap_get(values, held->name, &id))
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: %s: '%s' is needed, and the conversion takes it out",
                        training->model->path, held->user, held->name);
    enum amp_dtype dtype = amp_value_at(training->model, id)->dtype;
    if (dtype == held->dtype)
        return AMP_OK;
    return amp_fail(err, AMP_UNSUPPORTED, "%s: %s: '%s' must stay %s, and would be %s",
                    training->model->path, held->user, held->name, amp_dtype_name(held->dtype),
                    amp_dtype_name(dtype));
}

/* Takes the held values out of the outputs of the main graph; variables are constants again. */
static void let_go(const struct amp_training *training)
{
    struct amp_model *model = training->model;
    struct amp_ids *outputs = &model->graphs[0].outputs;
    for (size_t i = training->n_outputs; i < outputs->count; i++)
        amp_value_at(model, outputs->items[i])->is_output = false;
    outputs->count = training->n_outputs;
    for (size_t i = 0; i < training->variables.count; i++) {
        struct amp_value *value = amp_value_at(model, training->variables.items[i]);
        value->constant = value->initial;
    }
}

enum amp_status amp_training_release(struct amp_training *training, struct amp_error *err)
{
    if (training == NULL)
        return AMP_OK;
    struct amp_strmap values = find_values(training->model);
    for (size_t i = 0; i < training->n_held; i++)
        AMP_TRY(check_held(training, &values, &training->held[i], err));
    let_go(training);
    AMP_TRY(amp_training_raise(training, err));
    for (size_t i = 0; i < training->n_parts; i++)
        if (training->parts[i].is_changed)
            write_part(&training->parts[i]);
    return AMP_OK;
}
