/*
 * The noise of a conversion by source, held against models that say the same in plain ONNX: a
 * constant rounded by hand, or what rounding changes added to one value by a node, run as a whole;
 * and the sum over the sources against what the converted model gives.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/noise.h"
#include "check/noise/rounding.h"
#include "check/random_input.h"
#include "check/selection.h"
#include "cli/convert/convert.h"
#include "core/graph/copy.h"
#include "core/graph/order.h"
#include "core/memory.h"
#include "core/tensor.h"
#include "net.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "onnx/schema/schema.h"
#include "run/exec/session.h"

enum { TENSORS_MAX = 40 };

/* A model before and after its conversion. */
struct pair {
    struct amp_model_file reference, converted;
    struct amp_noise noise;
    struct amp_error err;
};

static void check(const struct pair *pair, enum amp_status status)
{
    if (status != AMP_OK)
        fail_msg("%s", pair->err.text);
}

/* Seeded random inputs of REFERENCE, its symbols 3. */
static enum amp_status load(void *context, size_t sample, struct amp_tensor *inputs,
                            struct amp_error *err)
{
    const struct amp_model *model = context;
    int64_t sizes[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    assert_in_range(model->n_symbols, 0, 8);
    for (size_t i = 0; i < model->graphs[0].inputs.count; i++) {
        struct amp_random_input random;
        AMP_TRY(
            amp_random_input_plan(model, model->graphs[0].inputs.items[i], sizes, &random, err));
        AMP_TRY(amp_random_input_make(&random, 1, sample, &inputs[i], err));
    }
    return AMP_OK;
}

/* IO: what is to become of inputs and outputs; NULL: nothing. */
static void convert_io(struct pair *pair, const char *path, const char *dtype, bool is_all_low,
                       const char *io)
{
    const char *all = "*=lower";
    struct amp_options options = {.dtype = dtype};
    if (io != NULL)
        options.io = (struct amp_texts){.items = &io, .count = 1};
    if (is_all_low)
        options.node_rules = (struct amp_texts){.items = &all, .count = 1};
    memset(pair, 0, sizeof *pair);
    check(pair, amp_model_read(path, &pair->reference, &pair->err));
    check(pair, amp_infer(pair->reference.model, &pair->err));
    check(pair, amp_model_read_to_convert(path, &pair->converted, &pair->err));
    check(pair, amp_convert_in_memory(&options, &pair->converted, &pair->err));
}

static void convert(struct pair *pair, const char *path, const char *dtype, bool is_all_low)
{
    convert_io(pair, path, dtype, is_all_low, NULL);
}

/* Finds the noise on SAMPLES samples, N_PROBED of them probed, at the cost of BUDGET plain runs. */
static void find_on(struct pair *pair, size_t samples, size_t n_probed, double budget)
{
    const struct amp_noise_options options = {
        .source = {.count = samples, .load = load, .context = pair->reference.model},
        .n_probed = n_probed,
        .budget = budget};
    amp_noise_free(&pair->noise);
    check(pair, amp_noise_find(pair->reference.model, pair->converted.model, &options, &pair->noise,
                               &pair->err));
}

static void find(struct pair *pair, size_t samples, double budget)
{
    find_on(pair, samples, 1, budget);
}

static void close_pair(struct pair *pair)
{
    amp_noise_free(&pair->noise);
    assert_true(pair->noise.n_sources == 0 && pair->noise.arena == NULL);
    amp_model_close(&pair->reference);
    amp_model_close(&pair->converted);
}

static double decibels(double ratio)
{
    return 10 * log10(ratio);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* What is rounded to by hand: bfloat16, or float16 of numbers that are normal there. */
static enum amp_dtype low_dtype = AMP_BFLOAT16;

/* X rounded: to nearest, ties to even. X is finite and far from the largest. */
static float to_low(float x)
{
    uint32_t bits, n = low_dtype == AMP_BFLOAT16 ? 16 : 13; /* bits that go */
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + (1u << (n - 1)) - 1 + (bits >> n & 1)) >> n << n;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t find_value(const struct amp_model *model, const char *name)
{
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_value_at(model, v)->graph == 0 && strcmp(amp_value_at(model, v)->name, name) == 0)
            return v;
    return AMP_NONE;
}

/* The value of the reference that SOURCE is about; one that is given out as "y" is "y_bf16" in the
   converted model. */
static uint32_t value_of(const struct amp_model *model, const struct amp_noise_source *source)
{
    char name[256];
    uint32_t value = find_value(model, source->name);
    if (value != AMP_NONE)
        return value;
    size_t length = strlen(source->name) - strlen("_bf16");
    assert_in_range(length, 1, sizeof name - 1);
    memcpy(name, source->name, length);
    name[length] = '\0';
    value = find_value(model, name);
    assert_int_not_equal(value, AMP_NONE);
    return value;
}

static uint32_t add_node(struct amp_model *model, const char *op_type, const uint32_t *inputs,
                         uint32_t n, enum amp_dtype dtype)
{
    uint32_t output = amp_graph_add_value(model, 0, amp_model_unique_name(model, "made"));
    uint32_t id = amp_graph_add_node(model, 0, op_type, n, 1);
    struct amp_node *node = amp_node_at(model, id);
    node->name = "";
    node->schema = amp_schema_find("", op_type, (int)amp_model_opset(model, ""));
    node->since_version = node->schema->since_version;
    memcpy(node->inputs, inputs, n * sizeof *inputs);
    amp_value_at(model, output)->kind = AMP_KIND_TENSOR;
    amp_value_at(model, output)->dtype = dtype;
    amp_node_set_output(model, id, 0, output);
    return output;
}

/* Has the nodes before FIRST_NEW and the graph's outputs read MADE instead of VALUE. */
static void redirect(struct amp_model *model, uint32_t value, uint32_t made, uint32_t first_new)
{
    struct amp_ids *outputs = &model->graphs[0].outputs;
    for (uint32_t id = 0; id < first_new; id++)
        for (uint32_t i = 0; i < amp_node_at(model, id)->n_inputs; i++)
            if (amp_node_at(model, id)->inputs[i] == value)
                amp_node_at(model, id)->inputs[i] = made;
    for (size_t i = 0; i < outputs->count; i++)
        outputs->items[i] = outputs->items[i] == value ? made : outputs->items[i];
    amp_value_at(model, made)->is_output = amp_value_at(model, value)->is_output;
}

/* Casts VALUE to the lower dtype and back for all who read it. */
static void put_casts(struct amp_model *model, uint32_t value)
{
    uint32_t first_new = (uint32_t)model->n_nodes;
    uint32_t low = add_node(model, "Cast", &value, 1, low_dtype);
    amp_node_set_int(model, amp_value_at(model, low)->producer, "to", low_dtype);
    uint32_t back = add_node(model, "Cast", &low, 1, AMP_FLOAT);
    amp_node_set_int(model, amp_value_at(model, back)->producer, "to", AMP_FLOAT);
    redirect(model, value, back, first_new);
}

/* Runs MODEL, changed as it may be, as a whole. */
static void run(struct pair *pair, struct amp_model *model, const struct amp_tensor *inputs,
                struct amp_tensor *outputs)
{
    struct amp_session *session;
    check(pair, amp_graph_sort(model, NULL, &pair->err));
    check(pair, amp_session_open(model, AMP_ROUNDED, &session, &pair->err));
    check(pair, amp_session_run(session, inputs, outputs, &pair->err));
    amp_session_destroy(session);
}

static void round_constant(struct pair *pair, struct amp_model *model, uint32_t value)
{
    struct amp_value *constant = amp_value_at(model, value);
    struct amp_tensor *tensor =
        amp_arena_memdup(pair->reference.arena, constant->constant, sizeof *tensor);
    size_t count = amp_tensor_count(tensor);
    float *data = amp_arena_array(pair->reference.arena, count + 16, sizeof *data);
    amp_tensor_copy(constant->constant, data);
    for (size_t i = 0; i < count; i++)
        data[i] = to_low(data[i]);
    tensor->data = data;
    tensor->buffer = NULL;
    constant->constant = constant->initial = tensor;
}

/* What VALUE is before it is rounded, where all sources are. */
static struct amp_tensor among_rounded(struct pair *pair, uint32_t value,
                                       const struct amp_tensor *inputs)
{
    struct amp_tensor outputs[TENSORS_MAX] = {{.dtype = AMP_UNDEFINED}}, found;
    struct amp_model *model = amp_model_copy(pair->reference.model, pair->reference.arena);
    size_t at = model->graphs[0].outputs.count;
    for (size_t s = 0; s < pair->noise.n_sources; s++) {
        uint32_t source = value_of(pair->reference.model, &pair->noise.sources[s]);
        if (pair->noise.sources[s].kind == AMP_NOISE_WEIGHT)
            round_constant(pair, model, source);
        else
            put_casts(model, source);
    }
    amp_ids_push(model, &model->graphs[0].outputs, value);
    amp_value_at(model, value)->is_output = true;
    run(pair, model, inputs, outputs);
    found = outputs[at];
    amp_tensors_release(outputs, at);
    return found;
}

/* Adds to VALUE what rounding changes it by, as a constant of the model. */
static void add_change(struct pair *pair, struct amp_model *model, uint32_t value,
                       const struct amp_tensor *inputs)
{
    struct amp_tensor exact = among_rounded(pair, value, inputs);
    struct amp_tensor *change = amp_arena_alloc(pair->reference.arena, sizeof *change);
    size_t count = amp_tensor_count(&exact);
    float *data = amp_arena_array(pair->reference.arena, count + 16, sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = to_low(((float *)exact.data)[i]) - ((float *)exact.data)[i];
    *change = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = exact.shape, .data = data};
    amp_tensor_release(&exact);
    uint32_t first_new = (uint32_t)model->n_nodes;
    uint32_t terms[2] = {
        value, amp_graph_add_initializer(model, 0, amp_model_unique_name(model, "change"), change)};
    redirect(model, value, add_node(model, "Add", terms, 2, AMP_FLOAT), first_new);
}

/* The squared error of one float output, of its energy. */
static double relative_error(const struct amp_tensor *got, const struct amp_tensor *want)
{
    double error = 0, energy = 0;
    for (size_t i = 0; i < amp_tensor_count(want); i++) {
        double x = (double)((float *)want->data)[i], y = (double)((float *)got->data)[i];
        error += (y - x) * (y - x);
        energy += x * x;
    }
    return error / energy;
}

/* The error of the output of MODEL, which is the reference with something rounded. */
static double error_of(struct pair *pair, struct amp_model *model, const struct amp_tensor *inputs,
                       const struct amp_tensor *want)
{
    struct amp_tensor output = {.dtype = AMP_UNDEFINED};
    run(pair, model, inputs, &output);
    double error = relative_error(&output, want);
    amp_tensor_release(&output);
    return error;
}

static double by_hand(struct pair *pair, const struct amp_noise_source *source,
                      const struct amp_tensor *inputs, const struct amp_tensor *want)
{
    struct amp_model *model = amp_model_copy(pair->reference.model, pair->reference.arena);
    uint32_t value = value_of(pair->reference.model, source);
    if (source->kind == AMP_NOISE_WEIGHT)
        round_constant(pair, model, value);
    else
        add_change(pair, model, value, inputs);
    return error_of(pair, model, inputs, want);
}

/* Holds each source of PATH, all of whose N are found, against what it does by hand. */
static void check_by_hand(const char *path, size_t n)
{
    struct pair pair;
    struct amp_tensor input = {.dtype = AMP_UNDEFINED}, want = {.dtype = AMP_UNDEFINED};
    convert(&pair, path, "bf16", true);
    find(&pair, 1, 0);
    check(&pair, load(pair.reference.model, 0, &input, &pair.err));
    struct amp_model *reference = amp_model_copy(pair.reference.model, pair.reference.arena);
    run(&pair, reference, &input, &want);
    assert_int_equal(pair.noise.n_sources, n);
    assert_int_equal(pair.noise.n_groups, n);
    for (size_t s = 0; s < n; s++) {
        const struct amp_noise_source *source = &pair.noise.sources[s];
        double wanted = by_hand(&pair, source, &input, &want);
        if (!(fabs(source->power - wanted) <= 1e-3 * wanted + 1e-12))
            fail_msg("'%s': %g, by hand %g", source->name, source->power, wanted);
    }
    amp_tensor_release(&input);
    amp_tensor_release(&want);
    close_pair(&pair);
}

static void a_source_adds_what_it_does_by_hand(void **state)
{
    (void)state;
    check_by_hand("models/digits_cnn.onnx", 18);
}

/* ---- tensors -----------------------------------------------------------------------------------
 */

static struct amp_tensor floats_of(const float *data, int64_t count)
{
    union {
        const float *from;
        void *to;
    } pun = {data};
    return (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {1, {count}}, .data = pun.to};
}

static bool is_same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* 1 + 2^-8 is a tie in bfloat16, and 70000 infinite in float16. What is not finite stays as it is;
   what becomes infinite does, and is told by what is added. */
static void rounding_adds_to_each_element(void **state)
{
    enum { N = 7 };
    static const float x[N] = {1, 1.00390625f, 1.01171875f, 70000, INFINITY, NAN, -70000};
    static const float low[N] = {1, 1, 1.015625f, 70144, INFINITY, NAN, -70144};
    static const float half[N] = {1, 1.00390625f, 1.01171875f, INFINITY, INFINITY, NAN, -INFINITY};
    static const float added[N] = {0, 0, 0, INFINITY, 0, 0, -INFINITY};
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    const struct amp_tensor exact = floats_of(x, N), plain = floats_of(x, 1);
    for (int is_half = 0; is_half < 2; is_half++) {
        enum amp_dtype dtype = is_half ? AMP_FLOAT16 : AMP_BFLOAT16;
        struct amp_tensor cast = {.data = NULL}, rounded = {.data = NULL}, change = {.data = NULL},
                          sum = {.data = NULL};
        struct amp_noise_change made = {.exact = &exact, .rounded = &rounded, .added = &change};
        assert_int_equal(amp_noise_cast(&exact, dtype, &cast, &err), AMP_OK);
        assert_int_equal(amp_noise_round(&made, dtype, &err), AMP_OK);
        assert_int_equal(amp_noise_add(&exact, &change, &sum, &err), AMP_OK);
        assert_true(made.is_any);
        for (int i = 0; i < N; i++) {
            float wanted = is_half ? half[i] : low[i], got = ((float *)cast.data)[i];
            float d = is_half ? added[i] : isfinite(x[i]) ? low[i] - x[i] : 0;
            assert_true(is_same(got, wanted));
            assert_true(((float *)change.data)[i] == d);
            assert_true(is_same(((float *)rounded.data)[i], isfinite(d) ? wanted : x[i]));
            assert_true(is_same(((float *)sum.data)[i], x[i] + d));
        }
        amp_tensor_release(&cast);
        amp_tensor_release(&rounded);
        amp_tensor_release(&change);
        amp_tensor_release(&sum);
        made.exact = &plain;
        assert_int_equal(amp_noise_round(&made, dtype, &err), AMP_OK);
        assert_false(made.is_any);
        amp_tensor_release(&rounded);
        amp_tensor_release(&change);
    }
}

/* More than a thread goes through at a time, one element of which is rounded. */
static void long_tensors_are_rounded_to_the_end(void **state)
{
    enum { N = 3 * 65536 + 5 };
    float *x = calloc(N, sizeof *x);
    struct amp_error err = {.status = AMP_OK};
    const struct amp_tensor exact = floats_of(x, N);
    (void)state;
    for (size_t at = 0; at < N; at += 65536 - 1) {
        struct amp_tensor rounded = {.data = NULL}, change = {.data = NULL}, sum = {.data = NULL};
        struct amp_noise_change made = {.exact = &exact, .rounded = &rounded, .added = &change};
        x[at] = 1.01171875f;
        assert_int_equal(amp_noise_round(&made, AMP_BFLOAT16, &err), AMP_OK);
        assert_int_equal(amp_noise_add(&exact, &change, &sum, &err), AMP_OK);
        assert_true(made.is_any);
        for (size_t i = 0; i < N; i++)
            if (((float *)change.data)[i] != (i == at ? 1.015625f - 1.01171875f : 0) ||
                ((float *)sum.data)[i] != ((float *)rounded.data)[i])
                fail_msg("element %zu", i);
        x[at] = 0;
        amp_tensor_release(&rounded);
        amp_tensor_release(&change);
        amp_tensor_release(&sum);
    }
    free(x);
}

static void constants_are_widened(void **state)
{
    static const uint16_t low[] = {0x3f80, 0xc000};
    static const float wide[] = {1, -2};
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor stored = floats_of(wide, 2), given = stored, none = {.data = NULL};
    uint16_t copy[2];
    (void)state;
    memcpy(copy, low, sizeof copy);
    stored.dtype = AMP_BFLOAT16;
    stored.data = copy;
    struct amp_tensor deferred = {.dtype = AMP_BFLOAT16, .shape = given.shape, .source = &given};
    const struct amp_tensor *const constants[] = {&stored, &given, &deferred};
    for (int i = 0; i < 3; i++) {
        struct amp_tensor made = none;
        assert_int_equal(amp_noise_widen(constants[i], &made, &err), AMP_OK);
        assert_int_equal(made.dtype, AMP_FLOAT);
        assert_memory_equal(made.data, wide, sizeof wide);
        assert_ptr_not_equal(made.data, wide);
        amp_tensor_release(&made);
    }
}

static void errors_are_summed_where_both_are_finite(void **state)
{
    static const float x[] = {1, 2, NAN, INFINITY, 5}, y[] = {3, NAN, 7, 8, 4};
    struct amp_tensor reference = floats_of(x, 5), output = floats_of(y, 5), none = {.data = NULL};
    struct amp_noise_error error = {.squares = 1, .lost = 2};
    uint64_t n_nonfinite = 1;
    (void)state;
    amp_noise_error_add(&error, &reference, &output);
    assert_true(error.squares == 1 + 4 + 1 && error.lost == 2 + 1);
    output.shape = (struct amp_shape){2, {1, 5}};
    amp_noise_error_add(&error, &reference, &output);
    assert_true(error.squares == 6 && error.lost == 3 + 3);
    none.shape = reference.shape;
    amp_noise_error_add(&error, &reference, &none);
    assert_true(error.squares == 6 && error.lost == 6 + 3);
    assert_true(amp_noise_energy(&reference, &n_nonfinite) == 1 + 4 + 25);
    assert_int_equal(n_nonfinite, 1 + 2);
    static const double doubles[] = {3, -4};
    struct amp_tensor wide = floats_of(y, 2);
    double data[2];
    memcpy(data, doubles, sizeof data);
    wide.dtype = AMP_DOUBLE;
    wide.data = data;
    assert_true(amp_noise_energy(&wide, &n_nonfinite) == 25);
    assert_int_equal(n_nonfinite, 3);
}

/* One error is one number of a sketch, with a sign, in a place by its index and its seed; many lie
   in all places, with both signs. */
static void sketches_have_the_squares_of_errors(void **state)
{
    enum { N = 20000 };
    static float x[N], y[N];
    double sketch[AMP_NOISE_SKETCH] = {0}, other[AMP_NOISE_SKETCH] = {0};
    const struct amp_tensor reference = floats_of(x, N), output = floats_of(y, N);
    (void)state;
    y[7] = 3;
    amp_noise_sketch_add(sketch, &reference, &output, 0.5, 1);
    assert_true(amp_noise_sketch_product(sketch, sketch) == 2.25);
    amp_noise_sketch_add(sketch, &reference, &output, 0.5, 1);
    assert_true(amp_noise_sketch_product(sketch, sketch) == 9);
    y[7] = -3;
    amp_noise_sketch_add(sketch, &reference, &output, 1, 1);
    assert_true(amp_noise_sketch_product(sketch, sketch) == 0);
    y[7] = NAN;
    amp_noise_sketch_add(sketch, &reference, &output, 1, 1);
    struct amp_tensor flat = output, none = output;
    flat.shape = (struct amp_shape){2, {1, N}};
    none.data = NULL;
    y[7] = 1;
    amp_noise_sketch_add(sketch, &reference, &flat, 1, 1);
    amp_noise_sketch_add(sketch, &reference, &none, 1, 1);
    assert_true(amp_noise_sketch_product(sketch, sketch) == 0);
    int n_used[AMP_NOISE_SKETCH] = {0}, n_positive = 0, n_apart = 0;
    for (uint64_t seed = 0; seed < 64; seed++)
        for (size_t i = 0; i < 100; i++) {
            memset(sketch, 0, sizeof sketch);
            memset(other, 0, sizeof other);
            memset(y, 0, sizeof y[0] * 100);
            y[i] = 1;
            const struct amp_tensor from = floats_of(x, 100), to = floats_of(y, 100);
            amp_noise_sketch_add(sketch, &from, &to, 1, seed);
            amp_noise_sketch_add(other, &from, &to, 1, seed + 1);
            n_apart += amp_noise_sketch_product(sketch, other) == 0;
            for (int k = 0; k < AMP_NOISE_SKETCH; k++) {
                n_used[k] += sketch[k] != 0;
                n_positive += sketch[k] > 0;
            }
        }
    for (int k = 0; k < AMP_NOISE_SKETCH; k++)
        assert_in_range(n_used[k], 1, 60); /* of 25 on the average */
    assert_in_range(n_positive, 3200 - 250, 3200 + 250);
    assert_in_range(n_apart, 6300, 6400);
}

/* ---- the sum --------------------------------------------------------------------------------- */

static const char *const models[] = {"models/digits_cnn.onnx", "models/digits_gru.onnx",
                                     "models/digits_transformer.onnx"};

/* Of the conversions, nearly all are within 1.5 dB, and all within 3: with ten outputs and 24
   samples chance does the rest. */
static void the_sum_predicts_what_is_measured(void **state)
{
    int n_near = 0, n = 0;
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (int i = 0; i < 4; i++) {
            struct pair pair;
            convert(&pair, models[m], i % 2 == 0 ? "bf16" : "fp16", i < 2);
            find(&pair, 24, 0);
            double difference = amp_noise_difference(&pair.noise);
            assert_true(pair.noise.n_lost == 0 && pair.noise.plain_runs <= 120);
            if (!(fabs(difference) <= 3))
                fail_msg("%s: %g dB", models[m], difference);
            n_near += fabs(difference) <= 1.5;
            n++;
            close_pair(&pair);
        }
    assert_true(n_near * 10 >= 8 * n);
}

/* Rounding all of them by hand is what the converted model does, where a node computes in float32
   and rounds what it gives. */
static void all_at_once_is_what_is_measured(void **state)
{
    static const char *const paths[] = {"models/digits_cnn.onnx",
                                        "models/digits_transformer.onnx",
                                        "models/digits_gru.onnx",
                                        "build/cases/convert/scan_state/model.onnx",
                                        "build/cases/convert/if_in_fp32/model.onnx",
                                        "build/cases/convert/body_weight_shared/model.onnx",
                                        "build/cases/validate/noise_computed/model.onnx"};
    (void)state;
    for (size_t m = 0; m < sizeof paths / sizeof *paths; m++)
        for (int i = 0; i < 2; i++) {
            struct pair pair;
            convert(&pair, paths[m], i == 0 ? "bf16" : "fp16", true);
            find(&pair, 1, 0);
            double difference = decibels(pair.noise.joint / pair.noise.measured);
            if (!(fabs(difference) <= 0.3))
                fail_msg("%s: %g dB", paths[m], difference);
            close_pair(&pair);
        }
}

/* Whether all nodes of a model can be converted to DTYPE, and the noise of that be found. */
static bool is_found(struct pair *pair, const char *path, const char *dtype)
{
    const char *all = "*=lower";
    const struct amp_options options = {.dtype = dtype, .node_rules = {.items = &all, .count = 1}};
    memset(pair, 0, sizeof *pair);
    if (amp_model_read(path, &pair->reference, &pair->err) != AMP_OK ||
        amp_infer(pair->reference.model, &pair->err) != AMP_OK ||
        amp_model_read_to_convert(path, &pair->converted, &pair->err) != AMP_OK ||
        amp_convert_in_memory(&options, &pair->converted, &pair->err) != AMP_OK ||
        pair->reference.model->n_symbols > 8)
        return false;
    const struct amp_noise_options how = {
        .source = {.count = 1, .load = load, .context = pair->reference.model}, .n_probed = 1};
    return amp_noise_find(pair->reference.model, pair->converted.model, &how, &pair->noise,
                          &pair->err) == AMP_OK;
}

/* Whether the model of a case is in float32 alone, draws no random numbers and gives out no
   constant by way of an Identity, which is no source. */
static bool is_plain(const char *path, const struct amp_model *model)
{
    static const char *const others[] = {"/explicit_type/", "/random_like/", "/types_like/",
                                         "/io_constant",    "/rounding/",    "/weight_identity"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(path, others[i]) != NULL)
            return false;
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_dtype_is_lower(amp_value_at(model, v)->dtype))
            return false;
    return true;
}

