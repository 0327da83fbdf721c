/*
 * The bridge to oneDNN: engine and stream, and primitives that are made once for a node and its
 * shapes, with the reorders between the node's row-major tensors and the layouts that oneDNN
 * prefers.
 */
#include "ops/dnnl.h"

#include "core/array.h"
#include "core/clock.h"
#include "core/memory.h"
#include "ops/kernel.h"
#include "ops/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 16, MAX_DESCS = 48, MAX_INPUTS = 32 };

/* An argument of the primitive: USER views the node's tensor, OWN is the primitive's layout. They
   are one memory where the layouts agree. */
struct binding {
    int arg;
    uint32_t index; /* of the node's input or output */
    bool is_output, is_constant, is_data;
    bool is_ready; /* a constant that has been reordered */
    dnnl_memory_t user, own;
    struct amp_buffer *buffer;
    dnnl_primitive_t reorder; /* NULL where user is own */
};

/* What the primitive was made for: a change of any of it makes another one. */
struct signature {
    uint32_t n_in;
    struct {
        enum amp_dtype dtype; /* AMP_UNDEFINED: omitted */
        struct amp_shape shape;
    } in[MAX_INPUTS];
};

struct amp_prim {
    struct signature signature;
    bool is_refused; /* oneDNN has no primitive for the signature; nothing else is set */
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive;
    dnnl_primitive_attr_t attr;
    dnnl_memory_desc_t descs[MAX_DESCS];
    int n_descs;
    struct binding bindings[MAX_ARGS];
    int n_bindings;
    dnnl_memory_t scratchpad;
    struct amp_buffer *scratchpad_buffer;
};

enum amp_status amp_dnnl_create(struct amp_dnnl **dnnl, struct amp_error *err)
{
    struct amp_dnnl *made = calloc(1, sizeof *made);
    if (made == NULL)
        return amp_fail(err, AMP_IO, "out of memory");
    if (dnnl_engine_create(&made->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&made->stream, made->engine, dnnl_stream_default_flags) !=
            dnnl_success) {
        amp_dnnl_destroy(made);
        return amp_fail(err, AMP_KERNEL, "oneDNN has no CPU engine on this machine");
    }
    *dnnl = made;
    return AMP_OK;
}

void amp_dnnl_destroy(struct amp_dnnl *dnnl)
{
    if (dnnl == NULL)
        return;
    dnnl_stream_destroy(dnnl->stream);
    dnnl_engine_destroy(dnnl->engine);
    free(dnnl);
}

const char *amp_dnnl_version(char *text, size_t size)
{
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, size, "%d.%d.%d", version->major, version->minor, version->patch);
    return text;
}

static const struct {
    dnnl_cpu_isa_t isa;
    const char *name;
    bool has_bf16, has_f16;
} isas[] = {
    {dnnl_cpu_isa_avx10_1_512_amx_fp16, "AVX10.1/512 with AMX bf16, int8 and fp16", true, true},
    {dnnl_cpu_isa_avx10_1_512_amx, "AVX10.1/512 with AMX bf16 and int8", true, true},
    {dnnl_cpu_isa_avx10_1_512, "AVX10.1/512", true, true},
    {dnnl_cpu_isa_avx512_core_bf16, "AVX-512 with bf16", true, false},
    {dnnl_cpu_isa_avx512_core_vnni, "AVX-512 with VNNI", false, false},
    {dnnl_cpu_isa_avx512_core, "AVX-512", false, false},
    {dnnl_cpu_isa_avx2_vnni_2, "AVX2 with VNNI, bf16 and fp16 conversion", true, true},
    {dnnl_cpu_isa_avx2_vnni, "AVX2 with VNNI", false, false},
    {dnnl_cpu_isa_avx2, "AVX2", false, false},
    {dnnl_cpu_isa_avx, "AVX", false, false},
    {dnnl_cpu_isa_sse41, "SSE4.1", false, false},
};

static size_t find_isa(void)
{
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    size_t n = AMP_COUNT(isas), i = 0;
    while (i < n - 1 && isas[i].isa != isa)
        i++;
    return i;
}

const char *amp_dnnl_isa(void)
{
    return isas[find_isa()].name;
}

bool amp_dnnl_is_native(enum amp_dtype dtype)
{
    if (dtype == AMP_BFLOAT16)
        return isas[find_isa()].has_bf16;
    if (dtype == AMP_FLOAT16)
        return isas[find_isa()].has_f16;
    return dtype == AMP_FLOAT;
}

