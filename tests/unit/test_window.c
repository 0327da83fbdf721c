/* Shape functions of convolutions, poolings, resizing, slices and ranges: symbols, unknown dims,
   and what is said of attributes that are wrong. Expected shapes follow from ONNX's operator
   documentation by hand.
 */
#include "shape_call.h"

static void conv(void)
{
    start("Conv", 11);
    TENSOR(B, 8, S, 32);
    TENSOR(16, 8, 3, 3);
}

static void padding_that_makes_up_for_the_kernel_keeps_a_symbol(void **state)
{
    (void)state;
    conv();
    INTS("pads", 1, 1, 1, 1);
    EXPECT(B, 16, S, 32);
    conv();
    INTS("pads", 0, 2, 2, 0);
    EXPECT(B, 16, S, 32);
    conv();
    WORD("auto_pad", "SAME_LOWER");
    EXPECT(B, 16, S, 32);
    conv();
    EXPECT(B, 16, Q, 30);
    conv();
    INTS("pads", 1, 1, 1, 1);
    INTS("strides", 2, 2);
    EXPECT(B, 16, Q, 16);
    conv();
    INTS("dilations", 2, 2);
    INTS("pads", 2, 2, 2, 2);
    EXPECT(B, 16, S, 32);
}

static void convolution_knows_what_either_input_tells(void **state)
{
    (void)state;
    start("Conv", 11);
    ANY_RANK();
    TENSOR(16, 8, 3, 3);
    EXPECT(Q, 16, Q, Q);
    start("Conv", 11);
    TENSOR(B, 8, 32);
    ANY_RANK();
    EXPECT(B, Q, Q);
    start("Conv", 11);
    TENSOR(B, 8, 32);
    ANY_RANK();
    INTS("kernel_shape", 5);
    EXPECT(B, Q, 28);
    start("Conv", 11);
    ANY_RANK();
    ANY_RANK();
    EXPECT_ANY_RANK();
}

static void convolution_names_what_does_not_fit(void **state)
{
    (void)state;
    conv();
    INT("group", 0);
    expect_failure("attribute 'group' is 0; 1 to 2147483647 allowed");
    conv();
    INT("group", 3);
    expect_failure("8 input channels; a multiple of group 3 is needed");
    conv();
    INT("group", 2);
    expect_failure("weights for 8 input channels in each of 2 groups; the input has 8 channels");
    conv();
    TENSOR(8);
    expect_failure("bias has shape [8]; one value for each of 16 output channels is needed");
    conv();
    INTS("strides", 1, 0);
    expect_failure("attribute 'strides' holds 0; 1 to 2147483647 allowed");
    conv();
    INTS("dilations", 1);
    expect_failure("attribute 'dilations' has 1 values; 2 are needed");
    conv();
    INTS("pads", 0, 0, -1, 0);
    expect_failure("attribute 'pads' holds -1; 0 to 2147483647 allowed");
    conv();
    INTS("kernel_shape", 3, 5);
    expect_failure("attribute 'kernel_shape' says 5 in spatial dim 1, the weights have 3");
    conv();
    WORD("auto_pad", "SAME");
    expect_failure(
        "attribute 'auto_pad' is 'SAME'; allowed: NOTSET, SAME_UPPER, SAME_LOWER, VALID");
    conv();
    INTS("dilations", 16, 16);
    expect_failure(
        "a window of 33 (kernel 3, dilation 16) does not fit spatial dim 1: 32 with pads "
        "0 and 0");
    start("Conv", 11);
    TENSOR(1, 8, 32);
    TENSOR(16, 8, 3, 3);
    expect_failure("weights of rank 4; rank 3, as the input has, is needed");
    start("Conv", 11);
    TENSOR(1, 8);
    TENSOR(16, 8);
    expect_failure("input 0 has shape [1, 8]; rank 3 or more is needed");
}

static void deconv(void)
{
    start("ConvTranspose", 11);
    TENSOR(B, 8, 5);
    TENSOR(8, 4, 3);
    INTS("strides", 2);
}

static void transposed_convolution_grows_the_image(void **state)
{
    (void)state;
    deconv();
    EXPECT(B, 4, 11);
    deconv();
    INTS("output_padding", 1);
    INTS("pads", 1, 1);
    EXPECT(B, 4, 10);
    deconv();
    WORD("auto_pad", "SAME_UPPER");
    EXPECT(B, 4, 10);
    deconv();
    INTS("output_shape", 12);
    EXPECT(B, 4, 12);
    deconv();
    INT("group", 2);
    EXPECT(B, 8, 11);
    start("ConvTranspose", 11);
    TENSOR(B, 8, S);
    TENSOR(8, 4, 3);
    EXPECT(B, 4, Q);
    INTS("output_shape", 7);
    EXPECT(B, 4, 7);
    deconv();
    INTS("pads", 6, 6);
    expect_failure("spatial dim 0 of the output would be -1; 1 to 2147483647 allowed");
}

