/*
 * NonZero, all versions up to ONNX 13. Threads count first, then each writes the coordinates that
 * it found to where they belong.
 */
#include "ops/kernel/data_movement.h"

#include <string.h>

static enum amp_status non_zero_shape(struct amp_ctx *ctx)
{
    amp_shape_unknown(&ctx->out[0]->shape, 2);
    if (ctx->in[0]->shape.rank >= 0)
        ctx->out[0]->shape.dims[0] = ctx->in[0]->shape.rank;
    return AMP_OK;
}

/* Whether the SIZE bytes at DATA are 0. */
static bool is_clear(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] != 0)
            return false;
    return true;
}

/* Whether the little-endian float of SIZE bytes at DATA is 0 or -0. */
static bool is_zero_float(const char *data, size_t size)
{
    return is_clear(data, size - 1) && (data[size - 1] & 0x7f) == 0;
}

static bool is_zero(const struct amp_tensor *tensor, size_t index)
{
    size_t size = amp_dtype_bits(tensor->dtype) / 8;
    const char *data = (const char *)tensor->data + index * size;
    switch (amp_dtype_class(tensor->dtype)) {
    case AMP_CLASS_FLOAT:
        return is_zero_float(data, size);
    case AMP_CLASS_COMPLEX:
        return is_zero_float(data, size / 2) && is_zero_float(data + size / 2, size / 2);
    case AMP_CLASS_STRING:
        return ((const struct amp_str *)tensor->data)[index].size == 0;
    case AMP_CLASS_INT:
    case AMP_CLASS_UINT:
    case AMP_CLASS_BOOL:
    case AMP_CLASS_NONE:
        break;
    }
    return is_clear(data, size);
}

/* The bits of an element that make it other than 0, where one integer holds it: a float's but for
   the signs; 0: none does. */
static uint64_t significant_bits(enum amp_dtype dtype)
{
    unsigned bits = amp_dtype_bits(dtype);
    uint64_t all = UINT64_MAX >> (bits == 0 || bits > 64 ? 0 : 64 - bits);
    switch (amp_dtype_class(dtype)) {
    case AMP_CLASS_FLOAT:
        return all >> 1;
    case AMP_CLASS_COMPLEX:
        return bits == 64 ? UINT64_C(0x7FFFFFFF7FFFFFFF) : 0;
    case AMP_CLASS_STRING:
        return 0;
    case AMP_CLASS_INT:
    case AMP_CLASS_UINT:
    case AMP_CLASS_BOOL:
    case AMP_CLASS_NONE:
        break;
    }
    return all;
}

typedef void mark_fn(const void *data, size_t first, size_t n, uint64_t bits, uint8_t *marks);

/* MARKS[i] = whether element FIRST+i has any of BITS. */
#define MARK(SIZE, T)                                                                     \
    AMP_CLONES(void, mark_##SIZE,                                                         \
               (const void *data, size_t first, size_t n, uint64_t bits, uint8_t *marks), \
               (data, first, n, bits, marks))                                             \
    {                                                                                     \
        const T *from = (const T *)data + first, mask = (T)bits;                          \
        AMP_SIMD for (size_t i = 0; i < n; i++) marks[i] = (from[i] & mask) != 0;         \
    }
MARK(1, uint8_t)
MARK(2, uint16_t)
MARK(4, uint32_t)
MARK(8, uint64_t)

/* Elements that are looked at at a time. */
enum { STRETCH = 1024 };

/* N elements from index FIRST on, and which of them are not 0. */
struct stretch {
    size_t first, n;
    uint8_t marks[STRETCH];
};

