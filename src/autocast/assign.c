/*
 * Decides in which dtype each node runs. Takes what the rules say of the nodes (policy.c) and the
 * operators' type constraints, gives a dtype for every node and value. Walks the graphs in
 * topological order, because an unlisted node follows what its inputs have become. Inserts nothing:
 * cast_insert.c carries the decisions out.
 */
#include "autocast/assign.h"

#include "autocast/custom.h"
#include "autocast/eligible.h"
#include "autocast/folded.h"
#include "autocast/guard.h"
#include "autocast/notes.h"
#include "autocast/ranges/guards.h"
#include "autocast/static_values.h"
#include "autocast/rules/rules.h"
#include "autocast/policy.h"
#include "autocast/promotion.h"
#include "autocast/sequences.h"
#include "core/graph/uses.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

struct pass {
    const struct amp_model *model;
    int cap, cast_opset; /* the first opset at which Cast takes the lower dtype */
    struct amp_assignment *result;
    const struct amp_policy *policies; /* per node id */
    struct amp_static_values *static_values;
    struct amp_range_guards *guards; /* NULL: the dtype needs none */
    struct amp_uses uses;
    bool *is_refused;       /* per value id: must not count on its guards saturating */
    bool *carries;          /* per value id: amp_sequences_find */
    bool *is_folded;        /* per value id: amp_folded_find */
    struct amp_str *scopes; /* per node id: amp_recurrent_scopes_find */
    struct amp_promoter promoter;
    uint32_t *order; /* node ids as they were decided: producers first */
    size_t n_order;
};

/* Whether its neighbours leave the node no other dtype than the lower one: its inputs that no
   constant makes have it, and no rule but one about a use of guards asks for it. */
static bool is_pinned(const struct pass *pass, const struct amp_node *node,
                      const struct amp_decision *decision)
{
    bool may_be = decision->precision == AMP_FOLLOW ||
                  (decision->precision == AMP_LOWER && amp_guard_use(node) != AMP_GUARD_NONE);
    return may_be && amp_promoted_dtype(&pass->promoter, node, decision->type, AMP_PART_LIVE) ==
                         pass->result->lower;
}

/* The constant with data that the lower dtype cannot hold; AMP_NONE when all fit or may saturate.
 */
