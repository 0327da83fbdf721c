/*
 * YAML to a tree: takes a file, gives nodes with their places. libyaml's events are consumed here
 * and nowhere else. Bounds on size, depth and number of nodes keep any input cheap; what the nodes
 * mean is parse.c's matter.
 */
#include "autocast/rules/yaml.h"

#include "autocast/rules/excerpt.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/file/input.h"
#include "core/strmap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
    SIZE_MAX_BYTES = 1 << 20,
    DEPTH_MAX = 32,
    NODES_MAX = 100000, /* aliased ones counted each time */
    KEYS_MAX = 64       /* of one mapping */
};

struct builder {
    struct amp_yaml *yaml;
    struct amp_error *err;
    yaml_parser_t parser;
    yaml_event_t event; /* the one being looked at */
    struct amp_strmap anchor_ids;
    struct amp_yaml_node **anchors;
    size_t n_anchors, anchors_capacity;
    size_t n_nodes, n_bytes; /* of text; both as if aliases were written out */
    int depth;
};

/* ---- messages ---- */

static enum amp_status fail_at(const struct amp_yaml *yaml, struct amp_place place,
                               struct amp_error *err, const char *message)
{
    struct amp_excerpt excerpt;
    amp_excerpt(yaml->text, yaml->size, place, &excerpt);
    return amp_fail(err, AMP_RULES, "%s:%d:%d: %s\n%s\n%s", yaml->path, place.line, place.column,
                    message, excerpt.line, excerpt.caret);
}

enum amp_status amp_yaml_fail(const struct amp_yaml *yaml, const struct amp_yaml_node *node,
                              struct amp_error *err, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail_at(yaml, (struct amp_place){node->line, node->column}, err, message);
}

static struct amp_place place_of_mark(yaml_mark_t mark)
{
    return (struct amp_place){(int)mark.line + 1, (int)mark.column + 1};
}

/* Records MESSAGE at the event being looked at. */
static enum amp_status fail_here(const struct builder *b, const char *message)
{
    return fail_at(b->yaml, place_of_mark(b->event.start_mark), b->err, message);
}

/* Whether what stopped the scanner is an alias without a name: most likely a glob. */
static bool is_bare_star(const yaml_parser_t *parser)
{
    return parser->context != NULL && strcmp(parser->context, "while scanning an alias") == 0;
}

/* What the reader cannot decode comes with an offset, the rest with a mark and often a context. */
static enum amp_status fail_syntax(const struct builder *b)
{
    const yaml_parser_t *parser = &b->parser;
    const struct amp_yaml *yaml = b->yaml;
    char message[512];
    if (parser->error == YAML_MEMORY_ERROR)
        return amp_fail(b->err, AMP_IO, "%s: out of memory", yaml->path);
    if (parser->error == YAML_READER_ERROR) {
        size_t offset = parser->problem_offset < yaml->size ? parser->problem_offset : yaml->size;
        snprintf(message, sizeof message, "not text: %s; accepted: YAML in UTF-8", parser->problem);
        return fail_at(yaml, amp_place_of(yaml->text, yaml->size, offset), b->err, message);
    }
    if (is_bare_star(parser))
        return fail_at(yaml, place_of_mark(parser->context_mark), b->err,
                       "a '*' without quotes begins an alias in YAML; accepted: text that begins "
                       "with it in quotes, as \"*\" or \"*/layer.0/*\"");
    if (parser->context != NULL)
        snprintf(message, sizeof message, "not YAML: %s, %s from line %d", parser->problem,
                 parser->context, (int)parser->context_mark.line + 1);
    else
        snprintf(message, sizeof message, "not YAML: %s", parser->problem);
    return fail_at(yaml, place_of_mark(parser->problem_mark), b->err, message);
}

/* ---- building ---- */

static enum amp_status advance(struct builder *b)
{
    yaml_event_delete(&b->event);
    if (!yaml_parser_parse(&b->parser, &b->event))
        return fail_syntax(b);
    return AMP_OK;
}

static struct amp_yaml_node *new_node(const struct builder *b, enum amp_yaml_kind kind)
{
    struct amp_yaml_node *node = amp_arena_alloc(b->yaml->arena, sizeof *node);
    struct amp_place place = place_of_mark(b->event.start_mark);
    node->kind = kind;
    node->line = place.line;
    node->column = place.column;
    node->weight = 1;
    node->size = 0;
    return node;
}

static enum amp_status count_nodes(struct builder *b, size_t count, size_t bytes)
{
    b->n_nodes += count;
    b->n_bytes += bytes;
    if (b->n_nodes > NODES_MAX)
        return fail_here(b, "too many values; accepted: 100000 at most, aliased ones counted each "
                            "time");
    if (b->n_bytes > SIZE_MAX_BYTES)
        return fail_here(b, "too much text; accepted: 1 MiB at most, aliased ones counted each "
                            "time");
    return AMP_OK;
}