/* Marks the elements of STRETCH; returns how many are not 0. */
static int64_t mark_stretch(const struct amp_tensor *in, struct stretch *stretch)
{
    size_t first = stretch->first, n = stretch->n;
    uint8_t *marks = stretch->marks;
    static mark_fn *const table[] = {[1] = mark_1, [2] = mark_2, [4] = mark_4, [8] = mark_8};
    uint64_t bits = significant_bits(in->dtype);
    int64_t found = 0;
    if (bits != 0)
        table[amp_dtype_bits(in->dtype) / 8](in->data, first, n, bits, marks);
    for (size_t i = 0; i < n && bits == 0; i++)
        marks[i] = !is_zero(in, first + i);
    for (size_t i = 0; i < n; i++)
        found += marks[i];
    return found;
}

/* Writes the coordinates of the marked elements of a tensor of SHAPE to TO: a row per dim, whose
   rows lie FOUND apart. */
static void put_marked(const struct amp_shape *shape, const struct stretch *stretch, int64_t *to,
                       int64_t found)
{
    size_t n = stretch->n;
    int last = shape->rank - 1;
    int64_t at[AMP_RANK_MAX] = {0}, columns[STRETCH];
    amp_index_at(shape->rank, shape->dims, (int64_t)stretch->first, at);
    for (size_t i = 0; i < n;) {
        int64_t left = shape->dims[last] - at[last], count = 0;
        size_t end = n - i < (size_t)left ? n : i + (size_t)left;
        for (int64_t column = at[last]; i < end; i++, column++) {
            columns[count] = column;
            count += stretch->marks[i];
        }
        for (int d = 0; d < last; d++)
            for (int64_t k = 0; k < count; k++)
                to[d * found + k] = at[d];
        memcpy(to + last * found, columns, (size_t)count * sizeof *columns);
        to += count;
        at[last] = 0;
        amp_index_next(last, shape->dims, at);
    }
}

/* Fills OUT, [rank, found]; where each stretch begins in it is in BEGINS. */
static void put_all_marked(const struct amp_tensor *in, const struct amp_tensor *out,
                           const int64_t *begins)
{
    size_t count = amp_tensor_count(in);
#pragma omp parallel for if (count >= AMP_PARALLEL_MIN)
    for (size_t i = 0; i < count; i += STRETCH) {
        struct stretch stretch;
        stretch.first = i;
        stretch.n = count - i < STRETCH ? count - i : STRETCH;
        if (mark_stretch(in, &stretch) > 0)
            put_marked(&in->shape, &stretch, (int64_t *)out->data + begins[i / STRETCH],
                       out->shape.dims[1]);
    }
}

/* BEGINS[i] = how many are not 0 before stretch I; the number of all. */
static int64_t count_marked(const struct amp_tensor *in, int64_t *begins)
{
    size_t count = amp_tensor_count(in);
    int64_t found = 0;
#pragma omp parallel for if (count >= AMP_PARALLEL_MIN)
    for (size_t i = 0; i < count; i += STRETCH) {
        struct stretch stretch;
        stretch.first = i;
        stretch.n = count - i < STRETCH ? count - i : STRETCH;
        begins[i / STRETCH] = mark_stretch(in, &stretch);
    }
    for (size_t i = 0; i < count; i += STRETCH) {
        int64_t each = begins[i / STRETCH];
        begins[i / STRETCH] = found;
        found += each;
    }
    return found;
}

static enum amp_status non_zero_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    struct amp_tensor *out = ctx->out[0];
    size_t stretches = amp_tensor_count(in) / STRETCH + 1;
    struct amp_buffer *begins = amp_scratch(ctx, "a list of places", stretches, sizeof(int64_t));
    if (begins == NULL)
        return ctx->err->status;
    out->shape = (struct amp_shape){2, {in->shape.rank, count_marked(in, begins->data)}};
    enum amp_status status = amp_ctx_alloc(ctx, 0);
    if (status == AMP_OK && in->shape.rank > 0)
        put_all_marked(in, out, begins->data);
    amp_buffer_unref(begins);
    return status;
}

const struct amp_op amp_op_non_zero = {
    .name = "NonZero",
    .selects = {.items = AMP_ITEMS_ENTRIES, .outputs = AMP_INPUT(0), .axis = 1},
    .newest = 13,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = non_zero_shape,
    .run = non_zero_run,
};
