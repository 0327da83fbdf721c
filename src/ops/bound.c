/*
 * Bounds that operators share: takes a node, intervals of its inputs and constants, gives an
 * interval of its output. Sums over weights read them in blocks. Computes no tensors.
 */
#include "ops/bound.h"

#include "core/arena.h"
#include "core/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096 /* elements of constants that are always looked at */, BLOCK = 1024 };

/* ---- constants ------------------------------------------------------------------------------- */

/* Whether DTYPE is an integer of a byte or more. */
static bool is_integer(enum amp_dtype dtype)
{
    static const uint32_t integers = AMP_DTYPE_BIT(AMP_UINT8) | AMP_DTYPE_BIT(AMP_INT8) |
                                     AMP_DTYPE_BIT(AMP_UINT16) | AMP_DTYPE_BIT(AMP_INT16) |
                                     AMP_DTYPE_BIT(AMP_UINT32) | AMP_DTYPE_BIT(AMP_INT32) |
                                     AMP_DTYPE_BIT(AMP_UINT64) | AMP_DTYPE_BIT(AMP_INT64);
    return (integers & AMP_DTYPE_BIT(dtype)) != 0;
}

static const struct amp_value *input_of(const struct amp_bound_call *call, uint32_t i)
{
    bool is_there = i < call->node->n_inputs && call->node->inputs[i] != AMP_NONE;
    return is_there ? amp_value_at(call->model, call->node->inputs[i]) : NULL;
}

const struct amp_tensor *amp_bound_data(const struct amp_value *value, bool reads_weights)
{
    const struct amp_tensor *tensor = value->constant;
    if (tensor == NULL || amp_tensor_is_list(tensor))
        return NULL;
    if (tensor->data == NULL)
        tensor = tensor->source;
    bool is_number = tensor != NULL && tensor->data != NULL &&
                     (amp_dtype_is_autocast(tensor->dtype) || tensor->dtype == AMP_DOUBLE ||
                      is_integer(tensor->dtype));
    return is_number && (reads_weights || amp_tensor_count(tensor) <= SMALL) ? tensor : NULL;
}

const struct amp_tensor *amp_bound_constant(const struct amp_bound_call *call, uint32_t i)
{
    const struct amp_value *value = input_of(call, i);
    return value == NULL ? NULL : amp_bound_data(value, call->reads_weights);
}

bool amp_bound_number(const struct amp_bound_call *call, uint32_t i, double *number)
{
    const struct amp_tensor *tensor = amp_bound_constant(call, i);
    if (tensor == NULL || amp_tensor_count(tensor) != 1)
        return false;
    *number = amp_tensor_double(tensor, 0);
    return true;
}

/* Gives elements FIRST to FIRST + COUNT - 1 of TENSOR, BLOCK at most, as doubles. */
static void read_block(const struct amp_tensor *tensor, size_t first, size_t count, double *items)
{
    float singles[BLOCK];
    size_t width = amp_dtype_bits(tensor->dtype) / 8;
    if (!amp_dtype_is_autocast(tensor->dtype)) {
        for (size_t i = 0; i < count; i++)
            items[i] = amp_tensor_double(tensor, first + i);
        return;
    }
    amp_dtype_convert(tensor->dtype, (const unsigned char *)tensor->data + first * width, AMP_FLOAT,
                      singles, count);
    for (size_t i = 0; i < count; i++)
        items[i] = (double)singles[i];
}

struct amp_interval amp_bound_elements(const struct amp_tensor *constant)
{
    double items[BLOCK];
    struct amp_interval all = {INFINITY, -INFINITY};
    size_t count = amp_tensor_count(constant);
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        read_block(constant, i, n, items);
        for (size_t k = 0; k < n; k++)
            all = amp_interval_union(all, amp_interval_of(items[k]));
    }
    return all.low <= all.high ? all : amp_interval_all();
}

/* Sums of magnitudes by channel while elements are read in their order. */
struct norms {
    double *sums;
    int64_t channels, inner; /* elements of a channel that lie together */
    int64_t at, left;        /* the channel of the next element, and how many are of it */
};

