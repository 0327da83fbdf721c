/*
 * Memory of tensors, and the pool of free buffers. Takes sizes that the caller has checked; gives
 * the smallest kept buffer that is large enough and does not waste much, or memory from the system.
 * What the data are is not known here: a buffer's release function gives back what they refer to.
 */
#include "core/buffer.h"

#include "core/memory.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    OVERHEAD = 160,  /* of a buffer beside its bytes: itself, its alignment, the allocator's own */
    SLACK_SHARE = 8, /* a kept buffer may be larger than what is wanted by this part of that */
    SLACK_BYTES = 256, /* and by these bytes besides */
    HUGE_PAGE = 2 << 20
};

/* The kept buffers, in lists by the number of bits of their capacities. */
enum { BINS = sizeof(size_t) * CHAR_BIT + 1 };
static struct amp_buffer *kept[BINS];
static unsigned n_keepers;
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER; /* of these two */

static void destroy(struct amp_buffer *buffer)
{
    amp_memory_return(buffer->capacity + OVERHEAD);
    AMP_MEMORY_ALLOW(buffer->data, buffer->capacity);
    free(buffer->data);
    free(buffer);
}

static size_t bin_of(size_t capacity)
{
    return capacity == 0
               ? 0
               : sizeof(unsigned long long) * CHAR_BIT - (size_t)__builtin_clzll(capacity);
}

/* While POOL is locked. */
static void destroy_kept(void)
{
    for (size_t bin = 0; bin < BINS; bin++)
        while (kept[bin] != NULL) {
            struct amp_buffer *buffer = kept[bin];
            kept[bin] = buffer->next;
            destroy(buffer);
        }
}

/* What is looked for among the kept buffers: one of SIZE to MOST bytes, best FORMER itself. */
struct wanted {
    const struct amp_buffer *former; /* may be no buffer any more; NULL: any will do */
    size_t size, most;
};

/* Whether no other buffer would be better than BUFFER. */
static bool is_best(const struct wanted *wanted, const struct amp_buffer *buffer)
{
    return wanted->former == NULL ? buffer->capacity == wanted->size : buffer == wanted->former;
}

/* The link to the former buffer if it is in the bin, or else to the smallest that fits; NULL: none
   does. The search ends at one that is as good as any, which most runs but the first find soon. */
static struct amp_buffer **find_best(size_t bin, const struct wanted *wanted)
{
    struct amp_buffer **best = NULL;
    for (struct amp_buffer **at = &kept[bin];
         *at != NULL && (best == NULL || !is_best(wanted, *best)); at = &(*at)->next)
        if ((*at)->capacity >= wanted->size && (*at)->capacity <= wanted->most &&
            (best == NULL || *at == wanted->former || (*at)->capacity < (*best)->capacity))
            best = at;
    return best;
}

/* Takes the best of the kept buffers for SIZE bytes out; NULL: none fits. */
static struct amp_buffer *take_kept(const struct amp_buffer *former, size_t size)
{
    struct amp_buffer **best = NULL, *buffer = NULL;
    const struct wanted wanted = {former, size, size + size / SLACK_SHARE + SLACK_BYTES};
    size_t last = bin_of(wanted.most);
    pthread_mutex_lock(&pool);
    for (size_t bin = bin_of(size); bin <= last && best == NULL; bin++)
        best = find_best(bin, &wanted);
    if (best != NULL) {
        buffer = *best;
        *best = buffer->next;
        AMP_MEMORY_ALLOW(buffer->data, size);
    }
    pthread_mutex_unlock(&pool);
    return buffer;
}

/* Gives the kept buffers back to the system. */
static void empty_pool(void)
{
    pthread_mutex_lock(&pool);
    destroy_kept();
    pthread_mutex_unlock(&pool);
}

/* Keeps BUFFER for those to come, if anybody wants that. */
static bool keep(struct amp_buffer *buffer)
{
    pthread_mutex_lock(&pool);
    bool is_wanted = n_keepers > 0;
    if (is_wanted) {
        AMP_MEMORY_FORBID(buffer->data, buffer->capacity);
        struct amp_buffer **list = &kept[bin_of(buffer->capacity)];
        buffer->next = *list;
        *list = buffer;
    }
    pthread_mutex_unlock(&pool);
    return is_wanted;
}

/* Lets the system back SIZE bytes from DATA on, a huge page's address, with huge pages, as far as
   they fill some: with others a processor looks up addresses of large weights again and again. That
   the system has none is no failure. */
static void ask_for_huge_pages(void *data, size_t size)
{
#ifdef MADV_HUGEPAGE
    madvise(data, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)data, (void)size;
#endif
}

static struct amp_buffer *allocate(size_t size)
{
    struct amp_buffer *buffer = malloc(sizeof *buffer);
    bool is_large = size >= HUGE_PAGE;
    if (buffer == NULL)
        return NULL;
    buffer->capacity = size;
    if (posix_memalign(&buffer->data, is_large ? HUGE_PAGE : 64, size ? size : 1) != 0) {
        free(buffer);
        return NULL;
    }
    if (is_large)
        ask_for_huge_pages(buffer->data, size);
    return buffer;
}

static bool claim(size_t size)
{
    if (amp_memory_claim(size))
        return true;
    empty_pool();
    return amp_memory_claim(size);
}

static struct amp_buffer *make(size_t size)
{
    if (size > SIZE_MAX / 2 || !claim(size + OVERHEAD))
        return NULL;
    struct amp_buffer *buffer = allocate(size);
    if (buffer == NULL)
        amp_memory_return(size + OVERHEAD);
    return buffer;
}

bool amp_buffer_has_room(size_t size)
{
    if (size > SIZE_MAX / 2)
        return false;
    if (!amp_memory_has(size + OVERHEAD))
        empty_pool();
    return amp_memory_has(size + OVERHEAD);
}

struct amp_buffer *amp_buffer_create(size_t size)
{
    return amp_buffer_create_again(NULL, size);
}

struct amp_buffer *amp_buffer_create_again(const struct amp_buffer *former, size_t size)
{
    struct amp_buffer *buffer = size > SIZE_MAX / 2 ? NULL : take_kept(former, size);
    if (buffer == NULL)
        buffer = make(size);
    if (buffer == NULL)
        return NULL;
    buffer->refs = 1;
    buffer->size = size;
    buffer->release = NULL;
    buffer->is_discarded = false;
    buffer->next = NULL;
    return buffer;
}

struct amp_buffer *amp_buffer_ref(struct amp_buffer *buffer)
{
    if (buffer != NULL)
        buffer->refs++;
    return buffer;
}

void amp_buffer_unref(struct amp_buffer *buffer)
{
    if (buffer == NULL || --buffer->refs > 0)
        return;
    if (buffer->release != NULL)
        buffer->release(buffer->data, buffer->size);
    if (buffer->is_discarded || !keep(buffer))
        destroy(buffer);
}

void amp_buffer_discard(struct amp_buffer *buffer)
{
    if (buffer != NULL)
        buffer->is_discarded = true;
    amp_buffer_unref(buffer);
}

void amp_buffers_keep(void)
{
    pthread_mutex_lock(&pool);
    n_keepers++;
    pthread_mutex_unlock(&pool);
}

void amp_buffers_let_go(void)
{
    pthread_mutex_lock(&pool);
    if (--n_keepers == 0)
        destroy_kept();
    pthread_mutex_unlock(&pool);
}
