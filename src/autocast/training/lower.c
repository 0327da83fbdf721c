/*
 * Autocast in the algorithms of training_info: takes them as models of their own, whose inputs are
 * the main graph's values in float32, decides on the nodes that losses are computed from and
 * inserts casts. The main graph is none of its business.
 */
#include "autocast/training/lower.h"

#include "autocast/cast_fold.h"
#include "autocast/cast_insert.h"
#include "autocast/forms/einsum.h"
#include "autocast/settle.h"
#include "core/graph/copy.h"
#include "onnx/schema/infer.h"
#include "onnx/training/gradient_node.h"
#include "onnx/training/training.h"

struct amp_training_role amp_training_role_of_main(const struct amp_training *training)
{
    return (struct amp_training_role){.is_trained = amp_training_has_gradient(training),
                                      .points = amp_training_points(training)};
}

/* What is wanted of an algorithm: its values have not been seen, and its interface stays. */
static struct amp_assign_options options_for(const struct amp_assign_options *options)
{
    struct amp_assign_options own = *options;
    own.ranges = NULL;
    own.interface = (struct amp_ids){.count = 0};
    own.training = (struct amp_training_role){.is_algorithm = true};
    return own;
}

enum amp_status amp_training_settle(struct amp_training *training,
                                    const struct amp_assign_options *options, int *opset,
                                    struct amp_error *err)
{
    for (size_t i = 0; i < amp_training_algorithm_count(training); i++) {
        struct amp_model *model = amp_training_algorithm(training, i);
        struct amp_model *copy = amp_model_copy(model, model->arena);
        struct amp_assignment assignment;
        const char *obstacle;
        AMP_TRY(amp_settle(copy, options_for(options), &assignment, &obstacle, err));
        if (amp_model_opset(copy, "") > *opset)
            *opset = (int)amp_model_opset(copy, "");
    }
    return AMP_OK;
}

/* Makes outputs of the values that gradients are taken of, by and at. */
static void hold_points(struct amp_model *model)
{
    struct amp_ids points = {.count = 0};
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (!amp_node_is_gradient(amp_node_at(model, id)))
            continue;
        uint32_t target = amp_gradient_target(model, id);
        amp_gradient_add_points(model, id, &points);
        if (target != AMP_NONE)
            amp_ids_push(model, &points, target);
    }
    for (size_t i = 0; i < points.count; i++) {
        struct amp_value *value = amp_value_at(model, points.items[i]);
        if (value->is_output)
            continue;
        value->is_output = true;
        amp_ids_push(model, &model->graphs[0].outputs, points.items[i]);
    }
}

static void let_go(struct amp_model *model, size_t n_outputs)
{
    struct amp_ids *outputs = &model->graphs[0].outputs;
    for (size_t i = n_outputs; i < outputs->count; i++)
        amp_value_at(model, outputs->items[i])->is_output = false;
    outputs->count = n_outputs;
}

static size_t count_lowered(const struct amp_assignment *assignment)
{
    size_t count = 0;
    for (size_t i = 0; i < assignment->n_nodes; i++)
        count += amp_dtype_is_lower(assignment->nodes[i].dtype);
    return count;
}

static enum amp_status lower(struct amp_model *model, const struct amp_assign_options *options,
                             bool is_shared, size_t *n_lowered, struct amp_error *err)
{
    struct amp_assignment assignment;
    struct amp_inserted_casts casts = {.count = 0};
    size_t n_outputs = model->graphs[0].outputs.count;
    AMP_TRY(amp_infer(model, err));
    hold_points(model);
    AMP_TRY(amp_assign(model, options, &assignment, err));
    *n_lowered = count_lowered(&assignment);
    if (*n_lowered > 0) {
        AMP_TRY(amp_cast_insert(model, &assignment, is_shared, &casts, err));
        AMP_TRY(amp_einsums_take_apart(model, err));
        amp_cast_fold(model, is_shared, (uint32_t)assignment.n_nodes);
        amp_model_rename_nodes(model);
    }
    let_go(model, n_outputs);
    return AMP_OK;
}

enum amp_status amp_training_lower(struct amp_training *training,
                                   const struct amp_assign_options *options, bool is_shared,
                                   size_t *n_lowered, struct amp_error *err)
{
    const struct amp_assign_options own = options_for(options);
    *n_lowered = 0;
    for (size_t i = 0; i < amp_training_algorithm_count(training); i++) {
        size_t count;
        AMP_TRY(lower(amp_training_algorithm(training, i), &own, is_shared, &count, err));
        if (count > 0)
            amp_training_note_change(training, i);
        *n_lowered += count;
    }
    return AMP_OK;
}
