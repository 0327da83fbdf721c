#ifndef AMP_TUNE_STRATEGY_PREVIEW_H
#define AMP_TUNE_STRATEGY_PREVIEW_H

#include "tune/search.h"

/*
 * Where the search has previews: looks at choices along the path of the noise that is fitted to
 * them, then at changes of a few units of what was seen, those first that are expected to save most
 * (expected improvement: Jones, Schonlau and Welch, 1998). Evaluates the cheapest of those that
 * look good enough; what previews and evaluations differ by, as they do on other samples, moves
 * what is asked of the next. LOW is the trial of all units low, which missed. There may be no
 * answer in the end.
 */
enum amp_status amp_preview_run(struct amp_search *search, const struct amp_trial *low,
                                struct amp_error *err);

#endif
