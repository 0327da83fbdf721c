#ifndef AMP_CLI_OPTIONS_OPTIONS_H
#define AMP_CLI_OPTIONS_OPTIONS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amp_command_words; /* cli/options/option_table.h */

/* The commands; bits, so that an option can belong to several. */
enum amp_command {
    AMP_CMD_CONVERT = 1, /* no word: the main job */
    AMP_CMD_RUN = 2,
    AMP_CMD_RULES = 4,
    AMP_CMD_BENCH = 8,
    AMP_CMD_COMPARE = 16,
    AMP_CMD_CALIBRATE = 32,
    AMP_CMD_TRAIN = 64,
    AMP_CMD_COMPLETION = 128
};

/* The values of an option that may be given several times, in the order of the command line. */
struct amp_texts {
    const char **items;
    size_t count;
};

/* What the command line says. Strings point into argv. */
struct amp_options {
    enum amp_command command;
    const struct amp_command_words *words; /* of the command, as it was called */
    struct amp_texts operands; /* MODEL, MODELs to time or compare, or a rule set's NAME */

    const char *dtype, *opset, *cast_cache, *grad_scaler, *output;
    struct amp_texts runtimes; /* --target RUNTIME */
    struct amp_texts io, rules, node_rules, op_rules, lower_ops, fp32_ops;
    bool is_strict_rules;
    const char *dump_after;
    const char *explain; /* "text", "json" or "noise"; NULL: not asked for */
    bool is_forced, is_accepted, no_validate, no_metadata, is_listed, is_strict;
    const char *external_data;
    int64_t external_threshold; /* bytes */
    bool is_inline;

    bool is_resolved, names, checks, diffs;

    struct amp_texts inputs, dims, shapes, ranges_of_inputs, tolerances;
    struct amp_texts data; /* folders and files */
    const char *expect, *output_dir, *format;
    struct amp_texts labels;
    const char *eval, *eval_reference;
    bool is_eval_lower;
    int64_t eval_timeout; /* seconds; 0: none */
    int64_t seed, samples;
    int64_t max_memory; /* bytes; 0: what the machine has */

    const char *ranges; /* a file of ranges; NULL: none */

    bool is_tuned;
    const char *tune_for, *strategy, *costs, *costs_out, *rules_out, *tune_log;
    const char *trials_via, *max_drop;
    struct amp_texts targets; /* --target METRIC>=VALUE */
    int64_t max_trials;       /* evaluations; 0: no limit; -1: not given */
    int64_t jobs;             /* at once, each a process; -1: not given */

    const char *test_suite, *filter;
    bool lists_ops;

    int64_t runs; /* of every model and dtype; at least 1 */
    bool is_profiled;

    bool has_layers;
    const char *sort; /* the order of layers; NULL: the graph's */
    int64_t lines;    /* -1: not given */

    int64_t steps, epochs;        /* -1: not given */
    int64_t batch;                /* rows of a step; -1: not given */
    const char *log;              /* of steps */
    const char *recipe, *trained; /* of --make-training, --train */
    bool is_resumed, is_expanded;

    const char *json, *report;
    int64_t threads;
    bool is_quiet, wants_help, wants_version;
    int verbosity; /* -v: 1, -vv: 2 */
};

#endif
