/*
 * Decides in which dtype each node runs. Takes what the rules say of the nodes (policy.c) and the
 * operators' type constraints, gives a dtype for every node and value. Walks the graphs in
 * topological order, because an unlisted node follows what its inputs have become. Inserts nothing:
 * cast_insert.c carries the decisions out.
 */
#include "autocast/assign.h"

#include "autocast/custom.h"
#include "autocast/eligible.h"
#include "autocast/guard.h"
#include "autocast/notes.h"
#include "autocast/ranges/guards.h"
#include "autocast/runtimes/lacking.h"
#include "autocast/static_values.h"
#include "autocast/rules/rules.h"
#include "autocast/policy.h"
#include "autocast/promotion.h"
#include "autocast/sequences.h"
#include "autocast/training/loss.h"
#include "autocast/wholes.h"
#include "core/array.h"
#include "core/graph/uses.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

/* A dtype that nodes may be lowered to. */
struct lowering {
    enum amp_dtype dtype;
    int cast_opset; /* the first opset at which Cast takes it */
    struct amp_static_values *static_values;
    struct amp_range_guards *guards; /* NULL: the dtype needs none */
    bool *is_refused;                /* per value id: must not count on its guards saturating */
};

enum { LOWERINGS_MAX = 2 };

struct pass {
    const struct amp_model *model;
    int cap;
    struct amp_assignment *result;
    const struct amp_policy *policies;        /* per node id */
    struct lowering lowerings[LOWERINGS_MAX]; /* the first is to the lower dtype */
    size_t n_lowerings;
    bool has_second; /* what one dtype is forbidden for may be lowered to the other */
    const struct amp_runtimes *runtimes; /* NULL: any */
    struct amp_uses uses;
    bool *carries;          /* per value id: amp_sequences_find */
    bool *is_folded;        /* per value id: amp_folded_find */
    const bool *keeps;      /* per node id: amp_training_keep; NULL: none */
    struct amp_str *scopes; /* per node id: amp_recurrent_scopes_find */
    struct amp_promoter promoter;
    uint32_t *order; /* node ids as they were decided: producers first */
    size_t n_order;
};

/* The lowering to DTYPE; NULL: nodes are not lowered to it. */
static struct lowering *lowering_to(struct pass *pass, enum amp_dtype dtype)
{
    for (size_t i = 0; i < pass->n_lowerings; i++)
        if (pass->lowerings[i].dtype == dtype)
            return &pass->lowerings[i];
    return NULL;
}

/* The same; for what follows inputs of another dtype that the model came with, the first. */
static struct lowering *lowering_for(struct pass *pass, enum amp_dtype dtype)
{
    struct lowering *lowering = lowering_to(pass, dtype);
    return lowering != NULL ? lowering : &pass->lowerings[0];
}

/* Whether its neighbours leave the node no other dtype than the lower one: its inputs that no
   constant makes have it, and no rule but one about a use of guards asks for it. */
static bool is_pinned(const struct pass *pass, const struct amp_node *node,
                      const struct amp_decision *decision)
{
    bool may_be =
        decision->precision == AMP_FOLLOW ||
        (amp_precision_is_lower(decision->precision) && amp_guard_use(node) != AMP_GUARD_NONE);
    return may_be && amp_promoted_dtype(&pass->promoter, node, decision->type, AMP_PART_LIVE) ==
                         decision->dtype;
}

/* The constant with data that the dtype of LOWERING, the decided one, cannot hold; AMP_NONE when
   all fit or may saturate. */
static uint32_t overflowing_weight(struct pass *pass, const struct lowering *lowering,
                                   const struct amp_node *node, const struct amp_decision *decision)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t id = amp_typed_input(&pass->promoter.types, node, decision->type, i);
        uint32_t origin =
            id == AMP_NONE ? AMP_NONE : amp_static_values_origin(lowering->static_values, id);
        if (origin == AMP_NONE)
            continue;
        if (lowering->is_refused[id] || !is_pinned(pass, node, decision) ||
            !amp_static_values_is_guard(lowering->static_values, id, amp_guard_use(node)))
            return origin;
    }
    return AMP_NONE;
}

static void keep_float(struct amp_decision *decision, enum amp_reason reason, uint32_t value)
{
    decision->dtype = AMP_FLOAT;
    decision->reason = reason;
    decision->value = value;
}

