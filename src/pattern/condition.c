/*
 * The conditions that a pattern may put on a node's attributes ("{axes=last, keepdims=1}"). Takes a
 * node of a graph whose types are inferred and a compiled condition; reads the attribute, the
 * constant input that took its place in a later opset, or the default in the schema table, and says
 * whether the condition holds. Changes nothing in the graph.
 */
#include "pattern/condition.h"

#include "onnx/schema/schema.h"
#include "ops/op.h"
#include "pattern/constant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings: attributes, or the inputs that took their place ---- */

enum { SETTING_ITEMS = 16 };

/* What a node says under one name: a string, or numbers. */
struct setting {
    const char *text;     /* NULL: numbers */
    enum amp_dtype dtype; /* that the numbers are stored in, which bounds their digits */
    size_t count;
    double items[SETTING_ITEMS];
};

static bool from_attr(const struct amp_attr *attr, struct setting *setting)
{
    enum amp_attr_type type = attr->type;
    if (type == AMP_ATTR_STRING) {
        setting->text = attr->strings[0].data;
        return true;
    }
    bool is_int = type == AMP_ATTR_INT || type == AMP_ATTR_INTS;
    bool is_float = type == AMP_ATTR_FLOAT || type == AMP_ATTR_FLOATS;
    if ((!is_int && !is_float) || attr->count > SETTING_ITEMS)
        return false;
    setting->count = attr->count;
    for (size_t i = 0; i < attr->count; i++)
        setting->items[i] = is_int ? (double)attr->ints[i] : (double)attr->floats[i];
    return true;
}

static bool from_input(const struct amp_model *model, const struct amp_node *node, const char *name,
                       struct setting *setting)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(node->schema, i);
        if (param == NULL || strcmp(param->name, name) != 0)
            continue;
        const struct amp_tensor *constant = amp_pattern_constant(model, node->inputs[i]);
        if (constant == NULL || !amp_pattern_constant_is_numeric(constant) ||
            amp_tensor_count(constant) > SETTING_ITEMS)
            return false;
        setting->dtype = constant->dtype;
        setting->count = amp_tensor_count(constant);
        for (size_t k = 0; k < setting->count; k++)
            setting->items[k] = amp_tensor_double(constant, k);
        return true;
    }
    return false;
}

static bool from_default(const struct amp_node *node, const char *name, struct setting *setting)
{
    const struct amp_schema_attr *attr = amp_schema_attr(node->schema, name);
    if (attr == NULL || attr->default_text == NULL)
        return false;
    if (attr->type == AMP_ATTR_STRING) {
        setting->text = attr->default_text;
        return true;
    }
    setting->count = 1;
    setting->items[0] = strtod(attr->default_text, NULL);
    return attr->type == AMP_ATTR_INT || attr->type == AMP_ATTR_FLOAT;
}

/* Whether the node has an input that the operator calls NAME, constant or computed. */
static bool has_input(const struct amp_node *node, const char *name)
{
    for (uint32_t i = 0; node->schema != NULL && i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(node->schema, i);
        if (param != NULL && strcmp(param->name, name) == 0 && node->inputs[i] != AMP_NONE)
            return true;
    }
    return false;
}

/* Fills SETTING with what the node says under NAME; false when it says nothing. An attribute goes
   before an input of that name, and this before the attribute's default. */
static bool find_setting(const struct amp_model *model, const struct amp_node *node,
                         const char *name, struct setting *setting)
{
    *setting = (struct setting){.dtype = AMP_FLOAT};
    if (node->schema == NULL)
        return false;
    const struct amp_attr *attr = amp_node_attr(node, name);
    if (attr != NULL)
        return from_attr(attr, setting);
    return from_input(model, node, name, setting) || from_default(node, name, setting);
}

/* ---- axes ---- */

/* The rank of the tensor that the node's axes number: Unsqueeze counts in its output. */
static int axes_rank(const struct amp_model *model, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    uint32_t id = op != NULL && op->has_output_axes ? node->outputs[0] : node->inputs[0];
    return id == AMP_NONE ? -1 : amp_value_at(model, id)->rank;
}

static int compare_axes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of SETTING as a set of axes of a tensor of RANK (-1: unknown); false when they are
   none. */
static bool find_axes(const struct setting *setting, int rank, struct amp_axes *axes)
{
    if (setting->count == 0 || setting->count > AMP_RANK_MAX)
        return false;
    axes->count = (int)setting->count;
    for (int i = 0; i < axes->count; i++) {
        if (!(fabs(setting->items[i]) <= AMP_RANK_MAX))
            return false;
        int64_t axis = (int64_t)setting->items[i];
        axes->items[i] = axis < 0 && rank >= 0 ? axis + rank : axis;
    }
    qsort(axes->items, (size_t)axes->count, sizeof axes->items[0], compare_axes);
    return true;
}

