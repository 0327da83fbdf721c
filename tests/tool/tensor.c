/* Tensors as text: TYPE[DIMS] NAME = DATA @{other fields}, where DATA is
     {1, 2, 3}              the elements, in raw_data (of strings: string_data); as many as the dims
   say repeat {1, 2}          these, over and over range {0, 0.5}         the first and the step
     normal {7, 0, 0, 1}    random numbers: see chance.h; uniform likewise
     base85 {...}           the bytes of raw_data
     packed {...}           these, packed (planes.c), in base85
     &NAME DATA, *NAME      data that are named, and what data named above hold
     float_data {1, 2}      what a field holds as it stands, as many as there are (raw_data too)
     ["location": "w.bin"]  external data
     none                   no data
   A tensor without a name has no `NAME =` before braces. It writes numbers that read back to the
   same bytes. */
#include "tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anchor.h"
#include "chance.h"
#include "element.h"
#include "fields.h"
#include "planes.h"

/* Numbers are read in a text up to MANY, or LONG, when each takes long; then in base85. Data of at
 * least ANCHORED bytes are named. */
enum { WIDTH = 116, LONG = 16, MANY = 96, ANCHORED = 64 };

/* ---- types and names ---- */

void put_element_type(struct buffer *buffer, bool has_type, int type)
{
    const struct element *element = get_element(type);
    if (!has_type) {
        put(buffer, "untyped");
    } else if (element) {
        put(buffer, element->name);
    } else {
        put_format(buffer, "type_%d", type);
    }
}

/* Whether WORD names an element type. */
static bool get_type(const char *word, bool *has_type, int *type)
{
    const struct element *element = find_element(word);
    *has_type = strcmp(word, "untyped") != 0;
    *type = element ? element->id : 0;
    return element || !*has_type || sscanf(word, "type_%d", type) == 1;
}

bool accept_element_type(struct lexer *lexer, bool *has_type, int *type)
{
    struct lexer ahead = *lexer;
    if (peek(&ahead) == '"' || !is_name_next(&ahead)) {
        return false;
    }
    char *word = read_name(&ahead);
    bool is_type = get_type(word, has_type, type);
    /* Negative numbers of types. */
    if (is_type && *type == 0 && *has_type && *ahead.at == '-') {
        ahead.at++;
        *type = -(int)read_integer(&ahead);
    }
    if (is_type) {
        *lexer = ahead;
    }
    free(word);
    return is_type;
}

bool is_type_word(const char *word)
{
    static const char *const words[] = {"seq", "optional", "map", "sparse_tensor", "any"};
    bool has_type;
    int type;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(word, words[i])) {
            return true;
        }
    }
    return get_type(word, &has_type, &type);
}

void put_name(struct buffer *buffer, const char *name)
{
    if (is_identifier(name) && !is_type_word(name)) {
        put(buffer, name);
    } else {
        put_text(buffer, name, strlen(name));
    }
}

/* ---- the data's fields ---- */

/* The fields that hold elements, and the type of the numbers in them. */
struct data_field {
    const char *name, *numbers;
    size_t n_offset, offset;
};

#define FIELD(name, numbers)                                                                     \
    {                                                                                            \
#        name, numbers, offsetof(Onnx__TensorProto, n_##name), offsetof(Onnx__TensorProto, name) \
    }
static const struct data_field data_fields[] = {
    FIELD(float_data, "float"), FIELD(int32_data, "int32"), FIELD(int64_data, "int64"),
    FIELD(double_data, "double"), FIELD(uint64_data, "uint64")};
enum { N_DATA_FIELDS = sizeof data_fields / sizeof *data_fields };

static size_t *get_count(Onnx__TensorProto *tensor, const struct data_field *field)
{
    return (size_t *)((char *)tensor + field->n_offset);
}

/* The number of elements that the dims say; 0 where one is negative or there are more than a test
 * has. */
static size_t count_elements(const Onnx__TensorProto *tensor)
{
    size_t n = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        if (tensor->dims[i] <= 0 || tensor->dims[i] > (int64_t)(1 << 26) || n > 1 << 26) {
            return 0;
        }
        n *= (size_t)tensor->dims[i];
    }
    return n;
}

/* The number of parts of raw_data. */
static size_t count_parts(const Onnx__TensorProto *tensor, const struct element *element)
{
    return count_elements(tensor) * (size_t)element->parts;
}

static size_t count_bytes(const struct element *element, size_t n_parts)
{
    return (n_parts * (size_t)element->bits + 7) / 8;
}

/* ---- writing ---- */

