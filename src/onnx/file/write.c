/*
 * Writes a model: prepares the message that it was read from, packs it and streams it to the
 * output; tensor data go from where they lie straight to the file, those of constants that are yet
 * to be converted by way of one block. The files appear when they are complete, or not at all.
 */
#include "onnx/file/write.h"

#include "core/file/output.h"
#include "onnx/file/update.h"
#include "onnx/functions/functions.h"

#include <stdlib.h>

enum amp_status amp_model_prepare(struct amp_model *model,
                                  const struct amp_placement_options *options,
                                  struct amp_placement **placement, struct amp_error *err)
{
    struct amp_placement *made = amp_arena_alloc(model->arena, sizeof *made);
    size_t n_initializers = 0;
    for (size_t g = 0; g < model->n_graphs; g++)
        n_initializers += model->graphs[g].initializers.count;
    made->deferred.items =
        amp_arena_array(model->arena, n_initializers, sizeof(struct amp_tensor *));
    amp_message_update(model, &made->deferred);
    AMP_TRY(amp_functions_drop_invalid(model->origin, model->arena, err));
    *placement = made;
    return amp_placement_decide(made, model, options, err);
}

/* Elements that are converted at a time: enough for all threads and for a large write. */
enum { BLOCK = 1 << 20 };

/* What protobuf-c packs a message into: a buffer that passes the bytes on to the file. */
struct stream {
    ProtobufCBuffer base; /* first, so that protobuf-c's pointer is the stream's */
    const struct amp_placement *placement;
    struct amp_output *output;
    void *block; /* BLOCK elements of a converted tensor */
    struct amp_error *err;
};

static void write_converted(struct stream *stream, const struct amp_tensor *tensor)
{
    size_t count = amp_tensor_count(tensor), width = amp_dtype_bits(tensor->dtype) / 8;
    if (stream->block == NULL)
        stream->block = amp_xmalloc(BLOCK, sizeof(float));
    for (size_t i = 0; i < count && stream->err->status == AMP_OK; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        amp_tensor_convert(tensor, i, n, stream->block);
        AMP_IGNORE(amp_output_write(stream->output, stream->block, n * width, stream->err));
    }
}

/* Writes DATA, or the tensor that they stand for; nothing more after a failure. */
static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    struct stream *stream = (struct stream *)buffer;
    const struct amp_tensor *tensor = amp_deferred_find(&stream->placement->deferred, data);
    if (stream->err->status != AMP_OK)
        return;
    if (tensor != NULL)
        write_converted(stream, tensor);
    else
        AMP_IGNORE(amp_output_write(stream->output, data, size, stream->err));
}

/* The data file: each tensor at its offset, zeros between. */
static void write_data(struct stream *stream)
{
    static const uint8_t zeros[4096];
    uint64_t at = 0;
    for (size_t i = 0; i < stream->placement->n_placed; i++) {
        const struct amp_placed *placed = &stream->placement->placed[i];
        append(&stream->base, (size_t)(placed->offset - at), zeros);
        append(&stream->base, placed->size, placed->data);
        at = placed->offset + placed->size;
    }
}

enum amp_status amp_model_write(const struct amp_model *model,
                                const struct amp_placement *placement, struct amp_error *err)
{
    /* The data come first: with the model, they are all there. */
    struct amp_output *outputs[2];
    size_t count = 0;
    struct stream stream = {.base.append = append, .placement = placement, .err = err};
    enum amp_status status = AMP_OK;
    if (placement->data_path != NULL) {
        AMP_TRY(amp_output_open(&outputs[count], placement->data_path, err));
        stream.output = outputs[count++];
        write_data(&stream);
    }
    if (err->status == AMP_OK && amp_output_open(&outputs[count], placement->path, err) == AMP_OK) {
        stream.output = outputs[count++];
        protobuf_c_message_pack_to_buffer(model->origin, &stream.base);
    }
    free(stream.block);
    status = err->status;
    if (status == AMP_OK)
        return amp_outputs_commit(outputs, count, err);
    while (count > 0)
        amp_output_abandon(outputs[--count]);
    return status;
}
