/*
 * Whether two versions of an operator mean the same for a node that was written for the older one.
 * Takes two entries of the schema table, gives the first difference in words. The signatures answer
 * that for most steps from one version to the next; the operators' descriptors tell the exceptions
 * (amp_op.changes), found by reading the definitions of all versions side by side. Looks at no
 * node.
 */
#include "onnx/schema/difference.h"

#include "ops/op.h"

#include <string.h>

/* What the operator's descriptor says of the step to TO; NULL: the signatures tell it. */
static const struct amp_version_change *find_change(const struct amp_schema *to)
{
    const struct amp_op *op = amp_op_find(to->domain, to->name);
    const struct amp_version_change *change = op != NULL ? op->changes : NULL;
    while (change != NULL && change->since != 0 && change->since != to->since_version)
        change++;
    return change != NULL && change->since != 0 ? change : NULL;
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
    const struct amp_version_change *change = find_change(to);

    if (change != NULL)
        return change->difference;
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
    while (from != to) {
        const struct amp_schema *next = amp_schema_next(from);
        const char *found =
            next != NULL ? step_difference(from, next) : "not a newer version of the operator";
        if (found != NULL)
            return found;
        from = next;
    }
    return NULL;
}
