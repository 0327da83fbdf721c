#ifndef AMP_TUNE_GIVE_BACK_H
#define AMP_TUNE_GIVE_BACK_H

#include "tune/ties.h"

/* Takes units from KEEPS while that lowers the loss and adds at most SLACK to the power, to within
   rounding: those first that save the most for the noise that they add. What LOW keeps stays. */
void amp_give_back(const struct amp_ties *ties, double slack, const bool *low, bool *keeps);

#endif
