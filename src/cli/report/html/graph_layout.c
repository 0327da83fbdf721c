/*
 * Places the boxes of a folded graph, as Sugiyama, Tagawa and Toda do ("Methods for Visual
 * Understanding of Hierarchical System Structures", 1981): layers by the longest path, an order in
 * each layer by the mean place of neighbours, then coordinates near those of the neighbours, which
 * is a problem of least squares in a fixed order (pool adjacent violators). Edges over several
 * layers of one source share their way.
 */
#include "cli/report/html/graph_layout.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_SWEEPS = 8, PLACE_SWEEPS = 12 };

struct neighbours {
    uint32_t *first; /* of spot s: items[first[s]] .. items[first[s + 1] - 1] */
    uint32_t *items;
};

struct laying {
    const struct amp_fold *fold;
    struct amp_arena *arena;
    double width, gap;
    struct amp_layout layout;
    size_t spots_capacity, links_capacity;
    struct neighbours above, below;
    uint32_t **rows;  /* per layer its spots, in their order */
    size_t *n_in_row; /* per layer */
    double *wish;     /* per spot: where it would like to be */
};

/* ---- layers ---------------------------------------------------------------------------------- */

/* Edges go from lower boxes to higher ones and are sorted by where they begin. */
static uint32_t *find_layers(struct laying *l)
{
    const struct amp_fold *fold = l->fold;
    uint32_t *layer = amp_arena_array(l->arena, fold->n_boxes, sizeof *layer);
    bool *is_held = amp_arena_array(l->arena, fold->n_boxes, sizeof *is_held);
    for (size_t e = 0; e < fold->n_edges; e++) {
        const struct amp_fold_edge *edge = &fold->edges[e];
        is_held[edge->to] |= is_held[edge->from] || fold->boxes[edge->from].kind == AMP_FOLD_INPUT;
        if (layer[edge->to] <= layer[edge->from])
            layer[edge->to] = layer[edge->from] + 1;
    }
    /* What no input leads to stands right above what it leads to. */
    for (size_t e = fold->n_edges; e-- > 0;) {
        uint32_t from = fold->edges[e].from, last = layer[fold->edges[e].to] - 1;
        bool is_first = e + 1 == fold->n_edges || fold->edges[e + 1].from != from;
        if (!is_held[from] && (is_first || last < layer[from]))
            layer[from] = last;
    }
    return layer;
}

static uint32_t add_spot(struct laying *l, uint32_t box, uint32_t source, uint32_t layer)
{
    struct amp_layout *layout = &l->layout;
    *(struct amp_layout_spot *)amp_arena_push(l->arena, &layout->spots, &layout->n_spots,
                                              &l->spots_capacity, sizeof *layout->spots) =
        (struct amp_layout_spot){.box = box, .source = source, .layer = layer};
    if (layer >= layout->n_layers)
        layout->n_layers = layer + 1;
    return (uint32_t)(layout->n_spots - 1);
}

static void add_link(struct laying *l, uint32_t from, uint32_t to, size_t edge)
{
    struct amp_layout *layout = &l->layout;
    *(struct amp_layout_link *)amp_arena_push(l->arena, &layout->links, &layout->n_links,
                                              &l->links_capacity, sizeof *layout->links) =
        (struct amp_layout_link){.from = from, .to = to, .edge = (uint32_t)edge};
}

/* Makes the spots of boxes and crossings, and the links between them. */
static void make_spots(struct laying *l)
{
    const struct amp_fold *fold = l->fold;
    const uint32_t *layer = find_layers(l);
    for (uint32_t b = 0; b < fold->n_boxes; b++)
        add_spot(l, b, b, layer[b]);
    for (size_t e = 0, next; e < fold->n_edges; e = next) {
        uint32_t from = fold->edges[e].from, at = from, reached = layer[from], last = reached;
        for (next = e; next < fold->n_edges && fold->edges[next].from == from; next++)
            last = layer[fold->edges[next].to] > last ? layer[fold->edges[next].to] : last;
        for (; reached < last; reached++) {
            for (size_t i = e; i < next; i++)
                if (layer[fold->edges[i].to] == reached + 1)
                    add_link(l, at, fold->edges[i].to, i);
            if (reached + 1 == last)
                break;
            uint32_t crossing = add_spot(l, AMP_NONE, from, reached + 1);
            add_link(l, at, crossing, e);
            at = crossing;
        }
    }
}

/* ---- neighbours and rows --------------------------------------------------------------------- */

static struct neighbours find_neighbours(struct laying *l, bool are_above)
{
    const struct amp_layout *layout = &l->layout;
    struct neighbours n = {.first = amp_arena_array(l->arena, layout->n_spots + 2, sizeof *n.first),
                           .items = amp_arena_array(l->arena, layout->n_links, sizeof *n.items)};
    for (size_t i = 0; i < layout->n_links; i++)
        n.first[(are_above ? layout->links[i].to : layout->links[i].from) + 2]++;
    for (size_t s = 0; s < layout->n_spots; s++)
        n.first[s + 2] += n.first[s + 1];
    for (size_t i = 0; i < layout->n_links; i++) {
        const struct amp_layout_link *link = &layout->links[i];
        n.items[n.first[(are_above ? link->to : link->from) + 1]++] =
            are_above ? link->from : link->to;
    }
    return n;
}

