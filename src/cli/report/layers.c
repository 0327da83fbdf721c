/*
 * The report of a comparison value by value, as text and as JSON: takes the result of
 * check/layers.c, gives what stands out, a table of values, and all of them as JSON.
 */
#include "cli/report/layers.h"

#include "cli/report/json.h"
#include "cli/report/metrics.h"
#include "cli/report/text.h"
#include "core/arena.h"
#include "core/print.h"

#include <math.h>
#include <stdlib.h>

/* Lines by default: of each kind of error, and of a list that is sorted by one. */
enum { WORST = 5, SORTED = 10 };

/* ---- parts of lines -------------------------------------------------------------------------- */

/* Writes "45.1 dB" into TEXT, which it returns; where elements are not finite in one model alone,
   how many; of what is no float the share of elements that differ. */
static char *error_text(const struct amp_metrics *metrics, char *text, size_t size)
{
    double error = amp_layers_relative_error(metrics);
    if (metrics->count == 0)
        snprintf(text, size, "empty");
    else if (metrics->different == 0)
        snprintf(text, size, "equal");
    else if (!metrics->is_float)
        snprintf(text, size, "%.3g %%", 100 * error);
    else if (metrics->stray > 0)
        snprintf(text, size, "%llu not finite", (unsigned long long)metrics->stray);
    else if (isinf(error))
        snprintf(text, size, "not 0");
    else
        snprintf(text, size, "%.1f dB", amp_layers_decibels(error));
    return text;
}

/* A NaN is written without its sign, which depends on the processor. */
static char *number_text(double number, char *text, size_t size)
{
    if (isnan(number))
        snprintf(text, size, "nan");
    else
        snprintf(text, size, "%.4g", number);
    return text;
}

/* Writes the place and the sides of the worst element into TEXT, which it returns: "[0, 3]: 1.5,
   not 1.25". */
static char *worst_text(const struct amp_layer *layer, char *text, size_t size)
{
    char place[200] = "?", sample[40] = "", reference[40], converted[40];
    struct amp_shape at;
    bool has_place = amp_shape_count(&layer->shape) > (int64_t)layer->worst.index;
    if (has_place)
        at = amp_shape_place(&layer->shape, layer->worst.index);
    if (layer->worst.sample > 0)
        snprintf(sample, sizeof sample, "sample %zu ", layer->worst.sample);
    snprintf(text, size, "%s%s: %s, not %s", sample,
             has_place ? amp_shape_text(&at, place, sizeof place) : place,
             number_text(layer->worst.values[1], converted, sizeof converted),
             number_text(layer->worst.values[0], reference, sizeof reference));
    return text;
}

/* "'conv1' (Conv)" or "'y' (Gemm, 'fc')": the value, its operator and its node. */
static void print_name(FILE *file, const struct amp_layer *layer)
{
    amp_print(file, "'%s' (%s", layer->names[0], layer->op_type);
    if (layer->node_names[1][0] != '\0')
        amp_print(file, " '%s'", layer->node_names[1]);
    fputc(')', file);
    if (layer->pairing == AMP_PAIRED_BY_POSITION)
        amp_print(file, ", there '%s'", layer->names[1]);
}

/* ---- what stands out ------------------------------------------------------------------------- */

static void print_models_values(FILE *file, const struct amp_layers *layers)
{
    static const char *const ways[AMP_PAIRING_KINDS] = {"by name", "through casts", "by position"};
    const char *comma = " (";
    amp_print(file, AMP_REPORT_LABEL "%zu value%s compared", "layers", layers->count,
              layers->count == 1 ? "" : "s");
    for (int i = 0; i < AMP_PAIRING_KINDS; i++) {
        if (layers->n_paired[i] == 0)
            continue;
        amp_print(file, "%s%zu %s", comma, layers->n_paired[i], ways[i]);
        comma = ", ";
    }
    amp_print(file, "); %zu of the reference alone, %zu of the other\n", layers->n_unpaired[0],
              layers->n_unpaired[1]);
    if (layers->n_paired[AMP_PAIRED_BY_POSITION] > 0)
        amp_print(file,
                  AMP_REPORT_LABEL
                  "names differ: values with alike operators, types and shapes in the same "
                  "place of the graph are taken for the same\n",
                  "");
}

static void print_special(FILE *file, const char *label, const struct amp_layer *layer, bool is_nan)
{
    const struct amp_metrics *seen = &layer->accumulated;
    uint64_t count = is_nan ? seen->nan[1] - seen->nan[0] : seen->inf[1] - seen->inf[0];
    amp_print(file, AMP_REPORT_LABEL, label);
    print_name(file, layer);
    amp_print(file, ": %llu of %llu elements %s in %s", (unsigned long long)count,
              (unsigned long long)seen->count, is_nan ? "NaN" : "infinite",
              amp_dtype_name(layer->dtype[1]));
    amp_print(file, "; the reference reaches %.4g\n", amp_range_largest(&layer->range[0]));
}

