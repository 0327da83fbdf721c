/*
 * What a search decides on, by hand: the units of a network, the noise and the costs that hang on
 * them, and choices as rules.
 * What nodes cost: bytes, nodes and the rates of tables by hand on a model of two nodes; files of
 * tables that are refused, and one that comes back as it was written; and whatever models there
 * are, in all units, for figures that a search can build on. What is measured is held to nothing
 * but that.
 */
#include "net.h"
#include "scratch.h"

#include <glob.h>
#include <math.h>

#include "check/random_input.h"
#include "cli/convert/convert.h"
#include "core/cpu.h"
#include "core/graph/copy.h"
#include "core/graph/order.h"
#include "onnx/file/read.h"
#include "autocast/wholes.h"
#include "tune/choice.h"
#include "tune/cost_profile.h"
#include "tune/cost_table.h"
#include "tune/cost_work.h"
#include "tune/costs.h"
#include "tune/formulate.h"

/* ---- a model of two nodes -------------------------------------------------------------------- */

/* y = Relu(m), m = x w; x [2, 3], w [3, 4]. */
enum { MATMUL, RELU };
enum { X, W, M, Y };

static struct amp_costs_request request;
static struct amp_costs costs;

static char folder[SCRATCH_MAX], path[SCRATCH_MAX + 16];

/* Puts a Cast to DTYPE before VALUE's one use, or behind its producer, whose output is then NAME.
 */
static void lower_value(uint32_t value, const char *name, bool is_input)
{
    uint32_t made = net_value_in(0, name, AMP_BFLOAT16, ANY_DIMS);
    uint32_t producer = amp_value_at(net.model, value)->producer;
    uint32_t cast = amp_graph_add_node(net.model, 0, "Cast", 1, 1);
    amp_node_set_int(net.model, cast, "to", is_input ? AMP_BFLOAT16 : AMP_FLOAT);
    amp_node_at(net.model, cast)->schema = amp_schema_find("", "Cast", 13);
    amp_node_at(net.model, cast)->since_version = 13;
    amp_node_at(net.model, cast)->inputs[0] = is_input ? value : made;
    amp_node_set_output(net.model, cast, 0, is_input ? made : value);
    if (is_input)
        amp_node_at(net.model, MATMUL)->inputs[0] = made;
    else
        amp_node_set_output(net.model, producer, 0, made);
}

/* The conversion of the model to bfloat16: casts of x, to x_low, and to y, from y_low. */
static const struct amp_model *lower_all(const struct amp_model *reference)
{
    static const uint16_t ones[12] = {0x3F80, 0x3F80, 0x3F80, 0x3F80, 0x3F80, 0x3F80,
                                      0x3F80, 0x3F80, 0x3F80, 0x3F80, 0x3F80, 0x3F80};
    net.model = amp_model_copy(reference, net.arena);
    struct amp_value *w = amp_value_at(net.model, W);
    w->dtype = AMP_BFLOAT16;
    w->constant = w->initial = net_tensor(AMP_BFLOAT16, DIMS(3, 4), ones);
    amp_value_at(net.model, M)->dtype = AMP_BFLOAT16;
    lower_value(X, "x_low", true);
    lower_value(Y, "y_low", false);
    assert_int_equal(amp_graph_sort(net.model, NULL, &net.err), AMP_OK);
    infer_all();
    return net.model;
}

static int open_pair(void **state)
{
    static const float ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    net_open(state);
    net_start(13);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t w = constant("w", AMP_FLOAT, DIMS(3, 4), ones);
    uint32_t m = NODE("MatMul", "m", x, w), y = NODE("Relu", "y", m);
    output(y);
    infer_all();
    assert_true(x == X && w == W && m == M && y == Y);
    const struct amp_model *reference = net.model;
    request = (struct amp_costs_request){
        .reference = reference,
        .low = lower_all(reference),
        .dtype = AMP_BFLOAT16,
        .dtypes = AMP_DTYPE_BIT(AMP_BFLOAT16),
        .inputs = net_tensor(AMP_FLOAT, DIMS(2, 3), ones),
    };
    scratch_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/costs.json", folder);
    return 0;
}

static int close_pair(void **state)
{
    amp_costs_free(&costs);
    remove(path);
    rmdir(folder);
    return net_close(state);
}

#define PAIR_TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

static void find(enum amp_costs_unit unit)
{
    struct amp_error err = {.status = AMP_OK};
    amp_costs_free(&costs);
    request.unit = unit;
    if (amp_costs_find(&request, &costs, &err) != AMP_OK)
        fail_msg("%s", err.text);
}

static void expect(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * expected))
        fail_msg("%.17g; %.17g is right", found, expected);
}

static void expect_node(uint32_t node, double wide, double low)
{
    expect(costs.wide[node], wide);
    expect(costs.low[node], low);
}

static void expect_casts(double x, double m, double y)
{
    expect(costs.casts[X], x);
    expect(costs.casts[W], 0);
    expect(costs.casts[M], m);
    expect(costs.casts[Y], y);
}

static void bytes_are_those_moved(void **state)
{
    (void)state;
    find(AMP_COSTS_BYTES);
    assert_int_equal(costs.n_nodes, 2);
    assert_int_equal(costs.n_values, 4);
    expect_node(MATMUL, 4 * (6 + 12 + 8), 2 * (6 + 12 + 8));
    expect_node(RELU, 4 * (8 + 8), 2 * (8 + 8));
    expect_casts(6 * 6, 6 * 8, 6 * 8);
    expect(costs.total_low, 52 + 32);
}

/* What no type tells a run does: all six elements of x are not 0, at two indices each. */
static void bytes_of_unknown_shapes_are_those_of_a_run(void **state)
{
    static const float ones[6] = {1, 1, 1, 1, 1, 1};
    (void)state;
    net_start(13);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), i = NODE("NonZero", "i", x);
    uint32_t f = NODE("Cast", "f", i);
    set_int(f, "to", AMP_FLOAT);
    uint32_t y = NODE("Relu", "y", f);
    output(y);
    infer_all();
    request.reference = request.low = net.model;
    request.inputs = net_tensor(AMP_FLOAT, DIMS(2, 3), ones);
    find(AMP_COSTS_BYTES);
    assert_int_equal(costs.n_nodes, 3);
    expect(costs.wide[node_of(y)], 4 * (12 + 12));
    expect(costs.low[node_of(y)], 4 * (12 + 12));
    expect(costs.wide[node_of(f)], 8 * 12 + 4 * 12);
    expect(costs.casts[f], 6 * 12);
}

/* The lower model takes what it declares; what is not there, or fits, is passed on. */
static void inputs_are_cast_where_they_differ(void **state)
{
    static const float two[] = {1.5, -2};
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor *cast;
    (void)state;
    net_start(13);
    input("a", AMP_BFLOAT16, DIMS(2));
    input("b", AMP_FLOAT, DIMS(2));
    input("c", AMP_BFLOAT16, DIMS(2));
    input("d", AMP_BFLOAT16, DIMS(2));
    struct amp_tensor list = {.dtype = AMP_FLOAT};
    assert_int_equal(amp_list_alloc(&list, AMP_FORM_SEQUENCE, 1, &err), AMP_OK);
    request.low = net.model;
    request.inputs =
        TENSORS(*net_tensor(AMP_FLOAT, DIMS(2), two), *net_tensor(AMP_FLOAT, DIMS(2), two),
                {.dtype = AMP_FLOAT, .shape = DIMS(2)}, list);
    assert_int_equal(amp_cost_inputs_cast(&request, &cast, &err), AMP_OK);
    assert_int_equal(cast[0].dtype, AMP_BFLOAT16);
    assert_int_equal(cast[1].dtype, AMP_FLOAT);
    assert_ptr_equal(cast[1].data, request.inputs[1].data);
    assert_null(cast[2].data);
    assert_true(amp_tensor_is_list(&cast[3]) && cast[3].data == list.data);
    for (size_t i = 0; i < 2; i++)
        assert_true(amp_tensor_double(&cast[0], i) == (double)two[i]);
    amp_cost_inputs_free(&request, cast);
    amp_cost_inputs_free(&request, NULL);
    amp_tensor_release(&list);
}

/*
 * Of values that a cast could be of, the elements: no integers, no sequences, no constants, none
 * that was removed. What is computed of constants alone moves nothing in a run; a sequence is what
 * its tensors are, by whoever gives and takes these.
 */
static void work_is_of_floats_in_runs(void **state)
{
    static const float ones[6] = {1, 1, 1, 1, 1, 1};
    static const int64_t zero = 0;
    struct amp_error err = {.status = AMP_OK};
    struct amp_cost_work work;
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), w = constant("w", AMP_FLOAT, DIMS(2, 3), ones);
    uint32_t at = constant("at", AMP_INT64, (struct amp_shape){.rank = 0}, &zero);
    uint32_t t = NODE("Transpose", "t", w), y = NODE("MatMul", "y", x, t);
    uint32_t size = NODE("Shape", "size", y), list = NODE("SequenceConstruct", "list", y, y);
    uint32_t z = NODE("SequenceAt", "z", list, at), gone = NODE("Neg", "gone", z);
    output(size);
    output(z);
    output(gone);
    infer_all();
    amp_value_at(net.model, gone)->is_removed = true;
    struct amp_costs_request asked = {.reference = net.model,
                                      .low = net.model,
                                      .dtype = AMP_BFLOAT16,
                                      .inputs = net_tensor(AMP_FLOAT, DIMS(2, 3), ones)};
    if (amp_cost_work_find(&asked, net.arena, &work, &err) != AMP_OK)
        fail_msg("%s", err.text);
    const uint32_t values[] = {x, w, at, y, size, list, z, gone};
    static const double elements[] = {6, 0, 0, 4, 0, 0, 4, 0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        expect(work.elements[values[i]], elements[i]);
    expect(work.wide[node_of(t)].bytes, 0);
    expect(work.wide[node_of(y)].bytes, 4 * (6 + 6 + 4));
    expect(work.wide[node_of(size)].bytes, 4 * 4 + 8 * 2);
    expect(work.wide[node_of(gone)].bytes, 4 * (4 + 4));
    asked.unit = AMP_COSTS_NODES;
    assert_int_equal(amp_costs_find(&asked, &costs, &err), AMP_OK);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        bool is_constant = amp_value_at(net.model, values[i])->constant != NULL;
        expect(costs.casts[values[i]], is_constant || values[i] == size ? 0 : 1e-3);
    }
}

