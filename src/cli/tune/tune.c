/*
 * The search that --tune asks for: converts the model with all that may be low, has noise and costs
 * measured, the strategy search (tune/), and each candidate converted, run and judged as the
 * conversion itself would be. Prints nothing.
 */
#include "cli/tune/tune.h"

#include "autocast/rules/rules.h"
#include "cli/inputs.h"
#include "cli/noise.h"
#include "cli/options/tolerance.h"
#include "cli/progress.h"
#include "cli/tune/jobs.h"
#include "cli/tune/origin.h"
#include "cli/validation.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/file/output.h"
#include "onnx/schema/infer.h"
#include "run/exec/session.h"
#include "tune/formulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the reference gives on the first samples, once it was run: those that previews run on. */
struct reference_outputs {
    size_t n_samples, n_outputs;
    size_t sample;              /* the next one */
    struct amp_tensor *tensors; /* by sample; NULL: the reference runs each time */
    bool is_all;                /* there are no more samples */
    bool is_kept, is_known;     /* they can be kept; they are */
};

struct job {
    const struct amp_tune_request *request;
    const struct amp_options *options;
    struct amp_model_file reference;
    struct amp_tune_model low;  /* with all units low */
    struct amp_tune_model fine; /* with all units in the second lower dtype; where there is one */
    struct amp_units units;
    struct amp_eval_check eval; /* of the candidate that was judged last, and of the best */
    struct amp_eval_check best_eval;
    const struct amp_trial *best; /* the trial that it is of; NULL: none has met */
    struct reference_outputs known;
    struct amp_tune_origin origin;
    struct amp_tuning *tuning;
    struct amp_error *err;
};

/* ---- options --------------------------------------------------------------------------------- */

static enum amp_costs_unit parse_unit(const char *text, bool *is_known)
{
    static const enum amp_costs_unit units[] = {AMP_COSTS_TIME, AMP_COSTS_BYTES, AMP_COSTS_NODES};
    static const char *const names[] = {"time", "bytes", "nodes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text == NULL || strcmp(text, names[i]) == 0) {
            *is_known = true;
            return units[i];
        }
    *is_known = false;
    return AMP_COSTS_TIME;
}

static size_t max_trials(const struct amp_options *options)
{
    enum { USUAL = 20 };
    return options->max_trials < 0 ? USUAL : (size_t)options->max_trials;
}

enum amp_status amp_tune_check_options(const struct amp_options *options, struct amp_error *err)
{
    const struct amp_strategy *strategy;
    bool is_known;
    const char *name = options->strategy != NULL ? options->strategy : amp_strategy_at(0)->name;
    parse_unit(options->tune_for, &is_known);
    if (!is_known)
        return amp_fail(err, AMP_USAGE, "--tune-for %s: time, bytes or nodes is needed",
                        options->tune_for);
    if (options->no_validate || options->is_listed)
        return amp_fail(err, AMP_USAGE, "--%s does not go with --tune: each candidate is run",
                        options->is_listed ? "list" : "no-validate");
    if (options->costs_out != NULL && parse_unit(options->tune_for, &is_known) != AMP_COSTS_TIME)
        return amp_fail(err, AMP_USAGE, "--costs-out has times: it goes with --tune-for time");
    AMP_TRY(amp_tune_jobs_check(options, err));
    return amp_strategy_find(name, &strategy, err);
}

/* ---- what the reference gives ---------------------------------------------------------------- */

/* Where nodes select, outputs are judged with what the other model selects, so that those of the
   reference alone are not enough. */
static bool are_outputs_enough(const struct job *job)
{
    struct amp_selections selections = amp_selections_find(job->reference.model);
    bool is_enough = selections.count == 0;
    amp_selections_free(&selections);
    return is_enough;
}

