/* Folding casts whose first of a kind goes away while others were to stand on it: graphs before, as
   text after. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "autocast/cast_fold.h"
#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "core/status.h"

struct fixture {
    struct amp_arena *arena;
    struct amp_model *model;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->arena = amp_arena_create();
    f->model = amp_model_create(f->arena, "test.onnx");
    amp_graph_add(f->model, "main", AMP_NONE);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    amp_arena_destroy(f->arena);
    free(f);
    return 0;
}

static uint32_t value(struct fixture *f, const char *name, enum amp_dtype dtype)
{
    uint32_t id = amp_graph_add_value(f->model, 0, name);
    amp_value_at(f->model, id)->kind = AMP_KIND_TENSOR;
    amp_value_at(f->model, id)->dtype = dtype;
    return id;
}

static uint32_t input(struct fixture *f, const char *name, enum amp_dtype dtype)
{
    uint32_t id = value(f, name, dtype);
    amp_value_at(f->model, id)->is_input = true;
    amp_ids_push(f->model, &f->model->graphs[0].inputs, id);
    return id;
}

static void output(struct fixture *f, uint32_t id)
{
    amp_value_at(f->model, id)->is_output = true;
    amp_ids_push(f->model, &f->model->graphs[0].outputs, id);
}

/* A node of one input and one output NAME; the output's id. */
static uint32_t node(struct fixture *f, const char *op_type, uint32_t from, const char *name,
                     enum amp_dtype dtype)
{
    uint32_t to = value(f, name, dtype);
    uint32_t id = amp_graph_add_node(f->model, 0, op_type, 1, 1);
    amp_node_at(f->model, id)->inputs[0] = from;
    amp_node_set_output(f->model, id, 0, to);
    return to;
}

static void assert_folds_to(struct fixture *f, size_t n_removed, const char *expected)
{
    char *text = NULL;
    size_t size;
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_cast_fold(f->model, true, UINT32_MAX), n_removed);
    FILE *file = open_memstream(&text, &size);
    amp_model_dump(file, f->model, NULL, NULL);
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(amp_graph_check(f->model, &err), AMP_OK);
    free(text);
}

/* The first cast of x to float32 has been skipped by its consumer when the next one comes. */
static void a_skipped_cast_stands_for_no_other(void **state)
{
    struct fixture *f = *state;
    uint32_t x = input(f, "x", AMP_BFLOAT16);
    uint32_t wide = node(f, "Cast", x, "wide", AMP_FLOAT);
    uint32_t back = node(f, "Cast", wide, "back", AMP_BFLOAT16);
    uint32_t again = node(f, "Cast", x, "again", AMP_FLOAT);
    output(f, node(f, "Neg", back, "lower", AMP_BFLOAT16));
    output(f, node(f, "Neg", again, "higher", AMP_FLOAT));
    assert_folds_to(f, 2,
                    "ir 0\n"
                    "input x bfloat16\n"
                    "node Cast (x) -> again float32\n"
                    "node Neg (x) -> lower bfloat16\n"
                    "node Neg (again) -> higher float32\n"
                    "output lower bfloat16\n"
                    "output higher float32\n");
}

/* The second cast is to be replaced by the first, whose own consumer skips it before that. */
static void a_cast_stays_while_others_stand_on_it(void **state)
{
    struct fixture *f = *state;
    uint32_t x = input(f, "x", AMP_BFLOAT16);
    uint32_t wide = node(f, "Cast", x, "wide", AMP_FLOAT);
    uint32_t again = node(f, "Cast", x, "again", AMP_FLOAT);
    uint32_t back = node(f, "Cast", wide, "back", AMP_BFLOAT16);
    output(f, node(f, "Neg", back, "lower", AMP_BFLOAT16));
    output(f, node(f, "Neg", again, "higher", AMP_FLOAT));
    assert_folds_to(f, 2,
                    "ir 0\n"
                    "input x bfloat16\n"
                    "node Cast (x) -> wide float32\n"
                    "node Neg (x) -> lower bfloat16\n"
                    "node Neg (wide) -> higher float32\n"
                    "output lower bfloat16\n"
                    "output higher float32\n");
}

/* A graph output keeps its own cast, so that the first one is of no use in the end. */
static void a_cast_goes_when_nothing_came_to_stand_on_it(void **state)
{
    struct fixture *f = *state;
    uint32_t x = input(f, "x", AMP_BFLOAT16);
    uint32_t wide = node(f, "Cast", x, "wide", AMP_FLOAT);
    output(f, node(f, "Cast", x, "y", AMP_FLOAT));
    uint32_t back = node(f, "Cast", wide, "back", AMP_BFLOAT16);
    output(f, node(f, "Neg", back, "lower", AMP_BFLOAT16));
    assert_folds_to(f, 2,
                    "ir 0\n"
                    "input x bfloat16\n"
                    "node Cast (x) -> y float32\n"
                    "node Neg (x) -> lower bfloat16\n"
                    "output y float32\n"
                    "output lower bfloat16\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_skipped_cast_stands_for_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cast_stays_while_others_stand_on_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cast_goes_when_nothing_came_to_stand_on_it, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
