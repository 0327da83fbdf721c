/*
 * Where the converted model, its data file, reports and all else that options name are written to.
 * Takes the options and the paths of the input, gives the path of the model, and refuses what
 * cannot be created and what would replace a file that the user did not give up. Writes nothing.
 */
#include "cli/destination.h"

#include "cli/options/command_line.h"
#include "core/file/input.h"
#include "core/file/output.h"
#include "core/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *amp_destination_default(const struct amp_target *target, const char *path,
                                    struct amp_arena *arena)
{
    if (amp_file_is_stream(path))
        return "-";
    size_t length = strlen(path);
    if (amp_word_has_ending(path, ".onnx"))
        length -= strlen(".onnx");
    if (target->keeps_types)
        return amp_arena_printf(arena, "%.*s.opset%d.onnx", (int)length, path, target->opset);
    const char *dtypes = amp_dtype_short_name(target->lower);
    if (target->second != AMP_UNDEFINED)
        dtypes = amp_arena_printf(arena, "%s-%s", dtypes, amp_dtype_short_name(target->second));
    return amp_arena_printf(arena, "%.*s.%s.onnx", (int)length, path, dtypes);
}

/* AMP_USAGE unless NAME, a file for tensor data, lies in the folder of the model at PATH or below
   it, as ONNX wants it (onnx.proto, TensorProto.external_data), and is not the model itself. */
static enum amp_status check_data_name(const char *name, const char *path, struct amp_error *err)
{
    const char *slash = strrchr(path, '/');
    if (name == NULL)
        return AMP_OK;
    size_t length = strlen(name);
    bool climbs = strncmp(name, "../", 3) == 0 || strstr(name, "/../") != NULL;
    bool is_name = length > 0 && name[length - 1] != '/' && strcmp(name, "-") != 0;
    if (!is_name || name[0] == '/' || climbs)
        return amp_fail(err, AMP_USAGE,
                        "--external-data %s: a name relative to the output's folder is needed",
                        name);
    if (strcmp(name, slash == NULL ? path : slash + 1) == 0)
        return amp_fail(err, AMP_USAGE, "--external-data %s: that is the model itself", name);
    return AMP_OK;
}

/* AMP_IO when PATH, a name that the user did not choose, is that of a file or of a link that leads
   to none; not with --force. */
static enum amp_status check_is_free(const struct amp_options *options, const char *path,
                                     struct amp_error *err)
{
    struct stat info;
    if (options->output != NULL || options->is_forced || lstat(path, &info) != 0)
        return AMP_OK;
    return amp_fail(err, AMP_IO, "%s exists; use --force, or -o to name an output", path);
}

/* ---- one file under several names ------------------------------------------------------------ */

/* The operand that is a model and the file at PATH; NULL: none is. */
static const char *find_input(const struct amp_options *options, const char *path)
{
    const struct amp_texts *operands = &options->operands;
    for (size_t i = 0;
         i < operands->count && (options->command & (AMP_CMD_RULES | AMP_CMD_COMPLETION)) == 0; i++)
        if (amp_output_is_input(operands->items[i], path))
            return operands->items[i];
    return NULL;
}

/* AMP_USAGE when PATH, where the model goes, is the model that it is made of; not with --force. */
static enum amp_status check_is_other(const struct amp_options *options, const char *path,
                                      struct amp_error *err)
{
    if (options->is_forced || find_input(options, path) == NULL)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE,
                    "%s is the input and would be lost; use --force, or another name", path);
}

/* ---- files that options name ----------------------------------------------------------------- */

/* The file that OPTION has the command write, or add to; NULL: none. */
static const char *written_by(const struct amp_options *options, const struct amp_option *option)
{
    bool is_file = option->kind == AMP_OPTION_OUTPUT || option->kind == AMP_OPTION_REPORT ||
                   option->kind == AMP_OPTION_LOG;
    return is_file && (option->commands & options->command) ? amp_option_text(options, option)
                                                            : NULL;
}

/* Whether it is the converted model that OPTION names. */
static bool is_model(const struct amp_option *option)
{
    return (option->commands & AMP_CMD_CONVERT) != 0 && strcmp(option->name, "output") == 0;
}

/* AMP_USAGE when another option before row ROW names PATH too; the model is compared with them when
   its path is known. */
static enum amp_status check_rows_before(const struct amp_options *options, size_t row,
                                         const char *path, struct amp_error *err)
{
    const struct amp_option *option = amp_option_at(row);
    for (size_t i = 0; i < row; i++) {
        const char *other = written_by(options, amp_option_at(i));
        if (other != NULL && !is_model(amp_option_at(i)) && amp_output_is_same(path, other))
            return amp_fail(err, AMP_USAGE, "--%s and --%s cannot both go to %s", option->name,
                            amp_option_at(i)->name, path);
    }
    return AMP_OK;
}

