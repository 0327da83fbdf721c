/* Loop, Scan and sequences on bodies built in memory: what a body must take and give, sequences
   along other axes and backwards, and what is refused. Expected values are computed by hand from
   ONNX's definitions. */
#include "core/memory.h"
#include "net.h"
#include "run/exec/state.h"

/* ---- tests ---- */

static size_t used_before;

static int open_and_count(void **state)
{
    used_before = amp_memory_used();
    return net_open(state);
}

/* What runs took has been returned. */
static int close_and_count(void **state)
{
    net_close(state);
    return amp_memory_used() == used_before ? 0 : -1;
}

#define BODY_TEST(name) cmocka_unit_test_setup_teardown(name, open_and_count, close_and_count)

/* ---- bodies ---- */

static uint32_t body_input(uint32_t graph, const char *name, enum amp_dtype dtype,
                           struct amp_shape shape)
{
    uint32_t id = net_value_in(graph, amp_model_unique_name(net.model, name), dtype, shape);
    amp_value_at(net.model, id)->is_input = true;
    amp_ids_push(net.model, &net.model->graphs[graph].inputs, id);
    return id;
}

static uint32_t body_node(uint32_t graph, const char *op_type, const char *name, uint32_t a,
                          uint32_t b)
{
    const uint32_t inputs[] = {a, b};
    const char *unique = amp_model_unique_name(net.model, name);
    return net_out(net_node(graph, op_type, unique, 1, inputs, b == AMP_NONE ? 1 : 2), 0);
}

static void body_output(uint32_t graph, uint32_t id)
{
    amp_value_at(net.model, id)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, id);
}

static uint32_t add_body(uint32_t owner)
{
    uint32_t graph = amp_graph_add(net.model, "body", owner);
    struct amp_attr attr = {.name = "body", .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
    return graph;
}

/* ---- Scan ---- */

struct scanning {
    int64_t axis, direction, out_axis, out_direction; /* of the first iterated input and output */
    int n_scanned;
    struct amp_shape second; /* of the second iterated input */
    int surplus;             /* inputs of the body that nothing is for */
};

/* Sums of the parts of x up to each: a state s, which begins with the parts' zeros. */
static uint32_t start_scan(const struct scanning *scanning)
{
    uint32_t inputs[3];
    net_start(11);
    inputs[0] = input("s", AMP_FLOAT, DIMS(2));
    inputs[1] = input("x", AMP_FLOAT, ANY_DIMS);
    if (scanning->n_scanned > 1)
        inputs[2] = input("z", AMP_FLOAT, ANY_DIMS);
    uint32_t owner = net_node(0, "Scan", "y", 2, inputs, 1 + (size_t)scanning->n_scanned);
    uint32_t y = net_out(owner, 0), graph = add_body(owner);
    set_int(y, "num_scan_inputs", scanning->n_scanned);
    SET_INTS(y, "scan_input_axes", scanning->axis, 0);
    SET_INTS(y, "scan_input_directions", scanning->direction, 0);
    SET_INTS(y, "scan_output_axes", scanning->out_axis);
    SET_INTS(y, "scan_output_directions", scanning->out_direction);
    uint32_t s = body_input(graph, "s_in", AMP_FLOAT, ANY_DIMS);
    uint32_t x = body_input(graph, "x_in", AMP_FLOAT, ANY_DIMS);
    for (int i = 1; i < scanning->n_scanned + scanning->surplus; i++)
        body_input(graph, "z_in", AMP_FLOAT, ANY_DIMS);
    uint32_t sum = body_node(graph, "Add", "sum", s, x);
    body_output(graph, sum);
    body_output(graph, body_node(graph, "Identity", "given", sum, AMP_NONE));
    output(net_out(owner, 0));
    output(net_out(owner, 1));
    return y;
}

static struct amp_tensor floats(struct amp_shape shape)
{
    static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    return *net_tensor(AMP_FLOAT, shape, numbers);
}

static struct amp_tensor zeros(void)
{
    return *net_tensor(AMP_FLOAT, DIMS(2), (const float[]){0, 0});
}

static void scans_go_along_any_axis_in_either_direction(void **state)
{
    (void)state;
    start_scan(&(struct scanning){.n_scanned = 1});
    run_on(TENSORS(zeros(), floats(DIMS(3, 2))));
    EXPECT_OUTPUT(0, 0, 9, 12);
    EXPECT_OUTPUT(1, 0, 1, 2, 4, 6, 9, 12);
    start_scan(&(struct scanning){.n_scanned = 1, .direction = 1});
    run_on(TENSORS(zeros(), floats(DIMS(3, 2))));
    EXPECT_OUTPUT(1, 0, 5, 6, 8, 10, 9, 12);
    start_scan(&(struct scanning){.n_scanned = 1, .out_direction = 1});
    run_on(TENSORS(zeros(), floats(DIMS(3, 2))));
    EXPECT_OUTPUT(1, 0, 9, 12, 4, 6, 1, 2);
    start_scan(&(struct scanning){.n_scanned = 1, .axis = 1});
    run_on(TENSORS(zeros(), floats(DIMS(2, 3))));
    EXPECT_OUTPUT(1, 0, 1, 4, 3, 9, 6, 15);
    start_scan(&(struct scanning){.n_scanned = 1, .axis = -1, .out_axis = -1});
    run_on(TENSORS(zeros(), floats(DIMS(2, 3))));
    EXPECT_OUTPUT(1, 0, 1, 3, 6, 4, 9, 15);
    assert_int_equal(net.outputs[1].shape.dims[1], 3);
    start_scan(&(struct scanning){.n_scanned = 2, .axis = 1});
    run_on(TENSORS(zeros(), floats(DIMS(2, 3)), floats(DIMS(3))));
    EXPECT_OUTPUT(1, 0, 1, 4, 3, 9, 6, 15);
}

static void scans_without_steps_give_their_state(void **state)
{
    (void)state;
    start_scan(&(struct scanning){.n_scanned = 1});
    run_on(TENSORS(floats(DIMS(2)), floats(DIMS(0, 2))));
    EXPECT_OUTPUT(0, 0, 1, 2);
    assert_true(amp_shape_equal(&net.outputs[1].shape, &DIMS(0)));
}

static void scans_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    start_scan(&(struct scanning){.n_scanned = 2});
    run_on(TENSORS(zeros(), floats(DIMS(3, 2)), floats(DIMS(3))));
    refuses(TENSORS(zeros(), floats(DIMS(3, 2)), floats(DIMS(4))), AMP_MODEL,
            "scan input 1 has another length than the first");
    start_scan(&(struct scanning){.n_scanned = 1, .axis = 2});
    refuses(TENSORS(zeros(), floats(DIMS(3, 2))), AMP_MODEL, "axis 2; rank 2 allows -2 to 1");
    start_scan(&(struct scanning){.n_scanned = 1, .out_axis = 2});
    refuses(TENSORS(zeros(), floats(DIMS(3, 2))), AMP_MODEL, "axis 2; rank 2 allows -2 to 1");
    start_scan(&(struct scanning){.n_scanned = 1, .surplus = 1});
    refuses(TENSORS(zeros(), floats(DIMS(3, 2))), AMP_MODEL, "the body has 3 inputs; 2 are needed");
    uint32_t y = start_scan(&(struct scanning){.n_scanned = 1});
    set_int(y, "num_scan_inputs", 0);
    refuses(TENSORS(zeros(), floats(DIMS(3, 2))), AMP_MODEL,
            "num_scan_inputs is 0; the node has 2 inputs");
    set_int(y, "num_scan_inputs", 3);
    refuses(TENSORS(zeros(), floats(DIMS(3, 2))), AMP_MODEL,
            "num_scan_inputs is 3; the node has 2 inputs");
}

