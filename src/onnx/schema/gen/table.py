"""Turns lines of facts about operators into src/onnx/schema/schema_table.inc.

Usage: table.py LIBONNX_FACTS DOC_FACTS CONTRIB_FACTS >schema_table.inc

LIBONNX_FACTS (from dump.cc) counts for every opset that libonnx knows, DOC_FACTS (from changelog.py) for the newer
ones. Where both speak of the same version of an operator they are compared, every difference is printed to stderr, and
a type counts as allowed only if both allow it: a definition that was corrected later is then right for old and new
checkers alike. CONTRIB_FACTS (from contrib.py) are added: operators that ONNX Runtime has beyond ONNX's. Equal arrays
of parameters, types and attributes are stored once.

To make the table again, from the top of the source tree, with a sysroot S that holds libonnx-dev and libprotobuf-dev
(`make oracles` sets one up), its libraries in L, and a checkout of the ONNX repository in ONNX:

    g++ -std=c++17 --sysroot=$S -DONNX_NAMESPACE=onnx -DONNX_ML=1 src/onnx/schema/gen/dump.cc -o build/schema_dump \\
        -B$L -L$L -Wl,-rpath,$L -Wl,--dynamic-linker=$L/ld-linux-x86-64.so.2 -Wl,--allow-shlib-undefined \\
        -lonnx -lonnx_proto -lprotobuf
    build/schema_dump >build/libonnx.tsv
    python3 src/onnx/schema/gen/changelog.py $ONNX/docs >build/docs.tsv
    python3 src/onnx/schema/gen/contrib.py >build/contrib.tsv
    python3 src/onnx/schema/gen/table.py build/libonnx.tsv build/docs.tsv build/contrib.tsv >src/onnx/schema/schema_table.inc
"""

import re
import struct
import sys

# In the order of TensorProto.DataType, from 1.
DTYPES = ("float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 "
          "bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 "
          "int2").split()
ATTRIBUTE_TYPES = ("UNDEFINED FLOAT INT STRING TENSOR GRAPH FLOATS INTS STRINGS TENSORS GRAPHS SPARSE_TENSOR "
                   "SPARSE_TENSORS TYPE_PROTO TYPE_PROTOS").split()
MANY = 2147483647


def float32_text(text):
    """The shortest text that gives the same float32."""
    value = float(text)
    bits = struct.pack("f", value)
    return next(t for t in (f"{value:.{digits}g}" for digits in range(1, 18)) if struct.pack("f", float(t)) == bits)


def doc_text(text):
    """What the documentation says of a float default: five decimals, or six digits where that is long."""
    value = struct.unpack("f", struct.pack("f", float(text)))[0]
    rounded = str(round(value, 5))
    return rounded if len(rounded) <= 10 else f"{value:e}"


class Operator:
    """One version of one operator."""

    def __init__(self, domain, name, since, deprecated, function, *counts):
        self.key = (domain, name, int(since))
        self.deprecated = deprecated == "1"
        self.function = function == "1"
        self.counts = tuple(map(int, counts))
        self.variables, self.inputs, self.outputs, self.attributes = {}, [], [], {}

    def add(self, kind, *fields):
        if kind == "type":
            self.variables[fields[0]] = frozenset(re.split(r", (?=\w+\()", fields[1]))
        elif kind == "attr":
            name, attribute_type, required, *default = fields
            default = default[0] if default else None
            if default is not None and attribute_type == "FLOAT":
                default = float32_text(default)
            self.attributes[name] = (attribute_type, required == "1", default)
        else:
            name, type_text, option, homogeneous, arity = fields
            parameter = (name, type_text, option, homogeneous == "1", int(arity))
            (self.inputs if kind == "in" else self.outputs).append(parameter)

    def default_is(self, name, other):
        """Whether attribute NAME has OTHER's default, as far as the documentation's rounding can tell."""
        mine, theirs = self.attributes[name], other.attributes[name]
        if mine[:2] != theirs[:2] or mine[0] != "FLOAT" or None in (mine[2], theirs[2]):
            return mine == theirs
        return doc_text(mine[2]) == doc_text(theirs[2])

    def differences(self, other):
        """In words; whether there is a function body is left out, as the documentation does not know it by version."""
        if self.deprecated != other.deprecated:
            yield f"deprecated: {self.deprecated} / {other.deprecated}"
        if other.deprecated:
            return
        for variable in sorted(self.variables.keys() & other.variables.keys()):
            mine, theirs = self.variables[variable], other.variables[variable]
            if mine != theirs:
                yield f"{variable}: more {sorted(mine - theirs)} / more {sorted(theirs - mine)}"
        for field in ("counts", "inputs", "outputs"):
            if getattr(self, field) != getattr(other, field):
                yield f"{field}: {getattr(self, field)} / {getattr(other, field)}"
        if self.variables.keys() != other.variables.keys():
            yield f"type variables: {sorted(self.variables)} / {sorted(other.variables)}"
        for name in sorted(self.attributes.keys() | other.attributes.keys()):
            if name not in self.attributes or name not in other.attributes or not self.default_is(name, other):
                yield f"attribute {name}: {self.attributes.get(name)} / {other.attributes.get(name)}"


