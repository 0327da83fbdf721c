/*
 * How far apart two tensors are. Takes the reference's tensor and the converted model's, sample by
 * sample, adds up counts and sums over their elements, and gives the metrics of the table below.
 * Elements that are not finite stay out of the sums and are counted: one is equal to its like (NaN
 * to NaN, an infinity to the same one); where only one side has it, nothing is within tolerance.
 */
#include "check/metrics.h"

#include "check/class_scores.h"
#include "check/elements.h"
#include "core/arena.h"
#include "core/array.h"
#include "core/convert.h"
#include "core/simd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BLOCK = 512,          /* elements that are read at a time */
    CHUNK = 32 * BLOCK,   /* elements that one thread adds up */
    N_CHUNKS_PARALLEL = 4 /* fewer are not worth a team of threads */
};

/* What is added up over the elements that are finite in both; r and c are those of the two. */
enum sum {
    MAX_ABS,       /* max |c - r| */
    SUM_ABS,       /* |c - r| */
    MAX_REL,       /* max |c - r| / |r| where r is not 0 */
    SQUARED_ERROR, /* (c - r)^2 */
    SQUARED_R,     /* r^2 */
    SQUARED_C,     /* c^2 */
    PRODUCT,       /* r c */
    N_SUMS
};

_Static_assert((int)N_SUMS <= (int)AMP_METRICS_SUMS_MAX,
               "struct amp_metrics has room for all sums");

/* ---- values ---------------------------------------------------------------------------------- */

static bool has_finite(const struct amp_metrics *m)
{
    return m->finite > 0;
}

static bool has_rows(const struct amp_metrics *m)
{
    return m->rows > 0;
}

static bool has_no_floats(const struct amp_metrics *m)
{
    return !m->is_float && m->count > 0;
}

static double max_abs(const struct amp_metrics *m)
{
    return m->sums[MAX_ABS];
}

static double mean_abs(const struct amp_metrics *m)
{
    return m->sums[SUM_ABS] / (double)m->finite;
}

static double max_rel(const struct amp_metrics *m)
{
    return m->sums[MAX_REL];
}

static double rmse(const struct amp_metrics *m)
{
    return sqrt(m->sums[SQUARED_ERROR] / (double)m->finite);
}

static double cosine(const struct amp_metrics *m)
{
    double scale = sqrt(m->sums[SQUARED_R]) * sqrt(m->sums[SQUARED_C]);
    if (m->sums[SQUARED_ERROR] == 0)
        return 1;
    return scale == 0 ? 0 : fmin(1, fmax(-1, m->sums[PRODUCT] / scale));
}

static double snr(const struct amp_metrics *m)
{
    if (m->sums[SQUARED_ERROR] == 0)
        return INFINITY;
    return 10 * log10(m->sums[SQUARED_R] / m->sums[SQUARED_ERROR]);
}

static double top1(const struct amp_metrics *m)
{
    return (double)m->agreed / (double)m->rows;
}

static bool has_choices(const struct amp_metrics *m)
{
    return has_no_floats(m) || m->selected > 0;
}