/* Makes a copy of the anchor's node, so that a message shows where the alias stands. */
static enum amp_status build_alias(struct builder *b, struct amp_yaml_node **node)
{
    char message[240];
    uint32_t id;
    const char *name = (const char *)b->event.data.alias.anchor;
    if (!amp_strmap_get(&b->anchor_ids, name, &id)) {
        snprintf(message, sizeof message,
                 "alias '*%.60s' has no anchor before it; accepted: an anchor's name, or text in "
                 "quotes, \"*%.60s\"",
                 name, name);
        return fail_here(b, message);
    }
    const struct amp_yaml_node *target = b->anchors[id];
    AMP_TRY(count_nodes(b, target->weight, target->size));
    *node = new_node(b, target->kind);
    struct amp_yaml_node place = **node;
    **node = *target;
    (*node)->line = place.line;
    (*node)->column = place.column;
    return AMP_OK;
}

static enum amp_status build_scalar(struct builder *b, struct amp_yaml_node **node)
{
    const char *value = (const char *)b->event.data.scalar.value;
    size_t length = b->event.data.scalar.length;
    if (memchr(value, '\0', length) != NULL)
        return fail_here(b, "text with a NUL character; accepted: text without");
    AMP_TRY(count_nodes(b, 0, length));
    *node = new_node(b, AMP_YAML_SCALAR);
    (*node)->size = length;
    (*node)->text = amp_arena_strndup(b->yaml->arena, value, length);
    (*node)->is_plain = b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return AMP_OK;
}

static enum amp_status check_key(const struct builder *b, const struct amp_yaml_node *mapping,
                                 const struct amp_yaml_node *key)
{
    if (key->kind != AMP_YAML_SCALAR)
        return amp_yaml_fail(b->yaml, key, b->err, "a key that is %s; accepted: text",
                             key->kind == AMP_YAML_LIST ? "a list" : "a mapping");
    if (mapping->count >= 2 * (size_t)KEYS_MAX)
        return amp_yaml_fail(b->yaml, key, b->err,
                             "too many keys in one mapping; accepted: %d at most", KEYS_MAX);
    for (size_t i = 0; i < mapping->count; i += 2)
        if (strcmp(mapping->items[i]->text, key->text) == 0)
            return amp_yaml_fail(b->yaml, key, b->err,
                                 "key '%.60s' again, as in line %d; accepted: each key once",
                                 key->text, mapping->items[i]->line);
    return AMP_OK;
}

static enum amp_status build_node(struct builder *b, struct amp_yaml_node **node);

/* Items up to the event END; build_node's recursion passes through here, bounded. */
static enum amp_status build_items(struct builder *b, struct amp_yaml_node *node,
                                   yaml_event_type_t end)
{
    if (++b->depth > DEPTH_MAX)
        return fail_here(b, "nested too deep; accepted: 32 levels at most");
    for (;;) {
        struct amp_yaml_node *item;
        AMP_TRY(advance(b));
        if (b->event.type == end)
            break;
        AMP_TRY(build_node(b, &item));
        if (node->kind == AMP_YAML_MAPPING && node->count % 2 == 0)
            AMP_TRY(check_key(b, node, item));
        struct amp_yaml_node **slot = amp_arena_push(b->yaml->arena, &node->items, &node->count,
                                                     &node->capacity, sizeof(void *));
        *slot = item;
        node->weight += item->weight;
        node->size += item->size;
    }
    b->depth--;
    return AMP_OK;
}

/* The name after '&' and the tag after '!' of the node that begins with this event; NULL: none. */
static void read_properties(const yaml_event_t *event, const char **anchor, const char **tag)
{
    *anchor = *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        *anchor = (const char *)event->data.scalar.anchor;
        *tag = (const char *)event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        *anchor = (const char *)event->data.sequence_start.anchor;
        *tag = (const char *)event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        *anchor = (const char *)event->data.mapping_start.anchor;
        *tag = (const char *)event->data.mapping_start.tag;
    }
}

static void add_anchor(struct builder *b, const char *name, struct amp_yaml_node *node)
{
    struct amp_arena *arena = b->yaml->arena;
    amp_strmap_put(&b->anchor_ids, arena, name, (uint32_t)b->n_anchors);
    struct amp_yaml_node **slot =
        amp_arena_push(arena, &b->anchors, &b->n_anchors, &b->anchors_capacity, sizeof(void *));
    *slot = node;
}

