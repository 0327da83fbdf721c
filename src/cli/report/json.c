/*
 * What was measured, as JSON.
 */
#include "cli/report/json.h"

#include "core/file/output.h"
#include "core/print.h"
#include "core/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *amp_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *amp_json_text(const char *text)
{
    json_t *string = json_string(text);
    return string != NULL ? string : json_string("(not UTF-8)");
}

json_t *amp_json_count(uint64_t count)
{
    return json_integer((json_int_t)count);
}

void amp_json_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

json_t *amp_json_shape(const struct amp_shape *shape)
{
    if (shape->rank < 0)
        return json_null();
    json_t *dims = json_array();
    for (int i = 0; i < shape->rank; i++)
        json_array_append_new(dims,
                              shape->dims[i] < 0 ? json_null() : json_integer(shape->dims[i]));
    return dims;
}

json_t *amp_json_inputs(const struct amp_inputs *inputs)
{
    json_t *array = json_array();
    const struct amp_model *model = inputs->model;
    for (size_t i = 0; i < model->graphs[0].inputs.count; i++) {
        const char *note = amp_inputs_note(inputs, i);
        if (note == NULL)
            continue;
        json_t *object = json_object();
        amp_json_set(object, "name",
                     amp_json_text(amp_value_at(model, model->graphs[0].inputs.items[i])->name));
        amp_json_set(object, "source", amp_json_text(note));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *json_bounds(const struct amp_tolerances *tolerances)
{
    json_t *object = json_object();
    for (int metric = 0; metric < AMP_METRIC_COUNT; metric++)
        if (!isnan(tolerances->bounds[metric]))
            amp_json_set(object, amp_metric_name(metric),
                         amp_json_number(tolerances->bounds[metric]));
    return object;
}

json_t *amp_json_metrics(const struct amp_metrics *metrics)
{
    json_t *object = json_object();
    for (int metric = 0; metric < AMP_METRIC_COUNT; metric++) {
        double value;
        if (amp_metrics_value(metrics, metric, &value))
            amp_json_set(object, amp_metric_name(metric), amp_json_number(value));
    }
    return object;
}

json_t *amp_json_pair(const char *first, uint64_t a, const char *second, uint64_t b)
{
    json_t *object = json_object();
    amp_json_set(object, first, amp_json_count(a));
    amp_json_set(object, second, amp_json_count(b));
    return object;
}

static json_t *json_both(uint64_t reference, uint64_t converted)
{
    return amp_json_pair("reference", reference, "converted", converted);
}

static json_t *json_output(const struct amp_output_check *check)
{
    json_t *object = json_object();
    amp_json_set(object, "name", amp_json_text(check->name));
    amp_json_set(object, "dtype", json_string(amp_dtype_name(check->dtype[1])));
    amp_json_set(object, "shape", amp_json_shape(&check->shape));
    amp_json_set(object, "elements", amp_json_count(check->metrics.count));
    amp_json_set(object, "metrics", amp_json_metrics(&check->metrics));
    amp_json_set(object, "nan", json_both(check->metrics.nan[0], check->metrics.nan[1]));
    amp_json_set(object, "infinite", json_both(check->metrics.inf[0], check->metrics.inf[1]));
    amp_json_set(object, "within", json_boolean(!check->is_outside));
    if (check->is_outside)
        amp_json_set(object, "reason", amp_json_text(check->reason));
    return object;
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

json_t *amp_json_validation(const struct amp_validation *validation)
{
    json_t *object = json_object(), *outputs = json_array(), *seconds = json_object();
    for (size_t i = 0; i < validation->n_outputs; i++)
        json_array_append_new(outputs, json_output(&validation->outputs[i]));
    amp_json_set(seconds, "reference", amp_json_number(validation->seconds[0]));
    amp_json_set(seconds, "converted", amp_json_number(validation->seconds[1]));
    amp_json_set(object, "within", json_boolean(validation->is_within));
    amp_json_set(object, "samples", amp_json_count(validation->samples));
    amp_json_set(object, "tolerances", json_bounds(&validation->tolerances));
    amp_json_set(object, "outputs", outputs);
    if (validation->scores != NULL) {
        json_t *accuracy = json_object();
        amp_json_set(accuracy, "output", amp_json_text(validation->scores));
        amp_json_set(accuracy, "reference", amp_json_accuracy(&validation->accuracy[0]));
        amp_json_set(accuracy, "converted", amp_json_accuracy(&validation->accuracy[1]));
        amp_json_set(object, "accuracy", accuracy);
    }
    amp_json_set(object, "widened_nodes",
                 json_both(validation->widened[0], validation->widened[1]));
    amp_json_set(object, "seconds", seconds);
    return object;
}

/* Outside strings there is nothing but ASCII; what jansson leaves unescaped in them, and is not to
   be shown, has four digits. */
char *amp_json_dump(json_t *root, size_t flags)
{
    char *text = json_dumps(root, flags | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (text == NULL)
        return NULL;
    size_t size = strlen(text);
    char *clean = amp_xmalloc(6 * size + 1, 1), *to = clean;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *begin = at;
        int32_t code = amp_utf8_next(&at, end);
        if (amp_print_is_shown(code) || code == '\n')
            to = mempcpy(to, begin, (size_t)(at - begin));
        else
            to += sprintf(to, "\\u%04X", (unsigned)code);
    }
    *to = '\0';
    free(text);
    return clean;
}

enum amp_status amp_json_write(json_t *root, const char *path, struct amp_error *err)
{
    struct amp_output *output;
    char *text = amp_json_dump(root, JSON_INDENT(2));
    if (text == NULL)
        return amp_fail(err, AMP_IO, "%s: out of memory", path);
    enum amp_status status = amp_output_open(&output, path, err);
    if (status == AMP_OK) {
        status = amp_output_write(output, text, strlen(text), err);
        if (status == AMP_OK)
            status = amp_output_write(output, "\n", 1, err);
        if (status == AMP_OK)
            status = amp_output_commit(output, err);
        else
            amp_output_abandon(output);
    }
    free(text);
    return status;
}
