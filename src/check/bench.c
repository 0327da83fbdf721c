/*
 * Times several forms of one model in turns, so that a change of the machine's speed meets all of
 * them. Takes models that are converted, with their inputs; gives medians, minima, the peak of
 * memory, the arithmetic of a run and, on request, profiles. Prints nothing.
 */
#include "check/bench.h"

#include "core/clock.h"
#include "core/memory.h"
#include "ops/dnnl/roofline.h"
#include "run/exec/session.h"

#include <stdlib.h>

enum { N_WARM_UPS = 2 };

/* The times of one side, an entry per round: seconds of its run, seconds of the machine's product
   after it, and the ratio of the two. */
struct turns {
    struct amp_roofline *roofline; /* NULL: no product in that dtype */
    double *runs, *products, *ratios;
    size_t n_products; /* of the products and their ratios */
};

/* Runs SIDE once and drops the outputs; *SECONDS (may be NULL) is what the run took. */
static enum amp_status run_side(struct amp_bench_side *side, double *seconds, struct amp_error *err)
{
    size_t n_outputs = side->model->graphs[0].outputs.count;
    struct amp_tensor *outputs = amp_xcalloc(n_outputs, sizeof *outputs);
    double start = amp_clock_seconds();
    enum amp_status status = amp_session_run(side->session, side->inputs, outputs, err);
    if (seconds != NULL)
        *seconds = amp_clock_seconds() - start;
    amp_tensors_release(outputs, n_outputs);
    free(outputs);
    return status;
}

/* Creates the side's session and runs it to warm up. The peak is counted from what the sessions
   before it hold. */
static enum amp_status start_side(struct amp_bench_side *side, enum amp_strictness strictness,
                                  struct amp_error *err)
{
    size_t before = amp_memory_used();
    amp_memory_restart_peak();
    enum amp_status status = amp_session_open(side->model, strictness, &side->session, err);
    for (int i = 0; i < N_WARM_UPS && status == AMP_OK; i++)
        status = run_side(side, NULL, err);
    if (status != AMP_OK)
        return status;
    side->peak_bytes = amp_memory_peak() - before;
    side->widened = amp_session_widened(side->session);
    return AMP_OK;
}

/* Makes room for the times of SIDE, and its roofline, unless the machine has no product in the
   side's dtype. */
static enum amp_status start_turns(const struct amp_bench *bench, const struct amp_bench_side *side,
                                   struct turns *turns, struct amp_error *err)
{
    struct amp_error refusal = {.status = AMP_OK};
    turns->runs = amp_xcalloc(bench->n_runs, sizeof *turns->runs);
    turns->products = amp_xcalloc(bench->n_runs, sizeof *turns->products);
    turns->ratios = amp_xcalloc(bench->n_runs, sizeof *turns->ratios);
    enum amp_status status = amp_roofline_create(side->dtype, &turns->roofline, &refusal);
    return status == AMP_OK || status == AMP_UNSUPPORTED
               ? AMP_OK
               : amp_fail(err, status, "%s", refusal.text);
}

/* A run that takes longer than this fills the caches with its own data soon enough. */
#define SHORT_SECONDS 20e-3

/* As many products say what the machine does while short runs are timed: there may be thousands of
   those, and a product takes longer than hundreds of them. */
enum { N_SHORT_PRODUCTS = 16 };

/* Times the machine's product, which finds in the caches what it had there: it runs twice. SECONDS
   is what the run before it took. */
static enum amp_status time_product(struct turns *turns, double seconds, struct amp_error *err)
{
    double *product = &turns->products[turns->n_products];
    for (int i = 0; i < 2; i++)
        AMP_TRY(amp_roofline_run(turns->roofline, product, err));
    turns->ratios[turns->n_products++] = seconds / *product;
    return AMP_OK;
}

/* Times one run of SIDE and, right after it, the machine's product, since the speed of a machine
   may change from second to second. A short run is taken twice, since it would else be timed with
   what the product, or another side, has left in the caches. */
