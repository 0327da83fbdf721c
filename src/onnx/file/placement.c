/*
 * Where tensor data go in the output: in the message, or in one data file beside it (ONNX,
 * docs/ExternalData.md). Takes the message as it is to be, with the data of every tensor as its
 * raw_data, also where the input had them outside; moves those that belong outside there. Writes
 * nothing.
 */
#include "onnx/file/placement.h"

#include "core/tensor.h"
#include "onnx/file/wire.h"

#include "onnx.pb-c.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Offsets in the data file: large data begin on a page, so that they can be mapped (ONNX,
   docs/ExternalData.md), others where any processor reads vectors well. */
enum { PAGE = 4096, VECTOR = 64 };

/* The most bytes of a short list: 64 of int64. */
enum { SHAPE_DATA_MAX = 512 };

/* A tensor of the message whose data are known. */
struct found {
    Onnx__TensorProto *proto;
    bool is_initializer, was_external;
};

struct finder {
    struct found *items;
    size_t count, capacity;
};

static void note_tensor(struct finder *finder, Onnx__TensorProto *proto, bool is_initializer)
{
    bool was_external = proto->has_data_location &&
                        proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    /* External data that nobody read, as those of functions, stay where they are. */
    bool is_known = proto->raw_data.data != NULL && (proto->has_raw_data || was_external);
    if (!is_known)
        return;
    if (finder->count == finder->capacity) {
        finder->capacity = finder->capacity ? finder->capacity * 2 : 64;
        finder->items = amp_xrealloc(finder->items, finder->capacity, sizeof *finder->items);
    }
    finder->items[finder->count++] = (struct found){proto, is_initializer, was_external};
}

/* Notes all tensors in MESSAGE in the order in which they are packed. */
static void find_tensors(struct finder *finder, ProtobufCMessage *message, bool is_initializer)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &onnx__tensor_proto__descriptor)
        note_tensor(finder, (Onnx__TensorProto *)message, is_initializer);
    for (unsigned f = 0; f < type->n_fields; f++) {
        ProtobufCMessage *const *items;
        size_t count = amp_wire_items(message, &type->fields[f], &items);
        /* A graph has no other tensors than initializers of its own. */
        bool are_initializers = type == &onnx__graph_proto__descriptor;
        for (size_t i = 0; i < count; i++)
            find_tensors(finder, items[i], are_initializers);
    }
}

/* The data file while tensors get their places in it. */
struct places {
    struct amp_placement *placement;
    const char *location; /* of the data file, as the tensors name it */
    uint64_t threshold;   /* bytes from which on an initializer goes there */
    struct amp_arena *arena;
    struct amp_strmap known; /* data_identity -> index in the placement's placed */
};

static void put_inline(Onnx__TensorProto *proto)
{
    proto->has_raw_data = true;
    proto->has_data_location = false;
    proto->n_external_data = 0;
}

static Onnx__StringStringEntryProto *create_entry(struct amp_arena *arena, char *key, char *value)
{
    Onnx__StringStringEntryProto *entry = amp_arena_alloc(arena, sizeof *entry);
    onnx__string_string_entry_proto__init(entry);
    entry->key = key;
    entry->value = value;
    return entry;
}

static void put_external(Onnx__TensorProto *proto, const char *location, uint64_t offset,
                         struct amp_arena *arena)
{
    static char keys[][9] = {"location", "offset", "length"};
    char *values[] = {amp_arena_strdup(arena, location),
                      amp_arena_printf(arena, "%" PRIu64, offset),
                      amp_arena_printf(arena, "%zu", proto->raw_data.len)};
    enum { N_ENTRIES = sizeof values / sizeof values[0] };
    proto->has_raw_data = false;
    proto->has_data_location = true;
    proto->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    proto->n_external_data = N_ENTRIES;
    proto->external_data =
        amp_arena_array(arena, N_ENTRIES, sizeof(Onnx__StringStringEntryProto *));
    for (size_t i = 0; i < N_ENTRIES; i++)
        proto->external_data[i] = create_entry(arena, keys[i], values[i]);
}

/* A text that is equal for tensors with equal data, by where the data come from: the input may have
   several tensors share one stretch of a file (tied weights). */
static const char *data_identity(const struct amp_placement *placement,
                                 const Onnx__TensorProto *proto, struct amp_arena *arena)
{
    const struct amp_tensor *deferred =
        amp_deferred_find(&placement->deferred, proto->raw_data.data);
    const struct amp_tensor *source = deferred != NULL ? deferred->source : NULL;
    const void *data = proto->raw_data.data;
    if (source != NULL)
        data = source->data != NULL ? source->data : source;
    return amp_arena_printf(arena, "%p %zu %d %d", data, proto->raw_data.len, (int)proto->data_type,
                            source != NULL ? (int)source->dtype : 0);
}

