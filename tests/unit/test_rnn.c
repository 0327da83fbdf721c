/* Recurrent layers of random sizes and options against the operators' equations in float64: our
   kernels, and oneDNN's primitives where they take the node. ONNX's and ONNX Runtime's own cases
   cover the other activations, clip and input_forget. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/cpu.h"
#include "ops/dnnl/engine.h"
#include "ops/own/kernels.h"
#include "ops/rnn/rnn_dnnl.h"

enum { ATTRS = 4, MOST_HIDDEN = 152 };

static uint32_t random_state = 1;
static struct amp_host host;

/* 0 to BELOW-1. */
static int64_t any(int64_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % (uint32_t)below;
}

/* ---- a node ---------------------------------------------------------------------------------- */

struct test_node {
    const char *op_type;
    int64_t gates, dirs, steps, batch, input, hidden;
    int64_t is_batch_first, is_late; /* values of attributes */
    struct amp_str direction;
    struct amp_attr attrs[ATTRS];
    struct amp_node node;
    struct amp_tensor in[AMP_RNN_INPUTS]; /* float64; no data: omitted */
    struct amp_tensor out[AMP_RNN_OUTPUTS];
    int64_t wanted; /* a bit per output */
};

/* Values of at most BOUND that bfloat16 holds. */
static void fill(struct amp_tensor *tensor, double bound)
{
    for (size_t i = 0; i < amp_tensor_count(tensor); i++) {
        float value = (float)((double)(any(2001) - 1000) / 1000 * bound);
        amp_tensor_set_double(tensor, i, (double)amp_bf16_to_f32(amp_f32_to_bf16(value)));
    }
}

static void add_input(struct test_node *test, int i, double bound, struct amp_shape shape)
{
    struct amp_error err = {.status = AMP_OK};
    test->in[i] = (struct amp_tensor){.dtype = AMP_DOUBLE, .shape = shape};
    assert_int_equal(amp_tensor_alloc(&test->in[i], &err), AMP_OK);
    fill(&test->in[i], bound);
}

static void add_lengths(struct test_node *test)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor *lengths = &test->in[AMP_RNN_LENGTHS];
    bool is_whole = any(2) == 0;
    *lengths = (struct amp_tensor){.dtype = AMP_INT32, .shape = {1, {test->batch}}};
    assert_int_equal(amp_tensor_alloc(lengths, &err), AMP_OK);
    for (int64_t b = 0; b < test->batch; b++)
        ((int32_t *)lengths->data)[b] = (int32_t)(is_whole ? test->steps : any(test->steps + 1));
}

static void set_attrs(struct test_node *test)
{
    static const char *const directions[] = {"forward", "reverse"};
    const char *direction = test->dirs == 2 ? "bidirectional" : directions[any(2)];
    test->direction = (struct amp_str){direction, strlen(direction)};
    const struct amp_attr attrs[ATTRS] = {
        {.name = "direction", .type = AMP_ATTR_STRING, .count = 1, .strings = &test->direction},
        {.name = "hidden_size", .type = AMP_ATTR_INT, .count = 1, .ints = &test->hidden},
        {.name = "layout", .type = AMP_ATTR_INT, .count = 1, .ints = &test->is_batch_first},
        {.name = "linear_before_reset", .type = AMP_ATTR_INT, .count = 1, .ints = &test->is_late}};
    memcpy(test->attrs, attrs, sizeof attrs);
    test->node = (struct amp_node){.op_type = test->op_type,
                                   .domain = "",
                                   .since_version = 22,
                                   .n_inputs = AMP_RNN_INPUTS,
                                   .n_outputs = AMP_RNN_OUTPUTS,
                                   .attrs = test->attrs,
                                   .n_attrs = ATTRS};
}

