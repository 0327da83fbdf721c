#ifndef AMP_AUTOCAST_TYPES_H
#define AMP_AUTOCAST_TYPES_H

#include "core/graph/graph.h"

/* Private to autocast/: type variables, and from which opset on they include a dtype. */

/* What is asked of: a model, and the newest opset that it may be raised to. */
struct amp_types {
    const struct amp_model *model;
    int cap;
};

/* Input or output I of the node where it is there and of type variable TYPE, an index in the
   definition at the cap, or AMP_TYPE_ALL_FLOATS; else AMP_NONE. */
uint32_t amp_typed_input(const struct amp_types *types, const struct amp_node *node, int type,
                         uint32_t i);
uint32_t amp_typed_output(const struct amp_types *types, const struct amp_node *node, int type,
                          uint32_t i);

/* Whether type variable VARIABLE of SCHEMA takes DTYPE as a tensor. */
bool amp_schema_takes(const struct amp_schema *schema, const char *variable, enum amp_dtype dtype);

/* The first opset, the model's own or newer, at which the node, or what it is taken apart into
   (forms/), takes DTYPE for its inputs of type variable TYPE; 0: none. */
int amp_opset_for(const struct amp_types *types, const struct amp_node *node, int type,
                  enum amp_dtype dtype);

/* The first opset at which Cast takes DTYPE and names it by its number. */
int amp_opset_of_cast(enum amp_dtype dtype);

#endif
