/*
 * Type and shape inference, node by node in topological order. Takes what the file declares, gives
 * what follows from it by the schema table (dtypes) and the operators' descriptors (dtypes that
 * attributes name, shapes). A shape that an operator cannot tell stays as declared; shapes that
 * disagree are left for the executor to report.
 */
#include "onnx/schema/infer.h"

#include "onnx/schema/check.h"
#include "onnx/schema/schema.h"
#include "ops/kernel/tensor_cast.h"
#include "ops/op.h"

#include <stdlib.h>

enum { MAX_PARAMS = 256 };

/* The attribute that names the dtype of output I; NULL: none does. */
static const struct amp_dtype_attr *find_explicit(const struct amp_node *node, uint32_t i)
{
    const struct amp_op *op = amp_op_of(node);
    bool has = op != NULL && op->dtype_attr != NULL && i < 32 &&
               (op->dtype_attr->outputs & AMP_INPUT(i)) != 0;
    return has ? op->dtype_attr : NULL;
}

/* The dtype that NODE gives to output I because an attribute says so (Cast's `to`, RandomNormal's
   `dtype`, ConstantOfShape's `value`), whether written out or by the attribute's default.
   AMP_UNDEFINED when the node has none and the dtype follows from the inputs. */
static enum amp_dtype explicit_dtype(const struct amp_node *node, uint32_t i)
{
    const struct amp_dtype_attr *entry = find_explicit(node, i);
    if (entry == NULL)
        return AMP_UNDEFINED;
    const struct amp_attr *attr = amp_node_attr(node, entry->name);
    if (attr != NULL && attr->type == AMP_ATTR_TENSOR)
        return attr->tensors[0]->dtype;
    /* 0 stands for "not set" in the quantization operators. */
    int64_t number = amp_node_int(node, entry->name, 0);
    return amp_dtype_is_valid(number) ? (enum amp_dtype)number : entry->fallback;
}

/* Checks the attribute that names a dtype: its number must be one of a dtype. Where the attribute
   may be left out, 0 stands for that. */
static enum amp_status check_explicit(const struct amp_model *model, uint32_t id,
                                      struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_dtype_attr *entry = find_explicit(node, 0);
    const struct amp_attr *attr = entry ? amp_node_attr(node, entry->name) : NULL;
    if (attr == NULL || attr->type != AMP_ATTR_INT || node->schema == NULL)
        return AMP_OK;
    int64_t number = amp_node_int(node, entry->name, 0);
    const struct amp_schema_attr *known = amp_schema_attr(node->schema, entry->name);
    bool may_be_0 = known == NULL || !known->required;
    char text[512];
    if (amp_dtype_is_valid(number) || (number == 0 && may_be_0))
        return AMP_OK;
    return amp_fail(err, AMP_MODEL, "%s: attribute '%s' is %lld, which is no element type",
                    amp_node_text(model, id, text, sizeof text), entry->name, (long long)number);
}

bool amp_infer_names_dtype(const struct amp_node *node)
{
    return find_explicit(node, 0) != NULL;
}

/* The kind of a value of TYPE. Where the type allows several, it is the one that goes with an input
   of kind INPUT: what an optional holds, or the optional of something. */
static enum amp_kind kind_of(const struct amp_schema_type *type, enum amp_kind input)
{
    bool holds_sequence = input == AMP_KIND_SEQUENCE || input == AMP_KIND_OPTIONAL_SEQUENCE;
    if (type->tensors && type->sequences)
        return holds_sequence ? AMP_KIND_SEQUENCE : AMP_KIND_TENSOR;
    if (type->optionals && type->optional_sequences && !type->tensors)
        return holds_sequence ? AMP_KIND_OPTIONAL_SEQUENCE : AMP_KIND_OPTIONAL;
    if (type->tensors)
        return AMP_KIND_TENSOR;
    if (type->sequences)
        return AMP_KIND_SEQUENCE;
    if (type->optionals)
        return AMP_KIND_OPTIONAL;
    return type->has_maps ? AMP_KIND_MAP : AMP_KIND_UNKNOWN;
}

static bool is_single_bit(uint32_t mask)
{
    return mask != 0 && (mask & (mask - 1)) == 0;
}

