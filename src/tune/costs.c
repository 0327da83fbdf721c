/*
 * What the nodes of a model cost in float32 and in a lower dtype: takes a model and its conversion,
 * gives figures per node and per value. Where they come from - runs that are timed, a table, what
 * nodes move - the other files of costs know; this one chooses, and makes figures of them that a
 * search can build on.
 */
#include "tune/costs.h"

#include "core/cpu.h"
#include "tune/cost_profile.h"
#include "tune/cost_table.h"
#include "tune/cost_work.h"

#include <string.h>

/* In nodes, a cast: so little that it only decides between choices of as many nodes. */
static const double cast_in_nodes = 1e-3;

/* Of a value's cast between float32 and a lower dtype, read and written. */
enum { CAST_BYTES = 4 + 2 };

/* What is found, and for what. */
struct finder {
    const struct amp_costs_request *request;
    struct amp_costs *costs;
    struct amp_cost_work work;
    struct amp_error *err;
};

/* ---- bytes and nodes ------------------------------------------------------------------------- */

static void count_nodes(const struct finder *finder)
{
    const struct amp_model *model = finder->request->reference;
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    finder->costs->origin = "counted";
    for (size_t i = 0; i < nodes->count; i++)
        finder->costs->wide[nodes->items[i]] = 1;
    for (size_t v = 0; v < model->n_values; v++) {
        const struct amp_value *value = &model->values[v];
        bool can_be_cast = amp_dtype_is_autocast(value->dtype) && value->constant == NULL;
        finder->costs->casts[v] = can_be_cast ? cast_in_nodes : 0;
    }
}

/* Sets what casts cost at RATE bytes per unit of cost. */
static void set_casts(const struct finder *finder, double rate)
{
    for (size_t v = 0; v < finder->costs->n_values; v++)
        finder->costs->casts[v] = finder->work.elements[v] * CAST_BYTES / rate;
}

static void count_bytes(const struct finder *finder)
{
    struct amp_costs *costs = finder->costs;
    costs->origin = "bytes moved";
    for (size_t id = 0; id < costs->n_nodes; id++) {
        costs->wide[id] = finder->work.wide[id].bytes;
        costs->low[id] = finder->work.low[id].bytes;
    }
    set_casts(finder, 1);
}

/* ---- seconds --------------------------------------------------------------------------------- */

/* Sets the times of node ID to those measured, as far as they can be told apart. */
static void set_times(const struct finder *finder, uint32_t id, struct amp_node_time wide,
                      struct amp_node_time low)
{
    amp_node_time_settle(&wide, &low, finder->work.wide[id].bytes - finder->work.low[id].bytes);
    finder->costs->wide[id] = wide.seconds;
    finder->costs->low[id] = low.seconds;
}

static enum amp_status measure(const struct finder *finder)
{
    struct amp_costs *costs = finder->costs;
    const struct amp_ids *nodes = &finder->request->reference->graphs[0].nodes;
    struct amp_cost_profile profile = {.wide = NULL};
    AMP_TRY(amp_cost_profile_measure(finder->request, costs->arena, &profile, finder->err));
    for (size_t i = 0; i < nodes->count; i++) {
        uint32_t id = nodes->items[i];
        set_times(finder, id, profile.wide[id], profile.low[id]);
    }
    set_casts(finder, profile.cast_rate > 0 ? profile.cast_rate : amp_cost_table_shipped().casts);
    costs->origin = amp_arena_printf(costs->arena, "measured here in %zu runs", profile.n_runs);
    return AMP_OK;
}

/* ---- seconds by a table ---------------------------------------------------------------------- */

/* The seconds of node ID by the rates of TABLE, when it does WORK. */
static struct amp_node_time rate(const struct finder *finder, const struct amp_cost_table *table,
                                 uint32_t id, const struct amp_node_work *work)
{
    const struct amp_node *node = amp_node_at(finder->request->reference, id);
    const struct amp_cost_query query = {.domain = node->domain,
                                         .op = node->op_type,
                                         .dtype = work->is_low ? finder->request->dtype : AMP_FLOAT,
                                         .flops = work->flops,
                                         .bytes = work->bytes};
    double seconds = work->bytes > 0 ? amp_cost_table_seconds(table, &query) : 0;
    return (struct amp_node_time){.seconds = seconds};
}

