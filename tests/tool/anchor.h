#ifndef TOOL_ANCHOR_H
#define TOOL_ANCHOR_H

#include "buffer.h"
#include "lexer.h"

/* Data that stand at several places of an archive are written once, as `&NAME data`, and named
 * elsewhere, as `*NAME`. */

/* ---- writing: everything is written twice, as the first time shows what comes again ---- */

/* Begins the second time. */
void name_anchors(void);
/* Appends *NAME where equal data were written, and &NAME where these will come again. True: nothing
 * more is to be written. */
bool put_anchor(struct buffer *buffer, const void *bytes, size_t size);

/* ---- reading ---- */

/* Begins another archive. */
void forget_anchors(void);
/* What the name behind * stands for. */
const struct buffer *read_reference(struct lexer *lexer);
/* Gives what was read to the name that stood behind &. */
void keep_anchor(struct lexer *lexer, const char *name, const void *bytes, size_t size);

#endif
