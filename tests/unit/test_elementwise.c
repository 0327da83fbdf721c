/* The nested loop against plain indexing, halves against the same computation in float32, and the
   corners of integer arithmetic. ONNX's own test cases cover the operators' values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "ops/kernel/kernel.h"

static uint32_t random_state = 1;

/* 0 to BELOW-1. */
static int64_t any(int64_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % (uint32_t)below;
}

/* ---- the loop */

static void random_dims(int rank, int64_t *dims)
{
    for (int d = 0; d < rank; d++)
        dims[d] = 1 + any(d == rank - 1 ? 40 : 5);
}

/* Element INDEX of the broadcast of OPERAND to a shape of RANK dims. */
static size_t broadcast_index(const struct amp_tensor *operand, int rank, const int64_t *index)
{
    size_t flat = 0;
    for (int d = 0; d < operand->shape.rank; d++) {
        int64_t dim = operand->shape.dims[d];
        int64_t i = index[rank - operand->shape.rank + d];
        flat = flat * (size_t)dim + (size_t)(dim == 1 ? 0 : i);
    }
    return flat;
}

/* A tensor that broadcasts to OUT: fewer dims, some of them 1; numbered elements. */
static struct amp_tensor numbered_operand(const struct amp_shape *out)
{
    struct amp_error err = {.status = AMP_OK};
    int rank = (int)any(out->rank + 1);
    struct amp_tensor tensor = {.dtype = AMP_INT32, .shape = {.rank = rank}};
    for (int d = 0; d < rank; d++)
        tensor.shape.dims[d] = any(3) == 0 ? 1 : out->dims[out->rank - rank + d];
    assert_int_equal(amp_tensor_alloc(&tensor, &err), AMP_OK);
    for (size_t i = 0; i < amp_tensor_count(&tensor); i++)
        ((int32_t *)tensor.data)[i] = (int32_t)i;
    return tensor;
}

static void pair_up(int64_t n, void *const *at, const int64_t *step, const void *param)
{
    int64_t *to = at[0];
    const int32_t *a = at[1], *b = at[2];
    assert_null(param);
    for (int64_t i = 0; i < n; i++)
        to[i * step[0]] = (int64_t)a[i * step[1]] << 32 | b[i * step[2]];
}

static void loop_meets_every_element(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct amp_error err = {.status = AMP_OK};
        struct amp_tensor out = {.dtype = AMP_INT64, .shape = {.rank = (int)any(7)}};
        random_dims(out.shape.rank, out.shape.dims);
        assert_int_equal(amp_tensor_alloc(&out, &err), AMP_OK);
        struct amp_tensor a = numbered_operand(&out.shape), b = numbered_operand(&out.shape);
        struct amp_loop loop;
        amp_loop_init(&loop, out.shape.rank, out.shape.dims);
        amp_loop_tensor(&loop, &out);
        amp_loop_tensor(&loop, &a);
        amp_loop_tensor(&loop, &b);
        amp_loop_run(&loop, pair_up, NULL);
        int64_t index[AMP_RANK_MAX] = {0};
        size_t flat = 0;
        do {
            int64_t expected = (int64_t)broadcast_index(&a, out.shape.rank, index) << 32 |
                               (int64_t)broadcast_index(&b, out.shape.rank, index);
            assert_int_equal(((int64_t *)out.data)[flat++], expected);
        } while (amp_index_next(out.shape.rank, out.shape.dims, index));
        assert_int_equal(flat, amp_tensor_count(&out));
        amp_tensor_release(&out);
        amp_tensor_release(&a);
        amp_tensor_release(&b);
    }
}

static void add_floats(int64_t n, void *const *at, const int64_t *step, const void *param)
{
    float *to = at[0];
    const float *a = at[1], *b = at[2];
    assert_null(param);
    for (int64_t i = 0; i < n; i++)
        to[i * step[0]] = a[i * step[1]] + b[i * step[2]];
}

/* Enough elements for all threads, so that one begins within a row; one element of A for each row
   of each of two images, all of which bfloat16 holds. */
