/*
 * The noise of a conversion by source, as text and as JSON. Takes what check/noise.c has found;
 * sorts and names, computes nothing but shares and decibels.
 */
#include "cli/report/noise.h"

#include "cli/report/json.h"
#include "core/memory.h"
#include "core/print.h"

#include <math.h>
#include <stdlib.h>

/* The sources that text names. */
enum { NAMED_MAX = 20 };

static const char *const kind_names[] = {[AMP_NOISE_WEIGHT] = "weight",
                                         [AMP_NOISE_VALUE] = "value",
                                         [AMP_NOISE_CAST] = "cast",
                                         [AMP_NOISE_BODIES] = "bodies"};

/* The sources of a group: they are next to each other. */
struct span {
    const struct amp_noise_source *first;
    size_t count;
    double power;
};

static int compare(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    bool is_left_lost = left->first->n_lost > 0, is_right_lost = right->first->n_lost > 0;
    if (is_left_lost != is_right_lost)
        return is_left_lost ? -1 : 1;
    if (left->power != right->power)
        return left->power > right->power ? -1 : 1;
    return left->first->group < right->first->group ? -1 : 1;
}

/* The groups, those first that add most: to be freed. */
static struct span *sorted(const struct amp_noise *noise)
{
    struct span *spans = amp_xcalloc(noise->n_groups + 1, sizeof *spans);
    for (size_t s = 0; s < noise->n_sources; s++) {
        struct span *span = &spans[noise->sources[s].group];
        span->first = span->count == 0 ? &noise->sources[s] : span->first;
        span->power += noise->sources[s].power;
        span->count++;
    }
    qsort(spans, noise->n_groups, sizeof *spans, compare);
    return spans;
}

static double decibels(double power)
{
    return power > 0 ? -10 * log10(power) : INFINITY;
}

