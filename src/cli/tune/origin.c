/*
 * Where an answer comes from: takes the command line, the model's bytes and the samples, gives what
 * tells a search from others and what a rule file says of it.
 */
#include "cli/tune/origin.h"

#include "cli/inputs.h"
#include "cli/options/command_line.h"
#include "cli/options/option_table.h"
#include "core/arena.h"
#include "core/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the answer hangs on OPTION: not on how it is reported, how long it is looked for or by
   whom. */
static bool is_of_answer(const struct amp_option *option)
{
    static const char *const others[] = {"rules-out",  "costs-out",  "tune-log",
                                         "max-trials", "jobs",       "trials-via",
                                         "tune",       "max-memory", "eval-reference"};
    bool is_other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_other |= strcmp(option->name, others[i]) == 0;
    return amp_option_makes_model(option) ||
           (!is_other && (option->group == AMP_GROUP_DATA || option->group == AMP_GROUP_RULES ||
                          option->group == AMP_GROUP_RANGES || option->group == AMP_GROUP_TUNING));
}

/* Takes TENSOR into HASH. */
static uint32_t hash_tensor(const struct amp_tensor *tensor, uint32_t hash)
{
    if (tensor->data == NULL || amp_tensor_is_list(tensor) || tensor->dtype == AMP_STRING)
        return hash;
    return amp_hash_fnv(tensor->data, amp_tensor_size(tensor), hash);
}

static enum amp_status hash_samples(struct amp_inputs *inputs, struct amp_tune_origin *origin,
                                    struct amp_error *err)
{
    enum amp_status status = AMP_OK;
    size_t n = inputs->model->graphs[0].inputs.count;
    struct amp_tensor *tensors = amp_xcalloc(n + 1, sizeof *tensors);
    for (size_t i = 0; i < inputs->count && status == AMP_OK; i++) {
        status = amp_inputs_load(inputs, i, tensors, NULL, err);
        for (size_t k = 0; k < n && status == AMP_OK; k++)
            origin->data = hash_tensor(&tensors[k], origin->data);
        amp_tensors_release(tensors, n);
    }
    free(tensors);
    return status;
}

bool amp_tune_origin_is_wanted(const struct amp_options *options)
{
    return options->tune_log != NULL || options->rules_out != NULL;
}

enum amp_status amp_tune_origin_find(const struct amp_options *options,
                                     const struct amp_model_file *file,
                                     const struct amp_model *model, struct amp_tune_origin *origin,
                                     struct amp_error *err)
{
    struct amp_inputs inputs;
    *origin = (struct amp_tune_origin){
        .options = options,
        .model = amp_hash_fnv(file->bytes.data, file->bytes.size, 0),
        .settings = amp_command_line_compose(options, is_of_answer, file->arena)};
    AMP_TRY(amp_inputs_open(options, model, &inputs, err));
    enum amp_status status = hash_samples(&inputs, origin, err);
    amp_inputs_close(&inputs);
    return status;
}

uint64_t amp_tune_origin_key(const struct amp_tune_origin *origin)
{
    uint32_t settings = amp_hash_fnv(origin->settings, strlen(origin->settings), origin->data);
    return (uint64_t)origin->model << 32 | settings;
}

static const char *note_of(const struct amp_trial *trial, const char *name, struct amp_arena *arena)
{
    const char *text =
        amp_arena_printf(arena, "%s: error %.1f dB below the outputs", name,
                         trial->measured > 0 ? -10 * log10(trial->measured) : (double)INFINITY);
    return isnan(trial->score) ? text
                               : amp_arena_printf(arena, "%s, score %.6g", text, trial->score);
}

const char *const *amp_tune_origin_notes(const struct amp_tune_origin *origin,
                                         const struct amp_tuning *tuning, struct amp_arena *arena,
                                         size_t *count)
{
    enum { N_NOTES = 5 };
    const char **notes = amp_arena_array(arena, N_NOTES, sizeof *notes);
    notes[0] = amp_arena_printf(arena, "Found by ampconv %s with --tune (%s, %zu trials).",
                                AMP_VERSION, tuning->strategy->name, tuning->trials.count);
    notes[1] = amp_arena_printf(arena, "model: %s, FNV-1a %08x; samples: FNV-1a %08x",
                                origin->options->operands.items[0], origin->model, origin->data);
    notes[2] = amp_arena_printf(arena, "settings:%s", origin->settings);
    notes[3] = note_of(tuning->trials.items[0], "all low", arena);
    notes[4] = note_of(tuning->answer, "this", arena);
    *count = N_NOTES;
    return notes;
}
