/*
 * The list of rules: takes names of rule sets, files and overrides, gives their rules in one order.
 * Finds the files and follows `extends`; what a file says is parse.c's matter.
 */
#include "autocast/rules/rules.h"

#include "autocast/rules/name_pattern.h"
#include "autocast/rules/op_list.h"
#include "autocast/rules/op_name.h"
#include "autocast/rules/parse.h"
#include "core/arena.h"
#include "core/file/input.h"
#include "core/match/glob.h"
#include "core/paths.h"
#include "core/words.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    DEPTH_MAX = 16, /* of a chain of extends */
    /* Bounds on all files read for one list, those read twice counted twice: */
    FILES_MAX = 100,
    MIB_MAX = 4,
    VALUES_MAX = 200000
};

/* A file to read, and those that led to it. */
struct rule_file {
    const struct rule_file *parent; /* the one that extends it; NULL: asked for by the user */
    const char *path;
    const char *label; /* as rules name it */
    int depth;
    dev_t device; /* which file it is, under whatever path */
    ino_t inode;
};

/* ---- the list ---- */

/* What ONNX Runtime's tools leave between values seen and those to come; and a noise 40 dB below
   the value. */
static const double default_margin = 1.3, default_flush_max = 1e-4;

static struct amp_rule_limits widest_limits(enum amp_dtype dtype)
{
    return (struct amp_rule_limits){.weight_max = amp_dtype_max(dtype),
                                    .activation_max = amp_dtype_max(dtype),
                                    .margin = default_margin,
                                    .flush_max = dtype == AMP_FLOAT16 ? default_flush_max : 1};
}

struct amp_rules *amp_rules_create(struct amp_arena *arena)
{
    struct amp_rules *rules = amp_arena_alloc(arena, sizeof *rules);
    *rules = (struct amp_rules){
        .arena = arena,
        .work = amp_rule_work_create(arena),
        .bf16 = widest_limits(AMP_BFLOAT16),
        .fp16 = widest_limits(AMP_FLOAT16),
    };
    return rules;
}

struct amp_rules *amp_rules_copy(const struct amp_rules *rules, struct amp_arena *arena)
{
    struct amp_rules *copy = amp_arena_memdup(arena, rules, sizeof *rules);
    copy->arena = arena;
    copy->work = amp_rule_work_create(arena);
    copy->items = amp_arena_memdup(arena, rules->items, rules->count * sizeof *rules->items);
    copy->capacity = copy->count;
    return copy;
}

void amp_rules_name(struct amp_rules *rules, const char *name)
{
    rules->sets = amp_arena_alloc(rules->arena, sizeof *rules->sets);
    rules->sets[0] = (struct amp_rule_set){.name = name, .description = "", .file = ""};
    rules->n_sets = rules->sets_capacity = 1;
}

void amp_rules_destroy(struct amp_rules *rules)
{
    if (rules == NULL)
        return;
    amp_rule_work_free(rules->work);
}

static struct amp_rule *add_rule(struct amp_rules *rules)
{
    return amp_arena_push(rules->arena, &rules->items, &rules->count, &rules->capacity,
                          sizeof *rules->items);
}

enum amp_status amp_rules_add_op(struct amp_rules *rules, const char *op,
                                 enum amp_precision precision, struct amp_rule_source source,
                                 struct amp_error *err)
{
    struct amp_rule_ops ops = {.items = NULL};
    const char *problem;
    AMP_TRY(amp_op_name_resolve(rules, (struct amp_op_name){op, 0}, &ops, &problem, err));
    if (problem != NULL)
        return amp_fail(err, AMP_USAGE, "%s", problem);
    *add_rule(rules) = (struct amp_rule){
        .precision = precision, .source = source, .ops = ops.items, .n_ops = ops.count};
    return AMP_OK;
}

enum amp_status amp_rules_add_node(struct amp_rules *rules, const char *pattern,
                                   enum amp_precision precision, struct amp_rule_source source,
                                   struct amp_error *err)
{
    struct amp_rule_pattern *made = amp_arena_alloc(rules->arena, sizeof *made);
    const char *problem = amp_rule_pattern_glob(rules, pattern, made);
    if (problem != NULL)
        return amp_fail(err, AMP_USAGE, "'%.60s': %s", pattern, problem);
    *add_rule(rules) = (struct amp_rule){.precision = precision,
                                         .source = source,
                                         .nodes = amp_rule_patterns_of(rules->arena, made, 1)};
    return AMP_OK;
}

