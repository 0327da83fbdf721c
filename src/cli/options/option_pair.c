/*
 * Values of options that have the form NAME=VALUE: takes the text, gives the two parts. What they
 * mean is the caller's business.
 */
#include "cli/options/option_pair.h"

#include "cli/options/option_table.h"

#include <string.h>

enum amp_status amp_option_pair_split(const char *option, const char *text,
                                      struct amp_option_pair *pair, struct amp_error *err)
{
    const char *equals = strrchr(text, '=');
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= sizeof pair->name || equals[1] == '\0')
        return amp_fail(err, AMP_USAGE, "--%s %s: %s is needed", option, text,
                        amp_option_find(option, strlen(option), AMP_CMD_CONVERT)->argument);
    memcpy(pair->name, text, length);
    pair->name[length] = '\0';
    pair->value = equals + 1;
    return AMP_OK;
}
