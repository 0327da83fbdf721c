#ifndef AMP_CLI_REPORT_HEAD_H
#define AMP_CLI_REPORT_HEAD_H

#include "cli/options/options.h"
#include "core/file/input.h"

#include <jansson.h>

/* What all reports in JSON have in common (ampconv-report(5)): a head, and that there is one
   however the program ends. */

/* Begins a report of the kind KIND: {"tool": {"name", "version"}, "report": KIND, "exit_code"}, a
   new reference. */
json_t *amp_report_begin(const char *kind);

/* Sets the exit code of ROOT to that of STATUS, writes it where OPTIONS want it, whole or not at
   all, and drops the reference. AMP_IO when it cannot be written. */
enum amp_status amp_report_write(json_t *root, const struct amp_options *options,
                                 enum amp_status status, struct amp_error *err);

/* The report of a program that ended with FAILED before there was another one: what failed and the
   words of the command line that are no options. A new reference. */
json_t *amp_json_failure(const struct amp_options *options, const struct amp_error *failed);

/* Writes that report where OPTIONS want one, unless a report was written, or the place is one that
   the command line has for something else. What keeps it from being written is not said. */
void amp_report_failure(const struct amp_options *options, const struct amp_error *failed);

/* The hash of a model's file, "fnv1a-32:709a7d40": a new reference. */
json_t *amp_json_hash(const struct amp_bytes *bytes);

#endif
