#ifndef AMP_CHECK_PAIRS_H
#define AMP_CHECK_PAIRS_H

#include "core/graph/graph.h"

/* How a value of one model was found to be one of the other's. */
enum amp_pairing_kind {
    AMP_PAIRED_BY_NAME,
    AMP_PAIRED_BY_CASTS,    /* of the value of the name it differs by casts that lose nothing */
    AMP_PAIRED_BY_POSITION, /* alike operators, types and shapes in the same place of the order */
    AMP_PAIRING_KINDS
};

/* The values of the main graphs of two models that stand for the same. Arrays have an entry per
   value of the converted model. */
struct amp_pairs {
    size_t count;                /* values of the converted model */
    uint32_t *of;                /* the reference's value that it is compared with; AMP_NONE: it is
                                    with none, as graph inputs and casts of what is compared are */
    enum amp_pairing_kind *kind; /* of that */
    uint32_t
        *source; /* the reference's value that it holds, casts apart; AMP_NONE: none is known */
    /* Values of the reference and of the converted model that nodes compute and the other has not;
       results of casts and of nodes that compute the same in every run do not count. */
    size_t n_unpaired[2];
};

/* Whether the one node input NODE has goes to its one output as a Cast between float32, float16 and
   bfloat16. */
bool amp_pairs_is_cast(const struct amp_model *model, const struct amp_node *node);

/* Pairs the values of two models whose types are inferred. A value that is the same in every run is
   in no pair. */
struct amp_pairs amp_pairs_create(const struct amp_model *reference,
                                  const struct amp_model *converted);
void amp_pairs_destroy(struct amp_pairs *pairs);

#endif
