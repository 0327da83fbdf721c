#!/usr/bin/env python3
"""Makes ml/ and ml_refused/: operators of ai.onnx.ml and ai.onnx.preview.training, in the layout of ONNX's backend tests.

ml/: expected outputs are what ONNX Runtime 1.21 computes on the CPU; where it has no kernel for a type, what ONNX's reference
implementation gives, and where both lack or contradict the definition (see `given`), numbers written out here. ml_refused/: attributes
and shapes that do not fit; what is said of them is in ml_refused.txt. Needs onnx, onnxruntime and numpy. Run it in this folder; the
same versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator  # before onnxruntime, which shares its table of operators
import onnxruntime

ML = "ai.onnx.ml"
TRAINING = "ai.onnx.preview.training"
FLOAT, INT64, STRING, DOUBLE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.DOUBLE
TRANSFORMS = "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT".split()
random = np.random.default_rng(11)


def numbers(*shape):
    """Multiples of 1/16 from -2 to 2."""
    return (random.integers(-32, 33, shape) / 16).astype(np.float32)


def weights(*shape):
    return [float(w) for w in numbers(*shape).ravel()]


def strings(*values):
    return np.array(values, dtype=object)


def dtype_of(array):
    return STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)


def proto(value, name):
    if value.dtype == object:
        return helper.make_tensor(name, STRING, value.shape, [str(v).encode() for v in value.ravel()])
    return onnx.numpy_helper.from_array(np.asarray(value), name)


def make_model(op, inputs, types, domain=ML, version=3, **attributes):
    """INPUTS: arrays; TYPES: those of the outputs."""
    tensors = [proto(v, f"x{i}") for i, v in enumerate(inputs)]
    infos = [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in tensors]
    outputs = [helper.make_tensor_value_info(f"y{i}", t, None) for i, t in enumerate(types)]
    node = helper.make_node(op, [t.name for t in tensors], [o.name for o in outputs], domain=domain, **attributes)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(domain, version)]
    return helper.make_model(helper.make_graph([node], "g", infos, outputs), opset_imports=imports, ir_version=8), tensors


def save(folder, model, tensors, values):
    data = f"{folder}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"{folder}/model.onnx")
    for kind, written in (("input", tensors), ("output", [proto(np.asarray(v), f"y{i}") for i, v in enumerate(values)])):
        for i, tensor in enumerate(written):
            with open(f"{data}/{kind}_{i}.pb", "wb") as file:
                file.write(tensor.SerializeToString())


def by_runtime(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {f"x{i}": v for i, v in enumerate(inputs)})


def by_reference(model, inputs):
    return ReferenceEvaluator(model).run(None, {f"x{i}": v for i, v in enumerate(inputs)})


def case(name, op, inputs, types, oracle=by_runtime, given=None, as_float=False, **attributes):
    """AS_FLOAT: ONNX Runtime has the operator for float32 alone, which holds the same values."""
    model, tensors = make_model(op, inputs, types, **attributes)
    if as_float:
        inputs = [v.astype(np.float32) for v in inputs]
        values = [np.asarray(v) for v in oracle(make_model(op, inputs, types, **attributes)[0], inputs)]
    else:
        values = [np.asarray(v) for v in given or oracle(model, inputs)]
    for value, dtype in zip(values, types, strict=True):
        assert dtype_of(value) == dtype, (name, value)
        assert value.dtype == object or np.isfinite(value).all() or "nan" in name, (name, value)
    save(f"ml/{name}", model, tensors, values)


def refused(name, op, inputs, types, **attributes):
    model, tensors = make_model(op, inputs, types, **attributes)
    save(f"ml_refused/{name}", model, tensors, [np.zeros(()) for _ in types])


def make_scales():
    x, nan = numbers(3, 4), np.array([[np.nan, 1, 2, -1], [-1, np.nan, 0, 3]], np.float32)
    wide, whole = numbers(3, 4).astype(np.float64), random.integers(-9, 10, (3, 4))
    each = {"offset": weights(4), "scale": weights(4)}
    case("scaler", "Scaler", [x], [FLOAT], **each)
    case("scaler_row", "Scaler", [x[0]], [FLOAT], **each)
    case("scaler_one", "Scaler", [numbers(2, 3, 2, 2)], [FLOAT], offset=[0.5], scale=[2.0])
    case("scaler_double", "Scaler", [wide], [FLOAT], **each)
    case("scaler_int64", "Scaler", [whole], [FLOAT], **each)
    case("scaler_int32", "Scaler", [whole.astype(np.int32)], [FLOAT], **each)
    case("scaler_empty", "Scaler", [x[:0]], [FLOAT], **each)
    for norm in ("MAX", "L1", "L2"):
        zero = x.copy()
        zero[1] = 0
        case(f"normalizer_{norm.lower()}", "Normalizer", [zero], [FLOAT], norm=norm)
        case(f"normalizer_{norm.lower()}_negative", "Normalizer", [-abs(x)], [FLOAT], norm=norm)
        case(f"normalizer_{norm.lower()}_double", "Normalizer", [wide], [FLOAT], norm=norm)
        case(f"normalizer_{norm.lower()}_int64", "Normalizer", [whole], [FLOAT], norm=norm)
        case(f"normalizer_{norm.lower()}_row", "Normalizer", [x[0]], [FLOAT], norm=norm)
    case("binarizer", "Binarizer", [x], [FLOAT], threshold=0.25)
    case("binarizer_nan", "Binarizer", [nan], [FLOAT], given=[(nan > 0).astype(np.float32)])  # ONNX Runtime refuses it
    case("binarizer_double", "Binarizer", [wide], [DOUBLE], given=[(wide > 0.25).astype(np.float64)], threshold=0.25)
    case("binarizer_int64", "Binarizer", [whole], [INT64], given=[(whole > 1.5).astype(np.int64)], threshold=1.5)
    case("imputer", "Imputer", [nan], [FLOAT], imputed_value_floats=weights(4), replaced_value_float=float("nan"))
    case("imputer_one_nan", "Imputer", [nan], [FLOAT], imputed_value_floats=[7.0], replaced_value_float=-1.0)
    case("imputer_row", "Imputer", [nan[0]], [FLOAT], imputed_value_floats=weights(4), replaced_value_float=float("nan"))
    case("imputer_int64", "Imputer", [whole], [INT64], imputed_value_int64s=[1, 2, 3, 4], replaced_value_int64=int(whole[1, 2]))
    case("imputer_int32", "Imputer", [whole.astype(np.int32)], [TensorProto.INT32],
         given=[np.where(whole == whole[0, 0], 77, whole).astype(np.int32)], imputed_value_int64s=[77],
         replaced_value_int64=int(whole[0, 0]))
    case("imputer_double", "Imputer", [nan.astype(np.float64)], [DOUBLE], imputed_value_floats=[0.5],
         given=[np.where(np.isnan(nan), 0.5, nan).astype(np.float64)], replaced_value_float=float("nan"))


def make_encoders():
    x, text = np.array([[3, 1], [9, 2]]), strings("b", "a", "", "zz")
    names, numbers_ = ["a", "b", "c"], [1, 2, 3]
    case("label_encoder_1_strings", "LabelEncoder", [text], [INT64], version=1, classes_strings=names, default_int64=-7)
    case("label_encoder_1_ints", "LabelEncoder", [x], [STRING], version=1, classes_strings=names)
    case("label_encoder_1_twice", "LabelEncoder", [text], [INT64], version=1, classes_strings=["b", "a", "b"])
    floats = np.array([1, -0.0, np.nan, 2.5], np.float32)
    keys = {"strings": (text, names), "int64s": (x, numbers_), "floats": (floats, [0.0, 1.0, 2.5])}
    values = {"strings": (STRING, names), "int64s": (INT64, [5, 6, 7]), "floats": (FLOAT, [0.5, 1.5, -2.5])}
    for key, (value_in, listed) in keys.items():
        for value, (dtype, given) in values.items():
            if (key, value) in (("int64s", "int64s"), ("floats", "floats"), ("strings", "strings")):
                continue
            case(f"label_encoder_2_{key}_{value}", "LabelEncoder", [value_in], [dtype], version=2,
                 **{f"keys_{key}": listed, f"values_{value}": given})
    case("label_encoder_2_twice", "LabelEncoder", [text], [INT64], version=2, keys_strings=["b", "a", "b"],
         values_int64s=[1, 2, 3], default_int64=9)
    case("label_encoder_2_default", "LabelEncoder", [text], [FLOAT], version=2, keys_strings=names, values_floats=[1., 2., 3.],
         default_float=0.25)
    case("label_encoder_2_empty", "LabelEncoder", [text[:0]], [INT64], version=2, keys_strings=names, values_int64s=[1, 2, 3])

    def tensor(*value):
        return proto(strings(*value) if isinstance(value[0], str) else np.array(value), "t")

    wide = np.array([1.5, np.nan, -0.0, 7], np.float64)
    case("label_encoder_4_double_string", "LabelEncoder", [wide], [STRING], version=4, keys_tensor=tensor(1.5, float("nan"), 0.0),
         values_tensor=tensor("p", "q", "r"), default_tensor=tensor("none"))
    case("label_encoder_4_string_double", "LabelEncoder", [text], [DOUBLE], version=4, keys_tensor=tensor("a", "b"),
         values_tensor=tensor(1.25, 2.25), default_tensor=tensor(-1.0))
    case("label_encoder_4_double_double_nan", "LabelEncoder", [wide], [DOUBLE], version=4,
         keys_tensor=tensor(1.5, float("nan"), 0.0), values_tensor=tensor(2.5, 3.5, float("nan")))
    case("label_encoder_4_string_int16", "LabelEncoder", [text], [TensorProto.INT16], version=4, keys_strings=["a", "b"],
         values_tensor=proto(np.array([3, 4], np.int16), "t"), default_tensor=proto(np.array([-5], np.int16), "t"))
    for dtype in (np.int16, np.int32):  # ONNX Runtime takes no such keys
        case(f"label_encoder_4_{np.dtype(dtype)}_string", "LabelEncoder", [x.astype(dtype)], [STRING], version=4,
             given=[strings("x", "y", "_Unused", "_Unused").reshape(2, 2)], keys_tensor=proto(np.array([1, 3], dtype), "t"),
             values_strings=["y", "x"])
    case("label_encoder_4_nan_string", "LabelEncoder", [floats], [STRING], version=4, keys_floats=[float("nan"), 1.0],
         values_strings=["nan", "one"], default_string="other")
    case("category_mapper_strings", "CategoryMapper", [text], [INT64], cats_strings=names, cats_int64s=[4, 5, 6])
    case("category_mapper_ints", "CategoryMapper", [x], [STRING], cats_strings=names, cats_int64s=numbers_, default_string="?")
    case("category_mapper_twice", "CategoryMapper", [x], [STRING], cats_strings=names, cats_int64s=[1, 3, 1])
    for name, value, categories in (
            ("ints", x, {"cats_int64s": [1, 2, 3]}), ("strings", text, {"cats_strings": names}), ("twice", x, {"cats_int64s": [1, 3, 1]}),
            ("scalar", np.array(2), {"cats_int64s": [1, 2, 3]}), ("floats", np.array([1.75, -0.5, 3]), {"cats_int64s": [0, 1, 3]}),
            ("float32", np.array([1.75, -1.5, 3], np.float32), {"cats_int64s": [-1, 0, 1, 3]})):
        case(f"one_hot_encoder_{name}", "OneHotEncoder", [value], [FLOAT], **categories)
    case("one_hot_encoder_int32", "OneHotEncoder", [x.astype(np.int32)], [FLOAT], cats_int64s=[3, 9],
         given=[(x[..., None] == np.array([3, 9])).astype(np.float32)])
    case("one_hot_encoder_known", "OneHotEncoder", [x], [FLOAT], cats_int64s=[1, 2, 3, 9], zeros=0)


def make_features():
    x, at = numbers(2, 3, 4), np.array([[3, 0, 3]])
    case("extractor", "ArrayFeatureExtractor", [x, at], [FLOAT])
    case("extractor_vector", "ArrayFeatureExtractor", [x[0, 0], at], [FLOAT])
    case("extractor_strings", "ArrayFeatureExtractor", [strings("a", "b", "c", "d").reshape(1, 4), at], [STRING])
    case("extractor_int32", "ArrayFeatureExtractor", [np.arange(8, dtype=np.int32).reshape(2, 4), at[0]], [TensorProto.INT32])
    a, b = numbers(2, 3), numbers(2, 2)
    case("vectorizer", "FeatureVectorizer", [a, b], [FLOAT], inputdimensions=[3, 2])
    case("vectorizer_sizes", "FeatureVectorizer", [a, b], [FLOAT], inputdimensions=[2, 4])
    case("vectorizer_rows", "FeatureVectorizer", [a[0], b[0]], [FLOAT], inputdimensions=[3, 2])
    case("vectorizer_int64", "FeatureVectorizer", [np.arange(4).reshape(2, 2)] * 2, [FLOAT], inputdimensions=[2, 2])
    case("vectorizer_double", "FeatureVectorizer", [a.astype(np.float64)], [FLOAT], inputdimensions=[3])


def labels_of(kind, count):
    """The type of labels, and COUNT of them: strings or ints under the name KIND."""
    if kind == "classlabels_strings":
        return STRING, {kind: ["cat", "dog", "", "mouse"][:count]}
    return INT64, {kind: [30, 10, 20, 40][:count]}


def make_linear():
    x = numbers(5, 3)
    for post in TRANSFORMS:
        scale = 16 if post == "PROBIT" else 1  # what PROBIT takes lies between 0 and 1
        coefficients = [c / scale for c in weights(3, 3)]
        intercepts = [0.5 + c / 8 for c in weights(3)]
        values = {"coefficients": coefficients, "intercepts": intercepts, "post_transform": post}
        for kind in ("classlabels_strings", "classlabels_ints"):
            dtype, labels = labels_of(kind, 3)
            case(f"linear_classifier_{post.lower()}_{kind[12:]}", "LinearClassifier", [x], [dtype, FLOAT], **values, **labels)
        case(f"linear_regressor_{post.lower()}", "LinearRegressor", [x], [FLOAT], targets=3, **values)
        if post == "PROBIT":
            continue  # ONNX Runtime leaves the score of the second class unset
        dtype, labels = labels_of("classlabels_strings", 2)
        case(f"linear_classifier_one_set_{post.lower()}", "LinearClassifier", [x], [dtype, FLOAT], coefficients=weights(3),
             intercepts=[0.25], post_transform=post, **labels)
        case(f"linear_regressor_one_{post.lower()}", "LinearRegressor", [x], [FLOAT], coefficients=weights(3), intercepts=[0.25],
             post_transform=post)
    values = {"coefficients": weights(2, 3), "intercepts": weights(2)}
    dtype, labels = labels_of("classlabels_ints", 2)
    for name, value in (("double", x.astype(np.float64)), ("int64", random.integers(-9, 9, (4, 3))),
                        ("int32", random.integers(-9, 9, (4, 3)).astype(np.int32)), ("row", x[0]), ("empty", x[:0]),
                        ("tie", 0 * x)):
        tie = {"intercepts": [0.5, 0.5]} if name == "tie" else {}
        case(f"linear_classifier_{name}", "LinearClassifier", [value], [dtype, FLOAT], **(values | tie), **labels)
        case(f"linear_regressor_{name}", "LinearRegressor", [value], [FLOAT], targets=2, as_float=True, **values)
    case("linear_classifier_no_label", "LinearClassifier", [x], [INT64, FLOAT], coefficients=weights(3), intercepts=[0.25],
         classlabels_ints=[5])
    case("linear_regressor_no_intercepts", "LinearRegressor", [x], [FLOAT], targets=2, coefficients=weights(2, 3))
    case("linear_regressor_large", "LinearRegressor", [numbers(64, 40)], [FLOAT], targets=16, coefficients=weights(16, 40))


def make_svm():
    x, params = numbers(5, 3) / 2, [0.25, 0.5, 3.0]
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        values = {"kernel_type": kernel, "kernel_params": params, "support_vectors": weights(6, 3)}
        three = values | {"vectors_per_class": [2, 1, 3], "coefficients": weights(2, 6), "rho": weights(3)}
        two = values | {"vectors_per_class": [4, 2], "coefficients": weights(1, 6), "rho": weights(1)}
        probabilities = {"prob_a": [-1.0, -0.5, -2.0], "prob_b": [0.25, 0.0, -0.5]}
        dtype, labels = labels_of("classlabels_strings", 3)
        case(f"svm_classifier_{kernel.lower()}", "SVMClassifier", [x], [dtype, FLOAT], **three, **labels)
        case(f"svm_classifier_{kernel.lower()}_prob", "SVMClassifier", [x], [dtype, FLOAT], **three, **probabilities, **labels)
        dtype, labels = labels_of("classlabels_ints", 2)
        case(f"svm_classifier_{kernel.lower()}_two", "SVMClassifier", [x], [dtype, FLOAT], **two, **labels)
        case(f"svm_classifier_{kernel.lower()}_two_prob", "SVMClassifier", [x], [dtype, FLOAT], prob_a=[-1.5], prob_b=[0.25],
             **two, **labels)
        regressor = {"coefficients": weights(6), "rho": [0.25], "n_supports": 6}
        case(f"svm_regressor_{kernel.lower()}", "SVMRegressor", [x], [FLOAT], **values, **regressor)
        case(f"svm_regressor_{kernel.lower()}_one_class", "SVMRegressor", [x], [FLOAT], one_class=1, **values, **regressor)
    dtype, labels = labels_of("classlabels_strings", 3)
    for post in TRANSFORMS[:4]:
        case(f"svm_classifier_post_{post.lower()}", "SVMClassifier", [x], [dtype, FLOAT], post_transform=post, **three, **labels)
        case(f"svm_classifier_plain_{post.lower()}", "SVMClassifier", [x], [dtype, FLOAT], coefficients=weights(3, 3), rho=[0.125],
             kernel_params=params, post_transform=post, **labels)
        case(f"svm_classifier_two_{post.lower()}", "SVMClassifier", [x], [INT64, FLOAT], post_transform=post, **two,
             classlabels_ints=[4, 3])
    case("svm_classifier_plain_two", "SVMClassifier", [x], [INT64, FLOAT], coefficients=weights(2, 3), rho=[0.125],
         kernel_params=params, classlabels_ints=[4, 3])
    case("svm_classifier_plain_positive", "SVMClassifier", [abs(x)], [INT64, FLOAT], coefficients=[abs(w) for w in weights(2, 3)],
         rho=[0.125], kernel_params=params, classlabels_ints=[4, 3])
    case("svm_classifier_double", "SVMClassifier", [x.astype(np.float64)], [dtype, FLOAT], **three, **labels)
    case("svm_classifier_int64", "SVMClassifier", [random.integers(-2, 3, (4, 3))], [dtype, FLOAT], **three, **labels)
    case("svm_classifier_row", "SVMClassifier", [x[0]], [dtype, FLOAT], **three, **labels)
    case("svm_regressor_plain", "SVMRegressor", [x], [FLOAT], coefficients=weights(3), rho=[0.125], kernel_params=params)
    case("svm_regressor_double", "SVMRegressor", [x.astype(np.float64)], [FLOAT], as_float=True, **values, **regressor)


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def tree_nodes(n_trees, depth, modes, track=True):
    """Lists of nodes of N_TREES random trees over 3 features, and (tree, node) of every leaf."""
    nodes, leaves = [], []

    def grow(tree, depth):
        at = len(own)
        own.append(None)
        if depth == 0 or (depth < 2 and random.random() < 0.25):
            own[at] = (tree, at, "LEAF", 0, 0, 0, 0.0, 0)
            leaves.append((tree, at))
        else:
            yes, no = grow(tree, depth - 1), grow(tree, depth - 1)
            own[at] = (tree, at, str(random.choice(modes)), int(random.integers(3)), yes, no, weights(1)[0],
                       int(track and random.integers(2)))
        return at

    for tree in range(n_trees):
        own = []
        grow(tree, depth)
        nodes += own
    names = "treeids nodeids modes featureids truenodeids falsenodeids values missing_value_tracks_true".split()
    lists = {f"nodes_{n}": list(column) for n, column in zip(names, zip(*nodes))}
    if not track:
        del lists["nodes_missing_value_tracks_true"]
    return lists, leaves


def leaf_weights(prefix, leaves, ids, scale=1.0):
    rows = [(tree, node, i, weights(1)[0] * scale) for tree, node in leaves for i in ids]
    return {f"{prefix}_{n}": list(c) for n, c in zip(("treeids", "nodeids", "ids", "weights"), zip(*rows))}


def as_tensors(attributes, *names):
    """ATTRIBUTES with lists NAMES as float64 tensors."""
    return {f"{k}_as_tensor" if k in names else k: proto(np.array(v, np.float64), k) if k in names else v
            for k, v in attributes.items()}


def make_trees():
    x, nan = numbers(9, 3), numbers(9, 3)
    nan[random.random(nan.shape) < 0.3] = np.nan
    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
        nodes, leaves = tree_nodes(3, 3, MODES[:1])
        for targets in (1, 2):
            values = leaf_weights("target", leaves, range(targets)) | nodes
            name = f"tree_regressor_{aggregate.lower()}_{targets}"
            case(name, "TreeEnsembleRegressor", [x], [FLOAT], n_targets=targets, aggregate_function=aggregate, **values)
            case(f"{name}_base", "TreeEnsembleRegressor", [x], [FLOAT], n_targets=targets, aggregate_function=aggregate,
                 base_values=weights(targets), **values)
    for mode in MODES:
        nodes, leaves = tree_nodes(2, 3, [mode])
        values = leaf_weights("target", leaves, [0]) | nodes
        case(f"tree_regressor_{mode.lower()}", "TreeEnsembleRegressor", [nan], [FLOAT], n_targets=1, **values)
    nodes, leaves = tree_nodes(40, 4, MODES)
    values = leaf_weights("target", leaves, range(3)) | nodes
    for name, value in (("mixed", x), ("nan", nan), ("many", numbers(150, 3)), ("empty", x[:0])):
        case(f"tree_regressor_{name}", "TreeEnsembleRegressor", [value], [FLOAT], n_targets=3, **values)
    for name, value in (("int64", random.integers(-2, 3, (7, 3))), ("int32", random.integers(-2, 3, (7, 3)).astype(np.int32))):
        case(f"tree_regressor_{name}", "TreeEnsembleRegressor", [value], [FLOAT], n_targets=3, as_float=True, **values)
    doubles = as_tensors(values, "nodes_values", "target_weights")
    case("tree_regressor_double", "TreeEnsembleRegressor", [nan.astype(np.float64)], [FLOAT], n_targets=3, **doubles)
    plain, leaves = tree_nodes(2, 2, MODES[:1], track=False)
    case("tree_regressor_1", "TreeEnsembleRegressor", [x], [FLOAT], n_targets=1, version=1,
         **leaf_weights("target", leaves, [0]), **plain)
    for post in TRANSFORMS:
        scale = 1 / 64 if post == "PROBIT" else 1
        base = {"base_values": [0.5, 0.375]} if post == "PROBIT" else {}
        nodes, leaves = tree_nodes(2, 2, MODES)
        case(f"tree_regressor_post_{post.lower()}", "TreeEnsembleRegressor", [x], [FLOAT], n_targets=2, post_transform=post, **base,
             **leaf_weights("target", leaves, range(2), scale), **nodes)
        base = {"base_values": [0.5, 0.375, 0.25]} if post == "PROBIT" else {}
        for kind in ("classlabels_strings", "classlabels_int64s"):
            dtype, labels = labels_of(kind, 3)
            case(f"tree_classifier_{post.lower()}_{kind[12:]}", "TreeEnsembleClassifier", [x], [dtype, FLOAT], post_transform=post,
                 **leaf_weights("class", leaves, range(3), scale), **nodes, **labels, **base)
    make_two_classes(x, nan)


def make_two_classes(x, nan):
    nodes, leaves = tree_nodes(3, 2, MODES[:2])
    for post in TRANSFORMS[:4]:
        for kind in ("classlabels_strings", "classlabels_int64s"):
            dtype, labels = labels_of(kind, 2)
            values = leaf_weights("class", leaves, [0]) | nodes | labels | {"post_transform": post}
            case(f"tree_classifier_one_{post.lower()}_{kind[12:]}", "TreeEnsembleClassifier", [nan], [dtype, FLOAT], **values)
            case(f"tree_classifier_one_{post.lower()}_{kind[12:]}_base", "TreeEnsembleClassifier", [nan], [dtype, FLOAT],
                 base_values=[0.25], **values)
            positive = values | {"class_weights": [abs(w) / 8 for w in values["class_weights"]]}
            case(f"tree_classifier_one_{post.lower()}_{kind[12:]}_positive", "TreeEnsembleClassifier", [x], [dtype, FLOAT], **positive)
    values = leaf_weights("class", leaves, [1]) | nodes
    case("tree_classifier_second", "TreeEnsembleClassifier", [x], [INT64, FLOAT], classlabels_int64s=[4, 3], **values)
    # With weights for both classes ONNX Runtime gives label 1, whatever the labels are, where the score of class 1 is above 0.
    values = leaf_weights("class", leaves, [0, 1]) | nodes
    model, _ = make_model("TreeEnsembleClassifier", [x], [INT64, FLOAT], classlabels_int64s=[4, 3], **values)
    scores = by_runtime(model, [x])[1]
    case("tree_classifier_both", "TreeEnsembleClassifier", [x], [INT64, FLOAT], classlabels_int64s=[4, 3],
         given=[np.array([4, 3])[scores.argmax(1)], scores], **values)
    dtype, labels = labels_of("classlabels_strings", 3)
    values = leaf_weights("class", leaves, range(3)) | nodes | labels | {"base_values": [0.5, 0.25, 1.0]}
    case("tree_classifier_base", "TreeEnsembleClassifier", [x], [dtype, FLOAT], **values)
    case("tree_classifier_1", "TreeEnsembleClassifier", [x], [dtype, FLOAT], version=1, **values)
    case("tree_classifier_int64", "TreeEnsembleClassifier", [random.integers(-2, 3, (7, 3))], [dtype, FLOAT], **values)
    case("tree_classifier_double", "TreeEnsembleClassifier", [nan.astype(np.float64)], [dtype, FLOAT],
         **as_tensors(values, "nodes_values", "class_weights", "base_values"))


def ensemble_nodes(branches, modes, dtype):
    """BRANCHES: feature, split, mode, yes, no, where a child is a branch's number or "L" and a leaf's."""
    def ids(column):
        return [int(str(b[column]).lstrip("L")) for b in branches]

    def leaves(column):
        return [int(str(b[column]).startswith("L")) for b in branches]

    return {"nodes_featureids": [b[0] for b in branches], "nodes_splits": proto(np.array([b[1] for b in branches], dtype), "s"),
            "nodes_modes": proto(np.array([modes[b[2]] for b in branches], np.uint8), "m"),
            "nodes_truenodeids": ids(3), "nodes_falsenodeids": ids(4), "nodes_trueleafs": leaves(3), "nodes_falseleafs": leaves(4)}


def make_ensembles():
    modes = {m: i for i, m in enumerate("LEQ LT GTE GT EQ NEQ MEMBER".split())}
    branches = [(0, 0.25, "LEQ", 1, 2), (1, -0.5, "GT", "L0", "L1"), (2, 0.5, "NEQ", "L2", 3), (1, 0.0, "MEMBER", "L3", "L4"),
                (2, 0.25, "GTE", "L5", "L6")]
    sets = [0.5, -1.0, 1.0]
    for dtype, kind in ((np.float32, FLOAT), (np.float64, DOUBLE)):
        x = numbers(9, 3).astype(dtype)
        x[:4, 2], x[2:6, 1], x[:, 0] = 0.5, 1, np.linspace(-1, 2, 9)
        values = ensemble_nodes(branches, modes, dtype) | {
            "tree_roots": [0, 4], "leaf_targetids": [0, 1, 0, 1, 0, 1, 0], "n_targets": 2,
            "leaf_weights": proto(np.array(weights(7), dtype), "w"), "membership_values": proto(np.array(sets, dtype), "v")}
        for aggregate, name in enumerate("average sum min max".split()):
            case(f"tree_ensemble_{name}_{x.dtype}", "TreeEnsemble", [x], [kind], version=5, aggregate_function=aggregate, **values)
        for post, name in enumerate(TRANSFORMS[:4]):
            # ONNX Runtime counts SOFTMAX and LOGISTIC the other way round.
            model, _ = make_model("TreeEnsemble", [x], [kind], version=5, post_transform=[0, 2, 1, 3][post], **values)
            case(f"tree_ensemble_{name.lower()}_{x.dtype}", "TreeEnsemble", [x], [kind], version=5, post_transform=post,
                 given=by_runtime(model, [x]), **values)
        x[::2, 1] = np.nan
        case(f"tree_ensemble_tracks_{x.dtype}", "TreeEnsemble", [x], [kind], version=5,
             nodes_missing_value_tracks_true=[0, 1, 0, 0, 1], **values)
    stump = ensemble_nodes([(0, 0.0, "LEQ", "L0", "L0")], modes, np.float32)
    case("tree_ensemble_leaf", "TreeEnsemble", [numbers(3, 2)], [FLOAT], version=5, tree_roots=[0], n_targets=1,
         leaf_targetids=[0], leaf_weights=proto(np.array([1.5], np.float32), "w"), **stump)


def map_info(name, key, value):
    info = onnx.ValueInfoProto(name=name)
    info.type.map_type.key_type = key
    info.type.map_type.value_type.tensor_type.elem_type = value
    return info


def map_proto(entries, name, key, value):
    keys = {"string_keys": [k.encode() for k in entries]} if key == STRING else {"keys": list(entries)}
    values = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR)
    for entry in entries.values():
        text = helper.make_tensor("", STRING, [], [entry.encode()]) if value == STRING else None
        values.tensor_values.append(text or onnx.numpy_helper.from_array(np.array(entry, helper.tensor_dtype_to_np_dtype(value))))
    return onnx.MapProto(name=name, key_type=key, values=values, **keys)


def map_case(name, op, entries, key, value, dtype, given=None, **attributes):
    """An operator that takes the map ENTRIES. ONNX Runtime's Python interface makes none but those of float32."""
    output = helper.make_tensor_value_info("y0", dtype, None)
    node = helper.make_node(op, ["x0"], ["y0"], domain=ML, **attributes)
    graph = helper.make_graph([node], "g", [map_info("x0", key, value)], [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)], ir_version=8)
    save(f"ml/{name}", model, [map_proto(entries, "x0", key, value)], given or by_runtime(model, [entries]))


