/*
 * Messages about words that are none of those accepted. Takes the word and the list, gives text in
 * an arena.
 */
#include "autocast/rules/word.h"

#include "core/arena.h"
#include "core/words.h"

const char *amp_word_list_text(struct amp_arena *arena, const struct amp_word_list *list)
{
    const char *text = "";
    for (size_t i = 0; i < list->count; i++)
        text = amp_arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "", list->words[i]);
    return text;
}

const char *amp_word_unknown(struct amp_arena *arena, const struct amp_word_list *list,
                             const char *word, const char *where)
{
    const char *nearest = amp_word_nearest(word, list->words, list->count);
    const char *hint = nearest ? amp_arena_printf(arena, " (did you mean '%s'?)", nearest) : "";
    return amp_arena_printf(arena, "unknown %s '%.60s'%s%s; accepted: %s", list->what, word, where,
                            hint, amp_word_list_text(arena, list));
}
