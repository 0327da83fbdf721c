/* The graph that runs where nodes run together: its steps, its results, and what stays as it is. */
#include "check/compare.h"
#include "check/metric_bounds.h"
#include "check/random_input.h"
#include "core/convert.h"
#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "core/memory.h"
#include "net.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "run/exec/session.h"
#include "run/plan/plan.h"
#include "run/plan/step.h"
#include "run/rewrite/fuse_composites.h"

#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- fuse ------------------------------------------------------------------------------------ */

/* The graph that runs when nodes may be done together, and its steps: tests/run/fused/NAME.onnx as
   NAME.txt. FUSE_UPDATE=1 rewrites the texts. That results agree is tests/run/test_strict.sh's
   matter. */

static void print_node(FILE *out, const struct amp_model *model, const char *sign, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    fprintf(out, " %s%s %s", sign, node->op_type, amp_value_at(model, node->outputs[0])->name);
}

/* A line per step: its node, with + those that are done as its post-ops, with < the casts that it
   reads what is cast of. */
static void print_steps(FILE *out, const struct amp_plan *plan)
{
    const struct amp_model *model = plan->model;
    for (size_t i = 0; i < plan->graphs[0].n_steps; i++) {
        const struct amp_step *step = &plan->graphs[0].steps[i];
        fputs("step", out);
        print_node(out, model, "", step->node);
        for (size_t t = 0; t < step->n_posts; t++)
            print_node(out, model, "+ ", step->post_steps[t].node);
        for (size_t c = 0; c < step->n_casts; c++)
            print_node(out, model, "< ", step->casts[c]->node);
        fputc('\n', out);
    }
}

/* The graph and the steps of the model at PATH, to be freed. */
static char *fused_text(const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_model_file file;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (amp_model_read(path, &file, &err) != AMP_OK || amp_infer(file.model, &err) != AMP_OK)
        fail_msg("%s", err.text);
    const struct amp_plan *plan;
    assert_int_equal(amp_plan_create(file.model, false, &plan, &err), AMP_OK);
    assert_int_equal(amp_graph_check(plan->model, &err), AMP_OK);
    amp_model_dump(out, plan->model, NULL, NULL);
    print_steps(out, plan);
    amp_plan_destroy(plan);
    fclose(out);
    amp_model_close(&file);
    return text;
}

/* What the file at PATH holds, to be freed; "" when there is none. */
static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL || getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = calloc(1, 1);
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void graphs_are_as_written(void **state)
{
    glob_t models;
    int n_wrong = 0;
    (void)state;
    assert_int_equal(glob("build/cases/run/fused/*.onnx", 0, NULL, &models), 0);
    for (size_t i = 0; i < models.gl_pathc; i++) {
        char path[256];
        size_t length = strlen(models.gl_pathv[i]) - strlen(".onnx");
        snprintf(path, sizeof path, "%.*s.txt", (int)length, models.gl_pathv[i]);
        char *text = fused_text(models.gl_pathv[i]), *expected = read_text(path);
        if (getenv("FUSE_UPDATE") != NULL) {
            write_text(path, text);
        } else if (strcmp(text, expected) != 0) {
            print_message("%s:\n%s", path, text);
            n_wrong++;
        }
        free(text);
        free(expected);
    }
    globfree(&models);
    assert_int_equal(n_wrong, 0);
}

/* ---- fused ----------------------------------------------------------------------------------- */

/*
 * Sessions that compute nodes together give what strict ones give: on every model in models/ and
 * tests/ but those that are there to use up memory or time. Float16 and bfloat16 are held to what
 * conversions to them are held to, for what lies between nodes is not rounded.
 */

enum { MAX_OPEN = 16, SYMBOL_SIZE = 3 };

/* The second is made so that even the order of float32 sums can be seen. */
static const char *const left_out[] = {"build/cases/robust/", "models/digits_pedestal.onnx"};

static size_t n_agreed, n_refused, n_failed;

struct results {
    struct amp_error err;
    struct amp_tensor *outputs;
    size_t n_outputs;
};

