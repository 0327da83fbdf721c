#ifndef AMP_CORE_PROCESS_SHELL_TEXT_H
#define AMP_CORE_PROCESS_SHELL_TEXT_H

#include "core/arena.h"

/* TEXT as one word of the shell's, in ARENA: as it is where that is safe, so that it may stand
   within quotes too, else in quotes. */
const char *amp_shell_word(const char *text, struct amp_arena *arena);

/* COMMAND with WORD in place of each {}, in ARENA. */
const char *amp_shell_fill(const char *command, const char *word, struct amp_arena *arena);

#endif