static void keep_from_runtime(struct amp_decision *decision, const struct amp_node *node)
{
    keep_float(decision, AMP_REASON_RUNTIME, AMP_NONE);
    decision->lacked = node->op_type;
}

/* Sets *OPSET to the one that the node needs for its dtype, in the runtimes that the model is for.
   False when none up to the cap has it: the node then stays float32. */
static bool find_opset(struct pass *pass, const struct amp_node *node,
                       struct amp_decision *decision, int *opset)
{
    int cast_opset = lowering_for(pass, decision->dtype)->cast_opset;
    *opset = amp_opset_for(&pass->promoter.types, node, decision->type, decision->dtype);
    if (*opset != 0 && *opset < cast_opset)
        *opset = cast_opset;
    if (*opset != 0 && pass->runtimes != NULL)
        decision->runtime =
            amp_lacking_runtime(pass->runtimes, &pass->promoter.types, node, decision, opset);
    if (*opset == 0)
        keep_float(decision, AMP_REASON_NO_LOWER_TYPE, AMP_NONE);
    else if (decision->runtime != NULL)
        keep_from_runtime(decision, node);
    else if (*opset > pass->cap)
        keep_float(decision, AMP_REASON_OPSET, AMP_NONE);
    return decision->dtype != AMP_FLOAT;
}

/* To what opset nodes that follow their inputs may raise a model: the one at which bfloat16 came to
   what activations and pooling are made of. What came to it later, in few runtimes, takes a rule.
 */
enum { OPSET_TO_FOLLOW = 22 };

/* Keeps the node in float32 where the operator, the opset or a constant forbids the dtype of
   DECISION. */
static void constrain_to(struct pass *pass, const struct amp_node *node,
                         struct amp_decision *decision)
{
    int opset;
    if (decision->dtype == AMP_FLOAT || !find_opset(pass, node, decision, &opset))
        return;
    const struct lowering *lowering = lowering_to(pass, decision->dtype);
    uint32_t weight =
        lowering == NULL ? AMP_NONE : overflowing_weight(pass, lowering, node, decision);
    if (weight != AMP_NONE)
        keep_float(decision, AMP_REASON_WEIGHT_RANGE, weight);
    else if (amp_range_guards_find(lowering_for(pass, decision->dtype)->guards,
                                   &pass->promoter.types, node, decision))
        decision->dtype = AMP_FLOAT;
    else if (opset > pass->result->opset &&
             (amp_precision_is_lower(decision->precision) || opset <= OPSET_TO_FOLLOW))
        pass->result->opset = opset;
}

/* The dtype to try where DTYPE is forbidden; AMP_FLOAT: none. */
static enum amp_dtype other_dtype(struct pass *pass, enum amp_dtype dtype)
{
    const struct lowering *lowering = lowering_to(pass, dtype);
    if (!pass->has_second || lowering == NULL)
        return AMP_FLOAT;
    return pass->lowerings[lowering == &pass->lowerings[0] ? 1 : 0].dtype;
}

/* Gives the node the other lower dtype, or else float32, where the one of DECISION is forbidden. */
static void constrain(struct pass *pass, const struct amp_node *node, struct amp_decision *decision)
{
    struct amp_decision other = *decision;
    other.dtype = other_dtype(pass, decision->dtype);
    constrain_to(pass, node, decision);
    if (decision->dtype != AMP_FLOAT || other.dtype == AMP_FLOAT)
        return;
    constrain_to(pass, node, &other);
    if (other.dtype != AMP_FLOAT)
        *decision = other;
}

static void set_outputs(struct pass *pass, const struct amp_node *node,
                        const struct amp_decision *decision)
{
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        uint32_t id = node->outputs[i];
        if (id != AMP_NONE &&
            (amp_typed_output(&pass->promoter.types, node, decision->type, i) == id ||
             pass->carries[id]))
            pass->result->values[id] = decision->dtype;
    }
}

static bool gives_sequence(const struct pass *pass, const struct amp_node *node)
{
    return node->n_outputs > 0 && node->outputs[0] != AMP_NONE && pass->carries[node->outputs[0]];
}

/* Settles on DTYPE, that of an input, whatever the rules say. */
static void follow(struct amp_decision *decision, enum amp_dtype dtype)
{
    decision->dtype = dtype;
    decision->reason = AMP_REASON_UNLISTED;
    decision->rule = NULL;
    decision->op = NULL;
}