/* The sources of a converted model are what is in DTYPE there, said of the node that they stand at;
   groups of neighbours have equal shares of what adds up to the prediction. */
static void sources_are_right(const char *path, const struct pair *pair, const char *dtype)
{
    const struct amp_noise *noise = &pair->noise;
    const struct amp_model *model = pair->converted.model;
    double sum = 0;
    for (size_t s = 0; s < noise->n_sources; s++) {
        const struct amp_noise_source *source = &noise->sources[s], *last = source - 1;
        const struct amp_value *value = amp_value_at(model, source->value_id);
        bool is_cast = source->kind == AMP_NOISE_CAST, is_first = s == 0;
        uint32_t named = source->value_id;
        if (is_cast)
            named = amp_node_at(model, source->node_id)->inputs[0];
        const char *op_type =
            source->node_id == AMP_NONE ? "" : amp_node_at(model, source->node_id)->op_type;
        bool is_right = strcmp(source->name, amp_value_at(model, named)->name) == 0 &&
                        strcmp(source->op_type, op_type) == 0 && source->dtype == value->dtype &&
                        (source->node[0] == '\0') == (source->node_id == AMP_NONE) &&
                        is_cast == (source->node_id != AMP_NONE && strcmp(op_type, "Cast") == 0) &&
                        (source->kind == AMP_NOISE_WEIGHT) == (value->constant != NULL);
        bool is_low = source->kind == AMP_NOISE_BODIES || value->dtype == amp_dtype_parse(dtype);
        bool is_next = is_first ? source->group == 0 : source->group == last->group + 1;
        bool is_same = !is_first && source->group == last->group && source->power == last->power &&
                       source->n_lost == last->n_lost;
        if (!is_right || !is_low || (!is_next && !is_same))
            fail_msg("%s: source %zu, '%s' (%s)", path, s, source->name, source->op_type);
        sum += source->power;
    }
    size_t n_groups = noise->n_sources == 0 ? 0 : noise->sources[noise->n_sources - 1].group + 1;
    assert_int_equal(noise->n_groups, n_groups);
    assert_true(fabs(sum - noise->predicted) <= 1e-9 * sum);
}

