/* Decisions on nodes and values, and the casts that fold. */
#include "autocast/assign.h"
#include "autocast/cast_estimate.h"
#include "autocast/cast_fold.h"
#include "autocast/cast_insert.h"
#include "autocast/custom.h"
#include "autocast/eligible.h"
#include "autocast/forms/einsum.h"
#include "autocast/guard.h"
#include "autocast/notes.h"
#include "autocast/policy.h"
#include "autocast/provenance.h"
#include "autocast/ranges/guards.h"
#include "autocast/ranges/ranges.h"
#include "autocast/rules/rule.h"
#include "autocast/runtimes/lacking.h"
#include "autocast/runtimes/runtime.h"
#include "autocast/settle.h"
#include "autocast/static_values.h"
#include "autocast/training/keep.h"
#include "autocast/training/loss.h"
#include "autocast/types.h"
#include "autocast/weights.h"
#include "autocast/wholes.h"
#include "core/array.h"
#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "core/graph/uses.h"
#include "core/status.h"
#include "core/tensor.h"
#include "net.h"
#include "onnx.pb-c.h"
#include "onnx/file/read.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"
#include "rules_fixture.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- autocast -------------------------------------------------------------------------------- */

/* Decisions and casts on small models: opsets that a conversion needs, guards, outputs that are
   given out twice. What a guard is and what casts may go is said in autocast/guard.h and
   autocast/cast_fold.h; which version of an operator takes which type is ONNX's. */

static int open_both(void **state)
{
    return net_open(state) + set_up(state);
}

static int close_both(void **state)
{
    return tear_down(state) + net_close(state);
}

#define AUTOCAST_TEST(name) cmocka_unit_test_setup_teardown(name, open_both, close_both)

/* Rules that lower OPS. */
static struct amp_assign_options lowering(struct fixture *f, const char *ops, enum amp_dtype lower)
{
    char text[256];
    snprintf(text, sizeof text, HEAD "rules:\n  - {precision: lower, ops: [%s]}\n", ops);
    reload(f, text);
    return (struct amp_assign_options){.rules = f->rules, .lower = lower, .cap = 22};
}

static int opset_of(const struct amp_assign_options *options)
{
    struct amp_assignment assignment;
    infer_all();
    if (amp_assign(net.model, options, &assignment, &net.err) != AMP_OK)
        fail_msg("%s", net.err.text);
    return assignment.opset;
}

/* ---- opsets ---- */

/* Cast names float16 by its number since version 6. */
static void casts_of_a_lowered_node_need_opset_6(void **state)
{
    (void)state;
    for (int opset = 4; opset < 9; opset++) {
        struct amp_assign_options options = lowering(*state, "Relu", AMP_FLOAT16);
        net_start(opset);
        output(NODE("Relu", "y", input("x", AMP_FLOAT, DIMS(4))));
        assert_int_equal(opset_of(&options), opset < 6 ? 6 : opset);
    }
}

static void casts_of_the_interface_need_opset_6(void **state)
{
    for (int opset = 4; opset < 9; opset++) {
        struct amp_assign_options options = lowering(*state, "Conv", AMP_FLOAT16);
        net_start(opset);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4));
        output(NODE("Relu", "y", x));
        assert_int_equal(opset_of(&options), opset);
        amp_ids_push(net.model, &options.interface, x);
        assert_int_equal(opset_of(&options), opset < 6 ? 6 : opset);
    }
}

/* Relu takes bfloat16 since opset 13, LeakyRelu since 16; the BatchNormalization follows up to
   opset 13, as what opset 14 has no more of is used. */
static void what_cannot_follow_leaves_the_highest_opset_it_can(void **state)
{
    struct amp_assign_options options = lowering(*state, "Relu, LeakyRelu", AMP_BFLOAT16);
    struct amp_assignment assignment;
    const char *obstacle = NULL;
    net_start(9);
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, 2, 4)), s = FLOATS("s", 1, 2);
    uint32_t norm = net_node(0, "BatchNormalization", "n", 5, IDS(x, s, s, s, s));
    output(NODE("Relu", "saved", net_out(norm, 4)));
    output(NODE("LeakyRelu", "leaky", net_out(norm, 0)));
    infer_all();
    assert_int_equal(amp_settle(net.model, options, &assignment, &obstacle, &net.err), AMP_OK);
    assert_int_equal(amp_model_opset(net.model, ""), 13);
    assert_non_null(obstacle);
    assert_non_null(strstr(obstacle, "BatchNormalization changed in opset 14"));
    assert_int_equal(assignment.nodes[1].dtype, AMP_BFLOAT16);
    assert_int_equal(assignment.nodes[2].reason, AMP_REASON_OPSET);
}

/* Cast names its types since opset 6, at which Tile takes its repeats otherwise. */
static void a_model_that_no_opset_fits_is_refused(void **state)
{
    struct amp_assign_options options = lowering(*state, "Relu", AMP_FLOAT16);
    struct amp_assignment assignment;
    const char *obstacle = NULL;
    net_start(5);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), often = input("often", AMP_FLOAT, SCALAR);
    output(NODE("Tile", "y", x, often, input("axis", AMP_FLOAT, SCALAR)));
    infer_all();
    assert_int_equal(amp_settle(net.model, options, &assignment, &obstacle, &net.err), AMP_OK);
    assert_null(obstacle);
    amp_ids_push(net.model, &options.interface, x);
    assert_int_equal(amp_settle(net.model, options, &assignment, &obstacle, &net.err),
                     AMP_UNSUPPORTED);
    assert_string_equal(net.err.text,
                        "net.onnx: node 0 with output 'y' (Tile-1): cannot be raised to opset 6: "
                        "Tile changed in opset 6: the axis and how often it repeats along it are "
                        "not known");
    assert_int_equal(amp_model_opset(net.model, ""), 5);
}

/* ---- weights that are moved before their use ---- */

/* What only moves a constant has the dtype of those who take the result, where all want one, unless
   rules say another. */
static void constants_are_moved_in_the_dtype_of_their_users(void **state)
{
    enum {
        PLAIN,
        TWICE,
        ABSENT,
        BOTH_LOWER,
        WITHOUT_AXES,
        IN_A_ROW,
        OTHER_USE,
        OTHER_PIECE,
        UNUSED_PIECE,
        GIVEN_OUT,
        COMPUTED,
        OF_AN_INPUT,
        WITH_AN_INPUT,
        BY_DEFAULT,
        BY_RULE,
        FOLLOWING,
        CASES
    };
    static const float data[16] = {1, 2, 3};
    for (int i = 0; i < CASES; i++) {
        struct amp_assign_options options = lowering(*state, "MatMul", AMP_BFLOAT16);
        struct amp_assignment assignment;
        if (i == BY_RULE) {
            reload(*state, HEAD "rules:\n  - {precision: lower, ops: [MatMul]}\n"
                                "  - {precision: fp32, ops: [Transpose]}\n");
            options.rules = ((struct fixture *)*state)->rules;
        }
        if (i == FOLLOWING) {
            reload(*state, HEAD "rules:\n  - {precision: lower, ops: [MatMul]}\n"
                                "  - {precision: follow, ops: [Transpose]}\n");
            options.rules = ((struct fixture *)*state)->rules;
        }
        if (i == BY_DEFAULT) {
            reload(*state, HEAD "unlisted: fp32\nrules:\n  - {precision: lower, ops: [MatMul]}\n");
            options.rules = ((struct fixture *)*state)->rules;
        }
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4, 4));
        uint32_t w = i == OF_AN_INPUT ? input("w", AMP_FLOAT, DIMS(4, 4))
                                      : constant("w", AMP_FLOAT, DIMS(4, 4), data);
        bool splits = i == ABSENT || i == BOTH_LOWER || i == OTHER_PIECE || i == UNUSED_PIECE;
        uint32_t moved, second = AMP_NONE;
        if (splits) {
            uint32_t split = net_node(0, "Split", "piece", 2, IDS(w));
            set_int(net_out(split, 0), "axis", 1);
            moved = net_out(split, 0), second = net_out(split, 1);
            if (i == ABSENT)
                amp_node_at(net.model, split)->outputs[1] = AMP_NONE;
        } else if (i == WITHOUT_AXES) {
            moved = NODE("Slice", "moved", w, NUMBERS("from", 0, 0), NUMBERS("to", 4, 4), AMP_NONE,
                         NUMBERS("steps", 1, 1));
        } else if (i == WITH_AN_INPUT) {
            moved = NODE("Concat", "moved", w, input("more", AMP_FLOAT, DIMS(4, 4)));
            set_int(moved, "axis", 1);
        } else {
            moved = NODE(i == COMPUTED ? "Neg" : "Transpose", "moved", w);
        }
        uint32_t taken = i == IN_A_ROW ? NODE("Transpose", "again", moved) : moved;
        output(NODE("MatMul", "y", x, taken));
        if (i == TWICE)
            output(NODE("MatMul", "z", x, taken));
        if (i == BOTH_LOWER)
            output(NODE("MatMul", "z", x, second));
        if (i == OTHER_USE)
            output(NODE("Sin", "z", taken));
        if (i == OTHER_PIECE)
            output(NODE("Sin", "z", second));
        if (i == GIVEN_OUT)
            output(taken);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        enum amp_dtype dtype = i <= IN_A_ROW ? AMP_BFLOAT16 : AMP_FLOAT;
        if (assignment.nodes[0].dtype != dtype || assignment.values[moved] != dtype)
            fail_msg("%d: %s", i, amp_dtype_name(assignment.nodes[0].dtype));
        assert_int_equal(assignment.nodes[0].reason,
                         i >= BY_RULE ? AMP_REASON_RULE : AMP_REASON_UNLISTED);
    }
}

/* ---- parts of one operator ---- */

/* Parts that PyTorch had as one operator have one dtype: that of none of them is beyond a limit. */
static void parts_are_kept_together(void **state)
{
    static const struct {
        enum amp_dtype lower, second;
        const char *limits;
        float largest; /* of the result */
        enum amp_dtype dtype;
    } rows[] = {
        {AMP_FLOAT16, AMP_UNDEFINED, "", 1000, AMP_FLOAT16},
        {AMP_FLOAT16, AMP_UNDEFINED, "", 100000, AMP_FLOAT},
        {AMP_BFLOAT16, AMP_UNDEFINED, "", 100000, AMP_BFLOAT16},
        {AMP_FLOAT16, AMP_BFLOAT16, "", 1000, AMP_FLOAT16},
        {AMP_FLOAT16, AMP_BFLOAT16, "", 100000, AMP_BFLOAT16},
        {AMP_FLOAT16, AMP_BFLOAT16, "limits:\n  bf16: {activation_max: 10000}\n", 100000,
         AMP_FLOAT},
        {AMP_BFLOAT16, AMP_FLOAT16, "limits:\n  bf16: {activation_max: 10000}\n", 100000,
         AMP_FLOAT},
        {AMP_BFLOAT16, AMP_FLOAT16, "limits:\n  bf16: {activation_max: 10000}\n", 20000,
         AMP_FLOAT16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture *f = *state;
        struct amp_assignment assignment;
        char text[256];
        snprintf(text, sizeof text, HEAD "%srules:\n  - {precision: lower, ops: [silu]}\n",
                 rows[i].limits);
        reload(f, text);
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4)), s = NODE("Sigmoid", "s", x);
        uint32_t y = NODE("Mul", "y", x, s);
        output(y);
        infer_all();
        struct amp_ranges *ranges = amp_ranges_create(net.arena);
        ranges->source = AMP_RANGES_DATA;
        amp_ranges_entry(ranges, "y")->seen = (struct amp_range){
            .count = 1, .minimum = 1, .maximum = rows[i].largest, .smallest = 1, .energy = 1};
        struct amp_assign_options options = {.rules = f->rules,
                                             .lower = rows[i].lower,
                                             .second = rows[i].second,
                                             .cap = 22,
                                             .ranges = ranges};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        for (int k = 0; k < 2; k++) {
            const struct amp_decision *decision = &assignment.nodes[k];
            if (decision->dtype != rows[i].dtype)
                fail_msg("row %zu: node %d %s", i, k, amp_dtype_name(decision->dtype));
            assert_int_equal(assignment.values[k == 0 ? s : y], rows[i].dtype);
            bool is_kept = rows[i].dtype == AMP_FLOAT;
            assert_int_equal(decision->reason, is_kept ? AMP_REASON_VALUE_RANGE : AMP_REASON_RULE);
            if (!is_kept)
                continue;
            assert_int_equal(decision->value, y);
            assert_true(decision->number == (double)rows[i].largest);
            assert_int_equal(decision->seen, AMP_RANGES_DATA);
        }
    }
}

/* Where a weight keeps the product of a linear layer in float32, what is added to it stays there.
 */
static void a_weight_keeps_all_of_a_layer(void **state)
{
    static const struct {
        float weight;
        enum amp_dtype lower;
        bool is_kept;
    } rows[] = {
        {1000, AMP_FLOAT16, false}, {100000, AMP_FLOAT16, true}, {100000, AMP_BFLOAT16, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_assign_options options = lowering(*state, "linear", rows[i].lower);
        struct amp_assignment assignment;
        const float weights[] = {rows[i].weight, 1, 2, 3};
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2));
        uint32_t w = constant("w", AMP_FLOAT, DIMS(2, 2), weights), b = FLOATS("b", 1, 2);
        uint32_t m = NODE("MatMul", "m", x, w), y = NODE("Add", "y", m, b);
        output(y);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        for (int k = 0; k < 2; k++) {
            const struct amp_decision *decision = &assignment.nodes[k];
            assert_non_null(decision->whole);
            assert_int_equal(decision->dtype, rows[i].is_kept ? AMP_FLOAT : rows[i].lower);
            assert_int_equal(assignment.values[k == 0 ? m : y], decision->dtype);
            assert_int_equal(decision->reason,
                             rows[i].is_kept ? AMP_REASON_WEIGHT_RANGE : AMP_REASON_RULE);
            if (rows[i].is_kept)
                assert_int_equal(decision->value, w);
        }
    }
}

/* ---- runtimes ---- */

/* The versions of other sets of operators are no opsets of ONNX's. */
static void other_operators_cap_no_opset(void **state)
{
    static const char *const names[] = {"LabelEncoder", "TreeEnsembleClassifier",
                                        "TreeEnsembleRegressor", "Scaler"};
    (void)state;
    for (size_t r = 0; r < AMP_RUNTIME_COUNT; r++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (int version = 1; version <= 4; version++) {
                const struct amp_runtime *runtime = amp_runtime_at(r);
                const struct amp_runtimes runtimes = {.items = {runtime}, .count = 1};
                net_start(17);
                uint32_t y = NODE(names[i], "y", input("x", AMP_FLOAT, DIMS(1, 4)));
                struct amp_node *node = amp_node_at(net.model, node_of(y));
                node->domain = "ai.onnx.ml";
                node->schema = amp_schema_find(node->domain, names[i], version);
                assert_non_null(node->schema);
                int newest = amp_runtime_opset(runtime);
                assert_int_equal(amp_runtimes_cap(&runtimes, net.model, 22),
                                 newest < 22 ? newest : 22);
                assert_int_equal(amp_runtimes_cap(&runtimes, net.model, 12), 12);
            }
}

/* All runtimes must take the dtype, as input and as output: ONNX Runtime's CPU casts bfloat16, and
   neither quantizes nor dequantizes it. */
static void all_runtimes_take_and_give_a_dtype(void **state)
{
    static const struct {
        const char *op_type;
        bool has;
    } rows[] = {{"Cast", true}, {"QuantizeLinear", false}, {"DequantizeLinear", false}};
    const struct amp_runtime *own = amp_runtime_find("ampconv"),
                             *other = amp_runtime_find("ort-cpu");
    const struct amp_runtimes all[] = {{.items = {other}, .count = 1},
                                       {.items = {own, other}, .count = 2},
                                       {.items = {other, own}, .count = 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const struct amp_schema *schema = amp_schema_find("", rows[i].op_type, 21);
            assert_int_equal(amp_runtimes_have(&all[k], schema, AMP_BFLOAT16), rows[i].has);
            assert_true(amp_runtimes_have(&all[k], schema, AMP_FLOAT));
        }
}

/* The rows of the runtimes' tables, as they stand. */
#define F32 AMP_DTYPE_BIT(AMP_FLOAT)
#define F16 AMP_DTYPE_BIT(AMP_FLOAT16)
#define BF16 AMP_DTYPE_BIT(AMP_BFLOAT16)

struct kernel_row {
    const char *domain, *op;
    int from, to;
    const char *variable;
    uint32_t floats;
};

static const struct kernel_row ort_cpu_rows[] = {
#include "autocast/runtimes/ort_cpu.inc"
};
static const struct kernel_row ort_cuda_rows[] = {
#include "autocast/runtimes/ort_cuda.inc"
};
static const struct kernel_row tensorrt_rows[] = {
#include "autocast/runtimes/tensorrt.inc"
};
static const struct kernel_row openvino_rows[] = {
#include "autocast/runtimes/openvino.inc"
};

#undef F32
#undef F16
#undef BF16

static const struct table {
    const char *name;
    const struct kernel_row *rows;
    size_t n_rows;
    bool casts_float16;
} tables[] = {{"ort-cpu", ort_cpu_rows, AMP_COUNT(ort_cpu_rows), true},
              {"ort-cuda", ort_cuda_rows, AMP_COUNT(ort_cuda_rows), false},
              {"tensorrt", tensorrt_rows, AMP_COUNT(tensorrt_rows), false},
              {"openvino", openvino_rows, AMP_COUNT(openvino_rows), false}};

/* The dtypes that the rows of SCHEMA's operator and version hold for VARIABLE, or all where they
   hold only others; -1: there is no such row. */
static int64_t floats_of(const struct table *table, const struct amp_schema *schema,
                         const char *variable)
{
    int64_t floats = -1;
    for (const struct kernel_row *row = table->rows; row < table->rows + table->n_rows; row++) {
        if (strcmp(row->domain, schema->domain) != 0 || strcmp(row->op, schema->name) != 0 ||
            schema->since_version < row->from || schema->since_version > row->to)
            continue;
        bool is_meant =
            row->variable == NULL || (variable != NULL && strcmp(row->variable, variable) == 0);
        if (is_meant || floats < 0)
            floats = is_meant ? row->floats : UINT32_MAX;
    }
    return floats;
}

static bool has_body(const struct amp_schema *schema)
{
    for (size_t i = 0; i < schema->n_attrs; i++)
        if (schema->attrs[i].type == AMP_ATTR_GRAPH)
            return true;
    return false;
}

static void expect_kernels(const struct table *table, const struct amp_schema *schema,
                           const char *variable)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16};
    const struct amp_runtime *runtime = amp_runtime_find(table->name);
    int64_t floats = floats_of(table, schema, variable);
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        bool is_cast = table->casts_float16 && dtypes[i] == AMP_FLOAT16 && !has_body(schema);
        bool is_there = floats >= 0 ? (floats & AMP_DTYPE_BIT(dtypes[i])) != 0 ||
                                          (is_cast && (floats & AMP_DTYPE_BIT(AMP_FLOAT)) != 0)
                                    : is_cast && schema->has_function;
        if (amp_runtime_has(runtime, schema, variable, dtypes[i]) != is_there)
            fail_msg("%s: %s-%d, %s, %s", table->name, schema->name, schema->since_version,
                     variable == NULL ? "no variable" : variable, amp_dtype_name(dtypes[i]));
    }
}

/* Of every definition, of each of its type variables, of none and of one that it has not. */
static void runtimes_have_what_their_tables_say(void **state)
{
    const struct amp_schema *schema;
    (void)state;
    for (size_t k = 0; k < AMP_COUNT(tables); k++)
        for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++) {
            expect_kernels(&tables[k], schema, NULL);
            expect_kernels(&tables[k], schema, "Nobody");
            for (size_t t = 0; t < schema->n_types; t++)
                if (schema->types[t].name != NULL)
                    expect_kernels(&tables[k], schema, schema->types[t].name);
        }
}

/* ---- what inputs promote to ---- */

/* A state that a recurrent layer is given counts as a tensor, of one element as well, and the
   weights and lengths count not at all. */
static void a_state_of_one_element_is_a_tensor(void **state)
{
    static const float weights[12] = {1, 2, 3};
    for (int has_state = 0; has_state < 2; has_state++) {
        struct amp_assign_options options = lowering(*state, "Relu", AMP_BFLOAT16);
        struct amp_assignment assignment;
        net_start(22);
        net.model->producer = "pytorch";
        uint32_t x = NODE("Relu", "x", input("given", AMP_FLOAT, DIMS(3, 1, 4)));
        uint32_t first = input("first", AMP_FLOAT, DIMS(1, 1, 1));
        uint32_t w = constant("w", AMP_FLOAT, DIMS(1, 3, 4), weights);
        uint32_t r = constant("r", AMP_FLOAT, DIMS(1, 3, 1), weights);
        uint32_t y = NODE("GRU", "y", x, w, r, AMP_NONE, AMP_NONE, has_state ? first : AMP_NONE);
        set_int(y, "hidden_size", 1);
        amp_node_at(net.model, node_of(y))->name = "/layer/GRU";
        output(y);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_int_equal(assignment.values[x], AMP_BFLOAT16);
        assert_int_equal(assignment.nodes[node_of(y)].dtype, has_state ? AMP_FLOAT : AMP_BFLOAT16);
    }
}

/* ---- guards ---- */

static void operators_make_guards_of_their_constants(void **state)
{
    static const char *const bounds[] = {
        "Clip",           "Max",  "Min",         "Equal", "Greater",
        "GreaterOrEqual", "Less", "LessOrEqual", "Pad",   "Where"};
    static const char *const adds[] = {"Add", "Sub", "Sum"};
    static const char *const none[] = {"Mul", "Div", "MatMul", "Neg"};
    (void)state;
    struct amp_node node = {.domain = ""};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        node.op_type = bounds[i];
        assert_int_equal(amp_guard_use(&node), AMP_GUARD_BOUNDS);
    }
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        node.op_type = adds[i];
        assert_int_equal(amp_guard_use(&node), AMP_GUARD_ADDS);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        node.op_type = none[i];
        assert_int_equal(amp_guard_use(&node), AMP_GUARD_NONE);
    }
    node = (struct amp_node){.op_type = "Clip", .domain = "com.example"};
    assert_int_equal(amp_guard_use(&node), AMP_GUARD_NONE);
}

static void guards_are_huge_or_fit_their_use(void **state)
{
    static const enum amp_guard_use uses[] = {AMP_GUARD_NONE, AMP_GUARD_BOUNDS, AMP_GUARD_ADDS};
    (void)state;
    for (int values = 0; values < 4; values++)
        for (size_t i = 0; i < 3; i++) {
            bool is_huge = values & 1, is_mask = values & 2;
            bool wanted = i == 1 || is_huge || (i == 2 && is_mask);
            struct amp_guard_values found = {.is_huge = is_huge, .is_mask = is_mask};
            assert_int_equal(amp_guard_is(uses[i], found), wanted);
        }
}

enum { LONG = 3000, FAR = 2500 };

/* A vector of zeros but for VALUE at INDEX and, if it is not 0, OTHER at FAR. */
static struct amp_guard_values looked_at(size_t index, float value, float other)
{
    static float data[LONG];
    memset(data, 0, sizeof data);
    data[index] = value;
    data[FAR] = other != 0 ? other : data[FAR];
    struct amp_tensor tensor = {
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {LONG}}, .data = data};
    return amp_guard_values(&tensor, 65504);
}

static void masks_are_looked_at_to_their_end(void **state)
{
    static const size_t places[] = {0, 1023, 1024, LONG - 1};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_true(looked_at(places[i], -1e5f, 0).is_mask);
        assert_false(looked_at(places[i], -1e5f, 0).is_huge);
        assert_true(looked_at(places[i], -1e38f, 0).is_huge);
        assert_true(looked_at(places[i], -1e5f, 1).is_mask);
        assert_false(looked_at(places[i], -1e5f, 2).is_mask);
        assert_false(looked_at(places[i], -1e5f, -2e5f).is_mask);
        assert_false(looked_at(places[i], -1e38f, -1e5f).is_huge);
    }
}

static void nothing_but_guards_is_no_mask(void **state)
{
    float same[2] = {-1e5f, -1e5f}, infinite[3] = {-1.0f / 0.0f, 0, -1e5f},
          at_limit[2] = {65504, 0};
    struct amp_tensor tensor = {
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {2}}, .data = same};
    (void)state;
    assert_false(amp_guard_values(&tensor, 65504).is_mask);
    tensor.data = at_limit;
    assert_false(amp_guard_values(&tensor, 65504).is_mask);
    tensor.data = infinite;
    tensor.shape.dims[0] = 3;
    assert_true(amp_guard_values(&tensor, 65504).is_mask);
}

/* ---- inserting ---- */

static void an_output_that_is_given_out_twice_is_cast_once(void **state)
{
    struct amp_assign_options options = lowering(*state, "Relu", AMP_BFLOAT16);
    struct amp_assignment assignment;
    struct amp_inserted_casts casts = {.count = 0};
    net_start(22);
    uint32_t y = NODE("Relu", "y", input("x", AMP_FLOAT, DIMS(4)));
    output(y);
    output(y);
    infer_all();
    assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
    assert_int_equal(amp_cast_insert(net.model, &assignment, true, &casts, &net.err), AMP_OK);
    assert_int_equal(casts.count, 2);
    assert_dump("ir 10, opset 22\n"
                "input x float32 [4]\n"
                "node Cast-21 'Cast/x_bf16' (x) -> x_bf16 bfloat16 [4] to=16\n"
                "node Relu-14 (x_bf16) -> y_bf16 bfloat16 [4]\n"
                "node Cast-21 'Cast/y_fp32' (y_bf16) -> y float32 [4] to=1\n"
                "output y float32 [4]\n"
                "output y float32 [4]\n");
}

/* ---- sequences ---- */

/* A SplitToSequence of bfloat16 becomes a Split where its pieces, and which of them is taken, are
   known: lengths as SplitToSequence-11 has them, positions as SequenceAt-11. */
static void sequences_of_known_pieces_become_splits(void **state)
{
    enum { NONE = -1, UNKNOWN = -1 };
    static const struct {
        int rank;
        int64_t dims[2], axis;
        int n_split; /* NONE: no input; 0: a number */
        int64_t split[3], keepdims, at;
        const char *becomes; /* the SequenceAt; NULL: it stays */
        int64_t piece;       /* its length */
    } rows[] = {
        {2, {2, 5}, 1, NONE, {0}, 1, 0, "Identity", 1},
        {2, {2, 5}, 1, NONE, {0}, 1, 4, "Identity", 1},
        {2, {2, 5}, 1, NONE, {0}, 1, 5, NULL, 0},
        {2, {2, 5}, 1, NONE, {0}, 1, -5, "Identity", 1},
        {2, {2, 5}, 1, NONE, {0}, 1, -6, NULL, 0},
        {2, {2, 5}, 1, NONE, {0}, 0, 4, "Squeeze", 1},
        {2, {2, 5}, -1, NONE, {0}, 1, 4, "Identity", 1},
        {2, {2, 5}, -2, NONE, {0}, 1, 1, "Identity", 1},
        {2, {2, 5}, -2, NONE, {0}, 1, 2, NULL, 0},
        {2, {2, 5}, 0, NONE, {0}, 0, 1, "Squeeze", 1},
        {1, {5}, 0, NONE, {0}, 1, 4, "Identity", 1},
        {2, {2, 5}, 1, 0, {1}, 0, 4, "Squeeze", 1},  /* as onnx/schema/slices.h has it */
        {2, {2, 6}, 1, 0, {2}, 0, 2, "Identity", 2}, /* keepdims counts without lengths */
        {2, {2, 5}, 1, 0, {2}, 1, 0, "Identity", 2},
        {2, {2, 5}, 1, 0, {2}, 1, 2, "Identity", 1},
        {2, {2, 5}, 1, 0, {2}, 1, 3, NULL, 0},
        {2, {2, 5}, 1, 0, {2}, 1, -3, "Identity", 2},
        {2, {2, 5}, 1, 0, {5}, 1, 0, "Identity", 5},
        {2, {2, 6}, 1, 0, {3}, 1, 1, "Identity", 3},
        {2, {2, 6}, 1, 0, {3}, 1, 2, NULL, 0},
        {2, {2, 5}, 1, 1, {5}, 1, 0, "Identity", 5},
        {2, {2, 5}, 1, 2, {2, 3}, 1, 1, "Identity", 3},
        {2, {2, 5}, 1, 2, {2, 3}, 1, 2, NULL, 0},
        {2, {2, 5}, 1, 2, {1, 4}, 0, 0, "Identity", 1},
        {2, {2, 5}, 1, 3, {0, 5, 0}, 1, 1, "Identity", 5},
        {2, {2, UNKNOWN}, 1, 0, {2}, 1, 0, NULL, 0},
        {2, {2, 4096}, 1, NONE, {0}, 1, 4095, "Identity", 1},
        {2, {2, 4097}, 1, NONE, {0}, 1, 4096, NULL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_assign_options options = lowering(*state, "Relu", AMP_BFLOAT16);
        struct amp_assignment assignment;
        const char *obstacle = NULL;
        struct amp_shape shape = {rows[i].rank, {rows[i].dims[0], rows[i].dims[1]}};
        net_start(17);
        uint32_t a = NODE("Relu", "a", input("x", AMP_FLOAT, shape)), s;
        if (rows[i].n_split == NONE) {
            s = NODE("SplitToSequence", "s", a);
        } else {
            struct amp_shape listed = {rows[i].n_split > 0, {rows[i].n_split}};
            s = NODE("SplitToSequence", "s", a,
                     constant("split", AMP_INT64, listed, rows[i].split));
        }
        uint32_t at = constant("at", AMP_INT64, SCALAR, &rows[i].at);
        uint32_t piece = NODE("SequenceAt", "piece", s, at);
        set_int(s, "axis", rows[i].axis);
        set_int(s, "keepdims", rows[i].keepdims);
        output(NODE("Relu", "y", piece));
        infer_all();
        if (amp_settle(net.model, options, &assignment, &obstacle, &net.err) != AMP_OK)
            fail_msg("row %zu: %s", i, net.err.text);
        const struct amp_node *split = amp_node_at(net.model, 1),
                              *taken = amp_node_at(net.model, node_of(piece));
        const char *becomes = rows[i].becomes;
        if (strcmp(taken->op_type, becomes != NULL ? becomes : "SequenceAt") != 0 ||
            strcmp(split->op_type, becomes != NULL ? "Split" : "SplitToSequence") != 0)
            fail_msg("row %zu: %s, %s", i, split->op_type, taken->op_type);
        if (becomes == NULL)
            continue;
        const struct amp_value *from = amp_value_at(net.model, taken->inputs[0]);
        int64_t axis = rows[i].axis + (rows[i].axis < 0 ? rows[i].rank : 0);
        int64_t place = rows[i].at + (rows[i].at < 0 ? split->n_outputs : 0);
        assert_int_equal(split->outputs[place], taken->inputs[0]);
        assert_int_equal(from->dims[axis], rows[i].piece);
        assert_int_equal(amp_node_int(split, "axis", -1), axis);
        assert_int_equal(
            amp_tensor_int(amp_value_at(net.model, split->inputs[1])->constant, (size_t)place),
            rows[i].piece);
    }
}

/* Not where the sequence, or who takes it, is needed as it is. */
static void sequences_that_go_elsewhere_stay(void **state)
{
    enum { NO_MORE, COUNTED, GIVEN_OUT, UNKNOWN_PLACE, CASES };
    for (int i = 0; i < CASES; i++) {
        static const int64_t first = 0;
        struct amp_assign_options options = lowering(*state, "Relu", AMP_BFLOAT16);
        struct amp_assignment assignment;
        const char *obstacle = NULL;
        net_start(17);
        uint32_t a = NODE("Relu", "a", input("x", AMP_FLOAT, DIMS(2, 5)));
        uint32_t s = NODE("SplitToSequence", "s", a);
        uint32_t at = i == UNKNOWN_PLACE ? input("at", AMP_INT64, SCALAR)
                                         : constant("at", AMP_INT64, SCALAR, &first);
        output(NODE("Relu", "y", NODE("SequenceAt", "piece", s, at)));
        if (i == COUNTED)
            output(NODE("SequenceLength", "length", s));
        if (i == GIVEN_OUT)
            output(s);
        infer_all();
        if (amp_settle(net.model, options, &assignment, &obstacle, &net.err) != AMP_OK)
            fail_msg("%d: %s", i, net.err.text);
        assert_string_equal(amp_node_at(net.model, 1)->op_type,
                            i == NO_MORE ? "Split" : "SplitToSequence");
    }
}

/* ---- folding ---- */

/* ConstantOfShape gives bfloat16 since opset 20, float16 always. */
static void fills_are_made_in_dtypes_that_the_opset_has(void **state)
{
    static const struct {
        int opset;
        enum amp_dtype dtype;
        size_t n_removed;
    } cases[] = {
        {19, AMP_BFLOAT16, 0}, {20, AMP_BFLOAT16, 1}, {19, AMP_FLOAT16, 1}, {13, AMP_FLOAT16, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net_start(cases[i].opset);
        uint32_t fill = NODE("ConstantOfShape", "fill", input("shape", AMP_INT64, DIMS(2)));
        uint32_t cast = NODE("Cast", "cast", fill);
        set_int(cast, "to", cases[i].dtype);
        output(NODE("Neg", "y", cast));
        infer_all();
        assert_int_equal(amp_cast_fold(net.model, true, 0), cases[i].n_removed);
        assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    }
}

/* A body of node OWNER that gives out OP of VALUE. */
static void add_branch(uint32_t owner, const char *name, const char *op, uint32_t value)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    uint32_t node = net_node(graph, op, name, 1, IDS(value)), out = net_out(node, 0);
    if (strcmp(op, "Cast") == 0)
        amp_node_set_int(net.model, node, "to", AMP_FLOAT);
    amp_value_at(net.model, out)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, out);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
}

/* What a body gives out is a value of its own: an outer one cannot take the place of the cast. */
static void a_body_keeps_the_cast_that_it_gives_out(void **state)
{
    (void)state;
    net_start(22);
    uint32_t c = input("c", AMP_BOOL, SCALAR);
    uint32_t v = NODE("Neg", "v", input("x", AMP_FLOAT, DIMS(4)));
    uint32_t owner = net_node(0, "If", "y", 1, IDS(c));
    output(net_out(owner, 0));
    add_branch(owner, "then_branch", "Cast", v);
    add_branch(owner, "else_branch", "Neg", v);
    infer_all();
    assert_int_equal(amp_cast_fold(net.model, true, UINT32_MAX), 0);
    assert_int_equal(amp_cast_count(net.model), 1);
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    assert_string_equal(amp_value_at(net.model, v)->name, "v");
}

/* Sequences have the lower dtype where their operators take it, all that goes in are tensors and
   all that comes out are, in the same graph. */
static void sequences_are_lowered_between_tensors(void **state)
{
    enum {
        PLAIN,
        CUT,
        TWICE,
        IN_BFLOAT16,
        TO_UNKNOWN,
        GIVEN_OUT,
        LONGER,
        RENAMED,
        OPTIONAL,
        IN_A_BODY,
        OF_A_BODY,
        AS_INPUT,
        OF_UNKNOWN,
        CASES
    };
    for (int i = 0; i < CASES; i++) {
        struct amp_assignment assignment;
        struct amp_assign_options options =
            lowering(*state, "SequenceConstruct, SplitToSequence, ConcatFromSequence",
                     i == IN_BFLOAT16 ? AMP_BFLOAT16 : AMP_FLOAT16);
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 5));
        uint32_t s = i == CUT ? NODE("SplitToSequence", "s", x, AMP_NONE)
                              : NODE("SequenceConstruct", "s", x);
        if (i == OF_UNKNOWN) {
            s = NODE("Novel", "made", x);
            amp_value_at(net.model, s)->kind = AMP_KIND_SEQUENCE;
            amp_value_at(net.model, s)->dtype = AMP_FLOAT;
        }
        if (i == AS_INPUT) {
            s = input("given", AMP_FLOAT, DIMS(2, 5));
            amp_value_at(net.model, s)->kind = AMP_KIND_SEQUENCE;
        }
        if (i == OF_A_BODY) {
            uint32_t owner = net_node(0, "If", "chosen", 1, IDS(input("c", AMP_BOOL, SCALAR)));
            add_branch(owner, "then_branch", "SequenceConstruct", x);
            add_branch(owner, "else_branch", "SequenceConstruct", x);
            s = net_out(owner, 0);
        }
        uint32_t y = NODE("ConcatFromSequence", "y", s), other = AMP_NONE;
        set_int(y, "axis", 0);
        output(y);
        if (i == TWICE)
            output(NODE("SequenceAt", "z", s, input("at", AMP_INT64, SCALAR)));
        if (i == GIVEN_OUT)
            output(s);
        if (i == TO_UNKNOWN) {
            uint32_t novel = NODE("Novel", "novel", s);
            amp_value_at(net.model, novel)->dtype = AMP_FLOAT;
            output(novel);
        }
        if (i == LONGER)
            other = NODE("SequenceInsert", "other", s, x);
        if (i == RENAMED)
            other = NODE("Identity", "other", s);
        if (i == OPTIONAL)
            other = NODE("Optional", "other", s);
        if (other != AMP_NONE)
            output(other);
        if (i == IN_A_BODY) {
            uint32_t owner = net_node(0, "If", "z", 1, IDS(input("c", AMP_BOOL, SCALAR)));
            output(net_out(owner, 0));
            add_branch(owner, "then_branch", "SequenceLength", s);
            add_branch(owner, "else_branch", "SequenceLength", s);
        }
        infer_all();
        if (amp_assign(net.model, &options, &assignment, &net.err) != AMP_OK)
            fail_msg("%d: %s", i, net.err.text);
        enum amp_dtype dtype = i <= TWICE ? AMP_FLOAT16 : AMP_FLOAT;
        if (assignment.values[s] != dtype)
            fail_msg("%d: %s", i, amp_dtype_name(assignment.values[s]));
        assert_int_equal(assignment.nodes[node_of(y)].dtype, i <= TWICE ? dtype : AMP_UNDEFINED);
        assert_int_equal(assignment.nodes[node_of(y)].reason,
                         i <= TWICE ? AMP_REASON_UNLISTED : AMP_REASON_NOT_TENSOR);
        if (other != AMP_NONE)
            assert_int_equal(assignment.values[other], AMP_FLOAT);
    }
}

