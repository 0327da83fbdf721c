/*
 * Multiplies batches of matrices. The operands are described by strides, as tensors lie or as an
 * operator sees them; batch dims are merged as far as they go, and oneDNN multiplies. float64,
 * integers, sums over nothing and what oneDNN lacks are multiplied in plain C. Shapes are the
 * caller's to check.
 */
#include "ops/kernel/kernel.h"
#include "ops/matmul/product.h"
#include "ops/matmul/row_product.h"
#include "ops/dnnl/describe.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/prim.h"

#include <string.h>

/* [batch.., rows, columns]; a batch dim of 1 is broadcast. */
struct matrices {
    int64_t dims[AMP_RANK_MAX], strides[AMP_RANK_MAX];
};

/* One product, with the strides of its operands. */
struct product {
    struct amp_ctx ctx;
    const struct amp_matmul *product;
    int batch_rank;
    struct matrices a, b, y;
    const struct amp_layout *y_layout; /* as y lies; NULL: row-major */
};

/* ---- operands ----------------------------------------------------------------------------------
 */

/* Row-major, stored as [batch.., columns, rows] when transposed. */
static struct matrices describe(int batch_rank, const int64_t *batch, int64_t rows, int64_t columns,
                                bool is_transposed)
{
    struct matrices result;
    int64_t step = rows * columns;
    for (int i = batch_rank - 1; i >= 0; i--) {
        result.dims[i] = batch[i];
        result.strides[i] = step;
        step *= batch[i];
    }
    result.dims[batch_rank] = rows;
    result.dims[batch_rank + 1] = columns;
    result.strides[batch_rank] = is_transposed ? 1 : columns;
    result.strides[batch_rank + 1] = is_transposed ? rows : 1;
    return result;
}

/* Gives OPERAND the strides of TENSOR's layout. AMP_UNSUPPORTED for blocks. */
static enum amp_status read_strides(const struct product *call, const struct amp_tensor *tensor,
                                    bool is_transposed, struct matrices *operand)
{
    int rank = tensor->shape.rank, last = call->batch_rank + 1;
    if (tensor->layout == NULL)
        return AMP_OK;
    const int64_t *strides = amp_layout_strides(tensor->layout);
    if (strides == NULL || rank < 2)
        return amp_fail(call->ctx.err, AMP_UNSUPPORTED, "a matrix in blocks");
    for (int i = 0; i < rank; i++)
        operand->strides[last - i] = strides[rank - 1 - i];
    if (is_transposed) {
        operand->strides[last] = strides[rank - 2];
        operand->strides[last - 1] = strides[rank - 1];
    }
    return AMP_OK;
}

/* Whether Y may lie in another order than row by row: only where its rows stay contiguous and
   nothing has been put into it before. One product of all rows with one B is faster than many small
   ones in another order, and oneDNN 3.7 reads wild where that meets a post-op with an operand. */
static bool may_be_ordered(const struct amp_ctx *ctx, const struct amp_matmul *p)
{
    const struct amp_layout_wish *wish = &ctx->layout_wish;
    int rank = p->batch_rank + 2;
    bool may = wish->order != NULL && wish->n_order == (size_t)rank &&
               ctx->out[0]->shape.rank == rank && wish->order[rank - 1] == rank - 1 && p->beta == 0;
    for (int i = 0; i < p->batch_rank; i++)
        may &= p->b_batch[i] != 1 || p->a_batch[i] == 1;
    for (size_t i = 0; i < ctx->n_posts; i++)
        may &= ctx->posts[i].kind != AMP_POST_BINARY;
    return may;
}

