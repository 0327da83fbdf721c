#ifndef AMP_CORE_BUFFER_H
#define AMP_CORE_BUFFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Shared memory of tensors: counted references, data aligned to 64 bytes, those of 2 MB
 * and more to 2 MB, in huge pages where the system has them; in the account of core/memory.h.
 * Several threads may create them, and refer to the same one, at once.
 */
struct amp_buffer {
    atomic_uint refs;
    size_t size;
    /* Called when nobody refers to the buffer any more, with DATA and SIZE: gives back what the
       data refer to. NULL: they refer to nothing. */
    void (*release)(void *data, size_t size);
    void *data;
    size_t capacity; /* bytes there are: size or more */
    bool is_discarded;
    struct amp_buffer *next; /* in the list of kept buffers */
};

/* A buffer of SIZE bytes with one reference, its contents undefined. NULL when there is not enough
   memory. */
struct amp_buffer *amp_buffer_create(size_t size);
/* Does what amp_buffer_create does, with FORMER itself if that is kept: what runs again is to find
   its data where they were. FORMER is compared alone, and may be no buffer any more. */
struct amp_buffer *amp_buffer_create_again(const struct amp_buffer *former, size_t size);
/* Whether there is enough memory for a buffer of SIZE bytes; kept buffers are freed to make room.
 */
bool amp_buffer_has_room(size_t size);
/* Adds a reference and returns BUFFER. NULL is fine. */
struct amp_buffer *amp_buffer_ref(struct amp_buffer *buffer);
/* Takes a reference away; the last one frees the buffer or keeps it for others. NULL is fine. */
void amp_buffer_unref(struct amp_buffer *buffer);
/* Takes a reference away; the buffer is freed, never kept, when nobody refers to it. NULL is fine.
 */
void amp_buffer_discard(struct amp_buffer *buffer);

/* Begins to keep the buffers that nobody refers to any more for amp_buffer_create to give out
   again, as long as memory lasts: runs that repeat themselves then allocate nothing. */
void amp_buffers_keep(void);
/* Ends what one call of amp_buffers_keep began; the last one frees the kept buffers. */
void amp_buffers_let_go(void);

#endif
