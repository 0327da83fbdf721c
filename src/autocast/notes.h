#ifndef AMP_AUTOCAST_NOTES_H
#define AMP_AUTOCAST_NOTES_H

#include "core/graph/graph.h"

struct amp_rules; /* autocast/rules/rule.h */

/* Private to autocast/: the texts of struct amp_export_note. */

/* Whether torch.onnx wrote MODEL. */
bool amp_model_is_by_torch(const struct amp_model *model);

/* The operator of ATen's in "%mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor]
   (args = ...": "mul". Empty: none. */
struct amp_str amp_note_aten(const struct amp_node *node);

/* The operator that the node is for, of ATen's or another namespace, its overload ("Tensor") and
   its arguments, from the first to the end of the note. Empty: not noted. */
void amp_note_call(const struct amp_node *node, struct amp_str *op, struct amp_str *overload,
                   struct amp_str *args);

/* The line of the program that made the node, the last of the stack trace that says anything; what
   ends the text may follow. NULL: it is not noted.
 */
const char *amp_note_line(const struct amp_node *node);

/* Whether LINE, of a program in Python, calls NAME: "F.l1_loss(", "torch.linalg.vecdot(". */
bool amp_line_calls(const char *line, struct amp_str name);

/* Whether the call that the node is for has torch.float32 among its arguments. */
bool amp_note_asks_float32(const struct amp_node *node);

/* Per node id, the scope of the recurrent layer of torch.nn that it is in; empty: of none. The
   exporter for torch.export notes it, with the class; TorchScript's begins names with it,
   "/encoder/cell/Mul", and has such a layer where there is a recurrent operator or a product with a
   parameter that a cell has. The caller frees it. */
struct amp_str *amp_recurrent_scopes_find(const struct amp_model *model);

/*
 * Constants that were computed: what an optimizer folds keeps the name that torch.export gave the
 * operator's result, "linear_1" of aten.linear, while parameters and buffers have their own. Where
 * RULES lower the operator, PyTorch's result is of the lower dtype, and so is the constant when
 * dtypes are promoted.
 *
 * Returns per value of MODEL whether it is such a constant: to be freed.
 */
bool *amp_folded_find(const struct amp_model *model, const struct amp_rules *rules);

#endif
