#ifndef AMP_CLI_CONVERT_RESULTS_H
#define AMP_CLI_CONVERT_RESULTS_H

#include "core/status.h"

struct amp_convert_job;   /* cli/convert/job.h */
struct amp_convert_trial; /* cli/convert/trial.h */

/* Private to cli/convert: what a conversion prints and writes. */

/* Prints the explanation of JOB to stdout, or to stderr when the model goes to stdout or only -vv
   asks for it. */
void amp_convert_explain(struct amp_convert_job *job);

/* Prints the noise that TRIAL has found where it was asked for. */
void amp_convert_explain_noise(const struct amp_convert_job *job,
                               const struct amp_convert_trial *trial);

/* Writes the model unless VERDICT forbids it, and the reports in both cases. AMP_MISMATCH is
   VERDICT's; otherwise what writing says. */
enum amp_status amp_convert_write(const struct amp_convert_job *job,
                                  const struct amp_convert_trial *trial,
                                  const struct amp_error *verdict);

#endif
