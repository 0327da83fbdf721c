/*
 * The report of a conversion, as text and as JSON. Takes what the stages left in struct
 * amp_conversion, counts the nodes by precision and reason, and names those that stay float32
 * against the rules.
 */
#include "cli/report/conversion.h"

#include "cli/report/head.h"
#include "cli/report/json.h"
#include "cli/report/ranges.h"
#include "cli/report/text.h"
#include "core/memory.h"
#include "core/print.h"

#include <stdio.h>

/* Whether a node stays float32 although a rule asks for the lower dtype, or its inputs have it and
   it follows them. A decision with a type variable (type >= 0) is that of an eligible node. */
static bool is_refused(const struct amp_decision *decision)
{
    if (decision->reason == AMP_REASON_RULE || decision->reason == AMP_REASON_UNLISTED ||
        decision->reason == AMP_REASON_NOT_FLOAT)
        return false;
    return amp_precision_is_lower(decision->precision) || decision->type >= 0;
}

void amp_conversion_note_refusals(struct amp_conversion *conversion, const struct amp_model *model)
{
    char text[512];
    size_t n_nodes = conversion->assignment.n_nodes;
    conversion->refusals = amp_arena_array(model->arena, n_nodes, sizeof *conversion->refusals);
    for (uint32_t id = 0; id < n_nodes; id++) {
        const struct amp_decision *decision = &conversion->assignment.nodes[id];
        if (amp_node_at(model, id)->is_removed || !is_refused(decision))
            continue;
        amp_node_text(model, id, text, sizeof text);
        conversion->n_refused_for[decision->reason]++;
        conversion->refusals[conversion->n_refused++] = (struct amp_refusal){
            .node = amp_arena_strdup(model->arena, text),
            .value =
                decision->value == AMP_NONE ? NULL : amp_value_at(model, decision->value)->name,
            .reason = decision->reason,
            .lacked = decision->lacked,
            .runtime = decision->runtime,
            .number = decision->number,
            .seen = decision->seen};
    }
}

void amp_conversion_count(struct amp_conversion *conversion, const struct amp_model *model)
{
    for (uint32_t id = 0; id < conversion->assignment.n_nodes; id++) {
        const struct amp_decision *decision = &conversion->assignment.nodes[id];
        if (amp_node_at(model, id)->is_removed)
            continue;
        conversion->n_reason[decision->reason]++;
        if (decision->dtype == AMP_UNDEFINED)
            conversion->n_other++;
        else
            conversion->n_precision[decision->dtype]++;
    }
    if (!conversion->keeps_types)
        amp_runs_on_find(&conversion->runs_on, model, conversion->opset_before);
}

const char *amp_conversion_dtypes(const struct amp_conversion *conversion)
{
    if (conversion->second == AMP_UNDEFINED)
        return amp_dtype_name(conversion->lower);
    return conversion->lower == AMP_BFLOAT16 ? "bfloat16 and float16" : "float16 and bfloat16";
}

/* ", 3 float16": the nodes of lower dtypes beside the first. */
static void print_others(FILE *file, const struct amp_conversion *conversion)
{
    for (enum amp_dtype dtype = AMP_UNDEFINED; dtype < AMP_DTYPE_COUNT; dtype++)
        if (dtype != conversion->lower && amp_assignment_lowers(&conversion->assignment, dtype))
            amp_print(file, ", %zu %s", conversion->n_precision[dtype], amp_dtype_name(dtype));
}

static void print_nodes(FILE *file, const struct amp_conversion *conversion, int verbosity)
{
    amp_print(file, AMP_REPORT_LABEL "%zu %s", "nodes", conversion->n_precision[conversion->lower],
              amp_dtype_name(conversion->lower));
    print_others(file, conversion);
    if (conversion->lower != AMP_FLOAT)
        amp_print(file, ", %zu float32", conversion->n_precision[AMP_FLOAT]);
    amp_print(file, ", %zu other", conversion->n_other);
    if (conversion->n_refused > 0)
        amp_print(file, "; %zu kept from %s%s", conversion->n_refused,
                  amp_conversion_dtypes(conversion), verbosity > 0 ? "" : " (-v says why)");
    fputc('\n', file);
}

enum { NAMED_MAX = 3 }; /* nodes that a line names */

