#ifndef AMP_AUTOCAST_RULES_PRECISION_H
#define AMP_AUTOCAST_RULES_PRECISION_H

#include "core/dtype.h"
#include "core/status.h"

/* What a rule wants for a node. What it means for the node, and whether the node can have it, is
   autocast/assign.h's matter. */
enum amp_precision {
    AMP_FOLLOW, /* the type of its inputs, the widest where they differ */
    AMP_LOWER,  /* the lower dtype */
    AMP_FP32,
    AMP_BF16,   /* bfloat16, whatever the lower dtype is */
    AMP_FP16,   /* float16, whatever the lower dtype is */
    AMP_WIDEST, /* the widest of its inputs' types */
    AMP_INFER,  /* AMP_LOWER between nodes of AMP_LOWER unless below one of AMP_FP32, else AMP_FP32:
                   autocast/policy.h */
    AMP_CLEAR,  /* as AMP_INFER, and AMP_LOWER next to nodes of AMP_LOWER, too */
    AMP_PRECISION_COUNT
};

/* As rule files write PRECISION: "follow", "lower", "fp32", "bf16", "fp16", "widest", "infer",
   "clear". */
const char *amp_precision_name(enum amp_precision precision);

/* Sets *PRECISION to what WORD names. AMP_USAGE, with the nearest name, when it names none. */
enum amp_status amp_precision_parse(const char *word, enum amp_precision *precision,
                                    struct amp_error *err);

/* The dtype that PRECISION asks for where LOWER is the lower dtype; AMP_UNDEFINED: that hangs on
   the inputs or the surroundings. */
enum amp_dtype amp_precision_dtype(enum amp_precision precision, enum amp_dtype lower);

/* Whether PRECISION asks for a dtype of 16 bits. */
bool amp_precision_is_lower(enum amp_precision precision);

#endif
