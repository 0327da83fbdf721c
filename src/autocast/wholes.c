/*
 * Finds what was one operator in PyTorch. Takes a model with inferred types and the rules with
 * their table of PyTorch's names; gives groups of nodes. First come the composites that
 * pattern/composites.h finds and that count by the table, then the modules of torch.nn and the
 * operators of ATen's that the exporter noted. Decides on no precision.
 */
#include "autocast/wholes.h"

#include "autocast/apart.h"
#include "autocast/notes.h"
#include "autocast/rules/torch_map.h"
#include "core/array.h"
#include "core/graph/uses.h"
#include "ops/op.h"
#include "pattern/composites.h"

#include <stdlib.h>
#include <string.h>

struct finder {
    const struct amp_model *model;
    const struct amp_rules *rules;
    const struct amp_torch_map *map; /* NULL: the rules name no operator of PyTorch's */
    struct amp_wholes *wholes;
    struct amp_uses uses;
    const char **apart_names; /* as which of the table's functions that are taken apart rules know
                                 each; NULL: as none */
    uint32_t *place_of;       /* per node id: when it is decided on */
    uint32_t n_places;
    bool is_by_torch; /* torch.onnx wrote the model */
    int opset;
};

bool amp_node_promotes(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL && node->domain[0] == '\0' && (op->is_elementwise || op->promotes);
}

/* ---- what the rules name ---- */

static bool names_composite(const struct amp_rule_op *op, const char *name)
{
    return op->name != NULL && strcmp(op->name, name) == 0 &&
           (op->domain[0] == '\0' || strcmp(op->domain, AMP_RULES_COMPOSITE) == 0);
}

/* Whether a rule names composite NAME, by a name of PyTorch's only if WITH_TORCH. */
static bool is_composite_named(const struct amp_rules *rules, const char *name, bool with_torch)
{
    for (size_t r = 0; r < rules->count; r++)
        for (size_t i = 0; i < rules->items[r].n_ops; i++) {
            const struct amp_rule_op *op = &rules->items[r].ops[i];
            if ((with_torch || !op->is_torch) && names_composite(op, name))
                return true;
        }
    return false;
}

/* Whether a rule names PyTorch's NAME. */
static bool is_torch_named(const struct amp_rules *rules, const char *name)
{
    for (size_t r = 0; r < rules->count; r++)
        for (size_t i = 0; i < rules->items[r].n_ops; i++)
            if (rules->items[r].ops[i].is_torch && strcmp(rules->items[r].ops[i].word, name) == 0)
                return true;
    return false;
}

/* ---- notes ---- */

static bool is_text(struct amp_str str, const char *text)
{
    return strlen(text) == str.size && memcmp(str.data, text, str.size) == 0;
}

static bool is_among(struct amp_str str, const struct amp_torch_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        if (is_text(str, texts->items[i]))
            return true;
    return false;
}

