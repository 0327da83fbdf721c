/*
 * The help: prints usage, options by group and exit codes, out of the tables of options and
 * commands and the table of metrics.
 */
#include "cli/options/help.h"

#include "autocast/runtimes/runtime.h"
#include "onnx/training/make.h"
#include "check/metrics.h"
#include "check/task/task_metrics.h"
#include "cli/options/option_table.h"
#include "core/array.h"
#include "core/print.h"
#include "tune/search.h"

#include <string.h>

static const char *const group_titles[AMP_GROUP_END] = {"Conversion",
                                                        "Rules",
                                                        "Inputs and validation",
                                                        "Ranges (ampconv calibrate)",
                                                        "Tuning",
                                                        "Running (ampconv run)",
                                                        "Timing (ampconv bench)",
                                                        "Comparing (ampconv compare)",
                                                        "Training (ampconv train)",
                                                        "Output and help"};

/* What stands in a help for the names of a table. */
struct mark {
    const char *text;
    const char *(*name_at)(size_t i);
};

static const struct mark marks[] = {{"{metrics}", amp_metric_name_at},
                                    {"{task-bounds}", amp_task_bound_name_at},
                                    {"{strategies}", amp_strategy_name_at},
                                    {"{losses}", amp_training_loss_name},
                                    {"{optimizers}", amp_training_optimizer_name},
                                    {"{runtimes}", amp_runtime_name_at}};

/* The first mark in TEXT, at *AT; NULL: there is none. */
static const struct mark *find_mark(const char *text, const char **at)
{
    for (*at = text; **at != '\0'; ++*at)
        for (size_t i = 0; i < AMP_COUNT(marks); i++)
            if (strncmp(*at, marks[i].text, strlen(marks[i].text)) == 0)
                return &marks[i];
    return NULL;
}

void amp_help_print_text(FILE *file, const struct amp_option *option)
{
    const char *text = option->help, *at;
    const struct mark *mark;
    while ((mark = find_mark(text, &at)) != NULL) {
        amp_print(file, "%.*s", (int)(at - text), text);
        for (size_t i = 0; mark->name_at(i) != NULL; i++)
            amp_print(file, "%s%s", i > 0 ? ", " : "", mark->name_at(i));
        text = at + strlen(mark->text);
    }
    amp_print(file, "%s", text);
}

static void print_option(FILE *file, const struct amp_option *option)
{
    char left[64], letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    bool is_apart = option->argument != NULL && option->kind != AMP_OPTION_FORMAT &&
                    option->kind != AMP_OPTION_REPORT;
    int n = snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, is_apart ? " " : "",
                     option->argument ? option->argument : "");
    if (n > 25)
        amp_print(file, "  %s\n  %-26s", left, "");
    else
        amp_print(file, "  %-26s", left);
    amp_help_print_text(file, option);
    fputc('\n', file);
}

static void print_group(FILE *file, enum amp_option_group group, unsigned shown)
{
    bool has_title = false;
    const struct amp_option *option;
    for (size_t i = 0; (option = amp_option_at(i)) != NULL; i++) {
        if (option->group != group || !(option->commands & shown))
            continue;
        if (!has_title)
            amp_print(file, "\n%s:\n", group_titles[group]);
        has_title = true;
        print_option(file, option);
    }
}

void amp_help_print(FILE *file, const struct amp_command_words *about)
{
    fputs(about->help, file);
    for (int group = 0; group < AMP_GROUP_END; group++)
        print_group(file, (enum amp_option_group)group, about->shown);
    fputs("\nExit codes:\n"
          "  0  done, within tolerance\n"
          "  1  ran, but outside the tolerance\n"
          "  2  usage or system error\n"
          "  3  bad model, rules or input data\n"
          "  4  an operator or type that is not supported\n",
          file);
}