/* How often nodes of MODEL read VALUE. */
static size_t count_reads(const struct amp_model *model, uint32_t value)
{
    size_t n = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++)
        for (uint32_t i = 0; i < amp_node_at(model, id)->n_inputs; i++)
            n += amp_node_at(model, id)->inputs[i] == value;
    return n;
}

/* Whether what each source adds can be told by hand: each is a value of the reference that is
   rounded for all who read it, or a constant of it, and there is one output, whose errors count. */
static bool is_told_by_hand(const struct pair *pair)
{
    const struct amp_model *model = pair->reference.model;
    bool is_told = pair->noise.n_sources > 0 && pair->noise.n_lost == 0 &&
                   pair->noise.n_selected == 0 && pair->noise.n_nonfinite == 0 &&
                   pair->noise.n_counted == 1 && model->graphs[0].outputs.count == 1 &&
                   pair->noise.n_groups == pair->noise.n_sources && model->n_graphs == 1 &&
                   model->graphs[0].inputs.count < TENSORS_MAX;
    for (size_t s = 0; s < pair->noise.n_sources && is_told; s++) {
        const struct amp_noise_source *source = &pair->noise.sources[s];
        uint32_t value = find_value(model, source->name);
        is_told =
            value != AMP_NONE && source->kind != AMP_NOISE_BODIES &&
            (source->kind != AMP_NOISE_CAST || count_reads(model, value) == 1) &&
            amp_value_at(model, value)->dtype == AMP_FLOAT &&
            (source->kind == AMP_NOISE_WEIGHT) == (amp_value_at(model, value)->constant != NULL);
    }
    return is_told;
}

