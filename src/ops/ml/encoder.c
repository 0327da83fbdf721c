/*
 * LabelEncoder (ai.onnx.ml 1, 2 and 4), CategoryMapper and OneHotEncoder (1): values found by key,
 * through a hash table that is made on the first run. A NaN is a key like any other.
 */
#include "core/hash.h"
#include "core/array.h"
#include "ops/ml/ml.h"
#include "ops/kernel/data_movement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys and, by the same index, values; the last value, behind those of the keys, is that of what is
   no key. */
struct table {
    struct amp_tensor keys, values;
    int64_t n_keys;
    uint32_t *slots; /* key index + 1; 0: free */
    uint32_t mask;
};

enum { MAX_KEYS = 1 << 28 };

static void destroy_table(void *state)
{
    struct table *table = state;
    amp_tensor_release(&table->keys);
    amp_tensor_release(&table->values);
    free(table->slots);
    free(table);
}

/* ---- Keys ---- */

/* An element as bytes that are the same for what counts as equal. NUMBER holds those of numbers. */
static struct amp_str key_at(const struct amp_tensor *tensor, size_t index, uint64_t *number)
{
    if (tensor->dtype == AMP_STRING)
        return ((const struct amp_str *)tensor->data)[index];
    union {
        double value;
        uint64_t bits;
    } pun;
    if (amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT) {
        pun.value = amp_tensor_double(tensor, index);
        pun.value = isnan(pun.value) ? (double)NAN : pun.value + 0.0; /* -0 becomes 0 */
        *number = pun.bits;
    } else {
        *number = (uint64_t)amp_tensor_int(tensor, index);
    }
    return (struct amp_str){(const char *)number, sizeof *number};
}

/* The slot of KEY, or the free one where it belongs. */
static uint32_t *find_slot(const struct table *table, struct amp_str key)
{
    uint32_t at = amp_hash_keyed(key.data, key.size) & table->mask;
    while (table->slots[at] != 0) {
        uint64_t number;
        struct amp_str other = key_at(&table->keys, table->slots[at] - 1, &number);
        if (other.size == key.size &&
            (key.size == 0 || memcmp(other.data, key.data, key.size) == 0))
            break;
        at = (at + 1) & table->mask;
    }
    return &table->slots[at];
}

/* The index of the value for element INDEX of TENSOR, which has the keys' dtype. */
static size_t look_up(const struct table *table, const struct amp_tensor *tensor, size_t index)
{
    uint64_t number;
    uint32_t slot = *find_slot(table, key_at(tensor, index, &number));
    return slot == 0 ? (size_t)table->n_keys : slot - 1;
}

/* Enters the keys; of equal ones the last counts if LAST_WINS, else the first. */
static enum amp_status fill_slots(struct amp_ctx *ctx, struct table *table, bool last_wins)
{
    uint32_t size = 8;
    table->n_keys = amp_list_count(&table->keys);
    if (table->n_keys > MAX_KEYS)
        return AMP_CTX_FAIL(ctx, "%lld keys; at most %d are possible", (long long)table->n_keys,
                            MAX_KEYS);
    while (size < 2 * (uint64_t)table->n_keys)
        size *= 2;
    table->mask = size - 1;
    table->slots = amp_xcalloc(size, sizeof *table->slots);
    for (int64_t i = 0; i < table->n_keys; i++) {
        uint64_t number;
        uint32_t *slot = find_slot(table, key_at(&table->keys, (size_t)i, &number));
        if (*slot == 0 || last_wins)
            *slot = (uint32_t)i + 1;
    }
    return AMP_OK;
}

/* ---- Values ---- */

/* VALUES[0], and all of the list FROM before it, become the table's values. */
static enum amp_status set_values(struct amp_ctx *ctx, struct table *table,
                                  const struct amp_tensor *from, const void *last)
{
    size_t size = amp_dtype_bits(from->dtype) / 8, count = (size_t)amp_list_count(from);
    table->values = (struct amp_tensor){.dtype = from->dtype, .shape = {1, {(int64_t)count + 1}}};
    AMP_TRY(amp_tensor_alloc(&table->values, ctx->err));
    if (count > 0)
        memcpy(table->values.data, from->data, count * size);
    memcpy((char *)table->values.data + count * size, last, size);
    return AMP_OK;
}