/* Random values for the inputs of MODEL, which need no initializer; false: it takes others. */
static bool make_inputs(const struct amp_model_file *file, struct amp_tensor *inputs)
{
    const struct amp_model *model = file->model;
    struct amp_error err = {.status = AMP_OK};
    int64_t *sizes = amp_arena_array(file->arena, model->n_symbols, sizeof *sizes);
    for (size_t i = 0; i < model->n_symbols; i++)
        sizes[i] = SYMBOL_SIZE;
    for (size_t i = 0; i < model->graphs[0].inputs.count; i++) {
        uint32_t value = model->graphs[0].inputs.items[i];
        struct amp_random_input plan;
        if (amp_value_at(model, value)->constant == NULL &&
            (amp_random_input_plan(model, value, sizes, &plan, &err) != AMP_OK ||
             amp_random_input_make(&plan, 0, 0, &inputs[i], &err) != AMP_OK))
            return false;
    }
    return true;
}

static void run(const struct amp_model *model, bool is_strict, const struct amp_tensor *inputs,
                struct results *results)
{
    struct amp_session *session = NULL;
    results->n_outputs = model->graphs[0].outputs.count;
    results->outputs = amp_xcalloc(results->n_outputs + 1, sizeof *results->outputs);
    if (amp_session_open(model, is_strict, &session, &results->err) == AMP_OK)
        AMP_IGNORE(amp_session_run(session, inputs, results->outputs, &results->err));
    amp_session_destroy(session);
}

/* The lower dtype that MODEL computes in; float32: none. */
static enum amp_dtype lower_dtype(const struct amp_model *model)
{
    enum amp_dtype lower = AMP_FLOAT;
    for (uint32_t v = 0; v < model->n_values; v++) {
        enum amp_dtype dtype = amp_value_at(model, v)->dtype;
        if (dtype == AMP_BFLOAT16 || (dtype == AMP_FLOAT16 && lower == AMP_FLOAT))
            lower = dtype;
    }
    return lower;
}

static enum amp_status compare(const struct amp_tensor *fused, const struct amp_tensor *strict,
                               enum amp_dtype lower, struct amp_error *err)
{
    struct amp_metrics metrics = {.is_float = false};
    struct amp_metric_bounds bounds = amp_metric_bounds_default(lower);
    enum amp_status status =
        amp_tensor_compare(fused, strict, amp_tolerance_of(strict->dtype), err);
    if (status == AMP_OK || lower == AMP_FLOAT)
        return status;
    *err = (struct amp_error){.status = AMP_OK};
    AMP_TRY(amp_metrics_add(&metrics, strict, fused, err));
    return amp_metric_bounds_check(&bounds, &metrics, err);
}

static void compare_all(const struct amp_model *model, const struct results *fused,
                        const struct results *strict, const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    if (fused->err.status != strict->err.status || strcmp(fused->err.text, strict->err.text) != 0) {
        print_error("%s: fused: %s; strict: %s\n", path, fused->err.text, strict->err.text);
        n_failed++;
        return;
    }
    if (strict->err.status != AMP_OK) {
        n_refused++;
        return;
    }
    for (size_t i = 0; i < strict->n_outputs; i++)
        if (compare(&fused->outputs[i], &strict->outputs[i], lower_dtype(model), &err) != AMP_OK) {
            print_error("%s: output %zu: %s\n", path, i, err.text);
            n_failed++;
            return;
        }
    n_agreed++;
}

static void run_both(const struct amp_model_file *file, const char *path)
{
    size_t n_inputs = file->model->graphs[0].inputs.count;
    struct amp_tensor *inputs = amp_xcalloc(n_inputs + 1, sizeof *inputs);
    struct results results[2] = {{.outputs = NULL}, {.outputs = NULL}};
    if (make_inputs(file, inputs)) {
        for (int is_strict = 0; is_strict < 2; is_strict++)
            run(file->model, is_strict != 0, inputs, &results[is_strict]);
        compare_all(file->model, &results[0], &results[1], path);
    } else {
        n_refused++;
    }
    for (int i = 0; i < 2; i++) {
        amp_tensors_release(results[i].outputs, results[i].n_outputs);
        free(results[i].outputs);
    }
    amp_tensors_release(inputs, n_inputs);
    free(inputs);
}

