/*
 * Names of files for graph inputs and outputs: takes their names, which may hold any characters,
 * gives names that every file system can hold side by side.
 */
#include "onnx/sample/output_stems.h"

#include "core/strmap.h"

#include <ctype.h>
#include <string.h>

/* Writes what stays of a value's NAME in the name of a file into TEXT of SIZE bytes. */
static void put_file_name(const char *name, char *text, size_t size)
{
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < size; n++)
        text[n] = strchr("/\\:*?\"<>|", name[n]) || (unsigned char)name[n] < ' ' ? '_' : name[n];
    text[n] = '\0';
    if (n == 0 || text[0] == '.') {
        text[0] = '_';
        text[n > 1 ? n : 1] = '\0';
    }
}

/* TEXT in lower case, as the file systems compare that see no difference. */
static char *fold_case(struct amp_arena *arena, const char *text)
{
    char *folded = amp_arena_strdup(arena, text);
    for (char *at = folded; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    return folded;
}

/* The names of the files for the values IDS. */
static const char *const *list_stems(const struct amp_model *model, const struct amp_ids *ids,
                                     struct amp_arena *arena)
{
    enum { STEM_SIZE = 128 };
    char stem[STEM_SIZE];
    const char **stems = amp_arena_array(arena, ids->count, sizeof *stems);
    struct amp_strmap taken = {.count = 0};
    for (size_t k = 0; k < ids->count; k++) {
        put_file_name(amp_value_at(model, ids->items[k])->name, stem, sizeof stem);
        stems[k] = amp_arena_strdup(arena, stem);
        while (amp_strmap_get(&taken, fold_case(arena, stems[k]), NULL))
            stems[k] = amp_arena_printf(arena, "%s.%zu", stems[k], k);
        amp_strmap_put(&taken, arena, fold_case(arena, stems[k]), 0);
    }
    return stems;
}

const char *const *amp_output_stems(const struct amp_model *model, struct amp_arena *arena)
{
    return list_stems(model, &model->graphs[0].outputs, arena);
}

const char *const *amp_input_stems(const struct amp_model *model, struct amp_arena *arena)
{
    return list_stems(model, &model->graphs[0].inputs, arena);
}
