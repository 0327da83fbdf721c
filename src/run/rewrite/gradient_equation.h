#ifndef AMP_RUN_REWRITE_GRADIENT_EQUATION_H
#define AMP_RUN_REWRITE_GRADIENT_EQUATION_H

#include <stdbool.h>
#include <stdint.h>

enum { AMP_GRADIENT_EQUATION = 512 };

/*
 * Private to run/rewrite: writes to SWAPPED the equation of the gradient of operand I of an Einsum
 * of EQUATION, whose operands are the gradient of the output, then the others in their order. False
 * where no equation is: an index that stands in nothing else or twice in the operand, or a text
 * that is too long.
 */
bool amp_gradient_equation(const char *equation, uint32_t i, char swapped[AMP_GRADIENT_EQUATION]);

#endif
