/*
 * Precisions, opset and the forms of nodes depend on each other: takes a model and the rules,
 * decides precisions, raises the opset and replaces nodes that have no form in their dtype, until
 * all agree. Inserts no casts.
 */
#include "autocast/settle.h"

#include "autocast/forms/sequence_split.h"
#include "autocast/runtimes/runtime.h"
#include "core/graph/order.h"
#include "onnx/opset/opset.h"
#include "onnx/schema/infer.h"

enum amp_status amp_settle(struct amp_model *model, struct amp_assign_options options,
                           struct amp_assignment *assignment, const char **obstacle,
                           struct amp_error *err)
{
    if (options.runtimes != NULL)
        options.cap = amp_runtimes_cap(options.runtimes, model, options.cap);
    for (;;) {
        struct amp_opset_limit limit = {.node = AMP_NONE};
        struct amp_error blocked = {.status = AMP_OK};
        AMP_TRY(amp_assign(model, &options, assignment, err));
        if (amp_sequences_split(model, assignment) > 0) {
            AMP_TRY(amp_graph_sort(model, NULL, err));
            AMP_TRY(amp_infer(model, err));
            continue;
        }
        int target = assignment->opset;
        enum amp_status status = amp_opset_raise(model, target, &limit, &blocked);
        if (status == AMP_OK)
            return AMP_OK;
        if (status != AMP_UNSUPPORTED || limit.node == AMP_NONE || limit.opset >= target ||
            target > options.cap)
            return amp_fail(err, status, "%s: %s", model->path, blocked.text);
        options.cap = limit.opset;
        *obstacle = amp_arena_strdup(model->arena, blocked.text);
    }
}
