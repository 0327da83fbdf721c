#ifndef AMP_CLI_CONVERT_H
#define AMP_CLI_CONVERT_H

#include "cli/options/options.h"
#include "onnx/file/read.h"

/* `ampconv MODEL`: converts a model, runs it beside the original, and writes it with the reports
   that OPTIONS ask for. AMP_MISMATCH when it is outside its tolerance; nothing is written then,
   unless with --accept. */
enum amp_status amp_command_convert(const struct amp_options *options, struct amp_error *err);

/* Converts the model of FILE, all calls inlined, as OPTIONS say: its stages, without a report or a
   file. After a failure the model is only good to be closed. */
enum amp_status amp_convert_in_memory(const struct amp_options *options,
                                      struct amp_model_file *file, struct amp_error *err);

#endif
