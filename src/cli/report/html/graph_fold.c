/*
 * Folds a graph for a drawing. Where it has too many nodes, those whose names begin alike become
 * one box: the largest group is split at the next part of its names as long as the boxes are few
 * enough; a group whose names do not part it is cut into runs of nodes in the order of the graph.
 */
#include "cli/report/html/graph_fold.h"

#include "cli/report/html/node_precision.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

/* Names that are alike for longer than PREFIX_MAX bytes or PARTS_MAX parts are not told apart. */
enum { TERMINALS_MAX = 24, RUN = 12, PREFIX_MAX = 400, PARTS_MAX = 60 };

/* Nodes that are drawn as one. */
struct group {
    uint32_t *nodes; /* in the order of the graph */
    size_t count;
    size_t depth;  /* parts that their names have in common */
    size_t length; /* bytes of the prefix */
    bool is_final;
};

struct folding {
    const struct amp_model *model;
    struct amp_arena *arena;
    size_t most;
    struct group *groups;
    size_t n_groups;
    struct amp_fold fold;
};

/* ---- groups ---------------------------------------------------------------------------------- */

/* The length of the first DEPTH parts of NAME, between slashes or, where it has none, dots. */
static size_t prefix_length(const char *name, size_t depth)
{
    const char *separator = strchr(name, '/') != NULL ? "/" : ".";
    size_t at = strspn(name, separator);
    for (; depth > 0 && name[at] != '\0'; depth--) {
        size_t skipped = strspn(name + at, separator);
        at += skipped + strcspn(name + at + skipped, separator);
    }
    return at;
}

static const char *prefix_of(struct folding *f, uint32_t node, size_t depth)
{
    const char *name = amp_node_at(f->model, node)->name;
    size_t length = prefix_length(name, depth);
    return amp_arena_strndup(f->arena, name, length < PREFIX_MAX ? length : PREFIX_MAX);
}

/* Sorts the nodes of GROUP by their next prefix: PART_OF gets the part of each, by first
   appearance. Returns the number of parts, 0 where there are more than MOST. */
static size_t part(struct folding *f, const struct group *group, size_t most, uint32_t *part_of)
{
    struct amp_strmap parts = {.count = 0};
    for (size_t i = 0; i < group->count; i++) {
        const char *prefix = prefix_of(f, group->nodes[i], group->depth + 1);
        if (amp_strmap_get(&parts, prefix, &part_of[i]))
            continue;
        if (parts.count == most)
            return 0;
        part_of[i] = (uint32_t)parts.count;
        amp_strmap_put(&parts, f->arena, prefix, part_of[i]);
    }
    return parts.count;
}

static struct group make_group(struct folding *f, size_t room, size_t depth)
{
    return (struct group){.nodes = amp_arena_array(f->arena, room, sizeof(uint32_t)),
                          .depth = depth};
}

/* Puts the N_PARTS parts of group AT in its place and behind the others. */
static void split(struct folding *f, size_t at, size_t n_parts, const uint32_t *part_of,
                  size_t depth)
{
    struct group old = f->groups[at];
    size_t *counts = amp_arena_array(f->arena, n_parts, sizeof *counts);
    for (size_t i = 0; i < old.count; i++)
        counts[part_of[i]]++;
    size_t first = f->n_groups - 1;
    for (size_t p = 0; p < n_parts; p++)
        f->groups[p == 0 ? at : first + p] = make_group(f, counts[p], depth);
    for (size_t i = 0; i < old.count; i++) {
        struct group *group = &f->groups[part_of[i] == 0 ? at : first + part_of[i]];
        group->nodes[group->count++] = old.nodes[i];
    }
    f->n_groups += n_parts - 1;
}

/* Whether all nodes of GROUP are called the same, so that no depth parts them. */
static bool is_one_name(const struct folding *f, const struct group *group)
{
    const char *name = amp_node_at(f->model, group->nodes[0])->name;
    for (size_t i = 1; i < group->count; i++)
        if (strcmp(amp_node_at(f->model, group->nodes[i])->name, name) != 0)
            return false;
    return true;
}

