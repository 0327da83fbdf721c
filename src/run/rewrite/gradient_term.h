#ifndef AMP_RUN_REWRITE_GRADIENT_TERM_H
#define AMP_RUN_REWRITE_GRADIENT_TERM_H

#include "core/graph/graph.h"

/* Private to run/rewrite: the nodes of a derivative, made from the text of a rule. */

/* What is being derived: output 0 of a node by one of its inputs. */
struct amp_derivation {
    struct amp_model *model;
    uint32_t graph; /* that new nodes go to */
    uint32_t node;
    uint32_t x;           /* the input */
    uint32_t g;           /* the gradient of the output, of its shape */
    enum amp_dtype dtype; /* of numbers without a type */
};

/*
 * Makes the nodes that TEXT names and gives the value that comes of them. TEXT is
 *   Op(arguments; attributes)   a node of ONNX in its newest version that there is a kernel for
 *   SumTo(term)                 its sum over all that x was broadcast along, in the shape of x
 *   g, x, y, a, b, c            the gradient, the input, the output, inputs 0, 1 and 2
 *   axes                        of the node, an attribute or input 1; none: no elements
 *   2.5, 1L, [1]                a scalar of the derivation's dtype or int64, a list of int64
 * and an attribute is name=1, or comes from the node's: name=@its (an int, else 0),
 * !its (1 where that is 0), $its (a float, else 1), ~its (the inverse of a permutation, if any), or
 * from a value: name=^a (the permutation that swaps the last two axes of a, whose rank is known).
 */
uint32_t amp_gradient_term(const struct amp_derivation *derivation, const char *text);

#endif