/* Output 0 = the value of each element of input 0. */
static enum amp_status give_values(struct amp_ctx *ctx, const struct table *table)
{
    size_t count = amp_tensor_count(ctx->in[0]), size = amp_dtype_bits(table->values.dtype) / 8;
    const char *values = table->values.data;
    char *out = ctx->out[0]->data;
#pragma omp parallel for if (count >= AMP_PARALLEL_MIN)
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * size, values + look_up(table, ctx->in[0], i) * size, size);
    return amp_move_done(ctx, 0);
}

/* The string in attribute NAME. */
static struct amp_str string_attr(const struct amp_node *node, const char *name,
                                  const char *fallback)
{
    const struct amp_attr *attr = amp_node_attr(node, name);
    return attr != NULL ? attr->strings[0] : (struct amp_str){fallback, strlen(fallback)};
}

/* ---- What is made of the attributes ---- */

typedef enum amp_status fill_fn(struct amp_ctx *ctx, struct table *table);

/* The node's table, filled when there is none. */
static enum amp_status get_table(struct amp_ctx *ctx, fill_fn *fill, const struct table **table)
{
    if (*ctx->state == NULL) {
        struct table *made = amp_xcalloc(1, sizeof *made);
        enum amp_status status = fill(ctx, made);
        if (status != AMP_OK) {
            destroy_table(made);
            return status;
        }
        *ctx->state = made;
    }
    *table = *ctx->state;
    return AMP_OK;
}

static enum amp_status check_pairs(struct amp_ctx *ctx, const struct amp_tensor *keys,
                                   const struct amp_tensor *values)
{
    enum amp_dtype key = ctx->in[0]->dtype, value = ctx->out[0]->dtype;
    if (keys->dtype == AMP_UNDEFINED || values->dtype == AMP_UNDEFINED)
        return AMP_CTX_FAIL(ctx, "no attribute has %s of %s",
                            keys->dtype == AMP_UNDEFINED ? "keys" : "values",
                            amp_dtype_name(keys->dtype == AMP_UNDEFINED ? key : value));
    if (keys->dtype != key) /* the values have told that of the output */
        return AMP_CTX_FAIL(ctx, "keys of %s and values of %s; the input is %s, the output %s",
                            amp_dtype_name(keys->dtype), amp_dtype_name(values->dtype),
                            amp_dtype_name(key), amp_dtype_name(value));
    if (amp_list_count(keys) != amp_list_count(values))
        return AMP_CTX_FAIL(ctx, "%lld keys and %lld values", (long long)amp_list_count(keys),
                            (long long)amp_list_count(values));
    return AMP_OK;
}

/* ---- Strings and integers: LabelEncoder-1, CategoryMapper ---- */

/* STRINGS and INTS map to each other; where to, the input decides. */
static enum amp_status fill_both_ways(struct amp_ctx *ctx, struct table *table,
                                      const struct amp_tensor *strings,
                                      const struct amp_tensor *ints)
{
    bool from_strings = ctx->in[0]->dtype == AMP_STRING;
    struct amp_str text = string_attr(ctx->node, "default_string", "_Unused");
    int64_t number = amp_node_int(ctx->node, "default_int64", -1);
    const struct amp_tensor *keys = from_strings ? strings : ints;
    const struct amp_tensor *values = from_strings ? ints : strings;
    AMP_TRY(check_pairs(ctx, keys, values));
    AMP_TRY(set_values(ctx, table, values, from_strings ? (void *)&number : (void *)&text));
    amp_tensor_share(&table->keys, keys);
    table->keys.dtype = keys->dtype;
    table->keys.shape = keys->shape;
    return fill_slots(ctx, table, true);
}

static enum amp_status fill_categories(struct amp_ctx *ctx, struct table *table)
{
    struct amp_tensor strings, ints;
    AMP_TRY(amp_list_of(ctx, "cats_strings", &strings));
    AMP_TRY(amp_list_of(ctx, "cats_int64s", &ints));
    return fill_both_ways(ctx, table, &strings, &ints);
}

/* Classes are numbered as they come. */
static enum amp_status fill_classes(struct amp_ctx *ctx, struct table *table)
{
    struct amp_tensor strings;
    AMP_TRY(amp_list_of(ctx, "classes_strings", &strings));
    struct amp_tensor ints = {.dtype = AMP_INT64, .shape = strings.shape};
    AMP_TRY(amp_tensor_alloc(&ints, ctx->err));
    for (int64_t i = 0; i < amp_list_count(&ints); i++)
        ((int64_t *)ints.data)[i] = i;
    enum amp_status status = fill_both_ways(ctx, table, &strings, &ints);
    amp_tensor_release(&ints);
    return status;
}