/* A comma, and a new line where this one is full. */
static void put_comma(struct buffer *buffer)
{
    put(buffer, get_column(buffer) > WIDTH - 10 ? ",\n  " : ", ");
}

static void put_numbers(struct buffer *buffer, const struct element *element, const void *bytes,
                        size_t n)
{
    put(buffer, "{");
    for (size_t i = 0; i < n; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_number(buffer, element, get_bits(element, bytes, i));
    }
    put(buffer, "}");
}

static void put_strings(struct buffer *buffer, const Onnx__TensorProto *tensor)
{
    put(buffer, "{");
    for (size_t i = 0; i < tensor->n_string_data; i++) {
        if (i) {
            put_comma(buffer);
        }
        put_text(buffer, tensor->string_data[i].data, tensor->string_data[i].len);
    }
    put(buffer, "}");
}

/* After how many parts the data begin again, at least twice; N where they do not. By the failure
 * function of Knuth, Morris, Pratt. */
static size_t get_period(const struct element *element, const void *bytes, size_t n)
{
    size_t *border = new_memory((n + 1) * sizeof *border);
    for (size_t i = 1, k = 0; i < n; i++) {
        while (k && get_bits(element, bytes, i) != get_bits(element, bytes, k)) {
            k = border[k];
        }
        k += get_bits(element, bytes, i) == get_bits(element, bytes, k);
        border[i + 1] = k;
    }
    size_t period = n - border[n];
    free(border);
    return period <= n / 2 ? period : n;
}

/* The bits of FIRST + I * STEP, each number being what its bits stand for. */
static uint64_t get_in_range(const struct element *element, const uint64_t bits[2], size_t i)
{
    struct buffer text = {0};
    double number[2];
    uint64_t result = 0;
    for (int j = 0; j < 2; j++) {
        text.size = 0;
        put_number(&text, element, bits[j]);
        number[j] = strtod(text.data, NULL);
    }
    char word[32];
    snprintf(word, sizeof word, element->kind < ELEMENT_FLOAT ? "%.0f" : "%.17g",
             number[0] + (double)i * number[1]);
    if (!read_number(element, word, &result)) {
        result = ~(uint64_t)0;
    }
    free(text.data);
    return result;
}

/* Whether the numbers are a range; its first and its step go to BITS. */
static bool is_range(const struct element *element, const void *bytes, size_t n, uint64_t bits[2])
{
    struct buffer first = {0}, second = {0};
    put_number(&first, element, get_bits(element, bytes, 0));
    put_number(&second, element, get_bits(element, bytes, 1));
    char step[32];
    snprintf(step, sizeof step, "%.9g", strtod(second.data, NULL) - strtod(first.data, NULL));
    bits[0] = get_bits(element, bytes, 0);
    bool is = read_number(element, step, &bits[1]);
    for (size_t i = 1; is && i < n; i++) {
        is = get_in_range(element, bits, i) == get_bits(element, bytes, i);
    }
    free(first.data);
    free(second.data);
    return is;
}

static size_t get_width(const struct element *element)
{
    return element->bits > 8 ? (size_t)element->bits / 8 : 1;
}

static void put_block(struct buffer *buffer, const void *bytes, size_t size)
{
    put(buffer, "base85 {\n");
    put_base85(buffer, bytes, size);
    put(buffer, "}");
}

/* The bytes in base85, packed where that makes them shorter. */
static void put_elements(struct buffer *buffer, const struct element *element, const void *bytes,
                         size_t size)
{
    struct buffer packed = {0};
    put_planes(&packed, bytes, size, get_width(element));
    if (packed.size < size) {
        put(buffer, "packed {\n");
        put_base85(buffer, packed.data, packed.size);
        put(buffer, "}");
    } else {
        put_block(buffer, bytes, size);
    }
    free(packed.data);
}

/* Elements as numbers, or as bytes where these are shorter and there are many. */
static void put_all(struct buffer *buffer, const struct element *element, const void *bytes,
                    size_t n)
{
    struct buffer numbers = {0}, block = {0};
    put_numbers(&numbers, element, bytes, n);
    put_elements(&block, element, bytes, count_bytes(element, n));
    bool is_long = n > LONG && numbers.size > 2 * block.size;
    if (is_long || (n > MANY && numbers.size > block.size)) {
        put_bytes(buffer, block.data, block.size);
    } else {
        put_numbers(buffer, element, bytes, n);
    }
    free(numbers.data);
    free(block.data);
}