static void short_rows_hold(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16};
    (void)state;
    for (int64_t n = 1; n < 280; n++) {
        struct amp_error err = {.status = AMP_OK};
        int64_t rows = 2 * (int64_t)AMP_PARALLEL_MIN / n + 1;
        struct amp_shape shape = {3, {2, rows, n}};
        enum amp_dtype dtype = dtypes[n % 2];
        struct amp_tensor out = {.dtype = AMP_FLOAT, .shape = shape};
        struct amp_tensor a = {.dtype = dtype, .shape = {3, {n % 3 == 0 ? 1 : 2, rows, 1}}};
        struct amp_tensor b = {.dtype = AMP_FLOAT, .shape = shape};
        struct amp_tensor *all[] = {&out, &a, &b};
        struct amp_loop loop;
        amp_loop_init(&loop, 3, shape.dims);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(amp_tensor_alloc(all[k], &err), AMP_OK);
            for (size_t i = 0; k > 0 && i < amp_tensor_count(all[k]); i++)
                amp_tensor_set_double(all[k], i, k == 1 ? (double)(i % 251) : 256.0 * (double)i);
            amp_loop_tensor(&loop, all[k]);
        }
        amp_loop_compute(&loop, add_floats, NULL);
        for (int64_t i = 0; i < 2 * rows * n; i++) {
            int64_t row = i / n % (a.shape.dims[0] * rows);
            assert_true(((float *)out.data)[i] == (float)(row % 251 + 256 * i));
        }
        for (int k = 0; k < 3; k++)
            amp_tensor_release(all[k]);
    }
}

/* Enough elements for all threads, so that one begins within a row. */
static void short_rows_repeat(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 140; n++) {
        struct amp_error err = {.status = AMP_OK};
        int64_t dims[] = {3 * (int64_t)AMP_PARALLEL_MIN / n, n};
        struct amp_tensor out = {.dtype = AMP_INT64, .shape = {2, {dims[0], n}}};
        struct amp_tensor a = {.dtype = AMP_INT32, .shape = {2, {dims[0], 1}}};
        struct amp_tensor b = {.dtype = AMP_INT32, .shape = {1, {n}}};
        struct amp_tensor *all[] = {&out, &a, &b};
        struct amp_loop loop;
        amp_loop_init(&loop, 2, dims);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(amp_tensor_alloc(all[k], &err), AMP_OK);
            for (size_t i = 0; k > 0 && i < amp_tensor_count(all[k]); i++)
                ((int32_t *)all[k]->data)[i] = (int32_t)i;
            if (k == 1 && n % 2 == 0)
                all[k]->shape = (struct amp_shape){2, {1, 1}};
            amp_loop_tensor(&loop, all[k]);
        }
        amp_loop_run(&loop, pair_up, NULL);
        for (int64_t i = 0; i < dims[0] * n; i++)
            assert_int_equal(((int64_t *)out.data)[i], (n % 2 == 0 ? 0 : i / n) << 32 | i % n);
        for (int k = 0; k < 3; k++)
            amp_tensor_release(all[k]);
    }
}

