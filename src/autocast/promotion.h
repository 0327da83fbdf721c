#ifndef AMP_AUTOCAST_PROMOTION_H
#define AMP_AUTOCAST_PROMOTION_H

#include "autocast/decision.h"
#include "autocast/static_values.h"
#include "autocast/types.h"
#include "autocast/wholes.h"

/* Private to autocast/: the dtypes that policies come to. */

/* What promotion goes by. */
struct amp_promoter {
    struct amp_types types;
    enum amp_dtype lower;
    enum amp_constants constants;
    const enum amp_dtype *values;     /* per value id: what it has become */
    const struct amp_decision *nodes; /* per node id: what was decided */
    const struct amp_wholes *wholes;
    const struct amp_static_values *static_values;
    const bool *is_folded;        /* per value id: amp_folded_find */
    const struct amp_str *scopes; /* per node id: amp_recurrent_scopes_find */
    struct amp_str layer;         /* the recurrent layer that the last node is in */
    bool is_layer_noted;          /* in metadata, not by name */
    enum amp_dtype layer_dtype; /* of what goes into it; AMP_UNDEFINED: not seen yet, or no layer */
    bool *has_promoting_constants; /* set when a constant makes its user float32 */
};

/* Which inputs take part in promotion. */
enum amp_promotion_part {
    AMP_PART_LIVE,     /* those that depend on an input of the model */
    AMP_PART_CONSTANT, /* and constants with dims, as in PyTorch parameters and buffers do */
    AMP_PART_COMPUTED, /* all but constants: what is computed from constants too */
    AMP_PART_ALL
};

/* The dtype that the node's inputs of type variable TYPE promote to, those that PART says;
   AMP_UNDEFINED: there are none. */
enum amp_dtype amp_promoted_dtype(const struct amp_promoter *promoter, const struct amp_node *node,
                                  int type, enum amp_promotion_part part);

/* The dtype that the precision of DECISION comes to for NODE, which is part of no whole. */
enum amp_dtype amp_policy_dtype(const struct amp_promoter *promoter, const struct amp_node *node,
                                const struct amp_decision *decision);

/* The dtype of those parts of WHOLE for which the rules say PRECISION. */
enum amp_dtype amp_policy_dtype_of_whole(const struct amp_promoter *promoter,
                                         const struct amp_whole *whole,
                                         enum amp_precision precision);

/* Notes in which recurrent layer node ID is, and the dtype of the first float that goes into it: of
   that dtype PyTorch makes the states that the layer begins with where it is given none
   (torch/nn/modules/rnn.py), which exporters make constants. */
void amp_promoter_enter(struct amp_promoter *promoter, uint32_t id);

#endif
