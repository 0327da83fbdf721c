/*
 * Two models value by value. The local error of a node is what a model of that node alone gives on
 * the reference's values: for every operator of the test cases and of ONNX's, in both lower dtypes,
 * with all nodes lowered that can be. What is accumulated at an output is what the validation
 * measures there.
 */
#include "check/layers.h"
#include "check/pairs.h"
#include "cli/convert/convert.h"
#include "cli/inputs.h"
#include "core/graph/copy.h"
#include "core/memory.h"
#include "onnx/schema/infer.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"
#include "run/exec/walk.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"

/* A model and its conversion, compared on one sample. */
struct fixture {
    struct amp_options options;
    struct amp_model_file files[2];
    struct amp_inputs inputs;
    struct amp_layers layers;
    struct amp_validation validation;
    struct amp_error err;
};

static enum amp_status load(void *context, size_t sample, struct amp_tensor *tensors,
                            struct amp_error *err)
{
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

/* ---- the comparison -------------------------------------------------------------------------- */

static enum amp_status measure(struct fixture *f)
{
    const struct amp_model *reference = f->files[0].model, *converted = f->files[1].model;
    AMP_TRY(amp_inputs_open(&f->options, reference, &f->inputs, &f->err));
    amp_layers_begin(reference, converted, &f->layers);
    struct amp_validate_options how = {
        .source = {.count = f->inputs.count, .load = load, .context = &f->inputs},
        .bounds = amp_metric_bounds_default(AMP_UNDEFINED),
        .runner = amp_layers_runner(&f->layers)};
    enum amp_status status = amp_validate(reference, converted, &how, &f->validation, &f->err);
    if (status == AMP_OK || status == AMP_MISMATCH) {
        amp_layers_end(&f->layers);
        status = AMP_OK;
    }
    return status;
}

/* Compares the model at PATH with what becomes of it in DTYPE, all nodes lowered that can be, on a
   sample of DATA, random without that. */
static enum amp_status compare(struct fixture *f, const char *path, const char *dtype,
                               const char *data)
{
    static const char *all = "*=lower", *given;
    given = data;
    *f = (struct fixture){.options = {.command = AMP_CMD_COMPARE,
                                      .dtype = dtype,
                                      .node_rules = {.items = &all, .count = 1},
                                      .samples = data != NULL ? 1 : -1,
                                      .data = {.items = &given, .count = data != NULL}}};
    AMP_TRY(amp_model_read(path, &f->files[0], &f->err));
    AMP_TRY(amp_infer(f->files[0].model, &f->err));
    AMP_TRY(amp_model_read_again(&f->files[0], &f->files[1], &f->err));
    AMP_TRY(amp_convert_in_memory(&f->options, &f->files[1], &f->err));
    return measure(f);
}

static void close_fixture(struct fixture *f)
{
    amp_layers_free(&f->layers);
    assert_true(f->layers.count == 0 && f->layers.items == NULL && f->layers.work == NULL);
    amp_validation_free(&f->validation);
    assert_true(f->validation.samples == 0 && f->validation.outputs == NULL);
    amp_inputs_close(&f->inputs);
    amp_model_close(&f->files[1]);
    amp_model_close(&f->files[0]);
}

static const struct amp_layer *find(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->layers.count; i++)
        if (strcmp(f->layers.items[i].names[0], name) == 0)
            return &f->layers.items[i];
    fail_msg("no layer '%s'", name);
    return NULL;
}

/* ---- a node alone ---------------------------------------------------------------------------- */

