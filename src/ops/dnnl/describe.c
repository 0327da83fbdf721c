/*
 * Reads what a memory descriptor of oneDNN says of a blocked layout, and puts a primitive in words:
 * its kind, its implementation, and the layouts of its memories in oneDNN's notation (dims from the
 * slowest to the fastest, "a" the first; capitals for those of which blocks lie innermost:
 * "aBcd16b"). It asks descriptors only.
 */
#include "ops/dnnl/describe.h"

#include <oneapi/dnnl/dnnl_debug.h>
#include <stdarg.h>
#include <stdio.h>

static bool query(const_dnnl_memory_desc_t desc, dnnl_query_t what, void *result)
{
    return dnnl_memory_desc_query(desc, what, result) == dnnl_success;
}

bool amp_blocks_read(const_dnnl_memory_desc_t desc, struct amp_blocks *blocks)
{
    return query(desc, dnnl_query_ndims_s32, &blocks->rank) &&
           query(desc, dnnl_query_data_type, &blocks->type) &&
           query(desc, dnnl_query_dims, &blocks->dims) &&
           query(desc, dnnl_query_strides, &blocks->strides) &&
           query(desc, dnnl_query_inner_nblks_s32, &blocks->n_inner) &&
           query(desc, dnnl_query_inner_blks, &blocks->inner) &&
           query(desc, dnnl_query_inner_idxs, &blocks->inner_dims);
}

struct text {
    char *at;
    size_t left; /* with the terminating zero */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += used;
    text->left -= used;
}

static bool is_blocked(const struct amp_blocks *blocks, int dim)
{
    for (int i = 0; i < blocks->n_inner; i++)
        if ((*blocks->inner_dims)[i] == dim)
            return true;
    return false;
}

static void add_layout(struct text *text, const_dnnl_memory_desc_t desc)
{
    struct amp_blocks blocks;
    if (!amp_blocks_read(desc, &blocks)) {
        add(text, "opaque");
        return;
    }
    for (int place = 0; place < blocks.rank; place++)
        for (int d = 0; d < blocks.rank; d++) { /* those as far apart come in their order */
            int n_slower = 0;
            for (int other = 0; other < blocks.rank; other++)
                n_slower += (*blocks.strides)[other] > (*blocks.strides)[d];
            if (n_slower == place)
                add(text, "%c", (is_blocked(&blocks, d) ? 'A' : 'a') + d);
        }
    for (int i = 0; i < blocks.n_inner; i++)
        add(text, "%d%c", (int)(*blocks.inner)[i], 'a' + (int)(*blocks.inner_dims)[i]);
}

/* Adds "BETWEEN f32:abcd" unless DESC is NULL or of no memory. */
static void add_desc(struct text *text, const char *between, const_dnnl_memory_desc_t desc)
{
    dnnl_data_type_t type = dnnl_data_type_undef;
    if (dnnl_memory_desc_get_size(desc) == 0)
        return;
    dnnl_memory_desc_query(desc, dnnl_query_data_type, &type);
    add(text, "%s%s:", between, dnnl_dt2str(type));
    add_layout(text, desc);
}

static void add_memory(struct text *text, const char *between, const_dnnl_primitive_desc_t pd,
                       dnnl_query_t what, int index)
{
    add_desc(text, between, dnnl_primitive_desc_query_md(pd, what, index));
}

const char *amp_describe_kind(const_dnnl_primitive_desc_t pd)
{
    dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
    dnnl_primitive_desc_query(pd, dnnl_query_primitive_kind, 0, &kind);
    return dnnl_prim_kind2str(kind);
}

const char *amp_describe_implementation(const_dnnl_primitive_desc_t pd)
{
    const char *name = "";
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    return name;
}

void amp_describe_layouts(const_dnnl_primitive_desc_t pd, char *to, size_t size)
{
    struct text text = {to, size};
    *to = '\0';
    add_memory(&text, "", pd, dnnl_query_src_md, 0);
    add_memory(&text, " * ", pd, dnnl_query_src_md, 1);
    add_memory(&text, " * ", pd, dnnl_query_weights_md, 0);
    add_memory(&text, " -> ", pd, dnnl_query_dst_md, 0);
}

void amp_describe_copy(const_dnnl_memory_desc_t from, const_dnnl_memory_desc_t to, char *at,
                       size_t size)
{
    struct text text = {at, size};
    *at = '\0';
    add_desc(&text, "", from);
    add_desc(&text, " -> ", to);
}
