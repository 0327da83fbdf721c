/* Decisions on nodes and values, and the casts that fold. */
#include "autocast/assign.h"
#include "autocast/cast_fold.h"
#include "autocast/cast_insert.h"
#include "autocast/guard.h"
#include "autocast/settle.h"
#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "core/status.h"
#include "net.h"
#include "rules_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        AUTOCAST_TEST(casts_of_a_lowered_node_need_opset_6),
        AUTOCAST_TEST(casts_of_the_interface_need_opset_6),
        AUTOCAST_TEST(what_cannot_follow_leaves_the_highest_opset_it_can),
        AUTOCAST_TEST(operators_make_guards_of_their_constants),
        AUTOCAST_TEST(guards_are_huge_or_fit_their_use),
        AUTOCAST_TEST(masks_are_looked_at_to_their_end),
        AUTOCAST_TEST(nothing_but_guards_is_no_mask),
        AUTOCAST_TEST(an_output_that_is_given_out_twice_is_cast_once),
        AUTOCAST_TEST(fills_are_made_in_dtypes_that_the_opset_has),
        AUTOCAST_TEST(a_body_keeps_the_cast_that_it_gives_out),
        cmocka_unit_test_setup_teardown(a_skipped_cast_stands_for_no_other, begin_fold, end_fold),
        cmocka_unit_test_setup_teardown(a_cast_stays_while_others_stand_on_it, begin_fold,
                                        end_fold),
        cmocka_unit_test_setup_teardown(a_cast_goes_when_nothing_came_to_stand_on_it, begin_fold,
                                        end_fold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