/* ---- fold ------------------------------------------------------------------------------------ */

/* Folding casts whose first of a kind goes away while others were to stand on it: graphs before, as
   text after. */

struct fold {
    struct amp_arena *arena;
    struct amp_model *model;
};

static int begin_fold(void **state)
{
    struct fold *f = calloc(1, sizeof *f);
    f->arena = amp_arena_create();
    f->model = amp_model_create(f->arena, "test.onnx");
    amp_graph_add(f->model, "main", AMP_NONE);
    *state = f;
    return 0;
}

static int end_fold(void **state)
{
    struct fold *f = *state;
    amp_arena_destroy(f->arena);
    free(f);
    return 0;
}

static uint32_t fold_value(struct fold *f, const char *name, enum amp_dtype dtype)
{
    uint32_t id = amp_graph_add_value(f->model, 0, name);
    amp_value_at(f->model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(f->model, id)->dtype = dtype;
    return id;
}

static uint32_t fold_input(struct fold *f, const char *name, enum amp_dtype dtype)
{
    uint32_t id = fold_value(f, name, dtype);
    amp_value_at(f->model, id)->is_input = true;
    amp_ids_push(f->model, &f->model->graphs[0].inputs, id);
    return id;
}

static void fold_output(struct fold *f, uint32_t id)
{
    amp_value_at(f->model, id)->is_output = true;
    amp_ids_push(f->model, &f->model->graphs[0].outputs, id);
}

/* A node of one input and one output NAME; the output's id. */
static uint32_t fold_node(struct fold *f, const char *op_type, uint32_t from, const char *name,
                          enum amp_dtype dtype)
{
    uint32_t to = fold_value(f, name, dtype);
    uint32_t id = amp_graph_add_node(f->model, 0, op_type, 1, 1);
    amp_node_at(f->model, id)->inputs[0] = from;
    amp_node_set_output(f->model, id, 0, to);
    return to;
}

static void assert_folds_to(struct fold *f, size_t n_removed, const char *expected)
{
    char *text = NULL;
    size_t size;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_cast_fold(f->model, true, UINT32_MAX), n_removed);
    FILE *file = open_memstream(&text, &size);
    amp_model_dump(file, f->model, NULL, NULL);
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(amp_graph_check(f->model, &err), AMP_OK);
    free(text);
}

/* The first cast of x to float32 has been skipped by its consumer when the next one comes. */
static void a_skipped_cast_stands_for_no_other(void **state)
{
    struct fold *f = *state;
    uint32_t x = fold_input(f, "x", AMP_BFLOAT16);
    uint32_t wide = fold_node(f, "Cast", x, "wide", AMP_FLOAT);
    uint32_t back = fold_node(f, "Cast", wide, "back", AMP_BFLOAT16);
    uint32_t again = fold_node(f, "Cast", x, "again", AMP_FLOAT);
    fold_output(f, fold_node(f, "Neg", back, "lower", AMP_BFLOAT16));
    fold_output(f, fold_node(f, "Neg", again, "higher", AMP_FLOAT));
    assert_folds_to(f, 2,
                    "ir 0\n"
                    "input x bfloat16\n"
                    "node Cast (x) -> again float32\n"
                    "node Neg (x) -> lower bfloat16\n"
                    "node Neg (again) -> higher float32\n"
                    "output lower bfloat16\n"
                    "output higher float32\n");
}

/* The second cast is to be replaced by the first, whose own consumer skips it before that. */
static void a_cast_stays_while_others_stand_on_it(void **state)
{
    struct fold *f = *state;
    uint32_t x = fold_input(f, "x", AMP_BFLOAT16);
    uint32_t wide = fold_node(f, "Cast", x, "wide", AMP_FLOAT);
    uint32_t again = fold_node(f, "Cast", x, "again", AMP_FLOAT);
    uint32_t back = fold_node(f, "Cast", wide, "back", AMP_BFLOAT16);
    fold_output(f, fold_node(f, "Neg", back, "lower", AMP_BFLOAT16));
    fold_output(f, fold_node(f, "Neg", again, "higher", AMP_FLOAT));
    assert_folds_to(f, 2,
                    "ir 0\n"
                    "input x bfloat16\n"
                    "node Cast (x) -> wide float32\n"
                    "node Neg (x) -> lower bfloat16\n"
                    "node Neg (wide) -> higher float32\n"
                    "output lower bfloat16\n"
                    "output higher float32\n");
}

/* A graph output keeps its own cast, so that the first one is of no use in the end. */
static void a_cast_goes_when_nothing_came_to_stand_on_it(void **state)
{
    struct fold *f = *state;
    uint32_t x = fold_input(f, "x", AMP_BFLOAT16);
    uint32_t wide = fold_node(f, "Cast", x, "wide", AMP_FLOAT);
    fold_output(f, fold_node(f, "Cast", x, "y", AMP_FLOAT));
    uint32_t back = fold_node(f, "Cast", wide, "back", AMP_BFLOAT16);
    fold_output(f, fold_node(f, "Neg", back, "lower", AMP_BFLOAT16));
    assert_folds_to(f, 2,
                    "ir 0\n"
                    "input x bfloat16\n"
                    "node Cast (x) -> y float32\n"
                    "node Neg (x) -> lower bfloat16\n"
                    "output y float32\n"
                    "output lower bfloat16\n");
}

/* One that another cast gave out keeps that name. */
static void what_is_given_out_twice_keeps_its_name(void **state)
{
    struct fold *f = *state;
    uint32_t x = fold_input(f, "x", AMP_FLOAT);
    uint32_t n = fold_node(f, "Neg", x, "n", AMP_FLOAT);
    fold_output(f, fold_node(f, "Cast", n, "y", AMP_FLOAT));
    fold_output(f, fold_node(f, "Cast", n, "z", AMP_FLOAT));
    fold_output(f, fold_node(f, "Cast", x, "w", AMP_FLOAT));
    assert_folds_to(f, 1,
                    "ir 0\n"
                    "input x float32\n"
                    "node Neg (x) -> y float32\n"
                    "node Cast (y) -> z float32\n"
                    "node Cast (x) -> w float32\n"
                    "output y float32\n"
                    "output z float32\n"
                    "output w float32\n");
}

/* ---- what exporters note --------------------------------------------------------------------- */

/* Notes that the node of VALUE is for a call of OP as the exporter for torch.export writes it. */
static void note(uint32_t value, const char *name, const char *op, const char *args)
{
    char text[256];
    snprintf(text, sizeof text,
             "%%%s : [num_users=1] = call_function[target=torch.ops.%s](args = (%s), kwargs = {})",
             name, op, args);
    amp_node_at(net.model, node_of(value))->note.fx_node = amp_arena_strdup(net.arena, text);
}

static bool is_text(struct amp_str str, const char *text)
{
    return str.size == strlen(text) && (str.size == 0 || memcmp(str.data, text, str.size) == 0);
}

static void notes_have_operator_overload_and_arguments(void **state)
{
    static const struct {
        const char *note, *aten, *op, *overload, *args;
        bool asks_float32;
    } notes[] = {
        {"%mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%a, 2))",
         "mul", "mul", "Tensor", "%a, 2))", false},
        {"%m : [] = call_function[target=torch.ops.aten.mm](args = (%a))", "mm", "mm", "", "%a))",
         false},
        {"%r = call_function[target=torch.ops.prims.rsqrt.default](args = ())", "", "rsqrt",
         "default", "))", false},
        {"%s = call_function[target=torch.ops.aten.softmax.int](args = (%x, -1, torch.float32))",
         "softmax", "softmax", "int", "%x, -1, torch.float32))", true},
        {"%torch.float32 = call_function[target=torch.ops.aten.add.Tensor]", "add", "add", "Tensor",
         "", false},
        {"%x : placeholder", "", "", "", "", false},
        {NULL, "", "", "", "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        struct amp_node node = {.note = {.fx_node = notes[i].note}};
        struct amp_str op, overload, args;
        amp_note_call(&node, &op, &overload, &args);
        assert_true(is_text(amp_note_aten(&node), notes[i].aten));
        assert_true(is_text(op, notes[i].op));
        assert_true(is_text(overload, notes[i].overload));
        assert_true(is_text(args, notes[i].args));
        assert_int_equal(amp_note_asks_float32(&node), notes[i].asks_float32);
    }
}

static void the_last_line_of_a_trace_made_the_node(void **state)
{
    static const struct {
        const char *trace, *line;
    } traces[] = {
        {"File \"m.py\", line 7\n    return F.l1_loss(a, b)", "    return F.l1_loss(a, b)"},
        {"File \"m.py\", line 7\n    a.exp()\n \n", "    a.exp()\n \n"},
        {"File\nx", "x"},
        {"x", NULL},
        {"\nx", "x"},
        {"x\n\n", NULL},
        {" \n ", NULL},
        {"", NULL},
        {NULL, NULL}};
    static const struct {
        const char *line, *name;
        bool is_call;
    } calls[] = {{"    return F.l1_loss(a, b)", "l1_loss", true},
                 {"l1_loss(a, b)", "l1_loss", true},
                 {"smooth_l1_loss(a)", "l1_loss", false},
                 {"xl1_loss(a) + l1_loss(b)", "l1_loss", true},
                 {"9l1_loss(a)", "l1_loss", false},
                 {"l1_loss (a)", "l1_loss", false},
                 {"l1_losses(a)", "l1_loss", false},
                 {"l1_los(a)", "l1_loss", false},
                 {"torch.linalg.vecdot(a, b)", "linalg_vecdot", true},
                 {"torch.linalg_vecdot(a, b)", "linalg_vecdot", true},
                 {"linalg_vecdot(a, b)", "linalg.vecdot", false},
                 {"l1_loss", "l1_loss", false},
                 {"", "l1_loss", false}};
    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        const struct amp_node node = {.note = {.stack_trace = traces[i].trace}};
        const char *line = amp_note_line(&node);
        if (traces[i].line == NULL)
            assert_null(line);
        else
            assert_string_equal(line, traces[i].line);
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (amp_line_calls(calls[i].line, (struct amp_str){calls[i].name, strlen(calls[i].name)}) !=
            calls[i].is_call)
            fail_msg("'%s' in '%s'", calls[i].name, calls[i].line);
}

/* A constant is what an operator's result was named, where a rule for all nodes lowers that. */
static void folded_constants_are_of_lowered_operators(void **state)
{
    static const struct {
        const char *name;
        bool is_folded;
    } constants[] = {{"linear", true},       {"linear_1", true},  {"linear_25", true},
                     {"linear_", false},     {"linear1", false},  {"linear_1_2", false},
                     {"head.linear", false}, {"linear.1", false}, {"softmax", false},
                     {"softmax_1", false},   {"bmm_3", true},     {"mm", false},
                     {"_1", false},          {"other", false},    {"1", false},
                     {"conv2d_1", true},     {"conv2d", true}};
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n"
                   "  - {precision: fp32, ops: [linear, softmax]}\n"
                   "  - {precision: lower, ops: [mm, linear, bmm, conv2d]}\n"
                   "  - {precision: fp32, ops: [mm]}\n");
    enum { BY_TORCH, BY_OTHERS, BY_NOBODY, OF_INTEGERS, CASES };
    for (int i = 0; i < CASES; i++) {
        uint32_t ids[sizeof constants / sizeof *constants];
        net_start(17);
        net.model->producer = i == BY_OTHERS ? "tf2onnx" : i == BY_NOBODY ? NULL : "pytorch";
        for (size_t k = 0; k < sizeof constants / sizeof *constants; k++)
            ids[k] =
                i == OF_INTEGERS ? NUMBERS(constants[k].name, 1) : FLOATS(constants[k].name, 1);
        uint32_t data = input("linear_9", AMP_FLOAT, DIMS(1));
        bool *folded = amp_folded_find(net.model, f->rules);
        for (size_t k = 0; k < sizeof constants / sizeof *constants; k++)
            if (folded[ids[k]] != (i == BY_TORCH && constants[k].is_folded))
                fail_msg("'%s'", constants[k].name);
        assert_false(folded[data]);
        free(folded);
    }
}

/* Modules of recurrent layers by their names: with an operator that is one, or a product with a
   parameter of a cell. */
static void recurrent_layers_have_their_names(void **state)
{
    enum { BY_TORCH, BY_OTHERS, NOTED, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        net_start(17);
        net.model->producer = i == BY_OTHERS ? "tf2onnx" : "pytorch";
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2)), w[3];
        static const char *const weights[] = {"cell.weight_ih", "cell.weight_hh",
                                              "cell.weight_ih2"};
        static const float data[4];
        for (int k = 0; k < 3; k++)
            w[k] = constant(weights[k], AMP_FLOAT, DIMS(2, 2), data);
        const struct {
            uint32_t value;
            const char *name, *scope;
        } nodes[] = {{NODE("MatMul", "a", x, w[0]), "/a/cell/MatMul", "/a/cell/"},
                     {NODE("Add", "b", x, x), "/a/cell/Add", "/a/cell/"},
                     {NODE("MatMul", "c", x, w[1]), "/b/Gemm", "/b/"},
                     {NODE("Tanh", "d", x), "/b/Tanh", "/b/"},
                     {NODE("Tanh", "e", x), "/b/c/Tanh", ""},
                     {NODE("MatMul", "f", x, w[2]), "/d/MatMul", ""},
                     {NODE("MatMul", "g", w[0], x), "/e/MatMul", ""},
                     {NODE("RNN", "h", x), "/f/RNN", "/f/"},
                     {NODE("Tanh", "i", x), "/f/Tanh", "/f/"},
                     {NODE("MatMul", "j", x, w[0]), "g/MatMul", ""},
                     {NODE("MatMul", "k", x, w[0]), "", ""},
                     {NODE("MatMul", "l", x, w[0]), "/MatMul", "/"}};
        for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++)
            amp_node_at(net.model, node_of(nodes[k].value))->name = nodes[k].name;
        if (i == NOTED)
            note(nodes[4].value, "tanh", "aten.tanh.default", "%x");
        struct amp_str *scopes = amp_recurrent_scopes_find(net.model);
        for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++)
            if (!is_text(scopes[node_of(nodes[k].value)], i == BY_TORCH ? nodes[k].scope : ""))
                fail_msg("'%s'", nodes[k].name);
        free(scopes);
    }
}

/* Where nodes are noted, the class says it; nodes of an optimizer are in the scope of the next. */
static void recurrent_layers_are_noted(void **state)
{
    static const char cell[] = "m: M/cell: torch.nn.modules.rnn.GRUCell/x: X";
    static const char linear[] = "m: M/head: torch.nn.modules.linear.Linear";
    static const struct {
        const char *scope;
        bool is_noted;
        const char *expected;
    } nodes[] = {{NULL, false, "m: M/cell: torch.nn.modules.rnn.GRUCell"},
                 {cell, true, "m: M/cell: torch.nn.modules.rnn.GRUCell"},
                 {linear, true, ""},
                 {cell, false, ""}, /* of the next, as it has no note */
                 {NULL, false, ""},
                 {NULL, true, ""},
                 {cell, true, "m: M/cell: torch.nn.modules.rnn.GRUCell"},
                 {cell, false, ""}};
    (void)state;
    uint32_t values[sizeof nodes / sizeof *nodes];
    net_start(17);
    net.model->producer = "pytorch";
    uint32_t x = input("x", AMP_FLOAT, DIMS(2));
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        values[i] = NODE("Tanh", "y", x);
        if (nodes[i].is_noted)
            note(values[i], "tanh", "aten.tanh.default", "%x");
        amp_node_at(net.model, node_of(values[i]))->note.scope = nodes[i].scope;
    }
    struct amp_str *scopes = amp_recurrent_scopes_find(net.model);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        assert_true(is_text(scopes[node_of(values[i])], nodes[i].expected));
    free(scopes);
}

/* ---- what was one operator in PyTorch -------------------------------------------------------- */

/* margin_ranking_loss as the exporter for torch.export takes it apart (rules/pytorch.map). */
struct loss {
    uint32_t t, before, sub, neg, mul, add, clip, mean;
};

static struct loss margin_ranking(const char *reduction)
{
    struct loss loss;
    net_start(17);
    net.model->producer = "pytorch";
    uint32_t a = input("a", AMP_FLOAT, DIMS(4)), b = input("b", AMP_FLOAT, DIMS(4));
    loss.t = input("t", AMP_FLOAT, DIMS(4));
    loss.before = NODE("Neg", "before", loss.t);
    loss.sub = NODE("Sub", "sub", a, b);
    loss.neg = NODE("Neg", "neg", loss.t);
    loss.mul = NODE("Mul", "mul", loss.neg, loss.sub);
    loss.add = NODE("Add", "add", loss.mul, FLOATS("margin", 1));
    loss.clip = NODE("Max", "clip", loss.add, FLOATS("zero", 0));
    loss.mean = NODE("ReduceMean", "mean", loss.clip);
    note(loss.sub, "sub", "aten.sub.Tensor", "%a, %b");
    note(loss.neg, "neg", "aten.neg.default", "%t");
    note(loss.mul, "mul", "aten.mul.Tensor", "%neg, %sub");
    note(loss.add, "add", "aten.add.Scalar", "%mul, 1");
    note(loss.clip, "clamp_min", "aten.clamp_min.Tensor", "%add, %zero");
    note(loss.mean, "mean", reduction, "%clamp_min");
    output(loss.before);
    output(loss.mean);
    return loss;
}

/* How many nodes the whole has that VALUE is part of, where it is the loss; 0: it is not. */
static size_t loss_size(struct fixture *f, uint32_t value)
{
    infer_all();
    const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
    const struct amp_whole *whole = amp_wholes_of(wholes, node_of(value));
    if (whole == NULL || strcmp(whole->name, "margin_ranking_loss") != 0)
        return 0;
    for (size_t i = 0; i < whole->n_nodes; i++)
        assert_ptr_equal(amp_wholes_of(wholes, whole->nodes[i]), whole);
    assert_null(whole->composite);
    assert_int_equal(whole->root, whole->nodes[whole->n_nodes - 1]);
    return whole->n_nodes;
}

static void load_loss_rules(struct fixture *f)
{
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [margin_ranking_loss]}\n");
}

/* The operators that the function becomes, of which some may be missing, with their overloads. */
static void functions_are_known_by_what_they_become(void **state)
{
    struct fixture *f = *state;
    load_loss_rules(f);
    assert_int_equal(loss_size(f, margin_ranking("aten.mean.default").sub), 6);
    assert_int_equal(loss_size(f, margin_ranking("aten.mean.default").mean), 6);
    assert_int_equal(loss_size(f, margin_ranking("aten.mean.default").before), 0);
    assert_int_equal(loss_size(f, margin_ranking("aten.sum.dim_IntList").mean), 6);
    assert_int_equal(loss_size(f, margin_ranking("aten.prod.default").mean), 0);
    assert_int_equal(loss_size(f, margin_ranking("aten.prod.default").clip), 5);
    assert_int_equal(loss_size(f, margin_ranking("aten.means.default").clip), 5);
    assert_int_equal(loss_size(f, margin_ranking("aten.mea.default").clip), 5);
    struct loss loss = margin_ranking("aten.mean.default");
    note(loss.mul, "mul", "aten.mul.Scalar", "%neg, %sub");
    assert_int_equal(loss_size(f, loss.mul), 0);
    loss = margin_ranking("aten.mean.default");
    note(loss.mul, "mul", "aten.mul.Tensor", "%t, %sub"); /* the item says %neg */
    assert_int_equal(loss_size(f, loss.mul), 0);
    loss = margin_ranking("aten.mean.default");
    note(loss.clip, "relu", "aten.relu.default", "%add");
    assert_int_equal(loss_size(f, loss.mul), 0);
    loss = margin_ranking("aten.mean.default");
    note(loss.add, "add", "aten.add.Tensor", "%mul, %a"); /* neither missing nor this */
    assert_int_equal(loss_size(f, loss.mul), 0);
    loss = margin_ranking("aten.mean.default");
    amp_node_at(net.model, node_of(loss.add))->note.fx_node = NULL;
    assert_int_equal(loss_size(f, loss.mul), 1); /* each for itself, with another between */
    assert_int_equal(loss_size(f, loss.mean), 1);
    assert_int_equal(loss_size(f, loss.add), 0);
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [softmax]}\n");
    assert_int_equal(loss_size(f, margin_ranking("aten.mean.default").sub), 0);
}

/* Constants may be between the calls, and belong to them. */
static void constants_stand_between_the_parts(void **state)
{
    static const char *const constants[] = {"aten.full.default", "aten.scalar_tensor.default",
                                            "aten.zeros_like.default"};
    struct fixture *f = *state;
    load_loss_rules(f);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        for (int k = 0; k < 2; k++) {
            struct loss loss = margin_ranking("aten.mean.default");
            uint32_t made = NODE("Identity", "made", FLOATS("one", 1));
            struct amp_ids *nodes = &net.model->graphs[0].nodes;
            size_t last = nodes->count - 1, to = k == 0 ? 4 : 1; /* behind Mul, or before Sub */
            memmove(&nodes->items[to + 1], &nodes->items[to], (last - to) * sizeof *nodes->items);
            nodes->items[to] = node_of(made);
            note(made, "made", constants[i], "1");
            assert_int_equal(loss_size(f, loss.mean), k == 0 ? 7 : 6);
            note(made, "made", "aten.exp.default", "1");
            assert_int_equal(loss_size(f, loss.mean), k == 0 ? 0 : 6);
        }
}

/* Nobody else takes what the parts give, and they take no other call's for their own. */
static void parts_of_a_function_are_among_themselves(void **state)
{
    enum { OUTPUT, NODE_BEHIND, CAST_BEHIND, NOTED_CAST, CAST_INSIDE, CASES };
    struct fixture *f = *state;
    load_loss_rules(f);
    for (int i = 0; i < CASES; i++)
        for (int k = 0; k < 3; k++) {
            struct loss loss = margin_ranking("aten.mean.default");
            uint32_t from = k == 0 ? loss.sub : k == 1 ? loss.add : loss.mean, other;
            if (i == OUTPUT) {
                output(k == 2 ? loss.t : from);
            } else if (i == NODE_BEHIND) {
                output(NODE("Neg", "other", from));
            } else {
                other = NODE("Cast", "other", from);
                set_int(other, "to", i == CAST_INSIDE ? AMP_FLOAT : AMP_DOUBLE);
                if (i == NOTED_CAST)
                    note(other, "to", "aten._to_copy.default", "%x");
                struct amp_ids *nodes = &net.model->graphs[0].nodes;
                if (i == CAST_INSIDE && k < 2) {
                    uint32_t user = node_of(k == 0 ? loss.mul : loss.clip);
                    size_t at = nodes->count - 1;
                    for (; nodes->items[at - 1] != user; at--)
                        nodes->items[at] = nodes->items[at - 1];
                    nodes->items[at] = user;
                    nodes->items[at - 1] = node_of(other);
                    amp_node_at(net.model, user)->inputs[k == 0 ? 1 : 0] = other;
                } else {
                    output(NODE("Neg", "last", other));
                }
            }
            size_t size = k == 2 ? 6 : i == CAST_INSIDE ? 1 : 0; /* 1: each for itself */
            assert_int_equal(loss_size(f, loss.mul), size);
        }
    struct loss loss = margin_ranking("aten.mean.default");
    amp_node_at(net.model, node_of(loss.mul))->inputs[0] = loss.before;
    assert_int_equal(loss_size(f, loss.mul), 6); /* of what was folded */
    note(loss.before, "neg", "aten.neg.default", "%t");
    assert_int_equal(loss_size(f, loss.mul), 0);
    note(loss.before, "neg", "aten.full.default", "%t");
    assert_int_equal(loss_size(f, loss.mul), 6);
    note(loss.before, "other", "aten.neg.default", "%t");
    assert_int_equal(loss_size(f, loss.mul), 6);
}

/* They have one line, or none, which does not write them out. */
static void parts_of_a_function_are_of_one_line(void **state)
{
    static const char unnamed[] = "File \"m.py\"\n    return self.loss(a, b, t)";
    static const char other[] = "File \"m.py\"\n    return self.other(a, b, t)";
    static const char written[] = "File \"m.py\"\n    return (a - b).neg().mul(t)";
    static const char named[] = "File \"m.py\"\n    return torch.sum(a) + clip(b)";
    struct fixture *f = *state;
    load_loss_rules(f);
    for (int i = 0; i < 6; i++) {
        struct loss loss = margin_ranking("aten.mean.default");
        const uint32_t values[] = {loss.sub, loss.neg, loss.mul, loss.add, loss.clip, loss.mean};
        for (size_t k = 0; k < 6; k++) {
            const char *trace = i == 0 ? unnamed : i == 1 ? written : i == 2 ? named : unnamed;
            if ((i == 3 && k == 2) || (i == 4 && k == 5) || (i == 5 && k == 0))
                trace = i == 3 ? other : NULL;
            amp_node_at(net.model, node_of(values[k]))->note.stack_trace =
                trace != NULL ? amp_arena_strdup(net.arena, trace) : NULL;
        }
        assert_int_equal(loss_size(f, loss.mul), i == 0 || i == 2 ? 6 : 0);
    }
}

/* Nodes of one call, one behind the other, are one; where its parts are needed before its end, each
   is one for itself. */
static void a_call_is_one_whole(void **state)
{
    enum { PLAIN, USED_BETWEEN, USED_BEHIND, INTERRUPTED, WITH_UNNOTED, CASES };
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [norm]}\n");
    for (int i = 0; i < CASES; i++) {
        net_start(17);
        net.model->producer = "pytorch";
        uint32_t x = input("x", AMP_FLOAT, DIMS(4)), a = NODE("Exp", "a", x), between = AMP_NONE;
        if (i == USED_BETWEEN || i == INTERRUPTED || i == WITH_UNNOTED)
            between = NODE("Neg", "between", i == USED_BETWEEN ? a : x);
        uint32_t b = NODE("Log", "b", a);
        output(b);
        if (i == USED_BEHIND)
            between = NODE("Neg", "between", a);
        if (between != AMP_NONE)
            output(between);
        note(a, "call", "aten.norm.Scalar", "%x, torch.float32");
        note(b, "call", "aten.norm.Scalar", "%x, torch.float32");
        if (i == INTERRUPTED)
            note(between, "other", "aten.neg.default", "%x");
        infer_all();
        const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
        const struct amp_whole *first = amp_wholes_of(wholes, node_of(a));
        const struct amp_whole *second = amp_wholes_of(wholes, node_of(b));
        bool is_one = i != USED_BETWEEN && i != INTERRUPTED;
        assert_non_null(first);
        assert_non_null(second);
        assert_int_equal(first == second, is_one);
        assert_int_equal(first->n_nodes, is_one ? 2 : 1);
        assert_string_equal(first->name, "norm");
        assert_string_equal(second->name, "norm");
        assert_true(first->asks_float32 && second->asks_float32);
        assert_int_equal(first->root, node_of(is_one ? b : a));
        if (between != AMP_NONE)
            assert_int_equal(amp_wholes_of(wholes, node_of(between)) != NULL, i == INTERRUPTED);
    }
}

/* TorchScript writes a softmax that is asked for float32 as one whose result is converted to that,
   and nothing else. */
static void softmaxes_that_are_converted_ask_for_float32(void **state)
{
    enum {
        ONCE,
        TWICE,
        OTHER_USE,
        OUTPUT,
        OTHER_DTYPE,
        NO_USE,
        NOTED,
        NOTED_AS_NONE,
        IN_A_MODULE,
        REMOVED,
        NO_OUTPUT,
        BY_OTHERS,
        OF_HALF,
        CASES
    };
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [softmax, GRUCell]}\n");
    for (int i = 0; i < CASES; i++)
        for (int is_log = 0; is_log < 2; is_log++) {
            net_start(17);
            net.model->producer = i == BY_OTHERS ? "tf2onnx" : "pytorch";
            uint32_t x = input("x", i == OF_HALF ? AMP_FLOAT16 : AMP_FLOAT, DIMS(2, 4));
            uint32_t y = NODE(is_log ? "LogSoftmax" : "Softmax", "y", x);
            for (int k = 0; k < (i == TWICE ? 2 : i == NO_USE ? 0 : 1); k++) {
                uint32_t cast = NODE("Cast", "cast", y);
                set_int(cast, "to", i == OTHER_DTYPE ? AMP_DOUBLE : AMP_FLOAT);
                output(cast);
            }
            if (i == OTHER_USE)
                output(NODE("Neg", "other", y));
            if (i == OUTPUT)
                output(y);
            if (i == NOTED)
                note(y, "softmax", "aten.softmax.int", "%x, -1");
            if (i == NOTED_AS_NONE)
                amp_node_at(net.model, node_of(y))->note.fx_node = "%x : placeholder";
            if (i == IN_A_MODULE)
                amp_node_at(net.model, node_of(y))->note.scope = "torch.nn.modules.rnn.GRUCell";
            infer_all();
            uint32_t id = node_of(y);
            if (i == REMOVED)
                amp_node_at(net.model, id)->is_removed = true;
            if (i == NO_OUTPUT)
                amp_node_at(net.model, id)->outputs[0] = AMP_NONE;
            const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
            const struct amp_whole *whole = amp_wholes_of(wholes, id);
            bool asks = i == ONCE || i == TWICE;
            assert_int_equal(whole != NULL && whole->asks_float32, asks);
            assert_int_equal(whole != NULL, asks || i == NOTED || i == IN_A_MODULE);
            if (!asks)
                continue;
            assert_string_equal(whole->name, is_log ? "log_softmax" : "softmax");
            assert_int_equal(whole->n_nodes, 1);
            assert_int_equal(whole->nodes[0], node_of(y));
            assert_int_equal(whole->root, node_of(y));
            assert_int_equal(whole->entry, node_of(y));
        }
}

/* A call is by its own name and by those that the table has for it, where their conditions hold. */
static void calls_have_the_names_of_the_table(void **state)
{
    static const struct {
        const char *op_type, *aten;
        int rank;
        const char *names, *composites;
    } calls[] = {{"Conv", "convolution", 4, "convolution conv2d ", ""},
                 {"Conv", "_convolution", 3, "_convolution conv1d ", ""},
                 {"ConvTranspose", "convolution", 5, "convolution conv_transpose3d ", ""},
                 {"Softmax", "softmax", 2, "softmax ", "Softmax "},
                 {"Softmax", "_softmax", 2, "softmax ", "Softmax "},
                 {"LogSoftmax", "special_log_softmax", 2, "log_softmax ", "LogSoftmax "},
                 {"ReduceL2", "linalg_vector_norm", 4, "norm frobenius_norm ", "norm "},
                 {"ReduceL1", "linalg_vector_norm", 4, "norm ", "norm "},
                 {"Neg", "nothing_of_the_table", 4, "", ""}};
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [softmax]}\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct amp_shape shape = {.rank = calls[i].rank};
        char text[64], names[128] = "", composites[128] = "";
        for (int d = 0; d < shape.rank; d++)
            shape.dims[d] = 3;
        net_start(17);
        net.model->producer = "pytorch";
        bool is_conv = strncmp(calls[i].op_type, "Conv", 4) == 0;
        uint32_t x = input("x", AMP_FLOAT, shape), y;
        if (is_conv)
            y = NODE(calls[i].op_type, "y", x, input("w", AMP_FLOAT, shape));
        else
            y = NODE(calls[i].op_type, "y", x);
        snprintf(text, sizeof text, "aten.%s.default", calls[i].aten);
        note(y, "call", text, "%x");
        output(y);
        infer_all();
        const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
        const struct amp_whole *whole = amp_wholes_of(wholes, node_of(y));
        assert_non_null(whole);
        assert_string_equal(whole->name, calls[i].aten);
        assert_true(whole->subject.is_noted);
        for (size_t k = 0; k < whole->subject.n_names; k++)
            strcat(strcat(names, whole->subject.names[k]), " ");
        for (size_t k = 0; k < whole->subject.n_composites; k++)
            strcat(strcat(composites, whole->subject.composites[k]), " ");
        assert_string_equal(names, calls[i].names);
        assert_string_equal(composites, calls[i].composites);
    }
}

/* ---- precisions by their surroundings -------------------------------------------------------- */

enum { GRAPH_NODES = 9 };

/* A graph whose nodes are called by what rules say of them, and that are here again as numbers. */
struct painted {
    enum amp_precision wanted[GRAPH_NODES];
    bool is_listed[GRAPH_NODES], is_cast[GRAPH_NODES];
    bool feeds[GRAPH_NODES][GRAPH_NODES]; /* the first gives the second a float */
};

static unsigned draw(uint64_t *seed, unsigned count)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % count;
}

static void make_painted(struct painted *p, uint64_t *seed)
{
    static const char *const names[] = {"deny", "allow", "infer", "clear", "other"};
    static const enum amp_precision precisions[] = {AMP_FP32, AMP_LOWER, AMP_INFER, AMP_CLEAR,
                                                    AMP_FP32};
    uint32_t outputs[GRAPH_NODES][2];
    *p = (struct painted){.wanted = {AMP_LOWER}};
    net_start(17);
    for (uint32_t i = 0; i < GRAPH_NODES; i++) {
        unsigned kind = draw(seed, 5);
        uint32_t inputs[2] = {AMP_NONE, AMP_NONE};
        p->is_cast[i] = kind > 2 && draw(seed, 3) == 0;
        for (int k = 0; k < 2 && i > 0; k++) {
            uint32_t from = draw(seed, i);
            bool is_float = draw(seed, 5) > 0;
            if (draw(seed, 4) == 0)
                continue;
            inputs[k] = outputs[from][is_float ? 0 : 1];
            p->feeds[from][i] |= is_float;
        }
        uint32_t id = net_node(0, p->is_cast[i] ? "Cast" : "Sum", "y", 2, inputs, 2);
        for (uint32_t k = 0; k < 2; k++) {
            outputs[i][k] = net_out(id, k);
            amp_value_at(net.model, outputs[i][k])->dtype = k == 0 ? AMP_FLOAT : AMP_INT64;
        }
        amp_node_at(net.model, id)->name = names[kind];
        p->wanted[i] = precisions[kind];
        p->is_listed[i] = kind < 4;
    }
}

/* Where the sets of nodes SET spreads to: to those of INTO that a node of it feeds (DOWN), or that
   feed one (UP), and on from there. */
static void spread(const struct painted *p, bool *set, const bool *into, bool up, bool down)
{
    for (int round = 0; round < GRAPH_NODES; round++)
        for (int a = 0; a < GRAPH_NODES; a++)
            for (int b = 0; b < GRAPH_NODES; b++) {
                if (down && set[a] && p->feeds[a][b] && into[b])
                    set[b] = true;
                if (up && set[b] && p->feeds[a][b] && into[a])
                    set[a] = true;
            }
}

/* What autocast/policy.h says, word by word. */
static void settle_painted(const struct painted *p, enum amp_precision *settled)
{
    bool clear[GRAPH_NODES], reaches[GRAPH_NODES], denied[GRAPH_NODES], allowed[GRAPH_NODES];
    bool open[GRAPH_NODES], below[GRAPH_NODES], between[GRAPH_NODES], beside[GRAPH_NODES];
    bool is_open_clear[GRAPH_NODES];
    for (int i = 0; i < GRAPH_NODES; i++) {
        bool is_listed = p->is_listed[i];
        clear[i] = (is_listed && p->wanted[i] == AMP_CLEAR) || p->is_cast[i];
        denied[i] = is_listed && p->wanted[i] == AMP_FP32;
        reaches[i] = denied[i] || (is_listed && p->wanted[i] == AMP_INFER);
        allowed[i] = p->wanted[i] == AMP_LOWER;
    }
    spread(p, reaches, clear, true, false); /* 1. */
    spread(p, denied, reaches, false, true);
    for (int i = 0; i < GRAPH_NODES; i++) {
        bool is_infer = p->is_listed[i] && p->wanted[i] == AMP_INFER;
        open[i] = !denied[i] && !allowed[i] && (clear[i] || is_infer);
        below[i] = between[i] = allowed[i];
    }
    spread(p, below, open, false, true); /* 2. */
    spread(p, between, below, true, false);
    for (int i = 0; i < GRAPH_NODES; i++) {
        is_open_clear[i] = open[i] && clear[i];
        beside[i] = between[i];
    }
    spread(p, beside, is_open_clear, true, true); /* 3. */
    for (int i = 0; i < GRAPH_NODES; i++) {
        bool depends = p->wanted[i] == AMP_INFER || p->wanted[i] == AMP_CLEAR;
        settled[i] = !depends ? p->wanted[i] : beside[i] ? AMP_LOWER : AMP_FP32; /* 4. */
    }
}

static void surroundings_decide_on_infer_and_clear(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 1;
    int counts[2] = {0, 0};
    reload(f, HEAD "unlisted: fp32\nrules:\n"
                   "  - {precision: fp32, nodes: [deny]}\n"
                   "  - {precision: lower, nodes: [allow]}\n"
                   "  - {precision: infer, nodes: [infer]}\n"
                   "  - {precision: clear, nodes: [clear]}\n");
    for (int round = 0; round < 2000; round++) {
        struct painted painted;
        enum amp_precision expected[GRAPH_NODES];
        const struct amp_policy *policies;
        make_painted(&painted, &seed);
        settle_painted(&painted, expected);
        const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
        assert_int_equal(amp_policies_find(net.model, f->rules, wholes, &policies, &net.err),
                         AMP_OK);
        for (int i = 0; i < GRAPH_NODES; i++) {
            assert_int_equal(policies[i].rule != NULL, painted.is_listed[i]);
            assert_null(policies[i].op);
            if (policies[i].precision != expected[i])
                fail_msg("round %d, node %d", round, i);
            if (painted.wanted[i] == AMP_INFER || painted.wanted[i] == AMP_CLEAR)
                counts[expected[i] == AMP_LOWER]++;
        }
    }
    assert_true(counts[0] > 500 && counts[1] > 500);
}

/* ---- which nodes rules may decide on --------------------------------------------------------- */

