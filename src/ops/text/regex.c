/*
 * RegexFullMatch, ONNX 20, with PCRE2. Its matcher without backtracking (pcre2_dfa_match) follows
 * all ways through the pattern at once, so that the time grows with the text's length times the
 * pattern's, whatever the pattern is.
 */
#include "ops/kernel/data_movement.h"
#include "ops/text/regex_syntax.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

/* Integers of working memory: what most patterns need, and what a pattern may take. They bound how
   many ways through the pattern are followed at once, and so the time for a character. */
enum { WORKSPACE = 1024, WORKSPACE_MAX = 32768 };

struct regex {
    pcre2_code *code;
    pcre2_match_data *found;
    int *workspace;
    size_t n_workspace;
};

static void destroy_regex(void *state)
{
    struct regex *regex = state;
    if (regex == NULL)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_data_free(regex->found);
    free(regex->workspace);
    free(regex);
}

static enum amp_status fail_pcre(struct amp_ctx *ctx, const char *what, int code)
{
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(code, text, sizeof text);
    return AMP_CTX_FAIL(ctx, "%s: %s", what, (const char *)text);
}

static enum amp_status compile(struct amp_ctx *ctx, const char *pattern, struct regex *regex)
{
    const uint32_t options =
        PCRE2_UTF | PCRE2_ALT_CIRCUMFLEX | PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C;
    int error;
    PCRE2_SIZE at;
    pcre2_compile_context *settings = pcre2_compile_context_create(NULL);
    if (settings == NULL)
        return amp_fail(ctx->err, AMP_IO, "out of memory");
    pcre2_set_newline(settings, PCRE2_NEWLINE_LF);
    /* The translation has a group around all of them, and groups around some items. */
    pcre2_set_parens_nest_limit(settings, AMP_REGEX_DEPTH + 2);
    regex->code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &error, &at, settings);
    pcre2_compile_context_free(settings);
    if (regex->code == NULL)
        return fail_pcre(ctx, "attribute 'pattern'", error);
    regex->found = pcre2_match_data_create(1, NULL);
    return regex->found != NULL ? AMP_OK : amp_fail(ctx->err, AMP_IO, "out of memory");
}

static enum amp_status create_regex(struct amp_ctx *ctx, struct regex **created)
{
    const struct amp_attr *pattern = amp_node_attr(ctx->node, "pattern");
    char *translated;
    if (pattern == NULL)
        return AMP_CTX_FAIL(ctx, "attribute 'pattern' is missing");
    AMP_TRY(amp_regex_translate(pattern->strings[0], &translated, ctx->err));
    struct regex *regex = amp_xcalloc(1, sizeof *regex);
    regex->n_workspace = WORKSPACE;
    regex->workspace = amp_xmalloc(WORKSPACE, sizeof *regex->workspace);
    enum amp_status status = compile(ctx, translated, regex);
    free(translated);
    if (status == AMP_OK)
        *created = regex;
    else
        destroy_regex(regex);
    return status;
}

static int match(const struct regex *regex, struct amp_str text)
{
    return pcre2_dfa_match(regex->code, (PCRE2_SPTR)(text.size > 0 ? text.data : ""), text.size, 0,
                           PCRE2_DFA_SHORTEST, regex->found, NULL, regex->workspace,
                           regex->n_workspace);
}

/* A text that is no UTF-8 matches nothing. */
static enum amp_status match_text(struct amp_ctx *ctx, struct regex *regex, struct amp_str text,
                                  uint8_t *matches)
{
    int result = match(regex, text);
    while (result == PCRE2_ERROR_DFA_WSSIZE && regex->n_workspace < WORKSPACE_MAX) {
        regex->n_workspace *= 2;
        regex->workspace =
            amp_xrealloc(regex->workspace, regex->n_workspace, sizeof *regex->workspace);
        result = match(regex, text);
    }
    *matches = result >= 0;
    bool is_invalid = result <= PCRE2_ERROR_UTF8_ERR1 && result >= PCRE2_ERROR_UTF8_ERR21;
    if (result >= 0 || result == PCRE2_ERROR_NOMATCH || is_invalid)
        return AMP_OK;
    return fail_pcre(ctx, "the pattern has too many ways to match", result);
}

static enum amp_status run_full_match(struct amp_ctx *ctx)
{
    const struct amp_str *texts = ctx->in[0]->data;
    uint8_t *matches = ctx->out[0]->data;
    struct regex *regex = *ctx->state;
    if (regex == NULL)
        AMP_TRY(create_regex(ctx, &regex));
    *ctx->state = regex;
    for (size_t i = 0; i < amp_tensor_count(ctx->in[0]); i++)
        AMP_TRY(match_text(ctx, regex, texts[i], &matches[i]));
    return AMP_OK;
}

const struct amp_op amp_op_regex_full_match = {
    .name = "RegexFullMatch",
    .newest = 20,
    .effect = AMP_COMPUTES,
    .shape = amp_shape_same,
    .run = run_full_match,
    .destroy = destroy_regex,
};
