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
    """One node. TYPES of the outputs; EXPECTED: arrays, or none at all where it is to be refused."""
    node = helper.make_node(op, [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(len(types))], **attributes)
    save_nodes(folder, name, [node], inputs, types, expected, opset)


def save_nodes(folder, name, nodes, inputs, types, expected=None, opset=20):
    """A graph from x0, x1, ... to y0, y1, ..."""
    given = [proto(v, f"x{i}") for i, v in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(len(types))]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in given],
        [helper.make_tensor_value_info(o, t, None) for o, t in zip(outputs, types)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 21 else 10)
    if folder == "text" and expected is None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        expected = session.run(outputs, {t.name: np.asarray(v) for t, v in zip(given, inputs)})
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


# ---- StringConcat, StringSplit, StringNormalizer

def make_texts():
    x, y = text([[["a", "", "猫"]], [["b", "c", "d"]]]), text([["1"], [""], ["é"], ["4"]])
    save("text", "concat_broadcast", "StringConcat", [x, y], [STRING])
    save("text", "concat_scalar", "StringConcat", [text("pre"), text([])], [STRING])
    save("text", "concat_bytes", "StringConcat", [text([b"\xff\x00z"]), text([b"\xc3"])], [STRING], [text([b"\xff\x00z\xc3"])])

    fields = text([["a,b,,c", ",", ",,a", "no"], ["é,猫", "a,", ", ", "x,y,z,,"]])
    both = [STRING, INT64]
    for most in (0, 1, 3):
        save("text", f"split_most_{most}", "StringSplit", [fields], both, delimiter=",", maxsplit=most)
    save("text", "split_long_delimiter", "StringSplit", [text(["a::b:::c", "::", ":a:"])], both, delimiter="::")
    # ONNX Runtime gives no part for an empty string; as a text between delimiters it is one
    save("text", "split_empty_strings", "StringSplit", [text(["", "a-b"])], both, [text([["", ""], ["a", "b"]]), np.int64([1, 2])],
         delimiter="-")
    words = text(["  a  b ", "", "   ", "c", "d e  f g  "])
    for most in (0, 1, 2):
        save("text", f"split_words_{most}", "StringSplit", [words], both, maxsplit=most)
    save("text", "split_words_none", "StringSplit", [text(["", " "])], both)
    spaces = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
    save("text", "split_words_unicode", "StringSplit", [text(["".join(f"x{c}" for c in spaces), "a\u200bb\u180ec"])], both,
         [text([["x"] * len(spaces), ["a\u200bb\u180ec"] + [""] * (len(spaces) - 1)]), np.int64([len(spaces), 1])])

    every = [chr(c) for c in range(0x110000) if chr(c).upper() != chr(c) or chr(c).lower() != chr(c)]
    basic = text(["".join(c for c in every if c < "\U00010000" and c not in "\u1c89\u1c8a\ua7cb\ua7cc\ua7cd\ua7da\ua7db\ua7dc")])
    for action in ("LOWER", "UPPER"):
        save("text", f"normalizer_{action.lower()}_all", "StringNormalizer", [basic], [STRING], case_change_action=action, locale="C.UTF-8")
    odd = text(["\U00010400\U00010428\U0001e943", "Straße ŉ İı ǅ", b"\xffA\xc3", b"\xe7\x8cB\xed\xa0\x80", b"\xf4\x90\x80\x80c\xc0\x81"])
    save("text", "normalizer_upper_odd", "StringNormalizer", [odd], [STRING],
         [text(["\U00010400\U00010400\U0001e921", "STRAßE ŉ İI Ǆ", b"\xffA\xc3", b"\xe7\x8cB\xed\xa0\x80", b"\xf4\x90\x80\x80C\xc0\x81"])],
         case_change_action="UPPER", locale="tr_TR")
    row = text([["The", "CAT", "É", "é", "sat", "on", "tHe", "Σ", "ς"]])
    for sensitive in (0, 1):
        for action in ("NONE", "LOWER", "UPPER"):
            save("text", f"normalizer_{action.lower()}_{sensitive}", "StringNormalizer", [row], [STRING], stopwords=["the", "É", "σ"],
                 is_case_sensitive=sensitive, case_change_action=action, locale="C.UTF-8")
    save("text", "normalizer_nothing_left", "StringNormalizer", [text([["a", "A"]])], [STRING], [text([[""]])], stopwords=["a"])
    save("text", "normalizer_bytes", "StringNormalizer", [text([b"\xc3", b"a\xe9", b"A\xe9", b"\xe9"])], [STRING],
         [text([b"\xc3", b"\xe9"])], stopwords=[b"A\xe9"])
    save("text", "normalizer_empty", "StringNormalizer", [text([])], [STRING], [text([""])])


