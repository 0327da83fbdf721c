/*
 * Adapters: what to do to a node when a newer definition of its operator says the same in another
 * way. Each takes one step, from the definition before to the named one; the table at the end lists
 * them. An adapter checks first and rewrites then; it returns why a node cannot be rewritten.
 * Source: the definitions of both versions in ONNX's Changelog.md.
 */
#include "onnx/opset_step.h"

#include "core/array.h"

#include <float.h>
#include <string.h>

static const struct amp_node *node_of(const struct amp_step *step)
{
    return amp_step_node(step);
}

static bool is_float(enum amp_dtype dtype)
{
    return dtype == AMP_DOUBLE || amp_dtype_is_autocast(dtype);
}

static const char *drop_attr(struct amp_step *step, const char *name)
{
    amp_step_drop_attr(step, name);
    return NULL;
}

/* Moves attribute NAME, a list of integers, to input SLOT. Absent: no input. */
static const char *ints_to_input(struct amp_step *step, const char *name, uint32_t slot)
{
    size_t count;
    const int64_t *items = amp_node_ints(node_of(step), name, &count);

    if (items != NULL)
        amp_step_set_input(step, slot, amp_step_ints(step, name, items, count));
    return drop_attr(step, name);
}

/* No axes and an empty list of them mean the same here: all. */
static const char *axes_to_input(struct amp_step *step)
{
    size_t count;

    amp_node_ints(node_of(step), "axes", &count);
    return count > 0 ? ints_to_input(step, "axes", 1) : drop_attr(step, "axes");
}

/* Attribute NAME of type float becomes an integer. Absent stays absent. */
static const char *float_to_int(struct amp_step *step, const char *name)
{
    const struct amp_attr *attr = amp_node_attr(node_of(step), name);

    if (attr == NULL || attr->type != AMP_ATTR_FLOAT)
        return NULL;
    int64_t whole = (int64_t)attr->floats[0];
    if ((float)whole != attr->floats[0])
        return "its order p is not a whole number";
    amp_node_set_int(step->model, step->node, name, whole);
    return NULL;
}

static const char *pad_2(struct amp_step *step)
{
    const struct amp_attr *old = amp_node_attr(node_of(step), "paddings");

    if (old == NULL)
        return "it has no paddings";
    struct amp_attr pads = *old;
    pads.name = "pads";
    pads.origin = NULL;
    amp_node_set_attr(step->model, step->node, pads);
    return drop_attr(step, "paddings");
}

static const char *split_2(struct amp_step *step)
{
    const struct amp_tensor *sizes = amp_step_constant(step, 1);

    if (amp_step_input(step, 1) != AMP_NONE) {
        if (sizes == NULL)
            return "the sizes of its parts are computed";
        size_t count = amp_tensor_count(sizes);
        int64_t *items = amp_arena_array(step->model->arena, count, sizeof *items);
        for (size_t i = 0; i < count; i++)
            items[i] = (int64_t)amp_tensor_double(sizes, i);
        struct amp_attr split = {.name = "split", .type = AMP_ATTR_INTS, .count = count};
        split.ints = items;
        amp_node_set_attr(step->model, step->node, split);
    }
    amp_step_node(step)->n_inputs = 1;
    return NULL;
}

static const char *lp_pool_2(struct amp_step *step)
{
    if (amp_node_attr(node_of(step), "kernel_shape") == NULL)
        return "it has no kernel_shape";
    return float_to_int(step, "p");
}

static const char *global_lp_pool_2(struct amp_step *step)
{
    return float_to_int(step, "p");
}

static const char *concat_4(struct amp_step *step)
{
    if (amp_node_attr(node_of(step), "axis") == NULL)
        amp_node_set_int(step->model, step->node, "axis", 1);
    return NULL;
}

static const char *reshape_5(struct amp_step *step)
{
    size_t count;
    const int64_t *shape = amp_node_ints(node_of(step), "shape", &count);

    amp_step_set_input(step, 1, amp_step_ints(step, "shape", shape, count));
    return drop_attr(step, "shape");
}