/* " node 'a' (Conv-11), 'y' 4.1e+10 on data" */
static void print_refusal(FILE *file, const struct amp_refusal *refusal)
{
    amp_print(file, " %s", refusal->node);
    if (refusal->value != NULL)
        amp_print(file, ", '%s'", refusal->value);
    if (amp_reason_is_guard(refusal->reason))
        amp_report_evidence(file, refusal->reason, refusal->number, refusal->seen);
}

/* Names the nodes that guards keep in float32 where no reasons are printed. */
static void print_guarded(FILE *file, const struct amp_conversion *conversion)
{
    size_t named = 0, count = 0;
    for (size_t i = 0; i < conversion->n_refused; i++)
        count += amp_reason_is_guard(conversion->refusals[i].reason);
    if (count == 0)
        return;
    amp_print(file, AMP_REPORT_LABEL "%zu kept in float32:", "guards", count);
    for (size_t i = 0; i < conversion->n_refused && named < NAMED_MAX; i++) {
        if (!amp_reason_is_guard(conversion->refusals[i].reason))
            continue;
        fputs(named++ > 0 ? ";" : "", file);
        print_refusal(file, &conversion->refusals[i]);
    }
    if (count > named)
        amp_print(file, "; %zu more", count - named);
    fputc('\n', file);
}

/* "5 kept from float16: node 'a' (MatMul-13), 'w'; node 'b' (Clip-13), 'max'; ...; 2 more" */
static void print_refused(FILE *file, const struct amp_conversion *conversion,
                          enum amp_reason reason)
{
    size_t named = 0, count = conversion->n_refused_for[reason];
    if (count == 0)
        return;
    amp_print(file, "          %zu kept from %s:", count, amp_conversion_dtypes(conversion));
    for (size_t i = 0; i < conversion->n_refused && named < NAMED_MAX; i++) {
        const struct amp_refusal *refusal = &conversion->refusals[i];
        if (refusal->reason != reason)
            continue;
        fputs(named++ > 0 ? ";" : "", file);
        print_refusal(file, refusal);
    }
    if (count > named)
        amp_print(file, "; %zu more", count - named);
    fputc('\n', file);
}

/* Names the operators that RUNTIME lacks, of which there are some. */
static void print_lacked(FILE *file, const struct amp_conversion *conversion,
                         const struct amp_runtime *runtime)
{
    struct amp_lacked_ops ops = {.count = 0};
    for (size_t i = 0; i < conversion->n_refused; i++)
        if (conversion->refusals[i].runtime == runtime)
            amp_lacked_ops_add(&ops, conversion->refusals[i].lacked, conversion->lower);
    if (ops.count == 0)
        return;
    amp_print(file, "; %s has no ", amp_runtime_name(runtime));
    amp_lacked_ops_print(file, &ops);
}

/* Whether the model came out as it went in. */
static bool is_unchanged(const struct amp_conversion *conversion)
{
    return conversion->n_precision[conversion->lower] == 0 && conversion->casts.count == 0 &&
           conversion->casts_folded == 0 && conversion->n_interface == 0 &&
           conversion->opset_after == conversion->opset_before && !conversion->was_unsorted &&
           conversion->bytes_after == conversion->bytes_before;
}

/* "54 nodes stay float32; ort-cpu has no bfloat16 Conv, Gemm" */
static void print_target(FILE *file, const struct amp_conversion *conversion)
{
    size_t count = conversion->n_refused_for[AMP_REASON_RUNTIME];
    if (count == 0)
        return;
    amp_print(file, AMP_REPORT_LABEL "%zu node%s float32", "target", count,
              count == 1 ? " stays" : "s stay");
    for (size_t i = 0; amp_runtime_at(i) != NULL; i++)
        print_lacked(file, conversion, amp_runtime_at(i));
    fputs(is_unchanged(conversion) ? "; nothing is lowered, the model is unchanged\n" : "\n", file);
}

static void print_reasons(FILE *file, const struct amp_conversion *conversion)
{
    for (enum amp_reason reason = 0; reason < AMP_REASON_COUNT; reason++) {
        if (conversion->n_reason[reason] == 0)
            continue;
        amp_print(file, "    %5zu %-15s %s\n", conversion->n_reason[reason],
                  amp_reason_name(reason), amp_reason_text(reason));
        print_refused(file, conversion, reason);
        if (reason == AMP_REASON_OPSET && conversion->opset_obstacle != NULL)
            amp_print(file, "          %s\n", conversion->opset_obstacle);
    }
}

