/*
 * The report of `ampconv bench --profile`, as text and as JSON: takes the profile of a side, sums
 * its entries by operator, node and primitive, and gives them by the time they took, longest first.
 */
#include "cli/report/profile.h"

#include "cli/report/json.h"
#include "core/array.h"
#include "core/print.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 15 };

static struct amp_profile_line *line_of(struct amp_profile_lines *lines, const char *group,
                                        const char *detail, const char *extra)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct amp_profile_line *line = &lines->items[i];
        if (strcmp(line->group, group) == 0 && strcmp(line->detail, detail) == 0 &&
            strcmp(line->extra, extra) == 0)
            return &lines->items[i];
    }
    lines->items = amp_xrealloc(lines->items, lines->count + 1, sizeof *lines->items);
    lines->items[lines->count] =
        (struct amp_profile_line){.group = group, .detail = detail, .extra = extra};
    return &lines->items[lines->count++];
}

static int compare_lines(const void *a, const void *b)
{
    const struct amp_profile_line *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void sort_lines(struct amp_profile_lines *lines)
{
    if (lines->count > 0)
        qsort(lines->items, lines->count, sizeof *lines->items, compare_lines);
}

/* ---- collecting ------------------------------------------------------------------------------ */

static bool is_cast(const struct amp_node *node)
{
    return amp_node_has_role(node, AMP_ROLE_CAST);
}

struct amp_profile_lines amp_profile_collect(const struct amp_bench_side *side, size_t n_runs,
                                             bool by_node)
{
    struct amp_profile_lines lines = {.count = 0};
    size_t count;
    const struct amp_profile_node *nodes = amp_profile_nodes(side->profile, &count);
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].node == NULL)
            continue;
        struct amp_profile_line *line;
        if (by_node) {
            lines.items = amp_xrealloc(lines.items, lines.count + 1, sizeof *lines.items);
            line = &lines.items[lines.count++];
            *line = (struct amp_profile_line){
                .group = nodes[i].node->op_type, .detail = "", .extra = ""};
        } else {
            line = line_of(&lines, nodes[i].node->op_type, "", "");
        }
        line->node = nodes[i].node;
        line->way = nodes[i].way;
        line->calls += (double)nodes[i].calls / (double)n_runs;
        line->seconds += nodes[i].seconds / (double)n_runs;
        line->flops += nodes[i].flops / (double)n_runs;
        line->bytes += nodes[i].bytes / (double)n_runs;
    }
    sort_lines(&lines);
    return lines;
}

static struct amp_profile_lines collect_primitives(const struct amp_bench_side *side, size_t n_runs)
{
    struct amp_profile_lines lines = {.count = 0};
    size_t count;
    const struct amp_profile_primitive *items = amp_profile_primitives(side->profile, &count);
    for (size_t i = 0; i < count; i++) {
        struct amp_profile_line *line =
            line_of(&lines, items[i].kind, items[i].implementation, items[i].layouts);
        line->calls += (double)items[i].calls / (double)n_runs;
        line->seconds += items[i].seconds / (double)n_runs;
    }
    sort_lines(&lines);
    return lines;
}

/* Seconds of a run: of all nodes, of Cast nodes, of reorders elsewhere. */
struct shares {
    double all, casts, reorders;
};

