#!/usr/bin/env bash
# What the program knows of an operator stands in its descriptor (src/ops/op.h), in the file that defines it: no other file says its
# name, and operators are found by name in the tables of operators only.
set -u
cd ../.. || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# The files that may say names of operators, each with the reason.
allowed=(
  'src/autocast/assign.c'               # which guards ConstantOfShape can fill in a dtype
  'src/autocast/types.c'                # from which opset on the nodes that casts become take a dtype
  'src/autocast/cast_insert.c'          # makes Cast nodes
  'src/autocast/runtimes/'              # what runtimes have, by operator; whether they have Cast
  'src/autocast/forms/'                 # makes other nodes of those that have no form in a dtype
  'src/check/noise/twin.c'              # makes Cast nodes
  'src/onnx/file/read.c'                # makes Identity nodes
  'src/onnx/functions/call.c'           # makes Identity nodes
  'src/onnx/opset/'                     # makes of nodes of one version those of another, also of versions that have no kernel
  'src/onnx/training/make.c'            # makes the nodes of a loss and of an optimizer
  'src/onnx/training/scaler.c'          # makes the nodes that scale gradients
  'src/onnx/schema/schema_table.inc'    # ONNX's own list of operators
  'src/ops/elementwise/gelu.c Tanh'     # a part of the pattern of Gelu, by which its two forms differ
  'src/ops/own/rnn_kernel.h'            # values of attribute activations, which are called like operators
  'src/pattern/composites.inc'          # patterns are written in names of operators
  'src/run/rewrite/fold_scales.c'       # makes Add nodes
  'src/run/rewrite/fuse_composites.c'   # makes Add nodes
  'src/run/rewrite/unroll_recurrence.c'  # makes Concat nodes
  'src/run/rewrite/gradient.c Gradient' # the file of that operator, which has no kernel
)
# The files that may compare an operator's name: the tables, and the rules, whose names users write.
comparing='src/(autocast/rules/match|core/graph/graph|onnx/opset/adapters|onnx/schema/schema|ops/op)\.c'

# said FILE...: "FILE NAME" for each string that is an operator's name, comments apart, unless the file defines the operator:
# `.name = "NAME"`, or "NAME" within a call at the beginning of a line of a macro that makes descriptors.
said() { awk -v NAMES="$scratch/names" "$names_in_strings" "$@" | sort; }
names_in_strings='
  BEGIN { while ((getline line < NAMES) > 0) known[line] = 1 }
  FNR == 1 { in_comment = 0 }
  {
    text = $0
    if (in_comment) {
      end = index(text, "*/")
      if (!end) next
      text = substr(text, end + 2); in_comment = 0
    }
    while (start = index(text, "/*")) {
      rest = substr(text, start + 2); end = index(rest, "*/")
      if (end) text = substr(text, 1, start - 1) substr(rest, end + 2)
      else { text = substr(text, 1, start - 1); in_comment = 1 }
    }
    defines = text ~ /\.name = "/ || text ~ /^[A-Z_]+\(/
    while (match(text, /"[A-Z][A-Za-z0-9]*"/)) {
      name = substr(text, RSTART + 1, RLENGTH - 2)
      text = substr(text, RSTART + RLENGTH)
      if (!(name in known)) continue
      if (defines) defined[FILENAME " " name] = 1
      else said[FILENAME " " name] = 1
    }
  }
  END { for (pair in said) if (!(pair in defined)) print pair }'

sed -nE 's/^ *\{"([A-Z][A-Za-z0-9]*)", ".*/\1/p' src/onnx/schema/schema_table.inc | sort -u >"$scratch/names"
cat >"$scratch/x.c" <<'EOF'
/* "Relu" here /* and "Tanh" there */
if (amp_node_is(node, "", "Conv") || strcmp(name, "relu") == 0) /* "Add"
   "Sub" */ x = "MatMul";
const struct amp_op amp_op_mul = {.name = "Mul"}; call("Mul");
REDUCE(reduce_max, "ReduceMax", 20);
EOF
found=$(said "$scratch/x.c" | cut -d' ' -f2 | tr '\n' ' ')
if [ "$found" = 'Conv MatMul ' ]; then echo 'ok found'; else echo "not ok found: $found"; fi

mapfile -t files < <(find src -name '*.[ch]' -o -name '*.inc' | sort)
names=$(said "${files[@]}")
for prefix in "${allowed[@]}"; do
  if [ "$prefix" != src/onnx/schema/schema_table.inc ] && ! grep -qF "$prefix" <<<"$names"; then
    echo "not ok allowed: $prefix says no name of an operator"
  fi
  names=$(awk -v prefix="$prefix" 'index($0, prefix) != 1' <<<"$names")
done
if [ -z "$names" ]; then echo 'ok names'; else echo "not ok names: ${names//$'\n'/; }"; fi

compared=$(grep -nE 'str(n?case)?cmp\([^;]*(op_type|entry->op\b)' "${files[@]}" | grep -vE "^$comparing:")
if [ -z "$compared" ]; then echo 'ok compared'; else echo "not ok compared: $compared"; fi