static void nodes_are_counted(void **state)
{
    (void)state;
    find(AMP_COSTS_NODES);
    expect_node(MATMUL, 1, 0);
    expect_node(RELU, 1, 0);
    expect_casts(1e-3, 1e-3, 1e-3);
    expect(costs.total_low, 0);
}

static void times_are_of_use(void **state)
{
    (void)state;
    find(AMP_COSTS_TIME);
    for (uint32_t id = 0; id < 2; id++) {
        assert_true(isfinite(costs.wide[id]) && costs.wide[id] > 0);
        assert_true(isfinite(costs.low[id]) && costs.low[id] >= 0);
        assert_true(costs.wide[id] != costs.low[id]);
    }
    bool is_measured = amp_cpu_is_native(AMP_BFLOAT16);
    assert_non_null(strstr(costs.origin, is_measured ? "measured here" : "as this CPU has no"));
    assert_true(costs.casts[X] > 0 && costs.casts[M] > costs.casts[X] && costs.casts[W] == 0);
}

static void units_have_names(void **state)
{
    (void)state;
    assert_string_equal(amp_costs_unit_name(AMP_COSTS_TIME), "s");
    assert_string_equal(amp_costs_unit_name(AMP_COSTS_BYTES), "bytes");
    assert_string_equal(amp_costs_unit_name(AMP_COSTS_NODES), "nodes");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void write_table(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    request.path = path;
}

#define HEAD "{\"ampconv-costs\": 1, \"machine\": \"M\""
/* MatMul is 48 operations. */
#define RATES                                                      \
    ", \"float32\": {\"flops\": 4, \"bytes\": 16, \"node\": 0.5}," \
    "\"bfloat16\": {\"flops\": 48, \"bytes\": 32, \"node\": 0.25}, \"casts\": 12"

static void rates_make_seconds(void **state)
{
    (void)state;
    write_table(HEAD RATES "}");
    find(AMP_COSTS_TIME);
    expect_node(MATMUL, 0.5 + 48.0 / 4, 0.25 + 52.0 / 32); /* by operations, by bytes */
    expect_node(RELU, 0.5 + 64.0 / 16, 0.25 + 32.0 / 32);
    expect_casts(3, 4, 4);
    expect(costs.total_low, 1.875 + 1.25);
    assert_non_null(strstr(costs.origin, "costs.json, M"));
}

static void operators_have_rates_of_their_own(void **state)
{
    (void)state;
    write_table(HEAD RATES ", \"operators\": {\"Relu\": {\"float32\": {\"bytes\": 64}}}}");
    find(AMP_COSTS_TIME);
    expect_node(MATMUL, 12.5, 1.875);
    expect_node(RELU, 0.5 + 1, 0.25 + 1);
    write_table(HEAD RATES ", \"operators\": {\"Relu\": {\"bfloat16\": {\"bytes\": 4}}}}");
    find(AMP_COSTS_TIME);
    expect_node(RELU, 4.5, 8.25); /* a table is clear about what is slower */
}

static void entries_go_before_rates(void **state)
{
    (void)state;
    write_table(HEAD RATES ", \"dtype\": \"bf16\", \"nodes\": {\"m\": {\"low\": 1, \"wide\": 9}},"
                           "\"values\": {\"x\": 0.125}}");
    find(AMP_COSTS_TIME);
    expect_node(MATMUL, 9, 1);
    expect_node(RELU, 4.5, 1.25);
    expect_casts(0.125, 4, 4);
}

/* What a table does not say is as in the one that comes with the program. */
static void tables_may_say_little(void **state)
{
    (void)state;
    write_table(HEAD "}");
    find(AMP_COSTS_TIME);
    for (uint32_t id = 0; id < 2; id++)
        assert_true(costs.low[id] > 0 && costs.low[id] < costs.wide[id] && costs.wide[id] < 1);
}

static void tables_come_back_as_written(void **state)
{
    double wide[2], low[2], casts[4];
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    request.path = NULL;
    find(AMP_COSTS_TIME);
    memcpy(wide, costs.wide, sizeof wide);
    memcpy(low, costs.low, sizeof low);
    memcpy(casts, costs.casts, sizeof casts);
    assert_int_equal(amp_costs_write(&costs, &request, path, &err), AMP_OK);
    struct amp_cost_table table;
    assert_int_equal(amp_cost_table_read(path, net.arena, &table, &err), AMP_OK);
    assert_int_equal(table.n_nodes, 2);
    assert_int_equal(table.n_values, 3); /* weights are never cast */
    assert_int_equal(table.dtype, AMP_BFLOAT16);
    request.path = path;
    find(AMP_COSTS_TIME);
    assert_memory_equal(costs.wide, wide, sizeof wide);
    assert_memory_equal(costs.low, low, sizeof low);
    assert_memory_equal(costs.casts, casts, sizeof casts);
    request.reference->values[M].graph = 1; /* in a body */
    assert_int_equal(amp_costs_write(&costs, &request, path, &err), AMP_OK);
    assert_int_equal(amp_cost_table_read(path, net.arena, &table, &err), AMP_OK);
    assert_int_equal(table.n_values, 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_not_equal(table.values[i].name, "m");
}

/* What the shipped one was measured as: bytes and casts alike, products of bfloat16 faster. */
static void the_shipped_table_has_what_was_measured(void **state)
{
    const struct amp_cost_table table = amp_cost_table_shipped();
    (void)state;
    for (size_t i = 0; i < AMP_COST_DTYPES; i++) {
        assert_true(table.rates[i].flops == (i == 1 ? 1200e9 : 310e9));
        assert_true(table.rates[i].bytes == 20e9 && table.rates[i].node == 1e-6);
    }
    assert_true(table.casts == 20e9);
}

/* Where both take as long, the lower dtype saves a hundredth of what memory takes for the bytes
   that it saves; where both take nothing too. */
static void the_lower_dtype_saves_a_trifle(void **state)
{
    static const double least_matmul = 0.01 * 52 / 20e9, least_relu = 0.01 * 32 / 20e9;
    (void)state;
    write_table(HEAD ", \"float32\": {\"flops\": 1e21, \"bytes\": 64e9, \"node\": 0},"
                     "\"bfloat16\": {\"flops\": 1e21, \"bytes\": 32e9, \"node\": 0}}");
    find(AMP_COSTS_TIME);
    expect_node(MATMUL, 104 / 64e9, 104 / 64e9 - least_matmul);
    expect_node(RELU, 1e-9, 1e-9 - least_relu);
    write_table(HEAD ", \"float32\": {\"flops\": 1e21, \"bytes\": 1e21, \"node\": 0},"
                     "\"bfloat16\": {\"flops\": 1e21, \"bytes\": 1e21, \"node\": 0}}");
    find(AMP_COSTS_TIME);
    expect_node(MATMUL, least_matmul, 0);
    expect_node(RELU, least_relu, 0);
}

/* All that a table can say. Operators of other domains are named with them. */
static void whole_tables_come_back_as_written(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_cost_table table = amp_cost_table_shipped(), back;
    struct amp_cost_operator operators[] = {
        {"Relu", {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}},
        {"com.x::Relu", {{1e21, 1, 0}, {1, 1e21, 1e9}, {0.1 + 1, 1e20, 1e-9}}}};
    struct amp_cost_entry nodes[] = {{"m", 0.25, 0.5}, {"n", 0, 1e9}};
    struct amp_cost_cast values[] = {{"v", 0.125}};
    struct amp_cost_query query = {.domain = "", .op = "Relu", .dtype = AMP_BFLOAT16, .flops = 40};
    (void)state;
    table.machine = "ours";
    table.casts = 1;
    table.operators = operators;
    table.n_operators = 2;
    table.nodes = nodes;
    table.n_nodes = 2;
    table.values = values;
    table.n_values = 1;
    for (int i = 0; i < 3; i++) {
        table.dtype = i == 0 ? AMP_UNDEFINED : i == 1 ? AMP_BFLOAT16 : AMP_FLOAT16;
        assert_int_equal(amp_cost_table_write(&table, path, &err), AMP_OK);
        assert_int_equal(amp_cost_table_read(path, net.arena, &back, &err), AMP_OK);
        assert_int_equal(back.dtype, table.dtype);
    }
    assert_string_equal(back.machine, "ours");
    assert_true(back.casts == 1);
    assert_memory_equal(back.rates, table.rates, sizeof table.rates);
    assert_int_equal(back.n_operators, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(back.operators[i].name, operators[i].name);
        assert_memory_equal(back.operators[i].rates, operators[i].rates, sizeof operators[i].rates);
        assert_string_equal(back.nodes[i].name, nodes[i].name);
        assert_true(back.nodes[i].low == nodes[i].low && back.nodes[i].wide == nodes[i].wide);
    }
    assert_int_equal(back.n_nodes, 2);
    assert_int_equal(back.n_values, 1);
    assert_string_equal(back.values[0].name, "v");
    assert_true(back.values[0].seconds == 0.125);
    assert_true(amp_cost_table_seconds(&back, &query) == 6 + 40.0 / 4);
    query.dtype = AMP_FLOAT16;
    query.bytes = 80;
    assert_true(amp_cost_table_seconds(&back, &query) == 9 + 80.0 / 8);
    query.domain = "com.x";
    query.dtype = AMP_FLOAT;
    assert_true(amp_cost_table_seconds(&back, &query) == 80);
    query.domain = "com.y";
    assert_true(amp_cost_table_seconds(&back, &query) == 1e-6 + 80 / 20e9);
}

/* A table of another dtype that the model is to have is one of that. */
static void tables_may_be_of_another_dtype(void **state)
{
    (void)state;
    write_table(HEAD RATES ", \"dtype\": \"fp16\", \"float16\": {\"flops\": 48, \"bytes\": 32,"
                           "\"node\": 0.125}}");
    request.dtypes |= AMP_DTYPE_BIT(AMP_FLOAT16);
    find(AMP_COSTS_TIME);
    expect_node(RELU, 4.5, 0.125 + 1);
}

static void wrong_tables_are_refused(void **state)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {
        {"", "costs.json:1:0: '[' or '{' expected near end of file; accepted: JSON"},
        {"[]", "the file: a list; accepted: an object"},
        {"{}", "ampconv-costs: nothing; accepted: 1"},
        {"{\"ampconv-costs\": 2}", "ampconv-costs: 2; accepted: 1"},
        {"{\"ampconv-costs\": 1}", "machine: nothing; accepted: a text"},
        {HEAD ", \"float33\": {}}", "float33: an object; accepted: ampconv-costs, machine, dtype, "
                                    "float32, bfloat16, float16, casts, operators, nodes and "
                                    "values"},
        {HEAD ", \"dtype\": \"fp32\"}", "dtype: \"fp32\"; accepted: \"bfloat16\" or \"float16\""},
        {"{\"ampconv-costs\": 1.0}", "ampconv-costs: 1.0; accepted: 1"},
        {"{\"ampconv-costs\": 1, \"machine\": \"\"}", "machine: \"\"; accepted: a text"},
        {"{\"ampconv-costs\": 1, \"machine\": 7}", "machine: 7; accepted: a text"},
        {HEAD ", \"dtype\": null}", "dtype: null; accepted: \"bfloat16\" or \"float16\""},
        {HEAD ", \"casts\": 0.5}", "casts: 0.5; accepted: a number per second, from 1 to 1e21"},
        {HEAD ", \"casts\": 2e21}", "casts: 2e21; accepted: a number per second, from 1 to 1e21"},
        {HEAD ", \"values\": {\"x\": 2e9}}",
         "values.'x': 2000000000.0; accepted: a number of seconds, from 0 to 1e9"},
        {HEAD ", \"nodes\": {\"m\": {\"wide\": 1}}}",
         "nodes.'m'.'low': nothing; accepted: a number of seconds, from 0 to 1e9"},
        {HEAD ", \"dtype\": 16}", "dtype: 16; accepted: \"bfloat16\" or \"float16\""},
        {HEAD ", \"dtype\": \"float16\"}", "dtype: float16; accepted: bfloat16"},
        {HEAD ", \"casts\": 0}", "casts: 0; accepted: a number per second, from 1 to 1e21"},
        {HEAD ", \"float32\": 3}", "float32: 3; accepted: an object of flops, bytes and node"},
        {HEAD ", \"float32\": {\"flop\": 3}}",
         "float32.'flop': 3; accepted: flops, bytes and node"},
        {HEAD ", \"float16\": {\"bytes\": 1e-300}}",
         "float16.'bytes': 1e-300; accepted: a number per second, from 1 to 1e21"},
        {HEAD ", \"float32\": {\"node\": -1}}",
         "float32.'node': -1; accepted: a number of seconds, from 0 to 1e9"},
        {HEAD ", \"float32\": {\"flops\": \"many\"}}",
         "float32.'flops': \"many\"; accepted: a number per second, from 1 to 1e21"},
        {HEAD ", \"operators\": []}",
         "operators: a list; accepted: an object, of an entry per name"},
        {HEAD ", \"operators\": {\"Conv\": 1}}",
         "operators.'Conv': 1; accepted: an object of float32, bfloat16 and float16"},
        {HEAD ", \"operators\": {\"Conv\": {\"int8\": {}}}}",
         "operators.'Conv'.'int8': an object; accepted: float32, bfloat16 and float16"},
        {HEAD ", \"operators\": {\"Conv\": {\"float32\": {\"flops\": null}}}}",
         "operators.'Conv'.'float32'.'flops': null; accepted: a number per second, from 1 to 1e21"},
        {HEAD ", \"nodes\": {\"m\": []}}",
         "nodes.'m': a list; accepted: an object of low and wide"},
        {HEAD ", \"nodes\": {\"m\": {\"low\": 1}}}",
         "nodes.'m'.'wide': nothing; accepted: a number of seconds, from 0 to 1e9"},
        {HEAD ", \"nodes\": {\"m\": {\"low\": 1, \"wide\": 1, \"high\": 1}}}",
         "nodes.'m'.'high': 1; accepted: low and wide"},
        {HEAD ", \"nodes\": {\"w\": {\"low\": 1, \"wide\": 1}}}",
         "nodes.'w': the model has no such value; accepted: the first output of a node of its main "
         "graph"},
        {HEAD ", \"values\": {\"x\": true}}",
         "values.'x': true; accepted: a number of seconds, from 0 to 1e9"},
        {HEAD ", \"values\": {\"q\": 1}}",
         "values.'q': the model has no such value; accepted: a value of its main graph"},
    };
    (void)state;
    request.unit = AMP_COSTS_TIME;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct amp_error err = {.status = AMP_OK};
        write_table(wrong[i].text);
        assert_int_equal(amp_costs_find(&request, &costs, &err), AMP_MODEL);
        size_t length = strlen(err.text), tail = strlen(wrong[i].said);
        if (length < tail || strcmp(err.text + length - tail, wrong[i].said) != 0)
            fail_msg("%s: %s", wrong[i].text, err.text);
    }
}

