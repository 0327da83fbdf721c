#ifndef AMP_CORE_WORDS_H
#define AMP_CORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether TEXT ends with ENDING. */
bool amp_word_has_ending(const char *text, const char *ending);

/* The known word that WORD was probably meant to be: the least edit distance, at most a third of
   its letters. AT gives the known words by index, NULL past the end. NULL when none is near. */
const char *amp_word_nearest_at(const char *word, const char *(*at)(size_t index));

/* The one of the COUNT words at WORDS that WORD was probably meant to be, by the measure of
   amp_word_nearest_at. NULL when none is near. */
const char *amp_word_nearest(const char *word, const char *const *words, size_t count);

#endif
