/*
 * Products of our own against sums in float64. On the tiles of AMX: every rest of rows and columns,
 * matrix products and 1x1 convolutions, post-ops over all their operands. Of few rows: every rest,
 * by one thread and by two. Of bytes, in pairs: every rest. All data ends where a page ends behind
 * which nothing may be read or written.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/array.h"
#include "core/cpu.h"
#include "core/dtype.h"
#include "core/simd.h"
#include "ops/matmul/byte_product.h"
#include "ops/matmul/row_product.h"
#include "ops/own/amx_matmul.h"
#include "ops/own/amx_post.h"
#include "ops/own/amx_read.h"

enum { MOST_POSTS = 3, MOST_DATA = 8 };

static dnnl_engine_t engine;
static dnnl_stream_t stream;
static uint64_t random_state = 1;
static bool has_own_multiply; /* no tiles are there; what is around them runs all the same */

/* ---- data ------------------------------------------------------------------------------------ */

/* Elements of float32 or bfloat16 before a page that is not there. */
struct data {
    void *map, *at;
    size_t size, count;
    bool is_bf16;
};

static struct data new_data(size_t count, bool is_bf16)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = count * (is_bf16 ? 2 : 4);
    size_t whole = (bytes + page - 1) / page * page;
    struct data data = {.size = whole + page, .count = count, .is_bf16 = is_bf16};
    data.map = mmap(NULL, data.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(data.map != MAP_FAILED);
    assert_int_equal(mprotect((char *)data.map + whole, page, PROT_NONE), 0);
    data.at = (char *)data.map + whole - bytes;
    return data;
}

static void free_data(struct data *data)
{
    if (data->map != NULL)
        munmap(data->map, data->size);
}

static double get(const struct data *data, size_t i)
{
    return data->is_bf16 ? (double)amp_bf16_to_f32(((uint16_t *)data->at)[i])
                         : (double)((float *)data->at)[i];
}

static void set(struct data *data, size_t i, double value)
{
    if (data->is_bf16)
        ((uint16_t *)data->at)[i] = amp_f32_to_bf16((float)value);
    else
        ((float *)data->at)[i] = (float)value;
}

/* From -1 to 1, or by MIDDLE more. */
static void fill(struct data *data, double middle)
{
    for (size_t i = 0; i < data->count; i++) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        set(data, i, (double)(random_state >> 40) / (1 << 23) - 1 + middle);
    }
}

/* ---- in place of tiles ----------------------------------------------------------------------- */

void __real_amp_amx_multiply(const struct tile_product *p, int64_t first, int64_t end);
void __wrap_amp_amx_multiply(const struct tile_product *p, int64_t first, int64_t end);

#if AMP_HAS_AMX

/* Columns of B, from INDEX * UNIT on, as rows of float32. */
static void unpack_unit(const struct tile_product *p, int64_t index, float *to)
{
    for (int64_t k = 0; k < p->k; k++)
        for (int64_t j = 0; j < UNIT; j++) {
            int64_t n = index * UNIT + j;
            const uint16_t *block = p->b + k / STEP * p->b_down + n / p->width * p->b_right;
            int64_t at = (k % STEP / 2 * p->width + n % p->width) * 2 + k % 2;
            to[k * UNIT + j] = n < p->n ? amp_bf16_to_f32(block[at]) : 0;
        }
}

/* The products of tiles in plain C, for CPUs that have what comes after them alone. */
void __wrap_amp_amx_multiply(const struct tile_product *p, int64_t first, int64_t end)
{
    if (!has_own_multiply) {
        __real_amp_amx_multiply(p, first, end);
        return;
    }
    float *b = malloc((size_t)(p->k * UNIT) * sizeof *b);
    for (int64_t index = first; index < end; index++) {
        struct results results = {.column = index * UNIT};
        results.columns = (int)(p->n - results.column < UNIT ? p->n - results.column : UNIT);
        unpack_unit(p, index, b);
        for (; results.row < p->m; results.row += results.rows) {
            results.rows = (int)(p->m - results.row < UNIT ? p->m - results.row : UNIT);
            memset(results.at, 0, sizeof results.at);
            for (int i = 0; i < results.rows; i++)
                for (int64_t k = 0; k < p->k; k++) {
                    float a = amp_bf16_to_f32(p->a[(results.row + i) * p->a_row + k]);
                    for (int j = 0; j < UNIT; j++)
                        results.at[i][j] += a * b[k * UNIT + j];
                }
            amp_amx_store(p, &results);
        }
    }
    free(b);
}

#endif

/* ---- cases ----------------------------------------------------------------------------------- */

/* What an operand is broadcast from. */
enum extent { WHOLE, ROW, SCALAR };

struct post {
    bool is_eltwise;
    int alg;
    float alpha, beta;
    enum extent extent; /* of the operand of a binary one */
    bool is_bf16;
};

/* Images and the windows over them, squares; those of one pixel, if nothing is said. */
struct windows {
    int64_t batch, height, width, size, stride, pad, dilation;
};

/* Of matrices, or a convolution, whose M its windows give, and whose channels are K. */
struct product {
    bool is_convolution;
    int64_t m, k, n;
    bool has_bias, is_bf16; /* of Y */
    struct post posts[MOST_POSTS];
    int n_posts;
    struct windows windows;
};

/* What is executed, with its data. */
struct run {
    const struct product *product;
    dnnl_primitive_desc_t pd;
    struct data a, b, packed, bias, y, operands[MOST_POSTS];
    dnnl_memory_t memories[MOST_DATA];
    dnnl_exec_arg_t args[MOST_DATA];
    int n_args;
};

static dnnl_data_type_t type_of(bool is_bf16)
{
    return is_bf16 ? dnnl_bf16 : dnnl_f32;
}

/* The windows of P; without any each row is a pixel. */
static struct windows windows_of(const struct product *p)
{
    return p->windows.batch == 0 ? (struct windows){1, 1, p->m, 1, 1, 0, 1} : p->windows;
}

