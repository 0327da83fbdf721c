/*
 * What the executor does with constants over several runs: nodes on them run once, and those that
 * primitives have taken over are let go; what was made of weights serves other sessions. That the
 * values are right is for tests/constants.
 */
#include "core/graph/order.h"
#include "core/memory.h"
#include "core/shared_forms.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "onnx/schema/schema.h"
#include "ops/dnnl/profile.h"
#include "run/exec/session.h"
#include "run/exec/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 3 };

struct fixture {
    struct amp_model_file file;
    struct amp_session *session;
    struct amp_profile *profile;
};

static void read_model(struct fixture *f, const char *name)
{
    char path[256];
    struct amp_error err = {.status = AMP_OK};
    snprintf(path, sizeof path, "build/cases/constants/%s/model.onnx", name);
    assert_int_equal(amp_model_read(path, &f->file, &err), AMP_OK);
}

static void start(struct fixture *f, bool is_strict)
{
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_infer(f->file.model, &err), AMP_OK);
    assert_int_equal(amp_session_open(f->file.model, is_strict, &f->session, &err), AMP_OK);
    f->profile = amp_profile_create();
    amp_session_observe(f->session, f->profile);
}

static void set_up(struct fixture *f, const char *name, bool is_strict)
{
    read_model(f, name);
    start(f, is_strict);
}

static void tear_down(struct fixture *f)
{
    amp_session_destroy(f->session);
    amp_profile_destroy(f->profile);
    amp_model_close(&f->file);
    assert_int_equal(amp_memory_used(), 0);
}

/* Runs the model on ones of SHAPE and sets *FIRST to the first element of the first output. */
static enum amp_status run(struct fixture *f, struct amp_shape shape, float *first)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = shape}, y[3] = {{.data = NULL}};
    assert_int_equal(amp_tensor_alloc(&x, &err), AMP_OK);
    for (size_t i = 0; i < amp_tensor_count(&x); i++)
        amp_tensor_set_double(&x, i, 1);
    enum amp_status status = amp_session_run(f->session, &x, y, &err);
    if (status == AMP_OK)
        *first = ((float *)y[0].data)[0];
    amp_tensor_release(&x);
    amp_tensors_release(y, 3);
    return status;
}

/* How often each node has run, in order: "1 1 3". */
static const char *calls(const struct fixture *f)
{
    static char text[256];
    size_t count, used = 0;
    const struct amp_profile_node *nodes = amp_profile_nodes(f->profile, &count);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", i > 0 ? " " : "",
                                 nodes[i].calls);
    return text;
}

static uint32_t find_value(const struct fixture *f, const char *name)
{
    uint32_t id = 0;
    while (strcmp(amp_value_at(f->file.model, id)->name, name) != 0)
        id++;
    return id;
}

static void nodes_on_constants_run_once(void **state)
{
    static const struct {
        const char *model;
        struct amp_shape shape;
        const char *calls;
    } cases[] = {
        {"weights_made", {4, {1, 8, 6, 6}}, "1 1 1 3"},
        {"weights_transposed", {2, {5, 64}}, "1 1 1 1 1 3"},
        {"recurrent", {3, {3, 2, 16}}, "1 1 3"},
        {"outputs", {3, {1, 2, 3}}, "1 3 1"},
        {"random", {1, {3}}, "3 3 3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            struct fixture f;
            float first;
            set_up(&f, cases[i].model, is_strict != 0);
            for (int k = 0; k < RUNS; k++)
                assert_int_equal(run(&f, cases[i].shape, &first), AMP_OK);
            if (strcmp(calls(&f), cases[i].calls) != 0)
                fail_msg("%s: %s; %s wanted", cases[i].model, calls(&f), cases[i].calls);
            tear_down(&f);
        }
}

/* What the account has for the one primitive of the models below, beside its buffers. */
enum { PRIMITIVE = 24 << 10 };

/* 16 KB of weights: of what a session holds after a run, the packed ones are most. */
static void packed_weights_are_let_go(void **state)
{
    struct fixture f;
    float first;
    (void)state;
    set_up(&f, "weights_transposed", false);
    assert_int_equal(amp_memory_used(), 0);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run(&f, (struct amp_shape){2, {1, 64}}, &first), AMP_OK);
        assert_in_range(amp_memory_used(), 0, PRIMITIVE + (24 << 10));
    }
    tear_down(&f);
}

