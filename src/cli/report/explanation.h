#ifndef AMP_CLI_REPORT_EXPLANATION_H
#define AMP_CLI_REPORT_EXPLANATION_H

#include "autocast/assign.h"
#include "autocast/cast_insert.h"

#include <stdio.h>

/* A cast that a node caused. */
struct amp_explained_cast {
    struct amp_explained_cast *next;
    const char *input, *output;
    enum amp_dtype dtype;
};

/* A node as it was when its dtype was decided. */
struct amp_explained_node {
    const struct amp_decision *decision;
    const char *text; /* amp_node_text */
    const char *name, *domain, *op_type;
    int version;                      /* of the operator; 0: not known */
    const char *output;               /* the first there is; NULL: none */
    const struct amp_whole *whole;    /* that the node is part of; NULL: of none */
    const char *root;                 /* the name of its last node */
    const char *constant;             /* the constant or value that is the reason; NULL: none is */
    struct amp_explained_cast *casts; /* on its account */
};

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

/* The line on which the rule of DECISION, which has one, names the operator, or on which the rule
   begins when it names none or took the name from another file; 0 for a rule of no file. */
int amp_explained_line(const struct amp_decision *decision);

/* Prints a line per node: its dtype, the reason, the rule, its place and the name it gives the
   operator; below it the casts that it caused. Then how many nodes there are of each reason and
   dtype. */
void amp_explanation_print(FILE *file, const struct amp_explanation *explanation);

/* Prints the explanation as JSON, as ampconv(1) has it under "Explanation", each node on a line of
   its own. */
void amp_explanation_print_json(FILE *file, const struct amp_explanation *explanation);

#endif
