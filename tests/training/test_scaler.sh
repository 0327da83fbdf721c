#!/usr/bin/env bash
# Steps of models whose gradients are scaled: weights and scales are those of torch.amp.GradScaler (PyTorch 2.6 on a CPU, float16, SGD, the
# loss of scaler/model.onnx), recorded step by step.
set -u
cd "$CASES/training/scaler" || exit 2
case_tool=$here/../build/case_tool
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

verdict() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $2"; fi; }

# steps NAME SCALER DATA WANT...: converts with --grad-scaler SCALER and compares "weight scale" of each step with WANT.
steps() {
  local name=$1 scaler=$2 data=$3
  shift 3
  "$AMPCONV" model.onnx -d fp16 --grad-scaler "$scaler" --no-validate -q -o "$scratch/$name.onnx" || exit 2
  "$AMPCONV" train "$scratch/$name.onnx" --data "$data" --steps $# --log "$scratch/log" -q -o "$scratch/$name.trained.onnx" || exit 2
  verdict "$name" "$(diff <(printf '%s\n' "$@") <(sed -E 's/.*"w1":([^,}]*)(,"scale":([^,}]*))?.*/\1 \3/; s/ $//' "$scratch/log"))"
}

a=274877906944.0 b=549755813888.0 c=1099511627776.0 d=2199023255552.0
steps underflow off data 1.0 1.0 1.0
steps scaled on data '0.5 65536.0' '0.25 65536.0' '0.125 65536.0'
steps overflow init_scale=4398046511104 data "1.0 $d" "1.0 $c" "0.5 $c" "0.25 $c"
steps growth init_scale=$a,growth_interval=3 still "1.0 $a" "1.0 $a" "1.0 $b" "1.0 $b" "1.0 $b" "1.0 $c" "1.0 $c" "1.0 $c" "1.0 $d" \
  "1.0 $c" "1.0 $c" "1.0 $c" "1.0 $d" "1.0 $c" "1.0 $c" "1.0 $c" "1.0 $d" "1.0 $c" "1.0 $c" "1.0 $c"
steps factors init_scale=1e12,growth_factor=1.7,backoff_factor=0.3,growth_interval=2 still '1.0 999999995904.0' '1.0 1700000038912.0' \
  '1.0 1700000038912.0' '1.0 2889999974400.0' '1.0 866999992320.0' '1.0 866999992320.0' '1.0 1473899921408.0' '1.0 1473899921408.0' \
  '1.0 2505629761536.0' '1.0 751688941568.0' '1.0 751688941568.0' '1.0 1277871259648.0'
highest='1.0 1.7014118346046923e38'
steps highest init_scale=1.7014118346046923e38,growth_interval=2 met "$highest" "$highest" "$highest" "$highest"
steps lowest init_scale=5.605193857299268e-45 lost '1.0 2.8025969286496341e-45' '1.0 1.4012984643248171e-45' '1.0 0.0' '1.0 0.0'

# A step that is skipped leaves all that training assigns as it is, the optimizer's state and its count of steps included: only the
# scale is another. What the forward pass assigns is not skipped.
cd ../scaler_state || exit 2
"$AMPCONV" model.onnx -d fp16 --grad-scaler init_scale=1e38 --no-validate -q -o "$scratch/state.onnx" || exit 2
"$AMPCONV" train "$scratch/state.onnx" --data data --steps 1 -q -o "$scratch/skipped.onnx" || exit 2
changed=$(diff <("$case_tool" show "$scratch/state.onnx") <("$case_tool" show "$scratch/skipped.onnx") | grep '^>' | tr -d '\n ')
verdict skipped_state "$([ "$changed" = '>float[2]seen={1,2}>>float"grad_scaler/scale"={5e+37},' ] || echo "$changed")"
"$AMPCONV" train "$scratch/state.onnx" --data data --steps 200 --log "$scratch/log" -q || exit 2
verdict found_scale "$(tail -n 1 "$scratch/log" | grep -v '"skipped":0.0')"
