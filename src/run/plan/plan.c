/*
 * Plans a model's execution: takes the sorted graphs, rewrites them and gives the steps that run,
 * in order, with what is known of each before it runs. It assumes inferred types, and refuses nodes
 * without a kernel. It computes no values.
 */
#include "run/plan/plan.h"

#include "core/cpu.h"
#include "run/plan/attention.h"
#include "run/plan/cast_elision.h"
#include "run/plan/compute_dtype.h"
#include "run/plan/layouts.h"
#include "run/plan/lifetimes.h"
#include "run/plan/post_ops.h"
#include "run/rewrite/fuse_composites.h"
#include "run/rewrite/gradient.h"
#include "run/rewrite/squeeze_pieces.h"

static enum amp_status find_op(const struct amp_model *model, uint32_t id, const struct amp_op **op,
                               struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    *op = amp_op_of(node);
    /* What the schema table lacks does not exist at the model's opset, or is not what we know. */
    if (node->schema != NULL && *op != NULL && (*op)->run != NULL &&
        node->since_version <= (*op)->newest)
        return AMP_OK;
    return amp_fail(err, AMP_UNSUPPORTED, "%s: %s: the executor has no kernel for it", model->path,
                    amp_node_text(model, id, text, sizeof text));
}

/* The first of VALUES whose dtype OP has nothing for; NULL: there is none. */
static const struct amp_value *find_lacking(const struct amp_model *model, const struct amp_op *op,
                                            const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct amp_value *value =
            values[i] == AMP_NONE ? NULL : amp_value_at(model, values[i]);
        if (value != NULL && op->lacks & AMP_DTYPE_BIT(value->dtype))
            return value;
    }
    return NULL;
}

static enum amp_status find_kernel(const struct amp_model *model, uint32_t id,
                                   const struct amp_op **op, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    char text[512];
    AMP_TRY(find_op(model, id, op, err));
    const struct amp_value *value = find_lacking(model, *op, node->inputs, node->n_inputs);
    if (value == NULL)
        value = find_lacking(model, *op, node->outputs, node->n_outputs);
    if (value == NULL)
        return AMP_OK;
    return amp_fail(err, AMP_UNSUPPORTED, "%s: %s: '%s' is %s; the executor has no kernel for that",
                    model->path, amp_node_text(model, id, text, sizeof text), value->name,
                    amp_dtype_name(value->dtype));
}

/* Maps have no one dtype. */
static bool is_known(const struct amp_value *value)
{
    if (value->kind == AMP_KIND_MAP || value->kind == AMP_KIND_MAP_SEQUENCE)
        return true;
    return value->kind != AMP_KIND_UNKNOWN && value->kind != AMP_KIND_SPARSE_TENSOR &&
           value->dtype != AMP_UNDEFINED;
}

/* Inference has held types against the schema, which kernels rely on; here they must be known. */
static enum amp_status check_values(const struct amp_model *model, uint32_t id,
                                    const uint32_t *values, uint32_t count, struct amp_error *err)
{
    char text[512];
    for (uint32_t i = 0; i < count; i++) {
        const struct amp_value *value =
            values[i] == AMP_NONE ? NULL : amp_value_at(model, values[i]);
        if (value == NULL || is_known(value))
            continue;
        amp_node_text(model, id, text, sizeof text);
        if (value->kind != AMP_KIND_SPARSE_TENSOR)
            return amp_fail(err, AMP_MODEL, "%s: %s: the type of '%s' is not known", model->path,
                            text, value->name);
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: %s: '%s' is a sparse tensor; the executor has none", model->path, text,
                        value->name);
    }
    return AMP_OK;
}

static enum amp_status check_types(const struct amp_model *model, uint32_t id,
                                   struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    AMP_TRY(check_values(model, id, node->inputs, node->n_inputs, err));
    return check_values(model, id, node->outputs, node->n_outputs, err);
}

static bool is_constant(const struct amp_model *model, const struct amp_node *node)
{
    return node->n_outputs > 0 && node->outputs[0] != AMP_NONE &&
           amp_value_at(model, node->outputs[0])->constant != NULL;
}

/* Whether NODE computes nothing but what is the same in every run. IS_CONSTANT: of values, whether
   nodes compute them so; its outputs get theirs. */
static bool mark_constant(const struct amp_model *model, const struct amp_node *node,
                          const struct amp_op *op, bool *is_constant)
{
    if (op->effect == AMP_OPAQUE)
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && !is_constant[node->inputs[i]] &&
            amp_value_at(model, node->inputs[i])->constant == NULL)
            return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            amp_kind_form(amp_value_at(model, node->outputs[i])->kind) != AMP_FORM_TENSOR)
            return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            is_constant[node->outputs[i]] = true;
    return true;
}