/* Many elements: by a rule that gives them, or all. */
static void put_many(struct buffer *buffer, const struct element *element, const void *bytes,
                     size_t n)
{
    size_t period = get_period(element, bytes, n);
    uint64_t range[2];
    struct chance chance;
    if (period < n && count_bytes(element, period) < 2048) {
        put(buffer, "repeat ");
        put_numbers(buffer, element, bytes, period);
    } else if (is_range(element, bytes, n, range)) {
        put(buffer, "range {");
        put_number(buffer, element, range[0]);
        put(buffer, ", ");
        put_number(buffer, element, range[1]);
        put(buffer, "}");
    } else if (n > 16 && find_chance(element, bytes, n, &chance)) {
        put_chance(buffer, &chance);
    } else if (count_bytes(element, n) < ANCHORED ||
               !put_anchor(buffer, bytes, count_bytes(element, n))) {
        put_all(buffer, element, bytes, n);
    }
}

/* raw_data, which is taken out of REST. */
static void put_raw(struct buffer *buffer, Onnx__TensorProto *rest)
{
    const struct element *element = rest->has_data_type ? get_element(rest->data_type) : NULL;
    size_t n = element && element->bits ? count_parts(rest, element) : 0;
    const ProtobufCBinaryData raw = rest->raw_data;
    rest->has_raw_data = 0;
    if (element && element->bits && raw.len == count_bytes(element, n)) {
        if (n > 8) {
            put_many(buffer, element, raw.data, n);
        } else {
            put_numbers(buffer, element, raw.data, n);
        }
    } else if (element && element->bits >= 8 && raw.len % ((size_t)element->bits / 8) == 0 &&
               raw.len <= 1024) {
        put(buffer, "raw_data ");
        put_numbers(buffer, element, raw.data, raw.len * 8 / (size_t)element->bits);
    } else {
        put_block(buffer, raw.data, raw.len);
    }
}

/* Where data lie outside; these fields are taken out of REST. */
static void put_external(struct buffer *buffer, Onnx__TensorProto *rest)
{
    put(buffer, "[");
    for (size_t i = 0; i < rest->n_external_data; i++) {
        put(buffer, i ? ", " : "");
        put_text(buffer, rest->external_data[i]->key, strlen(rest->external_data[i]->key));
        put(buffer, ": ");
        put_text(buffer, rest->external_data[i]->value, strlen(rest->external_data[i]->value));
    }
    put(buffer, "]");
    rest->n_external_data = 0;
    rest->has_data_location = 0;
}

static bool has_external(const Onnx__TensorProto *tensor)
{
    for (size_t i = 0; i < tensor->n_external_data; i++) {
        if (!tensor->external_data[i]->key || !tensor->external_data[i]->value) {
            return false;
        }
    }
    return tensor->n_external_data && tensor->has_data_location && tensor->data_location == 1;
}

/* The first of the fields that hold data, which is taken out of REST. */
static void put_data(struct buffer *buffer, Onnx__TensorProto *rest)
{
    if (rest->has_raw_data) {
        put_raw(buffer, rest);
        return;
    }
    if (rest->n_string_data) {
        bool is_plain = rest->data_type == 8 && rest->n_string_data == count_elements(rest);
        put(buffer, is_plain ? "" : "string_data ");
        put_strings(buffer, rest);
        rest->n_string_data = 0;
        return;
    }
    for (int i = 0; i < N_DATA_FIELDS; i++) {
        size_t *n = get_count(rest, &data_fields[i]);
        if (*n) {
            put_format(buffer, "%s ", data_fields[i].name);
            put_numbers(buffer, find_element(data_fields[i].numbers),
                        *(void **)((char *)rest + data_fields[i].offset), *n);
            *n = 0;
            return;
        }
    }
    if (has_external(rest)) {
        put_external(buffer, rest);
    } else {
        put(buffer, "none");
    }
}

void put_tensor(struct buffer *buffer, const Onnx__TensorProto *tensor)
{
    Onnx__TensorProto rest = *tensor;
    put_element_type(buffer, tensor->has_data_type, tensor->data_type);
    for (size_t i = 0; i < tensor->n_dims; i++) {
        put_format(buffer, "%s%lld", i ? "," : "[", (long long)tensor->dims[i]);
    }
    put(buffer, tensor->n_dims ? "] " : " ");
    if (tensor->name) {
        put_name(buffer, tensor->name);
        put(buffer, " ");
    }
    put(buffer, "= ");
    put_data(buffer, &rest);
    rest.n_dims = 0;
    rest.has_data_type = 0;
    rest.name = NULL;
    put_rest(buffer, &rest.base);
}

/* ---- reading ---- */

