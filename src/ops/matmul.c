/*
 * MatMul and Gemm. An operator's operands are described as one batched product (struct amp_matmul),
 * its batch dims are merged as far as they go, and oneDNN multiplies; float64, integers, sums over
 * nothing and what oneDNN lacks are multiplied in plain C.
 */
#include "ops/matmul.h"

#include "ops/dnnl.h"
#include "ops/kernel.h"

#include <string.h>

/* A make function is given the context alone: the product comes along behind it. */
struct call {
    struct amp_ctx ctx;
    struct amp_matmul product;
};

static int64_t y_batch(const struct amp_matmul *p, int i)
{
    return p->a_batch[i] == 1 ? p->b_batch[i] : p->a_batch[i];
}

static int64_t count_batches(const struct amp_matmul *p)
{
    int64_t count = 1;
    for (int i = 0; i < p->batch_rank; i++)
        count *= y_batch(p, i);
    return count;
}

/* Whether batch dims I and J are broadcast in the same operand, or both in none. */
static bool is_alike(const struct amp_matmul *p, int i, int j)
{
    return (p->a_batch[i] == 1) == (p->a_batch[j] == 1) &&
           (p->b_batch[i] == 1) == (p->b_batch[j] == 1);
}

/* Merges neighbouring batch dims that are alike, and those that only A has into its rows: one big
   product is faster than many small ones. */
static void merge_batches(struct amp_matmul *p)
{
    int kept = 0;
    for (int i = 0; i < p->batch_rank; i++) {
        int64_t a = p->a_batch[i], b = p->b_batch[i];
        if (a == 1 && b == 1)
            continue;
        if (kept > 0 && is_alike(p, kept - 1, i)) {
            p->a_batch[kept - 1] *= a;
            p->b_batch[kept - 1] *= b;
        } else {
            p->a_batch[kept] = a;
            p->b_batch[kept++] = b;
        }
    }
    if (kept > 0 && p->b_batch[kept - 1] == 1 && !p->is_a_transposed)
        p->m *= p->a_batch[--kept];
    p->batch_rank = kept;
}

/* ---- plain C ------------------------------------------------------------------------------- */

/* The types that matrices have, and the types to add them in: wider for floats; unsigned for
   integers, where overflow wraps. */
#define PRODUCT_TYPES(X)          \
    X(FLOAT, float, double)       \
    X(DOUBLE, double, double)     \
    X(INT8, int8_t, uint32_t)     \
    X(INT16, int16_t, uint32_t)   \
    X(INT32, int32_t, uint32_t)   \
    X(INT64, int64_t, uint64_t)   \
    X(UINT8, uint8_t, uint32_t)   \
    X(UINT16, uint16_t, uint32_t) \
    X(UINT32, uint32_t, uint32_t) \
    X(UINT64, uint64_t, uint64_t)

enum { TILE = 64 }; /* columns that are summed at a time */

/* One row of A B: elements of A lie A_STEP apart. */
typedef void row_product(const struct amp_matmul *p, const void *a, int64_t a_step, const void *b,
                         void *y);

#define PRODUCT(DTYPE, T, SUM)                                                               \
    AMP_CLONES                                                                               \
    static void product_##DTYPE(const struct amp_matmul *p, const void *a, int64_t a_step,   \
                                const void *b, void *y)                                      \
    {                                                                                        \
        int64_t down = p->is_b_transposed ? 1 : p->n, right = p->is_b_transposed ? p->k : 1; \
        for (int64_t first = 0; first < p->n; first += TILE) {                               \
            SUM sums[TILE] = {0};                                                            \
            int64_t width = p->n - first < TILE ? p->n - first : TILE;                       \
            for (int64_t i = 0; i < p->k; i++) {                                             \
                SUM factor = (SUM)((const T *)a)[i * a_step];                                \
                const T *row = (const T *)b + i * down + first * right;                      \
                AMP_SIMD                                                                     \
                for (int64_t j = 0; j < width; j++)                                          \
                    sums[j] += factor * (SUM)row[j * right];                                 \
            }                                                                                \
            for (int64_t j = 0; j < width; j++)                                              \
                ((T *)y)[first + j] = (T)sums[j];                                            \
        }                                                                                    \
    }
PRODUCT_TYPES(PRODUCT)

