/*
 * The list of constants that all calls of a function share, found by the message in the function's
 * body that they came from. Which constants may be shared is for the callers to say.
 */
#include "onnx/functions/shared_constants.h"

#include "ops/op.h"

#include <stdio.h>

enum { LARGE_MIN = 256 };

struct amp_shared_constant *amp_shared_constants_find(const struct amp_shared_constants *constants,
                                                      const void *message)
{
    uint32_t id;
    char key[32];
    snprintf(key, sizeof key, "%p", message);
    return amp_strmap_get(&constants->ids, key, &id) ? &constants->items[id] : NULL;
}

struct amp_shared_constant *amp_shared_constants_add(struct amp_shared_constants *constants,
                                                     const void *message, char *name)
{
    amp_strmap_put(&constants->ids, constants->arena,
                   amp_arena_printf(constants->arena, "%p", message), (uint32_t)constants->count);
    struct amp_shared_constant *constant =
        amp_arena_push(constants->arena, &constants->items, &constants->count, &constants->capacity,
                       sizeof *constant);
    constant->name = name;
    return constant;
}

bool amp_shared_constants_is_large(const ProtobufCMessage *message)
{
    return protobuf_c_message_get_packed_size(message) >= LARGE_MIN;
}

bool amp_shared_constants_is_op(const char *op_type)
{
    return op_type != NULL && amp_op_name_has_role(op_type, AMP_ROLE_CONSTANT);
}
