/*
 * What models select by comparing values. Finds in a graph which outputs are behind a selection and
 * what they are made of, compares the selections of two models as sets, and runs a model on the
 * selections of another. Takes what operators say of themselves; knows none by name.
 */
#include "check/selection.h"

#include "check/pairs.h"
#include "core/graph/copy.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"
#include "run/exec/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the graph ------------------------------------------------------------------------------- */

/* How much of a value an output depends on. */
enum need { NEEDS_NOTHING, NEEDS_SHAPE, NEEDS_ELEMENTS };

struct survey {
    const struct amp_model *model;
    struct amp_selections *found;
    struct amp_ids *reads; /* per node of the main graph: values of that which it or a body reads */
    bool *varies;          /* per value: errors of floats come to it */
    bool *is_behind;       /* per value: behind a selection */
    bool *is_source;       /* per value: in SOURCES */
    uint32_t *selection_of; /* per value: the selection that it is; AMP_NONE: none */
    unsigned char *needs;   /* per value: what the output at hand needs of it */
    size_t capacity;
};

static void push(struct survey *s, struct amp_ids *ids, uint32_t id)
{
    uint32_t *slot =
        amp_arena_push(s->found->arena, &ids->items, &ids->count, &ids->capacity, sizeof *slot);
    *slot = id;
}

/* Notes that node ID, or a body of CONTAINER that it is in, reads COUNT values. */
static void add_reads(struct survey *s, uint32_t container, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count && container != AMP_NONE; i++)
        if (values[i] != AMP_NONE && amp_value_at(s->model, values[i])->graph == 0)
            push(s, &s->reads[container], values[i]);
}

static void find_reads(struct survey *s)
{
    const struct amp_model *model = s->model;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (!node->is_removed)
            add_reads(s, amp_graph_container(model, id, 0), node->inputs, node->n_inputs);
    }
    for (size_t g = 1; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        add_reads(s, amp_graph_container(model, graph->owner, 0), graph->outputs.items,
                  graph->outputs.count);
    }
}

static bool is_float(const struct survey *s, uint32_t value)
{
    return amp_dtype_class(amp_value_at(s->model, value)->dtype) == AMP_CLASS_FLOAT;
}

/* The value that says what output SLOT of NODE selects; AMP_NONE: that is no selection. */
static uint32_t selected_by(const struct survey *s, const struct amp_node *node, uint32_t slot)
{
    const struct amp_op *op = amp_op_of(node);
    if (op == NULL || (op->selects.outputs & AMP_INPUT(slot)) == 0)
        return AMP_NONE;
    uint32_t by = op->selects.by == 0 ? node->outputs[slot] : node->inputs[op->selects.by];
    const struct amp_value *value = amp_value_at(s->model, by);
    return s->varies[by] && value->dtype != AMP_STRING ? by : AMP_NONE;
}

static void add_selection(struct survey *s, uint32_t node, uint32_t value)
{
    struct amp_selections *found = s->found;
    if (s->selection_of[value] != AMP_NONE)
        return;
    s->selection_of[value] = (uint32_t)found->count;
    struct amp_selection *added =
        amp_arena_push(found->arena, &found->items, &found->count, &s->capacity, sizeof *added);
    *added = (struct amp_selection){.node = node, .values = {value, AMP_NONE}};
}

/* Follows errors and selections through node ID. */
static void pass(struct survey *s, uint32_t id)
{
    const struct amp_node *node = amp_node_at(s->model, id);
    const struct amp_op *op = amp_op_of(node);
    bool varies = false, is_behind = false;
    for (size_t i = 0; i < s->reads[id].count; i++) {
        uint32_t value = s->reads[id].items[i];
        is_behind |= s->is_behind[value];
        varies |= op != NULL && op->reads_shape ? s->is_behind[value] : s->varies[value];
    }
    if (op != NULL && op->overwrites)
        is_behind = s->is_behind[node->inputs[0]];
    s->found->has_products |= is_behind && op != NULL && op->flops.count != NULL;
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t value = node->outputs[k];
        if (value == AMP_NONE || amp_value_at(s->model, value)->constant != NULL)
            continue;
        s->varies[value] = varies || is_float(s, value);
        uint32_t by = selected_by(s, node, k);
        s->is_behind[value] = is_behind || by != AMP_NONE;
        if (by != AMP_NONE)
            add_selection(s, id, by);
    }
}

