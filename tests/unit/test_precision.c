/*
 * Every float operator in float16 and bfloat16 against itself in float32. The models are those of
 * ONNX's backend tests and of tests/ops that hold one operator, of tests/ops/lower with random
 * inputs: their float32, or what a model has in its place, is made the lower dtype wherever the
 * operator's schema has it, at the first opset that does; in a round of its own only where the
 * first input's type says so, as a conversion does that leaves statistics in float32. Inputs and
 * constants are rounded to the dtype; what the operator makes of them in float32, rounded once, is
 * what it has to make of them in the lower dtype, within the bounds of precision.h.
 *
 *   PRECISION_FILTER=GLOB   only cases whose path fits
 *   PRECISION_VERBOSE=1     one line per case
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fnmatch.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/random_input.h"
#include "onnx/schema/schema.h"
#include "onnx/sample/sample.h"
#include "ops/op.h"
#include "precision.h"
#include "run/exec/session.h"

#define AMP_OP(descriptor) extern const struct amp_op descriptor;
#include "ops/op_list.h"
#undef AMP_OP

static const enum amp_dtype lower_dtypes[] = {AMP_FLOAT16, AMP_BFLOAT16};

enum { LOWER_DTYPES = AMP_COUNT(lower_dtypes) };

/* What the cases have shown of an operator. */
static struct seen {
    const struct amp_op *op;
    size_t cases[LOWER_DTYPES];
    double worst; /* units in the last place */
} all_seen[] = {
#define AMP_OP(descriptor) {.op = &descriptor},
#include "ops/op_list.h"
#undef AMP_OP
};

static size_t n_wrong;

/* ---- running them ---------------------------------------------------------------------------- */

/* INPUT K takes all values of DTYPE, each input in an order of its own. */
static void sweep_values(struct amp_tensor *input, size_t k, enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    amp_tensor_release(input);
    *input = (struct amp_tensor){.dtype = dtype, .shape = {.rank = 1, .dims = {VALUES}}};
    assert_int_equal(amp_tensor_alloc(input, &err), AMP_OK);
    for (uint32_t i = 0; i < VALUES; i++)
        ((uint16_t *)input->data)[i] = (uint16_t)(k == 0 ? i : i * (2 * (uint32_t)k + 40503) + 77);
}

static void magnify(struct amp_tensor *input)
{
    for (size_t i = 0; i < amp_tensor_count(input); i++)
        amp_tensor_set_double(input, i, amp_tensor_double(input, i) * MAGNIFICATION);
}

static enum amp_status run_inputs(struct variant *variant, struct amp_tensor *inputs,
                                  struct amp_tensor *outputs, struct amp_error *err)
{
    struct amp_session *session = NULL;
    enum amp_status status = amp_session_open(variant->file.model, true, &session, err);
    if (status == AMP_OK)
        status = amp_session_run(session, inputs, outputs, err);
    amp_session_destroy(session);
    return status;
}

static enum amp_status load_inputs(const struct amp_model *model, const char *folder,
                                   struct amp_tensor *inputs, struct amp_error *err)
{
    size_t n_outputs = model->graphs[0].outputs.count;
    struct amp_tensor *outputs = amp_arena_array(model->arena, n_outputs, sizeof *outputs);
    struct amp_samples samples;
    AMP_TRY(amp_samples_open(folder, &samples, err));
    const struct amp_sample to = {model, inputs, outputs};
    enum amp_status status = amp_sample_load(&samples, 0, &to, err);
    amp_tensors_release(outputs, n_outputs);
    amp_samples_close(&samples);
    return status;
}

static enum amp_status make_inputs(const struct amp_model *model, struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    const struct amp_ids *ids = &model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_random_input plan;
        AMP_TRY(amp_random_input_plan(model, ids->items[i], NULL, &plan, err));
        AMP_TRY(amp_random_input_make(&plan, 1, 0, &inputs[i], err));
    }
    return AMP_OK;
}

/* The folder of a model.onnx has a sample; models by their own name come without. */
static enum amp_status get_inputs(const struct subject *subject, const struct amp_model *model,
                                  struct amp_tensor *inputs, struct amp_error *err)
{
    char folder[4096];
    const char *name = strrchr(subject->path, '/') + 1;
    if (strcmp(name, "model.onnx") != 0)
        return make_inputs(model, inputs, err);
    if (model->graphs[0].inputs.count == 0)
        return AMP_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(name - subject->path - 1), subject->path);
    return load_inputs(model, folder, inputs, err);
}

