/*
 * Operators that make tensors out of attributes, shapes and numbers: Constant, ConstantOfShape,
 * Range, OneHot and EyeLike, and GivenTensorFill, an experiment dropped in opset 10; and Trilu,
 * which clears one triangle of a matrix. All versions up to ONNX 27.
 */
#include "ops/kernel/data_movement.h"

#include "core/array.h"

#include <math.h>
#include <string.h>

/* ---- Constant ---- */

/* The attribute that holds the value; the others of Constant are absent. */
static const struct amp_attr *constant_attr(const struct amp_ctx *ctx)
{
    static const char *const names[] = {"value",        "sparse_value", "value_float",
                                        "value_floats", "value_int",    "value_ints",
                                        "value_string", "value_strings"};
    for (size_t i = 0; i < AMP_COUNT(names); i++) {
        const struct amp_attr *attr = amp_node_attr(ctx->node, names[i]);
        if (attr != NULL)
            return attr;
    }
    return NULL;
}

static bool is_tensor(const struct amp_attr *attr)
{
    return attr->type == AMP_ATTR_TENSOR || attr->type == AMP_ATTR_SPARSE_TENSOR;
}

static enum amp_status constant_shape(struct amp_ctx *ctx)
{
    const struct amp_attr *attr = constant_attr(ctx);
    struct amp_shape *out = &ctx->out[0]->shape;
    if (attr == NULL)
        return AMP_CTX_FAIL(ctx, "no value; one of value, sparse_value, value_float, value_floats, "
                                 "value_int, value_ints, value_string and value_strings is needed");
    if (is_tensor(attr)) {
        *out = attr->tensors[0]->shape;
        return AMP_OK;
    }
    bool is_list = attr->type == AMP_ATTR_FLOATS || attr->type == AMP_ATTR_INTS ||
                   attr->type == AMP_ATTR_STRINGS;
    *out = (struct amp_shape){is_list ? 1 : 0, {(int64_t)attr->count}};
    return AMP_OK;
}

static enum amp_status constant_run(struct amp_ctx *ctx)
{
    const struct amp_attr *attr = constant_attr(ctx);
    struct amp_tensor *out = ctx->out[0];
    size_t size = amp_tensor_size(out);
    const void *data = is_tensor(attr) ? attr->tensors[0]->data : attr->ints;
    if (data == NULL || size == 0)
        return AMP_OK;
    if (is_tensor(attr) && (uintptr_t)data % 64 == 0)
        amp_tensor_share(out, attr->tensors[0]);
    else
        memcpy(out->data, data, size);
    return AMP_OK;
}

const struct amp_op amp_op_constant = {
    .name = "Constant",
    .newest = 25,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .role = AMP_ROLE_CONSTANT,
    .shape = constant_shape,
    .run = constant_run,
};

/* ---- ConstantOfShape ---- */

static enum amp_status constant_of_shape_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t dims[AMP_RANK_MAX];
    int count;
    AMP_TRY(amp_ctx_ints(ctx, 0, dims, AMP_RANK_MAX, &count));
    amp_shape_unknown(out, count < 0 ? amp_ctx_length(ctx, 0) : count);
    for (int i = 0; i < count; i++) {
        if (dims[i] < 0)
            return AMP_CTX_FAIL(ctx, "input[%d] is %lld; at least 0 is needed", i,
                                (long long)dims[i]);
        out->dims[i] = dims[i];
    }
    return AMP_OK;
}

/* Fills OUT, of a dtype below a byte, with VALUE's low bits. */
static void fill_packed(const struct amp_tensor *out, uint8_t value)
{
    unsigned bits = amp_dtype_bits(out->dtype), byte = 0;
    for (unsigned shift = 0; shift < 8; shift += bits)
        byte |= (value & ((1u << bits) - 1)) << shift;
    memset(out->data, (int)byte, amp_tensor_size(out));
}

