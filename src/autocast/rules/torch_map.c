/*
 * The table of PyTorch's names: takes the file that comes with the program, gives the operators and
 * composites of each name. A row says one thing of one or more names, and the rows of a name add
 * up.
 */
#include "autocast/rules/torch_map.h"

#include "autocast/rules/bind.h"
#include "autocast/rules/op.h"
#include "autocast/rules/when.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/paths.h"
#include "core/strmap.h"
#include "core/words.h"
#include "pattern/composites.h"

#include <stdlib.h>
#include <string.h>

#define FAIL(b, node, ...) amp_yaml_fail((b)->yaml, node, (b)->err, __VA_ARGS__)

typedef struct amp_yaml_node yaml_node;
typedef struct amp_rules_binder binder;

static const char LABEL[] = "pytorch.map";

struct amp_torch_map {
    struct amp_arena *arena;
    struct amp_torch_name *names;
    size_t n_names, names_capacity;
    struct amp_strmap by_name;       /* to indices in names */
    struct amp_torch_name *variants; /* name: the ending, as the "_" of add_ */
    size_t n_variants, variants_capacity;
    struct amp_torch_notes aten, modules;
    struct amp_torch_texts calls, constants;
    struct amp_torch_aparts apart;
    struct amp_torch_composite *composites;
    size_t n_composites, composites_capacity;
};

/* ---- what the table says ---- */

static const struct amp_torch_name *find_exact(const struct amp_torch_map *map, const char *name)
{
    uint32_t index;
    return amp_strmap_get(&map->by_name, name, &index) ? &map->names[index] : NULL;
}

/* Whether WORD is a name of the table and ENDING after it. */
static bool is_variant(const struct amp_torch_map *map, const char *word, const char *ending)
{
    char stem[64];
    size_t length = strlen(word) - (amp_word_has_ending(word, ending) ? strlen(ending) : 0);
    if (length == strlen(word) || length >= sizeof stem)
        return false;
    memcpy(stem, word, length);
    stem[length] = '\0';
    return find_exact(map, stem) != NULL;
}

const struct amp_torch_name *amp_torch_map_find(const struct amp_torch_map *map, const char *name)
{
    const struct amp_torch_name *found = find_exact(map, name);
    for (size_t i = 0; found == NULL && i < map->n_variants; i++)
        if (is_variant(map, name, map->variants[i].name))
            found = &map->variants[i];
    return found;
}

const char *amp_torch_map_nearest(const struct amp_torch_map *map, const char *word)
{
    const char **words = amp_xmalloc(map->n_names, sizeof(char *));
    for (size_t i = 0; i < map->n_names; i++)
        words[i] = map->names[i].name;
    const char *nearest = amp_word_nearest(word, words, map->n_names);
    free(words);
    return nearest;
}

const struct amp_torch_name *amp_torch_map_at(const struct amp_torch_map *map, size_t index)
{
    return index < map->n_names ? &map->names[index] : NULL;
}

const struct amp_torch_notes *amp_torch_map_aten(const struct amp_torch_map *map)
{
    return &map->aten;
}

const struct amp_torch_notes *amp_torch_map_modules(const struct amp_torch_map *map)
{
    return &map->modules;
}

const struct amp_torch_texts *amp_torch_map_calls(const struct amp_torch_map *map)
{
    return &map->calls;
}

const struct amp_torch_aparts *amp_torch_map_apart(const struct amp_torch_map *map)
{
    return &map->apart;
}

const struct amp_torch_texts *amp_torch_map_constants(const struct amp_torch_map *map)
{
    return &map->constants;
}

const struct amp_torch_composite *amp_torch_map_composite(const struct amp_torch_map *map,
                                                          const char *name)
{
    for (size_t i = 0; i < map->n_composites; i++)
        if (strcmp(map->composites[i].name, name) == 0)
            return &map->composites[i];
    return NULL;
}

const char *amp_torch_kind_name(enum amp_torch_kind kind)
{
    static const char *const names[AMP_TORCH_KIND_COUNT] = {"mapped", "composite", "conditional",
                                                            "none"};
    return names[kind];
}

enum amp_torch_kind amp_torch_kind(const struct amp_torch_name *name)
{
    enum amp_torch_kind kind = AMP_TORCH_NONE;
    for (size_t i = 0; i < name->forms.count; i++) {
        const struct amp_rule_op *form = &name->forms.items[i];
        if (form->name == NULL)
            continue;
        if (strcmp(form->domain, AMP_RULES_COMPOSITE) == 0)
            kind = kind == AMP_TORCH_NONE ? AMP_TORCH_COMPOSITE : kind;
        else if (form->condition == NULL)
            return AMP_TORCH_MAPPED;
        else
            kind = AMP_TORCH_CONDITIONAL;
    }
    return kind;
}

