/*
 * The rules of a conversion: takes options and environment, gives one list of rules. The last rule
 * that matches a node decides, so that what has precedence comes later. Decides on no node itself.
 * What the user should know of the loading goes to stderr.
 */
#include "cli/options/rule_options.h"

#include "autocast/rule_effects.h"
#include "cli/options/option_pair.h"
#include "cli/report/rules.h"
#include "core/arena.h"
#include "core/array.h"
#include "onnx/file/read.h"
#include "onnx/training/step.h"

#include <stdlib.h>
#include <string.h>

/* The environment variables that name lists of operators, which add to any rule set; those that
   replace a list of a set stand in its file (ops_from). An operator in both lists is float32, since
   the second is loaded last. */
static const struct {
    enum amp_precision precision;
    const char *variable;
} op_lists[] = {
    {AMP_LOWER, "AMPCONV_LOWER_PRECISION_OPS_LIST"},
    {AMP_FP32, "AMPCONV_FP32_OPS_LIST"},
};

const char *amp_rule_variable_at(size_t i)
{
    return i < AMP_COUNT(op_lists) ? op_lists[i].variable : NULL;
}

/* The sets in the order of loading: those by name, then those by path; without any, the one that is
   made for the range of LOWER. */
static const char *const *order_sets(const struct amp_texts *given, enum amp_dtype lower,
                                     struct amp_arena *arena, size_t *count)
{
    const char **names = amp_arena_array(arena, given->count + 1, sizeof *names);
    *count = 0;
    for (int are_paths = 0; are_paths < 2; are_paths++)
        for (size_t i = 0; i < given->count; i++)
            if (amp_rules_is_path(given->items[i]) == (are_paths == 1))
                names[(*count)++] = given->items[i];
    if (*count == 0)
        names[(*count)++] = lower == AMP_FLOAT16 ? "torch-cuda" : "torch-cpu";
    return names;
}

static enum amp_status load_environment(struct amp_rules *rules, struct amp_error *err)
{
    for (size_t i = 0; i < AMP_COUNT(op_lists); i++) {
        const char *path = getenv(op_lists[i].variable);
        if (path == NULL || *path == '\0')
            continue;
        struct amp_error problem = {.status = AMP_OK};
        enum amp_status status =
            amp_rules_load_op_list(rules, path, op_lists[i].precision, &problem);
        if (status != AMP_OK) {
            amp_error_prefix(&problem, "%s", op_lists[i].variable);
            return amp_error_copy(err, &problem);
        }
    }
    return AMP_OK;
}

static enum amp_status load_op_lists(struct amp_rules *rules, const char *option,
                                     const struct amp_texts *paths, enum amp_precision precision,
                                     struct amp_error *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        size_t before = rules->count;
        AMP_TRY(amp_rules_load_op_list(rules, paths->items[i], precision, err));
        if (rules->count > before)
            rules->items[before].place =
                amp_arena_printf(rules->arena, "--%s %s", option, paths->items[i]);
    }
    return AMP_OK;
}

static enum amp_status add_override(struct amp_rules *rules, const char *option, const char *text,
                                    bool is_op, struct amp_error *err)
{
    static const struct amp_rule_source source = {.file = AMP_RULES_COMMAND_LINE};
    struct amp_option_pair pair;
    enum amp_precision precision;
    AMP_TRY(amp_option_pair_split(option, text, &pair, err));
    AMP_TRY(amp_precision_parse(pair.value, &precision, err));
    const char *kept = amp_arena_strdup(rules->arena, pair.name);
    AMP_TRY(is_op ? amp_rules_add_op(rules, kept, precision, source, err)
                  : amp_rules_add_node(rules, kept, precision, source, err));
    rules->items[rules->count - 1].place = amp_arena_printf(rules->arena, "--%s %s", option, text);
    return AMP_OK;
}

