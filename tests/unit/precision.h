#ifndef AMP_TESTS_PRECISION_H
#define AMP_TESTS_PRECISION_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/array.h"
#include "onnx/schema/infer.h"
#include "onnx/opset/opset.h"
#include "onnx/file/read.h"
#include "onnx/schema/schema.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"

/* ---- how large errors may be ------------------------------------------------------------------
 */

/*
 * What test_precision.c holds operators in lower dtypes to: the largest error, in units in the last
 * place (ulps) of the result's dtype, against the same operator in float32.
 *
 * The unit is that of the result or, where that is larger, of FLOOR times the largest result of the
 * tensor. A floor is for sums that oneDNN adds up in float32 in another order for each dtype and
 * instruction set: where terms cancel, errors of 2^-24 of the largest stay, which are little in
 * units of 2^-8 of it (2^-16 of it in bfloat16, 2^-19 in float16) and may be any number of units of
 * a result near 0.
 */
struct bound {
    const char *op_type;
    double ulps;
    double floor;
    bool is_random; /* only dtype and shape are held */
};

#define MOVES 0, 0, false
#define BY_VALUE 1, 0, false
#define SUMS 1, 0x1p-8, false
#define RANDOM 0, 0, true
/* What goes on from its own rounded results: the operators of a body round each time it runs, and
   recurrent layers keep their state in the lower dtype. Units of the largest result; how many
   depends on the number of steps, and here is for those of the test models (40 turns, 4 steps). */
#define STEPS(ulps) ulps, 1, false

static const struct bound bounds[] = {
    {"Attention", SUMS},
    {"AveragePool", SUMS},
    {"BatchNormalization", SUMS},
    {"Bernoulli", RANDOM},
    {"Conv", SUMS},
    {"ConvTranspose", SUMS},
    {"DeformConv", SUMS},
    {"Einsum", SUMS},
    {"FusedConv", SUMS},
    {"FusedGemm", SUMS},
    {"FusedMatMul", SUMS},
    {"Gemm", SUMS},
    {"GlobalAveragePool", SUMS},
    {"GroupNormalization", SUMS},
    {"GroupQueryAttention", SUMS},
    {"GRU", STEPS(2)},
    {"InstanceNormalization", SUMS},
    {"LayerNormalization", SUMS},
    {"Loop", STEPS(16)},
    {"LRN", SUMS},
    {"LSTM", STEPS(2)},
    {"MatMul", SUMS},
    {"MultiHeadAttention", SUMS},
    {"Multinomial", RANDOM},
    {"RandomNormal", RANDOM},
    {"RandomNormalLike", RANDOM},
    {"RandomUniform", RANDOM},
    {"RandomUniformLike", RANDOM},
    {"RNN", STEPS(2)},
    {"Scan", STEPS(2)},
    {"TransposeMatMul", SUMS},
};

/* The bound of OP: operators that are not listed compute each result from few elements, or add up
   in the same way for all dtypes. */
static const struct bound *bound_of(const struct amp_op *op)
{
    static const struct bound moves = {NULL, MOVES}, by_value = {NULL, BY_VALUE};
    for (size_t i = 0; i < AMP_COUNT(bounds); i++)
        if (strcmp(bounds[i].op_type, op->name) == 0)
            return &bounds[i];
    return op->effect == AMP_PRESERVES_VALUES ? &moves : &by_value;
}

/* Operators that take a lower dtype and are no cases, and why. */
static const struct {
    const char *op_type, *reason;
} without_case[] = {
    {"BitCast", "the bits of a float32 are not those of a lower dtype"},
};

static bool needs_case(const struct amp_op *op)
{
    for (size_t i = 0; i < AMP_COUNT(without_case); i++)
        if (strcmp(without_case[i].op_type, op->name) == 0)
            return false;
    return true;
}

/* ---- the models of a case ----------------------------------------------------------------------
 */

/* The two models of a case of test_precision.c: an operator in float32, with rounded constants, and
   in a lower dtype. */

/* Rounds of each model and dtype. */
enum round {
    AS_GIVEN,
    FIRST_TYPE, /* only what has the type of the first input is lowered */
    MAGNIFIED,  /* inputs are times 8: test data are small, and errors of functions that are flat
                   there do not show */
    ALL_VALUES, /* inputs of the output's shape hold every value of the dtype instead */
    ROUNDS
};

static const char *const round_names[ROUNDS] = {"", ", first type", ", magnified", ", all values"};

enum { MAGNIFICATION = 8, VALUES = 1 << 16 };