static void views_step_backwards_and_over(void **state)
{
    (void)state;
    uint16_t from[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    uint16_t to[6] = {0};
    struct amp_loop loop;
    amp_loop_init(&loop, 2, (int64_t[]){3, 2}); /* rows from the last, every other column */
    amp_loop_view(&loop, to, sizeof *to, (int64_t[]){2, 1});
    amp_loop_view(&loop, from + 8, sizeof *from, (int64_t[]){-4, 2});
    amp_loop_run(&loop, amp_loop_copy(AMP_FLOAT16), NULL);
    assert_memory_equal(to, ((uint16_t[]){8, 10, 4, 6, 0, 2}), sizeof to);
}

/* Random strides for dims of some memory: dims in any order, maybe with gaps, maybe from the last.
   How many elements they span; *FIRST is where the loop begins. */
static int64_t random_strides(int rank, const int64_t *dims, int64_t *strides, bool may_repeat,
                              int64_t *first)
{
    int order[AMP_RANK_MAX];
    int64_t span = 1;
    *first = 0;
    for (int d = 0; d < rank; d++) {
        int at = (int)any(d + 1);
        memmove(order + at + 1, order + at, (size_t)(d - at) * sizeof *order);
        order[at] = d;
    }
    bool is_row_major = any(3) == 0;
    for (int k = rank - 1; k >= 0; k--) {
        int d = is_row_major ? k : order[k];
        int64_t kind = any(8), dim = dims[d];
        strides[d] = span;
        span = span * dim + (kind == 0 ? any(5) : 0);
        if (may_repeat && kind == 1)
            strides[d] = 0;
        if (may_repeat && kind == 2) {
            *first += strides[d] * (dim - 1);
            strides[d] = -strides[d];
        }
    }
    return span;
}

static int64_t offset_of(int rank, const int64_t *index, const int64_t *strides)
{
    int64_t offset = 0;
    for (int d = 0; d < rank; d++)
        offset += index[d] * strides[d];
    return offset;
}

/* Moves into memory that is all 0xEE: every element arrives, and nothing else is written. */
static void assert_moved(int rank, const int64_t *dims, size_t size)
{
    int64_t from_strides[AMP_RANK_MAX], to_strides[AMP_RANK_MAX], from_first, to_first;
    size_t from_size =
        (size_t)random_strides(rank, dims, from_strides, true, &from_first) * size + 64;
    size_t to_size = (size_t)random_strides(rank, dims, to_strides, false, &to_first) * size + 64;
    /* Both begin where an element may, not always where a vector may. */
    size_t from_shift = (size_t)any(3) * size, to_shift = (size_t)any(3) * size;
    uint8_t *from = malloc(from_size), *to = malloc(to_size), *expected = malloc(to_size);
    assert_true(from != NULL && to != NULL && expected != NULL);
    for (size_t i = 0; i < from_size; i++)
        from[i] = (uint8_t)any(256);
    memset(to, 0xEE, to_size);
    memset(expected, 0xEE, to_size);
    int64_t index[AMP_RANK_MAX] = {0};
    uint8_t *source = from + from_shift + (size_t)from_first * size;
    do
        memcpy(expected + to_shift + (size_t)offset_of(rank, index, to_strides) * size,
               source + offset_of(rank, index, from_strides) * (int64_t)size, size);
    while (amp_index_next(rank, dims, index));
    struct amp_loop loop;
    amp_loop_init(&loop, rank, dims);
    amp_loop_view(&loop, to + to_shift, size, to_strides);
    amp_loop_view(&loop, source, size, from_strides);
    amp_loop_move(&loop);
    assert_memory_equal(to, expected, to_size);
    free(from);
    free(to);
    free(expected);
}

static void moves_meet_every_element(void **state)
{
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    (void)state;
    for (int round = 0; round < 1500; round++) {
        int64_t dims[AMP_RANK_MAX];
        int rank = 1 + (int)any(4), large = (int)any(rank);
        for (int d = 0; d < rank; d++)
            dims[d] = 1 + any(d == large ? 70 : any(3) == 0 ? 20 : 5);
        assert_moved(rank, dims, sizes[round % 5]);
    }
    /* Enough for all threads. */
    for (int round = 0; round < 20; round++)
        assert_moved(3, (const int64_t[]){1 + any(5), 150 + any(70), 150 + any(70)},
                     sizes[round % 5]);
}

/* Small whole numbers, of which sums are exact in all three types, at any strides. */
static void floats_of_any_width_lie_anywhere(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    (void)state;
    for (int round = 0; round < 600; round++) {
        int64_t dims[AMP_RANK_MAX], strides[3][AMP_RANK_MAX], first[3], index[AMP_RANK_MAX] = {0};
        struct amp_tensor all[3];
        struct amp_error err = {.status = AMP_OK};
        int rank = 1 + (int)any(3);
        struct amp_loop loop;
        for (int d = 0; d < rank; d++)
            dims[d] = 1 + any(d == rank - 1 ? round % 50 == 0 ? 1200 : 300 : 8);
        amp_loop_init(&loop, rank, dims);
        for (int k = 0; k < 3; k++) {
            enum amp_dtype dtype = dtypes[any(3)];
            size_t size = amp_dtype_bits(dtype) / 8;
            int64_t span = random_strides(rank, dims, strides[k], k > 0, &first[k]);
            if (k == 0) { /* the output lies row by row */
                struct amp_shape shape = {.rank = rank};
                memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
                amp_strides(&shape, strides[0]);
                span = amp_shape_count(&shape);
                first[0] = 0;
            }
            all[k] = (struct amp_tensor){.dtype = dtype, .shape = {1, {span}}};
            assert_int_equal(amp_tensor_alloc(&all[k], &err), AMP_OK);
            for (int64_t i = 0; i < span; i++)
                amp_tensor_set_double(&all[k], (size_t)i, (double)(any(64) - 32));
            amp_loop_view(&loop, (char *)all[k].data + (size_t)first[k] * size, size, strides[k]);
            loop.operands[k].dtype = dtype;
        }
        amp_loop_compute(&loop, add_floats, NULL);
        do {
            double value[3];
            for (int k = 0; k < 3; k++)
                value[k] = amp_tensor_double(
                    &all[k], (size_t)(first[k] + offset_of(rank, index, strides[k])));
            assert_true(value[0] == value[1] + value[2]);
        } while (amp_index_next(rank, dims, index));
        for (int k = 0; k < 3; k++)
            amp_tensor_release(&all[k]);
    }
}

static void packed_elements_survive(void **state)
{
    (void)state;
    const enum amp_dtype dtypes[] = {AMP_INT4, AMP_UINT4, AMP_INT2, AMP_UINT2};
    for (size_t k = 0; k < 4; k++) {
        uint8_t packed[3] = {0}, bytes[5], back[5];
        for (size_t i = 0; i < 5; i++)
            bytes[i] = (uint8_t)any(256);
        amp_bits_pack(dtypes[k], bytes, packed, 5);
        amp_bits_unpack(dtypes[k], packed, back, 5);
        int low = 8 - (int)amp_dtype_bits(dtypes[k]);
        for (size_t i = 0; i < 5; i++)
            if (amp_dtype_class(dtypes[k]) == AMP_CLASS_INT)
                assert_int_equal((int8_t)back[i], (int8_t)(bytes[i] << low) >> low);
            else
                assert_int_equal(back[i], (uint8_t)(bytes[i] << low) >> low);
    }
}

/* ---- operators */

/* OPERATOR at VERSION of the tensors IN; the result has DTYPE and is released by the caller. */
static struct amp_tensor run(const char *operator, int version, struct amp_attr *attrs,
                             uint32_t n_attrs, const struct amp_tensor *const *in, uint32_t n_in,
                             enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor out = {.dtype = dtype}, *outs[] = {&out};
    const struct amp_node node = {.name = "",
                                  .op_type = operator,
                                  .domain = "",
                                  .since_version = version,
                                  .attrs = attrs,
                                  .n_attrs = n_attrs};
    void *kept = NULL;
    const bool is_constant[3] = {false};
    struct amp_ctx ctx = {.node = &node,
                          .in = in,
                          .n_in = n_in,
                          .out = outs,
                          .n_out = 1,
                          .is_constant = is_constant,
                          .state = &kept,
                          .err = &err};
    const struct amp_op *op = amp_op_find("", operator);
    assert_non_null(op);
    assert_int_equal(op->shape(&ctx), AMP_OK);
    assert_int_equal(amp_ctx_alloc(&ctx, 0), AMP_OK);
    assert_int_equal(op->run(&ctx), AMP_OK);
    return out;
}

static struct amp_tensor convert(const struct amp_tensor *from, enum amp_dtype dtype)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor to = {.dtype = dtype, .shape = from->shape};
    assert_int_equal(amp_tensor_alloc(&to, &err), AMP_OK);
    amp_dtype_convert(from->dtype, from->data, dtype, to.data, amp_tensor_count(from));
    return to;
}

