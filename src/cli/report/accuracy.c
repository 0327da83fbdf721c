/*
 * The task accuracy of one model or of two: takes counts of right rows, gives a line and JSON.
 */
#include "cli/report/accuracy.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/print.h"

void amp_report_accuracy(FILE *file, const char *scores, const struct amp_accuracy *accuracy,
                         size_t n_models)
{
    static const char *const sides[] = {" in fp32, ", " converted"};
    amp_print(file, AMP_REPORT_LABEL, "accuracy");
    if (scores != NULL)
        amp_print(file, "'%s': ", scores);
    for (size_t i = 0; i < n_models; i++) {
        double percent = 100.0 * (double)accuracy[i].right / (double)accuracy[i].rows;
        amp_print(file, "%.2f %% (%llu of %llu)%s", accuracy[i].rows > 0 ? percent : 0.0,
                  (unsigned long long)accuracy[i].right, (unsigned long long)accuracy[i].rows,
                  n_models > 1 ? sides[i] : "");
    }
    fputc('\n', file);
}

json_t *amp_json_accuracy(const struct amp_accuracy *accuracy)
{
    json_t *object = json_object();
    amp_json_set(object, "rows", amp_json_count(accuracy->rows));
    amp_json_set(object, "right", amp_json_count(accuracy->right));
    amp_json_set(object, "percent",
                 amp_json_number(100.0 * (double)accuracy->right / (double)accuracy->rows));
    return object;
}