/* Cuts group AT into runs as far as there is room. */
static void cut(struct folding *f, size_t at, uint32_t *part_of)
{
    struct group *group = &f->groups[at];
    size_t room = f->most - f->n_groups + 1, runs = (group->count + RUN - 1) / RUN;
    runs = runs < room ? runs : room;
    for (size_t i = 0; i < group->count; i++)
        part_of[i] = (uint32_t)(i * runs / group->count);
    size_t first = f->n_groups - 1, depth = group->depth;
    split(f, at, runs, part_of, depth);
    for (size_t p = 0; p < runs; p++)
        f->groups[p == 0 ? at : first + p].is_final = true;
}

/* Splits group AT once, or makes it final. */
static void refine(struct folding *f, size_t at, uint32_t *part_of)
{
    struct group *group = &f->groups[at];
    if (group->depth == PARTS_MAX || is_one_name(f, group)) {
        cut(f, at, part_of);
        return;
    }
    size_t n_parts = part(f, group, f->most - f->n_groups + 1, part_of);
    if (n_parts > 0)
        split(f, at, n_parts, part_of, group->depth + 1);
    else
        cut(f, at, part_of);
}

static size_t largest_group(const struct folding *f)
{
    size_t largest = SIZE_MAX;
    for (size_t i = 0; i < f->n_groups; i++)
        if (!f->groups[i].is_final && f->groups[i].count > 1 &&
            (largest == SIZE_MAX || f->groups[i].count > f->groups[largest].count))
            largest = i;
    return largest;
}

static bool is_drawn(const struct folding *f, uint32_t node, bool shows_all)
{
    return !amp_html_is_cast(f->model, node) &&
           !amp_node_has_role(amp_node_at(f->model, node), AMP_ROLE_CONSTANT) &&
           (shows_all || amp_html_precision(f->model, node) != AMP_UNDEFINED);
}

static size_t count_drawn(const struct folding *f, bool shows_all)
{
    const struct amp_ids *nodes = &f->model->graphs[0].nodes;
    size_t count = 0;
    for (size_t i = 0; i < nodes->count; i++)
        count += is_drawn(f, nodes->items[i], shows_all);
    return count;
}