static struct shares measure(const struct amp_bench_side *side, size_t n_runs)
{
    struct shares shares = {.all = 0};
    size_t n_nodes, n_primitives;
    const struct amp_profile_node *nodes = amp_profile_nodes(side->profile, &n_nodes);
    const struct amp_profile_primitive *primitives =
        amp_profile_primitives(side->profile, &n_primitives);
    for (size_t i = 0; i < n_nodes; i++) {
        shares.all += nodes[i].seconds / (double)n_runs;
        if (nodes[i].node != NULL && is_cast(nodes[i].node))
            shares.casts += nodes[i].seconds / (double)n_runs;
    }
    for (size_t i = 0; i < n_primitives; i++)
        if (strcmp(primitives[i].kind, "reorder") == 0 && !is_cast(primitives[i].node))
            shares.reorders += primitives[i].seconds / (double)n_runs;
    return shares;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_operator(FILE *file, const struct amp_profile_line *line)
{
    if (line->flops > 0)
        amp_print(file, " %8.1f", line->flops / line->seconds * 1e-9);
    else
        amp_print(file, " %8s", "-");
    amp_print(file, "  %s", line->group);
}

static void print_node(FILE *file, const struct amp_profile_line *line)
{
    print_operator(file, line);
    if (line->node->name[0] != '\0')
        amp_print(file, " %s", line->node->name);
    else
        amp_print(file, " #%u", line->node->index);
    amp_print(file, "  %s", line->way);
}

static void print_primitive(FILE *file, const struct amp_profile_line *line)
{
    amp_print(file, "  %s %s  %s", line->group, line->detail, line->extra);
}

struct table {
    const char *title; /* of the columns after the first three */
    struct amp_profile_lines lines;
    void (*print)(FILE *file, const struct amp_profile_line *line);
};

static void print_table(FILE *file, const struct table *table, double all, int verbosity)
{
    size_t count = table->lines.count;
    size_t shown = verbosity > 0 || count <= LINES_MAX ? count : LINES_MAX;
    if (count == 0)
        return;
    amp_print(file, "  %9s %5s %6s%s\n", "ms", "%", "calls", table->title);
    for (size_t i = 0; i < shown; i++) {
        const struct amp_profile_line *line = &table->lines.items[i];
        amp_print(file, "  %9.3f %5.1f %6.4g", 1e3 * line->seconds,
                  all > 0 ? 100 * line->seconds / all : 0, line->calls);
        table->print(file, line);
        fputc('\n', file);
    }
    if (shown < count)
        amp_print(file, "  %9s %zu more; -v lists them\n", "", count - shown);
}

void amp_report_profile(FILE *file, const struct amp_bench_side *side, size_t n_runs, int verbosity)
{
    struct shares shares = measure(side, n_runs);
    struct table tables[] = {
        {"  GFLOP/s  operator", amp_profile_collect(side, n_runs, false), print_operator},
        {"  GFLOP/s  node, the way it ran in", amp_profile_collect(side, n_runs, true), print_node},
        {"  primitive of oneDNN, implementation, layouts", collect_primitives(side, n_runs),
         print_primitive}};
    amp_print(file, "\n%s: %.3f ms in nodes; reorders %.1f %%, casts %.1f %%\n",
              amp_dtype_short_name(side->dtype), 1e3 * shares.all,
              shares.all > 0 ? 100 * shares.reorders / shares.all : 0,
              shares.all > 0 ? 100 * shares.casts / shares.all : 0);
    for (size_t i = 0; i < AMP_COUNT(tables); i++) {
        print_table(file, &tables[i], shares.all, verbosity);
        free(tables[i].lines.items);
    }
    fputc('\n', file);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_node(const struct amp_profile_line *line)
{
    json_t *object = json_object();
    amp_json_set(object, "name", amp_json_text(line->node->name));
    amp_json_set(object, "op", amp_json_text(line->group));
    amp_json_set(object, "way", amp_json_text(line->way));
    amp_json_set(object, "ms", amp_json_number(1e3 * line->seconds));
    amp_json_set(object, "gflops", amp_json_number_or_null(line->flops / line->seconds * 1e-9));
    return object;
}

static json_t *json_primitive(const struct amp_profile_line *line)
{
    json_t *object = json_object();
    amp_json_set(object, "kind", amp_json_text(line->group));
    amp_json_set(object, "implementation", amp_json_text(line->detail));
    amp_json_set(object, "layouts", amp_json_text(line->extra));
    amp_json_set(object, "calls", amp_json_number(line->calls));
    amp_json_set(object, "ms", amp_json_number(1e3 * line->seconds));
    return object;
}

static json_t *json_lines(struct amp_profile_lines lines,
                          json_t *(*make)(const struct amp_profile_line *line))
{
    json_t *array = json_array();
    for (size_t i = 0; i < lines.count; i++)
        json_array_append_new(array, make(&lines.items[i]));
    free(lines.items);
    return array;
}

json_t *amp_json_profile(const struct amp_bench_side *side, size_t n_runs)
{
    struct shares shares = measure(side, n_runs);
    json_t *object = json_object();
    amp_json_set(object, "ms", amp_json_number(1e3 * shares.all));
    amp_json_set(object, "reorder_share", amp_json_number_or_null(shares.reorders / shares.all));
    amp_json_set(object, "cast_share", amp_json_number_or_null(shares.casts / shares.all));
    amp_json_set(object, "nodes", json_lines(amp_profile_collect(side, n_runs, true), json_node));
    amp_json_set(object, "primitives",
                 json_lines(collect_primitives(side, n_runs), json_primitive));
    return object;
}
