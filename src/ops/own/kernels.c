/*
 * The list of this program's own kernels. oneDNN's bridge asks those that stand in for primitives
 * for each primitive that it makes; the families of softmax and of recurrent layers ask for theirs
 * here, by dtype and shape. A kernel itself knows the CPUs and shapes that it is for.
 */
#include "ops/own/kernels.h"

#include "ops/own/amx_matmul.h"

static const struct amp_own_kernel matmul = {
    .name = "ampconv:amx_prefetch", .dtype = AMP_BFLOAT16, .primitive = &amp_amx_matmul};
static const struct amp_own_kernel softmax = {
    .name = "ampconv:softmax_512", .dtype = AMP_BFLOAT16, .softmax = &amp_softmax_512};
static const struct amp_own_kernel rnn_bf16 = {
    .name = "ampconv:rnn_bf16", .dtype = AMP_BFLOAT16, .rnn = &amp_rnn_bf16};
static const struct amp_own_kernel rnn_f32 = {
    .name = "ampconv:rnn_f32", .dtype = AMP_FLOAT, .rnn = &amp_rnn_f32};
static const struct amp_own_kernel rnn_f64 = {
    .name = "ampconv:rnn_f64", .dtype = AMP_DOUBLE, .rnn = &amp_rnn_f64};

const struct amp_own_kernel *const amp_own_kernels[] = {&matmul,  &softmax, &rnn_bf16,
                                                        &rnn_f32, &rnn_f64, NULL};

const struct amp_softmax_kernel *amp_own_softmax(enum amp_dtype dtype, int64_t count)
{
    for (const struct amp_own_kernel *const *own = amp_own_kernels; *own != NULL; own++) {
        const struct amp_softmax_kernel *kernel = (*own)->softmax;
        if (kernel != NULL && (*own)->dtype == dtype && kernel->fits(count))
            return kernel;
    }
    return NULL;
}

const struct amp_rnn_kernel *amp_own_rnn(enum amp_dtype dtype, const struct amp_rnn *rnn)
{
    for (const struct amp_own_kernel *const *own = amp_own_kernels; *own != NULL; own++) {
        const struct amp_rnn_kernel *kernel = (*own)->rnn;
        if (kernel != NULL && (*own)->dtype == dtype && (kernel->fits == NULL || kernel->fits(rnn)))
            return kernel;
    }
    return NULL;
}
