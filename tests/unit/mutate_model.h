#ifndef AMP_TESTS_MUTATE_MODEL_H
#define AMP_TESTS_MUTATE_MODEL_H

/* From the file of a model to a mutant of it that is still a message (mutate_onnx.h). */

#include "core/file/input.h"
#include "mutate_bytes.h"
#include "mutate_onnx.h"

#include <stdio.h>

enum { SEED_SIZE_MAX = 256 * 1024 };

/* A graph input becomes an initializer with the values of the sample beside the seed, so that the
   stages before running see them as well. */
static void freeze_input(struct mutator *m, const char *seed)
{
    Onnx__GraphProto *graph = m->model->graph;
    char path[4096];
    struct amp_bytes bytes;
    struct amp_error err = {.status = AMP_OK};
    ProtobufCMessage *message;
    if (graph == NULL || graph->n_input == 0)
        return;
    size_t i = below(m->state, graph->n_input);
    snprintf(path, sizeof path, "%.*s/test_data_set_0/input_%zu.pb",
             (int)(strlen(seed) - strlen("/model.onnx")), seed, i);
    if (amp_bytes_open(&bytes, path, &err) != AMP_OK)
        return;
    uint8_t *copy = amp_arena_memdup(m->arena, bytes.data, bytes.size);
    if (bytes.size < SEED_SIZE_MAX &&
        (message = amp_wire_parse(&onnx__tensor_proto__descriptor, copy, bytes.size, m->arena,
                                  &err)) != NULL) {
        Onnx__TensorProto **grown =
            amp_arena_array(m->arena, graph->n_initializer + 1, sizeof(Onnx__TensorProto *));
        if (graph->n_initializer > 0)
            memcpy(grown, graph->initializer, graph->n_initializer * sizeof(Onnx__TensorProto *));
        grown[graph->n_initializer++] = (Onnx__TensorProto *)message;
        grown[graph->n_initializer - 1]->name = graph->input[i]->name;
        graph->initializer = grown;
        memmove(&graph->input[i], &graph->input[i + 1],
                (graph->n_input - i - 1) * sizeof(Onnx__ValueInfoProto *));
        graph->n_input--;
    }
    amp_bytes_close(&bytes);
}

/* The message in FILE, the model SEED, edited, goes to *TO; false when it is none. */
static bool mutate_model(const char *seed, const struct amp_bytes *file, struct bytes *to,
                         uint64_t *state)
{
    enum { EDITS_MAX = 5 };
    struct amp_error err = {.status = AMP_OK};
    struct mutator m = {.arena = to->arena, .state = state};
    if (file->size >= SEED_SIZE_MAX)
        return false;
    m.model = (Onnx__ModelProto *)amp_wire_parse(&onnx__model_proto__descriptor, file->data,
                                                 file->size, m.arena, &err);
    if (m.model == NULL)
        return false;
    while (one_in(state, 3))
        freeze_input(&m, seed);
    for (size_t n = below(state, EDITS_MAX + 1); n > 0; n--)
        mutate(&m);
    to->size = to->capacity = protobuf_c_message_get_packed_size(&m.model->base);
    to->data = amp_arena_alloc(to->arena, to->size);
    protobuf_c_message_pack(&m.model->base, to->data);
    return true;
}

/* Whether a node of the model in BYTES may be a Loop, which may be asked to run for ever. */
static bool may_loop(const struct bytes *bytes)
{
    return bytes->size > 0 && memmem(bytes->data, bytes->size, "Loop", 4) != NULL;
}

#endif
