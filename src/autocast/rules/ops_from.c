/*
 * Lists of operators in place of those of a rule: takes the environment variables that a rule
 * names, gives the operators of the file that one of them leads to. What becomes of the rule is
 * parse.c's matter.
 */
#include "autocast/rules/ops_from.h"

#include "core/arena.h"

#include <stdlib.h>

static void add_note(struct amp_rules *rules, const char *text)
{
    const char **slot = amp_arena_push(rules->arena, &rules->notes, &rules->n_notes,
                                       &rules->notes_capacity, sizeof *slot);
    *slot = text;
}

/* The first of VARIABLES that is set and not empty; their count when none is. */
static size_t find_set(const struct amp_yaml_node *variables)
{
    size_t i = 0;
    while (i < variables->count) {
        const char *path = getenv(variables->items[i]->text);
        if (path != NULL && *path != '\0')
            break;
        i++;
    }
    return i;
}

static void note_unknown(struct amp_rules *rules, const struct amp_op_list *list)
{
    if (list->n_unknown > 0)
        add_note(rules, amp_arena_printf(
                            rules->arena,
                            "%s: %zu of the names are not known here and change nothing: %s%s",
                            list->source.file, list->n_unknown, list->unknown,
                            list->n_unknown > AMP_OP_LIST_NAMED ? ", ..." : ""));
}

enum amp_status amp_rules_read_ops_from(const struct amp_rules_binder *b,
                                        const struct amp_yaml_node *variables, bool *is_given,
                                        struct amp_op_list *list)
{
    struct amp_error problem = {.status = AMP_OK};
    size_t i = find_set(variables);
    *is_given = i < variables->count;
    if (!*is_given)
        return AMP_OK;
    const char *variable = variables->items[i]->text;
    *list = (struct amp_op_list){.keeps_unknown = true};
    if (amp_op_list_read(b->rules, getenv(variable), list, &problem) != AMP_OK) {
        amp_error_prefix(&problem, "%s", variable);
        return amp_error_copy(b->err, &problem);
    }
    if (i > 0)
        add_note(b->rules, amp_arena_printf(b->rules->arena, "%s is deprecated; use %s", variable,
                                            variables->items[0]->text));
    note_unknown(b->rules, list);
    return AMP_OK;
}
