#ifndef AMP_ONNX_SCHEMA_INFER_H
#define AMP_ONNX_SCHEMA_INFER_H

#include "core/graph/graph.h"
#include "core/status.h"

/*
 * Sets kind, dtype and shape of every value: dtypes by the type variables of the schema table and
 * the attributes that name a dtype, shapes by the operators' shape functions, bodies of control
 * flow included. What the file declares stays where nothing better is known. AMP_MODEL when a
 * node's dtypes break its operator's type rules, or the declared dtype of a graph output does.
 */
enum amp_status amp_infer(struct amp_model *model, struct amp_error *err);

/* Whether NODE's operator has an attribute that names the dtype of its first output (Cast's `to`),
   written out or not. */
bool amp_infer_names_dtype(const struct amp_node *node);

/* Whether node ID, of a model that amp_infer took, can have VALUE among its inputs in SHAPE: its
   operator takes that, and gives outputs of the ranks that they have. True where the operator does
   not tell. */
bool amp_infer_takes(const struct amp_model *model, uint32_t id, uint32_t value,
                     const struct amp_shape *shape);

/* Holds the shapes of the main graph of MODEL, of which amp_infer made what it could, against its
   operators: what the first says that refuses them, as a run would. *IS_TOLD: all of them were told
   by operators, so that a run has no others. */
enum amp_status amp_infer_check_shapes(const struct amp_model *model, bool *is_told,
                                       struct amp_error *err);

#endif