def zip_case(name, x, **labels):
    key = STRING if "classlabels_strings" in labels else INT64
    output = onnx.ValueInfoProto(name="y0")
    output.type.sequence_type.elem_type.CopyFrom(map_info("", key, FLOAT).type)
    node = helper.make_node("ZipMap", ["x0"], ["y0"], domain=ML, **labels)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x0", FLOAT, x.shape)], [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 3)], ir_version=8)
    sequence = onnx.SequenceProto(name="y0", elem_type=onnx.SequenceProto.MAP)
    maps = [{k: m[k] for k in next(iter(labels.values()))} for m in by_runtime(model, [x])[0]]  # it sorts them
    sequence.map_values.extend(map_proto(m, "", key, FLOAT) for m in maps)
    save(f"ml/{name}", model, [proto(x, "x0")], [])
    with open(f"ml/{name}/test_data_set_0/output_0.pb", "wb") as file:
        file.write(sequence.SerializeToString())


def make_maps():
    zip_case("zip_map_strings", numbers(3, 4), classlabels_strings=["b", "a", "", "zz"])
    zip_case("zip_map_ints", numbers(3, 2), classlabels_int64s=[7, -1])
    zip_case("zip_map_row", numbers(4), classlabels_strings=["a", "b", "c", "d"])
    words, ints = {"b": 1.5, "a": -2.0, "zz": 0.25}, {5: 1.5, -2: 3.0, 0: 2.5}
    map_case("dict_vectorizer_strings", "DictVectorizer", words, STRING, FLOAT, FLOAT, string_vocabulary=["a", "b", "c", "zz"])
    map_case("dict_vectorizer_ints", "DictVectorizer", ints, INT64, FLOAT, FLOAT, int64_vocabulary=[0, 5, 3, -2])
    map_case("dict_vectorizer_double", "DictVectorizer", ints, INT64, DOUBLE, DOUBLE, int64_vocabulary=[0, 5, 3, -2],
             given=[np.array([[2.5, 1.5, 0, 3]])])
    map_case("dict_vectorizer_int64", "DictVectorizer", {"b": 3, "a": 4}, STRING, INT64, INT64, string_vocabulary=["a", "c", "b"],
             given=[np.array([[4, 0, 3]])])
    map_case("dict_vectorizer_text", "DictVectorizer", {5: "five", 2: "two"}, INT64, STRING, STRING, int64_vocabulary=[2, 3, 5],
             given=[strings("two", "", "five").reshape(1, 3)])
    numbers_, texts = {3: 1.5, 0: -2.0, 4: 7.25}, {3: "1.5", 0: "-2", 4: "7"}
    for cast, dtype in (("TO_FLOAT", FLOAT), ("TO_INT64", INT64)):
        map_case(f"cast_map_{cast.lower()}", "CastMap", numbers_, INT64, FLOAT, dtype, cast_to=cast)
        map_case(f"cast_map_{cast.lower()}_sparse", "CastMap", numbers_, INT64, FLOAT, dtype, cast_to=cast, map_form="SPARSE", max_map=4)
    sparse = {"map_form": "SPARSE", "max_map": 6}
    map_case("cast_map_texts", "CastMap", texts, INT64, STRING, FLOAT, given=[np.array([[-2, 0, 0, 1.5, 7, 0]], np.float32)],
             cast_to="TO_FLOAT", **sparse)
    map_case("cast_map_texts_to_string", "CastMap", texts, INT64, STRING, STRING, cast_to="TO_STRING",
             given=[strings("-2", "1.5", "7").reshape(1, 3)])
    # What stands for a string that is not there, ONNX leaves open: it is "0.f" in ONNX Runtime.
    map_case("cast_map_texts_sparse", "CastMap", texts, INT64, STRING, STRING, cast_to="TO_STRING",
             given=[strings("-2", "0.f", "0.f", "1.5", "7", "0.f").reshape(1, 6)], **sparse)