static void other_refusals(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    request.unit = AMP_COSTS_TIME;
    request.path = "/nowhere/costs.json";
    assert_int_equal(amp_costs_find(&request, &costs, &err), AMP_IO);
    err = (struct amp_error){.status = AMP_OK};
    request.unit = AMP_COSTS_BYTES;
    assert_int_equal(amp_costs_find(&request, &costs, &err), AMP_USAGE);
    assert_string_equal(err.text, "/nowhere/costs.json: a table of costs is about time, and bytes "
                                  "are counted");
}

/* ---- times that are measured ----------------------------------------------------------------- */

/* The lower quartile of the runs, and from there to the upper one. */
static void times_are_quartiles(void **state)
{
    static const struct {
        size_t n_runs;
        double seconds, spread;
    } cases[] = {{1, 1, 0}, {2, 1, 1}, {4, 1, 3}, {5, 2, 2}, {8, 2, 5}, {9, 3, 4}, {31, 8, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double runs[31];
        for (size_t k = 0; k < cases[i].n_runs; k++) /* 1, N, 2, N - 1 and so on */
            runs[k] = (double)(k % 2 == 0 ? k / 2 + 1 : cases[i].n_runs - k / 2);
        struct amp_node_time time = amp_node_time_make(runs, cases[i].n_runs);
        assert_true(time.seconds == cases[i].seconds && time.spread == cases[i].spread);
    }
}

/* The lower dtype is the slower one where it is by more than three spreads; else it is faster by a
   hundredth of what memory takes for the bytes that it saves, at least for 1. */
static void differences_have_to_be_clear(void **state)
{
    static const double least = 0.01 * 1e9 / 20e9; /* of 1e9 bytes */
    static const struct {
        struct amp_node_time wide, low;
        double saved, settled_wide, settled_low;
    } cases[] = {
        {{1, 0.25}, {0.5, 0.25}, 1e9, 1, 0.5},
        {{1, 0.25}, {3, 0.25}, 1e9, 1, 3},           /* by 2; 1.5 is noise */
        {{1, 0.25}, {2.5, 0.25}, 1e9, 1, 1 - least}, /* by as much as noise */
        {{1, 0}, {1.5, 0.25}, 1e9, 1, 1 - least},
        {{1, 0.25}, {1.5, 0}, 1e9, 1, 1 - least},
        {{1, 0}, {1, 0}, 1e9, 1, 1 - least},
        {{1, 0}, {1.25, 0}, 1e9, 1, 1.25},
        {{0, 0}, {0, 0}, 1e9, least, 0},
        {{1, 0}, {1, 0}, -5, 1, 1 - 0.01 / 20e9},
        {{1, 0}, {1 - least / 2, 0}, 1e9, 1, 1 - least},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_node_time wide = cases[i].wide, low = cases[i].low;
        amp_node_time_settle(&wide, &low, cases[i].saved);
        expect(wide.seconds, cases[i].settled_wide);
        assert_true(low.seconds == cases[i].settled_low);
    }
}

/* ---- times that are shared ------------------------------------------------------------------- */

/* Nodes in a row, x to a, b and c, and d of a and c; a time of 0 is none. */
struct shared {
    double wide[4], low[4];               /* as they were measured */
    double shared_wide[4], shared_low[4]; /* as they are shared */
};

static void expect_shared(const struct shared *times)
{
    struct amp_node_time wide[4], low[4];
    const struct amp_cost_profile profile = {.wide = wide, .low = low};
    for (size_t i = 0; i < 4; i++) {
        wide[i] = (struct amp_node_time){times->wide[i], times->wide[i] / 2};
        low[i] = (struct amp_node_time){times->low[i], times->low[i] / 2};
    }
    amp_cost_profile_share(&profile, net.model);
    for (size_t i = 0; i < 4; i++) {
        expect(wide[i].seconds, times->shared_wide[i]);
        expect(low[i].seconds, times->shared_low[i]);
    }
}

/* What has a time in one of both alone shares both times with what gives it, or else what takes it,
   as they stand to each other where both have one; without such a neighbour it stays. */
static void parts_share_times_with_the_whole(void **state)
{
    static const struct shared cases[] = {
        {{3, 1, 2, 4}, {2, 1, 3, 5}, {3, 1, 2, 4}, {2, 1, 3, 5}},
        {{3, 1, 2, 4}, {2, 0, 3, 5}, {3, 1, 2, 4}, {1.5, 0.5, 3, 5}},
        {{2, 0, 3, 5}, {3, 1, 2, 4}, {1.5, 0.5, 3, 5}, {3, 1, 2, 4}},
        {{3, 1, 2, 4}, {0, 2, 3, 5}, {3, 1, 2, 4}, {1.5, 0.5, 3, 5}}, /* by what takes it */
        {{1, 0, 2, 3}, {0, 0, 3, 8}, {1, 0, 2, 3}, {2, 0, 3, 6}},     /* by the other taker */
        {{0, 0, 1, 3}, {0, 0, 4, 0}, {0, 0, 1, 3}, {0, 0, 1, 3}},     /* by the second input */
        {{0, 2, 0, 0}, {0, 0, 0, 3}, {0, 2, 0, 0}, {0, 0, 0, 3}},
        {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    };
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), a = NODE("Sigmoid", "a", x);
    uint32_t b = NODE("Clip", "b", a, AMP_NONE, AMP_NONE), c = NODE("Tanh", "c", b);
    uint32_t d = NODE("Add", "d", a, c);
    output(d);
    assert_true(node_of(a) == 0 && node_of(b) == 1 && node_of(c) == 2 && node_of(d) == 3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_shared(&cases[i]);
}

/* The spread is the larger one of both, shared alike; a node whose first output is left out has
   nobody that takes it. */
static void spreads_are_shared_too(void **state)
{
    struct amp_node_time wide[2] = {{3, 0.25}, {1, 0.5}}, low[2] = {{2, 0.75}, {0, 0}};
    const struct amp_cost_profile profile = {.wide = wide, .low = low};
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), a = NODE("Sigmoid", "a", x);
    uint32_t b = NODE("Tanh", "b", a);
    amp_cost_profile_share(&profile, net.model);
    expect(wide[0].spread, 0.375);
    expect(wide[1].spread, 0.125);
    expect(low[0].spread, 0.5625);
    expect(low[1].spread, 0.1875);
    amp_node_at(net.model, node_of(a))->outputs[0] = AMP_NONE;
    amp_node_at(net.model, node_of(b))->inputs[0] = x;
    wide[1] = low[0] = low[1] = (struct amp_node_time){0, 0};
    wide[0] = (struct amp_node_time){3, 1};
    amp_cost_profile_share(&profile, net.model);
    expect(wide[0].seconds, 3);
    expect(low[0].seconds, 0);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* A model before and after its conversion, and inputs. */
struct pair {
    struct amp_model_file reference, low;
    struct amp_tensor *inputs;
    struct amp_error err;
};

static enum amp_status make_inputs(struct pair *pair)
{
    int64_t sizes[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    const struct amp_model *model = pair->reference.model;
    const struct amp_ids *ids = &model->graphs[0].inputs;
    pair->inputs = calloc(ids->count + 1, sizeof *pair->inputs);
    assert_non_null(pair->inputs);
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_random_input random;
        if (model->n_symbols > 8)
            return AMP_UNSUPPORTED;
        AMP_TRY(amp_random_input_plan(model, ids->items[i], sizes, &random, &pair->err));
        AMP_TRY(amp_random_input_make(&random, 1, 0, &pair->inputs[i], &pair->err));
    }
    return AMP_OK;
}

static enum amp_status read_pair(struct pair *pair, const char *model)
{
    const char *all = "*=lower";
    struct amp_options options = {.dtype = "bf16", .node_rules = {.items = &all, .count = 1}};
    AMP_TRY(amp_model_read(model, &pair->reference, &pair->err));
    AMP_TRY(amp_infer(pair->reference.model, &pair->err));
    AMP_TRY(amp_model_read_to_convert(model, &pair->low, &pair->err));
    AMP_TRY(amp_convert_in_memory(&options, &pair->low, &pair->err));
    return make_inputs(pair);
}

static void release_pair(struct pair *pair)
{
    if (pair->inputs != NULL)
        amp_tensors_release(pair->inputs, pair->reference.model->graphs[0].inputs.count);
    free(pair->inputs);
    amp_model_close(&pair->low);
    amp_model_close(&pair->reference);
}

static bool is_figure(double number)
{
    return isfinite(number) && number >= 0;
}

/* What a search relies on, in all units. Nodes of bodies cost nothing by themselves. */
static void check_costs(const struct amp_costs *found, const struct amp_model *model)
{
    double sum = 0;
    assert_int_equal(found->n_nodes, model->n_nodes);
    assert_int_equal(found->n_values, model->n_values);
    for (uint32_t id = 0; id < found->n_nodes; id++) {
        assert_true(is_figure(found->low[id]) && is_figure(found->wide[id]));
        if (amp_node_at(model, id)->graph != 0)
            assert_true(found->low[id] == 0 && found->wide[id] == 0);
        sum += found->low[id];
    }
    for (uint32_t v = 0; v < found->n_values; v++)
        assert_true(is_figure(found->casts[v]));
    assert_true(found->total_low == sum);
}

/* The costs of PAIR in UNIT, in FOUND; false: the model does not run on these inputs. */
static bool find_costs(struct pair *pair, enum amp_costs_unit unit, struct amp_costs *found)
{
    const struct amp_costs_request wanted = {.reference = pair->reference.model,
                                             .low = pair->low.model,
                                             .dtype = AMP_BFLOAT16,
                                             .unit = unit,
                                             .inputs = pair->inputs};
    if (amp_costs_find(&wanted, found, &pair->err) != AMP_OK)
        return false;
    check_costs(found, pair->reference.model);
    return true;
}

/* Checks the costs of the model at MODEL; false: they cannot be had. */
static bool check_model(const char *model)
{
    struct pair pair = {.inputs = NULL};
    bool is_checked = read_pair(&pair, model) == AMP_OK;
    for (int unit = AMP_COSTS_TIME; unit <= AMP_COSTS_NODES && is_checked; unit++) {
        struct amp_costs found = {.arena = NULL};
        is_checked = find_costs(&pair, (enum amp_costs_unit)unit, &found);
        amp_costs_free(&found);
    }
    release_pair(&pair);
    return is_checked;
}

static void check_models(const char *pattern, size_t least)
{
    glob_t found;
    size_t n_checked = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        n_checked += check_model(found.gl_pathv[i]);
    print_message("%s: %zu of %zu models\n", pattern, n_checked, found.gl_pathc);
    assert_in_range(n_checked, least, found.gl_pathc);
    globfree(&found);
}

static void all_models_have_figures(void **state)
{
    (void)state;
    check_models("models/*.onnx", 3);
    check_models("build/cases/convert/*/model.onnx", 100);
    check_models("build/cases/composites/*/model.onnx", 100);
    check_models("build/cases/ops/control/[is]*/model.onnx", 8);
    check_models("build/cases/ops/matmul/einsum_*/model.onnx", 10);
    check_models("build/cases/ops/sequence/[cs]*/model.onnx", 10);
}

/* Every node of a network, also those that run as parts of others, is worth something. */
static void no_node_is_free(void **state)
{
    struct pair pair = {.inputs = NULL};
    struct amp_costs found = {.arena = NULL};
    (void)state;
    assert_int_equal(read_pair(&pair, "models/digits_cnn.onnx"), AMP_OK);
    assert_true(find_costs(&pair, AMP_COSTS_TIME, &found));
    const struct amp_ids *nodes = &pair.reference.model->graphs[0].nodes;
    for (size_t i = 0; i < nodes->count; i++)
        assert_true(found.wide[nodes->items[i]] > 0 &&
                    found.wide[nodes->items[i]] != found.low[nodes->items[i]]);
    assert_true(found.total_low > 0);
    amp_costs_free(&found);
    release_pair(&pair);
}

/* Whether node ID of PAIR is one of several that it has become, all of which FOUND has as it. */
static bool is_sum_of_parts(const struct pair *pair, const struct amp_costs *found, uint32_t id)
{
    const char *before = amp_node_at(pair->reference.model, id)->op_type;
    const char *after = amp_node_at(pair->low.model, id)->op_type;
    return strcmp(before, after) != 0 && found->low[id] > found->wide[id] / 2;
}

/* Whether node ID of PAIR has a body, what that moves being more than what the node does. */
static bool is_sum_of_body(const struct pair *pair, const struct amp_costs *found, uint32_t id)
{
    return amp_node_has_bodies(amp_node_at(pair->reference.model, id)) && found->wide[id] > 0 &&
           found->low[id] > 0;
}

static void check_sums(const char *pattern,
                       bool (*is_sum)(const struct pair *, const struct amp_costs *, uint32_t))
{
    glob_t models;
    size_t n_sums = 0;
    assert_int_equal(glob(pattern, 0, NULL, &models), 0);
    for (size_t i = 0; i < models.gl_pathc; i++) {
        struct pair pair = {.inputs = NULL};
        struct amp_costs found = {.arena = NULL};
        if (read_pair(&pair, models.gl_pathv[i]) == AMP_OK &&
            find_costs(&pair, AMP_COSTS_BYTES, &found))
            for (uint32_t id = 0; id < found.n_nodes; id++)
                n_sums += is_sum(&pair, &found, id);
        amp_costs_free(&found);
        release_pair(&pair);
    }
    globfree(&models);
    assert_true(n_sums > 0);
}

/* The nodes that an Einsum becomes in the lower dtype count as it, and those of a body as the node
   that has it. */
static void parts_count_as_the_whole(void **state)
{
    (void)state;
    check_sums("build/cases/convert/*insum*/model.onnx", is_sum_of_parts);
    check_sums("build/cases/ops/control/scan*/model.onnx", is_sum_of_body);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* A network that is decided on by hand: nodes are in the lower dtype unless they are kept. */
static struct amp_assignment decided;
static struct amp_wholes wholes;
static struct amp_units units;

static void decide(void)
{
    size_t n = net.model->n_nodes;
    decided = (struct amp_assignment){.lower = AMP_BFLOAT16, .wholes = &wholes, .n_nodes = n};
    decided.nodes = amp_arena_array(net.arena, n + 8, sizeof *decided.nodes);
    for (size_t i = n; i < n + 8; i++) /* of none of the nodes */
        decided.nodes[i].dtype = AMP_FLOAT;
    for (size_t i = 0; i < n; i++)
        decided.nodes[i] =
            (struct amp_decision){.dtype = AMP_BFLOAT16, .reason = AMP_REASON_UNLISTED};
    wholes = (struct amp_wholes){.count = 0};
}

static void keep(uint32_t value)
{
    decided.nodes[node_of(value)].dtype = AMP_FLOAT;
}

static void find_units(void)
{
    units = amp_units_find(net.model, &decided, net.arena);
}

/* Unit U has the nodes that make VALUES, N of them, in their order, and is called as the one of
   NAMED is, an operator OP. */
static void expect_unit(size_t u, uint32_t named, const char *op, const uint32_t *values, size_t n)
{
    char text[512];
    assert_in_range(u, 0, units.count - 1);
    assert_int_equal(units.items[u].n_nodes, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(units.items[u].nodes[i], node_of(values[i]));
        assert_int_equal(units.of_node[node_of(values[i])], u);
    }
    assert_string_equal(units.items[u].name,
                        amp_node_text(net.model, node_of(named), text, sizeof text));
    assert_string_equal(units.items[u].op, op);
    assert_false(units.items[u].is_fine);
}

static void expect_none(uint32_t value)
{
    assert_int_equal(units.of_node[node_of(value)], AMP_NONE);
}

/* What moves goes with what gives it; a mover behind it too. */
static void movers_go_with_what_gives_them(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("Transpose", "b", a);
    uint32_t c = NODE("Transpose", "c", b), d = NODE("Tanh", "d", c);
    decide();
    find_units();
    assert_int_equal(units.count, 2);
    expect_unit(0, a, "Sigmoid", IDS(a, b, c));
    expect_unit(1, d, "Tanh", IDS(d));
}

/* What picks one of its elements, or changes a sign, rounds nothing either. */
static void pickers_go_with_what_gives_them(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("ReduceMax", "b", a), c = NODE("Neg", "c", b);
    uint32_t d = NODE("ReduceSum", "d", c);
    decide();
    find_units();
    assert_int_equal(units.count, 2);
    expect_unit(0, a, "Sigmoid", IDS(a, b, c));
    expect_unit(1, d, "ReduceSum", IDS(d));
}

/* Without one in the lower dtype it goes with those that take it, in whatever place they do. */
static void movers_go_with_what_takes_them(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), w = FLOATS("w", 1);
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("Transpose", "b", a), c = NODE("Tanh", "c", b);
    uint32_t d = NODE("Add", "d", w, b), e = NODE("Clip", "e", w, AMP_NONE, w);
    uint32_t f = NODE("Transpose", "f", x);
    decide();
    keep(a);
    find_units();
    assert_int_equal(units.count, 3);
    expect_none(a);
    expect_unit(0, d, "Add", IDS(b, c, d));
    expect_unit(1, e, "Clip", IDS(e));
    expect_unit(2, f, "Transpose", IDS(f));
}

/* One in float32 joins nobody. */
static void movers_in_float32_are_apart(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("Transpose", "b", a), c = NODE("Tanh", "c", b);
    uint32_t d = NODE("Exp", "d", b), e = NODE("Transpose", "e", x), f = NODE("Exp", "f", e);
    decide();
    keep(b);
    keep(f);
    find_units();
    assert_int_equal(units.count, 4);
    expect_unit(0, a, "Sigmoid", IDS(a));
    expect_none(b);
    expect_unit(1, c, "Tanh", IDS(c));
    expect_unit(2, d, "Exp", IDS(d));
    expect_unit(3, e, "Transpose", IDS(e));
    expect_none(f);
}

/* Nodes that were removed, and such as came with the conversion, are of none; the second dtype is
   as good as the first. */
static void others_are_of_no_unit(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("Tanh", "b", a), c = NODE("Exp", "c", a);
    decide();
    decided.nodes[decided.n_nodes].dtype = AMP_FLOAT16; /* of none of its nodes */
    uint32_t d = NODE("Cast", "d", c);
    amp_node_at(net.model, node_of(b))->is_removed = true;
    decided.nodes[node_of(c)].dtype = AMP_FLOAT16;
    decided.nodes[node_of(a)].dtype = AMP_UNDEFINED;
    find_units();
    assert_int_equal(units.count, 0);
    decided.second = AMP_FLOAT16;
    find_units();
    assert_int_equal(units.count, 1);
    expect_none(a);
    expect_none(b);
    expect_unit(0, c, "Exp", IDS(c));
    expect_none(d);
}

/* The parts of a whole are one, but for those in float32. */
static void wholes_are_units(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("Tanh", "b", a), c = NODE("Exp", "c", b);
    uint32_t d = NODE("Sin", "d", c), e = NODE("Cos", "e", d);
    decide();
    uint32_t parts[2][3] = {{node_of(c), node_of(b), node_of(a)}, {node_of(e)}};
    struct amp_whole items[2] = {{.name = "silu", .nodes = parts[0], .n_nodes = 3},
                                 {.name = "cos", .nodes = parts[1], .n_nodes = 1}};
    wholes = (struct amp_wholes){.items = items, .count = 2};
    decided.nodes[node_of(a)].whole = decided.nodes[node_of(b)].whole =
        decided.nodes[node_of(c)].whole = &items[0];
    decided.nodes[node_of(e)].whole = &items[1];
    keep(b);
    find_units();
    assert_int_equal(units.count, 3);
    expect_unit(0, c, "silu", IDS(a, c));
    expect_none(b);
    expect_unit(1, d, "Sin", IDS(d));
    expect_unit(2, e, "cos", IDS(e));
}

/* All bodies go with the node of the main graph, however deep they are in it. */
static void bodies_go_with_their_node(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3)), y = NODE("Sigmoid", "y", x);
    uint32_t z = NODE("If", "z", y);
    uint32_t outer = amp_graph_add(net.model, "outer", node_of(z));
    uint32_t a = net_out(net_node(outer, "Tanh", "a", 1, IDS(x)), 0);
    uint32_t b = net_out(net_node(outer, "If", "b", 1, IDS(a)), 0);
    uint32_t inner = amp_graph_add(net.model, "inner", node_of(b));
    uint32_t c = net_out(net_node(inner, "Exp", "c", 1, IDS(a)), 0);
    decide();
    keep(b);
    find_units();
    assert_int_equal(units.count, 2);
    expect_unit(0, y, "Sigmoid", IDS(y));
    expect_unit(1, c, "Exp", IDS(z, a, c));
    expect_none(b);
}

