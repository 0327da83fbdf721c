/*
 * Choices as rules: takes which units are kept in float32, gives rules by the names of tensors, in
 * a list or in a file.
 */
#include "tune/choice.h"

#include "autocast/rules/rules.h"
#include "core/dtype.h"
#include "core/file/output.h"
#include "core/match/glob.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* ---- making ---------------------------------------------------------------------------------- */

/* Whether NODE, of no unit, is float32 because somebody or something said so. */
static bool is_kept_otherwise(const struct amp_assignment *assignment, uint32_t node)
{
    const struct amp_decision *decision = &assignment->nodes[node];
    return decision->dtype == AMP_FLOAT &&
           (decision->reason == AMP_REASON_RULE || amp_reason_is_guard(decision->reason));
}

/* The dtype of NODE, of UNIT, in the choice KEEPS. */
static enum amp_dtype dtype_in(const struct amp_choice_model *model, const bool *keeps,
                               uint32_t node, uint32_t unit)
{
    bool is_fine = unit > 0 && model->units->items[unit - 1].is_fine && keeps[unit - 1];
    if (keeps[unit])
        return AMP_FLOAT;
    return is_fine ? model->fine->nodes[node].dtype : model->assignment->nodes[node].dtype;
}

struct amp_choice amp_choice_make(const struct amp_choice_model *model, const bool *keeps,
                                  bool is_complete, struct amp_arena *arena)
{
    size_t n = model->assignment->n_nodes;
    struct amp_choice choice = {.has_second = model->assignment->second != AMP_UNDEFINED};
    choice.wide = amp_arena_array(arena, n, sizeof *choice.wide);
    choice.low = amp_arena_array(arena, n, sizeof *choice.low);
    choice.second = amp_arena_array(arena, n, sizeof *choice.second);
    choice.units = amp_arena_array(arena, n, sizeof *choice.units);
    for (uint32_t node = 0; node < n; node++) {
        const struct amp_decision *decision = &model->assignment->nodes[node];
        bool is_low = amp_assignment_chooses(model->assignment, decision->dtype);
        uint32_t unit = is_low ? model->units->of_node[node] : AMP_NONE;
        enum amp_dtype dtype = unit == AMP_NONE ? AMP_FLOAT : dtype_in(model, keeps, node, unit);
        if (model->outputs[node] == NULL)
            continue;
        if (dtype == model->assignment->lower)
            choice.low[choice.n_low++] = model->outputs[node];
        else if (dtype != AMP_FLOAT)
            choice.second[choice.n_second++] = model->outputs[node];
        else if (unit != AMP_NONE || (is_complete && is_kept_otherwise(model->assignment, node))) {
            choice.units[choice.n_wide] = unit;
            choice.wide[choice.n_wide++] = model->outputs[node];
        }
    }
    return choice;
}

/* The precision of the nodes that CHOICE has in the lower dtype: where there are two, its name. */
static enum amp_precision precision_of_low(const struct amp_choice *choice)
{
    return choice->has_second ? AMP_BF16 : AMP_LOWER;
}

