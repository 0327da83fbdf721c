/*
 * `ampconv run`: runs one model on given or random inputs, or a test suite.
 */
#include "cli/commands.h"

enum amp_status amp_command_run(const struct amp_options *options, struct amp_error *err)
{
    if (options->test_suite != NULL)
        return amp_command_suite(options, err);
    return amp_fail(err, AMP_USAGE, "no inputs given");
}
