/*
 * `ampconv rules`: lists the rule sets that come with the program or the names of PyTorch's
 * operators, or prints a set as it is resolved.
 */
#include "cli/commands.h"
#include "cli/report/rules.h"
#include "cli/rules_tools.h"
#include "core/print.h"

#include <stdio.h>
#include <string.h>

static enum amp_status print_one(struct amp_arena *arena, const char *name, bool is_resolved,
                                 struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    enum amp_status status = amp_rules_load(rules, name, err);
    if (status == AMP_OK)
        amp_print_rules(arena, rules, is_resolved);
    amp_rules_destroy(rules);
    return status;
}

/* ---- the list of sets ---- */

/* A line per set. */
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

/* One that is wrong does not hide the others. */
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
        amp_print_torch_name(arena, amp_torch_map_at(rules->torch, i));
    return AMP_OK;
}

static enum amp_status run(struct amp_arena *arena, const struct amp_options *options,
                           struct amp_error *err)
{
    if (options->names)
        return list_names(arena, err);
    if (options->diffs)
        return amp_rules_tool_diff(options, err);
    if (options->checks)
        return amp_rules_tool_check(arena, options->operands.items[0], err);
    if (options->operands.count == 0)
        return list_all(arena, err);
    return print_one(arena, options->operands.items[0], options->is_resolved, err);
}

enum amp_status amp_command_rules(const struct amp_options *options, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status = run(arena, options, err);
    amp_arena_destroy(arena);
    return status;
}