/* Adds the COUNT magnitudes that lie together at ITEMS, of channel NORMS->at, or of it and those
   behind it. */
static void add_run(struct norms *norms, const double *items, int64_t count)
{
    double sum = 0;
    if (norms->inner == 1) {
        for (int64_t k = 0; k < count; k++)
            norms->sums[norms->at + k] += fabs(items[k]);
        norms->at = (norms->at + count) % norms->channels;
        return;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < count; k++)
        sum += fabs(items[k]);
    norms->sums[norms->at] += sum;
    norms->left -= count;
    if (norms->left == 0) {
        norms->left = norms->inner;
        norms->at = (norms->at + 1) % norms->channels;
    }
}

static void add_block(struct norms *norms, const double *items, int64_t count)
{
    for (int64_t k = 0; k < count;) {
        int64_t room = norms->inner == 1 ? norms->channels - norms->at : norms->left;
        int64_t run = room < count - k ? room : count - k;
        add_run(norms, items + k, run);
        k += run;
    }
}

/* The largest, over channels, sum of magnitudes of WEIGHTS, whose dim CHANNEL they are; without
   those with a NaN, of which results are NaN. */
static double largest_norm(const struct amp_tensor *weights, int channel)
{
    double items[BLOCK], largest = 0;
    size_t count = amp_tensor_count(weights);
    struct norms norms = {.channels = weights->shape.dims[channel],
                          .inner =
                              amp_shape_product(&weights->shape, channel + 1, weights->shape.rank)};
    norms.left = norms.inner;
    norms.sums = amp_xcalloc((size_t)norms.channels, sizeof *norms.sums);
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t n = count - i < BLOCK ? count - i : BLOCK;
        read_block(weights, i, n, items);
        add_block(&norms, items, (int64_t)n);
    }
    for (int64_t c = 0; c < norms.channels; c++)
        largest = fmax(largest, norms.sums[c]);
    free(norms.sums);
    return largest;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

int64_t amp_bound_dim(const struct amp_bound_call *call, uint32_t i, int d)
{
    const struct amp_value *value = input_of(call, i);
    int at = value == NULL ? -1 : d < 0 ? value->rank + d : d;
    return at < 0 || at >= value->rank || value->dims[at] < 0 ? 0 : value->dims[at];
}

/* Takes DIM, known or a symbol, out of the *COUNT dims at DIMS; false where it is not there. */
static bool take(int64_t dim, int64_t *dims, int *count)
{
    for (int d = 0; d < *count; d++) {
        if (dims[d] != dim)
            continue;
        dims[d] = dims[--*count];
        return true;
    }
    return false;
}

