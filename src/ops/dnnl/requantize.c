/*
 * Says which products of bytes one primitive may round to bytes again, and which post-ops do that.
 * It computes nothing.
 */
#include "ops/dnnl/requantize.h"

#include "core/arena.h"
#include "core/simd.h"
#include "ops/dnnl/dnnl.h"
#include "ops/kernel/kernel.h"

#include <stdlib.h>

/* The largest integer below which float32 has all. */
enum { EXACT = 1 << 24 };

/* Of a channel's weights: the sums of those above 0, and of those below without their sign. */
struct reach {
    int64_t up, down;
};

static void add_weights(const struct amp_byte_sums *sums, struct reach *reach)
{
    const struct amp_shape *shape = &sums->w->shape;
    const int64_t n = shape->dims[sums->channel];
    const int64_t outer = amp_shape_product(shape, 0, sums->channel);
    const int64_t inner = amp_shape_product(shape, sums->channel + 1, shape->rank);
    const int8_t *w = sums->w->data;
    for (int64_t row = 0; row < outer * n; row++)
        for (int64_t i = 0; i < inner; i++, w++)
            *(*w < 0 ? &reach[row % n].down : &reach[row % n].up) += labs(*w);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The largest magnitude of what is added up, or comes about on the way, with weights of REACH. In
   integers oneDNN multiplies X as uint8, and takes out afterwards what its zero point and a shift
   of 128 contribute. */
static int64_t largest_sum(const struct amp_byte_sums *sums, struct reach reach)
{
    int64_t low = sums->x == AMP_INT8 ? INT8_MIN : 0;
    return UINT8_MAX * larger(reach.up, reach.down) +
           (labs(sums->x_zero) + labs(low)) * labs(reach.up - reach.down);
}

static bool are_exact(const struct amp_byte_sums *sums)
{
    const int64_t n = sums->w->shape.dims[sums->channel];
    struct reach *reach = amp_xcalloc((size_t)larger(n, 1), sizeof *reach);
    bool fits = true;
    add_weights(sums, reach);
    for (int64_t i = 0; i < n && fits; i++) {
        int64_t bias = sums->bias == NULL ? 0 : amp_tensor_int(sums->bias, (size_t)i);
        fits = largest_sum(sums, reach[i]) + labs(bias) <= EXACT;
    }
    free(reach);
    return fits;
}

bool amp_byte_sums_may_pad(const struct amp_tensor *w)
{
    return amp_shape_product(&w->shape, 2, w->shape.rank) != 1;
}

/* The largest weight of which two, with any uint8, make a sum of 16 bits. */
enum { SMALL = INT16_MAX / (2 * UINT8_MAX) };

static bool are_small(const struct amp_tensor *w)
{
    const int8_t *values = w->data;
    const size_t count = amp_tensor_count(w);
    bool are = true;
    for (size_t i = 0; i < count && are; i++)
        are = abs(values[i]) <= SMALL;
    return are;
}

/* Whether oneDNN has kernels for that convolution on CPUs without VNNI: for whole vectors of a
   group's channels, or for one. */
static bool has_small_kernels(const struct amp_byte_sums *sums)
{
    enum { VECTOR = 8 };
    const int64_t *w = sums->w->shape.dims, group = sums->group;
    if (sums->w->shape.rank != 4 || group < 1)
        return false;
    return group == 1 || (w[1] == 1 && w[0] == group) ||
           (w[1] % VECTOR == 0 && w[0] / group % VECTOR == 0);
}

/* Whether oneDNN's sums of K products are exact. Without VNNI they are of uint8 and of weights of
   7 bits, which quantizers make for such CPUs. */
static bool adds_bytes(const struct amp_byte_sums *sums, int64_t k)
{
    return amp_dnnl_adds_bytes(k) ||
           (sums->x == AMP_UINT8 && has_small_kernels(sums) && are_small(sums->w));
}

enum amp_byte_way amp_byte_sums_way(const struct amp_byte_sums *sums)
{
    const int64_t n = sums->w->shape.dims[sums->channel];
    if (amp_tensor_count(sums->w) == 0 || !adds_bytes(sums, (int64_t)amp_tensor_count(sums->w) / n))
        return AMP_BYTES_APART;
    if (are_exact(sums))
        return AMP_BYTES_WHOLE;
    const int64_t low = sums->x == AMP_INT8 ? INT8_MIN : 0;
    bool is_plain = sums->x_zero == low || !amp_byte_sums_may_pad(sums->w);
    return is_plain ? AMP_BYTES_SUMMED : AMP_BYTES_APART;
}

AMP_CLONES(void, flip_signs, (const uint8_t *from, uint8_t *to, size_t n), (from, to, n))
{
    AMP_SIMD for (size_t i = 0; i < n; i++) to[i] = from[i] ^ 0x80u;
}

void amp_bytes_flip(const void *from, void *to, size_t count)
{
#pragma omp parallel for if (count > AMP_PARALLEL_MIN)
    for (size_t i = 0; i < count; i += AMP_PARALLEL_MIN)
        flip_signs((const uint8_t *)from + i, (uint8_t *)to + i,
                   count - i < AMP_PARALLEL_MIN ? count - i : AMP_PARALLEL_MIN);
}

/* A product is rounded by itself before a zero point is added: ties are those of the product. */
size_t amp_requantize_posts(const struct amp_requantize *requantize, struct amp_post *posts)
{
    posts[0] = (struct amp_post){.kind = AMP_POST_BINARY,
                                 .alg = dnnl_binary_mul,
                                 .operand = &requantize->factors,
                                 .is_constant = true};
    if (requantize->zero == 0)
        return 1;
    posts[1] = (struct amp_post){.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_round};
    posts[2] = (struct amp_post){
        .kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_linear, .alpha = 1, .beta = requantize->zero};
    return 3;
}
