#ifndef AMP_OPS_ML_ML_H
#define AMP_OPS_ML_ML_H

#include "ops/kernel/block.h"

/*
 * What the operators of ai.onnx.ml share: rows of features, lists in attributes, labels of classes,
 * and what is done to scores at the end. Where ONNX's definitions leave a case open, it is as in
 * ONNX Runtime 1.21.
 */

#define AMP_ML_DOMAIN "ai.onnx.ml"

/* ---- Rows ---- */

/* Input 0 as [rows, features]; a vector is one row. */
struct amp_rows {
    const struct amp_tensor *x;
    int64_t count, features; /* below 0 in shape functions: not known */
};

/* AMP_MODEL unless input 0 has rank 1 or 2 (or, for shape functions, an unknown one). */
enum amp_status amp_rows_of(struct amp_ctx *ctx, struct amp_rows *rows);

/* Row INDEX as doubles, to ROW[features].f. */
void amp_rows_load(const struct amp_rows *rows, int64_t index, union amp_wide *row);

/* The sum of A[i].f * B[i]. */
double amp_rows_dot(const union amp_wide *a, const float *b, int64_t n);

/* ---- Attributes ---- */

/* The list that attribute NAME holds, as a vector: float32, int64 or string elements, of a tensor
   its own. Without the attribute, one without elements whose dtype is AMP_UNDEFINED. To be
   released. */
enum amp_status amp_list_of(struct amp_ctx *ctx, const char *name, struct amp_tensor *list);

/* The elements of a list that amp_list_of gave. */
static inline int64_t amp_list_count(const struct amp_tensor *list)
{
    return list->shape.dims[0];
}

/* AMP_MODEL unless attribute NAME, which has COUNT elements, has one for each of WANTED things.
   WHAT names the things. */
enum amp_status amp_list_check(struct amp_ctx *ctx, const char *name, int64_t count, int64_t wanted,
                               const char *what);

/* AMP_MODEL unless the attribute is as amp_list_check wants it, or empty. */
enum amp_status amp_list_check_any(struct amp_ctx *ctx, const char *name, int64_t count,
                                   int64_t wanted, const char *what);

/* The float32 elements of attribute NAME, none when it is absent. */
const float *amp_node_floats(const struct amp_node *node, const char *name, int64_t *count);

/* ---- Labels ---- */

/* The labels of a classifier's classes. */
struct amp_labels {
    const struct amp_str *strings; /* NULL: ints */
    const int64_t *ints;
    int64_t count;
};

/* From attributes classlabels_strings and INTS_NAME; strings count when both are there. */
void amp_labels_read(const struct amp_node *node, const char *ints_name, struct amp_labels *labels);

/* For amp_op.dtype: output 0 holds labels, of the type that the attributes give them. */
enum amp_dtype amp_labels_dtype(const struct amp_model *model, const struct amp_node *node,
                                uint32_t i);

/* The labels of ROWS rows to output 0, if it is wanted: INDICES holds the class of each. Where
   there are not two labels for the two classes 0 and 1 of one set of weights, IS_NUMBER: the label
   is the index itself. */
enum amp_status amp_labels_put(struct amp_ctx *ctx, const struct amp_labels *labels,
                               const int64_t *indices, int64_t rows, bool is_number);

/* ---- Scores ---- */

/* As TreeEnsemble-5 numbers them. */
enum amp_transform {
    AMP_TRANSFORM_NONE,
    AMP_TRANSFORM_SOFTMAX,
    AMP_TRANSFORM_LOGISTIC,
    AMP_TRANSFORM_SOFTMAX_ZERO,
    AMP_TRANSFORM_PROBIT
};

/* Attribute post_transform by its name. */
enum amp_status amp_transform_read(const struct amp_ctx *ctx, enum amp_transform *transform);

/* Transforms the N scores of a row. A single one is only changed by PROBIT. */
void amp_scores_transform(enum amp_transform transform, double *scores, int64_t n);

/* How one score becomes those of two classes. */
enum amp_pair {
    AMP_PAIR_COMPLEMENT, /* 1 - s and s: a probability */
    AMP_PAIR_MIRROR      /* -s and s: a margin, the only kind that LOGISTIC applies to */
};

/* SCORES[0] is the score of class 1: both to SCORES, transformed. */
void amp_scores_pair(enum amp_pair pair, enum amp_transform transform, double *scores);

/* The index of the greatest of N scores, the first of equal ones. */
int64_t amp_scores_top(const double *scores, int64_t n);

double amp_logistic(double x);

#endif
