#ifndef AMP_ONNX_OPSET_UPGRADE_H
#define AMP_ONNX_OPSET_UPGRADE_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/*
 * Private to onnx/opset: one node on its way from the definition of its operator to the next newer
 * one, and what adapters may do to it and its surroundings. Inputs and outputs are counted from 0.
 */
struct amp_upgrade {
    struct amp_model *model;
    uint32_t node;
    int version; /* of the newer definition; nodes that are added are of this opset and raised on */
    int target;  /* the opset that the model is raised to */
};

/* The node. The pointer does not outlive the next node that is added. */
struct amp_node *amp_upgrade_node(const struct amp_upgrade *upgrade);

/* The value id of input INDEX; AMP_NONE when it is left out. */
uint32_t amp_upgrade_input(const struct amp_upgrade *upgrade, uint32_t index);

/* Sets input INDEX, growing the list where needed. */
void amp_upgrade_set_input(struct amp_upgrade *upgrade, uint32_t index, uint32_t value);

/* The dtype and shape of input INDEX; AMP_UNDEFINED and rank -1 when not known. */
enum amp_dtype amp_upgrade_dtype(const struct amp_upgrade *upgrade, uint32_t index);
struct amp_shape amp_upgrade_shape(const struct amp_upgrade *upgrade, uint32_t index);

/* Whether the values of float attributes can be converted to DTYPE: float, double, float16,
   bfloat16. */
bool amp_upgrade_is_float(enum amp_dtype dtype);

/* The tensor in input INDEX when no run can change it, else NULL. */
const struct amp_tensor *amp_upgrade_constant(const struct amp_upgrade *upgrade, uint32_t index);

/* A free name for something that WHAT tells ("axes"): "NODE_WHAT", where NODE is the node's name
   or, where it has none, that of its first output. */
const char *amp_upgrade_name(struct amp_upgrade *upgrade, const char *what);

/* Add an initializer to the node's graph, named by amp_upgrade_name with WHAT, and return its value
   id: a list of COUNT items or a scalar. Integers are int64; floats are of DTYPE, for which
   amp_upgrade_is_float holds. */
uint32_t amp_upgrade_add_ints(struct amp_upgrade *upgrade, const char *what, const int64_t *items,
                              size_t count);
uint32_t amp_upgrade_add_int(struct amp_upgrade *upgrade, const char *what, int64_t value);
uint32_t amp_upgrade_add_floats(struct amp_upgrade *upgrade, const char *what, enum amp_dtype dtype,
                                const float *items, size_t count);
uint32_t amp_upgrade_add_float(struct amp_upgrade *upgrade, const char *what, enum amp_dtype dtype,
                               float value);

/* Adds an initializer with the elements of TENSOR, which must live as long as the model, and dims
   SHAPE of the same product. */
uint32_t amp_upgrade_add_reshaped(struct amp_upgrade *upgrade, const char *what,
                                  const struct amp_tensor *tensor, const struct amp_shape *shape);

/* Adds an initializer of rank 1 with each element of TENSOR repeated TIMES times. */
uint32_t amp_upgrade_add_repeated(struct amp_upgrade *upgrade, const char *what,
                                  const struct amp_tensor *tensor, int64_t times);

/* Makes attribute NAME, a list of integers, input INDEX. An attribute that is absent gives no
   input. */
void amp_upgrade_ints_to_input(struct amp_upgrade *upgrade, const char *name, uint32_t index);

/* Adds a node of OP_TYPE before the node: one or two inputs (SECOND may be AMP_NONE) and one output
   of DTYPE, whose value id comes back. */
uint32_t amp_upgrade_add_node_before(struct amp_upgrade *upgrade, const char *op_type,
                                     uint32_t first, uint32_t second, enum amp_dtype dtype);

/* Adds a node of OP_TYPE after the node: it takes output INDEX of the node, which becomes a new
   value of DTYPE, and SECOND (may be AMP_NONE), and gives the value that the output was. Returns
   the added node's id. */
uint32_t amp_upgrade_add_node_after(struct amp_upgrade *upgrade, const char *op_type,
                                    uint32_t index, enum amp_dtype dtype, uint32_t second);

/* Has the node work on input 0 flattened to two dims, those before AXIS and those from it on
   (Flatten), and gives output 0 the shape that the input had (Reshape). */
void amp_upgrade_flatten(struct amp_upgrade *upgrade, int64_t axis);

/* Whether a node takes output INDEX or a graph gives it out. */
bool amp_upgrade_is_used(const struct amp_upgrade *upgrade, uint32_t index);

/* Drops the outputs from COUNT on. */
void amp_upgrade_trim_outputs(struct amp_upgrade *upgrade, uint32_t count);

/* Set or remove attribute NAME of the node. */
void amp_upgrade_set_string(struct amp_upgrade *upgrade, const char *name, const char *value);
void amp_upgrade_set_float(struct amp_upgrade *upgrade, const char *name, float value);
void amp_upgrade_drop_attr(struct amp_upgrade *upgrade, const char *name);

#endif
