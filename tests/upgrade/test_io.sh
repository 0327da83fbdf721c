#!/usr/bin/env bash
# What the cases cannot show: that models with a lower interface are valid, are within tolerance, and stay as they are when they
# are converted again with the same options.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# check NAME MODEL OPTIONS...: converts twice.
check() {
  local name=$1 model=$2 out
  shift 2
  if ! out=$("$AMPCONV" "$model" "$@" -q -o once.onnx 2>&1); then echo "not ok $name: $out"; return; fi
  if ! out=$("$ORACLES/onnx_check" once.onnx 2>&1); then echo "not ok $name: $out"; return; fi
  if ! out=$("$AMPCONV" once.onnx "$@" -q -o twice.onnx 2>&1); then echo "not ok $name: again: $out"; return; fi
  if cmp -s once.onnx twice.onnx; then echo "ok $name"; else echo "not ok $name: changes when converted again"; fi
}

models=$here/../../models cases=$CASES/upgrade
for dtype in bf16 fp16; do
  for case in io_lower io_many io_casts; do
    check "$case in $dtype" "$cases/$case/model.onnx" --io lower -d $dtype
  done
  check "casts_shared in $dtype" "$cases/casts_shared/model.onnx" -d $dtype
  for case in x p y; do
    check "$case of io_many in $dtype" "$cases/io_many/model.onnx" --io $case=lower -d $dtype
  done
  check "fp32 nodes in $dtype" "$cases/io_many/model.onnx" --io lower -d $dtype --op MatMul=fp32 --op Relu=fp32 --op Neg=fp32
  for model in digits_cnn digits_gru digits_transformer; do
    check "$model in $dtype" "$models/$model.onnx" --io lower -d $dtype --dim N=2
  done
done

# Casts to bfloat16 came with opset 13; a node whose operator came with opset 12 keeps a model at 11.
. "$here/../bytes.sh"
two=$(field 1 "0801$(field 2 "$(field 1 0802)")")
write old.onnx "0806$(field 7 "$(field 1 "$(node Einsum x y)")$(value 11 x "$two")$(value 12 y "$two")")$(field 8 100b)"
said=$("$AMPCONV" old.onnx -d bf16 --io x=lower -o out.onnx --no-validate 2>&1)
code=$?
wanted="ampconv: old.onnx: node 0 with output 'y' (Einsum): cannot be raised to opset 13: the operator is new in opset 12"
if [ $code -eq 4 ] && [ "$said" = "$wanted" ] && [ ! -e out.onnx ]; then
  echo 'ok what keeps the opset down'
else
  echo "not ok what keeps the opset down: exit $code: $said"
fi