/* OPERATOR in HALF must give what it gives in float32, rounded. */
static void assert_rounds_once(const char *operator, int version, enum amp_dtype half,
                               const struct amp_tensor *a, const struct amp_tensor *b)
{
    uint32_t n_in = b != NULL ? 2 : 1;
    struct amp_tensor wide_a = convert(a, AMP_FLOAT), wide_b = {.data = NULL};
    if (b != NULL)
        wide_b = convert(b, AMP_FLOAT);
    struct amp_tensor got =
        run(operator, version, NULL, 0, (const struct amp_tensor *[]){a, b}, n_in, half);
    struct amp_tensor wide = run(operator, version, NULL, 0,
                                 (const struct amp_tensor *[]){&wide_a, &wide_b}, n_in, AMP_FLOAT);
    struct amp_tensor expected = convert(&wide, half);
    assert_true(amp_shape_equal(&got.shape, &expected.shape));
    assert_memory_equal(got.data, expected.data, amp_tensor_size(&got));
    amp_tensor_release(&wide_a);
    amp_tensor_release(&wide_b);
    amp_tensor_release(&got);
    amp_tensor_release(&wide);
    amp_tensor_release(&expected);
}

static struct amp_tensor random_halves(enum amp_dtype dtype, int rank, const int64_t *dims)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_tensor wide = {.dtype = AMP_FLOAT, .shape = {.rank = rank}};
    memcpy(wide.shape.dims, dims, (size_t)rank * sizeof *dims);
    assert_int_equal(amp_tensor_alloc(&wide, &err), AMP_OK);
    for (size_t i = 0; i < amp_tensor_count(&wide); i++)
        ((float *)wide.data)[i] = (float)(any(4000) - 2000) / 256;
    struct amp_tensor halves = convert(&wide, dtype);
    amp_tensor_release(&wide);
    return halves;
}

