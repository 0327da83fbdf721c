/*
 * Maps (ai.onnx.ml 1): ZipMap makes them of rows, DictVectorizer and CastMap make tensors of them.
 * A map is a list of two vectors, keys and values (core/tensor.h).
 */
#include "ops/kernel/tensor_cast.h"
#include "ops/ml/ml.h"
#include "ops/kernel/data_movement.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS, VALUES };

/* ---- ZipMap ---- */

/* All keys: they are the same in every map. */
static enum amp_status read_keys(struct amp_ctx *ctx, int64_t features, struct amp_tensor *keys)
{
    AMP_TRY(amp_list_of(ctx, "classlabels_strings", keys));
    const char *name = "classlabels_strings";
    if (amp_list_count(keys) == 0) {
        name = "classlabels_int64s";
        AMP_TRY(amp_list_of(ctx, name, keys));
    }
    AMP_TRY(amp_list_check(ctx, name, amp_list_count(keys), features, "columns"));
    if (keys->dtype == AMP_STRING)
        return amp_strings_own(keys, ctx->err);
    struct amp_tensor owned = {.dtype = AMP_INT64, .shape = keys->shape};
    AMP_TRY(amp_tensor_alloc(&owned, ctx->err));
    if (amp_list_count(keys) > 0)
        amp_tensor_copy(keys, owned.data);
    *keys = owned;
    return AMP_OK;
}

static enum amp_status make_map(struct amp_ctx *ctx, const struct amp_rows *rows, int64_t index,
                                const struct amp_tensor *keys, struct amp_tensor *map)
{
    AMP_TRY(amp_list_alloc(map, AMP_FORM_MAP, 2, ctx->err));
    struct amp_tensor *values = &amp_list_items(map)[VALUES];
    map->dtype = AMP_FLOAT;
    amp_tensor_refer(&amp_list_items(map)[KEYS], keys);
    *values = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {1, {rows->features}}};
    AMP_TRY(amp_tensor_alloc(values, ctx->err));
    size_t size = (size_t)rows->features * sizeof(float);
    if (size > 0)
        memcpy(values->data, (const float *)rows->x->data + index * rows->features, size);
    return AMP_OK;
}

static enum amp_status zip_run(struct amp_ctx *ctx)
{
    struct amp_rows rows;
    struct amp_tensor keys;
    AMP_TRY(amp_rows_of(ctx, &rows));
    AMP_TRY(read_keys(ctx, rows.features, &keys));
    enum amp_status status =
        amp_list_alloc(ctx->out[0], AMP_FORM_SEQUENCE, (size_t)rows.count, ctx->err);
    for (int64_t i = 0; i < rows.count && status == AMP_OK; i++)
        status = make_map(ctx, &rows, i, &keys, &amp_list_items(ctx->out[0])[i]);
    amp_tensor_release(&keys);
    return status;
}

const struct amp_op amp_op_zip_map = {.name = "ZipMap",
                                      .domain = AMP_ML_DOMAIN,
                                      .newest = 1,
                                      .effect = AMP_COMPUTES,
                                      .native = AMP_NATIVE_C,
                                      .run = zip_run};

/* ---- Entries of a map by key ---- */

/* Below, at or above 0 as key I of A stands to key K of B, of one dtype. */
static int compare_keys(const struct amp_tensor *a, size_t i, const struct amp_tensor *b, size_t k)
{
    if (a->dtype != AMP_STRING) {
        int64_t x = amp_tensor_int(a, i), y = amp_tensor_int(b, k);
        return x < y ? -1 : x > y;
    }
    struct amp_str x = ((const struct amp_str *)a->data)[i];
    struct amp_str y = ((const struct amp_str *)b->data)[k];
    size_t shorter = x.size < y.size ? x.size : y.size;
    int order = shorter > 0 ? memcmp(x.data, y.data, shorter) : 0;
    return order != 0 ? order : x.size < y.size ? -1 : x.size > y.size;
}

