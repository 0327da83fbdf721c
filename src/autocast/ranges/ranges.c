/*
 * The ranges of a model's values: a list of entries, found by name. Who fills it runs the model
 * (check/calibrate.c), proves bounds (bounds.c) or reads a file (file.c).
 */
#include "autocast/ranges/ranges.h"

#include "core/graph/graph.h"
#include "core/hash.h"
#include "core/tensor.h"

#include <string.h>

struct amp_ranges *amp_ranges_create(struct amp_arena *arena)
{
    struct amp_ranges *ranges = amp_arena_alloc(arena, sizeof *ranges);
    *ranges = (struct amp_ranges){.arena = arena};
    return ranges;
}

struct amp_value_range *amp_ranges_entry(struct amp_ranges *ranges, const char *name)
{
    uint32_t index;
    if (amp_strmap_get(&ranges->by_name, name, &index))
        return &ranges->items[index];
    name = amp_arena_strdup(ranges->arena, name);
    amp_strmap_put(&ranges->by_name, ranges->arena, name, (uint32_t)ranges->count);
    struct amp_value_range *entry = amp_arena_push(ranges->arena, &ranges->items, &ranges->count,
                                                   &ranges->capacity, sizeof *entry);
    *entry = (struct amp_value_range){.name = name, .proved = amp_interval_all()};
    return entry;
}

const struct amp_value_range *amp_ranges_find(const struct amp_ranges *ranges, const char *name)
{
    uint32_t index;
    return amp_strmap_get(&ranges->by_name, name, &index) ? &ranges->items[index] : NULL;
}

const char *amp_range_source_name(enum amp_range_source source)
{
    static const char *const names[] = {
        [AMP_RANGES_UNSEEN] = "none", [AMP_RANGES_DATA] = "data", [AMP_RANGES_RANDOM] = "random"};
    return names[source];
}

const char *amp_range_evidence(enum amp_range_source source)
{
    static const char *const texts[] = {[AMP_RANGES_UNSEEN] = "proved",
                                        [AMP_RANGES_DATA] = "in data",
                                        [AMP_RANGES_RANDOM] = "in random inputs"};
    return texts[source];
}

const char *amp_ranges_key(const struct amp_model *model, struct amp_arena *arena)
{
    const struct amp_ids *inputs = &model->graphs[0].inputs;
    uint32_t hashes[2] = {0, 1};
    for (size_t i = 0; i < inputs->count; i++) {
        char text[256];
        struct amp_shape shape;
        const struct amp_value *value = amp_value_at(model, inputs->items[i]);
        amp_value_shape(value, &shape);
        for (int d = 0; d < shape.rank; d++)
            shape.dims[d] = shape.dims[d] < 0 ? AMP_DIM_UNKNOWN : shape.dims[d];
        amp_shape_text(&shape, text, sizeof text);
        for (int k = 0; k < 2; k++) {
            hashes[k] = amp_hash_fnv(value->name, strlen(value->name) + 1, hashes[k]);
            hashes[k] = amp_hash_fnv(&value->dtype, sizeof value->dtype, hashes[k]);
            hashes[k] = amp_hash_fnv(text, strlen(text) + 1, hashes[k]);
        }
    }
    return amp_arena_printf(arena, "%08x%08x", hashes[0], hashes[1]);
}

size_t amp_ranges_count_unknown(const struct amp_ranges *ranges, const struct amp_model *model,
                                const char **first)
{
    struct amp_strmap names = {.count = 0};
    struct amp_arena *arena = amp_arena_create();
    size_t count = 0;
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_value_at(model, v)->graph == 0)
            amp_strmap_put(&names, arena, amp_value_at(model, v)->name, v);
    for (size_t i = ranges->count; i-- > 0;) {
        if (amp_strmap_get(&names, ranges->items[i].name, NULL))
            continue;
        *first = ranges->items[i].name;
        count++;
    }
    amp_arena_destroy(arena);
    return count;
}
