/*
 * The bridge to oneDNN: its version, its names of dtypes, its errors as statuses of this program,
 * and the execution of a primitive, which it notes in the profile. It makes no primitives.
 */
#include "ops/dnnl/dnnl.h"

#include "core/clock.h"
#include "core/cpu.h"
#include "ops/dnnl/profile.h"

#include <stdio.h>

const char *amp_dnnl_version(char *text, size_t size)
{
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, size, "%d.%d.%d", version->major, version->minor, version->patch);
    return text;
}

bool amp_dnnl_adds_bytes(int64_t k)
{
    return amp_cpu_has(AMP_CPU_VNNI) && k <= INT32_MAX / (UINT8_MAX * -INT8_MIN);
}

dnnl_data_type_t amp_dnnl_dtype(enum amp_dtype dtype)
{
    static const dnnl_data_type_t types[AMP_DTYPE_COUNT] = {
        [AMP_FLOAT] = dnnl_f32, [AMP_FLOAT16] = dnnl_f16, [AMP_BFLOAT16] = dnnl_bf16,
        [AMP_INT32] = dnnl_s32, [AMP_INT8] = dnnl_s8,     [AMP_UINT8] = dnnl_u8};
    return types[dtype];
}

enum amp_status amp_dnnl_check(struct amp_error *err, dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return AMP_OK;
    if (status == dnnl_unimplemented || status == dnnl_invalid_arguments)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN has no %s for these types and shapes", what);
    if (status == dnnl_out_of_memory)
        return amp_fail(err, AMP_IO, "out of memory in oneDNN's %s", what);
    return amp_fail(err, AMP_KERNEL, "oneDNN's %s failed with status %d", what, (int)status);
}

enum amp_status amp_dnnl_execute(const struct amp_ctx *ctx, dnnl_primitive_t primitive, int n,
                                 const dnnl_exec_arg_t *args)
{
    struct amp_profile *profile = ctx->host->profile;
    double start = profile != NULL ? amp_clock_seconds() : 0;
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_primitive_execute(primitive, ctx->host->dnnl->stream, n, args),
                           "execution"));
    const_dnnl_primitive_desc_t pd;
    if (profile != NULL && dnnl_primitive_get_primitive_desc(primitive, &pd) == dnnl_success)
        amp_profile_note(profile, ctx, pd, NULL, amp_clock_seconds() - start);
    return AMP_OK;
}
