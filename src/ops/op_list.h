/*
 * Every operator with a descriptor: AMP_OP(amp_op_<name>). The registry, its lookup and the support
 * table expand from this list. Sorted within each family file; one line per operator.
 */

/* arg.c */
AMP_OP(amp_op_arg_max)
AMP_OP(amp_op_arg_min)
AMP_OP(amp_op_top_k)

/* compress.c */
AMP_OP(amp_op_compress)
AMP_OP(amp_op_non_zero)
AMP_OP(amp_op_unique)

/* concat.c */
AMP_OP(amp_op_concat)
AMP_OP(amp_op_expand)
AMP_OP(amp_op_split)
AMP_OP(amp_op_tile)

/* control.c */
AMP_OP(amp_op_if)
AMP_OP(amp_op_loop)
AMP_OP(amp_op_scan)

/* cumulate.c */
AMP_OP(amp_op_cum_prod)
AMP_OP(amp_op_cum_sum)

/* det.c */
AMP_OP(amp_op_det)

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

/* loss.c */
AMP_OP(amp_op_negative_log_likelihood_loss)
AMP_OP(amp_op_softmax_cross_entropy_loss)

/* matmul.c */
AMP_OP(amp_op_gemm)
AMP_OP(amp_op_matmul)

/* nms.c */
AMP_OP(amp_op_non_max_suppression)

/* pad.c */
AMP_OP(amp_op_center_crop_pad)
AMP_OP(amp_op_pad)

/* reduce.c */
AMP_OP(amp_op_reduce_l1)
AMP_OP(amp_op_reduce_l2)
AMP_OP(amp_op_reduce_log_sum)
AMP_OP(amp_op_reduce_log_sum_exp)
AMP_OP(amp_op_reduce_max)
AMP_OP(amp_op_reduce_mean)
AMP_OP(amp_op_reduce_min)
AMP_OP(amp_op_reduce_prod)
AMP_OP(amp_op_reduce_sum)
AMP_OP(amp_op_reduce_sum_square)

/* reshape.c */
AMP_OP(amp_op_flatten)
AMP_OP(amp_op_identity)
AMP_OP(amp_op_reshape)
AMP_OP(amp_op_shape)
AMP_OP(amp_op_size)
AMP_OP(amp_op_squeeze)
AMP_OP(amp_op_unsqueeze)

/* rnn.c */
AMP_OP(amp_op_gru)
AMP_OP(amp_op_lstm)
AMP_OP(amp_op_rnn)

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