/* A body gives all its states, whether the node has outputs for them or not. */
static void bodies_give_their_states(void **state)
{
    static const char said[] = "the body has 1 outputs, too few for 2 state variables and the 1 "
                               "outputs of the node";
    (void)state;
    for (int n_outputs = 1; n_outputs <= 2; n_outputs++) {
        net_start(11);
        uint32_t s = input("s", AMP_FLOAT, DIMS(2)), x = input("x", AMP_FLOAT, DIMS(3, 2));
        uint32_t owner = net_node(0, "Scan", "y", 1, IDS(s, s, x)), graph = add_body(owner);
        set_int(net_out(owner, 0), "num_scan_inputs", 1);
        uint32_t a = body_input(graph, "a", AMP_FLOAT, ANY_DIMS);
        uint32_t b = body_input(graph, "b", AMP_FLOAT, ANY_DIMS);
        uint32_t part = body_input(graph, "part", AMP_FLOAT, ANY_DIMS);
        body_output(graph, body_node(graph, "Add", "sum", a, part));
        if (n_outputs > 1)
            body_output(graph, body_node(graph, "Neg", "rest", b, AMP_NONE));
        output(net_out(owner, 0));
        if (n_outputs > 1)
            run_on(TENSORS(zeros(), floats(DIMS(3, 2))));
        else
            refuses(TENSORS(zeros(), floats(DIMS(3, 2))), AMP_MODEL, said);
    }
    EXPECT_OUTPUT(0, 0, 9, 12);
}

/* Up to version 8 Scan goes through the sequences of a batch: sums of their elements up to each.
   BOTH: two of them, added up. */
