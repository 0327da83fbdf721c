/*
 * Pairs the values of two models that stand for the same: by name; through the casts that a
 * conversion leaves between a value and its name; and, where names say nothing, by position: the
 * longest common subsequence of what nodes compute, in an order that depends on the graph alone, so
 * that named pairs hold the others in place. What was paired by position has to read the same as
 * its counterpart as far as that is known, weights included. Takes models whose types are inferred;
 * runs nothing and changes nothing.
 */
#include "check/pairs.h"

#include "check/alignment.h"
#include "core/hash.h"
#include "core/tensor.h"
#include "ops/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct side {
    const struct amp_model *model;
    bool *is_fixed;    /* per value: it is the same in every run */
    uint32_t *partner; /* per value: its pair in the other model; AMP_NONE: none */
};

struct pairing {
    struct side sides[2]; /* reference, converted */
    uint32_t *aligned;    /* per value of the converted model that has no pair: what position
                             suggests, which has none either; AMP_NONE: nothing */
    struct amp_pairs *pairs;
};

/* ---- values ---------------------------------------------------------------------------------- */

bool amp_pairs_is_cast(const struct amp_model *model, const struct amp_node *node)
{
    return amp_node_has_role(node, AMP_ROLE_CAST) &&
           amp_dtype_is_autocast(amp_value_at(model, node->inputs[0])->dtype) &&
           amp_dtype_is_autocast(amp_value_at(model, node->outputs[0])->dtype);
}

/* The value that VALUE is a cast of; AMP_NONE: it is no cast. */
static uint32_t cast_of(const struct amp_model *model, uint32_t value)
{
    uint32_t producer = amp_value_at(model, value)->producer;
    if (producer == AMP_NONE || !amp_pairs_is_cast(model, amp_node_at(model, producer)))
        return AMP_NONE;
    return amp_node_at(model, producer)->inputs[0];
}

/* Whether all that NODE reads is the same in every run. */
static bool reads_fixed(const struct side *side, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    if (op == NULL || op->effect == AMP_OPAQUE)
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && !side->is_fixed[node->inputs[i]])
            return false;
    return true;
}

static struct side create_side(const struct amp_model *model)
{
    struct side side = {.model = model,
                        .is_fixed = amp_xcalloc(model->n_values, sizeof *side.is_fixed),
                        .partner = amp_xmalloc(model->n_values, sizeof *side.partner)};
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    for (uint32_t v = 0; v < model->n_values; v++) {
        side.is_fixed[v] = amp_value_at(model, v)->constant != NULL;
        side.partner[v] = AMP_NONE;
    }
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i]);
        bool is_fixed = reads_fixed(&side, node);
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                side.is_fixed[node->outputs[k]] |= is_fixed;
    }
    return side;
}

/* Whether VALUE is one of the main graph that differs from run to run. */
static bool takes_part(const struct side *side, uint32_t value)
{
    const struct amp_value *v = amp_value_at(side->model, value);
    return v->graph == 0 && !v->is_removed && !side->is_fixed[value] &&
           (v->producer != AMP_NONE || v->is_input);
}

static bool is_computed(const struct side *side, uint32_t value)
{
    return takes_part(side, value) && amp_value_at(side->model, value)->producer != AMP_NONE;
}

static bool are_comparable(const struct amp_value *a, const struct amp_value *b)
{
    bool are_floats = amp_dtype_class(a->dtype) == AMP_CLASS_FLOAT &&
                      amp_dtype_class(b->dtype) == AMP_CLASS_FLOAT;
    return a->kind == b->kind && (are_floats || a->dtype == b->dtype);
}

static void set_pair(struct pairing *p, uint32_t r, uint32_t c, enum amp_pairing_kind kind)
{
    p->pairs->of[c] = r;
    p->pairs->kind[c] = kind;
    p->sides[0].partner[r] = c;
    p->sides[1].partner[c] = r;
}

/* ---- names ----------------------------------------------------------------------------------- */

static void pair_names(struct pairing *p)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_strmap names = {.count = 0};
    const struct side *reference = &p->sides[0], *converted = &p->sides[1];
    for (uint32_t r = 0; r < reference->model->n_values; r++)
        if (takes_part(reference, r))
            amp_strmap_put(&names, arena, amp_value_at(reference->model, r)->name, r);
    for (uint32_t c = 0; c < converted->model->n_values; c++) {
        const struct amp_value *value = amp_value_at(converted->model, c);
        uint32_t r;
        if (takes_part(converted, c) && amp_strmap_get(&names, value->name, &r) &&
            are_comparable(amp_value_at(reference->model, r), value))
            set_pair(p, r, c, AMP_PAIRED_BY_NAME);
    }
    amp_arena_destroy(arena);
}

