#!/usr/bin/env bash
# What is written: conversions of models with training_info; by `ampconv train`, the initializers that came of the steps.
set -u
cd "$CASES/training" || exit 2
case_tool=$here/../build/case_tool
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

verdict() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $2"; fi; }

# A conversion is what the case wants, as text, and converting it again changes nothing.
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

# What steps have learnt: the next step goes on from there.
"$AMPCONV" train train_sgd/model.onnx --data train_sgd/data --steps 2 -q -o "$scratch/two.onnx" || exit 2
"$AMPCONV" train "$scratch/two.onnx" --data train_sgd/data --resume --log "$scratch/log" -q -o "$scratch/three.onnx" || exit 2
verdict 'a step after two is the third' "$(tail -n 1 train_sgd/stdout | sed 's/"step":3/"step":1/' | diff - "$scratch/log")"
"$AMPCONV" train train_sgd/model.onnx --data train_sgd/data --steps 3 -q -o - >"$scratch/at_once.onnx" || exit 2
verdict 'the same model as of three steps' "$(cmp "$scratch/three.onnx" "$scratch/at_once.onnx" 2>&1)"

# But for the initializers nothing is another.
differing=$(diff <("$case_tool" show train_sgd/model.onnx) <("$case_tool" show "$scratch/three.onnx") | grep -c '^>')
verdict 'only initializers change' "$([ "$differing" -eq 2 ] || echo "$differing lines")"

"$AMPCONV" train train_made/model.onnx --make-training loss=mse,optimizer=adam --steps 0 -q --data train_made/data -o "$scratch/made.onnx" || exit 2
"$AMPCONV" train "$scratch/made.onnx" --data train_made/data --steps 400 --log "$scratch/log" -q || exit 2
verdict 'Adam learns what is made for it' "$(tail -n 1 "$scratch/log" | awk -F '[:,}]' '!($4 < 3) { print }')"
verdict 'with a training_info it converts' "$("$AMPCONV" "$scratch/made.onnx" -d bf16 -q -o "$scratch/made.bf16.onnx" 2>&1)"

# Optimizers are written with the numbers that PyTorch has for them by itself; the decay of AdamW is apart from its operator.
while read -r name wanted; do
  "$AMPCONV" train train_made/model.onnx --make-training "loss=mse,optimizer=$name" --steps 0 -q --data train_made/data -o "$scratch/$name.onnx" || exit 2
  found=$("$case_tool" show "$scratch/$name.onnx" | tr -d '\n ' | grep -o 'preview\.training\.[AM][a-z]*<[^>]*>')
  verdict "attributes of $name" "$([ "$found" = "preview.training.$wanted" ] || echo "$found")"
done <<'END'
sgd Momentum<alpha=0.0,beta=1.0,mode="standard",norm_coefficient=0.0>
momentum Momentum<alpha=0.9,beta=1.0,mode="standard",norm_coefficient=0.0>
adam Adam<alpha=0.9,beta=0.999,epsilon=1e-08,norm_coefficient=0.0>
adamw Adam<alpha=0.9,beta=0.999,epsilon=1e-08>
adagrad Adagrad<epsilon=1e-10,norm_coefficient=0.0>
END

# A step as a plain graph, run again and again on what it gave for its variables, does what training does: whatever optimizer it has.
expand() { # NAME MODEL [option...]
  local model=$2 data=${2%/*}/data name=$1 step fed=()
  shift 2
  "$AMPCONV" train "$model" "$@" --data "$data" --steps 3 --log "$scratch/log" -q || return 1
  "$AMPCONV" train "$model" "$@" --expand -o "$scratch/step.onnx" -q || return 1
  "$case_tool" show "$scratch/step.onnx" >"$scratch/text"
  if grep -q 'preview\.training\|Gradient\|Adam\|Adagrad\|Momentum' "$scratch/text"; then echo 'operators of training are left'; fi
  for step in 1 2 3; do
    "$AMPCONV" run "$scratch/step.onnx" --data "$data" "${fed[@]}" --output-dir "$scratch/$name$step" -q || return 1
    fed=()
    while read -r variable output; do
      fed+=(--input "$variable=$scratch/$name$step/${output//\//_}.npy")
    done < <(head -n 1 "$scratch/text" | tr ',' '\n' | sed -n 's/.*"update_binding\.\(.*\)": "\([^"]*\)".*/\1 \2/p')
    echo "$(sed -n "${step}s/.*://p" "$scratch/log") $("$case_tool" show "$scratch/$name$step/loss.npy" | tr -dc '0-9.e{-' | cut -d '{' -f 2)"
  done | awk '{ d = $1 - $2; if (!(d * d <= 1e-10 * $1 * $1)) print "step " NR ": " $0 } END { if (NR != 3) print NR " steps" }'
}
verdict 'an expanded step trains' "$(expand info train_sgd/model.onnx)"
verdict 'an expanded step trains by all attributes of optimizers' "$(expand attributes train_attributes/model.onnx)"
for optimizer in sgd momentum adam adagrad; do
  verdict "an expanded step with $optimizer trains" \
    "$(expand "$optimizer" train_made/model.onnx --make-training "loss=mse,optimizer=$optimizer,lr=0.01")"
done

# ONNX's checker accepts a step of a real network as a plain graph, and ONNX Runtime computes the same loss and weights; in float16
# where it has kernels, not for scattered sums, as the gradients of pooling and slices are.
as_onnx_runtime() { # NETWORK BOUND [option...]: of a conversion with them
  local folder=$scratch/$1 step=made data=$CASES/training/digits_sample
  mkdir -p "$folder/ort"
  "$AMPCONV" train "$here/../models/digits_$1.onnx" --make-training loss=cross_entropy,optimizer=sgd,lr=0.1 --steps 0 -q -o "$folder/made.onnx" || return
  if [ $# -gt 2 ]; then "$AMPCONV" "$folder/made.onnx" "${@:3}" --no-validate -q -o "$folder/mixed.onnx" && step=mixed || return; fi
  "$AMPCONV" train "$folder/$step.onnx" --expand -q -o "$folder/step.onnx" && "$ORACLES/onnx_check" "$folder/step.onnx" &&
    "$ORACLES/ort_run" "$folder/step.onnx" "$folder/ort" "$data"/input_*.pb &&
    "$AMPCONV" run "$folder/step.onnx" -q --data "$data" --expect "$folder/ort" -t "$2"
}
for network in cnn gru transformer; do
  verdict "ONNX Runtime runs a step of digits_$network" "$(as_onnx_runtime $network snr=80 2>&1)"
done
verdict 'ONNX Runtime runs a step in float16' "$(as_onnx_runtime transformer snr=40 -d fp16 --grad-scaler init_scale=256 2>&1)"
