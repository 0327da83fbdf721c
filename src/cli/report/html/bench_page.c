/*
 * The report of a bench in HTML, model by model: times by dtype, what the time goes to, and how
 * near nodes come to what the machine can do. Takes profiled benches; the page says nothing of
 * accuracy.
 */
#include "cli/report/html/bench_page.h"

#include "cli/report/html/graph_drawing.h"
#include "cli/report/html/models.h"
#include "cli/report/html/timing.h"
#include "cli/report/html/verdict.h"
#include "core/array.h"

#include <stdio.h>

struct page {
    const char *path;
    const struct amp_bench *bench;
};

struct amp_html *amp_html_bench_begin(size_t n_runs)
{
    char runs[64];
    struct amp_html *html = amp_html_create("Times of models");
    amp_html_settings_begin(html, NULL);
    snprintf(runs, sizeof runs, "%zu of every model and dtype, in turns; times are medians",
             n_runs);
    amp_html_setting(html, "runs", runs);
    amp_html_settings_end(html);
    return html;
}

static void write_times(struct amp_html *html, const void *data)
{
    const struct page *page = data;
    amp_html_times(html, page->bench);
}

static void write_operators(struct amp_html *html, const void *data)
{
    const struct page *page = data;
    amp_html_operator_times(html, page->bench);
}

static void write_roofline(struct amp_html *html, const void *data)
{
    const struct page *page = data;
    amp_html_roofline(html, page->bench);
}

static bool has_products(const void *data)
{
    const struct page *page = data;
    return page->bench->flops > 0;
}

static void write_nodes(struct amp_html *html, const void *data)
{
    const struct page *page = data;
    amp_html_node_times(html, page->bench);
}

static void write_models(struct amp_html *html, const void *data)
{
    const struct page *page = data;
    struct amp_html_model models[AMP_BENCH_SIDES];
    for (size_t i = 0; i < page->bench->n_sides; i++)
        models[i] =
            (struct amp_html_model){.role = amp_dtype_short_name(page->bench->sides[i].dtype),
                                    .path = page->path,
                                    .model = page->bench->sides[i].model};
    amp_html_models(html, models, page->bench->n_sides);
}

static void write_graph(struct amp_html *html, const void *data)
{
    const struct page *page = data;
    amp_html_graph(html, page->bench->sides[page->bench->n_sides - 1].model, NULL);
}

static const struct amp_html_section sections[] = {
    {"Times", NULL, write_times},
    {"By operator", NULL, write_operators},
    {"Roofline", has_products, write_roofline},
    {"By node", NULL, write_nodes},
    {"Models", NULL, write_models},
    {"Graph", NULL, write_graph},
};

void amp_html_bench_add(struct amp_html *html, const char *path, const struct amp_bench *bench)
{
    char short_text[AMP_HTML_SHORT];
    struct page page = {path, bench};
    amp_html_put(html, "<h1>%s</h1>\n", amp_html_short(amp_html_base(path), 90, short_text));
    amp_html_sections(html, sections, AMP_COUNT(sections), &page);
}
