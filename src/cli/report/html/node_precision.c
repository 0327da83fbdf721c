/*
 * What reports say of a node: the dtype that it computes in, as its types show it.
 * Takes any model with types inferred; needs no record of a conversion.
 */
#include "cli/report/html/node_precision.h"

#include "ops/op.h"

static enum amp_dtype first_float(const struct amp_model *model, const uint32_t *values,
                                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] == AMP_NONE)
            continue;
        enum amp_dtype dtype = amp_value_at(model, values[i])->dtype;
        if (amp_dtype_class(dtype) == AMP_CLASS_FLOAT)
            return dtype;
    }
    return AMP_UNDEFINED;
}

enum amp_dtype amp_html_precision(const struct amp_model *model, uint32_t node)
{
    const struct amp_node *at = amp_node_at(model, node);
    return first_float(model, at->outputs, at->n_outputs);
}

bool amp_html_is_cast(const struct amp_model *model, uint32_t node)
{
    const struct amp_node *at = amp_node_at(model, node);
    return amp_node_has_role(at, AMP_ROLE_CAST) &&
           first_float(model, at->inputs, 1) != AMP_UNDEFINED &&
           first_float(model, at->outputs, 1) != AMP_UNDEFINED;
}

const char *amp_html_dtype_class(enum amp_dtype dtype)
{
    return amp_dtype_is_lower(dtype)                   ? "low"
           : dtype == AMP_FLOAT || dtype == AMP_DOUBLE ? "full"
                                                       : "other";
}

const char *amp_html_dtype_text(enum amp_dtype dtype)
{
    return dtype == AMP_UNDEFINED ? "no floats" : amp_dtype_short_name(dtype);
}
