#ifndef SCHEMA_H
#define SCHEMA_H

/*
 * Checks the COUNT files at PATHS, JSON documents, against the schema at SCHEMA: the keywords $ref,
 * type, const, enum, anyOf, properties, required, additionalProperties and items of JSON Schema
 * (draft 2020-12). Prints a line per document that is wrong, with the place, and one per property of
 * the schema that none of them has. 0 when there is nothing to print.
 */
int schema_check(const char *schema, char *const *paths, int count);

#endif
