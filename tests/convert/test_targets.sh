#!/usr/bin/env bash
# What the program says of ONNX Runtime's CPU provider, held against ONNX Runtime itself. Models for it (--target ort-cpu) load there, and
# where nothing can be lowered are what they were, byte by byte. Where every float node is lowered, of one case for each version of an
# operator, ONNX Runtime loads what came out unless the report says that it lacks an operator, and then it does not.
# Under the sanitizers only the former, of the models that the project trains.
# Takes long.
set -u
: "${ORACLES:?}" "${BUILD:?}"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
here=$PWD models=$(cd ../../models && pwd)
cd "$CASES" || exit 2
out=$scratch/out.onnx

# What the rule does not hold for, with the reason: ONNX Runtime takes a function apart that it has no kernel for in the dtype.
# MeanVarianceNormalization of rank 2 has no axis 3, which its kernel overlooks; of ReduceLogSumExp without axes an Identity remains.
known=' MeanVarianceNormalization-13 fp16, ReduceLogSumExp-18 bf16, '

loads() { "$ORACLES/ort_run" "$1" --load-only >"$scratch/ort" 2>&1; }

# for_runtime MODEL DTYPE: what is wrong with the conversion.
for_runtime() {
  "$AMPCONV" "$1" -d "$2" --target ort-cpu --no-validate -o "$out" 2>"$scratch/said" || { cat "$scratch/said"; return; }
  loads "$out" || cat "$scratch/ort"
  if grep -q 'the model is unchanged$' "$scratch/said" && ! cmp -s "$1" "$out"; then echo 'it is said to be unchanged'; fi
}

# agrees MODEL DTYPE: how what the report says differs from what ONNX Runtime does with a model that it loads as it is.
agrees() {
  local lacks
  "$AMPCONV" "$1" -d "$2" --node '*=lower' --no-validate -o "$out" 2>"$scratch/said" || return
  cmp -s "$1" "$out" && return
  lacks=$(grep -oE 'not.* ONNX Runtime 1.21 CPU \([^)]*\)' "$scratch/said")
  tried=$((tried + 1))
  if loads "$out"; then echo "${lacks:+it loads: $lacks}"; return; fi
  if [ -n "$lacks" ]; then refused=$((refused + 1)); return; fi
  said=$(tail -1 "$scratch/ort")
  if loads "$1"; then echo "$said"; fi
}

report() { # NAME PROBLEM
  if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $2"; fi
}

"$AMPCONV" "$models/digits_cnn.onnx" --no-validate -q -o "$out" --report "$scratch/page.html"
if grep -q 'not ONNX Runtime 1.21 CPU (no bfloat16 Conv, ' "$scratch/page.html"; then echo 'ok page'; else echo 'not ok page'; fi

unchanged=0
shopt -s nullglob
case $BUILD in *asan*) of_cases='' ;; *) of_cases=$CASES ;; esac
for model in "$of_cases"/composites/*/model.onnx "$models"/*.onnx; do
  name=${model%/model.onnx}
  for dtype in bf16 fp16; do
    report "${name##*/} $dtype" "$(for_runtime "$model" $dtype)"
    if grep -q 'the model is unchanged$' "$scratch/said"; then unchanged=$((unchanged + 1)); fi
  done
done

# FAMILY/CASE of the first case of ops/ with the fields, the first type and the operators that its model has: of the others the versions
# would be found for nothing.
candidates() {
  awk 'function end() { if (name != "" && !seen[key]++) print family "/" name; name = "" }
    FNR == 1 { end(); family = FILENAME; sub(".*/", "", family); sub("[.]cases$", "", family); section = "" }
    /^== </ { end(); section = $0; next }
    /^== / { end(); name = $2; key = section }
    /^<ir_version/ { key = $0 }
    /^[A-Za-z_]+ \([a-z]/ { type = $2; sub("[[].*", "", type); key = key type ";" }
    { while (match($0, /= [A-Za-z_.][A-Za-z0-9_.]*[<(]/)) {
        op = substr($0, RSTART, RLENGTH - 1); $0 = substr($0, RSTART + RLENGTH)
        if (index(key, op ";") == 0) key = key op ";"
      } }
    END { end() }' "$here"/../ops/*.cases
}

declare -A seen
tried=0 refused=0
for case in $(if [ -n "$of_cases" ]; then candidates; fi); do
  model=$of_cases/ops/$case/model.onnx
  version=$("$AMPCONV" "$model" --list 2>/dev/null | sed -nE 's/^node .* \(([A-Za-z.]+-[0-9]+)\).*/\1/p' | sort -u | tr '\n' ' ')
  if [ -z "$version" ] || [ -n "${seen[$version]-}" ]; then continue; fi
  seen[$version]=1
  for dtype in bf16 fp16; do
    agrees "$model" $dtype >"$scratch/problem"
    if [[ $known != *" $version$dtype, "* ]]; then report "$version$dtype" "$(cat "$scratch/problem")"; fi
  done
done
echo "# $unchanged models unchanged; $tried conversions loaded in ONNX Runtime, $refused of them refused as foretold"
if [ -z "$of_cases" ]; then exit; fi
if [ $tried -ge 300 ] && [ $refused -ge 100 ] && [ $unchanged -ge 30 ]; then echo 'ok tried'; else echo 'not ok tried: too few models'; fi
