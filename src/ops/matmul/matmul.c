/*
 * MatMul and Gemm: shapes, and what is multiplied with what. ops/matmul/product.c computes it.
 */
#include "ops/bound.h"
#include "ops/matmul/matmul.h"

#include "ops/dnnl/prim.h"
#include "ops/flops.h"
#include "ops/kernel/kernel.h"

/* ---- MatMul -------------------------------------------------------------------------------- */

extern const struct amp_op amp_op_qlinear_matmul;

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

static bool reads_lower(const struct amp_ctx *ctx, uint32_t i)
{
    struct amp_matmul product = amp_matmul_of(&ctx->in[0]->shape, &ctx->in[1]->shape);
    return amp_matmul_reads_lower(ctx, i, &product);
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
    .bound = amp_bound_product,
    .native = AMP_NATIVE_DNNL,
    .has_strides = true,
    .reads_lower = reads_lower,
    .fuses = true,
    .role = AMP_ROLE_MATMUL,
    .linear = &(const struct amp_linear){.channel = 1, .is_last = true},
    .integer = &(const struct amp_integer_form){.op = &amp_op_qlinear_matmul,
                                                .has_weights = true,
                                                .channel = -1},
    .gradient = AMP_GRADIENT(
        {.term = "SumTo(MatMul(g, Transpose(b; perm=^b)))", .when = "a=matrix b=matrix"},
        {.input = 1,
         .term = "SumTo(MatMul(Transpose(a; perm=^a), g))",
         .when = "a=matrix b=matrix"},
        {.term = "SumTo(Squeeze(MatMul(b, Unsqueeze(g, [-1])), [-1]))",
         .when = "a=vector b=matrix"},
        {.input = 1,
         .term = "SumTo(Mul(Unsqueeze(a, [-1]), Unsqueeze(g, [-2])))",
         .when = "a=vector b=matrix"},
        {.term = "SumTo(Mul(Unsqueeze(g, [-1]), b))", .when = "a=matrix b=vector"},
        {.input = 1, .term = "SumTo(Mul(a, Unsqueeze(g, [-1])))", .when = "a=matrix b=vector"},
        {.term = "Mul(g, b)", .when = "a=vector b=vector"},
        {.input = 1, .term = "Mul(g, a)", .when = "a=vector b=vector"}),
    .flops = {amp_flops_matmul, 0},
    .shape = shape_matmul,
    .run = run_matmul,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
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
        !amp_broadcasts_by_attributes(ctx->node) || amp_node_int(ctx->node, "broadcast", 0) != 0;
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

/* What is multiplied, without C. */
static struct amp_matmul gemm_of(const struct amp_ctx *ctx)
{
    const int64_t *a = ctx->in[0]->shape.dims, *b = ctx->in[1]->shape.dims;
    struct amp_matmul p = {.is_a_transposed = is_transposed(ctx, "transA"),
                           .is_b_transposed = is_transposed(ctx, "transB"),
                           .alpha = amp_node_float(ctx->node, "alpha", 1),
                           .c_dims = {1, 1}};
    p.m = a[p.is_a_transposed];
    p.k = a[!p.is_a_transposed];
    p.n = b[!p.is_b_transposed];
    return p;
}

static bool gemm_reads_lower(const struct amp_ctx *ctx, uint32_t i)
{
    struct amp_matmul p = gemm_of(ctx);
    return amp_matmul_reads_lower(ctx, i, &p);
}

static enum amp_status run_gemm(struct amp_ctx *ctx)
{
    struct amp_matmul p = gemm_of(ctx);
    if (amp_has_in(ctx, 2)) {
        const struct amp_shape *c = &ctx->in[2]->shape;
        p.beta = amp_node_float(ctx->node, "beta", 1);
        for (int i = 0; i < c->rank; i++)
            p.c_dims[2 - c->rank + i] = c->dims[i];
    }
    return amp_matmul_run(ctx, &p);
}

/* Before version 7 an attribute said whether C may broadcast. */
static bool may_broadcast(const struct amp_node *gemm)
{
    return !amp_broadcasts_by_attributes(gemm);
}

const struct amp_op amp_op_gemm = {
    .name = "Gemm",
    .newest = 13,
    .effect = AMP_COMPUTES,
    .bound = amp_bound_product,
    .native = AMP_NATIVE_DNNL,
    .has_strides = true,
    .reads_lower = gemm_reads_lower,
    .fuses = true,
    .linear = &(const struct amp_linear){.has_added = true,
                                         .channel = 1,
                                         .flip = "transB",
                                         .alpha = "alpha",
                                         .beta = "beta",
                                         .suits = may_broadcast},
    .gradient = AMP_GRADIENT(
        {.term = "Gemm(g, b; alpha=$alpha, transB=!transB)", .when = "transA=0"},
        {.term = "Gemm(b, g; alpha=$alpha, transA=@transB, transB=1)"},
        {.input = 1, .term = "Gemm(a, g; alpha=$alpha, transA=!transA)", .when = "transB=0"},
        {.input = 1, .term = "Gemm(g, a; alpha=$alpha, transA=1, transB=@transA)"},
        {.input = 2, .term = "SumTo(Mul(g, $beta))"}),
    .flops = {amp_flops_matmul, 0},
    .shape = shape_gemm,
    .run = run_gemm,
    .repeat = &amp_prim_repeat,
    .destroy = amp_prim_destroy,
    .reads = amp_prim_reads,
};
