#ifndef AMP_AUTOCAST_RANGES_RANGES_H
#define AMP_AUTOCAST_RANGES_RANGES_H

#include "core/number/interval.h"
#include "core/number/range.h"
#include "core/strmap.h"

#include <stddef.h>

struct amp_arena; /* core/arena.h */
struct amp_model; /* core/graph/graph.h */

/* What runs were looked at for what was seen. */
enum amp_range_source {
    AMP_RANGES_UNSEEN, /* none */
    AMP_RANGES_DATA,   /* on samples of the user's */
    AMP_RANGES_RANDOM  /* on random inputs, which are no data */
};

/* What is known of the elements of one value of the main graph. */
struct amp_value_range {
    const char *name;
    struct amp_range seen;      /* in float32 runs; count 0: nothing was */
    struct amp_interval proved; /* holds whatever the inputs are */
    const char *rule;           /* the operator whose bound that is; NULL: nothing is proved */
};

/* The ranges of a model's values, by their names. */
struct amp_ranges {
    struct amp_arena *arena;
    enum amp_range_source source;
    size_t n_samples;              /* that were run */
    const char *path;              /* of the file that they come from; NULL: none */
    const char *inputs;            /* amp_ranges_key of the model */
    struct amp_value_range *items; /* in the order of the graph */
    size_t count, capacity;
    struct amp_strmap by_name;
};

/* Empty ranges in ARENA, which must outlive them. */
struct amp_ranges *amp_ranges_create(struct amp_arena *arena);

/* The entry of NAME; a new one, of which nothing is known, where there is none. The pointer is good
   until the next one is added. */
struct amp_value_range *amp_ranges_entry(struct amp_ranges *ranges, const char *name);

/* The entry of NAME; NULL: there is none. */
const struct amp_value_range *amp_ranges_find(const struct amp_ranges *ranges, const char *name);

/* "data", "random", "none". */
const char *amp_range_source_name(enum amp_range_source source);

/* "in data", "in random inputs", "proved": where a number comes from that was seen in SOURCE. */
const char *amp_range_evidence(enum amp_range_source source);

/* What tells a model's inputs from another's: a hash of their names, dtypes and shapes as text, in
   ARENA. */
const char *amp_ranges_key(const struct amp_model *model, struct amp_arena *arena);

/* How many entries name no value of MODEL's main graph; *FIRST becomes the name of the first. */
size_t amp_ranges_count_unknown(const struct amp_ranges *ranges, const struct amp_model *model,
                                const char **first);

#endif