/* The decision on the node of VALUE by a rule that lowers all. */
static struct amp_decision decision_on(struct fixture *f, uint32_t value)
{
    struct amp_assignment assignment;
    reload(f, HEAD "rules:\n  - {precision: lower, nodes: ['*']}\n");
    struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
    infer_all();
    if (amp_assign(net.model, &options, &assignment, &net.err) != AMP_OK)
        fail_msg("%s", net.err.text);
    return assignment.nodes[node_of(value)];
}

static void assert_decision(struct fixture *f, uint32_t value, enum amp_reason reason,
                            enum amp_dtype dtype)
{
    struct amp_decision decision = decision_on(f, value);
    if (decision.reason != reason || decision.dtype != dtype)
        fail_msg("'%s': %s, %s", amp_value_at(net.model, value)->name,
                 amp_reason_name(decision.reason), amp_dtype_name(decision.dtype));
}

/* A node between DequantizeLinear and QuantizeLinear is an integer one, where all that it takes and
   gives is between them. */
static void what_is_between_quantized_data_stays(void **state)
{
    enum {
        PLAIN,
        MICROSOFT,
        TWO_USES,
        TWO_INPUTS,
        RESHAPED,
        WITHOUT_LIMITS,
        OUTPUT,
        OTHER_USE,
        OTHER_DOMAIN,
        AS_SCALE,
        UNUSED,
        LIVE,
        HALF_LIVE,
        CASES
    };
    static const float one = 1;
    for (int i = 0; i < CASES; i++) {
        net_start(21);
        uint32_t x = input("x", AMP_UINT8, DIMS(4)), y = input("y", AMP_UINT8, DIMS(4));
        uint32_t live = input("live", AMP_FLOAT, DIMS(4));
        uint32_t scale = constant("scale", AMP_FLOAT, SCALAR, &one);
        uint32_t zero = constant("zero", AMP_UINT8, SCALAR, "");
        uint32_t a = NODE("DequantizeLinear", "a", x, scale, zero);
        uint32_t b = NODE("DequantizeLinear", "b", y, scale, zero);
        uint32_t second = i == TWO_INPUTS ? b : i == HALF_LIVE ? live : scale;
        uint32_t first = i == LIVE ? live : a, result;
        if (i == TWO_INPUTS || i == HALF_LIVE)
            result = NODE("Add", "result", first, second);
        else if (i == RESHAPED)
            result = NODE("Reshape", "result", first, NUMBERS("to", 2, 2));
        else if (i == WITHOUT_LIMITS)
            result = NODE("Clip", "result", first, AMP_NONE);
        else
            result = NODE("Relu", "result", first);
        if (i == AS_SCALE)
            output(NODE("QuantizeLinear", "q", live, NODE("ReduceMax", "most", result), zero));
        else if (i != UNUSED)
            output(NODE("QuantizeLinear", "q", result, scale, zero));
        if (i == TWO_USES)
            output(NODE("QuantizeLinear", "q2", result, scale, zero));
        if (i == OUTPUT)
            output(result);
        if (i == OTHER_USE)
            output(NODE("Neg", "other", result));
        if (i == MICROSOFT || i == OTHER_DOMAIN) {
            struct amp_node *q = amp_node_at(net.model, node_of(result) + 1);
            q->domain = i == MICROSOFT ? "com.microsoft" : "com.other";
            amp_model_import(net.model, q->domain, 1);
            q->schema = i == MICROSOFT ? amp_schema_find(q->domain, q->op_type, 1) : NULL;
        }
        bool is_quantized = i <= WITHOUT_LIMITS;
        assert_decision(*state, result, is_quantized ? AMP_REASON_QUANTIZED : AMP_REASON_RULE,
                        is_quantized ? AMP_FLOAT : AMP_BFLOAT16);
    }
}

static void nodes_that_say_their_types_keep_them(void **state)
{
    static const float one = 1;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, 2, 4)), wide = input("wide", AMP_DOUBLE, DIMS(2));
    uint32_t whole = input("whole", AMP_INT64, DIMS(2));
    uint32_t cast = NODE("Cast", "cast", x), scores = input("scores", AMP_FLOAT, DIMS(1, 1, 2));
    uint32_t boxes = input("boxes", AMP_FLOAT, DIMS(1, 2, 4));
    uint32_t fixed = NODE("Constant", "fixed", AMP_NONE),
             like = NODE("RandomNormalLike", "like", x);
    amp_node_at(net.model, node_of(fixed))->n_inputs = 0;
    amp_node_set_attr(net.model, node_of(fixed),
                      (struct amp_attr){.name = "value_float",
                                        .type = AMP_ATTR_FLOAT,
                                        .count = 1,
                                        .floats = (float *)amp_arena_memdup(net.arena, &one, 4)});
    uint32_t chosen = NODE("NonMaxSuppression", "chosen", boxes, scores);
    uint32_t items = NODE("SequenceConstruct", "items", x), far = NODE("Neg", "far", wide);
    uint32_t count = NODE("Neg", "count", whole), low = NODE("Neg", "low", x);
    uint32_t largest = NODE("ArgMax", "largest", x);
    uint32_t novel = NODE("Novel", "novel", whole);
    uint32_t after = NODE("Add", "after", x, novel), before = NODE("Add", "before", novel, x);
    set_int(cast, "to", AMP_FLOAT16);
    set_int(like, "dtype", AMP_FLOAT);
    const uint32_t outputs[] = {cast,  fixed, like,    chosen, items, far,
                                count, low,   largest, after,  before};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        output(outputs[i]);
    struct fixture *f = *state;
    assert_decision(f, low, AMP_REASON_RULE, AMP_BFLOAT16);
    assert_decision(f, largest, AMP_REASON_RULE, AMP_BFLOAT16); /* by its input */
    assert_decision(f, cast, AMP_REASON_EXPLICIT_DTYPE, AMP_UNDEFINED);
    assert_decision(f, fixed, AMP_REASON_EXPLICIT_DTYPE, AMP_UNDEFINED);
    assert_decision(f, like, AMP_REASON_EXPLICIT_DTYPE, AMP_UNDEFINED);
    assert_decision(f, chosen, AMP_REASON_NO_LOWER_TYPE, AMP_FLOAT);
    assert_decision(f, far, AMP_REASON_DOUBLE, AMP_UNDEFINED);
    assert_decision(f, count, AMP_REASON_NOT_FLOAT, AMP_UNDEFINED);
    assert_decision(f, after, AMP_REASON_UNKNOWN_TYPE, AMP_UNDEFINED);
    assert_decision(f, before, AMP_REASON_UNKNOWN_TYPE, AMP_UNDEFINED);
    assert_decision(f, items, AMP_REASON_NOT_TENSOR, AMP_UNDEFINED);
}

/* Operators of users follow a rule that names them where the model says what they take and give. */
static void operators_of_users_need_floats_and_types(void **state)
{
    static const struct {
        enum amp_kind kinds[3]; /* of two inputs and the output */
        enum amp_dtype dtypes[3];
        enum amp_reason reason;
    } nodes[] = {
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_INT64, AMP_FLOAT},
         AMP_REASON_RULE},
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_DOUBLE, AMP_FLOAT16, AMP_DOUBLE},
         AMP_REASON_RULE},
        {{AMP_KIND_TENSOR, AMP_KIND_MAP, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_UNDEFINED, AMP_INT64},
         AMP_REASON_RULE},
        {{AMP_KIND_TENSOR, AMP_KIND_MAP_SEQUENCE, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_UNDEFINED, AMP_INT64},
         AMP_REASON_RULE},
        {{AMP_KIND_TENSOR, AMP_KIND_SEQUENCE, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_INT64, AMP_FLOAT},
         AMP_REASON_RULE},
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_UNDEFINED, AMP_INT64, AMP_FLOAT},
         AMP_REASON_UNKNOWN_TYPE},
        {{AMP_KIND_SEQUENCE, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_INT64, AMP_INT64},
         AMP_REASON_NOT_TENSOR},
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_INT64, AMP_DOUBLE, AMP_FLOAT},
         AMP_REASON_NOT_FLOAT},
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_INT64, AMP_UNDEFINED},
         AMP_REASON_UNKNOWN_TYPE},
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_TENSOR},
         {AMP_UNDEFINED, AMP_FLOAT, AMP_FLOAT},
         AMP_REASON_UNKNOWN_TYPE},
        {{AMP_KIND_TENSOR, AMP_KIND_SEQUENCE, AMP_KIND_TENSOR},
         {AMP_FLOAT, AMP_FLOAT, AMP_FLOAT},
         AMP_REASON_NOT_TENSOR},
        {{AMP_KIND_TENSOR, AMP_KIND_TENSOR, AMP_KIND_SEQUENCE},
         {AMP_FLOAT, AMP_FLOAT, AMP_FLOAT},
         AMP_REASON_NOT_TENSOR},
    };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        for (int is_named = 0; is_named < 2; is_named++) {
            uint32_t values[3];
            struct amp_decision decision = {.type = -1};
            const struct amp_rule_op op = {.name = "Any", .domain = "com.example"};
            net_start(17);
            for (int k = 0; k < 3; k++) {
                values[k] = net_value_in(0,
                                         k == 0   ? "a"
                                         : k == 1 ? "b"
                                                  : "y",
                                         nodes[i].dtypes[k], DIMS(2));
                amp_value_at(net.model, values[k])->kind = nodes[i].kinds[k];
            }
            uint32_t id = amp_graph_add_node(net.model, 0, "Any", 3, 2);
            struct amp_node *node = amp_node_at(net.model, id);
            node->domain = "com.example";
            node->inputs[0] = values[0];
            node->inputs[1] = AMP_NONE;
            node->inputs[2] = values[1];
            amp_node_set_output(net.model, id, 1, values[2]);
            decision.op = is_named ? &op : NULL;
            bool is_eligible = amp_custom_is_eligible(net.model, node, &decision);
            assert_int_equal(is_eligible, is_named && nodes[i].reason == AMP_REASON_RULE);
            if (is_eligible)
                assert_int_equal(decision.type, AMP_TYPE_ALL_FLOATS);
            else
                assert_int_equal(decision.reason,
                                 is_named ? nodes[i].reason : AMP_REASON_UNKNOWN_OP);
        }
    (void)state;
}

/* ---- the range of constants ------------------------------------------------------------------ */

static struct amp_tensor vector_of(enum amp_dtype dtype, const void *data, int64_t count)
{
    return (struct amp_tensor){
        .dtype = dtype, .shape = {.rank = 1, .dims = {count}}, .data = (void *)(uintptr_t)data};
}

/* Of what is finite, wherever it lies in memory and among others. */
static void the_largest_magnitude_is_found(void **state)
{
    enum { MANY = (1 << 18) + 1 };
    static unsigned char bytes[4 * MANY + 1];
    static const float floats[] = {-3, 2, INFINITY, -INFINITY, NAN, 0},
                       nothing[] = {0, NAN, -INFINITY}, least[] = {0x1p-149f, -0.0f};
    static const uint16_t halves[] = {0x3c00, 0xfbff, 0x7c00, 0xfc00, 0x7e00},
                          brains[] = {0x3f80, 0xff7f, 0x7f80, 0xff80, 0x7fc0};
    const struct {
        struct amp_tensor tensor;
        double max;
    } constants[] = {{vector_of(AMP_FLOAT, floats, 6), 3},
                     {vector_of(AMP_FLOAT, floats + 1, 5), 2},
                     {vector_of(AMP_FLOAT, nothing, 3), 0},
                     {vector_of(AMP_FLOAT, nothing, 0), 0},
                     {vector_of(AMP_FLOAT, least, 2), 0x1p-149},
                     {vector_of(AMP_FLOAT16, halves, 5), 65504},
                     {vector_of(AMP_FLOAT16, halves, 1), 1},
                     {vector_of(AMP_FLOAT16, halves + 2, 3), 0},
                     {vector_of(AMP_BFLOAT16, brains, 5), 0x1.fep127},
                     {vector_of(AMP_BFLOAT16, brains, 1), 1},
                     {vector_of(AMP_BFLOAT16, brains + 2, 3), 0}};
    (void)state;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        const struct amp_tensor *tensor = &constants[i].tensor;
        struct amp_tensor exact = {
            .dtype = AMP_FLOAT, .shape = tensor->shape, .source = tensor, .data = NULL};
        assert_true(amp_weight_max(tensor) == constants[i].max);
        assert_true(amp_weight_max(&exact) == constants[i].max);
        memcpy(bytes + 1, tensor->data, amp_tensor_size(tensor));
        struct amp_tensor unaligned = vector_of(tensor->dtype, bytes + 1, tensor->shape.dims[0]);
        assert_true(amp_weight_max(&unaligned) == constants[i].max);
    }
    static const int64_t places[] = {0, MANY - 2, MANY - 1};
    for (size_t i = 0; i < 3; i++) {
        const float large = -5;
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + 4 * places[i], &large, sizeof large);
        struct amp_tensor many = vector_of(AMP_FLOAT, bytes, MANY);
        assert_true(amp_weight_max(&many) == 5);
        many.shape.dims[0] = places[i];
        assert_true(amp_weight_max(&many) == 0);
    }
}

/* A part of the sum of squares is that of elements of 2^-25 and less. */
static void the_share_of_what_becomes_0_is_found(void **state)
{
    static float floats[2050] = {0x1p-25f, -0x1p-24f, NAN, INFINITY};
    static const uint16_t halves[] = {0x0001, 0x0000}, brains[] = {0x3300, 0x3380};
    struct amp_tensor tensor = vector_of(AMP_FLOAT, floats, 4);
    struct amp_tensor exact = {.dtype = AMP_DOUBLE, .shape = tensor.shape, .source = &tensor};
    (void)state;
    assert_true(amp_weight_flushed(&tensor) == 0.2); /* of 1 + 4 */
    assert_true(amp_weight_flushed(&exact) == 0.2);
    for (int64_t count = 1024; count <= 2050; count += 1026) {
        memset(floats, 0, sizeof floats);
        floats[count - 1] = -0x1p-26f;
        tensor = vector_of(AMP_FLOAT, floats, count);
        assert_true(amp_weight_flushed(&tensor) == 1);
        floats[1000] = 0x1p-26f;
        floats[count - 2] = 0x1.000002p-25f;
        double over = 0x1.000002p-25 * 0x1.000002p-25, under = 2 * 0x1p-52;
        assert_true(fabs(amp_weight_flushed(&tensor) - under / (under + over)) < 1e-12);
        tensor.shape.dims[0] = 1000;
        assert_true(amp_weight_flushed(&tensor) == 0);
    }
    tensor = vector_of(AMP_FLOAT16, halves, 2); /* float16 holds all of its own, from 2^-24 on */
    assert_true(amp_weight_flushed(&tensor) == 0);
    tensor = vector_of(AMP_BFLOAT16, brains, 2); /* 2^-25 and 2^-24 */
    assert_true(amp_weight_flushed(&tensor) == 0.2);
    assert_true(amp_weight_flushed_most(4, 0x1p-23) == 0.25);
    assert_true(amp_weight_flushed_most(16, 0x1p-23) == 1);
    assert_true(amp_weight_flushed_most(17, 0x1p-23) == 1);
}

static void constants_are_converted_now_or_later(void **state)
{
    static const float data[1024] = {1.0009765625f, 65504, 1e6f, -1e6f, 0x1p-25f};
    (void)state;
    net_start(17);
    for (int64_t count = 1023; count <= 1024; count++) {
        struct amp_tensor tensor = vector_of(AMP_FLOAT, data, count);
        struct amp_tensor *half = amp_weight_convert(net.model, &tensor, AMP_FLOAT16);
        assert_int_equal(half->dtype, AMP_FLOAT16);
        assert_true(amp_shape_equal(&half->shape, &tensor.shape));
        assert_ptr_equal(half->source, &tensor);
        assert_non_null(half->losses);
        assert_int_equal(half->data != NULL, count == 1023);
        uint16_t copy[1024];
        amp_tensor_copy(half, copy);
        static const uint16_t expected[] = {0x3c01, 0x7bff, 0x7bff, 0xfbff, 0};
        assert_memory_equal(copy, expected, sizeof expected);
        struct amp_tensor *back = amp_weight_convert(net.model, half, AMP_FLOAT);
        assert_null(back->losses);
    }
    assert_false(amp_weight_overflows(65519.99, AMP_FLOAT16));
    assert_true(amp_weight_overflows(65520, AMP_FLOAT16));
    assert_true(amp_weight_overflows(-65520, AMP_FLOAT16));
    assert_false(amp_weight_overflows(INFINITY, AMP_FLOAT16));
    assert_false(amp_weight_overflows(0x1.fefp127, AMP_BFLOAT16));
    assert_true(
        amp_weight_overflows(0x1.ffp127, AMP_BFLOAT16)); /* half to the next, which is even */
    assert_false(amp_weight_overflows(-INFINITY, AMP_BFLOAT16));
    assert_false(amp_weight_overflows(1e300, AMP_FLOAT));
}

/* ---- products by equations ------------------------------------------------------------------- */

enum { LABELS = 5, TERM = 3 };

/* An Einsum of small numbers, and what becomes of it by NumPy's rules. */
struct equation {
    int n_terms, n[3];    /* the last term is the output's */
    int terms[3][LABELS]; /* labels */
    int64_t dims[2][LABELS], sizes[LABELS];
    bool is_unknown[2][LABELS]; /* a dim that the model does not tell */
    bool is_told, is_all_told;  /* all dims of all labels but one are; all are */
    float *data[2], *result;
};

static bool has_label(const struct equation *e, int term, int label)
{
    for (int i = 0; i < e->n[term]; i++)
        if (e->terms[term][i] == label)
            return true;
    return false;
}

/* Draws terms of up to TERM labels, rarely one twice, and an output of some of them. */
static void draw_terms(struct equation *e, uint64_t *seed)
{
    e->n_terms = draw(seed, 8) == 0 ? 1 : 2;
    for (int t = 0; t < e->n_terms; t++) {
        int count = (int)draw(seed, TERM + 1);
        while (e->n[t] < count) {
            int label = (int)draw(seed, LABELS);
            if (!has_label(e, t, label) || (label + 1 < LABELS && draw(seed, 16) == 0))
                e->terms[t][e->n[t]++] = label;
        }
    }
    int first = (int)draw(seed, LABELS);
    for (int i = 0; i < LABELS; i++) {
        int label = (first + i * (1 + (int)(*seed >> 60) % 4)) % LABELS;
        bool is_left = has_label(e, 0, label), is_right = e->n_terms > 1 && has_label(e, 1, label);
        bool is_kept = is_left && is_right ? draw(seed, 2) == 0 : draw(seed, 10) > 0;
        if ((is_left || is_right) && is_kept && !has_label(e, 2, label))
            e->terms[2][e->n[2]++] = label;
    }
}

/* Draws sizes, one of which may be 0, dims of 1 in their place, and which of them are not told. */
static void draw_dims(struct equation *e, uint64_t *seed)
{
    int open = (int)draw(seed, LABELS), empty = (int)draw(seed, 20);
    unsigned telling = draw(seed, 3);
    e->is_told = telling < 2;
    e->is_all_told = telling == 0;
    for (int l = 0; l < LABELS; l++) {
        e->sizes[l] = l == empty && telling == 0 ? 0 : 1 + draw(seed, 3);
        for (int t = 0; t < e->n_terms; t++) {
            e->is_unknown[t][l] = (telling == 1 && l == open) || (telling == 2 && draw(seed, 2));
            bool is_one = draw(seed, 8) == 0 && (telling == 0 || has_label(e, 2, l));
            e->dims[t][l] = is_one && e->sizes[l] > 0 ? 1 : e->sizes[l];
        }
        bool is_both = e->n_terms > 1 && has_label(e, 0, l) && has_label(e, 1, l);
        if (!is_both)
            e->sizes[l] = e->dims[e->n_terms > 1 && has_label(e, 1, l)][l];
        else if (e->sizes[l] > 0)
            e->sizes[l] = e->dims[0][l] > e->dims[1][l] ? e->dims[0][l] : e->dims[1][l];
        if (!is_both && !has_label(e, 0, l) && !(e->n_terms > 1 && has_label(e, 1, l)))
            e->sizes[l] = 1;
    }
}

/* Where in TERM the element of the labels AT is. */
static size_t place_in(const struct equation *e, int term, const int64_t *at)
{
    const int64_t *dims = term < 2 ? e->dims[term] : e->sizes;
    size_t place = 0;
    for (int i = 0; i < e->n[term]; i++) {
        int label = e->terms[term][i];
        place = place * (size_t)dims[label] + (size_t)(dims[label] == 1 ? 0 : at[label]);
    }
    return place;
}

static struct amp_shape shape_in(const struct equation *e, int term, bool is_declared)
{
    struct amp_shape shape = {.rank = e->n[term]};
    for (int i = 0; i < e->n[term]; i++) {
        int label = e->terms[term][i];
        shape.dims[i] = term == 2                                   ? e->sizes[label]
                        : is_declared && e->is_unknown[term][label] ? AMP_DIM_UNKNOWN
                                                                    : e->dims[term][label];
    }
    return shape;
}

/* Adds up the products of all elements, label by label. */
static void compute(struct equation *e, uint64_t *seed)
{
    int64_t at[LABELS] = {0};
    size_t count = 1;
    for (int t = 0; t < 3; t++) {
        struct amp_shape shape = shape_in(e, t, false);
        size_t size = (size_t)amp_shape_count(&shape);
        float *data = amp_arena_array(net.arena, size + 1, sizeof *data);
        for (size_t i = 0; i < size; i++)
            data[i] = t == 2 ? 0 : (float)draw(seed, 5) - 2;
        *(t < 2 ? &e->data[t] : &e->result) = data;
    }
    for (int l = 0; l < LABELS; l++)
        count *= (size_t)e->sizes[l];
    for (size_t i = 0; i < count; i++) {
        size_t left = i;
        for (int l = 0; l < LABELS; l++) {
            at[l] = (int64_t)(left % (size_t)e->sizes[l]);
            left /= (size_t)e->sizes[l];
        }
        e->result[place_in(e, 2, at)] +=
            e->data[0][place_in(e, 0, at)] * (e->n_terms > 1 ? e->data[1][place_in(e, 1, at)] : 1);
    }
}

/* The equation as text; the last label is an ellipsis where the output has it. */
static const char *equation_of(const struct equation *e)
{
    char text[64] = "";
    for (int k = 0; k < e->n_terms + 1; k++) {
        int t = k < e->n_terms ? k : 2;
        if (k > 0)
            strcat(text, t == 2 ? "->" : ",");
        for (int i = 0; i < e->n[t]; i++) {
            char letter[2] = {(char)('a' + e->terms[t][i]), '\0'};
            bool is_dots = e->terms[t][i] == LABELS - 1 && has_label(e, 2, LABELS - 1);
            strcat(text, is_dots ? "..." : letter);
        }
    }
    return amp_arena_strdup(net.arena, text);
}

/* Whether forms/einsum.h says that it is taken apart; where all is told that they need. */
static bool has_form(const struct equation *e)
{
    for (int t = 0; t < e->n_terms; t++)
        for (int i = 0; i < e->n[t]; i++) {
            int label = e->terms[t][i];
            for (int k = 0; k < i; k++)
                if (e->terms[t][k] == label)
                    return false;
            if (has_label(e, 2, label))
                continue;
            if (e->n_terms == 1 || !has_label(e, 1 - t, label) ||
                e->dims[0][label] != e->dims[1][label])
                return false;
        }
    return true;
}

/* How many labels are in the output or not (IS_OUT), and in both terms, the left or the right. */
static int count_labels(const struct equation *e, bool is_out, bool is_left, bool is_right)
{
    int count = 0;
    for (int l = 0; l < LABELS; l++)
        count += has_label(e, 2, l) == is_out && has_label(e, 0, l) == is_left &&
                 has_label(e, 1, l) == is_right;
    return count;
}

/* How many groups of labels have to become one dim: no more, as MatMul takes several rows. */
static int count_reshapes(const struct equation *e)
{
    int batch = count_labels(e, true, true, true), summed = count_labels(e, false, true, true);
    int rows = count_labels(e, true, true, false), columns = count_labels(e, true, false, true);
    if (e->n_terms == 1 || summed == 0)
        return 0;
    if (batch > 0)
        return (rows != 1 || summed != 1) + (summed != 1 || columns != 1) +
               (rows != 1 || columns != 1);
    int few = rows < columns ? rows : columns, many = rows < columns ? columns : rows;
    if (few > 1)
        return 1 + (summed != 1) + 1;
    return (many == 0 || summed != 1) + (few != 1 || summed != 1) + (many == 0 || few != 1);
}

/* Adds the labels of term FROM that are in the output or not (IS_OUT), and in the operands so. */
static void add_order(const struct equation *e, int *order, int *n, int from, bool is_out,
                      bool is_left, bool is_right)
{
    for (int i = 0; i < e->n[from]; i++) {
        int label = e->terms[from][i];
        if (has_label(e, 2, label) == is_out && has_label(e, 0, label) == is_left &&
            has_label(e, 1, label) == is_right)
            order[(*n)++] = label;
    }
}

/* How many of the operands and the result have their labels in another order than MatMul has them:
   batch, rows or columns as the output has them, and what is summed as the left operand. */
static int count_transposes(const struct equation *e)
{
    int batch = count_labels(e, true, true, true), count = 0;
    int rows = count_labels(e, true, true, false), columns = count_labels(e, true, false, true);
    bool is_swapped = batch == 0 && rows <= 1 && columns > 1;
    for (int t = 0; t < 3; t++) {
        int order[2 * LABELS], n = 0;
        bool is_first = t == (is_swapped ? 1 : 0);
        add_order(e, order, &n, 2, true, true, true);
        if (t == 2)
            add_order(e, order, &n, 2, true, !is_swapped, is_swapped);
        if (t < 2 && is_first)
            add_order(e, order, &n, 2, true, t == 0, t == 1);
        if (t < 2)
            add_order(e, order, &n, 0, false, true, true);
        if (t < 2 && !is_first)
            add_order(e, order, &n, 2, true, t == 0, t == 1);
        if (t == 2)
            add_order(e, order, &n, 2, true, is_swapped, !is_swapped);
        assert_int_equal(n, e->n[t]);
        count += memcmp(order, e->terms[t], (size_t)n * sizeof *order) != 0;
    }
    return count;
}

/* What an Einsum became has no dim that nobody tells where its own inputs have none. */
static void assert_dims_are_told(const char *text)
{
    for (uint32_t v = 0; v < net.model->n_values; v++)
        for (int d = 0; d < amp_value_at(net.model, v)->rank; d++)
            if (amp_value_at(net.model, v)->dims[d] < 0)
                fail_msg("%s: '%s' has an unknown dim", text, amp_value_at(net.model, v)->name);
}

/* What an Einsum became has no part that changes nothing. */
static void assert_no_idle_part(const char *text, const struct equation *e)
{
    int n_reshapes = 0, n_transposes = 0;
    for (uint32_t n = 0; n < net.model->n_nodes; n++) {
        const struct amp_node *node = amp_node_at(net.model, n);
        const struct amp_attr *perm = amp_node_attr(node, "perm");
        bool is_idle = perm != NULL;
        for (size_t i = 0; perm != NULL && i < perm->count; i++)
            is_idle &= perm->ints[i] == (int64_t)i;
        if (is_idle && e->n_terms > 1)
            fail_msg("%s: a Transpose of nothing", text);
        n_reshapes += strcmp(node->op_type, "Reshape") == 0;
        n_transposes += perm != NULL;
    }
    if (n_reshapes != count_reshapes(e))
        fail_msg("%s: %d Reshape nodes; %d are right", text, n_reshapes, count_reshapes(e));
    if (strcmp(amp_node_at(net.model, 0)->op_type, "MatMul") == 0 &&
        n_transposes != count_transposes(e))
        fail_msg("%s: %d Transpose nodes; %d are right", text, n_transposes, count_transposes(e));
}

static void run_equation(const struct equation *e, const char *text)
{
    struct amp_tensor inputs[2];
    struct amp_shape shape = shape_in(e, 2, false);
    for (int t = 0; t < e->n_terms; t++) {
        struct amp_shape in = shape_in(e, t, false);
        inputs[t] = *net_tensor(AMP_FLOAT, in, e->data[t]);
        struct amp_tensor *half = amp_weight_convert(net.model, &inputs[t], AMP_BFLOAT16);
        inputs[t] = *half;
    }
    if (net_run(true, inputs) != AMP_OK)
        fail_msg("%s: %s", text, net.err.text);
    if (!amp_shape_equal(&net.outputs[0].shape, &shape))
        fail_msg("%s: another shape", text);
    for (size_t i = 0; i < (size_t)amp_shape_count(&shape); i++)
        if (amp_tensor_double(&net.outputs[0], i) != (double)e->result[i])
            fail_msg("%s: element %zu is %g; %g is right", text, i,
                     amp_tensor_double(&net.outputs[0], i), (double)e->result[i]);
}

/* Takes an Einsum apart in bfloat16, which it has no form for, and runs what it became; whether it
   became anything. */
static bool try_equation(struct equation *e)
{
    static const char *const names[] = {"x", "w"};
    uint32_t ids[2] = {AMP_NONE, AMP_NONE};
    const char *text = equation_of(e);
    net_start(22);
    for (int t = 0; t < e->n_terms; t++)
        ids[t] = input(names[t], AMP_FLOAT, shape_in(e, t, true));
    uint32_t node = net_node(0, "Einsum", "y", 1, ids, (size_t)e->n_terms);
    set_word(net_out(node, 0), "equation", text);
    output(net_out(node, 0));
    infer_all();
    for (uint32_t v = 0; v < net.model->n_values; v++)
        amp_value_at(net.model, v)->dtype = AMP_BFLOAT16;
    int opset = amp_einsum_opset(net.model, amp_node_at(net.model, node), AMP_BFLOAT16);
    assert_int_equal(amp_einsums_take_apart(net.model, &net.err), AMP_OK);
    bool is_left = strcmp(amp_node_at(net.model, node)->op_type, "Einsum") == 0;
    if (opset != (is_left ? 0 : 22) || (e->is_told && is_left == has_form(e)) ||
        (!is_left && !has_form(e)))
        fail_msg("%s: %s taken apart; by its opset, %d", text, is_left ? "not" : "is", opset);
    if (is_left) {
        assert_int_equal(net.model->n_nodes, 1);
        return false;
    }
    size_t n_nodes = net.model->n_nodes;
    assert_int_equal(amp_einsums_take_apart(net.model, &net.err), AMP_OK);
    assert_int_equal(net.model->n_nodes, n_nodes);
    assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    assert_no_idle_part(text, e);
    if (e->is_all_told)
        assert_dims_are_told(text);
    run_equation(e, text);
    return true;
}

static void equations_become_what_they_compute(void **state)
{
    uint64_t seed = 7;
    int n_apart = 0;
    (void)state;
    for (int i = 0; i < 1500; i++) {
        struct equation e = {.n_terms = 0};
        draw_terms(&e, &seed);
        draw_dims(&e, &seed);
        compute(&e, &seed);
        n_apart += try_equation(&e);
    }
    assert_true(n_apart > 500);
}

/* Nothing is known of dims without a rank; a third operand is one too many. */
static void equations_of_unknown_ranks_have_no_form(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        net_start(22);
        uint32_t x = input("x", AMP_FLOAT, i == 1 ? ANY_DIMS : DIMS(2, 3));
        uint32_t w = input("w", AMP_FLOAT, i == 2 ? ANY_DIMS : DIMS(3, 2));
        uint32_t v = input("v", AMP_FLOAT, DIMS(2, 2));
        uint32_t y = i == 3 ? NODE("Einsum", "y", x, w, v) : NODE("Einsum", "y", x, w);
        set_word(y, "equation", i == 3 ? "ij,jk,kl->il" : "ij,jk->ik");
        output(y);
        infer_all();
        const struct amp_node *node = amp_node_at(net.model, node_of(y));
        assert_int_equal(amp_einsum_opset(net.model, node, AMP_BFLOAT16), i == 0 ? 22 : 0);
        assert_int_equal(amp_einsum_opset(net.model, node, AMP_FLOAT16), i == 0 ? 22 : 0);
    }
}

/* ---- values that depend on constants ----------------------------------------------------------
 */

enum { VALUES = 16 };

/* A graph of constants, inputs and what is made of them, with what autocast/static_values.h says of
   each value. */
struct made {
    uint32_t ids[VALUES];
    enum amp_dtype dtypes[VALUES];
    bool is_static[VALUES], has_data[VALUES];
    double max[VALUES];        /* of its own data; -1: it has none */
    unsigned origins[VALUES];  /* a bit for each value whose data beyond the limit reach it */
    bool is_computed[VALUES];  /* nobody knows them then */
    double flushed[VALUES];    /* the share that becomes 0 in float16 */
    bool has_elements[VALUES]; /* they are its own or those of a constant */
    int count;
};

enum { FLOAT_LIMIT = 65504 };

/* A value with data of its own: DATA, or what fills up with them. */
static void add_own(struct made *m, uint32_t id, enum amp_dtype dtype, bool is_static, double max,
                    double flushed)
{
    int v = m->count++;
    bool is_float = amp_dtype_is_autocast(dtype);
    m->ids[v] = id;
    m->dtypes[v] = dtype;
    m->is_static[v] = is_static;
    m->has_data[v] = true;
    m->max[v] = is_float ? max : -1;
    m->has_elements[v] = is_float && is_static;
    m->flushed[v] = is_float && is_static ? flushed : 0;
    if (is_float && is_static && max > FLOAT_LIMIT && dtype != AMP_FLOAT16)
        m->origins[v] = 1u << v;
}

/* A constant or an input of floats or of integers; what is large is LARGE. */
static void draw_leaf(struct made *m, uint64_t *seed, float large)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16,
                                            AMP_INT64};
    const float rows[4][2] = {{1, 0.5f}, {large, 1}, {0x1p-25f, 0x1p-24f}, {0x1p-26f, 0}};
    static const double shares[4] = {0, 0, 0.2, 1};
    unsigned dtype = draw(seed, 5), row = draw(seed, dtype == 3 ? 1 : 4);
    char name[16];
    snprintf(name, sizeof name, "v%d", m->count);
    if (dtypes[dtype] == AMP_INT64 || draw(seed, 4) == 0) {
        static const int64_t two = 2;
        bool is_input = draw(seed, 2);
        uint32_t id = is_input ? input(name, dtypes[dtype], DIMS(2)) : AMP_NONE;
        if (!is_input && dtypes[dtype] == AMP_INT64)
            add_own(m, constant(name, AMP_INT64, DIMS(1), &two), AMP_INT64, true, -1, 0);
        if (is_input) {
            add_own(m, id, dtypes[dtype], false, -1, 0);
            m->has_data[m->count - 1] = false;
        }
        return;
    }
    const struct amp_tensor *data = net_tensor(AMP_FLOAT, DIMS(2), rows[row]);
    struct amp_tensor *typed = amp_weight_convert(net.model, data, dtypes[dtype]);
    uint32_t id = amp_graph_add_initializer(net.model, 0, name, typed);
    add_own(m, id, dtypes[dtype], true,
            amp_tensor_double(typed, 0) < rows[row][1] ? rows[row][1] : amp_tensor_double(typed, 0),
            shares[row]);
}

/* One of the values so far of DTYPE, or of any float type if that is AMP_UNDEFINED; -1: none. */
static int draw_value(const struct made *m, uint64_t *seed, enum amp_dtype dtype)
{
    for (int i = 0; i < 8; i++) {
        int v = (int)draw(seed, (unsigned)m->count);
        if (dtype == AMP_UNDEFINED ? amp_dtype_is_autocast(m->dtypes[v]) : m->dtypes[v] == dtype)
            return v;
    }
    return -1;
}

enum { MOVES = 1, COMPUTES = 2, RANDOM = 4, FILLS = 8, CASTS = 16, SHAPES = 32 };

static const struct {
    const char *op_type;
    int n_inputs, does;
} makers[] = {{"Identity", 1, MOVES},
              {"Transpose", 1, MOVES},
              {"Reshape", 1, MOVES | SHAPES},
              {"Concat", 2, MOVES},
              {"Neg", 1, COMPUTES},
              {"Add", 2, COMPUTES},
              {"Sum", 3, COMPUTES},
              {"RandomUniformLike", 1, RANDOM},
              {"Cast", 1, CASTS},
              {"ConstantOfShape", 0, FILLS | SHAPES}};

/* Notes what comes of the node that makes value V of IN: N inputs that are there. */
static void conclude_made(struct made *m, int v, const int *in, int n, int does)
{
    bool widens = does == CASTS && (m->dtypes[in[0]] == m->dtypes[v] || m->dtypes[v] == AMP_FLOAT);
    bool moves = (does & MOVES) || widens;
    int n_floats = 0, from = -1;
    m->is_static[v] = !(does & RANDOM);
    m->has_data[v] = does & (MOVES | FILLS);
    for (int i = 0; i < n; i++) {
        bool is_float = amp_dtype_is_autocast(m->dtypes[in[i]]);
        m->is_static[v] &= m->is_static[in[i]];
        m->has_data[v] &= !is_float || m->has_data[in[i]];
        n_floats += is_float;
        from = is_float ? in[i] : from;
    }
    m->has_data[v] |= m->is_static[v];
    if (!m->is_static[v] || (does & FILLS))
        return;
    for (int i = 0; i < n; i++)
        for (int o = 0; o < v; o++) {
            bool is_reached = m->origins[in[i]] & 1u << o && (moves || m->max[o] >= AMP_GUARD_HUGE);
            m->origins[v] |= is_reached ? 1u << o : 0;
            m->is_computed[v] |= is_reached && m->is_computed[in[i]];
        }
    m->is_computed[v] |= m->origins[v] != 0 && (!moves || __builtin_popcount(m->origins[v]) > 1);
    m->has_elements[v] = moves && n_floats == 1 && m->has_elements[from];
    m->flushed[v] = m->has_elements[v] ? m->flushed[from] : 0;
}

