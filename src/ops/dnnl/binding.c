/*
 * Binds the arguments of a primitive to the tensors of a node, with the reorders between their
 * layouts and those that oneDNN prefers. A constant is reordered once; what became of it spares the
 * constant's own data, and goes on to the primitive that takes the place of this one when shapes
 * change.
 */
#include "ops/dnnl/binding.h"

#include "core/array.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "core/shared_forms.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/post_op.h"

static void release(struct amp_binding *binding)
{
    if (binding->own != binding->user)
        dnnl_memory_destroy(binding->own);
    dnnl_memory_destroy(binding->user);
    amp_reorder_destroy(binding->reorder);
    amp_buffer_unref(binding->buffer);
}

void amp_bindings_release(struct amp_bindings *bindings)
{
    while (bindings->n > 0)
        release(&bindings->at[--bindings->n]);
    amp_bindings_drop_former(bindings);
}

/* ---- constants that are ready ---- */

void amp_bindings_keep_ready(struct amp_bindings *from, struct amp_bindings *to)
{
    for (int i = 0; i < from->n; i++)
        if (from->at[i].is_ready) {
            to->former[to->n_former++] = from->at[i];
            from->at[i] = (struct amp_binding){.is_ready = false};
        }
}

void amp_bindings_drop_former(struct amp_bindings *bindings)
{
    while (bindings->n_former > 0)
        release(&bindings->former[--bindings->n_former]);
}

/* Whether layouts USER and WANTED are those of what BINDING has ready. */
static bool has_layouts(const struct amp_binding *binding, const_dnnl_memory_desc_t user,
                        const_dnnl_memory_desc_t wanted)
{
    const_dnnl_memory_desc_t from, to;
    return dnnl_memory_get_memory_desc(binding->user, &from) == dnnl_success &&
           dnnl_memory_get_memory_desc(binding->own, &to) == dnnl_success &&
           dnnl_memory_desc_equal(from, user) && dnnl_memory_desc_equal(to, wanted);
}

/* Sets *BINDING, a constant of layout USER that the primitive wants in WANTED, to the former one
   that has it ready. False: there is none. */
static bool reuse_former(struct amp_bindings *bindings, struct amp_binding *binding,
                         const_dnnl_memory_desc_t user, const_dnnl_memory_desc_t wanted)
{
    for (int i = 0; i < bindings->n_former && binding->is_constant; i++) {
        struct amp_binding former = bindings->former[i];
        if (former.index != binding->index || former.is_operand != binding->is_operand ||
            !has_layouts(&former, user, wanted))
            continue;
        former.arg = binding->arg;
        bindings->former[i] = bindings->former[--bindings->n_former];
        *binding = former;
        return true;
    }
    return false;
}

bool amp_bindings_read(const struct amp_bindings *bindings, size_t n_in, size_t index)
{
    bool is_read = true;
    for (int i = 0; i < bindings->n; i++) {
        const struct amp_binding *binding = &bindings->at[i];
        size_t place = binding->index + (binding->is_operand ? n_in : 0);
        if (binding->is_output || binding->is_data || place != index)
            continue;
        if (!binding->is_ready)
            return true;
        is_read = false;
    }
    return is_read;
}

/* ---- making ---- */

enum amp_status amp_binding_alloc(struct amp_ctx *ctx, const_dnnl_memory_desc_t desc,
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

static enum amp_status create_reorder(struct amp_ctx *ctx, struct amp_binding *binding,
                                      const_dnnl_memory_desc_t from, const_dnnl_memory_desc_t to)
{
    dnnl_engine_t engine = ctx->host->dnnl->engine;
    return amp_dnnl_check(ctx->err, amp_reorder_create(engine, from, to, &binding->reorder),
                          "reorder");
}

/* The next binding; NULL when there are as many as one primitive may have. */
static struct amp_binding *next_binding(struct amp_ctx *ctx, struct amp_bindings *bindings)
{
    if (bindings->n < (int)AMP_COUNT(bindings->at))
        return &bindings->at[bindings->n++];
    amp_error_record(ctx->err, AMP_UNSUPPORTED, "too many arguments for a oneDNN primitive");
    return NULL;
}

enum amp_status amp_bindings_add(struct amp_ctx *ctx, struct amp_bindings *bindings,
                                 const_dnnl_primitive_desc_t pd, struct amp_binding binding,
                                 const_dnnl_memory_desc_t user)
{
    struct amp_binding *added = next_binding(ctx, bindings);
    if (added == NULL)
        return AMP_UNSUPPORTED;
    const_dnnl_memory_desc_t wanted =
        dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, binding.arg);
    *added = binding;
    if (reuse_former(bindings, added, user, wanted))
        return AMP_OK;
    AMP_TRY(amp_dnnl_check(
        ctx->err, dnnl_memory_create(&added->user, user, ctx->host->dnnl->engine, DNNL_MEMORY_NONE),
        "memory"));
    added->own = added->user;
    if (dnnl_memory_desc_equal(wanted, user))
        return AMP_OK;
    AMP_TRY(binding.is_output ? create_reorder(ctx, added, wanted, user)
                              : create_reorder(ctx, added, user, wanted));
    dnnl_memory_t own = NULL;
    enum amp_status status =
        binding.is_constant
            ? amp_dnnl_check(
                  ctx->err,
                  dnnl_memory_create(&own, wanted, ctx->host->dnnl->engine, DNNL_MEMORY_NONE),
                  "memory")
            : amp_binding_alloc(ctx, wanted, &own, &added->buffer);
    if (own != NULL)
        added->own = own;
    return status;
}