def make_optimizers():
    """Written out from the definitions: neither ONNX Runtime nor ONNX's reference implementation of Adam covers them."""
    rate, steps, x, g = np.float32(0.125), np.int64(3), numbers(5).astype(np.float64), numbers(5).astype(np.float64)
    v, h = numbers(5).astype(np.float64), abs(numbers(5)).astype(np.float64) + 0.5
    regular = 0.25 * x + g
    v_new, h_new = 0.5 * v + 0.5 * regular, 0.75 * h + 0.25 * regular ** 2
    adjusted = 0.125 * np.sqrt(1 - 0.75 ** 3) / (1 - 0.5 ** 3)
    case("adam_double", "Adam", [rate, steps, x, g, v, h], [DOUBLE] * 3, domain=TRAINING, version=1,
         given=[0.875 * (x - adjusted * v_new / (np.sqrt(h_new) + 0.0625)), v_new, h_new], alpha=0.5, beta=0.75, epsilon=0.0625,
         norm_coefficient=0.25, norm_coefficient_post=0.125)
    pair = [x.astype(np.float32), x, g.astype(np.float32), g, h.astype(np.float32), h]
    h_new = h + regular ** 2
    x_new = x - 0.125 / (1 + 3 * 0.5) * regular / (np.sqrt(h_new) + 0.0625)
    case("adagrad_mixed", "Adagrad", [rate, steps] + pair, [FLOAT, DOUBLE] * 2, domain=TRAINING, version=1,
         given=[x_new.astype(np.float32), x_new, h_new.astype(np.float32), h_new], decay_factor=0.5, epsilon=0.0625,
         norm_coefficient=0.25)
    for count, beta in ((0, 1), (3, 0.25)):
        v_new = 0.5 * v + beta * regular
        case(f"momentum_{count}", "Momentum", [rate, np.int64(count), x, g, v], [DOUBLE] * 2, domain=TRAINING, version=1,
             given=[x - 0.125 * v_new, v_new], alpha=0.5, beta=0.25, norm_coefficient=0.25, mode="standard")
        case(f"momentum_nesterov_{count}", "Momentum", [rate, np.int64(count), x, g, v], [DOUBLE] * 2, domain=TRAINING, version=1,
             given=[x - 0.125 * (regular + 0.5 * v_new), v_new], alpha=0.5, beta=0.25, norm_coefficient=0.25, mode="nesterov")