/* Nodes without floats are drawn where there are no others. */
static void make_groups(struct folding *f)
{
    const struct amp_ids *nodes = &f->model->graphs[0].nodes;
    size_t all = count_drawn(f, true), floats = count_drawn(f, false);
    bool shows_all = floats == 0, is_small;
    size_t count = shows_all ? all : floats;
    f->fold.n_left_out = all - count;
    is_small = count <= f->most;
    f->groups = amp_arena_array(f->arena, f->most + 1, sizeof *f->groups);
    if (count == 0)
        return;
    f->groups[0] = make_group(f, count, 0);
    f->n_groups = 1;
    for (size_t i = 0; i < nodes->count; i++)
        if (is_drawn(f, nodes->items[i], shows_all))
            f->groups[0].nodes[f->groups[0].count++] = nodes->items[i];
    uint32_t *part_of = amp_arena_array(f->arena, count, sizeof *part_of);
    for (size_t i = 0; i < count && is_small; i++)
        part_of[i] = (uint32_t)i;
    if (is_small)
        split(f, 0, count, part_of, 0);
    for (size_t at; !is_small && f->n_groups < f->most && (at = largest_group(f)) != SIZE_MAX;)
        refine(f, at, part_of);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static uint32_t add_box(struct folding *f, struct amp_fold_box box)
{
    f->fold.boxes[f->fold.n_boxes] = box;
    return (uint32_t)f->fold.n_boxes++;
}

/* The bytes that the names of all nodes of GROUP begin with, up to the end of a part. */
static size_t common_prefix(const struct folding *f, const struct group *group)
{
    const char *name = amp_node_at(f->model, group->nodes[0])->name;
    size_t length = strlen(name);
    for (size_t i = 1; i < group->count; i++) {
        const char *other = amp_node_at(f->model, group->nodes[i])->name;
        size_t same = 0;
        while (same < length && name[same] == other[same])
            same++;
        length = same;
    }
    while (length > 0 && name[length] != '\0' && strchr("/.", name[length]) == NULL)
        length--;
    return length;
}

static void add_nodes(struct folding *f, const struct group *group)
{
    struct amp_fold_box box = {.node = group->nodes[0], .value = AMP_NONE, .n_nodes = group->count};
    if (group->count > 1)
        box.prefix = amp_arena_strndup(f->arena, amp_node_at(f->model, box.node)->name,
                                       common_prefix(f, group));
    for (size_t i = 0; i < group->count; i++) {
        enum amp_dtype dtype = amp_html_precision(f->model, group->nodes[i]);
        box.n_low += amp_dtype_is_lower(dtype);
        box.n_full += dtype == AMP_FLOAT || dtype == AMP_DOUBLE;
        f->fold.box_of[group->nodes[i]] = (uint32_t)f->fold.n_boxes;
    }
    add_box(f, box);
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return (x->length > y->length) - (x->length < y->length);
}

/* Sorts groups by the place of their first nodes. */
static void sort_groups(struct folding *f)
{
    const struct amp_ids *nodes = &f->model->graphs[0].nodes;
    size_t *place = amp_xcalloc(f->model->n_nodes, sizeof *place);
    for (size_t i = 0; i < nodes->count; i++)
        place[nodes->items[i]] = i;
    for (size_t i = 0; i < f->n_groups; i++)
        f->groups[i].length = place[f->groups[i].nodes[0]];
    free(place);
    qsort(f->groups, f->n_groups, sizeof *f->groups, compare_groups);
}

static bool is_fed(const struct amp_model *model, uint32_t value)
{
    return amp_value_at(model, value)->initial == NULL;
}

static size_t count_inputs(const struct amp_model *model)
{
    const struct amp_ids *inputs = &model->graphs[0].inputs;
    size_t count = 0;
    for (size_t i = 0; i < inputs->count; i++)
        count += is_fed(model, inputs->items[i]);
    return count;
}

/* ---- edges ----------------------------------------------------------------------------------- */

struct edges {
    size_t capacity;
    uint32_t *input_box; /* per value id: the box of the graph input; AMP_NONE */
};

/* The box that VALUE comes from, through casts, which *HAS_CAST says; *DTYPE: before them. */
static uint32_t source_of(const struct folding *f, const struct edges *edges, uint32_t value,
                          bool *has_cast, enum amp_dtype *dtype)
{
    const struct amp_model *model = f->model;
    uint32_t producer = amp_value_at(model, value)->producer;
    *has_cast = false;
    while (producer != AMP_NONE && amp_html_is_cast(model, producer)) {
        *has_cast = true;
        value = amp_node_at(model, producer)->inputs[0];
        producer = amp_value_at(model, value)->producer;
    }
    *dtype = amp_value_at(model, value)->dtype;
    if (producer == AMP_NONE)
        return edges->input_box[value];
    producer = amp_graph_container(model, producer, 0);
    return producer == AMP_NONE ? AMP_NONE : f->fold.box_of[producer];
}

static void add_edge(struct folding *f, struct edges *edges, uint32_t value, uint32_t to)
{
    struct amp_fold_edge edge = {.to = to};
    edge.from = source_of(f, edges, value, &edge.has_cast, &edge.dtype);
    if (edge.has_cast && to < f->fold.n_boxes)
        f->fold.boxes[to].n_casts++;
    if (edge.from == AMP_NONE || edge.from == to)
        return;
    if (edge.from > to) {
        edge.to = edge.from;
        edge.from = to;
        edge.is_back = true;
    }
    *(struct amp_fold_edge *)amp_arena_push(f->arena, &f->fold.edges, &f->fold.n_edges,
                                            &edges->capacity, sizeof edge) = edge;
}

static int compare_edges(const void *a, const void *b)
{
    const struct amp_fold_edge *x = a, *y = b;
    int by_from = (x->from > y->from) - (x->from < y->from);
    return by_from != 0 ? by_from : (x->to > y->to) - (x->to < y->to);
}

/* Makes one edge of all between the same boxes. A float type stands for the values, of several the
   one that comes first in the order of dtypes. */
static void merge_edges(struct amp_fold *fold)
{
    size_t kept = 0;
    if (fold->n_edges > 0)
        qsort(fold->edges, fold->n_edges, sizeof *fold->edges, compare_edges);
    for (size_t i = 0; i < fold->n_edges; i++) {
        struct amp_fold_edge *last = kept > 0 ? &fold->edges[kept - 1] : NULL,
                             *edge = &fold->edges[i];
        if (last == NULL || compare_edges(last, edge) != 0) {
            fold->edges[kept++] = *edge;
            continue;
        }
        last->has_cast |= edge->has_cast;
        last->is_back &= edge->is_back;
        bool was_float = amp_dtype_class(last->dtype) == AMP_CLASS_FLOAT,
             is_float = amp_dtype_class(edge->dtype) == AMP_CLASS_FLOAT;
        if (is_float > was_float || (is_float == was_float && edge->dtype < last->dtype))
            last->dtype = edge->dtype;
    }
    fold->n_edges = kept;
}

static void make_edges(struct folding *f, struct edges *edges, size_t n_inputs_and_nodes)
{
    const struct amp_model *model = f->model;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (node->is_removed || amp_html_is_cast(model, id))
            continue;
        uint32_t outer = amp_graph_container(model, id, 0);
        uint32_t to = outer == AMP_NONE ? AMP_NONE : f->fold.box_of[outer];
        for (uint32_t i = 0; i < node->n_inputs && to != AMP_NONE; i++)
            if (node->inputs[i] != AMP_NONE)
                add_edge(f, edges, node->inputs[i], to);
    }
    for (size_t b = n_inputs_and_nodes; b < f->fold.n_boxes; b++)
        add_edge(f, edges, f->fold.boxes[b].value, (uint32_t)b);
    merge_edges(&f->fold);
}

