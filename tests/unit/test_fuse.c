/* The graph that runs where nodes run together: its steps, its results, and what stays as it is. */
#include "check/compare.h"
#include "check/metric_bounds.h"
#include "check/random_input.h"
#include "core/array.h"
#include "core/buffer.h"
#include "core/convert.h"
#include "core/cpu.h"
#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "core/memory.h"
#include "net.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "ops/dnnl/profile.h"
#include "ops/matmul/row_product.h"
#include "run/exec/session.h"
#include "run/exec/state.h"
#include "run/plan/plan.h"
#include "run/plan/step.h"
#include "run/rewrite/fuse_composites.h"

#include <dnnl.h>
#include <ftw.h>
#include <glob.h>
#include <math.h>
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

/* The mean over the last N_AXES axes, which are an input from opset 18 on. */
static uint32_t mean_over(int64_t n_axes, int opset, const char *name, uint32_t x)
{
    static const int64_t axes[] = {-2, -1};
    uint32_t last =
        opset < 18 ? AMP_NONE : constant("axes", AMP_INT64, DIMS(n_axes), axes + 2 - n_axes);
    uint32_t y = opset < 18 ? NODE("ReduceMean", name, x) : NODE("ReduceMean", name, x, last);
    if (opset < 18)
        set_list(y, "axes", (size_t)n_axes, axes + 2 - n_axes);
    return y;
}

/* LayerNormalization over the last axes with a scale of the given shape, taken apart. */
static void layer_norm_of(int64_t n_axes, int opset, struct amp_shape of_scale, enum amp_dtype of_x)
{
    static const float ones[4] = {1, 1, 1, 1}, small = 1e-5f, two = 2;
    net_start(opset);
    uint32_t x = input("x", of_x, DIMS(3, 4));
    uint32_t d = NODE("Sub", "d", x, mean_over(n_axes, opset, "m", x));
    uint32_t p = NODE("Pow", "p", d, constant("two", AMP_FLOAT, SCALAR, &two));
    uint32_t v = mean_over(n_axes, opset, "v", p);
    uint32_t s = NODE("Sqrt", "s", NODE("Add", "a", v, constant("e", AMP_FLOAT, SCALAR, &small)));
    uint32_t n = NODE("Div", "n", d, s);
    output(NODE("Mul", "y", n, constant("g", AMP_FLOAT, of_scale, ones)));
}

static void layer_norm(struct amp_shape of_scale, enum amp_dtype of_x)
{
    layer_norm_of(1, 17, of_scale, of_x);
}

static const char apart[] = "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul";

/* The kernel has statistics over one axis, whichever way that is said. */
static void a_normalization_goes_over_the_last_axis(void **state)
{
    (void)state;
    for (int opset = 17; opset <= 18; opset++)
        for (int64_t n_axes = 1; n_axes <= 2; n_axes++) {
            layer_norm_of(n_axes, opset, DIMS(4), AMP_FLOAT);
            assert_string_equal(fused(), n_axes == 1 ? "LayerNormalization" : apart);
        }
}

static void a_normalization_takes_a_vector_for_its_scale(void **state)
{
    (void)state;
    layer_norm(DIMS(4), AMP_FLOAT);
    assert_string_equal(fused(), "LayerNormalization");
    layer_norm(DIMS(1, 4), AMP_FLOAT);
    assert_string_equal(fused(), apart);
    layer_norm(SCALAR, AMP_FLOAT);
    assert_string_equal(fused(), apart);
}

/* A number that is constant, of no dims. */
static uint32_t number_of(float number)
{
    return constant(amp_model_unique_name(net.model, "number"), AMP_FLOAT, SCALAR, &number);
}

/* The one node that what gives Y has become, which has N_INPUTS. */
static const struct amp_node *become_one(uint32_t y, const char *op_type, uint32_t n_inputs)
{
    size_t n_integer;
    output(y);
    infer_all();
    struct amp_model *model = amp_composites_fuse(net.model, net.arena, &n_integer);
    assert_int_equal(model->graphs[0].nodes.count, 1);
    const struct amp_node *node = amp_node_at(model, model->graphs[0].nodes.items[0]);
    assert_string_equal(node->op_type, op_type);
    assert_int_equal(node->n_inputs, n_inputs);
    for (uint32_t i = 0; i < n_inputs; i++)
        assert_int_not_equal(node->inputs[i], AMP_NONE);
    return node;
}

static uint32_t start_activation(void)
{
    net_start(22);
    return input("x", AMP_FLOAT, DIMS(3, 4));
}

/* By their definitions in ONNX, taken apart: each has the inputs and attributes that it is of. */
static void activations_become_what_they_are(void **state)
{
    (void)state;
    uint32_t x = start_activation();
    uint32_t e = NODE("Add", "a", NODE("Erf", "e", NODE("Div", "d", x, number_of(1.41421356f))),
                      number_of(1));
    const struct amp_node *node =
        become_one(NODE("Mul", "y", NODE("Mul", "m", x, e), number_of(0.5f)), "Gelu", 1);
    assert_string_equal(amp_node_string(node, "approximate", "none"), "none");
    x = start_activation();
    uint32_t cube = NODE("Mul", "f", NODE("Pow", "c", x, number_of(3)), number_of(0.044715f));
    uint32_t i = NODE("Mul", "i", NODE("Add", "s", x, cube), number_of(0.79788456f));
    uint32_t t = NODE("Add", "a", NODE("Tanh", "t", i), number_of(1));
    node = become_one(NODE("Mul", "y", NODE("Mul", "m", x, t), number_of(0.5f)), "Gelu", 1);
    assert_string_equal(amp_node_string(node, "approximate", "none"), "tanh");
    x = start_activation();
    uint32_t h = NODE("HardSigmoid", "h", x);
    set_number(h, "alpha", 0.16666667f);
    set_number(h, "beta", 0.5f);
    become_one(NODE("Mul", "y", x, h), "HardSwish", 1);
    x = start_activation();
    become_one(NODE("Mul", "y", x, NODE("Tanh", "t", NODE("Softplus", "s", x))), "Mish", 1);
    for (uint32_t n = 1; n <= 3; n++) {
        x = start_activation();
        const uint32_t terms[] = {x, input("b", AMP_FLOAT, DIMS(3, 4)),
                                  input("c", AMP_FLOAT, DIMS(3, 4))};
        become_one(net_out(net_node(0, "Sum", "y", 1, terms, n), 0), n == 2 ? "Add" : "Sum", n);
    }
}

/* A normalization has its scale, its bias if there is one, and its epsilon; without a scale it
   stays apart. */
static void normalizations_have_scales(void **state)
{
    static const float ones[4] = {1, 1, 1, 1};
    (void)state;
    for (int i = 0; i < 5; i++) {
        bool has_scale = i != 0, has_bias = i >= 2;
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(3, 4));
        uint32_t d = NODE("Sub", "d", x, mean_over(1, 17, "m", x));
        uint32_t v = mean_over(1, 17, "v", NODE("Pow", "p", d, number_of(2)));
        uint32_t y = NODE("Div", "n", d, NODE("Sqrt", "s", NODE("Add", "e", v, number_of(1e-4f))));
        if (has_scale)
            y = NODE("Mul", "y", y, constant("g", AMP_FLOAT, DIMS(4), ones));
        if (has_bias)
            y = NODE("Add", "z", y,
                     i == 2   ? constant("b", AMP_FLOAT, DIMS(4), ones)
                     : i == 3 ? input("b", AMP_FLOAT, DIMS(4))
                              : input("b", AMP_FLOAT, DIMS(3, 4)));
        if (!has_scale || i >= 3) { /* what is added is no constant, or no vector */
            output(y);
            assert_string_equal(fused(), i == 0 ? "ReduceMean Sub Pow ReduceMean Add Sqrt Div"
                                                : "LayerNormalization Add");
            continue;
        }
        const struct amp_node *node = become_one(y, "LayerNormalization", 2 + (uint32_t)has_bias);
        assert_true(amp_node_float(node, "epsilon", 0) == 1e-4f);
    }
}

/* ---- factors ---- */

/* A factor of as many dims as what it multiplies goes behind a product that has as many. */
static void a_factor_adds_no_dims(void **state)
{
    static const float two = 2;
    static const struct {
        struct amp_shape factor, other;
        const char *expected;
    } cases[] = {
        {{2, {1, 1}}, {2, {4, 2}}, "MatMul Mul"},    {{2, {1, 1}}, {1, {4}}, "Mul MatMul"},
        {{1, {1}}, {3, {5, 4, 2}}, "MatMul Mul"},    {{0, {0}}, {2, {4, 2}}, "MatMul Mul"},
        {{3, {1, 1, 1}}, {2, {4, 2}}, "Mul MatMul"}, {{2, {3, 1}}, {2, {4, 2}}, "Mul MatMul"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_first = 0; is_first < 2; is_first++) {
            static const float three[3] = {2, 2, 2};
            net_start(17);
            uint32_t x = input("x", AMP_FLOAT, DIMS(3, 4));
            uint32_t f = constant("f", AMP_FLOAT, cases[i].factor,
                                  amp_shape_count(&cases[i].factor) == 1 ? &two : three);
            uint32_t m = is_first ? NODE("Mul", "m", f, x) : NODE("Mul", "m", x, f);
            output(NODE("MatMul", "y", m, input("o", AMP_FLOAT, cases[i].other)));
            assert_string_equal(fused(), cases[i].expected);
        }
    /* A vector has no rows that a product could have its factor from. */
    net_start(17);
    uint32_t m =
        NODE("Mul", "m", input("x", AMP_FLOAT, DIMS(4)), constant("f", AMP_FLOAT, SCALAR, &two));
    output(NODE("MatMul", "y", m, input("o", AMP_FLOAT, DIMS(4, 2))));
    assert_string_equal(fused(), "Mul MatMul");
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

/* What is omitted is not there. */
static void a_scale_goes_into_a_layer_without_a_bias(void **state)
{
    (void)state;
    for (int is_omitted = 0; is_omitted < 2; is_omitted++) {
        net_start(13);
        uint32_t x = input("x", AMP_FLOAT, DIMS(1, 2, 3, 3));
        uint32_t w = constant("w", AMP_FLOAT, DIMS(2, 2, 1, 1), halves);
        uint32_t c = is_omitted ? NODE("Conv", "c", x, w, AMP_NONE) : NODE("Conv", "c", x, w);
        output(NODE("Mul", "y", c, constant("s", AMP_FLOAT, DIMS(2, 1, 1), halves)));
        assert_string_equal(fused(), "Conv");
        net_start(13);
        x = input("x", AMP_FLOAT, DIMS(3, 2));
        w = constant("w", AMP_FLOAT, DIMS(2, 2), halves);
        c = is_omitted ? NODE("Gemm", "c", x, w, AMP_NONE) : NODE("Gemm", "c", x, w);
        output(NODE("Mul", "y", c, vector("s")));
        assert_string_equal(fused(), "Gemm");
    }
}

/* A normalization goes where all that it has is constant; and a sum alone into no product that has
   none. A constant may still have to be converted. */
static void scales_are_constants(void **state)
{
    static const uint16_t low[] = {0x4000, 0xBF80}; /* bfloat16 2, -1 */
    static const struct amp_tensor source = {
        .dtype = AMP_BFLOAT16, .shape = {3, {2, 1, 1}}, .data = (void *)(uintptr_t)low};
    static const float x[18] = {1, 2, 3};
    (void)state;
    for (int given = 0; given < 5; given++) {
        static const char *const names[] = {"s", "b", "m", "v"};
        uint32_t c = conv(15), parts[4];
        for (int i = 0; i < 4; i++)
            parts[i] = given == i + 1 ? input(names[i], AMP_FLOAT, DIMS(2)) : vector(names[i]);
        output(NODE("BatchNormalization", "y", c, parts[0], parts[1], parts[2], parts[3]));
        assert_string_equal(fused(), given == 0 ? "Conv" : "Conv BatchNormalization");
    }
    for (int is_difference = 0; is_difference < 2; is_difference++) {
        static const char *const ops[] = {"Add", "Sub"}, *const expected[] = {"MatMul Add",
                                                                              "MatMul Sub"};
        net_start(17);
        uint32_t m = NODE("MatMul", "m", input("x", AMP_FLOAT, DIMS(3, 2)),
                          constant("w", AMP_FLOAT, DIMS(2, 2), halves));
        output(NODE(ops[is_difference], "y", m, vector("b")));
        assert_string_equal(fused(), expected[is_difference]);
    }
    uint32_t c = conv(17);
    struct amp_tensor *late = net_tensor(AMP_FLOAT, DIMS(2, 1, 1), halves);
    late->data = NULL;
    late->source = &source;
    output(NODE("Mul", "y", c, amp_graph_add_initializer(net.model, 0, "late", late)));
    assert_string_equal(fused(), "Conv");
    assert_int_equal(net_run(false, net_tensor(AMP_FLOAT, DIMS(1, 2, 3, 3), x)), AMP_OK);
    EXPECT_OUTPUT(0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, -0.5, -1, -1.5, 0, 0, 0, 0, 0, 0);
}

/* An operator that nobody knows is none that scales. */
static void what_is_not_known_does_not_scale(void **state)
{
    size_t n_integer;
    (void)state;
    uint32_t c = conv(13), y = NODE("Mul", "y", c, constant("s", AMP_FLOAT, DIMS(2, 1, 1), halves));
    output(y);
    infer_all();
    amp_node_at(net.model, node_of(y))->op_type = "Nothing";
    amp_node_at(net.model, node_of(y))->domain = "of.nobody";
    struct amp_model *model = amp_composites_fuse(net.model, net.arena, &n_integer);
    assert_int_equal(model->graphs[0].nodes.count, 2);
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

/* ---- scales by channel ---- */

/* Linear operators with weights of 2 channels where the other dims are 2 as well, so that only the
   place of a dim says what it is of. */
enum scaled {
    SCALED_CONV,
    SCALED_DECONV,
    SCALED_PARTS,
    SCALED_GEMM,
    SCALED_FLIPPED,
    SCALED_ROW,
    SCALED_MATMUL,
    SCALED_MATMULS,
    SCALED
};

static struct amp_shape scaled_shape;
static const float scaled_weights[] = {1, 2, -3, 0.5f, 0.25f, -1, 4, 3};
static const float scaled_input[] = {1, 2, 3, -4, 5, -6, 0.5f, 0.25f};

/* The operator's result of RANK dims, whose dim AXIS are the channels. */
static uint32_t scaled_result(enum scaled kind, int *rank, int *axis)
{
    bool is_image = kind <= SCALED_PARTS, is_gemm = kind == SCALED_GEMM || kind == SCALED_FLIPPED;
    net_start(17);
    *rank = is_image ? 4 : kind == SCALED_ROW ? 1 : kind == SCALED_MATMULS ? 3 : 2;
    *axis = is_image ? 1 : *rank - 1;
    scaled_shape = is_image     ? DIMS(1, 2, 2, 2)
                   : *rank == 1 ? DIMS(2)
                   : *rank == 3 ? DIMS(2, 2, 2)
                                : DIMS(2, 2);
    struct amp_shape of_weights = !is_image              ? DIMS(2, 2)
                                  : kind == SCALED_PARTS ? DIMS(2, 1, 1, 1)
                                                         : DIMS(2, 2, 1, 1);
    uint32_t x = input("x", AMP_FLOAT, scaled_shape);
    uint32_t w = constant("w", AMP_FLOAT, of_weights, scaled_weights);
    uint32_t y = NODE(kind == SCALED_CONV ? "Conv"
                      : is_image          ? "ConvTranspose"
                      : is_gemm           ? "Gemm"
                                          : "MatMul",
                      "l", x, w);
    if (kind == SCALED_PARTS)
        set_int(y, "group", 2);
    if (kind == SCALED_FLIPPED)
        set_int(y, "transB", 1);
    if (is_gemm)
        set_number(y, "alpha", 0.5f);
    return y;
}

/* Both ways of running the model give the same. */
static void expect_as_strict(const char *what)
{
    struct amp_error err = {.status = AMP_OK};
    struct results found[2];
    const struct amp_tensor x = {
        .dtype = AMP_FLOAT, .shape = scaled_shape, .data = (void *)(uintptr_t)scaled_input};
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        found[is_strict] = (struct results){.outputs = NULL};
        run(net.model, is_strict != 0, &x, &found[is_strict]);
        assert_int_equal(found[is_strict].err.status, AMP_OK);
    }
    if (compare(&found[0].outputs[0], &found[1].outputs[0], AMP_FLOAT, &err) != AMP_OK)
        fail_msg("%s: %s", what, err.text);
    for (int i = 0; i < 2; i++) {
        amp_tensors_release(found[i].outputs, found[i].n_outputs);
        free(found[i].outputs);
    }
}

/* What follows is made part of the operator where its constant is one, or one for each channel, and
   only there: constants of all shapes, on either side, in all operators that scale and shift. */
static void scales_go_in_by_channel_alone(void **state)
{
    static const char *const ops[] = {"Add", "Sub", "Mul", "Div"};
    static const float numbers[32] = {2,  -0.5f, 4,  0.25f, 8,  -1, 0.5f, 2,  -4, 1, 2,
                                      -2, 0.5f,  16, 0.25f, -8, 2,  4,    -1, 1,  2, 4,
                                      8,  -2,    -4, 0.5f,  2,  1,  -1,   4,  2,  8};
    (void)state;
    for (int kind = 0; kind < SCALED; kind++)
        for (int op = 0; op < 4; op++)
            for (int slot = 0; slot < 2; slot++)
                for (int bits = 1; bits < 64; bits++) {
                    /* the dims behind the first bit: 1 or 2 */
                    struct amp_shape shape = {.rank = 31 - __builtin_clz((unsigned)bits)};
                    int rank, axis, wide = 0;
                    uint32_t l = scaled_result((enum scaled)kind, &rank, &axis);
                    if (shape.rank > rank + 1)
                        continue;
                    for (int d = 0; d < shape.rank; d++) {
                        shape.dims[d] = bits >> d & 1 ? 2 : 1;
                        wide += shape.dims[d] > 1 && rank - shape.rank + d != axis;
                    }
                    bool folds = shape.rank <= rank && wide == 0 && (op < 3 || slot == 0);
                    bool adds = op < 2;
                    bool has_bias = kind < SCALED_ROW;
                    uint32_t c = constant("c", AMP_FLOAT, shape, numbers);
                    output(slot == 0 ? NODE(ops[op], "y", l, c) : NODE(ops[op], "y", c, l));
                    char what[80];
                    snprintf(what, sizeof what, "operator %d, %s, slot %d, dims %d", kind, ops[op],
                             slot, bits);
                    bool is_one = strchr(fused(), ' ') == NULL;
                    bool stays = !has_bias && adds; /* as a sum behind the product */
                    if (is_one != (folds && !stays))
                        fail_msg("%s: %s", what, fused());
                    if (folds)
                        expect_as_strict(what);
                }
}

/* Y behind a Gemm of DTYPE with two channels and weights W, 3 rows of 2. */
static uint32_t small_gemm(enum amp_dtype dtype, float w)
{
    const float floats[] = {w, w, w, w};
    uint16_t halves_of_w[4];
    double doubles[] = {(double)w, (double)w, (double)w, (double)w};
    amp_dtype_convert(AMP_FLOAT, floats, AMP_FLOAT16, halves_of_w, 4);
    net_start(17);
    scaled_shape = DIMS(3, 2);
    return NODE("Gemm", "l", input("x", dtype, DIMS(3, 2)),
                constant("w", dtype, DIMS(2, 2),
                         dtype == AMP_FLOAT16  ? (const void *)halves_of_w
                         : dtype == AMP_DOUBLE ? (const void *)doubles
                                               : floats));
}

static uint32_t pair_of(enum amp_dtype dtype, float a, float b)
{
    const float floats[] = {a, b};
    uint16_t both[2];
    double doubles[] = {(double)a, (double)b};
    amp_dtype_convert(AMP_FLOAT, floats, AMP_FLOAT16, both, 2);
    return constant(amp_model_unique_name(net.model, "c"), dtype, DIMS(2),
                    dtype == AMP_FLOAT16  ? (const void *)both
                    : dtype == AMP_DOUBLE ? (const void *)doubles
                                          : floats);
}

/* As many as eight, and what is left stands behind. */
static void chains_have_an_end(void **state)
{
    (void)state;
    for (int n = 0; n <= 10; n++) {
        char expected[80] = "Gemm";
        uint32_t y = small_gemm(AMP_FLOAT, 0.5f);
        for (int i = 0; i < n; i++) {
            y = NODE("Mul", "y", y, pair_of(AMP_FLOAT, 2, i % 2 == 0 ? -1 : 0.5f));
            if (i >= 8)
                strcat(expected, " Mul");
        }
        output(y);
        assert_string_equal(fused(), expected);
        expect_as_strict("a chain");
    }
}

/* Factors and sums that are no numbers, or that the dtype has no room for, stay where they are. */
static void numbers_without_room_stay_outside(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        float w;
        const char *op_type;
        float a, b;
        bool goes;
    } cases[] = {
        {AMP_FLOAT, 1, "Mul", 2, 3, true},
        {AMP_FLOAT, 1, "Mul", 0, 0, true},
        {AMP_FLOAT, 1, "Mul", 2, INFINITY, false},
        {AMP_FLOAT, 1, "Mul", NAN, 3, false},
        {AMP_FLOAT, 1, "Div", 1, 0, false},
        {AMP_FLOAT, 1, "Div", INFINITY, 1, true}, /* a factor of 0 */
        {AMP_FLOAT, 1, "Add", 2, 3, true},
        {AMP_FLOAT, 1, "Add", INFINITY, 3, false},
        {AMP_FLOAT, 1, "Add", 2, NAN, false},
        {AMP_FLOAT, 3e38f, "Mul", 1, 2, false},
        {AMP_FLOAT, 3e38f, "Mul", 1, 0.5f, true},
        {AMP_FLOAT, 1e-38f, "Mul", 1e-6f, 1, false},
        {AMP_FLOAT16, 1, "Mul", 2, 3, true},
        {AMP_FLOAT16, 40000, "Mul", 1, 2, false},
        {AMP_FLOAT16, 30000, "Mul", 1, 2, true},
        {AMP_FLOAT16, 1e-4f, "Mul", 0.01f, 1, false},
        {AMP_FLOAT16, 1, "Mul", 0.01f, 1, true},
        {AMP_FLOAT16, 1, "Add", 60000, 1, true},
        {AMP_DOUBLE, 1, "Mul", 2, 3, false}, /* only what is added by oneDNN */
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(cases); i++) {
        char expected[20] = "Gemm";
        uint32_t y = small_gemm(cases[i].dtype, cases[i].w);
        output(NODE(cases[i].op_type, "y", y, pair_of(cases[i].dtype, cases[i].a, cases[i].b)));
        if (!cases[i].goes)
            snprintf(expected, sizeof expected, "Gemm %s", cases[i].op_type);
        if (strcmp(fused(), expected) != 0)
            fail_msg("case %zu: %s", i, fused());
    }
    for (int is_large = 0; is_large < 2; is_large++) { /* a sum that only both have no room for */
        uint32_t y = small_gemm(AMP_FLOAT16, 1);
        for (int i = 0; i < 2; i++)
            y = NODE("Add", "y", y, pair_of(AMP_FLOAT16, 1, is_large ? 40000 : 20000));
        output(y);
        assert_string_equal(fused(), is_large ? "Gemm Add Add" : "Gemm");
    }
}

/* What a Gemm adds is of one row or of as many as the result has, of one column or of all; its
   factors go into what comes of it. What is no constant stays what it is. */
static void sums_of_all_shapes_are_scaled(void **state)
{
    static const struct amp_shape shapes[] = {{0, {0}},    {1, {1}},    {1, {2}},   {2, {1, 1}},
                                              {2, {1, 2}}, {2, {3, 1}}, {2, {3, 2}}};
    static const float numbers_of_c[] = {1, -2, 3, 4, -5, 6}, weights[] = {1, 2, 3, 4};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(shapes); i++)
        for (int way = 0; way < 32; way++) {
            bool is_given = (way & 8) != 0, has_sum = (way & 16) != 0;
            net_start(17);
            scaled_shape = DIMS(3, 2);
            uint32_t x = input("x", AMP_FLOAT, DIMS(3, 2));
            uint32_t w = constant("w", AMP_FLOAT, DIMS(2, 2), weights);
            uint32_t c = is_given ? input("c", AMP_FLOAT, shapes[i])
                                  : constant("c", AMP_FLOAT, shapes[i], numbers_of_c);
            uint32_t l = NODE("Gemm", "l", x, w, c);
            if ((way & 1) != 0)
                set_number(l, "alpha", 2);
            if ((way & 2) != 0)
                set_number(l, "beta", -0.5f);
            if ((way & 4) != 0)
                set_int(l, "transB", 1);
            uint32_t y = has_sum ? NODE("Sub", "y", pair_of(AMP_FLOAT, 3, 5), l) : l;
            output(NODE("Mul", "z", y, pair_of(AMP_FLOAT, 2, -4)));
            assert_string_equal(fused(), !is_given ? "Gemm"
                                         : has_sum ? "Gemm Sub Mul"
                                                   : "Gemm Mul");
            if (!is_given)
                expect_as_strict("a sum");
        }
}

