/*
 * Every operator with a descriptor: AMP_OP(amp_op_<name>). The registry, its lookup and the support
 * table expand from this list. Sorted within each family file; one line per operator.
 */

/* activation.c */
AMP_OP(amp_op_celu)
AMP_OP(amp_op_elu)
AMP_OP(amp_op_hard_sigmoid)
AMP_OP(amp_op_hard_swish)
AMP_OP(amp_op_leaky_relu)
AMP_OP(amp_op_mish)
AMP_OP(amp_op_prelu)
AMP_OP(amp_op_relu)
AMP_OP(amp_op_selu)
AMP_OP(amp_op_shrink)
AMP_OP(amp_op_sigmoid)
AMP_OP(amp_op_softplus)
AMP_OP(amp_op_softsign)
AMP_OP(amp_op_swi_glu)
AMP_OP(amp_op_swish)
AMP_OP(amp_op_thresholded_relu)

/* arg.c */
AMP_OP(amp_op_arg_max)
AMP_OP(amp_op_arg_min)
AMP_OP(amp_op_top_k)

/* attention.c */
AMP_OP(amp_op_attention)

/* batch_norm.c */
AMP_OP(amp_op_batch_normalization)

/* binary.c */
AMP_OP(amp_op_add)
AMP_OP(amp_op_div)
AMP_OP(amp_op_mod)
AMP_OP(amp_op_mul)
AMP_OP(amp_op_sub)

/* cast.c */
AMP_OP(amp_op_bit_cast)
AMP_OP(amp_op_cast)
AMP_OP(amp_op_cast_like)

/* causal_conv.c */
AMP_OP(amp_op_causal_conv_with_state)

/* col2im.c */
AMP_OP(amp_op_col2im)

/* compress.c */
AMP_OP(amp_op_compress)
AMP_OP(amp_op_unique)

/* concat.c */
AMP_OP(amp_op_concat)
AMP_OP(amp_op_expand)
AMP_OP(amp_op_split)
AMP_OP(amp_op_tile)

/* control.c */
AMP_OP(amp_op_if)
AMP_OP(amp_op_loop)

/* conv.c */
AMP_OP(amp_op_conv)
AMP_OP(amp_op_conv_integer)
AMP_OP(amp_op_qlinear_conv)

/* cumulate.c */
AMP_OP(amp_op_cum_prod)
AMP_OP(amp_op_cum_sum)

/* deconv.c */
AMP_OP(amp_op_conv_transpose)

/* deform_conv.c */
AMP_OP(amp_op_deform_conv)

/* det.c */
AMP_OP(amp_op_det)

/* einsum.c */
AMP_OP(amp_op_einsum)

/* flex_attention.c */
AMP_OP(amp_op_flex_attention)

/* fused.c */
AMP_OP(amp_op_fused_conv)
AMP_OP(amp_op_fused_gemm)
AMP_OP(amp_op_fused_matmul)
AMP_OP(amp_op_transpose_matmul)

/* gather.c */
AMP_OP(amp_op_gather)
AMP_OP(amp_op_gather_elements)
AMP_OP(amp_op_gather_nd)
AMP_OP(amp_op_reverse_sequence)

/* gelu.c */
AMP_OP(amp_op_bias_gelu)
AMP_OP(amp_op_fast_gelu)
AMP_OP(amp_op_gelu)
AMP_OP(amp_op_gelu_exact)
AMP_OP(amp_op_quick_gelu)

/* generate.c */
AMP_OP(amp_op_constant)
AMP_OP(amp_op_constant_of_shape)
AMP_OP(amp_op_eye_like)
AMP_OP(amp_op_given_tensor_fill)
AMP_OP(amp_op_one_hot)
AMP_OP(amp_op_range)
AMP_OP(amp_op_trilu)

/* grid_sample.c */
AMP_OP(amp_op_affine_grid)
AMP_OP(amp_op_grid_sample)

/* group_norm.c */
AMP_OP(amp_op_group_normalization)
AMP_OP(amp_op_instance_normalization)

/* group_query.c */
AMP_OP(amp_op_group_query_attention)

/* layer_norm.c */
AMP_OP(amp_op_layer_normalization)
AMP_OP(amp_op_ms_layer_normalization)
AMP_OP(amp_op_ms_simplified_layer_normalization)
AMP_OP(amp_op_rms_normalization)
AMP_OP(amp_op_simplified_layer_normalization)

