#ifndef AMP_RUN_EXEC_VALUES_H
#define AMP_RUN_EXEC_VALUES_H

#include "run/exec/state.h"

/* Private to run/exec: the tensors that the values of a session hold. */

/* Makes VALUE hold TENSOR, to whose data it refers. AMP_MODEL: TENSOR is not of the declared type.
 */
enum amp_status amp_values_set(struct amp_session *session, uint32_t value,
                               const struct amp_tensor *tensor, struct amp_error *err);

/* Makes what VALUE holds row-major. */
enum amp_status amp_values_reorder(struct amp_session *session, uint32_t value,
                                   struct amp_error *err);

/* Makes TENSOR row-major for NODE, which reads or computes it: the profile notes that there. */
enum amp_status amp_values_reorder_for(struct amp_session *session, struct amp_tensor *tensor,
                                       const struct amp_node *node, struct amp_error *err);

#endif
