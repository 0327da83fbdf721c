#ifndef AMP_CLI_REPORT_JSON_H
#define AMP_CLI_REPORT_JSON_H

#include "core/dtype.h"
#include "core/status.h"
#include "core/tensor.h"

#include <jansson.h>

/* Values: each a new reference. */
json_t *amp_json_number(double value);         /* "inf", "-inf" and "nan" for what is no number */
json_t *amp_json_number_or_null(double value); /* the same, null for NaN: there is no value */
json_t *amp_json_count(uint64_t count);
json_t *amp_json_text(const char *text);               /* "(not UTF-8)" for what is none */
json_t *amp_json_text_or_null(const char *text);       /* null for NULL */
json_t *amp_json_dtype(enum amp_dtype dtype);          /* its name; null for AMP_UNDEFINED */
json_t *amp_json_shape(const struct amp_shape *shape); /* unknown dims and ranks are null */
json_t *amp_json_texts(const char *const *texts, size_t count);

/* The number that amp_json_number made NUMBER of; NaN for what it never makes, NULL among it. */
double amp_json_number_of(const json_t *number);

/* {FIRST: A, SECOND: B}: a new reference. */
json_t *amp_json_pair(const char *first, uint64_t a, const char *second, uint64_t b);

/* Sets KEY of OBJECT to VALUE, whose reference it takes over. */
void amp_json_set(json_t *object, const char *key, json_t *value);

/* ROOT as text, to be freed, with jansson's FLAGS; drops the reference. NULL when memory is out.
   Characters that are not shown (core/print.h) are escaped, so that the text is fit for a terminal
   and means the same. */
char *amp_json_dump(json_t *root, size_t flags);

/* Writes ROOT to PATH ("-": stdout), whole or not at all, and drops the reference. AMP_IO when that
   fails. */
enum amp_status amp_json_write(json_t *root, const char *path, struct amp_error *err);

#endif
