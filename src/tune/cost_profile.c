/*
 * Times the nodes of a model and of its conversion on this machine: takes both models and inputs,
 * gives seconds per node of the first. Both run in turns, so that a change of the machine's speed
 * meets them alike. What stands is the lower quartile of each node's times, since other programs
 * only add to them.
 */
#include "tune/cost_profile.h"

#include "core/clock.h"
#include "core/graph/uses.h"
#include "core/tensor.h"
#include "ops/dnnl/profile.h"
#include "run/exec/session.h"
#include "tune/cost_owner.h"
#include "tune/cost_table.h"
#include "tune/cost_work.h"

#include <math.h>
#include <stdlib.h>

enum { N_WARM_UPS = 2, N_RUNS_MIN = 3, N_RUNS_MAX = 31 };

/* A difference below that many spreads is noise of the measurement. */
static const double clear_spreads = 3;

/* What a node saves at least, as a part of the time that memory takes for the bytes it saves. */
static const double least_saving = 0.01;

/* One of the models, and its runs. */
struct side {
    const struct amp_model *reference, *model;
    const struct amp_tensor *inputs;
    const uint32_t *owners;
    struct amp_session *session;
    double *seconds; /* N_RUNS_MAX per node of the reference */
    double cast_seconds, cast_bytes;
};

struct pair {
    struct side wide, low;
    size_t n_runs;
    struct amp_error *err;
};

/* ---- runs ------------------------------------------------------------------------------------ */

static enum amp_status run_once(const struct side *side, struct amp_error *err)
{
    size_t n_outputs = side->model->graphs[0].outputs.count;
    struct amp_tensor *outputs = amp_xcalloc(n_outputs + 1, sizeof *outputs);
    enum amp_status status = amp_session_run(side->session, side->inputs, outputs, err);
    amp_tensors_release(outputs, n_outputs);
    free(outputs);
    return status;
}

/* Adds what PROFILE says of run number RUN to the times of the nodes and casts of SIDE. */
static void add_run(struct side *side, const struct amp_profile *profile, size_t run)
{
    size_t count;
    const struct amp_profile_node *nodes = amp_profile_nodes(profile, &count);
    for (uint32_t id = 0; id < count && id < side->model->n_nodes; id++) {
        if (side->owners[id] != AMP_NONE)
            side->seconds[side->owners[id] * (size_t)N_RUNS_MAX + run] += nodes[id].seconds;
        else if (amp_cost_is_new_cast(side->reference, side->model, id)) {
            side->cast_seconds += nodes[id].seconds;
            side->cast_bytes += nodes[id].bytes;
        }
    }
}

static enum amp_status time_run(struct side *side, size_t run, struct amp_error *err)
{
    struct amp_profile *profile = amp_profile_create();
    amp_session_observe(side->session, profile);
    enum amp_status status = run_once(side, err);
    amp_session_observe(side->session, NULL);
    if (status == AMP_OK)
        add_run(side, profile, run);
    amp_profile_destroy(profile);
    return status;
}

static enum amp_status start(struct side *side, struct amp_arena *arena, struct amp_error *err)
{
    side->owners = amp_cost_owners(side->reference, side->model, arena);
    side->seconds =
        amp_arena_array(arena, side->reference->n_nodes, N_RUNS_MAX * sizeof *side->seconds);
    AMP_TRY(amp_session_open(side->model, AMP_FREE, &side->session, err));
    for (int i = 0; i < N_WARM_UPS; i++)
        AMP_TRY(run_once(side, err));
    return AMP_OK;
}

/* Runs both models until END, by amp_clock_seconds, or often enough. */
static enum amp_status run_in_turns(struct pair *pair, struct amp_arena *arena, double end)
{
    AMP_TRY(start(&pair->wide, arena, pair->err));
    AMP_TRY(start(&pair->low, arena, pair->err));
    for (; pair->n_runs < N_RUNS_MAX; pair->n_runs++) {
        if (pair->n_runs >= N_RUNS_MIN && amp_clock_seconds() >= end)
            break;
        AMP_TRY(time_run(&pair->wide, pair->n_runs, pair->err));
        AMP_TRY(time_run(&pair->low, pair->n_runs, pair->err));
    }
    return AMP_OK;
}