/* Holds the sources of PAIR, which is converted to bfloat16, by themselves against what they do by
   hand; how many there are of which that can be told. */
static size_t hold_by_hand(const char *path, struct pair *pair)
{
    struct amp_tensor inputs[TENSORS_MAX] = {{.dtype = AMP_UNDEFINED}};
    struct amp_tensor want = {.dtype = AMP_UNDEFINED};
    if (!is_told_by_hand(pair))
        return 0;
    check(pair, load(pair->reference.model, 0, inputs, &pair->err));
    run(pair, amp_model_copy(pair->reference.model, pair->reference.arena), inputs, &want);
    for (size_t s = 0; s < pair->noise.n_sources; s++) {
        const struct amp_noise_source *source = &pair->noise.sources[s];
        double wanted = by_hand(pair, source, inputs, &want);
        if (!(fabs(source->power - wanted) <= 1e-3 * wanted + 1e-12))
            fail_msg("%s: '%s': %g, by hand %g", path, source->name, source->power, wanted);
    }
    amp_tensor_release(&want);
    amp_tensors_release(inputs, pair->reference.model->graphs[0].inputs.count);
    return pair->noise.n_sources;
}

/* The same of all conversions' cases whose elements stay finite; without an error that is measured,
   the sources add none. */
static void noise_of_cases_is_what_is_measured(void **state)
{
    size_t n_measured = 0, n_exact = 0, n_by_hand = 0;
    glob_t paths;
    (void)state;
    assert_int_equal(glob("build/cases/convert/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < 2 * paths.gl_pathc; i++) {
        struct pair pair;
        const char *path = paths.gl_pathv[i / 2];
        if (is_found(&pair, path, i % 2 == 0 ? "bf16" : "fp16") && pair.noise.n_lost == 0 &&
            is_plain(path, pair.reference.model)) {
            if (pair.noise.n_selected == 0)
                sources_are_right(path, &pair, i % 2 == 0 ? "bf16" : "fp16");
            n_by_hand += i % 2 == 0 ? hold_by_hand(path, &pair) : 0;
            double joint = pair.noise.joint, measured = pair.noise.measured;
            n_measured += measured > 0;
            n_exact += measured == 0;
            if (measured > 0 ? !(fabs(decibels(joint / measured)) <= 0.3) : joint != measured)
                fail_msg("%s: %g, not %g", path, joint, measured);
        }
        close_pair(&pair);
    }
    globfree(&paths);
    assert_true(n_measured > 500 && n_exact > 40 && n_by_hand > 100);
}

/* Inputs that the model takes in the lower dtype are rounded before any node, each a source of its
   own; what each does by itself adds up, as nothing is rounded behind them but what they make. */
static void inputs_are_sources(void **state)
{
    struct pair pair;
    size_t n_inputs = 0;
    (void)state;
    convert_io(&pair, "build/cases/validate/noise_of_two/model.onnx", "bf16", true, "lower");
    find(&pair, 1, 0);
    for (size_t s = 0; s < pair.noise.n_sources; s++) {
        const struct amp_noise_source *source = &pair.noise.sources[s];
        if (source->kind != AMP_NOISE_VALUE || source->node_id != AMP_NONE)
            continue;
        assert_true(source->name[0] == 'x' && source->power > 0);
        assert_string_equal(source->node, "");
        assert_string_equal(source->op_type, "");
        n_inputs++;
    }
    assert_int_equal(n_inputs, 2);
    struct amp_tensor inputs[2]; /* each a factor of an output of its own */
    check(&pair, load(pair.reference.model, 0, inputs, &pair.err));
    for (size_t i = 0; i < 2; i++) {
        float x = *(float *)inputs[i].data;
        double change = (double)(to_low(x) - x) / (double)x, wanted = change * change / 2;
        assert_true(fabs(pair.noise.sources[i].power - wanted) <= 1e-3 * wanted);
    }
    amp_tensors_release(inputs, 2);
    assert_true(fabs(decibels(pair.noise.joint / pair.noise.measured)) <= 0.01);
    close_pair(&pair);
}

static void the_same_comes_out_again(void **state)
{
    struct pair pair;
    struct amp_noise first;
    (void)state;
    convert(&pair, models[0], "fp16", false);
    find(&pair, 2, 0);
    first = pair.noise;
    pair.noise = (struct amp_noise){.n_sources = 0};
    find(&pair, 2, 0);
    assert_int_equal(first.n_sources, pair.noise.n_sources);
    assert_int_equal(first.n_groups, pair.noise.n_groups);
    assert_true(first.plain_runs == pair.noise.plain_runs);
    for (size_t s = 0; s < first.n_sources; s++)
        assert_true(fabs(first.sources[s].power - pair.noise.sources[s].power) <=
                    1e-4 * first.sources[s].power);
    amp_noise_free(&first);
    close_pair(&pair);
}

/* ---- chance ---------------------------------------------------------------------------------- */

/* The standard deviation in dB of the sum of squares where errors agree in SHARE of all, as a
   sketch of 256 numbers sees it, over SAMPLES samples. */
static double chance_of(double share, double samples)
{
    return 10 / log(10) * sqrt(2 * (share - 1.0 / 256) / samples);
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g; %.12g is right", found, expected);
}

/* Errors of one element agree, on however many samples each by itself; those of one source alone
   agree with nothing. */
static void errors_of_one_element_agree(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_of_one/model.onnx", "bf16", true);
    for (size_t samples = 1; samples <= 4; samples += 3) {
        find(&pair, samples, 0);
        assert_in_range(pair.noise.n_sources, 4, 5);
        assert_int_equal(pair.noise.n_samples, samples);
        assert_near(pair.noise.chance, chance_of(1, (double)samples));
    }
    close_pair(&pair);
    convert(&pair, "build/cases/validate/noise_moves/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_sources, 1);
    assert_true(isnan(pair.noise.chance));
    close_pair(&pair);
}

/* Those of different outputs do not: of all pairs, by their powers, the ones within an output. */
static void errors_of_different_outputs_do_not_agree(void **state)
{
    struct pair pair;
    double alike = 0, all = 0;
    (void)state;
    convert(&pair, "build/cases/validate/noise_of_two/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_counted, 2);
    for (size_t s = 0; s < pair.noise.n_sources; s++)
        for (size_t t = 0; t < s; t++) {
            const struct amp_noise_source *a = &pair.noise.sources[s], *b = &pair.noise.sources[t];
            double product = a->power * b->power;
            alike += a->name[1] == b->name[1] ? product : 0;
            all += product;
        }
    assert_true(alike > 0 && alike < all);
    assert_near(pair.noise.chance, chance_of(alike / all, 1));
    close_pair(&pair);
}

/* ---- how much is probed ---------------------------------------------------------------------- */

static void budgets_grow_with_the_model(void **state)
{
    (void)state;
    assert_true(amp_noise_budget(0) == 100);
    assert_true(amp_noise_budget(300) == 100);
    assert_true(amp_noise_budget(1650) == 350);
    assert_true(amp_noise_budget(3000) == 600);
    assert_true(amp_noise_budget(9000) == 600);
}

/* As many samples as are asked for and there; else four, or what the budget allows, at least one.
 */
static void samples_are_probed_within_the_budget(void **state)
{
    static const struct {
        size_t samples, asked;
        double budget;
        size_t probed;
    } cases[] = {{6, 0, 1000, 4}, {3, 0, 1000, 3}, {6, 0, 1, 1},
                 {6, 5, 1, 5},    {6, 7, 1000, 6}, {6, 0, 27, 2}};
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_of_one/model.onnx", "bf16", true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        find_on(&pair, cases[i].samples, cases[i].asked, cases[i].budget);
        assert_int_equal(pair.noise.n_probed, cases[i].probed);
        assert_int_equal(pair.noise.n_samples, cases[i].samples);
    }
    close_pair(&pair);
}

static void a_difference_is_in_decibels(void **state)
{
    (void)state;
    assert_near(amp_noise_difference(&(struct amp_noise){.predicted = 1, .measured = 10}), -10);
    assert_near(amp_noise_difference(&(struct amp_noise){.predicted = 100, .measured = 1}), 20);
    assert_true(isnan(amp_noise_difference(&(struct amp_noise){.predicted = 1})));
    assert_true(isnan(amp_noise_difference(&(struct amp_noise){.measured = 1})));
    assert_true(isnan(
        amp_noise_difference(&(struct amp_noise){.predicted = 1, .measured = 1, .n_lost = 1})));
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The powers of the groups, in order; groups are neighbours. */
static void check_groups(const struct amp_noise *noise)
{
    size_t group = 0;
    for (size_t s = 0; s < noise->n_sources; s++) {
        assert_in_range(noise->sources[s].group, group, s == 0 ? 0 : group + 1);
        group = noise->sources[s].group;
    }
    assert_int_equal(group + 1, noise->n_groups);
}

static void a_budget_is_kept_by_groups(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "models/digits_transformer.onnx", "bf16", true);
    find(&pair, 1, 1000);
    assert_int_equal(pair.noise.n_groups, pair.noise.n_sources);
    double alone = pair.noise.predicted;
    for (double budget = 15; budget <= 40; budget += 12.5) {
        find(&pair, 1, budget);
        assert_true(pair.noise.plain_runs <= budget);
        assert_true(pair.noise.n_groups < pair.noise.n_sources && pair.noise.n_groups > 3);
        assert_true(fabs(decibels(pair.noise.predicted / alone)) < 2);
        check_groups(&pair.noise);
    }
    close_pair(&pair);
}

static const struct amp_noise_source *heaviest(const struct amp_noise *noise)
{
    const struct amp_noise_source *found = &noise->sources[0];
    for (size_t s = 0; s < noise->n_sources; s++)
        if (noise->sources[s].power > found->power)
            found = &noise->sources[s];
    return found;
}

/* One value of which most is lost is found within a small budget. The constant beside it cancels.
 */
static void what_carries_most_is_found_by_splitting(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_heavy/model.onnx", "bf16", true);
    find(&pair, 1, 14);
    assert_true(pair.noise.n_groups < pair.noise.n_sources);
    assert_string_equal(heaviest(&pair.noise)->name, "h");
    assert_true(heaviest(&pair.noise)->power > 0.9 * pair.noise.predicted);
    close_pair(&pair);
}

/* How many sources are in the group of the one called NAME. */
static size_t group_of(const struct amp_noise *noise, const char *name)
{
    size_t group = SIZE_MAX, n = 0;
    for (size_t s = 0; s < noise->n_sources; s++)
        group = strcmp(noise->sources[s].name, name) == 0 ? noise->sources[s].group : group;
    assert_true(group != SIZE_MAX);
    for (size_t s = 0; s < noise->n_sources; s++)
        n += noise->sources[s].group == group;
    return n;
}

/* Of two values that are worth it, what is left of the budget goes to the heavier one, wherever it
   is. */
static void the_heaviest_is_split_first(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_heavy_first/model.onnx", "bf16", true);
    find(&pair, 1, 13);
    assert_true(group_of(&pair.noise, "b") < group_of(&pair.noise, "h"));
    close_pair(&pair);
    convert(&pair, "build/cases/validate/noise_heavy_last/model.onnx", "bf16", true);
    find(&pair, 1, 13);
    assert_true(group_of(&pair.noise, "h") < group_of(&pair.noise, "b"));
    close_pair(&pair);
}

/* ---- special cases ----------------------------------------------------------------------------
 */

static void bodies_are_one_source(void **state)
{
    struct pair pair;
    size_t n_bodies = 0;
    (void)state;
    convert(&pair, "build/cases/convert/scan_state/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    for (size_t s = 0; s < pair.noise.n_sources; s++)
        n_bodies += pair.noise.sources[s].kind == AMP_NOISE_BODIES;
    assert_int_equal(n_bodies, 1);
    close_pair(&pair);
}

/* Movers, maxima and the like give what they got. */
static void what_stays_exact_is_no_source(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_moves/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_sources, 1);
    assert_string_equal(pair.noise.sources[0].name, "x");
    assert_true(fabs(decibels(pair.noise.predicted / pair.noise.measured)) < 1e-3);
    close_pair(&pair);
}

static void nothing_is_rounded_in_float32(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_integers/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_sources, 0);
    assert_int_equal(pair.noise.n_outputs, 1);
    assert_int_equal(pair.noise.n_counted, 0);
    assert_true(isnan(amp_noise_difference(&pair.noise)));
    close_pair(&pair);
}

static void outputs_without_energy_do_not_count(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/classes.onnx", "bf16", true);
    find(&pair, 3, 0);
    assert_int_equal(pair.noise.n_outputs, 3);
    assert_int_equal(pair.noise.n_counted, 1);
    assert_true(pair.noise.predicted > 0);
    close_pair(&pair);
}

/* Outputs of float64 count as those of the other float types do, and integers not. */
static void outputs_of_all_float_types_count(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/convert/casts_of_lowered/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_outputs, 7);
    assert_int_equal(pair.noise.n_counted, 3);
    close_pair(&pair);
}