/* alpha Y + beta C for one row of Y: elements of C lie C_STEP apart; 0 repeats one. */
typedef void row_finish(const struct amp_matmul *p, void *y, const void *c, int64_t c_step);

/* Where a factor is no integer, integers are truncated once, at the end. */
#define FINISH(DTYPE, T, SUM)                                                                      \
    static void finish_##DTYPE(const struct amp_matmul *p, void *y, const void *c, int64_t c_step) \
    {                                                                                              \
        T *row = y;                                                                                \
        bool is_plain = p->alpha == 1 && p->beta == 1;                                             \
        for (int64_t j = 0; j < p->n; j++) {                                                       \
            T added = p->beta == 0 ? 0 : ((const T *)c)[j * c_step];                               \
            double scaled = (double)p->alpha * (double)row[j] + (double)p->beta * (double)added;   \
            row[j] = is_plain         ? (T)((SUM)row[j] + (SUM)added)                              \
                     : (T)0.5 == (T)0 ? (T)amp_f64_to_i64(scaled)                                  \
                                      : (T)scaled;                                                 \
        }                                                                                          \
    }
PRODUCT_TYPES(FINISH)

#define ROW(DTYPE, T, SUM) [AMP_##DTYPE] = {product_##DTYPE, finish_##DTYPE},
static const struct {
    row_product *product;
    row_finish *finish;
} plain[AMP_DTYPE_COUNT] = {PRODUCT_TYPES(ROW)};

/* The matrix of an operand with batch dims DIMS that goes into matrix INDEX of Y. */
static int64_t batch_of(const struct amp_matmul *p, const int64_t *dims, int64_t index)
{
    int64_t result = 0, step = 1;
    for (int i = p->batch_rank - 1; i >= 0; i--) {
        result += dims[i] == 1 ? 0 : index % y_batch(p, i) * step;
        index /= y_batch(p, i);
        step *= dims[i];
    }
    return result;
}

static char *element(const struct amp_tensor *tensor, int64_t index)
{
    return (char *)tensor->data + (size_t)index * (amp_dtype_bits(tensor->dtype) / 8);
}

/* Row INDEX of all rows of Y. */
static void run_row(const struct amp_ctx *ctx, const struct amp_matmul *p, int64_t index)
{
    int64_t batch = index / p->m, row = index % p->m;
    int64_t a = batch_of(p, p->a_batch, batch) * p->m * p->k,
            a_step = p->is_a_transposed ? p->m : 1;
    int64_t b = batch_of(p, p->b_batch, batch) * p->k * p->n;
    a += p->is_a_transposed ? row : row * p->k;
    char *y = element(ctx->out[0], index * p->n);
    enum amp_dtype dtype = ctx->out[0]->dtype;
    plain[dtype].product(p, element(ctx->in[0], a), a_step, element(ctx->in[1], b), y);
    if (p->alpha == 1 && p->beta == 0)
        return;
    int64_t c_row = p->c_dims[0] == 1 ? 0 : row * p->c_dims[1], c_step = p->c_dims[1] == 1 ? 0 : 1;
    plain[dtype].finish(p, y, p->beta == 0 ? NULL : element(ctx->in[2], c_row), c_step);
}

static enum amp_status run_plain(struct amp_ctx *ctx)
{
    const struct amp_matmul *p = &((const struct call *)ctx)->product;
    if (plain[ctx->out[0]->dtype].product == NULL)
        return amp_no_kernel(ctx, ctx->out[0]->dtype);
    int64_t rows = count_batches(p) * p->m;
#pragma omp parallel for if (rows > 1 && p->n * (p->k + 1) >= AMP_PARALLEL_MIN / rows)
    for (int64_t i = 0; i < rows; i++)
        run_row(ctx, p, i);
    return AMP_OK;
}

/* ---- oneDNN -------------------------------------------------------------------------------- */

struct operand {
    int64_t dims[AMP_RANK_MAX], strides[AMP_RANK_MAX];
};

