/* The operators' cases, to be run under circumstances: a model that is read and inferred, with the
   inputs of its sample. */
#ifndef AMP_TESTS_TRIAL_H
#define AMP_TESTS_TRIAL_H

#include "core/arena.h"
#include "core/tensor.h"
#include "onnx/file/read.h"
#include "onnx/sample/sample.h"
#include "onnx/sample/samples.h"
#include "onnx/schema/infer.h"
#include "run/exec/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case: its model, its inputs and the outputs of an undisturbed run. */
struct trial {
    const char *path;
    struct amp_model_file file;
    struct amp_tensor *inputs, *outputs;
    size_t n_inputs, n_outputs;
};

static inline enum amp_status trial_run(const struct trial *trial, struct amp_tensor *outputs,
                                        struct amp_error *err)
{
    struct amp_session *session = NULL;
    *err = (struct amp_error){.status = AMP_OK};
    enum amp_status status = amp_session_open(trial->file.model, true, &session, err);
    if (status == AMP_OK)
        status = amp_session_run(session, trial->inputs, outputs, err);
    amp_session_destroy(session);
    return status;
}

static inline bool trial_load(struct trial *trial, struct amp_error *err)
{
    char folder[4096];
    struct amp_samples samples;
    struct amp_sample sample = {
        .model = trial->file.model, .inputs = trial->inputs, .outputs = trial->outputs};
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(trial->path) - strlen("/model.onnx")),
             trial->path);
    if (amp_samples_open(folder, &samples, err) != AMP_OK)
        return false;
    bool is_loaded = amp_sample_load(&samples, 0, &sample, err) == AMP_OK;
    amp_samples_close(&samples);
    amp_tensors_release(trial->outputs, trial->n_outputs);
    return is_loaded;
}

/* False for cases that the program refuses. */
static inline bool trial_open(struct trial *trial)
{
    struct amp_error err = {.status = AMP_OK};
    if (amp_model_read(trial->path, &trial->file, &err) != AMP_OK)
        return false;
    const struct amp_graph *graph = &trial->file.model->graphs[0];
    trial->n_inputs = graph->inputs.count;
    trial->n_outputs = graph->outputs.count;
    trial->inputs = amp_xcalloc(trial->n_inputs + 1, sizeof *trial->inputs);
    trial->outputs = amp_xcalloc(trial->n_outputs + 1, sizeof *trial->outputs);
    return amp_infer(trial->file.model, &err) == AMP_OK && trial_load(trial, &err);
}

static inline void trial_close(struct trial *trial)
{
    if (trial->inputs != NULL)
        amp_tensors_release(trial->inputs, trial->n_inputs);
    if (trial->outputs != NULL)
        amp_tensors_release(trial->outputs, trial->n_outputs);
    free(trial->inputs);
    free(trial->outputs);
    amp_model_close(&trial->file);
}

/* Whether each run gives other outputs. */
static inline bool trial_is_random(const struct trial *trial)
{
    const struct amp_model *model = trial->file.model;
    for (size_t i = 0; i < model->n_nodes; i++)
        if (strstr(amp_node_at(model, (uint32_t)i)->op_type, "Random") != NULL)
            return true;
    return false;
}

#endif
