/*
 * Random values for graph inputs. Takes a model and one of its inputs, gives a plan (type, shape,
 * range) and, for a seed and a sample, the tensor. An integer input whose elements reach a Gather
 * as indices stays within the dim that they index, so that most models can run on the values.
 * Assumes that types are inferred; changes nothing in the model.
 */
#include "check/random_input.h"

#include "core/array.h"
#include "core/graph/uses.h"
#include "core/hash.h"
#include "core/number/random.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an integer input indexes ----------------------------------------------------------- */

/* The least dim that the second input of a node addresses, as INDEXING says; INT64_MAX when not
   known. */
static int64_t addressed_dim(const struct amp_model *model, const struct amp_node *node,
                             enum amp_indexing indexing)
{
    struct amp_shape data;
    amp_value_shape(amp_value_at(model, node->inputs[0]), &data);
    if (data.rank <= 0)
        return INT64_MAX;
    int64_t axis = amp_node_int(node, "axis", 0), least = INT64_MAX;
    int first = (int)(axis < 0 ? axis + data.rank : axis), last = first;
    if (indexing == AMP_INDEXES_DIMS) {
        first = 0;
        last = data.rank - 1;
    }
    for (int i = first; i >= 0 && i < data.rank && i <= last; i++)
        if (data.dims[i] >= 0 && data.dims[i] < least)
            least = data.dims[i];
    return least;
}

/* Whether the first output of a node holds the values of its first input. */
static bool passes_values(const struct amp_op *op)
{
    return op->role == AMP_ROLE_CAST || op->effect == AMP_PRESERVES_VALUES;
}

struct amp_random_planner {
    const struct amp_model *model;
    struct amp_uses uses;
    bool *is_seen;      /* per value */
    uint32_t *to_visit; /* a stack; no value gets there twice */
    size_t n_to_visit;
};

static void visit_later(struct amp_random_planner *planner, uint32_t value)
{
    if (value == AMP_NONE || planner->is_seen[value])
        return;
    planner->is_seen[value] = true;
    planner->to_visit[planner->n_to_visit++] = value;
}

/* Follows one use of a value: gives the dim that the value is an index into, INT64_MAX where it is
   none, and visits the output later where the value moves there unchanged. */
static int64_t visit_use(struct amp_random_planner *planner, struct amp_use use)
{
    const struct amp_node *node = amp_node_at(planner->model, use.node);
    const struct amp_op *op = amp_op_of(node);
    if (op == NULL)
        return INT64_MAX;
    if (use.slot == 1 && op->indexing != AMP_INDEXES_NOTHING && node->inputs[0] != AMP_NONE)
        return addressed_dim(planner->model, node, op->indexing);
    if (use.slot == 0 && node->n_outputs > 0 && passes_values(op))
        visit_later(planner, node->outputs[0]);
    return INT64_MAX;
}

/* The least dim that VALUE, or a value that nodes move it to unchanged, is an index into; INT64_MAX
   when none is known. The marks in is_seen stay set, since no value gets the elements of two
   inputs. */
static int64_t indexed_dim(struct amp_random_planner *planner, uint32_t value)
{
    int64_t least = INT64_MAX;
    visit_later(planner, value);
    while (planner->n_to_visit > 0) {
        uint32_t at = planner->to_visit[--planner->n_to_visit];
        for (uint32_t i = planner->uses.first[at]; i < planner->uses.first[at + 1]; i++) {
            int64_t dim = visit_use(planner, planner->uses.items[i]);
            least = dim < least ? dim : least;
        }
    }
    return least;
}

struct amp_random_planner *amp_random_planner_create(const struct amp_model *model)
{
    struct amp_random_planner *planner = amp_xmalloc(1, sizeof *planner);
    *planner =
        (struct amp_random_planner){.model = model,
                                    .uses = amp_uses_create(model),
                                    .is_seen = amp_xcalloc(model->n_values, sizeof(bool)),
                                    .to_visit = amp_xcalloc(model->n_values, sizeof(uint32_t))};
    return planner;
}

void amp_random_planner_destroy(struct amp_random_planner *planner)
{
    amp_uses_destroy(&planner->uses);
    free(planner->is_seen);
    free(planner->to_visit);
    free(planner);
}

/* ---- planning -------------------------------------------------------------------------------- */

static void plan_integers(struct amp_random_planner *planner, uint32_t value,
                          struct amp_random_input *plan)
{
    unsigned bits = amp_dtype_bits(plan->dtype);
    bool is_signed = amp_dtype_class(plan->dtype) == AMP_CLASS_INT;
    plan->kind = AMP_RANDOM_INTEGERS;
    plan->lowest = 0;
    plan->highest = 1;
    if (plan->dtype == AMP_BOOL)
        return;
    int64_t dim = bits >= 32 ? indexed_dim(planner, value) : INT64_MAX;
    if (bits <= 8) {
        plan->lowest = is_signed ? -(1 << (bits - 1)) : 0;
        plan->highest = plan->lowest + (1 << bits) - 1;
    } else if (dim < INT64_MAX) {
        plan->highest = dim > 0 ? dim - 1 : 0;
    } else if (strcasestr(amp_value_at(planner->model, value)->name, "mask") != NULL) {
        plan->kind = AMP_RANDOM_ONES;
    }
}

