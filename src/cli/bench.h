#ifndef AMP_CLI_BENCH_H
#define AMP_CLI_BENCH_H

#include "cli/options/options.h"

/* `ampconv bench MODEL...`: times every model in every dtype that OPTIONS name and prints a table;
   with --json it writes the figures as JSON. Fails as reading, converting and running do. */
enum amp_status amp_command_bench(const struct amp_options *options, struct amp_error *err);

#endif
