#ifndef AMP_CLI_REPORT_TEXT_H
#define AMP_CLI_REPORT_TEXT_H

#include "cli/inputs.h"

/* How every line begins: a word for what it is about. */
#define AMP_REPORT_LABEL "  %-10s "

/* What supplied the inputs, one line each: all of them when VERBOSITY is above 0, else the random
   ones, three at most. */
void amp_report_inputs(FILE *file, const struct amp_inputs *inputs, int verbosity);

/*
 * The validation: a line for the worst output (VERBOSITY above 0: a line per output with all
 * metrics), one for the task accuracy where there are labels, one for nodes that had no native
 * kernel, and the verdict with its bounds.
 */
void amp_report_validation(FILE *file, const struct amp_validation *validation, int verbosity);

/* The metrics that are defined, in part of a line; the most telling ones if IS_BRIEF. */
void amp_report_metrics(FILE *file, const struct amp_metrics *metrics, bool is_brief);

/* "'logits': 99.72 % (359 of 360)", without the name when SCORES is NULL; of two models: "... in
   fp32, ... converted". */
void amp_report_accuracy(FILE *file, const char *scores, const struct amp_accuracy *accuracy,
                         size_t n_models);

/* That WIDENED nodes had no kernel for the lower dtype; nothing for 0. */
void amp_report_widened(FILE *file, size_t widened);

#endif
