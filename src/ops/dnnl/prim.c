/*
 * Primitives of oneDNN, made once for a node and its shapes, with the reorders between the layouts
 * of the node's tensors and those that oneDNN prefers.
 */
#include "ops/dnnl/prim.h"

#include "core/clock.h"
#include "core/memory.h"
#include "ops/kernel/kernel.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/profile.h"

#include <stdlib.h>
#include <string.h>

/* About what a primitive takes, with its descriptors, beside its buffers: oneDNN does not tell, and
   where nodes are many and small it is most of what they take. */
enum { PRIM_SIZE = 24 << 10 };

void amp_binding_destroy(struct binding *binding)
{
    if (binding->own != binding->user)
        dnnl_memory_destroy(binding->own);
    dnnl_memory_destroy(binding->user);
    dnnl_primitive_destroy(binding->reorder);
    amp_buffer_unref(binding->buffer);
}

void amp_prim_destroy(void *state)
{
    struct amp_prim *prim = state;
    if (prim == NULL)
        return;
    for (int i = 0; i < prim->n_bindings; i++)
        amp_binding_destroy(&prim->bindings[i]);
    amp_prim_drop_former(prim);
    for (int i = 0; i < prim->n_descs; i++)
        dnnl_memory_desc_destroy(prim->descs[i]);
    dnnl_memory_destroy(prim->scratchpad);
    amp_buffer_unref(prim->scratchpad_buffer);
    amp_tiles_destroy(prim->tiles);
    dnnl_primitive_destroy(prim->primitive);
    dnnl_primitive_desc_destroy(prim->pd);
    dnnl_primitive_attr_destroy(prim->attr);
    amp_memory_return(prim->claimed);
    free(prim);
}

static enum amp_status add_desc(struct amp_prim *prim, struct amp_error *err, enum amp_dtype dtype,
                                int rank, const int64_t *dims, dnnl_data_type_t *type)
{
    *type = amp_dnnl_dtype(dtype);
    if (*type == dnnl_data_type_undef)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN has no dtype %s", amp_dtype_name(dtype));
    if (rank < 1 || rank > DNNL_MAX_NDIMS || prim->n_descs == MAX_DESCS)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN has no tensors of rank %d", rank);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0)
            return amp_fail(err, AMP_MODEL, "negative dimension");
    return AMP_OK;
}

/* Row-major strides; an empty tensor gets those of a full one, which oneDNN checks. */
static void plain_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= dims[i] > 0 ? dims[i] : 1;
    }
}

enum amp_status amp_prim_desc(struct amp_prim *prim, struct amp_error *err, enum amp_dtype dtype,
                              int rank, const int64_t *dims, const int64_t *strides,
                              dnnl_memory_desc_t *desc)
{
    dnnl_data_type_t type;
    int64_t plain[DNNL_MAX_NDIMS];
    AMP_TRY(add_desc(prim, err, dtype, rank, dims, &type));
    if (strides == NULL) {
        plain_strides(rank, dims, plain);
        strides = plain;
    }
    AMP_TRY(amp_dnnl_check(
        err, dnnl_memory_desc_create_with_strides(desc, rank, dims, type, strides), "layout"));
    prim->descs[prim->n_descs++] = *desc;
    return AMP_OK;
}

enum amp_status amp_prim_desc_tag(struct amp_prim *prim, struct amp_error *err,
                                  enum amp_dtype dtype, int rank, const int64_t *dims,
                                  dnnl_format_tag_t tag, dnnl_memory_desc_t *desc)
{
    dnnl_data_type_t type;
    AMP_TRY(add_desc(prim, err, dtype, rank, dims, &type));
    AMP_TRY(amp_dnnl_check(err, dnnl_memory_desc_create_with_tag(desc, rank, dims, type, tag),
                           "layout"));
    prim->descs[prim->n_descs++] = *desc;
    return AMP_OK;
}

static enum amp_status clone_desc(struct amp_prim *prim, struct amp_error *err,
                                  const_dnnl_memory_desc_t from, dnnl_memory_desc_t *desc)
{
    if (prim->n_descs == MAX_DESCS)
        return amp_fail(err, AMP_UNSUPPORTED, "too many layouts for a oneDNN primitive");
    AMP_TRY(amp_dnnl_check(err, dnnl_memory_desc_clone(desc, from), "layout"));
    prim->descs[prim->n_descs++] = *desc;
    return AMP_OK;
}