struct subject {
    const char *path;     /* of the model; its folder holds the inputs */
    enum amp_dtype dtype; /* the lower one */
    enum round round;
};

/* A model of a case: as it is with its constants rounded, or in the lower dtype. */
struct variant {
    struct amp_model_file file;
    enum amp_dtype from; /* what the lower dtype takes the place of, float32 where there is some */
    bool *is_lowered;    /* per value: it does so there */
    bool is_mixed;       /* some node does not take it */
    uint32_t node;       /* the operator's; AMP_NONE: there is not just one */
};

/* Beside another node it only gives that its input. */
static bool is_help(const struct amp_node *node)
{
    return amp_node_is(node, "", "Constant") || amp_node_is(node, "", "Optional") ||
           amp_node_is(node, "", "SequenceConstruct");
}

static uint32_t find_node(const struct amp_model *model)
{
    uint32_t found = AMP_NONE;
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        if (is_help(amp_node_at(model, nodes->items[i])) && nodes->count > 1)
            continue;
        if (found != AMP_NONE)
            return AMP_NONE;
        found = nodes->items[i];
    }
    return found;
}

/* The dtypes that TYPE has for values of KIND. */
static uint32_t dtypes_of(const struct amp_schema_type *type, enum amp_kind kind)
{
    return kind == AMP_KIND_TENSOR              ? type->tensors
           : kind == AMP_KIND_SEQUENCE          ? type->sequences
           : kind == AMP_KIND_OPTIONAL          ? type->optionals
           : kind == AMP_KIND_OPTIONAL_SEQUENCE ? type->optional_sequences
                                                : 0;
}

/* Whether the schema's parameter (NULL: none) takes a value of KIND in the subject's dtype, and in
   float32. */
static bool takes_lower(const struct subject *subject, const struct amp_schema *schema,
                        const struct amp_schema_param *param, enum amp_kind kind)
{
    const struct amp_schema_param *first =
        schema->n_inputs > 0 ? &schema->inputs[0] : &schema->outputs[0];
    uint32_t both = AMP_DTYPE_BIT(AMP_FLOAT) | AMP_DTYPE_BIT(subject->dtype);
    if (param == NULL ||
        (subject->round == FIRST_TYPE && !amp_schema_shares(schema, first->type, param)))
        return false;
    return (dtypes_of(amp_schema_type(schema, param), kind) & both) == both;
}

typedef void visitor(struct variant *variant, uint32_t value, bool takes);

/* Calls VISIT with the values of NODE, by SCHEMA, and whether they take the dtype; statistics of a
   dtype that an attribute names do not. */
static void visit_values(const struct subject *subject, struct variant *variant,
                         const struct amp_node *node, const struct amp_schema *schema,
                         visitor *visit)
{
    const struct amp_model *model = variant->file.model;
    if (schema == NULL || node->is_removed)
        return;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE)
            visit(variant, node->inputs[i],
                  takes_lower(subject, schema, amp_schema_input(schema, i),
                              amp_value_at(model, node->inputs[i])->kind));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            visit(variant, node->outputs[i],
                  (i == 0 || amp_schema_attr(schema, "stash_type") == NULL) &&
                      takes_lower(subject, schema, amp_schema_output(schema, i),
                                  amp_value_at(model, node->outputs[i])->kind));
}

static void choose_dtype(struct variant *variant, uint32_t id, bool takes)
{
    enum amp_dtype dtype = amp_value_at(variant->file.model, id)->dtype;
    enum amp_dtype_class class = amp_dtype_class(dtype);
    bool is_next_best =
        variant->from == AMP_UNDEFINED && (class == AMP_CLASS_INT || class == AMP_CLASS_BOOL);
    if (takes && (dtype == AMP_FLOAT || is_next_best))
        variant->from = dtype;
}

static void mark_value(struct variant *variant, uint32_t id, bool takes)
{
    if (takes && amp_value_at(variant->file.model, id)->dtype == variant->from)
        variant->is_lowered[id] = true;
}

static void check_value(struct variant *variant, uint32_t id, bool takes)
{
    variant->is_mixed |= variant->is_lowered[id] && !takes;
}

/* Of a model with bodies all values, which the bodies may hand through, where all nodes take them;
   bodies of FlexAttention have a precision of their own. */
