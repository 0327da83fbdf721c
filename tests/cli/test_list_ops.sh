#!/usr/bin/env bash
# `ampconv run --list-ops`: a line per operator of the schema table, in step with the list of kernels, as text, as JSON and in the
# manual. That what it says of types is so, unit/test_dtypes.c holds against runs.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

verdict() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $2"; fi; }

"$AMPCONV" run --list-ops >"$scratch/text" 2>"$scratch/said" || echo "exit $?" >>"$scratch/said"
verdict 'it says nothing else' "$(cat "$scratch/said")"
"$AMPCONV" run --list-ops --json - >"$scratch/json" 2>&1
"$AMPCONV" run --list-ops --json="$scratch/file" >"$scratch/again" 2>&1
verdict 'JSON in a file, text on stdout' "$(cmp "$scratch/json" "$scratch/file" 2>&1; cmp "$scratch/text" "$scratch/again" 2>&1)"

# What is in the table does not change with new operators.
while IFS= read -r line; do
  verdict "${line%% *}" "$(tr -s ' ' <"$scratch/text" | grep -qxF -- "$line" || grep -F "${line%% *} " "$scratch/text")"
done <<'END'
OPERATOR KERNEL LOWER GRADIENT VERSIONS TYPES
Abs C native yes 1 6 13 T float16-64 bfloat16 int8-64 uint8-64
AffineGrid C rounded - 20 T1 float16-64 bfloat16; T2 int64
BlackmanWindow C native - 17 T1 int32-64; T2 float16-64 bfloat16 int8-64 uint8-64
Cast C native yes 1 6 9 13 19 21 23 24 25 T1 float16-64 bfloat16 int8-64 uint8-64 bool string float8 float8e8m0 float4e2m1 int4 uint4 int2 uint2; T2 float16-64 bfloat16 int8-64 uint8-64 bool string float8 float8e8m0 float4e2m1 int4 uint4 int2 uint2
Col2Im C rounded - 18 T float16-64 bfloat16 int8-64 uint8-64
Conv oneDNN native yes 1 11 22 T float16-64 bfloat16
DynamicQuantizeLinear C - - 11 T1 float32; T2 uint8
GRU oneDNN rounded yes 1 3 7 14 22 T float16-64 bfloat16; T1 int32
MatMulInteger oneDNN - - 10 T1 int8 uint8; T2 int8 uint8; T3 int32
Not C - - 1 T bool
OptionalHasElement C native - 15 18 O float16-64 int8-64 uint8-64 bool string complex64-128 sequence of float16-64 int8-64 uint8-64 bool string complex64-128 optional of float16-64 int8-64 uint8-64 bool string complex64-128 optional sequence of float16-64 int8-64 uint8-64 bool string complex64-128; B bool
QuantizeLinear C native - 10 13 19 21 23 24 25 T1 float16-32 bfloat16 int32; T2 float16-32 bfloat16 int32 float8e8m0; T3 int8-16 uint8-16 float8 float4e2m1 int4 uint4 int2 uint2
SequenceAt C native - 11 S sequence of float16-64 int8-64 uint8-64 bool string complex64-128; T float16-64 int8-64 uint8-64 bool string complex64-128; I int32-64
Where C native yes 9 16 B bool; T float16-64 bfloat16 int8-64 uint8-64 bool string complex64-128
ai.onnx.ml.ArrayFeatureExtractor C - - 1 T float32-64 int32-64 string
ai.onnx.ml.CastMap C - - 1 T1 map; T2 float32 int64 string
com.microsoft.FusedMatMul oneDNN native - 1 T float16-64 bfloat16
END

# Columns begin below their titles, two blanks behind the longest of the one before.
verdict 'columns' "$(awk 'NR == 1 { n = split("KERNEL LOWER GRADIENT VERSIONS TYPES", titles, " ") }
  { lines[NR] = $0 }
  END {
    for (i = 1; i <= n; i++) {
      at = index(lines[1], titles[i]); tight = 0
      for (k = 1; k <= NR; k++) {
        if (substr(lines[k], at - 2, 2) != "  " || substr(lines[k], at, 1) == " ") print titles[i], "in", lines[k]
        tight += substr(lines[k], at - 3, 1) != " "
      }
      if (!tight) print "before", titles[i], "there is more room than it takes"
    }
  }' "$scratch/text")"

# A kernel for each entry of the list, and no other.
kernels=$(awk 'NR > 1 && $2 != "-"' "$scratch/text" | wc -l)
listed=$(grep -c '^AMP_OP(' "$root/src/ops/op_list.h")
verdict 'as many kernels as in the list' "$([ "$kernels" -eq "$listed" ] || echo "$kernels, $listed in the list")"

# The same in JSON: names, versions, kernels.
awk 'NR > 1 { sub(/^.*\./, "", $1); print $1, $2, $3, $4 == "yes" ? "true" : "false" }' "$scratch/text" >"$scratch/from_text"
sed -nE 's/^ {6}"(name|kernel|lower|gradient)": "?([^",]*)"?,?$/\1 \2/p' "$scratch/json" | sed 's/ null$/ -/' |
  awk '$1 == "name" { name = $2 } $1 == "kernel" { kernel = $2 } $1 == "lower" { lower = $2 } $1 == "gradient" { print name, kernel, lower, $2 }' >"$scratch/from_json"
verdict 'JSON says the same' "$(diff "$scratch/from_text" "$scratch/from_json")"

"$root/man/ops.sh" "$AMPCONV" >"$scratch/page" 2>&1
pages=$(grep -c '^\.TP$' "$scratch/page")
verdict 'all are in the manual' "$([ "$pages" -eq $(($(wc -l <"$scratch/text") - 1)) ] || echo "$pages")"
