#ifndef AMP_CHECK_RANDOM_INPUT_H
#define AMP_CHECK_RANDOM_INPUT_H

#include "core/graph/graph.h"

/*
 * Random values for a graph input that nothing else supplies:
 *
 *   floats            normal, mean 0 and variance 1
 *   bool              random
 *   8 bits and less   the whole range of the type
 *   other integers    0 or 1; where the value indexes a dim that is known (Gather and its kin),
 * from 0 to the end of that dim; 1 throughout where the name says that it is a mask strings empty
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
 * Decides for graph input VALUE, a tensor. SIZES has the size of every symbol of the model
 * (core/graph/graph.h); dims that are unknown and have no symbol get 1. AMP_USAGE when the rank is
 * not known, AMP_UNSUPPORTED for complex numbers.
 */
enum amp_status amp_random_plan(const struct amp_model *model, uint32_t value, const int64_t *sizes,
                                struct amp_random_input *plan, struct amp_error *err);

/* The same for many inputs of one model, each once: what the model does with them is looked up
 * once.
 */
struct amp_random_planner *amp_random_planner_create(const struct amp_model *model);
void amp_random_planner_destroy(struct amp_random_planner *planner);
enum amp_status amp_random_plan_input(struct amp_random_planner *planner, uint32_t value,
                                      const int64_t *sizes, struct amp_random_input *plan,
                                      struct amp_error *err);

/* "random", "random, 0 to 99", "ones", "empty": what the values are. */
const char *amp_random_text(const struct amp_random_input *plan, char *text, size_t size);

/* Makes the values of sample SAMPLE; the caller releases TENSOR, also on failure. */
enum amp_status amp_random_make(const struct amp_random_input *plan, uint64_t seed, uint64_t sample,
                                struct amp_tensor *tensor, struct amp_error *err);

#endif
