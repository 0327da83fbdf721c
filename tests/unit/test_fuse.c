/* The graph that runs when nodes may be done together, and its steps: tests/run/fused/NAME.onnx as
   NAME.txt. FUSE_UPDATE=1 rewrites the texts. That results agree is tests/run/test_strict.sh's
   matter. */
#include "core/graph/check.h"
#include "core/graph/dump.h"
#include "onnx/schema/infer.h"
#include "onnx/file/read.h"
#include "run/plan/plan.h"
#include "run/plan/step.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void print_node(FILE *out, const struct amp_model *model, const char *sign, uint32_t id)
{
    const struct amp_node *node = amp_node_at(model, id);
    fprintf(out, " %s%s %s", sign, node->op_type, amp_value_at(model, node->outputs[0])->name);
}

/* A line per step: its node, with + those that are done as its post-ops, with < the casts that it
   reads what is cast of. */
static void print_steps(FILE *out, const struct amp_plan *plan)
{
    const struct amp_model *model = plan->model;
    for (size_t i = 0; i < plan->graphs[0].n_steps; i++) {
        const struct amp_step *step = &plan->graphs[0].steps[i];
        fputs("step", out);
        print_node(out, model, "", step->node);
        for (size_t t = 0; t < step->n_posts; t++)
            print_node(out, model, "+ ", step->post_steps[t].node);
        for (size_t c = 0; c < step->n_casts; c++)
            print_node(out, model, "< ", step->casts[c]->node);
        fputc('\n', out);
    }
}

/* The graph and the steps of the model at PATH, to be freed. */
static char *fused_text(const char *path)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_model_file file;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (amp_model_read(path, &file, &err) != AMP_OK || amp_infer(file.model, &err) != AMP_OK)
        fail_msg("%s", err.text);
    const struct amp_plan *plan;
    assert_int_equal(amp_plan_create(file.model, false, &plan, &err), AMP_OK);
    assert_int_equal(amp_graph_check(plan->model, &err), AMP_OK);
    amp_model_dump(out, plan->model, NULL, NULL);
    print_steps(out, plan);
    amp_plan_destroy(plan);
    fclose(out);
    amp_model_close(&file);
    return text;
}

/* What the file at PATH holds, to be freed; "" when there is none. */
static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL || getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = calloc(1, 1);
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void graphs_are_as_written(void **state)
{
    glob_t models;
    int n_wrong = 0;
    (void)state;
    assert_int_equal(glob("build/cases/run/fused/*.onnx", 0, NULL, &models), 0);
    for (size_t i = 0; i < models.gl_pathc; i++) {
        char path[256];
        size_t length = strlen(models.gl_pathv[i]) - strlen(".onnx");
        snprintf(path, sizeof path, "%.*s.txt", (int)length, models.gl_pathv[i]);
        char *text = fused_text(models.gl_pathv[i]), *expected = read_text(path);
        if (getenv("FUSE_UPDATE") != NULL) {
            write_text(path, text);
        } else if (strcmp(text, expected) != 0) {
            print_message("%s:\n%s", path, text);
            n_wrong++;
        }
        free(text);
        free(expected);
    }
    globfree(&models);
    assert_int_equal(n_wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_are_as_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