enum amp_status amp_prim_desc_tensor(struct amp_prim *prim, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc)
{
    static const int64_t one[1] = {1};
    const struct amp_shape *shape = &tensor->shape;
    if (tensor->layout != NULL)
        return clone_desc(prim, err, amp_layout_desc(tensor->layout), desc);
    bool is_scalar = shape->rank == 0;
    return amp_prim_desc(prim, err, tensor->dtype, is_scalar ? 1 : shape->rank,
                         is_scalar ? one : shape->dims, NULL, desc);
}

enum amp_status amp_prim_attr(struct amp_prim *prim, struct amp_error *err,
                              dnnl_primitive_attr_t *attr)
{
    if (prim->attr == NULL) {
        AMP_TRY(amp_dnnl_check(err, dnnl_primitive_attr_create(&prim->attr), "attributes"));
        AMP_TRY(amp_dnnl_check(
            err, dnnl_primitive_attr_set_scratchpad_mode(prim->attr, dnnl_scratchpad_mode_user),
            "scratchpad mode"));
    }
    *attr = prim->attr;
    return AMP_OK;
}

/* Memory of layout DESC in a buffer of its own. */
static enum amp_status own_memory(struct amp_ctx *ctx, const_dnnl_memory_desc_t desc,
                                  dnnl_memory_t *memory, struct amp_buffer **buffer)
{
    size_t size = dnnl_memory_desc_get_size(desc);
    *buffer = amp_buffer_create(size);
    if (*buffer == NULL)
        return amp_memory_fail(ctx->err, "a layout of oneDNN", size);
    return amp_dnnl_check(
        ctx->err, dnnl_memory_create(memory, desc, ctx->host->dnnl->engine, (*buffer)->data),
        "memory");
}

enum amp_status amp_prim_create(struct amp_ctx *ctx, struct amp_prim *prim,
                                dnnl_primitive_desc_t pd)
{
    prim->pd = pd;
    if (amp_prim_divides_padding(ctx, pd))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "a division in a layout with padding");
    prim->tiles = amp_tiles_create(pd);
    if (prim->tiles != NULL)
        return AMP_OK;
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_primitive_create(&prim->primitive, pd), "primitive"));
    const_dnnl_memory_desc_t scratchpad =
        dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    if (scratchpad == NULL || dnnl_memory_desc_get_size(scratchpad) == 0)
        return AMP_OK;
    return own_memory(ctx, scratchpad, &prim->scratchpad, &prim->scratchpad_buffer);
}

/* Convolutions by matrix products compute post-ops with other than their own types one element at a
   time. */
static bool is_slow(const char *name, bool has_posts)
{
    return strstr(name, "ref:") != NULL || strncmp(name, "ref", 3) == 0 ||
           (has_posts && strstr(name, "gemm:") != NULL);
}

enum amp_status amp_prim_create_fast(struct amp_ctx *ctx, struct amp_prim *prim,
                                     dnnl_primitive_desc_t pd)
{
    const char *name = "";
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    if (!is_slow(name, ctx->n_posts > 0))
        return amp_prim_create(ctx, prim, pd);
    prim->pd = pd;
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has only %s", name);
}

static enum amp_status create_reorder(struct amp_ctx *ctx, struct binding *binding,
                                      const_dnnl_memory_desc_t from, const_dnnl_memory_desc_t to)
{
    dnnl_engine_t engine = ctx->host->dnnl->engine;
    dnnl_primitive_desc_t pd;
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL),
                           "reorder"));
    dnnl_status_t status = dnnl_primitive_create(&binding->reorder, pd);
    dnnl_primitive_desc_destroy(pd);
    return amp_dnnl_check(ctx->err, status, "reorder");
}

