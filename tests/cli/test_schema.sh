#!/usr/bin/env bash
# Every report in JSON is as its schema has it, and the schema has nothing that no report has: all commands, all exit codes, all that a
# report can hold. The manual page is made of the schema, so it names each field.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
models=$root/models
cp "$models/digits_cnn.onnx" m.onnx
n=0
reports() { # EXIT WORD...: the words with --json; the document is kept
  local wanted=$1 code
  shift
  n=$((n + 1))
  "$AMPCONV" "$@" --json=$n.json -q >said 2>&1 </dev/null
  code=$?
  if [ $code -ne "$wanted" ]; then echo "not ok $*: exit $code: $(head -c 600 said)"
  elif ! grep -q "^  \"exit_code\": $code,\$" $n.json; then echo "not ok $*: $(head -c 300 $n.json)"
  else echo "ok $*"; fi
}
data=(--data "$models/digits" --labels "$models/digits/labels.npy")

reports 0 m.onnx -o out.onnx "${data[@]}"
reports 0 m.onnx -o out.onnx --no-validate
reports 1 m.onnx -o far.onnx -t snr=200 "${data[@]}" -t accuracy-drop=1%
reports 0 m.onnx -d fp16 -o out.onnx --eval 'echo 1' --explain=noise
reports 1 "$models/digits_pedestal.onnx" -o far.onnx "${data[@]}" -t accuracy-drop=1%
reports 1 m.onnx -d fp16 -o far.onnx --eval 'exit 1' --eval-reference passed
reports 0 "$models/digits_pedestal.onnx" --tune --tune-for bytes -o out.onnx "${data[@]}" --max-drop 0.5%
reports 0 "$models/digits_transformer.onnx" -d bf16,fp16 --tune --tune-for nodes --target 'snr>=50' -o out.onnx
reports 0 m.onnx -d fp16 --target ort-cuda --op Relu=lower -o out.onnx --no-validate
reports 0 m.onnx --target ort-cpu -o out.onnx --no-validate
reports 0 "$CASES/convert/tiny/model.onnx" -d fp16 -o out.onnx --no-validate
reports 0 "$CASES/convert/cast_of_weight_range/model.onnx" -d fp16 -o out.onnx --no-validate
reports 0 "$CASES/ranges/feed_forward/model.onnx" -d fp16 -o out.onnx --no-validate --data "$CASES/ranges/feed_forward/data"
reports 0 "$CASES/training/loss_lowered/model.onnx" -d fp16 -o out.onnx --no-validate
reports 0 "$CASES/training/loss_lowered/model.onnx" -d bf16 -o out.onnx --no-validate
reports 0 run m.onnx "${data[@]}"
reports 0 run m.onnx --output-dir here
reports 1 run m.onnx --seed 1 --expect here
reports 0 run m.onnx --input-range image=0,1
reports 0 run --list-ops
reports 0 run --test-suite "$CASES/ops/convolution" --filter 'average_pool_over*'
reports 0 compare m.onnx -d bf16 --layers "${data[@]}"
reports 1 compare "$CASES/compare/overflow/model.onnx" -d fp16 --node '*=lower' --data "$CASES/compare/overflow/data" --layers
shapes=$CASES/compare/shapes
reports 0 compare "$shapes/model.onnx" "$shapes/other.onnx" --layers --data "$shapes/data"
fewer=$CASES/validate/selected_fewer
reports 0 compare "$fewer/model.onnx" -d bf16 --op Mul=lower -i "x=$fewer/x.npy"
reports 0 bench m.onnx -d fp32,bf16 --runs 2 --profile
reports 1 "$CASES/training/step_not_finite/model.onnx" -d fp16 --grad-scaler off --data "$CASES/training/step_not_finite/data" -o out.onnx
reports 0 "$CASES/training/step_unsupported/model.onnx" -d bf16 -o out.onnx
reports 0 train "$CASES/training/train_sgd/model.onnx" --data "$CASES/training/train_sgd/data" --steps 3 -o trained.onnx
mkdir many && cp m.onnx many/a.onnx && echo >many/b.onnx
reports 3 many --output-dir several -d bf16
reports 2
reports 2 none.onnx
reports 2 m.onnx --node x
reports 3 many/b.onnx
printf 'rules: 1\n' >wrong.yaml
reports 3 m.onnx -r ./wrong.yaml
reports 4 "$CASES/convert/custom_op/model.onnx"
said=$("$CASES/../case_tool" schema "$root/man/report.schema.json" $(seq -f %g.json $n))
if [ -z "$said" ]; then echo 'ok the schema'; else echo "not ok the schema: $said"; fi
