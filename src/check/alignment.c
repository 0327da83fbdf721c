/*
 * Aligns two lists of values, and puts the nodes of a graph into an order in which the lists of two
 * models can be aligned. Takes keys that others made; knows nothing of what they mean.
 */
#include "check/alignment.h"

#include <stdlib.h>
#include <string.h>

/* ---- the order ------------------------------------------------------------------------------- */

/* A search from the outputs backward, depth first, by a stack of its own, since chains may be
   longer than one of calls is deep. */
struct search {
    const struct amp_model *model;
    bool *is_seen; /* per node */
    struct place {
        uint32_t node, input; /* the next of its inputs */
    } * stack;
    size_t depth;
    uint32_t *order;
    size_t count;
};

static void enter(struct search *search, uint32_t node)
{
    if (node == AMP_NONE || search->is_seen[node] || amp_node_at(search->model, node)->graph != 0)
        return;
    search->is_seen[node] = true;
    search->stack[search->depth++] = (struct place){node, 0};
}

/* Lists NODE behind all that it needs. */
static void visit(struct search *search, uint32_t node)
{
    enter(search, node);
    while (search->depth > 0) {
        struct place *top = &search->stack[search->depth - 1];
        const struct amp_node *at = amp_node_at(search->model, top->node);
        if (top->input == at->n_inputs) {
            search->order[search->count++] = top->node;
            search->depth--;
            continue;
        }
        uint32_t value = at->inputs[top->input++];
        if (value != AMP_NONE)
            enter(search, amp_value_at(search->model, value)->producer);
    }
}

uint32_t *amp_alignment_order(const struct amp_model *model, size_t *count)
{
    const struct amp_graph *graph = &model->graphs[0];
    struct search search = {.model = model,
                            .is_seen = amp_xcalloc(model->n_nodes, sizeof *search.is_seen),
                            .stack = amp_xmalloc(model->n_nodes, sizeof *search.stack),
                            .order = amp_xmalloc(model->n_nodes, sizeof *search.order)};
    for (size_t i = 0; i < graph->outputs.count; i++)
        visit(&search, amp_value_at(model, graph->outputs.items[i])->producer);
    for (size_t i = 0; i < graph->nodes.count; i++)
        visit(&search, graph->nodes.items[i]);
    free(search.is_seen);
    free(search.stack);
    *count = search.count;
    return search.order;
}

/* ---- the alignment --------------------------------------------------------------------------- */

enum { WINDOW = 2048, STRIDE = WINDOW / 2, ROW = WINDOW + 1 };

static bool are_equal(const struct amp_aligned *a, const struct amp_aligned *b)
{
    return a->key == b->key && a->is_paired == b->is_paired;
}

/* Stretches of the two lists. LENGTHS: at row i and column j, how long a common subsequence of what
   is left behind them may be. */
struct window {
    struct amp_aligned *a, *b;
    size_t count_a, count_b;
    uint16_t *lengths;
};

static uint16_t *length_at(const struct window *w, size_t i, size_t j)
{
    return &w->lengths[i * ROW + j];
}

static void fill(const struct window *w)
{
    for (size_t j = 0; j <= w->count_b; j++)
        *length_at(w, w->count_a, j) = 0;
    for (size_t i = w->count_a; i-- > 0;) {
        *length_at(w, i, w->count_b) = 0;
        for (size_t j = w->count_b; j-- > 0;) {
            uint16_t down = *length_at(w, i + 1, j), right = *length_at(w, i, j + 1);
            *length_at(w, i, j) = are_equal(&w->a[i], &w->b[j])
                                      ? (uint16_t)(*length_at(w, i + 1, j + 1) + 1)
                                  : down > right ? down
                                                 : right;
        }
    }
}

/* Sets the partners from the beginning of W, up to LIMIT values of either list; *I and *J are where
   that ends. */
static void follow(const struct window *w, size_t limit, size_t *i, size_t *j)
{
    *i = *j = 0;
    while (*i < w->count_a && *j < w->count_b && *i < limit && *j < limit) {
        if (are_equal(&w->a[*i], &w->b[*j])) {
            w->a[*i].partner = w->b[*j].value;
            w->b[(*j)++].partner = w->a[(*i)++].value;
        } else if (*length_at(w, *i + 1, *j) >= *length_at(w, *i, *j + 1)) {
            ++*i;
        } else {
            ++*j;
        }
    }
}

void amp_alignment_find(struct amp_aligned *a, size_t count_a, struct amp_aligned *b,
                        size_t count_b)
{
    uint16_t *lengths = amp_xmalloc((size_t)ROW * ROW, sizeof *lengths);
    for (size_t i = 0; i < count_a; i++)
        a[i].partner = AMP_NONE;
    for (size_t j = 0; j < count_b; j++)
        b[j].partner = AMP_NONE;
    while (count_a > 0 && count_b > 0) {
        size_t done_a, done_b;
        struct window w = {.a = a,
                           .b = b,
                           .count_a = count_a < WINDOW ? count_a : WINDOW,
                           .count_b = count_b < WINDOW ? count_b : WINDOW,
                           .lengths = lengths};
        bool is_last = w.count_a == count_a && w.count_b == count_b;
        fill(&w);
        follow(&w, is_last ? WINDOW : STRIDE, &done_a, &done_b);
        if (is_last)
            break;
        a += done_a;
        b += done_b;
        count_a -= done_a;
        count_b -= done_b;
    }
    free(lengths);
}
