#ifndef AMP_OPS_FACTS_H
#define AMP_OPS_FACTS_H

#include "core/dtype.h"

/*
 * What the columns of struct amp_op (ops/op.h) may hold beyond flags and functions. All of it is
 * constant and stands in the operator's family file; whoever looks at a graph reads it there and
 * asks for no operator by name.
 */
struct amp_ctx;
struct amp_op;   /* ops/op.h */
struct amp_node; /* core/graph/graph.h */

/* The operator that it is, for those who treat it like no other. */
enum amp_role {
    AMP_ROLE_NONE, /* most operators */
    AMP_ROLE_ADD,
    AMP_ROLE_SUB,
    AMP_ROLE_MUL,
    AMP_ROLE_DIV,
    AMP_ROLE_SUM, /* Add of any number of inputs */
    AMP_ROLE_BATCH_NORMALIZATION,
    AMP_ROLE_CAST,
    AMP_ROLE_CAST_LIKE,
    AMP_ROLE_CONCAT_FROM_SEQUENCE,
    AMP_ROLE_CONSTANT,
    AMP_ROLE_CONSTANT_OF_SHAPE,
    AMP_ROLE_CONV,
    AMP_ROLE_DEQUANTIZE_LINEAR,
    AMP_ROLE_DROPOUT,
    AMP_ROLE_EINSUM,
    AMP_ROLE_IDENTITY,
    AMP_ROLE_LOG_SOFTMAX,
    AMP_ROLE_MATMUL,
    AMP_ROLE_OPTIONAL,
    AMP_ROLE_QUANTIZE_LINEAR,
    AMP_ROLE_RECURRENT, /* a layer; its first states are inputs from AMP_FIRST_STATE on */
    AMP_ROLE_REDUCE_MEAN,
    AMP_ROLE_RESHAPE,
    AMP_ROLE_SEQUENCE_AT,
    AMP_ROLE_SIGMOID,
    AMP_ROLE_SOFTMAX,
    AMP_ROLE_SPLIT_TO_SEQUENCE,
    AMP_ROLE_TRANSPOSE,
    AMP_ROLE_WHERE
};

/* The input of a recurrent layer with which its first states begin. */
enum { AMP_FIRST_STATE = 5 };

/* What the operator does with a constant that is beyond a dtype's range (autocast/guard.h). */
enum amp_guard_use {
    AMP_GUARD_NONE,   /* nothing that makes a guard of it */
    AMP_GUARD_BOUNDS, /* it bounds, compares or fills with it */
    AMP_GUARD_ADDS    /* it adds or subtracts it */
};

/* Which dims of input 0 the elements of input 1 are indices into. */
enum amp_indexing {
    AMP_INDEXES_NOTHING,
    AMP_INDEXES_AXIS, /* that of attribute axis, 0 by default */
    AMP_INDEXES_DIMS  /* any */
};

/* What a selection consists of, as a tensor says it: ITEMS, which two selections have or have not
   in common in whatever order. */
enum amp_items {
    AMP_ITEMS_NONE,
    AMP_ITEMS_ENTRIES,  /* what lies at each position along the axis: a row, a column, an element */
    AMP_ITEMS_ELEMENTS, /* each element, with the line along the axis that it stands in */
    AMP_ITEMS_TRUE      /* the positions of elements that are not 0 */
};

/* Which outputs of an operator are a selection: indices or elements chosen by comparing values, so
   that a small error chooses others, and does not make a small error. */
struct amp_selects {
    enum amp_items items;
    uint32_t outputs; /* AMP_INPUT of each */
    uint32_t by; /* the input whose elements say what is chosen; 0: the outputs themselves do */
    int axis;    /* that of attribute axis, where the node has none */
};

/* What the elements of an input are to the operator, where that is more than numbers: for those who
   have to make some up. */
enum amp_meaning {
    AMP_MEANS_NUMBERS,
    AMP_MEANS_INDICES,   /* of dim 0 of input 0 */
    AMP_MEANS_LENGTHS,   /* of sequences that lie along the dim of input 0 that ATTR counts */
    AMP_MEANS_COUNT,     /* how often, or how many */
    AMP_MEANS_SIZES,     /* of dims, or what they are multiplied by */
    AMP_MEANS_CONDITION, /* whether to begin */
    AMP_MEANS_SCORES,    /* from 0 to 1 */
    AMP_MEANS_PIXELS,    /* of an image, from 0 to 255 */
    AMP_MEANS_BOXES      /* two corners in the last four columns; of an image in input 0, which
                            attribute ATTR scales them to, where the operator has that */
};

struct amp_input_meaning {
    enum amp_meaning what; /* AMP_MEANS_NUMBERS ends a list */
    uint32_t input;
    const char *attr;
};
#define AMP_MEANINGS(...) \
    ((const struct amp_input_meaning[]){__VA_ARGS__, {.what = AMP_MEANS_NUMBERS}})

/* A product whose arithmetic COUNT gives, two operations per multiplication with addition, from
   the shapes of a call (ops/flops.h); INPUT tells it which input it is about. */
