/*
 * The operator registry, expanded from op_list.h, and what shape functions and kernels of many
 * families share.
 */
#include "ops/op.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define AMP_OP(descriptor) extern const struct amp_op descriptor;
#include "core/hash.h"
#include "ops/op_list.h"
#undef AMP_OP

static const struct amp_op *const list[] = {
#define AMP_OP(descriptor) &descriptor,
#include "ops/op_list.h"
#undef AMP_OP
    NULL};

enum { TABLE_SIZE = 2048 }; /* a power of two, over twice the number of operators */

static const struct amp_op *table[TABLE_SIZE];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static uint32_t hash_name(const char *domain, const char *op_type)
{
    return amp_hash_fnv(op_type, strlen(op_type), amp_hash_fnv(domain, strlen(domain), 0)) %
           TABLE_SIZE;
}

static const char *domain_of(const struct amp_op *op)
{
    return op->domain ? op->domain : "";
}

static void fill_table(void)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        uint32_t slot = hash_name(domain_of(list[i]), list[i]->name);
        while (table[slot] != NULL)
            slot = (slot + 1) % TABLE_SIZE;
        table[slot] = list[i];
    }
}

const struct amp_op *amp_op_find(const char *domain, const char *op_type)
{
    pthread_once(&table_once, fill_table);
    for (uint32_t slot = hash_name(domain, op_type); table[slot] != NULL;
         slot = (slot + 1) % TABLE_SIZE)
        if (strcmp(table[slot]->name, op_type) == 0 && strcmp(domain_of(table[slot]), domain) == 0)
            return table[slot];
    return NULL;
}

const struct amp_op *amp_op_of(const struct amp_node *node)
{
    return amp_op_find(node->domain, node->op_type);
}

bool amp_node_has_role(const struct amp_node *node, enum amp_role role)
{
    const struct amp_op *op = amp_op_of(node);
    return op != NULL && op->role == role;
}

bool amp_op_name_has_role(const char *op_type, enum amp_role role)
{
    const struct amp_op *op = amp_op_find("", op_type);
    return op != NULL && op->role == role;
}

bool amp_broadcasts_by_attributes(const struct amp_node *node)
{
    return node->domain[0] == '\0' && node->since_version < 7;
}

bool amp_broadcasts_from_axis(const struct amp_node *node)
{
    return amp_broadcasts_by_attributes(node) && amp_node_attr(node, "axis") != NULL;
}

enum amp_status amp_call_run(const struct amp_ctx *ctx, const struct amp_call *call)
{
    static const bool is_constant[4] = {false};
    struct amp_node node = *ctx->node;
    struct amp_ctx inner = *ctx;
    node.op_type = call->op->name;
    node.domain = domain_of(call->op);
    node.since_version = call->version;
    node.attrs = call->attrs;
    node.n_attrs = call->n_attrs;
    inner.node = &node;
    inner.in = call->in;
    inner.n_in = call->n_in;
    inner.out = call->out;
    inner.n_out = call->n_out;
    inner.is_constant = is_constant;
    inner.state = call->state;
    return call->op->run(&inner);
}

enum amp_status amp_ctx_run_body(const struct amp_ctx *ctx, const struct amp_body_call *call)
{
    return ctx->host->run_body(ctx->host->session, call, ctx->err);
}

enum amp_status amp_ctx_alloc(struct amp_ctx *ctx, uint32_t i)
{
    return amp_tensor_alloc(ctx->out[i], ctx->err);
}

enum amp_status amp_ctx_ints(const struct amp_ctx *ctx, uint32_t i, int64_t *values, int max,
                             int *count)
{
    *count = 0;
    if (!amp_has_in(ctx, i))
        return AMP_OK;
    const struct amp_tensor *tensor = ctx->in[i];
    int64_t n = amp_shape_count(&tensor->shape);
    if (n == 0)
        return AMP_OK;
    *count = -1;
    if (tensor->data == NULL)
        return AMP_OK;
    if (n > max)
        return AMP_CTX_FAIL(ctx, "input %u has %lld values; at most %d are possible", i,
                            (long long)n, max);
    enum amp_dtype_class class = amp_dtype_class(tensor->dtype);
    if (class != AMP_CLASS_INT && class != AMP_CLASS_UINT)
        return AMP_CTX_FAIL(ctx, "input %u: dtype %s; an integer type is needed", i,
                            amp_dtype_name(tensor->dtype));
    for (int k = 0; k < n; k++)
        values[k] = amp_tensor_int(tensor, (size_t)k);
    *count = (int)n;
    return AMP_OK;
}

