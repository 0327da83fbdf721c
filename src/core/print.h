#ifndef AMP_CORE_PRINT_H
#define AMP_CORE_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Text for people. Names come from files and may hold anything: what is put in for %s and %c can
 * neither tell the terminal what to do nor end the line. Control characters but the tab, what is no
 * UTF-8 and characters that turn the direction of the text come as \n, \r, \x1B (a byte) or \u202E
 * (a code point). What is visible stays as it is; text that went through this once is not changed
 * again.
 */

/* Prints to FILE as fprintf does. Returns the number of bytes; -1 when memory is out. */
int amp_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text that amp_print would print, as a new string, to be freed; NULL when memory is out. */
char *amp_print_format(const char *format, va_list list) __attribute__((format(printf, 1, 0)));

/* The same for HTML and XML: FORMAT is markup, and what is put in for %s and %c is text that markup
   cannot begin or end in, attributes included. */
char *amp_print_markup(const char *format, va_list list) __attribute__((format(printf, 1, 0)));

/* Whether CODE, a code point or AMP_UTF8_INVALID, may be shown as it is. */
bool amp_print_is_shown(int32_t code);

#endif