/* Gives what NODE takes out of a sequence the sequence's dtype. */
static void unpack(struct pass *pass, const struct amp_node *node, struct amp_decision *decision)
{
    follow(decision, pass->result->values[node->inputs[0]]);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            amp_dtype_is_autocast(amp_value_at(pass->model, node->outputs[i])->dtype))
            pass->result->values[node->outputs[i]] = decision->dtype;
}

/* Lets what is like its input have that one's dtype, where the operator gives it. */
static void follow_like(struct pass *pass, const struct amp_node *node,
                        struct amp_decision *decision)
{
    enum amp_dtype dtype = pass->result->values[node->inputs[0]];
    const struct amp_schema *schema = node->schema;
    uint32_t taken = amp_schema_type(schema, amp_schema_input(schema, 0))->tensors &
                     amp_schema_type(schema, amp_schema_output(schema, 0))->tensors;
    if (!amp_dtype_is_autocast(dtype) || (taken & AMP_DTYPE_BIT(dtype)) == 0 ||
        (pass->runtimes != NULL && !amp_runtimes_have(pass->runtimes, schema, dtype)))
        return;
    follow(decision, dtype);
    pass->result->values[node->outputs[0]] = dtype;
}

/* Notes what the rules say of node ID. False when the node keeps its types whatever they say. */
static bool begin(struct pass *pass, uint32_t id)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    struct amp_decision *decision = &pass->result->nodes[id];
    *decision = (struct amp_decision){.type = -1, .value = AMP_NONE};
    decision->whole = amp_wholes_of(pass->result->wholes, id);
    decision->rule = pass->policies[id].rule;
    decision->op = pass->policies[id].op;
    decision->precision = pass->policies[id].precision;
    decision->reason = decision->rule ? AMP_REASON_RULE : AMP_REASON_UNLISTED;
    if (pass->keeps != NULL && pass->keeps[id]) {
        decision->reason = AMP_REASON_TRAINING;
        return false;
    }
    struct amp_eligibility eligibility = {pass->model, &pass->uses, pass->cap,
                                          gives_sequence(pass, node)};
    if (amp_node_is_eligible(&eligibility, node, decision))
        return true;
    decision->type = -1;
    if (node->n_inputs > 0 && node->inputs[0] != AMP_NONE && pass->carries[node->inputs[0]])
        unpack(pass, node, decision);
    if (decision->reason == AMP_REASON_EXPLICIT_DTYPE && amp_node_is_like(pass->model, node) &&
        amp_value_at(pass->model, node->outputs[0])->dtype ==
            amp_value_at(pass->model, node->inputs[0])->dtype)
        follow_like(pass, node, decision);
    return false;
}

static void finish(struct pass *pass, uint32_t id, enum amp_dtype dtype)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    struct amp_decision *decision = &pass->result->nodes[id];
    decision->dtype = dtype;
    pass->order[pass->n_order++] = id;
    constrain(pass, node, decision);
    set_outputs(pass, node, decision);
}

static void decide(struct pass *pass, uint32_t id)
{
    if (begin(pass, id))
        finish(pass, id,
               amp_policy_dtype(&pass->promoter, amp_node_at(pass->model, id),
                                &pass->result->nodes[id]));
}

static bool is_product(const struct pass *pass, uint32_t id)
{
    const struct amp_op *op = amp_op_of(amp_node_at(pass->model, id));
    return op == NULL || op->flops.count != NULL;
}

/* Whether the parts of WHOLE stay together where something keeps one of them in float32: all,
   unless a product is among them, which is to be had in the lower dtype for itself. */
static bool stays_together(const struct pass *pass, const struct amp_whole *whole)
{
    for (size_t i = 0; i < whole->n_nodes; i++)
        if (is_product(pass, whole->nodes[i]))
            return false;
    return true;
}

/* Whether a runtime lacks NODE in DTYPE; *FOUND then says so. */
static bool find_lacking(struct pass *pass, const struct amp_node *node, enum amp_dtype dtype,
                         struct amp_decision *found)
{
    struct amp_decision lowered = *found;
    int opset;
    if (pass->runtimes == NULL)
        return false;
    lowered.dtype = dtype;
    find_opset(pass, node, &lowered, &opset);
    if (lowered.runtime != NULL)
        *found = lowered;
    return lowered.runtime != NULL;
}

