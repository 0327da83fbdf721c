/* What reports say as text and as JSON. */
#include "autocast/rules/rule.h"
#include "autocast/rules/torch_map.h"
#include "autocast/rules/when.h"
#include "autocast/wholes.h"
#include "check/validate.h"
#include "cli/report/batch.h"
#include "cli/report/bench.h"
#include "cli/report/conversion.h"
#include "cli/report/explanation.h"
#include "cli/report/inputs.h"
#include "cli/report/json.h"
#include "cli/report/layers.h"
#include "cli/report/metrics.h"
#include "cli/report/rules.h"
#include "cli/report/runs_on.h"
#include "cli/report/task.h"
#include "cli/report/training.h"
#include "cli/report/validation.h"
#include "core/array.h"
#include "ops/dnnl/roofline.h"
#include "ops/op.h"
#include "report_case.h"
#include "scratch.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- report ---------------------------------------------------------------------------------- */

/* Reports as JSON: which number stands under which name. */

static void each_number_stands_under_its_name(void **state)
{
    struct amp_output_check output;
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation = made_up(&output, &task, &eval);
    (void)state;
    char *text = amp_json_dump(amp_json_validation(&validation), JSON_COMPACT);
    assert_string_equal(
        text, "{\"within\":false,\"reason\":\"output 'y': far off\",\"samples\":10,"
              "\"error_power\":0.0,\"tolerances\":{\"max_abs\":0.125,"
              "\"accuracy-drop\":0.0625,\"eval-drop\":\"50 %\"},\"outputs\":[{"
              "\"name\":\"y\",\"dtype\":\"bfloat16\",\"shape\":[2,3],\"elements\":60,"
              "\"metrics\":{\"differ\":0.25},\"nan\":{\"reference\":1,\"converted\":2},"
              "\"infinite\":{\"reference\":3,\"converted\":4},\"within\":false,"
              "\"reason\":\"far off\"}],\"accuracy\":{\"output\":\"y\","
              "\"reference\":{\"rows\":20,\"right\":15,\"percent\":75.0},"
              "\"converted\":{\"rows\":20,\"right\":5,\"percent\":25.0}},"
              "\"tasks\":[{\"output\":\"y\",\"labels\":\"l.npy\",\"metrics\":{\"accuracy\":"
              "{\"reference\":0.75,\"converted\":0.25,\"loss\":0.5}},\"within\":false,"
              "\"reason\":\"a drop\"}],\"eval\":{\"command\":\"try {}\",\"reference\":{"
              "\"verdict\":\"scored\",\"score\":4.0,\"seconds\":1.5},\"converted\":{"
              "\"verdict\":\"scored\",\"score\":3.0,\"seconds\":2.5},\"loss\":1.0,"
              "\"within\":true},"
              "\"widened_nodes\":{\"reference\":5,\"converted\":6},"
              "\"squeezed_nodes\":7,"
              "\"seconds\":{\"reference\":0.25,\"converted\":0.5}}");
    free(text);
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* What is said of conversions that are made up. */

static void assert_conversion(const struct amp_conversion *conversion, int verbosity,
                              const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    amp_report_conversion(file, conversion, verbosity);
    assert_written(file, &text, expected);
}

/* Of what came out as it went in it is said, and of nothing that differs in one thing. */
static void what_is_unchanged_is_called_so(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct amp_conversion conversion = make_unchanged();
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        conversion.n_precision[AMP_BFLOAT16] = i == 1;
        conversion.casts.count = i == 2;
        conversion.casts_folded = i == 3;
        conversion.n_interface = i == 4;
        conversion.opset_after = i == 5 ? 18 : 17;
        conversion.was_unsorted = i == 6;
        conversion.bytes_after = i == 7 ? 39 : 40;
        amp_report_conversion(file, &conversion, 0);
        fclose(file);
        assert_says(text, i == 0 ? "  target     1 node stays float32; nothing is lowered, the "
                                   "model is unchanged\n"
                                 : "  target     1 node stays float32\n");
        free(text);
    }
}

static void a_conversion_says_what_there_is(void **state)
{
    static const char *const names[] = {"torch-cpu", "fast"};
    struct amp_conversion conversion = make_unchanged();
    (void)state;
    conversion.n_refused_for[AMP_REASON_RUNTIME] = 0;
    assert_conversion(&conversion, 0,
                      "m -> o: bfloat16; opset 17\n"
                      "  nodes      0 bfloat16, 2 float32, 0 other\n"
                      "  casts      0 before; 0 inserted, 0 folded; 0 now; file 40 bytes -> 40 "
                      "bytes\n");
    conversion.rule_names = names;
    conversion.n_rule_names = 2;
    conversion.lower = AMP_FLOAT16;
    conversion.second = AMP_BFLOAT16;
    conversion.assignment.lowers = AMP_DTYPE_BIT(AMP_FLOAT16) | AMP_DTYPE_BIT(AMP_BFLOAT16);
    conversion.n_precision[AMP_FLOAT16] = 5;
    conversion.n_precision[AMP_BFLOAT16] = 3;
    conversion.n_other = 4;
    conversion.n_refused = 0;
    conversion.opset_after = 22;
    conversion.was_unsorted = true;
    conversion.n_interface = 6;
    conversion.n_training_lowered = 2;
    conversion.loss_scale = 1024;
    conversion.casts_before = 7;
    conversion.casts.count = 8;
    conversion.casts_folded = 9;
    conversion.casts_after = 10;
    conversion.casts_of_constants = 1;
    conversion.bytes_after = 41;
    conversion.data_path = "w.bin";
    conversion.ranges_obstacle = "too large";
    static const char head[] = "m -> o: float16 and bfloat16 by torch-cpu, fast; opset 17 -> 22; "
                               "nodes sorted\n"
                               "  nodes      5 float16, 3 bfloat16, 2 float32, 4 other\n"
                               "  interface  6 inputs and outputs of the graph are now float16\n";
    static const char tail[] =
        "  training   2 nodes of training_info lowered; gradients scaled, by 1024 at first\n"
        "  casts      7 before; 8 inserted, 9 folded; 10 now; file 40 bytes -> 41 bytes with "
        "w.bin\n"
        "  constants  promote as in PyTorch; 'constants: follow', as in the set fast, would "
        "insert 1 cast fewer\n";
    char expected[2048];
    snprintf(expected, sizeof expected, "%s%s", head, tail);
    assert_conversion(&conversion, 0, expected);
    snprintf(expected, sizeof expected, "%s  ranges     not seen: too large\n%s", head, tail);
    assert_conversion(&conversion, 1, expected);

    /* Only the opset was raised. */
    conversion = make_unchanged();
    conversion.keeps_types = true;
    conversion.lower = AMP_FLOAT;
    conversion.opset_after = 18;
    conversion.n_refused_for[AMP_REASON_RUNTIME] = 0;
    conversion.casts_of_constants = 2;
    conversion.loss_scale = 2;
    assert_conversion(&conversion, 0,
                      "m -> o: opset 17 -> 18\n"
                      "  training   gradients scaled, by 2 at first\n"
                      "  casts      0 before; 0 inserted, 0 folded; 0 now; file 40 bytes -> 40 "
                      "bytes\n"
                      "  constants  promote as in PyTorch; 'constants: follow', as in the set "
                      "fast, would insert 2 casts fewer\n");
    conversion.loss_scale = 0;
    conversion.casts_of_constants = 0;
    conversion.n_training_lowered = 1;
    assert_conversion(&conversion, 0,
                      "m -> o: opset 17 -> 18\n"
                      "  training   1 node of training_info lowered\n"
                      "  casts      0 before; 0 inserted, 0 folded; 0 now; file 40 bytes -> 40 "
                      "bytes\n");
}

/* Adds a node that stays float32 for REASON to CONVERSION. */
static void refuse(struct amp_conversion *conversion, struct amp_refusal refusal)
{
    conversion->refusals[conversion->n_refused++] = refusal;
    conversion->n_refused_for[refusal.reason]++;
    conversion->n_reason[refusal.reason]++;
}

/* Three nodes are named, how many more there are is said; guards' evidence stands behind them. */
static void nodes_kept_are_named(void **state)
{
    struct amp_refusal refusals[8];
    struct amp_conversion conversion = make_unchanged();
    (void)state;
    conversion.n_refused_for[AMP_REASON_RUNTIME] = 0;
    conversion.n_reason[AMP_REASON_RULE] = 12;
    conversion.refusals = refusals;
    refuse(&conversion,
           (struct amp_refusal){.node = "A", .value = "w", .reason = AMP_REASON_WEIGHT_RANGE});
    refuse(&conversion, (struct amp_refusal){.node = "B",
                                             .value = "v",
                                             .reason = AMP_REASON_VALUE_RANGE,
                                             .number = 70000,
                                             .seen = AMP_RANGES_DATA});
    refuse(&conversion, (struct amp_refusal){.node = "O", .reason = AMP_REASON_OPSET});
    refuse(&conversion,
           (struct amp_refusal){
               .node = "C", .value = "m", .reason = AMP_REASON_MASK, .number = (double)INFINITY});
    refuse(&conversion,
           (struct amp_refusal){
               .node = "D", .value = "u", .reason = AMP_REASON_VALUE_RANGE, .number = 80000});
    assert_conversion(&conversion, 0,
                      "m -> o: bfloat16; opset 17\n"
                      "  nodes      0 bfloat16, 2 float32, 0 other; 5 kept from bfloat16 (-v says "
                      "why)\n"
                      "  guards     3 kept in float32: B, 'v': 7e+04 in data; C, 'm': of any size; "
                      "D, 'u': 8e+04 proved\n"
                      "  casts      0 before; 0 inserted, 0 folded; 0 now; file 40 bytes -> 40 "
                      "bytes\n");
    for (int i = 0; i < 3; i++)
        refuse(&conversion, (struct amp_refusal){.node = "E",
                                                 .value = "t",
                                                 .reason = AMP_REASON_VALUE_RANGE,
                                                 .number = 90000,
                                                 .seen = AMP_RANGES_RANDOM});
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    amp_report_conversion(file, &conversion, 1);
    fclose(file);
    assert_says(text, "          1 kept from bfloat16: O\n        1 weight-range");
    free(text);
    conversion.opset_obstacle = "too old";
    assert_conversion(
        &conversion, 1,
        "m -> o: bfloat16; opset 17\n"
        "  nodes      0 bfloat16, 2 float32, 0 other; 8 kept from bfloat16\n"
        "       12 rule            a rule matched\n"
        "        1 opset           needs a newer opset than the model can have\n"
        "          1 kept from bfloat16: O\n"
        "          too old\n"
        "        1 weight-range    a constant is beyond the lower type's range\n"
        "          1 kept from bfloat16: A, 'w'\n"
        "        5 value-range     a value is beyond the lower type's range\n"
        "          5 kept from bfloat16: B, 'v': 7e+04 in data; D, 'u': 8e+04 proved; E, 't': "
        "9e+04 in random inputs; 2 more\n"
        "        1 mask            a mask plus scores would be infinite in the lower type\n"
        "          1 kept from bfloat16: C, 'm': of any size\n"
        "  casts      0 before; 0 inserted, 0 folded; 0 now; file 40 bytes -> 40 bytes\n");
    text = NULL;
    file = open_memstream(&text, &size);
    amp_report_conversion(file, &conversion, 0);
    fclose(file);
    assert_says(text, "  guards     6 kept in float32: B, 'v': 7e+04 in data; C, 'm': of any size; "
                      "D, 'u': 8e+04 proved; 3 more\n");
    free(text);
}