/* ---- rows ---- */

/* What one row says: ONNX or COMPOSITE or both, or REASON. */
struct row {
    const yaml_node *torch, *onnx, *composite, *when;
    const yaml_node *aten, *modules; /* how the exporter notes it, beside the names themselves */
    const char *reason;
    const char *opsets, *note; /* for people */
};

/* Keeps a list of texts for later: what one key means depends on the others. */
static enum amp_status keep_texts(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    *(const yaml_node **)field = value;
    return amp_check_texts(b, name, value, 1);
}

static enum amp_status keep_node(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    (void)b, (void)name;
    *(const yaml_node **)field = value;
    return AMP_OK;
}

static const struct amp_key row_keys[] = {
    {"torch", keep_texts, offsetof(struct row, torch), true},
    {"onnx", keep_texts, offsetof(struct row, onnx), false},
    {"composite", keep_texts, offsetof(struct row, composite), false},
    {"aten", keep_texts, offsetof(struct row, aten), false},
    {"modules", keep_texts, offsetof(struct row, modules), false},
    {"when", keep_node, offsetof(struct row, when), false},
    {"opsets", amp_bind_text, offsetof(struct row, opsets), false},
    {"none", amp_bind_text, offsetof(struct row, reason), false},
    {"note", amp_bind_text, offsetof(struct row, note), false},
};
static const struct amp_mapping row_mapping = {"a row", row_keys, AMP_COUNT(row_keys)};

/* The table is made of ONNX's and other domains' operators alone. */
static enum amp_status add_operator(const binder *b, const yaml_node *node,
                                    struct amp_rule_ops *forms)
{
    struct amp_arena *scratch = b->yaml->arena;
    struct amp_rule_op op;
    if (!amp_rule_op_parse(b->arena, node->text, &op))
        return FAIL(
            b, node, "%s",
            amp_rule_op_unknown(scratch, node->text, amp_rule_op_nearest(scratch, node->text), ""));
    amp_rule_ops_push(b->arena, forms, op);
    return AMP_OK;
}

static enum amp_status add_composites(const binder *b, const yaml_node *names,
                                      struct amp_rule_ops *forms)
{
    for (size_t i = 0; names != NULL && i < names->count; i++) {
        const struct amp_composite *composite = amp_composite_find(names->items[i]->text);
        if (composite == NULL)
            return FAIL(b, names->items[i], "unknown composite '%.60s'", names->items[i]->text);
        amp_rule_ops_push(
            b->arena, forms,
            (struct amp_rule_op){.domain = AMP_RULES_COMPOSITE, .name = composite->name});
    }
    return AMP_OK;
}

/* The operators and composites of a row, or the one form that says why there is none. */
static enum amp_status forms_of(const binder *b, const struct row *row, struct amp_rule_ops *forms)
{
    struct amp_arena *arena = b->arena;
    struct amp_rule_condition *condition = NULL;
    for (size_t i = 0; row->onnx != NULL && i < row->onnx->count; i++)
        AMP_TRY(add_operator(b, row->onnx->items[i], forms));
    if (row->when != NULL) {
        condition = amp_arena_alloc(arena, sizeof *condition);
        AMP_TRY(amp_rules_bind_when(b, row->when, forms, condition));
    }
    AMP_TRY(add_composites(b, row->composite, forms));
    if (row->reason != NULL)
        amp_rule_ops_push(arena, forms, (struct amp_rule_op){.domain = "", .reason = row->reason});
    for (size_t i = 0; i < forms->count; i++) {
        forms->items[i].is_torch = true;
        forms->items[i].condition = condition;
    }
    return AMP_OK;
}

static struct amp_torch_name *name_slot(struct amp_torch_map *map, const char *name)
{
    uint32_t index;
    if (amp_strmap_get(&map->by_name, name, &index))
        return &map->names[index];
    struct amp_torch_name *slot =
        amp_arena_push(map->arena, &map->names, &map->n_names, &map->names_capacity, sizeof *slot);
    slot->name = amp_arena_strdup(map->arena, name);
    amp_strmap_put(&map->by_name, map->arena, slot->name, (uint32_t)(map->n_names - 1));
    return slot;
}

static enum amp_status add_forms(const binder *b, const yaml_node *name, bool is_none,
                                 const struct amp_rule_ops *forms, struct amp_torch_map *map)
{
    struct amp_torch_name *slot = name_slot(map, name->text);
    if (forms->count > 0 && slot->forms.count > 0 && (is_none || slot->forms.items[0].name == NULL))
        return FAIL(b, name,
                    "'%.60s' has a form in one row and none in another; accepted: one of "
                    "them",
                    name->text);
    for (size_t i = 0; i < forms->count; i++)
        amp_rule_ops_push(map->arena, &slot->forms, forms->items[i]);
    return AMP_OK;
}

