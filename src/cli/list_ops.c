/*
 * `ampconv run --list-ops`: prints the operators of the schema table with their versions and types,
 * and which kernel each has in the table of operators. Reads no model.
 */
#include "cli/list_ops.h"
#include "cli/report/head.h"
#include "cli/report/json.h"
#include "core/array.h"
#include "core/print.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <stdarg.h>
#include <string.h>

/* One operator: its definitions lie at FIRST and after it in the schema table. */
struct entry {
    const struct amp_schema *first;
    const struct amp_schema *newest; /* that there is a kernel for, else of all */
    const struct amp_op *op;         /* NULL: it can only be converted */
};

/* Gives the operator whose definitions begin at *INDEX and moves *INDEX behind them; false at the
   end of the table. */
static bool next_entry(size_t *index, struct entry *entry)
{
    const struct amp_schema *schema = amp_schema_at(*index);
    if (schema == NULL)
        return false;
    const struct amp_op *op = amp_op_find(schema->domain, schema->name);
    *entry = (struct entry){schema, schema, op != NULL && op->run != NULL ? op : NULL};
    for (; schema != NULL; schema = amp_schema_next(schema), ++*index)
        if (entry->op == NULL || schema->since_version <= entry->op->newest)
            entry->newest = schema;
    return true;
}

/* ---- what there is to say -------------------------------------------------------------------- */

static const char *kernel_of(const struct entry *entry)
{
    return entry->op == NULL ? NULL : entry->op->native & AMP_BY_DNNL ? "oneDNN" : "C";
}

/* Whether type number TYPE is a type variable of an input or output, not a type that the schema
   writes out. */
static bool is_variable(const struct amp_schema *schema, int type)
{
    bool is_used = false;
    for (int i = 0; i < schema->n_inputs; i++)
        is_used |= schema->inputs[i].type == type;
    for (int i = 0; i < schema->n_outputs; i++)
        is_used |= schema->outputs[i].type == type;
    return is_used && schema->types[type].name != NULL;
}

/* How the operator computes in float16 and bfloat16, "native" or "rounded"; NULL where it takes
   neither. */
static const char *lower_form(const struct entry *entry)
{
    uint32_t lower = 0;
    for (int i = 0; entry->op != NULL && i < entry->newest->n_types; i++)
        if (is_variable(entry->newest, i))
            lower |= entry->newest->types[i].tensors & AMP_NATIVE_LOWER & ~entry->op->lacks;
    if (lower == 0)
        return NULL;
    bool is_native = entry->op->effect == AMP_PRESERVES_VALUES || !(lower & ~entry->op->native);
    return is_native ? "native" : "rounded";
}

static bool is_derived(const struct entry *entry)
{
    return entry->op != NULL && (entry->op->gradient != NULL || entry->op->recurrence != NULL);
}

/* The forms that a type variable may have. */
enum form { TENSOR, SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE, N_FORMS };
static const char *const form_names[N_FORMS] = {"tensor", "sequence", "optional",
                                                "optional sequence"};

