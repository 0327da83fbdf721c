/* oneDNN's layouts: copies between them, what sees them otherwise, what fills their blocks; and
   CPUs that hide their caches, by which they are chosen. */
#include "net.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/cpu.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "core/shared_forms.h"
#include "ops/dnnl/binding.h"
#include "ops/dnnl/descs.h"
#include "ops/dnnl/describe.h"
#include "ops/dnnl/dnnl.h"
#include "ops/dnnl/engine.h"
#include "ops/dnnl/layout.h"
#include "ops/dnnl/own_kernel.h"
#include "ops/dnnl/post_op.h"
#include "ops/dnnl/prim.h"
#include "ops/dnnl/prim_post.h"
#include "ops/dnnl/profile.h"
#include "ops/dnnl/reorder.h"
#include "ops/dnnl/requantize.h"
#include "ops/dnnl/roofline.h"
#include "ops/kernel/kernel.h"
#include "ops/kernel/strided_loop.h"
#include "ops/matmul/product.h"
#include "ops/matmul/row_product.h"
#include "run/exec/blocked_view.h"

#include <dnnl.h>
#include <math.h>
#include <signal.h>

#include <cmocka.h>

/* ---- layouts --------------------------------------------------------------------------------- */

/* Copies between layouts, held against places that are read off the layouts' names. */

static const struct {
    dnnl_format_tag_t tag;
    const char *name;
} layouts[] = {{dnnl_abcd, "abcd"},
               {dnnl_acdb, "acdb"},
               {dnnl_cdba, "cdba"},
               {dnnl_aBcd8b, "aBcd8b"},
               {dnnl_aBcd16b, "aBcd16b"},
               {dnnl_Acdb16a, "Acdb16a"},
               {dnnl_ABcd8b8a, "ABcd8b8a"},
               {dnnl_ABcd16b16a, "ABcd16b16a"},
               {dnnl_ABcd4b16a4b, "ABcd4b16a4b"},
               {dnnl_ABcd8b16a2b, "ABcd8b16a2b"},
               {dnnl_ABcd16a16b, "ABcd16a16b"}};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts, ROOM = 1 << 16 };

/* The size of the blocks that NAME has of DIM. */
static int64_t block_of(const char *name, int dim)
{
    int64_t size = 1;
    for (char *end; *name != '\0'; name = end) {
        long number = strtol(name, &end, 10);
        if (end != name && *end == 'a' + dim)
            size *= number;
        end++;
    }
    return size;
}

/* Where element AT of a tensor of DIMS lies in the layout of NAME: places are counted from the
   right, inner blocks first. */
static int64_t place(const char *name, const int64_t *dims, const int64_t *at)
{
    int64_t left[4], offset = 0, stride = 1;
    memcpy(left, at, sizeof left);
    for (const char *end = name + strlen(name); end > name + 4;) {
        int dim = end[-1] - 'a', size = 0;
        for (end--; end[-1] >= '0' && end[-1] <= '9'; end--)
            size = (int)strtol(end - 1, NULL, 10);
        offset += left[dim] % size * stride;
        left[dim] /= size;
        stride *= size;
    }
    for (int i = 3; i >= 0; i--) {
        int dim = name[i] - (name[i] < 'a' ? 'A' : 'a');
        int64_t block = block_of(name + 4, dim);
        offset += left[dim] * stride;
        stride *= (dims[dim] + block - 1) / block;
    }
    return offset;
}

static dnnl_memory_desc_t layout_of(size_t i, const int64_t *dims, dnnl_data_type_t type)
{
    dnnl_memory_desc_t desc;
    dnnl_dims_t own = {dims[0], dims[1], dims[2], dims[3]};
    assert_int_equal(dnnl_memory_desc_create_with_tag(&desc, 4, own, type, layouts[i].tag),
                     dnnl_success);
    return desc;
}

/* An element that is no 0 and that 16 bits hold. */
static float element(const int64_t *dims, const int64_t *at)
{
    return (float)((((at[0] * dims[1] + at[1]) * dims[2] + at[2]) * dims[3] + at[3]) % 251 + 1);
}

/* Copies a tensor of DIMS from layout FROM to layout TO, where it becomes bfloat16 if IS_LOWER. */
static void check_copy(dnnl_engine_t engine, const int64_t *dims, size_t from, size_t to,
                       bool is_lower)
{
    static float source[ROOM], target[ROOM];
    struct amp_reorder *reorder;
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.host = &host, .err = &net.err};
    dnnl_memory_desc_t a = layout_of(from, dims, dnnl_f32);
    dnnl_memory_desc_t b = layout_of(to, dims, is_lower ? dnnl_bf16 : dnnl_f32);
    int64_t at[4] = {0}, count = 0,
            room = (int64_t)dnnl_memory_desc_get_size(b) / (is_lower ? 2 : 4);
    memset(target, 0xff, sizeof target);
    do
        source[place(layouts[from].name, dims, at)] = element(dims, at);
    while (amp_index_next(4, dims, at));
    assert_int_equal(amp_reorder_create(engine, a, b, &reorder), dnnl_success);
    assert_int_equal(amp_reorder_run(&ctx, reorder, source, target), AMP_OK);
    enum amp_dtype dtype = is_lower ? AMP_BFLOAT16 : AMP_FLOAT;
    const struct amp_tensor copy = {
        .dtype = dtype, .shape = {.rank = 1, .dims = {room}}, .data = target};
    do {
        double found = amp_tensor_double(&copy, (size_t)place(layouts[to].name, dims, at));
        if (found != (double)element(dims, at))
            fail_msg("%s -> %s: [%d, %d, %d, %d] is %g", layouts[from].name, layouts[to].name,
                     (int)at[0], (int)at[1], (int)at[2], (int)at[3], found);
    } while (amp_index_next(4, dims, at));
    for (int64_t i = 0; i < room; i++)
        count += amp_tensor_double(&copy, (size_t)i) != 0;
    assert_int_equal(count, dims[0] * dims[1] * dims[2] * dims[3]);
    amp_reorder_destroy(reorder);
    dnnl_memory_desc_destroy(a);
    dnnl_memory_desc_destroy(b);
}

static void layouts_have_each_element_and_zeros(void **state)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 1},  {1, 16, 2, 3}, {2, 3, 5, 7},
                                        {24, 1, 3, 3}, {3, 60, 3, 3}, {17, 33, 1, 2},
                                        {32, 8, 2, 1}, {16, 32, 2, 1}};
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t i = 0; i < N_LAYOUTS * N_LAYOUTS; i++)
            for (int is_lower = 0; is_lower < 2; is_lower++)
                check_copy(engine, shapes[s], i / N_LAYOUTS, i % N_LAYOUTS, is_lower);
    dnnl_engine_destroy(engine);
}

/* Groups of weights are a dim more. */
static void tensors_of_other_dims_are_no_copies(void **state)
{
    static const dnnl_dims_t dims = {2, 3, 2, 4, 4};
    dnnl_engine_t engine;
    dnnl_memory_desc_t a = layout_of(0, (const int64_t[]){6, 2, 4, 4}, dnnl_f32), b;
    dnnl_memory_desc_t c = layout_of(3, (const int64_t[]){6, 2, 4, 5}, dnnl_f32), d;
    struct amp_reorder *reorder;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    assert_int_equal(dnnl_memory_desc_create_with_tag(&b, 5, dims, dnnl_f32, dnnl_aBcde8b),
                     dnnl_success);
    assert_int_not_equal(amp_reorder_create(engine, a, b, &reorder), dnnl_success);
    assert_null(reorder);
    assert_int_not_equal(amp_reorder_create(engine, a, c, &reorder), dnnl_success);
    assert_null(reorder);
    assert_int_equal(dnnl_memory_desc_create_with_tag(&d, 5, (const dnnl_dims_t){6, 2, 4, 4, 1},
                                                      dnnl_f32, dnnl_abcde),
                     dnnl_success);
    assert_int_not_equal(amp_reorder_create(engine, a, d, &reorder), dnnl_success);
    assert_null(reorder);
    dnnl_memory_desc_destroy(a);
    dnnl_memory_desc_destroy(b);
    dnnl_memory_desc_destroy(c);
    dnnl_memory_desc_destroy(d);
    dnnl_engine_destroy(engine);
}

/* What is converted before it is moved needs room meanwhile; what is moved alone needs none. */
static void copies_need_room_where_they_convert(void **state)
{
    static const int64_t dims[] = {2, 3, 5, 7}; /* 210 elements */
    static float source[ROOM], target[ROOM];
    struct amp_host host = {.profile = NULL};
    struct amp_error err = {.status = AMP_OK};
    struct amp_ctx ctx = {.host = &host, .err = &err};
    struct amp_reorder *reorders[2];
    dnnl_engine_t engine;
    size_t limit = amp_memory_limit();
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    for (int i = 0; i < 2; i++) {
        dnnl_memory_desc_t a = layout_of(0, dims, dnnl_f32);
        dnnl_memory_desc_t b = layout_of(1, dims, i == 0 ? dnnl_f32 : dnnl_bf16);
        assert_int_equal(amp_reorder_create(engine, a, b, &reorders[i]), dnnl_success);
        dnnl_memory_desc_destroy(a);
        dnnl_memory_desc_destroy(b);
    }
    amp_memory_set_limit(amp_memory_used());
    assert_int_equal(amp_reorder_run(&ctx, reorders[0], source, target), AMP_OK);
    assert_int_equal(amp_reorder_run(&ctx, reorders[1], source, target), AMP_IO);
    const char said[] = "out of memory: a layout of oneDNN takes 420 bytes; ";
    assert_memory_equal(err.text, said, sizeof said - 1);
    amp_memory_set_limit(limit);
    assert_int_equal(amp_reorder_run(&ctx, reorders[1], source, target), AMP_OK);
    for (int i = 0; i < 2; i++)
        amp_reorder_destroy(reorders[i]);
    dnnl_engine_destroy(engine);
}

/* Copies IN to OUT twice, from layout FROM to layout TO, and holds what a profile has noted: a copy
   by this program or one by oneDNN. */
static void expect_conversion(struct amp_ctx *ctx, dnnl_memory_desc_t from, dnnl_memory_desc_t to,
                              const void *in, void *out, bool is_copy)
{
    struct amp_reorder *reorder;
    struct amp_profile *profile = amp_profile_create();
    size_t count;
    ctx->host->profile = profile;
    assert_int_equal(amp_reorder_create(ctx->host->dnnl->engine, from, to, &reorder), dnnl_success);
    for (int run = 0; run < 2; run++)
        assert_int_equal(amp_reorder_run(ctx, reorder, in, out), AMP_OK);
    const struct amp_profile_primitive *noted = amp_profile_primitives(profile, &count);
    assert_int_equal(count, 1);
    assert_ptr_equal(noted->node, ctx->node);
    assert_int_equal(noted->calls, 2);
    assert_string_equal(noted->kind, "reorder");
    assert_int_equal(strcmp(noted->implementation, "strided copy") == 0, is_copy);
    assert_true(noted->seconds > 0);
    ctx->host->profile = NULL;
    assert_int_equal(amp_reorder_run(ctx, reorder, in, out), AMP_OK);
    assert_int_equal(noted->calls, 2);
    amp_profile_destroy(profile);
    amp_reorder_destroy(reorder);
}

/* The linker has the program ask the test here. */
bool __real_amp_cpu_tells_caches(void);

/* Floats of 16 and 32 bits become one another, and all else is copied; numbers are rounded to
   integers by oneDNN, which may leave some out where caches are hidden. */
static void integers_are_made_by_onednn(void **state)
{
    enum { ROWS = 2, COLUMNS = 3, N = ROWS * COLUMNS };
    static const dnnl_dims_t dims = {ROWS, COLUMNS};
    static const struct {
        enum amp_dtype from, to;
        bool is_copy;
    } cases[] = {{AMP_FLOAT, AMP_FLOAT, true},     {AMP_INT8, AMP_INT8, true},
                 {AMP_UINT8, AMP_UINT8, true},     {AMP_INT32, AMP_INT32, true},
                 {AMP_FLOAT16, AMP_FLOAT16, true}, {AMP_FLOAT, AMP_BFLOAT16, true},
                 {AMP_BFLOAT16, AMP_FLOAT, true},  {AMP_FLOAT16, AMP_FLOAT, true},
                 {AMP_FLOAT, AMP_FLOAT16, true},   {AMP_FLOAT16, AMP_BFLOAT16, true},
                 {AMP_FLOAT, AMP_INT8, false},     {AMP_FLOAT, AMP_UINT8, false},
                 {AMP_INT8, AMP_FLOAT, false},     {AMP_FLOAT, AMP_INT32, false},
                 {AMP_INT32, AMP_FLOAT, false},    {AMP_INT32, AMP_INT8, false},
                 {AMP_INT32, AMP_UINT8, false},    {AMP_UINT8, AMP_INT32, false}};
    static const float numbers[N] = {0, 3, 100, 7, 64, 127};
    struct amp_node node = {.op_type = "Sin"};
    struct amp_error err = {.status = AMP_OK};
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.host = &host, .node = &node, .err = &err};
    (void)state;
    assert_int_equal(amp_dnnl_create(NULL, &host.dnnl, &err), AMP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dnnl_memory_desc_t from, to;
        float in[N], out[N];
        const struct amp_tensor x = {.dtype = cases[i].from, .shape = {1, {N}}, .data = in};
        const struct amp_tensor y = {.dtype = cases[i].to, .shape = {1, {N}}, .data = out};
        for (size_t k = 0; k < N; k++)
            if (x.dtype == AMP_INT32)
                ((int32_t *)x.data)[k] = (int32_t)numbers[k];
            else if (amp_dtype_is_autocast(x.dtype))
                amp_tensor_set_double(&x, k, (double)numbers[k]);
            else
                ((int8_t *)x.data)[k] = (int8_t)numbers[k];
        assert_int_equal(dnnl_memory_desc_create_with_tag(&from, 2, dims,
                                                          amp_dnnl_dtype(cases[i].from), dnnl_ab),
                         dnnl_success);
        assert_int_equal(
            dnnl_memory_desc_create_with_tag(&to, 2, dims, amp_dnnl_dtype(cases[i].to), dnnl_ba),
            dnnl_success);
        expect_conversion(&ctx, from, to, in, out, cases[i].is_copy);
        for (int k = 0; k < N; k++)
            if (cases[i].is_copy || __real_amp_cpu_tells_caches())
                assert_true(amp_tensor_double(&y, (size_t)(k % COLUMNS * ROWS + k / COLUMNS)) ==
                            (double)numbers[k]);
        dnnl_memory_desc_destroy(from);
        dnnl_memory_desc_destroy(to);
    }
    amp_dnnl_destroy(host.dnnl);
}

/* What this program has no dtype for, oneDNN copies or nobody: no element is left out. */
static void other_types_are_copied_whole_or_not_at_all(void **state)
{
    static const double numbers[] = {1, 2, 3, 4, 5, 6};
    double copy[6] = {0};
    struct amp_error err = {.status = AMP_OK};
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.host = &host, .err = &err};
    struct amp_reorder *reorder;
    dnnl_memory_desc_t from, to;
    (void)state;
    assert_int_equal(amp_dnnl_create(NULL, &host.dnnl, &err), AMP_OK);
    dnnl_memory_desc_create_with_tag(&from, 2, (const dnnl_dims_t){2, 3}, dnnl_f64, dnnl_ab);
    dnnl_memory_desc_create_with_tag(&to, 2, (const dnnl_dims_t){2, 3}, dnnl_f64, dnnl_ba);
    if (amp_reorder_create(host.dnnl->engine, from, to, &reorder) == dnnl_success) {
        assert_int_equal(amp_reorder_run(&ctx, reorder, numbers, copy), AMP_OK);
        for (int i = 0; i < 6; i++)
            assert_true(copy[i % 3 * 2 + i / 3] == numbers[i]);
    }
    amp_reorder_destroy(reorder);
    dnnl_memory_desc_destroy(from);
    dnnl_memory_desc_destroy(to);
    amp_dnnl_destroy(host.dnnl);
}

/* Elements as far apart as those of blocks are lie otherwise, and are not taken for a block. */
static void gaps_are_no_blocks(void **state)
{
    enum { N = 8 };
    static const dnnl_dims_t dims = {1, N, 1, 1}, apart = {N, N, N, N};
    float in[N * N], out[N / 2 + 1];
    struct amp_error err = {.status = AMP_OK};
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.host = &host, .err = &err};
    struct amp_reorder *reorder;
    dnnl_memory_desc_t from, to;
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    for (int i = 0; i < N * N; i++)
        in[i] = i % N == 0 ? (float)(i / N) : -1;
    memset(out, 0x55, sizeof out);
    dnnl_memory_desc_create_with_strides(&from, 4, dims, dnnl_f32, apart);
    dnnl_memory_desc_create_with_tag(&to, 4, dims, dnnl_bf16, dnnl_aBcd8b);
    assert_int_equal(amp_reorder_create(engine, from, to, &reorder), dnnl_success);
    assert_int_equal(amp_reorder_run(&ctx, reorder, in, out), AMP_OK);
    const struct amp_tensor y = {.dtype = AMP_BFLOAT16, .shape = {1, {N + 2}}, .data = out};
    for (size_t i = 0; i < N; i++)
        assert_true(amp_tensor_double(&y, i) == (double)i);
    assert_int_equal(((const uint16_t *)out)[N], 0x5555);
    amp_reorder_destroy(reorder);
    dnnl_memory_desc_destroy(from);
    dnnl_memory_desc_destroy(to);
    dnnl_engine_destroy(engine);
}

/* Blocks that others do not fill are copied all the same. */
static void blocks_of_any_sizes_are_copied(void **state)
{
    enum { ROWS = 16, COLUMNS = 100, N = ROWS * COLUMNS, MOST = 16 * 192 };
    static const dnnl_format_tag_t tags[] = {dnnl_ab,       dnnl_BA16a48b, dnnl_BA16a64b,
                                             dnnl_BA16a48b, dnnl_ba,       dnnl_ab};
    static float at[AMP_COUNT(tags)][MOST];
    struct amp_error err = {.status = AMP_OK};
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.host = &host, .err = &err};
    dnnl_memory_desc_t descs[AMP_COUNT(tags)];
    (void)state;
    if (!__real_amp_cpu_tells_caches())
        return; /* oneDNN would leave some out */
    assert_int_equal(amp_dnnl_create(NULL, &host.dnnl, &err), AMP_OK);
    for (size_t i = 0; i < N; i++)
        at[0][i] = (float)(i + 1);
    for (size_t i = 0; i < AMP_COUNT(tags); i++) {
        struct amp_reorder *reorder;
        dnnl_memory_desc_create_with_tag(&descs[i], 2, (const dnnl_dims_t){ROWS, COLUMNS}, dnnl_f32,
                                         tags[i]);
        assert_true(dnnl_memory_desc_get_size(descs[i]) <= sizeof at[0]);
        if (i == 0)
            continue;
        assert_int_equal(amp_reorder_create(host.dnnl->engine, descs[i - 1], descs[i], &reorder),
                         dnnl_success);
        assert_int_equal(amp_reorder_run(&ctx, reorder, at[i - 1], at[i]), AMP_OK);
        amp_reorder_destroy(reorder);
    }
    assert_memory_equal(at[AMP_COUNT(tags) - 1], at[0], N * sizeof(float));
    for (size_t i = 0; i < AMP_COUNT(tags); i++)
        dnnl_memory_desc_destroy(descs[i]);
    amp_dnnl_destroy(host.dnnl);
}

/* What is constant is read until each primitive has it in its own form: as an input or, behind
   these, as an operand of a post-op. */
static void constants_are_read_until_all_have_them(void **state)
{
    enum { N_IN = 2 };
    static const struct {
        struct amp_binding at[2];
        int n;
        bool is_read[N_IN + 2];
    } cases[] = {
        {{{.index = 0}}, 0, {true, true, true, true}},
        {{{.index = 1}}, 1, {true, true, true, true}},
        {{{.index = 1, .is_ready = true}}, 1, {true, false, true, true}},
        {{{.index = 0, .is_ready = true}}, 1, {false, true, true, true}},
        {{{.index = 1, .is_ready = true}, {.index = 1}}, 2, {true, true, true, true}},
        {{{.index = 1}, {.index = 1, .is_ready = true}}, 2, {true, true, true, true}},
        {{{.index = 1, .is_ready = true}, {.index = 1, .is_ready = true}},
         2,
         {true, false, true, true}},
        {{{.index = 1, .is_ready = true}, {.index = 0}}, 2, {true, false, true, true}},
        {{{.index = 0, .is_operand = true, .is_ready = true}}, 1, {true, true, false, true}},
        {{{.index = 1, .is_operand = true, .is_ready = true}}, 1, {true, true, true, false}},
        {{{.index = 0, .is_output = true, .is_ready = true}}, 1, {true, true, true, true}},
        {{{.index = 0, .is_data = true, .is_ready = true}}, 1, {true, true, true, true}},
        {{{.index = 0, .is_ready = true}, {.index = 0, .is_output = true}},
         2,
         {false, true, true, true}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_bindings bindings = {.n = cases[i].n};
        memcpy(bindings.at, cases[i].at, sizeof cases[i].at);
        for (size_t k = 0; k < N_IN + 2; k++)
            if (amp_bindings_read(&bindings, N_IN, k) != cases[i].is_read[k])
                fail_msg("case %zu, input %zu", i, k);
    }
}

static void memory_for_primitives_ends(void **state)
{
    static const int64_t dims[] = {2, 3, 5, 7};
    struct amp_error err = {.status = AMP_OK};
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.host = &host, .err = &err};
    dnnl_memory_desc_t desc = layout_of(0, dims, dnnl_f32);
    dnnl_memory_t memory = NULL;
    struct amp_buffer *buffer;
    size_t limit = amp_memory_limit();
    (void)state;
    assert_int_equal(amp_dnnl_create(NULL, &host.dnnl, &err), AMP_OK);
    amp_memory_set_limit(amp_memory_used());
    assert_int_equal(amp_binding_alloc(&ctx, desc, &memory, &buffer), AMP_IO);
    const char said[] = "out of memory: a layout of oneDNN takes 840 bytes; ";
    assert_memory_equal(err.text, said, sizeof said - 1);
    amp_memory_set_limit(limit);
    assert_int_equal(amp_binding_alloc(&ctx, desc, &memory, &buffer), AMP_OK);
    assert_true(buffer->size >= 840);
    dnnl_memory_destroy(memory);
    amp_buffer_unref(buffer);
    amp_dnnl_destroy(host.dnnl);
    dnnl_memory_desc_destroy(desc);
}

/* A convolution whose weights, inputs and outputs have layouts of oneDNN's: with less than it takes
   it says so, and the next run with enough of it is right. */
