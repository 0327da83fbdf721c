/*
 * Proves bounds: walks the graphs in topological order, asks each operator what its results are
 * within, and widens by what the dtype rounds. Runs nothing; what it is told of graph inputs it
 * believes.
 */
#include "autocast/ranges/bounds.h"

#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/bound.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct proof {
    struct amp_interval interval;
    const char *rule; /* NULL: none */
};

struct amp_bounds {
    const struct amp_model *model;
    bool reads_weights;
    struct proof *proofs; /* per value id */
};

/* ---- dtypes ---------------------------------------------------------------------------------- */

/* What float dtypes do to results: the share that kernels and rounding may be off by, the least
   normal magnitude (for float16 the least of all), the largest. */
static const struct {
    double rounding, tiny, largest;
} floats[AMP_DTYPE_COUNT] = {
    [AMP_FLOAT] = {0x1p-20, FLT_MIN, FLT_MAX},
    [AMP_DOUBLE] = {0x1p-40, DBL_MIN, DBL_MAX},
    [AMP_FLOAT16] = {0x1p-9, 0x1p-24, 65504},
    [AMP_BFLOAT16] = {0x1p-6, FLT_MIN, 0x1.FEp127},
};

static bool is_float(enum amp_dtype dtype)
{
    return floats[dtype].largest > 0;
}

/* All values of an integer DTYPE; everything for others. */
static struct amp_interval interval_of_dtype(enum amp_dtype dtype)
{
    static const struct amp_interval wholes[AMP_DTYPE_COUNT] = {[AMP_BOOL] = {0, 1},
                                                                [AMP_UINT4] = {0, 15},
                                                                [AMP_INT4] = {-8, 7},
                                                                [AMP_UINT8] = {0, UINT8_MAX},
                                                                [AMP_INT8] = {-128, 127},
                                                                [AMP_UINT16] = {0, UINT16_MAX},
                                                                [AMP_INT16] = {-32768, 32767},
                                                                [AMP_UINT32] = {0, UINT32_MAX},
                                                                [AMP_INT32] = {-0x1p31, 0x1p31},
                                                                [AMP_UINT64] = {0, 0x1p64},
                                                                [AMP_INT64] = {-0x1p63, 0x1p63}};
    return wholes[dtype].high > 0 ? wholes[dtype] : amp_interval_all();
}

/* An end that may round to infinity, or towards 0. */
static double rounded_end(double end, enum amp_dtype dtype, bool is_inner)
{
    double magnitude = fabs(end);
    if (magnitude > floats[dtype].largest)
        return is_inner ? copysign(floats[dtype].largest, end) : copysign(INFINITY, end);
    if (magnitude > 0 && magnitude < floats[dtype].tiny)
        return is_inner ? 0 : copysign(floats[dtype].tiny, end);
    return end;
}

/* EXACT, which is known of results, of what they are as DTYPE. */
static struct amp_interval rounded(struct amp_interval exact, enum amp_dtype dtype)
{
    struct amp_interval wide = amp_interval_widen(exact, floats[dtype].rounding);
    return (struct amp_interval){rounded_end(wide.low, dtype, wide.low > 0),
                                 rounded_end(wide.high, dtype, wide.high < 0)};
}

/* ---- values ---------------------------------------------------------------------------------- */

static void set(struct amp_bounds *bounds, uint32_t id, struct amp_interval interval,
                const char *rule)
{
    bounds->proofs[id] = (struct proof){interval, amp_interval_is_bounded(interval) ? rule : NULL};
}

static struct amp_interval interval_of_constant(const struct amp_bounds *bounds,
                                                const struct amp_value *value)
{
    const struct amp_tensor *data = amp_bound_data(value, bounds->reads_weights);
    return data != NULL ? amp_bound_elements(data) : interval_of_dtype(value->dtype);
}

