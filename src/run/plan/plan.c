/*
 * Plans a model's execution: takes the sorted graphs, gives the steps that run and what is known of
 * each before it does. Computes nothing.
 */
#include "run/plan/uses.h"

static enum amp_status find_op(const struct amp_model *model, uint32_t id, const struct amp_op **op,
                               struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    *op = amp_op_find(node->domain, node->op_type);
    /* What the schema table lacks does not exist at the model's opset, or is not what we know. */
    if (node->schema != NULL && *op != NULL && (*op)->run != NULL &&
        node->since_version <= (*op)->newest)
        return AMP_OK;
    return amp_fail(err, AMP_UNSUPPORTED, "%s: %s: the executor has no kernel for it", model->path,
                    amp_node_text(model, id, text, sizeof text));
}

/* The first of VALUES whose dtype OP has nothing for; NULL: there is none. */
static const struct amp_value *find_lacking(const struct amp_model *model, const struct amp_op *op,
                                            const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count && op->lacks != 0; i++) {
        const struct amp_value *value = amp_value_at(model, values[i] == AMP_NONE ? 0 : values[i]);
        if (values[i] != AMP_NONE && op->lacks & AMP_DTYPE_BIT(value->dtype))
            return value;
    }
    return NULL;
}

static enum amp_status find_kernel(const struct amp_model *model, uint32_t id,
                                   const struct amp_op **op, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    AMP_TRY(find_op(model, id, op, err));
    const struct amp_value *value = find_lacking(model, *op, node->inputs, node->n_inputs);
    if (value == NULL)
        value = find_lacking(model, *op, node->outputs, node->n_outputs);
    if (value == NULL)
        return AMP_OK;
    return amp_fail(err, AMP_UNSUPPORTED, "%s: %s: '%s' is %s; the executor has no kernel for that",
                    model->path, amp_node_text(model, id, text, sizeof text), value->name,
                    amp_dtype_name(value->dtype));
}

/* Maps have no one dtype. */
static bool is_known(const struct amp_value *value)
{
    if (value->kind == AMP_KIND_MAP || value->kind == AMP_KIND_MAP_SEQUENCE)
        return true;
    return value->kind != AMP_KIND_UNKNOWN && value->kind != AMP_KIND_SPARSE_TENSOR &&
           value->dtype != AMP_UNDEFINED;
}

/* Inference has held types against the schema, which kernels rely on; here they must be known. */
static enum amp_status check_values(const struct amp_model *model, uint32_t id,
                                    const uint32_t *values, uint32_t count, struct amp_error *err)
{
    char text[512];
    for (uint32_t i = 0; i < count; i++) {
        const struct amp_value *value =
            values[i] == AMP_NONE ? NULL : amp_value_at(model, values[i]);
        if (value == NULL || is_known(value))
            continue;
        amp_node_text(model, id, text, sizeof text);
        if (value->kind != AMP_KIND_SPARSE_TENSOR)
            return amp_fail(err, AMP_MODEL, "%s: %s: the type of '%s' is not known", model->path,
                            text, value->name);
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: %s: '%s' is a sparse tensor; the executor has none", model->path, text,
                        value->name);
    }
    return AMP_OK;
}

static enum amp_status check_types(const struct amp_model *model, uint32_t id,
                                   struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    AMP_TRY(check_values(model, id, node->inputs, node->n_inputs, err));
    return check_values(model, id, node->outputs, node->n_outputs, err);
}

static bool is_constant(const struct amp_model *model, const struct amp_node *node)
{
    return node->n_outputs > 0 && node->outputs[0] != AMP_NONE &&
           amp_value_at(model, node->outputs[0])->constant != NULL;
}

static struct amp_frame new_frame(const struct amp_node *node, struct amp_arena *arena)
{
    struct amp_frame frame = {
        .in = amp_arena_array(arena, node->n_inputs, sizeof *frame.in),
        .temporary = amp_arena_array(arena, node->n_inputs, sizeof *frame.temporary),
        .is_constant = amp_arena_array(arena, node->n_inputs, sizeof *frame.is_constant),
        .has_form = amp_arena_array(arena, node->n_inputs, sizeof *frame.has_form),
        .is_served = amp_arena_array(arena, node->n_inputs, sizeof *frame.is_served),
        .outs = amp_arena_array(arena, node->n_outputs, sizeof *frame.outs),
        .out = amp_arena_array(arena, node->n_outputs, sizeof(struct amp_tensor *))};
    for (uint32_t i = 0; i < node->n_outputs; i++)
        frame.out[i] = &frame.outs[i];
    return frame;
}

