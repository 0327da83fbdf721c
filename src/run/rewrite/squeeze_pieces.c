/*
 * Takes the dim away from slices that are to be without it (onnx/schema/slices.h): takes a model
 * whose types are inferred, gives it or a changed copy.
 */
#include "run/rewrite/squeeze_pieces.h"

#include "core/graph/copy.h"
#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "onnx/schema/slices.h"
#include "ops/op.h"

const struct amp_model *amp_pieces_squeeze(const struct amp_model *model, struct amp_arena *arena,
                                           size_t *count)
{
    struct amp_model *copy = NULL;
    struct amp_uses uses = {.first = NULL};
    *count = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        if (!amp_node_has_role(amp_node_at(model, id), AMP_ROLE_SPLIT_TO_SEQUENCE))
            continue;
        if (uses.first == NULL)
            uses = amp_uses_create(model);
        if (!amp_slices_lose_dim(model, &uses, id))
            continue;
        if (copy == NULL)
            copy = amp_model_copy(model, arena);
        amp_node_at(copy, id)->n_inputs = 1;
        ++*count;
    }
    amp_uses_destroy(&uses);
    return copy != NULL ? copy : model;
}