static void halves_round_once(void **state)
{
    (void)state;
    const enum amp_dtype halves[] = {AMP_BFLOAT16, AMP_FLOAT16};
    for (int k = 0; k < 2; k++) {
        struct amp_tensor a = random_halves(halves[k], 3, (int64_t[]){5, 3, 1100});
        struct amp_tensor row = random_halves(halves[k], 1, (int64_t[]){1100});
        struct amp_tensor column = random_halves(halves[k], 2, (int64_t[]){3, 1});
        assert_rounds_once("Abs", 13, halves[k], &a, NULL);
        assert_rounds_once("Gelu", 20, halves[k], &a, NULL);
        assert_rounds_once("Clip", 13, halves[k], &a, NULL);
        assert_rounds_once("Add", 14, halves[k], &a, &row);
        assert_rounds_once("Sub", 14, halves[k], &column, &a);
        assert_rounds_once("Max", 13, halves[k], &a, &column);
        assert_rounds_once("PRelu", 16, halves[k], &a, &column);
        amp_tensor_release(&a);
        amp_tensor_release(&row);
        amp_tensor_release(&column);
    }
}

/* OPERATOR of two arrays of COUNT elements of DTYPE. */
static struct amp_tensor of_two(const char *operator, int version, enum amp_dtype dtype, void *a,
                                void *b, int64_t count)
{
    const struct amp_tensor x = {.dtype = dtype, .shape = {.rank = 1, .dims = {count}}, .data = a};
    const struct amp_tensor y = {.dtype = dtype, .shape = {.rank = 1, .dims = {count}}, .data = b};
    return run(operator, version, NULL, 0, (const struct amp_tensor *[]){&x, &y}, 2, dtype);
}

static void integer_division_never_traps(void **state)
{
    (void)state;
    int64_t x[] = {7, -7, 7, INT64_MIN, INT64_MIN, 0}, y[] = {2, 2, -2, -1, 0, 0};
    static const int64_t quotients[] = {3, -3, -3, INT64_MIN, 0, 0}, rests[] = {1, 1, -1, 0, 0, 0};
    struct amp_tensor out = of_two("Div", 14, AMP_INT64, x, y, 6);
    assert_memory_equal(out.data, quotients, sizeof quotients);
    amp_tensor_release(&out);
    out = of_two("Mod", 13, AMP_INT64, x, y, 6);
    assert_memory_equal(out.data, rests, sizeof rests);
    amp_tensor_release(&out);
}

