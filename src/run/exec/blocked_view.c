/*
 * Finds the view in which an elementwise kernel can work on inputs that lie in blocks, and sets its
 * inputs so: takes the inputs of a call, gives tensors that borrow their data. An input that is
 * broadcast has to be row-major, with the dims in the order in which the view has them.
 */
#include "run/exec/blocked_view.h"

#include "core/array.h"
#include "ops/dnnl/layout.h"

bool amp_blocked_view_takes(const struct amp_blocked_view *view, const struct amp_tensor *in)
{
    return in->layout == NULL || in->layout == view->layouts[in->dtype];
}

/* The input that has a layout of oneDNN's and most elements. */
static const struct amp_tensor *largest(const struct amp_tensor *const *inputs, uint32_t n_in)
{
    const struct amp_tensor *found = NULL;
    for (uint32_t i = 0; i < n_in; i++) {
        const struct amp_tensor *in = inputs[i];
        if (in != NULL && in->layout != NULL &&
            (found == NULL || amp_tensor_count(in) > amp_tensor_count(found)))
            found = in;
    }
    return found;
}

/* The dim of a tensor of RANK that broadcasts to dim D of VIEW's; below 0: it has none. */
static int dim_of(const struct amp_blocked_view *view, int rank, int d)
{
    return d - (view->shape.rank - rank);
}

static bool broadcasts(const struct amp_blocked_view *view, const struct amp_tensor *in)
{
    if (in->shape.rank > view->shape.rank)
        return false;
    for (int d = 0; d < view->shape.rank; d++) {
        int dim = dim_of(view, in->shape.rank, d);
        if (dim >= 0 && in->shape.dims[dim] != 1 && in->shape.dims[dim] != view->shape.dims[d])
            return false;
    }
    return true;
}

/* What IN, row-major, is as VIEW sees it; false: its elements would have to change their order. */
static bool see(const struct amp_blocked_view *view, const struct amp_tensor *in,
                struct amp_shape *seen)
{
    int last = 0;
    seen->rank = view->lies.rank;
    for (int i = 0; i < view->lies.rank; i++) {
        int dim = dim_of(view, in->shape.rank, view->of[i]);
        bool is_there = dim >= 0 && in->shape.dims[dim] != 1;
        seen->dims[i] = is_there ? view->lies.dims[i] : 1;
        if (is_there && view->of[i] < last)
            return false;
        if (is_there)
            last = view->of[i];
    }
    return true;
}

/* Sets in which layout each dtype lies as FIRST does. */
static void find_layouts(const struct amp_tensor *first, struct amp_layouts *layouts,
                         struct amp_blocked_view *view)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    view->layouts[first->dtype] = first->layout;
    if (layouts == NULL || !amp_dtype_is_autocast(first->dtype))
        return;
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++)
        if (dtypes[i] != first->dtype &&
            !amp_layout_in_dtype(layouts, first, dtypes[i], &view->layouts[dtypes[i]]))
            view->layouts[dtypes[i]] = NULL;
}

bool amp_blocked_view_find(const struct amp_node *node, const struct amp_op *op,
                           const struct amp_tensor *const *inputs, enum amp_dtype dtype,
                           struct amp_layouts *layouts, struct amp_blocked_view *view)
{
    const struct amp_tensor *first =
        amp_op_keeps_places(op) && node->n_outputs == 1 ? largest(inputs, node->n_inputs) : NULL;
    if (first == NULL || amp_broadcasts_from_axis(node))
        return false;
    *view = (struct amp_blocked_view){.shape = first->shape};
    find_layouts(first, layouts, view);
    if (view->layouts[dtype] == NULL || !amp_layout_view(first->layout, &view->lies, view->of))
        return false;
    view->has_rest = amp_shape_count(&view->lies) != amp_shape_count(&first->shape);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_tensor *in = inputs[i];
        struct amp_shape seen;
        if (in != NULL && (in->layout == NULL || !amp_blocked_view_takes(view, in)) &&
            (view->has_rest || amp_broadcasts_by_attributes(node) || !broadcasts(view, in) ||
             !see(view, in, &seen)))
            return false;
    }
    return true;
}

void amp_blocked_view_set(const struct amp_blocked_view *view, struct amp_frame *frame,
                          uint32_t n_in)
{
    for (uint32_t i = 0; i < n_in; i++) {
        const struct amp_tensor *in = frame->in[i];
        if (in == NULL)
            continue;
        /* What has been widened is one already, and keeps its memory. */
        struct amp_tensor *borrowed = &frame->temporary[i];
        struct amp_tensor seen = {.dtype = in->dtype, .shape = view->lies, .data = in->data};
        seen.buffer = in == borrowed ? in->buffer : NULL;
        if (in->layout == NULL)
            see(view, in, &seen.shape);
        *borrowed = seen;
        frame->in[i] = borrowed;
    }
}
