#ifndef AMP_AUTOCAST_RULES_WORD_H
#define AMP_AUTOCAST_RULES_WORD_H

#include <stddef.h>

struct amp_arena; /* core/arena.h */

/* Private to the rules: words of which a file may have one. */

struct amp_word_list {
    const char *what;         /* what they name, for messages: "precision" */
    const char *const *words; /* those that are accepted */
    size_t count;
};

/* The words of LIST in ARENA: "a, b, c". */
const char *amp_word_list_text(struct amp_arena *arena, const struct amp_word_list *list);

/* What is wrong with WORD, which is none of LIST, as text in ARENA: "unknown precision 'fp61'WHERE
   (did you mean 'fp16'?); accepted: a, b, c". WHERE: "" or " in a rule". */
const char *amp_word_unknown(struct amp_arena *arena, const struct amp_word_list *list,
                             const char *word, const char *where);

#endif