static bool same_note(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* ---- composites ---- */

/* Whether all nodes come from one operator of ATen's. */
static bool is_one_operator(const struct amp_model *model, const uint32_t *nodes, size_t n_nodes)
{
    const char *first = amp_node_at(model, nodes[0])->note.fx_node;
    for (size_t i = 1; i < n_nodes; i++)
        if (!same_note(amp_node_at(model, nodes[i])->note.fx_node, first))
            return false;
    return first != NULL;
}

/* Whether the exporter notes nothing of the nodes but what it takes the composite apart into, and
   nobody wrote that out: their lines do not call the operators. */
static bool notes_fit(const struct amp_model *model, const struct amp_torch_composite *composite,
                      const uint32_t *nodes, size_t n_nodes)
{
    for (size_t i = 0; i < n_nodes; i++) {
        const struct amp_node *node = amp_node_at(model, nodes[i]);
        struct amp_str aten = amp_note_aten(node);
        if (aten.size > 0 &&
            (composite == NULL || !is_among(aten, &composite->aten) ||
             (amp_note_line(node) != NULL && amp_line_calls(amp_note_line(node), aten))))
            return false;
    }
    return true;
}

/* Whether the form of the composite is none that torch.onnx writes. */
static bool is_by_hand(const struct finder *finder, const struct amp_composite *composite,
                       const struct amp_torch_composite *torch, const uint32_t *nodes,
                       size_t n_nodes)
{
    if (finder->is_by_torch && composite->torch_below > 0 &&
        finder->opset >= composite->torch_below)
        return true;
    for (size_t i = 0; i < n_nodes; i++) {
        const char *op_type = amp_node_at(finder->model, nodes[i])->op_type;
        if (is_among((struct amp_str){op_type, strlen(op_type)}, &torch->parts_with))
            return true;
    }
    return false;
}

static bool is_any_taken(const struct amp_wholes *wholes, const uint32_t *nodes, size_t n_nodes)
{
    for (size_t i = 0; i < n_nodes; i++)
        if (wholes->whole_of[nodes[i]] != AMP_NONE)
            return true;
    return false;
}

static bool counts(const void *context, const struct amp_composite *composite,
                   const uint32_t *nodes, size_t n_nodes)
{
    const struct finder *finder = context;
    const struct amp_torch_composite *torch = amp_torch_map_composite(finder->map, composite->name);
    if (is_any_taken(finder->wholes, nodes, n_nodes) ||
        is_one_operator(finder->model, nodes, n_nodes) ||
        !notes_fit(finder->model, torch, nodes, n_nodes))
        return false;
    if (torch == NULL || torch->runs == AMP_TORCH_RUNS_WHOLE)
        return true;
    if (torch->runs == AMP_TORCH_RUNS_BY_FORM &&
        !is_by_hand(finder, composite, torch, nodes, n_nodes))
        return true;
    return is_composite_named(finder->rules, composite->name, torch->runs == AMP_TORCH_RUNS_PARTS);
}

/* ---- wholes ---- */

/* Whether the parts of WHOLE, and the operator that it is where ONNX has it, all compute element by
   element, or only move data. */
static bool promotes(const struct amp_model *model, const struct amp_whole *whole)
{
    const struct amp_op *op =
        whole->composite != NULL ? amp_op_find("", whole->composite->name) : NULL;
    bool any = false;
    if (op != NULL)
        return op->is_elementwise;
    for (size_t i = 0; i < whole->n_nodes; i++) {
        const struct amp_node *node = amp_node_at(model, whole->nodes[i]);
        op = amp_op_of(node);
        if (node->n_inputs == 0)
            continue;
        if (amp_node_promotes(node))
            any = true;
        else if (op == NULL || op->effect != AMP_PRESERVES_VALUES)
            return false;
    }
    return any;
}

static void add_whole(struct finder *finder, struct amp_whole whole)
{
    struct amp_wholes *wholes = finder->wholes;
    for (size_t i = 0; i < whole.n_nodes; i++)
        wholes->whole_of[whole.nodes[i]] = (uint32_t)wholes->count;
    *(struct amp_whole *)amp_arena_push(finder->model->arena, &wholes->items, &wholes->count,
                                        &wholes->capacity, sizeof whole) = whole;
}

static void add_composites(struct finder *finder)
{
    const struct amp_composite_filter filter = {counts, finder};
    struct amp_composites found;
    amp_composites_find(finder->model, finder->map != NULL ? &filter : NULL, &found);
    for (size_t i = 0; i < found.n_matches; i++) {
        const struct amp_composite_match *match = &found.matches[i];
        struct amp_whole whole = {.composite = match->composite,
                                  .name = match->composite->name,
                                  .subject = {.model = finder->model,
                                              .node = match->entry,
                                              .domain = AMP_RULES_COMPOSITE,
                                              .op_type = match->composite->name},
                                  .root = match->root,
                                  .entry = match->entry,
                                  .nodes = match->nodes,
                                  .n_nodes = match->n_nodes};
        whole.promotes = promotes(finder->model, &whole);
        add_whole(finder, whole);
    }
}

/* ---- wholes by note ---- */

/* Nodes that follow each other in a graph and have the same note. */
struct run {
    struct amp_str note; /* by which they are one: the FX node, or the modules around it */
    const char *name;    /* of what they are */
    uint32_t *nodes;
    size_t n_nodes, capacity;
};

static void add_name(struct amp_arena *arena, struct amp_torch_texts *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    *(const char **)amp_arena_push(arena, &names->items, &names->count, &names->capacity,
                                   sizeof *names->items) = name;
}

/* The first node of the run that is one of FORMS, with their condition; AMP_NONE: there is none. */
static uint32_t node_of_form(const struct finder *finder, const struct run *run,
                             const struct amp_rule_ops *forms)
{
    for (size_t i = 0; i < run->n_nodes; i++) {
        struct amp_rule_subject subject = amp_rule_subject(finder->model, run->nodes[i]);
        for (size_t k = 0; k < forms->count; k++)
            if (amp_rule_op_fits(finder->rules, &forms->items[k], &subject))
                return run->nodes[i];
    }
    return AMP_NONE;
}

/* The table's names for what the run was, its own first. */
static struct amp_torch_texts names_of(const struct finder *finder, const struct run *run,
                                       const struct amp_torch_notes *notes)
{
    struct amp_torch_texts names = {.items = NULL};
    struct amp_arena *arena = finder->model->arena;
    if (amp_torch_map_find(finder->map, run->name) != NULL)
        add_name(arena, &names, run->name);
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->items[i].text, run->name) == 0 &&
            (notes->items[i].condition == NULL ||
             node_of_form(finder, run, notes->items[i].forms) != AMP_NONE))
            add_name(arena, &names, notes->items[i].name);
    return names;
}

