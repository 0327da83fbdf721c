#ifndef AMP_CLI_REPORT_ACCURACY_H
#define AMP_CLI_REPORT_ACCURACY_H

#include "check/accuracy.h"

#include <stdio.h>

#include <jansson.h>

/* Prints the line "'logits': 99.72 % (359 of 360)" of the output SCORES, without the name when that
   is NULL; of two models "... in fp32, ... converted". ACCURACY has an entry per model. */
void amp_report_accuracy(FILE *file, const char *scores, const struct amp_accuracy *accuracy,
                         size_t n_models);

/* {"rows", "right", "percent"}: a new reference. */
json_t *amp_json_accuracy(const struct amp_accuracy *accuracy);

#endif
