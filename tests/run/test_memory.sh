#!/usr/bin/env bash
# What a run holds: elementwise operators write where they read, when nobody needs that any more.
set -u
rows=100000 # of 12 bytes

peak=$("$AMPCONV" bench -q "$CASES/run/data_reused/model.onnx" --dim rows=$rows -d fp32 --runs 1 --json | sed -nE 's/.*"peak_bytes": ([0-9]+).*/\1/p')
if [ "$peak" -ge $((2 * 12 * rows)) ] && [ "$peak" -lt $((5 * 12 * rows / 2)) ]; then
  echo 'ok two tensors at a time'
else
  echo "not ok two tensors at a time: $peak bytes"
fi

# A chain of 2000 small nodes. Each has a primitive of oneDNN, which is most of what it takes: that counts.
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
tensor() { printf '%b\x12\n\x04%s\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x04' "$1" "$2"; } # FIELD NAME: a float32 of 4 elements
{
  printf '\x08\x08\x42\x04\n\x00\x10\x11\x3a\xdb\xe7\x02'
  for ((i = 1000; i < 3000; i++)); do printf '\n\x15\n\x04%d\x12\x04%d"\x07Softmax' $i $((i + 1)); done
  printf '\x12\x01g'
  tensor '\x5a' 1000
  tensor '\x62' 3000
} >chain.onnx
"$AMPCONV" run chain.onnx -q --max-memory 20M 2>stderr
code=$?
if [ $code = 2 ] && grep -qxE "ampconv: chain.onnx: node [0-9]+ with output '[0-9]+' \(Softmax-13\): out of memory: a primitive of oneDNN takes 24.6 KB; [0-9.]+ MB of 20.0 MB are in use" stderr; then
  echo 'ok primitives count'
else
  echo "not ok primitives count: exit $code: $(cat stderr)"
fi
if "$AMPCONV" run chain.onnx -q --max-memory 200M 2>stderr; then echo 'ok and fit where there is more'; else echo "not ok and fit where there is more: $(cat stderr)"; fi

# A constant is there in one form: in the dtype of the run, in float32 where the processor has no kernels for that; or where it
# lies in the file, which counts for nothing, where kernels read it so.
# What lives beside the weights is at most a feed-forward layer's input and output, 16 words of 1024 floats each.
perl "$(dirname "$0")/../bench/make_model.pl" --layers 6 --width 256 --hidden 1024 --words 500 --data weights.bin held.onnx || exit 2
weights=$(wc -c <weights.bin) live=$((2 * 16 * 1024 * 4))
while read -r dtype peak widened; do
  held=$((weights / 2))
  if [ "$dtype" = fp32 ] || [ "$widened" -gt 0 ]; then held=$weights; fi
  if [ "$peak" -gt "$live" ] && [ "$peak" -le $((12 * (held + live) / 10)) ]; then
    echo "ok constants in one form, $dtype"
  else
    echo "not ok constants in one form, $dtype: $peak bytes, $held of weights"
  fi
done < <("$AMPCONV" bench -q held.onnx --dim length=16 --runs 1 --json |
  awk -F '[:,]' '/"dtype"/ { gsub(/[" ]/, "", $2); dtype = $2 } /"peak_bytes"/ { peak = $2 } /"widened_nodes"/ { print dtype, peak + 0, $2 + 0 }')
