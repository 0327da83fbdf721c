"""Prints the definitions of operators that ONNX Runtime adds to ONNX as lines of facts, the same that dump.cc prints (described
there).

Usage: contrib.py >FACTS, with a Python that has onnx and onnxruntime (1.21 made the table: it is the release whose kernels the
tests compare with). Domain com.microsoft has one version and its operators grow under it: the table knows them as they were
in that release. Nothing but names, types, counts and defaults is taken over.

LayerNormalization-1 and SimplifiedLayerNormalization are ONNX Runtime's too, but sit in ai.onnx. They are known under com.microsoft
as well, where their statistics are float32.

EXPERIMENTS are operators of ai.onnx that ONNX had on trial and dropped in opset 10, of which it has no record any more. ONNX
Runtime does: their first version, and the one that says they are deprecated."""

import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

DOMAIN = "com.microsoft"
OPERATORS = {
    DOMAIN: """Attention BiasGelu EmbedLayerNormalization FastGelu FusedConv FusedGemm FusedMatMul Gelu GroupQueryAttention
               MultiHeadAttention QLinearAdd QLinearMul QuickGelu RotaryEmbedding SkipLayerNormalization
               SkipSimplifiedLayerNormalization TransposeMatMul""".split(),
    "": ["LayerNormalization", "SimplifiedLayerNormalization"]}
EXPERIMENTS = """Affine Crop DynamicSlice GivenTensorFill ImageScaler MeanVarianceNormalization ParametricSoftplus Scale
                 ScaledTanh ThresholdedRelu""".split()


def default_text(attribute):
    """The default as dump.cc writes it; None: there is none."""
    if not attribute._default_value:
        return None
    value = onnx.helper.get_attribute_value(onnx.AttributeProto.FromString(attribute._default_value))
    return value.decode() if isinstance(value, bytes) else str(value)


def print_operator(schema, domain):
    def line(*fields):
        print(*fields, sep="\t")

    def flag(value):
        return str(int(value))

    line("op", domain, schema.name, schema.since_version, flag(schema.deprecated), 0, schema.min_input, schema.max_input, schema.min_output,
         schema.max_output)
    for variable in schema.type_constraints:
        types = ["tensor(float)"] if domain and variable.type_param_str == "U" else variable.allowed_type_strs
        line("type", variable.type_param_str, ", ".join(sorted(types)))
    for kind, parameters in ("in", schema.inputs), ("out", schema.outputs):
        for p in parameters:
            line(kind, p.name, p.typeStr, p.option.name.lower(), flag(p.isHomogeneous), 1)
    for name, attribute in sorted(schema.attributes.items()):
        default = default_text(attribute)
        line("attr", name, attribute.type.name, flag(attribute.required), *([] if default is None else [default]))


def main():
    known = runtime.get_all_operator_schema()
    schemas = {(s.domain, s.name): s for s in known if s.since_version == 1}
    for domain, names in OPERATORS.items():
        for name in names:
            print_operator(schemas[domain, name], domain)
    for name in OPERATORS[""]:
        print_operator(schemas["", name], DOMAIN)
    for schema in known:
        if schema.domain == "" and schema.name in EXPERIMENTS and (schema.since_version == 1 or schema.deprecated):
            print_operator(schema, "")


if __name__ == "__main__":
    main()