/* X and the lengths, anew for a number of steps. */
static void set_sequences(struct test_node *test, int64_t steps, bool has_lengths)
{
    int64_t b = test->batch, n = test->input;
    test->steps = steps;
    amp_tensor_release(&test->in[AMP_RNN_X]);
    amp_tensor_release(&test->in[AMP_RNN_LENGTHS]);
    add_input(test, AMP_RNN_X, 1,
              test->is_batch_first ? (struct amp_shape){3, {b, steps, n}}
                                   : (struct amp_shape){3, {steps, b, n}});
    if (has_lengths)
        add_lengths(test);
}

static void set_inputs(struct test_node *test)
{
    int64_t b = test->batch, d = test->dirs, n = test->hidden, g = test->gates;
    bool is_lstm = g == 4;
    double bound = 1 / sqrt((double)n + 1);
    struct amp_shape state =
        test->is_batch_first ? (struct amp_shape){3, {b, d, n}} : (struct amp_shape){3, {d, b, n}};
    set_sequences(test, test->steps, any(4) == 0);
    add_input(test, AMP_RNN_W, bound, (struct amp_shape){3, {d, g * n, test->input}});
    add_input(test, AMP_RNN_R, bound, (struct amp_shape){3, {d, g * n, n}});
    if (any(4) > 0)
        add_input(test, AMP_RNN_BIAS, 0.5, (struct amp_shape){2, {d, 2 * g * n}});
    if (any(2) == 0)
        add_input(test, AMP_RNN_H, 1, state);
    if (is_lstm && any(2) == 0)
        add_input(test, AMP_RNN_C, 1, state);
    if (is_lstm && any(3) == 0)
        add_input(test, AMP_RNN_PEEPHOLES, 0.5, (struct amp_shape){2, {d, 3 * n}});
}

/* The outputs that are wanted, of the shapes the operator gives them. */
static void set_outputs(struct test_node *test)
{
    const int64_t t = test->steps, b = test->batch, d = test->dirs, n = test->hidden;
    struct amp_shape state =
        test->is_batch_first ? (struct amp_shape){3, {b, d, n}} : (struct amp_shape){3, {d, b, n}};
    struct amp_shape y = test->is_batch_first ? (struct amp_shape){4, {b, t, d, n}}
                                              : (struct amp_shape){4, {t, d, b, n}};
    for (int i = 0; i < AMP_RNN_OUTPUTS; i++) {
        amp_tensor_release(&test->out[i]);
        if ((test->wanted >> i & 1) == 0 || (i == AMP_RNN_Y_C && test->gates != 4))
            continue;
        test->out[i].dtype = AMP_DOUBLE;
        test->out[i].shape = i == AMP_RNN_Y ? y : state;
    }
}

/* Mostly small; MOST now and then. */
static int64_t any_size(int64_t most)
{
    return any(12) == 0 ? 0 : any(4) == 0 ? most : 1 + any(8);
}

/* What ops/own/rnn_bf16.c takes. */
static void set_sizes_for_pairs(struct test_node *test)
{
    test->batch = 1 + any(4);
    test->input = 32 + 32 * any(2);
    test->hidden = 4 + 4 * any(MOST_HIDDEN / 4);
}

static void make_test(struct test_node *test)
{
    static const char *const types[] = {"RNN", "GRU", "LSTM"};
    static const int64_t gates[] = {1, 3, 4};
    int64_t type = any(3);
    *test = (struct test_node){.op_type = types[type],
                               .gates = gates[type],
                               .dirs = 1 + any(2),
                               .steps = any_size(6),
                               .batch = any_size(13),
                               .input = any_size(33),
                               .hidden = any_size(MOST_HIDDEN),
                               .is_batch_first = any(2),
                               .is_late = any(2)};
    if (any(3) == 0)
        set_sizes_for_pairs(test);
    set_attrs(test);
    set_inputs(test);
    test->wanted = 1 + any(7);
}

static void destroy_test(struct test_node *test)
{
    amp_tensors_release(test->in, AMP_RNN_INPUTS);
    amp_tensors_release(test->out, AMP_RNN_OUTPUTS);
}