static void draw_node(struct made *m, uint64_t *seed, float large)
{
    unsigned kind = draw(seed, sizeof makers / sizeof *makers);
    int in[4], n = 0, does = makers[kind].does;
    enum amp_dtype dtype = AMP_FLOAT;
    uint32_t ids[4];
    for (int i = 0; i < makers[kind].n_inputs; i++) {
        in[n] = draw_value(m, seed, n == 0 ? AMP_UNDEFINED : dtype);
        if (in[n] < 0)
            return;
        dtype = m->dtypes[in[n]];
        n++;
    }
    if (does & SHAPES && (in[n++] = draw_value(m, seed, AMP_INT64)) < 0)
        return;
    for (int i = 0; i < n; i++)
        ids[i] = m->ids[in[i]];
    uint32_t node = net_node(0, makers[kind].op_type, "made", 1, ids, (size_t)n);
    bool is_large = draw(seed, 2);
    float fill = is_large ? large : 1;
    if (does & CASTS)
        dtype = draw(seed, 3) == 0 ? AMP_BFLOAT16 : AMP_FLOAT;
    m->ids[m->count] = net_out(node, 0);
    amp_value_at(net.model, m->ids[m->count])->dtype = dtype;
    m->dtypes[m->count] = dtype;
    m->max[m->count] = -1;
    if (does & FILLS) {
        struct amp_tensor *tensor = net_tensor(AMP_FLOAT, DIMS(1), &fill);
        struct amp_tensor **tensors = amp_arena_alloc(net.arena, sizeof *tensors);
        *tensors = tensor;
        amp_node_set_attr(
            net.model, node,
            (struct amp_attr){
                .name = "value", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = tensors});
    }
    conclude_made(m, m->count, in, n, does);
    if (does & FILLS) {
        bool is_static = m->is_static[m->count];
        add_own(m, m->ids[m->count], dtype, is_static, fill, 0);
    } else {
        m->count++;
    }
}

static void assert_made(const struct made *m, int v, struct amp_static_values *values)
{
    uint32_t id = m->ids[v], origin = amp_static_values_origin(values, id);
    assert_int_equal(amp_static_values_has(values, id), m->is_static[v]);
    assert_int_equal(amp_static_values_has_data(values, id), m->has_data[v]);
    assert_true(amp_static_values_max(values, id) == m->max[v]);
    double share = amp_static_values_flushed(values, id, 0);
    assert_true(fabs(share - m->flushed[v]) < 1e-9);
    assert_true(amp_static_values_flushed(values, id, 1) == 0);
    bool is_among = origin == AMP_NONE && m->origins[v] == 0;
    for (int o = 0; o < m->count; o++)
        is_among |= m->origins[v] & 1u << o && m->ids[o] == origin;
    assert_true(is_among);
    if (origin == AMP_NONE)
        return;
    bool is_huge = amp_static_values_max(values, origin) >= AMP_GUARD_HUGE;
    assert_int_equal(amp_static_values_is_guard(values, id, AMP_GUARD_BOUNDS), !m->is_computed[v]);
    assert_int_equal(amp_static_values_is_guard(values, id, AMP_GUARD_NONE),
                     !m->is_computed[v] && is_huge);
}

static void what_depends_on_constants_is_known(void **state)
{
    uint64_t seed = 11;
    int n_origins = 0, n_computed = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct made m = {.count = 0};
        float large = draw(&seed, 2) ? 0x1p20f : 0x1p110f;
        net_start(22);
        while (m.count < VALUES / 2)
            draw_leaf(&m, &seed, large);
        while (m.count < VALUES)
            draw_node(&m, &seed, large);
        struct amp_static_values *values =
            amp_static_values_create(net.model, AMP_FLOAT16, FLOAT_LIMIT);
        for (uint32_t n = 0; n < net.model->n_nodes; n++)
            amp_static_values_add(values, amp_node_at(net.model, n));
        for (int v = 0; v < m.count; v++) {
            assert_made(&m, v, values);
            n_origins += m.origins[v] != 0;
            n_computed += m.is_computed[v];
        }
        amp_static_values_destroy(values);
    }
    assert_true(n_computed > 500 && n_origins > n_computed);
}

/* ---- guards of values ------------------------------------------------------------------------ */

/* What is known of values, and what follows of it: ranges/guards.h and the limits of rules
   (rules/rule.h). Numbers are chosen next to the limits. */
static struct {
    struct amp_ranges *ranges;
    struct amp_rule_limits limits;
    enum amp_dtype lower;
} guarded;

static void start_guarded(enum amp_dtype lower, enum amp_range_source source)
{
    net_start(22);
    guarded.ranges = amp_ranges_create(net.arena);
    guarded.ranges->source = source;
    guarded.lower = lower;
    guarded.limits = (struct amp_rule_limits){
        .weight_max = 1024, .activation_max = 1024, .margin = 1, .flush_max = 0.25};
    guarded.limits.guards = AMP_GUARDS_ON;
}

static struct amp_range *see(uint32_t value, double largest)
{
    const char *name = amp_value_at(net.model, value)->name;
    struct amp_range *seen = &amp_ranges_entry(guarded.ranges, name)->seen;
    *seen = (struct amp_range){.count = 2,
                               .minimum = -largest,
                               .maximum = largest / 2,
                               .smallest = largest / 2,
                               .energy = 1};
    return seen;
}

static void prove(uint32_t value, double low, double high)
{
    const char *name = amp_value_at(net.model, value)->name;
    struct amp_value_range *entry = amp_ranges_entry(guarded.ranges, name);
    entry->proved = (struct amp_interval){low, high};
    entry->rule = "given";
}

/* What is found of the node that makes VALUE. */
static struct amp_decision found_of(uint32_t value)
{
    struct amp_decision decision = {.type = AMP_TYPE_ALL_FLOATS, .value = AMP_NONE};
    struct amp_types types = {net.model, 22};
    infer_all();
    struct amp_static_values *values =
        amp_static_values_create(net.model, guarded.lower, guarded.limits.activation_max);
    const struct amp_range_guard_options options = {net.model, guarded.lower, &guarded.limits,
                                                    guarded.ranges, values};
    struct amp_range_guards *guards = amp_range_guards_create(&options);
    for (uint32_t n = 0; n < net.model->n_nodes; n++) {
        amp_static_values_add(values, amp_node_at(net.model, n));
        amp_range_guards_add(guards, amp_node_at(net.model, n));
    }
    const struct amp_node *node = amp_node_at(net.model, node_of(value));
    bool is_found = amp_range_guards_find(guards, &types, node, &decision);
    assert_int_equal(is_found, decision.reason != AMP_REASON_RULE);
    amp_range_guards_destroy(guards);
    amp_static_values_destroy(values);
    return decision;
}

static void assert_found(uint32_t node, enum amp_reason reason, uint32_t value, double number,
                         enum amp_range_source seen)
{
    struct amp_decision found = found_of(node);
    if (found.reason != reason)
        fail_msg("%s: %s; %s is right", amp_value_at(net.model, node)->name,
                 amp_reason_name(found.reason), amp_reason_name(reason));
    if (reason == AMP_REASON_RULE)
        return;
    assert_int_equal(found.value, value);
    assert_int_equal(found.seen, seen);
    if (found.number != number)
        fail_msg("%.9g; %.9g is right", found.number, number);
}

static void assert_none(uint32_t node)
{
    assert_found(node, AMP_REASON_RULE, AMP_NONE, 0, AMP_RANGES_UNSEEN);
}

enum { WAYS_TO_SEE = 3 * 3 * 3 * 2 * 2 };

/* What was seen is beyond the limit with its margin, unless it is proved that nothing is; whether
   it is what a node takes or gives. */
static void what_was_seen_is_held_against_the_limit(void **state)
{
    static const enum amp_dtype lowers[] = {AMP_FLOAT16, AMP_BFLOAT16, AMP_FLOAT};
    static const double largest[] = {255, 256, 257, 511, 512, 513, 1023, 1024, 1025};
    static const double most[] = {0, 900, 2000};
    (void)state;
    for (int i = 0; i < WAYS_TO_SEE; i++)
        for (size_t k = 0; k < sizeof largest / sizeof *largest; k++) {
            enum amp_dtype lower = lowers[i % 3];
            enum amp_range_source source = (enum amp_range_source)(i / 3 % 3);
            double proved = most[i / 9 % 3], seen = largest[k];
            bool is_given = i / 27 % 2, is_wide = i / 54;
            start_guarded(lower, source);
            guarded.limits.margin = is_wide ? 2 : 1;
            uint32_t x = input("x", AMP_FLOAT, DIMS(4)), y = NODE("Relu", "y", x);
            output(y);
            see(is_given ? y : x, seen);
            if (proved > 0)
                prove(x, -proved, proved);
            double factor = (is_wide ? 2 : 1) * (source == AMP_RANGES_RANDOM ? 2 : 1);
            bool is_guarded =
                lower == AMP_FLOAT16 || (lower == AMP_BFLOAT16 && source != AMP_RANGES_UNSEEN);
            bool is_beyond = seen * factor > 1024 && (seen > 1024 || proved == 0 || proved > 1024);
            assert_found(y, is_guarded && is_beyond ? AMP_REASON_VALUE_RANGE : AMP_REASON_RULE,
                         is_given ? y : x, seen, source);
            guarded.limits.guards = AMP_GUARDS_OFF;
            assert_none(y);
        }
}

/* What is proved not to be 0, and becomes 0, or to be beyond the limit whatever the inputs are. */
static void what_is_proved_is_held_against_the_limit(void **state)
{
    static const struct {
        double low, high, number;
        enum amp_reason reason;
    } rows[] = {{1024, 1e6, 0, AMP_REASON_RULE},
                {1025, 1e6, 1025, AMP_REASON_VALUE_RANGE},
                {-1e6, -1025, 1025, AMP_REASON_VALUE_RANGE},
                {-1e6, -1024, 0, AMP_REASON_RULE},
                {-1e6, 1e6, 0, AMP_REASON_RULE},
                {0, 1e6, 0, AMP_REASON_RULE},
                {0x1p-25, 1, 0x1p-25, AMP_REASON_FLUSH},
                {-1, -0x1p-26, 0x1p-26, AMP_REASON_FLUSH},
                {0x1.8p-25, 1, 0, AMP_REASON_RULE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int is_half = 0; is_half < 2; is_half++) {
            bool is_flush = rows[i].reason == AMP_REASON_FLUSH;
            start_guarded(is_half ? AMP_FLOAT16 : AMP_BFLOAT16, AMP_RANGES_DATA);
            uint32_t x = input("x", AMP_FLOAT, DIMS(4)), y = NODE("Softsign", "y", x);
            output(y);
            prove(x, rows[i].low, rows[i].high);
            assert_found(y, is_flush && !is_half ? AMP_REASON_RULE : rows[i].reason, x,
                         rows[i].number, AMP_RANGES_UNSEEN);
        }
}

/* A share of the energy, and what divides, however it comes to: ONNX's operators. */
static void what_becomes_0_is_held_against_its_share(void **state)
{
    static const struct {
        const char *op;
        bool is_second, keeps, divides;
    } ops[] = {{"Identity", false, true, false},   {"Transpose", false, true, false},
               {"Sqrt", false, true, false},       {"Abs", false, true, false},
               {"Neg", false, true, false},        {"Mul", false, true, false},
               {"Mul", true, true, false},         {"Div", false, true, false},
               {"Div", true, false, true},         {"Log", false, false, true},
               {"Reciprocal", false, false, true}, {"Add", false, false, false},
               {"Add", true, false, false},        {"Exp", false, false, false}};
    static const double shares[] = {0, 0.25, 0.26};
    static const double least[] = {0, 0x1p-26, 0x1p-25, 0x1.8p-25};
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int k = 0; k < 48; k++) {
            bool is_half = k % 2, is_divided = k / 2 % 2;
            double share = shares[k / 4 % 3], smallest = least[k / 12];
            bool has_two = strcmp(ops[i].op, "Mul") == 0 || strcmp(ops[i].op, "Div") == 0 ||
                           strcmp(ops[i].op, "Add") == 0;
            start_guarded(is_half ? AMP_FLOAT16 : AMP_BFLOAT16, AMP_RANGES_DATA);
            uint32_t o = input("o", AMP_FLOAT, DIMS(2, 2));
            uint32_t y = NODE("Softsign", "y", input("x", AMP_FLOAT, DIMS(2, 2)));
            uint32_t d =
                has_two ? NODE(ops[i].op, "d", ops[i].is_second ? o : y, ops[i].is_second ? y : o)
                        : NODE(ops[i].op, "d", y);
            output(is_divided ? NODE("Div", "q", o, d) : d);
            struct amp_range *seen = see(y, 1);
            seen->smallest = smallest;
            seen->flushed = share;
            bool divides = ops[i].divides || (is_divided && ops[i].keeps);
            bool is_lost = share > 0.25 || (divides && smallest > 0 && smallest <= 0x1p-25);
            assert_found(y, is_half && is_lost ? AMP_REASON_FLUSH : AMP_REASON_RULE, y, smallest,
                         AMP_RANGES_DATA);
        }
}

/* A mask of C and what is added to it: from 65520 on sums are infinite in float16. */
static void masks_add_up_to_infinities(void **state)
{
    static const struct {
        float mask;
        double margin, seen, proved; /* below 0: nothing */
        bool is_too_much;
    } rows[] = {
        {-65504, 1.25, 12.75, -1, false}, {-65504, 1.25, 13, -1, true},
        {-65504, 2, 7.9, -1, false},      {-65504, 2, 8, -1, true},
        {-65504, 2, -1, 15, false},       {-65504, 2, -1, 16, true},
        {-65504, 2, -1, -1, true},        {-65504, 2, 20, 15, false},
        {-1e9f, 1, -1, -1, true},         {-1e9f, 1, 15, -1, false},
        {-60000, 1, -1, -1, false},       {-60000, 1, 60000, -1, false},
        {-60000, 1.5, -1, -1, false},     {-60000, 1.5, 3679, -1, false},
        {-60000, 1.5, 3680, -1, true},    {-60000, 1.5, -1, 5519, false},
        {-60000, 1.5, -1, 5520, true},    {60000, 1.5, -1, 5520, true},
        {-43600, 1.5, 40000, -1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 8; k++) {
            bool is_half = k % 2, is_second = k / 2 % 2, is_sub = k / 4;
            bool is_seen = rows[i].seen >= 0;
            double largest = is_seen ? rows[i].seen : rows[i].proved;
            start_guarded(is_half ? AMP_FLOAT16 : AMP_BFLOAT16, AMP_RANGES_DATA);
            guarded.limits.activation_max = 65504;
            guarded.limits.margin = rows[i].margin;
            uint32_t x = input("x", AMP_FLOAT, DIMS(2)), c = FLOATS("c", rows[i].mask, 0);
            const char *op = is_sub ? "Sub" : "Add";
            uint32_t y = is_second ? NODE(op, "y", x, c) : NODE(op, "y", c, x);
            output(y);
            if (is_seen)
                see(x, rows[i].seen);
            if (rows[i].proved >= 0)
                prove(x, -rows[i].proved, rows[i].proved / 2);
            struct amp_decision found = found_of(y);
            bool is_other = found.reason == AMP_REASON_VALUE_RANGE; /* of x alone */
            assert_int_equal(is_other, is_seen && rows[i].proved < 0 &&
                                           rows[i].seen * rows[i].margin > 65504);
            if (!is_other)
                assert_found(y, is_half && rows[i].is_too_much ? AMP_REASON_MASK : AMP_REASON_RULE,
                             x, largest >= 0 ? largest : INFINITY,
                             is_seen ? AMP_RANGES_DATA : AMP_RANGES_UNSEEN);
        }
}

/* What moves, bounds and adds, or multiplies with no more than 1, leaves a mask one. */
static void masks_go_through_what_keeps_them(void **state)
{
    static const struct {
        const char *op;
        double other; /* seen of the other input; below 0: nothing; 0: there is none */
        bool passes;
    } ops[] = {{"Identity", 0, true}, {"Transpose", 0, true}, {"Max", 1, true},
               {"Min", 1, true},      {"Add", 1, true},       {"Sub", 1, true},
               {"Mul", 1, true},      {"Mul", 1.001, false},  {"Mul", -1, true},
               {"Neg", 0, false},     {"Relu", 0, false},     {"Div", 1, false}};
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int is_second = 0; is_second < 2; is_second++) {
            start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
            guarded.limits.activation_max = 65504;
            guarded.limits.margin = 2;
            uint32_t o = input("o", AMP_FLOAT, DIMS(2, 2)), s = input("s", AMP_FLOAT, DIMS(2, 2));
            uint32_t c = FLOATS("c", -65504);
            uint32_t t = NODE("Where", "t", input("if", AMP_BOOL, DIMS(2, 2)),
                              input("x", AMP_FLOAT, DIMS(2, 2)), c);
            uint32_t u = ops[i].other == 0
                             ? NODE(ops[i].op, "u", t)
                             : NODE(ops[i].op, "u", is_second ? o : t, is_second ? t : o);
            uint32_t y = is_second ? NODE("Add", "y", u, s) : NODE("Add", "y", s, u);
            uint32_t moved = NODE("Identity", "moved", y), next = NODE("Relu", "next", moved);
            output(NODE("Relu", "last", next));
            see(s, 100);
            if (ops[i].other > 0)
                see(o, ops[i].other);
            enum amp_reason reason = ops[i].passes ? AMP_REASON_MASK : AMP_REASON_RULE;
            assert_found(y, reason, s, 100, AMP_RANGES_DATA);
            assert_found(moved, reason, s, 100, AMP_RANGES_DATA);
            assert_found(next, reason, s, 100, AMP_RANGES_DATA);
            assert_none(net.model->graphs[0].outputs.items[0]);
        }
}

/* Of two masks that add up, the second is too much, whatever is known of it. */
static void two_masks_are_too_much(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        guarded.limits.activation_max = 65504;
        guarded.limits.margin = 2;
        uint32_t c = FLOATS("c", -65504, 0), condition = input("if", AMP_BOOL, DIMS(2));
        uint32_t x = input("x", AMP_FLOAT, DIMS(2));
        uint32_t t = NODE("Where", "t", condition, x, i < 2 ? c : x);
        uint32_t y = i % 2 ? NODE("Add", "y", t, c) : NODE("Add", "y", c, t);
        output(y);
        see(x, 1);
        see(t, 65504);
        uint32_t other = i == 1 ? c : t;
        assert_found(y, AMP_REASON_MASK, other, 65504,
                     other == t ? AMP_RANGES_DATA : AMP_RANGES_UNSEEN);
    }
}

/* Moved values beyond the limit are judged where they were seen, not where they are moved to. */
static void what_is_beyond_is_not_passed_on(void **state)
{
    (void)state;
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), moved = NODE("Identity", "moved", x);
    uint32_t y = NODE("Softsign", "y", moved);
    output(y);
    see(x, 2000);
    assert_found(moved, AMP_REASON_VALUE_RANGE, x, 2000, AMP_RANGES_DATA);
    assert_none(y);
}

/* What is found of an input goes on with its elements, unless they have a finding of their own. */
static void what_becomes_0_is_passed_on(void **state)
{
    (void)state;
    for (int has_own = 0; has_own < 2; has_own++) {
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), moved = NODE("Identity", "moved", x);
        uint32_t y = NODE("Softsign", "y", moved), other = NODE("Softsign", "other", y);
        output(other);
        see(x, 1)->flushed = 0.5;
        if (has_own)
            see(moved, 2000);
        if (has_own)
            assert_found(y, AMP_REASON_VALUE_RANGE, moved, 2000, AMP_RANGES_DATA);
        else
            assert_found(y, AMP_REASON_FLUSH, x, 0.5, AMP_RANGES_DATA);
        assert_none(other);
    }
}

/* Of operators that nobody knows what they take and give counts. */
static void values_of_unknown_operators_are_guarded(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        amp_model_import(net.model, "com.example", 1);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), y = NODE("Any", "y", x);
        amp_node_at(net.model, node_of(y))->domain = "com.example";
        amp_value_at(net.model, y)->dtype = AMP_FLOAT;
        output(y);
        see(x, i == 1 ? 2000 : 10);
        see(y, i == 2 ? 3000 : 10);
        assert_found(y, i > 0 ? AMP_REASON_VALUE_RANGE : AMP_REASON_RULE, i == 1 ? x : y,
                     i == 1 ? 2000 : 3000, AMP_RANGES_DATA);
    }
}

/* Partial sums: what was seen, times the magnitudes of a column of weights. */
static void partial_sums_are_held_against_the_limit(void **state)
{
    static const struct {
        double seen;
        float weights[2];
        double most; /* 0: nothing is found */
    } rows[] = {{10, {50, -51}, 0},
                {10, {51, -52}, 1030},
                {-1, {51, -52}, 0},
                {20, {0, 51}, 0},
                {1, {1023, 2}, 1025}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 3; k++) {
            start_guarded(k == 0 ? AMP_BFLOAT16 : AMP_FLOAT16, AMP_RANGES_DATA);
            uint32_t x = input("x", AMP_FLOAT, DIMS(1, 2));
            uint32_t w = constant("w", AMP_FLOAT, DIMS(2, 1), rows[i].weights);
            uint32_t y = NODE(k == 1 ? "MatMul" : "Gemm", "y", x, w);
            output(y);
            if (rows[i].seen >= 0)
                see(x, rows[i].seen);
            struct amp_decision found = found_of(y);
            bool is_too_much = k > 0 && rows[i].most > 0;
            assert_int_equal(found.reason, is_too_much ? AMP_REASON_PARTIAL_SUMS : AMP_REASON_RULE);
            if (!is_too_much)
                continue;
            assert_int_equal(found.value, x);
            assert_int_equal(found.seen, AMP_RANGES_DATA);
            assert_true(fabs(found.number - rows[i].most) < 1e-2);
        }
}

/* ---- any casts --------------------------------------------------------------------------------
 */

enum { FOLD_VALUES = 14 };

static void drop_idle_nodes(void)
{
    for (uint32_t n = (uint32_t)net.model->n_nodes; n-- > 0;) {
        uint32_t *uses = amp_uses_count(net.model);
        if (uses[net_out(n, 0)] == 0)
            amp_node_remove(net.model, n);
        free(uses);
    }
    amp_graph_drop_removed(net.model);
}

/* Draws a model of casts and of what they are between; its outputs, some twice, are in *N_OUTPUTS.
 */
static void draw_casts(uint64_t *seed)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16, AMP_DOUBLE,
                                            AMP_INT8};
    static const int64_t three = 3;
    uint32_t values[FOLD_VALUES];
    int n = 0, n_outputs = 0;
    net_start(22);
    values[n++] = input("x", AMP_FLOAT, DIMS(3));
    values[n++] = input("h", AMP_FLOAT16, DIMS(3));
    values[n++] = input("i", AMP_INT8, DIMS(3));
    values[n++] = FLOATS("c", 0.1f, 99.7f, -3.14159f);
    values[n++] = NODE("ConstantOfShape", "fill",
                       draw(seed, 2) ? input("shape", AMP_INT64, DIMS(1))
                                     : constant("dims", AMP_INT64, DIMS(1), &three));
    bool has_value = draw(seed, 2);
    static const float number = 2.71828f;
    if (has_value) {
        struct amp_tensor **list = amp_arena_alloc(net.arena, sizeof *list);
        *list = net_tensor(AMP_FLOAT, DIMS(1), &number);
        amp_node_set_attr(
            net.model, 0,
            (struct amp_attr){
                .name = "value", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = list});
    }
    while (n < FOLD_VALUES) {
        uint32_t from = values[draw(seed, (unsigned)n)];
        bool is_cast = draw(seed, 4) > 0;
        values[n] = NODE(is_cast ? "Cast" : "Neg", "v", from);
        if (is_cast)
            set_int(values[n], "to", dtypes[draw(seed, 5)]);
        n++;
    }
    while (n_outputs < NET_OUTPUTS) {
        uint32_t id = values[n_outputs == 0 ? FOLD_VALUES - 1 : 5 + draw(seed, FOLD_VALUES - 5)];
        output(id);
        n_outputs++;
    }
    drop_idle_nodes();
}

static void run_casts(void)
{
    static const int64_t three = 3;
    static const float x[3] = {1.2345f, -77.7f, 0.3333f};
    static const int8_t i[3] = {100, -3, 0};
    struct amp_tensor inputs[4] = {*net_tensor(AMP_FLOAT, DIMS(3), x)};
    inputs[1] = *amp_weight_convert(net.model, &inputs[0], AMP_FLOAT16);
    inputs[2] = *net_tensor(AMP_INT8, DIMS(3), i);
    inputs[3] = *net_tensor(AMP_INT64, DIMS(1), &three);
    run_on(inputs);
}

/* No cast is left that changes nothing, unless both sides have names to keep, that another one
   stands for, or that could be left out on the way. */
static void assert_no_idle_cast(bool is_shared)
{
    uint32_t *uses = amp_uses_count(net.model);
    for (uint32_t n = 0; n < net.model->n_nodes; n++) {
        const struct amp_node *node = amp_node_at(net.model, n);
        if (node->is_removed || strcmp(node->op_type, "Cast") != 0)
            continue;
        assert_true(uses[node->outputs[0]] > 0);
        const struct amp_value *in = amp_value_at(net.model, node->inputs[0]);
        const struct amp_value *out = amp_value_at(net.model, node->outputs[0]);
        assert_true(in->dtype != out->dtype ||
                    (out->is_output && (in->is_output || in->is_input || in->constant != NULL)));
        for (uint32_t k = 0; k < n && in->dtype != out->dtype && is_shared; k++) {
            const struct amp_node *other = amp_node_at(net.model, k);
            bool is_same = !other->is_removed && strcmp(other->op_type, "Cast") == 0 &&
                           other->inputs[0] == node->inputs[0] &&
                           amp_value_at(net.model, other->outputs[0])->dtype == out->dtype;
            assert_false(is_same && !out->is_output);
        }
        assert_false(in->constant != NULL && out->constant != NULL && !out->is_output &&
                     amp_dtype_bits(out->dtype) <= amp_dtype_bits(in->dtype));
        if (in->producer == AMP_NONE)
            continue;
        const struct amp_node *before = amp_node_at(net.model, in->producer);
        assert_false(strcmp(before->op_type, "ConstantOfShape") == 0 && !out->is_output &&
                     amp_dtype_is_autocast(out->dtype));
        assert_false(
            strcmp(before->op_type, "Cast") == 0 &&
            amp_dtype_is_exact(amp_value_at(net.model, before->inputs[0])->dtype, in->dtype));
    }
    free(uses);
}

/* Of one value, given or constant, each use has a cast of its own or all share one; casts of a
   constant are one in any case. What takes more room is not stored. */
static void casts_of_one_value_are_shared(void **state)
{
    static const uint16_t halves[2] = {0x3C00, 0x4000};
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool is_shared = i % 2, is_constant = i / 2 % 2, is_other = i / 4;
        net_start(22);
        uint32_t x = is_constant ? constant("x", AMP_FLOAT16, DIMS(2), halves)
                                 : input("x", AMP_FLOAT16, DIMS(2));
        uint32_t a = NODE("Cast", "a", x), b = NODE("Cast", "b", x);
        set_int(a, "to", AMP_FLOAT);
        set_int(b, "to", is_other ? AMP_DOUBLE : AMP_FLOAT);
        output(NODE("Neg", "y", a));
        output(NODE("Neg", "z", b));
        infer_all();
        bool is_one = !is_other && (is_shared || is_constant);
        assert_int_equal(amp_cast_fold(net.model, is_shared, 0), is_one ? 1 : 0);
        assert_int_equal(amp_cast_count(net.model), is_one ? 1 : 2);
    }
}

/* Whatever folds, the outputs keep their names and all their bits. */
static void casts_that_fold_change_no_bit(void **state)
{
    uint64_t seed = 23;
    (void)state;
    for (int i = 0; i < 600; i++) {
        const char *names[NET_OUTPUTS];
        double wanted[NET_OUTPUTS][3];
        enum amp_dtype dtypes[NET_OUTPUTS];
        bool is_shared = draw(&seed, 2);
        draw_casts(&seed);
        run_casts();
        for (int o = 0; o < NET_OUTPUTS; o++) {
            names[o] = amp_value_at(net.model, net.model->graphs[0].outputs.items[o])->name;
            dtypes[o] = net.outputs[o].dtype;
            for (size_t k = 0; k < 3; k++)
                wanted[o][k] = dtypes[o] == AMP_INT8 ? (double)amp_tensor_int(&net.outputs[o], k)
                                                     : amp_tensor_double(&net.outputs[o], k);
        }
        size_t before = net.model->graphs[0].nodes.count;
        size_t n_removed = amp_cast_fold(net.model, is_shared, 0);
        assert_true(net.model->graphs[0].nodes.count <= before && n_removed <= before);
        assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
        assert_no_idle_cast(is_shared);
        const struct amp_ids *outputs = &net.model->graphs[0].outputs;
        for (uint32_t v = 0; v < net.model->n_values; v++) {
            bool is_given = false;
            for (size_t o = 0; o < outputs->count; o++)
                is_given |= outputs->items[o] == v;
            assert_int_equal(amp_value_at(net.model, v)->is_output, is_given);
        }
        run_casts();
        for (int o = 0; o < NET_OUTPUTS; o++) {
            assert_string_equal(
                amp_value_at(net.model, net.model->graphs[0].outputs.items[o])->name, names[o]);
            assert_int_equal(net.outputs[o].dtype, dtypes[o]);
            for (size_t k = 0; k < 3; k++) {
                double found = dtypes[o] == AMP_INT8 ? (double)amp_tensor_int(&net.outputs[o], k)
                                                     : amp_tensor_double(&net.outputs[o], k);
                if (found != wanted[o][k])
                    fail_msg("model %d, '%s': %.17g; %.17g is right", i, names[o], found,
                             wanted[o][k]);
            }
        }
    }
}

/* ---- all cases --------------------------------------------------------------------------------
 */

/* What a node is to take, by its input's number. */
struct taken {
    enum amp_dtype *dtypes;
    uint32_t count;
};

static struct taken *note_taken(const struct amp_model *model,
                                const struct amp_assignment *assignment)
{
    struct taken *taken = amp_arena_array(model->arena, model->n_nodes, sizeof *taken);
    assert_int_equal(assignment->n_nodes, model->n_nodes);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        taken[id] = (struct taken){
            amp_arena_array(model->arena, node->n_inputs + 1, sizeof(enum amp_dtype)),
            node->is_removed ? 0 : node->n_inputs};
        for (uint32_t i = 0; i < taken[id].count; i++) {
            bool is_float = node->inputs[i] != AMP_NONE &&
                            amp_dtype_is_autocast(assignment->values[node->inputs[i]]);
            taken[id].dtypes[i] = is_float
                                      ? amp_assigned_dtype(model, assignment, id, node->schema, i)
                                      : AMP_UNDEFINED;
        }
    }
    return taken;
}

static void assert_taken(const char *path, const struct amp_model *model, const struct taken *taken,
                         size_t n_nodes)
{
    for (uint32_t id = 0; id < n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < taken[id].count && !node->is_removed; i++)
            if (taken[id].dtypes[i] != AMP_UNDEFINED &&
                amp_value_at(model, node->inputs[i])->dtype != taken[id].dtypes[i])
                fail_msg("%s: input %d of %s %d, '%s', is %s; %s is right", path, (int)i,
                         node->op_type, (int)id, amp_value_at(model, node->inputs[i])->name,
                         amp_dtype_name(amp_value_at(model, node->inputs[i])->dtype),
                         amp_dtype_name(taken[id].dtypes[i]));
    }
}

/* Casts the model at PATH by the rules of OPTIONS; whether there was anything to cast. */
static bool cast_case(const char *path, struct amp_assign_options options)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    struct amp_assignment assignment;
    struct amp_inserted_casts casts = {.count = 0};
    const char *obstacle = NULL;
    size_t estimate = 0;
    if (amp_model_read(path, &file, &err) != AMP_OK)
        return false;
    struct amp_model *model = file.model;
    bool is_settled = amp_infer(model, &err) == AMP_OK &&
                      amp_settle(model, options, &assignment, &obstacle, &err) == AMP_OK &&
                      amp_infer(model, &err) == AMP_OK;
    options.cap = is_settled ? (int)amp_model_opset(model, "") : 0;
    if (is_settled && amp_assign(model, &options, &assignment, &err) == AMP_OK) {
        const struct amp_ids *outputs = &model->graphs[0].outputs;
        struct amp_value *before =
            amp_arena_array(model->arena, outputs->count + 1, sizeof *before);
        for (size_t o = 0; o < outputs->count; o++)
            before[o] = *amp_value_at(model, outputs->items[o]);
        const struct taken *taken = note_taken(model, &assignment);
        size_t n_nodes = model->n_nodes;
        bool is_exact = model->n_graphs == 1;
        for (uint32_t v = 0; v < model->n_values; v++)
            is_exact &= amp_value_at(model, v)->constant == NULL ||
                        assignment.values[v] == amp_value_at(model, v)->dtype;
        estimate = amp_assignment_casts(model, &assignment);
        if (amp_cast_insert(model, &assignment, true, &casts, &err) != AMP_OK)
            fail_msg("%s", err.text);
        if (casts.count != estimate && is_exact)
            fail_msg("%s: %zu casts; %zu were to be", path, casts.count, estimate);
        assert_taken(path, model, taken, n_nodes);
        for (size_t o = 0; o < outputs->count; o++) {
            assert_string_equal(amp_value_at(model, outputs->items[o])->name, before[o].name);
            assert_int_equal(amp_value_at(model, outputs->items[o])->dtype, before[o].dtype);
        }
        for (size_t c = 0; c < casts.count; c++) {
            const struct amp_node *cast = amp_node_at(model, casts.items[c].cast);
            assert_string_equal(cast->op_type, "Cast");
            assert_true(amp_value_at(model, cast->inputs[0])->dtype !=
                        amp_value_at(model, cast->outputs[0])->dtype);
        }
        if (amp_graph_check(model, &err) != AMP_OK)
            fail_msg("%s", err.text);
    }
    amp_model_close(&file);
    return estimate > 0;
}

/* Nodes of all cases take what they were given, with as many casts as were counted; but for bodies
   and for constants of another dtype than before. */
static void nodes_take_what_they_were_given(void **state)
{
    static const char *const rules[] = {"unlisted: lower\n", "unlisted: fp32\nrules:\n  - "
                                                             "{precision: lower, ops: [MatMul, "
                                                             "Conv, Gemm, Relu, Add, Reshape]}\n"};
    static const char *const folders[] = {"convert", "composites", "ranges"};
    const char *cases = getenv("CASES");
    size_t n_cast = 0;
    assert_non_null(cases);
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        char pattern[1024], text[256];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s/*/model.onnx", cases, folders[f]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (int r = 0; r < 4; r++) {
            snprintf(text, sizeof text, HEAD "%s", rules[r / 2]);
            reload(*state, text);
            struct fixture *fixture = *state;
            const struct amp_assign_options options = {
                .rules = fixture->rules, .lower = r % 2 ? AMP_FLOAT16 : AMP_BFLOAT16, .cap = 22};
            for (size_t i = 0; i < found.gl_pathc; i++)
                n_cast += cast_case(found.gl_pathv[i], options);
        }
        globfree(&found);
    }
    assert_true(n_cast > 500);
}

/* ---- what was asked of an operator ------------------------------------------------------------
 */

/* A softmax that was asked for float32 has it unless a rule names a dtype; any other is what it
   takes. */
static void who_asks_for_float32_has_it(void **state)
{
    static const struct {
        const char *rule;
        enum amp_dtype asking, other;
    } rows[] = {{"", AMP_FLOAT, AMP_BFLOAT16},
                {"  - {precision: widest, ops: [Softmax]}\n", AMP_FLOAT, AMP_BFLOAT16},
                {"  - {precision: fp32, ops: [Softmax]}\n", AMP_FLOAT, AMP_FLOAT},
                {"  - {precision: lower, ops: [Softmax]}\n", AMP_BFLOAT16, AMP_BFLOAT16}};
    static const float weights[16] = {1};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int asks = 0; asks < 2; asks++) {
            char text[256];
            struct amp_assignment assignment;
            snprintf(text, sizeof text, HEAD "rules:\n  - {precision: lower, ops: [matmul]}\n%s",
                     rows[i].rule);
            reload(f, text);
            struct amp_assign_options options = {
                .rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
            net_start(17);
            net.model->producer = "pytorch";
            uint32_t w = constant("w", AMP_FLOAT, DIMS(4, 4), weights);
            uint32_t m = NODE("MatMul", "m", input("x", AMP_FLOAT, DIMS(2, 4)), w);
            uint32_t y = NODE("Softmax", "y", m);
            uint32_t used = NODE(asks ? "Cast" : "Neg", "used", y);
            if (asks)
                set_int(used, "to", AMP_FLOAT);
            output(used);
            infer_all();
            assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
            assert_int_equal(assignment.nodes[node_of(m)].dtype, AMP_BFLOAT16);
            assert_int_equal(assignment.nodes[node_of(y)].dtype,
                             asks ? rows[i].asking : rows[i].other);
        }
}

/* At the cap an operator has its newest definition up to there, unless that says that it is no
   more, or the operator is newer or of another set. */
static void operators_have_their_definition_at_the_cap(void **state)
{
    static const struct {
        const char *op;
        int since, cap, found;
    } rows[] = {{"Relu", 6, 13, 13},   {"Relu", 6, 12, 6},     {"Relu", 13, 14, 14},
                {"Relu", 13, 22, 14},  {"Upsample", 9, 9, 9},  {"Upsample", 9, 10, 9},
                {"Upsample", 7, 9, 9}, {"Upsample", 7, 22, 7}, {"Scatter", 9, 10, 9},
                {"Scatter", 9, 11, 9}, {"Scatter", 9, 22, 9},  {"RMSNormalization", 23, 20, 23}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_node node = {.op_type = rows[i].op, .domain = ""};
        node.schema = amp_schema_find("", rows[i].op, rows[i].since);
        assert_non_null(node.schema);
        const struct amp_schema *found = amp_schema_at_cap(&node, rows[i].cap);
        assert_int_equal(found->since_version, rows[i].found);
        assert_false(found->deprecated);
    }
    struct amp_node node = {.op_type = "Scaler", .domain = "ai.onnx.ml"};
    node.schema = amp_schema_find("ai.onnx.ml", "Scaler", 1);
    assert_ptr_equal(amp_schema_at_cap(&node, 22), node.schema);
}

/* What makes gradients and what is made of them keeps its types, with what they are by; what a loss
   is computed from does not, nor what has to do with neither, unless all is an algorithm. */
static void what_gradients_are_for_is_kept(void **state)
{
    enum { NO_GRADIENT, MAIN, ALGORITHM, BY_A_POINT, BY_NOTHING, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct amp_training_role role = {.is_algorithm = i == ALGORITHM};
        net_start(17);
        amp_model_import(net.model, "ai.onnx.preview.training", 1);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2)), w = input("w", AMP_FLOAT, DIMS(2, 2));
        uint32_t by = NODE("Identity", "by", w), m = NODE("MatMul", "m", x, by);
        uint32_t loss = NODE("ReduceSum", "loss", m), other = NODE("Relu", "other", x);
        bool has_gradient = i == MAIN || i == ALGORITHM || i == BY_NOTHING;
        uint32_t g = has_gradient ? NODE("Identity", "g", by) : by;
        if (has_gradient) {
            const struct amp_str xs[] = {{i == BY_NOTHING ? "no" : "by", 2}};
            amp_node_at(net.model, node_of(g))->op_type = "Gradient";
            amp_node_at(net.model, node_of(g))->domain = "ai.onnx.preview.training";
            set_array(g, "xs", AMP_ATTR_STRINGS, 1, xs, sizeof *xs);
            set_word(g, "y", "loss");
        }
        uint32_t step = NODE("Neg", "step", g), next = NODE("Add", "next", w, step);
        if (i == BY_A_POINT)
            amp_ids_push(net.model, &role.points, m);
        const bool *keeps = amp_training_keep(net.model, &role);
        assert_int_equal(keeps == NULL, i == NO_GRADIENT);
        if (keeps == NULL)
            continue;
        assert_int_equal(keeps[node_of(by)], has_gradient && i != BY_NOTHING);
        assert_int_equal(keeps[node_of(m)], i == BY_A_POINT);
        assert_false(keeps[node_of(loss)]);
        assert_int_equal(keeps[node_of(other)], i == ALGORITHM);
        if (has_gradient)
            assert_true(keeps[node_of(g)]);
        assert_int_equal(keeps[node_of(step)], has_gradient);
        assert_int_equal(keeps[node_of(next)], has_gradient);
    }
}

