/*
 * Gradient scaling as a part of the graph: takes an algorithm that holds Gradient nodes, adds the
 * nodes, initializers and bindings of torch.amp.GradScaler. What the loss and the optimizer are
 * stays as it is; which dtypes the loss is computed in is decided later.
 */
#include "onnx/training/scaler.h"

#include "core/graph/order.h"
#include "core/graph/reach.h"
#include "core/tensor.h"
#include "onnx/file/type_proto.h"
#include "onnx/schema/infer.h"
#include "onnx/schema/schema.h"
#include "onnx/training/gradient_node.h"

#include <stdlib.h>
#include <string.h>

/* What all new names begin with, and that of the initializer which tells that there is a scaler. */
#define PREFIX "grad_scaler/"
static const char scale_name[] = PREFIX "scale";
static const char next_scale_name[] = PREFIX "next_scale", skipped_name[] = PREFIX "skipped";

const char *amp_grad_scaler_word(const char *name)
{
    bool is_known = strcmp(name, next_scale_name) == 0 || strcmp(name, skipped_name) == 0;
    if (!is_known)
        return name;
    return strcmp(name, skipped_name) == 0 ? "skipped" : "scale";
}

struct scaling {
    const struct amp_grad_scaler_graph *graph;
    const struct amp_grad_scaler *how;
    struct amp_model *model; /* the algorithm */
    uint32_t scale, inverse;
    uint32_t found;        /* whether a gradient is not finite */
    struct amp_ids checks; /* scalars that are NaN where a gradient is not finite, else 0 */
    bool *is_bound;        /* per update binding: the scaler decides on it */
};

/* ---- nodes ----------------------------------------------------------------------------------- */

/* A name that neither graph has. */
static const char *new_name(const struct scaling *scaling, const char *text)
{
    const char *name = amp_model_unique_name(scaling->graph->main, text);
    if (!amp_strmap_get(&scaling->model->names, name, NULL))
        amp_strmap_put(&scaling->model->names, scaling->model->arena, name, 1);
    return name;
}

static uint32_t add_value(const struct scaling *scaling, const char *text)
{
    return amp_graph_add_value(scaling->model, 0, new_name(scaling, text));
}

/* A node that gives OUTPUT. */
static void add_node_to(const struct scaling *scaling, const char *op_type, uint32_t output,
                        const struct amp_ids *inputs)
{
    struct amp_model *model = scaling->model;
    uint32_t id = amp_graph_add_node(model, 0, op_type, (uint32_t)inputs->count, 1);
    struct amp_node *node = amp_node_at(model, id);
    memcpy(node->inputs, inputs->items, inputs->count * sizeof *inputs->items);
    node->name = new_name(scaling, PREFIX "node");
    node->schema = amp_schema_find("", op_type, (int)amp_model_opset(model, ""));
    node->since_version = node->schema->since_version;
    amp_node_set_output(model, id, 0, output);
}

/* A node on up to three values, AMP_NONE behind the last. Returns what it gives. */
static uint32_t add_node(const struct scaling *scaling, const char *op_type, uint32_t a, uint32_t b,
                         uint32_t c)
{
    uint32_t items[] = {a, b, c};
    struct amp_ids inputs = {.items = items, .count = b == AMP_NONE ? 1 : c == AMP_NONE ? 2 : 3};
    uint32_t output = add_value(scaling, PREFIX "value");
    add_node_to(scaling, op_type, output, &inputs);
    return output;
}

static uint32_t add_one(const struct scaling *scaling, const char *op_type, uint32_t a)
{
    return add_node(scaling, op_type, a, AMP_NONE, AMP_NONE);
}

static uint32_t add_two(const struct scaling *scaling, const char *op_type, uint32_t a, uint32_t b)
{
    return add_node(scaling, op_type, a, b, AMP_NONE);
}

/* VALUE, of dtype FROM, in dtype TO. */
static uint32_t add_cast(const struct scaling *scaling, uint32_t value, enum amp_dtype from,
                         enum amp_dtype to)
{
    if (from == to)
        return value;
    uint32_t output = add_one(scaling, "Cast", value);
    amp_node_set_int(scaling->model, amp_value_at(scaling->model, output)->producer, "to", to);
    return output;
}

