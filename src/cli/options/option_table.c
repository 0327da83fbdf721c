/*
 * The table of options and the table of commands, as data: what the parser (command_line.c) reads
 * and the help (help.c) prints. Says of no option what its value means.
 */
#include "cli/options/option_table.h"

#include "core/array.h"

#include <string.h>

#define AT(field) offsetof(struct amp_options, field)
#define RUNS_MODELS (REPORTS | AMP_CMD_CALIBRATE | AMP_CMD_TRAIN)
#define REPORTS (AMP_CMD_CONVERT | AMP_CMD_RUN | AMP_CMD_BENCH | AMP_CMD_COMPARE)
#define ALL (RUNS_MODELS | AMP_CMD_RULES)
#define VALIDATES (AMP_CMD_CONVERT | AMP_CMD_RUN | AMP_CMD_COMPARE)
#define LOWERS (AMP_CMD_CONVERT | AMP_CMD_BENCH | AMP_CMD_COMPARE)
#define CONVERTS (AMP_CMD_CONVERT | AMP_CMD_COMPARE)

static const struct amp_option option_table[] = {
    {"dtype", 'd', "DTYPE", AMP_OPTION_TEXT, AT(dtype), CONVERTS | AMP_CMD_RULES,
     AMP_GROUP_CONVERSION,
     "the lower dtype: bf16, fp16, or bf16,fp16; fp32 raises a model of 16 bits [default: bf16]"},
    {"opset", 0, "OPSET", AMP_OPTION_TEXT, AT(opset), CONVERTS, AMP_GROUP_CONVERSION,
     "auto (as far as needed), keep, or the number to raise to [default: auto]"},
    {"io", 0, "[NAME=]WHAT", AMP_OPTION_LIST, AT(io), CONVERTS, AMP_GROUP_CONVERSION,
     "keep or lower the graph's float inputs and outputs; repeatable [default: keep]"},
    {"cast-cache", 0, "WHAT", AMP_OPTION_TEXT, AT(cast_cache), CONVERTS, AMP_GROUP_CONVERSION,
     "on: one Cast per tensor and dtype; off: one per use [default: on]"},
    {"grad-scaler", 0, "WHAT", AMP_OPTION_TEXT, AT(grad_scaler), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION,
     "scale the gradients of training_info: on, off, or init_scale=, growth_factor=, "
     "backoff_factor=, growth_interval= with commas between [default: on for fp16]"},
    {"target", 0, "RUNTIME", AMP_OPTION_LIST, AT(runtimes), AMP_CMD_CONVERT, AMP_GROUP_CONVERSION,
     "lower only what it has in the dtype: {runtimes}; repeatable: all of them"},
    {"output", 'o', "OUT", AMP_OPTION_OUTPUT, AT(output), AMP_CMD_CONVERT, AMP_GROUP_CONVERSION,
     "the converted model; - is stdout [default: beside MODEL, as NAME.DTYPE.onnx]"},
    {"force", 'f', NULL, AMP_OPTION_FLAG, AT(is_forced), AMP_CMD_CONVERT, AMP_GROUP_CONVERSION,
     "overwrite the default output, or MODEL itself where OUT is that"},
    {"accept", 0, NULL, AMP_OPTION_FLAG, AT(is_accepted), AMP_CMD_CONVERT, AMP_GROUP_CONVERSION,
     "write the model even outside the tolerance; the exit code stays 1"},
    {"output-dir", 0, "DIR", AMP_OPTION_FOLDER, AT(output_dir), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION,
     "several MODELs, or folders of them: what they become, under the default names"},
    {"no-validate", 0, NULL, AMP_OPTION_FLAG, AT(no_validate), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION, "do not run the models, only convert"},
    {"explain", 0, "[=FORMAT]", AMP_OPTION_FORMAT, AT(explain), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION,
     "print each node's precision, reason and casts as text or json, or the noise by source: where "
     "the error comes from [default: text]"},
    {"list", 0, NULL, AMP_OPTION_FLAG, AT(is_listed), AMP_CMD_CONVERT, AMP_GROUP_CONVERSION,
     "print that and stop: nothing is converted, run or written"},
    {"external-data", 0, "FILE", AMP_OPTION_TEXT, AT(external_data), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION,
     "tensor data go to FILE beside OUT [default: OUT.data, above 2 GB or if MODEL's do]"},
    {"external-threshold", 0, "BYTES", AMP_OPTION_NUMBER, AT(external_threshold), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION, "initializers of that size or more go there [default: 1024]"},
    {"inline", 0, NULL, AMP_OPTION_FLAG, AT(is_inline), AMP_CMD_CONVERT, AMP_GROUP_CONVERSION,
     "no file for tensor data, even if MODEL has one"},
    {"no-metadata", 0, NULL, AMP_OPTION_FLAG, AT(no_metadata), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION, "do not say in the model what converted it"},
    {"dump-after", 0, "STAGE", AMP_OPTION_TEXT, AT(dump_after), AMP_CMD_CONVERT,
     AMP_GROUP_CONVERSION,
     "print the graph after read, infer, opset, assign, insert or fold, and stop"},

    {"rules", 'r', "NAME|FILE", AMP_OPTION_LIST, AT(rules), LOWERS, AMP_GROUP_RULES,
     "a rule set; repeatable, later ones win [default: torch-cpu, torch-cuda for fp16]"},
    {"node", 0, "PATTERN=PRECISION", AMP_OPTION_LIST, AT(node_rules), LOWERS, AMP_GROUP_RULES,
     "lower, fp32, widest, follow, infer or clear for nodes whose name matches the glob"},
    {"op", 0, "OP=PRECISION", AMP_OPTION_LIST, AT(op_rules), LOWERS, AMP_GROUP_RULES,
     "the same for all nodes of an operator"},
    {"lower-ops", 0, "FILE", AMP_OPTION_LIST, AT(lower_ops), LOWERS, AMP_GROUP_RULES,
     "operators to lower, a name per line, # for comments"},
    {"fp32-ops", 0, "FILE", AMP_OPTION_LIST, AT(fp32_ops), LOWERS, AMP_GROUP_RULES,
     "operators to run in float32"},
    {"strict-rules", 0, NULL, AMP_OPTION_FLAG, AT(is_strict_rules), LOWERS, AMP_GROUP_RULES,
     "a rule of your own that matches no node is an error, not a warning"},
    {"resolved", 0, NULL, AMP_OPTION_FLAG, AT(is_resolved), AMP_CMD_RULES, AMP_GROUP_RULES,
     "print the set with ONNX's operators in place of PyTorch's names"},
    {"check", 0, NULL, AMP_OPTION_FLAG, AT(checks), AMP_CMD_RULES, AMP_GROUP_RULES,
     "find rules of the set that can have no effect, or have none on MODEL; exit code 3 if there "
     "are"},
    {"diff", 0, NULL, AMP_OPTION_FLAG, AT(diffs), AMP_CMD_RULES, AMP_GROUP_RULES,
     "which nodes of a model two sets have differ: ampconv rules --diff A B MODEL"},
    {"names", 0, NULL, AMP_OPTION_FLAG, AT(names), AMP_CMD_RULES, AMP_GROUP_RULES,
     "list PyTorch's names and what they are in ONNX"},

    {"input", 'i', "NAME=FILE", AMP_OPTION_LIST, AT(inputs), RUNS_MODELS, AMP_GROUP_DATA,
     "a graph input from a .npy or .pb file; repeatable"},
    {"data", 0, "PATH", AMP_OPTION_LIST, AT(data), RUNS_MODELS, AMP_GROUP_DATA,
     "samples: a .npz or .npy file, or a folder of those or of test_data_set_N; repeatable"},
    {"samples", 0, "N", AMP_OPTION_NUMBER, AT(samples),
     VALIDATES | AMP_CMD_CALIBRATE | AMP_CMD_TRAIN, AMP_GROUP_DATA,
     "how many samples: of --data, or random ones [default: all of --data, else 1]"},
    {"seed", 0, "N", AMP_OPTION_NUMBER, AT(seed), RUNS_MODELS, AMP_GROUP_DATA,
     "seed of random inputs [default: 0]"},
    {"dim", 0, "NAME=N", AMP_OPTION_LIST, AT(dims), RUNS_MODELS, AMP_GROUP_DATA,
     "the size of a symbolic dimension [default: 1, or what the model needs]"},
    {"input-shape", 0, "NAME=SHAPE", AMP_OPTION_LIST, AT(shapes), RUNS_MODELS, AMP_GROUP_DATA,
     "the shape of a random input, as image=1,3,224,224; repeatable"},
    {"input-range", 0, "NAME=LO,HI", AMP_OPTION_LIST, AT(ranges_of_inputs), RUNS_MODELS,
     AMP_GROUP_DATA, "random numbers from LO to HI for an input; repeatable"},
    {"labels", 0, "[NAME=]FILE", AMP_OPTION_LIST, AT(labels), AMP_CMD_TRAIN, AMP_GROUP_DATA,
     "targets (.npy), a row for each row of --data, for an input [default: the algorithm's own]"},
    {"labels", 0, "[NAME=]FILE", AMP_OPTION_LIST, AT(labels), VALIDATES, AMP_GROUP_DATA,
     "class numbers or targets (.npy) of the samples, for an output: report each model's accuracy"},
    {"eval", 0, "CMD", AMP_OPTION_TEXT, AT(eval), AMP_CMD_CONVERT, AMP_GROUP_DATA,
     "a shell command that judges the model in {}: its exit code, and the last line as a score"},
    {"eval-lower", 0, NULL, AMP_OPTION_FLAG, AT(is_eval_lower), AMP_CMD_CONVERT, AMP_GROUP_DATA,
     "a lower score is better"},
    {"eval-timeout", 0, "SECONDS", AMP_OPTION_NUMBER, AT(eval_timeout), AMP_CMD_CONVERT,
     AMP_GROUP_DATA, "how long a run of the command may take [default: 0, no limit]"},
    {"eval-reference", 0, "SCORE", AMP_OPTION_TEXT, AT(eval_reference), AMP_CMD_CONVERT,
     AMP_GROUP_DATA,
     "what it says of MODEL as it is, or passed: it is not run on that [default: run]"},
    {"tolerance", 't', "METRIC=VALUE", AMP_OPTION_LIST, AT(tolerances), VALIDATES, AMP_GROUP_DATA,
     "a bound on {metrics}; on what it costs: {task-bounds}; run: rtol, atol"},

    {"max-memory", 0, "SIZE", AMP_OPTION_SIZE, AT(max_memory), RUNS_MODELS, AMP_GROUP_DATA,
     "what tensors and graphs may take, as 500M or 4G [default: what the machine has]"},

    {"ranges", 0, "FILE", AMP_OPTION_TEXT, AT(ranges), CONVERTS, AMP_GROUP_RANGES,
     "what ampconv calibrate wrote of MODEL [default: fp16 looks for itself]"},
    {"output", 'o', "FILE", AMP_OPTION_OUTPUT, AT(output), AMP_CMD_CALIBRATE, AMP_GROUP_RANGES,
     "the file of ranges, JSON [default: stdout]"},

    {"tune", 0, NULL, AMP_OPTION_FLAG, AT(is_tuned), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "keep in float32 what it takes to be within the tolerance, at the least loss, found by runs"},
    {"target", 0, "METRIC>=VALUE", AMP_OPTION_LIST, AT(targets), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "a bound as --tolerance sets it, in the direction of its metric, <= or >=; repeatable"},
    {"max-drop", 0, "BOUND", AMP_OPTION_TEXT, AT(max_drop), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "how much the score of --labels or --eval may drop, as 1%"},
    {"tune-for", 0, "WHAT", AMP_OPTION_TEXT, AT(tune_for), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "what is not to be lost: time, bytes or nodes [default: time]"},
    {"max-trials", 0, "N", AMP_OPTION_NUMBER, AT(max_trials), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "candidates that may be run; 0 is no limit [default: 20]"},
    {"strategy", 0, "NAME", AMP_OPTION_TEXT, AT(strategy), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "how to search: {strategies} [default: min-cut]"},
    {"costs", 0, "FILE", AMP_OPTION_TEXT, AT(costs), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "what nodes cost on another machine, JSON [default: measured here]"},
    {"costs-out", 0, "FILE", AMP_OPTION_OUTPUT, AT(costs_out), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "write what nodes cost on this machine, for --costs on another"},
    {"trials-via", 0, "COMMAND", AMP_OPTION_TEXT, AT(trials_via), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "have it run the candidates: a shell command a line in the file {}, else in its stdin"},
    {"rules-out", 0, "FILE", AMP_OPTION_OUTPUT, AT(rules_out), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "write the answer as a rule file, which gives the same model without a search"},
    {"tune-log", 0, "FILE", AMP_OPTION_LOG, AT(tune_log), AMP_CMD_CONVERT, AMP_GROUP_TUNING,
     "write each candidate there, JSON lines; a search that was cut off goes on from it"},

    {"output-dir", 0, "DIR", AMP_OPTION_FOLDER, AT(output_dir), AMP_CMD_RUN, AMP_GROUP_RUNNING,
     "write the outputs there, one file each"},
    {"format", 0, "FORMAT", AMP_OPTION_TEXT, AT(format), AMP_CMD_RUN, AMP_GROUP_RUNNING,
     "of the outputs: npy or pb [default: npy]"},
    {"expect", 0, "DIR", AMP_OPTION_TEXT, AT(expect), AMP_CMD_RUN, AMP_GROUP_RUNNING,
     "compare with the output_K.pb, .npy or .npz files there; exit 1 on mismatch"},
    {"test-suite", 0, "DIR", AMP_OPTION_TEXT, AT(test_suite), AMP_CMD_RUN, AMP_GROUP_RUNNING,
     "run each folder of DIR as an ONNX backend test case"},
    {"filter", 0, "GLOB", AMP_OPTION_TEXT, AT(filter), AMP_CMD_RUN, AMP_GROUP_RUNNING,
     "only the cases of --test-suite with such names"},
    {"list-ops", 0, NULL, AMP_OPTION_FLAG, AT(lists_ops), AMP_CMD_RUN, AMP_GROUP_RUNNING,
     "list the operators: versions, types, and how they run; no MODEL is read"},
    {"strict", 0, NULL, AMP_OPTION_FLAG, AT(is_strict), AMP_CMD_RUN | AMP_CMD_BENCH | AMP_CMD_TRAIN,
     AMP_GROUP_RUNNING, "compute and round node by node, as the model is written"},

    {"dtype", 'd', "LIST", AMP_OPTION_TEXT, AT(dtype), AMP_CMD_BENCH, AMP_GROUP_TIMING,
     "dtypes to time, with commas between them [default: fp32,bf16,fp16]"},
    {"runs", 0, "N", AMP_OPTION_NUMBER, AT(runs), AMP_CMD_BENCH, AMP_GROUP_TIMING,
     "timed runs of every model and dtype [default: 20]"},
    {"profile", 0, NULL, AMP_OPTION_FLAG, AT(is_profiled), AMP_CMD_BENCH, AMP_GROUP_TIMING,
     "print the time by operator, node and oneDNN primitive"},

    {"layers", 0, NULL, AMP_OPTION_FLAG, AT(has_layers), AMP_CMD_COMPARE, AMP_GROUP_COMPARING,
     "compare what the models have in common, node by node, not only their outputs"},
    {"sort", 0, "ORDER", AMP_OPTION_TEXT, AT(sort), AMP_CMD_COMPARE, AMP_GROUP_COMPARING,
     "of the layers: graph, or by error, local or accumulated [default: graph]"},
    {"lines", 0, "N", AMP_OPTION_NUMBER, AT(lines), AMP_CMD_COMPARE, AMP_GROUP_COMPARING,
     "how many layers are listed [default: the notable ones; -v: all]"},

    {"steps", 0, "N", AMP_OPTION_NUMBER, AT(steps), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "how many steps, a sample each, over and over [default: every sample once]"},
    {"epochs", 0, "N", AMP_OPTION_NUMBER, AT(epochs), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "how many times every sample"},
    {"batch", 0, "N", AMP_OPTION_NUMBER, AT(batch), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "rows of --data in a step, in an order that --seed shuffles [default: a sample as it is]"},
    {"make-training", 0, "LIST", AMP_OPTION_TEXT, AT(recipe), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "give a model without training_info one: loss= {losses}; optimizer= {optimizers}; lr=, "
     "weight_decay=, with commas between them [default: "
     "loss=cross_entropy,optimizer=adam,lr=1e-3]"},
    {"train", 0, "GLOB", AMP_OPTION_TEXT, AT(trained), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "the initializers that it trains [default: all of float32 with several elements]"},
    {"resume", 0, NULL, AMP_OPTION_FLAG, AT(is_resumed), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "go on from the initializers as they are: the initialization is not run"},
    {"expand", 0, NULL, AMP_OPTION_FLAG, AT(is_expanded), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "write a step as a graph of plain operators to OUT, for any runtime: nothing is trained"},
    {"log", 0, "FILE", AMP_OPTION_OUTPUT, AT(log), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "write the numbers that each step gives out, JSON lines; - is stdout"},
    {"output", 'o', "OUT", AMP_OPTION_OUTPUT, AT(output), AMP_CMD_TRAIN, AMP_GROUP_TRAINING,
     "the model with what it has learnt [default: none is written]"},

    {"json", 0, "[=FILE]", AMP_OPTION_REPORT, AT(json), REPORTS | AMP_CMD_TRAIN, AMP_GROUP_TALK,
     "write the report as JSON; --json NAME.json is right too [default: stdout]"},
    {"report", 0, "FILE", AMP_OPTION_OUTPUT, AT(report), REPORTS | AMP_CMD_TRAIN, AMP_GROUP_TALK,
     "write a report with pictures, one file of HTML that needs no other; - is stdout"},
    {"threads", 0, "N", AMP_OPTION_NUMBER, AT(threads), RUNS_MODELS, AMP_GROUP_TALK,
     "threads to compute with [default: OMP_NUM_THREADS, else the cores it may use]"},
    {"jobs", 'j', "N", AMP_OPTION_NUMBER, AT(jobs), AMP_CMD_CONVERT, AMP_GROUP_TALK,
     "run that many at a time, each a process of its own: models of --output-dir [default: as many "
     "as there are cores], or candidates of --tune [default: 1, and none]"},
    {"quiet", 'q', NULL, AMP_OPTION_FLAG, AT(is_quiet), ALL, AMP_GROUP_TALK, "errors only"},
    {"verbose", 'v', NULL, AMP_OPTION_COUNT, AT(verbosity), REPORTS | AMP_CMD_TRAIN, AMP_GROUP_TALK,
     "say more: -v notes per reason and output, -vv per node"},
    {"help", 'h', NULL, AMP_OPTION_FLAG, AT(wants_help), ALL | AMP_CMD_COMPLETION, AMP_GROUP_TALK,
     "print this help"},
    {"version", 'V', NULL, AMP_OPTION_FLAG, AT(wants_version), ALL, AMP_GROUP_TALK,
     "print the version, oneDNN's, and what this CPU computes natively"},
};

