/*
 * Reads the attributes of Gradient nodes: takes a node, gives the values of the main graph that it
 * names. Computes no derivative.
 */
#include "onnx/training/gradient_node.h"

#include <string.h>

static const char of[] = "y", by[] = "xs", at[] = "zs";

bool amp_node_is_gradient(const struct amp_node *node)
{
    return !node->is_removed && strcmp(node->domain, "ai.onnx.preview.training") == 0 &&
           amp_node_attr(node, of) != NULL && amp_node_attr(node, by) != NULL;
}

static uint32_t find_value(const struct amp_model *model, const char *name)
{
    for (uint32_t id = 0; id < model->n_values; id++)
        if (amp_value_at(model, id)->graph == 0 && strcmp(amp_value_at(model, id)->name, name) == 0)
            return id;
    return AMP_NONE;
}

void amp_gradient_add_points(const struct amp_model *model, uint32_t id, struct amp_ids *ids)
{
    const char *const lists[] = {by, at};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const struct amp_attr *attr = amp_node_attr(amp_node_at(model, id), lists[k]);
        for (size_t i = 0; attr != NULL && attr->type == AMP_ATTR_STRINGS && i < attr->count; i++) {
            uint32_t value = find_value(model, attr->strings[i].data);
            if (value == AMP_NONE)
                continue;
            uint32_t *slot = amp_arena_push(model->arena, &ids->items, &ids->count, &ids->capacity,
                                            sizeof *slot);
            *slot = value;
        }
    }
}

uint32_t amp_gradient_target(const struct amp_model *model, uint32_t id)
{
    const char *name = amp_node_string(amp_node_at(model, id), of, NULL);
    return name != NULL ? find_value(model, name) : AMP_NONE;
}

void amp_gradient_set_target(struct amp_model *model, uint32_t id, uint32_t value)
{
    const char *name = amp_value_at(model, value)->name;
    struct amp_str *text = amp_arena_alloc(model->arena, sizeof *text);
    *text = (struct amp_str){.data = name, .size = strlen(name)};
    amp_node_set_attr(
        model, id,
        (struct amp_attr){.name = of, .type = AMP_ATTR_STRING, .count = 1, .strings = text});
}
