/*
 * Where to look: what stands out of a comparison by value and of the noise by source, in sentences
 * that name a node. Measures nothing; the numbers are those of the sections below.
 */
#include "cli/report/html/findings.h"

#include "check/layers.h"
#include "check/noise.h"
#include "cli/report/html/layers.h"
#include "cli/report/html/node_precision.h"
#include "cli/report/html/noise.h"
#include "cli/report/html/svg.h"
#include "core/dtype.h"

#include <math.h>
#include <stdio.h>

/* A jump below that is not worth a sentence: errors that add up grow by less. */
static const double JUMP = 3;

/* "node conv1 (Conv)", or the value where the node has no name. */
static void put_node(struct amp_html *html, const struct amp_layer *layer)
{
    char name[AMP_HTML_SHORT];
    bool is_named = layer->node_names[1][0] != '\0';
    amp_html_put(html, "%s <strong><code>%s</code></strong> (%.60s, %s)",
                 is_named ? "node" : "the node that gives",
                 amp_html_short(is_named ? layer->node_names[1] : layer->names[1], 90, name),
                 layer->op_type, amp_html_dtype_text(layer->dtype[1]));
}

/* How the node is kept in float32, where it is not yet. */
static void put_remedy(struct amp_html *html, const struct amp_layer *layer)
{
    const char *name = layer->node_names[1];
    char text[AMP_HTML_SHORT];
    if (name[0] == '\0' || !amp_dtype_is_lower(layer->dtype[1]))
        return;
    amp_html_put(html,
                 " To keep it in float32: <code><span class=\"k\">--node</span> '%s=fp32'</code>.",
                 amp_html_short(name, 110, text));
}

static void put_decibels(struct amp_html *html, double error)
{
    if (error == 0)
        amp_html_put(html, "no error");
    else if (isinf(error))
        amp_html_put(html, "nothing that can be compared");
    else
        amp_html_put(html, "%.1f dB", amp_layers_decibels(error));
}

/* What the first value that is lost has to do with what its dtype holds. */
static void put_reach(struct amp_html *html, const struct amp_layer *layer)
{
    char reach[32], most[32];
    double largest = amp_range_largest(&layer->range[0]);
    if (!amp_dtype_is_lower(layer->dtype[1]))
        return;
    double limit = amp_dtype_max(layer->dtype[1]);
    bool is_beyond = largest > limit;
    amp_html_put(html,
                 " In the reference the value reaches <strong>%s</strong>; the largest %s is "
                 "%s%s.",
                 amp_svg_number(largest, reach), amp_dtype_name(layer->dtype[1]),
                 amp_svg_number(limit, most),
                 is_beyond ? "; nodes that take the value need float32 too"
                           : ", so it is what is computed on the way that is too large");
}

static void put_lost(struct amp_html *html, const struct amp_layers *layers, size_t item,
                     const char *what)
{
    const struct amp_layer *layer = &layers->items[item];
    if (item == SIZE_MAX)
        return;
    amp_html_put(html, "<li>The first %s is given by ", what);
    put_node(html, layer);
    amp_html_put(html, ": %llu NaN and %llu infinite elements of %llu.",
                 (unsigned long long)layer->range[1].nan,
                 (unsigned long long)layer->range[1].infinite,
                 (unsigned long long)layer->range[1].count);
    if (item == layers->first_nan && layers->first_overflow < item) {
        amp_html_put(html, " It comes behind the first infinity, and most likely of it.");
    } else {
        put_reach(html, layer);
        put_remedy(html, layer);
    }
    amp_html_put(html, "</li>\n");
}

/* How many values the lower dtype cannot hold: one node in float32 may not be enough then. */
static void put_beyond(struct amp_html *html, const struct amp_layers *layers)
{
    size_t beyond = 0;
    enum amp_dtype dtype = AMP_UNDEFINED;
    for (size_t i = 0; i < layers->count; i++) {
        const struct amp_layer *layer = &layers->items[i];
        if (!amp_dtype_is_lower(layer->dtype[1]) ||
            amp_range_largest(&layer->range[0]) <= amp_dtype_max(layer->dtype[1]))
            continue;
        dtype = layer->dtype[1];
        beyond++;
    }
    if (beyond > 0)
        amp_html_put(html,
                     "<li>In all, <strong>%zu of %zu values</strong> are larger in the reference "
                     "than %s holds (see Ranges)%s.</li>\n",
                     beyond, layers->count, amp_dtype_name(dtype),
                     dtype == AMP_FLOAT16 ? "; bfloat16 would hold them" : "");
}

