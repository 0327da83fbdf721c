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
static struct amp_validation made_up(struct amp_output_check *output)
{
    *output = (struct amp_output_check){
        .name = "y",
        .dtype = {AMP_FLOAT, AMP_BFLOAT16},
        .shape = {.rank = 2, .dims = {2, 3}},
        .metrics = {.count = 60, .different = 15, .nan = {1, 2}, .inf = {3, 4}},
        .is_outside = true,
        .reason = "far off"};
    struct amp_validation validation = {
        .samples = 10,
        .n_outputs = 1,
        .outputs = output,
        .widened = {5, 6},
        .squeezed = 7,
        .seconds = {0.25, 0.5},
        .scores = "y",
        .accuracy = {{.rows = 20, .right = 15}, {.rows = 20, .right = 5}}};
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        validation.bounds.items[row] =
            strcmp(amp_metric_name_at(row), "max_abs") == 0 ? 0.125 : NAN;
    return validation;
}

static void each_number_stands_under_its_name(void **state)
{
    struct amp_output_check output;
    struct amp_validation validation = made_up(&output);
    (void)state;
    char *text = amp_json_dump(amp_json_validation(&validation), JSON_COMPACT);
    assert_string_equal(
        text, "{\"within\":false,\"samples\":10,\"tolerances\":{\"max_abs\":0.125},\"outputs\":[{"
              "\"name\":\"y\",\"dtype\":\"bfloat16\",\"shape\":[2,3],\"elements\":60,"
              "\"metrics\":{\"differ\":0.25},\"nan\":{\"reference\":1,\"converted\":2},"
              "\"infinite\":{\"reference\":3,\"converted\":4},\"within\":false,"
              "\"reason\":\"far off\"}],\"accuracy\":{\"output\":\"y\","
              "\"reference\":{\"rows\":20,\"right\":15,\"percent\":75.0},"
              "\"converted\":{\"rows\":20,\"right\":5,\"percent\":25.0}},"
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