static void prepare_inputs(const struct subject *subject, bool is_lower,
                           const struct variant *variant, const bool *is_swept,
                           struct amp_tensor *inputs)
{
    const struct amp_ids *ids = &variant->file.model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        if (!variant->is_lowered[ids->items[i]] || inputs[i].data == NULL)
            continue;
        convert_tensor(&inputs[i], subject->dtype);
        if (is_swept[i])
            sweep_values(&inputs[i], i, subject->dtype);
        if (subject->round == MAGNIFIED)
            magnify(&inputs[i]);
        if (!is_lower)
            convert_tensor(&inputs[i], AMP_FLOAT);
    }
}

/* Makes the variant and runs it; its outputs go to *OUTPUTS, as many as the graph has. */
static enum amp_status run_variant(const struct subject *subject, bool is_lower,
                                   struct variant *variant, struct amp_tensor **outputs,
                                   struct amp_error *err)
{
    AMP_TRY(read_variant(subject, variant, err));
    struct amp_model *model = variant->file.model;
    size_t n_inputs = model->graphs[0].inputs.count;
    bool *is_swept = amp_arena_array(model->arena, n_inputs, sizeof *is_swept);
    struct amp_tensor *inputs = amp_arena_array(model->arena, n_inputs, sizeof *inputs);
    *outputs = amp_arena_array(model->arena, model->graphs[0].outputs.count, sizeof **outputs);
    if (subject->round == ALL_VALUES)
        sweep_shapes(variant, is_swept);
    if (subject->round == ALL_VALUES && !is_any(is_swept, n_inputs))
        return amp_fail(err, AMP_UNSUPPORTED, "nothing to sweep");
    enum amp_status status = get_inputs(subject, model, inputs, err);
    if (status == AMP_OK) {
        prepare_inputs(subject, is_lower, variant, is_swept, inputs);
        apply_dtype(subject, variant, is_lower);
        status = amp_infer(model, err);
    }
    if (status == AMP_OK)
        status = run_inputs(variant, inputs, *outputs, err);
    amp_tensors_release(inputs, n_inputs);
    return status;
}

