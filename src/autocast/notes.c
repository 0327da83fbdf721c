/*
 * Reads what PyTorch's exporters note of nodes: that for torch.export in their metadata
 * (torch/onnx/_internal/exporter, PyTorch 2.6), TorchScript's in their names. Takes the texts as
 * they are, which may be anything; gives the parts of them that tell which operator a node is for,
 * or a constant was of.
 */
#include "autocast/notes.h"

#include "autocast/rules/rule.h"
#include "core/strmap.h"
#include "ops/op.h"

#include <ctype.h>
#include <string.h>

bool amp_model_is_by_torch(const struct amp_model *model)
{
    return model->producer != NULL && strcmp(model->producer, "pytorch") == 0;
}

/* What follows TEXT in the note of NODE; empty where the note does not have it. */
static const char *after(const struct amp_node *node, const char *text)
{
    const char *found = node->note.fx_node != NULL ? strstr(node->note.fx_node, text) : NULL;
    return found != NULL ? found + strlen(text) : "";
}

struct amp_str amp_note_aten(const struct amp_node *node)
{
    const char *name = after(node, "[target=torch.ops.aten.");
    return (struct amp_str){name, strcspn(name, ".](")};
}

void amp_note_call(const struct amp_node *node, struct amp_str *op, struct amp_str *overload,
                   struct amp_str *args)
{
    const char *name = after(node, "[target=torch.ops."), *rest = after(node, "](args = (");
    name += strcspn(name, ".](");
    name += *name == '.';
    *op = (struct amp_str){name, strcspn(name, ".](")};
    const char *end = name + op->size + (name[op->size] == '.');
    *overload = (struct amp_str){end, strcspn(end, "](")};
    *args = (struct amp_str){rest, strlen(rest)};
}

const char *amp_note_line(const struct amp_node *node)
{
    const char *trace = node->note.stack_trace;
    size_t at = trace != NULL ? strlen(trace) : 0;
    while (at > 0 && isspace((unsigned char)trace[at - 1]))
        at--;
    while (at > 0 && trace[at - 1] != '\n')
        at--;
    return at > 0 ? trace + at : NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool amp_line_calls(const char *line, struct amp_str name)
{
    for (const char *at = line; *at != '\0'; at++) {
        size_t n = 0;
        while (n < name.size && (at[n] == name.data[n] || (name.data[n] == '_' && at[n] == '.')))
            n++;
        if (n == name.size && at[n] == '(' && (at == line || !is_word(at[-1])))
            return true;
    }
    return false;
}

bool amp_note_asks_float32(const struct amp_node *node)
{
    const char *args = node->note.fx_node != NULL ? strstr(node->note.fx_node, "](") : NULL;
    return args != NULL && strstr(args, "torch.float32") != NULL;
}

/* ---- recurrent layers ---- */

/* The scope that is noted of NODE, up to the class of the layer. */
static struct amp_str noted_scope(const struct amp_node *node)
{
    const char *scope = node->note.scope;
    const char *found = scope != NULL ? strstr(scope, ": torch.nn.modules.rnn.") : NULL;
    if (found == NULL)
        return (struct amp_str){"", 0};
    return (struct amp_str){scope, (size_t)(found - scope) + strcspn(found, "/")};
}

/* "/encoder/cell/" of "/encoder/cell/Mul"; empty for other names. */
static struct amp_str named_scope(const struct amp_node *node)
{
    const char *last = node->name[0] == '/' ? strrchr(node->name, '/') : NULL;
    return (struct amp_str){node->name, last == NULL ? 0 : (size_t)(last - node->name) + 1};
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), n = strlen(end);
    return size >= n && strcmp(text + size - n, end) == 0;
}

/* Whether NODE tells that its module is a recurrent layer: it is one, or multiplies by a parameter
   of torch.nn.RNNCellBase's. */