/* The one that asks for what 16 bits do not hold is refused, unless a rule decides on it or it is
   kept as it is. */
static void losses_without_a_bound_are_refused(void **state)
{
    static const char *const names[] = {"mse_loss", "binary_cross_entropy",
                                        "binary_cross_entropy_with_logits"};
    static const enum amp_reason reasons[] = {AMP_REASON_RULE, AMP_REASON_TRAINING};
    static const struct amp_rule rule = {.precision = AMP_FP32};
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), y = NODE("Neg", "y", x);
    output(NODE("ReduceMean", "loss", y));
    infer_all();
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 2; k++)
            for (int has_rule = 0; has_rule < 2; has_rule++) {
                struct amp_whole items[] = {{.name = "mse_loss", .root = node_of(y)},
                                            {.name = names[i], .root = 1}};
                struct amp_decision nodes[2] = {{.reason = AMP_REASON_RULE}};
                const struct amp_wholes wholes = {.items = items, .count = 2};
                const struct amp_assignment assignment = {
                    .nodes = nodes, .wholes = &wholes, .lower = AMP_FLOAT16};
                bool is_refused = i == 1 && k == 0 && has_rule == 0;
                nodes[1].reason = reasons[k];
                nodes[1].rule = has_rule ? &rule : NULL;
                net.err = (struct amp_error){.status = AMP_OK};
                assert_int_equal(amp_training_loss_check(net.model, &assignment, &net.err),
                                 is_refused ? AMP_UNSUPPORTED : AMP_OK);
                if (is_refused)
                    assert_string_equal(
                        net.err.text,
                        "net.onnx: node 1 with output 'loss' (ReduceMean-13): "
                        "binary_cross_entropy has gradients that float16 cannot hold, and no rule "
                        "names it: use binary_cross_entropy_with_logits, without the Sigmoid, or "
                        "keep it by --op binary_cross_entropy=fp32");
            }
}

/* ---- dtypes that a node may have ------------------------------------------------------------- */

/* Decisions by rules that lower all, with OPTIONS' dtypes, cap and runtimes. */
static struct amp_assignment assign_all(struct fixture *f, struct amp_assign_options options)
{
    struct amp_assignment assignment;
    reload(f, HEAD "rules:\n  - {precision: lower, nodes: ['*']}\n");
    options.rules = f->rules;
    infer_all();
    if (amp_assign(net.model, &options, &assignment, &net.err) != AMP_OK)
        fail_msg("%s", net.err.text);
    return assignment;
}

/* Attributes that are data of the node's type keep it; others do not. */
static void attributes_that_are_data_keep_the_type(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16, AMP_DOUBLE,
                                            AMP_INT64};
    static const double data[2];
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (size_t count = 0; count < 3; count++) {
            struct amp_decision decision = {.reason = AMP_REASON_RULE};
            struct amp_tensor *tensors[2];
            uint32_t y = start_one("Relu", 17, AMP_FLOAT, DIMS(2));
            infer_all();
            for (int k = 0; k < 2; k++)
                tensors[k] = net_tensor(dtypes[i], DIMS(2), data);
            if (count > 0)
                set_array(y, "data", count == 1 ? AMP_ATTR_TENSOR : AMP_ATTR_TENSORS, count,
                          tensors, sizeof *tensors);
            struct amp_uses uses = amp_uses_create(net.model);
            const struct amp_eligibility eligibility = {net.model, &uses, 22, false};
            bool is_kept = count == 1 && i < 3;
            const struct amp_node *node = amp_node_at(net.model, node_of(y));
            assert_int_equal(amp_node_is_eligible(&eligibility, node, &decision), !is_kept);
            assert_int_equal(decision.reason,
                             is_kept ? AMP_REASON_EXPLICIT_DTYPE : AMP_REASON_RULE);
            assert_int_equal(decision.dtype, is_kept ? AMP_FLOAT : AMP_UNDEFINED);
            amp_uses_destroy(&uses);
        }
}

/* Relu takes bfloat16 since opset 13, which it cannot have below; float16 it has taken before. */
static void the_second_dtype_is_for_what_lacks_the_first(void **state)
{
    static const struct {
        enum amp_dtype lower, second;
        int cap;
        enum amp_dtype dtype;
    } rows[] = {{AMP_BFLOAT16, AMP_FLOAT16, 12, AMP_FLOAT16},
                {AMP_BFLOAT16, AMP_FLOAT16, 13, AMP_BFLOAT16},
                {AMP_BFLOAT16, AMP_UNDEFINED, 12, AMP_FLOAT},
                {AMP_BFLOAT16, AMP_UNDEFINED, 13, AMP_BFLOAT16},
                {AMP_FLOAT16, AMP_BFLOAT16, 12, AMP_FLOAT16},
                {AMP_FLOAT16, AMP_UNDEFINED, 12, AMP_FLOAT16}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t y = start_one("Relu", 12, AMP_FLOAT, DIMS(2));
        struct amp_assignment assignment = assign_all(
            *state, (struct amp_assign_options){
                        .lower = rows[i].lower, .second = rows[i].second, .cap = rows[i].cap});
        assert_int_equal(assignment.nodes[0].dtype, rows[i].dtype);
        assert_int_equal(assignment.values[y], rows[i].dtype);
        assert_int_equal(assignment.nodes[0].reason,
                         rows[i].dtype == AMP_FLOAT ? AMP_REASON_OPSET : AMP_REASON_RULE);
        assert_int_equal(assignment.opset, rows[i].dtype == AMP_BFLOAT16 ? 13 : 12);
    }
}

/* ONNX Runtime has no Relu in bfloat16 on CPU; one that the model has so already is the user's. */
static void what_was_lower_lacks_no_runtime(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16};
    const struct amp_runtimes runtimes = {.items = {amp_runtime_find("ort-cpu")}, .count = 1};
    for (int i = 0; i < 2; i++) {
        start_one("Relu", 17, dtypes[i], DIMS(2));
        struct amp_assignment assignment = assign_all(
            *state,
            (struct amp_assign_options){.lower = AMP_BFLOAT16, .cap = 22, .runtimes = &runtimes});
        const struct amp_decision *decision = &assignment.nodes[0];
        assert_int_equal(decision->dtype, dtypes[i]);
        assert_int_equal(decision->reason, i == 0 ? AMP_REASON_RUNTIME : AMP_REASON_RULE);
        assert_ptr_equal(decision->runtime, i == 0 ? runtimes.items[0] : NULL);
    }
}

/* A product is lowered by itself, where the sum of its layer overflows. */
static void products_are_no_hostages(void **state)
{
    static const float weights[16] = {1};
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        struct amp_assignment assignment;
        reload(f, HEAD "rules:\n  - {precision: lower, ops: [linear]}\n");
        net_start(17);
        uint32_t m = NODE("MatMul", "m", input("x", AMP_FLOAT, DIMS(4, 4)),
                          constant("w", AMP_FLOAT, DIMS(4, 4), weights));
        uint32_t y = NODE("Add", "y", m, FLOATS("b", 1, 2, 3, 4));
        output(y);
        infer_all();
        struct amp_ranges *ranges = amp_ranges_create(net.arena);
        ranges->source = AMP_RANGES_DATA;
        amp_ranges_entry(ranges, "y")->seen = (struct amp_range){.count = 1,
                                                                 .minimum = 1,
                                                                 .maximum = i == 0 ? 1000 : 100000,
                                                                 .smallest = 1,
                                                                 .energy = 1};
        struct amp_assign_options options = {
            .rules = f->rules, .lower = AMP_FLOAT16, .cap = 22, .ranges = ranges};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_int_equal(assignment.nodes[node_of(m)].dtype, AMP_FLOAT16);
        assert_int_equal(assignment.nodes[node_of(m)].reason, AMP_REASON_RULE);
        assert_int_equal(assignment.nodes[node_of(y)].dtype, i == 0 ? AMP_FLOAT16 : AMP_FLOAT);
        assert_int_equal(assignment.nodes[node_of(y)].reason,
                         i == 0 ? AMP_REASON_RULE : AMP_REASON_VALUE_RANGE);
    }
}

/* What is one number in all the shape of the output does not widen it; any other constant does. */
static void fillings_promote_nothing(void **state)
{
    static const float data[][4] = {{7, 7, 7, 7}, {7, 7, 7, 8}, {8, 7, 7, 7},
                                    {7, 7, 7, 7}, {7, 7, 7, 7}, {7, 7, 7, 7}};
    struct fixture *f = *state;
    for (int k = 0; k < 12; k++) {
        struct amp_assignment assignment;
        bool follows = k % 2;
        int i = k / 2;
        reload(f, follows ? HEAD "constants: follow\nrules:\n  - {precision: lower, ops: [Neg]}\n"
                          : HEAD
                      "constants: promote\nrules:\n  - {precision: lower, ops: [Neg]}\n");
        net_start(17);
        uint32_t low = NODE("Neg", "low", input("x", AMP_FLOAT, DIMS(2, 2)));
        uint32_t fill = constant("fill", AMP_FLOAT,
                                 i == 3   ? DIMS(1, 2)
                                 : i == 4 ? DIMS(2)
                                          : DIMS(2, 2),
                                 data[i]);
        uint32_t y = NODE("Where", "y", input("c", AMP_BOOL, DIMS(2, 2)), low, fill);
        output(y);
        if (i == 5)
            amp_node_at(net.model, node_of(y))->note.fx_node = "where: aten.where.self";
        infer_all();
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        if (assignment.values[y] != (i == 0 || follows ? AMP_BFLOAT16 : AMP_FLOAT))
            fail_msg("%d: %s", i, amp_dtype_name(assignment.values[y]));
        assert_int_equal(assignment.has_promoting_constants, i > 0 && !follows);
    }
}

/* The values of a constant are looked at once, however often they are asked for. */
static void guards_are_looked_at_once(void **state)
{
    float huge = -1e30f;
    (void)state;
    net_start(17);
    uint32_t c = constant("c", AMP_FLOAT, DIMS(1), &huge);
    output(NODE("Add", "y", input("x", AMP_FLOAT, DIMS(1)), c));
    infer_all();
    struct amp_static_values *values = amp_static_values_create(net.model, AMP_FLOAT16, 65504);
    amp_static_values_add(values, amp_node_at(net.model, 0));
    assert_true(amp_static_values_is_guard(values, c, AMP_GUARD_NONE));
    *(float *)amp_value_at(net.model, c)->constant->data = 1e20f;
    assert_true(amp_static_values_is_guard(values, c, AMP_GUARD_NONE));
    amp_static_values_destroy(values);
}

/* ---- what a model says of its conversion ----------------------------------------------------- */

/* A model says that it was converted when a value has another dtype, or a cast came or went. */
static void what_changed_is_said(void **state)
{
    enum { NOTHING, INPUT, OUTPUT, REMOVED, NEW_VALUE, NEW_CAST, LESS_CASTS, SILENT, CASES };
    struct fixture *f = *state;
    reload(f, HEAD "rules: []\n");
    for (int i = 0; i < CASES; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), unused = input("unused", AMP_FLOAT, DIMS(2));
        uint32_t cast = NODE("Cast", "cast", x), y = NODE("Neg", "y", cast);
        uint32_t gone = NODE("Exp", "gone", unused);
        set_int(cast, "to", AMP_FLOAT);
        output(y);
        infer_all();
        Onnx__ModelProto proto = ONNX__MODEL_PROTO__INIT;
        net.model->origin = &proto;
        struct amp_provenance before = amp_provenance_begin(net.model);
        if (i == INPUT || i == SILENT)
            amp_value_at(net.model, x)->dtype = AMP_FLOAT16;
        if (i == OUTPUT)
            amp_value_at(net.model, y)->dtype = AMP_FLOAT16;
        if (i == REMOVED) {
            amp_value_at(net.model, gone)->dtype = AMP_FLOAT16;
            amp_node_remove(net.model, node_of(gone));
        }
        if (i == NEW_VALUE)
            output(NODE("Neg", "new", y));
        if (i == NEW_CAST)
            set_int(NODE("Cast", "more", x), "to", AMP_FLOAT16);
        if (i == LESS_CASTS) {
            amp_node_remove(net.model, node_of(cast));
            amp_node_at(net.model, node_of(y))->inputs[0] = x;
        }
        bool is_said = i != NOTHING && i != REMOVED && i != SILENT;
        amp_provenance_end(net.model, &before, f->rules, AMP_DTYPE_BIT(AMP_FLOAT16), i == SILENT);
        assert_int_equal(proto.n_metadata_props, is_said ? 3 : 0);
    }
}

/* A node is decided on when the dtypes of all that it takes as its type and of all that it gives
   are known; one with bodies never is. */
static void unknown_dtypes_are_not_decided_on(void **state)
{
    (void)state;
    for (int unknown = 0; unknown < 4;
         unknown++) { /* none, or one of the two inputs, or the output */
        struct amp_decision decision = {.reason = AMP_REASON_RULE};
        net_start(17);
        uint32_t a = input("a", AMP_FLOAT, DIMS(2)), b = input("b", AMP_FLOAT, DIMS(2));
        uint32_t y = NODE("Add", "y", a, b);
        output(y);
        infer_all();
        const uint32_t values[] = {AMP_NONE, a, b, y};
        if (unknown > 0)
            amp_value_at(net.model, values[unknown])->dtype = AMP_UNDEFINED;
        struct amp_uses uses = amp_uses_create(net.model);
        const struct amp_eligibility eligibility = {net.model, &uses, 22, false};
        const struct amp_node *node = amp_node_at(net.model, node_of(y));
        assert_int_equal(amp_node_is_eligible(&eligibility, node, &decision), unknown == 0);
        assert_int_equal(decision.reason, unknown == 0 ? AMP_REASON_RULE : AMP_REASON_UNKNOWN_TYPE);
        amp_uses_destroy(&uses);
    }
    struct amp_decision decision = {.reason = AMP_REASON_RULE};
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), c = input("c", AMP_BOOL, SCALAR);
    uint32_t either = NODE("If", "either", c);
    add_branch(node_of(either), "then_branch", "Neg", x);
    add_branch(node_of(either), "else_branch", "Exp", x);
    struct amp_uses uses = amp_uses_create(net.model);
    const struct amp_eligibility eligibility = {net.model, &uses, 22, false};
    const struct amp_node *node = amp_node_at(net.model, node_of(either));
    assert_false(amp_node_is_eligible(&eligibility, node, &decision));
    assert_int_equal(decision.reason, AMP_REASON_CONTROL_FLOW);
    amp_uses_destroy(&uses);
}

/* What the runtime of this program has in both dtypes, as all that is in the table, stays lower. */
static void what_a_runtime_has_is_lowered(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_BFLOAT16, AMP_FLOAT16};
    const struct amp_runtimes runtimes = {.items = {amp_runtime_find("ampconv")}, .count = 1};
    for (int i = 0; i < 2; i++) {
        start_one("Relu", 17, AMP_FLOAT, DIMS(2));
        struct amp_assignment assignment = assign_all(
            *state,
            (struct amp_assign_options){.lower = dtypes[i], .cap = 22, .runtimes = &runtimes});
        assert_int_equal(assignment.nodes[0].dtype, dtypes[i]);
        assert_int_equal(assignment.nodes[0].reason, AMP_REASON_RULE);
        assert_null(assignment.nodes[0].runtime);
        assert_true(amp_assignment_changes(net.model, &assignment));
        assignment = assign_all(*state, (struct amp_assign_options){.lower = AMP_FLOAT, .cap = 22});
        assert_false(amp_assignment_changes(net.model, &assignment));
    }
}

/* Each dtype has a cast of its own, which all share who take the value in it, and the outputs of
   the graph are those that are marked. */
static void each_dtype_has_one_cast(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16};
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++)
        for (int lower = 1; lower < 3; lower++) {
            struct amp_assignment assignment;
            struct amp_inserted_casts casts = {.count = 0};
            reload(f, HEAD "rules:\n  - {precision: lower, ops: [Neg]}\n"
                           "  - {precision: fp32, ops: [Exp]}\n");
            net_start(22);
            uint32_t x = input("x", dtypes[i], DIMS(2)), made[4];
            for (int k = 0; k < 4; k++)
                output(made[k] = NODE(k < 2 ? "Neg" : "Exp", "y", x));
            infer_all();
            struct amp_assign_options options = {
                .rules = f->rules, .lower = dtypes[lower], .cap = 22};
            assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
            uint32_t nodes[4];
            for (int k = 0; k < 4; k++)
                nodes[k] = node_of(made[k]);
            assert_int_equal(amp_cast_insert(net.model, &assignment, true, &casts, &net.err),
                             AMP_OK);
            for (int k = 0; k < 4; k++) {
                uint32_t taken = amp_node_at(net.model, nodes[k])->inputs[0];
                enum amp_dtype wanted = k < 2 ? dtypes[lower] : AMP_FLOAT;
                assert_int_equal(amp_value_at(net.model, taken)->dtype, wanted);
                assert_int_equal(taken, amp_node_at(net.model, nodes[k / 2 * 2])->inputs[0]);
                assert_int_equal(taken == x, wanted == dtypes[i]);
            }
            const struct amp_ids *outputs = &net.model->graphs[0].outputs;
            size_t n_marked = 0;
            for (uint32_t v = 0; v < net.model->n_values; v++)
                n_marked += amp_value_at(net.model, v)->is_output;
            assert_int_equal(n_marked, 4);
            assert_int_equal(outputs->count, 4);
            for (size_t k = 0; k < 4; k++) {
                assert_true(amp_value_at(net.model, outputs->items[k])->is_output);
                assert_int_equal(amp_value_at(net.model, outputs->items[k])->dtype, dtypes[i]);
            }
        }
}

/* ---- composites that are one operator of PyTorch's --------------------------------------------
 */

enum written { SWISH, RMS, LAYER_NORM, GELU_BY_POW, GELU_BY_MUL, SOFTPLUS, LINEAR, ADDCMUL };

static uint32_t number(float value)
{
    return constant(amp_model_unique_name(net.model, "c"), AMP_FLOAT, SCALAR, &value);
}

/* A model of the nodes that WRITTEN is; the last of them gives the output. */
static uint32_t write_out(enum written written, int opset, const char *producer)
{
    static const float weights[16];
    net_start(opset);
    net.model->producer = producer;
    uint32_t x = input("x", AMP_FLOAT, DIMS(4, 4)), y = AMP_NONE;
    if (written == SWISH)
        y = NODE("Mul", "y", x, NODE("Sigmoid", "s", x));
    if (written == RMS) {
        uint32_t mean = NODE("ReduceMean", "mean", NODE("Pow", "p", x, number(2)));
        SET_INTS(mean, "axes", -1);
        uint32_t root = NODE("Sqrt", "root", NODE("Add", "a", mean, number(1e-5f)));
        y = NODE("Div", "y", x, root);
    }
    if (written == LAYER_NORM) {
        uint32_t mean = NODE("ReduceMean", "mean", x), d = NODE("Sub", "d", x, mean);
        uint32_t square = NODE("ReduceMean", "square", NODE("Pow", "p", d, number(2)));
        SET_INTS(mean, "axes", -1);
        SET_INTS(square, "axes", -1);
        y = NODE("Div", "y", d, NODE("Sqrt", "root", NODE("Add", "a", square, number(1e-5f))));
    }
    if (written == GELU_BY_POW || written == GELU_BY_MUL) {
        uint32_t cube = written == GELU_BY_POW ? NODE("Pow", "cube", x, number(3))
                                               : NODE("Mul", "cube", x, NODE("Mul", "q", x, x));
        uint32_t sum = NODE("Add", "sum", x, NODE("Mul", "m", cube, number(0.044715f)));
        uint32_t t = NODE("Tanh", "t", NODE("Mul", "i", sum, number(0.79788456f)));
        uint32_t h = NODE("Mul", "h", x, NODE("Add", "plus", t, number(1)));
        y = NODE("Mul", "y", h, number(0.5f));
    }
    if (written == SOFTPLUS)
        y = NODE("Log", "y", NODE("Add", "a", NODE("Exp", "e", x), number(1)));
    if (written == LINEAR) {
        uint32_t w = constant("w", AMP_FLOAT, DIMS(4, 4), weights);
        y = NODE("Add", "y", NODE("MatMul", "m", x, w), FLOATS("b", 1, 2, 3, 4));
    }
    if (written == ADDCMUL) {
        uint32_t z = input("z", AMP_FLOAT, DIMS(4, 4)), v = input("v", AMP_FLOAT, DIMS(4, 4));
        y = NODE("Add", "y", z, NODE("Mul", "f", NODE("Mul", "m", x, v), FLOATS("half", 0.5f)));
    }
    output(y);
    infer_all();
    return y;
}

/* What a composite is to PyTorch, the table says: one operator, its parts unless a rule names it,
   or the one or the other by its form, which is not PyTorch's if it has what nobody exports. */
static void composites_are_what_the_table_says(void **state)
{
    static const struct {
        enum written written;
        int opset;
        const char *producer, *ops;
        size_t n_nodes; /* of the whole; 0: there is none */
        bool promotes;
    } rows[] = {
        {SWISH, 17, "pytorch", "softmax", 2, true},
        {SWISH, 17, "other", "softmax", 2, true},
        {RMS, 17, "pytorch", "softmax", 0, false},
        {RMS, 17, "pytorch", "rms_norm", 5, false},
        {RMS, 17, "pytorch", "'composite::RMSNormalization', softmax", 5, false},
        {LAYER_NORM, 17, "pytorch", "softmax", 0, false}, /* of which there is an operator there */
        {LAYER_NORM, 16, "pytorch", "softmax", 7, false},
        {LAYER_NORM, 17, "other", "softmax", 7, false},
        {LAYER_NORM, 17, "pytorch", "layer_norm", 0, false},
        {LAYER_NORM, 17, "pytorch", "LayerNormalization, softmax", 7, false},
        {GELU_BY_POW, 17, "pytorch", "softmax", 0, false},
        {GELU_BY_POW, 17, "pytorch", "gelu", 0, false},
        {GELU_BY_POW, 17, "pytorch", "Gelu, softmax", 8, true},
        {GELU_BY_POW, 17, "pytorch", "com.microsoft::Gelu, softmax", 0, false},
        {GELU_BY_POW, 17, "pytorch", "feature_dropout, softmax", 0, false},
        {GELU_BY_MUL, 17, "pytorch", "softmax", 9, true},
        {SOFTPLUS, 17, "pytorch", "softmax", 2, true}, /* log1p, which is one */
        {SOFTPLUS, 17, "pytorch", "softplus", 2, true},
        {SOFTPLUS, 17, "pytorch", "Softplus, softmax", 3, true},
        {SOFTPLUS, 17, "other", "softmax", 3, true},
        {LINEAR, 17, "pytorch", "softmax", 2, false},
        {ADDCMUL, 17, "pytorch", "softmax", 3, true},
    };
    struct fixture *f = *state;
    bool are_all = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "rules:\n  - {precision: fp32, ops: [%s]}\n", rows[i].ops);
        reload(f, text);
        uint32_t y = write_out(rows[i].written, rows[i].opset, rows[i].producer);
        const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
        const struct amp_whole *whole = amp_wholes_of(wholes, node_of(y));
        size_t n_nodes = whole != NULL ? whole->n_nodes : 0;
        bool promotes = whole != NULL && whole->promotes;
        if (n_nodes == rows[i].n_nodes && promotes == rows[i].promotes)
            continue;
        print_error("row %zu: %zu nodes%s\n", i, n_nodes, promotes ? ", promotes" : "");
        are_all = false;
    }
    assert_true(are_all);
}

/* What an exporter notes goes before patterns: parts of one call are no composite, nor is what a
   call that the table does not name for it stands in; with calls that it names, it is one. */
static void notes_go_before_patterns(void **state)
{
    enum { UNNOTED, ONE_CALL, FIRST, SECOND, BOTH, FIRST_WITHOUT, SECOND_WITHOUT, CASES };
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [softmax]}\n");
    for (int i = 0; i < CASES; i++) {
        uint32_t y = write_out(SWISH, 17, "pytorch");
        uint32_t s = amp_node_at(net.model, node_of(y))->inputs[1];
        if (i == ONE_CALL) {
            note(s, "silu", "aten.silu.default", "%x");
            note(y, "silu", "aten.silu.default", "%x");
        }
        if (i == FIRST || i == BOTH)
            note(s, "sigmoid", "aten.sigmoid.default", "%x");
        if (i == SECOND || i == BOTH)
            note(y, "mul", "aten.mul.Tensor", "%x, %sigmoid");
        if (i == FIRST_WITHOUT)
            amp_node_at(net.model, node_of(s))->note.fx_node = "sigmoid";
        if (i == SECOND_WITHOUT)
            amp_node_at(net.model, node_of(y))->note.fx_node = "mul";
        const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
        const struct amp_whole *whole = amp_wholes_of(wholes, node_of(y));
        bool is_composite = whole != NULL && whole->composite != NULL;
        assert_int_equal(is_composite, i == UNNOTED || i >= FIRST_WITHOUT);
        if (i == UNNOTED || i == ONE_CALL || i >= FIRST_WITHOUT)
            assert_int_equal(whole->n_nodes, 2);
        if (i == ONE_CALL)
            assert_string_equal(whole->name, "silu");
        if (i == SECOND || i == BOTH)
            assert_int_equal(whole->n_nodes, 1);
    }
    for (int i = 0; i < 6; i++) {
        net_start(17);
        net.model->producer = "pytorch";
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 4)), n = NODE("ReduceL2", "n", x);
        uint32_t y = NODE("Div", "y", x, n);
        SET_INTS(n, "axes", -1);
        output(y);
        note(n, "norm", i == 1 ? "aten.std.dim" : "aten.linalg_vector_norm.default", "%x");
        note(y, "div", i == 2 ? "aten.mul.Tensor" : "aten.div.Tensor", "%x, %norm");
        if (i == 5) /* one call, in two texts */
            note(y, "norm", "aten.linalg_vector_norm.default", "%x");
        if (i == 3 || i == 4)
            amp_node_at(net.model, node_of(n))->note.stack_trace =
                i == 3 ? "File\nx / torch.linalg_vector_norm(x)" : "File\nself.normalize(x)";
        infer_all();
        const struct amp_whole *whole =
            amp_wholes_of(amp_wholes_find(net.model, f->rules), node_of(y));
        assert_int_equal(whole != NULL && whole->composite != NULL, i == 0 || i == 4);
    }
}

/* The parts of a function are those of no composite as well, which they are without notes. */
static void parts_of_a_function_are_no_composite(void **state)
{
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [soft_margin_loss]}\n");
    for (int is_noted = 0; is_noted < 2; is_noted++) {
        net_start(17);
        net.model->producer = "pytorch";
        uint32_t x = input("x", AMP_FLOAT, DIMS(4)), t = input("t", AMP_FLOAT, DIMS(4));
        uint32_t neg = NODE("Neg", "neg", x), mul = NODE("Mul", "mul", neg, t);
        uint32_t exp = NODE("Exp", "exp", mul), sum = NODE("Add", "sum", exp, number(1));
        uint32_t log = NODE("Log", "log", sum), mean = NODE("ReduceMean", "mean", log);
        set_int(mean, "keepdims", 0);
        output(mean);
        if (is_noted) {
            note(neg, "neg", "aten.neg.default", "%x");
            note(mul, "mul", "aten.mul.Tensor", "%neg, %t");
            note(exp, "exp", "aten.exp.default", "%mul");
            note(sum, "log1p", "aten.log1p.default", "%exp");
            note(log, "log1p", "aten.log1p.default", "%exp");
            note(mean, "mean", "aten.mean.default", "%log1p");
        }
        infer_all();
        const struct amp_whole *whole =
            amp_wholes_of(amp_wholes_find(net.model, f->rules), node_of(mean));
        assert_non_null(whole);
        assert_string_equal(whole->name, "soft_margin_loss");
        assert_int_equal(whole->n_nodes, 6);
        assert_int_equal(whole->composite == NULL, is_noted);
    }
}

/* ---- what nodes are noted for ---- */

/* Nodes as an exporter may note them, one behind the other; NULL: it does not. */
struct noted {
    const char *op_type, *scope, *fx_node, *trace;
    const char *name; /* of the whole that it is of; NULL: of none */
    size_t first;     /* the first node of the whole */
};

static void expect_noted(struct fixture *f, const char *rules, const struct noted *nodes,
                         size_t count)
{
    uint32_t ids[32];
    reload(f, rules);
    net_start(17);
    net.model->producer = "pytorch";
    uint32_t x = input("x", AMP_FLOAT, DIMS(4, 4));
    assert_true(count <= 32);
    for (size_t i = 0; i < count; i++) {
        uint32_t y = NODE(nodes[i].op_type, "y", x);
        output(y);
        ids[i] = node_of(y);
        amp_node_at(net.model, ids[i])->note = (struct amp_export_note){
            .scope = nodes[i].scope, .fx_node = nodes[i].fx_node, .stack_trace = nodes[i].trace};
    }
    infer_all();
    const struct amp_wholes *wholes = amp_wholes_find(net.model, f->rules);
    for (size_t i = 0; i < count; i++) {
        const struct amp_whole *whole = amp_wholes_of(wholes, ids[i]);
        if ((whole != NULL) != (nodes[i].name != NULL))
            fail_msg("%snode %zu: %s", rules, i, whole != NULL ? whole->name : "of none");
        if (whole == NULL)
            continue;
        assert_string_equal(whole->name, nodes[i].name);
        if (whole->nodes[0] != ids[nodes[i].first])
            fail_msg("node %zu: of that from %u on", i, (unsigned)whole->nodes[0]);
    }
}

#define ATEN(name, op)                                                    \
    "%" name " : [num_users=1] = call_function[target=torch.ops.aten." op \
    "](args = (%x), kwargs = {})"

/* Nodes are of one whole that are in one module which a rule names, or come from one line that
   calls what the exporter takes apart, or from one operator; with no other noted node between. */
static void nodes_are_of_modules_lines_and_operators(void **state)
{
    static const char cell[] = "m: M/cell: torch.nn.modules.rnn.GRUCell/x: X";
    static const char next[] = "m: M/next: torch.nn.modules.rnn.GRUCell";
    static const char longer[] = "m: M/cell: torch.nn.modules.rnn.GRUCells";
    static const char unnamed[] = "m: M/cell: torch.nn.modules.rnn.LSTMCell";
    static const char lstm[] = "m: M/cell: torch.nn.modules.rnn.LSTM";
    static const char linear[] = "m: M/head: torch.nn.modules.linear.Linear";
    static const char exp[] = ATEN("exp", "exp.default"), other[] = ATEN("exq", "exp.default");
    static const char again[] = ATEN("exp", "exp.default"), placeholder[] = "%x : placeholder";
    static const char sub[] = ATEN("sub", "sub.Tensor"), loss[] = ATEN("loss", "l1_loss.default");
    static const char l1[] = "File\nF.l1_loss(a, b)", second[] = "File\nF.l1_loss(b, a)";
    static const char both[] = "File\nF.l1_loss(a, b) + F.mse_loss(a, b)";
    static const char mse[] = "File\nF.mse_loss(a, b)", log[] = "File\nlog(a)";
    static const struct noted nodes[] = {
        {"Neg", cell, NULL, NULL, "torch.nn.modules.rnn.GRUCell", 0},
        {"Neg", NULL, NULL, NULL, NULL, 0},
        {"Neg", cell, NULL, NULL, "torch.nn.modules.rnn.GRUCell", 0},
        {"Neg", NULL, exp, NULL, "exp", 3},
        {"Neg", cell, exp, NULL, "torch.nn.modules.rnn.GRUCell", 4},
        {"Neg", next, exp, NULL, "torch.nn.modules.rnn.GRUCell", 5},
        {"Neg", longer, NULL, NULL, NULL, 0},
        {"Neg", unnamed, NULL, NULL, NULL, 0},
        {"Neg", lstm, NULL, NULL, "torch.nn.modules.rnn.LSTM", 8},
        {"Neg", linear, exp, NULL, "exp", 3},
        {"Neg", linear, exp, log, "exp", 3},
        {"Neg", linear, again, NULL, "exp", 3},
        {"Neg", linear, other, NULL, "exp", 12},
        {"Neg", linear, placeholder, NULL, NULL, 0},
        {"Neg", linear, other, NULL, "exp", 14},
        {"Neg", linear, sub, l1, "l1_loss", 15},
        {"Neg", NULL, sub, l1, "l1_loss", 15},
        {"Neg", NULL, exp, l1, "l1_loss", 15},
        {"Neg", NULL, exp, second, "l1_loss", 18},
        {"Neg", NULL, exp, both, "exp", 19},
        {"Neg", NULL, exp, mse, "exp", 19},
        {"Neg", NULL, loss, l1, "l1_loss", 21},
        {"Neg", NULL, exp, l1, "l1_loss", 22},
        {"Neg", NULL, NULL, l1, "l1_loss", 22},
        {"Neg", NULL, NULL, NULL, NULL, 0},
        {"Neg", NULL, NULL, second, "l1_loss", 25},
    };
    struct fixture *f = *state;
    expect_noted(f, HEAD "rules:\n  - {precision: fp32, ops: [GRUCell, lstm, l1_loss]}\n", nodes,
                 sizeof nodes / sizeof *nodes);
}

/* What PyTorch runs part by part is no whole unless a rule names it. */
static void parts_are_no_whole_unless_named(void **state)
{
    static const char cell[] = ATEN("cell", "gru_cell.default");
    static const struct noted parts[] = {{"Neg", NULL, cell, NULL, NULL, 0}};
    static const struct noted whole[] = {{"Neg", NULL, cell, NULL, "gru_cell", 0}};
    struct fixture *f = *state;
    expect_noted(f, HEAD "rules:\n  - {precision: fp32, ops: [softmax]}\n", parts, 1);
    expect_noted(f, HEAD "rules:\n  - {precision: fp32, ops: [GRUCell]}\n", whole, 1);
    expect_noted(f, HEAD "rules:\n  - {precision: fp32, ops: [gru_cell]}\n", whole, 1);
}

/* A whole promotes where its parts compute element by element, but for what moves data or makes
   them; one at least does. */
static void wholes_promote_as_their_parts_do(void **state)
{
    static const struct {
        const char *op_types[2];
        bool promotes;
    } rows[] = {{{"Neg", "Exp"}, true},
                {{"Neg", "Transpose"}, true},
                {{"Transpose", "Neg"}, true},
                {{"Transpose", "Transpose"}, false},
                {{"Transpose", "Identity"}, false},
                {{"Neg", "Softmax"}, false},
                {{"Softmax", "Neg"}, false},
                {{"Neg", "Unknown"}, false},
                {{"Unknown", "Neg"}, false},
                {{"Neg", "Constant"}, true},
                {{"Transpose", "Constant"}, false}};
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [softmax]}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4, 4)), made[2];
        static const float one = 1;
        for (int k = 0; k < 2; k++) {
            const char *op_type = rows[i].op_types[k];
            bool is_unknown = strcmp(op_type, "Unknown") == 0;
            if (strcmp(op_type, "Constant") == 0) {
                made[k] = net_out(net_node(0, op_type, "y", 1, &x, 0), 0);
                set_number(made[k], "value_float", one);
            } else {
                made[k] = NODE(op_type, "y", x);
            }
            if (is_unknown) {
                amp_node_at(net.model, node_of(made[k]))->domain = "own";
                amp_model_import(net.model, "own", 1);
            }
            output(made[k]);
            note(made[k], "call", "aten.norm.Scalar", "%x");
        }
        infer_all();
        const struct amp_whole *whole =
            amp_wholes_of(amp_wholes_find(net.model, f->rules), node_of(made[0]));
        assert_non_null(whole);
        assert_int_equal(whole->n_nodes, 2);
        if (whole->promotes != rows[i].promotes)
            fail_msg("%s, %s", rows[i].op_types[0], rows[i].op_types[1]);
    }
}

/* Nodes that came after the search are of no whole. */
static void new_nodes_are_of_no_whole(void **state)
{
    struct amp_whole whole = {.name = "whole"};
    uint32_t whole_of[] = {0, AMP_NONE, 0};
    const struct amp_wholes wholes = {
        .items = &whole, .count = 1, .whole_of = whole_of, .n_nodes = 2};
    (void)state;
    assert_ptr_equal(amp_wholes_of(&wholes, 0), &whole);
    assert_null(amp_wholes_of(&wholes, 1));
    assert_null(amp_wholes_of(&wholes, 2));
}