const struct amp_layout *amp_matmul_layout(const struct amp_ctx *ctx, const struct amp_matmul *p)
{
    const struct amp_tensor *y = ctx->out[0];
    const int64_t *order = ctx->layout_wish.order;
    struct amp_tensor turned = {.dtype = y->dtype, .shape.rank = y->shape.rank};
    int rank = y->shape.rank, back[AMP_RANK_MAX];
    if (!may_be_ordered(ctx, p))
        return NULL;
    for (int i = 0; i < rank; i++)
        back[i] = -1;
    for (int i = 0; i < rank; i++) {
        if (order[i] < 0 || order[i] >= rank || back[order[i]] >= 0)
            return NULL;
        back[order[i]] = i;
        turned.shape.dims[i] = y->shape.dims[order[i]];
    }
    const struct amp_layout *layout;
    return amp_layout_permute(ctx->host->dnnl->layouts, &turned, back, &layout) ? layout : NULL;
}

/* Lets Y lie as it has been laid already, or as those who take it want it. */
static void set_order(struct product *call)
{
    const struct amp_tensor *y = call->ctx.out[0];
    call->y_layout = y->data != NULL ? y->layout : amp_matmul_layout(&call->ctx, call->product);
    if (call->y_layout != NULL)
        memcpy(call->y.strides, amp_layout_strides(call->y_layout),
               (size_t)y->shape.rank * sizeof *call->y.strides);
}

static enum amp_status set_operands(struct product *call)
{
    const struct amp_matmul *p = call->product;
    int64_t y_batch[AMP_RANK_MAX];
    call->batch_rank = p->batch_rank;
    for (int i = 0; i < p->batch_rank; i++)
        y_batch[i] = p->a_batch[i] == 1 ? p->b_batch[i] : p->a_batch[i];
    call->a = describe(p->batch_rank, p->a_batch, p->m, p->k, p->is_a_transposed);
    call->b = describe(p->batch_rank, p->b_batch, p->k, p->n, p->is_b_transposed);
    call->y = describe(p->batch_rank, y_batch, p->m, p->n, false);
    AMP_TRY(read_strides(call, call->ctx.in[0], p->is_a_transposed, &call->a));
    return read_strides(call, call->ctx.in[1], p->is_b_transposed, &call->b);
}

/* Whether dim OUTER of OPERAND goes on where the dim behind it, of SIZE, ends; or both are
   broadcast. */
static bool continues(const struct matrices *operand, int outer, int64_t size)
{
    int inner = outer + 1;
    if (operand->dims[inner] != size)
        return operand->dims[outer] == 1;
    return operand->dims[outer] != 1 && operand->strides[outer] == size * operand->strides[inner];
}

static void move_dim(struct matrices *operand, int from, int to)
{
    operand->dims[to] = operand->dims[from];
    operand->strides[to] = operand->strides[from];
}

static void move_dims(struct product *call, int from, int to)
{
    move_dim(&call->a, from, to);
    move_dim(&call->b, from, to);
    move_dim(&call->y, from, to);
}

/* Makes dim OUTER and the one behind it one. */
static void join(struct matrices *operand, int outer)
{
    operand->dims[outer] *= operand->dims[outer + 1];
    operand->strides[outer] = operand->strides[outer + 1];
}

/* Makes batch dim OUTER and the one behind it one in all operands, if they are one in all. */
static bool merge_dims(struct product *call, int outer)
{
    struct matrices *operands[] = {&call->a, &call->b, &call->y};
    for (int i = 0; i < 3; i++)
        if (!continues(operands[i], outer, call->y.dims[outer + 1]))
            return false;
    for (int i = 0; i < 3; i++)
        join(operands[i], outer);
    return true;
}

/* Merges the last batch dim into the rows, where B does not have it: one big product is faster than
   many small ones. */
static void merge_rows(struct product *call)
{
    int batch = call->batch_rank - 1, rows = batch + 1, columns = batch + 2;
    if (batch < 0 || call->b.dims[batch] != 1 || !continues(&call->a, batch, call->a.dims[rows]) ||
        !continues(&call->y, batch, call->y.dims[rows]))
        return;
    join(&call->a, batch);
    join(&call->y, batch);
    move_dim(&call->b, rows, batch);
    move_dims(call, columns, rows);
    call->batch_rank--;
}

