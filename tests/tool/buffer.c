/* Memory, growing buffers, base85 and files for the tool. It takes memory and never gives it back:
   the tool ends within seconds and keeps most of what it reads until then. Files are read and
   written whole. Whatever fails ends the program with a message. */
#include "buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void die(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    fprintf(stderr, "case_tool: ");
    vfprintf(stderr, format, words);
    fputc('\n', stderr);
    va_end(words);
    exit(1);
}

void *new_memory(size_t size)
{
    void *memory = calloc(1, size ? size : 1);
    if (!memory) {
        die("out of memory");
    }
    return memory;
}

char *copy_bytes(const void *bytes, size_t size)
{
    char *copy = new_memory(size + 1);
    if (size) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

void add_item(void *list, size_t *n, void *item)
{
    void **items;
    memcpy(&items, list, sizeof items);
    /* Doubled at each power of two. */
    if ((*n & (*n - 1)) == 0) {
        items = realloc(items, (*n ? *n * 2 : 1) * sizeof *items);
        if (!items) {
            die("out of memory");
        }
    }
    items[(*n)++] = item;
    memcpy(list, &items, sizeof items);
}

static void reserve(struct buffer *buffer, size_t more)
{
    if (buffer->size + more + 1 > buffer->capacity) {
        buffer->capacity = 2 * (buffer->size + more) + 64;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data) {
            die("out of memory");
        }
    }
}

void put_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
    reserve(buffer, size);
    if (size) {
        memcpy(buffer->data + buffer->size, bytes, size);
    }
    for (size_t i = 0; i < size; i++) {
        if (buffer->data[buffer->size + i] == '\n') {
            buffer->line = buffer->size + i + 1;
        }
    }
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

void put(struct buffer *buffer, const char *text)
{
    put_bytes(buffer, text, strlen(text));
}

void put_format(struct buffer *buffer, const char *format, ...)
{
    char text[256];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    put(buffer, text);
}

size_t get_column(const struct buffer *buffer)
{
    return buffer->size - buffer->line;
}

/* ---- base85 ---- */

/* No sign that begins a comment or ends a block. */
static const char digits[] =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!$%&()*+,-./:;<=>?@[]^_";

enum { N_DIGITS = 85, GROUP = 4, LINE = 23 * GROUP };

/* The last group of N bytes has N + 1 digits. */
void put_base85(struct buffer *buffer, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < size; i += GROUP) {
        size_t n = size - i < GROUP ? size - i : GROUP;
        uint32_t number = 0;
        char group[GROUP + 1];
        for (size_t j = 0; j < GROUP; j++) {
            number = number << 8 | (j < n ? from[i + j] : 0);
        }
        for (int j = GROUP; j >= 0; j--) {
            group[j] = digits[number % N_DIGITS];
            number /= N_DIGITS;
        }
        put_bytes(buffer, group, n + 1);
        if ((i + GROUP) % LINE == 0 || i + GROUP >= size) {
            put(buffer, "\n");
        }
    }
}

/* The bytes of a group of N digits, which the largest digits fill up. */
static void put_group(struct buffer *buffer, uint64_t number, size_t n)
{
    char bytes[GROUP];
    for (size_t j = n; j <= GROUP; j++) {
        number = number * N_DIGITS + N_DIGITS - 1;
    }
    for (int j = GROUP - 1; j >= 0; j--) {
        bytes[j] = (char)(number & 255);
        number >>= 8;
    }
    put_bytes(buffer, bytes, n - 1);
}

bool put_from_base85(struct buffer *buffer, const char *text, size_t size)
{
    uint64_t number = 0;
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == ' ' || text[i] == '\n') {
            continue;
        }
        const char *digit = strchr(digits, text[i]);
        if (!digit || !*digit) {
            return false;
        }
        number = number * N_DIGITS + (uint64_t)(digit - digits);
        if (++n == GROUP + 1) {
            put_group(buffer, number, n);
            number = n = 0;
        }
    }
    if (n > 1) {
        put_group(buffer, number, n);
    }
    return n != 1;
}

/* ---- files ---- */

bool read_file(const char *path, struct buffer *buffer)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) {
        put_bytes(buffer, part, n);
    }
    bool is_read = !ferror(file);
    fclose(file);
    return is_read;
}

static void make_folders(const char *path)
{
    char *folder = copy_bytes(path, strlen(path));
    for (char *slash = folder; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(folder, 0777) && errno != EEXIST) {
            die("%s: %s", folder, strerror(errno));
        }
        *slash = '/';
    }
    free(folder);
}

void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        make_folders(path);
        file = fopen(path, "wb");
    }
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
        die("%s: %s", path, strerror(errno));
    }
}

bool is_same(const struct buffer *a, const struct buffer *b)
{
    return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}