/* Operators promote that compute element by element or join tensors, those of ONNX. */
static void operators_promote_as_pytorch_has_them(void **state)
{
    static const struct {
        const char *domain, *op_type;
        bool promotes;
    } rows[] = {{"", "Add", true},      {"", "Concat", true},
                {"", "MatMul", false},  {"", "Transpose", false},
                {"own", "Add", false},  {"com.microsoft", "QLinearAdd", false},
                {"", "Nothing", false}, {"com.microsoft", "Nothing", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct amp_node node = {.domain = rows[i].domain, .op_type = rows[i].op_type};
        assert_int_equal(amp_node_promotes(&node), rows[i].promotes);
    }
}

/* What a dtype cannot hold of a constant saturates where it is a guard, and the node has the dtype
   for its neighbours' sake: it follows a lowered input, or was asked for the dtype besides. */
static void guards_saturate_for_their_neighbours(void **state)
{
    enum { UNLISTED, LOWER, RULES };
    static const struct {
        const char *op_type;
        enum amp_guard_use use;
    } ops[] = {{"Max", AMP_GUARD_BOUNDS}, {"Add", AMP_GUARD_ADDS}, {"Mul", AMP_GUARD_NONE}};
    static const struct {
        float data[2];
        bool is_beyond, is_mask, is_huge;
    } constants[] = {{{-65504, 0}, false, false, false},
                     {{-1e5f, 0}, true, true, false},
                     {{-1e5f, 2}, true, false, false},
                     {{-1e38f, 2}, true, false, true}};
    struct fixture *f = *state;
    for (int i = 0; i < 3 * 4 * RULES * 2; i++) {
        int o = i % 3, c = i / 3 % 4, by_rule = i / 12 % RULES, is_low = i / 24;
        struct amp_assignment assignment;
        char text[512];
        snprintf(text, sizeof text,
                 HEAD "constants: follow\nlimits:\n  fp16: {guards: off}\nrules:\n"
                      "  - {precision: lower, tensors: [low%s]}\n"
                      "  - {precision: fp32, tensors: [high]}\n",
                 by_rule == LOWER ? ", y" : "");
        reload(f, text);
        net_start(17);
        uint32_t x = NODE("Softsign", is_low ? "low" : "high", input("x", AMP_FLOAT, DIMS(2)));
        uint32_t k = constant("k", AMP_FLOAT, DIMS(2), constants[c].data);
        uint32_t y = NODE(ops[o].op_type, "y", x, k);
        output(y);
        infer_all();
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_FLOAT16, .cap = 22};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        const struct amp_decision *decision = &assignment.nodes[node_of(y)];
        bool is_guard = ops[o].use == AMP_GUARD_BOUNDS || constants[c].is_huge ||
                        (ops[o].use == AMP_GUARD_ADDS && constants[c].is_mask);
        bool is_pinned = is_low && (by_rule == UNLISTED || ops[o].use != AMP_GUARD_NONE);
        bool is_wanted = by_rule == LOWER || is_low;
        bool is_kept = is_wanted && constants[c].is_beyond && !(is_pinned && is_guard);
        if (decision->dtype != (is_wanted && !is_kept ? AMP_FLOAT16 : AMP_FLOAT))
            fail_msg("%d: %s", i, amp_dtype_name(decision->dtype));
        assert_int_equal(assignment.values[y], decision->dtype);
        assert_int_equal(decision->reason, is_kept            ? AMP_REASON_WEIGHT_RANGE
                                           : by_rule == LOWER ? AMP_REASON_RULE
                                                              : AMP_REASON_UNLISTED);
        if (is_kept)
            assert_int_equal(decision->value, k);
    }
}

/* A guard saturates offline where it is a constant, or moved or filled in the dtype itself; where
   it is moved for others too a cast would make infinities of it. */
static void guards_that_a_cast_would_meet_are_refused(void **state)
{
    enum { PLAIN, MOVED, SHARED, GIVEN_OUT, IN_A_ROW, FILLED_13, FILLED_20, CASES };
    static const float data[][2] = {{-1e38f, 0}, {-1, 0}};
    struct fixture *f = *state;
    reload(f, HEAD "constants: follow\nrules:\n  - {precision: lower, tensors: [low]}\n"
                   "  - {precision: fp32, tensors: [high]}\n"
                   "limits:\n  fp16: {guards: off}\n  bf16: {weight_max: 1e30}\n");
    for (int i = 0; i < CASES * 4; i++) {
        bool is_half = i % 2;
        struct amp_assignment assignment;
        int way = i / 4;
        bool is_huge = i / 2 % 2 == 0;
        const float *huge = data[i / 2 % 2];
        net_start(way == FILLED_20 ? 20 : 13);
        uint32_t x = NODE("Relu", "low", input("x", AMP_FLOAT, DIMS(2, 1)));
        uint32_t k = constant("k", AMP_FLOAT, DIMS(1, 2), huge), moved = k;
        if (way == MOVED || way == SHARED || way == GIVEN_OUT || way == IN_A_ROW)
            moved = NODE("Transpose", "moved", k);
        if (way == FILLED_13 || way == FILLED_20) {
            moved = NODE("ConstantOfShape", "moved", NUMBERS("n", 2, 1));
            struct amp_tensor *value = net_tensor(AMP_FLOAT, DIMS(1), huge);
            set_array(moved, "value", AMP_ATTR_TENSOR, 1, &value, sizeof value);
        }
        uint32_t first = moved;
        if (way == IN_A_ROW)
            moved = NODE("Transpose", "again", NODE("Transpose", "back", moved));
        uint32_t y = NODE("Max", "y", x, moved), z = NODE("Max", "z", y, moved);
        output(z);
        if (way == SHARED || way == IN_A_ROW)
            output(NODE("Softsign", "high", first));
        if (way == GIVEN_OUT)
            output(moved);
        infer_all();
        struct amp_assign_options options = {.rules = f->rules,
                                             .lower = is_half ? AMP_FLOAT16 : AMP_BFLOAT16,
                                             .cap = way == FILLED_20 ? 20 : 13};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        bool is_refused = is_huge && (way == SHARED || way == GIVEN_OUT || way == IN_A_ROW ||
                                      (way == FILLED_13 && !is_half));
        const struct amp_decision *decision = &assignment.nodes[node_of(y)];
        if (decision->dtype != (is_refused ? AMP_FLOAT : options.lower) ||
            decision->reason != (is_refused ? AMP_REASON_WEIGHT_RANGE : AMP_REASON_UNLISTED))
            fail_msg("%d: %s, %s", i, amp_dtype_name(decision->dtype),
                     amp_reason_name(decision->reason));
        assert_int_equal(assignment.nodes[node_of(z)].dtype, decision->dtype);
        if (way == IN_A_ROW)
            assert_int_equal(assignment.values[moved], decision->dtype);
    }
}

/* What follows raises the opset to 22 at most (GlobalMaxPool takes bfloat16 since then, TopK since
   opset 24), a rule as far as it takes. */
static void followers_raise_the_opset_to_22(void **state)
{
    static const struct {
        const char *ops;
        bool is_pool;
        int cap, opset;
    } rows[] = {{"Relu", true, 27, 22},        {"Relu", true, 22, 22},
                {"Relu", true, 21, 17},        {"Relu, GlobalMaxPool", true, 27, 22},
                {"Relu", false, 27, 17},       {"Relu, TopK", false, 27, 24},
                {"Relu, TopK", false, 24, 24}, {"Relu, TopK", false, 23, 17}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_assign_options options = lowering(*state, rows[i].ops, AMP_BFLOAT16);
        options.cap = rows[i].cap;
        net_start(17);
        uint32_t x = NODE("Relu", "low", input("x", AMP_FLOAT, DIMS(1, 2, 4)));
        if (rows[i].is_pool) {
            output(NODE("GlobalMaxPool", "y", x));
        } else {
            uint32_t top = net_node(0, "TopK", "y", 2, IDS(x, NUMBERS("k", 1)));
            output(net_out(top, 0));
        }
        assert_int_equal(opset_of(&options), rows[i].opset);
    }
}

/* Points of gradients keep what gives them, and losses are looked at where there are any, or the
   model is trained, and something is lowered at all. */
static void training_counts_where_something_is_lowered(void **state)
{
    static const enum amp_dtype lowers[] = {AMP_BFLOAT16, AMP_FLOAT16, AMP_FLOAT};
    struct fixture *f = *state;
    reload(f,
           HEAD "rules:\n  - {precision: lower, ops: [Relu]}\n  - {precision: fp32, ops: [mm]}\n");
    for (int i = 0; i < 12; i++) {
        bool is_trained = i / 3 % 2, has_point = i / 6;
        struct amp_assign_options options = {.rules = f->rules, .lower = lowers[i % 3], .cap = 22};
        struct amp_assignment assignment;
        net_start(17);
        uint32_t x = NODE("Relu", "x", input("i", AMP_FLOAT, DIMS(2)));
        uint32_t y = NODE("Neg", "y", x);
        output(y);
        note(y, "loss", "aten.binary_cross_entropy.default", "%x");
        infer_all();
        options.training.is_trained = is_trained;
        if (has_point)
            amp_ids_push(net.model, &options.training.points, x);
        bool is_refused = i % 3 < 2 && (is_trained || has_point);
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err),
                         is_refused ? AMP_UNSUPPORTED : AMP_OK);
        assert_int_equal(assignment.nodes[node_of(x)].reason,
                         has_point && i % 3 < 2 ? AMP_REASON_TRAINING : AMP_REASON_RULE);
        assert_int_equal(assignment.nodes[node_of(x)].dtype,
                         has_point && i % 3 < 2 ? AMP_UNDEFINED : lowers[i % 3]);
    }
}

/* What is cast, or is like another, is taken as what it has become, but for constants; what else a
   node takes in the dtype that it came with. */
static void casts_take_what_values_have_become(void **state)
{
    static const float numbers[2] = {1, 2};
    net_start(17);
    uint32_t x = NODE("Relu", "x", input("i", AMP_FLOAT, DIMS(2))),
             k = constant("k", AMP_FLOAT, DIMS(2), numbers);
    uint32_t cast = NODE("Cast", "cast", x), like = NODE("CastLike", "like", x, x);
    uint32_t of_constant = NODE("Cast", "of", k), shape = NODE("Shape", "shape", x);
    set_int(cast, "to", AMP_DOUBLE);
    set_int(of_constant, "to", AMP_DOUBLE);
    uint32_t whole = input("n", AMP_INT64, DIMS(2)), power = NODE("Pow", "power", x, x);
    output(power);
    const uint32_t outputs[] = {cast, like, of_constant, shape};
    for (size_t i = 0; i < 4; i++)
        output(outputs[i]);
    struct amp_assign_options options = lowering(*state, "Relu, Pow", AMP_BFLOAT16);
    struct amp_assignment assignment;
    infer_all();
    assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
    assignment.values[k] = AMP_BFLOAT16;
    static const enum amp_dtype expected[] = {AMP_BFLOAT16, AMP_BFLOAT16, AMP_FLOAT};
    for (size_t i = 0; i < 3; i++) {
        uint32_t id = node_of(outputs[i]);
        const struct amp_schema *schema = amp_node_at(net.model, id)->schema;
        for (uint32_t n = 0; n < amp_node_at(net.model, id)->n_inputs; n++)
            assert_int_equal(amp_assigned_dtype(net.model, &assignment, id, schema, n),
                             expected[i]);
    }
    const struct amp_node *of_power = amp_node_at(net.model, node_of(power));
    for (uint32_t i = 0; i < 2; i++) /* an exponent may be of any type */
        assert_int_equal(
            amp_assigned_dtype(net.model, &assignment, node_of(power), of_power->schema, i),
            i == 0 ? AMP_BFLOAT16 : AMP_FLOAT);
    amp_node_at(net.model, node_of(power))->inputs[1] = whole;
    assignment.nodes[node_of(power)].type = AMP_TYPE_ALL_FLOATS; /* a user's operator */
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(amp_assigned_dtype(net.model, &assignment, node_of(power), NULL, i),
                         i == 0 ? AMP_BFLOAT16 : AMP_INT64);
}

/* RandomNormalLike, which names the dtype of what it is like, follows that where its definition
   gives it, in bfloat16 since opset 22, and the runtimes do. */
static void what_names_the_dtype_of_its_input_follows_it(void **state)
{
    static const struct {
        int opset;
        enum amp_dtype from, names, lower;
        const char *runtime, *producer;
        enum amp_dtype dtype; /* AMP_UNDEFINED: it stays as it is */
    } rows[] = {
        {22, AMP_FLOAT, AMP_FLOAT, AMP_BFLOAT16, NULL, "pytorch", AMP_BFLOAT16},
        {21, AMP_FLOAT, AMP_FLOAT, AMP_BFLOAT16, NULL, "pytorch", AMP_UNDEFINED},
        {21, AMP_FLOAT, AMP_FLOAT, AMP_FLOAT16, NULL, "pytorch", AMP_FLOAT16},
        {21, AMP_FLOAT, AMP_FLOAT, AMP_FLOAT16, NULL, "other", AMP_UNDEFINED},
        {21, AMP_FLOAT, AMP_DOUBLE, AMP_FLOAT16, NULL, "pytorch", AMP_UNDEFINED},
        {21, AMP_DOUBLE, AMP_DOUBLE, AMP_FLOAT16, NULL, "pytorch", AMP_UNDEFINED},
        {17, AMP_FLOAT, AMP_FLOAT, AMP_FLOAT16, "ort-cuda", "pytorch", AMP_FLOAT16},
        {22, AMP_FLOAT, AMP_FLOAT, AMP_BFLOAT16, "ort-cpu", "pytorch", AMP_UNDEFINED},
        {21, AMP_FLOAT, AMP_FLOAT, AMP_FLOAT16, "openvino", "pytorch", AMP_FLOAT16},
        {21, AMP_FLOAT, AMP_FLOAT, AMP_BFLOAT16, "openvino", "pytorch", AMP_UNDEFINED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_assign_options options = lowering(*state, "Identity", rows[i].lower);
        struct amp_assignment assignment;
        struct amp_runtimes runtimes = {.count = 0};
        if (rows[i].runtime != NULL) {
            runtimes.items[runtimes.count++] = amp_runtime_find(rows[i].runtime);
            options.runtimes = &runtimes;
        }
        net_start(rows[i].opset);
        net.model->producer = rows[i].producer;
        uint32_t x = NODE("Identity", "x", input("i", rows[i].from, DIMS(2)));
        uint32_t y = NODE("RandomNormalLike", "y", x);
        set_int(y, "dtype", rows[i].names);
        output(y);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        const struct amp_decision *decision = &assignment.nodes[node_of(y)];
        if (decision->dtype != rows[i].dtype)
            fail_msg("row %zu: %s", i, amp_dtype_name(decision->dtype));
        bool follows = rows[i].dtype != AMP_UNDEFINED;
        assert_int_equal(assignment.values[x],
                         rows[i].from == AMP_FLOAT ? rows[i].lower : rows[i].from);
        assert_int_equal(decision->reason,
                         follows ? AMP_REASON_UNLISTED : AMP_REASON_EXPLICIT_DTYPE);
        assert_int_equal(assignment.values[y], follows ? rows[i].dtype : rows[i].names);
    }
}

/* Of a whole of which a constant keeps a part in float32 all but products stay there, each for its
   own constant where it has one; what says its own type keeps it. */
static void parts_beside_a_kept_one_are_kept(void **state)
{
    static const float huge[] = {1e5f, 2};
    struct fixture *f = *state;
    for (int is_lowered = 0; is_lowered < 2; is_lowered++) {
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_FLOAT16, .cap = 22};
        struct amp_assignment assignment;
        reload(f, is_lowered ? HEAD "rules:\n  - {precision: lower, ops: [norm]}\n"
                             : HEAD "rules:\n  - {precision: fp32, ops: [norm]}\n");
        options.rules = f->rules;
        net_start(17);
        net.model->producer = "pytorch";
        uint32_t k = constant("k", AMP_FLOAT, DIMS(2), huge);
        uint32_t other = constant("other", AMP_FLOAT, DIMS(2), huge);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2)), y[6];
        y[0] = NODE("Neg", "neg", x);
        y[1] = NODE("MatMul", "m", y[0], x);
        y[2] = NODE("Mul", "mul", y[1], k);
        y[3] = NODE("Div", "div", y[2], other);
        y[4] = NODE("Cast", "cast", y[3]);
        y[5] = NODE("Abs", "abs", y[3]);
        set_int(y[4], "to", AMP_DOUBLE);
        for (int i = 0; i < 6; i++)
            note(y[i], "call", "aten.norm.Scalar", "%x");
        output(y[4]);
        output(y[5]);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        for (int i = 0; i < 6; i++) {
            const struct amp_decision *decision = &assignment.nodes[node_of(y[i])];
            bool is_kept = is_lowered && i != 1 && i != 4;
            assert_int_equal(decision->reason, i == 4    ? AMP_REASON_EXPLICIT_DTYPE
                                               : is_kept ? AMP_REASON_WEIGHT_RANGE
                                                         : AMP_REASON_RULE);
            assert_int_equal(decision->dtype, i == 4                 ? AMP_UNDEFINED
                                              : is_lowered && i == 1 ? AMP_FLOAT16
                                                                     : AMP_FLOAT);
            assert_int_equal(assignment.values[y[i]], i == 4                 ? AMP_DOUBLE
                                                      : is_lowered && i == 1 ? AMP_FLOAT16
                                                                             : AMP_FLOAT);
            if (is_kept)
                assert_int_equal(decision->value, i == 3 ? other : k);
            else
                assert_int_equal(decision->value, AMP_NONE);
        }
    }
}

/* What of the interface is to be lowered is noted; inputs have the dtype then. */
static void an_interface_is_lowered(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct amp_assign_options options = lowering(*state, "Conv", AMP_FLOAT16);
        struct amp_assignment assignment;
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4)), z = input("z", AMP_FLOAT, DIMS(4));
        uint32_t y = NODE("MatMul", "y", x, z);
        output(y);
        infer_all();
        if (i % 2)
            amp_ids_push(net.model, &options.interface, x);
        if (i / 2)
            amp_ids_push(net.model, &options.interface, y);
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_int_equal(assignment.is_interface[x], i % 2);
        assert_int_equal(assignment.is_interface[y], i / 2);
        assert_false(assignment.is_interface[z]);
        assert_int_equal(assignment.values[x], i % 2 ? AMP_FLOAT16 : AMP_FLOAT);
        assert_int_equal(assignment.values[y], AMP_FLOAT);
        assert_int_equal(assignment.values[z], AMP_FLOAT);
    }
}

/* ---- functions as chains ---- */

enum { CHAIN_MAX = 16 };

/* A call of a chain, in which each takes what the call before gives. */
struct link {
    const char *aten; /* NULL: of no call */
    const char *args;
};

/* Builds the chain, with the trace of all its calls; its values are in MADE. */
static void make_chain(const struct link *links, size_t count, const char *trace, uint32_t *made)
{
    net_start(17);
    net.model->producer = "pytorch";
    uint32_t x = input("x", AMP_FLOAT, DIMS(4, 4));
    uint32_t last = x;
    for (size_t i = 0; i < count; i++) {
        made[i] = NODE("Softsign", "y", links[i].aten != NULL ? last : x);
        if (links[i].aten == NULL)
            continue;
        last = made[i];
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(links[i].aten, "."), links[i].aten);
        char aten[64];
        snprintf(aten, sizeof aten, "aten.%s", links[i].aten);
        note(made[i], name, aten, links[i].args);
        amp_node_at(net.model, node_of(made[i]))->note.stack_trace =
            trace != NULL ? amp_arena_strdup(net.arena, trace) : NULL;
    }
    output(made[count - 1]);
}

/* How many nodes the whole NAME has that VALUE is of; 0: it is of none. */
static size_t size_of_whole(struct fixture *f, uint32_t value, const char *name)
{
    const struct amp_whole *whole =
        amp_wholes_of(amp_wholes_find(net.model, f->rules), node_of(value));
    return whole != NULL && strcmp(whole->name, name) == 0 ? whole->n_nodes : 0;
}

/* A line writes a function out that calls one of its operators, or what that is noted for. */
static void lines_write_functions_out(void **state)
{
    static const struct link links[] = {
        {"sub.Tensor", "%x"},         {"linalg_vector_norm.default", "%sub"},
        {"sub.Tensor", "%x, %x"},     {"linalg_vector_norm.default", "%sub, 2"},
        {"sub.Tensor", "%x, %x, %x"}, {"clamp_min.Tensor", "%sub"},
        {"mean.default", "%clamp"}};
    static const struct {
        const char *trace;
        size_t size;
    } rows[] = {{NULL, 7},
                {"f\nself.loss(a, b, c)", 7},
                {"f\nlinalg.vector_norm(a)", 0},
                {"f\ntorch.norm(a)", 0},
                {"f\nfrobenius_norm(a)", 0},
                {"f\nnorms(a) + xnorm(a)", 7},
                {"f\nmean(a)", 0},
                {"f\nclamp_min(a)", 0},
                {"f\nsubtract(a)", 7},
                {"f\ncross_entropy(a)", 7}, /* of a text that is as long */
                {"f\nreflection_pad1d(a)", 7},
                {"f\nprod(a)", 7}};
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [triplet_margin_loss]}\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t made[CHAIN_MAX];
        make_chain(links, 7, rows[i].trace, made);
        infer_all();
        for (size_t k = 0; k < 7; k++)
            if (size_of_whole(f, made[k], "triplet_margin_loss") != rows[i].size)
                fail_msg("row %zu: %s", i, rows[i].trace);
    }
}

/* Calls may have several nodes, and others between, removed ones or ones of no call: these are not
   of the function, and what they give may go anywhere. */
static void calls_have_nodes_and_others_between(void **state)
{
    static const struct link links[] = {
        {"sub.Tensor", "%x"}, {"sub.Tensor", "%x"},         {"neg.default", "%t"},
        {NULL, NULL},         {"mul.Tensor", "%neg, %sub"}, {"mul.Tensor", "%neg, %sub"},
        {NULL, NULL},         {"clamp_min.Tensor", "%mul"}, {"clamp_min.Tensor", "%mul"}};
    enum {
        PLAIN,
        SAME_TEXT,
        UNNOTED_OUT,
        UNNOTED_TAKES,
        OUTPUT_OF_LAST,
        OUTPUT_OF_CALL,
        LAST_IS_CAST,
        AFTER_NEG,
        REMOVED,
        ABSENT,
        CASES
    };
    struct fixture *f = *state;
    load_loss_rules(f);
    for (int i = 0; i < CASES; i++) {
        uint32_t made[CHAIN_MAX], extra = AMP_NONE, *more = NULL;
        struct amp_node *absent = NULL;
        make_chain(links, 9, NULL, made);
        if (i == SAME_TEXT)
            amp_node_at(net.model, node_of(made[5]))->note =
                amp_node_at(net.model, node_of(made[4]))->note;
        if (i == UNNOTED_OUT)
            output(made[3]);
        if (i == OUTPUT_OF_LAST)
            output(made[7]);
        if (i == OUTPUT_OF_CALL)
            output(made[4]);
        if (i == UNNOTED_TAKES) {
            amp_node_at(net.model, node_of(made[3]))->inputs[0] = made[2];
            output(made[3]);
        }
        if (i == LAST_IS_CAST) {
            amp_node_at(net.model, node_of(made[8]))->op_type = "Cast";
            amp_node_at(net.model, node_of(made[8]))->schema = amp_schema_find("", "Cast", 17);
            set_int(made[8], "to", AMP_FLOAT);
        }
        if (i == AFTER_NEG) {
            extra = NODE("Neg", "extra", net.model->graphs[0].inputs.items[0]);
            struct amp_ids *nodes = &net.model->graphs[0].nodes;
            memmove(&nodes->items[1], &nodes->items[0], 9 * sizeof *nodes->items);
            nodes->items[0] = node_of(extra);
            note(extra, "neg", "aten.neg.default", "%t");
            amp_node_at(net.model, node_of(made[0]))->inputs[0] = extra;
        }
        if (i == REMOVED) {
            extra = NODE("Exp", "extra", made[1]);
            struct amp_ids *nodes = &net.model->graphs[0].nodes;
            memmove(&nodes->items[4], &nodes->items[3], 6 * sizeof *nodes->items);
            nodes->items[3] = node_of(extra);
            note(extra, "exp", "aten.exp.default", "%x");
        }
        if (i == ABSENT) {
            uint32_t *inputs = amp_arena_alloc(net.arena, 3 * sizeof *inputs);
            struct amp_node *node = amp_node_at(net.model, node_of(made[4]));
            inputs[0] = node->inputs[0], inputs[1] = AMP_NONE, inputs[2] = number(1);
            node = amp_node_at(net.model, node_of(made[4]));
            node->op_type = "Clip";
            node->schema = amp_schema_find("", "Clip", 17);
            node->inputs = inputs, node->n_inputs = 3;
            uint32_t *outputs = amp_arena_alloc(net.arena, 2 * sizeof *outputs);
            outputs[0] = made[5], outputs[1] = AMP_NONE;
            absent = amp_node_at(net.model, node_of(made[5]));
            more = outputs;
        }
        infer_all();
        if (i == REMOVED)
            amp_node_remove(net.model, node_of(extra));
        if (absent != NULL)
            absent->outputs = more, absent->n_outputs = 2;
        size_t size = i == OUTPUT_OF_CALL ? 0 : i == UNNOTED_TAKES ? 1 : 7;
        for (int k = 0; k < 9; k++) {
            size_t found = size_of_whole(f, made[k], "margin_ranking_loss");
            if (found != (k == 3 || k == 6 ? 0 : size))
                fail_msg("%d: node %d: %zu", i, k, found);
        }
    }
}

/* ---- any inputs ---- */

enum {
    LOW,
    HIGH,
    LOW_SCALAR,
    HIGH_SCALAR,
    HIGH_ELEMENT,
    CONSTANT,
    CONSTANT_SCALAR,
    CONSTANT_ELEMENT,
    HALF_CONSTANT,
    COMPUTED,
    KINDS
};

/* An input of KIND: rules lower what is called low. */
static uint32_t input_of_kind(int kind, int index)
{
    static const float numbers[16] = {1, 2};
    static const uint16_t halves[4] = {1, 2};
    static const char *const inputs[] = {"in0", "in1", "in2"};
    bool is_scalar = kind == LOW_SCALAR || kind == HIGH_SCALAR || kind == CONSTANT_SCALAR;
    bool is_element = kind == HIGH_ELEMENT || kind == CONSTANT_ELEMENT;
    struct amp_shape shape = is_scalar ? SCALAR : is_element ? DIMS(1) : DIMS(4);
    const char *name = amp_model_unique_name(net.model, "c");
    if (kind == LOW || kind == LOW_SCALAR)
        return NODE("Abs", "low", input(inputs[index], AMP_FLOAT, shape));
    if (kind == HIGH || kind == HIGH_SCALAR || kind == HIGH_ELEMENT)
        return input(inputs[index], AMP_FLOAT, shape);
    if (kind == HALF_CONSTANT)
        return constant(name, AMP_FLOAT16, shape, halves);
    uint32_t c = constant(name, AMP_FLOAT, shape, numbers);
    return kind == COMPUTED ? NODE("Neg", "computed", c) : c;
}

/* What inputs of KINDS promote to: of those that count, tensors before scalars. */
static enum amp_dtype promoted_kinds(const int *kinds, size_t count, bool has_constants)
{
    for (int with_all = 0; with_all < 2; with_all++) {
        bool has[2] = {false, false}, is_wide[2] = {false, false};
        for (size_t i = 0; i < count; i++) {
            bool is_scalar =
                kinds[i] == LOW_SCALAR || kinds[i] == HIGH_SCALAR || kinds[i] == CONSTANT_SCALAR;
            if (kinds[i] >= CONSTANT && !with_all && (!has_constants || is_scalar))
                continue;
            has[is_scalar] = true;
            is_wide[is_scalar] |= kinds[i] != LOW && kinds[i] != LOW_SCALAR;
        }
        if (has[0] || has[1])
            return is_wide[has[0] ? 0 : 1] ? AMP_FLOAT : AMP_BFLOAT16;
    }
    return AMP_UNDEFINED;
}

/* Tensors without dims count where there are no others; constants, unless they have none, where the
   rules have them promote and the operator does. */
static void inputs_of_any_kind_promote(void **state)
{
    static const char *const modes[] = {"promote", "follow"};
    struct fixture *f = *state;
    for (int m = 0; m < 2; m++) {
        char text[256];
        snprintf(text, sizeof text,
                 HEAD "constants: %s\nrules:\n  - {precision: lower, tensors: ['low*']}\n",
                 modes[m]);
        reload(f, text);
        for (int i = 0; i < KINDS * KINDS * 2; i++) {
            const int kinds[3] = {i % KINDS, i / KINDS % KINDS, LOW_SCALAR};
            size_t count = i < KINDS * KINDS ? 2 : 3;
            bool has_half = kinds[0] == HALF_CONSTANT || kinds[1] == HALF_CONSTANT;
            if (has_half)
                continue; /* ONNX has one dtype for all */
            struct amp_assignment assignment;
            uint32_t in[3];
            net_start(17);
            for (int k = 0; k < 3; k++)
                in[k] = input_of_kind(kinds[k], k);
            uint32_t y =
                count == 2 ? NODE("Add", "y", in[0], in[1]) : NODE("Max", "y", in[0], in[1], in[2]);
            output(y);
            infer_all();
            struct amp_assign_options options = {
                .rules = f->rules, .lower = AMP_BFLOAT16, .cap = 17};
            assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
            if (assignment.values[y] != promoted_kinds(kinds, count, m == 0))
                fail_msg("%s, %d and %d of %zu: %s", modes[m], kinds[0], kinds[1], count,
                         amp_dtype_name(assignment.values[y]));
            assert_int_equal(assignment.nodes[node_of(y)].reason, AMP_REASON_UNLISTED);
            bool is_said = false;
            for (size_t k = 0; k < count; k++)
                is_said |= kinds[k] >= CONSTANT && kinds[k] != CONSTANT_SCALAR && m == 0;
            assert_int_equal(assignment.has_promoting_constants, is_said);
        }
    }
}

/* The widest of all that are to be floats, scalars and constants too, but for these where they do
   not promote and others are there; of another type variable as what they came with. */
static void the_widest_counts_all_floats(void **state)
{
    static const char *const modes[] = {"promote", "follow"};
    struct fixture *f = *state;
    for (int m = 0; m < 2; m++) {
        char text[256];
        snprintf(text, sizeof text,
                 HEAD "constants: %s\nrules:\n  - {precision: lower, tensors: ['low*']}\n"
                      "  - {precision: widest, tensors: [y]}\n",
                 modes[m]);
        reload(f, text);
        for (int i = 0; i < KINDS * KINDS * 4; i++) {
            static const char *const ops[] = {"Add", "Clip", "Pow", "Pow"};
            int first = i % KINDS, second = i / KINDS % KINDS, way = i / KINDS / KINDS;
            bool is_scalar =
                second == LOW_SCALAR || second == HIGH_SCALAR || second == CONSTANT_SCALAR;
            if (first == HALF_CONSTANT || second == HALF_CONSTANT || (way == 1 && !is_scalar))
                continue;
            struct amp_assignment assignment;
            net_start(17);
            uint32_t a = input_of_kind(first, 0), b = input_of_kind(second, 1), y;
            if (way == 3)
                b = input("n", second % 2 ? AMP_INT64 : AMP_DOUBLE, DIMS(4));
            y = way == 1 ? NODE("Clip", "y", a, AMP_NONE, b) : NODE(ops[way], "y", a, b);
            output(y);
            infer_all();
            struct amp_assign_options options = {
                .rules = f->rules, .lower = AMP_BFLOAT16, .cap = 17};
            assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
            bool is_low[2] = {first == LOW || first == LOW_SCALAR,
                              (second == LOW || second == LOW_SCALAR) && way != 2};
            bool counts[2] = {m == 0 || first < CONSTANT,
                              (m == 0 || second < CONSTANT) && way != 3};
            bool is_any = counts[0] || counts[1];
            bool is_wide = false;
            for (int k = 0; k < 2; k++)
                is_wide |= (is_any ? counts[k] : k == 0 || way != 3) && !is_low[k];
            if (assignment.values[y] != (is_wide ? AMP_FLOAT : AMP_BFLOAT16))
                fail_msg("%s, %d and %d, way %d: %s", modes[m], first, second, way,
                         amp_dtype_name(assignment.values[y]));
        }
    }
}

/* ---- states of recurrent layers ---- */

enum {
    STATE_CONSTANT,
    STATE_HALF,
    STATE_LIVE,
    STATE_COMPUTED,
    STATE_FILLED,
    STATE_FILLED_UNNOTED,
    STATE_FILLED_ELSEWHERE,
    STATE_FILLED_NEXT,
    STATE_REPEATED,
    STATE_MOVED_7,
    STATE_MOVED_8,
    STATES
};

/* Puts the node of VALUE in the layer CELL, by a note or by its name. */
static void put_in(uint32_t value, const char *cell, bool is_noted)
{
    struct amp_node *node = amp_node_at(net.model, node_of(value));
    const char *name = amp_value_at(net.model, value)->name;
    if (is_noted) {
        note(value, name, "aten.any.default", "%x");
        node->note.scope =
            amp_arena_printf(net.arena, "m: M/%s: torch.nn.modules.rnn.GRUCell", cell);
    } else {
        node->name = amp_arena_printf(net.arena, "/%s/%s", cell, name);
    }
}

static uint32_t state_of_kind(int kind, bool is_noted)
{
    static const float numbers[4] = {1, 2};
    static const uint16_t halves[4] = {1, 2};
    if (kind == STATE_HALF)
        return constant("h", AMP_FLOAT16, DIMS(4), halves);
    if (kind == STATE_LIVE)
        return input("h", AMP_FLOAT, DIMS(4));
    uint32_t c = constant("h", AMP_FLOAT, DIMS(4), numbers), shape = NUMBERS("n", 4), made = c;
    if (kind == STATE_COMPUTED)
        put_in(made = NODE("Neg", "made", c), "cell", is_noted);
    if (kind == STATE_REPEATED)
        put_in(made = NODE("Expand", "made", c, input("dims", AMP_INT64, DIMS(1))), "cell",
               is_noted);
    if (kind == STATE_FILLED_UNNOTED)
        made = NODE("ConstantOfShape", "made", shape);
    if (kind == STATE_FILLED || kind >= STATE_MOVED_7)
        put_in(made = NODE("ConstantOfShape", "made", shape), "cell", is_noted);
    if (kind == STATE_FILLED_ELSEWHERE || kind == STATE_FILLED_NEXT)
        put_in(made = NODE("ConstantOfShape", "made", shape),
               kind == STATE_FILLED_NEXT ? "next" : "elsewhere", is_noted);
    for (int i = 0; kind >= STATE_MOVED_7 && i < kind - STATE_MOVED_7 + 7; i++)
        put_in(made = NODE("Transpose", "moved", made), "cell", is_noted);
    return made;
}

/* A state that a layer makes of constants is of its input's dtype, through 8 nodes at most; where
   only names tell the layer, a constant may be anybody's. */
static void states_that_a_layer_makes_are_of_its_dtype(void **state)
{
    static const float weights[16];
    struct fixture *f = *state;
    reload(f, HEAD "constants: promote\nrules:\n  - {precision: lower, tensors: [low]}\n"
                   "  - {precision: fp32, ops: [Transpose, Neg]}\n");
    for (int i = 0; i < STATES * 2 * 7; i++) {
        int kind = i % STATES, is_noted = i / STATES % 2, way = i / STATES / 2;
        struct amp_assignment assignment;
        net_start(20);
        net.model->producer = "pytorch";
        uint32_t high = NODE("Neg", "high", input("given", AMP_FLOAT, DIMS(4)));
        uint32_t low = NODE("Abs", "low", input("x", AMP_FLOAT, DIMS(4)));
        uint32_t w = constant("cell.weight_ih", AMP_FLOAT, DIMS(4, 4), weights);
        if (way == 1) /* another layer, with another dtype, was before */
            put_in(NODE("Neg", "before", high), "next", is_noted);
        if (way == 2) /* an optimizer's */
            NODE("Neg", "before", high);
        if (way == 4) /* constants, what is no float and what is left out say nothing */
            put_in(NODE("Mul", "scaled", FLOATS("scale", 1, 2, 3, 4), low), "cell", is_noted);
        if (way == 5)
            put_in(NODE("Where", "chosen", input("if", AMP_BOOL, DIMS(4)), low, low), "cell",
                   is_noted);
        if (way == 6)
            put_in(NODE("Clip", "clipped", FLOATS("scale", 1, 2, 3, 4), AMP_NONE, number(3)),
                   "cell", is_noted);
        uint32_t first = NODE("MatMul", "first", low, w);
        put_in(first, "cell", is_noted);
        if (way == 3) /* in the layer, which has its dtype by then */
            put_in(NODE("Neg", "late", high), "cell", is_noted);
        uint32_t h = state_of_kind(kind, is_noted), y;
        if (kind == STATE_HALF) {
            h = NODE("Cast", "widened", h);
            set_int(h, "to", AMP_FLOAT);
        }
        y = NODE("Add", "y", first, h);
        put_in(y, "cell", is_noted);
        uint32_t z = NODE("Add", "z", first, h);
        put_in(z, "elsewhere", is_noted);
        output(y);
        output(z);
        infer_all();
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        bool is_own =
            kind == STATE_FILLED || kind == STATE_MOVED_7 ||
            (is_noted && (kind == STATE_CONSTANT || kind == STATE_COMPUTED || kind == STATE_HALF ||
                          kind == STATE_REPEATED || kind == STATE_FILLED_UNNOTED));
        if (assignment.values[y] != (is_own ? AMP_BFLOAT16 : AMP_FLOAT))
            fail_msg("state %d, noted %d, way %d: %s", kind, is_noted, way,
                     amp_dtype_name(assignment.values[y]));
    }
}

/* ---- wholes without inputs ---- */

