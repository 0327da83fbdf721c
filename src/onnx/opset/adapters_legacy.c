/*
 * Adapters for the definitions of opsets 1 to 6: broadcasting along an axis, types as text, numbers
 * of other types, shapes and axes in other places. Where those said less than later ones do, a node
 * is refused. Source: the definitions of both versions in ONNX's Changelog.md; the experiments that
 * opset 10 dropped become what they were made of (elementwise/scaling.c, tensor/slice.c).
 */
#include "onnx/opset/adapters.h"

#include "core/array.h"

#include <string.h>

/* Attribute NAME of type float becomes an integer. Absent stays absent. */
static const char *float_to_int(struct amp_upgrade *upgrade, const char *name)
{
    const struct amp_attr *attr = amp_node_attr(amp_upgrade_node(upgrade), name);

    if (attr == NULL || attr->type != AMP_ATTR_FLOAT)
        return NULL;
    int64_t whole = (int64_t)attr->floats[0];
    if ((float)whole != attr->floats[0])
        return "its order p is not a whole number";
    amp_node_set_int(upgrade->model, upgrade->node, name, whole);
    return NULL;
}

static const char *pad_2(struct amp_upgrade *upgrade)
{
    const struct amp_attr *old = amp_node_attr(amp_upgrade_node(upgrade), "paddings");

    if (old == NULL)
        return "it has no paddings";
    struct amp_attr pads = *old;
    pads.name = "pads";
    pads.origin = NULL;
    amp_node_set_attr(upgrade->model, upgrade->node, pads);
    amp_upgrade_drop_attr(upgrade, "paddings");
    return NULL;
}

static const char *split_2(struct amp_upgrade *upgrade)
{
    const struct amp_tensor *sizes = amp_upgrade_constant(upgrade, 1);

    if (amp_upgrade_input(upgrade, 1) != AMP_NONE) {
        if (sizes == NULL)
            return "the sizes of its parts are computed";
        size_t count = amp_tensor_count(sizes);
        int64_t *items = amp_arena_array(upgrade->model->arena, count, sizeof *items);
        for (size_t i = 0; i < count; i++)
            items[i] = (int64_t)amp_tensor_double(sizes, i);
        struct amp_attr split = {.name = "split", .type = AMP_ATTR_INTS, .count = count};
        split.ints = items;
        amp_node_set_attr(upgrade->model, upgrade->node, split);
    }
    amp_upgrade_node(upgrade)->n_inputs = 1;
    return NULL;
}

static const char *lp_pool_2(struct amp_upgrade *upgrade)
{
    if (amp_node_attr(amp_upgrade_node(upgrade), "kernel_shape") == NULL)
        return "it has no kernel_shape";
    return float_to_int(upgrade, "p");
}

static const char *global_lp_pool_2(struct amp_upgrade *upgrade)
{
    return float_to_int(upgrade, "p");
}

static const char *concat_4(struct amp_upgrade *upgrade)
{
    if (amp_node_attr(amp_upgrade_node(upgrade), "axis") == NULL)
        amp_node_set_int(upgrade->model, upgrade->node, "axis", 1);
    return NULL;
}

static const char *reshape_5(struct amp_upgrade *upgrade)
{
    size_t count;
    const int64_t *shape = amp_node_ints(amp_upgrade_node(upgrade), "shape", &count);

    amp_upgrade_set_input(upgrade, 1, amp_upgrade_add_ints(upgrade, "shape", shape, count));
    amp_upgrade_drop_attr(upgrade, "shape");
    return NULL;
}

/* Tile-1 repeats along one axis; Tile-6 takes a count for each. */
static const char *tile_6(struct amp_upgrade *upgrade)
{
    const struct amp_tensor *tiles = amp_upgrade_constant(upgrade, 1),
                            *axis = amp_upgrade_constant(upgrade, 2);
    int64_t repeats[AMP_RANK_MAX];
    int rank = amp_upgrade_shape(upgrade, 0).rank;

    if (tiles == NULL || axis == NULL || amp_tensor_count(tiles) != 1 || rank < 0 ||
        amp_tensor_count(axis) != 1)
        return "the axis and how often it repeats along it are not known";
    double at = amp_tensor_double(axis, 0);
    if (!(at >= 0 && at < rank))
        return "its axis does not fit the rank of its input";
    for (int i = 0; i < rank; i++)
        repeats[i] = i == (int)at ? (int64_t)amp_tensor_double(tiles, 0) : 1;
    amp_upgrade_set_input(upgrade, 1,
                          amp_upgrade_add_ints(upgrade, "repeats", repeats, (size_t)rank));
    amp_upgrade_node(upgrade)->n_inputs = 2;
    return NULL;
}