def refused_map(name, op, entries, key, value, dtype, **attributes):
    map_case(f"../ml_refused/{name}", op, entries, key, value, dtype, given=[np.zeros(())], **attributes)


def make_refused():
    refused_map("dict_vectorizer_keys", "DictVectorizer", {"a": 1.0}, STRING, FLOAT, FLOAT, int64_vocabulary=[1])
    refused_map("dict_vectorizer_no_words", "DictVectorizer", {"a": 1.0}, STRING, FLOAT, FLOAT)
    refused_map("dict_vectorizer_values", "DictVectorizer", {"a": 1.0}, STRING, FLOAT, INT64, string_vocabulary=["a"])
    refused_map("cast_map_keys", "CastMap", {"a": 1.0}, STRING, FLOAT, FLOAT)
    refused_map("cast_map_negative", "CastMap", {-1: 1.0}, INT64, FLOAT, FLOAT, map_form="SPARSE", max_map=2)
    refused_map("cast_map_size", "CastMap", {1: 1.0}, INT64, FLOAT, FLOAT, map_form="SPARSE", max_map=-2)
    refused_map("cast_map_text", "CastMap", {1: "many"}, INT64, STRING, FLOAT)
    refused_map("cast_map_type", "CastMap", {1: 1.0}, INT64, FLOAT, FLOAT, cast_to="TO_DOUBLE")
    refused("zip_map_labels", "ZipMap", [numbers(2, 3)], [FLOAT], classlabels_int64s=[1, 2])
    x, labels = numbers(2, 3), {"classlabels_ints": [1, 2]}
    refused("scaler_offset", "Scaler", [x], [FLOAT], offset=[1.0, 2.0])
    refused("scaler_images", "Scaler", [numbers(1, 2, 2, 2)], [FLOAT], scale=[1.0, 2.0])
    refused("normalizer_norm", "Normalizer", [x], [FLOAT], norm="L3")
    refused("normalizer_scalar", "Normalizer", [np.float32(1)], [FLOAT], norm="L1")
    refused("imputer_values", "Imputer", [x], [FLOAT], imputed_value_floats=[1.0, 2.0])
    refused("imputer_no_values", "Imputer", [x], [FLOAT], imputed_value_int64s=[1])
    refused("label_encoder_lengths", "LabelEncoder", [np.array([1])], [STRING], version=2, keys_int64s=[1, 2], values_strings=["a"])
    refused("label_encoder_keys", "LabelEncoder", [np.array([1])], [STRING], version=4, keys_strings=["b"], values_strings=["a"])
    refused("label_encoder_default", "LabelEncoder", [np.array([1])], [STRING], version=4, keys_int64s=[1], values_strings=["a"],
            default_tensor=proto(np.array([1.0]), "t"))
    refused("category_mapper_lengths", "CategoryMapper", [np.array([1])], [STRING], cats_int64s=[1], cats_strings=["a", "b"])
    refused("one_hot_unknown", "OneHotEncoder", [np.array([1, 5])], [FLOAT], cats_int64s=[1, 2], zeros=0)
    refused("one_hot_no_categories", "OneHotEncoder", [np.array([1, 5])], [FLOAT], cats_strings=["a"])
    refused("extractor_index", "ArrayFeatureExtractor", [x, np.array([0, 3])], [FLOAT])
    refused("extractor_scalar", "ArrayFeatureExtractor", [np.float32(1), np.array([0])], [FLOAT])
    refused("vectorizer_sizes", "FeatureVectorizer", [x, x], [FLOAT], inputdimensions=[3])
    refused("vectorizer_negative", "FeatureVectorizer", [x], [FLOAT], inputdimensions=[-3])
    refused("vectorizer_rows", "FeatureVectorizer", [x, x[:1]], [FLOAT], inputdimensions=[3, 3])
    refused("linear_coefficients", "LinearRegressor", [x], [FLOAT], coefficients=[1.0, 2.0])
    refused("linear_intercepts", "LinearRegressor", [x], [FLOAT], coefficients=weights(2, 3), intercepts=[1.0], targets=2)
    refused("linear_targets", "LinearRegressor", [x], [FLOAT], coefficients=weights(3), targets=-1)
    refused("linear_rank", "LinearRegressor", [numbers(2, 2, 3)], [FLOAT], coefficients=weights(3))
    refused("linear_labels", "LinearClassifier", [x], [INT64, FLOAT], coefficients=weights(3, 3), intercepts=weights(3), **labels)
    refused("linear_transform", "LinearClassifier", [x], [INT64, FLOAT], coefficients=weights(2, 3), post_transform="SQUARE", **labels)
    svm = {"coefficients": weights(4), "rho": [0.5], "support_vectors": weights(4, 3), "kernel_params": [1.0, 0.0, 2.0]}
    refused("svm_params", "SVMRegressor", [x], [FLOAT], n_supports=4, **(svm | {"kernel_params": [1.0]}))
    refused("svm_vectors", "SVMRegressor", [x], [FLOAT], n_supports=5, **svm)
    refused("svm_coefficients", "SVMRegressor", [x], [FLOAT], n_supports=4, **(svm | {"coefficients": [1.0]}))
    refused("svm_no_rho", "SVMClassifier", [x], [INT64, FLOAT], vectors_per_class=[2, 2], **(svm | {"rho": None}), **labels)
    refused("svm_classes", "SVMClassifier", [x], [INT64, FLOAT], vectors_per_class=[2, 1, 1], **svm, **labels)
    refused("svm_negative", "SVMClassifier", [x], [INT64, FLOAT], vectors_per_class=[-2, 6], **svm, **labels)
    refused("svm_no_labels", "SVMClassifier", [x], [INT64, FLOAT], vectors_per_class=[2, 2], **svm)
    refused("svm_probabilities", "SVMClassifier", [x], [INT64, FLOAT], vectors_per_class=[2, 2], prob_a=[1.0], **svm, **labels)
    make_refused_trees(x)
    rate, count = np.float32(0.1), np.int64(1)
    refused("adam_inputs", "Adam", [rate, count, x, x, x], [FLOAT] * 3, domain=TRAINING, version=1)
    refused("adam_shapes", "Adam", [rate, count, x, x[:1], x, x], [FLOAT] * 3, domain=TRAINING, version=1)
    refused("adagrad_types", "Adagrad", [rate, count, x, x.astype(np.float64), x], [FLOAT] * 2, domain=TRAINING, version=1)
    refused("momentum_rate", "Momentum", [x, count, x, x, x], [FLOAT] * 2, domain=TRAINING, version=1, alpha=0.5, beta=0.5,
            norm_coefficient=0.0, mode="standard")
    refused("momentum_mode", "Momentum", [rate, count, x, x, x], [FLOAT] * 2, domain=TRAINING, version=1, alpha=0.5, beta=0.5,
            norm_coefficient=0.0, mode="heavy")


