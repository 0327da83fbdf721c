/* What a search came to as a section of a page: well-formed, self-contained, and what it says. */
#include "cli/report/html/tuning.h"
#include "scratch.h"
#include "tune/tuning.h"

#include <math.h>
#include <string.h>

enum { UNITS = 30, TRIALS = 5 };

/* A search made up, with what it points to. */
struct made {
    struct amp_unit units[UNITS];
    uint32_t nodes[2];
    struct amp_problem_noise noises[UNITS];
    struct amp_problem problem;
    struct amp_strategy strategy;
    bool keeps[TRIALS][UNITS];
    struct amp_trial trials[TRIALS], *items[TRIALS];
    double removes[UNITS];
    struct amp_tuning tuning;
};

static double power_of(double decibels)
{
    return pow(10, -decibels / 10);
}

/* Trial NUMBER, which keeps the first N_KEPT units. */
static void add_trial(struct made *made, size_t number, const char *phase, size_t n_kept)
{
    struct amp_trial *trial = &made->trials[number];
    for (size_t u = 0; u < n_kept; u++)
        made->keeps[number][u] = true;
    *trial = (struct amp_trial){.number = number,
                                .phase = phase,
                                .keeps = made->keeps[number],
                                .loss = amp_problem_loss(&made->problem, made->keeps[number]),
                                .power = amp_problem_power(&made->problem, made->keeps[number]),
                                .measured = (double)NAN,
                                .score = (double)NAN,
                                .seconds = 0.25};
    made->items[number] = trial;
}

static void judge(struct made *made, size_t number, enum amp_trial_verdict verdict,
                  const char *reason)
{
    struct amp_trial *trial = &made->trials[number];
    trial->verdict = verdict;
    trial->measured = trial->power * 1.25;
    snprintf(trial->reason, sizeof trial->reason, "%s", reason);
}

static void make_problem(struct made *made)
{
    for (size_t u = 0; u < UNITS; u++) {
        made->units[u] = (struct amp_unit){.name = "node '</svg><script>' & co",
                                           .op = "<b>",
                                           .nodes = made->nodes,
                                           .n_nodes = 2,
                                           .loss = 0.0025};
        made->noises[u] =
            (struct amp_problem_noise){(uint32_t)u, (uint32_t)u, power_of(30 + (double)u / 2)};
        made->removes[u] = made->noises[u].power;
    }
    made->units[3].name = "node 'conv3' (Conv-3)";
    made->problem = (struct amp_problem){.units = made->units,
                                         .n_units = UNITS,
                                         .noises = made->noises,
                                         .n_noises = UNITS,
                                         .floor = power_of(90),
                                         .base = 0.0625,
                                         .origin = "measured <here>"};
}

/* A search of five trials, the fourth of which is the answer. */
static void make(struct made *made)
{
    static const char *const phases[] = {"all low", "bracket", "bracket", "shrink", "shrink"};
    static const size_t n_kept[] = {0, 8, 28, 24, 23};
    memset(made, 0, sizeof *made);
    make_problem(made);
    for (size_t i = 0; i < TRIALS; i++)
        add_trial(made, i, phases[i], n_kept[i]);
    judge(made, 0, AMP_TRIAL_MISSED, "output 'y</text>': snr 21.9 dB < 38 dB");
    judge(made, 1, AMP_TRIAL_UNSURE, "the command cannot tell");
    judge(made, 2, AMP_TRIAL_MET, "");
    judge(made, 3, AMP_TRIAL_MET, "");
    judge(made, 4, AMP_TRIAL_MISSED, "snr 37.6 dB < 38 dB");
    made->strategy = (struct amp_strategy){.name = "min-cut", .text = "by prices"};
    made->tuning =
        (struct amp_tuning){.problem = &made->problem,
                            .strategy = &made->strategy,
                            .trials = {.items = made->items, .count = TRIALS, .n_replayed = 2},
                            .costs = {.unit = AMP_COSTS_TIME},
                            .removes = made->removes,
                            .answer = &made->trials[3],
                            .budget = power_of(38),
                            .is_minimal = true,
                            .n_nodes = 71,
                            .plain_runs = 31.5,
                            .seconds = 12.5};
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The file at PATH, to be freed. */
static char *read_text(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "rb");
    assert_true(text != NULL && file != NULL);
    size_t size = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_in_range(size, 1000, (1 << 20) - 2);
    return text;
}

/* Whether the page at PATH is well-formed, as far as the tool of the tests is there to say it. */
static void assert_xml(const char *path)
{
    char command[SCRATCH_MAX];
    const char *cases = getenv("CASES");
    if (cases == NULL)
        return;
    snprintf(command, sizeof command, "'%s/../case_tool' xml %s", cases, path);
    assert_int_equal(system(command), 0);
}

/* The page of TUNING alone, to be freed; it is well-formed and needs nothing else. */
static char *page_of(const struct amp_tuning *tuning)
{
    struct amp_error err = {.status = AMP_OK};
    struct amp_html *html = amp_html_create("a search");
    amp_html_tuning(html, tuning);
    assert_int_equal(amp_html_write(html, "page.html", &err), AMP_OK);
    amp_html_destroy(html);
    assert_xml("page.html");
    char *text = read_text("page.html");
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "href"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "nan"));
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("the page does not say: %s", part);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void an_answer_is_told(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    char *text = page_of(&made.tuning);
    assert_says(text, "The criterion holds with 48 of 71 nodes in float32");
    assert_says(text, "These are 24 of the 30 units");
    assert_says(text, "Predicted: a loss of 96 % of the cost of a run with all low; all of them in "
                      "float32: a loss of 120 %.");
    assert_says(text, "Strategy <code>min-cut</code>: 5 trials, 2 of them from the log of an "
                      "earlier search; 12.5 s in all; finding the noise took the time of 31.5 "
                      "plain runs; costs: measured &lt;here&gt;; the answer is 1-minimal");
    assert_says(text, ">criterion: 38.0 dB or more<");
    assert_says(text, "all float32: 120 %, 90.0 dB");
    assert_says(text, "answer: trial 3, 96 %, ");
    assert_says(text, "What remains in float32, that first which most noise hangs on: 20 of 24");
    assert_says(text, "conv3&#39; (Conv-3)</td>");
    free(text);
}

