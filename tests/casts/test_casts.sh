#!/usr/bin/env bash
# The casts that each rule set puts into ONNX's nine light models, the models of models/ and those of tests/parity, before and after
# folding, in a table per lower type (of PyTorch's exports only after it); and that none is left that could go without a bit of any
# result changing (left.awk, which looks at the graph that comes out and at nothing else). Under the sanitizers the models of models/ and tests/parity alone.
# Takes long.
set -u
: "${TESTDATA:?}"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# A graph with casts that could go, and what is to be said of them.
faulty() {
  cat <<'END'
ir 10, opset 21
input x float32 [2, 4]
input h float16 [2, 4]
weight w float32 [4]
weight v float16 [4]
node Cast-21 'a' (x) -> x_1 float32 [2, 4] to=1
node Cast-21 'b' (x) -> x_2 bfloat16 [2, 4] to=16
node Cast-21 'c' (x) -> x_3 bfloat16 [2, 4] to=16
node Cast-21 'd' (h) -> h_1 float32 [2, 4] to=1
node Cast-21 'e' (h_1) -> h_2 bfloat16 [2, 4] to=16
node Cast-21 'f' (w) -> w_1 bfloat16 [4] to=16
node Cast-21 'g' (v) -> v_1 float32 [4] to=1
node Cast-21 'i' (x_2) -> x_4 float32 [2, 4] to=1
node Constant-21 'j' () -> k float32 [] value=float32 [] 1
node Cast-21 'k' (k) -> k_1 float16 [] to=10
node Split-18 's' (x) -> s_1 float16 [2, 2], s_2 float32 [2, 2] axis=1
node Cast-21 't' (s_2) -> y float32 [2, 2] to=1
node Cast-21 'u' (s_2) -> z float32 [2, 2] to=1
output y float32 [2, 2]
output h_2 bfloat16 [2, 4]
END
}
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
if said=$(faulty | awk -f left.awk | diff - <(faults)); then echo 'ok the check finds faults'; else echo "not ok check: $said"; fi

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
