/*
 * Sums up the time of runs by node and by primitive, with oneDNN's own words for what ran. It takes
 * the times from its callers, which measure.
 */
#include "ops/dnnl/profile.h"

#include "core/array.h"
#include "core/clock.h"
#include "ops/dnnl/describe.h"
#include "ops/flops.h"

#include <oneapi/dnnl/dnnl_debug.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct amp_profile {
    struct amp_profile_node *nodes; /* by id */
    size_t n_nodes;
    struct amp_profile_primitive *primitives;
    size_t n_primitives;
    double inner; /* seconds of the nodes that ended since the node at hand began */
};

struct amp_profile *amp_profile_create(void)
{
    return amp_xcalloc(1, sizeof(struct amp_profile));
}

void amp_profile_destroy(struct amp_profile *profile)
{
    if (profile == NULL)
        return;
    free(profile->nodes);
    free(profile->primitives);
    free(profile);
}

const struct amp_profile_node *amp_profile_nodes(const struct amp_profile *profile, size_t *count)
{
    *count = profile->n_nodes;
    return profile->nodes;
}

const struct amp_profile_primitive *amp_profile_primitives(const struct amp_profile *profile,
                                                           size_t *count)
{
    *count = profile->n_primitives;
    return profile->primitives;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct amp_profile_node *node_entry(struct amp_profile *profile, const struct amp_ctx *ctx)
{
    size_t id = (size_t)(ctx->node - ctx->model->nodes), count = ctx->model->n_nodes;
    if (id >= profile->n_nodes) {
        profile->nodes = amp_xrealloc(profile->nodes, count, sizeof *profile->nodes);
        memset(profile->nodes + profile->n_nodes, 0,
               (count - profile->n_nodes) * sizeof *profile->nodes);
        profile->n_nodes = count;
    }
    profile->nodes[id].node = ctx->node;
    return &profile->nodes[id];
}

static double size_of(const struct amp_tensor *tensor)
{
    bool is_there =
        tensor != NULL && !amp_tensor_is_list(tensor) && amp_shape_is_known(&tensor->shape);
    return is_there ? (double)amp_tensor_size(tensor) : 0;
}

static double bytes_of(const struct amp_ctx *ctx)
{
    double bytes = 0;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        bytes += size_of(ctx->in[i]);
    for (uint32_t i = 0; i < ctx->n_out; i++)
        bytes += size_of(ctx->out[i]);
    return bytes;
}

struct amp_profile_mark amp_profile_begin(struct amp_profile *profile)
{
    struct amp_profile_mark mark = {.start = 0};
    if (profile == NULL)
        return mark;
    mark.inner = profile->inner;
    profile->inner = 0;
    mark.start = amp_clock_seconds();
    return mark;
}

void amp_profile_end(struct amp_profile *profile, struct amp_profile_mark mark,
                     const struct amp_ctx *ctx, const char *way)
{
    if (profile == NULL)
        return;
    double seconds = amp_clock_seconds() - mark.start;
    struct amp_profile_node *entry = node_entry(profile, ctx);
    entry->calls++;
    snprintf(entry->way, sizeof entry->way, "%s", way);
    entry->seconds += seconds - profile->inner;
    entry->flops += amp_flops(ctx);
    entry->bytes += bytes_of(ctx);
    profile->inner = mark.inner + seconds;
}

void amp_profile_credit(struct amp_profile *profile, const struct amp_ctx *ctx, double seconds)
{
    node_entry(profile, ctx)->seconds += seconds;
    profile->inner += seconds;
}

/* ---- primitives ------------------------------------------------------------------------------ */

/* The entry of ID; a new one has no kind. What is gone can leave its address to another; hardly to
   one of the same node. */
static struct amp_profile_primitive *primitive_entry(struct amp_profile *profile,
                                                     const struct amp_ctx *ctx, const void *id)
{
    for (size_t i = 0; i < profile->n_primitives; i++)
        if (profile->primitives[i].id == id && profile->primitives[i].node == ctx->node)
            return &profile->primitives[i];
    profile->primitives =
        amp_xrealloc(profile->primitives, profile->n_primitives + 1, sizeof *profile->primitives);
    struct amp_profile_primitive *entry = &profile->primitives[profile->n_primitives++];
    *entry = (struct amp_profile_primitive){.node = ctx->node, .id = id};
    return entry;
}

static void set_implementation(struct amp_profile_primitive *entry, const char *name)
{
    snprintf(entry->implementation, sizeof entry->implementation, "%s", name);
}

static void count_call(struct amp_profile_primitive *entry, double seconds)
{
    entry->calls++;
    entry->seconds += seconds;
}

void amp_profile_note(struct amp_profile *profile, const struct amp_ctx *ctx,
                      const struct dnnl_primitive_desc *pd, const char *implementation,
                      double seconds)
{
    if (profile == NULL)
        return;
    struct amp_profile_primitive *entry = primitive_entry(profile, ctx, pd);
    if (entry->kind == NULL) {
        entry->kind = amp_describe_kind(pd);
        set_implementation(entry, amp_describe_implementation(pd));
        amp_describe_layouts(pd, entry->layouts, sizeof entry->layouts);
    }
    if (implementation != NULL)
        set_implementation(entry, implementation);
    count_call(entry, seconds);
}

void amp_profile_note_reorder(struct amp_profile *profile, const struct amp_ctx *ctx,
                              const struct amp_profile_reorder *reorder, double seconds)
{
    if (profile == NULL)
        return;
    struct amp_profile_primitive *entry = primitive_entry(profile, ctx, reorder->id);
    if (entry->kind == NULL) {
        entry->kind = dnnl_prim_kind2str(dnnl_reorder);
        set_implementation(entry, "strided copy");
        amp_describe_copy(reorder->from, reorder->to, entry->layouts, sizeof entry->layouts);
    }
    count_call(entry, seconds);
}