static int64_t count_windows(const struct windows *w, int64_t pixels)
{
    return (pixels + 2 * w->pad - (w->size - 1) * w->dilation - 1) / w->stride + 1;
}

/* [rows, columns]; for a convolution, images whose channels are last, of all rows or of one. */
static dnnl_memory_desc_t describe(const struct product *p, int64_t rows, int64_t columns,
                                   bool is_bf16)
{
    dnnl_memory_desc_t desc;
    struct windows w = windows_of(p);
    dnnl_dims_t matrix = {rows, columns}, image = {1, columns, 1, 1};
    if (rows > 1) {
        image[0] = w.batch;
        image[2] = count_windows(&w, w.height);
        image[3] = count_windows(&w, w.width);
    }
    int rank = p->is_convolution ? 4 : 2;
    assert_int_equal(
        dnnl_memory_desc_create_with_tag(&desc, rank, p->is_convolution ? image : matrix,
                                         type_of(is_bf16), p->is_convolution ? dnnl_nhwc : dnnl_ab),
        dnnl_success);
    return desc;
}

/* The layouts of weights for tiles, by their width. */
static const struct {
    int64_t width;
    dnnl_format_tag_t matrix, window;
} packings[] = {{16, dnnl_BA16a16b2a, dnnl_AcdB16b16a2b},
                {32, dnnl_BA16a32b2a, dnnl_AcdB16b32a2b},
                {48, dnnl_BA16a48b2a, dnnl_AcdB16b48a2b},
                {64, dnnl_BA16a64b2a, dnnl_AcdB16b64a2b}};

/* Where there are tiles oneDNN says how weights are packed. */
static dnnl_format_tag_t packed_tag(const struct product *p)
{
    size_t i = (size_t)(p->n / 8 % (int64_t)AMP_COUNT(packings));
    return !has_own_multiply   ? dnnl_format_tag_any
           : p->is_convolution ? packings[i].window
                               : packings[i].matrix;
}

static dnnl_memory_desc_t describe_weights(const struct product *p, bool is_packed)
{
    dnnl_memory_desc_t desc;
    struct windows w = windows_of(p);
    dnnl_dims_t matrix = {p->k, p->n}, window = {p->n, p->k, w.size, w.size};
    dnnl_format_tag_t plain = p->is_convolution ? dnnl_hwio : dnnl_ab;
    assert_int_equal(dnnl_memory_desc_create_with_tag(&desc, p->is_convolution ? 4 : 2,
                                                      p->is_convolution ? window : matrix,
                                                      dnnl_bf16, is_packed ? packed_tag(p) : plain),
                     dnnl_success);
    return desc;
}

static void add_arg(struct run *run, int arg, const_dnnl_memory_desc_t desc, struct data *data)
{
    dnnl_memory_t *memory = &run->memories[run->n_args];
    assert_int_equal(dnnl_memory_create(memory, desc, engine, data->at), dnnl_success);
    run->args[run->n_args++] = (dnnl_exec_arg_t){arg, *memory};
}

static int64_t rows_of(const struct product *p, enum extent extent)
{
    return extent == WHOLE ? p->m : 1;
}

static int64_t columns_of(const struct product *p, enum extent extent)
{
    return extent == SCALAR ? 1 : p->n;
}

/* The source: as matrix, or as images. */
static dnnl_memory_desc_t describe_source(const struct product *p)
{
    dnnl_memory_desc_t desc;
    struct windows w = windows_of(p);
    dnnl_dims_t image = {w.batch, p->k, w.height, w.width};
    if (!p->is_convolution)
        return describe(p, p->m, p->k, true);
    assert_int_equal(dnnl_memory_desc_create_with_tag(&desc, 4, image, dnnl_bf16, dnnl_nhwc),
                     dnnl_success);
    return desc;
}

static void append_posts(const struct product *p, dnnl_post_ops_t ops)
{
    for (int i = 0; i < p->n_posts; i++) {
        const struct post *post = &p->posts[i];
        if (post->is_eltwise) {
            dnnl_post_ops_append_eltwise(ops, (dnnl_alg_kind_t)post->alg, post->alpha, post->beta);
            continue;
        }
        dnnl_memory_desc_t desc =
            describe(p, rows_of(p, post->extent), columns_of(p, post->extent), post->is_bf16);
        dnnl_post_ops_append_binary(ops, (dnnl_alg_kind_t)post->alg, desc);
        dnnl_memory_desc_destroy(desc);
    }
}

static bool has_tiles(void)
{
    return amp_cpu_has(AMP_CPU_AMX_BF16);
}

/* NULL: this CPU has no such primitive, nor tiles. */
static dnnl_primitive_desc_t create_pd(const struct product *p)
{
    struct windows w = windows_of(p);
    dnnl_dims_t strides = {w.stride, w.stride}, pads = {w.pad, w.pad};
    dnnl_dims_t gaps = {w.dilation - 1, w.dilation - 1}, length = {p->n}, row = {1, p->n};
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    dnnl_primitive_desc_t pd = NULL;
    dnnl_memory_desc_t bias = NULL, a = describe_source(p), y = describe(p, p->m, p->n, p->is_bf16),
                       b = describe_weights(p, true);
    dnnl_primitive_attr_create(&attr);
    dnnl_post_ops_create(&ops);
    append_posts(p, ops);
    dnnl_primitive_attr_set_post_ops(attr, ops);
    if (p->has_bias)
        dnnl_memory_desc_create_with_tag(&bias, p->is_convolution ? 1 : 2,
                                         p->is_convolution ? length : row, dnnl_f32,
                                         p->is_convolution ? dnnl_a : dnnl_ab);
    dnnl_status_t status =
        p->is_convolution
            ? dnnl_convolution_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference,
                                                             dnnl_convolution_direct, a, b, bias, y,
                                                             strides, gaps, pads, pads, attr)
            : dnnl_matmul_primitive_desc_create(&pd, engine, a, b, bias, y, attr);
    if (status != dnnl_unimplemented || has_tiles())
        assert_int_equal(status, dnnl_success);
    dnnl_memory_desc_destroy(a);
    dnnl_memory_desc_destroy(b);
    dnnl_memory_desc_destroy(y);
    dnnl_memory_desc_destroy(bias);
    dnnl_post_ops_destroy(ops);
    dnnl_primitive_attr_destroy(attr);
    return pd;
}