enum amp_status amp_rules_add_tensors(struct amp_rules *rules, const char *const *names, size_t n,
                                      enum amp_precision precision, struct amp_error *err)
{
    struct amp_rule_pattern *made = amp_arena_array(rules->arena, n, sizeof *made);
    for (size_t i = 0; i < n; i++) {
        const char *glob = amp_glob_escape(rules->arena, names[i]);
        const char *problem = amp_rule_pattern_glob(rules, glob, &made[i]);
        if (problem != NULL)
            return amp_fail(err, AMP_USAGE, "'%.60s': %s", names[i], problem);
    }
    if (n > 0)
        *add_rule(rules) =
            (struct amp_rule){.precision = precision,
                              .source = {.file = AMP_RULES_COMMAND_LINE},
                              .tensors = amp_rule_patterns_of(rules->arena, made, n)};
    return AMP_OK;
}

enum amp_status amp_rules_load_op_list(struct amp_rules *rules, const char *path,
                                       enum amp_precision precision, struct amp_error *err)
{
    struct amp_op_list list = {.keeps_unknown = false};
    AMP_TRY(amp_op_list_read(rules, path, &list, err));
    if (list.ops.count > 0)
        *add_rule(rules) = (struct amp_rule){.precision = precision,
                                             .source = list.source,
                                             .ops = list.ops.items,
                                             .n_ops = list.ops.count};
    return AMP_OK;
}

uint32_t amp_rules_named_dtypes(const struct amp_rules *rules)
{
    uint32_t dtypes = 0;
    for (size_t i = 0; i < rules->count; i++)
        dtypes |= AMP_DTYPE_BIT(amp_precision_dtype(rules->items[i].precision, AMP_UNDEFINED));
    return dtypes & AMP_RULES_DTYPES;
}

const struct amp_rule_limits *amp_rules_limits(const struct amp_rules *rules, enum amp_dtype dtype)
{
    return dtype == AMP_BFLOAT16 ? &rules->bf16 : dtype == AMP_FLOAT16 ? &rules->fp16 : NULL;
}

const char *amp_rules_dtypes_text(uint32_t dtypes)
{
    if ((dtypes & AMP_RULES_DTYPES) == AMP_RULES_DTYPES)
        return "bf16, fp16";
    return dtypes & AMP_DTYPE_BIT(AMP_BFLOAT16) ? "bf16" : "fp16";
}

static void drop_rules_of_others(struct amp_rules *rules, enum amp_dtype dtype)
{
    size_t kept = 0;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].dtypes == 0 || (rules->items[i].dtypes & AMP_DTYPE_BIT(dtype)) != 0)
            rules->items[kept++] = rules->items[i];
    rules->count = kept;
}

enum amp_status amp_rules_set_dtype(struct amp_rules *rules, enum amp_dtype dtype,
                                    struct amp_error *err)
{
    for (size_t i = 0; i < rules->n_sets; i++) {
        const struct amp_rule_set *set = &rules->sets[i];
        if (!(set->dtypes & AMP_DTYPE_BIT(dtype)))
            return amp_fail(err, AMP_RULES, "%s: rule set '%s' is not for %s; accepted: %s",
                            set->file, set->name, amp_rules_dtypes_text(AMP_DTYPE_BIT(dtype)),
                            amp_rules_dtypes_text(set->dtypes));
    }
    drop_rules_of_others(rules, dtype);
    return AMP_OK;
}

/* ---- the sets that come with the program ---- */

static int is_set_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && amp_word_has_ending(entry->d_name, ".yaml");
}

enum amp_status amp_rules_names(struct amp_arena *arena, const char *const **names, size_t *count,
                                struct amp_error *err)
{
    struct dirent **entries;
    int n = scandir(amp_rules_dir(), &entries, is_set_file, alphasort);
    if (n < 0)
        return amp_fail(err, AMP_IO, "%s: cannot open: %s", amp_rules_dir(), strerror(errno));
    const char **list = amp_arena_array(arena, (size_t)n, sizeof(char *));
    for (int i = 0; i < n; i++) {
        list[i] = amp_arena_strndup(arena, entries[i]->d_name,
                                    strlen(entries[i]->d_name) - strlen(".yaml"));
        free(entries[i]);
    }
    free(entries);
    *names = list;
    *count = (size_t)n;
    return AMP_OK;
}

/* "unknown rule set 'x' (did you mean ...?); accepted: ..., or a file FILE.yaml" */
static const char *unknown_set(struct amp_arena *arena, const char *name)
{
    const char *const *names = NULL;
    size_t count = 0;
    if (amp_rules_names(arena, &names, &count, NULL) != AMP_OK || count == 0)
        return amp_arena_printf(arena,
                                "unknown rule set '%s', and none in %s; accepted: a file FILE.yaml",
                                name, amp_rules_dir());
    const struct amp_word_list list = {"rule set", names, count};
    return amp_arena_printf(arena, "%s, or a file FILE.yaml",
                            amp_word_unknown(arena, &list, name, ""));
}

