/*
 * Strategies by name: takes a word of the command line, gives the way to search that it means.
 */
#include "tune/search.h"

#include "core/array.h"
#include "core/words.h"

#include <stdio.h>
#include <string.h>

#define AMP_STRATEGY(strategy) extern const struct amp_strategy strategy;
#include "tune/strategy/strategy_list.h"
#undef AMP_STRATEGY

#define AMP_STRATEGY(strategy) &strategy,
static const struct amp_strategy *const strategies[] = {
#include "tune/strategy/strategy_list.h"
};
#undef AMP_STRATEGY

const struct amp_strategy *amp_strategy_at(size_t i)
{
    return i < AMP_COUNT(strategies) ? strategies[i] : NULL;
}

const char *amp_strategy_name_at(size_t i)
{
    return i < AMP_COUNT(strategies) ? strategies[i]->name : NULL;
}

enum amp_status amp_strategy_find(const char *name, const struct amp_strategy **strategy,
                                  struct amp_error *err)
{
    for (size_t i = 0; i < AMP_COUNT(strategies); i++)
        if (strcmp(strategies[i]->name, name) == 0) {
            *strategy = strategies[i];
            return AMP_OK;
        }
    char accepted[256] = "";
    for (size_t i = 0, used = 0; i < AMP_COUNT(strategies) && used < sizeof accepted; i++)
        used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s%s", i > 0 ? ", " : "",
                                 strategies[i]->name);
    const char *nearest = amp_word_nearest_at(name, amp_strategy_name_at);
    return amp_fail(err, AMP_USAGE, "--strategy: unknown strategy '%s'%s%s%s; accepted: %s", name,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                    accepted);
}
