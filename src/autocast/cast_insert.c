/*
 * Inserts casts. Takes the decisions of assign.c, which say for every node and value what dtype it
 * is to have, and changes the graph so that it has it; decides nothing itself. Redundant pairs are
 * left to cast_fold.c.
 */
#include "autocast/cast_insert.h"

#include "autocast/assign.h"
#include "autocast/eligible.h"
#include "autocast/weights.h"
#include "core/graph/order.h"
#include "core/graph/uses.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

/* The dtypes that a value may be cast to. */
enum target { TARGET_F32, TARGET_F16, TARGET_BF16, N_TARGETS };

struct insert {
    struct amp_model *model;
    const struct amp_assignment *assignment;
    /* Per value of the model before: its casts; AMP_NONE: none yet. */
    uint32_t (*cast_of)[N_TARGETS];
    size_t n_values;
    bool is_shared;
    struct amp_inserted_casts *casts;
};

/* What a value that GRAPH gives out has become; GRAPH AMP_NONE: nothing yet. */
struct given {
    uint32_t graph, becomes;
};

static enum target target_of(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT ? TARGET_F32 : dtype == AMP_FLOAT16 ? TARGET_F16 : TARGET_BF16;
}

static const char *cast_name(struct amp_model *model, const char *name, enum amp_dtype dtype)
{
    const char *base = amp_arena_printf(model->arena, "%s_%s", name, amp_dtype_short_name(dtype));
    return amp_model_unique_name(model, base);
}

/* Adds a node that casts INPUT to DTYPE to the end of the graph that defines INPUT. Returns its
   output. */
static uint32_t add_cast(struct amp_model *model, uint32_t input, enum amp_dtype dtype)
{
    struct amp_shape shape;
    uint32_t graph = amp_value_at(model, input)->graph;
    const char *name = cast_name(model, amp_value_at(model, input)->name, dtype);
    uint32_t output = amp_graph_add_value(model, graph, name);
    amp_value_at(model, output)->kind = AMP_KIND_TENSOR;
    amp_value_at(model, output)->dtype = dtype;
    amp_value_shape(amp_value_at(model, input), &shape);
    amp_value_set_shape(model, output, &shape);
    uint32_t id = amp_graph_add_node(model, graph, "Cast", 1, 1);
    struct amp_node *node = amp_node_at(model, id);
    node->name = amp_model_unique_name(model, amp_arena_printf(model->arena, "Cast/%s", name));
    node->inputs[0] = input;
    node->schema = amp_schema_find("", "Cast", (int)amp_model_opset(model, ""));
    node->since_version = node->schema ? node->schema->since_version : 0;
    amp_node_set_output(model, id, 0, output);
    amp_node_set_int(model, id, "to", dtype);
    return output;
}

static uint32_t convert_constant(struct amp_model *model, uint32_t value_id, enum amp_dtype dtype)
{
    const struct amp_value *value = amp_value_at(model, value_id);
    uint32_t graph = value->graph;
    const char *name = cast_name(model, value->name, dtype);
    return amp_graph_add_initializer(model, graph, name,
                                     amp_weight_convert(model, value->constant, dtype));
}

/* The constant that VALUE was made from without loss, by Identity or Cast: one weight under several
   names is then converted once, and what was stored in the lower dtype is taken as it is. */
static uint32_t source_of(const struct insert *insert, uint32_t value_id)
{
    const struct amp_value *value = amp_value_at(insert->model, value_id);
    while (value->constant != NULL && value->producer != AMP_NONE &&
           insert->assignment->values[value_id] == value->dtype) {
        const struct amp_node *node = amp_node_at(insert->model, value->producer);
        if (node->n_inputs != 1)
            break;
        const struct amp_value *input = amp_value_at(insert->model, node->inputs[0]);
        if (!amp_dtype_is_autocast(input->dtype) || !amp_dtype_is_exact(input->dtype, value->dtype))
            break;
        value_id = node->inputs[0];
        value = input;
    }
    return value_id;
}