/* Tile-1 repeats along one axis; Tile-6 takes a count for each. */
static const char *tile_6(struct amp_step *step)
{
    const struct amp_tensor *tiles = amp_step_constant(step, 1), *axis = amp_step_constant(step, 2);
    int64_t repeats[AMP_RANK_MAX];
    int rank = amp_step_shape(step, 0).rank;

    if (tiles == NULL || axis == NULL || amp_tensor_count(tiles) != 1 || rank < 0 ||
        amp_tensor_count(axis) != 1)
        return "the axis and how often it repeats along it are not known";
    double at = amp_tensor_double(axis, 0);
    if (!(at >= 0 && at < rank))
        return "its axis does not fit the rank of its input";
    for (int i = 0; i < rank; i++)
        repeats[i] = i == (int)at ? (int64_t)amp_tensor_double(tiles, 0) : 1;
    amp_step_set_input(step, 1, amp_step_ints(step, "repeats", repeats, (size_t)rank));
    amp_step_node(step)->n_inputs = 2;
    return NULL;
}

/* The names of TensorProto.DataType, one of which Cast-1 has in `to`. */
static const char *const dtype_names[AMP_DTYPE_COUNT] = {
#define X(id, number, name, bits, class) [AMP_##id] = #id,
    AMP_DTYPE_LIST(X)
#undef X
};

static const char *cast_6(struct amp_step *step)
{
    const char *to = amp_node_string(node_of(step), "to", "");

    for (int i = AMP_FLOAT; i < AMP_DTYPE_COUNT; i++)
        if (strcmp(dtype_names[i], to) == 0) {
            amp_node_set_int(step->model, step->node, "to", i);
            return NULL;
        }
    return "the type it casts to is not known";
}

/* Selu-6 has other defaults than Selu-1. */
static const char *selu_6(struct amp_step *step)
{
    float alpha = amp_node_float(node_of(step), "alpha", 1.6732f);
    float gamma = amp_node_float(node_of(step), "gamma", 1.0507f);

    amp_step_set_float(step, "alpha", alpha);
    amp_step_set_float(step, "gamma", gamma);
    return NULL;
}

/* Gives input SLOT, whose rank is RANK, TRAILING more dims of 1. */
static void add_trailing_dims(struct amp_step *step, uint32_t slot, int rank, int trailing)
{
    const struct amp_tensor *constant = amp_step_constant(step, slot);
    int64_t dims[AMP_RANK_MAX] = {0}; /* 0: the dim stays, as Reshape has it */
    uint32_t input = amp_step_input(step, slot), value;

    for (int i = 0; i < trailing; i++)
        dims[rank + i] = 1;
    if (constant != NULL) {
        struct amp_shape shape = constant->shape;
        shape.rank = rank + trailing;
        for (int i = 0; i < trailing; i++)
            shape.dims[rank + i] = 1;
        value = amp_step_reshaped(step, "reshaped", constant, &shape);
    } else {
        uint32_t shape = amp_step_ints(step, "dims", dims, (size_t)rank + (size_t)trailing);
        enum amp_dtype dtype = amp_step_dtype(step, slot);
        value = amp_step_add_before(step, "Reshape", input, shape, dtype);
    }
    amp_step_set_input(step, slot, value);
}

/* Before opset 7, B was broadcast only when told to, and its dims could start at `axis` of A's. */
static const char *legacy_broadcast(struct amp_step *step)
{
    const struct amp_attr *axis = amp_node_attr(node_of(step), "axis");
    int a = amp_step_shape(step, 0).rank, b = amp_step_shape(step, 1).rank;

    if (axis != NULL && amp_node_int(node_of(step), "broadcast", 0) != 0) {
        if (a < 0 || b < 0)
            return "it broadcasts along an axis and the rank of its inputs is not known";
        int64_t start = axis->ints[0] < 0 ? axis->ints[0] + a : axis->ints[0];
        int64_t trailing = a - start - b;
        if (trailing < 0 || trailing > a || a > AMP_RANK_MAX)
            return "its axis does not fit the rank of its inputs";
        if (trailing > 0)
            add_trailing_dims(step, 1, b, (int)trailing);
    }
    amp_step_drop_attr(step, "axis");
    return drop_attr(step, "broadcast");
}