/* What else reads a result, or gives it, and weights that are no constant matrix. */
static void results_that_are_read_are_not_scaled(void **state)
{
    static const float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    for (int i = 0; i < 6; i++) {
        uint32_t l = small_gemm(AMP_FLOAT, 1), y, first = l;
        if (i == 2 || i == 3) {
            net_start(17);
            uint32_t x = input("x", AMP_FLOAT, i == 2 ? DIMS(2, 3, 2) : DIMS(3, 2));
            l = NODE("MatMul", "l", x,
                     i == 2 ? constant("w", AMP_FLOAT, DIMS(2, 2, 2), weights)
                            : input("w", AMP_FLOAT, DIMS(2, 2)));
        }
        y = NODE("Mul", "y", l, pair_of(AMP_FLOAT, 2, 4));
        if (i == 4)
            y = NODE("Mul", "z", y, y); /* both operands */
        output(y);
        if (i == 0)
            output(l);
        if (i == 1)
            output(NODE("Sin", "n", first));
        if (i == 5) { /* the scale is read as well */
            net_start(17);
            scaled_shape = DIMS(3, 2);
            l = NODE("Gemm", "l", input("x", AMP_FLOAT, DIMS(3, 2)),
                     constant("w", AMP_FLOAT, DIMS(2, 2), weights));
            uint32_t s = pair_of(AMP_FLOAT, 2, 4);
            output(NODE("Mul", "y", l, s));
            output(NODE("Identity", "s", s));
        }
        static const char *const expected[] = {"Gemm Mul",   "Gemm Mul Sin", "MatMul Mul",
                                               "MatMul Mul", "Gemm Mul",     "Gemm Identity"};
        assert_string_equal(fused(), expected[i]);
    }
}

/* Channels of a normalization are dim 1, whatever the product's are. */
static void normalizations_go_into_channels_of_dim_1(void **state)
{
    static const float scale[] = {2, -1}, bias[] = {0.5f, 3}, mean[] = {1, -2}, variance[] = {4, 1};
    (void)state;
    for (int kind = 0; kind < SCALED; kind++) {
        int rank, axis;
        uint32_t l = scaled_result((enum scaled)kind, &rank, &axis);
        if (rank < 2)
            continue;
        uint32_t y =
            NODE("BatchNormalization", "y", l, constant("s", AMP_FLOAT, DIMS(2), scale),
                 constant("b", AMP_FLOAT, DIMS(2), bias), constant("m", AMP_FLOAT, DIMS(2), mean),
                 constant("v", AMP_FLOAT, DIMS(2), variance));
        output(y);
        const char *found = fused();
        bool is_gone = strstr(found, "BatchNormalization") == NULL;
        if (is_gone != (axis == 1))
            fail_msg("operator %d: %s", kind, found);
        expect_as_strict("a normalization");
    }
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

/* ---- what a plan says of speed alone --------------------------------------------------------- */

static const struct amp_plan *plan_net(enum amp_strictness strictness)
{
    const struct amp_plan *plan;
    infer_all();
    if (amp_plan_create(net.model, strictness, &plan, &net.err) != AMP_OK)
        fail_msg("%s", net.err.text);
    return plan;
}

/* The step of the main graph that gives the value called NAME. */
static const struct amp_step *step_of(const struct amp_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->graphs[0].n_steps; i++) {
        const struct amp_step *step = &plan->graphs[0].steps[i];
        uint32_t given = amp_step_output(plan->model, step);
        if (strcmp(amp_value_at(plan->model, given)->name, name) == 0)
            return step;
    }
    fail_msg("no step gives '%s'", name);
    return NULL;
}

static const struct amp_shape square = {2, {4, 4}};

/* ---- types ---- */

static void refuses_plan(enum amp_status status, const char *text)
{
    const struct amp_plan *plan = NULL;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_plan_create(net.model, AMP_ROUNDED, &plan, &err), status);
    assert_string_equal(err.text, text);
    assert_null(plan);
}

static void a_plan_is_of_known_types(void **state)
{
    static const char node[] = "net.onnx: node 0 with output 'y' (Relu-14): ";
    char text[200];
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int is_sparse = 0; is_sparse < 2; is_sparse++) {
            net_start(17);
            uint32_t x = input("x", AMP_FLOAT, square), y = NODE("Relu", "y", x);
            output(y);
            infer_all();
            struct amp_value *value = amp_value_at(net.model, i % 2 == 0 ? x : y);
            if (is_sparse)
                value->kind = AMP_KIND_SPARSE_TENSOR;
            else if (i < 2)
                value->dtype = AMP_UNDEFINED;
            else
                value->kind = AMP_KIND_UNKNOWN;
            snprintf(text, sizeof text,
                     is_sparse ? "%s'%s' is a sparse tensor; the executor has none"
                               : "%sthe type of '%s' is not known",
                     node, i % 2 == 0 ? "x" : "y");
            refuses_plan(is_sparse ? AMP_UNSUPPORTED : AMP_MODEL, text);
        }
}

/* A node is run by a kernel of its operator, of its version, that has its dtypes. */
static void a_plan_has_a_kernel_for_each_node(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, square), y = NODE("Neg", "n", NODE("Relu", "y", x));
        struct amp_node *relu = amp_node_at(net.model, 0);
        output(y);
        infer_all();
        assert_int_equal(amp_plan_find_unsupported(net.model), AMP_NONE);
        if (i == 0)
            relu->schema = NULL;
        if (i == 1 || i == 2)
            relu->op_type = "Foo";
        if (i == 2)
            relu->schema = NULL;
        if (i == 3)
            relu->since_version = 15;
        if (i == 4)
            relu->domain = "foo";
        assert_int_equal(amp_plan_find_unsupported(net.model), 0);
        refuses_plan(
            AMP_UNSUPPORTED,
            i == 0 ? "net.onnx: node 0 with output 'y' (Relu-14): the executor has no kernel for it"
            : i == 3
                ? "net.onnx: node 0 with output 'y' (Relu-15): the executor has no kernel for it"
            : i == 4
                ? "net.onnx: node 0 with output 'y' (foo.Relu-14): the executor has no kernel for "
                  "it"
                : "net.onnx: node 0 with output 'y' (Foo-14): the executor has no kernel for it");
        amp_value_at(net.model, net_out(0, 0))->constant = net_tensor(
            AMP_FLOAT, square, "0123456789012345678901234567890123456789012345678901234567890123");
        assert_int_equal(amp_plan_find_unsupported(net.model), AMP_NONE);
    }
}

/* Columns of true and false have no kernel, as inputs or as what an input that has one becomes. */
static void a_plan_has_dtypes_with_kernels(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BOOL, AMP_STRING, AMP_COMPLEX64};
    static const char *const names[] = {NULL, "bool", "string", "complex64"};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (int is_output = 0; is_output < 2; is_output++) {
            char text[200];
            net_start(18);
            uint32_t x = input("x", is_output ? AMP_FLOAT : dtypes[i], DIMS(1, 5, 5));
            uint32_t y = NODE("Col2Im", "y", x, NUMBERS("image", 5, 5), NUMBERS("block", 1, 5));
            output(y);
            infer_all();
            amp_value_at(net.model, y)->dtype = is_output ? dtypes[i] : AMP_FLOAT;
            if (names[i] == NULL) {
                amp_plan_destroy(plan_net(AMP_ROUNDED));
                assert_int_equal(amp_plan_find_unsupported(net.model), AMP_NONE);
                continue;
            }
            snprintf(
                text, sizeof text,
                "net.onnx: node 0 with output 'y' (Col2Im-18): '%s' is %s; the executor has no "
                "kernel for that",
                is_output ? "y" : "x", names[i]);
            refuses_plan(AMP_UNSUPPORTED, text);
            assert_int_equal(amp_plan_find_unsupported(net.model), 0);
        }
}

static void add_branch(uint32_t owner, const char *name, const char *op_type, uint32_t x)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    uint32_t y = net_out(net_node(graph, op_type, name, 1, IDS(x)), 0);
    if (strcmp(op_type, "Cast") == 0)
        set_int(y, "to", AMP_FLOAT);
    amp_value_at(net.model, y)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, y);
    struct amp_attr attr = {.name = name, .type = AMP_ATTR_GRAPH, .count = 1};
    attr.graphs = amp_arena_memdup(net.arena, &graph, sizeof graph);
    amp_node_set_attr(net.model, owner, attr);
}

enum reader {
    NOBODY,
    OUTSIDE,
    TRANSPOSE,
    PRODUCT,
    SOFTMAX,
    TWO_TRANSPOSES,
    TRANSPOSE_AND_SOFTMAX,
    TRANSPOSE_AND_OUTSIDE,
    BODIES,
    RELU,
    RELU_BEFORE_TRANSPOSE,
    RELU_BEFORE_SOFTMAX,
    SUM_WITH_NUMBER,
    NUMBER_IN_SUM,
    SUM_WITH_VECTOR,
    SUM_WITH_INPUT,
    SUM_WITH_ITSELF
};

static void add_sum(uint32_t a, uint32_t b)
{
    output(turn("t", NODE("Add", "sum", a, b)));
}

static void read_by(uint32_t a, enum reader reader)
{
    uint32_t owner;
    switch (reader) {
    case NOBODY:
        break;
    case OUTSIDE:
        output(a);
        break;
    case TRANSPOSE:
        output(turn("t", a));
        break;
    case PRODUCT:
        output(NODE("MatMul", "p", a, a));
        break;
    case SOFTMAX:
        output(NODE("Softmax", "s", a));
        break;
    case TWO_TRANSPOSES:
        output(turn("t", a)), output(turn("t", a));
        break;
    case TRANSPOSE_AND_SOFTMAX:
        output(turn("t", a)), output(NODE("Softmax", "s", a));
        break;
    case TRANSPOSE_AND_OUTSIDE:
        output(turn("t", a)), output(a);
        break;
    case BODIES:
        owner = net_node(0, "If", "if", 1, IDS(input("c", AMP_BOOL, SCALAR)));
        add_branch(owner, "then_branch", "Transpose", a);
        add_branch(owner, "else_branch", "Transpose", a);
        output(net_out(owner, 0));
        break;
    case RELU:
        output(NODE("Relu", "r", a));
        break;
    case RELU_BEFORE_TRANSPOSE:
        output(turn("t", NODE("Relu", "r", a)));
        break;
    case RELU_BEFORE_SOFTMAX:
        output(NODE("Softmax", "s", NODE("Relu", "r", a)));
        break;
    case SUM_WITH_NUMBER:
        add_sum(a, FLOATS("b", 1));
        break;
    case NUMBER_IN_SUM:
        add_sum(FLOATS("b", 1), a);
        break;
    case SUM_WITH_VECTOR:
        add_sum(a, FLOATS("b", 1, 2, 3, 4));
        break;
    case SUM_WITH_INPUT:
        add_sum(a, input("b", AMP_FLOAT, DIMS(1)));
        break;
    case SUM_WITH_ITSELF:
        add_sum(a, a);
        break;
    }
}

/* In any layout where nobody needs what a product gives row-major, in the order of a Transpose that
   alone reads it. */
static void a_step_may_give_what_its_readers_take(void **state)
{
    static const struct {
        enum reader reader;
        bool any_layout, has_order;
    } cases[] = {{NOBODY, false, false},
                 {OUTSIDE, false, false},
                 {TRANSPOSE, true, true},
                 {PRODUCT, true, false},
                 {SOFTMAX, false, false},
                 {TWO_TRANSPOSES, true, false},
                 {TRANSPOSE_AND_SOFTMAX, false, false},
                 {TRANSPOSE_AND_OUTSIDE, false, false},
                 {BODIES, false, false},
                 {RELU, false, false},
                 {RELU_BEFORE_TRANSPOSE, true, false},
                 {RELU_BEFORE_SOFTMAX, false, false},
                 {SUM_WITH_NUMBER, true, false},
                 {NUMBER_IN_SUM, true, false},
                 {SUM_WITH_VECTOR, false, false},
                 {SUM_WITH_INPUT, false, false},
                 {SUM_WITH_ITSELF, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, square), y = input("y", AMP_FLOAT, square);
        read_by(NODE("MatMul", "a", x, y), cases[i].reader);
        const struct amp_plan *plan = plan_net(AMP_ROUNDED);
        struct amp_layout_wish wish = step_of(plan, "a")->layout_wish;
        if (wish.any_layout != cases[i].any_layout || (wish.order != NULL) != cases[i].has_order)
            fail_msg("case %zu: any layout: %d; an order: %d", i, wish.any_layout,
                     wish.order != NULL);
        assert_true(wish.order == NULL ||
                    (wish.n_order == 2 && wish.order[0] == 1 && wish.order[1] == 0));
        amp_plan_destroy(plan);
    }
}