/* linear_attention.c */
AMP_OP(amp_op_linear_attention)

/* logical.c */
AMP_OP(amp_op_and)
AMP_OP(amp_op_bit_shift)
AMP_OP(amp_op_bitwise_and)
AMP_OP(amp_op_bitwise_not)
AMP_OP(amp_op_bitwise_or)
AMP_OP(amp_op_bitwise_xor)
AMP_OP(amp_op_equal)
AMP_OP(amp_op_greater)
AMP_OP(amp_op_greater_or_equal)
AMP_OP(amp_op_is_inf)
AMP_OP(amp_op_is_nan)
AMP_OP(amp_op_less)
AMP_OP(amp_op_less_or_equal)
AMP_OP(amp_op_not)
AMP_OP(amp_op_or)
AMP_OP(amp_op_xor)

/* loss.c */
AMP_OP(amp_op_negative_log_likelihood_loss)
AMP_OP(amp_op_softmax_cross_entropy_loss)

/* lrn.c */
AMP_OP(amp_op_lrn)

/* matmul.c */
AMP_OP(amp_op_gemm)
AMP_OP(amp_op_matmul)

/* matmul_integer.c */
AMP_OP(amp_op_matmul_integer)
AMP_OP(amp_op_qlinear_matmul)

/* ml_encode.c */
AMP_OP(amp_op_category_mapper)
AMP_OP(amp_op_label_encoder)
AMP_OP(amp_op_one_hot_encoder)

/* ml_feature.c */
AMP_OP(amp_op_array_feature_extractor)
AMP_OP(amp_op_feature_vectorizer)

/* ml_linear.c */
AMP_OP(amp_op_linear_classifier)
AMP_OP(amp_op_linear_regressor)

/* ml_map.c */
AMP_OP(amp_op_cast_map)
AMP_OP(amp_op_dict_vectorizer)
AMP_OP(amp_op_zip_map)

/* ml_scale.c */
AMP_OP(amp_op_binarizer)
AMP_OP(amp_op_imputer)
AMP_OP(amp_op_normalizer)
AMP_OP(amp_op_scaler)

/* ml_svm.c */
AMP_OP(amp_op_svm_classifier)
AMP_OP(amp_op_svm_regressor)

/* ml_tree.c */
AMP_OP(amp_op_tree_ensemble)
AMP_OP(amp_op_tree_ensemble_classifier)
AMP_OP(amp_op_tree_ensemble_regressor)

/* multi_head_attention.c */
AMP_OP(amp_op_ms_attention)
AMP_OP(amp_op_multi_head_attention)

/* nms.c */
AMP_OP(amp_op_non_max_suppression)

/* non_zero.c */
AMP_OP(amp_op_non_zero)

/* norm.c */
AMP_OP(amp_op_lp_normalization)
AMP_OP(amp_op_mean_variance_normalization)

/* optional.c */
AMP_OP(amp_op_optional)
AMP_OP(amp_op_optional_get_element)
AMP_OP(amp_op_optional_has_element)

/* optimizer.c */
AMP_OP(amp_op_adagrad)
AMP_OP(amp_op_adam)
AMP_OP(amp_op_momentum)

/* pad.c */
AMP_OP(amp_op_center_crop_pad)
AMP_OP(amp_op_pad)

/* pool.c */
AMP_OP(amp_op_average_pool)
AMP_OP(amp_op_global_average_pool)
AMP_OP(amp_op_global_lp_pool)
AMP_OP(amp_op_global_max_pool)
AMP_OP(amp_op_lp_pool)
AMP_OP(amp_op_max_pool)

/* pow.c */
AMP_OP(amp_op_pow)

/* qlinear_binary.c */
AMP_OP(amp_op_qlinear_add)
AMP_OP(amp_op_qlinear_mul)

/* quantize.c */
AMP_OP(amp_op_dequantize_linear)
AMP_OP(amp_op_dynamic_quantize_linear)
AMP_OP(amp_op_quantize_linear)

/* random.c */
AMP_OP(amp_op_bernoulli)
AMP_OP(amp_op_dropout)
AMP_OP(amp_op_multinomial)
AMP_OP(amp_op_random_normal)
AMP_OP(amp_op_random_normal_like)
AMP_OP(amp_op_random_uniform)
AMP_OP(amp_op_random_uniform_like)

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

/* regex.c */
AMP_OP(amp_op_regex_full_match)