/* Notes that each of TEXTS stands for the names of ROW, under the row's condition. */
static void add_notes(struct amp_torch_map *map, const struct row *row, const yaml_node *texts,
                      const struct amp_rule_ops *forms, struct amp_torch_notes *notes)
{
    for (size_t i = 0; texts != NULL && i < texts->count; i++)
        for (size_t k = 0; k < row->torch->count; k++) {
            struct amp_torch_note *note = amp_arena_push(map->arena, &notes->items, &notes->count,
                                                         &notes->capacity, sizeof *note);
            *note = (struct amp_torch_note){
                .text = amp_arena_strdup(map->arena, texts->items[i]->text),
                .name = amp_arena_strdup(map->arena, row->torch->items[k]->text),
                .condition = forms->count > 0 ? forms->items[0].condition : NULL,
                .forms = forms};
        }
}

static enum amp_status bind_row(const binder *b, const yaml_node *node, struct amp_torch_map *map)
{
    struct row row = {.torch = NULL};
    struct amp_rule_ops *forms = amp_arena_alloc(b->arena, sizeof *forms);
    AMP_TRY(amp_bind_mapping(b, "rows", node, &row_mapping, &row));
    bool has_form = row.onnx != NULL || row.composite != NULL;
    bool has_note = row.aten != NULL || row.modules != NULL;
    if (has_form ? row.reason != NULL : row.reason == NULL && !has_note)
        return FAIL(b, node,
                    "a row with a form and without one; accepted: onnx, composite or both, "
                    "none, or a note alone");
    AMP_TRY(forms_of(b, &row, forms));
    add_notes(map, &row, row.aten, forms, &map->aten);
    add_notes(map, &row, row.modules, forms, &map->modules);
    for (size_t i = 0; i < row.torch->count; i++)
        AMP_TRY(add_forms(b, row.torch->items[i], row.reason != NULL, forms, map));
    return AMP_OK;
}

typedef enum amp_status item_binder(const binder *b, const yaml_node *node,
                                    struct amp_torch_map *map);

/* Has BIND check each row of the list VALUE. */
static enum amp_status bind_list(const binder *b, const char *name, const yaml_node *value,
                                 item_binder *bind, struct amp_torch_map *map)
{
    if (value->kind != AMP_YAML_LIST)
        return amp_wrong_type(b, name, value, "a list of rows");
    for (size_t i = 0; i < value->count; i++)
        AMP_TRY(bind(b, value->items[i], map));
    return AMP_OK;
}

static enum amp_status bind_rows(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    return bind_list(b, name, value, bind_row, field);
}

/* ---- variants ---- */

struct variant {
    const char *ending, *reason;
};

static const struct amp_key variant_keys[] = {
    {"ending", amp_bind_text, offsetof(struct variant, ending), true},
    {"none", amp_bind_text, offsetof(struct variant, reason), true},
};
static const struct amp_mapping variant_mapping = {"a variant", variant_keys,
                                                   AMP_COUNT(variant_keys)};

static enum amp_status bind_variants(const binder *b, const char *name, const yaml_node *value,
                                     void *field)
{
    struct amp_torch_map *map = field;
    if (value->kind != AMP_YAML_LIST)
        return amp_wrong_type(b, name, value, "a list of variants");
    for (size_t i = 0; i < value->count; i++) {
        struct variant variant = {.ending = NULL};
        AMP_TRY(amp_bind_mapping(b, name, value->items[i], &variant_mapping, &variant));
        struct amp_torch_name *slot = amp_arena_push(map->arena, &map->variants, &map->n_variants,
                                                     &map->variants_capacity, sizeof *slot);
        slot->name = variant.ending;
        amp_rule_ops_push(
            map->arena, &slot->forms,
            (struct amp_rule_op){.domain = "", .is_torch = true, .reason = variant.reason});
    }
    return AMP_OK;
}

/* ---- composites ---- */

/* Copies a list of texts. */
static enum amp_status bind_texts(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    struct amp_torch_texts *texts = field;
    AMP_TRY(amp_check_texts(b, name, value, 1));
    for (size_t i = 0; i < value->count; i++)
        *(const char **)amp_arena_push(b->arena, &texts->items, &texts->count, &texts->capacity,
                                       sizeof *texts->items) =
            amp_arena_strdup(b->arena, value->items[i]->text);
    return AMP_OK;
}