/* A convolution of 8 channels in GROUPS; 0: there is none. */
static void convolve(const char *name, int64_t groups)
{
    static const float zeros[8 * 8 * 3 * 3];
    if (groups == 0)
        return;
    uint32_t w = constant(name, AMP_FLOAT, DIMS(8, 8 / groups, 3, 3), zeros);
    uint32_t x = input(name, AMP_FLOAT, DIMS(1, 8, 5, 5));
    uint32_t y = NODE("Conv", name, x, w);
    if (groups > 1)
        set_int(y, "group", groups);
    output(y);
}

/* Where all convolutions in groups have a channel in each, and there are such. */
static void depthwise_networks_block_channels(void **state)
{
    static const struct {
        int64_t groups[2];
        bool does, need_not;
    } cases[] = {{{0, 0}, false, true},  {{1, 0}, false, true},  {{8, 0}, true, false},
                 {{4, 0}, false, false}, {{1, 8}, true, false},  {{8, 1}, true, false},
                 {{8, 4}, false, false}, {{4, 8}, false, false}, {{2, 1}, false, false},
                 {{2, 8}, false, false}, {{8, 2}, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net_start(17);
        convolve("a", cases[i].groups[0]);
        convolve("b", cases[i].groups[1]);
        output(NODE("Relu", "r", input("x", AMP_FLOAT, DIMS(1))));
        const struct amp_plan *plan = plan_net(AMP_ROUNDED);
        bool expected = cases[i].does || (cases[i].need_not && !amp_cpu_tells_caches());
        if (plan->blocks_channels != expected)
            fail_msg("case %zu: %d", i, plan->blocks_channels);
        amp_plan_destroy(plan);
    }
    const struct amp_shape shapes[] = {ANY_DIMS, DIMS(8, 1, 3)};
    for (size_t i = 0; i < 2; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, i == 0 ? ANY_DIMS : DIMS(1, 8, 5));
        uint32_t y = NODE("Conv", "y", x, input("w", AMP_FLOAT, shapes[i]));
        set_int(y, "group", 8);
        output(y);
        const struct amp_plan *plan = plan_net(AMP_ROUNDED);
        assert_int_equal(plan->blocks_channels, i == 1 || !amp_cpu_tells_caches());
        amp_plan_destroy(plan);
    }
}

/* ---- constants ---- */

/* What is computed once is what gives tensors, each time the same, of what is the same each time.
 */
static void steps_on_constants_are_constant(void **state)
{
    static const struct {
        const char *name;
        bool is_constant;
    } steps[] = {{"m", true},     {"p", true},  {"sum", false}, {"list", false},
                 {"maps", false}, {"n", false}, {"r", false},   {"last", false}};
    static const float zeros[16];
    (void)state;
    net_start(17);
    uint32_t c = constant("c", AMP_FLOAT, square, zeros);
    uint32_t m = NODE("MatMul", "m", c, c), p = NODE("Softmax", "p", m);
    output(p);
    output(NODE("Softmax", "sum", NODE("MatMul", "s", m, input("x", AMP_FLOAT, square))));
    uint32_t list = NODE("SequenceConstruct", "list", m, p);
    output(NODE("SequenceLength", "n", list));
    uint32_t maps = NODE("ZipMap", "maps", p);
    struct amp_node *zip = amp_node_at(net.model, node_of(maps));
    amp_model_import(net.model, "ai.onnx.ml", 1);
    zip->domain = "ai.onnx.ml";
    zip->schema = amp_schema_find(zip->domain, zip->op_type, 1);
    zip->since_version = 1;
    static const int64_t labels[] = {0, 1, 2, 3};
    amp_node_set_attr(
        net.model, node_of(maps),
        (struct amp_attr){
            .name = "classlabels_int64s", .type = AMP_ATTR_INTS, .count = 4, .ints = labels});
    output(maps);
    output(NODE("MatMul", "last", p, NODE("RandomUniformLike", "r", m)));
    const struct amp_plan *plan = plan_net(AMP_ROUNDED);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (step_of(plan, steps[i].name)->is_constant != steps[i].is_constant)
            fail_msg("%s", steps[i].name);
    amp_plan_destroy(plan);
}

static uint32_t scale_of(float scale)
{
    return constant(amp_model_unique_name(net.model, "scale"), AMP_FLOAT, SCALAR, &scale);
}

/* Nor is one less constant for an input or an output that is omitted. */
static void omitted_values_are_constant(void **state)
{
    static const float zeros[16];
    (void)state;
    net_start(17);
    uint32_t c = constant("c", AMP_FLOAT, DIMS(1, 1, 4, 4), zeros);
    uint32_t id = net_node(0, "MaxPool", "y", 2, IDS(c));
    SET_INTS(net_out(id, 0), "kernel_shape", 2, 2);
    amp_node_set_output(net.model, id, 1, AMP_NONE);
    uint32_t z = NODE("Clip", "z", net_out(id, 0), AMP_NONE, input("high", AMP_FLOAT, SCALAR));
    output(z);
    output(NODE("Clip", "u", net_out(id, 0), AMP_NONE, scale_of(1)));
    const struct amp_plan *plan = plan_net(AMP_ROUNDED);
    assert_true(step_of(plan, "y")->is_constant && step_of(plan, "u")->is_constant);
    assert_false(step_of(plan, "z")->is_constant);
    amp_plan_destroy(plan);
}

/* ---- attention ---- */

/* The steps that are part of that of the value called y, in a net whose scores come of q and k. */
static size_t count_scores(void)
{
    const struct amp_plan *plan = plan_net(AMP_FREE);
    size_t count = step_of(plan, "y")->n_scores;
    amp_plan_destroy(plan);
    return count;
}

static uint32_t given(const char *name)
{
    return input(name, AMP_FLOAT, square);
}

static uint32_t start_scores(void)
{
    net_start(17);
    return NODE("MatMul", "s", input("q", AMP_FLOAT, square), input("k", AMP_FLOAT, square));
}

static void weigh(uint32_t p)
{
    output(NODE("MatMul", "y", p, input("v", AMP_FLOAT, square)));
}

static void attention_is_a_chain_of_at_most_six_steps(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 6; n++) {
        uint32_t s = start_scores();
        for (size_t i = 0; i < n; i++)
            s = NODE("Softmax", "p", s);
        weigh(s);
        assert_int_equal(count_scores(), n >= 1 && n <= 4 ? n + 1 : 0);
    }
}

static void attention_has_no_other_readers(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        uint32_t s = start_scores(), p = NODE("Softmax", "p", s);
        weigh(p);
        if (i > 0)
            output(i == 1 ? s : i == 2 ? p : NODE("Neg", "n", s));
        assert_int_equal(count_scores(), i == 0 ? 2 : 0);
    }
}

static void attention_weighs_by_its_scores(void **state)
{
    (void)state;
    uint32_t p = NODE("Softmax", "p", start_scores());
    output(NODE("MatMul", "y", input("v", AMP_FLOAT, square), p));
    assert_int_equal(count_scores(), 0);
    p = NODE("Softmax", "p", start_scores());
    output(NODE("MatMul", "y", p, p));
    assert_int_equal(count_scores(), 0);
    weigh(NODE("Softmax", "p", turn("t", start_scores())));
    assert_int_equal(count_scores(), 0);
    weigh(turn("t", NODE("Softmax", "p", start_scores())));
    assert_int_equal(count_scores(), 0);
    weigh(NODE("Round", "r", NODE("Softmax", "p", NODE("Round", "r", start_scores()))));
    assert_int_equal(count_scores(), 4);
    weigh(NODE("Softmax", "p", NODE("Mul", "m", start_scores(), FLOATS("f", 2))));
    assert_int_equal(count_scores(), 2);
}

/* Attention of one matrix has no part in the next: a step is in one alone. */
static void attention_is_not_shared(void **state)
{
    (void)state;
    uint32_t y = NODE("MatMul", "first", NODE("Softmax", "p", start_scores()),
                      input("u", AMP_FLOAT, square));
    weigh(NODE("Softmax", "p", y));
    const struct amp_plan *plan = plan_net(AMP_FREE);
    assert_int_equal(step_of(plan, "first")->n_scores, 2);
    assert_int_equal(step_of(plan, "y")->n_scores, 0);
    amp_plan_destroy(plan);
}

/* What is computed once is no part of what runs again and again. */
static void attention_is_no_constant(void **state)
{
    static const float zeros[16];
    (void)state;
    for (int i = 0; i < 2; i++) {
        net_start(17);
        uint32_t q =
            i == 0 ? input("q", AMP_FLOAT, square) : constant("q", AMP_FLOAT, square, zeros);
        uint32_t s = NODE("MatMul", "s", q, constant("k", AMP_FLOAT, square, zeros));
        weigh(NODE("Softmax", "p", NODE("Add", "a", s, input("b", AMP_FLOAT, square))));
        assert_int_equal(count_scores(), i == 0 ? 2 : 0);
    }
}

/* Before version 7 attributes lined operands up. */
static void attention_takes_what_lines_up(void **state)
{
    (void)state;
    for (int opset = 6; opset <= 7; opset++) {
        for (int i = 0; i < 2; i++) {
            net_start(opset);
            uint32_t s =
                NODE("MatMul", "s", input("q", AMP_FLOAT, square), input("k", AMP_FLOAT, square));
            uint32_t y =
                i == 0 ? NODE("Floor", "f", s) : NODE("Add", "a", s, input("b", AMP_FLOAT, square));
            weigh(NODE("Softmax", "p", y));
            assert_int_equal(count_scores(), i == 0 ? 3 : opset < 7 ? 0 : 2);
        }
    }
}

/* A part has no more inputs than there is room for: a sum of bytes with their scales has more. */
static void attention_takes_no_long_lists_of_inputs(void **state)
{
    (void)state;
    uint32_t s = to_dtype("bytes", start_scores(), AMP_UINT8);
    amp_model_import(net.model, "com.microsoft", 1);
    uint32_t scale = FLOATS("scale", 0.5f);
    uint32_t zero = constant("zero", AMP_UINT8, DIMS(1), "");
    uint32_t id = net_node(0, "QLinearAdd", "sum", 1,
                           IDS(s, scale, zero, input("b", AMP_UINT8, square), scale, zero, scale));
    struct amp_node *node = amp_node_at(net.model, id);
    node->domain = "com.microsoft";
    node->schema = amp_schema_find(node->domain, node->op_type, 1);
    node->since_version = 1;
    weigh(NODE("Softmax", "p", to_dtype("floats", net_out(id, 0), AMP_FLOAT)));
    assert_int_equal(count_scores(), 0);
    s = to_dtype("bytes", start_scores(), AMP_UINT8);
    weigh(NODE("Softmax", "p", to_dtype("floats", s, AMP_FLOAT)));
    assert_int_equal(count_scores(), 4);
}

/* A GELU has its bias as a second input, which may be omitted by name or by place. */
static void attention_has_all_its_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint32_t s = start_scores();
        amp_model_import(net.model, "com.microsoft", 1);
        uint32_t bias = i < 2 ? AMP_NONE : input("bias", AMP_FLOAT, DIMS(4));
        uint32_t id = net_node(0, "FastGelu", "g", 1, (uint32_t[]){s, bias}, i == 0 ? 1 : 2);
        struct amp_node *node = amp_node_at(net.model, id);
        node->domain = "com.microsoft";
        node->schema = amp_schema_find(node->domain, node->op_type, 1);
        node->since_version = 1;
        weigh(NODE("Softmax", "p", net_out(id, 0)));
        assert_int_equal(count_scores(), i == 1 ? 0 : 3);
    }
}

/* What needs but the shape of the scores is known before they are. */
static void attention_is_not_read_for_its_shape(void **state)
{
    (void)state;
    output(NODE("Shape", "n", start_scores()));
    output(NODE("MatMul", "y", NODE("Softmax", "p", given("u")), given("v")));
    assert_int_equal(count_scores(), 0);
}

/* Appends what STEP gives and what it is: a part, the last, one whose post-ops can be split; and
   the input that it has from the step before. */
static void add_part(char *text, size_t size, const struct amp_plan *plan, const char *sign,
                     const struct amp_step *step)
{
    size_t used = strlen(text);
    const struct amp_node *node = amp_node_at(plan->model, step->node);
    snprintf(text + used, size - used, "%s%s:%s%s%s%u", sign,
             amp_value_at(plan->model, node->outputs[0])->name, step->attention.is_part ? "p" : "",
             step->attention.is_last ? "l" : "", step->attention.can_split_posts ? "s" : "",
             step->attention.scores_in);
}

/* These of the steps that are part of that of y and, behind a +, of their post-ops, behind a <, of
   their casts. */
static void expect_parts(const char *expected)
{
    char text[500] = "";
    const struct amp_plan *plan = plan_net(AMP_FREE);
    const struct amp_step *last = step_of(plan, "y");
    for (size_t i = 0; i <= last->n_scores; i++) {
        const struct amp_step *step = i < last->n_scores ? &last->scores[i] : last;
        add_part(text, sizeof text, plan, i > 0 ? " " : "", step);
        for (size_t k = 0; k < step->n_posts; k++)
            add_part(text, sizeof text, plan, "+", &step->post_steps[k]);
        for (size_t k = 0; k < step->n_casts; k++)
            add_part(text, sizeof text, plan, "<", step->casts[k]);
    }
    amp_plan_destroy(plan);
    assert_string_equal(text, expected);
}

static void parts_of_attention_know_where_the_scores_are(void **state)
{
    (void)state;
    uint32_t s = start_scores();
    weigh(NODE("Softmax", "p", s));
    expect_parts("s:ps0 p:ps0 y:pls0");
    s = start_scores();
    weigh(NODE("Softmax", "p", NODE("Add", "a", given("b"), NODE("Sub", "d", s, given("c")))));
    expect_parts("s:ps0+d:p0+a:p1 p:ps0 y:pls0");
    s = start_scores();
    s = NODE("Where", "w", input("c", AMP_BOOL, square), given("b"), s);
    s = NODE("Where", "e", input("c2", AMP_BOOL, square), s, given("b2"));
    weigh(NODE("Softmax", "p", s));
    expect_parts("s:ps0 w:ps2 e:ps1 p:ps0 y:pls0");
    s = start_scores();
    weigh(NODE("Softmax", "p", NODE("Clip", "c", s, FLOATS("low", 0))));
    expect_parts("s:p0+c:p0 p:ps0 y:pls0");
    s = start_scores();
    s = to_dtype("d", s, AMP_FLOAT16);
    weigh(to_dtype("c", NODE("Softmax", "p", s), AMP_FLOAT));
    expect_parts("s:ps0+d:p0 p:ps0+c:p0 y:pls0");
    s = start_scores();
    weigh(to_dtype("c", to_dtype("d", NODE("Softmax", "p", s), AMP_FLOAT16), AMP_FLOAT));
    expect_parts("s:ps0 p:ps0+d:p0+c:p0 y:pls0");
    s = start_scores();
    s = NODE("MatMul", "y0", NODE("Softmax", "p", s), given("v"));
    output(NODE("Add", "y", s, given("b")));
    expect_parts("s:ps0 p:ps0 y0:pls0+y:0");
}

/* Scores in float16 that are cast to float32 behind a step that has no post-ops: by the step that
   reads them, unless others do too. */
static void attention_reads_through_casts(void **state)
{
    (void)state;
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        net_start(17);
        uint32_t s =
            NODE("MatMul", "s", input("q", AMP_FLOAT16, square), input("k", AMP_FLOAT16, square));
        uint32_t w =
            NODE("Where", "w", input("c", AMP_BOOL, square), s, input("b", AMP_FLOAT16, square));
        uint32_t d = to_dtype("d", w, AMP_FLOAT);
        weigh(NODE("Softmax", "p", d));
        if (is_shared)
            output(NODE("Sin", "n", d));
        expect_parts(is_shared ? "y:0" : "s:ps0 w:ps1 p:ps0<d:p0 y:pls0");
    }
    net_start(17);
    uint32_t s =
        NODE("MatMul", "s", input("q", AMP_FLOAT16, square), input("k", AMP_FLOAT16, square));
    for (int i = 0; i < AMP_POSTS_MAX; i++)
        s = NODE("Relu", "r", s);
    weigh(NODE("Softmax", "p", to_dtype("d", s, AMP_FLOAT)));
    expect_parts("s:ps0+r:p0+r_1:p0+r_2:p0+r_3:p0+r_4:p0+r_5:p0+r_6:p0+r_7:p0 p:ps0<d:p0 y:pls0");
}

/* ---- steps ---- */

/* The values that the steps of the main graph give; behind each, their post-ops with a + and the
   casts that they read through with a <. */
static void expect_steps(const char *expected)
{
    char text[500] = "";
    const struct amp_plan *plan = plan_net(AMP_FREE);
    for (size_t i = 0; i < plan->graphs[0].n_steps; i++) {
        const struct amp_step *step = &plan->graphs[0].steps[i];
        size_t n = 1 + step->n_posts + step->n_casts;
        for (size_t k = 0; k < n; k++) {
            size_t used = strlen(text);
            const struct amp_step *part = k == 0               ? step
                                          : k <= step->n_posts ? &step->post_steps[k - 1]
                                                               : step->casts[k - 1 - step->n_posts];
            uint32_t given = amp_node_at(plan->model, part->node)->outputs[0];
            snprintf(text + used, sizeof text - used, "%s%s",
                     k > step->n_posts ? "<"
                     : k > 0           ? "+"
                     : i > 0           ? ", "
                                       : "",
                     amp_value_at(plan->model, given)->name);
        }
    }
    amp_plan_destroy(plan);
    assert_string_equal(text, expected);
}

