#ifndef AMP_CORE_GRAPH_GRAPH_H
#define AMP_CORE_GRAPH_GRAPH_H

#include "core/arena.h"
#include "core/dtype.h"
#include "core/kind.h"
#include "core/strmap.h"

/*
 * A model: values and nodes in arrays, addressed by uint32_t ids that stay valid while the arrays
 * grow; pointers into the arrays do not. Graph 0 is the main graph; the bodies of If, Loop and Scan
 * are further graphs, and because ids are unique in the whole model a value captured from an outer
 * graph is just an id. What the model file said beyond this (doc strings, metadata, unknown fields)
 * stays behind the `origin` pointers, which only onnx/ follows.
 */
enum { AMP_NONE = UINT32_MAX }; /* no id: an omitted input or output, no producer, no parent */

struct amp_schema; /* onnx/schema/schema.h */
struct amp_shape;  /* core/tensor.h */
struct amp_tensor; /* core/tensor.h */

/* A cache line of 64 bytes: large models have hundreds of thousands of them. */
struct amp_value {
    const char *name;
    enum amp_kind kind;
    enum amp_dtype dtype;        /* AMP_UNDEFINED: unknown */
    const int64_t *dims;         /* >= 0, AMP_DIM_UNKNOWN, or a symbol below it */
    int rank;                    /* -1: unknown */
    uint32_t graph;              /* the graph that defines it */
    uint32_t producer;           /* node id; AMP_NONE: graph input or initializer */
    bool is_input, is_output;    /* of its graph */
    bool is_initializer;         /* together with is_input: a default that a caller may override */
    bool is_removed;             /* an initializer that was taken out */
    struct amp_tensor *constant; /* its data when no run can change it; NULL otherwise */
    struct amp_tensor *initial;  /* its initializer, also where a caller may override it */
    double constant_max;         /* amp_weight_max of the constant; below 0: not looked for yet */
    double constant_flushed;     /* amp_weight_flushed of it; likewise */
    void *origin;
};

/* As AttributeProto.AttributeType. */
enum amp_attr_type {
    AMP_ATTR_UNDEFINED,
    AMP_ATTR_FLOAT,
    AMP_ATTR_INT,
    AMP_ATTR_STRING,
    AMP_ATTR_TENSOR,
    AMP_ATTR_GRAPH,
    AMP_ATTR_FLOATS,
    AMP_ATTR_INTS,
    AMP_ATTR_STRINGS,
    AMP_ATTR_TENSORS,
    AMP_ATTR_GRAPHS,
    AMP_ATTR_SPARSE_TENSOR,
    AMP_ATTR_SPARSE_TENSORS,
    AMP_ATTR_TYPE,
    AMP_ATTR_TYPES
};

/* A single value is a list of one. */
struct amp_attr {
    const char *name;
    enum amp_attr_type type;
    size_t count;
    union {
        const float *floats;
        const int64_t *ints;
        const struct amp_str *strings;
        struct amp_tensor *const *tensors; /* sparse tensors are made dense */
        const uint32_t *graphs;
    };
    void *origin;
};

/* What torch.onnx's exporter for torch.export notes of where a node comes from, as its text; NULL:
   nothing. All nodes of one operator of PyTorch's have the same. */
struct amp_export_note {
    const char
        *fx_node; /* the node of the FX graph: "%mul : [num_users=1] = call_function[...](...)" */
    const char *scope;       /* the modules around it: "head: torch.nn.modules.linear.Linear/..." */
    const char *stack_trace; /* of the call, the innermost frame last, as Python prints it */
};

struct amp_node {
    const char *name;                /* "": unnamed */
    const char *op_type;             /* ONNX's */
    const char *domain;              /* "": ai.onnx */
    const struct amp_schema *schema; /* the operator at the model's opset; NULL: not known */
    int since_version;               /* of that schema; 0: not known */
    uint32_t graph;
    uint32_t index; /* in its graph when it was added; of a node from a file, its place there */
    uint32_t n_inputs, n_outputs, n_attrs;
    uint32_t *inputs, *outputs; /* value ids, AMP_NONE where omitted */
    struct amp_attr *attrs;
    struct amp_export_note note;
    bool is_removed;
    bool has_newer_types; /* the file gives it dtypes that its version does not take, but a newer
                             version of its operator */
    void *origin;         /* NULL: made here */
};