static enum amp_status plan_kind(struct amp_random_planner *planner, uint32_t value,
                                 struct amp_random_input *plan, struct amp_error *err)
{
    switch (amp_dtype_class(plan->dtype)) {
    case AMP_CLASS_FLOAT:
        plan->kind = AMP_RANDOM_NORMAL;
        return AMP_OK;
    case AMP_CLASS_INT:
    case AMP_CLASS_UINT:
    case AMP_CLASS_BOOL:
        plan_integers(planner, value, plan);
        return AMP_OK;
    case AMP_CLASS_STRING:
        plan->kind = AMP_RANDOM_EMPTY;
        return AMP_OK;
    case AMP_CLASS_NONE:
    case AMP_CLASS_COMPLEX:
        break;
    }
    return amp_fail(err, AMP_UNSUPPORTED,
                    "input '%s': no random values of type %s; give it with --input",
                    amp_value_at(planner->model, value)->name, amp_dtype_name(plan->dtype));
}

enum amp_status amp_random_planner_plan(struct amp_random_planner *planner, uint32_t value,
                                        const int64_t *sizes, struct amp_random_input *plan,
                                        struct amp_error *err)
{
    const struct amp_model *model = planner->model;
    const struct amp_value *input = amp_value_at(model, value);
    if (input->kind != AMP_KIND_TENSOR && input->kind != AMP_KIND_UNKNOWN)
        return amp_fail(err, AMP_UNSUPPORTED,
                        "input '%s': no random values of type %s; give it with --input or --data",
                        input->name, amp_kind_name(input->kind));
    *plan = (struct amp_random_input){.dtype = input->dtype,
                                      .stream = amp_hash_fnv(input->name, strlen(input->name), 0)};
    amp_value_shape(input, &plan->shape);
    if (plan->shape.rank < 0)
        return amp_fail(err, AMP_USAGE,
                        "input '%s' has no declared rank: give it with --input or --data",
                        input->name);
    for (int i = 0; i < plan->shape.rank; i++) {
        int64_t *dim = &plan->shape.dims[i];
        if (*dim < 0)
            *dim = amp_dim_symbol(model, *dim) ? sizes[AMP_DIM_UNKNOWN - 1 - *dim] : 1;
    }
    return plan_kind(planner, value, plan, err);
}

enum amp_status amp_random_input_plan(const struct amp_model *model, uint32_t value,
                                      const int64_t *sizes, struct amp_random_input *plan,
                                      struct amp_error *err)
{
    struct amp_random_planner *planner = amp_random_planner_create(model);
    enum amp_status status = amp_random_planner_plan(planner, value, sizes, plan, err);
    amp_random_planner_destroy(planner);
    return status;
}

char *amp_random_input_text(const struct amp_random_input *plan, char *text, size_t size)
{
    static const char *const texts[] = {[AMP_RANDOM_NORMAL] = "random",
                                        [AMP_RANDOM_INTEGERS] = "random",
                                        [AMP_RANDOM_ONES] = "ones",
                                        [AMP_RANDOM_EMPTY] = "empty"};
    snprintf(text, size, "%s", texts[plan->kind]);
    if (plan->kind == AMP_RANDOM_INTEGERS && plan->dtype != AMP_BOOL)
        snprintf(text, size, "random, %" PRId64 " to %" PRId64, plan->lowest, plan->highest);
    return text;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void fill_floats(struct amp_tensor *tensor, struct amp_random *random)
{
    float *elements = tensor->data;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = amp_random_normal(random);
}

static void fill_integers(const struct amp_random_input *plan, struct amp_tensor *tensor,
                          struct amp_random *random)
{
    int64_t *elements = tensor->data;
    bool is_random = plan->kind == AMP_RANDOM_INTEGERS;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = is_random ? amp_random_between(random, plan->lowest, plan->highest) : 1;
}

static void fill_strings(struct amp_tensor *tensor)
{
    struct amp_str *elements = tensor->data;
    for (size_t i = 0; i < amp_tensor_count(tensor); i++)
        elements[i] = (struct amp_str){.data = "", .size = 0};
}

/* The dtype that values are made in before they are cast to the plan's dtype. */
static enum amp_dtype made_dtype(const struct amp_random_input *plan)
{
    static const enum amp_dtype dtypes[] = {[AMP_RANDOM_NORMAL] = AMP_FLOAT,
                                            [AMP_RANDOM_INTEGERS] = AMP_INT64,
                                            [AMP_RANDOM_ONES] = AMP_INT64,
                                            [AMP_RANDOM_EMPTY] = AMP_STRING};
    return dtypes[plan->kind];
}

enum amp_status amp_random_input_make(const struct amp_random_input *plan, uint64_t seed,
                                      uint64_t sample, struct amp_tensor *tensor,
                                      struct amp_error *err)
{
    struct amp_tensor made = {.dtype = made_dtype(plan), .shape = plan->shape};
    struct amp_random random = amp_random_start(seed, sample << 32 | plan->stream);
    *tensor = (struct amp_tensor){.data = NULL};
    AMP_TRY(amp_tensor_alloc(&made, err));
    if (made.dtype == AMP_STRING)
        fill_strings(&made);
    else if (made.dtype == AMP_FLOAT)
        fill_floats(&made, &random);
    else
        fill_integers(plan, &made, &random);
    enum amp_status status = amp_tensor_cast_copy(&made, plan->dtype, tensor, err);
    amp_tensor_release(&made);
    return status;
}
