#ifndef AMP_ONNX_FUNCTIONS_CALL_H
#define AMP_ONNX_FUNCTIONS_CALL_H

#include "onnx/functions/graph_parts.h"
#include "onnx/functions/names.h"
#include "onnx/functions/scope.h"
#include "onnx/functions/shared_constants.h"
#include "onnx/functions/table.h"

/* Private to onnx/functions: one call of a function, and what it makes of the names and attributes
   of the function's body. */

/* What all calls of a model share. */
struct amp_inliner {
    struct amp_function_table *table;
    struct amp_names names; /* all names of the model are taken */
    struct amp_shared_constants constants;
    struct amp_graph_parts *root; /* of the main graph */
};

/* One call while the body takes its place. */
struct amp_call {
    struct amp_inliner *inliner;
    const struct amp_function *function;
    const Onnx__NodeProto *node;   /* the call itself */
    const char *prefix;            /* of new names */
    struct amp_graph_parts *parts; /* of the graph that the call stands in */
};

/* Whether TEXT, a field of a message, is there and says something. */
static inline bool amp_is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* AMP_MODEL: value NAME of the body WHAT ("is not defined"). */
enum amp_status amp_call_fail(const struct amp_call *call, const char *name, const char *what);

/* From here on NAME is BECOMES in SCOPE. AMP_MODEL when SCOPE has the name already, or it is empty.
 */
enum amp_status amp_call_define(const struct amp_call *call, struct amp_scope *scope,
                                const char *name, char *becomes);

/* Names the function's inputs and what the body's nodes give in SCOPE, as the call has them or
   anew; in MADE the new ones only. Adds Identity nodes where a parameter needs a name of its own.
   AMP_MODEL when the call has more inputs or outputs than the function. */
enum amp_status amp_call_bind(const struct amp_call *call, struct amp_scope *scope,
                              struct amp_scope *made);

/* Once the body's nodes are in place: gives the call's outputs. Where the body gives one value
   twice, an input as it came, or a value of another name, an Identity gives the output. */
enum amp_status amp_call_give_outputs(const struct amp_call *call, const struct amp_scope *scope);

/* What ATTR of a node in the body says goes to *VALUE: itself, or the parameter that it refers to,
   for which the call, or else the function's default, has the value; NULL when neither has.
   AMP_UNSUPPORTED for a parameter that holds a graph. */
enum amp_status amp_call_attr(const struct amp_call *call, const Onnx__AttributeProto *attr,
                              const Onnx__AttributeProto **value);

/* What the exporter noted of the call (doc_string, metadata_props) goes to NODE unless it has notes
   of its own, as long as notes may be repeated. */
void amp_call_keep_notes(const struct amp_call *call, Onnx__NodeProto *node);

/* Whether NODE of the body is a Constant that all calls share. */
bool amp_call_shares(const struct amp_call *call, const Onnx__NodeProto *node);

/* Gives names in SCOPE to the outputs of NODE, which stands in a graph within the body. */
enum amp_status amp_call_define_outputs(const struct amp_call *call, struct amp_scope *scope,
                                        const Onnx__NodeProto *node);

#endif
