/*
 * Derivatives of single operators: every case of ONNX and of the project whose operator has a rule
 * is run in float64 behind a Gradient node, and its results are held against difference quotients
 * of what the operator itself computes. The value that is derived is the sum of the node's outputs,
 * each element with a weight of its own, so that no two elements can be taken for each other.
 */
#include "net.h"
#include "node_case.h"

#include "core/number/random.h"
#include "ops/facts.h"
#include "run/rewrite/gradient.h"
#include "run/rewrite/optimizer_terms.h"

#include <fnmatch.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROBES = 8 /* elements of an input, at most */, OUTPUTS = 64, OPS = 512 };

/* What was held against difference quotients, per operator. */
static struct tally {
    const struct amp_op *op;
    size_t inputs, elements, kinks, wrong;
} tallies[OPS];
static size_t n_tallies;

static struct tally *tally_of(const struct amp_op *op)
{
    for (size_t i = 0; i < n_tallies; i++)
        if (tallies[i].op == op)
            return &tallies[i];
    tallies[n_tallies].op = op;
    return &tallies[n_tallies++];
}

/* ---- the model ------------------------------------------------------------------------------- */

/* A case whose sum of outputs is derived by one of its inputs. */
struct derived {
    struct node_case test;
    struct amp_session *session;
    uint32_t input;                      /* of the node */
    struct amp_tensor *x;                /* what is derived by */
    struct amp_tensor *weights[OUTPUTS]; /* per output of the graph; NULL: not in the sum */
    struct amp_tensor results[OUTPUTS + 1];
    size_t n_outputs; /* of the graph, before the gradient */
};

/* Makes float64 of all inputs of float32 that may be that. */
static void widen(struct node_case *test)
{
    const struct amp_schema *schema = test->node->schema;
    for (uint32_t k = 0; k < test->node->n_inputs; k++) {
        struct amp_tensor *tensor = node_case_input(test, k), wide;
        const struct amp_schema_param *param = amp_schema_input(schema, k);
        if (tensor == NULL || tensor->dtype != AMP_FLOAT ||
            !(amp_schema_type(schema, param)->tensors & AMP_DTYPE_BIT(AMP_DOUBLE)))
            continue;
        wide = (struct amp_tensor){.dtype = AMP_DOUBLE, .shape = tensor->shape};
        assert_int_equal(amp_tensor_alloc(&wide, NULL), AMP_OK);
        for (size_t i = 0; i < amp_tensor_count(&wide); i++) /* what a file holds is not aligned */
            amp_tensor_set_double(&wide, i, amp_tensor_double(tensor, i));
        amp_tensor_release(tensor);
        *tensor = wide;
        node_case_declare(test, k);
    }
}

static uint32_t add_node(struct amp_model *model, const char *domain, const char *op_type,
                         const uint32_t *inputs, uint32_t n_inputs)
{
    char name[64];
    uint32_t id = amp_graph_add_node(model, 0, op_type, n_inputs, 1);
    snprintf(name, sizeof name, "sum/%u", id);
    uint32_t output = amp_graph_add_value(model, 0, amp_arena_strdup(model->arena, name));
    struct amp_node *node = amp_node_at(model, id);
    node->name = amp_value_at(model, output)->name;
    node->domain = domain;
    node->schema = amp_schema_find(domain, op_type, domain[0] == '\0' ? 13 : 1);
    node->since_version = node->schema->since_version;
    memcpy(node->inputs, inputs, n_inputs * sizeof *inputs);
    amp_node_set_output(model, id, 0, output);
    return output;
}

/* A weight for each element of OUT. */
static struct amp_tensor *make_weights(struct amp_model *model, const struct amp_tensor *out)
{
    struct amp_random random = amp_random_start(5, 1);
    struct amp_tensor *weights = amp_arena_alloc(model->arena, sizeof *weights);
    *weights = (struct amp_tensor){.dtype = out->dtype, .shape = out->shape};
    weights->data = amp_arena_alloc(model->arena, amp_tensor_size(weights) + 1);
    for (size_t i = 0; i < amp_tensor_count(weights); i++)
        amp_tensor_set_double(weights, i, (double)amp_random_normal(&random));
    return weights;
}

static bool is_real(enum amp_dtype dtype)
{
    return dtype == AMP_FLOAT || dtype == AMP_DOUBLE;
}