/* Per value of the reference: what it holds in a run of its own. */
static struct amp_tensor *run_reference(struct fixture *f)
{
    const struct amp_model *model = f->files[0].model;
    struct amp_session *session;
    size_t n_inputs = model->graphs[0].inputs.count;
    struct amp_tensor *inputs = amp_xcalloc(n_inputs, sizeof *inputs);
    assert_int_equal(amp_session_open(model, AMP_ROUNDED, &session, &f->err), AMP_OK);
    assert_int_equal(amp_inputs_load(&f->inputs, 0, inputs, NULL, &f->err), AMP_OK);
    assert_int_equal(amp_walk_begin(session, inputs, &f->err), AMP_OK);
    size_t n_values = amp_walk_model(session)->n_values;
    struct amp_tensor *values = amp_xcalloc(n_values, sizeof *values);
    for (size_t i = 0; i < n_inputs; i++)
        amp_tensor_refer(&values[model->graphs[0].inputs.items[i]], &inputs[i]);
    for (size_t i = 0; i < amp_walk_count(session); i++) {
        const struct amp_node *node =
            amp_node_at(amp_walk_model(session), amp_walk_node(session, i));
        assert_int_equal(amp_walk_compute(session, i, &f->err), AMP_OK);
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                assert_int_equal(
                    amp_walk_get(session, node->outputs[k], &values[node->outputs[k]], &f->err),
                    AMP_OK);
        amp_walk_release(session, i);
    }
    assert_int_equal(amp_walk_end(session, NULL, &f->err), AMP_OK);
    /* What a Gradient has become is in the plan's model alone. */
    amp_tensors_release(values + model->n_values, n_values - model->n_values);
    amp_session_destroy(session);
    amp_tensors_release(inputs, n_inputs);
    free(inputs);
    return values;
}

/* The value of the reference that VALUE of the converted model is, casts apart; AMP_NONE: it is
   not known here. */
static uint32_t counterpart(const struct fixture *f, uint32_t value)
{
    const struct amp_model *reference = f->files[0].model, *converted = f->files[1].model;
    for (;;) {
        const struct amp_value *v = amp_value_at(converted, value);
        for (size_t i = 0; i < f->layers.count; i++)
            if (f->layers.items[i].values[1] == value)
                return f->layers.items[i].values[0];
        for (size_t i = 0; i < reference->graphs[0].inputs.count; i++) {
            uint32_t input = reference->graphs[0].inputs.items[i];
            if (v->is_input && strcmp(amp_value_at(reference, input)->name, v->name) == 0)
                return input;
        }
        const struct amp_node *node =
            v->producer == AMP_NONE ? NULL : amp_node_at(converted, v->producer);
        if (node == NULL || strcmp(node->op_type, "Cast") != 0 ||
            !amp_dtype_is_autocast(amp_value_at(converted, node->inputs[0])->dtype))
            return AMP_NONE;
        value = node->inputs[0];
    }
}

/* A model of node ID of MODEL alone, which has no bodies: what it reads and what is no constant is
   given. */
static struct amp_model *isolate(const struct amp_model *model, uint32_t id,
                                 struct amp_arena *arena)
{
    struct amp_model *alone = amp_model_copy(model, arena);
    struct amp_graph *graph = &alone->graphs[0];
    const struct amp_node *node = amp_node_at(alone, id);
    for (uint32_t other = 0; other < alone->n_nodes; other++)
        amp_node_at(alone, other)->is_removed = other != id;
    alone->n_graphs = 1;
    graph->nodes = graph->inputs = graph->outputs = (struct amp_ids){.count = 0};
    amp_ids_push(alone, &graph->nodes, id);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t value = node->inputs[i];
        if (value == AMP_NONE || amp_value_at(alone, value)->constant != NULL ||
            amp_value_at(alone, value)->graph != 0)
            continue;
        struct amp_value *input = amp_value_at(alone, value);
        for (size_t k = 0; k < graph->inputs.count; k++)
            if (graph->inputs.items[k] == value)
                input = NULL;
        if (input == NULL)
            continue;
        input->producer = AMP_NONE;
        input->is_input = true;
        amp_ids_push(alone, &graph->inputs, value);
    }
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE) {
            amp_value_at(alone, node->outputs[k])->is_output = true;
            amp_ids_push(alone, &graph->outputs, node->outputs[k]);
        }
    return alone;
}

