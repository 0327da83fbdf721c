/*
 * Takes Einsum nodes apart. Labels fall into four groups: batch (in both operands and the output),
 * rows and columns (in the left or the right operand and the output) and summed (in both operands
 * alone). Each operand is brought into the order of the groups, groups of several labels become one
 * dim, and the result goes the way back. Takes a model with inferred types in which casts are
 * inserted already; decides on no dtype.
 */
#include "autocast/forms/einsum.h"

#include "core/array.h"
#include "core/graph/order.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/matmul/einsum_equation.h"
#include "ops/op.h"

#include <string.h>

typedef struct amp_einsum_term term;

/* A tensor's dims, each a group of labels: usually one, none where it is 1. */
struct layout {
    int n;
    term dims[AMP_RANK_MAX + 2];
};

/* From which dims to which Reshape goes. */
struct reshape {
    struct layout from, to;
    struct amp_shape target; /* 0: as it was, -1: what is left */
};

struct plan {
    struct amp_einsum einsum;
    int64_t dims[2][AMP_EINSUM_LABELS]; /* per operand; the output's are the equation's */
    term batch, rows, columns, summed;
    int left;                   /* the operand that rows belong to */
    struct reshape operands[2]; /* left and right, from the order that Transpose gives */
    struct reshape result;
};

/* ---- labels ---------------------------------------------------------------------------------- */

static bool has(const term *labels, int label)
{
    return memchr(labels->labels, label, (size_t)labels->n) != NULL;
}

static void append(term *labels, int label)
{
    labels->labels[labels->n++] = (unsigned char)label;
}

static bool is_same(const term *a, const term *b)
{
    return a->n == b->n && memcmp(a->labels, b->labels, (size_t)a->n) == 0;
}

static bool is_distinct(const term *labels)
{
    for (int i = 1; i < labels->n; i++)
        if (memchr(labels->labels, labels->labels[i], (size_t)i) != NULL)
            return false;
    return true;
}

/* A dim for each label of LABELS, behind those of LAYOUT. */
static void add_each(struct layout *layout, const term *labels)
{
    for (int i = 0; i < labels->n; i++)
        layout->dims[layout->n++] = (term){1, {labels->labels[i]}};
}

static void add_group(struct layout *layout, const term *labels)
{
    layout->dims[layout->n++] = *labels;
}

/* The labels of LAYOUT in their order. */
static term labels_of(const struct layout *layout)
{
    term all = {.n = 0};
    for (int i = 0; i < layout->n; i++)
        for (int k = 0; k < layout->dims[i].n; k++)
            append(&all, layout->dims[i].labels[k]);
    return all;
}

/* The product of the dims of GROUP; that of a single label may be a symbol. */
static int64_t dim_of(const term *group, const int64_t *dims)
{
    int64_t product = 1;
    if (group->n == 1)
        return dims[group->labels[0]];
    for (int i = 0; i < group->n; i++)
        if (dims[group->labels[i]] < 0 ||
            __builtin_mul_overflow(product, dims[group->labels[i]], &product))
            return AMP_DIM_UNKNOWN;
    return product;
}

static struct amp_shape shape_of(const struct layout *layout, const int64_t *dims)
{
    struct amp_shape shape = {.rank = layout->n};
    for (int i = 0; i < layout->n; i++)
        shape.dims[i] = dim_of(&layout->dims[i], dims);
    return shape;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Reads the equation of NODE with the shapes of its one or two inputs. */
static bool read_equation(const struct amp_model *model, const struct amp_node *node,
                          struct amp_einsum *einsum)
{
    struct amp_tensor tensors[2];
    const struct amp_tensor *in[2];
    struct amp_error ignored = {.status = AMP_OK};
    struct amp_ctx ctx = {
        .model = model, .node = node, .in = in, .n_in = node->n_inputs, .err = &ignored};
    if (node->n_inputs < 1 || node->n_inputs > 2)
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_value *value = amp_value_at(model, node->inputs[i]);
        tensors[i] = (struct amp_tensor){.dtype = value->dtype};
        amp_value_shape(value, &tensors[i].shape);
        in[i] = &tensors[i];
        if (value->rank < 0)
            return false;
    }
    return amp_einsum_read(&ctx, einsum) == AMP_OK;
}