/* ---- the equations --------------------------------------------------------------------------- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static const double *data_of(const struct amp_tensor *tensor)
{
    return tensor->data;
}

/* Where the state of sequence B, direction D begins. */
static int64_t state_at(const struct test_node *test, int64_t d, int64_t b)
{
    return (test->is_batch_first ? b * test->dirs + d : d * test->batch + b) * test->hidden;
}

/* What W and the bias, or R, V and its bias, say of unit K of gate GATE. */
static double input_part(const struct test_node *test, int64_t d, int64_t gate, int64_t k,
                         const double *x)
{
    int64_t width = test->gates * test->hidden, row = gate * test->hidden + k;
    const double *w = data_of(&test->in[AMP_RNN_W]) + (d * width + row) * test->input;
    const double *bias = data_of(&test->in[AMP_RNN_BIAS]);
    double sum = bias != NULL ? bias[d * 2 * width + row] : 0;
    for (int64_t i = 0; i < test->input; i++)
        sum += w[i] * x[i];
    return sum;
}

static double state_part(const struct test_node *test, int64_t d, int64_t gate, int64_t k,
                         const double *h)
{
    int64_t width = test->gates * test->hidden, row = gate * test->hidden + k;
    const double *r = data_of(&test->in[AMP_RNN_R]) + (d * width + row) * test->hidden;
    const double *bias = data_of(&test->in[AMP_RNN_BIAS]);
    double sum = bias != NULL ? bias[(d * 2 + 1) * width + row] : 0;
    for (int64_t i = 0; i < test->hidden; i++)
        sum += r[i] * h[i];
    return sum;
}

static double both_parts(const struct test_node *test, int64_t d, int64_t gate, int64_t k,
                         const double *x, const double *h)
{
    return input_part(test, d, gate, k, x) + state_part(test, d, gate, k, h);
}

static double peephole(const struct test_node *test, int64_t d, int64_t which, int64_t k, double c)
{
    const double *p = data_of(&test->in[AMP_RNN_PEEPHOLES]);
    return p != NULL ? p[(d * 3 + which) * test->hidden + k] * c : 0;
}

static void lstm_unit(const struct test_node *test, int64_t d, int64_t k, const double *x,
                      const double *h, double *c, double *next)
{
    double i = sigmoid(both_parts(test, d, 0, k, x, h) + peephole(test, d, 0, k, *c));
    double f = sigmoid(both_parts(test, d, 2, k, x, h) + peephole(test, d, 2, k, *c));
    *c = f * *c + i * tanh(both_parts(test, d, 3, k, x, h));
    double o = sigmoid(both_parts(test, d, 1, k, x, h) + peephole(test, d, 1, k, *c));
    *next = o * tanh(*c);
}

/* A step of all units. */
static void gru_step(const struct test_node *test, int64_t d, const double *x, const double *h,
                     double *next)
{
    double r[MOST_HIDDEN], reset[MOST_HIDDEN];
    int64_t n = test->hidden;
    for (int64_t k = 0; k < n; k++) {
        r[k] = sigmoid(both_parts(test, d, 1, k, x, h));
        reset[k] = r[k] * h[k];
    }
    for (int64_t k = 0; k < n; k++) {
        double z = sigmoid(both_parts(test, d, 0, k, x, h));
        double state =
            test->is_late ? r[k] * state_part(test, d, 2, k, h) : state_part(test, d, 2, k, reset);
        next[k] = (1 - z) * tanh(input_part(test, d, 2, k, x) + state) + z * h[k];
    }
}

static void compute_step(const struct test_node *test, int64_t d, const double *x, const double *h,
                         double *c, double *next)
{
    if (test->gates == 3)
        gru_step(test, d, x, h, next);
    for (int64_t k = 0; k < test->hidden && test->gates != 3; k++) {
        if (test->gates == 4)
            lstm_unit(test, d, k, x, h, &c[k], &next[k]);
        else
            next[k] = tanh(both_parts(test, d, 0, k, x, h));
    }
}

