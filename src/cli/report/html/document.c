/*
 * The page that all reports in HTML are made of: its head with the style, sections, tables. Takes
 * markup with texts to put in, gives one file. What stands in a section it does not know.
 */
#include "cli/report/html/document.h"

#include "core/arena.h"
#include "core/file/output.h"
#include "core/print.h"
#include "core/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct amp_html {
    char *bytes;
    size_t used, size;
    size_t n_sections; /* so far: numbers that links lead to */
};

static const char style[] =
#include "cli/report/html/style.inc"
    ;

static void append(struct amp_html *html, const char *text, size_t size)
{
    if (html->size - html->used < size) {
        html->size = 2 * html->size + size;
        html->bytes = amp_xrealloc(html->bytes, html->size, 1);
    }
    memcpy(html->bytes + html->used, text, size);
    html->used += size;
}

void amp_html_put(struct amp_html *html, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = amp_print_markup(format, args);
    va_end(args);
    if (text != NULL)
        append(html, text, strlen(text));
    free(text);
}

struct amp_html *amp_html_create(const char *title)
{
    struct amp_html *html = amp_xcalloc(1, sizeof *html);
    amp_html_put(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                       "<meta name=\"viewport\" content=\"width=device-width\"/>\n");
    amp_html_put(html, "<meta name=\"generator\" content=\"ampconv %s\"/>\n<title>%s</title>\n",
                 AMP_VERSION, title);
    amp_html_put(html, "<style>\n");
    append(html, style, sizeof style - 1);
    amp_html_put(html, "</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n", title);
    return html;
}

void amp_html_destroy(struct amp_html *html)
{
    if (html != NULL)
        free(html->bytes);
    free(html);
}

enum amp_status amp_html_write(struct amp_html *html, const char *path, struct amp_error *err)
{
    struct amp_output *output;
    amp_html_put(html, "</main>\n</body>\n</html>\n");
    AMP_TRY(amp_output_open(&output, path, err));
    enum amp_status status = amp_output_write(output, html->bytes, html->used, err);
    if (status == AMP_OK)
        return amp_output_commit(output, err);
    amp_output_abandon(output);
    return status;
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool is_there(const struct amp_html_section *section, const void *data)
{
    return section->is_there == NULL || section->is_there(data);
}

void amp_html_sections(struct amp_html *html, const struct amp_html_section *sections, size_t count,
                       const void *data)
{
    size_t number = html->n_sections;
    amp_html_put(html, "<nav><ul>\n");
    for (size_t i = 0; i < count; i++)
        if (is_there(&sections[i], data))
            amp_html_put(html, "<li><a href=\"#s%zu\">%s</a></li>\n", ++number, sections[i].title);
    amp_html_put(html, "</ul></nav>\n");
    for (size_t i = 0; i < count; i++) {
        if (!is_there(&sections[i], data))
            continue;
        amp_html_put(html, "<section id=\"s%zu\">\n<h2>%s</h2>\n", ++html->n_sections,
                     sections[i].title);
        sections[i].write(html, data);
        amp_html_put(html, "</section>\n");
    }
}

void amp_html_table_begin(struct amp_html *html, const char *caption,
                          const struct amp_html_column *columns, size_t count)
{
    amp_html_put(html, "<div class=\"wide\"><table>\n<caption>%s</caption>\n<thead><tr>", caption);
    for (size_t i = 0; i < count; i++)
        amp_html_put(html,
                     columns[i].is_number ? "<th scope=\"col\" class=\"n\">%s</th>"
                                          : "<th scope=\"col\">%s</th>",
                     columns[i].title);
    amp_html_put(html, "</tr></thead>\n<tbody>\n");
}

void amp_html_table_end(struct amp_html *html)
{
    amp_html_put(html, "</tbody></table></div>\n");
}

void amp_html_number_cell(struct amp_html *html, double value)
{
    if (isfinite(value))
        amp_html_put(html, "<td class=\"n\">%.4g</td>", value);
    else
        amp_html_put(html, "<td class=\"n\">%s</td>",
                     isnan(value) ? "NaN"
                     : value > 0  ? "\xe2\x88\x9e"
                                  : "-\xe2\x88\x9e");
}

void amp_html_details_begin(struct amp_html *html, const char *summary)
{
    amp_html_put(html, "<details><summary>%s</summary>\n", summary);
}

void amp_html_details_end(struct amp_html *html)
{
    amp_html_put(html, "</details>\n");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Steps AT over COUNT characters, which are there before END. */
static const char *step(const char *at, const char *end, size_t count)
{
    for (; count > 0; count--)
        amp_utf8_next(&at, end);
    return at;
}

const char *amp_html_short(const char *text, size_t most, char short_text[AMP_HTML_SHORT])
{
    static const char gap[] = "\xe2\x80\xa6";
    size_t fitting = (AMP_HTML_SHORT - sizeof gap) / AMP_UTF8_MAX, count = 0;
    const char *end = text + strlen(text);
    most = most < fitting ? most : fitting;
    for (const char *at = text; at < end; count++)
        amp_utf8_next(&at, end);
    if (count <= most)
        return memcpy(short_text, text, (size_t)(end - text) + 1);
    size_t first = (most - 1) / 2, last = most - 1 - first;
    const char *head = step(text, end, first), *tail = step(head, end, count - first - last);
    char *to = mempcpy(short_text, text, (size_t)(head - text));
    to = mempcpy(to, gap, sizeof gap - 1);
    memcpy(to, tail, (size_t)(end - tail) + 1);
    return short_text;
}

const char *amp_html_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}
