/*
 * A search for what to keep in float32: cost against error of all that was tried, as predicted and
 * as run, a table of the trials, and the units that remain float32. Takes what the search left.
 */
#include "cli/report/html/tuning.h"

#include "cli/report/html/svg.h"
#include "core/array.h"
#include "core/memory.h"
#include "tune/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1120, HEIGHT = 420, SHOWN = 20, ALL_MAX = 1200, BELOW = 18 };

/* What the picture goes beyond the trials, in dB; about the width of a letter. */
static const double MARGIN = 6, LETTER = 6.2;

/* What all parts of the section go by. */
struct view {
    struct amp_html *html;
    const struct amp_tuning *tuning;
    const struct amp_trial *chosen; /* the answer, else the nearest; NULL: nothing was tried */
    const char *unit;               /* that costs are shown in */
    double scale;                   /* to it */
    double loss, power;             /* of all low, as predicted */
    bool is_predicted;              /* whether costs and noise were looked for */
};

static struct view view_of(struct amp_html *html, const struct amp_tuning *tuning)
{
    const struct amp_problem *problem = tuning->problem;
    enum amp_costs_unit unit = tuning->costs.unit;
    bool *none = amp_xcalloc(problem->n_units + 1, sizeof *none);
    struct view view = {.html = html,
                        .tuning = tuning,
                        .chosen = tuning->answer != NULL ? tuning->answer : tuning->nearest,
                        .unit = "%",
                        .scale = 100 / problem->base,
                        .loss = amp_problem_loss(problem, none),
                        .power = amp_problem_power(problem, none),
                        .is_predicted = problem->origin != NULL};
    if (!(problem->base > 0)) {
        view.unit = unit == AMP_COSTS_TIME ? "ms" : amp_costs_unit_name(unit);
        view.scale = unit == AMP_COSTS_TIME ? 1e3 : 1;
    }
    free(none);
    return view;
}

/* What LOSS is beyond that of all low, as it is shown. */
static double shown_loss(const struct view *v, double loss)
{
    return v->scale * (loss - v->loss);
}

static double decibels(double power)
{
    return power > 0 ? -10 * log10(power) : (double)INFINITY;
}

/* "41.2 dB", "no error", or what stands for an error as large as the outputs, where decibels tell
   nothing any more. */
static const char *decibels_text(double power, char text[32])
{
    if (isnan(power))
        snprintf(text, 32, "\xe2\x80\x93");
    else if (isinf(power))
        snprintf(text, 32, "\xe2\x9c\x97 lost");
    else if (power >= 1)
        snprintf(text, 32, "0 dB or less");
    else if (power > 0)
        snprintf(text, 32, "%.1f dB", decibels(power));
    else
        snprintf(text, 32, "no error");
    return text;
}

/* "2.13", "1204": three digits, or all of a whole number. */
static const char *cost_text(double cost, char text[48])
{
    snprintf(text, 48, fabs(cost) < 100 ? "%.3g" : "%.0f", cost);
    return text;
}

/* LOSS as it is shown, with its unit. */
static const char *loss_text(const struct view *v, double loss, char text[48])
{
    char number[48];
    snprintf(text, 48, "%.36s %s", cost_text(shown_loss(v, loss), number), v->unit);
    return text;
}

/* ---- what came of it ------------------------------------------------------------------------- */

/* "a loss of 2.13 %"; a gain where it is below all low. */
static const char *change_text(const struct view *v, double loss, char text[64])
{
    char size[48];
    snprintf(text, 64, "a %s of %s", loss < v->loss ? "gain" : "loss",
             loss_text(v, v->loss + fabs(loss - v->loss), size));
    return text;
}

static void put_cost(const struct view *v)
{
    char loss[64], most[64];
    amp_html_put(v->html, " Predicted: %s%s; all of them in float32: %s.",
                 change_text(v, v->chosen->loss, loss),
                 v->tuning->problem->base > 0 ? " of the cost of a run with all low" : "",
                 change_text(v, amp_tuning_most_loss(v->tuning), most));
}

