/*
 * Follows constants through the nodes that depend on nothing else. Takes nodes in topological
 * order, gives the constants behind a value. Searches the data of a constant once, and only when
 * asked about it or when a node makes another static value of it. Computes nothing.
 */
#include "autocast/static_values.h"

#include "autocast/weights.h"
#include "ops/op.h"

#include <stdlib.h>

struct origin {
    uint32_t value; /* AMP_NONE: none */
    bool is_computed;
};

struct facts {
    struct amp_guard_values values; /* once has_values */
    struct origin origin;           /* of what nodes make */
    uint32_t moved; /* the value with data whose elements were moved to make it; AMP_NONE: none */
    bool is_static, has_values;
    bool has_data; /* amp_static_values_has_data */
};

struct amp_static_values {
    const struct amp_model *model;
    enum amp_dtype lower;
    double limit;
    struct facts *facts; /* per value id */
};

struct amp_static_values *amp_static_values_create(const struct amp_model *model,
                                                   enum amp_dtype lower, double limit)
{
    struct amp_static_values *values = amp_xmalloc(1, sizeof *values);
    *values =
        (struct amp_static_values){.model = model,
                                   .lower = lower,
                                   .limit = limit,
                                   .facts = amp_xmalloc(model->n_values, sizeof *values->facts)};
    for (uint32_t v = 0; v < model->n_values; v++)
        values->facts[v] = (struct facts){.origin = {.value = AMP_NONE},
                                          .moved = AMP_NONE,
                                          .is_static = amp_value_at(model, v)->constant != NULL,
                                          .has_data = amp_value_at(model, v)->constant != NULL};
    return values;
}

void amp_static_values_destroy(struct amp_static_values *values)
{
    if (values == NULL)
        return;
    free(values->facts);
    free(values);
}

bool amp_static_values_has(const struct amp_static_values *values, uint32_t value)
{
    return values->facts[value].is_static;
}

bool amp_static_values_has_data(const struct amp_static_values *values, uint32_t value)
{
    return values->facts[value].has_data;
}

/* Whether NODE only moves constants' data, or fills with them: its inputs that are floats have
   such, others say where to. */
static bool moves_data(const struct amp_static_values *values, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    bool is_moved = op != NULL && node->n_inputs > 0 &&
                    (op->effect == AMP_PRESERVES_VALUES || op->role == AMP_ROLE_CONSTANT_OF_SHAPE);
    for (uint32_t i = 0; i < node->n_inputs && is_moved; i++)
        is_moved = node->inputs[i] == AMP_NONE || values->facts[node->inputs[i]].has_data ||
                   !amp_dtype_is_autocast(amp_value_at(values->model, node->inputs[i])->dtype);
    return is_moved;
}

/* Whether OP cuts tensors into a sequence or takes them out of one. */
static bool is_about_sequences(const struct amp_op *op)
{
    return op->role == AMP_ROLE_SPLIT_TO_SEQUENCE || op->role == AMP_ROLE_SEQUENCE_AT;
}

bool amp_static_values_has_node(const struct amp_static_values *values, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    bool is_known = op != NULL && (op->effect != AMP_OPAQUE || is_about_sequences(op));
    bool is_static = is_known && node->n_inputs > 0;
    for (uint32_t i = 0; i < node->n_inputs && is_static; i++)
        is_static = node->inputs[i] == AMP_NONE || values->facts[node->inputs[i]].is_static;
    return is_static;
}

/* The data of a value that has some of a float type: a constant's, a ConstantOfShape's; else NULL.
 */
static const struct amp_tensor *data_of(const struct amp_static_values *values, uint32_t value_id)
{
    const struct amp_value *value = amp_value_at(values->model, value_id);
    if (!amp_dtype_is_autocast(value->dtype))
        return NULL;
    if (value->constant != NULL || value->producer == AMP_NONE)
        return value->constant;
    const struct amp_node *node = amp_node_at(values->model, value->producer);
    const struct amp_attr *attr = amp_node_attr(node, "value");
    bool is_fill = amp_node_has_role(node, AMP_ROLE_CONSTANT_OF_SHAPE) && attr != NULL &&
                   attr->type == AMP_ATTR_TENSOR && amp_dtype_is_autocast(attr->tensors[0]->dtype);
    return is_fill ? attr->tensors[0] : NULL;
}

/* The largest magnitude in the value's own data. That of a constant is kept: it may be large, and
   precisions are decided more than once. */
static double max_of(const struct amp_static_values *values, uint32_t value_id)
{
    struct amp_value *value = amp_value_at(values->model, value_id);
    if (value->constant == NULL)
        return amp_weight_max(data_of(values, value_id));
    if (value->constant_max < 0)
        value->constant_max = amp_weight_max(value->constant);
    return value->constant_max;
}

double amp_static_values_max(const struct amp_static_values *values, uint32_t value)
{
    return data_of(values, value) != NULL ? max_of(values, value) : -1;
}

