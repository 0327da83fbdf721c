/*
 * The kinds of values that a pattern may ask for behind a name ("w:weight"). Takes a value and the
 * node that uses it, in a graph whose types and shapes are inferred as far as they can be; says
 * whether the value is of the kind. A kind that asks for dims does not hold where they are unknown.
 */
#include "pattern/kind.h"

#include "core/tensor.h"
#include "pattern/constant.h"

#include "core/array.h"

#include <string.h>

static bool is_weight(const struct amp_model *model, uint32_t value, uint32_t user)
{
    (void)user;
    return amp_value_at(model, value)->initial != NULL ||
           amp_pattern_constant(model, value) != NULL;
}

static bool is_live(const struct amp_model *model, uint32_t value, uint32_t user)
{
    return !is_weight(model, value, user);
}

static bool is_scalar(const struct amp_model *model, uint32_t value, uint32_t user)
{
    double number;
    (void)user;
    return amp_pattern_constant_number(amp_pattern_constant(model, value), &number);
}

static bool is_eps(const struct amp_model *model, uint32_t value, uint32_t user)
{
    const struct amp_tensor *constant = amp_pattern_constant(model, value);
    double number;
    (void)user;
    return amp_pattern_constant_number(constant, &number) &&
           amp_pattern_is_eps(number, constant->dtype);
}

static bool is_item(const struct amp_model *model, uint32_t value, uint32_t user)
{
    return is_scalar(model, value, user) && amp_value_at(model, value)->rank == 1;
}

static bool is_single(const struct amp_model *model, uint32_t id, uint32_t user)
{
    const struct amp_value *value = amp_value_at(model, id);
    bool is_one = value->rank >= 0;
    for (int i = 0; i < value->rank; i++)
        is_one &= value->dims[i] == 1;
    return is_one || is_scalar(model, id, user);
}

/* Whether value ID is a weight all of whose dims but the one at AXIS are 1. */
static bool is_along(const struct amp_model *model, uint32_t id, int axis)
{
    const struct amp_value *value = amp_value_at(model, id);
    bool is_so = is_weight(model, id, AMP_NONE) && axis >= 0 && axis < value->rank;
    for (int i = 0; i < value->rank && is_so; i++)
        is_so = i == axis || value->dims[i] == 1;
    return is_so;
}

static bool is_vector(const struct amp_model *model, uint32_t value, uint32_t user)
{
    (void)user;
    return is_along(model, value, amp_value_at(model, value)->rank - 1);
}

/* The channels are axis 1 of the user's output, as broadcasting counts axes from the back. */
static bool is_channel(const struct amp_model *model, uint32_t value, uint32_t user)
{
    int rank = amp_value_at(model, amp_node_at(model, user)->outputs[0])->rank;
    return rank >= 3 && is_along(model, value, amp_value_at(model, value)->rank - rank + 1);
}

amp_pattern_kind *amp_pattern_kind_find(const char *name)
{
    static const struct {
        const char *name;
        amp_pattern_kind *test;
    } kinds[] = {{"weight", is_weight},   {"scalar", is_scalar}, {"eps", is_eps},
                 {"item", is_item},       {"single", is_single}, {"vector", is_vector},
                 {"channel", is_channel}, {"live", is_live}};
    for (size_t i = 0; i < AMP_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].test;
    return NULL;
}
