#ifndef AMP_CHECK_RANDOM_INPUT_H
#define AMP_CHECK_RANDOM_INPUT_H

#include "core/graph/graph.h"
#include "core/tensor.h"

/* How the elements of an input are drawn. */
enum amp_random_kind {
    AMP_RANDOM_NORMAL,    /* mean 0 and variance 1 */
    AMP_RANDOM_UNIFORM,   /* LOW to HIGH */
    AMP_RANDOM_INTEGERS,  /* LOWEST to HIGHEST, also of a float type */
    AMP_RANDOM_CONSTANT,  /* LOWEST */
    AMP_RANDOM_POSITIONS, /* 0, 1, ... along the last dim, to HIGHEST and from 0 again */
    AMP_RANDOM_BOXES,     /* corners from LOW to HIGH in the last four columns, the first corner the
                             lesser; 0 in columns before */
    AMP_RANDOM_EMPTY      /* strings */
};

/*
 * Random values for a graph input that nothing else supplies. What they are follows from its type,
 * from what the operators that take it do with it, from what the model's metadata say, and from its
 * name: the first row of a table in random_input.c that it is of. What nothing is known of is
 * normal for floats, the whole range of the type for integers of 8 bits and less, and 0 or 1 for
 * other ones.
 */
struct amp_random_input {
    const char *name;  /* of the kind: "normal", "indices" */
    const char *label; /* what reports call the values: "random indices" */
    enum amp_random_kind kind;
    enum amp_dtype dtype;
    struct amp_shape shape; /* all dims known */
    int64_t lowest, highest;
    double low, high;
    uint32_t stream; /* hash of the name: inputs do not depend on each other */
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

/* Has PLAN draw from LOW to HIGH, of integers both: whole numbers that the dtype has. AMP_USAGE
   when LOW is the greater, they are none that the dtype has, or it is one of no numbers. */
enum amp_status amp_random_input_limit(struct amp_random_input *plan, double low, double high,
                                       struct amp_error *err);

/* Whether PLAN draws numbers from a range, which is from *LOW to *HIGH. */
bool amp_random_input_range(const struct amp_random_input *plan, double *low, double *high);

/* Whether another seed gives other values. */
bool amp_random_input_is_drawn(const struct amp_random_input *plan);

/* Writes what the values are into TEXT, which it returns: "random", "random indices, 0 to 99",
   "ones" or "empty". */
char *amp_random_input_text(const struct amp_random_input *plan, char *text, size_t size);

/* Makes the values that PLAN asks for in sample SAMPLE, from the generator of SEED. The caller
   releases TENSOR, also on failure; fails as amp_tensor_alloc does. */
enum amp_status amp_random_input_make(const struct amp_random_input *plan, uint64_t seed,
                                      uint64_t sample, struct amp_tensor *tensor,
                                      struct amp_error *err);

#endif