static enum amp_status open_reference_outputs(struct job *job)
{
    enum { SAMPLES_MAX = 8 };
    struct reference_outputs *known = &job->known;
    struct amp_inputs inputs;
    AMP_TRY(amp_inputs_open(job->options, job->reference.model, &inputs, job->err));
    known->is_all = inputs.count <= SAMPLES_MAX;
    known->n_samples = known->is_all ? inputs.count : SAMPLES_MAX;
    amp_inputs_close(&inputs);
    known->n_outputs = job->reference.model->graphs[0].outputs.count;
    known->is_kept = are_outputs_enough(job);
    if (known->is_kept)
        known->tensors =
            amp_xcalloc(known->n_samples * known->n_outputs + 1, sizeof *known->tensors);
    return AMP_OK;
}

static void release_tensors(struct reference_outputs *known)
{
    if (known->tensors != NULL)
        amp_tensors_release(known->tensors, known->n_samples * known->n_outputs);
}

static void close_reference_outputs(struct reference_outputs *known)
{
    release_tensors(known);
    free(known->tensors);
}

/* Keeps what the reference gives. What borrows its data from elsewhere cannot be kept. */
static void keep_outputs(struct reference_outputs *known, struct amp_tensor *kept,
                         const struct amp_tensor *outputs)
{
    for (size_t i = 0; i < known->n_outputs; i++) {
        known->is_kept &= outputs[i].buffer != NULL;
        amp_tensor_refer(&kept[i], &outputs[i]);
    }
}

/* Runs both models on a sample, the reference only where what it gives is not kept. */
static enum amp_status run_pair(void *context, const struct amp_pair_run *pair,
                                struct amp_error *err)
{
    struct reference_outputs *known = context;
    struct amp_tensor *kept = &known->tensors[known->n_outputs * known->sample++];
    if (known->is_known) {
        for (size_t i = 0; i < known->n_outputs; i++)
            amp_tensor_refer(&pair->outputs[0][i], &kept[i]);
    } else {
        AMP_TRY(amp_session_run(pair->sessions[0], pair->inputs[0], pair->outputs[0], err));
        keep_outputs(known, kept, pair->outputs[0]);
    }
    return amp_session_run(pair->sessions[1], pair->inputs[1], pair->outputs[1], err);
}

/* A runner that goes through the samples from the first; none where nothing can be kept. */
static struct amp_pair_runner begin_runs(struct reference_outputs *known)
{
    known->sample = 0;
    return known->tensors != NULL ? (struct amp_pair_runner){run_pair, known}
                                  : (struct amp_pair_runner){.run = NULL};
}

