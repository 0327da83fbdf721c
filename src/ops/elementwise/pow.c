/*
 * Pow. Base and exponent may differ in type; the result has the base's. Integers to an integer
 * power are exact and wrap as in two's complement.
 */
#include "core/array.h"
#include "ops/bound.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/kernel/elementwise.h"
#include "ops/kernel/vector_math.h"

/* A negative power of an integer is a fraction, which truncates to 0 unless BASE is 1 or -1. */
static int64_t integer_power(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    uint64_t square = (uint64_t)base, result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            result *= square;
        square *= square;
    }
    return (int64_t)result;
}

/* Base T to an exponent of type U. */
AMP_ZIP(FLOAT, float, pow_float, pow(x, y))
AMP_ZIP_PLAIN(DOUBLE, float, pow_float, double, float, pow((double)x, y))
AMP_ZIP(DOUBLE, double, pow_double, pow(x, y))
AMP_ZIP_PLAIN(INT64, int32_t, pow_int32, int64_t, int32_t, integer_power(x, y))
AMP_ZIP_PLAIN(INT64, int64_t, pow_int64, int64_t, int64_t, integer_power(x, y))
AMP_ZIP_PLAIN(DOUBLE, int32_t, pow_int32, double, int32_t, amp_f64_to_i64(pow((double)x, y)))
AMP_ZIP_PLAIN(DOUBLE, int64_t, pow_int64, double, int64_t, amp_f64_to_i64(pow((double)x, y)))

/* Single exponents that products and roots do better, many times faster: those of normalizations
   and activations that exporters take apart. At -0 and -infinity a root is not what a power is. */
#define ROOT(T) (x == (T)-INFINITY ? (T)INFINITY : sqrt(x + 0))
AMP_FLOAT_TYPES(AMP_MAP, square, x *x)
AMP_FLOAT_TYPES(AMP_MAP, cube, x *x *x)
AMP_FLOAT_TYPES(AMP_MAP, inverse, 1 / x)
#define MAP_ROOT(DTYPE, T, name) AMP_MAP(DTYPE, T, name, ROOT(T))
#define MAP_INVERSE_ROOT(DTYPE, T, name) AMP_MAP(DTYPE, T, name, 1 / ROOT(T))
AMP_FLOAT_TYPES(MAP_ROOT, root)
AMP_FLOAT_TYPES(MAP_INVERSE_ROOT, inverse_root)

/* The bodies, by the base's dtype, for EXPONENT; NULL: none of these. */
static amp_loop_body *const *simple_power(double exponent)
{
    static const struct {
        double exponent;
        amp_loop_body *bodies[AMP_DTYPE_COUNT];
    } powers[] = {{2, {AMP_FLOAT_TYPES(AMP_ROW, square)}},
                  {3, {AMP_FLOAT_TYPES(AMP_ROW, cube)}},
                  {0.5, {AMP_FLOAT_TYPES(AMP_ROW, root)}},
                  {-0.5, {AMP_FLOAT_TYPES(AMP_ROW, inverse_root)}},
                  {-1, {AMP_FLOAT_TYPES(AMP_ROW, inverse)}}};
    for (size_t i = 0; i < AMP_COUNT(powers); i++)
        if (powers[i].exponent == exponent)
            return powers[i].bodies;
    return NULL;
}

/* The type to compute a power in, given the dtypes of base and exponent: float32 where it holds all
   exponents exactly. */
static enum amp_dtype exponent_dtype(enum amp_dtype x, enum amp_dtype y)
{
    if (x == AMP_FLOAT && amp_dtype_is_exact(y, AMP_FLOAT))
        return AMP_FLOAT;
    bool is_whole = amp_dtype_class(x) == AMP_CLASS_INT && amp_dtype_class(y) != AMP_CLASS_FLOAT;
    return is_whole ? AMP_INT64 : AMP_DOUBLE;
}

