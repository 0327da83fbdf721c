/*
 * What runtimes have operators for. Takes an operator's version, a type variable and a dtype, says
 * by the runtimes' tables whether they have it. The program itself is one of them: its table is
 * that of its operators.
 */
#include "autocast/runtimes/runtime.h"

#include "core/array.h"
#include "onnx/schema/schema.h"
#include "ops/op.h"

#include <limits.h>
#include <string.h>

/* A row: what a runtime has of an operator, in versions FROM to TO as since_version counts them. */
struct kernel {
    const char *domain, *op;
    int from, to;
    const char *variable; /* that the row is about; NULL: all of the operator */
    uint32_t floats;      /* AMP_DTYPE_BIT of float32, float16 and bfloat16; others are not held */
};

#define F32 AMP_DTYPE_BIT(AMP_FLOAT)
#define F16 AMP_DTYPE_BIT(AMP_FLOAT16)
#define BF16 AMP_DTYPE_BIT(AMP_BFLOAT16)

static const struct kernel ort_cpu[] = {
#include "autocast/runtimes/ort_cpu.inc"
};
static const struct kernel ort_cuda[] = {
#include "autocast/runtimes/ort_cuda.inc"
};
static const struct kernel tensorrt[] = {
#include "autocast/runtimes/tensorrt.inc"
};
static const struct kernel openvino[] = {
#include "autocast/runtimes/openvino.inc"
};

struct amp_runtime {
    const char *name, *title;
    const struct kernel *kernels; /* by domain and operator; NULL: the program's own operators */
    size_t n_kernels;
    int opset; /* the newest that it reads; 0: all that the program knows */
    /* It casts to float32 around float16 nodes without a kernel and without bodies. */
    bool casts_float16;
    const struct amp_runtime *rest; /* the one that runs what it lacks; NULL: none */
};

/* ONNX Runtime: docs/OperatorKernels.md of 1.21.0, and InsertCastTransformer, which puts nodes of
   float16 that no provider takes on the CPU in float32. TensorRT: onnx-tensorrt's
   docs/operators.md of 10.1-GA. OpenVINO: the list of its ONNX frontend, of 2025. */
static const struct amp_runtime runtimes[AMP_RUNTIME_COUNT] = {
    {"ampconv", "ampconv", NULL, 0, 0, false, NULL},
    {"ort-cpu", "ONNX Runtime 1.21 CPU", ort_cpu, AMP_COUNT(ort_cpu), 22, true, NULL},
    {"ort-cuda", "ONNX Runtime 1.21 CUDA", ort_cuda, AMP_COUNT(ort_cuda), 22, false, &runtimes[1]},
    {"tensorrt", "TensorRT 10.1", tensorrt, AMP_COUNT(tensorrt), 20, false, NULL},
    {"openvino", "OpenVINO 2025", openvino, AMP_COUNT(openvino), 23, false, NULL},
};

const struct amp_runtime *amp_runtime_at(size_t i)
{
    return i < AMP_RUNTIME_COUNT ? &runtimes[i] : NULL;
}

const char *amp_runtime_name_at(size_t i)
{
    return i < AMP_RUNTIME_COUNT ? runtimes[i].name : NULL;
}

const struct amp_runtime *amp_runtime_find(const char *name)
{
    for (size_t i = 0; i < AMP_RUNTIME_COUNT; i++)
        if (strcmp(runtimes[i].name, name) == 0)
            return &runtimes[i];
    return NULL;
}

const char *amp_runtime_name(const struct amp_runtime *runtime)
{
    return runtime->name;
}

const char *amp_runtime_title(const struct amp_runtime *runtime)
{
    return runtime->title;
}

