#!/bin/sh
# The accuracy of a digits model on the held-out images, in percent, on the last line: for ampconv --eval.
#   ampconv models/digits_pedestal.onnx --data models/digits --tune --eval 'models/score_digits.sh {}' --max-drop 0.5% -o out.onnx
here=$(dirname "$0")
${AMPCONV:-ampconv} run "${1:-$AMPCONV_MODEL}" --quiet --data "$here/digits" --labels "$here/digits/labels.npy" --json - |
  sed -n 's/.*"percent": *\([0-9.]*\).*/\1/p' | head -n 1
