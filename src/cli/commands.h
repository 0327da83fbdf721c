#ifndef AMP_CLI_COMMANDS_H
#define AMP_CLI_COMMANDS_H

#include "cli/options.h"

/* The commands. Each prints its report and returns AMP_OK, or the failure that main prints. */
enum amp_status amp_command_convert(const struct amp_options *options, struct amp_error *err);
enum amp_status amp_command_run(const struct amp_options *options, struct amp_error *err);
enum amp_status amp_command_rules(const struct amp_options *options, struct amp_error *err);
enum amp_status amp_command_bench(const struct amp_options *options, struct amp_error *err);

/* Prints the versions and what this CPU computes natively. */
void amp_command_version(FILE *file);

/* `run --test-suite`: every folder of options->test_suite as a backend test case. */
enum amp_status amp_command_suite(const struct amp_options *options, struct amp_error *err);

/* `run --list-ops`: what the executor runs, on stdout and as JSON. */
enum amp_status amp_command_list_ops(const struct amp_options *options, struct amp_error *err);

#endif
