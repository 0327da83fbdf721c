/*
 * What a conversion makes of training_info: takes a job, has its gradients scaled and its losses
 * decided on as the user wants it. The steps themselves are in onnx/training/ and
 * autocast/training/.
 */
#include "cli/convert/training.h"

#include "autocast/training/lower.h"
#include "cli/convert/job.h"
#include "onnx/opset/opset.h"
#include "onnx/training/training.h"

enum amp_status amp_convert_scale_gradients(struct amp_convert_job *job)
{
    const struct amp_target *target = &job->target;
    bool is_float16 = target->lower == AMP_FLOAT16 || target->second == AMP_FLOAT16;
    size_t n_scaled;
    if (target->scaling == AMP_SCALING_ON && !amp_training_has_gradient(job->training))
        return amp_fail(job->err, AMP_USAGE,
                        "%s: --grad-scaler: there is no training_info with gradients of a loss",
                        job->model->path);
    if (target->scaling == AMP_SCALING_OFF || (target->scaling == AMP_SCALING_AUTO && !is_float16))
        return AMP_OK;
    AMP_TRY(amp_training_scale(job->training, &target->scaler, &n_scaled, job->err));
    if (n_scaled > 0)
        job->conversion.loss_scale = target->scaler.init_scale;
    return AMP_OK;
}

enum amp_status amp_convert_settle_training(struct amp_convert_job *job,
                                            const struct amp_assign_options *options)
{
    struct amp_error unused = {.status = AMP_OK};
    int before = (int)amp_model_opset(job->model, ""), opset = before;
    if (job->target.lower == AMP_FLOAT)
        return AMP_OK;
    AMP_TRY(amp_training_settle(job->training, options, &opset, job->err));
    if (opset > before)
        AMP_IGNORE(amp_opset_raise(job->model, opset, NULL, &unused));
    return AMP_OK;
}

enum amp_status amp_convert_finish_training(struct amp_convert_job *job,
                                            const struct amp_assign_options *options)
{
    AMP_TRY(amp_training_raise(job->training, job->err));
    if (job->target.lower != AMP_FLOAT)
        AMP_TRY(amp_training_lower(job->training, options, job->target.shares_casts,
                                   &job->conversion.n_training_lowered, job->err));
    return amp_training_release(job->training, job->err);
}
