/*
 * Replaces each Gradient node by the nodes that compute it: takes a model with inferred types,
 * gives a sorted copy with inferred types. It differentiates the part of the graph between the
 * named tensors and y in reverse mode. It does not know the derivatives of single operators: the
 * rules of their descriptors say them.
 */
#include "run/rewrite/gradient.h"

#include "core/graph/copy.h"
#include "core/graph/order.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "ops/op.h"
#include "run/rewrite/gradient_condition.h"
#include "run/rewrite/gradient_term.h"
#include "run/rewrite/unroll_recurrence.h"

#include <string.h>

static const char training[] = "ai.onnx.preview.training";

/* A node between the named tensors and y. */
struct stage {
    uint32_t origin; /* the node in the graph, by whose values the arrays below count */
    uint32_t node;   /* it, or its copy on the values that the Gradient node gets */
};

/* One Gradient node while it is expanded; arrays by the ids of values before that. */
struct pass {
    struct amp_model *model;
    struct amp_error *err;
    uint32_t node, graph; /* the Gradient node and its graph, which new nodes go to */
    const struct amp_str *xs, *zs;
    uint32_t n_xs, n_zs;
    uint32_t y;
    bool *is_named;     /* among xs and zs */
    bool *is_needed;    /* for y, up to what is named */
    bool *varies;       /* with the xs */
    uint32_t *now;      /* the value that stands for it */
    uint32_t *gradient; /* of y by it; AMP_NONE: none so far */
    struct stage *stages;
    size_t n_stages, stages_capacity;
};

static enum amp_status fail(const struct pass *pass, enum amp_status status, const char *what,
                            const char *name)
{
    char text[512];
    return amp_fail(pass->err, status, "%s: %s: %s '%s'", pass->model->path,
                    amp_node_text(pass->model, pass->node, text, sizeof text), what, name);
}

/* ---- what the node says ---------------------------------------------------------------------- */

/* Finds the value called NAME where the Gradient node stands. */
static enum amp_status find_value(const struct pass *pass, const char *name, uint32_t *id)
{
    const struct amp_model *model = pass->model;
    for (uint32_t graph = pass->graph;;
         graph = amp_node_at(model, model->graphs[graph].owner)->graph) {
        for (*id = 0; *id < model->n_values; ++*id)
            if (amp_value_at(model, *id)->graph == graph &&
                strcmp(amp_value_at(model, *id)->name, name) == 0)
                return AMP_OK;
        if (model->graphs[graph].owner == AMP_NONE)
            return fail(pass, AMP_MODEL, "there is no tensor", name);
    }
}

static const struct amp_str *read_names(const struct amp_node *node, const char *name,
                                        uint32_t *count)
{
    const struct amp_attr *attr = amp_node_attr(node, name);
    *count = attr != NULL && attr->type == AMP_ATTR_STRINGS ? (uint32_t)attr->count : 0;
    return *count > 0 ? attr->strings : NULL;
}

static enum amp_status read_node(struct pass *pass)
{
    const struct amp_node *node = amp_node_at(pass->model, pass->node);
    const char *y = amp_node_string(node, "y", NULL);
    char text[512];
    pass->xs = read_names(node, "xs", &pass->n_xs);
    pass->zs = read_names(node, "zs", &pass->n_zs);
    if (y == NULL || pass->n_xs == 0)
        return fail(pass, AMP_MODEL, "there is no attribute", y == NULL ? "y" : "xs");
    if (node->n_inputs != (size_t)pass->n_xs + pass->n_zs || node->n_outputs > pass->n_xs)
        return amp_fail(pass->err, AMP_MODEL,
                        "%s: %s: %u inputs and %u outputs for %u names in xs and %u in zs",
                        pass->model->path,
                        amp_node_text(pass->model, pass->node, text, sizeof text), node->n_inputs,
                        node->n_outputs, pass->n_xs, pass->n_zs);
    return find_value(pass, y, &pass->y);
}

static bool is_real(const struct pass *pass, uint32_t value)
{
    enum amp_dtype dtype = amp_value_at(pass->model, value)->dtype;
    return dtype == AMP_DOUBLE || amp_dtype_is_autocast(dtype);
}

