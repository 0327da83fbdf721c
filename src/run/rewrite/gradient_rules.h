#ifndef AMP_RUN_REWRITE_GRADIENT_RULES_H
#define AMP_RUN_REWRITE_GRADIENT_RULES_H

#include "run/rewrite/gradient_term.h"

/* Private to run/rewrite: makes the nodes of the gradient of input I of the derivation's node and
   gives its value. AMP_NONE: there is no rule for it. */
uint32_t amp_gradient_of_input(struct amp_derivation *derivation, uint32_t i);

#endif
