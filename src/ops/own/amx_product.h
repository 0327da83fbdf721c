#ifndef AMP_OPS_OWN_AMX_PRODUCT_H
#define AMP_OPS_OWN_AMX_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

/* Private to the kernels for AMX (Advanced Matrix Extensions of x86-64) in ops/own: a product of
   bfloat16 matrices that is ready to be computed on tiles. */

#if defined __x86_64__ && defined __GNUC__
#    define AMP_HAS_AMX 1
#    define AMP_AMX_TARGET \
        __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#else
#    define AMP_HAS_AMX 0
#endif

/* Rows and columns of a tile of sums; those that are computed together; what they are summed over
   at a time. */
enum { TILE = 16, UNIT = 2 * TILE, STEP = 32, MAX_TILE_POSTS = 8 };

/* Elements of float32 or bfloat16. */
struct elements {
    void *data;
    bool is_bf16;
    int64_t row; /* the distance of rows, in elements; 0: one row for all */
};

/* Results of one unit, rows of float32; ROWS of them count, and COLUMNS of each. */
struct results {
    _Alignas(64) float at[UNIT][UNIT];
    int rows, columns;
    int64_t row, column; /* where they go */
};

/* What is done to the results before they are stored: to each, or with an operand, which is one
   element where IS_SCALAR. */
struct tile_post;
typedef void tile_post_run(const struct tile_post *post, struct results *results);

struct tile_post {
    tile_post_run *run;
    float alpha, beta;
    int arg; /* of the operand, DNNL_ARG_... */
    struct elements operand;
    bool is_scalar;
};

/*
 * Y [m, n] = A [m, k] B [k, n], with what comes after it. K is a multiple of STEP. B lies in blocks
 * of STEP rows and WIDTH columns, a multiple of TILE, full of zeros at their ends: 16 rows of
 * pairs, one pair below the other for each column. Distances are in elements; those of B are
 * between blocks.
 */
struct tile_product {
    int64_t m, n, k, width, a_row, b_down, b_right;
    const uint16_t *a, *b;
    struct elements y;
    int n_posts;
    struct tile_post posts[MAX_TILE_POSTS];
};

#endif
