/*
 * What operators that move elements share: arithmetic on dims that may be unknown, sharing and
 * filling of memory, elements below a byte.
 */
#include "ops/kernel/data_movement.h"

#include <string.h>

enum amp_status amp_dim_add(int64_t a, int64_t b, int64_t *sum, struct amp_error *err)
{
    if (a == 0 || b == 0)
        *sum = a == 0 ? b : a;
    else if (a < 0 || b < 0)
        *sum = AMP_DIM_UNKNOWN;
    else if (__builtin_add_overflow(a, b, sum))
        return amp_fail(err, AMP_MODEL, "dimension %lld + %lld overflows", (long long)a,
                        (long long)b);
    return AMP_OK;
}

enum amp_status amp_dim_mul(int64_t a, int64_t b, int64_t *product, struct amp_error *err)
{
    if (a == 0 || b == 0)
        *product = 0;
    else if (a == 1 || b == 1)
        *product = a == 1 ? b : a;
    else if (a < 0 || b < 0)
        *product = AMP_DIM_UNKNOWN;
    else if (__builtin_mul_overflow(a, b, product))
        return amp_fail(err, AMP_MODEL, "dimension %lld * %lld overflows", (long long)a,
                        (long long)b);
    return AMP_OK;
}

enum amp_status amp_dim_product(const struct amp_shape *shape, int from, int to, int64_t *product,
                                struct amp_error *err)
{
    *product = 1;
    for (int i = from; i < to; i++)
        AMP_TRY(amp_dim_mul(*product, shape->dims[i], product, err));
    return AMP_OK;
}

bool amp_dim_merge(int64_t a, int64_t b, int64_t *merged)
{
    if (a >= 0 && b >= 0 && a != b)
        return false;
    *merged = a >= 0 || (b < 0 && a != AMP_DIM_UNKNOWN) ? a : b;
    return true;
}

void amp_shape_unknown(struct amp_shape *shape, int64_t rank)
{
    shape->rank = rank >= 0 && rank <= AMP_RANK_MAX ? (int)rank : -1;
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = AMP_DIM_UNKNOWN;
}

int64_t amp_ctx_length(const struct amp_ctx *ctx, uint32_t i)
{
    if (!amp_has_in(ctx, i))
        return 0;
    const struct amp_shape *shape = &ctx->in[i]->shape;
    return shape->rank == 1 ? shape->dims[0] : AMP_DIM_UNKNOWN;
}

#define BEYOND_INT64 9223372036854775808.0 /* 2^63 */

bool amp_tensor_whole(const struct amp_tensor *tensor, size_t index, int64_t *value)
{
    enum amp_dtype_class class = amp_dtype_class(tensor->dtype);
    if (class == AMP_CLASS_INT || class == AMP_CLASS_UINT) {
        *value = amp_tensor_int(tensor, index);
        return tensor->dtype != AMP_UINT64 || *value >= 0;
    }
    if (!amp_dtype_is_autocast(tensor->dtype) && tensor->dtype != AMP_DOUBLE)
        return false;
    double number = amp_tensor_double(tensor, index);
    bool is_inside = number >= -BEYOND_INT64 && number < BEYOND_INT64; /* false for NaN */
    if (is_inside)
        *value = (int64_t)number;
    return is_inside;
}

enum amp_status amp_ctx_whole(const struct amp_ctx *ctx, uint32_t i, int64_t *value, bool *is_known)
{
    const struct amp_tensor *tensor = ctx->in[i];
    *is_known = tensor->data != NULL && amp_shape_is_known(&tensor->shape);
    if (!*is_known)
        return AMP_OK;
    if (amp_tensor_count(tensor) != 1)
        return AMP_CTX_FAIL(ctx, "input %u has %zu elements; one is needed", i,
                            amp_tensor_count(tensor));
    if (!amp_tensor_whole(tensor, 0, value))
        return AMP_CTX_FAIL(ctx, "input %u: the %s in it is no integer of 64 bits", i,
                            amp_dtype_name(tensor->dtype));
    return AMP_OK;
}

