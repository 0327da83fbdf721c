/*
 * The equations of derivatives of Einsum (ONNX Einsum-12, which has NumPy's): takes the text of an
 * equation, gives another. Whether the equation fits its operands the operator itself says.
 */
#include "run/rewrite/gradient_equation.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { TERMS = 8 };

struct terms {
    char text[AMP_GRADIENT_EQUATION]; /* without spaces, a term behind the other */
    const char *operands[TERMS];
    uint32_t count;
    char output[AMP_GRADIENT_EQUATION];
};

/* Without an arrow the output has the ellipsis, then the indices that stand once, in their order.
 */
static void imply_output(struct terms *terms)
{
    char *to = terms->output;
    int counts[256] = {0};
    for (uint32_t i = 0; i < terms->count; i++)
        for (const char *c = terms->operands[i]; *c != '\0'; c++)
            counts[(unsigned char)*c]++;
    if (counts['.'] > 0)
        to += sprintf(to, "...");
    for (int c = 'A'; c <= 'z'; c++)
        if (isalpha(c) && counts[c] == 1)
            *to++ = (char)c;
    *to = '\0';
}

static bool read_terms(const char *equation, struct terms *terms)
{
    char *to = terms->text;
    if (strlen(equation) >= AMP_GRADIENT_EQUATION)
        return false;
    for (const char *c = equation; *c != '\0'; c++)
        if (*c != ' ')
            *to++ = *c;
    *to = '\0';
    char *arrow = strstr(terms->text, "->");
    if (arrow != NULL)
        *arrow = '\0';
    terms->operands[terms->count++] = terms->text;
    for (char *comma = terms->text; (comma = strchr(comma, ',')) != NULL;) {
        if (terms->count == TERMS)
            return false;
        *comma++ = '\0';
        terms->operands[terms->count++] = comma;
    }
    if (arrow != NULL)
        memcpy(terms->output, arrow + 2, strlen(arrow + 2) + 1);
    else
        imply_output(terms);
    return true;
}

/* Whether each index of operand I stands in it once, and in another term. */
static bool is_swappable(const struct terms *terms, uint32_t i)
{
    for (const char *c = terms->operands[i]; *c != '\0'; c++) {
        bool is_elsewhere = strchr(terms->output, *c) != NULL;
        for (uint32_t k = 0; k < terms->count; k++)
            is_elsewhere |= k != i && strchr(terms->operands[k], *c) != NULL;
        if (!is_elsewhere || (*c != '.' && strchr(c + 1, *c) != NULL))
            return false;
    }
    return true;
}

bool amp_gradient_equation(const char *equation, uint32_t i, char swapped[AMP_GRADIENT_EQUATION])
{
    struct terms terms = {.count = 0};
    if (!read_terms(equation, &terms) || i >= terms.count || !is_swappable(&terms, i))
        return false;
    size_t size = AMP_GRADIENT_EQUATION;
    size_t length = (size_t)snprintf(swapped, size, "%s", terms.output);
    for (uint32_t k = 0; k < terms.count && length < size; k++)
        if (k != i)
            length += (size_t)snprintf(swapped + length, size - length, ",%s", terms.operands[k]);
    if (length < size)
        length += (size_t)snprintf(swapped + length, size - length, "->%s", terms.operands[i]);
    return length < size;
}
