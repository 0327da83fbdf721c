/*
 * Files of ranges: takes a path, gives ranges, and back. Checks that the file makes sense by
 * itself; whether it fits a model, the caller asks (ranges.h).
 */
#include "autocast/ranges/file.h"

#include "core/arena.h"
#include "core/array.h"
#include "core/file/input.h"
#include "core/file/output.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { VERSION = 1 };

static const char version_key[] = "ampconv-ranges", values_key[] = "values";

/* ---- what an entry holds --------------------------------------------------------------------- */

/* Fields of struct amp_range: counts of elements and numbers about them. */
static const struct field {
    const char *key;
    size_t offset;
    bool is_count, is_magnitude; /* a magnitude is not below 0 */
} fields[] = {
    {"count", offsetof(struct amp_range, count), true, false},
    {"nan", offsetof(struct amp_range, nan), true, false},
    {"infinite", offsetof(struct amp_range, infinite), true, false},
    {"zeros", offsetof(struct amp_range, zeros), true, false},
    {"min", offsetof(struct amp_range, minimum), false, false},
    {"max", offsetof(struct amp_range, maximum), false, false},
    {"smallest", offsetof(struct amp_range, smallest), false, true},
    {"energy", offsetof(struct amp_range, energy), false, true},
    {"flushed", offsetof(struct amp_range, flushed), false, true},
};

static uint64_t *count_at(struct amp_range *range, const struct field *field)
{
    return (uint64_t *)(void *)((unsigned char *)range + field->offset);
}

static double *number_at(struct amp_range *range, const struct field *field)
{
    return (double *)(void *)((unsigned char *)range + field->offset);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const char *path, *name; /* of the file, and of the entry at hand */
    struct amp_ranges *ranges;
    struct amp_error *err;
};

