#ifndef AMP_PATTERN_MATCHER_H
#define AMP_PATTERN_MATCHER_H

#include "core/graph/graph.h"
#include "pattern/term.h"

struct amp_pattern;

/* Where a pattern fits. */
struct amp_pattern_match {
    const uint32_t *nodes; /* the parts, the root first; the matcher's, until it is asked again */
    size_t n_nodes;
    uint32_t values[AMP_PATTERN_VALUES]; /* value ids, as amp_pattern_value counts them; AMP_NONE:
                                            of an alternative that was not taken */
};

/* Looks for patterns in one model. */
struct amp_pattern_matcher;

/* MODEL must not change while the matcher is used; its types must be inferred. */
struct amp_pattern_matcher *amp_pattern_matcher_create(const struct amp_model *model);
void amp_pattern_matcher_destroy(struct amp_pattern_matcher *matcher); /* NULL is fine */

/*
 * Whether PATTERN fits with output 0 of node ROOT as its output; *MATCH then says where. All nodes
 * of a match are of one graph. Apart from the root's, no output of a part is an output of the graph
 * or is used by a node, also of a body, that is no part.
 */
bool amp_pattern_matcher_match(struct amp_pattern_matcher *matcher,
                               const struct amp_pattern *pattern, uint32_t root,
                               struct amp_pattern_match *match);

#endif
