#ifndef AMP_CORE_ARENA_H
#define AMP_CORE_ARENA_H

#include <stddef.h>

/*
 * One arena holds what lives as long as a run: the graph, its names, the rules. Blocks are freed
 * together. They count in the account of core/memory.h; when it is used up, or memory runs out
 * before, the arena says so and ends the program (exit code 2), so that no caller has to test for
 * it; sizes that come from a file are checked against it before they get here.
 */
struct amp_arena;

struct amp_arena *amp_arena_create(void);
void amp_arena_destroy(struct amp_arena *arena);

/* SIZE bytes of zeroed memory, aligned for any type. SIZE 0 gives a valid pointer. */
void *amp_arena_alloc(struct amp_arena *arena, size_t size);

/* Zeroed memory for COUNT items of SIZE bytes; ends the program when the product overflows. */
void *amp_arena_array(struct amp_arena *arena, size_t count, size_t size);

/* Gives back the SIZE bytes at MEMORY, which nothing points to any more: at once where they are
   many, else with the arena. NULL is fine. */
void amp_arena_release(struct amp_arena *arena, void *memory, size_t size);

/* Copies in the arena: of a string, of the first LENGTH bytes of a text, terminated, of SIZE bytes
   of data, and the text that printf would print. */
char *amp_arena_strdup(struct amp_arena *arena, const char *text);
char *amp_arena_strndup(struct amp_arena *arena, const char *text, size_t length);
void *amp_arena_memdup(struct amp_arena *arena, const void *data, size_t size);
char *amp_arena_printf(struct amp_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for one more item in the array *ITEMS of COUNT used and *CAPACITY allocated items of
   SIZE bytes. Returns the zeroed slot for the new item; the array may have moved. */
void *amp_arena_push(struct amp_arena *arena, void *items, size_t *count, size_t *capacity,
                     size_t size);

/* Memory for COUNT items of SIZE bytes outside an arena, to be freed with free. These functions end
   the program, as the arena does, when memory runs out or the product overflows. */
__attribute__((returns_nonnull)) void *amp_xmalloc(size_t count, size_t size);
__attribute__((returns_nonnull)) void *amp_xcalloc(size_t count, size_t size); /* zeroed */
void *amp_xrealloc(void *old, size_t count, size_t size);
char *amp_xstrdup(const char *text);

#endif