/* A scalar initializer. */
static uint32_t add_scalar(const struct scaling *scaling, const char *name, enum amp_dtype dtype,
                           double number)
{
    struct amp_model *model = scaling->model;
    struct amp_tensor *tensor = amp_arena_array(model->arena, 1, sizeof *tensor);
    int64_t integer = (int64_t)number;
    tensor->dtype = dtype;
    tensor->data = amp_arena_alloc(model->arena, sizeof integer);
    if (dtype == AMP_INT64)
        memcpy(tensor->data, &integer, sizeof integer);
    else
        amp_tensor_set_double(tensor, 0, number);
    return amp_graph_add_initializer(model, 0, new_name(scaling, name), tensor);
}

/* One that steps assign. */
static uint32_t add_variable(const struct scaling *scaling, const char *name, enum amp_dtype dtype,
                             double number)
{
    uint32_t value = add_scalar(scaling, name, dtype, number);
    amp_value_at(scaling->model, value)->constant = NULL;
    return value;
}

static enum amp_dtype dtype_of(const struct scaling *scaling, uint32_t value)
{
    return amp_value_at(scaling->model, value)->dtype;
}

/* The dtype to scale DTYPE in: float32, unless that is less. */
static enum amp_dtype wide(enum amp_dtype dtype)
{
    return dtype == AMP_DOUBLE ? AMP_DOUBLE : AMP_FLOAT;
}

/* ---- outputs and bindings -------------------------------------------------------------------- */

/* Appends ITEM to the *COUNT messages of *LIST. */
static void append(const struct scaling *scaling, void *list, size_t *count, void *item)
{
    void ***items = list;
    void **more = amp_arena_array(scaling->model->arena, *count + 1, sizeof *more);
    if (*count > 0)
        memcpy(more, *items, *count * sizeof *more);
    more[(*count)++] = item;
    *items = more;
}

/* Makes an output of VALUE, which is a scalar or has the shape of LIKE. */
static void give_out(const struct scaling *scaling, uint32_t value, enum amp_dtype dtype,
                     uint32_t like)
{
    struct amp_model *model = scaling->model;
    Onnx__GraphProto *graph = model->graphs[0].origin;
    Onnx__ValueInfoProto *info = amp_arena_alloc(model->arena, sizeof *info);
    struct amp_shape shape = {.rank = 0};
    if (like != AMP_NONE)
        amp_value_shape(amp_value_at(model, like), &shape);
    amp_value_at(model, value)->kind = AMP_KIND_TENSOR;
    amp_value_at(model, value)->dtype = dtype;
    amp_value_at(model, value)->is_output = true;
    amp_value_set_shape(model, value, &shape);
    amp_ids_push(model, &model->graphs[0].outputs, value);
    onnx__value_info_proto__init(info);
    info->name = amp_arena_strdup(model->arena, amp_value_at(model, value)->name);
    info->type = amp_type_to_proto(model, amp_value_at(model, value));
    append(scaling, &graph->output, &graph->n_output, info);
}

/* Initializer KEY becomes VALUE, an output. */
static void bind(const struct scaling *scaling, uint32_t key, uint32_t value)
{
    Onnx__TrainingInfoProto *info = scaling->graph->info;
    struct amp_arena *arena = scaling->model->arena;
    Onnx__StringStringEntryProto *binding = amp_arena_alloc(arena, sizeof *binding);
    onnx__string_string_entry_proto__init(binding);
    binding->key = amp_arena_strdup(arena, amp_value_at(scaling->model, key)->name);
    binding->value = amp_arena_strdup(arena, amp_value_at(scaling->model, value)->name);
    append(scaling, &info->update_binding, &info->n_update_binding, binding);
}

static uint32_t find_value(const struct amp_model *model, const char *name)
{
    for (uint32_t id = 0; id < model->n_values && name != NULL; id++)
        if (amp_value_at(model, id)->graph == 0 && strcmp(amp_value_at(model, id)->name, name) == 0)
            return id;
    return AMP_NONE;
}

/* ---- loss and gradients ---------------------------------------------------------------------- */

/* Moves the last node of the graph to stand before node ID, which names what it gives. */
static void move_before(struct amp_model *model, uint32_t id)
{
    struct amp_ids *nodes = &model->graphs[0].nodes;
    uint32_t last = nodes->items[nodes->count - 1];
    size_t i = nodes->count - 1;
    for (; i > 0 && nodes->items[i] != id; i--)
        nodes->items[i] = nodes->items[i - 1];
    nodes->items[i] = last;
    nodes->items[i + 1] = id;
}