static void pool(int64_t kernel, int64_t stride)
{
    start("MaxPool", 12);
    TENSOR(B, S, 8, 7);
    INTS("kernel_shape", kernel, kernel);
    INTS("strides", stride, stride);
}

static void pooling_rounds_as_asked(void **state)
{
    (void)state;
    pool(2, 2);
    EXPECT(B, S, 4, 3);
    pool(2, 2);
    INT("ceil_mode", 1);
    EXPECT(B, S, 4, 4);
    pool(1, 2);
    INT("ceil_mode", 1);
    EXPECT(B, S, 4, 4);
    pool(3, 2);
    WORD("auto_pad", "SAME_UPPER");
    EXPECT(B, S, 4, 4);
    pool(3, 2);
    WORD("auto_pad", "VALID");
    EXPECT(B, S, 3, 3);
    start("MaxPool", 12);
    TENSOR(B, S, 8);
    expect_failure("attribute 'kernel_shape' is missing");
    start("GlobalMaxPool", 1);
    TENSOR(B, S, 8, Q);
    EXPECT(B, S, 1, 1);
}

/* A last window may not begin in the padding behind the image. */
static void ceil_mode_leaves_out_windows_of_padding_alone(void **state)
{
    (void)state;
    start("AveragePool", 19);
    TENSOR(1, 1, 2);
    INTS("kernel_shape", 1);
    INTS("strides", 2);
    INT("ceil_mode", 1);
    EXPECT(1, 1, 1);
    start("AveragePool", 19);
    TENSOR(1, 1, 3);
    INTS("kernel_shape", 2);
    INTS("strides", 2);
    INTS("pads", 0, 1);
    INT("ceil_mode", 1);
    EXPECT(1, 1, 2);
}

static void unpooling_takes_a_given_shape(void **state)
{
    (void)state;
    start("MaxUnpool", 11);
    TENSOR(B, 3, 4);
    TENSOR(B, 3, 4);
    INTS("kernel_shape", 2);
    INTS("strides", 2);
    EXPECT(B, 3, 8);
    VALUES(1, 3, 9);
    EXPECT(1, 3, 9);
    call.n_in = 2;
    NO_VALUES(3);
    EXPECT(B, 3, Q);
}

static void resize(void)
{
    start("Resize", 18);
    TENSOR(B, 3, S, 8);
    OMITTED();
}

static void resizing_keeps_what_it_does_not_scale(void **state)
{
    (void)state;
    resize();
    FLOATS(1, 1, 2, 2.5f);
    EXPECT(B, 3, Q, 20);
    resize();
    OMITTED();
    VALUES(1, 3, 20, 30);
    EXPECT(1, 3, 20, 30);
    resize();
    INTS("axes", -1);
    OMITTED();
    VALUES(30);
    EXPECT(B, 3, S, 30);
    resize();
    INTS("axes", 1, 3);
    WORD("keep_aspect_ratio_policy", "not_larger");
    OMITTED();
    VALUES(30, 40);
    EXPECT(B, 15, S, 40);
    resize();
    OMITTED();
    NO_VALUES(4);
    EXPECT(Q, Q, Q, Q);
    start("Upsample", 9);
    TENSOR(B, 3, 7);
    FLOATS(1, 1, 1.5f);
    EXPECT(B, 3, 10);
}

static void resizing_names_what_does_not_fit(void **state)
{
    (void)state;
    resize();
    FLOATS(1, 1, 2);
    expect_failure("3 scales; 4 are needed, one per axis");
    resize();
    FLOATS(1, 1, 0, 2);
    expect_failure("scale 0; a positive number is needed");
    resize();
    expect_failure("either scales or sizes must be given, and not both");
    resize();
    FLOATS(1, 1, 2, 2);
    VALUES(1, 1, 2, 2);
    expect_failure("either scales or sizes must be given, and not both");
    resize();
    OMITTED();
    VALUES(1, 3, 20, -1);
    expect_failure("size -1 for 8 elements; 0 to 2147483647 allowed");
    resize();
    INTS("axes", 3, -1);
    OMITTED();
    VALUES(1, 1);
    expect_failure("attribute 'axes' names axis 3 twice");
    resize();
    WORD("mode", "lanczos");
    FLOATS(1, 1, 2, 2);
    expect_failure("attribute 'mode' is 'lanczos'; allowed: nearest, linear, cubic, bilinear");
}