enum amp_status amp_prim_bind(struct amp_ctx *ctx, struct amp_prim *prim, struct binding binding,
                              const_dnnl_memory_desc_t user)
{
    if (prim->n_bindings == MAX_ARGS)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "too many arguments for a oneDNN primitive");
    struct binding *added = &prim->bindings[prim->n_bindings++];
    const_dnnl_memory_desc_t wanted =
        dnnl_primitive_desc_query_md(prim->pd, dnnl_query_exec_arg_md, binding.arg);
    *added = binding;
    if (amp_prim_take_former(prim, added, user, wanted))
        return AMP_OK;
    AMP_TRY(amp_dnnl_check(
        ctx->err, dnnl_memory_create(&added->user, user, ctx->host->dnnl->engine, DNNL_MEMORY_NONE),
        "memory"));
    added->own = added->user;
    if (wanted == NULL || dnnl_memory_desc_equal(wanted, user))
        return AMP_OK;
    AMP_TRY(binding.is_output ? create_reorder(ctx, added, wanted, user)
                              : create_reorder(ctx, added, user, wanted));
    dnnl_memory_t own = NULL;
    enum amp_status status = own_memory(ctx, wanted, &own, &added->buffer);
    if (status == AMP_OK)
        added->own = own;
    return status;
}

enum amp_status amp_prim_bind_in(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                 uint32_t index, const_dnnl_memory_desc_t user)
{
    struct binding binding = {.arg = arg, .index = index, .is_constant = ctx->is_constant[index]};
    return amp_prim_bind(ctx, prim, binding, user);
}

enum amp_status amp_prim_bind_out(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                  uint32_t index, const_dnnl_memory_desc_t user)
{
    if (index == 0)
        AMP_TRY(amp_prim_bind_posts(ctx, prim));
    return amp_prim_bind(ctx, prim, (struct binding){.arg = arg, .index = index, .is_output = true},
                         user);
}

enum amp_status amp_prim_bind_laid(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   uint32_t index, const_dnnl_memory_desc_t desc,
                                   const struct amp_layout *layout)
{
    struct binding binding = {.arg = arg,
                              .index = index,
                              .is_output = true,
                              .is_free = true,
                              .layout = layout,
                              .size = dnnl_memory_desc_get_size(desc)};
    AMP_TRY(amp_prim_bind_posts(ctx, prim));
    return amp_prim_bind(ctx, prim, binding, desc);
}

enum amp_status amp_prim_bind_free(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   uint32_t index)
{
    const_dnnl_memory_desc_t desc =
        dnnl_primitive_desc_query_md(prim->pd, dnnl_query_exec_arg_md, arg);
    return amp_prim_bind_laid(ctx, prim, arg, index, desc,
                              amp_layout_of(ctx->host->dnnl->layouts, desc));
}

enum amp_status amp_prim_bind_data(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   const_dnnl_memory_desc_t desc, void **data)
{
    if (prim->n_bindings == MAX_ARGS)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "too many arguments for a oneDNN primitive");
    struct binding *added = &prim->bindings[prim->n_bindings++];
    *added = (struct binding){.arg = arg, .is_data = true};
    AMP_TRY(own_memory(ctx, desc, &added->user, &added->buffer));
    added->own = added->user;
    *data = added->buffer->data;
    return AMP_OK;
}

static struct form form_of(const struct amp_tensor *tensor)
{
    if (tensor == NULL)
        return (struct form){.dtype = AMP_UNDEFINED, .shape.rank = -1};
    return (struct form){.dtype = tensor->dtype, .shape = tensor->shape, .layout = tensor->layout};
}

/* Input I or, behind those, the operand of a post-op. */
static const struct amp_tensor *argument(const struct amp_ctx *ctx, size_t i)
{
    return i < ctx->n_in ? ctx->in[i] : ctx->posts[i - ctx->n_in].operand;
}

static void sign(const struct amp_ctx *ctx, struct signature *signature)
{
    signature->n_in = ctx->n_in;
    signature->n_posts = ctx->n_posts;
    for (size_t i = 0; i < ctx->n_in + ctx->n_posts; i++)
        signature->in[i] = form_of(argument(ctx, i));
}

