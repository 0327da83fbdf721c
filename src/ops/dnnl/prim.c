/*
 * Makes primitives of oneDNN, once for a node and the shapes and dtypes of its inputs, and runs
 * them with the node's tensors; or, in the place of a primitive, a kernel of this program's own.
 * Where oneDNN has no primitive, that is kept in mind, and the operator's kernel in C runs.
 */
#include "ops/dnnl/prim.h"

#include "core/array.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/memory.h"
#include "ops/dnnl/binding.h"
#include "ops/dnnl/describe.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/own_kernel.h"
#include "ops/dnnl/prim_post.h"
#include "ops/dnnl/profile.h"
#include "ops/dnnl/post_op.h"
#include "ops/kernel/kernel.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* About what a primitive takes, with its descriptors, beside its buffers: oneDNN does not tell, and
   where nodes are many and small it is most of what they take. */
enum { PRIM_SIZE = 24 << 10 };

enum { MAX_INPUTS = 32 }; /* with the operands of post-ops */

/* What the primitive was made for: a change of any of it makes another one. */
struct signature {
    size_t n_in, n_posts; /* the operands of post-ops stand behind the inputs */
    struct form {
        enum amp_dtype dtype; /* AMP_UNDEFINED: omitted */
        struct amp_shape shape;
        const struct amp_layout *layout;
    } in[MAX_INPUTS];
};

struct amp_prim {
    struct signature signature;
    bool is_refused; /* oneDNN has no primitive for the signature; nothing else is set */
    bool is_partial; /* the operator does more than that */
    size_t claimed;  /* bytes of the account of memory, beside the buffers */
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive;       /* NULL where OWN runs in its place */
    const struct amp_own_kernel *own; /* NULL: the primitive runs */
    void *own_state;
    dnnl_primitive_attr_t attr;
    struct amp_descs descs;
    struct amp_bindings bindings;
    struct amp_post_operands operands;
    dnnl_memory_t scratchpad;
    struct amp_buffer *scratchpad_buffer;
};

void amp_prim_destroy(void *state)
{
    struct amp_prim *prim = state;
    if (prim == NULL)
        return;
    amp_bindings_release(&prim->bindings);
    amp_descs_release(&prim->descs);
    dnnl_memory_destroy(prim->scratchpad);
    amp_buffer_unref(prim->scratchpad_buffer);
    if (prim->own != NULL)
        prim->own->primitive->destroy(prim->own_state);
    dnnl_primitive_destroy(prim->primitive);
    dnnl_primitive_desc_destroy(prim->pd);
    dnnl_primitive_attr_destroy(prim->attr);
    amp_memory_return(prim->claimed);
    free(prim);
}

bool amp_prim_reads(const void *state, size_t index)
{
    const struct amp_prim *prim = state;
    return prim == NULL || amp_bindings_read(&prim->bindings, prim->signature.n_in, index);
}

/* ---- making ---- */

enum amp_status amp_prim_desc(struct amp_prim *prim, struct amp_error *err,
                              struct amp_desc_form form, dnnl_memory_desc_t *desc)
{
    return amp_descs_add(&prim->descs, err, form, desc);
}