/* The weights as oneDNN packs them. */
static void pack(struct run *run)
{
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t reorder;
    dnnl_memory_t from, to;
    dnnl_memory_desc_t plain = describe_weights(run->product, false);
    const_dnnl_memory_desc_t wanted =
        dnnl_primitive_desc_query_md(run->pd, dnnl_query_weights_md, 0);
    run->packed = new_data(dnnl_memory_desc_get_size(wanted) / 2, true);
    dnnl_memory_create(&from, plain, engine, run->b.at);
    dnnl_memory_create(&to, wanted, engine, run->packed.at);
    dnnl_reorder_primitive_desc_create(&pd, plain, engine, wanted, engine, NULL);
    dnnl_primitive_create(&reorder, pd);
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    assert_int_equal(dnnl_primitive_execute(reorder, stream, 2, args), dnnl_success);
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(pd);
    dnnl_memory_destroy(from);
    dnnl_memory_destroy(to);
    dnnl_memory_desc_destroy(plain);
}

static void set_up(struct run *run, const struct product *p)
{
    struct windows w = windows_of(p);
    *run = (struct run){.product = p, .pd = create_pd(p)};
    run->a = new_data((size_t)(w.batch * w.height * w.width * p->k), true);
    run->b = new_data((size_t)(w.size * w.size * p->k * p->n), true);
    run->bias = new_data((size_t)p->n, false);
    run->y = new_data((size_t)(p->m * p->n), p->is_bf16);
    fill(&run->a, 0);
    fill(&run->b, 0);
    fill(&run->bias, 0);
    fill(&run->y, 0);
    pack(run);
    add_arg(run, DNNL_ARG_SRC, dnnl_primitive_desc_query_md(run->pd, dnnl_query_src_md, 0),
            &run->a);
    add_arg(run, DNNL_ARG_WEIGHTS, dnnl_primitive_desc_query_md(run->pd, dnnl_query_weights_md, 0),
            &run->packed);
    add_arg(run, DNNL_ARG_DST, dnnl_primitive_desc_query_md(run->pd, dnnl_query_dst_md, 0),
            &run->y);
    if (p->has_bias)
        add_arg(run, DNNL_ARG_BIAS, dnnl_primitive_desc_query_md(run->pd, dnnl_query_weights_md, 1),
                &run->bias);
    for (int i = 0; i < p->n_posts; i++) {
        const struct post *post = &p->posts[i];
        int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;
        int64_t count = rows_of(p, post->extent) * columns_of(p, post->extent);
        if (post->is_eltwise)
            continue;
        run->operands[i] = new_data((size_t)count, post->is_bf16);
        fill(&run->operands[i], post->alg == dnnl_binary_div ? 2 : 0);
        add_arg(run, arg, dnnl_primitive_desc_query_md(run->pd, dnnl_query_exec_arg_md, arg),
                &run->operands[i]);
    }
}

static void tear_down(struct run *run)
{
    for (int i = 0; i < run->n_args; i++)
        dnnl_memory_destroy(run->memories[i]);
    for (int i = 0; i < MOST_POSTS; i++)
        free_data(&run->operands[i]);
    struct data *all[] = {&run->a, &run->b, &run->packed, &run->bias, &run->y};
    for (size_t i = 0; i < AMP_COUNT(all); i++)
        free_data(all[i]);
    dnnl_primitive_desc_destroy(run->pd);
}

/* ---- what is expected ------------------------------------------------------------------------ */

/* At -infinity the limit. */
static double eltwise(const struct post *post, double x)
{
    bool has_limit = post->alg == dnnl_eltwise_swish || post->alg == dnnl_eltwise_gelu_erf ||
                     post->alg == dnnl_eltwise_gelu_tanh;
    if (x == -INFINITY && has_limit)
        return 0;
    switch (post->alg) {
    case dnnl_eltwise_relu:
        return x < 0 ? (double)post->alpha * x : x;
    case dnnl_eltwise_linear:
        return (double)post->alpha * x + (double)post->beta;
    case dnnl_eltwise_logistic:
        return 1 / (1 + exp(-x));
    case dnnl_eltwise_swish:
        return x / (1 + exp(-(double)post->alpha * x));
    case dnnl_eltwise_gelu_tanh:
        return x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case dnnl_eltwise_gelu_erf:
        return x / 2 * erfc(-x / M_SQRT2);
    default:
        fail_msg("%d is no activation of this test", post->alg);
        return 0;
    }
}

static double binary(int alg, double x, double y)
{
    return alg == dnnl_binary_add   ? x + y
           : alg == dnnl_binary_sub ? x - y
           : alg == dnnl_binary_mul ? x * y
                                    : x / y;
}

/* Element I of window ROW: that of the image, or 0 beyond it. */
static double source(const struct run *run, int64_t row, int64_t i)
{
    const struct product *p = run->product;
    struct windows w = windows_of(p);
    int64_t width = count_windows(&w, w.width), height = count_windows(&w, w.height);
    int64_t y = row / width % height * w.stride - w.pad + i / p->k / w.size * w.dilation;
    int64_t x = row % width * w.stride - w.pad + i / p->k % w.size * w.dilation;
    int64_t image = row / width / height;
    return y < 0 || y >= w.height || x < 0 || x >= w.width
               ? 0
               : get(&run->a, (size_t)(((image * w.height + y) * w.width + x) * p->k + i % p->k));
}

