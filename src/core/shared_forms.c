/*
 * The table of shared forms: takes forms that others have made, gives them to those who need the
 * same. Forms are looked up by the address of what they are made of, and by their own, which tells
 * that forms of them are kept too.
 */
#include "core/shared_forms.h"

#include "core/arena.h"
#include "core/hash.h"
#include "core/memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_LISTS = 1024,  /* by a hash of an address */
    MEMORY_SHARE = 4 /* forms take 1 / this of the memory that there is at most */
};

struct form {
    const void *of;
    struct amp_form_kind kind;
    struct amp_buffer *buffer;
    struct form *next_of, *next_here; /* in the lists of OF and of the buffer's data */
};

static struct {
    const unsigned char *data; /* of which forms are kept; NULL: of nothing */
    size_t size, used;
    struct form *of[N_LISTS], *here[N_LISTS];
} table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of TABLE */

static size_t list_of(const void *data)
{
    return amp_hash_fnv(&data, sizeof data, 0) % N_LISTS;
}

/* While TABLE is locked, like all below: whether forms of the data at OF are kept. */
static bool is_kept(const void *of)
{
    if (table.data == NULL)
        return false;
    uintptr_t offset = (uintptr_t)of - (uintptr_t)table.data;
    const struct form *form = table.here[list_of(of)];
    while (form != NULL && form->buffer->data != of)
        form = form->next_here;
    return offset < table.size || form != NULL;
}

static bool is_same(struct amp_form_kind a, struct amp_form_kind b)
{
    return a.use == b.use && a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

static struct form *find(const void *of, struct amp_form_kind kind)
{
    struct form *form = table.of[list_of(of)];
    while (form != NULL && (form->of != of || !is_same(form->kind, kind)))
        form = form->next_of;
    return form;
}

static void add(const void *of, struct amp_form_kind kind, struct amp_buffer *buffer)
{
    struct form *form = amp_xmalloc(1, sizeof *form);
    void *bytes = amp_xmalloc(kind.size, 1);
    struct form **of_list = &table.of[list_of(of)], **here = &table.here[list_of(buffer->data)];
    memcpy(bytes, kind.bytes, kind.size);
    kind.bytes = bytes;
    *form = (struct form){of, kind, amp_buffer_ref(buffer), *of_list, *here};
    *of_list = *here = form;
    table.used += buffer->capacity;
}

void amp_shared_forms_begin(const void *data, size_t size)
{
    pthread_mutex_lock(&lock);
    table.data = data;
    table.size = size;
    pthread_mutex_unlock(&lock);
}

void amp_shared_forms_end(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < N_LISTS; i++)
        while (table.of[i] != NULL) {
            struct form *form = table.of[i];
            table.of[i] = form->next_of;
            amp_buffer_unref(form->buffer);
            free((void *)(uintptr_t)form->kind.bytes);
            free(form);
        }
    memset(&table, 0, sizeof table);
    pthread_mutex_unlock(&lock);
}

bool amp_shared_forms_are_kept(const void *of)
{
    pthread_mutex_lock(&lock);
    bool is = is_kept(of);
    pthread_mutex_unlock(&lock);
    return is;
}

struct amp_buffer *amp_shared_form_find(const void *of, struct amp_form_kind kind)
{
    pthread_mutex_lock(&lock);
    const struct form *form = find(of, kind);
    struct amp_buffer *buffer = form != NULL ? amp_buffer_ref(form->buffer) : NULL;
    pthread_mutex_unlock(&lock);
    return buffer;
}

void amp_shared_form_add(const void *of, struct amp_form_kind kind, struct amp_buffer *form)
{
    size_t most = amp_memory_limit() / MEMORY_SHARE;
    pthread_mutex_lock(&lock);
    bool has_room = table.used + form->capacity <= most;
    if (has_room && is_kept(of) && find(of, kind) == NULL)
        add(of, kind, form);
    pthread_mutex_unlock(&lock);
}