static void start_batch(struct amp_shape of_state, bool both)
{
    uint32_t inputs[4];
    net_start(8);
    inputs[0] = input("lengths", AMP_INT64, DIMS(2));
    inputs[1] = input("s", AMP_FLOAT, of_state);
    inputs[2] = input("x", AMP_FLOAT, ANY_DIMS);
    if (both)
        inputs[3] = input("z", AMP_FLOAT, ANY_DIMS);
    uint32_t owner = net_node(0, "Scan", "y", 2, inputs, both ? 4 : 3), graph = add_body(owner);
    set_int(net_out(owner, 0), "num_scan_inputs", both ? 2 : 1);
    uint32_t s = body_input(graph, "s_in", AMP_FLOAT, ANY_DIMS);
    uint32_t x = body_input(graph, "x_in", AMP_FLOAT, ANY_DIMS);
    if (both)
        x = body_node(graph, "Add", "both", x, body_input(graph, "z_in", AMP_FLOAT, ANY_DIMS));
    uint32_t sum = body_node(graph, "Add", "sum", s, x);
    body_output(graph, sum);
    body_output(graph, body_node(graph, "Identity", "given", sum, AMP_NONE));
    output(net_out(owner, 0));
    output(net_out(owner, 1));
}

static struct amp_tensor lengths(int64_t a, int64_t b)
{
    return *net_tensor(AMP_INT64, DIMS(2), (const int64_t[]){a, b});
}

static void batches_are_of_sequences_of_any_length(void **state)
{
    static const struct {
        int64_t length;
        const char *said;
    } wrong[] = {{-1, "sequence 1 has length -1; there are 3 steps"},
                 {4, "sequence 1 has length 4; there are 3 steps"}};
    (void)state;
    start_batch(DIMS(2, 1), false);
    run_on(TENSORS(lengths(0, 3), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1))));
    EXPECT_OUTPUT(0, 0, 1, 2 + 4 + 5 + 6);
    EXPECT_OUTPUT(1, 0, 0, 0, 0, 6, 11, 17);
    run_on(TENSORS(lengths(3, 1), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1))));
    EXPECT_OUTPUT(0, 0, 1 + 1 + 2 + 3, 2 + 4);
    EXPECT_OUTPUT(1, 0, 2, 4, 7, 6, 0, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuses(TENSORS(lengths(3, wrong[i].length), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1))),
                AMP_MODEL, wrong[i].said);
    start_batch(SCALAR, false);
    refuses(TENSORS(lengths(3, 3), floats((struct amp_shape){.rank = 0, .dims = {2}}),
                    floats(DIMS(2, 3, 1))),
            AMP_MODEL, "state variable 0 has no batch of 2");
    start_batch(DIMS(1, 1), false);
    refuses(TENSORS(lengths(3, 3), floats(DIMS(1, 1)), floats(DIMS(2, 3, 1))), AMP_MODEL,
            "state variable 0 has no batch of 2");
    start_batch(DIMS(2), false);
    run_on(TENSORS(lengths(3, 1), floats(DIMS(2)), floats(DIMS(2, 3))));
    EXPECT_OUTPUT(0, 0, 1 + 1 + 2 + 3, 2 + 4);
    start_batch(DIMS(2), false);
    amp_node_at(net.model, net.model->graphs[0].nodes.items[0])->inputs[1] = AMP_NONE;
    refuses(TENSORS(lengths(3, 1), floats(DIMS(2)), floats(DIMS(2, 3))), AMP_MODEL,
            "state variable 0 has no batch of 2");
    start_batch(DIMS(2, 1), true);
    run_on(
        TENSORS(lengths(1, 3), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1)), floats(DIMS(2, 3, 1))));
    EXPECT_OUTPUT(0, 0, 1 + 2, 2 + 2 * (4 + 5 + 6));
    refuses(
        TENSORS(lengths(1, 1), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1)), floats(DIMS(1, 3, 1))),
        AMP_MODEL, "scan input 1 has another length than the first");
    refuses(
        TENSORS(lengths(1, 1), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1)), floats(DIMS(2, 2, 1))),
        AMP_MODEL, "scan input 1 has another length than the first");
}

