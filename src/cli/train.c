/*
 * `ampconv train`: runs the steps that a model's training_info describes on given or random
 * samples, logs what they say, and writes the model with what has been learnt. Computes no
 * derivatives itself: the graph holds them, or the executor puts them in.
 */
#include "cli/train.h"

#include "cli/progress.h"
#include "cli/report/head.h"
#include "cli/report/html/train_page.h"
#include "cli/report/inputs.h"
#include "cli/report/json.h"
#include "cli/report/training.h"
#include "cli/train_data.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/file/output.h"
#include "core/memory.h"
#include "core/print.h"
#include "onnx/file/write.h"
#include "onnx/schema/infer.h"
#include "onnx/training/make.h"
#include "train/expand.h"
#include "train/trainer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct train {
    const struct amp_options *options;
    struct amp_model_file file;
    struct amp_trainer trainer;
    struct amp_train_data data;
    struct amp_output *log;
    struct amp_training_result result;
    struct amp_error *err;
};

/* ---- a recipe -------------------------------------------------------------------------------- */

/* Reads the number TEXT, which must be LEAST or more, into *NUMBER. */
static enum amp_status read_number(const char *word, const char *text, double least, double *number,
                                   struct amp_error *err)
{
    char *end;
    *number = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*number) && *number >= least)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "%s= needs a number %s 0", word, least > 0 ? "above" : "from");
}

/* Takes WORD=VALUE of a recipe. */
static enum amp_status read_word(const char *word, const char *value,
                                 struct amp_training_recipe *recipe, struct amp_error *err)
{
    if (value != NULL && strcmp(word, "loss") == 0)
        recipe->loss = value;
    else if (value != NULL && strcmp(word, "optimizer") == 0)
        recipe->optimizer = value;
    else if (value != NULL && strcmp(word, "lr") == 0)
        return read_number(word, value, DBL_MIN, &recipe->rate, err);
    else if (value != NULL && strcmp(word, "weight_decay") == 0)
        return read_number(word, value, 0, &recipe->decay, err);
    else
        return amp_fail(err, AMP_USAGE,
                        "'%s' is none of loss=, optimizer=, lr= and weight_decay=", word);
    return AMP_OK;
}

/* Reads "loss=mse,optimizer=adam,lr=1e-3", in any order, into RECIPE, whose texts lie in ARENA
   then. */
static enum amp_status read_recipe(const char *text, struct amp_arena *arena,
                                   struct amp_training_recipe *recipe, struct amp_error *err)
{
    char *rest = amp_arena_strdup(arena, text), *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        if (read_word(word, value, recipe, err) != AMP_OK) {
            amp_error_prefix(err, "--make-training %s", text);
            return err->status;
        }
    }
    return AMP_OK;
}

static enum amp_status make_training(struct train *train)
{
    struct amp_training_recipe recipe = {.loss = "cross_entropy",
                                         .optimizer = "adam",
                                         .rate = 1e-3,
                                         .decay = -1,
                                         .pattern = train->options->trained};
    const char *skipped;
    if (train->options->recipe == NULL)
        return AMP_OK;
    AMP_TRY(read_recipe(train->options->recipe, train->file.arena, &recipe, train->err));
    AMP_TRY(amp_infer(train->file.model, train->err));
    AMP_TRY(amp_training_make(&train->file, &recipe, &skipped, train->err));
    if (skipped != NULL && !train->options->is_quiet)
        amp_print(stderr, "  training   loss=%s is of what the %s at the output takes\n",
                  recipe.loss, skipped);
    return AMP_OK;
}

/* ---- what a step says ------------------------------------------------------------------------ */

/* A line of the log. */
static enum amp_status write_line(struct train *train)
{
    json_t *line = amp_json_training_step(&train->result.history);
    char *text = json_dumps(line, JSON_COMPACT);
    enum amp_status status = amp_output_write(train->log, text, strlen(text), train->err);
    if (status == AMP_OK)
        status = amp_output_write(train->log, "\n", 1, train->err);
    free(text);
    json_decref(line);
    return status;
}

