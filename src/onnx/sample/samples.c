/*
 * Finds samples in a folder: what ONNX's backend tests and NumPy users keep beside a model. Lists
 * the paths; reads none of the files (sample.c does).
 */
#include "onnx/sample/samples.h"

#include "core/arena.h"
#include "onnx/sample/path.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

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

/* The entries of FOLDER that match the first pattern that any matches; PATTERNS ends with NULL. */
static enum amp_status find_samples(struct amp_samples *samples, const char *folder,
                                    const char *const *patterns, struct amp_error *err)
{
    *samples = (struct amp_samples){.count = 0};
    for (; *patterns != NULL && samples->count == 0; patterns++)
        AMP_TRY(add_matches(samples, folder, *patterns, err));
    if (samples->count > 1)
        qsort(samples->paths, samples->count, sizeof *samples->paths, compare_paths);
    return AMP_OK;
}

enum amp_status amp_samples_open(const char *folder, struct amp_samples *samples,
                                 struct amp_error *err)
{
    static const char *const patterns[] = {"test_data_set_*", "*.npz", NULL};
    AMP_TRY(find_samples(samples, folder, patterns, err));
    if (samples->count == 0 && amp_path_exists(folder, "input_0.pb"))
        push_path(samples, amp_path_join(folder, ""));
    if (samples->count > 0)
        return AMP_OK;
    return amp_fail(err, AMP_MODEL,
                    "%s: no samples; test_data_set_N folders, input_K.pb or .npz files are read",
                    folder);
}

enum amp_status amp_samples_open_expected(const char *folder, struct amp_samples *samples,
                                          struct amp_error *err)
{
    static const char *const patterns[] = {"test_data_set_*", "sample_*", "*.npz", NULL};
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
