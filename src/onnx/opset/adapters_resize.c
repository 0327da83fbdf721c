/*
 * Adapters for operators that sample between elements. Source: the definitions of both versions in
 * ONNX's Changelog.md.
 */
#include "onnx/opset/adapters.h"

#include "core/array.h"

#include <string.h>

static const char *upsample_7(struct amp_upgrade *upgrade)
{
    float height = amp_node_float(amp_upgrade_node(upgrade), "height_scale", 0.0f);
    float width = amp_node_float(amp_upgrade_node(upgrade), "width_scale", 0.0f);
    const float items[] = {1.0f, 1.0f, height, width};
    struct amp_attr scales = {.name = "scales", .type = AMP_ATTR_FLOATS, .count = 4};

    if (!(height > 0.0f) || !(width > 0.0f))
        return "it has no scales";
    scales.floats = amp_arena_memdup(upgrade->model->arena, items, sizeof items);
    amp_node_set_attr(upgrade->model, upgrade->node, scales);
    if (strcmp(amp_node_string(amp_upgrade_node(upgrade), "mode", "nearest"), "bilinear") == 0)
        amp_upgrade_set_string(upgrade, "mode", "linear");
    amp_upgrade_drop_attr(upgrade, "height_scale");
    amp_upgrade_drop_attr(upgrade, "width_scale");
    return NULL;
}

static const char *upsample_9(struct amp_upgrade *upgrade)
{
    const struct amp_attr *scales = amp_node_attr(amp_upgrade_node(upgrade), "scales");

    if (scales == NULL || scales->type != AMP_ATTR_FLOATS)
        return "it has no scales";
    amp_upgrade_set_input(
        upgrade, 1,
        amp_upgrade_add_floats(upgrade, "scales", AMP_FLOAT, scales->floats, scales->count));
    amp_upgrade_drop_attr(upgrade, "scales");
    return NULL;
}

/* Resize-10 does what Upsample-9 does. That the scales are at least 1, which Upsample promises, is
   only known here, so the rounding that Resize-11 will need for that is set already. */
static const char *upsample_10(struct amp_upgrade *upgrade)
{
    amp_upgrade_node(upgrade)->op_type = "Resize";
    if (upgrade->target > 10)
        amp_upgrade_set_string(upgrade, "nearest_mode", "floor");
    return NULL;
}

/* Which way Resize-10 goes along the dims of its input. */
struct direction {
    bool enlarges, shrinks;
};

static struct direction direction_of(const struct amp_tensor *scales)
{
    struct direction found = {.enlarges = scales == NULL, .shrinks = scales == NULL};

    for (size_t i = 0; scales != NULL && i < amp_tensor_count(scales); i++) {
        found.enlarges |= amp_tensor_double(scales, i) > 1.0;
        found.shrinks |= amp_tensor_double(scales, i) < 1.0;
    }
    return found;
}

/* The value id of SCALES with 1 for those that do not enlarge (SHRINKS: do not shrink): an
   initializer where the scales are known, else computed by Max or Min. */
static uint32_t split_scales(struct amp_upgrade *upgrade, uint32_t scales, bool shrinks)
{
    const struct amp_tensor *constant = amp_value_at(upgrade->model, scales)->constant;
    float items[AMP_RANK_MAX];

    if (constant == NULL || amp_tensor_count(constant) > AMP_RANK_MAX)
        return amp_upgrade_add_node_before(
            upgrade, shrinks ? "Min" : "Max", scales,
            amp_upgrade_add_floats(upgrade, "one", AMP_FLOAT, &(float){1.0f}, 1), AMP_FLOAT);
    for (size_t i = 0; i < amp_tensor_count(constant); i++) {
        float scale = (float)amp_tensor_double(constant, i);
        items[i] = (scale < 1.0f) == shrinks ? scale : 1.0f;
    }
    return amp_upgrade_add_floats(upgrade, "scales", AMP_FLOAT, items, amp_tensor_count(constant));
}

/* Makes node ID a Resize-11 that does what Resize-10 did, by SCALES that go one way only. */
static void set_resize_11(struct amp_upgrade *upgrade, uint32_t id, const char *rounding,
                          uint32_t scales)
{
    struct amp_upgrade at = {upgrade->model, id, upgrade->version, upgrade->target};

    amp_upgrade_drop_attr(&at, "nearest_mode");
    if (rounding != NULL)
        amp_upgrade_set_string(&at, "nearest_mode", rounding);
    amp_upgrade_set_string(&at, "coordinate_transformation_mode", "asymmetric");
    amp_upgrade_set_input(&at, 1, amp_upgrade_add_floats(&at, "roi", AMP_FLOAT, NULL, 0));
    amp_upgrade_set_input(&at, 2, scales);
}

