/*
 * Runs two models side by side, so that of what they compute no more is held than the other still
 * needs. Takes two sessions and the pairs of their values; shows each pair to an onlooker when both
 * have it. The node of the converted model that gives it runs once more before its turn, on the
 * reference's values, in the session that runs the model itself: weights are there once.
 */
#include "check/lockstep.h"

#include "core/clock.h"
#include "core/tensor.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"
#include "run/exec/walk.h"

#include <stdlib.h>
#include <string.h>

/* A step of the converted model. */
struct turn {
    struct amp_ids reads;  /* values of the main graph that it or a body of it reads */
    struct amp_ids writes; /* the values that it gives */
    size_t n_reference;    /* steps of the reference that must have run before */
    bool is_shown;         /* what it gives is compared, or leads to what is */
    bool draws;            /* it gives other numbers when it runs again */
};

struct amp_lockstep {
    const struct amp_pairs *pairs;
    struct amp_onlooker onlooker;
    struct amp_arena *arena;
    size_t n_paired;    /* values of the converted model that pairs know of */
    struct turn *turns; /* per step of the converted model; NULL before the first run */
    size_t n_turns;
    uint32_t *needs; /* per value of the reference: how many turns need it */
    size_t n_held;
    size_t *last_turn; /* per value of the converted model: the last that reads it, from 1 */

    /* Of the sample at hand. */
    struct amp_session *sessions[2];
    double *seconds[2];
    size_t n_done;           /* steps of the reference */
    uint32_t *pending;       /* what is left of NEEDS */
    struct amp_tensor *held; /* per value of the reference: what it holds, while that is pending */
    struct amp_tensor *own;  /* per value of the converted model: what a second run gave */
    struct amp_error *err;
};

/* ---- the turns ------------------------------------------------------------------------------- */

static uint32_t reference_of(const struct amp_lockstep *lockstep, const uint32_t *map,
                             uint32_t value)
{
    return value < lockstep->n_paired ? map[value] : AMP_NONE;
}

static uint32_t source_of(const struct amp_lockstep *lockstep, uint32_t value)
{
    return reference_of(lockstep, lockstep->pairs->source, value);
}

static uint32_t pair_of(const struct amp_lockstep *lockstep, uint32_t value)
{
    return reference_of(lockstep, lockstep->pairs->of, value);
}

static void push(struct amp_lockstep *lockstep, struct amp_ids *ids, uint32_t id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (ids->items[i] == id)
            return;
    uint32_t *slot =
        amp_arena_push(lockstep->arena, &ids->items, &ids->count, &ids->capacity, sizeof *slot);
    *slot = id;
}

/* Adds to TURN what varies among COUNT values that it or a body of it reads. */
static void add_reads(struct amp_lockstep *lockstep, struct turn *turn, const uint32_t *values,
                      size_t count)
{
    const struct amp_model *model = amp_walk_model(lockstep->sessions[1]);
    for (size_t i = 0; i < count; i++) {
        const struct amp_value *value =
            values[i] == AMP_NONE ? NULL : amp_value_at(model, values[i]);
        if (value != NULL && value->graph == 0 && value->constant == NULL)
            push(lockstep, &turn->reads, values[i]);
    }
}

/* Whether NODE gives something else when it runs again. A Dropout that is told whether it trains
   may do so. */
static bool draws(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return op == NULL || op->draws || (op->role == AMP_ROLE_DROPOUT && node->n_inputs > 2);
}

