#ifndef AMP_CORE_MATCH_GLOB_H
#define AMP_CORE_MATCH_GLOB_H

#include <stdbool.h>
#include <stddef.h>

struct amp_arena;
struct amp_automaton;

/* The number of bytes of PATTERN before its first character with a meaning (* ? [ \); all of it
   when it has none: only itself is then its match. */
size_t amp_glob_prefix(const char *pattern);

/* The glob, in ARENA, that matches NAME alone. */
const char *amp_glob_escape(struct amp_arena *arena, const char *name);

/*
 * Makes *AUTOMATON, in ARENA, of a glob as fnmatch of POSIX has it without flags: * and ? stand for
 * / and leading dots, too, and a [ that no ] closes is a character. Every text is a glob; one that
 * ends in a single \ or has [: :] around what is no class matches nothing.
 */
void amp_glob_compile(struct amp_arena *arena, const char *pattern,
                      struct amp_automaton *automaton);

/* Whether the glob PATTERN matches NAME, for those who ask once or a few times. */
bool amp_glob_matches(const char *pattern, const char *name);

/* The one of the COUNT names that PATTERN was probably meant to match: the least edit distance to a
   text that it matches, letters without case, at most a third of its own letters. NULL when none is
   near; long texts are far from all, and very many names are not all looked at. */
const char *amp_glob_nearest(const char *pattern, const char *const *names, size_t count);

#endif