static enum amp_status constant_of_shape_run(struct amp_ctx *ctx)
{
    const struct amp_attr *attr = amp_node_attr(ctx->node, "value");
    const struct amp_tensor *out = ctx->out[0], *value = NULL;
    if (attr != NULL)
        value = attr->tensors[0];
    if (value != NULL && amp_shape_count(&value->shape) != 1)
        return AMP_CTX_FAIL(ctx, "value has %lld elements; one is needed",
                            (long long)amp_shape_count(&value->shape));
    if (amp_is_packed(out->dtype))
        fill_packed(out, value != NULL ? *(const uint8_t *)value->data : 0);
    else
        amp_fill(out->data, value != NULL ? value->data : NULL, amp_dtype_bits(out->dtype) / 8,
                 amp_tensor_count(out));
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_constant_of_shape = {
    .name = "ConstantOfShape",
    .meanings = AMP_MEANINGS({AMP_MEANS_SIZES, 0, NULL}),
    .newest = 25,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .role = AMP_ROLE_CONSTANT_OF_SHAPE,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "value",
                                                 .outputs = AMP_INPUT(0),
                                                 .fallback = AMP_FLOAT},
    .shape = constant_of_shape_shape,
    .run = constant_of_shape_run,
};

/* ---- GivenTensorFill ---- */

/* Sets the dims that input 0 has, or that its elements are (input_as_shape); the rank is -1 where
   those are not known. */
static enum amp_status shape_of_input(struct amp_ctx *ctx, struct amp_shape *shape)
{
    const struct amp_tensor *in = ctx->in[0];
    *shape = in->shape;
    if (amp_node_int(ctx->node, "input_as_shape", 0) == 0)
        return AMP_OK;
    shape->rank = -1;
    if (in->data == NULL)
        return AMP_OK;
    if (in->shape.rank != 1 || in->shape.dims[0] > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "input 0 is no list of dims");
    for (shape->rank = 0; shape->rank < in->shape.dims[0]; shape->rank++) {
        double dim = amp_tensor_double(in, (size_t)shape->rank);
        if (!(dim >= 0 && dim <= INT32_MAX))
            return AMP_CTX_FAIL(ctx, "input[%d] is %g, which is no dim", shape->rank, dim);
        shape->dims[shape->rank] = (int64_t)dim;
    }
    return AMP_OK;
}

/* Adds the dims of attribute NAME to SHAPE. */
static enum amp_status add_dims(struct amp_ctx *ctx, const char *name, struct amp_shape *shape)
{
    size_t count;
    const int64_t *dims = amp_node_ints(ctx->node, name, &count);
    if ((size_t)shape->rank + count > AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "%s: more than %d dims", name, AMP_RANK_MAX);
    for (size_t i = 0; i < count; i++) {
        if (dims[i] < 0)
            return AMP_CTX_FAIL(ctx, "%s[%zu] is %lld; at least 0 is needed", name, i,
                                (long long)dims[i]);
        shape->dims[shape->rank++] = dims[i];
    }
    return AMP_OK;
}

static enum amp_status given_tensor_fill_shape(struct amp_ctx *ctx)
{
    const struct amp_attr *values = amp_node_attr(ctx->node, "values");
    struct amp_shape *out = &ctx->out[0]->shape;
    *out = (struct amp_shape){.rank = 0};
    if (amp_has_in(ctx, 0))
        AMP_TRY(shape_of_input(ctx, out));
    else
        AMP_TRY(add_dims(ctx, "shape", out));
    if (out->rank < 0)
        return AMP_OK;
    AMP_TRY(add_dims(ctx, "extra_shape", out));
    size_t given = values != NULL ? values->count : 0;
    char text[200];
    if (amp_shape_is_known(out) && amp_shape_count(out) != (int64_t)given)
        return AMP_CTX_FAIL(ctx, "%zu values for shape %s", given,
                            amp_shape_text(out, text, sizeof text));
    return AMP_OK;
}

static enum amp_status given_tensor_fill_run(struct amp_ctx *ctx)
{
    const struct amp_attr *values = amp_node_attr(ctx->node, "values");
    for (size_t i = 0; values != NULL && i < values->count; i++)
        amp_tensor_set_double(ctx->out[0], i, (double)values->floats[i]);
    return AMP_OK;
}

