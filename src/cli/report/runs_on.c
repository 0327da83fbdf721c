/*
 * Where a converted model can run. Takes the model, looks its nodes of 16 bits up in the runtimes'
 * tables, and says which runtimes have them all and what the others lack.
 */
#include "cli/report/runs_on.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/array.h"
#include "core/print.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 3 }; /* operators that a line names */

void amp_lacked_ops_add(struct amp_lacked_ops *ops, const char *op, enum amp_dtype dtype)
{
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].dtype == dtype && strcmp(ops->items[i].op, op) == 0)
            return;
    if (ops->count < AMP_COUNT(ops->items))
        ops->items[ops->count++] = (struct amp_lacked_op){op, dtype};
}

void amp_lacked_ops_print(FILE *file, const struct amp_lacked_ops *ops)
{
    enum amp_dtype said = AMP_UNDEFINED;
    for (size_t i = 0; i < ops->count && i < NAMED_MAX; i++) {
        const struct amp_lacked_op *item = &ops->items[i];
        amp_print(file, "%s%s%s%s", i > 0 ? ", " : "",
                  item->dtype != said ? amp_dtype_name(item->dtype) : "",
                  item->dtype != said ? " " : "", item->op);
        said = item->dtype;
    }
    if (ops->count > NAMED_MAX)
        amp_print(file, ", %zu more", ops->count - NAMED_MAX);
}

/* ---- finding --------------------------------------------------------------------------------- */

static void find_gap(struct amp_runtime_gap *gap, const struct amp_runtime *runtime,
                     const struct amp_model *model, int64_t opset_before)
{
    int64_t opset = amp_model_opset(model, "");
    if (opset > amp_runtime_opset(runtime)) {
        gap->opset = (int)opset;
        gap->is_too_new = opset_before > amp_runtime_opset(runtime);
        return;
    }
    for (size_t n = 0; n < model->n_nodes; n++) {
        const struct amp_node *node = &model->nodes[n];
        enum amp_dtype dtype =
            node->is_removed ? AMP_UNDEFINED : amp_runtime_lacks(runtime, model, node);
        if (dtype != AMP_UNDEFINED)
            amp_lacked_ops_add(&gap->ops, node->op_type, dtype);
    }
}

void amp_runs_on_find(struct amp_runs_on *runs_on, const struct amp_model *model,
                      int64_t opset_before)
{
    memset(runs_on, 0, sizeof *runs_on);
    runs_on->is_known = true;
    for (size_t i = 0; i < AMP_RUNTIME_COUNT; i++)
        find_gap(&runs_on->gaps[i], amp_runtime_at(i), model, opset_before);
}

static bool runs(const struct amp_runtime_gap *gap)
{
    return gap->ops.count == 0 && gap->opset == 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* " (opset 22: it reads 20)", " (no bfloat16 Conv)" */
static void print_gap(FILE *file, const struct amp_runtime_gap *gap,
                      const struct amp_runtime *runtime)
{
    if (gap->opset > 0) {
        amp_print(file, " (opset %d: it reads %d)", gap->opset, amp_runtime_opset(runtime));
        return;
    }
    fputs(" (no ", file);
    amp_lacked_ops_print(file, &gap->ops);
    fputc(')', file);
}

/* The runtimes that run it, or those that do not with what they lack. */
static size_t print_runtimes(FILE *file, const struct amp_runs_on *runs_on, bool run)
{
    size_t count = 0;
    for (size_t i = 0; i < AMP_RUNTIME_COUNT; i++) {
        const struct amp_runtime_gap *gap = &runs_on->gaps[i];
        if (runs(gap) != run || gap->is_too_new)
            continue;
        amp_print(file, "%s%s", count++ > 0 ? ", " : "", amp_runtime_title(amp_runtime_at(i)));
        if (!run)
            print_gap(file, gap, amp_runtime_at(i));
    }
    return count;
}

static bool has_gap(const struct amp_runs_on *runs_on)
{
    for (size_t i = 0; i < AMP_RUNTIME_COUNT && runs_on->is_known; i++)
        if (!runs(&runs_on->gaps[i]) && !runs_on->gaps[i].is_too_new)
            return true;
    return false;
}

char *amp_runs_on_text(const struct amp_runs_on *runs_on)
{
    char *text = NULL;
    size_t size;
    FILE *file = has_gap(runs_on) ? open_memstream(&text, &size) : NULL;
    if (file == NULL)
        return NULL;
    size_t count = print_runtimes(file, runs_on, true);
    fputs(count > 0 ? "; not " : "none of ", file);
    print_runtimes(file, runs_on, false);
    fclose(file);
    return text;
}

void amp_report_runs_on(FILE *file, const struct amp_runs_on *runs_on)
{
    char *text = amp_runs_on_text(runs_on);
    if (text != NULL)
        amp_print(file, AMP_REPORT_LABEL "%s\n", "runs on", text);
    free(text);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_gap(const struct amp_runtime_gap *gap)
{
    json_t *object = json_object(), *ops = json_array();
    for (size_t i = 0; i < gap->ops.count; i++) {
        json_t *op = json_object();
        amp_json_set(op, "op", amp_json_text(gap->ops.items[i].op));
        amp_json_set(op, "dtype", amp_json_dtype(gap->ops.items[i].dtype));
        json_array_append_new(ops, op);
    }
    amp_json_set(object, "runs", json_boolean(runs(gap)));
    amp_json_set(object, "lacks", ops);
    amp_json_set(object, "opset", gap->opset > 0 ? json_integer(gap->opset) : json_null());
    return object;
}

json_t *amp_json_runs_on(const struct amp_runs_on *runs_on)
{
    if (!runs_on->is_known)
        return json_null();
    json_t *object = json_object();
    for (size_t i = 0; i < AMP_RUNTIME_COUNT; i++)
        amp_json_set(object, amp_runtime_name_at(i), json_gap(&runs_on->gaps[i]));
    return object;
}
