/*
 * Finds samples in a folder: what ONNX's backend tests and NumPy users keep beside a model. Lists
 * the paths; reads none of the files (sample.c does).
 */
#include "onnx/sample/samples.h"

#include "core/arena.h"
#include "core/words.h"
#include "onnx/sample/output_stems.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *amp_path_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = amp_xmalloc(size, 1);
    snprintf(path, size, "%s%s%s", folder, name[0] ? "/" : "", name);
    return path;
}

bool amp_path_exists(const char *folder, const char *name)
{
    char *path = amp_path_join(folder, name);
    bool exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}

static void push_path(struct amp_samples *samples, char *path)
{
    size_t count = samples->count;
    /* Room for as many again when it is used up: at each power of two. */
    if ((count & (count - 1)) == 0)
        samples->paths =
            amp_xrealloc(samples->paths, count > 0 ? 2 * count : 1, sizeof *samples->paths);
    samples->paths[samples->count++] = path;
}

/* Adds the entries of FOLDER that match PATTERN. */
static enum amp_status add_matches(struct amp_samples *samples, const char *folder,
                                   const char *pattern, struct amp_error *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return amp_fail(err, AMP_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (fnmatch(pattern, entry->d_name, FNM_PERIOD) == 0)
            push_path(samples, amp_path_join(folder, entry->d_name));
    closedir(dir);
    return AMP_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the entries of FOLDER that match the first pattern that any matches, sorted; PATTERNS ends
   with NULL. */
static enum amp_status find_samples(struct amp_samples *samples, const char *folder,
                                    const char *const *patterns, struct amp_error *err)
{
    size_t before = samples->count;
    for (; *patterns != NULL && samples->count == before; patterns++)
        AMP_TRY(add_matches(samples, folder, *patterns, err));
    if (samples->count > before + 1)
        qsort(samples->paths + before, samples->count - before, sizeof *samples->paths,
              compare_paths);
    return AMP_OK;
}

/* Whether FOLDER has a .npy file that is called like an input of MODEL. */
static bool has_named_input(const char *folder, const struct amp_model *model)
{
    bool has = false;
    struct amp_arena *arena = amp_arena_create();
    const char *const *stems = amp_input_stems(model, arena);
    for (size_t i = 0; i < model->graphs[0].inputs.count && !has; i++)
        has = amp_path_exists(folder, amp_arena_printf(arena, "%s.npy", stems[i]));
    amp_arena_destroy(arena);
    return has;
}

/* Adds the samples in FOLDER. */
static enum amp_status add_folder(struct amp_samples *samples, const char *folder,
                                  const struct amp_model *model, struct amp_error *err)
{
    static const char *const patterns[] = {"test_data_set_*", "sample_*", "*.npz", NULL};
    static const char *const arrays[] = {"*.npy", NULL};
    size_t before = samples->count;
    AMP_TRY(find_samples(samples, folder, patterns, err));
    if (samples->count > before)
        return AMP_OK;
    bool is_sample =
        amp_path_exists(folder, "input_0.pb") || amp_path_exists(folder, "input_0.npy");
    if (is_sample || (model != NULL && has_named_input(folder, model)))
        push_path(samples, amp_path_join(folder, ""));
    else if (model != NULL)
        AMP_TRY(find_samples(samples, folder, arrays, err));
    if (samples->count > before)
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: no samples; test_data_set_N folders, input_K.pb%s or .npz files are read",
                    folder, model != NULL ? ", NAME.npy" : "");
}

enum amp_status amp_samples_add(const char *path, const struct amp_model *model,
                                struct amp_samples *samples, struct amp_error *err)
{
    if (!amp_word_has_ending(path, ".npz") && !amp_word_has_ending(path, ".npy"))
        return add_folder(samples, path, model, err);
    if (amp_path_exists(path, "."))
        return add_folder(samples, path, model, err);
    push_path(samples, amp_path_join(path, ""));
    return AMP_OK;
}

enum amp_status amp_samples_open(const char *folder, struct amp_samples *samples,
                                 struct amp_error *err)
{
    *samples = (struct amp_samples){.count = 0};
    return add_folder(samples, folder, NULL, err);
}

enum amp_status amp_samples_open_expected(const char *folder, struct amp_samples *samples,
                                          struct amp_error *err)
{
    static const char *const patterns[] = {"test_data_set_*", "sample_*", "*.npz", NULL};
    *samples = (struct amp_samples){.count = 0};
    AMP_TRY(find_samples(samples, folder, patterns, err));
    if (samples->count == 0)
        push_path(samples, amp_path_join(folder, ""));
    return AMP_OK;
}

void amp_samples_close(struct amp_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        free(samples->paths[i]);
    free(samples->paths);
    *samples = (struct amp_samples){.count = 0};
}
