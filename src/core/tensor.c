/*
 * Shapes, tensors and the memory behind them. Takes shapes and sizes from files, and checks them
 * before anything is allocated; reads and writes single elements. Arithmetic on tensors is the
 * operators' matter.
 */
#include "core/tensor.h"

#include "core/buffer.h"
#include "core/convert.h"
#include "core/memory.h"
#include "core/number/minifloat.h"

#include <stdio.h>
#include <string.h>

int64_t amp_shape_product(const struct amp_shape *shape, int from, int to)
{
    int64_t product = 1;
    for (int i = from; i < to; i++) {
        if (shape->dims[i] < 0 || __builtin_mul_overflow(product, shape->dims[i], &product))
            return -1;
    }
    return product;
}

int64_t amp_shape_count(const struct amp_shape *shape)
{
    return shape->rank < 0 ? -1 : amp_shape_product(shape, 0, shape->rank);
}

bool amp_shape_is_known(const struct amp_shape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        if (shape->dims[i] < 0)
            return false;
    return shape->rank >= 0;
}

bool amp_shape_equal(const struct amp_shape *a, const struct amp_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

struct amp_shape amp_shape_place(const struct amp_shape *shape, uint64_t index)
{
    struct amp_shape place = {.rank = shape->rank};
    for (int i = shape->rank - 1; i >= 0; i--) {
        place.dims[i] = (int64_t)(index % (uint64_t)shape->dims[i]);
        index /= (uint64_t)shape->dims[i];
    }
    return place;
}

char *amp_shape_text(const struct amp_shape *shape, char *text, size_t size)
{
    if (shape->rank < 0) {
        snprintf(text, size, "[?...]");
        return text;
    }
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < shape->rank && used < size; i++) {
        const char *comma = i > 0 ? ", " : "";
        if (shape->dims[i] < 0)
            used += (size_t)snprintf(text + used, size - used, "%s?", comma);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%lld", comma,
                                     (long long)shape->dims[i]);
    }
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

enum amp_status amp_shape_size(const struct amp_shape *shape, enum amp_dtype dtype, size_t *size,
                               struct amp_error *err)
{
    char text[256];
    if (shape->rank > AMP_RANK_MAX)
        return amp_fail(err, AMP_MODEL, "rank %d; at most %d is supported", shape->rank,
                        AMP_RANK_MAX);
    uint64_t count = 1;
    bool is_empty = false, overflows = false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return amp_fail(err, AMP_MODEL, "dimension %d is %lld; 0 and above are possible", i,
                            (long long)shape->dims[i]);
        if (shape->dims[i] == 0)
            is_empty = true;
        else
            overflows |= __builtin_mul_overflow(count, (uint64_t)shape->dims[i], &count);
    }
    *size = 0;
    if (overflows || count > INT64_MAX || !amp_dtype_size(dtype, count, size))
        return amp_fail(err, AMP_MODEL, "the size of %s %s overflows", amp_dtype_name(dtype),
                        amp_shape_text(shape, text, sizeof text));
    if (is_empty)
        *size = 0;
    return AMP_OK;
}

size_t amp_tensor_size(const struct amp_tensor *tensor)
{
    size_t size = 0;
    amp_dtype_size(tensor->dtype, (uint64_t)amp_shape_count(&tensor->shape), &size);
    return size;
}

void amp_tensor_convert(const struct amp_tensor *tensor, size_t first, size_t count, void *to)
{
    const struct amp_tensor *source = tensor->source;
    const unsigned char *from = source->data;
    from += first * (amp_dtype_bits(source->dtype) / 8);
    if (tensor->losses == NULL) {
        amp_dtype_convert(source->dtype, from, tensor->dtype, to, count);
        return;
    }
    if (first == 0)
        *tensor->losses = (struct amp_losses){.saturated = 0};
    struct amp_losses lost = amp_dtype_saturate(source->dtype, from, tensor->dtype, to, count);
    tensor->losses->saturated += lost.saturated;
    tensor->losses->zeroed += lost.zeroed;
    tensor->losses->subnormal += lost.subnormal;
}