static void put_jump(struct amp_html *html, const struct amp_layers *layers)
{
    const struct amp_layer *layer = &layers->items[layers->largest_jump];
    if (layers->largest_jump == SIZE_MAX || isinf(layer->error) ||
        20 * log10(layer->error / layer->before) < JUMP)
        return;
    amp_html_put(html, "<li>The error grows most at ");
    put_node(html, layer);
    amp_html_put(html, ": what it takes has ");
    put_decibels(html, layer->before);
    amp_html_put(html, ", what it gives ");
    put_decibels(html, layer->error);
    amp_html_put(html, ".");
    put_remedy(html, layer);
    amp_html_put(html, "</li>\n");
}

static void put_worst_local(struct amp_html *html, const struct amp_layers *layers)
{
    struct amp_html_mark marks[AMP_HTML_MARKS];
    size_t count = amp_html_layer_marks(layers, marks);
    if (count == 0)
        return;
    const struct amp_layer *layer = &layers->items[marks[count - 1].item];
    double decibels = amp_html_decibels(&layer->local);
    if (!layer->has_local || !isfinite(decibels))
        return;
    amp_html_put(html, "<li>By itself, given the reference's values, ");
    put_node(html, layer);
    amp_html_put(html, " is the least exact: %.1f dB.", decibels);
    if (marks[count - 1].item != layers->largest_jump)
        put_remedy(html, layer);
    amp_html_put(html, "</li>\n");
}

static void put_noise(struct amp_html *html, const struct amp_noise *noise)
{
    char name[AMP_HTML_SHORT], node[AMP_HTML_SHORT];
    size_t largest = noise != NULL ? amp_html_noise_largest(noise) : SIZE_MAX, count = 0;
    double power = 0;
    if (largest == SIZE_MAX)
        return;
    const struct amp_noise_source *source = &noise->sources[largest];
    for (; largest + count < noise->n_sources && source[count].group == source->group; count++)
        power += source[count].power;
    amp_html_put(html, "<li>Of all places where the conversion rounds, ");
    if (count > 1)
        amp_html_put(html, "the %zu from ", count);
    amp_html_put(html, "%s <strong><code>%s</code></strong> (%s, %s)%s ",
                 source->kind == AMP_NOISE_WEIGHT ? "the weight" : "the value",
                 amp_html_short(source->name, 80, name),
                 source->node[0] != '\0' ? amp_html_short(source->node, 90, node) : "an input",
                 amp_html_dtype_text(source->dtype), count > 1 ? " on" : "");
    if (source->n_lost > 0)
        amp_html_put(html,
                     "do%s most harm: alone %s %llu elements of the outputs NaN or infinite."
                     "</li>\n",
                     count > 1 ? "" : "es", count > 1 ? "they make" : "it makes",
                     (unsigned long long)source->n_lost);
    else
        amp_html_put(
            html, "add%s most to the outputs' error: <strong>%.3g %%</strong> of it.</li>\n",
            count > 1 ? "" : "s", noise->predicted > 0 ? 100 * power / noise->predicted : 0);
}

void amp_html_findings(struct amp_html *html, const struct amp_layers *layers,
                       const struct amp_noise *noise)
{
    amp_html_put(html, "<ol class=\"findings\">\n");
    if (layers != NULL) {
        put_lost(html, layers, layers->first_overflow, "infinity");
        if (layers->first_nan != layers->first_overflow)
            put_lost(html, layers, layers->first_nan, "NaN");
        put_beyond(html, layers);
        put_jump(html, layers);
        put_worst_local(html, layers);
    }
    put_noise(html, noise);
    amp_html_put(html, "</ol>\n");
}