/* Whether the axes are all those from FIRST (-1: any) to the last one. Axes that are still negative
   count from the end of an unknown rank. */
static bool are_trailing(const struct amp_axes *axes, int rank, int first)
{
    int64_t end = axes->items[axes->count - 1] < 0 ? 0 : rank;
    int64_t from = first < 0 ? end - axes->count : first;
    if ((end > 0 && from < 0) || rank == 0)
        return false;
    for (int i = 0; i < axes->count; i++)
        if (axes->items[i] != from + i)
            return false;
    return from + axes->count == end;
}

/* Whether LETTER stands for the axes FOUND, which it does from here on when it was not known. */
static bool binds_letter(const struct amp_axes *found, int letter, struct amp_axes_letters *letters)
{
    struct amp_axes *known = &letters->axes[letter];
    uint32_t bit = UINT32_C(1) << letter;
    if ((letters->known & bit) == 0) {
        *known = *found;
        letters->known |= bit;
        return true;
    }
    return known->count == found->count &&
           memcmp(known->items, found->items, (size_t)found->count * sizeof found->items[0]) == 0;
}

/* Whether the first COUNT numbers are those of the places that they stand at. */
static bool are_places(const struct setting *setting, size_t count)
{
    bool is_so = setting->text == NULL;
    for (size_t i = 0; i < count && is_so; i++)
        is_so = setting->items[i] == (double)i;
    return is_so;
}

/* Whether a permutation exchanges the last two axes and leaves the others in place. */
static bool is_swapped(const struct setting *setting)
{
    size_t n = setting->count;
    return n >= 2 && are_places(setting, n - 2) && setting->items[n - 2] == (double)(n - 1) &&
           setting->items[n - 1] == (double)(n - 2);
}

/* ---- conditions ---- */

static bool equals_numbers(const struct setting *setting, const struct amp_condition *condition)
{
    if (setting->count != condition->n_numbers)
        return false;
    for (size_t i = 0; i < setting->count; i++)
        if (!amp_pattern_is_near(setting->items[i], condition->numbers[i], setting->dtype))
            return false;
    return true;
}

static bool equals_axes(const struct amp_axes *axes, const struct amp_condition *condition)
{
    if ((size_t)axes->count != condition->n_numbers)
        return false;
    for (int i = 0; i < axes->count; i++)
        if ((double)axes->items[i] != condition->numbers[i])
            return false;
    return true;
}

static bool holds_for_axes(const struct amp_condition *condition, const struct amp_axes *found,
                           int rank, struct amp_axes_letters *letters)
{
    if (condition->kind == AMP_CONDITION_LETTER)
        return binds_letter(found, condition->letter, letters);
    if (condition->kind == AMP_CONDITION_NUMBERS)
        return equals_axes(found, condition);
    if (condition->kind == AMP_CONDITION_LAST && found->count != 1)
        return false;
    if (condition->kind == AMP_CONDITION_ALL)
        return are_trailing(found, rank, 0);
    return are_trailing(found, rank, condition->kind == AMP_CONDITION_INNER ? 2 : -1);
}

static bool is_axes(const char *name)
{
    return strcmp(name, "axis") == 0 || strcmp(name, "axes") == 0;
}

bool amp_condition_holds(const struct amp_model *model, uint32_t id,
                         const struct amp_condition *condition, struct amp_axes_letters *letters)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct setting setting;
    struct amp_axes found;
    bool is_all = condition->kind == AMP_CONDITION_ALL;
    if (!find_setting(model, node, condition->name, &setting))
        return is_all && !has_input(node, condition->name);
    if (is_all && setting.count == 0)
        return setting.text == NULL;
    if (condition->kind == AMP_CONDITION_TEXT)
        return setting.text != NULL && strcmp(setting.text, condition->text) == 0;
    if (condition->kind == AMP_CONDITION_SWAPPED)
        return is_swapped(&setting);
    if (condition->kind == AMP_CONDITION_SAME)
        return setting.count > 0 && are_places(&setting, setting.count);
    if (condition->kind == AMP_CONDITION_EPS)
        return setting.count == 1 && amp_pattern_is_eps(setting.items[0], setting.dtype);
    if (condition->kind == AMP_CONDITION_NUMBERS && !is_axes(condition->name))
        return equals_numbers(&setting, condition);
    int rank = axes_rank(model, node);
    return find_axes(&setting, rank, &found) && holds_for_axes(condition, &found, rank, letters);
}
