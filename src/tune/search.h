#ifndef AMP_TUNE_SEARCH_H
#define AMP_TUNE_SEARCH_H

#include "tune/trials.h"

/* What a search looks for. */
struct amp_search {
    const struct amp_problem *problem;
    struct amp_trials *trials;
    struct amp_trials *previews; /* for strategies that look at choices before they evaluate them;
                                    NULL: there are none */
    double budget;   /* the power that the criterion comes to; NaN: it is on something else */
    bool is_minimal; /* set by the search: each unit of the answer was tried in the lower dtype by
                        itself, and the criterion then does not hold */
};

/*
 * A way to search: runs trials until it has nothing more to try or no evaluation is left. The
 * answer is trials->best, and NULL when nothing met the criterion. It fails only as trials do.
 */
struct amp_strategy {
    const char *name; /* for --strategy */
    const char *text; /* a line of help */
    enum amp_status (*run)(struct amp_search *search, struct amp_error *err);
};

/* The strategy in row I: min-cut, the default, first; NULL behind the last. */
const struct amp_strategy *amp_strategy_at(size_t i);

/* The name of the strategy in row I; NULL behind the last. */
const char *amp_strategy_name_at(size_t i);

/* The strategy called NAME. AMP_USAGE with the nearest one. */
enum amp_status amp_strategy_find(const char *name, const struct amp_strategy **strategy,
                                  struct amp_error *err);

#endif