/* A sum of a product of A by B and of C is a post-op where it has the product's shape. */
static void post_ops_have_the_shape_of_the_result(void **state)
{
    const struct {
        struct amp_shape a, b, c;
        bool is_post;
    } cases[] = {{square, square, square, true},         {square, square, DIMS(4), true},
                 {square, square, DIMS(1), true},        {square, square, DIMS(2, 4, 4), false},
                 {square, square, DIMS(1, 4, 4), false}, {square, square, ANY_DIMS, true},
                 {ANY_DIMS, square, square, true},       {ANY_DIMS, ANY_DIMS, square, true},
                 {DIMS(1, 4), square, square, false},    {DIMS(4, 4), DIMS(4, 1), square, false},
                 {DIMS(-1, 4), square, DIMS(4), true},   {DIMS(1, 4), square, DIMS(1, 4), true},
                 {DIMS(4), DIMS(4), SCALAR, true},       {DIMS(4), DIMS(4), DIMS(4), false},
                 {DIMS(0, 4), square, DIMS(1, 4), true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net_start(17);
        uint32_t a = input("a", AMP_FLOAT, cases[i].a), b = input("b", AMP_FLOAT, cases[i].b);
        uint32_t m = NODE("MatMul", "m", a, b);
        output(NODE("Add", "y", m, input("c", AMP_FLOAT, cases[i].c)));
        expect_steps(cases[i].is_post ? "m+y" : "m, y");
    }
}

static void post_ops_follow_what_they_read(void **state)
{
    static const float zeros[16];
    (void)state;
    net_start(17);
    uint32_t x = given("x"), w = given("w"), m = NODE("MatMul", "m", x, w);
    output(NODE("Add", "y", m, NODE("MatMul", "n", w, x)));
    expect_steps("m, n+y");
    net_start(17);
    x = given("x"), w = constant("w", AMP_FLOAT, square, zeros);
    output(NODE("Add", "y", NODE("MatMul", "m", w, w), x));
    expect_steps("m, y");
    net_start(17);
    x = input("x", AMP_BFLOAT16, square), w = to_dtype("f", x, AMP_FLOAT);
    output(NODE("Sin", "a", w));
    output(NODE("Abs", "b", w));
    expect_steps("a<f, b<f");
    output(w);
    expect_steps("f, a, b");
    net_start(17);
    x = input("x", AMP_BFLOAT16, square), w = to_dtype("f", x, AMP_FLOAT);
    output(NODE("Sub", "a", w, w));
    to_dtype("unread", x, AMP_FLOAT);
    expect_steps("a<f, unread");
    net_start(17);
    output(NODE("Sin", "a", to_dtype("f", input("x", AMP_INT32, square), AMP_FLOAT)));
    expect_steps("f, a");
    net_start(17);
    output(NODE("Abs", "a", to_dtype("f", input("x", AMP_BFLOAT16, square), AMP_INT32)));
    expect_steps("f, a");
    net_start(17);
    w = to_dtype("f", input("x", AMP_BFLOAT16, square), AMP_FLOAT);
    uint32_t owner = net_node(0, "If", "if", 1, IDS(input("c", AMP_BOOL, SCALAR)));
    add_branch(owner, "then_branch", "Sin", w);
    add_branch(owner, "else_branch", "Sin", w);
    output(net_out(owner, 0));
    expect_steps("f, if");
}

/* ---- lifetimes ---- */

/* What each step is the last to need, of all graphs, behind what it gives: "a: x y, b:". */
static void expect_last_uses(enum amp_strictness strictness, const char *expected)
{
    char text[500] = "";
    const struct amp_plan *plan = plan_net(strictness);
    for (size_t g = 0; g < plan->model->n_graphs; g++)
        for (size_t i = 0; i < plan->graphs[g].n_steps; i++) {
            const struct amp_step *step = &plan->graphs[g].steps[i];
            size_t used = strlen(text);
            uint32_t given = amp_node_at(plan->model, step->node)->outputs[0];
            snprintf(text + used, sizeof text - used, "%s%s:", used > 0 ? ", " : "",
                     amp_value_at(plan->model, given)->name);
            for (size_t k = 0; k < step->last_uses.count; k++) {
                used = strlen(text);
                uint32_t value = step->last_uses.items[k];
                snprintf(text + used, sizeof text - used, " %s",
                         amp_value_at(plan->model, value)->name);
                assert_true(amp_step_is_last_use(step, value));
            }
            assert_false(amp_step_is_last_use(step, AMP_NONE));
        }
    amp_plan_destroy(plan);
    assert_string_equal(text, expected);
}

static void values_last_as_long_as_they_are_read(void **state)
{
    (void)state;
    net_start(17);
    uint32_t x = given("x"), a = NODE("Neg", "a", x), b = NODE("Abs", "b", x);
    NODE("Exp", "unused", a);
    output(NODE("Add", "y", NODE("Sub", "d", a, b), b));
    output(x);
    expect_last_uses(AMP_ROUNDED, "a:, b:, unused: unused, d: a, y: b d");
    net_start(17);
    x = given("x");
    a = NODE("Clip", "a", x, AMP_NONE, NODE("ReduceMax", "high", given("z")));
    output(a);
    expect_last_uses(AMP_ROUNDED, "high: z, a: x high");
    net_start(17);
    x = given("x"), a = given("w"), b = given("b");
    output(NODE("Mul", "y", NODE("Relu", "r", NODE("MatMul", "m", x, a)), b));
    expect_last_uses(AMP_FREE, "m: x w b m r");
    expect_last_uses(AMP_ROUNDED, "m: x w, r: m, y: b r");
    net_start(17);
    x = given("x"), a = NODE("Neg", "a", x), b = NODE("Abs", "b", x);
    uint32_t owner = net_node(0, "If", "if", 1, IDS(input("c", AMP_BOOL, SCALAR)));
    add_branch(owner, "then_branch", "Transpose", a);
    add_branch(owner, "else_branch", "Transpose", b);
    output(net_out(owner, 0));
    output(NODE("Exp", "e", b));
    expect_last_uses(AMP_ROUNDED, "a:, b: x, if: a c, e: b, then_branch:, else_branch:");
    net_start(17);
    x = given("x"), a = NODE("Neg", "a", x);
    owner = net_node(0, "If", "if", 1, IDS(input("c", AMP_BOOL, SCALAR)));
    add_branch(owner, "then_branch", "Transpose", x);
    add_branch(owner, "else_branch", "Transpose", x);
    uint32_t *given_out = net.model->graphs[1].outputs.items;
    amp_value_at(net.model, *given_out)->is_output = false;
    *given_out = a;
    output(net_out(owner, 0));
    expect_last_uses(AMP_ROUNDED, "a:, if: x a c, then_branch: then_branch, else_branch:");
    net_start(17);
    given("unread"), x = given("x"), a = given("w"), b = given("b");
    uint32_t m = NODE("MatMul", "m", x, a);
    output(NODE("Neg", "n", b));
    output(NODE("Mul", "z", NODE("Add", "y", m, b), FLOATS("k", 1, 2, 3, 4)));
    expect_last_uses(AMP_FREE, "m: x w m y, n: b");
    expect_last_uses(AMP_ROUNDED, "m: x w, n:, y: b m, z: y");
}

/* ---- dtypes ---- */

/* What oneDNN computes in on the CPU that plans are made for; 0: on this one. */
static void pretend(uint32_t features)
{
    const uint32_t all =
        UINT32_C(1) << AMP_CPU_BF16 | UINT32_C(1) << AMP_CPU_F16 | UINT32_C(1) << AMP_CPU_FAST_F16;
    amp_cpu_detected = (amp_cpu_detect() & ~all) | features;
}

/* Appends what a node gives, and the initials of what its step does in float32: prefers, lacks,
   stores, rounds. */
static void add_flags(char *text, size_t size, const struct amp_plan *plan, const char *sign,
                      const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(plan->model, step->node);
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s:%s%s%s%s", sign,
             amp_value_at(plan->model, node->outputs[0])->name, step->prefers_f32 ? "p" : "",
             step->lacks_dtype ? "l" : "", step->stores_f32 ? "s" : "",
             step->rounds_f32 ? "r" : "");
}

/* These of all steps of the main graph and, behind a +, of their post-ops. */
static void expect_dtypes(uint32_t features, enum amp_strictness strictness, const char *expected)
{
    char text[500] = "";
    pretend(features);
    const struct amp_plan *plan = plan_net(strictness);
    for (size_t i = 0; i < plan->graphs[0].n_steps; i++) {
        const struct amp_step *step = &plan->graphs[0].steps[i];
        add_flags(text, sizeof text, plan, i > 0 ? " " : "", step);
        for (size_t k = 0; k < step->n_posts; k++)
            add_flags(text, sizeof text, plan, "+", &step->post_steps[k]);
    }
    amp_plan_destroy(plan);
    amp_cpu_detect();
    assert_string_equal(text, expected);
}

/* ---- constants ---- */

/* x - v, of a V that is negated by a node, and known by its bytes, which may lie anywhere, or by
   what is to be converted. */
static void what_depends_on_constants_is_one(void **state)
{
    static float v[] = {0, 1, 2, 3, 4}, zeros[4];
    static uint16_t low[] = {0x3F80, 0x4000, 0x4040, 0x4080}; /* bfloat16 */
    static const struct amp_tensor source = {.dtype = AMP_BFLOAT16, .shape = {1, {4}}, .data = low};
    (void)state;
    for (int is_converted = 0; is_converted < 2; is_converted++) {
        net_start(17);
        struct amp_tensor *tensor = net_tensor(AMP_FLOAT, DIMS(4), v);
        tensor->data = is_converted ? NULL : v + 1;
        tensor->source = is_converted ? &source : NULL;
        uint32_t n = NODE("Neg", "n", amp_graph_add_initializer(net.model, 0, "v", tensor));
        output(NODE("Add", "y", input("x", AMP_FLOAT, DIMS(4)), n));
        const struct amp_plan *plan = plan_net(AMP_FREE);
        assert_int_equal(plan->graphs[0].n_steps, 1);
        amp_plan_destroy(plan);
        assert_int_equal(net_run(false, net_tensor(AMP_FLOAT, DIMS(4), zeros)), AMP_OK);
        EXPECT_OUTPUT(0, 0, -1, -2, -3, -4);
    }
}

/* What is computed of constants before the model runs: the value called c of the copy. */
static const struct amp_tensor *computed_as_it_is(void)
{
    size_t n_integer;
    struct amp_model *model = amp_composites_fuse(net.model, net.arena, &n_integer);
    for (uint32_t id = 0; id < model->n_values; id++)
        if (strcmp(amp_value_at(model, id)->name, "c") == 0)
            return amp_value_at(model, id)->constant;
    fail_msg("there is no c");
    return NULL;
}

static const struct amp_tensor *computed(void)
{
    infer_all();
    return computed_as_it_is();
}

/* Something that reads C, so that this is no output. */
static void read_by_others(uint32_t c)
{
    output(NODE("Shape", "shape", c));
    output(NODE("Identity", "y", c));
}

static void expect_computed(const char *what, size_t count, const double *expected)
{
    const struct amp_tensor *c = computed();
    if (c == NULL)
        fail_msg("%s is not computed", what);
    assert_int_equal(amp_tensor_count(c), count);
    for (size_t i = 0; i < count; i++)
        if (amp_tensor_double(c, i) != expected[i])
            fail_msg("%s: %g in place of %g", what, amp_tensor_double(c, i), expected[i]);
}

#define EXPECT_COMPUTED(what, ...)                                          \
    expect_computed(what, sizeof((double[]){__VA_ARGS__}) / sizeof(double), \
                    (const double[]){__VA_ARGS__})

static void expect_not_computed(const char *what)
{
    if (computed() != NULL)
        fail_msg("%s is computed", what);
}

static uint32_t numbers(const char *name, size_t count)
{
    float *all = amp_arena_alloc(net.arena, (count + 1) * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = (float)i + 1;
    return constant(name, AMP_FLOAT, DIMS((int64_t)count), all);
}

/* Operators that move elements or compute one by one, on constants alone, of dtypes that C has. */
static void what_is_plain_is_computed_of_constants(void **state)
{
    static const double doubles[] = {1, 2};
    static const int64_t ints[] = {5, 7}, four = 4;
    static const struct amp_str words[] = {{"a", 1}, {"b", 1}};
    (void)state;
    net_start(17);
    read_by_others(NODE("Neg", "c", numbers("a", 3)));
    EXPECT_COMPUTED("a sign", -1, -2, -3);
    net_start(17);
    read_by_others(NODE("Neg", "c", NODE("Neg", "b", numbers("a", 3))));
    EXPECT_COMPUTED("a sign of a sign", 1, 2, 3);
    net_start(17);
    read_by_others(NODE("Neg", "c", input("x", AMP_FLOAT, DIMS(3))));
    expect_not_computed("an input");
    net_start(17);
    read_by_others(NODE("Add", "c", numbers("a", 3), numbers("b", 3)));
    EXPECT_COMPUTED("a sum", 2, 4, 6);
    for (int i = 0; i < 2; i++) {
        net_start(17);
        uint32_t a = numbers("a", 3), x = input("x", AMP_FLOAT, DIMS(3));
        read_by_others(i == 0 ? NODE("Add", "c", a, x) : NODE("Add", "c", x, a));
        expect_not_computed("a sum with an input");
        net_start(17);
        read_by_others(NODE("Clip", "c", numbers("a", 3),
                            i == 0 ? AMP_NONE : input("x", AMP_FLOAT, SCALAR), scale_of(2)));
        if (i == 0)
            EXPECT_COMPUTED("what is cut off", 1, 2, 2);
        else
            expect_not_computed("what an input cuts off");
    }
    net_start(17);
    read_by_others(NODE("ConstantOfShape", "c", constant("a", AMP_INT64, DIMS(1), &four)));
    EXPECT_COMPUTED("zeros", 0, 0, 0, 0);
    net_start(17);
    read_by_others(NODE("Neg", "c", constant("a", AMP_DOUBLE, DIMS(2), doubles)));
    EXPECT_COMPUTED("float64", -1, -2);
    net_start(17);
    read_by_others(NODE("Add", "c", constant("a", AMP_INT64, DIMS(2), ints),
                        constant("b", AMP_INT64, DIMS(2), ints)));
    EXPECT_COMPUTED("int64", 10, 14);
    net_start(17);
    uint32_t cast = NODE("Cast", "c", constant("a", AMP_INT64, DIMS(2), ints));
    set_int(cast, "to", AMP_FLOAT);
    read_by_others(cast);
    EXPECT_COMPUTED("a cast", 5, 7);
    net_start(17);
    cast = NODE("Cast", "c", constant("a", AMP_INT64, DIMS(2), ints));
    set_int(cast, "to", AMP_STRING);
    read_by_others(cast);
    expect_not_computed("a text");
    net_start(17);
    uint32_t joined = NODE("Concat", "c", constant("a", AMP_STRING, DIMS(2), words));
    set_int(joined, "axis", 0);
    read_by_others(joined);
    expect_not_computed("words");
    static const char *const others[] = {"ReduceSum", "Softmax",           "RandomUniformLike",
                                         "Bernoulli", "SequenceConstruct", "MatMul",
                                         "CumSum"};
    for (size_t i = 0; i < AMP_COUNT(others); i++) {
        net_start(17);
        uint32_t a = numbers("a", 3), c;
        if (strcmp(others[i], "MatMul") == 0)
            c = NODE(others[i], "c", a, a);
        else if (strcmp(others[i], "CumSum") == 0)
            c = NODE(others[i], "c", a, constant("axis", AMP_INT64, SCALAR, &(int64_t){0}));
        else
            c = NODE(others[i], "c", a);
        output(strcmp(others[i], "SequenceConstruct") == 0 ? NODE("SequenceLength", "y", c)
                                                           : NODE("Identity", "y", c));
        expect_not_computed(others[i]);
    }
    net_start(17);
    output(NODE("Neg", "c", numbers("a", 3)));
    expect_not_computed("an output");
    net_start(17);
    uint32_t split = net_node(0, "Split", "c", 2, IDS(numbers("a", 4)));
    read_by_others(net_out(split, 0));
    output(NODE("Identity", "z", net_out(split, 1)));
    expect_not_computed("one of two outputs");
    net_start(17);
    output(NODE("Identity", "y",
                NODE("Gather", "c", numbers("a", 3), constant("i", AMP_INT64, DIMS(1), &four))));
    expect_not_computed("an element that is not there");
    for (uint32_t n = 15; n <= 18; n++) {
        uint32_t parts[18];
        net_start(17);
        for (uint32_t i = 0; i < n; i++)
            parts[i] = constant(amp_model_unique_name(net.model, "p"), AMP_FLOAT, DIMS(1),
                                &(float){(float)i});
        uint32_t c = net_out(net_node(0, "Concat", "c", 1, parts, n), 0);
        set_int(c, "axis", 0);
        read_by_others(c);
        assert_int_equal(computed() != NULL, n <= 16);
    }
}

/* Kernels in C have the types that they say; what others compute in float32 first, the run does. */
static void what_c_has_is_computed_of_constants(void **state)
{
    static const char *const ops[] = {"Neg",  "Abs",   "Exp",     "Erf",       "Sin",      "Floor",
                                      "Sqrt", "Relu",  "Sigmoid", "Identity",  "Softplus", "Sign",
                                      "Tanh", "Round", "IsNaN",   "Reciprocal"};
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_FLOAT16, AMP_BFLOAT16};
    static const double zeros[3];
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(ops); i++)
        for (size_t k = 0; k < AMP_COUNT(dtypes); k++) {
            const struct amp_op *op = amp_op_find("", ops[i]);
            net_start(22);
            uint32_t c = NODE(ops[i], "c", constant("a", dtypes[k], DIMS(3), zeros));
            output(NODE("Shape", "y", c));
            bool has =
                op->effect == AMP_PRESERVES_VALUES || (op->native & AMP_DTYPE_BIT(dtypes[k])) != 0;
            if ((op->lacks & AMP_DTYPE_BIT(dtypes[k])) == 0 && (computed() != NULL) != has)
                fail_msg("%s of %s: %d", ops[i], amp_dtype_name(dtypes[k]), has);
        }
}

/* What depends on the elements of an input has no shape before. */
static void what_has_no_shape_is_not_computed(void **state)
{
    static const bool yes[] = {true, false, true};
    (void)state;
    for (int i = 0; i < 7; i++) {
        net_start(17);
        uint32_t a = numbers("a", 3);
        uint32_t c = i == 0   ? NODE("Compress", "c", a, constant("b", AMP_BOOL, DIMS(3), yes))
                     : i == 1 ? NODE("NonZero", "c", a)
                     : i == 2 ? NODE("Unique", "c", a)
                              : NODE("Neg", "c", a);
        if (i == 3) /* a constant whose data have been let go */
            amp_value_at(net.model, a)->constant->data = NULL;
        output(NODE("Shape", "y", c));
        infer_all();
        if (i == 4) /* of a version that is not known yet */
            amp_node_at(net.model, node_of(c))->since_version = 99;
        if (i == 5) /* whose types are not known */
            amp_node_at(net.model, node_of(c))->schema = NULL;
        if ((computed_as_it_is() != NULL) != (i == 6))
            fail_msg("case %d", i);
    }
}