static double differ(const struct amp_metrics *m)
{
    double elements = has_no_floats(m) ? (double)m->different / (double)m->count : 0;
    return fmax(elements, m->selected > 0 ? (double)m->otherwise / (double)m->selected : 0);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
#define NO_BOUNDS {NAN, NAN, NAN}
/* clang-format on */

/*
 * A rounding to bfloat16 (8 significand bits) is 56 dB below the value at the root mean square, one
 * to float16 (11 bits) 74 dB, one to float32 (24 bits) 152 dB; a hundred layers add some 20 dB of
 * noise. The bounds leave 15 dB more, and are far above what unrelated outputs have: 0 dB and less.
 * Float32 against float32 is the same computation written otherwise: long sums in another order may
 * cost some more there, but what is no float must be the same.
 *
 * The comment on a row defines the metric; the manual is made of it (man/metrics.awk).
 */
static const struct amp_metric metrics_table[] = {
    /* The greatest |c - r|. */
    {.name = "max_abs",
     .unit = "",
     .is_defined = has_finite,
     .value = max_abs,
     .bounds = NO_BOUNDS,
     .text = {.place = 2, .label = "max abs error", .digits = 2, .is_brief = true}},
    /* The mean of |c - r|. */
    {.name = "mean_abs",
     .unit = "",
     .is_defined = has_finite,
     .value = mean_abs,
     .bounds = NO_BOUNDS,
     .text = {.place = 3, .label = "mean", .digits = 2}},
    /* The greatest |c - r| / |r| where r is not 0. */
    {.name = "max_rel",
     .unit = "",
     .is_defined = has_finite,
     .value = max_rel,
     .bounds = NO_BOUNDS,
     .text = {.place = 5, .label = "max rel error", .digits = 2}},
    /* The square root of the mean of (c - r)^2. */
    {.name = "rmse",
     .unit = "",
     .is_defined = has_finite,
     .value = rmse,
     .bounds = NO_BOUNDS,
     .text = {.place = 4, .label = "rmse", .digits = 2}},
    /* The cosine of the angle between c and r: sum(c r) / sqrt(sum(c^2) sum(r^2)); 1 when all
       elements are equal, 0 when only one side is all zero. */
    {.name = "cosine",
     .unit = "",
     .is_minimum = true,
     .is_defined = has_finite,
     .value = cosine,
     .bounds = {.bf16 = 0.99, .fp16 = 0.999, .fp32 = 0.9999},
     .text = {.place = 1, .label = "cosine", .digits = 5, .is_brief = true}},
    /* The signal to noise in dB: 10 log10(sum(r^2) / sum((c - r)^2)); infinite when all elements
       are equal. */
    {.name = "snr",
     .unit = " dB",
     .is_minimum = true,
     .is_defined = has_finite,
     .value = snr,
     .bounds = {.bf16 = 20, .fp16 = 35, .fp32 = 100},
     .text = {.place = 0, .label = "snr", .digits = 3, .is_brief = true}},
    /* The fraction of rows in which c has its greatest element where r has it (ties of r count for
       it), of outputs that are class scores. */
    {.name = "top1",
     .unit = "",
     .is_minimum = true,
     .is_of_scores = true,
     .is_defined = has_rows,
     .value = top1,
     .bounds = NO_BOUNDS,
     .text = {.place = 6, .label = "top-1", .digits = 4, .is_percent = true, .is_brief = true}},
    /* The fraction of elements that are not equal, of outputs that are not of a float type; of
       outputs for which the two models select otherwise, the fraction of the larger selection that
       the other has not, if that is more. */
    {.name = "differ",
     .unit = "",
     .is_defined = has_choices,
     .value = differ,
     .bounds = {.bf16 = 0.1, .fp16 = 0.05, .fp32 = 0},
     .text = {.place = 7,
              .label = "elements that differ",
              .selected = "selected otherwise",
              .digits = 3,
              .is_percent = true,
              .is_brief = true}},
};

_Static_assert(AMP_COUNT(metrics_table) <= AMP_METRICS_MAX, "bounds have room for all metrics");

const struct amp_metric *amp_metric_at(size_t i)
{
    return i < AMP_COUNT(metrics_table) ? &metrics_table[i] : NULL;
}

const struct amp_metric *amp_metric_shown_at(size_t i)
{
    for (size_t row = 0; row < AMP_COUNT(metrics_table); row++)
        if ((size_t)metrics_table[row].text.place == i)
            return &metrics_table[row];
    return NULL;
}

const char *amp_metric_name_at(size_t i)
{
    return i < AMP_COUNT(metrics_table) ? metrics_table[i].name : NULL;
}

char *amp_metric_names(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < AMP_COUNT(metrics_table) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 metrics_table[i].name);
    return text;
}

bool amp_metric_value(const struct amp_metric *metric, const struct amp_metrics *metrics,
                      double *value)
{
    if (!metric->is_defined(metrics))
        return false;
    *value = metric->value(metrics);
    return true;
}

double amp_metrics_quality(const struct amp_metrics *metrics)
{
    if (has_finite(metrics))
        return snr(metrics);
    return has_no_floats(metrics) && metrics->different > 0 ? 0 : INFINITY;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_classes(struct amp_metrics *metrics, const struct amp_tensor *reference,
                        const struct amp_tensor *converted)
{
    struct amp_class_scores scores;
    if (!metrics->are_scores || !amp_class_scores_view(reference, &scores))
        return;
    metrics->rows += scores.rows;
    for (size_t row = 0; row < scores.rows; row++)
        metrics->agreed += amp_class_scores_agree(reference, converted, &scores, row);
}

/* The first COUNT elements from FIRST of TENSOR, of a float type. */
static void read_elements(const struct amp_tensor *tensor, size_t first, size_t count,
                          double *elements)
{
    float singles[BLOCK];
    size_t width = amp_dtype_bits(tensor->dtype) / 8;
    if (!amp_dtype_is_autocast(tensor->dtype)) {
        for (size_t i = 0; i < count; i++)
            elements[i] = amp_tensor_double(tensor, first + i);
        return;
    }
    amp_dtype_convert(tensor->dtype, (const unsigned char *)tensor->data + first * width, AMP_FLOAT,
                      singles, count);
    AMP_SIMD
    for (size_t i = 0; i < count; i++)
        elements[i] = (double)singles[i];
}

/* The largest |c - r| / |r| of COUNT elements, which are finite. */
AMP_CLONES(double, largest_ratio, (const double *r, const double *c, size_t count), (r, c, count))
{
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < count; i++) {
        double ratio = r[i] != 0 ? fabs(c[i] - r[i]) / fabs(r[i]) : 0;
        largest = ratio > largest ? ratio : largest;
    }
    return largest;
}

