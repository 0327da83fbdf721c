#ifndef AMP_AUTOCAST_REASON_H
#define AMP_AUTOCAST_REASON_H

#include <stdbool.h>

/* Why a node has its dtype: the rule that matched it, or the constraint that kept it from it. */
enum amp_reason {
    AMP_REASON_RULE,           /* a rule decided */
    AMP_REASON_UNLISTED,       /* no rule matched: it follows its inputs */
    AMP_REASON_NOT_FLOAT,      /* no float inputs or outputs */
    AMP_REASON_UNKNOWN_TYPE,   /* nothing says the dtype of its data */
    AMP_REASON_NOT_TENSOR,     /* sequences, optionals and maps keep their types */
    AMP_REASON_DOUBLE,         /* float64 data are not eligible */
    AMP_REASON_EXPLICIT_DTYPE, /* an attribute says its dtype */
    AMP_REASON_CONTROL_FLOW,   /* If, Loop, Scan: their bodies decide for themselves */
    AMP_REASON_TRAINING,       /* it comes after the gradients, or is what they are taken by */
    AMP_REASON_UNKNOWN_OP,     /* not in the schema table: float32 at its edges */
    AMP_REASON_QUANTIZED,      /* dequantized data in, quantized data out: integers in truth */
    AMP_REASON_NO_LOWER_TYPE,  /* no opset in reach lets the operator take the lower dtype */
    AMP_REASON_OPSET,          /* it needs a newer opset than the model can be raised to */
    AMP_REASON_RUNTIME,        /* a runtime that the model is for does not have it in that dtype */
    AMP_REASON_WEIGHT_RANGE,   /* a constant input has values beyond the lower dtype's range */
    AMP_REASON_VALUE_RANGE,    /* an input or output has been seen there, or must come there */
    AMP_REASON_INNER_RANGE,    /* squares or sums within the operator do */
    AMP_REASON_PARTIAL_SUMS,   /* sums of a product may, on the way to a result that does not */
    AMP_REASON_FLUSH,          /* a value that matters would become 0 */
    AMP_REASON_WEIGHT_FLUSH,   /* so much of a constant would that it is another */
    AMP_REASON_MASK,           /* a mask plus scores would become infinite */
    AMP_REASON_COUNT
};

/* Whether REASON is a guard's (ranges/guards.h): about what values come to in the lower dtype. */
bool amp_reason_is_guard(enum amp_reason reason);

/* The stable name of REASON, for reports: "rule", "unlisted", "weight-range". */
const char *amp_reason_name(enum amp_reason reason);

/* REASON as a sentence for people: "a rule matched". */
const char *amp_reason_text(enum amp_reason reason);

#endif