static void store(struct amp_tensor *tensor, int64_t at, const double *from, int64_t n)
{
    for (int64_t k = 0; k < n && tensor->data != NULL; k++)
        ((double *)tensor->data)[at + k] = from ? from[k] : 0;
}

/* All steps of one sequence in one direction. */
static void compute_sequence(struct test_node *test, int64_t d, int64_t b)
{
    double h[MOST_HIDDEN] = {0}, c[MOST_HIDDEN] = {0}, next[MOST_HIDDEN] = {0};
    int64_t n = test->hidden, at = state_at(test, d, b);
    const int32_t *lengths = test->in[AMP_RNN_LENGTHS].data;
    bool is_reverse = d == 1 || test->direction.data[0] == 'r';
    for (int64_t k = 0; k < n; k++) {
        h[k] = test->in[AMP_RNN_H].data ? data_of(&test->in[AMP_RNN_H])[at + k] : 0;
        c[k] = test->in[AMP_RNN_C].data ? data_of(&test->in[AMP_RNN_C])[at + k] : 0;
    }
    for (int64_t i = 0; i < test->steps; i++) {
        int64_t t = is_reverse ? test->steps - 1 - i : i;
        int64_t row = test->is_batch_first ? b * test->steps + t : t * test->batch + b;
        int64_t y = test->is_batch_first ? ((b * test->steps + t) * test->dirs + d) * n
                                         : ((t * test->dirs + d) * test->batch + b) * n;
        const double *x = data_of(&test->in[AMP_RNN_X]) + row * test->input;
        bool is_beyond = lengths != NULL && t >= lengths[b];
        if (!is_beyond)
            compute_step(test, d, x, h, c, next);
        store(&test->out[AMP_RNN_Y], y, is_beyond ? NULL : next, n);
        if (!is_beyond)
            memcpy(h, next, sizeof h);
    }
    store(&test->out[AMP_RNN_Y_H], at, h, n);
    store(&test->out[AMP_RNN_Y_C], at, c, n);
}

static void compute(struct test_node *test)
{
    struct amp_error err = {.status = AMP_OK};
    for (int i = 0; i < AMP_RNN_OUTPUTS; i++)
        if (test->out[i].dtype != AMP_UNDEFINED)
            assert_int_equal(amp_tensor_alloc(&test->out[i], &err), AMP_OK);
    for (int64_t d = 0; d < test->dirs; d++)
        for (int64_t b = 0; b < test->batch; b++)
            compute_sequence(test, d, b);
}

/* ---- running --------------------------------------------------------------------------------- */

/* The node in DTYPE. */
struct run {
    struct amp_tensor in[AMP_RNN_INPUTS], out[AMP_RNN_OUTPUTS];
    const struct amp_tensor *ins[AMP_RNN_INPUTS];
    struct amp_tensor *outs[AMP_RNN_OUTPUTS];
    bool is_constant[AMP_RNN_INPUTS];
    struct amp_ctx ctx;
    struct amp_error err;
};

static void start_run(const struct test_node *test, enum amp_dtype dtype, void **state,
                      struct run *run)
{
    *run = (struct run){.err.status = AMP_OK};
    for (int i = 0; i < AMP_RNN_INPUTS; i++) {
        const struct amp_tensor *from = &test->in[i];
        run->is_constant[i] = i == AMP_RNN_W || i == AMP_RNN_R || i == AMP_RNN_BIAS;
        if (from->data == NULL)
            continue;
        run->ins[i] = &run->in[i];
        run->in[i].dtype = from->dtype == AMP_DOUBLE ? dtype : from->dtype;
        run->in[i].shape = from->shape;
        assert_int_equal(amp_tensor_alloc(&run->in[i], &run->err), AMP_OK);
        for (size_t k = 0; k < amp_tensor_count(from); k++)
            if (i == AMP_RNN_LENGTHS)
                ((int32_t *)run->in[i].data)[k] = ((const int32_t *)from->data)[k];
            else
                amp_tensor_set_double(&run->in[i], k, data_of(from)[k]);
    }
    for (int i = 0; i < AMP_RNN_OUTPUTS; i++) {
        run->outs[i] = &run->out[i];
        run->out[i].shape = test->out[i].shape;
        run->out[i].dtype = test->out[i].dtype == AMP_UNDEFINED ? AMP_UNDEFINED : dtype;
        if (run->out[i].dtype != AMP_UNDEFINED)
            assert_int_equal(amp_tensor_alloc(&run->out[i], &run->err), AMP_OK);
    }
    run->ctx = (struct amp_ctx){.node = &test->node,
                                .in = run->ins,
                                .n_in = AMP_RNN_INPUTS,
                                .out = run->outs,
                                .n_out = AMP_RNN_OUTPUTS,
                                .is_constant = run->is_constant,
                                .state = state,
                                .host = &host,
                                .err = &run->err};
}

