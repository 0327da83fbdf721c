#ifndef AMP_TESTS_NODE_CASE_H
#define AMP_TESTS_NODE_CASE_H

#include "check/random_input.h"
#include "onnx/schema/check.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "onnx/schema/schema.h"
#include "onnx/sample/sample.h"
#include "onnx/sample/samples.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"
#include "ops/dnnl/profile.h"
#include "run/exec/session.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Models of one node, out of ONNX's test cases and the project's own, with their first sample: for
 * tests that run operators on other types, versions or shapes than the case was made for. A case is
 * opened afresh for each run, changed in memory and run once.
 */
struct node_case {
    struct amp_model_file file;
    struct amp_model *model;
    struct amp_node *node;
    struct amp_tensor *inputs, *outputs; /* per graph input and output */
    size_t n_inputs, n_outputs;
};

/* The folders of all cases, from the project's folder. */
static inline void node_cases_find(glob_t *paths)
{
    const char *testdata = getenv("TESTDATA");
    char pattern[4096];
    glob("build/cases/ops/*/*/model.onnx", 0, NULL, paths);
    snprintf(pattern, sizeof pattern, "%s/node/*/model.onnx", testdata ? testdata : "");
    if (testdata != NULL && testdata[0] != '\0')
        glob(pattern, GLOB_APPEND, NULL, paths);
    for (size_t i = 0; i < paths->gl_pathc; i++)
        *strrchr(paths->gl_pathv[i], '/') = '\0';
}

static inline void node_case_close(struct node_case *test)
{
    /* Constants that were changed have memory of their own. */
    for (uint32_t i = 0; test->node != NULL && i < test->node->n_inputs; i++)
        if (test->node->inputs[i] != AMP_NONE) {
            struct amp_tensor *constant =
                amp_value_at(test->model, test->node->inputs[i])->constant;
            if (constant != NULL)
                amp_tensor_release(constant);
        }
    amp_tensors_release(test->inputs, test->n_inputs);
    amp_tensors_release(test->outputs, test->n_outputs);
    free(test->inputs);
    free(test->outputs);
    amp_model_close(&test->file);
}

/* Opens the case in FOLDER; false, and nothing is open, when it is not of one node that the
   schema table knows, without bodies, or its sample cannot be read. */
static inline bool node_case_open(struct node_case *test, const char *folder)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_samples samples = {.count = 0};
    char path[4200];
    *test = (struct node_case){.n_inputs = 0};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    if (amp_model_read(path, &test->file, &err) != AMP_OK)
        return false;
    const struct amp_graph *graph = &test->file.model->graphs[0];
    test->model = test->file.model;
    test->n_inputs = graph->inputs.count;
    test->n_outputs = graph->outputs.count;
    test->inputs = amp_xcalloc(test->n_inputs, sizeof *test->inputs);
    test->outputs = amp_xcalloc(test->n_outputs, sizeof *test->outputs);
    bool is_one = test->model->n_graphs == 1 && graph->nodes.count == 1;
    if (is_one)
        test->node = amp_node_at(test->model, graph->nodes.items[0]);
    const struct amp_sample to = {test->model, test->inputs, test->outputs};
    bool is_good = is_one && test->node->schema != NULL &&
                   amp_samples_open(folder, &samples, &err) == AMP_OK &&
                   amp_sample_load(&samples, 0, &to, &err) == AMP_OK;
    amp_samples_close(&samples);
    amp_tensors_release(test->outputs, test->n_outputs);
    if (!is_good)
        node_case_close(test);
    return is_good;
}

/* What the node's input I is held in: a sample's tensor or a constant; NULL when it is omitted. */
static inline struct amp_tensor *node_case_input(struct node_case *test, uint32_t i)
{
    uint32_t id = test->node->inputs[i];
    if (id == AMP_NONE)
        return NULL;
    const struct amp_ids *ids = &test->model->graphs[0].inputs;
    for (size_t k = 0; k < ids->count; k++)
        if (ids->items[k] == id && test->inputs[k].data != NULL)
            return &test->inputs[k];
    return amp_value_at(test->model, id)->constant;
}

/* Declares the node's input I as what its tensor now is, so that inference takes it for that. */
static inline void node_case_declare(struct node_case *test, uint32_t i)
{
    const struct amp_tensor *tensor = node_case_input(test, i);
    if (tensor == NULL)
        return;
    struct amp_value *value = amp_value_at(test->model, test->node->inputs[i]);
    int64_t *dims = amp_arena_array(test->model->arena, AMP_RANK_MAX, sizeof *dims);
    memcpy(dims, tensor->shape.dims, sizeof tensor->shape.dims);
    value->dtype = tensor->dtype;
    value->rank = tensor->shape.rank;
    value->dims = dims;
}

/* Takes the node for one of another version of its operator; false when it does not fit that. */
static inline bool node_case_set_version(struct node_case *test, const struct amp_schema *schema)
{
    struct amp_node *node = test->node;
    bool fits = (int)node->n_inputs >= schema->min_inputs &&
                (int)node->n_inputs <= schema->max_inputs &&
                (int)node->n_outputs <= schema->max_outputs;
    for (uint32_t i = 0; i < node->n_attrs; i++)
        fits &= amp_schema_attr(schema, node->attrs[i].name) != NULL;
    node->schema = schema;
    node->since_version = schema->since_version;
    return fits;
}

/* Checks, infers and runs, as when the model comes from a file; the outputs are in test->outputs
   then. What the model declares of them does not count. PROFILE (may be NULL) notes the run. */
static inline enum amp_status node_case_run(struct node_case *test, struct amp_profile *profile,
                                            struct amp_error *err)
{
    struct amp_session *session = NULL;
    for (uint32_t i = 0; i < test->node->n_outputs; i++) {
        if (test->node->outputs[i] == AMP_NONE)
            continue;
        struct amp_value *value = amp_value_at(test->model, test->node->outputs[i]);
        value->dtype = AMP_UNDEFINED;
        value->rank = -1;
    }
    *err = (struct amp_error){.status = AMP_OK};
    uint32_t id = test->model->graphs[0].nodes.items[0];
    enum amp_status status = amp_check_node(test->model, id, err);
    if (status == AMP_OK)
        status = amp_infer(test->model, err);
    if (status == AMP_OK)
        status = amp_session_open(test->model, true, &session, err);
    if (status == AMP_OK) {
        amp_session_observe(session, profile);
        status = amp_session_run(session, test->inputs, test->outputs, err);
    }
    amp_session_destroy(session);
    return status;
}

#endif
