/*
 * Reads what PyTorch's exporter for torch.export notes of nodes (torch/onnx/_internal/exporter,
 * PyTorch 2.6). Takes the texts as they are, which may be anything; gives the parts of them that
 * tell which operator a node is for.
 */
#include "autocast/notes.h"

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

struct amp_str amp_node_recurrent_scope(const struct amp_node *node)
{
    const char *scope = node->note.scope;
    const char *found = scope != NULL ? strstr(scope, ": torch.nn.modules.rnn.") : NULL;
    if (found == NULL)
        return (struct amp_str){"", 0};
    return (struct amp_str){scope, (size_t)(found - scope) + strcspn(found, "/")};
}