static void memory_for_runs_ends(void **state)
{
    enum { WIDTH = 17, PIXELS_IN = 12 * 12, LIMITS = 64 }; /* blocks are not full */
    static float weights[WIDTH * WIDTH * 9], x[WIDTH * PIXELS_IN];
    size_t limit = amp_memory_limit(), most = 0, n_refused = 0;
    (void)state;
    for (size_t i = 0; i < WIDTH * WIDTH * 9; i++)
        weights[i] = 1;
    for (size_t i = 0; i < WIDTH * PIXELS_IN; i++)
        x[i] = 1;
    net_start(17);
    uint32_t w = constant("w", AMP_FLOAT, DIMS(WIDTH, WIDTH, 3, 3), weights);
    uint32_t a = NODE("Conv", "a", input("x", AMP_FLOAT, DIMS(1, WIDTH, 12, 12)), w);
    output(NODE("Conv", "y", NODE("Tanh", "t", a), w));
    infer_all();
    const struct amp_tensor *in = net_tensor(AMP_FLOAT, DIMS(1, WIDTH, 12, 12), x);
    for (size_t i = 0; i <= LIMITS; i++) {
        struct amp_session *session = NULL;
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        amp_memory_set_limit(limit);
        assert_int_equal(amp_session_open(net.model, AMP_ROUNDED, &session, &net.err), AMP_OK);
        size_t used = amp_memory_used();
        amp_memory_restart_peak();
        if (i > 0)
            amp_memory_set_limit(used + (most - used) * (i - 1) / LIMITS);
        for (int run = 0; run < 2; run++) {
            net.err = (struct amp_error){.status = AMP_OK};
            enum amp_status status = amp_session_run(session, in, net.outputs, &net.err);
            amp_memory_set_limit(limit);
            if (status != AMP_OK) {
                assert_int_equal(status, AMP_IO);
                assert_non_null(strstr(net.err.text, "out of memory: "));
                assert_true(i > 0 && run == 0);
                n_refused++;
                continue;
            }
            for (size_t k = 0; k < WIDTH * 8 * 8; k++)
                assert_true(fabs(amp_tensor_double(&net.outputs[0], k) - WIDTH * 9) < 1e-3);
            amp_tensors_release(net.outputs, NET_OUTPUTS);
        }
        most = i == 0 ? amp_memory_peak() : most;
        amp_session_destroy(session);
    }
    assert_true(n_refused > 0);
}

/* Three matrices of 4 MB, or more, of which each may be too much. */
static void matrices_for_the_roofline_need_room(void **state)
{
    enum { MATRIX = 1024 * 1024 * 4 };
    struct amp_error err = {.status = AMP_OK};
    struct amp_roofline *roofline;
    size_t limit = amp_memory_limit(), used = amp_memory_used();
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        amp_memory_set_limit(used + i * MATRIX + MATRIX / 2);
        assert_int_equal(amp_roofline_create(AMP_FLOAT, &roofline, &err), AMP_IO);
        const char said[] = "out of memory: a matrix takes 4.2 MB; ";
        assert_memory_equal(err.text, said, sizeof said - 1);
        assert_int_equal(amp_memory_used(), used);
        err = (struct amp_error){.status = AMP_OK};
    }
    amp_memory_set_limit(limit);
    assert_int_equal(amp_roofline_create(AMP_INT64, &roofline, &err), AMP_UNSUPPORTED);
    assert_string_equal(err.text, "oneDNN has no product for these types and shapes");
    assert_int_equal(amp_roofline_create(AMP_FLOAT, &roofline, &err), AMP_OK);
    amp_roofline_destroy(roofline);
    assert_int_equal(amp_memory_used(), used);
}

/* ---- names of implementations ---- */

/* The linker has the program ask here. */
const char *__real_amp_describe_implementation(const_dnnl_primitive_desc_t pd);
const char *__wrap_amp_describe_implementation(const_dnnl_primitive_desc_t pd);

static const char *implementation; /* NULL: as oneDNN has it */

const char *__wrap_amp_describe_implementation(const_dnnl_primitive_desc_t pd)
{
    return implementation != NULL ? implementation : __real_amp_describe_implementation(pd);
}

/* ---- arguments of primitives ---- */

enum { ROWS_OF_X = 3, INNER_DIM = 4, COLUMNS_OF_W = 5, N_WEIGHTS = INNER_DIM * COLUMNS_OF_W };

static dnnl_memory_desc_t matrix(int64_t rows, int64_t columns, dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {rows, columns};
    dnnl_memory_desc_t desc;
    assert_int_equal(dnnl_memory_desc_create_with_tag(&desc, 2, dims, dnnl_f32, tag), dnnl_success);
    return desc;
}

/* A product whose weights lie as W does, and whose result by RESULT. */
static dnnl_primitive_desc_t product_with(dnnl_engine_t engine, dnnl_memory_desc_t w,
                                          dnnl_format_tag_t result, dnnl_primitive_attr_t attr)
{
    dnnl_primitive_desc_t pd;
    dnnl_memory_desc_t x = matrix(ROWS_OF_X, INNER_DIM, dnnl_ab);
    dnnl_memory_desc_t y = matrix(ROWS_OF_X, COLUMNS_OF_W, result);
    assert_int_equal(dnnl_matmul_primitive_desc_create(&pd, engine, x, w, NULL, y, attr),
                     dnnl_success);
    dnnl_memory_desc_destroy(x);
    dnnl_memory_desc_destroy(y);
    return pd;
}

/* A product whose weights and result lie by WEIGHTS and RESULT. */
static dnnl_primitive_desc_t product_of(dnnl_engine_t engine, dnnl_format_tag_t weights,
                                        dnnl_format_tag_t result, dnnl_primitive_attr_t attr)
{
    dnnl_memory_desc_t w = matrix(INNER_DIM, COLUMNS_OF_W, weights);
    dnnl_primitive_desc_t pd = product_with(engine, w, result, attr);
    dnnl_memory_desc_destroy(w);
    return pd;
}

/* What a product is bound to. */
static struct {
    float x[ROWS_OF_X * INNER_DIM], w[N_WEIGHTS];
    struct amp_tensor in_x, in_w, out;
    const struct amp_tensor *in[2];
    struct amp_tensor *outs[1];
    bool is_constant[2];
    void *state;
    struct amp_node node;
    struct amp_host host;
    struct amp_ctx ctx;
    dnnl_memory_desc_t x_desc, w_desc, y_desc; /* row-major */
} bound;

static void bind_start(const struct amp_own_kernel *const *own)
{
    memset(&bound, 0, sizeof bound);
    for (int i = 0; i < N_WEIGHTS; i++)
        bound.w[i] = (float)(i + 1);
    for (int i = 0; i < ROWS_OF_X * INNER_DIM; i++)
        bound.x[i] = (float)(i % INNER_DIM == i / INNER_DIM); /* the first rows of w */
    bound.in_x = (struct amp_tensor){
        .dtype = AMP_FLOAT, .shape = DIMS(ROWS_OF_X, INNER_DIM), .data = bound.x};
    bound.in_w = (struct amp_tensor){
        .dtype = AMP_FLOAT, .shape = DIMS(INNER_DIM, COLUMNS_OF_W), .data = bound.w};
    bound.out = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(ROWS_OF_X, COLUMNS_OF_W)};
    bound.in[0] = &bound.in_x;
    bound.in[1] = &bound.in_w;
    bound.outs[0] = &bound.out;
    bound.is_constant[1] = true;
    bound.node = (struct amp_node){.op_type = "MatMul"};
    bound.ctx = (struct amp_ctx){.node = &bound.node,
                                 .in = bound.in,
                                 .n_in = 2,
                                 .out = bound.outs,
                                 .n_out = 1,
                                 .is_constant = bound.is_constant,
                                 .state = &bound.state,
                                 .host = &bound.host,
                                 .err = &net.err};
    net.err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_dnnl_create(own, &bound.host.dnnl, &net.err), AMP_OK);
    bound.x_desc = matrix(ROWS_OF_X, INNER_DIM, dnnl_ab);
    bound.w_desc = matrix(INNER_DIM, COLUMNS_OF_W, dnnl_ab);
    bound.y_desc = matrix(ROWS_OF_X, COLUMNS_OF_W, dnnl_ab);
}

static void bind_end(void)
{
    amp_prim_destroy(bound.state);
    amp_tensor_release(&bound.out);
    dnnl_memory_desc_destroy(bound.x_desc);
    dnnl_memory_desc_destroy(bound.w_desc);
    dnnl_memory_desc_destroy(bound.y_desc);
    amp_dnnl_destroy(bound.host.dnnl);
}

static void bind(struct amp_bindings *bindings, dnnl_primitive_desc_t pd,
                 struct amp_binding binding, dnnl_memory_desc_t user)
{
    assert_int_equal(amp_bindings_add(&bound.ctx, bindings, pd, binding, user), AMP_OK);
}

static const struct amp_binding constant_weights = {
    .arg = DNNL_ARG_WEIGHTS, .index = 1, .is_constant = true};

static void *handle_of(dnnl_memory_t memory)
{
    void *handle;
    assert_int_equal(dnnl_memory_get_data_handle(memory, &handle), dnnl_success);
    return handle;
}

/* Where layouts agree, a memory is the tensor's; where not, a constant is laid out once, and a
   result is copied behind the primitive. */
static void arguments_are_laid_out_as_wanted(void **state)
{
    enum { X, W, Y, OWN, N };
    static struct amp_bindings b;
    static const int args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, 77};
    dnnl_exec_arg_t found[N];
    float *data;
    (void)state;
    bind_start(NULL);
    dnnl_primitive_desc_t pd = product_of(bound.host.dnnl->engine, dnnl_ba, dnnl_ba, NULL);
    b.n = b.n_former = 0;
    bind(&b, pd, (struct amp_binding){.arg = args[X]}, bound.x_desc);
    bind(&b, pd, constant_weights, bound.w_desc);
    bind(&b, pd, (struct amp_binding){.arg = args[Y], .is_output = true}, bound.y_desc);
    assert_int_equal(amp_bindings_add_data(&bound.ctx, &b, args[OWN], bound.x_desc, (void **)&data),
                     AMP_OK);
    assert_int_equal(b.n, N);
    data[ROWS_OF_X * INNER_DIM - 1] = 7;
    for (int i = 0; i < N; i++) {
        assert_int_equal(b.at[i].own != b.at[i].user, i == W || i == Y);
        assert_int_equal(b.at[i].reorder != NULL, i == W || i == Y);
        assert_int_equal(b.at[i].buffer != NULL, i == Y || i == OWN);
    }
    bound.in_w.data = NULL;
    assert_int_equal(amp_bindings_load(&bound.ctx, &b, found), AMP_AGAIN);
    for (size_t i = 0; i < 3; i++)
        assert_true(amp_bindings_read(&b, 2, i));
    bound.in_w.data = bound.w;
    for (int run = 0; run < 3; run++) {
        float moved[ROWS_OF_X * INNER_DIM];
        bound.in_x.data = run == 1 ? moved : bound.x;
        assert_int_equal(amp_bindings_load(&bound.ctx, &b, found), AMP_OK);
        for (int i = 0; i < N; i++) {
            assert_int_equal(found[i].arg, args[i]);
            assert_ptr_equal(found[i].memory, b.at[i].own);
        }
        assert_ptr_equal(handle_of(found[X].memory), bound.in_x.data);
        assert_ptr_equal(handle_of(found[OWN].memory), data);
        const float *laid_out = handle_of(found[W].memory);
        for (int i = 0; i < N_WEIGHTS; i++)
            assert_true(laid_out[i % COLUMNS_OF_W * INNER_DIM + i / COLUMNS_OF_W] == bound.w[i]);
        bound.w[0] = -1; /* is not read again */
        float *result = handle_of(found[Y].memory);
        for (int i = 0; i < ROWS_OF_X * COLUMNS_OF_W; i++)
            result[i % COLUMNS_OF_W * ROWS_OF_X + i / COLUMNS_OF_W] = (float)(i + run);
        assert_int_equal(amp_bindings_store(&bound.ctx, &b), AMP_OK);
        for (size_t i = 0; i < ROWS_OF_X * COLUMNS_OF_W; i++)
            assert_true(amp_tensor_double(&bound.out, i) == (double)i + run);
        bound.w[0] = 1;
    }
    assert_true(b.at[W].is_ready && amp_bindings_read(&b, 2, 0));
    assert_true(data[ROWS_OF_X * INNER_DIM - 1] == 7);
    amp_bindings_release(&b);
    assert_true(b.n == 0 && b.n_former == 0);
    dnnl_primitive_desc_destroy(pd);
    bind_end();
}

/* What one primitive has ready goes on to the next for the same input in the same layouts. */
static void constants_that_are_ready_go_on(void **state)
{
    enum { SAME, NOT_CONSTANT, OTHER_INPUT, OPERAND, OTHER_LAYOUT, OTHER_WISH, CASES };
    static struct amp_bindings old, new;
    dnnl_memory_desc_t apart;
    dnnl_exec_arg_t found[2];
    (void)state;
    bind_start(NULL);
    dnnl_engine_t engine = bound.host.dnnl->engine;
    dnnl_primitive_desc_t pd = product_of(engine, dnnl_ba, dnnl_ab, NULL);
    dnnl_primitive_desc_t plain = product_of(engine, dnnl_ab, dnnl_ab, NULL);
    dnnl_memory_desc_create_with_strides(&apart, 2, (const dnnl_dims_t){INNER_DIM, COLUMNS_OF_W},
                                         dnnl_f32, (const dnnl_dims_t){COLUMNS_OF_W + 1, 1});
    for (int i = 0; i < CASES; i++)
        for (int n = 1; n <= 2; n++) { /* alone, and behind another */
            struct amp_binding binding = constant_weights;
            old.n = old.n_former = new.n = new.n_former = 0;
            bind(&old, pd, (struct amp_binding){.arg = DNNL_ARG_SRC}, bound.x_desc);
            bind(&old, pd, binding, bound.w_desc);
            assert_int_equal(amp_bindings_load(&bound.ctx, &old, found), AMP_OK);
            struct amp_binding ready = old.at[1];
            amp_bindings_keep_ready(&old, &new);
            assert_int_equal(new.n_former, 1);
            assert_true(!old.at[1].is_ready && old.at[1].own == NULL && old.at[0].own != NULL);
            amp_bindings_release(&old);
            if (n == 2) {
                new.former[1] = new.former[0];
                new.former[0] = (struct amp_binding){.index = 5, .is_ready = true};
                new.n_former = 2;
            }
            new.former[n - 1].arg = 0;
            binding.is_constant = i != NOT_CONSTANT;
            binding.index = i == OTHER_INPUT ? 0 : 1;
            binding.is_operand = i == OPERAND;
            bind(&new, i == OTHER_WISH ? plain : pd, binding,
                 i == OTHER_LAYOUT ? apart : bound.w_desc);
            assert_int_equal(new.n_former, i == SAME ? n - 1 : n);
            assert_int_equal(new.at[0].own == ready.own, i == SAME);
            assert_int_equal(new.at[0].is_ready, i == SAME);
            assert_int_equal(new.at[0].arg, DNNL_ARG_WEIGHTS);
            if (i == SAME) {
                bound.in_w.data = NULL;
                assert_int_equal(amp_bindings_load(&bound.ctx, &new, found), AMP_OK);
                assert_ptr_equal(found[0].memory, ready.own);
                bound.in_w.data = bound.w;
            }
            amp_bindings_drop_former(&new);
            assert_int_equal(new.n_former, 0);
            amp_bindings_release(&new);
        }
    dnnl_memory_desc_destroy(apart);
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_desc_destroy(plain);
    bind_end();
}

/* Sessions have one form of weights for each two layouts. */
static void forms_are_of_two_layouts(void **state)
{
    enum { PLAIN, TURNED, APART, LAYOUTS };
    static const int strides[LAYOUTS][2] = {{COLUMNS_OF_W, 1}, {1, INNER_DIM}, {1, INNER_DIM + 1}};
    static const int ways[][2] = {{PLAIN, TURNED}, {PLAIN, TURNED}, {PLAIN, APART},
                                  {APART, TURNED}, {TURNED, PLAIN}, {APART, PLAIN}};
    static struct amp_bindings b[AMP_COUNT(ways)];
    dnnl_memory_desc_t descs[LAYOUTS];
    dnnl_primitive_desc_t pds[LAYOUTS];
    dnnl_exec_arg_t found[1];
    (void)state;
    bind_start(NULL);
    for (int i = 0; i < LAYOUTS; i++) {
        dnnl_memory_desc_create_with_strides(&descs[i], 2,
                                             (const dnnl_dims_t){INNER_DIM, COLUMNS_OF_W}, dnnl_f32,
                                             (const dnnl_dims_t){strides[i][0], strides[i][1]});
        pds[i] = product_with(bound.host.dnnl->engine, descs[i], dnnl_ab, NULL);
    }
    for (int is_kept = 0; is_kept < 2; is_kept++) {
        float wide[N_WEIGHTS + COLUMNS_OF_W];
        bound.in_w.data = wide;
        for (int i = 0; i < N_WEIGHTS + COLUMNS_OF_W; i++)
            wide[i] = (float)i;
        if (is_kept)
            amp_shared_forms_begin(wide, sizeof wide);
        for (size_t i = 0; i < AMP_COUNT(ways); i++) {
            const int *from = strides[ways[i][0]], *to = strides[ways[i][1]];
            b[i].n = b[i].n_former = 0;
            bind(&b[i], pds[ways[i][1]], constant_weights, descs[ways[i][0]]);
            assert_int_equal(amp_bindings_load(&bound.ctx, &b[i], found), AMP_OK);
            const float *laid_out = handle_of(found[0].memory);
            for (int row = 0; row < INNER_DIM; row++)
                for (int column = 0; column < COLUMNS_OF_W; column++)
                    assert_true(laid_out[row * to[0] + column * to[1]] ==
                                (float)(row * from[0] + column * from[1]));
            for (size_t k = 0; k < i; k++)
                assert_int_equal(b[i].at[0].buffer == b[k].at[0].buffer,
                                 i == 1 && k == 0 && is_kept);
        }
        amp_shared_forms_end();
        for (size_t i = 0; i < AMP_COUNT(ways); i++)
            amp_bindings_release(&b[i]);
    }
    for (int i = 0; i < LAYOUTS; i++) {
        dnnl_primitive_desc_destroy(pds[i]);
        dnnl_memory_desc_destroy(descs[i]);
    }
    bind_end();
}

/* An output has the memory that it had, where nobody has taken that; one that may lie as it likes
   has new memory in each run, and the layout that was said. */
static void outputs_come_back_to_their_memory(void **state)
{
    static struct amp_bindings b;
    static const dnnl_dims_t turned = {ROWS_OF_X, COLUMNS_OF_W};
    dnnl_exec_arg_t found[1];
    dnnl_memory_desc_t desc;
    (void)state;
    bind_start(NULL);
    dnnl_primitive_desc_t pd = product_of(bound.host.dnnl->engine, dnnl_ab, dnnl_ab, NULL);
    dnnl_memory_desc_create_with_tag(&desc, 2, turned, dnnl_f32, dnnl_ba);
    const struct amp_layout *layout = amp_layout_of(bound.host.dnnl->layouts, desc);
    assert_non_null(layout);
    amp_buffers_keep();
    for (int is_free = 0; is_free < 2; is_free++) {
        b.n = b.n_former = 0;
        bind(&b, pd,
             (struct amp_binding){.arg = DNNL_ARG_DST,
                                  .is_output = true,
                                  .is_free = is_free == 1,
                                  .layout = is_free == 1 ? layout : NULL,
                                  .size = is_free == 1 ? dnnl_memory_desc_get_size(desc) : 0},
             bound.y_desc);
        const void *first = NULL;
        for (int run = 0; run < 4; run++) {
            amp_tensor_release(&bound.out);
            bound.out.layout = NULL;
            struct amp_buffer *other = NULL;
            if (run > 0) { /* another that is kept as well, and was last */
                other = amp_buffer_create(sizeof(float) * ROWS_OF_X * COLUMNS_OF_W);
                struct amp_buffer *one_more =
                    amp_buffer_create(sizeof(float) * ROWS_OF_X * COLUMNS_OF_W);
                assert_true(other->data == first || one_more->data == first);
                amp_buffer_unref(other->data == first ? other : one_more);
                amp_buffer_unref(other->data == first ? one_more : other);
            }
            assert_int_equal(amp_bindings_load(&bound.ctx, &b, found), AMP_OK);
            assert_non_null(bound.out.data);
            assert_ptr_equal(bound.out.data, bound.out.buffer->data);
            assert_true(bound.out.buffer->size >= sizeof(float) * ROWS_OF_X * COLUMNS_OF_W);
            if (run == 0)
                first = bound.out.data;
            assert_ptr_equal(bound.out.data, first);
            assert_ptr_equal(handle_of(found[0].memory), first);
            assert_ptr_equal(bound.out.layout, is_free == 1 ? layout : NULL);
        }
        /* What has memory keeps it, unless it may lie as it likes. */
        float given[ROWS_OF_X * COLUMNS_OF_W];
        amp_tensor_release(&bound.out);
        bound.out.data = given;
        bound.out.layout = NULL;
        assert_int_equal(amp_bindings_load(&bound.ctx, &b, found), AMP_OK);
        assert_int_equal(bound.out.data == given, is_free == 0);
        assert_ptr_equal(handle_of(found[0].memory), bound.out.data);
        assert_ptr_equal(bound.out.layout, is_free == 1 ? layout : NULL);
        if (is_free == 0)
            bound.out.data = NULL;
        amp_bindings_release(&b);
    }
    amp_tensor_release(&bound.out);
    amp_buffers_let_go();
    dnnl_memory_desc_destroy(desc);
    dnnl_primitive_desc_destroy(pd);
    bind_end();
}

static void arguments_are_not_without_end(void **state)
{
    static struct amp_bindings b;
    void *data;
    (void)state;
    bind_start(NULL);
    dnnl_primitive_desc_t pd = product_of(bound.host.dnnl->engine, dnnl_ab, dnnl_ab, NULL);
    b.n = b.n_former = 0;
    for (size_t i = 0; i < AMP_COUNT(b.at); i++)
        bind(&b, pd, (struct amp_binding){.arg = DNNL_ARG_SRC}, bound.x_desc);
    for (int i = 0; i < 2; i++) {
        net.err = (struct amp_error){.status = AMP_OK};
        assert_int_equal(
            i == 0 ? amp_bindings_add(&bound.ctx, &b, pd, constant_weights, bound.w_desc)
                   : amp_bindings_add_data(&bound.ctx, &b, DNNL_ARG_SRC, bound.x_desc, &data),
            AMP_UNSUPPORTED);
        assert_string_equal(net.err.text, "too many arguments for a oneDNN primitive");
        assert_int_equal(b.n, AMP_COUNT(b.at));
    }
    amp_bindings_release(&b);
    dnnl_primitive_desc_destroy(pd);
    bind_end();
}