/* The numbers up to } as bits. */
static uint64_t *read_numbers(struct lexer *lexer, const struct element *element, size_t *n)
{
    size_t capacity = 16;
    uint64_t *bits = new_memory(capacity * sizeof *bits);
    expect(lexer, "{");
    for (*n = 0; !accept(lexer, "}"); accept(lexer, ",")) {
        char *word = read_word(lexer);
        if (*n == capacity) {
            capacity *= 2;
            bits = realloc(bits, capacity * sizeof *bits);
            if (!bits) {
                die("out of memory");
            }
        }
        if (!read_number(element, word, &bits[(*n)++])) {
            fail_at(lexer, "'%s' is no %s", word, element->name);
        }
        free(word);
    }
    return bits;
}

static void read_strings(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    expect(lexer, "{");
    size_t capacity = 0;
    while (!accept(lexer, "}")) {
        if (tensor->n_string_data == capacity) {
            capacity = 2 * capacity + 16;
            tensor->string_data =
                realloc(tensor->string_data, capacity * sizeof *tensor->string_data);
        }
        ProtobufCBinaryData *text = &tensor->string_data[tensor->n_string_data++];
        text->data = (uint8_t *)read_text(lexer, &text->len);
        accept(lexer, ",");
    }
}

static void set_raw(Onnx__TensorProto *tensor, const struct buffer *bytes)
{
    tensor->has_raw_data = 1;
    tensor->raw_data.data = (uint8_t *)(bytes->data ? bytes->data : copy_bytes("", 0));
    tensor->raw_data.len = bytes->size;
}

static void set_raw_bits(Onnx__TensorProto *tensor, const struct element *element,
                         const uint64_t *bits, size_t n)
{
    struct buffer bytes = {0};
    put_bits(&bytes, element, bits, n);
    set_raw(tensor, &bytes);
}

static void read_data(struct lexer *lexer, Onnx__TensorProto *tensor);

static const struct element *get_known(struct lexer *lexer, const Onnx__TensorProto *tensor)
{
    const struct element *element = tensor->has_data_type ? get_element(tensor->data_type) : NULL;
    if (!element) {
        fail_at(lexer, "the data of a type that there is not need their field's name");
    }
    return element;
}

/* The elements in braces, as many as the dims say. */
static void read_elements(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    const struct element *element = get_known(lexer, tensor);
    size_t n, wanted = count_parts(tensor, element);
    if (!element->bits) {
        read_strings(lexer, tensor);
        n = tensor->n_string_data;
    } else {
        uint64_t *bits = read_numbers(lexer, element, &n);
        set_raw_bits(tensor, element, bits, n);
        free(bits);
    }
    if (n != wanted) {
        fail_at(lexer, "%zu elements; the dims say %zu", n, wanted);
    }
}

static void read_repeat(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    const struct element *element = get_known(lexer, tensor);
    size_t n, wanted = count_parts(tensor, element);
    uint64_t *some = read_numbers(lexer, element, &n), *all = new_memory(wanted * sizeof *all);
    if (!n) {
        fail_at(lexer, "nothing to repeat");
    }
    for (size_t i = 0; i < wanted; i++) {
        all[i] = some[i % n];
    }
    set_raw_bits(tensor, element, all, wanted);
    free(all);
}

static void read_range(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    const struct element *element = get_known(lexer, tensor);
    size_t n, wanted = count_parts(tensor, element);
    uint64_t *pair = read_numbers(lexer, element, &n), *all = new_memory(wanted * sizeof *all);
    if (n != 2) {
        fail_at(lexer, "a range has a first number and a step");
    }
    all[0] = pair[0];
    for (size_t i = 1; i < wanted; i++) {
        all[i] = get_in_range(element, pair, i);
    }
    set_raw_bits(tensor, element, all, wanted);
    free(all);
}

static void read_random(struct lexer *lexer, Onnx__TensorProto *tensor, bool is_normal)
{
    const struct element *element = get_known(lexer, tensor);
    struct chance chance = {.is_normal = is_normal};
    size_t n = count_parts(tensor, element);
    uint64_t *bits = new_memory(n * sizeof *bits);
    read_chance(lexer, &chance);
    if (element->kind < ELEMENT_FLOAT || element->kind == ELEMENT_STRING) {
        fail_at(lexer, "random numbers are floats");
    }
    draw(&chance, element, bits, n);
    set_raw_bits(tensor, element, bits, n);
    free(bits);
}