static const char *gemm_7(struct amp_step *step)
{
    return drop_attr(step, "broadcast");
}

/* PRelu-6 has one slope for all or one per channel; PRelu-7 broadcasts as NumPy does. */
static const char *prelu_7(struct amp_step *step)
{
    struct amp_shape slope = amp_step_shape(step, 1);
    int rank = amp_step_shape(step, 0).rank;

    if (amp_shape_count(&slope) == 1 || slope.rank > 1 || rank == 2)
        return NULL;
    if (slope.rank != 1 || rank < 2 || rank > AMP_RANK_MAX)
        return "the shapes of its input and its slope are not known";
    add_trailing_dims(step, 1, 1, rank - 2);
    return NULL;
}

/* Drops the outputs beyond the first, which have a meaning in training only. */
static const char *drop_training_outputs(struct amp_step *step)
{
    for (uint32_t i = 1; i < node_of(step)->n_outputs; i++)
        if (amp_step_is_used(step, i))
            return "outputs that it has in training only are used";
    amp_step_trim_outputs(step, 1);
    return NULL;
}

/* Up to opset 6 it depends on the outputs that are there whether the node is training. */
static const char *drop_is_test(struct amp_step *step)
{
    amp_step_drop_attr(step, "is_test");
    return drop_training_outputs(step);
}

static const char *rnn_7(struct amp_step *step)
{
    return drop_attr(step, "output_sequence");
}

static const char *upsample_7(struct amp_step *step)
{
    float height = amp_node_float(node_of(step), "height_scale", 0.0f);
    float width = amp_node_float(node_of(step), "width_scale", 0.0f);
    const float items[] = {1.0f, 1.0f, height, width};
    struct amp_attr scales = {.name = "scales", .type = AMP_ATTR_FLOATS, .count = 4};

    if (!(height > 0.0f) || !(width > 0.0f))
        return "it has no scales";
    scales.floats = amp_arena_memdup(step->model->arena, items, sizeof items);
    amp_node_set_attr(step->model, step->node, scales);
    if (strcmp(amp_node_string(node_of(step), "mode", "nearest"), "bilinear") == 0)
        amp_step_set_string(step, "mode", "linear");
    amp_step_drop_attr(step, "height_scale");
    return drop_attr(step, "width_scale");
}

static const char *batch_norm_9(struct amp_step *step)
{
    if (amp_node_int(node_of(step), "spatial", 1) == 0)
        return "it normalizes per activation (spatial is 0)";
    return drop_attr(step, "spatial");
}

static const char *upsample_9(struct amp_step *step)
{
    const struct amp_attr *scales = amp_node_attr(node_of(step), "scales");

    if (scales == NULL || scales->type != AMP_ATTR_FLOATS)
        return "it has no scales";
    amp_step_set_input(step, 1,
                       amp_step_floats(step, "scales", AMP_FLOAT, scales->floats, scales->count));
    return drop_attr(step, "scales");
}

/* The mask of Dropout-10 is bool. */
static const char *dropout_10(struct amp_step *step)
{
    if (!amp_step_is_used(step, 1)) {
        amp_step_trim_outputs(step, 1);
        return NULL;
    }
    enum amp_dtype dtype = amp_step_dtype(step, 0);
    if (dtype == AMP_UNDEFINED)
        return "the type of its mask is not known";
    uint32_t cast = amp_step_add_after(step, "Cast", 1, AMP_BOOL, AMP_NONE);
    amp_node_set_int(step->model, cast, "to", dtype);
    return NULL;
}

static const char *slice_10(struct amp_step *step)
{
    ints_to_input(step, "starts", 1);
    ints_to_input(step, "ends", 2);
    return ints_to_input(step, "axes", 3);
}

static const char *top_k_10(struct amp_step *step)
{
    int64_t k = amp_node_int(node_of(step), "k", -1);

    amp_step_set_input(step, 1, amp_step_ints(step, "k", &k, 1));
    return drop_attr(step, "k");
}