/* Gives INPUTS of ALONE the reference's values, cast; false: some are not known here. */
static bool give(const struct fixture *f, const struct amp_model *alone,
                 const struct amp_tensor *values, struct amp_tensor *inputs)
{
    const struct amp_ids *ids = &alone->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_error err = {.status = AMP_OK};
        uint32_t from = counterpart(f, ids->items[i]);
        enum amp_dtype dtype = amp_value_at(alone, ids->items[i])->dtype;
        if (from == AMP_NONE || values[from].data == NULL)
            return false;
        if (amp_tensor_cast_copy(&values[from], dtype, &inputs[i], &err) != AMP_OK)
            return false;
    }
    return true;
}

static bool are_equal(const struct amp_metrics *a, const struct amp_metrics *b)
{
    bool is_equal = a->count == b->count && a->different == b->different && a->stray == b->stray &&
                    a->worst.error == b->worst.error;
    for (size_t i = 0; i < AMP_METRICS_SUMS_MAX; i++)
        is_equal = is_equal && a->sums[i] == b->sums[i];
    return is_equal;
}

/* Whether both are no more than what float64 rounds away: its recurrent layers add up in another
   order where weights are constants. */
static bool are_roundings(const struct amp_metrics *a, const struct amp_metrics *b)
{
    return amp_layers_relative_error(a) < 1e-15 && amp_layers_relative_error(b) < 1e-15;
}

static void hold_against(const struct fixture *f, const struct amp_layer *layer,
                         const struct amp_tensor *reference, const struct amp_tensor *got)
{
    struct amp_metrics alone = {.count = 0};
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_metrics_add(&alone, reference, got, &err), AMP_OK);
    if (!are_equal(&alone, &layer->local) && !are_roundings(&alone, &layer->local))
        fail_msg("%s in %s: '%s' (%s): %.17g alone, %.17g here", f->files[0].path, f->options.dtype,
                 layer->names[0], layer->op_type, amp_layers_relative_error(&alone),
                 amp_layers_relative_error(&layer->local));
}

/* Bodies may read what is outside, and a Gradient names it. */
static bool can_be_alone(const struct amp_node *node)
{
    return !amp_node_has_bodies(node) && strcmp(node->op_type, "Gradient") != 0;
}

/* Holds LAYER against a model of its node. Returns whether that was possible. */
static bool check_layer(struct fixture *f, const struct amp_layer *layer,
                        const struct amp_tensor *values)
{
    if (!can_be_alone(amp_node_at(f->files[1].model, layer->nodes[1])))
        return false;
    struct amp_arena *arena = amp_arena_create();
    const struct amp_model *alone = isolate(f->files[1].model, layer->nodes[1], arena);
    const struct amp_graph *graph = &alone->graphs[0];
    struct amp_tensor *inputs = amp_xcalloc(graph->inputs.count, sizeof *inputs);
    struct amp_tensor *outputs = amp_xcalloc(graph->outputs.count, sizeof *outputs);
    struct amp_session *session;
    bool is_given = give(f, alone, values, inputs);
    if (is_given) {
        if (amp_session_open(alone, AMP_ROUNDED, &session, &f->err) != AMP_OK ||
            amp_session_run(session, inputs, outputs, &f->err) != AMP_OK)
            fail_msg("%s: '%s': %s", f->files[0].path, layer->names[0], f->err.text);
        for (size_t k = 0; k < graph->outputs.count; k++)
            if (graph->outputs.items[k] == layer->values[1])
                hold_against(f, layer, &values[layer->values[0]], &outputs[k]);
        amp_session_destroy(session);
    }
    amp_tensors_release(inputs, graph->inputs.count);
    amp_tensors_release(outputs, graph->outputs.count);
    free(inputs);
    free(outputs);
    amp_arena_destroy(arena);
    return is_given;
}

