/* What can be refused, refused once: each buffer that a run takes, each claim of memory, each call
   of oneDNN that can fail, one after the other, in the operators' cases. Where the program asks
   once more or goes another way the outputs are those of an undisturbed run; else the run ends with
   what was refused as its error. Nothing stays allocated. The linker lets the program's functions
   pass here (__wrap_); oneDNN's are passed by these of the same names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/buffer.h"
#include "core/memory.h"
#include "ops/kernel/tensor_cast.h"
#include "trial.h"

#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At most so many refusals in a case, spread over all that could be refused. */
enum { REFUSALS = 48 };

/* ---- what is refused ------------------------------------------------------------------------- */

/* How many calls have come since the count began, which of them is refused (0: none), what it was
   and what oneDNN answers. Where that is that it has no such thing, only what it makes counts. */
static struct {
    size_t count, refused;
    const char *what;
    dnnl_status_t answer;
} calls;

static bool is_refused(bool can_lack, const char *what)
{
    if (calls.answer != dnnl_out_of_memory && !can_lack)
        return false;
    if (++calls.count != calls.refused)
        return false;
    calls.what = what;
    return true;
}

struct amp_buffer *__real_amp_buffer_create(size_t size);
struct amp_buffer *__wrap_amp_buffer_create(size_t size);
bool __real_amp_memory_claim(size_t size);
bool __wrap_amp_memory_claim(size_t size);

/* What a buffer held before, the right outputs maybe, is no longer in it. */
struct amp_buffer *__wrap_amp_buffer_create(size_t size)
{
    struct amp_buffer *buffer = is_refused(false, "buffer") ? NULL : __real_amp_buffer_create(size);
    if (buffer != NULL)
        memset(buffer->data, 0xa5, size);
    return buffer;
}

bool __wrap_amp_memory_claim(size_t size)
{
    return !is_refused(false, "claim") && __real_amp_memory_claim(size);
}

#define REFUSABLE(name, can_lack, parameters, ...)                             \
    dnnl_status_t name parameters                                              \
    {                                                                          \
        static dnnl_status_t(*real) parameters;                                \
        if (real == NULL)                                                      \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                         \
        return is_refused(can_lack, #name) ? calls.answer : real(__VA_ARGS__); \
    }

REFUSABLE(dnnl_memory_create, true,
          (dnnl_memory_t * memory, const_dnnl_memory_desc_t desc, dnnl_engine_t engine, void *data),
          memory, desc, engine, data)
REFUSABLE(dnnl_memory_desc_create_with_strides, true,
          (dnnl_memory_desc_t * desc, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
           const dnnl_dims_t strides),
          desc, rank, dims, type, strides)
REFUSABLE(dnnl_memory_desc_create_with_tag, true,
          (dnnl_memory_desc_t * desc, int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
           dnnl_format_tag_t tag),
          desc, rank, dims, type, tag)
REFUSABLE(dnnl_post_ops_create, true, (dnnl_post_ops_t * ops), ops)
REFUSABLE(dnnl_post_ops_append_binary, true,
          (dnnl_post_ops_t ops, dnnl_alg_kind_t kind, const_dnnl_memory_desc_t desc), ops, kind,
          desc)
REFUSABLE(dnnl_post_ops_append_eltwise, true,
          (dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta), ops, kind, alpha,
          beta)
REFUSABLE(dnnl_primitive_attr_create, true, (dnnl_primitive_attr_t * attr), attr)
REFUSABLE(dnnl_primitive_attr_set_post_ops, true,
          (dnnl_primitive_attr_t attr, const_dnnl_post_ops_t ops), attr, ops)
REFUSABLE(dnnl_primitive_attr_set_scratchpad_mode, true,
          (dnnl_primitive_attr_t attr, dnnl_scratchpad_mode_t mode), attr, mode)
REFUSABLE(dnnl_primitive_create, true,
          (dnnl_primitive_t * primitive, const_dnnl_primitive_desc_t desc), primitive, desc)
REFUSABLE(dnnl_primitive_execute, false,
          (const_dnnl_primitive_t primitive, dnnl_stream_t stream, int n,
           const dnnl_exec_arg_t *args),
          primitive, stream, n, args)
REFUSABLE(dnnl_reorder_primitive_desc_create, true,
          (dnnl_primitive_desc_t * desc, const_dnnl_memory_desc_t from, dnnl_engine_t from_engine,
           const_dnnl_memory_desc_t to, dnnl_engine_t to_engine, const_dnnl_primitive_attr_t attr),
          desc, from, from_engine, to, to_engine, attr)
REFUSABLE(dnnl_stream_wait, false, (dnnl_stream_t stream), stream)
REFUSABLE(dnnl_sgemm, false,
          (char ta, char tb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha, const float *a,
           dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc),
          ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)

/* ---- one refusal ----------------------------------------------------------------------------- */

static bool is_near_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-3 + 2e-2 * fabs(b);
}