/* Inputs that are of a lower dtype as it is are no sources, unless they are cast to another, and
   read in float32. */
static void lower_inputs_are_widened(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/convert/cast_to_output/model.onnx", "bf16", true);
    find(&pair, 2, 0);
    assert_int_equal(pair.noise.n_samples, 2);
    assert_true(pair.noise.n_sources > 0);
    for (size_t s = 0; s < pair.noise.n_sources; s++)
        assert_true(pair.noise.sources[s].kind != AMP_NOISE_VALUE ||
                    strcmp(pair.noise.sources[s].name, "h") != 0);
    assert_true(fabs(decibels(pair.noise.joint / pair.noise.measured)) <= 3); /* of few numbers */
    close_pair(&pair);
}

/* In the place of an output behind a selection stands what that is made from. */
static void what_is_selected_from_counts(void **state)
{
    static const char *const names[] = {"noise_selected", "noise_selected_from"};
    struct pair pairs[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "build/cases/validate/%s/model.onnx", names[i]);
        convert(&pairs[i], path, "bf16", true);
        find(&pairs[i], 2, 0);
        assert_int_equal(pairs[i].noise.n_selected, i == 0);
        assert_int_equal(pairs[i].noise.n_outputs, 3);
    }
    assert_true(pairs[0].noise.measured > 0);
    assert_true(pairs[0].noise.measured == pairs[1].noise.measured);
    assert_true(fabs(pairs[0].noise.predicted / pairs[1].noise.predicted - 1) < 1e-9);
    for (int i = 0; i < 2; i++)
        close_pair(&pairs[i]);
}

