#ifndef AMP_CHECK_LAYERS_H
#define AMP_CHECK_LAYERS_H

#include "check/pairs.h"
#include "check/validate.h"
#include "core/number/range.h"

/* The largest error of a value. An element that is not finite in one of the models alone has an
   infinite error, and the first such is it. */
struct amp_layer_error {
    double error;     /* |converted - reference|, in the units of the value; 0: there is none */
    uint64_t index;   /* of the element, row-major, in a tensor of amp_layer.shape */
    size_t sample;    /* from 0 */
    double values[2]; /* of the two models */
};

/* One value that the models have in common, over all samples. Index 0: reference, 1: converted. The
   names and ids are those of the models that amp_layers_begin got. */
struct amp_layer {
    const char *names[2];
    const char *node_names[2];    /* "": unnamed */
    const char *op_type;          /* of the converted model's node */
    uint32_t values[2], nodes[2]; /* the values, and the nodes that compute them */
    enum amp_pairing_kind pairing;
    enum amp_dtype dtype[2]; /* AMP_UNDEFINED: nothing was measured */
    struct amp_shape shape;  /* of the last sample */
    bool is_output;          /* of the reference's graph */
    /* What the value holds when both models run from the inputs, and when the converted node gets
       the reference's values, cast to the dtypes that it reads. LOCAL is of nothing unless
       HAS_LOCAL: a node that draws random numbers does not run twice. */
    struct amp_metrics accumulated, local;
    bool has_local;
    struct amp_layer_error worst; /* of what is accumulated */
    struct amp_range range[2];
    double error;     /* amp_layers_relative_error of what is accumulated */
    double before;    /* the largest of those of the values that the node reads */
    char reason[128]; /* why the values, or the local one, cannot be compared; "": they can */
};

/* The values that two models have in common. */
struct amp_layers {
    struct amp_layer *items; /* in the order of the reference's graph */
    size_t count;
    size_t n_paired[AMP_PAIRING_KINDS]; /* of the items */
    size_t n_unpaired[2]; /* values of each model that nodes compute and the other has not, without
                             those that are a cast of another */
    /* Indices into ITEMS; SIZE_MAX: there is none. NaN and infinities are those that the reference
       has not; the jump is that of ERROR over BEFORE. */
    size_t first_nan, first_overflow, largest_jump;
    size_t n_samples;
    struct amp_layers_work *work; /* private to layers.c */
};

/*
 * Pairs the values of two models whose types are inferred, which stay while LAYERS is used, and
 * makes *LAYERS one item for each pair, nothing measured yet.
 */
void amp_layers_begin(const struct amp_model *reference, const struct amp_model *converted,
                      struct amp_layers *layers);

/*
 * Runs both models for amp_validate (amp_validate_options.runner) and measures the values of LAYERS
 * on the way: the models run side by side, a value is held until the other model has its own, and
 * each node of the converted model runs once more on the reference's values. Fails as
 * amp_session_run does, and with AMP_MODEL where the models have no value in common that nodes of
 * both compute.
 */
struct amp_pair_runner amp_layers_runner(struct amp_layers *layers);

/* The error that METRICS have seen, relative to the value: sqrt(sum((c - r)^2) / sum(r^2));
   infinite where no element is finite in both, or r is 0 and c not. Of integers, bools and strings
   the fraction of elements that differ. */
double amp_layers_relative_error(const struct amp_metrics *metrics);

/* The signal to noise, in dB, of a relative ERROR that is neither 0 nor infinite; never -0. */
double amp_layers_decibels(double error);

/* Sets what is known after the last sample: errors, first_nan, first_overflow, largest_jump. */
void amp_layers_end(struct amp_layers *layers);

/* The orders in which layers are looked at. */
enum amp_layers_order { AMP_LAYERS_BY_GRAPH, AMP_LAYERS_BY_LOCAL, AMP_LAYERS_BY_ACCUMULATED };

/* The indices of all items of LAYERS in ORDER, the worst first where that is by an error, equals in
   the order of the graph: to be freed. */
size_t *amp_layers_sort(const struct amp_layers *layers, enum amp_layers_order order);

/* Frees what LAYERS hold; zeroed ones are fine. */
void amp_layers_free(struct amp_layers *layers);

#endif
