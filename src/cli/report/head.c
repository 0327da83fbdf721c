/*
 * What all reports in JSON have in common: takes the body of a command's report, gives it a head
 * and writes it; makes the report of a command that failed.
 */
#include "cli/report/head.h"

#include "cli/report/json.h"
#include "core/file/output.h"
#include "core/hash.h"

#include <stdio.h>
#include <string.h>

/* One command makes one report. */
static bool is_written;

json_t *amp_report_begin(const char *kind)
{
    json_t *root = json_object(), *tool = json_object();
    amp_json_set(tool, "name", json_string("ampconv"));
    amp_json_set(tool, "version", json_string(AMP_VERSION));
    amp_json_set(root, "tool", tool);
    amp_json_set(root, "report", json_string(kind));
    amp_json_set(root, "exit_code", json_integer(0));
    return root;
}

enum amp_status amp_report_write(json_t *root, const struct amp_options *options,
                                 enum amp_status status, struct amp_error *err)
{
    is_written = true;
    amp_json_set(root, "exit_code", json_integer(amp_status_exit_code(status)));
    return amp_json_write(root, options->json, err);
}

json_t *amp_json_failure(const struct amp_options *options, const struct amp_error *failed)
{
    json_t *root = amp_report_begin("failure"), *error = json_object();
    amp_json_set(root, "exit_code", json_integer(amp_status_exit_code(failed->status)));
    amp_json_set(error, "status", json_string(amp_status_name(failed->status)));
    amp_json_set(error, "message", amp_json_text(failed->text));
    amp_json_set(root, "error", error);
    amp_json_set(root, "operands",
                 amp_json_texts(options->operands.items, options->operands.count));
    return root;
}

/* Whether PATH leads to one of the files TEXTS. */
static bool is_among(const struct amp_texts *texts, const char *path)
{
    bool is_found = false;
    for (size_t i = 0; i < texts->count; i++)
        is_found |= amp_output_is_input(texts->items[i], path);
    return is_found;
}

static bool is_same(const char *other, const char *path)
{
    return other != NULL && amp_output_is_same(other, path);
}

/* Whether the report would take the place of something that the user named, or of what else goes to
   stdout. */
static bool is_taken(const struct amp_options *options)
{
    const char *path = options->json, *explain = options->explain;
    bool is_stdout = strcmp(path, "-") == 0;
    bool is_input = is_among(&options->operands, path) || is_among(&options->data, path) ||
                    (options->ranges != NULL && amp_output_is_input(options->ranges, path));
    return is_same(options->output, path) || is_same(options->report, path) ||
           (is_stdout ? explain != NULL && strcmp(explain, "text") != 0 : is_input);
}

void amp_report_failure(const struct amp_options *options, const struct amp_error *failed)
{
    struct amp_error unused = {.status = AMP_OK};
    if (options->json == NULL || is_written || is_taken(options))
        return;
    is_written = true;
    AMP_IGNORE(amp_json_write(amp_json_failure(options, failed), options->json, &unused));
}

json_t *amp_json_hash(const struct amp_bytes *bytes)
{
    char text[32];
    snprintf(text, sizeof text, "fnv1a-32:%08x", amp_hash_fnv(bytes->data, bytes->size, 0));
    return json_string(text);
}
