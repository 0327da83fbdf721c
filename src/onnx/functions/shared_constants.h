#ifndef AMP_ONNX_FUNCTIONS_SHARED_CONSTANTS_H
#define AMP_ONNX_FUNCTIONS_SHARED_CONSTANTS_H

#include "core/arena.h"
#include "core/strmap.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* Private to onnx/functions: constants of bodies, Constant nodes and initializers of graphs within,
   that are the same for every call, so that the main graph has each once for all calls. */

struct amp_shared_constant {
    char *name;  /* in the main graph */
    bool is_put; /* a Constant: the main graph has the node already */
};

struct amp_shared_constants {
    struct amp_arena *arena;
    struct amp_strmap ids; /* the address of the constant's message, as text -> index in items */
    struct amp_shared_constant *items;
    size_t count, capacity;
};

/* The constant that MESSAGE of a body has become; NULL when it is not there yet. */
struct amp_shared_constant *amp_shared_constants_find(const struct amp_shared_constants *constants,
                                                      const void *message);

/* Adds MESSAGE of a body under NAME. */
struct amp_shared_constant *amp_shared_constants_add(struct amp_shared_constants *constants,
                                                     const void *message, char *name);

/* Whether MESSAGE takes 256 bytes or more: a smaller constant takes no more room than a node. */
bool amp_shared_constants_is_large(const ProtobufCMessage *message);

/* Whether OP_TYPE, which may be NULL, is Constant; the domain is left to the caller. */
bool amp_shared_constants_is_op(const char *op_type);

#endif