/* More rows need more memory for rows, not for weights. */
/* 256 KB that rows are taken from, wherever they lie. Who asks for them gets an aligned copy. */
static void a_table_stays_in_its_file(void **state)
{
    struct fixture f;
    struct amp_tensor table;
    struct amp_error err = {.status = AMP_OK};
    float first;
    (void)state;
    set_up(&f, "table", true);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run(&f, (struct amp_shape){1, {1}}, &first), AMP_OK);
        assert_true(first == 1);
        assert_in_range(amp_memory_used(), 0, PRIMITIVE);
    }
    assert_int_equal(amp_walk_get(f.session, find_value(&f, "table"), &table, &err), AMP_OK);
    assert_int_equal((uintptr_t)table.data % 64, 0);
    assert_in_range(amp_memory_used(), 256 << 10, (256 << 10) + PRIMITIVE);
    amp_tensor_release(&table);
    tear_down(&f);
}

static void changed_shapes_take_weights_over(void **state)
{
    static const struct amp_shape few = {2, {1, 64}}, many = {2, {9, 64}};
    struct fixture f;
    float of_few, of_many;
    (void)state;
    set_up(&f, "weights_transposed", false);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run(&f, few, &of_few), AMP_OK);
        assert_int_equal(run(&f, many, &of_many), AMP_OK);
        assert_true(of_few == of_many && of_few != 0);
        assert_in_range(amp_memory_used(), 0, PRIMITIVE + (30 << 10));
    }
    assert_string_equal(calls(&f), "1 1 1 1 1 6");
    tear_down(&f);
}

/* Puts COUNT nodes that negate in a row before input 1 of node LAST. */
static void add_chain(struct amp_model *model, uint32_t last, int count)
{
    uint32_t value = amp_node_at(model, last)->inputs[1];
    struct amp_error err = {.status = AMP_OK};
    for (int i = 0; i < count; i++) {
        uint32_t output = amp_graph_add_value(model, 0, amp_model_unique_name(model, "chain"));
        uint32_t id = amp_graph_add_node(model, 0, "Neg", 1, 1);
        struct amp_node *node = amp_node_at(model, id);
        node->inputs[0] = value;
        node->schema = amp_schema_find("", "Neg", (int)amp_model_opset(model, ""));
        node->since_version = node->schema->since_version;
        amp_node_set_output(model, id, 0, output);
        value = output;
    }
    amp_node_at(model, last)->inputs[1] = value;
    assert_int_equal(amp_graph_sort(model, NULL, &err), AMP_OK);
}

/* Another kernel, for more sequences, wants the weights again, which 50 000 nodes have made and let
   go: more than a stack has room for calls. */
static void long_chains_are_computed_again(void **state)
{
    enum { LSTM = 2, LENGTH = 50000 };
    static const struct amp_shape few = {3, {3, 1, 16}}, many = {3, {3, 20, 16}};
    struct fixture f;
    float of_few, of_many;
    (void)state;
    read_model(&f, "recurrent");
    assert_string_equal(amp_node_at(f.file.model, LSTM)->op_type, "LSTM");
    add_chain(f.file.model, LSTM, LENGTH);
    start(&f, true);
    assert_int_equal(run(&f, many, &of_many), AMP_OK);
    assert_int_equal(run(&f, few, &of_few), AMP_OK);
    assert_true(of_few - of_many < 1e-6f && of_many - of_few < 1e-6f && of_few != 0);
    tear_down(&f);
}

/* Where kernels for few sequences and for many hold the weights in forms of their own, the second
   one wants them again. From then on they stay: they are made twice, however often that goes on. */
static void constants_that_were_wanted_again_stay(void **state)
{
    static const struct amp_shape few = {3, {3, 1, 16}}, many = {3, {3, 20, 16}};
    struct fixture f;
    float first;
    (void)state;
    set_up(&f, "recurrent", true);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run(&f, many, &first), AMP_OK);
        assert_int_equal(run(&f, few, &first), AMP_OK);
    }
    if (strcmp(calls(&f), "1 1 6") != 0) /* an instruction set with one form for both */
        assert_string_equal(calls(&f), "2 2 6");
    tear_down(&f);
}

/* What fails is not done: it fails again. */
static void failures_are_no_constants(void **state)
{
    struct fixture f;
    float first;
    (void)state;
    set_up(&f, "broken", false);
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(run(&f, (struct amp_shape){1, {2}}, &first), AMP_MODEL);
    tear_down(&f);
}

/* ---- forms that are shared ---- */

static bool has_form(const void *of, struct amp_form_kind kind)
{
    struct amp_buffer *form = amp_shared_form_find(of, kind);
    amp_buffer_unref(form);
    return form != NULL;
}