/* For qsort_r. */
static int compare_entries(const void *a, const void *b, void *keys)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    int order = compare_keys(keys, i, keys, k);
    return order != 0 ? order : i < k ? -1 : i > k;
}

/* The indices of the keys in ascending order, to be freed. */
static size_t *sort_keys(struct amp_tensor *keys)
{
    size_t count = amp_tensor_count(keys);
    size_t *order = amp_xmalloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_entries, keys);
    return order;
}

/* The entry of KEYS, whose ORDER sort_keys gave, with key I of OTHER; -1: there is none. */
static int64_t find_key(const struct amp_tensor *keys, const size_t *order,
                        const struct amp_tensor *other, size_t i)
{
    size_t low = 0, high = amp_tensor_count(keys);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int found = compare_keys(other, i, keys, order[middle]);
        if (found == 0)
            return (int64_t)order[middle];
        low = found > 0 ? middle + 1 : low;
        high = found > 0 ? high : middle;
    }
    return -1;
}

/* AMP_MODEL unless KEYS are of DTYPE. */
static enum amp_status check_keys(struct amp_ctx *ctx, const struct amp_tensor *keys,
                                  enum amp_dtype dtype)
{
    if (keys->dtype == dtype)
        return AMP_OK;
    return AMP_CTX_FAIL(ctx, "the map has keys of %s; %s is needed", amp_dtype_name(keys->dtype),
                        amp_dtype_name(dtype));
}

/* ---- DictVectorizer ---- */

static const struct amp_attr *vocabulary_of(const struct amp_ctx *ctx)
{
    const struct amp_attr *strings = amp_node_attr(ctx->node, "string_vocabulary");
    return strings ? strings : amp_node_attr(ctx->node, "int64_vocabulary");
}

static enum amp_status dict_shape(struct amp_ctx *ctx)
{
    const struct amp_attr *vocabulary = vocabulary_of(ctx);
    if (vocabulary == NULL)
        return AMP_CTX_FAIL(ctx, "there is no vocabulary");
    ctx->out[0]->shape = (struct amp_shape){2, {1, (int64_t)vocabulary->count}};
    return AMP_OK;
}

static enum amp_status dict_run(struct amp_ctx *ctx)
{
    struct amp_tensor *map = amp_list_items(ctx->in[0]), *out = ctx->out[0], words;
    bool has_strings = amp_node_attr(ctx->node, "string_vocabulary") != NULL;
    size_t size = amp_dtype_bits(out->dtype) / 8;
    AMP_TRY(check_keys(ctx, &map[KEYS], has_strings ? AMP_STRING : AMP_INT64));
    if (map[VALUES].dtype != out->dtype)
        return AMP_CTX_FAIL(ctx, "the map has values of %s; the output is %s",
                            amp_dtype_name(map[VALUES].dtype), amp_dtype_name(out->dtype));
    AMP_TRY(amp_list_of(ctx, has_strings ? "string_vocabulary" : "int64_vocabulary", &words));
    if (amp_tensor_size(out) > 0)
        memset(out->data, 0, amp_tensor_size(out));
    size_t *order = sort_keys(&map[KEYS]);
    for (size_t i = 0; i < amp_tensor_count(&words); i++) {
        int64_t entry = find_key(&map[KEYS], order, &words, i);
        if (entry >= 0)
            memcpy((char *)out->data + i * size,
                   (const char *)map[VALUES].data + (size_t)entry * size, size);
    }
    free(order);
    amp_tensor_release(&words);
    return amp_move_done(ctx, 0);
}

const struct amp_op amp_op_dict_vectorizer = {.name = "DictVectorizer",
                                              .domain = AMP_ML_DOMAIN,
                                              .newest = 1,
                                              .effect = AMP_COMPUTES,
                                              .native = AMP_NATIVE_C,
                                              .shape = dict_shape,
                                              .run = dict_run};

/* ---- CastMap ---- */

enum { DENSE, SPARSE };