/* Element [I, J] of Y before its cast; *SCALE: the greatest magnitude on the way to it. */
static double expect(const struct run *run, int64_t i, int64_t j, double *scale)
{
    const struct product *p = run->product;
    struct windows w = windows_of(p);
    double sum = 0, sizes = 0;
    for (int64_t k = 0; k < w.size * w.size * p->k; k++) {
        double a = source(run, i, k), b = get(&run->b, (size_t)(k * p->n + j));
        sum += a == 0 || b == 0 ? 0 : a * b;
        sizes += fabs(a * b);
    }
    *scale = isfinite(sizes) ? sizes : 1;
    if (p->has_bias)
        sum += get(&run->bias, (size_t)j);
    for (int n = 0; n < p->n_posts; n++) {
        const struct post *post = &p->posts[n];
        int64_t row = post->extent == WHOLE ? i : 0, column = post->extent == SCALAR ? 0 : j;
        if (post->is_eltwise)
            sum = eltwise(post, sum);
        else
            sum = binary(
                post->alg, sum,
                get(&run->operands[n], (size_t)(row * columns_of(p, post->extent) + column)));
        *scale = fmax(*scale, fabs(sum));
    }
    return sum;
}

static void compare(const struct run *run, int64_t i, int64_t j)
{
    const struct product *p = run->product;
    double scale, expected = expect(run, i, j, &scale);
    double found = get(&run->y, (size_t)(i * p->n + j));
    double tolerance = scale * 2e-6 + (p->is_bf16 ? fabs(expected) / 256 : 0);
    if (!(fabs(found - expected) <= tolerance) && found != expected &&
        !(isnan(found) && isnan(expected)))
        fail_msg("%s of %lld x %lld x %lld with %d post-ops: [%lld, %lld] is %g, not %g",
                 p->is_convolution ? "convolution" : "product", (long long)p->m, (long long)p->k,
                 (long long)p->n, p->n_posts, (long long)i, (long long)j, found, expected);
}

/* Runs P and compares STEP-th elements. */
static void check(const struct product *p, int64_t step)
{
    struct run run;
    set_up(&run, p);
    void *tiles = amp_amx_matmul.create(run.pd);
    assert_non_null(tiles);
    amp_amx_matmul.run(tiles, run.n_args, run.args);
    for (int64_t at = 0; at < p->m * p->n; at += step)
        compare(&run, at / p->n, at % p->n);
    amp_amx_matmul.destroy(tiles);
    tear_down(&run);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void need_tiles(void)
{
    if (!has_tiles()) {
        print_message("no AMX here: products on tiles are not verified\n");
        skip();
    }
}

/* Rows and columns that leave every kind of rest, and many of both. */
static void test_shapes(void **state)
{
    static const int64_t rows[] = {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 197, 1024};
    static const int64_t sizes[][2] = {{256, 256}, {256, 264}, {512, 300}, {288, 1001}, {4096, 48}};
    (void)state;
    need_tiles();
    for (size_t i = 0; i < AMP_COUNT(rows) * AMP_COUNT(sizes) * 4; i++) {
        const int64_t *size = sizes[i / 4 / AMP_COUNT(rows)];
        const struct product p = {.is_convolution = i % 2 == 1 && size[1] % 16 == 0,
                                  .is_bf16 = i / 2 % 2 == 1,
                                  .m = rows[i / 4 % AMP_COUNT(rows)],
                                  .k = size[0],
                                  .n = size[1],
                                  .has_bias = i % 3 == 0};
        if (p.m <= 64 || !has_own_multiply) /* what is slow */
            check(&p, p.m > 64 ? 97 : 7);
    }
}

static void test_operands(void **state)
{
    static const int algs[] = {dnnl_binary_add, dnnl_binary_sub, dnnl_binary_mul, dnnl_binary_div};
    (void)state;
    need_tiles();
    for (int i = 0; i < 4 * 3 * 2 * 2; i++) {
        const struct post post = {
            .alg = algs[i % 4], .extent = (enum extent)(i / 4 % 3), .is_bf16 = i / 12 % 2 == 1};
        const struct product p = {.is_convolution = i / 24 == 1,
                                  .is_bf16 = i % 5 == 0,
                                  .m = 49,
                                  .k = 256,
                                  .n = 272,
                                  .posts = {post},
                                  .n_posts = 1};
        check(&p, 3);
    }
}

/* Strides, edges, gaps, several images, lines longer than columns. */
static void test_windows(void **state)
{
    static const struct windows windows[] = {
        {1, 7, 7, 3, 1, 1, 1},  {1, 14, 14, 1, 2, 0, 1}, {2, 9, 5, 3, 2, 1, 1},
        {1, 10, 8, 3, 1, 2, 2}, {3, 4, 6, 2, 1, 0, 1},   {1, 8, 15, 5, 3, 3, 1},
    };
    (void)state;
    need_tiles();
    for (size_t i = 0; i < 2 * AMP_COUNT(windows); i++) {
        const struct windows *w = &windows[i / 2];
        const struct product p = {.is_convolution = true,
                                  .is_bf16 = true,
                                  .m = w->batch * count_windows(w, w->height) *
                                       count_windows(w, w->width),
                                  .k = i % 2 == 0 ? 256 : 320,
                                  .n = i % 2 == 0 ? 256 : 400,
                                  .has_bias = i % 3 == 0,
                                  .posts = {{false, dnnl_binary_add, 0, 0, WHOLE, true}},
                                  .n_posts = 1,
                                  .windows = *w};
        check(&p, 13);
    }
}

static const struct post relu = {true, dnnl_eltwise_relu, 0, 0, WHOLE, false};
static const struct post gelu = {true, dnnl_eltwise_gelu_erf, 0, 0, WHOLE, false};
static const struct post residual = {false, dnnl_binary_add, 0, 0, WHOLE, true};
static const struct post scale = {false, dnnl_binary_mul, 0, 0, ROW, false};

static void test_chains(void **state)
{
    const struct product products[] = {
        {true, 49, 256, 512, true, true, {residual, relu}, 2, {0}},
        {false, 128, 768, 256, true, true, {gelu}, 1, {0}},
        {false, 20, 256, 320, true, false, {scale, gelu, residual}, 3, {0}},
    };
    (void)state;
    need_tiles();
    for (size_t i = 0; i < AMP_COUNT(products); i++)
        check(&products[i], 1);
}

/* Sums that are the values themselves: row I of A is VALUES[I] and zeros. */
static void check_values(const struct post *post, const double *values, int64_t n)
{
    const struct product p = {.m = n, .k = 256, .n = 256, .posts = {*post}, .n_posts = 1};
    struct run run;
    set_up(&run, &p);
    for (int64_t i = 0; i < p.m * p.k; i++)
        set(&run.a, (size_t)i, i % p.k == 0 ? values[i / p.k] : 0);
    for (int64_t j = 0; j < p.n; j++)
        set(&run.b, (size_t)j, 1);
    free_data(&run.packed);
    pack(&run);
    dnnl_memory_set_data_handle(run.memories[1], run.packed.at);
    void *tiles = amp_amx_matmul.create(run.pd);
    assert_non_null(tiles);
    amp_amx_matmul.run(tiles, run.n_args, run.args);
    for (int64_t i = 0; i < p.m; i++)
        compare(&run, i, i % p.n);
    amp_amx_matmul.destroy(tiles);
    tear_down(&run);
}

static void test_activations(void **state)
{
    static const struct post posts[] = {
        {true, dnnl_eltwise_relu, 0, 0, WHOLE, false},
        {true, dnnl_eltwise_relu, 0.25f, 0, WHOLE, false},
        {true, dnnl_eltwise_linear, 2.5f, -1, WHOLE, false},
        {true, dnnl_eltwise_logistic, 0, 0, WHOLE, false},
        {true, dnnl_eltwise_swish, 1.5f, 0, WHOLE, false},
        {true, dnnl_eltwise_gelu_erf, 0, 0, WHOLE, false},
        {true, dnnl_eltwise_gelu_tanh, 0, 0, WHOLE, false},
    };
    double values[1000] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1e38, -1e38, 1e-30, -1e-30};
    (void)state;
    need_tiles();
    for (size_t i = 9; i < AMP_COUNT(values); i++)
        values[i] = ((double)i - 500) * fabs((double)i - 500) / 2500;
    for (size_t i = 0; i < AMP_COUNT(posts); i++)
        check_values(&posts[i], values, AMP_COUNT(values));
}

