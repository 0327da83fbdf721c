/* Reports as JSON: which number stands under which name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/json.h"
#include "cli/report/validation.h"

/* A validation whose numbers all differ. */
static struct amp_validation made_up(struct amp_output_check *output, struct amp_task *task,
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

static void each_number_stands_under_its_name(void **state)
{
    struct amp_output_check output;
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation = made_up(&output, &task, &eval);
    (void)state;
    char *text = amp_json_dump(amp_json_validation(&validation), JSON_COMPACT);
    assert_string_equal(
        text, "{\"within\":false,\"reason\":\"output 'y': far off\",\"samples\":10,"
              "\"error_power\":0.0,\"tolerances\":{\"max_abs\":0.125,"
              "\"accuracy-drop\":0.0625,\"eval-drop\":\"50 %\"},\"outputs\":[{"
              "\"name\":\"y\",\"dtype\":\"bfloat16\",\"shape\":[2,3],\"elements\":60,"
              "\"metrics\":{\"differ\":0.25},\"nan\":{\"reference\":1,\"converted\":2},"
              "\"infinite\":{\"reference\":3,\"converted\":4},\"within\":false,"
              "\"reason\":\"far off\"}],\"accuracy\":{\"output\":\"y\","
              "\"reference\":{\"rows\":20,\"right\":15,\"percent\":75.0},"
              "\"converted\":{\"rows\":20,\"right\":5,\"percent\":25.0}},"
              "\"tasks\":[{\"output\":\"y\",\"labels\":\"l.npy\",\"metrics\":{\"accuracy\":"
              "{\"reference\":0.75,\"converted\":0.25,\"loss\":0.5}},\"within\":false,"
              "\"reason\":\"a drop\"}],\"eval\":{\"command\":\"try {}\",\"reference\":{"
              "\"verdict\":\"scored\",\"score\":4.0,\"seconds\":1.5},\"converted\":{"
              "\"verdict\":\"scored\",\"score\":3.0,\"seconds\":2.5},\"loss\":1.0,"
              "\"within\":true},"
              "\"widened_nodes\":{\"reference\":5,\"converted\":6},"
              "\"squeezed_nodes\":7,"
              "\"seconds\":{\"reference\":0.25,\"converted\":0.5}}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_stands_under_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