/* Adds COUNT elements to SUMS and the number of those that are equal to *EQUAL, unless some are not
   finite: returns false then. Few blocks have a larger ratio than those before, so that most need
   no division. */
AMP_CLONES(bool, add_finite,
           (double *sums, double *equal, const double *r, const double *c, size_t count),
           (sums, equal, r, c, count))
{
    double max_abs = 0, sum_abs = 0, error = 0, squared_r = 0, squared_c = 0, product = 0;
    double same = 0, excess = 0, probe = 0, limit = sums[MAX_REL];
#pragma omp simd reduction(+ : sum_abs, error, squared_r, squared_c, product, same, probe) \
    reduction(max : max_abs, excess)
    for (size_t i = 0; i < count; i++) {
        double a = r[i], b = c[i], d = fabs(b - a);
        double over = a != 0 ? d - limit * fabs(a) : 0;
        probe += (a - a) + (b - b);
        same += d == 0 ? 1 : 0;
        excess = over > excess ? over : excess;
        max_abs = d > max_abs ? d : max_abs;
        sum_abs += d;
        error += d * d;
        squared_r += a * a;
        squared_c += b * b;
        product += a * b;
    }
    if (probe != 0)
        return false;
    *equal += same;
    sums[MAX_ABS] = fmax(sums[MAX_ABS], max_abs);
    if (excess > 0)
        sums[MAX_REL] = fmax(limit, largest_ratio(r, c, count));
    sums[SUM_ABS] += sum_abs;
    sums[SQUARED_ERROR] += error;
    sums[SQUARED_R] += squared_r;
    sums[SQUARED_C] += squared_c;
    sums[PRODUCT] += product;
    return true;
}

static void add_not_finite(struct amp_metrics *metrics, double r, double c)
{
    bool is_equal = r == c || (isnan(r) && isnan(c));
    metrics->nan[0] += isnan(r);
    metrics->nan[1] += isnan(c);
    metrics->inf[0] += isinf(r) != 0;
    metrics->inf[1] += isinf(c) != 0;
    metrics->stray += !is_equal;
    metrics->different += !is_equal;
}

/* Adds COUNT elements, those that are not finite one by one. */
static void tally(struct amp_metrics *metrics, const double *r, const double *c, size_t count)
{
    double finite_r[BLOCK], finite_c[BLOCK], equal = 0;
    size_t n = count;
    if (!add_finite(metrics->sums, &equal, r, c, count)) {
        n = 0;
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(r[i]) || !isfinite(c[i])) {
                add_not_finite(metrics, r[i], c[i]);
                continue;
            }
            finite_r[n] = r[i];
            finite_c[n++] = c[i];
        }
        add_finite(metrics->sums, &equal, finite_r, finite_c, n);
    }
    metrics->finite += n;
    metrics->different += n - (uint64_t)equal;
}

static double error_of(double r, double c)
{
    if (r == c || (isnan(r) && isnan(c)))
        return 0;
    return isfinite(r) && isfinite(c) ? fabs(c - r) : INFINITY;
}

/* Notes the first of COUNT elements, FIRST of which are before, whose error is the largest. */
static void note_worst(struct amp_worst_element *worst, const double *r, const double *c,
                       size_t count, uint64_t first)
{
    for (size_t i = 0; i < count && worst->error < INFINITY; i++) {
        double error = error_of(r[i], c[i]);
        if (error > worst->error)
            *worst = (struct amp_worst_element){error, first + i, {r[i], c[i]}};
    }
}

static void merge(struct amp_metrics *to, const struct amp_metrics *from)
{
    to->finite += from->finite;
    to->different += from->different;
    to->stray += from->stray;
    for (int i = 0; i < 2; i++) {
        to->nan[i] += from->nan[i];
        to->inf[i] += from->inf[i];
    }
    for (int i = 0; i < N_SUMS; i++)
        to->sums[i] = i == MAX_ABS || i == MAX_REL ? fmax(to->sums[i], from->sums[i])
                                                   : to->sums[i] + from->sums[i];
    if (from->worst.error > to->worst.error)
        to->worst = from->worst;
}