static void merge_batches(struct product *call)
{
    int kept = 0, rank = call->batch_rank;
    for (int i = 0; i < rank; i++) {
        if (call->y.dims[i] == 1)
            continue;
        move_dims(call, i, kept);
        if (kept == 0 || !merge_dims(call, kept - 1))
            kept++;
    }
    move_dims(call, rank, kept);
    move_dims(call, rank + 1, kept + 1);
    call->batch_rank = kept;
    merge_rows(call);
}

/* ---- plain C ------------------------------------------------------------------------------- */

/* The types that A, B and Y have, and the types to add them in: wider for floats; unsigned for
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

/* One row of A B: N sums of K products. */
struct row {
    int64_t n, k, a_step, b_down, b_right; /* distances between elements */
    const void *a, *b;
    void *y; /* contiguous */
};

typedef void row_product(const struct row *row);

#define PRODUCT_OF(name, A, B, T, SUM)                                               \
    AMP_CLONES(void, product_##name, (const struct row *row), (row))                 \
    {                                                                                \
        int64_t right = row->b_right;                                                \
        for (int64_t first = 0; first < row->n; first += TILE) {                     \
            SUM sums[TILE] = {0};                                                    \
            int64_t width = row->n - first < TILE ? row->n - first : TILE;           \
            for (int64_t i = 0; i < row->k; i++) {                                   \
                SUM factor = (SUM)((const A *)row->a)[i * row->a_step];              \
                const B *from = (const B *)row->b + i * row->b_down + first * right; \
                AMP_SIMD                                                             \
                for (int64_t j = 0; j < width; j++)                                  \
                    sums[j] += factor * (SUM)from[j * right];                        \
            }                                                                        \
            for (int64_t j = 0; j < width; j++)                                      \
                ((T *)row->y)[first + j] = (T)sums[j];                               \
        }                                                                            \
    }
#define PRODUCT(DTYPE, T, SUM) PRODUCT_OF(DTYPE, T, T, T, SUM)
PRODUCT_TYPES(PRODUCT)
PRODUCT_OF(bytes, uint8_t, int8_t, int32_t, uint32_t)

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
static const struct plain_product {
    row_product *product;
    row_finish *finish;
} plain_products[AMP_DTYPE_COUNT] = {PRODUCT_TYPES(ROW)},
  plain_bytes = {product_bytes, finish_INT32};

/* Bytes of either sign with int32 results, the one product of mixed types. */
static bool is_of_bytes(const struct amp_ctx *ctx)
{
    return ctx->in[0]->dtype == AMP_UINT8 && ctx->in[1]->dtype == AMP_INT8;
}

static const struct plain_product *plain_of(const struct amp_ctx *ctx)
{
    return is_of_bytes(ctx) ? &plain_bytes : &plain_products[ctx->out[0]->dtype];
}

/* Where the matrix of OPERAND begins that goes into matrix INDEX of Y. */
static int64_t matrix_of(const struct product *call, const struct matrices *operand, int64_t index)
{
    int64_t result = 0;
    for (int i = call->batch_rank - 1; i >= 0; i--) {
        result += operand->dims[i] == 1 ? 0 : index % call->y.dims[i] * operand->strides[i];
        index /= call->y.dims[i];
    }
    return result;
}

static char *element(const struct amp_tensor *tensor, int64_t index)
{
    return (char *)tensor->data + (size_t)index * (amp_dtype_bits(tensor->dtype) / 8);
}

/* Row INDEX of all rows of Y. */
static void run_row(const struct product *call, int64_t index)
{
    const struct amp_ctx *ctx = &call->ctx;
    const struct amp_matmul *p = call->product;
    int rows = call->batch_rank, columns = rows + 1;
    int64_t batch = index / call->y.dims[rows], i = index % call->y.dims[rows];
    int64_t a = matrix_of(call, &call->a, batch) + i * call->a.strides[rows];
    int64_t y = matrix_of(call, &call->y, batch) + i * call->y.strides[rows];
    const struct plain_product *functions = plain_of(ctx);
    const struct row row = {.n = p->n,
                            .k = p->k,
                            .a_step = call->a.strides[columns],
                            .b_down = call->b.strides[rows],
                            .b_right = call->b.strides[columns],
                            .a = element(ctx->in[0], a),
                            .b = element(ctx->in[1], matrix_of(call, &call->b, batch)),
                            .y = element(ctx->out[0], y)};
    functions->product(&row);
    if (p->alpha == 1 && p->beta == 0)
        return;
    int64_t c_row = p->c_dims[0] == 1 ? 0 : i * p->c_dims[1], c_step = p->c_dims[1] == 1 ? 0 : 1;
    functions->finish(p, row.y, p->beta == 0 ? NULL : element(ctx->in[2], c_row), c_step);
}

static enum amp_status run_plain(struct amp_ctx *ctx, void *what)
{
    const struct product *call = what;
    if (plain_of(ctx)->product == NULL)
        return amp_no_kernel(ctx, ctx->out[0]->dtype);
    int64_t rows = 1, work = call->product->n * (call->product->k + 1);
    for (int i = 0; i <= call->batch_rank; i++)
        rows *= call->y.dims[i];
#pragma omp parallel for if (rows > 1 && work >= AMP_PARALLEL_MIN / rows)
    for (int64_t i = 0; i < rows; i++)
        run_row(call, i);
    ctx->out[0]->layout = call->y_layout;
    return AMP_OK;
}

/* ---- oneDNN -------------------------------------------------------------------------------- */

enum { PACKED_MIN = 1 << 16 }; /* elements of B */

/* Whether C can go in as oneDNN's bias: added to the product as it is, one row for all. */
static bool is_bias(const struct amp_matmul *p)
{
    return p->alpha == 1 && p->beta == 1 && p->c_dims[0] == 1 && p->c_dims[1] == p->n;
}

/* Whether C is put into Y before the product is added to that. */
static bool is_added_before(const struct amp_matmul *p)
{
    return p->beta != 0 && !is_bias(p);
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

static enum amp_status set_post_ops(const struct product *call, struct amp_prim *prim,
                                    struct amp_ctx *ctx)
{
    dnnl_post_ops_t ops;
    AMP_TRY(amp_dnnl_check(ctx->err, dnnl_post_ops_create(&ops), "post-ops"));
    enum amp_status status = AMP_OK;
    if (!is_bias(call->product))
        status = amp_dnnl_check(ctx->err, append_post_ops(ops, call->product),
                                "post-ops of a matrix product");
    if (status == AMP_OK)
        status = amp_prim_set_posts(ctx, prim, ops, call->batch_rank + 2, call->y.dims);
    dnnl_post_ops_destroy(ops);
    return status;
}

struct product_descs {
    dnnl_memory_desc_t a, b, y, bias; /* as the tensors lie; bias NULL: none */
    dnnl_memory_desc_t b_wanted;      /* of a constant B: what suits oneDNN best */
    bool is_inner;                    /* of an inner product: B and the bias as that has them */
};

/* Whether A B is better asked for as an inner product, oneDNN's other kernel for AVX2: that of
   matrix products deals rows out by up to 256, so that 257 keep one of two threads busy alone. */
static bool is_inner_product(const struct product *call)
{
    enum { PIECE = 256 };
    const struct amp_ctx *ctx = &call->ctx;
    bool is_for_avx2 = amp_cpu_has(AMP_CPU_V3) && !amp_cpu_has(AMP_CPU_AVX512);
    return is_for_avx2 && call->batch_rank == 0 && ctx->is_constant[1] &&
           ctx->in[0]->dtype == AMP_FLOAT && ctx->in[1]->dtype == AMP_FLOAT &&
           call->y.dims[0] > PIECE && call->a.strides[1] == 1 && call->y.strides[1] == 1 &&
           call->a.strides[0] == call->a.dims[1] && call->y.strides[0] == call->y.dims[1];
}

/* Makes *B the other way round, [n, k], as inner products have their weights. */
static void turn(struct matrices *b)
{
    struct matrices turned = *b;
    for (int i = 0; i < 2; i++) {
        turned.dims[i] = b->dims[1 - i];
        turned.strides[i] = b->strides[1 - i];
    }
    *b = turned;
}

static enum amp_status set_descs(const struct product *call, struct amp_prim *prim,
                                 struct product_descs *descs)
{
    const struct amp_ctx *ctx = &call->ctx;
    enum amp_dtype dtype = ctx->in[0]->dtype, b_dtype = ctx->in[1]->dtype;
    int rank = call->batch_rank + 2;
    struct matrices b = call->b;
    descs->is_inner = is_inner_product(call);
    if (descs->is_inner)
        turn(&b);
    AMP_TRY(amp_prim_desc(prim, ctx->err,
                          amp_form_strided(dtype, rank, call->a.dims, call->a.strides), &descs->a));
    AMP_TRY(amp_prim_desc(prim, ctx->err, amp_form_strided(b_dtype, rank, b.dims, b.strides),
                          &descs->b));
    AMP_TRY(amp_prim_desc(prim, ctx->err,
                          amp_form_strided(ctx->out[0]->dtype, rank, call->y.dims, call->y.strides),
                          &descs->y));
    descs->b_wanted = descs->b;
    if (ctx->is_constant[1])
        AMP_TRY(amp_prim_desc(prim, ctx->err,
                              amp_form_tagged(b_dtype, rank, b.dims, dnnl_format_tag_any),
                              &descs->b_wanted));
    descs->bias = NULL;
    const int64_t *c_dims = call->product->c_dims; /* [1, n] of a bias */
    struct amp_desc_form bias = descs->is_inner ? amp_form_row_major(dtype, 1, c_dims + 1)
                                                : amp_form_row_major(dtype, 2, c_dims);
    return is_bias(call->product) ? amp_prim_desc(prim, ctx->err, bias, &descs->bias) : AMP_OK;
}

/* Whether oneDNN would pack a constant B, or read it as it lies, in each run again. For products of
   a single row that is as fast, and where B is small: it stays in the cache. */
static bool packs_in_each_run(const struct product *call, const_dnnl_primitive_desc_t pd)
{
    const struct amp_matmul *p = call->product;
    return call->ctx.is_constant[1] && call->y.dims[call->batch_rank] > 1 &&
           p->n >= PACKED_MIN / p->k && strncmp(amp_describe_implementation(pd), "gemm:", 5) == 0;
}

static enum amp_status create(struct amp_ctx *ctx, const struct product_descs *descs,
                              dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *pd)
{
    dnnl_engine_t engine = ctx->host->dnnl->engine;
    dnnl_status_t status =
        descs->is_inner
            ? dnnl_inner_product_forward_primitive_desc_create(pd, engine, dnnl_forward_inference,
                                                               descs->a, descs->b_wanted,
                                                               descs->bias, descs->y, attr)
            : dnnl_matmul_primitive_desc_create(pd, engine, descs->a, descs->b_wanted, descs->bias,
                                                descs->y, attr);
    return amp_dnnl_check(ctx->err, status, "matrix product");
}

/* Moves *PD on to what oneDNN has, behind that, for a B that has been packed once. Where that is
   none, *PD is made anew: a descriptor cannot be moved back, nor a copy of one on. */
static enum amp_status choose_packed(struct amp_ctx *ctx, const struct product_descs *descs,
                                     dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *pd)
{
    dnnl_status_t status = dnnl_primitive_desc_next_impl(*pd);
    if (status == dnnl_success && strncmp(amp_describe_implementation(*pd), "brg_matmul:", 11) == 0)
        return AMP_OK;
    dnnl_primitive_desc_destroy(*pd);
    return create(ctx, descs, attr, pd);
}

static enum amp_status make_product(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    const struct product *call = what;
    struct product_descs descs;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
    AMP_TRY(set_descs(call, prim, &descs));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    AMP_TRY(set_post_ops(call, prim, ctx));
    AMP_TRY(create(ctx, &descs, attr, &pd));
    if (packs_in_each_run(call, pd))
        AMP_TRY(choose_packed(ctx, &descs, attr, &pd));
    AMP_TRY(amp_prim_create_fast(ctx, prim, pd));
    if (is_added_before(call->product))
        amp_prim_set_partial(prim);
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, descs.a));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_WEIGHTS, 1, descs.b));
    if (descs.bias != NULL)
        AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_BIAS, 2, descs.bias));
    return call->y_layout == NULL || ctx->out[0]->data != NULL
               ? amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, descs.y)
               : amp_prim_bind_layout(ctx, prim, DNNL_ARG_DST, descs.y, call->y_layout);
}