/* What was checked, and the operators that gave values in a lower dtype: whether one of these was
   checked. */
struct tally {
    size_t models, layers, lower;
    struct amp_strmap operators;
    const char *names[512];
    bool is_checked[512];
    struct amp_arena *arena;
};

static void note(struct tally *tally, const struct amp_layer *layer, bool is_checked)
{
    uint32_t i;
    tally->layers += is_checked;
    if (!amp_dtype_is_lower(layer->dtype[1]))
        return;
    tally->lower += is_checked;
    if (!amp_strmap_get(&tally->operators, layer->op_type, &i)) {
        i = (uint32_t)tally->operators.count;
        assert_in_range(i, 0, 511);
        tally->names[i] = amp_arena_strdup(tally->arena, layer->op_type);
        amp_strmap_put(&tally->operators, tally->arena, tally->names[i], i);
    }
    tally->is_checked[i] |= is_checked;
}

static void check_model(const char *path, const char *data, struct tally *tally)
{
    static const char *const dtypes[] = {"bf16", "fp16"};
    for (int d = 0; d < 2; d++) {
        struct fixture f;
        if (compare(&f, path, dtypes[d], data) == AMP_OK) {
            struct amp_tensor *values = run_reference(&f);
            size_t n_values = f.files[0].model->n_values;
            tally->models++;
            for (size_t i = 0; i < f.layers.count; i++) {
                const struct amp_layer *layer = &f.layers.items[i];
                note(tally, layer, layer->has_local && check_layer(&f, layer, values));
            }
            amp_tensors_release(values, n_values);
            free(values);
        }
        close_fixture(&f);
    }
}

static void check_folders(const char *pattern, struct tally *tally)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *data = amp_xstrdup(found.gl_pathv[i]);
        *strrchr(data, '/') = '\0';
        check_model(found.gl_pathv[i], data, tally);
        free(data);
    }
    globfree(&found);
}

static void local_errors_are_those_of_nodes_alone(void **state)
{
    struct tally tally = {.arena = amp_arena_create()};
    char pattern[1024];
    const char *testdata = getenv("TESTDATA");
    (void)state;
    amp_session_set_threads(1); /* tensors are small */
    check_model("models/digits_cnn.onnx", NULL, &tally);
    check_model("models/digits_gru.onnx", NULL, &tally);
    check_model("models/digits_transformer.onnx", NULL, &tally);
    check_folders("build/cases/ops/*/*/model.onnx", &tally);
    if (testdata != NULL) {
        snprintf(pattern, sizeof pattern, "%s/node/*/model.onnx", testdata);
        check_folders(pattern, &tally);
    }
    for (size_t i = 0; i < tally.operators.count; i++)
        if (!tally.is_checked[i] && strcmp(tally.names[i], "BitCast") != 0)
            fail_msg("no node of %s was held against one alone", tally.names[i]);
    print_message("%zu models, %zu layers, %zu of them lower, %zu operators\n", tally.models,
                  tally.layers, tally.lower, tally.operators.count);
    amp_arena_destroy(tally.arena);
}

/* ---- what is measured ------------------------------------------------------------------------ */

static void must_open(struct fixture *f, const char *path, const char *dtype)
{
    if (compare(f, path, dtype, NULL) != AMP_OK)
        fail_msg("%s: %s", path, f->err.text);
}

static void outputs_have_the_errors_of_the_validation(void **state)
{
    struct fixture f;
    (void)state;
    must_open(&f, "models/digits_transformer.onnx", "bf16");
    const struct amp_layer *layer = find(&f, "logits");
    const struct amp_metrics *whole = &f.validation.outputs[0].metrics;
    assert_true(layer->is_output);
    assert_int_equal(layer->pairing, AMP_PAIRED_BY_CASTS);
    assert_true(are_equal(&layer->accumulated, whole));
    assert_true(whole->different > 0 && layer->worst.error == whole->worst.error);
    close_fixture(&f);
}