/* Unless the converted model has no value of that name. */
static void what_is_selected_from_is_in_both_models(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_selected/model.onnx", "bf16", true);
    struct amp_selections selections = amp_selections_find(pair.reference.model);
    assert_true(selections.sources.count > 0);
    const char *name = amp_value_at(pair.reference.model, selections.sources.items[0])->name;
    amp_value_at(pair.converted.model, find_value(pair.converted.model, name))->name = "other";
    amp_selections_free(&selections);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_selected, 0);
    close_pair(&pair);
}

/* What selects by no floats is no selection. */
static void what_inputs_select_counts_as_it_is(void **state)
{
    struct pair pair;

    (void)state;
    convert(&pair, "build/cases/validate/noise_selected_by_input/model.onnx", "bf16", true);
    find(&pair, 2, 0);
    assert_int_equal(pair.noise.n_selected, 0);
    assert_int_equal(pair.noise.n_outputs, 1);
    assert_true(pair.noise.predicted > 0);
    close_pair(&pair);
}

static void a_product_behind_a_selection_counts(void **state)
{
    struct pair pair;

    (void)state;
    convert(&pair, "build/cases/validate/noise_selected_computed/model.onnx", "bf16", true);
    find(&pair, 2, 0);
    assert_int_equal(pair.noise.n_selected, 0);
    assert_int_equal(pair.noise.n_outputs, 1);
    assert_true(pair.noise.predicted > 0);
    close_pair(&pair);
}

static void what_the_reference_makes_nan_is_left_out(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_nan/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_int_equal(pair.noise.n_nonfinite, 2);
    assert_true(pair.noise.predicted > 0 && isfinite(pair.noise.predicted));
    close_pair(&pair);
}

static void an_overflow_is_told_from_an_error(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_overflow/model.onnx", "fp16", true);
    find(&pair, 1, 0);
    assert_true(pair.noise.n_lost > 0 && isfinite(pair.noise.predicted));
    for (size_t s = 0; s < pair.noise.n_sources; s++)
        assert_int_equal(pair.noise.sources[s].n_lost > 0,
                         strcmp(pair.noise.sources[s].name, "large") == 0);
    close_pair(&pair);
}