/* Whether a guard or a runtime keeps a part of WHOLE from DTYPE, and with it all; *FOUND then says
   why. */
static bool find_obstacle(struct pass *pass, const struct amp_whole *whole, enum amp_dtype dtype,
                          struct amp_decision *found)
{
    const struct lowering *lowering = lowering_to(pass, dtype);
    if (lowering == NULL || !stays_together(pass, whole))
        return false;
    for (size_t i = 0; i < whole->n_nodes; i++) {
        *found = pass->result->nodes[whole->nodes[i]];
        const struct amp_node *node = amp_node_at(pass->model, whole->nodes[i]);
        if (found->type >= 0 &&
            (find_lacking(pass, node, dtype, found) ||
             amp_range_guards_find(lowering->guards, &pass->promoter.types, node, found)))
            return true;
    }
    return false;
}

/* Keeps DECISION in float32 for the reason of FOUND. */
static void keep_for(struct amp_decision *decision, const struct amp_decision *found)
{
    keep_float(decision, found->reason, found->value);
    decision->number = found->number;
    decision->seen = found->seen;
    decision->runtime = found->runtime;
    decision->lacked = found->lacked;
}

/* What guards and runtimes make of a dtype for all parts of a whole. */
struct obstacle {
    enum amp_dtype dtype;      /* AMP_UNDEFINED: nothing was asked yet */
    enum amp_dtype allowed;    /* the dtype itself, the other lower one, or float32 */
    struct amp_decision found; /* why it is not the dtype itself */
};

/* Sets *OBSTACLE to what keeps WHOLE from DTYPE, unless it says that already. */
static void ask(struct pass *pass, const struct amp_whole *whole, enum amp_dtype dtype,
                struct obstacle *obstacle)
{
    struct amp_decision unused;
    if (obstacle->dtype == dtype)
        return;
    obstacle->dtype = obstacle->allowed = dtype;
    if (!find_obstacle(pass, whole, dtype, &obstacle->found))
        return;
    obstacle->allowed = other_dtype(pass, dtype);
    if (obstacle->allowed != AMP_FLOAT && find_obstacle(pass, whole, obstacle->allowed, &unused))
        obstacle->allowed = AMP_FLOAT;
}

/* Where a constant kept a part of WHOLE in float32 that was to be DTYPE, keeps all but the products
   there: as parts that are decided on one by one, which they are once casts stand between them. */
static void widen_rest(struct pass *pass, const struct amp_whole *whole, enum amp_dtype dtype)
{
    const struct amp_decision *found = NULL;
    for (size_t i = 0; i < whole->n_nodes && dtype != AMP_FLOAT && found == NULL; i++) {
        const struct amp_decision *decision = &pass->result->nodes[whole->nodes[i]];
        if (decision->reason == AMP_REASON_WEIGHT_RANGE)
            found = decision;
    }
    for (size_t i = 0; i < whole->n_nodes && found != NULL; i++) {
        struct amp_decision *decision = &pass->result->nodes[whole->nodes[i]];
        if (decision->type < 0 || decision->dtype == AMP_FLOAT || is_product(pass, whole->nodes[i]))
            continue;
        keep_for(decision, found);
        set_outputs(pass, amp_node_at(pass->model, whole->nodes[i]), decision);
    }
}

/* Decides all parts once the last of them is reached: only then everything is known that goes into
   the whole, and nobody outside takes what the others give. */
static void decide_whole(struct pass *pass, const struct amp_whole *whole)
{
    for (size_t i = 0; i < whole->n_nodes; i++)
        begin(pass, whole->nodes[i]);
    struct obstacle obstacle = {.dtype = AMP_UNDEFINED};
    for (size_t i = 0; i < whole->n_nodes; i++) {
        struct amp_decision *decision = &pass->result->nodes[whole->nodes[i]];
        if (decision->type < 0) {
            begin(pass, whole->nodes[i]); /* what it follows may have become another dtype */
            continue;
        }
        enum amp_dtype dtype =
            amp_policy_dtype_of_whole(&pass->promoter, whole, decision->precision);
        ask(pass, whole, dtype, &obstacle);
        finish(pass, whole->nodes[i], obstacle.allowed);
        if (obstacle.allowed != dtype && obstacle.allowed == AMP_FLOAT)
            keep_for(decision, &obstacle.found);
    }
    widen_rest(pass, whole, obstacle.allowed);
}

