#ifndef AMP_PATTERN_KIND_H
#define AMP_PATTERN_KIND_H

#include "core/graph/graph.h"

/* Whether VALUE, which is an input of node USER, is of one of the kinds that patterns ask for
   ("e:eps"; pattern/pattern.h lists them). */
typedef bool amp_pattern_kind(const struct amp_model *model, uint32_t value, uint32_t user);

/* The test of the kind that a pattern calls NAME; NULL when there is no such kind. */
amp_pattern_kind *amp_pattern_kind_find(const char *name);

#endif
