#ifndef AMP_CLI_REPORT_LAYERS_H
#define AMP_CLI_REPORT_LAYERS_H

#include "check/layers.h"

#include <stdio.h>

#include <jansson.h>

/* How layers are listed. */
struct amp_layers_view {
    enum amp_layers_order order;
    int64_t lines;   /* how many; below 0: the notable ones */
    bool is_verbose; /* all, unless LINES says how many */
};

/* Prints which models are compared: the one at REFERENCE with the one at MODEL or, unless DTYPE is
   NULL, with itself in that. */
void amp_report_compared(FILE *file, const char *reference, const char *model, const char *dtype);

/*
 * Prints a line on what was compared, one each for the first NaN, the first overflow and the
 * largest jump, and the layers that VIEW asks for. Notable are those three and the five of the
 * largest errors, local and accumulated; where the order is by an error, its ten largest.
 */
void amp_report_layers(FILE *file, const struct amp_layers *layers,
                       const struct amp_layers_view *view);

/* The object "layers" of man ampconv, with all layers in ORDER: a new reference. */
json_t *amp_json_layers(const struct amp_layers *layers, enum amp_layers_order order);

#endif
