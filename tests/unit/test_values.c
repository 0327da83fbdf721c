/* Values of operators by hand, whichever inputs are constant: losses, boxes, regions, optimizers,
 * products, attention, norms and recurrences. */
#include "core/memory.h"
#include "net.h"
#include "one_node.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/profile.h"
#include "ops/kernel/kernel.h"

#include <dnnl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- losses ---- */

struct values_case {
    const char *line;
    size_t output, count;
    double values[12];
};

#define GIVES(...)                                          \
    sizeof((const double[]){__VA_ARGS__}) / sizeof(double), \
    {                                                       \
        __VA_ARGS__                                         \
    }

/* TENSOR with other numbers, where these are no indices. */
static struct amp_tensor other_than(const struct amp_tensor *tensor)
{
    struct amp_tensor other = *tensor;
    const bool is_float = amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT;
    other.data = amp_arena_alloc(net.arena, amp_tensor_size(tensor) + 1);
    memcpy(other.data, tensor->data, amp_tensor_size(tensor));
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        if (is_float)
            amp_tensor_set_double(&other, i, 1 - 2 * amp_tensor_double(tensor, i));
        else if (amp_dtype_bits(tensor->dtype) == 8)
            ((uint8_t *)other.data)[i] ^= 1;
    return other;
}

/* Of the sessions: by default each node rounds what it gives. */
static enum amp_strictness strictness = AMP_ROUNDED;

/* Runs the model after a run on other numbers, but for input KEPT, of which nothing may stay. */
static enum amp_status run_after_others(size_t kept)
{
    struct amp_session *session = NULL;
    struct amp_tensor others[sizeof one.inputs / sizeof *one.inputs];
    for (size_t i = 0; i < one.n_inputs; i++)
        others[i] = i == kept ? one.inputs[i] : other_than(&one.inputs[i]);
    enum amp_status first = net_infer(), status = first;
    if (first == AMP_OK)
        status = amp_session_open(net.model, strictness, &session, &net.err);
    if (status == AMP_OK) {
        first = amp_session_run(session, others, net.outputs, &net.err);
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        net.err.status = AMP_OK;
        status = amp_session_run(session, one.inputs, net.outputs, &net.err);
    }
    amp_session_destroy(session);
    return status;
}

static void expect_one(const struct values_case *one_case, enum one_way way)
{
    const struct amp_tensor *found = &net.outputs[one_case->output];
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    const size_t used = amp_memory_used();
    one_node(one_case->line, way);
    if (run_after_others(SIZE_MAX) != AMP_OK)
        fail_msg("%s: %s", one_case->line, net.err.text);
    if (amp_tensor_count(found) != one_case->count)
        fail_msg("%s: %zu elements", one_case->line, amp_tensor_count(found));
    for (size_t k = 0; k < one_case->count; k++)
        if (!(fabs(amp_tensor_double(found, k) - one_case->values[k]) <=
              1e-6 * fmax(1, fabs(one_case->values[k]))))
            fail_msg("%s (way %d): element %zu is %g; %g is expected", one_case->line, (int)way, k,
                     amp_tensor_double(found, k), one_case->values[k]);
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    if (amp_memory_used() != used)
        fail_msg("%s (way %d): %zu bytes were not returned", one_case->line, (int)way,
                 amp_memory_used() - used);
}

/* To the last digits of float32, with all inputs given, all but the first constant, and all. */
static void expect_values(const struct values_case *cases, size_t count)
{
    static const enum one_way ways[] = {ONE_GIVEN, ONE_WEIGHTS, ONE_CONSTANT};
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            expect_one(&cases[i], ways[w]);
}