/* Without an input there is nothing but the values to tell the type. */
static enum amp_dtype given_tensor_fill_dtype(const struct amp_model *model,
                                              const struct amp_node *node, uint32_t i)
{
    (void)model, (void)i;
    bool has_input = node->n_inputs > 0 && node->inputs[0] != AMP_NONE;
    return has_input ? AMP_UNDEFINED : AMP_FLOAT;
}

const struct amp_op amp_op_given_tensor_fill = {
    .name = "GivenTensorFill",
    .newest = 1,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .dtype = given_tensor_fill_dtype,
    .shape = given_tensor_fill_shape,
    .run = given_tensor_fill_run,
};

/* ---- Range ---- */

/* The distance from LOW to HIGH, not below it: unsigned, as it may be beyond the largest int64. */
static uint64_t distance_of(int64_t low, int64_t high)
{
    return (uint64_t)high - (uint64_t)low;
}

static enum amp_status range_count_int(struct amp_ctx *ctx, int64_t *count)
{
    int64_t start = amp_tensor_int(ctx->in[0], 0), limit = amp_tensor_int(ctx->in[1], 0);
    int64_t delta = amp_tensor_int(ctx->in[2], 0);
    uint64_t steps = 0;
    if (delta == 0)
        return AMP_CTX_FAIL(ctx, "delta is 0");
    if (delta > 0 && limit > start)
        steps = (distance_of(start, limit) - 1) / distance_of(0, delta) + 1;
    if (delta < 0 && limit < start)
        steps = (distance_of(limit, start) - 1) / distance_of(delta, 0) + 1;
    if (steps > INT64_MAX)
        return AMP_CTX_FAIL(ctx, "%lld to %lld by %lld has too many elements", (long long)start,
                            (long long)limit, (long long)delta);
    *count = (int64_t)steps;
    return AMP_OK;
}

/* The difference is rounded to the inputs' own type first, as a graph of Sub and Div would have it.
 */
static enum amp_status range_count_float(struct amp_ctx *ctx, int64_t *count)
{
    double start = amp_tensor_double(ctx->in[0], 0), limit = amp_tensor_double(ctx->in[1], 0);
    double delta = amp_tensor_double(ctx->in[2], 0), distance = limit - start;
    if (ctx->in[0]->dtype != AMP_DOUBLE)
        distance = (double)(float)distance;
    double steps = ceil(distance / delta);
    if (!(steps < 0x1p53))
        return AMP_CTX_FAIL(ctx, "%g to %g by %g has no number of elements", start, limit, delta);
    *count = steps > 0 ? (int64_t)steps : 0;
    return AMP_OK;
}

static enum amp_status range_shape(struct amp_ctx *ctx)
{
    struct amp_shape *out = &ctx->out[0]->shape;
    amp_shape_unknown(out, 1);
    for (uint32_t i = 0; i < 3; i++) {
        const struct amp_tensor *in = ctx->in[i];
        if (in->data == NULL)
            return AMP_OK;
        if (amp_tensor_count(in) != 1)
            return AMP_CTX_FAIL(ctx, "input %u has %zu elements; one is needed", i,
                                amp_tensor_count(in));
    }
    if (amp_dtype_class(ctx->in[0]->dtype) == AMP_CLASS_INT)
        return range_count_int(ctx, &out->dims[0]);
    if (amp_dtype_is_autocast(ctx->in[0]->dtype) || ctx->in[0]->dtype == AMP_DOUBLE)
        return range_count_float(ctx, &out->dims[0]);
    return amp_no_kernel(ctx, ctx->in[0]->dtype);
}

/* Every element is start + i * delta by itself, so that no error adds up. */
typedef void range_fn(const void *start, const void *delta, void *to, int64_t count);

#define SHARED_LOOP _Pragma("omp parallel for simd if (count >= AMP_PARALLEL_MIN)")
#define RANGE_FLOAT(DTYPE, T)                                                                \
    static void range_##DTYPE(const void *start, const void *delta, void *to, int64_t count) \
    {                                                                                        \
        T first = *(const T *)start, step = *(const T *)delta, *out = to;                    \
        SHARED_LOOP for (int64_t i = 0; i < count; i++) out[i] = first + (T)i * step;        \
    }