/* Row-major [batch.., rows, columns], stored as [batch.., columns, rows] when transposed. */
static struct operand describe(const struct amp_matmul *p, const int64_t *batch, int64_t rows,
                               int64_t columns, bool is_transposed)
{
    struct operand result;
    int64_t step = rows * columns;
    for (int i = p->batch_rank - 1; i >= 0; i--) {
        result.dims[i] = batch ? batch[i] : y_batch(p, i);
        result.strides[i] = step;
        step *= result.dims[i];
    }
    int at = p->batch_rank;
    result.dims[at] = rows;
    result.dims[at + 1] = columns;
    result.strides[at] = is_transposed ? 1 : columns;
    result.strides[at + 1] = is_transposed ? rows : 1;
    return result;
}

/* Whether C can go in as oneDNN's bias: added to the product as it is, one row for all. */
static bool is_bias(const struct amp_matmul *p)
{
    return p->alpha == 1 && p->beta == 1 && p->c_dims[0] == 1 && p->c_dims[1] == p->n;
}

/* alpha A B + beta Y: where C is no bias, it has been put into Y before. */
static dnnl_status_t append_post_ops(dnnl_post_ops_t ops, const struct amp_matmul *p)
{
    if (p->alpha != 1) {
        dnnl_status_t status = dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_linear, p->alpha, 0);
        if (status != dnnl_success)
            return status;
    }
    return p->beta == 0 ? dnnl_success
                        : dnnl_post_ops_append_sum(ops, p->beta, 0, dnnl_data_type_undef);
}

static enum amp_status set_post_ops(struct amp_ctx *ctx, struct amp_prim *prim,
                                    dnnl_primitive_attr_t attr, const struct amp_matmul *p)
{
    dnnl_post_ops_t ops;
    struct operand y = describe(p, NULL, p->m, p->n, false);
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_post_ops_create(&ops), "post-ops"));
    enum amp_status status = AMP_OK;
    if (!is_bias(p))
        status = amp_dnnl_check(ctx->err, append_post_ops(ops, p), "post-ops of a matrix product");
    if (status == AMP_OK)
        status = amp_prim_set_posts(ctx, prim, attr, ops, p->batch_rank + 2, y.dims);
    dnnl_post_ops_destroy(ops);
    return status;
}

struct layouts {
    dnnl_memory_desc_t a, b, y, bias; /* as the tensors lie; bias NULL: none */
    dnnl_memory_desc_t b_wanted;      /* of a constant B: what suits oneDNN best */
};

static enum amp_status set_layouts(struct amp_ctx *ctx, struct amp_prim *prim,
                                   const struct amp_matmul *p, struct layouts *layouts)
{
    enum amp_dtype dtype = ctx->in[0]->dtype;
    int rank = p->batch_rank + 2;
    struct operand a = describe(p, p->a_batch, p->m, p->k, p->is_a_transposed);
    struct operand b = describe(p, p->b_batch, p->k, p->n, p->is_b_transposed);
    struct operand y = describe(p, NULL, p->m, p->n, false);
    AMP_TRY(amp_prim_desc(prim, ctx->err, dtype, rank, a.dims, a.strides, &layouts->a));
    AMP_TRY(amp_prim_desc(prim, ctx->err, dtype, rank, b.dims, b.strides, &layouts->b));
    AMP_TRY(
        amp_prim_desc(prim, ctx->err, ctx->out[0]->dtype, rank, y.dims, y.strides, &layouts->y));
    layouts->b_wanted = layouts->b;
    if (ctx->is_constant[1])
        AMP_TRY(amp_prim_desc_tag(prim, ctx->err, dtype, rank, b.dims, dnnl_format_tag_any,
                                  &layouts->b_wanted));
    layouts->bias = NULL;
    return is_bias(p) ? amp_prim_desc(prim, ctx->err, dtype, 2, p->c_dims, NULL, &layouts->bias)
                      : AMP_OK;
}

static enum amp_status make(struct amp_ctx *ctx, struct amp_prim *prim)
{
    const struct amp_matmul *p = &((const struct call *)ctx)->product;
    struct layouts layouts;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(set_layouts(ctx, prim, p, &layouts));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(set_post_ops(ctx, prim, attr, p));
    AMP_TRY(amp_dnnl_check(ctx->err,
                           dnnl_matmul_primitive_desc_create(&pd, ctx->host->dnnl->engine,
                                                             layouts.a, layouts.b_wanted,
                                                             layouts.bias, layouts.y, attr),
                           "matrix product"));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, layouts.a));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_WEIGHTS, 1, layouts.b));
    if (layouts.bias != NULL)
        AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_BIAS, 2, layouts.bias));
    return amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, layouts.y);
}

