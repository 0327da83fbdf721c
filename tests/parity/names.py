#!/usr/bin/env python3
"""Holds what the program decides against PyTorch's lists name by name: one small model for each name of the rule sets' lists.

    names.py make FOLDER             exports the models, NAME.WAY.FORM.onnx, and lists the nodes of each name's operator in
                                     nodes.tsv; needs what record.py needs
    names.py count FOLDER PROGRAM    prints for each rule set and form how many names have the decision of their list, and which
                                     have another; FOLDER/decided.tsv says it for each name

WAY is raw where the operator takes float32 inputs, for lists in the lower dtype; fed where it takes what linear layers gave, for
lists in float32; mixed where its first input comes from a linear layer and the second does not, for lists that promote.
"""
import collections
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = {"torch-cpu": "bf16", "torch-cuda": "fp16", "torch-xpu": "bf16", "gaudi": "bf16"}
WAYS = {"lower": "raw", "fp32": "fed", "widest": "mixed"}
INDEXED = {"Gather", "GatherElements", "ScatterElements", "ScatterND"}
MOVING = ["embedding", "embedding_bag", "index_copy", "index_put", "max_unpool2d", "max_unpool3d", "scatter_add"]  # are such nodes
FORMS = ["ts", "opt", "dy"]
EXTRA = {"einsum", "lstm", "gru", "rnn_tanh", "rnn_relu"}  # in no list


