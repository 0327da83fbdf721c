/*
 * Tables of what computing takes on some machine, and their files: takes a path, gives a table, and
 * back. Checks that a file makes sense by itself; whether it fits a model, the caller asks.
 */
#include "tune/cost_table.h"

#include "core/array.h"
#include "core/file/input.h"
#include "core/file/output.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum { VERSION = 1 };

static const char version_key[] = "ampconv-costs";

static const enum amp_dtype dtypes[AMP_COST_DTYPES] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};

/* ---- rates ----------------------------------------------------------------------------------- */

/* As seen on two cores of such a processor by itself, in 2 threads: products are the convolutions
   of Inception, ResNet-50 and VGG-19; float16 was between two thirds of float32 and as fast. Bytes
   are those of batch normalizations, in float32 and bfloat16 alike; casts are taken to be like
   them. */
struct amp_cost_table amp_cost_table_shipped(void)
{
    return (struct amp_cost_table){
        .machine = "two cores with AMX for bfloat16 and AVX512-FP16",
        .rates = {{.flops = 310e9, .bytes = 20e9, .node = 1e-6},
                  {.flops = 1200e9, .bytes = 20e9, .node = 1e-6},
                  {.flops = 310e9, .bytes = 20e9, .node = 1e-6}},
        .casts = 20e9,
    };
}

/* The rates in RATES, an entry per dtype that has any, of DTYPE. */
static const struct amp_cost_rates *rates_of(const struct amp_cost_rates *rates,
                                             enum amp_dtype dtype)
{
    for (size_t i = 1; i < AMP_COUNT(dtypes); i++)
        if (dtypes[i] == dtype)
            return &rates[i];
    return &rates[0];
}

