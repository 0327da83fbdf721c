/*
 * Single tensors on disk: .npy by npy.c, .pb by value_proto.c. Reads a file whole; what the tensor
 * is for is the caller's question.
 */
#include "onnx/sample/tensor_file.h"

#include "core/file/input.h"
#include "core/file/output.h"
#include "core/words.h"
#include "onnx/sample/npy.h"
#include "onnx/sample/value_proto.h"

enum amp_status amp_tensor_load(const char *path, enum amp_kind kind, struct amp_tensor *tensor,
                                struct amp_error *err)
{
    struct amp_bytes bytes;
    enum amp_status status;
    *tensor = (struct amp_tensor){.data = NULL};
    bool is_npy = amp_word_has_ending(path, ".npy");
    if (!is_npy && !amp_word_has_ending(path, ".pb"))
        return amp_fail(err, AMP_MODEL, "%s: not a .npy or .pb file", path);
    AMP_TRY(amp_bytes_open(&bytes, path, err));
    if (is_npy)
        status = amp_npy_parse(bytes.data, bytes.size, tensor, err);
    else
        status = amp_value_parse(kind, bytes.data, bytes.size, tensor, err);
    if (status != AMP_OK)
        amp_error_prefix(err, "%s", path);
    else if ((status = amp_bytes_check(&bytes, err)) != AMP_OK)
        amp_tensor_release(tensor);
    amp_bytes_close(&bytes);
    return status;
}

/* What protobuf-c packs a message into: a buffer that passes the bytes on to the file. */
struct pack {
    ProtobufCBuffer base; /* first, so that protobuf-c's pointer is the pack's */
    struct amp_output *output;
    struct amp_error *err;
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
    struct pack *pack = (struct pack *)buffer;
    if (pack->err->status == AMP_OK)
        AMP_IGNORE(amp_output_write(pack->output, data, size, pack->err));
}

enum amp_status amp_tensor_save(const char *path, const char *name, const struct amp_tensor *tensor,
                                struct amp_error *err)
{
    struct pack pack = {.base.append = append, .err = err};
    AMP_TRY(amp_output_open(&pack.output, path, err));
    if (amp_word_has_ending(path, ".npy"))
        AMP_IGNORE(amp_npy_write(pack.output, tensor, err));
    else
        amp_value_pack(tensor, name, &pack.base);
    if (err->status == AMP_OK)
        return amp_output_commit(pack.output, err);
    amp_output_abandon(pack.output);
    return err->status;
}
