#ifndef AMP_PATTERN_PATTERN_H
#define AMP_PATTERN_PATTERN_H

#include "core/arena.h"
#include "core/status.h"

/*
 * Patterns over graphs: what a group of nodes looks like that stands for one operator. A pattern is
 * text:
 *
 *     d = Sub(x, ReduceMean(x){axes=A, axes=trailing});
 *     Div(d, Sqrt(Add(ReduceMean(Pow(d, 2) | Mul(d, d)){axes=A}, e:eps)))
 *
 * Definitions, each ended by ';', and the expression of the one output. Expressions:
 *
 *     Op(a, b)        output 0 of operator Op of ai.onnx, whatever its version. Add, Mul, Max and
 *                     Min of two take them in either order. Inputs beyond those written must be
 *                     constants or left out; "a..." stands for one or more inputs.
 *     a | b           the first that fits: put the larger one first
 *     x               a value: the same wherever the name stands (or an equal scalar); a
 *                     defined name fits its definition
 *     x:kind          a value of that kind; _ is any value, _:kind any of that kind
 *     2, -0.5         a constant of one element with that value, to four digits
 *     (a | b)         grouping
 *
 * Kinds: weight (an initializer or constant), scalar (a constant of one element), eps (a scalar
 * above 0 and up to 0.1), item (a scalar of shape [1]), single (one element, or so by its shape),
 * vector (a weight along the last axis), channel (a weight along axis 1 of the operator's output),
 * live (no weight).
 *
 * Conditions in braces stand behind an operator; all of them must hold. A name is an attribute's,
 * its default included, or that of an input that is a constant, so that axes fit in either form:
 *
 *     axes=last       the one last axis
 *     axes=trailing   the last axes, one or more
 *     axes=inner      all axes but the first two
 *     axes=all        all axes, also where the node names none
 *     axes=A          any axes, the same wherever the letter stands
 *     axis=1          that axis; axes=[2, 3]
 *     perm=swapped    the last two axes exchanged
 *     perm=same       all axes where they were
 *     min=eps         a number above 0 and up to 0.1
 *     min=0, p=2      a single number
 *     mode=linear     another word: a string
 *
 * Axes are sets, and counted from the front where the rank is known. Nodes that change nothing
 * (Identity, a Cast to the type that it takes, Dropout) may lie between the nodes of the pattern.
 */
struct amp_pattern;

/* Compiles TEXT, which must outlive the pattern, into ARENA. NULL, and AMP_RULES in ERR with the
   place, for a text that is wrong: a defect of the program, which tests rule out. */
struct amp_pattern *amp_pattern_parse(struct amp_arena *arena, const char *text,
                                      struct amp_error *err);

/* The operators that the output's expression may begin with: *COUNT of them, the pattern's own. */
const char *const *amp_pattern_roots(const struct amp_pattern *pattern, size_t *count);

/* The index of the value that the pattern calls NAME, as amp_pattern_match counts them; -1 when the
   pattern has none of that name. */
int amp_pattern_value(const struct amp_pattern *pattern, const char *name);

#endif