static uint32_t dtypes_of(const struct entry *entry, int type, enum form form)
{
    const struct amp_schema_type *t = &entry->newest->types[type];
    const uint32_t masks[N_FORMS] = {t->tensors, t->sequences, t->optionals, t->optional_sequences};
    return masks[form] & ~(entry->op != NULL ? entry->op->lacks : 0);
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static json_t *json_versions(const struct entry *entry)
{
    json_t *versions = json_array();
    const struct amp_schema *schema = entry->first;
    for (; schema != NULL && schema <= entry->newest; schema = amp_schema_next(schema))
        json_array_append_new(versions, json_integer(schema->since_version));
    return versions;
}

static json_t *json_dtypes(uint32_t dtypes)
{
    json_t *names = json_array();
    for (int dtype = 1; dtype < AMP_DTYPE_COUNT; dtype++)
        if (dtypes & AMP_DTYPE_BIT(dtype))
            json_array_append_new(names, json_string(amp_dtype_name((enum amp_dtype)dtype)));
    return names;
}

static json_t *json_types(const struct entry *entry)
{
    json_t *types = json_object();
    for (int i = 0; i < entry->newest->n_types; i++) {
        json_t *forms = json_object();
        for (int form = 0; form < N_FORMS; form++)
            if (dtypes_of(entry, i, (enum form)form) != 0)
                amp_json_set(forms, form_names[form],
                             json_dtypes(dtypes_of(entry, i, (enum form)form)));
        if (is_variable(entry->newest, i))
            json_object_set(types, entry->newest->types[i].name, forms);
        json_decref(forms);
    }
    return types;
}

static json_t *json_entry(const struct entry *entry)
{
    json_t *object = json_object();
    const char *domain = entry->first->domain;
    amp_json_set(object, "domain", json_string(domain[0] != '\0' ? domain : "ai.onnx"));
    amp_json_set(object, "name", json_string(entry->first->name));
    amp_json_set(object, "versions", json_versions(entry));
    amp_json_set(object, "kernel", amp_json_text_or_null(kernel_of(entry)));
    amp_json_set(object, "lower", amp_json_text_or_null(lower_form(entry)));
    amp_json_set(object, "gradient", json_boolean(is_derived(entry)));
    amp_json_set(object, "types", json_types(entry));
    return object;
}

/* {"operators": [{"domain", "name", "versions": [6, 13], "kernel": "oneDNN", "C" or null, "lower":
   "native", "rounded" or null, "gradient": true, "types": {"T": {"tensor": ["float32", ...], ...},
   ...}}, ...]} */
static enum amp_status write_json(const struct amp_options *options, struct amp_error *err)
{
    json_t *root = amp_report_begin("operators"), *operators = json_array();
    struct entry entry;
    for (size_t i = 0; next_entry(&i, &entry);)
        json_array_append_new(operators, json_entry(&entry));
    amp_json_set(root, "operators", operators);
    return amp_report_write(root, options, AMP_OK, err);
}

/* ---- as text --------------------------------------------------------------------------------- */

/* Families of dtypes in the order in which they are printed; members that follow each other are
   printed as a range. */
static const struct family {
    const char *name;
    enum amp_dtype members[4]; /* from narrow to wide; AMP_UNDEFINED ends them */
    bool has_widths;           /* "int8-64", else the name is that of all */
} families[] = {
    {"float", {AMP_FLOAT16, AMP_FLOAT, AMP_DOUBLE}, true},
    {"bfloat16", {AMP_BFLOAT16}, false},
    {"int", {AMP_INT8, AMP_INT16, AMP_INT32, AMP_INT64}, true},
    {"uint", {AMP_UINT8, AMP_UINT16, AMP_UINT32, AMP_UINT64}, true},
    {"bool", {AMP_BOOL}, false},
    {"string", {AMP_STRING}, false},
    {"complex", {AMP_COMPLEX64, AMP_COMPLEX128}, true},
    {"float8", {AMP_FLOAT8E4M3FN, AMP_FLOAT8E4M3FNUZ, AMP_FLOAT8E5M2, AMP_FLOAT8E5M2FNUZ}, false},
    {"float8e8m0", {AMP_FLOAT8E8M0}, false},
    {"float4e2m1", {AMP_FLOAT4E2M1}, false},
    {"int4", {AMP_INT4}, false},
    {"uint4", {AMP_UINT4}, false},
    {"int2", {AMP_INT2}, false},
    {"uint2", {AMP_UINT2}, false},
};

struct text {
    char chars[1024];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (text->length < sizeof text->chars)
        text->length += (size_t)vsnprintf(text->chars + text->length,
                                          sizeof text->chars - text->length, format, args);
    va_end(args);
}

/* Adds the run of FAMILY's members from FROM on that are in DTYPES; returns the place after it. */
static int add_range(struct text *text, const struct family *family, uint32_t dtypes, int from)
{
    int to = from;
    while (to < 4 && dtypes & AMP_DTYPE_BIT(family->members[to]))
        to++;
    if (to == from)
        return to + 1;
    bool is_whole = from == 0 && (to == 4 || family->members[to] == AMP_UNDEFINED);
    if (!family->has_widths && is_whole)
        add(text, " %s", family->name);
    else
        add(text, " %s", amp_dtype_name(family->members[from]));
    if (family->has_widths && to - from > 1)
        add(text, "-%u", amp_dtype_bits(family->members[to - 1]));
    for (int i = from + 1; i < to && !family->has_widths && !is_whole; i++)
        add(text, " %s", amp_dtype_name(family->members[i]));
    return to;
}

static void add_types(struct text *text, const struct entry *entry)
{
    const struct amp_schema *schema = entry->newest;
    for (int type = 0; type < schema->n_types; type++) {
        if (!is_variable(schema, type))
            continue;
        add(text, "%s%s", text->length > 0 ? "; " : "", schema->types[type].name);
        for (int form = 0; form < N_FORMS; form++) {
            uint32_t dtypes = dtypes_of(entry, type, (enum form)form);
            if (dtypes != 0 && form != TENSOR)
                add(text, " %s of", form_names[form]);
            for (size_t f = 0; f < AMP_COUNT(families); f++)
                for (int i = 0; i < 4;)
                    i = add_range(text, &families[f], dtypes, i);
        }
        if (schema->types[type].has_maps)
            add(text, " map");
    }
}

enum column { NAME, KERNEL, LOWER, GRADIENT, VERSIONS, TYPES, N_COLUMNS };

struct row {
    struct text cells[N_COLUMNS];
};

static void fill_row(const struct entry *entry, struct row *row)
{
    const char *domain = entry->first->domain, *lower = lower_form(entry);
    memset(row, 0, sizeof *row);
    add(&row->cells[NAME], "%s%s%s", domain, domain[0] != '\0' ? "." : "", entry->first->name);
    add(&row->cells[KERNEL], "%s", entry->op != NULL ? kernel_of(entry) : "-");
    add(&row->cells[LOWER], "%s", lower != NULL ? lower : "-");
    add(&row->cells[GRADIENT], "%s", is_derived(entry) ? "yes" : "-");
    const struct amp_schema *schema = entry->first;
    for (; schema != NULL && schema <= entry->newest; schema = amp_schema_next(schema))
        add(&row->cells[VERSIONS], "%s%d", schema == entry->first ? "" : " ",
            schema->since_version);
    add_types(&row->cells[TYPES], entry);
}

static void print_row(const struct row *row, const size_t *widths)
{
    for (int i = 0; i < TYPES; i++)
        amp_print(stdout, "%-*s  ", (int)widths[i], row->cells[i].chars);
    amp_print(stdout, "%s\n", row->cells[TYPES].chars);
}

static void print_table(void)
{
    static const struct row head = {.cells = {{"OPERATOR", 8},
                                              {"KERNEL", 6},
                                              {"LOWER", 5},
                                              {"GRADIENT", 8},
                                              {"VERSIONS", 8},
                                              {"TYPES", 5}}};
    size_t widths[TYPES];
    struct entry entry;
    struct row row;
    for (int c = 0; c < TYPES; c++)
        widths[c] = head.cells[c].length;
    for (size_t i = 0; next_entry(&i, &entry);) {
        fill_row(&entry, &row);
        for (int c = 0; c < TYPES; c++)
            widths[c] = row.cells[c].length > widths[c] ? row.cells[c].length : widths[c];
    }
    print_row(&head, widths);
    for (size_t i = 0; next_entry(&i, &entry);) {
        fill_row(&entry, &row);
        print_row(&row, widths);
    }
}

enum amp_status amp_command_list_ops(const struct amp_options *options, struct amp_error *err)
{
    if (options->json == NULL || strcmp(options->json, "-") != 0)
        print_table();
    return options->json != NULL ? write_json(options, err) : AMP_OK;
}
