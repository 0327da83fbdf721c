#ifndef AMP_CLI_CONVERT_STAGES_H
#define AMP_CLI_CONVERT_STAGES_H

#include "core/dtype.h"
#include "core/status.h"

#include <stddef.h>

struct amp_convert_job; /* cli/convert/job.h */

/* The stage in row I after which --dump-after prints the graph; NULL behind the last. */
const char *amp_convert_stage_at(size_t i);

/* Sets JOB's last stage to the one that its options name. AMP_USAGE: there is none of that name. */
enum amp_status amp_convert_stage_parse(struct amp_convert_job *job);

/* Finds the ranges to go by, unless JOB has some. The types of its model must be inferred. What
   amp_ranges_load says; AMP_IO when the system refused to run the model. */
enum amp_status amp_convert_find_ranges(struct amp_convert_job *job);

/* The least precise of the dtypes that nodes of JOB may be lowered to. */
enum amp_dtype amp_convert_coarsest(const struct amp_convert_job *job);

/* Runs all stages on the graph of JOB, which has its rules, up to the one after which the user
   wants to see it; *IS_DONE when that was printed. */
enum amp_status amp_convert_graph(struct amp_convert_job *job, bool *is_done);

#endif
