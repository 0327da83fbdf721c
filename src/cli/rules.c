/*
 * `ampconv rules`: lists the rule sets that come with the program or the names of PyTorch's
 * operators, prints a set as it is resolved, finds the rules of a set that can have no effect, or
 * the nodes of a model on which two sets differ. Converts and writes nothing.
 */
#include "cli/rules.h"

#include "autocast/rule_effects.h"
#include "autocast/rules/check.h"
#include "autocast/settle.h"
#include "cli/report/rules.h"
#include "cli/options/target.h"
#include "core/print.h"
#include "onnx/file/read.h"
#include "onnx/schema/infer.h"
#include "onnx/schema/schema.h"

#include <stdio.h>
#include <string.h>

/* Loads the set NAME, and says what the user should know of that unless it is to be quiet. */
static enum amp_status load(const struct amp_options *options, const char *name,
                            struct amp_rules *rules, struct amp_error *err)
{
    enum amp_status status = amp_rules_load(rules, name, err);
    if (!options->is_quiet)
        amp_report_rule_notes(rules);
    return status;
}

static enum amp_status print_one(struct amp_arena *arena, const struct amp_options *options,
                                 struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    enum amp_status status = load(options, options->operands.items[0], rules, err);
    if (status == AMP_OK)
        amp_report_rules(arena, rules, options->is_resolved);
    amp_rules_destroy(rules);
    return status;
}

/* ---- the list of sets ---- */

/* Prints the line of the set NAME: its name in WIDTH columns, its dtypes and its description. */
static enum amp_status list_one(struct amp_arena *arena, const char *name, int width,
                                struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    enum amp_status status = amp_rules_load(rules, name, err);
    if (status == AMP_OK) {
        const struct amp_rule_set *set = &rules->sets[0];
        amp_print(stdout, "%-*s  %-10s  %s\n", width, name, amp_rules_dtypes_text(set->dtypes),
                  set->description);
    }
    amp_rules_destroy(rules);
    return status;
}

/* Prints a line per set that comes with the program. A set that is wrong fails and does not hide
   the others. */
static enum amp_status list_all(struct amp_arena *arena, struct amp_error *err)
{
    const char *const *names;
    size_t count, width = 0;
    AMP_TRY(amp_rules_names(arena, &names, &count, err));
    for (size_t i = 0; i < count; i++)
        width = strlen(names[i]) > width ? strlen(names[i]) : width;
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < count; i++) {
        enum amp_status one = list_one(arena, names[i], (int)width, err);
        status = status == AMP_OK ? one : status;
    }
    return status;
}

/* ---- PyTorch's names ---- */

static enum amp_status list_names(struct amp_arena *arena, struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    AMP_TRY(amp_torch_map_get(rules, err));
    for (size_t i = 0; amp_torch_map_at(rules->torch, i) != NULL; i++)
        amp_report_torch_name(arena, amp_torch_map_at(rules->torch, i));
    return AMP_OK;
}

/* ---- --check ---- */

/* Prints what is odd about rules of the set on any model; adds those without effect to *MISTAKES.
 */
static enum amp_status report_findings(const struct amp_rules *rules, size_t *mistakes,
                                       struct amp_error *err)
{
    struct amp_rule_finding *findings;
    size_t count;
    AMP_TRY(amp_rules_check(rules, &findings, &count, err));
    for (size_t i = 0; i < count; i++) {
        const struct amp_rule_finding *finding = &findings[i];
        *mistakes += !finding->is_note;
        amp_print(stdout, "%s:%d: %s%s\n", finding->rule->source.file, finding->line,
                  finding->is_note ? "note: " : "", finding->text);
    }
    return AMP_OK;
}

/* The dtype that the user names, or else one that the set is for. */
static enum amp_status choose_dtype(const struct amp_options *options,
                                    const struct amp_rules *rules, enum amp_dtype *lower,
                                    struct amp_error *err)
{
    struct amp_target target;
    AMP_TRY(amp_target_parse(options, &target, err));
    bool is_for_bf16 = (rules->sets[0].dtypes & AMP_DTYPE_BIT(AMP_BFLOAT16)) != 0;
    *lower = options->dtype == NULL && !is_for_bf16 ? AMP_FLOAT16 : target.lower;
    return *lower != AMP_FLOAT
               ? AMP_OK
               : amp_fail(err, AMP_USAGE, "--check is about rules, and --dtype fp32 takes none");
}

enum { GUESSES_MAX = 10 /* at what was meant, which takes time */ };