/* What comes behind the name of a field; false where it is none. */
static bool read_data_field(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    size_t n;
    for (int i = 0; i < N_DATA_FIELDS; i++) {
        if (accept_word(lexer, data_fields[i].name)) {
            const struct element *numbers = find_element(data_fields[i].numbers);
            struct buffer bytes = {0};
            uint64_t *bits = read_numbers(lexer, numbers, &n);
            put_bits(&bytes, numbers, bits, n);
            *(void **)((char *)tensor + data_fields[i].offset) = bytes.data;
            *get_count(tensor, &data_fields[i]) = n;
            return true;
        }
    }
    if (accept_word(lexer, "string_data")) {
        read_strings(lexer, tensor);
        return true;
    }
    if (accept_word(lexer, "raw_data")) {
        const struct element *element = get_known(lexer, tensor);
        uint64_t *bits = read_numbers(lexer, element, &n);
        set_raw_bits(tensor, element, bits, n);
        return true;
    }
    return false;
}

/* Where the data lie outside, behind [. */
static void read_external(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    while (!accept(lexer, "]")) {
        Onnx__StringStringEntryProto *entry =
            new_message(&onnx__string_string_entry_proto__descriptor);
        entry->key = read_text(lexer, NULL);
        expect(lexer, ":");
        entry->value = read_text(lexer, NULL);
        add_item(&tensor->external_data, &tensor->n_external_data, entry);
        accept(lexer, ",");
    }
    tensor->has_data_location = 1;
    tensor->data_location = 1;
}

/* Bytes in base85, packed ones made what they were. */
static void read_block(struct lexer *lexer, Onnx__TensorProto *tensor, bool is_packed)
{
    struct buffer bytes = {0}, all = {0};
    expect(lexer, "{");
    read_base85(lexer, '}', &bytes);
    if (is_packed) {
        const struct element *element = get_known(lexer, tensor);
        size_t size = count_bytes(element, count_parts(tensor, element));
        if (!put_from_planes(&all, &bytes, size, get_width(element))) {
            fail_at(lexer, "the packed data are not as many as the dims say");
        }
    }
    set_raw(tensor, is_packed ? &all : &bytes);
}

/* Data that have the name behind &. */
static void read_named(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    char *name = read_name(lexer);
    read_data(lexer, tensor);
    if (!tensor->has_raw_data) {
        fail_at(lexer, "only what becomes raw_data can have a name");
    }
    keep_anchor(lexer, name, tensor->raw_data.data, tensor->raw_data.len);
    free(name);
}

static void read_data(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    if (peek(lexer) == '{') {
        read_elements(lexer, tensor);
    } else if (accept(lexer, "[")) {
        read_external(lexer, tensor);
    } else if (accept(lexer, "&")) {
        read_named(lexer, tensor);
    } else if (accept(lexer, "*")) {
        set_raw(tensor, read_reference(lexer));
    } else if (accept_word(lexer, "repeat")) {
        read_repeat(lexer, tensor);
    } else if (accept_word(lexer, "range")) {
        read_range(lexer, tensor);
    } else if (accept_word(lexer, "normal")) {
        read_random(lexer, tensor, true);
    } else if (accept_word(lexer, "uniform")) {
        read_random(lexer, tensor, false);
    } else if (accept_word(lexer, "base85")) {
        read_block(lexer, tensor, false);
    } else if (accept_word(lexer, "packed")) {
        read_block(lexer, tensor, true);
    } else if (!accept_word(lexer, "none") && !read_data_field(lexer, tensor)) {
        fail_at(lexer, "the tensor's data are missing");
    }
}

void read_tensor_data(struct lexer *lexer, Onnx__TensorProto *tensor)
{
    if (is_name_next(lexer)) {
        tensor->name = read_name(lexer);
        expect(lexer, "=");
    } else {
        accept(lexer, "=");
    }
    read_data(lexer, tensor);
    read_rest(lexer, &tensor->base);
}

Onnx__TensorProto *read_tensor(struct lexer *lexer)
{
    Onnx__TensorProto *tensor = new_message(&onnx__tensor_proto__descriptor);
    bool has_type;
    int type;
    if (!accept_element_type(lexer, &has_type, &type)) {
        fail_at(lexer, "an element type is missing");
    }
    tensor->has_data_type = has_type;
    tensor->data_type = has_type ? type : 0;
    if (accept(lexer, "[")) {
        struct lexer ahead = *lexer;
        size_t n = 1;
        for (const char *c = ahead.at; c < ahead.end && *c != ']'; c++) {
            n += *c == ',';
        }
        tensor->dims = new_memory(n * sizeof *tensor->dims);
        while (!accept(lexer, "]")) {
            tensor->dims[tensor->n_dims++] = read_integer(lexer);
            accept(lexer, ",");
        }
    }
    read_tensor_data(lexer, tensor);
    return tensor;
}