struct amp_fold amp_fold_graph(const struct amp_model *model, size_t most, struct amp_arena *arena)
{
    struct folding f = {.model = model, .arena = arena, .most = most};
    struct edges edges = {.input_box =
                              amp_arena_array(arena, model->n_values, sizeof *edges.input_box)};
    const struct amp_graph *graph = &model->graphs[0];
    size_t n_inputs = count_inputs(model);
    memset(edges.input_box, 0xff, model->n_values * sizeof *edges.input_box);
    f.fold.box_of = amp_arena_array(arena, model->n_nodes, sizeof *f.fold.box_of);
    memset(f.fold.box_of, 0xff, model->n_nodes * sizeof *f.fold.box_of);
    make_groups(&f);
    sort_groups(&f);
    f.fold.boxes =
        amp_arena_array(arena, f.n_groups + (size_t)2 * TERMINALS_MAX, sizeof *f.fold.boxes);
    for (size_t i = 0; i < graph->inputs.count && n_inputs <= TERMINALS_MAX; i++)
        if (is_fed(model, graph->inputs.items[i]))
            edges.input_box[graph->inputs.items[i]] = add_box(
                &f, (struct amp_fold_box){
                        .kind = AMP_FOLD_INPUT, .node = AMP_NONE, .value = graph->inputs.items[i]});
    for (size_t i = 0; i < f.n_groups; i++)
        add_nodes(&f, &f.groups[i]);
    size_t before = f.fold.n_boxes;
    for (size_t i = 0; i < graph->outputs.count && graph->outputs.count <= TERMINALS_MAX; i++)
        add_box(&f, (struct amp_fold_box){.kind = AMP_FOLD_OUTPUT,
                                          .node = AMP_NONE,
                                          .value = graph->outputs.items[i]});
    make_edges(&f, &edges, before);
    return f.fold;
}
