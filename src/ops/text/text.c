/*
 * StringConcat and StringSplit, ONNX 20, and StringNormalizer, ONNX 10. Text is UTF-8; bytes that
 * are none pass as they are.
 */
#include "core/utf8.h"
#include "ops/kernel/data_movement.h"

#include <string.h>

static const struct amp_str *strings_of(const struct amp_tensor *tensor)
{
    return tensor->data;
}

/* TEXT with data that are never NULL. */
static struct amp_str solid(struct amp_str text)
{
    return text.size > 0 ? text : (struct amp_str){"", 0};
}

/* ---- StringConcat ---- */

static char *append(char *to, struct amp_str text)
{
    return text.size > 0 ? mempcpy(to, text.data, text.size) : to;
}

/* Adds to *SIZE the bytes of TENSOR's strings, each of them TIMES. */
static enum amp_status add_sizes(struct amp_ctx *ctx, const struct amp_tensor *tensor, size_t times,
                                 size_t *size)
{
    size_t bytes = 0;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        bytes += strings_of(tensor)[i].size;
    if (__builtin_mul_overflow(bytes, times, &bytes) || __builtin_add_overflow(bytes, *size, size))
        return AMP_CTX_FAIL(ctx, "the size of the output overflows");
    return AMP_OK;
}

static enum amp_status run_concat(struct amp_ctx *ctx)
{
    struct amp_tensor *out = ctx->out[0];
    const struct amp_str *x = strings_of(ctx->in[0]), *y = strings_of(ctx->in[1]);
    size_t count = amp_tensor_count(out), size = 0;
    int64_t index[AMP_RANK_MAX] = {0};
    char *text;
    struct amp_loop loop;
    if (count == 0)
        return AMP_OK;
    for (uint32_t i = 0; i < 2; i++)
        AMP_TRY(add_sizes(ctx, ctx->in[i], count / amp_tensor_count(ctx->in[i]), &size));
    AMP_TRY(amp_strings_alloc(out, size, &text, ctx->err));
    amp_loop_init(&loop, out->shape.rank, out->shape.dims);
    amp_loop_tensor(&loop, ctx->in[0]);
    amp_loop_tensor(&loop, ctx->in[1]);
    for (struct amp_str *to = out->data; count > 0; to++, count--) {
        int64_t at[2] = {0, 0};
        for (int d = 0; d < loop.rank; d++)
            for (int k = 0; k < 2; k++)
                at[k] += index[d] * loop.operands[k].strides[d];
        char *end = append(append(text, x[at[0]]), y[at[1]]);
        *to = (struct amp_str){text, (size_t)(end - text)};
        text = end;
        amp_index_next(loop.rank, loop.dims, index);
    }
    return AMP_OK;
}

const struct amp_op amp_op_string_concat = {
    .name = "StringConcat",
    .newest = 20,
    .effect = AMP_COMPUTES,
    .shape = amp_shape_broadcast,
    .run = run_concat,
};

/* ---- StringSplit ---- */

/* Unicode's White_Space, and the separators of ASCII, which Python counts in. */
static bool is_space(int32_t code)
{
    return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) || code == 0x85 ||
           code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

/* Where the first code point of FROM .. END-1 begins that is a space (or, if not WANTED, none); END
   when there is none. */
static const char *find_space(const char *from, const char *end, bool wanted)
{
    while (from < end) {
        const char *next = from;
        if (is_space(amp_utf8_next(&next, end)) == wanted)
            return from;
        from = next;
    }
    return end;
}

/* TEXT .. END-1 without the spaces at its end. */
static const char *trim_end(const char *text, const char *end)
{
    const char *trimmed = text;
    while (text < end) {
        text = find_space(text, end, true);
        trimmed = text;
        text = find_space(text, end, false);
    }
    return trimmed;
}

struct splitting {
    struct amp_str delimiter; /* empty: runs of spaces */
    int64_t most;             /* splits of one string */
};