static void copy_c(const struct amp_ctx *ctx)
{
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[2]);
    amp_loop_run(&loop, amp_loop_copy(ctx->out[0]->dtype), NULL);
}

enum amp_status amp_matmul_run(const struct amp_ctx *ctx, const struct amp_matmul *product)
{
    struct call call = {*ctx, *product};
    struct amp_matmul *p = &call.product;
    struct amp_tensor *y = ctx->out[0];
    merge_batches(p);
    if (amp_tensor_size(y) == 0)
        return AMP_OK;
    if (p->k == 0 && ctx->n_posts > 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "a sum over nothing");
    if (p->k == 0 && p->beta == 0) {
        memset(y->data, 0, amp_tensor_size(y));
        return AMP_OK;
    }
    if (p->k == 0 || amp_dtype_class(y->dtype) != AMP_CLASS_FLOAT)
        return amp_prim_run_or(&call.ctx, NULL, run_plain);
    if (p->beta != 0 && !is_bias(p) && y->dtype != ctx->in[2]->dtype)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "C of another type than Y");
    if (p->beta != 0 && !is_bias(p))
        copy_c(ctx);
    return amp_prim_run_or(&call.ctx, make, run_plain);
}

/* ---- MatMul -------------------------------------------------------------------------------- */

static int batch_rank(const struct amp_shape *shape)
{
    return shape->rank > 2 ? shape->rank - 2 : 0;
}

/* The batch dims of SHAPE, 1s before them up to RANK. */
static void set_batch(const struct amp_shape *shape, int rank, int64_t *batch)
{
    int missing = rank - batch_rank(shape);
    for (int i = 0; i < rank; i++)
        batch[i] = i < missing ? 1 : shape->dims[i - missing];
}

struct amp_matmul amp_matmul_of(const struct amp_shape *a, const struct amp_shape *b)
{
    struct amp_matmul p = {.alpha = 1, .k = a->dims[a->rank - 1]};
    p.m = a->rank > 1 ? a->dims[a->rank - 2] : 1;
    p.n = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    p.batch_rank = batch_rank(a) > batch_rank(b) ? batch_rank(a) : batch_rank(b);
    set_batch(a, p.batch_rank, p.a_batch);
    set_batch(b, p.batch_rank, p.b_batch);
    return p;
}

static enum amp_status fail_shapes(const struct amp_shape *a, const struct amp_shape *b,
                                   const char *why, struct amp_error *err)
{
    char text_a[200], text_b[200];
    return amp_fail(err, AMP_MODEL, "no product of shapes %s and %s: %s",
                    amp_shape_text(a, text_a, sizeof text_a),
                    amp_shape_text(b, text_b, sizeof text_b), why);
}

enum amp_status amp_matmul_shape(const struct amp_shape *a, const struct amp_shape *b,
                                 struct amp_shape *y, struct amp_error *err)
{
    y->rank = -1;
    if (a->rank == 0 || b->rank == 0)
        return fail_shapes(a, b, "a scalar is no matrix", err);
    if (a->rank < 0 || b->rank < 0)
        return AMP_OK;
    int64_t a_inner = a->dims[a->rank - 1], b_inner = b->dims[b->rank > 1 ? b->rank - 2 : 0];
    if (a_inner >= 0 && b_inner >= 0 && a_inner != b_inner)
        return fail_shapes(a, b, "inner dimensions differ", err);
    struct amp_shape of_a = {.rank = batch_rank(a)}, of_b = {.rank = batch_rank(b)};
    set_batch(a, of_a.rank, of_a.dims);
    set_batch(b, of_b.rank, of_b.dims);
    if (amp_broadcast(&of_a, &of_b, y, NULL) != AMP_OK)
        return fail_shapes(a, b, "batch dimensions do not broadcast", err);
    if (a->rank > 1)
        y->dims[y->rank++] = a->dims[a->rank - 2];
    if (b->rank > 1)
        y->dims[y->rank++] = b->dims[b->rank - 1];
    return AMP_OK;
}

static enum amp_status shape_matmul(struct amp_ctx *ctx)
{
    return amp_matmul_shape(&ctx->in[0]->shape, &ctx->in[1]->shape, &ctx->out[0]->shape, ctx->err);
}

