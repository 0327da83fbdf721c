/*
 * What the rules want of every node: takes the rules and the wholes of a model, gives a
 * precision per node. Whether a node can have it is assign.c's matter. Precisions that depend on
 * the surroundings are settled here by painting the graph in a few linear sweeps; the order of the
 * sweeps is that of TensorFlow's grappler (auto_mixed_precision).
 */
#include "autocast/policy.h"

#include "autocast/rules/match.h"
#include "autocast/wholes.h"
#include "core/graph/uses.h"
#include "ops/op.h"
#include "pattern/composites.h"

#include <stdlib.h>

/* ---- rules ---- */

static struct amp_rule_part part_of(const struct amp_model *model, const struct amp_whole *whole,
                                    uint32_t id)
{
    struct amp_rule_part part = {.self = amp_rule_subject(model, id)};
    if (whole == NULL)
        return part;
    part.whole = whole->subject;
    part.head = amp_rule_subject(model, whole->entry);
    part.has_head = whole->composite != NULL && whole->composite->head != NULL;
    return part;
}

static struct amp_policy policy_of(const struct amp_model *model, const struct amp_rules *rules,
                                   const struct amp_wholes *wholes, uint32_t id)
{
    struct amp_policy policy = {.precision = rules->unlisted};
    const struct amp_whole *whole = amp_wholes_of(wholes, id);
    struct amp_rule_part part = part_of(model, whole, id);
    if (whole == NULL) {
        policy.rule = amp_rules_match_subject(rules, &part.self);
        policy.op = policy.rule ? amp_rule_named_op(rules, policy.rule, &part.self) : NULL;
    } else {
        policy.rule = amp_rules_match_part(rules, &part, &policy.op);
    }
    if (policy.rule != NULL)
        policy.precision = policy.rule->precision;
    return policy;
}

void amp_policies_trace(const struct amp_model *model, const struct amp_rules *rules,
                        const struct amp_wholes *wholes, bool *matches, bool *decides)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_whole *whole = amp_wholes_of(wholes, id);
        const struct amp_rule *rule =
            decides != NULL ? policy_of(model, rules, wholes, id).rule : NULL;
        struct amp_rule_part part = part_of(model, whole, id);
        if (rule != NULL)
            decides[rule - rules->items] = true;
        amp_rules_note_matches(rules, &part, whole == NULL, matches);
    }
}

/* ---- painting ---- */

enum {
    REACHES = 1, /* AMP_FP32 spreads through it: it is AMP_FP32 or AMP_INFER, or AMP_CLEAR above */
    DENIED = 2,
    ALLOWED = 4,
    BELOW = 8,    /* an allowed node is above, with nothing but AMP_INFER and AMP_CLEAR between */
    BETWEEN = 16, /* and another one below */
    BESIDE = 32   /* AMP_CLEAR next to an allowed node */
};

enum { UP = 1, DOWN = 2 };

struct painter {
    const struct amp_model *model;
    const struct amp_policy *policies;
    struct amp_uses uses;
    unsigned char *paint; /* per node id */
    uint32_t *stack;      /* nodes to look around from; each is there once in a sweep */
    size_t depth;
};

typedef bool painter_test(const struct painter *painter, uint32_t node);

struct sweep {
    unsigned directions;
    painter_test *enters; /* the nodes that are painted on the way */
    unsigned char color;
};

static void enter(struct painter *painter, const struct sweep *sweep, uint32_t node)
{
    if ((painter->paint[node] & sweep->color) == 0 && sweep->enters(painter, node)) {
        painter->paint[node] |= sweep->color;
        painter->stack[painter->depth++] = node;
    }
}

static bool is_float_value(const struct painter *painter, uint32_t id)
{
    return id != AMP_NONE && amp_dtype_is_autocast(amp_value_at(painter->model, id)->dtype);
}

static void look_up(struct painter *painter, const struct sweep *sweep, uint32_t id)
{
    const struct amp_node *node = amp_node_at(painter->model, id);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t value = node->inputs[i];
        if (is_float_value(painter, value) &&
            amp_value_at(painter->model, value)->producer != AMP_NONE)
            enter(painter, sweep, amp_value_at(painter->model, value)->producer);
    }
}

static void look_down(struct painter *painter, const struct sweep *sweep, uint32_t id)
{
    const struct amp_node *node = amp_node_at(painter->model, id);
    const struct amp_uses *uses = &painter->uses;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        uint32_t value = node->outputs[i];
        if (is_float_value(painter, value))
            for (uint32_t u = uses->first[value]; u < uses->first[value + 1]; u++)
                enter(painter, sweep, uses->items[u].node);
    }
}