/* reshape.c */
AMP_OP(amp_op_flatten)
AMP_OP(amp_op_identity)
AMP_OP(amp_op_reshape)
AMP_OP(amp_op_shape)
AMP_OP(amp_op_size)
AMP_OP(amp_op_squeeze)
AMP_OP(amp_op_unsqueeze)

/* resize.c */
AMP_OP(amp_op_resize)
AMP_OP(amp_op_upsample)

/* rnn.c */
AMP_OP(amp_op_gru)
AMP_OP(amp_op_lstm)
AMP_OP(amp_op_rnn)

/* roi.c */
AMP_OP(amp_op_max_roi_pool)
AMP_OP(amp_op_roi_align)

/* rotary.c */
AMP_OP(amp_op_ms_rotary_embedding)
AMP_OP(amp_op_rotary_embedding)

/* scaling.c */
AMP_OP(amp_op_affine)
AMP_OP(amp_op_image_scaler)
AMP_OP(amp_op_parametric_softplus)
AMP_OP(amp_op_scale)
AMP_OP(amp_op_scaled_tanh)

/* scan.c */
AMP_OP(amp_op_scan)

/* scatter.c */
AMP_OP(amp_op_scatter)
AMP_OP(amp_op_scatter_elements)
AMP_OP(amp_op_scatter_nd)
AMP_OP(amp_op_tensor_scatter)

/* select.c */
AMP_OP(amp_op_clip)
AMP_OP(amp_op_max)
AMP_OP(amp_op_mean)
AMP_OP(amp_op_min)
AMP_OP(amp_op_sum)
AMP_OP(amp_op_where)

/* sequence.c */
AMP_OP(amp_op_concat_from_sequence)
AMP_OP(amp_op_sequence_at)
AMP_OP(amp_op_sequence_construct)
AMP_OP(amp_op_sequence_empty)
AMP_OP(amp_op_sequence_erase)
AMP_OP(amp_op_sequence_insert)
AMP_OP(amp_op_sequence_length)
AMP_OP(amp_op_sequence_map)
AMP_OP(amp_op_split_to_sequence)

/* signal.c */
AMP_OP(amp_op_blackman_window)
AMP_OP(amp_op_dft)
AMP_OP(amp_op_hamming_window)
AMP_OP(amp_op_hann_window)
AMP_OP(amp_op_mel_weight_matrix)
AMP_OP(amp_op_stft)

/* skip_norm.c */
AMP_OP(amp_op_embed_layer_normalization)
AMP_OP(amp_op_skip_layer_normalization)
AMP_OP(amp_op_skip_simplified_layer_normalization)

/* slice.c */
AMP_OP(amp_op_crop)
AMP_OP(amp_op_dynamic_slice)
AMP_OP(amp_op_slice)

/* softmax.c */
AMP_OP(amp_op_hardmax)
AMP_OP(amp_op_log_softmax)
AMP_OP(amp_op_softmax)

/* text.c */
AMP_OP(amp_op_string_concat)
AMP_OP(amp_op_string_normalizer)
AMP_OP(amp_op_string_split)

/* tfidf.c */
AMP_OP(amp_op_tf_idf_vectorizer)

/* transpose.c */
AMP_OP(amp_op_depth_to_space)
AMP_OP(amp_op_space_to_depth)
AMP_OP(amp_op_transpose)

/* unary.c */
AMP_OP(amp_op_abs)
AMP_OP(amp_op_acos)
AMP_OP(amp_op_acosh)
AMP_OP(amp_op_asin)
AMP_OP(amp_op_asinh)
AMP_OP(amp_op_atan)
AMP_OP(amp_op_atanh)
AMP_OP(amp_op_ceil)
AMP_OP(amp_op_cos)
AMP_OP(amp_op_cosh)
AMP_OP(amp_op_erf)
AMP_OP(amp_op_exp)
AMP_OP(amp_op_floor)
AMP_OP(amp_op_log)
AMP_OP(amp_op_neg)
AMP_OP(amp_op_reciprocal)
AMP_OP(amp_op_round)
AMP_OP(amp_op_sign)
AMP_OP(amp_op_sin)
AMP_OP(amp_op_sinh)
AMP_OP(amp_op_sqrt)
AMP_OP(amp_op_tan)
AMP_OP(amp_op_tanh)

/* unpool.c */
AMP_OP(amp_op_max_unpool)
