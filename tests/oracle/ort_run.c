/* ONNX Runtime's view of a model, on the CPU with two threads, or ORT_THREADS of the environment.
 *
 *   ort_run MODEL --load-only [--plain]
 *   ort_run MODEL [--plain] OUTDIR [[NAME=]FILE.pb]...
 *   ort_run MODEL --time RUNS [[NAME=]FILE.pb]...
 *
 * Inputs are TensorProto files, which hold the name where none is given; outputs are written to
 * OUTDIR as output_0.pb, output_1.pb, ... (TensorProto, named).
 * --time prints the version of ONNX Runtime, then, after two runs to warm up, the milliseconds of
 * each of RUNS runs, a line each.
 * --plain switches graph optimisation off and makes every value an output, so that every node runs
 * as the graph has it: ONNX Runtime otherwise computes float16 nodes without kernels in float32 and
 * drops the casts between them, so that nothing is rounded. Strings,
 * sequences and maps are not supported. Exit status: 0 done, 1 failed while running, 2 usage or
 * file error, 3 the model is invalid, 4 ONNX Runtime has no kernel for a node (NOT_IMPLEMENTED),
 * which says nothing against the model. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<onnxruntime/onnxruntime_c_api.h>)
#    include <onnxruntime/onnxruntime_c_api.h>
#elif __has_include(<onnxruntime/core/session/onnxruntime_c_api.h>)
#    include <onnxruntime/core/session/onnxruntime_c_api.h>
#else
#    include <onnxruntime_c_api.h>
#endif

#include "onnx.pb-c.h"

enum { FAILED_RUN = 1, FAILED_USAGE = 2, FAILED_MODEL = 3, FAILED_KERNEL = 4 };
enum { MAX_VALUES = 1024 };

static const OrtApi *ort;
static int messages = STDERR_FILENO;

static _Noreturn void fail(int status, const char *what, const char *detail)
{
    dprintf(messages, "ort_run: %s: %s\n", what, detail);
    exit(status);
}

/* Where ONNX and ONNX Runtime share one libonnx (Debian), registering the operators twice fills
 * stderr with hundreds of harmless lines: from here on only our own messages get there. */
static void silence_libraries(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    messages = dup(STDERR_FILENO);
    if (nowhere < 0 || messages < 0 || dup2(nowhere, STDERR_FILENO) < 0) {
        perror("ort_run");
        exit(FAILED_USAGE);
    }
    close(nowhere);
}

/* Ends with STATUS when a call failed; NOT_IMPLEMENTED is always told apart. */
static void check(OrtStatus *result, int status, const char *what)
{
    if (result == NULL) {
        return;
    }
    fail(ort->GetErrorCode(result) == ORT_NOT_IMPLEMENTED ? FAILED_KERNEL : status, what,
         ort->GetErrorMessage(result));
}

static void *allocate(size_t size)
{
    void *memory = calloc(size ? size : 1, 1);
    if (memory == NULL) {
        fail(FAILED_USAGE, "memory", "exhausted");
    }
    return memory;
}

/* Bytes of one element of an ONNX dtype; 0: not supported. ONNX Runtime numbers its dtypes as ONNX
 * does. */
static size_t element_size(int dtype)
{
    static const uint8_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1, 1};
    return dtype > 0 && (size_t)dtype < sizeof sizes ? sizes[dtype] : 0;
}

/* ---- inputs ---- */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail(FAILED_USAGE, path, "cannot be read");
    }
    long length = ftell(file);
    rewind(file);
    uint8_t *bytes = allocate((size_t)length);
    *size = fread(bytes, 1, (size_t)length, file);
    fclose(file);
    return bytes;
}

static Onnx__TensorProto *read_tensor(const char *path)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    Onnx__TensorProto *tensor = onnx__tensor_proto__unpack(NULL, size, bytes);
    free(bytes);
    if (tensor == NULL) {
        fail(FAILED_USAGE, path, "is not a TensorProto");
    }
    return tensor;
}