static void copy_c(const struct amp_ctx *ctx)
{
    struct amp_loop loop;
    amp_loop_init(&loop, ctx->out[0]->shape.rank, ctx->out[0]->shape.dims);
    amp_loop_tensor(&loop, ctx->out[0]);
    amp_loop_tensor(&loop, ctx->in[2]);
    amp_loop_run(&loop, amp_loop_copy(ctx->out[0]->dtype), NULL);
}

/* ---- few rows -------------------------------------------------------------------------------- */

/* Whether ops/matmul/row_product.h can multiply what CTX and P describe, by a B of any dtype. */
static bool has_few_rows(const struct amp_ctx *ctx, const struct amp_matmul *p)
{
    int64_t rows = p->m;
    for (int d = 0; d < p->batch_rank; d++)
        rows *= p->a_batch[d];
    return ctx->in[1]->shape.rank == 2 && p->n > 0 && p->k > 0 && rows > 0 &&
           rows <= AMP_ROWS_MAX && (p->m == 1 || !p->is_a_transposed) && amp_row_product_is_there();
}

/* The elements from which on constant weights are read in the lower dtype: fewer stay in a core's
   cache in float32, where there is nothing to widen. */
enum { LOWER_MIN = 1 << 16 };

bool amp_matmul_reads_lower(const struct amp_ctx *ctx, uint32_t i, const struct amp_matmul *p)
{
    return i == 1 && ctx->n_posts == 0 && !ctx->reads_casts && has_few_rows(ctx, p) &&
           (!ctx->is_constant[1] || p->n * p->k >= LOWER_MIN);
}

