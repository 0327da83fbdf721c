#ifndef AMP_CLI_DESTINATION_H
#define AMP_CLI_DESTINATION_H

#include "cli/options/options.h"
#include "cli/options/target.h"
#include "onnx/file/external.h"

/* Checks the files and folders that OPTIONS of the command name to be written: AMP_IO when one
   cannot be created, AMP_USAGE when two are one file, or when one is a model that is read; the
   converted model may replace it with --force. Before anything is read. */
enum amp_status amp_destinations_check(const struct amp_options *options, struct amp_error *err);

/* The path in ARENA of the output of the model at PATH where the user gives none: NAME.DTYPE.onnx
   beside the model, NAME.opsetN.onnx where only the opset is raised, stdout for a stream. */
const char *amp_destination_default(const struct amp_target *target, const char *path,
                                    struct amp_arena *arena);

/* Finds where the model that becomes TARGET goes: the -o of OPTIONS, or a name beside the model
   that is made in ARENA; "-" is stdout. AMP_USAGE or AMP_IO when it or the data file that the
   user names cannot go where they are wanted, or other outputs go there. */
enum amp_status amp_destination_choose(const struct amp_options *options,
                                       const struct amp_target *target, struct amp_arena *arena,
                                       const char **path, struct amp_error *err);

/* Checks that a model written to PATH with its data file DATA_PATH (NULL: none) replaces nothing
   that is to stay. AMP_IO when DATA_PATH exists and the user did not choose it; AMP_USAGE when one
   of the two is part of an input that stays. EXTERNAL: the data files of the input. */
enum amp_status amp_destination_check(const struct amp_options *options,
                                      const struct amp_external *external, const char *path,
                                      const char *data_path, struct amp_error *err);

#endif