/* Sorts the labels of the operands into groups, those of the output in its order; false where one
   operand alone has a label that is summed. */
static bool sort_labels(struct plan *plan)
{
    const term *output = &plan->einsum.output;
    const term *left = &plan->einsum.operands[0], *right = &plan->einsum.operands[1];
    for (int i = 0; i < output->n; i++) {
        int label = output->labels[i];
        bool is_left = has(left, label), is_right = has(right, label);
        append(is_left && is_right ? &plan->batch : is_left ? &plan->rows : &plan->columns, label);
    }
    for (int i = 0; i < left->n; i++)
        if (!has(output, left->labels[i]))
            append(&plan->summed, left->labels[i]);
    for (int i = 0; i < plan->summed.n; i++)
        if (!has(right, plan->summed.labels[i]))
            return false;
    return plan->batch.n + plan->columns.n + plan->summed.n == right->n;
}

/* Finds the dims of each operand; false where a summed one would be broadcast. What one operand
   does not tell of a summed dim the other one does. */
static bool find_dims(const struct amp_model *model, const struct amp_node *node, struct plan *plan)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_value *value = amp_value_at(model, node->inputs[i]);
        const term *labels = &plan->einsum.operands[i];
        memcpy(plan->dims[i], plan->einsum.dims, sizeof plan->dims[i]);
        for (int d = 0; d < labels->n; d++) {
            int label = labels->labels[d];
            int64_t all = plan->einsum.dims[label];
            bool is_summed = has(&plan->summed, label);
            if (is_summed && value->dims[d] == 1 && all != 1)
                return false;
            if (!is_summed)
                plan->dims[i][label] = value->dims[d];
        }
    }
    return true;
}

/* Sets the target of RESHAPE; false where more than one dim is not known. */
static bool aim(struct reshape *reshape, const int64_t *dims)
{
    int n_open = 0;
    if (reshape->from.n > AMP_RANK_MAX || reshape->to.n > AMP_RANK_MAX)
        return false;
    reshape->target.rank = reshape->to.n;
    for (int i = 0; i < reshape->to.n; i++) {
        int64_t dim = dim_of(&reshape->to.dims[i], dims);
        bool is_copied =
            i < reshape->from.n && is_same(&reshape->from.dims[i], &reshape->to.dims[i]);
        n_open += !is_copied && dim <= 0;
        reshape->target.dims[i] = is_copied ? 0 : dim <= 0 ? -1 : dim;
    }
    return n_open <= 1;
}

/* A dim for each row, or one of 1. */
static void add_rows(struct layout *layout, const struct plan *plan)
{
    if (plan->rows.n > 0)
        add_each(layout, &plan->rows);
    else
        add_group(layout, &plan->rows);
}

/* MatMul takes rows as several dims where there is no batch. It could take vectors too, but ONNX
   Runtime 1.21 computes wrong products of a Transpose with one. */
static void lay_out_plain(struct plan *plan)
{
    add_rows(&plan->operands[0].to, plan);
    add_group(&plan->operands[0].to, &plan->summed);
    add_group(&plan->operands[1].to, &plan->summed);
    add_group(&plan->operands[1].to, &plan->columns);
    add_rows(&plan->result.from, plan);
    add_group(&plan->result.from, &plan->columns);
}

static void lay_out_batch(struct plan *plan)
{
    add_each(&plan->operands[0].to, &plan->batch);
    add_group(&plan->operands[0].to, &plan->rows);
    add_group(&plan->operands[0].to, &plan->summed);
    add_each(&plan->operands[1].to, &plan->batch);
    add_group(&plan->operands[1].to, &plan->summed);
    add_group(&plan->operands[1].to, &plan->columns);
    add_each(&plan->result.from, &plan->batch);
    add_group(&plan->result.from, &plan->rows);
    add_group(&plan->result.from, &plan->columns);
}