static void print_jump(FILE *file, const struct amp_layer *layer)
{
    char after[40];
    amp_print(file, AMP_REPORT_LABEL, "jump");
    print_name(file, layer);
    if (layer->before == 0)
        amp_print(file, ": from equal to ");
    else
        amp_print(file, ": from %.1f dB to ", amp_layers_decibels(layer->before));
    amp_print(file, "%s\n", error_text(&layer->accumulated, after, sizeof after));
}

static void print_marks(FILE *file, const struct amp_layers *layers)
{
    print_models_values(file, layers);
    if (layers->first_nan != SIZE_MAX)
        print_special(file, "first NaN", &layers->items[layers->first_nan], true);
    if (layers->first_overflow != SIZE_MAX)
        print_special(file, "overflow", &layers->items[layers->first_overflow], false);
    if (layers->largest_jump != SIZE_MAX)
        print_jump(file, &layers->items[layers->largest_jump]);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_layer(FILE *file, const struct amp_layer *layer)
{
    char accumulated[40], local[40], worst[300];
    if (layer->dtype[1] == AMP_UNDEFINED) {
        amp_print(file, "  %14s %14s  ", "?", "?");
        print_name(file, layer);
        amp_print(file, ": %s\n", layer->reason[0] != '\0' ? layer->reason : "not computed");
        return;
    }
    error_text(&layer->accumulated, accumulated, sizeof accumulated);
    if (layer->has_local)
        error_text(&layer->local, local, sizeof local);
    amp_print(file, "  %14s %14s  %-9s %9.3g  ", accumulated, layer->has_local ? local : "-",
              amp_dtype_name(layer->dtype[1]), amp_range_largest(&layer->range[0]));
    print_name(file, layer);
    if (layer->worst.error > 0)
        amp_print(file, " %s", worst_text(layer, worst, sizeof worst));
    if (layer->reason[0] != '\0')
        amp_print(file, "; %s", layer->reason);
    fputc('\n', file);
}

/* Marks the COUNT worst in ORDER that have an error at all. */
static void mark_worst(const struct amp_layers *layers, enum amp_layers_order order, size_t count,
                       bool *is_listed)
{
    size_t *indices = amp_layers_sort(layers, order);
    for (size_t i = 0; i < layers->count && i < count; i++) {
        const struct amp_layer *layer = &layers->items[indices[i]];
        bool is_local = order == AMP_LAYERS_BY_LOCAL;
        const struct amp_metrics *metrics = is_local ? &layer->local : &layer->accumulated;
        is_listed[indices[i]] |= metrics->different > 0 && (!is_local || layer->has_local);
    }
    free(indices);
}

static void mark_one(size_t index, bool *is_listed)
{
    if (index != SIZE_MAX)
        is_listed[index] = true;
}

/* Per item, whether VIEW, which does not say how many, wants to see it: to be freed. */
static bool *choose(const struct amp_layers *layers, const struct amp_layers_view *view)
{
    bool *is_listed = amp_xcalloc(layers->count, sizeof *is_listed);
    for (size_t i = 0; i < layers->count; i++)
        is_listed[i] = view->is_verbose || layers->items[i].dtype[1] == AMP_UNDEFINED;
    if (view->order != AMP_LAYERS_BY_GRAPH) {
        mark_worst(layers, view->order, SORTED, is_listed);
        return is_listed;
    }
    mark_worst(layers, AMP_LAYERS_BY_LOCAL, WORST, is_listed);
    mark_worst(layers, AMP_LAYERS_BY_ACCUMULATED, WORST, is_listed);
    mark_one(layers->first_nan, is_listed);
    mark_one(layers->first_overflow, is_listed);
    mark_one(layers->largest_jump, is_listed);
    return is_listed;
}

static void print_table(FILE *file, const struct amp_layers *layers,
                        const struct amp_layers_view *view)
{
    size_t n_printed = 0, *indices = amp_layers_sort(layers, view->order);
    bool *is_listed = view->lines < 0 ? choose(layers, view) : NULL;
    for (size_t i = 0; i < layers->count; i++) {
        if (is_listed != NULL ? !is_listed[indices[i]] : i >= (uint64_t)view->lines)
            continue;
        if (n_printed++ == 0)
            amp_print(file, "  %14s %14s  %-9s %9s  %s\n", "accumulated", "local", "dtype",
                      "reaches", "value and its worst element");
        print_layer(file, &layers->items[indices[i]]);
    }
    if (n_printed < layers->count && view->lines < 0)
        amp_print(file, "  %14s %zu more; -v lists them\n", "...", layers->count - n_printed);
    free(is_listed);
    free(indices);
}

void amp_report_compared(FILE *file, const char *reference, const char *model, const char *dtype)
{
    if (dtype != NULL)
        amp_print(file, "%s against itself in %s\n", reference, dtype);
    else
        amp_print(file, "%s against %s\n", reference, model);
}

void amp_report_layers(FILE *file, const struct amp_layers *layers,
                       const struct amp_layers_view *view)
{
    print_marks(file, layers);
    print_table(file, layers, view);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_both(json_t *reference, json_t *converted)
{
    json_t *object = json_object();
    amp_json_set(object, "reference", reference);
    amp_json_set(object, "converted", converted);
    return object;
}

static json_t *json_range(const struct amp_range *range)
{
    json_t *object = json_object();
    bool has_numbers = range->count > range->nan + range->infinite;
    amp_json_set(object, "elements", amp_json_count(range->count));
    amp_json_set(object, "nan", amp_json_count(range->nan));
    amp_json_set(object, "infinite", amp_json_count(range->infinite));
    amp_json_set(object, "zeros", amp_json_count(range->zeros));
    amp_json_set(object, "min", has_numbers ? amp_json_number(range->minimum) : json_null());
    amp_json_set(object, "max", has_numbers ? amp_json_number(range->maximum) : json_null());
    amp_json_set(object, "smallest",
                 range->smallest > 0 ? amp_json_number(range->smallest) : json_null());
    return object;
}

static json_t *json_worst(const struct amp_layer *layer)
{
    json_t *object = json_object(), *index = json_null();
    if (layer->worst.error == 0) {
        json_decref(object);
        return index;
    }
    if (amp_shape_count(&layer->shape) > (int64_t)layer->worst.index) {
        struct amp_shape place = amp_shape_place(&layer->shape, layer->worst.index);
        index = amp_json_shape(&place);
    }
    amp_json_set(object, "error", amp_json_number(layer->worst.error));
    amp_json_set(object, "sample", amp_json_count(layer->worst.sample));
    amp_json_set(object, "index", index);
    amp_json_set(object, "reference", amp_json_number(layer->worst.values[0]));
    amp_json_set(object, "converted", amp_json_number(layer->worst.values[1]));
    return object;
}

static json_t *json_error(const struct amp_metrics *metrics)
{
    json_t *object = amp_json_metrics(metrics);
    amp_json_set(object, "elements", amp_json_count(metrics->count));
    amp_json_set(object, "different", amp_json_count(metrics->different));
    amp_json_set(object, "stray", amp_json_count(metrics->stray));
    amp_json_set(object, "relative", amp_json_number_or_null(amp_layers_relative_error(metrics)));
    return object;
}

static json_t *json_layer(const struct amp_layer *layer)
{
    static const char *const ways[AMP_PAIRING_KINDS] = {"name", "casts", "position"};
    json_t *object = json_object();
    bool is_measured = layer->dtype[1] != AMP_UNDEFINED;
    amp_json_set(object, "name",
                 json_both(amp_json_text(layer->names[0]), amp_json_text(layer->names[1])));
    amp_json_set(
        object, "node",
        json_both(amp_json_text(layer->node_names[0]), amp_json_text(layer->node_names[1])));
    amp_json_set(object, "op_type", amp_json_text(layer->op_type));
    amp_json_set(object, "paired_by", json_string(ways[layer->pairing]));
    amp_json_set(object, "is_output", json_boolean(layer->is_output));
    amp_json_set(object, "dtype",
                 json_both(amp_json_dtype(layer->dtype[0]), amp_json_dtype(layer->dtype[1])));
    amp_json_set(object, "shape", is_measured ? amp_json_shape(&layer->shape) : json_null());
    amp_json_set(object, "accumulated",
                 is_measured ? json_error(&layer->accumulated) : json_null());
    amp_json_set(object, "local", layer->has_local ? json_error(&layer->local) : json_null());
    amp_json_set(object, "before", amp_json_number_or_null(layer->before));
    amp_json_set(object, "worst", json_worst(layer));
    amp_json_set(object, "range",
                 json_both(json_range(&layer->range[0]), json_range(&layer->range[1])));
    if (layer->reason[0] != '\0')
        amp_json_set(object, "reason", amp_json_text(layer->reason));
    return object;
}

static json_t *json_name(const struct amp_layers *layers, size_t index)
{
    return index == SIZE_MAX ? json_null() : amp_json_text(layers->items[index].names[0]);
}

json_t *amp_json_layers(const struct amp_layers *layers, enum amp_layers_order order)
{
    json_t *object = json_object(), *values = json_array(), *paired = json_object();
    size_t *indices = amp_layers_sort(layers, order);
    for (size_t i = 0; i < layers->count; i++)
        json_array_append_new(values, json_layer(&layers->items[indices[i]]));
    free(indices);
    amp_json_set(paired, "name", amp_json_count(layers->n_paired[AMP_PAIRED_BY_NAME]));
    amp_json_set(paired, "casts", amp_json_count(layers->n_paired[AMP_PAIRED_BY_CASTS]));
    amp_json_set(paired, "position", amp_json_count(layers->n_paired[AMP_PAIRED_BY_POSITION]));
    amp_json_set(object, "paired_by", paired);
    amp_json_set(
        object, "unpaired",
        amp_json_pair("reference", layers->n_unpaired[0], "converted", layers->n_unpaired[1]));
    amp_json_set(object, "first_nan", json_name(layers, layers->first_nan));
    amp_json_set(object, "first_overflow", json_name(layers, layers->first_overflow));
    amp_json_set(object, "largest_jump", json_name(layers, layers->largest_jump));
    amp_json_set(object, "values", values);
    return object;
}
