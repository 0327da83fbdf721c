#ifndef AMP_ONNX_OPSET_UPGRADE_H
#define AMP_ONNX_OPSET_UPGRADE_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/*
 * One step of one node: from its definition to the next newer one of the same operator, for the
 * adapters in opset_adapt_*.c. Private to the opset stage.
 */
struct amp_step {
    struct amp_model *model;
    uint32_t node;
    int version; /* of the newer definition; nodes that are added are of this opset and raised on */
    int target;  /* where the raising will end */
};

/* Rewrites the node for step->version. Returns NULL, or why this node cannot be rewritten. */
typedef const char *amp_adapter(struct amp_step *step);

/* The adapter of OP_TYPE to the definition of VERSION; NULL when there is none. */
amp_adapter *amp_adapter_find(const char *op_type, int version);

/* The node; not to be kept over an addition. */
struct amp_node *amp_step_node(const struct amp_step *step);

/* Input SLOT's value id; AMP_NONE when omitted. */
uint32_t amp_step_input(const struct amp_step *step, uint32_t slot);

/* Sets input SLOT, growing the list where needed. */
void amp_step_set_input(struct amp_step *step, uint32_t slot, uint32_t value);

/* The dtype and shape of input SLOT; AMP_UNDEFINED and rank -1 when not known. */
enum amp_dtype amp_step_dtype(const struct amp_step *step, uint32_t slot);
struct amp_shape amp_step_shape(const struct amp_step *step, uint32_t slot);

/* Whether DTYPE is a float type that attributes' values can be converted to. */
bool amp_step_is_float(enum amp_dtype dtype);

/* The tensor in input SLOT when no run can change it, else NULL. */
const struct amp_tensor *amp_step_constant(const struct amp_step *step, uint32_t slot);

/* A name that is free, for something that WHAT tells: after the node or, where it has none, its
   first output. */
const char *amp_step_name(struct amp_step *step, const char *what);

/* New initializers of the node's graph, named after the node and WHAT. Integers are
   int64; floats are of DTYPE, one of the four float types from 16 to 64 bits. */
uint32_t amp_step_ints(struct amp_step *step, const char *what, const int64_t *items, size_t count);
uint32_t amp_step_int(struct amp_step *step, const char *what, int64_t value);
uint32_t amp_step_floats(struct amp_step *step, const char *what, enum amp_dtype dtype,
                         const float *items, size_t count);
uint32_t amp_step_float(struct amp_step *step, const char *what, enum amp_dtype dtype, float value);

/* An initializer with the elements of TENSOR, which must live as long as the model, and other dims
   of the same product. */
uint32_t amp_step_reshaped(struct amp_step *step, const char *what, const struct amp_tensor *tensor,
                           const struct amp_shape *shape);

/* An initializer of rank 1 with each element of TENSOR repeated TIMES times. */
uint32_t amp_step_repeated(struct amp_step *step, const char *what, const struct amp_tensor *tensor,
                           int64_t times);

/* Moves attribute NAME, a list of integers, to input SLOT. Absent: no input. */
void amp_step_ints_to_input(struct amp_step *step, const char *name, uint32_t slot);

/* Adds a node of OP_TYPE before the node: one or two inputs (SECOND may be AMP_NONE) and one output
   of DTYPE, whose value id comes back. */
uint32_t amp_step_add_before(struct amp_step *step, const char *op_type, uint32_t first,
                             uint32_t second, enum amp_dtype dtype);

/* Adds a node of OP_TYPE after the node, which takes what comes out at SLOT, now a new value of
   DTYPE, and SECOND (may be AMP_NONE) and produces the value that SLOT had. Returns the added
   node's id. */
uint32_t amp_step_add_after(struct amp_step *step, const char *op_type, uint32_t slot,
                            enum amp_dtype dtype, uint32_t second);

/* Has the node work on input 0 flattened to two dims, those before AXIS and those from it on, and
   gives output 0 the shape that the input had. */
void amp_step_flatten(struct amp_step *step, int64_t axis);

/* Whether a node or the graph's caller takes output SLOT. */
bool amp_step_is_used(const struct amp_step *step, uint32_t slot);

/* Drops the outputs from COUNT on. */
void amp_step_trim_outputs(struct amp_step *step, uint32_t count);

void amp_step_set_string(struct amp_step *step, const char *name, const char *value);
void amp_step_set_float(struct amp_step *step, const char *name, float value);
void amp_step_drop_attr(struct amp_step *step, const char *name);

#endif