static bool has_rule(const struct amp_op *op, int input, int output)
{
    if (op->gradient == NULL)
        return op->recurrence != NULL;
    for (const struct amp_gradient_rule *rule = op->gradient; rule->term != NULL; rule++)
        if ((rule->input == AMP_EACH_INPUT || input < 0 || rule->input == input) &&
            (rule->output == AMP_EACH_OUTPUT || rule->output == output))
            return true;
    return false;
}

/* The sum of all outputs that can be derived, each with its weights; their shapes are in
   test.outputs. AMP_NONE: there are none. */
static uint32_t add_sum(struct derived *derived)
{
    struct node_case *test = &derived->test;
    struct amp_model *model = test->model;
    uint32_t sum = AMP_NONE;
    for (size_t k = 0; k < test->n_outputs; k++) {
        uint32_t output = model->graphs[0].outputs.items[k], place = 0;
        while (place < test->node->n_outputs && test->node->outputs[place] != output)
            place++;
        if (!is_real(test->outputs[k].dtype) || !has_rule(amp_op_of(test->node), -1, (int)place))
            continue;
        derived->weights[k] = make_weights(model, &test->outputs[k]);
        const uint32_t pair[] = {
            output, amp_graph_add_initializer(model, 0, "sum/weights", derived->weights[k])};
        uint32_t product = add_node(model, "", "Mul", pair, 2);
        uint32_t part = add_node(model, "", "ReduceSum", &product, 1);
        amp_node_set_int(model, amp_value_at(model, part)->producer, "keepdims", 0);
        const uint32_t sums[] = {sum, part};
        sum = sum == AMP_NONE ? part : add_node(model, "", "Add", sums, 2);
        test->node = amp_node_at(model, model->graphs[0].nodes.items[0]);
    }
    return sum;
}

static struct amp_attr name_attr(struct amp_model *model, const char *name, const char *text,
                                 enum amp_attr_type type)
{
    struct amp_str *string = amp_arena_alloc(model->arena, sizeof *string);
    *string = (struct amp_str){text, strlen(text)};
    return (struct amp_attr){.name = name, .type = type, .count = 1, .strings = string};
}

static void add_gradient(struct derived *derived, uint32_t sum)
{
    static const char domain[] = "ai.onnx.preview.training";
    struct amp_model *model = derived->test.model;
    uint32_t x = derived->test.node->inputs[derived->input];
    uint32_t dx = add_node(model, domain, "Gradient", &x, 1);
    uint32_t node = amp_value_at(model, dx)->producer;
    amp_node_set_attr(model, node,
                      name_attr(model, "xs", amp_value_at(model, x)->name, AMP_ATTR_STRINGS));
    amp_node_set_attr(model, node,
                      name_attr(model, "y", amp_value_at(model, sum)->name, AMP_ATTR_STRING));
    struct amp_value *value = amp_value_at(model, dx);
    value->kind = amp_value_at(model, x)->kind;
    value->dtype = amp_value_at(model, x)->dtype;
    value->is_output = true;
    amp_ids_push(model, &model->graphs[0].outputs, dx);
}

/* ---- a case ---------------------------------------------------------------------------------- */

static void close_case(struct derived *derived)
{
    amp_tensors_release(derived->results, derived->n_outputs + 1);
    amp_session_destroy(derived->session);
    node_case_close(&derived->test);
}

static bool open_case(struct derived *derived, const char *folder, uint32_t input)
{
    struct amp_error err;
    *derived = (struct derived){.input = input};
    if (!node_case_open(&derived->test, folder))
        return false;
    struct node_case *test = &derived->test;
    widen(test);
    derived->n_outputs = test->n_outputs;
    derived->x = node_case_input(test, input);
    if (node_case_run(test, NULL, &err) != AMP_OK || test->n_outputs > OUTPUTS) {
        close_case(derived);
        return false;
    }
    return true;
}

static enum amp_status run(struct derived *derived, struct amp_error *err)
{
    amp_tensors_release(derived->results, derived->n_outputs + 1);
    memset(derived->results, 0, sizeof derived->results);
    return amp_session_run(derived->session, derived->test.inputs, derived->results, err);
}

static double sum_of(struct derived *derived)
{
    struct amp_error err;
    double sum = 0;
    if (run(derived, &err) != AMP_OK)
        return NAN;
    for (size_t k = 0; k < derived->n_outputs; k++)
        for (size_t i = 0; derived->weights[k] != NULL && i < amp_tensor_count(derived->weights[k]);
             i++)
            sum += amp_tensor_double(derived->weights[k], i) *
                   amp_tensor_double(&derived->results[k], i);
    return sum;
}