/* Has gradient node ID start from the loss times the scale. */
static void scale_loss(const struct scaling *scaling, uint32_t id)
{
    struct amp_model *model = scaling->model;
    uint32_t loss = amp_gradient_target(model, id);
    enum amp_dtype dtype = dtype_of(scaling, loss);
    uint32_t wide_loss = add_cast(scaling, loss, dtype, wide(dtype));
    uint32_t wide_scale = add_cast(scaling, scaling->scale, AMP_FLOAT, wide(dtype));
    uint32_t output = add_value(scaling, PREFIX "loss");
    uint32_t items[] = {wide_loss, wide_scale};
    const struct amp_ids inputs = {.items = items, .count = 2};
    add_node_to(scaling, "Mul", output, &inputs);
    move_before(model, id);
    amp_gradient_set_target(model, id, output);
}

/* Puts the unscaled gradient in the place of output SLOT of node ID, and adds its check. */
static void unscale(struct scaling *scaling, uint32_t id, uint32_t slot)
{
    struct amp_model *model = scaling->model;
    uint32_t gradient = amp_node_at(model, id)->outputs[slot];
    enum amp_dtype dtype = dtype_of(scaling, amp_node_at(model, id)->inputs[slot]);
    uint32_t raw = add_value(scaling, PREFIX "gradient");
    amp_node_set_output(model, id, slot, raw);
    uint32_t scaled = add_cast(scaling, raw, dtype, wide(dtype));
    uint32_t none = add_two(scaling, "Sub", scaled, scaled);
    uint32_t check = add_one(scaling, "ReduceSum", none);
    amp_node_set_int(model, amp_value_at(model, check)->producer, "keepdims", 0);
    amp_ids_push(model, &scaling->checks, add_cast(scaling, check, wide(dtype), AMP_FLOAT));
    uint32_t inverse = add_cast(scaling, scaling->inverse, AMP_FLOAT, wide(dtype));
    uint32_t items[] = {scaled, inverse};
    struct amp_ids inputs = {.items = items, .count = 2};
    if (dtype != wide(dtype)) {
        items[0] = add_two(scaling, "Mul", scaled, inverse);
        inputs.count = 1;
    }
    add_node_to(scaling, inputs.count == 1 ? "Cast" : "Mul", gradient, &inputs);
    if (inputs.count == 1)
        amp_node_set_int(model, amp_value_at(model, gradient)->producer, "to", dtype);
}

static void scale_gradients(struct scaling *scaling, const struct amp_ids *nodes)
{
    struct amp_model *model = scaling->model;
    scaling->inverse = add_one(scaling, "Reciprocal", scaling->scale);
    for (size_t i = 0; i < nodes->count; i++) {
        scale_loss(scaling, nodes->items[i]);
        for (uint32_t k = 0; k < amp_node_at(model, nodes->items[i])->n_outputs; k++)
            if (amp_node_at(model, nodes->items[i])->outputs[k] != AMP_NONE)
                unscale(scaling, nodes->items[i], k);
    }
    uint32_t sum = add_value(scaling, PREFIX "value");
    add_node_to(scaling, "Sum", sum, &scaling->checks);
    scaling->found = add_value(scaling, skipped_name);
    const struct amp_ids inputs = {.items = &sum, .count = 1};
    add_node_to(scaling, "IsNaN", scaling->found, &inputs);
}

/* ---- what is skipped ------------------------------------------------------------------------- */

/* Flags for what values come to and from. */
struct flow {
    bool *after;  /* per value: computed from gradients */
    bool *needed; /* per value: what is skipped is computed from it, not through the loss */
    bool *walls;  /* per node: the loss is computed from it, or it is a gradient */
};

