/*
 * What a pattern may ask of a value or of a node's attributes: the kinds and conditions that
 * pattern/pattern.h lists. Reads the graph and changes nothing.
 */
#include "pattern/term.h"
#include "onnx/schema/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants ---- */

static bool passes_constants(const struct amp_node *node)
{
    return amp_node_is(node, "", "Cast") || amp_node_is(node, "", "CastLike") ||
           amp_node_is(node, "", "Identity");
}

const struct amp_tensor *amp_pattern_constant(const struct amp_model *model, uint32_t id)
{
    enum { STEPS = 4 };
    for (int step = 0; step < STEPS && id != AMP_NONE; step++) {
        const struct amp_value *value = amp_value_at(model, id);
        if (value->constant != NULL)
            return value->constant->data != NULL ? value->constant : NULL;
        if (value->producer == AMP_NONE)
            return NULL;
        const struct amp_node *node = amp_node_at(model, value->producer);
        if (!passes_constants(node) || node->n_inputs == 0)
            return NULL;
        id = node->inputs[0];
    }
    return NULL;
}

static bool is_numeric(const struct amp_tensor *constant)
{
    enum amp_dtype_class class = amp_dtype_class(constant->dtype);
    return class == AMP_CLASS_FLOAT || class == AMP_CLASS_INT || class == AMP_CLASS_UINT;
}

static bool is_scalar_constant(const struct amp_tensor *constant)
{
    return constant != NULL && is_numeric(constant) && amp_tensor_count(constant) == 1;
}

bool amp_pattern_number(const struct amp_tensor *constant, double *number)
{
    if (!is_scalar_constant(constant))
        return false;
    *number = amp_tensor_double(constant, 0);
    return true;
}

/* Four digits, and what a dtype of fewer has. */
static double tolerance_of(enum amp_dtype dtype)
{
    if (dtype == AMP_BFLOAT16)
        return 1.0 / 256;
    return dtype == AMP_FLOAT16 ? 1.0 / 2048 : 1e-4;
}

static bool is_near(double number, double expected, enum amp_dtype dtype)
{
    return fabs(number - expected) <= tolerance_of(dtype) * fabs(expected);
}

bool amp_pattern_is_number(const struct amp_tensor *constant, double expected)
{
    double number;
    return amp_pattern_number(constant, &number) && is_near(number, expected, constant->dtype);
}

/* Small enough to keep a divisor from 0 and nothing else; float16 makes 0 of some. */
static bool is_small(double number, enum amp_dtype dtype)
{
    static const double largest = 0.1;
    return (number > 0 || (number == 0 && dtype == AMP_FLOAT16)) && number <= largest;
}

/* ---- kinds of values ---- */

static bool is_weight(const struct amp_model_place *place, uint32_t value)
{
    return amp_value_at(place->model, value)->initial != NULL ||
           amp_pattern_constant(place->model, value) != NULL;
}

static bool is_live(const struct amp_model_place *place, uint32_t value)
{
    return !is_weight(place, value);
}

static bool is_scalar(const struct amp_model_place *place, uint32_t value)
{
    return is_scalar_constant(amp_pattern_constant(place->model, value));
}

static bool is_eps(const struct amp_model_place *place, uint32_t value)
{
    const struct amp_tensor *constant = amp_pattern_constant(place->model, value);
    double number;
    return amp_pattern_number(constant, &number) && is_small(number, constant->dtype);
}

static bool is_one_item_list(const struct amp_model_place *place, uint32_t value)
{
    return is_scalar(place, value) && amp_value_at(place->model, value)->rank == 1;
}

static bool is_single(const struct amp_model_place *place, uint32_t id)
{
    const struct amp_value *value = amp_value_at(place->model, id);
    bool is_one = value->rank >= 0;
    for (int i = 0; i < value->rank; i++)
        is_one &= value->dims[i] == 1;
    return is_one || is_scalar(place, id);
}

/* Whether all dims of a weight but the one at AXIS are 1. */
static bool is_along(const struct amp_model_place *place, uint32_t id, int axis)
{
    const struct amp_value *value = amp_value_at(place->model, id);
    bool is_so = is_weight(place, id) && axis >= 0 && axis < value->rank;
    for (int i = 0; i < value->rank && is_so; i++)
        is_so = i == axis || value->dims[i] == 1;
    return is_so;
}

static bool is_vector(const struct amp_model_place *place, uint32_t id)
{
    return is_along(place, id, amp_value_at(place->model, id)->rank - 1);
}

static bool is_channel(const struct amp_model_place *place, uint32_t id)
{
    const struct amp_node *user = amp_node_at(place->model, place->node);
    int rank = amp_value_at(place->model, user->outputs[0])->rank;
    return rank >= 3 && is_along(place, id, amp_value_at(place->model, id)->rank - rank + 1);
}

