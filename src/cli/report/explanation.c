/*
 * The explanation of a conversion, node by node. Notes what was decided before the graph changes,
 * adds the casts that came of it, and prints both as text or JSON. Decides nothing.
 */
#include "cli/report/explanation.h"

#include "autocast/wholes.h"

#include "autocast/rules/rule.h"
#include "autocast/runtimes/runtime.h"
#include "cli/report/json.h"
#include "cli/report/ranges.h"
#include "core/print.h"
#include "ops/op.h"

#include <stdlib.h>
#include <string.h>

/* What is printed for the dtype of a node that keeps its types. */
static const char no_dtype[] = "-";

int amp_explained_line(const struct amp_decision *decision)
{
    bool is_named = decision->op != NULL && decision->op->line > 0;
    return is_named ? decision->op->line : decision->rule->source.line;
}

/* ---- collecting ------------------------------------------------------------------------------ */

static const char *first_output(const struct amp_model *model, const struct amp_node *node)
{
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] != AMP_NONE)
            return amp_value_at(model, node->outputs[i])->name;
    return NULL;
}

static struct amp_explained_node explained(const struct amp_model *model, uint32_t id,
                                           const struct amp_decision *decision)
{
    char text[512];
    const struct amp_node *node = amp_node_at(model, id);
    uint32_t constant = decision->value;
    const struct amp_whole *whole = decision->whole;
    return (struct amp_explained_node){
        .decision = decision,
        .text = amp_arena_strdup(model->arena, amp_node_text(model, id, text, sizeof text)),
        .name = node->name,
        .domain = node->domain,
        .op_type = node->op_type,
        .version = node->since_version,
        .output = first_output(model, node),
        .whole = whole,
        .root = whole == NULL ? NULL : amp_node_at(model, whole->root)->name,
        .constant = constant == AMP_NONE ? NULL : amp_value_at(model, constant)->name};
}

void amp_explanation_begin(struct amp_explanation *explanation, const struct amp_model *model,
                           const struct amp_assignment *assignment)
{
    explanation->assignment = assignment;
    explanation->nodes =
        amp_arena_array(model->arena, assignment->n_nodes, sizeof *explanation->nodes);
    explanation->node_of =
        amp_arena_array(model->arena, assignment->n_nodes, sizeof *explanation->node_of);
    for (size_t g = 0; g < model->n_graphs; g++) {
        const struct amp_ids *nodes = &model->graphs[g].nodes;
        for (size_t i = 0; i < nodes->count; i++) {
            uint32_t id = nodes->items[i];
            explanation->node_of[id] = explanation->n_nodes;
            explanation->nodes[explanation->n_nodes++] =
                explained(model, id, &assignment->nodes[id]);
        }
    }
}

void amp_explanation_end(struct amp_explanation *explanation, const struct amp_model *model,
                         const struct amp_inserted_casts *casts)
{
    for (size_t i = casts->count; i > 0; i--) {
        const struct amp_node *node = amp_node_at(model, casts->items[i - 1].cast);
        uint32_t cause = casts->items[i - 1].cause;
        if (node->is_removed || !amp_node_has_role(node, AMP_ROLE_CAST))
            continue;
        struct amp_explained_cast **list =
            cause == AMP_NONE ? &explanation->casts
                              : &explanation->nodes[explanation->node_of[cause]].casts;
        struct amp_explained_cast *cast = amp_arena_alloc(model->arena, sizeof *cast);
        const struct amp_value *output = amp_value_at(model, node->outputs[0]);
        *cast = (struct amp_explained_cast){.next = *list,
                                            .input = amp_value_at(model, node->inputs[0])->name,
                                            .output = output->name,
                                            .dtype = output->dtype};
        *list = cast;
        explanation->n_casts++;
    }
}

/* How many nodes have a reason and a dtype. */
struct tally {
    size_t counts[AMP_REASON_COUNT][AMP_DTYPE_COUNT];
};

