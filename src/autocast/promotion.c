/*
 * To what dtype inputs promote. Takes what nodes and values have become so far, gives the dtype of
 * the next node or whole by its policy. Follows PyTorch's rules of type promotion
 * (c10/core/ScalarType, ATen/native/TypeProperties.cpp) and of its autocast (ATen/autocast_mode.h).
 * What operators forbid is assign.c's matter.
 */
#include "autocast/promotion.h"

#include "autocast/eligible.h"
#include "autocast/notes.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <string.h>

/* What ALL, AMP_UNDEFINED where nothing has been seen so far, and DTYPE promote to. */
static enum amp_dtype promote(enum amp_dtype all, enum amp_dtype dtype)
{
    return all == AMP_UNDEFINED ? dtype : amp_dtype_promote(all, dtype);
}

/* What dtypes promote to as PyTorch has it (c10::ResultTypeState): tensors without dims count only
   where there are no others. AMP_UNDEFINED: there are none. */
struct promotion {
    enum amp_dtype tensors, scalars;
    bool is_of_composite; /* whose settings may be tensors of one element, as exporters have it */
};

static bool has_one_element(const struct amp_model *model, uint32_t id)
{
    struct amp_shape shape;
    amp_value_shape(amp_value_at(model, id), &shape);
    return amp_shape_count(&shape) == 1;
}

static bool is_same(struct amp_str a, struct amp_str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Through how many nodes the data of a state are followed. */
enum { STATE_DEPTH = 8 };

/* Whether the recurrent layer made VALUE itself, and all that its data come through. */
static bool is_made_in_layer(const struct amp_promoter *promoter, uint32_t id)
{
    const struct amp_model *model = promoter->types.model;
    for (int depth = 0; depth < STATE_DEPTH && id != AMP_NONE; depth++) {
        uint32_t producer = amp_value_at(model, id)->producer;
        if (producer == AMP_NONE)
            return promoter->is_layer_noted;
        const struct amp_node *node = amp_node_at(model, producer);
        if (!is_same(promoter->scopes[producer], promoter->layer))
            return false;
        if (node->n_inputs == 0 || amp_node_has_role(node, AMP_ROLE_CONSTANT_OF_SHAPE))
            return true;
        id = node->inputs[0];
    }
    return false;
}

/* Whether VALUE is the state that the recurrent layer begins with where it is given none: made of
   constants, by the layer. TorchScript's exporter puts constants where they are used, whoever made
   them: one that a layer takes as it is may be its own or not, and counts as what it is. */
static bool is_own_state(const struct amp_promoter *promoter, uint32_t id)
{
    if (promoter->layer_dtype == AMP_UNDEFINED || promoter->is_folded[id] ||
        promoter->values[id] != AMP_FLOAT ||
        !amp_static_values_has_data(promoter->static_values, id))
        return false;
    bool is_constant = amp_value_at(promoter->types.model, id)->constant != NULL;
    return (promoter->is_layer_noted || !is_constant) && is_made_in_layer(promoter, id);
}

static void add_to_promotion(const struct amp_promoter *promoter, struct promotion *promotion,
                             uint32_t id, enum amp_promotion_part part)
{
    bool is_scalar = amp_value_at(promoter->types.model, id)->rank == 0 ||
                     (promotion->is_of_composite && has_one_element(promoter->types.model, id));
    enum amp_dtype dtype = promoter->is_folded[id] ? promoter->lower : promoter->values[id];
    bool is_own = is_own_state(promoter, id);
    if (is_own || amp_static_values_has(promoter->static_values, id)) {
        bool is_constant = amp_value_at(promoter->types.model, id)->constant != NULL;
        if (part == AMP_PART_LIVE || (part == AMP_PART_CONSTANT && is_scalar) ||
            (part == AMP_PART_COMPUTED && is_constant))
            return;
        if (is_own)
            dtype = promoter->layer_dtype;
        *promoter->has_promoting_constants |= part == AMP_PART_CONSTANT && dtype == AMP_FLOAT;
    }
    if (is_scalar)
        promotion->scalars = promote(promotion->scalars, dtype);
    else
        promotion->tensors = promote(promotion->tensors, dtype);
}

static enum amp_dtype promoted_dtype(const struct promotion *promotion)
{
    return promotion->tensors != AMP_UNDEFINED ? promotion->tensors : promotion->scalars;
}

/* Whether VALUE is what Where fills up with: one number in all the shape of its output. Exporters
   that do not note where nodes come from fold full_like, zeros_like and ones_like of lowered data
   to such constants in float32. */
static bool is_filling(const struct amp_promoter *promoter, const struct amp_node *node,
                       uint32_t id)
{
    const struct amp_model *model = promoter->types.model;
    const struct amp_tensor *constant = amp_value_at(model, id)->constant;
    struct amp_shape shape;
    if (!amp_node_has_role(node, AMP_ROLE_WHERE) || node->note.fx_node != NULL || constant == NULL)
        return false;
    amp_value_shape(amp_value_at(model, node->outputs[0]), &shape);
    size_t count = amp_tensor_count(constant);
    if (!amp_shape_equal(&constant->shape, &shape) || count == 0)
        return false;
    double first = amp_tensor_double(constant, 0);
    for (size_t i = 1; i < count; i++)
        if (amp_tensor_double(constant, i) != first)
            return false;
    return true;
}

enum amp_dtype amp_promoted_dtype(const struct amp_promoter *promoter, const struct amp_node *node,
                                  int type, enum amp_promotion_part part)
{
    struct promotion promotion = {AMP_UNDEFINED, AMP_UNDEFINED, false};
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t id = amp_typed_input(&promoter->types, node, type, i);
        if (id != AMP_NONE && !(part == AMP_PART_CONSTANT && is_filling(promoter, node, id)))
            add_to_promotion(promoter, &promotion, id, part);
    }
    return promoted_dtype(&promotion);
}

