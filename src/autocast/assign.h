#ifndef AMP_AUTOCAST_ASSIGN_H
#define AMP_AUTOCAST_ASSIGN_H

#include "autocast/rules/rules.h"
#include "core/graph/graph.h"
#include "pattern/composites.h"

/* Why a node has its precision: the rule that matched it, or the constraint that kept it from it.
   Name and text of each stand in reason.c. */
enum amp_reason {
    AMP_REASON_RULE,           /* a rule decided */
    AMP_REASON_UNLISTED,       /* no rule matched: it follows its inputs */
    AMP_REASON_NOT_FLOAT,      /* no float inputs or outputs */
    AMP_REASON_UNKNOWN_TYPE,   /* nothing says the dtype of its data */
    AMP_REASON_NOT_TENSOR,     /* sequences, optionals and maps keep their types */
    AMP_REASON_DOUBLE,         /* float64 data are not eligible */
    AMP_REASON_EXPLICIT_DTYPE, /* an attribute says its dtype */
    AMP_REASON_CONTROL_FLOW,   /* If, Loop, Scan: their bodies decide for themselves */
    AMP_REASON_UNKNOWN_OP,     /* not in the schema table: float32 at its edges */
    AMP_REASON_QUANTIZED,      /* dequantized data in, quantized data out: integers in truth */
    AMP_REASON_NO_LOWER_TYPE,  /* no opset in reach lets the operator take the lower dtype */
    AMP_REASON_OPSET,          /* it needs a newer opset than the model can be raised to */
    AMP_REASON_WEIGHT_RANGE,   /* a constant input has values beyond the lower dtype's range */
    AMP_REASON_COUNT
};

struct amp_decision {
    enum amp_precision wish;      /* what the rules say */
    const struct amp_rule *rule;  /* NULL: unlisted */
    const struct amp_rule_op *op; /* by which of the rule's operators it matched; NULL: it names
                                     none */
    enum amp_reason reason;
    enum amp_dtype dtype; /* the node runs in: float32 or the lower one; AMP_UNDEFINED: not a float
                             node, or one that keeps its types */
    int type;       /* the type variable (index in the schema's types) that takes the dtype; -1 */
    uint32_t value; /* AMP_REASON_WEIGHT_RANGE: the constant; else AMP_NONE */
    const struct amp_composite_match *composite; /* that the node is part of; NULL: none */
};

struct amp_assignment {
    enum amp_dtype lower;
    struct amp_decision *nodes; /* per node id */
    enum amp_dtype *values;     /* per value id: its dtype once the decisions are carried out */
    bool *is_interface;         /* per value id: as in amp_assign_options.interface */
    struct amp_composites composites;
    int opset;      /* the opset of ai.onnx that all this needs */
    size_t n_nodes; /* of the model when it was made; nodes made later have no decision */
};

struct amp_assign_options {
    const struct amp_rules *rules;
    enum amp_dtype lower;
    int cap; /* the newest opset that the model may be raised to: nodes that need more stay float32
              */
    struct amp_ids interface; /* inputs and outputs of the main graph, of another float dtype and
                                 without an initial value, that are to have the lower dtype */
};

/*
 * Decides the precision of every node by the rules, as torch.autocast does (design: "Autocast
 * semantics"); the parts of a composite together, as the one operator that they stand for. Types
 * must be inferred. The model is not changed; the assignment lives in its arena. An interface may
 * need an opset beyond the cap, which assignment.opset then says. AMP_RULES when matching the rules
 * takes too long.
 */
enum amp_status amp_assign(const struct amp_model *model, const struct amp_assign_options *options,
                           struct amp_assignment *assignment, struct amp_error *err);

/* The dtype that input I of NODE, which must be there, is to have: the decided one where it is of
   the main type variable of SCHEMA, the definition that the decision was made for; for a Cast, what
   it has become, as going back to what it came with would round once more; else that. */
enum amp_dtype amp_assigned_dtype(const struct amp_model *model,
                                  const struct amp_assignment *assignment, uint32_t node,
                                  const struct amp_schema *schema, uint32_t i);

/* "rule", "unlisted", "weight-range" ...: stable names for reports; and a sentence for people. */
const char *amp_reason_name(enum amp_reason reason);
const char *amp_reason_text(enum amp_reason reason);

#endif
