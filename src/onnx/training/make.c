/*
 * Makes a training_info for a model that has none: takes the model as it was read and a recipe,
 * adds loss, Gradient, optimizer and bindings to the message. Changes nothing of the main graph but
 * the imports.
 */
#include "onnx/training/make.h"

#include "core/array.h"
#include "core/match/glob.h"
#include "onnx/file/tensor_proto.h"
#include "onnx/file/type_proto.h"
#include "ops/op.h"

#include <string.h>

/* Operators of ai.onnx.preview.training. */
static const char domain[] = "ai.onnx.preview.training";

/* ---- a graph that is being made -------------------------------------------------------------- */

struct maker {
    struct amp_model *model; /* the main one */
    struct amp_arena *arena;
    const struct amp_training_recipe *recipe;
    Onnx__TrainingInfoProto *info;
    Onnx__GraphProto *graph; /* the algorithm */
    const char *scores, *loss, *target;
    const char **trained; /* names of initializers */
    size_t n_trained;
    struct amp_error *err;
};

/* Appends ITEM to LIST, whose COUNT items lie in an array that doubles when it is full. */
static void push(struct amp_arena *arena, void *list, size_t *count, void *item)
{
    void ***items = list;
    if ((*count & (*count - 1)) == 0) {
        void **more = amp_arena_array(arena, *count == 0 ? 1 : 2 * *count, sizeof *more);
        if (*count > 0)
            memcpy(more, *items, *count * sizeof *more);
        *items = more;
    }
    (*items)[(*count)++] = item;
}

static const char *new_name(const struct maker *maker, const char *text)
{
    return amp_model_unique_name(maker->model, text);
}

/* A node of the algorithm with inputs and outputs to come. */
static Onnx__NodeProto *add_node(struct maker *maker, const char *op_domain, const char *op_type)
{
    Onnx__NodeProto *node = amp_arena_alloc(maker->arena, sizeof *node);
    onnx__node_proto__init(node);
    node->domain = amp_arena_strdup(maker->arena, op_domain);
    node->op_type = amp_arena_strdup(maker->arena, op_type);
    node->name = amp_arena_strdup(maker->arena, new_name(maker, "training/node"));
    push(maker->arena, &maker->graph->node, &maker->graph->n_node, node);
    return node;
}

static void add_input(struct maker *maker, Onnx__NodeProto *node, const char *name)
{
    push(maker->arena, &node->input, &node->n_input, amp_arena_strdup(maker->arena, name));
}

static const char *add_output(struct maker *maker, Onnx__NodeProto *node, const char *text)
{
    const char *name = new_name(maker, text);
    push(maker->arena, &node->output, &node->n_output, amp_arena_strdup(maker->arena, name));
    return name;
}

static const char *add_pair(struct maker *maker, const char *op_type, const char *a, const char *b)
{
    Onnx__NodeProto *node = add_node(maker, "", op_type);
    add_input(maker, node, a);
    add_input(maker, node, b);
    return add_output(maker, node, "training/value");
}

static Onnx__AttributeProto *add_attr(struct maker *maker, Onnx__NodeProto *node, const char *name,
                                      Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *attr = amp_arena_alloc(maker->arena, sizeof *attr);
    onnx__attribute_proto__init(attr);
    attr->name = amp_arena_strdup(maker->arena, name);
    attr->has_type = true;
    attr->type = type;
    push(maker->arena, &node->attribute, &node->n_attribute, attr);
    return attr;
}

static ProtobufCBinaryData *new_bytes(const struct maker *maker, const char *text)
{
    ProtobufCBinaryData *bytes = amp_arena_alloc(maker->arena, sizeof *bytes);
    bytes->len = strlen(text);
    bytes->data = (uint8_t *)amp_arena_strdup(maker->arena, text);
    return bytes;
}