enum amp_status amp_prim_desc_tensor(struct amp_prim *prim, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc)
{
    return amp_descs_add_tensor(&prim->descs, err, tensor, desc);
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

enum amp_status amp_prim_set_posts(struct amp_ctx *ctx, struct amp_prim *prim, dnnl_post_ops_t ops,
                                   int rank, const int64_t *dims)
{
    struct amp_post_target target = {
        .descs = &prim->descs, .operands = &prim->operands, .ops = ops, .rank = rank, .dims = dims};
    dnnl_primitive_attr_t attr;
    if (ops == NULL && ctx->n_posts == 0)
        return AMP_OK;
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    if (ops == NULL)
        AMP_TRY(amp_dnnl_check(ctx->err, dnnl_post_ops_create(&target.ops), "post-ops"));
    enum amp_status status = amp_post_operands_append(ctx, &target);
    if (status == AMP_OK)
        status = amp_dnnl_check(ctx->err, dnnl_primitive_attr_set_post_ops(attr, target.ops),
                                "post-ops");
    if (ops == NULL)
        dnnl_post_ops_destroy(target.ops);
    return status;
}

void amp_prim_set_partial(struct amp_prim *prim)
{
    prim->is_partial = true;
}

/* Whether a kernel of our own takes the place of PRIM: the first that fits. */
static bool create_own(struct amp_ctx *ctx, struct amp_prim *prim)
{
    const struct amp_own_kernel *const *own = ctx->host->dnnl->own;
    for (; own != NULL && *own != NULL && prim->own == NULL; own++) {
        if ((*own)->primitive != NULL)
            prim->own_state = (*own)->primitive->create(prim->pd);
        if (prim->own_state != NULL)
            prim->own = *own;
    }
    return prim->own != NULL;
}

enum amp_status amp_prim_create(struct amp_ctx *ctx, struct amp_prim *prim,
                                dnnl_primitive_desc_t pd)
{
    prim->pd = pd;
    if (amp_post_divides_padding(ctx, pd))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "a division in a layout with padding");
    if (create_own(ctx, prim))
        return AMP_OK;
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_primitive_create(&prim->primitive, pd), "primitive"));
    const_dnnl_memory_desc_t scratchpad =
        dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    if (dnnl_memory_desc_get_size(scratchpad) == 0)
        return AMP_OK;
    return amp_binding_alloc(ctx, scratchpad, &prim->scratchpad, &prim->scratchpad_buffer);
}

/* Whether oneDNN's implementation NAME is slower than plain C: a reference; or, with post-ops, a
   convolution by matrix products, which computes post-ops with other than their own types one
   element at a time. Of all this, oneDNN's API tells nothing but the name. */
static bool is_slow(const char *name, bool has_posts)
{
    return strstr(name, "ref:") != NULL || strncmp(name, "ref", 3) == 0 ||
           (has_posts && strstr(name, "gemm:") != NULL);
}

enum amp_status amp_prim_create_fast(struct amp_ctx *ctx, struct amp_prim *prim,
                                     dnnl_primitive_desc_t pd)
{
    const char *name = amp_describe_implementation(pd);
    if (!is_slow(name, ctx->n_posts > 0))
        return amp_prim_create(ctx, prim, pd);
    prim->pd = pd;
    return amp_fail(ctx->err, AMP_UNSUPPORTED, "oneDNN has only %s", name);
}

enum amp_status amp_prim_bind_in(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                 uint32_t index, const_dnnl_memory_desc_t user)
{
    struct amp_binding binding = {
        .arg = arg, .index = index, .is_constant = ctx->is_constant[index]};
    return amp_bindings_add(ctx, &prim->bindings, prim->pd, binding, user);
}

enum amp_status amp_prim_bind_out(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                  uint32_t index, const_dnnl_memory_desc_t user)
{
    struct amp_binding binding = {.arg = arg, .index = index, .is_output = true};
    if (index == 0)
        AMP_TRY(amp_post_operands_bind(ctx, &prim->operands, prim->pd, &prim->bindings));
    return amp_bindings_add(ctx, &prim->bindings, prim->pd, binding, user);
}

enum amp_status amp_prim_bind_layout(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                     const_dnnl_memory_desc_t desc, const struct amp_layout *layout)
{
    struct amp_binding binding = {.arg = arg,
                                  .is_output = true,
                                  .is_free = true,
                                  .layout = layout,
                                  .size = dnnl_memory_desc_get_size(desc)};
    AMP_TRY(amp_post_operands_bind(ctx, &prim->operands, prim->pd, &prim->bindings));
    return amp_bindings_add(ctx, &prim->bindings, prim->pd, binding, desc);
}

enum amp_status amp_prim_bind_free(struct amp_ctx *ctx, struct amp_prim *prim, int arg)
{
    const_dnnl_memory_desc_t desc =
        dnnl_primitive_desc_query_md(prim->pd, dnnl_query_exec_arg_md, arg);
    return amp_prim_bind_layout(ctx, prim, arg, desc,
                                amp_layout_of(ctx->host->dnnl->layouts, desc));
}

enum amp_status amp_prim_bind_data(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                   const_dnnl_memory_desc_t desc, void **data)
{
    return amp_bindings_add_data(ctx, &prim->bindings, arg, desc, data);
}