static void units_are_split_into_steps(void **state)
{
    static const bool has_steps[3] = {false, true, true};
    static const uint32_t of[3] = {0, 2, 4};
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(2, 3));
    uint32_t a = NODE("Sigmoid", "a", x), b = NODE("Tanh", "b", a), c = NODE("Exp", "c", b);
    decide();
    find_units();
    amp_units_split(&units, has_steps, net.arena);
    assert_int_equal(units.count, 5);
    for (size_t u = 0; u < 5; u++) {
        assert_int_equal(units.items[u].is_fine, u == 1 || u == 3);
        assert_int_equal(units.items[u].nodes[0], (u + 1) / 2);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(units.of_node[i], of[i]);
    assert_true(node_of(c) == 2);
}

/* ---- problems -------------------------------------------------------------------------------- */

static struct amp_noise_source sources[8];
static struct amp_noise noise;
static struct amp_problem *problem;

static void add_source(enum amp_noise_kind kind, uint32_t value, uint32_t node, double power)
{
    sources[noise.n_sources++] =
        (struct amp_noise_source){.kind = kind, .value_id = value, .node_id = node, .power = power};
}

/* By hand, all of them 1 in float32 and 0 in the lower dtype. */
static void know_costs(void)
{
    size_t n_nodes = decided.n_nodes, n_values = net.model->n_values;
    costs = (struct amp_costs){
        .origin = "by hand", .n_nodes = n_nodes, .n_values = n_values, .total_low = 7};
    costs.low = amp_arena_array(net.arena, n_nodes, sizeof *costs.low);
    costs.wide = amp_arena_array(net.arena, n_nodes, sizeof *costs.wide);
    costs.casts = amp_arena_array(net.arena, n_values, sizeof *costs.casts);
    for (size_t i = 0; i < n_nodes; i++)
        costs.wide[i] = 1;
}