/* The inputs stand for the tensors of those names. */
static enum amp_status bind_names(struct pass *pass)
{
    const struct amp_node *node = amp_node_at(pass->model, pass->node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const char *name = i < pass->n_xs ? pass->xs[i].data : pass->zs[i - pass->n_xs].data;
        uint32_t value;
        AMP_TRY(find_value(pass, name, &value));
        if (node->inputs[i] == AMP_NONE)
            return fail(pass, AMP_MODEL, "no input is given for", name);
        if (pass->is_named[value])
            return fail(pass, AMP_MODEL, "xs and zs have more than once", name);
        if (i < pass->n_xs && !(is_real(pass, value) && is_real(pass, node->inputs[i])))
            return fail(pass, AMP_UNSUPPORTED, "only float tensors can be derived by, not", name);
        pass->is_named[value] = true;
        pass->varies[value] = i < pass->n_xs;
        pass->now[value] = node->inputs[i];
    }
    return AMP_OK;
}

/* ---- forward --------------------------------------------------------------------------------- */

typedef bool visitor(const struct pass *pass, uint32_t value);

static bool visit_all(const struct pass *pass, const uint32_t *values, size_t count, visitor *visit)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= values[i] != AMP_NONE && visit(pass, values[i]);
    return found;
}

/* Calls VISIT with what node ID takes, the graphs that it holds included; true when one says so. */
static bool visit_inputs(const struct pass *pass, uint32_t id, visitor *visit)
{
    const struct amp_model *model = pass->model;
    const struct amp_node *node = amp_node_at(model, id);
    bool found = visit_all(pass, node->inputs, node->n_inputs, visit);
    if (!amp_node_has_bodies(node))
        return found;
    for (uint32_t k = 0; k < model->n_nodes; k++) {
        const struct amp_node *inner = amp_node_at(model, k);
        if (k != id && amp_graph_container(model, k, node->graph) == id)
            found |= visit_all(pass, inner->inputs, inner->n_inputs, visit);
    }
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        if (amp_graph_container(model, graph->owner, node->graph) == id)
            found |= visit_all(pass, graph->outputs.items, graph->outputs.count, visit);
    }
    return found;
}

static bool need(const struct pass *pass, uint32_t value)
{
    pass->is_needed[value] = true;
    return false;
}

static bool is_varying(const struct pass *pass, uint32_t value)
{
    return pass->varies[value];
}

static bool is_replaced(const struct pass *pass, uint32_t value)
{
    return pass->now[value] != value;
}

/* Whether y needs an output of the node that is not named itself. */
static bool is_between(const struct pass *pass, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && pass->is_needed[node->outputs[i]] &&
            !pass->is_named[node->outputs[i]])
            return true;
    return false;
}

static enum amp_status fail_node(const struct pass *pass, uint32_t node)
{
    char text[512], inner[512];
    return amp_fail(pass->err, AMP_UNSUPPORTED, "%s: %s: no rule to derive %s", pass->model->path,
                    amp_node_text(pass->model, pass->node, text, sizeof text),
                    amp_node_text(pass->model, node, inner, sizeof inner));
}

/* A copy of node ID on what now stands for its inputs. */
static uint32_t copy_node(struct pass *pass, uint32_t id)
{
    struct amp_model *model = pass->model;
    const struct amp_node origin = *amp_node_at(model, id);
    uint32_t copy =
        amp_graph_add_node(model, pass->graph, origin.op_type, origin.n_inputs, origin.n_outputs);
    for (uint32_t i = 0; i < origin.n_outputs; i++) {
        if (origin.outputs[i] == AMP_NONE)
            continue;
        uint32_t value =
            amp_graph_add_value(model, pass->graph, amp_model_unique_name(model, "gradient/value"));
        amp_value_at(model, value)->kind = amp_value_at(model, origin.outputs[i])->kind;
        amp_value_at(model, value)->dtype = amp_value_at(model, origin.outputs[i])->dtype;
        amp_node_set_output(model, copy, i, value);
        if (!pass->is_named[origin.outputs[i]])
            pass->now[origin.outputs[i]] = value;
    }
    struct amp_node *node = amp_node_at(model, copy);
    node->name = amp_model_unique_name(model, "gradient/node");
    node->domain = origin.domain;
    node->schema = origin.schema;
    node->since_version = origin.since_version;
    node->attrs = origin.attrs;
    node->n_attrs = origin.n_attrs;
    for (uint32_t i = 0; i < origin.n_inputs; i++)
        node->inputs[i] = origin.inputs[i] == AMP_NONE ? AMP_NONE : pass->now[origin.inputs[i]];
    return copy;
}

static void note_varying(struct pass *pass, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (value != AMP_NONE && !pass->is_named[value] && is_real(pass, value))
            pass->varies[value] = true;
    }
}

/* Node ID comes before y: what of it depends on the xs is to be derived, and what depends on values
   that others stand for is computed from these. */
