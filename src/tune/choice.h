#ifndef AMP_TUNE_CHOICE_H
#define AMP_TUNE_CHOICE_H

#include "autocast/rules/rule.h"
#include "tune/units.h"

/* What a choice of units comes to as rules: which nodes, by the names of what they give, run in
   float32, which in the lower dtype, and which in the second one where there is one. */
struct amp_choice {
    const char **wide, **low, **second; /* in the order of the graph */
    uint32_t *units;                    /* of WIDE; AMP_NONE: none */
    size_t n_wide, n_low, n_second;
    bool has_second; /* dtypes are named: the lower one is bfloat16, the second float16 */
};

/* The model that units were found in. */
struct amp_choice_model {
    const struct amp_units *units;
    const struct amp_assignment *assignment;
    const struct amp_assignment *fine; /* with all units in the second dtype that can be; NULL:
                                          there is none */
    const char *const *outputs; /* per node id of the assignment: the name of its first output
                                   before any cast was inserted; NULL: it gives nothing */
};

/* The choice that keeps the units of KEEPS, in ARENA. With IS_COMPLETE also the nodes
   that rules and guards keep there, so that it holds without overrides and guards. */
struct amp_choice amp_choice_make(const struct amp_choice_model *model, const bool *keeps,
                                  bool is_complete, struct amp_arena *arena);

/* Appends the rules of CHOICE to RULES, as amp_rules_add_tensors. */
enum amp_status amp_choice_add(const struct amp_choice *choice, struct amp_rules *rules,
                               struct amp_error *err);

/* The name of the set that a choice is written as. */
extern const char amp_choice_name[];

/* What a file of rules says beside the rules. */
struct amp_choice_file {
    enum amp_dtype lower;
    const char *const *extends; /* the sets and files that the choice was made upon */
    size_t n_extends;
    const char *const *notes; /* comments, a line each */
    size_t n_notes;
    const double *removes; /* per unit: the power of the noise that hangs on it and, where it is a
                              second step, on the first; NULL: not known */
};

/* Writes CHOICE as a rule file (ampconv-rules(5)) to PATH, "-" for stdout, whole or not at all.
   AMP_IO when that fails. */
enum amp_status amp_choice_write(const struct amp_choice *choice,
                                 const struct amp_choice_file *file, const char *path,
                                 struct amp_error *err);

#endif
