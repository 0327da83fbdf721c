#!/usr/bin/env bash
# The casts that each rule set puts into ONNX's nine light models, the models of models/ and those of tests/parity, before and after
# folding, in a table per lower type (of PyTorch's exports only after it); and that none is left that could go without a bit of any
# result changing (left.awk, which looks at the graph that comes out and at nothing else). Under the sanitizers the models of models/ and tests/parity alone.
# Takes long.
set -u
: "${TESTDATA:?}"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

faults() {
  cat <<'END'
cast of 'x' to its own type float32
second cast of 'x' to bfloat16
cast of 'h_1', which is a widened 'h'
cast of the constant 'w' to bfloat16
cast of the constant 'k' to float16
cast of 's_2' to its own type float32
second cast of 's_2' to float32
END
}
if said=$(awk -f left.awk faults.txt | diff - <(faults)); then echo 'ok the check finds faults'; else echo "not ok check: $said"; fi

mkdir "$scratch/exports" && xz -dc ../parity/exports.tar.xz | tar -xf - -C "$scratch/exports" || exit 2
models=(../../models/*.onnx "$CASES"/parity/*.onnx)
case ${BUILD-} in *asan*) ;; *) models+=("$scratch"/exports/*.ts.onnx "$TESTDATA"/light/*.onnx) ;; esac
casts() { "$AMPCONV" "$model" -d "$dtype" -r "$set" --dump-after="$1"; }
count() { grep -cE '^ *node Cast-' "$1"; }

for dtype in bf16 fp16; do
  # "NAME  bf16, fp16  description" per set.
  mapfile -t sets < <("$AMPCONV" rules | awk -v dtype="$dtype" '{ line = $0; sub(/^[^ ]+ +/, "", line) } index(substr(line, 1, 11), dtype) { print $1 }')
  printf '# casts in %s, before folding and after, with' "$dtype"
  printf ' %s' "${sets[@]}"
  echo
  for model in "${models[@]}"; do
    name=$(basename "$model" .onnx) row='' left='' code=0
    for set in "${sets[@]}"; do
      before=-
      if [[ $model != "$scratch"/* ]]; then
        casts insert >"$scratch/insert" || code=1
        before=$(count "$scratch/insert")
      fi
      casts fold >"$scratch/fold" || code=1
      row+=$(printf ' %4s %4d' "$before" "$(count "$scratch/fold")")
      left+=$(awk -f left.awk "$scratch/fold" | sed "s/^/ $set: /;s/\$/;/")
    done
    printf '# %-20s%s\n' "$name" "$row"
    if [ $code -ne 0 ]; then left+=' not converted'; fi
    if [ -z "$left" ]; then echo "ok $name $dtype"; else echo "not ok $name $dtype:$left"; fi
  done
done