/* The names of TensorProto.DataType, one of which Cast-1 has in `to`. */
static const char *const dtype_names[AMP_DTYPE_COUNT] = {
#define X(id, number, name, bits, class) [AMP_##id] = #id,
    AMP_DTYPE_LIST(X)
#undef X
};

static const char *cast_6(struct amp_upgrade *upgrade)
{
    const char *to = amp_node_string(amp_upgrade_node(upgrade), "to", "");

    for (int i = AMP_FLOAT; i < AMP_DTYPE_COUNT; i++)
        if (strcmp(dtype_names[i], to) == 0) {
            amp_node_set_int(upgrade->model, upgrade->node, "to", i);
            return NULL;
        }
    return "the type it casts to is not known";
}

/* Selu-6 has other defaults than Selu-1. */
static const char *selu_6(struct amp_upgrade *upgrade)
{
    float alpha = amp_node_float(amp_upgrade_node(upgrade), "alpha", 1.6732f);
    float gamma = amp_node_float(amp_upgrade_node(upgrade), "gamma", 1.0507f);

    amp_upgrade_set_float(upgrade, "alpha", alpha);
    amp_upgrade_set_float(upgrade, "gamma", gamma);
    return NULL;
}

/* Gives input INDEX, whose rank is RANK, TRAILING more dims of 1. */
static void add_trailing_dims(struct amp_upgrade *upgrade, uint32_t index, int rank, int trailing)
{
    const struct amp_tensor *constant = amp_upgrade_constant(upgrade, index);
    int64_t dims[AMP_RANK_MAX] = {0}; /* 0: the dim stays, as Reshape has it */
    uint32_t input = amp_upgrade_input(upgrade, index), value;

    for (int i = 0; i < trailing; i++)
        dims[rank + i] = 1;
    if (constant != NULL) {
        struct amp_shape shape = constant->shape;
        shape.rank = rank + trailing;
        for (int i = 0; i < trailing; i++)
            shape.dims[rank + i] = 1;
        value = amp_upgrade_add_reshaped(upgrade, "reshaped", constant, &shape);
    } else {
        uint32_t shape =
            amp_upgrade_add_ints(upgrade, "dims", dims, (size_t)rank + (size_t)trailing);
        enum amp_dtype dtype = amp_upgrade_dtype(upgrade, index);
        value = amp_upgrade_add_node_before(upgrade, "Reshape", input, shape, dtype);
    }
    amp_upgrade_set_input(upgrade, index, value);
}

/* Before opset 7, B was broadcast only when told to, and its dims could start at `axis` of A's. */
static const char *legacy_broadcast(struct amp_upgrade *upgrade)
{
    const struct amp_attr *axis = amp_node_attr(amp_upgrade_node(upgrade), "axis");
    int a = amp_upgrade_shape(upgrade, 0).rank, b = amp_upgrade_shape(upgrade, 1).rank;

    if (axis != NULL && amp_node_int(amp_upgrade_node(upgrade), "broadcast", 0) != 0) {
        if (a < 0 || b < 0)
            return "it broadcasts along an axis and the rank of its inputs is not known";
        int64_t start = axis->ints[0] < 0 ? axis->ints[0] + a : axis->ints[0];
        int64_t trailing = a - start - b;
        if (start < 0 || trailing < 0)
            return "its axis does not fit the rank of its inputs";
        if (trailing > 0)
            add_trailing_dims(upgrade, 1, b, (int)trailing);
    }
    amp_upgrade_drop_attr(upgrade, "axis");
    amp_upgrade_drop_attr(upgrade, "broadcast");
    return NULL;
}

static const char *gemm_7(struct amp_upgrade *upgrade)
{
    amp_upgrade_drop_attr(upgrade, "broadcast");
    return NULL;
}