/* Resize-10 does what Upsample-9 does. That the scales are at least 1, which Upsample promises, is
   only known here, so the rounding that Resize-11 will need for that is set already. */
static const char *upsample_10(struct amp_step *step)
{
    amp_step_node(step)->op_type = "Resize";
    if (step->target > 10)
        amp_step_set_string(step, "nearest_mode", "floor");
    return NULL;
}

/* Moves attribute NAME to the scalar input SLOT, of input 0's type; no input when it is absent or
   NEUTRAL. */
static void float_to_input(struct amp_step *step, const char *name, uint32_t slot, float neutral)
{
    float value = amp_node_float(node_of(step), name, neutral);

    if (value < neutral || value > neutral)
        amp_step_set_input(step, slot, amp_step_float(step, name, amp_step_dtype(step, 0), value));
    amp_step_drop_attr(step, name);
}

static const char *clip_11(struct amp_step *step)
{
    if (!is_float(amp_step_dtype(step, 0)))
        return "its type is not known";
    float_to_input(step, "min", 1, -FLT_MAX);
    float_to_input(step, "max", 2, FLT_MAX);
    return NULL;
}

static const char *pad_11(struct amp_step *step)
{
    size_t count;

    if (!is_float(amp_step_dtype(step, 0)))
        return "its type is not known";
    const int64_t *pads = amp_node_ints(node_of(step), "pads", &count);
    amp_step_set_input(step, 1, amp_step_ints(step, "pads", pads, count));
    amp_step_drop_attr(step, "pads");
    float_to_input(step, "value", 2, 0.0f);
    return NULL;
}

/* How Resize-10 rounds to the nearest: down where it enlarges, up where it shrinks. NULL when that
   is not known or not the same for all dims. ONNX does not say; this is what its tests and ONNX
   Runtime have. */
static const char *resize_10_rounding(const struct amp_tensor *scales)
{
    size_t smaller = 0, larger = 0;

    for (size_t i = 0; scales != NULL && i < amp_tensor_count(scales); i++) {
        smaller += amp_tensor_double(scales, i) < 1.0;
        larger += amp_tensor_double(scales, i) > 1.0;
    }
    if (scales == NULL || (smaller > 0 && larger > 0))
        return NULL;
    return smaller > 0 ? "ceil" : "floor";
}

static const char *resize_11(struct amp_step *step)
{
    const char *mode = amp_node_string(node_of(step), "mode", "nearest");
    const char *rounding = amp_node_string(node_of(step), "nearest_mode", NULL);

    if (rounding == NULL)
        rounding = resize_10_rounding(amp_step_constant(step, 1));
    if (strcmp(mode, "nearest") == 0 && rounding == NULL)
        return "how it rounds to the nearest depends on scales that are not known";
    amp_step_drop_attr(step, "nearest_mode");
    if (strcmp(mode, "nearest") == 0)
        amp_step_set_string(step, "nearest_mode", rounding);
    amp_step_set_string(step, "coordinate_transformation_mode", "asymmetric");
    amp_step_set_input(step, 2, amp_step_input(step, 1));
    amp_step_set_input(step, 1, amp_step_floats(step, "roi", AMP_FLOAT, NULL, 0));
    return NULL;
}

static const char *scatter_11(struct amp_step *step)
{
    amp_step_node(step)->op_type = "ScatterElements";
    return NULL;
}

/* Dropout-12 runs as in training only when an input says so. */
static const char *dropout_12(struct amp_step *step)
{
    float ratio = amp_node_float(node_of(step), "ratio", 0.5f);

    if (amp_node_attr(node_of(step), "ratio") != NULL)
        amp_step_set_input(step, 1, amp_step_float(step, "ratio", AMP_FLOAT, ratio));
    return drop_attr(step, "ratio");
}

/* The axis along which Softmax-13 does what Softmax-11 does over all dims from AXIS on: the only
   one of those with more than one element, or the last. -1 when there is none. */
