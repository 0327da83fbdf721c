/*
 * Splits without sequences. Takes a model with inferred types and what was decided about it, and
 * replaces nodes in place; decides on no dtype. What ONNX's SplitToSequence-11 and SequenceAt-11
 * say of lengths and of the dim that single slices lose is carried over, with what
 * onnx/schema/slices.h says of exporters that count on more.
 */
#include "autocast/forms/sequence_split.h"

#include "core/graph/uses.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "onnx/schema/slices.h"
#include "ops/op.h"

#include <string.h>

enum {
    PIECES_MAX = 4096,
    OPSET = 13 /* from which on Split has its lengths as an input */
};

/* A SplitToSequence that can be replaced. */
struct splitting {
    uint32_t node, sequence;
    int64_t axis;
    size_t n_pieces;
    int64_t *lengths;  /* of each piece along the axis */
    int rank;          /* of the whole */
    bool loses_dim;    /* along the axis, of 1 */
    uint32_t *outputs; /* of the Split: a value per piece */
};

/* The constant integer that SequenceAt node READER takes, counted from the front; below 0: it is
   not known, or out of bounds. */
static int64_t index_of(const struct amp_model *model, const struct amp_node *reader, size_t n)
{
    const struct amp_tensor *index = reader->n_inputs == 2 && reader->inputs[1] != AMP_NONE
                                         ? amp_value_at(model, reader->inputs[1])->constant
                                         : NULL;
    if (index == NULL || amp_tensor_count(index) != 1)
        return -1;
    int64_t at = amp_tensor_int(index, 0);
    at += at < 0 ? (int64_t)n : 0;
    return at < (int64_t)n ? at : -1;
}

/* Sets the lengths of N pieces of DIM in all: of LENGTH each, the last one what is left. */
static void set_equal(struct amp_model *model, struct splitting *splitting, int64_t dim,
                      int64_t length)
{
    splitting->n_pieces = (size_t)((dim + length - 1) / length);
    splitting->lengths = amp_arena_array(model->arena, splitting->n_pieces, sizeof(int64_t));
    for (size_t i = 0; i < splitting->n_pieces; i++)
        splitting->lengths[i] = length;
    if (dim % length != 0)
        splitting->lengths[splitting->n_pieces - 1] = dim % length;
}

/* Sets the lengths that constant SPLIT lists, which must be DIM in all. */
static bool set_listed(struct amp_model *model, struct splitting *splitting, int64_t dim,
                       const struct amp_tensor *split)
{
    int64_t sum = 0;
    splitting->n_pieces = (size_t)amp_tensor_count(split);
    splitting->lengths = amp_arena_array(model->arena, splitting->n_pieces, sizeof(int64_t));
    for (size_t i = 0; i < splitting->n_pieces; i++) {
        splitting->lengths[i] = amp_tensor_int(split, i);
        if (splitting->lengths[i] < 0 || splitting->lengths[i] > dim - sum)
            return false;
        sum += splitting->lengths[i];
    }
    return sum == dim;
}

/* Finds out the pieces of the node; false when their number or lengths are not known. */
static bool find_pieces(struct amp_model *model, const struct amp_uses *uses,
                        struct splitting *splitting)
{
    const struct amp_node *node = amp_node_at(model, splitting->node);
    const struct amp_value *whole = amp_value_at(model, node->inputs[0]);
    bool is_listed = node->n_inputs > 1 && node->inputs[1] != AMP_NONE;
    const struct amp_tensor *split =
        is_listed ? amp_value_at(model, node->inputs[1])->constant : NULL;
    splitting->rank = whole->rank;
    splitting->axis = amp_node_int(node, "axis", 0);
    splitting->axis += splitting->axis < 0 ? whole->rank : 0;
    splitting->loses_dim = (!is_listed && amp_node_int(node, "keepdims", 1) == 0) ||
                           amp_slices_lose_dim(model, uses, splitting->node);
    if (whole->rank < 1 || splitting->axis < 0 || splitting->axis >= whole->rank ||
        (is_listed && split == NULL))
        return false;
    int64_t dim = whole->dims[splitting->axis];
    if (dim < 1 || dim > PIECES_MAX)
        return false;
    if (split != NULL && split->shape.rank == 1)
        return amp_tensor_count(split) > 0 && set_listed(model, splitting, dim, split);
    int64_t length = split != NULL ? amp_tensor_int(split, 0) : 1;
    if (length < 1 || length > dim)
        return false;
    set_equal(model, splitting, dim, length);
    return true;
}

/* Whether every reader of the sequence is a SequenceAt of a known piece, in the same graph. */
static bool has_known_readers(const struct amp_model *model, const struct amp_uses *uses,
                              const struct splitting *splitting)
{
    uint32_t id = splitting->sequence, graph = amp_value_at(model, id)->graph;
    for (uint32_t u = uses->first[id]; u < uses->first[id + 1]; u++) {
        const struct amp_node *reader = amp_node_at(model, uses->items[u].node);
        if (!amp_node_has_role(reader, AMP_ROLE_SEQUENCE_AT) || reader->graph != graph ||
            reader->outputs[0] == AMP_NONE)
            return false;
        int64_t index = index_of(model, reader, splitting->n_pieces);
        if (index < 0 || (splitting->loses_dim && splitting->lengths[index] != 1))
            return false;
    }
    return !amp_value_at(model, id)->is_output;
}