/* Each state of a batch is its own input. */
static void batches_have_several_states(void **state)
{
    (void)state;
    net_start(8);
    uint32_t counts = input("lengths", AMP_INT64, DIMS(2)), a = input("a", AMP_FLOAT, DIMS(2, 1));
    uint32_t b = input("b", AMP_FLOAT, DIMS(2, 1)), x = input("x", AMP_FLOAT, DIMS(2, 3, 1));
    uint32_t owner = net_node(0, "Scan", "y", 2, IDS(counts, a, b, x)), graph = add_body(owner);
    uint32_t y = net_out(owner, 0);
    set_int(y, "num_scan_inputs", 1);
    a = body_input(graph, "a_in", AMP_FLOAT, ANY_DIMS);
    b = body_input(graph, "b_in", AMP_FLOAT, ANY_DIMS);
    x = body_input(graph, "x_in", AMP_FLOAT, ANY_DIMS);
    body_output(graph, body_node(graph, "Add", "sum", a, x));
    body_output(graph, body_node(graph, "Sub", "rest", b, x));
    output(y);
    output(net_out(owner, 1));
    const struct amp_tensor *inputs =
        TENSORS(lengths(3, 1), floats(DIMS(2, 1)), floats(DIMS(2, 1)), floats(DIMS(2, 3, 1)));
    run_on(inputs);
    EXPECT_OUTPUT(0, 0, 1 + 1 + 2 + 3, 2 + 4);
    EXPECT_OUTPUT(1, 0, 1 - 1 - 2 - 3, 2 - 4);
    set_int(y, "num_scan_inputs", 4);
    refuses(inputs, AMP_MODEL, "num_scan_inputs is 4; the node has 4 inputs");
}

/* ---- Loop ---- */

/* A loop that gives out the power of two of each iteration and the condition that it was told, and
   goes on while they are below LEAST. */
static void start_loop(bool has_trips, bool has_condition, float least)
{
    net_start(13);
    uint32_t trips = has_trips ? input("n", AMP_INT64, SCALAR) : AMP_NONE;
    uint32_t goes_on = has_condition ? input("c", AMP_BOOL, SCALAR) : AMP_NONE;
    uint32_t begin = input("s", AMP_FLOAT, SCALAR);
    uint32_t bound = constant("least", AMP_FLOAT, SCALAR, &least);
    uint32_t owner = net_node(0, "Loop", "y", 3, IDS(trips, goes_on, begin));
    uint32_t graph = add_body(owner);
    body_input(graph, "i", AMP_INT64, SCALAR);
    uint32_t told = body_input(graph, "c_in", AMP_BOOL, SCALAR);
    uint32_t s = body_input(graph, "s_in", AMP_FLOAT, SCALAR);
    uint32_t twice = body_node(graph, "Add", "twice", s, s);
    body_output(graph, body_node(graph, "Less", "c_out", twice, bound));
    body_output(graph, twice);
    body_output(graph, body_node(graph, "Identity", "given", s, AMP_NONE));
    body_output(graph, body_node(graph, "Identity", "was", told, AMP_NONE));
    output(net_out(owner, 0));
    output(net_out(owner, 1));
    output(net_out(owner, 2));
}

static struct amp_tensor trips(int64_t n)
{
    return *net_tensor(AMP_INT64, SCALAR, &n);
}

static struct amp_tensor truth(bool value)
{
    return *net_tensor(AMP_BOOL, SCALAR, &value);
}

static struct amp_tensor one_float(void)
{
    return *net_tensor(AMP_FLOAT, SCALAR, (const float[]){1});
}

static void loops_end_by_trips_or_condition(void **state)
{
    (void)state;
    start_loop(true, true, 1000);
    run_on(TENSORS(trips(3), truth(true), one_float()));
    EXPECT_OUTPUT(0, 0, 8);
    EXPECT_OUTPUT(1, 0, 1, 2, 4);
    EXPECT_OUTPUT(2, 0, true, true, true);
    run_on(TENSORS(trips(3), truth(false), one_float()));
    EXPECT_OUTPUT(0, 0, 1);
    assert_int_equal(amp_tensor_count(&net.outputs[1]), 0);
    run_on(TENSORS(trips(0), truth(true), one_float()));
    EXPECT_OUTPUT(0, 0, 1);
    run_on(TENSORS(trips(-1), truth(true), one_float()));
    EXPECT_OUTPUT(0, 0, 1);
    start_loop(true, true, 4);
    run_on(TENSORS(trips(9), truth(true), one_float()));
    EXPECT_OUTPUT(0, 0, 4);
    EXPECT_OUTPUT(1, 0, 1, 2);
    start_loop(false, true, 4);
    run_on(TENSORS(truth(true), one_float()));
    EXPECT_OUTPUT(0, 0, 4);
    start_loop(true, false, 4);
    run_on(TENSORS(trips(4), one_float()));
    EXPECT_OUTPUT(1, 0, 1, 2, 4, 8);
    EXPECT_OUTPUT(2, 0, true, true, false, false);
}

