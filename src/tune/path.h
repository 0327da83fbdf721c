#ifndef AMP_TUNE_PATH_H
#define AMP_TUNE_PATH_H

#include "tune/problem.h"

/*
 * The choices that are best at some price of noise: the units that minimise loss plus PRICE times
 * power are a minimum cut (Picard, 1976: a minimum closure), exact because what two units remove
 * together is never less than what each removes alone. As the price grows the choices only grow
 * (Gallo, Grigoriadis and Tarjan, 1989), so they are a path from the choice of least loss to all
 * that removes noise.
 */
struct amp_path;

/* A path through PROBLEM, which must outlive it and stay unchanged. */
struct amp_path *amp_path_create(const struct amp_problem *problem);
void amp_path_destroy(struct amp_path *path); /* NULL is fine */

/* Sets KEEPS to the least choice that is best at PRICE, >= 0; infinite: all that removes noise. */
void amp_path_at(struct amp_path *path, double price, bool *keeps);

/*
 * Sets KEEPS to the choice of least loss found whose power is at most BUDGET: the first one on the
 * path that meets it, or a better one that lies off the path (tune/tree.h). Returns false, KEEPS
 * being the end of the path, when none meets it. Deterministic; the work is bounded. Problems of
 * few units that matter (amp_path_is_exact) are solved by enumeration.
 */
bool amp_path_within(struct amp_path *path, double budget, bool *keeps);

/* Whether amp_path_within gives the optimum: fewer than 12 units matter, all choices of which are
   tried. Units that pay for themselves do not matter, nor do those by which nothing is gained. */
bool amp_path_is_exact(const struct amp_path *path);

#endif
