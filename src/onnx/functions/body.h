#ifndef AMP_ONNX_FUNCTIONS_BODY_H
#define AMP_ONNX_FUNCTIONS_BODY_H

#include "onnx/functions/call.h"

/* Private to function_call.c, which inlines calls, and function_body.c, which copies bodies. */

/* Whether TEXT, a field of a message, is there and says something. */
static inline bool amp_is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* What the names of a body, or of a graph in it, have become. */
struct amp_scope {
    struct amp_strmap ids;
    char **names;
    size_t count, capacity;
    const struct amp_scope *outer;
};

/* Where nodes go, with what is known of the types of their outputs. */
struct amp_sink {
    Onnx__NodeProto **nodes;
    size_t n_nodes, nodes_capacity;
    Onnx__ValueInfoProto **infos;
    size_t n_infos, infos_capacity;
    Onnx__TensorProto **tensors; /* initializers that are added */
    size_t n_tensors, tensors_capacity;
    Onnx__SparseTensorProto **sparse;
    size_t n_sparse, sparse_capacity;
};

/* One call while it is inlined. */
struct amp_body {
    struct amp_functions *functions;
    const struct amp_function *function;
    const Onnx__NodeProto *call;
    const char *prefix; /* of new names */
    struct amp_sink *sink;
};

/* AMP_MODEL: value NAME of the body WHAT ("is not defined"). */
enum amp_status amp_body_fail(const struct amp_body *body, const char *name, const char *what);

/* Whether a body may repeat NAME, of a value outside, as often as it likes. */
bool amp_body_is_name_short(const char *name);

/* A free name for a value or node of the body that is called NAME there. */
char *amp_body_value_name(const struct amp_body *body, const char *name);
char *amp_body_node_name(const struct amp_body *body, const char *name);

/* From now on NAME is BECOMES in SCOPE. AMP_MODEL when it is something there already. */
enum amp_status amp_body_define(const struct amp_body *body, struct amp_scope *scope,
                                const char *name, char *becomes);

/* What NAME has become. NULL: not defined; "": a parameter that the call leaves out. */
char *amp_body_find(const struct amp_scope *scope, const char *name);

/* Whether NODE is a Constant that all calls share. */
bool amp_body_is_shared(const struct amp_body *body, const Onnx__NodeProto *node);

/* Names such a Constant in SCOPE: as it is called already, or as WANTED (may be NULL) has it where
   the call stands in the main graph, or anew; then in MADE (may be NULL) too. */
enum amp_status amp_body_define_shared(const struct amp_body *body, struct amp_scope *scope,
                                       struct amp_scope *made, const struct amp_scope *wanted,
                                       const Onnx__NodeProto *node);

/* Appends NODE as it is. */
void amp_body_push(struct amp_functions *functions, Onnx__NodeProto *node, struct amp_sink *sink);

/* What the exporter noted of the call goes to NODE unless it has notes of its own. */
void amp_body_keep_notes(const struct amp_body *body, Onnx__NodeProto *node);

/* Copies NODE of the body, by its new names, and hands the copy to amp_function_put_node. */
enum amp_status amp_body_copy_node(const struct amp_body *body, const struct amp_scope *scope,
                                   const Onnx__NodeProto *node, struct amp_sink *sink);

/* Copies the entries for values that SCOPE, not one around it, has named anew. */
void amp_body_copy_infos(const struct amp_body *body, const struct amp_scope *scope,
                         Onnx__ValueInfoProto *const *infos, size_t count, struct amp_sink *sink);

/* Puts NODE, whose names are those of the sink's graph, or what it becomes when it is a call. */
enum amp_status amp_function_put_node(struct amp_functions *functions,
                                      const struct amp_function *caller, Onnx__NodeProto *node,
                                      struct amp_sink *sink);

#endif
