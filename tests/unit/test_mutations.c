/*
 * Ten thousand damaged models through the reader and inference: bytes flipped, runs overwritten,
 * files cut. Nothing is asserted of the outcome but that there is one, with a message where it is a
 * failure; the sanitizers watch for the rest.
 */
#include "onnx/infer.h"
#include "onnx/read.h"

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

enum { MUTATIONS = 10000, FLIPS_MAX = 8, RUN_MAX = 16 };

/* splitmix64, so that a failure can be had again. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t bound)
{
    return (size_t)(next_random(state) % bound);
}

static void flip_bytes(unsigned char *data, size_t size, uint64_t *state)
{
    for (size_t n = 1 + below(state, FLIPS_MAX); n > 0; n--)
        data[below(state, size)] ^= (unsigned char)(1u << below(state, 8));
}

/* Extreme values where lengths, counts and dims are. */
static void overwrite_run(unsigned char *data, size_t size, uint64_t *state)
{
    static const unsigned char fills[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    size_t at = below(state, size), length = 1 + below(state, RUN_MAX);
    unsigned char fill = fills[below(state, sizeof fills)];
    memset(data + at, fill, length < size - at ? length : size - at);
}

static size_t mutate(unsigned char *data, size_t size, uint64_t *state)
{
    switch (below(state, 4)) {
    case 0:
        return below(state, size);
    case 1:
        overwrite_run(data, size, state);
        return size;
    case 2:
        overwrite_run(data, size, state);
        flip_bytes(data, size, state);
        return size;
    default:
        flip_bytes(data, size, state);
        return size;
    }
}

static void read_mutant(const unsigned char *data, size_t size)
{
    char path[64];
    int fd = memfd_create("mutant", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
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
    assert_int_equal(glob("tests/read/*/model.onnx", 0, NULL, &seeds), 0);
    assert_int_equal(glob("models/*.onnx", GLOB_APPEND, NULL, &seeds), 0);
    uint64_t state = 1;
    for (size_t i = 0; i < MUTATIONS; i++) {
        struct amp_bytes bytes;
        struct amp_error err = {.status = AMP_OK};
        assert_int_equal(amp_bytes_open(&bytes, seeds.gl_pathv[i % seeds.gl_pathc], &err), AMP_OK);
        if (bytes.size > 0) {
            unsigned char *copy = malloc(bytes.size);
            memcpy(copy, bytes.data, bytes.size);
            read_mutant(copy, mutate(copy, bytes.size, &state));
            free(copy);
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