static void formulate(void)
{
    const struct amp_formulation formulation = {.converted = net.model,
                                                .assignment = &decided,
                                                .units = &units,
                                                .noise = &noise,
                                                .costs = &costs};
    noise.sources = sources;
    problem = amp_problem_create(&units, net.arena);
    amp_problem_formulate(&formulation, problem, net.arena);
    costs = (struct amp_costs){.arena = NULL};
    noise = (struct amp_noise){.n_sources = 0};
    assert_true(problem->base == 7);
    assert_string_equal(problem->origin, "by hand");
    assert_int_equal(problem->n_units, units.count);
}

static void expect_noise(size_t i, uint32_t a, uint32_t b, double power)
{
    assert_in_range(i, 0, problem->n_noises - 1);
    assert_int_equal(problem->noises[i].a, a);
    assert_int_equal(problem->noises[i].b, b);
    expect(problem->noises[i].power, power);
}

static void expect_edge(size_t i, uint32_t a, uint32_t b, double cost)
{
    assert_in_range(i, 0, problem->n_edges - 1);
    assert_int_equal(problem->edges[i].a, a);
    assert_int_equal(problem->edges[i].b, b);
    expect(problem->edges[i].cost, cost);
}

/* A Cast of the conversion. */
static uint32_t add_cast_of(uint32_t value, const char *name, enum amp_dtype dtype)
{
    uint32_t made = NODE("Cast", name, value);
    set_int(made, "to", dtype);
    amp_value_at(net.model, made)->dtype = dtype;
    return made;
}

/*
 * Units 0: a = Sigmoid(x), 1: b = Add(a, w), 2: c, the means of the four elements of each row of a;
 * d = Exp(a) is kept. x is cast to x_low, a to a_wide and that to a_again; b, c and d are given
 * out.
 */
enum { UNIT_A, UNIT_B, UNIT_C };
static uint32_t value_x, value_w, value_a, value_b, value_c, value_d, value_x_low;

static void open_small(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    net_start(17);
    value_x = input("x", AMP_FLOAT, DIMS(2, 4));
    value_w = constant("w", AMP_FLOAT, DIMS(4), ones);
    value_a = NODE("Sigmoid", "a", value_x);
    value_b = NODE("Add", "b", value_a, value_w);
    value_c = NODE("ReduceMean", "c", value_a);
    SET_INTS(value_c, "axes", 1);
    value_d = NODE("Exp", "d", value_a);
    output(value_b);
    output(value_c);
    output(value_d);
    infer_all();
    decide();
    keep(value_d);
    value_x_low = add_cast_of(value_x, "x_low", AMP_BFLOAT16);
    uint32_t wide = add_cast_of(value_a, "a_wide", AMP_FLOAT);
    uint32_t again = add_cast_of(wide, "a_again", AMP_FLOAT);
    amp_node_at(net.model, node_of(value_a))->inputs[0] = value_x_low;
    amp_node_at(net.model, node_of(value_d))->inputs[0] = again;
    amp_value_at(net.model, value_a)->dtype = AMP_BFLOAT16;
    noise = (struct amp_noise){.n_sources = 0};
    find_units();
    assert_int_equal(units.count, 3);
    know_costs();
}