static const struct amp_command_words commands[] = {
    {NULL, AMP_CMD_CONVERT, ALL,
     "Usage: ampconv MODEL [--dtype bf16|fp16] [-o OUT] [options]   convert a model\n"
     "       ampconv MODEL... --output-dir DIR [options]            convert several\n"
     "       ampconv run MODEL [options]                            run a model\n"
     "       ampconv compare REF MODEL [--layers] [options]         compare two models\n"
     "       ampconv bench MODEL... [options]                       time models\n"
     "       ampconv calibrate MODEL [options]                      ranges of a model's values\n"
     "       ampconv train MODEL [options]                          run training steps\n"
     "       ampconv rules [NAME]                                   list or print rule sets\n"
     "       ampconv completion bash|zsh|fish                       what a shell completes by\n"
     "       ampconv help [COMMAND]                                 what a command takes\n"
     "\n"
     "Converts an ONNX model to mixed precision by autocast rules, runs both models with\n"
     "oneDNN and writes the result when it is within tolerance. MODEL - is stdin.\n"
     "\n"
     "Examples:\n"
     "  ampconv model.onnx --dtype bf16 -o model.bf16.onnx\n"
     "  cat model.onnx | ampconv - -d fp16 -o - | ampconv run - --input x=x.npy\n"},
    {"convert", AMP_CMD_CONVERT, AMP_CMD_CONVERT,
     "Usage: ampconv [convert] MODEL [--dtype bf16|fp16] [-o OUT] [options]\n"
     "\n"
     "Converts an ONNX model to mixed precision by autocast rules, runs both models with\n"
     "oneDNN and writes the result when it is within tolerance. MODEL - is stdin.\n"
     "\n"
     "Examples:\n"
     "  ampconv model.onnx --dtype bf16 -o model.bf16.onnx\n"
     "  ampconv model.onnx -d fp16 --data samples --tolerance snr=40 --report report.html\n"},
    {"run", AMP_CMD_RUN, AMP_CMD_RUN,
     "Usage: ampconv run MODEL [options]\n"
     "\n"
     "Runs an ONNX model with oneDNN on given or random inputs and reports on its outputs.\n"
     "MODEL - is stdin.\n"
     "\n"
     "Examples:\n"
     "  ampconv run model.onnx --input x=x.npy --output-dir outputs\n"
     "  ampconv run model.onnx --data samples --labels labels.npy\n"},
    {"compare", AMP_CMD_COMPARE, AMP_CMD_COMPARE,
     "Usage: ampconv compare REF MODEL [--layers] [options]   compare two models\n"
     "       ampconv compare REF --dtype bf16|fp16 [--layers] [options]\n"
     "\n"
     "Runs two ONNX models, or one and its conversion, on the same inputs, and says how far\n"
     "apart their outputs are; with --layers also what lies between, and which node is at fault.\n"
     "\n"
     "Examples:\n"
     "  ampconv compare model.onnx model.bf16.onnx\n"
     "  ampconv compare model.onnx --dtype fp16 --layers --sort local\n"},
    {"bench", AMP_CMD_BENCH, AMP_CMD_BENCH,
     "Usage: ampconv bench MODEL... [options]\n"
     "\n"
     "Times ONNX models as they are and in lower precision, in turns, on random or given inputs.\n"
     "\n"
     "Examples:\n"
     "  ampconv bench model.onnx\n"
     "  ampconv bench model.onnx --dtype fp32,bf16 --dim batch=8 --profile\n"},
    {"calibrate", AMP_CMD_CALIBRATE, AMP_CMD_CALIBRATE,
     "Usage: ampconv calibrate MODEL [options]\n"
     "\n"
     "Runs an ONNX model on given or random inputs and writes the range of every value, with\n"
     "bounds that hold whatever the inputs are.\n"
     "\n"
     "Examples:\n"
     "  ampconv calibrate model.onnx --data samples -o ranges.json\n"
     "  ampconv model.onnx -d fp16 --ranges ranges.json\n"},
    {"train", AMP_CMD_TRAIN, AMP_CMD_TRAIN,
     "Usage: ampconv train MODEL [options]\n"
     "\n"
     "Runs the steps that the training_info of an ONNX model describes and writes the model with\n"
     "the initializers that come of them.\n"
     "\n"
     "Examples:\n"
     "  ampconv train model.onnx --data batches --epochs 10 -o trained.onnx\n"
     "  ampconv train trained.onnx --data batches --resume --log steps.jsonl\n"},
    {"rules", AMP_CMD_RULES, AMP_CMD_RULES,
     "Usage: ampconv rules [NAME|FILE] [options]\n"
     "       ampconv rules --check NAME|FILE [MODEL]\n"
     "       ampconv rules --diff A B MODEL\n"
     "\n"
     "Lists the rule sets that come with the program, or prints one as it is resolved.\n"
     "\n"
     "Examples:\n"
     "  ampconv rules\n"
     "  ampconv rules torch-cpu\n"
     "  ampconv rules --diff torch-cpu torch-cuda model.onnx\n"},
    {"completion", AMP_CMD_COMPLETION, AMP_CMD_COMPLETION,
     "Usage: ampconv completion bash|zsh|fish\n"
     "\n"
     "Prints the script by which a shell completes options and their values.\n"
     "\n"
     "Examples:\n"
     "  source <(ampconv completion bash)\n"
     "  ampconv completion fish >~/.config/fish/completions/ampconv.fish\n"},
};