/* Rows and columns, and the operands, change places. */
static void swap_operands(struct plan *plan)
{
    term rows = plan->rows;
    plan->rows = plan->columns;
    plan->columns = rows;
    plan->left = 1 - plan->left;
}

/* Plans a MatMul; false where the groups cannot be formed. */
static bool plan_product(struct plan *plan)
{
    if (plan->batch.n == 0 && plan->rows.n <= 1 && plan->columns.n > 1)
        swap_operands(plan);
    if (plan->batch.n == 0)
        lay_out_plain(plan);
    else
        lay_out_batch(plan);
    for (int i = 0; i < 2; i++) {
        term labels = labels_of(&plan->operands[i].to);
        add_each(&plan->operands[i].from, &labels);
        if (!aim(&plan->operands[i], plan->einsum.dims))
            return false;
    }
    term labels = labels_of(&plan->result.from);
    add_each(&plan->result.to, &labels);
    return aim(&plan->result, plan->einsum.dims);
}

/* Plans how NODE is taken apart; false: it cannot be. */
static bool make_plan(const struct amp_model *model, const struct amp_node *node, struct plan *plan)
{
    *plan = (struct plan){.left = 0};
    if (!read_equation(model, node, &plan->einsum))
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (!is_distinct(&plan->einsum.operands[i]))
            return false;
    if (node->n_inputs == 1)
        return plan->einsum.output.n == plan->einsum.operands[0].n;
    return sort_labels(plan) && find_dims(model, node, plan) &&
           (plan->summed.n == 0 || plan_product(plan));
}

/* ---- the nodes ------------------------------------------------------------------------------- */

struct builder {
    struct amp_model *model;
    uint32_t node, graph, output; /* the Einsum, its graph, its output */
    enum amp_dtype dtype;
};

