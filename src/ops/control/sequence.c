/*
 * Sequences: SequenceConstruct, SequenceEmpty, SequenceInsert, SequenceErase, SequenceAt,
 * SequenceLength, SequenceMap, SplitToSequence and ConcatFromSequence. All versions up to ONNX 24.
 * Sequences never change: what alters one makes another that refers to the same elements.
 */
#include "ops/control/list.h"
#include "ops/control/subgraph.h"

#include <stdlib.h>
#include <string.h>

/* ---- elements -------------------------------------------------------------------------------- */

static int64_t length_of(const struct amp_tensor *sequence)
{
    return (int64_t)amp_tensor_count(sequence);
}

/* Makes output I a sequence of COUNT elements, to be filled. */
static enum amp_status new_sequence(const struct amp_ctx *ctx, uint32_t i, int64_t count)
{
    return amp_list_alloc(ctx->out[i], AMP_FORM_SEQUENCE, (size_t)count, ctx->err);
}

/* Puts TENSOR at place TO of output 0. */
static enum amp_status put(const struct amp_ctx *ctx, int64_t to, const struct amp_tensor *tensor)
{
    if (tensor->dtype != ctx->out[0]->dtype)
        return AMP_CTX_FAIL(ctx, "an element of type %s in a sequence of %s",
                            amp_dtype_name(tensor->dtype), amp_dtype_name(ctx->out[0]->dtype));
    amp_tensor_refer(&amp_list_items(ctx->out[0])[to], tensor);
    return AMP_OK;
}

/* Reads the place in a sequence of LENGTH elements that input I names: below zero it counts from
   the end; at most HIGHEST. Where the input is omitted *POSITION stays as it is. */
static enum amp_status read_position(const struct amp_ctx *ctx, uint32_t i, int64_t length,
                                     int64_t highest, int64_t *position)
{
    int count;
    int64_t value = *position;
    AMP_TRY(amp_ctx_ints(ctx, i, &value, 1, &count));
    if (value < -length || value > highest)
        return AMP_CTX_FAIL(ctx, "position %lld; the sequence has %lld elements", (long long)value,
                            (long long)length);
    *position = value < 0 ? value + length : value;
    return AMP_OK;
}

/* ---- sequences as such ----------------------------------------------------------------------- */

static enum amp_status construct_run(struct amp_ctx *ctx)
{
    AMP_TRY(new_sequence(ctx, 0, ctx->n_in));
    for (uint32_t i = 0; i < ctx->n_in; i++)
        AMP_TRY(put(ctx, i, ctx->in[i]));
    return AMP_OK;
}

static enum amp_status empty_run(struct amp_ctx *ctx)
{
    return new_sequence(ctx, 0, 0);
}

static enum amp_status insert_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *items = amp_list_items(ctx->in[0]);
    int64_t length = length_of(ctx->in[0]), position = length;
    AMP_TRY(read_position(ctx, 2, length, length, &position));
    AMP_TRY(new_sequence(ctx, 0, length + 1));
    AMP_TRY(put(ctx, position, ctx->in[1]));
    for (int64_t i = 0; i < length; i++)
        AMP_TRY(put(ctx, i + (i >= position), &items[i]));
    return AMP_OK;
}

static enum amp_status erase_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *items = amp_list_items(ctx->in[0]);
    int64_t length = length_of(ctx->in[0]), position = length - 1;
    if (length == 0)
        return AMP_CTX_FAIL(ctx, "the sequence is empty");
    AMP_TRY(read_position(ctx, 1, length, length - 1, &position));
    AMP_TRY(new_sequence(ctx, 0, length - 1));
    for (int64_t i = 0; i < length; i++)
        if (i != position)
            AMP_TRY(put(ctx, i - (i > position), &items[i]));
    return AMP_OK;
}

static enum amp_status at_run(struct amp_ctx *ctx)
{
    int64_t length = length_of(ctx->in[0]), position = 0;
    AMP_TRY(read_position(ctx, 1, length, length - 1, &position));
    amp_tensor_refer(ctx->out[0], &amp_list_items(ctx->in[0])[position]);
    return AMP_OK;
}

static enum amp_status length_run(struct amp_ctx *ctx)
{
    *(int64_t *)ctx->out[0]->data = length_of(ctx->in[0]);
    return AMP_OK;
}

/* ---- tensors in pieces ----------------------------------------------------------------------- */

/* LENGTH elements of dim AXIS from START on. */
struct stretch {
    int axis;
    int64_t start, length;
};

/* Copies PART out of STRETCH of WHOLE, or into it. The other dims are the same. */
static void copy_part(const struct amp_tensor *whole, struct stretch stretch,
                      const struct amp_tensor *part, bool is_out)
{
    int axis = stretch.axis;
    const struct amp_shape *shape = &whole->shape;
    size_t inner =
        amp_dtype_bits(whole->dtype) / 8 * (size_t)amp_shape_product(shape, axis + 1, shape->rank);
    size_t outer = (size_t)amp_shape_product(shape, 0, axis), size = (size_t)stretch.length * inner;
    char *at = (char *)whole->data + (size_t)stretch.start * inner, *other = part->data;
    for (size_t i = 0; i < outer && size > 0; i++) {
        memcpy(is_out ? other : at, is_out ? at : other, size);
        at += (size_t)shape->dims[axis] * inner;
        other += size;
    }
}

