#ifndef AMP_CLI_TEST_SUITE_H
#define AMP_CLI_TEST_SUITE_H

#include "cli/options/options.h"

/* `ampconv run --test-suite DIR`: runs every folder of DIR as a case of ONNX's backend tests and
   prints how many passed. AMP_MISMATCH when some failed, AMP_UNSUPPORTED when all were skipped,
   AMP_USAGE when there are none. */
enum amp_status amp_command_test_suite(const struct amp_options *options, struct amp_error *err);

#endif
