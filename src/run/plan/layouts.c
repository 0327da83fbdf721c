/*
 * Notes in which layout the output of each step may lie (amp_step.layout_wish). Where no reader
 * needs it row-major, a Transpose need not move anything; where a Transpose is the only reader, a
 * matrix product can lie so that the Transpose's result is row-major. Goes from the last step to
 * the first, because an elementwise step passes the wish of its readers on.
 */
#include "run/plan/layouts.h"

static bool is_one_constant(const struct amp_model *model, uint32_t value)
{
    const struct amp_tensor *tensor =
        value == AMP_NONE ? NULL : amp_value_at(model, value)->constant;
    return tensor != NULL && amp_shape_count(&tensor->shape) == 1;
}

/* Whether STEP leaves the elements of its input SLOT where they are, for others who take it in any
   layout. */
static bool passes_on(const struct amp_plan_builder *builder, const struct amp_step *step,
                      uint32_t slot)
{
    const struct amp_node *node = amp_node_at(builder->model, step->node);
    bool passes =
        amp_op_keeps_places(step->op) && step->n_posts == 0 && step->layout_wish.any_layout;
    for (uint32_t i = 0; i < node->n_inputs && passes; i++)
        passes = i == slot || is_one_constant(builder->model, node->inputs[i]);
    return passes;
}

static bool takes_any_layout(const struct amp_plan_builder *builder, const struct amp_use *use,
                             uint32_t graph)
{
    const struct amp_step *step = amp_plan_builder_own(builder, use->node);
    if (step == NULL || amp_node_at(builder->model, use->node)->graph != graph)
        return false;
    return step->op->has_layouts || step->op->has_strides || passes_on(builder, step, use->slot);
}

/* Of a step whose readers have been seen. */
static void note(const struct amp_plan_builder *builder, struct amp_step *step)
{
    const struct amp_model *model = builder->model;
    uint32_t value = amp_step_output(model, step);
    const struct amp_value *v = value == AMP_NONE ? NULL : amp_value_at(model, value);
    if (v == NULL || v->is_output)
        return;
    const struct amp_use *uses = &builder->uses.items[builder->uses.first[value]];
    size_t n = builder->uses.first[value + 1] - builder->uses.first[value];
    step->layout_wish.any_layout = n > 0;
    for (size_t i = 0; i < n; i++)
        step->layout_wish.any_layout &= takes_any_layout(builder, &uses[i], v->graph);
    const struct amp_node *reader = n == 1 ? amp_node_at(model, uses[0].node) : NULL;
    if (reader != NULL && reader->graph == v->graph &&
        amp_node_has_role(reader, AMP_ROLE_TRANSPOSE))
        step->layout_wish.order = amp_node_ints(reader, "perm", &step->layout_wish.n_order);
}

void amp_plan_note_layout_wishes(struct amp_plan_builder *builder)
{
    for (size_t g = 0; g < builder->model->n_graphs; g++)
        for (size_t i = builder->graphs[g].n_steps; i-- > 0;)
            note(builder, &builder->graphs[g].steps[i]);
}