static double share(const struct amp_noise *noise, double power)
{
    return noise->predicted > 0 ? power / noise->predicted : 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_source(FILE *file, const struct amp_noise_source *source)
{
    amp_print(file, "%s '%s' %s, %s", kind_names[source->kind], source->name,
              amp_dtype_name(source->dtype), source->node[0] != '\0' ? source->node : "an input");
}

/* "1 element", "2 elements" */
static void print_elements(FILE *file, uint64_t count)
{
    amp_print(file, "%llu element%s", (unsigned long long)count, count == 1 ? "" : "s");
}

static void print_span(FILE *file, const struct amp_noise *noise, const struct span *span)
{
    if (span->first->n_lost > 0) {
        amp_print(file, "    makes ");
        print_elements(file, span->first->n_lost);
        amp_print(file, " NaN or infinite  ");
    } else {
        amp_print(file, "    %5.1f %%  %6.1f dB  ", 100 * share(noise, span->power),
                  decibels(span->power));
    }
    if (span->count > 1)
        amp_print(file, "%zu sources: ", span->count);
    print_source(file, span->first);
    if (span->count > 1) {
        amp_print(file, " to ");
        print_source(file, &span->first[span->count - 1]);
    }
    fputc('\n', file);
}

static void print_sum(FILE *file, const struct amp_noise *noise)
{
    double difference = amp_noise_difference(noise);
    amp_print(file, "noise: snr %.1f dB predicted by the sum over %zu source%s",
              decibels(noise->predicted), noise->n_sources, noise->n_sources == 1 ? "" : "s");
    if (noise->n_lost == 0)
        amp_print(file, ", %.1f dB measured", decibels(noise->measured));
    if (!isnan(difference))
        amp_print(file, ": the sum is %.1f dB too %s", fabs(difference),
                  difference < 0 ? "low" : "high");
    if (!isnan(difference) && !isnan(noise->chance))
        amp_print(file, ", where chance makes %.1f dB", noise->chance);
    fputc('\n', file);
    amp_print(file, "    probed on %zu of %zu sample%s in %zu group%s, for %.1f plain runs",
              noise->n_probed, noise->n_samples, noise->n_samples == 1 ? "" : "s", noise->n_groups,
              noise->n_groups == 1 ? "" : "s", noise->plain_runs);
    if (noise->n_lost == 0)
        amp_print(file, "; all rounded at once there: %.1f dB", decibels(noise->joint));
    fputc('\n', file);
}

/* What is in none of the sums. */
static void print_left_out(FILE *file, const struct amp_noise *noise)
{
    if (noise->n_lost > 0) {
        amp_print(file, "    the converted model makes ");
        print_elements(file, noise->n_lost);
        amp_print(file, " NaN or infinite\n");
    }
    if (noise->n_nonfinite > 0) {
        amp_print(file, "    left out: ");
        print_elements(file, noise->n_nonfinite);
        amp_print(file, " that the reference makes NaN or infinite\n");
    }
    if (noise->n_selected > 0)
        amp_print(
            file,
            "    behind selections: %zu output%s, in whose place stands what is selected from\n",
            noise->n_selected, noise->n_selected == 1 ? "" : "s");
    if (noise->n_counted < noise->n_outputs)
        amp_print(file, "    left out: %zu of %zu outputs, without energy: no floats, or all 0\n",
                  noise->n_outputs - noise->n_counted, noise->n_outputs);
}

static void print_rest(FILE *file, const struct amp_noise *noise, const struct span *spans)
{
    double rest = 0;
    for (size_t g = NAMED_MAX; g < noise->n_groups; g++)
        rest += spans[g].power;
    amp_print(file, "    %5.1f %%  %6.1f dB  the other %zu\n", 100 * share(noise, rest),
              decibels(rest), noise->n_groups - NAMED_MAX);
}

void amp_report_noise(FILE *file, const struct amp_noise *noise)
{
    struct span *spans = sorted(noise);
    if (noise->n_sources == 0)
        amp_print(file, "noise: nothing is rounded\n");
    else
        print_sum(file, noise);
    print_left_out(file, noise);
    for (size_t g = 0; g < noise->n_groups && g < NAMED_MAX; g++)
        print_span(file, noise, &spans[g]);
    if (noise->n_groups > NAMED_MAX)
        print_rest(file, noise, spans);
    free(spans);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_source(const struct amp_noise *noise, const struct amp_noise_source *source)
{
    json_t *object = json_object();
    amp_json_set(object, "kind", json_string(kind_names[source->kind]));
    amp_json_set(object, "name", amp_json_text(source->name));
    amp_json_set(object, "node",
                 amp_json_text_or_null(source->node[0] != '\0' ? source->node : NULL));
    amp_json_set(object, "dtype", amp_json_dtype(source->dtype));
    amp_json_set(object, "group", amp_json_count(source->group));
    amp_json_set(object, "power", amp_json_number(source->power));
    amp_json_set(object, "share", amp_json_number(share(noise, source->power)));
    amp_json_set(object, "lost", amp_json_count(source->n_lost));
    return object;
}

json_t *amp_json_noise(const struct amp_noise *noise)
{
    json_t *object = json_object(), *sources = json_array();
    for (size_t s = 0; s < noise->n_sources; s++)
        json_array_append_new(sources, json_source(noise, &noise->sources[s]));
    amp_json_set(object, "predicted", amp_json_number_or_null(noise->predicted));
    amp_json_set(object, "joint", amp_json_number_or_null(noise->joint));
    amp_json_set(object, "measured", amp_json_number_or_null(noise->measured));
    amp_json_set(object, "difference_db", amp_json_number_or_null(amp_noise_difference(noise)));
    amp_json_set(object, "chance_db", amp_json_number_or_null(noise->chance));
    amp_json_set(object, "lost", amp_json_count(noise->n_lost));
    amp_json_set(object, "nonfinite", amp_json_count(noise->n_nonfinite));
    amp_json_set(object, "outputs",
                 amp_json_pair("counted", noise->n_counted, "all", noise->n_outputs));
    amp_json_set(object, "selected", amp_json_count(noise->n_selected));
    amp_json_set(object, "samples",
                 amp_json_pair("probed", noise->n_probed, "all", noise->n_samples));
    amp_json_set(object, "groups", amp_json_count(noise->n_groups));
    amp_json_set(object, "plain_runs", amp_json_number(noise->plain_runs));
    amp_json_set(object, "sources", sources);
    return object;
}