/* The id of what TABLE's entry NAME is about in IDS; AMP_MODEL: there is no such NOUN. */
static enum amp_status find_entry(const struct finder *finder, const struct amp_strmap *ids,
                                  const char *name, const char *noun, uint32_t *id)
{
    if (amp_strmap_get(ids, name, id))
        return AMP_OK;
    return amp_fail(finder->err, AMP_MODEL,
                    "%s: %ss.'%s': the model has no such value; accepted: %s",
                    finder->request->path, noun, name,
                    strcmp(noun, "node") == 0 ? "the first output of a node of its main graph"
                                              : "a value of its main graph");
}

/* The name under which tables have NODE; NULL: it gives nothing. */
static const char *name_of(const struct amp_model *model, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            return amp_value_at(model, node->outputs[i])->name;
    return NULL;
}

static enum amp_status take_nodes(const struct finder *finder, const struct amp_cost_table *table)
{
    const struct amp_model *model = finder->request->reference;
    struct amp_strmap ids = {.count = 0};
    for (size_t i = 0; i < model->graphs[0].nodes.count; i++) {
        uint32_t id = model->graphs[0].nodes.items[i];
        const char *name = name_of(model, amp_node_at(model, id));
        if (name != NULL)
            amp_strmap_put(&ids, finder->costs->arena, name, id);
    }
    for (size_t i = 0; i < table->n_nodes; i++) {
        uint32_t id;
        AMP_TRY(find_entry(finder, &ids, table->nodes[i].name, "node", &id));
        finder->costs->wide[id] = table->nodes[i].wide;
        finder->costs->low[id] = table->nodes[i].low;
    }
    return AMP_OK;
}

static enum amp_status take_values(const struct finder *finder, const struct amp_cost_table *table)
{
    const struct amp_model *model = finder->request->reference;
    struct amp_strmap ids = {.count = 0};
    for (uint32_t v = 0; v < model->n_values; v++)
        if (amp_value_at(model, v)->graph == 0)
            amp_strmap_put(&ids, finder->costs->arena, amp_value_at(model, v)->name, v);
    for (size_t i = 0; i < table->n_values; i++) {
        uint32_t id;
        AMP_TRY(find_entry(finder, &ids, table->values[i].name, "value", &id));
        finder->costs->casts[id] = table->values[i].seconds;
    }
    return AMP_OK;
}

static enum amp_status look_up(const struct finder *finder, const struct amp_cost_table *table)
{
    const struct amp_ids *nodes = &finder->request->reference->graphs[0].nodes;
    for (size_t i = 0; i < nodes->count; i++) {
        uint32_t id = nodes->items[i];
        set_times(finder, id, rate(finder, table, id, &finder->work.wide[id]),
                  rate(finder, table, id, &finder->work.low[id]));
    }
    set_casts(finder, table->casts);
    AMP_TRY(take_nodes(finder, table));
    return take_values(finder, table);
}

static enum amp_status look_up_file(const struct finder *finder)
{
    const struct amp_costs_request *request = finder->request;
    struct amp_cost_table table;
    AMP_TRY(amp_cost_table_read(request->path, finder->costs->arena, &table, finder->err));
    bool has_dtype = table.dtype != AMP_UNDEFINED;
    if (has_dtype && (request->dtypes & AMP_DTYPE_BIT(table.dtype)) == 0)
        return amp_fail(finder->err, AMP_MODEL, "%s: dtype: %s; accepted: %s", request->path,
                        amp_dtype_name(table.dtype), amp_dtype_name(request->dtype));
    finder->costs->origin =
        amp_arena_printf(finder->costs->arena, "%s, %s", request->path, table.machine);
    struct amp_costs_request asked = *request;
    struct finder asking = *finder;
    asked.dtype = has_dtype ? table.dtype : request->dtype;
    asking.request = &asked;
    return look_up(&asking, &table);
}

/* The first of the dtypes that this machine has no kernels for but must have; AMP_UNDEFINED: none.
 */