/* A loop whose state becomes what OP makes of it. */
static void start_changing_loop(const char *op, enum amp_dtype to)
{
    static const int64_t twice = 2;
    static const bool yes = true;
    net_start(13);
    uint32_t n = constant("n", AMP_INT64, SCALAR, &twice),
             c = constant("c", AMP_BOOL, SCALAR, &yes);
    uint32_t owner = net_node(0, "Loop", "y", 2, IDS(n, c, input("s", AMP_FLOAT, ANY_DIMS)));
    uint32_t graph = add_body(owner);
    body_input(graph, "i", AMP_INT64, SCALAR);
    uint32_t c_in = body_input(graph, "c_in", AMP_BOOL, SCALAR);
    uint32_t s = body_input(graph, "s_in", AMP_UNDEFINED, ANY_DIMS);
    body_output(graph, body_node(graph, "Identity", "c_out", c_in, AMP_NONE));
    uint32_t changed = strcmp(op, "Concat") == 0 ? body_node(graph, op, "changed", s, s)
                                                 : body_node(graph, op, "changed", s, AMP_NONE);
    if (strcmp(op, "Cast") == 0)
        set_int(changed, "to", to);
    if (strcmp(op, "Concat") == 0)
        set_int(changed, "axis", 0);
    body_output(graph, changed);
    body_output(graph, body_node(graph, "Identity", "given", changed, AMP_NONE));
    output(net_out(owner, 0));
    output(net_out(owner, 1));
}

static void what_loops_give_out_is_of_one_shape(void **state)
{
    (void)state;
    start_changing_loop("Neg", AMP_FLOAT);
    run_on(TENSORS(floats(DIMS(2))));
    EXPECT_OUTPUT(0, 0, 1, 2);
    EXPECT_OUTPUT(1, 0, -1, -2, 1, 2);
    start_changing_loop("Concat", AMP_FLOAT);
    refuses(TENSORS(floats(DIMS(2))), AMP_MODEL, "changes its shape from one iteration to another");
    start_changing_loop("Cast", AMP_INT32);
    refuses(TENSORS(floats(DIMS(2))), AMP_MODEL, "state variable 0 changes from float32 to int32");
}

/* Loops without a state, whose iterations are numbers or lists of one. */
static void loops_count_their_iterations(void **state)
{
    (void)state;
    for (int rank = 0; rank <= 2; rank++) {
        struct amp_shape shape = {.rank = rank > 1 ? -1 : rank, .dims = {1}};
        struct amp_shape wanted = {rank == 1 ? 2 : 1, {3, 1}};
        net_start(13);
        uint32_t n = input("n", AMP_INT64, SCALAR), c = input("c", AMP_BOOL, SCALAR);
        uint32_t owner = net_node(0, "Loop", "y", 2, IDS(n, c)), graph = add_body(owner);
        uint32_t i = body_input(graph, "i", AMP_INT64, shape);
        c = body_input(graph, "c_in", AMP_BOOL, shape);
        body_output(graph, body_node(graph, "Identity", "c_out", c, AMP_NONE));
        body_output(graph, body_node(graph, "Identity", "i_out", i, AMP_NONE));
        body_output(graph, body_node(graph, "Identity", "c_given", c, AMP_NONE));
        output(net_out(owner, 0));
        output(net_out(owner, 1));
        run_on(TENSORS(trips(3), truth(true)));
        assert_true(amp_shape_equal(&net.outputs[0].shape, &wanted));
        assert_true(amp_shape_equal(&net.outputs[1].shape, &wanted));
        EXPECT_OUTPUT(0, 0, 0, 1, 2);
        EXPECT_OUTPUT(1, 0, 1, 1, 1);
    }
}

static void loops_have_several_states(void **state)
{
    (void)state;
    net_start(13);
    uint32_t n = input("n", AMP_INT64, SCALAR), a = input("a", AMP_FLOAT, DIMS(2));
    uint32_t b = input("b", AMP_FLOAT, DIMS(3));
    uint32_t owner = net_node(0, "Loop", "y", 2, IDS(n, AMP_NONE, a, b)), graph = add_body(owner);
    body_input(graph, "i", AMP_INT64, SCALAR);
    uint32_t c = body_input(graph, "c_in", AMP_BOOL, SCALAR);
    a = body_input(graph, "a_in", AMP_FLOAT, DIMS(2));
    b = body_input(graph, "b_in", AMP_FLOAT, DIMS(3));
    body_output(graph, body_node(graph, "Identity", "c_out", c, AMP_NONE));
    body_output(graph, body_node(graph, "Add", "a_out", a, a));
    body_output(graph, body_node(graph, "Neg", "b_out", b, AMP_NONE));
    output(net_out(owner, 0));
    output(net_out(owner, 1));
    run_on(TENSORS(trips(3), floats(DIMS(2)), floats(DIMS(3))));
    EXPECT_OUTPUT(0, 0, 8, 16);
    EXPECT_OUTPUT(1, 0, -1, -2, -3);
}

