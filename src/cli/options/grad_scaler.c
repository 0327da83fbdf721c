/*
 * The value of --grad-scaler: takes the text, gives the scaler's settings. Scales nothing.
 */
#include "cli/options/grad_scaler.h"

#include "core/array.h"
#include "core/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What can be set, and between which numbers, these left out. */
static const struct setting {
    const char *name;
    double above, below;
} settings[] = {{"init_scale", 0, INFINITY},
                {"growth_factor", 1, INFINITY},
                {"backoff_factor", 0, 1},
                {"growth_interval", 0, 0x1p31}};

static const char *name_at(size_t i)
{
    return i < AMP_COUNT(settings) ? settings[i].name : NULL;
}

/* The place of the setting whose name begins TEXT before a '='; AMP_COUNT(settings): none. */
static size_t find_setting(const char *text)
{
    size_t i = 0, length = strcspn(text, "=");
    while (i < AMP_COUNT(settings) &&
           (strlen(settings[i].name) != length || strncmp(settings[i].name, text, length) != 0))
        i++;
    return text[length] == '=' ? i : AMP_COUNT(settings);
}

static enum amp_status unknown_word(const char *text, const char *word, size_t length,
                                    struct amp_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "=,"), word);
    const char *nearest = amp_word_nearest_at(name, name_at);
    return amp_fail(err, AMP_USAGE,
                    "--grad-scaler %s: '%.*s' is none of on, off, init_scale=, growth_factor=, "
                    "backoff_factor= and growth_interval=%s%s%s",
                    text, (int)length, word, nearest ? "; did you mean '" : "",
                    nearest ? nearest : "", nearest ? "'?" : "");
}

/* Reads the number at WORD, which has LENGTH characters, for SETTING. */
static enum amp_status read_number(const char *text, const char *word, size_t length,
                                   const struct setting *setting, double *number,
                                   struct amp_error *err)
{
    char *end;
    bool is_integer = setting->below == 0x1p31;
    errno = 0;
    *number = strtod(word, &end);
    if (end != word && end == word + length && *number > setting->above &&
        *number < setting->below && (!is_integer || *number == floor(*number)) &&
        (is_integer || (float)*number > 0) && isfinite((float)*number))
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "--grad-scaler %s: %s= needs %s above %g%s", text,
                    setting->name, is_integer ? "a whole number" : "a number", setting->above,
                    setting->below == 1 ? " and below 1" : "");
}

enum amp_status amp_grad_scaler_parse(const char *text, enum amp_scaling *scaling,
                                      struct amp_grad_scaler *scaler, struct amp_error *err)
{
    double numbers[AMP_COUNT(settings)] = {65536, 2, 0.5, 2000};
    bool is_off = text != NULL && strcmp(text, "off") == 0;
    *scaling = text == NULL ? AMP_SCALING_AUTO : is_off ? AMP_SCALING_OFF : AMP_SCALING_ON;
    bool is_word = text == NULL || is_off || strcmp(text, "on") == 0;
    for (const char *word = text; !is_word; word += strcspn(word, ",") + 1) {
        size_t i = find_setting(word), length = strcspn(word, ",");
        if (i == AMP_COUNT(settings))
            return unknown_word(text, word, length, err);
        size_t behind = strlen(settings[i].name) + 1;
        AMP_TRY(read_number(text, word + behind, length - behind, &settings[i], &numbers[i], err));
        if (word[length] == '\0')
            break;
    }
    *scaler = (struct amp_grad_scaler){.init_scale = numbers[0],
                                       .growth_factor = numbers[1],
                                       .backoff_factor = numbers[2],
                                       .growth_interval = (int64_t)numbers[3]};
    return AMP_OK;
}