/* Casts VALUE to DTYPE on account of node CAUSE. Returns the result. */
static uint32_t insert_cast(struct insert *insert, uint32_t value, enum amp_dtype dtype,
                            uint32_t cause)
{
    struct amp_inserted_casts *casts = insert->casts;
    uint32_t output = add_cast(insert->model, value, dtype);
    struct amp_inserted_cast *slot = amp_arena_push(insert->model->arena, &casts->items,
                                                    &casts->count, &casts->capacity, sizeof *slot);
    slot->cast = amp_value_at(insert->model, output)->producer;
    slot->cause = cause;
    return output;
}

/* VALUE in DTYPE for node CAUSE: itself, or the cast or converted constant that all its consumers
   share. */
static uint32_t value_in(struct insert *insert, uint32_t value, enum amp_dtype dtype,
                         uint32_t cause)
{
    struct amp_model *model = insert->model;
    if (insert->assignment->values[value] == dtype)
        return value;
    value = source_of(insert, value);
    if (insert->assignment->values[value] == dtype)
        return value;
    uint32_t *cast = &insert->cast_of[value][target_of(dtype)];
    bool is_constant = amp_value_at(model, value)->constant != NULL;
    if (is_constant && *cast == AMP_NONE)
        *cast = convert_constant(model, value, dtype);
    else if (!is_constant && (*cast == AMP_NONE || !insert->is_shared))
        *cast = insert_cast(insert, value, dtype, cause);
    return *cast;
}

static void connect(struct insert *insert, uint32_t id)
{
    const struct amp_schema *schema = amp_node_at(insert->model, id)->schema;
    uint32_t n_inputs = amp_node_at(insert->model, id)->n_inputs;
    for (uint32_t i = 0; i < n_inputs; i++) {
        uint32_t value = amp_node_at(insert->model, id)->inputs[i];
        if (value == AMP_NONE || !amp_dtype_is_autocast(insert->assignment->values[value]))
            continue;
        enum amp_dtype wanted =
            amp_assigned_dtype(insert->model, insert->assignment, id, schema, i);
        uint32_t input = value_in(insert, value, wanted, id);
        amp_node_at(insert->model, id)->inputs[i] = input;
    }
}

/* Gives the name of graph output VALUE to its back-cast CAST, so that the interface stays. */
static void rename_output(struct amp_model *model, uint32_t value_id, uint32_t cast_id,
                          enum amp_dtype lower)
{
    struct amp_value *value = amp_value_at(model, value_id), *cast = amp_value_at(model, cast_id);
    const char *name = value->name;
    cast->origin = value->origin;
    cast->is_output = true;
    value->is_output = false;
    value->name = cast_name(model, name, lower);
    amp_value_at(model, cast_id)->name = name;
}

/* The value that takes the place of output ID of GRAPH, so that it has the dtype that it is to
   have. */
static uint32_t restored(struct insert *insert, uint32_t graph, uint32_t id)
{
    struct amp_model *model = insert->model;
    bool is_lowered = graph == 0 && insert->assignment->is_interface[id];
    enum amp_dtype dtype = is_lowered ? insert->assignment->lower : amp_value_at(model, id)->dtype;
    enum amp_dtype now = insert->assignment->values[id];
    if (now == dtype)
        return id;
    uint32_t cast = value_in(insert, id, dtype, amp_value_at(model, id)->producer);
    if (amp_value_at(model, cast)->is_output) /* one constant under several names */
        cast = convert_constant(model, id, dtype);
    if (amp_value_at(model, id)->graph == graph)
        rename_output(model, id, cast, now);
    return cast;
}

/* Restores the outputs of GRAPH; a value that it gives out twice stays one value. */
static void restore_outputs(struct insert *insert, uint32_t graph, struct given *given)
{
    struct amp_ids *outputs = &insert->model->graphs[graph].outputs;
    for (size_t i = 0; i < outputs->count; i++) {
        uint32_t id = outputs->items[i];
        if (given[id].graph != graph)
            given[id] = (struct given){graph, restored(insert, graph, id)};
        outputs->items[i] = given[id].becomes;
    }
}

static void restore_all_outputs(struct insert *insert)
{
    struct given *given = amp_xmalloc(insert->n_values, sizeof *given);
    for (size_t v = 0; v < insert->n_values; v++)
        given[v].graph = AMP_NONE;
    for (uint32_t g = 0; g < insert->model->n_graphs; g++)
        restore_outputs(insert, g, given);
    free(given);
}

