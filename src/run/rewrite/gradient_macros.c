/*
 * Terms that several gradient rules share, by name; gradient_term.h says what they may hold. Those
 * about windows need three definitions of their users: image and steps, the values that a window
 * slides over and that its steps write, and kernel, the list of its sizes.
 */
#include "run/rewrite/gradient_macros.h"

#include <stddef.h>
#include <string.h>

static const struct amp_gradient_macro macros[] = {
    /* p summed over the axes in which x, with ones before its dims, differs from it. */
    {"Summed", "Reshape(ReduceSum(p, Squeeze(NonZero(Not(Equal(Concat(Expand([1], Reshape(Sub("
               "Size(Shape(p)), Size(Shape(x))), [-1])), Shape(x); axis=0), Shape(p)))), [0]); "
               "noop_with_empty_axes=1), Shape(x); allowzero=1)"},
    {"zeros", "Expand(0, Shape(x))"},
    /* How many elements of x an element of y is made of. */
    {"count", "CastLike(Div(Size(x), Max(Size(y), 1L)), x)"},
    /* The elements of p from the indices q on, zeros where there are none, in the shape of x. */
    {"Fit", "Pad(p, Concat(Neg(q), Add(Sub(Shape(x), Shape(p)), q); axis=0), 0)"},
    /* Where the output holds elements of x, those at p of the flat x: each gets what came of it. */
    {"Picked", "Reshape(ScatterElements(Expand(0, Reshape(Size(x), [1])), Reshape(p, [-1]), "
               "Reshape(g, [-1]); reduction=add), Shape(x); allowzero=1)"},
    {"positions", "Reshape(Range(0L, Size(x), 1L), Shape(x); allowzero=1)"},
    /* A reduction that picks: those that are equal to the result share its gradient. */
    {"extreme", "hits = Where(Equal(x, Keep(y)), 1, 0);"
                "Mul(Keep(g), Div(hits, ReduceSum(hits, axes; "
                "noop_with_empty_axes=@noop_with_empty_axes)))"},

    /* ---- channels: axis 1 ---- */

    {"Channel", "Reshape(p, [-1, a:2=1])"},
    {"Channels", "ReduceSum(p, [0, a:2]; keepdims=0)"},

    /* ---- normalisation of "of" over the axes "along" ---- */

    {"centered", "Sub(of, ReduceMean(of, along))"},
    {"inverse", "Reciprocal(Sqrt(Add(ReduceMean(Mul(centered, centered), along), $epsilon)))"},
    {"normal", "Mul(centered, inverse)"},
    {"Normalized", "Mul(inverse, Sub(Sub(p, ReduceMean(p, along)), "
                   "Mul(normal, ReduceMean(Mul(p, normal), along))))"},
    {"rms", "Reciprocal(Sqrt(Add(ReduceMean(Mul(of, of), along), $epsilon)))"},
    {"scaled", "Mul(of, rms)"},
    {"Scaled", "Mul(rms, Sub(p, Mul(scaled, ReduceMean(Mul(p, scaled), along))))"},

    /* ---- losses of scores a, labels b and weights c of classes ---- */

    {"labels", "CastLike(b, 0L)"},
    {"ignored", "Equal(labels, #ignore_index)"},
    {"weights", "Choose(c, Choose(has:ignore_index, Where(ignored, 0, Gather(c, Where(ignored, 0L, "
                "labels))), Gather(c, labels)), Choose(has:ignore_index, Where(ignored, 0, 1), "
                "Expand(1, Shape(labels))))"},
    {"shares",
     "Unsqueeze(Choose(reduction=mean, Div(Mul(g, weights), ReduceSum(weights; keepdims=0)), "
     "Mul(g, weights)), [1])"},
    {"hits", "CastLike(Equal(Unsqueeze(labels, [1]), Reshape(Range(0L, Gather(Shape(a), 1L), 1L), "
             "[-1, a:2=1])), a)"},

    /* ---- windows ---- */

    /* How much of the image all steps cover, and what of that lies outside it. */
    {"span", "Add(Add(Mul(Sub(Shape(steps; start=2), 1L), [*strides=1]), "
             "Mul(Sub(kernel, 1L), [*dilations=1])), 1L)"},
    {"outside", "Max(Sub(Add(span, [*output_padding=0]), Shape(image; start=2)), 0L)"},
    {"NOTSET", "[0, 0, <pads=0]"},
    {"VALID", "[0, 0, a:2=0]"},
    {"SAME_UPPER", "Concat([0, 0], Div(outside, 2L); axis=0)"},
    {"SAME_LOWER", "Concat([0, 0], Sub(outside, Div(outside, 2L)); axis=0)"},
    /* p, an image, where the steps cover it, with its padding. */
    {"Covered", "Pad(p, Concat(begins, Sub(Sub(Concat(Shape(p; end=2), span; axis=0), Shape(p)), "
                "begins); axis=0), 0)"},
    /* The gradient of a convolution's weights from p, an image as it is covered, and q, at its
       steps: summed over the batch as a convolution sums over channels. */
    {"Taps",
     "groups = Reshape(p, Concat(Shape(p; end=1), [#group, -1], Shape(p; start=2); axis=0));"
     "rows = Reshape(Transpose(groups; perm=[2, 1, 0, a:2+1]), "
     "Concat([0, -1], Shape(p; start=2); axis=0));"
     "Fit(Transpose(Conv(rows, Transpose(q; perm=[1, 0, a:2]); strides=*dilations, "
     "dilations=*strides, group=#group); perm=[1, 0, a:2]), [0, 0, a:2=0])"},
    /* Each plane a batch of its own, for windows that are the same for all channels. */
    {"Planes", "Reshape(p, Concat([-1, 1], Shape(p; start=2); axis=0))"},
    {"ones", "Expand(1, Concat([1, 1], kernel; axis=0))"},
    /* p, at the steps, added to all that their windows lie over. */
    {"Spread", "over = ConvTranspose(Planes(p), ones; strides=*strides, dilations=*dilations);"
               "Fit(Reshape(over, Concat(Shape(p; end=2), Shape(over; start=2); axis=0)), begins)"},
    /* How many elements of p, ones, the windows lie over. */
    {"Counted", "Conv(p, ones; strides=*strides, dilations=*dilations)"},

};

const char *amp_gradient_macro(const char *name)
{
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (strcmp(macros[i].name, name) == 0)
            return macros[i].term;
    return NULL;
}