static int single_axis(const struct amp_shape *shape, int axis)
{
    int found = -1;

    for (int i = axis; i < shape->rank; i++)
        if (shape->dims[i] != 1 && found >= 0)
            return -1;
        else if (shape->dims[i] != 1 || i == shape->rank - 1)
            found = found < 0 ? i : found;
    return found;
}

/* Flatten to two dims, the operator on the second, and back to the shape before. */
static void flatten_softmax(struct amp_step *step, int64_t axis)
{
    struct amp_shape shape = amp_step_shape(step, 0);
    enum amp_dtype dtype = amp_step_dtype(step, 0);
    uint32_t input = amp_step_input(step, 0), dims;

    if (amp_shape_is_known(&shape))
        dims = amp_step_ints(step, "dims", shape.dims, (size_t)shape.rank);
    else
        dims = amp_step_add_before(step, "Shape", input, AMP_NONE, AMP_INT64);
    uint32_t flat = amp_step_add_before(step, "Flatten", input, AMP_NONE, dtype);
    amp_node_set_int(step->model, amp_value_at(step->model, flat)->producer, "axis", axis);
    amp_step_set_input(step, 0, flat);
    amp_node_set_int(step->model, step->node, "axis", -1);
    amp_step_add_after(step, "Reshape", 0, dtype, dims);
}

/* Up to Softmax-11 (LogSoftmax, Hardmax) the dims from `axis` on, default 1, are one. */
static const char *softmax_13(struct amp_step *step)
{
    struct amp_shape shape = amp_step_shape(step, 0);
    int64_t axis = amp_node_int(node_of(step), "axis", 1);
    int64_t start = axis < 0 ? axis + shape.rank : axis;

    if (shape.rank < 0 && axis != -1) {
        flatten_softmax(step, axis);
    } else if (shape.rank >= 0) {
        if (start < 0 || start > shape.rank)
            return "its axis does not fit the rank of its input";
        int single = single_axis(&shape, (int)start);
        if (single >= 0)
            amp_node_set_int(step->model, step->node, "axis", single);
        else
            flatten_softmax(step, start);
    }
    return NULL;
}

static const char *split_13(struct amp_step *step)
{
    return ints_to_input(step, "split", 1);
}

/* From Resize-13 on, the input that does not count is left out, not empty. */
static const char *resize_13(struct amp_step *step)
{
    const char *mode = amp_node_string(node_of(step), "coordinate_transformation_mode", "");

    if (strcmp(mode, "tf_half_pixel_for_nn") == 0)
        return "its coordinates, tf_half_pixel_for_nn, are gone";
    if (amp_step_input(step, 3) != AMP_NONE)
        amp_step_set_input(step, 2, AMP_NONE);
    if (strcmp(mode, "tf_crop_and_resize") != 0)
        amp_step_set_input(step, 1, AMP_NONE);
    return NULL;
}

static const char *roi_align_16(struct amp_step *step)
{
    amp_step_set_string(step, "coordinate_transformation_mode", "output_half_pixel");
    return NULL;
}

static const char *split_18(struct amp_step *step)
{
    if (amp_step_input(step, 1) == AMP_NONE)
        amp_node_set_int(step->model, step->node, "num_outputs", node_of(step)->n_outputs);
    return NULL;
}

static const char *grid_sample_20(struct amp_step *step)
{
    const char *mode = amp_node_string(node_of(step), "mode", "bilinear");

    if (strcmp(mode, "nearest") != 0)
        amp_step_set_string(step, "mode", strcmp(mode, "bicubic") == 0 ? "cubic" : "linear");
    return NULL;
}

static const char *dft_20(struct amp_step *step)
{
    int64_t axis = amp_node_int(node_of(step), "axis", 1);

    amp_step_set_input(step, 2, amp_step_int(step, "axis", axis));
    return drop_attr(step, "axis");
}