/* In a run as a whole layouts may be others, and sums in another order. */
static void outputs_are_near_those_of_whole_runs(void **state)
{
    struct fixture f;
    struct amp_validation whole;
    (void)state;
    must_open(&f, "models/digits_cnn.onnx", "bf16");
    struct amp_validate_options how = {.source = {.count = 1, .load = load, .context = &f.inputs},
                                       .bounds = amp_metric_bounds_default(AMP_BFLOAT16)};
    assert_int_equal(amp_validate(f.files[0].model, f.files[1].model, &how, &whole, &f.err),
                     AMP_OK);
    double here = amp_layers_relative_error(&find(&f, "logits")->accumulated);
    double there = amp_layers_relative_error(&whole.outputs[0].metrics);
    assert_true(there > 0 && here > there / 2 && here < there * 2);
    amp_validation_free(&whole);
    close_fixture(&f);
}

static void sums_do_not_depend_on_threads(void **state)
{
    enum { COUNT = 300007 };
    static float reference[COUNT], converted[COUNT];
    struct amp_metrics sums[2] = {{.count = 0}};
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor r = {
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {COUNT}}, .data = reference};
    struct amp_tensor c = r;
    c.data = converted;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        reference[i] = (float)(i % 1013) / 7;
        converted[i] = reference[i] + (float)(i % 17) / 1024;
    }
    converted[200001] = 1e6f;
    for (int i = 0; i < 2; i++) {
        amp_session_set_threads(i + 1);
        assert_int_equal(amp_metrics_add(&sums[i], &r, &c, &err), AMP_OK);
    }
    assert_true(are_equal(&sums[0], &sums[1]));
    assert_int_equal(sums[0].worst.index, 200001);
    assert_int_equal(sums[0].finite, COUNT);
}

/* The reference and the converted model draw the same, although nodes run twice. */
static void random_numbers_are_drawn_once(void **state)
{
    struct fixture f;
    (void)state;
    must_open(&f, "build/cases/compare/random/model.onnx", "bf16");
    const struct amp_layer *noise = find(&f, "noise"), *sum = find(&f, "sum");
    assert_false(noise->has_local);
    assert_string_equal(noise->reason, "");
    assert_true(noise->accumulated.count > 0 && sum->has_local);
    assert_true(noise->error < 0.01 && sum->error < 0.01);
    close_fixture(&f);
}

/* Runs the models of F once more, with ONLOOKER or without. Returns the most memory that took. */
static size_t peak_of(struct fixture *f, struct amp_pair_runner onlooker)
{
    struct amp_validation result;
    struct amp_validate_options how = {.source = {.count = 1, .load = load, .context = &f->inputs},
                                       .bounds = amp_metric_bounds_default(AMP_BFLOAT16),
                                       .runner = onlooker};
    amp_memory_restart_peak();
    size_t before = amp_memory_used();
    assert_int_equal(amp_validate(f->files[0].model, f->files[1].model, &how, &result, &f->err),
                     AMP_OK);
    amp_validation_free(&result);
    return amp_memory_peak() - before;
}

/* Of a chain of 25 values, each of 256 KB in float32. */
static void values_are_not_kept(void **state)
{
    const size_t value = 262144; /* bytes; where it is held in float32, who looks gets a copy */
    struct fixture f;
    (void)state;
    must_open(&f, "build/cases/compare/long/model.onnx", "bf16");
    assert_int_equal(f.layers.count, 25);
    size_t plain = peak_of(&f, (struct amp_pair_runner){.run = NULL});
    size_t layers = peak_of(&f, amp_layers_runner(&f.layers));
    assert_true(plain > 2 * value);
    assert_in_range(layers, plain, 8 * value);
    close_fixture(&f);
}

/* ---- errors along the graph ------------------------------------------------------------------ */

static double error_of(const struct fixture *f, uint32_t value);