/* What is left of an error of four elements where they are averaged is a quarter. */
static void noise_is_shared_by_readers(void **state)
{
    (void)state;
    open_small();
    add_source(AMP_NOISE_VALUE, value_a, node_of(value_a), 9);
    add_source(AMP_NOISE_WEIGHT, value_w, node_of(value_b), 3);
    add_source(AMP_NOISE_CAST, value_x_low, node_of(value_x_low), 5);
    add_source(AMP_NOISE_VALUE, value_b, node_of(value_b), 2);
    add_source(AMP_NOISE_BODIES, value_a, node_of(value_a), 0.5);
    add_source(AMP_NOISE_VALUE, value_x, AMP_NONE, 0.25);
    add_source(AMP_NOISE_WEIGHT, value_w, node_of(value_b), 0);
    formulate();
    assert_int_equal(problem->n_noises, 8);
    expect_noise(0, UNIT_A, UNIT_B, 4);
    expect_noise(1, UNIT_A, UNIT_C, 1);
    expect_noise(2, UNIT_A, UNIT_A, 4);
    expect_noise(3, UNIT_B, UNIT_B, 3);
    expect_noise(4, UNIT_A, UNIT_A, 5);
    expect_noise(5, UNIT_B, UNIT_B, 2);
    expect_noise(6, UNIT_A, UNIT_A, 0.5);
    expect_noise(7, UNIT_A, UNIT_A, 0.25);
    assert_true(problem->floor == 0);
    assert_int_equal(problem->n_edges, 0); /* no cast costs anything */
}

/* What only nodes in float32 read, or such and a unit, of a weight. */
static void noise_that_nobody_takes_away_stays(void **state)
{
    (void)state;
    open_small();
    amp_node_at(net.model, node_of(value_d))->inputs[0] = value_w;
    add_source(AMP_NOISE_WEIGHT, value_w, node_of(value_b), 6);
    add_source(AMP_NOISE_VALUE, value_d, node_of(value_d), 0.5);
    formulate();
    assert_int_equal(problem->n_noises, 1);
    expect_noise(0, UNIT_B, UNIT_B, 3);
    expect(problem->floor, 3.5);
}

/* It weighs more than all others, and than the outputs themselves. */
static void what_is_lost_weighs_most(void **state)
{
    (void)state;
    static const double powers[3] = {0.5, 3, 0.5}, lost[3] = {0, 1, 1}, expected[3] = {10, 40, 15};
    for (int i = 0; i < 3; i++) {
        open_small();
        add_source(AMP_NOISE_WEIGHT, value_w, node_of(value_b), powers[i]);
        add_source(AMP_NOISE_WEIGHT, value_w, node_of(value_b), lost[i]);
        sources[1].n_lost = 1;
        formulate();
        assert_int_equal(problem->n_noises, 2);
        expect_noise(0, UNIT_B, UNIT_B, powers[i]);
        expect_noise(1, UNIT_B, UNIT_B, expected[i]);
    }
}

/* Sizes that are not known do not tell: what has none averages nothing, a dim counts as 1. A scalar
   is one element, and dims of 0 count as 1 as well. */
static void unknown_sizes_share_evenly(void **state)
{
    static const struct {
        struct amp_shape of_a, of_c;
        double weight; /* of c; b has as many elements as a, or more */
    } cases[] = {
        {{.rank = -1}, {.rank = -1}, 1},  {{2, {-1, 4}}, {.rank = -1}, 1},
        {{.rank = -1}, {2, {-1, 1}}, 1},  {{2, {-1, 4}}, {2, {-1, 1}}, 0.25},
        {{1, {4}}, {.rank = 0}, 0.25},    {{2, {4, -1}}, {1, {2}}, 0.5},
        {{2, {0, 4}}, {2, {0, 1}}, 0.25}, {{2, {1, 4}}, {2, {2, 4}}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_small();
        amp_value_set_shape(net.model, value_a, &cases[i].of_a);
        amp_value_set_shape(net.model, value_b, &cases[i].of_a);
        amp_value_set_shape(net.model, value_d, &cases[i].of_a);
        amp_value_set_shape(net.model, value_c, &cases[i].of_c);
        add_source(AMP_NOISE_VALUE, value_a, node_of(value_a), 9);
        formulate();
        expect_noise(0, UNIT_A, UNIT_B, 9 / (2 + cases[i].weight));
        expect_noise(1, UNIT_A, UNIT_C, 9 * cases[i].weight / (2 + cases[i].weight));
        expect_noise(2, UNIT_A, UNIT_A, 9 / (2 + cases[i].weight));
    }
}

/*
 * Of the readers of a = Sigmoid(x) only Tanh is one: the others are no units and not in float32
 * (Shape), are not there any more (Exp), or were put in and are no cast, as they have two inputs or
 * two outputs (Add and Split, which units read).
 */
static void others_read_for_nobody(void **state)
{
    static const float ones[4] = {1, 1, 1, 1};
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4)), w = constant("w", AMP_FLOAT, DIMS(4), ones);
    uint32_t a = NODE("Sigmoid", "a", x), shape = NODE("Shape", "shape", a);
    uint32_t t = NODE("Tanh", "t", a), gone = NODE("Exp", "gone", a);
    uint32_t by_two = NODE("Neg", "by_two", x), of_two = NODE("Abs", "of_two", x);
    output(t);
    infer_all();
    decide();
    decided.nodes[node_of(shape)].dtype = AMP_UNDEFINED;
    keep(gone);
    amp_node_at(net.model, node_of(gone))->is_removed = true;
    uint32_t sum = NODE("Add", "sum", a, w);
    uint32_t split = amp_graph_add_node(net.model, 0, "Split", 1, 2);
    amp_node_at(net.model, split)->inputs[0] = a;
    for (uint32_t i = 2; i-- > 0;)
        amp_node_set_output(net.model, split, i,
                            net_value_in(0, i == 0 ? "s0" : "s1", AMP_BFLOAT16, ANY_DIMS));
    amp_node_at(net.model, node_of(by_two))->inputs[0] = sum;
    amp_node_at(net.model, node_of(of_two))->inputs[0] = amp_node_at(net.model, split)->outputs[0];
    noise = (struct amp_noise){.n_sources = 0};
    find_units();
    assert_int_equal(units.count, 4);
    know_costs();
    add_source(AMP_NOISE_VALUE, a, node_of(a), 6);
    add_source(AMP_NOISE_BODIES, a, node_of(gone), 8); /* which no unit rounds in */
    costs.casts[a] = 0.5;
    costs.n_values--; /* what lies behind is nobody's */
    costs.casts[costs.n_values] = 100;
    formulate();
    assert_int_equal(problem->n_noises, 2);
    expect_noise(0, 0, 1, 6);
    expect_noise(1, 1, 1, 8);
    assert_true(problem->floor == 0);
    assert_int_equal(problem->n_edges, 1);
    expect_edge(0, 0, 1, 0.5);
    for (size_t u = 0; u < 4; u++)
        expect(problem->units[u].loss, 1);
}

/* A unit that reads twice is one reader, of the sum. */
static void who_reads_twice_is_one(void **state)
{
    (void)state;
    open_small();
    amp_node_at(net.model, node_of(value_b))->inputs[1] = value_a;
    add_source(AMP_NOISE_VALUE, value_a, node_of(value_a), 6.5);
    costs.casts[value_a] = 6;
    formulate();
    assert_int_equal(problem->n_noises, 3);
    expect_noise(0, UNIT_A, UNIT_B, 4);
    expect_noise(1, UNIT_A, UNIT_C, 0.5);
    expect_noise(2, UNIT_A, UNIT_A, 2);
    expect_edge(0, UNIT_A, UNIT_B, 2);
}

/* Nodes by what float32 costs more, values by who would have to cast them. */
static void costs_are_of_units(void **state)
{
    (void)state;
    open_small();
    for (uint32_t i = 0; i < costs.n_nodes; i++) {
        costs.wide[i] = 16 << i;
        costs.low[i] = 1;
    }
    costs.casts[value_x] = 3;
    costs.casts[value_w] = 100;
    costs.casts[value_a] = 6;
    costs.casts[value_b] = 5;
    costs.casts[value_d] = 100;
    formulate();
    assert_int_equal(problem->n_edges, 2);
    expect_edge(0, UNIT_A, UNIT_B, 2);
    expect_edge(1, UNIT_A, UNIT_C, 2);
    expect(problem->units[UNIT_A].loss, 15 - 3 - 2);
    expect(problem->units[UNIT_B].loss, 31 - 5);
    expect(problem->units[UNIT_C].loss, 63);
}

/* Values that no cast of a float would come to. */
static void other_values_are_not_cast(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        open_small();
        struct amp_value *a = amp_value_at(net.model, value_a);
        costs.casts[value_a] = 6;
        a->dtype = i == 0 ? AMP_INT32 : a->dtype;
        a->is_removed = i == 1;
        a->graph = i == 2;
        formulate();
        assert_int_equal(problem->n_edges, 0);
        expect(problem->units[UNIT_A].loss, 1);
    }
}

/* ---- problems in two dtypes ------------------------------------------------------------------ */

#define NOISES(...)                            \
    (struct amp_problem_noise[]){__VA_ARGS__}, \
        sizeof((struct amp_problem_noise[]){__VA_ARGS__}) / sizeof(struct amp_problem_noise)

/* The units of the problems by hand: pairs of steps 0 1, 3 4, 6 7, 8 9 and 10 11; 2 and 5 have one
   dtype alone. */
enum { N_STEPPED = 12 };

static struct amp_problem make_stepped(const double *losses, double floor,
                                       struct amp_problem_noise *noises, size_t n_noises)
{
    struct amp_problem made = {.noises = noises, .n_noises = n_noises, .floor = floor};
    made.n_units = N_STEPPED;
    made.units = amp_arena_array(net.arena, N_STEPPED, sizeof *made.units);
    for (size_t i = 0; i < N_STEPPED; i++) {
        made.units[i].is_fine = i == 0 || i == 3 || i == 6 || i == 8 || i == 10;
        made.units[i].loss = losses[i];
    }
    return made;
}