/* A constant of GRAPH of 3 numbers or, with RANK 0, one; lowered to float16 as conversions do. */
static uint32_t add_weight(uint32_t graph, const char *name, int rank, const float *data,
                           bool is_low)
{
    const struct amp_shape shape = {rank, {3}};
    struct amp_tensor *tensor = net_tensor(AMP_FLOAT, shape, data), *low = tensor;
    if (is_low) {
        low = amp_arena_alloc(net.arena, sizeof *low);
        *low = (struct amp_tensor){.dtype = AMP_FLOAT16, .shape = shape, .source = tensor};
    }
    return amp_graph_add_initializer(net.model, graph, name, low);
}

/* A body of the If OWNER that takes item I of LIST and multiplies it by a weight; it gives that,
   the shape and a list of it. */
static void add_taker(uint32_t owner, const char *name, uint32_t list, int64_t i, bool is_low)
{
    static const float third = 1.f / 3;
    uint32_t graph = amp_graph_add(net.model, name, owner);
    uint32_t at = amp_graph_add_initializer(net.model, graph, i == 0 ? "i" : "j",
                                            net_tensor(AMP_INT64, SCALAR, &i));
    uint32_t w = add_weight(graph, i == 0 ? "third" : "other_third", 0, &third, is_low);
    uint32_t taken =
        net_out(net_node(graph, "SequenceAt", i == 0 ? "first" : "second", 1, IDS(list, at)), 0);
    uint32_t made =
        net_out(net_node(graph, "Mul", i == 0 ? "mul" : "other_mul", 1, IDS(taken, w)), 0);
    const uint32_t outputs[] = {
        made, net_out(net_node(graph, "Shape", i == 0 ? "size" : "other_size", 1, IDS(taken)), 0),
        net_out(net_node(graph, "SequenceConstruct", i == 0 ? "list" : "other_list", 1, IDS(made)),
                0)};
    for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++) {
        amp_value_at(net.model, outputs[o])->is_output = true;
        amp_ids_push(net.model, &net.model->graphs[graph].outputs, outputs[o]);
    }
    amp_node_set_attr(
        net.model, owner,
        (struct amp_attr){.name = name,
                          .type = AMP_ATTR_GRAPH,
                          .count = 1,
                          .graphs = amp_arena_memdup(net.arena, &graph, sizeof graph)});
}

/* Constants that nodes make in turn, one of which leaves a result out, and a list that bodies read.
 */
static struct amp_model *listed(bool is_low, bool gives_list)
{
    static const float w[3] = {0.1f, 0.7f, 1.3f}, v[3] = {0.3f, 0.9f, 1.7f};
    net_start(22);
    uint32_t x = input("x", AMP_FLOAT, DIMS(5, 3)), truth = input("truth", AMP_BOOL, SCALAR);
    if (is_low) {
        x = NODE("Cast", "x_low", x);
        set_int(x, "to", AMP_FLOAT16);
    }
    uint32_t kept = net_node(0, "Dropout", "kept", 2, IDS(add_weight(0, "w", 1, w, is_low)));
    amp_node_at(net.model, kept)->outputs[1] = AMP_NONE;
    uint32_t wv = NODE("Mul", "wv", net_out(kept, 0), add_weight(0, "v", 1, v, is_low));
    uint32_t a = NODE("Mul", "a", x, NODE("Exp", "e", wv));
    uint32_t s = NODE("SequenceConstruct", "s", a, x),
             owner = net_node(0, "If", "if", 3, IDS(truth));
    add_taker(owner, "then_branch", s, 0, is_low);
    add_taker(owner, "else_branch", s, 1, is_low);
    static const uint16_t halves[3] = {0x4000, 0x4200, 0x4500}; /* 2, 3 and 5, also before */
    uint32_t root = constant("h", AMP_FLOAT16, DIMS(3), halves);
    if (!is_low) {
        root = NODE("Cast", "wide", root);
        set_int(root, "to", AMP_FLOAT);
    }
    uint32_t b = NODE("Mul", "b", a, NODE("Sqrt", "root", root));
    uint32_t item = NODE("SequenceAt", "item", net_out(owner, 2),
                         constant("zero", AMP_INT64, SCALAR, &(int64_t){0}));
    uint32_t sum =
        NODE("Reshape", "sum", NODE("Max", "most", net_out(owner, 0), item), net_out(owner, 1));
    uint32_t y = NODE("Add", is_low ? "y_fp16" : "y", sum, b);
    if (is_low) {
        y = NODE("Cast", "y", y);
        set_int(y, "to", AMP_FLOAT);
    }
    output(y);
    if (gives_list)
        output(NODE("SequenceConstruct", "given", y, y));
    infer_all();
    return net.model;
}

/* A GRU, which rounds its state from step to step, between two nodes that round once; both of its
   results are given out. */
static struct amp_model *recurrent(bool is_low)
{
    static float numbers[48];
    net_start(22);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = sinf((float)i);
    uint32_t x = input("x", AMP_FLOAT, DIMS(4, 1, 3)), weights[2];
    if (is_low) {
        x = NODE("Cast", "x_low", x);
        set_int(x, "to", AMP_FLOAT16);
    }
    for (int i = 0; i < 2; i++) {
        const struct amp_shape shape = i == 0 ? DIMS(1, 6, 3) : DIMS(1, 6, 2);
        struct amp_tensor *tensor = net_tensor(AMP_FLOAT, shape, numbers + (ptrdiff_t)20 * i),
                          *low = tensor;
        if (is_low) {
            low = amp_arena_alloc(net.arena, sizeof *low);
            *low = (struct amp_tensor){.dtype = AMP_FLOAT16, .shape = shape, .source = tensor};
        }
        weights[i] = amp_graph_add_initializer(net.model, 0, i == 0 ? "w" : "r", low);
    }
    uint32_t gru = net_node(0, "GRU", "h", 2, IDS(NODE("Mul", "xx", x, x), weights[0], weights[1]));
    set_int(net_out(gru, 0), "hidden_size", 2);
    amp_value_at(net.model, net_out(gru, 1))->name = "last";
    for (uint32_t i = 0; i < 2; i++) {
        static const char *const names[2][2] = {{"y", "y_fp16"}, {"z", "z_fp16"}};
        uint32_t y = NODE("Exp", names[i][is_low], net_out(gru, i));
        if (is_low) {
            y = NODE("Cast", names[i][0], y);
            set_int(y, "to", AMP_FLOAT);
        }
        output(y);
    }
    infer_all();
    return net.model;
}

/* What rounds within runs as it does in the converted model. What each of two samples costs is the
   same. */
static void recurrent_nodes_round_within(void **state)
{
    static const char *const names[] = {"x", "xx", "w", "r", "h", "last", "y_fp16", "z_fp16"};
    enum { COUNT = sizeof names / sizeof *names };
    struct pair pair = {.err = {.status = AMP_OK}};
    double each = 0;
    (void)state;
    pair.reference.model = recurrent(false);
    pair.converted.model = recurrent(true);
    pair.reference.arena = net.arena;
    for (size_t samples = 1; samples <= 2; samples++) {
        find_on(&pair, samples, samples, 0);
        assert_int_equal(pair.noise.n_sources, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_string_equal(pair.noise.sources[i].name, names[i]);
            assert_true(pair.noise.sources[i].power > 0);
        }
        assert_true(fabs(decibels(pair.noise.joint / pair.noise.measured)) <= 0.01);
        each = samples == 1 ? pair.noise.plain_runs : each;
        assert_true(fabs(pair.noise.plain_runs / ((double)samples * each) - 1) < 1e-9);
    }
    amp_noise_free(&pair.noise);
}

