#!/usr/bin/env bash
# Every model of this folder converted to both types, with and without its inputs and outputs, and raised to float32: the result is valid for ONNX's own checker, ONNX Runtime loads it or lacks a
# kernel, and it converts to itself, byte by byte. Where ONNX Runtime can run what came out, its outputs agree with the program's;
# where the program can, its outputs are within tolerance of those of the model that went in.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
# An operator that nobody knows is no model for ONNX Runtime; ONNX's type inference knows no sparse initializers.
unknown=' contrib_newer custom_op custom_op_in_body custom_op_no_type custom_op_untyped declared_types untouched weight_sparse '
# Operators that ONNX Runtime has in ai.onnx, and ONNX itself does not.
added=' contrib_decoder contrib_layer_norm '
random=' explicit_type types_like types_of_nothing types_said half_raised_casts '
compared=0 validated=0

fail() {
  echo "not ok $case $dtype: $*"
  failed=1
}

# Runs $1 with both programs on the case's inputs. With --plain, ONNX Runtime rounds after each node; sums may differ in the last
# places, and large ones cancel.
compare() {
  local pairs=() names said code
  mapfile -t names < <("$AMPCONV" "$case/model.onnx" --dump-after=read | sed -nE 's/^input ([^ ]+) .*/\1/p')
  for i in "${!names[@]}"; do
    if [ -f "$case/data/input_$i.pb" ]; then pairs+=("${names[i]}=$case/data/input_$i.pb"); fi
  done
  rm -rf "$scratch/ort" && mkdir "$scratch/ort"
  said=$("$ORACLES/ort_run" "$1" --plain "$scratch/ort" ${pairs[@]+"${pairs[@]}"} 2>&1)
  code=$?
  if [ $code -eq 4 ]; then return; fi
  if [ $code -ne 0 ]; then fail "ONNX Runtime: $said"; return; fi
  if [[ $random == *" $case "* ]]; then return; fi
  local data=()
  if [ -f "$case/data/input_0.pb" ]; then data=(--data "$case/data"); fi
  said=$("$AMPCONV" run "$1" -q ${data[@]+"${data[@]}"} --expect "$scratch/ort" -t rtol=2e-3 -t atol=2e-3 2>&1)
  code=$?
  if [ $code -eq 0 ]; then compared=$((compared + 1)); elif [ $code -ne 4 ]; then fail "$said"; fi
}

# Converts the case with validation. The model that came in is the reference.
validate() {
  local data=() said code
  if [[ $random == *" $case "* ]]; then return; fi
  if [ -f "$case/data/input_0.pb" ]; then data=(--data "$case/data"); fi
  said=$("$AMPCONV" "$case/model.onnx" $options -o "$scratch/validated.onnx" -q ${data[@]+"${data[@]}"} 2>&1)
  code=$?
  if [ $code -eq 0 ]; then validated=$((validated + 1)); elif [ $code -ne 4 ]; then fail "$said"; fi
}

# Converts the case with the options $2; $1 says which file it becomes.
convert() {
  options=$2 failed=0
  local out=$scratch/$case.$1.onnx said
  dtype=$1
  said=$("$AMPCONV" "$case/model.onnx" $options -o "$out" --no-validate -q 2>&1)
  case $?$dtype in
    0*) ;;
    4*-io) return ;; # it would need an opset that the model cannot have
    *) fail "$said"; return ;;
  esac
  said=$("$AMPCONV" "$out" $options -o "$scratch/again.onnx" --no-validate -q 2>&1) || fail "again: $said"
  cmp "$out" "$scratch/again.onnx" >/dev/null 2>&1 || fail 'converted again it changes'
  if [[ $unknown == *" $case "* ]]; then rm "$out"; elif [[ $dtype != *-io ]]; then compare "$out"; fi
  if [[ $added == *" $case "* ]]; then rm "$out"; fi
  validate
  [ $failed -ne 0 ] || echo "ok $case $dtype"
}

# To raise there is something where the model has float types of 16 bits.
for folder in */; do
  case=${folder%/}
  [ -f "$case/model.onnx" ] && [ ! -L "$case/model.onnx" ] || continue
  convert bf16 '-d bf16'
  convert fp16 '-d fp16'
  convert bf16-io '-d bf16 --io lower'
  if "$AMPCONV" "$case/model.onnx" --dump-after=infer | grep -qE ' b?float16 '; then convert fp32 '-d fp32'; fi
done
rm -f "$scratch/again.onnx" "$scratch/validated.onnx"

if said=$("$ORACLES/onnx_check" "$scratch"/*.onnx 2>&1); then echo 'ok checker'; else echo "not ok checker: $said"; fi
echo "# convert: outputs of $compared converted models compared with ONNX Runtime's, of $validated with those of the model before"
if [ $compared -ge 180 ] && [ $validated -ge 450 ]; then echo 'ok compared'; else echo 'not ok compared: too few models'; fi