/* Paints the nodes that are STARTS, and from there what the sweep enters. */
static void run_sweep(struct painter *painter, const struct sweep *sweep, painter_test *starts)
{
    for (uint32_t id = 0; id < painter->model->n_nodes; id++) {
        if (!starts(painter, id))
            continue;
        painter->paint[id] |= sweep->color;
        painter->stack[painter->depth++] = id;
        while (painter->depth > 0) {
            uint32_t at = painter->stack[--painter->depth];
            if (sweep->directions & UP)
                look_up(painter, sweep, at);
            if (sweep->directions & DOWN)
                look_down(painter, sweep, at);
        }
    }
}

/* ---- the sweeps ---- */

static bool has_policy(const struct painter *painter, uint32_t id, enum amp_precision precision)
{
    return painter->policies[id].rule != NULL && painter->policies[id].precision == precision;
}

/* Whether node ID is clear: by a rule, or because it is a Cast, through which data go on, so that a
   model that was converted before is decided on as the original. */
static bool is_clear(const struct painter *painter, uint32_t id)
{
    return has_policy(painter, id, AMP_CLEAR) ||
           amp_node_has_role(amp_node_at(painter->model, id), AMP_ROLE_CAST);
}

static bool is_denied_or_inferred(const struct painter *painter, uint32_t id)
{
    return has_policy(painter, id, AMP_FP32) || has_policy(painter, id, AMP_INFER);
}

static bool is_denied_by_rule(const struct painter *painter, uint32_t id)
{
    return has_policy(painter, id, AMP_FP32);
}

static bool takes_denial(const struct painter *painter, uint32_t id)
{
    return (painter->paint[id] & REACHES) != 0;
}

static bool is_allowed(const struct painter *painter, uint32_t id)
{
    return amp_precision_is_lower(painter->policies[id].precision);
}

static bool is_open(const struct painter *painter, uint32_t id)
{
    return (painter->paint[id] & (DENIED | ALLOWED)) == 0 &&
           (is_clear(painter, id) || has_policy(painter, id, AMP_INFER));
}

static bool is_below(const struct painter *painter, uint32_t id)
{
    return (painter->paint[id] & BELOW) != 0;
}

static bool is_painted_allowed(const struct painter *painter, uint32_t id)
{
    return (painter->paint[id] & (ALLOWED | BETWEEN)) != 0;
}

static bool is_open_and_clear(const struct painter *painter, uint32_t id)
{
    return !is_painted_allowed(painter, id) && is_open(painter, id) && is_clear(painter, id);
}

static bool never(const struct painter *painter, uint32_t id)
{
    (void)painter, (void)id;
    return false;
}

static void paint(struct painter *painter)
{
    static const struct {
        struct sweep sweep;
        painter_test *starts;
    } steps[] = {
        {{UP, is_clear, REACHES}, is_denied_or_inferred},
        {{DOWN, takes_denial, DENIED}, is_denied_by_rule},
        {{0, never, ALLOWED}, is_allowed},
        {{DOWN, is_open, BELOW}, is_allowed},
        {{UP, is_below, BETWEEN}, is_allowed},
        {{UP | DOWN, is_open_and_clear, BESIDE}, is_painted_allowed},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        run_sweep(painter, &steps[i].sweep, steps[i].starts);
}

/* Settles the policies that depend on their surroundings. */
static void settle(const struct amp_model *model, struct amp_policy *policies)
{
    struct painter painter = {.model = model,
                              .policies = policies,
                              .uses = amp_uses_create(model),
                              .paint = amp_xcalloc(model->n_nodes, 1),
                              .stack = amp_xmalloc(model->n_nodes, sizeof(uint32_t))};
    paint(&painter);
    for (uint32_t id = 0; id < model->n_nodes; id++)
        if (policies[id].precision == AMP_INFER || policies[id].precision == AMP_CLEAR)
            policies[id].precision = painter.paint[id] & (BETWEEN | BESIDE) ? AMP_LOWER : AMP_FP32;
    free(painter.stack);
    free(painter.paint);
    amp_uses_destroy(&painter.uses);
}

static bool depends_on_surroundings(const struct amp_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].precision == AMP_INFER || rules->items[i].precision == AMP_CLEAR)
            return true;
    return false;
}

enum amp_status amp_policies_find(const struct amp_model *model, const struct amp_rules *rules,
                                  const struct amp_wholes *wholes,
                                  const struct amp_policy **policies, struct amp_error *err)
{
    struct amp_policy *found = amp_arena_array(model->arena, model->n_nodes, sizeof *found);
    for (uint32_t id = 0; id < model->n_nodes; id++)
        found[id] = policy_of(model, rules, wholes, id);
    AMP_TRY(amp_rules_check_work(rules, err));
    if (depends_on_surroundings(rules))
        settle(model, found);
    *policies = found;
    return AMP_OK;
}