struct amp_ids {
    uint32_t *items;
    size_t count, capacity;
};

struct amp_graph {
    const char *name;
    uint32_t owner;       /* the node whose attribute it is; AMP_NONE: the main graph */
    struct amp_ids nodes; /* in topological order once read */
    struct amp_ids inputs, outputs;
    struct amp_ids initializers; /* in the file's order, new ones last */
    void *origin;
};

struct amp_opset {
    const char *domain;
    int64_t version;
};

struct amp_model {
    struct amp_arena *arena;
    const char *path; /* as the user named it, for messages */
    int64_t ir_version;
    const char *producer; /* the program that wrote it, as it calls itself; NULL: it does not say */
    const char *pixel_range; /* what its metadata say that the pixels of images are, as
                                "NominalRange_0_255"; NULL: nothing */
    struct amp_opset *opsets;
    size_t n_opsets, opsets_capacity;
    struct amp_strmap opset_ids; /* domain to the index of its last import */
    struct amp_value *values;
    size_t n_values, values_capacity;
    struct amp_node *nodes;
    size_t n_nodes, nodes_capacity;
    struct amp_graph *graphs;
    size_t n_graphs, graphs_capacity;
    const char **symbols; /* names of symbolic dims */
    size_t n_symbols, symbols_capacity;
    struct amp_strmap symbol_ids;
    struct amp_strmap names; /* every name of a value or node, so that new ones are unique */
    void *origin;
};

/* An empty model in ARENA, which must outlive it, as PATH must. */
struct amp_model *amp_model_create(struct amp_arena *arena, const char *path);

/* Adds the import of DOMAIN at VERSION; the last import of a domain counts. */
void amp_model_import(struct amp_model *model, const char *domain, int64_t version);

/* The version of DOMAIN that the model imports ("" and "ai.onnx" are one); 0: not imported. */
int64_t amp_model_opset(const struct amp_model *model, const char *domain);

/* The value, and the node, of an id; the pointer is good until one is added. */
static inline struct amp_value *amp_value_at(const struct amp_model *model, uint32_t id)
{
    return &model->values[id];
}

static inline struct amp_node *amp_node_at(const struct amp_model *model, uint32_t id)
{
    return &model->nodes[id];
}

/* The dim that stands for symbol NAME: always below AMP_DIM_UNKNOWN. */
int64_t amp_symbol_dim(struct amp_model *model, const char *name);
/* The symbol's name; NULL when DIM is no symbol. */
const char *amp_dim_symbol(const struct amp_model *model, int64_t dim);

/* ---- adding: names must not clash within a graph (amp_model_unique_name); ids come back ---- */

/* An empty graph that is an attribute of node OWNER; AMP_NONE: the main graph. */
uint32_t amp_graph_add(struct amp_model *model, const char *name, uint32_t owner);

/* A value of GRAPH without a producer, of unknown kind, dtype and shape. */
uint32_t amp_graph_add_value(struct amp_model *model, uint32_t graph, const char *name);

/* A node at the end of GRAPH's order with room for the counted inputs and outputs, all AMP_NONE. */
uint32_t amp_graph_add_node(struct amp_model *model, uint32_t graph, const char *op_type,
                            uint32_t n_inputs, uint32_t n_outputs);

/* An initializer of GRAPH that holds TENSOR, which must live as long as the model. */
uint32_t amp_graph_add_initializer(struct amp_model *model, uint32_t graph, const char *name,
                                   struct amp_tensor *tensor);

/* An initializer of GRAPH that holds the COUNT integers of ITEMS, of int64 and shape [COUNT], under
   NAME, which nothing else may have. */
uint32_t amp_graph_add_ints(struct amp_model *model, uint32_t graph, const char *name,
                            const int64_t *items, size_t count);

/* Makes value ID, which has no producer, an initializer of its graph that holds TENSOR, which must
   live as long as the model. */
void amp_graph_make_initializer(struct amp_model *model, uint32_t id, struct amp_tensor *tensor);

