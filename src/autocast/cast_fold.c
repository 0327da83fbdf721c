/*
 * Folds redundant casts, wherever they come from: this conversion, an earlier one or the exporter.
 * Takes a model whose nodes are sorted and works in their order, so that a chain shrinks link by
 * link. Changes no result but infinities that constants overflow to.
 */
#include "autocast/cast_fold.h"

#include "autocast/weights.h"
#include "core/graph/uses.h"
#include "core/tensor.h"
#include "ops/op.h"

#include <stdlib.h>

struct fold {
    struct amp_model *model;
    uint32_t *uses;        /* per value: how often nodes take it, and as an output */
    uint32_t *replacement; /* per value: what its consumers take instead */
    uint32_t *last_cast;   /* per value: the last of its casts so far, by their outputs; AMP_NONE */
    uint32_t *next_cast;   /* per output of such a cast: the cast of the same value before it */
    uint32_t *output_count;       /* per value: how often graphs give it out */
    uint32_t *output_replacement; /* per value: what is given out instead; AMP_NONE: itself */
    bool is_shared;               /* casts of one value to one dtype become one */
    uint32_t first_inserted;      /* casts from this node on are the conversion's own */
    size_t n_removed;
};

static bool is_cast(const struct amp_node *node)
{
    return !node->is_removed && amp_node_has_role(node, AMP_ROLE_CAST) && node->n_inputs == 1 &&
           node->n_outputs == 1 && node->inputs[0] != AMP_NONE && node->outputs[0] != AMP_NONE;
}

size_t amp_cast_count(const struct amp_model *model)
{
    size_t count = 0;
    for (uint32_t id = 0; id < model->n_nodes; id++)
        count += is_cast(amp_node_at(model, id));
    return count;
}

/* Integers and the float types that autocast moves between: strings and float8 have casts of their
   own rules. */
static bool is_plain(enum amp_dtype dtype)
{
    enum amp_dtype_class class = amp_dtype_class(dtype);
    return amp_dtype_is_autocast(dtype) || dtype == AMP_DOUBLE || class == AMP_CLASS_INT ||
           class == AMP_CLASS_UINT || class == AMP_CLASS_BOOL;
}

static void set_input(struct fold *fold, uint32_t node, uint32_t slot, uint32_t value)
{
    uint32_t *input = &amp_node_at(fold->model, node)->inputs[slot];
    fold->uses[*input]--;
    fold->uses[value]++;
    *input = value;
}

static void remove_unused(struct fold *fold, uint32_t value);

/* Makes the consumers of VALUE take REPLACEMENT instead, each when its turn comes. Until the node
   that makes VALUE goes, that counts as a use. */
static void set_replacement(struct fold *fold, uint32_t value, uint32_t replacement)
{
    fold->replacement[value] = replacement;
    fold->uses[replacement]++;
}

static void drop_replacement(struct fold *fold, uint32_t value)
{
    uint32_t replacement = fold->replacement[value];
    if (replacement == AMP_NONE)
        return;
    fold->replacement[value] = AMP_NONE;
    fold->uses[replacement]--;
    remove_unused(fold, replacement);
}

static void drop_unused_constant(struct fold *fold, uint32_t value_id)
{
    const struct amp_value *value = amp_value_at(fold->model, value_id);
    uint32_t producer = value->producer;
    if (value->constant == NULL || fold->uses[value_id] > 0)
        return;
    if (producer == AMP_NONE) {
        amp_graph_remove_initializer(fold->model, value_id);
        return;
    }
    const struct amp_node *node = amp_node_at(fold->model, producer);
    amp_node_remove(fold->model, producer);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        fold->uses[node->inputs[i]]--;
        drop_unused_constant(fold, node->inputs[i]);
    }
}

/* Removes the cast that makes VALUE when nothing takes it any more, and so on up its chain. */
static void remove_unused(struct fold *fold, uint32_t value)
{
    while (fold->uses[value] == 0) {
        uint32_t producer = amp_value_at(fold->model, value)->producer;
        if (producer == AMP_NONE || !is_cast(amp_node_at(fold->model, producer)))
            break;
        uint32_t input = amp_node_at(fold->model, producer)->inputs[0];
        fold->uses[input]--;
        amp_node_remove(fold->model, producer);
        fold->n_removed++;
        drop_replacement(fold, value);
        value = input;
    }
    drop_unused_constant(fold, value);
}

/* Skips the cast before NODE when it loses nothing on the way to NODE's own dtype. */
static void skip_chain(struct fold *fold, uint32_t id)
{
    for (;;) {
        uint32_t middle = amp_node_at(fold->model, id)->inputs[0];
        uint32_t producer = amp_value_at(fold->model, middle)->producer;
        if (producer == AMP_NONE || !is_cast(amp_node_at(fold->model, producer)))
            return;
        uint32_t source = amp_node_at(fold->model, producer)->inputs[0];
        enum amp_dtype from = amp_value_at(fold->model, source)->dtype;
        enum amp_dtype through = amp_value_at(fold->model, middle)->dtype;
        enum amp_dtype to =
            amp_value_at(fold->model, amp_node_at(fold->model, id)->outputs[0])->dtype;
        if (!is_plain(through) || !is_plain(to) || !amp_dtype_is_exact(from, through))
            return;
        set_input(fold, id, 0, source);
        remove_unused(fold, middle);
    }
}