/* Writes COUNT elements of WIDTH bytes from int32_data, whose low bytes hold the smaller dtypes. */
static void narrow(uint8_t *to, const int32_t *from, size_t count, size_t width)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * width, &from[i], width);
    }
}

/* The elements of TENSOR in memory of its own; fails when there are not COUNT of them. */
static uint8_t *tensor_bytes(const Onnx__TensorProto *tensor, size_t count, const char *path)
{
    size_t width = element_size(tensor->data_type);
    uint8_t *bytes = allocate(count * width);
    if (tensor->has_raw_data && tensor->raw_data.len == count * width) {
        memcpy(bytes, tensor->raw_data.data, count * width);
    } else if (tensor->n_float_data * 4 == count * width && width >= 4) {
        memcpy(bytes, tensor->float_data, count * width);
    } else if (tensor->n_double_data * 8 == count * width && width >= 8) {
        memcpy(bytes, tensor->double_data, count * width);
    } else if (tensor->n_int64_data == count && width == 8) {
        memcpy(bytes, tensor->int64_data, count * width);
    } else if (tensor->n_int32_data == count && width <= 4) {
        narrow(bytes, tensor->int32_data, count, width);
    } else if (tensor->n_uint64_data == count && (width == 8 || width == 4)) {
        for (size_t i = 0; i < count; i++) {
            memcpy(bytes + i * width, &tensor->uint64_data[i], width);
        }
    } else {
        fail(FAILED_USAGE, path, "data and dims do not agree");
    }
    return bytes;
}

/* *NAME is set to the tensor's unless it is given. */
static OrtValue *load_input(const char *path, const char **name)
{
    Onnx__TensorProto *tensor = read_tensor(path);
    if (*name == NULL) {
        *name = tensor->name;
    }
    size_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        count *= (size_t)tensor->dims[i];
    }
    size_t width = element_size(tensor->data_type);
    if (width == 0) {
        fail(FAILED_USAGE, path, "has a dtype that is not supported here");
    }
    OrtMemoryInfo *info;
    check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info), FAILED_RUN, path);
    OrtValue *value = NULL;
    check(ort->CreateTensorWithDataAsOrtValue(info, tensor_bytes(tensor, count, path),
                                              count * width, tensor->dims, tensor->n_dims,
                                              (ONNXTensorElementDataType)tensor->data_type, &value),
          FAILED_RUN, path);
    ort->ReleaseMemoryInfo(info);
    return value;
}

/* ---- outputs ---- */

static void write_message(const char *dir, size_t index, const Onnx__TensorProto *tensor)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/output_%zu.pb", dir, index);
    size_t size = onnx__tensor_proto__get_packed_size(tensor);
    uint8_t *bytes = allocate(size);
    onnx__tensor_proto__pack(tensor, bytes);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        fail(FAILED_USAGE, path, "cannot be written");
    }
    free(bytes);
}

/* Sequences and maps have no file format here: they are left out. */
static void write_output(const char *dir, size_t index, char *name, OrtValue *value)
{
    OrtTensorTypeAndShapeInfo *info;
    int is_tensor;
    check(ort->IsTensor(value, &is_tensor), FAILED_RUN, name);
    if (!is_tensor) {
        return;
    }
    check(ort->GetTensorTypeAndShape(value, &info), FAILED_RUN, name);
    ONNXTensorElementDataType dtype;
    size_t rank, count;
    check(ort->GetTensorElementType(info, &dtype), FAILED_RUN, name);
    check(ort->GetDimensionsCount(info, &rank), FAILED_RUN, name);
    check(ort->GetTensorShapeElementCount(info, &count), FAILED_RUN, name);
    Onnx__TensorProto tensor = ONNX__TENSOR_PROTO__INIT;
    tensor.name = name;
    tensor.has_data_type = true;
    tensor.data_type = (int32_t)dtype;
    tensor.n_dims = rank;
    tensor.dims = allocate(rank * sizeof *tensor.dims);
    check(ort->GetDimensions(info, tensor.dims, rank), FAILED_RUN, name);
    void *data;
    check(ort->GetTensorMutableData(value, &data), FAILED_RUN, name);
    if (element_size(tensor.data_type) == 0) {
        fail(FAILED_RUN, name, "output dtype is not supported here");
    }
    tensor.has_raw_data = true;
    tensor.raw_data.len = count * element_size(tensor.data_type);
    tensor.raw_data.data = data;
    write_message(dir, index, &tensor);
    free(tensor.dims);
    ort->ReleaseTensorTypeAndShapeInfo(info);
}

