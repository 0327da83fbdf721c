#ifndef AMP_TESTS_SCRATCH_H
#define AMP_TESTS_SCRATCH_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Folders for what a test writes. */

enum { SCRATCH_MAX = 1024 };

/* The folder for temporary files. */
static inline const char *scratch_root(void)
{
    const char *root = getenv("TMPDIR");
    return root != NULL && *root != '\0' ? root : "/tmp";
}

/* Makes an empty folder of the caller's own and writes its path to PATH. */
static inline void scratch_folder(char *path, size_t size)
{
    int length = snprintf(path, size, "%s/ampconv-test.XXXXXX", scratch_root());
    assert_in_range(length, 1, size - 1);
    assert_non_null(mkdtemp(path));
}

/* For the tests of a group: goes into such a folder, and removes it. */
static inline int scratch_enter(void **state)
{
    char *path = malloc(SCRATCH_MAX);
    assert_non_null(path);
    scratch_folder(path, SCRATCH_MAX);
    *state = path;
    return chdir(path);
}

static inline int scratch_leave(void **state)
{
    char command[SCRATCH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf %s", (const char *)*state);
    free(*state);
    return chdir("/") != 0 || system(command) != 0;
}

#endif