void amp_tensor_copy(const struct amp_tensor *tensor, void *to)
{
    size_t size = amp_tensor_size(tensor);
    if (tensor->data == NULL && tensor->source != NULL)
        amp_tensor_convert(tensor, 0, amp_tensor_count(tensor), to);
    else if (size > 0 && tensor->data != NULL)
        memcpy(to, tensor->data, size);
}

/* Element INDEX of type T out of data that may be unaligned. */
#define LOAD(T) \
    T value;    \
    memcpy(&value, (const unsigned char *)tensor->data + index * sizeof value, sizeof value)

#define LOAD_AS(T, result)    \
    do {                      \
        LOAD(T);              \
        return (result)value; \
    } while (0)

static int load_nibble(const struct amp_tensor *tensor, size_t index)
{
    unsigned bits = amp_dtype_bits(tensor->dtype), per_byte = 8 / bits;
    unsigned char byte = ((const unsigned char *)tensor->data)[index / per_byte];
    int value = byte >> (index % per_byte * bits) & ((1 << bits) - 1);
    bool is_negative = amp_dtype_class(tensor->dtype) == AMP_CLASS_INT && value >> (bits - 1);
    return is_negative ? value - (1 << bits) : value;
}

int64_t amp_tensor_int(const struct amp_tensor *tensor, size_t index)
{
    bool is_signed = amp_dtype_class(tensor->dtype) == AMP_CLASS_INT;
    switch (amp_dtype_bits(tensor->dtype)) {
    case 8:
        if (is_signed)
            LOAD_AS(int8_t, int64_t);
        LOAD_AS(uint8_t, int64_t);
    case 16:
        if (is_signed)
            LOAD_AS(int16_t, int64_t);
        LOAD_AS(uint16_t, int64_t);
    case 32:
        if (is_signed)
            LOAD_AS(int32_t, int64_t);
        LOAD_AS(uint32_t, int64_t);
    case 64:
        LOAD_AS(int64_t, int64_t);
    default:
        return load_nibble(tensor, index);
    }
}

static double load_float(const struct amp_tensor *tensor, size_t index)
{
    if (amp_dtype_is_minifloat(tensor->dtype))
        return (double)amp_minifloat_to_f32(tensor->dtype, (uint8_t)amp_tensor_int(tensor, index));
    if (tensor->dtype == AMP_DOUBLE)
        LOAD_AS(double, double);
    if (tensor->dtype == AMP_FLOAT)
        LOAD_AS(float, double);
    LOAD(uint16_t);
    return tensor->dtype == AMP_BFLOAT16 ? (double)amp_bf16_to_f32(value)
                                         : (double)amp_f16_to_f32(value);
}

double amp_tensor_double(const struct amp_tensor *tensor, size_t index)
{
    if (amp_dtype_class(tensor->dtype) == AMP_CLASS_FLOAT)
        return load_float(tensor, index);
    int64_t value = amp_tensor_int(tensor, index);
    return tensor->dtype == AMP_UINT64 ? (double)(uint64_t)value : (double)value;
}

void amp_tensor_set_double(const struct amp_tensor *tensor, size_t index, double value)
{
    if (tensor->dtype == AMP_DOUBLE) {
        ((double *)tensor->data)[index] = value;
    } else if (tensor->dtype == AMP_FLOAT) {
        ((float *)tensor->data)[index] = (float)value;
    } else {
        bool is_bf16 = tensor->dtype == AMP_BFLOAT16;
        ((uint16_t *)tensor->data)[index] =
            is_bf16 ? amp_f64_to_bf16(value) : amp_f64_to_f16(value);
    }
}

static enum amp_status fail_size(const struct amp_tensor *tensor, size_t size,
                                 struct amp_error *err)
{
    char what[300], shape[256];
    snprintf(what, sizeof what, "%s %s", amp_dtype_name(tensor->dtype),
             amp_shape_text(&tensor->shape, shape, sizeof shape));
    return amp_memory_fail(err, what, size);
}

enum amp_status amp_tensor_alloc(struct amp_tensor *tensor, struct amp_error *err)
{
    size_t size;
    AMP_TRY(amp_shape_size(&tensor->shape, tensor->dtype, &size, err));
    amp_tensor_release(tensor);
    tensor->buffer = amp_buffer_create(size);
    if (tensor->buffer == NULL)
        return fail_size(tensor, size, err);
    tensor->data = tensor->buffer->data;
    return AMP_OK;
}

