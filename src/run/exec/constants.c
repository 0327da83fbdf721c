/*
 * Values that are the same in every run. The slot of one is filled when a step first reads it: with
 * data of the model, or by the step that computes it. It is let go when all who read it have taken
 * forms of their own, such as a primitive's layout of weights.
 */
#include "run/exec/constants.h"

#include "core/memory.h"
#include "run/exec/step.h"

/* What all that is computed but once may take of the memory that there is: 1 / this. */
enum { FOLDED_SHARE = 4 };

static struct amp_tensor *slot_of(struct amp_session *session, uint32_t value)
{
    return &session->slots[value];
}

static const struct amp_tensor *data_of(const struct amp_session *session, uint32_t value)
{
    return amp_value_at(session->model, value)->constant;
}

bool amp_constant_is(const struct amp_session *session, uint32_t value)
{
    return data_of(session, value) != NULL || session->constants[value].source != NULL;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void count_reads(struct amp_session *session, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE)
            session->constants[node->inputs[i]].n_readers++;
    for (size_t i = 0; i < step->n_tail; i++)
        count_reads(session, &step->tail[i]);
    for (size_t i = 0; i < step->n_lead; i++)
        count_reads(session, &step->lead[i]);
}

void amp_constants_create(struct amp_session *session)
{
    const struct amp_model *model = session->model;
    session->constants =
        amp_arena_array(session->arena, model->n_values, sizeof *session->constants);
    for (uint32_t v = 0; v < model->n_values; v++)
        if (data_of(session, v) != NULL) {
            slot_of(session, v)->dtype = data_of(session, v)->dtype;
            slot_of(session, v)->shape = data_of(session, v)->shape;
        }
    for (size_t g = 0; g < model->n_graphs; g++) {
        for (size_t i = 0; i < session->plans[g].n_steps; i++)
            count_reads(session, &session->plans[g].steps[i]);
        for (size_t i = 0; i < model->graphs[g].outputs.count; i++)
            session->constants[model->graphs[g].outputs.items[i]].n_readers++;
    }
}

/* ---- filling --------------------------------------------------------------------------------- */

enum amp_status amp_constant_place(struct amp_session *session, uint32_t value,
                                   const struct amp_tensor *data, struct amp_error *err)
{
    struct amp_tensor *slot = slot_of(session, value);
    slot->dtype = data->dtype;
    slot->shape = data->shape;
    if (data->data != NULL && (uintptr_t)data->data % 64 == 0) {
        amp_tensor_share(slot, data);
        return AMP_OK;
    }
    enum amp_status status = amp_tensor_alloc(slot, err);
    if (status == AMP_OK)
        amp_tensor_copy(data, slot->data);
    else
        amp_error_prefix(err, "'%s'", amp_value_at(session->model, value)->name);
    return status;
}

/* What STEP reads that has been computed but is not there; AMP_NONE: nothing. */
static uint32_t find_missing(const struct amp_session *session, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t value = node->inputs[i];
        if (value != AMP_NONE && session->constants[value].source != NULL &&
            session->slots[value].data == NULL)
            return value;
    }
    return AMP_NONE;
}

static void keep_outputs(struct amp_session *session, const struct amp_step *step)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            session->constants[node->outputs[i]].is_kept = true;
}

/* Runs the step of VALUE once more, and before it those whose results it reads: a chain that may be
   longer than a stack of calls is deep. */
static enum amp_status compute_again(struct amp_session *session, uint32_t value,
                                     struct amp_error *err)
{
    struct amp_constant *constants = session->constants;
    constants[value].wanted_by = AMP_NONE;
    while (value != AMP_NONE) {
        struct amp_step *source = constants[value].source;
        uint32_t missing = find_missing(session, source);
        if (missing != AMP_NONE) {
            constants[missing].wanted_by = value;
            value = missing;
            continue;
        }
        keep_outputs(session, source);
        AMP_TRY(amp_step_compute(session, source, err));
        value = constants[value].wanted_by;
    }
    return AMP_OK;
}

enum amp_status amp_constant_load(struct amp_session *session, uint32_t value,
                                  struct amp_error *err)
{
    struct amp_constant *constant = &session->constants[value];
    if (slot_of(session, value)->data != NULL)
        return AMP_OK;
    constant->is_kept |= constant->was_let_go;
    return constant->source != NULL
               ? compute_again(session, value, err)
               : amp_constant_place(session, value, data_of(session, value), err);
}