/* ---- profiles ---- */

/* Nodes are noted by their ids, and of a call what it took and gave; a node that ran within another
   has its own seconds. */
static void profiles_have_nodes_by_their_ids(void **state)
{
    enum { MOST = 5 };
    static const char long_way[] =
        "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
        "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789";
    struct amp_node nodes[MOST];
    struct amp_model small = {.nodes = nodes, .n_nodes = 2},
                     large = {.nodes = nodes, .n_nodes = MOST};
    const struct amp_tensor six = {.dtype = AMP_FLOAT, .shape = DIMS(2, 3)},
                            four = {.dtype = AMP_BFLOAT16, .shape = DIMS(4)},
                            none = {.dtype = AMP_UNDEFINED, .shape = DIMS(7)},
                            unknown = {.dtype = AMP_UINT8, .shape = DIMS(2, -1)},
                            any = {.dtype = AMP_INT8, .shape = ANY_DIMS},
                            list = {
                                .dtype = AMP_FLOAT, .form = AMP_FORM_SEQUENCE, .shape = DIMS(9)};
    const struct amp_tensor *in[] = {&six, NULL, &four, &none, &unknown, &any, &list};
    struct amp_tensor result = {.dtype = AMP_FLOAT, .shape = DIMS(5)}, unwanted = none;
    struct amp_tensor *out[] = {&result, &unwanted};
    struct amp_profile *profile = amp_profile_create();
    size_t count;
    (void)state;
    for (int i = 0; i < MOST; i++)
        nodes[i] = (struct amp_node){.op_type = "Sin", .domain = ""};
    assert_null(amp_profile_nodes(profile, &count));
    assert_int_equal(count, 0);
    struct amp_ctx inner = {.model = &small,
                            .node = &nodes[1],
                            .in = in,
                            .n_in = AMP_COUNT(in),
                            .out = out,
                            .n_out = AMP_COUNT(out)};
    struct amp_ctx outer = inner, later = inner;
    outer.node = &nodes[0];
    outer.n_in = 1;
    outer.n_out = 0;
    later.model = &large;
    later.node = &nodes[3];
    double before = amp_clock_seconds();
    struct amp_profile_mark all = amp_profile_begin(profile);
    for (int i = 0; i < 3; i++) {
        struct amp_profile_mark one = amp_profile_begin(profile);
        for (double start = amp_clock_seconds(); amp_clock_seconds() - start < 1e-3;)
            ;
        amp_profile_end(profile, one, &inner, i == 2 ? long_way : "alone");
    }
    amp_profile_end(profile, all, &outer, "bodies");
    double passed = amp_clock_seconds() - before;
    const struct amp_profile_node *noted = amp_profile_nodes(profile, &count);
    assert_int_equal(count, 2);
    assert_true(noted[0].node == &nodes[0] && noted[1].node == &nodes[1]);
    assert_true(noted[0].calls == 1 && noted[1].calls == 3);
    assert_true(noted[0].bytes == 24 && noted[1].bytes == 3 * (24 + 8 + 20));
    assert_true(noted[1].seconds >= 3e-3 && noted[0].seconds > -1e-6);
    assert_true(noted[0].seconds + noted[1].seconds <= passed);
    assert_string_equal(noted[0].way, "bodies");
    assert_memory_equal(noted[1].way, long_way, AMP_PROFILE_WAY_SIZE - 1);
    assert_int_equal(noted[1].way[AMP_PROFILE_WAY_SIZE - 1], 0);
    /* A model of more nodes, of which one did the work of another before it. */
    double of_first = noted[1].seconds;
    all = amp_profile_begin(profile);
    amp_profile_credit(profile, &inner, 1000);
    amp_profile_end(profile, all, &later, "alone");
    noted = amp_profile_nodes(profile, &count);
    assert_int_equal(count, MOST);
    assert_true(noted[1].seconds == of_first + 1000 && noted[1].calls == 3);
    assert_true(noted[3].seconds < -999 && noted[3].seconds > -1001 && noted[3].calls == 1);
    assert_true(noted[2].node == NULL && noted[2].calls == 0 && noted[4].seconds == 0);
    amp_profile_destroy(profile);
    /* Nobody may ask for a profile. */
    all = amp_profile_begin(NULL);
    assert_true(all.start == 0 && all.inner == 0);
    amp_profile_end(NULL, all, &outer, "alone");
    amp_profile_note(NULL, &outer, NULL, NULL, 1);
    amp_profile_note_reorder(NULL, &outer, NULL, 1);
    amp_profile_destroy(NULL);
}

/* Copies and primitives are noted by what they are of and for which node. */
static void profiles_have_primitives_of_nodes(void **state)
{
    static const int ids[3], of[][2] = {{0, 0}, {0, 1}, {1, 0}, {0, 0}, {1, 1}, {0, 1}, {0, 0}};
    static const size_t calls[] = {3, 2, 1, 1};
    static const int64_t dims[] = {2, 3, 5, 7};
    struct amp_node nodes[2] = {{.op_type = "Sin"}, {.op_type = "Cos"}};
    struct amp_model model = {.nodes = nodes, .n_nodes = 2};
    struct amp_profile *profile = amp_profile_create();
    dnnl_memory_desc_t a = layout_of(0, dims, dnnl_f32), b = layout_of(3, dims, dnnl_f32);
    dnnl_engine_t engine;
    dnnl_primitive_desc_t pd;
    size_t count;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    for (size_t i = 0; i < AMP_COUNT(of); i++) {
        const struct amp_profile_reorder reorder = {&ids[of[i][0]], of[i][0] == 0 ? a : b, b};
        const struct amp_ctx ctx = {.model = &model, .node = &nodes[of[i][1]]};
        amp_profile_note_reorder(profile, &ctx, &reorder, 0.5);
    }
    const struct amp_profile_primitive *noted = amp_profile_primitives(profile, &count);
    assert_int_equal(count, AMP_COUNT(calls));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(noted[i].calls, calls[i]);
        assert_true(noted[i].seconds == 0.5 * (double)calls[i]);
        assert_string_equal(noted[i].kind, "reorder");
        assert_string_equal(noted[i].implementation, "strided copy");
        assert_string_equal(noted[i].layouts, noted[i].id == &ids[0] ? "f32:abcd -> f32:aBcd8b"
                                                                     : "f32:aBcd8b -> f32:aBcd8b");
    }
    assert_int_equal(dnnl_eltwise_forward_primitive_desc_create(
                         &pd, engine, dnnl_forward_inference, dnnl_eltwise_relu, b, b, 0, 0, NULL),
                     dnnl_success);
    const struct amp_ctx ctx = {.model = &model, .node = &nodes[1]};
    implementation = "one";
    amp_profile_note(profile, &ctx, pd, NULL, 2);
    implementation = "another";
    amp_profile_note(profile, &ctx, pd, NULL, 3);
    noted = &amp_profile_primitives(profile, &count)[AMP_COUNT(calls)];
    assert_int_equal(count, AMP_COUNT(calls) + 1);
    assert_true(noted->calls == 2 && noted->seconds == 5 && noted->id == pd);
    assert_string_equal(noted->kind, "eltwise");
    assert_string_equal(noted->implementation, "one");
    assert_string_equal(noted->layouts, "f32:aBcd8b -> f32:aBcd8b");
    amp_profile_note(profile, &ctx, pd, "own", 1);
    assert_string_equal(noted->implementation, "own");
    implementation = NULL;
    amp_profile_destroy(profile);
    dnnl_primitive_desc_destroy(pd);
    dnnl_memory_desc_destroy(a);
    dnnl_memory_desc_destroy(b);
    dnnl_engine_destroy(engine);
}

/* ---- operands of post-ops ---- */

static struct amp_post binary_post(const struct amp_tensor *operand)
{
    return (struct amp_post){.kind = AMP_POST_BINARY, .alg = dnnl_binary_mul, .operand = operand};
}

/* Appends N posts of a call whose output is of the shape OUT, and seen in that of TARGET. */
static enum amp_status append_posts(const struct amp_post *posts, uint32_t n,
                                    const struct amp_shape *out, const struct amp_shape *target,
                                    dnnl_post_ops_t *ops, struct amp_post_operands *operands)
{
    struct amp_tensor y = {.dtype = AMP_FLOAT, .shape = *out}, *outs = &y;
    struct amp_descs descs = {.n = 0};
    net.err = (struct amp_error){.status = AMP_OK};
    *operands = (struct amp_post_operands){.n = 0};
    assert_int_equal(dnnl_post_ops_create(ops), dnnl_success);
    struct amp_ctx ctx = {.out = &outs, .n_out = 1, .posts = posts, .n_posts = n, .err = &net.err};
    const struct amp_post_target to = {.descs = &descs,
                                       .operands = operands,
                                       .ops = *ops,
                                       .rank = target->rank,
                                       .dims = target->dims};
    enum amp_status status = amp_post_operands_append(&ctx, &to);
    amp_descs_release(&descs);
    return status;
}

