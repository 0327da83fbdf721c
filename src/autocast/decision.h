#ifndef AMP_AUTOCAST_DECISION_H
#define AMP_AUTOCAST_DECISION_H

#include "autocast/ranges/ranges.h"
#include "autocast/reason.h"
#include "autocast/rules/precision.h"
#include "core/dtype.h"

struct amp_runtime; /* autocast/runtimes/runtime.h */
struct amp_rule;    /* autocast/rules/rule.h */
struct amp_rule_op; /* autocast/rules/rule.h */
struct amp_whole;   /* autocast/wholes.h */

/* In place of a type variable: all float tensors that a node takes and gives, whose operator has no
   definition (autocast/custom.h). */
enum { AMP_TYPE_ALL_FLOATS = 256 };

/* What was decided about a node, and why. */
struct amp_decision {
    enum amp_precision precision; /* what the rules say */
    const struct amp_rule *rule;  /* NULL: unlisted */
    const struct amp_rule_op *op; /* by which of the rule's operators it matched; NULL: it names
                                     none */
    enum amp_reason reason;
    enum amp_dtype dtype; /* the node runs in: float32 or a lower one; AMP_UNDEFINED: not a float
                             node, or one that keeps its types */
    int type;       /* the type variable (index in the schema's types) that takes the dtype, or
                       AMP_TYPE_ALL_FLOATS; -1: none */
    uint32_t value; /* AMP_REASON_WEIGHT_RANGE and those of ranges: the constant or value that they
                       are about; else AMP_NONE */
    double number;  /* of those of ranges: the magnitude that it has, or comes to */
    enum amp_range_source seen;        /* where that was seen; AMP_RANGES_UNSEEN: it is proved */
    const struct amp_runtime *runtime; /* AMP_REASON_RUNTIME: the one that lacks it; else NULL */
    const char *lacked; /* by it: the operator, the node's or that of another part of the whole */
    const struct amp_whole *whole; /* that the node is part of; NULL: none */
};

#endif