/* "m.onnx -> m.bf16.onnx: bfloat16 by torch-cpu; opset 17 -> 22" */
static void print_head(FILE *file, const struct amp_conversion *conversion)
{
    amp_print(file, "%s -> %s: ", conversion->model_path, conversion->output_path);
    if (!conversion->keeps_types)
        amp_print(file, "%s%s", amp_conversion_dtypes(conversion),
                  conversion->n_rule_names > 0 ? " by" : "");
    for (size_t i = 0; i < conversion->n_rule_names; i++)
        amp_print(file, "%s %s", i > 0 ? "," : "", conversion->rule_names[i]);
    amp_print(file, "%sopset %lld", conversion->keeps_types ? "" : "; ",
              (long long)conversion->opset_before);
    if (conversion->opset_after != conversion->opset_before)
        amp_print(file, " -> %lld", (long long)conversion->opset_after);
    fputs(conversion->was_unsorted ? "; nodes sorted\n" : "\n", file);
}

static void print_casts(FILE *file, const struct amp_conversion *conversion)
{
    char before[32], after[32];
    amp_print(file, AMP_REPORT_LABEL "%zu before; %zu inserted, %zu folded; %zu now; file %s -> %s",
              "casts", conversion->casts_before, conversion->casts.count, conversion->casts_folded,
              conversion->casts_after, amp_memory_text(conversion->bytes_before, before),
              amp_memory_text(conversion->bytes_after, after));
    if (conversion->data_path != NULL)
        amp_print(file, " with %s", conversion->data_path);
    fputc('\n', file);
    if (conversion->casts_of_constants > 0)
        amp_print(file,
                  AMP_REPORT_LABEL
                  "promote as in PyTorch; 'constants: follow', as in the set fast, "
                  "would insert %zu cast%s fewer\n",
                  "constants", conversion->casts_of_constants,
                  conversion->casts_of_constants == 1 ? "" : "s");
}

static void print_ranges(FILE *file, const struct amp_conversion *conversion)
{
    char text[512];
    if (conversion->ranges != NULL)
        amp_print(file, AMP_REPORT_LABEL "%s\n", "ranges",
                  amp_ranges_text(conversion->ranges, text, sizeof text));
    else if (conversion->ranges_obstacle != NULL)
        amp_print(file, AMP_REPORT_LABEL "not seen: %s\n", "ranges", conversion->ranges_obstacle);
}

/* "5 nodes of training_info lowered; gradients scaled, by 65536 at first" */
static void print_training(FILE *file, const struct amp_conversion *conversion)
{
    size_t count = conversion->n_training_lowered;
    const char *scaled = count > 0 ? "; gradients scaled" : "gradients scaled";
    if (count == 0 && conversion->loss_scale == 0)
        return;
    amp_print(file, AMP_REPORT_LABEL, "training");
    if (count > 0)
        amp_print(file, "%zu node%s of training_info lowered", count, count == 1 ? "" : "s");
    if (conversion->loss_scale > 0)
        amp_print(file, "%s, by %g at first", scaled, conversion->loss_scale);
    fputc('\n', file);
}