/* The rest has the sign of the divisor as NumPy's mod, or with attribute fmod that of what is
   divided; zeros have it as well. */
static void rests_have_a_sign(void **state)
{
    static const double of_divisor[] = {1, 1, -1, -1, 0.0, -0.0, 0.0, -0.0, 0.5, -1.5},
                        of_dividend[] = {1, -1, 1, -1, 0.0, 0.0, -0.0, -0.0, 0.5, 0.5};
    double x[] = {7, -7, 7, -7, 6, 6, -6, -6, 2.5, 2.5}, y[] = {2, 2, -2, -2, 2, -2, 2, -2, 2, -2};
    int64_t whole_x[8], whole_y[8];
    struct amp_attr fmod = {
        .name = "fmod", .type = AMP_ATTR_INT, .count = 1, .ints = (int64_t[]){1}};
    (void)state;
    for (int i = 0; i < 8; i++) {
        whole_x[i] = (int64_t)x[i];
        whole_y[i] = (int64_t)y[i];
    }
    const struct amp_tensor reals[] = {{.dtype = AMP_DOUBLE, .shape = {1, {10}}, .data = x},
                                       {.dtype = AMP_DOUBLE, .shape = {1, {10}}, .data = y}};
    const struct amp_tensor wholes[] = {{.dtype = AMP_INT64, .shape = {1, {8}}, .data = whole_x},
                                        {.dtype = AMP_INT64, .shape = {1, {8}}, .data = whole_y}};
    for (size_t has_fmod = 0; has_fmod < 2; has_fmod++) {
        const double *expected = has_fmod ? of_dividend : of_divisor;
        struct amp_tensor out =
            run("Mod", 13, &fmod, has_fmod, (const struct amp_tensor *[]){&reals[0], &reals[1]}, 2,
                AMP_DOUBLE);
        assert_memory_equal(out.data, expected, sizeof of_divisor);
        amp_tensor_release(&out);
        out = run("Mod", 13, &fmod, has_fmod, (const struct amp_tensor *[]){&wholes[0], &wholes[1]},
                  2, AMP_INT64);
        for (int i = 0; i < 8; i++)
            assert_int_equal(((const int64_t *)out.data)[i], (int64_t)expected[i]);
        amp_tensor_release(&out);
    }
}

static void integers_wrap(void **state)
{
    (void)state;
    int32_t x[] = {INT32_MAX, INT32_MIN, 65536}, y[] = {1, 1, 65536};
    static const int32_t sums[] = {INT32_MIN, INT32_MIN + 1, 131072};
    static const int32_t differences[] = {INT32_MAX - 1, INT32_MAX, 0};
    static const int32_t products[] = {INT32_MAX, INT32_MIN, 0};
    struct amp_tensor out = of_two("Add", 14, AMP_INT32, x, y, 3);
    assert_memory_equal(out.data, sums, sizeof sums);
    amp_tensor_release(&out);
    out = of_two("Sub", 14, AMP_INT32, x, y, 3);
    assert_memory_equal(out.data, differences, sizeof differences);
    amp_tensor_release(&out);
    out = of_two("Mul", 14, AMP_INT32, x, y, 3);
    assert_memory_equal(out.data, products, sizeof products);
    amp_tensor_release(&out);
}

static void integer_powers_are_exact(void **state)
{
    (void)state;
    int64_t x[] = {3, -1, -1, 2, 0, 0, 5}, y[] = {39, 3, -3, -1, 0, -1, 1};
    static const int64_t powers[] = {INT64_C(4052555153018976267), -1, -1, 0, 1, 0, 5};
    struct amp_tensor out = of_two("Pow", 15, AMP_INT64, x, y, 7);
    assert_memory_equal(out.data, powers, sizeof powers);
    amp_tensor_release(&out);
}

