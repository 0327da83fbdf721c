/*
 * What the user wants the model to become: takes --dtype, --opset, --cast-cache, --grad-scaler,
 * --target and --io, gives the lower dtype, the opset, the runtimes and the graph inputs and
 * outputs that change their dtype. Changes nothing in the model.
 */
#include "cli/options/target.h"

#include "cli/options/option_pair.h"
#include "core/words.h"
#include "onnx/schema/schema.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads two lower dtypes with a comma between them. False: TEXT is something else. */
static bool parse_two(const char *text, struct amp_target *target)
{
    char first[16];
    const char *comma = strchr(text, ',');
    size_t length = comma == NULL ? sizeof first : (size_t)(comma - text);
    if (length >= sizeof first)
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    target->lower = amp_dtype_parse(first);
    target->second = amp_dtype_parse(comma + 1);
    return amp_dtype_is_lower(target->lower) && amp_dtype_is_lower(target->second) &&
           target->lower != target->second;
}

/* A search begins with the less precise of two dtypes, whichever is named first: what it then buys
   back is precision. */
static void order_for_tuning(struct amp_target *target)
{
    target->lower = AMP_BFLOAT16;
    target->second = AMP_FLOAT16;
}

static enum amp_status parse_dtype(const struct amp_options *options, struct amp_target *target,
                                   struct amp_error *err)
{
    const char *text = options->dtype;
    target->second = AMP_UNDEFINED;
    if (text != NULL && parse_two(text, target)) {
        if (options->is_tuned)
            order_for_tuning(target);
        return AMP_OK;
    }
    target->second = AMP_UNDEFINED;
    target->lower = text != NULL ? amp_dtype_parse(text) : AMP_BFLOAT16;
    if (amp_dtype_is_autocast(target->lower))
        return AMP_OK;
    return amp_fail(err, AMP_USAGE,
                    "--dtype %s: bf16, fp16, bf16,fp16, fp16,bf16 or fp32 is needed", text);
}

static enum amp_status parse_opset(const struct amp_options *options, struct amp_target *target,
                                   struct amp_error *err)
{
    const char *text = options->opset;
    char *end;
    if (text == NULL || strcmp(text, "auto") == 0) {
        target->mode = AMP_OPSET_AUTO;
        return AMP_OK;
    }
    if (strcmp(text, "keep") == 0) {
        target->mode = AMP_OPSET_KEEP;
        return AMP_OK;
    }
    long number = strtol(text, &end, 10);
    if (*end != '\0' || number < 1 || number > INT_MAX)
        return amp_fail(err, AMP_USAGE, "--opset %s: auto, keep or an opset's number is needed",
                        text);
    target->mode = AMP_OPSET_EXACT;
    target->opset = (int)number;
    return AMP_OK;
}

static enum amp_status parse_cast_cache(const struct amp_options *options, bool *shares_casts,
                                        struct amp_error *err)
{
    const char *text = options->cast_cache;
    *shares_casts = text == NULL || strcmp(text, "on") == 0;
    if (*shares_casts || strcmp(text, "off") == 0)
        return AMP_OK;
    return amp_fail(err, AMP_USAGE, "--cast-cache %s: on or off is needed", text);
}

static enum amp_status unknown_runtime(const char *name, struct amp_error *err)
{
    char names[128] = "";
    const char *nearest = amp_word_nearest_at(name, amp_runtime_name_at);
    for (size_t i = 0, n = 0; amp_runtime_name_at(i) != NULL && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i > 0 ? ", " : "",
                              amp_runtime_name_at(i));
    return amp_fail(err, AMP_USAGE,
                    "--target %s: a runtime (%s) or a bound (METRIC>=VALUE, METRIC<=VALUE) is "
                    "needed%s%s%s",
                    name, names, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
}

static bool has_runtime(const struct amp_runtimes *runtimes, const struct amp_runtime *runtime)
{
    for (size_t i = 0; i < runtimes->count; i++)
        if (runtimes->items[i] == runtime)
            return true;
    return false;
}

static enum amp_status parse_runtimes(const struct amp_options *options,
                                      struct amp_runtimes *runtimes, struct amp_error *err)
{
    for (size_t i = 0; i < options->runtimes.count; i++) {
        const struct amp_runtime *runtime = amp_runtime_find(options->runtimes.items[i]);
        if (runtime == NULL)
            return unknown_runtime(options->runtimes.items[i], err);
        if (!has_runtime(runtimes, runtime))
            runtimes->items[runtimes->count++] = runtime;
    }
    return AMP_OK;
}

/* AMP_USAGE when an option that steers lowering goes with --dtype fp32, which lowers nothing. */
static enum amp_status check_raise(const struct amp_options *options,
                                   const struct amp_target *target, struct amp_error *err)
{
    bool keeps_types = target->keeps_types;
    const char *other = options->rules.count                 ? "--rules"
                        : options->op_rules.count            ? "--op"
                        : options->node_rules.count          ? "--node"
                        : options->runtimes.count            ? "--target"
                        : options->grad_scaler               ? "--grad-scaler"
                        : keeps_types && options->io.count   ? "--io"
                        : keeps_types && options->cast_cache ? "--cast-cache"
                        : keeps_types && options->explain    ? "--explain"
                        : keeps_types && options->is_listed  ? "--list"
                                                             : NULL;
    if (other != NULL)
        return amp_fail(err, AMP_USAGE, "--dtype %s lowers nothing: %s does not go with it",
                        options->dtype, other);
    return AMP_OK;
}

enum amp_status amp_target_parse(const struct amp_options *options, struct amp_target *target,
                                 struct amp_error *err)
{
    AMP_TRY(parse_dtype(options, target, err));
    AMP_TRY(parse_opset(options, target, err));
    AMP_TRY(parse_cast_cache(options, &target->shares_casts, err));
    AMP_TRY(amp_grad_scaler_parse(options->grad_scaler, &target->scaling, &target->scaler, err));
    AMP_TRY(parse_runtimes(options, &target->runtimes, err));
    target->keeps_types = target->lower == AMP_FLOAT && target->mode == AMP_OPSET_EXACT;
    return target->lower == AMP_FLOAT ? check_raise(options, target, err) : AMP_OK;
}

enum amp_status amp_target_check(const struct amp_target *target, const struct amp_model *model,
                                 struct amp_error *err)
{
    int64_t opset = amp_model_opset(model, "");
    if (target->mode != AMP_OPSET_EXACT)
        return AMP_OK;
    if (opset == 0)
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: --opset %d: the model imports no opset of "
                        "ai.onnx",
                        model->path, target->opset);
    if (target->opset < opset)
        return amp_fail(err, AMP_UNSUPPORTED,
                        "%s: --opset %d: the model has opset %lld, and is only ever raised",
                        model->path, target->opset, (long long)opset);
    if (target->opset > opset && target->opset > amp_schema_released_opset())
        return amp_fail(err, AMP_UNSUPPORTED, "%s: --opset %d: the newest that is released is %d",
                        model->path, target->opset, amp_schema_released_opset());
    return AMP_OK;
}