static void mark_values(const struct subject *subject, struct variant *variant)
{
    struct amp_model *model = variant->file.model;
    const struct amp_node *node = amp_node_at(model, variant->node);
    bool has_bodies =
        model->n_graphs > 1 && amp_schema_attr(node->schema, "softmax_precision") == NULL;
    variant->is_lowered = amp_arena_array(model->arena, model->n_values, sizeof(bool));
    visit_values(subject, variant, node, node->schema, choose_dtype);
    if (variant->from == AMP_UNDEFINED)
        return;
    for (uint32_t v = 0; v < model->n_values && has_bodies; v++)
        mark_value(variant, v, true);
    for (uint32_t n = 0; n < model->n_nodes; n++) {
        node = amp_node_at(model, n);
        if (has_bodies || node->graph == 0)
            visit_values(subject, variant, node, node->schema,
                         has_bodies ? check_value : mark_value);
    }
}

static struct amp_tensor in_dtype(const struct amp_tensor *tensor, enum amp_dtype dtype);

static struct amp_tensor list_in_dtype(const struct amp_tensor *list, enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor to = {.dtype = dtype};
    size_t count = amp_tensor_count(list);
    assert_int_equal(amp_list_alloc(&to, list->form, count, &err), AMP_OK);
    for (size_t i = 0; i < count; i++)
        amp_list_items(&to)[i] = in_dtype(&amp_list_items(list)[i], dtype);
    return to;
}

/* TENSOR in DTYPE, with memory of its own. */
static struct amp_tensor in_dtype(const struct amp_tensor *tensor, enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor from = {.dtype = tensor->dtype, .shape = tensor->shape};
    struct amp_tensor to = {.dtype = dtype, .shape = tensor->shape};
    if (amp_tensor_is_list(tensor))
        return list_in_dtype(tensor, dtype);
    /* In a model file data lie as they come. */
    assert_int_equal(amp_tensor_alloc(&from, &err), AMP_OK);
    amp_tensor_copy(tensor, from.data);
    assert_int_equal(amp_tensor_alloc(&to, &err), AMP_OK);
    assert_int_equal(amp_tensor_cast(&from, &to, NULL, &err), AMP_OK);
    amp_tensor_release(&from);
    return to;
}

static void convert_tensor(struct amp_tensor *tensor, enum amp_dtype dtype)
{
    struct amp_tensor to = in_dtype(tensor, dtype);
    amp_tensor_release(tensor);
    *tensor = to;
}

/* TENSOR rounded to DTYPE, and made float32 again unless IS_LOWER; in the model's arena. */
static struct amp_tensor *round_constant(const struct amp_model *model,
                                         const struct amp_tensor *tensor, enum amp_dtype dtype,
                                         bool is_lower)
{
    struct amp_tensor *kept = amp_arena_alloc(model->arena, sizeof *kept);
    struct amp_tensor rounded = in_dtype(tensor, dtype);
    if (!is_lower)
        convert_tensor(&rounded, AMP_FLOAT);
    *kept = (struct amp_tensor){.dtype = rounded.dtype, .shape = rounded.shape};
    kept->data = amp_arena_memdup(model->arena, rounded.data, amp_tensor_size(&rounded));
    amp_tensor_release(&rounded);
    return kept;
}

static void apply_value(struct amp_model *model, uint32_t id, enum amp_dtype dtype, bool is_lower)
{
    struct amp_value *value = amp_value_at(model, id);
    struct amp_tensor *constant = value->constant, *initial = value->initial;
    if (constant != NULL)
        value->constant = round_constant(model, constant, dtype, is_lower);
    if (initial != NULL)
        value->initial =
            initial == constant ? value->constant : round_constant(model, initial, dtype, is_lower);
    value->dtype = is_lower ? dtype : AMP_FLOAT;
}

/* Attributes that name the dtype of output 0, or hold what it is made of. */
static void apply_attributes(struct amp_model *model, uint32_t id, enum amp_dtype dtype,
                             bool is_lower)
{
    static const char *const names[] = {"dtype", "output_datatype", "output_dtype", "to"};
    const struct amp_node *node = amp_node_at(model, id);
    for (size_t i = 0; i < AMP_COUNT(names) && is_lower; i++)
        if (amp_schema_attr(node->schema, names[i]) != NULL)
            amp_node_set_int(model, id, names[i], dtype);
    if (!amp_node_is(node, "", "ConstantOfShape"))
        return;
    const struct amp_attr *fill = amp_node_attr(node, "value");
    static float zero = 0;
    struct amp_tensor nothing = {
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {1}}, .data = &zero};
    struct amp_tensor **held = amp_arena_alloc(model->arena, sizeof *held);
    *held = round_constant(model, fill ? fill->tensors[0] : &nothing, dtype, is_lower);
    amp_node_set_attr(
        model, id,
        (struct amp_attr){.name = "value", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = held});
}

