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

# How threads wait is said to OpenMP, unless the user says it: commands that the program starts see it.
waits() { # COUNT: the rest are variables
  local wanted=$1 found
  shift
  # shellcheck disable=SC2016 # the command expands it
  env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT "$@" "$AMPCONV" m.onnx -q -o o.onnx --eval 'echo "${GOMP_SPINCOUNT-none}" >../seen; echo 1' >../said 2>&1
  found=$(cat ../seen)
  if [ "$found" = "$wanted" ]; then echo "ok waiting: $*"; else echo "not ok waiting: $*: '$found'"; fi
  rm -f o.onnx
}
waits 10000 OMP_NUM_THREADS=2
waits 7 GOMP_SPINCOUNT=7
waits none OMP_WAIT_POLICY=passive
waits none OMP_WAIT_POLICY=active