/* Repeats each element of input SLOT, one per group, TIMES times. */
static void repeat_elements(struct amp_step *step, uint32_t slot, int64_t times)
{
    enum amp_dtype dtype = amp_step_dtype(step, slot);
    uint32_t column = amp_step_ints(step, "column", (const int64_t[]){-1, 1}, 2);
    uint32_t size = amp_step_ints(step, "repeats", (const int64_t[]){1, times}, 2);
    uint32_t flat = amp_step_ints(step, "flat", (const int64_t[]){-1}, 1);
    uint32_t value = amp_step_input(step, slot);

    value = amp_step_add_before(step, "Reshape", value, column, dtype);
    value = amp_step_add_before(step, "Expand", value, size, dtype);
    value = amp_step_add_before(step, "Reshape", value, flat, dtype);
    amp_step_set_input(step, slot, value);
}

/* Scale and bias are per channel from GroupNormalization-21 on. */
static const char *group_norm_21(struct amp_step *step)
{
    struct amp_shape shape = amp_step_shape(step, 0);
    int64_t groups = amp_node_int(node_of(step), "num_groups", 0);

    if (shape.rank < 2 || shape.dims[1] < 1 || groups < 1 || shape.dims[1] % groups != 0)
        return "the number of its channels is not known";
    if (shape.dims[1] != groups) {
        repeat_elements(step, 1, shape.dims[1] / groups);
        repeat_elements(step, 2, shape.dims[1] / groups);
    }
    return NULL;
}

static const struct {
    const char *op;
    int version;
    amp_adapter *adapt;
} adapters[] = {
    {"Add", 7, legacy_broadcast},
    {"And", 7, legacy_broadcast},
    {"BatchNormalization", 7, drop_is_test},
    {"BatchNormalization", 9, batch_norm_9},
    {"BatchNormalization", 14, drop_training_outputs},
    {"Cast", 6, cast_6},
    {"Clip", 11, clip_11},
    {"Concat", 4, concat_4},
    {"DFT", 20, dft_20},
    {"Div", 7, legacy_broadcast},
    {"Dropout", 7, drop_is_test},
    {"Dropout", 10, dropout_10},
    {"Dropout", 12, dropout_12},
    {"Equal", 7, legacy_broadcast},
    {"GRU", 7, rnn_7},
    {"Gemm", 7, gemm_7},
    {"GlobalLpPool", 2, global_lp_pool_2},
    {"Greater", 7, legacy_broadcast},
    {"GridSample", 20, grid_sample_20},
    {"GroupNormalization", 21, group_norm_21},
    {"Hardmax", 13, softmax_13},
    {"LSTM", 7, rnn_7},
    {"Less", 7, legacy_broadcast},
    {"LogSoftmax", 13, softmax_13},
    {"LpPool", 2, lp_pool_2},
    {"Mul", 7, legacy_broadcast},
    {"Or", 7, legacy_broadcast},
    {"PRelu", 7, prelu_7},
    {"Pad", 2, pad_2},
    {"Pad", 11, pad_11},
    {"Pow", 7, legacy_broadcast},
    {"RNN", 7, rnn_7},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"Reshape", 5, reshape_5},
    {"Resize", 11, resize_11},
    {"Resize", 13, resize_13},
    {"RoiAlign", 16, roi_align_16},
    {"Scatter", 11, scatter_11},
    {"Selu", 6, selu_6},
    {"Slice", 10, slice_10},
    {"Softmax", 13, softmax_13},
    {"Split", 2, split_2},
    {"Split", 13, split_13},
    {"Split", 18, split_18},
    {"Squeeze", 13, axes_to_input},
    {"Sub", 7, legacy_broadcast},
    {"Tile", 6, tile_6},
    {"TopK", 10, top_k_10},
    {"Unsqueeze", 13, axes_to_input},
    {"Upsample", 7, upsample_7},
    {"Upsample", 9, upsample_9},
    {"Upsample", 10, upsample_10},
    {"Xor", 7, legacy_broadcast},
};

amp_adapter *amp_adapter_find(const char *op_type, int version)
{
    for (size_t i = 0; i < AMP_COUNT(adapters); i++)
        if (adapters[i].version == version && strcmp(adapters[i].op, op_type) == 0)
            return adapters[i].adapt;
    return NULL;
}
