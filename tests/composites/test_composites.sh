#!/usr/bin/env bash
# Every model of the stage that has a list `composites`: the nodes that are found to be parts of composites are those that the list names, no more and no
# less. Converted to both types by rules that decide about operators one by one, it is valid for ONNX's checker, gives what the model
# gave before, within tolerance, and converts to itself.
# Takes long.
set -u
top=$(cd ../.. && pwd)
cd "$CASES/composites" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# "NODE COMPOSITE" for every part, by a set that names operators of ONNX alone, so that all patterns count.
found() { "$AMPCONV" "$1" -d fp16 --rules ort-float16 --dump-after=assign | sed -nE "s/^ *node [^ ]+ '([^']*)' .* of ([A-Za-z0-9_]+)$/\1 \2/p"; }

converted() {
  local out=$scratch/$case.$1.$2.onnx
  "$AMPCONV" "$case/model.onnx" -d "$1" --rules "$2" -o "$out" -q &&
    "$AMPCONV" "$out" -d "$1" --rules "$2" -o "$scratch/again.onnx" -q --no-validate && cmp "$out" "$scratch/again.onnx"
}

for folder in */; do
  case=${folder%/}
  [ -f "$case/composites" ] || continue
  if said=$(diff "$case/composites" <(found "$case/model.onnx")); then echo "ok $case"; else echo "not ok $case: $said"; fi
  for dtype in bf16 fp16; do
    for rules in torch-cpu torch-cuda; do
      if said=$(converted $dtype $rules 2>&1); then echo "ok $case $dtype $rules"; else echo "not ok $case $dtype $rules: $said"; fi
    done
  done
done
if said=$("$ORACLES/onnx_check" "$scratch"/*.torch-*.onnx 2>&1); then echo 'ok checker'; else echo "not ok checker: $said"; fi

# The manual lists them all.
listed=$(sed -n '/^There are:/,/^\.SH/p' "$top"/man/ampconv-rules.5 | grep -oE '\b[A-Za-z0-9_]+\b' | sort)
there=$(sed -nE 's/^\{"([A-Za-z0-9_]+)".*/\1/p' "$top"/src/pattern/composites.inc | sort -u)
missing=$(comm -13 <(echo "$listed") <(echo "$there"))
if [ -z "$missing" ] && [ -n "$there" ]; then echo 'ok manual'; else echo "not ok manual: $missing"; fi