/* ---- inputs and outputs ---------------------------------------------------------------------- */

/* The inputs and outputs of the main graph, one after the other. */
struct interface {
    const struct amp_target *target;
    const struct amp_model *model;
    uint32_t *ids;
    bool *is_lower; /* per entry of ids */
    size_t count;
    struct amp_error *err;
};

/* Whether --io may change the dtype of VALUE: of a float tensor that has no value in the model. */
static bool can_change(const struct amp_value *value)
{
    return value->kind == AMP_KIND_TENSOR && amp_dtype_is_autocast(value->dtype) &&
           value->initial == NULL;
}

static enum amp_status check_change(const struct interface *all, const struct amp_value *value,
                                    const char *text)
{
    if (can_change(value))
        return AMP_OK;
    if (value->initial != NULL)
        return amp_fail(all->err, AMP_USAGE, "--io %s: '%s' has a value in the model", text,
                        value->name);
    return amp_fail(all->err, AMP_USAGE,
                    "--io %s: '%s' is %s; only tensors of float32, float16 and bfloat16 change",
                    text, value->name,
                    value->kind == AMP_KIND_TENSOR ? amp_dtype_name(value->dtype) : "no tensor");
}

static enum amp_status unknown_name(const struct interface *all, const char *name, const char *text)
{
    const char **names = amp_xmalloc(all->count, sizeof *names);
    for (size_t i = 0; i < all->count; i++)
        names[i] = amp_value_at(all->model, all->ids[i])->name;
    const char *nearest = amp_word_nearest(name, names, all->count);
    free(names);
    return amp_fail(all->err, AMP_USAGE, "--io %s: no input or output '%s'%s%s%s", text, name,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Notes for the input or output NAME, or for all of them where it is NULL, whether it gets the
   lower dtype. TEXT is the option's value, for messages. */
static enum amp_status set_entries(struct interface *all, const char *name, bool is_lower,
                                   const char *text)
{
    bool is_found = name == NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct amp_value *value = amp_value_at(all->model, all->ids[i]);
        if (name != NULL && strcmp(value->name, name) != 0)
            continue;
        if (name != NULL && is_lower)
            AMP_TRY(check_change(all, value, text));
        all->is_lower[i] = is_lower && can_change(value) && value->dtype != all->target->lower;
        is_found = true;
    }
    return is_found ? AMP_OK : unknown_name(all, name, text);
}

/* Reads TEXT, a value of --io: keep or lower, for all inputs and outputs or, behind NAME=, for
   one. */
static enum amp_status parse_io(struct interface *all, const char *text)
{
    struct amp_option_pair pair = {.value = text};
    bool is_named = strchr(text, '=') != NULL;
    if (is_named)
        AMP_TRY(amp_option_pair_split("io", text, &pair, all->err));
    const char *word = pair.value;
    if (strcmp(word, "lower") != 0 && strcmp(word, "keep") != 0)
        return amp_fail(all->err, AMP_USAGE, "--io %s: keep or lower is needed, or NAME=lower",
                        text);
    return set_entries(all, is_named ? pair.name : NULL, strcmp(word, "lower") == 0, text);
}

enum amp_status amp_target_interface(const struct amp_options *options,
                                     const struct amp_target *target, struct amp_model *model,
                                     struct amp_ids *ids, struct amp_error *err)
{
    enum amp_status status = AMP_OK;
    const struct amp_ids *lists[] = {&model->graphs[0].inputs, &model->graphs[0].outputs};
    struct interface all = {.target = target, .model = model, .err = err};
    size_t size = lists[0]->count + lists[1]->count;
    all.ids = amp_xmalloc(size, sizeof *all.ids);
    all.is_lower = amp_xcalloc(size, sizeof *all.is_lower);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            all.ids[all.count++] = lists[i]->items[k];
    for (size_t i = 0; i < options->io.count && status == AMP_OK; i++)
        status = parse_io(&all, options->io.items[i]);
    for (size_t i = 0; i < all.count && status == AMP_OK; i++)
        if (all.is_lower[i])
            amp_ids_push(model, ids, all.ids[i]);
    free(all.ids);
    free(all.is_lower);
    return status;
}