amp_kind_test *amp_kind_find(const char *name)
{
    static const struct {
        const char *name;
        amp_kind_test *test;
    } kinds[] = {{"weight", is_weight},      {"scalar", is_scalar}, {"eps", is_eps},
                 {"item", is_one_item_list}, {"single", is_single}, {"vector", is_vector},
                 {"channel", is_channel},    {"live", is_live}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].test;
    return NULL;
}

/* ---- what an attribute, or the input that has taken its place, says ---- */

enum { SETTING_ITEMS = 16 };

struct setting {
    enum amp_dtype dtype;
    size_t count;
    double items[SETTING_ITEMS];
    const char *text; /* NULL: numbers */
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
        if (constant == NULL || !is_numeric(constant) || amp_tensor_count(constant) > SETTING_ITEMS)
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

/* Whether the node has an input of that name, known or not. */
static bool has_input(const struct amp_node *node, const char *name)
{
    for (uint32_t i = 0; node->schema != NULL && i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(node->schema, i);
        if (param != NULL && strcmp(param->name, name) == 0 && node->inputs[i] != AMP_NONE)
            return true;
    }
    return false;
}

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

/* The rank that the node's axes count in. */
static int axes_rank(const struct amp_model *model, const struct amp_node *node)
{
    uint32_t id = amp_node_is(node, "", "Unsqueeze") ? node->outputs[0] : node->inputs[0];
    return id == AMP_NONE ? -1 : amp_value_at(model, id)->rank;
}

static int compare_axes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool find_axes(const struct setting *setting, int rank, struct amp_axes *axes)
{
    if (setting->text != NULL || setting->count == 0 || setting->count > AMP_RANK_MAX)
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

/* Whether the axes are all from FIRST on, where FIRST is -1: as many as there are. Axes that are
   still negative count from the end of an unknown rank. */
static bool are_trailing(const struct amp_axes *axes, int rank, int first)
{
    int64_t end = axes->items[axes->count - 1] < 0 ? 0 : rank;
    int64_t from = first < 0 ? end - axes->count : first;
    if ((end == 0 && first >= 0) || (end > 0 && from < 0) || rank == 0)
        return false;
    for (int i = 0; i < axes->count; i++)
        if (axes->items[i] != from + i)
            return false;
    return from + axes->count == end;
}

static bool binds_letter(const struct amp_axes *found, int letter, struct amp_axes *axes,
                         uint32_t *bound)
{
    struct amp_axes *known = &axes[letter];
    uint32_t bit = UINT32_C(1) << letter;
    if ((*bound & bit) == 0) {
        *known = *found;
        *bound |= bit;
        return true;
    }
    return known->count == found->count &&
           memcmp(known->items, found->items, (size_t)found->count * sizeof found->items[0]) == 0;
}

static bool is_swapped(const struct setting *setting)
{
    size_t n = setting->count;
    bool is_so = setting->text == NULL && n >= 2;
    for (size_t i = 0; i + 2 < n && is_so; i++)
        is_so = setting->items[i] == (double)i;
    return is_so && setting->items[n - 2] == (double)(n - 1) &&
           setting->items[n - 1] == (double)(n - 2);
}

/* ---- conditions ---- */

static bool equals_numbers(const struct setting *setting, const struct amp_condition *condition)
{
    if (setting->text != NULL || setting->count != condition->n_numbers)
        return false;
    for (size_t i = 0; i < setting->count; i++)
        if (!is_near(setting->items[i], condition->numbers[i], setting->dtype))
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
                           int rank, struct amp_axes *axes, uint32_t *bound)
{
    if (condition->kind == AMP_CONDITION_LETTER)
        return binds_letter(found, condition->letter, axes, bound);
    if (condition->kind == AMP_CONDITION_NUMBERS)
        return equals_axes(found, condition);
    if (condition->kind == AMP_CONDITION_LAST && found->count != 1)
        return false;
    if (condition->kind == AMP_CONDITION_ALL)
        return found->count == rank && are_trailing(found, rank, 0);
    return are_trailing(found, rank, condition->kind == AMP_CONDITION_INNER ? 2 : -1);
}

static bool is_axes(const char *name)
{
    return strcmp(name, "axis") == 0 || strcmp(name, "axes") == 0;
}

bool amp_condition_holds(const struct amp_model *model, uint32_t id,
                         const struct amp_condition *condition, struct amp_axes *axes,
                         uint32_t *bound)
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
    if (condition->kind == AMP_CONDITION_EPS)
        return setting.count == 1 && is_small(setting.items[0], setting.dtype);
    if (condition->kind == AMP_CONDITION_NUMBERS && !is_axes(condition->name))
        return equals_numbers(&setting, condition);
    int rank = axes_rank(model, node);
    return find_axes(&setting, rank, &found) &&
           holds_for_axes(condition, &found, rank, axes, bound);
}