/* Whether the primitive of P is done on tiles. */
static bool is_taken(const struct product *p)
{
    dnnl_primitive_desc_t pd = create_pd(p);
    void *tiles = pd != NULL ? amp_amx_matmul.create(pd) : NULL;
    bool is = tiles != NULL;
    amp_amx_matmul.destroy(tiles);
    dnnl_primitive_desc_destroy(pd);
    return is;
}

/* Of each two lines the first stands at the bound of what tiles are faster for, and the second
   beyond it: of rows, of columns of A, of weights, of windows that overlap. Post-ops may be unknown
   here. What is taken with AMX is not without it. */
static void test_refused(void **state)
{
    const struct product products[] = {
        {false, 1024, 256, 256, false, true, {relu}, 0, {0}},
        {false, 1025, 256, 256, false, true, {relu}, 0, {0}},
        {false, 64, 256, 304, false, true, {relu}, 0, {0}},
        {false, 64, 224, 304, false, true, {relu}, 0, {0}},
        {false, 64, 256, 256, false, true, {relu}, 0, {0}},
        {false, 64, 256, 255, false, true, {relu}, 0, {0}},
        {true, 128, 256, 256, false, true, {relu}, 0, {2, 8, 8, 3, 1, 1, 1}},
        {true, 129, 256, 256, false, true, {relu}, 0, {1, 3, 43, 3, 1, 1, 1}},
        {true, 144, 256, 256, false, true, {relu}, 0, {1, 24, 24, 3, 2, 1, 1}},
        {true, 1156, 256, 256, false, true, {relu}, 0, {1, 68, 68, 3, 2, 1, 1}},
        {false, 64, 256, 512, false, true, {relu}, 1, {0}},
        {false, 64, 250, 512, false, true, {relu}, 1, {0}},
        {false, 64, 256, 256, false, true, {scale}, 1, {0}},
        {false, 64, 256, 256, false, true, {{false, dnnl_binary_max, 0, 0, ROW, false}}, 1, {0}},
        {false, 64, 256, 256, false, true, {gelu}, 1, {0}},
        {false, 64, 256, 256, false, true, {{true, dnnl_eltwise_mish, 0, 0, WHOLE, false}}, 1, {0}},
    };
    const uint32_t detected = amp_cpu_detected, tiles = UINT32_C(1) << AMP_CPU_AMX_BF16;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(products); i++) {
        if (is_taken(&products[i]) != (i % 2 == 0 && has_tiles()))
            fail_msg("product %zu is %staken", i, i % 2 == 0 ? "not " : "");
        amp_cpu_detected = detected & ~tiles;
        bool is_without = is_taken(&products[i]);
        amp_cpu_detected = detected;
        assert_false(is_without);
    }
}

/* ---- what is read ---------------------------------------------------------------------------- */

/* A convolution of images of RANK dims, whose windows are lines, then columns. */
struct form {
    int rank;
    dnnl_format_tag_t images, weights;
    dnnl_dims_t x, w, y;
    dnnl_dims_t strides, gaps, begin, end;
    bool has_windows, is_read;
};