enum amp_status amp_choice_add(const struct amp_choice *choice, struct amp_rules *rules,
                               struct amp_error *err)
{
    AMP_TRY(
        amp_rules_add_tensors(rules, choice->low, choice->n_low, precision_of_low(choice), err));
    AMP_TRY(amp_rules_add_tensors(rules, choice->second, choice->n_second, AMP_FP16, err));
    return amp_rules_add_tensors(rules, choice->wide, choice->n_wide, AMP_FP32, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

const char amp_choice_name[] = "tuned";

struct writer {
    struct amp_arena *arena;
    struct amp_output *output;
    struct amp_error *err;
};

static enum amp_status put(const struct writer *writer, const char *text)
{
    return amp_output_write(writer->output, text, strlen(text), writer->err);
}

/* TEXT as YAML has it between double quotes, which is JSON's way. */
static const char *quote(const struct writer *writer, const char *text)
{
    json_t *string = json_string(text);
    char *dumped = string == NULL ? NULL : json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    const char *quoted = dumped == NULL ? NULL : amp_arena_strdup(writer->arena, dumped);
    json_decref(string);
    free(dumped);
    return quoted;
}

/* Writes TEXT as an item of a list, with COMMENT behind it. */
static enum amp_status put_item(const struct writer *writer, const char *indent, const char *text,
                                const char *comment)
{
    const char *quoted = quote(writer, text);
    if (quoted == NULL)
        return amp_fail(writer->err, AMP_UNSUPPORTED,
                        "'%.60s': a name that is no UTF-8 cannot stand in a rule file", text);
    return put(writer, amp_arena_printf(writer->arena, "%s- %s%s\n", indent, quoted, comment));
}

static enum amp_status put_tensor(const struct writer *writer, const char *name,
                                  const char *comment)
{
    return put_item(writer, "      ", amp_glob_escape(writer->arena, name), comment);
}

static enum amp_status put_rule(const struct writer *writer, const char *precision)
{
    return put(writer,
               amp_arena_printf(writer->arena, "  - precision: %s\n    tensors:\n", precision));
}

static enum amp_status put_low(const struct writer *writer, const char *const *names, size_t n,
                               enum amp_precision precision)
{
    if (n > 0)
        AMP_TRY(put_rule(writer, amp_precision_name(precision)));
    for (size_t i = 0; i < n; i++)
        AMP_TRY(put_tensor(writer, names[i], ""));
    return AMP_OK;
}

/* The noise that would come with UNIT, as a comment. */
static const char *noise_of(const struct writer *writer, const struct amp_choice_file *file,
                            uint32_t unit)
{
    if (file->removes == NULL || unit == AMP_NONE || !(file->removes[unit] > 0))
        return "";
    return amp_arena_printf(writer->arena, "  # noise at %.1f dB",
                            -10 * log10(file->removes[unit]));
}

static enum amp_status put_wide(const struct writer *writer, const struct amp_choice *choice,
                                const struct amp_choice_file *file)
{
    if (choice->n_wide > 0)
        AMP_TRY(put_rule(writer, "fp32"));
    for (size_t i = 0; i < choice->n_wide; i++)
        AMP_TRY(put_tensor(writer, choice->wide[i], noise_of(writer, file, choice->units[i])));
    return AMP_OK;
}

/* A set by its name, a file by a path that is good from anywhere. */
static enum amp_status put_extended(const struct writer *writer, const char *name)
{
    char *path = amp_rules_is_path(name) ? realpath(name, NULL) : NULL;
    enum amp_status status = put_item(writer, "  ", path != NULL ? path : name, "");
    free(path);
    return status;
}

/* Writes NOTE as a comment, which what ends lines elsewhere must not end. */
static enum amp_status put_note(const struct writer *writer, const char *note)
{
    char *line = amp_arena_printf(writer->arena, "# %s", note);
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
            *at = '?';
    AMP_TRY(put(writer, line));
    return put(writer, "\n");
}

static enum amp_status put_file(const struct writer *writer, const struct amp_choice *choice,
                                const struct amp_choice_file *file)
{
    static const char unguarded[] = "  %s: {guards: off}\n";
    const char *dtype = amp_dtype_short_name(file->lower);
    const char *second = choice->has_second ? amp_precision_name(AMP_FP16) : NULL;
    for (size_t i = 0; i < file->n_notes; i++)
        AMP_TRY(put_note(writer, file->notes[i]));
    AMP_TRY(put(writer, amp_arena_printf(writer->arena,
                                         "version: 1\nname: %s\ndescription: what tuning kept in "
                                         "float32\ndtypes: [%s%s%s]\nextends:\n",
                                         amp_choice_name, dtype, second != NULL ? ", " : "",
                                         second != NULL ? second : "")));
    for (size_t i = 0; i < file->n_extends; i++)
        AMP_TRY(put_extended(writer, file->extends[i]));
    AMP_TRY(put(writer, "\n# Runs have shown that it holds: what values come to is not looked at "
                        "again.\nlimits:\n"));
    AMP_TRY(put(writer, amp_arena_printf(writer->arena, unguarded, dtype)));
    if (second != NULL)
        AMP_TRY(put(writer, amp_arena_printf(writer->arena, unguarded, second)));
    if (choice->n_low + choice->n_second + choice->n_wide > 0)
        AMP_TRY(put(writer, "\nrules:\n"));
    AMP_TRY(put_low(writer, choice->low, choice->n_low, precision_of_low(choice)));
    AMP_TRY(put_low(writer, choice->second, choice->n_second, AMP_FP16));
    return put_wide(writer, choice, file);
}

enum amp_status amp_choice_write(const struct amp_choice *choice,
                                 const struct amp_choice_file *file, const char *path,
                                 struct amp_error *err)
{
    struct writer writer = {.err = err};
    AMP_TRY(amp_output_open(&writer.output, path, err));
    writer.arena = amp_arena_create();
    enum amp_status status = put_file(&writer, choice, file);
    if (status == AMP_OK)
        status = amp_output_commit(writer.output, err);
    else
        amp_output_abandon(writer.output);
    amp_arena_destroy(writer.arena);
    return status;
}