dnnl_data_type_t amp_dnnl_dtype(enum amp_dtype dtype)
{
    static const dnnl_data_type_t types[AMP_DTYPE_COUNT] = {
        [AMP_FLOAT] = dnnl_f32, [AMP_FLOAT16] = dnnl_f16, [AMP_BFLOAT16] = dnnl_bf16,
        [AMP_INT32] = dnnl_s32, [AMP_INT8] = dnnl_s8,     [AMP_UINT8] = dnnl_u8};
    return types[dtype];
}

enum amp_status amp_dnnl_check(struct amp_error *err, dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return AMP_OK;
    if (status == dnnl_unimplemented || status == dnnl_invalid_arguments)
        return amp_fail(err, AMP_UNSUPPORTED, "oneDNN has no %s for these types and shapes", what);
    if (status == dnnl_out_of_memory)
        return amp_fail(err, AMP_IO, "out of memory in oneDNN's %s", what);
    return amp_fail(err, AMP_KERNEL, "oneDNN's %s failed with status %d", what, (int)status);
}

static void destroy_binding(struct binding *binding)
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
        destroy_binding(&prim->bindings[i]);
    for (int i = 0; i < prim->n_descs; i++)
        dnnl_memory_desc_destroy(prim->descs[i]);
    dnnl_memory_destroy(prim->scratchpad);
    amp_buffer_unref(prim->scratchpad_buffer);
    dnnl_primitive_destroy(prim->primitive);
    dnnl_primitive_desc_destroy(prim->pd);
    dnnl_primitive_attr_destroy(prim->attr);
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

enum amp_status amp_prim_desc_any(struct amp_prim *prim, struct amp_error *err,
                                  enum amp_dtype dtype, int rank, const int64_t *dims,
                                  dnnl_memory_desc_t *desc)
{
    dnnl_data_type_t type;
    AMP_TRY(add_desc(prim, err, dtype, rank, dims, &type));
    AMP_TRY(amp_dnnl_check(
        err, dnnl_memory_desc_create_with_tag(desc, rank, dims, type, dnnl_format_tag_any),
        "layout"));
    prim->descs[prim->n_descs++] = *desc;
    return AMP_OK;
}

enum amp_status amp_prim_desc_tensor(struct amp_prim *prim, struct amp_error *err,
                                     const struct amp_tensor *tensor, dnnl_memory_desc_t *desc)
{
    static const int64_t one[1] = {1};
    const struct amp_shape *shape = &tensor->shape;
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
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_primitive_create(&prim->primitive, pd), "primitive"));
    const_dnnl_memory_desc_t scratchpad =
        dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    if (scratchpad == NULL || dnnl_memory_desc_get_size(scratchpad) == 0)
        return AMP_OK;
    return own_memory(ctx, scratchpad, &prim->scratchpad, &prim->scratchpad_buffer);
}

enum amp_status amp_prim_create_fast(struct amp_ctx *ctx, struct amp_prim *prim,
                                     dnnl_primitive_desc_t pd)
{
    const char *name = "";
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    if (strstr(name, "ref:") == NULL && strncmp(name, "ref", 3) != 0)
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

static enum amp_status bind(struct amp_ctx *ctx, struct amp_prim *prim, struct binding binding,
                            const_dnnl_memory_desc_t user)
{
    if (prim->n_bindings == MAX_ARGS)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "too many arguments for a oneDNN primitive");
    struct binding *added = &prim->bindings[prim->n_bindings++];
    *added = binding;
    AMP_TRY(amp_dnnl_check(
        ctx->err, dnnl_memory_create(&added->user, user, ctx->host->dnnl->engine, DNNL_MEMORY_NONE),
        "memory"));
    added->own = added->user;
    const_dnnl_memory_desc_t wanted =
        dnnl_primitive_desc_query_md(prim->pd, dnnl_query_exec_arg_md, binding.arg);
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
    return bind(ctx, prim, binding, user);
}

enum amp_status amp_prim_bind_out(struct amp_ctx *ctx, struct amp_prim *prim, int arg,
                                  uint32_t index, const_dnnl_memory_desc_t user)
{
    return bind(ctx, prim, (struct binding){.arg = arg, .index = index, .is_output = true}, user);
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

static void sign(const struct amp_ctx *ctx, struct signature *signature)
{
    signature->n_in = ctx->n_in;
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        signature->in[i].dtype = ctx->in[i] ? ctx->in[i]->dtype : AMP_UNDEFINED;
        signature->in[i].shape.rank = -1;
        if (ctx->in[i])
            signature->in[i].shape = ctx->in[i]->shape;
    }
}