/* ---- letting go ------------------------------------------------------------------------------ */

static void let_go(struct amp_session *session, uint32_t value)
{
    struct amp_constant *constant = &session->constants[value];
    struct amp_tensor *slot = slot_of(session, value);
    if (constant->n_readers > 0 || constant->is_kept || slot->data == NULL)
        return;
    if (constant->source != NULL)
        session->folded_bytes -= amp_tensor_size(slot);
    constant->was_let_go = true;
    amp_tensor_discard(slot);
}

/* Notes whether a use of constant VALUE, whose flag is *IS_SERVED, reads its slot no more. */
static void note_use(struct amp_session *session, uint32_t value, bool *is_served, bool is_now)
{
    struct amp_constant *constant = &session->constants[value];
    if (*is_served == is_now)
        return;
    *is_served = is_now;
    constant->n_readers += is_now ? -1u : 1u;
    let_go(session, value);
}

/* ---- the constants of a step ----------------------------------------------------------------- */

/* The use of the operand of post-op I as an input of its own node. */
static bool *operand_flag(const struct amp_step *step, size_t i, bool *flags)
{
    return &flags[step->posts[i].in];
}

enum amp_status amp_step_load(struct amp_session *session, const struct amp_step *step,
                              size_t n_posts, bool is_wide, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        bool has_wide = is_wide && step->wide != NULL && step->wide[i].data != NULL;
        if (step->frame.is_constant[i] && !step->frame.has_form[i] && !has_wide)
            AMP_TRY(amp_constant_load(session, node->inputs[i], err));
    }
    for (size_t i = 0; i < n_posts; i++)
        if (step->posts[i].is_constant && !*operand_flag(step, i, step->tail[i].frame.has_form))
            AMP_TRY(amp_constant_load(session, amp_step_operand(session->model, step, i), err));
    return AMP_OK;
}

void amp_step_forget(const struct amp_model *model, struct amp_step *step)
{
    for (uint32_t i = 0; i < amp_node_at(model, step->node)->n_inputs; i++)
        step->frame.has_form[i] = false;
    for (size_t i = 0; i < step->n_tail; i++)
        amp_step_forget(model, &step->tail[i]);
}

/* Whether another such call reads constant input INDEX, or behind those a post-op's operand. */
static bool reads(const struct amp_step *step, size_t index)
{
    return step->op->reads == NULL || step->state == NULL || step->op->reads(step->state, index);
}

static void note_input(struct amp_session *session, struct amp_step *step, uint32_t value,
                       uint32_t i)
{
    struct amp_frame *frame = &step->frame;
    struct amp_tensor *wide = step->wide != NULL ? &step->wide[i] : NULL;
    frame->has_form[i] = !reads(step, i);
    if (wide != NULL && frame->has_form[i] && !session->constants[value].is_kept)
        amp_tensor_discard(wide);
    note_use(session, value, &frame->is_served[i],
             frame->has_form[i] || (wide != NULL && wide->data != NULL));
}

void amp_step_note(struct amp_session *session, struct amp_step *step, size_t n_posts)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (step->frame.is_constant[i])
            note_input(session, step, node->inputs[i], i);
    for (size_t i = 0; i < n_posts; i++) {
        struct amp_frame *frame = &step->tail[i].frame;
        if (!step->posts[i].is_constant)
            continue;
        bool *has_form = operand_flag(step, i, frame->has_form);
        *has_form = !reads(step, node->n_inputs + i);
        note_use(session, amp_step_operand(session->model, step, i),
                 operand_flag(step, i, frame->is_served), *has_form);
    }
}

/* ---- folding --------------------------------------------------------------------------------- */

enum amp_status amp_constants_fold(struct amp_session *session, struct amp_step *step,
                                   struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(session->model, step->node);
    size_t size = 0;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE) {
            AMP_TRY(amp_slot_make_plain(session, node->outputs[i], err));
            size += amp_tensor_size(slot_of(session, node->outputs[i]));
        }
    step->is_constant = session->folded_bytes + size <= amp_memory_limit() / FOLDED_SHARE;
    if (!step->is_constant)
        return AMP_OK;
    session->folded_bytes += size;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE) {
            session->constants[node->outputs[i]].source = step;
            let_go(session, node->outputs[i]);
        }
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (step->frame.is_constant[i])
            note_use(session, node->inputs[i], &step->frame.is_served[i], true);
    return AMP_OK;
}
