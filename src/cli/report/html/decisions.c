/*
 * What was decided in a conversion, by rule and by node. Takes the explanation that the conversion
 * noted.
 */
#include "cli/report/html/decisions.h"

#include "autocast/rules/rule.h"
#include "cli/report/explanation.h"
#include "cli/report/html/node_precision.h"
#include "cli/report/html/svg.h"
#include "core/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 4000, GUARDS_MAX = 200, TEXT = 400 };

/* Nodes that were decided alike. */
struct verdict {
    const char *text; /* "lower torch-cpu.yaml:15 conv2d", or the constraint */
    enum amp_dtype dtype;
    size_t nodes, casts, first;
    const char *example; /* the first node */
};

struct verdicts {
    struct verdict *items;
    size_t count;
    struct amp_strmap ids; /* of text and dtype */
};

/* "lower torch-cpu.yaml:15 conv2d"; of nodes that no rule decided alone, the constraint too. */
static void describe(const struct amp_decision *decision, char *text, size_t size)
{
    char rule[TEXT] = "", line[24] = "";
    if (decision->rule != NULL && amp_explained_line(decision) > 0)
        snprintf(line, sizeof line, ":%d", amp_explained_line(decision));
    if (decision->rule != NULL)
        snprintf(rule, sizeof rule, "%s by %.200s%s%s%.80s",
                 amp_precision_name(decision->rule->precision), decision->rule->source.file, line,
                 decision->op != NULL && decision->op->is_torch ? ", " : "",
                 decision->op != NULL && decision->op->is_torch ? decision->op->word : "");
    if (decision->reason == AMP_REASON_RULE)
        snprintf(text, size, "%s", rule);
    else
        snprintf(text, size, "%s%s%s%s", amp_reason_text(decision->reason), rule[0] ? " (" : "",
                 rule, rule[0] ? ")" : "");
}

static struct verdict *verdict_of(struct verdicts *verdicts, struct amp_arena *arena,
                                  const struct amp_explained_node *node)
{
    char text[2 * TEXT];
    uint32_t at;
    describe(node->decision, text, sizeof text);
    const char *key = amp_arena_printf(arena, "%d %s", (int)node->decision->dtype, text);
    if (amp_strmap_get(&verdicts->ids, key, &at))
        return &verdicts->items[at];
    amp_strmap_put(&verdicts->ids, arena, key, (uint32_t)verdicts->count);
    verdicts->items = amp_xrealloc(verdicts->items, verdicts->count + 1, sizeof *verdicts->items);
    struct verdict *added = &verdicts->items[verdicts->count];
    *added = (struct verdict){.text = amp_arena_strdup(arena, text),
                              .dtype = node->decision->dtype,
                              .first = verdicts->count++,
                              .example = node->text};
    return added;
}

static int compare_verdicts(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    int by_nodes = (x->nodes < y->nodes) - (x->nodes > y->nodes);
    return by_nodes != 0 ? by_nodes : (x->first > y->first) - (x->first < y->first);
}

static size_t count_casts(const struct amp_explained_node *node)
{
    size_t count = 0;
    for (const struct amp_explained_cast *cast = node->casts; cast != NULL; cast = cast->next)
        count++;
    return count;
}

static void put_dtype(struct amp_html *html, enum amp_dtype dtype)
{
    amp_html_put(html, "<td><span class=\"tag %s\">%s</span></td>", amp_html_dtype_class(dtype),
                 dtype == AMP_UNDEFINED ? "as it was" : amp_dtype_short_name(dtype));
}

static void put_verdicts(struct amp_html *html, const struct verdicts *verdicts)
{
    static const struct amp_html_column columns[] = {{"what decided", false},
                                                     {"dtype", false},
                                                     {"nodes", true},
                                                     {"casts caused", true},
                                                     {"the first of them", false}};
    char example[AMP_HTML_SHORT];
    amp_html_table_begin(html, "The rules that matched and the constraints that came before them.",
                         columns, AMP_COUNT(columns));
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct verdict *verdict = &verdicts->items[i];
        amp_html_put(html, "<tr><td>%s</td>", verdict->text);
        put_dtype(html, verdict->dtype);
        amp_html_put(html, "<td class=\"n\">%zu</td><td class=\"n\">%.0zu</td><td>%s</td></tr>\n",
                     verdict->nodes, verdict->casts, amp_html_short(verdict->example, 70, example));
    }
    amp_html_table_end(html);
}