static void set_type(struct amp_model *model, uint32_t value_id, enum amp_kind kind,
                     enum amp_dtype dtype)
{
    struct amp_value *value = amp_value_at(model, value_id);
    if (kind != AMP_KIND_UNKNOWN)
        value->kind = kind;
    if (dtype != AMP_UNDEFINED)
        value->dtype = dtype;
}

/* The input whose parameter has the type variable number TYPE, one of known dtype where there is
   one; AMP_NONE when none is there. */
static uint32_t input_of_type(const struct amp_model *model, const struct amp_node *node,
                              uint8_t type)
{
    uint32_t first = AMP_NONE;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct amp_schema_param *param = amp_schema_input(node->schema, i);
        if (param->type != type || node->inputs[i] == AMP_NONE)
            continue;
        if (amp_value_at(model, node->inputs[i])->dtype != AMP_UNDEFINED)
            return node->inputs[i];
        first = first == AMP_NONE ? node->inputs[i] : first;
    }
    return first;
}

/* What the operator says of the dtype of output I; AMP_UNDEFINED: nothing. */
static enum amp_dtype op_dtype(const struct amp_model *model, const struct amp_node *node,
                               uint32_t i)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL && op->dtype != NULL ? op->dtype(model, node, i) : AMP_UNDEFINED;
}

/* Sets kind and dtype of output I of node ID: what an attribute or the operator says goes before
   what the schema says, which goes before the type of an input. */
static void infer_output_type(struct amp_model *model, uint32_t id, uint32_t i)
{
    const struct amp_node *node = amp_node_at(model, id);
    const struct amp_schema_param *param = amp_schema_output(node->schema, i);
    const struct amp_schema_type *type = amp_schema_type(node->schema, param);
    uint32_t output = node->outputs[i];
    uint32_t source = input_of_type(model, node, param->type);
    enum amp_dtype explicit = explicit_dtype(node, i);
    if (explicit == AMP_UNDEFINED)
        explicit = op_dtype(model, node, i);
    if (type->has_maps) {
        /* Of all operators ZipMap alone gives maps, a sequence of them. */
        set_type(model, output, AMP_KIND_MAP_SEQUENCE, AMP_UNDEFINED);
    } else if (explicit != AMP_UNDEFINED) {
        set_type(model, output, kind_of(type, AMP_KIND_TENSOR), explicit);
    } else if (param->option == AMP_PARAM_VARIADIC && !param->homogeneous) {
        /* Outputs that may each have another type (Loop, SequenceMap) get it from the body. */
        return;
    } else if (source != AMP_NONE && type->name != NULL) {
        set_type(model, output, amp_value_at(model, source)->kind,
                 amp_value_at(model, source)->dtype);
    } else if (is_single_bit(type->tensors)) {
        set_type(model, output, AMP_KIND_TENSOR, (enum amp_dtype)__builtin_ctz(type->tensors));
    } else if (amp_node_has_role(node, AMP_ROLE_DEQUANTIZE_LINEAR)) {
        set_type(model, output, AMP_KIND_TENSOR, amp_value_at(model, node->inputs[1])->dtype);
    } else if (amp_node_has_role(node, AMP_ROLE_QUANTIZE_LINEAR)) {
        set_type(model, output, AMP_KIND_TENSOR, AMP_UINT8);
    } else if (amp_value_at(model, output)->dtype == AMP_UNDEFINED && node->n_inputs > 0 &&
               node->inputs[0] != AMP_NONE) {
        /* SequenceAt, SplitToSequence, OptionalGetElement ...: the element type goes through. */
        const struct amp_value *input = amp_value_at(model, node->inputs[0]);
        uint32_t mask =
            type->tensors | type->sequences | type->optionals | type->optional_sequences;
        if (mask & AMP_DTYPE_BIT(input->dtype))
            set_type(model, output, kind_of(type, input->kind), input->dtype);
    }
}

static void infer_types(struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    if (node->schema == NULL || amp_node_has_role(node, AMP_ROLE_CONSTANT))
        return;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            infer_output_type(model, id, i);
}

/* Gives a value the SHAPE that was inferred, with declared dims where the inferred ones are not
   known. */
