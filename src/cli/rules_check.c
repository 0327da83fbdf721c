/*
 * `ampconv rules --check`: takes a rule set, prints which of its rules can have no effect.
 */
#include "autocast/rules/check.h"
#include "cli/rules_tools.h"
#include "core/print.h"

#include <stdio.h>

static enum amp_status report(const struct amp_rules *rules, struct amp_error *err)
{
    struct amp_rule_finding *findings;
    size_t count, mistakes = 0;
    AMP_TRY(amp_rules_check(rules, &findings, &count, err));
    for (size_t i = 0; i < count; i++) {
        const struct amp_rule_finding *finding = &findings[i];
        mistakes += !finding->is_note;
        amp_print(stdout, "%s:%d: %s%s\n", finding->rule->source.file, finding->line,
                  finding->is_note ? "note: " : "", finding->text);
    }
    if (mistakes > 0)
        return amp_fail(err, AMP_RULES, "%s: %zu %s without effect", rules->sets[0].file, mistakes,
                        mistakes == 1 ? "rule" : "rules");
    return AMP_OK;
}

enum amp_status amp_rules_tool_check(struct amp_arena *arena, const char *name,
                                     struct amp_error *err)
{
    struct amp_rules *rules = amp_rules_create(arena);
    enum amp_status status = amp_rules_load(rules, name, err);
    if (status == AMP_OK)
        status = report(rules, err);
    amp_rules_destroy(rules);
    return status;
}
