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

for folder in */; do
  family=${folder%/}
  compgen -G "$family/*/model.onnx" >/dev/null || continue
  declare -A said=()
  while IFS= read -r line; do
    name=${line%%:*}
    said[${name#passed }]=$line
  done < <("$AMPCONV" run -v --test-suite "$family" 2>&1 |
    sed -nE "s/^skipped/failed/; s|$family/[^/]*/||g; s|^failed ([^:]*): (model.onnx: )?|\1: |p; /^passed /p")
  for model in "$family"/*/model.onnx; do
    case=${model%/model.onnx} name=${model%/model.onnx}
    name=${name##*/}
    if [ -f "$case/refused" ]; then expected="$name: $(<"$case/refused")"; else expected="passed $name"; fi
    judge "$name" "$expected" "${said[$name]-}"
  done
  unset said
done