/* Checks PATH, which the option in row ROW has the command write. */
static enum amp_status check_written(const struct amp_options *options, size_t row,
                                     const char *path, struct amp_error *err)
{
    const struct amp_option *option = amp_option_at(row);
    AMP_TRY(option->kind == AMP_OPTION_LOG ? amp_output_check_log(path, err)
                                           : amp_output_check(path, err));
    if (is_model(option))
        return check_is_other(options, path, err);
    if (find_input(options, path) != NULL)
        return amp_fail(err, AMP_USAGE, "--%s %s: that is the input, which would be lost",
                        option->name, path);
    return check_rows_before(options, row, path, err);
}

enum amp_status amp_destinations_check(const struct amp_options *options, struct amp_error *err)
{
    const struct amp_option *option;
    for (size_t row = 0; (option = amp_option_at(row)) != NULL; row++) {
        const char *path = written_by(options, option);
        if (path != NULL)
            AMP_TRY(check_written(options, row, path, err));
        bool is_folder = option->kind == AMP_OPTION_FOLDER && (option->commands & options->command);
        if (is_folder && amp_option_text(options, option) != NULL)
            AMP_TRY(amp_output_check_folder(amp_option_text(options, option), err));
    }
    return AMP_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* AMP_USAGE when another output goes to PATH, where the model goes. */
static enum amp_status check_is_alone(const struct amp_options *options, const char *path,
                                      struct amp_error *err)
{
    const struct amp_option *option;
    for (size_t row = 0; (option = amp_option_at(row)) != NULL; row++) {
        const char *other = written_by(options, option);
        if (other == NULL || is_model(option) || !amp_output_is_same(path, other))
            continue;
        if (strcmp(path, "-") == 0)
            return amp_fail(err, AMP_USAGE, "stdout cannot take both the model and --%s -",
                            option->name);
        return amp_fail(err, AMP_USAGE, "--%s %s: that is the model itself", option->name, other);
    }
    return AMP_OK;
}

/* Checks the file for tensor data that the user names, in the folder of the model at PATH. */
static enum amp_status check_data(const char *name, const char *path, struct amp_arena *arena,
                                  struct amp_error *err)
{
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash + 1 - path) : 0;
    AMP_TRY(check_data_name(name, path, err));
    return name == NULL
               ? AMP_OK
               : amp_output_check(amp_arena_printf(arena, "%.*s%s", folder, path, name), err);
}

enum amp_status amp_destination_choose(const struct amp_options *options,
                                       const struct amp_target *target, struct amp_arena *arena,
                                       const char **path, struct amp_error *err)
{
    const char *found = options->output
                            ? options->output
                            : amp_destination_default(target, options->operands.items[0], arena);
    bool is_stdout = strcmp(found, "-") == 0;
    *path = found;
    if (is_stdout && isatty(STDOUT_FILENO))
        return amp_fail(err, AMP_USAGE,
                        "the model is not written to a terminal; use -o FILE or a pipe");
    AMP_TRY(check_is_alone(options, found, err));
    if (!is_stdout)
        AMP_TRY(check_is_free(options, found, err));
    AMP_TRY(amp_output_check(found, err));
    return check_data(options->external_data, found, arena, err);
}

static bool is_same_file(const char *a, const char *b)
{
    char *real_a = realpath(a, NULL), *real_b = realpath(b, NULL);
    bool is_same = real_a != NULL && real_b != NULL && strcmp(real_a, real_b) == 0;
    free(real_a);
    free(real_b);
    return is_same;
}

/* An output that may replace the input model may have its data file replace a data file of it. A
   model never replaces a data file of the input, a data file never the input model. */
enum amp_status amp_destination_check(const struct amp_options *options,
                                      const struct amp_external *external, const char *path,
                                      const char *data_path, struct amp_error *err)
{
    const char *input = options->operands.items[0], *lost = NULL;
    if (data_path != NULL) {
        AMP_TRY(check_is_free(options, data_path, err));
        AMP_TRY(amp_output_check(data_path, err));
    }
    if (amp_external_has(external, path))
        lost = path;
    else if (data_path != NULL && is_same_file(data_path, input))
        lost = data_path;
    else if (data_path != NULL && amp_external_has(external, data_path) &&
             !is_same_file(path, input))
        lost = data_path;
    if (lost == NULL)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE,
                    "%s is part of the input and would be lost; another name is needed", lost);
}