def read_facts(path):
    operators, releases = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "op":
                operators.append(Operator(*fields))
            elif kind == "release":
                releases.append(tuple(map(int, fields)))
            else:
                operators[-1].add(kind, *fields)
    return {operator.key: operator for operator in operators}, releases


def exact_defaults(operator, operators):
    """Gives float defaults that were rounded in the documentation the exact value of the operator's version before."""
    domain, name, since = operator.key
    earlier = [o for key, o in operators.items() if key[:2] == (domain, name) and key[2] < since]
    before = max(earlier, key=lambda o: o.key, default=None)
    for attribute in operator.attributes:
        if before and attribute in before.attributes and operator.default_is(attribute, before):
            operator.attributes[attribute] = before.attributes[attribute]


def narrow(operator, other):
    """Leaves of each type variable the types that OTHER, where not deprecated, allows too."""
    for variable in operator.variables.keys() & other.variables.keys():
        operator.variables[variable] &= other.variables[variable]


def merge(known, documented, newest):
    merged = dict(known)
    for key, operator in sorted(documented.items(), key=lambda item: item[0][2]):
        if key[2] > newest.get(key[0], 0):
            exact_defaults(operator, merged)
            merged[key] = operator
        elif key in merged:
            narrow(merged[key], operator)
    return merged


def compare(known, documented, newest):
    """Prints how the two sources differ where both speak."""
    compared = 0
    for key in sorted(known.keys() | documented.keys()):
        if key[2] > newest.get(key[0], 0):
            continue
        name = f"{key[0] or 'ai.onnx'} {key[1]}-{key[2]}"
        if key not in known or key not in documented:
            print(f"{name}: only in {'libonnx' if key in known else 'the documentation'}", file=sys.stderr)
            continue
        compared += 1
        for difference in known[key].differences(documented[key]):
            print(f"{name}: {difference}", file=sys.stderr)
    print(f"{compared} versions compared (libonnx / documentation)", file=sys.stderr)


class Pool:
    """An array of rows into which shorter arrays are laid, equal ones once."""

    def __init__(self):
        self.rows, self.places = [], {}

    def add_all(self, arrays):
        for array in sorted(set(arrays), key=lambda a: (-len(a), a)):
            self.places[array] = self.find(array)

    def find(self, array):
        for start in range(len(self.rows) - len(array) + 1):
            if self.rows[start:start + len(array)] == list(array):
                return start
        self.rows.extend(array)
        return len(self.rows) - len(array)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def mask(types, pattern):
    found = (re.fullmatch(pattern, t) for t in types)
    return sum(1 << (DTYPES.index(f.group(1)) + 1) for f in found if f)