/* Vectors of up to 8 KB; what only has another shape has the same data, however much. */
static void what_is_small_is_computed_of_constants(void **state)
{
    static const int64_t shape[] = {-1, 2}, wrong[] = {-1, 7};
    (void)state;
    for (size_t count = 2047; count <= 2049; count++)
        for (int way = 0; way < 3; way++) {
            net_start(17);
            float *all = amp_arena_alloc(net.arena, count * sizeof *all);
            for (size_t i = 0; i < count; i++)
                all[i] = (float)i;
            uint32_t a = constant("a", AMP_FLOAT,
                                  way == 0   ? DIMS((int64_t)count)
                                  : way == 1 ? DIMS(1, (int64_t)count, 1)
                                             : DIMS((int64_t)count, 1),
                                  all);
            read_by_others(NODE("Neg", "c", a));
            const struct amp_tensor *c = computed();
            assert_int_equal(c != NULL, count <= 2048);
            if (c == NULL)
                continue;
            assert_int_equal((uintptr_t)c->data % 64, 0);
            for (size_t i = 0; i < count; i++)
                assert_true(((const float *)c->data)[i] == -(float)i);
        }
    for (int64_t rows = 1; rows <= 3; rows++)
        for (int64_t columns = 1; columns <= 3; columns++) {
            static const float some[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
            net_start(17);
            read_by_others(NODE("Neg", "c", constant("a", AMP_FLOAT, DIMS(rows, columns), some)));
            assert_int_equal(computed() != NULL, rows == 1 || columns == 1);
        }
    for (int is_wrong = 0; is_wrong < 2; is_wrong++)
        for (int is_given = 0; is_given < 2; is_given++) {
            net_start(17);
            uint32_t a = numbers("a", 4096);
            const void *data = amp_value_at(net.model, a)->constant->data;
            uint32_t to = is_given ? input("s", AMP_INT64, DIMS(2))
                                   : constant("s", AMP_INT64, DIMS(2), is_wrong ? wrong : shape);
            read_by_others(NODE("Reshape", "c", a, to));
            const struct amp_tensor *c = computed();
            assert_int_equal(c != NULL, !is_given && !is_wrong); /* for the run to say */
            if (c == NULL)
                continue;
            assert_ptr_equal(c->data, data);
            assert_true(amp_shape_equal(&c->shape, &DIMS(2048, 2)));
        }
}

/* What owns the memory of a constant has it still when something was computed of that. */
static void constants_keep_their_memory(void **state)
{
    static const char *const ops[] = {"Neg", "Identity", "Flatten"};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(ops); i++) {
        struct amp_tensor owner = {.dtype = AMP_FLOAT, .shape = DIMS(3)};
        assert_int_equal(amp_tensor_alloc(&owner, NULL), AMP_OK);
        memset(owner.data, 0, 3 * sizeof(float));
        net_start(17);
        read_by_others(NODE(ops[i], "c", amp_graph_add_initializer(net.model, 0, "a", &owner)));
        assert_non_null(computed());
        assert_int_equal(owner.buffer->refs, 1);
        amp_tensor_release(&owner);
    }
}

/* Weights are computed where what follows the product can go into them, and nowhere else. */
static void weights_are_computed_for_what_goes_into_them(void **state)
{
    enum { FOLDED, NO_SCALE, GIVEN_SCALE, AS_FIRST, TWO_READERS, OUTPUT, GIVEN, WAYS };
    static const char *const expected[WAYS] = {"Transpose MatMul",         "Transpose MatMul",
                                               "Transpose MatMul Mul",     "Transpose MatMul Mul",
                                               "Transpose MatMul Mul Sin", "Transpose MatMul Mul",
                                               "Transpose MatMul Mul"};
    static const float weights[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                       scales[] = {1, 2, 4, 8}, x[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        net_start(17);
        uint32_t in = input("x", AMP_FLOAT, square);
        uint32_t w =
            i == GIVEN ? input("w", AMP_FLOAT, square) : constant("w", AMP_FLOAT, square, weights);
        uint32_t t = NODE("Transpose", "t", w);
        uint32_t y = i == AS_FIRST ? NODE("MatMul", "y", t, in) : NODE("MatMul", "y", in, t);
        uint32_t s = i == GIVEN_SCALE ? input("s", AMP_FLOAT, DIMS(4))
                                      : constant("s", AMP_FLOAT, DIMS(4), scales);
        output(i == NO_SCALE ? y : NODE("Mul", "z", y, s));
        if (i == TWO_READERS)
            output(NODE("Sin", "n", t));
        if (i == OUTPUT)
            output(t);
        assert_string_equal(fused(), expected[i]);
        if (i != FOLDED)
            continue;
        assert_int_equal(net_run(false, net_tensor(AMP_FLOAT, square, x)), AMP_OK);
        for (size_t k = 0; k < 12; k++)
            assert_true(amp_tensor_double(&net.outputs[0], k) ==
                        (double)weights[k % 4 * 4 + k / 4] * (double)scales[k % 4]);
    }
}

/* ---- integers ---- */

/* The scale and the zero point of 8 bits. */
struct bytes {
    enum amp_dtype dtype;
    float scale;
    int zero;
};

static uint32_t zero_of(struct bytes bytes)
{
    return constant(amp_model_unique_name(net.model, "zero"), bytes.dtype, SCALAR,
                    &(uint16_t){(uint16_t)(uint8_t)bytes.zero});
}

static uint32_t floats_of(const char *name, struct bytes bytes)
{
    return NODE("DequantizeLinear", name, input(name, bytes.dtype, square), scale_of(bytes.scale),
                zero_of(bytes));
}

static void round_to(struct bytes bytes, uint32_t y)
{
    output(NODE("QuantizeLinear", "q", y, scale_of(bytes.scale), zero_of(bytes)));
}

/* A sum of floats that are made of 8 bits. */
static uint32_t sum_of(struct bytes bytes)
{
    net_start(13);
    return NODE("Add", "sum", floats_of("a", bytes), floats_of("b", bytes));
}

static size_t count_integers(void)
{
    const struct amp_plan *plan = plan_net(AMP_FREE);
    size_t count = plan->n_integer;
    amp_plan_destroy(plan);
    return count;
}

/* A Relu or a Clip between a sum and its rounding only where the range of the integers, from the
   scale and the zero point, is within what that keeps. */
static void what_cuts_off_no_more_than_integers_goes(void **state)
{
    static const struct {
        struct bytes bytes;
        float from, to; /* TO 0: a Relu */
        bool goes;
    } cases[] = {{{AMP_UINT8, 1, 0}, 0, 0, true},      {{AMP_UINT8, 1, 1}, 0, 0, false},
                 {{AMP_INT8, 1, -128}, 0, 0, true},    {{AMP_INT8, 1, -127}, 0, 0, false},
                 {{AMP_UINT8, 2, 0}, 0, 510, true},    {{AMP_UINT8, 2, 0}, 0, 508, false},
                 {{AMP_UINT8, 2, 0}, 2, 510, false},   {{AMP_UINT8, 2, 0}, -2, 600, true},
                 {{AMP_UINT8, 2, 5}, -10, 500, true},  {{AMP_UINT8, 2, 5}, -8, 500, false},
                 {{AMP_UINT8, 2, 5}, -10, 498, false}, {{AMP_INT8, 2, 0}, -256, 254, true},
                 {{AMP_INT8, 2, 0}, -254, 254, false}, {{AMP_INT8, 2, 0}, -256, 252, false},
                 {{AMP_INT8, 2, 10}, -276, 234, true}, {{AMP_INT8, 2, 10}, -276, 232, false},
                 {{AMP_INT8, 2, 10}, -274, 234, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t sum = sum_of(cases[i].bytes);
        round_to(cases[i].bytes, cases[i].to == 0 ? NODE("Relu", "r", sum)
                                                  : NODE("Clip", "r", sum, scale_of(cases[i].from),
                                                         scale_of(cases[i].to)));
        if ((count_integers() == 1) != cases[i].goes)
            fail_msg("case %zu: %d", i, !cases[i].goes);
    }
}

/* Whatever else is between them, or reads the sum, has floats. */
static void what_computes_between_stays(void **state)
{
    static const char *const ops[] = {"LeakyRelu", "Sigmoid", "Neg", "Softmax", "Transpose"};
    static const struct bytes bytes = {AMP_UINT8, 1, 0}, others = {AMP_INT8, 1, 0};
    (void)state;
    round_to(bytes, sum_of(bytes));
    assert_int_equal(count_integers(), 1);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        round_to(bytes, NODE(ops[i], "r", sum_of(bytes)));
        assert_int_equal(count_integers(), 0);
    }
    round_to(bytes, NODE("Mul", "r", sum_of(bytes), scale_of(2)));
    assert_int_equal(count_integers(), 0);
    round_to(bytes, NODE("Relu", "r", NODE("Relu", "r", sum_of(bytes))));
    assert_int_equal(count_integers(), 0);
    round_to(others, sum_of(bytes));
    assert_int_equal(count_integers(), 0);
    for (int i = 0; i < 3; i++) {
        uint32_t sum = sum_of(bytes), r = NODE("Relu", "r", sum);
        round_to(bytes, r);
        output(i == 0 ? sum : i == 1 ? r : NODE("Neg", "n", r));
        assert_int_equal(count_integers(), 0);
    }
}

/* ---- operators that move bytes ---- */

/* Y in bytes, which come out. */
static uint32_t bytes_from(uint32_t y, struct bytes bytes)
{
    uint32_t q = NODE("QuantizeLinear", "q", y, scale_of(bytes.scale), zero_of(bytes));
    output(q);
    return q;
}

/* Whether nodes become ones of integers: how many do. */
static void expect_integers(size_t count, const char *what, size_t i)
{
    const struct amp_plan *plan;
    infer_all();
    amp_cpu_detected = amp_cpu_detect() | UINT32_C(1) << AMP_CPU_VNNI;
    if (amp_plan_create(net.model, AMP_FREE, &plan, &net.err) != AMP_OK)
        fail_msg("%s %zu: %s", what, i, net.err.text);
    amp_cpu_detect();
    if (plan->n_integer != count)
        fail_msg("%s %zu: %zu", what, i, plan->n_integer);
    amp_plan_destroy(plan);
}

static const struct bytes plain_bytes = {AMP_UINT8, 0.5f, 3}, coarse_bytes = {AMP_UINT8, 1, 3},
                          shifted_bytes = {AMP_UINT8, 0.5f, 4}, signed_bytes = {AMP_INT8, 0.5f, 3};

/* All that a node joins has one scale, zero point and type, as the result has. */
static void joined_bytes_are_alike(void **state)
{
    static const struct bytes *const kinds[] = {&plain_bytes, &coarse_bytes, &shifted_bytes,
                                                &signed_bytes};
    (void)state;
    for (int i = 0; i < 4 * 4 * 4; i++) {
        const struct bytes *a = kinds[i % 4], *b = kinds[i / 4 % 4], *y = kinds[i / 16];
        net_start(13);
        uint32_t joined = NODE("Concat", "joined", floats_of("a", *a), floats_of("b", *b));
        set_int(joined, "axis", 0);
        bytes_from(joined, *y);
        expect_integers(a == b && b == y, "joined", (size_t)i);
    }
    for (int i = 0; i < 3 * 3; i++) { /* what is no integer is not joined to any */
        net_start(13);
        uint32_t x[2];
        for (int k = 0; k < 2; k++) {
            int kind = k == 0 ? i % 3 : i / 3;
            const char *name = k == 0 ? "a" : "b";
            x[k] = kind == 0   ? floats_of(name, plain_bytes)
                   : kind == 1 ? input(name, AMP_FLOAT, square)
                               : NODE("Sin", name, floats_of(k == 0 ? "c" : "d", plain_bytes));
        }
        uint32_t joined = NODE("Concat", "joined", x[0], x[1]);
        set_int(joined, "axis", 0);
        bytes_from(joined, plain_bytes);
        expect_integers(i == 0, "no integers", (size_t)i);
    }
}

/* Numbers that tell which of many classes there are make floats of bytes, too. */
static void bytes_that_are_classes_are_no_scaled_ones(void **state)
{
    static const float count = 4, values[] = {0, 1};
    (void)state;
    net_start(13);
    uint32_t x = NODE("OneHot", "x", input("i", AMP_UINT8, DIMS(4)),
                      constant("count", AMP_FLOAT, SCALAR, &count),
                      constant("values", AMP_FLOAT, DIMS(2), values));
    bytes_from(NODE("Transpose", "t", x), (struct bytes){AMP_UINT8, 4, 0});
    expect_integers(0, "classes", 0);
}

/* Each part is rounded to the bytes that the whole was of, and nobody reads it in floats. */
static void parts_of_bytes_are_bytes(void **state)
{
    enum { ROUNDED, COARSE, SHIFTED, SIGNED, GIVEN, READ, TWICE, UNUSED, WAYS };
    (void)state;
    for (int i = 0; i < WAYS * WAYS; i++) {
        int ways[] = {i % WAYS, i / WAYS};
        net_start(13);
        uint32_t split = net_node(0, "Split", "part", 2, IDS(floats_of("x", plain_bytes)));
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t part = net_out(split, k);
            if (ways[k] <= SIGNED || ways[k] == TWICE)
                bytes_from(part, ways[k] == COARSE    ? coarse_bytes
                                 : ways[k] == SHIFTED ? shifted_bytes
                                 : ways[k] == SIGNED  ? signed_bytes
                                                      : plain_bytes);
            if (ways[k] == GIVEN)
                output(part);
            if (ways[k] == READ)
                output(NODE("Sin", "n", part));
            if (ways[k] == TWICE)
                bytes_from(part, plain_bytes);
        }
        if (ways[0] == UNUSED && ways[1] == UNUSED)
            continue;
        expect_integers(ways[0] == ROUNDED && ways[1] == ROUNDED, "parts", (size_t)i);
    }
}

/* What is moved alone is in bytes; where to, or which, is said in integers. */
static void bytes_go_where_they_are_told(void **state)
{
    static const int64_t shape[] = {2, 8}, rows[] = {1, 0};
    (void)state;
    static const int64_t from[] = {1}, to[] = {3}, step[] = {2};
    for (int i = 0; i < 6; i++) {
        net_start(13);
        uint32_t x = floats_of("x", plain_bytes), y;
        if (i == 0) {
            y = NODE("Reshape", "y", x, constant("s", AMP_INT64, DIMS(2), shape));
        } else if (i == 1) {
            y = NODE("Gather", "y", x, constant("i", AMP_INT64, DIMS(2), rows));
        } else if (i == 2) { /* one of two outputs is left out */
            uint32_t split = net_node(0, "Split", "y", 2, IDS(x));
            y = net_out(split, 0);
            amp_node_set_output(net.model, split, 1, AMP_NONE);
        } else if (i == 5) { /* of all axes: those are left out */
            y = NODE("Slice", "y", x, constant("f", AMP_INT64, DIMS(1), from),
                     constant("t", AMP_INT64, DIMS(1), to), AMP_NONE,
                     constant("s", AMP_INT64, DIMS(1), step));
        } else {
            y = NODE("Transpose", "y", x);
        }
        bytes_from(y, plain_bytes);
        if (i == 3)
            output(
                NODE("Sin", "z",
                     net_out(net_node(0, "Split", "w", 2, IDS(input("b", AMP_FLOAT, square))), 1)));
        if (i != 4) {
            expect_integers(i != 2, "told", (size_t)i);
            if (i == 3) /* what has an output for nobody stays */
                assert_string_equal(fused(), "Transpose Split Sin");
            continue;
        }
        size_t n_integer;
        infer_all();
        amp_node_at(net.model, node_of(y))->schema = NULL; /* whose types nobody knows */
        amp_composites_fuse(net.model, net.arena, &n_integer);
        assert_int_equal(n_integer, 0);
    }
}

/* Sums of before version 7 line their operands up otherwise. */
static void sums_of_bytes_line_up_from_behind(void **state)
{
    (void)state;
    for (int version = 6; version <= 7; version++) {
        size_t n_integer;
        uint32_t y = sum_of(plain_bytes);
        round_to(plain_bytes, y);
        infer_all();
        amp_node_at(net.model, node_of(y))->since_version = version;
        amp_composites_fuse(net.model, net.arena, &n_integer);
        assert_int_equal(n_integer, version == 7);
    }
}

/* Pools of before version 12 have floats alone. */
static void pools_of_bytes_came_with_version_12(void **state)
{
    (void)state;
    for (int opset = 10; opset <= 13; opset++) {
        net_start(opset);
        uint32_t x = NODE("DequantizeLinear", "d", input("x", AMP_UINT8, DIMS(1, 1, 4, 4)),
                          scale_of(0.5f), zero_of(plain_bytes));
        uint32_t y = NODE("MaxPool", "y", x);
        SET_INTS(y, "kernel_shape", 2, 2);
        bytes_from(y, plain_bytes);
        expect_integers(opset >= 12, "opset", (size_t)opset);
    }
}

/* Bytes of one scale that is known, made floats of by the node before. */
static void bytes_of_other_kinds_stay_floats(void **state)
{
    enum {
        PLAIN,
        NO_ZERO,
        SIGNED_NO_ZERO,
        SCALE_EACH,
        INTS,
        HALF,
        BLOCKS,
        PRECISE,
        SHORTS,
        NO_SCALES,
        LATE_SCALE,
        HALF_SCALE,
        HALF_RESULT,
        WAYS
    };
    static const bool is_integer[WAYS] = {[PLAIN] = true, [NO_ZERO] = true};
    static const float scales[] = {0.5f, 0.5f, 0.5f, 0.5f};
    static const uint8_t zeros[4 * 4] = {3, 3, 3, 3};
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        net_start(23);
        enum amp_dtype dtype = i == INTS             ? AMP_INT32
                               : i == SHORTS         ? AMP_UINT16
                               : i == SIGNED_NO_ZERO ? AMP_INT8
                                                     : AMP_UINT8;
        uint32_t x = input("x", dtype, square);
        struct amp_shape shape = i == SCALE_EACH  ? DIMS(4)
                                 : i == BLOCKS    ? DIMS(4, 1)
                                 : i == NO_SCALES ? DIMS(0)
                                                  : SCALAR;
        const uint16_t half = 0x3800; /* 0.5 */
        uint32_t scale = i == HALF || i == HALF_SCALE ? constant("s", AMP_FLOAT16, SCALAR, &half)
                                                      : constant("s", AMP_FLOAT, shape, scales);
        if (i == LATE_SCALE) { /* in another dtype than what it is made of */
            struct amp_tensor *late = net_tensor(AMP_FLOAT, SCALAR, scales);
            struct amp_tensor *source = net_tensor(AMP_FLOAT16, SCALAR, &half);
            late->data = NULL;
            late->source = source;
            scale = amp_graph_add_initializer(net.model, 0, "late", late);
        }
        uint32_t zero = i == NO_ZERO || i == SIGNED_NO_ZERO || i == INTS
                            ? AMP_NONE
                            : constant("z", dtype, i == HALF ? SCALAR : shape, zeros);
        uint32_t d = zero == AMP_NONE ? NODE("DequantizeLinear", "d", x, scale)
                                      : NODE("DequantizeLinear", "d", x, scale, zero);
        if (i == BLOCKS)
            set_int(d, "block_size", 4);
        if (i == HALF_SCALE || i == HALF_RESULT)
            set_int(d, "output_dtype", i == HALF_SCALE ? AMP_FLOAT : AMP_FLOAT16);
        uint32_t y = NODE("Transpose", "t", d);
        struct bytes to = plain_bytes;
        to.zero = zero == AMP_NONE ? 0 : 3;
        uint32_t q;
        if (i == HALF) {
            q = NODE("QuantizeLinear", "q", y, scale, zero_of(to));
            output(q);
        } else {
            q = bytes_from(y, to);
        }
        if (i == PRECISE)
            set_int(q, "precision", AMP_FLOAT16);
        expect_integers(is_integer[i], "kind", (size_t)i);
    }
}

/* ---- operators that compute with bytes ---- */