/* Bytes of a model's constants up to which rows in float32 are for us: where they are more they
   come from memory, which oneDNN is as fast as. */
enum { CACHED_MAX = 16 << 20 };

/* Whether the model says how many rows there are: where that may change, a B that oneDNN has packed
   for many rows would be wanted once more as it was. */
static bool has_fixed_rows(const struct amp_ctx *ctx)
{
    uint32_t a = ctx->node->n_inputs > 0 ? ctx->node->inputs[0] : AMP_NONE;
    struct amp_shape shape;
    if (a == AMP_NONE)
        return false;
    amp_value_shape(amp_value_at(ctx->model, a), &shape);
    return amp_shape_equal(&shape, &ctx->in[0]->shape);
}

static bool is_for_rows(const struct product *call)
{
    const struct amp_ctx *ctx = &call->ctx;
    const struct amp_matmul *p = call->product;
    if (ctx->in[0]->dtype != AMP_FLOAT || !has_few_rows(ctx, p))
        return false;
    if (amp_dtype_is_lower(ctx->in[1]->dtype))
        return true;
    return ctx->in[1]->dtype == AMP_FLOAT && ctx->in[1]->layout == NULL &&
           ctx->in[0]->layout == NULL && !p->is_a_transposed && has_fixed_rows(ctx) &&
           ctx->host->constants_size <= CACHED_MAX;
}

