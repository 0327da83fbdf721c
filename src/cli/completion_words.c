/*
 * The words that an option's value may be: takes an option, gives what the tables of dtypes, rule
 * sets, metrics, strategies and operators know of its value, and whether it is a path. Judges no
 * value; what has no row here is completed as the path that its argument names, or not at all.
 */
#include "cli/completion_words.h"

#include "autocast/rules/precision.h"
#include "autocast/rules/rules.h"
#include "check/metrics.h"
#include "check/task/task_metrics.h"
#include "cli/convert/stages.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/words.h"
#include "onnx/schema/schema.h"
#include "tune/search.h"

#include <string.h>

static const char *join(const char *text, const char *word, struct amp_arena *arena)
{
    return amp_arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? " " : "", word);
}

static const char *join_all(const char *(*name_at)(size_t i), struct amp_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; name_at(i) != NULL; i++)
        text = join(text, name_at(i), arena);
    return text;
}

/* ---- words of tables ------------------------------------------------------------------------- */

const char *amp_rule_set_words(struct amp_arena *arena)
{
    const char *const *names;
    const char *text = "";
    size_t count = 0;
    if (amp_rules_names(arena, &names, &count, NULL) != AMP_OK)
        return text;
    for (size_t i = 0; i < count; i++)
        text = join(text, names[i], arena);
    return text;
}

static const char *precisions(struct amp_arena *arena)
{
    const char *text = "";
    for (int i = 0; i < AMP_PRECISION_COUNT; i++)
        text = join(text, amp_precision_name((enum amp_precision)i), arena);
    return text;
}

/* The operators of ONNX itself, each once: the table has its versions next to each other. */
static const char *operators(struct amp_arena *arena)
{
    const char *text = "", *last = "";
    const struct amp_schema *schema;
    for (size_t i = 0; (schema = amp_schema_at(i)) != NULL; i++) {
        if (schema->domain[0] != '\0' || strcmp(schema->name, last) == 0)
            continue;
        last = schema->name;
        text = join(text, last, arena);
    }
    return text;
}

static const char *bounds(struct amp_arena *arena)
{
    return join(join_all(amp_metric_name_at, arena), join_all(amp_task_bound_name_at, arena),
                arena);
}

static const char *stages(struct amp_arena *arena)
{
    return join_all(amp_convert_stage_at, arena);
}

static const char *strategies(struct amp_arena *arena)
{
    return join_all(amp_strategy_name_at, arena);
}

/* ---- options --------------------------------------------------------------------------------- */

typedef const char *gather(struct amp_arena *arena);

/* What the options called NAME take: WORDS or what GATHER gives, and what GATHER_BEHIND gives
   behind '='. */
static const struct row {
    const char *name, *words;
    gather *gather, *gather_behind;
} rows[] = {
    {"dtype", "bf16 fp16 fp32", NULL, NULL},
    {"opset", "auto keep", NULL, NULL},
    {"io", "keep lower", NULL, NULL},
    {"cast-cache", "on off", NULL, NULL},
    {"grad-scaler", "on off", NULL, NULL},
    {"explain", "text json noise", NULL, NULL},
    {"dump-after", NULL, stages, NULL},
    {"rules", NULL, amp_rule_set_words, NULL},
    {"node", NULL, NULL, precisions},
    {"op", NULL, operators, precisions},
    {"tolerance", NULL, bounds, NULL},
    {"strategy", NULL, strategies, NULL},
    {"tune-for", "time bytes nodes", NULL, NULL},
    {"format", "npy pb", NULL, NULL},
    {"sort", "graph local accumulated", NULL, NULL},
};

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* The path that ARGUMENT, as the help has it, ends with. */
static enum amp_option_path path_of(const char *argument)
{
    static const struct {
        const char *ending;
        enum amp_option_path path;
    } endings[] = {{"FILE", AMP_PATH_FILE},
                   {"FILE]", AMP_PATH_FILE},
                   {"OUT", AMP_PATH_FILE},
                   {"PATH", AMP_PATH_FILE},
                   {"DIR", AMP_PATH_FOLDER}};
    for (size_t i = 0; i < AMP_COUNT(endings); i++)
        if (amp_word_has_ending(argument, endings[i].ending))
            return endings[i].path;
    return AMP_PATH_NONE;
}

/* Whether ARGUMENT is NAME=VALUE; "[=VALUE]" and "METRIC>=VALUE" are not. */
static bool is_pair(const char *argument)
{
    const char *equals = strchr(argument, '=');
    return equals != NULL && equals > argument && strchr("[<>", equals[-1]) == NULL;
}

struct amp_option_values amp_option_values(const struct amp_option *option, struct amp_arena *arena)
{
    const struct row *row = find_row(option->name);
    struct amp_option_values values = {.words = "",
                                       .behind = "",
                                       .is_pair = is_pair(option->argument),
                                       .is_bare =
                                           is_pair(option->argument) && option->argument[0] == '[',
                                       .path = path_of(option->argument)};
    if (row == NULL)
        return values;
    values.words = row->words != NULL ? row->words : row->gather != NULL ? row->gather(arena) : "";
    values.behind = row->gather_behind != NULL ? row->gather_behind(arena) : "";
    if (values.is_bare)
        values.behind = values.words;
    return values;
}
