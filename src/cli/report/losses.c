/*
 * What converted constants lost: values that saturated, went to zero or became subnormal. Takes a
 * model whose constants have been converted and gathers the counts that the conversion left at
 * each; gives lines and JSON. Converts nothing.
 */
#include "cli/report/losses.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/array.h"
#include "core/convert.h"
#include "core/print.h"

/* Visits a converted constant that lost something. */
typedef void visit_fn(void *context, const char *name, const struct amp_tensor *tensor);

static void visit(visit_fn *fn, void *context, const char *name, const struct amp_tensor *tensor)
{
    const struct amp_losses *losses = tensor == NULL ? NULL : tensor->losses;
    if (losses != NULL && losses->saturated + losses->zeroed + losses->subnormal > 0)
        fn(context, name, tensor);
}

/* Visits the tensors in attributes of NODE, such as the value that a ConstantOfShape fills its
   output with. */
static void visit_attributes(visit_fn *fn, void *context, const struct amp_model *model,
                             const struct amp_node *node)
{
    for (uint32_t a = 0; a < node->n_attrs; a++)
        for (size_t i = 0; node->attrs[a].type == AMP_ATTR_TENSOR && i < node->attrs[a].count; i++)
            visit(fn, context, amp_value_at(model, node->outputs[0])->name,
                  node->attrs[a].tensors[i]);
}

static void visit_all(visit_fn *fn, void *context, const struct amp_model *model)
{
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_graph *graph = &model->graphs[g];
        for (size_t i = 0; i < graph->initializers.count; i++) {
            const struct amp_value *value = amp_value_at(model, graph->initializers.items[i]);
            visit(fn, context, value->name, value->initial);
        }
        for (size_t i = 0; i < graph->nodes.count; i++)
            visit_attributes(fn, context, model, amp_node_at(model, graph->nodes.items[i]));
    }
}

struct total {
    struct amp_losses losses;
    size_t n_tensors;
};

static void add(void *context, const char *name, const struct amp_tensor *tensor)
{
    struct total *total = context;
    (void)name;
    total->losses.saturated += tensor->losses->saturated;
    total->losses.zeroed += tensor->losses->zeroed;
    total->losses.subnormal += tensor->losses->subnormal;
    total->n_tensors++;
}

/* "2 saturated, 1 subnormal": what there is. */
static void print_losses(FILE *file, const struct amp_losses *losses)
{
    const struct {
        size_t count;
        const char *what;
    } kinds[] = {{losses->saturated, "saturated"},
                 {losses->zeroed, "rounded to zero"},
                 {losses->subnormal, "subnormal now"}};
    const char *comma = "";
    for (size_t i = 0; i < AMP_COUNT(kinds); i++) {
        if (kinds[i].count == 0)
            continue;
        amp_print(file, "%s%zu %s", comma, kinds[i].count, kinds[i].what);
        comma = ", ";
    }
}

static void print_tensor(void *context, const char *name, const struct amp_tensor *tensor)
{
    FILE *file = context;
    amp_print(file, "    '%s' %s, of %zu: ", name, amp_dtype_name(tensor->dtype),
              amp_tensor_count(tensor));
    print_losses(file, tensor->losses);
    fputc('\n', file);
}

void amp_report_losses(FILE *file, const struct amp_model *model, int verbosity)
{
    struct total total = {.n_tensors = 0};
    visit_all(add, &total, model);
    if (total.n_tensors == 0)
        return;
    amp_print(file, AMP_REPORT_LABEL, "weights");
    print_losses(file, &total.losses);
    amp_print(file, "; in %zu tensor%s%s\n", total.n_tensors, total.n_tensors == 1 ? "" : "s",
              verbosity > 0 ? "" : " (-v names them)");
    if (verbosity > 0)
        visit_all(print_tensor, file, model);
}

static void set_losses(json_t *object, const struct amp_losses *losses)
{
    amp_json_set(object, "saturated", amp_json_count(losses->saturated));
    amp_json_set(object, "zeroed", amp_json_count(losses->zeroed));
    amp_json_set(object, "subnormal", amp_json_count(losses->subnormal));
}

static void append_tensor(void *context, const char *name, const struct amp_tensor *tensor)
{
    json_t *object = json_object();
    amp_json_set(object, "name", amp_json_text(name));
    amp_json_set(object, "dtype", json_string(amp_dtype_name(tensor->dtype)));
    amp_json_set(object, "elements", amp_json_count(amp_tensor_count(tensor)));
    set_losses(object, tensor->losses);
    json_array_append_new(context, object);
}

json_t *amp_json_losses(const struct amp_model *model)
{
    struct total total = {.n_tensors = 0};
    json_t *object = json_object(), *tensors = json_array();
    visit_all(add, &total, model);
    set_losses(object, &total.losses);
    visit_all(append_tensor, tensors, model);
    amp_json_set(object, "tensors", tensors);
    return object;
}
