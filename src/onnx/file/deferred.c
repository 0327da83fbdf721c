/*
 * The list of tensors that are converted while a model is written. Its entries double as the places
 * that messages point at until then. Converts nothing itself.
 */
#include "onnx/file/deferred.h"

uint8_t *amp_deferred_add(struct amp_deferred *deferred, const struct amp_tensor *tensor)
{
    deferred->items[deferred->count] = tensor;
    return (uint8_t *)&deferred->items[deferred->count++];
}

const struct amp_tensor *amp_deferred_find(const struct amp_deferred *deferred, const uint8_t *data)
{
    uintptr_t start = (uintptr_t)deferred->items, at = (uintptr_t)data;
    bool is_entry = at >= start && at < (uintptr_t)(deferred->items + deferred->count);
    return is_entry ? *(const struct amp_tensor *const *)(const void *)data : NULL;
}
