/* The arithmetic of nodes: numbers of multiplications with additions counted by hand, twice. */
#include "shape_call.h"

#include "ops/flops.h"

#include <math.h>

static void output(const int64_t *dims, size_t rank)
{
    call.out[0].shape.rank = (int)rank;
    for (size_t i = 0; i < rank; i++)
        call.out[0].shape.dims[i] = dims[i];
}
#define OUTPUT(...) output(LIST(__VA_ARGS__))

static double count(double (*counter)(const struct amp_ctx *ctx))
{
    const struct amp_tensor *in[MOST];
    for (uint32_t i = 0; i < call.n_in; i++)
        in[i] = call.in[i].dtype == AMP_UNDEFINED ? NULL : &call.in[i];
    struct amp_tensor *out[] = {&call.out[0]};
    const struct amp_ctx ctx = {
        .node = &call.node, .in = in, .n_in = call.n_in, .out = out, .n_out = 1};
    return counter(&ctx);
}
#define EXPECT_FLOPS(number) assert_true(count(amp_flops) == 2.0 * (number))

/* What a node takes one thread, by orders of magnitude. */
static void expect_seconds(double least, double most)
{
    double seconds = count(amp_work_seconds);
    assert_true(seconds >= least && seconds <= most);
}

static void convolutions(void **state)
{
    (void)state;
    start("Conv", 11);
    TENSOR(2, 8, 10, 10), TENSOR(16, 4, 3, 3); /* two groups */
    OUTPUT(2, 16, 5, 5);
    EXPECT_FLOPS(2 * 16 * 25 * (4 * 9));
    start("ConvTranspose", 11);
    TENSOR(2, 16, 5, 5), TENSOR(16, 4, 3, 3);
    OUTPUT(2, 8, 10, 10);
    EXPECT_FLOPS(2 * 16 * 25 * (4 * 9));
    start("QLinearConv", 10);
    TENSOR(1, 3, 8), TENSOR(), TENSOR(), TENSOR(6, 3, 2);
    OUTPUT(1, 6, 7);
    EXPECT_FLOPS(6 * 7 * (3 * 2));
}

static void products(void **state)
{
    (void)state;
    start("MatMul", 13);
    TENSOR(5, 1, 7, 3), TENSOR(2, 3, 4);
    OUTPUT(5, 2, 7, 4);
    EXPECT_FLOPS(5 * 2 * 7 * 4 * 3);
    start("MatMul", 13);
    TENSOR(3), TENSOR(3, 4);
    OUTPUT(4);
    EXPECT_FLOPS(4 * 3);
    start("Gemm", 13);
    TENSOR(3, 7), TENSOR(3, 4);
    INT("transA", 1);
    OUTPUT(7, 4);
    EXPECT_FLOPS(7 * 4 * 3);
    start("Einsum", 12);
    TENSOR(5, 7, 3), TENSOR(5, 3, 4);
    WORD("equation", "bij,bjk->bik");
    OUTPUT(5, 7, 4);
    EXPECT_FLOPS(5 * 7 * 3 * 4);
}

static void work(void **state)
{
    (void)state;
    start("MatMul", 13);
    TENSOR(8, 8), TENSOR(8, 8);
    OUTPUT(8, 8);
    expect_seconds(1e-9, 1e-6);
    start("MatMul", 13);
    TENSOR(512, 512), TENSOR(512, 512);
    OUTPUT(512, 512);
    expect_seconds(1e-3, 1e-1);
    start("Relu", 14);
    TENSOR(1000, 1000);
    OUTPUT(1000, 1000);
    expect_seconds(1e-4, 1e-2);
    start("NonMaxSuppression", 11); /* its boxes do not tell */
    TENSOR(1, 4, 4), TENSOR(1, 1, 4);
    OUTPUT(1, 3);
    expect_seconds(1e9, HUGE_VAL);
    start("Relu", 14);
    TENSOR(1000, 1000);
    call.out[0].dtype = AMP_FLOAT;
    call.out[0].shape.rank = -1;
    expect_seconds(1e9, HUGE_VAL);
}

static void attention(void **state)
{
    (void)state;
    start("Attention", 23);
    TENSOR(2, 4, 6, 8), TENSOR(2, 4, 9, 8), TENSOR(2, 4, 9, 8);
    OUTPUT(2, 4, 6, 8);
    EXPECT_FLOPS(2 * 4 * 6 * 9 * 8 + 2 * 4 * 6 * 9 * 8);
    start("Attention", 23);
    TENSOR(2, 6, 32), TENSOR(2, 9, 32), TENSOR(2, 9, 32), OMITTED(), TENSOR(2, 4, 5, 8);
    OUTPUT(2, 6, 32);
    EXPECT_FLOPS(2 * (2 * 4 * 6 * (9 + 5) * 8));
}

static void recurrent_layers(void **state)
{
    (void)state;
    start("LSTM", 14);
    TENSOR(10, 2, 5), TENSOR(2, 12, 5), TENSOR(2, 12, 3);
    OUTPUT(10, 2, 2, 3);
    EXPECT_FLOPS(10 * 2 * 2 * (4 * 3 * 5 + 4 * 3 * 3));
}

static void others_count_nothing(void **state)
{
    (void)state;
    start("Add", 14);
    TENSOR(10, 2), TENSOR(10, 2);
    OUTPUT(10, 2);
    EXPECT_FLOPS(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(products),
        cmocka_unit_test(work),
        cmocka_unit_test(attention),
        cmocka_unit_test(recurrent_layers),
        cmocka_unit_test(others_count_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
