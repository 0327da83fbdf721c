/*
 * The metadata of a model: takes entries and replaces those of the message that the model was read
 * from. What they mean is not known here.
 */
#include "onnx/file/metadata.h"

#include "onnx.pb-c.h"

#include <string.h>

static Onnx__StringStringEntryProto *create_entry(struct amp_arena *arena,
                                                  const struct amp_metadata_entry *from)
{
    Onnx__StringStringEntryProto *entry = amp_arena_alloc(arena, sizeof *entry);
    onnx__string_string_entry_proto__init(entry);
    entry->key = amp_arena_strdup(arena, from->key);
    entry->value = amp_arena_strdup(arena, from->value);
    return entry;
}

void amp_metadata_replace(struct amp_model *model, const char *prefix,
                          const struct amp_metadata_entry *entries, size_t count)
{
    Onnx__ModelProto *proto = model->origin;
    size_t n = 0;
    Onnx__StringStringEntryProto **kept =
        amp_arena_array(model->arena, proto->n_metadata_props + count, sizeof *kept);
    for (size_t i = 0; i < proto->n_metadata_props; i++) {
        const char *key = proto->metadata_props[i]->key; /* NULL: none */
        if (key == NULL || strncmp(key, prefix, strlen(prefix)) != 0)
            kept[n++] = proto->metadata_props[i];
    }
    for (size_t i = 0; i < count; i++)
        kept[n++] = create_entry(model->arena, &entries[i]);
    proto->metadata_props = kept;
    proto->n_metadata_props = n;
}