/* Two operands in bytes, of which one scale is known or one for each channel, and a result. */
static void computed_bytes_are_of_one_type(void **state)
{
    enum { PLAIN, COARSE, SIGNED, SCALE_EACH, FLOATS, LATE, INTS, WAYS };
    static const char *const ops[] = {"Add", "Mul"};
    static const float scales[] = {0.5f, 1, 0.5f, 1};
    static const uint8_t zeros[4] = {3, 3, 3, 3};
    (void)state;
    for (size_t i = 0; i < 2 * WAYS * WAYS * WAYS; i++) {
        size_t ways[] = {i / 2 % WAYS, i / 2 / WAYS % WAYS, i / 2 / WAYS / WAYS};
        uint32_t operands[2];
        if (ways[2] == FLOATS || ways[2] == LATE || ways[2] == INTS)
            continue;
        net_start(13);
        for (int k = 0; k < 2; k++) {
            const char *name = k == 0 ? "a" : "b";
            if (ways[k] == FLOATS)
                operands[k] = input(name, AMP_FLOAT, square);
            else if (ways[k] == SCALE_EACH)
                operands[k] = NODE("DequantizeLinear", name, input(name, AMP_UINT8, square),
                                   constant(k == 0 ? "sa" : "sb", AMP_FLOAT, DIMS(4), scales),
                                   constant(k == 0 ? "za" : "zb", AMP_UINT8, DIMS(4), zeros));
            else if (ways[k] == LATE)
                operands[k] =
                    NODE("DequantizeLinear", name, input(name, AMP_UINT8, square),
                         input(k == 0 ? "sa" : "sb", AMP_FLOAT, SCALAR), zero_of(plain_bytes));
            else if (ways[k] == INTS)
                operands[k] =
                    NODE("DequantizeLinear", name, input(name, AMP_INT32, square), scale_of(1));
            else
                operands[k] = floats_of(name, ways[k] == COARSE   ? coarse_bytes
                                              : ways[k] == SIGNED ? signed_bytes
                                                                  : plain_bytes);
        }
        uint32_t y = NODE(ops[i % 2], "y", operands[0], operands[1]);
        if (ways[2] == SCALE_EACH)
            output(NODE("QuantizeLinear", "q", y, constant("sy", AMP_FLOAT, DIMS(4), scales),
                        constant("zy", AMP_UINT8, DIMS(4), zeros)));
        else
            bytes_from(y, ways[2] == COARSE   ? coarse_bytes
                          : ways[2] == SIGNED ? signed_bytes
                                              : plain_bytes);
        bool are_unsigned = ways[0] <= COARSE && ways[1] <= COARSE && ways[2] <= COARSE;
        bool are_signed = ways[0] == SIGNED && ways[1] == SIGNED && ways[2] == SIGNED;
        expect_integers(are_unsigned || are_signed, ops[i % 2], i);
    }
}

/* A product by constant bytes, of which each column has a scale, or all have one. */
static void products_of_bytes_scale_columns(void **state)
{
    enum {
        ONE_SCALE,
        EACH_COLUMN,
        EACH_FROM_BEHIND,
        EACH_ROW,
        ROWS_FROM_BEHIND,
        ZERO_FIRST,
        ZERO_LAST,
        UNSIGNED,
        VECTOR,
        GIVEN,
        LARGE,
        X_SCALE_EACH,
        BAD_SCALE,
        OTHER_READER,
        BLOCKS,
        SHORT_X,
        INT_X,
        SHORT_Y,
        WAYS
    };
    static const float scales[] = {0.5f, 1, 2, 4}, bad[] = {0.5f, 1, 2, 0};
    static const float of_blocks[4 * 4] = {1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2};
    static const int8_t none_each[4 * 4] = {0};
    static const int8_t first[] = {1, 0, 0, 0}, last[] = {0, 0, 0, 1}, none[] = {0, 0, 0, 0};
    static int8_t weights[600 * 4];
    (void)state;
    memset(weights, 127, sizeof weights);
    for (int i = 0; i < WAYS; i++) {
        const int64_t inner = i == LARGE ? 600 : 4;
        net_start(i >= BLOCKS ? 21 : 13);
        struct amp_shape shape = i == VECTOR ? DIMS(4) : DIMS(inner, 4);
        enum amp_dtype dtype = i == UNSIGNED ? AMP_UINT8 : AMP_INT8;
        bool has_one = i == ONE_SCALE || i == UNSIGNED || i == VECTOR || i == GIVEN || i == LARGE ||
                       i == X_SCALE_EACH || i > BLOCKS;
        uint32_t w = i == GIVEN ? input("w", dtype, shape) : constant("w", dtype, shape, weights);
        uint32_t s = has_one ? scale_of(0.5f)
                     : i == BLOCKS
                         ? constant("sw", AMP_FLOAT, square, of_blocks)
                         : constant("sw", AMP_FLOAT, DIMS(4), i == BAD_SCALE ? bad : scales);
        uint32_t z = i == BLOCKS ? constant("zw", dtype, square, none_each)
                                 : constant("zw", dtype, has_one ? SCALAR : DIMS(4),
                                            i == ZERO_FIRST  ? first
                                            : i == ZERO_LAST ? last
                                                             : none);
        uint32_t d = NODE("DequantizeLinear", "d", w, s, z);
        if (!has_one)
            set_int(d, "axis",
                    i == EACH_FROM_BEHIND   ? -1
                    : i == EACH_ROW         ? 0
                    : i == ROWS_FROM_BEHIND ? -2
                                            : 1);
        if (i == BLOCKS)
            set_int(d, "block_size", 1);
        static const float x_scales[] = {0.5f, 0.5f, 0.5f, 0.5f};
        static const uint8_t x_zeros[] = {0, 0, 0, 0};
        uint32_t x = input("x",
                           i == SHORT_X ? AMP_UINT16
                           : i == INT_X ? AMP_INT32
                                        : AMP_UINT8,
                           DIMS(4, inner));
        x = i == X_SCALE_EACH
                ? NODE("DequantizeLinear", "dx", x, constant("sx", AMP_FLOAT, DIMS(4), x_scales),
                       constant("zx", AMP_UINT8, DIMS(4), x_zeros))
                : NODE("DequantizeLinear", "dx", x, scale_of(0.5f));
        uint32_t y = NODE("MatMul", "y", x, d);
        bytes_from(y, i == SHORT_Y ? (struct bytes){AMP_UINT16, 0.5f, 0} : plain_bytes);
        if (i == OTHER_READER)
            output(y);
        /* Large sums are done apart from their rounding, which takes what fits 24 bits alone. */
        expect_integers(i == ONE_SCALE || i == EACH_COLUMN || i == EACH_FROM_BEHIND || i == LARGE,
                        "product", (size_t)i);
    }
}

/* What nobody reads as floats any more is not made floats of, and what others read is. */
static void bytes_are_floats_for_their_readers(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        net_start(13);
        uint32_t a = floats_of("a", plain_bytes), b = floats_of("b", plain_bytes);
        bytes_from(NODE("Add", "sum", a, b), plain_bytes);
        if (i == 1)
            output(a);
        if (i == 2)
            output(NODE("Sin", "n", b));
        if (i == 3) {
            output(b);
            output(NODE("Sin", "n", a));
        }
        static const char *const expected[] = {"QLinearAdd", "DequantizeLinear QLinearAdd",
                                               "DequantizeLinear QLinearAdd Sin",
                                               "DequantizeLinear DequantizeLinear QLinearAdd Sin"};
        assert_string_equal(fused(), expected[i]);
    }
}

/* The numbers of a convolution of bytes, with and without a bias and zero points, and a Relu that
   the result's range does: x - 3 halves, by weights of quarters. */
static void convolutions_of_bytes_add_up(void **state)
{
    static const uint8_t x[] = {3, 4, 5, 7, 11, 3, 0, 255};
    static const int8_t w[] = {1, -2, 3, 4};
    static const int32_t bias[] = {8, -16};
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool has_bias = (i & 1) != 0, has_zeros = (i & 2) != 0, has_relu = (i & 4) != 0;
        int zero = has_zeros ? 3 : 0, y_zero = has_zeros && !has_relu ? 100 : 0;
        net_start(13);
        uint32_t in = input("x", AMP_UINT8, DIMS(1, 2, 2, 2));
        uint32_t dx = has_zeros ? NODE("DequantizeLinear", "dx", in, scale_of(0.5f),
                                       zero_of((struct bytes){AMP_UINT8, 0, zero}))
                                : NODE("DequantizeLinear", "dx", in, scale_of(0.5f));
        uint32_t dw = NODE("DequantizeLinear", "dw", constant("w", AMP_INT8, DIMS(2, 2, 1, 1), w),
                           scale_of(0.25f));
        uint32_t db = has_bias ? NODE("DequantizeLinear", "db",
                                      constant("b", AMP_INT32, DIMS(2), bias), scale_of(0.125f))
                               : AMP_NONE;
        uint32_t y = has_bias   ? NODE("Conv", "y", dx, dw, db)
                     : has_relu ? NODE("Conv", "y", dx, dw, AMP_NONE)
                                : NODE("Conv", "y", dx, dw);
        if (has_relu)
            y = NODE("Relu", "r", y);
        uint32_t q = has_zeros ? NODE("QuantizeLinear", "q", y, scale_of(2),
                                      zero_of((struct bytes){AMP_UINT8, 0, y_zero}))
                               : NODE("QuantizeLinear", "q", y, scale_of(2));
        output(q);
        assert_string_equal(fused(), "QLinearConv");
        const struct amp_plan *plan = plan_net(AMP_FREE);
        assert_int_equal(amp_node_at(plan->model, plan->graphs[0].steps[0].node)->n_inputs,
                         has_bias ? 9 : 8);
        amp_plan_destroy(plan);
        double expected[8];
        for (int c = 0; c < 2; c++)
            for (int p = 0; p < 4; p++) {
                double sum = (has_bias ? bias[c] : 0) + (x[p] - zero) * w[c * 2] +
                             (x[4 + p] - zero) * w[c * 2 + 1];
                double rounded = rint(sum * 0.125 / 2) + y_zero;
                expected[c * 4 + p] = fmin(fmax(rounded, 0), 255);
            }
        assert_int_equal(net_run(false, net_tensor(AMP_UINT8, DIMS(1, 2, 2, 2), x)), AMP_OK);
        expect_doubles(0, expected, 8, 0);
    }
}

/* A convolution of two channels by weights of 1, all made of 8 bits but the bias, of 32. */
struct byte_conv {
    float x_scale, w_scale, w_scale_1, b_scale, b_scale_1, y_scale;
    int w_zero, b_zero, axis;
    bool has_scale_each, has_x_scale_each, has_y_scale_each, has_no_bias;
    bool has_given_scale, has_given_zero, has_given_weights, has_given_bias, has_float_bias;
    bool has_byte_bias;
    bool is_unsigned; /* the weights */
};

static uint32_t scales_of(bool is_each, float a, float b)
{
    return is_each ? constant(amp_model_unique_name(net.model, "scale"), AMP_FLOAT, DIMS(2),
                              (const float[]){a, b})
                   : scale_of(a);
}

static uint32_t zeros_of(bool is_each, enum amp_dtype dtype, int zero)
{
    const int32_t ints[] = {zero, zero};
    const int8_t bytes[] = {(int8_t)zero, (int8_t)zero};
    return constant(amp_model_unique_name(net.model, "zero"), dtype, is_each ? DIMS(2) : SCALAR,
                    dtype == AMP_INT32 ? (const void *)ints : bytes);
}

static void convolve_bytes(const struct byte_conv *c)
{
    static const int8_t ones[] = {1, 1, 1, 1};
    static const int32_t numbers[] = {3, 4};
    static const float floats[] = {3, 4};
    const enum amp_dtype w_dtype = c->is_unsigned ? AMP_UINT8 : AMP_INT8;
    net_start(13);
    uint32_t xs = c->has_given_scale ? input("xs", AMP_FLOAT, SCALAR)
                                     : scales_of(c->has_x_scale_each, c->x_scale, c->x_scale);
    uint32_t xz = c->has_given_zero ? input("xz", AMP_UINT8, SCALAR)
                                    : zeros_of(c->has_x_scale_each, AMP_UINT8, 3);
    uint32_t x = NODE("DequantizeLinear", "dx", input("x", AMP_UINT8, DIMS(1, 2, 3, 3)), xs, xz);
    uint32_t w = c->has_given_weights ? input("w", w_dtype, DIMS(2, 2, 1, 1))
                                      : constant("w", w_dtype, DIMS(2, 2, 1, 1), ones);
    uint32_t dw =
        NODE("DequantizeLinear", "dw", w, scales_of(c->has_scale_each, c->w_scale, c->w_scale_1),
             zeros_of(c->has_scale_each, w_dtype, c->w_zero));
    static const int8_t bytes_of_bias[] = {3, 4};
    const enum amp_dtype b_dtype = c->has_byte_bias ? AMP_INT8 : AMP_INT32;
    uint32_t b = c->has_given_bias  ? input("b", AMP_INT32, DIMS(2))
                 : c->has_byte_bias ? constant("b", b_dtype, DIMS(2), bytes_of_bias)
                                    : constant("b", b_dtype, DIMS(2), numbers);
    uint32_t db = c->has_float_bias ? constant("fb", AMP_FLOAT, DIMS(2), floats)
                                    : NODE("DequantizeLinear", "db", b,
                                           scales_of(c->has_scale_each, c->b_scale, c->b_scale_1),
                                           zeros_of(c->has_scale_each, b_dtype, c->b_zero));
    if (c->has_scale_each) {
        set_int(dw, "axis", c->axis);
        if (!c->has_float_bias)
            set_int(db, "axis", 0);
    }
    uint32_t y = c->has_no_bias ? NODE("Conv", "y", x, dw) : NODE("Conv", "y", x, dw, db);
    output(NODE("QuantizeLinear", "q", y, scales_of(c->has_y_scale_each, c->y_scale, c->y_scale),
                zeros_of(c->has_y_scale_each, AMP_UINT8, 5)));
}

/* Of constant scales, which are above 0 and normal numbers; with one of x and one of y; with
   weights of int8 without a zero point, and a bias of the scales of the products. */
#define SCALES 0.5f, 0.25f, 0, 0.125f, 0, 2

static void convolutions_of_bytes_have_fitting_scales(void **state)
{
    static const struct byte_conv
        fit[] = {{SCALES, .axis = 0},
                 {SCALES, .has_no_bias = true},
                 {0.5f, 0.25f, 0, 0.125001f, 0, 2, .axis = 0},
                 {0.5f, 0.25f, 0.5f, 0.125f, 0.25f, 2, .has_scale_each = true},
                 {0.5f, 0.25f, 0.5f, 0.125f, 0.25f, 2, .has_scale_each = true, .axis = -4}},
        misfit[] = {
            {0.5f, 0.25f, 0, 0.12501f, 0, 2, .axis = 0},
            {0.5f, 0.25f, 0, 0.12499f, 0, 2, .axis = 0},
            {0.5f, 0.25f, 0, 0.1250018f, 0, 2, .axis = 0},
            {0.5f, 0.25f, 0, 0.1249982f, 0, 2, .axis = 0},
            {SCALES, .b_zero = 1},
            {SCALES, .w_zero = 1},
            {0, 0.25f, 0, 0, 0, 2, .axis = 0},
            {-0.5f, -0.25f, 0, 0.125f, 0, 2, .axis = 0},
            {INFINITY, 0.25f, 0, 0.125f, 0, 2, .has_no_bias = true},
            {NAN, 0.25f, 0, 0.125f, 0, 2, .has_no_bias = true},
            {1e-40f, 0.25f, 0, 0.125f, 0, 2, .has_no_bias = true},
            {0.5f, 1e-40f, 0, 0.125f, 0, 2, .has_no_bias = true},
            {0.5f, 0.25f, 0, 0.125f, 0, 1e-40f, .axis = 0},
            {0.5f, 0.25f, 0.5f, 0.125f, 0.125f, 2, .has_scale_each = true},
            {0.5f, 0.25f, 0, 0.125f, 0, 2, .has_scale_each = true},
            {0.5f, 0.25f, 0.5f, 0.125f, 0.25f, 2, .has_scale_each = true, .axis = 1},
            {SCALES, .has_x_scale_each = true},
            {SCALES, .has_y_scale_each = true},
            {SCALES, .has_given_scale = true},
            {SCALES, .has_given_zero = true},
            {SCALES, .has_given_weights = true, .has_no_bias = true},
            {SCALES, .has_given_bias = true},
            {SCALES, .has_float_bias = true},
            {SCALES, .is_unsigned = true},
            {SCALES, .has_byte_bias = true},
            {0.5f, 0.25f, 0.5f, 0.1250026f, 0.25f, 2, .has_scale_each = true},
            {0.5f, 0.25f, 0.5f, 0.125f, 0.2500052f, 2, .has_scale_each = true},
            {0.5f, 0.25f, -0.5f, 0.125f, -0.25f, 2, .has_scale_each = true},
            {0.5f, 0.25f, 0.5f, 0.125f, 0.25f, 2, .has_scale_each = true, .axis = -3},
        };
    (void)state;
    for (size_t i = 0; i < sizeof fit / sizeof *fit; i++) {
        convolve_bytes(&fit[i]);
        if (count_integers() != 1)
            fail_msg("case %zu does not fit", i);
    }
    for (size_t i = 0; i < sizeof misfit / sizeof *misfit; i++) {
        convolve_bytes(&misfit[i]);
        if (count_integers() != 0)
            fail_msg("case %zu fits", i);
    }
}

enum { BF16 = 1 << AMP_CPU_BF16, F16 = 1 << AMP_CPU_F16, FAST_F16 = 1 << AMP_CPU_FAST_F16 };

/* A product of casts between float32, whose result is moved before it is cast again. */
static void a_product_that_is_moved(enum amp_dtype dtype)
{
    net_start(17);
    uint32_t w = input("w", dtype, square), c = to_dtype("c", input("x", AMP_FLOAT, square), dtype);
    uint32_t m = NODE("MatMul", "m", c, w);
    output(to_dtype("z", turn("t", NODE("Relu", "r", m)), AMP_FLOAT));
}

/* All post-ops but the last give float32 where the product does. */
static void post_ops_are_as_wide_as_products(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        net_start(17);
        uint32_t x = input("x", AMP_BFLOAT16, square), w = input("w", AMP_BFLOAT16, square);
        output(NODE("Sigmoid", "s", NODE("Relu", "r", NODE("MatMul", "m", x, w))));
        expect_dtypes(i == 0 ? BF16 : 0, AMP_FREE, i == 0 ? "m:+r:+s:" : "m:plr+r:pls+s:plr");
    }
}

static void what_the_cpu_lacks_stays_float32(void **state)
{
    (void)state;
    a_product_that_is_moved(AMP_BFLOAT16);
    expect_dtypes(F16 | FAST_F16, AMP_ROUNDED, "c:psr m:plsr r:ps t:ps z:");
    expect_dtypes(F16 | FAST_F16, AMP_FREE, "c:psr m:plsr+r:plsr t:ps z:");
    expect_dtypes(BF16, AMP_ROUNDED, "c: m: r: t: z:");
    a_product_that_is_moved(AMP_FLOAT16);
    expect_dtypes(BF16, AMP_ROUNDED, "c:psr m:plsr r:ps t:ps z:");
    expect_dtypes(F16, AMP_ROUNDED, "c: m: r: t: z:");
}