/* What nothing has been gathered for has no elements along dims that nobody knows. */
static void loops_without_trips_gather_nothing(void **state)
{
    (void)state;
    net_start(13);
    uint32_t n = input("n", AMP_INT64, SCALAR);
    uint32_t s = input("s", AMP_FLOAT, DIMS(AMP_DIM_UNKNOWN, 2, AMP_DIM_UNKNOWN));
    uint32_t owner = net_node(0, "Loop", "y", 2, IDS(n, AMP_NONE, s)), graph = add_body(owner);
    body_input(graph, "i", AMP_INT64, SCALAR);
    uint32_t c = body_input(graph, "c_in", AMP_BOOL, SCALAR);
    s = body_input(graph, "s_in", AMP_FLOAT, DIMS(AMP_DIM_UNKNOWN, 2, AMP_DIM_UNKNOWN));
    body_output(graph, body_node(graph, "Identity", "c_out", c, AMP_NONE));
    body_output(graph, body_node(graph, "Neg", "s_out", s, AMP_NONE));
    body_output(graph, body_node(graph, "Identity", "given", s, AMP_NONE));
    output(net_out(owner, 0));
    output(net_out(owner, 1));
    run_on(TENSORS(trips(0), floats(DIMS(3, 2, 1))));
    assert_true(amp_shape_equal(&net.outputs[1].shape, &(struct amp_shape){4, {0, 0, 2, 0}}));
    run_on(TENSORS(trips(1), floats(DIMS(3, 2, 1))));
    assert_true(amp_shape_equal(&net.outputs[1].shape, &(struct amp_shape){4, {1, 3, 2, 1}}));
    EXPECT_OUTPUT(1, 0, 1, 2, 3, 4, 5, 6);
}

/* A state of RANK dims of 1 that is gathered once. */
static void start_gathering(int rank)
{
    struct amp_shape shape = {.rank = rank};
    for (int d = 0; d < rank; d++)
        shape.dims[d] = 1;
    net_start(13);
    uint32_t n = input("n", AMP_INT64, SCALAR), s = input("s", AMP_FLOAT, shape);
    uint32_t owner = net_node(0, "Loop", "y", 2, IDS(n, AMP_NONE, s)), graph = add_body(owner);
    body_input(graph, "i", AMP_INT64, SCALAR);
    uint32_t c = body_input(graph, "c_in", AMP_BOOL, SCALAR);
    s = body_input(graph, "s_in", AMP_FLOAT, shape);
    body_output(graph, body_node(graph, "Identity", "c_out", c, AMP_NONE));
    body_output(graph, body_node(graph, "Neg", "s_out", s, AMP_NONE));
    body_output(graph, body_node(graph, "Identity", "given", s, AMP_NONE));
    output(net_out(owner, 1));
}

static void what_is_gathered_has_a_dim_more(void **state)
{
    struct amp_shape shape = {.rank = AMP_RANK_MAX - 1};
    (void)state;
    for (int d = 0; d < AMP_RANK_MAX; d++)
        shape.dims[d] = 1;
    start_gathering(AMP_RANK_MAX - 1);
    run_on(TENSORS(trips(1), floats(shape)));
    assert_int_equal(net.outputs[0].shape.rank, AMP_RANK_MAX);
    EXPECT_OUTPUT(0, 0, 1);
    shape.rank = AMP_RANK_MAX;
    start_gathering(AMP_RANK_MAX);
    assert_int_equal(net_run(true, TENSORS(trips(1), floats(shape))), AMP_MODEL);
}

/* A condition is a bool, also what a body gives for one. */
static void conditions_are_bools(void **state)
{
    (void)state;
    net_start(13);
    uint32_t n = input("n", AMP_INT64, SCALAR), s = input("s", AMP_FLOAT, SCALAR);
    uint32_t owner = net_node(0, "Loop", "y", 1, IDS(n, AMP_NONE, s)), graph = add_body(owner);
    uint32_t i = body_input(graph, "i", AMP_INT64, SCALAR);
    body_input(graph, "c_in", AMP_BOOL, SCALAR);
    s = body_input(graph, "s_in", AMP_FLOAT, SCALAR);
    body_output(graph, body_node(graph, "Neg", "c_out", i, AMP_NONE));
    body_output(graph, body_node(graph, "Neg", "s_out", s, AMP_NONE));
    output(net_out(owner, 0));
    refuses(TENSORS(trips(1), one_float()), AMP_MODEL, "a condition must be one bool");
    run_on(TENSORS(trips(0), one_float()));
    EXPECT_OUTPUT(0, 0, 1);
}

/* ---- If ---- */

