#ifndef AMP_TESTS_RULES_FIXTURE_H
#define AMP_TESTS_RULES_FIXTURE_H

#include "autocast/rules/match.h"
#include "autocast/rules/rules.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the tests of rule sets share. */

#define HEAD "version: 1\nname: test\n"

#define RULES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- a folder for rule files, an arena and a model for each test ---- */

struct fixture {
    char folder[SCRATCH_MAX];
    struct amp_arena *arena;
    struct amp_rules *rules;
    struct amp_model *model;
    struct amp_error err;
};

static inline int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    scratch_folder(f->folder, sizeof f->folder);
    f->arena = amp_arena_create();
    f->rules = amp_rules_create(f->arena);
    f->model = amp_model_create(f->arena, "test.onnx");
    amp_graph_add(f->model, "main", AMP_NONE);
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"a.yaml", "b.yaml", "c.yaml", "pytorch.map"};
    char path[SCRATCH_MAX + 32];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
        unlink(path);
    }
    rmdir(f->folder);
    amp_rules_destroy(f->rules);
    amp_arena_destroy(f->arena);
    free(f);
    return 0;
}

static inline void write_bytes(struct fixture *f, const char *name, const void *bytes, size_t size)
{
    char path[SCRATCH_MAX + 32];

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static inline enum amp_status load_file(struct fixture *f, const char *name)
{
    char path[SCRATCH_MAX + 32];

    f->err = (struct amp_error){.status = AMP_OK};
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return amp_rules_load(f->rules, path, &f->err);
}

/* Loads TEXT as a rule file. */
static inline void load(struct fixture *f, const char *text)
{
    write_bytes(f, "a.yaml", text, strlen(text));
    if (load_file(f, "a.yaml") != AMP_OK)
        fail_msg("%s", f->err.text);
}

/* Forgets all rules and loads TEXT. */
static inline void reload(struct fixture *f, const char *text)
{
    amp_rules_destroy(f->rules);
    f->rules = amp_rules_create(f->arena);
    load(f, text);
}

/* ---- nodes ---- */

static inline uint32_t add_value(struct fixture *f, const char *name, int rank)
{
    struct amp_shape shape = {.rank = rank};
    uint32_t id = amp_graph_add_value(f->model, 0, amp_model_unique_name(f->model, name));

    amp_value_set_shape(f->model, id, &shape);
    return id;
}

/* A node at opset 22 with an input "x" of rank 4 and an output "y", or names near those. */
static inline uint32_t add_node(struct fixture *f, const char *op, const char *name)
{
    uint32_t id = amp_graph_add_node(f->model, 0, op, 1, 1);
    uint32_t x = add_value(f, "x", 4), y = add_value(f, "y", 4);
    struct amp_node *node = amp_node_at(f->model, id);

    node->name = name;
    node->schema = amp_schema_find("", op, 22);
    node->inputs[0] = x;
    amp_node_set_output(f->model, id, 0, y);
    return id;
}

static inline uint32_t add_ranked(struct fixture *f, const char *op, int rank)
{
    uint32_t id = add_node(f, op, "");

    amp_node_at(f->model, id)->inputs[0] = add_value(f, "x", rank);
    return id;
}

static inline void set_text(struct fixture *f, uint32_t node, const char *name, const char *text)
{
    struct amp_str *string = amp_arena_alloc(f->arena, sizeof *string);

    *string = (struct amp_str){text, strlen(text)};
    amp_node_set_attr(
        f->model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_STRING, .count = 1, .strings = string});
}

static inline void set_ints(struct fixture *f, uint32_t node, const char *name, size_t count,
                            const int64_t *items)
{
    amp_node_set_attr(
        f->model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_INTS, .count = count, .ints = items});
}

static inline void set_float(struct fixture *f, uint32_t node, const char *name, const float *value)
{
    amp_node_set_attr(
        f->model, node,
        (struct amp_attr){.name = name, .type = AMP_ATTR_FLOAT, .count = 1, .floats = value});
}

/* ---- expectations ---- */

/* The line of the rule that decides; 0: none does. */
static inline int line_of(struct fixture *f, uint32_t node)
{
    const struct amp_rule *rule = amp_rules_match(f->rules, f->model, node);

    return rule != NULL ? rule->source.line : 0;
}

/* Whether a rule with these selectors, written in flow style, matches NODE. */
static inline bool selects(struct fixture *f, const char *selectors, uint32_t node)
{
    char text[1024];

    snprintf(text, sizeof text, HEAD "rules:\n  - {precision: fp32, %s}\n", selectors);
    reload(f, text);
    return line_of(f, node) == 4;
}

/* What is said ends with TEXT behind the place, in the file. */
static inline void assert_said(const struct fixture *f, const char *text)
{
    size_t folder = strlen(f->folder);

    assert_memory_equal(f->err.text, f->folder, folder);
    assert_string_equal(f->err.text + folder, text);
}

#endif