static void close_variant(struct variant *variant, struct amp_tensor *outputs)
{
    if (outputs != NULL)
        amp_tensors_release(outputs, variant->file.model->graphs[0].outputs.count);
    amp_model_close(&variant->file);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The place of float BITS of WIDTH bits in the order of all values: neighbours differ by 1. */
static int64_t place(uint32_t bits, int width)
{
    int64_t sign = INT64_C(1) << (width - 1), magnitude = bits & (sign - 1);
    return bits & sign ? -magnitude : magnitude;
}

static uint32_t bits_at(const struct amp_tensor *tensor, size_t i)
{
    uint32_t wide;
    uint16_t half;
    if (tensor->dtype == AMP_FLOAT) {
        memcpy(&wide, (const char *)tensor->data + 4 * i, 4);
        return wide;
    }
    memcpy(&half, (const char *)tensor->data + 2 * i, 2);
    return half;
}

/* The unit in the last place of a number of MAGNITUDE, which is not 0. */
static double unit_at(enum amp_dtype dtype, double magnitude)
{
    int digits = dtype == AMP_FLOAT ? 23 : dtype == AMP_FLOAT16 ? 10 : 7;
    int lowest = dtype == AMP_FLOAT16 ? -14 : -126, exponent = ilogb(magnitude);
    return ldexp(1, (exponent < lowest ? lowest : exponent) - digits);
}

/* How far element I is off, in units in the last place: of WANT there, or of FLOOR if that is
   larger. */
static double element_error(const struct amp_tensor *got, const struct amp_tensor *want, size_t i,
                            double floor)
{
    double a = amp_tensor_double(got, i), b = amp_tensor_double(want, i);
    int width = (int)amp_dtype_bits(got->dtype);
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    double steps = fabs((double)(place(bits_at(got, i), width) - place(bits_at(want, i), width)));
    if (floor <= fabs(b) || isinf(a) || isinf(b))
        return steps;
    return fmin(steps, fabs(a - b) / unit_at(got->dtype, floor));
}

static double largest(const struct amp_tensor *tensor)
{
    double most = 0;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        if (isfinite(amp_tensor_double(tensor, i)))
            most = fmax(most, fabs(amp_tensor_double(tensor, i)));
    return most;
}

static double float_error(const struct amp_tensor *got, const struct amp_tensor *want,
                          const struct bound *bound)
{
    double worst = 0, floor = bound->floor * largest(want);
    for (size_t i = 0; i < amp_tensor_count(want); i++)
        worst = fmax(worst, element_error(got, want, i, floor));
    return worst;
}

static bool is_same_text(const struct amp_tensor *a, const struct amp_tensor *b)
{
    const struct amp_str *x = a->data, *y = b->data;
    for (size_t i = 0; i < amp_tensor_count(a); i++)
        if (x[i].size != y[i].size || memcmp(x[i].data, y[i].data, x[i].size) != 0)
            return false;
    return true;
}

/* Other texts may still name the same number of DTYPE: they have as many digits as it needs. */
static bool texts_differ(const struct amp_tensor *got, const struct amp_tensor *want,
                         enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor a = {.dtype = dtype, .shape = got->shape}, b = a;
    if (is_same_text(got, want))
        return false;
    bool differs = amp_tensor_alloc(&a, &err) != AMP_OK || amp_tensor_alloc(&b, &err) != AMP_OK ||
                   amp_tensor_cast(got, &a, NULL, &err) != AMP_OK ||
                   amp_tensor_cast(want, &b, NULL, &err) != AMP_OK ||
                   float_error(&a, &b, &(struct bound){.ulps = 0}) > 0;
    amp_tensor_release(&a);
    amp_tensor_release(&b);
    return differs;
}

static double tensor_error(const struct amp_tensor *got, const struct amp_tensor *want,
                           const struct bound *bound, enum amp_dtype dtype)
{
    if (bound->is_random)
        return 0;
    if (amp_dtype_is_autocast(got->dtype))
        return float_error(got, want, bound);
    bool differs = got->dtype == AMP_STRING
                       ? texts_differ(got, want, dtype)
                       : memcmp(got->data, want->data, amp_tensor_size(want)) != 0;
    return differs ? INFINITY : 0;
}

/* The largest error of GOT, a tensor or a list of them, against WANT, which has got the same dtype;
   INFINITY for what should be equal and is not. */
static double output_error(const struct amp_tensor *got, const struct amp_tensor *want,
                           const struct bound *bound, enum amp_dtype dtype)
{
    double error = 0;
    if (got->dtype != want->dtype || got->form != want->form ||
        !amp_shape_equal(&got->shape, &want->shape))
        return INFINITY;
    if (!amp_tensor_is_list(got))
        return tensor_error(got, want, bound, dtype);
    for (size_t i = 0; i < amp_tensor_count(got); i++)
        error = fmax(error,
                     output_error(&amp_list_items(got)[i], &amp_list_items(want)[i], bound, dtype));
    return error;
}

/* ---- the cases ------------------------------------------------------------------------------- */

static struct seen *seen_of(const struct amp_op *op)
{
    for (size_t i = 0; i < AMP_COUNT(all_seen); i++)
        if (all_seen[i].op == op)
            return &all_seen[i];
    return NULL;
}

static void note(const struct subject *subject, struct seen *seen, const struct bound *bound,
                 double error)
{
    bool is_wrong = !(error <= bound->ulps);
    seen->worst = fmax(seen->worst, error);
    seen->cases[subject->dtype == AMP_BFLOAT16]++;
    n_wrong += is_wrong;
    if (is_wrong || getenv("PRECISION_VERBOSE") != NULL)
        fprintf(stderr, "%s%s: %s%s: %g units in the last place; %g at most\n",
                is_wrong ? "WRONG " : "", subject->path, amp_dtype_name(subject->dtype),
                round_names[subject->round], error, bound->ulps);
}

static void compare(const struct subject *subject, const struct variant *lower,
                    const struct amp_tensor *got, struct amp_tensor *want)
{
    const struct amp_model *model = lower->file.model;
    const struct amp_node *node = amp_node_at(model, lower->node);
    struct seen *seen = seen_of(amp_op_find(node->domain, node->op_type));
    const struct bound *bound = bound_of(seen->op);
    double error = 0;
    size_t n_elements = 0;
    for (size_t i = 0; i < model->graphs[0].outputs.count; i++) {
        if (got[i].dtype == subject->dtype && want[i].dtype == AMP_FLOAT)
            convert_tensor(&want[i], subject->dtype);
        error = fmax(error, output_error(&got[i], &want[i], bound, subject->dtype));
        n_elements += amp_tensor_is_list(&got[i]) ? 1 : amp_tensor_count(&got[i]);
    }
    if (n_elements > 0)
        note(subject, seen, bound, error);
}

static bool run_case(const struct subject *subject)
{
    struct amp_error err = {.status = AMP_OK}, lower_err = err;
    struct variant reference = {.node = AMP_NONE}, lower = {.node = AMP_NONE};
    struct amp_tensor *want = NULL, *got = NULL;
    /* What does not work in float32 is no case here. */
    bool is_case = run_variant(subject, false, &reference, &want, &err) == AMP_OK;
    if (is_case && run_variant(subject, true, &lower, &got, &lower_err) == AMP_OK) {
        compare(subject, &lower, got, want);
    } else if (is_case) {
        n_wrong++;
        fprintf(stderr, "WRONG %s: %s%s: %s\n", subject->path, amp_dtype_name(subject->dtype),
                round_names[subject->round], lower_err.text);
    } else if (getenv("PRECISION_VERBOSE") != NULL) {
        fprintf(stderr, "no case %s%s: %s\n", subject->path, round_names[subject->round], err.text);
    }
    close_variant(&reference, want);
    close_variant(&lower, got);
    return is_case;
}

static void try_path(const char *path)
{
    const char *filter = getenv("PRECISION_FILTER");
    if (filter != NULL && fnmatch(filter, path, 0) != 0)
        return;
    for (size_t d = 0; d < LOWER_DTYPES; d++) {
        struct subject subject = {.path = path, .dtype = lower_dtypes[d]};
        if (run_case(&subject))
            for (subject.round = AS_GIVEN + 1; subject.round < ROUNDS; subject.round++)
                run_case(&subject);
    }
}

static void every_case_is_within_its_bound(void **state)
{
    (void)state;
    char pattern[4096];
    glob_t paths;
    glob("build/cases/ops/lower/*.onnx", 0, NULL, &paths);
    glob("build/cases/ops/*/*/model.onnx", GLOB_APPEND, NULL, &paths);
    if (getenv("TESTDATA") != NULL) {
        snprintf(pattern, sizeof pattern, "%s/node/*/model.onnx", getenv("TESTDATA"));
        glob(pattern, GLOB_APPEND, NULL, &paths);
    }
    for (size_t i = 0; i < paths.gl_pathc; i++)
        try_path(paths.gl_pathv[i]);
    globfree(&paths);
    assert_int_equal(n_wrong, 0);
}

/* ---- coverage -------------------------------------------------------------------------------- */

/* Whether some definition of OP that its kernel knows takes DTYPE. */
static bool may_take(const struct amp_op *op, enum amp_dtype dtype)
{
    const char *domain = op->domain ? op->domain : "";
    const struct amp_schema *schema;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++) {
        if (strcmp(schema->name, op->name) != 0 || strcmp(schema->domain, domain) != 0 ||
            schema->since_version > op->newest)
            continue;
        for (int t = 0; t < schema->n_types; t++)
            for (int kind = 0; kind <= AMP_KIND_MAP; kind++)
                if (dtypes_of(&schema->types[t], (enum amp_kind)kind) & AMP_DTYPE_BIT(dtype))
                    return true;
    }
    return false;
}