/* An initializer of the algorithm with the elements at DATA, or zeros. */
static const char *add_initializer(struct maker *maker, const char *text, enum amp_dtype dtype,
                                   const struct amp_shape *shape, const void *data)
{
    struct amp_tensor *tensor = amp_arena_array(maker->arena, 1, sizeof *tensor);
    tensor->dtype = dtype;
    tensor->shape = *shape;
    tensor->data = amp_arena_alloc(maker->arena, amp_tensor_size(tensor));
    if (data != NULL)
        memcpy(tensor->data, data, amp_tensor_size(tensor));
    const char *name = new_name(maker, text);
    push(maker->arena, &maker->graph->initializer, &maker->graph->n_initializer,
         amp_tensor_to_proto(tensor, name, maker->arena));
    return name;
}

static void add_value_info(struct maker *maker, Onnx__ValueInfoProto ***list, size_t *count,
                           const struct amp_value *value)
{
    Onnx__ValueInfoProto *info = amp_arena_alloc(maker->arena, sizeof *info);
    onnx__value_info_proto__init(info);
    info->name = amp_arena_strdup(maker->arena, value->name);
    info->type = amp_type_to_proto(maker->model, value);
    push(maker->arena, list, count, info);
}

/* Initializer KEY becomes value VALUE at the end of a step, which is given out. */
static void bind(struct maker *maker, const char *key, const char *value,
                 const struct amp_value *like)
{
    Onnx__StringStringEntryProto *binding = amp_arena_alloc(maker->arena, sizeof *binding);
    onnx__string_string_entry_proto__init(binding);
    binding->key = amp_arena_strdup(maker->arena, key);
    binding->value = amp_arena_strdup(maker->arena, value);
    push(maker->arena, &maker->info->update_binding, &maker->info->n_update_binding, binding);
    struct amp_value named = *like;
    named.name = value;
    add_value_info(maker, &maker->graph->output, &maker->graph->n_output, &named);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* An input of the algorithm of DTYPE that has the shape of the scores, their axis 1 left out if
   they are classes. */
static void add_target(struct maker *maker, uint32_t scores, bool is_classes)
{
    struct amp_value value = *amp_value_at(maker->model, scores);
    int64_t *dims = amp_arena_array(maker->arena, AMP_RANK_MAX, sizeof *dims);
    int rank = 0;
    for (int i = 0; i < value.rank; i++)
        if (!is_classes || i != 1)
            dims[rank++] = value.dims[i];
    value.rank = value.rank < 0 ? -1 : rank;
    value.dims = dims;
    value.dtype = is_classes ? AMP_INT64 : value.dtype;
    value.name = maker->target = new_name(maker, "target");
    add_value_info(maker, &maker->graph->input, &maker->graph->n_input, &value);
}

static void add_reduced(struct maker *maker, const char *value)
{
    Onnx__NodeProto *mean = add_node(maker, "", "ReduceMean");
    add_input(maker, mean, value);
    Onnx__AttributeProto *attr =
        add_attr(maker, mean, "keepdims", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attr->has_i = true;
    maker->loss = add_output(maker, mean, "loss");
}

static const char *add_single(struct maker *maker, const char *op_type, const char *a)
{
    Onnx__NodeProto *node = add_node(maker, "", op_type);
    add_input(maker, node, a);
    return add_output(maker, node, "training/value");
}

static void add_loss_of_classes(struct maker *maker, const char *op_type)
{
    Onnx__NodeProto *node = add_node(maker, "", op_type);
    add_input(maker, node, maker->scores);
    add_input(maker, node, maker->target);
    maker->loss = add_output(maker, node, "loss");
}

static void add_cross_entropy(struct maker *maker)
{
    add_loss_of_classes(maker, "SoftmaxCrossEntropyLoss");
}

static void add_log_likelihood(struct maker *maker)
{
    add_loss_of_classes(maker, "NegativeLogLikelihoodLoss");
}

static void add_squares(struct maker *maker)
{
    const char *difference = add_pair(maker, "Sub", maker->scores, maker->target);
    add_reduced(maker, add_pair(maker, "Mul", difference, difference));
}

static void add_magnitudes(struct maker *maker)
{
    const char *difference = add_pair(maker, "Sub", maker->scores, maker->target);
    add_reduced(maker, add_single(maker, "Abs", difference));
}

/* -t log(s) - (1 - t) log(1 - s), where s is the sigmoid of x: softplus(-x) and softplus(x) in
   these shares, so that no large numbers cancel. */
static void add_binary_cross_entropy(struct maker *maker)
{
    static const struct amp_shape scalar = {.rank = 0};
    static const float one = 1;
    const char *rest = add_pair(
        maker, "Sub", add_initializer(maker, "one", AMP_FLOAT, &scalar, &one), maker->target);
    const char *minus = add_single(maker, "Softplus", add_single(maker, "Neg", maker->scores));
    const char *plus = add_single(maker, "Softplus", maker->scores);
    add_reduced(maker, add_pair(maker, "Add", add_pair(maker, "Mul", maker->target, minus),
                                add_pair(maker, "Mul", rest, plus)));
}

static const struct loss {
    const char *name;
    void (*add)(struct maker *maker);
    bool is_of_classes;  /* the target is the number of a class for each row of scores */
    enum amp_role takes; /* the operator that the loss does itself: it is of what that takes */
    int opset;           /* that it needs */
} losses[] = {{"cross_entropy", add_cross_entropy, true, AMP_ROLE_SOFTMAX, 12},
              {"nll", add_log_likelihood, true, AMP_ROLE_NONE, 12},
              {"mse", add_squares, false, AMP_ROLE_NONE, 1},
              {"l1", add_magnitudes, false, AMP_ROLE_NONE, 1},
              {"bce_with_logits", add_binary_cross_entropy, false, AMP_ROLE_SIGMOID, 1}};

const char *amp_training_loss_name(size_t i)
{
    return i < AMP_COUNT(losses) ? losses[i].name : NULL;
}

/* ---- optimizers ------------------------------------------------------------------------------ */

static const char decay_attr[] = "norm_coefficient";

/* What an operator is given besides the rate: states of each tensor, attributes; decay_attr is
   weight_decay. */
static const struct optimizer {
    const char *name, *op_type;
    size_t n_states;
    float decay;       /* without weight_decay */
    bool is_decoupled; /* the weights themselves decay, by the rate (AdamW), not their gradients */
    struct {
        const char *name, *text;
        float number;
    } attrs[4];
} optimizers[] = {
    {"sgd",
     "Momentum",
     1,
     0,
     false,
     {{"alpha", NULL, 0}, {"beta", NULL, 1}, {"mode", "standard", 0}, {decay_attr, NULL, 0}}},
    {"momentum",
     "Momentum",
     1,
     0,
     false,
     {{"alpha", NULL, 0.9f}, {"beta", NULL, 1}, {"mode", "standard", 0}, {decay_attr, NULL, 0}}},
    {"adam",
     "Adam",
     2,
     0,
     false,
     {{"alpha", NULL, 0.9f},
      {"beta", NULL, 0.999f},
      {"epsilon", NULL, 1e-8f},
      {decay_attr, NULL, 0}}},
    {"adamw",
     "Adam",
     2,
     0.01f,
     true,
     {{"alpha", NULL, 0.9f}, {"beta", NULL, 0.999f}, {"epsilon", NULL, 1e-8f}}},
    {"adagrad", "Adagrad", 1, 0, false, {{"epsilon", NULL, 1e-10f}, {decay_attr, NULL, 0}}},
};

const char *amp_training_optimizer_name(size_t i)
{
    return i < AMP_COUNT(optimizers) ? optimizers[i].name : NULL;
}

/* The number of the step, from 1 on. */
static const char *add_count(struct maker *maker)
{
    static const struct amp_shape scalar = {.rank = 0};
    static const int64_t one = 1;
    const struct amp_value like = {
        .kind = AMP_KIND_TENSOR, .dtype = AMP_INT64, .rank = 0, .producer = AMP_NONE};
    const char *before = add_initializer(maker, "step", AMP_INT64, &scalar, NULL);
    const char *after =
        add_pair(maker, "Add", before, add_initializer(maker, "one", AMP_INT64, &scalar, &one));
    bind(maker, before, after, &like);
    return after;
}

static const struct amp_value *value_named(const struct maker *maker, const char *name)
{
    uint32_t id = 0;
    while (strcmp(amp_value_at(maker->model, id)->name, name) != 0 ||
           amp_value_at(maker->model, id)->graph != 0)
        id++;
    return amp_value_at(maker->model, id);
}

static float decay_of(const struct maker *maker, const struct optimizer *optimizer)
{
    return maker->recipe->decay >= 0 ? (float)maker->recipe->decay : optimizer->decay;
}

static void add_optimizer_attrs(struct maker *maker, Onnx__NodeProto *node,
                                const struct optimizer *optimizer)
{
    for (size_t i = 0; i < AMP_COUNT(optimizer->attrs) && optimizer->attrs[i].name != NULL; i++) {
        const char *text = optimizer->attrs[i].text;
        Onnx__AttributeProto *attr =
            add_attr(maker, node, optimizer->attrs[i].name,
                     text != NULL ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
                                  : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
        attr->has_s = text != NULL;
        attr->has_f = text == NULL;
        attr->f = optimizer->attrs[i].name == decay_attr ? decay_of(maker, optimizer)
                                                         : optimizer->attrs[i].number;
        if (text != NULL)
            attr->s = *new_bytes(maker, text);
    }
}

/* What part of the weights decay leaves in a step where that is apart from the gradients: D.
   Loshchilov, F. Hutter, Decoupled Weight Decay Regularization (2019). NULL: all. */
static const char *add_kept(struct maker *maker, const struct optimizer *optimizer)
{
    static const struct amp_shape scalar = {.rank = 0};
    const float kept = (float)(1 - maker->recipe->rate * (double)decay_of(maker, optimizer));
    if (!optimizer->is_decoupled || !(kept < 1))
        return NULL;
    return add_initializer(maker, "kept", AMP_FLOAT, &scalar, &kept);
}

/* The optimizer on all trained initializers with GRADIENTS, and the bindings of these and of its
   states. */
static void add_optimizer(struct maker *maker, const struct optimizer *optimizer,
                          const char *const *gradients)
{
    static const struct amp_shape scalar = {.rank = 0};
    const float rate = (float)maker->recipe->rate;
    size_t n = maker->n_trained;
    const char **states = amp_arena_array(maker->arena, n * optimizer->n_states, sizeof *states);
    const char *rate_name = add_initializer(maker, "rate", AMP_FLOAT, &scalar, &rate);
    const char *count_name = add_count(maker);
    const char *kept = add_kept(maker, optimizer);
    Onnx__NodeProto *node = add_node(maker, domain, optimizer->op_type);
    add_optimizer_attrs(maker, node, optimizer);
    add_input(maker, node, rate_name);
    add_input(maker, node, count_name);
    for (size_t i = 0; i < n; i++)
        add_input(maker, node,
                  kept != NULL ? add_pair(maker, "Mul", maker->trained[i], kept)
                               : maker->trained[i]);
    for (size_t i = 0; i < n; i++)
        add_input(maker, node, gradients[i]);
    for (size_t i = 0; i < n * optimizer->n_states; i++) {
        const struct amp_tensor *like = value_named(maker, maker->trained[i % n])->initial;
        states[i] = add_initializer(maker, "state", like->dtype, &like->shape, NULL);
        add_input(maker, node, states[i]);
    }
    for (size_t i = 0; i < n * (1 + optimizer->n_states); i++) {
        const char *key = i < n ? maker->trained[i] : states[i - n];
        bind(maker, key, add_output(maker, node, "trained"),
             value_named(maker, maker->trained[i % n]));
    }
}

/* ---- what is trained ------------------------------------------------------------------------- */

/* Whether VALUE is a running statistic: what BatchNormalization takes behind scale and bias. */
static bool is_statistic(const struct amp_model *model, uint32_t value)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t i = 3; i < node->n_inputs && !node->is_removed; i++)
            if (node->inputs[i] == value && amp_node_has_role(node, AMP_ROLE_BATCH_NORMALIZATION))
                return true;
    }
    return false;
}