/* The composites that the table has for NAMES. */
static struct amp_torch_texts composites_of(const struct finder *finder,
                                            const struct amp_torch_texts *names)
{
    struct amp_torch_texts composites = {.items = NULL};
    for (size_t i = 0; i < names->count; i++) {
        const struct amp_torch_name *row = amp_torch_map_find(finder->map, names->items[i]);
        for (size_t k = 0; row != NULL && k < row->forms.count; k++)
            if (row->forms.items[k].name != NULL &&
                strcmp(row->forms.items[k].domain, AMP_RULES_COMPOSITE) == 0)
                add_name(finder->model->arena, &composites, row->forms.items[k].name);
    }
    return composites;
}

/* Whether autocast sees the parts of what COMPOSITES are, one by one. */
static bool runs_parts(const struct finder *finder, const struct amp_torch_texts *composites)
{
    for (size_t i = 0; i < composites->count; i++) {
        const struct amp_torch_composite *torch =
            amp_torch_map_composite(finder->map, composites->items[i]);
        if (torch != NULL && torch->runs == AMP_TORCH_RUNS_PARTS &&
            !is_composite_named(finder->rules, composites->items[i], true))
            return true;
    }
    return false;
}

/* The node whose inputs a rule may ask for: one that a name has as its form, else the first. */
static uint32_t entry_of(const struct finder *finder, const struct run *run,
                         const struct amp_torch_texts *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct amp_torch_name *row = amp_torch_map_find(finder->map, names->items[i]);
        uint32_t node = row != NULL ? node_of_form(finder, run, &row->forms) : AMP_NONE;
        if (node != AMP_NONE)
            return node;
    }
    return run->nodes[0];
}

/* Whether a node that is not of the whole to be added next takes VALUE before PLACE. */
static bool is_used_before(const struct finder *finder, uint32_t value, uint32_t place)
{
    const struct amp_uses *uses = &finder->uses;
    for (uint32_t u = uses->first[value]; u < uses->first[value + 1]; u++) {
        uint32_t user = uses->items[u].node;
        if (finder->place_of[user] < place &&
            finder->wholes->whole_of[user] != (uint32_t)finder->wholes->count)
            return true;
    }
    return false;
}

/* Whether nobody else takes what a node of the run gives before its last is decided on. */
static bool is_closed(const struct finder *finder, const struct run *run)
{
    uint32_t last = finder->place_of[run->nodes[run->n_nodes - 1]];
    for (size_t i = 0; i < run->n_nodes; i++)
        finder->wholes->whole_of[run->nodes[i]] = (uint32_t)finder->wholes->count;
    for (size_t i = 0; i < run->n_nodes; i++) {
        const struct amp_node *node = amp_node_at(finder->model, run->nodes[i]);
        for (uint32_t o = 0; o < node->n_outputs; o++)
            if (node->outputs[o] != AMP_NONE && is_used_before(finder, node->outputs[o], last))
                return false;
    }
    return true;
}

/* Adds the whole that the nodes of RUN are, in the table NAMES and COMPOSITES. */
static void add_noted(struct finder *finder, const struct run *run,
                      const struct amp_torch_texts *names, const struct amp_torch_texts *composites,
                      bool promotes)
{
    uint32_t entry = entry_of(finder, run, names);
    const struct amp_node *node = amp_node_at(finder->model, entry);
    add_whole(finder, (struct amp_whole){.name = run->name,
                                         .subject = {.model = finder->model,
                                                     .node = entry,
                                                     .domain = node->domain,
                                                     .op_type = node->op_type,
                                                     .is_noted = true,
                                                     .names = names->items,
                                                     .n_names = names->count,
                                                     .composites = composites->items,
                                                     .n_composites = composites->count},
                                         .root = run->nodes[run->n_nodes - 1],
                                         .entry = entry,
                                         .nodes = run->nodes,
                                         .n_nodes = run->n_nodes,
                                         .asks_float32 = amp_note_asks_float32(node),
                                         .promotes = promotes});
}

