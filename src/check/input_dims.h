#ifndef AMP_CHECK_INPUT_DIMS_H
#define AMP_CHECK_INPUT_DIMS_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/*
 * The sizes of the dims that the inputs of a model leave open: one for each symbol, and one for
 * each dim of an input that is unknown and has no name. They are 1 until they are set or found.
 */
struct amp_input_dims;

/* MODEL, whose types are inferred, must stay. */
struct amp_input_dims *amp_input_dims_create(const struct amp_model *model);
void amp_input_dims_destroy(struct amp_input_dims *dims); /* NULL is fine */

/* Sets the dims called SYMBOL to SIZE; false when no input has such. */
bool amp_input_dims_set(struct amp_input_dims *dims, const char *symbol, int64_t size);

/* Sets all dims of graph input I, and its rank where that is not known. AMP_USAGE when its declared
   ones, or what a symbol of them was set to before, are not those of SHAPE. */
enum amp_status amp_input_dims_set_shape(struct amp_input_dims *dims, size_t i,
                                         const struct amp_shape *shape, struct amp_error *err);

/* The model with the inputs in their sizes, in ARENA, where it is not the model itself, and with
   what follows for its values. What is wrong with its types is left for others to say. */
const struct amp_model *amp_input_dims_bind(const struct amp_input_dims *dims,
                                            struct amp_arena *arena);

/* Runs BOUND, which amp_input_dims_bind gave, once. */
typedef enum amp_status amp_input_dims_trial(void *context, const struct amp_model *bound,
                                             struct amp_error *err);

/*
 * Looks for sizes that the model runs in, of those that are not set: 1, then the numbers that the
 * first operator which refuses these names, then common ones; each dim alone, then those of a kind
 * together. Shape inference says what does not work; where it does not tell, and of what it lets
 * pass, RUN says it. The number of attempts is bounded, their order fixed. Where nothing works, the
 * failure with all at 1 is returned, with how to give sizes behind it, or AMP_IO when the system
 * refused memory to some; a failure that has nothing to do with sizes is left for the run to
 * report.
 */
enum amp_status amp_input_dims_find(struct amp_input_dims *dims, amp_input_dims_trial *run,
                                    void *context, struct amp_error *err);

/* Dim number K of those that were found to need more than 1: its name, "H" or, of one without,
   "image[2]", goes to NAME of SIZE bytes. The size that it has; 0 behind the last. */
int64_t amp_input_dims_found(const struct amp_input_dims *dims, size_t k, char *name, size_t size);

#endif