/* Whether constants count in the promotion of what PROMOTES. */
static enum amp_promotion_part part_of(const struct amp_promoter *promoter, bool promotes)
{
    return promotes && promoter->constants == AMP_CONSTANTS_PROMOTE ? AMP_PART_CONSTANT
                                                                    : AMP_PART_LIVE;
}

/* Which inputs count for AMP_WIDEST, which PyTorch's autocast asks of all. */
static enum amp_promotion_part part_of_widest(const struct amp_promoter *promoter)
{
    return promoter->constants == AMP_CONSTANTS_PROMOTE ? AMP_PART_ALL : AMP_PART_LIVE;
}

/* The widest dtype among all inputs that are to be floats, of whichever type variable. Those of
   another variable than TYPE count as what they will be: the dtype that they came with. */
static enum amp_dtype widest(const struct amp_promoter *promoter, const struct amp_node *node,
                             int type, enum amp_promotion_part part)
{
    if (type == AMP_TYPE_ALL_FLOATS)
        return amp_promoted_dtype(promoter, node, type, AMP_PART_ALL);
    const struct amp_schema *schema = amp_schema_at_cap(node, promoter->types.cap);
    enum amp_dtype result = AMP_UNDEFINED;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(schema, i);
        uint32_t id = node->inputs[i];
        if (id == AMP_NONE || param == NULL ||
            !amp_schema_type_is_float(amp_schema_type(schema, param)) ||
            (part == AMP_PART_LIVE && amp_static_values_has(promoter->static_values, id)))
            continue;
        enum amp_dtype dtype = amp_schema_shares(schema, type, param)
                                   ? promoter->values[id]
                                   : amp_value_at(promoter->types.model, id)->dtype;
        if (amp_dtype_is_autocast(dtype))
            result = promote(result, dtype);
    }
    return result != AMP_UNDEFINED || part == AMP_PART_ALL
               ? result
               : widest(promoter, node, type, AMP_PART_ALL);
}

/* Whether VALUE is an input of the whole that has a say in its dtype: not what passes between its
   parts, nor a number that its definition is. */
static bool is_outer_input(const struct amp_promoter *promoter, const struct amp_whole *whole,
                           uint32_t id)
{
    const struct amp_value *value = amp_value_at(promoter->types.model, id);
    if (whole->composite != NULL && value->constant != NULL &&
        amp_shape_count(&value->constant->shape) == 1)
        return false;
    return value->producer == AMP_NONE || amp_wholes_of(promoter->wholes, value->producer) != whole;
}

/* The dtype that the inputs of the whole promote to, as promoted has it for a node; AMP_UNDEFINED:
   there are none. */
static enum amp_dtype promoted_whole(const struct amp_promoter *promoter,
                                     const struct amp_whole *whole, enum amp_promotion_part part)
{
    struct promotion promotion = {AMP_UNDEFINED, AMP_UNDEFINED, whole->composite != NULL};
    for (size_t i = 0; i < whole->n_nodes; i++) {
        const struct amp_node *node = amp_node_at(promoter->types.model, whole->nodes[i]);
        int type = promoter->nodes[whole->nodes[i]].type;
        for (uint32_t k = 0; k < node->n_inputs && type >= 0; k++) {
            uint32_t id = amp_typed_input(&promoter->types, node, type, k);
            if (id != AMP_NONE && is_outer_input(promoter, whole, id))
                add_to_promotion(promoter, &promotion, id, part);
        }
    }
    return promoted_dtype(&promotion);
}

