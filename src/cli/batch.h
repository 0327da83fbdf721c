#ifndef AMP_CLI_BATCH_H
#define AMP_CLI_BATCH_H

#include "cli/options/options.h"

/*
 * `ampconv MODEL... --output-dir DIR`: converts several models, each in a process of its own, a few
 * at a time, so that one that fails fails alone; folders stand for the models in them. A line for
 * each goes to stderr, in the order of the command line, and one report of all where OPTIONS ask
 * for it. Before anything is run, AMP_USAGE or AMP_IO where two models would come to one file, or
 * to one that is not to be replaced; then the status of the model with the highest exit code.
 */
enum amp_status amp_command_batch(const struct amp_options *options, struct amp_error *err);

#endif
