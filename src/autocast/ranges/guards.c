/*
 * Guards: takes what was seen and what is proved of values, says which nodes must not run in the
 * lower dtype, and why. A value that the lower dtype cannot hold keeps the node that gives it and
 * those that take it. It neither runs nor changes anything.
 */
#include "autocast/ranges/guards.h"

#include "autocast/ranges/bounds.h"
#include "autocast/rules/rule.h"
#include "autocast/weights.h"
#include "core/tensor.h"
#include "ops/bound.h"

#include <math.h>
#include <stdlib.h>

/* From where on sums round to infinities in float16: half of what lies between the largest one and
   the one before is above it. */
static const double infinite_from = 65520;

struct finding {
    enum amp_reason reason; /* AMP_REASON_RULE: there is none */
    uint32_t value;
    double number;
    enum amp_range_source seen;
};

struct amp_range_guards {
    struct amp_range_guard_options options;
    double margin;
    struct amp_bounds *bounds, *tight; /* tight: with weights; NULL: not asked for yet */
    struct finding *findings;          /* per value id */
    double *masks;                     /* per value id: the magnitude of constants in it that the
                                          limit is near to, or that saturate; 0: there are none */
    bool *divides;                     /* per value id: a 0 in it makes an infinity */
};

/* ---- what is known of values ----------------------------------------------------------------- */

/* What was seen of VALUE; NULL: nothing. */
static const struct amp_range *seen_of(const struct amp_range_guards *guards, uint32_t value)
{
    const struct amp_value *at = amp_value_at(guards->options.model, value);
    const struct amp_ranges *ranges = guards->options.ranges;
    const struct amp_value_range *entry =
        ranges == NULL || at->graph != 0 || !amp_dtype_is_autocast(at->dtype)
            ? NULL
            : amp_ranges_find(ranges, at->name);
    return entry == NULL || entry->seen.count == 0 ? NULL : &entry->seen;
}

/* The largest magnitude that is proved of VALUE, weights read. */
static double proved_largest(struct amp_range_guards *guards, uint32_t value)
{
    if (guards->tight == NULL)
        guards->tight = amp_bounds_create(guards->options.model, guards->options.ranges, true);
    return amp_interval_largest(amp_bounds_of(guards->tight, value));
}

static struct finding found(const struct amp_range_guards *guards, enum amp_reason reason,
                            uint32_t value, double number)
{
    return (struct finding){reason, value, number, guards->options.ranges->source};
}

static struct finding proved(enum amp_reason reason, uint32_t value, double number)
{
    return (struct finding){reason, value, number, AMP_RANGES_UNSEEN};
}

static const struct finding nothing = {.reason = AMP_REASON_RULE};

static bool is_something(const struct finding *finding)
{
    return finding->reason != AMP_REASON_RULE;
}

/* Whether a magnitude, which was seen, is beyond the limit with its margin. */
static bool is_beyond(const struct amp_range_guards *guards, double magnitude)
{
    return magnitude * guards->margin > guards->options.limits->activation_max;
}

/* What was seen of VALUE that the lower dtype cannot hold. */
static struct finding judge_seen(struct amp_range_guards *guards, uint32_t value,
                                 const struct amp_range *seen)
{
    double largest = amp_range_largest(seen), limit = guards->options.limits->activation_max;
    bool is_half = guards->options.lower == AMP_FLOAT16;
    if (is_beyond(guards, largest) && guards->masks[value] == 0 &&
        (largest > limit || proved_largest(guards, value) > limit))
        return found(guards, AMP_REASON_VALUE_RANGE, value, largest);
    if (is_half && seen->flushed > seen->energy * guards->options.limits->flush_max)
        return found(guards, AMP_REASON_FLUSH, value, seen->smallest);
    if (is_half && guards->divides[value] && seen->smallest > 0 &&
        seen->smallest <= AMP_WEIGHT_FLUSHES)
        return found(guards, AMP_REASON_FLUSH, value, seen->smallest);
    return nothing;
}

/* What is proved of VALUE, which no constant is, that the lower dtype cannot hold: it is not 0, but
   may become so; or it is beyond the limit in any case. */
static struct finding judge_proved(const struct amp_range_guards *guards, uint32_t value)
{
    double least = amp_interval_least(amp_bounds_of(guards->bounds, value));
    if (least > guards->options.limits->activation_max && guards->masks[value] == 0)
        return proved(AMP_REASON_VALUE_RANGE, value, least);
    if (guards->options.lower == AMP_FLOAT16 && least > 0 && least <= AMP_WEIGHT_FLUSHES)
        return proved(AMP_REASON_FLUSH, value, least);
    return nothing;
}