static struct flow begin_flow(const struct amp_model *model, const struct amp_ids *nodes)
{
    struct flow flow = {.after = amp_xcalloc(model->n_values, sizeof(bool)),
                        .needed = amp_xcalloc(model->n_values, sizeof(bool)),
                        .walls = amp_xcalloc(model->n_nodes, sizeof(bool))};
    bool *forward = amp_xcalloc(model->n_values, sizeof *forward);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i]);
        forward[amp_gradient_target(model, nodes->items[i])] = true;
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                flow.after[node->outputs[k]] = true;
    }
    amp_reach_ahead(model, flow.after);
    amp_reach_back(model, NULL, forward);
    for (uint32_t id = 0; id < model->n_nodes; id++)
        flow.walls[id] = amp_reach_has_output(amp_node_at(model, id), forward);
    for (size_t i = 0; i < nodes->count; i++)
        flow.walls[nodes->items[i]] = true;
    free(forward);
    return flow;
}

static void end_flow(struct flow *flow)
{
    free(flow->after);
    free(flow->needed);
    free(flow->walls);
}

/* Marks one more update binding as one that is skipped; false when there is none left. */
static bool bind_next(struct scaling *scaling, struct flow *flow)
{
    const Onnx__TrainingInfoProto *info = scaling->graph->info;
    bool found = false;
    for (size_t i = 0; i < info->n_update_binding; i++) {
        uint32_t key = find_value(scaling->model, info->update_binding[i]->key);
        uint32_t value = find_value(scaling->model, info->update_binding[i]->value);
        if (scaling->is_bound[i] || key == AMP_NONE || value == AMP_NONE ||
            !(flow->after[value] || flow->needed[key] || flow->needed[value]))
            continue;
        scaling->is_bound[i] = flow->needed[value] = found = true;
    }
    amp_reach_back(scaling->model, flow->walls, flow->needed);
    return found;
}

/* Finds the updates that infinities stop: what gradients make, and what goes into that beside them,
   as a count of steps does. What the forward pass updates, running statistics, goes on. */
static void find_bound(struct scaling *scaling, const struct amp_ids *nodes)
{
    struct amp_model *model = scaling->model;
    struct flow flow = begin_flow(model, nodes);
    scaling->is_bound =
        amp_arena_array(model->arena, scaling->graph->info->n_update_binding, sizeof(bool));
    while (bind_next(scaling, &flow))
        continue;
    end_flow(&flow);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* Has all nodes take BY in the place of VALUE. */
static void replace_uses(struct amp_model *model, uint32_t value, uint32_t by)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs && !node->is_removed; i++)
            if (node->inputs[i] == value)
                node->inputs[i] = by;
    }
}

/* Gives the update VALUE to a new value, so that its name is free for what is assigned;
   VALUE itself where no node gives it. */
static uint32_t move_update(struct scaling *scaling, uint32_t value)
{
    struct amp_model *model = scaling->model;
    uint32_t producer = amp_value_at(model, value)->producer, slot = 0;
    if (producer == AMP_NONE)
        return value;
    uint32_t raw = add_value(scaling, PREFIX "update");
    while (amp_node_at(model, producer)->outputs[slot] != value)
        slot++;
    amp_node_set_output(model, producer, slot, raw);
    replace_uses(model, value, raw);
    return raw;
}

/* Has the update of BINDING leave the initializer as it is where a gradient is not finite. Of an
   update that goes to several initializers, and one that no node gives, the result has a name of
   its own. */
static void hold_update(struct scaling *scaling, Onnx__StringStringEntryProto *binding,
                        uint32_t *raw_of)
{
    struct amp_model *model = scaling->model;
    uint32_t value = find_value(model, binding->value), output = value;
    uint32_t key = find_value(model, binding->key);
    bool is_first = raw_of[value] == AMP_NONE;
    if (is_first)
        raw_of[value] = move_update(scaling, value);
    if (!is_first || raw_of[value] == value) {
        output = add_value(scaling, PREFIX "update");
        give_out(scaling, output, dtype_of(scaling, key), key);
        binding->value = amp_arena_strdup(model->arena, amp_value_at(model, output)->name);
    }
    uint32_t items[] = {scaling->found, key, raw_of[value]};
    const struct amp_ids inputs = {.items = items, .count = 3};
    add_node_to(scaling, "Where", output, &inputs);
}

static void hold_updates(struct scaling *scaling, size_t n_bindings)
{
    size_t n_values = scaling->model->n_values;
    uint32_t *raw_of = amp_xmalloc(n_values, sizeof *raw_of);
    for (size_t i = 0; i < n_values; i++)
        raw_of[i] = AMP_NONE;
    for (size_t i = 0; i < n_bindings; i++)
        if (scaling->is_bound[i])
            hold_update(scaling, scaling->graph->info->update_binding[i], raw_of);
    free(raw_of);
}