static bool has_signature(const struct amp_prim *prim, const struct amp_ctx *ctx)
{
    const struct signature *signature = &prim->signature;
    if (signature->n_in != ctx->n_in || signature->n_posts != ctx->n_posts)
        return false;
    for (size_t i = 0; i < ctx->n_in + ctx->n_posts; i++) {
        const struct amp_tensor *tensor = argument(ctx, i);
        const struct form *form = &signature->in[i];
        if (tensor == NULL ? form->dtype != AMP_UNDEFINED
                           : form->dtype != tensor->dtype || form->layout != tensor->layout ||
                                 !amp_shape_equal(&form->shape, &tensor->shape))
            return false;
    }
    return true;
}

/* An empty primitive, for the node's inputs, as the node's state. */
static struct amp_prim *new_prim(struct amp_ctx *ctx)
{
    struct amp_prim *prim = amp_xmalloc(1, sizeof *prim);
    memset(prim, 0, sizeof *prim);
    sign(ctx, &prim->signature);
    amp_prim_keep_former(*ctx->state, prim);
    amp_prim_destroy(*ctx->state);
    *ctx->state = prim;
    return prim;
}

static enum amp_status claim(struct amp_ctx *ctx, struct amp_prim *prim)
{
    if (!amp_memory_claim(PRIM_SIZE))
        return amp_memory_fail(ctx->err, "a primitive of oneDNN", PRIM_SIZE);
    prim->claimed = PRIM_SIZE;
    return AMP_OK;
}

/* Makes the primitive of the new state; keeps in mind that oneDNN has none. */
static enum amp_status fill_prim(struct amp_ctx *ctx, amp_prim_make *make)
{
    struct amp_prim *prim = new_prim(ctx);
    enum amp_status status = claim(ctx, prim);
    if (status == AMP_OK)
        status = make(ctx, prim);
    if (status == AMP_UNSUPPORTED) {
        new_prim(ctx)->is_refused = true;
    } else if (status != AMP_OK) {
        amp_prim_destroy(*ctx->state);
        *ctx->state = NULL;
        return status;
    }
    amp_prim_drop_former(*ctx->state);
    return status;
}

/* The primitive for the node's inputs; NULL with *STATUS when there is none. */
static struct amp_prim *prepare(struct amp_ctx *ctx, amp_prim_make *make, enum amp_status *status)
{
    struct amp_prim *prim = *ctx->state;
    *status = AMP_OK;
    if (prim != NULL && has_signature(prim, ctx)) {
        if (!prim->is_refused)
            return prim;
        *status = amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has no primitive");
    } else if (ctx->n_in + ctx->n_posts > MAX_INPUTS) {
        *status = amp_fail(ctx->err, AMP_UNSUPPORTED, "more than %d inputs for a oneDNN primitive",
                           MAX_INPUTS);
    } else {
        *status = fill_prim(ctx, make);
    }
    return *status == AMP_OK ? *ctx->state : NULL;
}

static enum amp_status reorder(struct amp_ctx *ctx, struct binding *binding)
{
    if (binding->reorder == NULL || binding->is_ready)
        return AMP_OK;
    binding->is_ready = binding->is_constant;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, binding->is_output ? binding->own : binding->user},
                              {DNNL_ARG_TO, binding->is_output ? binding->user : binding->own}};
    return amp_dnnl_execute(ctx, binding->reorder, 2, args);
}

/* Gives an output memory for the layout that it comes to have. */
static enum amp_status alloc_free(struct amp_ctx *ctx, const struct binding *binding)
{
    struct amp_tensor *out = ctx->out[binding->index];
    amp_tensor_release(out);
    out->buffer = amp_buffer_create(binding->size);
    if (out->buffer == NULL)
        return amp_memory_fail(ctx->err, "a layout of oneDNN", binding->size);
    out->data = out->buffer->data;
    out->layout = binding->layout;
    return AMP_OK;
}

static void *data_of(const struct amp_ctx *ctx, const struct binding *binding)
{
    if (binding->is_output)
        return ctx->out[binding->index]->data;
    return binding->is_operand ? ctx->posts[binding->index].operand->data
                               : ctx->in[binding->index]->data;
}

