#ifndef AMP_RUN_EXEC_STATE_H
#define AMP_RUN_EXEC_STATE_H

#include "run/plan/plan.h"
#include "run/plan/step.h"

/*
 * Private to run/exec: all that runs change. A session belongs to one thread at a time; what it
 * shares with other sessions, the plan and the model, stays as it is.
 */

/* What a node is called with; the arrays have an entry per input or output. */
struct amp_frame {
    const struct amp_tensor **in;
    struct amp_tensor *temporary; /* inputs in float32, or as a blocked view; behind them operands
                                     of post-ops in float32 */
    bool *is_constant;            /* the input is the same in every run */
    bool *has_form;  /* the kernel has a form of its own of the constant: amp_op.reads */
    bool *is_served; /* and nothing else of the step reads the constant */
    struct amp_tensor *outs, **out; /* out[i] is outs + i */
};

/* How a step runs: in slices with others of attention, or with whole tensors. */
enum amp_mode { AMP_WHOLE, AMP_IN_SLICES, AMP_N_MODES };

struct amp_kept_call; /* run/exec/kept_call.h */

struct amp_step_state {
    const struct amp_step *step; /* NULL: the node has none */
    struct amp_frame frame;
    struct amp_post *posts;     /* the step's; operands are set for each call */
    void *kernel;               /* of the operator: amp_ctx.state */
    struct amp_kept_call *kept; /* NULL: the step has not been called yet */
    struct amp_tensor *wide; /* constants in float32, as frame.temporary; NULL before the first such
                                call */
    uint8_t way[AMP_N_MODES]; /* the first way (way.h) that can work, as far as is known */
    bool is_widened;          /* the kernel has said that it has no lower dtype here */
    bool was_widened;         /* and a run has computed in float32, which was not planned */
    bool was_called;          /* and its kernel has succeeded */
    bool is_small;            /* the call at hand: one thread does it sooner than several */
    bool is_done;             /* the step is constant and has run */
    bool is_repeated;         /* the step is constant; its results are too large to be kept */
    /* Of the sequence of attention that the step is a part of; NULL: of none. */
    struct amp_slices *slices;
};

struct amp_session {
    const struct amp_plan *plan;
    const struct amp_plan *own_plan; /* to be destroyed with the session; NULL: it is another's */
    const struct amp_model *model;   /* the plan's */
    struct amp_arena *arena;
    struct amp_host host;
    struct amp_step_state *states;  /* per node */
    struct amp_tensor *values;      /* per value: what it holds in this run */
    int64_t *symbols;               /* per symbolic dim: its size in this run */
    struct amp_constant *constants; /* per value: run/exec/constants.h */
    size_t folded_bytes;            /* of the constants that steps have computed */
    int threads;                    /* of a run; 0 outside */
    bool is_single;                 /* it computes with one of them now */
};

/* Before and after what SESSION runs in the thread that calls them, with as many threads as OpenMP
   has there. */
void amp_session_begin(struct amp_session *session);
void amp_session_end(struct amp_session *session);

/* Lets what SESSION runs from here on compute with one thread, or else with all. */
void amp_session_take_threads(struct amp_session *session, bool is_single);

/* Makes the states of all steps of SESSION's plan. */
void amp_states_create(struct amp_session *session);

/* Frees what running left in them. */
void amp_states_destroy(struct amp_session *session);

/* Destroys what the kernel of STATE keeps, so that its next call sets it up anew. */
void amp_state_drop_kernel(struct amp_step_state *state);

static inline struct amp_step_state *amp_state_of(const struct amp_session *session,
                                                  const struct amp_step *step)
{
    return &session->states[step->node];
}

#endif