static enum amp_status go_forward(struct pass *pass, uint32_t id)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    struct stage stage = {id, id};
    if (!is_between(pass, node))
        return AMP_OK;
    bool is_variable = visit_inputs(pass, id, is_varying);
    bool is_copied = visit_inputs(pass, id, is_replaced);
    if ((is_variable || is_copied) && amp_node_has_bodies(node))
        return fail_node(pass, id);
    if (is_variable)
        note_varying(pass, node);
    if (is_copied)
        stage.node = copy_node(pass, id);
    if (!is_variable)
        return AMP_OK;
    struct stage *slot = amp_arena_push(pass->model->arena, &pass->stages, &pass->n_stages,
                                        &pass->stages_capacity, sizeof *slot);
    *slot = stage;
    return AMP_OK;
}

/* Goes through what y needs, first against the order of the nodes to find it, then along it. */
static enum amp_status find_stages(struct pass *pass)
{
    const struct amp_model *model = pass->model;
    uint32_t graphs[AMP_SUBGRAPH_DEPTH_MAX + 1], n_graphs = 0;
    for (uint32_t graph = pass->graph; n_graphs <= AMP_SUBGRAPH_DEPTH_MAX;
         graph = amp_node_at(model, model->graphs[graph].owner)->graph) {
        graphs[n_graphs++] = graph;
        if (model->graphs[graph].owner == AMP_NONE)
            break;
    }
    pass->is_needed[pass->y] = true;
    for (uint32_t g = 0; g < n_graphs; g++) {
        const struct amp_ids *nodes = &model->graphs[graphs[g]].nodes;
        for (size_t i = nodes->count; i-- > 0;)
            if (is_between(pass, amp_node_at(model, nodes->items[i])))
                visit_inputs(pass, nodes->items[i], need);
    }
    for (uint32_t g = n_graphs; g-- > 0;) {
        size_t count = model->graphs[graphs[g]].nodes.count;
        for (size_t i = 0; i < count; i++)
            AMP_TRY(go_forward(pass, model->graphs[graphs[g]].nodes.items[i]));
    }
    return AMP_OK;
}

/* ---- backward -------------------------------------------------------------------------------- */

static struct amp_derivation derive(const struct pass *pass, uint32_t node, uint32_t value)
{
    return (struct amp_derivation){.model = pass->model,
                                   .graph = pass->graph,
                                   .node = node,
                                   .x = pass->now[value],
                                   .g = pass->gradient[value],
                                   .dtype = amp_value_at(pass->model, value)->dtype};
}

/* Adds G to the gradient of VALUE. */
static void add_gradient(struct pass *pass, uint32_t value, uint32_t g)
{
    struct amp_derivation sum = derive(pass, pass->node, value);
    sum.x = g;
    pass->gradient[value] = sum.g == AMP_NONE ? g : amp_gradient_term(&sum, "Add(g, x)");
}

static bool applies(const struct amp_gradient_rule *rule, const struct amp_derivation *derivation,
                    const struct amp_node *node, uint32_t i)
{
    return (rule->input == AMP_EACH_INPUT || rule->input == (int)i) &&
           (rule->output == AMP_EACH_OUTPUT || rule->output == (int)derivation->output) &&
           amp_gradient_condition(derivation->model, node, rule->when);
}

/* Makes the nodes of the gradient of input I of the derivation's node, by the rules of its
   operator's descriptor (amp_op.gradient), and gives its value. AMP_NONE: there is no rule for it.
 */
static uint32_t gradient_of_input(struct amp_derivation *derivation, uint32_t i)
{
    const struct amp_node *node = amp_node_at(derivation->model, derivation->node);
    const struct amp_op *op = amp_op_of(node);
    derivation->input = i;
    derivation->x = node->inputs[i];
    /* Before opset 7 shapes were fitted together otherwise. */
    if (node->schema == NULL || op == NULL || op->gradient == NULL ||
        amp_node_attr(node, "broadcast") != NULL)
        return AMP_NONE;
    for (const struct amp_gradient_rule *rule = op->gradient; rule->term != NULL; rule++)
        if (applies(rule, derivation, node, i))
            return amp_gradient_term(derivation, rule->term);
    return AMP_NONE;
}

