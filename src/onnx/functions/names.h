#ifndef AMP_ONNX_FUNCTIONS_NAMES_H
#define AMP_ONNX_FUNCTIONS_NAMES_H

#include "core/arena.h"
#include "core/strmap.h"

#include "onnx.pb-c.h"

/*
 * Private to onnx/functions: the names of a model's values and nodes, and new ones for the copies
 * that calls of functions become. Every call repeats its own name and those of the body, and so
 * does every call within: a file of little more than one long name could ask for gigabytes. Parts
 * of names that are longer than any exporter's, and all that are not short once much has been
 * repeated, are cut; the number behind a name makes it unique in any case.
 */
struct amp_names {
    struct amp_arena *arena;
    struct amp_strmap values, nodes; /* names that are taken -> the number last put behind them */
    size_t n_repeated;               /* bytes of names and notes that calls have repeated */
};

/* Takes the names of all values and nodes in GRAPH and the graphs within. */
void amp_names_take(struct amp_names *names, const Onnx__GraphProto *graph);

/* A free name PREFIX/NAME for a value or a node, which is taken then. */
char *amp_names_new_value(struct amp_names *names, const char *prefix, const char *name);
char *amp_names_new_node(struct amp_names *names, const char *prefix, const char *name);

/* Whether a body may repeat NAME as often as it likes: at most 1000 bytes. */
bool amp_names_is_short(const char *name);

/* Whether SIZE more bytes of notes may be repeated, 64 MB in all; they then count. */
bool amp_names_may_repeat(struct amp_names *names, size_t size);

#endif
