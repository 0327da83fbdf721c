/*
 * Fourier transforms: radix 2 where the length is a power of two, else Bluestein's algorithm
 * (1970), which writes the transform as a convolution of a power-of-two length by j k = (j^2 + k^2
 * - (k-j)^2) / 2.
 */
#include "ops/signal/fft.h"

#include "core/buffer.h"
#include "core/simd.h"

#include <math.h>
#include <string.h>

struct amp_fft {
    struct amp_buffer *buffer;    /* of itself and all that follows */
    int64_t n, size;              /* the length; the power of two that is computed with */
    struct amp_complex *roots;    /* [size]: from index HALF on, e^(-pi i k / half), half of them */
    struct amp_complex *chirp;    /* [n]: e^(-pi i k^2 / n); NULL: n is a power of two */
    struct amp_complex *spectrum; /* [size]: transform of the conjugate chirp, both ways round 0 */
};

static struct amp_complex multiply(struct amp_complex a, struct amp_complex b)
{
    return (struct amp_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct amp_complex conjugate(struct amp_complex a)
{
    return (struct amp_complex){a.re, -a.im};
}

/* e^(-2 pi i part / whole) */
static struct amp_complex root(int64_t part, int64_t whole)
{
    double angle = -2 * 3.14159265358979323846 * ((double)part / (double)whole);
    return (struct amp_complex){cos(angle), sin(angle)};
}

/* Puts X [size] into the order of reversed bits. */
static void reverse_bits(struct amp_complex *x, int64_t size)
{
    int64_t reversed = 0;
    for (int64_t i = 0; i < size; i++) {
        if (i < reversed) {
            struct amp_complex kept = x[i];
            x[i] = x[reversed];
            x[reversed] = kept;
        }
        int64_t bit = size >> 1;
        for (; bit > 0 && (reversed & bit); bit >>= 1)
            reversed ^= bit;
        reversed |= bit;
    }
}

/* Combines each two adjacent transforms of HALF elements of X [size] to one. */
AMP_CLONES(void, combine,
           (struct amp_complex * x, int64_t size, int64_t half, const struct amp_complex *roots),
           (x, size, half, roots))
{
    for (struct amp_complex *a = x, *b = x + half; a < x + size; a += 2 * half, b += 2 * half)
        AMP_SIMD for (int64_t k = 0; k < half; k++)
        {
            struct amp_complex turned = multiply(b[k], roots[k]);
            b[k] = (struct amp_complex){a[k].re - turned.re, a[k].im - turned.im};
            a[k] = (struct amp_complex){a[k].re + turned.re, a[k].im + turned.im};
        }
}

/* The transform of X [size], a power of two. */
static void radix2(const struct amp_fft *fft, struct amp_complex *x)
{
    reverse_bits(x, fft->size);
    for (int64_t half = 1; half < fft->size; half *= 2)
        combine(x, fft->size, half, fft->roots + half);
}

/* N elements of X conjugated and scaled: what turns a transform into its inverse. */
static void conjugate_all(struct amp_complex *x, int64_t n, double scale)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (struct amp_complex){x[i].re * scale, -x[i].im * scale};
}

static void bluestein(const struct amp_fft *fft, struct amp_complex *x, struct amp_complex *work)
{
    memset(work, 0, (size_t)fft->size * sizeof *work);
    for (int64_t i = 0; i < fft->n; i++)
        work[i] = multiply(x[i], fft->chirp[i]);
    radix2(fft, work);
    for (int64_t i = 0; i < fft->size; i++)
        work[i] = conjugate(multiply(work[i], fft->spectrum[i]));
    radix2(fft, work);
    conjugate_all(work, fft->n, 1 / (double)fft->size);
    for (int64_t i = 0; i < fft->n; i++)
        x[i] = multiply(work[i], fft->chirp[i]);
}

/* k^2 modulo 2 n, step by step, so that no product overflows and angles keep their digits. */
static void make_chirp(struct amp_fft *fft)
{
    int64_t square = 0;
    memset(fft->spectrum, 0, (size_t)fft->size * sizeof *fft->spectrum);
    for (int64_t k = 0; k < fft->n; k++) {
        fft->chirp[k] = root(square, 2 * fft->n);
        fft->spectrum[k] = conjugate(fft->chirp[k]);
        fft->spectrum[k == 0 ? 0 : fft->size - k] = conjugate(fft->chirp[k]);
        square = (square + 2 * k + 1) % (2 * fft->n);
    }
    radix2(fft, fft->spectrum);
}

struct amp_fft *amp_fft_create(int64_t n)
{
    bool is_power = (n & (n - 1)) == 0;
    int64_t size = 1;
    if (n > INT64_MAX / 8 / (int64_t)sizeof(struct amp_complex))
        return NULL;
    while (size < (is_power ? n : 2 * n - 1))
        size *= 2;
    int64_t numbers = size + (is_power ? 0 : n + size);
    struct amp_buffer *buffer =
        amp_buffer_create(sizeof(struct amp_fft) + (size_t)numbers * sizeof(struct amp_complex));
    if (buffer == NULL)
        return NULL;
    struct amp_fft *fft = buffer->data;
    *fft = (struct amp_fft){.buffer = buffer, .n = n, .size = size};
    fft->roots = (struct amp_complex *)(fft + 1);
    for (int64_t half = 1; half < size; half *= 2)
        for (int64_t k = 0; k < half; k++)
            fft->roots[half + k] = root(k, 2 * half);
    if (!is_power) {
        fft->chirp = fft->roots + size;
        fft->spectrum = fft->chirp + n;
        make_chirp(fft);
    }
    return fft;
}

void amp_fft_destroy(struct amp_fft *fft)
{
    if (fft != NULL)
        amp_buffer_unref(fft->buffer);
}

int64_t amp_fft_work(const struct amp_fft *fft)
{
    return fft->chirp == NULL ? 0 : fft->size;
}

void amp_fft_run(const struct amp_fft *fft, struct amp_complex *x, struct amp_complex *work,
                 bool is_inverse)
{
    if (is_inverse)
        conjugate_all(x, fft->n, 1);
    if (fft->chirp == NULL)
        radix2(fft, x);
    else
        bluestein(fft, x, work);
    if (is_inverse)
        conjugate_all(x, fft->n, 1 / (double)fft->n);
}