/* What each runtime lacks is said behind its name, once. */
static void runtimes_say_what_they_lack(void **state)
{
    struct amp_refusal refusals[3];
    struct amp_conversion conversion = make_unchanged();
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    conversion.n_refused_for[AMP_REASON_RUNTIME] = 0;
    conversion.refusals = refusals;
    for (size_t i = 0; i < 3; i++)
        refuse(&conversion, (struct amp_refusal){.node = "A",
                                                 .reason = AMP_REASON_RUNTIME,
                                                 .lacked = i < 2 ? "Conv" : "Gemm",
                                                 .runtime = amp_runtime_at(i == 0 ? 3 : 1)});
    amp_report_conversion(file, &conversion, 0);
    fclose(file);
    assert_says(text, "  target     3 nodes stay float32; ort-cpu has no bfloat16 Conv, Gemm; "
                      "tensorrt has no bfloat16 Conv; nothing is lowered");
    free(text);
}

/* As JSON: each number under its name, what there is not as null or not at all. */
static void a_conversion_is_json(void **state)
{
    static const char *const names[] = {"torch-cpu"};
    struct amp_refusal refusals[4];
    struct amp_conversion conversion = make_unchanged();
    struct amp_ranges ranges = {.source = AMP_RANGES_DATA, .n_samples = 2, .path = "r.json"};
    (void)state;
    conversion.n_refused_for[AMP_REASON_RUNTIME] = 0;
    conversion.n_reason[AMP_REASON_RULE] = 1;
    static const char head[] = "{\"tool\":{\"name\":\"ampconv\",\"version\":\"" AMP_VERSION
                               "\"},\"report\":\"conversion\",\"exit_code\":0,\"model\":\"m\","
                               "\"output\":\"o\",\"written\":";
    char expected[2048];
    snprintf(expected, sizeof expected,
             "%sfalse,\"dtype\":\"bfloat16\",\"rules\":[],"
             "\"opset\":{\"before\":17,\"after\":17},\"ranges\":null,"
             "\"nodes\":{\"float32\":2,\"other\":0,\"refused\":0},\"reasons\":{\"rule\":1},"
             "\"refused\":{},\"runs_on\":null,\"interface\":0,\"casts\":{\"before\":0,"
             "\"inserted\":0,\"folded\":0,\"after\":0,\"of_constants\":0},"
             "\"bytes\":{\"before\":40,\"after\":40},\"sorted\":false}",
             head);
    assert_json(amp_json_conversion(&conversion, false), expected);
    conversion.refusals = refusals;
    refuse(&conversion,
           (struct amp_refusal){.node = "A", .value = "w", .reason = AMP_REASON_WEIGHT_RANGE});
    refuse(&conversion, (struct amp_refusal){.node = "B",
                                             .value = "v",
                                             .reason = AMP_REASON_VALUE_RANGE,
                                             .number = 70000,
                                             .seen = AMP_RANGES_DATA});
    refuse(&conversion, (struct amp_refusal){.node = "C", .reason = AMP_REASON_WEIGHT_RANGE});
    refuse(&conversion, (struct amp_refusal){.node = "D",
                                             .reason = AMP_REASON_RUNTIME,
                                             .lacked = "Conv",
                                             .runtime = amp_runtime_at(1)});
    conversion.rule_names = names;
    conversion.n_rule_names = 1;
    conversion.ranges = &ranges;
    conversion.second = AMP_FLOAT16;
    conversion.opset_after = 22;
    conversion.n_precision[AMP_FLOAT16] = 3;
    conversion.n_other = 4;
    conversion.n_interface = 5;
    conversion.casts_before = 6;
    conversion.casts.count = 7;
    conversion.casts_folded = 8;
    conversion.casts_after = 9;
    conversion.casts_of_constants = 10;
    conversion.bytes_after = 41;
    conversion.was_unsorted = true;
    conversion.n_training_lowered = 11;
    snprintf(expected, sizeof expected,
             "%strue,\"dtype\":\"bfloat16\",\"second_dtype\":\"float16\","
             "\"rules\":[\"torch-cpu\"],\"opset\":{\"before\":17,\"after\":22},"
             "\"ranges\":{\"source\":\"data\",\"samples\":2,\"file\":\"r.json\"},"
             "\"nodes\":{\"float32\":2,\"float16\":3,\"other\":4,\"refused\":4},"
             "\"reasons\":{\"rule\":1,\"runtime\":1,\"weight-range\":2,\"value-range\":1},"
             "\"refused\":{\"weight-range\":{\"count\":2,\"nodes\":["
             "{\"node\":\"A\",\"constant\":\"w\"},{\"node\":\"C\"}]},"
             "\"value-range\":{\"count\":1,\"nodes\":[{\"node\":\"B\",\"value\":\"v\","
             "\"number\":70000.0,\"seen\":\"data\"}]},"
             "\"runtime\":{\"count\":1,\"nodes\":[{\"node\":\"D\",\"runtime\":\"ort-cpu\","
             "\"lacks\":\"Conv\"}]}},\"runs_on\":null,\"interface\":5,\"casts\":{\"before\":6,"
             "\"inserted\":7,\"folded\":8,\"after\":9,\"of_constants\":10},"
             "\"bytes\":{\"before\":40,\"after\":41},\"sorted\":true,"
             "\"training\":{\"lowered\":11,\"init_scale\":null}}",
             head);
    assert_json(amp_json_conversion(&conversion, true), expected);
    for (int i = 0; i < 2; i++) {
        conversion.n_training_lowered = i == 0 ? 2 : 0;
        conversion.loss_scale = 1024;
        char *text = amp_json_dump(amp_json_conversion(&conversion, true), JSON_COMPACT);
        assert_says(text, i == 0 ? "\"training\":{\"lowered\":2,\"init_scale\":1024.0}"
                                 : "\"training\":{\"lowered\":0,\"init_scale\":1024.0}");
        free(text);
    }
}

/* A node counts as kept where it is float32 by a constraint, although a rule lowers it or a type
   variable of it could be. */
static void nodes_kept_are_those_that_could_be_lower(void **state)
{
    static const struct {
        enum amp_reason reason;
        enum amp_precision precision;
        int type;
        bool is_refused, is_removed, has_value;
    } rows[] = {{AMP_REASON_RULE, AMP_LOWER, 0, false, false, false},
                {AMP_REASON_UNLISTED, AMP_LOWER, 0, false, false, false},
                {AMP_REASON_NOT_FLOAT, AMP_LOWER, 0, false, false, false},
                {AMP_REASON_OPSET, AMP_LOWER, -1, true, false, false},
                {AMP_REASON_OPSET, AMP_FP32, 0, true, false, false},
                {AMP_REASON_OPSET, AMP_FP32, 1, true, false, false},
                {AMP_REASON_OPSET, AMP_FP32, -1, false, false, false},
                {AMP_REASON_DOUBLE, AMP_BF16, 1, true, false, false},
                {AMP_REASON_WEIGHT_RANGE, AMP_LOWER, 0, true, false, true},
                {AMP_REASON_MASK, AMP_LOWER, 0, false, true, true}};
    enum { ROWS = AMP_COUNT(rows) };
    struct sketch s = sketch();
    struct amp_decision decisions[ROWS];
    struct amp_conversion conversion = {.assignment = {.nodes = decisions, .n_nodes = ROWS},
                                        .keeps_types = true};
    size_t at = 0;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        char name[2] = {(char)('a' + i)};
        uint32_t value = add_node(&s, "Relu", name, AMP_NONE, AMP_NONE, AMP_FLOAT);
        decisions[i] = (struct amp_decision){.reason = rows[i].reason,
                                             .precision = rows[i].precision,
                                             .type = rows[i].type,
                                             .dtype = i < 3   ? AMP_UNDEFINED
                                                      : i < 5 ? AMP_BFLOAT16
                                                              : AMP_FLOAT,
                                             .value = rows[i].has_value ? value : AMP_NONE,
                                             .number = (double)i,
                                             .seen = AMP_RANGES_RANDOM};
        amp_node_at(s.model, (uint32_t)i)->is_removed = rows[i].is_removed;
    }
    amp_conversion_note_refusals(&conversion, s.model);
    for (size_t i = 0; i < ROWS; i++) {
        if (!rows[i].is_refused)
            continue;
        const struct amp_refusal *refusal = &conversion.refusals[at++];
        char node[64];
        assert_string_equal(refusal->node, amp_node_text(s.model, (uint32_t)i, node, sizeof node));
        assert_int_equal(refusal->value != NULL, rows[i].has_value);
        assert_int_equal(refusal->reason, rows[i].reason);
        assert_true(refusal->number == (double)i);
        assert_int_equal(refusal->seen, AMP_RANGES_RANDOM);
    }
    assert_int_equal(at, conversion.n_refused);
    assert_int_equal(conversion.n_refused_for[AMP_REASON_OPSET], 3);
    assert_int_equal(conversion.n_refused_for[AMP_REASON_WEIGHT_RANGE], 1);
    assert_int_equal(conversion.n_refused_for[AMP_REASON_MASK], 0);

    amp_conversion_count(&conversion, s.model);
    assert_int_equal(conversion.n_other, 3);
    assert_int_equal(conversion.n_precision[AMP_BFLOAT16], 2);
    assert_int_equal(conversion.n_precision[AMP_FLOAT], 4);
    assert_int_equal(conversion.n_reason[AMP_REASON_OPSET], 4);
    assert_int_equal(conversion.n_reason[AMP_REASON_MASK], 0);
    assert_false(conversion.runs_on.is_known);
    conversion.keeps_types = false;
    amp_conversion_count(&conversion, s.model);
    assert_true(conversion.runs_on.is_known);
    amp_arena_destroy(s.arena);
}

/* ---- runtimes -------------------------------------------------------------------------------- */

static void assert_runs_on(const struct amp_runs_on *runs_on, const char *expected)
{
    char *text = NULL, line[256] = "";
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (expected[0] != '\0')
        snprintf(line, sizeof line, "  runs on    %s\n", expected);
    amp_report_runs_on(file, runs_on);
    assert_written(file, &text, line);
}