/* What has no input of its own that counts is float32. */
static void wholes_without_inputs_are_float32(void **state)
{
    struct amp_assign_options options = lowering(*state, "softmax", AMP_FLOAT16);
    struct amp_assignment assignment;
    net_start(17);
    net.model->producer = "pytorch";
    uint32_t cast = NODE("Cast", "cast", input("x", AMP_INT64, DIMS(4)));
    uint32_t y = NODE("Neg", "y", cast);
    set_int(cast, "to", AMP_FLOAT);
    note(cast, "call", "aten.norm.Scalar", "%x");
    note(y, "call", "aten.norm.Scalar", "%x");
    output(y);
    infer_all();
    assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
    assert_non_null(assignment.nodes[node_of(y)].whole);
    assert_int_equal(assignment.nodes[node_of(y)].dtype, AMP_FLOAT);
    assert_int_equal(assignment.values[y], AMP_FLOAT);
}

/* Constants that only lowered nodes take are converted under their names, one under several names
   once; what others take stays beside, and so does what nobody took before. What a conversion
   leaves without use goes, the nodes that made it too. */
static void constants_are_stored_as_they_are_taken(void **state)
{
    static const float data[] = {1, 2};
    static const uint16_t halves[] = {0x3C00, 0x4000};
    struct amp_assign_options options = lowering(*state, "Sub", AMP_BFLOAT16);
    struct amp_assignment assignment;
    struct amp_inserted_casts casts = {.count = 0};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2));
    constant("unused", AMP_FLOAT, DIMS(2), data);
    uint32_t low = constant("low", AMP_FLOAT, DIMS(2), data);
    uint32_t both = constant("both", AMP_FLOAT, DIMS(2), data);
    uint32_t one = constant("one", AMP_FLOAT, DIMS(2), data), same = NODE("Identity", "same", one);
    uint32_t two = constant("two", AMP_FLOAT, DIMS(2), data), kept = NODE("Identity", "kept", two);
    uint32_t wide = NODE("Cast", "wide", constant("half", AMP_FLOAT16, DIMS(2), halves));
    uint32_t shown = NODE("Cast", "shown", constant("shy", AMP_FLOAT16, DIMS(2), halves));
    set_int(wide, "to", AMP_FLOAT);
    set_int(shown, "to", AMP_FLOAT);
    output(NODE("Sub", "a", x, low));
    output(NODE("Sub", "b", x, both));
    output(NODE("Softsign", "c", both));
    output(NODE("Sub", "d", one, same));
    output(NODE("Sub", "e", x, kept));
    output(NODE("Softsign", "f", two));
    output(NODE("Sub", "g", x, wide));
    output(NODE("Sub", "h", x, shown));
    output(NODE("Softsign", "i", shown));
    infer_all();
    assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
    assert_int_equal(amp_cast_insert(net.model, &assignment, true, &casts, &net.err), AMP_OK);
    assert_int_equal(casts.count, 7);
    assert_dump("ir 10, opset 22\n"
                "input x float32 [2]\n"
                "weight unused float32 [2]\n"
                "weight both float32 [2]\n"
                "weight two float32 [2]\n"
                "weight shy float16 [2]\n"
                "weight one bfloat16 [2]\n"
                "weight two_bf16 bfloat16 [2]\n"
                "weight low bfloat16 [2]\n"
                "weight both_bf16 bfloat16 [2]\n"
                "weight half bfloat16 [2]\n"
                "weight shy_bf16 bfloat16 [2]\n"
                "node Identity-21 (one) -> same bfloat16 [2]\n"
                "node Identity-21 (two_bf16) -> kept bfloat16 [2]\n"
                "node Cast-21 (shy) -> shown float32 [2] to=1\n"
                "node Cast-21 'Cast/x_bf16' (x) -> x_bf16 bfloat16 [2] to=16\n"
                "node Sub-14 (x_bf16, low) -> a_bf16 bfloat16 [2]\n"
                "node Sub-14 (x_bf16, both_bf16) -> b_bf16 bfloat16 [2]\n"
                "node Softsign-22 (both) -> c float32 [2]\n"
                "node Sub-14 (one, same) -> d_bf16 bfloat16 [2]\n"
                "node Sub-14 (x_bf16, kept) -> e_bf16 bfloat16 [2]\n"
                "node Softsign-22 (two) -> f float32 [2]\n"
                "node Sub-14 (x_bf16, half) -> g_bf16 bfloat16 [2]\n"
                "node Sub-14 (x_bf16, shy_bf16) -> h_bf16 bfloat16 [2]\n"
                "node Softsign-22 (shown) -> i float32 [2]\n"
                "node Cast-21 'Cast/a_fp32' (a_bf16) -> a float32 [2] to=1\n"
                "node Cast-21 'Cast/b_fp32' (b_bf16) -> b float32 [2] to=1\n"
                "node Cast-21 'Cast/d_fp32' (d_bf16) -> d float32 [2] to=1\n"
                "node Cast-21 'Cast/e_fp32' (e_bf16) -> e float32 [2] to=1\n"
                "node Cast-21 'Cast/g_fp32' (g_bf16) -> g float32 [2] to=1\n"
                "node Cast-21 'Cast/h_fp32' (h_bf16) -> h float32 [2] to=1\n"
                "output a float32 [2]\n"
                "output b float32 [2]\n"
                "output c float32 [2]\n"
                "output d float32 [2]\n"
                "output e float32 [2]\n"
                "output f float32 [2]\n"
                "output g float32 [2]\n"
                "output h float32 [2]\n"
                "output i float32 [2]\n");
}

/* The constants that a graph gives out keep their names and dtypes. */
static void constants_that_are_given_out_stay(void **state)
{
    static const float data[] = {1, 2};
    struct amp_assign_options options = lowering(*state, "Sub", AMP_BFLOAT16);
    struct amp_assignment assignment;
    struct amp_inserted_casts casts = {.count = 0};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), w = constant("w", AMP_FLOAT, DIMS(2), data);
    uint32_t moved = NODE("Transpose", "moved", w), other = NODE("Identity", "other", w);
    output(NODE("Sub", "a", x, w));
    output(w);
    output(other);
    output(moved);
    output(x);
    amp_ids_push(net.model, &options.interface, other);
    amp_ids_push(net.model, &options.interface, w);
    infer_all();
    assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
    assert_int_equal(amp_cast_insert(net.model, &assignment, true, &casts, &net.err), AMP_OK);
    assert_dump("ir 10, opset 22\n"
                "input x float32 [2]\n"
                "weight w_fp32 float32 [2]\n"
                "weight w bfloat16 [2]\n"
                "weight other bfloat16 [2]\n"
                "node Transpose-21 (w_fp32) -> moved float32 [2]\n"
                "node Cast-21 'Cast/x_bf16' (x) -> x_bf16 bfloat16 [2] to=16\n"
                "node Sub-14 (x_bf16, w) -> a_bf16 bfloat16 [2]\n"
                "node Cast-21 'Cast/a_fp32' (a_bf16) -> a float32 [2] to=1\n"
                "output a float32 [2]\n"
                "output w bfloat16 [2]\n"
                "output other bfloat16 [2]\n"
                "output moved float32 [2]\n"
                "output x float32 [2]\n");
}

/* A ConstantOfShape gives the dtype of its cast itself, bfloat16 since opset 20, where both are
   floats that autocast moves between; what overflows stays where the model has the cast, and is
   made finite where a conversion put it. */
static void fills_are_cast_where_they_are_made(void **state)
{
    static const struct {
        int opset;
        enum amp_dtype of, to; /* AMP_UNDEFINED: a float32 0 that no attribute gives */
        float value, becomes, inserted;
        bool folds, folds_inserted;
    } rows[] = {
        {19, AMP_FLOAT, AMP_FLOAT16, 1.5f, 1.5f, 1.5f, true, true},
        {19, AMP_FLOAT, AMP_BFLOAT16, 1.5f, 0, 0, false, false},
        {20, AMP_FLOAT, AMP_BFLOAT16, 1.5f, 1.5f, 1.5f, true, true},
        {20, AMP_UNDEFINED, AMP_BFLOAT16, 0, 0, 0, true, true},
        {20, AMP_FLOAT16, AMP_FLOAT, 2, 2, 2, true, true},
        {20, AMP_FLOAT, AMP_DOUBLE, 1, 0, 0, false, false},
        {20, AMP_FLOAT, AMP_INT32, 1, 0, 0, false, false},
        {20, AMP_INT64, AMP_FLOAT16, 0, 0, 0, false, false},
        {20, AMP_DOUBLE, AMP_FLOAT16, 0, 0, 0, false, false},
        {20, AMP_FLOAT, AMP_FLOAT16, 65519, 65504, 65504, true, true},
        {20, AMP_FLOAT, AMP_FLOAT16, 65520, 0, 65504, false, true},
        {20, AMP_FLOAT, AMP_FLOAT16, -1e30f, 0, -65504, false, true},
        {20, AMP_FLOAT, AMP_BFLOAT16, -0x1p100f, -0x1p100f, -0x1p100f, true, true},
        {20, AMP_FLOAT, AMP_FLOAT16, -INFINITY, -INFINITY, -INFINITY, true, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 4; k++) {
            bool is_inserted = k % 2, is_used = k / 2;
            net_start(rows[i].opset);
            uint32_t fill = NODE("ConstantOfShape", "fill", input("n", AMP_INT64, DIMS(1)));
            uint32_t cast = NODE("Cast", "cast", fill), y = NODE("Identity", "y", cast);
            static const double zero;
            uint16_t half = 0x4000; /* 2 */
            const void *data = rows[i].of == AMP_FLOAT     ? (const void *)&rows[i].value
                               : rows[i].of == AMP_FLOAT16 ? (const void *)&half
                                                           : (const void *)&zero;
            struct amp_tensor *value =
                net_tensor(rows[i].of == AMP_UNDEFINED ? AMP_FLOAT : rows[i].of, DIMS(1), data);
            if (rows[i].of != AMP_UNDEFINED)
                set_array(fill, "value", AMP_ATTR_TENSOR, 1, &value, sizeof value);
            set_int(cast, "to", rows[i].to);
            set_int(cast, "saturate", 1);
            output(y);
            if (is_used)
                output(NODE("Identity", "other", fill));
            infer_all();
            uint32_t id = node_of(cast), made = node_of(fill);
            bool folds = is_inserted ? rows[i].folds_inserted : rows[i].folds;
            size_t n_removed = amp_cast_fold(net.model, true, is_inserted ? id : id + 1);
            if (n_removed != folds)
                fail_msg("row %zu: %zu removed", i, n_removed);
            const struct amp_node *node = amp_node_at(net.model, id);
            assert_string_equal(node->op_type, folds ? "ConstantOfShape" : "Cast");
            assert_int_equal(amp_node_attr(node, "saturate") == NULL, folds);
            assert_int_equal(amp_node_attr(node, "to") == NULL, folds);
            assert_int_equal(amp_node_at(net.model, made)->is_removed, folds && !is_used);
            assert_int_equal(net.model->graphs[0].nodes.count,
                             3 + is_used - (folds && !is_used ? 1 : 0));
            assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
            if (!folds)
                continue;
            const struct amp_tensor *filled = amp_node_attr(node, "value")->tensors[0];
            assert_int_equal(filled->dtype, rows[i].to);
            assert_int_equal(amp_tensor_count(filled), 1);
            assert_true(amp_tensor_double(filled, 0) ==
                        (double)(is_inserted ? rows[i].inserted : rows[i].becomes));
        }
}

/* Chains shrink where no bit is lost on the way, of integers and floats, and a cast to the dtype
   that is there goes: from, through and to any dtype. */
static void chains_shrink_where_no_bit_is_lost(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16,    AMP_DOUBLE,
                                            AMP_INT8,  AMP_INT32,   AMP_INT64,       AMP_UINT8,
                                            AMP_BOOL,  AMP_STRING,  AMP_FLOAT8E4M3FN};
    enum { DTYPES = sizeof dtypes / sizeof *dtypes };
    (void)state;
    for (int i = 0; i < DTYPES * DTYPES * DTYPES; i++) {
        enum amp_dtype from = dtypes[i % DTYPES], through = dtypes[i / DTYPES % DTYPES],
                       to = dtypes[i / DTYPES / DTYPES];
        net_start(22);
        uint32_t x = input("x", from, DIMS(2)), middle = NODE("Cast", "middle", x);
        uint32_t last = NODE("Cast", "last", middle), y = NODE("Identity", "y", last);
        set_int(middle, "to", through);
        set_int(last, "to", to);
        output(y);
        infer_all();
        bool is_special[] = {through == AMP_STRING || through == AMP_FLOAT8E4M3FN,
                             to == AMP_STRING || to == AMP_FLOAT8E4M3FN};
        bool is_skipped = from == through ||
                          (!is_special[0] && !is_special[1] && amp_dtype_is_exact(from, through));
        enum amp_dtype before = is_skipped ? from : through;
        size_t n_left = !is_skipped + (before != to);
        size_t n_removed = amp_cast_fold(net.model, true, 0);
        if (n_removed != 2 - n_left || amp_cast_count(net.model) != n_left)
            fail_msg("%s, %s, %s: %zu removed", amp_dtype_name(from), amp_dtype_name(through),
                     amp_dtype_name(to), n_removed);
        assert_int_equal(
            amp_value_at(net.model, amp_node_at(net.model, node_of(y))->inputs[0])->dtype, to);
        assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
    }
}

/* ---- what runtimes are and lack ---- */

static void runtimes_have_names_and_opsets(void **state)
{
    static const struct {
        const char *name, *title;
        int opset;
    } rows[] = {{"ampconv", "ampconv", 0},
                {"ort-cpu", "ONNX Runtime 1.21 CPU", 22},
                {"ort-cuda", "ONNX Runtime 1.21 CUDA", 22},
                {"tensorrt", "TensorRT 10.1", 20},
                {"openvino", "OpenVINO 2025", 23}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        const struct amp_runtime *runtime = amp_runtime_at(i);
        assert_string_equal(amp_runtime_name(runtime), rows[i].name);
        assert_string_equal(amp_runtime_name_at(i), rows[i].name);
        assert_string_equal(amp_runtime_title(runtime), rows[i].title);
        assert_int_equal(amp_runtime_opset(runtime),
                         rows[i].opset > 0 ? rows[i].opset : amp_schema_newest_opset(""));
        assert_ptr_equal(amp_runtime_find(rows[i].name), runtime);
    }
    assert_int_equal(AMP_COUNT(rows), AMP_RUNTIME_COUNT);
    assert_null(amp_runtime_at(AMP_RUNTIME_COUNT));
    assert_null(amp_runtime_name_at(AMP_RUNTIME_COUNT));
    assert_null(amp_runtime_find("ort"));
}

/* The newest opset at which the table has what became of a node by then, where it has what the node
   is now; CAP at most. */
static int cap_of(const struct table *table, const struct amp_schema *schema, int cap)
{
    int newest = amp_runtime_opset(amp_runtime_find(table->name)), highest = 0;
    if (newest < cap)
        cap = newest;
    if (schema->domain[0] != '\0' || floats_of(table, schema, NULL) < 0)
        return cap;
    for (int opset = schema->since_version; opset <= cap; opset++) {
        const struct amp_schema *at = amp_schema_find("", schema->name, opset);
        if (at->since_version > schema->since_version && floats_of(table, at, NULL) < 0)
            break;
        highest = opset;
    }
    return highest > 0 ? highest : cap;
}

static void runtimes_cap_the_opset_of_each_operator(void **state)
{
    static const int caps[] = {12, 16, 22, 27};
    const struct amp_schema *schema;
    (void)state;
    start_one("Relu", 17, AMP_FLOAT, DIMS(2));
    struct amp_node *node = amp_node_at(net.model, 0);
    for (size_t k = 0; k < AMP_COUNT(tables); k++)
        for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++)
            for (size_t c = 0; c < AMP_COUNT(caps); c++) {
                const struct amp_runtime *runtime = amp_runtime_find(tables[k].name);
                const struct amp_runtimes one = {.items = {runtime}, .count = 1};
                if (schema->since_version > caps[c])
                    continue;
                node->schema = schema;
                if (amp_runtimes_cap(&one, net.model, caps[c]) !=
                    cap_of(&tables[k], schema, caps[c]))
                    fail_msg("%s: %s-%d: %d", tables[k].name, schema->name, schema->since_version,
                             amp_runtimes_cap(&one, net.model, caps[c]));
            }
}

/* The least of all nodes, but for those that were taken out, and of all runtimes. */
static void all_nodes_and_runtimes_cap_the_opset(void **state)
{
    const struct amp_runtime *cpu = amp_runtime_find("ort-cpu"), *rt = amp_runtime_find("tensorrt");
    const struct amp_runtimes none = {.count = 0}, one = {.items = {cpu}, .count = 1};
    const struct amp_runtimes two = {.items = {cpu, rt}, .count = 2};
    const struct amp_runtimes turned = {.items = {rt, cpu}, .count = 2};
    const struct amp_schema *schema, *found = NULL;
    (void)state;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL && found == NULL; i++)
        if (cap_of(&tables[0], schema, 22) < 22)
            found = schema;
    assert_non_null(found);
    int cap = cap_of(&tables[0], found, 22);
    start_one("Relu", 13, AMP_FLOAT, DIMS(2));
    assert_int_equal(amp_runtimes_cap(&none, net.model, 27), 27);
    assert_int_equal(amp_runtimes_cap(&one, net.model, 27), 22);
    assert_int_equal(amp_runtimes_cap(&two, net.model, 27), 20);
    assert_int_equal(amp_runtimes_cap(&turned, net.model, 27), 20);
    output(NODE("Relu", "z", net_out(0, 0)));
    for (uint32_t n = 0; n < 2; n++) {
        const struct amp_schema *before = amp_node_at(net.model, n)->schema;
        amp_node_at(net.model, n)->schema = found;
        assert_int_equal(amp_runtimes_cap(&one, net.model, 27), cap);
        amp_node_at(net.model, n)->is_removed = true;
        assert_int_equal(amp_runtimes_cap(&one, net.model, 27), 22);
        amp_node_at(net.model, n)->is_removed = false;
        amp_node_at(net.model, n)->schema = NULL;
        assert_int_equal(amp_runtimes_cap(&one, net.model, 27), 22);
        amp_node_at(net.model, n)->schema = before;
    }
}

/* A runtime lacks a node for what it takes or gives in a lower dtype; what ONNX Runtime has no
   kernel for on a GPU, it runs on the CPU. */
static void runtimes_lack_what_they_cannot_take_or_give(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16, AMP_DOUBLE};
    const struct amp_schema *schema;
    (void)state;
    start_one("Relu", 17, AMP_FLOAT, DIMS(2));
    uint32_t whole = input("whole", AMP_INT64, DIMS(2));
    uint32_t pair = net_node(0, "Pair", "pair", 3, IDS(AMP_NONE, 0, whole));
    struct amp_node *node = amp_node_at(net.model, pair);
    struct amp_value *in = amp_value_at(net.model, 0),
                     *out = amp_value_at(net.model, node->outputs[1]);
    node->outputs[0] = AMP_NONE;
    amp_value_at(net.model, node->outputs[2])->dtype = AMP_INT64;
    for (size_t r = 0; r < AMP_RUNTIME_COUNT; r++)
        for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++)
            for (int k = 0; k < 16; k++) {
                const struct amp_runtime *runtime = amp_runtime_at(r);
                const struct amp_runtime *last =
                    r == 2 ? amp_runtime_at(1) : runtime; /* "ort-cuda" */
                const struct amp_schema_param *params[] = {amp_schema_input(schema, 1),
                                                           amp_schema_output(schema, 1)};
                enum amp_dtype lacks[2] = {AMP_UNDEFINED, AMP_UNDEFINED};
                in->dtype = dtypes[k % 4], out->dtype = dtypes[k / 4];
                for (int p = 0; p < 4; p++) {
                    enum amp_dtype dtype = p % 2 ? out->dtype : in->dtype;
                    const struct amp_schema_param *param = params[p % 2];
                    bool is_lower = dtype == AMP_FLOAT16 || dtype == AMP_BFLOAT16;
                    if (param != NULL && is_lower && lacks[p / 2] == AMP_UNDEFINED &&
                        !amp_runtime_has(p < 2 ? runtime : last, schema,
                                         amp_schema_type(schema, param)->name, dtype))
                        lacks[p / 2] = dtype;
                }
                node->schema = schema;
                enum amp_dtype wanted = lacks[0] == AMP_UNDEFINED ? AMP_UNDEFINED : lacks[1];
                if (amp_runtime_lacks(runtime, net.model, node) != wanted)
                    fail_msg("%s: %s-%d", amp_runtime_name(runtime), schema->name,
                             schema->since_version);
            }
    node->schema = NULL;
    in->dtype = AMP_BFLOAT16;
    assert_int_equal(amp_runtime_lacks(amp_runtime_at(1), net.model, node), AMP_UNDEFINED);
}

/* A type variable takes what its definition lists, others nothing; without a definition what counts
   is whether values are tensors of floats. */
static void variables_take_what_is_listed(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16, AMP_DOUBLE,
                                            AMP_INT64, AMP_STRING,  AMP_BOOL};
    const struct amp_schema *schema;
    (void)state;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++)
        for (size_t k = 0; k < AMP_COUNT(dtypes); k++) {
            assert_false(amp_schema_takes(schema, "Nobody", dtypes[k]));
            for (size_t t = 0; t < schema->n_types; t++) {
                const char *name = schema->types[t].name;
                bool takes = (schema->types[t].tensors & AMP_DTYPE_BIT(dtypes[k])) != 0;
                if (name != NULL)
                    assert_int_equal(amp_schema_takes(schema, name, dtypes[k]), takes);
            }
        }
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), n = input("n", AMP_INT64, DIMS(2));
    uint32_t h = input("h", AMP_BFLOAT16, DIMS(2)), d = input("d", AMP_DOUBLE, DIMS(2));
    uint32_t items = NODE("SequenceConstruct", "items", x);
    uint32_t any = net_node(0, "Any", "any", 3, IDS(AMP_NONE, x, n, h, d, items));
    struct amp_node *node = amp_node_at(net.model, any);
    const struct amp_types types = {net.model, 22};
    amp_value_at(net.model, items)->kind = AMP_KIND_SEQUENCE;
    amp_value_at(net.model, items)->dtype = AMP_FLOAT;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(amp_typed_input(&types, node, AMP_TYPE_ALL_FLOATS, i),
                         i == 1 || i == 3 ? node->inputs[i] : AMP_NONE);
    node->outputs[0] = AMP_NONE;
    amp_value_at(net.model, node->outputs[1])->dtype = AMP_FLOAT;
    amp_value_at(net.model, node->outputs[1])->kind = AMP_KIND_TENSOR;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(amp_typed_output(&types, node, AMP_TYPE_ALL_FLOATS, i),
                         i == 1 ? node->outputs[i] : AMP_NONE);
}

/* Cast names its types by numbers since opset 6, and has bfloat16 since 13. */
static void casts_have_opsets(void **state)
{
    (void)state;
    assert_int_equal(amp_opset_of_cast(AMP_FLOAT), 6);
    assert_int_equal(amp_opset_of_cast(AMP_FLOAT16), 6);
    assert_int_equal(amp_opset_of_cast(AMP_BFLOAT16), 13);
    net_start(5); /* an axis, which Tile has no more later */
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), y = NODE("Tile", "y", x, AMP_NONE, x);
    const struct amp_node *node = amp_node_at(net.model, node_of(y));
    const struct amp_types types = {net.model, 5};
    int type = amp_schema_output(node->schema, 0)->type;
    assert_int_equal(amp_opset_for(&types, node, type, AMP_FLOAT16), 5);
    assert_int_equal(amp_opset_for(&types, node, type, AMP_BFLOAT16), 0);
}

/* ---- overrides of users' operators ---- */

/* An override that a user's operator cannot follow is refused with the reason, where it would
   change anything. */
static void overrides_that_cannot_be_followed_are_refused(void **state)
{
    enum { T = AMP_KIND_TENSOR, S = AMP_KIND_SEQUENCE };
    enum { PLAIN, WITH_BODY, UNNAMED, BY_FILE, KNOWN, REMOVED };
    static const struct {
        enum amp_dtype dtypes[3]; /* of two inputs and the output */
        int second;               /* the kind of the second input */
        enum amp_precision precision;
        int way;
        const char *reason; /* NULL: it is not refused */
    } rows[] = {
        {{AMP_FLOAT, AMP_INT64, AMP_FLOAT}, T, AMP_LOWER, PLAIN, NULL},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64},
         T,
         AMP_LOWER,
         PLAIN,
         "nothing says the type of 'a'"},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64}, T, AMP_FP16, PLAIN, "nothing says the type of 'a'"},
        {{AMP_INT64, AMP_UNDEFINED, AMP_BFLOAT16},
         T,
         AMP_BF16,
         PLAIN,
         "nothing says the type of 'b'"},
        {{AMP_FLOAT, AMP_INT64, AMP_UNDEFINED},
         T,
         AMP_LOWER,
         PLAIN,
         "nothing says the type of 'y'"},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64}, T, AMP_LOWER, UNNAMED, NULL},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64}, T, AMP_LOWER, BY_FILE, NULL},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64}, T, AMP_LOWER, KNOWN, NULL},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64}, T, AMP_LOWER, REMOVED, NULL},
        {{AMP_UNDEFINED, AMP_FLOAT, AMP_INT64}, T, AMP_FOLLOW, PLAIN, NULL},
        {{AMP_UNDEFINED, AMP_FLOAT, AMP_INT64}, T, AMP_WIDEST, PLAIN, NULL},
        {{AMP_UNDEFINED, AMP_INT64, AMP_INT64}, T, AMP_FP32, PLAIN, NULL},
        {{AMP_UNDEFINED, AMP_FLOAT, AMP_FLOAT}, T, AMP_FP32, PLAIN, NULL},
        {{AMP_UNDEFINED, AMP_BFLOAT16, AMP_INT64},
         T,
         AMP_FP32,
         PLAIN,
         "nothing says the type of 'a'"},
        {{AMP_UNDEFINED, AMP_INT64, AMP_BFLOAT16},
         T,
         AMP_FP32,
         PLAIN,
         "nothing says the type of 'a'"},
        {{AMP_INT64, AMP_DOUBLE, AMP_FLOAT},
         T,
         AMP_LOWER,
         PLAIN,
         "it takes no float that 'y' could follow"},
        {{AMP_INT64, AMP_DOUBLE, AMP_BFLOAT16}, T, AMP_LOWER, PLAIN, NULL},
        {{AMP_INT64, AMP_DOUBLE, AMP_INT64}, T, AMP_LOWER, PLAIN, NULL},
        {{AMP_FLOAT, AMP_FLOAT, AMP_FLOAT}, S, AMP_LOWER, PLAIN, "'b' is no tensor"},
        {{AMP_BFLOAT16, AMP_FLOAT, AMP_BFLOAT16}, S, AMP_LOWER, PLAIN, NULL},
        {{AMP_FLOAT, AMP_INT64, AMP_FLOAT}, T, AMP_LOWER, WITH_BODY, "it has bodies"},
        {{AMP_FLOAT, AMP_INT64, AMP_FLOAT}, T, AMP_FP32, WITH_BODY, NULL},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        const struct amp_rule_op op = {.name = "Any", .domain = "com.example", .word = "Any"};
        const struct amp_rule rule = {.precision = rows[i].precision,
                                      .source = {.line = rows[i].way == BY_FILE ? 4 : 0}};
        bool is_named = rows[i].way != UNNAMED;
        struct amp_decision decision = {.precision = rows[i].precision,
                                        .op = is_named ? &op : NULL,
                                        .rule = is_named ? &rule : NULL};
        net_start(17);
        uint32_t a = net_value_in(0, "a", rows[i].dtypes[0], DIMS(2));
        uint32_t b = net_value_in(0, "b", rows[i].dtypes[1], DIMS(2));
        amp_value_at(net.model, b)->kind = (enum amp_kind)rows[i].second;
        uint32_t y = NODE("Any", "y", a, AMP_NONE, b), id = node_of(y);
        amp_value_at(net.model, y)->dtype = rows[i].dtypes[2];
        amp_value_at(net.model, y)->kind = AMP_KIND_TENSOR;
        struct amp_node *node = amp_node_at(net.model, id);
        node->domain = "com.example";
        node->is_removed = rows[i].way == REMOVED;
        node->schema = rows[i].way == KNOWN ? amp_schema_find("", "Relu", 17) : NULL;
        if (rows[i].way == WITH_BODY)
            add_branch(id, "body", "Neg", a);
        char text[512], expected[1024];
        snprintf(expected, sizeof expected,
                 "net.onnx: --op Any=%s: %s: %s; accepted: an operator without bodies that takes "
                 "float tensors, where the model says the types of all that it takes and gives "
                 "(value_info, or inputs and outputs of the graph)",
                 amp_precision_name(rows[i].precision),
                 amp_node_text(net.model, id, text, sizeof text),
                 rows[i].reason != NULL ? rows[i].reason : "");
        net.err = (struct amp_error){.status = AMP_OK};
        enum amp_status status = amp_custom_check(net.model, &decision, AMP_BFLOAT16, &net.err);
        if (status != (rows[i].reason != NULL ? AMP_RULES : AMP_OK))
            fail_msg("row %zu: %s", i, net.err.text);
        if (status != AMP_OK)
            assert_string_equal(net.err.text, expected);
    }
}

/* Whether RUNTIME has SCHEMA's PARAM in DTYPE. */
static bool has_param(const struct amp_runtime *runtime, const struct amp_schema *schema,
                      const struct amp_schema_param *param, enum amp_dtype dtype)
{
    return amp_runtime_has(runtime, schema,
                           param != NULL ? amp_schema_type(schema, param)->name : NULL, dtype);
}

/* The first of RUNTIMES that lacks NODE, as it is defined at OPSET, or a Cast, in the decision's
   dtype. NULL: none does. */
static const struct amp_runtime *lacking_by_hand(const struct amp_runtimes *runtimes,
                                                 const struct amp_types *types,
                                                 const struct amp_node *node,
                                                 const struct amp_decision *decision, int opset)
{
    const struct amp_schema *schema = amp_schema_find("", node->op_type, opset);
    const struct amp_schema *cast = amp_schema_find("", "Cast", opset);
    if (schema == NULL || schema->deprecated)
        schema = node->schema;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        bool is_typed = amp_typed_input(types, node, decision->type, i) != AMP_NONE;
        if (is_typed && (param == NULL || !(amp_schema_type(schema, param)->tensors &
                                            AMP_DTYPE_BIT(decision->dtype))))
            return runtimes->items[0];
    }
    for (uint32_t i = 0; i < node->n_inputs + node->n_outputs; i++) {
        uint32_t k = i < node->n_inputs ? i : i - node->n_inputs;
        bool is_input = i < node->n_inputs;
        uint32_t typed = is_input ? amp_typed_input(types, node, decision->type, k)
                                  : amp_typed_output(types, node, decision->type, k);
        for (size_t r = 0; r < runtimes->count && typed != AMP_NONE; r++)
            if (!has_param(runtimes->items[r], schema,
                           is_input ? amp_schema_input(schema, k) : amp_schema_output(schema, k),
                           decision->dtype))
                return runtimes->items[r];
    }
    for (size_t r = 0; r < runtimes->count; r++)
        if (!has_param(runtimes->items[r], cast, amp_schema_input(cast, 0), decision->dtype) ||
            !has_param(runtimes->items[r], cast, amp_schema_output(cast, 0), decision->dtype))
            return runtimes->items[0];
    return NULL;
}

static void expect_lacking(const struct amp_runtimes *runtimes, const struct amp_schema *schema,
                           int before, int cap, enum amp_dtype dtype)
{
    struct amp_node *node = amp_node_at(net.model, 0);
    const struct amp_types types = {net.model, cap};
    struct amp_decision decision = {.dtype = dtype};
    node->op_type = schema->name;
    node->schema = schema;
    const struct amp_schema_param *first = amp_schema_input(amp_schema_at_cap(node, cap), 0);
    if (first == NULL)
        return;
    decision.type = first->type;
    int last = amp_schema_released_opset(), wanted = 0, opset = before;
    for (size_t r = 0; r < runtimes->count; r++)
        if (amp_runtime_opset(runtimes->items[r]) < last)
            last = amp_runtime_opset(runtimes->items[r]);
    const struct amp_runtime *lacking = NULL;
    bool is_asked = runtimes->count > 0 && (before <= last || before <= cap);
    for (int at = before; is_asked && wanted == 0 && (at == before || at <= last); at++) {
        const struct amp_runtime *found = lacking_by_hand(runtimes, &types, node, &decision, at);
        if (found == NULL)
            wanted = at;
        if (lacking == NULL)
            lacking = found;
    }
    if (wanted > 0)
        lacking = NULL;
    const struct amp_runtime *found =
        amp_lacking_runtime(runtimes, &types, node, &decision, &opset);
    if (found != lacking || opset != (wanted > 0 ? wanted : before))
        fail_msg("%s-%d from %d, %s: %s, %d", schema->name, schema->since_version, before,
                 amp_dtype_name(dtype), found != NULL ? amp_runtime_name(found) : "none", opset);
}

/* Of each operator, at its own opset or the first at which all runtimes have it. */
static void runtimes_lack_operators_up_to_an_opset(void **state)
{
    const struct amp_runtime *own = amp_runtime_find("ampconv"), *cpu = amp_runtime_find("ort-cpu");
    const struct amp_runtime *rt = amp_runtime_find("tensorrt");
    const struct amp_runtimes sets[] = {{.count = 0},
                                        {.items = {own}, .count = 1},
                                        {.items = {cpu}, .count = 1},
                                        {.items = {own, cpu}, .count = 2},
                                        {.items = {rt, own}, .count = 2}};
    static const int opsets[] = {5, 9, 11, 17, 22, 23};
    const struct amp_schema *schema;
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2));
    net_node(0, "Any", "y", 2, IDS(x, AMP_NONE, x));
    for (size_t s = 0; s < AMP_COUNT(sets); s++)
        for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++)
            for (int k = 0; k < 36; k++) {
                int opset = opsets[k % 6];
                bool is_now = schema->domain[0] == '\0' && !schema->deprecated &&
                              amp_schema_find("", schema->name, opset) == schema;
                if (is_now)
                    expect_lacking(&sets[s], schema, opset, k / 12 == 0 ? 24 : opset - k / 24,
                                   k / 6 % 2 ? AMP_FLOAT16 : AMP_BFLOAT16);
            }
}

/* What has no definition the first runtime lacks; what takes the dtype already, none. */
static void runtimes_lack_unknown_operators(void **state)
{
    const struct amp_runtimes two = {
        .items = {amp_runtime_find("openvino"), amp_runtime_find("ort-cpu")}, .count = 2};
    (void)state;
    for (int i = 0; i < 3; i++) {
        int opset = 17;
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), h = input("h", AMP_BFLOAT16, DIMS(2));
        uint32_t y = NODE("Any", "y", AMP_NONE, x, i == 1 ? h : x);
        const struct amp_node *node = amp_node_at(net.model, node_of(y));
        const struct amp_types types = {net.model, 22};
        const struct amp_decision decision = {.type = AMP_TYPE_ALL_FLOATS,
                                              .dtype = i == 2 ? AMP_FLOAT16 : AMP_BFLOAT16};
        assert_ptr_equal(amp_lacking_runtime(&two, &types, node, &decision, &opset),
                         i == 1 ? NULL : two.items[0]);
        assert_int_equal(opset, 17);
    }
}

/* Sequences carry no dtype where a node that takes or gives one lacks a runtime in it. */
static void sequences_carry_what_runtimes_have(void **state)
{
    enum { PLAIN, GIVES, TAKES, BESIDE, REMOVED, UNKNOWN, ABSENT, CASES };
    (void)state;
    for (int i = 0; i < CASES * 2; i++) {
        int way = i / 2;
        const struct amp_runtimes one = {.items = {amp_runtime_find(i % 2 ? "ort-cpu" : "ampconv")},
                                         .count = 1};
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), c = input("c", AMP_FLOAT, DIMS(2));
        uint32_t op = node_of(way == ABSENT  ? NODE("Softsign", "y", AMP_NONE)
                              : way == GIVES ? NODE("Softsign", "y", x)
                                             : NODE("Softsign", "y", c));
        bool carries[8] = {false};
        struct amp_node *node = amp_node_at(net.model, op);
        carries[way == GIVES ? node->outputs[0] : c] = way != PLAIN;
        if (way == BESIDE)
            node->inputs[0] = x;
        if (way == ABSENT)
            node->outputs[0] = AMP_NONE;
        node->is_removed = way == REMOVED;
        if (way == UNKNOWN)
            node->schema = NULL;
        bool wanted = way != PLAIN && !(i % 2 && (way == GIVES || way == TAKES));
        amp_sequences_restrict(carries, net.model, &one, AMP_BFLOAT16);
        bool is_any = false;
        for (int v = 0; v < 8; v++)
            is_any |= carries[v];
        if (is_any != wanted)
            fail_msg("%d", i);
    }
}

/* ---- constants, weights and absent values ---- */

/* A constant that a node takes becomes 0 in float16; of what is made of constants alone only what
   moves them loses it. */
static void constants_that_become_0_are_found(void **state)
{
    static const struct {
        const char *op_type;
        bool is_found; /* of a constant alone */
    } ops[] = {{"Transpose", true}, {"Identity", true}, {"Neg", false}, {"Relu", false}};
    static const struct {
        float data[2];
        double number;
        enum amp_reason reason;
    } constants[] = {{{0x1p-26f, 0}, 0x1p-26, AMP_REASON_FLUSH},
                     {{0x1p-25f, -0x1p-25f}, 0x1p-25, AMP_REASON_FLUSH},
                     {{0x1.8p-25f, 0}, 0, AMP_REASON_RULE},
                     {{0, 0}, 0, AMP_REASON_RULE},
                     {{1, 0x1p-26f}, 0, AMP_REASON_RULE}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(ops) * AMP_COUNT(constants) * 4; i++) {
        size_t o = i / 4 % AMP_COUNT(ops), c = i / 4 / AMP_COUNT(ops);
        bool is_half = i % 2, is_alone = i / 2 % 2;
        start_guarded(is_half ? AMP_FLOAT16 : AMP_BFLOAT16, AMP_RANGES_DATA);
        uint32_t k = constant("k", AMP_FLOAT, DIMS(2), constants[c].data);
        uint32_t y = is_alone ? NODE(ops[o].op_type, "y", k)
                              : NODE("Add", "y", input("x", AMP_FLOAT, DIMS(2)), k);
        output(y);
        bool is_found = is_half && (!is_alone || ops[o].is_found);
        assert_found(y, is_found ? constants[c].reason : AMP_REASON_RULE, k, constants[c].number,
                     AMP_RANGES_UNSEEN);
    }
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA); /* may become 0, but is no constant */
    uint32_t x = input("x", AMP_FLOAT, DIMS(2)), y = NODE("Softsign", "y", x);
    output(y);
    prove(x, 0, 0x1p-26);
    assert_none(y);
}

