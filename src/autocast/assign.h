#ifndef AMP_AUTOCAST_ASSIGN_H
#define AMP_AUTOCAST_ASSIGN_H

#include "autocast/decision.h"
#include "autocast/training/keep.h"
#include "core/graph/graph.h"

struct amp_rules;    /* autocast/rules/rule.h */
struct amp_runtimes; /* autocast/runtimes/runtime.h */
struct amp_wholes;   /* autocast/wholes.h */

struct amp_assignment {
    enum amp_dtype lower;
    enum amp_dtype second; /* as in amp_assign_options */
    uint32_t lowers;       /* all dtypes that nodes are lowered to, as a mask of AMP_DTYPE_BIT */
    struct amp_decision *nodes; /* per node id */
    enum amp_dtype *values;     /* per value id: its dtype once the decisions are carried out */
    bool *is_interface;         /* per value id: as in amp_assign_options.interface */
    const struct amp_wholes *wholes;
    bool has_promoting_constants; /* a constant made its user float32 (AMP_CONSTANTS_PROMOTE) */
    int opset;                    /* the opset of ai.onnx that all this needs */
    size_t n_nodes; /* of the model when it was made; nodes made later have no decision */
};

struct amp_assign_options {
    const struct amp_rules *rules;
    enum amp_dtype lower;
    enum amp_dtype second; /* the dtype of nodes that cannot have the lower one, where they can have
                              this, and the other way round; AMP_UNDEFINED: float32 */
    const struct amp_ranges *ranges; /* of the model's values; NULL: nothing was seen of them */
    int cap; /* the newest opset that the model may be raised to: nodes that need more stay float32
              */
    const struct amp_runtimes
        *runtimes;            /* that the model is to run in; NULL: whatever takes ONNX */
    struct amp_ids interface; /* inputs and outputs of the main graph, of another float dtype and
                                 without an initial value, that are to have the lower dtype */
    struct amp_training_role training;
};

/*
 * Decides the precision of every node by the rules, as torch.autocast does; the parts of a
 * composite together, as the one operator that they stand for. Types must be inferred. The model is
 * not changed; the assignment lives in its arena. An interface may need an opset beyond the cap,
 * which assignment.opset then says. AMP_RULES when matching the rules takes too long;
 * AMP_UNSUPPORTED for a loss that is no good in the lower dtype (training/loss.h).
 */
enum amp_status amp_assign(const struct amp_model *model, const struct amp_assign_options *options,
                           struct amp_assignment *assignment, struct amp_error *err);

/* Whether ASSIGNMENT lowers nodes to DTYPE. */
static inline bool amp_assignment_lowers(const struct amp_assignment *assignment,
                                         enum amp_dtype dtype)
{
    return (assignment->lowers & AMP_DTYPE_BIT(dtype)) != 0;
}

/* Whether DTYPE is one that ASSIGNMENT lowers nodes to where no rule names it. */
static inline bool amp_assignment_chooses(const struct amp_assignment *assignment,
                                          enum amp_dtype dtype)
{
    return dtype == assignment->lower || (dtype == assignment->second && dtype != AMP_UNDEFINED);
}

/*
 * The dtype that input I of NODE, which must be there, is to have:
 *   - the decided one, where the input is of the decision's type variable in SCHEMA, the definition
 *     that the decision was made for;
 *   - of what a Cast or CastLike casts: what the value has become, as going back to its old dtype
 * would round once more;
 *   - else the dtype that the value has in the model.
 */
enum amp_dtype amp_assigned_dtype(const struct amp_model *model,
                                  const struct amp_assignment *assignment, uint32_t node,
                                  const struct amp_schema *schema, uint32_t i);

#endif