/* All but the first, the program itself, lack something; each operator counts once in a dtype. */
static void what_runtimes_lack_stands_behind_them(void **state)
{
    static const char *const ops[] = {"Conv", "Gemm", "Conv", "Relu", "Add"};
    struct amp_runs_on runs_on = {.is_known = true};
    struct amp_lacked_ops *first = &runs_on.gaps[1].ops;
    (void)state;
    assert_runs_on(&runs_on, "");
    for (size_t i = 0; i < 3; i++)
        amp_lacked_ops_add(first, ops[i], AMP_BFLOAT16);
    assert_int_equal(first->count, 2);
    amp_lacked_ops_add(first, "Conv", AMP_FLOAT16);
    assert_int_equal(first->count, 3);
    runs_on.gaps[3].opset = 21;
    assert_runs_on(&runs_on,
                   "ampconv, ONNX Runtime 1.21 CUDA, OpenVINO 2025; not ONNX Runtime 1.21 "
                   "CPU (no bfloat16 Conv, Gemm, float16 Conv), TensorRT 10.1 (opset 21: "
                   "it reads 20)");
    amp_lacked_ops_add(first, "Add", AMP_FLOAT16);
    runs_on.gaps[3].is_too_new = true;
    assert_runs_on(&runs_on,
                   "ampconv, ONNX Runtime 1.21 CUDA, OpenVINO 2025; not ONNX Runtime 1.21 "
                   "CPU (no bfloat16 Conv, Gemm, float16 Conv, 1 more)");
    runs_on.gaps[1].is_too_new = true;
    assert_runs_on(&runs_on, "");
    assert_json(amp_json_runs_on(&runs_on),
                "{\"ampconv\":{\"runs\":true,\"lacks\":[],\"opset\":null},"
                "\"ort-cpu\":{\"runs\":false,\"lacks\":[{\"op\":\"Conv\",\"dtype\":\"bfloat16\"},"
                "{\"op\":\"Gemm\",\"dtype\":\"bfloat16\"},{\"op\":\"Conv\",\"dtype\":\"float16\"},"
                "{\"op\":\"Add\",\"dtype\":\"float16\"}],\"opset\":null},"
                "\"ort-cuda\":{\"runs\":true,\"lacks\":[],\"opset\":null},"
                "\"tensorrt\":{\"runs\":false,\"lacks\":[],\"opset\":21},"
                "\"openvino\":{\"runs\":true,\"lacks\":[],\"opset\":null}}");
    runs_on.is_known = false;
    assert_true(json_is_null(amp_json_runs_on(&runs_on)));
    runs_on = (struct amp_runs_on){.is_known = true};
    for (size_t i = 0; i < AMP_RUNTIME_COUNT; i++)
        amp_lacked_ops_add(&runs_on.gaps[i].ops, "Gemm", AMP_FLOAT16);
    runs_on.gaps[3].is_too_new = runs_on.gaps[2].is_too_new = runs_on.gaps[0].is_too_new = true;
    assert_runs_on(&runs_on, "none of ONNX Runtime 1.21 CPU (no float16 Gemm), OpenVINO 2025 (no "
                             "float16 Gemm)");
    runs_on.is_known = false;
    assert_runs_on(&runs_on, "");
}

/* A runtime reads a model of its newest opset. One that was newer before the conversion is none of
   the conversion's; of one that is newer now no operator is looked up. */
