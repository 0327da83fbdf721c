/* The account of memory, and what arenas claim from it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "core/tensor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MB = 1000000 };

/* Kilobytes of the line of /proc/meminfo that begins with KEY. */
static size_t meminfo(const char *key)
{
    char line[256];
    size_t number = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && number == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtoul(line + strlen(key), NULL, 10);
    if (file != NULL)
        fclose(file);
    return number;
}

/* What is there changes all the time; half of it or twice as much it is not. */
static void the_first_limit_is_what_is_there(void **state)
{
    size_t most = meminfo("MemTotal:"), limit = amp_memory_limit() / 1024;
    size_t free = meminfo("MemAvailable:") + meminfo("SwapFree:");
    (void)state;
    if (free == 0 || access("/sys/fs/cgroup/memory.max", R_OK) == 0)
        skip();
    free = free < most ? free : most;
    assert_in_range(limit, free * 3 / 4, free * 5 / 4);
}

/* What the system's files say of memory, in the place of those that there are; NULL: no file. */
struct said {
    const char *meminfo, *most, *taken;
};
static const struct said *system_says;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's are reserved */
/* In the place of the system's. */
FILE *fopen(const char *path, const char *mode)
{
    const char *text = NULL;
    if (system_says == NULL) {
        int descriptor = open(path, O_RDONLY);
        return descriptor < 0 ? NULL : fdopen(descriptor, mode);
    }
    if (strcmp(path, "/proc/meminfo") == 0)
        text = system_says->meminfo;
    else if (strcmp(path, "/sys/fs/cgroup/memory.max") == 0)
        text = system_says->most;
    else if (strcmp(path, "/sys/fs/cgroup/memory.current") == 0)
        text = system_says->taken;
    return text == NULL ? NULL : fmemopen((char *)(uintptr_t)text, strlen(text), mode);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* The first limit under what is said, as a process of its own finds it, is WANTED; it comes back as
   a status. */
static void expect_limit(const struct said *texts, size_t wanted)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        system_says = texts;
        _exit(amp_memory_limit() == wanted ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

/* Memory and swap that are free, or what the control group has left of its share if that is less;
   all of the machine's where nothing is said. Goes before whatever asks for the limit. */
static void the_system_says_what_is_there(void **state)
{
    static const char free[] = "MemTotal:  9999 kB\nMemAvailable:  1000 kB\nSwapFree:  24 kB\n";
    size_t all = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    expect_limit(&(struct said){NULL, NULL, NULL}, all);
    expect_limit(&(struct said){"MemTotal: 9999 kB\nSwapFree: 24 kB\n", NULL, NULL}, all);
    expect_limit(&(struct said){"MemAvailable: 1 kB\n", NULL, NULL}, 1024);
    expect_limit(&(struct said){free, NULL, NULL}, 1024 * 1024);
    expect_limit(&(struct said){free, "max\n", "3000\n"}, 1024 * 1024);
    expect_limit(&(struct said){free, "10000\n", "3000\n"}, 7000);
    expect_limit(&(struct said){free, "10000\n", NULL}, 10000);
    expect_limit(&(struct said){free, "10000\n", "10000\n"}, 0);
    expect_limit(&(struct said){free, "10000\n", "10001\n"}, 0);
    expect_limit(&(struct said){free, "90000000\n", "3000\n"}, 1024 * 1024);
    expect_limit(&(struct said){NULL, "1\n", NULL}, 1);
}

/* Three digits, and a unit that is a thousand of the one before. */
static void sizes_have_texts(void **state)
{
    static const struct {
        size_t size;
        const char *text;
    } rows[] = {{0, "0 bytes"},
                {999, "999 bytes"},
                {1000, "1.0 KB"},
                {999949, "999.9 KB"},
                {1000000, "1.0 MB"},
                {2500000000, "2.5 GB"},
                {1000000000000, "1.0 TB"},
                {3000000000000000, "3.0 PB"},
                {SIZE_MAX, "18.4 EB"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        assert_string_equal(amp_memory_text(rows[i].size, text), rows[i].text);
    }
}

static void claims_are_bounded(void **state)
{
    (void)state;
    amp_memory_set_limit(10 * MB);
    assert_true(amp_memory_has(10 * MB));
    assert_false(amp_memory_has(10 * MB + 1));
    assert_true(amp_memory_claim(7 * MB));
    assert_false(amp_memory_claim(3 * MB + 1));
    assert_int_equal(amp_memory_used(), 7 * MB);
    amp_memory_return(7 * MB);
    assert_int_equal(amp_memory_used(), 0);
    assert_int_equal(amp_memory_peak(), 7 * MB);
    amp_memory_restart_peak();
    assert_int_equal(amp_memory_peak(), 0);
}

static void the_basis_is_free(void **state)
{
    (void)state;
    amp_memory_set_limit(1 * MB);
    assert_true(amp_memory_claim_basis(AMP_MEMORY_BASIS - 10));
    assert_int_equal(amp_memory_used(), 0);
    assert_false(amp_memory_claim_basis(1 * MB + 11));
    assert_true(amp_memory_claim_basis(1 * MB + 10));
    assert_int_equal(amp_memory_used(), 1 * MB);
    amp_memory_return_basis(AMP_MEMORY_BASIS);
    assert_int_equal(amp_memory_used(), 0);
    amp_memory_return_basis(1 * MB);
    assert_int_equal(amp_memory_used(), 0);
}

static void arenas_claim_and_return(void **state)
{
    (void)state;
    enum { LARGE = 40 * MB };
    amp_memory_set_limit(100 * MB);
    struct amp_arena *arena = amp_arena_create();
    char *small = amp_arena_strdup(arena, "small"), *large = amp_arena_alloc(arena, LARGE);
    assert_in_range(amp_memory_used(), LARGE - AMP_MEMORY_BASIS, LARGE);
    char *second = amp_arena_alloc(arena, LARGE);
    memset(second, 1, LARGE);
    amp_arena_release(arena, large, LARGE);
    assert_in_range(amp_memory_used(), LARGE - AMP_MEMORY_BASIS, LARGE);
    amp_arena_release(arena, small, sizeof "small");
    assert_string_equal(small, "small");
    assert_int_equal(second[LARGE - 1], 1);
    assert_string_equal(amp_arena_strdup(arena, "more"), "more");
    amp_arena_destroy(arena);
    assert_int_equal(amp_memory_used(), 0);
}

/* The first block of an arena may be a large one, and go. */
static void all_of_an_arena_can_be_released(void **state)
{
    (void)state;
    amp_memory_set_limit(100 * MB);
    struct amp_arena *arena = amp_arena_create();
    amp_arena_release(arena, amp_arena_alloc(arena, 40 * MB), 40 * MB);
    amp_arena_release(arena, NULL, 0);
    amp_arena_release(arena, NULL, 40 * MB);
    assert_int_equal(amp_memory_used(), 0);
    assert_string_equal(amp_arena_strdup(arena, "again"), "again");
    amp_arena_destroy(arena);
}

/* What is kept counts as used, is given out again, and is freed where a claim needs its room. */
static void buffers_are_kept_or_freed(void **state)
{
    (void)state;
    amp_memory_set_limit(10 * MB);
    amp_buffers_keep();
    amp_buffer_unref(amp_buffer_create(4 * MB));
    assert_in_range(amp_memory_used(), 4 * MB, 5 * MB);
    struct amp_buffer *buffer = amp_buffer_create(4 * MB);
    assert_in_range(amp_memory_used(), 4 * MB, 5 * MB);
    amp_buffer_discard(buffer);
    assert_int_equal(amp_memory_used(), 0);
    amp_buffer_unref(amp_buffer_create(4 * MB));
    assert_true(amp_buffer_has_room(8 * MB));
    assert_int_equal(amp_memory_used(), 0);
    amp_buffer_unref(amp_buffer_create(4 * MB));
    amp_buffers_let_go();
    assert_int_equal(amp_memory_used(), 0);
    amp_buffer_unref(amp_buffer_create(4 * MB));
    assert_int_equal(amp_memory_used(), 0);
}

/* A buffer takes the same beside its bytes whatever their number: all that is left can be had, and
   not a byte more; what is kept goes where that makes room. */
static void buffers_fit_to_the_byte(void **state)
{
    (void)state;
    amp_memory_set_limit(10 * MB);
    struct amp_buffer *buffer = amp_buffer_create(4 * MB);
    assert_non_null(buffer);
    const size_t own = amp_memory_used() - 4 * MB, left = 10 * MB - amp_memory_used();
    assert_in_range(own, 1, 1000);
    assert_true(amp_buffer_has_room(left - own));
    assert_false(amp_buffer_has_room(left - own + 1));
    assert_null(amp_buffer_create(left - own + 1));
    assert_int_equal(amp_memory_used(), 4 * MB + own);
    struct amp_buffer *rest = amp_buffer_create(left - own);
    assert_non_null(rest);
    assert_int_equal(amp_memory_used(), 10 * MB);
    amp_buffer_unref(rest);
    amp_buffer_unref(buffer);
    assert_int_equal(amp_memory_used(), 0);
    amp_buffers_keep();
    for (int makes = 0; makes < 2; makes++)
        for (size_t size = left - own + 1; size <= left; size += own - 1) {
            amp_buffer_unref(amp_buffer_create(4 * MB));
            assert_int_equal(amp_memory_used(), 4 * MB + own);
            if (makes)
                amp_buffer_discard(amp_buffer_create(size));
            else
                assert_true(amp_buffer_has_room(size));
            assert_int_equal(amp_memory_used(), 0);
        }
    amp_buffers_let_go();
    assert_false(amp_buffer_has_room(SIZE_MAX));
    assert_false(amp_buffer_has_room(SIZE_MAX / 2 + 1));
    assert_null(amp_buffer_create(SIZE_MAX));
    assert_int_equal(amp_memory_used(), 0);
    amp_memory_set_limit(SIZE_MAX);
    assert_true(amp_buffer_has_room(SIZE_MAX / 2));
    assert_false(amp_buffer_has_room(SIZE_MAX / 2 + 1));
    assert_null(amp_buffer_create(SIZE_MAX / 2 + 1));
    assert_int_equal(amp_memory_used(), 0);
}

/* A kept buffer serves for what is smaller by an eighth and 256 bytes, and for no less; the former
   one is given before one that fits better, and else the one that fits best. */
static void kept_buffers_are_chosen(void **state)
{
    enum { SIZE = 80000, MOST = SIZE + SIZE / 8 + 256 };
    (void)state;
    amp_memory_set_limit(10 * MB);
    amp_buffers_keep();
    struct amp_buffer *exact = amp_buffer_create(SIZE), *larger = amp_buffer_create(MOST);
    struct amp_buffer *too_large = amp_buffer_create(MOST + 1);
    struct amp_buffer *too_small = amp_buffer_create(SIZE - 1);
    amp_buffer_unref(exact);
    amp_buffer_unref(larger);
    amp_buffer_unref(too_large);
    amp_buffer_unref(too_small);
    assert_ptr_equal(amp_buffer_create_again(larger, SIZE), larger);
    assert_ptr_equal(amp_buffer_create_again(larger, SIZE), exact);
    amp_buffer_unref(larger);
    amp_buffer_unref(exact); /* is found first now */
    assert_ptr_equal(amp_buffer_create_again(larger, SIZE), larger);
    assert_ptr_equal(amp_buffer_create(SIZE), exact);
    amp_buffer_unref(larger);
    amp_buffer_unref(exact);
    assert_ptr_equal(amp_buffer_create(SIZE), exact);
    assert_ptr_equal(amp_buffer_create(SIZE), larger);
    struct amp_buffer *new = amp_buffer_create(SIZE);
    assert_ptr_not_equal(new, too_large);
    assert_ptr_not_equal(new, too_small);
    assert_ptr_equal(amp_buffer_create(SIZE - 1), too_small);
    amp_buffer_discard(new);
    amp_buffer_discard(exact);
    amp_buffer_discard(larger);
    amp_buffer_discard(too_small);
    amp_buffers_let_go();
    assert_int_equal(amp_memory_used(), 0);
}

typedef void *taker(struct amp_arena *arena);

static void *take_in_arena(struct amp_arena *arena)
{
    return amp_arena_alloc(arena, 100 * MB);
}

static void *take_outside(struct amp_arena *arena)
{
    (void)arena;
    return amp_xmalloc(100, MB);
}

static void *take_zeroed(struct amp_arena *arena)
{
    (void)arena;
    return amp_xcalloc(100, MB);
}

static void *take_grown(struct amp_arena *arena)
{
    (void)arena;
    return amp_xrealloc(NULL, 100, MB);
}

/* What ends early leaks what its caller, cmocka too, holds; what is too large is refused. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:allocator_may_return_null=1";
}

/* TAKE in a process of its own, which must end with WANTED. */
static void expect_end(taker *take, const char *wanted)
{
    int ends[2], status;
    char said[256] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        amp_memory_set_limit(20 * MB);
        dup2(ends[1], STDERR_FILENO);
        take(amp_arena_create());
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], said, sizeof said - 1) >= 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(said, wanted);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), AMP_EXIT_SYSTEM);
}