/* Appends ID to IDS. */
void amp_ids_push(struct amp_model *model, struct amp_ids *ids, uint32_t id);

/* BASE, or BASE_1, BASE_2, ...: the first that no value or node has; it is then taken. */
const char *amp_model_unique_name(struct amp_model *model, const char *base);

/* Gives every node but the first of a name within its graph a new one; unnamed nodes stay so. ONNX
   leaves equal names open, ONNX Runtime refuses them. */
void amp_model_rename_nodes(struct amp_model *model);

/* ---- editing: what was removed stays in its graph's list until amp_graph_drop_removed, which
   amp_graph_sort calls, so that removing many takes time linear in their number ---- */

/* Makes VALUE, which may be AMP_NONE, output SLOT of NODE, and NODE its producer. */
void amp_node_set_output(struct amp_model *model, uint32_t node, uint32_t slot, uint32_t value);
/* Takes NODE out of the model; its outputs must have no consumers left. */
void amp_node_remove(struct amp_model *model, uint32_t node);
/* Takes initializer ID out of its graph; it must have no consumers left. */
void amp_graph_remove_initializer(struct amp_model *model, uint32_t id);
/* Takes what was removed out of the lists of all graphs. */
void amp_graph_drop_removed(struct amp_model *model);
/* Appends ATTR to the attributes of NODE, or replaces the one that has its name. */
void amp_node_set_attr(struct amp_model *model, uint32_t node, struct amp_attr attr);
/* Sets attribute NAME of NODE to the integer VALUE. */
void amp_node_set_int(struct amp_model *model, uint32_t node, const char *name, int64_t value);
/* Removes attribute NAME of NODE, if it has that. */
void amp_node_remove_attr(struct amp_model *model, uint32_t node, const char *name);
/* Grows the node's inputs to COUNT, new ones AMP_NONE. */
void amp_node_grow_inputs(struct amp_model *model, uint32_t node, uint32_t count);
/* Gives the node COUNT outputs, all AMP_NONE. */
void amp_node_clear_outputs(struct amp_model *model, uint32_t node, uint32_t count);
/* Sets the rank and the dims of value ID to a copy of SHAPE. */
void amp_value_set_shape(struct amp_model *model, uint32_t id, const struct amp_shape *shape);

/* ---- reading: an attribute of another type than asked for counts as absent, as types are checked
   against the schema when a model is read; FALLBACK is the value of an absent one ---- */

/* The attribute NAME of NODE, of any type; NULL when it has none. */
const struct amp_attr *amp_node_attr(const struct amp_node *node, const char *name);
int64_t amp_node_int(const struct amp_node *node, const char *name, int64_t fallback);
float amp_node_float(const struct amp_node *node, const char *name, float fallback);
/* A plain C string: texts of attributes are terminated in memory, if not in the file. */
const char *amp_node_string(const struct amp_node *node, const char *name, const char *fallback);
/* The *COUNT integers of attribute NAME; NULL, *COUNT 0 when absent. */
const int64_t *amp_node_ints(const struct amp_node *node, const char *name, size_t *count);
/* The number of graphs that ATTR holds; 0 when it is of another type. */
size_t amp_attr_graph_count(const struct amp_attr *attr);
/* Whether an attribute of NODE holds graphs: control flow, or an operator of a user's. */
bool amp_node_has_bodies(const struct amp_node *node);
/* Whether NODE is operator OP_TYPE of DOMAIN, "" for ai.onnx. */
bool amp_node_is(const struct amp_node *node, const char *domain, const char *op_type);
/* Sets *SHAPE to the rank and the dims of VALUE. */
void amp_value_shape(const struct amp_value *value, struct amp_shape *shape);

/* Writes what messages call node ID to TEXT, which holds SIZE bytes: "node 'conv1' (Conv-11)"; an
   unnamed node by its index and its first output. Returns TEXT. */
char *amp_node_text(const struct amp_model *model, uint32_t id, char *text, size_t size);

/* The node of GRAPH that contains NODE: itself or the owner, at some level, of its graph; AMP_NONE
   when GRAPH is not around it. */
uint32_t amp_graph_container(const struct amp_model *model, uint32_t node, uint32_t graph);

#endif
