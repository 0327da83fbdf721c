/*
 * The names of precisions, and the dtypes that they ask for. Takes the words of rule files and of
 * the command line.
 */
#include "autocast/rules/precision.h"

#include "autocast/rules/word.h"
#include "core/arena.h"

#include <string.h>

static const char *const names[AMP_PRECISION_COUNT] = {
    [AMP_FOLLOW] = "follow", [AMP_LOWER] = "lower",   [AMP_FP32] = "fp32",   [AMP_BF16] = "bf16",
    [AMP_FP16] = "fp16",     [AMP_WIDEST] = "widest", [AMP_INFER] = "infer", [AMP_CLEAR] = "clear"};

const char *amp_precision_name(enum amp_precision precision)
{
    return names[precision];
}

enum amp_status amp_precision_parse(const char *word, enum amp_precision *precision,
                                    struct amp_error *err)
{
    static const struct amp_word_list list = {"precision", names, AMP_PRECISION_COUNT};
    for (int i = 0; i < AMP_PRECISION_COUNT; i++)
        if (strcmp(word, names[i]) == 0) {
            *precision = (enum amp_precision)i;
            return AMP_OK;
        }
    struct amp_arena *arena = amp_arena_create();
    enum amp_status status =
        amp_fail(err, AMP_USAGE, "%s", amp_word_unknown(arena, &list, word, ""));
    amp_arena_destroy(arena);
    return status;
}

enum amp_dtype amp_precision_dtype(enum amp_precision precision, enum amp_dtype lower)
{
    static const enum amp_dtype dtypes[AMP_PRECISION_COUNT] = {
        [AMP_FP32] = AMP_FLOAT, [AMP_BF16] = AMP_BFLOAT16, [AMP_FP16] = AMP_FLOAT16};
    return precision == AMP_LOWER ? lower : dtypes[precision];
}

bool amp_precision_is_lower(enum amp_precision precision)
{
    return precision == AMP_LOWER || precision == AMP_BF16 || precision == AMP_FP16;
}
