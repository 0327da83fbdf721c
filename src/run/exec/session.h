#ifndef AMP_RUN_EXEC_SESSION_H
#define AMP_RUN_EXEC_SESSION_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Executes a model whose types are inferred. A session keeps constants, oneDNN primitives and
 * reordered weights between runs; the model must outlive it and stay unchanged.
 */
struct amp_session;

/* AMP_UNSUPPORTED with operator and node when there is no kernel for one: before any work. Unless
   IS_STRICT, nodes are computed together where one primitive can: what lies between them is not
   rounded to its dtype then. */
enum amp_status amp_session_create(const struct amp_model *model, bool is_strict,
                                   struct amp_session **session, struct amp_error *err);
void amp_session_destroy(struct amp_session *session);

/* The first node of MODEL that there is no kernel for; AMP_NONE: there is one for each. */
uint32_t amp_session_lacking(const struct amp_model *model);

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

/* Notes all runs from now on in PROFILE (ops/dnnl/profile.h), which must outlive them; NULL: in
 * none. */
struct amp_profile;
void amp_session_observe(struct amp_session *session, struct amp_profile *profile);

/* Threads that all sessions compute with from now on; the default is OpenMP's: OMP_NUM_THREADS,
   else all cores. COUNT is at least 1. */
void amp_session_set_threads(int count);
int amp_session_threads(void);

/* What the session computes with: oneDNN's version in TEXT of SIZE bytes. */
const char *amp_session_library(char *text, size_t size);

#endif
