/*
 * When a gradient rule applies: takes a node with inferred types and a text of conditions, says
 * whether they hold. What the node does not say of an attribute, the schema's default does.
 */
#include "run/rewrite/gradient_condition.h"

#include "onnx/schema/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *default_of(const struct amp_node *node, const char *name)
{
    const struct amp_schema_attr *attr =
        node->schema != NULL ? amp_schema_attr(node->schema, name) : NULL;
    return attr != NULL ? attr->default_text : NULL;
}

int64_t amp_gradient_int(const struct amp_node *node, const char *name, int64_t fallback)
{
    const char *text = default_of(node, name);
    return amp_node_int(node, name, text != NULL ? strtoll(text, NULL, 10) : fallback);
}

float amp_gradient_float(const struct amp_node *node, const char *name)
{
    const char *text = default_of(node, name);
    return amp_node_float(node, name, text != NULL ? strtof(text, NULL) : 1);
}

const char *amp_gradient_word(const struct amp_node *node, const char *name)
{
    const char *text = default_of(node, name);
    return amp_node_string(node, name, text != NULL ? text : "");
}

/* ---- conditions ------------------------------------------------------------------------------ */

enum { WORD_SIZE = 64 };

static bool is_input(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'f' && name[1] == '\0';
}

static bool has_input(const struct amp_node *node, const char *name)
{
    uint32_t i = (uint32_t)(name[0] - 'a');
    return i < node->n_inputs && node->inputs[i] != AMP_NONE;
}

static bool has_rank(const struct amp_model *model, const struct amp_node *node, const char *name,
                     const char *wanted)
{
    int rank = has_input(node, name) ? amp_value_at(model, node->inputs[name[0] - 'a'])->rank : -1;
    if (strcmp(wanted, "matrix") == 0)
        return rank >= 2;
    return rank == (strcmp(wanted, "vector") == 0 ? 1 : atoi(wanted));
}

static bool has_setting(const struct amp_node *node, const char *name, const char *wanted)
{
    if (strcmp(name, "since") == 0)
        return node->since_version >= atoi(wanted);
    if (strcmp(name, "outputs") == 0)
        return node->n_outputs == (uint32_t)atoi(wanted);
    const struct amp_attr *attr = amp_node_attr(node, name);
    if (attr != NULL && attr->type == AMP_ATTR_FLOAT)
        return fabsf(amp_gradient_float(node, name) - strtof(wanted, NULL)) <= 0;
    if (strchr("-0123456789", wanted[0]) != NULL)
        return amp_gradient_int(node, name, 0) == strtoll(wanted, NULL, 10);
    return strcmp(amp_gradient_word(node, name), wanted) == 0;
}

/* CONDITION is changed. */
static bool holds(const struct amp_model *model, const struct amp_node *node, char *condition)
{
    static const char has[] = "has:";
    char *value = strchr(condition, '=');
    if (value != NULL)
        *value++ = '\0';
    if (value != NULL && is_input(condition))
        return has_rank(model, node, condition, value);
    if (value != NULL)
        return has_setting(node, condition, value);
    return strncmp(condition, has, sizeof has - 1) == 0
               ? amp_node_attr(node, condition + sizeof has - 1) != NULL
               : has_input(node, condition);
}

bool amp_gradient_condition(const struct amp_model *model, const struct amp_node *node,
                            const char *text)
{
    while (text != NULL && *text != '\0' && *text != ',') {
        char word[WORD_SIZE] = "";
        size_t length = strcspn(text, " ,");
        memcpy(word, text, length < WORD_SIZE ? length : WORD_SIZE - 1);
        bool is_negated = word[0] == '!';
        if (holds(model, node, word + is_negated) == is_negated)
            return false;
        text += length + (text[length] == ' ');
    }
    return true;
}
