/*
 * Guesses what a misspelled word was meant to be, for messages.
 */
#include "core/words.h"

#include <ctype.h>
#include <string.h>

enum { LENGTH_MAX = 48 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein distance that takes no notice of case; words longer than LENGTH_MAX are far from all.
 */
static size_t distance(const char *a, const char *b)
{
    size_t row[LENGTH_MAX + 1], n = strlen(a), m = strlen(b);
    if (n > LENGTH_MAX || m > LENGTH_MAX)
        return LENGTH_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            int differs = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (size_t)differs);
            diagonal = above;
        }
    }
    return row[m];
}

const char *amp_nearest_word(const char *word, const char *(*at)(size_t index))
{
    const char *nearest = NULL;
    size_t best = (strlen(word) + 2) / 3 + 1;
    for (size_t i = 0; at(i) != NULL; i++) {
        size_t d = distance(word, at(i));
        if (d < best) {
            best = d;
            nearest = at(i);
        }
    }
    return nearest;
}