static void expect(const struct test_node *test, const struct run *run, double tolerance)
{
    for (int i = 0; i < AMP_RNN_OUTPUTS; i++) {
        const struct amp_tensor *want = &test->out[i], *have = &run->out[i];
        for (size_t k = 0; want->data != NULL && k < amp_tensor_count(want); k++)
            if (!(fabs(amp_tensor_double(have, k) - amp_tensor_double(want, k)) <= tolerance))
                fail_msg("%s %s: output %d, element %zu is %g, expected %g", test->op_type,
                         amp_dtype_name(have->dtype), i, k, amp_tensor_double(have, k),
                         amp_tensor_double(want, k));
    }
}

static void finish_run(struct run *run)
{
    amp_tensors_release(run->in, AMP_RNN_INPUTS);
    amp_tensors_release(run->out, AMP_RNN_OUTPUTS);
}

/* Whether oneDNN is known to have more than its reference on this CPU, and is asked. */
static bool has_primitives(void)
{
    return amp_cpu_tells_caches() &&
           (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) ==
               dnnl_cpu_isa_avx512_core_bf16;
}

static bool suits_pairs(const struct run *run)
{
    struct amp_rnn_layer layer;
    return amp_rnn_read(&run->ctx, &layer) == AMP_OK && amp_rnn_bf16.fits(&layer.common);
}

static bool has_pairs(void)
{
    return amp_rnn_bf16.fits(&(struct amp_rnn){.batch = 1, .input = 32, .hidden = 4});
}

/* Runs OP, where it HAS_RUN without the weights of which the state says that it has a form of its
   own, and with them where it wants them after all. Adds to *SPARED how many it did without. */
static enum amp_status run_spared(const struct amp_op *op, bool has_run, struct run *run,
                                  int *spared)
{
    int taken = 0;
    for (int i = AMP_RNN_W; i <= AMP_RNN_R && has_run; i++)
        if (!op->reads(*run->ctx.state, (size_t)i)) {
            run->in[i].data = NULL;
            taken++;
        }
    enum amp_status status = op->run(&run->ctx);
    if (status != AMP_AGAIN) {
        *spared += taken;
        return status;
    }
    for (int i = AMP_RNN_W; i <= AMP_RNN_R; i++)
        run->in[i].data = run->in[i].buffer->data;
    return op->run(&run->ctx);
}

/* As in a session: the node keeps its state and has the same weights, which it reads once; then it
   gets other inputs, then longer ones. */