static bool is_guarded(const struct amp_explained_node *node)
{
    return amp_reason_is_guard(node->decision->reason);
}

static void put_guard(struct amp_html *html, const struct amp_explained_node *node)
{
    char name[AMP_HTML_SHORT], number[32];
    const struct amp_decision *decision = node->decision;
    amp_html_put(html, "<tr><td>%s</td><td>%s</td><td><code>%s</code></td>",
                 amp_html_short(node->text, 70, name), amp_reason_text(decision->reason),
                 node->constant != NULL ? node->constant : "");
    if (isfinite(decision->number))
        amp_html_put(html, "<td class=\"n\">%s</td>", amp_svg_number(decision->number, number));
    else
        amp_html_put(html, "<td class=\"n\">of any size</td>");
    amp_html_put(html, "<td>%s</td></tr>\n", amp_range_evidence(decision->seen));
}

/* The nodes that stay in float32 because of what their values come to. */
static void put_guards(struct amp_html *html, const struct amp_explanation *explanation)
{
    static const struct amp_html_column columns[] = {{"node", false},
                                                     {"why it stays in float32", false},
                                                     {"value", false},
                                                     {"number", true},
                                                     {"known how", false}};
    size_t count = 0;
    for (size_t i = 0; i < explanation->n_nodes; i++)
        count += is_guarded(&explanation->nodes[i]);
    if (count == 0)
        return;
    amp_html_table_begin(html,
                         "Nodes that rules would lower, but whose values the lower dtype does "
                         "not hold.",
                         columns, AMP_COUNT(columns));
    for (size_t i = 0, left = count < GUARDS_MAX ? count : GUARDS_MAX; left > 0; i++) {
        if (!is_guarded(&explanation->nodes[i]))
            continue;
        put_guard(html, &explanation->nodes[i]);
        left--;
    }
    amp_html_table_end(html);
    if (count > GUARDS_MAX)
        amp_html_put(html, "<p>%zu more are left out.</p>\n", count - GUARDS_MAX);
}

static void put_nodes(struct amp_html *html, const struct amp_explanation *explanation)
{
    static const struct amp_html_column columns[] = {
        {"node", false}, {"dtype", false}, {"why", false}, {"casts", true}};
    char text[2 * TEXT], name[AMP_HTML_SHORT];
    size_t count = explanation->n_nodes < NODES_MAX ? explanation->n_nodes : NODES_MAX;
    snprintf(text, sizeof text, "All %zu nodes", explanation->n_nodes);
    amp_html_details_begin(html, text);
    amp_html_table_begin(html, "The nodes in the order of the graph.", columns, AMP_COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const struct amp_explained_node *node = &explanation->nodes[i];
        describe(node->decision, text, sizeof text);
        amp_html_put(html, "<tr><td>%s</td>", amp_html_short(node->text, 90, name));
        put_dtype(html, node->decision->dtype);
        amp_html_put(html, "<td>%s%s%s</td><td class=\"n\">%.0zu</td></tr>\n", text,
                     node->constant != NULL ? ": " : "",
                     node->constant != NULL ? amp_html_short(node->constant, 60, name) : "",
                     count_casts(node));
    }
    amp_html_table_end(html);
    if (count < explanation->n_nodes)
        amp_html_put(html, "<p>%zu more are left out; <code>--list</code> has them.</p>\n",
                     explanation->n_nodes - count);
    amp_html_details_end(html);
}

void amp_html_decisions(struct amp_html *html, const struct amp_explanation *explanation)
{
    struct verdicts verdicts = {.count = 0};
    struct amp_arena *arena = amp_arena_create();
    for (size_t i = 0; i < explanation->n_nodes; i++) {
        struct verdict *verdict = verdict_of(&verdicts, arena, &explanation->nodes[i]);
        verdict->nodes++;
        verdict->casts += count_casts(&explanation->nodes[i]);
    }
    if (verdicts.count > 0)
        qsort(verdicts.items, verdicts.count, sizeof *verdicts.items, compare_verdicts);
    put_verdicts(html, &verdicts);
    put_guards(html, explanation);
    put_nodes(html, explanation);
    free(verdicts.items);
    amp_arena_destroy(arena);
}