static enum amp_status run_matmul(struct amp_ctx *ctx)
{
    struct amp_matmul product = amp_matmul_of(&ctx->in[0]->shape, &ctx->in[1]->shape);
    return amp_matmul_run(ctx, &product);
}

const struct amp_op amp_op_matmul = {
    .name = "MatMul",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .fuses = true,
    .shape = shape_matmul,
    .run = run_matmul,
    .destroy = amp_prim_destroy,
};

/* ---- Gemm ---------------------------------------------------------------------------------- */

static bool is_transposed(const struct amp_ctx *ctx, const char *name)
{
    return amp_node_int(ctx->node, name, 0) != 0;
}

/* Whether C may be added to [M, N]. Before version 7 only an attribute allowed it to broadcast. */
static bool fits(const struct amp_ctx *ctx, const struct amp_shape *c, const struct amp_shape *y)
{
    bool may_broadcast =
        ctx->node->since_version >= 7 || amp_node_int(ctx->node, "broadcast", 0) != 0;
    if (c->rank > 2 || (c->rank >= 0 && c->rank < 2 && !may_broadcast))
        return false;
    for (int i = 0; i < c->rank; i++) {
        int64_t dim = c->dims[i], of_y = y->dims[2 - c->rank + i];
        if (dim >= 0 && of_y >= 0 && dim != of_y && !(may_broadcast && dim == 1))
            return false;
    }
    return true;
}

static enum amp_status shape_gemm(struct amp_ctx *ctx)
{
    const struct amp_shape *a = &ctx->in[0]->shape, *b = &ctx->in[1]->shape;
    struct amp_shape *y = &ctx->out[0]->shape;
    if ((a->rank >= 0 && a->rank != 2) || (b->rank >= 0 && b->rank != 2))
        return fail_shapes(a, b, "both must have rank 2", ctx->err);
    int a_rows = is_transposed(ctx, "transA"), b_rows = is_transposed(ctx, "transB");
    y->rank = 2;
    y->dims[0] = a->rank < 0 ? AMP_DIM_UNKNOWN : a->dims[a_rows];
    y->dims[1] = b->rank < 0 ? AMP_DIM_UNKNOWN : b->dims[1 - b_rows];
    int64_t a_inner = a->rank < 0 ? AMP_DIM_UNKNOWN : a->dims[1 - a_rows];
    int64_t b_inner = b->rank < 0 ? AMP_DIM_UNKNOWN : b->dims[b_rows];
    if (a_inner >= 0 && b_inner >= 0 && a_inner != b_inner)
        return fail_shapes(a, b, "inner dimensions differ", ctx->err);
    char text_c[200], text_y[200];
    if (amp_has_in(ctx, 2) && !fits(ctx, &ctx->in[2]->shape, y))
        return AMP_CTX_FAIL(ctx, "C of shape %s does not broadcast to the product's %s",
                            amp_shape_text(&ctx->in[2]->shape, text_c, sizeof text_c),
                            amp_shape_text(y, text_y, sizeof text_y));
    return AMP_OK;
}

static enum amp_status run_gemm(struct amp_ctx *ctx)
{
    const int64_t *a = ctx->in[0]->shape.dims, *b = ctx->in[1]->shape.dims;
    struct amp_matmul p = {.is_a_transposed = is_transposed(ctx, "transA"),
                           .is_b_transposed = is_transposed(ctx, "transB"),
                           .alpha = amp_node_float(ctx->node, "alpha", 1)};
    p.m = a[p.is_a_transposed];
    p.k = a[!p.is_a_transposed];
    p.n = b[!p.is_b_transposed];
    p.c_dims[0] = p.c_dims[1] = 1;
    if (amp_has_in(ctx, 2)) {
        const struct amp_shape *c = &ctx->in[2]->shape;
        p.beta = amp_node_float(ctx->node, "beta", 1);
        for (int i = 0; i < c->rank; i++)
            p.c_dims[2 - c->rank + i] = c->dims[i];
    }
    return amp_matmul_run(ctx, &p);
}

const struct amp_op amp_op_gemm = {
    .name = "Gemm",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .native = AMP_NATIVE_DNNL,
    .fuses = true,
    .shape = shape_gemm,
    .run = run_gemm,
    .destroy = amp_prim_destroy,
};
