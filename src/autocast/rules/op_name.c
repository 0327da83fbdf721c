/*
 * The names of operators in rules: takes a word, gives the operators that it stands for. ONNX's
 * names come first, then the table of PyTorch's (torch_map.c), which is read when a word needs it.
 */
#include "autocast/rules/op_name.h"

#include "autocast/rules/op.h"
#include "autocast/rules/torch_map.h"
#include "core/words.h"

/* The operator that WORD was probably meant to be: ONNX's unless PyTorch's is nearer; NULL when
   none is near. */
static const char *nearest_name(const struct amp_rules *rules, const char *word)
{
    const char *onnx = amp_rule_op_nearest(rules->arena, word);
    const char *torch = amp_torch_map_nearest(rules->torch, word);
    if (onnx == NULL || torch == NULL)
        return onnx != NULL ? onnx : torch;
    const char *const both[] = {onnx, torch};
    return amp_word_nearest(word, both, 2);
}

enum amp_status amp_op_name_resolve(struct amp_rules *rules, struct amp_op_name name,
                                    struct amp_rule_ops *ops, const char **problem,
                                    struct amp_error *err)
{
    struct amp_rule_op op;
    *problem = NULL;
    if (amp_rule_op_parse(rules->arena, name.word, &op)) {
        amp_rule_ops_push(rules->arena, ops, op)->line = name.line;
        return AMP_OK;
    }
    AMP_TRY(amp_torch_map_get(rules, err));
    const struct amp_torch_name *torch = amp_torch_map_find(rules->torch, name.word);
    if (torch == NULL)
        *problem = amp_rule_op_unknown(rules->arena, name.word, nearest_name(rules, name.word),
                                       " or PyTorch");
    for (size_t i = 0; torch != NULL && i < torch->forms.count; i++) {
        struct amp_rule_op *added = amp_rule_ops_push(rules->arena, ops, torch->forms.items[i]);
        added->word = op.word;
        added->line = name.line;
    }
    return AMP_OK;
}

enum amp_status amp_op_name_bind(const struct amp_rules_binder *b, const struct amp_yaml_node *node,
                                 struct amp_rule_ops *ops)
{
    const char *problem;
    struct amp_op_name name = {node->text, node->line};
    AMP_TRY(amp_op_name_resolve(b->rules, name, ops, &problem, b->err));
    return problem != NULL ? amp_yaml_fail(b->yaml, node, b->err, "%s", problem) : AMP_OK;
}