/* Whether FOUND is WANTED: to the bit, floats within what another kernel rounds otherwise. */
static bool is_same(const struct amp_tensor *found, const struct amp_tensor *wanted)
{
    if (amp_tensor_is_list(wanted) || wanted->dtype == AMP_STRING)
        return true;
    if (found->dtype != wanted->dtype || !amp_shape_equal(&found->shape, &wanted->shape))
        return false;
    if (amp_dtype_class(wanted->dtype) != AMP_CLASS_FLOAT)
        return amp_tensor_size(wanted) == 0 ||
               memcmp(found->data, wanted->data, amp_tensor_size(wanted)) == 0;
    struct amp_tensor a = {.dtype = AMP_UNDEFINED}, b = a;
    bool is_near = amp_tensor_cast_copy(found, AMP_DOUBLE, &a, NULL) == AMP_OK &&
                   amp_tensor_cast_copy(wanted, AMP_DOUBLE, &b, NULL) == AMP_OK;
    for (int64_t i = 0; is_near && i < amp_shape_count(&wanted->shape); i++)
        is_near = is_near_number(((double *)a.data)[i], ((double *)b.data)[i]);
    amp_tensor_release(&a);
    amp_tensor_release(&b);
    return is_near;
}

/* Whether a run cannot do without the refused call: it was one of oneDNN. Convolutions of bytes,
   and layouts that need not be described, have something else. */
static bool needs_call(const struct trial *trial)
{
    static const char *const others[] = {"/conv_integer", "/qlinear_conv"}, *const layouts[] = {
                                                                                "/layout_",
                                                                                "/gradient/",
                                                                                "/conv_depthwise"};
    if (calls.what == NULL || strncmp(calls.what, "dnnl_", 5) != 0)
        return false;
    bool is_layout = strncmp(calls.what, "dnnl_memory_desc_create", 23) == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(trial->path, others[i]) != NULL)
            return false;
    for (size_t i = 0; is_layout && i < sizeof layouts / sizeof *layouts; i++)
        if (strstr(trial->path, layouts[i]) != NULL)
            return false;
    return true;
}

static size_t n_complaints;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vprint_error(format, words);
    va_end(words);
    print_error("\n");
    n_complaints++;
}

static void refuse(const struct trial *trial, size_t number)
{
    struct amp_error err;
    struct amp_tensor *outputs = amp_xcalloc(trial->n_outputs + 1, sizeof *outputs);
    size_t used = amp_memory_used();
    calls.count = 0;
    calls.refused = number;
    calls.what = NULL;
    enum amp_status status = trial_run(trial, outputs, &err);
    calls.refused = 0;
    bool is_want = calls.answer == dnnl_out_of_memory;
    if (status != AMP_OK && (status != (is_want ? AMP_IO : AMP_UNSUPPORTED) ||
                             strstr(err.text, is_want ? "out of memory" : "") == NULL))
        complain("%s: without call %zu, %s: status %d: %s", trial->path, number, calls.what,
                 (int)status, err.text);
    if (status == AMP_OK && is_want && needs_call(trial))
        complain("%s: without call %zu, %s: done", trial->path, number, calls.what);
    for (size_t i = 0; status == AMP_OK && i < trial->n_outputs; i++)
        if (!is_same(&outputs[i], &trial->outputs[i]))
            complain("%s: without call %zu, %s: output %zu is another", trial->path, number,
                     calls.what, i);
    amp_tensors_release(outputs, trial->n_outputs);
    free(outputs);
    if (amp_memory_used() > used)
        complain("%s: without call %zu, %s: memory was not returned", trial->path, number,
                 calls.what);
}

static void refuse_each(const struct trial *trial)
{
    refuse(trial, 0);
    size_t n = calls.count, step = n / REFUSALS + 1;
    for (size_t i = 1; i <= n; i += step)
        refuse(trial, i);
}

/* Whether the case ran. */
static bool try_case(const char *path)
{
    struct trial trial = {.path = path};
    struct amp_error err;
    bool has_run = trial_open(&trial) && !trial_is_random(&trial) &&
                   trial_run(&trial, trial.outputs, &err) == AMP_OK;
    if (has_run) {
        calls.answer = dnnl_out_of_memory;
        refuse_each(&trial);
        calls.answer = dnnl_unimplemented;
        refuse_each(&trial);
    }
    trial_close(&trial);
    return has_run;
}

static void what_is_refused_once_is_an_error_or_done_otherwise(void **state)
{
    glob_t paths;
    size_t count = 0;
    (void)state;
    assert_int_equal(glob("build/cases/ops/*/*/model.onnx", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        count += try_case(paths.gl_pathv[i]);
    globfree(&paths);
    assert_true(count > 1000);
    assert_int_equal(n_complaints, 0);
}

int main(void)
{
    amp_session_set_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused_once_is_an_error_or_done_otherwise),
    };
    return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