/* What is most of it: Y = Y + C, N elements. */
AMP_CLONES(void, add_row, (float *y, const float *c, int64_t n), (y, c, n))
{
    AMP_SIMD for (int64_t j = 0; j < n; j++) y[j] += c[j];
}

/* Y = alpha Y + beta C */
static void finish_rows(const struct product *call)
{
    const struct amp_ctx *ctx = &call->ctx;
    const struct amp_matmul *p = call->product;
    int64_t c_row = p->c_dims[0] == 1 ? 0 : p->c_dims[1], c_step = p->c_dims[1] == 1 ? 0 : 1;
    const float *c = p->beta == 0 ? NULL : ctx->in[2]->data;
    bool is_sum = p->alpha == 1 && p->beta == 1 && c_step == 1;
    for (int64_t i = 0; i < call->y.dims[0] && (p->alpha != 1 || p->beta != 0); i++) {
        float *y = (float *)ctx->out[0]->data + i * p->n;
        if (is_sum)
            add_row(y, c + i * c_row, p->n);
        else
            plain_products[AMP_FLOAT].finish(p, y, c == NULL ? NULL : c + i * c_row, c_step);
    }
}

/* The rows of A may lie anywhere. */
static enum amp_status run_rows(struct product *call)
{
    struct amp_ctx *ctx = &call->ctx;
    const struct amp_matmul *p = call->product;
    if (ctx->n_posts > 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "post-ops of few rows");
    merge_batches(call);
    if (call->batch_rank > 0 || ctx->in[1]->layout != NULL || (call->a.strides[1] != 1 && p->k > 1))
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "rows that do not lie in order");
    if (ctx->in[1]->data == NULL || (p->beta != 0 && ctx->in[2]->data == NULL))
        return AMP_AGAIN;
    AMP_TRY(ctx->out[0]->data == NULL ? amp_ctx_alloc(ctx, 0) : AMP_OK);
    ctx->out[0]->layout = NULL;
    amp_prim_destroy(*ctx->state); /* it has another form of B */
    *ctx->state = NULL;
    amp_row_product_run(&(struct amp_row_product){.m = call->y.dims[0],
                                                  .n = p->n,
                                                  .k = p->k,
                                                  .a_row = call->a.strides[0],
                                                  .is_b_transposed = p->is_b_transposed,
                                                  .b_dtype = ctx->in[1]->dtype,
                                                  .a = ctx->in[0]->data,
                                                  .b = ctx->in[1]->data,
                                                  .y = ctx->out[0]->data});
    finish_rows(call);
    return AMP_OK;
}

