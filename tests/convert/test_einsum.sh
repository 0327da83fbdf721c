#!/usr/bin/env bash
# What Einsum nodes are taken apart into computes what they do: the outputs that the cases have, to the bit. A second conversion
# changes nothing.
set -u
cd "$CASES/convert" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

for folder in einsum_*/; do
  name=${folder%/} out=$scratch/${folder%/}
  [ -d "$name/data" ] || continue
  mkdir "$out"
  if ! said=$("$AMPCONV" "$name/model.onnx" -d bf16 -q --data "$name/data" -o "$out/model.onnx" 2>&1); then
    echo "not ok ${name}_values: $said"
    continue
  fi
  said=$("$AMPCONV" run "$out/model.onnx" -q --data "$name/data" --expect "$name/data" -t rtol=0 -t atol=0 2>&1)
  if [ -z "$said" ]; then echo "ok ${name}_values"; else echo "not ok ${name}_values: $said"; fi
  said=$("$AMPCONV" "$out/model.onnx" -d bf16 -q --no-validate -o "$out/again.onnx" 2>&1)
  if cmp -s "$out/model.onnx" "$out/again.onnx"; then echo "ok ${name}_again"; else echo "not ok ${name}_again: $said"; fi
done
