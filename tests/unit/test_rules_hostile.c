/* Rule files that are wrong: no input crashes the reader. */
#include "mutate_rules.h"
#include "rules_fixture.h"

static const char whole[] = HEAD
    "description: \"all keys: \\x41 \xc3\xb6\"\n"
    "dtypes: [bf16, fp16]\n"
    "extends: []\n"
    "unlisted: follow\n"
    "rules:\n"
    "  - precision: &p lower\n"
    "    ops: &ops [Conv, \"ai.onnx::Gemm\", 'com.example::Any']\n"
    "  - {precision: *p, ops: *ops, nodes: ['/a/*', \"b?\"], tensors: [logits]}\n"
    "  - precision: fp32\n"
    "    nodes_regex: ['/layer\\.[0-9]{1,3}/(conv|gemm)[[:digit:]]*']\n"
    "    when: {input_rank: [2, 3], kernel_shape: [[1, 1], [3, 3]], alpha: 1.5e-3, mode: edge}\n"
    "limits:\n"
    "  fp16: {weight_max: 65504, activation_max: 1e4}\n"
    "  bf16:\n    weight_max: 1\n";

/* Loads SIZE bytes as a rule file; whatever they are, it ends in a rule list or a message with a
 * place. */
static void survive(struct fixture *f, const char *bytes, size_t size)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_rules *kept = f->rules;

    f->rules = amp_rules_create(arena);
    write_bytes(f, "c.yaml", bytes, size);
    enum amp_status status = load_file(f, "c.yaml");
    if (status != AMP_OK) {
        assert_int_equal(status, AMP_RULES);
        assert_non_null(strstr(f->err.text, "c.yaml:"));
        assert_int_equal(f->err.text[strlen(f->err.text) - 1], '^');
    }
    amp_rules_destroy(f->rules);
    amp_arena_destroy(arena);
    f->rules = kept;
}

static void mutated_files(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 1;

    load(f, whole);
    for (int i = 0; i < 3000; i++) {
        struct bytes text = {.arena = amp_arena_create()};
        put(&text, whole, sizeof whole - 1);
        mutate_bytes(&text, yaml_special, sizeof yaml_special - 1, &seed);
        survive(f, (const char *)text.data, text.size);
        amp_arena_destroy(text.arena);
    }
}

static void truncated_files(void **state)
{
    for (size_t size = 0; size < sizeof whole; size++)
        survive(*state, whole, size);
}

static void costly_expressions(void **state)
{
    struct fixture *f = *state;
    char pattern[2001], text[2200];

    memset(pattern, '(', 1000);
    memset(pattern + 1000, ')', 1000);
    pattern[2000] = '\0';
    snprintf(text, sizeof text, HEAD "rules:\n  - {precision: lower, nodes_regex: ['%s']}\n",
             pattern);
    survive(f, text, strlen(text));
    assert_false(
        selects(f, "nodes_regex: ['(((a{1,4}){1,4}){1,4})*b']", add_node(f, "Conv", "aaaa")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULES_TEST(mutated_files),
        RULES_TEST(truncated_files),
        RULES_TEST(costly_expressions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