/* Where SplitToSequence cuts: at multiples of STEP, or by lengths. */
struct cuts {
    int64_t count, step;
    const struct amp_tensor *lengths; /* NULL: by STEP */
    int axis;
    bool keeps_dim;
};

static int64_t cut_length(const struct cuts *cuts, int64_t i, int64_t dim)
{
    if (cuts->lengths != NULL)
        return amp_tensor_int(cuts->lengths, (size_t)i);
    return i < cuts->count - 1 ? cuts->step : dim - cuts->step * (cuts->count - 1);
}

static enum amp_status check_lengths(const struct amp_ctx *ctx, const struct cuts *cuts,
                                     int64_t dim)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < cuts->count; i++) {
        int64_t length = amp_tensor_int(cuts->lengths, (size_t)i);
        if (length < 0 || length > dim - sum)
            return AMP_CTX_FAIL(ctx, "split: length %lld of part %lld; dim %d is %lld",
                                (long long)length, (long long)i, cuts->axis, (long long)dim);
        sum += length;
    }
    if (sum == dim)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "split: the parts are %lld long together; dim %d is %lld",
                        (long long)sum, cuts->axis, (long long)dim);
}

static enum amp_status plan_cuts(const struct amp_ctx *ctx, struct cuts *cuts)
{
    const struct amp_tensor *split = amp_has_in(ctx, 1) ? ctx->in[1] : NULL;
    AMP_TRY(
        amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), ctx->in[0]->shape.rank, &cuts->axis));
    int64_t dim = ctx->in[0]->shape.dims[cuts->axis];
    cuts->step = 1;
    cuts->keeps_dim = split != NULL || amp_node_int(ctx->node, "keepdims", 1) != 0;
    if (split != NULL && split->shape.rank > 0) {
        cuts->lengths = split;
        cuts->count = amp_shape_count(&split->shape);
        return check_lengths(ctx, cuts, dim);
    }
    if (split != NULL)
        cuts->step = amp_tensor_int(split, 0);
    if (cuts->step <= 0)
        return AMP_CTX_FAIL(ctx, "split is %lld; above 0 is possible", (long long)cuts->step);
    cuts->count = dim / cuts->step + (dim % cuts->step != 0);
    return AMP_OK;
}

static enum amp_status split_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *whole = ctx->in[0];
    struct cuts cuts = {.count = 0};
    int64_t start = 0;
    AMP_TRY(plan_cuts(ctx, &cuts));
    int axis = cuts.axis;
    AMP_TRY(new_sequence(ctx, 0, cuts.count));
    for (int64_t i = 0; i < cuts.count; i++) {
        struct amp_tensor *part = &amp_list_items(ctx->out[0])[i];
        int64_t length = cut_length(&cuts, i, whole->shape.dims[axis]);
        *part = (struct amp_tensor){.dtype = whole->dtype, .shape = whole->shape};
        part->shape.dims[axis] = length;
        AMP_TRY(amp_tensor_alloc(part, ctx->err));
        copy_part(whole, (struct stretch){axis, start, length}, part, true);
        start += length;
        if (!cuts.keeps_dim) {
            part->shape.rank--;
            memmove(part->shape.dims + axis, part->shape.dims + axis + 1,
                    (size_t)(part->shape.rank - axis) * sizeof *part->shape.dims);
        }
        if (part->dtype == AMP_STRING)
            AMP_TRY(amp_strings_own(part, ctx->err));
    }
    return AMP_OK;
}

/* SHAPE of one element comes to be that of all; with a new axis the length of each on it is 1. */
static enum amp_status concat_shape(const struct amp_ctx *ctx, int64_t count, bool is_new, int axis,
                                    struct amp_shape *shape)
{
    const struct amp_tensor *items = amp_list_items(ctx->in[0]);
    int64_t total = is_new ? count : 0;
    for (int64_t i = 0; i < count; i++) {
        struct amp_shape other = items[i].shape;
        if (!is_new) {
            total += other.dims[axis];
            other.dims[axis] = shape->dims[axis];
        }
        if (!amp_shape_equal(&other, shape))
            return AMP_CTX_FAIL(ctx, "element %lld has another shape than element 0", (long long)i);
    }
    if (is_new) {
        memmove(shape->dims + axis + 1, shape->dims + axis,
                (size_t)(shape->rank - axis) * sizeof *shape->dims);
        shape->rank++;
    }
    shape->dims[axis] = total;
    return AMP_OK;
}