struct amp_flops {
    double (*count)(const struct amp_ctx *ctx, uint32_t input);
    uint32_t input;
};

/* An operator that is linear in input 1, its weights, and in input 2, which it adds, if it has
   that. */
struct amp_linear {
    bool has_added;
    int channel;              /* the dim of the weights that is the result's channel */
    bool is_last;             /* channels are the last dim of the result; false: dim 1 */
    const char *flip;         /* an attribute; where it is set, the other one of two dims is */
    const char *parts;        /* an attribute: each of so many parts of dim 0 has channels of
                                 its own */
    const char *alpha, *beta; /* attributes: factors of product and sum */
    bool (*suits)(const struct amp_node *node); /* NULL: every one */
};

/* What does the work of a node between DequantizeLinear and QuantizeLinear on the integers
   (run/rewrite/integer_nodes.h). */
struct amp_integer_form {
    /* Takes each of the first two inputs with its scale and zero point, and behind both those of
       the result; attributes are the same. NULL: the operator itself, which moves elements, takes
       integers that all have one scale. */
    const struct amp_op *op;
    bool has_weights;  /* input 1 is constant, and sums of products with it are to be exact */
    int channel;       /* of the weights: the dim that each sum has one of; below 0: from behind */
    const char *group; /* an attribute of convolutions; NULL: it is none */
    uint32_t bias;     /* the input of OP that input 2, an int32, becomes; 0: it has none */
    bool (*suits)(const struct amp_node *node); /* NULL: every one */
};
#define AMP_MOVES_INTEGERS (&(const struct amp_integer_form){.op = NULL})

/* The operator that takes the place of a composite of its name (pattern/composites.inc): which of
   the pattern's values become its inputs and attributes. */
enum { AMP_FUSION_INPUTS = 3 };
struct amp_fusion {
    const char *inputs[AMP_FUSION_INPUTS]; /* all must be there */
    const char *optional;                  /* one more input, if it is there */
    const char *attr, *scalar;             /* an attribute and the constant that it comes from */
    bool is_last_axis;                     /* only where statistics go over the last axis alone */
    const char *part;      /* NULL, or the operator of ai.onnx that tells the form of the pattern */
    const char *form_attr; /* the attribute that is set where part is among the nodes */
    struct amp_str form;   /* the value that it gets */
};

/* The gradient of an input, given that of an output: the derivatives that calculus gives, with the
   convention that kinks (Abs, Relu at 0) have the derivative 0 and ties (Max, ReduceMax) share it.
   The first rule of an operator's list that applies counts. */
enum { AMP_EACH_INPUT = -1, AMP_EACH_OUTPUT = -1 };
struct amp_gradient_rule {
    const char *term; /* run/rewrite/gradient_term.h says what it may hold; NULL ends a list */
    int input;        /* or AMP_EACH_INPUT */
    int output;       /* whose gradient is given, or AMP_EACH_OUTPUT */
    const char *when; /* run/rewrite/gradient_condition.h; NULL: always */
};
#define AMP_GRADIENT(...) ((const struct amp_gradient_rule[]){__VA_ARGS__, {.term = NULL}})

/* A step of a recurrent operator, as a derivative sees it: terms (run/rewrite/gradient_term.h) of
   xt, the input of the step, h and c, the states before it, w and r, transposed weights of the
   direction, and wb and rb, their biases. */
struct amp_recurrence {
    const char *c;    /* the next cell state; NULL: there is none */
    const char *h;    /* the next state, of "next", the next cell state, too */
    const char *when; /* run/rewrite/gradient_condition.h */
};

/* An optimizer's step for each tensor, in terms (run/rewrite/gradient_term.h) of x and its gradient
   g, of a and b, the learning rate and the number of steps before it, and of what stands above. */
struct amp_update {
    const char *rate;      /* the learning rate of this step, in float64 */
    const char *slope;     /* the gradient with what the optimizer adds to it */
    const char *states[2]; /* the new s, then the new t; NULL ends them */
    const char *value;     /* the new x */
};

/* Outputs whose dtype an attribute names: an int that is a dtype, or a tensor of it. */
struct amp_dtype_attr {
    const char *name;
    uint32_t outputs;        /* AMP_INPUT of each */
    enum amp_dtype fallback; /* without the attribute; AMP_UNDEFINED: the inputs decide */
};

/* How a control-flow node's inputs and outputs pair with those of its body. */
struct amp_pairing {
    uint32_t first_input; /* of the node: the one that pairs with the body's input BODY_INPUT */
    uint32_t body_input;
    uint32_t body_output; /* the body's output that pairs with the node's output 0 */
    bool maps;            /* the node takes and gives sequences of what the body does */
    int later_in;         /* the one version in which one more input comes before the first */
};

/* A step to version SINCE where the signatures of the schema table tell the wrong difference. */
struct amp_version_change {
    int since;              /* 0 ends a list */
    const char *difference; /* NULL: compatible all the same */
};
#define AMP_CHANGES(...) ((const struct amp_version_change[]){__VA_ARGS__, {.since = 0}})

#endif
