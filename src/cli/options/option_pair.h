#ifndef AMP_CLI_OPTIONS_OPTION_PAIR_H
#define AMP_CLI_OPTIONS_OPTION_PAIR_H

#include "core/status.h"

/* The value NAME=VALUE of an option. */
struct amp_option_pair {
    char name[1024];
    const char *value;
};

/* Splits TEXT, a value of the option called OPTION, at the last '=' (names may hold one) into
   *PAIR, which points into TEXT. AMP_USAGE when one of the two is missing or the name is longer
   than PAIR can hold. */
enum amp_status amp_option_pair_split(const char *option, const char *text,
                                      struct amp_option_pair *pair, struct amp_error *err);

#endif