static dnnl_memory_desc_t desc_of(int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                                  dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t desc;
    assert_int_equal(dnnl_memory_desc_create_with_tag(&desc, rank, dims, type, tag), dnnl_success);
    return desc;
}

static dnnl_primitive_desc_t create_form(const struct form *form)
{
    dnnl_primitive_desc_t pd;
    dnnl_memory_desc_t x = desc_of(form->rank, form->x, dnnl_bf16, form->images),
                       w = desc_of(form->rank, form->w, dnnl_bf16, form->weights),
                       y = desc_of(form->rank, form->y, dnnl_f32, form->images);
    assert_int_equal(dnnl_convolution_forward_primitive_desc_create(
                         &pd, engine, dnnl_forward_inference, dnnl_convolution_direct, x, w, NULL,
                         y, form->strides, form->gaps, form->begin, form->end, NULL),
                     dnnl_success);
    dnnl_memory_desc_destroy(x);
    dnnl_memory_desc_destroy(w);
    dnnl_memory_desc_destroy(y);
    return pd;
}

static void expect_read(const struct form *form, size_t i)
{
    struct tile_matmul matmul = {.has_windows = false};
    dnnl_primitive_desc_t pd = create_form(form);
    const struct tile_product *p = &matmul.product;
    const struct tile_windows *w = &matmul.windows;
    int64_t m = form->y[0], k = 1;
    for (int d = 2; d < form->rank; d++)
        m *= form->y[d];
    for (int d = 1; d < form->rank; d++)
        k *= form->w[d];
    bool is_read = amp_amx_read(pd, &matmul);
    dnnl_primitive_desc_destroy(pd);
    if (is_read != form->is_read || (is_read && matmul.has_windows != form->has_windows))
        fail_msg("form %zu: %d, %d", i, (int)is_read, (int)matmul.has_windows);
    if (!is_read)
        return;
    assert_true(p->m == m && p->k == k && p->n == form->w[0] && p->a_row == k);
    assert_true(p->y.row == p->n && !p->y.is_bf16 && p->n_posts == 0);
    for (int d = 0; d < 2 && form->rank == 4; d++)
        assert_true(w->size[d] == form->w[d + 2] && w->stride[d] == form->strides[d] &&
                    w->dilation[d] == form->gaps[d] + 1 && w->pad[d] == form->begin[d]);
    if (form->has_windows)
        assert_true(w->height == form->x[2] && w->width == form->x[3] &&
                    w->channels == form->x[1] && w->pixel == form->x[1] &&
                    w->out_height == form->y[2] && w->out_width == form->y[3]);
}

#define IMAGES 4, dnnl_nhwc, dnnl_AcdB16b32a2b
#define LINES 3, dnnl_nwc, dnnl_AcB16b32a2b
#define CUBES 5, dnnl_ndhwc, dnnl_AcdeB16b32a2b
#define ONES    \
    {           \
        1, 1, 1 \
    }
#define NONE    \
    {           \
        0, 0, 0 \
    }

/* What makes a window of a pixel: each of size, stride and edges, in either direction. Windows are
   those of images; other layouts of images or of weights are not read. */
