#ifndef TOOL_COMMANDS_H
#define TOOL_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

struct archive; /* archive.h */
struct member;
struct buffer; /* buffer.h */

/* What main.c calls: a command of the tool is a file. */

/* ---- expand.c ---- */

/* Expands all .cases files below TESTS to folders below ROOT, those that are newer than what stands
 * there. */
void expand_all(const char *tests, const char *root);
/* Appends the bytes of a member that is a file. */
void put_member_bytes(struct buffer *bytes, const struct archive *archive,
                      const struct member *member);
/* The paths of all .cases files below TESTS, sorted. */
char **list_archives(const char *tests, size_t *n);

/* ---- update.c ---- */

/* Takes what the folders below ROOT expect (stdout, stderr, exit) into the .cases files below
 * TESTS, for cases with args. */
void update_all(const char *tests, const char *root);

/* ---- print.c ---- */

/* Appends cases: each of PATHS is a folder, or what the paths of a case's files begin with
 * (run/fused/fold_conv.). */
void put_cases(struct buffer *buffer, char **paths, int n);
/* Appends a model, sample, function or .npy file as text. */
void put_file(struct buffer *buffer, const char *path);

/* ---- xml.c ---- */

/* Whether the file at PATH is well-formed XML 1.0 without a DTD of its own; says what is wrong. */
bool check_xml(const char *path);

/* ---- schema.c ---- */

/*
 * Checks the COUNT files at PATHS, JSON documents, against the schema at SCHEMA: the keywords $ref,
 * type, const, enum, anyOf, properties, required, additionalProperties and items of JSON Schema
 * (draft 2020-12). Prints a line per document that is wrong, with the place, and one per property
 * of the schema that none of them has. 0 when there is nothing to print.
 */
int schema_check(const char *schema, char *const *paths, int count);

#endif
