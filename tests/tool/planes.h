#ifndef TOOL_PLANES_H
#define TOOL_PLANES_H

#include <stdbool.h>

#include "buffer.h"

/* Appends the packed form of SIZE bytes, elements of WIDTH bytes, at most 8, each. */
void put_planes(struct buffer *buffer, const void *bytes, size_t size, size_t width);
/* Appends the SIZE bytes that PACKED stands for; false where it is not made of as many. */
bool put_from_planes(struct buffer *buffer, const struct buffer *packed, size_t size, size_t width);

/* Appends a text of SIZE bytes deflated, its size in front. */
void put_deflated_text(struct buffer *buffer, const char *text, size_t size);
/* Appends the text that DEFLATED stands for; false where it stands for none. */
bool put_from_deflated_text(struct buffer *buffer, const struct buffer *deflated);

#endif
