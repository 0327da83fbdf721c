#ifndef AMP_TESTS_SCRATCH_H
#define AMP_TESTS_SCRATCH_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

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

#endif
