#ifndef AMP_CLI_REPORT_INPUTS_H
#define AMP_CLI_REPORT_INPUTS_H

#include "core/graph/graph.h"
#include "core/tensor.h"

#include <stdio.h>

#include <jansson.h>

/* What supplies one graph input. */
struct amp_input_note {
    struct amp_shape shape;
    const char *kind; /* of random values; NULL: of others */
    bool has_range;   /* random values are from LOW to HIGH */
    double low, high;
};

/* What supplies each graph input of a model. */
struct amp_input_notes {
    const struct amp_model *model; /* NULL: there is nothing to say */
    char **items; /* per graph input: "'image' float32 [1, 1, 8, 8]: random, seed 0"; NULL for one
                     that is constant in the model */
    struct amp_input_note *facts; /* of each of them */
    bool are_random;              /* no file supplies any */
    char *sizes;                  /* "H = 16, W = 16": what was found for dims; NULL: nothing */
    size_t left_out;              /* rows of data that fill no batch */
    char *batches;                /* how data were split into batches; NULL: they were not */
};

/* Makes room for the notes of MODEL, which must outlive them. */
struct amp_input_notes amp_input_notes_create(const struct amp_model *model);
void amp_input_notes_destroy(struct amp_input_notes *notes); /* a zeroed one is fine */

/* Notes that SOURCE (a path, or "random, seed 0") supplies graph input I as NOTE says, in place of
   what was noted before. */
void amp_input_notes_set(struct amp_input_notes *notes, size_t i, const struct amp_input_note *note,
                         const char *source);

/* Prints a line per note when VERBOSITY is above 0; else only where the inputs are random, three
   lines at most and then how many more there are. Then what was found for dims, and rows of data
   that are left out. */
void amp_report_inputs(FILE *file, const struct amp_input_notes *notes, int verbosity);

/* [{"name": "image", "source": "'image' float32 [1, 1, 8, 8]: random, seed 0", "shape": [1, 1, 8,
   8], "kind": "normal"}, ...], with "low" and "high" where there is a range: a new reference. */
json_t *amp_json_inputs(const struct amp_input_notes *notes);

#endif