/* To the nearest, Resize-10 rounds down along the dims that it enlarges and up along those that it
   shrinks, Resize-11 one way along all. So one that goes both ways, or which way is not known,
   becomes two. ONNX does not say how it rounds; this is what its tests and ONNX Runtime have. */
static const char *resize_11(struct amp_upgrade *upgrade)
{
    bool is_nearest =
        strcmp(amp_node_string(amp_upgrade_node(upgrade), "mode", "nearest"), "nearest") == 0;
    struct direction to = direction_of(amp_upgrade_constant(upgrade, 1));
    uint32_t scales = amp_upgrade_input(upgrade, 1), input = amp_upgrade_input(upgrade, 0);

    if (amp_node_attr(amp_upgrade_node(upgrade), "nearest_mode") != NULL)
        to.shrinks = false;
    if (is_nearest && to.enlarges && to.shrinks) {
        uint32_t larger = split_scales(upgrade, scales, false);
        uint32_t value = amp_upgrade_add_node_before(upgrade, "Resize", input, larger,
                                                     amp_upgrade_dtype(upgrade, 0));
        set_resize_11(upgrade, amp_value_at(upgrade->model, value)->producer, "floor", larger);
        scales = split_scales(upgrade, scales, true);
        amp_upgrade_set_input(upgrade, 0, value);
    }
    set_resize_11(upgrade, upgrade->node, is_nearest ? to.shrinks ? "ceil" : "floor" : NULL,
                  scales);
    return NULL;
}

/* The coordinates tf_half_pixel_for_nn lie half an element beyond those of half_pixel: rounded down
   they are those of half_pixel rounded to the nearest, and so on. */
static const char *drop_tf_half_pixel(struct amp_upgrade *upgrade)
{
    const char *mode = amp_node_string(amp_upgrade_node(upgrade), "mode", "nearest");
    const char *rounding =
        amp_node_string(amp_upgrade_node(upgrade), "nearest_mode", "round_prefer_floor");
    const char *becomes = NULL;

    if (strcmp(rounding, "floor") == 0)
        becomes = "round_prefer_ceil";
    if (strcmp(rounding, "round_prefer_floor") == 0)
        becomes = "ceil";
    if (strcmp(mode, "nearest") != 0 || becomes == NULL)
        return "its coordinates, tf_half_pixel_for_nn, are gone, and rounded like this no others "
               "are the same";
    amp_upgrade_set_string(upgrade, "coordinate_transformation_mode", "half_pixel");
    amp_upgrade_set_string(upgrade, "nearest_mode", becomes);
    return NULL;
}

/* From Resize-13 on, the input that does not count is left out, not empty. */
static const char *resize_13(struct amp_upgrade *upgrade)
{
    const char *mode =
        amp_node_string(amp_upgrade_node(upgrade), "coordinate_transformation_mode", "");
    const struct amp_tensor *sizes = amp_upgrade_constant(upgrade, 3);
    bool is_tf_half_pixel = strcmp(mode, "tf_half_pixel_for_nn") == 0;
    const char *obstacle = is_tf_half_pixel ? drop_tf_half_pixel(upgrade) : NULL;

    if (obstacle != NULL)
        return obstacle;
    if (sizes != NULL && amp_tensor_count(sizes) == 0)
        amp_upgrade_set_input(upgrade, 3, AMP_NONE);
    if (amp_upgrade_input(upgrade, 3) != AMP_NONE)
        amp_upgrade_set_input(upgrade, 2, AMP_NONE);
    if (strcmp(mode, "tf_crop_and_resize") != 0)
        amp_upgrade_set_input(upgrade, 1, AMP_NONE);
    return NULL;
}

static const char *roi_align_16(struct amp_upgrade *upgrade)
{
    amp_upgrade_set_string(upgrade, "coordinate_transformation_mode", "output_half_pixel");
    return NULL;
}

static const char *grid_sample_20(struct amp_upgrade *upgrade)
{
    const char *mode = amp_node_string(amp_upgrade_node(upgrade), "mode", "bilinear");

    if (strcmp(mode, "nearest") != 0)
        amp_upgrade_set_string(upgrade, "mode", strcmp(mode, "bicubic") == 0 ? "cubic" : "linear");
    return NULL;
}

static const struct amp_adapter_entry entries[] = {
    {"GridSample", 20, grid_sample_20}, {"Resize", 11, resize_11},   {"Resize", 13, resize_13},
    {"RoiAlign", 16, roi_align_16},     {"Upsample", 7, upsample_7}, {"Upsample", 9, upsample_9},
    {"Upsample", 10, upsample_10},
};

const struct amp_adapter_family amp_adapters_resize = {entries, AMP_COUNT(entries)};