/* A product in bfloat16, for others to read. */
static uint32_t start_product(void)
{
    net_start(17);
    uint32_t w = input("w", AMP_BFLOAT16, square);
    return NODE("MatMul", "m", to_dtype("c", input("x", AMP_FLOAT, square), AMP_BFLOAT16), w);
}

static void finish(uint32_t y)
{
    output(to_dtype("z", y, AMP_FLOAT));
}

/* What is moved or mapped between them does so where all around it is. */
static void what_has_float32_around_it_joins(void **state)
{
    const char *names[] = {"Softmax", "Exp", "Neg"};
    const char *flags[] = {"plsr", "psr", "ps"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char text[100];
        finish(NODE(names[i], "y", start_product()));
        snprintf(text, sizeof text, "c:psr m:plsr y:%s z:", flags[i]);
        expect_dtypes(0, AMP_ROUNDED, text);
    }
    static const uint16_t zeros[4];
    uint32_t m = start_product();
    finish(NODE("Add", "y", m, NODE("Exp", "q", constant("f", AMP_BFLOAT16, DIMS(4), zeros))));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr q: y:psr z:");
    m = start_product();
    finish(NODE("Clip", "y", m, AMP_NONE, constant("high", AMP_BFLOAT16, SCALAR, zeros)));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr y:ps z:");
    m = start_product();
    finish(NODE("MatMul", "y", m,
                to_dtype("f", NODE("Exp", "e", FLOATS("four", 1, 2, 3, 4)), AMP_BFLOAT16)));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr e: f: y:plsr z:");
    m = start_product();
    finish(NODE("Gather", "y", m, input("i", AMP_INT64, DIMS(2))));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr y:ps z:");
    net_start(17);
    uint32_t like = input("like", AMP_BFLOAT16, square);
    m = NODE("CastLike", "n", input("x", AMP_FLOAT, square), like);
    finish(NODE("MatMul", "m", m, like));
    expect_dtypes(0, AMP_ROUNDED, "n: m:plsr z:");
    m = start_product();
    finish(NODE("Unsqueeze", "y", m, NUMBERS("axes", 0)));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr y:ps z:");
    m = start_product();
    finish(NODE("Add", "y", NODE("Neg", "n", m), input("b", AMP_BFLOAT16, square)));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr n:p y: z:");
    net_start(17);
    uint32_t c = to_dtype("c", input("x", AMP_FLOAT, square), AMP_BFLOAT16);
    finish(NODE("Add", "y", c, input("b", AMP_BFLOAT16, square)));
    expect_dtypes(0, AMP_ROUNDED, "c: y: z:");
    net_start(17);
    c = NODE("Exp", "e", NODE("Neg", "n", input("x", AMP_BFLOAT16, square)));
    finish(NODE("MatMul", "m", c, c));
    expect_dtypes(0, AMP_ROUNDED, "n: e: m:plsr z:");
    net_start(17);
    uint32_t f = constant("f", AMP_BFLOAT16, DIMS(4), zeros);
    finish(NODE("Where", "y", input("c", AMP_BOOL, DIMS(4)), f, f));
    expect_dtypes(0, AMP_ROUNDED, "y: z:");
}

/* A cast to float32 as the end of a chain gives what it is to give; it does not stay so in place of
   something else. */
static void what_is_float32_does_not_stay_so(void **state)
{
    (void)state;
    uint32_t m = to_dtype("f", start_product(), AMP_FLOAT);
    finish(NODE("MatMul", "n", to_dtype("a", m, AMP_BFLOAT16), to_dtype("b", m, AMP_BFLOAT16)));
    expect_dtypes(0, AMP_FREE, "c:psr m:plr+f:plr a:psr b:psr n:plr+z:plr");
}

/* Others have the dtype from it. */
static void what_others_read_in_its_dtype_is_stored_so(void **state)
{
    (void)state;
    uint32_t m = start_product();
    output(m);
    finish(m);
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plr z:");
    m = start_product();
    uint32_t n = NODE("Neg", "n", m);
    output(n);
    finish(n);
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plsr n:p z:");
    expect_dtypes(0, AMP_FREE, "c:psr m:plsr n:p z:");
    for (int i = 0; i < 3; i++) {
        m = start_product();
        uint32_t split = net_node(0, "Split", "h", 2, IDS(m));
        finish(net_out(split, 0));
        if (i == 0)
            finish(net_out(split, 1));
        else if (i == 1)
            output(net_out(split, 1));
        expect_dtypes(0, AMP_ROUNDED, i == 0 ? "c:psr m:plsr h:ps z: z_1:" : "c:psr m:plsr h:p z:");
    }
    output(to_dtype("i", start_product(), AMP_INT32));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plr i:");
    m = start_product();
    output(NODE("CastLike", "f", m, input("like", AMP_FLOAT, SCALAR)));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plr f:");
    m = start_product();
    uint32_t owner = net_node(0, "If", "if", 1, IDS(input("b", AMP_BOOL, SCALAR)));
    add_branch(owner, "then_branch", "Cast", m);
    add_branch(owner, "else_branch", "Cast", m);
    output(net_out(owner, 0));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plr if:");
    output(to_dtype("i", start_product(), AMP_DOUBLE));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plr i:");
    m = NODE("Relu", "r", start_product());
    output(NODE("Sin", "a", to_dtype("f", m, AMP_FLOAT)));
    output(NODE("Sin", "b", to_dtype("g", m, AMP_FLOAT)));
    expect_dtypes(BF16, AMP_FREE, "c: m:+r: a: b:");
    expect_dtypes(0, AMP_FREE, "c:psr m:plsr+r:plsr a: b:");
    net_start(17);
    m = NODE("MatMul", "m", input("x", AMP_FLOAT16, square), input("w", AMP_FLOAT16, square));
    uint32_t list = NODE("SplitToSequence", "l", m);
    finish(NODE("SequenceAt", "a", list, constant("i", AMP_INT64, SCALAR, &(int64_t){0})));
    expect_dtypes(0, AMP_ROUNDED, "m:plr l: a: z:");
    m = start_product();
    uint32_t dropped = net_node(0, "Dropout", "d", 2, IDS(m));
    finish(net_out(dropped, 0));
    output(net_out(dropped, 1));
    expect_dtypes(0, AMP_ROUNDED, "c:psr m:plr d: z:");
}

/* oneDNN widens what convolutions in float16 read each time, where products are not fast. */
static void convolutions_in_float16_are_widened(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        uint32_t features;
        enum amp_strictness strictness;
        const char *expected;
    } cases[] = {{AMP_FLOAT16, F16, AMP_FREE, "y:p"},
                 {AMP_FLOAT16, F16, AMP_ROUNDED, "y:pr"},
                 {AMP_FLOAT16, F16, AMP_LITERAL, "y:pr"},
                 {AMP_FLOAT16, 0, AMP_FREE, "y:p"},
                 {AMP_FLOAT16, F16 | FAST_F16, AMP_ROUNDED, "y:"},
                 {AMP_BFLOAT16, 0, AMP_FREE, "y:plr"},
                 {AMP_BFLOAT16, BF16, AMP_ROUNDED, "y:"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net_start(22);
        uint32_t x = input("x", cases[i].dtype, DIMS(1, 2, 5, 5));
        output(NODE("Conv", "y", x, input("w", cases[i].dtype, DIMS(2, 2, 3, 3))));
        expect_dtypes(cases[i].features, cases[i].strictness, cases[i].expected);
    }
    net_start(22);
    uint32_t y = NODE("MaxPool", "y", input("x", AMP_BFLOAT16, DIMS(1, 2, 5, 5)));
    SET_INTS(y, "kernel_shape", 3, 3);
    output(y);
    expect_dtypes(0, AMP_ROUNDED, "y:pl");
    net_start(22);
    uint32_t id = net_node(0, "MaxPool", "y", 2, IDS(input("x", AMP_BFLOAT16, DIMS(1, 2, 5, 5))));
    SET_INTS(net_out(id, 0), "kernel_shape", 3, 3);
    output(net_out(id, 0));
    output(net_out(id, 1));
    expect_dtypes(0, AMP_ROUNDED, "y:");
    net_start(17);
    output(NODE("ReduceMean", "y", input("x", AMP_BFLOAT16, square)));
    expect_dtypes(0, AMP_ROUNDED, "y:plr");
}

/* An LSTM of bfloat16 that gives its last states, the first of them under no name, and a GRU that
   gives nothing: what is not there is not widened. */
static void outputs_that_are_not_there_have_no_dtype(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_BFLOAT16, DIMS(2, 1, 4)),
             w = input("w", AMP_BFLOAT16, DIMS(1, 16, 4));
    uint32_t id = net_node(0, "LSTM", "y", 3, IDS(x, w, w));
    amp_node_set_int(net.model, id, "hidden_size", 4);
    amp_node_set_output(net.model, id, 1, AMP_NONE);
    finish(net_out(id, 0));
    finish(net_out(id, 2));
    expect_dtypes(0, AMP_ROUNDED, "y:plsr z: z_1:");
    net_start(22);
    x = input("x", AMP_BFLOAT16, DIMS(2, 1, 4));
    w = input("w", AMP_BFLOAT16, DIMS(1, 12, 4));
    for (uint32_t n = 0; n <= 2; n += 2) {
        id = net_node(0, "GRU", "y", n, IDS(x, w, w));
        amp_node_set_int(net.model, id, "hidden_size", 4);
    }
    amp_node_set_output(net.model, id, 0, AMP_NONE);
    output(net_out(id, 1));
    const struct amp_plan *plan = plan_net(AMP_FREE);
    assert_int_equal(plan->graphs[0].n_steps, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct amp_step *step = &plan->graphs[0].steps[i];
        assert_true(amp_step_output(plan->model, step) == AMP_NONE);
        assert_false(step->prefers_f32 || step->lacks_dtype || step->stores_f32 ||
                     step->rounds_f32 || step->layout_wish.any_layout);
    }
    amp_plan_destroy(plan);
}

/* One or two rows by no more than 2^14 weights, on CPUs that have a kernel for it. */
static void small_products_are_float32(void **state)
{
    static const float weights[129 * 128];
    static const struct {
        int64_t rows, columns;
        bool is_variable, is_small;
    } cases[] = {{1, 128, false, true},  {2, 128, false, true},  {3, 128, false, false},
                 {1, 129, false, false}, {2, 129, false, false}, {1, 1, false, true},
                 {1, 128, true, false},  {-1, 128, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        net_start(17);
        struct amp_shape shape = DIMS(128, cases[i].columns);
        uint32_t w = cases[i].is_variable ? input("w", AMP_BFLOAT16, shape)
                                          : constant("w", AMP_BFLOAT16, shape, weights);
        output(NODE("MatMul", "y", input("x", AMP_BFLOAT16, DIMS(cases[i].rows, 128)), w));
        bool is_small = cases[i].is_small && amp_row_product_is_there();
        expect_dtypes(BF16, AMP_FREE, is_small ? "y:pr" : "y:");
        expect_dtypes(0, AMP_FREE, "y:plr");
    }
    for (int is_vector = 0; is_vector < 2; is_vector++) {
        net_start(17);
        uint32_t w = constant("w", AMP_BFLOAT16, is_vector ? DIMS(128) : DIMS(128, 3), weights);
        output(NODE("MatMul", "y", input("x", AMP_BFLOAT16, DIMS(128)), w));
        expect_dtypes(BF16, AMP_FREE, !is_vector && amp_row_product_is_there() ? "y:pr" : "y:");
    }
    net_start(17);
    output(NODE("MatMul", "y", input("x", AMP_FLOAT, DIMS(1, 128)),
                constant("w", AMP_FLOAT, DIMS(128, 1), weights)));
    expect_dtypes(BF16, AMP_FREE, "y:");
    net_start(17);
    output(NODE("Add", "y", input("x", AMP_BFLOAT16, DIMS(1, 128)),
                constant("w", AMP_BFLOAT16, DIMS(128), weights)));
    expect_dtypes(BF16, AMP_FREE, "y:");
}

/* Nor does anything join those that are only faster so, where the CPU has the dtype. */
static void what_the_cpu_has_does_not_join(void **state)
{
    (void)state;
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT16, DIMS(1, 2, 5, 5));
    uint32_t y = NODE("Conv", "y", x, input("w", AMP_FLOAT16, DIMS(2, 2, 3, 3)));
    finish(NODE("Neg", "n", y));
    expect_dtypes(F16, AMP_ROUNDED, "y:pr n: z:");
    expect_dtypes(0, AMP_ROUNDED, "y:psr n:ps z:");
}

/* ---- ways ---- */

/* The ways in which the steps of the third run went, each behind the value that its node gives, on
   a CPU that computes in FEATURES. */
static void expect_ways(uint32_t features, const struct amp_tensor *inputs, const char *expected)
{
    char text[1000] = "";
    size_t count;
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    infer_all();
    pretend(features);
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    for (int run = 0; run < 3; run++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        if (amp_session_run(session, inputs, net.outputs, &net.err) != AMP_OK)
            fail_msg("%s", net.err.text);
    }
    amp_cpu_detect();
    const struct amp_profile_node *nodes = amp_profile_nodes(profile, &count);
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(text);
        if (nodes[i].node != NULL)
            snprintf(text + used, sizeof text - used, "%s%s: %s", used > 0 ? ", " : "",
                     amp_value_at(session->model, nodes[i].node->outputs[0])->name, nodes[i].way);
    }
    amp_session_destroy(session);
    amp_profile_destroy(profile);
    assert_string_equal(text, expected);
}

static struct amp_tensor zeros_like(enum amp_dtype dtype, struct amp_shape shape)
{
    static const float zeros[1024];
    return *net_tensor(dtype, shape, zeros);
}

/* A convolution that takes X, and a Relu of what it gives. */
static void convolve_once(enum amp_dtype dtype, uint32_t x)
{
    static const float zeros[36];
    uint32_t w = constant("w", dtype, DIMS(2, 2, 3, 3), zeros);
    output(NODE("Relu", "r", NODE("Conv", "c", x, w)));
}

/* A row by constant weights in bfloat16. */
static void multiply_row(void)
{
    static const uint16_t zeros[16];
    net_start(17);
    output(NODE("MatMul", "y", input("x", AMP_BFLOAT16, DIMS(1, 4)),
                constant("w", AMP_BFLOAT16, square, zeros)));
}

/* On machines for whose instructions oneDNN has kernels with post-ops. */
static void steps_say_how_they_ran(void **state)
{
    const struct amp_shape image = {4, {1, 2, 5, 5}};
    unsigned has = dnnl_get_effective_cpu_isa(), wanted = dnnl_cpu_isa_avx2;
    (void)state;
    if ((has & wanted) != wanted)
        skip();
    net_start(22);
    convolve_once(AMP_FLOAT, input("x", AMP_FLOAT, image));
    output(NODE("CumSum", "s", input("y", AMP_FLOAT, square), NUMBERS("a", 1)));
    expect_ways(0, TENSORS(zeros_like(AMP_FLOAT, image), zeros_like(AMP_FLOAT, square)),
                "c: post-ops, s: alone");
    net_start(22);
    convolve_once(AMP_BFLOAT16, input("x", AMP_BFLOAT16, image));
    expect_ways(0, TENSORS(zeros_like(AMP_BFLOAT16, image)),
                "c: post-ops; float32: no kernel for bf16");
    net_start(22);
    convolve_once(AMP_FLOAT16, input("x", AMP_FLOAT16, image));
    expect_ways(F16, TENSORS(zeros_like(AMP_FLOAT16, image)),
                "c: post-ops; float32: faster than fp16");
    net_start(22);
    convolve_once(AMP_FLOAT, to_dtype("d", input("x", AMP_BFLOAT16, image), AMP_FLOAT));
    expect_ways(0, TENSORS(zeros_like(AMP_BFLOAT16, image)), "c: reads casts; post-ops");
    net_start(22);
    output(NODE("Sin", "y", to_dtype("d", input("x", AMP_BFLOAT16, square), AMP_FLOAT)));
    expect_ways(BF16, TENSORS(zeros_like(AMP_BFLOAT16, square)), "y: reads casts");
    net_start(17);
    output(NODE("Softmax", "y", input("x", AMP_BFLOAT16, square)));
    expect_ways(0, TENSORS(zeros_like(AMP_BFLOAT16, square)),
                "y: alone; float32: no kernel for bf16");
    multiply_row();
    expect_ways(0, TENSORS(zeros_like(AMP_BFLOAT16, DIMS(1, 4))),
                "y: alone; float32: no kernel for bf16");
    for (int n = 3; n <= 4; n++) { /* nothing is rounded between products */
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT16, square);
        uint32_t y = net_out(net_node(0, "Einsum", "y", 1, (uint32_t[]){x, x, x, x}, (size_t)n), 0);
        set_word(y, "equation", n == 3 ? "ij,jk,kl->il" : "ij,jk,kl,lm->im");
        output(y);
        expect_ways(F16, TENSORS(zeros_like(AMP_FLOAT16, square)),
                    "y: alone; float32: no kernel for fp16");
    }
    if (amp_row_product_is_there()) {
        multiply_row();
        expect_ways(BF16, TENSORS(zeros_like(AMP_BFLOAT16, DIMS(1, 4))),
                    "y: alone; float32: faster than bf16");
    }
    amp_session_set_threads(1);
    net_start(17);
    uint32_t s = NODE("MatMul", "s", input("q", AMP_FLOAT, DIMS(1024, 1)),
                      input("k", AMP_FLOAT, DIMS(1, 1024)));
    output(NODE("MatMul", "y", NODE("Softmax", "p", s), input("v", AMP_FLOAT, DIMS(1024, 1))));
    expect_ways(0,
                TENSORS(zeros_like(AMP_FLOAT, DIMS(1024, 1)), zeros_like(AMP_FLOAT, DIMS(1, 1024)),
                        zeros_like(AMP_FLOAT, DIMS(1024, 1))),
                "s: alone; in slices, p: alone; in slices, y: alone; in slices");
}

/* Constants in a dtype that the CPU lacks are made float32 once, for products of any number of
   rows and for what is added to these. */
