#ifndef AMP_TUNE_COST_PROFILE_H
#define AMP_TUNE_COST_PROFILE_H

#include "core/status.h"
#include "tune/costs.h"

/* The time of a node, over several runs. */
struct amp_node_time {
    double seconds; /* the lower quartile */
    double spread;  /* from there to the upper quartile: seconds */
};

/* The time of a node that took RUNS, N_RUNS of them, at least 1, which it sorts. */
struct amp_node_time amp_node_time_make(double *runs, size_t n_runs);

/* Leaves the times of a node in float32 and in the lower dtype, which moves SAVED bytes less, as
   they are, unless they make the lower dtype the slower one by no clear difference: then, as for
   nodes that have no time of their own, it is faster by a trifle. */
void amp_node_time_settle(struct amp_node_time *wide, struct amp_node_time *low, double saved);

/* What both models take on this machine, per node of the reference. */
struct amp_cost_profile {
    struct amp_node_time *wide, *low;
    double cast_rate; /* bytes per second that the casts of the conversion read and write; 0: it
                         has none that run */
    size_t n_runs;    /* of each model */
};

/*
 * Runs the reference and its conversion in turns, as a session runs them in use, for about the
 * seconds of REQUEST; PROFILE is in ARENA. A node that runs as a part of another has no time of its
 * own. Where that is so in one of the models alone, it and the node it is a part of share their
 * times in both. Fails as sessions do.
 */
enum amp_status amp_cost_profile_measure(const struct amp_costs_request *request,
                                         struct amp_arena *arena, struct amp_cost_profile *profile,
                                         struct amp_error *err);

/* The last step of that: has nodes of REFERENCE that are a part of a neighbour in one of the models
   alone share times with it, in the proportion in which they take them where both run. */
void amp_cost_profile_share(const struct amp_cost_profile *profile,
                            const struct amp_model *reference);

#endif