/* Notes that the output at hand needs NEED of VALUE. The shape of what is behind no selection is
   the same in both models. */
static void need(struct survey *s, uint32_t value, enum need need)
{
    if (!s->is_behind[value] && is_float(s, value)) {
        bool is_made = amp_value_at(s->model, value)->producer != AMP_NONE;
        s->is_source[value] |= need == NEEDS_ELEMENTS && s->varies[value] && is_made;
        return;
    }
    if (need > s->needs[value])
        s->needs[value] = (unsigned char)need;
}

/* What the output at hand needs of NODE's results; what it selects among them goes to REACHES. */
static enum need need_of(const struct survey *s, const struct amp_node *node, bool *reaches)
{
    enum need most = NEEDS_NOTHING;
    for (uint32_t k = 0; k < node->n_outputs; k++) {
        uint32_t value = node->outputs[k];
        if (value == AMP_NONE || s->needs[value] == NEEDS_NOTHING)
            continue;
        uint32_t by = selected_by(s, node, k);
        if (by != AMP_NONE)
            reaches[s->selection_of[by]] = true;
        enum need here = by != AMP_NONE ? NEEDS_ELEMENTS : (enum need)s->needs[value];
        most = here > most ? here : most;
    }
    return most;
}

/* Goes from output OUTPUT back to the selections that it is behind and to what they select from.
   The shape of a result comes from the shapes of floats and the elements of what is no float. */
static void trace(struct survey *s, size_t output)
{
    const struct amp_graph *graph = &s->model->graphs[0];
    bool *reaches = s->found->reaches + output * s->found->count;
    memset(s->needs, NEEDS_NOTHING, s->model->n_values);
    s->needs[graph->outputs.items[output]] = NEEDS_ELEMENTS;
    for (size_t i = graph->nodes.count; i-- > 0;) {
        uint32_t id = graph->nodes.items[i];
        const struct amp_op *op = amp_op_of(amp_node_at(s->model, id));
        enum need most = need_of(s, amp_node_at(s->model, id), reaches);
        for (size_t k = 0; k < s->reads[id].count && most != NEEDS_NOTHING; k++) {
            uint32_t value = s->reads[id].items[k];
            bool is_shape =
                (op != NULL && op->reads_shape) || (most == NEEDS_SHAPE && is_float(s, value));
            need(s, value, is_shape ? NEEDS_SHAPE : NEEDS_ELEMENTS);
        }
    }
}

static struct survey create_survey(const struct amp_model *model, struct amp_selections *found)
{
    struct amp_arena *arena = found->arena;
    size_t n = model->n_values;
    struct survey s = {.model = model, .found = found};
    s.reads = amp_arena_array(arena, model->n_nodes, sizeof *s.reads);
    s.varies = amp_arena_array(arena, n, sizeof *s.varies);
    s.is_behind = amp_arena_array(arena, n, sizeof *s.is_behind);
    s.is_source = amp_arena_array(arena, n, sizeof *s.is_source);
    s.needs = amp_arena_array(arena, n, sizeof *s.needs);
    s.selection_of = amp_arena_array(arena, n, sizeof *s.selection_of);
    for (uint32_t v = 0; v < model->n_values; v++) {
        s.selection_of[v] = AMP_NONE;
        s.varies[v] = is_float(&s, v) && amp_value_at(model, v)->constant == NULL;
    }
    return s;
}

struct amp_selections amp_selections_find(const struct amp_model *model)
{
    const struct amp_graph *graph = &model->graphs[0];
    struct amp_selections found = {
        .model = model, .n_outputs = graph->outputs.count, .arena = amp_arena_create()};
    struct survey s = create_survey(model, &found);
    find_reads(&s);
    for (size_t i = 0; i < graph->nodes.count; i++)
        pass(&s, graph->nodes.items[i]);
    if (found.count == 0)
        return found;
    found.reaches = amp_arena_array(found.arena, found.n_outputs * found.count, 1);
    for (size_t o = 0; o < found.n_outputs; o++)
        if (s.is_behind[graph->outputs.items[o]])
            trace(&s, o);
    for (uint32_t v = 0; v < model->n_values; v++)
        if (s.is_source[v])
            push(&s, &found.sources, v);
    return found;
}

