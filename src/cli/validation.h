#ifndef AMP_CLI_VALIDATION_H
#define AMP_CLI_VALIDATION_H

#include "check/layers.h"
#include "check/validate.h"
#include "cli/options/options.h"
#include "cli/report/inputs.h"
#include "onnx/file/placement.h"
#include "onnx/file/read.h"

/* A conversion to be validated as the command line says. */
struct amp_validation_request {
    const struct amp_options *options;
    const struct amp_model *reference, *converted; /* types inferred; they outlive the result */
    enum amp_dtype coarsest; /* the least precise type that the two compute in */
    /* Gets what the models have in common, to be freed, with AMP_OK and AMP_MISMATCH; NULL: that is
       not looked at. */
    struct amp_layers *layers;
    /* Without layers: who runs the two, as of struct amp_validate_options. */
    struct amp_pair_runner runner;
    bool is_reference_known;
};

/* The least precise of DTYPE and the types that MODEL computes in, of which a model of 16 bits
   rounds by itself: that decides how far apart two models may be. */
enum amp_dtype amp_validation_coarsest(enum amp_dtype dtype, const struct amp_model *model);

/* AMP_USAGE for what is wrong with the options of a validation whatever the model is, so that it
   can be said before any work. COARSEST as in struct amp_validation_request. */
enum amp_status amp_validation_check_options(const struct amp_options *options,
                                             enum amp_dtype coarsest, struct amp_error *err);

/*
 * Runs the two models of REQUEST on the samples that its options ask for; *NOTES gets what supplied
 * the inputs and is destroyed by the caller, *RESULT what amp_validate gives. Fails as
 * amp_inputs_open, amp_validate and the runner of layers do; with AMP_OK and AMP_MISMATCH both are
 * complete, otherwise they hold nothing.
 */
enum amp_status amp_validation_run(const struct amp_validation_request *request,
                                   struct amp_input_notes *notes, struct amp_validation *result,
                                   struct amp_error *err);

/* Adds to the verdict in ERR, which is STATUS, that other inputs may have another, where NOTES say
   that they were random. Returns STATUS. */
enum amp_status amp_validation_suggest(const struct amp_input_notes *notes, enum amp_status status,
                                       struct amp_error *err);

/* Begins *CHECK: has the command of --eval, if there is one, judge the model FILE as it was read.
   Fails as amp_eval_reference does, and for a model that no file can be made of. */
enum amp_status amp_validation_eval_reference(const struct amp_options *options,
                                              const struct amp_model_file *file,
                                              struct amp_eval_check *check, struct amp_error *err);

/* Has the command, if there is one, judge the converted MODEL, of which PLACEMENT says how it will
   be written, and adds what it says to RESULT. ERR may hold the AMP_MISMATCH of RESULT, which stays
   unless the command says that all must stop. Returns ERR's status: that, AMP_MISMATCH when the
   command does not let the model pass, or what amp_eval_candidate says. */
enum amp_status amp_validation_eval_converted(const struct amp_model *model,
                                              const struct amp_placement *placement,
                                              struct amp_eval_check *check,
                                              struct amp_validation *result, struct amp_error *err);

/* The same of what the command has said of the converted model before: CHECK has it. */
enum amp_status amp_validation_eval_known(struct amp_eval_check *check,
                                          struct amp_validation *result, struct amp_error *err);

#endif