static enum amp_status mapper_run(struct amp_ctx *ctx)
{
    const struct table *table;
    AMP_TRY(get_table(ctx, fill_categories, &table));
    return give_values(ctx, table);
}

/* What strings map to is integers, and the other way round. */
static enum amp_dtype other_dtype(const struct amp_model *model, const struct amp_node *node,
                                  uint32_t i)
{
    (void)i; /* there is one output */
    enum amp_dtype from = amp_value_at(model, node->inputs[0])->dtype;
    return from == AMP_STRING ? AMP_INT64 : from == AMP_INT64 ? AMP_STRING : AMP_UNDEFINED;
}

const struct amp_op amp_op_category_mapper = {.name = "CategoryMapper",
                                              .domain = AMP_ML_DOMAIN,
                                              .newest = 1,
                                              .effect = AMP_COMPUTES,
                                              .native = AMP_NATIVE_C,
                                              .dtype = other_dtype,
                                              .shape = amp_shape_same,
                                              .run = mapper_run,
                                              .destroy = destroy_table};

/* ---- LabelEncoder-2 and -4 ---- */

/* The list of WHAT ("keys" or "values") in the attribute for DTYPE, or in that for tensors. */
static enum amp_status read_side(struct amp_ctx *ctx, bool is_keys, enum amp_dtype dtype,
                                 struct amp_tensor *list)
{
    const char *name = NULL;
    if (dtype == AMP_STRING)
        name = is_keys ? "keys_strings" : "values_strings";
    else if (dtype == AMP_INT64)
        name = is_keys ? "keys_int64s" : "values_int64s";
    else if (dtype == AMP_FLOAT)
        name = is_keys ? "keys_floats" : "values_floats";
    if (name != NULL && amp_node_attr(ctx->node, name) != NULL)
        return amp_list_of(ctx, name, list);
    return amp_list_of(ctx, is_keys ? "keys_tensor" : "values_tensor", list);
}

/* The value of what is no key, of DTYPE, to LAST. */
static enum amp_status read_default(struct amp_ctx *ctx, enum amp_dtype dtype, void *last)
{
    struct amp_tensor given;
    float number = amp_node_float(ctx->node, "default_float", -0.0f);
    int64_t integer = amp_node_int(ctx->node, "default_int64", -1);
    struct amp_str text = string_attr(ctx->node, "default_string", "_Unused");
    struct amp_tensor one = {.dtype = dtype, .shape = {.rank = 0}, .data = last};
    AMP_TRY(amp_list_of(ctx, "default_tensor", &given));
    bool is_given = amp_list_count(&given) > 0;
    if (is_given && given.dtype == dtype)
        memcpy(last, given.data, amp_dtype_bits(dtype) / 8);
    amp_tensor_release(&given);
    if (is_given && given.dtype != dtype)
        return AMP_CTX_FAIL(ctx, "attribute 'default_tensor' is of %s; the output is %s",
                            amp_dtype_name(given.dtype), amp_dtype_name(dtype));
    if (is_given)
        return AMP_OK;
    if (dtype == AMP_STRING)
        memcpy(last, &text, sizeof text);
    else if (amp_dtype_class(dtype) == AMP_CLASS_FLOAT)
        amp_tensor_set_double(&one, 0, (double)number);
    else
        memcpy(last, &integer, amp_dtype_bits(dtype) / 8); /* little endian: the low bytes */
    return AMP_OK;
}

static enum amp_status fill_encoder(struct amp_ctx *ctx, struct table *table)
{
    enum amp_dtype dtype = ctx->out[0]->dtype;
    union {
        struct amp_str text;
        int64_t number;
        double real;
    } last;
    struct amp_tensor values;
    AMP_TRY(read_side(ctx, true, ctx->in[0]->dtype, &table->keys));
    AMP_TRY(read_side(ctx, false, dtype, &values));
    enum amp_status status = check_pairs(ctx, &table->keys, &values);
    if (status == AMP_OK)
        status = read_default(ctx, dtype, &last);
    if (status == AMP_OK)
        status = set_values(ctx, table, &values, &last);
    amp_tensor_release(&values);
    return status == AMP_OK ? fill_slots(ctx, table, false) : status;
}

static enum amp_status encoder_run(struct amp_ctx *ctx)
{
    const struct table *table;
    AMP_TRY(get_table(ctx, ctx->node->since_version == 1 ? fill_classes : fill_encoder, &table));
    return give_values(ctx, table);
}