static void decide_next(struct pass *pass, uint32_t id)
{
    const struct amp_whole *whole = amp_wholes_of(pass->result->wholes, id);
    if (whole == NULL)
        decide(pass, id);
    else if (whole->root == id)
        decide_whole(pass, whole);
}

/* Shows node ID to what follows values through the graph. */
static void look_at(struct pass *pass, uint32_t id)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    for (size_t i = 0; i < pass->n_lowerings; i++) {
        amp_static_values_add(pass->lowerings[i].static_values, node);
        amp_range_guards_add(pass->lowerings[i].guards, node);
    }
    amp_promoter_enter(&pass->promoter, id);
}

static void assign_graph(struct pass *pass, uint32_t graph)
{
    const struct amp_ids *nodes = &pass->model->graphs[graph].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(pass->model, nodes->items[i]);
        for (uint32_t a = 0; a < node->n_attrs; a++)
            for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
                assign_graph(pass, node->attrs[a].graphs[k]);
        look_at(pass, nodes->items[i]);
        decide_next(pass, nodes->items[i]);
    }
}

enum amp_dtype amp_assigned_dtype(const struct amp_model *model,
                                  const struct amp_assignment *assignment, uint32_t node_id,
                                  const struct amp_schema *schema, uint32_t i)
{
    const struct amp_decision *decision = &assignment->nodes[node_id];
    const struct amp_schema_param *param = schema ? amp_schema_input(schema, i) : NULL;
    const struct amp_node *node = amp_node_at(model, node_id);
    const struct amp_value *value = amp_value_at(model, node->inputs[i]);
    if (decision->type == AMP_TYPE_ALL_FLOATS && amp_custom_is_float(value))
        return decision->dtype;
    if (decision->dtype != AMP_UNDEFINED && schema != NULL &&
        amp_schema_shares(schema, decision->type, param))
        return decision->dtype;
    if (value->kind == AMP_KIND_SEQUENCE)
        return assignment->values[node->inputs[i]];
    bool casts = amp_node_has_role(node, AMP_ROLE_CAST) ||
                 amp_node_has_role(node, AMP_ROLE_CAST_LIKE) ||
                 (decision->dtype != AMP_UNDEFINED && amp_node_is_like(model, node));
    if (casts && value->constant == NULL)
        return assignment->values[node->inputs[i]];
    return value->dtype;
}

/* Whether every use of VALUE wants DTYPE. */
static bool is_wanted(const struct pass *pass, uint32_t value, enum amp_dtype dtype)
{
    const struct amp_uses *uses = &pass->uses;
    bool is_wanted =
        uses->first[value] < uses->first[value + 1] && !amp_value_at(pass->model, value)->is_output;
    for (uint32_t u = uses->first[value]; u < uses->first[value + 1] && is_wanted; u++) {
        const struct amp_node *user = amp_node_at(pass->model, uses->items[u].node);
        const struct amp_schema *schema = user->schema ? amp_schema_at_cap(user, pass->cap) : NULL;
        is_wanted = amp_assigned_dtype(pass->model, pass->result, uses->items[u].node, schema,
                                       uses->items[u].slot) == dtype;
    }
    return is_wanted;
}

/* Whether NODE only moves the values of constants, for whatever follows, and may do so in the dtype
   of LOWERING. */
static bool may_be_lowered(const struct lowering *lowering, const struct amp_node *node,
                           const struct amp_decision *decision)
{
    const struct amp_op *op = amp_op_of(node);
    if (decision->precision != AMP_FOLLOW || decision->reason != AMP_REASON_UNLISTED ||
        op == NULL || op->effect != AMP_PRESERVES_VALUES ||
        !amp_static_values_has_node(lowering->static_values, node))
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && lowering->is_refused[node->inputs[i]])
            return false;
    return true;
}

/* A weight that is reshaped or transposed before its use takes the dtype of its consumers, so that
   it is converted offline and not by a cast behind the reshaping. What it holds beyond the range
   was theirs to take. */
static void lower_static_node(struct pass *pass, uint32_t id, const struct lowering *lowering)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    struct amp_decision *decision = &pass->result->nodes[id];
    int opset;
    if (!may_be_lowered(lowering, node, decision))
        return;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && !is_wanted(pass, node->outputs[i], lowering->dtype))
            return;
    decision->dtype = lowering->dtype;
    find_opset(pass, node, decision, &opset);
    set_outputs(pass, node, decision);
}

