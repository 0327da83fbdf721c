/*
 * Runs single steps of a walk in a session of another model with the same ids: hands it what the
 * step reads, computes the constants among that anew, and gives what comes out. It keeps nothing
 * between calls but kernels.
 */
#include "check/noise/apart.h"

#include "ops/kernel/tensor_cast.h"
#include "run/exec/walk.h"

enum amp_status amp_noise_apart_open(const struct amp_model *model, struct amp_arena *arena,
                                     struct amp_noise_apart *apart, struct amp_error *err)
{
    AMP_TRY(amp_session_open(model, AMP_LITERAL, &apart->session, err));
    apart->steps = amp_noise_steps_create(apart->session, arena);
    return AMP_OK;
}

void amp_noise_apart_close(struct amp_noise_apart *apart)
{
    amp_session_destroy(apart->session);
    apart->session = NULL;
}

/* Casts TENSOR from float32 to DTYPE where that is lower. */
static enum amp_status cast(struct amp_tensor *tensor, enum amp_dtype dtype, struct amp_error *err)
{
    struct amp_tensor low;
    if (amp_tensor_is_list(tensor) || tensor->dtype != AMP_FLOAT || !amp_dtype_is_lower(dtype))
        return AMP_OK;
    AMP_TRY(amp_tensor_cast_copy(tensor, dtype, &low, err));
    amp_tensor_release(tensor);
    *tensor = low;
    return AMP_OK;
}

/* Sets VALUE, which a step reads: a constant that the supply has, or what the walk holds. */
static enum amp_status hand_over(const struct amp_noise_apart *apart,
                                 const struct amp_noise_supply *supply, uint32_t value,
                                 struct amp_error *err)
{
    struct amp_tensor tensor = {.dtype = AMP_UNDEFINED};
    AMP_TRY(supply->constant(supply->context, value, &tensor, err));
    enum amp_status status = AMP_OK;
    if (supply->steps->birth[value] != SIZE_MAX)
        status = amp_walk_get(supply->walk, value, &tensor, err);
    if (status == AMP_OK && tensor.data != NULL)
        status = cast(&tensor, amp_value_at(apart->steps.model, value)->dtype, err);
    if (status == AMP_OK && (tensor.data != NULL || amp_tensor_is_list(&tensor)))
        status = amp_walk_set(apart->session, value, &tensor, err);
    amp_tensor_release(&tensor);
    return status;
}

static enum amp_status hand_over_all(const struct amp_noise_apart *apart,
                                     const struct amp_noise_supply *supply,
                                     const struct amp_ids *values, struct amp_error *err)
{
    for (size_t i = 0; i < values->count; i++)
        AMP_TRY(hand_over(apart, supply, values->items[i], err));
    return AMP_OK;
}

/* Runs step STEP of the walk, if its node is a step of APART too. */
static enum amp_status compute(const struct amp_noise_apart *apart,
                               const struct amp_noise_supply *supply, size_t step,
                               struct amp_error *err)
{
    size_t own = apart->steps.of_node[supply->steps->items[step].node];
    if (own == SIZE_MAX)
        return AMP_OK;
    AMP_TRY(hand_over_all(apart, supply, &supply->steps->items[step].reads, err));
    return amp_walk_compute(apart->session, own, err);
}

/* Has the supply replace what the session holds as VALUE. */
static enum amp_status replace(const struct amp_noise_apart *apart,
                               const struct amp_noise_supply *supply, uint32_t value,
                               struct amp_error *err)
{
    struct amp_tensor exact = {.dtype = AMP_UNDEFINED}, rounded = {.dtype = AMP_UNDEFINED};
    enum amp_status status = amp_walk_get(apart->session, value, &exact, err);
    if (status == AMP_OK && exact.data != NULL)
        status = supply->made(supply->context, value, &exact, &rounded, err);
    if (rounded.data != NULL)
        status = amp_walk_set(apart->session, value, &rounded, err);
    amp_tensor_release(&exact);
    amp_tensor_release(&rounded);
    return status;
}

/* Runs constant step STEP of the walk, of which the step that is wanted reads. */
static enum amp_status compute_constant(const struct amp_noise_apart *apart,
                                        const struct amp_noise_supply *supply, size_t step,
                                        struct amp_error *err)
{
    uint32_t id = supply->steps->items[step].node;
    const struct amp_node *node = amp_node_at(supply->steps->model, id);
    AMP_TRY(compute(apart, supply, step, err));
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE)
            AMP_TRY(replace(apart, supply, node->outputs[k], err));
    return AMP_OK;
}

static enum amp_status run(const struct amp_noise_apart *apart,
                           const struct amp_noise_supply *supply, size_t step,
                           struct amp_tensor *outputs, struct amp_error *err)
{
    const struct amp_noise_step *item = &supply->steps->items[step];
    const struct amp_node *node = amp_node_at(supply->steps->model, item->node);
    for (size_t i = 0; i < item->chain.count; i++)
        AMP_TRY(compute_constant(apart, supply, item->chain.items[i], err));
    AMP_TRY(compute(apart, supply, step, err));
    for (uint32_t k = 0; k < node->n_outputs; k++)
        if (node->outputs[k] != AMP_NONE)
            AMP_TRY(amp_walk_get(apart->session, node->outputs[k], &outputs[k], err));
    return AMP_OK;
}

enum amp_status amp_noise_apart_run(const struct amp_noise_apart *apart,
                                    const struct amp_noise_supply *supply, size_t step,
                                    struct amp_tensor *outputs, struct amp_error *err)
{
    struct amp_error unused = {.status = AMP_OK};
    enum amp_status status = run(apart, supply, step, outputs, err);
    AMP_IGNORE(amp_walk_end(apart->session, NULL, &unused));
    return status;
}
