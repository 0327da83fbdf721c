#!/usr/bin/env bash
# Two of the digit networks trained from scratch, in float32, in bfloat16, and in float16 with scaled gradients: on the images that
# trained the shipped ones, judged by the 360 held-out ones. What is lowered ends where float32 does. A loss whose gradients float16
# cannot hold is learnt with the scaler and not without it. Takes long.
set -u
export OMP_NUM_THREADS=2
case_tool=$here/../build/case_tool models=$here/../models
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# The text of a made training as of a network that has learnt nothing: weights as PyTorch begins (uniform, one by the root of the number
# of inputs), biases and means 0, scales and variances 1. Each step, which takes 64 images, leaves 0.99 of the learning rate. SHARE is
# what the loss is multiplied by.
begin_anew='
  /^main_graph/ { in_graph = 1 }
  /^{/ { in_graph = 0 }
  is_inside { if (/}[,>]?$/) { sub(/.*}/, ""); print fresh $0; is_inside = 0 } next }
  in_graph && /^[< ]float\[/ {
    head = $0
    sub(/ = .*/, " = ", head)
    match(head, /\[[0-9,]*\]/)
    n = split(substr(head, RSTART + 1, RLENGTH - 2), dims, ",")
    for (count = i = 1; i <= n; i++) count *= dims[i]
    bound = 1 / sqrt(head ~ /MatMul/ ? dims[1] : count / dims[1])
    if (n > 1) fresh = sprintf("%suniform {%d, %d, %.6f, %.6f}", head, seed, drawn, -bound, 2 * bound)
    else fresh = head "repeat {" (head ~ /weight|running_var/) "}"
    drawn += count
    if (/}[,>]?$/) { sub(/.*}/, ""); print fresh $0 } else is_inside = 1
    next
  }
  /^training / { sub(/\[/, "[\"rate\": \"slower\", ") }
  /^algorithm/ { sub(/float loss,/, "float loss, float slower,") }
  /^<float rate/ { print; print " float decay = {0.99},\n float share = {" share "},"; next }
  /"training\/node"/ { sub(/ loss =/, " entropy ="); print; print "  loss = .Mul(entropy, share)\n  slower = .Mul(rate, decay)"; next }
  { print }'

# fresh NAME NETWORK SEED RATE SHARE: NAME.onnx in the scratch folder, which has learnt nothing.
fresh() {
  local folder=$scratch/$1
  mkdir -p "$folder/tests/stage"
  "$AMPCONV" train "$models/digits_$2.onnx" --make-training "optimizer=adam,lr=$4" --steps 0 --data "$models/digits" -q -o "$folder/made.onnx" || exit 2
  {
    printf '%s\n' "== $1" '# what training begins with' '-- model.onnx'
    "$case_tool" show "$folder/made.onnx" | awk -v seed="$3" -v share="$5" "$begin_anew"
  } >"$folder/tests/stage/stage.cases"
  "$case_tool" expand "$folder/tests" "$folder/cases" && cp "$folder/cases/stage/$1/model.onnx" "$scratch/$1.onnx" || exit 2
}

# learn MODEL EPOCHS: how many it has right then of the 1437 images that it saw and of the 360 held-out ones; its last loss.
learn() {
  local folder
  "$AMPCONV" train "$1" --data "$models/digits_train" --labels "$models/digits_train/labels.npy" --batch 64 --epochs "$2" --seed 1 \
    --log "$1.log" -q -o "$1.trained" || exit 2
  for folder in digits_train digits; do
    "$AMPCONV" run "$1.trained" --data "$models/$folder" --labels "$models/$folder/labels.npy" 2>&1 |
      sed -n 's/.*accuracy.*(\([0-9]*\) of [0-9]*)/\1/p'
  done | tr '\n' ' '
  tail -n 1 "$1.log" | sed 's/.*"loss":\([^,}]*\).*/\1/'
}

lowered() { # NAME DTYPE OPTION...: NAME.onnx with them
  "$AMPCONV" "$scratch/$1.onnx" -d "$2" "${@:3}" --no-validate -q -o "$scratch/$1.$2.onnx" || exit 2
  echo "$scratch/$1.$2.onnx"
}

verdict() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $2"; fi; }

# Half a point of all images, which are enough to tell; a point and a half of the held-out ones; a tenth of the loss.
is_near() { # LEARNT WANTED
  awk 'function off(a, b) { return a > b ? a - b : b - a }
    !($5 > 310 && off($1 + $2, $4 + $5) <= 0.005 * 1797 && off($2, $5) <= 0.015 * 360 && off($3, $6) <= 0.1 * $6) { print "right, held-out right and loss: " $0 }' <<<"$1 $2"
}

for network in 'cnn 1 10' 'transformer 2 7'; do
  read -r name seed epochs <<<"$network"
  fresh "$name" "$name" "$seed" 3e-3 1
  wanted=$(learn "$scratch/$name.onnx" "$epochs")
  for dtype in bf16 fp16; do
    learnt=$(learn "$(lowered "$name" $dtype)" "$epochs")
    echo "$name $dtype: $learnt $wanted" >&2
    verdict "$name from scratch in $dtype" "$(is_near "$learnt" "$wanted")"
  done
done

# Gradients of a share of the loss are below what float16 holds: Adam, which a factor does not matter to, is fed zeros.
fresh share cnn 1 1e-2 1e-4
held_out() { cut -d ' ' -f 2 <<<"$1"; }
wanted=$(held_out "$(learn "$scratch/share.onnx" 4)")
without=$(held_out "$(learn "$(lowered share fp16 --grad-scaler off)" 4)")
scaled=$(held_out "$(learn "$(lowered share fp16)" 4)")
echo "$wanted $without $scaled" >&2
verdict 'a small loss in float32' "$([ "$wanted" -gt 300 ] || echo "$wanted right")"
verdict 'a small loss in float16' "$([ "$without" -lt 120 ] || echo "$without right")"
verdict 'a small loss in float16, scaled' "$([ $((wanted - scaled)) -le 12 ] || echo "$scaled right, in float32 $wanted")"
