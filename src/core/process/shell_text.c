/*
 * Text for the shell: takes any text, gives it as one word of a command, and puts words into
 * commands. Runs nothing.
 */
#include "core/process/shell_text.h"

#include <string.h>

const char *amp_shell_word(const char *text, struct amp_arena *arena)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "/._-+,:@%";
    static const char quote[] = "'\\''";
    if (*text != '\0' && text[strspn(text, safe)] == '\0')
        return text;
    char *word = amp_arena_alloc(arena, strlen(text) * strlen(quote) + sizeof "''"), *to = word;
    *to++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            to = mempcpy(to, quote, strlen(quote));
        else
            *to++ = *text;
    }
    memcpy(to, "'", sizeof "'");
    return word;
}

const char *amp_shell_fill(const char *command, const char *word, struct amp_arena *arena)
{
    static const char mark[] = "{}";
    size_t count = 0;
    for (const char *at = command; (at = strstr(at, mark)) != NULL; at += strlen(mark))
        count++;
    char *text = amp_arena_alloc(arena, strlen(command) + count * strlen(word) + 1), *to = text;
    for (const char *at; (at = strstr(command, mark)) != NULL; command = at + strlen(mark)) {
        to = mempcpy(to, command, (size_t)(at - command));
        to = mempcpy(to, word, strlen(word));
    }
    memcpy(to, command, strlen(command) + 1);
    return text;
}