def lists(rules):
    """name -> precision in the rule set RULES; the last rule that names it decides."""
    with open(os.path.join(HERE, "../../rules", rules + ".yaml"), encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    found = {}
    for precision, names in re.findall(r"precision: (\w+)\s+(?:ops_from: .*\s+)?ops: \[([^]]*)\]", text):
        found.update({name.strip(): precision for name in names.split(",")})
    return {name: precision for name, precision in found.items() if name not in EXTRA}


def operators():
    """name -> (shapes of the inputs, function of them)."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class SelfAttention(nn.MultiheadAttention):
        def forward(self, x):
            return super().forward(x, x, x)[0]

    m, v, s = (4, 6), (6,), (4, 4)  # a matrix, a vector, a square matrix
    cube, image, volume, row = (2, 4, 6), (1, 2, 8, 8), (1, 2, 4, 8, 8), (1, 2, 8)
    classes = torch.tensor([0, 1, 2, 3])
    ones = torch.ones(4)
    table = {
        "conv1d": ([row, (2, 2, 3)], F.conv1d), "conv2d": ([image, (2, 2, 3, 3)], F.conv2d),
        "conv3d": ([volume, (2, 2, 1, 3, 3)], F.conv3d),
        "conv_transpose1d": ([row, (2, 2, 3)], F.conv_transpose1d),
        "conv_transpose2d": ([image, (2, 2, 3, 3)], F.conv_transpose2d),
        "conv_transpose3d": ([volume, (2, 2, 1, 3, 3)], F.conv_transpose3d),
        "conv_tbc": ([(8, 1, 2), (3, 2, 2), (2,)], torch.conv_tbc),
        "convolution": ([image, (2, 2, 3, 3)], lambda x, w: torch.convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)),
        "_convolution_nogroup": ([image, (2, 2, 3, 3)], F.conv2d), "bmm": ([cube, (2, 6, 4)], torch.bmm),
        "mm": ([m, (6, 4)], torch.mm),
        "baddbmm": ([(2, 4, 4), cube, (2, 6, 4)], torch.baddbmm), "addmm": ([s, m, (6, 4)], torch.addmm),
        "addbmm": ([s, cube, (2, 6, 4)], torch.addbmm), "addmv": ([(4,), m, v], torch.addmv), "addr": ([m, (4,), v], torch.addr),
        "mv": ([m, v], torch.mv), "dot": ([v, v], torch.dot), "linear": ([m, (4, 6), (4,)], F.linear),
        "matmul": ([cube, (6, 4)], torch.matmul),
        "__matmul__": ([m, (6, 4)], lambda x, y: x @ y), "chain_matmul": ([m, (6, 4), m], torch.chain_matmul),
        "multi_dot": ([m, (6, 4), m], lambda *x: torch.linalg.multi_dot(x)), "linalg_vecdot": ([m, m], torch.linalg.vecdot),
        "prelu": ([image, (2,)], F.prelu), "scaled_dot_product_attention": ([cube, cube, cube], F.scaled_dot_product_attention),
        "_native_multi_head_attention": ([cube], SelfAttention(6, 2, batch_first=True)),
        "mkldnn_rnn_layer": ([cube], nn.LSTM(6, 4)),
        "GRUCell": ([m], nn.GRUCell(6, 4)), "LSTMCell": ([m], nn.LSTMCell(6, 4)), "RNNCell": ([m], nn.RNNCell(6, 4)),
        "batch_norm": ([image, (2,), (2,)], F.batch_norm), "dropout": ([m], lambda x: F.dropout(x, training=False)),
        "feature_dropout": ([image], lambda x: torch.feature_dropout(x, 0.5, False)),
        "group_norm": ([image], lambda x: F.group_norm(x, 2)),
        "instance_norm": ([image], F.instance_norm), "layer_norm": ([m], lambda x: F.layer_norm(x, (6,))),
        "leaky_relu": ([m], F.leaky_relu),
        "mean": ([m], lambda x: x.mean(1)), "mul": ([m, m], torch.mul), "softmax": ([m], lambda x: F.softmax(x, 1)),
        "log_softmax": ([m], lambda x: F.log_softmax(x, 1)), "softmin": ([m], lambda x: F.softmin(x, 1)),
        "avg_pool3d": ([volume], lambda x: F.avg_pool3d(x, 2)),
        "binary_cross_entropy": ([m, m], lambda x, y: F.binary_cross_entropy(x, y)),
        "binary_cross_entropy_with_logits": ([m, m], F.binary_cross_entropy_with_logits),
        "grid_sampler": ([image, (1, 4, 4, 2)], lambda x, g: F.grid_sample(x, g, align_corners=False)),
        "grid_sampler_3d": ([volume, (1, 2, 4, 4, 3)], lambda x, g: F.grid_sample(x, g, align_corners=False)),
        "polar": ([m, m], lambda x, y: torch.view_as_real(torch.polar(x, y))), "prod": ([m], lambda x: x.prod(1)),
        "quantile": ([m], lambda x: torch.quantile(x, 0.5)), "nanquantile": ([m], lambda x: torch.nanquantile(x, 0.5)),
        "stft": ([(1, 64)], lambda x: torch.view_as_real(torch.stft(x, 16, return_complex=True))), "cdist": ([m, m], torch.cdist),
        "trace": ([s], torch.trace), "view_as_complex": ([(4, 2)], lambda x: torch.view_as_real(torch.view_as_complex(x))),
        "cholesky": ([s], torch.linalg.cholesky), "cholesky_inverse": ([s], torch.cholesky_inverse),
        "cholesky_solve": ([s, s], torch.cholesky_solve),
        "inverse": ([s], torch.inverse), "lu_solve": ([s, s], lambda x, y: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), y)),
        "orgqr": ([s, (4,)], torch.orgqr), "ormqr": ([s, (4,), s], torch.ormqr), "pinverse": ([m], torch.pinverse),
        "max_pool3d": ([volume], lambda x: F.max_pool3d(x, 2)),
        "max_unpool2d": ([image], lambda x: F.max_unpool2d(x, torch.arange(128).view(image), 2)),
        "max_unpool3d": ([volume], lambda x: F.max_unpool3d(x, torch.arange(512).view(volume), 2)),
        "adaptive_avg_pool3d": ([volume], lambda x: F.adaptive_avg_pool3d(x, 1)),
        "adaptive_max_pool3d": ([volume], lambda x: F.adaptive_max_pool3d(x, 1)),
        "reflection_pad1d": ([row], lambda x: F.pad(x, (1, 1), "reflect")),
        "reflection_pad2d": ([image], lambda x: F.pad(x, (1, 1, 1, 1), "reflect")),
        "replication_pad1d": ([row], lambda x: F.pad(x, (1, 1), "replicate")),
        "replication_pad2d": ([image], lambda x: F.pad(x, (1, 1, 1, 1), "replicate")),
        "replication_pad3d": ([volume], lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), "replicate")), "mse_loss": ([m, m], F.mse_loss),
        "cosine_embedding_loss": ([m, m], lambda x, y: F.cosine_embedding_loss(x, y, ones)),
        "nll_loss": ([m], lambda x: F.nll_loss(x, classes)),
        "nll_loss2d": ([(1, 4, 2, 2)], lambda x: F.nll_loss(x, classes.view(1, 2, 2))),
        "hinge_embedding_loss": ([m, m], F.hinge_embedding_loss), "poisson_nll_loss": ([m, m], F.poisson_nll_loss),
        "cross_entropy": ([m], lambda x: F.cross_entropy(x, classes)), "l1_loss": ([m, m], F.l1_loss),
        "smooth_l1_loss": ([m, m], F.smooth_l1_loss),
        "huber_loss": ([m, m], F.huber_loss),
        "margin_ranking_loss": ([(4,), (4,)], lambda x, y: F.margin_ranking_loss(x, y, ones)),
        "soft_margin_loss": ([m, m], lambda x, y: F.soft_margin_loss(x, y.detach())),
        "triplet_margin_loss": ([m, m, m], F.triplet_margin_loss),
        "multi_margin_loss": ([m], lambda x: F.multi_margin_loss(x, classes)), "ctc_loss": ([(6, 4, 5)], lambda x: F.ctc_loss(
            x, torch.ones(4, 2, dtype=torch.int64), torch.full((4,), 6), torch.full((4,), 2))),
        "kl_div": ([m, m], F.kl_div),
        "multilabel_margin_loss": ([m], lambda x: F.multilabel_margin_loss(x, torch.zeros(4, 6, dtype=torch.int64))),
        "fake_quantize_per_tensor_affine": ([m], lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255)),
        "geqrf": ([s], torch.geqrf),
        "_lu_with_info": ([s], lambda x: torch.linalg.lu_factor(x)[0]), "qr": ([s], torch.linalg.qr),
        "svd": ([s], torch.linalg.svd),
        "triangular_solve": ([s, s], lambda x, y: torch.triangular_solve(x, y)[0]),
        "fractional_max_pool2d": ([image], lambda x: F.fractional_max_pool2d(x, 2, 4)),
        "fractional_max_pool3d": ([volume], lambda x: F.fractional_max_pool3d(x, 2, (2, 4, 4))),
        "cat": ([m, m], lambda x, y: torch.cat([x, y])),
        "stack": ([m, m], lambda x, y: torch.stack([x, y])), "index_copy": ([m, (2, 6)], lambda x, y: x.index_copy(0, classes[1:3], y)),
        "__pow__": ([m], lambda x: x ** 3), "__rpow__": ([m], lambda x: 2.0 ** x), "__rdiv__": ([m], lambda x: 2.0 / x),
        "acos": ([m], torch.acos), "asin": ([m], torch.asin), "cosh": ([m], torch.cosh),
        "cosine_similarity": ([m, m], F.cosine_similarity),
        "cumprod": ([m], lambda x: x.cumprod(1)), "cumsum": ([m], lambda x: x.cumsum(1)), "dist": ([m, m], torch.dist),
        "erfinv": ([m], torch.erfinv),
        "exp": ([m], torch.exp), "expm1": ([m], torch.expm1), "log": ([m], torch.log), "log10": ([m], torch.log10),
        "log1p": ([m], torch.log1p),
        "log2": ([m], torch.log2), "norm": ([m], lambda x: x.norm(dim=1)), "normalize": ([m], F.normalize),
        "pdist": ([m], F.pdist),
        "pow": ([m, m], torch.pow), "reciprocal": ([m], torch.reciprocal), "rsqrt": ([m], torch.rsqrt), "sinh": ([m], torch.sinh),
        "softplus": ([m], F.softplus), "sum": ([m], lambda x: x.sum(1)), "renorm": ([m], lambda x: torch.renorm(x, 2, 0, 1.0)),
        "tan": ([m], torch.tan),
        "addcdiv": ([m, m, m], torch.addcdiv), "addcmul": ([m, m, m], torch.addcmul), "atan2": ([m, m], torch.atan2),
        "bilinear": ([m, m, (3, 6, 6)], F.bilinear), "cross": ([(4, 3), (4, 3)], lambda x, y: torch.cross(x, y, dim=1)),
        "index_put": ([m, (2, 6)], lambda x, y: x.index_put((classes[1:3],), y)),
        "scatter_add": ([m, m], lambda x, y: x.scatter_add(0, torch.zeros(4, 6, dtype=torch.int64), y)),
        "tensordot": ([m, (6, 4)], lambda x, y: torch.tensordot(x, y, 1)),
        "frobenius_norm": ([m], lambda x: torch.norm(x, "fro", dim=1)),
        "nuclear_norm": ([m], lambda x: torch.norm(x, "nuc")), "add": ([m, m], torch.add), "sub": ([m, m], torch.sub),
        "div": ([m, m], torch.div),
        "iadd": ([m, m], lambda x, y: (x + 0).add_(y)), "embedding": ([m], lambda w: F.embedding(classes, w)),
        "embedding_bag": ([m], lambda w: F.embedding_bag(classes.view(2, 2), w)), "logsumexp": ([m], lambda x: x.logsumexp(1)),
        "topk": ([m], lambda x: x.topk(2)[0]),
        "linalg_cond": ([s], torch.linalg.cond), "linalg_matrix_rank": ([s], torch.linalg.matrix_rank),
        "linalg_solve": ([s, s], torch.linalg.solve),
        "linalg_cholesky_ex": ([s], lambda x: torch.linalg.cholesky_ex(x)[0]), "linalg_svdvals": ([s], torch.linalg.svdvals),
        "linalg_eigvals": ([s], lambda x: torch.view_as_real(torch.linalg.eigvals(x))),
        "linalg_eigvalsh": ([s], torch.linalg.eigvalsh),
        "linalg_inv": ([s], torch.linalg.inv), "linalg_householder_product": ([s, (4,)], torch.linalg.householder_product),
        "linalg_tensorinv": ([(2, 2, 4)], lambda x: torch.linalg.tensorinv(x, 2)),
        "linalg_tensorsolve": ([s, (4,)], torch.linalg.tensorsolve),
        "linalg_eig": ([s], lambda x: torch.view_as_real(torch.linalg.eig(x)[1])), "linalg_eigh": ([s], torch.linalg.eigh),
        "linalg_lstsq": ([s, s], lambda x, y: torch.linalg.lstsq(x, y)[0]),
        "linalg_inv_ex": ([s], lambda x: torch.linalg.inv_ex(x)[0]),
    }
    for kind in "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "rfft2", "rfftn", "ihfft":
        function = getattr(torch.fft, kind)
        table["fft_" + kind] = ([m], lambda x, function=function: torch.view_as_real(function(x).resolve_conj()))
    for kind in "irfft", "irfft2", "irfftn", "hfft":
        function = getattr(torch.fft, kind)
        table["fft_" + kind] = ([(4, 6, 2)], lambda x, function=function: function(torch.view_as_complex(x)))
    same = {"_convolution": "convolution", "linalg_multi_dot": "multi_dot", "gru_cell": "GRUCell", "_thnn_fused_gru_cell": "GRUCell",
            "grid_sample": "grid_sampler", "grid_sampler_2d": "grid_sampler", "_grid_sampler_2d_cpu_fallback": "grid_sampler",
            "nll_loss_nd": "nll_loss", "cross_entropy_loss": "cross_entropy", "multilabel_margin_loss_forward": "multilabel_margin_loss",
            "linalg_cholesky": "cholesky", "linalg_qr": "qr", "linalg_svd": "svd", "__rtruediv__": "__rdiv__", "divide": "div",
            "true_divide": "div", "truediv": "div"}
    table.update({name: table[other] for name, other in same.items()})
    return table


def module(shapes, function, way):
    import torch
    from torch import nn

    class One(nn.Module):
        inputs = tuple(torch.rand(*shape, generator=torch.Generator().manual_seed(1)) for shape in shapes)

        def __init__(self):
            super().__init__()
            count = {"raw": 0, "fed": len(shapes), "mixed": 1}[way]
            self.layers = nn.ModuleList(nn.Linear(shape[-1], shape[-1]) for shape in shapes[:count])
            self.function = function

        def forward(self, *inputs):
            fed = [layer(x) for layer, x in zip(self.layers, inputs)]
            return self.function(*fed, *inputs[len(fed):])

    One.count = {"raw": 0, "fed": len(shapes), "mixed": 1}[way]
    return One


def make(folder):
    import logging
    import warnings

    import onnx

    import exports
    import record

    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    wanted = collections.defaultdict(set)
    for rules in SETS:
        for name, precision in lists(rules).items():
            wanted[name].add(WAYS[precision])
    table = operators()
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, name) for name in ("nodes.tsv", "failed.tsv")]
    with open(paths[0], "w", encoding="utf-8") as out, open(paths[1], "w", encoding="utf-8") as failed:
        for name, way in sorted((name, way) for name, ways in wanted.items() for way in ways):
            one = module(*table[name], way)
            try:
                program, calls = exports.program_of(one)
            except Exception as error:  # each exporter has its own kinds
                failed.write(f"{name}\t{way}\ttorch.export\t{str(error).splitlines()[0]}\n")
                continue
            before = [call for call, kind, _ in calls if kind == "linear"][:one.count]
            for form, model, names in exports.forms(one, program, calls, FORMS):
                if isinstance(model, Exception):
                    failed.write(f"{name}\t{way}\t{form}\t{str(model.__cause__ or model).splitlines()[0]}\n")
                    continue
                for entry in [entry for node in model.graph.node for entry in node.metadata_props if entry.key == exports.TRACE]:
                    entry.value = program.frames.get(entry.value, "")
                onnx.save(model, os.path.join(folder, f"{name}.{way}.{form}.onnx"))
                found = record.computing(model, names, record.MOVES - INDEXED if name in MOVING else record.MOVES)
                nodes = [node.name for call, made in found.items() if call not in before for node, _ in made]
                out.write(f"{name}\t{way}\t{form}\t{' '.join(nodes)}\n")
            out.flush()


def decided(program, path, rules):
    command = [program, path, "--list", "--explain=json", "-d", SETS[rules], "-r", rules, "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return {node["name"]: node["dtype"] for node in json.loads(done.stdout)["nodes"]}
    except ValueError:
        return None


def count(folder, program):
    rows = {}
    with open(os.path.join(folder, "nodes.tsv"), encoding="utf-8") as file:
        for line in file:
            name, way, form, nodes = line.rstrip("\n").split("\t")
            rows[name, way, form] = nodes.split()
    lower, right = {"bf16": "bfloat16", "fp16": "float16"}, collections.Counter()
    with open(os.path.join(folder, "decided.tsv"), "w", encoding="utf-8") as out:
        for rules in SETS:
            for name, precision in sorted(lists(rules).items()):
                for form in FORMS:
                    nodes = rows.get((name, WAYS[precision], form))
                    if not nodes:
                        continue
                    found = decided(program, os.path.join(folder, f"{name}.{WAYS[precision]}.{form}.onnx"), rules)
                    wanted = lower[SETS[rules]] if precision == "lower" else "float32"
                    wrong = ["not converted"]
                    if found is not None:  # what has no type of its choosing stays as it was
                        kept = {node: found.get(node) or "float32" for node in nodes}
                        wrong = [f"{node}: {dtype}" for node, dtype in kept.items() if dtype != wanted]
                    right[rules, form] += not wrong
                    right[rules, form, "all"] += 1
                    out.write(f"{name}\t{rules}\t{form}\t{precision}\t{', '.join(wrong) or 'right'}\n")
                    if wrong:
                        print(f"{name} {rules} {form}: {precision}, but {', '.join(wrong)}")
    for rules in SETS:
        for form in FORMS:
            n, of = right[rules, form], right[rules, form, "all"]
            print(f"{rules} {form}: {n} of {of} names, {100 * n / max(of, 1):.1f} %")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 3:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["count"] and len(sys.argv) == 4:
        count(*sys.argv[2:])
    else:
        sys.exit(__doc__)
