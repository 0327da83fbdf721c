/*
 * What a converted model says of its conversion. Takes the model before and after, finds out
 * whether any of it was converted, and writes that and by what rules into its metadata. It says
 * nothing of the machine, the day or the paths of files: the same conversion gives the same bytes.
 */
#include "autocast/provenance.h"

#include "autocast/cast_fold.h"
#include "onnx/file/metadata.h"

#include <string.h>

static const char prefix[] = "ampconv.";

struct amp_provenance amp_provenance_begin(const struct amp_model *model)
{
    struct amp_provenance before = {.n_values = (uint32_t)model->n_values,
                                    .n_casts = amp_cast_count(model)};
    before.dtypes = amp_arena_array(model->arena, model->n_values, sizeof *before.dtypes);
    for (uint32_t v = 0; v < before.n_values; v++)
        before.dtypes[v] = model->values[v].dtype;
    return before;
}

static bool has_new(const struct amp_model *model, const struct amp_provenance *before,
                    const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] != AMP_NONE && (values[i] >= before->n_values ||
                                      model->values[values[i]].dtype != before->dtypes[values[i]]))
            return true;
    return false;
}

static bool is_changed(const struct amp_model *model, const struct amp_provenance *before)
{
    for (uint32_t id = 0; id < model->n_nodes; id++) {
        const struct amp_node *node = amp_node_at(model, id);
        if (!node->is_removed && (has_new(model, before, node->inputs, node->n_inputs) ||
                                  has_new(model, before, node->outputs, node->n_outputs)))
            return true;
    }
    return amp_cast_count(model) != before->n_casts;
}

/* "torch-cpu, mine": each name once. */
static const char *names_of(const struct amp_rules *rules, struct amp_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < rules->n_sets; i++) {
        bool is_known = false;
        for (size_t k = 0; k < i; k++)
            is_known |= strcmp(rules->sets[k].name, rules->sets[i].name) == 0;
        if (!is_known)
            text = amp_arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "", rules->sets[i].name);
    }
    return text;
}

/* The names of the dtypes of the mask LOWERS, commas between. */
static const char *dtypes_of(uint32_t lowers, struct amp_arena *arena)
{
    const char *text = "";
    for (enum amp_dtype dtype = AMP_UNDEFINED; dtype < AMP_DTYPE_COUNT; dtype++)
        if ((lowers & AMP_DTYPE_BIT(dtype)) != 0)
            text = amp_arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? ", " : "",
                                    amp_dtype_name(dtype));
    return text;
}

void amp_provenance_end(struct amp_model *model, const struct amp_provenance *before,
                        const struct amp_rules *rules, uint32_t lowers, bool is_silent)
{
    const struct amp_metadata_entry entries[] = {{"ampconv.version", AMP_VERSION},
                                                 {"ampconv.dtype", dtypes_of(lowers, model->arena)},
                                                 {"ampconv.rules", names_of(rules, model->arena)}};
    size_t count = rules->n_sets > 0 ? 3 : 2;
    if (is_changed(model, before))
        amp_metadata_replace(model, prefix, entries, is_silent ? 0 : count);
}