void amp_tensor_share(struct amp_tensor *to, const struct amp_tensor *from)
{
    struct amp_buffer *buffer = amp_buffer_ref(from->buffer);
    void *data = from->data;
    enum amp_form form = from->form;
    const struct amp_layout *layout = from->layout;
    amp_tensor_release(to);
    to->form = form;
    to->layout = layout;
    to->buffer = buffer;
    to->data = data;
}

void amp_tensor_refer(struct amp_tensor *to, const struct amp_tensor *from)
{
    to->dtype = from->dtype;
    to->shape = from->shape;
    amp_tensor_share(to, from);
}

void amp_tensor_release(struct amp_tensor *tensor)
{
    amp_buffer_unref(tensor->buffer);
    tensor->form = AMP_FORM_TENSOR;
    tensor->layout = NULL;
    tensor->buffer = NULL;
    tensor->data = NULL;
}

void amp_tensor_discard(struct amp_tensor *tensor)
{
    amp_buffer_discard(tensor->buffer);
    tensor->buffer = NULL;
    amp_tensor_release(tensor);
}

void amp_tensors_release(struct amp_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        amp_tensor_release(&tensors[i]);
}

/* A buffer for COUNT strings and SIZE bytes of text. */
static enum amp_status create_strings(size_t count, size_t size, struct amp_buffer **buffer,
                                      struct amp_error *err)
{
    size_t elements, total;
    if (__builtin_mul_overflow(count, sizeof(struct amp_str), &elements) ||
        __builtin_add_overflow(elements, size, &total))
        return amp_fail(err, AMP_MODEL, "the size of %zu strings overflows", count);
    *buffer = amp_buffer_create(total);
    return *buffer != NULL ? AMP_OK : amp_memory_fail(err, "strings", total);
}

static void put_buffer(struct amp_tensor *tensor, struct amp_buffer *buffer)
{
    amp_tensor_release(tensor);
    tensor->buffer = buffer;
    tensor->data = buffer->data;
}

enum amp_status amp_strings_alloc(struct amp_tensor *tensor, size_t size, char **text,
                                  struct amp_error *err)
{
    size_t count = amp_tensor_count(tensor);
    struct amp_buffer *buffer;
    AMP_TRY(create_strings(count, size, &buffer, err));
    put_buffer(tensor, buffer);
    *text = (char *)((struct amp_str *)buffer->data + count);
    return AMP_OK;
}

enum amp_status amp_strings_own(struct amp_tensor *tensor, struct amp_error *err)
{
    size_t count = amp_tensor_count(tensor), size = 0;
    const struct amp_str *from = tensor->data;
    struct amp_buffer *buffer;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(size, from[i].size, &size))
            return amp_fail(err, AMP_MODEL, "the size of %zu strings overflows", count);
    AMP_TRY(create_strings(count, size, &buffer, err));
    struct amp_str *to = buffer->data;
    char *bytes = (char *)(to + count);
    for (size_t i = 0; i < count; i++) {
        to[i] = (struct amp_str){bytes, from[i].size};
        if (from[i].size > 0)
            memcpy(bytes, from[i].data, from[i].size);
        bytes += from[i].size;
    }
    put_buffer(tensor, buffer);
    return AMP_OK;
}

static void release_items(void *data, size_t size)
{
    amp_tensors_release(data, size / sizeof(struct amp_tensor));
}

enum amp_status amp_list_alloc(struct amp_tensor *list, enum amp_form form, size_t count,
                               struct amp_error *err)
{
    size_t size;
    if (__builtin_mul_overflow(count, sizeof(struct amp_tensor), &size))
        return amp_fail(err, AMP_MODEL, "a list of %zu tensors does not fit in memory", count);
    struct amp_buffer *buffer = amp_buffer_create(size);
    if (buffer == NULL)
        return amp_memory_fail(err, "a list of tensors", size);
    memset(buffer->data, 0, size);
    buffer->release = release_items;
    amp_tensor_release(list);
    list->form = form;
    list->shape = (struct amp_shape){.rank = 1, .dims = {(int64_t)count}};
    list->buffer = buffer;
    list->data = buffer->data;
    return AMP_OK;
}