void amp_selections_free(struct amp_selections *selections)
{
    amp_arena_destroy(selections->arena);
    *selections = (struct amp_selections){.count = 0};
}

/* Takes out the selections that no output is behind. */
static void drop_unreached(struct amp_selections *s)
{
    size_t n = 0, before = s->count;
    for (size_t i = 0; i < before; i++) {
        bool is_reached = false;
        for (size_t o = 0; o < s->n_outputs; o++)
            is_reached |= s->reaches[o * before + i];
        for (size_t o = 0; o < s->n_outputs; o++)
            s->reaches[o * before + n] = s->reaches[o * before + i];
        if (is_reached)
            s->items[n++] = s->items[i];
    }
    for (size_t o = 0; o < s->n_outputs; o++)
        memmove(s->reaches + o * n, s->reaches + o * before, n);
    s->count = n;
}

void amp_selections_pair(struct amp_selections *selections, const struct amp_model *converted)
{
    size_t count = selections->count;
    if (count == 0)
        return;
    struct amp_pairs pairs = amp_pairs_create(selections->model, converted);
    for (size_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < pairs.count; c++)
            if (pairs.of[c] == selections->items[i].values[0])
                selections->items[i].values[1] = c;
    amp_pairs_destroy(&pairs);
    for (size_t o = 0; o < selections->n_outputs; o++)
        for (size_t i = 0; i < count; i++)
            if (amp_selections_reach(selections, o, i) &&
                selections->items[i].values[1] == AMP_NONE)
                memset(selections->reaches + o * count, false, count);
    drop_unreached(selections);
}

bool amp_selections_reach(const struct amp_selections *selections, size_t output, size_t selection)
{
    return selections->reaches[output * selections->count + selection];
}

bool amp_output_is_selected(const struct amp_selections *selections, size_t output)
{
    for (size_t i = 0; i < selections->count; i++)
        if (amp_selections_reach(selections, output, i))
            return true;
    return false;
}

char *amp_selection_node_text(const struct amp_selections *selections,
                              const struct amp_selection *selection, char *text, size_t size)
{
    const struct amp_node *node = amp_node_at(selections->model, selection->node);
    const char *name = node->name[0] != '\0'
                           ? node->name
                           : amp_value_at(selections->model, selection->values[0])->name;
    snprintf(text, size, "%s '%s'", node->op_type, name);
    return text;
}

/* ---- sets of items --------------------------------------------------------------------------- */

/* COUNT items of WIDTH numbers each. */
struct items {
    int64_t *numbers;
    size_t count, width;
};

/* A tensor seen along an axis. */
struct axis_view {
    const struct amp_tensor *tensor;
    size_t outer, dim, inner;
};

static struct axis_view view_along(const struct amp_tensor *tensor, int64_t axis)
{
    const struct amp_shape *shape = &tensor->shape;
    int rank = shape->rank, at = axis < 0 ? (int)axis + rank : (int)axis;
    at = at >= rank ? rank - 1 : at;
    if (at < 0)
        return (struct axis_view){tensor, 1, amp_tensor_count(tensor), 1};
    return (struct axis_view){.tensor = tensor,
                              .outer = (size_t)amp_shape_product(shape, 0, at),
                              .dim = (size_t)shape->dims[at],
                              .inner = (size_t)amp_shape_product(shape, at + 1, rank)};
}