/* Makes a whole of the run, or one of each node where it cannot be decided on at its end. */
static void close_run(struct finder *finder, const struct run *run,
                      const struct amp_torch_notes *notes)
{
    if (run->n_nodes == 0)
        return;
    struct amp_torch_texts names = names_of(finder, run, notes);
    struct amp_torch_texts composites = composites_of(finder, &names);
    if (runs_parts(finder, &composites))
        return;
    bool run_promotes =
        promotes(finder->model, &(struct amp_whole){.nodes = run->nodes, .n_nodes = run->n_nodes});
    if (is_closed(finder, run)) {
        add_noted(finder, run, &names, &composites, run_promotes);
        return;
    }
    for (size_t i = 0; i < run->n_nodes; i++)
        add_noted(finder, &(struct run){run->note, run->name, &run->nodes[i], 1, 1}, &names,
                  &composites, run_promotes);
}

/* How nodes are noted: as text by which those of one whole are told, and the name of what it is.
   Empty: not at all. */
struct notation {
    struct amp_str (*note)(const struct finder *finder, const struct amp_node *node,
                           const char **name);
    const struct amp_torch_notes *(*notes)(const struct amp_torch_map *map);
};

/* Whether both are the same texts in memory, as they are for all nodes of one call: they are then
   read once, however long and however many. */
static bool is_same_text(const struct amp_export_note *a, const struct amp_export_note *b)
{
    return a->fx_node == b->fx_node && a->scope == b->scope && a->stack_trace == b->stack_trace;
}

static void add_noted_of_graph(struct finder *finder, uint32_t graph,
                               const struct notation *notation)
{
    const struct amp_ids *nodes = &finder->model->graphs[graph].nodes;
    struct run run = {.note = {"", 0}};
    struct amp_export_note read = {.fx_node = NULL}; /* what NOTE and NAME were read from */
    struct amp_str note = {"", 0};
    const char *name = NULL;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(finder->model, nodes->items[i]);
        if (node->is_removed || finder->wholes->whole_of[nodes->items[i]] != AMP_NONE)
            continue;
        if (!is_same_text(&node->note, &read)) {
            name = NULL;
            note = notation->note(finder, node, &name);
            read = node->note;
        }
        bool goes_on =
            note.size == run.note.size &&
            (note.data == run.note.data || memcmp(note.data, run.note.data, note.size) == 0);
        if (note.size == 0 && node->note.fx_node == NULL)
            continue;
        if (!goes_on) {
            close_run(finder, &run, notation->notes(finder->map));
            run = (struct run){.note = note, .name = name};
        }
        if (note.size > 0)
            *(uint32_t *)amp_arena_push(finder->model->arena, &run.nodes, &run.n_nodes,
                                        &run.capacity, sizeof *run.nodes) = nodes->items[i];
    }
    close_run(finder, &run, notation->notes(finder->map));
}

/* The modules around a node up to the innermost that a rule names: "...: torch.nn.modules.rnn.
   GRUCell". */
static struct amp_str note_of_module(const struct finder *finder, const struct amp_node *node,
                                     const char **name)
{
    const struct amp_torch_notes *notes = amp_torch_map_modules(finder->map);
    struct amp_str found = {"", 0};
    for (size_t i = 0; i < notes->count && node->note.scope != NULL; i++) {
        const char *text = notes->items[i].text, *at = strstr(node->note.scope, text);
        if (at == NULL || (at[strlen(text)] != '/' && at[strlen(text)] != '\0') ||
            !is_torch_named(finder->rules, notes->items[i].name))
            continue;
        found = (struct amp_str){node->note.scope, (size_t)(at - node->note.scope) + strlen(text)};
        *name = text;
    }
    return found;
}

/* The one of the functions that the exporter takes apart that LINE calls; NULL: none, or several.
 */
static const char *called(const struct finder *finder, const char *line)
{
    const struct amp_torch_texts *names = amp_torch_map_calls(finder->map);
    const char *found = NULL;
    for (size_t i = 0; i < names->count; i++) {
        if (!amp_line_calls(line, (struct amp_str){names->items[i], strlen(names->items[i])}))
            continue;
        if (found != NULL)
            return NULL;
        found = names->items[i];
    }
    return found;
}

