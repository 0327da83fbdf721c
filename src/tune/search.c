/*
 * Strategies by name: takes a word of the command line, gives the way to search that it means.
 */
#include "tune/search.h"

#include "core/array.h"
#include "core/words.h"
#include "tune/strategy/bisect.h"
#include "tune/strategy/greedy.h"
#include "tune/strategy/min_cut_search.h"
#include "tune/strategy/neural_compressor.h"

#include <string.h>

static const struct amp_strategy *const strategies[] = {&amp_strategy_min_cut,
                                                        &amp_strategy_neural_compressor,
                                                        &amp_strategy_bisect, &amp_strategy_greedy};

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
    const char *nearest = amp_word_nearest_at(name, amp_strategy_name_at);
    return amp_fail(err, AMP_USAGE,
                    "--strategy: unknown strategy '%s'%s%s%s; accepted: min-cut, "
                    "neural-compressor, bisect, greedy",
                    name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
}