static void combine(const struct amp_problem *coarse, const struct amp_problem *fine)
{
    static struct amp_problem both;
    both = make_stepped((const double[N_STEPPED]){0}, 0, NULL, 0);
    amp_problem_combine(coarse, fine, &both, net.arena);
    problem = &both;
}

/*
 * Noise of units with two steps is that of the coarser dtype until the first step, and of the finer
 * one until the second; where the finer one has more, nothing is won by the first step. Where it
 * has more than a thousandth of all (0.026), the first step is no choice for the two units: 4 by
 * itself, 9 and 11 by what they share.
 */
static void noise_of_two_dtypes_is_by_steps(void **state)
{
    static const double losses[N_STEPPED] = {0};
    struct amp_problem coarse =
        make_stepped(losses, 0.5,
                     NOISES({1, 1, 8}, {1, 2, 4}, {2, 2, 5}, {2, 4, 7}, {2, 5, 0.0078125},
                            {4, 4, 1}, {1, 4, 0.0078125}, {4, 7, 0.0078125}, {1, 7, 0.0078125},
                            {7, 9, 0.0078125}, {7, 11, 0.0078125}, {9, 11, 1}, {5, 9, 0.25}));
    struct amp_problem fine =
        make_stepped(losses, 0.25,
                     NOISES({1, 1, 2}, {1, 2, 1}, {2, 2, 3}, {2, 5, 0.015625}, {4, 4, 2},
                            {1, 4, 0.015625}, {4, 7, 0.015625}, {1, 7, 0.015625}, {7, 9, 0.015625},
                            {7, 11, 0.015625}, {9, 11, 5}, {2, 7, 0.015625}));
    static const struct amp_problem_noise expected[] = {
        {0, 0, 6},         {1, 1, 2},          {0, 2, 3},         {1, 2, 1},    {1, 4, 0.0078125},
        {1, 7, 0.015625},  {2, 2, 5},          {2, 3, 7},         {2, 4, 0},    {2, 5, 0.0078125},
        {2, 7, 0.015625},  {4, 4, 1},          {4, 7, 0.0078125}, {5, 8, 0.25}, {5, 9, 0},
        {7, 9, 0.0078125}, {7, 11, 0.0078125}, {9, 11, 1}};
    struct amp_problem_edge edge = {0, 2, 1}; /* a tie without noise */
    (void)state;
    coarse.base = 7;
    coarse.origin = "by hand";
    coarse.edges = &edge;
    coarse.n_edges = 1;
    combine(&coarse, &fine);
    assert_true(problem->base == 7 && problem->floor == 0.5);
    assert_string_equal(problem->origin, "by hand");
    assert_int_equal(problem->n_noises, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < problem->n_noises; i++)
        expect_noise(i, expected[i].a, expected[i].b, expected[i].power);
}

/* A first step is no choice where the finer dtype has more noise than the coarser one, and than a
   thousandth of all: the tie of the steps says so, which is half of the loss of 8 otherwise. */