/* An operand broadcasts to what a primitive sees of an output as it does to the output. */
static void operands_are_seen_as_the_output_is(void **state)
{
    static const struct {
        struct amp_shape out, target, operand, view; /* rank -1: there is none */
    } cases[] = {
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {3, {2, 3, 4}}, {3, {2, 3, 4}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {2, {3, 4}}, {3, {1, 3, 4}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {1, {4}}, {3, {1, 1, 4}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {1, {1}}, {3, {1, 1, 1}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {0, {0}}, {3, {1, 1, 1}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {3, {2, 1, 1}}, {3, {2, 1, 1}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {2, {3, 1}}, {3, {1, 3, 1}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {3, {1, 3, 1}}, {3, {1, 3, 1}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {4, {1, 1, 1, 4}}, {-1, {0}}},
        {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {4, {1, 2, 3, 4}}, {-1, {0}}},
        {{3, {1, 3, 4}}, {3, {1, 3, 4}}, {2, {3, 4}}, {3, {1, 3, 4}}},
        {{3, {1, 1, 4}}, {3, {1, 1, 4}}, {3, {1, 3, 4}}, {-1, {0}}},
        {{3, {1, 3, 4}}, {2, {3, 4}}, {2, {3, 4}}, {2, {3, 4}}},
        /* rows of all matrices in one */
        {{3, {2, 3, 4}}, {2, {6, 4}}, {3, {2, 3, 4}}, {2, {6, 4}}},
        {{3, {2, 3, 4}}, {2, {6, 4}}, {1, {4}}, {2, {1, 4}}},
        {{3, {2, 3, 4}}, {2, {6, 4}}, {3, {1, 1, 4}}, {2, {1, 4}}},
        {{3, {2, 3, 4}}, {2, {6, 4}}, {3, {1, 1, 1}}, {2, {1, 1}}},
        {{3, {2, 3, 4}}, {2, {6, 4}}, {2, {3, 4}}, {-1, {0}}},
        {{3, {2, 3, 4}}, {2, {6, 4}}, {2, {3, 1}}, {-1, {0}}},
        {{3, {2, 3, 4}}, {2, {6, 4}}, {3, {2, 1, 1}}, {-1, {0}}},
        {{3, {2, 2, 4}}, {2, {2, 8}}, {2, {2, 1}}, {-1, {0}}},
        {{3, {2, 2, 4}}, {2, {4, 4}}, {3, {2, 1, 4}}, {-1, {0}}},
        /* a dim more */
        {{3, {2, 3, 4}}, {4, {2, 3, 1, 4}}, {1, {4}}, {4, {1, 1, 1, 4}}},
        {{3, {2, 3, 4}}, {4, {2, 3, 1, 4}}, {3, {2, 3, 4}}, {4, {2, 3, 1, 4}}},
        {{3, {2, 3, 4}}, {4, {2, 3, 1, 4}}, {2, {3, 1}}, {-1, {0}}},
        {{3, {2, 3, 4}}, {4, {1, 2, 3, 4}}, {2, {3, 4}}, {4, {1, 1, 3, 4}}},
        {{3, {2, 3, 4}}, {4, {1, 2, 3, 4}}, {3, {2, 1, 4}}, {4, {1, 2, 1, 4}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct amp_tensor operand = {.dtype = AMP_FLOAT, .shape = cases[i].operand};
        const struct amp_post post = binary_post(&operand);
        struct amp_post_operands operands;
        dnnl_post_ops_t ops;
        dnnl_alg_kind_t alg;
        const_dnnl_memory_desc_t desc;
        const dnnl_dims_t *dims;
        int rank;
        enum amp_status status =
            append_posts(&post, 1, &cases[i].out, &cases[i].target, &ops, &operands);
        if (status != (cases[i].view.rank < 0 ? AMP_UNSUPPORTED : AMP_OK))
            fail_msg("case %zu: %s", i, net.err.text);
        if (status == AMP_OK) {
            assert_true(operands.n == 1 && operands.at[0].post == 0);
            assert_int_equal(dnnl_post_ops_get_params_binary(ops, 0, &alg, &desc), dnnl_success);
            dnnl_memory_desc_query(desc, dnnl_query_ndims_s32, &rank);
            dnnl_memory_desc_query(desc, dnnl_query_dims, &dims);
            assert_int_equal(alg, dnnl_binary_mul);
            assert_int_equal(rank, cases[i].view.rank);
            for (int d = 0; d < rank; d++)
                if ((*dims)[d] != cases[i].view.dims[d])
                    fail_msg("case %zu, dim %d: %d", i, d, (int)(*dims)[d]);
        } else
            assert_string_equal(net.err.text, "an operand that broadcasts in another way");
        dnnl_post_ops_destroy(ops);
    }
}

/* What has a layout is as large as the output, of as many dims, and seen in as many. */
static void operands_with_layouts_are_whole(void **state)
{
    static const int last[] = {0, 3, 1, 2}, turned[] = {1, 2, 0};
    static const struct {
        struct amp_shape base, out, target;
        bool fits;
    } cases[] = {
        {{4, {2, 5, 7, 3}}, {4, {2, 3, 5, 7}}, {4, {2, 3, 5, 7}}, true},
        {{4, {2, 5, 7, 3}}, {4, {2, 3, 5, 7}}, {2, {6, 35}}, false},
        {{4, {2, 5, 7, 3}}, {4, {2, 3, 5, 7}}, {5, {1, 2, 3, 5, 7}}, false},
        {{4, {1, 5, 7, 3}}, {4, {2, 3, 5, 7}}, {4, {2, 3, 5, 7}}, false},
        {{3, {7, 3, 5}}, {4, {1, 3, 5, 7}}, {4, {1, 3, 5, 7}}, false},
        {{3, {7, 3, 5}}, {4, {2, 3, 5, 7}}, {4, {2, 3, 5, 7}}, false},
        {{3, {7, 3, 5}}, {3, {3, 5, 7}}, {3, {3, 5, 7}}, true},
    };
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *perm = cases[i].base.rank == 4 ? last : turned;
        struct amp_tensor operand = {.dtype = AMP_FLOAT, .shape = cases[i].base};
        const struct amp_post post = binary_post(&operand);
        struct amp_post_operands operands;
        dnnl_post_ops_t ops;
        const struct amp_layout *layout;
        assert_true(amp_layout_permute(kept, &operand, perm, &layout));
        assert_non_null(layout);
        for (int d = 0; d < cases[i].base.rank; d++)
            operand.shape.dims[d] = cases[i].base.dims[perm[d]];
        operand.layout = layout;
        enum amp_status status =
            append_posts(&post, 1, &cases[i].out, &cases[i].target, &ops, &operands);
        if (status != (cases[i].fits ? AMP_OK : AMP_UNSUPPORTED))
            fail_msg("case %zu: %s", i, net.err.text);
        if (!cases[i].fits)
            assert_string_equal(net.err.text, "an operand in another layout");
        dnnl_post_ops_destroy(ops);
    }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* Each goes behind those before it, and a Cast does nothing. */
static void post_ops_come_in_their_order(void **state)
{
    static const struct amp_shape shape = {2, {3, 4}};
    const struct amp_tensor operand = {.dtype = AMP_FLOAT, .shape = {1, {4}}};
    const struct amp_post posts[] = {
        {.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_linear, .alpha = 2, .beta = 3},
        {.kind = AMP_POST_CAST},
        binary_post(&operand),
        {.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_relu, .alpha = 0.5f},
        binary_post(&operand),
    };
    struct amp_post_operands operands;
    dnnl_post_ops_t ops;
    dnnl_alg_kind_t alg;
    float alpha, beta;
    (void)state;
    assert_int_equal(append_posts(posts, 5, &shape, &shape, &ops, &operands), AMP_OK);
    assert_int_equal(dnnl_post_ops_len(ops), 4);
    assert_int_equal(dnnl_post_ops_get_params_eltwise(ops, 0, &alg, &alpha, &beta), dnnl_success);
    assert_true(alg == dnnl_eltwise_linear && alpha == 2 && beta == 3);
    assert_int_equal(dnnl_post_ops_get_params_eltwise(ops, 2, &alg, &alpha, &beta), dnnl_success);
    assert_true(alg == dnnl_eltwise_relu && alpha == 0.5f && beta == 0);
    assert_int_equal(operands.n, 2);
    assert_true(operands.at[0].post == 2 && operands.at[0].position == 1);
    assert_true(operands.at[1].post == 4 && operands.at[1].position == 3);
    dnnl_post_ops_destroy(ops);
}

/* A division is none of what fills blocks beside the elements. */
static void divisions_of_what_fills_blocks_are_told(void **state)
{
    static const struct amp_post div = {.kind = AMP_POST_BINARY, .alg = dnnl_binary_div},
                                 mul = {.kind = AMP_POST_BINARY, .alg = dnnl_binary_mul},
                                 relu = {.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_relu},
                                 cast = {.kind = AMP_POST_CAST};
    const struct amp_post lists[][2] = {{div, mul},  {mul, div},  {relu, div}, {cast, div},
                                        {mul, relu}, {cast, mul}, {div, div}};
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    for (int64_t channels = 7; channels <= 8; channels++)
        for (size_t layout = 0; layout < 4; layout++) {
            const int64_t dims[] = {2, channels, 3, 1};
            dnnl_memory_desc_t desc = layout_of(layout, dims, dnnl_f32);
            dnnl_primitive_desc_t pd;
            assert_int_equal(
                dnnl_eltwise_forward_primitive_desc_create(
                    &pd, engine, dnnl_forward_inference, dnnl_eltwise_relu, desc, desc, 0, 0, NULL),
                dnnl_success);
            bool is_padded = layout == 3 && channels == 7; /* aBcd8b */
            for (size_t i = 0; i < AMP_COUNT(lists); i++)
                for (size_t n = 0; n <= 2; n++) {
                    const struct amp_ctx ctx = {.posts = lists[i], .n_posts = n};
                    bool divides = false;
                    for (size_t k = 0; k < n; k++)
                        divides |= lists[i][k].alg == dnnl_binary_div;
                    assert_int_equal(amp_post_divides_padding(&ctx, pd), is_padded && divides);
                }
            dnnl_primitive_desc_destroy(pd);
            dnnl_memory_desc_destroy(desc);
        }
    dnnl_engine_destroy(engine);
}

/* What the node that makes VALUE does to its input SLOT: an algorithm, and its numbers. */
static void expect_post(uint32_t value, uint32_t slot, bool is_post, enum amp_post_kind kind,
                        dnnl_alg_kind_t alg, float alpha, float beta)
{
    struct amp_post post;
    const struct amp_node *node = amp_node_at(net.model, node_of(value));
    if (amp_post_of(net.model, node, slot, &post) != is_post)
        fail_msg("%s, input %d: %d", node->op_type, (int)slot, !is_post);
    if (!is_post)
        return;
    assert_int_equal(post.kind, kind);
    assert_int_equal(post.alg, alg);
    assert_true(post.alpha == alpha && post.beta == beta);
    assert_int_equal(post.in, kind == AMP_POST_BINARY ? 1 - slot : 0);
    assert_true(post.operand == NULL && !post.is_constant);
}

static void expect_no_post(uint32_t value, uint32_t slot)
{
    expect_post(value, slot, false, AMP_POST_CAST, dnnl_alg_kind_undef, 0, 0);
}

/* What operators do to each element, of floats of 16 and 32 bits: by ONNX's definitions of them and
   of their attributes. */
static void operators_are_post_ops_by_their_definitions(void **state)
{
    static const struct {
        const char *op_type;
        dnnl_alg_kind_t alg;
        float alpha, beta;
        bool takes_alpha, takes_beta;
    } each[] = {
        {"Relu", dnnl_eltwise_relu, 0, 0, false, false},
        {"LeakyRelu", dnnl_eltwise_relu, 0.01f, 0, true, false},
        {"Elu", dnnl_eltwise_elu, 1, 0, true, false},
        {"Sigmoid", dnnl_eltwise_logistic, 0, 0, false, false},
        {"HardSigmoid", dnnl_eltwise_hardsigmoid, 0.2f, 0.5f, true, true},
        {"Tanh", dnnl_eltwise_tanh, 0, 0, false, false},
        {"Sqrt", dnnl_eltwise_sqrt, 0, 0, false, false},
        {"Abs", dnnl_eltwise_abs, 0, 0, false, false},
        {"Affine", dnnl_eltwise_linear, 1, 0, true, true},
        {"Softmax", dnnl_alg_kind_undef, 0, 0, false, false},
    };
    static const struct {
        const char *op_type;
        dnnl_alg_kind_t alg;
        bool is_ordered;
    } pairs[] = {{"Add", dnnl_binary_add, false},
                 {"Mul", dnnl_binary_mul, false},
                 {"Sub", dnnl_binary_sub, true},
                 {"Div", dnnl_binary_div, true}};
    static const float minus_one = -1, two = 2;
    const struct amp_shape shape = DIMS(2, 3);
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, shape), y;
    uint32_t others[] = {input("h", AMP_FLOAT16, shape), input("b", AMP_BFLOAT16, shape),
                         input("d", AMP_DOUBLE, shape), input("i", AMP_INT32, shape)};
    for (size_t i = 0; i < AMP_COUNT(each); i++)
        for (int way = 0; way < 4; way++) {
            y = NODE(each[i].op_type, "y", x);
            amp_value_at(net.model, y)->dtype = AMP_FLOAT;
            if ((way & 1) != 0 && each[i].takes_alpha)
                set_number(y, "alpha", 0.75f);
            if ((way & 2) != 0 && each[i].takes_beta)
                set_number(y, "beta", 0.25f);
            expect_post(y, 0, each[i].alg != dnnl_alg_kind_undef, AMP_POST_ELTWISE, each[i].alg,
                        (way & 1) != 0 && each[i].takes_alpha ? 0.75f : each[i].alpha,
                        (way & 2) != 0 && each[i].takes_beta ? 0.25f : each[i].beta);
        }
    for (size_t i = 0; i < AMP_COUNT(pairs); i++) {
        uint32_t z = input(pairs[i].op_type, AMP_FLOAT, shape);
        y = NODE(pairs[i].op_type, "y", x, z);
        amp_value_at(net.model, y)->dtype = AMP_FLOAT;
        expect_post(y, 0, true, AMP_POST_BINARY, pairs[i].alg, 0, 0);
        expect_post(y, 1, !pairs[i].is_ordered, AMP_POST_BINARY, pairs[i].alg, 0, 0);
        amp_node_at(net.model, node_of(y))->since_version = 6; /* up to which attributes line up */
        expect_no_post(y, 0);
        for (size_t k = 0; k < AMP_COUNT(others); k++)
            for (int slot = 0; slot < 2; slot++) {
                y = slot == 0 ? NODE(pairs[i].op_type, "y", others[k], z)
                              : NODE(pairs[i].op_type, "y", z, others[k]);
                amp_value_at(net.model, y)->dtype = AMP_FLOAT;
                if (k >= 2) {
                    expect_no_post(y, 0);
                    expect_no_post(y, 1);
                } else {
                    expect_post(y, 0, true, AMP_POST_BINARY, pairs[i].alg, 0, 0);
                }
            }
        y = NODE(pairs[i].op_type, "y", x, x); /* the result is the operand as well */
        amp_value_at(net.model, y)->dtype = AMP_FLOAT;
        expect_no_post(y, 0);
        expect_no_post(y, 1);
    }
    for (size_t k = 0; k < 2 * AMP_COUNT(others); k++) { /* casts to and from */
        y = NODE("Cast", "y", k % 2 == 0 ? x : others[k / 2]);
        amp_value_at(net.model, y)->dtype =
            k % 2 == 0 ? amp_value_at(net.model, others[k / 2])->dtype : AMP_FLOAT;
        expect_post(y, 0, k / 2 < 2, AMP_POST_CAST, dnnl_alg_kind_undef, 0, 0);
        y = NODE("Relu", "y", others[k / 2]);
        amp_value_at(net.model, y)->dtype = k % 2 == 0 ? AMP_FLOAT : AMP_INT32;
        expect_post(y, 0, k == 0 || k == 2, AMP_POST_ELTWISE, dnnl_eltwise_relu, 0, 0);
    }
    uint32_t low = constant("low", AMP_FLOAT, SCALAR, &minus_one),
             high = constant("high", AMP_FLOAT, SCALAR, &two);
    y = NODE("Clip", "y", x, low, high);
    amp_value_at(net.model, y)->dtype = AMP_FLOAT;
    expect_post(y, 0, true, AMP_POST_ELTWISE, dnnl_eltwise_clip, -1, 2);
    expect_no_post(y, 1);
    expect_no_post(y, 2);
    y = NODE("Clip", "y", x, low, input("given", AMP_FLOAT, SCALAR));
    amp_value_at(net.model, y)->dtype = AMP_FLOAT;
    expect_no_post(y, 0);
    uint32_t twice = net_node(0, "Relu", "twice", 2, IDS(x));
    amp_value_at(net.model, net_out(twice, 0))->dtype = AMP_FLOAT;
    expect_no_post(net_out(twice, 0), 0);
    y = NODE("Nothing", "y", x);
    amp_value_at(net.model, y)->dtype = AMP_FLOAT;
    expect_no_post(y, 0);
}

/* ---- elements that are moved ---- */

/* Planes are turned in squares, short rows as if they were longer: nothing behind them changes. */
static void planes_are_turned_within_their_bounds(void **state)
{
    enum { ROWS = 40, COLUMNS = 18, SIZE = 8, BYTES = ROWS * COLUMNS * SIZE, GUARD = 64 };
    static unsigned char from[BYTES], to[BYTES + GUARD];
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 131 + i / 251);
    for (int64_t size = 1; size <= SIZE; size *= 2)
        for (int64_t shape = 0; shape < ROWS * COLUMNS; shape++) {
            int64_t rows = shape / COLUMNS + 1, columns = shape % COLUMNS + 1;
            const int64_t dims[] = {rows, columns}, own[] = {columns, 1}, turned[] = {1, rows};
            struct amp_loop loop;
            memset(to, 0xA5, sizeof to);
            amp_loop_init(&loop, 2, dims);
            amp_loop_view(&loop, to, (size_t)size, own);
            amp_loop_view(&loop, from, (size_t)size, turned);
            amp_loop_move(&loop);
            for (int64_t i = 0; i < rows * columns; i++)
                assert_memory_equal(to + i * size, from + (i % columns * rows + i / columns) * size,
                                    size);
            for (int64_t i = rows * columns * size; i < BYTES + GUARD; i++)
                assert_int_equal(to[i], 0xA5);
        }
}

/* Where element FLAT of TENSOR lies, counted row by row. */
static int64_t place_in(const struct amp_tensor *tensor, int64_t flat)
{
    int64_t at[AMP_RANK_MAX], own[AMP_RANK_MAX], offset = 0;
    const int64_t *strides = tensor->layout != NULL ? amp_layout_strides(tensor->layout) : own;
    amp_strides(&tensor->shape, own);
    amp_index_at(tensor->shape.rank, tensor->shape.dims, flat, at);
    for (int d = 0; d < tensor->shape.rank; d++)
        offset += at[d] * strides[d];
    return offset;
}

/* IN, which has a layout, in SHAPE: each element is where the result says, or goes there. */
static void check_reshaped(struct amp_layouts *kept, const struct amp_tensor *in,
                           const struct amp_shape *shape, bool is_moved)
{
    struct amp_reshaped reshaped = {.strides = {0}};
    assert_true(amp_layout_reshape(kept, in, shape, &reshaped));
    const struct amp_tensor out = {.dtype = in->dtype, .shape = *shape, .layout = reshaped.layout};
    assert_int_equal(reshaped.is_moved, is_moved);
    for (int d = 0; d < in->shape.rank; d++)
        assert_true(reshaped.strides[d] > 0);
    for (int d = 0; d < shape->rank && out.layout != NULL; d++)
        assert_true(amp_layout_strides(out.layout)[d] > 0);
    for (int d = shape->rank; out.layout != NULL && !is_moved && shape->dims[--d] == 1;)
        assert_int_equal(amp_layout_strides(out.layout)[d], 1);
    for (int64_t i = 0; i < amp_shape_count(shape); i++) {
        int64_t at[AMP_RANK_MAX], place = 0;
        amp_index_at(in->shape.rank, in->shape.dims, i, at);
        for (int d = 0; d < in->shape.rank; d++)
            place += at[d] * reshaped.strides[d];
        assert_int_equal(place_in(&out, i), is_moved ? place : place_in(in, i));
    }
}

static void what_lies_by_strides_takes_other_shapes(void **state)
{
    static const int last[] = {0, 3, 1, 2}, middle[] = {0, 2, 1, 3};
    static const struct {
        struct amp_shape base;   /* row-major, */
        const int *perm;         /* is permuted, */
        struct amp_shape shape;  /* and reshaped; */
        bool is_moved, is_plain; /* the result is row-major */
    } cases[] = {
        /* channels last: groups of them, pixels in a row, all in a row */
        {{4, {2, 3, 4, 6}}, last, {5, {2, 3, 2, 3, 4}}, false, false},
        {{4, {2, 3, 4, 6}}, last, {3, {2, 6, 12}}, false, false},
        {{4, {2, 3, 4, 6}}, last, {6, {2, 6, 1, 3, 1, 4}}, false, false},
        {{4, {2, 3, 4, 6}}, last, {7, {1, 2, 6, 3, 4, 1, 1}}, false, false},
        {{4, {2, 3, 4, 6}}, last, {2, {2, 72}}, true, true},
        /* one image, and images of one row */
        {{4, {1, 3, 4, 6}}, last, {5, {1, 2, 3, 3, 4}}, false, false},
        {{4, {2, 1, 4, 6}}, last, {5, {2, 2, 3, 1, 4}}, false, false},
        /* heads: joined, and split otherwise */
        {{4, {2, 3, 4, 6}}, middle, {3, {2, 4, 18}}, true, true},
        {{4, {2, 3, 4, 6}}, middle, {4, {2, 4, 9, 2}}, true, true},
        /* what lies nearest decides on the order, wherever it stands in what is joined */
        {{4, {1, 2, 3, 4}}, last, {2, {8, 3}}, true, false},
        {{4, {1, 2, 3, 4}}, last, {3, {1, 8, 3}}, true, false},
        /* dims of 1 at the end are dims as well */
        {{4, {2, 4, 1, 6}}, last, {4, {2, 2, 3, 4}}, false, false},
        {{4, {2, 3, 1, 6}}, last, {4, {2, 6, 1, 3}}, false, false},
        {{4, {3, 2, 6, 1}}, middle, {3, {3, 12, 1}}, true, true},
    };
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 2; i++) { /* the second time as known */
        const struct amp_shape *shape = &cases[i / 2].shape;
        struct amp_tensor in = {.dtype = AMP_FLOAT, .shape = cases[i / 2].base};
        const struct amp_layout *layout;
        struct amp_reshaped reshaped;
        assert_true(amp_layout_permute(kept, &in, cases[i / 2].perm, &layout));
        for (int d = 0; d < 4; d++)
            in.shape.dims[d] = cases[i / 2].base.dims[cases[i / 2].perm[d]];
        in.layout = layout;
        check_reshaped(kept, &in, shape, cases[i / 2].is_moved);
        assert_true(amp_layout_reshape(kept, &in, shape, &reshaped));
        assert_int_equal(reshaped.layout == NULL, cases[i / 2].is_plain);
    }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* What comes of a permutation is known by the tensor and the permutation: each has its own strides,
   and its dtype, whatever was asked before. */
static void permutations_are_known_by_what_they_permute(void **state)
{
    static const struct {
        enum amp_dtype dtype;
        struct amp_shape shape;
        int perm[3];
    } cases[] = {{AMP_FLOAT, {3, {2, 3, 4}}, {0, 2, 1}},    {AMP_FLOAT, {3, {2, 4, 3}}, {0, 2, 1}},
                 {AMP_BFLOAT16, {3, {2, 3, 4}}, {0, 2, 1}}, {AMP_FLOAT, {3, {2, 3, 4}}, {2, 0, 1}},
                 {AMP_FLOAT, {2, {2, 3}}, {1, 0}},          {AMP_INT8, {2, {2, 3}}, {1, 0}},
                 {AMP_FLOAT, {2, {3, 2}}, {1, 0}},          {AMP_FLOAT, {2, {2, 3}}, {0, 1}}};
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct amp_tensor in = {.dtype = cases[i].dtype, .shape = cases[i].shape};
            const struct amp_layout *layout;
            int64_t own[AMP_RANK_MAX];
            dnnl_data_type_t type;
            amp_strides(&in.shape, own);
            assert_true(amp_layout_permute(kept, &in, cases[i].perm, &layout));
            assert_int_equal(layout == NULL, cases[i].perm[0] == 0 && cases[i].perm[1] == 1);
            if (layout == NULL)
                continue;
            for (int d = 0; d < in.shape.rank; d++)
                assert_int_equal(amp_layout_strides(layout)[d], own[cases[i].perm[d]]);
            assert_int_equal(
                dnnl_memory_desc_query(amp_layout_desc(layout), dnnl_query_data_type, &type),
                dnnl_success);
            assert_int_equal(type, amp_dnnl_dtype(in.dtype));
            struct amp_tensor turned = {.dtype = in.dtype, .layout = layout};
            if (in.shape.rank != 2)
                continue;
            turned.shape = DIMS(in.shape.dims[1], in.shape.dims[0]);
            assert_true(amp_layout_permute(kept, &turned, cases[i].perm, &layout));
            assert_null(layout);
        }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* In other types that oneDNN has. */
static void strides_are_the_same_in_any_dtype(void **state)
{
    static const int last[] = {0, 3, 1, 2};
    static const struct {
        enum amp_dtype dtype;
        bool is_known;
    } cases[] = {{AMP_FLOAT, true},  {AMP_BFLOAT16, true}, {AMP_INT8, true},
                 {AMP_INT64, false}, {AMP_DOUBLE, false},  {AMP_INT32, true}};
    struct amp_tensor in = {.dtype = AMP_FLOAT, .shape = {4, {2, 3, 4, 6}}};
    const struct amp_layout *layout, *same;
    dnnl_engine_t engine;
    dnnl_data_type_t type;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    assert_true(amp_layout_permute(kept, &in, last, &layout));
    const struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = {4, {2, 6, 3, 4}}, .layout = layout};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) { /* the second time as known */
        enum amp_dtype dtype = cases[i / 2].dtype;
        assert_int_equal(amp_layout_in_dtype(kept, &x, dtype, &same), cases[i / 2].is_known);
        if (!cases[i / 2].is_known)
            continue;
        assert_int_equal(same == layout, dtype == AMP_FLOAT);
        assert_memory_equal(amp_layout_strides(same), amp_layout_strides(layout),
                            4 * sizeof(int64_t));
        assert_int_equal(dnnl_memory_desc_query(amp_layout_desc(same), dnnl_query_data_type, &type),
                         dnnl_success);
        assert_int_equal(type, amp_dnnl_dtype(dtype));
    }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* A tensor of another shape lies in the order of a model's dims, in blocks if it is of its shape.
 */
static void tensors_lie_like_others(void **state)
{
    static const int last[] = {0, 3, 1, 2};
    static const int64_t dims[] = {2, 6, 3, 4};
    static const struct amp_shape same = {4, {2, 6, 3, 4}}, other = {4, {2, 8, 3, 5}},
                                  none = {4, {2, 0, 3, 5}}, row = {4, {1, 8, 1, 1}};
    static const int64_t strides[] = {120, 1, 40, 8};
    struct amp_tensor in = {.dtype = AMP_FLOAT, .shape = {4, {2, 3, 4, 6}}};
    struct amp_tensor model = {.dtype = AMP_FLOAT, .shape = same};
    const struct amp_layout *found;
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    assert_true(amp_layout_permute(kept, &in, last, &model.layout));
    assert_true(amp_layout_like(kept, &model, &same, &found));
    assert_ptr_equal(found, model.layout);
    assert_true(amp_layout_like(kept, &model, &other, &found));
    assert_memory_equal(amp_layout_strides(found), strides, sizeof strides);
    assert_true(amp_layout_like(kept, &model, &row, &found));
    assert_null(found);
    /* Of two dims that are as far apart, the first is the slower. */
    struct amp_tensor narrow = {.dtype = AMP_FLOAT, .shape = {4, {2, 3, 4, 1}}};
    const struct amp_tensor flat = narrow;
    assert_true(amp_layout_permute(kept, &flat, last, &narrow.layout));
    narrow.shape = (struct amp_shape){4, {2, 1, 3, 4}};
    assert_null(narrow.layout);
    assert_true(amp_layout_permute(
        kept, &(const struct amp_tensor){.dtype = AMP_FLOAT, .shape = {4, {2, 1, 4, 3}}},
        (const int[]){0, 1, 3, 2}, &narrow.layout));
    assert_true(amp_layout_like(kept, &narrow, &(const struct amp_shape){4, {2, 5, 3, 4}}, &found));
    assert_memory_equal(amp_layout_strides(found), ((const int64_t[]){60, 12, 1, 3}),
                        4 * sizeof(int64_t));
    assert_false(amp_layout_like(kept, &model, &none, &found));
    dnnl_memory_desc_t desc = layout_of(3, dims, dnnl_f32);
    model.layout = amp_layout_of(kept, desc);
    assert_true(amp_layout_like(kept, &model, &same, &found));
    assert_ptr_equal(found, model.layout);
    assert_false(amp_layout_like(kept, &model, &other, &found));
    dnnl_memory_desc_destroy(desc);
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* Neither what has no elements nor what lies in blocks. */
static void what_has_no_strides_takes_no_other_shape(void **state)
{
    static const int last[] = {0, 3, 1, 2};
    static const int64_t dims[4] = {2, 16, 2, 1};
    struct amp_tensor in = {.dtype = AMP_FLOAT, .shape = {4, {2, 3, 0, 6}}};
    const struct amp_layout *layout;
    struct amp_reshaped reshaped;
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    assert_false(amp_layout_permute(kept, &in, last, &layout));
    in = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = SCALAR};
    assert_false(amp_layout_permute(kept, &in, last, &layout));
    in.shape = DIMS(2, -1, 3, 4);
    assert_false(amp_layout_permute(kept, &in, last, &layout));
    in = (struct amp_tensor){.dtype = AMP_INT64, .shape = DIMS(2, 3, 4, 5)};
    assert_false(amp_layout_permute(kept, &in, last, &layout));
    in.dtype = AMP_FLOAT;
    assert_true(amp_layout_permute(kept, &in, last, &layout));
    in = (struct amp_tensor){.dtype = AMP_INT64, .shape = DIMS(2, 5, 3, 4), .layout = layout};
    assert_false(amp_layout_reshape(kept, &in, &DIMS(2, 5, 12), &reshaped));
    dnnl_memory_desc_t empty;
    dnnl_memory_desc_create_with_strides(&empty, 3, (const dnnl_dims_t){2, 0, 3}, dnnl_f32,
                                         (const dnnl_dims_t){1, 6, 2});
    in = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = DIMS(2, 0, 3)};
    in.layout = amp_layout_of(kept, empty);
    assert_non_null(in.layout);
    assert_false(amp_layout_reshape(kept, &in, &DIMS(2, 0), &reshaped));
    dnnl_memory_desc_destroy(empty);
    dnnl_memory_desc_t desc = layout_of(4, dims, dnnl_f32);
    in = (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {4, {2, 16, 2, 1}}};
    in.layout = amp_layout_of(kept, desc);
    assert_non_null(in.layout);
    assert_false(amp_layout_reshape(kept, &in, &DIMS(2, 32), &reshaped));
    dnnl_memory_desc_destroy(desc);
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* Layouts of all kinds as one sees them that knows nothing of blocks, with and without room behind
   the last element of a block. */
static const int64_t seen_dims[][4] = {{1, 1, 1, 1},  {2, 16, 2, 3},  {2, 3, 5, 7},   {16, 8, 3, 1},
                                       {1, 32, 2, 2}, {17, 33, 1, 2}, {32, 64, 1, 1}, {3, 4, 1, 5}};
enum { N_SEEN = sizeof seen_dims / sizeof *seen_dims };

static bool has_rest(size_t layout, const int64_t *dims)
{
    bool has = false;
    for (int d = 0; d < 4; d++)
        has |= dims[d] % block_of(layouts[layout].name + 4, d) != 0;
    return has;
}

/* Where element AT lies in VIEW, row by row: OF says which dim each of its dims is a part of. */
static int64_t place_in_view(const struct amp_shape *view, const int *of, const int64_t *at)
{
    int64_t left[4], offset = 0, stride = 1;
    memcpy(left, at, sizeof left);
    for (int i = view->rank - 1; i >= 0; i--) {
        offset += left[of[i]] % view->dims[i] * stride;
        left[of[i]] /= view->dims[i];
        stride *= view->dims[i];
    }
    return offset;
}

static void check_seen(struct amp_layouts *kept, size_t i, const int64_t *dims)
{
    dnnl_memory_desc_t desc = layout_of(i, dims, dnnl_f32);
    struct amp_tensor tensor = {.dtype = AMP_FLOAT,
                                .shape = DIMS(dims[0], dims[1], dims[2], dims[3]),
                                .layout = amp_layout_of(kept, desc)};
    size_t places = dnnl_memory_desc_get_size(desc) / sizeof(float);
    int64_t at[4] = {0};
    struct amp_shape view;
    int of[AMP_RANK_MAX];
    if (tensor.layout == NULL) { /* row-major */
        assert_false(has_rest(i, dims));
        for (int64_t k = 0; amp_index_next(4, dims, at);)
            assert_int_equal(place(layouts[i].name, dims, at), ++k);
        dnnl_memory_desc_destroy(desc);
        return;
    }
    bool is_strided = layouts[i].name[4] == '\0';
    assert_int_equal(amp_layout_is_full(&tensor), !has_rest(i, dims));
    assert_int_equal(amp_layout_is_dense(&tensor), is_strided);
    assert_true(amp_layout_view(tensor.layout, &view, of));
    assert_int_equal(amp_shape_count(&view), places);
    do
        if (place_in_view(&view, of, at) != place(layouts[i].name, dims, at))
            fail_msg("%s: [%d, %d, %d, %d]", layouts[i].name, (int)at[0], (int)at[1], (int)at[2],
                     (int)at[3]);
    while (amp_index_next(4, dims, at));
    /* What is no element is cleared where one dim alone is in blocks. */
    static float room[ROOM], copy[ROOM];
    bool is_one_block = strspn(layouts[i].name + 4, "0123456789") + 5 == strlen(layouts[i].name);
    for (size_t k = 0; k < places + 16; k++)
        room[k] = copy[k] = 1;
    for (size_t k = 0; k < places && is_one_block; k++)
        copy[k] = 0;
    do
        copy[place(layouts[i].name, dims, at)] = 1;
    while (amp_index_next(4, dims, at));
    amp_layout_clear_rest(tensor.layout, sizeof *room, room);
    assert_memory_equal(room, copy, (places + 16) * sizeof *room);
    dnnl_memory_desc_destroy(desc);
}

static void blocks_are_dims_beside_others(void **state)
{
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (size_t i = 0; i < N_LAYOUTS; i++)
        for (size_t k = 0; k < N_SEEN; k++)
            check_seen(kept, i, seen_dims[k]);
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* Blocks of channels, of which each dtype has the same, and others. */
static void blocks_of_channels_are_the_same_in_any_dtype(void **state)
{
    static const struct {
        int rank;
        dnnl_format_tag_t tag;
        bool is_known;
    } cases[] = {{3, dnnl_aBc8b, true},    {3, dnnl_aBc16b, true},   {3, dnnl_aBc32b, true},
                 {4, dnnl_aBcd8b, true},   {4, dnnl_aBcd16b, true},  {4, dnnl_aBcd32b, true},
                 {5, dnnl_aBcde8b, true},  {5, dnnl_aBcde16b, true}, {5, dnnl_aBcde32b, true},
                 {3, dnnl_aBc4b, false},   {4, dnnl_aBcd4b, false},  {4, dnnl_ABcd8b8a, false},
                 {4, dnnl_Acdb16a, false}, {3, dnnl_Abc16a, false},  {5, dnnl_ABcde16b16a, false},
                 {4, dnnl_Abcd16a, false}, {4, dnnl_abcd, true},     {4, dnnl_acdb, true},
                 {3, dnnl_acb, true},      {5, dnnl_acdeb, true}};
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    static const dnnl_dims_t whole = {32, 64, 3, 5, 2}, part = {32, 32, 3, 5, 2};
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int t = 0; t < 9 * 2; t++) { /* each is asked twice */
            enum amp_dtype from = dtypes[t / 3 % 3], to = dtypes[t % 3];
            dnnl_memory_desc_t desc, same, within;
            const dnnl_dims_t none = {0};
            const struct amp_layout *found = NULL;
            assert_int_equal(dnnl_memory_desc_create_with_tag(&desc, cases[i].rank, whole,
                                                              amp_dnnl_dtype(from), cases[i].tag),
                             dnnl_success);
            assert_int_equal(dnnl_memory_desc_create_with_tag(&same, cases[i].rank, whole,
                                                              amp_dnnl_dtype(to), cases[i].tag),
                             dnnl_success);
            struct amp_tensor tensor = {.dtype = from, .shape.rank = cases[i].rank};
            memcpy(tensor.shape.dims, whole, (size_t)cases[i].rank * sizeof *whole);
            tensor.layout = amp_layout_of(kept, desc);
            if (tensor.layout == NULL) {
                assert_int_equal(cases[i].tag, dnnl_abcd);
                dnnl_memory_desc_destroy(desc);
                dnnl_memory_desc_destroy(same);
                continue;
            }
            bool is_known = amp_layout_in_dtype(kept, &tensor, to, &found);
            if (is_known != cases[i].is_known)
                fail_msg("case %zu: %d", i, is_known);
            if (is_known && found != NULL)
                assert_true(dnnl_memory_desc_equal(amp_layout_desc(found), same));
            /* Half of the channels lie as in the whole, which is no such format. */
            if (dnnl_memory_desc_create_submemory(&within, desc, part, none) == dnnl_success) {
                tensor.shape.dims[1] = part[1];
                tensor.layout = amp_layout_of(kept, within);
                assert_non_null(tensor.layout);
                struct amp_shape view;
                int of[AMP_RANK_MAX];
                assert_false(amp_layout_view(tensor.layout, &view, of));
                assert_false(amp_layout_is_full(&tensor) || amp_layout_is_dense(&tensor));
                if (amp_layout_strides(tensor.layout) == NULL)
                    assert_false(amp_layout_in_dtype(kept, &tensor, to, &found));
                dnnl_memory_desc_destroy(within);
            }
            dnnl_memory_desc_destroy(desc);
            dnnl_memory_desc_destroy(same);
        }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* Blocks of other dims may lie as those of one channel do. */
static void blocks_of_one_channel_are_of_channels(void **state)
{
    static const dnnl_dims_t dims = {16, 1, 3, 5};
    const struct amp_layout *same;
    dnnl_engine_t engine;
    dnnl_memory_desc_t desc;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (int i = 0; i < 2; i++) {
        dnnl_memory_desc_create_with_tag(&desc, 4, dims, dnnl_f32,
                                         i == 0 ? dnnl_Abcd16a : dnnl_aBcd16b);
        const struct amp_tensor x = {
            .dtype = AMP_FLOAT, .shape = DIMS(16, 1, 3, 5), .layout = amp_layout_of(kept, desc)};
        assert_int_equal(amp_layout_in_dtype(kept, &x, AMP_BFLOAT16, &same), i == 1);
        dnnl_memory_desc_destroy(desc);
    }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* A layout that oneDNN does not tell has neither strides nor blocks, and each is its own. */
static void layouts_that_are_not_told_are_kept(void **state)
{
    static const dnnl_dims_t dims = {2, 3, 4, 5};
    dnnl_engine_t engine;
    dnnl_memory_desc_t desc;
    struct amp_shape view;
    int of[AMP_RANK_MAX];
    float data[1] = {1};
    const struct amp_layout *same;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    dnnl_memory_desc_create_with_tag(&desc, 4, dims, dnnl_f32, dnnl_format_tag_any);
    const struct amp_tensor x = {
        .dtype = AMP_FLOAT, .shape = DIMS(2, 3, 4, 5), .layout = amp_layout_of(kept, desc)};
    assert_non_null(x.layout);
    assert_ptr_equal(amp_layout_of(kept, desc), x.layout);
    assert_null(amp_layout_strides(x.layout));
    assert_false(amp_layout_is_dense(&x));
    assert_false(amp_layout_view(x.layout, &view, of));
    assert_false(amp_layout_in_dtype(kept, &x, AMP_BFLOAT16, &same));
    amp_layout_clear_rest(x.layout, sizeof *data, data);
    assert_true(data[0] == 1);
    dnnl_memory_desc_destroy(desc);
    /* As many dims as there can be. */
    struct amp_tensor wide = {.dtype = AMP_FLOAT, .shape.rank = AMP_RANK_MAX};
    int perm[AMP_RANK_MAX];
    for (int d = 0; d < AMP_RANK_MAX; d++) {
        wide.shape.dims[d] = 2;
        perm[d] = AMP_RANK_MAX - 1 - d;
    }
    assert_true(amp_layout_permute(kept, &wide, perm, &wide.layout));
    assert_true(amp_layout_view(wide.layout, &view, of));
    assert_int_equal(view.rank, AMP_RANK_MAX);
    assert_memory_equal(of, perm, sizeof perm);
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* Element AT of X, which has FIRST's place in VIEW, meets the element of SEEN that it would meet of
   IN by ONNX's broadcasting. */
static void check_met(const struct amp_blocked_view *view, const struct amp_tensor *in,
                      const struct amp_shape *seen, const int64_t *at)
{
    int64_t inside[AMP_RANK_MAX], expected = 0, found = 0;
    amp_index_at(view->lies.rank, view->lies.dims, place_in_view(&view->lies, view->of, at),
                 inside);
    for (int d = 0; d < in->shape.rank; d++)
        expected = expected * in->shape.dims[d] +
                   (in->shape.dims[d] == 1 ? 0 : at[4 - in->shape.rank + d]);
    for (int d = 0; d < seen->rank; d++)
        found = found * seen->dims[d] + (seen->dims[d] == 1 ? 0 : inside[d]);
    assert_int_equal(found, expected);
}

/* Operands that lie alike go together, unless an attribute lines up their dims. */
static void operands_in_blocks_are_lined_up_by_no_attribute(void **state)
{
    static const int64_t dims[] = {2, 16, 3, 5}, zero = 0;
    struct amp_attr axis = {.name = "axis", .type = AMP_ATTR_INT, .count = 1, .ints = &zero};
    uint32_t ids[2] = {0, 1}, out = 2;
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    dnnl_memory_desc_t desc = layout_of(3, dims, dnnl_f32);
    const struct amp_tensor x = {
        .dtype = AMP_FLOAT, .shape = DIMS(2, 16, 3, 5), .layout = amp_layout_of(kept, desc)};
    const struct amp_tensor *ins[] = {&x, &x};
    for (int version = 6; version < 8; version++)
        for (uint32_t n_attrs = 0; n_attrs < 2; n_attrs++) {
            const struct amp_node node = {.op_type = "Add",
                                          .domain = "",
                                          .inputs = ids,
                                          .n_inputs = 2,
                                          .outputs = &out,
                                          .n_outputs = 1,
                                          .attrs = &axis,
                                          .n_attrs = n_attrs,
                                          .since_version = version};
            struct amp_blocked_view view;
            assert_int_equal(
                amp_blocked_view_find(&node, amp_op_of(&node), ins, AMP_FLOAT, kept, &view),
                version == 7 || n_attrs == 0);
        }
    dnnl_memory_desc_destroy(desc);
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* An operand that is broadcast goes with elements in blocks where it has its own in their order. */
static void operands_go_with_blocks_in_their_order(void **state)
{
    enum { UNFIT = 27 /* of 4 dims */ };
    static const int64_t dims[] = {2, 16, 3, 5};
    static const size_t which[] = {1, 3, 4}; /* acdb, aBcd8b, aBcd16b */
    static const char *const ops[] = {"Add", "Softmax", "Add"};
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    for (int op = 0; op < 3; op++) /* the last as before version 7 */
        for (size_t l = 0; l < sizeof which / sizeof *which; l++)
            for (int way = 1; way < 128; way++) {
                dnnl_memory_desc_t desc = layout_of(which[l], dims, dnnl_f32);
                float none[1] = {0};
                struct amp_tensor x = {.dtype = AMP_FLOAT,
                                       .shape = DIMS(2, 16, 3, 5),
                                       .data = none,
                                       .layout = amp_layout_of(kept, desc)};
                /* the dims behind the first bit: 1, or those of x; 7 for one that does not fit */
                struct amp_tensor in = {.dtype = AMP_FLOAT, .data = none};
                in.shape.rank = 31 - __builtin_clz((unsigned)way);
                bool has[4] = {false}, fits = in.shape.rank <= 4;
                for (int d = 0; d < in.shape.rank; d++) {
                    int of = 4 - in.shape.rank + d;
                    in.shape.dims[d] = way >> d & 1 ? (of >= 0 ? dims[of] : 1) : 1;
                    if (way == UNFIT)
                        in.shape.dims[d] = 7;
                    if (of >= 0)
                        has[of] = in.shape.dims[d] > 1;
                    fits &= of < 0 || in.shape.dims[d] == 1 || in.shape.dims[d] == dims[of];
                }
                bool expected = op == 0 && fits && !(has[1] && (has[2] || has[3]));
                struct amp_blocked_view view;
                uint32_t ids[2] = {0, 1}, out = 2;
                struct amp_node node = {.op_type = ops[op],
                                        .domain = "",
                                        .inputs = ids,
                                        .n_inputs = 2,
                                        .outputs = &out,
                                        .n_outputs = 1,
                                        .since_version = op == 2 ? 6 : 13};
                for (int is_first = 0; is_first < 2; is_first++) {
                    const struct amp_tensor *ins[] = {is_first ? &x : &in, is_first ? &in : &x};
                    struct amp_tensor borrowed[2] = {{.dtype = AMP_UNDEFINED},
                                                     {.dtype = AMP_UNDEFINED}};
                    struct amp_frame frame = {.in = ins, .temporary = borrowed};
                    bool found =
                        amp_blocked_view_find(&node, amp_op_of(&node), ins, AMP_FLOAT, kept, &view);
                    if (found != expected)
                        fail_msg("%s, layout %zu, way %d: %d", ops[op], l, way, found);
                    if (!found)
                        continue;
                    amp_blocked_view_set(&view, &frame, 2);
                    int64_t at[4] = {0};
                    do
                        check_met(&view, &in, &frame.in[is_first]->shape, at);
                    while (amp_index_next(4, dims, at));
                    assert_true(amp_shape_equal(&frame.in[1 - is_first]->shape, &view.lies));
                }
                dnnl_memory_desc_destroy(desc);
            }
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* ---- descriptors ---- */

static void expect_no_desc(enum amp_dtype dtype, int rank, int64_t last, enum amp_status status,
                           const char *text)
{
    const int64_t dims[AMP_RANK_MAX + 1] = {1, last};
    struct amp_descs descs = {.n = 0};
    struct amp_error err = {.status = AMP_OK};
    dnnl_memory_desc_t desc;
    assert_int_equal(amp_descs_add(&descs, &err, amp_form_row_major(dtype, rank, dims), &desc),
                     status);
    assert_string_equal(err.text, text);
    assert_int_equal(descs.n, 0);
}

static void what_onednn_has_not_is_said(void **state)
{
    static const int64_t dims[] = {2, 3};
    struct amp_descs descs = {.n = 0};
    struct amp_error err = {.status = AMP_OK};
    dnnl_memory_desc_t desc;
    (void)state;
    expect_no_desc(AMP_INT64, 1, 1, AMP_UNSUPPORTED, "oneDNN has no dtype int64");
    expect_no_desc(AMP_FLOAT, 0, 1, AMP_UNSUPPORTED, "oneDNN has no tensors of rank 0");
    expect_no_desc(AMP_FLOAT, 13, 1, AMP_UNSUPPORTED, "oneDNN has no tensors of rank 13");
    expect_no_desc(AMP_FLOAT, 2, -1, AMP_MODEL, "negative dimension");
    for (int i = 0; i < (int)(sizeof descs.at / sizeof *descs.at); i++)
        assert_int_equal(amp_descs_add(&descs, &err, amp_form_row_major(AMP_FLOAT, 2, dims), &desc),
                         AMP_OK);
    assert_int_equal(amp_descs_add(&descs, &err, amp_form_row_major(AMP_FLOAT, 2, dims), &desc),
                     AMP_UNSUPPORTED);
    const struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = DIMS(2, 3)};
    assert_int_equal(amp_descs_add_tensor(&descs, &err, &x, &desc), AMP_UNSUPPORTED);
    amp_descs_release(&descs);
}

/* What oneDNN's statuses mean: a call that does not suit it may be made otherwise. */
static void failures_of_onednn_are_told_apart(void **state)
{
    static const struct {
        dnnl_status_t status;
        enum amp_status expected;
        const char *said;
    } cases[] = {
        {dnnl_success, AMP_OK, ""},
        {dnnl_unimplemented, AMP_UNSUPPORTED, "oneDNN has no thing for these types and shapes"},
        {dnnl_invalid_arguments, AMP_UNSUPPORTED, "oneDNN has no thing for these types and shapes"},
        {dnnl_out_of_memory, AMP_IO, "out of memory in oneDNN's thing"},
        {dnnl_runtime_error, AMP_KERNEL, "oneDNN's thing failed with status 5"},
        {dnnl_not_required, AMP_KERNEL, "oneDNN's thing failed with status 6"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_dnnl_check(&err, cases[i].status, "thing"), cases[i].expected);
        assert_string_equal(err.text, cases[i].said);
    }
}

static void expect_copy_text(const int64_t *dims, size_t from, size_t to, const char *expected)
{
    dnnl_memory_desc_t a = layout_of(from, dims, dnnl_f32), b = layout_of(to, dims, dnnl_bf16);
    size_t length = strlen(expected);
    char text[80];
    for (size_t size = 1; size <= length + 2; size++) {
        size_t kept = size - 1 < length ? size - 1 : length;
        memset(text, '#', sizeof text);
        amp_describe_copy(a, b, text, size);
        assert_int_equal(strlen(text), kept);
        assert_memory_equal(text, expected, kept);
        assert_int_equal(text[size], '#');
    }
    dnnl_memory_desc_destroy(a);
    dnnl_memory_desc_destroy(b);
}

/* Layouts have oneDNN's names; dims that nothing tells apart come in order. */
static void copies_are_described_by_their_layouts(void **state)
{
    static const int64_t dims[] = {2, 3, 5, 7}, ones[] = {1, 1, 1, 1};
    char text[80];
    (void)state;
    for (size_t i = 0; i < N_LAYOUTS * N_LAYOUTS; i++) {
        size_t from = i / N_LAYOUTS, to = i % N_LAYOUTS;
        snprintf(text, sizeof text, "f32:%s -> bf16:%s", layouts[from].name, layouts[to].name);
        expect_copy_text(dims, from, to, text);
    }
    expect_copy_text(ones, 0, 2, "f32:abcd -> bf16:abcd");
    expect_copy_text((const int64_t[]){2, 1, 1, 3}, 0, 2, "f32:abcd -> bf16:cbda");
    expect_copy_text((const int64_t[]){1, 3, 1, 1}, 1, 2, "f32:acdb -> bf16:cdab");
    struct amp_blocks blocks;
    assert_false(amp_blocks_read(NULL, &blocks));
    const struct amp_tensor nothing = {.dtype = AMP_FLOAT, .shape = {2, {0, 3}}};
    struct amp_descs descs = {.n = 0};
    dnnl_memory_desc_t desc;
    assert_int_equal(amp_descs_add_tensor(&descs, &net.err, &nothing, &desc), AMP_OK);
    amp_describe_copy(NULL, desc, text, sizeof text);
    assert_string_equal(text, "");
    amp_descs_release(&descs);
}

/* The list of descriptors ends for tensors with a layout, too. */
static void descriptors_are_not_without_end(void **state)
{
    static const int64_t dims[] = {2, 3, 5, 7};
    struct amp_descs descs = {.n = 0};
    struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = {4, {2, 3, 5, 7}}};
    dnnl_engine_t engine;
    dnnl_memory_desc_t made = layout_of(3, dims, dnnl_f32), desc;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *kept = amp_layouts_create(engine);
    x.layout = amp_layout_of(kept, made);
    assert_non_null(x.layout);
    for (int i = 0; i < (int)(sizeof descs.at / sizeof *descs.at); i++)
        assert_int_equal(amp_descs_add_tensor(&descs, &net.err, &x, &desc), AMP_OK);
    assert_int_equal(amp_descs_add_tensor(&descs, &net.err, &x, &desc), AMP_UNSUPPORTED);
    assert_string_equal(net.err.text, "too many layouts for a oneDNN primitive");
    amp_descs_release(&descs);
    dnnl_memory_desc_destroy(made);
    amp_layouts_destroy(kept);
    dnnl_engine_destroy(engine);
}

/* ---- products before a Transpose ------------------------------------------------------------- */

enum { BATCHES = 2, AXES = BATCHES + 2 };

/* Whether ORDER names every axis once, and not in their own order. */
static bool is_order(const int64_t *order)
{
    unsigned seen = 0;
    if (order[0] == 0 && order[1] == 1 && order[2] == 2)
        return false;
    for (int i = 0; i < AXES; i++)
        seen |= order[i] >= 0 && order[i] < AXES ? 1U << order[i] : 0;
    return seen == (1U << AXES) - 1;
}

/* How output 0 of CTX, a product, lies: in ORDER if MAY, else row by row. */
static void expect_order(struct amp_ctx *ctx, const struct amp_matmul *p, const int64_t *order,
                         bool may)
{
    const struct amp_shape *shape = &ctx->out[0]->shape;
    ctx->layout_wish.order = order;
    const struct amp_layout *layout = amp_matmul_layout(ctx, p);
    if (may != (layout != NULL))
        fail_msg("order %d %d %d %d: %d is expected", (int)order[0], (int)order[1], (int)order[2],
                 (int)order[3], may);
    const int64_t *strides = may ? amp_layout_strides(layout) : NULL;
    int64_t step = 1;
    for (int i = AXES - 1; may && i >= 0; i--) {
        assert_int_equal(strides[order[i]], step);
        step *= shape->dims[order[i]];
    }
}

/* In every order that leaves rows whole, unless something has been put into the output before, a
   post-op has an operand, or one B is for many A; no list of other numbers is an order. */
static void products_lie_as_they_are_transposed(void **state)
{
    static const struct amp_post posts[] = {{.kind = AMP_POST_ELTWISE}, {.kind = AMP_POST_BINARY}};
    const int64_t rows[] = {0, 2, 1, 3};
    struct amp_tensor y = {.dtype = AMP_FLOAT, .shape = {AXES, {2, 3, 5, 7}}}, *out = &y;
    struct amp_matmul p = {
        .batch_rank = BATCHES, .a_batch = {2, 3}, .b_batch = {2, 3}, .m = 5, .n = 7, .k = 1};
    struct amp_dnnl dnnl = {.own = NULL};
    assert_int_equal(dnnl_engine_create(&dnnl.engine, dnnl_cpu, 0), dnnl_success);
    dnnl.layouts = amp_layouts_create(dnnl.engine);
    struct amp_host host = {.dnnl = &dnnl};
    struct amp_ctx ctx = {.out = &out, .n_out = 1, .host = &host, .layout_wish.n_order = AXES};
    (void)state;
    for (int i = 0; i < 6 * 6 * 6 * 6; i++) { /* from -1 to 4 each */
        const int64_t order[] = {i % 6 - 1, i / 6 % 6 - 1, i / 36 % 6 - 1, i / 216 - 1};
        expect_order(&ctx, &p, order, is_order(order) && order[AXES - 1] == AXES - 1);
    }
    for (int one = 0; one < 4; one++) { /* bits: A, B have one matrix for all of a batch dim */
        for (int d = 0; d < BATCHES; d++) {
            p.a_batch[d] = (one & 1) != 0 ? 1 : y.shape.dims[d];
            p.b_batch[d] = (one & 2) != 0 ? 1 : y.shape.dims[d];
            expect_order(&ctx, &p, rows, one != 2);
            p.a_batch[d] = p.b_batch[d] = y.shape.dims[d];
        }
    }
    p.beta = 1;
    expect_order(&ctx, &p, rows, false);
    p.beta = 0;
    ctx.posts = posts;
    for (ctx.n_posts = 1; ctx.n_posts <= 2; ctx.n_posts++)
        expect_order(&ctx, &p, rows, ctx.n_posts == 1);
    ctx.n_posts = 0;
    for (ctx.layout_wish.n_order = AXES - 1; ctx.layout_wish.n_order <= AXES + 1;
         ctx.layout_wish.n_order++)
        expect_order(&ctx, &p, rows, ctx.layout_wish.n_order == AXES);
    ctx.layout_wish.n_order = AXES;
    y.shape.rank = AXES - 1;
    expect_order(&ctx, &p, rows, false);
    y.shape.rank = AXES;
    ctx.layout_wish.order = NULL;
    assert_null(amp_matmul_layout(&ctx, &p));
    amp_layouts_destroy(dnnl.layouts);
    dnnl_engine_destroy(dnnl.engine);
}

/* ---- primitives ---- */

/* How a product is made, and what came of it. */
struct making {
    enum amp_status status; /* that the making ends with */
    bool is_partial, is_free, has_round;
    int made, plain;
};

static enum amp_status make_product(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    struct making *making = what;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_memory_desc_t x, y;
    dnnl_post_ops_t ops = NULL;
    making->made++;
    if (making->status != AMP_OK)
        return making->status == AMP_AGAIN ? AMP_AGAIN
                                           : amp_fail(ctx->err, making->status, "as it was said");
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->in[0], &x));
    AMP_TRY(amp_prim_desc_tensor(prim, ctx->err, ctx->out[0], &y));
    if (making->has_round) {
        assert_int_equal(dnnl_post_ops_create(&ops), dnnl_success);
        dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_linear, 2, 0);
    }
    AMP_TRY(amp_prim_set_posts(ctx, prim, ops, 2, ctx->out[0]->shape.dims));
    AMP_TRY(amp_prim_attr(prim, ctx->err, &attr));
    dnnl_post_ops_destroy(ops);
    if (making->is_partial)
        amp_prim_set_partial(prim);
    AMP_TRY(amp_prim_create_fast(
        ctx, prim,
        product_of(ctx->host->dnnl->engine, dnnl_ba, making->is_free ? dnnl_ba : dnnl_ab, attr)));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_SRC, 0, x));
    AMP_TRY(amp_prim_bind_in(ctx, prim, DNNL_ARG_WEIGHTS, 1, bound.w_desc));
    return making->is_free ? amp_prim_bind_free(ctx, prim, DNNL_ARG_DST)
                           : amp_prim_bind_out(ctx, prim, DNNL_ARG_DST, 0, y);
}

static enum amp_status count_made(struct amp_ctx *ctx, void *what)
{
    struct making *making = what;
    assert_non_null(ctx->out[0]->data);
    making->plain++;
    return AMP_OK;
}

static enum amp_status run_making(struct making *making)
{
    const struct amp_prim_call call = {make_product, count_made, making};
    net.err = (struct amp_error){.status = AMP_OK};
    enum amp_status status = amp_prim_run_call(&bound.ctx, &call);
    assert_int_equal(net.err.status, status == AMP_AGAIN ? AMP_OK : status);
    assert_ptr_equal(bound.ctx.err, &net.err);
    return status;
}

/* X takes the first rows of W, FACTOR times. */
static void expect_rows_of_w(double factor)
{
    for (size_t i = 0; i < ROWS_OF_X * COLUMNS_OF_W; i++) {
        size_t place =
            bound.out.layout == NULL ? i : i % COLUMNS_OF_W * ROWS_OF_X + i / COLUMNS_OF_W;
        assert_true(amp_tensor_double(&bound.out, place) == factor * (double)(i + 1));
    }
}

/* A primitive is made once for the same inputs, and runs again without; its constants need no data
   from then on. */
static void primitives_are_made_once(void **state)
{
    static const struct amp_post post = {
        .kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_linear, .alpha = 4};
    (void)state;
    implementation = "any";
    for (int i = 0; i < 32; i++) {
        struct making making = {.is_partial = (i & 1) != 0, .is_free = (i & 2) != 0};
        bind_start(NULL);
        making.has_round = (i & 4) != 0;
        bound.ctx.posts = &post;
        bound.ctx.n_posts = (i & 8) != 0;
        if ((i & 16) != 0)
            bound.host.profile = amp_profile_create();
        assert_false(amp_prim_repeat.can(&bound.ctx));
        assert_true(amp_prim_reads(bound.state, 0) && amp_prim_reads(bound.state, 1));
        for (int run = 0; run < 3; run++) {
            bound.in_w.data = run == 0 ? bound.w : NULL;
            float given[ROWS_OF_X * COLUMNS_OF_W];
            amp_tensor_release(&bound.out);
            bound.out.layout = NULL;
            bound.out.data = run > 0 && making.is_free ? given : NULL;
            assert_int_equal(run == 2 && amp_prim_repeat.can(&bound.ctx)
                                 ? amp_prim_repeat.run(&bound.ctx)
                                 : run_making(&making),
                             AMP_OK);
            assert_int_equal(amp_prim_repeat.can(&bound.ctx), !making.is_partial);
            assert_int_equal(bound.out.layout != NULL, making.is_free);
            expect_rows_of_w((making.has_round ? 2 : 1) * (bound.ctx.n_posts == 1 ? 4 : 1));
            assert_true(amp_prim_reads(bound.state, 0) && !amp_prim_reads(bound.state, 1));
        }
        assert_true(making.made == 1 && making.plain == 0);
        bound.in_x.shape.dims[0]++;
        assert_false(amp_prim_repeat.can(&bound.ctx));
        if (bound.host.profile != NULL) {
            size_t count, products = 0;
            const struct amp_profile_primitive *noted =
                amp_profile_primitives(bound.host.profile, &count);
            for (size_t k = 0; k < count; k++)
                if (strcmp(noted[k].kind, "matmul") == 0) {
                    assert_int_equal(noted[k].calls, 3);
                    assert_string_equal(noted[k].implementation, "any");
                    assert_string_equal(noted[k].layouts, making.is_free
                                                              ? "f32:ab * f32:ba -> f32:ba"
                                                              : "f32:ab * f32:ba -> f32:ab");
                    products++;
                }
            assert_int_equal(products, 1);
            amp_profile_destroy(bound.host.profile);
        }
        bind_end();
    }
    implementation = NULL;
}

/* Any change of the inputs, or of the operands of post-ops, makes another; what was refused is not
   asked for again. */
static void other_inputs_have_other_primitives(void **state)
{
    static const int64_t dims[] = {2, 3, 5, 7};
    static float data[1];
    const struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = DIMS(2, 3, 5, 7), .data = data};
    struct amp_tensor turned = x, other = x;
    dnnl_memory_desc_t desc = layout_of(1, dims, dnnl_f32);
    (void)state;
    bind_start(NULL);
    turned.layout = amp_layout_of(bound.host.dnnl->layouts, desc);
    other.shape.dims[2] = 6;
    const struct amp_tensor bytes = {.dtype = AMP_INT8, .shape = x.shape, .data = data};
    const struct amp_post binary = binary_post(&x), wide = binary_post(&other),
                          none = {.kind = AMP_POST_CAST};
    const struct {
        const struct amp_tensor *in[2];
        uint32_t n_in;
        const struct amp_post *post;
    } cases[] = {
        {{&x, &x}, 2, NULL},      {{&x, &x}, 1, NULL},     {{&x, NULL}, 2, NULL},
        {{&x, &turned}, 2, NULL}, {{&x, &other}, 2, NULL}, {{&x, &bytes}, 2, NULL},
        {{&turned, &x}, 2, NULL}, {{&other, &x}, 2, NULL}, {{&bytes, &x}, 2, NULL},
        {{&x, &x}, 1, &binary},   {{&x, &x}, 2, &binary},  {{&x, &x}, 2, &wide},
        {{&x, &x}, 2, &none},
    };
    struct making making = {.status = AMP_UNSUPPORTED};
    for (size_t from = 0; from < AMP_COUNT(cases); from++)
        for (size_t to = 0; to < AMP_COUNT(cases); to++) {
            making.made = 0;
            for (int run = 0; run < 4; run++) {
                size_t i = run < 2 ? from : to;
                memcpy(bound.in, cases[i].in, sizeof bound.in);
                bound.ctx.n_in = cases[i].n_in;
                bound.ctx.posts = cases[i].post;
                bound.ctx.n_posts = cases[i].post != NULL;
                enum amp_status status = run_making(&making);
                bool is_plain = cases[i].post == NULL && cases[i].in[0]->layout == NULL &&
                                (cases[i].n_in == 1 || cases[i].in[1] == NULL ||
                                 cases[i].in[1]->layout == NULL);
                assert_int_equal(status, is_plain ? AMP_OK : AMP_UNSUPPORTED);
                assert_false(amp_prim_repeat.can(&bound.ctx));
            }
            if (making.made != 1 + (from != to))
                fail_msg("case %zu, then %zu: made %d times", from, to, making.made);
            amp_prim_destroy(bound.state);
            bound.state = NULL;
        }
    dnnl_memory_desc_destroy(desc);
    bind_end();
}

/* A failure that is no refusal is told, and leaves nothing behind: the next run tries again. */
static void failures_are_no_refusals(void **state)
{
    (void)state;
    for (int is_half = 0; is_half < 2; is_half++) {
        struct making making = {.status = AMP_IO};
        bind_start(NULL);
        bound.in_x.dtype = is_half ? AMP_FLOAT16 : AMP_FLOAT;
        for (int run = 0; run < 2; run++) {
            assert_int_equal(run_making(&making), AMP_IO);
            assert_string_equal(net.err.text, "as it was said");
            assert_null(bound.state);
            assert_true(making.made == run + 1 && making.plain == 0);
        }
        making.status = AMP_AGAIN;
        assert_int_equal(run_making(&making), AMP_AGAIN);
        making.status = AMP_UNSUPPORTED;
        assert_int_equal(run_making(&making), is_half ? AMP_UNSUPPORTED : AMP_OK);
        assert_string_equal(net.err.text, is_half ? "as it was said" : "");
        assert_int_equal(making.plain, !is_half);
        bind_end();
    }
}

/* As many inputs as a primitive has, with the operands of post-ops, and one more. */
static void inputs_are_not_without_end(void **state)
{
    enum { MOST = 32 };
    const struct amp_tensor *in[MOST + 1];
    const struct amp_post posts[2] = {{.kind = AMP_POST_CAST}, {.kind = AMP_POST_CAST}};
    (void)state;
    bind_start(NULL);
    for (int i = 0; i <= MOST; i++)
        in[i] = &bound.in_x;
    bound.in_x.dtype = AMP_BFLOAT16;
    bound.ctx.in = in;
    bound.ctx.posts = posts;
    for (uint32_t n = 0; n <= 2; n++)
        for (uint32_t n_in = MOST - 1 - n; n_in <= MOST - n + 1; n_in++) {
            struct making making = {.status = AMP_UNSUPPORTED};
            bound.ctx.n_in = n_in;
            bound.ctx.n_posts = n;
            assert_int_equal(run_making(&making), AMP_UNSUPPORTED);
            bool fits = n_in + n <= MOST;
            assert_int_equal(making.made, fits);
            assert_string_equal(net.err.text, fits ? "as it was said"
                                                   : "more than 32 inputs for a oneDNN primitive");
        }
    bind_end();
}

/* Reference implementations, and with post-ops those by matrix products, are left to C. */
static void slow_implementations_are_refused(void **state)
{
    static const struct {
        const char *name;
        bool is_slow, is_slow_with_posts;
    } cases[] = {
        {"ref:any", true, true},
        {"ref", true, true},
        {"ref_int8", true, true},
        {"simple:ref:any", true, true},
        {"gemm:ref", false, true},
        {"jit:avx2", false, false},
        {"x64:gemm:jit", false, true},
        {"brgemm_pref", false, false},
        {"jit_gemm", false, false},
        {"jit:ref", false, false},
        {"", false, false},
        {"re", false, false},
        {"gemm:jit:ref:any", true, true},
    };
    static const struct amp_post post = {.kind = AMP_POST_CAST};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(cases) * 2; i++) {
        struct making making = {.status = AMP_OK};
        char said[80];
        bind_start(NULL);
        implementation = cases[i / 2].name;
        bound.ctx.posts = &post;
        bound.ctx.n_posts = i % 2;
        bool is_slow = i % 2 == 0 ? cases[i / 2].is_slow : cases[i / 2].is_slow_with_posts;
        enum amp_status status = run_making(&making);
        if (status != (is_slow && i % 2 == 1 ? AMP_UNSUPPORTED : AMP_OK) ||
            making.plain != (is_slow && i % 2 == 0))
            fail_msg("%s, %d post-ops: %d %s", implementation, (int)(i % 2), (int)status,
                     net.err.text);
        assert_string_equal(
            net.err.text, status == AMP_OK ? "" : "a kernel in C takes plain tensors of one type");
        struct amp_prim_call none = {make_product, NULL, &making};
        if (is_slow)
            assert_int_equal(amp_prim_run_call(&bound.ctx, &none), AMP_UNSUPPORTED);
        snprintf(said, sizeof said, "oneDNN has only %s", implementation);
        bind_end();
    }
    implementation = NULL;
}

/* A kernel in C needs the data of what is constant; others may have none, if they are empty. */
static void kernels_in_c_wait_for_constants(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct making making = {.status = AMP_UNSUPPORTED};
        bind_start(NULL);
        bound.in_w.data = (i & 1) != 0 ? bound.w : NULL;
        bound.is_constant[1] = (i & 2) != 0;
        bound.in[1] = (i & 4) != 0 ? NULL : &bound.in_w;
        assert_int_equal(run_making(&making), i == 2 ? AMP_AGAIN : AMP_OK);
        assert_int_equal(making.plain, i != 2);
        bind_end();
    }
}

/* ---- kernels of our own ---- */

static struct {
    int created[3], run, destroyed;
    dnnl_memory_t memory; /* of the last run's result */
} own_calls;

static void *create_none(const_dnnl_primitive_desc_t pd)
{
    (void)pd;
    own_calls.created[0]++;
    return NULL;
}

static void *create_one(const_dnnl_primitive_desc_t pd)
{
    (void)pd;
    own_calls.created[1]++;
    return &own_calls;
}

static void *create_another(const_dnnl_primitive_desc_t pd)
{
    (void)pd;
    own_calls.created[2]++;
    return &own_calls;
}

/* Fills the result with 9. */
static void run_own(const void *own_state, int n, const dnnl_exec_arg_t *args)
{
    assert_ptr_equal(own_state, &own_calls);
    own_calls.run++;
    for (int i = 0; i < n; i++) {
        assert_int_not_equal(args[i].arg, DNNL_ARG_SCRATCHPAD);
        float *result = args[i].arg == DNNL_ARG_DST ? handle_of(args[i].memory) : NULL;
        for (int k = 0; result != NULL && k < ROWS_OF_X * COLUMNS_OF_W; k++)
            result[k] = 9;
    }
}

static void destroy_own(void *own_state)
{
    assert_ptr_equal(own_state, &own_calls);
    own_calls.destroyed++;
}

/* The first that takes the primitive runs in its place, and has its name in a profile. */
static void the_first_kernel_that_fits_runs(void **state)
{
    static const struct amp_own_primitive refuses_all = {create_none, run_own, destroy_own},
                                          takes = {create_one, run_own, destroy_own},
                                          takes_too = {create_another, run_own, destroy_own};
    static const struct amp_own_kernel elsewhere = {.name = "elsewhere"},
                                       first = {.name = "first", .primitive = &refuses_all},
                                       second = {.name = "second", .primitive = &takes},
                                       third = {.name = "third", .primitive = &takes_too};
    static const struct amp_own_kernel *const all[] = {&elsewhere, &first, &elsewhere,
                                                       &second,    &third, NULL};
    static const struct amp_own_kernel *const no[] = {&elsewhere, &first, NULL};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct making making = {.status = AMP_OK};
        bool is_own = i % 2 == 0;
        size_t count, products = 0;
        memset(&own_calls, 0, sizeof own_calls);
        bind_start(is_own ? all : no);
        struct amp_profile *profile = bound.host.profile = i < 2 ? amp_profile_create() : NULL;
        implementation = "any";
        for (int run = 0; run < 2; run++) {
            assert_int_equal(run_making(&making), AMP_OK);
            for (size_t k = 0; k < ROWS_OF_X * COLUMNS_OF_W && is_own; k++)
                assert_true(amp_tensor_double(&bound.out, k) == 9);
            if (!is_own)
                expect_rows_of_w(1);
        }
        assert_true(own_calls.created[0] == 1 && own_calls.created[1] == is_own);
        assert_int_equal(own_calls.created[2], 0);
        assert_int_equal(own_calls.run, is_own ? 2 : 0);
        for (size_t k = 0; profile != NULL && k < (amp_profile_primitives(profile, &count), count);
             k++) {
            const struct amp_profile_primitive *noted = &amp_profile_primitives(profile, &count)[k];
            if (strcmp(noted->kind, "matmul") != 0)
                continue;
            assert_string_equal(noted->implementation, is_own ? "second" : "any");
            assert_int_equal(noted->calls, 2);
            products++;
        }
        assert_int_equal(products, profile != NULL);
        implementation = NULL;
        bind_end();
        assert_int_equal(own_calls.destroyed, is_own);
        amp_profile_destroy(profile);
    }
}