/* ---- the primitive for the node's inputs ---- */

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
    struct amp_prim *prim = amp_xmalloc(1, sizeof *prim), *before = *ctx->state;
    memset(prim, 0, sizeof *prim);
    prim->signature.n_in = ctx->n_in;
    prim->signature.n_posts = ctx->n_posts;
    for (size_t i = 0; i < ctx->n_in + ctx->n_posts; i++)
        prim->signature.in[i] = form_of(argument(ctx, i));
    if (before != NULL)
        amp_bindings_keep_ready(&before->bindings, &prim->bindings);
    amp_prim_destroy(before);
    *ctx->state = prim;
    return prim;
}

/* Where a thread goes on when oneDNN divides by 0; NULL: nowhere. */
static _Thread_local sigjmp_buf *way_out;

static void leave(int number)
{
    if (way_out != NULL)
        siglongjmp(*way_out, number);
    signal(number, SIG_DFL);
}

/* Fills PRIM. oneDNN cuts work by the sizes of caches, and may divide by 0 where the CPU hides
   them: it has no primitive then, and what it had in hand is lost. */
static enum amp_status make_prim(struct amp_ctx *ctx, struct amp_prim *prim,
                                 const struct amp_prim_call *call)
{
    sigjmp_buf out;
    struct amp_error *const err = ctx->err;
    if (amp_cpu_tells_caches())
        return call->make(ctx, prim, call->what);
    sigaction(SIGFPE, &(struct sigaction){.sa_handler = leave}, NULL);
    way_out = &out;
    enum amp_status status =
        sigsetjmp(out, 1) == 0
            ? call->make(ctx, prim, call->what)
            : amp_fail(err, AMP_UNSUPPORTED, "oneDNN needs to know the sizes of caches");
    way_out = NULL;
    ctx->err = err; /* MAKE may have had errors told elsewhere when it was left */
    return status;
}

/* Makes the primitive of the new state; keeps in mind that oneDNN has none. */
static enum amp_status fill_prim(struct amp_ctx *ctx, const struct amp_prim_call *call)
{
    struct amp_prim *prim = new_prim(ctx);
    enum amp_status status = AMP_OK;
    if (amp_memory_claim(PRIM_SIZE))
        prim->claimed = PRIM_SIZE;
    else
        status = amp_memory_fail(ctx->err, "a primitive of oneDNN", PRIM_SIZE);
    if (status == AMP_OK)
        status = make_prim(ctx, prim, call);
    if (status == AMP_UNSUPPORTED) {
        new_prim(ctx)->is_refused = true;
    } else if (status != AMP_OK) {
        amp_prim_destroy(*ctx->state);
        *ctx->state = NULL;
        return status;
    }
    prim = *ctx->state;
    amp_bindings_drop_former(&prim->bindings);
    return status;
}

/* The primitive for the node's inputs; NULL with *STATUS when there is none. */
static struct amp_prim *prepare(struct amp_ctx *ctx, const struct amp_prim_call *call,
                                enum amp_status *status)
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
        *status = fill_prim(ctx, call);
    }
    return *status == AMP_OK ? *ctx->state : NULL;
}

/* ---- running ---- */

/* Executes PRIM, or the kernel of our own in its place, with N arguments. */
static enum amp_status execute(const struct amp_ctx *ctx, const struct amp_prim *prim, int n,
                               const dnnl_exec_arg_t *args)
{
    struct amp_profile *profile = ctx->host->profile;
    if (prim->own == NULL)
        return amp_dnnl_execute(ctx, prim->primitive, n, args);
    double start = profile != NULL ? amp_clock_seconds() : 0;
    prim->own->primitive->run(prim->own_state, n, args);
    if (profile != NULL)
        amp_profile_note(profile, ctx, prim->pd, prim->own->name, amp_clock_seconds() - start);
    return AMP_OK;
}