static enum amp_dtype missing_dtype(const struct amp_costs_request *request)
{
    for (enum amp_dtype dtype = AMP_UNDEFINED; dtype < AMP_DTYPE_COUNT; dtype++)
        if ((request->dtypes & AMP_DTYPE_BIT(dtype)) != 0 && !amp_cpu_is_native(dtype))
            return dtype;
    return AMP_UNDEFINED;
}

static enum amp_status look_up_shipped(const struct finder *finder)
{
    const struct amp_cost_table table = amp_cost_table_shipped();
    finder->costs->origin =
        amp_arena_printf(finder->costs->arena, "table of %s, as this CPU has no kernels for %s",
                         table.machine, amp_dtype_name(missing_dtype(finder->request)));
    return look_up(finder, &table);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum amp_status find(struct finder *finder)
{
    const struct amp_costs_request *request = finder->request;
    if (request->path != NULL && request->unit != AMP_COSTS_TIME)
        return amp_fail(finder->err, AMP_USAGE,
                        "%s: a table of costs is about time, and %s are counted", request->path,
                        amp_costs_unit_name(request->unit));
    if (request->unit == AMP_COSTS_NODES) {
        count_nodes(finder);
        return AMP_OK;
    }
    AMP_TRY(amp_cost_work_find(request, finder->costs->arena, &finder->work, finder->err));
    if (request->unit == AMP_COSTS_BYTES) {
        count_bytes(finder);
        return AMP_OK;
    }
    if (request->path != NULL)
        return look_up_file(finder);
    return missing_dtype(request) == AMP_UNDEFINED ? measure(finder) : look_up_shipped(finder);
}

enum amp_status amp_costs_find(const struct amp_costs_request *request, struct amp_costs *costs,
                               struct amp_error *err)
{
    struct finder finder = {.request = request, .costs = costs, .err = err};
    const struct amp_model *reference = request->reference;
    *costs = (struct amp_costs){.unit = request->unit,
                                .n_nodes = reference->n_nodes,
                                .n_values = reference->n_values,
                                .arena = amp_arena_create()};
    costs->low = amp_arena_array(costs->arena, costs->n_nodes, sizeof *costs->low);
    costs->wide = amp_arena_array(costs->arena, costs->n_nodes, sizeof *costs->wide);
    costs->casts = amp_arena_array(costs->arena, costs->n_values, sizeof *costs->casts);
    enum amp_status status = find(&finder);
    for (size_t id = 0; id < costs->n_nodes; id++)
        costs->total_low += costs->low[id];
    if (status != AMP_OK)
        amp_costs_free(costs);
    return status;
}

void amp_costs_free(struct amp_costs *costs)
{
    if (costs->arena != NULL)
        amp_arena_destroy(costs->arena);
    *costs = (struct amp_costs){.arena = NULL};
}

/* ---- writing --------------------------------------------------------------------------------- */

enum amp_status amp_costs_write(const struct amp_costs *costs,
                                const struct amp_costs_request *request, const char *path,
                                struct amp_error *err)
{
    const struct amp_model *model = request->reference;
    const struct amp_ids *nodes = &model->graphs[0].nodes;
    struct amp_cost_table table = amp_cost_table_shipped();
    table.machine = costs->origin;
    table.dtype = request->dtype;
    table.nodes = amp_arena_array(costs->arena, nodes->count, sizeof *table.nodes);
    table.values = amp_arena_array(costs->arena, costs->n_values, sizeof *table.values);
    for (size_t i = 0; i < nodes->count; i++) {
        uint32_t id = nodes->items[i];
        const char *name = name_of(model, amp_node_at(model, id));
        if (name != NULL)
            table.nodes[table.n_nodes++] =
                (struct amp_cost_entry){name, costs->low[id], costs->wide[id]};
    }
    for (size_t v = 0; v < costs->n_values; v++)
        if (model->values[v].graph == 0 && costs->casts[v] > 0)
            table.values[table.n_values++] =
                (struct amp_cost_cast){model->values[v].name, costs->casts[v]};
    return amp_cost_table_write(&table, path, err);
}

const char *amp_costs_unit_name(enum amp_costs_unit unit)
{
    static const char *const names[] = {"s", "bytes", "nodes"};
    return names[unit];
}
