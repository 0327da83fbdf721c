/*
 * Adapters for attributes that became inputs: axes, sizes, limits, counts. Source: the definitions
 * of both versions in ONNX's Changelog.md.
 */
#include "onnx/opset/adapters.h"

#include "core/array.h"

#include <float.h>

/* No axes and an empty list of them mean the same here: all. */
static const char *axes_to_input(struct amp_upgrade *upgrade)
{
    size_t count;

    amp_node_ints(amp_upgrade_node(upgrade), "axes", &count);
    if (count > 0)
        amp_upgrade_ints_to_input(upgrade, "axes", 1);
    amp_upgrade_drop_attr(upgrade, "axes");
    return NULL;
}

static const char *slice_10(struct amp_upgrade *upgrade)
{
    amp_upgrade_ints_to_input(upgrade, "starts", 1);
    amp_upgrade_ints_to_input(upgrade, "ends", 2);
    amp_upgrade_ints_to_input(upgrade, "axes", 3);
    return NULL;
}

static const char *top_k_10(struct amp_upgrade *upgrade)
{
    int64_t k = amp_node_int(amp_upgrade_node(upgrade), "k", -1);

    amp_upgrade_set_input(upgrade, 1, amp_upgrade_add_ints(upgrade, "k", &k, 1));
    amp_upgrade_drop_attr(upgrade, "k");
    return NULL;
}

/* Moves attribute NAME to the scalar input INDEX, of input 0's type; no input when it is absent or
   NEUTRAL. */
static void float_to_input(struct amp_upgrade *upgrade, const char *name, uint32_t index,
                           float neutral)
{
    float value = amp_node_float(amp_upgrade_node(upgrade), name, neutral);

    if (value < neutral || value > neutral)
        amp_upgrade_set_input(
            upgrade, index,
            amp_upgrade_add_float(upgrade, name, amp_upgrade_dtype(upgrade, 0), value));
    amp_upgrade_drop_attr(upgrade, name);
}

static const char *clip_11(struct amp_upgrade *upgrade)
{
    if (!amp_upgrade_is_float(amp_upgrade_dtype(upgrade, 0)))
        return "its type is not known";
    float_to_input(upgrade, "min", 1, -FLT_MAX);
    float_to_input(upgrade, "max", 2, FLT_MAX);
    return NULL;
}

static const char *pad_11(struct amp_upgrade *upgrade)
{
    size_t count;

    if (!amp_upgrade_is_float(amp_upgrade_dtype(upgrade, 0)))
        return "its type is not known";
    const int64_t *pads = amp_node_ints(amp_upgrade_node(upgrade), "pads", &count);
    amp_upgrade_set_input(upgrade, 1, amp_upgrade_add_ints(upgrade, "pads", pads, count));
    amp_upgrade_drop_attr(upgrade, "pads");
    float_to_input(upgrade, "value", 2, 0.0f);
    return NULL;
}

static const char *scatter_11(struct amp_upgrade *upgrade)
{
    amp_upgrade_node(upgrade)->op_type = "ScatterElements";
    return NULL;
}

static const char *split_13(struct amp_upgrade *upgrade)
{
    amp_upgrade_ints_to_input(upgrade, "split", 1);
    return NULL;
}

static const char *split_18(struct amp_upgrade *upgrade)
{
    if (amp_upgrade_input(upgrade, 1) == AMP_NONE)
        amp_node_set_int(upgrade->model, upgrade->node, "num_outputs",
                         amp_upgrade_node(upgrade)->n_outputs);
    return NULL;
}

static const char *dft_20(struct amp_upgrade *upgrade)
{
    int64_t axis = amp_node_int(amp_upgrade_node(upgrade), "axis", 1);

    amp_upgrade_set_input(upgrade, 2, amp_upgrade_add_int(upgrade, "axis", axis));
    amp_upgrade_drop_attr(upgrade, "axis");
    return NULL;
}

static const struct amp_adapter_entry entries[] = {
    {"Clip", 11, clip_11},
    {"DFT", 20, dft_20},
    {"Pad", 11, pad_11},
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
    {"Scatter", 11, scatter_11},
    {"Slice", 10, slice_10},
    {"Split", 13, split_13},
    {"Split", 18, split_18},
    {"Squeeze", 13, axes_to_input},
    {"TopK", 10, top_k_10},
    {"Unsqueeze", 13, axes_to_input},
};

const struct amp_adapter_family amp_adapters_inputs = {entries, AMP_COUNT(entries)};