/* Convolutions that change no value, before and behind what moves them, give it oneDNN's layouts.
 */
enum { CHANNELS = 32, GROUPS = 2, PIXELS = 15, ALL = CHANNELS * PIXELS };

static uint32_t cast(uint32_t x, enum amp_dtype dtype)
{
    uint32_t y = NODE("Cast", "cast", x);
    set_int(y, "to", dtype);
    return y;
}

/* X is in DTYPE. */
static uint32_t copy_channels(const char *name, uint32_t x, int channels, int groups,
                              enum amp_dtype dtype)
{
    float weights[CHANNELS * CHANNELS] = {0};
    int in_group = channels / groups;
    for (int i = 0; i < channels; i++)
        weights[i * in_group + i % in_group] = 1;
    uint32_t w = constant(amp_model_unique_name(net.model, "w"), AMP_FLOAT,
                          DIMS(channels, in_group, 1, 1), weights);
    uint32_t y = NODE("Conv", name, x, cast(w, dtype));
    set_int(y, "group", groups);
    return y;
}

static uint32_t copy_by_convolution(const char *name, uint32_t x)
{
    return copy_channels(name, x, CHANNELS, GROUPS, AMP_FLOAT);
}

/* Element I of the input is FIRST + I. */
static void run_on_numbers(int first)
{
    float x[ALL];
    for (int i = 0; i < ALL; i++)
        x[i] = (float)(first + i);
    run_on(net_tensor(AMP_FLOAT, DIMS(1, CHANNELS, 5, 3), x));
}