/* What lies around element I of x: the slope over STEP on both sides, and by how much the slopes on
   the two sides differ. */
struct slope {
    double both, bend;
};

static struct slope slope_at(struct derived *derived, size_t i, double step)
{
    double at = amp_tensor_double(derived->x, i), here = sum_of(derived);
    amp_tensor_set_double(derived->x, i, at + step);
    double above = sum_of(derived);
    amp_tensor_set_double(derived->x, i, at - step);
    double below = sum_of(derived);
    amp_tensor_set_double(derived->x, i, at);
    return (struct slope){(above - below) / (2 * step), fabs(above + below - 2 * here) / step};
}

/* Whether the function has a kink there: its bend does not shrink with the step. */
static bool is_kink(const struct slope *far, const struct slope *near, double noise)
{
    double scale = 1 + fabs(near->both);
    return !(near->bend <= fmax(0.75 * far->bend, noise * scale)) ||
           !(fabs(near->both - far->both) <= 10 * noise * scale);
}

/* Whether all that counts is computed in float64. */
static bool is_wide(const struct derived *derived)
{
    bool wide = derived->x->dtype == AMP_DOUBLE;
    for (size_t k = 0; k < derived->n_outputs; k++)
        wide &= derived->weights[k] == NULL || derived->weights[k]->dtype == AMP_DOUBLE;
    return wide;
}

/* Where that is not so, the quotients are held to what float32 resolves. */
static void probe_element(struct derived *derived, const char *folder, size_t i, double gradient)
{
    struct tally *tally = tally_of(amp_op_of(derived->test.node));
    bool wide = is_wide(derived);
    double noise = wide ? 1e-6 : 1e-3;
    double step = (wide ? 1e-3 : 2e-2) * fmax(1, fabs(amp_tensor_double(derived->x, i)));
    struct slope far = slope_at(derived, i, step), near = slope_at(derived, i, step / 2);
    double wanted = (4 * near.both - far.both) / 3;
    if (is_kink(&far, &near, noise)) {
        tally->kinks++;
        return;
    }
    tally->elements++;
    if (fabs(gradient - wanted) <= noise * (1 + fabs(wanted)))
        return;
    if (tally->wrong++ < 3)
        fprintf(stderr, "%s: input %u, element %zu: %.9g, not %.9g\n", strrchr(folder, '/') + 1,
                derived->input, i, gradient, wanted);
}

/* The cases that have no gradient: orders and paddings of before their versions, indices that stand
   twice or in one term, lengths and peepholes of recurrences, and sizes that are not known. */
