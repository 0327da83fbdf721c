#ifndef TOOL_CHANCE_H
#define TOOL_CHANCE_H

#include "buffer.h"
#include "element.h"
#include "lexer.h"

/* Numbers by chance, as numpy.random.default_rng(SEED) makes them after SKIP others: OFFSET + SCALE
 * X, where X is standard normal or uniform from 0 to 1. */
struct chance {
    bool is_normal;
    uint64_t seed;
    uint64_t skip; /* draws of 64 bits */
    double offset, scale;
};

/* The bits of N numbers. */
void draw(const struct chance *chance, const struct element *element, uint64_t *bits, size_t n);
/* Whether N packed elements are such numbers, of one of the seeds and scales that the tests have;
 * then what they are goes to *CHANCE. */
bool find_chance(const struct element *element, const void *bytes, size_t n, struct chance *chance);

/* normal {SEED, SKIP, OFFSET, SCALE}, and so for uniform. */
void put_chance(struct buffer *buffer, const struct chance *chance);
/* What stands in braces behind the word. */
void read_chance(struct lexer *lexer, struct chance *chance);

#endif
