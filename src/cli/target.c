/*
 * What the user wants the model to become, from the command line: the lower dtype and the opset.
 * Reads and checks the words; carries nothing out.
 */
#include "cli/target.h"

#include "onnx/schema.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static enum amp_status parse_dtype(const struct amp_options *options, enum amp_dtype *dtype,
                                   struct amp_error *err)
{
    *dtype = options->dtype ? amp_dtype_parse(options->dtype) : AMP_BFLOAT16;
    if (*dtype == AMP_BFLOAT16 || *dtype == AMP_FLOAT16 || *dtype == AMP_FLOAT)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "--dtype %s: bf16 or fp16 is needed, or fp32 with --opset N",
                    options->dtype);
}

static enum amp_status parse_opset(const struct amp_options *options, struct amp_target *target,
                                   struct amp_error *err)
{
    const char *text = options->opset;
    char *end;
    if (text == NULL || strcmp(text, "auto") == 0) {
        target->mode = AMP_OPSET_AUTO;
        return AMP_OK;
    }
    if (strcmp(text, "keep") == 0) {
        target->mode = AMP_OPSET_KEEP;
        return AMP_OK;
    }
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < 1 || number > INT_MAX)
        return amp_fail(err, AMP_USAGE, "--opset %s: auto, keep or an opset's number is needed",
                        text);
    target->mode = AMP_OPSET_EXACT;
    target->opset = (int)number;
    return AMP_OK;
}

/* Float32 as the target lowers nothing: it takes an opset, and none of what steers lowering. */
static enum amp_status check_raise_only(const struct amp_options *options,
                                        const struct amp_target *target, struct amp_error *err)
{
    if (target->mode != AMP_OPSET_EXACT)
        return amp_fail(err, AMP_USAGE,
                        "--dtype %s lowers nothing, it only raises the opset: --opset N is needed",
                        options->dtype);
    const char *other = options->rules.count        ? "--rules"
                        : options->op_rules.count   ? "--op"
                        : options->node_rules.count ? "--node"
                                                    : NULL;
    if (other != NULL)
        return amp_fail(err, AMP_USAGE, "--dtype %s lowers nothing: %s does not go with it",
                        options->dtype, other);
    return AMP_OK;
}

enum amp_status amp_target_parse(const struct amp_options *options, struct amp_target *target,
                                 struct amp_error *err)
{
    AMP_TRY(parse_dtype(options, &target->lower, err));
    AMP_TRY(parse_opset(options, target, err));
    return target->lower == AMP_FLOAT ? check_raise_only(options, target, err) : AMP_OK;
}

enum amp_status amp_target_check(const struct amp_target *target, const struct amp_model *model,
                                 struct amp_error *err)
{
    int64_t opset = amp_model_opset(model, "");
    if (target->mode != AMP_OPSET_EXACT)
        return AMP_OK;
    if (opset == 0)
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: --opset %d: the model imports no opset of "
                        "ai.onnx",
                        model->path, target->opset);
    if (target->opset < opset)
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: --opset %d: the model has opset %lld, and is only ever raised",
                        model->path, target->opset, (long long)opset);
    if (target->opset > opset && target->opset > amp_schema_released_opset())
        return amp_fail(err, AMP_UNSUPPORTED, "%s: --opset %d: the newest that is released is %d",
                        model->path, target->opset, amp_schema_released_opset());
    return AMP_OK;
}
