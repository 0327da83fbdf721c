/*
 * Ten thousand damaged models through the reader and inference (mutate_bytes.h). Nothing is
 * asserted of the outcome but that there is one, with a message where it is a failure; the
 * sanitizers watch for the rest.
 */
#include "mutate_bytes.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { MUTATIONS = 10000 };

static void read_mutant(const struct bytes *bytes)
{
    char path[64];
    int fd = memfd_create("mutant", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes->data, bytes->size), (ssize_t)bytes->size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct amp_model_file file;
    struct amp_error err = {.status = AMP_OK};
    enum amp_status status = amp_model_read(path, &file, &err);
    if (status == AMP_OK) {
        status = amp_infer(file.model, &err);
        amp_model_close(&file);
    }
    assert_int_equal(status, err.status);
    assert_true(status == AMP_OK || err.text[0] != '\0');
    close(fd);
}

static void mutated_models_are_refused_or_read(void **unused)
{
    (void)unused;
    glob_t seeds;
    assert_int_equal(glob("build/cases/read/*/model.onnx", 0, NULL, &seeds), 0);
    assert_int_equal(glob("models/*.onnx", GLOB_APPEND, NULL, &seeds), 0);
    uint64_t state = 1;
    for (size_t i = 0; i < MUTATIONS; i++) {
        struct amp_bytes bytes;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_bytes_open(&bytes, seeds.gl_pathv[i % seeds.gl_pathc], &err), AMP_OK);
        if (bytes.size > 0) {
            struct bytes mutant = {.arena = amp_arena_create()};
            put(&mutant, bytes.data, bytes.size);
            mutate_bytes(&mutant, NULL, 0, &state);
            read_mutant(&mutant);
            amp_arena_destroy(mutant.arena);
        }
        amp_bytes_close(&bytes);
    }
    globfree(&seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_models_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