/* PRelu-6 has one slope for all or one per channel; PRelu-7 broadcasts as NumPy does. */
static const char *prelu_7(struct amp_upgrade *upgrade)
{
    struct amp_shape slope = amp_upgrade_shape(upgrade, 1);
    int rank = amp_upgrade_shape(upgrade, 0).rank;

    if (amp_shape_count(&slope) == 1 || slope.rank > 1 || rank == 2)
        return NULL;
    if (slope.rank != 1 || rank < 2)
        return "the shapes of its input and its slope are not known";
    add_trailing_dims(upgrade, 1, 1, rank - 2);
    return NULL;
}

static const char *rnn_7(struct amp_upgrade *upgrade)
{
    amp_upgrade_drop_attr(upgrade, "output_sequence");
    return NULL;
}

/* ---- experiments that opset 10 dropped --------------------------------------------------------
 */

/* Makes the node OP_TYPE of its input 0 and SECOND, with no attributes. */
static void become_binary(struct amp_upgrade *upgrade, const char *op_type, uint32_t second)
{
    amp_upgrade_node(upgrade)->op_type = op_type;
    amp_upgrade_node(upgrade)->n_attrs = 0;
    amp_upgrade_set_input(upgrade, 1, second);
}

static uint32_t number_of(struct amp_upgrade *upgrade, const char *attr, float fallback)
{
    float value = amp_node_float(amp_upgrade_node(upgrade), attr, fallback);
    return amp_upgrade_add_float(upgrade, attr, amp_upgrade_dtype(upgrade, 0), value);
}

static const char *const no_type = "the type of its input is not known";

static const char *scale_10(struct amp_upgrade *upgrade)
{
    if (!amp_upgrade_is_float(amp_upgrade_dtype(upgrade, 0)))
        return no_type;
    become_binary(upgrade, "Mul", number_of(upgrade, "scale", 1));
    return NULL;
}

static const char *affine_10(struct amp_upgrade *upgrade)
{
    enum amp_dtype dtype = amp_upgrade_dtype(upgrade, 0);
    if (!amp_upgrade_is_float(dtype))
        return no_type;
    amp_upgrade_add_node_after(upgrade, "Add", 0, dtype, number_of(upgrade, "beta", 0));
    become_binary(upgrade, "Mul", number_of(upgrade, "alpha", 1));
    return NULL;
}

/* The biases line up with the channels of [N, C, H, W]. */
static const char *image_scaler_10(struct amp_upgrade *upgrade)
{
    const struct amp_attr *bias = amp_node_attr(amp_upgrade_node(upgrade), "bias");
    enum amp_dtype dtype = amp_upgrade_dtype(upgrade, 0);
    if (!amp_upgrade_is_float(dtype))
        return no_type;
    if (bias != NULL && bias->count > 0) {
        uint32_t flat = amp_upgrade_add_floats(upgrade, "bias", dtype, bias->floats, bias->count);
        struct amp_shape shape = {3, {(int64_t)bias->count, 1, 1}};
        const struct amp_tensor *tensor = amp_value_at(upgrade->model, flat)->constant;
        amp_upgrade_add_node_after(upgrade, "Add", 0, dtype,
                                   amp_upgrade_add_reshaped(upgrade, "biases", tensor, &shape));
    }
    return scale_10(upgrade);
}

/* What bends is between a product with beta and one with alpha. */
static const char *bent_10(struct amp_upgrade *upgrade, const char *op_type)
{
    enum amp_dtype dtype = amp_upgrade_dtype(upgrade, 0);
    struct amp_node *node = amp_upgrade_node(upgrade);
    if (!amp_upgrade_is_float(dtype))
        return no_type;
    if (amp_node_attr(node, "alpha") == NULL || amp_node_attr(node, "beta") == NULL)
        return "it has no alpha or no beta";
    uint32_t alpha = number_of(upgrade, "alpha", 1), beta = number_of(upgrade, "beta", 1);
    uint32_t in = amp_upgrade_input(upgrade, 0);
    amp_upgrade_set_input(upgrade, 0, amp_upgrade_add_node_before(upgrade, "Mul", in, beta, dtype));
    amp_upgrade_add_node_after(upgrade, "Mul", 0, dtype, alpha);
    amp_upgrade_node(upgrade)->op_type = op_type;
    amp_upgrade_node(upgrade)->n_attrs = 0;
    return NULL;
}