static enum amp_status choose_trained(struct maker *maker)
{
    const struct amp_model *model = maker->model;
    const struct amp_ids *ids = &model->graphs[0].initializers;
    const char *pattern = maker->recipe->pattern != NULL ? maker->recipe->pattern : "*";
    maker->trained = amp_arena_array(maker->arena, ids->count, sizeof *maker->trained);
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *value = amp_value_at(model, ids->items[i]);
        if (value->dtype == AMP_FLOAT && amp_tensor_count(value->initial) > 1 &&
            amp_glob_matches(pattern, value->name) && !is_statistic(model, ids->items[i]))
            maker->trained[maker->n_trained++] = value->name;
    }
    if (maker->n_trained > 0)
        return AMP_OK;
    return amp_fail(maker->err, AMP_USAGE,
                    "%s: no initializer of float32 with more than one element matches '%s'",
                    model->path, pattern);
}

/* The Gradient node; GRADIENTS gets the names of its outputs. */
static void add_gradient(struct maker *maker, const char **gradients)
{
    const struct amp_ids *inputs = &maker->model->graphs[0].inputs;
    Onnx__NodeProto *node = add_node(maker, domain, "Gradient");
    Onnx__AttributeProto *xs =
        add_attr(maker, node, "xs", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    Onnx__AttributeProto *zs =
        add_attr(maker, node, "zs", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);
    Onnx__AttributeProto *y =
        add_attr(maker, node, "y", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    xs->strings = amp_arena_array(maker->arena, maker->n_trained, sizeof *xs->strings);
    zs->strings = amp_arena_array(maker->arena, inputs->count, sizeof *zs->strings);
    for (size_t i = 0; i < maker->n_trained; i++) {
        xs->strings[xs->n_strings++] = *new_bytes(maker, maker->trained[i]);
        add_input(maker, node, maker->trained[i]);
        gradients[i] = add_output(maker, node, "gradient");
    }
    for (size_t i = 0; i < inputs->count; i++) {
        const struct amp_value *value = amp_value_at(maker->model, inputs->items[i]);
        if (value->is_initializer)
            continue;
        zs->strings[zs->n_strings++] = *new_bytes(maker, value->name);
        add_input(maker, node, value->name);
    }
    y->has_s = true;
    y->s = *new_bytes(maker, maker->loss);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct loss *find_loss(const char *name)
{
    for (size_t i = 0; i < AMP_COUNT(losses); i++)
        if (strcmp(losses[i].name, name) == 0)
            return &losses[i];
    return NULL;
}

static const struct optimizer *find_optimizer(const char *name)
{
    for (size_t i = 0; i < AMP_COUNT(optimizers); i++)
        if (strcmp(optimizers[i].name, name) == 0)
            return &optimizers[i];
    return NULL;
}

/* Whether what NODE, a Softmax, normalises are classes as losses have them, along axis 1. */
static bool is_along_classes(const struct amp_model *model, const struct amp_node *node)
{
    int rank = amp_value_at(model, node->inputs[0])->rank;
    int64_t axis = amp_node_int(node, "axis", node->since_version < 13 ? 1 : -1);
    return rank < 0 || rank == 2 ||
           (node->since_version >= 13 && axis + (axis < 0 ? rank : 0) == 1);
}

/* Sets *SCORES to what the loss is of: the first output, or what its operator takes where the loss
   does the same itself, whose type then is *SKIPPED. */
static enum amp_status find_scores(const struct maker *maker, const struct loss *loss,
                                   uint32_t *scores, const char **skipped)
{
    const struct amp_model *model = maker->model;
    *scores = model->graphs[0].outputs.items[0];
    uint32_t producer = amp_value_at(model, *scores)->producer;
    const struct amp_node *node = producer != AMP_NONE ? amp_node_at(model, producer) : NULL;
    bool is_softmax = node != NULL && amp_node_has_role(node, AMP_ROLE_SOFTMAX);
    if (is_softmax && loss->is_of_classes && loss->takes == AMP_ROLE_NONE)
        return amp_fail(maker->err, AMP_USAGE,
                        "%s: loss=%s takes logarithms of probabilities, and output '%s' has "
                        "probabilities: loss=cross_entropy is of what its %s takes",
                        model->path, loss->name, amp_value_at(model, *scores)->name, node->op_type);
    if (node == NULL || loss->takes == AMP_ROLE_NONE || !amp_node_has_role(node, loss->takes))
        return AMP_OK;
    if (is_softmax && !is_along_classes(model, node))
        return amp_fail(maker->err, AMP_UNSUPPORTED,
                        "%s: loss=%s has classes along axis 1, and the %s of output '%s' has them "
                        "along another",
                        model->path, loss->name, node->op_type, amp_value_at(model, *scores)->name);
    *scores = node->inputs[0];
    *skipped = node->op_type;
    return AMP_OK;
}

static enum amp_status check_model(const struct maker *maker, const struct loss *loss)
{
    const struct amp_model *model = maker->model;
    const Onnx__ModelProto *proto = model->origin;
    if (proto->n_training_info > 0 || model->graphs[0].outputs.count == 0)
        return amp_fail(maker->err, AMP_UNSUPPORTED, "%s: %s", model->path,
                        proto->n_training_info > 0 ? "there is a training_info already"
                                                   : "there is no output to learn");
    if (amp_model_opset(model, "") < loss->opset)
        return amp_fail(maker->err, AMP_UNSUPPORTED,
                        "%s: loss=%s needs opset %d, and the model has %lld", model->path,
                        loss->name, loss->opset, (long long)amp_model_opset(model, ""));
    return AMP_OK;
}

static void import_domain(struct maker *maker, Onnx__ModelProto *proto)
{
    if (amp_model_opset(maker->model, domain) > 0)
        return;
    Onnx__OperatorSetIdProto *import = amp_arena_alloc(maker->arena, sizeof *import);
    onnx__operator_set_id_proto__init(import);
    import->domain = amp_arena_strdup(maker->arena, domain);
    import->has_version = true;
    import->version = 1;
    Onnx__OperatorSetIdProto **all =
        amp_arena_array(maker->arena, proto->n_opset_import + 1, sizeof *all);
    memcpy(all, proto->opset_import, proto->n_opset_import * sizeof *all);
    all[proto->n_opset_import++] = import;
    proto->opset_import = all;
    amp_model_import(maker->model, import->domain, 1);
}

static void add_info(struct maker *maker, Onnx__ModelProto *proto)
{
    maker->info = amp_arena_alloc(maker->arena, sizeof *maker->info);
    maker->graph = amp_arena_alloc(maker->arena, sizeof *maker->graph);
    onnx__training_info_proto__init(maker->info);
    onnx__graph_proto__init(maker->graph);
    maker->graph->name = amp_arena_strdup(maker->arena, "training");
    maker->info->algorithm = maker->graph;
    push(maker->arena, &proto->training_info, &proto->n_training_info, maker->info);
    import_domain(maker, proto);
}

enum amp_status amp_training_make(struct amp_model_file *file,
                                  const struct amp_training_recipe *recipe, const char **skipped,
                                  struct amp_error *err)
{
    Onnx__ModelProto *proto = file->model->origin;
    const struct loss *loss = find_loss(recipe->loss);
    const struct optimizer *optimizer = find_optimizer(recipe->optimizer);
    uint32_t scores;
    struct maker maker = {.model = file->model, .arena = file->arena, .recipe = recipe, .err = err};
    if (loss == NULL || optimizer == NULL)
        return amp_fail(err, AMP_USAGE, "there is no %s '%s'", loss == NULL ? "loss" : "optimizer",
                        loss == NULL ? recipe->loss : recipe->optimizer);
    *skipped = NULL;
    AMP_TRY(check_model(&maker, loss));
    AMP_TRY(find_scores(&maker, loss, &scores, skipped));
    AMP_TRY(choose_trained(&maker));
    const char **gradients = amp_arena_array(file->arena, maker.n_trained, sizeof *gradients);
    maker.scores = amp_value_at(file->model, scores)->name;
    add_info(&maker, proto);
    add_target(&maker, scores, loss->is_of_classes);
    loss->add(&maker);
    const struct amp_value like = {
        .name = maker.loss, .kind = AMP_KIND_TENSOR, .dtype = AMP_FLOAT, .rank = 0};
    add_value_info(&maker, &maker.graph->output, &maker.graph->n_output, &like);
    add_gradient(&maker, gradients);
    add_optimizer(&maker, optimizer, gradients);
    return AMP_OK;
}