/* Finds what the nodes of all graphs read, for the steps in or below which they run. */
static void find_reads(struct amp_lockstep *lockstep, struct turn **turn_of)
{
    const struct amp_model *model = amp_walk_model(lockstep->sessions[1]);
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        uint32_t container = node->is_removed ? AMP_NONE : amp_graph_container(model, id, 0);
        struct turn *turn = container == AMP_NONE ? NULL : turn_of[container];
        if (turn == NULL)
            continue;
        add_reads(lockstep, turn, node->inputs, node->n_inputs);
        turn->draws |= draws(node);
    }
    for (size_t g = 1; g < model->n_graphs; g++) {
        uint32_t container = amp_graph_container(model, model->graphs[g].owner, 0);
        struct turn *turn = container == AMP_NONE ? NULL : turn_of[container];
        if (turn != NULL)
            add_reads(lockstep, turn, model->graphs[g].outputs.items,
                      model->graphs[g].outputs.count);
    }
}

static void list_turns(struct amp_lockstep *lockstep)
{
    const struct amp_session *session = lockstep->sessions[1];
    const struct amp_model *model = amp_walk_model(session);
    struct turn **turn_of = amp_xcalloc(model->n_nodes, sizeof *turn_of);
    lockstep->n_turns = amp_walk_count(session);
    lockstep->turns = amp_arena_array(lockstep->arena, lockstep->n_turns, sizeof *lockstep->turns);
    for (size_t i = 0; i < lockstep->n_turns; i++) {
        const struct amp_node *node = amp_node_at(model, amp_walk_node(session, i));
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                push(lockstep, &lockstep->turns[i].writes, node->outputs[k]);
        if (!amp_walk_is_constant(session, i))
            turn_of[amp_walk_node(session, i)] = &lockstep->turns[i];
    }
    find_reads(lockstep, turn_of);
    free(turn_of);
}

/* Per value of the reference: how many of its steps must have run for it. */
static size_t *find_steps(const struct amp_session *session)
{
    const struct amp_model *model = amp_walk_model(session);
    size_t *steps = amp_xcalloc(model->n_values, sizeof *steps);
    for (size_t i = 0; i < amp_walk_count(session); i++) {
        const struct amp_node *node = amp_node_at(model, amp_walk_node(session, i));
        for (uint32_t k = 0; k < node->n_outputs; k++)
            if (node->outputs[k] != AMP_NONE)
                steps[node->outputs[k]] = i + 1;
    }
    return steps;
}

/* Whether what TURN gives is compared, or has no source and so is computed for what is. */
static bool is_shown(const struct amp_lockstep *lockstep, const struct turn *turn)
{
    for (size_t i = 0; i < turn->writes.count; i++) {
        uint32_t value = turn->writes.items[i];
        if (pair_of(lockstep, value) != AMP_NONE ||
            (source_of(lockstep, value) == AMP_NONE && turn->reads.count > 0))
            return true;
    }
    return false;
}

static void note_need(struct amp_lockstep *lockstep, struct turn *turn, uint32_t reference,
                      const size_t *steps)
{
    if (reference == AMP_NONE)
        return;
    lockstep->needs[reference]++;
    if (steps[reference] > turn->n_reference)
        turn->n_reference = steps[reference];
}

static void find_needs(struct amp_lockstep *lockstep)
{
    size_t *steps = find_steps(lockstep->sessions[0]);
    for (size_t i = 0; i < lockstep->n_turns; i++) {
        struct turn *turn = &lockstep->turns[i];
        turn->is_shown = is_shown(lockstep, turn);
        for (size_t k = 0; k < turn->reads.count; k++)
            lockstep->last_turn[turn->reads.items[k]] = i + 1;
        for (size_t k = 0; k < turn->reads.count && turn->is_shown; k++)
            note_need(lockstep, turn, source_of(lockstep, turn->reads.items[k]), steps);
        for (size_t k = 0; k < turn->writes.count; k++)
            note_need(lockstep, turn, pair_of(lockstep, turn->writes.items[k]), steps);
    }
    free(steps);
}