/* Whether the file at PATH lies where the sets that come with the program do. */
static bool is_shipped(struct amp_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *folder =
        slash != NULL ? amp_arena_strndup(arena, path, (size_t)(slash - path)) : ".";
    struct stat info, own;
    return stat(folder, &info) == 0 && stat(amp_rules_dir(), &own) == 0 &&
           info.st_dev == own.st_dev && info.st_ino == own.st_ino;
}

/* ---- files ---- */

bool amp_rules_is_path(const char *text)
{
    return strchr(text, '/') != NULL || amp_word_has_ending(text, ".yaml") ||
           amp_word_has_ending(text, ".yml");
}

/* The file that TEXT names: that of a set of that name, or a file, relative to the folder of PARENT
   (NULL: to the working folder). */
static struct rule_file locate(struct amp_arena *arena, const char *text,
                               const struct rule_file *parent)
{
    struct rule_file file = {.parent = parent, .depth = parent != NULL ? parent->depth + 1 : 1};
    const char *slash = parent != NULL ? strrchr(parent->path, '/') : NULL;
    if (!amp_rules_is_path(text)) {
        file.path = amp_arena_printf(arena, "%s/%s.yaml", amp_rules_dir(), text);
        file.label = amp_arena_printf(arena, "%s.yaml", text);
    } else if (slash != NULL && text[0] != '/') {
        int folder = (int)(slash - parent->path);
        text += strncmp(text, "./", 2) == 0 ? 2 : 0;
        file.path = amp_arena_printf(arena, "%.*s/%s", folder, parent->path, text);
        file.label = file.path;
    } else {
        file.path = file.label = amp_arena_strdup(arena, text);
    }
    return file;
}

/* Finds out which file it is; errno says why it cannot. */
static bool identify(struct rule_file *file)
{
    struct stat info;
    if (stat(file->path, &info) != 0)
        return false;
    file->device = info.st_dev;
    file->inode = info.st_ino;
    return true;
}

/* "a.yaml -> b.yaml -> a.yaml" when FILE is one of those that led to it, else NULL. */
static const char *find_cycle(struct amp_arena *arena, const struct rule_file *file)
{
    const char *chain = file->label;
    for (const struct rule_file *at = file->parent; at != NULL; at = at->parent) {
        chain = amp_arena_printf(arena, "%s -> %s", at->label, chain);
        if (at->device == file->device && at->inode == file->inode)
            return chain;
    }
    return NULL;
}

/* ---- loading ---- */

struct loader {
    struct amp_rules *rules;
    struct amp_arena *arena; /* of what is needed while loading */
    struct amp_error *err;
};

static enum amp_status load_file(struct loader *loader, const struct rule_file *file,
                                 struct amp_rule_set *set);

/* The file that ITEM of an `extends` list names, when it can be loaded. */
static enum amp_status locate_base(struct loader *loader, const struct amp_yaml *yaml,
                                   const struct amp_yaml_node *item, const struct rule_file *parent,
                                   struct rule_file *base)
{
    struct amp_arena *arena = loader->arena;
    struct amp_error found = {.status = AMP_OK};
    *base = locate(arena, item->text, parent);
    if (!identify(base)) {
        if (!amp_rules_is_path(item->text) && errno == ENOENT)
            return amp_yaml_fail(yaml, item, loader->err, "%s", unknown_set(arena, item->text));
        return amp_yaml_fail(yaml, item, loader->err,
                             "cannot open '%.200s': %s; accepted: a rule set, or a file",
                             base->path, strerror(errno));
    }
    if (amp_file_check(base->path, &found) != AMP_OK)
        return amp_yaml_fail(yaml, item, loader->err, "%s", found.text);
    const char *cycle = find_cycle(arena, base);
    if (cycle != NULL)
        return amp_yaml_fail(
            yaml, item, loader->err,
            "extends: a circle, %s; accepted: rule sets that do not lead back here", cycle);
    if (base->depth > DEPTH_MAX || loader->rules->n_files >= FILES_MAX)
        return amp_yaml_fail(
            yaml, item, loader->err,
            "extends: too many files; accepted: chains of %d files, and %d files in "
            "all, at most",
            DEPTH_MAX, FILES_MAX);
    return AMP_OK;
}

/* Loads what EXTENDS lists. *DTYPES becomes what all of them are for. */
static enum amp_status load_bases(struct loader *loader, const struct amp_yaml *yaml,
                                  const struct amp_yaml_node *extends,
                                  const struct rule_file *parent, uint32_t *dtypes)
{
    *dtypes = AMP_RULES_DTYPES;
    for (size_t i = 0; extends != NULL && i < extends->count; i++) {
        struct rule_file base;
        struct amp_rule_set set = {.dtypes = 0};
        AMP_TRY(locate_base(loader, yaml, extends->items[i], parent, &base));
        AMP_TRY(load_file(loader, &base, &set));
        *dtypes &= set.dtypes;
    }
    return AMP_OK;
}