static bool may_be_refused(const char *name)
{
    static const char *const names[] = {"batch_norm_*",
                                        "einsum_diagonal*",
                                        "einsum_sum*",
                                        "einsum_trace*",
                                        "gemm_?_broadcast",
                                        "group_norm_18",
                                        "gru_*",
                                        "lstm_*",
                                        "max_pool_indices_column_major",
                                        "pad_1",
                                        "pad_2_reflect",
                                        "resize_10_*",
                                        "resize_cubic_align_corners",
                                        "resize_one_axis_*",
                                        "resize_tf_crop_*",
                                        "resize_trilinear*",
                                        "rnn_*",
                                        "test_*_batchwise",
                                        "test_einsum_batch_diagonal",
                                        "test_einsum_sum",
                                        "test_lstm_with_peepholes",
                                        "test_maxpool_with_argmax_2d_precomputed_strides",
                                        "test_resize_*",
                                        "test_training_dropout*",
                                        "tile_1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fnmatch(names[i], name, 0) == 0)
            return true;
    return false;
}

static void probe_all(struct derived *derived, const char *folder)
{
    struct amp_error err = {.status = AMP_OK};
    struct tally *tally = tally_of(amp_op_of(derived->test.node));
    enum amp_status status = amp_infer(derived->test.model, &err);
    if (status == AMP_OK)
        status = amp_session_open(derived->test.model, true, &derived->session, &err);
    if (status == AMP_OK)
        status = run(derived, &err);
    if (status == AMP_UNSUPPORTED && may_be_refused(strrchr(folder, '/') + 1))
        return;
    if (status != AMP_OK) {
        tally->wrong++;
        fprintf(stderr, "%s: input %u: %s\n", strrchr(folder, '/') + 1, derived->input, err.text);
        return;
    }
    struct amp_tensor dx = derived->results[derived->n_outputs];
    derived->results[derived->n_outputs] = (struct amp_tensor){.data = NULL};
    size_t count = amp_tensor_count(derived->x), step = count / PROBES + 1;
    bool fits = amp_shape_equal(&dx.shape, &derived->x->shape);
    tally->inputs++;
    tally->wrong += !fits;
    if (!fits)
        fprintf(stderr, "%s: input %u: another shape\n", strrchr(folder, '/') + 1, derived->input);
    for (size_t i = 0; fits && i < count; i += step)
        probe_element(derived, folder, i, amp_tensor_double(&dx, i));
    amp_tensor_release(&dx);
}

static void probe_input(const char *folder, uint32_t input)
{
    struct derived derived;
    if (!open_case(&derived, folder, input))
        return;
    uint32_t sum = add_sum(&derived);
    if (sum != AMP_NONE) {
        add_gradient(&derived, sum);
        probe_all(&derived, folder);
    }
    close_case(&derived);
}

static void probe_case(const char *folder)
{
    struct node_case test;
    if (!node_case_open(&test, folder))
        return;
    const struct amp_op *op = amp_op_of(test.node);
    uint32_t inputs[OUTPUTS], count = 0;
    for (uint32_t i = 0;
         op != NULL && (op->gradient != NULL || op->recurrence != NULL) && i < test.node->n_inputs;
         i++) {
        const struct amp_tensor *tensor = node_case_input(&test, i);
        if (tensor != NULL && is_real(tensor->dtype) && count < OUTPUTS &&
            amp_value_at(test.model, test.node->inputs[i])->kind == AMP_KIND_TENSOR &&
            amp_value_at(test.model, test.node->inputs[i])->constant == NULL &&
            has_rule(op, (int)i, 0))
            inputs[count++] = i;
    }
    node_case_close(&test);
    for (uint32_t i = 0; i < count; i++)
        probe_input(folder, inputs[i]);
}

static void gradients_are_difference_quotients(void **unused)
{
    (void)unused;
    glob_t folders;
    char path[4096];
    size_t wrong = 0;
    node_cases_find(&folders);
    for (size_t i = 0; i < folders.gl_pathc; i++) {
        snprintf(path, sizeof path, "%s/refused", folders.gl_pathv[i]);
        if (access(path, F_OK) != 0)
            probe_case(folders.gl_pathv[i]);
    }
    globfree(&folders);
    for (size_t i = 0; i < n_tallies; i++) {
        wrong += tallies[i].wrong;
        if (tallies[i].elements == 0) {
            fprintf(stderr, "%s: nothing was held against quotients\n", tallies[i].op->name);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Gives node ID an attribute of one-letter names, "y" of one; none where LETTERS is NULL. */
static void set_letters(uint32_t id, const char *name, const char *letters)
{
    if (letters == NULL)
        return;
    size_t count = strlen(letters);
    bool is_one = strcmp(name, "y") == 0;
    struct amp_str *strings = amp_arena_array(net.arena, count + 1, sizeof *strings);
    for (size_t i = 0; i < count; i++)
        strings[i] = (struct amp_str){amp_arena_printf(net.arena, "%c", letters[i]), 1};
    amp_node_set_attr(net.model, id,
                      (struct amp_attr){.name = name,
                                        .type = is_one ? AMP_ATTR_STRING : AMP_ATTR_STRINGS,
                                        .count = count,
                                        .strings = strings});
}

/* Names are those of tensors that are there, each once; the inputs are as many, and the outputs no
   more than the tensors that are derived by. */
static void gradients_name_what_they_take(void **state)
{
    static const struct {
        const char *xs, *zs, *y;
        const char *inputs; /* '_': one that is omitted */
        uint32_t n_outputs;
        enum amp_status status;
        const char *said;
    } cases[] = {
        {"a", NULL, "y", "a", 1, AMP_OK, ""},
        {"ab", NULL, "y", "ab", 2, AMP_OK, ""},
        {"ab", NULL, "y", "ab", 1, AMP_OK, ""},
        {"a", "b", "y", "ab", 1, AMP_OK, ""},
        {"a", "bn", "y", "abn", 1, AMP_OK, ""},
        {"a", NULL, NULL, "a", 1, AMP_MODEL, "there is no attribute 'y'"},
        {NULL, NULL, "y", "a", 1, AMP_MODEL, "there is no attribute 'xs'"},
        {"", "a", "y", "a", 0, AMP_MODEL, "there is no attribute 'xs'"},
        {"a", NULL, "q", "a", 1, AMP_MODEL, "there is no tensor 'q'"},
        {"q", NULL, "y", "a", 1, AMP_MODEL, "there is no tensor 'q'"},
        {"a", "q", "y", "ab", 1, AMP_MODEL, "there is no tensor 'q'"},
        {"a", NULL, "y", "ab", 1, AMP_MODEL,
         "2 inputs and 1 outputs for 1 names in xs and 0 in zs"},
        {"ab", NULL, "y", "a", 1, AMP_MODEL,
         "1 inputs and 1 outputs for 2 names in xs and 0 in zs"},
        {"a", "b", "y", "a", 1, AMP_MODEL, "1 inputs and 1 outputs for 1 names in xs and 1 in zs"},
        {"a", "b", "y", "ab", 2, AMP_MODEL, "2 inputs and 2 outputs for 1 names in xs and 1 in zs"},
        {"ab", NULL, "y", "a_", 1, AMP_MODEL, "no input is given for 'b'"},
        {"a", "b", "y", "a_", 1, AMP_MODEL, "no input is given for 'b'"},
        {"ab", NULL, "y", "_b", 1, AMP_MODEL, "no input is given for 'a'"},
        {"aa", NULL, "y", "ab", 1, AMP_MODEL, "xs and zs have more than once 'a'"},
        {"a", "a", "y", "ab", 1, AMP_MODEL, "xs and zs have more than once 'a'"},
        {"a", "bb", "y", "aab", 1, AMP_MODEL, "xs and zs have more than once 'b'"},
        {"n", NULL, "y", "a", 1, AMP_UNSUPPORTED, "only float tensors can be derived by, not 'n'"},
        {"a", NULL, "y", "n", 1, AMP_UNSUPPORTED, "only float tensors can be derived by, not 'a'"},
        {"an", NULL, "y", "aa", 1, AMP_UNSUPPORTED,
         "only float tensors can be derived by, not 'n'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t inputs[3], n = 0;
        net_start(17);
        amp_model_import(net.model, "ai.onnx.preview.training", 1);
        const uint32_t values[] = {['a' - 'a'] = input("a", AMP_FLOAT, DIMS(2)),
                                   ['b' - 'a'] = input("b", AMP_FLOAT, DIMS(2)),
                                   ['n' - 'a'] = input("n", AMP_INT64, DIMS(2))};
        output(NODE("Mul", "y", values[0], values[1]));
        for (; cases[i].inputs[n] != '\0'; n++)
            inputs[n] = cases[i].inputs[n] == '_' ? AMP_NONE : values[cases[i].inputs[n] - 'a'];
        infer_all();
        uint32_t id = net_node(0, "Gradient", "d", cases[i].n_outputs, inputs, n);
        struct amp_node *node = amp_node_at(net.model, id);
        node->domain = "ai.onnx.preview.training";
        node->schema = amp_schema_find(node->domain, "Gradient", 1);
        node->since_version = 1;
        for (uint32_t k = 0; k < cases[i].n_outputs; k++)
            amp_value_at(net.model, net_out(id, k))->dtype = AMP_FLOAT;
        set_letters(id, "xs", cases[i].xs);
        set_letters(id, "zs", cases[i].zs);
        set_letters(id, "y", cases[i].y);
        const struct amp_model *model = net.model;
        enum amp_status status = amp_gradients_expand(&model, net.arena, &net.err);
        if (status != cases[i].status || strstr(net.err.text, cases[i].said) == NULL)
            fail_msg("case %zu: %d, %s", i, (int)status, net.err.text);
    }
}

/* ---- equations ------------------------------------------------------------------------------- */

enum { MOST_TERMS = 10 };

/* An Einsum of EQUATION, by whose operand BY it is derived; the operands have the SHAPES, as many
   as have dims. */
static void derive_einsum(const char *equation, const struct amp_shape *shapes, uint32_t by)
{
    uint32_t operands[MOST_TERMS], n = 0;
    net_start(17);
    amp_model_import(net.model, "ai.onnx.preview.training", 1);
    for (; n < MOST_TERMS && shapes[n].rank > 0; n++)
        operands[n] = input(amp_model_unique_name(net.model, "x"), AMP_DOUBLE, shapes[n]);
    uint32_t y = net_out(net_node(0, "Einsum", "y", 1, operands, n), 0);
    set_word(y, "equation", equation);
    struct derived derived = {
        .test = {.model = net.model, .node = amp_node_at(net.model, node_of(y))}, .input = by};
    infer_all();
    add_gradient(&derived, y);
}

static enum amp_status plan_gradient(void)
{
    struct amp_session *session = NULL;
    enum amp_status status = amp_session_open(net.model, true, &session, &net.err);
    amp_session_destroy(session);
    return status;
}

/* An operand is derived by where each of its indices stands in it once, and in another term or the
   output: else the gradient is no sum of products. */
static void equations_are_swapped_where_indices_are_elsewhere(void **state)
{
    static char longest[512], longer[513];
    static const struct amp_shape square = {2, {2, 2}};
    const struct {
        const char *equation;
        int n;
        bool by_first, by_second;
    } cases[] = {{"ij,jk->ik", 2, true, true},     {"ij,jk", 2, true, true},
                 {"ij,ij->", 2, true, true},       {"ij,kl->ijkl", 2, true, true},
                 {"ij,jk->k", 2, false, true},     {"ij,jk->i", 2, true, false},
                 {"ii,ij->ij", 2, false, true},    {"ij,jj->ij", 2, true, false},
                 {"iJ,Jk", 2, true, true},         {"ij,jk,kl->il", 3, true, true},
                 {"ij,jk,kl->kl", 3, false, true}, {longest, 2, true, true},
                 {longer, 2, false, false}};
    (void)state;
    snprintf(longest, sizeof longest, "ij,%*s->ik", 504, "jk");
    snprintf(longer, sizeof longer, "ij,%*s->ik", 505, "jk");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t by = 0; by < 2; by++) {
            const struct amp_shape shapes[MOST_TERMS] = {square, square,
                                                         cases[i].n > 2 ? square : SCALAR};
            derive_einsum(cases[i].equation, shapes, by);
            bool does = by == 0 ? cases[i].by_first : cases[i].by_second;
            if (plan_gradient() != (does ? AMP_OK : AMP_UNSUPPORTED))
                fail_msg("%s by %u: %s", cases[i].equation, by, net.err.text);
            if (!does)
                assert_non_null(strstr(net.err.text, "no rule to derive"));
        }
}

/* The gradient of a, by the sums of what it is multiplied with. */
static void outputs_that_are_implied_are_derived(void **state)
{
    static const double b[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, a[12];
    (void)state;
    derive_einsum("...ij,...jk", (const struct amp_shape[MOST_TERMS]){DIMS(2, 2, 3), DIMS(2, 3, 2)},
                  0);
    run_on(TENSORS(*net_tensor(AMP_DOUBLE, DIMS(2, 2, 3), a),
                   *net_tensor(AMP_DOUBLE, DIMS(2, 3, 2), b)));
    EXPECT_OUTPUT(0, 0, 3, 7, 11, 3, 7, 11, 15, 19, 23, 15, 19, 23);
    derive_einsum("Ab,bc", (const struct amp_shape[MOST_TERMS]){DIMS(2, 3), DIMS(3, 4)}, 1);
    run_on(TENSORS(*net_tensor(AMP_DOUBLE, DIMS(2, 3), b), *net_tensor(AMP_DOUBLE, DIMS(3, 4), b)));
    EXPECT_OUTPUT(0, 0, 5, 5, 5, 5, 7, 7, 7, 7, 9, 9, 9, 9);
}

/* ---- recurrences ----------------------------------------------------------------------------- */

/* An LSTM of one feature and one state over STEPS steps (-2: its input may be of any shape), by
   whose input it is derived. */
static void derive_lstm(int64_t steps, bool has_size, bool has_peepholes)
{
    net_start(14);
    amp_model_import(net.model, "ai.onnx.preview.training", 1);
    uint32_t x = input("x", AMP_DOUBLE, steps == -2 ? ANY_DIMS : DIMS(steps, 1, 1));
    uint32_t w = input("w", AMP_DOUBLE, DIMS(1, 4, 1)), r = input("r", AMP_DOUBLE, DIMS(1, 4, 1));
    const uint32_t none = AMP_NONE;
    uint32_t p = has_peepholes ? input("p", AMP_DOUBLE, DIMS(1, 3)) : AMP_NONE;
    uint32_t y = NODE("LSTM", "y", x, w, r, none, none, none, none, p);
    if (!has_peepholes)
        amp_node_at(net.model, node_of(y))->n_inputs = 3;
    if (has_size)
        set_int(y, "hidden_size", 1);
    struct derived derived = {
        .test = {.model = net.model, .node = amp_node_at(net.model, node_of(y))}, .input = 0};
    infer_all();
    add_gradient(&derived, y);
}

/* Those that say how many steps there are, not too many, and how large a state is. */
static void recurrences_are_derived_step_by_step(void **state)
{
    static const struct {
        int64_t steps;
        bool has_size, has_peepholes, does;
    } cases[] = {{1, true, false, true},   {3, true, false, true},  {100001, true, false, false},
                 {-1, true, false, false}, {0, true, false, false}, {-2, true, false, false},
                 {3, false, false, false}, {3, true, true, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        derive_lstm(cases[i].steps, cases[i].has_size, cases[i].has_peepholes);
        if (plan_gradient() != (cases[i].does ? AMP_OK : AMP_UNSUPPORTED))
            fail_msg("case %zu: %s", i, net.err.text);
        if (!cases[i].does)
            assert_non_null(strstr(net.err.text, "no rule to derive"));
    }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* A branch of the If OWNER that gives the negative of X. */
static void add_negative(uint32_t owner, const char *name, uint32_t x)
{
    uint32_t graph = amp_graph_add(net.model, name, owner);
    uint32_t y = net_out(net_node(graph, "Neg", name, 1, &x, 1), 0);
    amp_value_at(net.model, y)->is_output = true;
    amp_ids_push(net.model, &net.model->graphs[graph].outputs, y);
    set_array(net_out(owner, 0), name, AMP_ATTR_GRAPH, 1, &graph, sizeof graph);
}

/* What bodies give is a factor like any other where they take nothing that is derived by. */
static void bodies_are_not_derived(void **state)
{
    static const double x[] = {2, 3}, b[] = {5, 7};
    static const bool yes = true;
    (void)state;
    for (int i = 0; i < 4; i++) { /* bits: which branches take x */
        net_start(17);
        amp_model_import(net.model, "ai.onnx.preview.training", 1);
        uint32_t in = input("x", AMP_DOUBLE, DIMS(2)), other = input("b", AMP_DOUBLE, DIMS(2));
        uint32_t owner = net_node(0, "If", "z", 1, IDS(input("c", AMP_BOOL, SCALAR)));
        add_negative(owner, "then_branch", (i & 1) != 0 ? in : other);
        add_negative(owner, "else_branch", (i & 2) != 0 ? in : other);
        uint32_t y = NODE("Mul", "y", in, net_out(owner, 0));
        struct derived derived = {
            .test = {.model = net.model, .node = amp_node_at(net.model, node_of(y))}, .input = 0};
        infer_all();
        add_gradient(&derived, y);
        if (plan_gradient() != (i == 0 ? AMP_OK : AMP_UNSUPPORTED))
            fail_msg("branches %d: %s", i, net.err.text);
        if (i > 0) {
            assert_non_null(strstr(net.err.text, "no rule to derive"));
            continue;
        }
        run_on(TENSORS(*net_tensor(AMP_DOUBLE, DIMS(2), x), *net_tensor(AMP_DOUBLE, DIMS(2), b),
                       *net_tensor(AMP_BOOL, SCALAR, &yes)));
        EXPECT_OUTPUT(0, 0, -5, -7);
    }
}

/* A Gradient node of y by a, for which B stands another tensor, with its output or without. */
static enum amp_status expand_with_other(bool has_other, bool has_output)
{
    uint32_t a = net.model->graphs[0].inputs.items[0], b = net.model->graphs[0].inputs.items[1];
    uint32_t other = input("o", AMP_DOUBLE, DIMS(2));
    infer_all();
    uint32_t id = net_node(0, "Gradient", "d", 1, IDS(a, has_other ? other : b));
    struct amp_node *node = amp_node_at(net.model, id);
    node->domain = "ai.onnx.preview.training";
    node->schema = amp_schema_find(node->domain, "Gradient", 1);
    node->since_version = 1;
    amp_value_at(net.model, net_out(id, 0))->dtype = AMP_DOUBLE;
    if (!has_output)
        amp_node_set_output(net.model, id, 0, AMP_NONE);
    set_letters(id, "xs", "a");
    set_letters(id, "zs", "b");
    set_letters(id, "y", "y");
    const struct amp_model *model = net.model;
    return amp_gradients_expand(&model, net.arena, &net.err);
}

/* Bodies are not copied for a tensor that stands for another; what y does not need is no matter. */
static void bodies_take_no_other_tensors(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        bool has_other = (i & 1) != 0, has_output = (i & 2) != 0, is_needed = (i & 4) != 0,
             has_body = (i & 8) != 0;
        net_start(17);
        amp_model_import(net.model, "ai.onnx.preview.training", 1);
        uint32_t a = input("a", AMP_DOUBLE, DIMS(2)), b = input("b", AMP_DOUBLE, DIMS(2)), z;
        if (has_body) {
            uint32_t owner = net_node(0, "If", "z", 1, IDS(input("c", AMP_BOOL, SCALAR)));
            add_negative(owner, "then_branch", is_needed ? b : a);
            add_negative(owner, "else_branch", b);
            z = net_out(owner, 0);
        } else {
            z = NODE("Neg", "z", b);
        }
        output(z);
        output(NODE("Mul", "y", a, is_needed ? z : b));
        enum amp_status status = expand_with_other(has_other, has_output);
        if (status != (has_body && is_needed && has_other ? AMP_UNSUPPORTED : AMP_OK))
            fail_msg("case %d: %d, %s", i, (int)status, net.err.text);
    }
}

/* ---- optimizers ------------------------------------------------------------------------------ */

/* A node with the rate, the number of the step and N_INPUTS in all, each of one element, and
   N_OUTPUTS. */
static void start_optimizer(const char *op_type, uint32_t n_inputs, uint32_t n_outputs)
{
    uint32_t inputs[16] = {0};
    net_start(17);
    amp_model_import(net.model, "ai.onnx.preview.training", 1);
    for (uint32_t i = 0; i < n_inputs; i++) {
        char name[8];
        snprintf(name, sizeof name, "x%u", i);
        inputs[i] = input(name, i == 1 ? AMP_INT64 : AMP_FLOAT, i < 2 ? SCALAR : DIMS(1));
    }
    uint32_t id = net_node(0, op_type, "y", n_outputs, inputs, n_inputs);
    struct amp_node *node = amp_node_at(net.model, id);
    node->domain = "ai.onnx.preview.training";
    node->schema = amp_schema_find(node->domain, op_type, 1);
    node->since_version = 1;
    uint32_t y = net_out(id, 0);
    if (strcmp(op_type, "Momentum") == 0) {
        set_number(y, "alpha", 0.5f);
        set_number(y, "beta", 0.5f);
        set_number(y, "norm_coefficient", 0);
        set_word(y, "mode", "standard");
    }
    for (uint32_t i = 0; i < n_outputs; i++)
        output(net_out(id, i));
}

/* A value, a gradient and the states for each tensor, and no more outputs than new values and
   states. */
static void optimizers_take_and_give_so_many_for_each_tensor(void **state)
{
    static const struct {
        const char *op_type;
        uint32_t n_states;
    } ops[] = {{"Adagrad", 1}, {"Momentum", 1}, {"Adam", 2}};
    (void)state;
    for (size_t op = 0; op < sizeof ops / sizeof *ops; op++)
        for (uint32_t n_inputs = 3; n_inputs < 12; n_inputs++)
            for (uint32_t n_outputs = 1; n_outputs <= 8; n_outputs++) {
                uint32_t each = 2 + ops[op].n_states, n = (n_inputs - 2) / each;
                bool fits =
                    n > 0 && (n_inputs - 2) % each == 0 && n_outputs <= n * (1 + ops[op].n_states);
                char text[120];
                start_optimizer(ops[op].op_type, n_inputs, n_outputs);
                enum amp_status status = amp_optimizers_expand(net.model, &net.err);
                snprintf(text, sizeof text,
                         "%u inputs and %u outputs; 2 and %u for each tensor, and %u for each, are "
                         "needed",
                         n_inputs, n_outputs, each, 1 + ops[op].n_states);
                if (status != (fits ? AMP_OK : AMP_MODEL) ||
                    (strstr(net.err.text, text) != NULL) == fits)
                    fail_msg("%s: %u inputs, %u outputs: %s", ops[op].op_type, n_inputs, n_outputs,
                             net.err.text);
            }
}

int main(void)
{
    setenv("OMP_NUM_THREADS", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_difference_quotients),
        NET_TEST(gradients_name_what_they_take),
        NET_TEST(equations_are_swapped_where_indices_are_elsewhere),
        NET_TEST(outputs_that_are_implied_are_derived),
        NET_TEST(recurrences_are_derived_step_by_step),
        NET_TEST(bodies_are_not_derived),
        NET_TEST(bodies_take_no_other_tensors),
        NET_TEST(optimizers_take_and_give_so_many_for_each_tensor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