static void harm_is_a_thousandth_of_all(void **state)
{
    static const double of_coarse[N_STEPPED] = {[4] = 8}, of_fine[N_STEPPED] = {0};
    static const struct {
        double coarse, fine, tie;
    } cases[] = {{0, 1, 4}, {0, 1.0078125, 8}, {0, 0.984375, 4}, {2, 2, 4}, {2, 1.5, 4}, {1, 2, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_problem coarse = make_stepped(
            of_coarse, 0, NOISES({2, 2, 1000 - cases[i].coarse}, {4, 4, cases[i].coarse}));
        struct amp_problem fine = make_stepped(of_fine, 0, NOISES({4, 4, cases[i].fine}));
        combine(&coarse, &fine);
        expect_edge(1, 3, 4, cases[i].tie);
    }
}

/* The first unit may have one dtype alone: its noise and its loss are as they were, and what it
   loses counts for what no choice costs. */
static void first_units_may_have_one_dtype(void **state)
{
    struct amp_unit units_of[3][3] = {{{.loss = 3}, {.is_fine = true}, {.loss = -2}},
                                      {{.loss = 0}, {.is_fine = true}, {.loss = 5}},
                                      {{.loss = 0}, {.is_fine = true}, {.loss = 0}}};
    struct amp_problem_noise noises[2][3] = {{{0, 0, 1}, {0, 2, 4}}, {{0, 2, 1}, {2, 2, 2}}};
    struct amp_problem three[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        three[i] = (struct amp_problem){
            .units = units_of[i], .n_units = 3, .noises = noises[i & 1], .n_noises = 2};
    three[2].noises = NULL;
    three[2].n_noises = 0;
    amp_problem_combine(&three[0], &three[1], &three[2], net.arena);
    problem = &three[2];
    assert_int_equal(problem->n_noises, 4);
    expect_noise(0, 0, 0, 1);
    expect_noise(1, 0, 1, 3);
    expect_noise(2, 0, 2, 1);
    expect_noise(3, 2, 2, 0);
    assert_int_equal(problem->n_edges, 1);
    expect_edge(0, 1, 2, 5);
    assert_true(problem->units[0].loss == 3 && problem->units[1].loss == 0);
    assert_true(problem->units[2].loss == -2);
}

/*
 * Casts to the finer dtype are two thirds of those to float32. A first step saves what the finer
 * dtype does, and is tied to the second by half of that and of its casts; where it is no choice (4,
 * which the finer dtype does harm), by more than all losses (31) and casts (60) are.
 */
static void losses_of_two_dtypes_are_by_steps(void **state)
{
    static const double of_coarse[N_STEPPED] = {0, 10, 5, 0, 3, -2, 0, 1, 0, 4, 0, 6};
    static const double of_fine[N_STEPPED] = {0, 4, 1, 0, 1, 1, 0, 4, 0, 2, 0, 6};
    static const double expected[N_STEPPED] = {2, 8, 5, 0, 3, -2, -10, 11, 1, 3, 0, 6};
    static const struct amp_problem_edge edges[] = {{1, 2, 3},  {0, 2, 2},  {2, 5, 6}, {5, 7, 9},
                                                    {5, 6, 6},  {4, 7, 12}, {3, 6, 8}, {0, 1, 4},
                                                    {3, 4, 91}, {6, 7, 7},  {8, 9, 1}, {10, 11, 0}};
    struct amp_problem coarse = make_stepped(of_coarse, 0, NOISES({2, 2, 1}));
    struct amp_problem fine = make_stepped(of_fine, 0, NOISES({4, 4, 1}));
    struct amp_problem_edge casts[] = {{1, 2, 3}, {2, 5, 6}, {5, 7, 9}, {4, 7, 12}};
    (void)state;
    coarse.edges = casts;
    coarse.n_edges = 4;
    combine(&coarse, &fine);
    assert_int_equal(problem->n_edges, sizeof edges / sizeof *edges);
    for (size_t i = 0; i < problem->n_edges; i++)
        expect_edge(i, edges[i].a, edges[i].b, edges[i].cost);
    for (size_t i = 0; i < N_STEPPED; i++)
        assert_true(fabs(problem->units[i].loss - expected[i]) <= 1e-12);
}

/* ---- choices --------------------------------------------------------------------------------- */

static void expect_names(const char **names, size_t n, const char *const *expected,
                         size_t n_expected)
{
    assert_int_equal(n, n_expected);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(names[i], expected[i]);
}

#define NAMES(...) \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* The rule file of CHOICE. */
static void expect_file(const struct amp_choice *choice, const struct amp_choice_file *file,
                        const char *expected)
{
    struct amp_error err = {.status = AMP_OK};
    char text[2048];
    assert_int_equal(amp_choice_write(choice, file, path, &err), AMP_OK);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    assert_string_equal(text, expected);
}

static void a_choice_is_rules(void **state)
{
    static const bool keeps[3] = {false, true, false};
    static const char *const extends[] = {"torch-cpu"}, *const notes[] = {"~ \x7f\x1f\n\xc3\xa4",
                                                                          ""};
    static const double removes[3] = {1, 0.01, 1};
    (void)state;
    open_small();
    const char *names[] = {"a", "b \"1\"", "c*", "d"};
    const struct amp_choice_model model = {
        .units = &units, .assignment = &decided, .outputs = names};
    struct amp_choice choice = amp_choice_make(&model, keeps, false, net.arena);
    expect_names(choice.low, choice.n_low, NAMES("a", "c*"));
    expect_names(choice.wide, choice.n_wide, NAMES("b \"1\""));
    assert_int_equal(choice.n_second, 0);
    assert_false(choice.has_second);
    assert_int_equal(choice.units[0], UNIT_B);
    decided.nodes[node_of(value_d)].reason = AMP_REASON_RULE;
    choice = amp_choice_make(&model, keeps, false, net.arena);
    assert_int_equal(choice.n_wide, 1);
    choice = amp_choice_make(&model, keeps, true, net.arena);
    expect_names(choice.wide, choice.n_wide, NAMES("b \"1\"", "d"));
    assert_int_equal(choice.units[1], AMP_NONE);
    const struct amp_choice_file file = {.lower = AMP_BFLOAT16,
                                         .extends = extends,
                                         .n_extends = 1,
                                         .notes = notes,
                                         .n_notes = 2,
                                         .removes = removes};
    expect_file(
        &choice, &file,
        "# ~ ?????\n# \nversion: 1\nname: tuned\ndescription: what tuning kept in "
        "float32\ndtypes: [bf16]\nextends:\n  - \"torch-cpu\"\n\n# Runs have shown that it "
        "holds: what values come to is not looked at again.\nlimits:\n  bf16: {guards: "
        "off}\n\nrules:\n  - precision: lower\n    tensors:\n      - \"a\"\n      - "
        "\"c\\\\*\"\n  - precision: fp32\n    tensors:\n      - \"b \\\"1\\\"\"  # noise at "
        "20.0 dB\n      - \"d\"\n");
    remove(path);
    struct amp_choice_file quiet = file;
    quiet.removes = NULL;
    choice.n_low = quiet.n_notes = 0;
    expect_file(&choice, &quiet,
                "version: 1\nname: tuned\ndescription: what tuning kept in float32\ndtypes: "
                "[bf16]\nextends:\n  - \"torch-cpu\"\n\n# Runs have shown that it holds: what "
                "values come to is not looked at again.\nlimits:\n  bf16: {guards: off}\n\n"
                "rules:\n  - precision: fp32\n    tensors:\n      - \"b \\\"1\\\"\"\n      - "
                "\"d\"\n");
    remove(path);
    decided.nodes[node_of(value_d)].dtype = AMP_FLOAT16; /* which a rule says as well */
    choice = amp_choice_make(&model, keeps, true, net.arena);
    assert_int_equal(choice.n_wide, 1);
    decided.nodes[node_of(value_d)].dtype = AMP_FLOAT;
    decided.nodes[node_of(value_d)].reason = AMP_REASON_PARTIAL_SUMS;
    choice = amp_choice_make(&model, keeps, true, net.arena);
    assert_int_equal(choice.n_wide, 2);
    decided.nodes[node_of(value_d)].reason = AMP_REASON_OPSET;
    choice = amp_choice_make(&model, keeps, true, net.arena);
    assert_int_equal(choice.n_wide, 1);
    names[1] = NULL;
    choice = amp_choice_make(&model, keeps, true, net.arena);
    assert_int_equal(choice.n_wide, 0);
}

/* First steps are nodes in the second dtype, the lower one is named. */
static void a_choice_of_two_dtypes_is_rules(void **state)
{
    static const bool has_steps[3] = {false, true, true},
                      keeps[5] = {false, true, false, true, true};
    static const char *const extends[] = {"torch-cpu", "torch-cuda"};
    static const double removes[5] = {0};
    const char *names[] = {"a", "b", "c", "d"};
    struct amp_assignment fine;
    (void)state;
    open_small();
    amp_units_split(&units, has_steps, net.arena);
    decided.second = AMP_FLOAT16;
    fine = decided;
    fine.nodes = amp_arena_array(net.arena, 4, sizeof *fine.nodes);
    for (size_t i = 0; i < 4; i++)
        fine.nodes[i].dtype = AMP_FLOAT16;
    const struct amp_choice_model model = {
        .units = &units, .assignment = &decided, .fine = &fine, .outputs = names};
    struct amp_choice choice = amp_choice_make(&model, keeps, true, net.arena);
    assert_true(choice.has_second);
    expect_names(choice.low, choice.n_low, NAMES("a"));
    expect_names(choice.second, choice.n_second, NAMES("b"));
    expect_names(choice.wide, choice.n_wide, NAMES("c"));
    assert_int_equal(choice.units[0], 4);
    const struct amp_choice_file file = {
        .lower = AMP_BFLOAT16, .extends = extends, .n_extends = 2, .removes = removes};
    expect_file(
        &choice, &file,
        "version: 1\nname: tuned\ndescription: what tuning kept in float32\ndtypes: "
        "[bf16, fp16]\nextends:\n  - \"torch-cpu\"\n  - \"torch-cuda\"\n\n# Runs have "
        "shown that it holds: what values come to is not looked at again.\nlimits:\n  bf16: "
        "{guards: off}\n  fp16: {guards: off}\n\nrules:\n  - precision: bf16\n    "
        "tensors:\n      - \"a\"\n  - precision: fp16\n    tensors:\n      - \"b\"\n  - "
        "precision: fp32\n    tensors:\n      - \"c\"\n");
    choice.n_wide = 0;
    expect_file(
        &choice, &file,
        "version: 1\nname: tuned\ndescription: what tuning kept in float32\ndtypes: "
        "[bf16, fp16]\nextends:\n  - \"torch-cpu\"\n  - \"torch-cuda\"\n\n# Runs have "
        "shown that it holds: what values come to is not looked at again.\nlimits:\n  bf16: "
        "{guards: off}\n  fp16: {guards: off}\n\nrules:\n  - precision: bf16\n    "
        "tensors:\n      - \"a\"\n  - precision: fp16\n    tensors:\n      - \"b\"\n");
}

/* A unit has the second dtype by its own first step alone. */
static void first_steps_are_of_their_own_unit(void **state)
{
    static const struct {
        bool has_steps[3], keeps[5];
        const char *low, *second, *wide; /* of a, b and c */
    } cases[] = {{{false, true, true}, {false, true, false, false, false}, "ac", "b", ""},
                 {{false, true, true}, {false, false, false, true, false}, "ab", "c", ""},
                 {{false, false, true}, {true, false, false, false}, "bc", "", "a"},
                 {{true, false, false}, {true, false, false, false}, "bc", "a", ""},
                 {{true, false, true}, {true, true, true, false, false}, "c", "", "ab"}};
    const char *names[] = {"a", "b", "c", "d"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct amp_assignment fine;
        open_small();
        amp_units_split(&units, cases[i].has_steps, net.arena);
        decided.second = AMP_FLOAT16;
        fine = decided;
        fine.nodes = amp_arena_array(net.arena, 4, sizeof *fine.nodes);
        for (size_t k = 0; k < 4; k++)
            fine.nodes[k].dtype = AMP_FLOAT16;
        const struct amp_choice_model model = {
            .units = &units, .assignment = &decided, .fine = &fine, .outputs = names};
        struct amp_choice choice = amp_choice_make(&model, cases[i].keeps, false, net.arena);
        assert_int_equal(choice.n_low, strlen(cases[i].low));
        assert_int_equal(choice.n_second, strlen(cases[i].second));
        assert_int_equal(choice.n_wide, strlen(cases[i].wide));
        for (size_t k = 0; k < choice.n_low; k++)
            assert_true(choice.low[k][0] == cases[i].low[k]);
        for (size_t k = 0; k < choice.n_second; k++)
            assert_true(choice.second[k][0] == cases[i].second[k]);
        for (size_t k = 0; k < choice.n_wide; k++)
            assert_true(choice.wide[k][0] == cases[i].wide[k]);
    }
}

/* Without rules there is no list of them; a name that YAML cannot have leaves no file. */
static void little_or_odd_choices(void **state)
{
    const char *names[] = {"a\xff", NULL, NULL, NULL};
    static const char *const extends[] = {"torch-cpu"};
    static const bool keeps[3] = {false};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    open_small();
    const struct amp_choice_model model = {
        .units = &units, .assignment = &decided, .outputs = names};
    const struct amp_choice_file file = {.lower = AMP_BFLOAT16, .extends = extends, .n_extends = 1};
    struct amp_choice choice = amp_choice_make(&model, keeps, false, net.arena);
    assert_int_equal(amp_choice_write(&choice, &file, path, &err), AMP_UNSUPPORTED);
    assert_string_equal(err.text, "'a\\xFF': a name that is no UTF-8 cannot stand in a rule file");
    assert_int_not_equal(access(path, F_OK), 0);
    choice.n_low = 0;
    expect_file(&choice, &file,
                "version: 1\nname: tuned\ndescription: what tuning kept in float32\ndtypes: "
                "[bf16]\nextends:\n  - \"torch-cpu\"\n\n# Runs have shown that it holds: what "
                "values come to is not looked at again.\nlimits:\n  bf16: {guards: off}\n");
    choice.wide[0] = "b";
    choice.units[0] = AMP_NONE;
    choice.n_wide = 1;
    expect_file(&choice, &file,
                "version: 1\nname: tuned\ndescription: what tuning kept in float32\ndtypes: "
                "[bf16]\nextends:\n  - \"torch-cpu\"\n\n# Runs have shown that it holds: what "
                "values come to is not looked at again.\nlimits:\n  bf16: {guards: off}\n\nrules:\n"
                "  - precision: fp32\n    tensors:\n      - \"b\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(bytes_are_those_moved),
        PAIR_TEST(bytes_of_unknown_shapes_are_those_of_a_run),
        PAIR_TEST(inputs_are_cast_where_they_differ),
        PAIR_TEST(work_is_of_floats_in_runs),
        PAIR_TEST(nodes_are_counted),
        PAIR_TEST(times_are_of_use),
        cmocka_unit_test(units_have_names),
        PAIR_TEST(rates_make_seconds),
        PAIR_TEST(operators_have_rates_of_their_own),
        PAIR_TEST(entries_go_before_rates),
        PAIR_TEST(tables_may_say_little),
        PAIR_TEST(tables_come_back_as_written),
        cmocka_unit_test(the_shipped_table_has_what_was_measured),
        PAIR_TEST(the_lower_dtype_saves_a_trifle),
        PAIR_TEST(whole_tables_come_back_as_written),
        PAIR_TEST(tables_may_be_of_another_dtype),
        PAIR_TEST(wrong_tables_are_refused),
        PAIR_TEST(other_refusals),
        cmocka_unit_test(times_are_quartiles),
        cmocka_unit_test(differences_have_to_be_clear),
        PAIR_TEST(parts_share_times_with_the_whole),
        PAIR_TEST(spreads_are_shared_too),
        PAIR_TEST(movers_go_with_what_gives_them),
        PAIR_TEST(pickers_go_with_what_gives_them),
        PAIR_TEST(movers_go_with_what_takes_them),
        PAIR_TEST(movers_in_float32_are_apart),
        PAIR_TEST(others_are_of_no_unit),
        PAIR_TEST(wholes_are_units),
        PAIR_TEST(bodies_go_with_their_node),
        PAIR_TEST(units_are_split_into_steps),
        PAIR_TEST(noise_is_shared_by_readers),
        PAIR_TEST(noise_that_nobody_takes_away_stays),
        PAIR_TEST(what_is_lost_weighs_most),
        PAIR_TEST(unknown_sizes_share_evenly),
        PAIR_TEST(who_reads_twice_is_one),
        PAIR_TEST(costs_are_of_units),
        PAIR_TEST(other_values_are_not_cast),
        PAIR_TEST(others_read_for_nobody),
        PAIR_TEST(noise_of_two_dtypes_is_by_steps),
        PAIR_TEST(harm_is_a_thousandth_of_all),
        PAIR_TEST(first_units_may_have_one_dtype),
        PAIR_TEST(losses_of_two_dtypes_are_by_steps),
        PAIR_TEST(a_choice_is_rules),
        PAIR_TEST(a_choice_of_two_dtypes_is_rules),
        PAIR_TEST(first_steps_are_of_their_own_unit),
        PAIR_TEST(little_or_odd_choices),
        cmocka_unit_test(no_node_is_free),
        cmocka_unit_test(parts_count_as_the_whole),
        cmocka_unit_test(all_models_have_figures),
    };
    amp_session_set_threads(1); /* tensors are small */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