static void shuffled_channels_are_where_they_belong(void **state)
{
    double expected[ALL];
    (void)state;
    net_start(17);
    uint32_t x = input("x", AMP_FLOAT, DIMS(1, CHANNELS, 5, 3));
    uint32_t split = NODE("Reshape", "split", copy_by_convolution("a", x),
                          NUMBERS("groups", 1, GROUPS, CHANNELS / GROUPS, 5, 3));
    uint32_t turned = NODE("Transpose", "turned", split);
    SET_INTS(turned, "perm", 0, 2, 1, 3, 4);
    uint32_t joined = NODE("Reshape", "joined", turned, NUMBERS("channels", 1, CHANNELS, 5, 3));
    output(copy_by_convolution("y", joined));
    run_on_numbers(0);
    for (int i = 0; i < ALL; i++) {
        int channel = i / PIXELS, from = channel % GROUPS * (CHANNELS / GROUPS) + channel / GROUPS;
        expected[i] = from * PIXELS + i % PIXELS;
    }
    expect_doubles(0, expected, ALL, 0);
}

static void tensors_in_unlike_layouts_are_joined(void **state)
{
    double expected[2 * ALL];
    (void)state;
    for (int i = 0; i < 2 * ALL; i++)
        expected[i] = 7 + i % ALL;
    for (int is_first = 0; is_first < 2; is_first++) {
        net_start(17);
        uint32_t x = input("x", AMP_FLOAT, DIMS(1, CHANNELS, 5, 3));
        uint32_t a = copy_by_convolution("a", x);
        uint32_t y = NODE("Concat", "y", is_first ? a : x, is_first ? x : a);
        set_int(y, "axis", 1);
        output(y);
        run_on_numbers(7);
        expect_doubles(0, expected, 2 * ALL, 0);
    }
}

/* Matrices in blocks, as A and as B. */
static void tensors_in_blocks_are_multiplied(void **state)
{
    enum { ROWS = ALL / 3, OF_B = CHANNELS * 3 };
    double expected[ALL];
    (void)state;
    for (int i = 0; i < ROWS; i++)
        expected[i] = 3 * i + 10 * (3 * i + 1) + 100 * (3 * i + 2);
    net_start(17);
    uint32_t a = copy_by_convolution("a", input("x", AMP_FLOAT, DIMS(1, CHANNELS, 5, 3)));
    output(NODE("MatMul", "y", a,
                constant("w", AMP_FLOAT, DIMS(3, 1), ((const float[]){1, 10, 100}))));
    run_on_numbers(0);
    expect_doubles(0, expected, ROWS, 0);
    for (int i = 0; i < OF_B; i++) {
        expected[i] = 0;
        for (int row = 0; row < 5; row++)
            expected[i] += (row + 1) * (i / 3 * PIXELS + row * 3 + i % 3);
    }
    net_start(17);
    uint32_t b = copy_by_convolution("b", input("x", AMP_FLOAT, DIMS(1, CHANNELS, 5, 3)));
    output(NODE("MatMul", "y",
                constant("w", AMP_FLOAT, DIMS(1, 5), ((const float[]){1, 2, 3, 4, 5})), b));
    run_on_numbers(0);
    expect_doubles(0, expected, OF_B, 0);
}

/* As many as one primitive takes, and more. */
static void many_tensors_are_joined(void **state)
{
    enum { MOST = 60 };
    static const uint32_t counts[] = {16, 17, MOST};
    static double expected[MOST * ALL];
    (void)state;
    for (int i = 0; i < MOST * ALL; i++)
        expected[i] = 7 + i % ALL;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint32_t parts[MOST];
        net_start(17);
        parts[0] = copy_by_convolution("a", input("x", AMP_FLOAT, DIMS(1, CHANNELS, 5, 3)));
        for (uint32_t k = 1; k < counts[i]; k++)
            parts[k] = parts[0];
        uint32_t y = net_out(net_node(0, "Concat", "y", 1, parts, counts[i]), 0);
        set_int(y, "axis", 1);
        output(y);
        run_on_numbers(7);
        expect_doubles(0, expected, counts[i] * ALL, 0);
    }
}

/* The place in B, of SHAPE, of what element FLAT of [2, 1, CHANNELS, 5, 3] has to do with. */
static int64_t broadcast_place(const struct amp_shape *shape, int64_t flat)
{
    static const int64_t dims[] = {2, 1, CHANNELS, 5, 3};
    int64_t at[5], place = 0;
    amp_index_at(5, dims, flat, at);
    for (int d = 0; d < shape->rank; d++)
        place = place * shape->dims[d] + (shape->dims[d] == 1 ? 0 : at[5 - shape->rank + d]);
    return place;
}

/* Operands of more dims than what lies in oneDNN's layout, and of fewer. */
static void operands_of_other_ranks_are_added(void **state)
{
    static const struct amp_shape shapes[] = {{1, {3}},
                                              {2, {5, 3}},
                                              {3, {CHANNELS, 1, 1}},
                                              {3, {CHANNELS, 5, 3}},
                                              {4, {1, CHANNELS, 1, 1}},
                                              {5, {2, 1, 1, 1, 1}},
                                              {5, {2, 1, CHANNELS, 1, 1}},
                                              {5, {1, 1, 1, 1, 1}},
                                              {5, {2, 1, 1, 5, 3}}};
    static float b[2 * ALL], x[ALL];
    static double expected[2 * ALL];
    (void)state;
    for (int i = 0; i < 2 * ALL; i++)
        b[i] = (float)(1 + i * 7 % 31);
    for (int i = 0; i < ALL; i++)
        x[i] = (float)i;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes * 2; k++) {
        const struct amp_shape *shape = &shapes[k / 2];
        int all = shape->rank >= 4 && shape->dims[0] == 2 ? 2 * ALL : ALL;
        for (int i = 0; i < all; i++)
            expected[i] = i % ALL + (double)b[broadcast_place(shape, i)];
        net_start(17);
        uint32_t a = copy_by_convolution("a", input("x", AMP_FLOAT, DIMS(1, CHANNELS, 5, 3)));
        uint32_t other = input("b", AMP_FLOAT, *shape);
        output(NODE("Add", "y", k % 2 == 0 ? a : other, k % 2 == 0 ? other : a));
        run_on(TENSORS(*net_tensor(AMP_FLOAT, DIMS(1, CHANNELS, 5, 3), x),
                       *net_tensor(AMP_FLOAT, *shape, b)));
        expect_doubles(0, expected, (size_t)all, 0);
    }
}

