/*
 * The program: parses the command line, calls the command, prints the failure and turns it into the
 * exit code. The program ends nowhere else but where memory runs out (core/arena.c) and where an
 * input disappears while it is read (core/file/input.c).
 */
#include "cli/batch.h"
#include "cli/bench.h"
#include "cli/calibrate.h"
#include "cli/options/command_line.h"
#include "cli/compare.h"
#include "cli/completion.h"
#include "cli/convert/convert.h"
#include "cli/destination.h"
#include "cli/options/help.h"
#include "cli/report/head.h"
#include "cli/rules.h"
#include "cli/run.h"
#include "cli/options/threads.h"
#include "cli/train.h"
#include "cli/version.h"
#include "core/file/input.h"
#include "core/memory.h"

#include <stdio.h>

/* Whether models are run: threads wait for work then. */
static bool runs_models(const struct amp_options *options)
{
    if (options->command == AMP_CMD_CONVERT)
        return options->dump_after == NULL && !options->no_validate;
    return options->command != AMP_CMD_RULES && options->command != AMP_CMD_COMPLETION;
}

static enum amp_status run_command(const struct amp_options *options, char **argv,
                                   struct amp_error *err)
{
    if (options->wants_help) {
        amp_help_print(stdout, options->words);
        return AMP_OK;
    }
    if (options->wants_version) {
        amp_command_version(stdout);
        return AMP_OK;
    }
    if (runs_models(options))
        amp_threads_prepare(argv);
    AMP_TRY(amp_destinations_check(options, err));
    if (options->threads > 0)
        amp_threads_limit((int)options->threads);
    else
        amp_threads_default();
    if (options->max_memory > 0)
        amp_memory_set_limit((size_t)options->max_memory);
    switch (options->command) {
    case AMP_CMD_CONVERT:
        return options->output_dir != NULL ? amp_command_batch(options, err)
                                           : amp_command_convert(options, err);
    case AMP_CMD_RUN:
        return amp_command_run(options, err);
    case AMP_CMD_RULES:
        return amp_command_rules(options, err);
    case AMP_CMD_BENCH:
        return amp_command_bench(options, err);
    case AMP_CMD_COMPARE:
        return amp_command_compare(options, err);
    case AMP_CMD_CALIBRATE:
        return amp_command_calibrate(options, err);
    case AMP_CMD_TRAIN:
        return amp_command_train(options, err);
    case AMP_CMD_COMPLETION:
        return amp_command_completion(options, err);
    }
    return AMP_OK;
}

/* Prints the message of ERR, which core/print.h has cleaned already and which may have several
   lines. */
static void print_failure(const struct amp_error *err)
{
    fputs("ampconv: ", stderr);
    fputs(err->text, stderr);
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    struct amp_options options;
    struct amp_error err = {.status = AMP_OK};
    amp_streams_open();
    enum amp_status status = amp_command_line_parse(argc, argv, &options, &err);
    if (status == AMP_OK)
        status = run_command(&options, argv, &err);
    if (status == AMP_OK && fflush(stdout) != 0)
        status = amp_fail(&err, AMP_IO, "stdout: cannot write");
    if (err.text[0] != '\0')
        print_failure(&err);
    if (status != AMP_OK)
        amp_report_failure(&options, &err);
    amp_command_line_free(&options);
    return amp_status_exit_code(status);
}
