/*
 * Why nodes have the dtypes that they have, in words. Takes a reason, gives its name and its text.
 */
#include "autocast/reason.h"

static const struct {
    const char *name, *text;
} reasons[AMP_REASON_COUNT] = {
    [AMP_REASON_RULE] = {"rule", "a rule matched"},
    [AMP_REASON_UNLISTED] = {"unlisted", "no rule matched: runs in its inputs' type"},
    [AMP_REASON_NOT_FLOAT] = {"not-float", "no float data"},
    [AMP_REASON_UNKNOWN_TYPE] = {"unknown-type", "nothing says the type of its data"},
    [AMP_REASON_NOT_TENSOR] = {"not-tensor", "its data are sequences, optionals or maps"},
    [AMP_REASON_DOUBLE] = {"float64", "float64 is not eligible"},
    [AMP_REASON_EXPLICIT_DTYPE] = {"explicit-dtype", "an attribute says its type"},
    [AMP_REASON_CONTROL_FLOW] = {"control-flow", "its bodies decide for themselves"},
    [AMP_REASON_TRAINING] = {"training", "gradients and what becomes of them keep their types"},
    [AMP_REASON_UNKNOWN_OP] = {"unknown-op", "unknown operator: float32 at its edges"},
    [AMP_REASON_QUANTIZED] = {"quantized", "between DequantizeLinear and QuantizeLinear: integers"},
    [AMP_REASON_NO_LOWER_TYPE] = {"no-lower-type", "the operator does not take the lower type"},
    [AMP_REASON_OPSET] = {"opset", "needs a newer opset than the model can have"},
    [AMP_REASON_RUNTIME] = {"runtime", "a runtime of --target does not have it in the lower type"},
    [AMP_REASON_WEIGHT_RANGE] = {"weight-range", "a constant is beyond the lower type's range"},
    [AMP_REASON_VALUE_RANGE] = {"value-range", "a value is beyond the lower type's range"},
    [AMP_REASON_INNER_RANGE] = {"inner-range",
                                "squares or sums within it are beyond the lower type's range"},
    [AMP_REASON_PARTIAL_SUMS] = {"partial-sums",
                                 "sums on the way may be beyond the lower type's range"},
    [AMP_REASON_FLUSH] = {"flush", "a value that matters would become 0 in the lower type"},
    [AMP_REASON_WEIGHT_FLUSH] = {"weight-flush",
                                 "too much of a constant would become 0 in the lower type"},
    [AMP_REASON_MASK] = {"mask", "a mask plus scores would be infinite in the lower type"},
};

bool amp_reason_is_guard(enum amp_reason reason)
{
    return reason >= AMP_REASON_VALUE_RANGE && reason <= AMP_REASON_MASK;
}

const char *amp_reason_name(enum amp_reason reason)
{
    return reasons[reason].name;
}

const char *amp_reason_text(enum amp_reason reason)
{
    return reasons[reason].text;
}
