/*
 * What models are made of: a table with a column per model, and one of a model's operators. Takes
 * models with their types inferred, bodies included.
 */
#include "cli/report/html/models.h"

#include "cli/report/html/node_precision.h"
#include "core/array.h"
#include "core/memory.h"
#include "core/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATORS_MAX = 200 };

/* Classes of dtypes in the order of the columns. */
enum precision { LOWER, FULL, OTHER, N_PRECISIONS };

static enum precision precision_of(const struct amp_model *model, uint32_t node)
{
    enum amp_dtype dtype = amp_html_precision(model, node);
    return amp_dtype_is_lower(dtype)                   ? LOWER
           : dtype == AMP_FLOAT || dtype == AMP_DOUBLE ? FULL
                                                       : OTHER;
}

/* ---- models side by side --------------------------------------------------------------------- */

struct facts {
    size_t nodes, of[AMP_DTYPE_COUNT], casts, parameters, parameter_bytes;
};

static struct facts facts_of(const struct amp_model *model)
{
    struct facts facts = {.nodes = 0};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (amp_node_at(model, id)->is_removed)
            continue;
        facts.nodes++;
        if (amp_html_is_cast(model, id))
            facts.casts++;
        else
            facts.of[amp_html_precision(model, id)]++;
    }
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        if (!value->is_initializer || value->is_removed)
            continue;
        facts.parameters += amp_tensor_count(value->initial);
        facts.parameter_bytes += amp_tensor_size(value->initial);
    }
    return facts;
}

/* A column of the table. */
struct column {
    const struct amp_html_model *model;
    struct facts facts;
};

/* Writes a cell of a row into TEXT. DTYPE: of rows that count nodes of one. */
typedef void cell_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size);

struct row {
    const char *title;
    cell_text *text;
    enum amp_dtype dtype;
};

static void file_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size)
{
    char bytes[32];
    (void)dtype;
    snprintf(text, size, "%s",
             column->model->bytes > 0 ? amp_memory_text(column->model->bytes, bytes) : "");
}

static void nodes_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size)
{
    (void)dtype;
    snprintf(text, size, "%zu", column->facts.nodes);
}

static void dtype_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size)
{
    snprintf(text, size, "%zu", column->facts.of[dtype]);
}

static void casts_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size)
{
    (void)dtype;
    snprintf(text, size, "%zu", column->facts.casts);
}

static void parameters_text(const struct column *column, enum amp_dtype dtype, char *text,
                            size_t size)
{
    char bytes[32];
    (void)dtype;
    snprintf(text, size, "%zu (%s)", column->facts.parameters,
             amp_memory_text(column->facts.parameter_bytes, bytes));
}

static void opset_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size)
{
    (void)dtype;
    snprintf(text, size, "%lld", (long long)amp_model_opset(column->model->model, ""));
}

static void version_text(const struct column *column, enum amp_dtype dtype, char *text, size_t size)
{
    (void)dtype;
    snprintf(text, size, "%lld", (long long)column->model->model->ir_version);
}

static void producer_text(const struct column *column, enum amp_dtype dtype, char *text,
                          size_t size)
{
    char short_text[AMP_HTML_SHORT];
    const char *producer = column->model->model->producer;
    (void)dtype;
    snprintf(text, size, "%s", producer != NULL ? amp_html_short(producer, 40, short_text) : "");
}

static void put_row(struct amp_html *html, const struct row *row, const struct column *columns,
                    size_t count)
{
    char text[AMP_HTML_SHORT];
    amp_html_put(html, "<tr><th scope=\"row\">%s</th>", row->title);
    for (size_t i = 0; i < count; i++) {
        row->text(&columns[i], row->dtype, text, sizeof text);
        amp_html_put(html, "<td class=\"n\">%s</td>", text);
    }
    amp_html_put(html, "</tr>\n");
}

/* A row for each dtype that nodes of any model compute in. */
static void put_dtypes(struct amp_html *html, const struct column *columns, size_t count)
{
    for (int dtype = 0; dtype < AMP_DTYPE_COUNT; dtype++) {
        char title[64];
        struct row row = {title, dtype_text, (enum amp_dtype)dtype};
        size_t nodes = 0;
        for (size_t i = 0; i < count; i++)
            nodes += columns[i].facts.of[dtype];
        if (nodes == 0)
            continue;
        if (dtype == AMP_UNDEFINED)
            snprintf(title, sizeof title, "of those, without floats");
        else
            snprintf(title, sizeof title, "of those, in %s", amp_dtype_name(row.dtype));
        put_row(html, &row, columns, count);
    }
}

