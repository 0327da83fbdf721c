/*
 * Adapters for normalizations, softmaxes and dropout. Source: the definitions of both versions in
 * ONNX's Changelog.md.
 */
#include "onnx/opset/adapters.h"

#include "core/array.h"

/* Drops the outputs beyond the first, which have a meaning in training only. */
static const char *drop_training_outputs(struct amp_upgrade *upgrade)
{
    for (uint32_t i = 1; i < amp_upgrade_node(upgrade)->n_outputs; i++)
        if (amp_upgrade_is_used(upgrade, i))
            return "outputs that it has in training only are used";
    amp_upgrade_trim_outputs(upgrade, 1);
    return NULL;
}

/* Up to BatchNormalization-6 is_test says that the node is not training; from 7 on outputs beyond Y
   say that it is. */
static const char *batch_norm_7(struct amp_upgrade *upgrade)
{
    bool is_test = amp_node_int(amp_upgrade_node(upgrade), "is_test", 0) != 0;

    amp_upgrade_drop_attr(upgrade, "is_test");
    return is_test ? drop_training_outputs(upgrade) : NULL;
}

/* Whether there is an output beyond Y, which up to BatchNormalization-9 means training. */
static bool is_training(const struct amp_upgrade *upgrade)
{
    const struct amp_node *node = amp_upgrade_node(upgrade);

    for (uint32_t i = 1; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            return true;
    return false;
}

/* Gives input INDEX rank 1. */
static void flatten_input(struct amp_upgrade *upgrade, uint32_t index)
{
    const struct amp_tensor *constant = amp_upgrade_constant(upgrade, index);
    uint32_t value;

    if (constant != NULL) {
        struct amp_shape shape = {.rank = 1, .dims = {amp_shape_count(&constant->shape)}};
        value = amp_upgrade_add_reshaped(upgrade, "flat", constant, &shape);
    } else {
        uint32_t dims = amp_upgrade_add_ints(upgrade, "dims", (const int64_t[]){-1}, 1);
        value = amp_upgrade_add_node_before(upgrade, "Reshape", amp_upgrade_input(upgrade, index),
                                            dims, amp_upgrade_dtype(upgrade, index));
    }
    amp_upgrade_set_input(upgrade, index, value);
}

/* BatchNormalization-9 has one scale, bias, mean and variance per channel. Where there is one for
   every activation (spatial is 0), the activations are made channels. */
static const char *batch_norm_9(struct amp_upgrade *upgrade)
{
    if (amp_node_int(amp_upgrade_node(upgrade), "spatial", 1) == 0 &&
        amp_upgrade_shape(upgrade, 0).rank != 2) {
        if (is_training(upgrade))
            return "it is trained per activation (spatial is 0)";
        for (uint32_t index = 1; index < 5; index++)
            flatten_input(upgrade, index);
        amp_upgrade_flatten(upgrade, 1);
    }
    amp_upgrade_drop_attr(upgrade, "spatial");
    return NULL;
}

/* BatchNormalization-14 is told that it is training, and keeps the running statistics only. */
static const char *batch_norm_14(struct amp_upgrade *upgrade)
{
    if (!is_training(upgrade)) {
        amp_upgrade_trim_outputs(upgrade, 1);
        return NULL;
    }
    if (amp_upgrade_is_used(upgrade, 3) || amp_upgrade_is_used(upgrade, 4))
        return "saved_mean or saved_var, which are gone, are used";
    amp_upgrade_trim_outputs(upgrade, 3);
    amp_node_set_int(upgrade->model, upgrade->node, "training_mode", 1);
    return NULL;
}

/* Dropout has a mask in training only. */
static const char *dropout_7(struct amp_upgrade *upgrade)
{
    amp_upgrade_drop_attr(upgrade, "is_test");
    return drop_training_outputs(upgrade);
}

/* The mask of Dropout-10 is bool. */
static const char *dropout_10(struct amp_upgrade *upgrade)
{
    if (!amp_upgrade_is_used(upgrade, 1)) {
        amp_upgrade_trim_outputs(upgrade, 1);
        return NULL;
    }
    enum amp_dtype dtype = amp_upgrade_dtype(upgrade, 0);
    if (dtype == AMP_UNDEFINED)
        return "the type of its mask is not known";
    uint32_t cast = amp_upgrade_add_node_after(upgrade, "Cast", 1, AMP_BOOL, AMP_NONE);
    amp_node_set_int(upgrade->model, cast, "to", dtype);
    return NULL;
}

/* Dropout-12 runs as in training only when an input says so. */
static const char *dropout_12(struct amp_upgrade *upgrade)
{
    float ratio = amp_node_float(amp_upgrade_node(upgrade), "ratio", 0.5f);

    if (amp_node_attr(amp_upgrade_node(upgrade), "ratio") != NULL)
        amp_upgrade_set_input(upgrade, 1,
                              amp_upgrade_add_float(upgrade, "ratio", AMP_FLOAT, ratio));
    amp_upgrade_drop_attr(upgrade, "ratio");
    return NULL;
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

/* Flattened to two dims, the operator works on the second. */
static void flatten_softmax(struct amp_upgrade *upgrade, int64_t axis)
{
    amp_upgrade_flatten(upgrade, axis);
    amp_node_set_int(upgrade->model, upgrade->node, "axis", -1);
}

/* Up to Softmax-11 (LogSoftmax, Hardmax) the dims from `axis` on, default 1, are one. */
static const char *softmax_13(struct amp_upgrade *upgrade)
{
    struct amp_shape shape = amp_upgrade_shape(upgrade, 0);
    int64_t axis = amp_node_int(amp_upgrade_node(upgrade), "axis", 1);
    int64_t start = axis < 0 ? axis + shape.rank : axis;

    if (shape.rank < 0 && axis != -1) {
        flatten_softmax(upgrade, axis);
    } else if (shape.rank >= 0) {
        if (start < 0 || start > shape.rank)
            return "its axis does not fit the rank of its input";
        int single = single_axis(&shape, (int)start);
        if (single >= 0)
            amp_node_set_int(upgrade->model, upgrade->node, "axis", single);
        else
            flatten_softmax(upgrade, start);
    }
    return NULL;
}

/* Adds nodes that compute the dims [1, n], where n is the channels of input 0 divided by GROUPS,
   and returns their value id. */
static uint32_t group_size(struct amp_upgrade *upgrade, int64_t groups)
{
    struct amp_model *model = upgrade->model;
    uint32_t one = amp_upgrade_add_ints(upgrade, "one", (const int64_t[]){1}, 1);
    uint32_t count = amp_upgrade_add_ints(upgrade, "groups", &groups, 1),
             input = amp_upgrade_input(upgrade, 0);
    uint32_t channels = amp_upgrade_add_node_before(upgrade, "Shape", input, AMP_NONE, AMP_INT64);
    uint32_t shape = amp_value_at(model, channels)->producer;

    amp_node_set_int(model, shape, "start", 1);
    amp_node_set_int(model, shape, "end", 2);
    uint32_t size = amp_upgrade_add_node_before(upgrade, "Div", channels, count, AMP_INT64);
    uint32_t dims = amp_upgrade_add_node_before(upgrade, "Concat", one, size, AMP_INT64);
    amp_node_set_int(model, amp_value_at(model, dims)->producer, "axis", 0);
    return dims;
}

/* Repeats each element of input INDEX, one per group, as DIMS say: [1, times]. */
static void repeat_elements(struct amp_upgrade *upgrade, uint32_t index, uint32_t dims)
{
    enum amp_dtype dtype = amp_upgrade_dtype(upgrade, index);
    uint32_t column = amp_upgrade_add_ints(upgrade, "column", (const int64_t[]){-1, 1}, 2);
    uint32_t flat = amp_upgrade_add_ints(upgrade, "flat", (const int64_t[]){-1}, 1);
    uint32_t value = amp_upgrade_input(upgrade, index);

    value = amp_upgrade_add_node_before(upgrade, "Reshape", value, column, dtype);
    value = amp_upgrade_add_node_before(upgrade, "Expand", value, dims, dtype);
    value = amp_upgrade_add_node_before(upgrade, "Reshape", value, flat, dtype);
    amp_upgrade_set_input(upgrade, index, value);
}

/* Scale and bias are per channel from GroupNormalization-21 on. TIMES: how many channels a group
   has; 0: it is to be computed. */
static void groups_to_channels(struct amp_upgrade *upgrade, int64_t groups, int64_t times)
{
    uint32_t dims = AMP_NONE;

    for (uint32_t index = 1; index < 3; index++) {
        const struct amp_tensor *constant = amp_upgrade_constant(upgrade, index);
        if (constant != NULL && times > 0) {
            const char *what = index == 1 ? "scale" : "bias";
            amp_upgrade_set_input(upgrade, index,
                                  amp_upgrade_add_repeated(upgrade, what, constant, times));
            continue;
        }
        if (dims == AMP_NONE)
            dims = times > 0
                       ? amp_upgrade_add_ints(upgrade, "repeats", (const int64_t[]){1, times}, 2)
                       : group_size(upgrade, groups);
        repeat_elements(upgrade, index, dims);
    }
}

static const char *group_norm_21(struct amp_upgrade *upgrade)
{
    struct amp_shape shape = amp_upgrade_shape(upgrade, 0);
    int64_t groups = amp_node_int(amp_upgrade_node(upgrade), "num_groups", 0);
    int64_t channels = shape.rank >= 2 && shape.dims[1] >= 0 ? shape.dims[1] : 0;

    if (groups < 1 || channels % groups != 0)
        return "its channels cannot be divided into its groups";
    if (channels != groups)
        groups_to_channels(upgrade, groups, channels / groups);
    return NULL;
}

static const struct amp_adapter_entry entries[] = {
    {"BatchNormalization", 7, batch_norm_7},
    {"BatchNormalization", 9, batch_norm_9},
    {"BatchNormalization", 14, batch_norm_14},
    {"Dropout", 7, dropout_7},
    {"Dropout", 10, dropout_10},
    {"Dropout", 12, dropout_12},
    {"GroupNormalization", 21, group_norm_21},
    {"Hardmax", 13, softmax_13},
    {"LogSoftmax", 13, softmax_13},
    {"Softmax", 13, softmax_13},
};

const struct amp_adapter_family amp_adapters_norm = {entries, AMP_COUNT(entries)};