static void merge_shape(struct amp_model *model, uint32_t value_id, struct amp_shape *shape)
{
    const struct amp_value *value = amp_value_at(model, value_id);
    if (shape->rank < 0)
        return;
    for (int i = 0; i < shape->rank && value->rank == shape->rank; i++)
        if (shape->dims[i] == AMP_DIM_UNKNOWN)
            shape->dims[i] = value->dims[i];
    amp_value_set_shape(model, value_id, shape);
}

/* What a shape function is called with: types, shapes as far as known, constants. */
struct call {
    struct amp_tensor in_tensors[MAX_PARAMS], out_tensors[MAX_PARAMS];
    const struct amp_tensor *in[MAX_PARAMS];
    struct amp_tensor *out[MAX_PARAMS];
};

static void fill_call(const struct amp_model *model, const struct amp_node *node, struct call *call)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        call->in[i] = NULL;
        if (node->inputs[i] == AMP_NONE)
            continue;
        const struct amp_value *value = amp_value_at(model, node->inputs[i]);
        struct amp_tensor *tensor = &call->in_tensors[i];
        *tensor = (struct amp_tensor){
            .dtype = value->dtype, .form = amp_kind_form(value->kind), .shape.rank = -1};
        if (!amp_tensor_is_list(tensor))
            amp_value_shape(value, &tensor->shape);
        if (value->constant != NULL)
            tensor->data = value->constant->data;
        call->in[i] = tensor;
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        call->out[i] = &call->out_tensors[i];
        *call->out[i] = (struct amp_tensor){.shape.rank = -1};
        if (node->outputs[i] != AMP_NONE)
            call->out[i]->dtype = amp_value_at(model, node->outputs[i])->dtype;
    }
}

/* Whether the operator of NODE has a shape function that knows its version. */
static bool tells_shapes(const struct amp_node *node)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL && op->shape != NULL && node->schema != NULL &&
           node->since_version <= op->newest && node->n_inputs <= MAX_PARAMS &&
           node->n_outputs <= MAX_PARAMS;
}

/* Calls the shape function of NODE, which says in ERR why it refuses. */
static enum amp_status call_shape(const struct amp_model *model, const struct amp_node *node,
                                  struct call *call, struct amp_error *err)
{
    struct amp_ctx ctx = {.model = model,
                          .node = node,
                          .in = call->in,
                          .n_in = node->n_inputs,
                          .out = call->out,
                          .n_out = node->n_outputs,
                          .err = err};
    return amp_op_of(node)->shape(&ctx);
}

/* Sets the shapes of the outputs of node ID where its operator tells them; what its shape function
   refuses is left as it was. */
static void infer_shapes(struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct call call;
    struct amp_error ignored = {.status = AMP_OK};
    if (!tells_shapes(node))
        return;
    fill_call(model, node, &call);
    if (call_shape(model, node, &call, &ignored) != AMP_OK)
        return;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE &&
            amp_kind_form(amp_value_at(model, node->outputs[i])->kind) == AMP_FORM_TENSOR &&
            amp_value_at(model, node->outputs[i])->constant == NULL)
            merge_shape(model, node->outputs[i], &call.out[i]->shape);
}

bool amp_infer_takes(const struct amp_model *model, uint32_t id, uint32_t value,
                     const struct amp_shape *shape)
{
    const struct amp_node *node = amp_node_at(model, id);
    struct call call;
    struct amp_error ignored = {.status = AMP_OK};
    if (!tells_shapes(node))
        return true;
    fill_call(model, node, &call);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == value)
            call.in_tensors[i].shape = *shape;
    if (call_shape(model, node, &call, &ignored) != AMP_OK)
        return false;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        int rank = node->outputs[i] == AMP_NONE ? -1 : amp_value_at(model, node->outputs[i])->rank;
        if (rank >= 0 && call.out_tensors[i].shape.rank >= 0 &&
            call.out_tensors[i].shape.rank != rank)
            return false;
    }
    return true;
}

/* Whether the shapes of all outputs of NODE are known. */
static bool has_known_shapes(const struct amp_model *model, const struct amp_node *node)
{
    struct amp_shape shape;
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        if (node->outputs[i] == AMP_NONE)
            continue;
        amp_value_shape(amp_value_at(model, node->outputs[i]), &shape);
        if (!amp_shape_is_known(&shape))
            return false;
    }
    return true;
}

