/*
 * Tells the sequences that nodes put together of tensors and take apart again from those that go
 * elsewhere. Takes a model with inferred types; knows operators by what the schema table says of
 * their types alone.
 */
#include "autocast/sequences.h"

#include "core/graph/uses.h"
#include "onnx/schema/schema.h"

static bool is_tensor(const struct amp_model *model, uint32_t id)
{
    return id == AMP_NONE || amp_value_at(model, id)->kind == AMP_KIND_TENSOR;
}

static bool are_tensors(const struct amp_model *model, const uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_tensor(model, ids[i]))
            return false;
    return true;
}

/* Whether NODE computes all that it gives, of what it takes: it is of ai.onnx and has no bodies. */
static bool is_plain(const struct amp_node *node)
{
    return node->schema != NULL && node->domain[0] == '\0' && !amp_node_has_bodies(node);
}

/* Whether NODE puts tensors together, in a sequence that may be of LOWERS. */
static bool packs(const struct amp_model *model, const struct amp_node *node, uint32_t lowers)
{
    if (!is_plain(node))
        return false;
    const struct amp_schema_param *output = amp_schema_output(node->schema, 0);
    return (amp_schema_type(node->schema, output)->sequences & lowers) == lowers &&
           are_tensors(model, node->inputs, node->n_inputs);
}

/* Whether all that uses sequence ID takes it apart in its own graph. */
static bool is_taken_apart(const struct amp_model *model, const struct amp_uses *uses, uint32_t id)
{
    for (uint32_t u = uses->first[id]; u < uses->first[id + 1]; u++) {
        const struct amp_node *user = amp_node_at(model, uses->items[u].node);
        if (user->graph != amp_value_at(model, id)->graph || uses->items[u].slot != 0 ||
            !is_plain(user) || !are_tensors(model, user->outputs, user->n_outputs))
            return false;
    }
    return true;
}

bool *amp_sequences_find(const struct amp_model *model, const struct amp_uses *uses,
                         uint32_t lowers)
{
    bool *found = amp_xcalloc(model->n_values, sizeof *found);
    for (uint32_t id = 0; id < model->n_values; id++) {
        const struct amp_value *value = amp_value_at(model, id);
        found[id] = value->kind == AMP_KIND_SEQUENCE && !value->is_output &&
                    amp_dtype_is_autocast(value->dtype) && value->producer != AMP_NONE &&
                    packs(model, amp_node_at(model, value->producer), lowers) &&
                    is_taken_apart(model, uses, id);
    }
    return found;
}
