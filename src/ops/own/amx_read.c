/*
 * Reads from a primitive descriptor of oneDNN which product of matrices the primitive computes:
 * from the layouts and types of its memories, its windows and its post-ops. Nothing depends on the
 * name of oneDNN's implementation: weights that lie in blocks of pairs are those that it packs for
 * tiles.
 */
#include "ops/own/amx_read.h"

#include "core/cpu.h"
#include "ops/dnnl/describe.h"
#include "ops/own/amx_post.h"

#if AMP_HAS_AMX

/* ---- memory descriptors ---------------------------------------------------------------------- */

/* A layout as rows of contiguous columns: dim COLUMN, and the others as one. */
struct rows {
    int64_t count, columns, distance;
    dnnl_data_type_t type;
};

static bool read_rows(const_dnnl_memory_desc_t desc, int column, struct rows *rows)
{
    struct amp_blocks l;
    if (!amp_blocks_read(desc, &l) || l.n_inner != 0 || column >= l.rank)
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

/* A descriptor that is being read into MATMUL. */
struct reading {
    const_dnnl_primitive_desc_t pd;
    struct amp_blocks weights;
    int weights_k, weights_n; /* the weights' dims of that name */
    struct tile_matmul *matmul;
};

enum { COLUMN = 1 }; /* the dim of source and destination whose elements adjoin */

static bool query_dims(const_dnnl_primitive_desc_t pd, dnnl_query_t what, const dnnl_dims_t **dims)
{
    return dnnl_primitive_desc_query(pd, what, 0, dims) == dnnl_success;
}

/* The windows of a convolution: of images, or of whatever rank if each is an element of its own. */
static bool read_windows(struct reading *r)
{
    const dnnl_dims_t *strides, *dilations, *begin, *end;
    struct tile_windows *windows = &r->matmul->windows;
    int n = r->weights.rank - 2;
    if (!query_dims(r->pd, dnnl_query_strides, &strides) ||
        !query_dims(r->pd, dnnl_query_dilations, &dilations) ||
        !query_dims(r->pd, dnnl_query_padding_l, &begin) ||
        !query_dims(r->pd, dnnl_query_padding_r, &end))
        return false;
    for (int i = 0; i < n; i++)
        r->matmul->has_windows |= (*r->weights.dims)[i + 2] != 1 || (*strides)[i] != 1 ||
                                  (*begin)[i] != 0 || (*end)[i] != 0;
    for (int i = 0; i < 2 && n == 2; i++) {
        windows->size[i] = (*r->weights.dims)[i + 2];
        windows->stride[i] = (*strides)[i];
        windows->dilation[i] = (*dilations)[i] + 1;
        windows->pad[i] = (*begin)[i];
    }
    return n >= 1 && (n == 2 || !r->matmul->has_windows);
}

static bool read_kind(struct reading *r)
{
    dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
    dnnl_primitive_desc_query(r->pd, dnnl_query_primitive_kind, 0, &kind);
    bool is_convolution = kind == dnnl_convolution;
    r->weights_k = is_convolution;
    r->weights_n = !is_convolution;
    return is_convolution ? read_windows(r) : kind == dnnl_matmul && r->weights.rank == 2;
}

/* Whether the weights, which are packed, lie in blocks for tiles, window by window. */
static bool read_weights(struct reading *r)
{
    const struct amp_blocks *w = &r->weights;
    struct tile_product *p = &r->matmul->product;
    int k = r->weights_k, n = r->weights_n;
    if (w->type != dnnl_bf16 || w->n_inner != 3 || (*w->inner)[0] != TILE || (*w->inner)[2] != 2 ||
        (*w->inner)[1] % TILE != 0 || (*w->inner_dims)[0] != k || (*w->inner_dims)[1] != n ||
        (*w->inner_dims)[2] != k)
        return false;
    p->k = (*w->dims)[k];
    p->n = (*w->dims)[n];
    p->width = (*w->inner)[1];
    p->b_down = (*w->strides)[k];
    p->b_right = (*w->strides)[n];
    if (p->k % STEP != 0)
        return false;
    for (int i = w->rank - 1; i >= 2; i--) {
        if ((*w->dims)[i] != 1 && (*w->strides)[i] != p->k / STEP * p->b_down)
            return false;
        p->k *= (*w->dims)[i];
    }
    return true;
}

/* Source and destination as rows; of a convolution with windows, pixels. */
static bool read_rows_of(struct reading *r)
{
    struct tile_product *p = &r->matmul->product;
    const_dnnl_memory_desc_t src = dnnl_primitive_desc_query_md(r->pd, dnnl_query_src_md, 0);
    const_dnnl_memory_desc_t dst = dnnl_primitive_desc_query_md(r->pd, dnnl_query_dst_md, 0);
    struct tile_windows *windows = &r->matmul->windows;
    struct rows a, y;
    struct amp_blocks from, to;
    if (!read_rows(src, COLUMN, &a) || !read_rows(dst, COLUMN, &y))
        return false;
    p->m = y.count;
    p->y = (struct elements){.is_bf16 = y.type == dnnl_bf16, .row = y.distance};
    p->a_row = r->matmul->has_windows ? p->k : a.distance;
    if (a.type != dnnl_bf16 || (y.type != dnnl_bf16 && y.type != dnnl_f32) || y.count == 0 ||
        y.columns != p->n)
        return false;
    if (!r->matmul->has_windows)
        return a.count == y.count && a.columns == p->k;
    amp_blocks_read(src, &from);
    amp_blocks_read(dst, &to);
    windows->channels = a.columns;
    windows->pixel = a.distance;
    windows->height = (*from.dims)[2];
    windows->width = (*from.dims)[3];
    windows->out_height = (*to.dims)[2];
    windows->out_width = (*to.dims)[3];
    return a.columns * windows->size[0] * windows->size[1] == p->k;
}

/* ---- post-ops -------------------------------------------------------------------------------- */

static bool add_post(struct tile_product *p, struct tile_post post)
{
    if (post.run == NULL || p->n_posts == MAX_TILE_POSTS)
        return false;
    p->posts[p->n_posts++] = post;
    return true;
}

/* With operand ARG of layout DESC, whose column is as in the destination if it has other dims. */
static bool add_binary(struct tile_product *p, int alg, int arg, const_dnnl_memory_desc_t desc)
{
    struct amp_blocks layout;
    struct rows rows;
    if (!amp_blocks_read(desc, &layout) || !read_rows(desc, layout.rank == 1 ? 0 : COLUMN, &rows))
        return false;
    struct tile_post post = {.run = amp_amx_find_binary(alg),
                             .arg = arg,
                             .operand = {.is_bf16 = rows.type == dnnl_bf16, .row = rows.distance},
                             .is_scalar = rows.count == 1 && rows.columns == 1};
    return (rows.type == dnnl_bf16 || rows.type == dnnl_f32) &&
           (rows.count == 1 || rows.count == p->m) && (rows.columns == p->n || post.is_scalar) &&
           add_post(p, post);
}

static bool read_eltwise(struct reading *r, const_dnnl_post_ops_t ops, int i)
{
    dnnl_alg_kind_t alg;
    struct tile_post post = {.arg = 0};
    if (dnnl_post_ops_get_params_eltwise(ops, i, &alg, &post.alpha, &post.beta) != dnnl_success)
        return false;
    post.run = amp_amx_find_eltwise((int)alg);
    return add_post(&r->matmul->product, post);
}

static bool read_binary(struct reading *r, const_dnnl_post_ops_t ops, int i)
{
    int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;
    const_dnnl_memory_desc_t given;
    dnnl_alg_kind_t alg;
    return dnnl_post_ops_get_params_binary(ops, i, &alg, &given) == dnnl_success &&
           add_binary(&r->matmul->product, (int)alg, arg,
                      dnnl_primitive_desc_query_md(r->pd, dnnl_query_exec_arg_md, arg));
}

static bool read_posts(struct reading *r)
{
    const_dnnl_memory_desc_t bias = dnnl_primitive_desc_query_md(r->pd, dnnl_query_weights_md, 1);
    const_dnnl_primitive_attr_t attr;
    const_dnnl_post_ops_t ops = NULL;
    if (bias != NULL && dnnl_memory_desc_get_size(bias) > 0 &&
        !add_binary(&r->matmul->product, dnnl_binary_add, DNNL_ARG_BIAS, bias))
        return false;
    if (dnnl_primitive_desc_get_attr(r->pd, &attr) != dnnl_success ||
        dnnl_primitive_attr_get_post_ops(attr, &ops) != dnnl_success)
        return false;
    for (int i = 0; i < dnnl_post_ops_len(ops); i++) {
        dnnl_primitive_kind_t kind = dnnl_post_ops_get_kind(ops, i);
        if (!(kind == dnnl_eltwise && read_eltwise(r, ops, i)) &&
            !(kind == dnnl_binary && read_binary(r, ops, i)))
            return false;
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* With many rows, few columns of A or few weights, oneDNN's kernels are as fast or faster; so they
   are with windows that overlap, each element of which is gathered often, unless these are few. */
static bool is_faster(const struct tile_matmul *matmul)
{
    enum { MANY_ROWS = 1024, MANY_WINDOWS = 128, SHORT = 256, FEW_WEIGHTS = 1 << 16 };
    const struct tile_product *p = &matmul->product;
    const struct tile_windows *w = &matmul->windows;
    bool overlaps = matmul->has_windows && w->stride[0] == 1 && w->stride[1] == 1;
    return p->m <= (overlaps ? MANY_WINDOWS : MANY_ROWS) && p->k >= SHORT &&
           p->k * p->n >= FEW_WEIGHTS;
}

bool amp_amx_read(const_dnnl_primitive_desc_t pd, struct tile_matmul *matmul)
{
    struct reading r = {.pd = pd, .matmul = matmul};
    return amp_cpu_has(AMP_CPU_AMX_BF16) &&
           amp_blocks_read(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0),
                           &r.weights) &&
           read_kind(&r) && read_weights(&r) && read_rows_of(&r) && read_posts(&r) &&
           is_faster(matmul);
}

#endif