static void override_limits(struct amp_rule_limits *limits, const struct amp_rule_limits *given)
{
    if (given->weight_max > 0)
        limits->weight_max = given->weight_max;
    if (given->activation_max > 0)
        limits->activation_max = given->activation_max;
    if (given->margin > 0)
        limits->margin = given->margin;
    if (given->flush_max > 0)
        limits->flush_max = given->flush_max;
    if (given->guards != AMP_GUARDS_UNSAID)
        limits->guards = given->guards;
}

/* Where RULE, of the user's file with LABEL, was written; NULL: in a list that the environment
   names. */
static const char *place_in(struct amp_arena *arena, const struct amp_rule *rule, const char *label)
{
    return strcmp(rule->source.file, label) != 0
               ? NULL
               : amp_arena_printf(arena, "%s:%d", label, rule->source.line);
}

/* Adds what DOCUMENT says to what came before. LABEL: of the user's own file; NULL: it comes with
   the program. */
static void append(struct amp_rules *rules, const struct amp_rules_document *document,
                   const char *label)
{
    for (size_t i = 0; i < document->n_rules; i++) {
        struct amp_rule *rule = add_rule(rules);
        *rule = document->rules[i];
        rule->place = label != NULL ? place_in(rules->arena, rule, label) : NULL;
    }
    if (document->has_unlisted)
        rules->unlisted = document->unlisted;
    if (document->has_constants)
        rules->constants = document->constants;
    override_limits(&rules->bf16, &document->bf16);
    override_limits(&rules->fp16, &document->fp16);
}

/* Reads FILE, which counts with the files before it. */
static enum amp_status read_file(struct loader *loader, const struct rule_file *file,
                                 struct amp_yaml *yaml)
{
    struct amp_rules *rules = loader->rules;
    AMP_TRY(amp_yaml_read(yaml, loader->arena, file->path, loader->err));
    rules->n_files++;
    rules->n_bytes += yaml->size;
    rules->n_values += yaml->n_nodes;
    if (rules->n_bytes > (size_t)MIB_MAX << 20 || rules->n_values > VALUES_MAX)
        return amp_fail(loader->err, AMP_RULES,
                        "%s: too much with the files before it; accepted: rule files of %d MiB and "
                        "%d values in all",
                        file->path, MIB_MAX, VALUES_MAX);
    return AMP_OK;
}

static enum amp_status load_file(struct loader *loader, const struct rule_file *file,
                                 struct amp_rule_set *set)
{
    struct amp_rules *rules = loader->rules;
    struct amp_rules_document document;
    struct amp_yaml yaml;
    uint32_t inherited;
    const char *label = amp_arena_strdup(rules->arena, file->label);
    AMP_TRY(read_file(loader, file, &yaml));
    AMP_TRY(amp_rules_parse(rules, &yaml, label, &document, loader->err));
    AMP_TRY(load_bases(loader, &yaml, document.extends, file, &inherited));
    if (document.dtypes == 0 && inherited == 0)
        return amp_yaml_fail(&yaml, document.extends, loader->err,
                             "extends: sets without a common dtype; accepted: sets with one, or "
                             "'dtypes' in this file");
    append(rules, &document, is_shipped(loader->arena, file->path) ? NULL : label);
    *set = (struct amp_rule_set){
        .name = document.name,
        .description = document.description != NULL ? document.description : "",
        .file = label,
        .dtypes = document.dtypes != 0 ? document.dtypes : inherited,
    };
    return AMP_OK;
}

static enum amp_status load(struct loader *loader, const char *text)
{
    struct amp_rules *rules = loader->rules;
    struct rule_file file = locate(loader->arena, text, NULL);
    struct amp_rule_set set;
    if (!identify(&file) && errno == ENOENT && !amp_rules_is_path(text))
        return amp_fail(loader->err, AMP_USAGE, "%s", unknown_set(loader->arena, text));
    AMP_TRY(load_file(loader, &file, &set));
    struct amp_rule_set *slot = amp_arena_push(rules->arena, &rules->sets, &rules->n_sets,
                                               &rules->sets_capacity, sizeof *slot);
    *slot = set;
    return AMP_OK;
}

enum amp_status amp_rules_load(struct amp_rules *rules, const char *name_or_file,
                               struct amp_error *err)
{
    struct loader loader = {rules, amp_arena_create(), err};
    enum amp_status status = load(&loader, name_or_file);
    amp_arena_destroy(loader.arena);
    return status;
}
