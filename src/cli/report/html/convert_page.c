/*
 * The report of a conversion in HTML: the list of its sections, and what only a conversion has.
 * Takes what the command gathered, gives one file.
 */
#include "cli/report/html/convert_page.h"

#include "cli/report/conversion.h"
#include "cli/report/html/decisions.h"
#include "cli/report/html/tuning.h"
#include "cli/report/html/verdict.h"
#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- verdict --------------------------------------------------------------------------------- */

static void write_verdict(struct amp_html *html, const void *data)
{
    const struct amp_convert_page *page = data;
    char short_text[AMP_HTML_SHORT], note[AMP_HTML_SHORT + 64];
    const char *path = amp_html_short(page->conversion->output_path, 90, short_text);
    if (page->is_written)
        snprintf(note, sizeof note, "The model was written to %s.", path);
    else
        snprintf(note, sizeof note, "No model was written; --accept writes it all the same.");
    if (page->compared.validation != NULL)
        amp_html_verdict(html, page->compared.validation, note);
    else
        amp_html_put(html,
                     "<p class=\"verdict plain\"><strong>Not validated</strong><br/>Neither "
                     "model was run. %s</p>\n",
                     note);
}

static void put_rules(struct amp_html *html, const struct amp_conversion *conversion)
{
    char text[AMP_HTML_SHORT], short_text[AMP_HTML_SHORT];
    for (size_t i = 0; i < conversion->n_rule_names; i++) {
        snprintf(text, sizeof text, "%s",
                 amp_html_short(conversion->rule_names[i], 80, short_text));
        amp_html_setting(html, "rules", text);
    }
}

static void put_runs_on(struct amp_html *html, const struct amp_runs_on *runs_on)
{
    char *text = amp_runs_on_text(runs_on);
    if (text != NULL)
        amp_html_setting(html, "runs on", text);
    free(text);
}

static void write_settings(struct amp_html *html, const void *data)
{
    const struct amp_convert_page *page = data;
    const struct amp_conversion *conversion = page->conversion;
    char text[160];
    amp_html_settings_begin(html, page->compared.inputs);
    amp_html_setting(html, "lower dtype",
                     conversion->keeps_types ? "none: only the opset was raised"
                                             : amp_conversion_dtypes(conversion));
    put_rules(html, conversion);
    snprintf(text, sizeof text, "%zu before; %zu inserted, %zu folded; %zu now",
             conversion->casts_before, conversion->casts.count, conversion->casts_folded,
             conversion->casts_after);
    amp_html_setting(html, "casts", text);
    put_runs_on(html, &conversion->runs_on);
    if (conversion->opset_obstacle != NULL)
        amp_html_setting(html, "opset", conversion->opset_obstacle);
    amp_html_settings_end(html);
}

/* ---- tuning ---------------------------------------------------------------------------------- */

static bool has_tuning(const void *data)
{
    const struct amp_convert_page *page = data;
    return page->tuning != NULL;
}

static void write_tuning(struct amp_html *html, const void *data)
{
    const struct amp_convert_page *page = data;
    amp_html_tuning(html, page->tuning);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static bool has_explanation(const void *data)
{
    const struct amp_convert_page *page = data;
    return page->explanation != NULL;
}

static void write_decisions(struct amp_html *html, const void *data)
{
    const struct amp_convert_page *page = data;
    amp_html_decisions(html, page->explanation);
}

static const struct amp_html_section sections[] = {
    {"Verdict", NULL, write_verdict},
    {"Tuning", has_tuning, write_tuning},
    {"Where to look", amp_html_has_findings, amp_html_write_findings},
    {"Error along the graph", amp_html_has_layers, amp_html_write_layers},
    {"Error by source", amp_html_has_noise, amp_html_write_noise},
    {"Ranges", amp_html_has_layers, amp_html_write_ranges},
    {"Outputs", amp_html_has_pictures, amp_html_write_outputs},
    {"Graph", NULL, amp_html_write_graph},
    {"Models", NULL, amp_html_write_models},
    {"Operators", NULL, amp_html_write_operators},
    {"Rules", has_explanation, write_decisions},
    {"Settings", NULL, write_settings},
};

enum amp_status amp_html_convert_page(const struct amp_convert_page *page, const char *path,
                                      struct amp_error *err)
{
    char title[2 * AMP_HTML_SHORT], short_text[AMP_HTML_SHORT];
    snprintf(title, sizeof title, "Conversion of %s to %s",
             amp_html_short(amp_html_base(page->conversion->model_path), 90, short_text),
             amp_conversion_dtypes(page->conversion));
    struct amp_html *html = amp_html_create(title);
    amp_html_sections(html, sections, AMP_COUNT(sections), page);
    enum amp_status status = amp_html_write(html, path, err);
    amp_html_destroy(html);
    return status;
}
