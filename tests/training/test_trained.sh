#!/usr/bin/env bash
# What `ampconv train` writes: the initializers that came of the steps, so that the next step goes on from there, and a model that runs.
set -u
cd "$CASES/training" || exit 2
case_tool=$here/../build/case_tool
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

verdict() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $2"; fi; }

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