static void lower_static_nodes(struct pass *pass)
{
    for (size_t i = pass->n_order; i > 0; i--)
        for (size_t k = 0; k < pass->n_lowerings; k++)
            lower_static_node(pass, pass->order[i - 1], &pass->lowerings[k]);
}

/* Whether the guards that reach VALUE will saturate offline: it is a constant, or a ConstantOfShape
   that can give the dtype of LOWERING, or moved in that dtype. */
static bool saturates_offline(const struct pass *pass, const struct lowering *lowering,
                              uint32_t value_id)
{
    const struct amp_value *value = amp_value_at(pass->model, value_id);
    if (value->constant != NULL || pass->result->values[value_id] == lowering->dtype)
        return true;
    return amp_static_values_origin(lowering->static_values, value_id) == value_id &&
           amp_schema_takes(amp_schema_find("", "ConstantOfShape", pass->result->opset), "T2",
                            lowering->dtype);
}

/* Refuses the guards that a cast would meet while the model runs, as it would make infinities of
   them. Whether there are any. */
static bool refuse_guards(struct pass *pass)
{
    bool found = false;
    for (size_t k = 0; k < pass->n_order; k++) {
        const struct amp_node *node = amp_node_at(pass->model, pass->order[k]);
        const struct amp_decision *decision = &pass->result->nodes[pass->order[k]];
        struct lowering *lowering = lowering_to(pass, decision->dtype);
        for (uint32_t i = 0; i < node->n_inputs && lowering != NULL; i++) {
            uint32_t id = amp_typed_input(&pass->promoter.types, node, decision->type, i);
            if (id == AMP_NONE || lowering->is_refused[id] ||
                amp_static_values_origin(lowering->static_values, id) == AMP_NONE ||
                saturates_offline(pass, lowering, id))
                continue;
            lowering->is_refused[id] = found = true;
        }
    }
    return found;
}

/* Gives the inputs among the interface their dtype; the outputs are cast_insert.c's. */
static void assign_interface(struct pass *pass, const struct amp_ids *interface)
{
    struct amp_assignment *result = pass->result;
    for (size_t i = 0; i < interface->count; i++) {
        uint32_t id = interface->items[i];
        result->is_interface[id] = true;
        if (amp_value_at(pass->model, id)->is_input)
            result->values[id] = result->lower;
    }
    if (interface->count > 0 && result->opset < pass->lowerings[0].cast_opset)
        result->opset = pass->lowerings[0].cast_opset;
}

/* Takes all decisions back but for the guards that were refused. */
static void reset(struct pass *pass, const struct amp_assign_options *options)
{
    for (uint32_t v = 0; v < pass->model->n_values; v++)
        pass->result->values[v] = amp_value_at(pass->model, v)->dtype;
    pass->result->opset = (int)amp_model_opset(pass->model, "");
    pass->n_order = 0;
    pass->promoter.layer = (struct amp_str){"", 0};
    pass->promoter.layer_dtype = AMP_UNDEFINED;
    assign_interface(pass, &options->interface);
}

/* Adds the lowering to DTYPE. */
static void add_lowering(struct pass *pass, const struct amp_assign_options *options,
                         enum amp_dtype dtype)
{
    const struct amp_rule_limits *limits = amp_rules_limits(options->rules, dtype);
    double most = limits == NULL ? amp_dtype_max(dtype) : limits->weight_max;
    struct lowering *lowering = &pass->lowerings[pass->n_lowerings++];
    *lowering =
        (struct lowering){.dtype = dtype,
                          .cast_opset = amp_opset_of_cast(dtype),
                          .static_values = amp_static_values_create(pass->model, dtype, most),
                          .is_refused = amp_xcalloc(pass->model->n_values, sizeof(bool))};
    struct amp_range_guard_options guarded = {.model = pass->model,
                                              .lower = dtype,
                                              .limits = limits,
                                              .ranges = options->ranges,
                                              .static_values = lowering->static_values};
    lowering->guards = amp_range_guards_create(&guarded);
}

/* Adds the lowerings to the lower dtype, to the second one, and to the other one of 16 bits that
   rules name. */
