/*
 * Replaces composites (pattern/composites.inc) by the operators of the same name, which have one
 * kernel: takes a model whose types are inferred, gives a sorted copy. Which values of a pattern
 * the operator takes as inputs and attributes, its descriptor says (amp_op.fusion). Before that it
 * makes constants of what depends on such alone (compute_constants.h); after it the scales are
 * folded (fold_scales.h) and Reshapes moved (move_reshapes.h).
 */
#include "run/rewrite/fuse_composites.h"

#include "core/array.h"
#include "core/graph/copy.h"
#include "core/graph/order.h"
#include "core/tensor.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"
#include "pattern/composites.h"
#include "pattern/matcher.h"
#include "pattern/pattern.h"
#include "run/rewrite/compute_constants.h"
#include "run/rewrite/fold_scales.h"
#include "run/rewrite/integer_nodes.h"
#include "run/rewrite/move_reshapes.h"

/* A pattern of the list, compiled. */
struct compiled {
    const struct amp_composite *composite;
    struct amp_pattern *pattern;
};

struct fuser {
    struct amp_model *model;
    struct compiled *compiled;
    size_t n_compiled, capacity;
    struct amp_pattern_matcher *matcher;
};

/* A pattern found where FUSION may take its place. */
struct found {
    const struct amp_op *op;
    const struct amp_fusion *fusion; /* OP's */
    const struct amp_composite_match *composite;
    const struct amp_pattern *pattern;
    struct amp_pattern_match match;
};

static uint32_t value_of(const struct found *found, const char *name)
{
    int value = name != NULL ? amp_pattern_value(found->pattern, name) : -1;
    return value < 0 ? AMP_NONE : found->match.values[value];
}

static bool has_part(const struct amp_model *model, const struct found *found, const char *op_type)
{
    for (size_t i = 0; i < found->composite->n_nodes; i++)
        if (amp_node_is(amp_node_at(model, found->composite->nodes[i]), "", op_type))
            return true;
    return false;
}

/* Whether each reduction goes over one axis, which the pattern holds to be among the last. */
static bool is_last_axis(const struct amp_model *model, const struct found *found)
{
    for (size_t i = 0; i < found->composite->n_nodes; i++) {
        const struct amp_node *node = amp_node_at(model, found->composite->nodes[i]);
        size_t count = 0;
        if (!amp_node_has_role(node, AMP_ROLE_REDUCE_MEAN))
            continue;
        amp_node_ints(node, "axes", &count);
        if (node->n_inputs > 1 && node->inputs[1] != AMP_NONE) {
            const struct amp_tensor *axes = amp_value_at(model, node->inputs[1])->constant;
            count = axes != NULL ? amp_tensor_count(axes) : 0;
        }
        if (count != 1)
            return false;
    }
    return true;
}

/* All inputs must be there, of the output's dtype and, but for the first, vectors. */
static bool fits(const struct amp_model *model, const struct found *found)
{
    const struct amp_node *root = amp_node_at(model, found->composite->root);
    enum amp_dtype dtype = amp_value_at(model, root->outputs[0])->dtype;
    for (int i = 0; i <= AMP_FUSION_INPUTS; i++) {
        const char *name =
            i < AMP_FUSION_INPUTS ? found->fusion->inputs[i] : found->fusion->optional;
        uint32_t id = value_of(found, name);
        if (id == AMP_NONE && name != NULL && i < AMP_FUSION_INPUTS)
            return false;
        if (id != AMP_NONE && (amp_value_at(model, id)->dtype != dtype ||
                               (i > 0 && amp_value_at(model, id)->rank != 1)))
            return false;
    }
    uint32_t scalar = value_of(found, found->fusion->scalar);
    return (scalar == AMP_NONE || amp_value_at(model, scalar)->constant != NULL) &&
           (!found->fusion->is_last_axis || is_last_axis(model, found));
}

static void set_inputs(struct amp_model *model, struct amp_node *node, const struct found *found)
{
    node->n_inputs = 0;
    node->inputs = amp_arena_array(model->arena, AMP_FUSION_INPUTS + 1, sizeof *node->inputs);
    for (int i = 0; i < AMP_FUSION_INPUTS && found->fusion->inputs[i] != NULL; i++)
        node->inputs[node->n_inputs++] = value_of(found, found->fusion->inputs[i]);
    uint32_t optional = value_of(found, found->fusion->optional);
    if (optional != AMP_NONE)
        node->inputs[node->n_inputs++] = optional;
}