/* Gives the data of PROTO the next place in the data file, or the one that they have already. */
static void place(struct places *places, Onnx__TensorProto *proto)
{
    struct amp_placement *placement = places->placement;
    const char *identity = data_identity(placement, proto, places->arena);
    uint64_t align = proto->raw_data.len >= PAGE ? PAGE : VECTOR;
    uint64_t offset = (placement->data_size + align - 1) / align * align;
    uint32_t known;
    if (amp_strmap_get(&places->known, identity, &known)) {
        put_external(proto, places->location, placement->placed[known].offset, places->arena);
        return;
    }
    put_external(proto, places->location, offset, places->arena);
    amp_strmap_put(&places->known, places->arena, identity, (uint32_t)placement->n_placed);
    placement->placed[placement->n_placed++] =
        (struct amp_placed){proto->raw_data.data, proto->raw_data.len, offset};
    placement->data_size = offset + proto->raw_data.len;
}

/* The file NAME in the folder of the model. */
static const char *beside(const struct amp_placement *placement, const char *name,
                          struct amp_arena *arena)
{
    const char *slash = strrchr(placement->path, '/');
    int length = slash == NULL ? 0 : (int)(slash + 1 - placement->path);
    return amp_arena_printf(arena, "%.*s%s", length, placement->path, name);
}

/* The name of the data file where the user gave none: the model's with ".data". */
static const char *default_location(const struct amp_placement *placement, struct amp_arena *arena)
{
    const char *slash = strrchr(placement->path, '/');
    return amp_arena_printf(arena, "%s.data", slash == NULL ? placement->path : slash + 1);
}

/* Says in NEEDS whether data go outside though the user did not ask for it: they do where the
   message would be too large or the input's data were outside. A stream has no file beside it. */
static enum amp_status needs_file(const struct amp_placement *placement,
                                  const struct finder *finder,
                                  const struct amp_placement_options *options, bool *needs,
                                  struct amp_error *err)
{
    bool is_stdout = strcmp(placement->path, "-") == 0;
    bool is_too_large = placement->message_size > INT_MAX;
    if (is_too_large && (is_stdout || options->is_inline))
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: the converted model takes %zu bytes; protobuf messages end at 2 GB: "
                        "--external-data names a file for its tensors",
                        is_stdout ? "stdout" : placement->path, placement->message_size);
    *needs = is_too_large;
    for (size_t i = 0; i < finder->count && !is_stdout && !options->is_inline; i++)
        *needs |= finder->items[i].was_external;
    return AMP_OK;
}

/* Shapes, axes, scales and other short lists: ONNX's shape inference reads their values, and does
   not look for them outside ("Cannot parse data from external tensors"). */
static bool is_shape_data(const Onnx__TensorProto *proto)
{
    return proto->n_dims < 2 && proto->raw_data.len <= SHAPE_DATA_MAX;
}

/* Places what belongs outside and says so in the messages. */
static void place_all(struct places *places, const struct finder *finder)
{
    struct amp_placement *placement = places->placement;
    placement->data_path = beside(placement, places->location, places->arena);
    placement->placed = amp_arena_array(places->arena, finder->count, sizeof *placement->placed);
    for (size_t i = 0; i < finder->count; i++) {
        const struct found *found = &finder->items[i];
        size_t size = found->proto->raw_data.len;
        bool is_large = found->is_initializer && size >= places->threshold;
        if (size > 0 && (is_large || found->was_external) && !is_shape_data(found->proto))
            place(places, found->proto);
    }
}

enum amp_status amp_placement_decide(struct amp_placement *placement, struct amp_model *model,
                                     const struct amp_placement_options *options,
                                     struct amp_error *err)
{
    Onnx__ModelProto *message = model->origin;
    struct finder finder = {.count = 0};
    bool needs = options->data_name != NULL;
    enum amp_status status = AMP_OK;
    placement->path = options->path;
    find_tensors(&finder, &message->base, false);
    for (size_t i = 0; i < finder.count; i++)
        put_inline(finder.items[i].proto);
    placement->message_size = protobuf_c_message_get_packed_size(&message->base);
    if (!needs)
        status = needs_file(placement, &finder, options, &needs, err);
    if (status == AMP_OK && needs) {
        struct places places = {.placement = placement,
                                .location = options->data_name,
                                .threshold = options->threshold,
                                .arena = model->arena};
        if (places.location == NULL)
            places.location = default_location(placement, model->arena);
        place_all(&places, &finder);
        placement->message_size = protobuf_c_message_get_packed_size(&message->base);
    }
    free(finder.items);
    if (status == AMP_OK && placement->message_size > INT_MAX)
        status = amp_fail(err, AMP_UNSUPPORTED,
                          "%s: without the tensors in the data file the model still takes %zu "
                          "bytes; protobuf messages end at 2 GB: lower --external-threshold",
                          placement->path, placement->message_size);
    return status;
}

uint64_t amp_placement_size(const struct amp_placement *placement)
{
    return placement->message_size + placement->data_size;
}
