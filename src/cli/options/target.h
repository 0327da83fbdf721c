#ifndef AMP_CLI_OPTIONS_TARGET_H
#define AMP_CLI_OPTIONS_TARGET_H

#include "autocast/runtimes/runtime.h"
#include "cli/options/grad_scaler.h"
#include "cli/options/options.h"
#include "core/graph/graph.h"

/* How --opset has the model raised. */
enum amp_opset_mode {
    AMP_OPSET_AUTO, /* as far as the lowered operators need */
    AMP_OPSET_KEEP, /* not at all */
    AMP_OPSET_EXACT /* to a given one */
};

/* What a model is to become. */
struct amp_target {
    enum amp_dtype lower;  /* AMP_FLOAT: nodes of 16 bits are raised to it */
    enum amp_dtype second; /* as in struct amp_assign_options */
    bool keeps_types;      /* only the opset is raised */
    enum amp_opset_mode mode;
    int opset;                    /* AMP_OPSET_EXACT: the one wanted */
    struct amp_runtimes runtimes; /* that it is to run in; none: whatever takes ONNX */
    bool shares_casts;            /* one Cast per value and dtype, not one per use */
    enum amp_scaling scaling;
    struct amp_grad_scaler scaler;
};

/* Reads --dtype, --opset, --cast-cache, --grad-scaler and --target RUNTIME. AMP_USAGE where one of
 * them is wrong or they do not go together. */
enum amp_status amp_target_parse(const struct amp_options *options, struct amp_target *target,
                                 struct amp_error *err);

/* AMP_UNSUPPORTED when MODEL, as it was read, cannot be of the opset that TARGET wants: it is newer
   already, or that opset is not released. */
enum amp_status amp_target_check(const struct amp_target *target, const struct amp_model *model,
                                 struct amp_error *err);

/* The inputs and outputs of the main graph that --io wants in the lower dtype go to *IDS, in
   MODEL's arena; types must be inferred. AMP_USAGE for a name that the graph does not have or whose
   dtype cannot change. */
enum amp_status amp_target_interface(const struct amp_options *options,
                                     const struct amp_target *target, struct amp_model *model,
                                     struct amp_ids *ids, struct amp_error *err);

#endif
