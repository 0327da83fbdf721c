/*
 * Finds functions that the exporter for torch.export took apart, where no line of the program names
 * them. Takes the nodes of a graph with the exporter's notes, which may be any texts, and what the
 * table of PyTorch's names (rules/pytorch.map, `apart`) says of a function: the operators of ATen's
 * that it becomes, one behind the other, as the exporter always writes them. Gives how many noted
 * calls are that. Does not say which of several functions counts.
 */
#include "autocast/apart.h"

#include "autocast/notes.h"
#include "core/array.h"
#include "ops/op.h"

#include <string.h>

/* ---- noted calls ---- */

struct amp_noted_calls amp_noted_calls_read(const struct amp_model *model, uint32_t graph)
{
    const struct amp_ids *nodes = &model->graphs[graph].nodes;
    struct amp_noted_calls calls = {.items = NULL};
    const char *last = NULL; /* the note of the last call */
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i]);
        const char *note = node->note.fx_node;
        if (node->is_removed || note == NULL)
            continue;
        if (last == NULL || (note != last && strcmp(note, last) != 0)) {
            struct amp_noted_call *call = amp_arena_push(model->arena, &calls.items, &calls.count,
                                                         &calls.capacity, sizeof *call);
            *call = (struct amp_noted_call){.begin = i};
            amp_note_call(node, &call->op, &call->overload, &call->args);
        }
        calls.items[calls.count - 1].end = i + 1;
        last = note;
    }
    return calls;
}

/* ---- items of the table ---- */

/* Whether the text from ITEM to one of ENDS is TEXT; *REST is what follows it. */
static bool begins_with(const char *item, const char *ends, struct amp_str text, const char **rest)
{
    size_t size = strcspn(item, ends);
    *rest = item + size;
    return size == text.size && memcmp(item, text.data, size) == 0;
}

/* Whether CALL is "op", "op.overload", "op(text)" or "op.overload(text)"; the text is among its
   arguments. */
static bool is_call(const struct amp_noted_call *call, const char *item)
{
    const char *at;
    if (!begins_with(item, ".(|?", call->op, &at))
        return false;
    if (*at == '.' && !begins_with(at + 1, "(|?", call->overload, &at))
        return false;
    return *at != '(' ||
           memmem(call->args.data, call->args.size, at + 1, strcspn(at + 1, ")")) != NULL;
}

/* Whether CALL is one of the alternatives of ITEM. */
static bool fits(const struct amp_noted_call *call, const char *item)
{
    while (item != NULL && !is_call(call, item)) {
        item = strchr(item, '|');
        item = item != NULL ? item + 1 : NULL;
    }
    return item != NULL;
}

static bool may_miss(const char *item)
{
    return item[strlen(item) - 1] == '?';
}

static bool is_constant(const struct amp_torch_map *map, const struct amp_noted_call *call)
{
    const struct amp_torch_texts *constants = amp_torch_map_constants(map);
    for (size_t i = 0; i < constants->count; i++)
        if (is_call(call, constants->items[i]))
            return true;
    return false;
}

/* ---- matching ---- */

/* Calls that are held against the items of what a function is taken apart into. */
struct fitting {
    const struct amp_torch_map *map;
    const struct amp_torch_apart *apart;
    const struct amp_noted_calls *calls;
};

/* The calls from AT on that fit the items from ITEM on: the one after the last, 0 where they do
   not. AFTER: the one after the last that fitted an item. */
static size_t end_of(const struct fitting *fitting, size_t item, size_t at, size_t after)
{
    const struct amp_torch_apart *apart = fitting->apart;
    const struct amp_noted_calls *calls = fitting->calls;
    if (item == apart->into.count)
        return after;
    size_t next = at;
    while (item > 0 && next < calls->count && is_constant(fitting->map, &calls->items[next]))
        next++;
    const char *text = apart->into.items[item];
    if (next < calls->count && fits(&calls->items[next], text)) {
        size_t end = end_of(fitting, item + 1, next + 1, next + 1);
        if (end > 0)
            return end;
    }
    return may_miss(text) ? end_of(fitting, item + 1, at, after) : 0;
}