/* Writes what VALUE is into TEXT, which it returns. */
static const char *found(const json_t *value, char *text, size_t size)
{
    static const char *const types[] = {"an object", "a list", "a text", "an integer",
                                        "a number",  "true",   "false",  "null"};
    char *dumped =
        json_is_object(value) || json_is_array(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
    if (dumped != NULL)
        snprintf(text, size, "%.60s", dumped);
    else
        snprintf(text, size, "%s", value == NULL ? "nothing" : types[json_typeof(value)]);
    free(dumped);
    return text;
}

/* "r.json: values.'x'.max: "a"; accepted: a finite number" */
static enum amp_status refuse(const struct reader *reader, const char *key, const json_t *value,
                              const char *accepted)
{
    char text[100];
    found(value, text, sizeof text);
    if (reader->name == NULL)
        return amp_fail(reader->err, AMP_RULES, "%s: %s: %s; accepted: %s", reader->path, key, text,
                        accepted);
    return amp_fail(reader->err, AMP_RULES, "%s: values.'%s'.%s: %s; accepted: %s", reader->path,
                    reader->name, key, text, accepted);
}

static enum amp_status read_field(const struct reader *reader, const json_t *entry,
                                  const struct field *field, struct amp_range *range)
{
    const json_t *value = json_object_get(entry, field->key);
    if (field->is_count) {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return refuse(reader, field->key, value, "a number of elements");
        *count_at(range, field) = (uint64_t)json_integer_value(value);
        return AMP_OK;
    }
    double number = json_number_value(value);
    if (!json_is_number(value) || (field->is_magnitude && number < 0))
        return refuse(reader, field->key, value,
                      field->is_magnitude ? "a finite number, 0 or more" : "a finite number");
    *number_at(range, field) = number;
    return AMP_OK;
}

/* Refuses numbers of which some are wrong together. */
static enum amp_status check_range(const struct reader *reader, const json_t *entry,
                                   const struct amp_range *range)
{
    if (range->minimum > range->maximum)
        return refuse(reader, "min", json_object_get(entry, "min"), "at most max");
    if (range->flushed > range->energy)
        return refuse(reader, "flushed", json_object_get(entry, "flushed"), "at most energy");
    if (range->nan > range->count || range->infinite > range->count - range->nan)
        return refuse(reader, "count", json_object_get(entry, "count"),
                      "at least nan and infinite together");
    return AMP_OK;
}

static enum amp_status read_end(const struct reader *reader, const json_t *ends, size_t i,
                                double *end)
{
    const json_t *value = json_array_get(ends, i);
    if (json_is_null(value))
        return AMP_OK;
    if (!json_is_number(value))
        return refuse(reader, "bound", value, "two numbers, null for none");
    *end = json_number_value(value);
    return AMP_OK;
}

static enum amp_status read_bound(const struct reader *reader, const json_t *entry,
                                  struct amp_value_range *range)
{
    const json_t *ends = json_object_get(entry, "bound"), *rule = json_object_get(entry, "rule");
    if (ends == NULL)
        return AMP_OK;
    if (json_array_size(ends) != 2)
        return refuse(reader, "bound", ends, "a list of two numbers, null for none");
    if (!json_is_string(rule))
        return refuse(reader, "rule", rule, "a text");
    AMP_TRY(read_end(reader, ends, 0, &range->proved.low));
    AMP_TRY(read_end(reader, ends, 1, &range->proved.high));
    if (range->proved.low > range->proved.high)
        return refuse(reader, "bound", json_array_get(ends, 0), "the lower number first");
    range->rule = amp_arena_strdup(reader->ranges->arena, json_string_value(rule));
    return AMP_OK;
}

static bool is_known(const char *key)
{
    bool found_key = strcmp(key, "bound") == 0 || strcmp(key, "rule") == 0;
    for (size_t i = 0; i < AMP_COUNT(fields); i++)
        found_key |= strcmp(key, fields[i].key) == 0;
    return found_key;
}

static enum amp_status read_entry(struct reader *reader, const char *name, json_t *entry)
{
    const char *key;
    json_t *value;
    if (!json_is_object(entry))
        return refuse(reader, name, entry, "an object");
    reader->name = name;
    json_object_foreach(entry, key, value) if (!is_known(key)) return refuse(
        reader, key, value,
        "count, nan, infinite, zeros, min, max, smallest, energy, flushed, bound and rule");
    struct amp_value_range *range = amp_ranges_entry(reader->ranges, reader->name);
    for (size_t i = 0; json_object_get(entry, "count") != NULL && i < AMP_COUNT(fields); i++)
        AMP_TRY(read_field(reader, entry, &fields[i], &range->seen));
    AMP_TRY(check_range(reader, entry, &range->seen));
    AMP_TRY(read_bound(reader, entry, range));
    reader->name = NULL;
    return AMP_OK;
}

static enum amp_status read_head(const struct reader *reader, const json_t *root)
{
    struct amp_ranges *ranges = reader->ranges;
    const json_t *version = json_object_get(root, version_key);
    const json_t *source = json_object_get(root, "source"), *key = json_object_get(root, "inputs");
    const json_t *samples = json_object_get(root, "samples");
    if (json_integer_value(version) != VERSION) /* 0 where it is no integer */
        return refuse(reader, version_key, version, "1, in a file that ampconv calibrate wrote");
    for (int i = AMP_RANGES_UNSEEN; i <= AMP_RANGES_RANDOM && json_is_string(source); i++)
        if (strcmp(json_string_value(source), amp_range_source_name((enum amp_range_source)i)) == 0)
            ranges->source = (enum amp_range_source)i;
    if (!json_is_string(source) ||
        strcmp(json_string_value(source), amp_range_source_name(ranges->source)) != 0)
        return refuse(reader, "source", source, "\"data\", \"random\" or \"none\"");
    if (!json_is_integer(samples) || json_integer_value(samples) < 0)
        return refuse(reader, "samples", samples, "a number of samples");
    if (!json_is_string(key))
        return refuse(reader, "inputs", key, "the hash of a model's inputs");
    ranges->n_samples = (size_t)json_integer_value(samples);
    ranges->inputs = amp_arena_strdup(ranges->arena, json_string_value(key));
    return AMP_OK;
}

static enum amp_status read_root(struct reader *reader, json_t *root)
{
    const char *name;
    json_t *entry, *values = json_object_get(root, values_key);
    if (!json_is_object(root))
        return refuse(reader, "the file", root, "an object");
    AMP_TRY(read_head(reader, root));
    if (!json_is_object(values))
        return refuse(reader, values_key, values, "an object, of an entry per value");
    json_object_foreach(values, name, entry) AMP_TRY(read_entry(reader, name, entry));
    return AMP_OK;
}

enum amp_status amp_ranges_read(const char *path, struct amp_arena *arena,
                                struct amp_ranges **ranges, struct amp_error *err)
{
    struct amp_bytes bytes = {.data = NULL};
    json_error_t problem;
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    *ranges = amp_ranges_create(arena);
    (*ranges)->path = path;
    struct reader reader = {.path = path, .ranges = *ranges, .err = err};
    const char *text = bytes.size > 0 ? (const char *)bytes.data : "";
    json_t *root = json_loadb(text, bytes.size, JSON_REJECT_DUPLICATES, &problem);
    enum amp_status status = root != NULL
                                 ? read_root(&reader, root)
                                 : amp_fail(err, AMP_RULES, "%s:%d:%d: %s; accepted: JSON", path,
                                            problem.line, problem.column, problem.text);
    json_decref(root);
    amp_bytes_close(&bytes);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *end_of(double end)
{
    return isfinite(end) ? json_real(end) : json_null();
}

static json_t *entry_of(const struct amp_value_range *range)
{
    json_t *entry = json_object();
    struct amp_range seen = range->seen;
    for (size_t i = 0; seen.count > 0 && i < AMP_COUNT(fields); i++)
        json_object_set_new(entry, fields[i].key,
                            fields[i].is_count
                                ? json_integer((json_int_t)*count_at(&seen, &fields[i]))
                                : json_real(*number_at(&seen, &fields[i])));
    if (range->rule != NULL) {
        json_t *bound = json_array();
        json_array_append_new(bound, end_of(range->proved.low));
        json_array_append_new(bound, end_of(range->proved.high));
        json_object_set_new(entry, "bound", bound);
        json_object_set_new(entry, "rule", json_string(range->rule));
    }
    return entry;
}

static json_t *root_of(const struct amp_ranges *ranges, const char *model_path)
{
    json_t *root = json_object(), *values = json_object();
    json_object_set_new(root, version_key, json_integer(VERSION));
    json_object_set_new(root, "ampconv", json_string(AMP_VERSION));
    json_object_set_new(root, "model", json_string(model_path));
    json_object_set_new(root, "inputs", json_string(ranges->inputs));
    json_object_set_new(root, "source", json_string(amp_range_source_name(ranges->source)));
    json_object_set_new(root, "samples", json_integer((json_int_t)ranges->n_samples));
    for (size_t i = 0; i < ranges->count; i++)
        json_object_set_new(values, ranges->items[i].name, entry_of(&ranges->items[i]));
    json_object_set_new(root, values_key, values);
    return root;
}

enum amp_status amp_ranges_write(const struct amp_ranges *ranges, const char *model_path,
                                 const char *path, struct amp_error *err)
{
    json_t *root = root_of(ranges, model_path);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (text == NULL)
        return amp_fail(err, AMP_IO, "%s: out of memory", path);
    enum amp_status status = amp_output_write_text(path, text, err);
    free(text);
    return status;
}
