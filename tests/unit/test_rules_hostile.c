/* Rule files that are wrong: no input crashes the reader. */
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

/* The same numbers everywhere (Knuth, MMIX). */
static unsigned next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33);
}

/* Overwrites, drops or repeats a few bytes of TEXT, which has room for one more for each. */
static size_t mutate(char *text, size_t size, uint64_t *seed)
{
    static const char special[] = "[]{}:,-&*!|>'\"%@`#\n\t \\?~\0\xc3\xff\x1b";

    for (unsigned n = 1 + next_random(seed) % 4; n > 0 && size > 0; n--) {
        size_t at = next_random(seed) % size;
        switch (next_random(seed) % 4) {
        case 0:
            text[at] = (char)next_random(seed);
            break;
        case 1:
            text[at] = special[next_random(seed) % (sizeof special - 1)];
            break;
        case 2:
            memmove(text + at, text + at + 1, --size - at);
            break;
        default:
            memmove(text + at + 1, text + at, size++ - at);
        }
    }
    return size;
}

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
    char text[sizeof whole + 4];

    load(f, whole);
    for (int i = 0; i < 3000; i++) {
        memcpy(text, whole, sizeof whole);
        survive(f, text, mutate(text, sizeof whole - 1, &seed));
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