static bool is_float(const struct amp_range_guards *guards, uint32_t value)
{
    return value != AMP_NONE &&
           amp_dtype_is_autocast(amp_value_at(guards->options.model, value)->dtype);
}

static bool is_static(const struct amp_range_guards *guards, uint32_t value)
{
    return amp_static_values_has(guards->options.static_values, value);
}

static void judge(struct amp_range_guards *guards, uint32_t value)
{
    const struct amp_range *seen = seen_of(guards, value);
    struct finding finding = nothing;
    if (seen != NULL)
        finding = judge_seen(guards, value, seen);
    if (!is_something(&finding))
        finding = judge_proved(guards, value);
    guards->findings[value] = finding;
}

/* ---- zeros that divide ----------------------------------------------------------------------- */

/* Marks the inputs of NODE whose zeros come to divide. */
static void mark_divisors(struct amp_range_guards *guards, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    uint32_t out = node->n_outputs > 0 ? node->outputs[0] : AMP_NONE;
    if (op == NULL)
        return;
    bool passes_on = out != AMP_NONE && guards->divides[out];
    bool moves = op->effect == AMP_PRESERVES_VALUES || op->role == AMP_ROLE_CAST;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        bool divides = i < 32 && (op->divides & AMP_INPUT(i)) != 0;
        bool keeps = i < 32 && (op->keeps_zero & AMP_INPUT(i)) != 0;
        if (node->inputs[i] != AMP_NONE && (divides || (passes_on && (keeps || moves))))
            guards->divides[node->inputs[i]] = true;
    }
}

static void find_divisors(struct amp_range_guards *guards)
{
    const struct amp_ids *nodes = &guards->options.model->graphs[0].nodes;
    for (size_t i = nodes->count; i > 0; i--)
        mark_divisors(guards, amp_node_at(guards->options.model, nodes->items[i - 1]));
}

/* ---- masks ----------------------------------------------------------------------------------- */

/* The largest magnitude that VALUE is known to have, what was seen with its margin. */
static double known_largest(const struct amp_range_guards *guards, uint32_t value)
{
    double largest = amp_interval_largest(amp_bounds_of(guards->bounds, value));
    const struct amp_range *seen = seen_of(guards, value);
    return seen == NULL ? largest : fmin(largest, amp_range_largest(seen) * guards->margin);
}

/* The largest magnitude of VALUE, a constant or computed from constants. */
static double static_largest(const struct amp_range_guards *guards, uint32_t value)
{
    double of_data = amp_static_values_max(guards->options.static_values, value);
    return of_data >= 0 ? of_data : amp_interval_largest(amp_bounds_of(guards->bounds, value));
}

/* The magnitude of the constants in VALUE that are no data but a mask, as guards->masks. */
static double mask_of(const struct amp_range_guards *guards, uint32_t value)
{
    double limit = guards->options.limits->activation_max;
    if (!is_static(guards, value))
        return guards->masks[value];
    if (amp_static_values_origin(guards->options.static_values, value) != AMP_NONE)
        return limit;
    double largest = static_largest(guards, value);
    return isfinite(largest) && is_beyond(guards, largest) ? fmin(largest, limit) : 0;
}

/* Whether masks among NODE's inputs are found in its outputs as they are: it moves, bounds or adds,
   or multiplies with what was not seen to be more than 1. */
static bool passes_masks(const struct amp_range_guards *guards, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    bool scales = false;
    for (uint32_t i = 0; i < node->n_inputs && op->role == AMP_ROLE_MUL; i++) {
        const struct amp_range *seen = seen_of(guards, node->inputs[i]);
        scales |=
            mask_of(guards, node->inputs[i]) == 0 && seen != NULL && amp_range_largest(seen) > 1;
    }
    return op->effect == AMP_PRESERVES_VALUES || op->guard_use != AMP_GUARD_NONE ||
           op->role == AMP_ROLE_CAST || (op->role == AMP_ROLE_MUL && !scales);
}

/* The mask that NODE's outputs hold. */
static double mask_through(const struct amp_range_guards *guards, const struct amp_node *node)
{
    double mask = 0;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (is_float(guards, node->inputs[i]))
            mask = fmax(mask, mask_of(guards, node->inputs[i]));
    return mask > 0 && passes_masks(guards, node) ? mask : 0;
}

/* The input of NODE that adds so much to a mask that the sum may round to an infinity; of two masks
   the second. AMP_NONE: none does. What nobody knows counts where the mask is as large as can be.
 */