enum amp_status amp_rule_options_load(const struct amp_options *options, enum amp_dtype lower,
                                      struct amp_arena *arena, struct amp_rule_choice *choice,
                                      struct amp_error *err)
{
    struct amp_rules *rules = choice->rules = amp_rules_create(arena);
    choice->names = order_sets(&options->rules, lower, arena, &choice->n_names);
    for (size_t i = 0; i < choice->n_names; i++)
        AMP_TRY(amp_rules_load(rules, choice->names[i], err));
    AMP_TRY(amp_rules_set_dtype(rules, lower, err));
    AMP_TRY(load_environment(rules, err));
    AMP_TRY(load_op_lists(rules, "lower-ops", &options->lower_ops, AMP_LOWER, err));
    AMP_TRY(load_op_lists(rules, "fp32-ops", &options->fp32_ops, AMP_FP32, err));
    for (size_t i = 0; i < options->op_rules.count; i++)
        AMP_TRY(add_override(rules, "op", options->op_rules.items[i], true, err));
    for (size_t i = 0; i < options->node_rules.count; i++)
        AMP_TRY(add_override(rules, "node", options->node_rules.items[i], false, err));
    if (!options->is_quiet)
        amp_report_rule_notes(rules);
    return AMP_OK;
}

/* ---- rules that match nothing ---------------------------------------------------------------- */

enum { WARNINGS_MAX = 10 /* then it is enough */ };

static bool is_own(const struct amp_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].place != NULL)
            return true;
    return false;
}

/* "--node x=fp32: no node of m.onnx matches; the nearest name is 'y'" */
static const char *unmatched_text(const struct amp_model *model, const struct amp_rule *rule)
{
    return amp_arena_printf(model->arena, "%s: no node of %s matches%s", rule->place, model->path,
                            amp_rule_nearest_text(model, rule));
}

/* Says which of the user's RULES match nothing in MODEL: as warnings or, where they are strict, as
   the failure. */
static enum amp_status say_unmatched(const struct amp_options *options,
                                     const struct amp_model *model, const struct amp_rules *rules,
                                     const struct amp_rule_effects *effects, struct amp_error *err)
{
    const char *text = NULL;
    size_t count = 0, most = options->is_strict_rules ? 1 : WARNINGS_MAX;
    for (size_t i = 0; i < rules->count; i++) {
        if (rules->items[i].place == NULL || effects->matches[i] || count++ >= most)
            continue;
        text = unmatched_text(model, &rules->items[i]);
        if (!options->is_strict_rules)
            amp_report_rule_warning(text);
    }
    const char *more = count == most + 1 ? "rule that matches nothing" : "rules that match nothing";
    if (options->is_strict_rules && count > 1)
        return amp_fail(err, AMP_RULES, "%s (and %zu more %s)", text, count - most, more);
    if (options->is_strict_rules && count > 0)
        return amp_fail(err, AMP_RULES, "%s", text);
    if (count > most)
        amp_report_rule_warning(amp_arena_printf(model->arena, "%zu more %s", count - most, more));
    return AMP_OK;
}

/* The model of FILE, with the algorithm of its training_info where that makes one graph of both. */
static struct amp_model *all_nodes(const struct amp_model_file *file)
{
    struct amp_training_step step;
    struct amp_error unused = {.status = AMP_OK};
    if (amp_training_step_read(file, &step, &unused) != AMP_OK)
        return file->model;
    step.model->path = file->model->path;
    return step.model;
}

enum amp_status amp_rule_options_check(const struct amp_options *options,
                                       const struct amp_model_file *file,
                                       const struct amp_rules *rules, enum amp_dtype lower,
                                       struct amp_error *err)
{
    struct amp_rule_effects effects;
    struct amp_model_file copy;
    /* What is wrong with the model, the conversion says. */
    struct amp_error ignored = {.status = AMP_OK};
    bool is_silent = options->is_quiet && !options->is_strict_rules;
    if (is_silent || !is_own(rules) || amp_model_read_again(file, &copy, &ignored) != AMP_OK)
        return AMP_OK;
    enum amp_status status = AMP_OK;
    struct amp_model *model = all_nodes(&copy);
    AMP_IGNORE(amp_rule_effects_find(model, rules, lower, &effects, &ignored));
    if (effects.is_known)
        status = say_unmatched(options, model, rules, &effects, err);
    amp_model_close(&copy);
    return status;
}