/* The only cast of VALUE; AMP_NONE when there are none or more. */
static uint32_t only_cast(const struct insert *insert, uint32_t value)
{
    uint32_t cast = AMP_NONE;
    for (int f = 0; f < N_TARGETS; f++) {
        if (insert->cast_of[value][f] != AMP_NONE && cast != AMP_NONE)
            return AMP_NONE;
        if (insert->cast_of[value][f] != AMP_NONE)
            cast = insert->cast_of[value][f];
    }
    return cast;
}

enum { DROPPED = UINT32_MAX }; /* for the number of uses: it is not dropped again */

/* Takes out a constant that nothing uses any more, and the one that it was made from if that was
   its only use. */
static void drop_constant(struct insert *insert, uint32_t *uses, uint32_t value_id)
{
    struct amp_model *model = insert->model;
    uint32_t producer = amp_value_at(model, value_id)->producer, cast = only_cast(insert, value_id);
    if (cast != AMP_NONE && !amp_value_at(model, cast)->is_output)
        amp_value_at(model, cast)->name = amp_value_at(model, value_id)->name;
    uses[value_id] = DROPPED;
    if (producer == AMP_NONE) {
        amp_graph_remove_initializer(model, value_id);
        return;
    }
    const struct amp_node *node = amp_node_at(model, producer);
    amp_node_remove(model, producer);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (--uses[node->inputs[i]] == 0 && amp_value_at(model, node->inputs[i])->constant != NULL)
            drop_constant(insert, uses, node->inputs[i]);
}

/* Takes out the constants of which only casts are used; the single cast of one gets its name. What
   was unused before stays. */
static void drop_constants(struct insert *insert, const uint32_t *uses_before)
{
    uint32_t *uses = amp_uses_count(insert->model);
    for (uint32_t v = 0; v < insert->n_values; v++)
        if (amp_value_at(insert->model, v)->constant != NULL && uses_before[v] > 0 && uses[v] == 0)
            drop_constant(insert, uses, v);
    free(uses);
}

/* Forgets what a constant is known to hold where an Identity gives it in another dtype. */
static void forget_constants(struct insert *insert)
{
    for (uint32_t v = 0; v < insert->n_values; v++) {
        struct amp_value *value = amp_value_at(insert->model, v);
        if (value->constant != NULL && value->constant->dtype != insert->assignment->values[v])
            value->constant = NULL;
    }
}

/* Writes down the dtypes that nodes with one among their attributes were given. */
static void set_dtype_attrs(struct insert *insert)
{
    for (uint32_t id = 0; id < insert->assignment->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(insert->model, id);
        enum amp_dtype dtype = insert->assignment->nodes[id].dtype;
        if (!node->is_removed && dtype != AMP_UNDEFINED && amp_node_is_like(insert->model, node))
            amp_node_set_int(insert->model, id, amp_op_of(node)->dtype_attr->name, dtype);
    }
}

enum amp_status amp_cast_insert(struct amp_model *model, const struct amp_assignment *assignment,
                                bool is_shared, struct amp_inserted_casts *casts,
                                struct amp_error *err)
{
    struct insert insert = {.model = model,
                            .assignment = assignment,
                            .n_values = model->n_values,
                            .is_shared = is_shared,
                            .casts = casts,
                            .cast_of = amp_xmalloc(model->n_values, sizeof *insert.cast_of)};
    uint32_t *uses = amp_uses_count(model);
    memset(insert.cast_of, 0xFF, model->n_values * sizeof *insert.cast_of);
    forget_constants(&insert);
    for (uint32_t id = 0; id < assignment->n_nodes; id++)
        if (!amp_node_at(model, id)->is_removed)
            connect(&insert, id);
    set_dtype_attrs(&insert);
    restore_all_outputs(&insert);
    for (uint32_t v = 0; v < insert.n_values; v++)
        amp_value_at(model, v)->dtype = assignment->values[v];
    drop_constants(&insert, uses);
    free(uses);
    free(insert.cast_of);
    return amp_graph_sort(model, NULL, err);
}