/* Where a cast that loses nothing has the name, the value before it is the one to compare. */
static void pair_through_casts(struct pairing *p)
{
    const struct side *converted = &p->sides[1];
    for (uint32_t name = 0; name < converted->model->n_values; name++) {
        uint32_t r = p->pairs->of[name], c = name, before;
        while (r != AMP_NONE && (before = cast_of(converted->model, c)) != AMP_NONE &&
               p->pairs->of[before] == AMP_NONE && is_computed(converted, before) &&
               amp_dtype_is_exact(amp_value_at(converted->model, before)->dtype,
                                  amp_value_at(converted->model, c)->dtype)) {
            p->pairs->of[c] = converted->partner[c] = AMP_NONE;
            set_pair(p, r, before, AMP_PAIRED_BY_CASTS);
            c = before;
        }
    }
}

/* ---- position -------------------------------------------------------------------------------- */

/* Whether VALUE has no pair, and is of use in one. Casts come and go, those of integers too. */
static bool is_open(const struct side *side, uint32_t value)
{
    if (!is_computed(side, value) || side->partner[value] != AMP_NONE)
        return false;
    uint32_t producer = amp_value_at(side->model, value)->producer;
    return !amp_node_has_role(amp_node_at(side->model, producer), AMP_ROLE_CAST);
}

static bool has_open(const struct side *side)
{
    bool is_found = false;
    for (uint32_t v = 0; v < side->model->n_values && !is_found; v++)
        is_found = is_open(side, v);
    return is_found;
}

/* What values in the same place have in common when they stand for the same: operator, type, shape
   and which output of the node it is. */
static uint32_t key_of(const struct amp_model *model, const struct amp_node *node, uint32_t slot)
{
    const struct amp_value *value = amp_value_at(model, node->outputs[slot]);
    bool is_float = amp_dtype_class(value->dtype) == AMP_CLASS_FLOAT;
    int64_t words[4 + AMP_RANK_MAX] = {slot, value->kind, is_float ? -1 : (int64_t)value->dtype,
                                       value->rank};
    size_t count = 4;
    for (int i = 0; i < value->rank; i++)
        words[count++] = value->dims[i] < 0 ? AMP_DIM_UNKNOWN : value->dims[i];
    uint32_t hash = amp_hash_fnv(node->op_type, strlen(node->op_type), 0);
    hash = hash * 31 + amp_hash_fnv(node->domain, strlen(node->domain), 0);
    return hash * 31 + amp_hash_fnv(words, count * sizeof *words, 0);
}

/* Writes the values that nodes of SIDE compute into ITEMS, in an order of the graph's own. */
static size_t list_values(const struct side *side, bool is_reference, struct amp_aligned *items)
{
    size_t count = 0, n_nodes;
    uint32_t *nodes = amp_alignment_order(side->model, &n_nodes);
    for (size_t i = 0; i < n_nodes; i++) {
        const struct amp_node *node = amp_node_at(side->model, nodes[i]);
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            uint32_t v = node->outputs[k];
            if (v == AMP_NONE || (!is_open(side, v) && side->partner[v] == AMP_NONE))
                continue;
            uint32_t name = is_reference ? v : side->partner[v];
            bool is_paired = side->partner[v] != AMP_NONE;
            items[count++] =
                (struct amp_aligned){.value = v,
                                     .is_paired = is_paired,
                                     .key = is_paired ? name : key_of(side->model, node, k)};
        }
    }
    free(nodes);
    return count;
}

/* Suggests pairs for the values that names leave open. */
static void align(struct pairing *p)
{
    struct amp_aligned *items[2];
    size_t counts[2];
    if (!has_open(&p->sides[0]) || !has_open(&p->sides[1]))
        return;
    for (int i = 0; i < 2; i++) {
        items[i] = amp_xmalloc(p->sides[i].model->n_values, sizeof *items[i]);
        counts[i] = list_values(&p->sides[i], i == 0, items[i]);
    }
    amp_alignment_find(items[0], counts[0], items[1], counts[1]);
    for (size_t k = 0; k < counts[1]; k++)
        if (!items[1][k].is_paired)
            p->aligned[items[1][k].value] = items[1][k].partner;
    free(items[0]);
    free(items[1]);
}