def make_refused_trees(x):
    nodes = {"nodes_treeids": [7, 7, 7], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_values": [0.5, 0.0, 0.0],
             "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
             "target_treeids": [7, 7], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}
    branches = ["BRANCH_LEQ"] * 3
    for name, changes in (
            ("child", {"nodes_falsenodeids": [3, 0, 0]}), ("itself", {"nodes_truenodeids": [0, 0, 0]}),
            ("cycle", {"nodes_modes": branches, "nodes_truenodeids": [1, 2, 0], "nodes_falsenodeids": [2, 2, 1]}),
            ("twice", {"nodes_nodeids": [0, 1, 1]}), ("lengths", {"nodes_values": [0.5]}), ("modes", {"nodes_modes": ["LEAF"]}),
            ("mode", {"nodes_modes": ["BRANCH_XOR", "LEAF", "LEAF"]}), ("feature", {"nodes_featureids": [3, 0, 0]}),
            ("negative_feature", {"nodes_featureids": [-1, 0, 0]}), ("target", {"target_ids": [0, 1]}),
            ("negative_target", {"target_ids": [0, -1]}), ("weight_node", {"target_nodeids": [1, 4]}),
            ("weight_tree", {"target_treeids": [7, 8]}), ("weight_lengths", {"target_ids": [0]}), ("targets", {"n_targets": 0}),
            ("huge", {"n_targets": 1 << 60}), ("base", {"base_values": [1.0, 2.0]}), ("aggregate", {"aggregate_function": "MEDIAN"}),
            ("other_tree", {"nodes_treeids": [7, 7, 8]}), ("no_nodes", dict.fromkeys(nodes))):
        refused(f"tree_{name}", "TreeEnsembleRegressor", [x], [FLOAT], **(nodes | changes))
    modes = {"LEQ": 0, "MEMBER": 6, "XOR": 9}
    parts = {"tree_roots": [0], "leaf_targetids": [0, 0], "leaf_weights": proto(np.array([1.5, 2.5], np.float32), "w")}
    leaf = [(0, 0.0, "LEQ", "L0", "L1")]
    for name, branches, changes in (
            ("child", [(0, 0.0, "LEQ", "L0", "L2")], {}), ("branch", [(0, 0.0, "LEQ", "L0", 1)], {}),
            ("cycle", [(0, 0.0, "LEQ", 1, "L0"), (0, 0.0, "LEQ", "L0", 0)], {}), ("root", leaf, {"tree_roots": [1]}),
            ("mode", [(0, 0.0, "XOR", "L0", "L1")], {}), ("sets", [(0, 0.0, "MEMBER", "L0", "L1")], {}),
            ("weights", leaf, {"leaf_targetids": [0]}), ("target", leaf, {"leaf_targetids": [0, 1]}),
            ("aggregate", leaf, {"aggregate_function": 4}), ("post", leaf, {"post_transform": -1})):
        refused(f"ensemble_{name}", "TreeEnsemble", [x], [FLOAT], version=5,
                **(parts | changes | ensemble_nodes(branches, modes, np.float32)))


def main():
    for folder in ("ml", "ml_refused"):
        shutil.rmtree(folder, ignore_errors=True)
    make_scales()
    make_encoders()
    make_features()
    make_linear()
    make_svm()
    make_trees()
    make_ensembles()
    make_maps()
    make_optimizers()
    make_refused()


if __name__ == "__main__":
    main()