/* The cast of VALUE that stands for all others to the same dtype in the same graph, as a body's
   cast cannot stand for one outside of it; OUTPUT, which a cast of VALUE makes, when it is the
   first. */
static uint32_t first_cast(struct fold *fold, uint32_t value, uint32_t output)
{
    const struct amp_value *wanted = amp_value_at(fold->model, output);
    for (uint32_t cast = fold->last_cast[value]; cast != AMP_NONE; cast = fold->next_cast[cast]) {
        const struct amp_value *known = amp_value_at(fold->model, cast);
        bool is_there = known->producer != AMP_NONE || known->is_initializer;
        if (is_there && known->dtype == wanted->dtype && known->graph == wanted->graph)
            return cast;
    }
    fold->next_cast[output] = fold->last_cast[value];
    fold->last_cast[value] = output;
    return output;
}

/* A tensor of one element in DTYPE for a ConstantOfShape; NULL when it cannot be. What overflows is
   made finite, as all constants are, unless the cast IS_GIVEN: the model means its infinity. */
static struct amp_tensor *fill_value(struct fold *fold, const struct amp_node *producer,
                                     enum amp_dtype dtype, bool is_given)
{
    static float zero;
    static const struct amp_tensor fallback = {
        .dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {1}}, .data = &zero};
    const struct amp_attr *attr = amp_node_attr(producer, "value");
    const struct amp_tensor *value =
        attr != NULL && attr->type == AMP_ATTR_TENSOR ? attr->tensors[0] : &fallback;
    if (!amp_dtype_is_autocast(value->dtype) || amp_tensor_count(value) != 1)
        return NULL;
    if (is_given && amp_weight_overflows(amp_weight_max(value), dtype))
        return NULL;
    return amp_weight_convert(fold->model, value, dtype);
}

/* Whether PRODUCER is a ConstantOfShape that can give DTYPE; bfloat16 came with opset 20 (ONNX
   ConstantOfShape-20). */
static bool can_fill(const struct amp_model *model, uint32_t producer, enum amp_dtype dtype)
{
    if (producer == AMP_NONE || !amp_dtype_is_autocast(dtype) ||
        (dtype == AMP_BFLOAT16 && amp_model_opset(model, "") < 20))
        return false;
    const struct amp_node *node = amp_node_at(model, producer);
    return amp_node_has_role(node, AMP_ROLE_CONSTANT_OF_SHAPE) && node->n_inputs == 1;
}

/* Turns the cast of a ConstantOfShape into a ConstantOfShape of the cast's dtype. */
static void fold_fill(struct fold *fold, uint32_t id)
{
    struct amp_model *model = fold->model;
    struct amp_node *cast = amp_node_at(model, id);
    uint32_t input = cast->inputs[0], producer_id = amp_value_at(model, input)->producer;
    enum amp_dtype dtype = amp_value_at(model, cast->outputs[0])->dtype;
    if (!can_fill(model, producer_id, dtype))
        return;
    const struct amp_node *producer = amp_node_at(model, producer_id);
    struct amp_tensor *fill = fill_value(fold, producer, dtype, id < fold->first_inserted);
    if (fill == NULL)
        return;
    struct amp_tensor **list = amp_arena_memdup(model->arena, &fill, sizeof fill);
    set_input(fold, id, 0, producer->inputs[0]);
    cast->op_type = producer->op_type;
    cast->name =
        amp_model_unique_name(model, amp_arena_printf(model->arena, "ConstantOfShape/%s",
                                                      amp_value_at(model, cast->outputs[0])->name));
    cast->schema = producer->schema;
    cast->since_version = producer->since_version;
    amp_node_remove_attr(model, id, "to");
    amp_node_remove_attr(model, id, "saturate");
    amp_node_set_attr(
        model, id,
        (struct amp_attr){.name = "value", .type = AMP_ATTR_TENSOR, .count = 1, .tensors = list});
    fold->n_removed++;
    if (fold->uses[input] == 0) {
        uint32_t shape = producer->inputs[0];
        fold->uses[shape]--;
        amp_node_remove(model, producer_id);
    }
}

/* Stores what a cast makes of a constant in its place, unless that takes more room. */
static bool fold_constant(struct fold *fold, uint32_t id)
{
    struct amp_model *model = fold->model;
    uint32_t input = amp_node_at(model, id)->inputs[0], output = amp_node_at(model, id)->outputs[0];
    const struct amp_value *made = amp_value_at(model, output);
    const struct amp_value *source = amp_value_at(model, input);
    if (made->constant == NULL || source->constant == NULL || made->is_output ||
        amp_dtype_bits(made->dtype) > amp_dtype_bits(source->dtype))
        return false;
    amp_node_remove(model, id);
    amp_graph_make_initializer(model, output, made->constant);
    fold->uses[input]--;
    fold->n_removed++;
    drop_unused_constant(fold, input);
    return true;
}