/* Takes the next part off REST; false when there is none. SPLITS counts down. */
static bool next_word(struct amp_str *rest, int64_t *splits, struct amp_str *part)
{
    const char *end = rest->data + rest->size;
    const char *begin = find_space(rest->data, end, false);
    if (begin == end)
        return false;
    const char *stop = *splits > 0 ? find_space(begin, end, true) : trim_end(begin, end);
    *part = (struct amp_str){begin, (size_t)(stop - begin)};
    *rest =
        (*splits)-- > 0 ? (struct amp_str){stop, (size_t)(end - stop)} : (struct amp_str){end, 0};
    return true;
}

/* Takes the next part of REST, up to DELIMITER; the last part leaves REST without data. */
static bool next_field(struct amp_str *rest, struct amp_str delimiter, int64_t *splits,
                       struct amp_str *part)
{
    if (rest->data == NULL)
        return false;
    const char *stop =
        (*splits)-- > 0 ? memmem(rest->data, rest->size, delimiter.data, delimiter.size) : NULL;
    *part = *rest;
    *rest = (struct amp_str){NULL, 0};
    if (stop != NULL) {
        size_t size = (size_t)(stop - part->data), taken = size + delimiter.size;
        *rest = (struct amp_str){part->data + taken, part->size - taken};
        part->size = size;
    }
    return true;
}

/* Splits TEXT into PARTS (NULL: only counts them). */
static int64_t split(const struct splitting *splitting, struct amp_str text, struct amp_str *parts)
{
    struct amp_str rest = solid(text), part;
    int64_t count = 0, splits = splitting->most;
    while (splitting->delimiter.size > 0 ? next_field(&rest, splitting->delimiter, &splits, &part)
                                         : next_word(&rest, &splits, &part)) {
        if (parts != NULL)
            parts[count] = part;
        count++;
    }
    return count;
}

static struct splitting read_splitting(const struct amp_node *node)
{
    const struct amp_attr *delimiter = amp_node_attr(node, "delimiter");
    int64_t most = amp_node_int(node, "maxsplit", -1);
    return (struct splitting){.delimiter = delimiter != NULL ? delimiter->strings[0]
                                                             : (struct amp_str){NULL, 0},
                              .most = most < 0 ? INT64_MAX : most};
}

static enum amp_status split_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *parts = &ctx->out[0]->shape;
    *parts = *in;
    if (in->rank == AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "the input has rank %d; at most %d is possible", in->rank,
                            AMP_RANK_MAX - 1);
    if (in->rank >= 0)
        parts->dims[parts->rank++] = AMP_DIM_UNKNOWN;
    if (ctx->n_out > 1)
        ctx->out[1]->shape = *in;
    return AMP_OK;
}

static enum amp_status run_split(struct amp_ctx *ctx)
{
    const struct splitting splitting = read_splitting(ctx->node);
    const struct amp_str *from = strings_of(ctx->in[0]);
    struct amp_tensor *out = ctx->out[0];
    size_t count = amp_tensor_count(ctx->in[0]);
    int64_t widest = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t parts = split(&splitting, from[i], NULL);
        widest = parts > widest ? parts : widest;
        if (amp_has_out(ctx, 1))
            ((int64_t *)ctx->out[1]->data)[i] = parts;
    }
    if (!amp_has_out(ctx, 0))
        return AMP_OK;
    out->shape.dims[out->shape.rank - 1] = widest;
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    struct amp_str *to = out->data;
    amp_fill(to, NULL, sizeof *to, amp_tensor_count(out));
    for (size_t i = 0; i < count; i++)
        split(&splitting, from[i], to + (int64_t)i * widest);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_string_split = {
    .name = "StringSplit",
    .newest = 20,
    .effect = AMP_COMPUTES,
    .shape = split_shape,
    .run = run_split,
};

/* ---- StringNormalizer ---- */

typedef int32_t map_fn(int32_t code);

/* TEXT with every code point mapped goes to TO (NULL: only its length counts), which is returned.
 */