static void test_forms(void **state)
{
    static const struct form forms[] = {
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 2, 1},
         {2, 256, 2, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 2},
         {2, 256, 3, 4},
         ONES,
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 2, 5},
         {2, 1},
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 3},
         {1, 2},
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 4, 5},
         ONES,
         NONE,
         {1, 0},
         NONE,
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 6},
         ONES,
         NONE,
         {0, 1},
         NONE,
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 4, 5},
         ONES,
         NONE,
         NONE,
         {1, 0},
         true,
         true},
        {IMAGES,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 6},
         ONES,
         NONE,
         NONE,
         {0, 1},
         true,
         true},
        {IMAGES,
         {1, 256, 7, 9},
         {256, 256, 3, 2},
         {1, 256, 5, 2},
         {1, 3},
         {0, 2},
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {1, 256, 7, 9},
         {256, 256, 3, 2},
         {1, 256, 3, 4},
         {2, 2},
         {1, 0},
         {2, 0},
         {1, 0},
         true,
         true},
        /* windows that overlap in one direction alone, as many as do not, and one more than those
         */
        {IMAGES,
         {1, 256, 1, 257},
         {256, 256, 1, 2},
         {1, 256, 1, 128},
         {1, 2},
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {1, 256, 1, 259},
         {256, 256, 1, 2},
         {1, 256, 1, 129},
         {1, 2},
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {1, 256, 259, 1},
         {256, 256, 2, 1},
         {1, 256, 129, 1},
         {2, 1},
         NONE,
         NONE,
         NONE,
         true,
         true},
        {IMAGES,
         {1, 256, 1, 130},
         {256, 256, 1, 2},
         {1, 256, 1, 129},
         ONES,
         NONE,
         NONE,
         NONE,
         true,
         false},
        {IMAGES,
         {1, 256, 1, 129},
         {256, 256, 1, 1},
         {1, 256, 1, 129},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         true},
        {LINES, {2, 256, 5}, {256, 256, 1}, {2, 256, 5}, ONES, NONE, NONE, NONE, false, true},
        {LINES, {2, 256, 5}, {256, 256, 2}, {2, 256, 4}, ONES, NONE, NONE, NONE, true, false},
        {CUBES,
         {2, 256, 2, 3, 2},
         {256, 256, 1, 1, 1},
         {2, 256, 2, 3, 2},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         true},
        {CUBES,
         {2, 256, 2, 3, 2},
         {256, 256, 1, 1, 2},
         {2, 256, 2, 3, 1},
         ONES,
         NONE,
         NONE,
         NONE,
         true,
         false},
        {4,
         dnnl_nchw,
         dnnl_AcdB16b32a2b,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_oihw,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd16b32a2b,
         {2, 256, 3, 5},
         {256, 256, 1, 2},
         {2, 256, 3, 4},
         ONES,
         NONE,
         NONE,
         NONE,
         true,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd16b32a2b,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         true},
        {4,
         dnnl_nhwc,
         dnnl_ABcd8b8a,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd16a16b,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd8b16a2b,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd16b16a4b,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        /* no whole steps of 32, and no rows */
        {4,
         dnnl_nhwc,
         dnnl_ABcd16b32a2b,
         {2, 272, 3, 5},
         {256, 272, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd16b32a2b,
         {0, 256, 3, 5},
         {256, 256, 1, 1},
         {0, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_nhwc,
         dnnl_ABcd16a16b2a,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
        {4,
         dnnl_aBcd16b,
         dnnl_AcdB16b32a2b,
         {2, 256, 3, 5},
         {256, 256, 1, 1},
         {2, 256, 3, 5},
         ONES,
         NONE,
         NONE,
         NONE,
         false,
         false},
    };
    (void)state;
    need_tiles();
    for (size_t i = 0; i < AMP_COUNT(forms); i++)
        expect_read(&forms[i], i);
}

/* Whether a product is read that has a bias or none and COUNT post-ops, the last with an operand of
   TYPE, DIMS and TAG; and that it is read as it is. */
static bool reads_operand(int count, dnnl_data_type_t type, const dnnl_dims_t dims,
                          dnnl_format_tag_t tag, bool has_bias)
{
    static const dnnl_dims_t a_dims = {64, 256}, b_dims = {256, 256}, row = {1, 256};
    struct tile_matmul matmul = {.has_windows = false};
    dnnl_primitive_desc_t pd;
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    dnnl_memory_desc_t a = desc_of(2, a_dims, dnnl_bf16, dnnl_ab),
                       b = desc_of(2, b_dims, dnnl_bf16, dnnl_BA16a32b2a),
                       y = desc_of(2, a_dims, dnnl_bf16, dnnl_ab),
                       bias = has_bias ? desc_of(2, row, dnnl_f32, dnnl_ab) : NULL,
                       with = desc_of(2, dims, type, tag);
    dnnl_primitive_attr_create(&attr);
    dnnl_post_ops_create(&ops);
    for (int i = 0; i < count - 1; i++)
        dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0.5f, 0);
    dnnl_post_ops_append_binary(ops, dnnl_binary_mul, with);
    dnnl_primitive_attr_set_post_ops(attr, ops);
    assert_int_equal(dnnl_matmul_primitive_desc_create(&pd, engine, a, b, bias, y, attr),
                     dnnl_success);
    bool is_read = amp_amx_read(pd, &matmul);
    const struct tile_product *p = &matmul.product;
    dnnl_memory_desc_t all[] = {a, b, y, bias, with};
    for (size_t i = 0; i < AMP_COUNT(all); i++)
        dnnl_memory_desc_destroy(all[i]);
    dnnl_post_ops_destroy(ops);
    dnnl_primitive_attr_destroy(attr);
    dnnl_primitive_desc_destroy(pd);
    if (!is_read)
        return false;
    const struct tile_post *last = &p->posts[p->n_posts - 1];
    assert_true(p->m == 64 && p->n == 256 && p->k == 256 && p->width == 32 && p->a_row == 256);
    assert_true(p->b_down == 32 * 32 && p->b_right == 256 * 32 && p->y.is_bf16);
    assert_int_equal(p->n_posts, count + has_bias);
    assert_true(!has_bias || (p->posts[0].arg == DNNL_ARG_BIAS && p->posts[0].operand.row == 0 &&
                              !p->posts[0].is_scalar && !p->posts[0].operand.is_bf16));
    for (int i = has_bias; i < p->n_posts - 1; i++)
        assert_true(p->posts[i].arg == 0 && p->posts[i].alpha == 0.5f);
    assert_int_equal(last->arg, DNNL_ARG_ATTR_MULTIPLE_POST_OP(count - 1) | DNNL_ARG_SRC_1);
    assert_true(last->is_scalar == (dims[0] * dims[1] == 1));
    assert_true(last->operand.is_bf16 == (type == dnnl_bf16));
    assert_true(last->operand.row == (dims[0] == 64 ? 256 : 0));
    return true;
}

/* Operands are rows, as many as there are or one, or a scalar; there is room for eight post-ops. */
static void test_post_ops(void **state)
{
    static const dnnl_dims_t whole = {64, 256}, row = {1, 256}, column = {64, 1}, scalar = {1, 1};
    (void)state;
    need_tiles();
    for (int has_bias = 0; has_bias < 2; has_bias++) {
        for (int count = 1; count <= MAX_TILE_POSTS + 1; count++)
            assert_true(reads_operand(count, dnnl_f32, row, dnnl_ab, has_bias) ==
                        (count + has_bias <= MAX_TILE_POSTS));
        assert_true(reads_operand(1, dnnl_bf16, whole, dnnl_ab, has_bias));
        assert_true(reads_operand(1, dnnl_f32, whole, dnnl_ab, has_bias));
        assert_true(reads_operand(1, dnnl_bf16, scalar, dnnl_ab, has_bias));
        assert_true(reads_operand(1, dnnl_f32, scalar, dnnl_ab, has_bias));
        assert_true(reads_operand(1, dnnl_bf16, row, dnnl_ab, has_bias));
        assert_false(reads_operand(1, dnnl_f32, column, dnnl_ab, has_bias));
        assert_false(reads_operand(1, dnnl_s8, row, dnnl_ab, has_bias));
        assert_false(reads_operand(1, dnnl_f32, whole, dnnl_ba, has_bias));
    }
}

/* ---- few rows -------------------------------------------------------------------------------- */

static const enum amp_dtype b_dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};

/* Values that all dtypes hold, of a B in DTYPE. */
static void fill_weights(struct data *data, enum amp_dtype dtype)
{
    fill(data, 0);
    for (size_t i = 0; i < data->count; i++) {
        float value = (float)(int)(get(data, i) * 64) / 64;
        if (dtype == AMP_FLOAT16)
            ((uint16_t *)data->at)[i] = amp_f32_to_f16(value);
        else
            set(data, i, (double)value);
    }
}