static void a_newer_opset_keeps_a_model_from_a_runtime(void **state)
{
    struct sketch s = sketch();
    struct amp_runs_on runs_on;
    struct amp_lacked_ops many = {.count = 0};
    char names[257][8];
    (void)state;
    amp_model_import(s.model, "", 20);
    amp_runs_on_find(&runs_on, s.model, 20);
    assert_true(runs_on.is_known);
    assert_int_equal(runs_on.gaps[3].opset, 0);
    assert_false(runs_on.gaps[3].is_too_new);
    amp_model_import(s.model, "", 21);
    amp_runs_on_find(&runs_on, s.model, 20);
    assert_int_equal(runs_on.gaps[3].opset, 21);
    assert_false(runs_on.gaps[3].is_too_new);
    assert_int_equal(runs_on.gaps[1].opset, 0);
    amp_runs_on_find(&runs_on, s.model, 21);
    assert_int_equal(runs_on.gaps[3].opset, 21);
    assert_true(runs_on.gaps[3].is_too_new);
    for (size_t i = 0; i < 257; i++) {
        snprintf(names[i], sizeof names[i], "%zu", i);
        amp_lacked_ops_add(&many, names[i], AMP_FLOAT16);
    }
    assert_int_equal(many.count, 256);
    assert_string_equal(many.items[255].op, "255");
    amp_arena_destroy(s.arena);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void assert_inputs(const struct amp_input_notes *notes, int verbosity, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    amp_report_inputs(file, notes, verbosity);
    assert_written(file, &text, expected);
}

/* Random inputs have three lines, those of data lines for those who ask. */
static void inputs_are_told_to_those_who_ask(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static const char first[] = "  input      'a' float32 [2]: random\n"
                                "  input      'c' float32 [2]: random\n"
                                "  input      'd' float32 [2]: random\n";
    char all[512], some[512];
    struct sketch s = sketch();
    struct amp_input_note note = {.shape = {.rank = 1, .dims = {2}}};
    (void)state;
    for (size_t i = 0; i < 5; i++)
        add_input(&s, names[i]);
    struct amp_input_notes notes = amp_input_notes_create(s.model);
    for (size_t i = 0; i < 4; i++)
        if (i != 1)
            amp_input_notes_set(&notes, i, &note, "random");
    notes.are_random = true;
    assert_inputs(&notes, 0, first);
    note.kind = "uniform";
    note.has_range = true;
    note.low = -1;
    note.high = 3;
    amp_input_notes_set(&notes, 4, &note, "random");
    snprintf(some, sizeof some, "%s             1 more inputs; -v lists them\n", first);
    snprintf(all, sizeof all, "%s  input      'e' float32 [2]: random\n", first);
    assert_inputs(&notes, 0, some);
    assert_inputs(&notes, 1, all);
    notes.are_random = false;
    assert_inputs(&notes, 0, "");
    assert_inputs(&notes, 1, all);
    notes.sizes = strdup("H = 16");
    notes.batches = strdup("2 batches");
    assert_inputs(&notes, 0, "  dims       H = 16: found, the model does not run with 1\n");
    notes.left_out = 1;
    assert_inputs(&notes, 0,
                  "  dims       H = 16: found, the model does not run with 1\n"
                  "  data       2 batches\n");
    notes.left_out = 0;
    strcat(all, "  dims       H = 16: found, the model does not run with 1\n"
                "  data       2 batches\n");
    assert_inputs(&notes, 1, all);
    char *text = amp_json_dump(amp_json_inputs(&notes), JSON_COMPACT);
    assert_says(text, "[{\"name\":\"a\",\"source\":\"'a' float32 [2]: random\",\"shape\":[2]},"
                      "{\"name\":\"c\",");
    assert_says(text, "{\"name\":\"e\",\"source\":\"'e' float32 [2]: random\",\"shape\":[2],"
                      "\"kind\":\"uniform\",\"low\":-1.0,\"high\":3.0}]");
    free(text);
    amp_input_notes_destroy(&notes);
    amp_arena_destroy(s.arena);
}

/* ---- selections ------------------------------------------------------------------------------ */

/* Who asks hears of all selections; others of the one of which most is selected otherwise, the
   first of those that are alike, or of none. */
static void selections_that_differ_are_told(void **state)
{
    struct sketch s = sketch();
    static const char *const names[] = {"a", "b", "c"};
    struct amp_selection items[] = {{.node = 0, .items = {3, 4}, .larger = 10, .otherwise = 1},
                                    {.node = 1, .items = {5, 6}, .larger = 5, .otherwise = 2},
                                    {.node = 2, .items = {7, 8}, .larger = 10, .otherwise = 4}};
    struct amp_validation validation = {.is_within = true};
    static const char verdict[] = "  verdict    within tolerance\n";
    static const char lines[][100] = {
        "  selection  TopK 'a': 3 in fp32, 4 converted, 1 of 10 otherwise\n",
        "  selection  TopK 'b': 5 in fp32, 6 converted, 2 of 5 otherwise\n",
        "  selection  TopK 'c': 7 in fp32, 8 converted, 4 of 10 otherwise\n",
        "  selection  TopK 'b', the worst of 3: 5 in fp32, 6 converted, 2 of 5 otherwise\n"};
    char expected[512];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        add_node(&s, "TopK", names[i], AMP_NONE, AMP_NONE, AMP_FLOAT);
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        validation.bounds.items[row] = (double)NAN;
    validation.selections = (struct amp_selections){.model = s.model, .count = 3, .items = items};
    for (int i = 0; i < 4; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        if (i == 2)
            validation.selections.count = 1;
        if (i == 3)
            items[0].otherwise = 0;
        amp_report_validation(file, &validation, i == 1);
        snprintf(expected, sizeof expected, "%s%s%s%s",
                 i == 0   ? lines[3]
                 : i == 3 ? ""
                          : lines[0],
                 i == 1 ? lines[1] : "", i == 1 ? lines[2] : "", verdict);
        assert_written(file, &text, expected);
    }
    amp_arena_destroy(s.arena);
}

/* ---- several models -------------------------------------------------------------------------- */

/* The same as a table: a row for each model, with figures of those that became one. */
static void assert_batch_page(json_t *models)
{
    static const char rows[] =
        "<tr><td>m</td><td>converted</td><td class=\"n\">3</td><td class=\"n\">2</td><td "
        "class=\"n\">30</td>"
        "<td class=\"n\">0.5</td><td>o</td></tr>\n"
        "<tr><td>m</td><td>converted</td><td class=\"n\">1</td><td class=\"n\">0</td><td></td><td "
        "class=\"n\">2</td>"
        "<td>o</td></tr>\n"
        "<tr><td>m</td><td>outside tolerance</td><td></td><td></td><td></td><td></td>"
        "<td>far</td></tr>\n"
        "<tr><td>m</td><td>outside tolerance</td><td></td><td></td><td></td><td></td>"
        "<td>far</td></tr>\n"
        "<tr><td>m</td><td>failed</td><td></td><td></td><td></td><td></td><td>m: bad</td></tr>\n";
    struct amp_batch_report report = {.models = models, .summary = "some models"};
    struct amp_error err = {.status = AMP_OK};
    assert_int_equal(amp_html_batch_page(&report, "page.html", &err), AMP_OK);
    assert_xml("page.html");
    char *text = read_text("page.html");
    assert_says(text, "some models");
    assert_says(text, "<th scope=\"col\">model</th><th scope=\"col\">verdict</th>"
                      "<th scope=\"col\" class=\"n\">low nodes</th>"
                      "<th scope=\"col\" class=\"n\">float32 nodes</th>"
                      "<th scope=\"col\" class=\"n\">snr, dB</th>"
                      "<th scope=\"col\" class=\"n\">size</th>"
                      "<th scope=\"col\">file, or why not</th>");
    assert_says(text, rows);
    free(text);
}

/* A line for each model by its exit code; messages that begin with the model's path have it once.
 */
static void models_have_a_line_each(void **state)
{
    static const struct {
        const char *report, *line;
    } rows[] = {
        {"{'model':'m','output':'o','dtype':'bfloat16','exit_code':0,'written':true,"
         "'nodes':{'bfloat16':3,'float32':2},'validation':{'error_power':0.001},"
         "'bytes':{'before':80,'after':40}}",
         "m -> o: 3 nodes bfloat16, 2 float32; snr 30.0 dB\n"},
        {"{'model':'m','output':'o','dtype':'float16','exit_code':0,'written':true,"
         "'nodes':{'float16':1},'bytes':{'before':8,'after':16}}",
         "m -> o: 1 nodes float16, 0 float32\n"},
        {"{'model':'m','exit_code':1,'written':false,'validation':{'reason':'far'}}",
         "m: outside tolerance: far; not written\n"},
        {"{'model':'m','exit_code':1,'written':true,'validation':{'reason':'far'}}",
         "m: outside tolerance: far\n"},
        {"{'operands':['m'],'exit_code':3,'error':{'message':'m: bad'}}", "m: bad; exit code 3\n"},
        {"{'operands':['m'],'exit_code':4,'error':{'message':'mm: bad'}}",
         "m: mm: bad; exit code 4\n"},
        {"{'operands':['m'],'exit_code':2,'error':{'message':'n: no'}}",
         "m: n: no; exit code 2\n"}};
    static const size_t counts[][3] = {{1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 2, 0},
                                       {2, 2, 1}, {2, 2, 2}, {2, 2, 3}};
    static const enum amp_status worst[] = {
        AMP_OK, AMP_OK, AMP_MISMATCH, AMP_MISMATCH, AMP_MODEL, AMP_UNSUPPORTED, AMP_UNSUPPORTED};
    json_t *models = json_array();
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        struct amp_batch_report report = {.models = models};
        char quoted[512], summary[128], *text = NULL;
        size_t size = 0;
        snprintf(quoted, sizeof quoted, "%s", rows[i].report);
        for (char *at = quoted; *at != '\0'; at++)
            *at = *at == '\'' ? '"' : *at;
        json_array_append_new(models, json_loads(quoted, 0, NULL));
        FILE *file = open_memstream(&text, &size);
        amp_report_batch_line(file, &report, i, false);
        assert_written(file, &text, rows[i].line);
        text = NULL;
        file = open_memstream(&text, &size);
        amp_report_batch_line(file, &report, i, true);
        assert_written(file, &text, i < 2 ? "" : rows[i].line);
        assert_int_equal(amp_batch_report_end(&report), worst[i]);
        assert_int_equal(report.n_converted, counts[i][0]);
        assert_int_equal(report.n_outside, counts[i][1]);
        assert_int_equal(report.n_failed, counts[i][2]);
        snprintf(summary, sizeof summary,
                 "%zu model%s: %zu converted, %zu outside tolerance, %zu failed", i + 1,
                 i == 0 ? "" : "s", counts[i][0], counts[i][1], counts[i][2]);
        assert_string_equal(report.summary, summary);
    }
    assert_batch_page(models);
    json_decref(models);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* What is said of values of two models, each of which is one number, or none. */

static void assert_layers(const struct amp_layers *layers, struct amp_layers_view view,
                          const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    amp_report_layers(file, layers, &view);
    assert_written(file, &text, expected);
}

#define LAYERS_TITLE \
    "     accumulated          local  dtype       reaches  value and its worst element\n"

/* Each form of an error, of the worst element and of a name. 20 log10(100 / 1) is 40 dB. */
static void errors_of_layers_have_their_forms(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    (void)state;
    make_layers(&layers, items);
    layers.n_paired[AMP_PAIRED_BY_POSITION] = 2;
    for (size_t i = 2; i < 10; i++)
        items[i].has_local = false;
    items[1].worst = (struct amp_layer_error){.error = 1, .sample = 2, .values = {1.5, 1.25}};
    items[2].accumulated = metrics_of(1, 1);
    items[2].pairing = AMP_PAIRED_BY_POSITION;
    items[3].accumulated = (struct amp_metrics){.count = 0, .is_float = true};
    items[4].accumulated = (struct amp_metrics){.count = 8, .different = 1};
    items[5].accumulated = metrics_of(1, (double)NAN);
    items[5].worst =
        (struct amp_layer_error){.error = (double)INFINITY, .values = {1, (double)-NAN}};
    items[6].accumulated = metrics_of(0, 1);
    items[6].worst = (struct amp_layer_error){.error = 1, .index = 1, .values = {0, 1}};
    items[7].dtype[1] = AMP_UNDEFINED;
    items[8].dtype[1] = AMP_UNDEFINED;
    strcpy(items[8].reason, "why");
    strcpy(items[9].reason, "not that");
    assert_layers(&layers, (struct amp_layers_view){.lines = 10},
                  "  layers     14 values compared (3 by name, 2 by position); 5 of the reference "
                  "alone, 6 of the other\n"
                  "             names differ: values with alike operators, types and shapes in the "
                  "same place of the graph are taken for the same\n" LAYERS_TITLE
                  "         40.0 dB        46.0 dB  float16           2  'a' (Op)\n"
                  "         34.0 dB        40.0 dB  float16           2  'b' (Op 'node') sample 2 "
                  "[0]: 1.25, not 1.5\n"
                  "           equal              -  float16           2  'c' (Op), there 'other'\n"
                  "           empty              -  float16           2  'd' (Op)\n"
                  "          12.5 %              -  float16           2  'e' (Op)\n"
                  "    1 not finite              -  float16           2  'f' (Op) [0]: nan, not 1\n"
                  "           not 0              -  float16           2  'g' (Op) ?: 1, not 0\n"
                  "               ?              ?  'h' (Op): not computed\n"
                  "               ?              ?  'i' (Op): why\n"
                  "         20.0 dB              -  float16           2  'j' (Op); not that\n");
    layers.count = 1;
    layers.n_paired[AMP_PAIRED_BY_POSITION] = 0;
    layers.n_paired[AMP_PAIRED_BY_CASTS] = 1;
    assert_layers(&layers, (struct amp_layers_view){.lines = 0},
                  "  layers     1 value compared (3 by name, 1 through casts); 5 of the reference "
                  "alone, 6 of the other\n");
}

/* The five worst of either kind and what stands out, or the ten worst of one, or all. */
static void layers_that_stand_out_are_listed(void **state)
{
    static const char head[] = "  layers     14 values compared (3 by name); 5 of the reference "
                               "alone, 6 of the other\n";
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    (void)state;
    for (int i = 0; i < 5; i++) {
        static const struct amp_layers_view views[] = {
            {.lines = -1},
            {.lines = -1, .order = AMP_LAYERS_BY_LOCAL},
            {.lines = -1, .order = AMP_LAYERS_BY_ACCUMULATED},
            {.lines = -1, .is_verbose = true},
            {.lines = 2, .order = AMP_LAYERS_BY_ACCUMULATED, .is_verbose = true}};
        static const char *const listed[] = {"abfgklmn", "gnmlkjihfe", "cgnmlkjihf",
                                             "abcdefghijklmn", "cg"};
        char found[LAYERS + 1] = "", *text = NULL;
        size_t size = 0, count = 0;
        FILE *file = open_memstream(&text, &size);
        make_layers(&layers, items);
        /* 'c' and 'g' are not finite there, and of 'c' nothing is known on its own. */
        items[6].accumulated = items[6].local = metrics_of(1, (double)INFINITY);
        items[2].accumulated = metrics_of(1, (double)NAN);
        items[2].has_local = false;
        if (i == 0) { /* 'f' was not computed, 'a' and 'b' are equal */
            make_layers(&layers, items);
            items[5].dtype[1] = AMP_UNDEFINED;
            items[5].accumulated = items[5].local = metrics_of(1, 1);
            items[6].accumulated = items[6].local = metrics_of(1, (double)INFINITY);
            items[0].accumulated = items[0].local = metrics_of(1, 1);
            items[1].accumulated = items[1].local = metrics_of(1, 1);
            layers.first_nan = 0;
            layers.first_overflow = 1;
            layers.largest_jump = 6;
        }
        amp_report_layers(file, &layers, &views[i]);
        fclose(file);
        assert_memory_equal(text, head, sizeof head - 1);
        for (const char *at = strstr(text, LAYERS_TITLE); (at = strstr(at, "  '")) != NULL; at++)
            found[count++] = at[3];
        assert_string_equal(found, listed[i]);
        if (i == 0)
            assert_says(text, "             ... 6 more; -v lists them\n");
        else if (i < 3)
            assert_says(text, "             ... 4 more; -v lists them\n");
        else
            assert_null(strstr(text, "more;"));
        free(text);
    }

    /* Of errors by themselves those that are known, and are any. */
    make_layers(&layers, items);
    for (size_t i = 4; i < LAYERS; i++)
        items[i].has_local = false;
    items[3].local = metrics_of(1, 1);
    char found[LAYERS + 1] = "", *text = NULL;
    size_t size = 0, count = 0;
    FILE *file = open_memstream(&text, &size);
    amp_report_layers(file, &layers,
                      &(struct amp_layers_view){.lines = -1, .order = AMP_LAYERS_BY_LOCAL});
    fclose(file);
    for (const char *at = strstr(text, LAYERS_TITLE); (at = strstr(at, "  '")) != NULL; at++)
        found[count++] = at[3];
    assert_string_equal(found, "cba");
    free(text);
}

/* The first NaN, the first overflow and the largest jump, with elements that the reference has not.
 */
static void marks_of_layers_have_lines(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    (void)state;
    make_layers(&layers, items);
    items[0].accumulated.nan[0] = 3;
    items[0].accumulated.nan[1] = 5;
    items[0].accumulated.inf[1] = 9;
    items[1].accumulated.inf[0] = 4;
    items[1].accumulated.inf[1] = 5;
    layers.first_nan = 0;
    layers.first_overflow = 1;
    layers.largest_jump = 9;
    items[9].before = 0.01;
    static const char head[] =
        "  layers     14 values compared (3 by name); 5 of the reference alone, 6 of the other\n"
        "  first NaN  'a' (Op): 2 of 1 elements NaN in float16; the reference reaches 2\n"
        "  overflow   'b' (Op 'node'): 1 of 1 elements infinite in float16; the reference reaches "
        "2\n";
    char expected[1024];
    snprintf(expected, sizeof expected, "%s  jump       'j' (Op): from 40.0 dB to 20.0 dB\n", head);
    assert_layers(&layers, (struct amp_layers_view){.lines = 0}, expected);
    items[9].before = 0;
    snprintf(expected, sizeof expected, "%s  jump       'j' (Op): from equal to 20.0 dB\n", head);
    assert_layers(&layers, (struct amp_layers_view){.lines = 0}, expected);
}

/* As JSON, with null for what is not known. */
static void layers_are_json(void **state)
{
    struct amp_layers layers;
    struct amp_layer items[LAYERS];
    (void)state;
    make_layers(&layers, items);
    layers.count = 2;
    layers.n_paired[1] = 8;
    layers.n_paired[2] = 9;
    items[0].dtype[1] = AMP_UNDEFINED;
    items[0].has_local = false;
    items[0].range[0] = (struct amp_range){.count = 3, .nan = 1, .infinite = 2, .zeros = 0};
    items[0].before = (double)INFINITY;
    strcpy(items[0].reason, "why");
    items[1].pairing = AMP_PAIRED_BY_CASTS;
    items[1].is_output = true;
    items[1].before = 0.5;
    items[1].accumulated = (struct amp_metrics){.count = 4, .different = 1, .stray = 0};
    items[1].local = (struct amp_metrics){.count = 8, .different = 2};
    items[1].worst =
        (struct amp_layer_error){.error = 0.25, .index = 0, .sample = 3, .values = {1.5, 1.25}};
    items[1].range[0] = (struct amp_range){.count = 4,
                                           .nan = 1,
                                           .infinite = 2,
                                           .zeros = 5,
                                           .minimum = -2,
                                           .maximum = 1,
                                           .smallest = 0.5};
    layers.first_nan = 1;
    static const char nothing[] =
        "{\"elements\":0,\"nan\":0,\"infinite\":0,\"zeros\":0,\"min\":null,"
        "\"max\":null,\"smallest\":null}";
    char expected[4096];
    snprintf(
        expected, sizeof expected,
        "{\"paired_by\":{\"name\":3,\"casts\":8,\"position\":9},"
        "\"unpaired\":{\"reference\":5,\"converted\":6},\"first_nan\":\"b\","
        "\"first_overflow\":null,\"largest_jump\":null,\"values\":["
        "{\"name\":{\"reference\":\"a\",\"converted\":\"other\"},"
        "\"node\":{\"reference\":\"\",\"converted\":\"\"},\"op_type\":\"Op\","
        "\"paired_by\":\"name\",\"is_output\":false,"
        "\"dtype\":{\"reference\":\"float32\",\"converted\":null},\"shape\":null,"
        "\"accumulated\":null,\"local\":null,\"before\":\"inf\",\"worst\":null,"
        "\"range\":{\"reference\":{\"elements\":3,\"nan\":1,\"infinite\":2,\"zeros\":0,\"min\":"
        "null,"
        "\"max\":null,\"smallest\":null},\"converted\":%s},\"reason\":\"why\"},"
        "{\"name\":{\"reference\":\"b\",\"converted\":\"other\"},"
        "\"node\":{\"reference\":\"\",\"converted\":\"node\"},\"op_type\":\"Op\","
        "\"paired_by\":\"casts\",\"is_output\":true,"
        "\"dtype\":{\"reference\":\"float32\",\"converted\":\"float16\"},\"shape\":[1],"
        "\"accumulated\":{\"differ\":0.25,\"elements\":4,\"different\":1,\"stray\":0,"
        "\"relative\":0.25},\"local\":{\"differ\":0.25,\"elements\":8,\"different\":2,\"stray\":0,"
        "\"relative\":0.25},\"before\":0.5,\"worst\":{\"error\":0.25,\"sample\":3,\"index\":[0],"
        "\"reference\":1.5,\"converted\":1.25},\"range\":{\"reference\":{\"elements\":4,\"nan\":1,"
        "\"infinite\":2,\"zeros\":5,\"min\":-2.0,\"max\":1.0,\"smallest\":0.5},\"converted\":%s}}]"
        "}",
        nothing, nothing);
    assert_json(amp_json_layers(&layers, AMP_LAYERS_BY_GRAPH), expected);
    items[1].worst.index = 1;
    char *text = amp_json_dump(amp_json_layers(&layers, AMP_LAYERS_BY_ACCUMULATED), JSON_COMPACT);
    assert_says(text, "\"sample\":3,\"index\":null,");
    free(text);
}

/* What is not finite is named by side; what was selected is not called an element. */
static void metrics_have_their_words(void **state)
{
    static const struct {
        uint64_t nan[2], inf[2];
        const char *text;
    } rows[] = {{{0, 0}, {0, 0}, ""},
                {{1, 0}, {0, 0}, ", reference: 1 NaN, 0 infinite"},
                {{0, 1}, {0, 0}, ", converted: 1 NaN, 0 infinite"},
                {{0, 0}, {1, 0}, ", reference: 0 NaN, 1 infinite"},
                {{0, 0}, {0, 2}, ", converted: 0 NaN, 2 infinite"},
                {{3, 1}, {1, 3}, ", reference: 3 NaN, 1 infinite, converted: 1 NaN, 3 infinite"}};
    struct amp_metrics metrics;
    char *text = NULL, expected[256];
    size_t size = 0;
    FILE *file;
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(rows); i++) {
        metrics = (struct amp_metrics){.count = 4,
                                       .is_float = true,
                                       .nan = {rows[i].nan[0], rows[i].nan[1]},
                                       .inf = {rows[i].inf[0], rows[i].inf[1]}};
        snprintf(expected, sizeof expected, "no element that is finite on both sides%s",
                 rows[i].text);
        text = NULL;
        file = open_memstream(&text, &size);
        amp_report_metrics(file, &metrics, true);
        assert_written(file, &text, expected);
    }
    metrics = metrics_of(1, 1);
    metrics.selected = 4;
    metrics.otherwise = 2;
    text = NULL;
    file = open_memstream(&text, &size);
    amp_report_metrics(file, &metrics, false);
    assert_written(file, &text,
                   "snr inf dB, cosine 1, max abs error 0, mean 0, rmse 0, max rel error 0, "
                   "selected otherwise 50 %");
    text = NULL;
    file = open_memstream(&text, &size);
    amp_report_metrics(file, &(struct amp_metrics){.count = 4, .different = 1}, false);
    assert_written(file, &text, "elements that differ 25 %");
}