/* The value with data that VALUE_ID is, or whose elements were moved to make it; AMP_NONE: none. */
static uint32_t elements_of(const struct amp_static_values *values, uint32_t value_id)
{
    return data_of(values, value_id) != NULL ? value_id : values->facts[value_id].moved;
}

double amp_static_values_flushed(const struct amp_static_values *values, uint32_t value_id,
                                 double most)
{
    uint32_t from = values->facts[value_id].is_static ? elements_of(values, value_id) : AMP_NONE;
    if (from == AMP_NONE)
        return 0;
    const struct amp_tensor *data = data_of(values, from);
    struct amp_value *value = amp_value_at(values->model, from);
    double max = max_of(values, from);
    if (max == 0 || amp_weight_flushed_most(amp_tensor_count(data), max) <= most)
        return 0;
    if (value->constant == NULL)
        return amp_weight_flushed(data);
    if (value->constant_flushed < 0)
        value->constant_flushed = amp_weight_flushed(data);
    return value->constant_flushed;
}

/* Whether the lower dtype cannot hold the value's own data. */
static bool is_beyond(const struct amp_static_values *values, uint32_t value)
{
    const struct amp_tensor *data = data_of(values, value);
    if (data == NULL || amp_dtype_is_exact(data->dtype, values->lower))
        return false;
    return max_of(values, value) > values->limit;
}

static struct origin origin_of(const struct amp_static_values *values, uint32_t value)
{
    if (!values->facts[value].is_static || data_of(values, value) == NULL)
        return values->facts[value].origin;
    return (struct origin){.value = is_beyond(values, value) ? value : AMP_NONE};
}

/* Whether NODE is a Cast to a dtype that holds all values of its input's. */
static bool only_widens(const struct amp_static_values *values, const struct amp_node *node)
{
    if (!amp_node_has_role(node, AMP_ROLE_CAST))
        return false;
    enum amp_dtype from = amp_value_at(values->model, node->inputs[0])->dtype;
    enum amp_dtype to = amp_value_at(values->model, node->outputs[0])->dtype;
    return amp_dtype_is_autocast(from) && amp_dtype_is_exact(from, to);
}

/* The origin of what NODE makes. Of several that are moved together, nobody knows which values
   arrive: that counts as computed. */
static struct origin origin_through(const struct amp_static_values *values,
                                    const struct amp_node *node)
{
    struct origin found = {.value = AMP_NONE};
    bool computes = amp_op_of(node)->effect == AMP_COMPUTES && !only_widens(values, node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE)
            continue;
        struct origin origin = origin_of(values, node->inputs[i]);
        if (origin.value == AMP_NONE || (computes && max_of(values, origin.value) < AMP_GUARD_HUGE))
            continue;
        origin.is_computed |= found.is_computed || computes ||
                              (found.value != AMP_NONE && found.value != origin.value);
        found = origin;
    }
    return found;
}

/* The value whose elements NODE moves; AMP_NONE: there is none, or more than one. */
static uint32_t moved_by(const struct amp_static_values *values, const struct amp_node *node)
{
    uint32_t found = AMP_NONE;
    if (amp_op_of(node)->effect != AMP_PRESERVES_VALUES && !only_widens(values, node))
        return AMP_NONE;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == AMP_NONE ||
            !amp_dtype_is_autocast(amp_value_at(values->model, node->inputs[i])->dtype))
            continue;
        if (found != AMP_NONE)
            return AMP_NONE;
        found = node->inputs[i];
    }
    return found == AMP_NONE ? AMP_NONE : elements_of(values, found);
}

void amp_static_values_add(struct amp_static_values *values, const struct amp_node *node)
{
    bool is_static = amp_static_values_has_node(values, node);
    bool has_data = is_static || moves_data(values, node);
    for (uint32_t i = 0; i < node->n_outputs && has_data; i++)
        if (node->outputs[i] != AMP_NONE)
            values->facts[node->outputs[i]].has_data = true;
    if (!is_static)
        return;
    struct origin origin = origin_through(values, node);
    uint32_t moved = moved_by(values, node);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == AMP_NONE)
            continue;
        struct facts *facts = &values->facts[node->outputs[i]];
        facts->is_static = true;
        if (amp_dtype_is_autocast(amp_value_at(values->model, node->outputs[i])->dtype))
            facts->origin = origin;
        facts->moved = moved;
    }
}

uint32_t amp_static_values_origin(const struct amp_static_values *values, uint32_t value)
{
    return origin_of(values, value).value;
}

bool amp_static_values_is_guard(struct amp_static_values *values, uint32_t value,
                                enum amp_guard_use use)
{
    struct origin origin = origin_of(values, value);
    if (origin.is_computed)
        return false;
    struct facts *facts = &values->facts[origin.value];
    if (!facts->has_values)
        facts->values = amp_guard_values(data_of(values, origin.value), values->limit);
    facts->has_values = true;
    return amp_guard_is(use, facts->values);
}