static void add_lowerings(struct pass *pass, const struct amp_assign_options *options)
{
    static const enum amp_dtype dtypes[] = {AMP_BFLOAT16, AMP_FLOAT16};
    uint32_t wanted = amp_rules_named_dtypes(options->rules) | AMP_DTYPE_BIT(options->second);
    add_lowering(pass, options, options->lower);
    for (size_t i = 0; i < AMP_COUNT(dtypes); i++)
        if (dtypes[i] != options->lower && (wanted & AMP_DTYPE_BIT(dtypes[i])) != 0)
            add_lowering(pass, options, dtypes[i]);
    for (size_t i = 0; i < pass->n_lowerings; i++)
        pass->result->lowers |= AMP_DTYPE_BIT(pass->lowerings[i].dtype);
    pass->has_second = options->second != AMP_UNDEFINED;
}

static void free_lowerings(struct pass *pass)
{
    for (size_t i = 0; i < pass->n_lowerings; i++) {
        free(pass->lowerings[i].is_refused);
        amp_range_guards_destroy(pass->lowerings[i].guards);
        amp_static_values_destroy(pass->lowerings[i].static_values);
    }
}

static struct amp_promoter create_promoter(const struct pass *pass,
                                           const struct amp_assign_options *options)
{
    struct amp_assignment *result = pass->result;
    return (struct amp_promoter){.types = {pass->model, pass->cap},
                                 .lower = options->lower,
                                 .constants = options->rules->constants,
                                 .values = result->values,
                                 .nodes = result->nodes,
                                 .wholes = result->wholes,
                                 .static_values = pass->lowerings[0].static_values,
                                 .is_folded = pass->is_folded,
                                 .scopes = pass->scopes,
                                 .has_promoting_constants = &result->has_promoting_constants};
}

/* What was decided must be something that users' operators, and training, can live with. */
static enum amp_status check(const struct amp_model *model,
                             const struct amp_assign_options *options,
                             const struct amp_assignment *assignment, bool has_kept,
                             struct amp_error *err)
{
    bool is_trained = has_kept || options->training.is_trained;
    if (is_trained && options->lower != AMP_FLOAT)
        AMP_TRY(amp_training_loss_check(model, assignment, err));
    return amp_custom_check(model, assignment->nodes, options->lower, err);
}

enum amp_status amp_assign(const struct amp_model *model, const struct amp_assign_options *options,
                           struct amp_assignment *assignment, struct amp_error *err)
{
    struct amp_arena *arena = model->arena;
    int opset = (int)amp_model_opset(model, "");
    *assignment = (struct amp_assignment){
        .lower = options->lower,
        .second = options->second,
        .nodes = amp_arena_array(arena, model->n_nodes, sizeof *assignment->nodes),
        .values = amp_arena_array(arena, model->n_values, sizeof *assignment->values),
        .is_interface = amp_arena_array(arena, model->n_values, sizeof(bool)),
        .n_nodes = model->n_nodes};
    const struct amp_policy *policies;
    assignment->wholes = amp_wholes_find(model, options->rules);
    AMP_TRY(amp_policies_find(model, options->rules, assignment->wholes, &policies, err));
    struct pass pass = {.model = model,
                        .cap = options->cap > opset ? options->cap : opset,
                        .result = assignment,
                        .policies = policies,
                        .runtimes = options->runtimes,
                        .order = amp_xmalloc(model->n_nodes, sizeof *pass.order),
                        .uses = amp_uses_create(model)};
    if (options->lower != AMP_FLOAT)
        pass.keeps = amp_training_keep(model, &options->training);
    add_lowerings(&pass, options);
    pass.carries = amp_sequences_find(model, &pass.uses, assignment->lowers);
    if (options->runtimes != NULL)
        amp_sequences_restrict(pass.carries, model, options->runtimes, options->lower);
    pass.is_folded = amp_folded_find(model, options->rules);
    pass.scopes = amp_recurrent_scopes_find(model);
    pass.promoter = create_promoter(&pass, options);
    do {
        reset(&pass, options);
        assign_graph(&pass, 0);
        lower_static_nodes(&pass);
    } while (refuse_guards(&pass));
    amp_uses_destroy(&pass.uses);
    free(pass.order);
    free(pass.carries);
    free(pass.is_folded);
    free(pass.scopes);
    free_lowerings(&pass);
    return check(model, options, assignment, pass.keeps != NULL, err);
}