const struct amp_option *amp_option_at(size_t i)
{
    return i < AMP_COUNT(option_table) ? &option_table[i] : NULL;
}

bool amp_option_makes_model(const struct amp_option *option)
{
    static const char *const names[] = {"dtype",      "opset",       "io",
                                        "cast-cache", "grad-scaler", "target"};
    for (size_t i = 0; i < AMP_COUNT(names); i++)
        if (option->group == AMP_GROUP_CONVERSION && strcmp(option->name, names[i]) == 0)
            return true;
    return false;
}

const char *amp_option_name_at(size_t i)
{
    return i < AMP_COUNT(option_table) ? option_table[i].name : NULL;
}

const struct amp_option *amp_option_find(const char *name, size_t length, enum amp_command command)
{
    const struct amp_option *found = NULL;
    for (size_t i = 0; i < AMP_COUNT(option_table); i++) {
        const struct amp_option *option = &option_table[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0 &&
            (found == NULL || (option->commands & command)))
            found = option;
    }
    return found;
}

/* Whether TEXT, a value or the form of one, is a comparison. */
static bool is_comparison(const char *text)
{
    return strpbrk(text, "<>=") != NULL;
}

const struct amp_option *amp_option_for_value(const struct amp_option *option, const char *value)
{
    for (size_t i = 0; i < AMP_COUNT(option_table); i++) {
        const struct amp_option *other = &option_table[i];
        if (strcmp(other->name, option->name) == 0 && (other->commands & option->commands) &&
            is_comparison(other->argument) == is_comparison(value))
            return other;
    }
    return option;
}

const struct amp_option *amp_option_find_letter(char letter, enum amp_command command)
{
    for (size_t i = 0; i < AMP_COUNT(option_table); i++)
        if (option_table[i].letter == letter)
            return amp_option_find(option_table[i].name, strlen(option_table[i].name), command);
    return NULL;
}

const struct amp_command_words *amp_command_find(const char *name)
{
    for (size_t i = 0; i < AMP_COUNT(commands); i++)
        if (commands[i].name != NULL && strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

const struct amp_command_words *amp_command_words_at(size_t i)
{
    return i < AMP_COUNT(commands) ? &commands[i] : NULL;
}
