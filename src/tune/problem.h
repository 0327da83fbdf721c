#ifndef AMP_TUNE_PROBLEM_H
#define AMP_TUNE_PROBLEM_H

#include "core/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a tuner decides, as numbers: which units of a model, all of which could run in the lower
 * dtype, are kept in float32. Where there are two lower dtypes, a unit that can have both is there
 * twice, one behind the other: kept in the finer of both in place of the coarser, a first step, and
 * kept in float32, a second one that includes the first. Losses are in any unit of cost (seconds,
 * bytes, nodes), powers are squared errors of the outputs relative to their energy.
 */

/* Nodes that are decided on together. */
struct amp_unit {
    const char *name; /* of its last node, or what stands for it: "node 'conv1' (Conv-11)" */
    const char *op;   /* the operator or composite that it is, for strategies by operator */
    uint32_t *nodes;  /* ids in the model, in the order of the graph */
    size_t n_nodes;
    bool is_fine; /* it is the first step of the next unit, of the same nodes */
    double loss;  /* what keeping it in float32 costs beside its casts; may be below 0 */
};

/* Noise that is there unless both units are float32; A and B may be the same. */
struct amp_problem_noise {
    uint32_t a, b;
    double power; /* >= 0; finite */
};

/* What it costs when one of the two units is float32 and the other is not: casts. */
struct amp_problem_edge {
    uint32_t a, b;
    double cost; /* >= 0 */
};

struct amp_problem {
    struct amp_unit *units; /* in the order of the graph */
    size_t n_units;
    struct amp_problem_noise *noises;
    size_t n_noises;
    struct amp_problem_edge *edges;
    size_t n_edges;
    double floor;       /* the noise that stays when all units are float32 */
    double base;        /* what a run costs with all units low, in the unit of the losses */
    const char *origin; /* where the costs come from, for reports; NULL: nowhere */
};

/* KEEPS has an entry per unit: whether it is kept. */
double amp_problem_loss(const struct amp_problem *problem, const bool *keeps);
double amp_problem_power(const struct amp_problem *problem, const bool *keeps);

/* The units that may be float32, and those of them that are; the nodes of these, and the nodes that
   took the first step alone. */
size_t amp_problem_units(const struct amp_problem *problem);
size_t amp_problem_kept(const struct amp_problem *problem, const bool *keeps);
size_t amp_problem_kept_nodes(const struct amp_problem *problem, const bool *keeps);
size_t amp_problem_fine_nodes(const struct amp_problem *problem, const bool *keeps);

/* What keeping UNIT, with its first step, costs beside its casts. */
double amp_problem_unit_loss(const struct amp_problem *problem, uint32_t unit);

/* Whether nothing is kept. */
bool amp_problem_is_low(const struct amp_problem *problem, const bool *keeps);

/* Whether units are there twice. */
bool amp_problem_has_steps(const struct amp_problem *problem);

/* The unit that is the first step of UNIT; UNIT itself where there is one step alone. */
uint32_t amp_problem_step(const struct amp_problem *problem, uint32_t unit);

/* Whether UNIT is a first step of which KEEPS has the second too, which includes it. */
bool amp_problem_is_implied(const struct amp_problem *problem, const bool *keeps, uint32_t unit);

/* The hash of a choice of N units. */
uint64_t amp_problem_hash(const bool *keeps, size_t n);

#endif
