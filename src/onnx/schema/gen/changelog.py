"""Reads the operators' definitions out of ONNX's documentation and prints them as lines of facts, the same that dump.cc
prints (described there).

Usage: changelog.py DOCS >FACTS, where DOCS is the folder docs/ of the ONNX repository (Changelog.md, Changelog-ml.md,
Operators.md and Versioning.md are read). Nothing but names, types, counts and defaults is taken over. In addition to
dump.cc's lines there is one per release of ONNX:
    release  IR version  opset of ai.onnx  opset of ai.onnx.ml

Of the experiments of ai.onnx.preview the newest definition is read, as version 1.

What the documentation does not say: which versions of an operator have a function body (all versions of an operator
that has one count), the definitions of deprecated versions, and defaults beyond five decimals."""

import re
import sys

MANY = "2147483647"
INFINITY = "&#8734;"
ATTRIBUTE_TYPES = {"int": "INT", "float": "FLOAT", "string": "STRING", "tensor": "TENSOR", "graph": "GRAPH",
                   "sparse_tensor": "SPARSE_TENSOR", "type_proto": "TYPE_PROTO",
                   "list of ints": "INTS", "list of floats": "FLOATS", "list of strings": "STRINGS"}


def function_operators(text):
    """The operators in the table headed "Function"."""
    table = re.search(r"^\|\*\*Function\*\*.*?\n\n", text, re.M | re.S).group()
    return set(re.findall(r'<a href="#(\w+)">', table))


def releases(text):
    for row in re.findall(r"^\d[\d.]+\|(\d+)\|(\d+)\|(\d+)\|", text, re.M):
        yield "release", *row


def counts(section, items):
    """The smallest and the largest count of a section headed "Inputs (1 - 3)" or just "Inputs"."""
    given = re.match(r".*\((\S+) - (\S+)\)\n", section)
    low, high = given.groups() if given else (len(items), len(items))
    return str(low), MANY if high == INFINITY else str(high)


def parameters(kind, section):
    """Lines for the inputs or outputs, and their counts."""
    items = re.findall(r"^<dt><tt>(.*?)</tt>(?: \((.*?)\))? : (.*)</dt>$", section, re.M)
    low, high = counts(section, items)
    lines = []
    for i, (name, tags, type_text) in enumerate(items):
        option = next((o for o in ("optional", "variadic") if o in tags), "single")
        arity = max(int(low) - i, 0) if option == "variadic" else 1
        lines.append((kind, name, type_text, option, str(int("heterogeneous" not in tags)), str(arity)))
    return lines, low, high


def default_text(text):
    """A default as dump.cc writes it: lists without quotes, long numbers without parentheses."""
    if text.startswith("["):
        return text.replace("'", "")
    return text[1:-1] if text.startswith("(") else text


def attributes(section):
    pattern = r"^<dt><tt>(.*?)</tt> : ([a-z_ ]+?)(?: \((.*)\))?</dt>$"
    for name, type_text, rest in re.findall(pattern, section, re.M):
        line = ("attr", name, ATTRIBUTE_TYPES[type_text], str(int(rest == "required")))
        yield line + ((default_text(rest[len("default is "):]),) if rest.startswith("default") else ())


def operator(domain, heading, body, functions):
    """Lines for one version of one operator; HEADING is like "ai.onnx.ml.Scaler-1" with what follows it."""
    name, since = re.match(r"(?:.*\.)?(\w+)-(\d+)", heading).groups()
    sections = {s.split(None, 1)[0]: s for s in re.split(r"^#### ", body, flags=re.M)[1:]}
    inputs, min_in, max_in = parameters("in", sections.get("Inputs", "\n"))
    outputs, min_out, max_out = parameters("out", sections.get("Outputs", "\n"))
    yield ("op", domain, name, since, str(int("(deprecated)" in heading)), str(int(name in functions)),
           min_in, max_in, min_out, max_out)
    for variable, types in re.findall(r"^<dt><tt>(.*?)</tt> : (.*)</dt>$", sections.get("Type", ""), re.M):
        yield "type", variable, types
    yield from inputs
    yield from outputs
    yield from attributes(sections.get("Attributes", ""))


def domain_part(text, domain):
    """The part of a change log about one domain."""
    title = "ai.onnx (default)" if domain == "" else domain
    return re.search(r"^# " + re.escape(title) + r"\n(.*?)(?=^# |\Z)", text, re.M | re.S).group(1)


def facts(read):
    """All lines; READ gives the text of a file of the documentation."""
    yield from releases(read("Versioning.md"))
    functions = function_operators(read("Operators.md"))
    parts = (("Changelog.md", ""), ("Changelog.md", "ai.onnx.preview"), ("Changelog.md", "ai.onnx.preview.training"),
             ("Changelog-ml.md", "ai.onnx.ml"))
    for name, domain in parts:
        for entry in re.split(r'^### <a name="[^"]*"></a>', domain_part(read(name), domain), flags=re.M)[1:]:
            heading, body = entry.split("\n", 1)
            yield from operator(domain, heading.replace("*", ""), body, functions)


def main(folder):
    def read(name):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            return file.read()

    for line in facts(read):
        print("\t".join(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
