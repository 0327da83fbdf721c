#ifndef AMP_CLI_REPORT_HTML_DOCUMENT_H
#define AMP_CLI_REPORT_HTML_DOCUMENT_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A page of HTML that needs nothing but itself: no script, no font, no picture, no network. It is
 * well-formed XML too. Everything that comes from models goes in through the arguments of
 * amp_html_put, which cannot become markup.
 */
struct amp_html;

/* Begins a page with its title. The page is in memory until it is written; to be destroyed. */
struct amp_html *amp_html_create(const char *title);
void amp_html_destroy(struct amp_html *html); /* NULL is fine */

/* Appends FORMAT, which is markup, with its arguments, which are text: amp_print_markup. */
void amp_html_put(struct amp_html *html, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Ends the page and writes it to PATH ("-": stdout), whole or not at all. AMP_IO when that fails.
 */
enum amp_status amp_html_write(struct amp_html *html, const char *path, struct amp_error *err);

/* A part of a page. */
struct amp_html_section {
    const char *title;
    bool (*is_there)(const void *data); /* whether there is something to show; NULL: always */
    void (*write)(struct amp_html *html, const void *data);
};

/* Writes links to the COUNT SECTIONS of DATA that are there, and then these. */
void amp_html_sections(struct amp_html *html, const struct amp_html_section *sections, size_t count,
                       const void *data);

/* A column of a table. */
struct amp_html_column {
    const char *title;
    bool is_number; /* aligned at the right */
};

/* Begins a table of COUNT COLUMNS with its caption. Rows follow: amp_html_put of <tr>. */
void amp_html_table_begin(struct amp_html *html, const char *caption,
                          const struct amp_html_column *columns, size_t count);
void amp_html_table_end(struct amp_html *html);

/* A cell of a number with four significant digits; "NaN", "∞" and "-∞" where it is none. */
void amp_html_number_cell(struct amp_html *html, double value);

/* Begins and ends what is shown when the reader opens it. */
void amp_html_details_begin(struct amp_html *html, const char *summary);
void amp_html_details_end(struct amp_html *html);

enum { AMP_HTML_SHORT = 512 };

/* Copies TEXT to SHORT_TEXT, at most MOST characters of it, the middle left out where it has more:
   "/encoder/la…/MatMul". Bytes that are no UTF-8 count as a character each. Returns SHORT_TEXT. */
const char *amp_html_short(const char *text, size_t most, char short_text[AMP_HTML_SHORT]);

/* The name of the file at PATH without its folders. */
const char *amp_html_base(const char *path);

#endif