enum amp_status amp_infer_check_shapes(const struct amp_model *model, bool *is_told,
                                       struct amp_error *err)
{
    char text[512];
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    struct call call;
    *is_told = true;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct amp_node *node = amp_node_at(model, nodes->items[i]);
        bool tells = tells_shapes(node) && !amp_node_has_bodies(node);
        *is_told = *is_told && tells && has_known_shapes(model, node);
        if (!tells)
            continue;
        fill_call(model, node, &call);
        if (call_shape(model, node, &call, err) != AMP_OK) {
            amp_error_prefix(err, "%s: %s", model->path,
                             amp_node_text(model, nodes->items[i], text, sizeof text));
            return err->status;
        }
    }
    return AMP_OK;
}

static enum amp_status infer_graph(struct amp_model *model, uint32_t graph, struct amp_error *err);

static void copy_type(struct amp_model *model, uint32_t to, uint32_t from)
{
    if (to != AMP_NONE && from != AMP_NONE)
        set_type(model, to, amp_value_at(model, from)->kind, amp_value_at(model, from)->dtype);
}

/* Where FROM is a sequence and IS_ELEMENT holds, TO is of the type of its elements. */
static void copy_input_type(struct amp_model *model, uint32_t to, uint32_t from, bool is_element)
{
    copy_type(model, to, from);
    if (is_element && from != AMP_NONE && amp_value_at(model, from)->kind == AMP_KIND_SEQUENCE)
        amp_value_at(model, to)->kind = AMP_KIND_TENSOR;
}

/* A body need not declare its inputs; of a Loop's first two the operator says what they are. */
static void type_loop_scalars(struct amp_model *model, const struct amp_ids *inputs)
{
    static const enum amp_dtype dtypes[] = {AMP_INT64, AMP_BOOL};
    for (uint32_t i = 0; i < 2 && i < inputs->count; i++)
        if (amp_value_at(model, inputs->items[i])->dtype == AMP_UNDEFINED)
            set_type(model, inputs->items[i], AMP_KIND_TENSOR, dtypes[i]);
}

/* Infers GRAPH, a body of control-flow node ID: its inputs from the node's, the node's outputs from
   its outputs, as PAIRING says. */
static enum amp_status infer_body(struct amp_model *model, uint32_t id, uint32_t graph,
                                  const struct amp_pairing *pairing, struct amp_error *err)
{
    const struct amp_node *node = amp_node_at(model, id);
    bool is_later = pairing->later_in != 0 && node->since_version == pairing->later_in;
    uint32_t first = pairing->first_input + is_later;
    const struct amp_ids *inputs = &model->graphs[graph].inputs;
    for (uint32_t i = 0; first + i < node->n_inputs && pairing->body_input + i < inputs->count; i++)
        copy_input_type(model, inputs->items[pairing->body_input + i], node->inputs[first + i],
                        pairing->maps);
    if (pairing->body_output == 1)
        type_loop_scalars(model, inputs);
    AMP_TRY(infer_graph(model, graph, err));
    const struct amp_ids *outputs = &model->graphs[graph].outputs;
    node = amp_node_at(model, id);
    for (uint32_t i = 0; i < node->n_outputs && pairing->body_output + i < outputs->count; i++) {
        copy_type(model, node->outputs[i], outputs->items[pairing->body_output + i]);
        if (pairing->maps && node->outputs[i] != AMP_NONE)
            amp_value_at(model, node->outputs[i])->kind = AMP_KIND_SEQUENCE;
    }
    return AMP_OK;
}

static enum amp_status infer_bodies(struct amp_model *model, uint32_t id, struct amp_error *err)
{
    const struct amp_op *op = amp_op_of(amp_node_at(model, id));
    const struct amp_pairing *pairing = op != NULL ? op->pairing : NULL;
    for (uint32_t a = 0; a < amp_node_at(model, id)->n_attrs; a++) {
        const struct amp_attr *attr = &amp_node_at(model, id)->attrs[a];
        for (size_t k = 0; k < amp_attr_graph_count(attr); k++)
            if (pairing != NULL)
                AMP_TRY(infer_body(model, id, attr->graphs[k], pairing, err));
            else
                AMP_TRY(infer_graph(model, attr->graphs[k], err));
    }
    return AMP_OK;
}