/* ---- explanations ---------------------------------------------------------------------------- */

/* What each node is, by which rule or constraint, with the casts that it caused. */
static void nodes_are_explained(void **state)
{
    static const struct amp_rule_op ops[] = {{.word = "conv2d", .is_torch = true, .line = 15},
                                             {.word = "Conv", .line = 0}};
    static const struct amp_rule rules[] = {
        {.precision = AMP_LOWER, .source = {.file = "a.yaml", .line = 3}},
        {.precision = AMP_FP32, .source = {.file = AMP_RULES_COMMAND_LINE}}};
    static const struct amp_whole wholes[] = {{.name = "softmax"}, {.name = "torch.nn.GELU"}};
    struct amp_explained_cast casts[] = {{&casts[1], "x", "x_bf16", AMP_BFLOAT16},
                                         {NULL, "y", "y_f32", AMP_FLOAT}};
    const struct amp_decision decisions[] = {
        {.rule = &rules[0], .op = &ops[0], .dtype = AMP_BFLOAT16},
        {.rule = &rules[0], .op = &ops[1], .dtype = AMP_FLOAT},
        {.rule = &rules[1], .dtype = AMP_FLOAT},
        {.reason = AMP_REASON_VALUE_RANGE, .dtype = AMP_FLOAT, .number = 70000},
        {.reason = AMP_REASON_WEIGHT_RANGE, .dtype = AMP_FLOAT},
        {.reason = AMP_REASON_RUNTIME,
         .dtype = AMP_FLOAT,
         .runtime = amp_runtime_at(1),
         .lacked = "Conv"},
        {.reason = AMP_REASON_NOT_FLOAT}};
    struct amp_explained_node nodes[AMP_COUNT(decisions)];
    struct amp_assignment assignment = {.lower = AMP_BFLOAT16};
    struct amp_explanation explanation = {.nodes = nodes,
                                          .n_nodes = AMP_COUNT(decisions),
                                          .assignment = &assignment,
                                          .model_path = "m"};
    static const char line[] = "node%*s  %-9s %s\n";
    char expected[4096], *text = NULL;
    size_t size = 0, used = 0;
    static const char *const says[][2] = {
        {"bfloat16", "rule of aten.softmax lower a.yaml:15 conv2d\n"
                     "    cast 'x' -> 'x_bf16' bfloat16\n    cast 'y' -> 'y_f32' float32"},
        {"float32", "rule of torch.nn.GELU lower a.yaml:3"},
        {"float32", "rule fp32 command line"},
        {"float32", "value-range 'v': 7e+04 proved"},
        {"float32", "weight-range 'w'"},
        {"float32", "runtime: ort-cpu has no Conv in bfloat16"},
        {"-", "not-float"}};
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(decisions); i++) {
        nodes[i] = (struct amp_explained_node){.decision = &decisions[i],
                                               .text = "node",
                                               .name = "n",
                                               .domain = "",
                                               .op_type = "Op",
                                               .version = i == 0 ? 13 : 0,
                                               .output = i == 0 ? "o" : NULL,
                                               .whole = i < 2 ? &wholes[i] : NULL,
                                               .root = i < 2 ? "r" : NULL,
                                               .constant = i == 3   ? "v"
                                                           : i == 4 ? "w"
                                                                    : NULL,
                                               .casts = i == 0 ? casts : NULL};
        used += (size_t)snprintf(expected + used, sizeof expected - used, line, 56, "", says[i][0],
                                 says[i][1]);
    }
    snprintf(expected + used, sizeof expected - used,
             "    cast 'y' -> 'y_f32' float32\n"
             "7 nodes, 3 casts\n"
             "        2 float32   rule            a rule matched\n"
             "        1 bfloat16  rule            a rule matched\n"
             "        1 -         not-float       no float data\n"
             "        1 float32   runtime         a runtime of --target does not have it in the "
             "lower type\n"
             "        1 float32   weight-range    a constant is beyond the lower type's range\n"
             "        1 float32   value-range     a value is beyond the lower type's range\n");
    explanation.casts = &casts[1];
    explanation.n_casts = 3;
    FILE *file = open_memstream(&text, &size);
    amp_explanation_print(file, &explanation);
    assert_written(file, &text, expected);

    text = NULL;
    file = open_memstream(&text, &size);
    amp_explanation_print_json(file, &explanation);
    fclose(file);
    json_t *read = json_loads(text, 0, NULL);
    assert_non_null(read);
    assert_int_equal(json_array_size(json_object_get(read, "nodes")), 7);
    json_decref(read);
    assert_says(text, "  \"dtype\": \"bfloat16\",\n  \"rules\": [],\n  \"nodes\": [\n");
    assert_says(
        text,
        "    {\"name\": \"n\", \"output\": \"o\", \"domain\": \"\", \"op\": \"Op\", \"version\": "
        "13, \"composite\": {\"op\": \"softmax\", \"by\": \"note\", \"root\": \"r\"}, \"dtype\": "
        "\"bfloat16\", \"reason\": \"rule\", \"rule\": {\"precision\": \"lower\", \"file\": "
        "\"a.yaml\", \"line\": 15, \"torch\": \"conv2d\"}, \"constant\": null, \"casts\": "
        "[{\"input\": \"x\", \"output\": \"x_bf16\", \"dtype\": \"bfloat16\"}, {\"input\": \"y\", "
        "\"output\": \"y_f32\", \"dtype\": \"float32\"}]},\n");
    assert_says(text, "\"version\": null, ");
    assert_says(text, "\"rule\": {\"precision\": \"lower\", \"file\": \"a.yaml\", \"line\": 3, "
                      "\"torch\": null}, \"constant\": null, \"casts\": []},\n");
    assert_says(text,
                "\"composite\": null, \"dtype\": \"float32\", \"reason\": \"rule\", \"rule\": "
                "{\"precision\": \"fp32\", \"file\": \"command line\", \"line\": null, \"torch\": "
                "null}, ");
    assert_says(text,
                "\"reason\": \"value-range\", \"rule\": null, \"constant\": null, \"guard\": "
                "{\"value\": \"v\", \"number\": 70000.0, \"seen\": \"none\"}, \"casts\": []},");
    assert_says(text,
                "\"reason\": \"weight-range\", \"rule\": null, \"constant\": \"w\", \"casts\": "
                "[]},");
    assert_says(text, "\"rule\": null, \"constant\": null, \"lacks\": {\"runtime\": \"ort-cpu\", "
                      "\"op\": \"Conv\"}, \"casts\": []},");
    assert_says(text,
                "\"dtype\": null, \"reason\": \"not-float\", \"rule\": null, \"constant\": null, "
                "\"casts\": []}\n  ],\n  \"other_casts\": [{\"input\": \"y\",");
    assert_says(text,
                "\"casts\": 3,\n  \"reasons\": [{\"reason\": \"rule\", \"dtype\": \"float32\", "
                "\"nodes\": 2}, {\"reason\": \"rule\", \"dtype\": \"bfloat16\", \"nodes\": 1}, "
                "{\"reason\": \"not-float\", \"dtype\": null, \"nodes\": 1}, ");
    free(text);
    explanation.n_nodes = 1;
    explanation.n_casts = 1;
    explanation.casts = NULL;
    text = NULL;
    file = open_memstream(&text, &size);
    amp_explanation_print(file, &explanation);
    fclose(file);
    assert_says(text, "\n1 node, 1 cast\n        1 bfloat16  rule");
    free(text);
    /* What a pattern found is no operator of ATen's. */
    const struct amp_whole swish = {.composite = (const void *)wholes, .name = "Swish"};
    nodes[0].whole = &swish;
    text = NULL;
    file = open_memstream(&text, &size);
    amp_explanation_print(file, &explanation);
    fclose(file);
    assert_says(text, "rule of Swish lower a.yaml:15 conv2d\n");
    free(text);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Of one model a value, of two both; "-" and null where the second has none. */
