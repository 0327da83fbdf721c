#ifndef AMP_ONNX_FUNCTIONS_CALL_H
#define AMP_ONNX_FUNCTIONS_CALL_H

#include "core/strmap.h"
#include "onnx/functions/functions.h"
#include "onnx/schema/schema.h"

/* Private to functions.c, which decides, and function_call.c, which inlines. */

enum amp_visit { AMP_VISIT_NONE, AMP_VISIT_OPEN, AMP_VISIT_DONE };

struct amp_function {
    Onnx__FunctionProto *proto;
    const char *text; /* "domain.name", with ":overload" where there is one */
    enum amp_visit visit;
    bool is_inlined;
    bool is_needed; /* by a function that stays, or for itself */
    /* Once the calls within are inlined, with one for each output that an Identity may have to
       give, and one more so that empty bodies count; at most AMP_FUNCTION_NODES_MAX + 1. */
    size_t n_nodes;
    struct amp_strmap imports; /* domain to the index of its import, once that was asked for */
    size_t n_parts;            /* what hangs on those nodes, counted in the same way */
};

/* A constant of a body, a Constant or an initializer of a graph in it: the same for every call, so
   that the main graph has it once for all. */
struct amp_shared {
    char *name;
    bool is_put; /* it is where it belongs */
};

struct amp_functions {
    Onnx__ModelProto *model;
    struct amp_arena *arena;
    struct amp_error *err;
    struct amp_function *items; /* in the order of the model */
    size_t count;
    struct amp_strmap ids;     /* domain, name and overload to the index in items */
    struct amp_strmap imports; /* of the model: domain to index */
    size_t imports_capacity;
    char *key; /* what is looked up in ids */
    size_t key_size;
    /* The names that are taken, with the number last put behind them. */
    struct amp_strmap value_names, node_names;
    size_t n_copied;              /* bytes of names and notes that calls repeat */
    struct amp_sink *root;        /* of the main graph */
    struct amp_strmap shared_ids; /* the message of a constant, as text, to the index in shared */
    struct amp_shared *shared;
    size_t n_shared, shared_capacity;
    struct amp_function **needed; /* that stay, in the order in which this was found */
    size_t n_needed;
    bool all;
    int depth; /* of the calls that are being looked into */
};

/* The operator of ONNX that NODE is in the body of CALLER, or in a graph (NULL); NULL: none. */
const struct amp_schema *amp_function_schema(const struct amp_functions *functions,
                                             const struct amp_function *caller,
                                             const Onnx__NodeProto *node);

/* The version of DOMAIN that counts in the body of CALLER, or in a graph (NULL); 0: none. */
int64_t amp_function_opset(const struct amp_functions *functions, const struct amp_function *caller,
                           const char *domain);

/* The function that NODE, which stands in the body of CALLER (NULL: in a graph), calls; NULL when
   it is an operator. */
struct amp_function *amp_function_called(struct amp_functions *functions,
                                         const struct amp_function *caller,
                                         const Onnx__NodeProto *node);

/* Inlines the calls in GRAPH and the graphs within. All names of the model must be taken. */
enum amp_status amp_function_calls_inline(struct amp_functions *functions, Onnx__GraphProto *graph);

#endif
