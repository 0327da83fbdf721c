#ifndef AMP_CHECK_CALIBRATE_H
#define AMP_CHECK_CALIBRATE_H

#include "autocast/ranges/ranges.h"
#include "check/validate.h"

/*
 * Runs MODEL, whose types are inferred, on all samples of SOURCE, node by node, and adds to RANGES
 * what the inputs of its main graph and the outputs of its nodes are like, in the order of the
 * graph; and the number of samples. No more values are held than a run
 * needs. Fails as loading, planning and running do.
 */
enum amp_status amp_calibrate(const struct amp_model *model, const struct amp_source *source,
                              struct amp_ranges *ranges, struct amp_error *err);

#endif
