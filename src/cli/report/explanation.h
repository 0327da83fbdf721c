#ifndef AMP_CLI_REPORT_EXPLANATION_H
#define AMP_CLI_REPORT_EXPLANATION_H

#include "autocast/assign.h"
#include "autocast/cast_insert.h"

#include <stdio.h>

/*
 * What was decided for each node and why, in graph order: the nodes of the main graph, then those
 * of the bodies. It is begun when the decisions are made, because later stages change names, order
 * and even operators, and ended when the casts are where they stay.
 */
struct amp_explanation {
    struct amp_explained_node *nodes; /* in the model's arena, as all here */
    size_t n_nodes;
    size_t *node_of;                  /* per node id: index in nodes */
    struct amp_explained_cast *casts; /* those that no node caused: of an input that is an output */
    size_t n_casts;                   /* all that were inserted and are left */
    const char *model_path;
    const char *const *rule_names;
    size_t n_rule_names;
    const struct amp_assignment *assignment;
};

/* Notes the nodes of MODEL, as it was when ASSIGNMENT was made; all must outlive the explanation.
 */
void amp_explanation_begin(struct amp_explanation *explanation, const struct amp_model *model,
                           const struct amp_assignment *assignment);

/* Notes which of the CASTS that were inserted are left in MODEL, for each node those made on its
   account. */
void amp_explanation_end(struct amp_explanation *explanation, const struct amp_model *model,
                         const struct amp_inserted_casts *casts);

/* Prints a line per node: its dtype, the reason, the rule, its place and the name it gives the
   operator; below it the casts that it caused. Then how many nodes there are of each reason and
   dtype. */
void amp_explanation_print(FILE *file, const struct amp_explanation *explanation);

/* Prints the explanation as JSON, as ampconv(1) has it under "Explanation", each node on a line of
   its own. */
void amp_explanation_print_json(FILE *file, const struct amp_explanation *explanation);

#endif
