#ifndef AMP_CHECK_NOISE_H
#define AMP_CHECK_NOISE_H

#include "check/noise/sources.h"
#include "check/validate.h"

/*
 * Where the error of a converted model comes from. A source is a place where the conversion rounds;
 * what it adds is the squared error of the outputs when it alone is rounded and all else is
 * float32, and nearly adds up over the sources. Errors are relative to the outputs' energy: of each
 * output by itself, then the mean over the outputs that have energy (floats, not all zero). Errors
 * do not flow through indices: in the place of outputs that are behind selections
 * (check/selection.h) stands what these are made from, unless products are computed behind them.
 */
struct amp_noise {
    struct amp_noise_source *sources; /* in the order of the graph */
    size_t n_sources, n_groups;
    double predicted; /* the sum of the sources */
    double joint;     /* what all sources together add when the reference is rounded at all of them,
                         but for elements that this would make infinite */
    double measured;  /* what the converted model gives */
    double chance;    /* how far MEASURED strays on so many samples, as a standard deviation in dB:
                         errors of sources reinforce and cancel each other, the less evenly the
                         fewer elements outputs have; NaN: not known */
    uint64_t n_lost;  /* elements that are finite in the reference only, in the converted model */
    uint64_t n_nonfinite;        /* elements that are not finite in the reference: in no sum */
    size_t n_selected;           /* outputs that are behind selections */
    size_t n_outputs, n_counted; /* what is measured, and how much of it has energy */
    size_t n_samples, n_probed;  /* that the error was measured on, and the sources probed on */
    double plain_runs;           /* what the probe cost, in runs of the reference on one sample */
    struct amp_arena *arena;     /* of the sources */
};

struct amp_noise_options {
    struct amp_source source; /* for the reference's inputs */
    size_t n_probed; /* samples to probe on, the first ones; 0: as many as fit the budget */
    double budget;   /* plain runs that the probe may cost; 0: amp_noise_budget */
};

/* What a probe of a model of N_NODES nodes may cost by default, in plain runs. */
double amp_noise_budget(size_t n_nodes);

/*
 * Finds the sources of CONVERTED and what each adds, and runs both models, whose types are
 * inferred, to measure. The same models and samples give the same result, whatever the machine's
 * load. The models must outlive RESULT. AMP_MODEL when the models do not have the same inputs and
 * outputs; otherwise what loading and running say.
 */
enum amp_status amp_noise_find(const struct amp_model *reference, const struct amp_model *converted,
                               const struct amp_noise_options *options, struct amp_noise *result,
                               struct amp_error *err);

/* 10 log10 of what PREDICTED is of MEASURED; NaN where one of them is 0 or the converted model lost
   elements. */
double amp_noise_difference(const struct amp_noise *noise);

void amp_noise_free(struct amp_noise *noise); /* a zeroed one is fine */

#endif
