/*
 * What supplied the inputs of a run: takes a note per graph input, gives lines and JSON.
 */
#include "cli/report/inputs.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/print.h"

#include <stdlib.h>

static size_t count_inputs(const struct amp_input_notes *notes)
{
    return notes->model != NULL ? notes->model->graphs[0].inputs.count : 0;
}

static const struct amp_value *input_at(const struct amp_input_notes *notes, size_t i)
{
    return amp_value_at(notes->model, notes->model->graphs[0].inputs.items[i]);
}

struct amp_input_notes amp_input_notes_create(const struct amp_model *model)
{
    struct amp_input_notes notes = {.model = model};
    notes.items = amp_xcalloc(count_inputs(&notes), sizeof *notes.items);
    notes.facts = amp_xcalloc(count_inputs(&notes), sizeof *notes.facts);
    return notes;
}

void amp_input_notes_destroy(struct amp_input_notes *notes)
{
    for (size_t i = 0; i < count_inputs(notes); i++)
        free(notes->items[i]);
    free(notes->items);
    free(notes->facts);
    free(notes->sizes);
    free(notes->batches);
    *notes = (struct amp_input_notes){.model = NULL};
}

void amp_input_notes_set(struct amp_input_notes *notes, size_t i, const struct amp_input_note *note,
                         const char *source)
{
    char shape_text[256], text[2048];
    const struct amp_value *input = input_at(notes, i);
    snprintf(text, sizeof text, "'%s' %s %s: %s", input->name, amp_dtype_name(input->dtype),
             amp_shape_text(&note->shape, shape_text, sizeof shape_text), source);
    free(notes->items[i]);
    notes->items[i] = amp_xstrdup(text);
    notes->facts[i] = *note;
}

static void print_notes(FILE *file, const struct amp_input_notes *notes, int verbosity)
{
    enum { LINES_MAX = 3 };
    size_t n_lines = 0, n_left_out = 0;
    for (size_t i = 0; i < count_inputs(notes); i++) {
        if (notes->items[i] == NULL)
            continue;
        if (verbosity == 0 && n_lines == LINES_MAX) {
            n_left_out++;
            continue;
        }
        amp_print(file, AMP_REPORT_LABEL "%s\n", "input", notes->items[i]);
        n_lines++;
    }
    if (n_left_out > 0)
        amp_print(file, AMP_REPORT_LABEL "%zu more inputs; -v lists them\n", "", n_left_out);
}

void amp_report_inputs(FILE *file, const struct amp_input_notes *notes, int verbosity)
{
    if (verbosity > 0 || notes->are_random)
        print_notes(file, notes, verbosity);
    if (notes->sizes != NULL)
        amp_print(file, AMP_REPORT_LABEL "%s: found, the model does not run with 1\n", "dims",
                  notes->sizes);
    if (notes->batches != NULL && (verbosity > 0 || notes->left_out > 0))
        amp_print(file, AMP_REPORT_LABEL "%s\n", "data", notes->batches);
}

/* Says of OBJECT which values were drawn. */
static void set_values(json_t *object, const struct amp_input_note *note)
{
    if (note->kind != NULL)
        amp_json_set(object, "kind", amp_json_text(note->kind));
    if (!note->has_range)
        return;
    amp_json_set(object, "low", amp_json_number(note->low));
    amp_json_set(object, "high", amp_json_number(note->high));
}

json_t *amp_json_inputs(const struct amp_input_notes *notes)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count_inputs(notes); i++) {
        if (notes->items[i] == NULL)
            continue;
        json_t *object = json_object();
        amp_json_set(object, "name", amp_json_text(input_at(notes, i)->name));
        amp_json_set(object, "source", amp_json_text(notes->items[i]));
        amp_json_set(object, "shape", amp_json_shape(&notes->facts[i].shape));
        set_values(object, &notes->facts[i]);
        json_array_append_new(array, object);
    }
    return array;
}
