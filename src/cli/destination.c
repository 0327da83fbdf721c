/*
 * Where the converted model, its data file and the JSON report go. Takes the options and the paths
 * of the input, gives the path of the output, and refuses what would replace a file that the user
 * did not give up. Writes nothing.
 */
#include "cli/destination.h"

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
    if (is_stdout && options->json != NULL && strcmp(options->json, "-") == 0)
        return amp_fail(err, AMP_USAGE, "stdout cannot take both the model and --json -");
    if (is_stdout && options->report != NULL && strcmp(options->report, "-") == 0)
        return amp_fail(err, AMP_USAGE, "stdout cannot take both the model and --report -");
    if (!is_stdout && options->json != NULL && strcmp(options->json, found) == 0)
        return amp_fail(err, AMP_USAGE, "--json %s: that is the model itself", found);
    if (!is_stdout && options->report != NULL && strcmp(options->report, found) == 0)
        return amp_fail(err, AMP_USAGE, "--report %s: that is the model itself", found);
    if (!is_stdout)
        AMP_TRY(check_is_free(options, found, err));
    AMP_TRY(amp_output_check(found, err));
    if (options->json != NULL)
        AMP_TRY(amp_output_check(options->json, err));
    if (options->report != NULL)
        AMP_TRY(amp_output_check(options->report, err));
    return check_data_name(options->external_data, found, err);
}

static bool is_same_file(const char *a, const char *b)
{
    char *real_a = realpath(a, NULL), *real_b = realpath(b, NULL);
    bool is_same = real_a != NULL && real_b != NULL && strcmp(real_a, real_b) == 0;
    free(real_a);
    free(real_b);
    return is_same;
}

/* An output may replace the input model, and its data file a data file of the input then. A model
   never replaces a data file of the input, a data file never the input model. */
enum amp_status amp_destination_check(const struct amp_options *options,
                                      const struct amp_external *external, const char *path,
                                      const char *data_path, struct amp_error *err)
{
    const char *input = options->operands.items[0], *lost = NULL;
    if (data_path != NULL)
        AMP_TRY(check_is_free(options, data_path, err));
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