/* What the first output of a branch has wrong is said, whatever the second is. */
static void branches_give_what_is_declared(void **state)
{
    static const char *const names[] = {"then_branch", "else_branch"};
    (void)state;
    net_start(13);
    uint32_t c = input("c", AMP_BOOL, SCALAR), x = input("x", AMP_FLOAT, DIMS(2));
    uint32_t owner = net_node(0, "If", "y", 2, IDS(c));
    for (int i = 0; i < 2; i++) {
        uint32_t graph = amp_graph_add(net.model, names[i], owner);
        struct amp_attr attr = {.name = names[i], .type = AMP_ATTR_GRAPH, .count = 1};
        attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
        amp_node_set_attr(net.model, owner, attr);
        uint32_t first = body_node(graph, i == 0 ? "Cast" : "Neg", "first", x, AMP_NONE);
        if (i == 0)
            set_int(first, "to", AMP_DOUBLE);
        body_output(graph, first);
        body_output(graph, body_node(graph, "Abs", "second", x, AMP_NONE));
    }
    amp_value_at(net.model, net_out(owner, 0))->dtype = AMP_FLOAT;
    output(net_out(owner, 0));
    output(net_out(owner, 1));
    run_on(TENSORS(truth(false), floats(DIMS(2))));
    EXPECT_OUTPUT(0, 0, -1, -2);
    EXPECT_OUTPUT(1, 0, 1, 2);
    refuses(TENSORS(truth(true), floats(DIMS(2))), AMP_MODEL,
            "output 0: the body gives float64; float32 is declared");
}

/* ---- sequences ---- */

/* Each element of one or two vectors by a matrix product with w. */
static void start_map(struct amp_shape first, struct amp_shape second)
{
    net_start(17);
    uint32_t a = input("a", AMP_FLOAT, first), b = input("b", AMP_FLOAT, second);
    uint32_t w = input("w", AMP_FLOAT, ANY_DIMS);
    uint32_t list = NODE("SequenceConstruct", "list", a, b);
    uint32_t owner = net_node(0, "SequenceMap", "y", 1, IDS(list, w)), graph = add_body(owner);
    uint32_t x = body_input(graph, "x", AMP_FLOAT, ANY_DIMS);
    uint32_t by = body_input(graph, "by", AMP_FLOAT, ANY_DIMS);
    body_output(graph, body_node(graph, "MatMul", "product", x, by));
    output(NODE("SequenceAt", "last", net_out(owner, 0), NUMBERS("at", -1)));
}

static void maps_end_with_the_first_element_that_fails(void **state)
{
    (void)state;
    start_map(DIMS(3), DIMS(3));
    run_on(TENSORS(floats(DIMS(3)), floats(DIMS(3)), floats(DIMS(3))));
    EXPECT_OUTPUT(0, 0, 1 + 4 + 9);
    start_map(DIMS(2), DIMS(3));
    refuses(TENSORS(zeros(), floats(DIMS(3)), floats(DIMS(3))), AMP_MODEL,
            "no product of shapes [2] and [3]: inner dimensions differ");
}

/* Part 1 of x, [2, 3, 4], along each axis, which goes. */
static void parts_may_lose_their_dim(void **state)
{
    static const struct {
        struct amp_shape shape;
        double first, last; /* elements */
    } parts[] = {{{2, {3, 4}}, 13, 24}, {{2, {2, 4}}, 5, 20}, {{2, {2, 3}}, 2, 22}};
    float data[24];
    (void)state;
    for (int i = 0; i < 24; i++)
        data[i] = (float)(1 + i);
    for (int axis = -3; axis < 3; axis++) {
        const int at = (axis + 3) % 3;
        const size_t count = (size_t)amp_shape_count(&parts[at].shape);
        net_start(13);
        uint32_t list = NODE("SplitToSequence", "list", input("x", AMP_FLOAT, DIMS(2, 3, 4)));
        set_int(list, "axis", axis);
        set_int(list, "keepdims", 0);
        output(NODE("SequenceAt", "part", list, NUMBERS("at", 1)));
        run_on(net_tensor(AMP_FLOAT, DIMS(2, 3, 4), data));
        assert_true(amp_shape_equal(&net.outputs[0].shape, &parts[at].shape));
        assert_true(amp_tensor_double(&net.outputs[0], 0) == parts[at].first);
        assert_true(amp_tensor_double(&net.outputs[0], count - 1) == parts[at].last);
    }
}

/* Without keepdims they have it, of length 1. */
static void parts_keep_their_dim(void **state)
{
    float data[24] = {0};
    (void)state;
    for (int i = 0; i < 24; i++)
        data[i] = (float)(1 + i);
    net_start(13);
    uint32_t list = NODE("SplitToSequence", "list", input("x", AMP_FLOAT, DIMS(2, 3, 4)));
    output(NODE("SequenceAt", "part", list, NUMBERS("at", 1)));
    run_on(net_tensor(AMP_FLOAT, DIMS(2, 3, 4), data));
    assert_true(amp_shape_equal(&net.outputs[0].shape, &DIMS(1, 3, 4)));
    EXPECT_OUTPUT(0, 0, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24);
}

