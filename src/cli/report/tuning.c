/*
 * A search for what to keep in float32, as text and as JSON. Takes what the search left, sorts the
 * units that the answer keeps by the noise that hangs on them, and says what they cost.
 */
#include "cli/report/tuning.h"

#include "cli/report/json.h"
#include "cli/report/text.h"
#include "core/memory.h"
#include "core/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The units that text names unless all are asked for. */
enum { NAMED_MAX = 3 };

static double decibels(double power)
{
    return power > 0 ? -10 * log10(power) : INFINITY;
}

/* ---- the units that stay --------------------------------------------------------------------- */

struct kept {
    const struct amp_unit *unit;
    double loss, removes;
};

static int compare(const void *a, const void *b)
{
    const struct kept *left = a, *right = b;
    if (left->removes != right->removes)
        return left->removes > right->removes ? -1 : 1;
    return left->unit < right->unit ? -1 : left->unit > right->unit;
}

/* The units that TRIAL keeps in float32, those first that most noise hangs on: to be freed. */
static struct kept *sorted(const struct amp_tuning *tuning, const struct amp_trial *trial,
                           size_t *count)
{
    const struct amp_problem *problem = tuning->problem;
    struct kept *kept = amp_xcalloc(problem->n_units + 1, sizeof *kept);
    *count = 0;
    for (uint32_t u = 0; u < problem->n_units; u++)
        if (trial->keeps[u] && !problem->units[u].is_fine)
            kept[(*count)++] = (struct kept){&problem->units[u], amp_problem_unit_loss(problem, u),
                                             tuning->removes[u]};
    qsort(kept, *count, sizeof *kept, compare);
    return kept;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *const verdict_names[] = {[AMP_TRIAL_NONE] = "none",
                                            [AMP_TRIAL_MET] = "met",
                                            [AMP_TRIAL_MISSED] = "missed",
                                            [AMP_TRIAL_UNSURE] = "unsure"};

static void print_outcome(FILE *file, const char *label, const char *what,
                          const struct amp_trial *trial)
{
    amp_print(file, AMP_REPORT_LABEL "%s: error %.1f dB below the outputs", label, what,
              decibels(trial->measured));
    if (!isnan(trial->score))
        amp_print(file, ", score %.6g", fabs(trial->score));
    amp_print(file, "; %s%s%s\n", verdict_names[trial->verdict],
              trial->reason[0] != '\0' ? ": " : "", trial->reason);
}

/* A cost in the unit that it is in. */
static void print_cost(FILE *file, const struct amp_tuning *tuning, double cost)
{
    if (tuning->costs.unit == AMP_COSTS_TIME)
        amp_print(file, "%.4g ms", cost * 1e3);
    else
        amp_print(file, "%.6g %s", cost, amp_costs_unit_name(tuning->costs.unit));
}

static void print_costs(FILE *file, const struct amp_tuning *tuning, const struct amp_trial *trial)
{
    const struct amp_problem *problem = tuning->problem;
    const struct amp_trial *first = tuning->trials.items[0];
    amp_print(file, AMP_REPORT_LABEL, "costs");
    print_cost(file, tuning, trial->loss - first->loss);
    amp_print(file, " more than all low");
    if (problem->base > 0 && tuning->costs.unit != AMP_COSTS_NODES) {
        amp_print(file, " (%.1f %% of ", 100 * (trial->loss - first->loss) / problem->base);
        print_cost(file, tuning, problem->base);
        amp_print(file, ")");
    }
    amp_print(file, ", predicted; all float32 ");
    print_cost(file, tuning, amp_tuning_most_loss(tuning) - first->loss);
    amp_print(file, " more; %s\n", problem->origin);
}

static void print_kept(FILE *file, const struct amp_tuning *tuning, const struct amp_trial *trial,
                       int verbosity)
{
    size_t count;
    struct kept *kept = sorted(tuning, trial, &count);
    amp_print(file, AMP_REPORT_LABEL "%zu of %zu nodes kept, in %zu of %zu units\n", "float32",
              amp_problem_kept_nodes(tuning->problem, trial->keeps), tuning->n_nodes, count,
              amp_problem_units(tuning->problem));
    size_t named = verbosity > 0 || count < NAMED_MAX ? count : NAMED_MAX;
    for (size_t i = 0; i < named; i++) {
        amp_print(file, AMP_REPORT_LABEL "%s: noise at %.1f dB", i == 0 ? "because" : "",
                  kept[i].unit->name, decibels(kept[i].removes));
        fputs(i + 1 == named && named < count ? "; -v names all\n" : "\n", file);
    }
    free(kept);
}

/* "float16    12 of 149 nodes in place of bfloat16" */
static void print_fine(FILE *file, const struct amp_tuning *tuning, const struct amp_trial *trial)
{
    if (amp_problem_has_steps(tuning->problem))
        amp_print(file, AMP_REPORT_LABEL "%zu of %zu nodes in place of bfloat16\n", "float16",
                  amp_problem_fine_nodes(tuning->problem, trial->keeps), tuning->n_nodes);
}

static void print_trials(FILE *file, const struct amp_tuning *tuning)
{
    for (size_t i = 0; i < tuning->trials.count; i++) {
        const struct amp_trial *trial = tuning->trials.items[i];
        amp_print(file, AMP_REPORT_LABEL "%zu %s: %zu nodes in float32", "trial", trial->number,
                  trial->phase, amp_problem_kept_nodes(tuning->problem, trial->keeps));
        if (amp_problem_has_steps(tuning->problem))
            amp_print(file, ", %zu in float16",
                      amp_problem_fine_nodes(tuning->problem, trial->keeps));
        amp_print(file, ", predicted %.1f dB, measured %.1f dB, %s\n", decibels(trial->power),
                  decibels(trial->measured), verdict_names[trial->verdict]);
    }
}

/* ", noise found and 9 choices previewed on 8 samples in the time of 153 runs" */
static void print_runs(FILE *file, const struct amp_tuning *tuning)
{
    size_t n = tuning->previews.count, n_samples = tuning->n_preview_samples;
    if (n == 0 && !(tuning->plain_runs > 0))
        return;
    amp_print(file, ", noise found");
    if (n > 0)
        amp_print(file, " and %zu choice%s previewed on %zu sample%s", n, n == 1 ? "" : "s",
                  n_samples, n_samples == 1 ? "" : "s");
    amp_print(file, " in the time of %.0f runs", tuning->plain_runs);
}

static void print_search(FILE *file, const struct amp_tuning *tuning)
{
    const struct amp_trials *trials = &tuning->trials;
    amp_print(file, AMP_REPORT_LABEL "%s: %zu candidate%s run", "tuned", tuning->strategy->name,
              trials->count, trials->count == 1 ? "" : "s");
    if (trials->n_replayed > 0)
        amp_print(file, ", %zu of them before", trials->n_replayed);
    print_runs(file, tuning);
    amp_print(file, "; %.1f s%s\n", tuning->seconds,
              tuning->answer == NULL ? "; none is good enough"
              : tuning->is_minimal   ? "; nothing of it can be given back"
                                     : "");
}

void amp_report_tuning(FILE *file, const struct amp_tuning *tuning, int verbosity)
{
    const struct amp_trial *trial = tuning->answer != NULL ? tuning->answer : tuning->nearest;
    if (trial == NULL)
        return;
    print_search(file, tuning);
    if (verbosity > 0)
        print_trials(file, tuning);
    print_outcome(file, "was", "all low", tuning->trials.items[0]);
    if (trial == tuning->trials.items[0])
        return;
    print_outcome(file, tuning->answer != NULL ? "is" : "nearest", "tuned", trial);
    print_costs(file, tuning, trial);
    print_fine(file, tuning, trial);
    print_kept(file, tuning, trial, verbosity);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_trial(const struct amp_tuning *tuning, const struct amp_trial *trial)
{
    json_t *object = json_object();
    amp_json_set(object, "trial", amp_json_count(trial->number));
    amp_json_set(object, "phase", amp_json_text(trial->phase));
    amp_json_set(object, "verdict", amp_json_text(verdict_names[trial->verdict]));
    amp_json_set(object, "reason", amp_json_text(trial->reason));
    amp_json_set(object, "nodes",
                 amp_json_count(amp_problem_kept_nodes(tuning->problem, trial->keeps)));
    amp_json_set(object, "units", amp_json_count(amp_problem_kept(tuning->problem, trial->keeps)));
    if (amp_problem_has_steps(tuning->problem))
        amp_json_set(object, "float16",
                     amp_json_count(amp_problem_fine_nodes(tuning->problem, trial->keeps)));
    amp_json_set(object, "loss", amp_json_number_or_null(trial->loss));
    amp_json_set(object, "predicted", amp_json_number_or_null(trial->power));
    amp_json_set(object, "measured", amp_json_number_or_null(trial->measured));
    amp_json_set(object, "score", amp_json_number_or_null(trial->score));
    amp_json_set(object, "seconds", amp_json_number(trial->seconds));
    return object;
}

static json_t *json_kept(const struct amp_tuning *tuning, const struct amp_trial *trial)
{
    json_t *list = json_array();
    size_t count;
    struct kept *kept = sorted(tuning, trial, &count);
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        amp_json_set(object, "unit", amp_json_text(kept[i].unit->name));
        amp_json_set(object, "nodes", amp_json_count(kept[i].unit->n_nodes));
        amp_json_set(object, "loss", amp_json_number_or_null(kept[i].loss));
        amp_json_set(object, "noise", amp_json_number(kept[i].removes));
        json_array_append_new(list, object);
    }
    free(kept);
    return list;
}

static json_t *json_costs(const struct amp_tuning *tuning)
{
    json_t *object = json_object();
    amp_json_set(object, "unit", amp_json_text(amp_costs_unit_name(tuning->costs.unit)));
    amp_json_set(object, "origin", amp_json_text_or_null(tuning->problem->origin));
    amp_json_set(object, "all_low", amp_json_number_or_null(tuning->problem->base));
    amp_json_set(object, "most_loss", amp_json_number(amp_tuning_most_loss(tuning)));
    return object;
}

json_t *amp_json_tuning(const struct amp_tuning *tuning)
{
    const struct amp_trial *answer = tuning->answer;
    json_t *object = json_object(), *trials = json_array();
    amp_json_set(object, "strategy", amp_json_text(tuning->strategy->name));
    amp_json_set(object, "costs", json_costs(tuning));
    amp_json_set(object, "units", amp_json_count(amp_problem_units(tuning->problem)));
    amp_json_set(object, "plain_runs", amp_json_number(tuning->plain_runs));
    amp_json_set(object, "previews", amp_json_count(tuning->previews.count));
    amp_json_set(object, "preview_samples", amp_json_count(tuning->n_preview_samples));
    amp_json_set(object, "seconds", amp_json_number(tuning->seconds));
    amp_json_set(object, "minimal", json_boolean(tuning->is_minimal));
    amp_json_set(object, "answer", answer != NULL ? amp_json_count(answer->number) : json_null());
    amp_json_set(object, "float32", answer != NULL ? json_kept(tuning, answer) : json_array());
    for (size_t i = 0; i < tuning->trials.count; i++)
        json_array_append_new(trials, json_trial(tuning, tuning->trials.items[i]));
    amp_json_set(object, "trials", trials);
    return object;
}