/* Element I of a constant; false: it has no number there. */
static bool read_element(const struct amp_tensor *tensor, size_t i, double *number)
{
    struct amp_tensor one = {.dtype = tensor->dtype};
    uint64_t room[2];
    if (tensor->dtype == AMP_STRING || amp_dtype_bits(tensor->dtype) < 8 ||
        amp_dtype_class(tensor->dtype) == AMP_CLASS_COMPLEX)
        return false;
    if (tensor->data == NULL) {
        amp_tensor_convert(tensor, i, 1, room);
        one.data = room;
        i = 0;
    }
    *number = amp_tensor_double(tensor->data == NULL ? &one : tensor, i);
    return true;
}

/* Whether two constants may be the same weights, rounded or even damaged, by some of their
   elements: those of other nodes point in other directions. */
static bool are_alike(const struct amp_tensor *a, const struct amp_tensor *b)
{
    enum { PROBES = 64 };
    static const double least_cosine = 0.9;
    double product = 0, squares[2] = {0, 0};
    if (!amp_shape_equal(&a->shape, &b->shape))
        return false;
    size_t count = amp_tensor_count(a), step = count > PROBES ? count / PROBES : 1;
    for (size_t i = 0; i < count; i += step) {
        double x, y;
        if (!read_element(a, i, &x) || !read_element(b, i, &y) || !isfinite(x) || !isfinite(y))
            continue;
        product += x * y;
        squares[0] += x * x;
        squares[1] += y * y;
    }
    double scale = sqrt(squares[0]) * sqrt(squares[1]);
    return product >= least_cosine * scale; /* without a direction as well */
}

/* What VALUE was before all casts, those of integers too, which conversions take out. */
static uint32_t uncast(const struct amp_model *model, uint32_t value)
{
    for (uint32_t producer; (producer = amp_value_at(model, value)->producer) != AMP_NONE;) {
        const struct amp_node *node = amp_node_at(model, producer);
        if (!amp_node_has_role(node, AMP_ROLE_CAST))
            break;
        value = node->inputs[0];
    }
    return value;
}

/* What is known of whether two values are the same; more is less likely. */
enum sameness { SAME, UNKNOWN, DIFFERENT };

/* Whether value R of the reference and C of the other, both read in one place, are the same. */
static enum sameness compare_reads(const struct pairing *p, uint32_t r, uint32_t c)
{
    const struct amp_model *reference = p->sides[0].model, *converted = p->sides[1].model;
    if (r == AMP_NONE || c == AMP_NONE)
        return r == c ? SAME : DIFFERENT;
    const struct amp_tensor *a = amp_value_at(reference, r)->constant;
    const struct amp_tensor *b = amp_value_at(converted, c)->constant;
    if (a != NULL && b != NULL)
        return are_alike(a, b) ? SAME : DIFFERENT;
    if (p->sides[0].is_fixed[r] || p->sides[1].is_fixed[c])
        return p->sides[0].is_fixed[r] == p->sides[1].is_fixed[c] ? SAME : DIFFERENT;
    uint32_t source = p->pairs->source[c];
    if (source == AMP_NONE)
        source = p->pairs->source[uncast(converted, c)];
    if (source == AMP_NONE)
        return UNKNOWN;
    return uncast(reference, source) == uncast(reference, r) ? SAME : DIFFERENT;
}

static enum sameness worse(enum sameness a, enum sameness b)
{
    return a > b ? a : b;
}

/* Whether nodes A and B, of one operator that is known, read the same. */
static enum sameness compare_nodes(const struct pairing *p, const struct amp_node *a,
                                   const struct amp_node *b)
{
    enum sameness straight = SAME, crossed = DIFFERENT;
    if (a->n_inputs != b->n_inputs)
        return DIFFERENT;
    for (uint32_t i = 0; i < a->n_inputs; i++)
        straight = worse(straight, compare_reads(p, a->inputs[i], b->inputs[i]));
    if (amp_op_of(a)->is_commutative && a->n_inputs == 2)
        crossed = worse(compare_reads(p, a->inputs[0], b->inputs[1]),
                        compare_reads(p, a->inputs[1], b->inputs[0]));
    return straight < crossed ? straight : crossed;
}

/* Whether values R and C, in one place, are to be taken for the same. Where what their nodes read
   is not known to be, the nodes have to compute: data are moved about in many alike places. */
