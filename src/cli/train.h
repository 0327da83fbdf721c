#ifndef AMP_CLI_TRAIN_H
#define AMP_CLI_TRAIN_H

#include "cli/options/options.h"

/* `ampconv train MODEL`. AMP_USAGE for options that do not fit, AMP_MODEL for a model without
   training_info; what else goes wrong as reading, running and writing models do. */
enum amp_status amp_command_train(const struct amp_options *options, struct amp_error *err);

#endif
