#ifndef AMP_TUNE_STRATEGY_BRACKET_H
#define AMP_TUNE_STRATEGY_BRACKET_H

#include "tune/path.h"
#include "tune/search.h"

/* A power in dB. */
double amp_power_db(double power);

/*
 * Finds where along PATH the criterion begins to hold: between the choice of LOW, the trial of all
 * units low, which missed, and the end of the path, which is not run. Stops with one that
 * met where measured powers tell more (refine.h); else where the choices around cost nearly the
 * same, and when about half of the evaluations are used and one has met; and with two evaluations
 * left when none has.
 */
enum amp_status amp_bracket_close(struct amp_search *search, struct amp_path *path,
                                  const struct amp_trial *low, struct amp_error *err);

#endif
