/*
 * Chooses the term that the gradient of a node's input is from the rules of its operator's
 * descriptor (amp_op.gradient), and has it made. Knows no operator itself.
 */
#include "run/rewrite/gradient_rules.h"

#include "ops/op.h"
#include "run/rewrite/gradient_condition.h"

static bool applies(const struct amp_gradient_rule *rule, const struct amp_derivation *derivation,
                    const struct amp_node *node, uint32_t i)
{
    return (rule->input == AMP_EACH_INPUT || rule->input == (int)i) &&
           (rule->output == AMP_EACH_OUTPUT || rule->output == (int)derivation->output) &&
           amp_gradient_condition(derivation->model, node, rule->when);
}

uint32_t amp_gradient_of_input(struct amp_derivation *derivation, uint32_t i)
{
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    const struct amp_op *op = amp_op_of(node);
    derivation->input = i;
    derivation->x = node->inputs[i];
    /* Before opset 7 shapes were fitted together otherwise. */
    if (node->schema == NULL || op == NULL || op->gradient == NULL ||
        amp_node_attr(node, "broadcast") != NULL)
        return AMP_NONE;
    for (const struct amp_gradient_rule *rule = op->gradient; rule->term != NULL; rule++)
        if (applies(rule, derivation, node, i))
            return amp_gradient_term(derivation, rule->term);
    return AMP_NONE;
}