/* Bodies by the dtype of the exponent, for each base. */
typedef amp_loop_body *const bodies[AMP_DTYPE_COUNT];
static const bodies of_float = {[AMP_FLOAT] = pow_float_FLOAT, [AMP_DOUBLE] = pow_float_DOUBLE};
static const bodies of_double = {[AMP_DOUBLE] = pow_double_DOUBLE};
static const bodies of_int32 = {[AMP_INT64] = pow_int32_INT64, [AMP_DOUBLE] = pow_int32_DOUBLE};
static const bodies of_int64 = {[AMP_INT64] = pow_int64_INT64, [AMP_DOUBLE] = pow_int64_DOUBLE};

static enum amp_status run_power(struct amp_ctx *ctx, const struct amp_tensor *exponent)
{
    static const bodies *const by_base[AMP_DTYPE_COUNT] = {[AMP_FLOAT] = &of_float,
                                                           [AMP_DOUBLE] = &of_double,
                                                           [AMP_INT32] = &of_int32,
                                                           [AMP_INT64] = &of_int64};
    enum amp_dtype dtype = amp_compute_dtype(ctx->in[0]->dtype);
    amp_loop_body *const *simple = NULL;
    const bodies *of_base;
    amp_loop_body *body;
    if (amp_tensor_count(exponent) == 1)
        simple = simple_power(amp_tensor_double(exponent, 0));
    if (simple != NULL && simple[dtype] != NULL)
        return amp_map_run(ctx, simple, NULL);
    AMP_PICK(ctx, of_base, by_base, dtype);
    AMP_PICK(ctx, body, *of_base, exponent->dtype);
    amp_zip_loop(ctx, body, exponent);
    return AMP_OK;
}

static enum amp_status run_pow(struct amp_ctx *ctx)
{
    struct amp_tensor exponent;
    enum amp_dtype dtype = exponent_dtype(amp_compute_dtype(ctx->in[0]->dtype), ctx->in[1]->dtype);
    AMP_TRY(amp_tensor_cast_copy(ctx->in[1], dtype, &exponent, ctx->err));
    enum amp_status status = amp_zip_align(ctx, &exponent.shape);
    if (status == AMP_OK)
        status = run_power(ctx, &exponent);
    amp_tensor_release(&exponent);
    return status;
}

/* Of constant exponents: roots, squares, and even powers, which are not below 0. */
static bool bound_pow(const struct amp_bound_call *call, struct amp_interval *out)
{
    double exponent;
    struct amp_interval x = call->in[0];
    if (!amp_bound_number(call, 1, &exponent))
        return false;
    struct amp_interval magnitude = amp_interval_abs(x);
    bool is_even = fmod(exponent, 2) == 0, is_whole = rint(exponent) == exponent;
    if (!is_even && x.low < 0 && is_whole)
        return false;
    if (!is_whole)
        magnitude = amp_interval_max(x, amp_interval_of(0)); /* below 0 it gives NaN */
    double ends[2] = {pow(magnitude.low, exponent), pow(magnitude.high, exponent)};
    *out = (struct amp_interval){fmin(ends[0], ends[1]), fmax(ends[0], ends[1])};
    return true;
}

const struct amp_op amp_op_pow = {
    .name = "Pow",
    .newest = 15,
    .effect = AMP_COMPUTES,
    .bound = bound_pow,
    .keeps_zero = AMP_INPUT(0),
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT(
        {.term = "SumTo(Where(Equal(b, CastLike(0, b)), 0, Mul(g, Mul(CastLike(b, x), "
                 "Pow(x, Sub(CastLike(b, x), 1))))))"},
        {.input = 1,
         .term = "SumTo(Where(Greater(a, CastLike(0, a)), CastLike(Mul(CastLike(g, a), "
                 "Mul(y, Log(a))), x), CastLike(0, x)))"}),
    .shape = amp_zip_shape,
    .run = run_pow};