#define RANGE_INT(DTYPE, T)                                                                  \
    static void range_##DTYPE(const void *start, const void *delta, void *to, int64_t count) \
    {                                                                                        \
        T first = *(const T *)start, step = *(const T *)delta, *out = to;                    \
        SHARED_LOOP for (int64_t i = 0; i < count; i++) out[i] =                             \
            (T)((uint64_t)first + (uint64_t)i * (uint64_t)step);                             \
    }
AMP_FLOAT_TYPES(RANGE_FLOAT)
AMP_SIGNED_TYPES(RANGE_INT)

static enum amp_status range_run(struct amp_ctx *ctx)
{
    static range_fn *const kernels[AMP_DTYPE_COUNT] = {AMP_FLOAT_TYPES(AMP_ROW, range)
                                                           AMP_SIGNED_TYPES(AMP_ROW, range)};
    struct amp_tensor *out = ctx->out[0];
    range_fn *kernel;
    int64_t stash = amp_node_int(ctx->node, "stash_type", AMP_FLOAT);
    if (stash != AMP_FLOAT)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "stash_type %lld; only 1 (float) is implemented",
                        (long long)stash);
    AMP_PICK(ctx, kernel, kernels, out->dtype);
    kernel(ctx->in[0]->data, ctx->in[2]->data, out->data, out->shape.dims[0]);
    return AMP_OK;
}

const struct amp_op amp_op_range = {
    .name = "Range",
    .meanings = AMP_MEANINGS({AMP_MEANS_COUNT, 1, NULL}),
    .newest = 27,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_C,
    .shape = range_shape,
    .run = range_run,
};

/* ---- OneHot ---- */

/* The axis of the output that is the one-hot dim. */
static enum amp_status one_hot_axis(struct amp_ctx *ctx, int *axis)
{
    return amp_ctx_axis(ctx, amp_node_int(ctx->node, "axis", -1), ctx->in[0]->shape.rank + 1, axis);
}

static enum amp_status one_hot_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    int64_t depth = AMP_DIM_UNKNOWN;
    bool is_known;
    int axis;
    out->rank = -1;
    AMP_TRY(amp_ctx_whole(ctx, 1, &depth, &is_known));
    if (is_known && depth < 0)
        return AMP_CTX_FAIL(ctx, "depth is %lld; at least 0 is needed", (long long)depth);
    if (in->rank < 0)
        return AMP_OK;
    if (in->rank == AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "the output would have rank %d; at most %d is supported",
                            in->rank + 1, AMP_RANK_MAX);
    AMP_TRY(one_hot_axis(ctx, &axis));
    out->rank = in->rank + 1;
    for (int d = 0; d < out->rank; d++)
        out->dims[d] = d == axis ? depth : in->dims[d < axis ? d : d - 1];
    return AMP_OK;
}

static enum amp_status one_hot_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0], *values = ctx->in[2];
    struct amp_tensor *out = ctx->out[0];
    size_t size = amp_dtype_bits(out->dtype) / 8, n = amp_tensor_count(in);
    int axis;
    if (amp_tensor_count(values) != 2)
        return AMP_CTX_FAIL(ctx, "values has %zu elements; two are needed",
                            amp_tensor_count(values));
    AMP_TRY(one_hot_axis(ctx, &axis));
    int64_t depth = out->shape.dims[axis];
    size_t inner = (size_t)amp_shape_product(&out->shape, axis + 1, out->shape.rank);
    amp_fill(out->data, values->data, size, amp_tensor_count(out));
    for (size_t i = 0; i < n; i++) {
        int64_t hot;
        if (!amp_tensor_whole(in, i, &hot) || hot < -depth || hot >= depth)
            continue;
        size_t row = i / inner * (size_t)depth + (size_t)(hot < 0 ? hot + depth : hot);
        memcpy((char *)out->data + (row * inner + i % inner) * size,
               (const char *)values->data + size, size);
    }
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_one_hot = {
    .name = "OneHot",
    .meanings = AMP_MEANINGS({AMP_MEANS_COUNT, 1, NULL}),
    .newest = 11,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .shape = one_hot_shape,
    .run = one_hot_run,
};

/* ---- EyeLike ---- */