static void each_trial_has_a_row_and_two_marks(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    char *text = page_of(&made.tuning);
    assert_int_equal(count_of(text, "d=\"M"), count_of(text, "<path "));
    assert_int_equal(count_of(text, "<path class=\"end\""), TRIALS + 1);
    assert_int_equal(count_of(text, "<path class=\"solidgood\""), 2 + 1);
    assert_int_equal(count_of(text, "<path class=\"solidbad\""), 2 + 1);
    assert_int_equal(count_of(text, "<path class=\"solidother\""), 1 + 1);
    assert_int_equal(count_of(text, "<path class=\"ring\""), 1 + 1);
    assert_says(text, "<td class=\"n\">answer: 3</td><td>shrink</td><td class=\"n\">48</td>"
                      "<td class=\"n\">24</td><td class=\"n\">96</td>");
    assert_says(text, "snr 37.6 dB &lt; 38 dB</td><td class=\"n\">0.25</td>");
    assert_null(strstr(text, "score"));
    free(text);
}

static void scores_have_a_column(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.trials[2].score = 0.875;
    made.tuning.budget = (double)NAN;
    for (size_t i = 0; i < TRIALS; i++)
        made.trials[i].measured = (double)NAN;
    char *text = page_of(&made.tuning);
    assert_says(text, "score, higher is better");
    assert_says(text, "<td class=\"n\">0.875</td>");
    assert_null(strstr(text, "criterion: "));
    assert_int_equal(count_of(text, "<path class=\"solidgood\""), 2 + 1);
    free(text);
}

static void what_was_not_met_is_told(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.tuning.answer = NULL;
    made.tuning.nearest = &made.trials[4];
    made.tuning.budget = power_of(95);
    made.trials[0].measured = (double)INFINITY;
    char *text = page_of(&made.tuning);
    assert_says(text, "Nothing that was tried meets the criterion");
    assert_says(text, "The nearest is trial 4 (shrink): ");
    assert_says(text, "With all units in float32, 90.0 dB are predicted, and the criterion is "
                      "95.0 dB");
    assert_says(text, "nearest: trial 4, 92 %, ");
    assert_says(text, "\xe2\x9c\x97 lost</td>");
    assert_says(text, "What the nearest trial keeps in float32");
    assert_null(strstr(text, "minimal"));
    assert_null(strstr(text, "<path class=\"ring\""));
    free(text);
}

static void nothing_tried_is_a_page(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.tuning.answer = NULL;
    made.tuning.trials = (struct amp_trials){.count = 0};
    char *text = page_of(&made.tuning);
    assert_says(text, "Nothing that was tried meets the criterion");
    assert_null(strstr(text, "<table"));
    free(text);
}

static void no_units_are_a_page(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.problem = (struct amp_problem){.n_units = 0};
    add_trial(&made, 0, "all low", 0);
    judge(&made, 0, AMP_TRIAL_MET, "");
    made.tuning.trials = (struct amp_trials){.items = made.items, .count = 1};
    made.tuning.answer = &made.trials[0];
    made.tuning.removes = NULL;
    made.tuning.costs = (struct amp_costs){.unit = AMP_COSTS_TIME};
    made.tuning.plain_runs = 0;
    char *text = page_of(&made.tuning);
    assert_says(text, "All low meets the criterion");
    assert_says(text, "<code>min-cut</code>: 1 trial; 12.5 s in all.");
    assert_null(strstr(text, "redicted"));
    assert_null(strstr(text, "<figure"));
    assert_null(strstr(text, "What remains"));
    free(text);
}

static void nodes_are_counted_as_they_are(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    for (size_t u = 0; u < UNITS; u++)
        made.units[u].loss = 2;
    for (size_t i = 0; i < TRIALS; i++)
        made.trials[i].loss = amp_problem_loss(&made.problem, made.keeps[i]);
    made.tuning.costs = (struct amp_costs){.unit = AMP_COSTS_NODES};
    made.problem.base = 0;
    made.problem.origin = "counted";
    char *text = page_of(&made.tuning);
    assert_says(text, "predicted loss in nodes: less is better");
    assert_says(text, "answer: trial 3, 48 nodes, ");
    free(text);
}

static void gains_are_called_so(void **state)
{
    struct made made;
    (void)state;
    make(&made);
    made.trials[3].loss = -0.0125;
    char *text = page_of(&made.tuning);
    assert_says(text, "Predicted: a gain of 20 % of the cost");
    assert_says(text, "answer: trial 3, -20 %, ");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_told),
        cmocka_unit_test(each_trial_has_a_row_and_two_marks),
        cmocka_unit_test(scores_have_a_column),
        cmocka_unit_test(what_was_not_met_is_told),
        cmocka_unit_test(nothing_tried_is_a_page),
        cmocka_unit_test(no_units_are_a_page),
        cmocka_unit_test(gains_are_called_so),
        cmocka_unit_test(nodes_are_counted_as_they_are),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
