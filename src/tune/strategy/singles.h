#ifndef AMP_TUNE_STRATEGY_SINGLES_H
#define AMP_TUNE_STRATEGY_SINGLES_H

#include "tune/search.h"

/* Units in the order of what came of keeping each alone. */
struct amp_singles {
    uint32_t *units; /* the best first; in the arena of the trials */
    size_t n;        /* less than all units where no evaluation was left */
    bool has_met;    /* one alone was enough */
};

/* Keeps each unit alone in float32 and ranks them: by the score where there is one, then by the
   power of the error, then in the order of the graph. ENDS_WHEN_MET: not beyond the first that
   meets the criterion. */
enum amp_status amp_singles_rank(struct amp_search *search, bool ends_when_met,
                                 struct amp_singles *singles, struct amp_error *err);

/* Keeps the first of SINGLES, then the first two and so on, until the criterion holds. */
enum amp_status amp_singles_add_up(struct amp_search *search, const struct amp_singles *singles,
                                   struct amp_error *err);

#endif
