/*
 * Finds composites: tries on every node the patterns whose output is of its operator, then settles
 * which of the matches that overlap count. Takes a model whose types are inferred, gives the
 * matches and which node is part of which. The patterns are data (composites.inc); matcher.c
 * matches them. Nothing is replaced here: the callers decide what a match means.
 */
#include "pattern/composites.h"

#include "core/array.h"
#include "pattern/matcher.h"
#include "pattern/pattern.h"

#include <stdlib.h>
#include <string.h>

/* For amp_composite.torch_below. */
enum { AS_EXPORTED = 0, BY_HAND = 1 };

static const struct amp_composite patterns[] = {
#include "pattern/composites.inc"
};

enum { N_PATTERNS = AMP_COUNT(patterns) };

const struct amp_composite *amp_composite_at(size_t index)
{
    return index < N_PATTERNS ? &patterns[index] : NULL;
}

const struct amp_composite *amp_composite_find(const char *name)
{
    for (size_t i = 0; i < N_PATTERNS; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

/* ---- the compiled list ---- */

/* The patterns whose output is of one operator, in the list's order. */
struct anchor {
    uint32_t patterns[N_PATTERNS]; /* indices */
    size_t count;
};

/* A match that may count. */
struct candidate {
    uint32_t pattern; /* index in patterns */
    uint32_t root;    /* node id */
    uint32_t place;   /* of the root among all nodes, in order */
    uint32_t *nodes;
    size_t n_nodes;
    uint32_t input; /* the value that the pattern calls x; AMP_NONE: it has none */
};

struct search {
    const struct amp_model *model;
    const struct amp_composite_filter *filter; /* NULL: none */
    struct amp_arena *arena;                   /* for as long as the search takes */
    struct amp_pattern *compiled[N_PATTERNS];
    struct amp_strmap operators; /* name -> index in anchors */
    struct anchor *anchors;
    size_t n_anchors, anchors_capacity;
    struct amp_pattern_matcher *matcher;
    struct candidate *candidates;
    size_t n_candidates, capacity;
    uint32_t *place_of; /* per node id */
};

/* The anchor of operator OP, made when there is none. */
static struct anchor *anchor_of(struct search *search, const char *op)
{
    uint32_t index;
    if (amp_strmap_get(&search->operators, op, &index))
        return &search->anchors[index];
    amp_strmap_put(&search->operators, search->arena, op, (uint32_t)search->n_anchors);
    return amp_arena_push(search->arena, &search->anchors, &search->n_anchors,
                          &search->anchors_capacity, sizeof *search->anchors);
}

/* Compiles all patterns and notes each under the operators that its output may be of. */
static void compile(struct search *search)
{
    for (uint32_t i = 0; i < N_PATTERNS; i++) {
        struct amp_error err = {.status = AMP_OK};
        size_t count = 0;
        search->compiled[i] = amp_pattern_parse(search->arena, patterns[i].text, &err);
        if (search->compiled[i] == NULL)
            continue;
        const char *const *roots = amp_pattern_roots(search->compiled[i], &count);
        for (size_t r = 0; r < count; r++) {
            struct anchor *anchor = anchor_of(search, roots[r]);
            anchor->patterns[anchor->count++] = i;
        }
    }
}

/* ---- candidates ---- */

/* Whether NODE gives floats that autocast may lower: shape arithmetic, on integers, may look like
   stack and others, but has no precision to decide on. */
static bool gives_float(const struct amp_model *model, const struct amp_node *node)
{
    return node->n_outputs > 0 && node->outputs[0] != AMP_NONE &&
           amp_dtype_is_autocast(amp_value_at(model, node->outputs[0])->dtype);
}

static void try_pattern(struct search *search, uint32_t pattern, uint32_t root, uint32_t place)
{
    struct amp_pattern_match match;
    if (!amp_pattern_matcher_match(search->matcher, search->compiled[pattern], root, &match) ||
        match.n_nodes < 2)
        return;
    if (search->filter != NULL &&
        !search->filter->accepts(search->filter->context, &patterns[pattern], match.nodes,
                                 match.n_nodes))
        return;
    int x = amp_pattern_value(search->compiled[pattern], "x");
    struct candidate *candidate =
        amp_arena_push(search->arena, &search->candidates, &search->n_candidates, &search->capacity,
                       sizeof *candidate);
    *candidate = (struct candidate){
        .pattern = pattern,
        .root = root,
        .place = place,
        .nodes = amp_arena_memdup(search->arena, match.nodes, match.n_nodes * sizeof(uint32_t)),
        .n_nodes = match.n_nodes,
        .input = x < 0 ? AMP_NONE : match.values[x]};
}

static void search_graph(struct search *search, const struct amp_graph *graph, uint32_t *place)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        uint32_t id = graph->nodes.items[i], index;
        const struct amp_node *node = amp_node_at(search->model, id);
        search->place_of[id] = ++*place;
        if (node->is_removed || node->domain[0] != '\0' || !gives_float(search->model, node) ||
            !amp_strmap_get(&search->operators, node->op_type, &index))
            continue;
        const struct anchor *anchor = &search->anchors[index];
        for (size_t k = 0; k < anchor->count; k++)
            try_pattern(search, anchor->patterns[k], id, *place);
    }
}

