#ifndef AMP_TESTS_REPORT_CASE_H
#define AMP_TESTS_REPORT_CASE_H

/* What reports and pages are tried on: small graphs, made-up conversions, validations and layers;
 * and what is expected of a text. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/layers.h"
#include "check/validate.h"
#include "cli/report/conversion.h"
#include "cli/report/json.h"
#include "core/arena.h"
#include "core/graph/graph.h"
#include "scratch.h"

/* ---- graphs ---- */

struct sketch {
    struct amp_arena *arena;
    struct amp_model *model;
};

static inline struct sketch sketch(void)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_model *model = amp_model_create(arena, "m.onnx");
    amp_graph_add(model, "g", AMP_NONE);
    return (struct sketch){arena, model};
}

static inline uint32_t add_value(struct sketch *s, const char *name, enum amp_dtype dtype)
{
    uint32_t value = amp_graph_add_value(s->model, 0, amp_arena_strdup(s->arena, name));
    amp_value_at(s->model, value)->dtype = dtype;
    return value;
}

/* A node that gives a value of its name, made of values A and B (AMP_NONE: not). */
static inline uint32_t add_node(struct sketch *s, const char *op_type, const char *name, uint32_t a,
                                uint32_t b, enum amp_dtype dtype)
{
    uint32_t node = amp_graph_add_node(s->model, 0, op_type, b == AMP_NONE ? 1 : 2, 1);
    amp_node_at(s->model, node)->name = amp_arena_strdup(s->arena, name);
    amp_node_at(s->model, node)->inputs[0] = a;
    if (b != AMP_NONE)
        amp_node_at(s->model, node)->inputs[1] = b;
    uint32_t value = add_value(s, name, dtype);
    amp_node_set_output(s->model, node, 0, value);
    return value;
}

static inline uint32_t add_input(struct sketch *s, const char *name)
{
    uint32_t value = add_value(s, name, AMP_FLOAT);
    amp_value_at(s->model, value)->is_input = true;
    amp_ids_push(s->model, &s->model->graphs[0].inputs, value);
    return value;
}

/* ---- texts ---- */

/* The file at PATH, to be freed. */
static inline char *read_text(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "rb");
    assert_true(text != NULL && file != NULL);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_in_range(size, 1000, (1 << 20) - 2);
    return text;
}

static inline size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* Whether the page at PATH is well-formed, as far as the tool of the tests is there to say it. */
static inline void assert_xml(const char *path)
{
    char command[SCRATCH_MAX];
    const char *cases = getenv("CASES");
    if (cases == NULL)
        return;
    snprintf(command, sizeof command, "'%s/../case_tool' xml %s", cases, path);
    assert_int_equal(system(command), 0);
}

static inline void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("the page does not say: %s", part);
}

/* FILE, of which TEXT is what is written to it, says EXPECTED, all of it. */
static inline void assert_written(FILE *file, char **text, const char *expected)
{
    fclose(file);
    assert_string_equal(*text, expected);
    free(*text);
}

static inline void assert_json(json_t *json, const char *expected)
{
    char *text = amp_json_dump(json, JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- conversions and validations ---- */

/* A validation whose numbers all differ. */
static inline struct amp_validation made_up(struct amp_output_check *output, struct amp_task *task,
                                            struct amp_eval_check *eval)
{
    *output = (struct amp_output_check){
        .name = "y",
        .dtype = {AMP_FLOAT, AMP_BFLOAT16},
        .shape = {.rank = 2, .dims = {2, 3}},
        .metrics = {.count = 60, .different = 15, .nan = {1, 2}, .inf = {3, 4}},
        .is_outside = true,
        .reason = "far off"};
    struct amp_validation validation = {.samples = 10,
                                        .n_outputs = 1,
                                        .outputs = output,
                                        .widened = {5, 6},
                                        .squeezed = 7,
                                        .seconds = {0.25, 0.5},
                                        .n_tasks = 1,
                                        .tasks = task,
                                        .eval = eval};
    *task = (struct amp_task){.path = "l.npy",
                              .name = "y",
                              .scores = {{.rows = 20, .right = 15}, {.rows = 20, .right = 5}},
                              .is_outside = true,
                              .reason = "a drop"};
    *eval = (struct amp_eval_check){
        .eval = {.command = "try {}"},
        .outcomes = {{.verdict = AMP_EVAL_SCORED, .score = 4, .seconds = 1.5},
                     {.verdict = AMP_EVAL_SCORED, .score = 3, .seconds = 2.5}},
        .scores = {{.is_scored = true, .score = 4}, {.is_scored = true, .score = 3}}};
    validation.task_bounds.items[0] = (struct amp_task_bound){.is_set = true, .most = 0.0625};
    eval->bounds.items[5] =
        (struct amp_task_bound){.is_set = true, .most = 0.5, .is_relative = true};
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        validation.bounds.items[row] =
            strcmp(amp_metric_name_at(row), "max_abs") == 0 ? 0.125 : NAN;
    return validation;
}

/* Of a model that came out as it went in: one node stays float32 for a runtime. */
static inline struct amp_conversion make_unchanged(void)
{
    struct amp_conversion conversion = {.model_path = "m",
                                        .output_path = "o",
                                        .lower = AMP_BFLOAT16,
                                        .opset_before = 17,
                                        .opset_after = 17,
                                        .bytes_before = 40,
                                        .bytes_after = 40};
    conversion.n_precision[AMP_FLOAT] = 2;
    conversion.n_refused_for[AMP_REASON_RUNTIME] = 1;
    return conversion;
}

/* ---- layers ---- */

static inline struct amp_tensor number_of(double *number, size_t count)
{
    return (struct amp_tensor){
        .dtype = AMP_DOUBLE, .shape = {.rank = 1, .dims = {(int64_t)count}}, .data = number};
}

static inline struct amp_metrics metrics_of(double reference, double converted)
{
    struct amp_metrics metrics = {.count = 0};
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor from = number_of(&reference, 1), to = number_of(&converted, 1);
    assert_int_equal(amp_metrics_add(&metrics, &from, &to, &err), AMP_OK);
    return metrics;
}

enum { LAYERS = 14 };

/* Values of which the one in place I has an error of I + 1 in 100, and a local one of half that. */
static inline void make_layers(struct amp_layers *layers, struct amp_layer items[LAYERS])
{
    static const char *const names[LAYERS] = {"a", "b", "c", "d", "e", "f", "g",
                                              "h", "i", "j", "k", "l", "m", "n"};
    *layers = (struct amp_layers){.items = items,
                                  .count = LAYERS,
                                  .n_paired = {3, 0, 0},
                                  .n_unpaired = {5, 6},
                                  .first_nan = SIZE_MAX,
                                  .first_overflow = SIZE_MAX,
                                  .largest_jump = SIZE_MAX};
    for (size_t i = 0; i < LAYERS; i++)
        items[i] = (struct amp_layer){.names = {names[i], "other"},
                                      .node_names = {"", i == 1 ? "node" : ""},
                                      .op_type = "Op",
                                      .dtype = {AMP_FLOAT, AMP_FLOAT16},
                                      .shape = {.rank = 1, .dims = {1}},
                                      .accumulated = metrics_of(100, 101 + (double)i),
                                      .local = metrics_of(200, 201 + (double)i),
                                      .has_local = true,
                                      .range = {{.count = 1, .minimum = -2, .maximum = 1}}};
}

#endif