static void grids_and_columns_tell_the_output(void **state)
{
    (void)state;
    start("GridSample", 20);
    TENSOR(B, 3, 8, 8, 8);
    TENSOR(B, S, 5, 6, 3);
    EXPECT(B, 3, S, 5, 6);
    start("GridSample", 20);
    TENSOR(B, 3, 8, 8);
    TENSOR(B, 5, 6, 3);
    expect_failure("grid has shape [?, 5, 6, 3]; the rank of X, and the number of spatial dims as "
                   "last dim, are needed");
    start("Col2Im", 18);
    TENSOR(B, 12, 9);
    VALUES(4, 4);
    VALUES(2, 2);
    EXPECT(B, 3, 4, 4);
    start("Col2Im", 18);
    TENSOR(B, 12, 8);
    VALUES(4, 4);
    VALUES(2, 2);
    expect_failure("input 0 has shape [?, 12, 8]; [N, C * 4, 9] is needed");
    start("RoiAlign", 16);
    TENSOR(1, 3, 8, 8);
    TENSOR(S, 4);
    TENSOR(S);
    INT("output_height", 2);
    EXPECT(S, 3, 2, 1);
}

/* A dim is as long as its start, end and step say together; without one of them nobody knows. */
static void slices_are_known_by_three_values(void **state)
{
    (void)state;
    for (int unknown = 0; unknown < 4; unknown++)
        for (int is_known_dim = 0; is_known_dim < 2; is_known_dim++) {
            start("Slice", 13);
            TENSOR(is_known_dim ? 7 : B, 4);
            if (unknown == 1)
                NO_VALUES(1);
            else
                VALUES(0);
            if (unknown == 2)
                NO_VALUES(1);
            else
                VALUES(INT64_MAX);
            VALUES(0);
            if (unknown == 3)
                NO_VALUES(1);
            else
                VALUES(1);
            EXPECT(unknown != 0 ? Q : is_known_dim ? 7 : B, 4);
        }
}

/* Numbers from START to LIMIT by DELTA. */
static void range(int64_t start_at, int64_t limit, int64_t delta)
{
    start("Range", 11);
    VALUES(start_at);
    VALUES(limit);
    VALUES(delta);
    for (int i = 0; i < 3; i++)
        call.in[i].shape.rank = 0;
}

static void ranges_are_as_long_as_int64_goes(void **state)
{
    (void)state;
    range(0, INT64_C(3000000000), 1);
    EXPECT(INT64_C(3000000000));
    range(0, INT64_MAX, 1);
    EXPECT(INT64_MAX);
    range(-1, INT64_MAX, 1);
    expect_failure("-1 to 9223372036854775807 by 1 has too many elements");
    range(0, INT64_MIN, -1);
    expect_failure("0 to -9223372036854775808 by -1 has too many elements");
    range(0, INT64_MIN, -2);
    EXPECT(INT64_C(1) << 62);
}

/* Each dim alone may be as large as any. */
static void offsets_are_as_many_as_can_be_counted(void **state)
{
    (void)state;
    start("DeformConv", 19);
    TENSOR(1, 1, INT32_MAX, INT32_MAX, INT32_MAX);
    TENSOR(1, 1, INT32_MAX, INT32_MAX, INT32_MAX);
    ANY_RANK();
    expect_failure("the number of offsets overflows");
    start("DeformConv", 19);
    TENSOR(1, 1, INT32_MAX, INT32_MAX, 4);
    TENSOR(1, 1, INT32_MAX, INT32_MAX, 1);
    ANY_RANK();
    expect_failure("the number of offsets overflows");
    start("DeformConv", 19);
    TENSOR(1, 1, INT32_MAX, INT32_MAX);
    TENSOR(1, 1, INT32_MAX, INT32_MAX);
    ANY_RANK();
    EXPECT(1, 1, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_that_makes_up_for_the_kernel_keeps_a_symbol),
        cmocka_unit_test(convolution_knows_what_either_input_tells),
        cmocka_unit_test(convolution_names_what_does_not_fit),
        cmocka_unit_test(transposed_convolution_grows_the_image),
        cmocka_unit_test(pooling_rounds_as_asked),
        cmocka_unit_test(ceil_mode_leaves_out_windows_of_padding_alone),
        cmocka_unit_test(unpooling_takes_a_given_shape),
        cmocka_unit_test(resizing_keeps_what_it_does_not_scale),
        cmocka_unit_test(resizing_names_what_does_not_fit),
        cmocka_unit_test(grids_and_columns_tell_the_output),
        cmocka_unit_test(slices_are_known_by_three_values),
        cmocka_unit_test(ranges_are_as_long_as_int64_goes),
        cmocka_unit_test(offsets_are_as_many_as_can_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
