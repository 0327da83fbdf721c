#ifndef AMP_CHECK_RANDOM_INPUT_H
#define AMP_CHECK_RANDOM_INPUT_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/*
 * Random values for a graph input that nothing else supplies, by its element type:
 *
 *   floats            normal, mean 0 and variance 1
 *   bool              random
 *   8 bits and less   the whole range of the type
 *   other integers    0 or 1; from 0 to the end of a dim where the input holds indices into that
 *                     dim (of Gather, GatherElements, GatherND) and its size is known; 1 where the
 *                     input's name contains "mask"
 *   strings           empty
 */
enum amp_random_kind { AMP_RANDOM_NORMAL, AMP_RANDOM_INTEGERS, AMP_RANDOM_ONES, AMP_RANDOM_EMPTY };

struct amp_random_input {
    enum amp_random_kind kind;
    enum amp_dtype dtype;
    struct amp_shape shape;  /* all dims known */
    int64_t lowest, highest; /* of integers */
    uint32_t stream;         /* hash of the name: inputs do not depend on each other */
};

/*
 * Decides which values graph input VALUE of MODEL gets. SIZES has the size of every symbol of the
 * model (core/graph/graph.h); dims that are unknown and have no symbol get 1. AMP_USAGE when the
 * rank is not known; AMP_UNSUPPORTED when the input is no tensor, and for complex numbers.
 */
enum amp_status amp_random_input_plan(const struct amp_model *model, uint32_t value,
                                      const int64_t *sizes, struct amp_random_input *plan,
                                      struct amp_error *err);

/*
 * Plans many inputs of one model, each of them once, and finds the uses of the model's values only
 * once. amp_random_planner_plan takes and gives what amp_random_input_plan does.
 */
struct amp_random_planner *amp_random_planner_create(const struct amp_model *model);
void amp_random_planner_destroy(struct amp_random_planner *planner);
enum amp_status amp_random_planner_plan(struct amp_random_planner *planner, uint32_t value,
                                        const int64_t *sizes, struct amp_random_input *plan,
                                        struct amp_error *err);

/* Writes what the values are into TEXT, which it returns: "random", "random, 0 to 99", "ones" or
   "empty". */
char *amp_random_input_text(const struct amp_random_input *plan, char *text, size_t size);

/* Makes the values that PLAN asks for in sample SAMPLE, from the generator of SEED. The caller
   releases TENSOR, also on failure; fails as amp_tensor_alloc does. */
enum amp_status amp_random_input_make(const struct amp_random_input *plan, uint64_t seed,
                                      uint64_t sample, struct amp_tensor *tensor,
                                      struct amp_error *err);

#endif