/* ---- the scale ------------------------------------------------------------------------------- */

/* The new scale, and the new number of steps since it changed. The product is one of doubles that
   is rounded once, as in PyTorch. */
static void update_scale(struct scaling *scaling)
{
    const struct amp_grad_scaler *how = scaling->how;
    uint32_t found = scaling->found;
    uint32_t tracker = add_variable(scaling, PREFIX "growth_tracker", AMP_INT64, 0);
    uint32_t zero = add_scalar(scaling, PREFIX "zero", AMP_INT64, 0);
    uint32_t one = add_scalar(scaling, PREFIX "one", AMP_INT64, 1);
    uint32_t interval =
        add_scalar(scaling, PREFIX "growth_interval", AMP_INT64, (double)how->growth_interval);
    uint32_t growth = add_scalar(scaling, PREFIX "growth_factor", AMP_DOUBLE, how->growth_factor);
    uint32_t backoff =
        add_scalar(scaling, PREFIX "backoff_factor", AMP_DOUBLE, how->backoff_factor);
    uint32_t same = add_scalar(scaling, PREFIX "no_factor", AMP_DOUBLE, 1);
    uint32_t count = add_two(scaling, "Add", tracker, one);
    uint32_t grows = add_two(scaling, "Equal", count, interval);
    uint32_t factor =
        add_node(scaling, "Where", found, backoff, add_node(scaling, "Where", grows, growth, same));
    uint32_t product =
        add_two(scaling, "Mul", add_cast(scaling, scaling->scale, AMP_FLOAT, AMP_DOUBLE), factor);
    uint32_t changed = add_cast(scaling, product, AMP_DOUBLE, AMP_FLOAT);
    uint32_t is_infinite = add_one(scaling, "IsNaN", add_two(scaling, "Sub", changed, changed));
    uint32_t items[2][3] = {{is_infinite, scaling->scale, changed},
                            {add_two(scaling, "Or", found, grows), zero, count}};
    const uint32_t keys[] = {scaling->scale, tracker};
    const uint32_t outputs[] = {add_value(scaling, next_scale_name),
                                add_value(scaling, PREFIX "next_growth_tracker")};
    for (int i = 0; i < 2; i++) {
        const struct amp_ids inputs = {.items = items[i], .count = 3};
        add_node_to(scaling, "Where", outputs[i], &inputs);
        give_out(scaling, outputs[i], i == 0 ? AMP_FLOAT : AMP_INT64, AMP_NONE);
        bind(scaling, keys[i], outputs[i]);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The gradient nodes whose loss is there. */
static struct amp_ids find_gradients(struct amp_model *model)
{
    struct amp_ids nodes = {.count = 0};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (node->graph == 0 && amp_node_is_gradient(node) &&
            amp_gradient_target(model, id) != AMP_NONE)
            amp_ids_push(model, &nodes, id);
    }
    return nodes;
}

enum amp_status amp_grad_scaler_add(const struct amp_grad_scaler_graph *graph,
                                    const struct amp_grad_scaler *scaler, bool *is_added,
                                    struct amp_error *err)
{
    struct amp_model *model = graph->algorithm;
    struct scaling scaling = {.graph = graph, .how = scaler, .model = model};
    struct amp_ids nodes = find_gradients(model);
    size_t n_bindings = graph->info->n_update_binding;
    *is_added = nodes.count > 0 && find_value(model, scale_name) == AMP_NONE;
    if (!*is_added)
        return AMP_OK;
    if (amp_schema_find("", "IsNaN", (int)amp_model_opset(model, "")) == NULL)
        return amp_fail(err, AMP_UNSUPPORTED, "%s: gradients can be scaled from opset 9 on",
                        model->path);
    find_bound(&scaling, &nodes);
    scaling.scale = add_variable(&scaling, scale_name, AMP_FLOAT, scaler->init_scale);
    scale_gradients(&scaling, &nodes);
    hold_updates(&scaling, n_bindings);
    update_scale(&scaling);
    give_out(&scaling, scaling.found, AMP_BOOL, AMP_NONE);
    AMP_TRY(amp_graph_sort(model, NULL, err));
    return amp_infer(model, err);
}