/* ---- which of them count ---- */

/* More nodes first, then the upper pattern, then the earlier root. */
static int compare_worth(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->n_nodes != y->n_nodes)
        return x->n_nodes > y->n_nodes ? -1 : 1;
    if (x->pattern != y->pattern)
        return x->pattern < y->pattern ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int compare_place(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Takes all nodes of the candidate, or none when one is taken. */
static bool claim(struct amp_composites *result, const struct candidate *candidate)
{
    for (size_t i = 0; i < candidate->n_nodes; i++)
        if (result->match_of[candidate->nodes[i]] != AMP_NONE)
            return false;
    for (size_t i = 0; i < candidate->n_nodes; i++)
        result->match_of[candidate->nodes[i]] = 0;
    return true;
}

/* Keeps the candidates that count, by place. */
static void settle(struct search *search, struct amp_composites *result)
{
    size_t kept = 0;
    if (search->n_candidates == 0)
        return;
    qsort(search->candidates, search->n_candidates, sizeof *search->candidates, compare_worth);
    for (size_t i = 0; i < search->n_candidates; i++)
        if (claim(result, &search->candidates[i]))
            search->candidates[kept++] = search->candidates[i];
    search->n_candidates = kept;
    qsort(search->candidates, kept, sizeof *search->candidates, compare_place);
}

/* Sorts COUNT node ids into the order of the graph: by insertion, as a match has few. */
static void sort_nodes(const struct search *search, uint32_t *nodes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && search->place_of[nodes[k]] < search->place_of[nodes[k - 1]];
             k--) {
            uint32_t other = nodes[k];
            nodes[k] = nodes[k - 1];
            nodes[k - 1] = other;
        }
}

/* The node that struct amp_composite_match calls the entry; INPUT is the value that the pattern
   calls x. */
static uint32_t find_entry(const struct amp_model *model, const struct amp_composite *composite,
                           const struct amp_composite_match *match, uint32_t input)
{
    for (size_t i = 0; i < match->n_nodes; i++) {
        const struct amp_node *node = amp_node_at(model, match->nodes[i]);
        if (composite->head != NULL ? amp_node_is(node, "", composite->head)
                                    : node->n_inputs > 0 && node->inputs[0] == input)
            return match->nodes[i];
    }
    return match->root;
}

static void add_match(const struct search *search, const struct candidate *candidate,
                      struct amp_composites *result)
{
    const struct amp_composite *composite = &patterns[candidate->pattern];
    struct amp_composite_match *match = &result->matches[result->n_matches];
    *match = (struct amp_composite_match){
        .composite = composite,
        .root = candidate->root,
        .nodes = amp_arena_memdup(search->model->arena, candidate->nodes,
                                  candidate->n_nodes * sizeof(uint32_t)),
        .n_nodes = candidate->n_nodes};
    sort_nodes(search, match->nodes, match->n_nodes);
    match->entry = find_entry(search->model, composite, match, candidate->input);
    for (size_t i = 0; i < match->n_nodes; i++)
        result->match_of[match->nodes[i]] = (uint32_t)result->n_matches;
    result->n_matches++;
}

void amp_composites_find(const struct amp_model *model, const struct amp_composite_filter *filter,
                         struct amp_composites *composites)
{
    struct search search = {.model = model, .filter = filter, .arena = amp_arena_create()};
    uint32_t place = 0;
    *composites = (struct amp_composites){.n_nodes = model->n_nodes};
    composites->match_of = amp_arena_array(model->arena, model->n_nodes, sizeof(uint32_t));
    memset(composites->match_of, 0xff, model->n_nodes * sizeof(uint32_t));
    search.place_of = amp_arena_array(search.arena, model->n_nodes, sizeof(uint32_t));
    compile(&search);
    search.matcher = amp_pattern_matcher_create(model);
    for (size_t g = 0; g < model->n_graphs; g++)
        search_graph(&search, &model->graphs[g], &place);
    amp_pattern_matcher_destroy(search.matcher);
    settle(&search, composites);
    composites->matches =
        amp_arena_array(model->arena, search.n_candidates, sizeof *composites->matches);
    for (size_t i = 0; i < search.n_candidates; i++)
        add_match(&search, &search.candidates[i], composites);
    amp_arena_destroy(search.arena);
}