static void one_place_of_a_sequence_is_asked_for(void **state)
{
    (void)state;
    net_start(13);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2));
    output(NODE("SequenceAt", "y", NODE("SequenceConstruct", "list", x, x), NUMBERS("at", 0, 1)));
    assert_int_equal(net_run(true, TENSORS(floats(DIMS(2)))), AMP_MODEL);
}

/* Elements of RANK dims of 1, side by side along a new one. */
static enum amp_status stack_of(int rank)
{
    struct amp_shape shape = {.rank = rank};
    for (int d = 0; d < rank; d++)
        shape.dims[d] = 1;
    net_start(13);
    uint32_t x = input("x", AMP_FLOAT, shape);
    uint32_t y = NODE("ConcatFromSequence", "y", NODE("SequenceConstruct", "list", x, x));
    set_int(y, "axis", 0);
    set_int(y, "new_axis", 1);
    output(y);
    return net_run(true, TENSORS(floats(shape)));
}

static void stacks_have_as_many_dims_as_there_may_be(void **state)
{
    (void)state;
    assert_int_equal(stack_of(AMP_RANK_MAX - 1), AMP_OK);
    assert_int_equal(net.outputs[0].shape.rank, AMP_RANK_MAX);
    EXPECT_OUTPUT(0, 0, 1, 1);
    assert_int_equal(stack_of(AMP_RANK_MAX), AMP_MODEL);
}

/* ---- calls of bodies ---- */

/* What operators may call a body with: as many values as it has, in its dtypes. */
static void bodies_are_called_as_they_are_declared(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        size_t n_inputs, n_outputs, at; /* input AT is of DTYPE */
        const char *said;
    } cases[] = {{AMP_FLOAT, 2, 2, 0, ""},
                 {AMP_INT32, 2, 2, 0, "input 's_in' of the body is float32; it gets int32"},
                 {AMP_INT32, 2, 2, 1, "input 'x_in' of the body is float32; it gets int32"},
                 {AMP_FLOAT, 1, 2, 0, "the body has 2 inputs and 2 outputs; 1 and 2 are needed"},
                 {AMP_FLOAT, 2, 1, 0, "the body has 2 inputs and 2 outputs; 2 and 1 are needed"}};
    struct amp_session *session = NULL;
    (void)state;
    start_scan(&(struct scanning){.n_scanned = 1});
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_tensor s = zeros(), x = floats(DIMS(2)), outputs[2] = {{.dtype = AMP_FLOAT}};
        struct amp_tensor *inputs[] = {&s, &x};
        struct amp_error err = {.status = AMP_OK};
        const struct amp_body_call call = {.graph = 1,
                                           .inputs = inputs,
                                           .n_inputs = cases[i].n_inputs,
                                           .outputs = outputs,
                                           .n_outputs = cases[i].n_outputs};
        inputs[cases[i].at]->dtype = cases[i].dtype;
        amp_session_begin(session);
        enum amp_status status = session->host.run_body(session, &call, &err);
        amp_session_end(session);
        assert_int_equal(status, cases[i].said[0] == '\0' ? AMP_OK : AMP_MODEL);
        assert_string_equal(err.text, cases[i].said);
        amp_tensors_release(outputs, 2);
    }
    amp_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BODY_TEST(scans_go_along_any_axis_in_either_direction),
        BODY_TEST(scans_without_steps_give_their_state),
        BODY_TEST(scans_that_do_not_fit_are_refused),
        BODY_TEST(bodies_give_their_states),
        BODY_TEST(batches_are_of_sequences_of_any_length),
        BODY_TEST(batches_have_several_states),
        BODY_TEST(loops_end_by_trips_or_condition),
        BODY_TEST(what_loops_give_out_is_of_one_shape),
        BODY_TEST(loops_count_their_iterations),
        BODY_TEST(loops_have_several_states),
        BODY_TEST(loops_without_trips_gather_nothing),
        BODY_TEST(what_is_gathered_has_a_dim_more),
        BODY_TEST(conditions_are_bools),
        BODY_TEST(branches_give_what_is_declared),
        BODY_TEST(maps_end_with_the_first_element_that_fails),
        BODY_TEST(parts_may_lose_their_dim),
        BODY_TEST(parts_keep_their_dim),
        BODY_TEST(one_place_of_a_sequence_is_asked_for),
        BODY_TEST(stacks_have_as_many_dims_as_there_may_be),
        BODY_TEST(bodies_are_called_as_they_are_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