int amp_runtime_opset(const struct amp_runtime *runtime)
{
    return runtime->opset > 0 ? runtime->opset : amp_schema_newest_opset("");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int compare_place(const struct kernel *kernel, const struct amp_schema *schema)
{
    int order = strcmp(kernel->domain, schema->domain);
    return order != 0 ? order : strcmp(kernel->op, schema->name);
}

/* The first row of SCHEMA's operator, or where it would be. */
static size_t first_row(const struct amp_runtime *runtime, const struct amp_schema *schema)
{
    size_t low = 0, high = runtime->n_kernels;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_place(&runtime->kernels[middle], schema) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What RUNTIME's kernels of a version take for a type variable. */
struct found {
    bool has_version; /* there is a kernel of the version */
    uint32_t floats;  /* for the variable: all that it is not held to */
};

static struct found find_kernel(const struct amp_runtime *runtime, const struct amp_schema *schema,
                                const char *variable)
{
    struct found found = {false, F32 | F16 | BF16};
    for (size_t i = first_row(runtime, schema);
         i < runtime->n_kernels && compare_place(&runtime->kernels[i], schema) == 0; i++) {
        const struct kernel *kernel = &runtime->kernels[i];
        if (schema->since_version < kernel->from || schema->since_version > kernel->to)
            continue;
        found.has_version = true;
        if (kernel->variable == NULL ||
            (variable != NULL && strcmp(kernel->variable, variable) == 0))
            found.floats = kernel->floats;
    }
    return found;
}

/* Whether the program's own operators have it: what they have no code for in a dtype they compute
   in float32 and round. */
static bool runs_here(const struct amp_schema *schema, enum amp_dtype dtype)
{
    const struct amp_op *op = amp_op_find(schema->domain, schema->name);
    return op != NULL && op->run != NULL && op->newest >= schema->since_version &&
           (op->lacks & AMP_DTYPE_BIT(dtype)) == 0;
}

static bool has_bodies(const struct amp_schema *schema)
{
    for (uint8_t i = 0; i < schema->n_attrs; i++)
        if (schema->attrs[i].type == AMP_ATTR_GRAPH)
            return true;
    return false;
}

bool amp_runtime_has(const struct amp_runtime *runtime, const struct amp_schema *schema,
                     const char *variable, enum amp_dtype dtype)
{
    if (runtime->kernels == NULL)
        return runs_here(schema, dtype);
    struct found found = find_kernel(runtime, schema, variable);
    bool is_cast = runtime->casts_float16 && dtype == AMP_FLOAT16 && !has_bodies(schema);
    if (!found.has_version)
        return is_cast && schema->has_function;
    return (found.floats & AMP_DTYPE_BIT(dtype)) != 0 || (is_cast && (found.floats & F32) != 0);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* The dtype of VALUE, which PARAM describes in SCHEMA, where RUNTIME lacks it. */
static enum amp_dtype lacking_dtype(const struct amp_runtime *runtime,
                                    const struct amp_schema *schema,
                                    const struct amp_schema_param *param,
                                    const struct amp_value *value)
{
    bool has = param == NULL || !amp_dtype_is_lower(value->dtype) ||
               amp_runtime_has(runtime, schema, amp_schema_type(schema, param)->name, value->dtype);
    return has ? AMP_UNDEFINED : value->dtype;
}

static enum amp_dtype lacking(const struct amp_runtime *runtime, const struct amp_model *model,
                              const struct amp_node *node)
{
    const struct amp_schema *schema = node->schema;
    enum amp_dtype found = AMP_UNDEFINED;
    for (uint32_t i = 0; i < node->n_inputs && found == AMP_UNDEFINED; i++)
        if (node->inputs[i] != AMP_NONE)
            found = lacking_dtype(runtime, schema, amp_schema_input(schema, i),
                                  amp_value_at(model, node->inputs[i]));
    for (uint32_t i = 0; i < node->n_outputs && found == AMP_UNDEFINED; i++)
        if (node->outputs[i] != AMP_NONE)
            found = lacking_dtype(runtime, schema, amp_schema_output(schema, i),
                                  amp_value_at(model, node->outputs[i]));
    return found;
}

enum amp_dtype amp_runtime_lacks(const struct amp_runtime *runtime, const struct amp_model *model,
                                 const struct amp_node *node)
{
    enum amp_dtype dtype = node->schema == NULL ? AMP_UNDEFINED : lacking(runtime, model, node);
    return dtype == AMP_UNDEFINED || runtime->rest == NULL ? dtype
                                                           : lacking(runtime->rest, model, node);
}

/* The newest opset, CAP at most, to which NODE can be raised in RUNTIME. */
static int node_cap(const struct amp_runtime *runtime, const struct amp_node *node, int cap)
{
    const struct amp_schema *schema = node->schema;
    if (schema == NULL || schema->domain[0] != '\0' ||
        !find_kernel(runtime, schema, NULL).has_version)
        return cap;
    while ((schema = amp_schema_next(schema)) != NULL && schema->since_version <= cap)
        if (!find_kernel(runtime, schema, NULL).has_version)
            return schema->since_version - 1;
    return cap;
}

int amp_runtimes_cap(const struct amp_runtimes *all, const struct amp_model *model, int cap)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct amp_runtime *runtime = all->items[i];
        cap = amp_runtime_opset(runtime) < cap ? amp_runtime_opset(runtime) : cap;
        for (size_t n = 0; n < model->n_nodes; n++)
            if (!model->nodes[n].is_removed)
                cap = node_cap(runtime, &model->nodes[n], cap);
    }
    return cap;
}