/* Element I of the B of P. */
static double weight(const struct amp_row_product *p, int64_t i)
{
    if (p->b_dtype == AMP_FLOAT)
        return (double)((const float *)p->b)[i];
    uint16_t half = ((const uint16_t *)p->b)[i];
    return (double)(p->b_dtype == AMP_FLOAT16 ? amp_f16_to_f32(half) : amp_bf16_to_f32(half));
}

/* Element J of row I of P. */
static double sum_of(const struct amp_row_product *p, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += (double)p->a[i * p->a_row + k] *
               weight(p, p->is_b_transposed ? j * p->k + k : k * p->n + j);
    return sum;
}

/* A product of M rows, as B lies and in the dtype that KIND says. */
static void expect_rows(int64_t m, int64_t n, int64_t k, unsigned kind)
{
    enum amp_dtype dtype = b_dtypes[kind / 2];
    struct data a = new_data((size_t)(m * k), false);
    struct data b = new_data((size_t)(n * k), dtype != AMP_FLOAT);
    struct data y = new_data((size_t)(m * n), false);
    fill(&a, 0);
    fill_weights(&b, dtype);
    const struct amp_row_product p = {.m = m,
                                      .n = n,
                                      .k = k,
                                      .a_row = k,
                                      .is_b_transposed = kind % 2 != 0,
                                      .b_dtype = dtype,
                                      .a = a.at,
                                      .b = b.at,
                                      .y = y.at};
    amp_row_product_run(&p);
    for (int64_t i = 0; i < m * n; i++)
        if (!(fabs(p.y[i] - sum_of(&p, i / n, i % n)) <= 1e-6 * (double)k))
            fail_msg("%d x %d x %d of kind %u: element %d is %g", (int)m, (int)n, (int)k, kind,
                     (int)i, (double)p.y[i]);
    free_data(&a);
    free_data(&b);
    free_data(&y);
}

static void test_rows(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2 * AMP_COUNT(b_dtypes) && amp_row_product_is_there(); kind++)
        for (int64_t m = 1; m <= AMP_ROWS_MAX; m++) {
            for (int64_t n = 1; n <= 80; n += 1 + n / 9)
                for (int64_t k = 1; k <= 70; k += 1 + k / 5)
                    expect_rows(m, n, k, kind);
            omp_set_num_threads(2);
            expect_rows(m, 5003, 61, kind); /* so large that threads share it */
            expect_rows(m, 301, 1000, kind);
            omp_set_num_threads(1);
            expect_rows(m, 5003, 61, kind);
        }
}

/* ---- pairs of bytes -------------------------------------------------------------------------- */

/* COUNT bytes that end where the page does. */
static struct data some_bytes(int64_t count)
{
    struct data data = new_data((size_t)(count + 1) / 2, true);
    data.at = (char *)data.at + count % 2;
    for (int64_t i = 0; i < count; i++)
        ((uint8_t *)data.at)[i] = (uint8_t)(i % 5 == 0 ? 128 + i % 2 * 127 : i * 37);
    return data;
}

static void expect_pairs(int64_t m, int64_t n, int64_t k, bool is_unsigned)
{
    const int64_t step = amp_byte_pairs_step(k);
    struct data a = new_data((size_t)(m * step), true), b = some_bytes(n * k);
    struct data y = new_data((size_t)(m * n), false);
    int16_t *of_a = a.at;
    for (int64_t i = 0; i < m * step; i++)
        of_a[i] = (int16_t)(i % step < k ? i * 53 % 511 - 255 : 0);
    amp_byte_pairs_run(&(struct amp_byte_pairs){.m = m,
                                                .n = n,
                                                .k = k,
                                                .a_step = step,
                                                .a = of_a,
                                                .b = b.at,
                                                .is_b_unsigned = is_unsigned,
                                                .y = y.at});
    for (int64_t i = 0; i < m * n; i++) {
        int32_t sum = 0;
        for (int64_t j = 0; j < k; j++) {
            const void *byte = (const char *)b.at + j * n + i % n;
            int32_t of_b = is_unsigned ? *(const uint8_t *)byte : *(const int8_t *)byte;
            sum += of_a[i / n * step + j] * of_b;
        }
        if (((const int32_t *)y.at)[i] != sum)
            fail_msg("%d x %d x %d: element %d is %d; %d is right", (int)m, (int)n, (int)k, (int)i,
                     (int)((const int32_t *)y.at)[i], (int)sum);
    }
    free_data(&a);
    free_data(&b);
    free_data(&y);
}

static void test_pairs(void **state)
{
    static const int64_t rows[] = {1, 3, 4, 5, 64, 65, 131}, depths[] = {1, 2, 3, 8, 17};
    (void)state;
    if (!AMP_HAS_V3 || !amp_cpu_has(AMP_CPU_V3))
        skip();
    for (size_t i = 0; i < AMP_COUNT(rows); i++)
        for (size_t j = 0; j < AMP_COUNT(depths); j++)
            for (int64_t n = 1; n <= 50; n += 1 + n / 7)
                for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++)
                    expect_pairs(rows[i], n, depths[j], is_unsigned != 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),      cmocka_unit_test(test_windows),
        cmocka_unit_test(test_operands),    cmocka_unit_test(test_chains),
        cmocka_unit_test(test_activations), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_forms),       cmocka_unit_test(test_post_ops),
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_pairs),
    };
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
        return EXIT_FAILURE;
    has_own_multiply = !has_tiles() && amp_cpu_has(AMP_CPU_AVX512_BF16);
    if (has_own_multiply)
        amp_cpu_detected |= UINT32_C(1) << AMP_CPU_AMX_BF16;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
    return failed;
}
