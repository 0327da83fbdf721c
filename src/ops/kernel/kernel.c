/*
 * What kernels in C share: the refusal of a dtype, scratch memory, a copy by many threads, and the
 * packing of elements below a byte.
 */
#include "ops/kernel/kernel.h"

#include "core/memory.h"

#include <string.h>

enum amp_status amp_no_kernel(struct amp_ctx *ctx, enum amp_dtype dtype)
{
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "no kernel for %s", amp_dtype_name(dtype));
}

struct amp_buffer *amp_scratch(struct amp_ctx *ctx, const char *what, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    struct amp_buffer *buffer = amp_buffer_create(total);
    if (buffer == NULL)
        AMP_IGNORE(amp_memory_fail(ctx->err, what, total));
    return buffer;
}

void amp_copy(void *to, const void *from, size_t size)
{
    enum { PART = 4 * AMP_PARALLEL_MIN };
#pragma omp parallel for if (size > PART)
    for (size_t i = 0; i < size; i += PART)
        memcpy((char *)to + i, (const char *)from + i, size - i < PART ? size - i : PART);
}

/* Whole bytes, so that the loops become vector code. */
AMP_CLONES(void, unpack_halves, (const uint8_t *packed, unsigned sign, uint8_t *to, size_t n_bytes),
           (packed, sign, to, n_bytes))
{
    AMP_SIMD for (size_t i = 0; i < n_bytes; i++)
    {
        unsigned byte = packed[i];
        to[2 * i] = (uint8_t)(((byte & 15u) ^ sign) - sign);
        to[2 * i + 1] = (uint8_t)((byte >> 4 ^ sign) - sign);
    }
}

AMP_CLONES(void, pack_halves, (const uint8_t *from, uint8_t *packed, size_t n_bytes),
           (from, packed, n_bytes))
{
    AMP_SIMD for (size_t i = 0; i < n_bytes; i++) packed[i] =
        (uint8_t)((from[2 * i] & 15u) | (unsigned)from[2 * i + 1] << 4);
}

void amp_bits_unpack(enum amp_dtype dtype, const void *from, uint8_t *to, size_t count)
{
    unsigned bits = amp_dtype_bits(dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;
    unsigned sign = amp_dtype_class(dtype) == AMP_CLASS_INT ? 1u << (bits - 1) : 0;
    const uint8_t *packed = from;
    size_t done = bits == 4 ? count / 2 * 2 : 0;
    unpack_halves(packed, sign, to, done / 2);
    for (size_t i = done; i < count; i++) {
        unsigned value = packed[i / per_byte] >> i % per_byte * bits & mask;
        to[i] = (uint8_t)((value ^ sign) - sign);
    }
}

void amp_bits_pack(enum amp_dtype dtype, const uint8_t *from, void *to, size_t count)
{
    unsigned bits = amp_dtype_bits(dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;
    uint8_t *packed = to;
    size_t done = bits == 4 ? count / 2 * 2 : 0;
    pack_halves(from, packed, done / 2);
    for (size_t i = done; i < count; i++) {
        unsigned shift = (unsigned)(i % per_byte) * bits;
        unsigned before = shift == 0 ? 0 : packed[i / per_byte];
        packed[i / per_byte] = (uint8_t)(before | (from[i] & mask) << shift);
    }
}
