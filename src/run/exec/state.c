/*
 * Makes and destroys the state that a session has for each step of its plan: arrays for the inputs
 * and outputs of a call, post-ops whose operands a call sets, and slices for attention. All but
 * what kernels keep is in the session's arena. Says with how many threads a session computes. It
 * runs nothing.
 */
#include "run/exec/state.h"

#include "ops/dnnl/post_op.h"
#include "run/exec/slices.h"

#include <omp.h>
#include <stdlib.h>

static struct amp_frame new_frame(const struct amp_node *node, size_t n_posts,
                                  struct amp_arena *arena)
{
    struct amp_frame frame = {
        .in = amp_arena_array(arena, node->n_inputs, sizeof *frame.in),
        .temporary = amp_arena_array(arena, node->n_inputs + n_posts, sizeof *frame.temporary),
        .is_constant = amp_arena_array(arena, node->n_inputs, sizeof *frame.is_constant),
        .has_form = amp_arena_array(arena, node->n_inputs, sizeof *frame.has_form),
        .is_served = amp_arena_array(arena, node->n_inputs, sizeof *frame.is_served),
        .outs = amp_arena_array(arena, node->n_outputs, sizeof *frame.outs),
        .out = amp_arena_array(arena, node->n_outputs, sizeof(struct amp_tensor *))};
    for (uint32_t i = 0; i < node->n_outputs; i++)
        frame.out[i] = &frame.outs[i];
    return frame;
}

/* The state of STEP, its own; a part of SLICES if it is one of attention. */
static struct amp_step_state *create_state(struct amp_session *session, const struct amp_step *step,
                                           struct amp_slices *slices)
{
    struct amp_step_state *state = amp_state_of(session, step);
    if (step->attention.is_part && slices != NULL)
        state->slices = slices;
    if (state->step != NULL) /* a Cast that several steps read */
        return state;
    state->step = step;
    state->frame =
        new_frame(amp_node_at(session->model, step->node), step->n_posts, session->arena);
    if (step->n_posts > 0)
        state->posts =
            amp_arena_memdup(session->arena, step->posts, step->n_posts * sizeof *step->posts);
    return state;
}

/* STEP with its post-ops and casts, each of which may have to run as a step. */
static void create_states(struct amp_session *session, const struct amp_step *step,
                          struct amp_slices *slices)
{
    create_state(session, step, slices);
    for (size_t i = 0; i < step->n_posts; i++)
        create_state(session, &step->post_steps[i], slices);
    for (size_t i = 0; i < step->n_casts; i++)
        create_state(session, step->casts[i], slices);
}

/* Slices for as many calls as the steps of attention can come to; NULL: STEP does not end any. */
static struct amp_slices *create_slices(struct amp_session *session, const struct amp_step *step)
{
    size_t n = 1 + step->n_posts + step->n_casts;
    for (size_t i = 0; i < step->n_scores; i++)
        n += 1 + step->scores[i].n_posts + step->scores[i].n_casts;
    return step->n_scores > 0 ? amp_slices_create(session->arena, n) : NULL;
}

void amp_states_create(struct amp_session *session)
{
    const struct amp_plan *plan = session->plan;
    session->states =
        amp_arena_array(session->arena, session->model->n_nodes, sizeof *session->states);
    for (size_t g = 0; g < session->model->n_graphs; g++)
        for (size_t i = 0; i < plan->graphs[g].n_steps; i++) {
            const struct amp_step *step = &plan->graphs[g].steps[i];
            struct amp_slices *slices = create_slices(session, step);
            create_states(session, step, slices);
            for (size_t k = 0; k < step->n_scores; k++)
                create_states(session, &step->scores[k], slices);
        }
}

void amp_state_drop_kernel(struct amp_step_state *state)
{
    if (state->kernel != NULL && state->step->op->destroy != NULL)
        state->step->op->destroy(state->kernel);
    state->kernel = NULL;
}

void amp_states_destroy(struct amp_session *session)
{
    for (uint32_t id = 0; session->states != NULL && id < session->model->n_nodes; id++) {
        struct amp_step_state *state = &session->states[id];
        if (state->step == NULL)
            continue;
        amp_state_drop_kernel(state);
        if (state->wide != NULL)
            amp_tensors_release(state->wide,
                                amp_node_at(session->model, id)->n_inputs + state->step->n_posts);
        free(state->wide);
        if (state->step->n_scores > 0)
            amp_slices_destroy(state->slices);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

void amp_session_take_threads(struct amp_session *session, bool is_single)
{
    if (session->is_single == is_single || session->threads <= 1)
        return;
    session->is_single = is_single;
    omp_set_num_threads(is_single ? 1 : session->threads);
}

void amp_session_begin(struct amp_session *session)
{
    session->threads = omp_get_max_threads();
}

void amp_session_end(struct amp_session *session)
{
    amp_session_take_threads(session, false);
    session->threads = 0;
}
