/*
 * `ampconv rules --diff`: takes two rule sets and a model, decides on its nodes by each, prints the
 * nodes that become of different dtypes. Nothing is converted.
 */
#include "autocast/settle.h"
#include "cli/rules_tools.h"
#include "cli/target.h"
#include "core/print.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "onnx/schema/schema.h"

#include <stdio.h>

enum { TEXT_SIZE = 256 };

/* One of the two sets and what it leads to. */
struct side {
    const char *name; /* of the set */
    struct amp_model_file file;
    struct amp_rules *rules;
    struct amp_assignment assignment;
    const char **nodes; /* per node id: what it is called, before raising changes operators */
    size_t n_nodes;     /* then */
};

static void name_nodes(struct side *side)
{
    struct amp_model *model = side->file.model;
    side->n_nodes = model->n_nodes;
    side->nodes = amp_arena_array(model->arena, side->n_nodes, sizeof *side->nodes);
    for (uint32_t id = 0; id < side->n_nodes; id++) {
        char text[TEXT_SIZE];
        side->nodes[id] =
            amp_arena_strdup(model->arena, amp_node_text(model, id, text, sizeof text));
    }
}

static enum amp_status decide(struct side *side, const char *path, const struct amp_target *target,
                              struct amp_error *err)
{
    const char *obstacle = NULL;
    AMP_TRY(amp_model_read_to_convert(path, &side->file, err));
    struct amp_assign_options options = {.lower = target->lower,
                                         .cap = amp_schema_released_opset()};
    options.rules = side->rules = amp_rules_create(side->file.arena);
    AMP_TRY(amp_rules_load(side->rules, side->name, err));
    AMP_TRY(amp_rules_set_dtype(side->rules, target->lower, err));
    AMP_TRY(amp_infer(side->file.model, err));
    name_nodes(side);
    AMP_TRY(amp_settle(side->file.model, options, &side->assignment, &obstacle, err));
    AMP_TRY(amp_infer(side->file.model, err));
    options.cap = (int)amp_model_opset(side->file.model, "");
    /* What follows, at the new opset. */
    return amp_assign(side->file.model, &options, &side->assignment, err);
}

static void print_side(const struct side *side, uint32_t id)
{
    const struct amp_decision *decision = &side->assignment.nodes[id];
    const struct amp_rule_op *op = decision->op;
    amp_print(stdout, "    %s  %s", side->name,
              decision->dtype == AMP_UNDEFINED ? "-" : amp_dtype_name(decision->dtype));
    amp_print(stdout, "  %s", amp_reason_name(decision->reason));
    if (decision->rule != NULL)
        amp_print(stdout, " %s %s:%d", amp_precision_name(decision->rule->precision),
                  decision->rule->source.file,
                  op != NULL && op->line > 0 ? op->line : decision->rule->source.line);
    if (op != NULL && op->is_torch)
        amp_print(stdout, " %s", op->word);
    putchar('\n');
}

/* In the order of the graphs: the main graph, then bodies. */
static void print_differences(const struct side *a, const struct side *b)
{
    size_t differ = 0;
    for (uint32_t id = 0; id < a->n_nodes; id++) {
        if (a->assignment.nodes[id].dtype == b->assignment.nodes[id].dtype)
            continue;
        differ++;
        amp_print(stdout, "%s\n", a->nodes[id]);
        print_side(a, id);
        print_side(b, id);
    }
    amp_print(stdout, "%zu of %zu nodes differ\n", differ, a->n_nodes);
}

static void close_side(struct side *side)
{
    amp_rules_destroy(side->rules);
    amp_model_close(&side->file);
}

enum amp_status amp_rules_tool_diff(const struct amp_options *options, struct amp_error *err)
{
    const char *const *words = options->operands.items;
    struct side a = {.name = words[0]}, b = {.name = words[1]};
    struct amp_target target;
    AMP_TRY(amp_target_parse(options, &target, err));
    if (target.lower == AMP_FLOAT)
        return amp_fail(err, AMP_USAGE, "--diff is about rules, and --dtype fp32 takes none");
    enum amp_status status = decide(&a, words[2], &target, err);
    if (status == AMP_OK)
        status = decide(&b, words[2], &target, err);
    if (status == AMP_OK)
        print_differences(&a, &b);
    close_side(&a);
    close_side(&b);
    return status;
}
