#ifndef TOOL_EXPAND_H
#define TOOL_EXPAND_H

#include "archive.h"

/* Appends the bytes of a member that is a file. */
void put_member_bytes(struct buffer *bytes, const struct archive *archive,
                      const struct member *member);
/* Expands all .cases files below TESTS to folders below ROOT, those that are newer than what stands
 * there. */
void expand_all(const char *tests, const char *root);
/* The paths of all .cases files below TESTS, sorted. */
char **list_archives(const char *tests, size_t *n);

#endif