/* ---- session ---- */

/* Appends every value that nodes of the main graph make to its outputs. */
static void expose(Onnx__GraphProto *graph)
{
    size_t count = graph->n_output;
    for (size_t i = 0; i < graph->n_node; i++) {
        count += graph->node[i]->n_output;
    }
    Onnx__ValueInfoProto **outputs = allocate(count * sizeof(Onnx__ValueInfoProto *));
    memcpy(outputs, graph->output, graph->n_output * sizeof(Onnx__ValueInfoProto *));
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_output; k++) {
            char *name = graph->node[i]->output[k];
            bool is_listed = name[0] == '\0';
            for (size_t o = 0; o < graph->n_output && !is_listed; o++) {
                is_listed = strcmp(outputs[o]->name, name) == 0;
            }
            if (is_listed) {
                continue;
            }
            Onnx__ValueInfoProto *info = allocate(sizeof *info);
            onnx__value_info_proto__init(info);
            info->name = name;
            outputs[graph->n_output++] = info;
        }
    }
    graph->output = outputs;
}

/* The model's bytes with every value among its outputs; *KEPT gets the number of its own outputs.
 */
static uint8_t *exposed_model(const char *path, size_t *size, size_t *kept)
{
    uint8_t *bytes = read_file(path, size);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, *size, bytes);
    if (model == NULL || model->graph == NULL) {
        fail(FAILED_MODEL, path, "is not a model");
    }
    *kept = model->graph->n_output;
    expose(model->graph);
    *size = onnx__model_proto__get_packed_size(model);
    uint8_t *packed = allocate(*size);
    onnx__model_proto__pack(model, packed);
    return packed;
}

/* *N_OUTPUTS: how many of the session's outputs are the model's own. */
static OrtSession *load(OrtEnv *env, const char *model, bool plain, size_t *n_outputs)
{
    OrtSessionOptions *options;
    OrtSession *session = NULL;
    check(ort->CreateSessionOptions(&options), FAILED_RUN, "options");
    const char *threads = getenv("ORT_THREADS");
    check(ort->SetIntraOpNumThreads(options, threads != NULL ? atoi(threads) : 2), FAILED_RUN,
          "options");
    check(ort->SetInterOpNumThreads(options, 1), FAILED_RUN, "options");
    check(ort->SetSessionGraphOptimizationLevel(options, plain ? ORT_DISABLE_ALL : ORT_ENABLE_ALL),
          FAILED_RUN, "options");
    if (plain) {
        size_t size;
        uint8_t *bytes = exposed_model(model, &size, n_outputs);
        check(ort->CreateSessionFromArray(env, bytes, size, options, &session), FAILED_MODEL,
              model);
    } else {
        check(ort->CreateSession(env, model, options, &session), FAILED_MODEL, model);
        check(ort->SessionGetOutputCount(session, n_outputs), FAILED_RUN, "outputs");
    }
    ort->ReleaseSessionOptions(options);
    return session;
}