/* Whether the casts of VALUE to DTYPE are to become one. */
static bool is_merged(const struct fold *fold, uint32_t value, enum amp_dtype dtype)
{
    bool is_constant = amp_value_at(fold->model, value)->constant != NULL;
    return is_plain(dtype) && (fold->is_shared || is_constant);
}

/* Makes the input of cast ID, which changes nothing, the graph output that the cast makes, under
   its name; not where the input has a name to keep. */
static void pass_output(struct fold *fold, uint32_t id)
{
    struct amp_model *model = fold->model;
    uint32_t input = amp_node_at(model, id)->inputs[0], output = amp_node_at(model, id)->outputs[0];
    struct amp_value *made = amp_value_at(model, output), *source = amp_value_at(model, input);
    if (!made->is_output || source->is_output || source->producer == AMP_NONE ||
        source->constant != NULL || source->graph != made->graph)
        return;
    const char *name = source->name;
    source->name = made->name;
    source->is_output = true;
    made->name = name;
    made->is_output = false;
    fold->output_replacement[output] = input;
    fold->uses[input] += fold->output_count[output];
    fold->uses[output] -= fold->output_count[output];
    fold->output_count[input] += fold->output_count[output];
    fold->output_count[output] = 0;
    remove_unused(fold, output);
}

static void replace_outputs(const struct fold *fold)
{
    for (size_t g = 0; g < fold->model->n_graphs; g++) {
        const struct amp_ids *outputs = &fold->model->graphs[g].outputs;
        for (size_t i = 0; i < outputs->count; i++)
            while (fold->output_replacement[outputs->items[i]] != AMP_NONE)
                outputs->items[i] = fold->output_replacement[outputs->items[i]];
    }
}

/* A cast that is not needed loses its consumers. */
static void fold_cast(struct fold *fold, uint32_t id)
{
    skip_chain(fold, id);
    const struct amp_node *node = amp_node_at(fold->model, id);
    uint32_t input = node->inputs[0], output = node->outputs[0];
    enum amp_dtype dtype = amp_value_at(fold->model, output)->dtype;
    if (dtype == amp_value_at(fold->model, input)->dtype) {
        set_replacement(fold, output, input);
        pass_output(fold, id);
        return;
    }
    uint32_t first = is_merged(fold, input, dtype) ? first_cast(fold, input, output) : output;
    if (first != output)
        set_replacement(fold, output, first);
    else if (!fold_constant(fold, id))
        fold_fill(fold, id);
}

static void take_replacements(struct fold *fold, uint32_t id)
{
    for (uint32_t i = 0; i < amp_node_at(fold->model, id)->n_inputs; i++) {
        uint32_t value = amp_node_at(fold->model, id)->inputs[i];
        if (value == AMP_NONE || fold->replacement[value] == AMP_NONE)
            continue;
        set_input(fold, id, i, fold->replacement[value]);
        remove_unused(fold, value);
    }
}

static void fold_graph(struct fold *fold, uint32_t graph)
{
    struct amp_model *model = fold->model;
    for (size_t i = 0; i < model->graphs[graph].nodes.count; i++) {
        uint32_t id = model->graphs[graph].nodes.items[i];
        if (amp_node_at(model, id)->is_removed)
            continue;
        take_replacements(fold, id);
        const struct amp_node *node = amp_node_at(model, id);
        for (uint32_t a = 0; a < node->n_attrs; a++)
            for (size_t k = 0; k < amp_attr_graph_count(&node->attrs[a]); k++)
                fold_graph(fold, node->attrs[a].graphs[k]);
        if (is_cast(node))
            fold_cast(fold, id);
    }
}

/* COUNT ids, all AMP_NONE. */
static uint32_t *no_ids(size_t count)
{
    uint32_t *ids = amp_xmalloc(count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = AMP_NONE;
    return ids;
}

size_t amp_cast_fold(struct amp_model *model, bool is_shared, uint32_t first_inserted)
{
    struct fold fold = {.model = model,
                        .is_shared = is_shared,
                        .first_inserted = first_inserted,
                        .uses = amp_uses_count(model),
                        .output_count = amp_uses_count_outputs(model),
                        .output_replacement = no_ids(model->n_values),
                        .replacement = no_ids(model->n_values),
                        .last_cast = no_ids(model->n_values),
                        .next_cast = no_ids(model->n_values)};
    fold_graph(&fold, 0);
    replace_outputs(&fold);
    for (uint32_t v = 0; v < model->n_values; v++)
        drop_replacement(&fold, v);
    amp_graph_drop_removed(model);
    free(fold.uses);
    free(fold.output_count);
    free(fold.output_replacement);
    free(fold.replacement);
    free(fold.last_cast);
    free(fold.next_cast);
    return fold.n_removed;
}
