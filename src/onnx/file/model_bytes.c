/*
 * Opens the bytes of a model, and looks at them while they come in through a stream: walks the
 * fields of the messages as far as they are there, and stops at the first that no model has. So a
 * stream that never ends is read on only as long as it could be a model. What is let through may
 * still be none: wire.c decides.
 */
#include "onnx/file/model_bytes.h"

#include "onnx/file/wire.h"

#include "onnx.pb-c.h"

#include <limits.h>

/* A message that is being walked through. */
struct level {
    const ProtobufCMessageDescriptor *type;
    size_t end; /* the offset behind it; of a model: where it has to end */
};

/* How far the walk has come. */
struct walk {
    struct level levels[AMP_WIRE_DEPTH_MAX + 1];
    int depth;
    size_t at; /* offset of the next field, all before were in order */
};

/* The bytes that have come in so far: SIZE at DATA. AT is the offset of the next one to read. */
struct view {
    const unsigned char *data;
    size_t size, at;
};

/* Reads a varint; false when not all of its bytes are there yet. Of one that is too long the first
   ten bytes count. */
static bool get_number(struct view *view, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; view->at < view->size; shift += 7) {
        unsigned char byte = view->data[view->at++];
        *number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80 || shift >= 63)
            return true;
    }
    return false;
}

/* The wire types of items that are no varints. */
static const unsigned char wire_types[] = {
    [PROTOBUF_C_TYPE_FIXED32] = AMP_WIRE_FIXED32,  [PROTOBUF_C_TYPE_SFIXED32] = AMP_WIRE_FIXED32,
    [PROTOBUF_C_TYPE_FLOAT] = AMP_WIRE_FIXED32,    [PROTOBUF_C_TYPE_FIXED64] = AMP_WIRE_FIXED64,
    [PROTOBUF_C_TYPE_SFIXED64] = AMP_WIRE_FIXED64, [PROTOBUF_C_TYPE_DOUBLE] = AMP_WIRE_FIXED64,
    [PROTOBUF_C_TYPE_STRING] = AMP_WIRE_LENGTH,    [PROTOBUF_C_TYPE_BYTES] = AMP_WIRE_LENGTH,
    [PROTOBUF_C_TYPE_MESSAGE] = AMP_WIRE_LENGTH};

/* Whether a field with TAG can be in a message; FIELD is NULL where the message's type knows none
   of that number. */
static bool is_possible(uint64_t tag, const ProtobufCFieldDescriptor *field)
{
    unsigned type = tag & 7;
    if (tag >> 3 == 0 || tag >> 3 > AMP_WIRE_FIELD_MAX)
        return false;
    if (type != AMP_WIRE_VARINT && type != AMP_WIRE_FIXED64 && type != AMP_WIRE_LENGTH &&
        type != AMP_WIRE_FIXED32)
        return false;
    bool is_packed =
        field != NULL && field->label == PROTOBUF_C_LABEL_REPEATED && type == AMP_WIRE_LENGTH;
    return field == NULL || is_packed || type == wire_types[field->type];
}

static enum amp_status fail_length(const struct walk *walk, uint64_t size, struct amp_error *err)
{
    const struct level *level = &walk->levels[walk->depth];
    if (walk->depth == 0)
        return amp_fail(err, AMP_MODEL,
                        "a field of %llu bytes at byte %zu; models end at %d, where protobuf "
                        "messages do",
                        (unsigned long long)size, walk->at, INT_MAX);
    return amp_fail(err, AMP_MODEL,
                    "not a valid protobuf message: a field of %llu bytes at byte %zu of a %s that "
                    "ends at %zu",
                    (unsigned long long)size, walk->at, level->type->short_name, level->end);
}

/* Moves on behind the value of a field, SIZE bytes from view->at on, or into it when FIELD (NULL:
   none) is a message. */
static enum amp_status enter(struct walk *walk, const struct view *view, uint64_t size,
                             const ProtobufCFieldDescriptor *field, struct amp_error *err)
{
    size_t end = walk->levels[walk->depth].end;
    if (view->at > end || size > end - view->at)
        return fail_length(walk, size, err);
    bool is_message = field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE;
    bool goes_in = is_message && walk->depth < AMP_WIRE_DEPTH_MAX;
    walk->at = view->at + (goes_in ? 0 : (size_t)size);
    if (goes_in)
        walk->levels[++walk->depth] = (struct level){field->descriptor, view->at + (size_t)size};
    return AMP_OK;
}

/* Walks over the next field. IS_THERE says whether enough of it has come in. */
static enum amp_status step(struct walk *walk, struct view *view, bool *is_there,
                            struct amp_error *err)
{
    uint64_t tag, size = 0;
    view->at = walk->at;
    *is_there = get_number(view, &tag);
    if (!*is_there)
        return AMP_OK;
    const ProtobufCFieldDescriptor *field =
        tag >> 3 > AMP_WIRE_FIELD_MAX ? NULL
                                      : protobuf_c_message_descriptor_get_field(
                                            walk->levels[walk->depth].type, (unsigned)(tag >> 3));
    if (!is_possible(tag, field))
        return amp_fail(err, AMP_MODEL,
                        "not a valid protobuf message: a wrong field number or type at byte %zu",
                        walk->at);
    if ((tag & 7) == AMP_WIRE_FIXED64 || (tag & 7) == AMP_WIRE_FIXED32)
        size = (tag & 7) == AMP_WIRE_FIXED64 ? 8 : 4;
    else
        *is_there = get_number(view, &size);
    if (!*is_there)
        return AMP_OK;
    return enter(walk, view, (tag & 7) == AMP_WIRE_VARINT ? 0 : size,
                 (tag & 7) == AMP_WIRE_LENGTH ? field : NULL, err);
}

static enum amp_status check(void *context, const unsigned char *data, size_t size,
                             struct amp_error *err)
{
    struct walk *walk = context;
    struct view view = {.data = data, .size = size};
    bool is_there = true;
    while (is_there && walk->at < size) {
        while (walk->depth > 0 && walk->at == walk->levels[walk->depth].end)
            walk->depth--;
        AMP_TRY(step(walk, &view, &is_there, err));
    }
    return AMP_OK;
}

enum amp_status amp_model_bytes_open(struct amp_bytes *bytes, const char *path,
                                     struct amp_error *err)
{
    struct walk walk = {.levels = {{&onnx__model_proto__descriptor, INT_MAX}}};
    struct amp_stream stream = {
        .has_names = true, .size_max = INT_MAX, .check = check, .context = &walk};
    return amp_bytes_open_stream(bytes, path, &stream, err);
}