/* Plans the turns, which are the same for all samples. */
static void plan(struct amp_lockstep *lockstep)
{
    struct amp_arena *arena = lockstep->arena;
    size_t n_own = amp_walk_model(lockstep->sessions[1])->n_values;
    lockstep->n_held = amp_walk_model(lockstep->sessions[0])->n_values;
    lockstep->needs = amp_arena_array(arena, lockstep->n_held, sizeof *lockstep->needs);
    lockstep->pending = amp_arena_array(arena, lockstep->n_held, sizeof *lockstep->pending);
    lockstep->held = amp_arena_array(arena, lockstep->n_held, sizeof *lockstep->held);
    lockstep->own = amp_arena_array(arena, n_own, sizeof *lockstep->own);
    lockstep->last_turn = amp_arena_array(arena, n_own, sizeof *lockstep->last_turn);
    list_turns(lockstep);
    find_needs(lockstep);
}

/* ---- the reference --------------------------------------------------------------------------- */

static enum amp_status hold(struct amp_lockstep *lockstep, uint32_t value)
{
    return lockstep->pending[value] == 0
               ? AMP_OK
               : amp_walk_get(lockstep->sessions[0], value, &lockstep->held[value], lockstep->err);
}

static void let_go(struct amp_lockstep *lockstep, uint32_t reference)
{
    if (reference != AMP_NONE && --lockstep->pending[reference] == 0)
        amp_tensor_release(&lockstep->held[reference]);
}

static enum amp_status step_reference(struct amp_lockstep *lockstep)
{
    struct amp_session *session = lockstep->sessions[0];
    size_t step = lockstep->n_done++;
    const struct amp_node *node =
        amp_node_at(amp_walk_model(session), amp_walk_node(session, step));
    double start = amp_clock_seconds();
    AMP_TRY(amp_walk_compute(session, step, lockstep->err));
    *lockstep->seconds[0] += amp_clock_seconds() - start;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            AMP_TRY(hold(lockstep, node->outputs[i]));
    amp_walk_release(session, step);
    return AMP_OK;
}

static enum amp_status run_reference(struct amp_lockstep *lockstep, size_t n_steps)
{
    while (lockstep->n_done < n_steps)
        AMP_TRY(step_reference(lockstep));
    return AMP_OK;
}

/* ---- a node on the reference's values -------------------------------------------------------- */

/* A second run of a step. The arrays have an entry per value that it reads or gives. */
struct second {
    struct amp_tensor *saved; /* what the values that it reads hold in the run of the model */
    struct amp_tensor *given; /* and what they get; without data: the same */
    struct amp_tensor *outputs;
    bool is_other; /* it gets something else */
    bool has_run;
    struct amp_error error; /* why it has not */
};

/* What VALUE, of the type of NOW, is to be in the second run; without data: NOW itself. */
static enum amp_status give(struct amp_lockstep *lockstep, uint32_t value,
                            const struct amp_tensor *now, struct amp_tensor *given)
{
    uint32_t source = source_of(lockstep, value);
    const struct amp_tensor *from =
        source != AMP_NONE ? &lockstep->held[source] : &lockstep->own[value];
    if (from->data == NULL || from->data == now->data || from->form != now->form)
        return AMP_OK;
    return amp_tensor_cast_copy(from, now->dtype, given, lockstep->err);
}

static enum amp_status gather(struct amp_lockstep *lockstep, const struct turn *turn,
                              struct second *second)
{
    for (size_t i = 0; i < turn->reads.count; i++) {
        uint32_t value = turn->reads.items[i];
        AMP_TRY(amp_walk_get(lockstep->sessions[1], value, &second->saved[i], lockstep->err));
        AMP_TRY(give(lockstep, value, &second->saved[i], &second->given[i]));
        second->is_other |= second->given[i].data != NULL;
    }
    return AMP_OK;
}

/* Runs step I on what SECOND gives it. What goes wrong there is no failure of the run, unless the
   system refused something: the reference may hold what its own node alone can take. */
