/*
 * Types that follow from attributes of the operators of ai.onnx.ml, and from the grouping of inputs
 * in those of ai.onnx.preview.training.
 */
#include "onnx/schema/infer_ml.h"

#include "core/array.h"
#include "core/tensor.h"

#include <string.h>

/* The type of output 0: of the first row of the operator whose attribute is there. */
static const struct label_type {
    const char *op_type;
    const char *attr;     /* NULL: in any case */
    enum amp_dtype dtype; /* AMP_UNDEFINED: of the attribute's tensor */
} label_types[] = {
    {"LabelEncoder", "values_strings", AMP_STRING},
    {"LabelEncoder", "values_int64s", AMP_INT64},
    {"LabelEncoder", "values_floats", AMP_FLOAT},
    {"LabelEncoder", "values_tensor", AMP_UNDEFINED},
    {"LinearClassifier", "classlabels_strings", AMP_STRING},
    {"LinearClassifier", NULL, AMP_INT64},
    {"SVMClassifier", "classlabels_strings", AMP_STRING},
    {"SVMClassifier", NULL, AMP_INT64},
    {"TreeEnsembleClassifier", "classlabels_strings", AMP_STRING},
    {"TreeEnsembleClassifier", NULL, AMP_INT64},
};

static enum amp_dtype label_dtype(const struct amp_node *node)
{
    for (size_t k = 0; k < AMP_COUNT(label_types); k++) {
        const struct label_type *type = &label_types[k];
        if (strcmp(type->op_type, node->op_type) != 0)
            continue;
        const struct amp_attr *attr = type->attr ? amp_node_attr(node, type->attr) : NULL;
        if (type->attr != NULL && (attr == NULL || attr->count == 0))
            continue;
        if (type->dtype != AMP_UNDEFINED)
            return type->dtype;
        return attr != NULL && attr->type == AMP_ATTR_TENSOR ? attr->tensors[0]->dtype
                                                             : AMP_UNDEFINED;
    }
    return AMP_UNDEFINED;
}

static enum amp_dtype cast_dtype(const struct amp_node *node)
{
    static const struct {
        const char *name;
        enum amp_dtype dtype;
    } types[] = {{"TO_FLOAT", AMP_FLOAT}, {"TO_STRING", AMP_STRING}, {"TO_INT64", AMP_INT64}};
    const char *to = amp_node_string(node, "cast_to", "TO_FLOAT");
    for (size_t k = 0; k < AMP_COUNT(types); k++)
        if (strcmp(to, types[k].name) == 0)
            return types[k].dtype;
    return AMP_UNDEFINED;
}

static enum amp_dtype input_dtype(const struct amp_model *model, const struct amp_node *node,
                                  uint32_t i)
{
    bool is_there = i < node->n_inputs && node->inputs[i] != AMP_NONE;
    return is_there ? amp_value_at(model, node->inputs[i])->dtype : AMP_UNDEFINED;
}

/* Operators that map strings to integers and back. */
static bool maps_both_ways(const struct amp_node *node)
{
    return strcmp(node->op_type, "CategoryMapper") == 0 ||
           (strcmp(node->op_type, "LabelEncoder") == 0 && node->since_version == 1);
}

/* Optimizers: behind rate and count, groups of as many inputs as there are tensors, values and
   gradients first, then states; values and states come out. */
static enum amp_dtype state_dtype(const struct amp_model *model, const struct amp_node *node,
                                  uint32_t i)
{
    uint32_t groups = strcmp(node->op_type, "Adam") == 0 ? 4 : 3;
    uint32_t n = node->n_inputs < 2 ? 0 : (node->n_inputs - 2) / groups;
    if (n == 0)
        return AMP_UNDEFINED;
    return input_dtype(model, node, 2 + (i < n ? i : i + n));
}

enum amp_dtype amp_infer_ml(const struct amp_model *model, const struct amp_node *node, uint32_t i)
{
    if (strcmp(node->domain, "ai.onnx.preview.training") == 0)
        return strcmp(node->op_type, "Gradient") == 0 ? AMP_UNDEFINED : state_dtype(model, node, i);
    if (i > 0 || strcmp(node->domain, "ai.onnx.ml") != 0)
        return AMP_UNDEFINED;
    if (maps_both_ways(node)) {
        enum amp_dtype from = input_dtype(model, node, 0);
        return from == AMP_STRING ? AMP_INT64 : from == AMP_INT64 ? AMP_STRING : AMP_UNDEFINED;
    }
    return strcmp(node->op_type, "CastMap") == 0 ? cast_dtype(node) : label_dtype(node);
}