static uint32_t too_much(const struct amp_range_guards *guards, const struct amp_node *node,
                         double mask)
{
    bool has_mask = false;
    uint32_t other = AMP_NONE;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t id = node->inputs[i];
        if (!is_float(guards, id))
            continue;
        bool is_mask = mask_of(guards, id) > 0;
        double largest = known_largest(guards, id);
        bool is_much = mask + largest >= infinite_from &&
                       (isfinite(largest) || mask >= guards->options.limits->activation_max);
        if (is_mask ? has_mask : is_much)
            other = id;
        has_mask |= is_mask;
    }
    return other;
}

/* That VALUE adds too much to a mask. */
static struct finding find_mask(const struct amp_range_guards *guards, uint32_t value)
{
    double largest = amp_interval_largest(amp_bounds_of(guards->bounds, value));
    const struct amp_range *seen = seen_of(guards, value);
    return seen != NULL ? found(guards, AMP_REASON_MASK, value, amp_range_largest(seen))
                        : proved(AMP_REASON_MASK, value, largest);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Notes that NODE's outputs have FINDING, of one of its inputs, as they hold the same elements. */
static void pass_on(struct amp_range_guards *guards, const struct amp_node *node)
{
    struct finding finding = nothing;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (is_float(guards, node->inputs[i]) && is_something(&guards->findings[node->inputs[i]]) &&
            guards->findings[node->inputs[i]].reason != AMP_REASON_VALUE_RANGE)
            finding = guards->findings[node->inputs[i]];
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (is_something(&finding) && is_float(guards, node->outputs[i]) &&
            !is_something(&guards->findings[node->outputs[i]]))
            guards->findings[node->outputs[i]] = finding;
}

static bool all_static(const struct amp_range_guards *guards, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE && !is_static(guards, node->outputs[i]))
            return false;
    return true;
}

void amp_range_guards_add(struct amp_range_guards *guards, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    if (guards == NULL || all_static(guards, node))
        return;
    double mask = op != NULL ? mask_through(guards, node) : 0;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        if (!is_float(guards, node->outputs[i]))
            continue;
        guards->masks[node->outputs[i]] = mask;
        judge(guards, node->outputs[i]);
    }
    if (op != NULL && op->effect == AMP_PRESERVES_VALUES)
        pass_on(guards, node);
    if (mask > 0 && op->guard_use == AMP_GUARD_ADDS && guards->options.lower == AMP_FLOAT16) {
        uint32_t other = too_much(guards, node, mask);
        if (other != AMP_NONE)
            guards->findings[node->outputs[0]] = find_mask(guards, other);
    }
}

/* That VALUE, a constant that a node takes, becomes 0, or too much of it does, whatever else the
   node takes. */
static struct finding find_flushed(const struct amp_range_guards *guards, uint32_t value)
{
    double flush_max = guards->options.limits->flush_max;
    if (!is_static(guards, value) || guards->options.lower != AMP_FLOAT16)
        return nothing;
    double largest = static_largest(guards, value);
    if (largest > 0 && largest <= AMP_WEIGHT_FLUSHES)
        return proved(AMP_REASON_FLUSH, value, largest);
    double share = amp_static_values_flushed(guards->options.static_values, value, flush_max);
    return share > flush_max ? proved(AMP_REASON_WEIGHT_FLUSH, value, share) : nothing;
}

/* What reaches beyond the limit within NODE. */
static struct finding find_inner(const struct amp_range_guards *guards, const struct amp_node *node)
{
    static const struct amp_range unseen = {.count = 0};
    const struct amp_op *op = amp_op_of(node);
    if (op == NULL || op->inner == NULL || node->outputs[0] == AMP_NONE)
        return nothing;
    const struct amp_range **in = amp_xmalloc(node->n_inputs, sizeof *in);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_range *seen =
            node->inputs[i] == AMP_NONE ? NULL : seen_of(guards, node->inputs[i]);
        in[i] = seen != NULL ? seen : &unseen;
    }
    const struct amp_range *out = seen_of(guards, node->outputs[0]);
    struct amp_inner_call call = {node, in, out != NULL ? out : &unseen};
    double inner = op->inner(&call);
    free(in);
    return is_beyond(guards, inner) ? found(guards, AMP_REASON_INNER_RANGE, node->inputs[0], inner)
                                    : nothing;
}

/* Partial sums of NODE, a product, that may be beyond the limit with inputs as they were seen:
   their magnitudes times those of the weights. */