static int visit(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    const char *dot = strrchr(path, '.');
    (void)info;
    (void)walk;
    if (type != FTW_F || dot == NULL || strcmp(dot, ".onnx") != 0)
        return 0;
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strncmp(path, left_out[i], strlen(left_out[i])) == 0)
            return 0;
    if (amp_model_read(path, &file, &err) != AMP_OK) {
        n_refused++;
        return 0;
    }
    if (amp_infer(file.model, &err) == AMP_OK)
        run_both(&file, path);
    else
        n_refused++;
    amp_model_close(&file);
    return 0;
}

static void fused_and_strict_agree(void **state)
{
    (void)state;
    assert_int_equal(nftw("models", visit, MAX_OPEN, FTW_PHYS), 0);
    assert_int_equal(nftw("build/cases", visit, MAX_OPEN, FTW_PHYS), 0);
    print_message("# %zu models agree, %zu are refused both ways\n", n_agreed, n_refused);
    assert_int_equal(n_failed, 0);
    assert_int_equal(amp_memory_used(), 0);
    assert_true(n_agreed > n_refused);
}

/* ---- rewrite --------------------------------------------------------------------------------- */

/* What may not be done together: graphs that amp_composites_fuse leaves as they are, beside ones
   like them that it does not. By ONNX's definitions of the operators and of their versions. */

/* The operators of the model as it would run, in order: "Conv Add". */
static const char *fused(void)
{
    static char text[512];
    infer_all();
    size_t n_integer;
    struct amp_model *model = amp_composites_fuse(net.model, net.arena, &n_integer);
    assert_int_equal(amp_graph_check(model, &net.err), AMP_OK);
    text[0] = '\0';
    for (size_t i = 0; i < model->graphs[0].nodes.count; i++) {
        const struct amp_node *node = amp_node_at(model, model->graphs[0].nodes.items[i]);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", node->op_type);
    }
    return text;
}

/* ---- composites ---- */

/* LayerNormalization over the last axis with a scale of the given shape, taken apart. */
static void layer_norm(struct amp_shape of_scale, enum amp_dtype of_x)
{
    static const float ones[4] = {1, 1, 1, 1}, small = 1e-5f, two = 2;
    net_start(17);
    uint32_t x = input("x", of_x, DIMS(3, 4));
    uint32_t m = NODE("ReduceMean", "m", x);
    SET_INTS(m, "axes", -1);
    uint32_t d = NODE("Sub", "d", x, m);
    uint32_t p = NODE("Pow", "p", d, constant("two", AMP_FLOAT, SCALAR, &two));
    uint32_t v = NODE("ReduceMean", "v", p);
    SET_INTS(v, "axes", -1);
    uint32_t s = NODE("Sqrt", "s", NODE("Add", "a", v, constant("e", AMP_FLOAT, SCALAR, &small)));
    uint32_t n = NODE("Div", "n", d, s);
    output(NODE("Mul", "y", n, constant("g", AMP_FLOAT, of_scale, ones)));
}

static void a_normalization_takes_a_vector_for_its_scale(void **state)
{
    static const char apart[] = "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul";
    (void)state;
    layer_norm(DIMS(4), AMP_FLOAT);
    assert_string_equal(fused(), "LayerNormalization");
    layer_norm(DIMS(1, 4), AMP_FLOAT);
    assert_string_equal(fused(), apart);
    layer_norm(SCALAR, AMP_FLOAT);
    assert_string_equal(fused(), apart);
}

/* ---- what comes after a linear operator ---- */

static const float halves[16] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f,
                                 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};

/* A Conv of two channels at OPSET. */
static uint32_t conv(int opset)
{
    net_start(opset);
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, 2, 3, 3));
    return NODE("Conv", "c", x, constant("w", AMP_FLOAT, DIMS(2, 2, 1, 1), halves));
}

static uint32_t vector(const char *name)
{
    return constant(name, AMP_FLOAT, DIMS(2), halves);
}

