#ifndef AMP_CLI_REPORT_TEXT_H
#define AMP_CLI_REPORT_TEXT_H

#include <stddef.h>
#include <stdio.h>

struct amp_model; /* core/graph/graph.h */

/* How every line of a report begins: a word for what it is about. */
#define AMP_REPORT_LABEL "  %-10s "

/* Prints a line that WIDENED nodes had no kernel for the lower dtype; nothing for 0. */
void amp_report_widened(FILE *file, size_t widened);

/* Prints a line that SQUEEZED nodes cut slices without the dim (amp_session_squeezed); nothing for
   0. */
void amp_report_squeezed(FILE *file, size_t squeezed);

/* Prints a line that INTEGERS nodes worked on integers (amp_session_integers); nothing for 0. */
void amp_report_integers(FILE *file, size_t integers);

/* Warns of nodes of MODEL, whose types are inferred, that have dtypes which only newer versions of
   their operators take; nothing where there are none. */
void amp_report_newer_types(FILE *file, const struct amp_model *model);

#endif
