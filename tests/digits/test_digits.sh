#!/usr/bin/env bash
# The trained digit models on their 360 held-out images: our float32 logits against ONNX Runtime's, the task's accuracy in
# both lower dtypes within half a point of float32, valid and loadable outputs, and the pipeline through stdin and stdout.
# Takes long.
set -u
export OMP_NUM_THREADS=2
: "${ORACLES:?}"
root=../..
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

result() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $output"; fi
}

loads() {
  "$ORACLES/ort_run" "$1" --load-only
  local code=$?
  [ $code -eq 0 ] || [ $code -eq 4 ]
}

# Our outputs of a float16 model against ONNX Runtime's, which has it round after every node (--plain), on one image.
agrees() { # MODEL
  rm -rf "$scratch/ort" && mkdir "$scratch/ort" &&
    "$ORACLES/ort_run" "$1" --plain "$scratch/ort" "image=image.pb" &&
    "$AMPCONV" run "$1" --input image=image.pb --expect "$scratch/ort" --tolerance rtol=2e-2 --tolerance atol=2e-2
}

# The right answers of the two models in the JSON report differ by at most 0.5 % of 360, which is one.
accuracy_holds() { # REPORT
  local right
  mapfile -t right < <(grep -o '"right": [0-9]*' "$1" | tr -dc '0-9\n')
  echo "right in float32: ${right[0]}, converted: ${right[1]}"
  [ ${#right[@]} -eq 2 ] && [ $((right[0] - right[1])) -le 1 ] && [ $((right[1] - right[0])) -le 1 ]
}

pipes() { # MODEL: what comes out of the pipe is what a file gets, and not a byte more
  "$AMPCONV" - -q -d fp16 -o - "${how[@]}" --data "$root/models/digits" <"$1" >"$scratch/piped.onnx" &&
    "$AMPCONV" "$1" -q -d fp16 -o "$scratch/file.onnx" "${how[@]}" --data "$root/models/digits" &&
    cmp "$scratch/piped.onnx" "$scratch/file.onnx" &&
    [ -z "$("$AMPCONV" - -d fp16 -o - "${how[@]}" --data "$root/models/digits" <"$1" 2>/dev/null | "$AMPCONV" run - --data "$root/models/digits" 2>/dev/null)" ]
}

mkdir "$scratch/logits" && xz -dc logits.tar.xz | tar -xf - -C "$scratch/logits" || exit 2
for model in "$root"/models/digits_*.onnx; do
  name=$(basename "$model" .onnx)
  how=() close=(--tolerance rtol=1e-3 --tolerance atol=1e-5)
  # What is made to need float32 in places gets that; there, even the order of float32 sums can be seen.
  [ "$name" != digits_pedestal ] || how=(--tune --tune-for nodes) close=(--tolerance snr=60)
  mkdir -p "$scratch/$name"
  cp "$scratch/logits/${name}_logits.npy" "$scratch/$name/logits.npy"
  result "$name fp32 as ONNX Runtime" \
    "$AMPCONV" run "$model" --data "$root/models/digits" --expect "$scratch/$name" "${close[@]}"
  for dtype in bf16 fp16; do
    out=$scratch/$name.$dtype.onnx
    result "$name $dtype converts" "$AMPCONV" "$model" -d $dtype -o "$out" "${how[@]}" --data "$root/models/digits" \
      --labels "$root/models/digits/labels.npy" --json "$scratch/report.json"
    result "$name $dtype accuracy" accuracy_holds "$scratch/report.json"
    result "$name $dtype checker" "$ORACLES/onnx_check" "$out"
    result "$name $dtype loads" loads "$out"
  done
  result "$name fp16 as ONNX Runtime" agrees "$scratch/$name.fp16.onnx"
  result "$name in a pipe" pipes "$model"
done
