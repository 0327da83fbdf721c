/*
 * Every operator in every dtype that ONNX allows, type variable by type variable and version by
 * version: the models of one node in ONNX's tests and the project's own, with inputs of another
 * type. What descriptors say holds: all dtypes run but those in `lacks`, and those of AMP_BY_DNNL
 * come to a primitive. Values are small integers, which all types hold, and results agree with
 * those of the widest type.
 */
#include "core/cpu.h"
#include "node_case.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROBES_MAX = 1 << 15, OPS_MAX = 1024, RUNS_MAX = 5 };

/* One dtype of a type variable of a version of an operator. */
struct probe {
    const struct amp_schema *schema;
    int type;
    enum amp_dtype dtype;
    size_t ran, refused, lacking, wrong;
    char folder[128], text[256]; /* of the first failure */
};

static struct {
    struct probe *items;
    size_t count;
} probes;

static struct probe *find_probe(const struct amp_schema *schema, int type, enum amp_dtype dtype)
{
    for (size_t i = probes.count; i > 0; i--) {
        struct probe *probe = &probes.items[i - 1];
        if (probe->schema == schema && probe->type == type && probe->dtype == dtype)
            return probe;
    }
    assert_true(probes.count < PROBES_MAX);
    struct probe *probe = &probes.items[probes.count++];
    *probe = (struct probe){.schema = schema, .type = type, .dtype = dtype};
    return probe;
}

/* Runs of an operator in all dtypes, and those of them that came to a oneDNN primitive. */
static struct tally {
    const struct amp_op *op;
    size_t runs, by_dnnl;
} tallies[OPS_MAX];
static size_t n_tallies;

