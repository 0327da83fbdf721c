/*
 * Words: what they end with, and what a misspelled one was meant to be. Takes the known words of
 * the caller; letters are told apart without case, as ASCII.
 */
#include "core/words.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { LENGTH_MAX = 48 };

bool amp_word_has_ending(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

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
        return SIZE_MAX;
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

/* The nearest to WORD of the words seen so far. */
struct search {
    const char *word, *nearest;
    size_t best; /* only what is nearer than this counts */
};

static struct search search_for(const char *word)
{
    return (struct search){.word = word, .best = (strlen(word) + 2) / 3 + 1};
}

static void consider(struct search *search, const char *known)
{
    size_t d = distance(search->word, known);
    if (d < search->best) {
        search->best = d;
        search->nearest = known;
    }
}

const char *amp_word_nearest_at(const char *word, const char *(*at)(size_t index))
{
    struct search search = search_for(word);
    for (size_t i = 0; at(i) != NULL; i++)
        consider(&search, at(i));
    return search.nearest;
}

const char *amp_word_nearest(const char *word, const char *const *words, size_t count)
{
    struct search search = search_for(word);
    for (size_t i = 0; i < count; i++)
        consider(&search, words[i]);
    return search.nearest;
}