/* Exponents that have a way of their own, where it could differ from a power. */
static void simple_powers_are_powers(void **state)
{
    (void)state;
    static const float exponents[] = {2, 3, 0.5f, -0.5f, -1};
    float x[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 4, -4, 0.1f, 1e30f, 1e-30f, 7.3f};
    enum { COUNT = sizeof x / sizeof x[0] };
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        float y = exponents[i];
        const struct amp_tensor base = {.dtype = AMP_FLOAT, .shape = {1, {COUNT}}, .data = x};
        const struct amp_tensor exponent = {.dtype = AMP_FLOAT, .shape = {.rank = 0}, .data = &y};
        struct amp_tensor out =
            run("Pow", 15, NULL, 0, (const struct amp_tensor *[]){&base, &exponent}, 2, AMP_FLOAT);
        for (size_t k = 0; k < COUNT; k++) {
            float power = ((float *)out.data)[k], expected = powf(x[k], y);
            if (isnan(expected))
                assert_true(isnan(power));
            else if (isinf(expected) || expected == 0)
                assert_memory_equal(&power, &expected, sizeof power);
            else
                assert_true(fabsf(power - expected) <= 3e-7f * fabsf(expected));
        }
        amp_tensor_release(&out);
    }
}

/* Condition and choices of COUNT elements, or one where BROADCAST has the bit of the input. */
static void assert_where(int64_t count, unsigned broadcast)
{
    uint8_t condition[100];
    int16_t choices[2][100];
    struct amp_tensor in[3] = {{.dtype = AMP_BOOL, .data = condition},
                               {.dtype = AMP_INT16, .data = choices[0]},
                               {.dtype = AMP_INT16, .data = choices[1]}};
    for (int i = 0; i < 3; i++)
        in[i].shape = (struct amp_shape){1, {(broadcast >> i & 1) ? 1 : count}};
    for (int16_t k = 0; k < (int16_t)count; k++) {
        condition[k] = (uint8_t)(any(2) * any(256));
        choices[0][k] = k;
        choices[1][k] = (int16_t)-k;
    }
    struct amp_tensor out = run(
        "Where", 16, NULL, 0, (const struct amp_tensor *[]){&in[0], &in[1], &in[2]}, 3, AMP_INT16);
    for (size_t k = 0; k < amp_tensor_count(&out); k++) {
        int is_not = condition[broadcast & 1 ? 0 : k] == 0;
        assert_int_equal(((int16_t *)out.data)[k],
                         choices[is_not][(broadcast >> (is_not + 1) & 1) ? 0 : k]);
    }
    amp_tensor_release(&out);
}

static void where_takes_any_broadcast(void **state)
{
    (void)state;
    for (unsigned broadcast = 0; broadcast < 8; broadcast++)
        assert_where(83, broadcast);
}

/* As rows and as columns. */
static void comparisons_take_any_broadcast(void **state)
{
    (void)state;
    int8_t column[70], row[70], full[70 * 70];
    const struct amp_tensor x = {.dtype = AMP_INT8, .shape = {2, {70, 1}}, .data = column};
    const struct amp_tensor y = {.dtype = AMP_INT8, .shape = {1, {70}}, .data = row};
    const struct amp_tensor z = {.dtype = AMP_INT8, .shape = {2, {70, 70}}, .data = full};
    const struct amp_tensor *pairs[][2] = {{&x, &y}, {&y, &x}, {&z, &x}, {&y, &z}, {&z, &z}};
    for (int i = 0; i < 70; i++)
        column[i] = (int8_t)any(256), row[i] = (int8_t)any(256);
    for (int i = 0; i < 70 * 70; i++)
        full[i] = (int8_t)any(256);
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        struct amp_tensor out = run("Less", 13, NULL, 0, pairs[p], 2, AMP_BOOL);
        for (int64_t i = 0; i < INT64_C(70) * 70; i++) {
            const int64_t at[] = {i / 70, i % 70};
            int8_t a = ((int8_t *)pairs[p][0]->data)[broadcast_index(pairs[p][0], 2, at)];
            int8_t b = ((int8_t *)pairs[p][1]->data)[broadcast_index(pairs[p][1], 2, at)];
            assert_int_equal(((uint8_t *)out.data)[i], a < b);
        }
        amp_tensor_release(&out);
    }
}