double amp_cost_table_seconds(const struct amp_cost_table *table,
                              const struct amp_cost_query *query)
{
    char name[256];
    uint32_t own;
    const struct amp_cost_rates *rates = table->rates;
    snprintf(name, sizeof name, "%s%s%s", query->domain, *query->domain != '\0' ? "::" : "",
             query->op);
    if (amp_strmap_get(&table->operator_ids, name, &own))
        rates = table->operators[own].rates;
    rates = rates_of(rates, query->dtype);
    return rates->node + fmax(query->flops / rates->flops, query->bytes / rates->bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const char *path;
    struct amp_arena *arena;
    struct amp_cost_table *table;
    struct amp_error *err;
};

/* Of what kind a number is, and so what is accepted as it. */
static const struct range {
    double least, most;
    const char *accepted;
} per_second = {1, 1e21, "a number per second, from 1 to 1e21"},
  in_seconds = {0, 1e9, "a number of seconds, from 0 to 1e9"};

static const struct field {
    const char *key;
    size_t offset; /* in struct amp_cost_rates */
    const struct range *range;
} fields[] = {
    {"flops", offsetof(struct amp_cost_rates, flops), &per_second},
    {"bytes", offsetof(struct amp_cost_rates, bytes), &per_second},
    {"node", offsetof(struct amp_cost_rates, node), &in_seconds},
};

/* Writes what VALUE is into TEXT, which it returns. */
static const char *found(const json_t *value, char *text, size_t size)
{
    if (json_is_object(value) || json_is_array(value) || value == NULL) {
        const char *kind = json_is_object(value) ? "an object" : "a list";
        snprintf(text, size, "%s", value == NULL ? "nothing" : kind);
        return text;
    }
    char *dumped = json_dumps(value, JSON_ENCODE_ANY);
    snprintf(text, size, "%.60s", dumped != NULL ? dumped : "a value");
    free(dumped);
    return text;
}

/* "costs.json: float32.flops: "a"; accepted: a number per second, from 1 to 1e21" */
static enum amp_status refuse(const struct reader *reader, const char *place, const json_t *value,
                              const char *accepted)
{
    char text[100];
    return amp_fail(reader->err, AMP_MODEL, "%s: %s: %s; accepted: %s", reader->path, place,
                    found(value, text, sizeof text), accepted);
}

/* "nodes.'x'" */
static const char *place_of(const struct reader *reader, const char *outer, const char *key)
{
    return amp_arena_printf(reader->arena, "%s.'%.200s'", outer, key);
}

static enum amp_status read_number(const struct reader *reader, const char *place,
                                   const json_t *value, const struct range *range, double *number)
{
    double read = json_number_value(value);
    if (!json_is_number(value) || !(read >= range->least && read <= range->most))
        return refuse(reader, place, value, range->accepted);
    *number = read;
    return AMP_OK;
}

static enum amp_status read_text(const struct reader *reader, const char *place,
                                 const json_t *value, const char **text)
{
    if (json_string_length(value) == 0) /* as that of what is no text is */
        return refuse(reader, place, value, "a text");
    *text = amp_arena_strdup(reader->arena, json_string_value(value));
    return AMP_OK;
}

/* Sets of RATES what VALUE says. */
static enum amp_status read_rates(const struct reader *reader, const char *place, json_t *value,
                                  struct amp_cost_rates *rates)
{
    const char *key;
    json_t *number;
    if (!json_is_object(value))
        return refuse(reader, place, value, "an object of flops, bytes and node");
    json_object_foreach(value, key, number)
    {
        const char *inner = place_of(reader, place, key);
        size_t i = 0;
        while (i < AMP_COUNT(fields) && strcmp(fields[i].key, key) != 0)
            i++;
        if (i == AMP_COUNT(fields))
            return refuse(reader, inner, number, "flops, bytes and node");
        double *field = (double *)(void *)((unsigned char *)rates + fields[i].offset);
        AMP_TRY(read_number(reader, inner, number, fields[i].range, field));
    }
    return AMP_OK;
}

/* The index of the dtype called KEY; AMP_COST_DTYPES: none is. */
static size_t find_dtype(const char *key)
{
    size_t i = 0;
    while (i < AMP_COUNT(dtypes) && strcmp(amp_dtype_name(dtypes[i]), key) != 0)
        i++;
    return i;
}

/* ---- entries by name ------------------------------------------------------------------------- */

/* Appends the entry NAME, whose value is VALUE, to those of its kind in the table. */
typedef enum amp_status read_entry(const struct reader *reader, const char *place, const char *name,
                                   json_t *value);

static enum amp_status read_operator(const struct reader *reader, const char *place,
                                     const char *name, json_t *value)
{
    struct amp_cost_table *table = reader->table;
    struct amp_cost_operator *entry = &table->operators[table->n_operators];
    const char *key;
    json_t *rates;
    if (!json_is_object(value))
        return refuse(reader, place, value, "an object of float32, bfloat16 and float16");
    entry->name = name;
    memcpy(entry->rates, table->rates, sizeof entry->rates);
    json_object_foreach(value, key, rates)
    {
        size_t i = find_dtype(key);
        const char *inner = place_of(reader, place, key);
        if (i == AMP_COST_DTYPES)
            return refuse(reader, inner, rates, "float32, bfloat16 and float16");
        AMP_TRY(read_rates(reader, inner, rates, &entry->rates[i]));
    }
    amp_strmap_put(&table->operator_ids, reader->arena, name, (uint32_t)table->n_operators++);
    return AMP_OK;
}

static enum amp_status read_node(const struct reader *reader, const char *place, const char *name,
                                 json_t *value)
{
    struct amp_cost_entry *entry = &reader->table->nodes[reader->table->n_nodes++];
    const char *key;
    json_t *number;
    if (!json_is_object(value))
        return refuse(reader, place, value, "an object of low and wide");
    json_object_foreach(value, key, number)
    {
        if (strcmp(key, "low") != 0 && strcmp(key, "wide") != 0)
            return refuse(reader, place_of(reader, place, key), number, "low and wide");
    }
    entry->name = name;
    AMP_TRY(read_number(reader, place_of(reader, place, "low"), json_object_get(value, "low"),
                        &in_seconds, &entry->low));
    return read_number(reader, place_of(reader, place, "wide"), json_object_get(value, "wide"),
                       &in_seconds, &entry->wide);
}

static enum amp_status read_value(const struct reader *reader, const char *place, const char *name,
                                  json_t *value)
{
    struct amp_cost_cast *entry = &reader->table->values[reader->table->n_values++];
    entry->name = name;
    return read_number(reader, place, value, &in_seconds, &entry->seconds);
}

/* Reads the entries of the object at KEY of ROOT, if there is one, with READ. */
static enum amp_status read_entries(const struct reader *reader, const json_t *root,
                                    const char *key, read_entry *read)
{
    json_t *entries = json_object_get(root, key), *value;
    const char *name;
    if (entries != NULL && !json_is_object(entries))
        return refuse(reader, key, entries, "an object, of an entry per name");
    json_object_foreach(entries, name, value) AMP_TRY(
        read(reader, place_of(reader, key, name), amp_arena_strdup(reader->arena, name), value));
    return AMP_OK;
}

static enum amp_status read_all_entries(const struct reader *reader, const json_t *root)
{
    struct amp_cost_table *table = reader->table;
    size_t n_operators = json_object_size(json_object_get(root, "operators"));
    size_t n_nodes = json_object_size(json_object_get(root, "nodes"));
    size_t n_values = json_object_size(json_object_get(root, "values"));
    table->operators = amp_arena_array(reader->arena, n_operators, sizeof *table->operators);
    table->nodes = amp_arena_array(reader->arena, n_nodes, sizeof *table->nodes);
    table->values = amp_arena_array(reader->arena, n_values, sizeof *table->values);
    AMP_TRY(read_entries(reader, root, "operators", read_operator));
    AMP_TRY(read_entries(reader, root, "nodes", read_node));
    return read_entries(reader, root, "values", read_value);
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum amp_status check_keys(const struct reader *reader, json_t *root)
{
    static const char *const known[] = {version_key, "machine", "dtype", "casts",
                                        "operators", "nodes",   "values"};
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        bool is_known = find_dtype(key) < AMP_COST_DTYPES;
        for (size_t i = 0; i < AMP_COUNT(known); i++)
            is_known |= strcmp(known[i], key) == 0;
        if (!is_known)
            return refuse(reader, key, value,
                          "ampconv-costs, machine, dtype, float32, bfloat16, float16, casts, "
                          "operators, nodes and values");
    }
    return AMP_OK;
}

static enum amp_status read_head(const struct reader *reader, const json_t *root)
{
    struct amp_cost_table *table = reader->table;
    const json_t *version = json_object_get(root, version_key);
    const json_t *dtype = json_object_get(root, "dtype"), *casts = json_object_get(root, "casts");
    if (json_integer_value(version) != VERSION)
        return refuse(reader, version_key, version, "1");
    AMP_TRY(read_text(reader, "machine", json_object_get(root, "machine"), &table->machine));
    if (json_is_string(dtype))
        table->dtype = amp_dtype_parse(json_string_value(dtype));
    if (dtype != NULL && !amp_dtype_is_lower(table->dtype))
        return refuse(reader, "dtype", dtype, "\"bfloat16\" or \"float16\"");
    return casts == NULL ? AMP_OK : read_number(reader, "casts", casts, &per_second, &table->casts);
}

static enum amp_status read_root(const struct reader *reader, json_t *root)
{
    if (!json_is_object(root))
        return refuse(reader, "the file", root, "an object");
    AMP_TRY(check_keys(reader, root));
    AMP_TRY(read_head(reader, root));
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++) {
        const char *key = amp_dtype_name(dtypes[i]);
        json_t *rates = json_object_get(root, key);
        if (rates != NULL)
            AMP_TRY(read_rates(reader, key, rates, &reader->table->rates[i]));
    }
    return read_all_entries(reader, root);
}