enum amp_status amp_ctx_axes(struct amp_ctx *ctx, struct amp_axes_wanted wanted, int *axes,
                             int *n_axes)
{
    const int n = wanted.n;
    int64_t listed[AMP_RANK_MAX];
    bool is_listed = amp_has_in(ctx, wanted.input) || amp_node_attr(ctx->node, "axes") != NULL;
    AMP_TRY(amp_ctx_ints_attr(ctx, (struct amp_ints_place){"axes", wanted.input}, listed,
                              AMP_RANK_MAX, n_axes));
    if (!is_listed)
        *n_axes = n;
    if (*n_axes >= 0 && (*n_axes != n || n > wanted.rank))
        return AMP_CTX_FAIL(ctx, "values for %d axes, but %d axes; the input has %d dims", n,
                            *n_axes, wanted.rank);
    for (int k = 0; k < *n_axes; k++)
        AMP_TRY(amp_ctx_axis(ctx, is_listed ? listed[k] : k, wanted.rank, &axes[k]));
    return AMP_OK;
}

enum amp_status amp_run_share(struct amp_ctx *ctx)
{
    amp_tensor_share(ctx->out[0], ctx->in[0]);
    return AMP_OK;
}

enum amp_status amp_move_done(struct amp_ctx *ctx, uint32_t i)
{
    if (ctx->out[i]->dtype != AMP_STRING)
        return AMP_OK;
    return amp_strings_own(ctx->out[i], ctx->err);
}

/* TOTAL bytes become the element, the last one maybe in part. */
static void fill_bytes(char *to, const void *element, size_t size, size_t total)
{
    enum { BLOCK = 4096 };
    const size_t block = size < BLOCK ? BLOCK / size * size : size;
    size_t done = size < total ? size : total;
    memcpy(to, element, done);
    while (done < total) { /* what is there once more, up to a block that stays in the cache */
        size_t most = done < block ? done : block;
        size_t more = total - done < most ? total - done : most;
        memcpy(to + done, to, more);
        done += more;
    }
}

void amp_fill(void *to, const void *element, size_t size, size_t count)
{
    const size_t total = size * count, least = (size_t)4 * AMP_PARALLEL_MIN;
    const size_t part = size < least ? least / size * size : size;
#pragma omp parallel for if (total > part)
    for (size_t i = 0; i < total; i += part) {
        size_t bytes = total - i < part ? total - i : part;
        if (element == NULL)
            memset((char *)to + i, 0, bytes);
        else
            fill_bytes((char *)to + i, element, size, bytes);
    }
}

void amp_elements_copy(enum amp_dtype dtype, struct amp_element from, struct amp_element to,
                       size_t count)
{
    const size_t bits = amp_dtype_bits(dtype), per_byte = bits < 8 ? 8 / bits : 1;
    const unsigned mask = (1u << bits % 8) - 1;
    const uint8_t *source = from.data;
    uint8_t *target = to.data;
    const size_t first = from.index, at = to.index;
    if (count == 0)
        return;
    if (bits >= 8) {
        memcpy(target + at * (bits / 8), source + first * (bits / 8), count * (bits / 8));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t shift = (at + i) % per_byte * bits;
        unsigned value = source[(first + i) / per_byte] >> (first + i) % per_byte * bits & mask;
        uint8_t *byte = &target[(at + i) / per_byte];
        *byte = (uint8_t)((*byte & ~(mask << shift)) | value << shift);
    }
}

enum amp_status amp_bytes_unpack(const struct amp_tensor *from, struct amp_tensor *bytes,
                                 struct amp_error *err)
{
    *bytes = (struct amp_tensor){.dtype = AMP_UINT8, .shape = from->shape};
    AMP_TRY(amp_tensor_alloc(bytes, err));
    amp_bits_unpack(from->dtype, from->data, bytes->data, amp_tensor_count(from));
    return AMP_OK;
}

void amp_bytes_pack(const struct amp_tensor *bytes, struct amp_tensor *to)
{
    amp_bits_pack(to->dtype, bytes->data, to->data, amp_tensor_count(to));
}