/* A new value of the Einsum's dtype and of SHAPE; ROLE tells it from others in its name. */
static uint32_t add_value(const struct builder *builder, const char *role,
                          const struct amp_shape *shape)
{
    struct amp_model *model = builder->model;
    const char *base = amp_value_at(model, builder->output)->name;
    const char *name =
        amp_model_unique_name(model, amp_arena_printf(model->arena, "%s_%s", base, role));
    uint32_t id = amp_graph_add_value(model, builder->graph, name);
    amp_value_at(model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(model, id)->dtype = builder->dtype;
    amp_value_set_shape(model, id, shape);
    return id;
}

/* A node of OP_TYPE that makes OUTPUT of INPUT and, where N_INPUTS is 2, of one more to be set. */
static uint32_t add_node(const struct builder *builder, const char *op_type, uint32_t n_inputs,
                         uint32_t input, uint32_t output)
{
    struct amp_model *model = builder->model;
    uint32_t id = amp_graph_add_node(model, builder->graph, op_type, n_inputs, 1);
    const char *name =
        amp_arena_printf(model->arena, "%s/%s", op_type, amp_value_at(model, output)->name);
    amp_node_become(builder->model, id, op_type, (int)amp_model_opset(builder->model, ""));
    amp_node_at(model, id)->name = amp_model_unique_name(model, name);
    amp_node_at(model, id)->inputs[0] = input;
    amp_node_set_output(model, id, 0, output);
    return id;
}

/* Sets input 1 of node ID to the integers of SHAPE; WHAT they are, for the name. */
static void set_ints(const struct builder *builder, uint32_t id, const char *what,
                     const struct amp_shape *shape)
{
    struct amp_model *model = builder->model;
    const struct amp_node *node = amp_node_at(model, id);
    const char *name =
        amp_arena_printf(model->arena, "%s_%s", amp_value_at(model, node->outputs[0])->name, what);
    uint32_t value = amp_graph_add_ints(model, builder->graph, amp_model_unique_name(model, name),
                                        shape->dims, (size_t)shape->rank);
    amp_node_at(model, id)->inputs[1] = value;
}

/* Sets attribute perm of Transpose node ID, which brings dims of the labels FROM into the order TO.
 */
static void set_perm(const struct builder *builder, uint32_t id, const term *from, const term *to)
{
    struct amp_arena *arena = builder->model->arena;
    int64_t *perm = amp_arena_array(arena, (size_t)to->n, sizeof *perm);
    for (int i = 0; i < to->n; i++)
        perm[i] = (const unsigned char *)memchr(from->labels, to->labels[i], (size_t)from->n) -
                  from->labels;
    amp_node_set_attr(
        builder->model, id,
        (struct amp_attr){
            .name = "perm", .type = AMP_ATTR_INTS, .count = (size_t)to->n, .ints = perm});
}

/* Operand I of the plan in the order of LABELS. */
static uint32_t arrange(const struct builder *builder, const struct plan *plan, int i,
                        const term *labels)
{
    struct layout layout = {.n = 0};
    const term *from = &plan->einsum.operands[i];
    uint32_t input = amp_node_at(builder->model, builder->node)->inputs[i];
    if (is_same(from, labels))
        return input;
    add_each(&layout, labels);
    struct amp_shape shape = shape_of(&layout, plan->dims[i]);
    uint32_t output = add_value(builder, i == 0 ? "left" : "right", &shape);
    set_perm(builder, add_node(builder, "Transpose", 1, input, output), from, labels);
    return output;
}

/* ---- products with sums ---------------------------------------------------------------------- */

static bool changes(const struct reshape *reshape)
{
    bool is_other = reshape->from.n != reshape->to.n;
    for (int i = 0; i < reshape->from.n && !is_other; i++)
        is_other = !is_same(&reshape->from.dims[i], &reshape->to.dims[i]);
    return is_other;
}

/* The left (SIDE 0) or right operand as MatMul takes it. */
static uint32_t make_operand(const struct builder *builder, const struct plan *plan, int side)
{
    const struct reshape *reshape = &plan->operands[side];
    int i = side == 0 ? plan->left : 1 - plan->left;
    term labels = labels_of(&reshape->to);
    uint32_t value = arrange(builder, plan, i, &labels);
    if (!changes(reshape))
        return value;
    struct amp_shape shape = shape_of(&reshape->to, plan->dims[i]);
    uint32_t output = add_value(builder, i == 0 ? "left" : "right", &shape);
    set_ints(builder, add_node(builder, "Reshape", 2, value, output), "shape", &reshape->target);
    return output;
}

/* Makes the Einsum's output of what MatMul gives. */
static void give_result(const struct builder *builder, const struct plan *plan)
{
    term labels = labels_of(&plan->result.to);
    bool is_moved = !is_same(&labels, &plan->einsum.output), is_reshaped = changes(&plan->result);
    if (!is_moved && !is_reshaped)
        return;
    struct amp_shape shape = shape_of(&plan->result.from, plan->einsum.dims);
    uint32_t value = add_value(builder, "product", &shape);
    amp_node_set_output(builder->model, builder->node, 0, value);
    if (is_reshaped) {
        shape = shape_of(&plan->result.to, plan->einsum.dims);
        uint32_t parts = is_moved ? add_value(builder, "parts", &shape) : builder->output;
        set_ints(builder, add_node(builder, "Reshape", 2, value, parts), "shape",
                 &plan->result.target);
        value = parts;
    }
    if (is_moved)
        set_perm(builder, add_node(builder, "Transpose", 1, value, builder->output), &labels,
                 &plan->einsum.output);
}

/* Makes the node, of one operator or another, take LEFT and RIGHT. */
static void set_inputs(const struct builder *builder, uint32_t left, uint32_t right)
{
    struct amp_node *node = amp_node_at(builder->model, builder->node);
    node->inputs[0] = left;
    node->inputs[1] = right;
}

static void make_product(const struct builder *builder, const struct plan *plan)
{
    uint32_t left = make_operand(builder, plan, 0), right = make_operand(builder, plan, 1);
    set_inputs(builder, left, right);
    amp_node_become(builder->model, builder->node, "MatMul",
                    (int)amp_model_opset(builder->model, ""));
    give_result(builder, plan);
}

/* ---- products without sums ------------------------------------------------------------------- */

/* Operand I with the dims of the output, 1 where it has none of them. Broadcasting adds the first
   ones. */
static uint32_t spread(const struct builder *builder, const struct plan *plan, int i)
{
    struct amp_shape axes = {.rank = 0};
    struct layout spread = {.n = 0};
    term labels = {.n = 0};
    for (int d = 0; d < plan->einsum.output.n; d++) {
        term group = {1, {plan->einsum.output.labels[d]}};
        bool is_there = has(&plan->einsum.operands[i], group.labels[0]);
        if (is_there)
            append(&labels, group.labels[0]);
        else if (labels.n > 0)
            axes.dims[axes.rank++] = spread.n;
        if (labels.n > 0)
            add_group(&spread, is_there ? &group : &(term){.n = 0});
    }
    uint32_t value = arrange(builder, plan, i, &labels);
    if (axes.rank == 0)
        return value;
    struct amp_shape shape = shape_of(&spread, plan->dims[i]);
    uint32_t output = add_value(builder, i == 0 ? "left" : "right", &shape);
    set_ints(builder, add_node(builder, "Unsqueeze", 2, value, output), "axes", &axes);
    return output;
}

static void take_apart(const struct builder *builder, const struct plan *plan)
{
    if (plan->einsum.n_operands == 1) {
        amp_node_become(builder->model, builder->node, "Transpose",
                        (int)amp_model_opset(builder->model, ""));
        set_perm(builder, builder->node, &plan->einsum.operands[0], &plan->einsum.output);
    } else if (plan->summed.n == 0) {
        uint32_t left = spread(builder, plan, 0), right = spread(builder, plan, 1);
        set_inputs(builder, left, right);
        amp_node_become(builder->model, builder->node, "Mul",
                        (int)amp_model_opset(builder->model, ""));
    } else {
        make_product(builder, plan);
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Whether all data of SCHEMA's first output may be of DTYPE. */
static bool gives(const struct amp_schema *schema, enum amp_dtype dtype)
{
    return (amp_schema_type(schema, amp_schema_output(schema, 0))->tensors &
            AMP_DTYPE_BIT(dtype)) != 0;
}

int amp_einsum_opset(const struct amp_model *model, const struct amp_node *node,
                     enum amp_dtype dtype)
{
    static const char *const parts[] = {"MatMul", "Mul", "Reshape", "Transpose", "Unsqueeze"};
    int opset = (int)amp_model_opset(model, "");
    struct plan plan;
    if (!amp_node_has_role(node, AMP_ROLE_EINSUM) || !make_plan(model, node, &plan))
        return 0;
    for (size_t i = 0; i < AMP_COUNT(parts); i++) {
        const struct amp_schema *schema = amp_schema_find("", parts[i], 1);
        while (schema != NULL && !gives(schema, dtype))
            schema = amp_schema_next(schema);
        if (schema == NULL)
            return 0;
        opset = schema->since_version > opset ? schema->since_version : opset;
    }
    return opset;
}

/* Whether node ID is an Einsum of data of a dtype that the operator does not take. */
static bool has_no_form(const struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    return !node->is_removed && amp_node_has_role(node, AMP_ROLE_EINSUM) && node->schema != NULL &&
           !gives(node->schema, amp_value_at(model, node->outputs[0])->dtype);
}

enum amp_status amp_einsums_take_apart(struct amp_model *model, struct amp_error *err)
{
    size_t n_nodes = model->n_nodes;
    bool is_changed = false;
    for (uint32_t id = 0; id < n_nodes; id++) {
        struct plan plan;
        if (!has_no_form(model, id) || !make_plan(model, amp_node_at(model, id), &plan))
            continue;
        uint32_t output = amp_node_at(model, id)->outputs[0];
        const struct builder builder = {model, id, amp_node_at(model, id)->graph, output,
                                        amp_value_at(model, output)->dtype};
        take_apart(&builder, &plan);
        is_changed = true;
    }
    return is_changed ? amp_graph_sort(model, NULL, err) : AMP_OK;
}