/* Images of CHANNELS that lie last, which are as long as they are wide, between transposes that
   have them so: every element comes twice along each dim but those two. */
static void images_with_channels_last_are_resized(void **state)
{
    enum { IMAGES = 2, CHANNELS_LAST = 3, MOST = IMAGES * 4 * 4 * 4 * CHANNELS_LAST };
    static const int64_t sides[] = {2, 1, 2};
    static float x[MOST], scales[] = {1, 1, 2, 2, 2};
    static double expected[MOST * 8];
    (void)state;
    for (int i = 0; i < MOST; i++)
        x[i] = (float)i;
    for (int n = 1; n <= 3; n++) {
        struct amp_shape in = {n + 2, {IMAGES}}, out = {n + 2, {IMAGES}};
        int64_t last[5] = {0, n + 1}, first[5] = {0};
        for (int d = 0; d < n; d++) {
            in.dims[1 + d] = sides[d];
            out.dims[1 + d] = 2 * sides[d];
            last[2 + d] = 1 + d;
            first[1 + d] = 2 + d;
        }
        in.dims[n + 1] = out.dims[n + 1] = CHANNELS_LAST;
        first[n + 1] = 1;
        int64_t count = amp_shape_count(&out);
        for (int64_t i = 0; i < count; i++) {
            int64_t at[AMP_RANK_MAX], place = 0;
            amp_index_at(n + 2, out.dims, i, at);
            for (int d = 0; d < n + 2; d++)
                place = place * in.dims[d] + (d == 0 || d == n + 1 ? at[d] : at[d] / 2);
            expected[i] = (double)place;
        }
        net_start(19);
        uint32_t turned = NODE("Transpose", "turned", input("x", AMP_FLOAT, in));
        set_list(turned, "perm", (size_t)n + 2, last);
        uint32_t resized = NODE("Resize", "resized", turned, AMP_NONE,
                                constant("scales", AMP_FLOAT, DIMS(n + 2), scales));
        uint32_t y = NODE("Transpose", "y", resized);
        set_list(y, "perm", (size_t)n + 2, first);
        output(y);
        run_on(net_tensor(AMP_FLOAT, in, x));
        expect_doubles(0, expected, (size_t)count, 0);
    }
}

/* ---- a division by 0 ---- */

bool __wrap_amp_cpu_tells_caches(void);

static bool are_caches_hidden;

bool __wrap_amp_cpu_tells_caches(void)
{
    return !are_caches_hidden && __real_amp_cpu_tells_caches();
}

enum { FEW = 20, NOT_FULL = FEW * PIXELS };

/* 2 / x between convolutions of few channels that change no value, all in DTYPE. */
static uint32_t twice_the_reciprocal(uint32_t x, enum amp_dtype dtype)
{
    uint32_t a = copy_channels("a", cast(x, dtype), FEW, 1, dtype);
    uint32_t sum = NODE("Add", "sum", NODE("Reciprocal", "r", a), NODE("Reciprocal", "s", a));
    uint32_t y = copy_channels("y", sum, FEW, 1, dtype);
    return cast(y, AMP_FLOAT);
}

static void expect_twice_the_reciprocal(enum amp_dtype dtype, const float *x,
                                        const double *expected)
{
    struct amp_session *session = NULL;
    const struct amp_tensor *in = net_tensor(AMP_FLOAT, DIMS(1, FEW, 5, 3), x);
    net_start(17);
    output(twice_the_reciprocal(input("x", AMP_FLOAT, DIMS(1, FEW, 5, 3)), dtype));
    infer_all();
    assert_int_equal(amp_session_open(net.model, true, &session, &net.err), AMP_OK);
    for (int run = 0; run < 4; run++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session, in, net.outputs, &net.err), AMP_OK);
        expect_doubles(0, expected, NOT_FULL, dtype == AMP_FLOAT ? 1e-6 : 0.01);
    }
    amp_session_destroy(session);
}

/* Blocks of 8 or 16 channels, which convolutions have where caches are hidden, are not full: what
   fills them takes part in the next convolution, in which infinities would not be lost. */
static void what_fills_blocks_stays_zero(void **state)
{
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    float x[NOT_FULL];
    double expected[NOT_FULL];
    (void)state;
    for (int i = 0; i < NOT_FULL; i++) {
        x[i] = (float)(1 + i % 8);
        expected[i] = 2.0 / (1 + i % 8);
    }
    for (int is_hidden = 0; is_hidden < 2; is_hidden++) {
        are_caches_hidden = is_hidden != 0;
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
            expect_twice_the_reciprocal(dtypes[i], x, expected);
    }
    are_caches_hidden = false;
}

/* Runs the model three times on INPUTS: memory that the first leaves is used again. */
static void expect_runs(const struct amp_tensor *inputs, const double *expected, double tolerance)
{
    struct amp_session *session = NULL;
    assert_int_equal(amp_session_open(net.model, false, &session, &net.err), AMP_OK);
    for (int run = 0; run < 3; run++) {
        amp_tensors_release(net.outputs, NET_OUTPUTS);
        assert_int_equal(amp_session_run(session, inputs, net.outputs, &net.err), AMP_OK);
        expect_doubles(0, expected, NOT_FULL, tolerance);
    }
    amp_session_destroy(session);
}

/* Nor does a division, which may be done by the convolution, make anything of it. */
static void what_fills_blocks_is_not_divided(void **state)
{
    static const struct amp_shape shapes[] = {{4, {1, FEW, 1, 1}}, {4, {1, FEW, 5, 3}}};
    float x[NOT_FULL], divisors[NOT_FULL];
    double expected[NOT_FULL];
    (void)state;
    for (int i = 0; i < NOT_FULL; i++)
        x[i] = (float)(1 + i % 8);
    for (int k = 0; k < 4; k++) {
        const struct amp_shape *shape = &shapes[k / 2];
        are_caches_hidden = k % 2 == 1;
        for (int i = 0; i < NOT_FULL; i++) {
            divisors[i] = i % 2 == 0 ? 2 : -4;
            expected[i] = (double)x[i] / (((k < 2 ? i / PIXELS : i) % 2) == 0 ? 2 : -4);
        }
        net_start(17);
        uint32_t a =
            copy_channels("a", input("x", AMP_FLOAT, DIMS(1, FEW, 5, 3)), FEW, 1, AMP_FLOAT);
        uint32_t q = NODE("Div", "q", a, input("d", AMP_FLOAT, *shape));
        output(copy_channels("y", q, FEW, 1, AMP_FLOAT));
        infer_all();
        expect_runs(TENSORS(*net_tensor(AMP_FLOAT, DIMS(1, FEW, 5, 3), x),
                            *net_tensor(AMP_FLOAT, *shape, divisors)),
                    expected, 1e-6);
    }
    are_caches_hidden = false;
}

/* Nor does a normalization without epsilon, by variances of which what fills blocks has none. */
static void what_fills_blocks_is_not_normalized(void **state)
{
    float x[NOT_FULL], scale[FEW], bias[FEW], mean[FEW], variance[FEW];
    double expected[NOT_FULL];
    (void)state;
    for (int i = 0; i < NOT_FULL; i++)
        expected[i] = 2.0 * (x[i] = (float)(1 + i % 8)) + 3;
    for (int c = 0; c < FEW; c++)
        scale[c] = 4, bias[c] = 5, mean[c] = 1, variance[c] = 4;
    are_caches_hidden = true;
    net_start(17);
    uint32_t a = copy_channels("a", input("x", AMP_FLOAT, DIMS(1, FEW, 5, 3)), FEW, 1, AMP_FLOAT);
    uint32_t normal = NODE("BatchNormalization", "n", a, input("s", AMP_FLOAT, DIMS(FEW)),
                           input("b", AMP_FLOAT, DIMS(FEW)), input("m", AMP_FLOAT, DIMS(FEW)),
                           input("v", AMP_FLOAT, DIMS(FEW)));
    set_number(normal, "epsilon", 0);
    output(copy_channels("y", normal, FEW, 1, AMP_FLOAT));
    infer_all();
    expect_runs(TENSORS(*net_tensor(AMP_FLOAT, DIMS(1, FEW, 5, 3), x),
                        *net_tensor(AMP_FLOAT, DIMS(FEW), scale),
                        *net_tensor(AMP_FLOAT, DIMS(FEW), bias),
                        *net_tensor(AMP_FLOAT, DIMS(FEW), mean),
                        *net_tensor(AMP_FLOAT, DIMS(FEW), variance)),
                expected, 1e-5);
    are_caches_hidden = false;
}

/* The strides of channels last, of rows between the channels, and of channels last with a gap. */
static const struct {
    int order[4]; /* the dims, from the last on */
    int64_t gap;
} lies[] = {{{1, 3, 2, 0}, 0}, {{3, 1, 2, 0}, 0}, {{1, 3, 2, 0}, 2}};

enum { MOST_CHANNELS = 17, MOST_PLACES = 2 * (MOST_CHANNELS + 2) * 2 * 3 };

/* The layout of TENSOR, of rank 4, that lies so. */
static const struct amp_layout *layout_that_lies(struct amp_dnnl *dnnl,
                                                 const struct amp_tensor *tensor, int lie)
{
    int64_t stride = 1;
    dnnl_memory_desc_t desc;
    dnnl_dims_t strides;
    for (int i = 0; i < 4; i++) {
        int dim = lies[lie].order[i];
        strides[dim] = stride;
        stride = stride * tensor->shape.dims[dim] + (i == 0 ? lies[lie].gap : 0);
    }
    assert_int_equal(dnnl_memory_desc_create_with_strides(&desc, 4, tensor->shape.dims,
                                                          amp_dnnl_dtype(tensor->dtype), strides),
                     dnnl_success);
    const struct amp_layout *layout = amp_layout_of(dnnl->layouts, desc);
    dnnl_memory_desc_destroy(desc);
    return layout;
}

/* One normalization of tensors that lie so, 2 (x - 1) + 3 but for the last channel, whose mean is
   2; whether that needs neither a primitive nor another layout. */
static bool normalizes_in_c(struct amp_dnnl *dnnl, enum amp_dtype dtype, int64_t channels, int lie)
{
    float scale[MOST_CHANNELS], bias[MOST_CHANNELS], mean[MOST_CHANNELS], variance[MOST_CHANNELS];
    double x_data[MOST_PLACES]; /* as much as any dtype needs */
    struct amp_tensor x = {.dtype = dtype, .shape = {4, {2, channels, 2, 3}}, .data = x_data};
    struct amp_tensor parameters[4], y = x, *out = &y;
    const struct amp_tensor *in[5] = {&x};
    float *values[4] = {scale, bias, mean, variance};
    void *kept = NULL;
    for (int i = 0; i < 4; i++) {
        parameters[i] =
            (struct amp_tensor){.dtype = AMP_FLOAT, .shape = {1, {channels}}, .data = values[i]};
        in[i + 1] = &parameters[i];
    }
    for (int c = 0; c < channels; c++)
        scale[c] = 4, bias[c] = 3, mean[c] = c + 1 < channels ? 1 : 2, variance[c] = 4;
    x.layout = layout_that_lies(dnnl, &x, lie);
    for (int64_t i = 0; i < amp_shape_count(&x.shape); i++)
        amp_tensor_set_double(&x, (size_t)place_in(&x, i), (double)(i % 7));
    y.data = NULL;
    struct amp_host host = {.dnnl = dnnl};
    struct amp_node node = {.op_type = "BatchNormalization", .domain = "", .since_version = 15};
    struct amp_attr epsilon = {
        .name = "epsilon", .type = AMP_ATTR_FLOAT, .count = 1, .floats = (float[]){0}};
    node.attrs = &epsilon, node.n_attrs = 1;
    struct amp_ctx ctx = {.node = &node,
                          .in = in,
                          .n_in = 5,
                          .out = &out,
                          .n_out = 1,
                          .is_constant = (const bool[5]){false},
                          .state = &kept,
                          .host = &host,
                          .err = &net.err,
                          .layout_wish = {.any_layout = true}};
    const struct amp_op *op = amp_op_find("", "BatchNormalization");
    enum amp_status status = op->run(&ctx);
    for (int64_t i = 0; status == AMP_OK && i < amp_shape_count(&y.shape); i++) {
        int64_t c = i / 6 % channels;
        assert_true(amp_tensor_double(&y, (size_t)place_in(&y, i)) ==
                    (double)(2 * (i % 7 - (c + 1 < channels ? 1 : 2)) + 3));
    }
    assert_true(status == AMP_OK || status == AMP_UNSUPPORTED);
    bool is_in_c = status == AMP_OK && kept == NULL;
    op->destroy(kept);
    amp_tensor_release(&y);
    net.err = (struct amp_error){.status = AMP_OK};
    return is_in_c;
}

/* Channels that lie last, without gaps, of a number that fills no vectors, are normalized in C
   where the CPU computes in their 16 bits. */
static void few_channels_last_are_normalized_in_c(void **state)
{
    static const int64_t channels[] = {1, 3, 15, 16, 17};
    static const enum amp_dtype dtypes[] = {AMP_FLOAT, AMP_BFLOAT16, AMP_FLOAT16};
    struct amp_dnnl *dnnl;
    (void)state;
    assert_int_equal(amp_dnnl_create(NULL, &dnnl, &net.err), AMP_OK);
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
        for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
            for (int lie = 0; lie < 3; lie++) {
                if (dtypes[t] != AMP_FLOAT && !amp_cpu_is_native(dtypes[t]))
                    continue;
                bool is_vector = channels[i] == 1 || channels[i] == 16;
                assert_int_equal(normalizes_in_c(dnnl, dtypes[t], channels[i], lie),
                                 dtypes[t] != AMP_FLOAT && !is_vector && lie == 0);
            }
    amp_dnnl_destroy(dnnl);
}

/* What QuantizeLinear or DequantizeLinear is called with. */
struct scaling {
    const char *op_type;
    enum amp_dtype from, to, scale;
    int lie; /* < 0: row by row */
    int64_t axis, block_size;
    struct amp_shape scales;
};

/* Scales are 1, 2, 4, .. by the index along the axis and x, [2, 3, 2, 3], is i % 5 times that or
   is it without: what comes of it is the other. The status; the results are right if it is OK. */
static enum amp_status scale_by_axis(struct amp_dnnl *dnnl, const struct scaling *s)
{
    double x_data[64], scales[64] = {0};
    bool divides = strcmp(s->op_type, "QuantizeLinear") == 0;
    struct amp_tensor x = {.dtype = s->from, .shape = {4, {2, 3, 2, 3}}, .data = x_data};
    struct amp_tensor scale = {.dtype = s->scale, .shape = s->scales, .data = scales};
    struct amp_tensor y = {.dtype = s->to, .shape = x.shape}, *out = &y;
    const struct amp_tensor *in[] = {&x, &scale};
    struct amp_attr attrs[] = {
        {.name = "axis", .type = AMP_ATTR_INT, .count = 1, .ints = &s->axis},
        {.name = "block_size", .type = AMP_ATTR_INT, .count = 1, .ints = &s->block_size}};
    struct amp_node node = {
        .op_type = s->op_type, .domain = "", .since_version = 21, .attrs = attrs, .n_attrs = 2};
    struct amp_host host = {.dnnl = dnnl};
    void *kept = NULL;
    if (s->lie >= 0)
        x.layout = layout_that_lies(dnnl, &x, s->lie);
    for (int64_t i = 0; i < amp_shape_count(&scale.shape); i++)
        amp_tensor_set_double(&scale, (size_t)i, scale.shape.rank == 1 ? (double)(1 << i) : 1);
    for (int64_t i = 0; i < 36; i++) {
        int64_t at[4];
        amp_index_at(4, x.shape.dims, i, at);
        int64_t by = scale.shape.rank == 1 ? 1 << at[s->axis] : 1;
        if (s->from == AMP_UINT8)
            ((uint8_t *)x_data)[place_in(&x, i)] = (uint8_t)(i % 5);
        else
            amp_tensor_set_double(&x, (size_t)place_in(&x, i), (double)(i % 5 * by));
    }
    struct amp_ctx ctx = {.node = &node,
                          .in = in,
                          .n_in = 2,
                          .out = &out,
                          .n_out = 1,
                          .is_constant = (const bool[2]){false},
                          .state = &kept,
                          .host = &host,
                          .err = &net.err};
    enum amp_status status = amp_op_find("", s->op_type)->run(&ctx);
    for (int64_t i = 0; i < 36 && status == AMP_OK; i++) {
        int64_t at[4];
        amp_index_at(4, x.shape.dims, i, at);
        int64_t by = divides || scale.shape.rank > 1 ? 1 : 1 << at[s->axis];
        assert_true(amp_tensor_double(&y, (size_t)place_in(&y, i)) == (double)(i % 5 * by));
    }
    assert_true(status == AMP_OK || s->lie >= 0);
    amp_tensor_release(&y);
    net.err = (struct amp_error){.status = AMP_OK};
    return status;
}

/* Scales belong to their elements wherever these lie; not where there are gaps, or where they are
   for blocks. */
static void scales_belong_to_their_elements(void **state)
{
    static const enum amp_dtype floats[] = {AMP_FLOAT, AMP_FLOAT16, AMP_BFLOAT16};
    static const int64_t dims[] = {2, 3, 2, 3};
    struct amp_dnnl *dnnl;
    (void)state;
    assert_int_equal(amp_dnnl_create(NULL, &dnnl, &net.err), AMP_OK);
    for (int t = 0; t < 6; t++)
        for (int lie = -1; lie < 3; lie++)
            for (int64_t axis = 0; axis < 4; axis++) {
                enum amp_dtype dtype = floats[t / 2];
                bool divides = t % 2 == 0;
                struct scaling scaling = {.op_type =
                                              divides ? "QuantizeLinear" : "DequantizeLinear",
                                          .from = divides ? dtype : AMP_UINT8,
                                          .to = divides ? AMP_UINT8 : dtype,
                                          .scale = dtype,
                                          .lie = lie,
                                          .axis = axis,
                                          .scales = DIMS(dims[axis])};
                assert_int_equal(scale_by_axis(dnnl, &scaling), lie < 2 ? AMP_OK : AMP_UNSUPPORTED);
                scaling.scales = DIMS(2, 3, 2, 3);
                scaling.block_size = 1;
                assert_int_equal(scale_by_axis(dnnl, &scaling), lie < 0 ? AMP_OK : AMP_UNSUPPORTED);
            }
    amp_dnnl_destroy(dnnl);
}

struct calls {
    int made, plain;
};

/* As oneDNN does where it takes a cache for nothing, in a try whose errors are told elsewhere. */
static enum amp_status divide(struct amp_ctx *ctx, struct amp_prim *prim, void *what)
{
    static struct amp_error elsewhere;
    struct calls *calls = what;
    (void)prim;
    calls->made++;
    ctx->err = &elsewhere;
    raise(SIGFPE);
    return AMP_OK;
}

static enum amp_status count_plain(struct amp_ctx *ctx, void *what)
{
    struct calls *calls = what;
    (void)ctx;
    calls->plain++;
    return AMP_OK;
}

/* It is a refusal, once: the kernel in C runs in the primitive's place; 16 bits have none. */
static void what_divides_by_zero_is_refused(void **state)
{
    float data = 1;
    struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = {.rank = 1, .dims = {1}}, .data = &data};
    const struct amp_tensor *in = &x;
    struct amp_tensor y = x, *out = &y;
    void *kept = NULL;
    struct calls calls = {0};
    const struct amp_prim_call call = {divide, count_plain, &calls};
    struct amp_host host = {.profile = NULL};
    struct amp_ctx ctx = {.in = &in,
                          .n_in = 1,
                          .out = &out,
                          .n_out = 1,
                          .is_constant = (const bool[]){false},
                          .state = &kept,
                          .host = &host,
                          .err = &net.err};
    (void)state;
    are_caches_hidden = true;
    assert_int_equal(amp_prim_run_call(&ctx, &call), AMP_OK);
    assert_int_equal(amp_prim_run_call(&ctx, &call), AMP_OK);
    assert_true(calls.made == 1 && calls.plain == 2);
    assert_ptr_equal(ctx.err, &net.err);
    assert_int_equal(net.err.status, AMP_OK);
    x.dtype = AMP_BFLOAT16;
    assert_int_equal(amp_prim_run_call(&ctx, &call), AMP_UNSUPPORTED);
    assert_string_equal(net.err.text, "oneDNN needs to know the sizes of caches");
    net.err = (struct amp_error){.status = AMP_OK};
    assert_int_equal(amp_prim_run_call(&ctx, &call), AMP_UNSUPPORTED);
    assert_string_equal(net.err.text, "oneDNN has no primitive");
    assert_true(calls.made == 2 && calls.plain == 2);
    assert_ptr_equal(ctx.err, &net.err);
    amp_prim_destroy(kept);
    are_caches_hidden = false;
}

/* A kernel in C takes tensors row by row, and nothing else; there may be none. */
static void what_has_no_primitive_is_computed_in_c(void **state)
{
    static const int64_t dims[] = {2, 3, 5, 7};
    static const struct amp_post post = {.kind = AMP_POST_CAST};
    static float data[210];
    struct amp_tensor x = {.dtype = AMP_FLOAT, .shape = {4, {2, 3, 5, 7}}, .data = data};
    const struct amp_tensor *ins[] = {&x, NULL};
    struct amp_tensor y = x, *out = &y;
    void *kept = NULL;
    struct calls calls = {0};
    const struct amp_prim_call call = {NULL, count_plain, &calls}, none = {NULL, NULL, &calls};
    struct amp_host host = {.profile = NULL};
    dnnl_engine_t engine;
    (void)state;
    assert_int_equal(dnnl_engine_create(&engine, dnnl_cpu, 0), dnnl_success);
    struct amp_layouts *known = amp_layouts_create(engine);
    dnnl_memory_desc_t desc = layout_of(1, dims, dnnl_f32);
    for (int i = 0; i < 5; i++) {
        net.err = (struct amp_error){.status = AMP_OK};
        x.layout = i == 1 ? amp_layout_of(known, desc) : NULL;
        x.data = i == 4 ? NULL : data;
        struct amp_ctx ctx = {.in = ins,
                              .n_in = 2,
                              .out = &out,
                              .n_out = 1,
                              .posts = &post,
                              .n_posts = i == 2,
                              .reads_casts = i == 3,
                              .is_constant = (const bool[]){true, false},
                              .state = &kept,
                              .host = &host,
                              .err = &net.err};
        enum amp_status status = amp_prim_run_call(&ctx, &call);
        assert_int_equal(status, i == 0 ? AMP_OK : i == 4 ? AMP_AGAIN : AMP_UNSUPPORTED);
        assert_string_equal(
            net.err.text, i == 0 || i == 4 ? "" : "a kernel in C takes plain tensors of one type");
        assert_int_equal(calls.plain, 1);
        net.err = (struct amp_error){.status = AMP_OK};
        assert_int_equal(amp_prim_run_call(&ctx, &none), AMP_UNSUPPORTED);
        assert_string_equal(net.err.text, "there is no kernel in C");
    }
    assert_null(kept);
    dnnl_memory_desc_destroy(desc);
    amp_layouts_destroy(known);
    dnnl_engine_destroy(engine);
}