/* Of integers, oneDNN multiplies bytes alone. */
static bool is_for_dnnl(const struct amp_ctx *ctx, const struct amp_matmul *p)
{
    return is_of_bytes(ctx) ? amp_dnnl_adds_bytes(p->k)
                            : amp_dtype_class(ctx->out[0]->dtype) == AMP_CLASS_FLOAT;
}

enum amp_status amp_matmul_run(const struct amp_ctx *ctx, const struct amp_matmul *p)
{
    struct product call = {.ctx = *ctx, .product = p};
    struct amp_prim_call prim = {.make = make_product, .plain = run_plain, .what = &call};
    struct amp_tensor *y = ctx->out[0];
    bool adds = is_added_before(p);
    if (amp_shape_count(&y->shape) == 0 || p->k == 0 || adds)
        AMP_TRY(y->data == NULL ? amp_ctx_alloc(&call.ctx, 0) : AMP_OK);
    if (amp_shape_count(&y->shape) == 0)
        return AMP_OK;
    if (p->k == 0 && ctx->n_posts > 0)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "a sum over nothing");
    if (p->k == 0 && p->beta == 0) {
        memset(y->data, 0, amp_tensor_size(y));
        return AMP_OK;
    }
    AMP_TRY(set_operands(&call));
    if (is_for_rows(&call))
        return run_rows(&call);
    if (p->k == 0 || !is_for_dnnl(ctx, p)) {
        merge_batches(&call);
        prim.make = NULL;
        return amp_prim_run_call(&call.ctx, &prim);
    }
    if (adds && y->dtype != ctx->in[2]->dtype)
        return amp_fail(ctx->err, AMP_UNSUPPORTED, "C of another type than Y");
    if (adds && ctx->in[2]->data == NULL)
        return AMP_AGAIN;
    if (adds)
        copy_c(ctx);
    set_order(&call);
    merge_batches(&call);
    return amp_prim_run_call(&call.ctx, &prim);
}