static void put_kept(const struct view *v)
{
    const struct amp_problem *problem = v->tuning->problem;
    const bool *keeps = v->chosen->keeps;
    amp_html_put(v->html,
                 "<p class=\"verdict good\"><strong>\xe2\x9c\x93 The criterion holds with %zu of "
                 "%zu nodes in float32</strong><br/>These are %zu of the %zu units that could be "
                 "low.",
                 amp_problem_kept_nodes(problem, keeps), v->tuning->n_nodes,
                 amp_problem_kept(problem, keeps), amp_problem_units(problem));
    if (amp_problem_has_steps(problem))
        amp_html_put(v->html, " Of the others %zu nodes are float16 in place of bfloat16.",
                     amp_problem_fine_nodes(problem, keeps));
    if (v->is_predicted)
        put_cost(v);
    amp_html_put(v->html, "</p>\n");
}

static void put_nearest(const struct view *v)
{
    char nearest[32], least[32], criterion[32];
    const struct amp_tuning *tuning = v->tuning;
    amp_html_put(v->html, "<p class=\"verdict bad\"><strong>\xe2\x9c\x97 Nothing that was tried "
                          "meets the criterion</strong>");
    if (v->chosen != NULL)
        amp_html_put(v->html, "<br/>The nearest is trial %zu (%s): %s. %s", v->chosen->number,
                     v->chosen->phase, decibels_text(v->chosen->measured, nearest),
                     v->chosen->reason);
    amp_html_put(v->html, "</p>\n");
    if (tuning->problem->floor > tuning->budget)
        amp_html_put(v->html,
                     "<p>With all units in float32, %s are predicted, and the criterion is %s: "
                     "the rest of the error is of what is low in any case.</p>\n",
                     decibels_text(tuning->problem->floor, least),
                     decibels_text(tuning->budget, criterion));
}

static void put_outcome(const struct view *v)
{
    const struct amp_trial *answer = v->tuning->answer;
    if (answer == NULL)
        put_nearest(v);
    else if (amp_problem_is_low(v->tuning->problem, answer->keeps))
        amp_html_put(v->html, "<p class=\"verdict good\"><strong>\xe2\x9c\x93 All low meets the "
                              "criterion</strong><br/>Nothing has to be kept in float32 beyond "
                              "what rules and guards keep there.</p>\n");
    else
        put_kept(v);
}

