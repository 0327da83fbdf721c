#!/usr/bin/env bash
# Runs the families of operators, which are in the layout of ONNX's backend tests: a case passes, or is refused with the message in its
# file `refused`.
set -u
export OMP_NUM_THREADS=2
cd "$CASES/ops" || exit 2

# judge NAME EXPECTED FOUND
judge() {
  if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: said '$3'"; fi
}

# run_family FAMILY [SUFFIX]: what is said of its cases, each by its name and the suffix
run_family() {
  local family=$1 line name model case expected
  compgen -G "$family/*/model.onnx" >/dev/null || return
  declare -A said=()
  while IFS= read -r line; do
    name=${line%%:*}
    said[${name#passed }]=$line
  done < <("$AMPCONV" run -v --test-suite "$family" 2>&1 |
    sed -nE "s/^skipped/failed/; s|$family/[^/]*/||g; s|^failed ([^:]*): (model.onnx: )?|\1: |p; /^passed /p")
  for model in "$family"/*/model.onnx; do
    case=${model%/model.onnx}
    name=${case##*/}
    if [ -f "$case/refused" ]; then expected="$name: $(<"$case/refused")"; else expected="passed $name"; fi
    judge "$name${2-}" "$expected" "${said[$name]-}"
  done
}

for folder in */; do run_family "${folder%/}"; done

# The families with kernels for CPUs that have AVX2 at most, on those. tests/isa.sh has all families there.
if [ -z "${ONEDNN_MAX_CPU_ISA-}" ] && ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" --version | grep -q 'x86-64-v3'; then
  export ONEDNN_MAX_CPU_ISA=AVX2
  for family in convolution matmul quantized recurrent; do run_family $family ' on AVX2'; done
fi
