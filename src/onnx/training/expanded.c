/*
 * The message of a step of training that is a graph of plain operators: takes the message that the
 * step's graph was joined in and the graph that came of it, makes the one fit for the other. Does
 * not touch nodes and initializers, which are brought up to date when the model is written.
 */
#include "onnx/training/expanded.h"

#include "onnx/file/metadata.h"
#include "onnx/file/type_proto.h"
#include "onnx/schema/schema.h"

#include <string.h>

static const char prefix[] = "update_binding.";

static Onnx__ValueInfoProto **create_infos(const struct amp_model *model, const struct amp_ids *ids)
{
    Onnx__ValueInfoProto **infos = amp_arena_array(model->arena, ids->count, sizeof *infos);
    for (size_t i = 0; i < ids->count; i++) {
        const struct amp_value *value = amp_value_at(model, ids->items[i]);
        infos[i] = amp_arena_alloc(model->arena, sizeof **infos);
        onnx__value_info_proto__init(infos[i]);
        infos[i]->name = amp_arena_strdup(model->arena, value->name);
        if (value->kind == AMP_KIND_TENSOR && value->dtype != AMP_UNDEFINED)
            infos[i]->type = amp_type_to_proto(model, value);
    }
    return infos;
}

static bool is_used(const struct amp_model *model, const char *domain)
{
    for (size_t i = 0; i < model->n_nodes; i++)
        if (!model->nodes[i].is_removed && strcmp(model->nodes[i].domain, domain) == 0)
            return true;
    return domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

/* Drops the imports of what no node is of. */
static void drop_imports(struct amp_model *model, Onnx__ModelProto *proto)
{
    Onnx__OperatorSetIdProto **imports =
        amp_arena_array(model->arena, model->n_opsets, sizeof *imports);
    size_t kept = 0;
    for (size_t i = 0; i < model->n_opsets; i++) {
        const struct amp_opset opset = model->opsets[i];
        if (!is_used(model, opset.domain))
            continue;
        imports[kept] = proto->opset_import[i];
        model->opsets[kept] = opset;
        amp_strmap_put(&model->opset_ids, model->arena,
                       strcmp(opset.domain, "ai.onnx") == 0 ? "" : opset.domain, (uint32_t)kept);
        kept++;
    }
    proto->opset_import = imports;
    proto->n_opset_import = model->n_opsets = kept;
}

static void note_bindings(struct amp_model *model, const struct amp_training_step *step)
{
    struct amp_metadata_entry *entries =
        amp_arena_array(model->arena, step->n_variables, sizeof *entries);
    size_t count = 0;
    for (size_t i = 0; i < step->n_variables; i++) {
        const struct amp_training_variable *variable = &step->variables[i];
        if (variable->output == SIZE_MAX)
            continue;
        entries[count].key = amp_arena_printf(model->arena, "%s%s", prefix, variable->name);
        entries[count++].value =
            amp_value_at(model, model->graphs[0].outputs.items[variable->output])->name;
    }
    amp_metadata_replace(model, prefix, entries, count);
}

void amp_training_expanded_finish(struct amp_model *model, const struct amp_training_step *step)
{
    Onnx__ModelProto *proto = amp_arena_memdup(model->arena, model->origin, sizeof *proto);
    const struct amp_graph *graph = &model->graphs[0];
    Onnx__GraphProto *graph_proto =
        amp_arena_memdup(model->arena, graph->origin, sizeof *graph_proto);
    int ir_version = amp_schema_ir_version((int)amp_model_opset(model, ""));
    graph_proto->input = create_infos(model, &graph->inputs);
    graph_proto->n_input = graph->inputs.count;
    graph_proto->output = create_infos(model, &graph->outputs);
    graph_proto->n_output = graph->outputs.count;
    proto->graph = model->graphs[0].origin = graph_proto;
    model->origin = proto;
    if (model->ir_version < ir_version)
        model->ir_version = ir_version;
    drop_imports(model, proto);
    note_bindings(model, step);
}