int64_t amp_bound_reduced(const struct amp_bound_call *call)
{
    const struct amp_value *in = input_of(call, 0);
    const struct amp_value *out = amp_value_at(call->model, call->node->outputs[0]);
    struct amp_shape to;
    int64_t reduced = 1;
    if (in == NULL || in->rank < 0 || out->rank < 0)
        return -1;
    amp_value_shape(out, &to);
    for (int d = 0; d < in->rank; d++) {
        if (in->dims[d] == AMP_DIM_UNKNOWN)
            return -1;
        if (take(in->dims[d], to.dims, &to.rank))
            continue;
        if (in->dims[d] < 0 || __builtin_mul_overflow(reduced, in->dims[d], &reduced))
            return -1;
    }
    for (int d = 0; d < to.rank; d++)
        if (to.dims[d] != 1)
            return -1;
    return reduced;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

bool amp_bound_same(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = call->in[0];
    return true;
}

bool amp_bound_padded(const struct amp_bound_call *call, struct amp_interval *out)
{
    *out = amp_interval_union(call->in[0], amp_interval_of(0));
    return true;
}

bool amp_bound_unit(const struct amp_bound_call *call, struct amp_interval *out)
{
    (void)call;
    *out = (struct amp_interval){0, 1};
    return true;
}

bool amp_bound_sign(const struct amp_bound_call *call, struct amp_interval *out)
{
    (void)call;
    *out = amp_interval_around(1);
    return true;
}

/* The dim of the weights, of rank RANK, whose sums of magnitudes bound the product; -1: there is no
   such dim. */
static int channel_dim(const struct amp_node *node, const struct amp_linear *linear, int rank)
{
    bool flips = linear->flip != NULL && amp_node_int(node, linear->flip, 0) != 0;
    bool is_matrix = !linear->is_last || rank == 2;
    return rank >= 2 && is_matrix ? (flips ? 1 - linear->channel : linear->channel) : -1;
}

/* The most that the products of input 0's row or window of magnitudes up to LARGEST, which is
   finite, come to. */
static double product_most(const struct amp_bound_call *call, const struct amp_linear *linear,
                           double largest)
{
    const struct amp_tensor *weights = amp_bound_constant(call, 1);
    int channel = weights == NULL ? -1 : channel_dim(call->node, linear, weights->shape.rank);
    if (largest == 0)
        return 0;
    if (channel >= 0) {
        double loose = largest * input_of(call, 1)->constant_max *
                       (double)amp_tensor_count(weights) / (double)weights->shape.dims[channel];
        return loose >= 0 && loose <= call->enough ? loose
                                                   : largest * largest_norm(weights, channel);
    }
    int64_t depth = linear->is_last ? amp_bound_dim(call, 0, -1) : 0;
    return depth > 0 ? largest * amp_interval_largest(call->in[1]) * (double)depth : INFINITY;
}

/* The elements of a sum of products, or more. */
static int64_t depth_of(const struct amp_bound_call *call)
{
    const struct amp_value *weights = input_of(call, 1);
    struct amp_shape shape;
    if (weights == NULL)
        return 1 << 20;
    amp_value_shape(weights, &shape);
    int64_t count = amp_shape_count(&shape);
    return count > 0 && count < 1 << 20 ? count : 1 << 20;
}

bool amp_bound_product(const struct amp_bound_call *call, struct amp_interval *out)
{
    const struct amp_linear *linear = amp_op_of(call->node)->linear;
    double alpha = linear->alpha ? (double)amp_node_float(call->node, linear->alpha, 1) : 1;
    double beta = linear->beta ? (double)amp_node_float(call->node, linear->beta, 1) : 1;
    bool adds = linear->has_added && call->node->n_inputs > 2 && call->node->inputs[2] != AMP_NONE;
    double added = adds ? fabs(beta) * amp_interval_largest(call->in[2]) : 0;
    if (!isfinite(added) || !isfinite(amp_interval_largest(call->in[0])))
        return false;
    double most = product_most(call, linear, amp_interval_largest(call->in[0]));
    most += most * (double)depth_of(call) * AMP_BOUND_ROUNDING;
    *out = amp_interval_around(fabs(alpha) * most + added);
    return !isnan(out->high);
}

bool amp_bound_normalized(const struct amp_bound_call *call, int64_t count, uint32_t scale,
                          uint32_t bias, struct amp_interval *out)
{
    bool has_scale = input_of(call, scale) != NULL, has_bias = input_of(call, bias) != NULL;
    if (count <= 0)
        return false;
    *out = amp_interval_around(sqrt((double)count));
    if (has_scale)
        *out = amp_interval_mul(*out, call->in[scale]);
    if (has_bias)
        *out = amp_interval_add(*out, call->in[bias]);
    return amp_interval_is_bounded(*out);
}

/* ---- inner values ---------------------------------------------------------------------------- */

double amp_inner_sum(const struct amp_inner_call *call)
{
    double count = call->out->count > 0 ? (double)call->in[0]->count / (double)call->out->count : 0;
    return count * amp_range_largest(call->out);
}

double amp_inner_square(const struct amp_inner_call *call)
{
    double largest = amp_range_largest(call->out);
    return largest * largest;
}

double amp_inner_magnitude(const struct amp_inner_call *call)
{
    double largest = amp_range_largest(call->in[0]);
    return largest * largest;
}

/* The mean lies between the ends, near 0 where they lie on both sides. */
double amp_inner_deviation(const struct amp_inner_call *call)
{
    double spread = call->in[0]->maximum - call->in[0]->minimum;
    double largest = fmin(amp_range_largest(call->in[0]), spread);
    return largest * largest;
}