/* Element I as a number that is equal to that of equal elements, of whatever float type. */
static int64_t number_at(const struct amp_tensor *tensor, size_t i)
{
    int64_t bits;
    if (amp_dtype_class(tensor->dtype) != AMP_CLASS_FLOAT)
        return amp_tensor_int(tensor, i);
    double value = amp_tensor_double(tensor, i) + 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static struct items read_entries(const struct axis_view *view)
{
    struct items items = {.count = view->dim, .width = view->outer * view->inner};
    items.numbers = amp_xmalloc(items.count * items.width, sizeof *items.numbers);
    for (size_t a = 0; a < view->dim; a++)
        for (size_t k = 0; k < items.width; k++)
            items.numbers[a * items.width + k] = number_at(
                view->tensor, (k / view->inner * view->dim + a) * view->inner + k % view->inner);
    return items;
}

static struct items read_elements(const struct axis_view *view)
{
    struct items items = {.count = amp_tensor_count(view->tensor), .width = 2};
    items.numbers = amp_xmalloc(2 * items.count, sizeof *items.numbers);
    for (size_t i = 0; i < items.count; i++) {
        size_t line = i / (view->dim * view->inner) * view->inner + i % view->inner;
        items.numbers[2 * i] = (int64_t)line;
        items.numbers[2 * i + 1] = number_at(view->tensor, i);
    }
    return items;
}

static struct items read_true(const struct axis_view *view)
{
    size_t count = amp_tensor_count(view->tensor);
    struct items items = {.width = 1};
    items.numbers = amp_xmalloc(count, sizeof *items.numbers);
    for (size_t i = 0; i < count; i++)
        if (amp_tensor_int(view->tensor, i) != 0)
            items.numbers[items.count++] = (int64_t)i;
    return items;
}

static int compare_items(const void *a, const void *b, void *context)
{
    const int64_t *x = a, *y = b;
    const size_t *width = context;
    for (size_t i = 0; i < *width; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* The items of TENSOR, which says what NODE selects, in ascending order; the caller frees NUMBERS.
 */
static struct items items_of(const struct amp_node *node, const struct amp_tensor *tensor)
{
    static struct items (*const read[])(const struct axis_view *view) = {
        [AMP_ITEMS_ENTRIES] = read_entries,
        [AMP_ITEMS_ELEMENTS] = read_elements,
        [AMP_ITEMS_TRUE] = read_true};
    const struct amp_selects *selects = &amp_op_of(node)->selects;
    struct axis_view view = view_along(tensor, amp_node_int(node, "axis", selects->axis));
    struct items items = read[selects->items](&view);
    if (items.width > 0)
        qsort_r(items.numbers, items.count, items.width * sizeof *items.numbers, compare_items,
                &items.width);
    return items;
}

static size_t count_common(const struct items *a, const struct items *b)
{
    size_t i = 0, k = 0, common = 0, width = a->width;
    while (i < a->count && k < b->count) {
        int order = compare_items(a->numbers + i * width, b->numbers + k * width, &width);
        common += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return common;
}

void amp_selection_add(const struct amp_selections *selections, size_t selection,
                       const struct amp_tensor *reference, const struct amp_tensor *converted)
{
    struct amp_selection *to = &selections->items[selection];
    const struct amp_node *node = amp_node_at(selections->model, to->node);
    struct items items[2] = {items_of(node, reference), items_of(node, converted)};
    size_t larger = items[0].count > items[1].count ? items[0].count : items[1].count;
    size_t common = items[0].width == items[1].width ? count_common(&items[0], &items[1]) : 0;
    to->larger += larger;
    to->otherwise += larger - common;
    for (int i = 0; i < 2; i++) {
        to->items[i] += items[i].count;
        free(items[i].numbers);
    }
}

double amp_selection_differ(const struct amp_selection *selection)
{
    return selection->larger == 0 ? 0 : (double)selection->otherwise / (double)selection->larger;
}

const struct amp_selection *amp_selection_worst(const struct amp_selections *selections,
                                                size_t output)
{
    const struct amp_selection *worst = NULL;
    for (size_t i = 0; i < selections->count; i++) {
        const struct amp_selection *at = &selections->items[i];
        if (amp_selections_reach(selections, output, i) &&
            (worst == NULL || amp_selection_differ(at) > amp_selection_differ(worst)))
            worst = at;
    }
    return worst;
}

bool amp_selection_is_same(const struct amp_tensor *reference, const struct amp_tensor *converted)
{
    if (!amp_shape_equal(&reference->shape, &converted->shape))
        return false;
    for (size_t i = 0; i < amp_tensor_count(reference); i++)
        if (number_at(reference, i) != number_at(converted, i))
            return false;
    return true;
}

/* ---- models and runs ------------------------------------------------------------------------- */

static void add_output(struct amp_model *model, uint32_t value)
{
    amp_ids_push(model, &model->graphs[0].outputs, value);
    amp_value_at(model, value)->is_output = true;
}

const struct amp_model *amp_selections_watch(const struct amp_selections *selections,
                                             const struct amp_model *model, int side)
{
    struct amp_model *watched = amp_model_copy(model, selections->arena);
    for (size_t i = 0; i < selections->count; i++)
        add_output(watched, selections->items[i].values[side]);
    return watched;
}

/* Has SESSION go on with what SELECTED says, which the reference selected, in place of VALUE. */
static enum amp_status give(const struct amp_selections *selections, size_t selection,
                            struct amp_session *session, const struct amp_tensor *selected,
                            struct amp_error *err)
{
    uint32_t value = selections->items[selection].values[1];
    struct amp_tensor own = {.dtype = AMP_UNDEFINED}, given = {.dtype = AMP_UNDEFINED};
    enum amp_dtype dtype = amp_value_at(amp_walk_model(session), value)->dtype;
    AMP_TRY(amp_walk_get(session, value, &own, err));
    amp_selection_add(selections, selection, selected, &own);
    amp_tensor_release(&own);
    AMP_TRY(amp_tensor_cast_copy(selected, dtype, &given, err));
    enum amp_status status = amp_walk_set(session, value, &given, err);
    amp_tensor_release(&given);
    return status;
}

static enum amp_status walk(const struct amp_selections *selections, struct amp_session *session,
                            const struct amp_tensor *selected, const uint32_t *selection_of,
                            struct amp_error *err)
{
    for (size_t step = 0; step < amp_walk_count(session); step++) {
        const struct amp_node *node =
            amp_node_at(amp_walk_model(session), amp_walk_node(session, step));
        AMP_TRY(amp_walk_compute(session, step, err));
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            uint32_t i = node->outputs[k] == AMP_NONE ? AMP_NONE : selection_of[node->outputs[k]];
            if (i != AMP_NONE)
                AMP_TRY(give(selections, i, session, &selected[i], err));
        }
        amp_walk_release(session, step);
    }
    return AMP_OK;
}

enum amp_status amp_selections_give(const struct amp_selections *selections,
                                    struct amp_session *session, const struct amp_tensor *inputs,
                                    const struct amp_tensor *selected, struct amp_tensor *outputs,
                                    struct amp_error *err)
{
    struct amp_error unused = {.status = AMP_OK};
    size_t n_values = amp_walk_model(session)->n_values;
    uint32_t *selection_of = amp_xmalloc(n_values, sizeof *selection_of);
    for (size_t v = 0; v < n_values; v++)
        selection_of[v] = AMP_NONE;
    for (size_t i = 0; i < selections->count; i++)
        selection_of[selections->items[i].values[1]] = (uint32_t)i;
    enum amp_status status = amp_walk_begin(session, inputs, err);
    if (status == AMP_OK)
        status = walk(selections, session, selected, selection_of, err);
    if (status == AMP_OK)
        status = amp_walk_end(session, outputs, err);
    else
        AMP_IGNORE(amp_walk_end(session, NULL, &unused));
    free(selection_of);
    return status;
}

/* The values of MODEL that have the names of the sources, to IDS; false when one is not there. */
static bool find_sources(const struct amp_selections *selections, const struct amp_model *model,
                         uint32_t *ids)
{
    struct amp_strmap names = {.count = 0};
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_value_at(model, v)->graph == 0)
            amp_strmap_put(&names, selections->arena, amp_value_at(model, v)->name, v);
    for (size_t i = 0; i < selections->sources.count; i++) {
        uint32_t source = selections->sources.items[i];
        if (!amp_strmap_get(&names, amp_value_at(selections->model, source)->name, &ids[i]) ||
            amp_value_at(model, ids[i])->constant != NULL)
            return false;
    }
    return true;
}

const struct amp_model *amp_selections_expose(const struct amp_selections *selections,
                                              const struct amp_model *model,
                                              struct amp_arena *arena)
{
    size_t n_sources = selections->sources.count;
    uint32_t *ids = amp_arena_array(selections->arena, n_sources, sizeof *ids);
    if (n_sources == 0 || selections->has_products || !find_sources(selections, model, ids))
        return model;
    struct amp_model *exposed = amp_model_copy(model, arena);
    struct amp_ids *outputs = &exposed->graphs[0].outputs;
    size_t n = 0;
    for (size_t o = 0; o < outputs->count; o++) {
        bool is_kept = !amp_output_is_selected(selections, o);
        amp_value_at(exposed, outputs->items[o])->is_output = is_kept;
        outputs->items[n] = outputs->items[o];
        n += is_kept;
    }
    outputs->count = n;
    for (size_t i = 0; i < n_sources; i++)
        if (!amp_value_at(exposed, ids[i])->is_output)
            add_output(exposed, ids[i]);
    return exposed;
}