/* What may hold weights begins where a huge page does, and is no larger than was asked for. */
static void large_buffers_suit_huge_pages(void **state)
{
    const size_t huge = (size_t)2 << 20;
    const size_t sizes[] = {huge, huge + 1, 3 * huge - 1};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct amp_buffer *buffer = amp_buffer_create(sizes[i]);
        assert_non_null(buffer);
        assert_int_equal((uintptr_t)buffer->data % huge, 0);
        assert_int_equal(buffer->capacity, sizes[i]);
        memset(buffer->data, 1, sizes[i]);
        amp_buffer_unref(buffer);
    }
}

static void the_end_of_memory_is_said(void **state)
{
    static taker *const takers[] = {take_in_arena, take_outside, take_zeroed, take_grown};
    (void)state;
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        expect_end(takers[i], "ampconv: out of memory: the next part of the graph takes 100.0 MB; "
                              "0 bytes of 20.0 MB are in use\n");
}

/* What the account has, and the system does not, goes back to the account. */
static void what_the_system_refuses_is_returned(void **state)
{
    (void)state;
    amp_memory_set_limit(SIZE_MAX);
    assert_null(amp_buffer_create((size_t)1 << 62));
    assert_int_equal(amp_memory_used(), 0);
}

/* Tensors that memory has no room for are refused with what they are, and hold nothing. */
static void tensors_beyond_memory_are_refused(void **state)
{
    char letters[] = "ab", *text;
    struct amp_str large = {letters, 2 * MB};
    struct amp_tensor floats = {.dtype = AMP_FLOAT, .shape = {2, {1000, 1000}}};
    struct amp_tensor strings = {.dtype = AMP_STRING, .shape = {1, {1}}};
    struct amp_tensor borrowed = {.dtype = AMP_STRING, .shape = {1, {1}}, .data = &large};
    struct amp_tensor list = {.data = NULL};
    (void)state;
    amp_memory_set_limit(1 * MB);
    for (int i = 0; i < 4; i++) {
        static const char *const texts[] = {
            "out of memory: float32 [1000, 1000] takes 4.0 MB; 0 bytes of 1.0 MB are in use",
            "out of memory: strings takes 2.0 MB; 0 bytes of 1.0 MB are in use",
            "out of memory: strings takes 2.0 MB; 0 bytes of 1.0 MB are in use",
            "out of memory: a list of tensors takes "};
        struct amp_error err = {.status = AMP_OK};
        enum amp_status status = i == 0   ? amp_tensor_alloc(&floats, &err)
                                 : i == 1 ? amp_strings_alloc(&strings, 2 * MB, &text, &err)
                                 : i == 2 ? amp_strings_own(&borrowed, &err)
                                          : amp_list_alloc(&list, AMP_FORM_SEQUENCE, 1 * MB, &err);
        assert_int_equal(status, AMP_IO);
        assert_int_equal(strncmp(err.text, texts[i], strlen(texts[i])), 0);
        assert_int_equal(amp_memory_used(), 0);
    }
    assert_true(floats.data == NULL && strings.data == NULL && list.data == NULL);
    assert_ptr_equal(borrowed.data, &large);
}