static enum amp_status try_step(struct amp_lockstep *lockstep, size_t i, struct second *second)
{
    struct amp_session *session = lockstep->sessions[1];
    const struct turn *turn = &lockstep->turns[i];
    enum amp_status status = AMP_OK;
    for (size_t k = 0; k < turn->reads.count && status == AMP_OK; k++)
        if (second->given[k].data != NULL)
            status = amp_walk_set(session, turn->reads.items[k], &second->given[k], &second->error);
    if (status == AMP_OK)
        status = amp_walk_compute(session, i, &second->error);
    for (size_t k = 0; k < turn->writes.count && status == AMP_OK; k++)
        status = amp_walk_get(session, turn->writes.items[k], &second->outputs[k], &second->error);
    second->has_run = status == AMP_OK;
    for (size_t k = 0; k < turn->reads.count; k++)
        if (second->given[k].data != NULL)
            AMP_TRY(amp_walk_set(session, turn->reads.items[k], &second->saved[k], lockstep->err));
    return second->error.status == AMP_IO ? amp_error_copy(lockstep->err, &second->error) : AMP_OK;
}

static enum amp_status run_second(struct amp_lockstep *lockstep, size_t i, struct second *second)
{
    enum amp_status status = gather(lockstep, &lockstep->turns[i], second);
    if (status == AMP_OK && second->is_other)
        status = try_step(lockstep, i, second);
    amp_tensors_release(second->saved, lockstep->turns[i].reads.count);
    amp_tensors_release(second->given, lockstep->turns[i].reads.count);
    return status;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* Shows output K of TURN, which the converted model holds as NOW, where it has a pair. */
static enum amp_status show(struct amp_lockstep *lockstep, const struct turn *turn, size_t k,
                            const struct second *second, const struct amp_tensor *now)
{
    uint32_t value = turn->writes.items[k], reference = pair_of(lockstep, value);
    if (reference == AMP_NONE || lockstep->held[reference].data == NULL || now->data == NULL)
        return AMP_OK;
    bool is_same = !second->is_other && !turn->draws;
    struct amp_sight sight = {.value = value,
                              .reference = &lockstep->held[reference],
                              .converted = now,
                              .local = second->has_run ? &second->outputs[k]
                                       : is_same       ? now
                                                       : NULL,
                              .why_not = second->error.text};
    return lockstep->onlooker.see(lockstep->onlooker.context, &sight, lockstep->err);
}

/* Shows what TURN gives, and keeps what the second run gave for those that have nothing better. */
static enum amp_status look(struct amp_lockstep *lockstep, const struct turn *turn,
                            const struct second *second)
{
    for (size_t k = 0; k < turn->writes.count; k++) {
        uint32_t value = turn->writes.items[k];
        struct amp_tensor now = {.data = NULL};
        AMP_TRY(amp_walk_get(lockstep->sessions[1], value, &now, lockstep->err));
        enum amp_status status = show(lockstep, turn, k, second, &now);
        amp_tensor_release(&now);
        AMP_TRY(status);
        if (second->has_run && source_of(lockstep, value) == AMP_NONE &&
            lockstep->last_turn[value] > 0)
            amp_tensor_refer(&lockstep->own[value], &second->outputs[k]);
    }
    return AMP_OK;
}

/* Runs step I of the converted model, before that once more on the reference's values. */
static enum amp_status compute(struct amp_lockstep *lockstep, size_t i, struct second *second)
{
    const struct turn *turn = &lockstep->turns[i];
    if (turn->is_shown && !turn->draws)
        AMP_TRY(run_second(lockstep, i, second));
    double start = amp_clock_seconds();
    AMP_TRY(amp_walk_compute(lockstep->sessions[1], i, lockstep->err));
    *lockstep->seconds[1] += amp_clock_seconds() - start;
    return look(lockstep, turn, second);
}

/* Lets go what no turn behind turn I needs. */
static void end_turn(struct amp_lockstep *lockstep, size_t i)
{
    const struct turn *turn = &lockstep->turns[i];
    for (size_t k = 0; k < turn->reads.count; k++) {
        uint32_t value = turn->reads.items[k];
        if (turn->is_shown)
            let_go(lockstep, source_of(lockstep, value));
        if (lockstep->last_turn[value] == i + 1)
            amp_tensor_release(&lockstep->own[value]);
    }
    for (size_t k = 0; k < turn->writes.count; k++)
        let_go(lockstep, pair_of(lockstep, turn->writes.items[k]));
    amp_walk_release(lockstep->sessions[1], i);
}

static enum amp_status take_turn(struct amp_lockstep *lockstep, size_t i)
{
    const struct turn *turn = &lockstep->turns[i];
    size_t n_reads = turn->reads.count, n_writes = turn->writes.count;
    AMP_TRY(run_reference(lockstep, turn->n_reference));
    struct amp_tensor *tensors = amp_xcalloc(2 * n_reads + n_writes, sizeof *tensors);
    struct second second = {.saved = tensors,
                            .given = tensors + n_reads,
                            .outputs = tensors + 2 * n_reads,
                            .error = {.status = AMP_OK}};
    enum amp_status status = compute(lockstep, i, &second);
    amp_tensors_release(second.outputs, n_writes);
    free(tensors);
    end_turn(lockstep, i);
    return status;
}

/* ---- a sample -------------------------------------------------------------------------------- */

static enum amp_status begin(struct amp_lockstep *lockstep, const struct amp_pair_run *pair)
{
    const struct amp_ids *inputs = &amp_walk_model(pair->sessions[0])->graphs[0].inputs;
    lockstep->n_done = 0;
    memcpy(lockstep->pending, lockstep->needs, lockstep->n_held * sizeof *lockstep->needs);
    for (int i = 0; i < 2; i++)
        AMP_TRY(amp_walk_begin(pair->sessions[i], pair->inputs[i], lockstep->err));
    for (size_t i = 0; i < inputs->count; i++)
        AMP_TRY(hold(lockstep, inputs->items[i]));
    return AMP_OK;
}

static enum amp_status run(struct amp_lockstep *lockstep, const struct amp_pair_run *pair)
{
    AMP_TRY(begin(lockstep, pair));
    for (size_t i = 0; i < lockstep->n_turns; i++)
        AMP_TRY(take_turn(lockstep, i));
    return run_reference(lockstep, amp_walk_count(lockstep->sessions[0]));
}

enum amp_status amp_lockstep_run(struct amp_lockstep *lockstep, const struct amp_pair_run *pair,
                                 struct amp_error *err)
{
    for (int i = 0; i < 2; i++) {
        lockstep->sessions[i] = pair->sessions[i];
        lockstep->seconds[i] = pair->seconds[i];
    }
    lockstep->err = err;
    if (lockstep->turns == NULL)
        plan(lockstep);
    enum amp_status status = run(lockstep, pair);
    amp_tensors_release(lockstep->held, lockstep->n_held);
    amp_tensors_release(lockstep->own, amp_walk_model(pair->sessions[1])->n_values);
    for (int i = 0; i < 2; i++) {
        enum amp_status ended =
            amp_walk_end(pair->sessions[i], status == AMP_OK ? pair->outputs[i] : NULL, err);
        status = status == AMP_OK ? ended : status;
    }
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct amp_lockstep *amp_lockstep_create(const struct amp_pairs *pairs,
                                         struct amp_onlooker onlooker)
{
    struct amp_lockstep *lockstep = amp_xmalloc(1, sizeof *lockstep);
    *lockstep = (struct amp_lockstep){.pairs = pairs,
                                      .onlooker = onlooker,
                                      .arena = amp_arena_create(),
                                      .n_paired = pairs->count};
    return lockstep;
}

void amp_lockstep_destroy(struct amp_lockstep *lockstep)
{
    if (lockstep == NULL)
        return;
    amp_arena_destroy(lockstep->arena);
    free(lockstep);
}