enum amp_status amp_cost_table_read(const char *path, struct amp_arena *arena,
                                    struct amp_cost_table *table, struct amp_error *err)
{
    struct amp_bytes bytes = {.data = NULL};
    json_error_t problem;
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    *table = amp_cost_table_shipped();
    const struct reader reader = {path, arena, table, err};
    const char *text = bytes.size > 0 ? (const char *)bytes.data : "";
    json_t *root = json_loadb(text, bytes.size, JSON_REJECT_DUPLICATES, &problem);
    enum amp_status status = root != NULL
                                 ? read_root(&reader, root)
                                 : amp_fail(err, AMP_MODEL, "%s:%d:%d: %s; accepted: JSON", path,
                                            problem.line, problem.column, problem.text);
    json_decref(root);
    amp_bytes_close(&bytes);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *json_of_rates(const struct amp_cost_rates *rates)
{
    json_t *object = json_object();
    for (size_t i = 0; i < AMP_COUNT(fields); i++) {
        const void *field = (const unsigned char *)rates + fields[i].offset;
        json_object_set_new(object, fields[i].key, json_real(*(const double *)field));
    }
    return object;
}

static void set_all_rates(json_t *object, const struct amp_cost_rates *rates)
{
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++)
        json_object_set_new(object, amp_dtype_name(dtypes[i]), json_of_rates(&rates[i]));
}

static json_t *json_of_entries(const struct amp_cost_table *table)
{
    json_t *nodes = json_object();
    for (size_t i = 0; i < table->n_nodes; i++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "low", json_real(table->nodes[i].low));
        json_object_set_new(entry, "wide", json_real(table->nodes[i].wide));
        json_object_set_new(nodes, table->nodes[i].name, entry);
    }
    return nodes;
}

static json_t *json_of_table(const struct amp_cost_table *table)
{
    json_t *root = json_object(), *operators = json_object(), *values = json_object();
    json_object_set_new(root, version_key, json_integer(VERSION));
    json_object_set_new(root, "machine", json_string(table->machine));
    if (table->dtype != AMP_UNDEFINED)
        json_object_set_new(root, "dtype", json_string(amp_dtype_name(table->dtype)));
    set_all_rates(root, table->rates);
    json_object_set_new(root, "casts", json_real(table->casts));
    for (size_t i = 0; i < table->n_operators; i++) {
        json_t *rates = json_object();
        set_all_rates(rates, table->operators[i].rates);
        json_object_set_new(operators, table->operators[i].name, rates);
    }
    for (size_t i = 0; i < table->n_values; i++)
        json_object_set_new(values, table->values[i].name, json_real(table->values[i].seconds));
    json_object_set_new(root, "operators", operators);
    json_object_set_new(root, "nodes", json_of_entries(table));
    json_object_set_new(root, "values", values);
    return root;
}

enum amp_status amp_cost_table_write(const struct amp_cost_table *table, const char *path,
                                     struct amp_error *err)
{
    json_t *root = json_of_table(table);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (text == NULL)
        return amp_fail(err, AMP_IO, "%s: out of memory", path);
    enum amp_status status = amp_output_write_text(path, text, err);
    free(text);
    return status;
}