enum amp_status amp_ctx_ints_attr(const struct amp_ctx *ctx, struct amp_ints_place place,
                                  int64_t *values, int max, int *count)
{
    size_t n;
    const int64_t *ints = amp_node_ints(ctx->node, place.attr, &n);
    if (ints == NULL)
        return amp_ctx_ints(ctx, place.input, values, max, count);
    if (n > (size_t)max)
        return AMP_CTX_FAIL(ctx, "attribute '%s' has %zu values; at most %d are possible",
                            place.attr, n, max);
    memcpy(values, ints, n * sizeof *values);
    *count = (int)n;
    return AMP_OK;
}

enum amp_status amp_ctx_choice(const struct amp_ctx *ctx, const char *name,
                               const char *const *names, int *choice)
{
    const char *found = amp_node_string(ctx->node, name, NULL);
    char allowed[256] = "";
    size_t used = 0;
    if (found == NULL)
        return AMP_OK;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(found, names[i]) == 0) {
            *choice = i;
            return AMP_OK;
        }
        if (used < sizeof allowed)
            used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s", i ? ", " : "",
                                     names[i]);
    }
    return AMP_CTX_FAIL(ctx, "attribute '%s' is '%s'; allowed: %s", name, found, allowed);
}

enum amp_status amp_ctx_axis(const struct amp_ctx *ctx, int64_t axis, int rank, int *result)
{
    if (axis < -rank || axis >= rank)
        return AMP_CTX_FAIL(ctx, "axis %lld; rank %d allows %d to %d", (long long)axis, rank, -rank,
                            rank - 1);
    *result = (int)(axis < 0 ? axis + rank : axis);
    return AMP_OK;
}

bool amp_ctx_keeps_dims(const struct amp_ctx *ctx)
{
    return amp_node_int(ctx->node, "keepdims", 1) == 1;
}

enum amp_status amp_shape_same(struct amp_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->n_out && amp_has_in(ctx, 0); i++)
        ctx->out[i]->shape = ctx->in[0]->shape;
    return AMP_OK;
}

/* The dimension that A and B broadcast to; false when they do not fit. An unknown one with a known
   one above 1 must be that (or 1). */
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
    if (a == b || b == 1)
        *out = a;
    else if (a == 1)
        *out = b;
    else if (a < 0 && b < 0)
        *out = AMP_DIM_UNKNOWN;
    else if (a < 0 || b < 0)
        *out = a < 0 ? b : a;
    else
        return false;
    return true;
}

enum amp_status amp_broadcast(const struct amp_shape *a, const struct amp_shape *b,
                              struct amp_shape *out, struct amp_error *err)
{
    if (a->rank < 0 || b->rank < 0) {
        out->rank = -1;
        return AMP_OK;
    }
    struct amp_shape result = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 0; i < result.rank; i++) {
        int ia = i - (result.rank - a->rank), ib = i - (result.rank - b->rank);
        if (!broadcast_dim(ia < 0 ? 1 : a->dims[ia], ib < 0 ? 1 : b->dims[ib], &result.dims[i])) {
            char text_a[200], text_b[200];
            return amp_fail(err, AMP_MODEL, "shapes %s and %s do not broadcast",
                            amp_shape_text(a, text_a, sizeof text_a),
                            amp_shape_text(b, text_b, sizeof text_b));
        }
    }
    *out = result;
    return AMP_OK;
}

enum amp_status amp_shape_broadcast(struct amp_ctx *ctx)
{
    struct amp_shape shape = {.rank = 0};
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (amp_has_in(ctx, i))
            AMP_TRY(amp_broadcast(&shape, &ctx->in[i]->shape, &shape, ctx->err));
    ctx->out[0]->shape = shape;
    return AMP_OK;
}