/* Elements from which on the cast of a constant that loses nothing is left to those who need it. */
enum { DEFERRED_MIN = 1024 };

/* TENSOR in DTYPE, in the model's arena; NULL when it cannot be. */
static struct amp_tensor *cast_constant(struct amp_model *model, const struct amp_tensor *tensor,
                                        enum amp_dtype dtype)
{
    struct amp_error ignored = {.status = AMP_OK};
    struct amp_tensor *cast = amp_arena_alloc(model->arena, sizeof *cast);
    if (tensor->data == NULL)
        tensor = tensor->source;
    *cast = (struct amp_tensor){.dtype = dtype, .shape = tensor->shape, .source = tensor};
    if (amp_dtype_is_autocast(tensor->dtype) && amp_dtype_is_exact(tensor->dtype, dtype) &&
        amp_tensor_count(tensor) >= DEFERRED_MIN)
        return cast;
    cast->data = amp_arena_alloc(model->arena, amp_tensor_size(cast));
    /* In the file data lie as they come; kernels want them aligned. */
    struct amp_tensor aligned = *tensor;
    aligned.data = amp_xmalloc(amp_tensor_size(tensor), 1);
    amp_tensor_copy(tensor, aligned.data);
    enum amp_status status = amp_tensor_cast(&aligned, cast, NULL, &ignored);
    free(aligned.data);
    return status == AMP_OK ? cast : NULL;
}

/* What Identity and Cast give of a constant is a constant too: exporters share weights under a
   second name and store them in another dtype. */
static void pass_constant(struct amp_model *model, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    if (!(amp_node_has_role(node, AMP_ROLE_IDENTITY) || amp_node_has_role(node, AMP_ROLE_CAST)) ||
        node->n_inputs != 1 || node->inputs[0] == AMP_NONE || node->outputs[0] == AMP_NONE)
        return;
    struct amp_tensor *from = amp_value_at(model, node->inputs[0])->constant;
    struct amp_value *output = amp_value_at(model, node->outputs[0]);
    if (from != NULL && output->constant == NULL && amp_dtype_is_autocast(output->dtype))
        output->constant =
            from->dtype == output->dtype ? from : cast_constant(model, from, output->dtype);
}

/* Infers the nodes of GRAPH. Types are checked before shape functions rely on them. */
static enum amp_status infer_graph(struct amp_model *model, uint32_t graph, struct amp_error *err)
{
    for (size_t i = 0; i < model->graphs[graph].nodes.count; i++) {
        uint32_t id = model->graphs[graph].nodes.items[i];
        AMP_TRY(check_explicit(model, id, err));
        infer_types(model, id);
        AMP_TRY(infer_bodies(model, id, err));
        if (amp_check_types(model, id, err) != AMP_OK)
            AMP_TRY(amp_check_forgive_types(model, id, err));
        infer_shapes(model, id);
        pass_constant(model, id);
    }
    return AMP_OK;
}

enum amp_status amp_infer(struct amp_model *model, struct amp_error *err)
{
    const struct amp_ids *outputs = &model->graphs[0].outputs;
    enum amp_dtype *declared = amp_arena_array(model->arena, outputs->count, sizeof *declared);
    for (size_t i = 0; i < outputs->count; i++)
        declared[i] = amp_value_at(model, outputs->items[i])->dtype;
    if (infer_graph(model, 0, err) != AMP_OK) {
        amp_error_prefix(err, "%s", model->path);
        return err->status;
    }
    for (size_t i = 0; i < outputs->count; i++) {
        const struct amp_value *value = amp_value_at(model, outputs->items[i]);
        if (declared[i] != AMP_UNDEFINED && value->dtype != declared[i])
            return amp_fail(err, AMP_MODEL,
                            "%s: graph output '%s' is declared as %s, but its operator gives %s",
                            model->path, value->name, amp_dtype_name(declared[i]),
                            amp_dtype_name(value->dtype));
    }
    return AMP_OK;
}
