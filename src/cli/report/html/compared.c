/*
 * The sections that the reports of a conversion and of a comparison have in common, each by the
 * file of what it shows.
 */
#include "cli/report/html/compared.h"

#include "cli/report/html/findings.h"
#include "cli/report/html/layers.h"
#include "cli/report/html/noise.h"
#include "cli/report/html/outputs.h"
#include "cli/report/html/verdict.h"
#include "core/array.h"

bool amp_html_has_layers(const void *data)
{
    const struct amp_html_compared *compared = data;
    return compared->layers != NULL;
}

bool amp_html_has_noise(const void *data)
{
    const struct amp_html_compared *compared = data;
    return compared->noise != NULL;
}

bool amp_html_has_findings(const void *data)
{
    return amp_html_has_layers(data) || amp_html_has_noise(data);
}

bool amp_html_has_pictures(const void *data)
{
    const struct amp_html_compared *compared = data;
    return compared->validation != NULL && amp_html_has_deviations(compared->validation);
}

void amp_html_write_findings(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_findings(html, compared->layers, compared->noise);
}

void amp_html_write_layers(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_layers(html, compared->layers, compared->models[1].model,
                    amp_html_snr_bound(compared->validation));
}

void amp_html_write_noise(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_noise(html, compared->noise);
}

void amp_html_write_ranges(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_layer_ranges(html, compared->layers);
}

void amp_html_write_outputs(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_outputs(html, compared->validation);
}

void amp_html_write_models(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_models(html, compared->models, AMP_COUNT(compared->models));
}

void amp_html_write_operators(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_operators(html, compared->models[1].model);
}

void amp_html_write_graph(struct amp_html *html, const void *data)
{
    const struct amp_html_compared *compared = data;
    amp_html_compared_graph(html, compared->models[1].model, compared->layers);
}