static const char *parametric_softplus_10(struct amp_upgrade *upgrade)
{
    return bent_10(upgrade, "Softplus");
}

static const char *scaled_tanh_10(struct amp_upgrade *upgrade)
{
    return bent_10(upgrade, "Tanh");
}

static const char *crop_10(struct amp_upgrade *upgrade)
{
    size_t n_border, n_scale;
    const int64_t *border = amp_node_ints(amp_upgrade_node(upgrade), "border", &n_border);
    const int64_t *scale = amp_node_ints(amp_upgrade_node(upgrade), "scale", &n_scale);
    static const int64_t axes[] = {2, 3};
    if (n_border != 4 || (n_scale != 0 && n_scale != 2))
        return "its border or its scale is not whole";
    int64_t starts[] = {border[1], border[0]}, ends[] = {-border[3], -border[2]};
    for (int i = 0; i < 2; i++) {
        ends[i] = ends[i] == 0 ? INT64_MAX : ends[i];
        ends[i] = n_scale == 2 ? starts[i] + scale[i] : ends[i];
    }
    become_binary(upgrade, "Slice", amp_upgrade_add_ints(upgrade, "starts", starts, 2));
    amp_upgrade_set_input(upgrade, 2, amp_upgrade_add_ints(upgrade, "ends", ends, 2));
    amp_upgrade_set_input(upgrade, 3, amp_upgrade_add_ints(upgrade, "axes", axes, 2));
    return NULL;
}

static const char *dynamic_slice_10(struct amp_upgrade *upgrade)
{
    amp_upgrade_node(upgrade)->op_type = "Slice";
    return NULL;
}

static const char *mean_variance_9(struct amp_upgrade *upgrade)
{
    struct amp_node *node = amp_upgrade_node(upgrade);
    int64_t *axes =
        amp_arena_memdup(upgrade->model->arena, (const int64_t[]){0, 2, 3, 1}, 4 * sizeof *axes);
    bool is_across = amp_node_int(node, "across_channels", 0) != 0;
    if (amp_node_int(node, "normalize_variance", 1) == 0)
        return "it does not divide by the deviation";
    amp_upgrade_drop_attr(upgrade, "across_channels");
    amp_upgrade_drop_attr(upgrade, "normalize_variance");
    struct amp_attr attr = {.name = "axes", .type = AMP_ATTR_INTS, .count = is_across ? 4 : 3};
    attr.ints = axes;
    amp_node_set_attr(upgrade->model, upgrade->node, attr);
    return NULL;
}

static const struct amp_adapter_entry entries[] = {
    {"Add", 7, legacy_broadcast},
    {"Affine", 10, affine_10},
    {"And", 7, legacy_broadcast},
    {"Cast", 6, cast_6},
    {"Concat", 4, concat_4},
    {"Crop", 10, crop_10},
    {"Div", 7, legacy_broadcast},
    {"DynamicSlice", 10, dynamic_slice_10},
    {"Equal", 7, legacy_broadcast},
    {"GRU", 7, rnn_7},
    {"Gemm", 7, gemm_7},
    {"GlobalLpPool", 2, global_lp_pool_2},
    {"Greater", 7, legacy_broadcast},
    {"ImageScaler", 10, image_scaler_10},
    {"LSTM", 7, rnn_7},
    {"Less", 7, legacy_broadcast},
    {"LpPool", 2, lp_pool_2},
    {"MeanVarianceNormalization", 9, mean_variance_9},
    {"Mul", 7, legacy_broadcast},
    {"Or", 7, legacy_broadcast},
    {"PRelu", 7, prelu_7},
    {"Pad", 2, pad_2},
    {"ParametricSoftplus", 10, parametric_softplus_10},
    {"Pow", 7, legacy_broadcast},
    {"RNN", 7, rnn_7},
    {"Reshape", 5, reshape_5},
    {"Scale", 10, scale_10},
    {"ScaledTanh", 10, scaled_tanh_10},
    {"Selu", 6, selu_6},
    {"Split", 2, split_2},
    {"Sub", 7, legacy_broadcast},
    {"Tile", 6, tile_6},
    {"Xor", 7, legacy_broadcast},
};

const struct amp_adapter_family amp_adapters_legacy = {entries, AMP_COUNT(entries)};