static struct finding find_sums(const struct amp_range_guards *guards, const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    double limit = guards->options.limits->activation_max;
    bool is_product = op != NULL && op->flops.count != NULL && op->bound != NULL;
    if (!is_product || guards->options.lower != AMP_FLOAT16 ||
        seen_of(guards, node->inputs[0]) == NULL)
        return nothing;
    struct amp_interval *in = amp_xmalloc(node->n_inputs, sizeof *in);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t id = node->inputs[i];
        const struct amp_range *seen = id == AMP_NONE ? NULL : seen_of(guards, id);
        in[i] = id == AMP_NONE ? amp_interval_all() : amp_bounds_of(guards->bounds, id);
        if (seen != NULL)
            in[i] = (struct amp_interval){seen->minimum, seen->maximum};
    }
    double most = amp_interval_largest(amp_bounds_from(guards->options.model, node, in, limit));
    free(in);
    return isfinite(most) && most > limit
               ? found(guards, AMP_REASON_PARTIAL_SUMS, node->inputs[0], most)
               : nothing;
}

/* The first finding about the constants that NODE, which does nothing but move them, would lose. */
static struct finding find_moved(const struct amp_range_guards *guards,
                                 const struct amp_types *types, const struct amp_node *node,
                                 int type)
{
    const struct amp_op *op = amp_op_of(node);
    struct finding finding = nothing;
    if (op == NULL || op->effect != AMP_PRESERVES_VALUES)
        return nothing;
    for (uint32_t i = 0; i < node->n_inputs && !is_something(&finding); i++) {
        uint32_t id = amp_typed_input(types, node, type, i);
        if (id != AMP_NONE)
            finding = find_flushed(guards, id);
    }
    return finding;
}

/* The first finding about NODE's outputs, its inputs and what is within it. */
static struct finding find(struct amp_range_guards *guards, const struct amp_types *types,
                           const struct amp_node *node, int type)
{
    struct finding finding = nothing;
    for (uint32_t i = 0; i < node->n_outputs && !is_something(&finding); i++) {
        uint32_t id = amp_typed_output(types, node, type, i);
        if (id != AMP_NONE)
            finding = guards->findings[id];
    }
    for (uint32_t i = 0; i < node->n_inputs && !is_something(&finding); i++) {
        uint32_t id = amp_typed_input(types, node, type, i);
        if (id == AMP_NONE)
            continue;
        finding = guards->findings[id];
        if (!is_something(&finding))
            finding = find_flushed(guards, id);
    }
    if (!is_something(&finding))
        finding = find_sums(guards, node);
    return is_something(&finding) ? finding : find_inner(guards, node);
}

bool amp_range_guards_find(struct amp_range_guards *guards, const struct amp_types *types,
                           const struct amp_node *node, struct amp_decision *decision)
{
    if (guards == NULL)
        return false;
    struct finding finding = all_static(guards, node)
                                 ? find_moved(guards, types, node, decision->type)
                                 : find(guards, types, node, decision->type);
    if (!is_something(&finding))
        return false;
    decision->reason = finding.reason;
    decision->value = finding.value;
    decision->number = finding.number;
    decision->seen = finding.seen;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct amp_range_guards *amp_range_guards_create(const struct amp_range_guard_options *options)
{
    const struct amp_ranges *ranges = options->ranges;
    size_t n_values = options->model->n_values;
    bool is_seen = ranges != NULL && ranges->source != AMP_RANGES_UNSEEN;
    if (options->lower != AMP_FLOAT16 && !(options->lower == AMP_BFLOAT16 && is_seen))
        return NULL;
    if (options->limits->guards == AMP_GUARDS_OFF)
        return NULL;
    struct amp_range_guards *guards = amp_xmalloc(1, sizeof *guards);
    *guards = (struct amp_range_guards){
        .options = *options,
        .margin = options->limits->margin *
                  (is_seen && ranges->source == AMP_RANGES_RANDOM ? AMP_RULE_RANDOM_MARGIN : 1),
        .bounds = amp_bounds_create(options->model, ranges, false),
        .findings = amp_xcalloc(n_values, sizeof *guards->findings),
        .masks = amp_xcalloc(n_values, sizeof *guards->masks),
        .divides = amp_xcalloc(n_values, sizeof *guards->divides)};
    find_divisors(guards);
    for (uint32_t v = 0; v < n_values; v++) {
        guards->findings[v] = nothing;
        if (amp_value_at(options->model, v)->is_input && !is_static(guards, v))
            judge(guards, v);
    }
    return guards;
}

void amp_range_guards_destroy(struct amp_range_guards *guards)
{
    if (guards == NULL)
        return;
    amp_bounds_destroy(guards->bounds);
    amp_bounds_destroy(guards->tight);
    free(guards->findings);
    free(guards->masks);
    free(guards->divides);
    free(guards);
}
