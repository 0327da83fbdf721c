#ifndef TOOL_XML_H
#define TOOL_XML_H

#include <stdbool.h>

/* Whether the file at PATH is well-formed XML 1.0 without a DTD of its own; says what is wrong. */
bool check_xml(const char *path);

#endif