static enum amp_status build_content(struct builder *b, struct amp_yaml_node **node)
{
    if (b->event.type == YAML_SCALAR_EVENT)
        return build_scalar(b, node);
    bool is_list = b->event.type == YAML_SEQUENCE_START_EVENT;
    *node = new_node(b, is_list ? AMP_YAML_LIST : AMP_YAML_MAPPING);
    return build_items(b, *node, is_list ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT);
}

/* The node that begins with the event at hand; its last event is then at hand. An anchor counts
   from the node's end on, so that none can contain itself. */
static enum amp_status build_node(struct builder *b, struct amp_yaml_node **node)
{
    const char *anchor, *tag;
    if (b->event.type == YAML_ALIAS_EVENT)
        return build_alias(b, node);
    AMP_TRY(count_nodes(b, 1, 0));
    read_properties(&b->event, &anchor, &tag);
    if (tag != NULL)
        return fail_here(b, "a tag; accepted: values without tags");
    char *name = anchor != NULL ? amp_arena_strdup(b->yaml->arena, anchor) : NULL;
    AMP_TRY(build_content(b, node));
    if (name != NULL)
        add_anchor(b, name, *node);
    return AMP_OK;
}

static enum amp_status build_document(struct builder *b)
{
    AMP_TRY(advance(b)); /* the stream's start */
    AMP_TRY(advance(b)); /* the document's start */
    if (b->event.type == YAML_STREAM_END_EVENT)
        return fail_at(b->yaml, (struct amp_place){1, 1}, b->err,
                       "nothing in the file; accepted: a mapping with the keys of a rule set");
    AMP_TRY(advance(b));
    AMP_TRY(build_node(b, &b->yaml->root));
    AMP_TRY(advance(b)); /* the document's end */
    AMP_TRY(advance(b));
    if (b->event.type != YAML_STREAM_END_EVENT)
        return fail_here(b, "a second document; accepted: one document");
    return AMP_OK;
}

/* Skips a byte order mark, which would shift the columns of line 1. */
static void skip_mark(struct amp_yaml *yaml)
{
    if (yaml->size >= 3 && memcmp(yaml->text, "\xef\xbb\xbf", 3) == 0) {
        yaml->text += 3;
        yaml->size -= 3;
    }
}

static enum amp_status build_tree(struct amp_yaml *yaml, struct amp_error *err)
{
    struct builder b = {.yaml = yaml, .err = err};
    if (!yaml_parser_initialize(&b.parser))
        return amp_fail(err, AMP_IO, "%s: out of memory", yaml->path);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)yaml->text, yaml->size);
    enum amp_status status = build_document(&b);
    yaml->n_nodes = b.n_nodes;
    yaml_event_delete(&b.event);
    yaml_parser_delete(&b.parser);
    return status;
}

static enum amp_status copy_bytes(struct amp_yaml *yaml, const struct amp_bytes *bytes,
                                  struct amp_error *err)
{
    if (bytes->size > SIZE_MAX_BYTES)
        return amp_fail(err, AMP_RULES,
                        "%s: more than 1 MiB; accepted: rule files of 1 MiB at most", yaml->path);
    yaml->text = amp_arena_memdup(yaml->arena, bytes->data, bytes->size);
    yaml->size = bytes->size;
    return amp_bytes_check(bytes, err);
}

enum amp_status amp_yaml_read(struct amp_yaml *yaml, struct amp_arena *arena, const char *path,
                              struct amp_error *err)
{
    *yaml = (struct amp_yaml){.arena = arena, .path = path};
    struct amp_bytes bytes;
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    enum amp_status status = copy_bytes(yaml, &bytes, err);
    amp_bytes_close(&bytes);
    if (status != AMP_OK)
        return status;
    skip_mark(yaml);
    return build_tree(yaml, err);
}

/* ---- nodes in messages ---- */

bool amp_yaml_is_null(const struct amp_yaml_node *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (!node->is_plain)
        return false;
    for (size_t i = 0; i < AMP_COUNT(nulls); i++)
        if (strcmp(node->text, nulls[i]) == 0)
            return true;
    return false;
}

const char *amp_yaml_describe(const struct amp_yaml_node *node, char *text, size_t size)
{
    if (node->kind == AMP_YAML_LIST)
        snprintf(text, size, node->count > 0 ? "a list" : "an empty list");
    else if (node->kind == AMP_YAML_MAPPING)
        snprintf(text, size, "a mapping");
    else if (amp_yaml_is_null(node))
        snprintf(text, size, "nothing");
    else
        snprintf(text, size, node->is_plain ? "'%.60s'" : "the quoted text '%.60s'", node->text);
    return text;
}
