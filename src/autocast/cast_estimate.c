/*
 * How many casts an assignment takes. Takes a model and what was decided about it, or would be if
 * constants followed, and counts; inserts none.
 */
#include "autocast/cast_estimate.h"

#include "autocast/rules/rule.h"

#include <stdlib.h>

bool amp_assignment_changes(const struct amp_model *model, const struct amp_assignment *assignment)
{
    for (uint32_t v = 0; v < model->n_values; v++)
        if (assignment->values[v] != amp_value_at(model, v)->dtype)
            return true;
    return false;
}

size_t amp_assignment_casts(const struct amp_model *model, const struct amp_assignment *assignment)
{
    uint32_t *wanted = amp_xcalloc(model->n_values, sizeof *wanted);
    size_t count = 0;
    for (uint32_t id = 0; id < assignment->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 0; i < node->n_inputs && !node->is_removed; i++)
            if (node->inputs[i] != AMP_NONE &&
                amp_dtype_is_autocast(assignment->values[node->inputs[i]]))
                wanted[node->inputs[i]] |=
                    AMP_DTYPE_BIT(amp_assigned_dtype(model, assignment, id, node->schema, i));
    }
    for (uint32_t v = 0; v < model->n_values; v++) {
        if (amp_value_at(model, v)->is_output && !assignment->is_interface[v])
            wanted[v] |= AMP_DTYPE_BIT(amp_value_at(model, v)->dtype);
        if (amp_value_at(model, v)->constant == NULL &&
            amp_dtype_is_autocast(assignment->values[v]))
            count += (size_t)__builtin_popcount(wanted[v] & ~AMP_DTYPE_BIT(assignment->values[v]));
    }
    free(wanted);
    return count;
}

enum amp_status amp_assignment_casts_following(const struct amp_model *model,
                                               const struct amp_assign_options *options,
                                               size_t *count, struct amp_error *err)
{
    struct amp_rules rules = *options->rules;
    struct amp_assign_options following = *options;
    struct amp_assignment assignment;
    rules.constants = AMP_CONSTANTS_FOLLOW;
    following.rules = &rules;
    AMP_TRY(amp_assign(model, &following, &assignment, err));
    *count = amp_assignment_casts(model, &assignment);
    return AMP_OK;
}