static struct tally tally(const struct amp_explanation *explanation)
{
    struct tally tally = {0};
    for (size_t i = 0; i < explanation->n_nodes; i++) {
        const struct amp_decision *decision = explanation->nodes[i].decision;
        tally.counts[decision->reason][decision->dtype]++;
    }
    return tally;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *dtype_text(enum amp_dtype dtype)
{
    return dtype == AMP_UNDEFINED ? no_dtype : amp_dtype_name(dtype);
}

/* " lower torch-cpu.yaml:15 conv2d" */
static void print_rule(FILE *file, const struct amp_decision *decision)
{
    const struct amp_rule_source *source = &decision->rule->source;
    amp_print(file, " %s %s", amp_precision_name(decision->rule->precision), source->file);
    if (source->line > 0)
        amp_print(file, ":%d", amp_explained_line(decision));
    if (decision->op != NULL && decision->op->is_torch)
        amp_print(file, " %s", decision->op->word);
}

/* Names of ATen's operators have their namespace, so that they are told from composites. */
static const char *prefix_of(const struct amp_whole *whole)
{
    return whole->composite != NULL || strchr(whole->name, '.') != NULL ? "" : "aten.";
}

static void print_casts(FILE *file, const struct amp_explained_cast *cast)
{
    for (; cast != NULL; cast = cast->next)
        amp_print(file, "    cast '%s' -> '%s' %s\n", cast->input, cast->output,
                  amp_dtype_name(cast->dtype));
}

static void print_node(FILE *file, const struct amp_explained_node *node, enum amp_dtype lower)
{
    const struct amp_decision *decision = node->decision;
    amp_print(file, "%-60s  %-9s %s", node->text, dtype_text(decision->dtype),
              amp_reason_name(decision->reason));
    if (node->whole != NULL)
        amp_print(file, " of %s%s", prefix_of(node->whole), node->whole->name);
    if (decision->rule != NULL)
        print_rule(file, decision);
    if (node->constant != NULL)
        amp_print(file, " '%s'", node->constant);
    if (amp_reason_is_guard(decision->reason))
        amp_report_evidence(file, decision->reason, decision->number, decision->seen);
    if (decision->runtime != NULL)
        amp_print(file, ": %s has no %s in %s", amp_runtime_name(decision->runtime),
                  decision->lacked, amp_dtype_name(lower));
    fputc('\n', file);
    print_casts(file, node->casts);
}

static void print_summary(FILE *file, const struct amp_explanation *explanation)
{
    struct tally all = tally(explanation);
    amp_print(file, "%zu node%s, %zu cast%s\n", explanation->n_nodes,
              explanation->n_nodes == 1 ? "" : "s", explanation->n_casts,
              explanation->n_casts == 1 ? "" : "s");
    for (int reason = 0; reason < AMP_REASON_COUNT; reason++)
        for (int dtype = 0; dtype < AMP_DTYPE_COUNT; dtype++)
            if (all.counts[reason][dtype] > 0)
                amp_print(file, "    %5zu %-9s %-15s %s\n", all.counts[reason][dtype],
                          dtype_text((enum amp_dtype)dtype),
                          amp_reason_name((enum amp_reason)reason),
                          amp_reason_text((enum amp_reason)reason));
}

void amp_explanation_print(FILE *file, const struct amp_explanation *explanation)
{
    for (size_t i = 0; i < explanation->n_nodes; i++)
        print_node(file, &explanation->nodes[i], explanation->assignment->lower);
    print_casts(file, explanation->casts);
    print_summary(file, explanation);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_rule(const struct amp_decision *decision)
{
    if (decision->rule == NULL)
        return json_null();
    json_t *object = json_object();
    int line = amp_explained_line(decision);
    bool is_torch = decision->op != NULL && decision->op->is_torch;
    amp_json_set(object, "precision", json_string(amp_precision_name(decision->rule->precision)));
    amp_json_set(object, "file", amp_json_text(decision->rule->source.file));
    amp_json_set(object, "line", line > 0 ? json_integer(line) : json_null());
    amp_json_set(object, "torch", amp_json_text_or_null(is_torch ? decision->op->word : NULL));
    return object;
}

/* What a whole was known by: a pattern over nodes, or what the exporter noted. */
static json_t *json_whole(const struct amp_explained_node *node)
{
    if (node->whole == NULL)
        return json_null();
    json_t *object = json_object();
    amp_json_set(object, "op", amp_json_text(node->whole->name));
    amp_json_set(object, "by", json_string(node->whole->composite != NULL ? "pattern" : "note"));
    amp_json_set(object, "root", amp_json_text(node->root));
    return object;
}

static json_t *json_casts(const struct amp_explained_cast *cast)
{
    json_t *array = json_array();
    for (; cast != NULL; cast = cast->next) {
        json_t *object = json_object();
        amp_json_set(object, "input", amp_json_text(cast->input));
        amp_json_set(object, "output", amp_json_text(cast->output));
        amp_json_set(object, "dtype", amp_json_dtype(cast->dtype));
        json_array_append_new(array, object);
    }
    return array;
}

/* The value that a guard is about, and what it comes to. */
static json_t *json_guard(const struct amp_explained_node *node)
{
    json_t *object = json_object();
    amp_json_set(object, "value", amp_json_text_or_null(node->constant));
    amp_json_set(object, "number", amp_json_number(node->decision->number));
    amp_json_set(object, "seen", json_string(amp_range_source_name(node->decision->seen)));
    return object;
}

/* The runtime that lacks an operator, and which. */
static json_t *json_lacked(const struct amp_decision *decision)
{
    json_t *object = json_object();
    amp_json_set(object, "runtime", json_string(amp_runtime_name(decision->runtime)));
    amp_json_set(object, "op", amp_json_text(decision->lacked));
    return object;
}

static json_t *json_node(const struct amp_explained_node *node)
{
    json_t *object = json_object();
    const struct amp_decision *decision = node->decision;
    amp_json_set(object, "name", amp_json_text(node->name));
    amp_json_set(object, "output", amp_json_text_or_null(node->output));
    amp_json_set(object, "domain", amp_json_text(node->domain));
    amp_json_set(object, "op", amp_json_text(node->op_type));
    amp_json_set(object, "version", node->version > 0 ? json_integer(node->version) : json_null());
    amp_json_set(object, "composite", json_whole(node));
    amp_json_set(object, "dtype", amp_json_dtype(decision->dtype));
    amp_json_set(object, "reason", json_string(amp_reason_name(decision->reason)));
    amp_json_set(object, "rule", json_rule(decision));
    bool is_guard = amp_reason_is_guard(decision->reason);
    amp_json_set(object, "constant", amp_json_text_or_null(is_guard ? NULL : node->constant));
    if (is_guard)
        amp_json_set(object, "guard", json_guard(node));
    if (decision->runtime != NULL)
        amp_json_set(object, "lacks", json_lacked(decision));
    amp_json_set(object, "casts", json_casts(node->casts));
    return object;
}

static json_t *json_reasons(const struct amp_explanation *explanation)
{
    json_t *array = json_array();
    struct tally all = tally(explanation);
    for (int reason = 0; reason < AMP_REASON_COUNT; reason++)
        for (int dtype = 0; dtype < AMP_DTYPE_COUNT; dtype++) {
            size_t count = all.counts[reason][dtype];
            if (count == 0)
                continue;
            json_t *object = json_object();
            amp_json_set(object, "reason", json_string(amp_reason_name((enum amp_reason)reason)));
            amp_json_set(object, "dtype", amp_json_dtype((enum amp_dtype)dtype));
            amp_json_set(object, "nodes", amp_json_count(count));
            json_array_append_new(array, object);
        }
    return array;
}

/* Prints VALUE on one line; takes its reference over. */
static void print_json(FILE *file, json_t *value)
{
    char *text = amp_json_dump(value, JSON_ENCODE_ANY);
    fputs(text != NULL ? text : "", file);
    free(text);
}

/* Prints VALUE under KEY and then END; takes the reference of VALUE over. */
static void print_member(FILE *file, const char *key, json_t *value, const char *end)
{
    amp_print(file, "  \"%s\": ", key);
    print_json(file, value);
    fputs(end, file);
}

void amp_explanation_print_json(FILE *file, const struct amp_explanation *explanation)
{
    fputs("{\n", file);
    print_member(file, "ampconv", json_string(AMP_VERSION), ",\n");
    print_member(file, "model", amp_json_text(explanation->model_path), ",\n");
    print_member(file, "dtype", amp_json_dtype(explanation->assignment->lower), ",\n");
    print_member(file, "rules", amp_json_texts(explanation->rule_names, explanation->n_rule_names),
                 ",\n  \"nodes\": [\n");
    for (size_t i = 0; i < explanation->n_nodes; i++) {
        fputs("    ", file);
        print_json(file, json_node(&explanation->nodes[i]));
        fputs(i + 1 < explanation->n_nodes ? ",\n" : "\n", file);
    }
    fputs("  ],\n", file);
    print_member(file, "other_casts", json_casts(explanation->casts), ",\n");
    print_member(file, "casts", amp_json_count(explanation->n_casts), ",\n");
    print_member(file, "reasons", json_reasons(explanation), "\n}\n");
}
