/*
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
#include "tune/costs.h"

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
    request.path = path;
    find(AMP_COSTS_TIME);
    assert_memory_equal(costs.wide, wide, sizeof wide);
    assert_memory_equal(costs.low, low, sizeof low);
    assert_memory_equal(costs.casts, casts, sizeof casts);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(bytes_are_those_moved),
        PAIR_TEST(nodes_are_counted),
        PAIR_TEST(times_are_of_use),
        cmocka_unit_test(units_have_names),
        PAIR_TEST(rates_make_seconds),
        PAIR_TEST(operators_have_rates_of_their_own),
        PAIR_TEST(entries_go_before_rates),
        PAIR_TEST(tables_may_say_little),
        PAIR_TEST(tables_come_back_as_written),
        PAIR_TEST(wrong_tables_are_refused),
        PAIR_TEST(other_refusals),
        cmocka_unit_test(no_node_is_free),
        cmocka_unit_test(parts_count_as_the_whole),
        cmocka_unit_test(all_models_have_figures),
    };
    amp_session_set_threads(1); /* tensors are small */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
