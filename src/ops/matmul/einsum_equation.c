/*
 * Reads Einsum's equation: letters, spaces, commas, at most one "->" and one "..." in each term
 * (ONNX Einsum-12). It gives each operand's labels as numbers, and checks them against its rank.
 */
#include "ops/matmul/einsum_equation.h"

#include <string.h>

enum { FIRST_OF_ELLIPSIS = 52 };

/* The text as it is read, and how many dims the longest ellipsis has. */
struct reader {
    struct amp_ctx *ctx;
    const char *text, *at;
    int ellipsis;
};

static enum amp_status fail(const struct reader *reader, const char *what)
{
    return AMP_CTX_FAIL(reader->ctx, "equation '%s': %s", reader->text, what);
}

/* The label of letter C, -1 when it is none. */
static int letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

static bool is_end(const char *at)
{
    return *at == '\0' || *at == ',' || strncmp(at, "->", 2) == 0;
}

/* The number of letters in the term from AT on. */
static int count_letters(const char *at)
{
    int count = 0;
    for (; !is_end(at); at++)
        count += letter(*at) >= 0;
    return count;
}

/* Reads a term, giving an ellipsis ELLIPSIS dims. */
static enum amp_status read_term(struct reader *reader, int ellipsis, struct amp_einsum_term *term)
{
    bool has_ellipsis = false;
    for (term->n = 0; !is_end(reader->at); reader->at++) {
        bool is_ellipsis = strncmp(reader->at, "...", 3) == 0;
        int label = letter(*reader->at), count = is_ellipsis ? ellipsis : 1;
        if (*reader->at == ' ')
            continue;
        if (label < 0 && !is_ellipsis)
            return fail(reader, "letters, '...', ',' and '->' are allowed");
        if (is_ellipsis && has_ellipsis)
            return fail(reader, "a term has two ellipses");
        if (term->n + count > AMP_RANK_MAX)
            return fail(reader, "a term has too many dimensions");
        for (int i = count - 1; i >= 0; i--)
            term->labels[term->n++] = (unsigned char)(is_ellipsis ? FIRST_OF_ELLIPSIS + i : label);
        has_ellipsis |= is_ellipsis;
        reader->at += is_ellipsis ? 2 : 0;
    }
    return AMP_OK;
}

/* Broadcasts the dims of operand I into those of the labels. */
static enum amp_status add_dims(struct reader *reader, struct amp_einsum *einsum, int i)
{
    const struct amp_einsum_term *term = &einsum->operands[i];
    for (int d = 0; d < term->n; d++) {
        struct amp_shape dim = {1, {reader->ctx->in[i]->shape.dims[d]}};
        struct amp_shape all = {1, {einsum->dims[term->labels[d]]}};
        if (amp_broadcast(&dim, &all, &all, NULL) != AMP_OK)
            return AMP_CTX_FAIL(reader->ctx,
                                "equation '%s': dimension %d of input %d is %lld, %lld "
                                "elsewhere",
                                reader->text, d, i, (long long)dim.dims[0], (long long)all.dims[0]);
        einsum->dims[term->labels[d]] = all.dims[0];
    }
    return AMP_OK;
}

static enum amp_status read_operand(struct reader *reader, struct amp_einsum *einsum, int i)
{
    int rank = reader->ctx->in[i]->shape.rank, ellipsis = rank - count_letters(reader->at);
    AMP_TRY(read_term(reader, ellipsis > 0 ? ellipsis : 0, &einsum->operands[i]));
    if (einsum->operands[i].n != rank)
        return AMP_CTX_FAIL(reader->ctx, "equation '%s': input %d has rank %d, its term %d",
                            reader->text, i, rank, einsum->operands[i].n);
    if (ellipsis > reader->ellipsis)
        reader->ellipsis = ellipsis;
    return add_dims(reader, einsum, i);
}

static void count_labels(const struct amp_einsum_term *term, int *counts)
{
    for (int i = 0; i < term->n; i++)
        counts[term->labels[i]]++;
}

/* Without "->": the dims of the ellipsis, then the letters that occur once, sorted. */
static enum amp_status imply_output(struct reader *reader, struct amp_einsum *einsum,
                                    const int *counts)
{
    struct amp_einsum_term *output = &einsum->output;
    for (int i = reader->ellipsis - 1; i >= 0; i--)
        output->labels[output->n++] = (unsigned char)(FIRST_OF_ELLIPSIS + i);
    for (int label = 0; label < FIRST_OF_ELLIPSIS; label++) {
        if (counts[label] != 1)
            continue;
        if (output->n == AMP_RANK_MAX)
            return fail(reader, "the output has too many dimensions");
        output->labels[output->n++] = (unsigned char)label;
    }
    return AMP_OK;
}

static enum amp_status read_output(struct reader *reader, struct amp_einsum *einsum,
                                   const int *counts)
{
    int of_output[AMP_EINSUM_LABELS] = {0};
    reader->at += 2;
    AMP_TRY(read_term(reader, reader->ellipsis, &einsum->output));
    if (*reader->at != '\0')
        return fail(reader, "the output is one term");
    count_labels(&einsum->output, of_output);
    for (int label = 0; label < AMP_EINSUM_LABELS; label++) {
        if (of_output[label] > 1)
            return fail(reader, "a letter stands twice in the output");
        if (of_output[label] == 1 && counts[label] == 0)
            return fail(reader, "a letter of the output is in no input");
    }
    return AMP_OK;
}

enum amp_status amp_einsum_read(struct amp_ctx *ctx, struct amp_einsum *einsum)
{
    const char *text = amp_node_string(ctx->node, "equation", "");
    struct reader reader = {.ctx = ctx, .text = text, .at = text};
    int counts[AMP_EINSUM_LABELS] = {0};
    if (ctx->n_in > AMP_EINSUM_OPERANDS)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "%u inputs; at most %d are supported", ctx->n_in,
                        AMP_EINSUM_OPERANDS);
    *einsum = (struct amp_einsum){.n_operands = (int)ctx->n_in};
    for (int label = 0; label < AMP_EINSUM_LABELS; label++)
        einsum->dims[label] = 1;
    for (int i = 0; i < einsum->n_operands; i++) {
        if (i > 0 && *reader.at++ != ',')
            return fail(&reader, "it has fewer terms than there are inputs");
        AMP_TRY(read_operand(&reader, einsum, i));
        count_labels(&einsum->operands[i], counts);
    }
    if (*reader.at == ',')
        return fail(&reader, "it has more terms than there are inputs");
    return *reader.at == '\0' ? imply_output(&reader, einsum, counts)
                              : read_output(&reader, einsum, counts);
}
