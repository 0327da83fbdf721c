/*
 * Proved bounds are never exceeded: every test network that runs on random inputs is run, as it is
 * and with random weights, and what is seen of each value is held against what is proved of it.
 */
#include "autocast/ranges/bounds.h"
#include "check/calibrate.h"
#include "check/random_input.h"
#include "core/number/random.h"
#include "core/tensor.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SAMPLES = 2, DIM = 3 /* of symbols */ };

struct network {
    struct amp_model_file file;
    int64_t *sizes;
    double scale; /* of inputs */
    struct amp_error err;
};

/* What was held against bounds. */
static struct {
    size_t networks, values, tight;
} tally;

/* ---- a network and its inputs ---------------------------------------------------------------- */

static enum amp_status make_inputs(void *context, size_t sample, struct amp_tensor *inputs,
                                   struct amp_error *err)
{
    struct network *n = context;
    const struct amp_ids *ids = &n->file.model->graphs[0].inputs;
    for (size_t i = 0; i < ids->count; i++) {
        struct amp_random_input plan;
        const struct amp_value *value = amp_value_at(n->file.model, ids->items[i]);
        if (value->constant != NULL || value->is_initializer)
            continue;
        AMP_TRY(amp_random_input_plan(n->file.model, ids->items[i], n->sizes, &plan, err));
        AMP_TRY(amp_random_input_make(&plan, 7, sample, &inputs[i], err));
        float *items = inputs[i].data;
        for (size_t k = 0; inputs[i].dtype == AMP_FLOAT && k < amp_tensor_count(&inputs[i]); k++)
            items[k] *= (float)n->scale;
    }
    return AMP_OK;
}

/* Puts random numbers in the place of all constants of float32. */
static void scramble(struct amp_model *model)
{
    struct amp_random random = amp_random_start(1, 2);
    for (uint32_t v = 0; v < model->n_values; v++) {
        struct amp_value *value = amp_value_at(model, v);
        struct amp_tensor *tensor = value->constant;
        if (tensor == NULL || amp_tensor_is_list(tensor) || tensor->dtype != AMP_FLOAT)
            continue;
        size_t count = amp_tensor_count(tensor);
        float *items = amp_arena_array(model->arena, count, sizeof *items);
        for (size_t k = 0; k < count; k++)
            items[k] = amp_random_normal(&random) * 3;
        struct amp_tensor *made = amp_arena_alloc(model->arena, sizeof *made);
        *made = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = tensor->shape, .data = items};
        value->constant = value->initial = made;
        value->constant_max = -1;
    }
}

/* ---- seen and proved ------------------------------------------------------------------------- */

static void compare(const char *path, const struct amp_value_range *range)
{
    const struct amp_range *seen = &range->seen;
    if (range->rule == NULL || seen->count == 0 || seen->count == seen->nan)
        return;
    tally.values++;
    bool is_finite = seen->count > seen->nan + seen->infinite;
    bool is_wide = isinf(range->proved.low) || isinf(range->proved.high);
    tally.tight += !is_wide;
    if ((is_finite && (seen->minimum < range->proved.low || seen->maximum > range->proved.high)) ||
        (seen->infinite > 0 && !is_wide))
        fail_msg("%s: '%s' is from %.9g to %.9g, %llu infinite; by %s from %.9g to %.9g", path,
                 range->name, seen->minimum, seen->maximum, (unsigned long long)seen->infinite,
                 range->rule, range->proved.low, range->proved.high);
}

static void hold(const char *path, struct network *n)
{
    struct amp_source source = {SAMPLES, make_inputs, n};
    struct amp_ranges *ranges = amp_ranges_create(n->file.arena);
    if (amp_calibrate(n->file.model, &source, ranges, &n->err) != AMP_OK)
        return;
    amp_bounds_note(n->file.model, ranges);
    tally.networks++;
    for (size_t i = 0; i < ranges->count && ranges->items[i].seen.nan == 0; i++)
        compare(path, &ranges->items[i]);
}

/* Holds the network at PATH, its inputs times SCALE, against its bounds; where it runs. */
static void hold_file(const char *path, double scale, bool is_scrambled)
{
    struct network n = {.scale = scale, .err = {.status = AMP_OK}};
    if (amp_model_read(path, &n.file, &n.err) != AMP_OK)
        return;
    if (amp_infer(n.file.model, &n.err) == AMP_OK) {
        n.sizes = amp_arena_array(n.file.arena, n.file.model->n_symbols, sizeof *n.sizes);
        for (size_t s = 0; s < n.file.model->n_symbols; s++)
            n.sizes[s] = DIM;
        if (is_scrambled)
            scramble(n.file.model);
        hold(path, &n);
    }
    amp_model_close(&n.file);
}

static void hold_all(const char *folder, const char *pattern)
{
    char path[1024];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", folder, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        hold_file(found.gl_pathv[i], 1, false);
        hold_file(found.gl_pathv[i], 30, false);
        hold_file(found.gl_pathv[i], 1, true);
    }
    globfree(&found);
}

static void no_bound_is_exceeded(void **state)
{
    (void)state;
    const char *cases = getenv("CASES"), *data = getenv("TESTDATA");
    assert_non_null(cases);
    hold_all("models", "*.onnx");
    /* Those of robust/ are made to be more than a machine takes. */
    hold_all(cases, "[!r]*/*/model.onnx");
    hold_all(cases, "r[!o]*/*/model.onnx");
    hold_all(cases, "ops/*/*/model.onnx");
    if (data != NULL)
        hold_all(data, "node/*/model.onnx");
    print_message("%zu runs of networks, %zu values with bounds, %zu of them on both sides\n",
                  tally.networks, tally.values, tally.tight);
    assert_true(tally.networks > 5000 && tally.tight > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_bound_is_exceeded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
