/*
 * Keeps the values that are the same in every run: the model's data and what steps have computed of
 * nothing else. It places data of the model, counts who still reads a constant, and releases one
 * when all who read it have forms of their own, such as weights in a primitive's layout. It runs no
 * steps: step.c runs the one that computes a constant which has been let go.
 */
#include "run/exec/constants.h"

#include "core/file/input.h"
#include "core/memory.h"
#include "core/shared_forms.h"
#include "ops/dnnl/post_op.h"
#include "run/exec/values.h"

#include <string.h>

/* What all that is computed but once may take of the memory that there is: 1 / this. */
enum { FOLDED_SHARE = 4 };

static const struct amp_tensor *data_of(const struct amp_session *session, uint32_t value)
{
    return amp_value_at(session->model, value)->constant;
}

bool amp_constant_is(const struct amp_session *session, uint32_t value)
{
    return data_of(session, value) != NULL || session->constants[value].source != NULL;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void add_reader(struct amp_session *session, uint32_t value, bool needs_alignment)
{
    session->constants[value].n_readers++;
    session->constants[value].needs_alignment |= needs_alignment;
}

static void count_reads(struct amp_session *session, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        bool takes_any = i < 32 && step->op->reads_unaligned >> i & 1;
        if (node->inputs[i] != AMP_NONE)
            add_reader(session, node->inputs[i], !takes_any);
    }
    for (size_t i = 0; i < step->n_posts; i++)
        count_reads(session, &step->post_steps[i]);
    for (size_t i = 0; i < step->n_scores; i++)
        count_reads(session, &step->scores[i]);
}

