#ifndef AMP_ONNX_FUNCTIONS_TABLE_H
#define AMP_ONNX_FUNCTIONS_TABLE_H

#include "core/arena.h"
#include "core/status.h"
#include "core/strmap.h"
#include "onnx/schema/schema.h"

#include "onnx.pb-c.h"

/* Private to onnx/functions: the model-local functions of a model, and what a node in a graph or in
   the body of one of them stands for. */

struct amp_function {
    Onnx__FunctionProto *proto;
    const char *text; /* for messages: "domain.name", with ":overload" where there is one */
    struct amp_strmap imports; /* domain -> index in the function's opset_import */
    bool is_inlined;           /* its calls are replaced by its body; functions.c decides */
};

struct amp_function_table {
    Onnx__ModelProto *model;
    struct amp_arena *arena;
    struct amp_error *err;
    struct amp_function *items; /* in the order of the model */
    size_t count;
    struct amp_strmap ids;     /* domain, name and overload -> index in items */
    struct amp_strmap imports; /* domain -> index in the model's opset_import */
    size_t imports_capacity;
    char *key; /* what is looked up in ids */
    size_t key_size;
};

/* Fills TABLE, whose MODEL, ARENA and ERR are set, with the model's functions. AMP_MODEL when two
   have one domain, name and overload. */
enum amp_status amp_function_table_fill(struct amp_function_table *table);

/* The function that NODE, which stands in the body of CALLER (NULL: in a graph), calls; NULL when
   it is an operator. A name that stands for an operator of ONNX is that operator. */
struct amp_function *amp_function_table_called(struct amp_function_table *table,
                                               const struct amp_function *caller,
                                               const Onnx__NodeProto *node);

/* The operator of ONNX that NODE is in the body of CALLER (NULL: in a graph); NULL when it is none.
 */
const struct amp_schema *amp_function_table_schema(const struct amp_function_table *table,
                                                   const struct amp_function *caller,
                                                   const Onnx__NodeProto *node);

/* The version of DOMAIN that counts in the body of CALLER (NULL: in a graph): the function's import
   or else the model's. 0: neither imports it. */
int64_t amp_function_table_opset(const struct amp_function_table *table,
                                 const struct amp_function *caller, const char *domain);

/* Has the model import VERSION of DOMAIN, which it did not import before. */
void amp_function_table_import(struct amp_function_table *table, const char *domain,
                               int64_t version);

#endif
