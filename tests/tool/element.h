#ifndef TOOL_ELEMENT_H
#define TOOL_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

enum element_kind {
    ELEMENT_SIGNED,
    ELEMENT_UNSIGNED,
    ELEMENT_FLOAT,
    ELEMENT_DOUBLE,
    ELEMENT_SMALL,
    ELEMENT_STRING
};

/* How a float of at most 16 bits is made. */
struct small_float {
    int exponent_bits, fraction_bits, bias;
    bool has_sign;
    uint32_t infinity; /* 0: none */
    uint32_t nan;      /* the usual one; 0: none */
    uint32_t largest;  /* the largest number that is finite */
};

/* A type of elements. */
struct element {
    const char *name;
    int id; /* of TensorProto.DataType */
    enum element_kind kind;
    int bits;  /* of a part; 0: strings */
    int parts; /* 2: complex */
    const struct small_float *small;
};

/* NULL where there is none. */
const struct element *find_element(const char *name);
const struct element *get_element(int id);

/* Appends the number that BITS stand for, as short as it can be to read back the same. */
void put_number(struct buffer *buffer, const struct element *element, uint64_t bits);
/* The bits of the number WORD to *BITS; false where it is none, or one that the type does not have.
 */
bool read_number(const struct element *element, const char *word, uint64_t *bits);

/* The bits of the number nearest to VALUE, of a type of floats. */
uint64_t encode_number(const struct element *element, double value);
/* The number of a float's bits; 0 for what is none. */
double decode_number(const struct element *element, uint64_t bits);

/* Part I of packed bytes; types of less than 8 bits begin at the low end of a byte. */
uint64_t get_bits(const struct element *element, const void *bytes, size_t i);
/* Appends the bytes of N parts. */
void put_bits(struct buffer *buffer, const struct element *element, const uint64_t *bits, size_t n);

#endif
