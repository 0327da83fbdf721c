#ifndef AMP_OPS_KERNEL_ELEMENTWISE_H
#define AMP_OPS_KERNEL_ELEMENTWISE_H

#include "ops/kernel/kernel.h"

/*
 * Loop bodies from an expression, for the operators that work element by element. X-macros for the
 * type lists of kernel.h: AMP_FLOAT_TYPES(AMP_MAP, exp, exp(x)) makes exp_FLOAT and exp_DOUBLE. All
 * inputs and the output of one loop have the same type, or the output has type R.
 */

/* to = EXPR of x. PRE stands before the loop and may read `param`; EARLY is computed for each
   element whatever EXPR then chooses and is its e, so that functions under no condition vectorize.
 */
#define AMP_MAP_FULL(DTYPE, T, name, R, pre, early, expr)                            \
    AMP_CLONES(void, name##_##DTYPE,                                                 \
               (int64_t n, void *const *at, const int64_t *step, const void *param), \
               (n, at, step, param))                                                 \
    {                                                                                \
        (void)step, (void)param;                                                     \
        const T *from = at[1];                                                       \
        R *to = at[0];                                                               \
        pre;                                                                         \
        AMP_SIMD for (int64_t i = 0; i < n; i++)                                     \
        {                                                                            \
            const T x = from[i], e = (T)(early);                                     \
            (void)e;                                                                 \
            to[i] = (R)(expr);                                                       \
        }                                                                            \
    }
#define AMP_MAP(DTYPE, T, name, expr) AMP_MAP_FULL(DTYPE, T, name, T, (void)0, 0, expr)

/* to = EXPR of x, with the kernel's parameters, two doubles, as a and b of type T. */
#define AMP_MAP_AB(DTYPE, T, name, early, expr) \
    AMP_MAP_FULL(DTYPE, T, name, T, AMP_AB(T), early, expr)
#define AMP_AB(T)                              \
    const T a = (T)((const double *)param)[0]; \
    const T b = (T)((const double *)param)[1]; \
    (void)a, (void)b

/* to, of type R, = EXPR of x and y. A broadcast operand has loops of its own: only steps that are
   known let the compiler vectorize. */
#define AMP_ZIP_FULL(DTYPE, T, name, R, expr)                                        \
    AMP_CLONES(void, name##_##DTYPE,                                                 \
               (int64_t n, void *const *at, const int64_t *step, const void *param), \
               (n, at, step, param))                                                 \
    {                                                                                \
        (void)param;                                                                 \
        const T *xs = at[1], *ys = at[2];                                            \
        R *to = at[0];                                                               \
        if (step[1] == 1 && step[2] == 1) {                                          \
            AMP_ZIP_LOOP(AMP_SIMD, T, T, R, xs[i], ys[i], expr);                     \
        } else if (step[1] == 1) {                                                   \
            AMP_ZIP_LOOP(AMP_SIMD, T, T, R, xs[i], ys[0], expr);                     \
        } else if (step[2] == 1) {                                                   \
            AMP_ZIP_LOOP(AMP_SIMD, T, T, R, xs[0], ys[i], expr);                     \
        } else {                                                                     \
            AMP_ZIP_LOOP(, T, T, R, xs[0], ys[0], expr);                             \
        }                                                                            \
    }
#define AMP_ZIP_LOOP(pragma, T, U, R, x_element, y_element, expr) \
    pragma for (int64_t i = 0; i < n; i++)                        \
    {                                                             \
        const T x = x_element;                                    \
        const U y = y_element;                                    \
        to[i] = (R)(expr);                                        \
    }
#define AMP_ZIP(DTYPE, T, name, expr) AMP_ZIP_FULL(DTYPE, T, name, T, expr)
/* A predicate: a bool comes out. */
#define AMP_TEST(DTYPE, T, name, expr) AMP_ZIP_FULL(DTYPE, T, name, uint8_t, expr)

/* For what no vector does, with y of type U: one loop for all. */
#define AMP_ZIP_PLAIN(DTYPE, T, name, U, R, expr)                                                  \
    static void name##_##DTYPE(int64_t n, void *const *at, const int64_t *step, const void *param) \
    {                                                                                              \
        (void)param;                                                                               \
        const T *xs = at[1];                                                                       \
        const U *ys = at[2];                                                                       \
        R *to = at[0];                                                                             \
        AMP_ZIP_LOOP(, T, U, R, xs[i * step[1]], ys[i * step[2]], expr);                           \
    }

/* The descriptor of operator NAME (of DOMAIN), which run_<lower> runs through amp_loop_compute.
   What else is known of it comes last, as designated initializers. */
#define AMP_ELEMENTWISE(NAME, lower, version, ...) \
    AMP_ELEMENTWISE_OF(NULL, NAME, lower, version, __VA_ARGS__)
#define AMP_ELEMENTWISE_OF(DOMAIN, NAME, lower, version, shape_function, ...) \
    const struct amp_op amp_op_##lower = {.name = #NAME,                      \
                                          .domain = DOMAIN,                   \
                                          .newest = version,                  \
                                          .effect = AMP_COMPUTES,             \
                                          .native = AMP_NATIVE_ALL,           \
                                          .is_elementwise = true,             \
                                          .reads_widened = AMP_INPUTS_ALL,    \
                                          .shape = shape_function,            \
                                          .run = run_##lower,                 \
                                          __VA_ARGS__};

/* Operator NAME of one input, or of two, whose bodies lower_<DTYPE> are there for TYPES. */
#define AMP_UNARY(NAME, lower, version, TYPES, ...)                                   \
    static enum amp_status run_##lower(struct amp_ctx *ctx)                           \
    {                                                                                 \
        static amp_loop_body *const table[AMP_DTYPE_COUNT] = {TYPES(AMP_ROW, lower)}; \
        return amp_map_run(ctx, table, NULL);                                         \
    }                                                                                 \
    AMP_ELEMENTWISE(NAME, lower, version, amp_shape_same, __VA_ARGS__)
#define AMP_BINARY(NAME, lower, version, TYPES, ...)                                  \
    static enum amp_status run_##lower(struct amp_ctx *ctx)                           \
    {                                                                                 \
        static amp_loop_body *const table[AMP_DTYPE_COUNT] = {TYPES(AMP_ROW, lower)}; \
        return amp_zip_run(ctx, table);                                               \
    }                                                                                 \
    AMP_ELEMENTWISE(NAME, lower, version, amp_zip_shape, __VA_ARGS__)

/* Output 0 = the body in TABLE for the dtype of input 0, over that input. */
enum amp_status amp_map_run(struct amp_ctx *ctx, amp_loop_body *const *table, const void *param);

/*
 * Operators of two inputs, with the broadcasting of the node's version: any direction from 7 on;
 * before, B to A's shape when attribute `broadcast` is 1, B's dims being A's from attribute `axis`
 * on (the last ones by default).
 */
enum amp_status amp_zip_shape(struct amp_ctx *ctx);
enum amp_status amp_zip_run(struct amp_ctx *ctx, amp_loop_body *const *table);

/* The parts of the two, for operators with a rule of their own. Align: the shape of input 1 as it
   lines up with input 0. Into: output 0 has input 0's shape, to which B must broadcast. Loop:
   output 0 = BODY(input 0, B), B's shape aligned. */
enum amp_status amp_zip_align(struct amp_ctx *ctx, struct amp_shape *b);
enum amp_status amp_zip_shape_into(struct amp_ctx *ctx, const struct amp_shape *b);
void amp_zip_loop(struct amp_ctx *ctx, amp_loop_body *body, const struct amp_tensor *b);

#endif
