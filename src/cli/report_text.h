#ifndef AMP_CLI_REPORT_TEXT_H
#define AMP_CLI_REPORT_TEXT_H

#include "cli/inputs.h"

/* What supplied the inputs, one line each: all of them when VERBOSITY is above 0, else the random
   ones, three at most. */
void amp_report_inputs(FILE *file, const struct amp_inputs *inputs, int verbosity);

/*
 * The validation: a line for the worst output (VERBOSITY above 0: a line per output with all
 * metrics), one for the task accuracy where there are labels, one for nodes that had no native
 * kernel, and the verdict.
 */
void amp_report_validation(FILE *file, const struct amp_validation *validation, int verbosity);

#endif