/* Whether LINE calls OP, or one of the table's names that OP is noted for. */
static bool writes_out(const struct amp_torch_map *map, const char *line, struct amp_str op)
{
    const struct amp_torch_notes *notes = amp_torch_map_aten(map);
    if (amp_line_calls(line, op))
        return true;
    for (size_t i = 0; i < notes->count; i++) {
        const struct amp_torch_note *note = &notes->items[i];
        if (strlen(note->text) == op.size && memcmp(note->text, op.data, op.size) == 0 &&
            amp_line_calls(line, (struct amp_str){note->name, strlen(note->name)}))
            return true;
    }
    return false;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether COUNT calls have one stack trace, or none, whose line writes out none of them. */
static bool is_by_one_line(const struct amp_apart_search *search, const struct amp_ids *nodes,
                           const struct amp_noted_call *calls, size_t count)
{
    const struct amp_node *first = amp_node_at(search->model, nodes->items[calls[0].begin]);
    const char *line = amp_note_line(first);
    for (size_t i = 0; i < count; i++) {
        const struct amp_node *node = amp_node_at(search->model, nodes->items[calls[i].begin]);
        if (!is_same(node->note.stack_trace, first->note.stack_trace) ||
            (line != NULL && writes_out(search->map, line, calls[i].op)))
            return false;
    }
    return true;
}

/* Whether no node that takes VALUE stands behind LAST, and the graph does not give it out. */
static bool is_inner(const struct amp_apart_search *search, uint32_t value, uint32_t last)
{
    const struct amp_uses *uses = search->uses;
    for (uint32_t u = uses->first[value]; u < uses->first[value + 1]; u++)
        if (search->place_of[uses->items[u].node] > last)
            return false;
    return !amp_value_at(search->model, value)->is_output;
}

/* Whether nobody else takes VALUE; who takes a cast of it, which a conversion puts right behind it,
   takes it. */
static bool is_kept_inside(const struct amp_apart_search *search, uint32_t value, uint32_t last)
{
    const struct amp_uses *uses = search->uses;
    for (uint32_t u = uses->first[value]; u < uses->first[value + 1]; u++) {
        const struct amp_node *user = amp_node_at(search->model, uses->items[u].node);
        if (user->note.fx_node == NULL && amp_node_has_role(user, AMP_ROLE_CAST) &&
            !is_inner(search, user->outputs[0], last))
            return false;
    }
    return is_inner(search, value, last);
}

/* Whether what COUNT calls but the last give is taken by no others. */
static bool is_closed(const struct amp_apart_search *search, const struct amp_ids *nodes,
                      const struct amp_noted_call *calls, size_t count)
{
    uint32_t last = search->place_of[nodes->items[calls[count - 1].end - 1]];
    for (size_t i = calls[0].begin; i < calls[count - 1].begin; i++) {
        const struct amp_node *node = amp_node_at(search->model, nodes->items[i]);
        for (uint32_t o = 0; o < node->n_outputs && node->note.fx_node != NULL; o++)
            if (node->outputs[o] != AMP_NONE && !is_kept_inside(search, node->outputs[o], last))
                return false;
    }
    return true;
}

/* Whether the node that gives VALUE is for a call that is named as ARGUMENT begins, stands before
   FIRST and makes no constant. */
static bool is_argument_elsewhere(const struct amp_apart_search *search, uint32_t value,
                                  struct amp_str argument, uint32_t first)
{
    uint32_t producer = value != AMP_NONE ? amp_value_at(search->model, value)->producer : AMP_NONE;
    if (producer == AMP_NONE || search->place_of[producer] >= first)
        return false;
    const struct amp_node *node = amp_node_at(search->model, producer);
    if (node->note.fx_node == NULL ||
        strncmp(node->note.fx_node, argument.data, argument.size) != 0)
        return false;
    struct amp_noted_call call = {.begin = 0};
    amp_note_call(node, &call.op, &call.overload, &call.args);
    return !is_constant(search->map, &call);
}

/* Whether a node of CALL takes such a value. */
static bool takes_elsewhere(const struct amp_apart_search *search, const struct amp_ids *nodes,
                            const struct amp_noted_call *call, struct amp_str argument,
                            uint32_t first)
{
    for (size_t i = call->begin; i < call->end; i++) {
        const struct amp_node *node = amp_node_at(search->model, nodes->items[i]);
        for (uint32_t k = 0; k < node->n_inputs; k++)
            if (is_argument_elsewhere(search, node->inputs[k], argument, first))
                return true;
    }
    return false;
}

/* Whether the arguments that items name are given by COUNT calls themselves, or were folded: who
   writes the parts out has them in another order, and what may be missing elsewhere. */
static bool has_arguments(const struct amp_apart_search *search,
                          const struct amp_torch_apart *apart, const struct amp_ids *nodes,
                          const struct amp_noted_call *calls, size_t count)
{
    uint32_t first = search->place_of[nodes->items[calls[0].begin]];
    for (size_t k = 0; k < apart->into.count; k++) {
        const char *item = apart->into.items[k], *at = strchr(item, '%');
        struct amp_str argument = {at, at != NULL ? strcspn(at, ",)") : 0};
        for (size_t i = 0; i < count && at != NULL; i++)
            if (fits(&calls[i], item) && takes_elsewhere(search, nodes, &calls[i], argument, first))
                return false;
    }
    return true;
}

size_t amp_apart_match(const struct amp_apart_search *search, const struct amp_torch_apart *apart,
                       uint32_t graph, const struct amp_noted_calls *calls, size_t at)
{
    const struct amp_ids *nodes = &search->model->graphs[graph].nodes;
    const struct amp_noted_call *first = &calls->items[at];
    const struct fitting fitting = {search->map, apart, calls};
    size_t end = end_of(&fitting, 0, at, at);
    if (end <= at || !is_by_one_line(search, nodes, first, end - at) ||
        !is_closed(search, nodes, first, end - at) ||
        !has_arguments(search, apart, nodes, first, end - at))
        return 0;
    return end - at;
}