/* The dtype of the main input of a composite that PyTorch computes in it whatever the others are: a
   mask, weights. AMP_UNDEFINED: it has no such. */
static enum amp_dtype main_input_dtype(const struct amp_promoter *promoter,
                                       const struct amp_whole *whole)
{
    const struct amp_node *entry = amp_node_at(promoter->types.model, whole->entry);
    int type = promoter->nodes[whole->entry].type;
    uint32_t id = type >= 0 && entry->n_inputs > 0
                      ? amp_typed_input(&promoter->types, entry, type, 0)
                      : AMP_NONE;
    if (whole->composite == NULL || whole->promotes || id == AMP_NONE ||
        amp_static_values_has(promoter->static_values, id) || !is_outer_input(promoter, whole, id))
        return AMP_UNDEFINED;
    return promoter->values[id];
}

enum amp_dtype amp_policy_dtype_of_whole(const struct amp_promoter *promoter,
                                         const struct amp_whole *whole,
                                         enum amp_precision precision)
{
    enum amp_dtype asked = amp_precision_dtype(precision, promoter->lower);
    if (asked != AMP_UNDEFINED || whole->asks_float32)
        return asked != AMP_UNDEFINED ? asked : AMP_FLOAT;
    enum amp_promotion_part part =
        precision == AMP_WIDEST ? part_of_widest(promoter) : part_of(promoter, whole->promotes);
    enum amp_dtype dtype =
        precision == AMP_WIDEST ? AMP_UNDEFINED : main_input_dtype(promoter, whole);
    if (dtype == AMP_UNDEFINED)
        dtype = promoted_whole(promoter, whole, part);
    if (dtype == AMP_UNDEFINED)
        dtype = promoted_whole(promoter, whole, AMP_PART_COMPUTED);
    if (dtype == AMP_UNDEFINED)
        dtype = promoted_whole(promoter, whole, AMP_PART_ALL);
    return dtype != AMP_UNDEFINED ? dtype : AMP_FLOAT;
}

void amp_promoter_enter(struct amp_promoter *promoter, uint32_t id)
{
    const struct amp_node *node = amp_node_at(promoter->types.model, id);
    struct amp_str layer = promoter->scopes[id];
    if (node->note.fx_node == NULL && layer.data != node->name)
        return; /* the optimizer put it there, or TorchScript's exporter, outside of layers */
    if (!is_same(layer, promoter->layer)) {
        promoter->layer = layer;
        promoter->layer_dtype = AMP_UNDEFINED;
    }
    promoter->is_layer_noted = node->note.fx_node != NULL;
    for (uint32_t i = 0; layer.size > 0 && i < node->n_inputs; i++) {
        uint32_t input = node->inputs[i];
        if (promoter->layer_dtype == AMP_UNDEFINED && input != AMP_NONE &&
            amp_dtype_is_autocast(promoter->values[input]) &&
            !amp_static_values_has_data(promoter->static_values, input))
            promoter->layer_dtype = promoter->values[input];
    }
}

/* To what the input of a recurrent layer and the states that it is given promote: PyTorch lowers
   its products, and the result of a step is of the state's dtype and theirs. */
static enum amp_dtype recurrent_dtype(const struct amp_promoter *promoter,
                                      const struct amp_node *node, int type)
{
    struct promotion promotion = {AMP_UNDEFINED, AMP_UNDEFINED, false};
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t id = amp_typed_input(&promoter->types, node, type, i);
        if (id != AMP_NONE && (i == 0 || i >= AMP_FIRST_STATE))
            add_to_promotion(promoter, &promotion, id, part_of(promoter, true));
    }
    return promoted_dtype(&promotion);
}

enum amp_dtype amp_policy_dtype(const struct amp_promoter *promoter, const struct amp_node *node,
                                const struct amp_decision *decision)
{
    enum amp_dtype asked = amp_precision_dtype(decision->precision, promoter->lower);
    if (asked != AMP_UNDEFINED)
        return asked;
    if (decision->precision == AMP_WIDEST)
        return widest(promoter, node, decision->type, part_of_widest(promoter));
    enum amp_promotion_part part = part_of(promoter, amp_node_promotes(node));
    enum amp_dtype live = promoter->layer.size > 0 && amp_node_has_role(node, AMP_ROLE_RECURRENT)
                              ? recurrent_dtype(promoter, node, decision->type)
                              : amp_promoted_dtype(promoter, node, decision->type, part);
    return live != AMP_UNDEFINED ? live
                                 : amp_promoted_dtype(promoter, node, decision->type, AMP_PART_ALL);
}
