#ifndef AMP_RUN_REWRITE_GRADIENT_TERM_H
#define AMP_RUN_REWRITE_GRADIENT_TERM_H

#include "core/graph/graph.h"

/* Private to run/rewrite: the nodes of a derivative, made from the text of a rule. */

/* What is being derived: an output of a node by one of its inputs. */
struct amp_derivation {
    struct amp_model *model;
    uint32_t graph; /* that new nodes go to */
    uint32_t node;
    uint32_t output;      /* its place, of what is derived */
    uint32_t input;       /* its place, of what it is derived by */
    uint32_t x;           /* the value there */
    uint32_t g;           /* the gradient of the output, of its shape */
    enum amp_dtype dtype; /* of numbers without a type */
};

/*
 * Makes the nodes that TEXT names and gives the value that comes of them; AMP_NONE where the text
 * needs something that the node does not tell: a rank, or an output without a name. TEXT is
 *
 *     name = term; name = term; term
 *
 * of which a definition is made where its name is first used, and a term is
 *
 *     Op(arguments; attributes)   a node of ONNX in the version of the model's opset, 18 at least
 *     Op.1(...)                   its output 1
 *     Same(term), Same.1(term)    the node itself on another input 0, its output 0 or 1
 *     Macro(arguments)            one of the table in gradient_macros.c
 *     SumTo(term)                 its sum over all that x was broadcast along, in the shape of x
 *     Keep(term)                  with axes of size 1 where keepdims=0 has taken them away
 *     Choose(condition, term, term)   as gradient_condition.h has conditions
 *     All(term)                   the sum over all inputs, x standing for each in turn
 *     Ahead(x), Ahead(y)          what the inputs before x, or the outputs before y, have of axis
 *     g, x, y, a, b, c, d, e, f   the gradient, the input, the output, inputs 0 to 5
 *     axes                        of the node, an attribute or input 1; none: no elements
 *     2.5, 1L, -1L, $alpha        a scalar of the derivation's dtype or int64; a float attribute
 *     [1, a:2]                    a list of int64
 *     _                           an argument that is left out
 *
 * and an attribute is name=1, name=word, name=[list], or comes from the node's: name=@its (an int,
 * else 0), !its (1 where that is 0), #its (the int itself), $its (a float), *its (whatever it is,
 * if it is there), ~its (the inverse of a permutation, if any), or from a value: name=^a (the
 * permutation that swaps the last two axes of a). Attributes that the node does not have count as
 * their defaults in the schema, without one as 1. Items of a list are
 *
 *     1, -1, #axis, 2*#axis       numbers, int attributes
 *     *strides=1                  the ints of an attribute; where there is none, that number for
 *                                 each spatial axis of a
 *     <pads=0, >pads=0            the first or second half of them
 *     a:2, a:#axis, a:2+1         the axes of a from that one on; each plus 1
 *     a:2=1                       that number for each of them
 */
uint32_t amp_gradient_term(const struct amp_derivation *derivation, const char *text);

/* A value that a text may use by name. */
struct amp_named_value {
    const char *name;
    uint32_t value;
};

/* The same, where TEXT may use the COUNT values of NAMED, too. */
uint32_t amp_gradient_term_of(const struct amp_derivation *derivation, const char *text,
                              const struct amp_named_value *named, size_t count);

/* A node of OP_TYPE of ai.onnx, as terms have them, on COUNT inputs; the value of its output. */
uint32_t amp_gradient_join(const struct amp_derivation *derivation, const char *op_type,
                           const uint32_t *inputs, uint32_t count, int64_t axis);

#endif