static void make_rows(struct laying *l)
{
    struct amp_layout *layout = &l->layout;
    l->rows = amp_arena_array(l->arena, layout->n_layers, sizeof *l->rows);
    l->n_in_row = amp_arena_array(l->arena, layout->n_layers, sizeof *l->n_in_row);
    for (size_t s = 0; s < layout->n_spots; s++)
        l->n_in_row[layout->spots[s].layer]++;
    for (uint32_t r = 0; r < layout->n_layers; r++) {
        l->rows[r] = amp_arena_array(l->arena, l->n_in_row[r], sizeof(uint32_t));
        l->n_in_row[r] = 0;
    }
    for (uint32_t s = 0; s < layout->n_spots; s++) {
        uint32_t r = layout->spots[s].layer;
        layout->spots[s].x = (double)l->n_in_row[r];
        l->rows[r][l->n_in_row[r]++] = s;
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Sets the wish of SPOT: the mean place of its neighbours, its own where it has none. */
static void wish(struct laying *l, uint32_t spot, const struct neighbours *n)
{
    double sum = 0;
    uint32_t first = n->first[spot], end = n->first[spot + 1];
    for (uint32_t i = first; i < end; i++)
        sum += l->layout.spots[n->items[i]].x;
    l->wish[spot] = end > first ? sum / (end - first) : l->layout.spots[spot].x;
}

/* Sorts the spots of a row by their wishes, equals as they are: rows are short or sorted. */
static void sort_row(struct laying *l, uint32_t r)
{
    uint32_t *row = l->rows[r];
    for (size_t i = 1; i < l->n_in_row[r]; i++) {
        uint32_t spot = row[i];
        size_t at = i;
        for (; at > 0 && l->wish[row[at - 1]] > l->wish[spot]; at--)
            row[at] = row[at - 1];
        row[at] = spot;
    }
    for (size_t i = 0; i < l->n_in_row[r]; i++)
        l->layout.spots[row[i]].x = (double)i;
}

static void order_rows(struct laying *l)
{
    uint32_t n_rows = l->layout.n_layers;
    for (int sweep = 0; sweep < ORDER_SWEEPS; sweep++)
        for (uint32_t i = 1; i < n_rows; i++) {
            bool goes_down = sweep % 2 == 0;
            uint32_t r = goes_down ? i : n_rows - 1 - i;
            for (size_t s = 0; s < l->n_in_row[r]; s++)
                wish(l, l->rows[r][s], goes_down ? &l->above : &l->below);
            sort_row(l, r);
        }
}

/* ---- places ---------------------------------------------------------------------------------- */

static double half_width(const struct laying *l, uint32_t spot)
{
    return l->layout.spots[spot].box == AMP_NONE ? 0 : l->width / 2;
}

/* Spots that touch each other and move together. */
struct block {
    double sum, weight; /* of their wishes, less their distances from the first spot of the row */
    size_t count;
};

static double middle(const struct block *block)
{
    return block->sum / block->weight;
}

/* Places the spots of a row as near to their wishes as their order and widths allow. Crossings
   count more, so that long edges are straight. */
static void place_row(struct laying *l, uint32_t r, struct block *blocks)
{
    const uint32_t *row = l->rows[r];
    size_t n_blocks = 0;
    double distance = 0;
    for (size_t i = 0; i < l->n_in_row[r]; i++) {
        double weight = l->layout.spots[row[i]].box == AMP_NONE ? 4 : 1;
        if (i > 0)
            distance += half_width(l, row[i - 1]) + l->gap + half_width(l, row[i]);
        blocks[n_blocks++] = (struct block){weight * (l->wish[row[i]] - distance), weight, 1};
        while (n_blocks > 1 && middle(&blocks[n_blocks - 2]) > middle(&blocks[n_blocks - 1])) {
            struct block *last = &blocks[--n_blocks];
            blocks[n_blocks - 1].sum += last->sum;
            blocks[n_blocks - 1].weight += last->weight;
            blocks[n_blocks - 1].count += last->count;
        }
    }
    distance = 0;
    for (size_t b = 0, i = 0; b < n_blocks; b++)
        for (size_t end = i + blocks[b].count; i < end; i++) {
            if (i > 0)
                distance += half_width(l, row[i - 1]) + l->gap + half_width(l, row[i]);
            l->layout.spots[row[i]].x = middle(&blocks[b]) + distance;
        }
}

static void place_rows(struct laying *l)
{
    uint32_t n_rows = l->layout.n_layers;
    struct block *blocks = amp_arena_array(l->arena, l->layout.n_spots, sizeof *blocks);
    for (size_t s = 0; s < l->layout.n_spots; s++)
        l->layout.spots[s].x *= l->width;
    for (int sweep = 0; sweep < PLACE_SWEEPS; sweep++)
        for (uint32_t i = 0; i < n_rows; i++) {
            bool goes_down = sweep % 2 == 1;
            uint32_t r = goes_down ? i : n_rows - 1 - i;
            for (size_t s = 0; s < l->n_in_row[r]; s++)
                wish(l, l->rows[r][s], goes_down ? &l->above : &l->below);
            place_row(l, r, blocks);
        }
}

/* Moves all so that the leftmost begins at 0. */
static void move_to_edge(struct laying *l)
{
    double least = 0;
    for (uint32_t s = 0; s < l->layout.n_spots; s++) {
        double left = l->layout.spots[s].x - half_width(l, s);
        least = s == 0 || left < least ? left : least;
    }
    for (size_t s = 0; s < l->layout.n_spots; s++)
        l->layout.spots[s].x -= least;
}

struct amp_layout amp_layout_fold(const struct amp_fold *fold, double width, double gap,
                                  struct amp_arena *arena)
{
    struct laying l = {.fold = fold, .arena = arena, .width = width, .gap = gap};
    make_spots(&l);
    l.above = find_neighbours(&l, true);
    l.below = find_neighbours(&l, false);
    l.wish = amp_arena_array(arena, l.layout.n_spots, sizeof *l.wish);
    make_rows(&l);
    order_rows(&l);
    place_rows(&l);
    move_to_edge(&l);
    return l.layout;
}
