/*
 * Operators that no table defines: takes a node of one and what the rules say of it, tells whether
 * it can have another dtype. Only its user knows what it computes; that it takes and gives all its
 * float tensors in one dtype, the lower as well as float32, is what a rule that names it says. The
 * types of what it takes and gives must stand in the model, as nothing else tells them.
 */
#include "autocast/custom.h"

#include "autocast/decision.h"
#include "autocast/rules/rule.h"
#include "core/graph/graph.h"

/* Why a node keeps its types. */
struct obstacle {
    enum amp_reason reason; /* AMP_REASON_RULE: there is none */
    uint32_t value;         /* on account of which; AMP_NONE: of none */
};

bool amp_custom_is_float(const struct amp_value *value)
{
    return value->kind == AMP_KIND_TENSOR && amp_dtype_is_autocast(value->dtype);
}

/* What keeps the types of the COUNT values at IDS, inputs or outputs, as they are. */
static struct obstacle obstacle_among(const struct amp_model *model, const uint32_t *ids,
                                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == AMP_NONE)
            continue;
        const struct amp_value *value = amp_value_at(model, ids[i]);
        if (value->dtype == AMP_UNDEFINED && value->kind != AMP_KIND_MAP &&
            value->kind != AMP_KIND_MAP_SEQUENCE)
            return (struct obstacle){AMP_REASON_UNKNOWN_TYPE, ids[i]};
        if (value->kind != AMP_KIND_TENSOR && amp_dtype_is_autocast(value->dtype))
            return (struct obstacle){AMP_REASON_NOT_TENSOR, ids[i]};
    }
    return (struct obstacle){AMP_REASON_RULE, AMP_NONE};
}

/* The first float tensor of the COUNT values at IDS that is of another dtype than BUT; AMP_NONE:
   there is none. */
static uint32_t first_float(const struct amp_model *model, const uint32_t *ids, uint32_t count,
                            enum amp_dtype but)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] != AMP_NONE && amp_custom_is_float(amp_value_at(model, ids[i])) &&
            amp_value_at(model, ids[i])->dtype != but)
            return ids[i];
    return AMP_NONE;
}

/* Outputs follow inputs: without a float among these there is nothing to decide. */
static struct obstacle find_obstacle(const struct amp_model *model, const struct amp_node *node)
{
    if (amp_node_has_bodies(node))
        return (struct obstacle){AMP_REASON_CONTROL_FLOW, AMP_NONE};
    struct obstacle obstacle = obstacle_among(model, node->inputs, node->n_inputs);
    if (obstacle.reason == AMP_REASON_RULE)
        obstacle = obstacle_among(model, node->outputs, node->n_outputs);
    if (obstacle.reason == AMP_REASON_RULE &&
        first_float(model, node->inputs, node->n_inputs, AMP_UNDEFINED) == AMP_NONE)
        obstacle =
            (struct obstacle){AMP_REASON_NOT_FLOAT,
                              first_float(model, node->outputs, node->n_outputs, AMP_UNDEFINED)};
    return obstacle;
}

bool amp_custom_is_eligible(const struct amp_model *model, const struct amp_node *node,
                            struct amp_decision *decision)
{
    struct obstacle obstacle = {AMP_REASON_UNKNOWN_OP, AMP_NONE};
    if (decision->op != NULL)
        obstacle = find_obstacle(model, node);
    if (obstacle.reason != AMP_REASON_RULE) {
        decision->reason = obstacle.reason;
        return false;
    }
    decision->type = AMP_TYPE_ALL_FLOATS;
    return true;
}

/* ---- overrides that cannot be followed ---- */

/* Whether the rule was given on the command line, for this operator and no list of others. */
static bool is_override(const struct amp_decision *decision)
{
    return decision->op != NULL && decision->rule->source.line == 0 &&
           amp_precision_dtype(decision->precision, AMP_FLOAT) != AMP_UNDEFINED;
}

/* Whether some of what NODE takes or gives is not in DTYPE, as far as the model says. */
static bool would_change(const struct amp_model *model, const struct amp_node *node,
                         enum amp_dtype dtype)
{
    return first_float(model, node->inputs, node->n_inputs, dtype) != AMP_NONE ||
           first_float(model, node->outputs, node->n_outputs, dtype) != AMP_NONE;
}

static const char *obstacle_text(const struct amp_model *model, const struct obstacle *obstacle)
{
    const char *name =
        obstacle->value == AMP_NONE ? "" : amp_value_at(model, obstacle->value)->name;
    if (obstacle->reason == AMP_REASON_UNKNOWN_TYPE)
        return amp_arena_printf(model->arena, "nothing says the type of '%s'", name);
    if (obstacle->reason == AMP_REASON_NOT_TENSOR)
        return amp_arena_printf(model->arena, "'%s' is no tensor", name);
    if (obstacle->reason == AMP_REASON_NOT_FLOAT)
        return amp_arena_printf(model->arena, "it takes no float that '%s' could follow", name);
    return "it has bodies";
}

static enum amp_status check_node(const struct amp_model *model, uint32_t id,
                                  const struct amp_decision *decision, enum amp_dtype lower,
                                  struct amp_error *err)
{
    char text[512];
    const struct amp_node *node = amp_node_at(model, id);
    bool is_lower = amp_precision_is_lower(decision->precision);
    struct obstacle obstacle = find_obstacle(model, node);
    bool is_blind = is_lower && obstacle.reason == AMP_REASON_UNKNOWN_TYPE;
    if (obstacle.reason == AMP_REASON_RULE ||
        !(is_blind || would_change(model, node, amp_precision_dtype(decision->precision, lower))))
        return AMP_OK;
    return amp_fail(err, AMP_RULES,
                    "%s: --op %s=%s: %s: %s; accepted: an operator without bodies that takes float "
                    "tensors, where the model says the types of all that it takes and gives "
                    "(value_info, or inputs and outputs of the graph)",
                    model->path, decision->op->word, amp_precision_name(decision->precision),
                    amp_node_text(model, id, text, sizeof text), obstacle_text(model, &obstacle));
}

enum amp_status amp_custom_check(const struct amp_model *model,
                                 const struct amp_decision *decisions, enum amp_dtype lower,
                                 struct amp_error *err)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (node->schema == NULL && !node->is_removed && is_override(&decisions[id]))
            AMP_TRY(check_node(model, id, &decisions[id], lower, err));
    }
    return AMP_OK;
}