/* Before version 7, B's dims are A's from the attribute `axis` on. */
static void old_broadcasting_has_an_axis(void **state)
{
    (void)state;
    float x[12] = {0}, y[] = {1, 2, 3};
    static const float expected[12] = {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3};
    const int64_t one = 1;
    struct amp_attr attrs[] = {
        {.name = "axis", .type = AMP_ATTR_INT, .count = 1, .ints = &one},
        {.name = "broadcast", .type = AMP_ATTR_INT, .count = 1, .ints = &one}};
    const struct amp_tensor a = {
        .dtype = AMP_FLOAT, .shape = {.rank = 3, .dims = {2, 3, 2}}, .data = x};
    const struct amp_tensor b = {.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {3}}, .data = y};
    struct amp_tensor out =
        run("Add", 6, attrs, 2, (const struct amp_tensor *[]){&a, &b}, 2, AMP_FLOAT);
    assert_memory_equal(out.data, expected, sizeof expected);
    amp_tensor_release(&out);
}

static void nan_wins(void **state)
{
    (void)state;
    float x[] = {NAN, 1, 2}, y[] = {1, NAN, 3};
    struct amp_tensor out = of_two("Max", 13, AMP_FLOAT, x, y, 3);
    assert_true(isnan(((float *)out.data)[0]) && isnan(((float *)out.data)[1]));
    assert_true(((float *)out.data)[2] == 3);
    amp_tensor_release(&out);
    out = of_two("Min", 13, AMP_FLOAT, x, y, 3);
    assert_true(isnan(((float *)out.data)[0]) && isnan(((float *)out.data)[1]));
    assert_true(((float *)out.data)[2] == 2);
    amp_tensor_release(&out);
}

/* Every activation and unary function of floats that is defined everywhere keeps a NaN. */
static void nan_stays(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int version;
    } ops[] = {{"Abs", 13},       {"Celu", 12},        {"Elu", 22},      {"Exp", 13},
               {"Gelu", 20},      {"Relu", 14},        {"Selu", 22},     {"Sign", 13},
               {"LeakyRelu", 16}, {"Mish", 22},        {"Tanh", 13},     {"Sigmoid", 13},
               {"Clip", 13},      {"HardSigmoid", 22}, {"Swish", 24},    {"Erf", 13},
               {"HardSwish", 22}, {"Floor", 13},       {"Softplus", 22}, {"Softsign", 22}};
    (void)state;
    float x[9] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const struct amp_tensor in = {.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {9}}, .data = x};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct amp_tensor out = run(ops[i].name, ops[i].version, NULL, 0,
                                    (const struct amp_tensor *[]){&in}, 1, AMP_FLOAT);
        for (int k = 0; k < 9; k++)
            assert_true(isnan(((float *)out.data)[k]));
        amp_tensor_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_meets_every_element),
        cmocka_unit_test(short_rows_hold),
        cmocka_unit_test(short_rows_repeat),
        cmocka_unit_test(views_step_backwards_and_over),
        cmocka_unit_test(moves_meet_every_element),
        cmocka_unit_test(floats_of_any_width_lie_anywhere),
        cmocka_unit_test(packed_elements_survive),
        cmocka_unit_test(halves_round_once),
        cmocka_unit_test(integer_division_never_traps),
        cmocka_unit_test(rests_have_a_sign),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(integer_powers_are_exact),
        cmocka_unit_test(simple_powers_are_powers),
        cmocka_unit_test(where_takes_any_broadcast),
        cmocka_unit_test(comparisons_take_any_broadcast),
        cmocka_unit_test(old_broadcasting_has_an_axis),
        cmocka_unit_test(nan_wins),
        cmocka_unit_test(nan_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
