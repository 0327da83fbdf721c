#!/usr/bin/env python3
"""Makes contrib/ and contrib_refused/: operators of ONNX Runtime's domain com.microsoft (and its SimplifiedLayerNormalization), in the
layout of ONNX's backend tests.

contrib/: expected outputs are what ONNX Runtime 1.21 computes in float32 on the CPU. For bfloat16 and float16, which its kernels do not
take, they are its float32 outputs from the same rounded inputs, rounded once. contrib_refused/: shapes that do not fit and options
without a kernel; what is said of them is in contrib_refused.txt. Needs onnx, onnxruntime and numpy. Run it in this folder; the same
versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

random = np.random.default_rng(7)
MS = "com.microsoft"
SHORT = {TensorProto.BFLOAT16: "bfloat16", TensorProto.FLOAT16: "float16"}


def numbers(*shape):
    """Multiples of 1/16 from -2 to 2."""
    return (random.integers(-32, 33, shape) / 16).astype(np.float32)


def ints(*values):
    return np.array(values, np.int32)


def proto(value, name, dtype=None):
    """VALUE as a tensor; float32 values in DTYPE if given, which holds the multiples of 1/16 exactly, rounded to nearest even."""
    if dtype is None or value.dtype != np.float32:
        return onnx.numpy_helper.from_array(value, name)
    if dtype == TensorProto.FLOAT16:
        raw = value.astype(np.float16).tobytes()
    else:
        bits = value.view(np.uint32).astype(np.uint64)
        raw = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16).tobytes()
    return helper.make_tensor(name, dtype, value.shape, raw, raw=True)


def make_model(op, domain, inputs, outputs, attributes, dtype=None):
    """INPUTS: arrays, None where omitted; OUTPUTS: which ones are wanted. Returns the model and the names of both."""
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    results = [f"y{i}" if i in outputs else "" for i in range(max(outputs) + 1)]
    tensors = [proto(v, n, dtype) for v, n in zip(inputs, names) if n]
    infos = [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in tensors]
    types = {"mask_index": TensorProto.INT32}
    statistics = {"SkipLayerNormalization": (1, 2), "SkipSimplifiedLayerNormalization": (1, 2)}.get(op, ())
    made = []
    for i in outputs:
        kind = dtype or TensorProto.FLOAT
        if (op == "EmbedLayerNormalization" and i == 1) or i in statistics:
            kind = types["mask_index"] if i == 1 and op.startswith("Embed") else TensorProto.FLOAT
        if op.startswith("QLinear"):
            kind = tensors[0].data_type
        made.append(helper.make_tensor_value_info(f"y{i}", kind, None))
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    graph = helper.make_graph([node], "g", infos, made)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8), tensors, [n for n in results if n]


def save(folder, model, tensors, outputs):
    data = f"{folder}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"{folder}/model.onnx")
    for kind, written in (("input", tensors), ("output", outputs)):
        for i, tensor in enumerate(written):
            with open(f"{data}/{kind}_{i}.pb", "wb") as file:
                file.write(tensor.SerializeToString())


def case(name, op, inputs, outputs=(0,), domain=MS, types=(), as_inputs=None, **attributes):
    """One case in float32 and one for each of TYPES. AS_INPUTS: other inputs that mean the same, for ONNX Runtime."""
    model, tensors, results = make_model(op, domain, as_inputs or inputs, outputs, attributes)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(results, {t.name: onnx.numpy_helper.to_array(t) for t in tensors})
    if as_inputs:
        model, tensors, _ = make_model(op, domain, inputs, outputs, attributes)
    save(f"contrib/{name}", model, tensors, [proto(v, n) for v, n in zip(values, results)])
    for dtype in types:
        model, tensors, _ = make_model(op, domain, inputs, outputs, attributes, dtype)
        kinds = {info.name: info.type.tensor_type.elem_type for info in model.graph.output}
        made = [proto(v, n, dtype if kinds[n] == dtype else None) for v, n in zip(values, results)]
        save(f"contrib/{name}_{SHORT[dtype]}", model, tensors, made)


def refused(name, op, inputs, outputs=(0,), domain=MS, **attributes):
    model, tensors, results = make_model(op, domain, inputs, outputs, attributes)
    save(f"contrib_refused/{name}", model, tensors, [proto(np.zeros((), np.float32), n) for n in results])


BOTH = (TensorProto.BFLOAT16, TensorProto.FLOAT16)
HALF = (TensorProto.FLOAT16,)


def make_products():
    a, b = numbers(2, 3, 4), numbers(2, 4, 5)

    def swap(x):
        return np.ascontiguousarray(np.swapaxes(x, -1, -2))

    case("fused_matmul", "FusedMatMul", [a, b], types=BOTH, alpha=0.25)
    case("fused_matmul_trans_a", "FusedMatMul", [swap(a), b], types=BOTH, transA=1)
    case("fused_matmul_trans_b", "FusedMatMul", [a, swap(b)], types=BOTH, transB=1)
    case("fused_matmul_trans_both", "FusedMatMul", [swap(a), swap(b)], transA=1, transB=1, alpha=2.0)
    case("fused_matmul_broadcast", "FusedMatMul", [swap(numbers(2, 1, 3, 4)), b], transA=1)
    case("fused_matmul_one_b", "FusedMatMul", [a, numbers(5, 4)], transB=1)
    case("fused_matmul_vector", "FusedMatMul", [numbers(4), b], transA=1)
    case("fused_matmul_batch_a", "FusedMatMul", [numbers(3, 2, 4), b], transBatchA=1)
    case("fused_matmul_batch_b", "FusedMatMul", [a, numbers(4, 2, 5)], transBatchB=1)
    case("fused_matmul_batch_4d", "FusedMatMul", [numbers(3, 2, 6, 4), numbers(2, 6, 4, 5)], transBatchA=1)
    case("fused_matmul_batch_both", "FusedMatMul", [numbers(3, 2, 4), numbers(5, 2, 4)], transBatchA=1, transBatchB=1, transB=1)
    case("fused_matmul_batch_trans", "FusedMatMul", [numbers(4, 2, 3), b], transBatchA=1, transA=1)
    case("transpose_matmul", "TransposeMatMul", [a, swap(b)], transB=1)


def make_gemm():
    a, b, c = numbers(3, 4), numbers(4, 5), numbers(5)
    case("fused_gemm_relu", "FusedGemm", [a, b, c], types=HALF, activation="Relu", alpha=0.5)
    case("fused_gemm_leaky", "FusedGemm", [a, b, None], activation="LeakyRelu", activation_alpha=0.25)
    case("fused_gemm_hard_sigmoid", "FusedGemm", [a, b, c], activation="HardSigmoid", activation_alpha=0.3, activation_beta=0.4)
    case("fused_gemm_tanh", "FusedGemm", [a.T.copy(), b.T.copy(), numbers(3, 1)], activation="Tanh", transA=1, transB=1, beta=2.0)


def make_conv():
    x, w, bias = numbers(2, 4, 6, 5), numbers(6, 4, 3, 3), numbers(6)
    case("fused_conv", "FusedConv", [x, w, bias])
    case("fused_conv_relu", "FusedConv", [x, w, bias], types=HALF, activation="Relu", pads=[1, 1, 1, 1])
    case("fused_conv_sum", "FusedConv", [x, w, bias, numbers(2, 6, 6, 5)], activation="Relu", pads=[1, 1, 1, 1])
    case("fused_conv_sum_no_bias", "FusedConv", [x, w, None, numbers(2, 6, 4, 3)])
    case("fused_conv_clip", "FusedConv", [x, w], activation="Clip", activation_params=[-0.5, 6.0], strides=[2, 2])
    case("fused_conv_leaky", "FusedConv", [x, w], activation="LeakyRelu", activation_params=[0.125], auto_pad="SAME_UPPER")
    case("fused_conv_hard_sigmoid", "FusedConv", [x, w], activation="HardSigmoid", activation_params=[0.3, 0.6])
    case("fused_conv_sigmoid_groups", "FusedConv", [x, numbers(6, 2, 3, 3), bias], activation="Sigmoid", group=2)
    case("fused_conv_tanh_1d", "FusedConv", [numbers(2, 4, 9), numbers(3, 4, 3)], activation="Tanh", dilations=[2])


def make_gelus():
    x = np.concatenate([numbers(3, 5), np.array([[-30, -6, 0, 6, 30]], np.float32)])
    case("gelu", "Gelu", [x], types=BOTH)
    case("bias_gelu", "BiasGelu", [x, numbers(5)], types=BOTH)
    case("fast_gelu", "FastGelu", [x], types=BOTH)
    case("fast_gelu_bias", "FastGelu", [numbers(2, 3, 5), numbers(5)], types=BOTH)
    case("quick_gelu", "QuickGelu", [x], types=BOTH)
    case("quick_gelu_alpha", "QuickGelu", [x], alpha=1.0)


def make_norms():
    x, skip, gamma, beta, bias = numbers(2, 3, 8), numbers(2, 3, 8), numbers(8), numbers(8), numbers(8)
    case("skip_layer_norm", "SkipLayerNormalization", [x, skip, gamma, beta, bias], types=HALF, epsilon=1e-5)
    case("skip_layer_norm_default_epsilon", "SkipLayerNormalization", [x, skip, gamma, beta])
    case("skip_layer_norm_no_beta", "SkipLayerNormalization", [x, skip, gamma, None, bias])
    case("skip_layer_norm_sum", "SkipLayerNormalization", [x, skip, gamma, beta, bias], (0, 3), types=HALF)
    case("skip_layer_norm_one_skip", "SkipLayerNormalization", [x, skip[:1], gamma, beta])
    case("skip_layer_norm_flat_skip", "SkipLayerNormalization", [x, skip[0], gamma, beta], (0, 3))
    case("skip_layer_norm_2d", "SkipLayerNormalization", [x[0], skip[0], gamma, beta])
    case("skip_rms_norm", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], types=HALF, epsilon=1e-5)
    case("skip_rms_norm_sum", "SkipSimplifiedLayerNormalization", [x, skip, gamma], (0, 3))
    case("rms_norm", "SimplifiedLayerNormalization", [x, gamma], domain="", types=BOTH)
    case("rms_norm_axis", "SimplifiedLayerNormalization", [x, numbers(3, 8)], (0, 1), domain="", axis=1, epsilon=0.5)
    case("layer_norm_16", "LayerNormalization", [x, gamma, beta], domain="", epsilon=0.25)


def make_embeddings():
    words, segments = random.integers(0, 9, (2, 4)).astype(np.int32), random.integers(0, 2, (2, 4)).astype(np.int32)
    tables = [numbers(9, 6), numbers(5, 6), numbers(2, 6)]
    gamma, beta, mask = numbers(6), numbers(6), np.array([[1, 1, 1, 0], [1, 0, 0, 0]], np.int32)
    case("embed_layer_norm", "EmbedLayerNormalization", [words, segments, *tables, gamma, beta, mask], (0, 1), types=HALF)
    case("embed_layer_norm_no_mask", "EmbedLayerNormalization", [words, segments, *tables, gamma, beta], (0, 1), epsilon=0.125)
    case("embed_layer_norm_no_segments", "EmbedLayerNormalization", [words, None, *tables[:2], None, gamma, beta], (0, 1))
    case("embed_layer_norm_sum", "EmbedLayerNormalization", [words, segments, *tables, gamma, beta, mask], (0, 1, 2))
    positions = np.array([[4, 3, 2, 1], [0, 0, 1, 4]], np.int32)
    case("embed_layer_norm_positions", "EmbedLayerNormalization", [words, segments, *tables, gamma, beta, None, positions], (0, 1))
    case("embed_layer_norm_one_position", "EmbedLayerNormalization", [words, segments, *tables, gamma, beta, None, positions[:1]],
         (0, 1))


def caches(positions, half):
    """Cosines and sines as multiples of 1/64."""
    angles = np.arange(positions)[:, None] / 3.0 ** np.arange(half)
    return [np.round(table * 64).astype(np.float32) / 64 for table in (np.cos(angles), np.sin(angles))]


def make_rotary():
    cosines, sines = caches(8, 4)
    x, positions = numbers(2, 3, 24), np.array([[0, 1, 2], [5, 3, 7]], np.int64)
    case("rotary", "RotaryEmbedding", [x, positions, cosines, sines], types=BOTH)
    case("rotary_interleaved", "RotaryEmbedding", [x, positions, cosines, sines], interleaved=1)
    case("rotary_offset", "RotaryEmbedding", [x, np.array([4], np.int64), cosines, sines])
    case("rotary_4d", "RotaryEmbedding", [numbers(2, 3, 3, 8), positions, cosines, sines])
    cosines, sines = caches(8, 2)
    case("rotary_partly", "RotaryEmbedding", [x, positions, cosines, sines], num_heads=3, rotary_embedding_dim=4)
    case("rotary_partly_interleaved", "RotaryEmbedding", [x, positions, cosines, sines], num_heads=3, rotary_embedding_dim=4,
         interleaved=1)


def make_attention():
    x, w, bias = numbers(2, 4, 6), numbers(6, 24) / 4, numbers(24)
    keys = np.array([[1, 1, 1, 0], [1, 0, 1, 1]], np.int32)
    pairs = random.integers(0, 2, (2, 4, 4)).astype(np.int32)
    past, past_keys = numbers(2, 2, 2, 3, 4), np.array([[1, 1, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]], np.int32)
    for name, inputs, outputs, attributes in (
            ("plain", [x, w, bias], (0,), {}),
            ("scale", [x, w, bias], (0,), {"scale": 0.125}), ("causal", [x, w, bias], (0,), {"unidirectional": 1}),
            ("lengths", [x, w, bias, ints(2, 4)], (0,), {}), ("spans", [x, w, bias, ints(3, 4, 0, 2)], (0,), {}),
            ("keys", [x, w, bias, keys], (0,), {}), ("keys_causal", [x, w, bias, keys], (0,), {"unidirectional": 1}),
            ("pairs", [x, w, bias, pairs], (0,), {}), ("pairs_causal", [x, w, bias, pairs], (0,), {"unidirectional": 1}),
            ("filter", [x, w, bias, keys], (0,), {"mask_filter_value": -2.0}),
            ("nothing_seen", [x, w, bias, 0 * keys], (0,), {}),
            ("bias", [x, w, bias, None, None, numbers(2, 2, 4, 4)], (0,), {}),
            ("bias_keys", [x, w, bias, keys, None, numbers(1, 2, 4, 4)], (0,), {}),
            ("bias_one_head", [x, w, bias, None, None, numbers(1, 1, 4, 4)], (0,), {"unidirectional": 1}),
            ("present", [x, w, bias], (0, 1), {}), ("past", [x, w, bias, None, past], (0, 1), {}),
            ("past_causal", [x, w, bias, None, past], (0, 1), {"unidirectional": 1}),
            ("past_one", [x[:, :1], w, bias, past_keys[:, :4], past], (0, 1), {"unidirectional": 1}),
            ("past_keys", [x, w, bias, past_keys, past], (0, 1), {"unidirectional": 1}),
            ("sizes", [x, numbers(6, 20) / 4, numbers(20)], (0,), {"qkv_hidden_sizes": [8, 8, 4]})):
        types = HALF if name in ("plain", "past_keys") else ()
        case(f"attention_{name}", "Attention", inputs, outputs, types=types, num_heads=2, **attributes)
    case("attention_no_bias", "Attention", [x, w], as_inputs=[x, w, 0 * bias], num_heads=2)


def make_multi_head():
    q, k, v, bias = numbers(2, 3, 8), numbers(2, 5, 8), numbers(2, 5, 12), numbers(28)
    keys = np.array([[1, 1, 1, 0, 1], [1, 0, 1, 1, 0]], np.int32)
    pairs = random.integers(0, 2, (2, 3, 5)).astype(np.int32)
    own, past = numbers(2, 3, 8), numbers(2, 2, 4, 4)
    past_keys = np.array([[1, 1, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]], np.int32)
    for name, inputs, outputs, attributes in (
            ("cross", [q, k, v], (0,), {}), ("cross_bias", [q, k, v, bias], (0,), {}),
            ("scale", [q, k, v], (0,), {"scale": 0.125}), ("keys", [q, k, v, bias, keys], (0,), {}),
            ("lengths", [q, k, v, None, ints(2, 5)], (0,), {}), ("pairs", [q, k, v, None, pairs], (0,), {}),
            ("filter", [q, k, v, None, keys], (0,), {"mask_filter_value": -1.0}),
            ("attention_bias", [q, k, v, None, None, numbers(2, 2, 3, 5)], (0,), {}),
            ("attention_bias_one", [q, k, v, None, keys, numbers(1, 1, 3, 5)], (0,), {}),
            ("causal", [q, own, own], (0,), {"unidirectional": 1}), ("causal_one", [q[:, :1], k, v], (0,), {"unidirectional": 1}),
            ("causal_cross", [q, k, v], (0,), {"unidirectional": 1}),
            ("present", [q, k, v], (0, 1, 2), {}), ("past", [q, own, own, None, None, None, past, past / 2], (0, 1, 2), {}),
            ("past_bias", [q, own, own, numbers(24), past_keys, None, past, past / 2], (0, 1, 2), {}),
            ("past_causal", [q, own, own, None, None, numbers(2, 2, 3, 7), past, past / 2], (0, 1, 2), {"unidirectional": 1}),
            ("heads_of_keys", [q, numbers(2, 2, 5, 4), numbers(2, 2, 5, 4)], (0,), {})):
        types = HALF if name in ("cross_bias", "past") else ()
        case(f"multi_head_{name}", "MultiHeadAttention", inputs, outputs, types=types, num_heads=2, **attributes)

    def parts(packed):
        return [np.ascontiguousarray(packed[:, :, :, i].reshape(*packed.shape[:2], 8)) for i in range(packed.shape[3])]

    both, all_three, bias = numbers(2, 5, 2, 2, 4), numbers(2, 3, 2, 3, 4), numbers(24)
    case("multi_head_packed_keys", "MultiHeadAttention", [q, both], as_inputs=[q, *parts(both)], num_heads=2)
    case("multi_head_packed", "MultiHeadAttention", [all_three], as_inputs=parts(all_three), num_heads=2)
    case("multi_head_packed_bias", "MultiHeadAttention", [all_three, None, None, bias], as_inputs=[*parts(all_three), bias],
         num_heads=2)


def make_group_query():
    cosines, sines = caches(9, 8)
    k, v, past = numbers(2, 5, 32), numbers(2, 5, 32), numbers(2, 2, 6, 16)
    q, q1, k1, v1 = numbers(2, 5, 64), numbers(2, 1, 64), numbers(2, 1, 32), numbers(2, 1, 32)
    packed, packed1 = numbers(2, 5, 128), numbers(2, 1, 128)
    first, later = [ints(4, 4), ints(5)], [ints(6, 3), ints(7)]
    wide = [numbers(2, 5, 128), numbers(2, 5, 64), numbers(2, 5, 64)]
    for name, inputs, attributes in (
            ("prompt", [q, k, v, None, None, *first], {}), ("packed", [packed, None, None, None, None, *first], {}),
            ("rotary", [q, k, v, None, None, *first, cosines, sines], {"do_rotary": 1}),
            ("rotary_interleaved", [q, k, v, None, None, *first, cosines, sines], {"do_rotary": 1, "rotary_interleaved": 1}),
            ("rotary_partly", [*wide, None, None, *first, cosines, sines], {"do_rotary": 1}),
            ("packed_rotary", [packed, None, None, None, None, *first, cosines, sines], {"do_rotary": 1}),
            ("scale", [q, k, v, None, None, *first], {"scale": 0.5}), ("softcap", [q, k, v, None, None, *first], {"softcap": 2.0}),
            ("window", [q, k, v, None, None, *first], {"local_window_size": 2}),
            ("smooth", [q, k, v, None, None, *first], {"smooth_softmax": 1}),
            ("smooth_window", [q, k, v, None, None, *first], {"smooth_softmax": 1, "local_window_size": 1, "softcap": 4.0}),
            ("token", [q1, k1, v1, past, past / 2, *later], {}),
            ("token_rotary", [q1, k1, v1, past, past / 2, *later, cosines, sines], {"do_rotary": 1}),
            ("token_packed", [packed1, None, None, past, past / 2, *later, cosines, sines], {"do_rotary": 1}),
            ("token_window", [q1, k1, v1, past, past / 2, *later], {"local_window_size": 3}),
            ("more", [q[:1, :3], k[:1, :3], v[:1, :3], past[:1], past[:1] / 2, ints(8), ints(9), cosines, sines], {"do_rotary": 1}),
            ("room", [q1, k1, v1, past, past / 2, ints(3, 2), ints(4)], {})):
        types = HALF if name in ("rotary", "token") else ()
        case(f"group_query_{name}", "GroupQueryAttention", inputs, (0, 1, 2), types=types, num_heads=4, kv_num_heads=2, **attributes)


def make_quantized():
    for kind in (np.uint8, np.int8):
        info = np.iinfo(kind)
        a, b = (random.integers(info.min, info.max + 1, shape).astype(kind) for shape in ((2, 3, 4), (3, 1)))
        scales, zeros = [np.array(s, np.float32) for s in (0.25, 0.125, 0.5)], [np.array(z, kind) for z in (3, 7, 100)]
        inputs = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]]
        for op in ("Add", "Mul"):
            case(f"qlinear_{op.lower()}_{kind.__name__}", f"QLinear{op}", inputs)
    zero = 0 * zeros[0]
    case("qlinear_add_no_zero", "QLinearAdd", [a, scales[0], None, b, scales[1], None, scales[2]],
         as_inputs=[a, scales[0], zero, b, scales[1], zero, scales[2], zero])


def make_refused():
    q, k, first = numbers(2, 5, 32), numbers(2, 5, 16), [ints(4, 4), ints(5)]
    refused("fused_matmul_inner", "FusedMatMul", [numbers(2, 3), numbers(2, 3)])
    refused("fused_conv_sum", "FusedConv", [numbers(1, 2, 4, 4), numbers(3, 2, 1, 1), None, numbers(1, 3, 1, 1)])
    refused("fused_conv_activation", "FusedConv", [numbers(1, 2, 4, 4), numbers(3, 2, 1, 1)], activation="Cosine")
    refused("bias_gelu_shape", "BiasGelu", [numbers(2, 3), numbers(4)])
    refused("skip_layer_norm_gamma", "SkipLayerNormalization", [numbers(2, 3), numbers(2, 3), numbers(2)])
    refused("skip_layer_norm_skip", "SkipLayerNormalization", [numbers(1, 3), numbers(2, 3), numbers(3)])
    refused("embed_layer_norm_id", "EmbedLayerNormalization",
            [ints(7).reshape(1, 1), None, numbers(5, 4), numbers(5, 4), None, numbers(4), numbers(4)])
    refused("rotary_position", "RotaryEmbedding", [numbers(1, 1, 8), np.array([9], np.int64), *caches(8, 4)])
    refused("rotary_packed", "RotaryEmbedding", [numbers(1, 1, 8), np.array([0], np.int64), *caches(8, 4)], is_packed_batching=1)
    refused("attention_rotary", "Attention", [numbers(1, 2, 4), numbers(4, 12)], num_heads=2, do_rotary=1)
    refused("attention_heads", "Attention", [numbers(1, 2, 4), numbers(4, 12)], num_heads=3)
    refused("attention_mask", "Attention", [numbers(1, 2, 4), numbers(4, 12), None, ints(1, 2, 3, 4, 5)], num_heads=2)
    refused("multi_head_value", "MultiHeadAttention", [numbers(1, 2, 4), numbers(1, 3, 4), numbers(1, 2, 4)], num_heads=2)
    refused("multi_head_bias", "MultiHeadAttention", [numbers(1, 2, 4), numbers(1, 3, 4), numbers(1, 3, 4), numbers(9)], num_heads=2)
    refused("group_query_heads", "GroupQueryAttention", [q, k, k, None, None, *first], (0, 1, 2), num_heads=4, kv_num_heads=3)
    refused("group_query_lengths", "GroupQueryAttention", [q, k, k, None, None, ints(4, 9), ints(5)], (0, 1, 2), num_heads=4,
            kv_num_heads=2)


def main():
    for folder in ("contrib", "contrib_refused"):
        shutil.rmtree(folder, ignore_errors=True)
    make_products()
    make_gemm()
    make_conv()
    make_gelus()
    make_norms()
    make_embeddings()
    make_rotary()
    make_attention()
    make_multi_head()
    make_group_query()
    make_quantized()
    make_refused()


if __name__ == "__main__":
    main()
