#ifndef AMP_OPS_DNNL_DESCRIBE_H
#define AMP_OPS_DNNL_DESCRIBE_H

#include "ops/dnnl/profile.h"

/* What oneDNN says of the primitive of PD: sets ENTRY's kind, implementation and layouts. */
void amp_dnnl_describe(const struct dnnl_primitive_desc *pd, struct amp_profile_primitive *entry);

#endif
