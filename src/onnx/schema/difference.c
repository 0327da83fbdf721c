/*
 * Whether two versions of an operator mean the same for a node that was written for the older one.
 * The signatures in the schema table answer that for most steps from one version to the next; the
 * exceptions are in a table here, found by reading the definitions of all versions side by side.
 */
#include "onnx/schema/schema.h"

#include "core/array.h"

#include <stddef.h>
#include <string.h>

/* A step to version SINCE of OP where the signatures give the wrong answer. */
struct exception {
    const char *op;
    int since;
    const char *difference; /* NULL: compatible all the same */
};

static const struct exception exceptions[] = {
    {"Clip", 6, NULL}, /* limits that were not given became the largest numbers */
    {"Erf", 13, NULL}, /* the integer types that it lost were never defined for it */
    {"GRU", 3, NULL},  /* only the default's spelling, "foward", was mended */
    {"GroupNormalization", 21, "scale and bias are per channel, no longer per group"},
    {"LayerNormalization", 17, NULL}, /* version 1 is ONNX Runtime's, which ONNX took over */
    {"PRelu", 7, "the slope is broadcast as NumPy does, no longer along the channels"},
    {"Resize", 13, "tf_half_pixel_for_nn is gone and scales must be left out when sizes are given"},
    {"RoiAlign", 16, "the default coordinates are shifted by half a pixel"},
    {"Split", 18, "num_outputs is needed when no split is given"},
};

static const struct exception *find_exception(const struct amp_schema *to)
{
    for (size_t i = 0; i < AMP_COUNT(exceptions); i++)
        if (exceptions[i].since == to->since_version && to->domain[0] == '\0' &&
            strcmp(exceptions[i].op, to->name) == 0)
            return &exceptions[i];
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const char *attrs_difference(const struct amp_schema *from, const struct amp_schema *to)
{
    for (size_t i = 0; i < from->n_attrs; i++) {
        const struct amp_schema_attr *old = &from->attrs[i];
        const struct amp_schema_attr *new = amp_schema_attr(to, old->name);
        if (new == NULL && strcmp(old->name, "consumed_inputs") == 0)
            continue;
        if (new == NULL)
            return "an attribute was removed";
        if (new->type != old->type)
            return "an attribute changed its type";
        if (!same_text(new->default_text, old->default_text))
            return "an attribute changed its default";
        if (new->required && !old->required)
            return "an attribute became required";
    }
    for (size_t i = 0; i < to->n_attrs; i++)
        if (to->attrs[i].required && amp_schema_attr(from, to->attrs[i].name) == NULL)
            return "a required attribute was added";
    return NULL;
}

/* Whether TYPE allows all that OLD allows. */
static bool covers(const struct amp_schema_type *type, const struct amp_schema_type *old)
{
    return (old->tensors & ~type->tensors) == 0 && (old->sequences & ~type->sequences) == 0 &&
           (old->optionals & ~type->optionals) == 0 &&
           (old->optional_sequences & ~type->optional_sequences) == 0 &&
           (type->has_maps || !old->has_maps);
}

/* Whether parameter NEW takes whatever OLD took. */
static bool param_grew(const struct amp_schema_param *old, const struct amp_schema_param *new)
{
    if (old->option == AMP_PARAM_VARIADIC || new->option == AMP_PARAM_VARIADIC)
        return old->option == new->option &&new->min_arity <= old->min_arity &&
               (old->homogeneous || !new->homogeneous);
    return new->option == old->option || new->option == AMP_PARAM_OPTIONAL;
}

/* One side of an operator, inputs or outputs. */
struct side {
    const struct amp_schema *schema;
    const struct amp_schema_param *params;
    size_t count;
};

static const char *params_difference(struct side from, struct side to)
{
    if (to.count < from.count)
        return "an input or output was removed";
    for (size_t i = 0; i < from.count; i++) {
        if (!param_grew(&from.params[i], &to.params[i]))
            return "an input or output became required or another";
        if (!covers(amp_schema_type(to.schema, &to.params[i]),
                    amp_schema_type(from.schema, &from.params[i])))
            return "an input or output takes fewer types";
    }
    for (size_t i = from.count; i < to.count; i++)
        if (to.params[i].option == AMP_PARAM_SINGLE)
            return "a required input or output was added";
    return NULL;
}

static const char *step_difference(const struct amp_schema *from, const struct amp_schema *to)
{
    const struct exception *exception = find_exception(to);

    if (exception != NULL)
        return exception->difference;
    if (to->deprecated)
        return "deprecated";
    const char *found = attrs_difference(from, to);
    if (found == NULL)
        found = params_difference((struct side){from, from->inputs, from->n_inputs},
                                  (struct side){to, to->inputs, to->n_inputs});
    if (found == NULL)
        found = params_difference((struct side){from, from->outputs, from->n_outputs},
                                  (struct side){to, to->outputs, to->n_outputs});
    return found;
}

const char *amp_schema_difference(const struct amp_schema *from, const struct amp_schema *to)
{
    while (from != NULL && from != to) {
        const struct amp_schema *next = amp_schema_next(from);
        const char *found =
            next != NULL ? step_difference(from, next) : "not a newer version of the operator";
        if (found != NULL)
            return found;
        from = next;
    }
    return NULL;
}