/* Notes that all samples were gone through. */
static void end_runs(struct reference_outputs *known)
{
    known->is_known = known->is_kept;
    if (!known->is_known)
        release_tensors(known);
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* What the user's command or labels say of the converted model; NaN: nothing. */
static double score_of(const struct job *job, const struct amp_validation *validation)
{
    double value = (double)NAN;
    if (job->eval.outcomes[1].verdict == AMP_EVAL_SCORED)
        return job->eval.outcomes[1].score * (job->eval.eval.is_lower_better ? -1 : 1);
    for (size_t t = 0; t < validation->n_tasks && isnan(value); t++)
        for (size_t i = 0; amp_task_metric_at(i) != NULL && isnan(value); i++)
            amp_task_metric_value(amp_task_metric_at(i), &validation->tasks[t].scores[1], &value);
    return value;
}

/* Takes down what came of running a candidate: VERDICT holds the first bound that it is outside. */
static void note_outcome(const struct job *job, const struct amp_validation *validation,
                         const struct amp_error *verdict, struct amp_trial *trial)
{
    bool is_unsure = job->eval.outcomes[1].verdict == AMP_EVAL_UNSURE;
    trial->verdict = is_unsure                   ? AMP_TRIAL_UNSURE
                     : verdict->status == AMP_OK ? AMP_TRIAL_MET
                                                 : AMP_TRIAL_MISSED;
    trial->measured = amp_validation_error_power(validation);
    trial->score = score_of(job, validation);
    snprintf(trial->reason, sizeof trial->reason, "%.*s", (int)sizeof trial->reason - 1,
             verdict->text);
}

/* Keeps what the user's command said of TRIAL if that may be the answer. */
static void keep_best(struct job *job, const struct amp_trial *trial)
{
    if (trial->verdict != AMP_TRIAL_MET || (job->best != NULL && job->best->loss <= trial->loss))
        return;
    job->best = trial;
    job->best_eval = job->eval;
}

/* Takes what the user's command said, in another process, of TRIAL, which has a score where the
   reference has one. */
static void take_eval(struct job *job, const struct amp_trial *trial)
{
    struct amp_eval_check *check = &job->eval;
    bool is_lower = check->eval.is_lower_better;
    if (check->eval.command == NULL || trial->verdict != AMP_TRIAL_MET)
        return;
    check->outcomes[1] = (struct amp_eval_outcome){.verdict = check->outcomes[0].verdict};
    check->scores[1] = (struct amp_task_score){.is_lower_better = is_lower};
    check->is_outside = false;
    if (check->outcomes[0].verdict == AMP_EVAL_SCORED) {
        check->outcomes[1].score = is_lower ? -trial->score : trial->score;
        check->scores[1].is_scored = true;
        check->scores[1].score = check->outcomes[1].score;
    }
}

/* Runs MODEL against the reference and has it judged. */
static enum amp_status judge(struct job *job, const struct amp_tune_model *model,
                             struct amp_trial *trial)
{
    struct amp_validation_request request = {.options = job->options,
                                             .reference = job->reference.model,
                                             .converted = model->file.model,
                                             .coarsest = job->request->coarsest};
    struct reference_outputs *known = &job->known;
    if (known->is_all) {
        request.runner = begin_runs(known);
        request.is_reference_known = known->is_known;
    }
    struct amp_error verdict = {.status = AMP_OK};
    struct amp_input_notes notes;
    struct amp_validation validation;
    double start = amp_clock_seconds();
    enum amp_status status = amp_validation_run(&request, &notes, &validation, &verdict);
    if (status == AMP_OK || status == AMP_MISMATCH)
        status = amp_validation_eval_converted(model->file.model, model->placement, &job->eval,
                                               &validation, &verdict);
    bool is_judged = status == AMP_OK || status == AMP_MISMATCH;
    if (is_judged && known->is_all)
        end_runs(known);
    if (is_judged) {
        note_outcome(job, &validation, &verdict, trial);
        keep_best(job, trial);
    }
    trial->seconds += amp_clock_seconds() - start;
    amp_validation_free(&validation);
    amp_input_notes_destroy(&notes);
    return is_judged ? AMP_OK : amp_error_copy(job->err, &verdict);
}

static struct amp_choice_model choice_model(const struct job *job)
{
    bool has_second = job->request->second != AMP_UNDEFINED;
    return (struct amp_choice_model){&job->units, &job->low.assignment,
                                     has_second ? &job->fine.assignment : NULL, job->low.outputs};
}

typedef enum amp_status judge_model(struct job *job, const struct amp_tune_model *model,
                                    struct amp_trial *trial);

/* Converts the candidate that TRIAL is of and has JUDGE say what it is like. */
static enum amp_status try_candidate(struct job *job, judge_model *judge_it,
                                     struct amp_trial *trial)
{
    const struct amp_tune_request *request = job->request;
    struct amp_arena *arena = amp_arena_create();
    struct amp_choice_model model = choice_model(job);
    struct amp_choice choice = amp_choice_make(&model, trial->keeps, false, arena);
    struct amp_rules *rules = amp_rules_copy(request->rules, arena);
    struct amp_tune_model candidate = {.outputs = NULL};
    double start = amp_clock_seconds();
    amp_rules_name(rules, amp_choice_name);
    enum amp_status status = amp_choice_add(&choice, rules, job->err);
    if (status == AMP_OK)
        status = request->convert(request->context, rules, &candidate, job->err);
    trial->seconds = amp_clock_seconds() - start;
    if (status == AMP_OK)
        status = judge_it(job, &candidate, trial);
    amp_model_close(&candidate.file);
    amp_rules_destroy(rules);
    amp_arena_destroy(arena);
    return status;
}

/* Writes the choice of TRIAL as a rule file, which gives the same model by itself. */
static enum amp_status write_choice(void *context, const struct amp_trial *trial, const char *path,
                                    struct amp_error *err)
{
    const struct job *job = context;
    const struct amp_tune_request *request = job->request;
    struct amp_choice_model model = choice_model(job);
    struct amp_choice_file file = {.lower = request->lower,
                                   .extends = request->rule_names,
                                   .n_extends = request->n_rule_names};
    struct amp_arena *arena = amp_arena_create();
    struct amp_choice choice = amp_choice_make(&model, trial->keeps, true, arena);
    if (trial == job->tuning->answer) {
        file.notes = amp_tune_origin_notes(&job->origin, job->tuning, arena, &file.n_notes);
        file.removes = job->tuning->removes;
    }
    enum amp_status status = amp_choice_write(&choice, &file, path, err);
    amp_arena_destroy(arena);
    return status;
}

static enum amp_status run_trials(void *context, struct amp_trial *const *trials, size_t n,
                                  struct amp_error *err)
{
    struct job *job = context;
    struct amp_tune_jobs jobs = {.options = job->options,
                                 .reference = &job->eval.outcomes[0],
                                 .write = write_choice,
                                 .context = job};
    if (amp_tune_jobs_are_wanted(job->options)) {
        AMP_TRY(amp_tune_jobs_run(&jobs, trials, n, err));
        for (size_t i = 0; i < n; i++) {
            take_eval(job, trials[i]);
            keep_best(job, trials[i]);
        }
        return AMP_OK;
    }
    amp_progress_step(job, job->tuning->trials.count, job->tuning->trials.most);
    for (size_t i = 0; i < n; i++) {
        bool is_low = amp_problem_is_low(job->tuning->problem, trials[i]->keeps);
        AMP_TRY(is_low ? judge(job, &job->low, trials[i]) : try_candidate(job, judge, trials[i]));
    }
    return AMP_OK;
}

/* The bytes of MODEL's initializers. */
static double initializer_bytes(const struct amp_model *model)
{
    const struct amp_ids *initializers = &model->graphs[0].initializers;
    double bytes = 0;
    for (size_t i = 0; i < initializers->count; i++) {
        const struct amp_tensor *initial = model->values[initializers->items[i]].initial;
        if (initial != NULL)
            bytes += (double)amp_tensor_size(initial);
    }
    return bytes;
}

/* How much is looked at before the search, so that the runs of large models do not take minutes. */
struct effort {
    double noise; /* plain runs to find the noise in */
    size_t previews;
};

static struct effort choose_effort(const struct job *job)
{
    static const double large_bytes = 32e6;
    const struct amp_model *model = job->reference.model;
    double noise = amp_noise_budget(job->low.file.model->graphs[0].nodes.count);
    return initializer_bytes(model) < large_bytes ? (struct effort){noise, 200}
                                                  : (struct effort){40, 36};
}

/* ---- previews -------------------------------------------------------------------------------- */

static enum amp_status load_sample(void *context, size_t sample, struct amp_tensor *tensors,
                                   struct amp_error *err)
{
    return amp_inputs_load(context, sample, tensors, NULL, err);
}

/* Runs MODEL against the reference on the samples of previews. */
static enum amp_status run_preview(struct job *job, const struct amp_tune_model *model,
                                   struct amp_validation *validation, struct amp_error *verdict)
{
    struct reference_outputs *known = &job->known;
    struct amp_inputs inputs;
    struct amp_task_bounds unused;
    struct amp_validate_options options = {.runner = begin_runs(known),
                                           .is_reference_known = known->is_known};
    AMP_TRY(amp_tolerance_parse(job->options, job->request->coarsest, &options.bounds, &unused,
                                verdict));
    AMP_TRY(amp_inputs_open(job->options, job->reference.model, &inputs, verdict));
    options.source = (struct amp_source){known->n_samples, load_sample, &inputs};
    enum amp_status status =
        amp_validate(job->reference.model, model->file.model, &options, validation, verdict);
    amp_inputs_close(&inputs);
    return status;
}

/* Has MODEL judged by what bounds there are on outputs. */
static enum amp_status preview(struct job *job, const struct amp_tune_model *model,
                               struct amp_trial *trial)
{
    struct reference_outputs *known = &job->known;
    struct amp_validation validation;
    struct amp_error verdict = {.status = AMP_OK};
    double start = amp_clock_seconds();
    enum amp_status status = run_preview(job, model, &validation, &verdict);
    if (status != AMP_OK && status != AMP_MISMATCH)
        return amp_error_copy(job->err, &verdict);
    trial->verdict = status == AMP_OK ? AMP_TRIAL_MET : AMP_TRIAL_MISSED;
    trial->measured = amp_validation_error_power(&validation);
    trial->seconds += amp_clock_seconds() - start;
    amp_validation_free(&validation);
    job->tuning->plain_runs += (double)known->n_samples * (known->is_known ? 1 : 2);
    end_runs(known);
    return AMP_OK;
}

static enum amp_status run_previews(void *context, struct amp_trial *const *trials, size_t n,
                                    struct amp_error *err)
{
    struct job *job = context;
    (void)err;
    amp_progress_step(job, job->tuning->previews.count, job->tuning->previews.most);
    for (size_t i = 0; i < n; i++) {
        bool is_low = amp_problem_is_low(job->tuning->problem, trials[i]->keeps);
        AMP_TRY(is_low ? preview(job, &job->low, trials[i])
                       : try_candidate(job, preview, trials[i]));
    }
    return AMP_OK;
}

/* Begins previews, of the first samples. */
static void open_previews(struct job *job)
{
    struct amp_tuning *tuning = job->tuning;
    tuning->n_preview_samples = job->known.n_samples;
    tuning->previews = (struct amp_trials){.problem = tuning->problem,
                                           .runner = {run_previews, job, 1},
                                           .most = choose_effort(job).previews};
    amp_trials_open_previews(&tuning->previews, &tuning->trials);
}

/* ---- what is known before the search --------------------------------------------------------- */

/* Whether NODE of the model with all units low is the same in the model of the second dtype. */
static bool is_in_both(const struct job *job, uint32_t node)
{
    const char *name = job->low.outputs[node];
    return node < job->fine.assignment.n_nodes && name != NULL && job->fine.outputs[node] != NULL &&
           strcmp(name, job->fine.outputs[node]) == 0;
}

/* Whether UNIT can have the second dtype, in at least one of its nodes, and all of them one of
 * both.
 */
static bool has_steps(const struct job *job, const struct amp_unit *unit)
{
    bool differs = false;
    for (size_t i = 0; i < unit->n_nodes; i++) {
        uint32_t node = unit->nodes[i];
        if (!is_in_both(job, node) ||
            !amp_assignment_chooses(&job->low.assignment, job->fine.assignment.nodes[node].dtype))
            return false;
        differs |= job->fine.assignment.nodes[node].dtype != job->low.assignment.nodes[node].dtype;
    }
    return differs;
}

/* Converts the model with all units in the second dtype, and gives those that can have it a first
   step. */
static enum amp_status open_fine(struct job *job)
{
    const struct amp_tune_request *request = job->request;
    struct amp_arena *arena = job->tuning->arena;
    struct amp_rules *rules = amp_rules_copy(request->rules, arena);
    const char **names = amp_arena_array(arena, job->low.assignment.n_nodes, sizeof *names);
    bool *steps = amp_arena_array(arena, job->units.count, sizeof *steps);
    size_t n = 0;
    for (uint32_t node = 0; node < job->low.assignment.n_nodes; node++)
        if (job->units.of_node[node] != AMP_NONE && job->low.outputs[node] != NULL)
            names[n++] = job->low.outputs[node];
    enum amp_status status = amp_rules_add_tensors(rules, names, n, AMP_FP16, job->err);
    if (status == AMP_OK)
        status = request->convert(request->context, rules, &job->fine, job->err);
    amp_rules_destroy(rules);
    AMP_TRY(status);
    for (size_t u = 0; u < job->units.count; u++)
        steps[u] = has_steps(job, &job->units.items[u]);
    amp_units_split(&job->units, steps, arena);
    return AMP_OK;
}

static enum amp_status open_models(struct job *job)
{
    const struct amp_tune_request *request = job->request;
    struct amp_rules *rules = amp_rules_copy(request->rules, job->tuning->arena);
    amp_rules_name(rules, amp_choice_name);
    AMP_TRY(amp_model_read_again(request->file, &job->reference, job->err));
    AMP_TRY(amp_infer(job->reference.model, job->err));
    enum amp_status status = request->convert(request->context, rules, &job->low, job->err);
    amp_rules_destroy(rules);
    AMP_TRY(status);
    job->units = amp_units_find(job->low.file.model, &job->low.assignment, job->tuning->arena);
    return request->second == AMP_UNDEFINED ? AMP_OK : open_fine(job);
}

/* The dtypes to tune with, as a mask. */
static uint32_t dtypes_of(const struct amp_tune_request *request)
{
    return AMP_DTYPE_BIT(request->lower) |
           (request->second != AMP_UNDEFINED ? AMP_DTYPE_BIT(request->second) : 0);
}

/* Finds what the conversion CONVERTED to DTYPE costs, and writes it where the user asked for that.
 */
static enum amp_status find_costs(struct job *job, const struct amp_tune_model *converted,
                                  enum amp_dtype dtype, struct amp_costs *costs)
{
    bool is_known;
    struct amp_inputs inputs;
    const char *path = dtype == job->request->lower ? job->options->costs_out : NULL;
    const struct amp_model *model = job->reference.model;
    size_t n = model->graphs[0].inputs.count;
    AMP_TRY(amp_inputs_open(job->options, model, &inputs, job->err));
    struct amp_tensor *tensors = amp_xcalloc(n + 1, sizeof *tensors);
    struct amp_costs_request request = {.reference = model,
                                        .low = converted->file.model,
                                        .dtype = dtype,
                                        .dtypes = dtypes_of(job->request),
                                        .unit = parse_unit(job->options->tune_for, &is_known),
                                        .inputs = tensors,
                                        .path = job->options->costs,
                                        .seconds = 2};
    enum amp_status status = amp_inputs_load(&inputs, 0, tensors, NULL, job->err);
    if (status == AMP_OK)
        status = amp_costs_find(&request, costs, job->err);
    if (status == AMP_OK && path != NULL)
        status = amp_costs_write(costs, &request, path, job->err);
    amp_tensors_release(tensors, n);
    free(tensors);
    amp_inputs_close(&inputs);
    return status;
}

/* Finds what UNITS cost and round in CONVERTED, which is low in DTYPE, for PROBLEM. */
static enum amp_status formulate_one(struct job *job, const struct amp_tune_model *converted,
                                     enum amp_dtype dtype, const struct amp_units *units,
                                     struct amp_problem *problem)
{
    struct amp_tuning *tuning = job->tuning;
    struct amp_noise noise = {.arena = NULL};
    struct amp_costs costs = {.arena = NULL};
    bool is_first = dtype == job->request->lower;
    struct amp_formulation formulation = {.converted = converted->file.model,
                                          .assignment = &converted->assignment,
                                          .units = units,
                                          .noise = &noise,
                                          .costs = is_first ? &tuning->costs : &costs};
    amp_progress_begin("finding the noise");
    enum amp_status status =
        amp_noise_search(job->options, choose_effort(job).noise, job->reference.model,
                         converted->file.model, &noise, job->err);
    if (status == AMP_OK) {
        tuning->plain_runs += noise.plain_runs;
        amp_progress_begin("timing");
        status = find_costs(job, converted, dtype, is_first ? &tuning->costs : &costs);
    }
    if (status == AMP_OK)
        amp_problem_formulate(&formulation, problem, tuning->arena);
    amp_costs_free(&costs);
    amp_noise_free(&noise);
    return status;
}

/* The units as the model of the second dtype has them. */
static struct amp_units units_of_fine(const struct job *job)
{
    struct amp_units units = job->units;
    size_t n_nodes = job->fine.file.model->n_nodes;
    units.of_node = amp_arena_array(job->tuning->arena, n_nodes, sizeof *units.of_node);
    for (uint32_t node = 0; node < n_nodes; node++)
        units.of_node[node] = node < job->low.assignment.n_nodes && is_in_both(job, node)
                                  ? job->units.of_node[node]
                                  : AMP_NONE;
    return units;
}

/* Finds what each unit costs and rounds. */
static enum amp_status formulate(struct job *job)
{
    struct amp_tuning *tuning = job->tuning;
    const struct amp_tune_request *request = job->request;
    if (request->second == AMP_UNDEFINED)
        return formulate_one(job, &job->low, request->lower, &job->units, tuning->problem);
    struct amp_units units = units_of_fine(job);
    struct amp_problem *coarse = amp_problem_create(&job->units, tuning->arena);
    struct amp_problem *fine = amp_problem_create(&units, tuning->arena);
    AMP_TRY(formulate_one(job, &job->low, request->lower, &job->units, coarse));
    AMP_TRY(formulate_one(job, &job->fine, request->second, &units, fine));
    amp_problem_combine(coarse, fine, tuning->problem, tuning->arena);
    return AMP_OK;
}

/* Shares the noise out to the units that it hangs on. */
static void count_noise(struct amp_tuning *tuning)
{
    const struct amp_problem *problem = tuning->problem;
    tuning->removes = amp_arena_array(tuning->arena, problem->n_units, sizeof *tuning->removes);
    for (size_t i = 0; i < problem->n_noises; i++) {
        tuning->removes[problem->noises[i].a] += problem->noises[i].power / 2;
        tuning->removes[problem->noises[i].b] += problem->noises[i].power / 2;
    }
    for (uint32_t i = 0; i < problem->n_units; i++)
        if (amp_problem_step(problem, i) != i)
            tuning->removes[i] += tuning->removes[i - 1];
}

/* The power that a bound on the signal to noise comes to; NaN: there is none. */
static enum amp_status find_budget(const struct job *job, double *budget)
{
    struct amp_metric_bounds bounds;
    struct amp_task_bounds unused;
    AMP_TRY(amp_tolerance_parse(job->options, job->request->coarsest, &bounds, &unused, job->err));
    *budget = (double)NAN;
    for (size_t i = 0; amp_metric_at(i) != NULL; i++)
        if (strcmp(amp_metric_at(i)->name, "snr") == 0)
            *budget = pow(10, -amp_metric_bounds_get(&bounds, amp_metric_at(i)) / 10);
    return AMP_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The trial that comes nearest to the criterion without meeting it. */
static struct amp_trial *find_nearest(const struct amp_trials *trials)
{
    struct amp_trial *nearest = NULL;
    for (size_t i = 0; i < trials->count; i++)
        if (nearest == NULL || isnan(nearest->measured) ||
            trials->items[i]->measured < nearest->measured)
            nearest = trials->items[i];
    return nearest;
}

static enum amp_status open_trials(struct job *job)
{
    bool is_known;
    struct amp_tuning *tuning = job->tuning;
    tuning->problem = amp_problem_create(&job->units, tuning->arena);
    tuning->costs.unit = parse_unit(job->options->tune_for, &is_known);
    tuning->n_nodes = job->reference.model->graphs[0].nodes.count;
    tuning->trials =
        (struct amp_trials){.problem = tuning->problem,
                            .runner = {run_trials, job, amp_tune_jobs_at_once(job->options)},
                            .most = max_trials(job->options),
                            .log_path = job->options->tune_log};
    if (amp_tune_origin_is_wanted(job->options))
        AMP_TRY(amp_tune_origin_find(job->options, job->request->file, job->reference.model,
                                     &job->origin, job->err));
    if (tuning->trials.log_path != NULL)
        tuning->trials.key = amp_tune_origin_key(&job->origin);
    return amp_trials_open(&tuning->trials, job->err);
}

/* Runs the model with all units low, and finds what it takes to predict others where that is not
   good enough. */
static enum amp_status begin_search(struct job *job)
{
    struct amp_tuning *tuning = job->tuning;
    struct amp_trial *low;
    bool *keeps = amp_arena_array(tuning->arena, tuning->problem->n_units, sizeof *keeps);
    amp_progress_begin("tuning");
    AMP_TRY(amp_trials_run(&tuning->trials, keeps, "all low", &low, job->err));
    if (low->verdict != AMP_TRIAL_MET) {
        if (!amp_trials_recall(&tuning->trials, tuning->problem))
            AMP_TRY(formulate(job));
        AMP_TRY(amp_trials_predict(&tuning->trials, job->err));
    }
    count_noise(tuning);
    return AMP_OK;
}

static enum amp_status search(struct job *job)
{
    struct amp_tuning *tuning = job->tuning;
    struct amp_search search = {.problem = tuning->problem, .trials = &tuning->trials};
    const char *name = job->options->strategy;
    AMP_TRY(amp_strategy_find(name != NULL ? name : amp_strategy_at(0)->name, &tuning->strategy,
                              job->err));
    AMP_TRY(find_budget(job, &search.budget));
    if (search.budget > 0 && isfinite(search.budget)) {
        open_previews(job);
        search.previews = &tuning->previews;
    }
    amp_progress_begin("tuning");
    AMP_TRY(tuning->strategy->run(&search, job->err));
    tuning->is_minimal = search.is_minimal;
    tuning->budget = search.budget;
    tuning->answer = tuning->trials.best;
    tuning->nearest = find_nearest(&tuning->trials);
    return AMP_OK;
}

/* Carries the answer over to RULES, or what comes nearest to one, and writes the rule file that the
   user asked for. */
static enum amp_status apply(struct job *job, struct amp_rules *rules)
{
    struct amp_tuning *tuning = job->tuning;
    struct amp_choice_model model = choice_model(job);
    const struct amp_trial *trial = tuning->answer != NULL ? tuning->answer : tuning->nearest;
    if (!amp_problem_is_low(tuning->problem, trial->keeps)) {
        struct amp_choice choice = amp_choice_make(&model, trial->keeps, false, tuning->arena);
        AMP_TRY(amp_choice_add(&choice, rules, job->err));
    }
    amp_rules_name(rules, amp_choice_name);
    if (job->options->rules_out == NULL || tuning->answer == NULL)
        return AMP_OK;
    return write_choice(job, tuning->answer, job->options->rules_out, job->err);
}

static enum amp_status tune(struct job *job, struct amp_rules *rules)
{
    const struct amp_tuning *tuning = job->tuning;
    AMP_TRY(amp_validation_eval_reference(job->options, job->request->file, &job->eval, job->err));
    AMP_TRY(open_models(job));
    AMP_TRY(open_reference_outputs(job));
    AMP_TRY(open_trials(job));
    AMP_TRY(begin_search(job));
    AMP_TRY(search(job));
    AMP_TRY(apply(job, rules));
    /* What the user's command said of the answer need not be asked again. */
    bool is_known = tuning->answer != NULL && job->best == tuning->answer;
    *job->request->eval = is_known ? job->best_eval : job->eval;
    if (!is_known)
        job->request->eval->outcomes[1] = (struct amp_eval_outcome){.verdict = AMP_EVAL_NONE};
    return AMP_OK;
}

enum amp_status amp_tune(const struct amp_tune_request *request, struct amp_rules *rules,
                         struct amp_tuning *tuning, struct amp_error *err)
{
    *tuning = (struct amp_tuning){.arena = amp_arena_create()};
    struct job job = {
        .request = request, .options = request->options, .tuning = tuning, .err = err};
    double start = amp_clock_seconds();
    enum amp_status status = tune(&job, rules);
    amp_progress_end();
    close_reference_outputs(&job.known);
    amp_model_close(&job.low.file);
    amp_model_close(&job.fine.file);
    amp_model_close(&job.reference);
    tuning->seconds = amp_clock_seconds() - start;
    return status;
}
