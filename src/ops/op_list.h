/*
 * Every operator with a descriptor: AMP_OP(amp_op_<name>). The registry, its lookup and the support
 * table expand from this list. Sorted within each family file; one line per operator.
 */

/* compress.c */
AMP_OP(amp_op_compress)
AMP_OP(amp_op_non_zero)
AMP_OP(amp_op_unique)

/* concat.c */
AMP_OP(amp_op_concat)
AMP_OP(amp_op_expand)
AMP_OP(amp_op_split)
AMP_OP(amp_op_tile)

/* gather.c */
AMP_OP(amp_op_gather)
AMP_OP(amp_op_gather_elements)
AMP_OP(amp_op_gather_nd)
AMP_OP(amp_op_reverse_sequence)

/* generate.c */
AMP_OP(amp_op_constant)
AMP_OP(amp_op_constant_of_shape)
AMP_OP(amp_op_eye_like)
AMP_OP(amp_op_one_hot)
AMP_OP(amp_op_range)
AMP_OP(amp_op_trilu)

/* matmul.c */
AMP_OP(amp_op_gemm)
AMP_OP(amp_op_matmul)

/* pad.c */
AMP_OP(amp_op_center_crop_pad)
AMP_OP(amp_op_pad)

/* reshape.c */
AMP_OP(amp_op_flatten)
AMP_OP(amp_op_identity)
AMP_OP(amp_op_reshape)
AMP_OP(amp_op_shape)
AMP_OP(amp_op_size)
AMP_OP(amp_op_squeeze)
AMP_OP(amp_op_unsqueeze)

/* scatter.c */
AMP_OP(amp_op_scatter)
AMP_OP(amp_op_scatter_elements)
AMP_OP(amp_op_scatter_nd)

/* slice.c */
AMP_OP(amp_op_slice)

/* transpose.c */
AMP_OP(amp_op_depth_to_space)
AMP_OP(amp_op_space_to_depth)
AMP_OP(amp_op_transpose)
