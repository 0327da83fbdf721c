#ifndef AMP_CLI_NOISE_H
#define AMP_CLI_NOISE_H

#include "check/noise.h"
#include "cli/options/options.h"

/* Finds the noise by source of CONVERTED against REFERENCE on the samples that the command line
   asks for, as amp_noise_find, in plain runs up to BUDGET; 0: as many as OPTIONS make worth while.
 */
enum amp_status amp_noise_search(const struct amp_options *options, double budget,
                                 const struct amp_model *reference,
                                 const struct amp_model *converted, struct amp_noise *noise,
                                 struct amp_error *err);

#endif