/* Whether a form that is added to the data at OF is kept. */
static bool is_kept(const void *of, struct amp_form_kind kind)
{
    struct amp_buffer *form = amp_buffer_create(8);
    assert_non_null(form);
    amp_shared_form_add(of, kind, form);
    amp_buffer_unref(form);
    return has_form(of, kind);
}

static void forms_are_known_by_their_origin_and_kind(void **state)
{
    static const char data[64];
    const struct amp_form_kind kind = {AMP_FORM_PLACED, "ab", 2},
                               others[] = {{AMP_FORM_LAID_OUT, "ab", 2},
                                           {AMP_FORM_PLACED, "ac", 2},
                                           {AMP_FORM_PLACED, "abc", 3}};
    (void)state;
    assert_false(is_kept(data, kind));
    amp_shared_forms_begin(data + 8, 48);
    assert_false(is_kept(data + 7, kind));
    assert_false(is_kept(data + 56, kind));
    assert_true(is_kept(data + 8, kind) && is_kept(data + 55, kind));
    assert_false(has_form(data + 9, kind));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(has_form(data + 8, others[i]));
    struct amp_buffer *form = amp_shared_form_find(data + 8, kind);
    assert_true(is_kept(form->data, others[0]));
    amp_shared_forms_end();
    assert_false(has_form(data + 8, kind) || has_form(form->data, others[0]));
    assert_false(is_kept(data + 8, kind));
    amp_buffer_unref(form);
    assert_int_equal(amp_memory_used(), 0);
}

static void forms_take_a_part_of_the_memory(void **state)
{
    static const char data[64];
    const struct amp_form_kind kind = {AMP_FORM_PLACED, "a", 1};
    size_t limit = amp_memory_limit();
    (void)state;
    amp_memory_set_limit(4096);
    amp_shared_forms_begin(data, sizeof data);
    struct amp_buffer *forms[] = {amp_buffer_create(1000), amp_buffer_create(25),
                                  amp_buffer_create(24)};
    for (size_t i = 0; i < 3; i++) {
        amp_shared_form_add(data + i, kind, forms[i]);
        amp_buffer_unref(forms[i]);
    }
    assert_true(has_form(data, kind) && has_form(data + 2, kind));
    assert_false(has_form(data + 1, kind));
    amp_shared_forms_end();
    amp_memory_set_limit(limit);
}

/* The second session takes what the first has made of weights, some 80 KB, as long as they are of
   the same file, and gives the same. */
static void sessions_share_forms_of_weights(void **state)
{
    enum { LEAST = 60 << 10 };
    struct amp_error err = {.status = AMP_OK};
    struct fixture first, second, other;
    size_t used[4];
    float y[3];
    (void)state;
    assert_int_equal(amp_model_read("models/digits_cnn.onnx", &first.file, &err), AMP_OK);
    assert_int_equal(amp_model_read_again(&first.file, &second.file, &err), AMP_OK);
    assert_int_equal(amp_model_read("models/digits_cnn.onnx", &other.file, &err), AMP_OK);
    amp_shared_forms_begin(first.file.bytes.data, first.file.bytes.size);
    struct fixture *fixtures[] = {&first, &second, &other};
    used[0] = amp_memory_used();
    for (size_t i = 0; i < 3; i++) {
        start(fixtures[i], true);
        assert_int_equal(run(fixtures[i], (struct amp_shape){4, {1, 1, 8, 8}}, &y[i]), AMP_OK);
        used[i + 1] = amp_memory_used();
    }
    assert_true(y[0] == y[1] && y[0] == y[2]);
    size_t alone = used[3] - used[2];
    assert_true(alone > LEAST && used[2] - used[1] < alone - LEAST);
    for (size_t i = 0; i < 3; i++) {
        amp_session_destroy(fixtures[i]->session);
        amp_profile_destroy(fixtures[i]->profile);
        fixtures[i]->session = NULL;
    }
    amp_shared_forms_end();
    for (size_t i = 3; i-- > 0;)
        amp_model_close(&fixtures[i]->file);
    assert_int_equal(amp_memory_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_on_constants_run_once),
                                       cmocka_unit_test(packed_weights_are_let_go),
                                       cmocka_unit_test(a_table_stays_in_its_file),
                                       cmocka_unit_test(changed_shapes_take_weights_over),
                                       cmocka_unit_test(long_chains_are_computed_again),
                                       cmocka_unit_test(constants_that_were_wanted_again_stay),
                                       cmocka_unit_test(failures_are_no_constants),
                                       cmocka_unit_test(forms_are_known_by_their_origin_and_kind),
                                       cmocka_unit_test(forms_take_a_part_of_the_memory),
                                       cmocka_unit_test(sessions_share_forms_of_weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
