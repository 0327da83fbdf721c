/*
 * Every operator with a descriptor: AMP_OP(amp_op_<name>). The registry, its lookup and the support
 * table expand from this list. Sorted within each family file; one line per operator.
 */
/* matmul.c */
AMP_OP(amp_op_gemm)
AMP_OP(amp_op_matmul)