static void widened_constants_stay(void **state)
{
    static const int64_t rows[] = {3, 3, 3, 5, 3, 7, 7, 7, 1};
    static const uint16_t weights[] = {0x3F80, 0xBF80, 0x4000, 0x3F00, 0x3F80, 0x4000,
                                       0xBF00, 0,      0x4000, 0x3F80, 0x3F80, 0xC000,
                                       0,      0x3F80, 0x4000, 0x3F80};
    struct amp_session *sessions[2];
    struct amp_tensor found = {.dtype = AMP_UNDEFINED}, wanted = found;
    float numbers[7 * 4];
    (void)state;
    for (int i = 0; i < 7 * 4; i++)
        numbers[i] = (float)(i * 5 % 9 - 4);
    net_start(17);
    uint32_t x = to_dtype("low", input("x", AMP_FLOAT, DIMS(-1, 4)), AMP_BFLOAT16);
    uint32_t m = NODE("MatMul", "m", x, constant("w", AMP_BFLOAT16, square, weights));
    m = NODE("Add", "a", m, constant("b", AMP_BFLOAT16, DIMS(4), weights));
    output(to_dtype("y", NODE("Mul", "f", m, constant("c", AMP_BFLOAT16, DIMS(4), weights + 4)),
                    AMP_FLOAT));
    infer_all();
    pretend(0);
    const struct amp_tensor *in = net_tensor(AMP_FLOAT, DIMS(7, 4), numbers);
    size_t used = amp_memory_used();
    for (int i = 0; i < 2; i++)
        assert_int_equal(amp_session_open(net.model, i, &sessions[i], &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct amp_tensor part = *in;
        part.shape.dims[0] = rows[i];
        assert_int_equal(amp_session_run(sessions[0], &part, &found, &net.err), AMP_OK);
        assert_int_equal(amp_session_run(sessions[1], &part, &wanted, &net.err), AMP_OK);
        assert_true(amp_shape_equal(&found.shape, &wanted.shape));
        for (size_t k = 0; k < amp_tensor_count(&found); k++)
            assert_true(amp_tensor_double(&found, k) == amp_tensor_double(&wanted, k));
        amp_tensor_release(&found);
        amp_tensor_release(&wanted);
    }
    amp_cpu_detect();
    amp_session_destroy(sessions[0]);
    amp_session_destroy(sessions[1]);
    assert_int_equal(amp_memory_used(), used);
}

/* ---- slices ---- */

enum { SCORES = 1100 /* rows and columns that are more than a slice of bfloat16 */, DEPTH = 4 };

/* The first product of attention in DTYPE, of rank RANK. */
static uint32_t start_large_scores(int opset, enum amp_dtype dtype, int rank)
{
    struct amp_shape q = DIMS(SCORES, DEPTH), k = DIMS(DEPTH, SCORES);
    if (rank == 3)
        q = DIMS(1, SCORES, DEPTH), k = DIMS(1, DEPTH, SCORES);
    net_start(opset);
    return NODE("MatMul", "s", input("q", dtype, q), input("k", dtype, k));
}

static void end_large_scores(enum amp_dtype dtype, uint32_t p)
{
    output(NODE("MatMul", "y", p, input("v", dtype, DIMS(SCORES, DEPTH))));
}

/* Small numbers, of the shape of input I. */
static struct amp_tensor small_numbers(size_t i)
{
    const struct amp_value *value = amp_value_at(net.model, net.model->graphs[0].inputs.items[i]);
    struct amp_tensor tensor = {.dtype = AMP_FLOAT};
    amp_value_shape(value, &tensor.shape);
    size_t count = amp_tensor_count(&tensor);
    float *items = amp_arena_array(net.arena, count, sizeof *items);
    for (size_t k = 0; k < count; k++)
        items[k] = (float)((k * 7 + k / 13 * 5 + i) % 31) / 16 - 15.0f / 16;
    tensor.data = items;
    struct amp_tensor made = {.dtype = value->dtype, .shape = tensor.shape};
    made.data = amp_arena_array(net.arena, amp_tensor_size(&made), 1);
    if (made.dtype == AMP_BOOL)
        for (size_t k = 0; k < count; k++)
            ((uint8_t *)made.data)[k] = items[k] < 0;
    else
        amp_dtype_convert(AMP_FLOAT, items, made.dtype, made.data, count);
    return made;
}

/* Runs the net on a CPU that computes in FEATURES, in slices or not as IS_SLICED says (NULL: in any
   way), with the results of a strict run but for a relative ERROR. */
static void expect_slices_or_not(uint32_t features, const bool *is_sliced, double error)
{
    struct amp_tensor inputs[8], found = {.dtype = AMP_UNDEFINED}, wanted = found;
    struct amp_session *sessions[2];
    size_t count;
    infer_all();
    for (size_t i = 0; i < net.model->graphs[0].inputs.count; i++)
        inputs[i] = small_numbers(i);
    struct amp_profile *profile = amp_profile_create();
    pretend(features);
    for (int i = 0; i < 2; i++)
        assert_int_equal(amp_session_open(net.model, i, &sessions[i], &net.err), AMP_OK);
    amp_session_observe(sessions[0], profile);
    assert_int_equal(amp_session_run(sessions[1], inputs, &wanted, &net.err), AMP_OK);
    for (int run = 0; run < 2; run++) {
        amp_tensor_release(&found);
        assert_int_equal(amp_session_run(sessions[0], inputs, &found, &net.err), AMP_OK);
        assert_true(amp_shape_equal(&found.shape, &wanted.shape));
        for (size_t i = 0; i < amp_tensor_count(&found); i++) {
            double x = amp_tensor_double(&found, i), y = amp_tensor_double(&wanted, i);
            if (!(fabs(x - y) <= error * (1 + fabs(y))))
                fail_msg("element %zu: %g; %g is right", i, x, y);
        }
    }
    amp_cpu_detect();
    const struct amp_profile_node *nodes = amp_profile_nodes(profile, &count);
    for (size_t i = 0; i < count; i++)
        if (nodes[i].node != NULL && is_sliced != NULL)
            if ((strstr(nodes[i].way, "in slices") != NULL) != *is_sliced)
                fail_msg("%s: %s",
                         amp_value_at(sessions[0]->model, nodes[i].node->outputs[0])->name,
                         nodes[i].way);
    amp_tensor_release(&found);
    amp_tensor_release(&wanted);
    amp_session_destroy(sessions[0]);
    amp_session_destroy(sessions[1]);
    amp_profile_destroy(profile);
}

static void expect_slices(uint32_t features, bool is_sliced, double error)
{
    expect_slices_or_not(features, &is_sliced, error);
}

/* In slices or not. */
static void expect_results(uint32_t features, double error)
{
    expect_slices_or_not(features, NULL, error);
}

/* A Softmax over the last axis has each row for itself; so has what gives as many. */
static void slices_are_of_whole_rows(void **state)
{
    enum { NONE = 9 };
    static const struct {
        int opset, rank, axis;
        bool is_sliced;
    } cases[] = {{17, 2, NONE, true}, {17, 2, -1, true},    {17, 2, 1, true},  {17, 2, 0, false},
                 {17, 2, -2, false},  {17, 3, 2, true},     {17, 3, 1, false}, {17, 3, NONE, true},
                 {11, 2, NONE, true}, {11, 3, NONE, false}, {11, 3, 2, true},  {11, 3, -1, true}};
    (void)state;
    amp_session_set_threads(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t s = start_large_scores(cases[i].opset, AMP_FLOAT, cases[i].rank);
        uint32_t p = NODE("Softmax", "p", s);
        if (cases[i].axis != NONE)
            set_int(p, "axis", cases[i].axis);
        end_large_scores(AMP_FLOAT, p);
        expect_slices(0, cases[i].is_sliced, 1e-5);
    }
    const struct amp_shape masks[] = {
        {2, {SCORES, 1}}, {2, {1, SCORES}}, {3, {1, 1, SCORES}}, {3, {2, 1, 1}}};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        for (int rank = 2; rank <= 3; rank++) {
            uint32_t s = start_large_scores(17, AMP_FLOAT, rank);
            uint32_t w = NODE("Where", "w", input("c", AMP_BOOL, masks[i]), s, FLOATS("low", -8));
            end_large_scores(AMP_FLOAT, NODE("Softmax", "p", w));
            expect_slices(0, i < 2 || (i == 2 && rank == 3), 1e-5);
        }
}

/* Nor is there a row to cut where a vector is multiplied. */
static void slices_are_of_matrices(void **state)
{
    (void)state;
    amp_session_set_threads(1);
    for (int is_second = 0; is_second < 2; is_second++) {
        struct amp_shape vector = DIMS(DEPTH), matrices = DIMS(SCORES, SCORES, DEPTH);
        if (!is_second)
            matrices = DIMS(SCORES, DEPTH, SCORES);
        net_start(17);
        uint32_t a = input("a", AMP_FLOAT, is_second ? matrices : vector);
        uint32_t b = input("b", AMP_FLOAT, is_second ? vector : matrices);
        end_large_scores(AMP_FLOAT, NODE("Softmax", "p", NODE("MatMul", "s", a, b)));
        expect_slices(0, false, 1e-5);
    }
    enum { LONG = 600000 };
    net_start(17);
    uint32_t q = input("q", AMP_FLOAT, DIMS(1));
    uint32_t s = NODE("MatMul", "s", q, input("k", AMP_FLOAT, DIMS(1, LONG)));
    output(NODE("MatMul", "y", NODE("Softmax", "p", s), input("v", AMP_FLOAT, DIMS(LONG, 1))));
    expect_slices(0, false, 1e-5);
}

/* What one part computes in float32 for others that take bfloat16 is rounded between them. */
static void slices_go_from_dtype_to_dtype(void **state)
{
    (void)state;
    amp_session_set_threads(1);
    for (int i = 0; i < 4; i++) {
        uint32_t s = start_large_scores(17, AMP_BFLOAT16, 2);
        uint32_t c = input("c", AMP_BOOL, DIMS(1, SCORES));
        uint32_t b = input("b", AMP_BFLOAT16, DIMS(1, SCORES));
        if (i != 1)
            s = NODE("Where", "w", c, s, b);
        if (i == 3)
            s = NODE("Where", "w", c, s, b);
        uint32_t p = NODE("Softmax", "p", s);
        if (i > 0)
            p = NODE("Where", "e", c, p, b);
        end_large_scores(AMP_BFLOAT16, p);
        expect_slices(0, true, 0.02);
    }
}

/* Scores of HEADS in DTYPE that are more than a slice: heads are cut from one another, or the rows
   of each. */
static uint32_t start_heads(enum amp_dtype dtype, int64_t heads, int64_t rows)
{
    net_start(17);
    uint32_t q = input("q", dtype, DIMS(heads, rows, DEPTH));
    return NODE("MatMul", "s", q, input("k", dtype, DIMS(heads, DEPTH, rows)));
}

static void end_heads(enum amp_dtype dtype, int64_t heads, int64_t rows, uint32_t p)
{
    output(NODE("MatMul", "y", p, input("v", dtype, DIMS(heads, rows, DEPTH))));
}

/* What is added to scores, by the product itself or by a step of its own, is cut as they are. */
static void slices_take_operands_that_broadcast(void **state)
{
    static const int64_t sizes[][2] = {{3, 420}, {2, 730}};
    (void)state;
    amp_session_set_threads(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t h = sizes[i][0], n = sizes[i][1];
        const struct amp_shape shapes[] = {
            DIMS(h, n, n), DIMS(1, n, n), DIMS(h, 1, n), DIMS(h, n, 1), DIMS(h, 1, 1),   DIMS(n, n),
            DIMS(1, n),    DIMS(n, 1),    DIMS(n),       SCALAR,        DIMS(1, h, n, n)};
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            uint32_t s = NODE("Mul", "m", start_heads(AMP_FLOAT, h, n), FLOATS("f", 0.5f));
            s = NODE("Add", "a", s, input("b", AMP_FLOAT, shapes[k]));
            uint32_t p = NODE("Softmax", "p", s);
            if (k % 2 == 0 && shapes[k].rank < 4)
                p = NODE("Mul", "w", p, input("c", AMP_FLOAT, shapes[k]));
            end_heads(AMP_FLOAT, h, n, p);
            expect_slices(0, shapes[k].rank < 4, 1e-5);
        }
    }
}

/* What a convolution gives lies as oneDNN wants it: it is cut row-major. */
static void slices_take_operands_in_layouts(void **state)
{
    static const float w[] = {0.5f, -0.25f, 0.125f, 1};
    (void)state;
    amp_session_set_threads(1);
    for (int i = 0; i < 3; i++) {
        net_start(17);
        uint32_t q = input("q", AMP_FLOAT, DIMS(1, 2, 600, DEPTH));
        uint32_t k = input("k", AMP_FLOAT, DIMS(1, 2, DEPTH, 600));
        uint32_t b = input("b", AMP_FLOAT, DIMS(1, 2, i == 1 ? 1 : 600, 600));
        b = NODE("Conv", "c", b, constant("w", AMP_FLOAT, DIMS(2, 2, 1, 1), w));
        uint32_t s = NODE("MatMul", "s", q, k);
        s = i < 2 ? NODE("Add", "a", s, b)
                  : NODE("Where", "w", input("m", AMP_BOOL, DIMS(600)), s, b);
        output(NODE("MatMul", "y", NODE("Softmax", "p", s),
                    input("v", AMP_FLOAT, DIMS(1, 2, 600, DEPTH))));
        expect_results(0, 1e-5);
    }
}

/* Scores of 256 and 257 in turn, which bfloat16 does not tell apart, weigh 1 and e where a slice
   goes on in float32. */
static void slices_are_not_rounded_within(void **state)
{
    enum { COUNT = 1100 };
    static uint16_t q[COUNT * 2], k[2 * COUNT], v[COUNT];
    struct amp_session *session = NULL;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        q[2 * i] = k[i] = 0x4180; /* 16 */
        q[2 * i + 1] = 0x3F80;    /* 1 */
        k[COUNT + i] = v[i] = i % 2 == 1 ? 0x3F80 : 0;
    }
    amp_session_set_threads(1);
    net_start(17);
    uint32_t s = input("q", AMP_BFLOAT16, DIMS(COUNT, 2));
    s = NODE("MatMul", "s", s, input("k", AMP_BFLOAT16, DIMS(2, COUNT)));
    uint32_t p = NODE("Softmax", "p", s);
    output(NODE("MatMul", "y", p, input("v", AMP_BFLOAT16, DIMS(COUNT, 1))));
    infer_all();
    pretend(0);
    assert_int_equal(amp_session_open(net.model, AMP_FREE, &session, &net.err), AMP_OK);
    for (int run = 0; run < 2; run++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session,
                                         TENSORS(*net_tensor(AMP_BFLOAT16, DIMS(COUNT, 2), q),
                                                 *net_tensor(AMP_BFLOAT16, DIMS(2, COUNT), k),
                                                 *net_tensor(AMP_BFLOAT16, DIMS(COUNT, 1), v)),
                                         net.outputs, &net.err),
                         AMP_OK);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(fabs(amp_tensor_double(&net.outputs[0], i) - M_E / (1 + M_E)) < 0.01);
    }
    amp_cpu_detect();
    amp_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_as_written),
        cmocka_unit_test(fused_and_strict_agree),
        NET_TEST(activations_become_what_they_are),
        NET_TEST(normalizations_have_scales),
        NET_TEST(a_normalization_takes_a_vector_for_its_scale),
        NET_TEST(a_normalization_goes_over_the_last_axis),
        NET_TEST(what_depends_on_constants_is_one),
        NET_TEST(what_is_plain_is_computed_of_constants),
        NET_TEST(what_c_has_is_computed_of_constants),
        NET_TEST(what_has_no_shape_is_not_computed),
        NET_TEST(what_is_small_is_computed_of_constants),
        NET_TEST(constants_keep_their_memory),
        NET_TEST(weights_are_computed_for_what_goes_into_them),
        NET_TEST(a_factor_adds_no_dims),
        NET_TEST(a_normalization_in_training_stays),
        NET_TEST(a_scale_goes_into_a_layer_without_a_bias),
        NET_TEST(what_is_not_known_does_not_scale),
        NET_TEST(scales_are_constants),
        NET_TEST(sums_of_before_version_7_stay),
        NET_TEST(scales_go_in_by_channel_alone),
        NET_TEST(chains_have_an_end),
        NET_TEST(numbers_without_room_stay_outside),
        NET_TEST(sums_of_all_shapes_are_scaled),
        NET_TEST(results_that_are_read_are_not_scaled),
        NET_TEST(normalizations_go_into_channels_of_dim_1),
        NET_TEST(the_end_of_a_chain_is_rounded),
        NET_TEST(a_plan_is_of_known_types),
        NET_TEST(a_plan_has_a_kernel_for_each_node),
        NET_TEST(a_plan_has_dtypes_with_kernels),
        NET_TEST(a_step_may_give_what_its_readers_take),
        NET_TEST(depthwise_networks_block_channels),
        NET_TEST(attention_is_a_chain_of_at_most_six_steps),
        NET_TEST(attention_has_no_other_readers),
        NET_TEST(attention_weighs_by_its_scores),
        NET_TEST(attention_is_not_shared),
        NET_TEST(attention_is_no_constant),
        NET_TEST(steps_on_constants_are_constant),
        NET_TEST(omitted_values_are_constant),
        NET_TEST(attention_takes_what_lines_up),
        NET_TEST(attention_takes_no_long_lists_of_inputs),
        NET_TEST(attention_has_all_its_inputs),
        NET_TEST(attention_is_not_read_for_its_shape),
        NET_TEST(parts_of_attention_know_where_the_scores_are),
        NET_TEST(attention_reads_through_casts),
        NET_TEST(what_cuts_off_no_more_than_integers_goes),
        NET_TEST(what_computes_between_stays),
        NET_TEST(joined_bytes_are_alike),
        NET_TEST(bytes_that_are_classes_are_no_scaled_ones),
        NET_TEST(parts_of_bytes_are_bytes),
        NET_TEST(bytes_of_other_kinds_stay_floats),
        NET_TEST(bytes_go_where_they_are_told),
        NET_TEST(sums_of_bytes_line_up_from_behind),
        NET_TEST(pools_of_bytes_came_with_version_12),
        NET_TEST(computed_bytes_are_of_one_type),
        NET_TEST(products_of_bytes_scale_columns),
        NET_TEST(bytes_are_floats_for_their_readers),
        NET_TEST(convolutions_of_bytes_add_up),
        NET_TEST(convolutions_of_bytes_have_fitting_scales),
        NET_TEST(values_last_as_long_as_they_are_read),
        NET_TEST(post_ops_have_the_shape_of_the_result),
        NET_TEST(post_ops_follow_what_they_read),
        NET_TEST(post_ops_are_as_wide_as_products),
        NET_TEST(what_the_cpu_lacks_stays_float32),
        NET_TEST(what_has_float32_around_it_joins),
        NET_TEST(what_is_float32_does_not_stay_so),
        NET_TEST(what_others_read_in_its_dtype_is_stored_so),
        NET_TEST(convolutions_in_float16_are_widened),
        NET_TEST(outputs_that_are_not_there_have_no_dtype),
        NET_TEST(small_products_are_float32),
        NET_TEST(what_the_cpu_has_does_not_join),
        NET_TEST(steps_say_how_they_ran),
        NET_TEST(widened_constants_stay),
        NET_TEST(slices_are_of_whole_rows),
        NET_TEST(slices_are_of_matrices),
        NET_TEST(slices_go_from_dtype_to_dtype),
        NET_TEST(slices_take_operands_that_broadcast),
        NET_TEST(slices_take_operands_in_layouts),
        NET_TEST(slices_are_not_rounded_within),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