static void tasks_are_of_one_model_or_of_two(void **state)
{
    struct amp_task tasks[] = {
        {.path = "t.npy",
         .name = "t",
         .scores = {{.count = 4, .squared = 4, .absolute = 2, .spread = 16}}},
        {.path = "l.npy",
         .name = "y",
         .scores = {{.rows = 8, .right = 2}, {.rows = 8, .right = 6}}}};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    amp_report_task(file, &tasks[1], false, false);
    amp_report_task(file, &tasks[1], true, true);
    amp_report_task(file, &tasks[0], false, true);
    assert_written(file, &text,
                   "  accuracy   25.00 % (2 of 8)\n"
                   "  accuracy   'y': 25.00 % (2 of 8) in fp32, 75.00 % (6 of 8) converted\n"
                   "  rmse       1 in fp32, - converted\n"
                   "  mae        0.5 in fp32, - converted\n"
                   "  r2         0.75 in fp32, - converted\n");
    assert_json(amp_json_accuracy(tasks, 2, false),
                "{\"rows\":8,\"right\":2,\"percent\":25.0,\"output\":\"y\"}");
    assert_json(amp_json_accuracy(tasks, 2, true),
                "{\"output\":\"y\",\"reference\":{\"rows\":8,\"right\":2,\"percent\":25.0},"
                "\"converted\":{\"rows\":8,\"right\":6,\"percent\":75.0}}");
    assert_null(amp_json_accuracy(tasks, 1, true));
    assert_null(amp_json_accuracy(tasks, 0, true));
    assert_json(amp_json_tasks(&tasks[1], 1, false),
                "[{\"output\":\"y\",\"labels\":\"l.npy\",\"metrics\":{\"accuracy\":0.25}}]");
    assert_json(
        amp_json_tasks(&tasks[1], 1, true),
        "[{\"output\":\"y\",\"labels\":\"l.npy\",\"metrics\":{\"accuracy\":{\"reference\":0.25,"
        "\"converted\":0.75,\"loss\":-0.5}},\"within\":true}]");
    text = amp_json_dump(amp_json_tasks(tasks, 1, true), JSON_COMPACT);
    assert_says(text, "{\"rmse\":{\"reference\":1.0,\"converted\":null,\"loss\":null},");
    free(text);
}