enum amp_status amp_bindings_add_data(struct amp_ctx *ctx, struct amp_bindings *bindings, int arg,
                                      const_dnnl_memory_desc_t desc, void **data)
{
    struct amp_binding *added = next_binding(ctx, bindings);
    if (added == NULL)
        return AMP_UNSUPPORTED;
    *added = (struct amp_binding){.arg = arg, .is_data = true};
    AMP_TRY(amp_binding_alloc(ctx, desc, &added->user, &added->buffer));
    added->own = added->user;
    *data = added->buffer->data;
    return AMP_OK;
}

/* ---- running ---- */

/* The layouts that a constant is reordered between, as bytes. */
struct layout_pair {
    uint8_t bytes[8192];
    size_t used;
};

static bool add_layout(struct layout_pair *pair, const_dnnl_memory_desc_t desc)
{
    size_t size = 0;
    if (dnnl_memory_desc_get_blob(NULL, &size, desc) != dnnl_success ||
        size > sizeof pair->bytes - pair->used ||
        dnnl_memory_desc_get_blob(pair->bytes + pair->used, &size, desc) != dnnl_success)
        return false;
    pair->used += size;
    return true;
}

/* Makes what the reorder of BINDING gives. */
static enum amp_status make_constant(struct amp_ctx *ctx, struct amp_binding *binding, size_t size)
{
    binding->buffer = amp_buffer_create(size);
    if (binding->buffer == NULL)
        return amp_memory_fail(ctx->err, "a layout of oneDNN", size);
    return amp_reorder_run(ctx, binding->reorder, binding->data, binding->buffer->data);
}

/* Makes the constant of BINDING ready, or takes what others have made of the same data. */
static enum amp_status reorder_constant(struct amp_ctx *ctx, struct amp_binding *binding)
{
    const_dnnl_memory_desc_t from, to;
    struct layout_pair layouts;
    layouts.used = 0;
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_memory_get_memory_desc(binding->user, &from), "layout"));
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_memory_get_memory_desc(binding->own, &to), "layout"));
    bool is_shared = amp_shared_forms_are_kept(binding->data) && add_layout(&layouts, from) &&
                     add_layout(&layouts, to);
    const struct amp_form_kind kind = {AMP_FORM_LAID_OUT, layouts.bytes, layouts.used};
    amp_buffer_unref(binding->buffer);
    binding->buffer = is_shared ? amp_shared_form_find(binding->data, kind) : NULL;
    if (binding->buffer == NULL) {
        AMP_TRY(make_constant(ctx, binding, dnnl_memory_desc_get_size(to)));
        if (is_shared)
            amp_shared_form_add(binding->data, kind, binding->buffer);
    }
    AMP_TRY(amp_dnnl_check(
        ctx->err, dnnl_memory_set_data_handle(binding->own, binding->buffer->data), "data"));
    binding->is_ready = true;
    return AMP_OK;
}

static enum amp_status reorder(struct amp_ctx *ctx, struct amp_binding *binding)
{
    if (binding->reorder == NULL)
        return AMP_OK;
    if (binding->is_constant)
        return reorder_constant(ctx, binding);
    void *own = binding->buffer->data;
    return binding->is_output ? amp_reorder_run(ctx, binding->reorder, own, binding->data)
                              : amp_reorder_run(ctx, binding->reorder, binding->data, own);
}

/* Gives an output memory, of the layout that it comes to have: what it had last, if possible. */
static enum amp_status alloc_output(struct amp_ctx *ctx, struct amp_binding *binding)
{
    struct amp_tensor *out = ctx->out[binding->index];
    if (binding->size == 0) {
        AMP_TRY(amp_ctx_alloc(ctx, binding->index));
        binding->size = out->buffer->size;
        binding->former = out->buffer;
        return AMP_OK;
    }
    amp_tensor_release(out);
    out->buffer = amp_buffer_create_again(binding->former, binding->size);
    if (out->buffer == NULL)
        return amp_memory_fail(ctx->err, "a layout of oneDNN", binding->size);
    binding->former = out->buffer;
    out->data = out->buffer->data;
    out->layout = binding->layout;
    return AMP_OK;
}

static void *data_of(const struct amp_ctx *ctx, const struct amp_binding *binding)
{
    if (binding->is_output)
        return ctx->out[binding->index]->data;
    return binding->is_operand ? ctx->posts[binding->index].operand->data
                               : ctx->in[binding->index]->data;
}

static enum amp_status load(struct amp_ctx *ctx, struct amp_binding *binding)
{
    if (binding->is_data || binding->is_ready)
        return AMP_OK;
    if (binding->is_constant && data_of(ctx, binding) == NULL)
        return AMP_AGAIN;
    if (binding->is_free || (binding->is_output && ctx->out[binding->index]->data == NULL))
        AMP_TRY(alloc_output(ctx, binding));
    void *data = data_of(ctx, binding);
    if (binding->data != data)
        AMP_TRY(amp_dnnl_check(ctx->err, dnnl_memory_set_data_handle(binding->user, data), "data"));
    binding->data = data;
    return binding->is_output ? AMP_OK : reorder(ctx, binding);
}

enum amp_status amp_bindings_load(struct amp_ctx *ctx, struct amp_bindings *bindings,
                                  dnnl_exec_arg_t *args)
{
    for (int i = 0; i < bindings->n; i++) {
        AMP_TRY(load(ctx, &bindings->at[i]));
        args[i] = (dnnl_exec_arg_t){bindings->at[i].arg, bindings->at[i].own};
    }
    return AMP_OK;
}

enum amp_status amp_bindings_store(struct amp_ctx *ctx, struct amp_bindings *bindings)
{
    for (int i = 0; i < bindings->n; i++)
        if (bindings->at[i].is_output)
            AMP_TRY(reorder(ctx, &bindings->at[i]));
    return AMP_OK;
}