static enum amp_status eye_like_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *in = &ctx->in[0]->shape;
    ctx->out[0]->shape = *in;
    if (in->rank < 0)
        amp_shape_unknown(&ctx->out[0]->shape, 2);
    else if (in->rank != 2)
        return AMP_CTX_FAIL(ctx, "the input has %d dims; 2 are needed", in->rank);
    return AMP_OK;
}

/* The bytes of 1, little endian, in every dtype that EyeLike makes. */
static const union one {
    uint64_t integer;
    uint16_t half;
    float single;
    double wide;
} ones[AMP_DTYPE_COUNT] = {
#define ONE(DTYPE, T) [AMP_##DTYPE] = {.integer = 1},
    AMP_INTEGER_TYPES(ONE) AMP_BOOL_TYPE(ONE)
#undef ONE
        [AMP_FLOAT] = {.single = 1},
    [AMP_DOUBLE] = {.wide = 1},
    [AMP_FLOAT16] = {.half = 0x3c00},
    [AMP_BFLOAT16] = {.half = 0x3f80},
};

static enum amp_status eye_like_run(struct amp_ctx *ctx)
{
    struct amp_tensor *out = ctx->out[0];
    int64_t rows = out->shape.dims[0], columns = out->shape.dims[1];
    int64_t k = amp_node_int(ctx->node, "k", 0);
    size_t size = amp_dtype_bits(out->dtype) / 8;
    const union one *one = &ones[out->dtype];
    if (one->integer == 0)
        return amp_no_kernel(ctx, out->dtype);
    amp_fill(out->data, NULL, size, amp_tensor_count(out));
    if (k <= -rows)
        return AMP_OK;
    for (int64_t i = k < 0 ? -k : 0; i < rows && i + k < columns; i++)
        memcpy((char *)out->data + (size_t)(i * columns + i + k) * size, one, size);
    return AMP_OK;
}

const struct amp_op amp_op_eye_like = {
    .name = "EyeLike",
    .reads_shape = true,
    .newest = 22,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_ALL,
    .dtype_attr = &(const struct amp_dtype_attr){.name = "dtype", .outputs = AMP_INPUT(0)},
    .shape = eye_like_shape,
    .run = eye_like_run,
};

/* ---- Trilu ---- */

static enum amp_status trilu_shape(struct amp_ctx *ctx)
{
    int rank = ctx->in[0]->shape.rank;
    ctx->out[0]->shape = ctx->in[0]->shape;
    if (rank >= 0 && rank < 2)
        return AMP_CTX_FAIL(ctx, "the input has rank %d; at least 2 is needed", rank);
    return AMP_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static enum amp_status trilu_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *in = ctx->in[0];
    int rank = in->shape.rank;
    int64_t rows = in->shape.dims[rank - 2], columns = in->shape.dims[rank - 1], k = 0;
    bool is_known, is_upper = amp_node_int(ctx->node, "upper", 1) != 0;
    size_t size = amp_dtype_bits(in->dtype) / 8;
    char *to = ctx->out[0]->data;
    const char *from = in->data;
    if (amp_has_in(ctx, 1))
        AMP_TRY(amp_ctx_whole(ctx, 1, &k, &is_known));
    k = clamp(k, -rows, columns);
    int64_t all_rows = amp_shape_product(&in->shape, 0, rank - 1);
#pragma omp parallel for if (all_rows * columns >= AMP_PARALLEL_MIN)
    for (int64_t i = 0; i < all_rows; i++) {
        /* the diagonal's element is the first of the upper part and the last of the lower one */
        int64_t diagonal = i % rows + k;
        int64_t first = is_upper ? clamp(diagonal, 0, columns) : 0;
        int64_t end = is_upper ? columns : clamp(diagonal + 1, 0, columns);
        char *row = to + (size_t)(i * columns) * size;
        memset(row, 0, (size_t)columns * size);
        memcpy(row + (size_t)first * size, from + (size_t)(i * columns + first) * size,
               (size_t)(end - first) * size);
    }
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_trilu = {
    .name = "Trilu",
    .newest = 14,
    .effect = AMP_PRESERVES_VALUES,
    .native = AMP_NATIVE_ALL,
    .gradient = AMP_GRADIENT({.term = "Same(g)"}),
    .shape = trilu_shape,
    .run = trilu_run,
};