/* Outside of arenas what fits the basis is given whatever the account has, and more where that has
   room. */
static void memory_outside_of_arenas_is_given(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        size_t size = AMP_MEMORY_BASIS + more;
        amp_memory_set_limit(more * size);
        free(amp_xmalloc(1, size));
        free(amp_xcalloc(size, 1));
        free(amp_xrealloc(NULL, 1, size));
    }
}

static void threads_may_claim(void **state)
{
    (void)state;
    size_t refused = 0;
    amp_memory_set_limit(4 * MB);
    amp_memory_restart_peak();
#pragma omp parallel for num_threads(4) reduction(+ : refused)
    for (int i = 0; i < 200000; i++) {
        if (amp_memory_claim(1 * MB))
            amp_memory_return(1 * MB);
        else
            refused++;
    }
    assert_int_equal(refused, 0);
    assert_int_equal(amp_memory_used(), 0);
    assert_in_range(amp_memory_peak(), 1 * MB, 4 * MB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_says_what_is_there),
        cmocka_unit_test(the_first_limit_is_what_is_there),
        cmocka_unit_test(sizes_have_texts),
        cmocka_unit_test(claims_are_bounded),
        cmocka_unit_test(the_basis_is_free),
        cmocka_unit_test(arenas_claim_and_return),
        cmocka_unit_test(all_of_an_arena_can_be_released),
        cmocka_unit_test(buffers_are_kept_or_freed),
        cmocka_unit_test(buffers_fit_to_the_byte),
        cmocka_unit_test(kept_buffers_are_chosen),
        cmocka_unit_test(large_buffers_suit_huge_pages),
        cmocka_unit_test(the_end_of_memory_is_said),
        cmocka_unit_test(what_the_system_refuses_is_returned),
        cmocka_unit_test(tensors_beyond_memory_are_refused),
        cmocka_unit_test(memory_outside_of_arenas_is_given),
        cmocka_unit_test(threads_may_claim),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
