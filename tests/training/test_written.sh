#!/usr/bin/env bash
# Models with training_info: what is written is what the case wants, as text, and converting it again changes nothing.
set -u
cd "$CASES/training" || exit 2
case_tool=$here/../build/case_tool
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

for folder in */; do
  name=${folder%/} out=$scratch/${folder%/}
  [ -f "$name/want" ] || continue
  mkdir "$out"
  read -ra options <"$name/options"
  if ! "$AMPCONV" "$name/model.onnx" "${options[@]}" --no-metadata -q -o "$out/model.onnx" 2>"$out/said"; then
    echo "not ok $name: $(<"$out/said")"
    continue
  fi
  if difference=$(diff "$name/want" <("$case_tool" show "$out/model.onnx")); then echo "ok $name"; else echo "not ok $name: $difference"; fi
  "$AMPCONV" "$out/model.onnx" "${options[@]}" --no-metadata -q -o "$out/again.onnx" 2>"$out/said"
  if cmp -s "$out/model.onnx" "$out/again.onnx"; then echo "ok ${name}_again"; else echo "not ok ${name}_again: $(<"$out/said")"; fi
done
