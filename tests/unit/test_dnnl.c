/* What oneDNN does. An operator whose primitive cannot be made runs in C all the same, slowly, so
   that its results do not show it. Each line is a model of one node and the kinds of the primitives
   that it runs, reorders aside, on machines with the instructions that oneDNN has kernels for. */
#include "one_node.h"

#include "ops/dnnl/profile.h"

#include <dnnl.h>

/* The kinds of primitives in PROFILE to TEXT. */
static void list_kinds(const struct amp_profile *profile, char *text, size_t size)
{
    size_t count, length = 0;
    const struct amp_profile_primitive *items = amp_profile_primitives(profile, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].kind, "reorder") != 0)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? " " : "",
                                       items[i].kind);
}

static void expect_kinds(const char *line, const char *expected)
{
    char text[256];
    struct amp_session *session = NULL;
    struct amp_profile *profile = amp_profile_create();
    one_node(line, ONE_GIVEN);
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    amp_session_observe(session, profile);
    if (amp_session_run(session, one.inputs, net.outputs, &net.err) != AMP_OK)
        fail_msg("%s: %s", line, net.err.text);
    list_kinds(profile, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s: '%s'; '%s' is expected", line, text, expected);
    amp_tensors_release(net.outputs, NET_OUTPUTS);
    amp_session_destroy(session);
    amp_profile_destroy(profile);
}

static void expect_all_kinds(const struct one_case *cases, size_t count)
{
    unsigned has = dnnl_get_effective_cpu_isa(), wanted = dnnl_cpu_isa_avx512_core_vnni;
    if ((has & wanted) != wanted)
        skip();
    for (size_t i = 0; i < count; i++)
        expect_kinds(cases[i].line, cases[i].expected);
}

static void windows_are_run_by_onednn(void **state)
{
    static const struct one_case cases[] = {
        {"Conv-11 f[2,4,9] f[6,4,3]", "convolution"},
        {"Conv-11 f[2,4,9,8] f[6,4,3,2] f[6] strides=[2,1] pads=[1,0,0,2] dilations=[1,2]",
         "convolution"},
        {"Conv-11 f[2,4,5,6,7] f[6,2,3,2,1] group=2", "convolution"},
        {"Conv-11 f[2,4,9,8] f[4,1,3,3] group=4", "convolution"},
        {"Conv-11 f[2,4,9,8] f[6,4,3,2] auto_pad=SAME_UPPER", "convolution"},
        {"ConvTranspose-11 f[2,4,9] f[4,3,3]", "deconvolution"},
        {"ConvTranspose-11 f[2,4,5,6] f[4,2,3,2] f[4] group=2 strides=[2,3] pads=[1,0,0,1]",
         "deconvolution"},
        {"ConvTranspose-11 f[2,4,5,6] f[4,2,3,2] f[8] group=4 dilations=[2,1]", "deconvolution"},
        {"ConvTranspose-11 f[2,4,3,4,5] f[4,3,2,2,2] output_padding=[0,1,0] strides=[2,2,2]",
         "deconvolution"},
        {"ConvInteger-10 u[1,4,5,5] u[3,4,2,2] u[]=3 u[]=2", "convolution"},
        {"QLinearConv-10 u[1,4,5,5] f[] u[] c[6,2,2,2] f[] c[] f[] u[] group=2", "convolution"},
        {"MaxPool-12 f[2,4,9,8] kernel_shape=[3,2] strides=[2,1] pads=[1,0,1,1]", "pooling"},
        {"MaxPool-12 f[2,4,9] kernel_shape=[3]", "pooling"},
        {"MaxPool-12 f[2,4,5,6,7] kernel_shape=[3,2,2] ceil_mode=1 strides=[2,2,2]", "pooling"},
        {"AveragePool-19 f[2,4,9] kernel_shape=[3]", "pooling"},
        {"AveragePool-19 f[2,4,9,8] kernel_shape=[3,2] count_include_pad=1 pads=[1,0,1,1]",
         "pooling"},
        {"GlobalAveragePool-1 f[2,4,5,6]", "pooling"},
        {"GlobalMaxPool-1 f[2,4,5,6,7]", "pooling"},
        {"GlobalMaxPool-1 f[2,4]", ""},
        {"Resize-13 f[1,2,4,5] _ f[4]=1,1,2,3 mode=linear", "resampling"},
        {"LRN-13 f[2,5,3,4] size=3", "lrn"},
    };
    (void)state;
    expect_all_kinds(cases, sizeof cases / sizeof *cases);
}

static void products_and_norms_are_run_by_onednn(void **state)
{
    static const struct one_case cases[] = {
        {"MatMul-13 f[4,5] f[5,6]", "matmul"},
        {"MatMul-13 f[3] f[3]", "matmul"},
        {"MatMul-13 f[2,3,4,5] f[3,5,6]", "matmul"},
        {"MatMul-13 f[3,4,5] f[5]", "matmul"},
        {"Gemm-13 f[4,5] f[6,5] f[6] transB=1 alpha=0.5", "matmul"},
        {"Gemm-13 f[5,4] f[5,6] f[4,6] transA=1 beta=2.0", "matmul"},
        {"MatMulInteger-10 u[4,5] c[5,6]", "matmul"},
        {"MatMulInteger-10 u[4,5] u[5,6] u[]=1 u[6]=1,2,3,4,5,6", "matmul"},
        {"QLinearMatMul-21 u[4,5] f[] u[] c[5,6] f[] c[] f[] u[]", "matmul"},
        {"Einsum-12 f[2,3,4] f[2,4,5] equation=bij,bjk->bik", "matmul"},
        {"LayerNormalization-17 f[4,5,64] f[64] f[64] >3", "layer_normalization"},
        {"BatchNormalization-15 f[2,3,4,5] f[3] f[3] f[3] f[3]", "batch_normalization"},
        {"GroupNormalization-21 f[2,6,4,5] f[6] f[6] num_groups=3", "group_normalization"},
        {"InstanceNormalization-6 f[2,6,4,5] f[6] f[6]", "group_normalization"},
        {"Softmax-13 f[3,4,5] axis=1", "softmax"},
        {"LogSoftmax-13 f[3,4,5]", "softmax"},
    };
    (void)state;
    expect_all_kinds(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(windows_are_run_by_onednn),
        NET_TEST(products_and_norms_are_run_by_onednn),
    };
    return cmocka_run_group_tests_name("dnnl", tests, NULL, NULL);
}