/* The function that the exporter took apart into what the node is for, where a rule names it: by
   the line that called it, the last of the stack trace, unless that calls the node's own operator.
 */
static struct amp_str note_of_call(const struct finder *finder, const struct amp_node *node,
                                   const char **name)
{
    const char *line = amp_note_line(node);
    struct amp_str aten = amp_note_aten(node), none = {"", 0};
    *name = line != NULL ? called(finder, line) : NULL;
    if (*name == NULL || (aten.size > 0 && amp_line_calls(line, aten)) ||
        !is_torch_named(finder->rules, *name))
        return none;
    return (struct amp_str){node->note.stack_trace, strlen(node->note.stack_trace)};
}

static struct amp_str note_of_fx_node(const struct finder *finder, const struct amp_node *node,
                                      const char **name)
{
    struct amp_str aten = amp_note_aten(node);
    if (aten.size == 0)
        return aten;
    *name = amp_arena_strndup(finder->model->arena, aten.data, aten.size);
    return (struct amp_str){node->note.fx_node, strlen(node->note.fx_node)};
}

/* Modules and calls come before what they are made of. */
static void add_by_notes(struct finder *finder)
{
    static const struct notation notations[] = {{note_of_module, amp_torch_map_modules},
                                                {note_of_call, amp_torch_map_aten},
                                                {note_of_fx_node, amp_torch_map_aten}};
    for (size_t i = 0; i < AMP_COUNT(notations); i++)
        for (uint32_t g = 0; g < finder->model->n_graphs; g++)
            add_noted_of_graph(finder, g, &notations[i]);
}

/* ---- wholes by what they become ---- */

/* The first of the table's names for APART that a rule names; NULL: none. */
static const char *named_of(const struct finder *finder, const struct amp_torch_apart *apart)
{
    for (size_t i = 0; i < apart->names.count; i++)
        if (is_torch_named(finder->rules, apart->names.items[i]))
            return apart->names.items[i];
    return NULL;
}

/* Makes a whole of the nodes of COUNT calls from FIRST on. */
static void add_apart(struct finder *finder, uint32_t graph, const struct amp_noted_call *first,
                      size_t count, const char *name)
{
    const struct amp_ids *nodes = &finder->model->graphs[graph].nodes;
    struct run run = {.name = name};
    for (size_t i = first->begin; i < first[count - 1].end; i++) {
        const struct amp_node *node = amp_node_at(finder->model, nodes->items[i]);
        if (!node->is_removed && node->note.fx_node != NULL)
            *(uint32_t *)amp_arena_push(finder->model->arena, &run.nodes, &run.n_nodes,
                                        &run.capacity, sizeof *run.nodes) = nodes->items[i];
    }
    close_run(finder, &run, amp_torch_map_aten(finder->map));
}

/* How many calls from AT on are one function of the table's that rules know; *NAME is as which. */
static size_t find_apart(const struct finder *finder, uint32_t graph,
                         const struct amp_noted_calls *calls, size_t at, const char **name)
{
    const struct amp_torch_aparts *aparts = amp_torch_map_apart(finder->map);
    const struct amp_apart_search search = {finder->model, &finder->uses, finder->place_of,
                                            finder->map};
    size_t count = 0;
    for (size_t i = 0; i < aparts->count && count == 0; i++) {
        *name = finder->apart_names[i];
        if (*name != NULL)
            count = amp_apart_match(&search, &aparts->items[i], graph, calls, at);
    }
    return count;
}

/* The functions of the graph that rules name and the exporter took apart: what the table has first
   counts. */
static void add_aparts(struct finder *finder, uint32_t graph)
{
    struct amp_noted_calls calls = amp_noted_calls_read(finder->model, graph);
    for (size_t at = 0; at < calls.count;) {
        const char *name = NULL;
        size_t count = find_apart(finder, graph, &calls, at, &name);
        if (count > 0)
            add_apart(finder, graph, &calls.items[at], count, name);
        at += count > 0 ? count : 1;
    }
}

static void add_by_parts(struct finder *finder)
{
    const struct amp_torch_aparts *aparts = amp_torch_map_apart(finder->map);
    finder->apart_names =
        amp_arena_array(finder->model->arena, aparts->count, sizeof *finder->apart_names);
    for (size_t i = 0; i < aparts->count; i++)
        finder->apart_names[i] = named_of(finder, &aparts->items[i]);
    for (uint32_t g = 0; g < finder->model->n_graphs; g++)
        add_aparts(finder, g);
}