static enum amp_status attach(struct amp_ctx *ctx, struct binding *binding)
{
    if (binding->is_data || binding->is_ready)
        return AMP_OK;
    if (binding->is_constant && data_of(ctx, binding) == NULL)
        return AMP_AGAIN;
    if (binding->is_free)
        AMP_TRY(alloc_free(ctx, binding));
    else if (binding->is_output && ctx->out[binding->index]->data == NULL)
        AMP_TRY(amp_ctx_alloc(ctx, binding->index));
    AMP_TRY(amp_dnnl_check(
        ctx->err, dnnl_memory_set_data_handle(binding->user, data_of(ctx, binding)), "data"));
    return binding->is_output ? AMP_OK : reorder(ctx, binding);
}

/* Executes PRIM, or the tiles in its place, with N arguments. */
static enum amp_status execute(const struct amp_ctx *ctx, const struct amp_prim *prim, int n,
                               const dnnl_exec_arg_t *args)
{
    struct amp_profile *profile = ctx->host->profile;
    if (prim->tiles == NULL)
        return amp_dnnl_execute(ctx, prim->primitive, n, args);
    double start = profile != NULL ? amp_seconds() : 0;
    amp_tiles_run(prim->tiles, n, args);
    if (profile != NULL)
        amp_profile_note(profile, ctx, prim->pd, amp_tiles_name, amp_seconds() - start);
    return AMP_OK;
}

static enum amp_status run_prim(struct amp_ctx *ctx, amp_prim_make *make)
{
    enum amp_status status;
    struct amp_prim *prim = prepare(ctx, make, &status);
    if (prim == NULL)
        return status;
    dnnl_exec_arg_t args[MAX_ARGS + 1];
    int n = 0;
    for (int i = 0; i < prim->n_bindings; i++) {
        AMP_TRY(attach(ctx, &prim->bindings[i]));
        args[n++] = (dnnl_exec_arg_t){prim->bindings[i].arg, prim->bindings[i].own};
    }
    if (prim->scratchpad != NULL)
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, prim->scratchpad};
    AMP_TRY(execute(ctx, prim, n, args));
    for (int i = 0; i < prim->n_bindings; i++)
        if (prim->bindings[i].is_output)
            AMP_TRY(reorder(ctx, &prim->bindings[i]));
    return amp_dnnl_check(ctx->err, dnnl_stream_wait(ctx->host->dnnl->stream), "stream");
}

enum amp_status amp_prim_run_plain(struct amp_ctx *ctx,
                                   enum amp_status (*plain)(struct amp_ctx *ctx))
{
    bool is_plain = ctx->n_posts == 0 && !ctx->reads_casts;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        is_plain &= ctx->in[i] == NULL || ctx->in[i]->layout == NULL;
    if (plain == NULL)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "there is no kernel in C");
    if (!is_plain)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "a kernel in C takes plain tensors of one type");
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (ctx->in[i] != NULL && ctx->in[i]->data == NULL && ctx->is_constant[i])
            return AMP_AGAIN;
    if (ctx->out[0]->data == NULL)
        AMP_TRY(amp_ctx_alloc(ctx, 0));
    return plain(ctx);
}

/* Whether oneDNN was asked for such inputs before and has nothing. */
static bool was_refused(const struct amp_ctx *ctx)
{
    const struct amp_prim *prim = *ctx->state;
    return prim != NULL && has_signature(prim, ctx) && prim->is_refused;
}

enum amp_status amp_prim_run_or(struct amp_ctx *ctx, amp_prim_make *make,
                                enum amp_status (*plain)(struct amp_ctx *ctx))
{
    enum amp_dtype dtype = ctx->in[0]->dtype;
    bool is_half = amp_dtype_is_lower(dtype);
    if (make == NULL && is_half)
        return amp_no_kernel(ctx, dtype);
    if (make == NULL || amp_dnnl_dtype(dtype) == dnnl_data_type_undef ||
        (!is_half && was_refused(ctx)))
        return amp_prim_run_plain(ctx, plain);
    struct amp_error *err = ctx->err, refusal = {.status = AMP_OK};
    if (!is_half)
        ctx->err = &refusal;
    enum amp_status status = run_prim(ctx, make);
    ctx->err = err;
    if (is_half || status == AMP_OK || status == AMP_AGAIN)
        return status;
    return status == AMP_UNSUPPORTED ? amp_prim_run_plain(ctx, plain)
                                     : amp_fail(err, status, "%s", refusal.text);
}
