#ifndef AMP_TUNE_FRONT_H
#define AMP_TUNE_FRONT_H

#include "tune/ties.h"

/* A walk from one choice to another in which units change sides one by one: those first that raise
   loss plus price times power the least, so that what has changed grows from where it began. */
struct amp_front {
    const struct amp_ties *ties;
    const bool *to; /* the choice that it walks to; units on the side that it has there stay */
    double price;   /* > 0; finite */
    double power; /* that may be added, above 0, or has to be removed, below 0, to within rounding:
                     it walks as far as it may, or until it has done */
};

/* Walks from KEEPS, which becomes what the walk comes to. Returns how many units could change. */
size_t amp_front_walk(const struct amp_front *front, bool *keeps);

#endif
