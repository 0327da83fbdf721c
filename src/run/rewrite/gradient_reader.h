#ifndef AMP_RUN_REWRITE_GRADIENT_READER_H
#define AMP_RUN_REWRITE_GRADIENT_READER_H

#include "run/rewrite/gradient_term.h"

/* Private to run/rewrite: the words of the texts that gradient_term.h describes. */

enum { AMP_GRADIENT_NAME = 32, AMP_GRADIENT_ITEMS = 32 };

struct amp_gradient_scope;

struct amp_gradient_reader {
    const struct amp_derivation *derivation;
    const char *at;
    struct amp_gradient_scope *scope, *root; /* see gradient_term.c */
    bool *is_lacking;                        /* something that the node does not tell was asked */
};

/* The node that is derived; until nodes are added. */
const struct amp_node *amp_gradient_node(const struct amp_gradient_reader *reader);

/* The value that the letter g, x, y or a to f stands for; AMP_NONE: there is none. */
uint32_t amp_gradient_letter(const struct amp_gradient_reader *reader, char letter);

/* Goes past C, and spaces before it, if it comes next. */
bool amp_gradient_take(struct amp_gradient_reader *reader, char c);

/* Reads a name, which is empty where there is none. */
void amp_gradient_read_name(struct amp_gradient_reader *reader, char name[AMP_GRADIENT_NAME]);

/* Goes behind the next C that is in no brackets of its own. */
void amp_gradient_skip(struct amp_gradient_reader *reader, char c);

/* Reads the items of a list up to its bracket; gives their number, -1 where a rank is not known or
   there are too many. */
int amp_gradient_items(struct amp_gradient_reader *reader, int64_t ints[AMP_GRADIENT_ITEMS]);

/* Reads an attribute and gives it to NODE; false where something is not known. */
bool amp_gradient_read_attr(struct amp_gradient_reader *reader, uint32_t node);

#endif
