/*
 * Reads from a primitive descriptor of oneDNN which product of matrices it is, and shares the
 * product among threads: each takes columns of its own, and so weights of its own.
 */
#include "ops/tiles.h"

#include "ops/tiles_kernel.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char *const amp_tiles_name = "ampconv:amx_prefetch";

struct amp_tiles {
    struct tile_product product; /* without data */
};

#if AMP_HAS_TILES

/* ---- memory descriptors ---------------------------------------------------------------------- */

/* A layout as oneDNN keeps it: strides of the outer dims, and innermost blocks. */
struct layout {
    int rank, n_inner;
    dnnl_data_type_t type;
    const dnnl_dims_t *dims, *strides, *inner, *inner_dims;
};

static bool read_layout(const_dnnl_memory_desc_t desc, struct layout *l)
{
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    *l = (struct layout){.rank = 0};
    if (desc == NULL || dnnl_memory_desc_query(desc, dnnl_query_format_kind, &kind) != 0 ||
        kind != dnnl_blocked)
        return false;
    return dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &l->rank) == 0 &&
           dnnl_memory_desc_query(desc, dnnl_query_data_type, &l->type) == 0 &&
           dnnl_memory_desc_query(desc, dnnl_query_dims, &l->dims) == 0 &&
           dnnl_memory_desc_query(desc, dnnl_query_strides, &l->strides) == 0 &&
           dnnl_memory_desc_query(desc, dnnl_query_inner_nblks_s32, &l->n_inner) == 0 &&
           dnnl_memory_desc_query(desc, dnnl_query_inner_blks, &l->inner) == 0 &&
           dnnl_memory_desc_query(desc, dnnl_query_inner_idxs, &l->inner_dims) == 0;
}

/* A layout as rows of contiguous columns: dim COLUMN, and the others as one. */
struct rows {
    int64_t count, columns, distance;
    dnnl_data_type_t type;
};

static bool read_rows(const_dnnl_memory_desc_t desc, int column, struct rows *rows)
{
    struct layout l;
    if (!read_layout(desc, &l) || l.n_inner != 0 || column >= l.rank)
        return false;
    *rows = (struct rows){.count = 1, .columns = (*l.dims)[column], .type = l.type};
    for (int i = l.rank - 1; i >= 0; i--) {
        if (i == column || (*l.dims)[i] == 1)
            continue;
        if (rows->count == 1)
            rows->distance = (*l.strides)[i];
        else if ((*l.strides)[i] != rows->count * rows->distance)
            return false;
        rows->count *= (*l.dims)[i];
    }
    return (*l.strides)[column] == 1 || rows->columns == 1;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Which dims hold what in the descriptors of a kind of primitive. */
struct places {
    int column;               /* of source and destination */
    int weights_k, weights_n; /* of the weights */
};

/* Whether the convolution of PD has a window of one element that takes every element. */
static bool is_pointwise(const_dnnl_primitive_desc_t pd, const struct layout *weights)
{
    const dnnl_dims_t *strides = NULL, *begin = NULL, *end = NULL;
    if (weights->rank < 3 || dnnl_primitive_desc_query(pd, dnnl_query_strides, 0, &strides) != 0 ||
        dnnl_primitive_desc_query(pd, dnnl_query_padding_l, 0, &begin) != 0 ||
        dnnl_primitive_desc_query(pd, dnnl_query_padding_r, 0, &end) != 0)
        return false;
    for (int i = 0; i < weights->rank - 2; i++)
        if ((*weights->dims)[i + 2] != 1 || (*strides)[i] != 1 || (*begin)[i] != 0 ||
            (*end)[i] != 0)
            return false;
    return true;
}

static bool find_places(const_dnnl_primitive_desc_t pd, const struct layout *weights,
                        struct places *places)
{
    dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
    dnnl_primitive_desc_query(pd, dnnl_query_primitive_kind, 0, &kind);
    if (kind == dnnl_matmul && weights->rank == 2) {
        *places = (struct places){.column = 1, .weights_k = 0, .weights_n = 1};
        return true;
    }
    *places = (struct places){.column = 1, .weights_k = 1, .weights_n = 0};
    return kind == dnnl_convolution && is_pointwise(pd, weights);
}

/* Whether WEIGHTS, which are packed, lie in blocks for tiles. */
static bool read_weights(const struct layout *weights, const struct places *places,
                         struct tile_product *p)
{
    int k = places->weights_k, n = places->weights_n;
    if (weights->type != dnnl_bf16 || weights->n_inner != 3 || (*weights->inner)[0] != TILE ||
        (*weights->inner)[2] != 2 || (*weights->inner)[1] % TILE != 0 ||
        (*weights->inner_dims)[0] != k || (*weights->inner_dims)[1] != n ||
        (*weights->inner_dims)[2] != k)
        return false;
    p->k = (*weights->dims)[k];
    p->n = (*weights->dims)[n];
    p->width = (*weights->inner)[1];
    p->b_down = (*weights->strides)[k];
    p->b_right = (*weights->strides)[n];
    return p->k > 0 && p->k % (2 * TILE) == 0;
}

static bool read_product(const_dnnl_primitive_desc_t pd, const struct places *places,
                         struct tile_product *p)
{
    struct rows a, y;
    if (!read_rows(dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0), places->column, &a) ||
        !read_rows(dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0), places->column, &y))
        return false;
    p->m = a.count;
    p->a_row = a.distance;
    p->y = (struct elements){.is_bf16 = y.type == dnnl_bf16, .row = y.distance};
    return a.type == dnnl_bf16 && (y.type == dnnl_bf16 || y.type == dnnl_f32) && a.count > 0 &&
           a.columns == p->k && y.count == p->m && y.columns == p->n;
}

