#ifndef TOOL_BUFFER_H
#define TOOL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text or bytes that grow; a NUL follows them always. All zero: empty. */
struct buffer {
    char *data;
    size_t size, capacity;
    size_t line; /* where the last line begins */
};

/* Memory that is all zero, never NULL. */
void *new_memory(size_t size);
/* A copy of SIZE bytes, with a NUL behind them. */
char *copy_bytes(const void *bytes, size_t size);
/* Appends ITEM to the list of N pointers at *LIST. */
void add_item(void *list, size_t *n, void *item);

void put_bytes(struct buffer *buffer, const void *bytes, size_t size);
void put(struct buffer *buffer, const char *text);
__attribute__((format(printf, 2, 3))) void put_format(struct buffer *buffer, const char *format,
                                                      ...);
/* How many characters the last line has. */
size_t get_column(const struct buffer *buffer);

/* Appends 115 characters a line, each with a newline. */
void put_base85(struct buffer *buffer, const void *bytes, size_t size);
/* Appends what TEXT stands for, blanks left out; false where a character is none of base85's. */
bool put_from_base85(struct buffer *buffer, const char *text, size_t size);

/* Reads a whole file; false, with nothing said, where there is none. */
bool read_file(const char *path, struct buffer *buffer);
/* Writes a file and the folders above it. */
void write_file(const char *path, const void *bytes, size_t size);
/* Whether both hold the same bytes. */
bool is_same(const struct buffer *a, const struct buffer *b);

/* Says what is wrong on stderr and ends the program with 1. */
__attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...);

#endif
