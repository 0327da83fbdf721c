#ifndef AMP_CHECK_BENCH_H
#define AMP_CHECK_BENCH_H

#include "core/graph/graph.h"
#include "ops/dnnl/profile.h"
#include "run/plan/plan.h"

/* One form of a model: what is timed (set by the caller) and what came of it. */
struct amp_bench_side {
    enum amp_dtype dtype;            /* what its rules lower to; AMP_FLOAT: nothing */
    const struct amp_model *model;   /* types inferred */
    const struct amp_tensor *inputs; /* one per graph input, as amp_session_run wants them */

    double median, minimum; /* seconds of a run */
    double roofline;   /* seconds of a product (ops/dnnl/roofline.h); 0: the machine has none */
    double ratio;      /* of a run's seconds to those of the product after it */
    size_t peak_bytes; /* the most that the session held at any time, outputs included */
    size_t widened;    /* nodes without a kernel for their dtype: computed in float32 */
    struct amp_profile *profile; /* NULL: not asked for */
    struct amp_session *session; /* keeps what the profile points into */
};

enum { AMP_BENCH_SIDES = 3 /* dtypes at most: float32, bfloat16 and float16 */ };

struct amp_bench {
    struct amp_bench_side *sides; /* of one model, in the order of turns */
    size_t n_sides;
    size_t n_runs; /* of each side, at least 1 */
    bool is_profiled;
    enum amp_strictness strictness;
    void (*note)(const void *context, size_t round, size_t n_rounds); /* how far it is; NULL: nobody
                                                                         asks */
    const void *context;
    double flops; /* of products in a run: ops/flops.h, counted in the first side */
};

/*
 * Times the sides in turns: after two runs of each to warm up, every round times a run of each
 * side, a short one after another that is not timed, and after it the machine's product of matrices
 * in the side's dtype (ops/dnnl/roofline.h; after short runs, in the first rounds). Times are
 * medians over the rounds. Then n_runs more of each side are profiled, where that is asked for.
 * Fails as amp_session_create and amp_session_run do; amp_bench_free follows in any case.
 */
enum amp_status amp_bench_run(struct amp_bench *bench, struct amp_error *err);

/* Frees what amp_bench_run made of the sides, also when that failed. */
void amp_bench_free(struct amp_bench *bench);

#endif
