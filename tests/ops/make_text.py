#!/usr/bin/env python3
"""Makes text/ and text_refused/: operators on strings, in the layout of ONNX's backend tests, where those say too little.

Expected outputs are ONNX Runtime's; where it has no kernel or does other than ONNX says, they are written here. What is said of
text_refused/ is in text_refused.txt. Needs onnx, onnxruntime and numpy. Run it in this folder; the same versions give the same bytes.
"""
import os
import shutil

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)
STRING, FLOAT, BOOL, INT64 = TensorProto.STRING, TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


def text(values):
    """An array of strings; items may be bytes that are no UTF-8."""
    return np.array(values, object)


def proto(value, name):
    if isinstance(value, TensorProto):
        value.name = name
        return value
    if value.dtype == object:
        items = [v if isinstance(v, bytes) else v.encode() for v in value.ravel()]
        return helper.make_tensor(name, STRING, value.shape, items)
    return numpy_helper.from_array(np.array(value, order="C"), name)


def save(folder, name, op, inputs, types, expected=None, opset=20, **attributes):
    """One node. TYPES of the outputs; EXPECTED: arrays, or NONE at all where it is to be refused."""
    given = [proto(v, f"x{i}") for i, v in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(len(types))]
    node = helper.make_node(op, [t.name for t in given], outputs, **attributes)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in given],
        [helper.make_tensor_value_info(o, t, None) for o, t in zip(outputs, types)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 21 else 10)
    if folder == "text" and expected is None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expected = session.run(outputs, {t.name: v for t, v in zip(given, inputs)})
    data = f"{folder}/{name}/test_data_set_0"
    os.makedirs(data)
    onnx.save(model, f"{folder}/{name}/model.onnx")
    for kind, tensors in (("input", given), ("output", [proto(v, o) for v, o in zip(expected or [], outputs)])):
        for i, tensor in enumerate(tensors):
            with open(f"{data}/{kind}_{i}.pb", "wb") as file:
                file.write(tensor.SerializeToString())


# ---- TfIdfVectorizer

WORDS = ["the", "cat", "sat", "on", "mat", "猫", ""]


def make_vectorizers():
    pool, counts = ["cat", "the", "猫", "the", "cat", "cat", "sat", "cat", "sat", "on"], [0, 3, 7]
    rows = text(rng.choice(WORDS, (4, 9)))
    for mode in ("TF", "IDF", "TFIDF"):
        for skip in (0, 3):
            save("text", f"tfidf_{mode.lower()}_skip{skip}", "TfIdfVectorizer", [rows], [FLOAT], mode=mode, pool_strings=pool,
                 ngram_counts=counts, ngram_indexes=[4, 0, 2, 1, 3, 5], weights=[0.5, 2, 3, 0.25, 1, 7], min_gram_length=1,
                 max_gram_length=3, max_skip_count=skip)
    numbers = rng.integers(-3, 3, 200)
    more = dict(mode="TF", pool_int64s=[-1, 2, 0, 0, 1, -3, 2, 2, 2, 2], ngram_counts=[0, 2, 6, 6], ngram_indexes=[0, 9, 2, 3, 5])
    for lengths in ((1, 1), (2, 2), (1, 4), (4, 4)):
        save("text", f"tfidf_int64_{lengths[0]}_to_{lengths[1]}", "TfIdfVectorizer", [numbers], [FLOAT], min_gram_length=lengths[0],
             max_gram_length=lengths[1], max_skip_count=500, **more)
    save("text", "tfidf_int32_short_rows", "TfIdfVectorizer", [numbers[:6].astype(np.int32).reshape(6, 1)], [FLOAT],
         min_gram_length=1, max_gram_length=4, max_skip_count=1, **more)
    save("text", "tfidf_empty_row", "TfIdfVectorizer", [numbers[:0]], [FLOAT], min_gram_length=1, max_gram_length=4, max_skip_count=1,
         **more)


def make_refused_vectorizers():
    good = dict(mode="TF", pool_int64s=[1, 2, 3, 4], ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], min_gram_length=1, max_gram_length=2,
                max_skip_count=0)
    row = np.int64([1, 2])
    for name, change in (("length", dict(max_gram_length=3)), ("skip", dict(max_skip_count=-1)), ("counts", dict(ngram_counts=[0, 3])),
                         ("counts_beyond", dict(ngram_counts=[0, 6])), ("few_indexes", dict(ngram_indexes=[0, 1])),
                         ("index", dict(ngram_indexes=[0, -1, 2])), ("twice", dict(pool_int64s=[1, 1, 3, 4])),
                         ("mode", dict(mode="FT")), ("weights", dict(mode="IDF", weights=[1.0]))):
        save("text_refused", f"tfidf_{name}", "TfIdfVectorizer", [row], [FLOAT], **{**good, **change})
    save("text_refused", "tfidf_pool", "TfIdfVectorizer", [text(["a"])], [FLOAT], **good)
    save("text_refused", "tfidf_rank", "TfIdfVectorizer", [np.zeros((1, 1, 1), np.int64)], [FLOAT], **good)


for folder in ("text", "text_refused"):
    shutil.rmtree(folder, ignore_errors=True)
for make in (make_vectorizers, make_refused_vectorizers):
    make()
