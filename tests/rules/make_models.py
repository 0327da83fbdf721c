"""Writes the models of this stage's cases: DIR/CASE/model.onnx. Needs Python's onnx; run as make_models.py tests/rules."""
import sys

import onnx
from onnx import parser

CASES = {
    # what rules for operators of other domains have to find; see rules.yaml beside it
    "custom_domains": '''
        <ir_version: 9, opset_import: ["" : 21, "com.microsoft" : 1, "my.ops" : 1]>
        g (float[2,4] x) => (float[2,4] y, float[2,4] z)
        <float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}>
        {
          a = com.microsoft.FusedMatMul (x, w)
          b = com.microsoft.FastGelu (a)
          c = com.microsoft.Unheard (b)
          d = my.ops.Strange (c)
          y = MatMul (d, w)
          z = com.microsoft.QuickGelu (y)
        }''',
    # deny, infer, clear, infer, clear, allow, infer: denial ends at the last infer, clear sides with allow
    "tensorflow_denied": '''
        <ir_version: 9, opset_import: ["" : 21]>
        g (float[2,4] x) => (float[2,4] y)
        <float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}>
        {
          a = Exp (x)
          b = Add (a, x)
          c = Relu (b)
          d = Mul (c, c)
          e = Neg (d)
          f = MatMul (e, w)
          y = Sigmoid (f)
        }''',
    # infer and clear between two allowed nodes, clear before and behind them, unlisted and denied ones at the ends
    "tensorflow_between": '''
        <ir_version: 9, opset_import: ["" : 21]>
        g (float[2,4] x) => (float[2,4] y, float[2,4] z)
        <float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}>
        {
          a = Cos (x)
          b = Abs (a)
          c = MatMul (b, w)
          d = Relu (c)
          e = Add (d, x)
          f = MatMul (e, w)
          g = Transpose (f)
          h = Transpose (g)
          y = Tanh (h)
          z = Exp (d)
        }''',
}

for case, text in CASES.items():
    onnx.save(parser.parse_model(text), f"{sys.argv[1]}/{case}/model.onnx")