/* ---- post-ops -------------------------------------------------------------------------------- */

/* Adds a post-op with an operand of layout DESC, whose column is as in the destination. */
static bool add_binary(struct tile_product *p, const struct places *places, int alg, int arg,
                       const_dnnl_memory_desc_t desc)
{
    struct layout layout;
    struct rows rows;
    if (p->n_posts == MAX_TILE_POSTS || !read_layout(desc, &layout) ||
        !read_rows(desc, layout.rank == 1 ? 0 : places->column, &rows))
        return false;
    bool is_scalar = rows.count == 1 && rows.columns == 1;
    p->posts[p->n_posts++] =
        (struct tile_post){.run = amp_tiles_binary(alg),
                           .arg = arg,
                           .operand = {.is_bf16 = rows.type == dnnl_bf16, .row = rows.distance},
                           .is_scalar = is_scalar};
    return amp_tiles_binary(alg) != NULL && (rows.type == dnnl_bf16 || rows.type == dnnl_f32) &&
           (rows.count == 1 || rows.count == p->m) && (rows.columns == p->n || is_scalar);
}

static bool add_eltwise(struct tile_product *p, const_dnnl_post_ops_t ops, int i)
{
    dnnl_alg_kind_t alg;
    struct tile_post post = {.run = NULL};
    if (dnnl_post_ops_get_params_eltwise(ops, i, &alg, &post.alpha, &post.beta) != 0 ||
        p->n_posts == MAX_TILE_POSTS)
        return false;
    post.run = amp_tiles_eltwise((int)alg);
    p->posts[p->n_posts++] = post;
    return post.run != NULL;
}

static bool add_post(const_dnnl_primitive_desc_t pd, const struct places *places,
                     const_dnnl_post_ops_t ops, int i, struct tile_product *p)
{
    dnnl_primitive_kind_t kind = dnnl_post_ops_get_kind(ops, i);
    dnnl_alg_kind_t alg;
    const_dnnl_memory_desc_t given;
    int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;
    if (kind == dnnl_eltwise)
        return add_eltwise(p, ops, i);
    if (kind != dnnl_binary || dnnl_post_ops_get_params_binary(ops, i, &alg, &given) != 0)
        return false;
    return add_binary(p, places, (int)alg, arg,
                      dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg));
}

static bool read_posts(const_dnnl_primitive_desc_t pd, const struct places *places,
                       struct tile_product *p)
{
    const_dnnl_memory_desc_t bias = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 1);
    const_dnnl_primitive_attr_t attr;
    const_dnnl_post_ops_t ops = NULL;
    if (bias != NULL && dnnl_memory_desc_get_size(bias) > 0 &&
        !add_binary(p, places, dnnl_binary_add, DNNL_ARG_BIAS, bias))
        return false;
    if (dnnl_primitive_desc_get_attr(pd, &attr) != 0 ||
        dnnl_primitive_attr_get_post_ops(attr, &ops) != 0)
        return false;
    for (int i = 0; i < dnnl_post_ops_len(ops); i++)
        if (!add_post(pd, places, ops, i, p))
            return false;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* With many rows, few columns of A or few weights, oneDNN's kernels are as fast or faster. */
static bool is_faster(const struct tile_product *p)
{
    enum { MANY_ROWS = 1024, SHORT = 256, FEW_WEIGHTS = 1 << 16 };
    return p->m <= MANY_ROWS && p->k >= SHORT && p->k * p->n >= FEW_WEIGHTS;
}

static bool read_pd(const_dnnl_primitive_desc_t pd, struct tile_product *p)
{
    const char *name = "";
    struct layout weights;
    struct places places;
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    return strstr(name, "amx") != NULL &&
           read_layout(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), &weights) &&
           find_places(pd, &weights, &places) && read_weights(&weights, &places, p) &&
           read_product(pd, &places, p) && read_posts(pd, &places, p) && is_faster(p);
}

struct amp_tiles *amp_tiles_create(const_dnnl_primitive_desc_t pd)
{
    struct tile_product product = {.n_posts = 0};
    struct amp_tiles *tiles = read_pd(pd, &product) ? malloc(sizeof *tiles) : NULL;
    if (tiles != NULL)
        tiles->product = product;
    return tiles;
}

static void *data_of(int arg, int n, const dnnl_exec_arg_t *args)
{
    void *data = NULL;
    for (int i = 0; i < n; i++)
        if (args[i].arg == arg)
            dnnl_memory_get_data_handle(args[i].memory, &data);
    return data;
}

void amp_tiles_run(const struct amp_tiles *tiles, int n, const dnnl_exec_arg_t *args)
{
    struct tile_product product = tiles->product;
    product.a = data_of(DNNL_ARG_SRC, n, args);
    product.b = data_of(DNNL_ARG_WEIGHTS, n, args);
    product.y.data = data_of(DNNL_ARG_DST, n, args);
    for (int i = 0; i < product.n_posts; i++)
        if (product.posts[i].arg != 0)
            product.posts[i].operand.data = data_of(product.posts[i].arg, n, args);
    int64_t units = (product.n + UNIT - 1) / UNIT;
#    pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        amp_tiles_multiply(&product, units * thread / threads, units * (thread + 1) / threads);
    }
}

#else

struct amp_tiles *amp_tiles_create(const_dnnl_primitive_desc_t pd)
{
    (void)pd;
    return NULL;
}

void amp_tiles_run(const struct amp_tiles *tiles, int n, const dnnl_exec_arg_t *args)
{
    (void)tiles, (void)n, (void)args;
}

#endif

void amp_tiles_destroy(struct amp_tiles *tiles)
{
    free(tiles);
}
