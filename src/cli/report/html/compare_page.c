/*
 * The report of a comparison in HTML: the list of its sections. Takes what the command gathered,
 * gives one file.
 */
#include "cli/report/html/compare_page.h"

#include "cli/report/html/verdict.h"
#include "core/array.h"

#include <stdio.h>

static void write_verdict(struct amp_html *html, const void *data)
{
    const struct amp_compare_page *page = data;
    amp_html_verdict(html, page->compared.validation, "");
}

static void write_settings(struct amp_html *html, const void *data)
{
    const struct amp_compare_page *page = data;
    amp_html_settings_begin(html, page->compared.inputs);
    if (page->dtype != NULL)
        amp_html_setting(html, "lower dtype", page->dtype);
    amp_html_settings_end(html);
}

static const struct amp_html_section sections[] = {
    {"Verdict", NULL, write_verdict},
    {"Where to look", amp_html_has_findings, amp_html_write_findings},
    {"Error along the graph", amp_html_has_layers, amp_html_write_layers},
    {"Error by source", amp_html_has_noise, amp_html_write_noise},
    {"Ranges", amp_html_has_layers, amp_html_write_ranges},
    {"Outputs", amp_html_has_pictures, amp_html_write_outputs},
    {"Graph", NULL, amp_html_write_graph},
    {"Models", NULL, amp_html_write_models},
    {"Operators", NULL, amp_html_write_operators},
    {"Settings", NULL, write_settings},
};

enum amp_status amp_html_compare_page(const struct amp_compare_page *page, const char *path,
                                      struct amp_error *err)
{
    char title[3 * AMP_HTML_SHORT], names[2][AMP_HTML_SHORT];
    const struct amp_html_model *models = page->compared.models;
    snprintf(title, sizeof title, "%s against %s%s",
             amp_html_short(amp_html_base(models[0].path), 60, names[0]),
             page->dtype != NULL ? "itself in " : "",
             page->dtype != NULL ? page->dtype
                                 : amp_html_short(amp_html_base(models[1].path), 60, names[1]));
    struct amp_html *html = amp_html_create(title);
    amp_html_sections(html, sections, AMP_COUNT(sections), page);
    enum amp_status status = amp_html_write(html, path, err);
    amp_html_destroy(html);
    return status;
}
