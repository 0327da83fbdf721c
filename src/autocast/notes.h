#ifndef AMP_AUTOCAST_NOTES_H
#define AMP_AUTOCAST_NOTES_H

#include "core/graph/graph.h"

/* Private to autocast/: the texts of struct amp_export_note. */

/* Whether torch.onnx wrote MODEL. */
bool amp_model_is_by_torch(const struct amp_model *model);

/* The operator of ATen's in "%mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor]
   (args = ...": "mul". Empty: none. */
struct amp_str amp_note_aten(const struct amp_node *node);

/* The line of the program that made the node, the last of the stack trace; NULL: it is not noted.
 */
const char *amp_note_line(const struct amp_node *node);

/* Whether LINE, of a program in Python, calls NAME: "F.l1_loss(", "torch.linalg.vecdot(". */
bool amp_line_calls(const char *line, struct amp_str name);

/* Whether the call that the node is for has torch.float32 among its arguments. */
bool amp_note_asks_float32(const struct amp_node *node);

/* The scope of the recurrent layer of torch.nn that the node is in, up to its class; empty: none.
 */
struct amp_str amp_node_recurrent_scope(const struct amp_node *node);

#endif