static void operators_follow_their_equations(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        double tolerance;
    } cases[] = {{AMP_FLOAT, 2e-6}, {AMP_DOUBLE, 1e-12}, {AMP_BFLOAT16, 0.03}};
    int taken[3] = {0}, spared[3] = {0}, by_pairs = 0;
    (void)state;
    for (int round = 0; round < 120; round++) {
        struct test_node test;
        make_test(&test);
        const struct amp_op *op = amp_op_find("", test.op_type);
        void *kept[3] = {NULL};
        bool has_run[3] = {false};
        omp_set_num_threads(1 + (int)any(2));
        for (int again = 0; again < 3; again++) {
            if (again == 1)
                fill(&test.in[AMP_RNN_X], 1);
            if (again == 2)
                set_sequences(&test, test.steps + 1, test.in[AMP_RNN_LENGTHS].data != NULL);
            set_outputs(&test);
            compute(&test);
            for (int i = 0; i < 3; i++) {
                struct run run;
                start_run(&test, cases[i].dtype, &kept[i], &run);
                enum amp_status status = run_spared(op, has_run[i], &run, &spared[i]);
                has_run[i] = status == AMP_OK;
                if (cases[i].dtype != AMP_BFLOAT16 || status != AMP_UNSUPPORTED) {
                    if (status != AMP_OK)
                        fail_msg("%s", run.err.text);
                    expect(&test, &run, cases[i].tolerance);
                    taken[i]++;
                    by_pairs += cases[i].dtype == AMP_BFLOAT16 && suits_pairs(&run);
                }
                finish_run(&run);
            }
        }
        for (int i = 0; i < 3; i++)
            op->destroy(kept[i]);
        destroy_test(&test);
    }
    assert_int_equal(spared[1], 120 * 2 * 2); /* W and R, in two runs of three */
    assert_int_equal(spared[0], spared[1]);
    assert_true(taken[2] > 80 || !has_primitives());
    assert_true(by_pairs > 30 || !has_pairs());
}

/* As in a session that cannot go on in bfloat16 with another batch: the state is the same. */
static void dtypes_take_turns(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_BFLOAT16, AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT};
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct test_node test;
        void *kept = NULL;
        make_test(&test);
        const struct amp_op *op = amp_op_find("", test.op_type);
        set_outputs(&test);
        compute(&test);
        for (int i = 0; i < 4; i++) {
            struct run run;
            start_run(&test, dtypes[i], &kept, &run);
            if (op->run(&run.ctx) == AMP_OK)
                expect(&test, &run, 0.03);
            else
                assert_int_equal(dtypes[i], AMP_BFLOAT16);
            finish_run(&run);
        }
        op->destroy(kept);
        destroy_test(&test);
    }
}

/* oneDNN's primitives where operators do not prefer them too; float32 tells what would drown in
   bfloat16. */
static void primitives_follow_the_equations(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        double tolerance;
    } cases[] = {{AMP_FLOAT, 2e-6}, {AMP_BFLOAT16, 0.03}};
    int taken = 0;
    (void)state;
    for (int round = 0; round < 120; round++) {
        struct test_node test;
        struct amp_rnn_layer layer;
        struct amp_rnn_dnnl *kept = NULL;
        struct run run;
        make_test(&test);
        set_outputs(&test);
        compute(&test);
        start_run(&test, cases[round % 2].dtype, NULL, &run);
        assert_int_equal(amp_rnn_read(&run.ctx, &layer), AMP_OK);
        enum amp_status status = amp_rnn_dnnl_run(&run.ctx, &layer, &kept);
        if (status != AMP_UNSUPPORTED) {
            if (status != AMP_OK)
                fail_msg("%s", run.err.text);
            expect(&test, &run, cases[round % 2].tolerance);
            taken++;
        }
        amp_rnn_dnnl_destroy(kept);
        finish_run(&run);
        destroy_test(&test);
    }
    assert_true(taken > 30 || !has_primitives());
}

static int start_library(void **state)
{
    struct amp_error err = {.status = AMP_OK};
    (void)state;
    return amp_dnnl_create(NULL, &host.dnnl, &err) == AMP_OK ? 0 : -1;
}

static int stop_library(void **state)
{
    (void)state;
    amp_dnnl_destroy(host.dnnl);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_follow_their_equations),
        cmocka_unit_test(dtypes_take_turns),
        cmocka_unit_test(primitives_follow_the_equations),
    };
    return cmocka_run_group_tests(tests, start_library, stop_library);
}
