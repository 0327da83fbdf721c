#!/usr/bin/env bash
# Every change of an operator (steps.cases, with the outputs that must stay): each model raised to opset 22 passes
# ONNX's checker (full_check), gives the outputs in the executor before and after, and gives them in ONNX Runtime after; raised
# again, it is the same to the byte. And raised to the newest opset of an ONNX release: in the executor only. Under the sanitizers one
# in $STEP of them.
# Takes long.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${AMPCONV:?the program}" "${ORACLES:?checker and ONNX Runtime}"
opset=22 newest=27
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$here/../oracle/ort_plain.sh"
steps=$CASES/upgrade/steps n_folders=0
cd "$scratch" || exit 1

raise() { # FROM TO OPSET
  "$AMPCONV" "$1" --dtype fp32 --opset "$3" --no-validate -q -o "$2"
}

# The names below FOLDER that pass in the executor.
passing() {
  "$AMPCONV" run -v --test-suite "$1" 2>/dev/null | sed -n 's/^passed //p'
}

# Puts ONNX Runtime's outputs of raised/NAME into ort/NAME; into NAME.skipped that it has no kernel.
runs_in_onnx_runtime() {
  local name=$1 data=$1/test_data_set_0 words=() input code
  for input in "$steps/$data"/input_*.pb; do
    words+=("$(sed -n "s/^input \([^ ]*\) .*/\1/p" "$name.dump" | sed -n "$((${#words[@]} + 1))p")=$input")
  done
  mkdir -p "ort/$data"
  cp "$steps/$data"/input_*.pb "ort/$data"
  ort_plain "raised/$name/model.onnx" "ort/$data" "${words[@]}" >said 2>&1
  code=$?
  if [ $code -eq 4 ]; then mv said "$name.skipped"; return 0; fi
  [ $code -eq 0 ] || { cat said; return 1; }
  ln -sf "$steps/$name/model.onnx" "ort/$name/model.onnx"
}

stays() { # NAME
  raise "raised/$1/model.onnx" again.onnx $opset && cmp "raised/$1/model.onnx" again.onnx
}

mkdir raised newest ort
folders=()
for folder in "$steps"/*/; do
  if ((n_folders++ % ${STEP-1} == 0)); then folders+=("$folder"); fi
done
for folder in "${folders[@]}"; do
  name=$(basename "$folder")
  mkdir "raised/$name" "newest/$name"
  ln -s "$folder/test_data_set_0" "raised/$name/"
  ln -s "$folder/test_data_set_0" "newest/$name/"
  raise "$folder/model.onnx" "raised/$name/model.onnx" $opset 2>>"$name.said"
  raise "$folder/model.onnx" "newest/$name/model.onnx" "$newest" 2>>"$name.said"
  "$AMPCONV" "raised/$name/model.onnx" --dump-after=read >"$name.dump" 2>&1
  runs_in_onnx_runtime "$name" >>"$name.said" 2>&1
  stays "$name" >>"$name.said" 2>&1 || touch "$name.again"
done
"$ORACLES/onnx_check" raised/*/model.onnx >checked 2>&1
passing "$steps" >before
passing raised >after
passing newest >after_newest
passing ort >in_ort

for folder in "${folders[@]}"; do
  name=$(basename "$folder")
  failed=
  grep -qx "$name" before || failed+=' before'
  grep -qx "$name" after || failed+=" raised"
  grep -qx "$name" after_newest || failed+=' newest'
  ! grep -q "raised/$name/" checked || failed+=' checker'
  [ -e "$name.skipped" ] || grep -qx "$name" in_ort || failed+=' ort'
  ! [ -e "$name.again" ] || failed+=' again'
  if [ -z "$failed" ]; then echo "ok $name"; else echo "not ok $name:$failed $(cat "$name.said") $(grep "raised/$name/" checked)"; fi
done
echo "# $(wc -l <after) of $(wc -l <before) raised models pass; in ONNX Runtime $(wc -l <in_ort), which has no kernel for $(find . -name "*.skipped" | wc -l)"