/* By ONNX's definition: what is ignored is 0 and has no weight; a mean is one by the weights. */
static void losses_pass_over_what_is_ignored(void **state)
{
#define LOSS "NegativeLogLikelihoodLoss-13 f[2,3]=1,2,3,4,5,7 "
    static const struct values_case cases[] = {
        {LOSS "i[2]=0,2 reduction=none", 0, GIVES(-1, -7)},
        {LOSS "i[2]=0,2 reduction=sum", 0, GIVES(-8)},
        {LOSS "i[2]=0,2", 0, GIVES(-4)},
        {LOSS "i[2]=0,2 reduction=none ignore_index=2", 0, GIVES(-1, 0)},
        {LOSS "i[2]=0,2 reduction=sum ignore_index=2", 0, GIVES(-1)},
        {LOSS "i[2]=0,2 ignore_index=2", 0, GIVES(-1)},
        {LOSS "i[2]=0,2 ignore_index=0", 0, GIVES(-7)},
        {LOSS "i[2]=0,2 ignore_index=1", 0, GIVES(-4)},
        {LOSS "i[2]=0,9 ignore_index=9", 0, GIVES(-1)},
        {LOSS "i[2]=0,2 f[3]=3,5,1 reduction=none", 0, GIVES(-3, -7)},
        {LOSS "i[2]=0,2 f[3]=3,5,1 reduction=sum", 0, GIVES(-10)},
        {LOSS "i[2]=0,2 f[3]=3,5,1", 0, GIVES(-2.5)},
        {LOSS "i[2]=0,2 f[3]=3,5,1 ignore_index=2", 0, GIVES(-1)},
        {"NegativeLogLikelihoodLoss-13 f[1,2,3]=1,2,3,4,5,7 i[1,3]=1,0,1 reduction=none", 0,
         GIVES(-4, -2, -7)},
        {"NegativeLogLikelihoodLoss-13 f[1,2,3]=1,2,3,4,5,7 i[1,3]=1,0,1 ignore_index=0", 0,
         GIVES(-5.5)},
    };
#undef LOSS
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* Scores that are equal have the probability 1 / n each, however large they are; of scores of 0 and
   log(3), these are 1/4 and 3/4. */
static void losses_are_of_probabilities(void **state)
{
#define LOSS "SoftmaxCrossEntropyLoss-13 "
#define LOG_2 0.69314718055994531
#define LOG_3 1.0986122886681098
#define LOG_4 (2 * LOG_2)
    static const struct values_case cases[] = {
        {LOSS "f[1,2]=1000,1000 i[1]=0", 0, GIVES(LOG_2)},
        {LOSS "f[1,2]=-1000,-1000 i[1]=1", 0, GIVES(LOG_2)},
        {LOSS "f[1,3]=1000,-1000,1000 i[1]=1 reduction=sum", 0, GIVES(2000 + LOG_2)},
        {LOSS "f[2,2]=0,1.0986122886681098,0,1.0986122886681098 i[2]=0,1 reduction=none", 0,
         GIVES(LOG_4, LOG_4 - LOG_3)},
        {LOSS "f[2,2]=0,1.0986122886681098,0,1.0986122886681098 i[2]=0,1 reduction=sum", 0,
         GIVES(2 * LOG_4 - LOG_3)},
        {LOSS "f[2,2]=0,1.0986122886681098,0,1.0986122886681098 i[2]=0,1", 0,
         GIVES(LOG_4 - LOG_3 / 2)},
        {LOSS "f[2,2]=0,1.0986122886681098,0,1.0986122886681098 i[2]=0,1 f[2]=1,3", 0,
         GIVES(LOG_4 - LOG_3 * 3 / 4)},
        {LOSS "f[2,2]=0,1.0986122886681098,0,1.0986122886681098 i[2]=0,1 ignore_index=0", 0,
         GIVES(LOG_4 - LOG_3)},
        {LOSS "f[2,2]=0,1.0986122886681098,0,1.0986122886681098 i[2]=0,1 >2", 1,
         GIVES(-LOG_4, LOG_3 - LOG_4, -LOG_4, LOG_3 - LOG_4)},
        {LOSS "f[1,2,2]=0,5,1.0986122886681098,5 i[1,2]=0,1 reduction=none >2", 0,
         GIVES(LOG_4, LOG_2)},
        {LOSS "f[1,2,2]=0,5,1.0986122886681098,5 i[1,2]=0,1 >2", 1,
         GIVES(-LOG_4, -LOG_2, LOG_3 - LOG_4, -LOG_2)},
        {LOSS "d[1,2,2]=0,5,1.0986122886681098,5 i[1,2]=1,0 reduction=none >2", 0,
         GIVES(LOG_4 - LOG_3, LOG_2)},
    };
#undef LOSS
#undef LOG_2
#undef LOG_3
#undef LOG_4
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- boxes ---- */

/* A [0, 0, 2, 2], half of which is B, and C, which has half of A and as much beside it: they have
   1/2 and 1/3 of their union in common. */
static void boxes_go_that_overlap_by_more_than_the_threshold(void **state)
{
#define BOXES "NonMaxSuppression-11 f[1,4,4]=0,0,2,2,0,0,2,1,0,1,2,3,5,5,5,5 "
    static const struct values_case cases[] = {
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.5", 0, GIVES(0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.375", 0, GIVES(0, 0, 0, 0, 0, 2, 0, 0, 3)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.25", 0, GIVES(0, 0, 0, 0, 0, 3)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9", 0, GIVES(0, 0, 0, 0, 0, 3)},
        {BOXES "f[1,1,4]=1,3,2,4 i[]=9", 0, GIVES(0, 0, 3, 0, 0, 1, 0, 0, 2)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=2 f[]=0.5", 0, GIVES(0, 0, 0, 0, 0, 1)},
        {BOXES "f[1,1,4]=2,2,2,2 i[]=2 f[]=0.5", 0, GIVES(0, 0, 0, 0, 0, 1)},
        {BOXES "f[1,1,4]=4,3,2,1 i[]=9 f[]=0.5 f[]=3", 0, GIVES(0, 0, 0)},
        {BOXES "f[1,1,4]=4,3,nan,1 i[]=9 f[]=0.5 f[]=1", 0, GIVES(0, 0, 0, 0, 0, 1)},
        {BOXES "f[1,1,4]=-4,-3,-2,-1 i[]=9 f[]=0.5", 0, GIVES(0, 0, 3, 0, 0, 2, 0, 0, 1, 0, 0, 0)},
        {BOXES "f[1,2,4]=4,3,2,1,1,2,3,4 i[]=1", 0, GIVES(0, 0, 0, 0, 1, 3)},
        {"NonMaxSuppression-11 f[2,1,4] f[2,1,1] i[]=1", 0, GIVES(0, 0, 0, 1, 0, 0)},
        {"NonMaxSuppression-11 f[1,2,4]=2,2,0,0,0,1,2,0 f[1,1,2]=2,1 i[]=9 f[]=0.5", 0,
         GIVES(0, 0, 0, 0, 0, 1)},
        {"NonMaxSuppression-11 f[1,2,4]=2,2,0,0,0,1,2,0 f[1,1,2]=2,1 i[]=9 f[]=0.375", 0,
         GIVES(0, 0, 0)},
        {"NonMaxSuppression-11 f[1,2,4]=1,2,2,4,1,1,2,2 f[1,1,2]=2,1 i[]=9 f[]=0.5 "
         "center_point_box=1",
         0, GIVES(0, 0, 0, 0, 0, 1)},
        {"NonMaxSuppression-11 f[1,2,4]=1,2,2,4,1,1,2,2 f[1,1,2]=2,1 i[]=9 f[]=0.375 "
         "center_point_box=1",
         0, GIVES(0, 0, 0)},
    };
#undef BOXES
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- recurrences along a line ---- */

/* Taps 1 and 10 on a line and what came before it; the last element is handed on. */
static void causal_convolutions_hand_on_their_last_elements(void **state)
{
#define LINE "CausalConvWithState-27 f[1,2,3]=1,2,3,4,5,6 f[2,1,2]=1,10,1,100 "
    static const struct values_case cases[] = {
        {LINE "_ _ >2", 0, GIVES(10, 21, 32, 400, 504, 605)},
        {LINE "_ _ >2", 1, GIVES(3, 6)},
        {LINE "f[2]=1000,2000 f[1,2,1]=7,8 >2", 0, GIVES(1017, 1021, 1032, 2408, 2504, 2605)},
        {LINE "f[2]=1000,2000 f[1,2,1]=7,8 >2", 1, GIVES(3, 6)},
        {"CausalConvWithState-27 f[1,1,1]=1 f[1,1,3]=1,10,100 _ f[1,1,2]=2,3 >2", 0, GIVES(132)},
        {"CausalConvWithState-27 f[1,1,1]=1 f[1,1,3]=1,10,100 _ f[1,1,2]=2,3 >2", 1, GIVES(3, 1)},
        {"CausalConvWithState-27 f[1,1,1]=1 f[1,1,3]=1,10,100 _ _ >2", 1, GIVES(0, 1)},
    };
#undef LINE
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- regions ---- */

/* Elements 1 to 16 in rows of four: the one at row r and column c, or between elements, is
   4 r + c + 1. */
static void regions_are_pooled_by_bins(void **state)
{
#define IMAGE "f[1,1,4,4]=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 "
#define MAX "MaxRoiPool-1 " IMAGE
#define ALIGN "RoiAlign-16 " IMAGE
    static const struct values_case cases[] = {
        {MAX "f[1,5]=0,0,0,3,3 pooled_shape=[2,2]", 0, GIVES(6, 8, 14, 16)},
        {MAX "f[1,5]=0,0,0,3,3 pooled_shape=[3,1]", 0, GIVES(8, 12, 16)},
        {MAX "f[1,5]=0,1,1,2,2 pooled_shape=[1,1]", 0, GIVES(11)},
        {MAX "f[1,5]=0,2,1,1,2 pooled_shape=[1,1]", 0, GIVES(11)},
        {MAX "f[1,5]=0,5,5,6,6 pooled_shape=[1,1]", 0, GIVES(0)},
        {MAX "f[1,5]=0,-2,-2,1,1 pooled_shape=[2,2]", 0, GIVES(0, 0, 0, 6)},
        {MAX "f[1,5]=0,0,2,3,3 pooled_shape=[1,2]", 0, GIVES(14, 16)},
        {MAX "f[1,5]=0,1,1,5,5 pooled_shape=[1,1] spatial_scale=0.5", 0, GIVES(16)},
        {MAX "f[1,5]=0,1,1,3,3 pooled_shape=[1,1] spatial_scale=0.5", 0, GIVES(11)},
        {"MaxRoiPool-1 f[1,1,2,2]=-1,-2,-3,-4 f[1,5]=0,0,0,1,1 pooled_shape=[1,1]", 0, GIVES(-1)},
        {"MaxRoiPool-1 f[2,1,1,1]=3,4 f[2,5]=1,0,0,0,0,0,0,0,0,0 pooled_shape=[1,1]", 0,
         GIVES(4, 3)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 sampling_ratio=1", 0,
         GIVES(3.5, 5.5, 11.5, 13.5)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 sampling_ratio=2", 0,
         GIVES(3.5, 5.5, 11.5, 13.5)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 sampling_ratio=2 mode=max", 0,
         GIVES(6, 8, 14, 16)},
        {ALIGN "f[1,4]=0,0,4,2 i[1] output_width=2 sampling_ratio=1", 0, GIVES(3.5, 5.5)},
        {ALIGN
         "f[1,4]=0,0,8,8 i[1] output_height=2 output_width=2 sampling_ratio=1 spatial_scale=0.5",
         0, GIVES(3.5, 5.5, 11.5, 13.5)},
        {ALIGN "f[1,4]=1,1,1,1 i[1] sampling_ratio=1", 0, GIVES(3.5)},
        {ALIGN "f[1,4]=10,10,12,12 i[1]", 0, GIVES(0)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 "
               "coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(6, 8, 14, 16)},
        {ALIGN "f[1,4]=0,0,4,4 i[1] output_height=2 output_width=2 "
               "coordinate_transformation_mode=output_half_pixel",
         0, GIVES(6, 7.75, 13, 14.75)},
        {ALIGN
         "f[1,4]=1,1,1,1 i[1] coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(8.5)},
        {ALIGN
         "f[1,4]=-2,-2,0,0 i[1] coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(1)},
        {ALIGN "f[1,4]=-2.5,-2.5,-0.5,-0.5 i[1] coordinate_transformation_mode=output_half_pixel "
               "sampling_ratio=1",
         0, GIVES(0)},
        {ALIGN
         "f[1,4]=3,3,5,5 i[1] coordinate_transformation_mode=output_half_pixel sampling_ratio=1",
         0, GIVES(16)},
        {ALIGN "f[1,4]=3.5,3.5,5.5,5.5 i[1] coordinate_transformation_mode=output_half_pixel "
               "sampling_ratio=1",
         0, GIVES(0)},
        {"RoiAlign-16 f[2,1,1,1]=3,4 f[2,4]=0,0,1,1,0,0,1,1 i[2]=1,0", 0, GIVES(4, 3)},
        {"MaxRoiPool-1 f[1,1,1,4]=4,3,2,1 f[1,5]=0,0,0,3,0 pooled_shape=[1,2]", 0, GIVES(4, 2)},
        {"MaxRoiPool-1 f[1,1,4,1]=4,3,2,1 f[1,5]=0,0,0,0,3 pooled_shape=[2,1]", 0, GIVES(4, 2)},
        {"RoiAlign-16 f[1,2,1,2]=1,2,inf,4 f[1,4]=1.5,0.5,2.5,1.5 i[1]", 0, GIVES(2, 4)},
        {"RoiAlign-16 f[1,2,2,1]=1,2,inf,4 f[1,4]=0.5,1.5,1.5,2.5 i[1]", 0, GIVES(2, 4)},
        {"MaxRoiPool-1 f[2,2,1,1]=1,2,3,4 f[2,5]=1,0,0,0,0,0,0,0,0,0 pooled_shape=[1,1]", 0,
         GIVES(3, 4, 1, 2)},
        {"MaxRoiPool-1 f[1,2,2,3]=1,2,3,4,5,6,7,8,9,10,11,12 f[1,5]=0,1,0,2,1 pooled_shape=[2,1]",
         0, GIVES(3, 6, 9, 12)},
        {"RoiAlign-16 f[2,2,1,1]=1,2,3,4 f[2,4]=0,0,1,1,0,0,1,1 i[2]=1,0", 0, GIVES(3, 4, 1, 2)},
        {"RoiAlign-16 f[1,2,2,3]=1,2,3,4,5,6,7,8,9,10,11,12 f[1,4]=0,0,3,2 i[1] output_height=2 "
         "output_width=3 sampling_ratio=1",
         0, GIVES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)},
    };
#undef IMAGE
#undef MAX
#undef ALIGN
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* By ONNX's definitions, with numbers whose norms and means are whole. */
static void windows_are_pooled(void **state)
{
    static const struct values_case cases[] = {
        {"GlobalLpPool-1 f[1,1,3]=2,-4,4 p=1.0", 0, GIVES(10)},
        {"GlobalLpPool-1 f[1,1,3]=2,-4,4", 0, GIVES(6)},
        {"LpPool-1 f[1,1,4]=2,-4,4,-2 kernel_shape=[3] p=1.0", 0, GIVES(10, 10)},
        {"LpPool-1 f[1,1,4]=2,-4,4,-2 kernel_shape=[3]", 0, GIVES(6, 6)},
        {"LpPool-2 f[1,1,4]=2,-4,4,-2 kernel_shape=[3] p=1", 0, GIVES(10, 10)},
        {"LpPool-1 f[1,1,2]=4,0 kernel_shape=[2] p=0.5", 0, GIVES(4)},
        {"GlobalLpPool-2 f[1,1,3]=2,-4,4 p=1", 0, GIVES(10)},
        {"GlobalLpPool-2 f[1,1,3]=2,-4,4 p=2", 0, GIVES(6)},
        {"GlobalLpPool-2 f[1,1,3]=2,-4,4", 0, GIVES(6)},
        {"GlobalLpPool-2 f[1,1,3]=0,-4,0 p=3", 0, GIVES(4)},
        {"LpPool-11 f[1,1,4]=2,-4,4,3 kernel_shape=[3] p=1", 0, GIVES(10, 11)},
        {"LpPool-11 f[1,1,4]=2,-4,4,-2 kernel_shape=[3]", 0, GIVES(6, 6)},
        {"LpPool-11 f[1,1,4]=0,-4,0,0 kernel_shape=[2] p=3", 0, GIVES(4, 4, 0)},
        {"GlobalMaxPool-1 d[1,2,3]=-3,-2,-5,-7,-9,-8", 0, GIVES(-2, -7)},
        {"GlobalMaxPool-1 f[1,2,3,1,1,1]=-3,-2,-5,-7,-9,-8", 0, GIVES(-2, -7)},
        {"GlobalAveragePool-1 d[1,2,3]=-3,-2,-4,-7,-9,-8", 0, GIVES(-3, -8)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[2,2] >2", 0, GIVES(9, 9)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[2,2] >2", 1, GIVES(1, 1)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[2,2] storage_order=1 >2", 1, GIVES(2, 2)},
        {"MaxPool-12 f[2,1,2]=1,2,4,3 kernel_shape=[2] >2", 1, GIVES(1, 2)},
        {"MaxPool-12 f[1,1,2,3]=1,9,3,8,2,7 kernel_shape=[1,1] storage_order=1 >2", 1,
         GIVES(0, 2, 4, 1, 3, 5)},
        {"MaxPool-12 f[1,1,2]=-5,-6 kernel_shape=[2] pads=[1,1] >2", 0, GIVES(-5, -5, -6)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[2] pads=[1,1]", 0, GIVES(2, 3, 5, 7, 8)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[2] pads=[1,1] count_include_pad=1", 0,
         GIVES(1, 3, 5, 7, 4)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[2] dilations=[2] pads=[2,0]", 0,
         GIVES(2, 4, 4, 6)},
        {"AveragePool-19 d[1,1,4]=2,4,6,8 kernel_shape=[3] strides=[3] ceil_mode=1 "
         "count_include_pad=1",
         0, GIVES(4, 8)},
        {"MaxUnpool-11 f[1,1,2]=5,6 i[1,1,2]=1,2 kernel_shape=[2] strides=[2]", 0,
         GIVES(0, 5, 6, 0)},
        {"MaxUnpool-11 f[1,1,1,2]=5,6 i[1,1,1,2]=1,6 i[4]=1,1,2,5 kernel_shape=[2,2] strides=[2,2]",
         0, GIVES(0, 5, 0, 0, 0, 0, 0, 6, 0, 0)},
        {"Col2Im-18 f[1,2,2]=1,2,3,4 i[1]=3 i[1]=2", 0, GIVES(1, 5, 4)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* Taps of 1 and 10: each sum shows its elements by their digits. */
static void taps_meet_their_elements(void **state)
{
    static const struct values_case cases[] = {
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 "
         "f[1,4,1,4]=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 pads=[0,1,0,1]",
         0, GIVES(10, 21, 42, 4)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0", 0,
         GIVES(21, 42)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0 pads=[0,1,0,1] "
         "strides=[1,2]",
         0, GIVES(10, 42)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,1]=0,0,0,0 dilations=[1,2]", 0,
         GIVES(41)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0.5,0.5,0,0,0,0", 0,
         GIVES(21.5, 43)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0.5,0.5", 0,
         GIVES(31, 22)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0.5,0.5,0,0,0,0,0,0", 0,
         GIVES(20.5, 41)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,-0.5,1.5,0,0,0,-9", 0,
         GIVES(20.5, 2)},
        {"DeformConv-19 f[1,1,1,3]=1,2,4 f[1,1,1,2]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0 f[1]=100 "
         "f[1,2,1,2]=2,3,4,5",
         0, GIVES(182, 306)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[2,1,1,1]=1,10 f[1,2,1,2]=0,0,0,0 group=2", 0,
         GIVES(1, 2, 40, 80)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0.5,-0.5 "
         "offset_group=2",
         0, GIVES(61, 62)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,0,0,0,0,0 _ "
         "f[1,2,1,2]=1,2,3,4 offset_group=2",
         0, GIVES(121, 324)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,0.5,0,0,0,0 "
         "offset_group=2",
         0, GIVES(41, 81)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,0,0,0,-0.5,0 "
         "offset_group=2",
         0, GIVES(21, 82)},
        {"DeformConv-19 f[1,2,2,1]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,2,1]=0,0.5,0,0,0,0,0,0 "
         "offset_group=2",
         0, GIVES(41, 81)},
        {"DeformConv-19 f[1,2,2,1]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,2,1]=0,0,0,0,-0.5,0,0,0 "
         "offset_group=2",
         0, GIVES(21, 82)},
        {"DeformConv-19 f[1,2,1,2]=1,2,4,8 f[1,2,1,1]=1,10 f[1,4,1,2]=0,0,0,1,0,0,-1,0 "
         "offset_group=2",
         0, GIVES(1, 80)},
        {"DeformConv-19 f[2,1,1,1]=1,2 f[1,1,1,1]=1 f[2,2,1,1]=0,0,0,-0.5", 0, GIVES(1, 1)},
        {"DeformConv-19 d[1,1,1,3]=1,2,4 d[1,1,1,2]=1,10 d[1,4,1,2]=0,0,0,0,0,0,0,0", 0,
         GIVES(21, 42)},
        {"Conv-11 f[1,1,3]=1,2,4 f[1,1,2]=1,10 pads=[1,1]", 0, GIVES(10, 21, 42, 4)},
        {"Conv-11 d[1,1,3]=1,2,4 d[1,1,2]=1,10 pads=[1,1]", 0, GIVES(10, 21, 42, 4)},
        {"Conv-11 d[1,1,3]=1,2,4 d[1,1,2]=1,10 d[1]=100 pads=[1,1] strides=[2]", 0,
         GIVES(110, 142)},
        {"Conv-11 d[1,1,3]=1,2,4 d[1,1,2]=1,10 dilations=[2]", 0, GIVES(41)},
        {"Conv-11 d[1,2,2]=1,2,4,8 d[2,1,1]=1,10 group=2", 0, GIVES(1, 2, 40, 80)},
        {"Conv-11 d[2,1,1]=3,5 d[2,1,1]=1,10", 0, GIVES(3, 30, 5, 50)},
        {"Conv-11 f[1,2,3]=1,2,4,8,16,32 f[2,1,2]=1,10,1,100 group=2 pads=[1,1]", 0,
         GIVES(10, 21, 42, 4, 800, 1608, 3216, 32)},
        {"Conv-11 f[1,2,3]=1,2,4,8,16,32 f[2,1,2]=1,10,1,100 f[2]=1000,2000 group=2 strides=[2] "
         "pads=[1,1]",
         0, GIVES(1010, 1042, 2800, 5216)},
        {"Conv-11 f[1,2,4]=1,2,4,8,1,2,4,8 f[2,1,2]=1,10,1,100 group=2 dilations=[2] strides=[2] "
         "pads=[1,1]",
         0, GIVES(20, 82, 200, 802)},
        {"Conv-11 f[1,4,2]=1,2,3,4,5,6,7,8 f[2,2,2]=1,10,100,1000,1,10,100,1000 group=2", 0,
         GIVES(4321, 8765)},
        {"Conv-11 f[1,2,2]=1,2,3,4 f[4,1,1]=1,10,100,1000 group=2", 0,
         GIVES(1, 2, 10, 20, 300, 400, 3000, 4000)},
        {"Conv-11 f[1,2,2,1,2]=1,2,3,4,5,6,7,8 f[2,1,2,1,1]=1,10,100,1000 group=2", 0,
         GIVES(31, 42, 7500, 8600)},
        {"Conv-11 f[1,2,2,2]=1,2,3,4,5,6,7,8 f[2,1,2,1]=1,10,100,1000 group=2 pads=[1,0,0,0]", 0,
         GIVES(10, 20, 31, 42, 5000, 6000, 7500, 8600)},
        {"Conv-11 f[1,2,1]=3,5 f[2,1,1]=1,10 group=2 pads=[2,1]", 0,
         GIVES(0, 0, 3, 0, 0, 0, 50, 0)},
        {"Conv-11 f[1,2,5]=1,2,3,4,5,1,2,3,4,5 f[2,1,2]=1,10,1,100 group=2 strides=[3]", 0,
         GIVES(21, 54, 201, 504)},
        {"Conv-11 f[1,2,2,2]=1,2,3,4,5,6,7,8 f[2,1,1,1]=1,10 f[2]=100,200 group=2 strides=[2,1]", 0,
         GIVES(101, 102, 250, 260)},
        {"Conv-11 f[2,2,1]=1,2,3,4 f[2,1,1]=1,10 group=2", 0, GIVES(1, 20, 3, 40)},
        {"ConvTranspose-11 d[1,1,2]=1,2 d[1,1,2]=1,10", 0, GIVES(1, 12, 20)},
        {"ConvTranspose-11 d[1,1,2]=1,2 d[1,1,2]=1,10 d[1]=100 strides=[2]", 0,
         GIVES(101, 110, 102, 120)},
        {"ConvTranspose-11 d[1,1,2]=1,2 d[1,1,2]=1,10 strides=[2] pads=[1,0] output_padding=[1]", 0,
         GIVES(10, 2, 20, 0)},
        {"ConvTranspose-11 d[1,2,1]=1,2 d[2,1,1]=1,10 group=2", 0, GIVES(1, 20)},
        {"ConvTranspose-11 d[1,2,1]=1,2 d[2,2,1]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"ConvTranspose-11 f[1,2,1]=1,2 f[2,2,1]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"ConvTranspose-11 f[1,2,1]=1,2 f[2,2,1]=1,10,100,1000 group=2", 0,
         GIVES(1, 10, 200, 2000)},
        {"ConvInteger-10 u[1,1,3]=1,2,4 u[1,1,2]=1,10 u[]=1 u[]=2 pads=[1,1]", 0,
         GIVES(0, 8, 23, -3)},
        {"ConvInteger-10 u[1,2,1]=3,5 u[2,1,1]=7,9 u[]=1 u[2]=2,3 group=2", 0, GIVES(10, 24)},
        {"ConvInteger-10 c[1,1,2]=-128,127 c[1,1,1]=-128 c[]=0", 0, GIVES(16384, -16256)},
        {"QLinearConv-10 u[1,1,3]=1,2,4 f[]=0.5 u[]=1 u[1,1,2]=3,5 f[1]=2 u[1]=1 f[]=1 u[]=10 "
         "pads=[1,1]",
         0, GIVES(10, 14, 24, 16)},
        {"QLinearConv-10 u[1,1,1]=3 f[]=1 u[]=1 c[2,1,1]=1,-1 f[2]=2,4 c[2]=0,0 f[]=2 u[]=10 "
         "j[2]=1,2",
         0, GIVES(13, 10)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* How many of its primitives oneDNN runs for the model of LINE. */
static size_t primitives_of(const char *line)
{
    size_t count = 0;
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    one_node(line, ONE_GIVEN);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    assert_int_equal(amp_session_run(session, one.inputs, net.outputs, &net.err), AMP_OK);
    amp_profile_primitives(profile, &count);
    amp_session_destroy(session);
    amp_profile_destroy(profile);
    return count;
}

/* Of CPUs with AVX2 oneDNN unfolds images for a few channels: those that have filters of their own
   and no more zeros than windows take are better off in C. */
static void channels_by_themselves_are_not_unfolded(void **state)
{
    static const struct {
        const char *line;
        bool is_in_c;
    } cases[] = {
        {"Conv-11 f[1,3,9] f[3,1,3] group=3", true},
        {"Conv-11 f[1,3,9] f[3,1,3] group=3 pads=[2,2]", true},
        {"Conv-11 f[1,3,9] f[3,1,3] group=3 pads=[3,2]", false},
        {"Conv-11 f[1,3,9] f[3,1,3] group=3 pads=[2,3]", false},
        {"Conv-11 f[1,3,9] f[3,1,3] group=3 dilations=[2] pads=[4,4]", true},
        {"Conv-11 f[1,3,9,9,9] f[3,1,3,3,3] group=3", false},
        {"Conv-11 f[1,6,9] f[3,2,3] group=3", false},
        {"Conv-11 f[1,1,9] f[1,1,3]", false},
    };
    (void)state;
    if (dnnl_get_effective_cpu_isa() != dnnl_cpu_isa_avx2)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if ((primitives_of(cases[i].line) == 0) != cases[i].is_in_c)
            fail_msg("%s", cases[i].line);
}

/* ---- optimizers ---- */

/* One step each, by the equations of ai.onnx.preview.training; defaults are 0.9 and 0.999. */
static void optimizers_take_their_steps(void **state)
{
#define ADAGRAD "ai.onnx.preview.training.Adagrad-1 "
#define ADAM "ai.onnx.preview.training.Adam-1 "
#define MOMENTUM "ai.onnx.preview.training.Momentum-1 "
    static const struct values_case cases[] = {
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 >2", 0, GIVES(0)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 >2", 1, GIVES(4)},
        {ADAGRAD "f[]=1 i[]=1 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 decay_factor=1.0 >2", 0, GIVES(0.5)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 norm_coefficient=1.0 >2", 0,
         GIVES(0)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=0.0 norm_coefficient=1.0 >2", 1,
         GIVES(9)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 epsilon=2.0 >2", 0, GIVES(0.5)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=4 f[1]=48 epsilon=0.0 >2", 0, GIVES(0.5)},
        {ADAGRAD "f[]=1 i[]=0 f[1]=1 f[1]=4 f[1]=48 epsilon=0.0 >2", 1, GIVES(64)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=0.0 >3", 0,
         GIVES(0)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=0.0 >3", 1,
         GIVES(1)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=0.0 >3", 2,
         GIVES(1)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 epsilon=1.0 >3", 0,
         GIVES(0.5)},
        {ADAM "f[]=1 i[]=1 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.75 beta=0.75 epsilon=0.0 >3", 0,
         GIVES(0)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.75 beta=0.75 epsilon=0.0 >3", 0,
         GIVES(0.5)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.75 beta=0.75 epsilon=0.0 "
              "norm_coefficient_post=0.5 >3",
         0, GIVES(0.25)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 norm_coefficient=2.0 >3",
         1, GIVES(2)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=2 f[1]=0 f[1]=0 alpha=0.5 beta=0.75 norm_coefficient=2.0 >3",
         2, GIVES(4)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=0 f[1]=10 f[1]=1000 >3", 1, GIVES(9)},
        {ADAM "f[]=1 i[]=0 f[1]=1 f[1]=0 f[1]=10 f[1]=1000 >3", 2, GIVES(999)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         0, GIVES(3)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(2)},
        {MOMENTUM "f[]=1 i[]=0 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         0, GIVES(0)},
        {MOMENTUM "f[]=1 i[]=0 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(5)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=nesterov norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         0, GIVES(0)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=nesterov norm_coefficient=0.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(2)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=4 f[1]=2 mode=standard norm_coefficient=1.0 alpha=0.5 "
                  "beta=0.25 >2",
         1, GIVES(3.25)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         0, GIVES(3)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         1, GIVES(30)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         2, GIVES(2)},
        {MOMENTUM "f[]=1 i[]=1 f[1]=5 f[1]=50 f[1]=4 f[1]=40 f[1]=2 f[1]=20 mode=standard "
                  "norm_coefficient=0.0 alpha=0.5 beta=0.25 >4",
         3, GIVES(20)},
    };
#undef ADAGRAD
#undef ADAM
#undef MOMENTUM
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- places between elements ---- */

/* An element is its place, so that linear sampling gives the place that an output comes from. Cubic
   weights half between elements are 19/32 and -3/32, or 9/16 and -1/16 for -0.5. */
static void resized_elements_come_from_their_places(void **state)
{
    static const struct values_case cases[] = {
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 mode=linear", 0,
         GIVES(0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 mode=linear coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0.5, 1, 1.5, 2, 2.5, 3, 3)},
        {"Resize-19 d[3]=0,1,2 _ _ i[1]=5 mode=linear coordinate_transformation_mode=align_corners",
         0, GIVES(0, 0.5, 1, 1.5, 2)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=1 mode=linear "
         "coordinate_transformation_mode=align_corners",
         0, GIVES(0)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=1 mode=linear "
         "coordinate_transformation_mode=pytorch_half_pixel",
         0, GIVES(0)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=2 mode=linear "
         "coordinate_transformation_mode=pytorch_half_pixel",
         0, GIVES(0.5, 2.5)},
        {"Resize-19 d[4]=0,1,2,3 _ _ i[1]=1 mode=linear", 0, GIVES(1.5)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.625 mode=linear", 0, GIVES(0.3, 1.9)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.625 mode=linear "
         "coordinate_transformation_mode=half_pixel_symmetric",
         0, GIVES(0.7, 2.3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 mode=linear "
         "coordinate_transformation_mode=half_pixel_symmetric",
         0, GIVES(0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=0.25,0.75 _ i[1]=3 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(0.75, 1.5, 2.25)},
        {"Resize-19 d[3]=0,1,2 f[2]=0,0.5 _ i[1]=3 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(0, 0.5, 1)},
        {"Resize-19 d[3]=0,1,2 f[2]=0.5,1 _ i[1]=3 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(1, 1.5, 2)},
        {"Resize-19 d[4]=1,2,3,inf f[2]=0,0.5 _ i[1]=4 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(1, 1.5, 2, 2.5)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=0.25,0.75 _ i[1]=1 mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(1.5)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=-0.5,1.5 _ i[1]=3 mode=linear extrapolation_value=9.0 "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(9, 1.5, 9)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=-0.5,1.5 _ i[1]=3 extrapolation_value=9.0 "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(9, 1, 9)},
        {"Resize-19 d[4]=0,1,2,3 f[2]=0,1 _ i[1]=4 mode=linear extrapolation_value=9.0 "
         "coordinate_transformation_mode=tf_crop_and_resize",
         0, GIVES(0, 1, 2, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric "
         "nearest_mode=round_prefer_ceil",
         0, GIVES(0, 1, 1, 2, 2, 3, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric "
         "nearest_mode=floor",
         0, GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric "
         "nearest_mode=ceil",
         0, GIVES(0, 1, 1, 2, 2, 3, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 nearest_mode=floor", 0, GIVES(0, 0, 0, 1, 1, 2, 2, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 nearest_mode=ceil", 0, GIVES(0, 1, 1, 2, 2, 3, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2", 0, GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=2 nearest_mode=round_prefer_ceil", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-11 d[4]=0,1,2,3 f[0] f[1]=0.5 nearest_mode=floor "
         "coordinate_transformation_mode=tf_half_pixel_for_nn",
         0, GIVES(1, 3)},
        {"Resize-11 d[4]=0,1,2,3 f[0] f[1]=2 nearest_mode=floor "
         "coordinate_transformation_mode=tf_half_pixel_for_nn",
         0, GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 d[4]=0,0,16,16 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=cubic",
         0, GIVES(0, -1.5, 0, 8, 16, 17.5, 16, 16)},
        {"Resize-19 d[4]=0,0,16,16 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=cubic "
         "cubic_coeff_a=-0.5",
         0, GIVES(0, -1, 0, 8, 16, 17, 16, 16)},
        {"Resize-19 d[4]=0,0,16,16 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=cubic "
         "exclude_outside=1",
         0, GIVES(0, -48.0 / 35, 0, 8, 16, 608.0 / 35, 16, 16)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.5 mode=linear antialias=1", 0, GIVES(0.625, 2.375)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.5 mode=linear antialias=1 exclude_outside=1", 0,
         GIVES(5.0 / 7, 16.0 / 7)},
        {"Resize-19 d[4]=0,1,2,3 _ f[1]=0.5 mode=linear", 0, GIVES(0.5, 2.5)},
        {"Resize-19 u[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric mode=linear", 0,
         GIVES(0, 0, 1, 2, 2, 2, 3, 3)},
        {"Resize-19 f[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 u[4]=0,1,2,3 _ f[1]=2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(0, 0, 1, 1, 2, 2, 3, 3)},
        {"Resize-19 f[2]=5,6 _ f[1]=3 coordinate_transformation_mode=asymmetric nearest_mode=floor",
         0, GIVES(5, 5, 5, 6, 6, 6)},
        {"Resize-19 f[1,2]=1,2 _ f[2]=2,2 coordinate_transformation_mode=asymmetric", 0,
         GIVES(1, 1, 2, 2, 1, 1, 2, 2)},
        {"Resize-19 f[2,2]=1,2,3,4 _ f[2]=2,1 coordinate_transformation_mode=asymmetric", 0,
         GIVES(1, 2, 1, 2, 3, 4, 3, 4)},
        {"Resize-19 f[1,2]=1,2 _ f[2]=2,2 mode=linear coordinate_transformation_mode=asymmetric", 0,
         GIVES(1, 1.5, 2, 2, 1, 1.5, 2, 2)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

static void grids_lead_to_their_places(void **state)
{
    static const struct values_case cases[] = {
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=-1,0,1", 0, GIVES(0, 1.5, 1.5)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=-1,0,1 padding_mode=border", 0, GIVES(0, 1.5, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=-1,0,1 align_corners=1", 0, GIVES(0, 1.5, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,1,1]=-0x1p-30 mode=nearest", 0, GIVES(1)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 f[1,1,1]=-0x1p-30 mode=nearest", 0, GIVES(2)},
        {"GridSample-20 d[1,1,4]=1,2,3,4 d[1,2,1]=inf,-inf padding_mode=reflection", 0,
         GIVES(1, 1)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,3,1]=1.25,1.5,-1.5 padding_mode=reflection", 0,
         GIVES(3, 2.5, 0.5)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,4,1]=2,-2,3,5 padding_mode=reflection align_corners=1",
         0, GIVES(1.5, 1.5, 0, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,2,1]=-2,2 padding_mode=border align_corners=1", 0,
         GIVES(0, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,2,1]=-2,2 align_corners=1", 0, GIVES(0, 0)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,4,1]=-0.5,0,0.5,1 mode=nearest", 0, GIVES(0, 2, 2, 0)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,4,1]=-0.5,0,0.5,1 mode=nearest padding_mode=border", 0,
         GIVES(0, 2, 2, 3)},
        {"GridSample-20 d[1,1,4]=0,1,2,3 d[1,5,1]=-0.5,0,0.5,1,-1.5 mode=nearest "
         "padding_mode=reflection",
         0, GIVES(0, 2, 2, 3, 1)},
        {"GridSample-20 d[1,1,4]=0,0,16,16 d[1,3,1]=-0.5,0,0.5 mode=cubic", 0, GIVES(-1.5, 8, 19)},
        {"GridSample-20 d[1,1,4]=0,0,16,16 d[1,3,1]=-0.5,0,0.5 mode=cubic padding_mode=border", 0,
         GIVES(-1.5, 8, 17.5)},
        {"GridSample-20 d[1,1,4]=0,0,16,16 d[1,3,1]=-0.5,0,0.5 mode=cubic padding_mode=reflection",
         0, GIVES(-1.5, 8, 17.5)},
        {"GridSample-20 d[1,2,4]=0,1,2,3,4,5,6,7 d[1,2,1]=-0.5,0.5", 0, GIVES(0.5, 2.5, 4.5, 6.5)},
        {"GridSample-20 d[1,1,2,2]=1,2,3,4 d[1,1,2,2]=0.5,-0.5,-0.5,0.5", 0, GIVES(2, 3)},
        {"GridSample-20 d[1,1,2,2]=1,2,3,4 d[1,1,1,2]=0,0", 0, GIVES(2.5)},
        {"GridSample-20 d[2,1,2]=1,2,3,4 d[2,1,1]=0.5,-0.5", 0, GIVES(2, 3)},
        {"AffineGrid-20 d[1,2,3]=1,0,0,0,1,0 i[4]=1,1,2,2", 0,
         GIVES(-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5)},
        {"AffineGrid-20 d[1,2,3]=1,0,0,0,1,0 i[4]=1,1,2,2 align_corners=1", 0,
         GIVES(-1, -1, 1, -1, -1, 1, 1, 1)},
        {"AffineGrid-20 d[1,2,3]=1,0,5,0,1,7 i[4]=1,1,2,2", 0,
         GIVES(4.5, 6.5, 5.5, 6.5, 4.5, 7.5, 5.5, 7.5)},
        {"AffineGrid-20 d[1,2,3]=0,1,0,1,0,0 i[4]=1,1,2,2", 0,
         GIVES(-0.5, -0.5, -0.5, 0.5, 0.5, -0.5, 0.5, 0.5)},
        {"AffineGrid-20 d[1,2,3]=1,0,0,0,1,0 i[4]=1,1,1,2 align_corners=1", 0, GIVES(-1, 0, 1, 0)},
        {"AffineGrid-20 f[2,2,3]=1,0,0,0,1,0,1,0,2,0,1,3 i[4]=2,1,1,1", 0, GIVES(0, 0, 2, 3)},
        {"AffineGrid-20 f[1,3,4]=1,0,0,7,0,1,0,8,0,0,1,9 i[5]=1,1,1,1,2", 0,
         GIVES(6.5, 8, 9, 7.5, 8, 9)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- products ---- */

/* Ones and tens, so that no element can stand in another's place. */
static void products_are_sums_over_the_inner_dim(void **state)
{
    static const struct values_case cases[] = {
        {"MatMul-13 f[1,2]=1,2 f[2,2]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"MatMul-13 f[3,2]=1,0,0,1,1,2 f[2,2]=1,10,100,1000", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"MatMul-13 d[3,2]=1,0,0,1,1,2 d[2,2]=1,10,100,1000", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"MatMul-13 i[1,2]=1,2 i[2,2]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"MatMul-13 f[2]=1,2 f[2,2]=1,10,100,1000", 0, GIVES(201, 2010)},
        {"MatMul-13 f[2,2]=1,10,100,1000 f[2]=1,2", 0, GIVES(21, 2100)},
        {"MatMul-13 f[2]=1,2 f[2]=3,4", 0, GIVES(11)},
        {"MatMul-13 f[2,1,2]=1,2,3,4 f[2,1]=1,10", 0, GIVES(21, 43)},
        {"MatMul-13 f[2,1,2]=1,2,3,4 f[2,2,1]=1,10,100,1000", 0, GIVES(21, 4300)},
        {"MatMul-13 f[1,2]=1,2 f[2,2,1]=1,10,100,1000", 0, GIVES(21, 2100)},
        {"Gemm-13 f[2,1]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 transA=1", 0, GIVES(204, 2014)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 transB=1", 0, GIVES(24, 2104)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 alpha=0.5 beta=2.0", 0,
         GIVES(106.5, 1013)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 alpha=0.5", 0, GIVES(103.5, 1009)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[2]=3,4 beta=2.0", 0, GIVES(207, 2018)},
        {"Gemm-13 f[1,2]=1,2 f[2,2]=1,10,100,1000 f[1]=3", 0, GIVES(204, 2013)},
        {"Gemm-13 f[2,1]=1,2 f[1,2]=1,10 f[2,2]=1,2,3,4", 0, GIVES(2, 12, 5, 24)},
        {"Gemm-13 f[2,1]=1,2 f[1,2]=1,10 f[2,1]=100,200", 0, GIVES(101, 110, 202, 220)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[3,1]=100,200,300 beta=0.5", 0,
         GIVES(51, 60, 102, 120, 153, 180)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[1,2]=100,200", 0, GIVES(101, 210, 102, 220, 103, 230)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[]=100", 0, GIVES(101, 110, 102, 120, 103, 130)},
        {"Gemm-13 f[3,1]=1,2,3 f[1,2]=1,10 f[3,2]=1,2,3,4,5,6 alpha=2.0", 0,
         GIVES(3, 22, 7, 44, 11, 66)},
        {"Gemm-13 d[1,2]=1,2 d[2,2]=1,10,100,1000 d[2]=3,4 alpha=0.5 beta=2.0", 0,
         GIVES(106.5, 1013)},
        {"Gemm-13 f[2,3]=1,0,1,0,1,2 f[2,2]=1,10,100,1000 transA=1", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"Gemm-13 f[1,0] f[0,2] f[2]=3,4 beta=2.0", 0, GIVES(6, 8)},
        {"Gemm-13 f[1,0] f[0,2]", 0, GIVES(0, 0)},
        {"MatMul-13 f[1,0] f[0,2]", 0, GIVES(0, 0)},
        {"com.microsoft.FusedMatMul-1 f[1,2]=1,2 f[2,2]=1,10,100,1000 alpha=0.5", 0,
         GIVES(100.5, 1005)},
        {"com.microsoft.FusedMatMul-1 f[2,1]=1,2 f[2,2]=1,10,100,1000 transA=1 transB=1", 0,
         GIVES(21, 2100)},
        {"com.microsoft.FusedMatMul-1 f[3,2]=1,0,0,1,1,2 f[2,2]=1,10,100,1000", 0,
         GIVES(1, 10, 100, 1000, 201, 2010)},
        {"com.microsoft.FusedMatMul-1 f[1,2,2]=1,2,3,4 f[2,2,1]=1,10,100,1000 transBatchA=1", 0,
         GIVES(21, 4300)},
        {"com.microsoft.FusedMatMul-1 f[2,1,2]=1,2,3,4 f[2,2,1]=1,10,100,1000 transBatchB=1", 0,
         GIVES(201, 4030)},
        {"com.microsoft.FusedGemm-1 f[1,2]=1,2 f[2,2]=1,-10,100,1000 f[2]=3,-9999 activation=Relu",
         0, GIVES(204, 0)},
        {"com.microsoft.FusedGemm-1 f[1,1]=1 f[1,2]=1,-8 f[2]=0,0 activation=LeakyRelu "
         "activation_alpha=0.25",
         0, GIVES(1, -2)},
        {"com.microsoft.FusedConv-1 f[1,1,3]=1,2,4 f[1,1,2]=1,-10 f[1]=10 activation=Relu", 0,
         GIVES(0, 0)},
        {"com.microsoft.FusedConv-1 f[1,1,2]=1,2 f[1,1,1]=-8 f[1]=0 activation=LeakyRelu "
         "activation_params=(0.25)",
         0, GIVES(-2, -4)},
        {"com.microsoft.FusedConv-1 f[1,1,2]=1,2 f[1,1,1]=10 f[1]=100 f[1,1,2]=1000,-2000 "
         "activation=Relu",
         0, GIVES(1110, 0)},
        {"Einsum-12 f[2]=1,2 f[2]=10,100 equation=i,j->ij", 0, GIVES(10, 100, 20, 200)},
        {"Einsum-12 f[2]=1,2 f[2]=10,100 equation=i,j->ji", 0, GIVES(10, 20, 100, 200)},
        {"Einsum-12 f[2]=1,2 f[2]=10,100 equation=i,i", 0, GIVES(210)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ii", 0, GIVES(5)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ii->i", 0, GIVES(1, 4)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ij->j", 0, GIVES(4, 6)},
        {"Einsum-12 f[2,2]=1,2,3,4 equation=ji", 0, GIVES(1, 3, 2, 4)},
        {"Einsum-12 f[2,2]=1,0,0,1 f[2,2]=1,2,3,4 f[2]=1,10 equation=ij,jk,k->i", 0, GIVES(21, 43)},
        {"Einsum-12 f[1,2]=1,2 f[2,2]=3,4,5,6 equation=...a,...a->...", 0, GIVES(11, 17)},
        {"Einsum-12 f[2,1,2]=1,2,3,4 f[2,2,1]=1,10,100,1000 equation=bij,bjk->bik", 0,
         GIVES(21, 4300)},
        {"Einsum-12 h[2,2]=256,0,0,256 h[2,2]=512,0,0,512 h[2,2]=0.25,0,0,0.25 "
         "equation=ij,jk,kl->il",
         0, GIVES(32768, 0, 0, 32768)},
        {"Det-11 f[2,2]=1,2,3,4", 0, GIVES(-2)},
        {"Det-11 f[2,2]=0,2,3,4", 0, GIVES(-6)},
        {"Det-11 f[2,2,2]=1,2,2,4,2,0,0,3", 0, GIVES(0, 6)},
        {"Det-11 f[3,3]=0,0,1,0,2,0,4,0,0", 0, GIVES(-8)},
        {"Det-11 f[3,3]=1,0,0,0,1,2,0,0,3", 0, GIVES(3)},
        {"Det-11 f[3,3]=1,0,5,0,0,1,0,2,0", 0, GIVES(-2)},
        {"Det-11 f[3,3]=1,3,0,0,0,1,7,2,0", 0, GIVES(19)},
        {"Det-11 f[4,4]=2,0,0,9,0,1,8,0,0,0,0,3,0,0,5,0", 0, GIVES(-30)},
        {"Det-11 f[0,0]", 0, GIVES(1)},
        {"Det-11 d[1,1]=-3", 0, GIVES(-3)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- products of any batches ---- */

enum { MOST_AXES = 4, INNER = 3 };

/* An operand of a product as the product sees it; axis I of it is axis PERM[I] of what is stored.
 */
struct operand {
    int rank;
    int64_t dims[MOST_AXES], perm[MOST_AXES], strides[MOST_AXES]; /* strides are of the stored */
    struct amp_tensor *stored;
};

/* [batch.., ROWS, COLUMNS] of one of seven batches, in one of three orders: its own, each matrix
   turned, its rows between the batch dims. */
static struct operand new_operand(int batch, int64_t rows, int64_t columns, int order)
{
    static const struct {
        int rank;
        int64_t dims[2];
    } batches[] = {{0, {0}},    {1, {1}},    {1, {2}},   {2, {1, 1}},
                   {2, {1, 2}}, {2, {3, 1}}, {2, {3, 2}}};
    struct operand x = {.rank = batches[batch].rank + 2};
    memcpy(x.dims, batches[batch].dims, sizeof batches[batch].dims);
    x.dims[x.rank - 2] = rows;
    x.dims[x.rank - 1] = columns;
    for (int i = 0; i < x.rank; i++)
        x.perm[i] = i;
    int first = order == 1 ? x.rank - 2 : x.rank - 3;
    if (order != 0 && first >= 0) {
        x.perm[first] = first + 1;
        x.perm[first + 1] = first;
    }
    return x;
}

/* OPERAND with small numbers in DTYPE, as input NAME that is transposed to what is seen. */
static uint32_t store(struct operand *operand, const char *name, enum amp_dtype dtype)
{
    struct amp_shape shape = {.rank = operand->rank};
    static const float zeros[256];
    int64_t step = 1;
    for (int i = 0; i < operand->rank; i++)
        shape.dims[operand->perm[i]] = operand->dims[i];
    operand->stored = net_tensor(dtype, shape, zeros);
    operand->stored->data = amp_arena_alloc(net.arena, sizeof zeros * 2);
    for (size_t i = 0; i < amp_tensor_count(operand->stored); i++)
        if (dtype == AMP_INT64)
            ((int64_t *)operand->stored->data)[i] = (int64_t)(i * 7 % 11) - 5;
        else
            amp_tensor_set_double(operand->stored, i, (double)(i * 7 % 11) - 5);
    for (int i = operand->rank - 1; i >= 0; i--) {
        operand->strides[i] = step;
        step *= shape.dims[i];
    }
    uint32_t seen = NODE("Transpose", "seen", input(name, dtype, shape));
    set_list(seen, "perm", (size_t)operand->rank, operand->perm);
    return seen;
}

/* Element AT of OPERAND, whose axes are the last of AT's; a batch dim of 1 is for all. */
static double element(const struct operand *operand, const int64_t *at)
{
    int64_t place = 0;
    for (int i = 0; i < operand->rank; i++)
        if (operand->dims[i] != 1)
            place += at[MOST_AXES - operand->rank + i] * operand->strides[operand->perm[i]];
    return operand->stored->dtype == AMP_INT64
               ? (double)((const int64_t *)operand->stored->data)[place]
               : amp_tensor_double(operand->stored, (size_t)place);
}

/* Holds Y, whose axis PERM[I] is axis I of what was found, against sums; IS_CUT: those below 0 are.
 */
static void expect_product(const struct operand *a, const struct operand *b,
                           const struct operand *y, bool is_cut, const char *text)
{
    const struct amp_tensor *found = &net.outputs[0];
    int64_t n = (int64_t)amp_tensor_count(found), size = 1;
    assert_int_equal(found->shape.rank, y->rank);
    for (int i = 0; i < y->rank; i++) {
        assert_int_equal(found->shape.dims[i], y->dims[y->perm[i]]);
        size *= y->dims[i];
    }
    assert_int_equal(n, size);
    for (int64_t k = 0; k < n; k++) {
        int64_t of_a[MOST_AXES] = {0}, of_b[MOST_AXES] = {0}, rest = k;
        for (int i = y->rank - 1; i >= 0; i--) {
            int axis = MOST_AXES - y->rank + (int)y->perm[i];
            of_a[axis] = of_b[axis] = rest % found->shape.dims[i];
            rest /= found->shape.dims[i];
        }
        double sum = 0;
        for (int64_t j = 0; j < INNER; j++) {
            of_a[MOST_AXES - 1] = of_b[MOST_AXES - 2] = j;
            sum += element(a, of_a) * element(b, of_b);
        }
        sum = is_cut && sum < 0 ? 0 : sum;
        double is = found->dtype == AMP_INT64 ? (double)((const int64_t *)found->data)[k]
                                              : amp_tensor_double(found, (size_t)k);
        if (is != sum)
            fail_msg("%s: element %d is %g; %g is right", text, (int)k, is, sum);
    }
}

/* Whatever batches are broadcast, however the operands lie and the result is to lie, what is cast
   to float32 first and what follows. */
static void batches_of_products_are_broadcast(void **state)
{
    enum { BATCHES = 7, ORDERS = 3, ALL = BATCHES * BATCHES * ORDERS * ORDERS * 2 };
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64};
    char text[80];
    (void)state;
    for (int i = 0; i < ALL * ORDERS; i++) {
        int of_a = i % BATCHES, of_b = i / BATCHES % BATCHES, orders = i / BATCHES / BATCHES;
        int64_t m = i % 2 == 0 ? 1 : 4;
        enum amp_dtype dtype = dtypes[(orders + i) % 5 < 3 ? 0 : 1 + i % 2];
        struct operand a = new_operand(of_a, m, INNER, orders % ORDERS);
        struct operand b = new_operand(of_b, INNER, 5, orders / ORDERS % ORDERS);
        struct operand y =
            new_operand(a.rank > b.rank ? of_a : of_b, m, 5, orders / ORDERS / ORDERS % ORDERS);
        for (int d = 0; d < y.rank - 2; d++) {
            int in_a = d - y.rank + a.rank, in_b = d - y.rank + b.rank;
            int64_t dim_a = in_a < 0 ? 1 : a.dims[in_a], dim_b = in_b < 0 ? 1 : b.dims[in_b];
            y.dims[d] = dim_a > dim_b ? dim_a : dim_b;
        }
        snprintf(text, sizeof text, "%s, batches %d and %d, orders %d", amp_dtype_name(dtype), of_a,
                 of_b, orders);
        net_start(13);
        uint32_t seen = store(&a, "a", dtype);
        bool is_cast = dtype == AMP_FLOAT && i % 3 != 0, is_cut = dtype == AMP_FLOAT && i / 2 % 2;
        uint32_t other = store(&b, "b", is_cast ? AMP_FLOAT16 : dtype);
        if (is_cast) {
            other = NODE("Cast", "cast", other);
            set_int(other, "to", dtype);
        }
        uint32_t product = NODE("MatMul", "product", seen, other);
        uint32_t turned = NODE("Transpose", "y", is_cut ? NODE("Relu", "cut", product) : product);
        set_list(turned, "perm", (size_t)y.rank, y.perm);
        output(turned);
        for (int is_strict = 0; is_strict < 2; is_strict++) {
            if (net_run(is_strict, TENSORS(*a.stored, *b.stored)) != AMP_OK)
                fail_msg("%s: %s", text, net.err.text);
            expect_product(&a, &b, &y, is_cut, text);
        }
    }
}

/* ---- products of bytes ---- */

/* Zero points may be one, of rows or columns, or of all elements. */
static void products_are_without_zero_points(void **state)
{
    static const struct values_case cases[] = {
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6", 0, GIVES(39)},
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6 u[1,2]=1,2", 0, GIVES(22)},
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6 _ u[2,1]=1,2", 0, GIVES(28)},
        {"MatMulInteger-10 u[1,2]=3,4 u[2,1]=5,6 u[1,2]=1,2 u[2,1]=1,2", 0, GIVES(16)},
        {"MatMulInteger-10 u[2,2]=1,2,3,4 u[2,1]=1,1 u[2]=1,2", 0, GIVES(1, 3)},
        {"MatMulInteger-10 u[1,2]=1,2 u[2,2]=3,4,5,6 u[]=1 u[2]=1,2", 0, GIVES(4, 4)},
        {"MatMulInteger-10 c[1,2]=-1,-128 c[2,1]=-128,127 c[]=-128 c[1]=127", 0, GIVES(-32385)},
        {"MatMulInteger-10 u[2]=3,4 u[2]=5,6 u[]=1 u[]=2", 0, GIVES(18)},
        {"QLinearMatMul-10 u[1,2]=3,4 f[]=0.5 u[]=1 u[2,2]=5,6,7,8 f[2]=1,2 u[2]=1,2 f[]=2 u[]=10",
         0, GIVES(16, 23)},
        {"QLinearMatMul-10 u[2,1]=3,4 f[2]=1,2 u[2]=1,2 u[1,1]=5 f[]=1 u[]=0 f[]=4 u[]=1", 0,
         GIVES(3, 6)},
        {"QLinearMatMul-10 u[1,1]=255 f[] u[] u[1,1]=255 f[] u[] f[] u[]", 0, GIVES(255)},
        {"QLinearMatMul-10 c[1,1]=-128 f[] c[] c[1,1]=127 f[] c[] f[] c[]", 0, GIVES(-128)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* The linker has the program ask here. */
bool __real_amp_dnnl_adds_bytes(int64_t k);
bool __wrap_amp_dnnl_adds_bytes(int64_t k);

static bool adds_no_bytes;

bool __wrap_amp_dnnl_adds_bytes(int64_t k)
{
    return !adds_no_bytes && __real_amp_dnnl_adds_bytes(k);
}

/* Sizes of matrices of bytes, around those of blocks, and batches of any kind. */
static const struct bytes_case {
    int64_t a[2], b[2], m, k, n; /* batch dims; 0: there is none */
} bytes_cases[] = {{{0}, {0}, 1, 1, 1},     {{0}, {0}, 3, 2, 15},       {{0}, {0}, 4, 3, 16},
                   {{0}, {0}, 5, 16, 17},   {{0}, {0}, 67, 7, 33},      {{0}, {0}, 2, 3, 255},
                   {{0}, {0}, 130, 8, 300}, {{2}, {0}, 3, 5, 18},       {{2}, {2}, 5, 4, 6},
                   {{2}, {2}, 1, 3, 33},    {{3, 2}, {3, 2}, 2, 5, 17}, {{3, 2}, {1, 2}, 2, 3, 16},
                   {{1}, {2}, 3, 4, 5},     {{2}, {3, 2}, 2, 3, 4},     {{3, 2}, {0}, 4, 2, 4},
                   {{3, 2}, {2}, 3, 3, 3}};

static struct amp_shape bytes_shape(const int64_t *batch, int64_t rows, int64_t columns)
{
    struct amp_shape shape = {.rank = 0};
    for (int i = 0; i < 2 && batch[i] > 0; i++)
        shape.dims[shape.rank++] = batch[i];
    shape.dims[shape.rank++] = rows;
    shape.dims[shape.rank++] = columns;
    return shape;
}

static struct amp_tensor *some_bytes(enum amp_dtype dtype, struct amp_shape shape, int64_t factor)
{
    int64_t count = amp_shape_count(&shape);
    uint8_t *bytes = amp_arena_alloc(net.arena, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i % 5 == 0 ? 255 - i % 2 * 128 : i * factor % 251);
    return net_tensor(dtype, shape, bytes);
}

/* The matrix of OPERAND in [BATCH_0, BATCH_1], the last of the batch dims of the result. */
static int64_t matrix_at(const struct amp_shape *operand, int64_t batch_0, int64_t batch_1)
{
    int rank = operand->rank - 2;
    int64_t inner = rank > 0 && operand->dims[rank - 1] > 1 ? batch_1 : 0;
    int64_t outer = rank > 1 && operand->dims[0] > 1 ? batch_0 : 0;
    return rank > 1 ? outer * operand->dims[1] + inner : inner;
}

static void expect_byte_product(const struct bytes_case *sizes, const struct amp_tensor *in)
{
    const int64_t m = sizes->m, k = sizes->k, n = sizes->n;
    const struct amp_tensor *y = &net.outputs[0];
    const int64_t inner = y->shape.rank > 2 ? y->shape.dims[y->shape.rank - 3] : 1;
    const int64_t row_step = in[2].shape.rank > 0, column_step = in[3].shape.rank > 0;
    for (int64_t i = 0; i < amp_shape_count(&y->shape); i++) {
        int64_t column = i % n, row = i / n % m, batch = i / n / m, sum = 0;
        int64_t of_a = matrix_at(&in[0].shape, batch / inner, batch % inner) * m + row;
        int64_t of_b = matrix_at(&in[1].shape, batch / inner, batch % inner) * k;
        for (int64_t j = 0; j < k; j++)
            sum += (amp_tensor_int(&in[0], (size_t)(of_a * k + j)) -
                    amp_tensor_int(&in[2], (size_t)(row * row_step))) *
                   (amp_tensor_int(&in[1], (size_t)((of_b + j) * n + column)) -
                    amp_tensor_int(&in[3], (size_t)(column * column_step)));
        if (amp_tensor_int(y, (size_t)i) != sum)
            fail_msg("%s by %s, m %d, k %d, n %d: element %d is %d; %d is right",
                     amp_dtype_name(in[0].dtype), amp_dtype_name(in[1].dtype), (int)m, (int)k,
                     (int)n, (int)i, (int)amp_tensor_int(y, (size_t)i), (int)sum);
    }
}

/* MatMulInteger of the case in the WAY: types, zero points, whether oneDNN is exact. */
static void multiply_bytes(const struct bytes_case *sizes, int way)
{
    net_start(13);
    enum amp_dtype of_a = way & 1 ? AMP_INT8 : AMP_UINT8, of_b = way & 2 ? AMP_INT8 : AMP_UINT8;
    const bool has_rows = way & 4 && sizes->a[0] == 0, has_columns = (way & 8) != 0;
    const struct amp_tensor in[] = {
        *some_bytes(of_a, bytes_shape(sizes->a, sizes->m, sizes->k), 37),
        *some_bytes(of_b, bytes_shape(sizes->b, sizes->k, sizes->n), 53),
        *some_bytes(of_a, has_rows ? DIMS(sizes->m) : SCALAR, 11),
        *some_bytes(of_b, has_columns ? DIMS(sizes->n) : SCALAR, 7)};
    if (!(way & 4))
        ((uint8_t *)in[2].data)[0] = 0;
    if (!has_columns)
        ((uint8_t *)in[3].data)[0] = (uint8_t)(way & 1);
    output(NODE("MatMulInteger", "y", input("a", of_a, in[0].shape), input("b", of_b, in[1].shape),
                input("a_zero", of_a, in[2].shape), input("b_zero", of_b, in[3].shape)));
    adds_no_bytes = (way & 16) != 0;
    run_on(in);
    adds_no_bytes = false;
    expect_byte_product(sizes, in);
}

/* By oneDNN and in pairs. */
static void bytes_are_multiplied_exactly(void **state)
{
    enum { WAYS = 32 };
    (void)state;
    for (size_t i = 0; i < sizeof bytes_cases / sizeof *bytes_cases; i++)
        for (int way = 0; way < WAYS; way++)
            multiply_bytes(&bytes_cases[i], way);
}

/* ---- sums of products by their labels ---- */

enum { LABELS = 5, TERMS = 3, MOST_LABELS = 4, TERM_ROOM = 512 };

/* An equation, by hand of the random numbers STATE. */
static struct equation {
    uint32_t state;
    int n_terms, n[TERMS + 1], labels[TERMS + 1][MOST_LABELS]; /* the last: the output */
    int64_t dims[TERMS][MOST_LABELS], sizes[LABELS];
    char text[64];
} equation;

static uint32_t draw(uint32_t below)
{
    equation.state = equation.state * 1664525u + 1013904223u;
    return (equation.state >> 10) % below;
}

static bool occurs(int term, int label, int before)
{
    bool does = false;
    for (int i = 0; i < before; i++)
        does |= equation.labels[term][i] == label;
    return does;
}

/* Dims of 1 of what others have more of are stretched; of what one operand has twice, none. */
static void draw_term(int term)
{
    static const int64_t sizes[LABELS] = {2, 3, 1, 4, 2};
    equation.n[term] = (int)draw(MOST_LABELS + 1);
    for (int i = 0; i < equation.n[term]; i++) {
        int label = equation.labels[term][i] = (int)draw(LABELS);
        bool is_one = draw(9) == 0 && !occurs(term, label, i);
        equation.dims[term][i] = is_one ? 1 : sizes[label];
        for (int k = 0; k < i; k++)
            if (equation.labels[term][k] == label)
                equation.dims[term][k] = sizes[label];
    }
}

static void draw_output(void)
{
    int *n = &equation.n[TERMS];
    *n = 0;
    for (int i = 0; i < 6 && *n < MOST_LABELS; i++) {
        int term = (int)draw((uint32_t)equation.n_terms), of_term = equation.n[term];
        int label = of_term > 0 ? equation.labels[term][draw((uint32_t)of_term)] : -1;
        if (label >= 0 && draw(3) > 0 && !occurs(TERMS, label, *n))
            equation.labels[TERMS][(*n)++] = label;
    }
}

static char *write_term(char *end, int term)
{
    for (int i = 0; i < equation.n[term]; i++)
        *end++ = (char)('a' + equation.labels[term][i]);
    return end;
}

static void draw_equation(uint32_t seed)
{
    char *end = equation.text;
    equation.state = seed * 7919u + 1;
    equation.n_terms = 1 + (int)draw(TERMS);
    for (int i = 0; i < LABELS; i++)
        equation.sizes[i] = 1;
    for (int term = 0; term < equation.n_terms; term++) {
        draw_term(term);
        if (term > 0)
            *end++ = ',';
        end = write_term(end, term);
        for (int i = 0; i < equation.n[term]; i++)
            if (equation.dims[term][i] > 1)
                equation.sizes[equation.labels[term][i]] = equation.dims[term][i];
    }
    draw_output();
    memcpy(end, "->", 2);
    *write_term(end + 2, TERMS) = '\0';
}

static double number_of(const struct amp_tensor *tensor, int64_t i)
{
    return tensor->dtype == AMP_INT64 ? (double)((const int64_t *)tensor->data)[i]
                                      : amp_tensor_double(tensor, (size_t)i);
}

/* The element of IN, of TERM, at the values AT of the labels. */
static double factor_at(const struct amp_tensor *in, int term, const int64_t *at)
{
    int64_t place = 0;
    for (int i = 0; i < equation.n[term]; i++)
        place =
            place * equation.dims[term][i] + at[equation.labels[term][i]] % equation.dims[term][i];
    return number_of(&in[term], place);
}

static void expect_sums(const struct amp_tensor *in)
{
    double sums[TERM_ROOM] = {0};
    int64_t at[LABELS] = {0}, size = 1;
    for (int i = 0; i < equation.n[TERMS]; i++)
        size *= equation.sizes[equation.labels[TERMS][i]];
    do {
        double product = 1;
        int64_t place = 0;
        for (int term = 0; term < equation.n_terms; term++)
            product *= factor_at(in, term, at);
        for (int i = 0; i < equation.n[TERMS]; i++)
            place =
                place * equation.sizes[equation.labels[TERMS][i]] + at[equation.labels[TERMS][i]];
        sums[place] += product;
    } while (amp_index_next(LABELS, equation.sizes, at));
    assert_int_equal(amp_tensor_count(&net.outputs[0]), size);
    for (int64_t i = 0; i < size; i++)
        if (number_of(&net.outputs[0], i) != sums[i])
            fail_msg("%s in %s: element %d is %g; %g is right", equation.text,
                     amp_dtype_name(in->dtype), (int)i, number_of(&net.outputs[0], i), sums[i]);
}

static void run_equation(enum amp_dtype dtype)
{
    static const float zeros[2 * TERM_ROOM];
    static const char *const names[TERMS] = {"a", "b", "c"};
    struct amp_tensor in[TERMS];
    uint32_t ids[TERMS];
    net_start(12);
    for (int term = 0; term < equation.n_terms; term++) {
        struct amp_shape shape = {.rank = equation.n[term]};
        memcpy(shape.dims, equation.dims[term], sizeof equation.dims[term]);
        in[term] = *net_tensor(dtype, shape, zeros);
        in[term].data = amp_arena_alloc(net.arena, sizeof zeros);
        for (size_t i = 0; i < amp_tensor_count(&in[term]); i++)
            if (dtype == AMP_INT64)
                ((int64_t *)in[term].data)[i] = (int64_t)draw(9) - 4;
            else
                amp_tensor_set_double(&in[term], i, (double)draw(9) - 4);
        ids[term] = input(names[term], dtype, shape);
    }
    uint32_t y = net_out(net_node(0, "Einsum", "y", 1, ids, (size_t)equation.n_terms), 0);
    set_word(y, "equation", equation.text);
    output(y);
    if (net_run(true, in) != AMP_OK)
        fail_msg("%s: %s", equation.text, net.err.text);
    expect_sums(in);
}

/* Runs of one session whose matrices have the same sizes but lie otherwise. */
static void equations_follow_what_lies_otherwise(void **state)
{
    static const struct {
        const char *equation;
        bool is_second; /* what changes is the second operand */
        double expected[2][6];
    } cases[] = {
        {"ajb,jc->abc",
         false,
         {{401, 4010, 502, 5020, 603, 6030}, {201, 2010, 403, 4030, 605, 6050}}},
        {"ij,kjl->ikl", true, {{41, 52, 63, 4100, 5200, 6300}, {21, 43, 65, 2100, 4300, 6500}}}};
    static const float numbers[] = {1, 2, 3, 4, 5, 6}, factors[] = {1, 10, 100, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_session *session = NULL;
        const bool is_second = cases[i].is_second;
        net_start(12);
        uint32_t x = input("x", AMP_FLOAT, DIMS(AMP_DIM_UNKNOWN, 2, AMP_DIM_UNKNOWN));
        uint32_t w = constant("w", AMP_FLOAT, DIMS(2, 2), factors);
        uint32_t y = NODE("Einsum", "y", is_second ? w : x, is_second ? x : w);
        set_word(y, "equation", cases[i].equation);
        output(y);
        infer_all();
        assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
        for (int run = 0; run < 4; run++) {
            const struct amp_shape shape = run % 2 == 0 ? DIMS(1, 2, 3) : DIMS(3, 2, 1);
            amp_tensors_release(net.outputs, NET_OUTPUTS);
            assert_int_equal(amp_session_run(session, net_tensor(AMP_FLOAT, shape, numbers),
                                             net.outputs, &net.err),
                             AMP_OK);
            expect_doubles(0, cases[i].expected[run % 2], 6, 0);
        }
        amp_session_destroy(session);
    }
}

/* Products of as many factors as there may be, and of one more. */
static void equations_have_an_end(void **state)
{
    enum { MOST = 32 };
    char text[MOST + 4] = "";
    struct amp_tensor in[MOST + 1];
    uint32_t ids[MOST + 1];
    (void)state;
    for (size_t n = MOST; n <= MOST + 1; n++) {
        static const float two = 2;
        net_start(12);
        for (size_t i = 0; i < n; i++) {
            ids[i] = input(amp_arena_printf(net.arena, "x%zu", i), AMP_FLOAT, SCALAR);
            in[i] = *net_tensor(AMP_FLOAT, SCALAR, &two);
        }
        memset(text, ',', n - 1);
        memcpy(text + n - 1, "->", 3);
        uint32_t y = net_out(net_node(0, "Einsum", "y", 1, ids, n), 0);
        set_word(y, "equation", text);
        output(y);
        assert_true((net_run(true, in) == AMP_OK) == (n == MOST));
        if (n == MOST)
            expect_doubles(0, (double[]){0x1p32}, 1, 0);
        else
            assert_non_null(strstr(net.err.text, "33 inputs; at most 32 are supported"));
    }
}

static void equations_are_sums_of_products(void **state)
{
    enum { EQUATIONS = 400 };
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64};
    (void)state;
    for (uint32_t i = 0; i < EQUATIONS; i++) {
        draw_equation(i);
        run_equation(dtypes[i % 3]);
    }
}

/* ---- convolutions of bytes ---- */

/* A convolution of [2, CHANNELS, 3, 4] with filters of 2 x 2 taps, by the letters of its types. Y
   is 'z' for ConvInteger. */
struct byte_conv {
    char x, w, y;
    int64_t channels, filters, group;
    int x_zero, w_zero, y_zero;
    bool has_zero_each; /* filter M has the zero point w_zero + M */
    bool has_bias;
    int64_t pads[4];
};

enum { CONV_BATCH = 2, CONV_ROWS = 3, CONV_COLUMNS = 4, CONV_TAPS = 2 };

/* " u[2,3]=1,2,.." of COUNT numbers, some of which are the type's least and greatest, to TEXT and
   to NUMBERS. */
static char *put_bytes(char *text, char letter, const char *dims, int64_t count, int *numbers)
{
    const int low = letter == 'c' ? INT8_MIN : 0;
    text += sprintf(text, " %c[%s]", letter, dims);
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = low + (int)((i * 89 + i * i * 7 + count) % 256);
        text += sprintf(text, "%c%d", i == 0 ? '=' : ',', numbers[i]);
    }
    return text;
}

static int zero_of_filter(const struct byte_conv *conv, int64_t m)
{
    return conv->w_zero + (conv->has_zero_each ? (int)m : 0);
}

static char *put_zeros(char *text, const struct byte_conv *conv)
{
    if (!conv->has_zero_each)
        return text + sprintf(text, " %c[]=%d", conv->w, conv->w_zero);
    text += sprintf(text, " %c[%d]", conv->w, (int)conv->filters);
    for (int64_t m = 0; m < conv->filters; m++)
        text += sprintf(text, "%c%d", m == 0 ? '=' : ',', zero_of_filter(conv, m));
    return text;
}

/* Scales of filters are 1/64 and 1/128 in turns. */
static char *put_scales(char *text, const struct byte_conv *conv)
{
    text += sprintf(text, " f[%d]", (int)conv->filters);
    for (int64_t m = 0; m < conv->filters; m++)
        text += sprintf(text, "%c%s", m == 0 ? '=' : ',', m % 2 == 0 ? "0.015625" : "0.0078125");
    return text;
}

/* The line of a model, its image to X and its weights to W; bias M is 100 * M - 50. */
static void put_conv(char *text, const struct byte_conv *conv, int *x, int *w)
{
    char dims[64];
    const int64_t inner = conv->channels / conv->group;
    const bool is_integer = conv->y == 'z';
    text += sprintf(text, "%s", is_integer ? "ConvInteger-10" : "QLinearConv-10");
    snprintf(dims, sizeof dims, "%d,%d,%d,%d", CONV_BATCH, (int)conv->channels, CONV_ROWS,
             CONV_COLUMNS);
    text =
        put_bytes(text, conv->x, dims, CONV_BATCH * conv->channels * CONV_ROWS * CONV_COLUMNS, x);
    if (!is_integer)
        text += sprintf(text, " f[]=0.5 %c[]=%d", conv->x, conv->x_zero);
    snprintf(dims, sizeof dims, "%d,%d,%d,%d", (int)conv->filters, (int)inner, CONV_TAPS,
             CONV_TAPS);
    text = put_bytes(text, conv->w, dims, conv->filters * inner * CONV_TAPS * CONV_TAPS, w);
    if (is_integer)
        text += sprintf(text, " %c[]=%d", conv->x, conv->x_zero);
    else
        text = put_scales(text, conv);
    text = put_zeros(text, conv);
    if (!is_integer)
        text += sprintf(text, " f[]=4 %c[]=%d", conv->y, conv->y_zero);
    for (int64_t m = 0; m < conv->filters && conv->has_bias; m++)
        text += m == 0 ? sprintf(text, " j[%d]=-50", (int)conv->filters)
                       : sprintf(text, ",%d", (int)(100 * m - 50));
    sprintf(text, " group=%d pads=[%d,%d,%d,%d]", (int)conv->group, (int)conv->pads[0],
            (int)conv->pads[1], (int)conv->pads[2], (int)conv->pads[3]);
}

/* The sum of filter M at row R and column C of image B, what is padded being the zero point. */
static int64_t sum_at(const struct byte_conv *conv, const int *x, const int *w, const int64_t *at)
{
    const int64_t inner = conv->channels / conv->group, m = at[1];
    const int64_t first = m / (conv->filters / conv->group) * inner;
    int64_t sum = conv->has_bias ? 100 * m - 50 : 0;
    for (int64_t i = 0; i < inner * CONV_TAPS * CONV_TAPS; i++) {
        int64_t c = i / (CONV_TAPS * CONV_TAPS), row = at[2] + i / CONV_TAPS % CONV_TAPS;
        int64_t column = at[3] + i % CONV_TAPS - conv->pads[1];
        row -= conv->pads[0];
        if (row < 0 || row >= CONV_ROWS || column < 0 || column >= CONV_COLUMNS)
            continue;
        int64_t pixel = ((at[0] * conv->channels + first + c) * CONV_ROWS + row) * CONV_COLUMNS;
        sum += (int64_t)(x[pixel + column] - conv->x_zero) *
               (w[m * inner * CONV_TAPS * CONV_TAPS + i] - zero_of_filter(conv, m));
    }
    return sum;
}

/* SUM as output, by QLinearConv's definition. */
static double quantized(const struct byte_conv *conv, int64_t m, int64_t sum)
{
    const double low = conv->y == 'c' ? INT8_MIN : 0, high = low + UINT8_MAX;
    if (conv->y == 'z')
        return (double)sum;
    const double value =
        rint((double)sum * 0.5 * (m % 2 == 0 ? 1.0 / 64 : 1.0 / 128) / 4) + conv->y_zero;
    return fmin(fmax(value, low), high);
}

static void expect_conv(const struct byte_conv *conv, enum one_way way)
{
    static char line[1 << 14];
    static int x[1024], w[1024];
    const struct amp_tensor *found = &net.outputs[0];
    int64_t at[4] = {0};
    put_conv(line, conv, x, w);
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    one_node(line, way);
    /* oneDNN takes no zero points of weights: what has none is to have had none before. */
    if (run_after_others(conv->y == 'z' ? 3 : 5) != AMP_OK)
        fail_msg("%.200s: %s", line, net.err.text);
    assert_int_equal(found->shape.rank, 4);
    for (size_t i = 0; i < amp_tensor_count(found); i++) {
        double expected = quantized(conv, at[1], sum_at(conv, x, w, at));
        if (amp_tensor_double(found, i) != expected)
            fail_msg("%.200s ... (way %d): element %zu is %g; %g is expected", line, (int)way, i,
                     amp_tensor_double(found, i), expected);
        amp_index_next(4, found->shape.dims, at);
    }
}

/* Signed or not, with zero points at either end and between, for one or all filters, padded or not,
   with few channels and with many, in groups or in one. */
static void bytes_are_convolved_by_definition(void **state)
{
    static const struct {
        int64_t channels, filters, group;
    } sizes[] = {{1, 3, 1}, {4, 6, 2}, {3, 8, 1}, {8, 16, 1}, {16, 16, 2}, {4, 4, 4}};
    static const int64_t pads[][4] = {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {1, 1, 1, 1}};
    static const enum one_way ways[] = {ONE_GIVEN, ONE_WEIGHTS, ONE_CONSTANT};
    static const int zeros[] = {0, 3, 128};
    (void)state;
    for (int i = 0; i < 432; i++) {
        const bool is_x_signed = i % 2 != 0, is_w_signed = i / 2 % 3 != 0;
        const int x_zero = zeros[i / 6 % 3], kind = i % 5;
        struct byte_conv conv = {
            .x = is_x_signed ? 'c' : 'u',
            .w = is_w_signed ? 'c' : 'u',
            .y = "cuzuc"[kind],
            .channels = sizes[i / 18 % 6].channels,
            .filters = sizes[i / 18 % 6].filters,
            .group = sizes[i / 18 % 6].group,
            .x_zero = is_x_signed ? x_zero == 128 ? INT8_MIN : -x_zero : x_zero,
            .w_zero = i / 2 % 3 == 1 ? 0 : 2,
            .y_zero = i % 7 == 0 ? 0 : 5,
            .has_zero_each = i / 2 % 3 != 1 && i % 4 < 2,
            .has_bias = kind != 2 && i % 3 != 0,
        };
        memcpy(conv.pads, pads[i / 108], sizeof conv.pads);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            expect_conv(&conv, ways[k]);
    }
}

/* ---- sums of a product and C ---- */

struct gemm {
    enum amp_dtype dtype;
    int64_t m, k, n, c_rows, c_columns; /* C: 0 columns: none; 0 rows: without that dim */
    bool turns_a, turns_b;
    float alpha, beta;
};

static struct amp_tensor *some_numbers(enum amp_dtype dtype, struct amp_shape shape, int64_t factor)
{
    static const double zeros[1 << 10];
    struct amp_tensor *tensor = net_tensor(dtype, shape, zeros);
    tensor->data = amp_arena_alloc(net.arena, sizeof zeros);
    for (int64_t i = 0; i < (int64_t)amp_tensor_count(tensor); i++) {
        int64_t number = i * factor % 13 - 6;
        if (dtype == AMP_INT64)
            ((int64_t *)tensor->data)[i] = number;
        else if (dtype == AMP_INT32)
            ((int32_t *)tensor->data)[i] = (int32_t)number;
        else
            amp_tensor_set_double(tensor, (size_t)i, (double)number);
    }
    return tensor;
}

static double any_number(const struct amp_tensor *tensor, int64_t i)
{
    return amp_dtype_class(tensor->dtype) == AMP_CLASS_INT
               ? (double)amp_tensor_int(tensor, (size_t)i)
               : amp_tensor_double(tensor, (size_t)i);
}

static void expect_gemm(const struct gemm *g, const struct amp_tensor *in)
{
    for (int64_t i = 0; i < g->m * g->n; i++) {
        int64_t row = i / g->n, column = i % g->n;
        double sum = 0, c = 0;
        for (int64_t j = 0; j < g->k; j++)
            sum += any_number(&in[0], g->turns_a ? j * g->m + row : row * g->k + j) *
                   any_number(&in[1], g->turns_b ? column * g->k + j : j * g->n + column);
        if (g->c_columns > 0)
            c = any_number(&in[2], (g->c_rows > 1 ? row * g->c_columns : 0) +
                                       (g->c_columns > 1 ? column : 0));
        double right = (double)g->alpha * sum + (double)g->beta * c;
        if (amp_dtype_class(g->dtype) == AMP_CLASS_INT)
            right = trunc(right);
        if (any_number(&net.outputs[0], i) != right)
            fail_msg("%s, m %d, k %d, n %d, turned %d %d, %g and %g times C [%d, %d]: element %d "
                     "is %g; %g is right",
                     amp_dtype_name(g->dtype), (int)g->m, (int)g->k, (int)g->n, g->turns_a,
                     g->turns_b, (double)g->alpha, (double)g->beta, (int)g->c_rows,
                     (int)g->c_columns, (int)i, any_number(&net.outputs[0], i), right);
    }
}

static void run_gemm(const struct gemm *g)
{
    net_start(13);
    const struct amp_shape a = g->turns_a ? DIMS(g->k, g->m) : DIMS(g->m, g->k);
    const struct amp_shape b = g->turns_b ? DIMS(g->n, g->k) : DIMS(g->k, g->n);
    const struct amp_shape c = g->c_rows > 0 ? DIMS(g->c_rows, g->c_columns) : DIMS(g->c_columns);
    const struct amp_tensor in[] = {*some_numbers(g->dtype, a, 7), *some_numbers(g->dtype, b, 5),
                                    *some_numbers(g->dtype, c, 3)};
    const uint32_t ids[] = {input("a", g->dtype, a), input("b", g->dtype, b),
                            g->c_columns > 0 ? input("c", g->dtype, c) : AMP_NONE};
    uint32_t y = net_out(net_node(0, "Gemm", "y", 1, ids, g->c_columns > 0 ? 3 : 2), 0);
    set_int(y, "transA", g->turns_a);
    set_int(y, "transB", g->turns_b);
    set_number(y, "alpha", g->alpha);
    set_number(y, "beta", g->beta);
    output(y);
    run_on(in);
    expect_gemm(g, in);
}

/* Around the columns that are summed at a time, with C of all shapes. */
static void sums_are_added_to_what_is_given(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_DOUBLE, AMP_INT64, AMP_INT32};
    static const int64_t sizes[][3] = {{1, 4, 3},   {1, 3, 65}, {3, 2, 64},
                                       {2, 5, 129}, {6, 1, 1},  {20, 3, 17}};
    static const float factors[][2] = {{1, 1}, {2, 1}, {1, 0.5f}, {0.5f, -2}};
    enum { SIZES = 6, FACTORS = 4, SHAPES = 6, TURNS = 4 };
    (void)state;
    for (int i = 0; i < 4 * SIZES * FACTORS * SHAPES * TURNS; i++) {
        const int of_factors = i / 4 % FACTORS, shape = i / 4 / FACTORS % SHAPES;
        const int turns = i / 4 / FACTORS / SHAPES % TURNS;
        const int64_t *size = sizes[i / 4 / FACTORS / SHAPES / TURNS];
        const int64_t rows[SHAPES] = {0, 0, 0, 1, size[0], size[0]};
        const int64_t columns[SHAPES] = {0, 1, size[2], size[2], 1, size[2]};
        run_gemm(&(struct gemm){.dtype = dtypes[i % 4],
                                .m = size[0],
                                .k = size[1],
                                .n = size[2],
                                .c_rows = rows[shape],
                                .c_columns = columns[shape],
                                .turns_a = turns & 1,
                                .turns_b = turns & 2,
                                .alpha = factors[of_factors][0],
                                .beta = factors[of_factors][1]});
    }
}

/* ---- attention ---- */

/* A query of 0 finds all keys alike: its output is the mean of the values that it sees. What is
   turned is turned by nothing or a quarter. */
static void queries_see_what_they_may(void **state)
{
    static const struct values_case cases[] = {
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0, GIVES(7, 7, 7)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 is_causal=1", 0,
         GIVES(3, 4.5, 7)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 b[1,3]=1,0,1", 0,
         GIVES(7.5, 7.5, 7.5)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 "
         "f[3,3]=0,-inf,-inf,0,0,-inf,-inf,0,0",
         0, GIVES(3, 4.5, 9)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[3,1]=1,2,3", 0,
         GIVES(7, 7, 7)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[1,1,1,3]=0,0,-inf "
         "is_causal=1",
         0, GIVES(3, 4.5, 4.5)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[]=5", 0, GIVES(7, 7, 7)},
        {"Attention-23 f[2,1,1,1]=0,0 f[2,1,2,1] f[2,1,2,1]=1,2,4,8 b[2,1,1,2]=1,0,0,1", 0,
         GIVES(1, 8)},
        {"Attention-23 f[1,2,1,1]=0,0 f[1,2,2,1] f[1,2,2,1]=1,2,4,8 b[2,1,2]=1,0,0,1", 0,
         GIVES(1, 8)},
        {"Attention-23 f[1,2,1,1]=0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0, GIVES(7, 7)},
        {"Attention-23 f[1,4,1,1]=0,0,0,0 f[1,2,2,1] f[1,2,2,1]=1,2,4,8", 0, GIVES(1.5, 1.5, 6, 6)},
        {"Attention-23 f[1,1,2]=0,0 f[1,3,2] f[1,3,2]=3,1,6,1,12,4 q_num_heads=2 kv_num_heads=2", 0,
         GIVES(7, 2)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 >3",
         0, GIVES(11.25, 11.25)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 is_causal=1 >3",
         0, GIVES(7, 11.25)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 >3",
         1, GIVES(2, 2, 1, 1)},
        {"Attention-23 f[1,1,2,1]=0,0 f[1,1,2,1]=1,1 f[1,1,2,1]=12,24 _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 >3",
         2, GIVES(3, 6, 12, 24)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 f[3,2]=0,0,0,0,0,0", 0,
         GIVES(4.5, 4.5, 4.5)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 b[1,1]=1", 0, GIVES(3, 3, 3)},
        {"Attention-23 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 b[1,1]=1", 0, GIVES(7, 7, 7)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=2", 0,
         GIVES(4.5, 4.5, 4.5)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=9", 0,
         GIVES(7, 7, 7)},
        {"Attention-24 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=1", 0,
         GIVES(3, 3, 3)},
        {"Attention-24 f[1,1,1,1]=0 f[1,1,3,1] f[1,1,3,1]=3,6,12 _ _ _ i[1]=2 is_causal=1", 0,
         GIVES(4.5)},
        {"Attention-24 f[2,1,1,1]=0,0 f[2,1,2,1] f[2,1,2,1]=3,6,12,24 _ _ _ i[2]=1,2", 0,
         GIVES(3, 18)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=1", 0,
         GIVES(7, 7, 9)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 right_window_size=0", 0,
         GIVES(3, 4.5, 7)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=0 "
         "right_window_size=1",
         0, GIVES(4.5, 9, 12)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=1 "
         "right_window_size=1 is_causal=1",
         0, GIVES(3, 4.5, 9)},
        {"Attention-25 f[1,1,3,1]=0,0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12 left_window_size=9 "
         "right_window_size=9",
         0, GIVES(7, 7, 7)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 f[1,2]=1,-1 >4", 3, GIVES(2, 6)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 f[1,2]=1,-1 >4 "
         "qk_matmul_output_mode=0",
         3, GIVES(2, 6)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 f[1,2]=1,-1 >4 "
         "qk_matmul_output_mode=2",
         3, GIVES(3, 5)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 f[1,2]=1,-1 >4 scale=4.0", 3,
         GIVES(8, 24)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 f[1,2]=1,-1 >4 scale=4.0 "
         "qk_matmul_output_mode=2",
         3, GIVES(9, 23)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 softcap=2.0 >4", 3, GIVES(2, 6)},
        {"Attention-23 f[1,1,1,1]=2 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 softcap=2.0 "
         "qk_matmul_output_mode=1 >4",
         3, GIVES(1.5231883119115297, 1.990109507373)},
        {"Attention-23 f[1,1,1,1]=0 f[1,1,2,1]=1,3 f[1,1,2,1]=3,6 qk_matmul_output_mode=3 >4", 3,
         GIVES(0.5, 0.5)},
        {"RotaryEmbedding-23 f[1,1,1,4]=1,2,3,4 f[1,1,2]=0,1 f[1,1,2]=1,0", 0, GIVES(-3, 2, 1, 4)},
        {"RotaryEmbedding-23 f[1,1,1,4]=1,2,3,4 f[1,1,2]=0,1 f[1,1,2]=1,0 interleaved=1", 0,
         GIVES(-2, 1, 3, 4)},
        {"RotaryEmbedding-23 f[1,1,1,4]=1,2,3,4 f[1,1,1]=0 f[1,1,1]=1 rotary_embedding_dim=2", 0,
         GIVES(-2, 1, 3, 4)},
        {"RotaryEmbedding-23 f[1,1,1,2]=1,2 f[2,1]=1,0 f[2,1]=0,1 i[1,1]=1", 0, GIVES(-2, 1)},
        {"RotaryEmbedding-23 f[1,1,4]=1,2,3,4 f[1,1,1]=0 f[1,1,1]=1 num_heads=2", 0,
         GIVES(-2, 1, -4, 3)},
        {"RotaryEmbedding-23 f[1,1,2,2]=1,2,3,4 f[1,2,1]=1,0 f[1,2,1]=0,1", 0, GIVES(1, 2, -4, 3)},
        {"com.microsoft.RotaryEmbedding-1 f[1,1,2,2]=1,2,3,4 i[1]=1 f[3,1]=1,0,1 f[3,1]=0,1,0", 0,
         GIVES(-2, 1, 3, 4)},
        {"com.microsoft.RotaryEmbedding-1 f[1,1,2,2]=1,2,3,4 i[1,2]=1,1 f[3,1]=1,0,1 f[3,1]=0,1,0",
         0, GIVES(-2, 1, -4, 3)},
        {"com.microsoft.RotaryEmbedding-1 f[2,1,1,2]=1,2,3,4 i[1]=1 f[3,1]=1,0,1 f[3,1]=0,1,0", 0,
         GIVES(-2, 1, -4, 3)},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,2]=1,2,3,4 i[1]=0 f[3,1]=1,0,1 f[3,1]=0,1,0", 0,
         GIVES(1, 2, -4, 3)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=3,6 _ _ j[1]=1 j[]=2 "
         "num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,3]=0,1,3,0,1,6 _ _ _ _ j[1]=1 j[]=2 "
         "num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,3]=0,1,3,0,1,6 _ _ _ _ j[1]=1 j[]=2 "
         "num_heads=1 kv_num_heads=1 >3",
         2, GIVES(3, 6)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=6,12 f[1,1,1,1]=2 "
         "f[1,1,1,1]=3 j[1]=2 j[]=3 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(4.5, 7)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=6,12 f[1,1,1,1]=2 "
         "f[1,1,1,1]=3 j[1]=2 j[]=3 num_heads=1 kv_num_heads=1 >3",
         1, GIVES(2, 1, 1)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,1]=0,0 f[1,2,1] f[1,2,1]=6,12 f[1,1,1,1]=2 "
         "f[1,1,1,1]=3 j[1]=2 j[]=3 num_heads=1 kv_num_heads=1 >3",
         2, GIVES(3, 6, 12)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=6 f[1,1,2,1] "
         "f[1,1,2,1]=3,99 j[1]=1 j[]=3 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=6 f[1,1,2,1] "
         "f[1,1,2,1]=3,99 j[1]=1 j[]=3 num_heads=1 kv_num_heads=1 >3",
         2, GIVES(3, 6, 0)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,2]=0,0 f[1,1,1] f[1,1,1]=6 f[1,1,1,1] "
         "f[1,1,1,1]=3 j[1]=1 j[]=2 num_heads=2 kv_num_heads=1 >3",
         0, GIVES(4.5, 4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2]=1,2,3,4 f[1,2,2]=3,30,6,60 "
         "_ _ j[1]=1 j[]=2 num_heads=2 kv_num_heads=2 >3",
         0, GIVES(3, 30, 4.5, 45)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2]=1,2,3,4 f[1,2,2]=3,30,6,60 "
         "_ _ j[1]=1 j[]=2 num_heads=2 kv_num_heads=2 >3",
         1, GIVES(1, 3, 2, 4)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2]=1,2,3,4 f[1,2,2]=3,30,6,60 "
         "_ _ j[1]=1 j[]=2 num_heads=2 kv_num_heads=2 >3",
         2, GIVES(3, 6, 30, 60)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2]=1,2,3,4 f[1,2,2]=3,30,6,60 "
         "f[1,2,2,1]=5,6,7,8 f[1,2,2,1]=9,12,90,120 j[1]=3 j[]=4 num_heads=2 kv_num_heads=2 >3",
         0, GIVES(8, 80, 7.5, 75)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2]=1,2,3,4 f[1,2,2]=3,30,6,60 "
         "f[1,2,2,1]=5,6,7,8 f[1,2,2,1]=9,12,90,120 j[1]=3 j[]=4 num_heads=2 kv_num_heads=2 >3",
         1, GIVES(5, 6, 1, 3, 7, 8, 2, 4)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2]=1,2,3,4 f[1,2,2]=3,30,6,60 "
         "f[1,2,2,1]=5,6,7,8 f[1,2,2,1]=9,12,90,120 j[1]=3 j[]=4 num_heads=2 kv_num_heads=2 >3",
         2, GIVES(9, 12, 3, 6, 90, 120, 30, 60)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,4]=0,0,0,0,0,0,0,0 f[1,2,2] f[1,2,2]=3,30,6,60 "
         "_ _ j[1]=1 j[]=2 num_heads=4 kv_num_heads=2 >3",
         0, GIVES(3, 3, 30, 30, 4.5, 4.5, 45, 45)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=100,100,100,100 f[1,2,2]=1,0,0,1 "
         "f[1,2,2]=3,30,6,60 _ _ j[1]=1 j[]=2 num_heads=2 kv_num_heads=2 >3",
         0, GIVES(3, 30, 3, 60)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,6]=100,100,1,0,3,30,100,100,0,1,6,60 _ _ _ _ "
         "j[1]=1 j[]=2 num_heads=2 kv_num_heads=2 >3",
         0, GIVES(3, 30, 3, 60)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,4]=0,0,0,0,0,0,0,0 f[1,2,4]=1,2,3,4,5,6,7,8 "
         "f[1,2,4]=3,1,30,10,6,2,60,20 _ _ j[1]=1 j[]=2 f[2,1]=1,1 f[2,1]=0,0 num_heads=2 "
         "kv_num_heads=2 do_rotary=1 >3",
         0, GIVES(3, 1, 30, 10, 4.5, 1.5, 45, 15)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,4]=0,0,0,0,0,0,0,0 f[1,2,4]=1,2,3,4,5,6,7,8 "
         "f[1,2,4]=3,1,30,10,6,2,60,20 _ _ j[1]=1 j[]=2 f[2,1]=1,1 f[2,1]=0,0 num_heads=2 "
         "kv_num_heads=2 do_rotary=1 >3",
         1, GIVES(1, 2, 5, 6, 3, 4, 7, 8)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,4]=0,0,0,0,0,0,0,0 f[1,2,4]=1,2,3,4,5,6,7,8 "
         "f[1,2,4]=3,1,30,10,6,2,60,20 _ _ j[1]=1 j[]=2 f[2,1]=1,0 f[2,1]=0,1 num_heads=2 "
         "kv_num_heads=2 do_rotary=1 >3",
         1, GIVES(1, 2, -6, 5, 3, 4, -8, 7)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,4]=0,0,0,0,0,0,0,0 f[1,2,4]=1,2,3,4,5,6,7,8 "
         "f[1,2,4]=3,1,30,10,6,2,60,20 _ _ j[1]=1 j[]=2 f[2,1]=1,0 f[2,1]=0,1 num_heads=2 "
         "kv_num_heads=2 do_rotary=1 >3",
         2, GIVES(3, 1, 6, 2, 30, 10, 60, 20)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,4]=99,0,0,99,99,0,0,99 "
         "f[1,2,4]=1,0,0,1,0,0,0,0 f[1,2,4]=3,1,30,10,6,2,60,20 _ _ j[1]=1 j[]=2 f[2,1]=1,1 "
         "f[2,1]=0,0 num_heads=2 kv_num_heads=2 do_rotary=1 >3",
         0, GIVES(3, 1, 30, 10, 3, 1, 30, 10)},
        {"com.microsoft.MultiHeadAttention-1 f[1,2,2]=100,100,100,100 f[1,2,2]=1,0,0,1 "
         "f[1,2,2]=3,30,6,60 num_heads=2",
         0, GIVES(3, 60, 3, 60)},
        {"com.microsoft.MultiHeadAttention-1 f[1,2,2,3,1]=100,1,3,100,0,30,100,0,6,100,1,60 "
         "num_heads=2",
         0, GIVES(3, 60, 3, 60)},
        {"Attention-23 f[1,2,2]=100,100,100,100 f[1,2,2]=1,0,0,1 f[1,2,2]=3,30,6,60 q_num_heads=2 "
         "kv_num_heads=2",
         0, GIVES(3, 60, 3, 60)},
        {"Attention-23 f[1,2,2,1]=100,100,100,100 f[1,2,2,1]=1,0,0,1 f[1,2,2,1]=3,6,30,60", 0,
         GIVES(3, 3, 60, 60)},
        {"Attention-23 f[1,4,1,1]=100,100,100,-100 f[1,2,2,1]=1,0,0,1 f[1,2,2,1]=3,6,30,60", 0,
         GIVES(3, 3, 60, 30)},
        {"ai.onnx.preview.FlexAttention-1 f[1,2,2,1]=100,100,100,100 f[1,2,2,1]=1,0,0,1 "
         "f[1,2,2,1]=3,6,30,60",
         0, GIVES(3, 3, 60, 60)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 num_heads=1",
         0, GIVES(7, 7, 7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 num_heads=1 "
         "unidirectional=1",
         0, GIVES(3, 4.5, 7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 f[3]=0,0,1 "
         "num_heads=1",
         0, GIVES(8, 8, 8)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ "
         "j[1,3]=1,0,1 num_heads=1",
         0, GIVES(7.5, 7.5, 7.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ j[1]=2 "
         "num_heads=1",
         0, GIVES(4.5, 4.5, 4.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ j[2]=3,1 "
         "num_heads=1",
         0, GIVES(9, 9, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ "
         "j[1,3,3]=1,0,0,1,1,0,0,1,1 num_heads=1",
         0, GIVES(3, 4.5, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,1]=0,0,0 f[1,3,1] f[1,3,1]=3,6,12 _ _ "
         "f[1,1,3,3]=0,-inf,-inf,0,0,-inf,-inf,0,0 num_heads=1",
         0, GIVES(3, 4.5, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=100 f[1,3,1]=0,100,0 f[1,3,1]=3,6,12 _ "
         "j[1,3]=1,0,1 num_heads=1",
         0, GIVES(7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=100 f[1,3,1]=0,100,0 f[1,3,1]=3,6,12 _ "
         "j[1,3]=1,0,1 mask_filter_value=-20000.0 num_heads=1",
         0, GIVES(7.5)},
        {"com.microsoft.MultiHeadAttention-1 f[2,1,1]=0,0 f[2,2,1] f[2,2,1]=3,6,12,24 _ j[2]=1,2 "
         "num_heads=1",
         0, GIVES(3, 18)},
        {"com.microsoft.MultiHeadAttention-1 f[2,1,1]=0,0 f[2,2,1] f[2,2,1]=3,6,12,24 _ "
         "j[4]=2,2,1,0 num_heads=1",
         0, GIVES(6, 18)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=12 _ _ _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 num_heads=1 >3",
         0, GIVES(7)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=12 _ _ _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 num_heads=1 >3",
         1, GIVES(2, 2, 1)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,1]=0 f[1,1,1] f[1,1,1]=12 _ _ _ f[1,1,2,1]=2,2 "
         "f[1,1,2,1]=3,6 num_heads=1 >3",
         2, GIVES(3, 6, 12)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,2,2,2,1]=1,3,1,4,1,6,1,8 num_heads=2",
         0, GIVES(4.5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,2,1,3,1]=0,1,3,0,1,6 num_heads=1", 0,
         GIVES(4.5, 4.5)},
        {"com.microsoft.Attention-1 f[1,2,1]=3,6 f[1,3]=0,0,1 f[3]=0,0,1 num_heads=1", 0,
         GIVES(5.5, 5.5)},
        {"com.microsoft.Attention-1 f[1,2,1]=3,6 f[1,3]=0,0,1 f[3]=0,0,1 num_heads=1 "
         "unidirectional=1",
         0, GIVES(4, 5.5)},
        {"com.microsoft.Attention-1 f[1,1,1]=12 f[1,3]=0,1,1 f[3]=0,0,0 _ f[2,1,1,2,1]=1,2,3,6 "
         "num_heads=1 >2",
         0, GIVES(7)},
        {"com.microsoft.Attention-1 f[1,1,1]=12 f[1,3]=0,1,1 f[3]=0,0,0 _ f[2,1,1,2,1]=1,2,3,6 "
         "num_heads=1 >2",
         1, GIVES(1, 2, 12, 3, 6, 12)},
        {"ai.onnx.preview.FlexAttention-1 f[1,1,2,1]=0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0,
         GIVES(7, 7)},
        {"ai.onnx.preview.FlexAttention-1 f[1,2,1,1]=0,0 f[1,1,3,1] f[1,1,3,1]=3,6,12", 0,
         GIVES(7, 7)},
        {"ai.onnx.preview.FlexAttention-1 d[1,1,1,1]=0 d[1,1,2,1] d[1,1,2,1]=3,6", 0, GIVES(4.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,2]=0,0,0,0 f[1,2,2] f[1,2,2]=3,1,6,2 _ _ "
         "j[1]=1 j[]=2 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 1, 4.5, 1.5)},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,6]=0,0,1,1,3,1,0,0,1,1,6,2 _ _ _ _ j[1]=1 "
         "j[]=2 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(3, 1, 4.5, 1.5)},
        {"com.microsoft.GroupQueryAttention-1 f[2,1,2]=0,0,0,0 f[2,1,2] f[2,1,2]=3,1,6,2 "
         "f[2,1,1,2] f[2,1,1,2]=9,3,12,4 j[2]=1,1 j[]=2 num_heads=1 kv_num_heads=1 >3",
         0, GIVES(6, 2, 9, 3)},
        {"com.microsoft.GroupQueryAttention-1 f[2,1,2]=0,0,0,0 f[2,1,2] f[2,1,2]=3,1,6,2 "
         "f[2,1,1,2] f[2,1,1,2]=9,3,12,4 j[2]=1,1 j[]=2 num_heads=1 kv_num_heads=1 >3",
         2, GIVES(9, 3, 3, 1, 12, 4, 6, 2)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,4]=0,0,0,0 f[1,1,2] f[1,1,2]=3,1 _ _ j[1]=0 "
         "j[]=1 num_heads=2 kv_num_heads=1 >3",
         0, GIVES(3, 1, 3, 1)},
        {"com.microsoft.GroupQueryAttention-1 f[1,1,6]=0,0,0,0,0,0 f[1,1,6] f[1,1,6]=1,2,3,4,5,6 _ "
         "_ j[1]=0 j[]=1 num_heads=3 kv_num_heads=3 >3",
         0, GIVES(1, 2, 3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,2,2] f[1,2,2]=3,1,6,2 num_heads=1", 0,
         GIVES(4.5, 1.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,2,1,2,2]=1,1,3,1,1,1,6,2 num_heads=1",
         0, GIVES(4.5, 1.5)},
        {"com.microsoft.MultiHeadAttention-1 f[1,2,1,3,2]=0,0,1,1,3,1,0,0,1,1,6,2 num_heads=1", 0,
         GIVES(4.5, 1.5, 4.5, 1.5)},
        {"com.microsoft.MultiHeadAttention-1 f[2,1,2,3,1]=0,1,3,0,1,5,0,1,7,0,1,9 num_heads=2", 0,
         GIVES(3, 5, 7, 9)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,2,4] f[1,2,4]=1,2,3,4,5,6,7,8 "
         "num_heads=2",
         0, GIVES(3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,2,2,2] "
         "f[1,2,2,2]=1,2,5,6,3,4,7,8 num_heads=2",
         0, GIVES(3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ _ _ "
         "f[1,2,1,2] f[1,2,1,2]=1,2,3,4 num_heads=2 >3",
         0, GIVES(3, 4, 5, 6)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ _ _ "
         "f[1,2,1,2] f[1,2,1,2]=1,2,3,4 num_heads=2 >3",
         2, GIVES(1, 2, 5, 6, 3, 4, 7, 8)},
        {"com.microsoft.MultiHeadAttention-1 f[1,1,2]=0,0 f[1,1,2] f[1,1,2]=1,2 f[6]=0,0,0,0,10,20 "
         "num_heads=2",
         0, GIVES(11, 22)},
        {"com.microsoft.Attention-1 f[1,2,2]=3,1,6,2 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 "
         "f[6]=0,0,0,0,10,20 num_heads=1",
         0, GIVES(14.5, 21.5, 14.5, 21.5)},
        {"com.microsoft.Attention-1 f[1,2,2]=3,1,6,2 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 "
         "f[6]=0,0,0,0,10,20 num_heads=2",
         0, GIVES(14.5, 21.5, 14.5, 21.5)},
        {"com.microsoft.Attention-1 f[1,1,2]=3,1 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 f[6]=0,0,0,0,10,20 "
         "_ f[2,1,2,1,1]=1,2,7,9 num_heads=2 >2",
         0, GIVES(10, 15)},
        {"com.microsoft.Attention-1 f[1,1,2]=3,1 f[2,6]=0,0,0,0,1,0,0,0,0,0,0,1 f[6]=0,0,0,0,10,20 "
         "_ f[2,1,2,1,1]=1,2,7,9 num_heads=2 >2",
         1, GIVES(1, 0, 2, 0, 7, 13, 9, 21)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,2,4] f[1,2,4]=1,2,3,4,5,6,7,8 q_num_heads=2 "
         "kv_num_heads=2",
         0, GIVES(3, 4, 5, 6)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,2,2] f[1,2,2]=1,2,5,6 q_num_heads=2 kv_num_heads=1", 0,
         GIVES(3, 4, 3, 4)},
        {"Attention-23 f[2,1,1,2]=0,0,0,0 f[2,1,2,2] f[2,1,2,2]=1,2,5,6,11,12,15,16", 0,
         GIVES(3, 4, 13, 14)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ f[1,2,1,2] f[1,2,1,2]=1,2,3,4 "
         "q_num_heads=2 kv_num_heads=2 >3",
         0, GIVES(3, 4, 5, 6)},
        {"Attention-23 f[1,1,4]=0,0,0,0 f[1,1,4] f[1,1,4]=5,6,7,8 _ f[1,2,1,2] f[1,2,1,2]=1,2,3,4 "
         "q_num_heads=2 kv_num_heads=2 >3",
         2, GIVES(1, 2, 5, 6, 3, 4, 7, 8)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- norms ---- */

/* Rows whose means and deviations are whole; 1 / sqrt(1e-5) shows the default epsilon. */
static void rows_are_normalized(void **state)
{
    static const struct values_case cases[] = {
        {"BatchNormalization-15 f[1,2,2]=1,2,3,4 f[2]=2,3 f[2]=10,20 f[2]=1,3 f[2]=3,8 epsilon=1.0",
         0, GIVES(10, 11, 20, 21)},
        {"BatchNormalization-15 f[1,1,1]=1 f[1]=1 f[1]=0 f[1]=0 f[1]=0", 0, GIVES(316.2277699)},
        {"BatchNormalization-15 d[1,2,2]=1,2,3,4 d[2]=2,3 d[2]=10,20 d[2]=1,3 d[2]=3,8 epsilon=1.0",
         0, GIVES(10, 11, 20, 21)},
        {"BatchNormalization-15 d[1,1,1]=1 d[1]=1 d[1]=0 d[1]=0 d[1]=0", 0, GIVES(316.2277699)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 momentum=0.5 >3",
         0, GIVES(-1, 1)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 momentum=0.5 >3",
         1, GIVES(6)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 momentum=0.5 >3",
         2, GIVES(10.5)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 >3",
         1, GIVES(9.2)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0 >3",
         2, GIVES(18.1)},
        {"BatchNormalization-15 f[3]=1,2,3 f[1]=2 f[1] f[1] f[1] epsilon=0.0", 0, GIVES(1, 3, 5)},
        {"BatchNormalization-9 f[3]=1,2,3 f[1]=2 f[1] f[1] f[1] epsilon=0.0", 0, GIVES(1, 3, 5)},
        {"BatchNormalization-14 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0",
         0, GIVES(-1, 1)},
        {"BatchNormalization-15 f[2,1]=1,3 f[1]=1 f[1]=0 f[1]=10 f[1]=20 training_mode=1 "
         "epsilon=0.0",
         0, GIVES(-1, 1)},
        {"BatchNormalization-7 f[1,2,2]=1,2,3,4 f[2,2]=1,2,3,4 f[2,2]=0,0,0,1 f[2,2]=0,1,1,2 "
         "f[2,2] spatial=0 epsilon=0.0",
         0, GIVES(1, 2, 6, 9)},
        {"InstanceNormalization-6 f[1,2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0", 0,
         GIVES(8, 12, 17, 23)},
        {"InstanceNormalization-6 d[1,2,2]=1,3,2,6 d[2]=2,3 d[2]=10,20 epsilon=0.0", 0,
         GIVES(8, 12, 17, 23)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0 >3", 0,
         GIVES(8, 23, 8, 23)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0 >3", 1, GIVES(2, 4)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 f[2]=10,20 epsilon=0.0 >3", 2,
         GIVES(1, 0.5)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2]=2,3 epsilon=0.0", 0, GIVES(-2, 3, -2, 3)},
        {"LayerNormalization-17 f[2,2]=1,3,1,3 f[2,2]=1,2,3,4 axis=0 epsilon=0.0", 0,
         GIVES(-1, 2, -3, 4)},
        {"LayerNormalization-17 f[2,2]=1,3,2,6 f[2,1]=2,3 epsilon=0.0", 0, GIVES(-2, 2, -3, 3)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >2", 0,
         GIVES(-1, -1, 1, 1, -1, -1, 1, 1)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >2", 1, GIVES(2, 4)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >3", 0,
         GIVES(-1, -1, 1, 1, -1, -1, 1, 1)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >3", 1, GIVES(2, 4)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >3", 2, GIVES(1, 0.25)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >3 ~1", 0,
         GIVES(-1, -1, 1, 1, -1, -1, 1, 1)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 >3 ~1", 1, GIVES(1, 0.25)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >2", 0,
         GIVES(-1, -1, 1, 1, -1, -1, 1, 1)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >2", 1,
         GIVES(2, 4)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >3", 0,
         GIVES(-1, -1, 1, 1, -1, -1, 1, 1)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >3", 1,
         GIVES(2, 4)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >3", 2,
         GIVES(1, 0.25)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >3 ~1", 0,
         GIVES(-1, -1, 1, 1, -1, -1, 1, 1)},
        {"LayerNormalization-17 f[2,4]=1,1,3,3,0,0,8,8 f[4] epsilon=0.0 stash_type=16 >3 ~1", 1,
         GIVES(1, 0.25)},
        {"LayerNormalization-17 d[2,4]=1,1,3,3,0,0,8,8 d[4] d[2,4]=1,2,3,4,5,6,7,8 epsilon=0.0", 0,
         GIVES(0, 1, 4, 5, 4, 5, 8, 9)},
        {"LayerNormalization-17 d[2,4]=1,1,3,3,0,0,8,8 d[2,4]=1,2,3,4,5,6,7,8 d[4] epsilon=0.0", 0,
         GIVES(0, -1, 4, 5, -4, -5, 8, 9)},
        {"LayerNormalization-17 h[2,4]=1,1,3,3,0,0,8,8 h[4]=1,2,3,4 h[4]=4,3,2,1 epsilon=0.0", 0,
         GIVES(3, 1, 5, 5, 3, 1, 5, 5)},
        {"LayerNormalization-17 h[2,4]=1,1,3,3,0,0,8,8 h[4]=1,2,3,4 h[4]=4,3,2,1 epsilon=0.0 "
         "stash_type=16 >2",
         0, GIVES(3, 1, 5, 5, 3, 1, 5, 5)},
        {"LayerNormalization-17 h[2,4]=1,1,3,3,0,0,8,8 h[4]=1,2,3,4 h[4]=4,3,2,1 epsilon=0.0 "
         "stash_type=16 >3",
         0, GIVES(3, 1, 5, 5, 3, 1, 5, 5)},
        {"LayerNormalization-17 h[2,4]=1,1,3,3,0,0,8,8 h[4]=1,2,3,4 epsilon=0.0 stash_type=16 >3",
         0, GIVES(-1, -2, 3, 4, -1, -2, 3, 4)},
        {"LayerNormalization-17 h[2,4]=1,1,3,3,0,0,8,8 h[4]=1,2,3,4 epsilon=0.0 stash_type=16 >3",
         2, GIVES(1, 0.25)},
        {"RMSNormalization-23 h[1,2]=1,7 h[2]=10,5 epsilon=0.0", 0, GIVES(2, 7)},
        {"RMSNormalization-23 f[1,2]=1,7 f[2]=2,3 epsilon=0.0", 0, GIVES(0.4, 4.2)},
        {"SimplifiedLayerNormalization-1 f[2,2]=1,7,2,14 f[2]=2,3 epsilon=0.0 >2", 0,
         GIVES(0.4, 4.2, 0.4, 4.2)},
        {"SimplifiedLayerNormalization-1 f[2,2]=1,7,2,14 f[2]=2,3 epsilon=0.0 >2", 1,
         GIVES(0.2, 0.1)},
        {"SimplifiedLayerNormalization-1 f[1,2]=0,0 f[2]=2,3 >2", 1, GIVES(316.22776601683796)},
        {"GroupNormalization-21 f[1,4,1]=1,3,2,6 f[4]=1,2,3,4 f[4]=10,20,30,40 num_groups=2 "
         "epsilon=0.0",
         0, GIVES(9, 22, 27, 44)},
        {"GroupNormalization-18 f[1,4,1]=1,3,2,6 f[2]=1,2 f[2]=10,20 num_groups=2 epsilon=0.0", 0,
         GIVES(9, 11, 18, 22)},
        {"LpNormalization-1 f[1,2]=3,4", 0, GIVES(0.6, 0.8)},
        {"LpNormalization-1 f[1,2]=1,-3 p=1", 0, GIVES(0.25, -0.75)},
        {"LpNormalization-1 f[2,2]=3,0,4,1 axis=0", 0, GIVES(0.6, 0, 0.8, 1)},
        {"MeanVarianceNormalization-13 f[1,2,1,2]=1,3,2,6", 0, GIVES(-1, 1, -1, 1)},
        {"MeanVarianceNormalization-13 f[1,2,1,2]=1,2,3,6 axes=[1]", 0, GIVES(-1, -1, 1, 1)},
        {"Softmax-13 f[2,2]=0,0,1,1", 0, GIVES(0.5, 0.5, 0.5, 0.5)},
        {"Softmax-13 f[1,3]=-9,-inf,-9", 0, GIVES(0.5, 0, 0.5)},
        {"Softmax-13 f[2,2]=0,-inf,0,5 axis=0", 0, GIVES(0.5, 0, 0.5, 1)},
        {"Softmax-11 f[1,2,2]=7,7,7,7", 0, GIVES(0.25, 0.25, 0.25, 0.25)},
        {"Hardmax-13 f[2,2]=-1,-2,-2,-1", 0, GIVES(1, 0, 0, 1)},
        {"LRN-13 f[1,3,1]=1,1,1 size=3 alpha=1.0 beta=1.0 bias=1.0", 0, GIVES(0.6, 0.5, 0.6)},
        {"Softmax-13 d[2,2]=0,0,1,1", 0, GIVES(0.5, 0.5, 0.5, 0.5)},
        {"Softmax-13 d[1,3]=-9,-inf,-9", 0, GIVES(0.5, 0, 0.5)},
        {"Softmax-13 d[2,2]=0,-inf,0,5 axis=0", 0, GIVES(0.5, 0, 0.5, 1)},
        {"Softmax-11 d[1,2,2]=7,7,7,7", 0, GIVES(0.25, 0.25, 0.25, 0.25)},
        {"LogSoftmax-13 d[1,2]=-5,-5", 0, GIVES(-0.69314718, -0.69314718)},
        {"Hardmax-13 d[2,2]=-1,-2,-2,-1", 0, GIVES(1, 0, 0, 1)},
        {"LRN-13 d[1,3,1]=1,1,1 size=3 alpha=1.0 beta=1.0 bias=1.0", 0, GIVES(0.6, 0.5, 0.6)},
        {"LRN-13 d[1,1,1]=100 size=1", 0, GIVES(59.4603558)},
        {"LRN-13 f[1,4,1]=1,1,1,1 size=2 alpha=1.0 beta=1.0 bias=1.0", 0,
         GIVES(0.5, 0.5, 0.5, 2.0 / 3)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "epsilon=0.0",
         0, GIVES(8, 23)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0",
         0, GIVES(8, 23)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0 >4",
         3, GIVES(1, 5)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 _ f[2]=0,2 "
         "epsilon=0.0",
         0, GIVES(-2, 3)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 epsilon=0.0", 0,
         GIVES(-2, 3)},
        {"com.microsoft.SkipSimplifiedLayerNormalization-1 f[1,1,2]=1,3 f[1,1,2]=0,4 f[2]=2,3 "
         "epsilon=0.0",
         0, GIVES(0.4, 4.2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 "
         "f[2,2]=7,1,0,0 f[2]=2,3 f[2]=10,20 _ _ epsilon=0.0 >3",
         2, GIVES(10, 7, 8, 3)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 _ epsilon=0.0 >2",
         0, GIVES(8, 23, 8, 23)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,0 epsilon=0.0 >2",
         1, GIVES(1)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,1 epsilon=0.0 >2",
         1, GIVES(2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 j[1,2]=1,0 f[2,2]=1,2,3,5 "
         "f[2,2]=0,1,0,0 f[2,2]=0,0,5,1 f[2]=2,3 f[2]=10,20 _ epsilon=0.0 >3",
         2, GIVES(8, 7, 1, 2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 _ j[1,2]=1,0 epsilon=0.0 >3",
         2, GIVES(3, 5, 1, 3)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0 >4 ~3",
         0, GIVES(8, 23)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0 >4 ~1",
         2, GIVES(1, 5)},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,2]=1,2 f[1,1,2]=0,1 f[2]=2,3 f[2]=10,20 "
         "f[2]=0,2 epsilon=0.0 >4 ~2",
         2, GIVES(1, 5)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,0 epsilon=0.0 >3 ~1",
         0, GIVES(8, 23, 8, 23)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,0 epsilon=0.0 >3 ~1",
         1, GIVES(3, 6, 1, 2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[1,2]=1,0 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,0 _ "
         "f[2]=2,3 f[2]=10,20 j[1,2]=1,0 epsilon=0.0 >3 ~2",
         1, GIVES(1)},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,2]=1,0,0,1 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,3 _ "
         "f[2]=2,3 f[2]=10,20 j[2,2]=1,0,1,1 epsilon=0.0 >3",
         1, GIVES(1, 2)},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,2]=1,0,0,1 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,3 _ "
         "f[2]=2,3 f[2]=10,20 _ epsilon=0.0 >3",
         1, GIVES(0, 0)},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,2]=1,0,0,1 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,3 _ "
         "f[2]=2,3 f[2]=10,20 _ j[1,2]=1,0 epsilon=0.0 >3",
         2, GIVES(3, 8, 1, 3, 1, 5, 3, 6)},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,2]=1,0,0,1 _ f[2,2]=1,2,3,5 f[2,2]=0,1,0,3 _ "
         "f[2]=2,3 f[2]=10,20 _ j[2,2]=1,0,0,1 epsilon=0.0 >3",
         2, GIVES(3, 8, 1, 3, 1, 3, 3, 8)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- steps ---- */

/* Weights of powers of ten show what came from which step. */
static void steps_follow_one_another(void **state)
{
    static const struct values_case cases[] = {
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 0,
         GIVES(1, 12)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 1,
         GIVES(12)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 direction=reverse hidden_size=1 "
         "activations={Relu} >2",
         0, GIVES(21, 2)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 direction=reverse hidden_size=1 "
         "activations={Relu} >2",
         1, GIVES(21)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 f[1,2]=100,1000 hidden_size=1 "
         "activations={Relu} >2",
         0, GIVES(1101, 12112)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 _ _ f[1,1,1]=3 hidden_size=1 "
         "activations={Relu} >2",
         0, GIVES(31, 312)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 _ j[1]=1 hidden_size=1 activations={Relu} >2",
         0, GIVES(1, 0)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 _ j[1]=1 hidden_size=1 activations={Relu} >2",
         1, GIVES(1)},
        {"RNN-14 f[2,1,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 clip=5.0 hidden_size=1 activations={Relu} >2",
         0, GIVES(1, 5)},
        {"RNN-14 f[2,1,1]=1,2 f[2,1,1]=1,1 f[2,1,1]=10,10 direction=bidirectional hidden_size=1 "
         "activations={Relu,Relu} >2",
         0, GIVES(1, 21, 12, 2)},
        {"RNN-14 f[2,1,1]=1,2 f[2,1,1]=1,1 f[2,1,1]=10,10 direction=bidirectional hidden_size=1 "
         "activations={Relu,Relu} >2",
         1, GIVES(12, 21)},
        {"RNN-14 f[1,2,1]=1,2 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 0,
         GIVES(1, 2)},
        {"RNN-14 f[2,2,1]=1,2,3,4 f[1,1,1]=1 f[1,1,1]=10 hidden_size=1 activations={Relu} >2", 0,
         GIVES(1, 2, 13, 24)},
        {"RNN-14 f[2,2,1]=1,2,3,4 f[1,1,1]=1 f[1,1,1]=10 layout=1 hidden_size=1 activations={Relu} "
         ">2",
         0, GIVES(1, 12, 3, 34)},
        {"RNN-14 f[2,2,1]=1,2,3,4 f[1,1,1]=1 f[1,1,1]=10 layout=1 hidden_size=1 activations={Relu} "
         ">2",
         1, GIVES(12, 34)},
        {"RNN-14 f[1,1,2]=1,2 f[1,2,2]=1,10,100,1000 f[1,2,2]=0,0,0,0 hidden_size=2 "
         "activations={Relu}",
         0, GIVES(21, 2100)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 hidden_size=1 "
         "activations={Relu,Relu,Relu} >3",
         0, GIVES(8)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 hidden_size=1 "
         "activations={Relu,Relu,Relu} >3",
         2, GIVES(4)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 _ _ _ f[1,1,1]=3 hidden_size=1 "
         "activations={Relu,Relu,Relu} >3",
         0, GIVES(20)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 _ _ _ f[1,1,1]=3 input_forget=1 "
         "hidden_size=1 activations={Relu,Relu,Relu} >3",
         0, GIVES(2)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 _ _ _ f[1,1,1]=1 f[1,3]=1,10,100 "
         "hidden_size=1 activations={Relu,Relu,Relu} >3",
         0, GIVES(116856)},
        {"LSTM-14 f[1,1,1]=2 f[1,4,1]=1,1,1,1 f[1,4,1]=0,0,0,0 f[1,8]=1,2,3,4,0,0,0,0 _ _ "
         "f[1,1,1]=1 hidden_size=1 activations={Relu,Relu,Relu} >3",
         0, GIVES(92)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,0 hidden_size=1 activations={Relu,Relu}",
         0, GIVES(0.25)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,1 _ _ f[1,1,1]=1 hidden_size=1 "
         "activations={Relu,Relu}",
         0, GIVES(1)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,1 f[1,6]=0,0,0,0,0,2 _ f[1,1,1]=1 "
         "linear_before_reset=1 hidden_size=1 activations={Relu,Relu}",
         0, GIVES(1.5)},
        {"GRU-14 f[1,1,1]=0.5 f[1,3,1]=1,1,1 f[1,3,1]=0,0,1 f[1,6]=0,0,0,0,0,2 _ f[1,1,1]=1 "
         "hidden_size=1 activations={Relu,Relu}",
         0, GIVES(2)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* What is quantized is divided, and rounded before and after that, in the precision that is asked
   for: float32's where none is. 2049 is 2048 in float16 and in bfloat16. */
static void elements_are_quantized_in_a_precision(void **state)
{
    static const struct values_case cases[] = {
        {"QuantizeLinear-23 f[1]=2049 f[]=6 output_dtype=5", 0, GIVES(342)},
        {"QuantizeLinear-23 f[1]=2049 f[]=6 output_dtype=5 precision=1", 0, GIVES(342)},
        {"QuantizeLinear-23 f[1]=2049 f[]=6 output_dtype=5 precision=10", 0, GIVES(341)},
        {"QuantizeLinear-23 f[1]=2049 f[]=6 output_dtype=5 precision=16", 0, GIVES(342)},
        {"QuantizeLinear-23 f[1]=6152 f[]=3 output_dtype=5", 0, GIVES(2051)},
        {"QuantizeLinear-23 f[1]=6152 f[]=3 output_dtype=5 precision=10", 0, GIVES(2050)},
        {"QuantizeLinear-23 f[1]=6152 f[]=3 output_dtype=5 precision=16", 0, GIVES(2048)},
        {"QuantizeLinear-23 f[1]=-6152 f[]=3 output_dtype=5 precision=10", 0, GIVES(-2050)},
        {"QuantizeLinear-23 f[1]=6 f[]=0.3333 output_dtype=5 precision=16", 0, GIVES(18)},
        {"QuantizeLinear-13 f[4]=-3,2,5,7 f[]=2", 0, GIVES(0, 1, 2, 4)},
        {"QuantizeLinear-13 f[4]=-3,2,5,700 f[]=2 c[]=1", 0, GIVES(-1, 2, 3, 127)},
        {"QuantizeLinear-13 f[4]=-300,2,5,700 f[]=2 u[]=1", 0, GIVES(0, 2, 3, 255)},
        {"DequantizeLinear-19 c[1]=1 f[]=2049", 0, GIVES(2049)},
        {"DequantizeLinear-19 c[4]=-3,2,5,7 h[]=2", 0, GIVES(-6, 4, 10, 14)},
        {"DequantizeLinear-19 c[4]=-3,2,5,7 h[]=2 c[]=1", 0, GIVES(-8, 2, 8, 12)},
        {"DequantizeLinear-19 c[2,2]=-3,2,5,7 h[2]=2,3 c[2]=1,-1", 0, GIVES(-8, 9, 8, 24)},
        {"DequantizeLinear-19 c[2,2]=-3,2,5,7 f[2]=2,3 c[2]=1,-1 axis=0", 0, GIVES(-8, 2, 18, 24)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* By ONNX's definition, (x - zero) * scale: one of each, one per index of an axis, one per block.
 */
static void bytes_are_numbers_by_their_scale(void **state)
{
    static const struct values_case cases[] = {
        {"DequantizeLinear-21 c[2,5]=1,2,3,4,5,6,7,8,9,10 f[2,3]=1,10,100,2,20,200 axis=1 "
         "block_size=2",
         0, GIVES(1, 2, 30, 40, 500, 12, 14, 160, 180, 2000)},
        {"DequantizeLinear-21 c[3,2]=1,2,3,4,5,6 f[2,2]=1,10,100,1000 c[2,2]=1,2,3,4 axis=0 "
         "block_size=2",
         0, GIVES(0, 0, 2, 20, 200, 2000)},
        {"DequantizeLinear-21 c[2,2,2]=1,2,3,4,5,6,7,8 f[2,1,2]=1,10,100,1000 axis=1 block_size=2",
         0, GIVES(1, 20, 3, 40, 500, 6000, 700, 8000)},
        {"DequantizeLinear-21 c[4]=1,2,3,4 f[2]=1,10 axis=0 block_size=2", 0, GIVES(1, 2, 30, 40)},
        {"DequantizeLinear-21 c[2,3]=1,2,3,4,5,6 f[3]=1,10,100 axis=-1", 0,
         GIVES(1, 20, 300, 4, 50, 600)},
        {"DequantizeLinear-21 c[2,3]=1,2,3,4,5,6 f[3]=1,10,100", 0, GIVES(1, 20, 300, 4, 50, 600)},
        {"DequantizeLinear-21 c[2,3]=1,2,3,4,5,6 f[2]=1,10 c[2]=1,2 axis=0", 0,
         GIVES(0, 1, 2, 20, 30, 40)},
        {"DequantizeLinear-21 c[2,3]=1,2,3,4,5,6 f[1]=2 c[1]=1", 0, GIVES(0, 2, 4, 6, 8, 10)},
        {"DequantizeLinear-21 c[1,3,2]=1,2,3,4,5,6 f[3]=1,10,100", 0,
         GIVES(1, 2, 30, 40, 500, 600)},
        {"QuantizeLinear-21 f[2,3]=1,2.5,3.5,-400,400,600 f[]=1 output_dtype=3", 0,
         GIVES(1, 2, 4, -128, 127, 127)},
        {"QuantizeLinear-21 f[2,3]=1,2.5,3.5,-400,400,254.5 f[]=1", 0, GIVES(1, 2, 4, 0, 255, 254)},
        {"QuantizeLinear-21 f[4]=-100,100,0.5,1.5 f[]=1 output_dtype=22", 0, GIVES(-8, 7, 0, 2)},
        {"QuantizeLinear-21 f[4]=-100,100,0.5,1.5 f[]=1 output_dtype=21", 0, GIVES(0, 15, 0, 2)},
        {"QuantizeLinear-21 f[3]=-100000,100000,1.5 f[]=1 output_dtype=5", 0,
         GIVES(-32768, 32767, 2)},
        {"QuantizeLinear-21 f[3]=-100000,100000,1.5 f[]=1 output_dtype=4", 0, GIVES(0, 65535, 2)},
        {"QuantizeLinear-25 f[5]=-100,100,1.5,0.5,-1 f[]=1 output_dtype=26", 0,
         GIVES(-2, 1, 1, 0, -1)},
        {"QuantizeLinear-25 f[5]=-100,100,1.5,0.5,3 f[]=1 output_dtype=25", 0,
         GIVES(0, 3, 2, 0, 3)},
        {"QuantizeLinear-21 f[2,3]=1,20,300,4,50,600 f[3]=1,10,100 u[3]=1,2,3", 0,
         GIVES(2, 4, 6, 5, 7, 9)},
        {"QuantizeLinear-21 f[2,4]=1,2,30,40,5,6,70,80 f[2,2]=1,10,1,10 u[2,2]=0,1,2,3 axis=1 "
         "block_size=2",
         0, GIVES(1, 2, 4, 5, 7, 8, 10, 11)},
        {"DequantizeLinear-13 u[3]=3,255,0 f[]=0.5", 0, GIVES(1.5, 127.5, 0)},
        {"DequantizeLinear-13 u[3]=3,255,0 f[]=0.5 u[]=3", 0, GIVES(0, 126, -1.5)},
        {"DequantizeLinear-13 c[3]=-128,127,0 f[]=0.5 c[]=-1", 0, GIVES(-63.5, 64, 0.5)},
        {"DequantizeLinear-13 j[2]=-70000,9 f[]=0.5", 0, GIVES(-35000, 4.5)},
        {"DequantizeLinear-19 u[3]=3,255,0 h[]=0.5", 0, GIVES(1.5, 127.5, 0)},
        {"DequantizeLinear-19 u[3]=3,255,0 h[]=0.5 u[]=3", 0, GIVES(0, 126, -1.5)},
        {"DequantizeLinear-19 c[3]=-128,127,0 h[]=0.5 c[]=-1", 0, GIVES(-63.5, 64, 0.5)},
        {"DequantizeLinear-13 u[2,3]=1,2,3,4,5,6 f[2]=1,10 u[2]=1,2 axis=0", 0,
         GIVES(0, 1, 2, 20, 30, 40)},
        {"DequantizeLinear-13 u[2,3]=1,2,3,4,5,6 f[2]=1,10 u[2]=1,2 axis=-2", 0,
         GIVES(0, 1, 2, 20, 30, 40)},
        {"DequantizeLinear-13 u[2,3]=1,2,3,4,5,6 f[3]=1,10,100 u[3]=0,1,2", 0,
         GIVES(1, 10, 100, 4, 40, 400)},
        {"DequantizeLinear-19 u[2,3]=1,2,3,4,5,6 h[3]=1,10,100 u[3]=0,1,2", 0,
         GIVES(1, 10, 100, 4, 40, 400)},
        {"DequantizeLinear-21 u[1,4]=1,2,3,4 f[1,2]=1,10 u[1,2]=0,1 axis=1 block_size=2", 0,
         GIVES(1, 2, 20, 30)},
        {"DequantizeLinear-21 c[3,2]=1,2,3,4,5,6 f[2,2]=1,10,100,1000 axis=0 block_size=2", 0,
         GIVES(1, 20, 3, 40, 500, 6000)},
        {"DequantizeLinear-23 u[2]=3,255 f[]=0.5 u[]=1 output_dtype=10", 0, GIVES(1, 127)},
        {"QuantizeLinear-19 h[4]=-3,2,5,700 h[]=2 c[]=1", 0, GIVES(-1, 2, 3, 127)},
        {"QuantizeLinear-13 j[4]=-3,2,5,700 f[]=2 u[]=1", 0, GIVES(0, 2, 3, 255)},
        {"QuantizeLinear-13 f[2,3]=1,2,3,40,50,60 f[2]=1,10 u[2]=1,2 axis=0", 0,
         GIVES(2, 3, 4, 6, 7, 8)},
        {"QuantizeLinear-13 f[2,3]=1,20,300,4,50,600 f[3]=1,10,100 u[3]=0,1,2", 0,
         GIVES(1, 3, 5, 4, 6, 8)},
        {"QuantizeLinear-21 f[1,4]=1,2,30,40 f[1,2]=1,10 u[1,2]=0,1 axis=1 block_size=2", 0,
         GIVES(1, 2, 4, 5)},
        {"QuantizeLinear-21 f[3,2]=1,20,3,40,500,6000 f[2,2]=1,10,100,1000 c[2,2] axis=0 "
         "block_size=2",
         0, GIVES(1, 2, 3, 4, 5, 6)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
    strictness = AMP_FREE;
    expect_values(cases, sizeof cases / sizeof *cases);
    strictness = AMP_ROUNDED;
    /* Of many elements, which are not computed in float32 first. */
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    one_node("DequantizeLinear-19 u[70000] h[]=0.5 u[]=3", ONE_GIVEN);
    assert_int_equal(net_run(false, one.inputs), AMP_OK);
    assert_int_equal(amp_tensor_count(&net.outputs[0]), 70000);
    for (size_t i = 0; i < 70000; i++)
        assert_true(amp_tensor_double(&net.outputs[0], i) == -1.5);
}

/* Bounds are attributes up to version 6, and inputs of any type from 11 on; either may be missing.
 */
static void elements_are_kept_within_bounds(void **state)
{
    static const struct values_case cases[] = {
        {"Clip-6 f[4]=-5,-1,2,5 min=-2.3 max=3.7", 0, GIVES(-2.3, -1, 2, 3.7)},
        {"Clip-6 d[4]=-5,-1,2,5 min=-2.5 max=3.5", 0, GIVES(-2.5, -1, 2, 3.5)},
        {"Clip-6 h[4]=-5,-1,2,5 min=-2.5 max=3.5", 0, GIVES(-2.5, -1, 2, 3.5)},
        {"Clip-6 f[4]=-5,-1,2,5 min=-2.3", 0, GIVES(-2.3, -1, 2, 5)},
        {"Clip-6 d[4]=-5,-1,2,5 max=3.5", 0, GIVES(-5, -1, 2, 3.5)},
        {"Clip-6 f[4]=-5,-1,2,5", 0, GIVES(-5, -1, 2, 5)},
        {"Clip-13 f[4]=-5,-1,2,5 f[]=-2.3 f[]=3.7", 0, GIVES(-2.3, -1, 2, 3.7)},
        {"Clip-13 d[4]=-5,-1,2,5 d[]=-2.3 d[]=3.7", 0, GIVES(-2.3, -1, 2, 3.7)},
        {"Clip-13 h[4]=-5,-1,2,5 h[]=-2.5 h[]=3.5", 0, GIVES(-2.5, -1, 2, 3.5)},
        {"Clip-13 i[4]=-5,-1,2,5 i[]=-2 i[]=3", 0, GIVES(-2, -1, 2, 3)},
        {"Clip-13 j[4]=-5,-1,2,5 j[]=-2 j[]=3", 0, GIVES(-2, -1, 2, 3)},
        {"Clip-13 c[4]=-5,-1,2,5 c[]=-2 c[]=3", 0, GIVES(-2, -1, 2, 3)},
        {"Clip-13 u[4]=1,3,6,255 u[]=2 u[]=7", 0, GIVES(2, 3, 6, 7)},
        {"Clip-13 f[4]=-5,-1,2,5 _ f[]=3.7", 0, GIVES(-5, -1, 2, 3.7)},
        {"Clip-13 d[4]=-5,-1,2,5 d[]=-2.3", 0, GIVES(-2.3, -1, 2, 5)},
        {"Clip-13 f[4]=-5,-1,2,5 f[]=4 f[]=1.5", 0, GIVES(1.5, 1.5, 1.5, 1.5)},
    };
    (void)state;
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        strictness = is_strict ? AMP_ROUNDED : AMP_FREE;
        expect_values(cases, sizeof cases / sizeof *cases);
    }
}

/* From version 7 on slopes line up with the last dims, before with the channels. */
static void slopes_line_up(void **state)
{
    static const struct values_case cases[] = {
        {"PRelu-16 f[1,2,2]=-1,-2,-3,-4 f[2]=10,100", 0, GIVES(-10, -200, -30, -400)},
        {"PRelu-7 f[1,2,2]=-1,-2,-3,-4 f[2]=10,100", 0, GIVES(-10, -200, -30, -400)},
        {"PRelu-6 f[1,2,2]=-1,-2,-3,-4 f[2]=10,100", 0, GIVES(-10, -20, -300, -400)},
        {"PRelu-6 f[1,2,2]=-1,-2,-3,4 f[1]=10", 0, GIVES(-10, -20, -30, 4)},
        {"PRelu-16 f[1,2,2]=-1,-2,-3,4 f[2,1]=10,100", 0, GIVES(-10, -20, -300, 4)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* Probabilities are of the differences of logits, however far these are from 0. */
static void classes_are_drawn_by_differences(void **state)
{
    static const struct values_case cases[] = {
        {"Multinomial-7 f[1,2]=-1000,-2000 sample_size=4", 0, GIVES(0, 0, 0, 0)},
        {"Multinomial-7 f[1,2]=-2000,-1000 sample_size=4", 0, GIVES(1, 1, 1, 1)},
        {"Multinomial-7 f[1,3]=1000,3000,2000 sample_size=4", 0, GIVES(1, 1, 1, 1)},
        {"Multinomial-7 f[2,2]=2000,1000,1000,2000 sample_size=2", 0, GIVES(0, 0, 1, 1)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* Values that nothing tells the type of are float32. */
static void given_values_fill_a_shape(void **state)
{
    static const struct values_case cases[] = {
        {"GivenTensorFill-1 shape=[2] values=(0.1,70000.5)", 0, GIVES(0.1, 70000.5)},
        {"GivenTensorFill-1 shape=[2] extra_shape=[1,2] values=(0.1,2,3,4)", 0,
         GIVES(0.1, 2, 3, 4)},
        {"GivenTensorFill-1 d[2] values=(0.5,2)", 0, GIVES(0.5, 2)},
        {"ConstantOfShape-9 i[2]=2,3", 0, GIVES(0, 0, 0, 0, 0, 0)},
        {"ConstantOfShape-9 i[0]", 0, GIVES(0)},
        {"EyeLike-9 f[4,2]", 0, GIVES(1, 0, 0, 1, 0, 0, 0, 0)},
        {"EyeLike-9 f[4,2] k=1", 0, GIVES(0, 1, 0, 0, 0, 0, 0, 0)},
        {"EyeLike-9 f[4,2] k=-1", 0, GIVES(0, 0, 1, 0, 0, 1, 0, 0)},
        {"EyeLike-9 f[4,2] k=-3", 0, GIVES(0, 0, 0, 0, 0, 0, 1, 0)},
        {"EyeLike-9 f[4,2] k=-4", 0, GIVES(0, 0, 0, 0, 0, 0, 0, 0)},
        {"EyeLike-9 f[4,2] k=2", 0, GIVES(0, 0, 0, 0, 0, 0, 0, 0)},
        {"EyeLike-9 f[2,4] k=3", 0, GIVES(0, 0, 0, 1, 0, 0, 0, 0)},
        {"EyeLike-9 f[2,2] k=9223372036854775807", 0, GIVES(0, 0, 0, 0)},
        {"EyeLike-9 f[2,2] k=-9223372036854775808", 0, GIVES(0, 0, 0, 0)},
        {"GivenTensorFill-1 f[] extra_shape=[2] values=(0.1,2)", 0, GIVES(0.1, 2)},
    };
    (void)state;
    expect_values(cases, sizeof cases / sizeof *cases);
}

/* ---- convolutions of bytes with large sums ---- */

enum { LARGE_SIDE = 3, LARGE_PLACES = LARGE_SIDE * LARGE_SIDE, LARGE_TAPS = 600 };

struct large_conv {
    bool is_signed, gives_signed;
    int zero;
    int64_t kernel, channels, filters, group;
    int64_t pads[4];
};

static int large_x(const struct large_conv *conv, int64_t i)
{
    return (int)(255 - i * 7 % 31) - (conv->is_signed ? 128 : 0);
}

static int large_w(int64_t m, int64_t i)
{
    return 127 - (int)((i + m) % 3);
}

/* The sum of filter M at row Y and column X. */
static int64_t large_sum(const struct large_conv *conv, int64_t m, int64_t y, int64_t x)
{
    int64_t inner = conv->channels / conv->group, first = m / (conv->filters / conv->group) * inner;
    int64_t sum = m * 1000;
    for (int64_t i = 0; i < inner * conv->kernel * conv->kernel; i++) {
        int64_t row = y - conv->pads[0] + i / conv->kernel % conv->kernel;
        int64_t column = x - conv->pads[1] + i % conv->kernel;
        int64_t channel = first + i / (conv->kernel * conv->kernel);
        if (row >= 0 && row < LARGE_SIDE && column >= 0 && column < LARGE_SIDE)
            sum += (int64_t)(large_x(conv, channel * LARGE_PLACES + row * LARGE_SIDE + column) -
                             conv->zero) *
                   large_w(m, i);
    }
    return sum;
}

/* Makes the model; x comes back. */
static const struct amp_tensor *start_large(const struct large_conv *conv)
{
    const enum amp_dtype dtype = conv->is_signed ? AMP_INT8 : AMP_UINT8;
    const enum amp_dtype to = conv->gives_signed ? AMP_INT8 : AMP_UINT8;
    const int64_t inner = conv->channels / conv->group, taps = inner * conv->kernel * conv->kernel;
    const float one_scale = 1, scale = 1.0f / (1 << 17);
    const int8_t zero = (int8_t)conv->zero, no_zero = 0, to_zero = 3;
    int8_t x[LARGE_TAPS * LARGE_PLACES], w[16 * LARGE_TAPS];
    int32_t bias[16];
    for (int64_t i = 0; i < conv->channels * LARGE_PLACES; i++)
        x[i] = (int8_t)large_x(conv, i);
    for (int64_t i = 0; i < conv->filters * taps; i++)
        w[i] = (int8_t)large_w(i / taps, i % taps);
    for (int m = 0; m < (int)conv->filters; m++)
        bias[m] = m * 1000;
    net_start(13);
    struct amp_shape shape = DIMS(1, conv->channels, LARGE_SIDE, LARGE_SIDE);
    uint32_t y =
        NODE("QLinearConv", "y", input("x", dtype, shape),
             constant("x_scale", AMP_FLOAT, SCALAR, &one_scale),
             constant("x_zero", dtype, SCALAR, &zero),
             constant("w", AMP_INT8, DIMS(conv->filters, inner, conv->kernel, conv->kernel), w),
             constant("w_scale", AMP_FLOAT, SCALAR, &scale),
             constant("w_zero", AMP_INT8, SCALAR, &no_zero),
             constant("y_scale", AMP_FLOAT, SCALAR, &one_scale),
             constant("y_zero", to, SCALAR, &to_zero),
             constant("bias", AMP_INT32, DIMS(conv->filters), bias));
    set_int(y, "group", conv->group);
    set_list(y, "pads", 4, conv->pads);
    output(y);
    return net_tensor(dtype, shape, x);
}

static void expect_large(const struct large_conv *conv)
{
    struct amp_session *session = NULL;
    const struct amp_tensor *x = start_large(conv), *y = &net.outputs[0];
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    for (int again = 0; again < 2; again++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        if (amp_session_run(session, x, net.outputs, &net.err) != AMP_OK)
            fail_msg("%s", net.err.text);
        int64_t at[4] = {0};
        for (size_t i = 0; i < amp_tensor_count(y); i++) {
            double value = rint((double)large_sum(conv, at[1], at[2], at[3]) / (1 << 17)) + 3;
            double most = conv->gives_signed ? INT8_MAX : UINT8_MAX;
            if (amp_tensor_double(y, i) != fmin(value, most))
                fail_msg("zero %d, kernel %d, pads %d %d %d %d: element %zu is %g; %g is expected",
                         conv->zero, (int)conv->kernel, (int)conv->pads[0], (int)conv->pads[1],
                         (int)conv->pads[2], (int)conv->pads[3], i, amp_tensor_double(y, i),
                         fmin(value, most));
            amp_index_next(4, y->shape.dims, at);
        }
    }
    amp_session_destroy(session);
}

/* Sums of more than float32 has are added up in integers: padded or not, with zero points that
   padding has and others, and of bytes of either sign. */
static void large_sums_of_bytes_are_exact(void **state)
{
    static const struct {
        bool is_signed;
        int zero;
    } inputs[] = {{false, 0}, {false, 7}, {true, -128}, {true, 0}, {true, -9}};
    static const int64_t pads[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0},
                                      {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}};
    (void)state;
    for (int i = 0; i < 5 * 6 * 4; i++) {
        struct large_conv conv = {.is_signed = inputs[i % 5].is_signed,
                                  .gives_signed = i % 2 == 0,
                                  .zero = inputs[i % 5].zero,
                                  .kernel = i / 30 % 2 == 0 ? 1 : 3,
                                  .filters = i / 60 == 0 ? 16 : 6,
                                  .group = 1};
        conv.channels = conv.kernel == 1 ? 576 : 64;
        memcpy(conv.pads, pads[i / 5 % 6], sizeof conv.pads);
        expect_large(&conv);
    }
}

/* Runs PROGRAM on its own as on a CPU that has AVX2 at most; its exit code, or another than 0. */
static int run_with_avx2(char *program)
{
    char with[] = "AVX2", *words[] = {program, with, NULL};
    int status = 1;
    pid_t pid = fork();
    if (pid == 0 && setenv("ONEDNN_MAX_CPU_ISA", with, 1) == 0)
        execv("/proc/self/exe", words);
    if (pid == 0)
        _exit(1);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    /* What has other kernels on CPUs without products of bytes. */
    const struct CMUnitTest bytes[] = {
        NET_TEST(products_are_without_zero_points),
        NET_TEST(bytes_are_convolved_by_definition),
        NET_TEST(taps_meet_their_elements),
        NET_TEST(channels_by_themselves_are_not_unfolded),
    };
    const struct CMUnitTest tests[] = {
        NET_TEST(losses_pass_over_what_is_ignored),
        NET_TEST(losses_are_of_probabilities),
        NET_TEST(boxes_go_that_overlap_by_more_than_the_threshold),
        NET_TEST(resized_elements_come_from_their_places),
        NET_TEST(grids_lead_to_their_places),
        NET_TEST(products_are_without_zero_points),
        NET_TEST(bytes_are_multiplied_exactly),
        NET_TEST(sums_are_added_to_what_is_given),
        NET_TEST(equations_are_sums_of_products),
        NET_TEST(equations_have_an_end),
        NET_TEST(equations_follow_what_lies_otherwise),
        NET_TEST(queries_see_what_they_may),
        NET_TEST(taps_meet_their_elements),
        NET_TEST(products_are_sums_over_the_inner_dim),
        NET_TEST(batches_of_products_are_broadcast),
        NET_TEST(rows_are_normalized),
        NET_TEST(steps_follow_one_another),
        NET_TEST(regions_are_pooled_by_bins),
        NET_TEST(windows_are_pooled),
        NET_TEST(optimizers_take_their_steps),
        NET_TEST(elements_are_quantized_in_a_precision),
        NET_TEST(bytes_are_numbers_by_their_scale),
        NET_TEST(elements_are_kept_within_bounds),
        NET_TEST(classes_are_drawn_by_differences),
        NET_TEST(slopes_line_up),
        NET_TEST(causal_convolutions_hand_on_their_last_elements),
        NET_TEST(bytes_are_convolved_by_definition),
        NET_TEST(large_sums_of_bytes_are_exact),
        NET_TEST(given_values_fill_a_shape),
    };

    if (argc > 1)
        return cmocka_run_group_tests_name(argv[1], bytes, NULL, NULL);
    int limited = run_with_avx2(argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL) + limited;
}