/* The first of the numbers is the loss, in all models that anyone writes. */
static enum amp_status note_step(struct train *train, double seconds)
{
    struct amp_train_history *history = &train->result.history;
    amp_train_history_add(history, &train->trainer, seconds);
    if (train->options->verbosity > 0 && history->n_series > 0)
        amp_print(stderr, "step %zu: %s %.6g\n", history->n_steps, history->series[0].name,
                  amp_train_history_last(history, 0));
    return train->log != NULL ? write_line(train) : AMP_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static enum amp_status run_step(struct train *train, size_t number)
{
    struct amp_trainer *trainer = &train->trainer;
    enum amp_status status =
        amp_train_data_load(&train->data, number - 1, trainer->inputs, train->err);
    double start = amp_clock_seconds();
    if (status == AMP_OK)
        status = amp_trainer_run(trainer, train->err);
    double seconds = amp_clock_seconds() - start;
    amp_tensors_release(trainer->inputs, trainer->step.n_inputs);
    return status == AMP_OK ? note_step(train, seconds) : status;
}

/* Both words for how long are one number: an epoch is every batch once. */
static size_t steps_of(const struct train *train)
{
    const struct amp_options *options = train->options;
    if (options->steps >= 0)
        return (size_t)options->steps;
    return train->data.count * (options->epochs >= 0 ? (size_t)options->epochs : 1);
}

static enum amp_status run_steps(struct train *train)
{
    enum amp_status status = AMP_OK;
    size_t n_steps = steps_of(train), before = amp_memory_used();
    amp_memory_restart_peak();
    amp_progress_begin("training");
    for (size_t i = 1; i <= n_steps && status == AMP_OK; i++)
        status = run_step(train, i);
    amp_progress_end();
    train->result.history.peak_bytes = amp_memory_peak() - before;
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum amp_status write_model(struct train *train, struct amp_model *model)
{
    struct amp_placement *placement;
    const struct amp_options *options = train->options;
    const struct amp_placement_options how = {.path = options->output,
                                              .threshold = (uint64_t)options->external_threshold};
    AMP_TRY(amp_model_prepare(model, &how, &placement, train->err));
    return amp_model_write(model, placement, train->err);
}

static enum amp_status write_trained(struct train *train)
{
    if (train->options->output == NULL)
        return AMP_OK;
    AMP_TRY(amp_training_step_store(&train->file, &train->trainer.step, train->trainer.values,
                                    train->err));
    return write_model(train, train->file.model);
}

static enum amp_status write_expanded(struct train *train)
{
    struct amp_model *step;
    AMP_TRY(amp_training_expand(&train->trainer, &train->file, &step, train->err));
    AMP_TRY(write_model(train, step));
    if (!train->options->is_quiet)
        amp_print(stderr, "  training   a step as %zu nodes of opset %d, %zu initializers\n",
                  step->graphs[0].nodes.count, (int)amp_model_opset(step, ""),
                  train->trainer.step.n_variables);
    return AMP_OK;
}

static enum amp_status write_page(struct train *train)
{
    const struct amp_train_page page = {.result = &train->result,
                                        .inputs = &train->data.inputs.notes,
                                        .model = {.role = "step",
                                                  .path = train->file.model->path,
                                                  .model = train->trainer.step.model}};
    if (train->options->report == NULL)
        return AMP_OK;
    return amp_html_train_page(&page, train->options->report, train->err);
}

static enum amp_status write_json(const struct train *train)
{
    json_t *root = amp_json_training(&train->result, &train->data.inputs.notes);
    amp_json_set(root, "model_hash", amp_json_hash(&train->file.bytes));
    amp_json_set(root, "seed", json_integer(train->options->seed));
    return amp_report_write(root, train->options, AMP_OK, train->err);
}

static enum amp_status report(struct train *train)
{
    const struct amp_options *options = train->options;
    train->result.model_path = train->file.model->path;
    train->result.output = options->output;
    train->result.n_variables = train->trainer.step.n_variables;
    if (!options->is_quiet) {
        amp_report_inputs(stderr, &train->data.inputs.notes, options->verbosity);
        amp_report_training(stderr, &train->result, options->verbosity);
    }
    AMP_TRY(write_page(train));
    return options->json != NULL ? write_json(train) : AMP_OK;
}

/* What feeds the variables is clear. */
static void leave_out_variables(struct train *train)
{
    const struct amp_training_step *step = &train->trainer.step;
    char **notes = train->data.inputs.notes.items;
    for (size_t i = 0; i < step->n_variables; i++) {
        free(notes[step->variables[i].input]);
        notes[step->variables[i].input] = NULL;
    }
}

static enum amp_status set_up(struct train *train)
{
    const struct amp_options *options = train->options;
    enum amp_strictness strictness = options->is_strict ? AMP_LITERAL : AMP_FREE;
    AMP_TRY(amp_model_read(options->operands.items[0], &train->file, train->err));
    AMP_TRY(make_training(train));
    AMP_TRY(amp_trainer_open(&train->trainer, &train->file, strictness, train->err));
    return options->is_resumed ? AMP_OK
                               : amp_trainer_initialize(&train->trainer, strictness, train->err);
}

static enum amp_status open_data(struct train *train)
{
    const struct amp_options *options = train->options;
    AMP_TRY(amp_train_data_open(&train->data, options, &train->trainer.step, train->file.model,
                                train->err));
    leave_out_variables(train);
    return options->log != NULL ? amp_output_open(&train->log, options->log, train->err) : AMP_OK;
}

static enum amp_status run(struct train *train)
{
    AMP_TRY(set_up(train));
    if (train->options->is_expanded)
        return write_expanded(train);
    AMP_TRY(open_data(train));
    AMP_TRY(run_steps(train));
    AMP_TRY(write_trained(train));
    AMP_TRY(report(train));
    if (train->log == NULL)
        return AMP_OK;
    struct amp_output *log = train->log;
    train->log = NULL;
    return amp_output_commit(log, train->err);
}

enum amp_status amp_command_train(const struct amp_options *options, struct amp_error *err)
{
    struct train train = {.options = options, .err = err};
    if (options->trained != NULL && options->recipe == NULL)
        return amp_fail(err, AMP_USAGE, "--train goes with --make-training");
    if (options->steps >= 0 && options->epochs >= 0)
        return amp_fail(err, AMP_USAGE, "--steps and --epochs: one of the two is possible");
    if (options->is_expanded && options->output == NULL)
        return amp_fail(err, AMP_USAGE, "--expand needs --output");
    if (options->is_expanded &&
        (options->steps >= 0 || options->epochs >= 0 || options->log != NULL ||
         options->json != NULL || options->report != NULL))
        return amp_fail(err, AMP_USAGE,
                        "--expand trains nothing: no steps, log or report go with it");
    enum amp_status status = run(&train);
    amp_output_abandon(train.log);
    amp_train_history_free(&train.result.history);
    amp_train_data_close(&train.data);
    amp_trainer_close(&train.trainer);
    amp_model_close(&train.file);
    return status;
}