/* Whether NODE computes nothing but what is the same in every run. IS_CONSTANT: of values, whether
   nodes compute them so; its outputs get theirs. */
static bool mark_constant(const struct amp_model *model, const struct amp_node *node,
                          const struct amp_op *op, bool *is_constant)
{
    if (op->effect == AMP_OPAQUE)
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && !is_constant[node->inputs[i]] &&
            amp_value_at(model, node->inputs[i])->constant == NULL)
            return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            amp_kind_form(amp_value_at(model, node->outputs[i])->kind) != AMP_FORM_TENSOR)
            return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            is_constant[node->outputs[i]] = true;
    return true;
}

/* Graphs come before the bodies of their nodes. */
static void mark_constants(const struct amp_model *model, struct amp_arena *arena,
                           struct amp_plan *plans)
{
    bool *is_constant = amp_arena_array(arena, model->n_values, sizeof *is_constant);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < plans[g].n_steps; i++) {
            struct amp_step *step = &plans[g].steps[i];
            step->is_constant =
                mark_constant(model, amp_node_at(model, step->node), step->op, is_constant);
        }
}

static enum amp_status plan_graph(const struct amp_model *model, struct amp_arena *arena,
                                  const struct amp_ids *nodes, struct amp_plan *plan,
                                  struct amp_error *err)
{
    plan->steps = amp_arena_array(arena, nodes->count, sizeof *plan->steps);
    for (size_t i = 0; i < nodes->count; i++) {
        struct amp_step *step = &plan->steps[plan->n_steps];
        step->node = nodes->items[i];
        if (is_constant(model, amp_node_at(model, step->node)))
            continue;
        AMP_TRY(find_kernel(model, step->node, &step->op, err));
        AMP_TRY(check_types(model, step->node, err));
        step->frame = new_frame(amp_node_at(model, step->node), arena);
        plan->n_steps++;
    }
    return AMP_OK;
}

uint32_t amp_plan_lacking(const struct amp_model *model)
{
    const struct amp_op *op;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].nodes.count; i++) {
            uint32_t id = model->graphs[g].nodes.items[i];
            if (!is_constant(model, amp_node_at(model, id)) &&
                find_kernel(model, id, &op, NULL) != AMP_OK)
                return id;
        }
    return AMP_NONE;
}

uint32_t amp_step_output(const struct amp_model *model, const struct amp_step *step)
{
    const struct amp_step *last = step->n_tail > 0 ? &step->tail[step->n_tail - 1] : step;
    return amp_node_at(model, last->node)->outputs[0];
}

enum amp_status amp_plans_create(const struct amp_model *model, struct amp_arena *arena, bool fuses,
                                 struct amp_plan **plans, struct amp_error *err)
{
    *plans = amp_arena_array(arena, model->n_graphs, sizeof **plans);
    for (size_t g = 0; g < model->n_graphs; g++)
        AMP_TRY(plan_graph(model, arena, &model->graphs[g].nodes, &(*plans)[g], err));
    mark_constants(model, arena, *plans);
    struct amp_planning planning = amp_planning_create(model, arena, *plans);
    if (fuses) {
        amp_plan_absorb(&planning);
        amp_plan_read_casts(&planning);
        amp_plan_widen(&planning);
    }
    amp_plan_note_layout_wishes(&planning);
    if (fuses)
        amp_plan_lead(&planning);
    amp_plan_note_drops(&planning);
    amp_planning_destroy(&planning);
    return AMP_OK;
}

uint32_t amp_step_operand(const struct amp_model *model, const struct amp_step *step, size_t i)
{
    const struct amp_node *node = amp_node_at(model, step->tail[i].node);
    return step->posts[i].kind == AMP_POST_BINARY ? node->inputs[step->posts[i].in] : AMP_NONE;
}

/* So they are in networks of depthwise convolutions and few channels, by a tenth. In others they
   win two hundredths on a core of one's own, and lose a tenth where another program runs on its
   other half: they read from memory for each multiplication, channels-last kernels hold more in
   registers. */
bool amp_plan_blocks_channels(const struct amp_model *model)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        const struct amp_value *w = node->is_removed || !amp_node_has_role(node, AMP_ROLE_CONV)
                                        ? NULL
                                        : amp_value_at(model, node->inputs[1]);
        if (w != NULL && w->rank > 2 && w->dims[1] == 1 && amp_node_int(node, "group", 1) > 1)
            return true;
    }
    return false;
}
