/*
 * Looks at the values of a model while it runs: takes a model and samples, adds up the range of
 * every value of the main graph. Judges none of them.
 */
#include "check/calibrate.h"

#include "core/tensor.h"
#include "run/exec/walk.h"

#include <stdlib.h>

struct calibration {
    struct amp_session *session;
    const struct amp_model *model; /* of the session */
    uint32_t n_values;             /* of the model that was planned; its names are kept */
    struct amp_ranges *ranges;
    struct amp_error *err;
};

/* Adds the elements of value ID, where it is one of the model's and holds floats. */
static enum amp_status look_at(struct calibration *c, uint32_t id)
{
    struct amp_tensor tensor = {.data = NULL};
    if (id == AMP_NONE || id >= c->n_values)
        return AMP_OK;
    const struct amp_value *value = amp_value_at(c->model, id);
    bool is_float = amp_dtype_is_autocast(value->dtype) || value->dtype == AMP_DOUBLE;
    if (!is_float || value->constant != NULL)
        return AMP_OK;
    enum amp_status status = amp_walk_get(c->session, id, &tensor, c->err);
    if (status == AMP_OK && tensor.data != NULL)
        amp_range_add(&amp_ranges_entry(c->ranges, value->name)->seen, &tensor);
    amp_tensor_release(&tensor);
    return status;
}

static enum amp_status look_at_inputs(struct calibration *c)
{
    const struct amp_ids *inputs = &c->model->graphs[0].inputs;
    for (size_t i = 0; i < inputs->count; i++)
        AMP_TRY(look_at(c, inputs->items[i]));
    return AMP_OK;
}

static enum amp_status run_step(struct calibration *c, size_t step)
{
    AMP_TRY(amp_walk_compute(c->session, step, c->err));
    const struct amp_node *node = amp_node_at(c->model, amp_walk_node(c->session, step));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        AMP_TRY(look_at(c, node->outputs[i]));
    amp_walk_release(c->session, step);
    return AMP_OK;
}

static enum amp_status walk(struct calibration *c, const struct amp_tensor *inputs)
{
    AMP_TRY(amp_walk_begin(c->session, inputs, c->err));
    AMP_TRY(look_at_inputs(c));
    for (size_t i = 0; i < amp_walk_count(c->session); i++)
        AMP_TRY(run_step(c, i));
    return AMP_OK;
}

/* Runs sample number SAMPLE on what INPUTS has room for. */
static enum amp_status run_sample(struct calibration *c, const struct amp_source *source,
                                  size_t sample, struct amp_tensor *inputs)
{
    size_t n_inputs = c->model->graphs[0].inputs.count;
    enum amp_status status = source->load(source->context, sample, inputs, c->err);
    if (status == AMP_OK)
        status = walk(c, inputs);
    AMP_IGNORE(amp_walk_end(c->session, NULL, NULL));
    amp_tensors_release(inputs, n_inputs);
    c->ranges->n_samples += status == AMP_OK;
    return status;
}

enum amp_status amp_calibrate(const struct amp_model *model, const struct amp_source *source,
                              struct amp_ranges *ranges, struct amp_error *err)
{
    struct calibration c = {.n_values = (uint32_t)model->n_values, .ranges = ranges, .err = err};
    AMP_TRY(amp_session_open(model, AMP_ROUNDED, &c.session, err));
    c.model = amp_walk_model(c.session);
    struct amp_tensor *inputs = amp_xcalloc(model->graphs[0].inputs.count, sizeof *inputs);
    enum amp_status status = AMP_OK;
    for (size_t i = 0; i < source->count && status == AMP_OK; i++)
        status = run_sample(&c, source, i, inputs);
    free(inputs);
    amp_session_destroy(c.session);
    return status;
}
