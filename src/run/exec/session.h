#ifndef AMP_RUN_EXEC_SESSION_H
#define AMP_RUN_EXEC_SESSION_H

#include "core/status.h"
#include "run/plan/plan.h"

/*
 * Executes a plan. A session keeps constants, oneDNN primitives and reordered weights between runs.
 * Sessions share nothing that runs change: those of one plan may run at the same time, each in a
 * thread of its own.
 */
struct amp_session;

/* PLAN must outlive the session. AMP_KERNEL: oneDNN has no CPU engine; AMP_IO: no memory for it. */
enum amp_status amp_session_create(const struct amp_plan *plan, struct amp_session **session,
                                   struct amp_error *err);

/* Plans MODEL, which must outlive the session and stay unchanged, and makes the only session of the
   plan; errors are those of amp_plan_create, before any work. */
enum amp_status amp_session_open(const struct amp_model *model, enum amp_strictness strictness,
                                 struct amp_session **session, struct amp_error *err);

void amp_session_destroy(struct amp_session *session); /* NULL is fine */

/*
 * Runs the main graph. INPUTS: one tensor per graph input, in order, with the declared dtype and a
 * shape that fits the declared one; an input that has an initializer may have NULL data. OUTPUTS:
 * one per graph output; they hold references and are released by the caller, also on failure.
 */
enum amp_status amp_session_run(struct amp_session *session, const struct amp_tensor *inputs,
                                struct amp_tensor *outputs, struct amp_error *err);

/* Nodes that this machine had no kernel for in float16 or bfloat16, so that they computed in
   float32 and rounded their outputs; known after the first run. */
size_t amp_session_widened(const struct amp_session *session);

/* Nodes that cut a tensor into slices without the dim that they cut, as their exporter means it,
   and not with it, as ONNX has it (onnx/schema/slices.h). */
size_t amp_session_squeezed(const struct amp_session *session);

/* Nodes between DequantizeLinear and QuantizeLinear that work on the integers themselves
   (run/rewrite/integer_nodes.h). */
size_t amp_session_integers(const struct amp_session *session);

/* Notes all runs from now on in PROFILE (ops/dnnl/profile.h), which must outlive them; NULL: in
 * none. */
struct amp_profile;
void amp_session_observe(struct amp_session *session, struct amp_profile *profile);

/* Threads that all sessions compute with from now on; the default is OpenMP's: OMP_NUM_THREADS,
   else all cores that the process may run on. COUNT is at least 1. */
void amp_session_set_threads(int count);
int amp_session_threads(void);

/* Makes the thread that calls it compute with as many. Runs do so. */
void amp_session_use_threads(void);

/* What the session computes with: oneDNN's version in TEXT of SIZE bytes. */
const char *amp_session_library(char *text, size_t size);

#endif