/* Weights of more than 4096 elements are read where a seen value is near the limit, and no sooner.
 */
static void weights_are_read_where_values_are_near_the_limit(void **state)
{
    static float weights[64 * 65];
    (void)state;
    for (int i = 0; i < 4; i++) {
        double seen = i % 2 ? 600 : 500, largest = i / 2 ? 17 : 8; /* of a column of 64 */
        for (size_t k = 0; k < AMP_COUNT(weights); k++)
            weights[k] = (float)largest;
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        guarded.limits.margin = 2;
        uint32_t x = input("x", AMP_FLOAT, DIMS(1, 64));
        uint32_t y = NODE("MatMul", "y", x, constant("w", AMP_FLOAT, DIMS(64, 65), weights));
        output(y);
        prove(x, -1, 1);
        see(y, seen);
        bool is_beyond = seen * 2 > 1024 && 64 * largest > 1024;
        assert_found(y, is_beyond ? AMP_REASON_VALUE_RANGE : AMP_REASON_RULE, y, seen,
                     AMP_RANGES_DATA);
    }
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
    for (size_t k = 0; k < AMP_COUNT(weights); k++)
        weights[k] = 100;
    uint32_t x = input("x", AMP_FLOAT, DIMS(64, 65));
    uint32_t y = NODE("Mul", "y", x, constant("w", AMP_FLOAT, DIMS(64, 65), weights));
    output(y);
    prove(x, 30, 40);
    assert_none(y);
}

/* Nothing is seen of values that are no floats, or of bodies, and where nothing was looked at;
   inputs and outputs may be left out. */
static void what_is_not_there_is_not_found(void **state)
{
    (void)state;
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
    uint32_t n = input("n", AMP_INT64, DIMS(2)), y = NODE("Abs", "y", n);
    output(y);
    see(n, 2000);
    assert_none(y);
    start_guarded(AMP_FLOAT16, AMP_RANGES_UNSEEN);
    guarded.ranges = NULL;
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 2));
    y = NODE("ReduceL2", "y", x);
    output(y);
    assert_none(y);
    guarded.limits.guards = AMP_GUARDS_OFF;
    assert_none(y);
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
    x = input("x", AMP_FLOAT, DIMS(2));
    y = NODE("Clip", "y", x, AMP_NONE, number(7));
    uint32_t split = net_node(0, "Split", "part", 2, IDS(y));
    output(net_out(split, 1));
    infer_all();
    amp_node_at(net.model, split)->outputs[0] = AMP_NONE;
    struct amp_decision decision = {.type = AMP_TYPE_ALL_FLOATS};
    struct amp_types types = {net.model, 22};
    struct amp_static_values *values = amp_static_values_create(net.model, AMP_FLOAT16, 65504);
    const struct amp_range_guard_options options = {net.model, AMP_FLOAT16, &guarded.limits,
                                                    guarded.ranges, values};
    struct amp_range_guards *guards = amp_range_guards_create(&options);
    for (uint32_t id = 0; id < 2; id++) {
        amp_static_values_add(values, amp_node_at(net.model, id));
        amp_range_guards_add(guards, amp_node_at(net.model, id));
        assert_false(amp_range_guards_find(guards, &types, amp_node_at(net.model, id), &decision));
    }
    struct amp_node *node = amp_node_at(net.model, split);
    node->outputs[1] = AMP_NONE, node->op_type = "Any", node->domain = "own";
    assert_false(amp_range_guards_find(guards, &types, node, &decision));
    amp_range_guards_destroy(guards);
    amp_static_values_destroy(values);
}

/* What was seen is seen of the main graph's value, not of a body's that has its name. */
static void bodies_have_not_been_seen(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), c = input("c", AMP_BOOL, SCALAR);
        uint32_t y = NODE("If", "y", c);
        output(y);
        add_branch(node_of(y), "then_branch", "Softsign", x);
        add_branch(node_of(y), "else_branch", "Softsign", x);
        uint32_t inner = net.model->graphs[1].outputs.items[0];
        if (i == 1)
            see(inner, 2000);
        assert_none(inner);
    }
}

/* ---- main inputs of composites ---- */

/* A composite that is the widest of its inputs counts no number of its definition, if all else are
   scalars; its main input counts where it is decided on and no constant. */
static void numbers_and_constants_are_no_main_inputs(void **state)
{
    static const float weights[16];
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++) {
        struct amp_assignment assignment;
        reload(f, HEAD "constants: follow\nrules:\n  - {precision: lower, tensors: [low]}\n"
                       "  - {precision: widest, ops: [Softplus]}\n");
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        net_start(17);
        net.model->producer = "pytorch";
        uint32_t x = input("x", AMP_FLOAT, i < 2 ? SCALAR : DIMS(4, 4));
        uint32_t low = NODE(i == 1 ? "Abs" : "Neg", i == 1 ? "high" : "low", x), y;
        uint32_t w = constant("w", AMP_FLOAT, DIMS(4, 4), weights), b = FLOATS("b", 1, 2, 3, 4);
        if (i < 2) {
            y = NODE("Log", "y", NODE("Add", "a", NODE("Exp", "e", low), number(1)));
        } else {
            uint32_t m = i == 2 ? NODE("MatMul", "m", w, low) : NODE("MatMul", "m", low, w);
            y = i == 2 ? NODE("Add", "y", NODE("Mul", "scaled", m, number(1)), low)
                       : NODE("Add", "y", m, b);
            if (i == 4)
                amp_ids_push(net.model, &options.training.points, m);
        }
        output(y);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_non_null(assignment.nodes[node_of(y)].whole);
        bool is_wide = i == 1 || i == 4;
        if (assignment.values[y] != (is_wide ? AMP_FLOAT : AMP_BFLOAT16))
            fail_msg("%d: %s", i, amp_dtype_name(assignment.values[y]));
    }
}

/* How many casts there are with the constants that promote, and without; what is given out in the
   lower dtype takes none. */
static void casts_of_constants_are_told(void **state)
{
    struct fixture *f = *state;
    reload(f, HEAD "constants: promote\nrules:\n  - {precision: lower, ops: [Abs]}\n");
    for (int is_interface = 0; is_interface < 2; is_interface++) {
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        struct amp_assignment assignment;
        size_t following = 0;
        net_start(17);
        uint32_t low = NODE("Abs", "low", input("x", AMP_FLOAT, DIMS(2)));
        uint32_t sum = NODE("Add", "sum", low, FLOATS("c", 1, 2)), y = NODE("Abs", "y", sum);
        output(y);
        infer_all();
        if (is_interface)
            amp_ids_push(net.model, &options.interface, y);
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_true(assignment.has_promoting_constants);
        assert_int_equal(amp_assignment_casts(net.model, &assignment), is_interface ? 3 : 4);
        assert_int_equal(amp_assignment_casts_following(net.model, &options, &following, &net.err),
                         AMP_OK);
        assert_int_equal(following, is_interface ? 1 : 2);
        assert_int_equal(f->rules->constants, AMP_CONSTANTS_PROMOTE);
        assignment.nodes[node_of(y)].dtype = AMP_FLOAT; /* a removed node takes nothing */
        amp_node_at(net.model, node_of(sum))->is_removed = true;
        assert_int_equal(amp_assignment_casts(net.model, &assignment), is_interface ? 1 : 2);
    }
}

/* A runtime that lacks a part keeps the whole, unless the second dtype is one that it has of all.
 */
static void runtimes_keep_wholes_together(void **state)
{
    static const struct {
        const char *runtime;
        enum amp_dtype lower, second, dtype;
    } rows[] = {{"ort-cpu", AMP_BFLOAT16, AMP_UNDEFINED, AMP_FLOAT},
                {"ort-cpu", AMP_FLOAT16, AMP_UNDEFINED, AMP_FLOAT16},
                {"ort-cpu", AMP_BFLOAT16, AMP_FLOAT16, AMP_FLOAT16},
                {"ort-cpu", AMP_FLOAT16, AMP_BFLOAT16, AMP_FLOAT16},
                {"ampconv", AMP_BFLOAT16, AMP_UNDEFINED, AMP_BFLOAT16},
                {NULL, AMP_BFLOAT16, AMP_UNDEFINED, AMP_BFLOAT16}};
    struct fixture *f = *state;
    reload(f, HEAD "rules:\n  - {precision: lower, ops: [silu]}\n");
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_runtimes runtimes = {.count = 0};
        struct amp_assign_options options = {
            .rules = f->rules, .lower = rows[i].lower, .second = rows[i].second, .cap = 22};
        struct amp_assignment assignment;
        if (rows[i].runtime != NULL) {
            runtimes.items[runtimes.count++] = amp_runtime_find(rows[i].runtime);
            options.runtimes = &runtimes;
        }
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(4)), s = NODE("Sigmoid", "s", x);
        uint32_t y = NODE("Mul", "y", x, s);
        output(y);
        infer_all();
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        for (int k = 0; k < 2; k++) {
            const struct amp_decision *decision = &assignment.nodes[k];
            bool is_kept = rows[i].dtype == AMP_FLOAT;
            if (decision->dtype != rows[i].dtype)
                fail_msg("row %zu: %s", i, amp_dtype_name(decision->dtype));
            assert_int_equal(decision->reason, is_kept ? AMP_REASON_RUNTIME : AMP_REASON_RULE);
            assert_ptr_equal(decision->runtime, is_kept ? runtimes.items[0] : NULL);
            if (is_kept)
                assert_string_equal(decision->lacked, "Sigmoid");
        }
    }
}

/* What takes the dtype at no opset stays float32 for that, whatever runtimes there are; what is
   float32 anyway lacks none. */
static void what_no_opset_has_stays(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        const struct amp_runtimes runtimes = {
            .items = {amp_runtime_find(i == 3 ? "tensorrt" : "ampconv")}, .count = 1};
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, ANY_DIMS), y = NODE("Einsum", "y", x, x);
        set_word(y, "equation", "ij,jk->ik");
        output(y);
        struct amp_assign_options options = {.lower = i == 2 ? AMP_FLOAT16 : AMP_BFLOAT16,
                                             .cap = 22,
                                             .runtimes = i > 0 ? &runtimes : NULL};
        struct amp_assignment assignment = assign_all(f, options);
        const struct amp_decision *decision = &assignment.nodes[node_of(y)];
        assert_int_equal(decision->dtype, i == 2 ? AMP_FLOAT16 : AMP_FLOAT);
        assert_int_equal(decision->reason, i == 2 ? AMP_REASON_RULE : AMP_REASON_NO_LOWER_TYPE);
        assert_int_equal(assignment.opset, 17);
        assert_null(decision->runtime);
    }
    const struct amp_runtimes runtimes = {.items = {amp_runtime_find("tensorrt")}, .count = 1};
    struct amp_assignment assignment;
    reload(f, HEAD "rules:\n  - {precision: fp32, ops: [Det]}\n");
    const struct amp_assign_options options = {
        .rules = f->rules, .lower = AMP_FLOAT16, .cap = 22, .runtimes = &runtimes};
    start_one("Det", 17, AMP_FLOAT, DIMS(2, 2));
    infer_all();
    assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
    assert_false(
        amp_runtime_has(runtimes.items[0], amp_node_at(net.model, 0)->schema, "T", AMP_FLOAT));
    assert_int_equal(assignment.nodes[0].dtype, AMP_FLOAT);
    assert_int_equal(assignment.nodes[0].reason, AMP_REASON_RULE);
}

/* A constant's cast that is given out stays, under its name; one that is not is stored, once. */
static void casts_of_constants_that_are_given_out_stay(void **state)
{
    static const float data[] = {1, 2};
    (void)state;
    for (int i = 0; i < 3; i++) {
        net_start(22);
        uint32_t c = i < 2 ? constant("c", AMP_FLOAT, DIMS(2), data)
                           : NODE("ConstantOfShape", "c", NUMBERS("n", 2));
        uint32_t cast = NODE("Cast", "cast", c);
        set_int(cast, "to", AMP_FLOAT16);
        output(i == 0 ? cast : NODE("Neg", "y", cast));
        infer_all();
        assert_int_equal(amp_cast_fold(net.model, true, 0), i > 0);
        assert_int_equal(amp_cast_count(net.model), i == 0);
        assert_int_equal(amp_value_at(net.model, cast)->is_output, i == 0);
        assert_int_equal(amp_graph_check(net.model, &net.err), AMP_OK);
        assert_int_equal(amp_value_at(net.model, cast)->dtype, AMP_FLOAT16);
    }
}

/* A state that a recurrent operator begins with counts as any constant where only its name tells
   the layer, and as the layer's own where that is noted. */
static void states_of_operators_promote(void **state)
{
    static const float weights[12] = {1, 2, 3};
    static const char *const modes[] = {"promote", "follow"};
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        bool is_noted = i / 2;
        struct amp_assignment assignment;
        char text[256];
        snprintf(text, sizeof text,
                 HEAD "constants: %s\nrules:\n  - {precision: lower, tensors: [low]}\n",
                 modes[i % 2]);
        reload(f, text);
        net_start(22);
        net.model->producer = "pytorch";
        uint32_t x = NODE("Relu", "low", input("given", AMP_FLOAT, DIMS(3, 1, 4)));
        uint32_t w = constant("w", AMP_FLOAT, DIMS(1, 3, 4), weights);
        uint32_t r = constant("r", AMP_FLOAT, DIMS(1, 3, 1), weights);
        uint32_t h = constant("h", AMP_FLOAT, DIMS(1, 1, 1), weights);
        uint32_t y = NODE("GRU", "y", x, w, r, AMP_NONE, AMP_NONE, h);
        set_int(y, "hidden_size", 1);
        put_in(y, "layer", is_noted);
        output(y);
        infer_all();
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_int_equal(assignment.nodes[node_of(y)].dtype, i == 0 ? AMP_FLOAT : AMP_BFLOAT16);
    }
}

/* What an optimizer folded is of the lower dtype in any layer; inputs that are float32 by
   definition do not widen. */
static void folded_constants_and_fixed_floats_widen_nothing(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        struct amp_assignment assignment;
        reload(f, HEAD "constants: promote\nrules:\n  - {precision: lower, tensors: [low]}\n"
                       "  - {precision: lower, ops: [linear]}\n"
                       "  - {precision: widest, tensors: [resized]}\n");
        net_start(17);
        net.model->producer = "pytorch";
        uint32_t low = NODE("Abs", "low", input("x", AMP_FLOAT, DIMS(4)));
        uint32_t high = NODE("Neg", "high", input("given", AMP_FLOAT, DIMS(4))), y;
        if (i < 2) {
            put_in(NODE("Sigmoid", "first", high), "cell", true);
            y = NODE("Add", "y", low,
                     constant(i == 0 ? "linear_1" : "own", AMP_FLOAT, DIMS(4),
                              (const float[]){1, 2, 3, 4}));
            put_in(y, "cell", true);
        } else {
            y = NODE("Resize", "resized", low, AMP_NONE, FLOATS("scales", 2));
        }
        output(y);
        infer_all();
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        if (assignment.values[y] != (i == 1 ? AMP_FLOAT : AMP_BFLOAT16))
            fail_msg("%d: %s", i, amp_dtype_name(assignment.values[y]));
    }
}

/* The program has the operators that it has code for, in the versions and dtypes that these are
   for. */
static void the_program_has_its_operators(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16,
                                            AMP_BOOL,  AMP_UINT32,  AMP_FLOAT8E4M3FN};
    const struct amp_runtime *own = amp_runtime_find("ampconv");
    const struct amp_schema *schema;
    (void)state;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++)
        for (size_t k = 0; k < AMP_COUNT(dtypes); k++) {
            const struct amp_op *op = amp_op_find(schema->domain, schema->name);
            bool has_code = op != NULL && op->run != NULL;
            bool has = has_code && schema->since_version <= op->newest &&
                       (op->lacks & AMP_DTYPE_BIT(dtypes[k])) == 0;
            assert_int_equal(amp_runtime_has(own, schema, NULL, dtypes[k]), has);
        }
}

/* Inputs of wholes that widen them: a composite's constants, but for numbers, and all of what a
   note makes one, which has no settings and no main input. */
static void inputs_of_wholes_promote(void **state)
{
    enum { ITEM_OF_NOTED, ADDEND, FIRST_OF_NOTED, FILLED, OF_HALVES, CASES };
    static const float numbers[] = {1, 2, 3, 4};
    static const uint16_t halves[] = {1, 2, 3, 4};
    struct fixture *f = *state;
    reload(f, HEAD "constants: promote\nrules:\n  - {precision: lower, tensors: ['low*']}\n"
                   "  - {precision: fp32, ops: [softmax]}\n");
    for (int i = 0; i < CASES; i++) {
        struct amp_assignment assignment;
        net_start(17);
        net.model->producer = "pytorch";
        enum amp_dtype dtype = i == OF_HALVES ? AMP_FLOAT16 : AMP_FLOAT;
        uint32_t x = NODE("Abs", "low", input("a", dtype, DIMS(4)));
        uint32_t y = NODE("Abs", "low", input("b", dtype, DIMS(4)));
        uint32_t made = AMP_NONE;
        if (i == ADDEND)
            made = NODE("Add", "y", constant("k", AMP_FLOAT, DIMS(4), numbers),
                        NODE("Mul", "f", NODE("Mul", "m", x, y), FLOATS("half", 0.5f)));
        if (i == ITEM_OF_NOTED)
            made = NODE("Add", "y", x, FLOATS("item", 1));
        if (i == FIRST_OF_NOTED)
            made = NODE("PRelu", "y", x, input("slope", AMP_FLOAT, DIMS(4)));
        if (i == ITEM_OF_NOTED || i == FIRST_OF_NOTED)
            note(made, "call", "aten.norm.Scalar", "%x");
        if (i == FILLED)
            made = NODE("Where", "y", input("if", AMP_BOOL, DIMS(4)),
                        constant("k", AMP_FLOAT, DIMS(4), (const float[]){7, 7, 7, 7}),
                        constant("l", AMP_FLOAT, DIMS(4), (const float[]){8, 8, 8, 8}));
        if (i == OF_HALVES) {
            put_in(NODE("Abs", "first", x), "cell", true);
            made = NODE("Add", "y", y, constant("k", AMP_FLOAT16, DIMS(4), halves));
            put_in(made, "cell", true);
        }
        output(made);
        infer_all();
        struct amp_assign_options options = {.rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        if ((assignment.nodes[node_of(made)].whole != NULL) != (i != FILLED))
            fail_msg("%d", i);
        if (assignment.values[made] != AMP_FLOAT)
            fail_msg("%d: %s", i, amp_dtype_name(assignment.values[made]));
        assert_int_equal(assignment.nodes[node_of(made)].reason, AMP_REASON_UNLISTED);
    }
}

/* Of several inputs one that has a finding is enough; masks are no values of their own, and too
   much only where they are added to; of what is not bounded nothing is known. */
static void findings_are_of_what_is_known(void **state)
{
    static const float mask[] = {-70000, -70000}, deeper[] = {-80000, -80000}, c[] = {3, 4};
    (void)state;
    for (int i = 0; i < 2; i++) {
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        uint32_t x = input("x", AMP_FLOAT, DIMS(2)), z = input("z", AMP_FLOAT, DIMS(2));
        uint32_t moved = i == 0 ? NODE("Concat", "moved", x, z) : NODE("Concat", "moved", z, x);
        uint32_t y = NODE("Softsign", "y", moved);
        set_int(moved, "axis", 0);
        output(y);
        see(x, 1)->flushed = 0.5;
        assert_found(y, AMP_REASON_FLUSH, x, 0.5, AMP_RANGES_DATA);
    }
    for (int i = 0; i < 3; i++) {
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        guarded.limits.activation_max = 65504;
        guarded.limits.margin = 2;
        uint32_t x = input("x", AMP_FLOAT, DIMS(2));
        uint32_t t = NODE("Where", "t", input("if", AMP_BOOL, DIMS(2)),
                          constant("k", AMP_FLOAT, DIMS(2), mask),
                          constant("l", AMP_FLOAT, DIMS(2), deeper));
        uint32_t y = NODE(i == 2 ? "Add" : "Max", "y", t, x);
        output(y);
        see(x, 100);
        if (i == 1)
            see(t, 80000);
        assert_none(t);
        assert_found(y, i == 2 ? AMP_REASON_MASK : AMP_REASON_RULE, x, 100, AMP_RANGES_DATA);
    }
    for (int i = 0; i < 2; i++) { /* a mask that is cast */
        start_guarded(AMP_FLOAT16, AMP_RANGES_DATA);
        guarded.limits.activation_max = 65504;
        guarded.limits.margin = 2;
        uint32_t x = input("x", AMP_FLOAT, DIMS(2));
        uint32_t t = NODE("Where", "t", input("if", AMP_BOOL, DIMS(2)),
                          input("w", AMP_FLOAT, DIMS(2)), constant("k", AMP_FLOAT, DIMS(2), mask));
        uint32_t cast = NODE(i == 0 ? "Cast" : "Neg", "cast", t), y = NODE("Add", "y", cast, x);
        if (i == 0)
            set_int(cast, "to", AMP_FLOAT);
        output(y);
        see(x, 100);
        assert_found(y, i == 0 ? AMP_REASON_MASK : AMP_REASON_RULE, x, 100, AMP_RANGES_DATA);
    }
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA); /* a 0 that divides behind a cast */
    uint32_t x = NODE("Softsign", "x", input("in", AMP_FLOAT, DIMS(2, 2)));
    uint32_t cast = NODE("Cast", "cast", x), y = NODE("Reciprocal", "y", cast);
    set_int(cast, "to", AMP_FLOAT);
    output(y);
    see(x, 1)->smallest = 0x1p-26;
    assert_found(x, AMP_REASON_FLUSH, x, 0x1p-26, AMP_RANGES_DATA);
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA); /* weights that nobody knows */
    x = input("x", AMP_FLOAT, DIMS(2, 2));
    y = NODE("MatMul", "y", x, input("w", AMP_FLOAT, DIMS(2, 2)));
    output(y);
    see(x, 1000);
    assert_none(y);
    guarded.ranges = NULL;
    assert_none(y);
    start_guarded(AMP_FLOAT16, AMP_RANGES_DATA); /* nor what a constant is computed to */
    x = input("x", AMP_FLOAT, DIMS(2));
    y = NODE("Add", "y", x, NODE("Exp", "e", constant("c", AMP_FLOAT, DIMS(2), c)));
    output(y);
    assert_none(y);
}

/* A constant that was cast to float16 is converted as float16 has it: 1 + 2^-8 + 2^-13 becomes
   1 + 2^-8 there, and that 1 in bfloat16, which has nothing between 1 and 1 + 2^-7; without loss,
   as from float16 to float32, it is the constant itself. */
static void constants_are_converted_from_what_they_are(void **state)
{
    static const enum amp_dtype through[] = {AMP_FLOAT, AMP_FLOAT16};
    static const uint16_t expected[] = {0x3f81, 0x3f80};
    static const float number = 1 + 0x1p-8f + 0x1p-13f;
    for (int i = 0; i < 2; i++) {
        struct amp_assign_options options = lowering(*state, "Add", AMP_BFLOAT16);
        struct amp_assignment assignment;
        struct amp_inserted_casts casts = {.count = 0};
        net_start(17);
        uint32_t x = input("x", through[i], DIMS(1)),
                 c = constant("c", AMP_FLOAT, DIMS(1), &number);
        uint32_t same = NODE("Cast", "same", c), y = NODE("Add", "y", x, same);
        set_int(same, "to", through[i]);
        output(y);
        infer_all();
        uint32_t id = node_of(y);
        assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
        assert_int_equal(assignment.nodes[id].dtype, AMP_BFLOAT16);
        assert_int_equal(amp_cast_insert(net.model, &assignment, true, &casts, &net.err), AMP_OK);
        const struct amp_tensor *made =
            amp_value_at(net.model, amp_node_at(net.model, id)->inputs[1])->constant;
        assert_non_null(made);
        assert_int_equal(made->dtype, AMP_BFLOAT16);
        assert_int_equal(*(const uint16_t *)made->data, expected[i]);
    }
}

/* A whole that no rule names follows what goes into it: its main input where PyTorch computes in
   that, or else the widest of all; numbers of its definition have no say. */
static void wholes_follow_what_goes_in(void **state)
{
    static const float weights[16];
    static const char *const constants[] = {"promote", "follow"};
    struct fixture *f = *state;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 8 + 4; i++) { /* addcmul by which are low, linear, silu */
            struct amp_assignment assignment;
            uint32_t made[3], y, inner, mask = i < 8 ? (uint32_t)i : (uint32_t)i % 2 * 7;
            char text[256];
            snprintf(text, sizeof text,
                     HEAD "constants: %s\nrules:\n  - {precision: lower, tensors: ['low*']}\n"
                          "  - {precision: fp32, tensors: ['high*']}\n",
                     constants[k]);
            reload(f, text);
            net_start(17);
            net.model->producer = "pytorch";
            for (uint32_t n = 0; n < 3; n++)
                made[n] = NODE("Neg", mask & 1u << n ? "low" : "high",
                               input(n == 0   ? "x"
                                     : n == 1 ? "v"
                                              : "z",
                                     AMP_FLOAT, DIMS(4, 4)));
            if (i < 8) {
                inner = NODE("Mul", "f", NODE("Mul", "m", made[0], made[1]), FLOATS("half", 0.5f));
                y = NODE("Add", "y", made[2], inner);
            } else if (i < 10) {
                inner = NODE("MatMul", "m", made[0], constant("w", AMP_FLOAT, DIMS(4, 4), weights));
                y = NODE("Add", "y", inner, FLOATS("b", 1, 2, 3, 4));
            } else {
                inner = NODE("Sigmoid", "s", made[0]);
                y = NODE("Mul", "y", made[0], inner);
            }
            output(y);
            infer_all();
            struct amp_assign_options options = {
                .rules = f->rules, .lower = AMP_BFLOAT16, .cap = 22};
            assert_int_equal(amp_assign(net.model, &options, &assignment, &net.err), AMP_OK);
            assert_non_null(amp_wholes_of(assignment.wholes, node_of(y)));
            enum amp_dtype dtype = mask == 7 ? AMP_BFLOAT16 : AMP_FLOAT;
            if (assignment.values[y] != dtype || assignment.values[inner] != dtype)
                fail_msg("%d, %d: %s, %s", k, i, amp_dtype_name(assignment.values[y]),
                         amp_dtype_name(assignment.values[inner]));
        }
}

/* What takes a value in another dtype is cast once, constants are converted, and inputs that are
   left out are nothing. */
static void casts_are_counted(void **state)
{
    static const float six = 6;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2));
    uint32_t y = NODE("Clip", "y", x, AMP_NONE, constant("six", AMP_FLOAT, SCALAR, &six));
    output(y);
    output(NODE("Relu", "z", x));
    struct amp_assignment assignment =
        assign_all(*state, (struct amp_assign_options){.lower = AMP_BFLOAT16, .cap = 22});
    assert_int_equal(assignment.values[y], AMP_BFLOAT16);
    assert_int_equal(amp_assignment_casts(net.model, &assignment), 3);
    assignment = assign_all(*state, (struct amp_assign_options){.lower = AMP_FLOAT, .cap = 22});
    assert_int_equal(amp_assignment_casts(net.model, &assignment), 0);
}

/* Those about what values come to are guards'; all have names of their own. */
static void reasons_are_guards_where_values_are(void **state)
{
    static const enum amp_reason guards[] = {AMP_REASON_VALUE_RANGE,  AMP_REASON_INNER_RANGE,
                                             AMP_REASON_PARTIAL_SUMS, AMP_REASON_FLUSH,
                                             AMP_REASON_WEIGHT_FLUSH, AMP_REASON_MASK};
    (void)state;
    for (enum amp_reason i = AMP_REASON_RULE; i < AMP_REASON_COUNT; i++) {
        bool is_guard = false;
        for (size_t k = 0; k < sizeof guards / sizeof *guards; k++)
            is_guard |= guards[k] == i;
        assert_int_equal(amp_reason_is_guard(i), is_guard);
        for (enum amp_reason k = AMP_REASON_RULE; k < i; k++) {
            assert_string_not_equal(amp_reason_name(i), amp_reason_name(k));
            assert_string_not_equal(amp_reason_text(i), amp_reason_text(k));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AUTOCAST_TEST(casts_of_a_lowered_node_need_opset_6),
        AUTOCAST_TEST(casts_of_the_interface_need_opset_6),
        AUTOCAST_TEST(what_cannot_follow_leaves_the_highest_opset_it_can),
        AUTOCAST_TEST(a_model_that_no_opset_fits_is_refused),
        AUTOCAST_TEST(constants_are_moved_in_the_dtype_of_their_users),
        AUTOCAST_TEST(parts_are_kept_together),
        AUTOCAST_TEST(a_weight_keeps_all_of_a_layer),
        AUTOCAST_TEST(other_operators_cap_no_opset),
        AUTOCAST_TEST(all_runtimes_take_and_give_a_dtype),
        AUTOCAST_TEST(runtimes_have_what_their_tables_say),
        AUTOCAST_TEST(a_state_of_one_element_is_a_tensor),
        AUTOCAST_TEST(operators_make_guards_of_their_constants),
        AUTOCAST_TEST(guards_are_huge_or_fit_their_use),
        AUTOCAST_TEST(masks_are_looked_at_to_their_end),
        AUTOCAST_TEST(nothing_but_guards_is_no_mask),
        AUTOCAST_TEST(an_output_that_is_given_out_twice_is_cast_once),
        AUTOCAST_TEST(sequences_of_known_pieces_become_splits),
        AUTOCAST_TEST(sequences_are_lowered_between_tensors),
        AUTOCAST_TEST(sequences_that_go_elsewhere_stay),
        AUTOCAST_TEST(fills_are_made_in_dtypes_that_the_opset_has),
        AUTOCAST_TEST(a_body_keeps_the_cast_that_it_gives_out),
        AUTOCAST_TEST(notes_have_operator_overload_and_arguments),
        AUTOCAST_TEST(the_last_line_of_a_trace_made_the_node),
        AUTOCAST_TEST(folded_constants_are_of_lowered_operators),
        AUTOCAST_TEST(recurrent_layers_have_their_names),
        AUTOCAST_TEST(recurrent_layers_are_noted),
        AUTOCAST_TEST(functions_are_known_by_what_they_become),
        AUTOCAST_TEST(constants_stand_between_the_parts),
        AUTOCAST_TEST(parts_of_a_function_are_among_themselves),
        AUTOCAST_TEST(parts_of_a_function_are_of_one_line),
        AUTOCAST_TEST(a_call_is_one_whole),
        AUTOCAST_TEST(operators_of_users_need_floats_and_types),
        AUTOCAST_TEST(the_largest_magnitude_is_found),
        AUTOCAST_TEST(the_share_of_what_becomes_0_is_found),
        AUTOCAST_TEST(constants_are_converted_now_or_later),
        AUTOCAST_TEST(attributes_that_are_data_keep_the_type),
        AUTOCAST_TEST(the_second_dtype_is_for_what_lacks_the_first),
        AUTOCAST_TEST(what_was_lower_lacks_no_runtime),
        AUTOCAST_TEST(products_are_no_hostages),
        AUTOCAST_TEST(fillings_promote_nothing),
        AUTOCAST_TEST(guards_are_looked_at_once),
        AUTOCAST_TEST(what_changed_is_said),
        AUTOCAST_TEST(unknown_dtypes_are_not_decided_on),
        AUTOCAST_TEST(what_a_runtime_has_is_lowered),
        AUTOCAST_TEST(each_dtype_has_one_cast),
        AUTOCAST_TEST(composites_are_what_the_table_says),
        AUTOCAST_TEST(notes_go_before_patterns),
        AUTOCAST_TEST(parts_of_a_function_are_no_composite),
        AUTOCAST_TEST(nodes_are_of_modules_lines_and_operators),
        AUTOCAST_TEST(parts_are_no_whole_unless_named),
        AUTOCAST_TEST(wholes_promote_as_their_parts_do),
        AUTOCAST_TEST(new_nodes_are_of_no_whole),
        AUTOCAST_TEST(operators_promote_as_pytorch_has_them),
        AUTOCAST_TEST(findings_are_of_what_is_known),
        AUTOCAST_TEST(inputs_of_wholes_promote),
        AUTOCAST_TEST(states_of_operators_promote),
        AUTOCAST_TEST(folded_constants_and_fixed_floats_widen_nothing),
        AUTOCAST_TEST(the_program_has_its_operators),
        AUTOCAST_TEST(casts_of_constants_that_are_given_out_stay),
        AUTOCAST_TEST(what_no_opset_has_stays),
        AUTOCAST_TEST(casts_of_constants_are_told),
        AUTOCAST_TEST(runtimes_keep_wholes_together),
        AUTOCAST_TEST(constants_that_become_0_are_found),
        AUTOCAST_TEST(weights_are_read_where_values_are_near_the_limit),
        AUTOCAST_TEST(what_is_not_there_is_not_found),
        AUTOCAST_TEST(bodies_have_not_been_seen),
        AUTOCAST_TEST(numbers_and_constants_are_no_main_inputs),
        AUTOCAST_TEST(runtimes_lack_operators_up_to_an_opset),
        AUTOCAST_TEST(runtimes_lack_unknown_operators),
        AUTOCAST_TEST(sequences_carry_what_runtimes_have),
        AUTOCAST_TEST(overrides_that_cannot_be_followed_are_refused),
        AUTOCAST_TEST(variables_take_what_is_listed),
        AUTOCAST_TEST(casts_have_opsets),
        AUTOCAST_TEST(runtimes_have_names_and_opsets),
        AUTOCAST_TEST(runtimes_cap_the_opset_of_each_operator),
        AUTOCAST_TEST(all_nodes_and_runtimes_cap_the_opset),
        AUTOCAST_TEST(runtimes_lack_what_they_cannot_take_or_give),
        AUTOCAST_TEST(fills_are_cast_where_they_are_made),
        AUTOCAST_TEST(chains_shrink_where_no_bit_is_lost),
        AUTOCAST_TEST(constants_are_stored_as_they_are_taken),
        AUTOCAST_TEST(constants_that_are_given_out_stay),
        AUTOCAST_TEST(inputs_of_any_kind_promote),
        AUTOCAST_TEST(the_widest_counts_all_floats),
        AUTOCAST_TEST(states_that_a_layer_makes_are_of_its_dtype),
        AUTOCAST_TEST(wholes_without_inputs_are_float32),
        AUTOCAST_TEST(lines_write_functions_out),
        AUTOCAST_TEST(calls_have_nodes_and_others_between),
        AUTOCAST_TEST(parts_beside_a_kept_one_are_kept),
        AUTOCAST_TEST(an_interface_is_lowered),
        AUTOCAST_TEST(guards_saturate_for_their_neighbours),
        AUTOCAST_TEST(guards_that_a_cast_would_meet_are_refused),
        AUTOCAST_TEST(followers_raise_the_opset_to_22),
        AUTOCAST_TEST(training_counts_where_something_is_lowered),
        AUTOCAST_TEST(casts_take_what_values_have_become),
        AUTOCAST_TEST(what_names_the_dtype_of_its_input_follows_it),
        AUTOCAST_TEST(constants_are_converted_from_what_they_are),
        AUTOCAST_TEST(wholes_follow_what_goes_in),
        AUTOCAST_TEST(casts_are_counted),
        AUTOCAST_TEST(losses_without_a_bound_are_refused),
        AUTOCAST_TEST(reasons_are_guards_where_values_are),
        AUTOCAST_TEST(calls_have_the_names_of_the_table),
        AUTOCAST_TEST(softmaxes_that_are_converted_ask_for_float32),
        AUTOCAST_TEST(what_is_between_quantized_data_stays),
        AUTOCAST_TEST(nodes_that_say_their_types_keep_them),
        AUTOCAST_TEST(surroundings_decide_on_infer_and_clear),
        AUTOCAST_TEST(equations_become_what_they_compute),
        AUTOCAST_TEST(what_gradients_are_for_is_kept),
        AUTOCAST_TEST(who_asks_for_float32_has_it),
        AUTOCAST_TEST(operators_have_their_definition_at_the_cap),
        AUTOCAST_TEST(casts_of_one_value_are_shared),
        AUTOCAST_TEST(what_becomes_0_is_passed_on),
        AUTOCAST_TEST(values_of_unknown_operators_are_guarded),
        AUTOCAST_TEST(nodes_take_what_they_were_given),
        AUTOCAST_TEST(casts_that_fold_change_no_bit),
        AUTOCAST_TEST(what_was_seen_is_held_against_the_limit),
        AUTOCAST_TEST(what_is_proved_is_held_against_the_limit),
        AUTOCAST_TEST(what_becomes_0_is_held_against_its_share),
        AUTOCAST_TEST(masks_add_up_to_infinities),
        AUTOCAST_TEST(masks_go_through_what_keeps_them),
        AUTOCAST_TEST(two_masks_are_too_much),
        AUTOCAST_TEST(what_is_beyond_is_not_passed_on),
        AUTOCAST_TEST(partial_sums_are_held_against_the_limit),
        AUTOCAST_TEST(what_depends_on_constants_is_known),
        AUTOCAST_TEST(equations_of_unknown_ranks_have_no_form),
        cmocka_unit_test_setup_teardown(what_is_given_out_twice_keeps_its_name, begin_fold,
                                        end_fold),
        cmocka_unit_test_setup_teardown(a_skipped_cast_stands_for_no_other, begin_fold, end_fold),
        cmocka_unit_test_setup_teardown(a_cast_stays_while_others_stand_on_it, begin_fold,
                                        end_fold),
        cmocka_unit_test_setup_teardown(a_cast_goes_when_nothing_came_to_stand_on_it, begin_fold,
                                        end_fold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
