#ifndef AMP_AUTOCAST_PROVENANCE_H
#define AMP_AUTOCAST_PROVENANCE_H

#include "autocast/rules/rule.h"
#include "core/graph/graph.h"

/* What a model was like before its nodes were lowered, in its arena. */
struct amp_provenance {
    uint32_t n_values;
    enum amp_dtype *dtypes; /* per value */
    size_t n_casts;
};

/* Notes what MODEL is like before any node is lowered. */
struct amp_provenance amp_provenance_begin(const struct amp_model *model);

/*
 * Has the metadata of MODEL say what it was converted by: "ampconv.version", "ampconv.dtype", those
 * of the mask LOWERS, and "ampconv.rules", the names of the sets in RULES; in place of what an
 * earlier conversion said. A model that nothing was changed in since BEFORE keeps what it says.
 * IS_SILENT: a model that was changed says nothing.
 */
void amp_provenance_end(struct amp_model *model, const struct amp_provenance *before,
                        const struct amp_rules *rules, uint32_t lowers, bool is_silent);

#endif