/* Runs PRIM, which is made for the inputs of CTX. */
static enum amp_status run_made(struct amp_ctx *ctx, struct amp_prim *prim)
{
    dnnl_exec_arg_t args[AMP_COUNT(prim->bindings.at) + 1];
    int n = prim->bindings.n;
    AMP_TRY(amp_bindings_load(ctx, &prim->bindings, args));
    if (prim->scratchpad != NULL)
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, prim->scratchpad};
    AMP_TRY(execute(ctx, prim, n, args));
    AMP_TRY(amp_bindings_store(ctx, &prim->bindings));
    return amp_dnnl_check(ctx->err, dnnl_stream_wait(ctx->host->dnnl->stream), "stream");
}

static enum amp_status run_prim(struct amp_ctx *ctx, const struct amp_prim_call *call)
{
    enum amp_status status;
    struct amp_prim *prim = prepare(ctx, call, &status);
    return prim == NULL ? status : run_made(ctx, prim);
}

/* Runs the kernel in C of CALL under the conditions of amp_prim_run_plain. */
static enum amp_status run_plain(struct amp_ctx *ctx, const struct amp_prim_call *call)
{
    bool is_plain = ctx->n_posts == 0 && !ctx->reads_casts;
    for (uint32_t i = 0; i < ctx->n_in; i++)
        is_plain &= ctx->in[i] == NULL || ctx->in[i]->layout == NULL;
    if (call->plain == NULL)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "there is no kernel in C");
    if (!is_plain)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "a kernel in C takes plain tensors of one type");
    for (uint32_t i = 0; i < ctx->n_in; i++)
        if (ctx->in[i] != NULL && ctx->in[i]->data == NULL && ctx->is_constant[i])
            return AMP_AGAIN;
    if (ctx->out[0]->data == NULL)
        AMP_TRY(amp_ctx_alloc(ctx, 0));
    return call->plain(ctx, call->what);
}

enum amp_status amp_prim_run_call(struct amp_ctx *ctx, const struct amp_prim_call *call)
{
    enum amp_dtype dtype = ctx->in[0]->dtype;
    bool is_half = amp_dtype_is_lower(dtype);
    if (call->make == NULL && is_half)
        return amp_no_kernel(ctx, dtype);
    if (call->make == NULL || amp_dnnl_dtype(dtype) == dnnl_data_type_undef)
        return run_plain(ctx, call);
    struct amp_error *err = ctx->err, refusal = {.status = AMP_OK};
    if (!is_half)
        ctx->err = &refusal;
    enum amp_status status = run_prim(ctx, call);
    ctx->err = err;
    if (is_half || status == AMP_OK || status == AMP_AGAIN)
        return status;
    return status == AMP_UNSUPPORTED ? run_plain(ctx, call)
                                     : amp_fail(err, status, "%s", refusal.text);
}

/* ---- once more ---- */

static bool can_repeat(const struct amp_ctx *ctx)
{
    const struct amp_prim *prim = *ctx->state;
    return prim != NULL && !prim->is_refused && !prim->is_partial && has_signature(prim, ctx);
}

static enum amp_status repeat(struct amp_ctx *ctx)
{
    return run_made(ctx, *ctx->state);
}

const struct amp_repeat amp_prim_repeat = {.can = can_repeat, .run = repeat};

/* ---- functions that need no argument ---- */

struct functions {
    amp_prim_make *make;
    enum amp_status (*plain)(struct amp_ctx *ctx);
};

static enum amp_status call_make(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    const struct functions *functions = what;
    return functions->make(ctx, prim);
}

static enum amp_status call_plain(struct amp_ctx *ctx, void *what)
{
    const struct functions *functions = what;
    return functions->plain(ctx);
}

enum amp_status amp_prim_run_or(struct amp_ctx *ctx, amp_prim_make *make,
                                enum amp_status (*plain)(struct amp_ctx *ctx))
{
    struct functions functions = {make, plain};
    const struct amp_prim_call call = {.make = make != NULL ? call_make : NULL,
                                       .plain = plain != NULL ? call_plain : NULL,
                                       .what = &functions};
    return amp_prim_run_call(ctx, &call);
}

enum amp_status amp_prim_run_plain(struct amp_ctx *ctx,
                                   enum amp_status (*plain)(struct amp_ctx *ctx))
{
    struct functions functions = {.plain = plain};
    const struct amp_prim_call call = {.plain = plain != NULL ? call_plain : NULL,
                                       .what = &functions};
    return run_plain(ctx, &call);
}