static void put_search(const struct view *v)
{
    const struct amp_tuning *tuning = v->tuning;
    const struct amp_trials *trials = &tuning->trials;
    bool is_chosen =
        tuning->answer != NULL && !amp_problem_is_low(tuning->problem, tuning->answer->keeps);
    amp_html_put(v->html, "<p>Strategy <code>%s</code>: %zu trial%s", tuning->strategy->name,
                 trials->count, trials->count == 1 ? "" : "s");
    if (trials->n_replayed > 0)
        amp_html_put(v->html, ", %zu of them from the log of an earlier search",
                     trials->n_replayed);
    amp_html_put(v->html, "; %.3g s in all", tuning->seconds);
    if (tuning->previews.count > 0)
        amp_html_put(v->html, "; %zu choice%s previewed on %zu sample%s", tuning->previews.count,
                     tuning->previews.count == 1 ? "" : "s", tuning->n_preview_samples,
                     tuning->n_preview_samples == 1 ? "" : "s");
    if (tuning->plain_runs > 0)
        amp_html_put(v->html, "; finding the noise%s took the time of %.3g plain runs",
                     tuning->previews.count > 0 ? " and the previews" : "", tuning->plain_runs);
    if (tuning->problem->origin != NULL)
        amp_html_put(v->html, "; costs: %s", tuning->problem->origin);
    if (is_chosen)
        amp_html_put(v->html,
                     tuning->is_minimal
                         ? "; the answer is 1-minimal: each of its units was tried in the lower "
                           "dtype by itself, and the criterion does not hold then"
                         : "; whether the answer is 1-minimal is not known, as not each of its "
                           "units was tried in the lower dtype by itself");
    amp_html_put(v->html, ".</p>\n");
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* A mark around a place: where its path begins relative to that, and how it goes on. */
struct mark {
    const char *class;
    double x, y;
    const char *path;
    const char *text; /* in the legend */
};

/* Those of verdicts, then the others. */
enum { MARK_PREDICTED = AMP_TRIAL_UNSURE + 1, MARK_LOW, MARK_WIDE, MARK_ANSWER };

static const struct mark marks[] = {
    [AMP_TRIAL_NONE] = {"solidother", -4.5, -4.5, "h9v9h-9z", NULL},
    [AMP_TRIAL_MET] = {"solidgood", -5, 0, "a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
                       "run: the criterion is met"},
    [AMP_TRIAL_MISSED] = {"solidbad", 0, -6, "l6 10.5h-12z", "run: missed"},
    [AMP_TRIAL_UNSURE] = {"solidother", -4.5, -4.5, "h9v9h-9z", "run: nobody can tell"},
    [MARK_PREDICTED] = {"end", -4, 0, "a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "predicted"},
    [MARK_LOW] = {"low", 0, -6, "l6 6l-6 6l-6 -6z", "all low, predicted"},
    [MARK_WIDE] = {"full", 0, -6, "l6 6l-6 6l-6 -6z", "all float32, predicted"},
    [MARK_ANSWER] = {"ring", -9, 0, "a9 9 0 1 0 18 0a9 9 0 1 0 -18 0z", "the answer"}};

struct picture {
    const struct view *view;
    struct amp_html *html;
    struct amp_svg_plot plot;
};

/* Puts a mark of KIND at X and Y of the drawing. */
static void put_mark(struct amp_html *html, size_t kind, double x, double y, const char *title)
{
    const struct mark *mark = &marks[kind];
    amp_html_put(html, "<path class=\"%s\" d=\"M%.1f %.1f%s\">", mark->class, x + mark->x,
                 y + mark->y, mark->path);
    amp_html_put(html, title[0] != '\0' ? "<title>%s</title></path>\n" : "%s</path>\n", title);
}

static double x_of(const struct picture *p, double loss)
{
    return amp_svg_at(&p->plot.x, shown_loss(p->view, loss));
}

static double y_of(const struct picture *p, double power)
{
    return amp_svg_at(&p->plot.y, decibels(power));
}

/* The error of TRIAL as run; as predicted where that is not known. */
static double power_of(const struct amp_trial *trial)
{
    return isnan(trial->measured) ? trial->power : trial->measured;
}

/* Widens LOW and HIGH to the decibels of POWER; to 0 dB where it is an error as large as the
   outputs or larger. */
static void widen(double range[2], double power)
{
    double value = fmax(decibels(power), 0);
    if (!isfinite(value))
        return;
    range[0] = fmin(range[0], value);
    range[1] = fmax(range[1], value);
}

/* Over the trials and the criterion: all float32 may lie far beyond. */
static struct amp_svg_axis error_axis(const struct view *v)
{
    const struct amp_trials *trials = &v->tuning->trials;
    double range[2] = {INFINITY, 0};
    widen(range, v->power);
    for (size_t i = 0; i < trials->count; i++) {
        widen(range, trials->items[i]->power);
        widen(range, power_of(trials->items[i]));
    }
    if (!isnan(v->tuning->budget))
        widen(range, v->tuning->budget);
    return amp_svg_axis_over("signal to noise in dB: higher is better", false,
                             fmax(fmin(range[0], range[1]) - MARGIN / 2, 0), range[1] + MARGIN);
}

/* Over the trials: all float32 may cost far more, and gains that hardly show are left out. */
static struct amp_svg_axis cost_axis(const struct view *v, char *title, size_t size)
{
    const struct amp_trials *trials = &v->tuning->trials;
    double most = shown_loss(v, amp_tuning_most_loss(v->tuning)), low = fmin(most, 0), high = 0;
    for (size_t i = 0; i < trials->count; i++) {
        low = fmin(low, shown_loss(v, trials->items[i]->loss));
        high = fmax(high, shown_loss(v, trials->items[i]->loss));
    }
    high = high > 0 ? fmin(1.5 * high, fmax(most, high)) : fmax(most, 0);
    low = -low < 0.02 * high ? 0 : low;
    snprintf(title, size, "predicted loss in %s%s: less is better", v->unit,
             v->tuning->problem->base > 0 ? " of the cost of a run with all low" : "");
    return amp_svg_axis_over(title, false, low, high);
}

/* Puts a trial where it was predicted, with a line to where it came out, or there. */
static void put_trial(const struct picture *p, const struct amp_trial *trial, bool is_run)
{
    char title[256], loss[48], predicted[32], measured[32];
    double x = x_of(p, trial->loss), from = y_of(p, trial->power), to = y_of(p, power_of(trial));
    snprintf(title, sizeof title, "trial %zu, %.60s: loss %s, predicted %s, measured %s",
             trial->number, trial->phase, loss_text(p->view, trial->loss, loss),
             decibels_text(trial->power, predicted), decibels_text(trial->measured, measured));
    if (!is_run)
        amp_html_put(p->html, "<path class=\"lineother\" d=\"M%.1f %.1fV%.1f\"/>\n", x, from, to);
    put_mark(p->html, is_run ? trial->verdict : MARK_PREDICTED, x, is_run ? to : from, title);
}

/* Puts TEXT beside a mark, at the left where it would not fit. */
static void put_label(const struct picture *p, double x, double y, const char *text)
{
    bool is_left = x + 13 + LETTER * (double)strlen(text) > p->plot.right;
    amp_html_put(p->html,
                 "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
                 is_left ? x - 13 : x + 13, y + 4, is_left ? "end" : "start", text);
}

/* Whether what was chosen is all low: its label says it. */
static bool is_low_chosen(const struct view *v)
{
    return v->chosen != NULL && amp_problem_is_low(v->tuning->problem, v->chosen->keeps);
}

static void put_ends(const struct picture *p)
{
    char text[128], loss[48], error[32];
    const struct view *v = p->view;
    double most = amp_tuning_most_loss(v->tuning), floor = v->tuning->problem->floor;
    double x = x_of(p, v->loss), y = y_of(p, v->power);
    snprintf(text, sizeof text, "all low: %s", decibels_text(v->power, error));
    put_mark(p->html, MARK_LOW, x, y, text);
    if (!is_low_chosen(v))
        put_label(p, x, y + BELOW, text);
    x = x_of(p, most);
    y = y_of(p, floor);
    snprintf(text, sizeof text, "all float32: %s, %s", loss_text(v, most, loss),
             decibels_text(floor, error));
    put_mark(p->html, MARK_WIDE, x, y, text);
    put_label(p, x, y, text);
}

/* Rings the answer, or names what came nearest: below, as what costs more errs less. */
static void put_chosen(const struct picture *p)
{
    char text[128], loss[48], error[32];
    const struct amp_trial *trial = p->view->chosen;
    bool is_answer = p->view->tuning->answer != NULL;
    double x = x_of(p, trial->loss), y = y_of(p, power_of(trial));
    snprintf(text, sizeof text, "%s: trial %zu%s, %s, %s", is_answer ? "answer" : "nearest",
             trial->number, is_low_chosen(p->view) ? " (all low)" : "",
             loss_text(p->view, trial->loss, loss), decibels_text(trial->measured, error));
    if (is_answer)
        put_mark(p->html, MARK_ANSWER, x, y, text);
    put_label(p, x, y + BELOW, text);
}

static void put_legend(const struct view *v)
{
    bool is_used[AMP_COUNT(marks)] = {[MARK_PREDICTED] = true,
                                      [MARK_LOW] = true,
                                      [MARK_WIDE] = true,
                                      [MARK_ANSWER] = v->tuning->answer != NULL};
    for (size_t i = 0; i < v->tuning->trials.count; i++)
        is_used[v->tuning->trials.items[i]->verdict] = true;
    amp_html_put(v->html, "<ul class=\"legend\">");
    for (size_t i = AMP_TRIAL_MET; i < AMP_COUNT(marks); i++) {
        if (!is_used[i])
            continue;
        amp_html_put(v->html, "<li><svg width=\"20\" height=\"20\" aria-hidden=\"true\">");
        put_mark(v->html, i, 10, 10, "");
        amp_html_put(v->html, "</svg>%s</li>", marks[i].text);
    }
    amp_html_put(v->html, "</ul>\n");
}

static void put_marks(const struct picture *p)
{
    const struct amp_trials *trials = &p->view->tuning->trials;
    for (size_t i = 0; i < trials->count && i < ALL_MAX; i++)
        put_trial(p, trials->items[i], false);
    put_ends(p);
    for (size_t i = 0; i < trials->count && i < ALL_MAX; i++)
        put_trial(p, trials->items[i], true);
    if (p->view->chosen != NULL)
        put_chosen(p);
}

static void put_picture(const struct view *v)
{
    char title[96], text[64], criterion[32];
    struct picture p = {.view = v, .html = v->html};
    p.plot = (struct amp_svg_plot){.width = WIDTH,
                                   .height = HEIGHT,
                                   .x = cost_axis(v, title, sizeof title),
                                   .y = error_axis(v)};
    put_legend(v);
    amp_html_put(v->html, "<figure>\n");
    amp_svg_plot_begin(v->html, &p.plot, "Cost against error of all that was tried");
    if (v->tuning->budget > 0) {
        snprintf(text, sizeof text, "criterion: %s or more",
                 decibels_text(v->tuning->budget, criterion));
        amp_svg_put_level(v->html, &p.plot, decibels(v->tuning->budget), "bound", text);
    }
    put_marks(&p);
    amp_svg_end(v->html);
    amp_html_put(v->html, "<figcaption>A line leads from what was predicted of a trial to what was "
                          "measured; a trial of which no error is known lies where it was "
                          "predicted. Marks at an edge lie on it or beyond: no error at the top, "
                          "lost elements at the bottom.</figcaption>\n</figure>\n");
}

/* ---- trials ---------------------------------------------------------------------------------- */

static const char *const verdict_texts[] = {[AMP_TRIAL_NONE] = "not run",
                                            [AMP_TRIAL_MET] = "\xe2\x9c\x93 met",
                                            [AMP_TRIAL_MISSED] = "\xe2\x9c\x97 missed",
                                            [AMP_TRIAL_UNSURE] = "? unsure"};

static void put_row(const struct view *v, const struct amp_trial *trial, bool has_scores)
{
    char loss[48], predicted[32], measured[32];
    const struct amp_problem *problem = v->tuning->problem;
    amp_html_put(v->html, "<tr><td class=\"n\">%s%zu</td><td>%.60s</td>",
                 trial == v->tuning->answer ? "answer: " : "", trial->number, trial->phase);
    amp_html_put(v->html, "<td class=\"n\">%zu</td><td class=\"n\">%zu</td>",
                 amp_problem_kept_nodes(problem, trial->keeps),
                 amp_problem_kept(problem, trial->keeps));
    if (v->is_predicted)
        amp_html_put(v->html, "<td class=\"n\">%s</td><td class=\"n\">%s</td>",
                     cost_text(shown_loss(v, trial->loss), loss),
                     decibels_text(trial->power, predicted));
    amp_html_put(v->html, "<td class=\"n\">%s</td>", decibels_text(trial->measured, measured));
    if (has_scores && isnan(trial->score))
        amp_html_put(v->html, "<td class=\"n\">\xe2\x80\x93</td>");
    else if (has_scores)
        amp_html_put(v->html, "<td class=\"n\">%.6g</td>", trial->score);
    amp_html_put(v->html, "<td>%s%s%s</td><td class=\"n\">%.3g</td></tr>\n",
                 verdict_texts[trial->verdict], trial->reason[0] != '\0' ? ": " : "", trial->reason,
                 trial->seconds);
}

/* Begins the table of the trials, without columns that no trial has anything for. */
static void begin_trials(const struct view *v, bool has_scores)
{
    char loss[48];
    bool is_predicted = v->is_predicted;
    const struct {
        struct amp_html_column column;
        bool is_there;
    } all[] = {{{"trial", true}, true},         {{"phase", false}, true},
               {{"float32 nodes", true}, true}, {{"units", true}, true},
               {{loss, true}, is_predicted},    {{"predicted", true}, is_predicted},
               {{"measured", true}, true},      {{"score, higher is better", true}, has_scores},
               {{"criterion", false}, true},    {{"s", true}, true}};
    struct amp_html_column columns[AMP_COUNT(all)];
    size_t count = 0;
    snprintf(loss, sizeof loss, "predicted loss, %s", v->unit);
    for (size_t i = 0; i < AMP_COUNT(all); i++)
        if (all[i].is_there)
            columns[count++] = all[i].column;
    amp_html_table_begin(v->html,
                         is_predicted ? "The trials, in the order of the search. Predicted: signal "
                                        "to noise by the sources that are left; measured: that of "
                                        "the worst output."
                                      : "The trials. Measured: signal to noise of the worst "
                                        "output.",
                         columns, count);
}

static void put_trials(const struct view *v)
{
    const struct amp_trials *trials = &v->tuning->trials;
    bool has_scores = false;
    for (size_t i = 0; i < trials->count; i++)
        has_scores |= !isnan(trials->items[i]->score);
    begin_trials(v, has_scores);
    for (size_t i = 0; i < trials->count; i++)
        if (i < ALL_MAX || trials->items[i] == v->tuning->answer)
            put_row(v, trials->items[i], has_scores);
    amp_html_table_end(v->html);
    if (trials->count > ALL_MAX)
        amp_html_put(v->html,
                     "<p>Of %zu trials the first %d and the answer are shown; "
                     "<code>--tune-log</code> has all.</p>\n",
                     trials->count, ALL_MAX);
}

/* ---- what remains float32 -------------------------------------------------------------------- */

struct kept {
    const struct amp_unit *unit;
    double loss, removes;
};

static int compare_kept(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->removes != y->removes)
        return x->removes > y->removes ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* The units that are float32, those first that most noise hangs on: to be freed. */
static struct kept *sort_kept(const struct view *v, size_t *count)
{
    const struct amp_problem *problem = v->tuning->problem;
    struct kept *kept = amp_xcalloc(problem->n_units + 1, sizeof *kept);
    *count = 0;
    for (uint32_t u = 0; u < problem->n_units; u++)
        if (v->chosen->keeps[u] && !problem->units[u].is_fine)
            kept[(*count)++] = (struct kept){&problem->units[u], amp_problem_unit_loss(problem, u),
                                             v->tuning->removes[u]};
    qsort(kept, *count, sizeof *kept, compare_kept);
    return kept;
}

static void put_units(const struct view *v)
{
    char text[160], loss[48], cost[48], error[32], name[AMP_HTML_SHORT];
    size_t count;
    struct kept *kept = sort_kept(v, &count);
    const struct amp_html_column columns[] = {{"unit", false},
                                              {"operator", false},
                                              {"nodes", true},
                                              {loss, true},
                                              {"noise that hangs on it", true}};
    snprintf(text, sizeof text,
             "What %s in float32, that first which most noise hangs on: %zu of %zu units. Loss: "
             "beside casts.",
             v->tuning->answer != NULL ? "remains" : "the nearest trial keeps",
             count < SHOWN ? count : (size_t)SHOWN, count);
    snprintf(loss, sizeof loss, "predicted loss, %s", v->unit);
    if (count > 0) {
        amp_html_table_begin(v->html, text, columns, AMP_COUNT(columns));
        for (size_t i = 0; i < count && i < SHOWN; i++)
            amp_html_put(v->html,
                         "<tr><td>%s</td><td>%.60s</td><td class=\"n\">%zu</td>"
                         "<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
                         amp_html_short(kept[i].unit->name, 80, name), kept[i].unit->op,
                         kept[i].unit->n_nodes, cost_text(v->scale * kept[i].loss, cost),
                         decibels_text(kept[i].removes, error));
        amp_html_table_end(v->html);
    }
    free(kept);
}

void amp_html_tuning(struct amp_html *html, const struct amp_tuning *tuning)
{
    struct view view = view_of(html, tuning);
    put_outcome(&view);
    put_search(&view);
    if (tuning->trials.count == 0)
        return;
    if (view.is_predicted)
        put_picture(&view);
    put_trials(&view);
    if (view.chosen != NULL)
        put_units(&view);
}
