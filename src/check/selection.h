#ifndef AMP_CHECK_SELECTION_H
#define AMP_CHECK_SELECTION_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/*
 * Selections: what nodes of the main graph choose by comparing values (column selects of struct
 * amp_op): boxes that suppression leaves, the places of the largest elements. A value is behind a
 * selection when its shape, or which element stands where in it, comes from one, so that it cannot
 * be held against another run's element by element where that selected otherwise. What is written
 * over elements of a value in their places (amp_op.overwrites) leaves that where it was. Choices
 * that come from no float are the same in every precision and count as none; those in bodies of
 * control flow are not seen.
 */
struct amp_selection {
    uint32_t node;      /* that selects, of the reference */
    uint32_t values[2]; /* that say what is selected: of the reference, and of the converted model;
                           AMP_NONE: none is known */
    /* Over all samples: items of the reference, of the converted model, of the larger of the two,
       and how many of the latter the other has not. */
    uint64_t items[2], larger, otherwise;
};

struct amp_selections {
    const struct amp_model *model; /* the reference, which must stay */
    size_t count;
    struct amp_selection *items; /* in the order of the graph */
    size_t n_outputs;            /* of the graph */
    bool *reaches;               /* per output and selection, COUNT in a row: it is behind that */
    struct amp_ids sources;      /* the floats that what is behind selections is made of, which are
                                    behind none: what nodes compare, and what they choose from */
    bool has_products;           /* nodes behind selections compute products (amp_op.flops) */
    struct amp_arena *arena;     /* of all this */
};

/* The selections that outputs of MODEL, whose types are inferred, are behind. */
struct amp_selections amp_selections_find(const struct amp_model *model);
void amp_selections_free(struct amp_selections *selections); /* a zeroed one is fine */

/* Finds the values of CONVERTED that are the same selections (check/pairs.h). Outputs that are
   behind one that it has not count as behind none from then on. */
void amp_selections_pair(struct amp_selections *selections, const struct amp_model *converted);

/* Whether output OUTPUT is behind SELECTION. */
bool amp_selections_reach(const struct amp_selections *selections, size_t output, size_t selection);

/* Whether output OUTPUT is behind any selection. */
bool amp_output_is_selected(const struct amp_selections *selections, size_t output);

/* The fraction of the items of SELECTION that only one of the models has: of those that the larger
   selection of each sample has and the other not; 0 where nothing is selected. */
double amp_selection_differ(const struct amp_selection *selection);

/* The selection that output OUTPUT is behind and that differs most; NULL: it is behind none. */
const struct amp_selection *amp_selection_worst(const struct amp_selections *selections,
                                                size_t output);

/* Writes "NonMaxSuppression 'nms'" to TEXT of SIZE bytes, which it returns; an unnamed node goes by
   what it gives. */
char *amp_selection_node_text(const struct amp_selections *selections,
                              const struct amp_selection *selection, char *text, size_t size);

/* Whether both tensors say that the same is selected, in the same order. */
bool amp_selection_is_same(const struct amp_tensor *reference, const struct amp_tensor *converted);

/* Adds what both models select in a sample, each as a set (of equal items, as many as it has). */
void amp_selection_add(const struct amp_selections *selections, size_t selection,
                       const struct amp_tensor *reference, const struct amp_tensor *converted);

/* MODEL, reference (SIDE 0) or converted (1), with what is selected as more outputs behind its own,
   one for each selection, which are paired; a copy in the arena of SELECTIONS. */
const struct amp_model *amp_selections_watch(const struct amp_selections *selections,
                                             const struct amp_model *model, int side);

struct amp_session; /* run/exec/session.h */

/*
 * Runs SESSION, of the converted model that amp_selections_watch gave, with INPUTS as
 * amp_session_run does, but that each selection, as soon as it is made, becomes the one of
 * SELECTED, the reference's: which is what the converted model makes of the same selection. Adds
 * both before that (amp_selection_add), so that a selection among what another selected is compared
 * on equal terms.
 */
enum amp_status amp_selections_give(const struct amp_selections *selections,
                                    struct amp_session *session, const struct amp_tensor *inputs,
                                    const struct amp_tensor *selected, struct amp_tensor *outputs,
                                    struct amp_error *err);

/* MODEL, of whose graph outputs those that are behind selections are replaced by the sources; a
   copy in ARENA. MODEL itself where it has not all of the sources, by their names, where there are
   none, and where there are products behind selections, so that the sources are not what counts. */
const struct amp_model *amp_selections_expose(const struct amp_selections *selections,
                                              const struct amp_model *model,
                                              struct amp_arena *arena);

#endif