void amp_report_conversion(FILE *file, const struct amp_conversion *conversion, int verbosity)
{
    print_head(file, conversion);
    if (!conversion->keeps_types)
        print_nodes(file, conversion, verbosity);
    if (conversion->n_interface > 0)
        amp_print(file, AMP_REPORT_LABEL "%zu inputs and outputs of the graph are now %s\n",
                  "interface", conversion->n_interface, amp_dtype_name(conversion->lower));
    if (verbosity > 0) {
        print_reasons(file, conversion);
        print_ranges(file, conversion);
    } else {
        print_guarded(file, conversion);
    }
    print_target(file, conversion);
    print_training(file, conversion);
    amp_report_runs_on(file, &conversion->runs_on);
    print_casts(file, conversion);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *before_and_after(size_t before, size_t after)
{
    return amp_json_pair("before", before, "after", after);
}

static json_t *json_nodes(const struct amp_conversion *conversion)
{
    json_t *nodes = json_object();
    for (int dtype = 1; dtype < AMP_DTYPE_COUNT; dtype++)
        if (conversion->n_precision[dtype] > 0)
            amp_json_set(nodes, amp_dtype_name((enum amp_dtype)dtype),
                         amp_json_count(conversion->n_precision[dtype]));
    amp_json_set(nodes, "other", amp_json_count(conversion->n_other));
    amp_json_set(nodes, "refused", amp_json_count(conversion->n_refused));
    return nodes;
}

static json_t *json_reasons(const struct amp_conversion *conversion)
{
    json_t *reasons = json_object();
    for (int reason = 0; reason < AMP_REASON_COUNT; reason++)
        if (conversion->n_reason[reason] > 0)
            amp_json_set(reasons, amp_reason_name((enum amp_reason)reason),
                         amp_json_count(conversion->n_reason[reason]));
    return reasons;
}

/* {"weight-range": {"count": 1, "nodes": [{"node": "node 'a' (MatMul-13)", "constant": "w"}]}} */
static json_t *json_refused(const struct amp_conversion *conversion)
{
    json_t *reasons = json_object();
    for (size_t i = 0; i < conversion->n_refused; i++) {
        const struct amp_refusal *refusal = &conversion->refusals[i];
        json_t *reason = json_object_get(reasons, amp_reason_name(refusal->reason));
        if (reason == NULL) {
            reason = json_object();
            amp_json_set(reasons, amp_reason_name(refusal->reason), reason);
            amp_json_set(reason, "count",
                         amp_json_count(conversion->n_refused_for[refusal->reason]));
            amp_json_set(reason, "nodes", json_array());
        }
        json_t *node = json_object();
        amp_json_set(node, "node", amp_json_text(refusal->node));
        bool is_guard = amp_reason_is_guard(refusal->reason);
        if (refusal->value != NULL)
            amp_json_set(node, is_guard ? "value" : "constant", amp_json_text(refusal->value));
        if (is_guard) {
            amp_json_set(node, "number", amp_json_number(refusal->number));
            amp_json_set(node, "seen", json_string(amp_range_source_name(refusal->seen)));
        }
        if (refusal->runtime != NULL) {
            amp_json_set(node, "runtime", json_string(amp_runtime_name(refusal->runtime)));
            amp_json_set(node, "lacks", amp_json_text(refusal->lacked));
        }
        json_array_append_new(json_object_get(reason, "nodes"), node);
    }
    return reasons;
}

static json_t *json_casts(const struct amp_conversion *conversion)
{
    json_t *casts = json_object();
    amp_json_set(casts, "before", amp_json_count(conversion->casts_before));
    amp_json_set(casts, "inserted", amp_json_count(conversion->casts.count));
    amp_json_set(casts, "folded", amp_json_count(conversion->casts_folded));
    amp_json_set(casts, "after", amp_json_count(conversion->casts_after));
    amp_json_set(casts, "of_constants", amp_json_count(conversion->casts_of_constants));
    return casts;
}

json_t *amp_json_conversion(const struct amp_conversion *conversion, bool is_written)
{
    json_t *root = amp_report_begin("conversion");
    amp_json_set(root, "model", amp_json_text(conversion->model_path));
    amp_json_set(root, "output", amp_json_text(conversion->output_path));
    amp_json_set(root, "written", json_boolean(is_written));
    amp_json_set(root, "dtype", json_string(amp_dtype_name(conversion->lower)));
    if (conversion->second != AMP_UNDEFINED)
        amp_json_set(root, "second_dtype", json_string(amp_dtype_name(conversion->second)));
    amp_json_set(root, "rules", amp_json_texts(conversion->rule_names, conversion->n_rule_names));
    amp_json_set(
        root, "opset",
        before_and_after((size_t)conversion->opset_before, (size_t)conversion->opset_after));
    amp_json_set(root, "ranges", amp_json_ranges(conversion->ranges));
    amp_json_set(root, "nodes", json_nodes(conversion));
    amp_json_set(root, "reasons", json_reasons(conversion));
    amp_json_set(root, "refused", json_refused(conversion));
    amp_json_set(root, "runs_on", amp_json_runs_on(&conversion->runs_on));
    amp_json_set(root, "interface", amp_json_count(conversion->n_interface));
    amp_json_set(root, "casts", json_casts(conversion));
    amp_json_set(root, "bytes",
                 before_and_after(conversion->bytes_before, conversion->bytes_after));
    amp_json_set(root, "sorted", json_boolean(conversion->was_unsorted));
    if (conversion->n_training_lowered > 0 || conversion->loss_scale > 0) {
        json_t *training = json_object();
        amp_json_set(training, "lowered", amp_json_count(conversion->n_training_lowered));
        amp_json_set(training, "init_scale",
                     conversion->loss_scale > 0 ? amp_json_number(conversion->loss_scale)
                                                : json_null());
        amp_json_set(root, "training", training);
    }
    return root;
}
