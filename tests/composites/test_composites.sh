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

# Converts all models to $1 by the rules $2, and what came out once more.
convert_all() {
  local out=$scratch/$1.$2
  "$AMPCONV" "$scratch/models" -d "$1" --rules "$2" --output-dir "$out" -j 1 2>"$out.said"
  "$AMPCONV" "$out" -d "$1" --rules "$2" --output-dir "$out/again" -j 1 --no-validate 2>"$out.said.again"
}

# What is wrong with $case so converted: a line of its own that is not "BEFORE -> AFTER: ...", or what changes the second time.
converted() {
  local out=$scratch/$1.$2
  awk -v first="$scratch/models/$case.onnx: " -v second="$out/$case.$1.onnx: " '
    index($0, first) == 1 || index($0, second) == 1 { print; wrong = 1 } END { exit wrong }' "$out.said" "$out.said.again" || return 1
  cmp "$out/$case.$1.onnx" "$out/again/$case.$1.$1.onnx"
}

mkdir "$scratch/models"
n_models=0
for list in */composites; do
  if ((n_models++ % ${STEP-1} == 0)); then cp "${list%/*}/model.onnx" "$scratch/models/${list%/*}.onnx"; fi
done
for dtype in bf16 fp16; do
  for rules in torch-cpu torch-cuda; do convert_all $dtype $rules; done
done
for folder in */; do
  case=${folder%/}
  [ -f "$scratch/models/$case.onnx" ] || continue
  if said=$(diff "$case/composites" <(found "$case/model.onnx")); then echo "ok $case"; else echo "not ok $case: $said"; fi
  for dtype in bf16 fp16; do
    for rules in torch-cpu torch-cuda; do
      if said=$(converted $dtype $rules 2>&1); then echo "ok $case $dtype $rules"; else echo "not ok $case $dtype $rules: $said"; fi
    done
  done
done
if said=$("$ORACLES/onnx_check" "$scratch"/*.torch-*/*.onnx 2>&1); then echo 'ok checker'; else echo "not ok checker: $said"; fi

# The manual lists them all.
listed=$(sed -n '/^There are:/,/^\.SH/p' "$top"/man/ampconv-rules.5 | grep -oE '\b[A-Za-z0-9_]+\b' | sort)
there=$(sed -nE 's/^\{"([A-Za-z0-9_]+)".*/\1/p' "$top"/src/pattern/composites.inc | sort -u)
missing=$(comm -13 <(echo "$listed") <(echo "$there"))
if [ -z "$missing" ] && [ -n "$there" ]; then echo 'ok manual'; else echo "not ok manual: $missing"; fi