static enum amp_status concat_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *items = amp_list_items(ctx->in[0]);
    struct amp_tensor *out = ctx->out[0];
    int64_t count = length_of(ctx->in[0]), start = 0;
    bool is_new = amp_node_int(ctx->node, "new_axis", 0) != 0;
    int axis = 0;
    if (count == 0)
        return AMP_CTX_FAIL(ctx, "the sequence is empty");
    out->shape = items[0].shape;
    if (out->shape.rank + is_new > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "the output would have rank %d; at most %d is supported",
                            out->shape.rank + 1, AMP_RANK_MAX);
    AMP_TRY(amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", 0), out->shape.rank + is_new, &axis));
    AMP_TRY(concat_shape(ctx, count, is_new, axis, &out->shape));
    AMP_TRY(amp_ctx_alloc(ctx, 0));
    for (int64_t i = 0; i < count; i++) {
        int64_t length = is_new ? 1 : items[i].shape.dims[axis];
        copy_part(out, (struct stretch){axis, start, length}, &items[i], false);
        start += length;
    }
    return out->dtype == AMP_STRING ? amp_strings_own(out, ctx->err) : AMP_OK;
}

/* ---- SequenceMap ----------------------------------------------------------------------------- */

/* The inputs of the body for element K: that of each sequence, and tensors as they are. */
static enum amp_status choose_elements(const struct amp_ctx *ctx, int64_t k,
                                       struct amp_tensor *const *in)
{
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        if (!amp_has_in(ctx, i))
            return AMP_CTX_FAIL(ctx, "input %u is missing", i);
        bool is_list = amp_tensor_is_list(ctx->in[i]);
        if (is_list && length_of(ctx->in[i]) != length_of(ctx->in[0]))
            return AMP_CTX_FAIL(ctx, "input %u has %lld elements, input 0 has %lld", i,
                                (long long)length_of(ctx->in[i]), (long long)length_of(ctx->in[0]));
        amp_tensor_refer(in[i], is_list ? &amp_list_items(ctx->in[i])[k] : ctx->in[i]);
    }
    return AMP_OK;
}

static enum amp_status map_element(const struct amp_ctx *ctx, uint32_t graph, int64_t k,
                                   struct amp_tensor *const *in, struct amp_tensor *outputs)
{
    AMP_TRY(choose_elements(ctx, k, in));
    AMP_TRY(
        amp_ctx_run_body(ctx, &(struct amp_body_call){graph, in, ctx->n_in, outputs, ctx->n_out}));
    for (uint32_t i = 0; i < ctx->n_out; i++)
        if (amp_has_out(ctx, i))
            amp_tensor_refer(&amp_list_items(ctx->out[i])[k], &outputs[i]);
    return AMP_OK;
}

static enum amp_status map_run(struct amp_ctx *ctx)
{
    uint32_t body = amp_subgraph_id(ctx, "body");
    int64_t length = length_of(ctx->in[0]);
    for (uint32_t i = 0; i < ctx->n_out; i++)
        if (amp_has_out(ctx, i))
            AMP_TRY(new_sequence(ctx, i, length));
    struct amp_tensor *tensors = amp_xcalloc((size_t)ctx->n_in + ctx->n_out, sizeof *tensors);
    struct amp_tensor **in = amp_xcalloc(ctx->n_in, sizeof(struct amp_tensor *));
    for (uint32_t i = 0; i < ctx->n_in; i++)
        in[i] = &tensors[i];
    enum amp_status status = AMP_OK;
    for (int64_t k = 0; k < length && status == AMP_OK; k++)
        status = map_element(ctx, body, k, in, tensors + ctx->n_in);
    amp_tensors_release(tensors, (size_t)ctx->n_in + ctx->n_out);
    free(tensors);
    free(in);
    return status;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

AMP_LIST_OP(concat_from_sequence, "ConcatFromSequence", 11, NULL, concat_run,
            .role = AMP_ROLE_CONCAT_FROM_SEQUENCE)
AMP_LIST_OP(sequence_at, "SequenceAt", 11, NULL, at_run, .role = AMP_ROLE_SEQUENCE_AT)
AMP_LIST_OP(sequence_construct, "SequenceConstruct", 11, NULL, construct_run)
AMP_LIST_OP(sequence_empty, "SequenceEmpty", 11, NULL, empty_run,
            .dtype_attr = &(const struct amp_dtype_attr){
                .name = "dtype", .outputs = AMP_INPUT(0), .fallback = AMP_FLOAT})
AMP_LIST_OP(sequence_erase, "SequenceErase", 11, NULL, erase_run)
AMP_LIST_OP(sequence_insert, "SequenceInsert", 11, NULL, insert_run)
AMP_LIST_OP(sequence_length, "SequenceLength", 11, amp_list_scalar, length_run)
AMP_LIST_OP(sequence_map, "SequenceMap", 17, NULL, map_run,
            .pairing = &(const struct amp_pairing){.maps = true})
AMP_LIST_OP(split_to_sequence, "SplitToSequence", 24, NULL, split_run,
            .role = AMP_ROLE_SPLIT_TO_SEQUENCE)