/* The largest error of what node ID reads, itself or in its bodies. */
static double error_read(const struct fixture *f, uint32_t id)
{
    const struct amp_model *model = f->files[1].model;
    const struct amp_node *node = amp_node_at(model, id);
    double error = 0;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE)
            error = fmax(error, error_of(f, node->inputs[i]));
    for (uint32_t a = 0; a < node->n_attrs; a++)
        for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++) {
            const struct amp_graph *body = &model->graphs[node->attrs[a].graphs[k]];
            for (size_t i = 0; i < body->nodes.count; i++)
                error = fmax(error, error_read(f, body->nodes.items[i]));
        }
    return error;
}

/* The error of a value of the converted model: that of its layer, else that of what its node reads;
   values of bodies have none. */
static double error_of(const struct fixture *f, uint32_t value)
{
    const struct amp_value *at = amp_value_at(f->files[1].model, value);
    for (size_t i = 0; i < f->layers.count; i++)
        if (f->layers.items[i].values[1] == value)
            return f->layers.items[i].error;
    return at->graph != 0 || at->producer == AMP_NONE ? 0 : error_read(f, at->producer);
}

static bool is_layer_right(const struct fixture *f, const struct amp_layer *layer)
{
    bool is_output = false;
    const struct amp_ids *outputs = &f->files[0].model->graphs[0].outputs;
    for (size_t i = 0; i < outputs->count; i++)
        is_output |= outputs->items[i] == layer->values[0];
    for (int m = 0; m < 2; m++) {
        const struct amp_model *model = f->files[m].model;
        const struct amp_value *value = amp_value_at(model, layer->values[m]);
        const struct amp_node *node = amp_node_at(model, layer->nodes[m]);
        if (value->producer != layer->nodes[m] || strcmp(value->name, layer->names[m]) != 0 ||
            strcmp(node->name, layer->node_names[m]) != 0 ||
            (layer->dtype[m] != AMP_UNDEFINED && layer->dtype[m] != value->dtype))
            return false;
    }
    const char *op_type = amp_node_at(f->files[1].model, layer->nodes[1])->op_type;
    return is_output == layer->is_output && strcmp(op_type, layer->op_type) == 0 &&
           layer->before == error_read(f, layer->nodes[1]) &&
           layer->error == amp_layers_relative_error(&layer->accumulated);
}

/* The first of the layers that have something is the one that is named. */
static bool are_firsts_right(const struct amp_layers *layers)
{
    size_t nan = SIZE_MAX, overflow = SIZE_MAX, jump = SIZE_MAX, n_paired = 0;
    for (size_t i = layers->count; i-- > 0;) {
        const struct amp_layer *layer = &layers->items[i];
        const struct amp_metrics *seen = &layer->accumulated;
        double rise = layer->error - layer->before;
        nan = seen->nan[1] > seen->nan[0] ? i : nan;
        overflow = seen->inf[1] > seen->inf[0] ? i : overflow;
        if (rise > 0 &&
            (jump == SIZE_MAX || rise >= layers->items[jump].error - layers->items[jump].before))
            jump = i;
    }
    for (int kind = 0; kind < AMP_PAIRING_KINDS; kind++)
        n_paired += layers->n_paired[kind];
    return layers->first_nan == nan && layers->first_overflow == overflow &&
           layers->largest_jump == jump && n_paired == layers->count;
}