/* ---- wholes by what becomes of them ---- */

/* Whether NODE is a softmax whose result, a float32, is nothing but converted to float32: so
   TorchScript's exporter writes one that was asked for it, softmax(x, -1, dtype=torch.float32)
   (torch/onnx/symbolic_opset13.py). */
static bool is_softmax_in_float32(const struct finder *finder, const struct amp_node *node)
{
    if ((!amp_node_has_role(node, AMP_ROLE_SOFTMAX) &&
         !amp_node_has_role(node, AMP_ROLE_LOG_SOFTMAX)) ||
        node->note.fx_node != NULL || node->outputs[0] == AMP_NONE)
        return false;
    uint32_t value = node->outputs[0], first = finder->uses.first[value];
    uint32_t end = finder->uses.first[value + 1];
    const struct amp_value *result = amp_value_at(finder->model, value);
    bool is_converted = first < end && !result->is_output && result->dtype == AMP_FLOAT;
    for (uint32_t u = first; u < end && is_converted; u++) {
        const struct amp_node *user = amp_node_at(finder->model, finder->uses.items[u].node);
        is_converted = amp_node_has_role(user, AMP_ROLE_CAST) &&
                       amp_value_at(finder->model, user->outputs[0])->dtype == AMP_FLOAT;
    }
    return is_converted;
}

static void add_softmaxes_in_float32(struct finder *finder)
{
    for (uint32_t id = 0; id < finder->model->n_nodes && finder->is_by_torch; id++) {
        const struct amp_node *node = amp_node_at(finder->model, id);
        if (node->is_removed || finder->wholes->whole_of[id] != AMP_NONE ||
            !is_softmax_in_float32(finder, node))
            continue;
        uint32_t *nodes = amp_arena_array(finder->model->arena, 1, sizeof *nodes);
        nodes[0] = id;
        bool is_log = amp_node_has_role(node, AMP_ROLE_LOG_SOFTMAX);
        add_whole(finder, (struct amp_whole){.name = is_log ? "log_softmax" : "softmax",
                                             .subject = amp_rule_subject(finder->model, id),
                                             .root = id,
                                             .entry = id,
                                             .nodes = nodes,
                                             .n_nodes = 1,
                                             .asks_float32 = true});
    }
}

/* ---- the search ---- */

/* Numbers the nodes of GRAPH as they are decided on: bodies before the nodes that have them. */
static void number_nodes(struct finder *finder, uint32_t graph)
{
    const struct amp_ids *nodes = &finder->model->graphs[graph].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(finder->model, nodes->items[i]);
        for (uint32_t a = 0; a < node->n_attrs; a++)
            for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
                number_nodes(finder, node->attrs[a].graphs[k]);
        finder->place_of[nodes->items[i]] = finder->n_places++;
    }
}

const struct amp_wholes *amp_wholes_find(const struct amp_model *model,
                                         const struct amp_rules *rules)
{
    struct amp_wholes *wholes = amp_arena_alloc(model->arena, sizeof *wholes);
    struct finder finder = {.model = model,
                            .rules = rules,
                            .map = rules->torch,
                            .wholes = wholes,
                            .is_by_torch = amp_model_is_by_torch(model),
                            .opset = (int)amp_model_opset(model, "")};
    *wholes = (struct amp_wholes){.n_nodes = model->n_nodes};
    wholes->whole_of = amp_arena_array(model->arena, model->n_nodes, sizeof(uint32_t));
    memset(wholes->whole_of, 0xff, model->n_nodes * sizeof(uint32_t));
    if (finder.map == NULL) {
        add_composites(&finder);
        return wholes;
    }
    finder.uses = amp_uses_create(model);
    finder.place_of = amp_xcalloc(model->n_nodes, sizeof *finder.place_of);
    number_nodes(&finder, 0);
    add_by_parts(&finder);
    add_composites(&finder);
    add_by_notes(&finder);
    add_softmaxes_in_float32(&finder);
    free(finder.place_of);
    amp_uses_destroy(&finder.uses);
    return wholes;
}

const struct amp_whole *amp_wholes_of(const struct amp_wholes *wholes, uint32_t node)
{
    if (node >= wholes->n_nodes || wholes->whole_of[node] == AMP_NONE)
        return NULL;
    return &wholes->items[wholes->whole_of[node]];
}
