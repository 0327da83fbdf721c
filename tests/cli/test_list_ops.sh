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
Col2Im C rounded - 18 T float16-64 bfloat16 int8-64 uint8-64
Conv oneDNN native yes 1 11 22 T float16-64 bfloat16
DynamicQuantizeLinear C - - 11 T1 float32; T2 uint8
MatMulInteger oneDNN - - 10 T1 int8 uint8; T2 int8 uint8; T3 int32
Not C - - 1 T bool
SequenceAt C native - 11 S sequence of float16-64 int8-64 uint8-64 bool string complex64-128; T float16-64 int8-64 uint8-64 bool string complex64-128; I int32-64
Where C native yes 9 16 B bool; T float16-64 bfloat16 int8-64 uint8-64 bool string complex64-128
com.microsoft.FusedMatMul oneDNN native - 1 T float16-64 bfloat16
END

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
