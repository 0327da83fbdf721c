/* Memory that ends: the operators' cases run with less of it than they take. What comes of it is a
   refusal, with all memory returned, or the result that there is with enough of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/memory.h"
#include "trial.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMITS = 12, ENOUGH = 1000000000 };

static void expect_same(const struct trial *trial, const struct amp_tensor *outputs, size_t limit)
{
    for (size_t i = 0; i < trial->n_outputs; i++) {
        const struct amp_tensor *found = &outputs[i], *wanted = &trial->outputs[i];
        if (amp_tensor_is_list(wanted) || wanted->dtype == AMP_STRING)
            continue;
        if (found->dtype != wanted->dtype || !amp_shape_equal(&found->shape, &wanted->shape) ||
            (amp_tensor_size(wanted) > 0 &&
             memcmp(found->data, wanted->data, amp_tensor_size(wanted)) != 0))
            fail_msg("%s: with %zu bytes output %zu is another", trial->path, limit, i);
    }
}

static void run_with(const struct trial *trial, size_t limit)
{
    struct amp_error err;
    struct amp_tensor *outputs = amp_xcalloc(trial->n_outputs + 1, sizeof *outputs);
    size_t used = amp_memory_used();
    amp_memory_set_limit(limit);
    enum amp_status status = trial_run(trial, outputs, &err);
    if (status == AMP_OK)
        expect_same(trial, outputs, limit);
    else if ((status != AMP_IO && status != AMP_UNSUPPORTED) || err.text[0] == '\0')
        fail_msg("%s: with %zu bytes: %s", trial->path, limit, err.text);
    amp_tensors_release(outputs, trial->n_outputs);
    free(outputs);
    if (amp_memory_used() != used)
        fail_msg("%s: with %zu bytes: memory was not returned", trial->path, limit);
}

/* Case number NUMBER with limits of which each is in another part of what the case takes, and not
   where those of other cases are. Whether the case ran. */
static bool try_case(const char *path, size_t number)
{
    struct trial trial = {.path = path};
    struct amp_error err;
    amp_memory_set_limit(ENOUGH);
    bool has_run = trial_open(&trial) && !trial_is_random(&trial);
    size_t used = amp_memory_used();
    amp_memory_restart_peak();
    has_run = has_run && trial_run(&trial, trial.outputs, &err) == AMP_OK;
    size_t most = amp_memory_peak() - used, kept = amp_memory_used();
    for (size_t i = 0; has_run && i < LIMITS; i++)
        run_with(&trial, kept + most * (16 * i + number * 7 % 16) / ((size_t)16 * LIMITS));
    if (has_run && most > 0)
        run_with(&trial, kept + most - 1);
    trial_close(&trial);
    return has_run;
}

static void want_of_memory_is_refused_or_made_do_with(void **state)
{
    glob_t paths;
    size_t count = 0;
    (void)state;
    assert_int_equal(glob("build/cases/ops/*/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        count += try_case(paths.gl_pathv[i], i);
    globfree(&paths);
    assert_true(count > 1000);
}

int main(void)
{
    amp_session_set_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(want_of_memory_is_refused_or_made_do_with),
    };
    return cmocka_run_group_tests_name("scarce", tests, NULL, NULL);
}