static uint32_t overflowing_weight(struct pass *pass, const struct amp_node *node,
                                   const struct amp_decision *decision)
{
    for (uint32_t i = 0; i < node->n_inputs && decision->dtype == pass->result->lower; i++) {
        uint32_t id = amp_typed_input(&pass->promoter.types, node, decision->type, i);
        uint32_t origin =
            id == AMP_NONE ? AMP_NONE : amp_static_values_origin(pass->static_values, id);
        if (origin == AMP_NONE)
            continue;
        if (pass->is_refused[id] || !is_pinned(pass, node, decision) ||
            !amp_static_values_is_guard(pass->static_values, id, amp_guard_use(node)))
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

/* Sets *OPSET to the one that the node needs for its dtype. False when none up to the cap has it:
   the node then stays float32. */
static bool find_opset(const struct pass *pass, const struct amp_node *node,
                       struct amp_decision *decision, int *opset)
{
    *opset = amp_opset_for(&pass->promoter.types, node, decision->type, decision->dtype);
    if (*opset != 0 && *opset < pass->cast_opset)
        *opset = pass->cast_opset;
    if (*opset == 0)
        keep_float(decision, AMP_REASON_NO_LOWER_TYPE, AMP_NONE);
    else if (*opset > pass->cap)
        keep_float(decision, AMP_REASON_OPSET, AMP_NONE);
    return *opset != 0 && *opset <= pass->cap;
}

/* To what opset nodes that follow their inputs may raise a model: the one at which bfloat16 came to
   what activations and pooling are made of. What came to it later, in few runtimes, takes a rule.
 */
enum { OPSET_TO_FOLLOW = 22 };

/* Keeps the node in float32 where the operator, the opset or a constant forbids the lower dtype. */
static void constrain(struct pass *pass, const struct amp_node *node, struct amp_decision *decision)
{
    int opset;
    if (decision->dtype == AMP_FLOAT || !find_opset(pass, node, decision, &opset))
        return;
    uint32_t weight = overflowing_weight(pass, node, decision);
    if (weight != AMP_NONE)
        keep_float(decision, AMP_REASON_WEIGHT_RANGE, weight);
    else if (amp_range_guards_find(pass->guards, &pass->promoter.types, node, decision))
        decision->dtype = AMP_FLOAT;
    else if (opset > pass->result->opset &&
             (decision->precision == AMP_LOWER || opset <= OPSET_TO_FOLLOW))
        pass->result->opset = opset;
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
    if (!amp_dtype_is_autocast(dtype) || (taken & AMP_DTYPE_BIT(dtype)) == 0)
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
    decision->whole = amp_wholes_of(&pass->result->wholes, id);
    decision->rule = pass->policies[id].rule;
    decision->op = pass->policies[id].op;
    decision->precision = pass->policies[id].precision;
    decision->reason = decision->rule ? AMP_REASON_RULE : AMP_REASON_UNLISTED;
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

/* Whether the parts of WHOLE stay together where a guard keeps one of them in float32: all, unless
   a product is among them, which is to be had in the lower dtype for itself. */
static bool stays_together(const struct pass *pass, const struct amp_whole *whole)
{
    for (size_t i = 0; i < whole->n_nodes; i++) {
        const struct amp_op *op = amp_op_of(amp_node_at(pass->model, whole->nodes[i]));
        if (op == NULL || op->flops.count != NULL)
            return false;
    }
    return true;
}

/* Whether a guard keeps a part of WHOLE in float32, and with it all; *FOUND then says why. */
static bool find_guard(const struct pass *pass, const struct amp_whole *whole,
                       struct amp_decision *found)
{
    if (!stays_together(pass, whole))
        return false;
    for (size_t i = 0; i < whole->n_nodes; i++) {
        *found = pass->result->nodes[whole->nodes[i]];
        if (found->type >= 0 &&
            amp_range_guards_find(pass->guards, &pass->promoter.types,
                                  amp_node_at(pass->model, whole->nodes[i]), found))
            return true;
    }
    return false;
}

/* Keeps DECISION in float32 for the reason of FOUND. */
static void keep_guarded(struct amp_decision *decision, const struct amp_decision *found)
{
    keep_float(decision, found->reason, found->value);
    decision->number = found->number;
    decision->seen = found->seen;
}

/* Decides all parts once the last of them is reached: only then everything is known that goes into
   the whole, and nobody outside takes what the others give. */
static void decide_whole(struct pass *pass, const struct amp_whole *whole)
{
    struct amp_decision found;
    for (size_t i = 0; i < whole->n_nodes; i++)
        begin(pass, whole->nodes[i]);
    bool is_guarded = find_guard(pass, whole, &found);
    for (size_t i = 0; i < whole->n_nodes; i++) {
        struct amp_decision *decision = &pass->result->nodes[whole->nodes[i]];
        if (decision->type < 0) {
            begin(pass, whole->nodes[i]); /* what it follows may have become another dtype */
            continue;
        }
        enum amp_dtype dtype =
            amp_policy_dtype_of_whole(&pass->promoter, whole, decision->precision);
        bool is_kept = is_guarded && dtype == pass->result->lower;
        finish(pass, whole->nodes[i], is_kept ? AMP_FLOAT : dtype);
        if (is_kept)
            keep_guarded(decision, &found);
    }
}

static void decide_next(struct pass *pass, uint32_t id)
{
    const struct amp_whole *whole = amp_wholes_of(&pass->result->wholes, id);
    if (whole == NULL)
        decide(pass, id);
    else if (whole->root == id)
        decide_whole(pass, whole);
}

static void assign_graph(struct pass *pass, uint32_t graph)
{
    const struct amp_ids *nodes = &pass->model->graphs[graph].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(pass->model, nodes->items[i]);
        for (uint32_t a = 0; a < node->n_attrs; a++)
            for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
                assign_graph(pass, node->attrs[a].graphs[k]);
        amp_static_values_add(pass->static_values, node);
        amp_range_guards_add(pass->guards, node);
        amp_promoter_enter(&pass->promoter, nodes->items[i]);
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

/* Whether every use of VALUE wants the lower dtype. */
static bool is_wanted_lower(const struct pass *pass, uint32_t value)
{
    const struct amp_uses *uses = &pass->uses;
    bool is_wanted =
        uses->first[value] < uses->first[value + 1] && !amp_value_at(pass->model, value)->is_output;
    for (uint32_t u = uses->first[value]; u < uses->first[value + 1] && is_wanted; u++) {
        const struct amp_node *user = amp_node_at(pass->model, uses->items[u].node);
        const struct amp_schema *schema = user->schema ? amp_schema_at_cap(user, pass->cap) : NULL;
        is_wanted = amp_assigned_dtype(pass->model, pass->result, uses->items[u].node, schema,
                                       uses->items[u].slot) == pass->result->lower;
    }
    return is_wanted;
}

/* Whether NODE only moves the values of constants, for whatever follows, and may do so in the lower
   dtype. */
static bool may_be_lowered(const struct pass *pass, const struct amp_node *node,
                           const struct amp_decision *decision)
{
    const struct amp_op *op = amp_op_of(node);
    if (decision->precision != AMP_FOLLOW || decision->reason != AMP_REASON_UNLISTED ||
        op == NULL || op->effect != AMP_PRESERVES_VALUES ||
        !amp_static_values_has_node(pass->static_values, node))
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] != AMP_NONE && pass->is_refused[node->inputs[i]])
            return false;
    return true;
}

/* A weight that is reshaped or transposed before its use takes the dtype of its consumers, so that
   it is converted offline and not by a cast behind the reshaping. What it holds beyond the range
   was theirs to take. */
static void lower_static_node(struct pass *pass, uint32_t id)
{
    const struct amp_node *node = amp_node_at(pass->model, id);
    struct amp_decision *decision = &pass->result->nodes[id];
    int opset;
    if (!may_be_lowered(pass, node, decision))
        return;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && !is_wanted_lower(pass, node->outputs[i]))
            return;
    decision->dtype = pass->result->lower;
    find_opset(pass, node, decision, &opset);
    set_outputs(pass, node, decision);
}

static void lower_static_nodes(struct pass *pass)
{
    for (size_t i = pass->n_order; i > 0; i--)
        lower_static_node(pass, pass->order[i - 1]);
}

/* Whether the guards that reach VALUE will saturate offline: it is a constant, or a ConstantOfShape
   that can give the lower dtype, or moved in the lower dtype. */
static bool saturates_offline(const struct pass *pass, uint32_t value_id)
{
    const struct amp_value *value = amp_value_at(pass->model, value_id);
    if (value->constant != NULL || pass->result->values[value_id] == pass->result->lower)
        return true;
    return amp_static_values_origin(pass->static_values, value_id) == value_id &&
           amp_schema_takes(amp_schema_find("", "ConstantOfShape", pass->result->opset), "T2",
                            pass->result->lower);
}

/* Refuses the guards that a cast would meet while the model runs, as it would make infinities of
   them. Whether there are any. */
static bool refuse_guards(struct pass *pass)
{
    bool found = false;
    for (size_t k = 0; k < pass->n_order; k++) {
        const struct amp_node *node = amp_node_at(pass->model, pass->order[k]);
        const struct amp_decision *decision = &pass->result->nodes[pass->order[k]];
        for (uint32_t i = 0; i < node->n_inputs && decision->dtype == pass->result->lower; i++) {
            uint32_t id = amp_typed_input(&pass->promoter.types, node, decision->type, i);
            if (id == AMP_NONE || pass->is_refused[id] ||
                amp_static_values_origin(pass->static_values, id) == AMP_NONE ||
                saturates_offline(pass, id))
                continue;
            pass->is_refused[id] = found = true;
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
    if (interface->count > 0 && result->opset < pass->cast_opset)
        result->opset = pass->cast_opset;
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

/* The greatest magnitude of a constant that the rules let into the lower dtype. */
static double weight_max(const struct amp_assign_options *options)
{
    const struct amp_rule_limits *limits = amp_rules_limits(options->rules, options->lower);
    return limits == NULL ? amp_dtype_max(options->lower) : limits->weight_max;
}

static struct amp_range_guards *create_guards(const struct pass *pass,
                                              const struct amp_assign_options *options)
{
    struct amp_range_guard_options guarded = {.model = pass->model,
                                              .lower = options->lower,
                                              .limits =
                                                  amp_rules_limits(options->rules, options->lower),
                                              .ranges = options->ranges,
                                              .static_values = pass->static_values};
    return amp_range_guards_create(&guarded);
}

enum amp_status amp_assign(const struct amp_model *model, const struct amp_assign_options *options,
                           struct amp_assignment *assignment, struct amp_error *err)
{
    struct amp_arena *arena = model->arena;
    int opset = (int)amp_model_opset(model, "");
    *assignment = (struct amp_assignment){
        .lower = options->lower,
        .nodes = amp_arena_array(arena, model->n_nodes, sizeof *assignment->nodes),
        .values = amp_arena_array(arena, model->n_values, sizeof *assignment->values),
        .is_interface = amp_arena_array(arena, model->n_values, sizeof(bool)),
        .n_nodes = model->n_nodes};
    const struct amp_policy *policies;
    amp_wholes_find(model, options->rules, &assignment->wholes);
    AMP_TRY(amp_policies_find(model, options->rules, &assignment->wholes, &policies, err));
    struct pass pass = {.model = model,
                        .cap = options->cap > opset ? options->cap : opset,
                        .cast_opset = amp_opset_of_cast(options->lower),
                        .result = assignment,
                        .policies = policies,
                        .static_values =
                            amp_static_values_create(model, options->lower, weight_max(options)),
                        .is_refused = amp_xcalloc(model->n_values, sizeof *pass.is_refused),
                        .order = amp_xmalloc(model->n_nodes, sizeof *pass.order),
                        .uses = amp_uses_create(model)};
    pass.guards = create_guards(&pass, options);
    pass.carries = amp_sequences_find(model, &pass.uses, options->lower);
    pass.is_folded = amp_folded_find(model, options->rules);
    pass.scopes = amp_recurrent_scopes_find(model);
    pass.promoter =
        (struct amp_promoter){.types = {model, pass.cap},
                              .lower = options->lower,
                              .constants = options->rules->constants,
                              .values = assignment->values,
                              .nodes = assignment->nodes,
                              .wholes = &assignment->wholes,
                              .static_values = pass.static_values,
                              .is_folded = pass.is_folded,
                              .scopes = pass.scopes,
                              .has_promoting_constants = &assignment->has_promoting_constants};
    do {
        reset(&pass, options);
        assign_graph(&pass, 0);
        lower_static_nodes(&pass);
    } while (refuse_guards(&pass));
    amp_uses_destroy(&pass.uses);
    free(pass.order);
    free(pass.is_refused);
    free(pass.carries);
    free(pass.is_folded);
    free(pass.scopes);
    amp_range_guards_destroy(pass.guards);
    amp_static_values_destroy(pass.static_values);
    return amp_custom_check(model, assignment, err);
}