def type_row(name, types):
    masks = [mask(types, p) for p in (r"tensor\((\w+)\)", r"seq\(tensor\((\w+)\)\)", r"optional\(tensor\((\w+)\)\)",
                                      r"optional\(seq\(tensor\((\w+)\)\)\)")]
    has_maps = any("map(" in t for t in types)
    assert sum(m.bit_count() for m in masks) + sum("map(" in t for t in types) == len(types), types
    texts = [f"{m:#x}" if m else "0" for m in masks]
    return "{%s, %s, %s}" % (quoted(name) if name else "NULL", ", ".join(texts), "true" if has_maps else "false")


def rows_of(operator):
    """The operator's arrays as rows of C: types, inputs, outputs, attributes."""
    types = list(operator.variables.items())
    for _, type_text, *_ in operator.inputs + operator.outputs:
        if type_text not in operator.variables and (None, frozenset([type_text])) not in types:
            types.append((None, frozenset([type_text])))

    def parameter_row(name, type_text, option, homogeneous, arity):
        variable = (type_text, operator.variables[type_text]) if type_text in operator.variables else \
            (None, frozenset([type_text]))
        flag = "true" if homogeneous else "false"
        return f"{{{quoted(name)}, {types.index(variable)}, AMP_PARAM_{option.upper()}, {flag}, {arity}}}"

    def attribute_row(name, attribute_type, required, default):
        text = "NULL" if default is None else quoted(default)
        return f"{{{quoted(name)}, {ATTRIBUTE_TYPES.index(attribute_type)}, {'true' if required else 'false'}, {text}}}"

    return (tuple(type_row(*t) for t in types), tuple(parameter_row(*p) for p in operator.inputs),
            tuple(parameter_row(*p) for p in operator.outputs),
            tuple(attribute_row(name, *a) for name, a in sorted(operator.attributes.items())))


def print_array(kind, name, rows):
    print(f"\nstatic const struct {kind} {name}[] = {{")
    for row in rows:
        print(f"    {row},")
    print("};")


def print_table(operators):
    operators = [operators[key] for key in sorted(operators)]
    rows = [rows_of(o) for o in operators]
    types, params, attrs = Pool(), Pool(), Pool()
    types.add_all(r[0] for r in rows)
    params.add_all(array for r in rows for array in (r[1], r[2]))
    attrs.add_all(r[3] for r in rows)

    def reference(pool, name, array):
        return f"{name} + {pool.places[array]}, {len(array)}" if array else "NULL, 0"

    def operator_row(operator, arrays):
        domain, name, since = operator.key
        flags = ["true" if flag else "false" for flag in (operator.deprecated, operator.function)]
        counts = ["INT_MAX" if c == MANY else str(c) for c in operator.counts]
        fields = [quoted(name), quoted(domain), str(since), *flags, *counts, reference(params, "params", arrays[1]),
                  reference(params, "params", arrays[2]), reference(types, "types", arrays[0]),
                  reference(attrs, "attrs", arrays[3])]
        return "{" + ", ".join(fields) + "}"

    print_array("amp_schema_type", "types", types.rows)
    print_array("amp_schema_param", "params", params.rows)
    print_array("amp_schema_attr", "attrs", attrs.rows)
    print_array("amp_schema", "schemas", map(operator_row, operators, rows))


def print_releases(releases):
    """For each IR version the newest opset of ai.onnx that came with it."""
    newest = {ir: max(opset for i, opset, _ in releases if i == ir) for ir, _, _ in releases}
    print_array("amp_schema_ir", "ir_versions", [f"{{{ir}, {opset}}}" for ir, opset in sorted(newest.items())])


def main(libonnx_facts, doc_facts, contrib_facts):
    known, _ = read_facts(libonnx_facts)
    contrib, _ = read_facts(contrib_facts)
    documented, releases = read_facts(doc_facts)
    newest = {domain: max(key[2] for key in known if key[0] == domain) for domain in {key[0] for key in known}}
    compare(known, documented, newest)
    merged = contrib | merge(known, documented, newest)
    print("/* Made by schema/gen/table.py from libonnx, ONNX's documentation and ONNX Runtime: facts, not to be edited. */\n"
          "/* clang-format off */")
    print_table(merged)
    print_releases(releases)
    print("/* clang-format on */")


if __name__ == "__main__":
    main(*sys.argv[1:])