/* Adds to the gradients of what the node of STAGE takes what its output PLACE contributes. */
static enum amp_status go_through(struct pass *pass, const struct stage *stage, uint32_t place)
{
    const struct amp_node origin = *amp_node_at(pass->model, stage->origin);
    struct amp_derivation derivation = derive(pass, stage->node, origin.outputs[place]);
    derivation.output = place;
    for (uint32_t i = 0; i < origin.n_inputs; i++) {
        if (origin.inputs[i] == AMP_NONE || !pass->varies[origin.inputs[i]])
            continue;
        uint32_t g = gradient_of_input(&derivation, i);
        if (g == AMP_NONE)
            return fail_node(pass, stage->origin);
        add_gradient(pass, origin.inputs[i], g);
    }
    return AMP_OK;
}

static enum amp_status go_backward(struct pass *pass, const struct stage *stage)
{
    for (uint32_t i = 0; i < amp_node_at(pass->model, stage->origin)->n_outputs; i++) {
        uint32_t output = amp_node_at(pass->model, stage->origin)->outputs[i];
        if (output != AMP_NONE && !pass->is_named[output] && pass->gradient[output] != AMP_NONE)
            AMP_TRY(go_through(pass, stage, i));
    }
    return AMP_OK;
}

/* The outputs of the Gradient node come from what was found. */
static void give_outputs(struct pass *pass)
{
    struct amp_model *model = pass->model;
    const struct amp_node node = *amp_node_at(model, pass->node);
    amp_node_remove(model, pass->node);
    for (uint32_t i = 0; i < node.n_outputs; i++) {
        uint32_t x = 0;
        if (node.outputs[i] == AMP_NONE || find_value(pass, pass->xs[i].data, &x) != AMP_OK)
            continue;
        struct amp_derivation derivation = derive(pass, pass->node, x);
        bool has_none = derivation.g == AMP_NONE;
        uint32_t g =
            amp_gradient_term(&derivation, has_none ? "Expand(0, Shape(x))" : "Identity(g)");
        amp_node_set_output(model, amp_value_at(model, g)->producer, 0, node.outputs[i]);
    }
}

static void make_arrays(struct pass *pass)
{
    size_t count = pass->model->n_values;
    struct amp_arena *arena = pass->model->arena;
    pass->is_named = amp_arena_array(arena, count, sizeof *pass->is_named);
    pass->is_needed = amp_arena_array(arena, count, sizeof *pass->is_needed);
    pass->varies = amp_arena_array(arena, count, sizeof *pass->varies);
    pass->now = amp_arena_array(arena, count, sizeof *pass->now);
    pass->gradient = amp_arena_array(arena, count, sizeof *pass->gradient);
    for (uint32_t i = 0; i < count; i++) {
        pass->now[i] = i;
        pass->gradient[i] = AMP_NONE;
    }
}

/* Takes recurrent nodes apart, where they may lie between the tensors. */
static enum amp_status unroll(const struct pass *pass)
{
    if (!amp_recurrences_unroll(pass->model, pass->graph))
        return AMP_OK;
    AMP_TRY(amp_graph_sort(pass->model, NULL, pass->err));
    return amp_infer(pass->model, pass->err);
}

static enum amp_status expand(struct amp_model *model, uint32_t node, struct amp_error *err)
{
    struct pass pass = {.model = model, .err = err, .node = node};
    pass.graph = amp_node_at(model, node)->graph;
    AMP_TRY(unroll(&pass));
    make_arrays(&pass);
    AMP_TRY(read_node(&pass));
    AMP_TRY(bind_names(&pass));
    AMP_TRY(find_stages(&pass));
    struct amp_derivation seed = derive(&pass, node, pass.y);
    if (pass.varies[pass.y])
        pass.gradient[pass.y] = amp_gradient_term(&seed, "Expand(1, Shape(x))");
    for (size_t i = pass.n_stages; i-- > 0;)
        AMP_TRY(go_backward(&pass, &pass.stages[i]));
    give_outputs(&pass);
    AMP_TRY(amp_graph_sort(model, NULL, err));
    return amp_infer(model, err);
}

static bool is_gradient(const struct amp_node *node)
{
    return !node->is_removed && amp_node_is(node, training, "Gradient");
}

enum amp_status amp_gradients_expand(const struct amp_model **model, struct amp_arena *arena,
                                     struct amp_error *err)
{
    struct amp_model *copy = NULL;
    size_t n_nodes = (*model)->n_nodes;
    for (uint32_t id = 0; id < n_nodes; id++) {
        if (!is_gradient(amp_node_at(*model, id)))
            continue;
        if (copy == NULL)
            *model = copy = amp_model_copy(*model, arena);
        AMP_TRY(expand(copy, id, err));
    }
    return AMP_OK;
}