static enum amp_status read_form(const struct amp_ctx *ctx, int *form)
{
    static const char *const forms[] = {"DENSE", "SPARSE", NULL};
    *form = DENSE;
    return amp_ctx_choice(ctx, "map_form", forms, form);
}

/* One row: the values of the map, or one for each key below max_map. */
static enum amp_status cast_shape(struct amp_ctx *ctx)
{
    int64_t size = amp_node_int(ctx->node, "max_map", 1);
    int form;
    AMP_TRY(read_form(ctx, &form));
    if (form == SPARSE && size < 0)
        return AMP_CTX_FAIL(ctx, "attribute 'max_map' is %lld", (long long)size);
    ctx->out[0]->shape = (struct amp_shape){2, {1, form == SPARSE ? size : AMP_DIM_UNKNOWN}};
    return AMP_OK;
}

/* Puts the values CAST, in the map's order, into the output. */
static enum amp_status put_values(struct amp_ctx *ctx, const struct amp_tensor *cast,
                                  struct amp_tensor *keys, int form)
{
    static const struct amp_str no_string = {"0.f", 3}; /* as ONNX Runtime has it */
    struct amp_tensor *out = ctx->out[0];
    size_t count = amp_tensor_count(keys), size = amp_dtype_bits(out->dtype) / 8;
    size_t *order = sort_keys(keys);
    amp_fill(out->data, out->dtype == AMP_STRING ? &no_string : NULL, size, amp_tensor_count(out));
    for (size_t i = 0; i < count; i++) {
        int64_t at = form == DENSE ? (int64_t)i : amp_tensor_int(keys, order[i]);
        if (at < 0) {
            free(order);
            return AMP_CTX_FAIL(ctx, "key %lld of a sparse map", (long long)at);
        }
        if (at < out->shape.dims[1])
            memcpy((char *)out->data + (size_t)at * size,
                   (const char *)cast->data + order[i] * size, size);
    }
    free(order);
    return amp_move_done(ctx, 0);
}

/* Values of attribute cast_to. */
static const char *const cast_names[] = {"TO_FLOAT", "TO_STRING", "TO_INT64", NULL};

static enum amp_dtype cast_dtype(const struct amp_model *model, const struct amp_node *node,
                                 uint32_t i)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_STRING, AMP_INT64};
    const char *to = amp_node_string(node, "cast_to", cast_names[0]);
    (void)model, (void)i; /* there is one output */
    for (size_t k = 0; cast_names[k] != NULL; k++)
        if (strcmp(to, cast_names[k]) == 0)
            return dtypes[k];
    return AMP_UNDEFINED;
}

static enum amp_status cast_run(struct amp_ctx *ctx)
{
    struct amp_tensor *map = amp_list_items(ctx->in[0]), *out = ctx->out[0];
    struct amp_tensor cast = {.dtype = out->dtype, .shape = map[VALUES].shape};
    int form, type = 0; /* inference made the type the output's */
    AMP_TRY(amp_ctx_choice(ctx, "cast_to", cast_names, &type));
    AMP_TRY(read_form(ctx, &form));
    AMP_TRY(check_keys(ctx, &map[KEYS], AMP_INT64));
    if (form == DENSE) {
        out->shape = (struct amp_shape){2, {1, amp_shape_count(&map[KEYS].shape)}};
        AMP_TRY(amp_ctx_alloc(ctx, 0));
    }
    AMP_TRY(amp_tensor_alloc(&cast, ctx->err));
    enum amp_status status = amp_tensor_cast(&map[VALUES], &cast, NULL, ctx->err);
    if (status == AMP_OK)
        status = put_values(ctx, &cast, &map[KEYS], form);
    amp_tensor_release(&cast);
    return status;
}

const struct amp_op amp_op_cast_map = {.name = "CastMap",
                                       .domain = AMP_ML_DOMAIN,
                                       .newest = 1,
                                       .effect = AMP_COMPUTES,
                                       .native = AMP_NATIVE_C,
                                       .dtype = cast_dtype,
                                       .shape = cast_shape,
                                       .run = cast_run};