static void begin_value(struct amp_bounds *bounds, uint32_t id, const struct amp_ranges *known)
{
    const struct amp_value *value = amp_value_at(bounds->model, id);
    const struct amp_value_range *given = known != NULL && value->is_input && value->graph == 0
                                              ? amp_ranges_find(known, value->name)
                                              : NULL;
    if (value->constant != NULL)
        set(bounds, id, interval_of_constant(bounds, value), "constant");
    else if (given != NULL && given->rule != NULL)
        set(bounds, id, given->proved, given->rule);
    else
        set(bounds, id, interval_of_dtype(value->dtype), amp_dtype_name(value->dtype));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* What moved elements are within: the inputs of the outputs' dtype, and 0, which fills gaps. */
static bool bound_of_moved(const struct amp_bound_call *call, struct amp_interval *out)
{
    bool is_known = true, is_first = true;
    enum amp_dtype dtype = amp_value_at(call->model, call->node->outputs[0])->dtype;
    for (uint32_t i = 0; i < call->node->n_inputs; i++) {
        if (call->node->inputs[i] == AMP_NONE)
            continue;
        const struct amp_value *value = amp_value_at(call->model, call->node->inputs[i]);
        is_known &= value->kind == AMP_KIND_TENSOR;
        if (value->dtype != dtype)
            continue;
        *out = is_first ? call->in[i] : amp_interval_union(*out, call->in[i]);
        is_first = false;
    }
    if (!is_first && !amp_op_of(call->node)->is_reshape)
        *out = amp_interval_union(*out, amp_interval_of(0));
    return is_known && !is_first;
}

/* What the node says of its results; nothing where it has not the inputs that its operator needs:
   two may be looked at where no schema says how many that are. */
static bool ask(const struct amp_bound_call *call, struct amp_interval *out)
{
    const struct amp_node *node = call->node;
    const struct amp_op *op = amp_op_of(node);
    uint32_t least = node->schema != NULL ? (uint32_t)node->schema->min_inputs : 2;
    if (op == NULL || node->n_inputs == 0 || node->n_inputs < least ||
        node->inputs[0] == AMP_NONE || node->n_outputs == 0 || node->outputs[0] == AMP_NONE)
        return false;
    if (op->bound != NULL)
        return op->bound(call, out);
    return op->effect == AMP_PRESERVES_VALUES && bound_of_moved(call, out);
}

/* The intervals of the inputs of NODE: to be freed. */
static struct amp_interval *inputs_of(const struct amp_bounds *bounds, const struct amp_node *node)
{
    struct amp_interval *in = amp_xmalloc(node->n_inputs, sizeof *in);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        in[i] = node->inputs[i] == AMP_NONE ? amp_interval_all()
                                            : bounds->proofs[node->inputs[i]].interval;
    return in;
}

/* Notes what is proved of output SLOT. Integers wrap, but where they are only moved. */
static void conclude(struct amp_bounds *bounds, const struct amp_node *node, uint32_t slot,
                     struct amp_interval interval)
{
    uint32_t id = node->outputs[slot];
    const struct amp_value *value = amp_value_at(bounds->model, id);
    bool is_moved = amp_op_of(node)->effect == AMP_PRESERVES_VALUES;
    if (value->kind != AMP_KIND_TENSOR || value->constant != NULL)
        return;
    if (is_float(value->dtype))
        set(bounds, id, is_moved ? interval : rounded(interval, value->dtype), node->op_type);
    else if (is_moved)
        set(bounds, id, interval, node->op_type);
}

static void prove_graph(struct amp_bounds *bounds, uint32_t graph);

static void prove_node(struct amp_bounds *bounds, const struct amp_node *node)
{
    struct amp_interval out;
    struct amp_interval *in = inputs_of(bounds, node);
    for (uint32_t a = 0; a < node->n_attrs; a++)
        for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
            prove_graph(bounds, node->attrs[a].graphs[k]);
    struct amp_bound_call call = {bounds->model, node, in, bounds->reads_weights, 0};
    if (ask(&call, &out)) {
        bool is_moved = amp_op_of(node)->effect == AMP_PRESERVES_VALUES;
        enum amp_dtype dtype = amp_value_at(bounds->model, node->outputs[0])->dtype;
        for (uint32_t i = 0; i < (is_moved ? node->n_outputs : 1); i++)
            if (node->outputs[i] != AMP_NONE &&
                amp_value_at(bounds->model, node->outputs[i])->dtype == dtype)
                conclude(bounds, node, i, out);
    }
    free(in);
}

static void prove_graph(struct amp_bounds *bounds, uint32_t graph)
{
    const struct amp_ids *nodes = &bounds->model->graphs[graph].nodes;
    for (size_t i = 0; i < nodes->count; i++)
        prove_node(bounds, amp_node_at(bounds->model, nodes->items[i]));
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct amp_bounds *amp_bounds_create(const struct amp_model *model, const struct amp_ranges *known,
                                     bool reads_weights)
{
    struct amp_bounds *bounds = amp_xmalloc(1, sizeof *bounds);
    *bounds = (struct amp_bounds){.model = model,
                                  .reads_weights = reads_weights,
                                  .proofs = amp_xmalloc(model->n_values, sizeof *bounds->proofs)};
    for (uint32_t v = 0; v < model->n_values; v++)
        begin_value(bounds, v, known);
    prove_graph(bounds, 0);
    return bounds;
}

void amp_bounds_destroy(struct amp_bounds *bounds)
{
    if (bounds == NULL)
        return;
    free(bounds->proofs);
    free(bounds);
}

struct amp_interval amp_bounds_of(const struct amp_bounds *bounds, uint32_t value)
{
    return bounds->proofs[value].interval;
}

struct amp_interval amp_bounds_from(const struct amp_model *model, const struct amp_node *node,
                                    const struct amp_interval *in, double enough)
{
    struct amp_interval out;
    struct amp_bound_call call = {model, node, in, true, enough};
    return ask(&call, &out) ? out : amp_interval_all();
}

static void note(const struct amp_bounds *bounds, struct amp_ranges *ranges, uint32_t id)
{
    const struct amp_value *value = amp_value_at(bounds->model, id);
    if (!is_float(value->dtype) || bounds->proofs[id].rule == NULL || value->constant != NULL)
        return;
    struct amp_value_range *entry = amp_ranges_entry(ranges, value->name);
    entry->proved = bounds->proofs[id].interval;
    entry->rule = bounds->proofs[id].rule;
}

void amp_bounds_note(const struct amp_model *model, struct amp_ranges *ranges)
{
    struct amp_bounds *bounds = amp_bounds_create(model, NULL, true);
    const struct amp_graph *graph = &model->graphs[0];
    for (size_t i = 0; i < graph->inputs.count; i++)
        note(bounds, ranges, graph->inputs.items[i]);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct amp_node *node = amp_node_at(model, graph->nodes.items[i]);
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                note(bounds, ranges, node->outputs[k]);
    }
    amp_bounds_destroy(bounds);
}