static void set_attrs(struct amp_model *model, uint32_t root, const struct found *found)
{
    uint32_t scalar = value_of(found, found->fusion->scalar);
    if (scalar != AMP_NONE) {
        const struct amp_tensor *constant = amp_value_at(model, scalar)->constant;
        float value = (float)amp_tensor_double(constant, 0);
        amp_node_set_attr(
            model, root,
            (struct amp_attr){.name = found->fusion->attr,
                              .type = AMP_ATTR_FLOAT,
                              .count = 1,
                              .floats = amp_arena_memdup(model->arena, &value, sizeof value)});
    }
    if (found->fusion->part != NULL && has_part(model, found, found->fusion->part))
        amp_node_set_attr(model, root,
                          (struct amp_attr){.name = found->fusion->form_attr,
                                            .type = AMP_ATTR_STRING,
                                            .count = 1,
                                            .strings = &found->fusion->form});
}

/* Makes the root the operator; the other parts go. */
static void replace(struct amp_model *model, const struct found *found)
{
    uint32_t root = found->composite->root;
    amp_node_become(model, root, found->op->name, found->op->newest);
    set_attrs(model, root, found);
    for (size_t i = 0; i < found->composite->n_nodes; i++)
        if (found->composite->nodes[i] != root)
            amp_node_remove(model, found->composite->nodes[i]);
    set_inputs(model, amp_node_at(model, root), found);
}

/* ---- finding them ---------------------------------------------------------------------------- */

/* NULL where its text is wrong, which tests rule out. */
static struct amp_pattern *compile(struct fuser *fuser, const struct amp_composite *composite)
{
    struct amp_error ignored = {.status = AMP_OK};
    for (size_t i = 0; i < fuser->n_compiled; i++)
        if (fuser->compiled[i].composite == composite)
            return fuser->compiled[i].pattern;
    struct compiled *slot = amp_arena_push(fuser->model->arena, &fuser->compiled,
                                           &fuser->n_compiled, &fuser->capacity, sizeof *slot);
    slot->composite = composite;
    slot->pattern = amp_pattern_parse(fuser->model->arena, composite->text, &ignored);
    return slot->pattern;
}

static bool find(struct fuser *fuser, const struct amp_composite_match *composite,
                 struct found *found)
{
    const struct amp_op *op = amp_op_find("", composite->composite->name);
    if (op == NULL || op->fusion == NULL)
        return false;
    *found = (struct found){.op = op, .fusion = op->fusion, .composite = composite};
    found->pattern = compile(fuser, composite->composite);
    return found->pattern != NULL &&
           amp_pattern_matcher_match(fuser->matcher, found->pattern, composite->root,
                                     &found->match) &&
           fits(fuser->model, found);
}

static void fuse_composites(struct amp_model *model)
{
    struct amp_composites composites;
    struct fuser fuser = {.model = model};
    amp_composites_find(model, NULL, &composites);
    struct found *found = amp_arena_array(model->arena, composites.n_matches, sizeof *found);
    size_t n = 0;
    fuser.matcher = amp_pattern_matcher_create(model);
    for (size_t i = 0; i < composites.n_matches; i++)
        n += find(&fuser, &composites.matches[i], &found[n]);
    amp_pattern_matcher_destroy(fuser.matcher);
    for (size_t i = 0; i < n; i++)
        replace(model, &found[i]);
}

/* A Sum of two, as old exports have it, is an Add, which can be a post-op and takes any layout. */
static void simplify_sums(struct amp_model *model)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (!node->is_removed && amp_node_has_role(node, AMP_ROLE_SUM) && node->n_inputs == 2)
            amp_node_become(model, id, "Add", amp_op_find("", "Add")->newest);
    }
}

struct amp_model *amp_composites_fuse(const struct amp_model *model, struct amp_arena *arena,
                                      size_t *n_integer)
{
    struct amp_model *copy = amp_model_copy(model, arena);
    struct amp_computed computed = {.values = NULL};
    amp_constants_compute(copy, &computed);
    simplify_sums(copy);
    *n_integer = amp_integer_nodes_make(copy);
    fuse_composites(copy);
    amp_scales_fold(copy);
    amp_constants_drop_unread(copy, &computed);
    amp_reshapes_move(copy);
    /* Cycles, its one complaint, do not come about. */
    AMP_IGNORE(amp_graph_sort(copy, NULL, &(struct amp_error){.status = AMP_OK}));
    return copy;
}