static void a_normalization_in_training_stays(void **state)
{
    (void)state;
    for (int training = 0; training < 2; training++) {
        uint32_t c = conv(15);
        uint32_t y =
            NODE("BatchNormalization", "y", c, vector("s"), vector("b"), vector("m"), vector("v"));
        set_int(y, "training_mode", training);
        output(y);
        assert_string_equal(fused(), training ? "Conv BatchNormalization" : "Conv");
    }
    /* Before version 14 its outputs say that it trains. */
    for (uint32_t n_outputs = 1; n_outputs < 6; n_outputs += 4) {
        uint32_t c = conv(9);
        output(net_out(net_node(0, "BatchNormalization", "y", n_outputs,
                                IDS(c, vector("s"), vector("b"), vector("m"), vector("v"))),
                       0));
        assert_string_equal(fused(), n_outputs > 1 ? "Conv BatchNormalization" : "Conv");
    }
}

/* Up to version 6 operands are of one shape unless an attribute lines them up. */
static void sums_of_before_version_7_stay(void **state)
{
    (void)state;
    uint32_t c = conv(7);
    output(NODE("Add", "y", c, constant("b", AMP_FLOAT, DIMS(2, 1, 1), halves)));
    assert_string_equal(fused(), "Conv");
    c = conv(6);
    uint32_t y = NODE("Add", "y", c, constant("b", AMP_FLOAT, DIMS(1), halves));
    set_int(y, "broadcast", 1);
    output(y);
    assert_string_equal(fused(), "Conv Add");
}

/* ---- chains ---------------------------------------------------------------------------------- */

enum { WIDTH = 64 };

/* tanh(x w) in bfloat16, of ROWS rows, which is read twice, and so no further. */
static void two_readers_of_a_chain(int rows)
{
    float weights[WIDTH * WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++)
        weights[i] = (float)(i * 7 % 13 - 6) / 32;
    net_start(17);
    uint32_t x = NODE("Cast", "low", input("x", AMP_FLOAT, DIMS(rows, WIDTH)));
    uint32_t w = NODE("Cast", "w", constant("weights", AMP_FLOAT, DIMS(WIDTH, WIDTH), weights));
    set_int(x, "to", AMP_BFLOAT16);
    set_int(w, "to", AMP_BFLOAT16);
    uint32_t chain = NODE("Tanh", "chain", NODE("MatMul", "product", x, w));
    uint32_t y = NODE("Cast", "y", chain), z = NODE("Cast", "z", NODE("Neg", "n", chain));
    set_int(y, "to", AMP_FLOAT);
    set_int(z, "to", AMP_FLOAT);
    output(y);
    output(z);
    infer_all();
}

static void expect_rounded(const struct amp_tensor *tensor)
{
    float rounded[3 * WIDTH];
    size_t size = amp_tensor_size(tensor);
    assert_in_range(size, 1, sizeof rounded);
    memcpy(rounded, tensor->data, size);
    amp_dtype_round(AMP_BFLOAT16, rounded, size / sizeof *rounded);
    assert_memory_equal(rounded, tensor->data, size);
}

/* A CPU without the dtype computes it in float32: what others read is rounded all the same, if the
   kernel does the chain or each node has its own. */
static void the_end_of_a_chain_is_rounded(void **state)
{
    float x[3 * WIDTH];
    (void)state;
    for (int i = 0; i < 3 * WIDTH; i++)
        x[i] = (float)(i * 5 % 17 - 8) / 8;
    for (int rows = 1; rows <= 3; rows += 2) {
        struct amp_session *session = NULL;
        two_readers_of_a_chain(rows);
        const struct amp_tensor *in = net_tensor(AMP_FLOAT, DIMS(rows, WIDTH), x);
        assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
        for (int run = 0; run < 3; run++) {
            amp_tensors_release(net.outputs, NET_OUTPUTS);
            assert_int_equal(amp_session_run(session, in, net.outputs, &net.err), AMP_OK);
            expect_rounded(&net.outputs[0]);
            expect_rounded(&net.outputs[1]);
        }
        amp_session_destroy(session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_as_written),
        cmocka_unit_test(fused_and_strict_agree),
        NET_TEST(a_normalization_takes_a_vector_for_its_scale),
        NET_TEST(a_normalization_in_training_stays),
        NET_TEST(sums_of_before_version_7_stay),
        NET_TEST(the_end_of_a_chain_is_rounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
