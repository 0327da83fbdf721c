#!/usr/bin/env bash
# What the program says of words that are wrong, and its exit codes: usage.txt. It writes nothing to stdout then, and no file.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/work" && cd "$scratch/work" || exit 2
cp "$CASES/convert/fp32_between/model.onnx" m.onnx
cp "$CASES/convert/custom_op/model.onnx" custom.onnx
cp "$CASES/convert/fill_folded/model.onnx" rnn.onnx
before=$(ls)

while IFS= read -r words; do
  case $words in '' | '#'*) continue ;; esac
  IFS= read -r expected
  eval "set -- $words"
  said=$("$AMPCONV" "$@" </dev/null 2>&1 >"$scratch/stdout")
  found="$? $(tail -n 1 <<<"$said")"
  if [ "${found% }" != "$expected" ]; then
    echo "not ok $words: '$found'"
  elif [ -s "$scratch/stdout" ]; then
    echo "not ok $words: stdout: $(head -c 200 "$scratch/stdout")"
  elif [ "${found%% *}" -ne 0 ] && [ "$(ls)" != "$before" ]; then
    echo "not ok $words: it left a file: $(ls)"
  else
    echo "ok $words"
  fi
  rm -f o.onnx w
done <"$here/usage.txt"