/* All at once is what is measured, each by itself what it does by hand; a list that is given out
   counts for nothing. */
static void constants_in_turn_and_lists_are_followed(void **state)
{
    (void)state;
    low_dtype = AMP_FLOAT16;
    for (int gives_list = 0; gives_list < 2; gives_list++) {
        struct pair pair = {.err = {.status = AMP_OK}};
        struct amp_tensor inputs[2] = {{.dtype = AMP_UNDEFINED}, {.dtype = AMP_UNDEFINED}};
        struct amp_tensor want = {.dtype = AMP_UNDEFINED};
        pair.reference.model = listed(false, gives_list != 0);
        pair.converted.model = listed(true, gives_list != 0);
        pair.reference.arena = net.arena;
        find(&pair, 1, 0);
        assert_int_equal(pair.noise.n_sources, 11);
        assert_int_equal(pair.noise.n_groups, 11);
        assert_int_equal(pair.noise.n_counted, 1);
        assert_true(fabs(decibels(pair.noise.joint / pair.noise.measured)) <= 0.01);
        check(&pair, load(pair.reference.model, 0, inputs, &pair.err));
        if (gives_list == 0)
            run(&pair, amp_model_copy(pair.reference.model, net.arena), inputs, &want);
        for (size_t i = 0; i < 11 && gives_list == 0; i++) {
            const struct amp_noise_source *source = &pair.noise.sources[i];
            if (source->kind == AMP_NOISE_BODIES || source->kind == AMP_NOISE_CAST ||
                source->name[0] == 'y' || source->name[0] == 'm') /* behind what bodies round */
                continue;
            double wanted = by_hand(&pair, source, inputs, &want);
            if (strcmp(source->name, "wv") == 0 || strcmp(source->name, "e") == 0 ||
                strcmp(source->name, "root") == 0) {
                struct amp_model *model = amp_model_copy(pair.reference.model, net.arena);
                put_casts(model, value_of(model, source)); /* the same in every company */
                wanted = error_of(&pair, model, inputs, &want);
            }
            if (!(fabs(source->power - wanted) <= 1e-3 * wanted))
                fail_msg("'%s': %g, by hand %g", source->name, source->power, wanted);
        }
        amp_tensors_release(inputs, 2);
        amp_tensor_release(&want);
        amp_noise_free(&pair.noise);
    }
    low_dtype = AMP_BFLOAT16;
}

static void an_int8_network_has_noise_too(void **state)
{
    struct pair pair;
    (void)state;
    convert(&pair, "build/cases/validate/noise_quantized/model.onnx", "bf16", true);
    find(&pair, 1, 0);
    assert_true(pair.noise.n_sources > 1);
    assert_true(fabs(decibels(pair.noise.joint / pair.noise.measured)) < 0.3);
    close_pair(&pair);
}

/* With less memory than it takes, the search is refused, and gives all back; or it comes to the
   same. */
static void want_of_memory_is_refused(void **state)
{
    static const char *const paths[] = {"models/digits_gru.onnx",
                                        "build/cases/convert/scan_state/model.onnx",
                                        "build/cases/convert/if_in_fp32/model.onnx",
                                        "build/cases/convert/body_weight_shared/model.onnx",
                                        "build/cases/convert/sequences/model.onnx",
                                        "build/cases/convert/cast_to_output/model.onnx",
                                        "build/cases/validate/noise_computed/model.onnx",
                                        "build/cases/validate/noise_of_two/model.onnx",
                                        "build/cases/validate/noise_quantized/model.onnx"};
    enum { LIMITS = 64, ENOUGH = 1000000000 };
    (void)state;
    size_t n_refused = 0;
    for (size_t m = 0; m < sizeof paths / sizeof *paths; m++) {
        struct pair pair;
        struct amp_noise noise;
        convert_io(&pair, paths[m], "bf16", true, m % 2 == 0 ? "lower" : NULL);
        const struct amp_noise_options options = {
            .source = {.count = 2, .load = load, .context = pair.reference.model}, .n_probed = 2};
        amp_memory_set_limit(ENOUGH);
        find_on(&pair, 2, 2, 0);
        size_t used = amp_memory_used();
        amp_memory_restart_peak();
        check(&pair, amp_noise_find(pair.reference.model, pair.converted.model, &options, &noise,
                                    &pair.err));
        size_t most = amp_memory_peak() - used;
        amp_noise_free(&noise);
        for (size_t i = 0; i < LIMITS; i++) {
            struct amp_error err = {.status = AMP_OK};
            amp_memory_set_limit(used + most * i / LIMITS);
            enum amp_status status =
                amp_noise_find(pair.reference.model, pair.converted.model, &options, &noise, &err);
            if (status == AMP_OK ? noise.predicted != pair.noise.predicted
                                 : err.status != status || err.text[0] == '\0')
                fail_msg("%s: %zu of %zu bytes: %s", paths[m], i, most, err.text);
            n_refused += status == AMP_IO;
            amp_noise_free(&noise);
            assert_int_equal(amp_memory_used(), used);
        }
        amp_memory_set_limit(ENOUGH);
        close_pair(&pair);
    }
    assert_true(n_refused > sizeof paths / sizeof *paths * LIMITS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_adds_to_each_element),
        cmocka_unit_test(long_tensors_are_rounded_to_the_end),
        cmocka_unit_test(constants_are_widened),
        cmocka_unit_test(errors_are_summed_where_both_are_finite),
        cmocka_unit_test(sketches_have_the_squares_of_errors),
        NET_TEST(constants_in_turn_and_lists_are_followed),
        NET_TEST(recurrent_nodes_round_within),
        cmocka_unit_test(inputs_are_sources),
        cmocka_unit_test(want_of_memory_is_refused),
        cmocka_unit_test(errors_of_one_element_agree),
        cmocka_unit_test(errors_of_different_outputs_do_not_agree),
        cmocka_unit_test(budgets_grow_with_the_model),
        cmocka_unit_test(samples_are_probed_within_the_budget),
        cmocka_unit_test(a_difference_is_in_decibels),
        cmocka_unit_test(a_budget_is_kept_by_groups),
        cmocka_unit_test(what_carries_most_is_found_by_splitting),
        cmocka_unit_test(the_heaviest_is_split_first),
        cmocka_unit_test(bodies_are_one_source),
        cmocka_unit_test(what_stays_exact_is_no_source),
        cmocka_unit_test(nothing_is_rounded_in_float32),
        cmocka_unit_test(outputs_without_energy_do_not_count),
        cmocka_unit_test(outputs_of_all_float_types_count),
        cmocka_unit_test(lower_inputs_are_widened),
        cmocka_unit_test(what_is_selected_from_counts),
        cmocka_unit_test(what_is_selected_from_is_in_both_models),
        cmocka_unit_test(what_inputs_select_counts_as_it_is),
        cmocka_unit_test(a_product_behind_a_selection_counts),
        cmocka_unit_test(what_the_reference_makes_nan_is_left_out),
        cmocka_unit_test(an_overflow_is_told_from_an_error),
        cmocka_unit_test(an_int8_network_has_noise_too),
        cmocka_unit_test(all_at_once_is_what_is_measured),
        cmocka_unit_test(noise_of_cases_is_what_is_measured),
        cmocka_unit_test(a_source_adds_what_it_does_by_hand),
        cmocka_unit_test(the_same_comes_out_again),
        cmocka_unit_test(the_sum_predicts_what_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