/* What a command said of each model: a score, or a verdict, with its reason. */
static void commands_have_verdicts(void **state)
{
    struct amp_eval_check check = {
        .eval = {.command = "c"},
        .outcomes = {{.verdict = AMP_EVAL_PASSED, .seconds = 1},
                     {.verdict = AMP_EVAL_FAILED, .seconds = 2, .reason = "exit code 3"}},
        .scores = {{.is_scored = true, .score = 4}},
        .is_outside = true,
        .reason = "it failed"};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    amp_report_eval(file, &check);
    assert_written(file, &text, "  eval       passed in fp32, failed converted: exit code 3\n");
    assert_json(amp_json_eval(&check),
                "{\"command\":\"c\",\"reference\":{\"verdict\":\"passed\",\"seconds\":1.0},"
                "\"converted\":{\"verdict\":\"failed\",\"seconds\":2.0,\"reason\":\"exit code 3\"},"
                "\"within\":false,\"reason\":\"it failed\"}");
    check.scores[1] = check.scores[0];
    check.scores[0].is_scored = false;
    check.is_outside = false;
    check.outcomes[0] = (struct amp_eval_outcome){.verdict = AMP_EVAL_SCORED, .score = 2.5};
    check.outcomes[1] = (struct amp_eval_outcome){.verdict = AMP_EVAL_UNSURE};
    text = NULL;
    file = open_memstream(&text, &size);
    amp_report_eval(file, &check);
    assert_written(file, &text, "  eval       2.5 in fp32, unsure converted\n");
    assert_json(amp_json_eval(&check),
                "{\"command\":\"c\",\"reference\":{\"verdict\":\"scored\",\"score\":2.5,"
                "\"seconds\":0.0},\"converted\":{\"verdict\":\"unsure\",\"seconds\":0.0},"
                "\"within\":true}");
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What JSON has no number, text or shape for has another form. */
static void values_have_their_forms(void **state)
{
    static const char *const texts[] = {"a", "\xff"};
    const struct amp_shape unknown = {.rank = -1}, scalar = {.rank = 0},
                           some = {.rank = 3, .dims = {2, -1, 0}};
    (void)state;
    json_t *array = json_array();
    const double numbers[] = {0, -1.5, (double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < AMP_COUNT(numbers); i++) {
        json_t *number = amp_json_number(numbers[i]);
        double again = amp_json_number_of(number);
        assert_true(isnan(numbers[i]) ? isnan(again) : again == numbers[i]);
        json_array_append_new(array, number);
        json_array_append_new(array, amp_json_number_or_null(numbers[i]));
    }
    json_t *null = json_null();
    assert_true(isnan(amp_json_number_of(null)) && isnan(amp_json_number_of(NULL)));
    json_array_append_new(array, amp_json_texts(texts, 2));
    json_array_append_new(array, amp_json_text_or_null(NULL));
    json_array_append_new(array, amp_json_text_or_null("b"));
    json_array_append_new(array, amp_json_dtype(AMP_UNDEFINED));
    json_array_append_new(array, amp_json_dtype(AMP_FLOAT16));
    json_array_append_new(array, amp_json_shape(&unknown));
    json_array_append_new(array, amp_json_shape(&scalar));
    json_array_append_new(array, amp_json_shape(&some));
    json_array_append_new(array, amp_json_pair("x", 1, "y", 2));
    assert_json(array, "[0.0,0.0,-1.5,-1.5,\"nan\",null,\"inf\",\"inf\",\"-inf\",\"-inf\","
                       "[\"a\",\"(not UTF-8)\"],null,\"b\",null,\"float16\",null,[],[2,null,0],"
                       "{\"x\":1,\"y\":2}]");
}

/* ---- selections ------------------------------------------------------------------------------ */

/* What an output is behind stands with it, and all selections in a list of their own. */
static void selections_are_json(void **state)
{
    struct sketch s = sketch();
    struct amp_output_check outputs[2];
    struct amp_task task;
    struct amp_eval_check eval;
    struct amp_validation validation = made_up(outputs, &task, &eval);
    struct amp_selection items[] = {{.node = 0, .items = {3, 4}, .larger = 10, .otherwise = 1}};
    (void)state;
    add_node(&s, "TopK", "a", AMP_NONE, AMP_NONE, AMP_FLOAT);
    validation.selections = (struct amp_selections){.model = s.model, .count = 1, .items = items};
    char *text = amp_json_dump(amp_json_validation(&validation), JSON_COMPACT);
    assert_says(text, "\"selections\":[{\"node\":\"TopK 'a'\",\"items\":{\"reference\":3,"
                      "\"converted\":4},\"larger\":10,\"otherwise\":1}],");
    assert_null(strstr(text, "given_selection"));
    free(text);
    validation.selections.count = 0;
    text = amp_json_dump(amp_json_validation(&validation), JSON_COMPACT);
    assert_null(strstr(text, "selections"));
    free(text);
    amp_arena_destroy(s.arena);
}

/* Bounds are told of where they decided on an output; outputs of nothing are empty, or what is said
   of them. */
static void bounds_that_decide_are_told(void **state)
{
    struct amp_output_check outputs[2] = {
        {.name = "y", .dtype = {AMP_FLOAT, AMP_FLOAT}, .shape = {.rank = 0}},
        {.name = "z",
         .dtype = {AMP_FLOAT, AMP_FLOAT},
         .shape = {.rank = 0},
         .metrics = metrics_of(100, 101)}};
    struct amp_validation validation = {.n_outputs = 1, .outputs = outputs};
    (void)state;
    for (size_t row = 0; amp_metric_at(row) != NULL; row++)
        validation.bounds.items[row] = strcmp(amp_metric_name_at(row), "snr") == 0 ? 20
                                       : strcmp(amp_metric_name_at(row), "cosine") == 0
                                           ? 0.5
                                           : (double)NAN;
    for (int i = 0; i < 5; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        snprintf(outputs[0].reason, sizeof outputs[0].reason, "%s", i == 1 ? "why" : "");
        outputs[0].is_outside = i == 1;
        outputs[1].is_given = i == 3;
        validation.n_outputs = i < 2 ? 1 : i == 4 ? 0 : 2;
        validation.is_within = i != 1;
        amp_report_validation(file, &validation, i > 1);
        assert_written(
            file, &text,
            i == 0   ? "  output     'y' float32 []: empty\n  verdict    within tolerance\n"
            : i == 1 ? "  output     'y' float32 []: why\n  verdict    outside tolerance\n"
            : i == 2 ? "  output     'y' float32 []: empty\n"
                       "  output     'z' float32 []: snr 40 dB, cosine 1, max abs error 1, mean "
                       "1, rmse 1, max rel error 0.01\n"
                       "  verdict    within tolerance (snr >= 20 dB, cosine >= 0.5)\n"
            : i == 3 ? "  output     'y' float32 []: empty\n"
                       "  output     'z' float32 []: on the reference's selection, snr 40 dB, "
                       "cosine 1, max abs error 1, mean 1, rmse 1, max rel error 0.01\n"
                       "  verdict    within tolerance (snr >= 20 dB, cosine >= 0.5)\n"
                     : "  verdict    within tolerance\n");
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Without a side in float32 there is no speed-up, without a product no share, without products no
   speed; what is 0 is a dash, or null. */
static void benches_have_lines(void **state)
{
    struct amp_bench_side sides[] = {{.dtype = AMP_BFLOAT16, .median = 0.5, .minimum = 0.25},
                                     {.dtype = AMP_FLOAT,
                                      .median = 1,
                                      .minimum = 0.75,
                                      .ratio = 0.5,
                                      .roofline = AMP_ROOFLINE_FLOPS / 1e11,
                                      .peak_bytes = 1500000,
                                      .widened = 2}};
    struct amp_bench bench = {.sides = sides, .n_sides = 1, .n_runs = 1};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    (void)state;
    amp_report_bench(file, "m.onnx", &bench);
    bench.n_sides = 2;
    bench.flops = AMP_ROOFLINE_FLOPS / 4;
    amp_report_bench(file, "a/b/m.onnx", &bench);
    char lines[1024], json[2048], speeds[2][16];
    snprintf(speeds[0], 16, "%.1f", AMP_ROOFLINE_FLOPS / 4 / 0.5 * 1e-9);
    snprintf(speeds[1], 16, "%.1f", AMP_ROOFLINE_FLOPS / 4 * 1e-9);
    snprintf(lines, sizeof lines,
             "m.onnx                    bf16    500.000    250.000        -        -              "
             "-            -\n"
             "m.onnx                    bf16    500.000    250.000     2.00 %8s              -"
             "            -\n"
             "m.onnx                    fp32   1000.000    750.000     1.00 %8s      50 of 100"
             "          1.5\n",
             speeds[0], speeds[1]);
    assert_written(file, &text, lines);
    bench.n_sides = 1;
    bench.flops = 0;
    snprintf(json, sizeof json,
             "{\"model\":\"m.onnx\",\"flops\":0.0,\"results\":[{\"dtype\":\"bf16\",\"median_ms\":"
             "500.0,\"min_ms\":250.0,\"speedup\":null,\"gflops\":0.0,\"roofline\":null,\"share\":"
             "null,\"peak_bytes\":0,\"widened_nodes\":0}]}");
    assert_json(amp_json_bench("m.onnx", &bench), json);
}

/* ---- rule sets ------------------------------------------------------------------------------- */

/* What RULES are as YAML, or what NAME may be, to be freed: what is printed to stdout meanwhile. */
static char *printed_of(const struct amp_rules *rules, bool is_resolved,
                        const struct amp_torch_name *name)
{
    struct amp_arena *arena = amp_arena_create();
    char *text = calloc(1, 1 << 16);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), file = open("rules.yaml", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(text != NULL && kept >= 0 && file >= 0);
    dup2(file, STDOUT_FILENO);
    if (name != NULL)
        amp_report_torch_name(arena, name);
    else
        amp_report_rules(arena, rules, is_resolved);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_true(pread(file, text, (1 << 16) - 1, 0) > 0);
    close(file);
    amp_arena_destroy(arena);
    return text;
}

static struct amp_rule_set empty_set = {.name = "s", .description = "", .dtypes = AMP_RULES_DTYPES};

static void assert_yaml(struct amp_rule *items, size_t count, bool is_resolved,
                        const char *expected)
{
    const struct amp_rules rules = {
        .items = items,
        .count = count,
        .unlisted = AMP_FP32,
        .bf16 = {.weight_max = 1.0 / 3, .activation_max = 1234567, .margin = 1},
        .fp16 = {.weight_max = 65504,
                 .activation_max = 0.1,
                 .margin = 1.5,
                 .flush_max = 1e-30,
                 .guards = AMP_GUARDS_OFF},
        .sets = &empty_set,
        .n_sets = 1};
    char *text = printed_of(&rules, is_resolved, NULL), whole[4096];
    snprintf(whole, sizeof whole,
             "version: 1\nname: s\ndtypes: [bf16, fp16]\nunlisted: fp32\nconstants: follow\n%s"
             "limits:\n  bf16: {weight_max: 0.3333333333333333, activation_max: 1234567, margin: "
             "1}\n  fp16: {weight_max: 65504, activation_max: 0.1, margin: 1.5, flush_max: 1e-30, "
             "guards: off}\n",
             expected);
    assert_string_equal(text, whole);
    free(text);
}

/* Lists break before what would reach beyond the hundredth column. */
static void lists_break_at_a_width(void **state)
{
    char words[3][128], expected[1024];
    struct amp_rule_op ops[] = {{.name = "A", .word = words[0]},
                                {.name = "B", .word = words[1]},
                                {.name = "C", .word = words[2]}};
    struct amp_rule rule = {
        .precision = AMP_LOWER, .source = {.file = "f.yaml", .line = 3}, .ops = ops, .n_ops = 3};
    (void)state;
    for (int width = 85; width <= 100; width++) {
        memset(words, 'w', sizeof words);
        words[0][width < 92 ? 40 : width] = words[1][width < 92 ? width - 40 : 30] = words[2][57] =
            '\0';
        bool fits = width <= 87;
        words[1][0] = 'v';
        snprintf(expected, sizeof expected,
                 "rules:\n  # f.yaml:3\n  - precision: lower\n    ops: [%s,%s%s,%s%s]\n", words[0],
                 fits ? " " : "\n          ", words[1],
                 fits || strlen(words[1]) > 30 ? "\n          " : " ", words[2]);
        assert_yaml(&rule, 1, false, expected);
    }
}

/* Words stand as they are where YAML reads them as strings; others in quotes, what is not shown
   escaped. */
static void words_are_quoted(void **state)
{
    static const char *const words[][2] = {{"a.b-c_d9", "a.b-c_d9"},
                                           {"null", "\"null\""},
                                           {"True", "\"True\""},
                                           {"false", "\"false\""},
                                           {"yes", "\"yes\""},
                                           {"NO", "\"NO\""},
                                           {"on", "\"on\""},
                                           {"off", "\"off\""},
                                           {"y", "\"y\""},
                                           {"N", "\"N\""},
                                           {"nulls", "nulls"},
                                           {"9a", "\"9a\""},
                                           {"_a", "\"_a\""},
                                           {"", "\"\""},
                                           {"a b", "\"a b\""},
                                           {"a/b", "\"a/b\""},
                                           {"\"q\\", "\"\\\"q\\\\\""},
                                           {"\xc3\xa4", "\"\xc3\xa4\""},
                                           {"\t\x01\x7f", "\"\\x09\\x01\\x7F\""},
                                           {"\xff!", "\"\\xFF!\""},
                                           {"\xc2\x85", "\"\\x85\""},
                                           {"\xef\xbb\xbf", "\"\\uFEFF\""},
                                           {"\xef\xbf\xbe\xef\xbf\xbf", "\"\\uFFFE\\uFFFF\""}};
    char expected[512];
    (void)state;
    for (size_t i = 0; i < AMP_COUNT(words); i++) {
        struct amp_rule_pattern pattern = {.text = words[i][0]};
        struct amp_rule rules[] = {{.precision = AMP_FP32,
                                    .dtypes = AMP_DTYPE_BIT(AMP_FLOAT16),
                                    .source = {.file = "f.yaml", .line = 3},
                                    .nodes = {.items = &pattern, .count = 1}},
                                   {.precision = AMP_FP32,
                                    .source = {.file = "f.yaml", .line = 4},
                                    .tensors = {.items = &pattern, .count = 1},
                                    .condition = {.contracts = true}}};
        snprintf(expected, sizeof expected,
                 "rules:\n  # f.yaml:3\n  - precision: fp32\n    dtypes: [fp16]\n    nodes: [%s]\n"
                 "  # f.yaml:4\n  - precision: fp32\n    tensors: [%s]\n    when:\n      %s: 1\n",
                 words[i][1], words[i][1], amp_rule_contracts_key);
        for (int is_resolved = 0; is_resolved < 2; is_resolved++)
            assert_yaml(rules, 2, is_resolved, expected);
    }
}

/* A set has rules where one is no comment alone. */
static void sets_without_rules_are_empty(void **state)
{
    struct amp_rule_op ops[] = {{.word = "gone", .is_torch = true, .line = 5, .reason = "why"},
                                {.name = "Conv", .domain = "", .word = "conv", .line = 6}};
    struct amp_rule rule = {
        .precision = AMP_LOWER, .source = {.file = "f.yaml", .line = 3}, .ops = ops, .n_ops = 1};
    (void)state;
    assert_yaml(NULL, 0, false, "rules: []\n");
    assert_yaml(NULL, 0, true, "rules: []\n");
    assert_yaml(&rule, 1, true, "rules: []\n  # f.yaml:5 gone: none; why\n");
    assert_yaml(&rule, 1, false, "rules:\n  # f.yaml:3\n  - precision: lower\n    ops: [gone]\n");
    ops[1].word = "gone";
    rule.n_ops = 2;
    assert_yaml(&rule, 1, false, "rules:\n  # f.yaml:3\n  - precision: lower\n    ops: [gone]\n");
    ops[1].word = "conv";
    assert_yaml(&rule, 1, false,
                "rules:\n  # f.yaml:3\n  - precision: lower\n    ops: [gone, conv]\n");
    assert_yaml(&rule, 1, true,
                "rules:\n  # f.yaml:5 gone: none; why\n  # f.yaml:6 conv\n  - precision: lower\n"
                "    ops: [Conv]\n");
}

/* The forms of a name are rules of their own, by what they ask for; where the rule asks for the
   same, the name stands as it is. */
static void forms_are_rules_of_their_own(void **state)
{
    struct amp_rule_scalar one[] = {{.text = "-1", .is_number = true}},
                           zeros[] = {{.text = "0", .is_number = true},
                                      {.text = "0", .is_number = true}},
                           mixed[] = {{.text = "1", .is_number = true}, {.text = "x y"}},
                           same[] = {{.text = "same"}};
    struct amp_rule_tuple single = {one, 1}, nested[] = {{zeros, 2}, {mixed, 2}}, word = {same, 1};
    struct amp_rule_when of_rule[] = {{"axis", false, &single, 1},
                                      {"pads of all", true, nested, 2}},
                         of_name[] = {{"mode", false, &word, 1}, {"axis", false, &single, 1}};
    int64_t ranks[] = {2, 3};
    const struct amp_rule_condition plain = {.when = of_name, .n_when = 1},
                                    alike = {.when = of_name, .n_when = 2},
                                    second = {.ranks = {{NULL, 0}, {ranks, 1}}},
                                    first = {.ranks = {{ranks, 2}, {NULL, 0}}},
                                    contracts = {.contracts = true};
    struct amp_rule_op ops[] = {
        {.domain = "", .name = "Conv", .word = "conv", .line = 5, .condition = &plain},
        {.domain = "", .name = "Gemm", .word = "conv", .line = 5, .condition = &plain},
        {.domain = "", .name = "Conv", .word = "conv", .line = 5, .condition = &alike},
        {.domain = "", .name = "Mul", .word = "mul", .line = 6, .condition = &second},
        {.domain = "", .name = "Add", .word = "add", .line = 6, .condition = &second},
        {.domain = "", .name = "Sub", .word = "sub", .line = 7, .condition = &first},
        {.domain = "", .name = "Div", .word = "div", .line = 8, .condition = &contracts},
        {.domain = "", .name = "Exp", .word = "exp", .line = 9}};
    struct amp_rule rule = {
        .precision = AMP_LOWER,
        .source = {.file = "f.yaml", .line = 3},
        .ops = ops,
        .n_ops = AMP_COUNT(ops),
        .condition = {.when = of_rule, .n_when = 2, .ranks = {{ranks, 2}, {NULL, 0}}}};
    static const char own[] = "    when:\n      axis: [-1]\n      \"pads of all\": [[0, 0], [1, "
                              "\"x y\"]]\n";
    char expected[4096];
    (void)state;
    snprintf(expected, sizeof expected,
             "rules:\n"
             "  # f.yaml:5 conv\n  - precision: lower\n    ops: [Conv, Gemm]\n%s      mode: "
             "[same]\n      %s: [2, 3]\n"
             "  # f.yaml:5 conv\n  - precision: lower\n    ops: [conv]\n%s      %s: [2, 3]\n"
             "  # f.yaml:6 mul\n  - precision: lower\n    ops: [Mul]\n%s      %s: [2, 3]\n"
             "      %s: [2]\n"
             "  # f.yaml:6 add\n  - precision: lower\n    ops: [Add]\n%s      %s: [2, 3]\n"
             "      %s: [2]\n"
             "  # f.yaml:7 sub\n  - precision: lower\n    ops: [sub]\n%s      %s: [2, 3]\n"
             "  # f.yaml:8 div\n  - precision: lower\n    ops: [Div]\n%s      %s: [2, 3]\n"
             "      %s: 1\n"
             "  # f.yaml:9 exp\n  - precision: lower\n    ops: [Exp]\n%s      %s: [2, 3]\n",
             own, amp_rule_rank_keys[0], own, amp_rule_rank_keys[0], own, amp_rule_rank_keys[0],
             amp_rule_rank_keys[1], own, amp_rule_rank_keys[0], amp_rule_rank_keys[1], own,
             amp_rule_rank_keys[0], own, amp_rule_rank_keys[0], amp_rule_contracts_key, own,
             amp_rule_rank_keys[0]);
    assert_yaml(&rule, 1, true, expected);
    rule.ops = &ops[6];
    rule.n_ops = 1;
    rule.condition = contracts;
    snprintf(expected, sizeof expected,
             "rules:\n  # f.yaml:8 div\n  - precision: lower\n    ops: [div]\n    when:\n      %s: "
             "1\n",
             amp_rule_contracts_key);
    assert_yaml(&rule, 1, true, expected);
    rule.ops = &ops[7];
    snprintf(expected, sizeof expected,
             "rules:\n  # f.yaml:9 exp\n  - precision: lower\n    ops: [Exp]\n    when:\n      %s: "
             "1\n",
             amp_rule_contracts_key);
    assert_yaml(&rule, 1, true, expected);
}

/* A name's forms, each with what it asks for. */
static void names_have_forms(void **state)
{
    struct amp_rule_scalar same[] = {{.text = "same"}}, one[] = {{.text = "1"}};
    struct amp_rule_tuple word = {same, 1}, single = {one, 1};
    struct amp_rule_when when[] = {{"mode", false, &word, 1}, {"axis", false, &single, 1}};
    int64_t ranks[] = {2, 3};
    const struct amp_rule_condition conditions[] = {
        {.when = when, .n_when = 2, .ranks = {{ranks, 2}, {ranks, 1}}, .contracts = true},
        {.ranks = {{NULL, 0}, {ranks, 2}}},
        {.contracts = true}};
    struct amp_rule_op forms[] = {{.domain = "", .name = "Conv", .condition = &conditions[0]},
                                  {.domain = "", .name = "Gemm", .condition = &conditions[1]},
                                  {.domain = "", .name = "Mul", .condition = &conditions[2]},
                                  {.domain = "", .name = "Add"},
                                  {.reason = "why"}};
    struct amp_torch_name name = {.name = "conv2d", .forms = {.items = forms, .count = 5}};
    char expected[512];
    (void)state;
    char *text = printed_of(NULL, false, &name);
    snprintf(expected, sizeof expected,
             "%-34s %-12s Conv {mode=same, axis=1, %s=2|3, %s=2, %s=1}, Gemm {%s=2|3}, Mul {%s=1}, "
             "Add, why\n",
             "conv2d", amp_torch_kind_name(amp_torch_kind(&name)), amp_rule_rank_keys[0],
             amp_rule_rank_keys[1], amp_rule_contracts_key, amp_rule_rank_keys[1],
             amp_rule_contracts_key);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- training -------------------------------------------------------------------------------- */

/* All steps of training, and one as a line. */
static void training_is_json(void **state)
{
    double loss[] = {2.5, 1.25}, scale[] = {8, 4};
    struct amp_train_series series[] = {{"loss", 0, loss}, {"scale", 1, scale}};
    struct amp_training_result result = {.model_path = "m",
                                         .history = {.series = series,
                                                     .n_series = 2,
                                                     .n_steps = 2,
                                                     .seconds = 0.25,
                                                     .peak_bytes = 3000},
                                         .n_variables = 4};
    const struct amp_input_notes none = {.model = NULL};
    char expected[1024];
    (void)state;
    for (int i = 0; i < 2; i++) {
        result.output = i == 0 ? NULL : "o";
        snprintf(expected, sizeof expected,
                 "{\"tool\":{\"name\":\"ampconv\",\"version\":\"%s\"},\"report\":\"training\","
                 "\"exit_code\":0,\"model\":\"m\",\"output\":%s,\"inputs\":[],\"steps\":2,"
                 "\"variables\":4,\"series\":[{\"name\":\"loss\",\"first\":2.5,\"last\":1.25,"
                 "\"values\":[2.5,1.25]},{\"name\":\"scale\",\"first\":8.0,\"last\":4.0,"
                 "\"values\":[8.0,4.0]}],\"seconds\":0.25,\"peak_bytes\":3000}",
                 AMP_VERSION, i == 0 ? "null" : "\"o\"");
        assert_json(amp_json_training(&result, &none), expected);
    }
    assert_json(amp_json_training_step(&result.history),
                "{\"step\":2,\"loss\":1.25,\"scale\":4.0}");
}

/* ---- notes on inputs ------------------------------------------------------------------------- */

/* Inputs as JSON: the constant ones are none, what was drawn has its kind and its range. */
static void inputs_are_json(void **state)
{
    struct sketch s = sketch();
    (void)state;
    for (int i = 0; i < 4; i++)
        add_input(&s, "x");
    struct amp_input_notes notes = amp_input_notes_create(s.model);
    amp_input_notes_set(&notes, 0, &(struct amp_input_note){.shape = {.rank = 0}}, "a.npy");
    amp_input_notes_set(&notes, 2,
                        &(struct amp_input_note){.shape = {.rank = 1, .dims = {2}}, .kind = "k"},
                        "seed");
    amp_input_notes_set(
        &notes, 3,
        &(struct amp_input_note){.shape = {.rank = 0}, .has_range = true, .low = -1, .high = 2},
        "seed");
    assert_json(amp_json_inputs(&notes),
                "[{\"name\":\"x\",\"source\":\"'x' float32 []: a.npy\",\"shape\":[]},"
                "{\"name\":\"x\",\"source\":\"'x' float32 [2]: seed\",\"shape\":[2],\"kind\":"
                "\"k\"},{\"name\":\"x\",\"source\":\"'x' float32 []: seed\",\"shape\":[],\"low\":"
                "-1.0,\"high\":2.0}]");
    amp_input_notes_destroy(&notes);
    assert_json(amp_json_inputs(&notes), "[]");
    amp_arena_destroy(s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_stands_under_its_name),
        cmocka_unit_test(what_is_unchanged_is_called_so),
        cmocka_unit_test(a_conversion_says_what_there_is),
        cmocka_unit_test(nodes_kept_are_named),
        cmocka_unit_test(runtimes_say_what_they_lack),
        cmocka_unit_test(a_conversion_is_json),
        cmocka_unit_test(nodes_kept_are_those_that_could_be_lower),
        cmocka_unit_test(what_runtimes_lack_stands_behind_them),
        cmocka_unit_test(a_newer_opset_keeps_a_model_from_a_runtime),
        cmocka_unit_test(inputs_are_told_to_those_who_ask),
        cmocka_unit_test(selections_that_differ_are_told),
        cmocka_unit_test(models_have_a_line_each),
        cmocka_unit_test(errors_of_layers_have_their_forms),
        cmocka_unit_test(layers_that_stand_out_are_listed),
        cmocka_unit_test(marks_of_layers_have_lines),
        cmocka_unit_test(layers_are_json),
        cmocka_unit_test(metrics_have_their_words),
        cmocka_unit_test(nodes_are_explained),
        cmocka_unit_test(tasks_are_of_one_model_or_of_two),
        cmocka_unit_test(commands_have_verdicts),
        cmocka_unit_test(values_have_their_forms),
        cmocka_unit_test(selections_are_json),
        cmocka_unit_test(bounds_that_decide_are_told),
        cmocka_unit_test(benches_have_lines),
        cmocka_unit_test(lists_break_at_a_width),
        cmocka_unit_test(words_are_quoted),
        cmocka_unit_test(sets_without_rules_are_empty),
        cmocka_unit_test(forms_are_rules_of_their_own),
        cmocka_unit_test(names_have_forms),
        cmocka_unit_test(training_is_json),
        cmocka_unit_test(inputs_are_json),
    };

    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
