/*
 * Adapters for attributes that became inputs: axes, sizes, limits, counts. Source: the definitions
 * of both versions in ONNX's Changelog.md.
 */
#include "onnx/opset/adapter.h"

#include "core/array.h"

#include <float.h>

/* No axes and an empty list of them mean the same here: all. */
static const char *axes_to_input(struct amp_step *step)
{
    size_t count;

    amp_node_ints(amp_step_node(step), "axes", &count);
    if (count > 0)
        amp_step_ints_to_input(step, "axes", 1);
    amp_step_drop_attr(step, "axes");
    return NULL;
}

static const char *slice_10(struct amp_step *step)
{
    amp_step_ints_to_input(step, "starts", 1);
    amp_step_ints_to_input(step, "ends", 2);
    amp_step_ints_to_input(step, "axes", 3);
    return NULL;
}

static const char *top_k_10(struct amp_step *step)
{
    int64_t k = amp_node_int(amp_step_node(step), "k", -1);

    amp_step_set_input(step, 1, amp_step_ints(step, "k", &k, 1));
    amp_step_drop_attr(step, "k");
    return NULL;
}

/* Moves attribute NAME to the scalar input SLOT, of input 0's type; no input when it is absent or
   NEUTRAL. */
static void float_to_input(struct amp_step *step, const char *name, uint32_t slot, float neutral)
{
    float value = amp_node_float(amp_step_node(step), name, neutral);

    if (value < neutral || value > neutral)
        amp_step_set_input(step, slot, amp_step_float(step, name, amp_step_dtype(step, 0), value));
    amp_step_drop_attr(step, name);
}

static const char *clip_11(struct amp_step *step)
{
    if (!amp_step_is_float(amp_step_dtype(step, 0)))
        return "its type is not known";
    float_to_input(step, "min", 1, -FLT_MAX);
    float_to_input(step, "max", 2, FLT_MAX);
    return NULL;
}

static const char *pad_11(struct amp_step *step)
{
    size_t count;

    if (!amp_step_is_float(amp_step_dtype(step, 0)))
        return "its type is not known";
    const int64_t *pads = amp_node_ints(amp_step_node(step), "pads", &count);
    amp_step_set_input(step, 1, amp_step_ints(step, "pads", pads, count));
    amp_step_drop_attr(step, "pads");
    float_to_input(step, "value", 2, 0.0f);
    return NULL;
}

static const char *scatter_11(struct amp_step *step)
{
    amp_step_node(step)->op_type = "ScatterElements";
    return NULL;
}

static const char *split_13(struct amp_step *step)
{
    amp_step_ints_to_input(step, "split", 1);
    return NULL;
}

static const char *split_18(struct amp_step *step)
{
    if (amp_step_input(step, 1) == AMP_NONE)
        amp_node_set_int(step->model, step->node, "num_outputs", amp_step_node(step)->n_outputs);
    return NULL;
}

static const char *dft_20(struct amp_step *step)
{
    int64_t axis = amp_node_int(amp_step_node(step), "axis", 1);

    amp_step_set_input(step, 2, amp_step_int(step, "axis", axis));
    amp_step_drop_attr(step, "axis");
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

const struct amp_adapters amp_adapters_inputs = {entries, AMP_COUNT(entries)};