static void output_names(OrtSession *session, size_t count, char *names[MAX_VALUES])
{
    OrtAllocator *allocator;
    check(ort->GetAllocatorWithDefaultOptions(&allocator), FAILED_RUN, "allocator");
    if (count > MAX_VALUES) {
        fail(FAILED_USAGE, "outputs", "too many");
    }
    for (size_t i = 0; i < count; i++) {
        check(ort->SessionGetOutputName(session, i, allocator, &names[i]), FAILED_RUN, "outputs");
    }
}

/* What a session is run with. */
struct feed {
    const char *input_names[MAX_VALUES];
    const OrtValue *inputs[MAX_VALUES];
    size_t n_inputs, n_outputs;
    char *output_names[MAX_VALUES];
};

/* Of ARGC words NAME=FILE or FILE. */
static void load_feed(OrtSession *session, size_t n_outputs, int argc, char **argv,
                      struct feed *feed)
{
    if (argc > MAX_VALUES) {
        fail(FAILED_USAGE, "inputs", "too many");
    }
    for (int i = 0; i < argc; i++) {
        char *equals = strrchr(argv[i], '=');
        feed->input_names[i] = equals != NULL ? argv[i] : NULL;
        if (equals != NULL) {
            *equals = '\0';
        }
        feed->inputs[i] = load_input(equals != NULL ? equals + 1 : argv[i], &feed->input_names[i]);
    }
    feed->n_inputs = (size_t)argc;
    feed->n_outputs = n_outputs;
    output_names(session, n_outputs, feed->output_names);
}

static void run_once(OrtSession *session, const struct feed *feed, OrtValue **outputs)
{
    check(ort->Run(session, NULL, feed->input_names, feed->inputs, feed->n_inputs,
                   (const char *const *)feed->output_names, feed->n_outputs, outputs),
          FAILED_RUN, "run");
}

static void run(OrtSession *session, const struct feed *feed, const char *dir)
{
    OrtValue *outputs[MAX_VALUES] = {NULL};
    run_once(session, feed, outputs);
    for (size_t i = 0; i < feed->n_outputs; i++) {
        write_output(dir, i, feed->output_names[i], outputs[i]);
    }
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void time_runs(OrtSession *session, const struct feed *feed, int runs)
{
    enum { WARM_UPS = 2 };
    printf("%s\n", OrtGetApiBase()->GetVersionString());
    for (int i = -WARM_UPS; i < runs; i++) {
        OrtValue *outputs[MAX_VALUES] = {NULL};
        double start = milliseconds();
        run_once(session, feed, outputs);
        if (i >= 0) {
            printf("%.3f\n", milliseconds() - start);
        }
        for (size_t k = 0; k < feed->n_outputs; k++) {
            ort->ReleaseValue(outputs[k]);
        }
    }
}

int main(int argc, char **argv)
{
    static struct feed feed;
    int next = 2;
    bool load_only = false, plain = false, is_timed = false;
    for (; next < argc && strncmp(argv[next], "--", 2) == 0; next++) {
        load_only = load_only || strcmp(argv[next], "--load-only") == 0;
        plain = plain || strcmp(argv[next], "--plain") == 0;
        is_timed = is_timed || strcmp(argv[next], "--time") == 0;
    }
    if (argc < 3 || (!load_only && next >= argc)) {
        fail(FAILED_USAGE, "usage",
             "ort_run MODEL [--plain] --load-only | OUTDIR [[NAME=]FILE.pb]... | "
             "--time RUNS [[NAME=]FILE.pb]...");
    }
    silence_libraries();
    ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
    OrtEnv *env;
    check(ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "ort_run", &env), FAILED_RUN, "environment");
    size_t n_outputs;
    OrtSession *session = load(env, argv[1], plain, &n_outputs);
    if (!load_only) {
        load_feed(session, n_outputs, argc - next - 1, argv + next + 1, &feed);
    }
    if (is_timed) {
        time_runs(session, &feed, atoi(argv[next]));
    } else if (!load_only) {
        run(session, &feed, argv[next]);
    }
    ort->ReleaseSession(session);
    ort->ReleaseEnv(env);
    return 0;
}