/* ---- what they say --------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct amp_node_time amp_node_time_make(double *runs, size_t n_runs)
{
    size_t quarter = (n_runs - 1) / 4;
    qsort(runs, n_runs, sizeof *runs, compare_doubles);
    return (struct amp_node_time){runs[quarter], runs[n_runs - 1 - quarter] - runs[quarter]};
}

static struct amp_node_time *sum_up(const struct side *side, size_t n_runs, struct amp_arena *arena)
{
    size_t n_nodes = side->reference->n_nodes;
    struct amp_node_time *times = amp_arena_array(arena, n_nodes, sizeof *times);
    for (size_t id = 0; id < n_nodes; id++)
        times[id] = amp_node_time_make(side->seconds + id * N_RUNS_MAX, n_runs);
    return times;
}

void amp_node_time_settle(struct amp_node_time *wide, struct amp_node_time *low, double saved)
{
    double least = least_saving * fmax(saved, 1) / amp_cost_table_shipped().rates[0].bytes;
    double excess = low->seconds - wide->seconds;
    if (excess > 0 && excess > clear_spreads * (wide->spread + low->spread))
        return;
    wide->seconds = fmax(wide->seconds, least);
    low->seconds = fmin(low->seconds, wide->seconds - least);
}

/* ---- nodes that are parts of others in one of the models ------------------------------------- */

/* Whether PRODUCER, which may be AMP_NONE, has a time of its own in TIMES. */
static bool has_time(const struct amp_node_time *times, uint32_t producer)
{
    return producer != AMP_NONE && times[producer].seconds > 0;
}

/* The neighbour of node ID that has a time in TIMES: a producer of its inputs, or else one that
   takes its first output; AMP_NONE: there is none. */
static uint32_t find_neighbour(const struct amp_model *model, const struct amp_uses *uses,
                               const struct amp_node_time *times, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t producer =
            node->inputs[i] == AMP_NONE ? AMP_NONE : amp_value_at(model, node->inputs[i])->producer;
        if (has_time(times, producer))
            return producer;
    }
    uint32_t value = node->n_outputs > 0 ? node->outputs[0] : AMP_NONE;
    for (uint32_t i = value == AMP_NONE ? 0 : uses->first[value];
         value != AMP_NONE && i < uses->first[value + 1]; i++)
        if (has_time(times, uses->items[i].node))
            return uses->items[i].node;
    return AMP_NONE;
}

/* Gives nodes A and B of TIMES SHARE and 1 - SHARE of what both take. */
static void share_time(struct amp_node_time *times, uint32_t a, uint32_t b, double share)
{
    double seconds = times[a].seconds + times[b].seconds;
    double spread = fmax(times[a].spread, times[b].spread);
    times[a] = (struct amp_node_time){share * seconds, share * spread};
    times[b] = (struct amp_node_time){(1 - share) * seconds, (1 - share) * spread};
}

void amp_cost_profile_share(const struct amp_cost_profile *profile,
                            const struct amp_model *reference)
{
    struct amp_uses uses = amp_uses_create(reference);
    for (uint32_t id = 0; id < reference->n_nodes; id++) {
        bool runs_wide = has_time(profile->wide, id), runs_low = has_time(profile->low, id);
        if (runs_wide == runs_low)
            continue;
        const struct amp_node_time *apart = runs_wide ? profile->wide : profile->low;
        const struct amp_node_time *joined = runs_wide ? profile->low : profile->wide;
        uint32_t other = find_neighbour(reference, &uses, joined, id);
        if (other == AMP_NONE)
            continue;
        double share = apart[id].seconds / (apart[id].seconds + apart[other].seconds);
        share_time(profile->wide, id, other, share);
        share_time(profile->low, id, other, share);
    }
    amp_uses_destroy(&uses);
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum amp_status amp_cost_profile_measure(const struct amp_costs_request *request,
                                         struct amp_arena *arena, struct amp_cost_profile *profile,
                                         struct amp_error *err)
{
    struct amp_tensor *cast = NULL;
    struct pair pair = {
        .wide = {request->reference, request->reference, request->inputs},
        .low = {request->reference, request->low},
        .err = err,
    };
    double end = amp_clock_seconds() + request->seconds;
    enum amp_status status = amp_cost_inputs_cast(request, &cast, err);
    pair.low.inputs = cast;
    if (status == AMP_OK)
        status = run_in_turns(&pair, arena, end);
    amp_session_destroy(pair.wide.session);
    amp_session_destroy(pair.low.session);
    amp_cost_inputs_free(request, cast);
    AMP_TRY(status);
    profile->n_runs = pair.n_runs;
    profile->wide = sum_up(&pair.wide, pair.n_runs, arena);
    profile->low = sum_up(&pair.low, pair.n_runs, arena);
    if (pair.low.cast_seconds > 0)
        profile->cast_rate = pair.low.cast_bytes / pair.low.cast_seconds;
    amp_cost_profile_share(profile, request->reference);
    return AMP_OK;
}
