#ifndef AMP_CHECK_ALIGNMENT_H
#define AMP_CHECK_ALIGNMENT_H

#include "core/graph/graph.h"

/* A value in one of two lists that are to be aligned. */
struct amp_aligned {
    uint32_t value;
    uint32_t key;     /* equal in the two lists for values that may stand for the same */
    bool is_paired;   /* KEY is that of a pair, and not of values alike */
    uint32_t partner; /* the value in the same place of the other list; AMP_NONE: there is none */
};

/* The nodes of MODEL's main graph, *COUNT of them, in a topological order that depends on how they
   are connected and not on how the file lists them, but for nodes that no output needs: to be
   freed. */
uint32_t *amp_alignment_order(const struct amp_model *model, size_t *count);

/* Sets the partners in two lists of COUNT_A and COUNT_B values: those of a longest common
   subsequence of equal keys, of stretches of 1024 to 2048 values of long lists. Takes time and
   memory of that number for each value. */
void amp_alignment_find(struct amp_aligned *a, size_t count_a, struct amp_aligned *b,
                        size_t count_b);

#endif