void amp_constants_create(struct amp_session *session)
{
    const struct amp_model *model = session->model;
    session->constants =
        amp_arena_array(session->arena, model->n_values, sizeof *session->constants);
    for (uint32_t v = 0; v < model->n_values; v++)
        if (data_of(session, v) != NULL) {
            session->values[v].dtype = data_of(session, v)->dtype;
            session->values[v].shape = data_of(session, v)->shape;
            session->host.constants_size += amp_tensor_size(data_of(session, v));
        }
    for (size_t g = 0; g < model->n_graphs; g++) {
        for (size_t i = 0; i < session->plan->graphs[g].n_steps; i++)
            count_reads(session, &session->plan->graphs[g].steps[i]);
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            add_reader(session, model->graphs[g].outputs.items[i], true);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Data of the model as they are placed, or converted. */
struct placed_kind {
    size_t size;
    enum amp_dtype from, to;
    int saturates;
};

static struct placed_kind kind_of(const struct amp_tensor *data, const struct amp_tensor *from)
{
    struct placed_kind kind;
    memset(&kind, 0, sizeof kind); /* gaps, too: kinds are compared as bytes */
    kind.size = amp_tensor_size(data);
    kind.from = from->dtype;
    kind.to = data->dtype;
    kind.saturates = data->losses != NULL;
    return kind;
}

/* Makes TENSOR hold a copy of DATA, which others may have made before. */
static enum amp_status copy(const struct amp_tensor *data, struct amp_tensor *tensor,
                            struct amp_error *err)
{
    const struct amp_tensor *from = data->data == NULL ? data->source : data;
    const struct placed_kind placed = kind_of(data, from);
    const struct amp_form_kind kind = {AMP_FORM_PLACED, &placed, sizeof placed};
    struct amp_buffer *known = amp_shared_form_find(from->data, kind);
    if (known != NULL) {
        amp_tensor_release(tensor);
        tensor->buffer = known;
        tensor->data = known->data;
        return AMP_OK;
    }
    AMP_TRY(amp_tensor_alloc(tensor, err));
    amp_tensor_copy(data, tensor->data);
    amp_bytes_drop(from->data, amp_tensor_size(from));
    amp_shared_form_add(from->data, kind, tensor->buffer);
    return AMP_OK;
}

enum amp_status amp_constant_place(struct amp_session *session, uint32_t value,
                                   const struct amp_tensor *data, struct amp_error *err)
{
    struct amp_tensor *tensor = &session->values[value];
    tensor->dtype = data->dtype;
    tensor->shape = data->shape;
    bool is_aligned = (uintptr_t)data->data % 64 == 0;
    if (data->data != NULL && (is_aligned || !session->constants[value].needs_alignment)) {
        amp_tensor_share(tensor, data);
        return AMP_OK;
    }
    enum amp_status status = copy(data, tensor, err);
    if (status != AMP_OK)
        amp_error_prefix(err, "'%s'", amp_value_at(session->model, value)->name);
    return status;
}

enum amp_status amp_constant_align(struct amp_session *session, uint32_t value,
                                   struct amp_error *err)
{
    bool *needs_alignment = &session->constants[value].needs_alignment;
    if (*needs_alignment || data_of(session, value) == NULL || session->values[value].data == NULL)
        return AMP_OK;
    *needs_alignment = true;
    amp_tensor_discard(&session->values[value]);
    return amp_constant_place(session, value, data_of(session, value), err);
}

void amp_constant_keep(struct amp_session *session, uint32_t value)
{
    session->constants[value].is_kept |= session->constants[value].was_let_go;
}

uint32_t amp_constant_missing(const struct amp_session *session, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t value = node->inputs[i];
        if (value != AMP_NONE && session->constants[value].source != NULL &&
            session->values[value].data == NULL)
            return value;
    }
    return AMP_NONE;
}

/* ---- letting go ------------------------------------------------------------------------------ */

static void let_go(struct amp_session *session, uint32_t value)
{
    struct amp_constant *constant = &session->constants[value];
    struct amp_tensor *tensor = &session->values[value];
    if (constant->n_readers > 0 || constant->is_kept || tensor->data == NULL)
        return;
    if (constant->source != NULL)
        session->folded_bytes -= amp_tensor_size(tensor);
    constant->was_let_go = true;
    amp_bytes_drop(tensor->data, amp_tensor_size(tensor));
    amp_tensor_discard(tensor);
}

/* Notes whether a use of constant VALUE, whose flag is *IS_SERVED, needs no more what it holds. */
static void note_use(struct amp_session *session, uint32_t value, bool *is_served, bool is_now)
{
    struct amp_constant *constant = &session->constants[value];
    if (*is_served == is_now)
        return;
    *is_served = is_now;
    constant->n_readers += is_now ? -1u : 1u;
    let_go(session, value);
}

/* ---- the constants of a call ------------------------------------------------------------------
 */

/* Per input of the step of post-op I: the flags of its use of constants. */
static struct amp_frame *post_frame(const struct amp_session *session, const struct amp_step *step,
                                    size_t i)
{
    return &amp_state_of(session, &step->post_steps[i])->frame;
}

bool amp_constant_has_form(const struct amp_session *session, const struct amp_step_state *state,
                           size_t index)
{
    uint32_t n_in = amp_node_at(session->model, state->step->node)->n_inputs;
    if (index < n_in)
        return state->frame.has_form[index];
    size_t i = index - n_in;
    return post_frame(session, state->step, i)->has_form[state->step->posts[i].in];
}

uint32_t amp_constant_wanted(const struct amp_session *session, const struct amp_step_state *state,
                             size_t index, bool is_wide)
{
    const struct amp_step *step = state->step;
    const struct amp_node *node = amp_node_at(session->model, step->node);
    bool has_wide = is_wide && state->wide != NULL && state->wide[index].data != NULL;
    if (index < node->n_inputs) {
        bool is_wanted =
            state->frame.is_constant[index] && !state->frame.has_form[index] && !has_wide;
        return is_wanted ? node->inputs[index] : AMP_NONE;
    }
    size_t i = index - node->n_inputs;
    bool is_wanted =
        state->posts[i].is_constant && !has_wide && !amp_constant_has_form(session, state, index);
    return is_wanted ? amp_step_operand(session->model, step, i) : AMP_NONE;
}

void amp_constants_forget_forms(const struct amp_session *session, struct amp_step_state *state)
{
    const struct amp_step *step = state->step;
    for (uint32_t i = 0; i < amp_node_at(session->model, step->node)->n_inputs; i++)
        state->frame.has_form[i] = false;
    for (size_t i = 0; i < step->n_posts; i++)
        amp_constants_forget_forms(session, amp_state_of(session, &step->post_steps[i]));
}

/* Whether another call like the last reads constant input INDEX, or behind those a post-op's
   operand. */
static bool reads(const struct amp_step_state *state, size_t index)
{
    const struct amp_op *op = state->step->op;
    return op->reads == NULL || state->kernel == NULL || op->reads(state->kernel, index);
}

static void note_input(struct amp_session *session, struct amp_step_state *state, uint32_t value,
                       uint32_t i)
{
    struct amp_frame *frame = &state->frame;
    struct amp_tensor *wide = state->wide != NULL ? &state->wide[i] : NULL;
    frame->has_form[i] = !reads(state, i);
    if (wide != NULL && frame->has_form[i] && !session->constants[value].is_kept)
        amp_tensor_discard(wide);
    note_use(session, value, &frame->is_served[i],
             frame->has_form[i] || (wide != NULL && wide->data != NULL));
}

void amp_constants_note_call(struct amp_session *session, struct amp_step_state *state,
                             size_t n_posts)
{
    const struct amp_step *step = state->step;
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (state->frame.is_constant[i])
            note_input(session, state, node->inputs[i], i);
    for (size_t i = 0; i < n_posts; i++) {
        struct amp_frame *frame = post_frame(session, step, i);
        uint32_t in = step->posts[i].in;
        if (!state->posts[i].is_constant)
            continue;
        uint32_t value = amp_step_operand(session->model, step, i);
        struct amp_tensor *wide = state->wide != NULL ? &state->wide[node->n_inputs + i] : NULL;
        frame->has_form[in] = !reads(state, node->n_inputs + i);
        if (wide != NULL && frame->has_form[in] && !session->constants[value].is_kept)
            amp_tensor_discard(wide);
        note_use(session, value, &frame->is_served[in],
                 frame->has_form[in] || (wide != NULL && wide->data != NULL));
    }
}

/* ---- results that are constants ---------------------------------------------------------------
 */

enum amp_status amp_constants_fold(struct amp_session *session, struct amp_step_state *state,
                                   struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, state->step->node);
    size_t size = 0;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE) {
            AMP_TRY(amp_values_reorder(session, node->outputs[i], err));
            size += amp_tensor_size(&session->values[node->outputs[i]]);
        }
    state->is_repeated = session->folded_bytes + size > amp_memory_limit() / FOLDED_SHARE;
    if (state->is_repeated)
        return AMP_OK;
    state->is_done = true;
    session->folded_bytes += size;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE) {
            session->constants[node->outputs[i]].source = state->step;
            let_go(session, node->outputs[i]);
        }
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (state->frame.is_constant[i])
            note_use(session, node->inputs[i], &state->frame.is_served[i], true);
    return AMP_OK;
}