/* What elements FIRST to FIRST + COUNT - 1 add. */
static struct amp_metrics tally_part(const struct amp_tensor *reference,
                                     const struct amp_tensor *converted, size_t first, size_t count)
{
    double r[BLOCK], c[BLOCK];
    struct amp_metrics part = {.count = 0};
    for (size_t i = first; i < first + count; i += BLOCK) {
        size_t n = first + count - i < BLOCK ? first + count - i : BLOCK;
        read_elements(reference, i, n, r);
        read_elements(converted, i, n, c);
        tally(&part, r, c, n);
        if (part.stray > 0 || part.sums[MAX_ABS] > part.worst.error)
            note_worst(&part.worst, r, c, n, i);
    }
    return part;
}

static void add_floats(struct amp_metrics *metrics, const struct amp_tensor *reference,
                       const struct amp_tensor *converted)
{
    size_t count;
    struct amp_tensor r = amp_elements_real(reference, &count),
                      c = amp_elements_real(converted, &count);
    size_t n_chunks = (count + CHUNK - 1) / CHUNK;
    struct amp_metrics *parts = amp_xcalloc(n_chunks, sizeof *parts);
#pragma omp parallel for if (n_chunks >= N_CHUNKS_PARALLEL)
    for (size_t i = 0; i < n_chunks; i++)
        parts[i] =
            tally_part(&r, &c, i * CHUNK, count - i * CHUNK < CHUNK ? count - i * CHUNK : CHUNK);
    for (size_t i = 0; i < n_chunks; i++) {
        parts[i].worst.index += metrics->count;
        merge(metrics, &parts[i]);
    }
    free(parts);
    metrics->is_float = true;
    metrics->count += count;
    add_classes(metrics, reference, converted);
}

static void add_strings(struct amp_metrics *metrics, const struct amp_tensor *reference,
                        const struct amp_tensor *converted)
{
    size_t count = amp_tensor_count(reference);
    metrics->count += count;
    for (size_t i = 0; i < count; i++)
        metrics->different += !amp_elements_equal_strings(reference, converted, i);
}

static void add_integers(struct amp_metrics *metrics, const struct amp_tensor *reference,
                         const struct amp_tensor *converted)
{
    size_t count = amp_tensor_count(reference);
    for (size_t i = 0; i < count; i++) {
        if (amp_tensor_int(reference, i) == amp_tensor_int(converted, i))
            continue;
        double r = amp_tensor_double(reference, i), c = amp_tensor_double(converted, i);
        metrics->different++;
        note_worst(&metrics->worst, &r, &c, 1, metrics->count + i);
    }
    metrics->count += count;
}

/* Adds the elements of two lists of one length, tensor by tensor. */
static enum amp_status add_lists(struct amp_metrics *metrics, const struct amp_tensor *reference,
                                 const struct amp_tensor *converted, struct amp_error *err)
{
    bool are_lists = amp_tensor_is_list(reference) && amp_tensor_is_list(converted);
    if (!are_lists || amp_tensor_count(reference) != amp_tensor_count(converted))
        return amp_fail(err, AMP_MISMATCH,
                        "the reference and the converted model give lists of "
                        "different lengths, or only one gives a list");
    for (size_t i = 0; i < amp_tensor_count(reference); i++)
        AMP_TRY(amp_metrics_add(metrics, &amp_list_items(reference)[i],
                                &amp_list_items(converted)[i], err));
    return AMP_OK;
}

enum amp_status amp_metrics_add(struct amp_metrics *metrics, const struct amp_tensor *reference,
                                const struct amp_tensor *converted, struct amp_error *err)
{
    char a[256], b[256];
    if (amp_tensor_is_list(reference) || amp_tensor_is_list(converted))
        return add_lists(metrics, reference, converted, err);
    enum amp_dtype_class class = amp_dtype_class(reference->dtype);
    bool is_float = class == AMP_CLASS_FLOAT || class == AMP_CLASS_COMPLEX;
    if (class != amp_dtype_class(converted->dtype) ||
        (!is_float && reference->dtype != converted->dtype))
        return amp_fail(err, AMP_MISMATCH, "the reference gives %s, the converted model %s",
                        amp_dtype_name(reference->dtype), amp_dtype_name(converted->dtype));
    if (!amp_shape_equal(&reference->shape, &converted->shape))
        return amp_fail(err, AMP_MISMATCH, "the reference gives shape %s, the converted model %s",
                        amp_shape_text(&reference->shape, a, sizeof a),
                        amp_shape_text(&converted->shape, b, sizeof b));
    if (is_float)
        add_floats(metrics, reference, converted);
    else if (reference->dtype == AMP_STRING)
        add_strings(metrics, reference, converted);
    else
        add_integers(metrics, reference, converted);
    return AMP_OK;
}