static bool is_acceptable(const struct pairing *p, uint32_t r, uint32_t c)
{
    const struct amp_value *value = amp_value_at(p->sides[0].model, r);
    const struct amp_value *other = amp_value_at(p->sides[1].model, c);
    const struct amp_node *a = amp_node_at(p->sides[0].model, value->producer);
    const struct amp_node *b = amp_node_at(p->sides[1].model, other->producer);
    const struct amp_op *op = amp_op_of(a);
    if (op == NULL || op != amp_op_of(b) || !are_comparable(value, other))
        return false;
    bool computes = op->effect == AMP_COMPUTES && amp_dtype_class(value->dtype) == AMP_CLASS_FLOAT;
    return compare_nodes(p, a, b) <= (computes ? UNKNOWN : SAME);
}

/* Finds the source of value C, those of what its node reads being known, and accepts the pair that
   its position suggests. */
static void settle(struct pairing *p, uint32_t c)
{
    const struct side *converted = &p->sides[1];
    uint32_t before = cast_of(converted->model, c), r = p->aligned[c];
    if (r != AMP_NONE && is_acceptable(p, r, c))
        set_pair(p, r, c, AMP_PAIRED_BY_POSITION);
    p->pairs->source[c] = p->pairs->of[c];
    if (p->pairs->of[c] == AMP_NONE && before != AMP_NONE)
        p->pairs->source[c] = p->pairs->source[before];
}

static void settle_all(struct pairing *p)
{
    const struct amp_model *model = p->sides[1].model;
    const struct amp_graph *graph = &model->graphs[0];
    for (size_t i = 0; i < graph->inputs.count; i++)
        settle(p, graph->inputs.items[i]);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct amp_node *node = amp_node_at(model, graph->nodes.items[i]);
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                settle(p, node->outputs[k]);
    }
}

/* ---- the pairs ------------------------------------------------------------------------------- */

/* Pairs of a graph input are there to say what is read; they are not compared. */
static void drop_inputs(struct pairing *p)
{
    for (uint32_t c = 0; c < p->sides[1].model->n_values; c++) {
        uint32_t r = p->pairs->of[c];
        if (r != AMP_NONE && (!is_computed(&p->sides[0], r) || !is_computed(&p->sides[1], c)))
            p->pairs->of[c] = AMP_NONE;
    }
}

/* The number of values that have no pair, nor a cast that has one. */
static size_t count_unpaired(const struct side *side)
{
    size_t count = 0;
    bool *is_cast = amp_xcalloc(side->model->n_values, sizeof *is_cast);
    for (uint32_t v = 0; v < side->model->n_values; v++)
        if (side->partner[v] != AMP_NONE && cast_of(side->model, v) != AMP_NONE)
            is_cast[cast_of(side->model, v)] = true;
    for (uint32_t v = 0; v < side->model->n_values; v++)
        count += is_open(side, v) && !is_cast[v];
    free(is_cast);
    return count;
}

struct amp_pairs amp_pairs_create(const struct amp_model *reference,
                                  const struct amp_model *converted)
{
    size_t n_values = converted->n_values;
    struct amp_pairs pairs = {.count = n_values,
                              .of = amp_xmalloc(n_values, sizeof *pairs.of),
                              .kind = amp_xcalloc(n_values, sizeof *pairs.kind),
                              .source = amp_xmalloc(n_values, sizeof *pairs.source)};
    struct pairing p = {.sides = {create_side(reference), create_side(converted)},
                        .aligned = amp_xmalloc(n_values, sizeof *p.aligned),
                        .pairs = &pairs};
    for (size_t c = 0; c < n_values; c++)
        pairs.of[c] = pairs.source[c] = p.aligned[c] = AMP_NONE;
    pair_names(&p);
    pair_through_casts(&p);
    align(&p);
    settle_all(&p);
    for (int i = 0; i < 2; i++)
        pairs.n_unpaired[i] = count_unpaired(&p.sides[i]);
    drop_inputs(&p);
    for (int i = 0; i < 2; i++) {
        free(p.sides[i].is_fixed);
        free(p.sides[i].partner);
    }
    free(p.aligned);
    return pairs;
}

void amp_pairs_destroy(struct amp_pairs *pairs)
{
    free(pairs->of);
    free(pairs->kind);
    free(pairs->source);
    *pairs = (struct amp_pairs){.of = NULL};
}