static enum amp_status take_turn(struct amp_bench_side *side, struct turns *turns, size_t round,
                                 struct amp_error *err)
{
    double *seconds = &turns->runs[round];
    AMP_TRY(run_side(side, seconds, err));
    bool is_short = *seconds < SHORT_SECONDS;
    if (is_short)
        AMP_TRY(run_side(side, seconds, err));
    if (turns->roofline == NULL || (is_short && turns->n_products >= N_SHORT_PRODUCTS))
        return AMP_OK;
    return time_product(turns, *seconds, err);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts VALUES and gives their median: the mean of the two in the middle where COUNT is even; 0
   where there are none. */
static double median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static enum amp_status time_sides(struct amp_bench *bench, struct turns *turns,
                                  struct amp_error *err)
{
    for (size_t i = 0; i < bench->n_sides; i++)
        AMP_TRY(start_turns(bench, &bench->sides[i], &turns[i], err));
    for (size_t round = 0; round < bench->n_runs; round++) {
        for (size_t i = 0; i < bench->n_sides; i++)
            AMP_TRY(take_turn(&bench->sides[i], &turns[i], round, err));
        if (bench->note != NULL)
            bench->note(bench->context, round + 1, bench->n_runs);
    }
    for (size_t i = 0; i < bench->n_sides; i++) {
        struct amp_bench_side *side = &bench->sides[i];
        side->median = median(turns[i].runs, bench->n_runs);
        side->minimum = turns[i].runs[0];
        side->roofline = median(turns[i].products, turns[i].n_products);
        side->ratio = median(turns[i].ratios, turns[i].n_products);
    }
    return AMP_OK;
}

static enum amp_status time_in_turns(struct amp_bench *bench, struct amp_error *err)
{
    struct turns *turns = amp_xcalloc(bench->n_sides, sizeof *turns);
    enum amp_status status = time_sides(bench, turns, err);
    for (size_t i = 0; i < bench->n_sides; i++) {
        amp_roofline_destroy(turns[i].roofline);
        free(turns[i].runs);
        free(turns[i].products);
        free(turns[i].ratios);
    }
    free(turns);
    return status;
}

static enum amp_status profile_side(struct amp_bench_side *side, size_t n_runs,
                                    struct amp_error *err)
{
    enum amp_status status = AMP_OK;
    side->profile = amp_profile_create();
    amp_session_observe(side->session, side->profile);
    for (size_t i = 0; i < n_runs && status == AMP_OK; i++)
        status = run_side(side, NULL, err);
    amp_session_observe(side->session, NULL);
    return status;
}

/* Sums the arithmetic of a run of the first side, node by node as the graph is written, so that no
   fusion hides any. The other sides do as much. */
static enum amp_status count_flops(struct amp_bench *bench, struct amp_error *err)
{
    struct amp_bench_side counted = {.model = bench->sides[0].model,
                                     .inputs = bench->sides[0].inputs};
    enum amp_status status = amp_session_open(counted.model, AMP_ROUNDED, &counted.session, err);
    if (status == AMP_OK)
        status = profile_side(&counted, 1, err);
    if (status == AMP_OK) {
        size_t n_nodes;
        const struct amp_profile_node *nodes = amp_profile_nodes(counted.profile, &n_nodes);
        for (size_t i = 0; i < n_nodes; i++)
            bench->flops += nodes[i].flops;
    }
    amp_profile_destroy(counted.profile);
    amp_session_destroy(counted.session);
    return status;
}

enum amp_status amp_bench_run(struct amp_bench *bench, struct amp_error *err)
{
    AMP_TRY(count_flops(bench, err));
    for (size_t i = 0; i < bench->n_sides; i++)
        AMP_TRY(start_side(&bench->sides[i], bench->strictness, err));
    AMP_TRY(time_in_turns(bench, err));
    for (size_t i = 0; i < bench->n_sides && bench->is_profiled; i++)
        AMP_TRY(profile_side(&bench->sides[i], bench->n_runs, err));
    return AMP_OK;
}

void amp_bench_free(struct amp_bench *bench)
{
    for (size_t i = 0; i < bench->n_sides; i++) {
        amp_profile_destroy(bench->sides[i].profile);
        amp_session_destroy(bench->sides[i].session);
    }
}
