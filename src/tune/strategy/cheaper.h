#ifndef AMP_TUNE_STRATEGY_CHEAPER_H
#define AMP_TUNE_STRATEGY_CHEAPER_H

#include "tune/path.h"
#include "tune/search.h"

/* Where fewer than 12 units matter (amp_path_is_exact of PATH): runs the choices of less loss than
   the answer, which there is, that are predicted to have hardly more power than one that met, the
   cheapest first, until one meets the criterion. Does nothing where more do. */
enum amp_status amp_cheaper_run(struct amp_search *search, struct amp_path *path,
                                struct amp_error *err);

#endif
