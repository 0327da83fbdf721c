#!/usr/bin/env bash
# The networks that speed is measured with: valid models, the same in every run, with outputs that are ONNX Runtime's.
set -u
: "${ORACLES:?}"
make_network=$PWD/../bench/make_network.pl
. ./result.sh
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

agree() { # NAME: our outputs and ONNX Runtime's
  "$ORACLES/ort_run" "$1.onnx" ort inputs/*.pb && "$AMPCONV" run "$1.onnx" -q --data inputs --expect ort -t cosine=0.99999 -t snr=80
}

for name in mobilenetv2 vit_s16 lstm; do
  rm -rf inputs ort && mkdir inputs ort
  result "$name" perl "$make_network" "$name" "$name.onnx" inputs
  perl "$make_network" "$name" again.onnx
  result "$name again" cmp "$name.onnx" again.onnx
  result "$name checker" "$ORACLES/onnx_check" "$name.onnx"
  result "$name outputs" agree "$name"
  rm -f "$name.onnx" again.onnx
done
result 'a name that is none' bash -c '! perl "$0" none none.onnx && [ ! -e none.onnx ]' "$make_network"
