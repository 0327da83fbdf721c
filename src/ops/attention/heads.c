/*
 * Views tensors as heads and copies them, whatever their strides: the tensors of a node have one of
 * two orders, of which one keeps a position's heads side by side.
 */
#include "ops/attention/heads.h"

#include "ops/kernel/strided_loop.h"

struct amp_heads amp_heads_of(const struct amp_tensor *tensor, const struct amp_shape *shape,
                              bool is_flat)
{
    struct amp_heads heads = {.tensor = tensor};
    amp_strides(shape, heads.strides);
    if (is_flat) {
        heads.strides[2] = shape->dims[1] * shape->dims[3];
        heads.strides[1] = shape->dims[3];
    }
    return heads;
}

static void add_heads(struct amp_loop *loop, const struct amp_heads *heads)
{
    size_t size = amp_dtype_bits(heads->tensor->dtype) / 8;
    amp_loop_view(loop, (char *)heads->tensor->data + (size_t)heads->first * size, size,
                  heads->strides);
}

void amp_heads_copy(const struct amp_heads *to, const struct amp_heads *from,
                    const struct amp_shape *shape)
{
    struct amp_loop loop;
    amp_loop_init(&loop, AMP_HEADS_RANK, shape->dims);
    add_heads(&loop, to);
    add_heads(&loop, from);
    amp_loop_run(&loop, amp_loop_copy(to->tensor->dtype), NULL);
}