static void apply_dtype(const struct subject *subject, struct variant *variant, bool is_lower)
{
    struct amp_model *model = variant->file.model;
    for (uint32_t n = 0; n < model->n_nodes; n++) {
        const struct amp_node *node = amp_node_at(model, n);
        if (node->schema != NULL && node->n_outputs > 0 && node->outputs[0] != AMP_NONE &&
            variant->is_lowered[node->outputs[0]])
            apply_attributes(model, n, subject->dtype, is_lower);
    }
    for (uint32_t v = 0; v < model->n_values; v++)
        if (variant->is_lowered[v])
            apply_value(model, v, subject->dtype, is_lower);
}

/* The opset at which the node takes the dtype: the model's, or the first that does; 0: none. */
static int opset_for(const struct subject *subject, struct variant *variant)
{
    const struct amp_node *node = amp_node_at(variant->file.model, variant->node);
    const struct amp_schema *schema = node->schema;
    variant->from = AMP_UNDEFINED;
    for (; schema != NULL && variant->from == AMP_UNDEFINED; schema = amp_schema_next(schema)) {
        visit_values(subject, variant, node, schema, choose_dtype);
        if (variant->from != AMP_UNDEFINED)
            return schema->since_version;
    }
    return 0;
}

/* Nodes without inputs that fix their dtype themselves cannot have another. */
static bool may_be_case(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_find(node->domain, node->op_type);
    bool is_fixed = op != NULL && op->dtype != NULL && node->n_inputs == 0;
    return node->schema != NULL && op != NULL && !is_fixed && needs_case(op);
}

/* Whether there are lists among the values, or might be around NODE. */
static bool has_lists(const struct amp_model *model, const struct amp_node *node)
{
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_value_at(model, v)->kind != AMP_KIND_TENSOR)
            return true;
    return strncmp(node->op_type, "Optional", strlen("Optional")) == 0;
}

static bool is_any(const bool *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (flags[i])
            return true;
    return false;
}

static enum amp_status read_variant(const struct subject *subject, struct variant *variant,
                                    struct amp_error *err)
{
    AMP_TRY(amp_model_read(subject->path, &variant->file, err));
    struct amp_model *model = variant->file.model;
    AMP_TRY(amp_infer(model, err));
    variant->node = find_node(model);
    if (variant->node == AMP_NONE || !may_be_case(amp_node_at(model, variant->node)))
        return amp_fail(err, AMP_UNSUPPORTED, "not for here");
    if (amp_node_at(model, variant->node)->domain[0] == '\0') {
        AMP_TRY(amp_opset_raise(model, opset_for(subject, variant), NULL, err));
        AMP_TRY(amp_infer(model, err));
    }
    mark_values(subject, variant);
    if (variant->is_mixed || !is_any(variant->is_lowered, model->n_values))
        return amp_fail(err, AMP_UNSUPPORTED, "nothing to lower");
    if (subject->round != AS_GIVEN &&
        (model->n_graphs > 1 || has_lists(model, amp_node_at(model, variant->node))))
        return amp_fail(err, AMP_UNSUPPORTED, "bodies and lists have one type, and what fits");
    return AMP_OK;
}

static bool has_shape_of_output(const struct amp_model *model, uint32_t node, uint32_t input)
{
    struct amp_shape in, out;
    if (amp_node_at(model, node)->outputs[0] == AMP_NONE)
        return false;
    amp_value_shape(amp_value_at(model, input), &in);
    amp_value_shape(amp_value_at(model, amp_node_at(model, node)->outputs[0]), &out);
    return amp_shape_is_known(&in) && amp_shape_equal(&in, &out);
}

/* The swept inputs and the outputs become vectors. */
static void sweep_shapes(struct variant *variant, bool *is_swept)
{
    struct amp_model *model = variant->file.model;
    const struct amp_ids *inputs = &model->graphs[0].inputs, *outputs = &model->graphs[0].outputs;
    struct amp_shape all = {.rank = 1, .dims = {VALUES}};
    for (size_t i = 0; i < inputs->count; i++)
        is_swept[i] = variant->is_lowered[inputs->items[i]] &&
                      has_shape_of_output(model, variant->node, inputs->items[i]);
    for (size_t i = 0; i < inputs->count; i++)
        if (is_swept[i])
            amp_value_set_shape(model, inputs->items[i], &all);
    for (size_t i = 0; i < outputs->count; i++)
        amp_value_at(model, outputs->items[i])->rank = -1;
}

#endif