static void every_operator_has_a_case(void **state)
{
    (void)state;
    size_t n_missing = 0;
    for (size_t i = 0; i < AMP_COUNT(all_seen); i++)
        for (size_t d = 0; d < LOWER_DTYPES; d++) {
            bool is_missing = all_seen[i].cases[d] == 0 &&
                              may_take(all_seen[i].op, lower_dtypes[d]) &&
                              needs_case(all_seen[i].op);
            n_missing += is_missing;
            if (is_missing)
                fprintf(stderr, "no case for %s in %s: tests/ops/lower.cases has them\n",
                        all_seen[i].op->name, amp_dtype_name(lower_dtypes[d]));
        }
    for (size_t i = 0; i < AMP_COUNT(all_seen); i++)
        if (getenv("PRECISION_VERBOSE") != NULL && all_seen[i].cases[0] + all_seen[i].cases[1] > 0)
            fprintf(stderr, "%s: %zu float16, %zu bfloat16, %g of %g\n", all_seen[i].op->name,
                    all_seen[i].cases[0], all_seen[i].cases[1], all_seen[i].worst,
                    bound_of(all_seen[i].op)->ulps);
    assert_int_equal(n_missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_within_its_bound),
        cmocka_unit_test(every_operator_has_a_case),
    };
    /* The tensors are small: threads would wait for each other most of the time. */
    amp_session_set_threads(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