static size_t map_text(struct amp_str text, map_fn *map, char *to)
{
    const char *at = solid(text).data, *end = at + text.size;
    char scratch[AMP_UTF8_MAX] = {0};
    size_t size = 0;
    while (at < end) {
        const char *from = at;
        int32_t code = amp_utf8_next(&at, end);
        char *place = to != NULL ? to + size : scratch;
        if (code == AMP_UTF8_INVALID)
            place[0] = *from;
        size += code == AMP_UTF8_INVALID ? 1 : amp_utf8_put(map(code), place);
    }
    return size;
}

/* The code point at *TEXT in lower case. Bytes that are no UTF-8 are themselves, each another than
   any code point. */
static int32_t next_folded(const char **text, const char *end)
{
    const char *from = *text;
    int32_t code = amp_utf8_next(text, end);
    return code == AMP_UTF8_INVALID ? -1 - (unsigned char)*from : amp_utf8_lower(code);
}

static bool is_equal(struct amp_str a, struct amp_str b, bool is_case_sensitive)
{
    if (is_case_sensitive)
        return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
    const char *x = solid(a).data, *x_end = x + a.size, *y = solid(b).data, *y_end = y + b.size;
    while (x < x_end && y < y_end)
        if (next_folded(&x, x_end) != next_folded(&y, y_end))
            return false;
    return x == x_end && y == y_end;
}

static bool is_stopword(const struct amp_node *node, struct amp_str text)
{
    const struct amp_attr *stopwords = amp_node_attr(node, "stopwords");
    bool is_case_sensitive = amp_node_int(node, "is_case_sensitive", 0) != 0;
    for (size_t i = 0; stopwords != NULL && i < stopwords->count; i++)
        if (is_equal(text, stopwords->strings[i], is_case_sensitive))
            return true;
    return false;
}

static enum amp_status normalizer_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    char text[200];
    if (in->rank == 0 || in->rank > 2 || (in->rank == 2 && in->dims[0] >= 0 && in->dims[0] != 1))
        return AMP_CTX_FAIL(ctx, "the input has shape %s; [C] and [1, C] are possible",
                            amp_shape_text(in, text, sizeof text));
    amp_shape_unknown(&ctx->out[0]->shape, in->rank);
    if (in->rank == 2)
        ctx->out[0]->shape.dims[0] = 1;
    return AMP_OK;
}

static int32_t map_none(int32_t code)
{
    return code;
}

/* The case mappings are Unicode's in every locale, so that results do not depend on which locales
   the machine has: attribute locale has no effect. */
static enum amp_status read_mapping(struct amp_ctx *ctx, map_fn **map)
{
    static const char *const actions[] = {"NONE", "LOWER", "UPPER", NULL};
    static map_fn *const maps[] = {map_none, amp_utf8_lower, amp_utf8_upper};
    int action = 0;
    AMP_TRY(amp_ctx_choice(ctx, "case_change_action", actions, &action));
    *map = maps[action];
    return AMP_OK;
}

static enum amp_status run_normalizer(struct amp_ctx *ctx)
{
    const struct amp_str *from = strings_of(ctx->in[0]);
    struct amp_tensor *out = ctx->out[0];
    size_t count = amp_tensor_count(ctx->in[0]), kept = 0, size = 0;
    map_fn *map;
    char *text;
    AMP_TRY(read_mapping(ctx, &map));
    for (size_t i = 0; i < count; i++) {
        if (is_stopword(ctx->node, from[i]))
            continue;
        size += map_text(from[i], map, NULL);
        kept++;
    }
    out->shape.dims[out->shape.rank - 1] = kept > 0 ? (int64_t)kept : 1;
    AMP_TRY(amp_strings_alloc(out, size, &text, ctx->err));
    struct amp_str *to = out->data;
    to[0] = (struct amp_str){text, 0};
    for (size_t i = 0; i < count; i++) {
        if (is_stopword(ctx->node, from[i]))
            continue;
        *to = (struct amp_str){text, map_text(from[i], map, text)};
        text += to->size;
        to++;
    }
    return AMP_OK;
}

const struct amp_op amp_op_string_normalizer = {
    .name = "StringNormalizer",
    .newest = 10,
    .effect = AMP_COMPUTES,
    .shape = normalizer_shape,
    .run = run_normalizer,
};