/* Makes node ID another operator of ai.onnx, with INPUTS, COUNT of them, and no attributes. */
static void replace_node(struct amp_model *model, uint32_t id, const char *op_type,
                         const uint32_t *inputs, uint32_t count)
{
    amp_node_become(model, id, op_type, (int)amp_model_opset(model, ""));
    amp_node_at(model, id)->inputs = amp_arena_memdup(model->arena, inputs, count * sizeof *inputs);
    amp_node_at(model, id)->n_inputs = count;
}

static void replace_reader(struct amp_model *model, const struct splitting *splitting, uint32_t id)
{
    struct amp_node *reader = amp_node_at(model, id);
    uint32_t graph = reader->graph;
    const char *name = amp_value_at(model, reader->outputs[0])->name;
    uint32_t inputs[] = {splitting->outputs[index_of(model, reader, splitting->n_pieces)], 0};
    if (splitting->loses_dim)
        inputs[1] = amp_graph_add_ints(
            model, graph,
            amp_model_unique_name(model, amp_arena_printf(model->arena, "%s_axis", name)),
            &splitting->axis, 1);
    replace_node(model, id, splitting->loses_dim ? "Squeeze" : "Identity", inputs,
                 splitting->loses_dim ? 2 : 1);
}

/* Adds the values of the pieces. */
static void add_pieces(struct amp_model *model, struct splitting *splitting)
{
    const struct amp_value *sequence = amp_value_at(model, splitting->sequence);
    const char *base = sequence->name;
    uint32_t graph = sequence->graph;
    enum amp_dtype dtype = sequence->dtype;
    struct amp_shape shape;
    amp_value_shape(amp_value_at(model, amp_node_at(model, splitting->node)->inputs[0]), &shape);
    splitting->outputs = amp_arena_array(model->arena, splitting->n_pieces, sizeof(uint32_t));
    for (size_t i = 0; i < splitting->n_pieces; i++) {
        const char *name = amp_arena_printf(model->arena, "%s_%zu", base, i);
        uint32_t id = amp_graph_add_value(model, graph, amp_model_unique_name(model, name));
        amp_value_at(model, id)->kind = AMP_KIND_TENSOR;
        amp_value_at(model, id)->dtype = dtype;
        shape.dims[splitting->axis] = splitting->lengths[i];
        amp_value_set_shape(model, id, &shape);
        splitting->outputs[i] = id;
    }
}

static void replace(struct amp_model *model, const struct amp_uses *uses,
                    struct splitting *splitting)
{
    add_pieces(model, splitting);
    for (uint32_t u = uses->first[splitting->sequence]; u < uses->first[splitting->sequence + 1];
         u++)
        replace_reader(model, splitting, uses->items[u].node);
    const char *name = amp_arena_printf(model->arena, "%s_lengths",
                                        amp_value_at(model, splitting->sequence)->name);
    uint32_t graph = amp_node_at(model, splitting->node)->graph;
    const uint32_t inputs[] = {amp_node_at(model, splitting->node)->inputs[0],
                               amp_graph_add_ints(model, graph, amp_model_unique_name(model, name),
                                                  splitting->lengths, splitting->n_pieces)};
    replace_node(model, splitting->node, "Split", inputs, 2);
    amp_node_set_int(model, splitting->node, "axis", splitting->axis);
    amp_node_clear_outputs(model, splitting->node, (uint32_t)splitting->n_pieces);
    for (uint32_t i = 0; i < splitting->n_pieces; i++)
        amp_node_set_output(model, splitting->node, i, splitting->outputs[i]);
}

/* Whether node ID is a SplitToSequence of data that are lowered, which its sequence cannot be. */
static bool is_in_the_way(const struct amp_model *model, const struct amp_assignment *assignment,
                          uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    return !node->is_removed && amp_node_has_role(node, AMP_ROLE_SPLIT_TO_SEQUENCE) &&
           node->outputs[0] != AMP_NONE &&
           amp_assignment_lowers(assignment, assignment->values[node->inputs[0]]) &&
           !amp_assignment_lowers(assignment, assignment->values[node->outputs[0]]) &&
           amp_value_at(model, node->outputs[0])->dtype == AMP_FLOAT;
}

size_t amp_sequences_split(struct amp_model *model, const struct amp_assignment *assignment)
{
    struct amp_uses uses = amp_uses_create(model);
    size_t count = 0;
    for (uint32_t id = 0; id < assignment->n_nodes && amp_model_opset(model, "") >= OPSET; id++) {
        if (!is_in_the_way(model, assignment, id))
            continue;
        struct splitting splitting = {.node = id, .sequence = amp_node_at(model, id)->outputs[0]};
        if (!find_pieces(model, &uses, &splitting) || !has_known_readers(model, &uses, &splitting))
            continue;
        replace(model, &uses, &splitting);
        count++;
    }
    amp_uses_destroy(&uses);
    return count;
}