/* What is said of layers beside what is measured, of all conversions' cases. */
static void layers_are_what_the_graphs_say(void **state)
{
    size_t n_layers = 0;
    glob_t paths;
    (void)state;
    assert_int_equal(glob("build/cases/convert/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        struct fixture f;
        bool is_compared = compare(&f, paths.gl_pathv[i], "fp16", NULL) == AMP_OK;
        for (size_t k = 0; k < f.layers.count && is_compared; k++)
            if (!is_layer_right(&f, &f.layers.items[k]))
                fail_msg("%s: layer '%s'", paths.gl_pathv[i], f.layers.items[k].names[1]);
        if (is_compared && !are_firsts_right(&f.layers))
            fail_msg("%s: the first ones", paths.gl_pathv[i]);
        n_layers += is_compared ? f.layers.count : 0;
        close_fixture(&f);
    }
    globfree(&paths);
    assert_true(n_layers > 1000);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Whether the values of the model at PATH are found again by their places alone, in a copy where
   all that nodes compute have other names: each is itself or has no pair. Adds up how many have
   one. */
static bool are_found_again(const char *path, bool is_crossed, size_t *n_found)
{
    struct amp_model_file files[2] = {{.arena = NULL}, {.arena = NULL}};
    struct amp_error err = {.status = AMP_OK};
    bool are_right = true, has_unknown = false;
    for (int i = 0; i < 2; i++)
        if (amp_model_read(path, &files[i], &err) != AMP_OK ||
            amp_infer(files[i].model, &err) != AMP_OK) {
            amp_model_close(&files[0]);
            amp_model_close(&files[1]);
            return true;
        }
    struct amp_model *model = files[1].model;
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_value_at(model, v)->producer != AMP_NONE)
            amp_value_at(model, v)->name = amp_arena_printf(model->arena, "renamed %u", v);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        struct amp_node *node = amp_node_at(model, id);
        const struct amp_op *op = amp_op_of(node);
        has_unknown |= op == NULL;
        if (is_crossed && op != NULL && op->is_commutative && node->n_inputs == 2) {
            uint32_t first = node->inputs[0];
            node->inputs[0] = node->inputs[1];
            node->inputs[1] = first;
        }
    }
    struct amp_pairs pairs = amp_pairs_create(files[0].model, model);
    for (uint32_t v = 0; v < model->n_values; v++) {
        const struct amp_value *value = amp_value_at(model, v);
        bool is_computed = value->producer != AMP_NONE && value->graph == 0;
        bool is_found = pairs.of[v] != AMP_NONE;
        are_right &= !is_found ||
                     (is_computed && pairs.of[v] == v && pairs.kind[v] == AMP_PAIRED_BY_POSITION);
        *n_found += is_found;
    }
    are_right &=
        has_unknown || is_crossed || (pairs.n_unpaired[0] == 0 && pairs.n_unpaired[1] == 0);
    amp_pairs_destroy(&pairs);
    assert_null(pairs.of);
    amp_model_close(&files[0]);
    amp_model_close(&files[1]);
    return are_right;
}

static void values_are_found_by_their_places(void **state)
{
    size_t n_found = 0;
    bool are_right = true;
    glob_t paths;
    (void)state;
    assert_int_equal(glob("build/cases/convert/*/model.onnx", 0, NULL, &paths), 0);
    assert_int_equal(glob("build/cases/{ops/*,constants,composites}/*/model.onnx",
                          GLOB_APPEND | GLOB_BRACE, NULL, &paths),
                     0);
    assert_int_equal(glob("models/*.onnx", GLOB_APPEND, NULL, &paths), 0);
    for (size_t i = 0; i < 2 * paths.gl_pathc; i++) {
        const char *path = paths.gl_pathv[i / 2];
        bool is_crossed = i % 2 != 0;
        /* Elsewhere there are nodes that differ in scalars alone. */
        if (is_crossed && strstr(path, "/convert/") == NULL)
            continue;
        if (!are_found_again(path, is_crossed, &n_found)) {
            print_message("%s\n", path);
            are_right = false;
        }
    }
    globfree(&paths);
    assert_true(are_right && n_found > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_errors_are_those_of_nodes_alone),
        cmocka_unit_test(outputs_have_the_errors_of_the_validation),
        cmocka_unit_test(outputs_are_near_those_of_whole_runs),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(layers_are_what_the_graphs_say),
        cmocka_unit_test(values_are_found_by_their_places),
        cmocka_unit_test(random_numbers_are_drawn_once),
        cmocka_unit_test(values_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