static bool has_signature(const struct amp_prim *prim, const struct amp_ctx *ctx)
{
    const struct signature *signature = &prim->signature;
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        enum amp_dtype dtype = ctx->in[i] ? ctx->in[i]->dtype : AMP_UNDEFINED;
        if (signature->in[i].dtype != dtype ||
            (ctx->in[i] && !amp_shape_equal(&signature->in[i].shape, &ctx->in[i]->shape)))
            return false;
    }
    return signature->n_in == ctx->n_in;
}

/* An empty primitive, for the node's inputs, as the node's state. */
static struct amp_prim *new_prim(struct amp_ctx *ctx)
{
    struct amp_prim *prim = amp_xmalloc(1, sizeof *prim);
    memset(prim, 0, sizeof *prim);
    sign(ctx, &prim->signature);
    amp_prim_destroy(*ctx->state);
    *ctx->state = prim;
    return prim;
}

/* Makes the primitive of the new state; keeps in mind that oneDNN has none. */
static enum amp_status fill_prim(struct amp_ctx *ctx, amp_prim_make *make)
{
    enum amp_status status = make(ctx, new_prim(ctx));
    if (status == AMP_UNSUPPORTED) {
        new_prim(ctx)->is_refused = true;
    } else if (status != AMP_OK) {
        amp_prim_destroy(*ctx->state);
        *ctx->state = NULL;
    }
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
    } else if (ctx->n_in > MAX_INPUTS) {
        *status = amp_fail(ctx->err, AMP_UNSUPPORTED, "more than %d inputs for a oneDNN primitive",
                           MAX_INPUTS);
    } else {
        *status = fill_prim(ctx, make);
    }
    return *status == AMP_OK ? *ctx->state : NULL;
}

static enum amp_status execute(struct amp_ctx *ctx, dnnl_primitive_t primitive, int n,
                               const dnnl_exec_arg_t *args)
{
    struct amp_profile *profile = ctx->host->profile;
    double start = profile != NULL ? amp_seconds() : 0;
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_primitive_execute(primitive, ctx->host->dnnl->stream, n, args),
                           "execution"));
    if (profile != NULL)
        amp_profile_note(profile, ctx, primitive, amp_seconds() - start);
    return AMP_OK;
}

static enum amp_status reorder(struct amp_ctx *ctx, struct binding *binding)
{
    if (binding->reorder == NULL || binding->is_ready)
        return AMP_OK;
    binding->is_ready = binding->is_constant;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, binding->is_output ? binding->own : binding->user},
                              {DNNL_ARG_TO, binding->is_output ? binding->user : binding->own}};
    return execute(ctx, binding->reorder, 2, args);
}

static enum amp_status attach(struct amp_ctx *ctx, struct binding *binding)
{
    if (binding->is_data)
        return AMP_OK;
    const struct amp_tensor *tensor =
        binding->is_output ? ctx->out[binding->index] : ctx->in[binding->index];
    AMP_TRY(
        amp_dnnl_check(ctx->err, dnnl_memory_set_data_handle(binding->user, tensor->data), "data"));
    return binding->is_output ? AMP_OK : reorder(ctx, binding);
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
    AMP_TRY(execute(ctx, prim->primitive, n, args));
    for (int i = 0; i < prim->n_bindings; i++)
        if (prim->bindings[i].is_output)
            AMP_TRY(reorder(ctx, &prim->bindings[i]));
    return amp_dnnl_check(ctx->err, dnnl_stream_wait(ctx->host->dnnl->stream), "stream");
}

enum amp_status amp_prim_run_or(struct amp_ctx *ctx, amp_prim_make *make,
                                enum amp_status (*plain)(struct amp_ctx *ctx))
{
    enum amp_dtype dtype = ctx->in[0]->dtype;
    bool is_half = dtype == AMP_FLOAT16 || dtype == AMP_BFLOAT16;
    if (make == NULL && is_half)
        return amp_no_kernel(ctx, dtype);
    if (make == NULL || amp_dnnl_dtype(dtype) == dnnl_data_type_undef)
        return plain(ctx);
    struct amp_error *err = ctx->err, refusal = {.status = AMP_OK};
    if (!is_half)
        ctx->err = &refusal;
    enum amp_status status = run_prim(ctx, make);
    ctx->err = err;
    if (is_half || status == AMP_OK)
        return status;
    return status == AMP_UNSUPPORTED ? plain(ctx) : amp_fail(err, status, "%s", refusal.text);
}