/* Prints which rules of the set have no effect on MODEL, and adds them to *MISTAKES. */
static void report_effects(const struct amp_model *model, const struct amp_rules *rules,
                           const struct amp_rule_effects *effects, size_t *mistakes)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct amp_rule *rule = &rules->items[i];
        if (strcmp(rule->source.file, rules->sets[0].file) != 0 || effects->decides[i])
            continue;
        ++*mistakes;
        amp_print(stdout, "%s:%d: ", rule->source.file, rule->source.line);
        if (effects->matches[i])
            amp_print(stdout, "later rules decide on all nodes of %s that the rule matches\n",
                      model->path);
        else
            amp_print(stdout, "the rule matches no node of %s%s\n", model->path,
                      *mistakes <= GUESSES_MAX ? amp_rule_nearest_text(model, rule) : "");
    }
}

static enum amp_status check_on_model(const struct amp_options *options, struct amp_rules *rules,
                                      size_t *mistakes, struct amp_error *err)
{
    struct amp_model_file file;
    struct amp_rule_effects effects;
    enum amp_dtype lower = AMP_UNDEFINED;
    AMP_TRY(choose_dtype(options, rules, &lower, err));
    AMP_TRY(amp_rules_set_dtype(rules, lower, err));
    AMP_TRY(amp_model_read(options->operands.items[1], &file, err));
    enum amp_status status = amp_rule_decisions_find(file.model, rules, lower, &effects, err);
    if (status == AMP_OK && effects.is_known)
        report_effects(file.model, rules, &effects, mistakes);
    amp_model_close(&file);
    return status;
}

static enum amp_status check_set(const struct amp_options *options, struct amp_rules *rules,
                                 struct amp_error *err)
{
    size_t mistakes = 0;
    AMP_TRY(load(options, options->operands.items[0], rules, err));
    AMP_TRY(options->operands.count > 1 ? check_on_model(options, rules, &mistakes, err)
                                        : report_findings(rules, &mistakes, err));
    if (mistakes > 0)
        return amp_fail(err, AMP_RULES, "%s: %zu %s without effect", rules->sets[0].file, mistakes,
                        mistakes == 1 ? "rule" : "rules");
    return AMP_OK;
}

/* ---- --diff ---- */

/* One of the two sets, and the decisions on the model by it. */
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
        char text[256];
        side->nodes[id] =
            amp_arena_strdup(model->arena, amp_node_text(model, id, text, sizeof text));
    }
}

static enum amp_status decide(struct side *side, const struct amp_options *options,
                              const struct amp_target *target, struct amp_error *err)
{
    const char *obstacle = NULL;
    AMP_TRY(amp_model_read_to_convert(options->operands.items[2], &side->file, err));
    struct amp_assign_options assigned = {
        .lower = target->lower, .second = target->second, .cap = amp_schema_released_opset()};
    assigned.rules = side->rules = amp_rules_create(side->file.arena);
    AMP_TRY(load(options, side->name, side->rules, err));
    AMP_TRY(amp_rules_set_dtype(side->rules, target->lower, err));
    AMP_TRY(amp_infer(side->file.model, err));
    name_nodes(side);
    AMP_TRY(amp_settle(side->file.model, assigned, &side->assignment, &obstacle, err));
    AMP_TRY(amp_infer(side->file.model, err));
    assigned.cap = (int)amp_model_opset(side->file.model, "");
    /* What follows, at the new opset. */
    return amp_assign(side->file.model, &assigned, &side->assignment, err);
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

/* Prints the nodes whose dtypes differ, by id: those of the main graph, then those of bodies. */
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

static enum amp_status diff_sets(const struct amp_options *options, struct amp_error *err)
{
    const char *const *words = options->operands.items;
    struct side a = {.name = words[0]}, b = {.name = words[1]};
    struct amp_target target;
    AMP_TRY(amp_target_parse(options, &target, err));
    if (target.lower == AMP_FLOAT)
        return amp_fail(err, AMP_USAGE, "--diff is about rules, and --dtype fp32 takes none");
    enum amp_status status = decide(&a, options, &target, err);
    if (status == AMP_OK)
        status = decide(&b, options, &target, err);
    if (status == AMP_OK)
        print_differences(&a, &b);
    close_side(&a);
    close_side(&b);
    return status;
}

/* ---- the command ---- */

static enum amp_status run(struct amp_arena *arena, const struct amp_options *options,
                           struct amp_error *err)
{
    if (options->names)
        return list_names(arena, err);
    if (options->diffs)
        return diff_sets(options, err);
    if (options->checks) {
        struct amp_rules *rules = amp_rules_create(arena);
        enum amp_status status = check_set(options, rules, err);
        amp_rules_destroy(rules);
        return status;
    }
    if (options->operands.count == 0)
        return list_all(arena, err);
    return print_one(arena, options, err);
}

enum amp_status amp_command_rules(const struct amp_options *options, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status = run(arena, options, err);
    amp_arena_destroy(arena);
    return status;
}
