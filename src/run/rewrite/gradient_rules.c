/*
 * Chooses the term that the gradient of a node's input is from the rules of its operator's
 * descriptor (amp_op.gradient), and has it made. Knows no operator itself.
 */
#include "run/rewrite/gradient_rules.h"

#include "ops/op.h"

static enum amp_ranks ranks_of(const struct amp_model *model, const struct amp_node *node)
{
    static const enum amp_ranks found[2][2] = {{AMP_RANKS_MATRICES, AMP_RANKS_MATRIX_VECTOR},
                                               {AMP_RANKS_VECTOR_MATRIX, AMP_RANKS_VECTORS}};
    int a = amp_value_at(model, node->inputs[0])->rank;
    int b = amp_value_at(model, node->inputs[1])->rank;
    return a < 1 || b < 1 ? AMP_RANKS_ANY : found[a == 1][b == 1];
}

static bool applies(const struct amp_gradient_rule *rule, const struct amp_model *model,
                    const struct amp_node *node, uint32_t i)
{
    return (rule->input == AMP_EACH_INPUT || rule->input == (int)i) &&
           (rule->attr == NULL ||
            (amp_node_int(node, rule->attr, rule->fallback) != 0) == (rule->value != 0)) &&
           (rule->ranks == AMP_RANKS_ANY || rule->ranks == ranks_of(model, node));
}

uint32_t amp_gradient_of_input(struct amp_derivation *derivation, uint32_t i)
{
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    const struct amp_op *op = amp_op_of(node);
    derivation->x = node->inputs[i];
    /* Before opset 7 shapes were fitted together otherwise. */
    if (node->schema == NULL || op == NULL || op->gradient == NULL ||
        amp_node_attr(node, "broadcast") != NULL)
        return AMP_NONE;
    for (const struct amp_gradient_rule *rule = op->gradient; rule->term != NULL; rule++)
        if (applies(rule, derivation->model, node, i))
            return amp_gradient_term(derivation, rule->term);
    return AMP_NONE;
}
