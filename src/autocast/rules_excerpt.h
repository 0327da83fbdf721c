#ifndef AMP_AUTOCAST_RULES_EXCERPT_H
#define AMP_AUTOCAST_RULES_EXCERPT_H

#include <stddef.h>

/* Private to the rules: places in a text, as libyaml counts them. Lines end where YAML 1.1 ends
   them; columns count characters. */

struct amp_place {
    int line, column; /* from 1 */
};

/* The place of the byte at OFFSET, which is at most SIZE. */
struct amp_place amp_place_of(const char *text, size_t size, size_t offset);

/* Writes the line at PLACE and, below it, a caret under the column to OUT, CAPACITY bytes at least
   1. Of a long line only the surroundings of the column are shown. What a terminal would not show
   as a character comes as '?'. */
void amp_excerpt(const char *text, size_t size, struct amp_place place, char *out, size_t capacity);

/* Replaces control characters and what is no UTF-8 by '?'. */
void amp_make_printable(char *text);

#endif