/* Graphs come before the bodies of their nodes. */
static void mark_constants(const struct amp_plan *plan)
{
    const struct amp_model *model = plan->model;
    bool *is_constant = amp_arena_array(plan->arena, model->n_values, sizeof *is_constant);
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < plan->graphs[g].n_steps; i++) {
            struct amp_step *step = &plan->graphs[g].steps[i];
            step->is_constant =
                mark_constant(model, amp_node_at(model, step->node), step->op, is_constant);
        }
}

static enum amp_status make_steps(const struct amp_plan *plan, const struct amp_ids *nodes,
                                  struct amp_plan_graph *graph, struct amp_error *err)
{
    const struct amp_model *model = plan->model;
    graph->steps = amp_arena_array(plan->arena, nodes->count, sizeof *graph->steps);
    for (size_t i = 0; i < nodes->count; i++) {
        struct amp_step *step = &graph->steps[graph->n_steps];
        step->node = nodes->items[i];
        if (is_constant(model, amp_node_at(model, step->node)))
            continue;
        AMP_TRY(find_kernel(model, step->node, &step->op, err));
        AMP_TRY(check_types(model, step->node, err));
        graph->n_steps++;
    }
    return AMP_OK;
}

/* Makes of a step per node those that run. */
static void join_steps(const struct amp_plan *plan, enum amp_strictness strictness)
{
    struct amp_plan_builder builder = amp_plan_builder_create(plan);
    if (strictness == AMP_FREE) {
        amp_plan_add_post_ops(&builder);
        amp_plan_elide_casts(&builder);
    }
    amp_plan_choose_dtypes(&builder, strictness != AMP_FREE);
    amp_plan_note_layout_wishes(&builder);
    if (strictness == AMP_FREE)
        amp_plan_find_attention(&builder);
    amp_plan_note_last_uses(&builder);
    amp_plan_builder_destroy(&builder);
}

/* Whether float32 convolutions of MODEL are faster in blocks of channels. They are so in networks
   of depthwise convolutions and few channels, by a tenth. In others they win two hundredths on a
   core of one's own, and lose a tenth where another program runs on its other half: they read from
   memory for each multiplication, channels-last kernels hold more in registers. Where groups have
   several channels, these fill no blocks, or kernels for blocks are slower by half. Where the CPU
   hides its caches, oneDNN cannot cut work for channels-last kernels. */
static bool blocks_channels(const struct amp_model *model)
{
    bool wins = !amp_cpu_tells_caches();
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        const struct amp_value *w = node->is_removed || !amp_node_has_role(node, AMP_ROLE_CONV)
                                        ? NULL
                                        : amp_value_at(model, node->inputs[1]);
        if (w == NULL || w->rank <= 2 || amp_node_int(node, "group", 1) <= 1)
            continue;
        if (w->dims[1] != 1)
            return false;
        wins = true;
    }
    return wins;
}

static enum amp_status fill(struct amp_plan *plan, enum amp_strictness strictness,
                            struct amp_error *err)
{
    AMP_TRY(amp_gradients_expand(&plan->model, plan->arena, err));
    if (strictness != AMP_LITERAL)
        plan->model = amp_pieces_squeeze(plan->model, plan->arena, &plan->n_squeezed);
    if (strictness == AMP_FREE)
        plan->model = amp_composites_fuse(plan->model, plan->arena, &plan->n_integer);
    const struct amp_model *model = plan->model;
    plan->graphs = amp_arena_array(plan->arena, model->n_graphs, sizeof *plan->graphs);
    for (size_t g = 0; g < model->n_graphs; g++)
        AMP_TRY(make_steps(plan, &model->graphs[g].nodes, &plan->graphs[g], err));
    plan->blocks_channels = blocks_channels(model);
    mark_constants(plan);
    join_steps(plan, strictness);
    return AMP_OK;
}

enum amp_status amp_plan_create(const struct amp_model *model, enum amp_strictness strictness,
                                const struct amp_plan **plan, struct amp_error *err)
{
    struct amp_arena *arena = amp_arena_create();
    struct amp_plan *made = amp_arena_array(arena, 1, sizeof *made);
    made->arena = arena;
    made->model = model;
    enum amp_status status = fill(made, strictness, err);
    if (status == AMP_OK)
        *plan = made;
    else
        amp_plan_destroy(made);
    return status;
}

void amp_plan_destroy(const struct amp_plan *plan)
{
    if (plan != NULL)
        amp_arena_destroy(plan->arena);
}

uint32_t amp_plan_find_unsupported(const struct amp_model *model)
{
    const struct amp_op *op;
    for (size_t g = 0; g < model->n_graphs; g++)
        for (size_t i = 0; i < model->graphs[g].nodes.count; i++) {
            uint32_t id = model->graphs[g].nodes.items[i];
            if (!is_constant(model, amp_node_at(model, id)) &&
                find_kernel(model, id, &op, NULL) != AMP_OK)
                return id;
        }
    return AMP_NONE;
}