/* That of the values; those in a tensor have its dtype. */
static enum amp_dtype value_dtype(const struct amp_model *model, const struct amp_node *node,
                                  uint32_t i)
{
    static const struct {
        const char *name;
        enum amp_dtype dtype;
    } lists[] = {
        {"values_strings", AMP_STRING}, {"values_int64s", AMP_INT64}, {"values_floats", AMP_FLOAT}};
    if (node->since_version == 1)
        return other_dtype(model, node, i);
    for (size_t k = 0; k < AMP_COUNT(lists); k++) {
        const struct amp_attr *attr = amp_node_attr(node, lists[k].name);
        if (attr != NULL && attr->count > 0)
            return lists[k].dtype;
    }
    const struct amp_attr *attr = amp_node_attr(node, "values_tensor");
    return attr != NULL ? attr->tensors[0]->dtype : AMP_UNDEFINED;
}

const struct amp_op amp_op_label_encoder = {.name = "LabelEncoder",
                                            .domain = AMP_ML_DOMAIN,
                                            .newest = 4,
                                            .effect = AMP_COMPUTES,
                                            .native = AMP_NATIVE_C,
                                            .dtype = value_dtype,
                                            .shape = amp_shape_same,
                                            .run = encoder_run,
                                            .destroy = destroy_table};

/* ---- OneHotEncoder ---- */

/* The attribute with the categories for input 0. */
static const struct amp_attr *categories_of(const struct amp_ctx *ctx)
{
    bool is_string = ctx->in[0]->dtype == AMP_STRING;
    return amp_node_attr(ctx->node, is_string ? "cats_strings" : "cats_int64s");
}

static enum amp_status one_hot_shape(struct amp_ctx *ctx)
{
    const struct amp_attr *categories = categories_of(ctx);
    struct amp_shape *out = &ctx->out[0]->shape;
    *out = ctx->in[0]->shape;
    if (categories == NULL)
        return AMP_CTX_FAIL(ctx, "there are no categories for an input of %s",
                            amp_dtype_name(ctx->in[0]->dtype));
    if (out->rank >= AMP_RANK_MAX)
        return AMP_CTX_FAIL(ctx, "input 0 has rank %d; at most %d are possible", out->rank,
                            AMP_RANK_MAX - 1);
    if (out->rank >= 0)
        out->dims[out->rank++] = (int64_t)categories->count;
    return AMP_OK;
}

static enum amp_status fill_one_hot(struct amp_ctx *ctx, struct table *table)
{
    bool is_string = ctx->in[0]->dtype == AMP_STRING;
    AMP_TRY(amp_list_of(ctx, is_string ? "cats_strings" : "cats_int64s", &table->keys));
    return fill_slots(ctx, table, true);
}

/* The category of element INDEX of input 0, of floats the integral part; the number of categories
   when it is none. */
static size_t category_of(const struct table *table, const struct amp_tensor *in, size_t index)
{
    int64_t whole;
    struct amp_tensor one = {.dtype = AMP_INT64, .shape = {.rank = 0}, .data = &whole};
    if (in->dtype == AMP_STRING)
        return look_up(table, in, index);
    if (!amp_tensor_whole(in, index, &whole))
        return (size_t)table->n_keys;
    return look_up(table, &one, 0);
}

static enum amp_status one_hot_run(struct amp_ctx *ctx)
{
    const struct table *table;
    AMP_TRY(get_table(ctx, fill_one_hot, &table));
    size_t count = amp_tensor_count(ctx->in[0]), categories = (size_t)table->n_keys;
    bool has_zeros = amp_node_int(ctx->node, "zeros", 1) != 0;
    float *out = ctx->out[0]->data;
    if (count * categories > 0)
        memset(out, 0, count * categories * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        size_t category = category_of(table, ctx->in[0], i);
        if (category < categories)
            out[i * categories + category] = 1;
        else if (!has_zeros)
            return AMP_CTX_FAIL(ctx,
                                "element %zu of input 0 is no category, and attribute 'zeros' "
                                "is 0",
                                i);
    }
    return AMP_OK;
}

const struct amp_op amp_op_one_hot_encoder = {.name = "OneHotEncoder",
                                              .domain = AMP_ML_DOMAIN,
                                              .newest = 1,
                                              .effect = AMP_COMPUTES,
                                              .native = AMP_NATIVE_C,
                                              .shape = one_hot_shape,
                                              .run = one_hot_run,
                                              .destroy = destroy_table};
