#ifndef AMP_CLI_CONVERT_TRAINING_H
#define AMP_CLI_CONVERT_TRAINING_H

#include "core/status.h"

struct amp_assign_options; /* autocast/assign.h */
struct amp_convert_job;    /* cli/convert/job.h */

/* Private to cli/convert: what becomes of training_info, in the order of the calls. */

/* Once its graphs are read: scales gradients, where that is wanted. AMP_USAGE where it was asked
   for and there is no training_info with gradients. */
enum amp_status amp_convert_scale_gradients(struct amp_convert_job *job);

/* Once the main graph is settled by OPTIONS: raises it further where what losses are computed from
   needs that, and it can be. */
enum amp_status amp_convert_settle_training(struct amp_convert_job *job,
                                            const struct amp_assign_options *options);

/* After all that changes the main graph: raises the graphs to its opset, decides by OPTIONS on what
   losses are computed from, and puts them into the model's message. */
enum amp_status amp_convert_finish_training(struct amp_convert_job *job,
                                            const struct amp_assign_options *options);

#endif
