/*
 * The arena: takes sizes, hands out zeroed memory from chained blocks and frees it in one go. The
 * first block is small, as many arenas are; each is twice as large as the one before, up to a
 * limit. Larger requests get a block of their own. Blocks are claimed from the account of memory.
 * The end of memory is reported here, once, and ends the program. Not for several threads at once.
 */
#include "core/arena.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 4 * 1024, BLOCK_SIZE = 256 * 1024, ALIGNMENT = alignof(max_align_t) };

/* Bytes behind each item that are never given out: under the address sanitizer none lies beside
   another, so that it sees who looks past an item's end. */
#ifdef __SANITIZE_ADDRESS__
enum { GAP = 64 };
#else
enum { GAP = 0 };
#endif

struct block {
    struct block *next, *before;
    size_t used, size;
    alignas(max_align_t) unsigned char data[];
};

struct amp_arena {
    struct block *head;
};

static _Noreturn void out_of_memory(size_t size)
{
    struct amp_error err = {.status = AMP_OK};
    AMP_IGNORE(amp_memory_fail(&err, "the next part of the graph", size));
    fprintf(stderr, "ampconv: %s\n", err.text);
    exit(AMP_EXIT_SYSTEM);
}

/* Ends the program when there is no room for SIZE bytes outside of arenas. Such memory is not
   claimed from the account: callers free it soon, and it is never larger than some multiple of what
   is in arenas. */
static void expect_room(size_t size)
{
    if (size > AMP_MEMORY_BASIS && !amp_memory_has(size))
        out_of_memory(size);
}

static size_t checked_product(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        out_of_memory(SIZE_MAX);
    return total;
}

void *amp_xmalloc(size_t count, size_t size)
{
    size_t total = checked_product(count, size);
    expect_room(total);
    void *memory = malloc(total ? total : 1);
    if (memory == NULL)
        out_of_memory(total);
    return memory;
}

void *amp_xcalloc(size_t count, size_t size)
{
    size_t total = checked_product(count, size);
    expect_room(total);
    void *memory = calloc(total ? total : 1, 1);
    if (memory == NULL)
        out_of_memory(total);
    return memory;
}

void *amp_xrealloc(void *old, size_t count, size_t size)
{
    size_t total = checked_product(count, size);
    expect_room(total);
    void *memory = realloc(old, total ? total : 1);
    if (memory == NULL)
        out_of_memory(total);
    return memory;
}

char *amp_xstrdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(amp_xmalloc(size, 1), text, size);
}

struct amp_arena *amp_arena_create(void)
{
    struct amp_arena *arena = amp_xmalloc(1, sizeof *arena);
    arena->head = NULL;
    return arena;
}

static void free_block(struct block *block)
{
    amp_memory_return_basis(sizeof *block + block->size);
    AMP_MEMORY_ALLOW(block->data, block->size);
    free(block);
}

void amp_arena_destroy(struct amp_arena *arena)
{
    if (arena == NULL)
        return;
    for (struct block *block = arena->head; block != NULL;) {
        struct block *next = block->next;
        free_block(block);
        block = next;
    }
    free(arena);
}

/* Puts BLOCK into the arena's chain behind BEFORE; NULL: first. */
static void link_block(struct amp_arena *arena, struct block *block, struct block *before)
{
    struct block **place = before != NULL ? &before->next : &arena->head;
    block->before = before;
    block->next = *place;
    *place = block;
    if (block->next != NULL)
        block->next->before = block;
}

static struct block *add_block(struct amp_arena *arena, size_t size)
{
    if (!amp_memory_claim_basis(sizeof(struct block) + size))
        out_of_memory(size);
    struct block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        out_of_memory(size);
    block->size = size;
    AMP_MEMORY_FORBID(block->data, size);
    /* A block made for one large item goes second, so that the head keeps its free space. */
    link_block(arena, block, size > BLOCK_SIZE ? arena->head : NULL);
    return block;
}

/* The size of the next block, which is to have room for SIZE bytes. */
static size_t next_size(const struct amp_arena *arena, size_t size)
{
    size_t next = arena->head == NULL ? FIRST_SIZE : 2 * arena->head->size;
    if (next > BLOCK_SIZE)
        next = BLOCK_SIZE;
    return size > next ? size : next;
}

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void amp_arena_release(struct amp_arena *arena, void *memory, size_t size)
{
    if (memory == NULL || aligned(size) <= BLOCK_SIZE)
        return;
    struct block *block =
        (struct block *)(void *)((unsigned char *)memory - offsetof(struct block, data));
    *(block->before != NULL ? &block->before->next : &arena->head) = block->next;
    if (block->next != NULL)
        block->next->before = block->before;
    free_block(block);
}

void *amp_arena_alloc(struct amp_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        out_of_memory(size);
    size_t room = aligned(size) + GAP;
    struct block *block = arena->head;
    if (block == NULL || block->size - block->used < room)
        block = add_block(arena, next_size(arena, room));
    void *memory = block->data + block->used;
    block->used += room;
    AMP_MEMORY_ALLOW(memory, size);
    return memory;
}

void *amp_arena_array(struct amp_arena *arena, size_t count, size_t size)
{
    return amp_arena_alloc(arena, checked_product(count, size));
}

char *amp_arena_strndup(struct amp_arena *arena, const char *text, size_t length)
{
    char *copy = amp_arena_alloc(arena, length + 1);
    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *amp_arena_strdup(struct amp_arena *arena, const char *text)
{
    return amp_arena_strndup(arena, text, strlen(text));
}

void *amp_arena_memdup(struct amp_arena *arena, const void *data, size_t size)
{
    void *copy = amp_arena_alloc(arena, size);
    if (size > 0)
        memcpy(copy, data, size);
    return copy;
}

char *amp_arena_printf(struct amp_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = amp_arena_alloc(arena, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

void *amp_arena_push(struct amp_arena *arena, void *items, size_t *count, size_t *capacity,
                     size_t size)
{
    void **array = items;
    if (*count == *capacity) {
        size_t grown = *capacity ? *capacity * 2 : 4;
        void *moved = amp_arena_array(arena, grown, size);
        if (*count > 0)
            memcpy(moved, *array, *count * size);
        AMP_MEMORY_FORBID((unsigned char *)moved + *count * size, (grown - *count) * size);
        *array = moved;
        *capacity = grown;
    }
    void *item = (unsigned char *)*array + size * (*count)++;
    AMP_MEMORY_ALLOW(item, size);
    return item;
}