static struct tally *tally_of(const struct amp_op *op)
{
    for (size_t i = 0; i < n_tallies; i++)
        if (tallies[i].op == op)
            return &tallies[i];
    assert_true(n_tallies < OPS_MAX);
    tallies[n_tallies].op = op;
    return &tallies[n_tallies++];
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* 0 to 3 stay; everything else becomes 1, 2 or 3. */
static double small(double value)
{
    if (value == 0 || value == 1 || value == 2 || value == 3)
        return value;
    return isfinite(value) ? 1 + fmod(rint(fabs(value) * 4), 3) : 1;
}

/* Whether DTYPE has those values, and tells them apart. */
static bool has_small(enum amp_dtype dtype)
{
    return dtype != AMP_BOOL && dtype != AMP_FLOAT8E8M0 && dtype != AMP_INT2;
}

static bool is_complex(enum amp_dtype dtype)
{
    return amp_dtype_class(dtype) == AMP_CLASS_COMPLEX;
}

static void set_small(struct amp_tensor *tensor, enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor wide = {.dtype = AMP_DOUBLE, .shape = tensor->shape};
    struct amp_tensor copy = {.dtype = tensor->dtype, .shape = tensor->shape};
    assert_int_equal(amp_tensor_alloc(&wide, &err), AMP_OK);
    assert_int_equal(amp_tensor_alloc(&copy, &err), AMP_OK);
    amp_tensor_copy(tensor, copy.data);
    double *values = wide.data;
    enum amp_dtype_class class = amp_dtype_class(tensor->dtype);
    bool is_number = class != AMP_CLASS_STRING && class != AMP_CLASS_COMPLEX;
    if (is_number)
        assert_int_equal(amp_tensor_cast(&copy, &wide, NULL, &err), AMP_OK);
    for (size_t i = 0; i < amp_tensor_count(&wide); i++)
        values[i] = is_number ? small(values[i]) : (double)(i % 4);
    amp_tensor_release(&copy);
    amp_tensor_release(tensor);
    tensor->dtype = dtype;
    assert_int_equal(amp_tensor_alloc(tensor, &err), AMP_OK);
    memset(tensor->data, 0, amp_tensor_size(tensor));
    for (size_t i = 0; i < amp_tensor_count(&wide) && is_complex(dtype); i++)
        if (dtype == AMP_COMPLEX64)
            ((float *)tensor->data)[2 * i] = (float)values[i];
        else
            ((double *)tensor->data)[2 * i] = values[i];
    if (!is_complex(dtype))
        assert_int_equal(amp_tensor_cast(&wide, tensor, NULL, &err), AMP_OK);
    amp_tensor_release(&wide);
}

/* Gives the node's inputs of type variable TYPE small values of DTYPE. A constant that changed is
   held by the caller's tensors. */
static void retype(struct node_case *test, int type, enum amp_dtype dtype)
{
    for (uint32_t i = 0; i < test->node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(test->node->schema, i);
        struct amp_tensor *tensor = node_case_input(test, i);
        if (tensor == NULL || param == NULL || param->type != type)
            continue;
        bool is_seen = false;
        for (uint32_t k = 0; k < i; k++)
            is_seen |= test->node->inputs[k] == test->node->inputs[i];
        if (!is_seen)
            set_small(tensor, dtype);
        node_case_declare(test, i);
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

static double tolerance(enum amp_dtype dtype, double want)
{
    double scale = fabs(want) > 1 ? fabs(want) : 1;
    switch ((int)dtype) {
    case AMP_BFLOAT16:
        return scale * 0.05;
    case AMP_FLOAT16:
        return scale * 0.01;
    case AMP_FLOAT:
        return scale * 1e-3;
    default:
        return 1 + 1e-6; /* integers: rounded either way */
    }
}

/* Whether values of DTYPE can be held against others: WANT is within its range, and not at the end
   of it, where results may be saturated. */
static bool holds(enum amp_dtype dtype, double want)
{
    unsigned bits = amp_dtype_bits(dtype);
    switch ((int)amp_dtype_class(dtype)) {
    case AMP_CLASS_INT:
        return fabs(want) < ldexp(1, (int)bits - 1) - 1 && fabs(want) < 0x1p52;
    case AMP_CLASS_UINT:
        return want >= 0 && want < ldexp(1, (int)bits) - 1 && want < 0x1p52;
    case AMP_CLASS_FLOAT:
        return isfinite(want) && bits >= 16 && fabs(want) < 60000;
    default:
        return false;
    }
}

/* Finds a difference between what REFERENCE and TEST gave; false when there is none. */
static bool differ(const struct node_case *reference, const struct node_case *test, char *text,
                   size_t size)
{
    for (size_t o = 0; o < test->n_outputs; o++) {
        const struct amp_tensor *want = &reference->outputs[o], *got = &test->outputs[o];
        if (!amp_shape_equal(&want->shape, &got->shape)) {
            snprintf(text, size, "output %zu has another shape", o);
            return true;
        }
        if (!holds(got->dtype, 0) || !holds(want->dtype, 0))
            continue;
        for (size_t i = 0; i < amp_tensor_count(want); i++) {
            double x = amp_tensor_double(want, i), y = amp_tensor_double(got, i);
            if (holds(got->dtype, x) && holds(want->dtype, x) &&
                !(fabs(x - y) <= tolerance(got->dtype, x))) {
                snprintf(text, size, "output %zu, element %zu: %g, not %g", o, i, y, x);
                return true;
            }
        }
    }
    return false;
}

/* ---- one case -------------------------------------------------------------------------------- */

static const enum amp_dtype widest_first[] = {
    AMP_DOUBLE,    AMP_FLOAT,        AMP_FLOAT16,        AMP_BFLOAT16,   AMP_INT64,
    AMP_INT32,     AMP_INT16,        AMP_INT8,           AMP_UINT64,     AMP_UINT32,
    AMP_UINT16,    AMP_UINT8,        AMP_BOOL,           AMP_STRING,     AMP_COMPLEX128,
    AMP_COMPLEX64, AMP_FLOAT8E4M3FN, AMP_FLOAT8E4M3FNUZ, AMP_FLOAT8E5M2, AMP_FLOAT8E5M2FNUZ,
    AMP_INT4,      AMP_UINT4,        AMP_FLOAT4E2M1,     AMP_FLOAT8E8M0, AMP_INT2,
    AMP_UINT2};

/* How many kernels of oneDNN ran; each has its name. */
static size_t count_primitives(const struct amp_profile *profile)
{
    size_t count;
    const struct amp_profile_primitive *items = amp_profile_primitives(profile, &count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(items[i].kind);
        assert_true(isalpha((unsigned char)items[i].implementation[0]));
        assert_true(items[i].calls > 0 && items[i].seconds >= 0);
    }
    return count;
}

static enum amp_status run_as(struct node_case *test, const char *folder,
                              const struct amp_schema *schema, int type, enum amp_dtype dtype,
                              struct amp_error *err)
{
    struct amp_profile *profile = amp_profile_create();
    assert_true(node_case_open(test, folder));
    assert_true(node_case_set_version(test, schema));
    retype(test, type, dtype);
    enum amp_status status = node_case_run(test, profile, err);
    size_t n_primitives = count_primitives(profile);
    struct tally *tally = tally_of(amp_op_find(schema->domain, schema->name));
    tally->runs += status == AMP_OK;
    tally->by_dnnl += status == AMP_OK && n_primitives > 0;
    amp_profile_destroy(profile);
    return status;
}

static void note(struct probe *probe, const char *folder, const char *text, size_t *count)
{
    if (probe->text[0] == '\0' || count == &probe->wrong) {
        snprintf(probe->folder, sizeof probe->folder, "%s", strrchr(folder, '/') + 1);
        snprintf(probe->text, sizeof probe->text, "%s", text);
    }
    ++*count;
}

static void probe_type(const char *folder, const struct amp_schema *schema, int type,
                       uint32_t dtypes)
{
    struct node_case reference, test;
    struct amp_error err;
    char text[256];
    bool has_reference = false;
    const struct amp_op *op = amp_op_find(schema->domain, schema->name);
    for (size_t i = 0; i < sizeof widest_first / sizeof widest_first[0]; i++) {
        enum amp_dtype dtype = widest_first[i];
        if (!(dtypes & AMP_DTYPE_BIT(dtype)))
            continue;
        struct probe *probe = find_probe(schema, type, dtype);
        enum amp_status status = run_as(&test, folder, schema, type, dtype, &err);
        if (status == AMP_UNSUPPORTED)
            note(probe, folder, err.text, &probe->lacking);
        else if (status != AMP_OK)
            note(probe, folder, err.text, &probe->refused);
        else
            probe->ran++;
        /* Of strings only the empty one is zero. */
        bool agrees =
            has_small(dtype) && !(dtype == AMP_STRING && strcmp(op->name, "NonZero") == 0);
        if (status == AMP_OK && has_reference && agrees && op->effect != AMP_OPAQUE &&
            differ(&reference, &test, text, sizeof text))
            note(probe, folder, text, &probe->wrong);
        if (status == AMP_OK && !has_reference) {
            reference = test;
            has_reference = true;
        } else {
            node_case_close(&test);
        }
    }
    if (has_reference)
        node_case_close(&reference);
}

/* Whether some input of the node is of type variable TYPE of SCHEMA. */
static bool is_used(const struct node_case *test, const struct amp_schema *schema, int type)
{
    for (uint32_t i = 0; i < test->node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        if (test->node->inputs[i] != AMP_NONE && param != NULL && param->type == type)
            return schema->types[type].name != NULL;
    }
    return false;
}

/* Elements of lists keep their type, and what goes with them. */
static bool has_lists(const struct node_case *test)
{
    for (uint32_t i = 0; i < test->node->n_inputs; i++)
        if (test->node->inputs[i] != AMP_NONE &&
            amp_value_at(test->model, test->node->inputs[i])->kind != AMP_KIND_TENSOR)
            return true;
    return false;
}

/* Whether another case is worth its time: cases show what forms of an operator lack, of which a
   version other than the case's own has hardly more. */
static bool is_wanted(const struct amp_schema *schema, int type, bool is_own)
{
    size_t most = 0;
    for (size_t i = 0; i < probes.count && !is_own; i++) {
        const struct probe *probe = &probes.items[i];
        if (probe->schema == schema && probe->type == type && probe->ran > most)
            most = probe->ran;
    }
    return most < RUNS_MAX;
}

static void probe_case(const char *folder)
{
    struct node_case test;
    if (!node_case_open(&test, folder))
        return;
    const struct amp_op *op = amp_op_find(test.node->domain, test.node->op_type);
    int own = test.node->since_version;
    bool is_good = !has_lists(&test) && op != NULL && op->run != NULL;
    for (int version = 1; is_good && version <= op->newest; version++) {
        const struct amp_schema *schema = amp_schema_find(test.node->domain, op->name, version);
        if (schema == NULL || schema->since_version != version ||
            !node_case_set_version(&test, schema))
            continue;
        for (int type = 0; type < schema->n_types; type++)
            if (is_used(&test, schema, type) && is_wanted(schema, type, version == own))
                probe_type(folder, schema, type, schema->types[type].tensors);
    }
    node_case_close(&test);
}

/* ---- what is expected ------------------------------------------------------------------------ */

/* Dtypes that some forms of an operator do not take. */
#define NO_NUMBERS (AMP_DTYPE_BIT(AMP_BOOL) | AMP_DTYPE_BIT(AMP_STRING) | AMP_COMPLEX_TYPES)
static struct partial {
    const char *name, *why;
    uint32_t dtypes;
    bool is_met;
} partials[] = {
    {"BitCast", "no case gives another type of as many bits", AMP_DTYPE_BIT(AMP_COMPLEX128), false},
    {"FusedGemm", "activations compute in floats",
     AMP_DTYPE_BIT(AMP_INT32) | AMP_DTYPE_BIT(AMP_INT64), false},
    {"GridSample", "only nearest takes a pixel as it is", NO_NUMBERS, false},
    {"Resize", "only nearest takes a pixel as it is", NO_NUMBERS, false},
    {"ScatterElements", "only reduction none is no arithmetic", NO_NUMBERS, false},
    {"ScatterND", "only reduction none is no arithmetic", NO_NUMBERS, false},
    {"Upsample", "only nearest takes a pixel as it is", NO_NUMBERS, false},
};

static bool is_partial(const struct probe *probe)
{
    for (size_t i = 0; i < sizeof partials / sizeof partials[0]; i++)
        if (strcmp(partials[i].name, probe->schema->name) == 0 &&
            partials[i].dtypes & AMP_DTYPE_BIT(probe->dtype))
            return partials[i].is_met = true;
    return false;
}

/* Whether some dtype of the probe's type variable ran: the cases have a form for that version. */
static bool has_form(const struct probe *probe)
{
    for (size_t i = 0; i < probes.count; i++)
        if (probes.items[i].schema == probe->schema && probes.items[i].type == probe->type &&
            probes.items[i].ran > 0)
            return true;
    return false;
}

static const char *fault_of(const struct probe *probe)
{
    const struct amp_op *op = amp_op_find(probe->schema->domain, probe->schema->name);
    if (op->lacks & AMP_DTYPE_BIT(probe->dtype))
        return probe->lacking > 0 ? NULL : "not lacking";
    if (probe->wrong > 0)
        return "wrong";
    if (probe->lacking == 0 && (probe->ran > 0 || !has_form(probe)))
        return NULL;
    return is_partial(probe) ? NULL : probe->lacking > 0 ? "no kernel" : "refused";
}

static void every_allowed_dtype_runs(void **unused)
{
    (void)unused;
    size_t faults = 0, good = 0;
    for (size_t i = 0; i < probes.count; i++) {
        const struct probe *probe = &probes.items[i];
        const char *fault = fault_of(probe);
        good += probe->ran > 0;
        if (fault == NULL)
            continue;
        faults++;
        fprintf(stderr, "%s-%d, %s %s: %s (%zu ran, %zu did not): %s: %s\n", probe->schema->name,
                probe->schema->since_version, probe->schema->types[probe->type].name,
                amp_dtype_name(probe->dtype), fault, probe->ran, probe->lacking + probe->refused,
                probe->folder, probe->text);
    }
    fprintf(stderr, "# %zu dtypes of type variables of versions ran\n", good);
    for (size_t i = 0; i < sizeof partials / sizeof partials[0]; i++)
        if (!partials[i].is_met) {
            faults++;
            fprintf(stderr, "%s: no longer an exception\n", partials[i].name);
        }
    assert_int_equal(faults, 0);
}

static void oneDNN_runs_where_descriptors_say_so(void **unused)
{
    (void)unused;
    size_t faults = 0;
    for (size_t i = 0; i < n_tallies; i++) {
        const struct tally *tally = &tallies[i];
        bool is_said = tally->op->native & AMP_BY_DNNL;
        /* Recurrent layers come to oneDNN in bfloat16 alone, where the CPU has it and tells of its
           caches, and GRU only with more sequences than the cases have. */
        bool is_recurrent =
            strcmp(tally->op->name, "LSTM") == 0 || strcmp(tally->op->name, "RNN") == 0;
        bool may_not =
            is_said && (!amp_cpu_is_native(AMP_BFLOAT16) || strcmp(tally->op->name, "GRU") == 0 ||
                        (is_recurrent && !amp_cpu_tells_caches()));
        if (tally->runs == 0 || may_not || is_said == (tally->by_dnnl > 0))
            continue;
        faults++;
        fprintf(stderr, "%s: %zu of %zu runs came to a primitive, but the descriptor says %s\n",
                tally->op->name, tally->by_dnnl, tally->runs, is_said ? "oneDNN" : "C");
    }
    assert_int_equal(faults, 0);
}

/* Whether the case of FOLDER is one that operators refuse, which says nothing of dtypes. */
static bool is_refused(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/refused", folder);
    return access(path, F_OK) == 0;
}

static int probe_all(void **unused)
{
    (void)unused;
    glob_t folders;
    node_cases_find(&folders);
    probes.items = amp_xcalloc(PROBES_MAX, sizeof *probes.items);
    for (size_t i = 0; i < folders.gl_pathc; i++)
        if (!is_refused(folders.gl_pathv[i]))
            probe_case(folders.gl_pathv[i]);
    globfree(&folders);
    return 0;
}

static int forget_all(void **unused)
{
    (void)unused;
    free(probes.items);
    return 0;
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allowed_dtype_runs),
        cmocka_unit_test(oneDNN_runs_where_descriptors_say_so),
    };
    return cmocka_run_group_tests(tests, probe_all, forget_all);
}