/* Each channel has a scale of its own, wherever a convolution leaves its elements. */
static void channels_keep_their_scales(void **state)
{
    enum { SCALED = 32, SIDE = 5, PLACES = SCALED * SIDE * SIDE };
    float identity[SCALED * SCALED] = {0}, scales[SCALED], x[PLACES];
    uint8_t zeros[SCALED];
    double expected[PLACES];
    (void)state;
    for (int c = 0; c < SCALED; c++) {
        identity[c * SCALED + c] = 1;
        scales[c] = (float)(c + 1) / 16;
        zeros[c] = (uint8_t)(100 + c);
    }
    for (int i = 0; i < PLACES; i++) {
        int c = i / (SIDE * SIDE);
        x[i] = (float)(i * 7 % 41 - 20) / 4;
        double q = rint((double)x[i] / (double)scales[c]) + zeros[c];
        expected[i] = (fmin(fmax(q, 0), 255) - zeros[c]) * (double)scales[c];
    }
    for (int again = 0; again < 2; again++) {
        net_start(13);
        uint32_t w = constant("w", AMP_FLOAT, DIMS(SCALED, SCALED, 1, 1), identity);
        uint32_t scale = constant("scale", AMP_FLOAT, DIMS(SCALED), scales);
        uint32_t zero = constant("zero", AMP_UINT8, DIMS(SCALED), zeros);
        uint32_t in = input("x", AMP_FLOAT, DIMS(1, SCALED, SIDE, SIDE));
        uint32_t q = NODE("QuantizeLinear", "q", NODE("Conv", "conv", in, w), scale, zero);
        output(NODE("DequantizeLinear", "y", q, scale, zero));
        output(q);
        if (again == 1)
            output(NODE("Conv", "again", NODE("DequantizeLinear", "z", q, scale, zero), w));
        run_on(net_tensor(AMP_FLOAT, DIMS(1, SCALED, SIDE, SIDE), x));
        expect_doubles(0, expected, PLACES, 1e-6);
        if (again == 1)
            expect_doubles(2, expected, PLACES, 1e-6);
    }
}

/* ---- sums of bytes --------------------------------------------------------------------------- */

/* Weights of SHAPE: W, and MORE in each second place along the last dim. */
static const struct amp_tensor *weights_of(struct amp_shape shape, int w, int more)
{
    size_t count = (size_t)amp_shape_count(&shape);
    int8_t *data = amp_arena_alloc(net.arena, count + 1);
    for (size_t i = 0; i < count; i++)
        data[i] = (int8_t)(i % 2 == 0 ? w : more);
    return net_tensor(AMP_INT8, shape, data);
}

/* Sums are right in float32 while 255 times the weights of a sign and, for what is subtracted from
   x, as often their sum, and the bias come to no more than 2^24: 518 times 127 by 255 do. Others
   are summed in integers, but where padding is no zero. */
static void sums_of_bytes_are_exact(void **state)
{
    static const struct {
        struct amp_shape shape;
        int w, more;
        enum amp_dtype x;
        int x_zero, bias, channel;
        enum amp_byte_way way;
    } cases[] = {
        {{2, {1, 518}}, 127, 127, AMP_UINT8, 0, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 519}}, 127, 127, AMP_UINT8, 0, 0, 0, AMP_BYTES_SUMMED},
        {{2, {1, 518}}, -127, -127, AMP_UINT8, 0, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 519}}, -127, -127, AMP_UINT8, 0, 0, 0, AMP_BYTES_SUMMED},
        {{2, {518, 1}}, 127, 127, AMP_UINT8, 0, 0, 1, AMP_BYTES_WHOLE},
        {{2, {519, 1}}, 127, 127, AMP_UINT8, 0, 0, 1, AMP_BYTES_SUMMED},
        {{2, {519, 2}}, 1, 127, AMP_UINT8, 0, 0, 1, AMP_BYTES_SUMMED},
        {{2, {519, 2}}, 127, 1, AMP_UINT8, 0, 0, 1, AMP_BYTES_SUMMED},
        {{2, {519, 2}}, 127, 127, AMP_UINT8, 0, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 518}}, 127, 127, AMP_UINT8, 0, 1786, 0, AMP_BYTES_WHOLE},
        {{2, {1, 518}}, 127, 127, AMP_UINT8, 0, 1787, 0, AMP_BYTES_SUMMED},
        {{2, {1, 518}}, 127, 127, AMP_UINT8, 0, -1786, 0, AMP_BYTES_WHOLE},
        {{2, {1, 518}}, 127, 127, AMP_UINT8, 0, -1787, 0, AMP_BYTES_SUMMED},
        {{2, {1, 1036}}, 127, -127, AMP_UINT8, 0, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 1036}}, 127, -127, AMP_UINT8, 200, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 1038}}, 127, -127, AMP_UINT8, 0, 0, 0, AMP_BYTES_SUMMED},
        {{2, {1, 518}}, 127, 127, AMP_UINT8, 1, 0, 0, AMP_BYTES_SUMMED},
        {{2, {1, 344}}, 127, 127, AMP_INT8, 0, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 345}}, 127, 127, AMP_INT8, 0, 0, 0, AMP_BYTES_SUMMED},
        {{2, {1, 258}}, 127, 127, AMP_INT8, -128, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 259}}, 127, 127, AMP_INT8, -128, 0, 0, AMP_BYTES_SUMMED},
        {{4, {1, 1, 7, 75}}, 127, 127, AMP_UINT8, 0, 0, 0, AMP_BYTES_SUMMED},
        {{4, {1, 1, 7, 75}}, 127, 127, AMP_UINT8, 1, 0, 0, AMP_BYTES_APART},
        {{4, {1, 525, 1, 1}}, 127, 127, AMP_UINT8, 1, 0, 0, AMP_BYTES_SUMMED},
        {{3, {1, 1, 525}}, 127, 127, AMP_UINT8, 1, 0, 0, AMP_BYTES_APART},
        {{4, {1, 1, 7, 75}}, 127, 127, AMP_INT8, -128, 0, 0, AMP_BYTES_SUMMED},
        {{4, {1, 1, 7, 75}}, 127, 127, AMP_INT8, 0, 0, 0, AMP_BYTES_APART},
        {{2, {1, 65793}}, 0, 0, AMP_UINT8, 0, 0, 0, AMP_BYTES_WHOLE},
        {{2, {1, 65794}}, 0, 0, AMP_UINT8, 0, 0, 0, AMP_BYTES_APART},
        {{2, {0, 5}}, 1, 1, AMP_UINT8, 0, 0, 0, AMP_BYTES_APART},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t biases[2] = {cases[i].bias, 0};
        int64_t n = cases[i].shape.dims[cases[i].channel];
        const struct amp_tensor *bias = net_tensor(AMP_INT32, DIMS(n > 2 ? 2 : n), biases);
        amp_cpu_detected = amp_cpu_detect() | UINT32_C(1) << AMP_CPU_VNNI;
        enum amp_byte_way way = amp_byte_sums_way(
            &(struct amp_byte_sums){.x = cases[i].x,
                                    .x_zero = cases[i].x_zero,
                                    .w = weights_of(cases[i].shape, cases[i].w, cases[i].more),
                                    .bias = cases[i].bias == 0 ? NULL : bias,
                                    .channel = cases[i].channel});
        amp_cpu_detect();
        if (way != cases[i].way)
            fail_msg("case %zu: %d", i, (int)way);
    }
}

/* Without instructions for it, sums of two products have 16 bits: weights of up to 64 fit, and
   oneDNN has such kernels for uint8 in vectors of 8 channels, or with one to a group. */
static void small_weights_need_no_instructions(void **state)
{
    static const struct {
        struct amp_shape shape;
        int w;
        enum amp_dtype x;
        int64_t group;
        bool is_whole;
    } cases[] = {
        {{4, {8, 8, 1, 1}}, 64, AMP_UINT8, 1, true},  {{4, {8, 8, 1, 1}}, 65, AMP_UINT8, 1, false},
        {{4, {8, 8, 1, 1}}, -64, AMP_UINT8, 1, true}, {{4, {8, 8, 1, 1}}, -65, AMP_UINT8, 1, false},
        {{4, {8, 8, 1, 1}}, 64, AMP_INT8, 1, false},  {{4, {8, 8, 1, 1}}, 64, AMP_UINT8, 0, false},
        {{4, {3, 5, 1, 1}}, 64, AMP_UINT8, 1, true},  {{3, {8, 8, 1}}, 64, AMP_UINT8, 1, false},
        {{2, {8, 8}}, 64, AMP_UINT8, 1, false},       {{4, {4, 1, 3, 3}}, 64, AMP_UINT8, 4, true},
        {{4, {8, 1, 3, 3}}, 64, AMP_UINT8, 4, false}, {{4, {16, 8, 1, 1}}, 64, AMP_UINT8, 2, true},
        {{4, {8, 8, 1, 1}}, 64, AMP_UINT8, 2, false}, {{4, {16, 4, 1, 1}}, 64, AMP_UINT8, 2, false},
        {{4, {4, 2, 3, 3}}, 64, AMP_UINT8, 4, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct amp_tensor *w = weights_of(cases[i].shape, 0, 0);
        ((int8_t *)w->data)[amp_tensor_count(w) - 1] = (int8_t)cases[i].w;
        amp_cpu_detected = amp_cpu_detect() & ~(UINT32_C(1) << AMP_CPU_VNNI);
        enum amp_byte_way way = amp_byte_sums_way(
            &(struct amp_byte_sums){.x = cases[i].x, .w = w, .group = cases[i].group});
        amp_cpu_detect();
        bool is_whole = way == AMP_BYTES_WHOLE;
        if (is_whole != cases[i].is_whole)
            fail_msg("case %zu: %d", i, (int)way);
    }
}

/* By a factor, to an integer, ties to even, before a zero point is added. */
static void sums_are_rounded_before_they_are_shifted(void **state)
{
    struct amp_requantize requantize = {.zero = 0};
    struct amp_post posts[AMP_REQUANTIZE_POSTS];
    (void)state;
    for (int i = 0; i < 2; i++) {
        requantize.zero = i == 0 ? 0 : -3;
        assert_int_equal(amp_requantize_posts(&requantize, posts), i == 0 ? 1 : 3);
        assert_int_equal(posts[0].kind, AMP_POST_BINARY);
        assert_int_equal(posts[0].alg, dnnl_binary_mul);
        assert_ptr_equal(posts[0].operand, &requantize.factors);
        assert_true(posts[0].is_constant);
    }
    assert_int_equal(posts[1].kind, AMP_POST_ELTWISE);
    assert_int_equal(posts[1].alg, dnnl_eltwise_round);
    assert_int_equal(posts[2].kind, AMP_POST_ELTWISE);
    assert_int_equal(posts[2].alg, dnnl_eltwise_linear);
    assert_true(posts[2].alpha == 1 && posts[2].beta == -3);
}

static void bytes_are_flipped_to_the_end(void **state)
{
    enum { MOST = 2 * AMP_PARALLEL_MIN + 3 };
    static const size_t counts[] = {
        0, 1, AMP_PARALLEL_MIN - 1, AMP_PARALLEL_MIN, AMP_PARALLEL_MIN + 1, MOST};
    static uint8_t from[MOST + 1], to[MOST + 1];
    (void)state;
    for (size_t i = 0; i <= MOST; i++)
        from[i] = (uint8_t)(i * 7);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        memset(to, 0x55, sizeof to);
        amp_bytes_flip(from, to, counts[k]);
        for (size_t i = 0; i <= MOST; i++)
            assert_int_equal(to[i], i < counts[k] ? (uint8_t)(from[i] + 128) : 0x55);
    }
}

/* Whether a convolution of bytes may be done once more as it was done before: of one primitive on x
   as it is. */
static void convolutions_of_bytes_are_repeated_whole(void **state)
{
    enum { FILTERS = 16, TAPS = 576 };
    static const struct {
        enum amp_dtype dtype;
        int zero;
        int64_t channels, kernel;
        bool is_whole;
    } cases[] = {
        {AMP_UINT8, 0, 16, 1, true},     {AMP_UINT8, 5, 16, 1, true}, {AMP_INT8, 0, 16, 1, true},
        {AMP_INT8, 5, 16, 1, true},      {AMP_INT8, 5, 16, 3, false}, {AMP_UINT8, 0, 576, 1, false},
        {AMP_INT8, -128, 576, 1, false},
    };
    static uint8_t x_data[TAPS * 9];
    static int8_t w_data[FILTERS * TAPS];
    struct amp_dnnl *dnnl;
    (void)state;
    memset(w_data, 127, sizeof w_data);
    assert_int_equal(amp_dnnl_create(NULL, &dnnl, &net.err), AMP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum amp_dtype dtype = cases[i].dtype;
        float one_scale = 1, w_scale = 1.0f / (1 << 17);
        int8_t zero = (int8_t)cases[i].zero, no_zero = 0;
        int32_t bias_data[FILTERS] = {0};
        const int64_t c = cases[i].channels, k = cases[i].kernel;
        struct amp_tensor x = {dtype, .shape = {4, {1, c, 3, 3}}, .data = x_data};
        struct amp_tensor x_scale = {AMP_FLOAT, .data = &one_scale}, y_scale = x_scale;
        struct amp_tensor x_zero = {dtype, .data = &zero};
        struct amp_tensor w = {AMP_INT8, .shape = {4, {FILTERS, c, k, k}}, .data = w_data};
        struct amp_tensor of_w = {AMP_FLOAT, .data = &w_scale};
        struct amp_tensor w_zero = {AMP_INT8, .data = &no_zero};
        struct amp_tensor y_zero = {AMP_UINT8, .data = &no_zero};
        struct amp_tensor bias = {AMP_INT32, .shape = {1, {FILTERS}}, .data = bias_data};
        const struct amp_tensor *in[] = {&x,      &x_scale, &x_zero, &w,   &of_w,
                                         &w_zero, &y_scale, &y_zero, &bias};
        struct amp_tensor y = {AMP_UINT8, .shape = {4, {1, FILTERS, 4 - k, 4 - k}}}, *out = &y;
        struct amp_node node = {.op_type = "QLinearConv", .domain = "", .since_version = 10};
        struct amp_host host = {.dnnl = dnnl};
        void *kept = NULL;
        struct amp_ctx ctx = {
            .node = &node,
            .in = in,
            .n_in = 9,
            .out = &out,
            .n_out = 1,
            .is_constant = (const bool[9]){false, true, true, true, true, true, true, true, true},
            .state = &kept,
            .host = &host,
            .err = &net.err,
            .layout_wish = {.any_layout = true}};
        const struct amp_op *op = amp_op_find("", "QLinearConv");
        assert_false(op->repeat->can(&ctx));
        if (op->run(&ctx) != AMP_OK)
            fail_msg("%s", net.err.text);
        if (amp_dnnl_adds_bytes(c * k * k))
            assert_int_equal(op->repeat->can(&ctx), cases[i].is_whole);
        for (size_t input = 0; input < 8; input++)
            assert_true(input == 3 || op->reads(kept, input));
        op->destroy(kept);
        amp_tensor_release(&y);
    }
    amp_dnnl_destroy(dnnl);
}

/* An activation that bounds its result, or makes 0 of what is not above, gives a number for a NaN.
 */
static void some_activations_hide_nans(void **state)
{
    static const struct {
        struct amp_post post;
        bool hides;
    } cases[] = {
        {{.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_clip}, true},
        {{.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_clip, .alpha = 1}, true},
        {{.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_hardsigmoid, .alpha = 1}, true},
        {{.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_relu}, true},
        {{.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_relu, .alpha = 0.125f}, false},
        {{.kind = AMP_POST_ELTWISE, .alg = dnnl_eltwise_tanh}, false},
        {{.kind = AMP_POST_BINARY, .alg = dnnl_eltwise_clip}, false},
        {{.kind = AMP_POST_BINARY, .alg = dnnl_eltwise_relu}, false},
        {{.kind = AMP_POST_CAST}, false},
    };
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(cases); i++)
        assert_int_equal(amp_post_hides_nan(&cases[i].post), cases[i].hides);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Weights are read in the lower dtype where few rows are multiplied by a matrix, alone, and
   constant ones where they are many. */
static void lower_weights_are_read_for_few_rows(void **state)
{
    static const struct amp_matmul few = {.m = 2, .n = 256, .k = 256};
    struct amp_matmul product[14];
    struct amp_tensor weights[] = {{.dtype = AMP_BFLOAT16, .shape = {2, {256, 256}}},
                                   {.dtype = AMP_BFLOAT16, .shape = {3, {1, 256, 256}}}};
    (void)state;
    for (size_t i = 0; i < 14; i++)
        product[i] = few;
    product[3].m = 1, product[3].is_a_transposed = true;
    product[4].batch_rank = 1, product[4].a_batch[0] = 1;
    product[5].m = 1, product[5].batch_rank = 1, product[5].a_batch[0] = 2;
    product[6].n = 255; /* enough where they are no constants */
    product[7].m = 3;
    product[8].m = 0;
    product[9].n = 0;
    product[10].k = 0;
    product[11].is_a_transposed = true;
    product[12].batch_rank = 1, product[12].a_batch[0] = 2;
    product[13].m = 1, product[13].batch_rank = 2, product[13].a_batch[0] = 1,
    product[13].a_batch[1] = 3;
    for (int way = 0; way < 2; way++)
        for (size_t i = 0; i < 14; i++) {
            const struct amp_tensor *in[] = {&weights[0], &weights[0]},
                                    *of_batch[] = {&weights[0], &weights[1]};
            const bool is_constant[] = {false, way == 1};
            struct amp_ctx ctx = {.in = in, .n_in = 2, .is_constant = is_constant};
            bool reads = amp_row_product_is_there() && (i < 6 || (i == 6 && way == 0));
            assert_int_equal(amp_matmul_reads_lower(&ctx, 1, &product[i]), reads);
            assert_false(amp_matmul_reads_lower(&ctx, 0, &product[i]));
            ctx.n_posts = 1;
            assert_false(amp_matmul_reads_lower(&ctx, 1, &product[i]));
            ctx.n_posts = 0, ctx.reads_casts = true;
            assert_false(amp_matmul_reads_lower(&ctx, 1, &product[i]));
            ctx.reads_casts = false, ctx.in = of_batch;
            assert_false(amp_matmul_reads_lower(&ctx, 1, &product[i]));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(channels_keep_their_scales),
        cmocka_unit_test(some_activations_hide_nans),
        NET_TEST(what_divides_by_zero_is_refused),
        NET_TEST(what_has_no_primitive_is_computed_in_c),
        NET_TEST(layouts_have_each_element_and_zeros),
        NET_TEST(tensors_of_other_dims_are_no_copies),
        NET_TEST(copies_need_room_where_they_convert),
        cmocka_unit_test(integers_are_made_by_onednn),
        cmocka_unit_test(other_types_are_copied_whole_or_not_at_all),
        cmocka_unit_test(gaps_are_no_blocks),
        cmocka_unit_test(blocks_of_any_sizes_are_copied),
        cmocka_unit_test(blocks_of_one_channel_are_of_channels),
        cmocka_unit_test(layouts_that_are_not_told_are_kept),
        NET_TEST(arguments_are_laid_out_as_wanted),
        NET_TEST(constants_that_are_ready_go_on),
        NET_TEST(forms_are_of_two_layouts),
        NET_TEST(outputs_come_back_to_their_memory),
        NET_TEST(arguments_are_not_without_end),
        NET_TEST(primitives_are_made_once),
        NET_TEST(other_inputs_have_other_primitives),
        NET_TEST(failures_are_no_refusals),
        NET_TEST(inputs_are_not_without_end),
        NET_TEST(slow_implementations_are_refused),
        NET_TEST(kernels_in_c_wait_for_constants),
        NET_TEST(the_first_kernel_that_fits_runs),
        NET_TEST(constants_are_read_until_all_have_them),
        NET_TEST(memory_for_primitives_ends),
        NET_TEST(memory_for_runs_ends),
        NET_TEST(operands_are_seen_as_the_output_is),
        NET_TEST(operands_with_layouts_are_whole),
        NET_TEST(post_ops_come_in_their_order),
        NET_TEST(matrices_for_the_roofline_need_room),
        cmocka_unit_test(profiles_have_nodes_by_their_ids),
        cmocka_unit_test(profiles_have_primitives_of_nodes),
        NET_TEST(divisions_of_what_fills_blocks_are_told),
        NET_TEST(operators_are_post_ops_by_their_definitions),
        NET_TEST(planes_are_turned_within_their_bounds),
        NET_TEST(what_lies_by_strides_takes_other_shapes),
        NET_TEST(permutations_are_known_by_what_they_permute),
        NET_TEST(strides_are_the_same_in_any_dtype),
        NET_TEST(tensors_lie_like_others),
        NET_TEST(what_has_no_strides_takes_no_other_shape),
        NET_TEST(blocks_are_dims_beside_others),
        NET_TEST(operands_go_with_blocks_in_their_order),
        NET_TEST(operands_in_blocks_are_lined_up_by_no_attribute),
        NET_TEST(blocks_of_channels_are_the_same_in_any_dtype),
        NET_TEST(what_onednn_has_not_is_said),
        NET_TEST(failures_of_onednn_are_told_apart),
        NET_TEST(copies_are_described_by_their_layouts),
        NET_TEST(descriptors_are_not_without_end),
        NET_TEST(products_lie_as_they_are_transposed),
        NET_TEST(shuffled_channels_are_where_they_belong),
        NET_TEST(tensors_in_unlike_layouts_are_joined),
        NET_TEST(tensors_in_blocks_are_multiplied),
        NET_TEST(many_tensors_are_joined),
        NET_TEST(operands_of_other_ranks_are_added),
        NET_TEST(images_with_channels_last_are_resized),
        NET_TEST(what_fills_blocks_stays_zero),
        NET_TEST(what_fills_blocks_is_not_divided),
        NET_TEST(what_fills_blocks_is_not_normalized),
        NET_TEST(few_channels_last_are_normalized_in_c),
        NET_TEST(scales_belong_to_their_elements),
        NET_TEST(sums_of_bytes_are_exact),
        NET_TEST(small_weights_need_no_instructions),
        NET_TEST(sums_are_rounded_before_they_are_shifted),
        NET_TEST(lower_weights_are_read_for_few_rows),
        NET_TEST(bytes_are_flipped_to_the_end),
        NET_TEST(convolutions_of_bytes_are_repeated_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