static bool is_of_layer(const struct amp_model *model, const struct amp_node *node)
{
    if (amp_node_has_role(node, AMP_ROLE_RECURRENT))
        return true;
    const char *weight = node->n_inputs > 1 && node->inputs[1] != AMP_NONE
                             ? amp_value_at(model, node->inputs[1])->name
                             : "";
    return ends_with(weight, "weight_ih") || ends_with(weight, "weight_hh");
}

static const char *key_of(const struct amp_model *model, struct amp_str scope)
{
    return amp_arena_strndup(model->arena, scope.data, scope.size);
}

/* Sets the scopes of nodes that are known by their names. */
static void find_named_scopes(const struct amp_model *model, struct amp_str *scopes)
{
    struct amp_strmap layers = {.slots = NULL};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        struct amp_str scope = named_scope(node);
        if (scope.size > 0 && is_of_layer(model, node))
            amp_strmap_put(&layers, model->arena, key_of(model, scope), 0);
    }
    for (uint32_t id = 0; id < model->n_nodes && layers.count > 0; id++) {
        struct amp_str scope = named_scope(amp_node_at(model, id));
        if (scope.size > 0 && amp_strmap_get(&layers, key_of(model, scope), NULL))
            scopes[id] = scope;
    }
}

/* Sets the scopes of the nodes of GRAPH that are noted. Those without a note, which the optimizer
   put there, are in the scope of the next that has one. */
static void find_noted_scopes(const struct amp_model *model, uint32_t graph, struct amp_str *scopes)
{
    const struct amp_ids *nodes = &model->graphs[graph].nodes;
    struct amp_str scope = {"", 0};
    for (size_t i = nodes->count; i > 0; i--) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i - 1]);
        if (node->note.fx_node != NULL)
            scope = noted_scope(node);
        scopes[nodes->items[i - 1]] = scope;
    }
}

static bool has_notes(const struct amp_model *model)
{
    for (uint32_t id = 0; id < model->n_nodes; id++)
        if (amp_node_at(model, id)->note.fx_node != NULL)
            return true;
    return false;
}

struct amp_str *amp_recurrent_scopes_find(const struct amp_model *model)
{
    struct amp_str *scopes = amp_xcalloc(model->n_nodes, sizeof *scopes);
    if (!amp_model_is_by_torch(model))
        return scopes;
    if (!has_notes(model))
        find_named_scopes(model, scopes);
    else
        for (uint32_t g = 0; g < model->n_graphs; g++)
            find_noted_scopes(model, g, scopes);
    return scopes;
}

/* ---- constants that were folded ----------------------------------------------------------------
 */

/* The operator in NAME: "linear" of "linear_1"; empty for names with dots, which modules have. */
static struct amp_str operator_of(const char *name)
{
    size_t size = strlen(name), digits = size;
    if (strchr(name, '.') != NULL)
        return (struct amp_str){"", 0};
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    bool is_numbered = digits > 1 && digits < size && name[digits - 1] == '_';
    return (struct amp_str){name, is_numbered ? digits - 1 : size};
}

/* Whether the last rule for all nodes that names PyTorch's OP lowers it. */
static bool is_lowered(const struct amp_rules *rules, struct amp_str op)
{
    for (size_t r = rules->count; r > 0; r--)
        for (size_t i = 0; i < rules->items[r - 1].n_ops; i++) {
            const struct amp_rule_op *named = &rules->items[r - 1].ops[i];
            if (named->is_torch && strlen(named->word) == op.size &&
                memcmp(named->word, op.data, op.size) == 0)
                return rules->items[r - 1].precision == AMP_LOWER;
        }
    return false;
}

bool *amp_folded_find(const struct amp_model *model, const struct amp_rules *rules)
{
    bool *found = amp_xcalloc(model->n_values, sizeof *found);
    bool is_by_torch = amp_model_is_by_torch(model);
    for (uint32_t id = 0; id < model->n_values && is_by_torch && rules->torch != NULL; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        if (value->constant == NULL || value->dtype != AMP_FLOAT)
            continue;
        struct amp_str op = operator_of(value->name);
        found[id] = op.size > 0 && is_lowered(rules, op);
    }
    return found;
}