void amp_html_models(struct amp_html *html, const struct amp_html_model *models, size_t count)
{
    static const struct row first[] = {{"size of the file", file_text, AMP_UNDEFINED},
                                       {"nodes", nodes_text, AMP_UNDEFINED}};
    static const struct row last[] = {
        {"casts between float types", casts_text, AMP_UNDEFINED},
        {"parameters", parameters_text, AMP_UNDEFINED},
        {"opset", opset_text, AMP_UNDEFINED},
        {"IR version", version_text, AMP_UNDEFINED},
        {"written by", producer_text, AMP_UNDEFINED},
    };
    struct column *columns = amp_xcalloc(count, sizeof *columns);
    char short_text[AMP_HTML_SHORT];
    amp_html_put(html, "<div class=\"wide\"><table>\n<caption>The models. Nodes in bodies of "
                       "control flow count; casts count on their own.</caption>\n<thead><tr><td>"
                       "</td>");
    for (size_t i = 0; i < count; i++) {
        columns[i] = (struct column){&models[i], facts_of(models[i].model)};
        amp_html_put(html, "<th scope=\"col\" class=\"n\">%s<br/><code>%s</code></th>",
                     models[i].role, amp_html_short(models[i].path, 60, short_text));
    }
    amp_html_put(html, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < AMP_COUNT(first); i++)
        put_row(html, &first[i], columns, count);
    put_dtypes(html, columns, count);
    for (size_t i = 0; i < AMP_COUNT(last); i++)
        put_row(html, &last[i], columns, count);
    amp_html_table_end(html);
    free(columns);
}

/* ---- operators ------------------------------------------------------------------------------- */

struct op_count {
    const char *op_type, *domain;
    size_t first, all, of[N_PRECISIONS];
};

struct op_counts {
    struct op_count *items;
    size_t count;
    struct amp_strmap ids; /* of domain and operator */
};

static struct op_count *count_of(struct op_counts *counts, struct amp_arena *arena,
                                 const struct amp_node *node)
{
    uint32_t at;
    const char *key = amp_arena_printf(arena, "%s::%s", node->domain, node->op_type);
    if (amp_strmap_get(&counts->ids, key, &at))
        return &counts->items[at];
    amp_strmap_put(&counts->ids, arena, key, (uint32_t)counts->count);
    counts->items = amp_xrealloc(counts->items, counts->count + 1, sizeof *counts->items);
    struct op_count *added = &counts->items[counts->count];
    *added = (struct op_count){
        .op_type = node->op_type, .domain = node->domain, .first = counts->count++};
    return added;
}

static int compare_counts(const void *a, const void *b)
{
    const struct op_count *x = a, *y = b;
    int by_count = (x->all < y->all) - (x->all > y->all);
    return by_count != 0 ? by_count : (x->first > y->first) - (x->first < y->first);
}

static void put_operators(struct amp_html *html, const struct op_counts *counts)
{
    static const struct amp_html_column columns[] = {{"operator", false},
                                                     {"nodes", true},
                                                     {"bf16 or fp16", true},
                                                     {"fp32", true},
                                                     {"other", true}};
    char short_text[AMP_HTML_SHORT];
    amp_html_table_begin(html, "Nodes by operator and by the dtype that they compute in.", columns,
                         AMP_COUNT(columns));
    for (size_t i = 0; i < counts->count && i < OPERATORS_MAX; i++) {
        const struct op_count *op = &counts->items[i];
        amp_html_put(html, "<tr><td>%s%s%s</td><td class=\"n\">%zu</td>", op->domain,
                     op->domain[0] != '\0' ? "::" : "", amp_html_short(op->op_type, 60, short_text),
                     op->all);
        for (int p = 0; p < N_PRECISIONS; p++)
            amp_html_put(html, "<td class=\"n\">%.0zu</td>", op->of[p]);
        amp_html_put(html, "</tr>\n");
    }
    amp_html_table_end(html);
    if (counts->count > OPERATORS_MAX)
        amp_html_put(html, "<p>%zu more operators are left out.</p>\n",
                     counts->count - OPERATORS_MAX);
}

void amp_html_operators(struct amp_html *html, const struct amp_model *model)
{
    struct op_counts counts = {.count = 0};
    struct amp_arena *arena = amp_arena_create();
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (node->is_removed)
            continue;
        struct op_count *op = count_of(&counts, arena, node);
        op->all++;
        op->of[precision_of(model, id)]++;
    }
    if (counts.count > 0)
        qsort(counts.items, counts.count, sizeof *counts.items, compare_counts);
    put_operators(html, &counts);
    free(counts.items);
    amp_arena_destroy(arena);
}