static enum amp_status bind_runs(const binder *b, const char *name, const yaml_node *value,
                                 void *field)
{
    static const char *const names[] = {"whole", "parts", "by form"};
    static const struct amp_word_list list = {"what PyTorch runs", names, AMP_COUNT(names)};
    size_t index = 0;
    AMP_TRY(amp_bind_word(b, name, value, &list, &index));
    *(enum amp_torch_runs *)field = (enum amp_torch_runs)index;
    return AMP_OK;
}

/* What a row about composites says of each. */
struct composite_row {
    const yaml_node *names;
    struct amp_torch_composite says;
};

#define SAYS(field) \
    (offsetof(struct composite_row, says) + offsetof(struct amp_torch_composite, field))

static const struct amp_key composite_keys[] = {
    {"composite", keep_texts, offsetof(struct composite_row, names), true},
    {"runs", bind_runs, SAYS(runs), true},
    {"parts_with", bind_texts, SAYS(parts_with), false},
    {"aten", bind_texts, SAYS(aten), false},
    {"why", amp_bind_text, SAYS(reason), true},
};
static const struct amp_mapping composite_mapping = {"a row of composites", composite_keys,
                                                     AMP_COUNT(composite_keys)};

static enum amp_status bind_composite(const binder *b, const yaml_node *node,
                                      struct amp_torch_map *map)
{
    struct composite_row row = {.names = NULL};
    AMP_TRY(amp_bind_mapping(b, "composites", node, &composite_mapping, &row));
    for (size_t i = 0; i < row.names->count; i++) {
        const struct amp_composite *composite = amp_composite_find(row.names->items[i]->text);
        if (composite == NULL)
            return FAIL(b, row.names->items[i], "unknown composite '%.60s'",
                        row.names->items[i]->text);
        struct amp_torch_composite *slot =
            amp_arena_push(map->arena, &map->composites, &map->n_composites,
                           &map->composites_capacity, sizeof *slot);
        *slot = row.says;
        slot->name = composite->name;
    }
    return AMP_OK;
}

static enum amp_status bind_composites(const binder *b, const char *name, const yaml_node *value,
                                       void *field)
{
    return bind_list(b, name, value, bind_composite, field);
}

/* ---- what functions become ---- */

static const struct amp_key apart_keys[] = {
    {"torch", bind_texts, offsetof(struct amp_torch_apart, names), true},
    {"into", bind_texts, offsetof(struct amp_torch_apart, into), true},
};
static const struct amp_mapping apart_mapping = {"a row of apart", apart_keys,
                                                 AMP_COUNT(apart_keys)};

static enum amp_status bind_apart_row(const binder *b, const yaml_node *node,
                                      struct amp_torch_map *map)
{
    struct amp_torch_apart apart = {.names = {.items = NULL}};
    AMP_TRY(amp_bind_mapping(b, "apart", node, &apart_mapping, &apart));
    *(struct amp_torch_apart *)amp_arena_push(map->arena, &map->apart.items, &map->apart.count,
                                              &map->apart.capacity, sizeof apart) = apart;
    return AMP_OK;
}

static enum amp_status bind_apart(const binder *b, const char *name, const yaml_node *value,
                                  void *field)
{
    return bind_list(b, name, value, bind_apart_row, field);
}

/* ---- the file ---- */

static const struct amp_key map_keys[] = {
    {"variants", bind_variants, 0, true},
    {"composites", bind_composites, 0, true},
    {"calls", bind_texts, offsetof(struct amp_torch_map, calls), true},
    {"constants", bind_texts, offsetof(struct amp_torch_map, constants), true},
    {"apart", bind_apart, 0, true},
    {"rows", bind_rows, 0, true},
};
static const struct amp_mapping map_mapping = {"the table", map_keys, AMP_COUNT(map_keys)};

static enum amp_status read_map(struct amp_rules *rules, struct amp_arena *scratch,
                                struct amp_torch_map *map, struct amp_error *err)
{
    struct amp_yaml yaml;
    const char *path = amp_arena_printf(scratch, "%s/%s", amp_rules_dir(), LABEL);
    AMP_TRY(amp_yaml_read(&yaml, scratch, path, err));
    const binder b = {rules->arena, rules, &yaml, LABEL, err};
    return amp_bind_mapping(&b, "the file", yaml.root, &map_mapping, map);
}

enum amp_status amp_torch_map_get(struct amp_rules *rules, struct amp_error *err)
{
    if (rules->torch != NULL)
        return AMP_OK;
    struct amp_torch_map *map = amp_arena_alloc(rules->arena, sizeof *map);
    struct amp_arena *scratch = amp_arena_create();
    map->arena = rules->arena;
    enum amp_status status = read_map(rules, scratch, map, err);
    amp_arena_destroy(scratch);
    if (status == AMP_OK)
        rules->torch = map;
    return status;
}
