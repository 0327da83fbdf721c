#ifndef AMP_CHECK_NOISE_PROBE_H
#define AMP_CHECK_NOISE_PROBE_H

#include "check/noise/rounding.h"
#include "check/noise/sources.h"

/*
 * Runs the float32 twin of a converted model with some of the sources rounded: from the first step
 * that one of them concerns, on the values that the run with none has there.
 *
 *     amp_noise_probe_create; amp_noise_probe_survey with each sample; then, as often as is wanted,
 *     amp_noise_probe_begin with a sample, amp_noise_probe_run from group to group in their order,
 *     amp_noise_probe_end
 */
struct amp_noise_probe;

/* The models, whose types are inferred, must outlive PROBE. What amp_session_open says. */
enum amp_status amp_noise_probe_create(const struct amp_model *reference,
                                       const struct amp_model *converted, struct amp_arena *arena,
                                       struct amp_noise_probe **probe, struct amp_error *err);
void amp_noise_probe_destroy(struct amp_noise_probe *probe); /* NULL is fine */

struct amp_noise_sources *amp_noise_probe_sources(struct amp_noise_probe *probe);

/* The model whose inputs and outputs those of the runs are. */
const struct amp_model *amp_noise_probe_model(const struct amp_noise_probe *probe);

/* One tensor for each output of the model, released by the caller, also on failure. */
struct amp_noise_outputs {
    struct amp_tensor *exact, *rounded; /* with nothing rounded, and with all sources */
};

/* Runs with nothing rounded, then with all rounded but for elements that this would make infinite.
   Entries of CHANGES become true for the sources where it changes anything. */
enum amp_status amp_noise_probe_survey(struct amp_noise_probe *probe,
                                       const struct amp_tensor *inputs,
                                       struct amp_noise_outputs *outputs, bool *changes,
                                       struct amp_error *err);

/* What a run from the first step of SOURCE to the end costs, in whole runs. After a survey. */
double amp_noise_probe_cost(const struct amp_noise_probe *probe, size_t source);

/* What all runs since the creation have cost, in whole runs. */
double amp_noise_probe_spent(const struct amp_noise_probe *probe);

/* Begins a walk over groups with a sample. */
enum amp_status amp_noise_probe_begin(struct amp_noise_probe *probe,
                                      const struct amp_tensor *inputs, struct amp_error *err);

/* Runs with sources FIRST to LAST rounded, which are behind those of the last call, into OUTPUTS,
   which the caller releases, also on failure. */
enum amp_status amp_noise_probe_run(struct amp_noise_probe *probe, size_t first, size_t last,
                                    struct amp_tensor *outputs, struct amp_error *err);

void amp_noise_probe_end(struct amp_noise_probe *probe);

#endif
