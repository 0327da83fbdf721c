/*
 * Tells whether slices lose the dim that they were cut along, where ONNX has them keep it and its
 * exporter counts on the contrary: takes a model whose types are inferred. What the readers want is
 * told by the ranks that the file declares for the slices, and else by which shapes the operators
 * that read them take. It does not follow sequences through other operators.
 */
#include "onnx/schema/slices.h"

#include "core/graph/graph.h"
#include "core/graph/uses.h"
#include "core/tensor.h"
#include "onnx/schema/infer.h"
#include "ops/op.h"

#include <string.h>

/* The two shapes that the slices of one node can have. */
struct slices {
    const struct amp_model *model;
    const struct amp_uses *uses;
    struct amp_shape kept, squeezed; /* ranks -1 where that of the whole is not known */
};

/* What somebody says of the slices. */
enum verdict { UNDECIDED, KEPT, SQUEEZED };

static enum verdict judge_rank(const struct slices *slices, int rank)
{
    if (rank < 0 || slices->kept.rank < 0)
        return UNDECIDED;
    if (rank == slices->squeezed.rank)
        return SQUEEZED;
    return rank == slices->kept.rank ? KEPT : UNDECIDED;
}

/* What node ID, which reads slice VALUE, says of it. */
static enum verdict judge_reader(const struct slices *slices, uint32_t id, uint32_t value)
{
    bool takes_kept = amp_infer_takes(slices->model, id, value, &slices->kept);
    bool takes_squeezed = amp_infer_takes(slices->model, id, value, &slices->squeezed);
    if (takes_kept == takes_squeezed)
        return UNDECIDED;
    return takes_kept ? KEPT : SQUEEZED;
}

/* What is said of slice VALUE: by its declared rank, or by the nodes that read it. */
static enum verdict judge_slice(const struct slices *slices, uint32_t value)
{
    enum verdict verdict = judge_rank(slices, amp_value_at(slices->model, value)->rank);
    const struct amp_uses *uses = slices->uses;
    if (slices->kept.rank < 0)
        return UNDECIDED;
    for (uint32_t i = uses->first[value]; i < uses->first[value + 1] && verdict == UNDECIDED; i++)
        verdict = judge_reader(slices, uses->items[i].node, value);
    return verdict;
}

/* What node ID, which reads the sequence, says of the slices in it. */
static enum verdict judge_use(const struct slices *slices, uint32_t id)
{
    const struct amp_node *node = amp_node_at(slices->model, id);
    uint32_t output = node->n_outputs > 0 ? node->outputs[0] : AMP_NONE;
    if (output == AMP_NONE)
        return UNDECIDED;
    if (amp_node_has_role(node, AMP_ROLE_SEQUENCE_AT))
        return judge_slice(slices, output);
    if (amp_node_has_role(node, AMP_ROLE_CONCAT_FROM_SEQUENCE))
        return judge_rank(slices, amp_value_at(slices->model, output)->rank -
                                      (amp_node_int(node, "new_axis", 0) != 0));
    return UNDECIDED;
}

/* Fills in the shapes of the slices of NODE. */
static void shape_slices(struct slices *slices, const struct amp_node *node)
{
    amp_value_shape(amp_value_at(slices->model, node->inputs[0]), &slices->kept);
    slices->squeezed = slices->kept;
    int rank = slices->kept.rank;
    int64_t axis = amp_node_int(node, "axis", 0);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank) {
        slices->kept.rank = slices->squeezed.rank = -1;
        return;
    }
    slices->kept.dims[axis] = 1;
    slices->squeezed.rank--;
    memmove(slices->squeezed.dims + axis, slices->squeezed.dims + axis + 1,
            (size_t)(rank - 1 - axis) * sizeof *slices->squeezed.dims);
}

/* Whether node ID cuts single slices with keepdims 0, though its split keeps the dim. */
static bool is_unbind(const struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    if (node->is_removed || !amp_node_has_role(node, AMP_ROLE_SPLIT_TO_SEQUENCE) ||
        node->n_inputs < 2 || node->inputs[1] == AMP_NONE || node->outputs[0] == AMP_NONE ||
        amp_node_int(node, "keepdims", 1) != 0)
        return false;
    const struct amp_tensor *split = amp_value_at(model, node->inputs[1])->constant;
    return split != NULL && split->shape.rank == 0 && amp_tensor_int(split, 0) == 1;
}

bool amp_slices_lose_dim(const struct amp_model *model, const struct amp_uses *uses, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct slices slices = {.model = model, .uses = uses};
    enum verdict verdict = UNDECIDED;
    if (!is_unbind(model, id))
        return false;
    uint32_t sequence = node->outputs[0];
    shape_slices(&slices, node);
    for (uint32_t i = uses->first[sequence]; i < uses->first[sequence + 1] && verdict == UNDECIDED;
         i++)
        verdict = judge_use(&slices, uses->items[i].node);
    if (verdict == UNDECIDED)
        verdict = judge_rank(&slices, amp_value_at(model, sequence)->rank);
    return verdict != KEPT;
}
