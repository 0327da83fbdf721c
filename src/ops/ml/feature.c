/*
 * ArrayFeatureExtractor and FeatureVectorizer (ai.onnx.ml 1): the first picks columns of features,
 * the second puts the features of several inputs side by side.
 */
#include "ops/ml/ml.h"
#include "ops/kernel/data_movement.h"
#include "ops/kernel/gather_blocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- ArrayFeatureExtractor ---- */

/* As input 0, but for the last dim; a vector becomes one row. */
static enum amp_status extractor_shape(struct amp_ctx *ctx)
{
    const struct amp_shape *x = &ctx->in[0]->shape;
    struct amp_shape *out = &ctx->out[0]->shape;
    *out = *x;
    if (x->rank < 0)
        return AMP_OK;
    if (x->rank == 0)
        return AMP_CTX_FAIL(ctx, "input 0 is a scalar; features are needed");
    if (x->rank == 1)
        *out = (struct amp_shape){2, {1, 0}};
    out->dims[out->rank - 1] = amp_shape_count(&ctx->in[1]->shape);
    return AMP_OK;
}

static enum amp_status extractor_run(struct amp_ctx *ctx)
{
    const struct amp_tensor *x = ctx->in[0];
    int64_t dim = x->shape.dims[x->shape.rank - 1], n = amp_shape_count(&ctx->in[1]->shape);
    const int64_t *indices = ctx->in[1]->data;
    for (int64_t i = 0; i < n; i++)
        if (indices[i] < 0 || indices[i] >= dim)
            return AMP_CTX_FAIL(ctx, "index %lld; input 0 has %lld features", (long long)indices[i],
                                (long long)dim);
    struct amp_gather take = {.from = x->data,
                              .to = ctx->out[0]->data,
                              .block = amp_dtype_bits(x->dtype) / 8,
                              .outer = amp_shape_product(&x->shape, 0, x->shape.rank - 1),
                              .dim = dim,
                              .indices = indices,
                              .n = n};
    amp_gather_run(&take);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_array_feature_extractor = {.name = "ArrayFeatureExtractor",
                                                      .domain = AMP_ML_DOMAIN,
                                                      .newest = 1,
                                                      .effect = AMP_COMPUTES,
                                                      .native = AMP_NATIVE_C,
                                                      .shape = extractor_shape,
                                                      .run = extractor_run};

/* ---- FeatureVectorizer ---- */

/* Rows of an input: all dims but the first make one. */
static int64_t rows_of(const struct amp_shape *shape)
{
    return shape->rank < 0 ? AMP_DIM_UNKNOWN : shape->rank <= 1 ? 1 : shape->dims[0];
}

static int64_t row_size(const struct amp_shape *shape)
{
    return amp_shape_product(shape, shape->rank > 1, shape->rank);
}

/* The features of each input in the output; their sum to *TOTAL. */
static enum amp_status read_sizes(struct amp_ctx *ctx, const int64_t **sizes, int64_t *total)
{
    size_t count;
    *sizes = amp_node_ints(ctx->node, "inputdimensions", &count);
    *total = 0;
    AMP_TRY(amp_list_check(ctx, "inputdimensions", (int64_t)count, ctx->n_in, "inputs"));
    for (size_t i = 0; i < count; i++) {
        if ((*sizes)[i] < 0)
            return AMP_CTX_FAIL(ctx, "attribute 'inputdimensions' has the value %lld",
                                (long long)(*sizes)[i]);
        AMP_TRY(amp_dim_add(*total, (*sizes)[i], total, ctx->err));
    }
    return AMP_OK;
}

static enum amp_status vectorizer_shape(struct amp_ctx *ctx)
{
    const int64_t *sizes;
    int64_t total;
    AMP_TRY(read_sizes(ctx, &sizes, &total));
    ctx->out[0]->shape = (struct amp_shape){2, {rows_of(&ctx->in[0]->shape), total}};
    return AMP_OK;
}

/* Puts input X into SIZE columns of the output from COLUMN on: what is too much is left out, what
   lacks is 0. ROW has room for a row of X. */
static void put_input(const struct amp_tensor *out, const struct amp_tensor *x, int64_t column,
                      int64_t size, union amp_wide *row)
{
    struct amp_rows rows = {x, rows_of(&x->shape), row_size(&x->shape)};
    int64_t columns = out->shape.dims[1];
    int64_t used = size < rows.features ? size : rows.features;
    for (int64_t r = 0; r < rows.count; r++) {
        float *to = (float *)out->data + r * columns + column;
        amp_rows_load(&rows, r, row);
        for (int64_t i = 0; i < used; i++)
            to[i] = (float)row[i].f;
    }
}

static enum amp_status vectorizer_run(struct amp_ctx *ctx)
{
    const int64_t *sizes;
    int64_t column = 0, total;
    struct amp_tensor *out = ctx->out[0];
    AMP_TRY(read_sizes(ctx, &sizes, &total));
    if (amp_tensor_size(out) > 0)
        memset(out->data, 0, amp_tensor_size(out));
    for (uint32_t i = 0; i < ctx->n_in; i++) {
        const struct amp_tensor *x = ctx->in[i];
        if (rows_of(&x->shape) != out->shape.dims[0])
            return AMP_CTX_FAIL(ctx, "input %u has %lld rows, input 0 %lld", i,
                                (long long)rows_of(&x->shape), (long long)out->shape.dims[0]);
        union amp_wide *row = amp_xmalloc((size_t)row_size(&x->shape), sizeof *row);
        put_input(out, x, column, sizes[i], row);
        free(row);
        column += sizes[i];
    }
    return AMP_OK;
}

const struct amp_op amp_op_feature_vectorizer = {.name = "FeatureVectorizer",
                                                 .domain = AMP_ML_DOMAIN,
                                                 .newest = 1,
                                                 .effect = AMP_COMPUTES,
                                                 .native = AMP_NATIVE_C,
                                                 .shape = vectorizer_shape,
                                                 .run = vectorizer_run};