def make_refused_texts():
    x = text(["a", "b"])
    save("text_refused", "concat", "StringConcat", [x, text(["a", "b", "c"])], [STRING])
    save("text_refused", "split_rank", "StringSplit", [x.reshape([2] + [1] * 11)], [STRING, INT64])
    save("text_refused", "normalizer_rank", "StringNormalizer", [x.reshape(2, 1)], [STRING])
    save("text_refused", "normalizer_scalar", "StringNormalizer", [text("a")], [STRING])
    save("text_refused", "normalizer_action", "StringNormalizer", [x], [STRING], case_change_action="TITLE")


# ---- RegexFullMatch

def make_regexes():
    patterns = {
        "literals": r"a\.b\-\Qc*d\E{,2}\x{3b1}\x41\101\v", "classes": r"[^\s\d]+[\S]?[[:alpha:]_-]*|[\W\n]{2}|[]a][^]]",
        "case": r"(?i)straße|(?-i:K)\w[k-s]|\p{Lu}\P{Greek}", "lines": r"(?m)(^a$\n?)*", "dot": r".*(?s:.)", "ends": r"\A(^|$|\b|\B)*a\z",
        "counts": r"(a{2,3}b?){1,2}|(?:c{0}d){3,}?", "names": r"(?P<x>a)|(?<y_1>b)|(?U)a*?c+", "nothing": "",
        "email": r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", "nested": "(a*)*(a|aa)+b", "ways": "(x+x+)+y"}
    texts = ["", "a", "b", "aa\x0b", "a.b-c*d{,2}αAA\v", "\n\n", "a\n", "a\na\n", "\n", "ab", "Straße", "STRAßE", "KxL", "kxl", "KſK", "K_\u017f",
             "Éa", "Σx", "Σσ", "aab", "aaaab", "aaabaab", "ddd", "dd", "accc", "猫", "a猫", "\u00a0-", "]x", "a@gmail.com", "a@gmail_com",
             "@yahoo.com!", "a" * 200, "a" * 200 + "b", "x" * 200, "x" * 200 + "y", "\v", "x\vy"]
    for name, pattern in patterns.items():
        save("text", f"regex_{name}", "RegexFullMatch", [text(texts)], [BOOL], pattern=pattern)
    save("text", "regex_bytes", "RegexFullMatch", [text([b"\xff", b"a\xc3", b"", b"a\x00b"])], [BOOL], [np.array([False, False, True, True])],
         pattern=r"(?s).*")


def make_refused_regexes():
    patterns = {
        "look_ahead": "a(?=b)", "look_behind": "(?<=b)a", "atomic": "(?>a*)b", "backreference": r"(a)\1", "named_reference": "(?P<n>a)(?P=n)",
        "possessive": "a++", "recursion": "(a(?R)?)", "conditional": "(a)?(?(1)b)", "verb": "(*UTF)a", "comment": "(?#c)a", "flag": "(?x)a",
        "escape": r"a\R", "byte": r"a\C", "end": r"a\Z", "class": "[a-z", "range": "[z-a]", "class_escape": r"[\b]", "group": "((a)",
        "close": "a)", "nothing": "|*", "counts": "a{3,2}", "many": "(a{40}){40}", "code": r"\x{110000}", "property": r"\p{L",
        "script": r"\p{Nowhere}", "named_class": "[[:letter:]]", "backslash": "a\\", "bytes": b"\xff"}
    for name, pattern in patterns.items():
        save("text_refused", f"regex_{name}", "RegexFullMatch", [text(["a"])], [BOOL], pattern=pattern)
    save("text_refused", "regex_missing", "RegexFullMatch", [text(["a"])], [BOOL])


# ---- Cast

def cast(name, x, to, expected=None, opset=21, **attributes):
    save("text", f"cast_{name}", "Cast", [x], [to], None if expected is None else [expected], opset, to=to, **attributes)


def packed(dtype, values):
    """A tensor of a type that NumPy does not have."""
    return helper.make_tensor("", dtype, [len(values)], values)


def make_casts():
    f32 = [0.1, -0.0, 1, 100, 1e16, 1.5e20, 1e-5, 1e-4, 314.15926, np.inf, -np.inf, np.nan, 1 / 3, 123456789, 16777217, 3.4028235e38, 1e-45]
    numpy_text = lambda a: text([{"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(str(v), str(v)) for v in a])
    for dtype in (np.float32, np.float64):
        cast(f"{dtype.__name__}_to_string", np.array(f32, dtype), STRING, numpy_text(np.array(f32, dtype)))
    f16 = np.float16([0.1, -0.0, 1, 65504, 6e-8, 1 / 3, 2049, np.inf, np.nan])
    cast("float16_to_string", f16, STRING, numpy_text(f16))
    cast("bfloat16_to_string", packed(TensorProto.BFLOAT16, [0.1, 3.140625, -65280, 1e30, float("nan")]), STRING,
         text(["0.1", "3.14", "-65300.0", "1e+30", "NaN"]))
    cast("float8_to_string", packed(TensorProto.FLOAT8E4M3FN, [0.1, -448, 0.001953125]), STRING, text(["0.1", "-450.0", "0.002"]))
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        limits = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        cast(f"{dtype.__name__}_to_string", limits, STRING)
        cast(f"string_to_{dtype.__name__}", text([str(v) for v in limits] + [" +7\n"]), type_of(dtype))
    cast("bool_to_string", np.array([True, False]), STRING)
    cast("int4_to_string", packed(TensorProto.INT4, [-8, 7, 0]), STRING, text(["-8", "7", "0"]))
    cast("string_to_int4", text(["-8", "7", "1"]), TensorProto.INT4, packed(TensorProto.INT4, [-8, 7, 1]))
    cast("string_to_uint4", text(["15", "0", "3.0"]), TensorProto.UINT4, packed(TensorProto.UINT4, [15, 0, 3]))

    literals = text(["1", "-1", " 2 ", "1e3", "1E-2", "+3", "3.7", "-3.7", "inf", "+INF", "-iNf", "nan", "NaN", ".5", "5.", "007", "-0", "1E8", "1e-5",
                     "100.5", "0." + "3" * 300])
    for dtype in (np.float32, np.float64):
        cast(f"string_to_{dtype.__name__}", literals, type_of(dtype))
    values = np.array([float(v) for v in literals])
    cast("string_to_float16", literals, TensorProto.FLOAT16, values.astype(np.float16))
    cast("string_to_bfloat16", text(["1.00390625", "3e38", "4e38", "-1e-40", "1.01171875"]), TensorProto.BFLOAT16,
         packed(TensorProto.BFLOAT16, [1.0, 3.00404e38, float("inf"), -1.00102e-40, 1.015625]))
    cast("string_to_float8", text(["0.1", "1e9", "-INF", "NaN"]), TensorProto.FLOAT8E4M3FN,
         packed(TensorProto.FLOAT8E4M3FN, [0.1015625, 448, -448, float("nan")]))
    cast("string_to_float8_unsaturated", text(["0.1", "1e9", "-INF"]), TensorProto.FLOAT8E4M3FN,
         packed(TensorProto.FLOAT8E4M3FN, [0.1015625, float("nan"), float("nan")]), saturate=0)
    cast("string_beyond", text(["1e400", "-1e400", "1e-400"]), TensorProto.DOUBLE, np.array([np.inf, -np.inf, 0]))
    cast("string_to_bool", text(["0", "1", "-0.0", "0.5", "nan"]), BOOL, np.array([False, True, False, True, True]))
    cast("string_to_int_parts", text(["100.5", "-2.9", "1e3", "18446744073709551616", "NaN"]), INT64,
         np.int64([100, -2, 1000, np.iinfo(np.int64).max, 0]))
    cast("string_to_string", text([["a", ""], ["é", "c"]]), STRING)
    cast("nothing_to_string", np.zeros((0, 2), np.float32), STRING)
    cast("string_9", text(["3.14", "1000"]), TensorProto.FLOAT, opset=9)


def type_of(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def make_refused_casts():
    for name, value in (("words", "Hello World!"), ("empty", ""), ("space", " "), ("hexadecimal", "0x10"), ("rest", "1 2"), ("sign", "+"),
                        ("exponent", "1e"), ("payload", "nan(1)"), ("true", "true"), ("nul", b"1\x002"), ("long", "9" * 200 + "x")):
        for to in (FLOAT, INT64):
            save("text_refused", f"cast_{name}_{to}", "Cast", [text([value])], [to], to=to)


# ---- operators that move elements, whatever these are

def move(name, op, inputs, expected, opset=21, **attributes):
    expected = expected if isinstance(expected, list) else [expected]
    types = [STRING if v.dtype == object else type_of(v.dtype) for v in expected]
    save("text", f"move_{name}", op, inputs, types, expected, opset, **attributes)


def letters(*shape):
    """Strings of one to three letters, some of them not ASCII, one empty."""
    found = np.array([chr(rng.choice([97, 233, 0x732b]) + i % 7) * (1 + i % 3) for i in range(int(np.prod(shape)))], object)
    found[-1] = ""
    return found.reshape(shape)


def make_moves():
    x, x4 = letters(3, 4), letters(1, 4, 2, 2)
    numbers = lambda *v: np.array(v, np.int64)
    move("compress", "Compress", [x, np.array([True, False, True])], x[[0, 2]], axis=0)
    move("compress_flat", "Compress", [x, np.array([False, True])], x.ravel()[[1]])
    move("center_crop_pad", "CenterCropPad", [x, numbers(2, 6)], np.pad(x[:2], ((0, 0), (1, 1)), constant_values=""))
    blocks = x4.reshape(1, 2, 2, 1, 2, 2)
    move("depth_to_space", "DepthToSpace", [x4], blocks.transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 4), blocksize=2)
    move("space_to_depth", "SpaceToDepth", [blocks.transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 4, 4)], x4, blocksize=2)
    move("equal", "Equal", [x, text([x[1, 2], "a", "", x[0, 3]])], x == text([x[1, 2], "a", "", x[0, 3]]))
    move("flatten", "Flatten", [x4], x4.reshape(4, 4), axis=2)
    move("gather_elements", "GatherElements", [x, numbers(2, 0, -1).reshape(1, 3)], x[[2, 0, -1], [0, 1, 2]].reshape(1, 3), axis=0)
    move("gather_nd", "GatherND", [x, np.int64([[0, 1], [2, -1]])], x[[0, 2], [1, 3]])
    move("gather_scalar", "Gather", [x, np.int64(2)], x[2])
    move("identity", "Identity", [x], x)
    move("reshape", "Reshape", [x, numbers(2, -1)], x.reshape(2, 6))
    move("resize", "Resize", [x4, np.float32([]), np.float32([1, 1, 2, 0.5])], x4.repeat(2, 2)[:, :, :, :1], 13, mode="nearest",
         coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    move("upsample", "Upsample", [x4, np.float32([1, 1, 1, 3])], x4.repeat(3, 3), 9)
    move("reverse_sequence", "ReverseSequence", [x, numbers(1, 3, 2, 3)], text([[x[0, 0], x[2, 1], x[1, 2], x[2, 3]],
         [x[1, 0], x[1, 1], x[0, 2], x[1, 3]], [x[2, 0], x[0, 1], x[2, 2], x[0, 3]]]))
    y = x.copy()
    y[[2, 0], [1, 3]] = ["new", ""]
    move("scatter_elements", "ScatterElements", [x, np.int64([[2, 2]]), text([["p", "q"]])],
         np.vstack([x[:2], [["p", "q", x[2, 2], x[2, 3]]]]), axis=0)
    move("scatter_nd", "ScatterND", [x, np.int64([[2, 1], [0, 3]]), text(["new", ""])], y)
    move("shape", "Shape", [x], numbers(3, 4))
    move("size", "Size", [x], np.int64(12))
    move("squeeze", "Squeeze", [x4, numbers(0)], x4[0])
    move("unsqueeze", "Unsqueeze", [x, numbers(1)], x[:, None])
    move("transpose_4d", "Transpose", [x4], x4.transpose(2, 0, 3, 1), perm=[2, 0, 3, 1])
    move("trilu", "Trilu", [x], np.where(np.tri(3, 4, 0, bool), x, ""), upper=0)
    move("where", "Where", [np.array([[True], [False], [True]]), x, text("no")], np.where([[True], [False], [True]], x, "no"))
    move("grid_sample", "GridSample", [x4, np.float32([[[[-1, -1], [1, 1]]]])], x4[:, :, [[0, 1]], [[0, 1]]], mode="nearest",
         align_corners=1)


def make_refused_moves():
    x = letters(1, 1, 2, 2)
    save("text_refused", "resize_linear", "Resize", [x, np.float32([]), np.float32([1, 1, 2, 2])], [STRING], opset=13, mode="linear")
    save("text_refused", "scatter_add", "ScatterND", [x, np.int64([[0]]), x], [STRING], opset=18, reduction="add")
    save("text_refused", "sample_linear", "GridSample", [x, np.zeros((1, 1, 1, 2), np.float32)], [STRING], opset=16)
    save("text_refused", "columns", "Col2Im", [letters(1, 4, 1), np.int64([2, 2]), np.int64([2, 2])], [STRING], opset=18)


# ---- bodies and sequences

def make_graphs():
    node, info = helper.make_node, helper.make_tensor_value_info
    x, y = text(["a", "é", ""]), text(["x", "yz", "猫"])
    branches = [helper.make_graph([node("StringConcat", list(names), ["z"])], "branch", [], [info("z", STRING, None)])
                for names in (("x0", "x1"), ("x1", "x0"))]
    for choice in (True, False):
        save_nodes("text", f"graph_if_{choice}".lower(), [node("If", ["x2"], ["y0"], then_branch=branches[0], else_branch=branches[1])],
                   [x, y, np.array(choice)], [STRING], [x + y if choice else y + x])
    body = helper.make_graph([node("Identity", ["on"], ["still"]), node("StringConcat", ["s", "x1"], ["t"]), node("Identity", ["t"], ["each"])],
                             "body", [info("i", INT64, []), info("on", BOOL, []), info("s", STRING, [3])],
                             [info("still", BOOL, []), info("t", STRING, [3]), info("each", STRING, [3])])
    save_nodes("text", "graph_loop", [node("Loop", ["x2", "", "x0"], ["y0", "y1"], body=body)], [x, y, np.int64(3)], [STRING, STRING],
               [x + y + y + y, np.array([x + y, x + y + y, x + y + y + y])])
    body = helper.make_graph([node("StringConcat", ["s", "e"], ["t"]), node("Identity", ["t"], ["each"])], "body",
                             [info("s", STRING, []), info("e", STRING, [])], [info("t", STRING, []), info("each", STRING, [])])
    steps = text(["", "x", "xyz", "xyz猫"])
    save_nodes("text", "graph_scan", [node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1)], [text(""), y],
               [STRING, STRING], [steps[-1:].reshape(()), steps[1:]])
    save_nodes("text", "graph_sequence",
               [node("SplitToSequence", ["x0"], ["parts"], keepdims=1), node("SequenceInsert", ["parts", "x1", "x2"], ["more"]),
                node("SequenceErase", ["more", "x2"], ["fewer"]), node("SequenceAt", ["more", "x2"], ["y0"]),
                node("ConcatFromSequence", ["more"], ["y1"], axis=0), node("SequenceLength", ["fewer"], ["y2"])],
               [x, y, np.int64(1)], [STRING, STRING, INT64], [y, np.concatenate([x[:1], y, x[1:]]), np.int64(3)])
    save_nodes("text", "graph_optional", [node("Optional", ["x0"], ["maybe"]), node("OptionalGetElement", ["maybe"], ["y0"]),
                                          node("OptionalHasElement", ["maybe"], ["y1"])], [x], [STRING, BOOL], [x, np.array(True)])


def make_refused_graphs():
    save("text_refused", "optional_type", "OptionalGetElement", [np.float32([1])], [STRING], opset=18)


for folder in ("text", "text_refused"):
    shutil.rmtree(folder, ignore_errors=True)
for make in (make_vectorizers, make_refused_vectorizers, make_texts, make_refused_texts, make_regexes, make_refused_regexes, make_casts,
             make_refused_casts, make_moves, make_refused_moves, make_graphs,
             make_refused_graphs):
    make()
