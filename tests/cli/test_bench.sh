#!/usr/bin/env bash
# ampconv bench: what it prints for people and for programs. What the figures are depends on the machine; what they must be to each
# other does not.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
cp "$root/models/digits_cnn.onnx" cnn.onnx
cp "$root/models/digits_gru.onnx" gru.onnx
few=(--runs 3)

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >said 2>&1; then echo "ok $name"; else echo "not ok $name: $(cat said report | head -c 2000)"; fi
}
says() { grep -qE -- "$1" report; }
counts() { [ "$(grep -cE -- "$1" report)" -eq "$2" ]; }

"$AMPCONV" bench cnn.onnx gru.onnx "${few[@]}" >report 2>stderr
holds 'done' test $? -eq 0
holds 'nothing on stderr' test ! -s stderr
holds 'the machine' says '^oneDNN [0-9.]+ on .*, [0-9]+ threads?, medians of 3 runs in turns$'
for dtype in fp32 bf16 fp16; do
  holds "a line per model in $dtype" counts "^(cnn|gru).onnx +$dtype +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +([0-9]+ of [0-9]+|-) +[0-9.]+$" 2
done
holds 'fp32 is as fast as itself' counts ' fp32 .* 1\.00 ' 2

"$AMPCONV" bench cnn.onnx --dtype bf16 "${few[@]}" >report
holds 'one dtype' counts 'onnx +(fp32|bf16|fp16)' 1
holds 'no speed-up without fp32' says ' bf16 +[0-9.]+ +[0-9.]+ +- '

"$AMPCONV" bench cnn.onnx gru.onnx -d fp32,bf16 --json "${few[@]}" >report 2>table
for name in model flops results dtype median_ms min_ms speedup gflops roofline share peak_bytes widened_nodes; do
  count=4
  case $name in model | flops | results) count=2 ;; esac
  holds "JSON: $name" counts "^ +\"$name\": " $count
done
holds 'JSON: dtypes' counts '"dtype": "(fp32|bf16)"' 4
holds 'JSON: gflops are flops by time' awk '
  /"flops"/ { flops = $2 + 0 } /"median_ms"/ { ms = $2 + 0 }
  /"gflops"/ { ratio = $2 * ms * 1e6 / flops; if (!(ratio > 0.999 && ratio < 1.001)) bad = 1; n++ }
  END { exit bad || n != 4 }' report
"$AMPCONV" bench cnn.onnx gru.onnx -d fp32,bf16 --json --runs 1 >report 2>table # of one round medians mean nothing else
holds 'JSON: share is gflops by roofline' awk '
  /"gflops"/ { gflops = $2 + 0 } /"roofline": null/ { n++ } /"roofline": [0-9]/ { roofline = $2 + 0 }
  /"share": [0-9]/ { ratio = $2 * roofline / gflops; if (!(ratio > 0.999 && ratio < 1.001)) bad = 1; n++ }
  END { exit bad || n != 4 }' report
holds 'JSON: the peak holds the weights' awk '/"peak_bytes"/ && $2 + 0 < 10000 { bad = 1 } END { exit bad }' report
holds 'the table steps aside' grep -q '^cnn.onnx ' table
for words in '--json out.json' '--json=out.json' '-q --json out.json'; do
  rm -f out.json
  # shellcheck disable=SC2086
  "$AMPCONV" bench cnn.onnx -d fp32 --runs 1 $words >report
  holds "$words" grep -q '"median_ms"' out.json
done
holds '-q leaves the table out' test ! -s report
"$AMPCONV" bench --json - cnn.onnx -d fp32 --runs 1 >report 2>/dev/null
holds '--json -' says '"median_ms"'

"$AMPCONV" bench cnn.onnx -d fp32,bf16 --profile "${few[@]}" >report
holds 'a profile per dtype' counts '^(fp32|bf16): [0-9.]+ ms in nodes; reorders [0-9.]+ %, casts [0-9.]+ %$' 2
holds 'operators' counts '^ +[0-9.]+ +[0-9.]+ +4 +[0-9.]+  Conv$' 2
holds 'nodes, with the way each ran in' says '^ +[0-9.]+ +[0-9.]+ +1 +[0-9.]+  Conv [^ ]+  post-ops$'
holds 'primitives' says '^ +[0-9.]+ +[0-9.]+ +[0-9]+  convolution [^ ]+  [a-z0-9]+:[a-zA-Z0-9]+ \* '
sorted() { awk '/^ +[0-9.]+ +[0-9.]+ +[0-9]+ / { if (last != "" && $1 > last) exit 1; last = $1; next } { last = "" }' report; }
holds 'longest first' sorted
# A single row reads large weights as they are stored, where the CPU would have to widen them; many rows do not, and small ones are widened.
if ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" --version | grep -q 'x86-64-v3'; then
  row=("$CASES/ops/matmul/matmul_row/model.onnx" -d "bf16,fp16" --profile -v "${few[@]}")
  ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" bench "${row[@]}" >report
  holds 'a row by weights in bf16' counts '^ .* MatMul .*; rows by weights in bf16$' 1
  holds 'a row by weights in fp16' counts '^ .* MatMul .*; rows by weights in fp16$' 1
  ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" bench "${row[@]}" --dim N=5 >report
  holds 'many rows by widened weights' counts 'rows by weights' 0
  ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" bench cnn.onnx -d bf16,fp16 --profile -v "${few[@]}" >report
  holds 'a row by few weights, widened' counts 'rows by weights' 0
  # Many rows by constant weights are an inner product there, for which oneDNN has the faster kernels.
  ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" bench "$CASES/ops/matmul/product_of_many_rows/model.onnx" -d fp32 --profile "${few[@]}" >report
  holds 'many rows by an inner product' says '^ +[0-9.]+ +[0-9.]+ +[0-9]+  inner_product '
  holds 'many rows by no other product' counts ' matmul ' 0
fi
"$AMPCONV" bench cnn.onnx -d bf16 --profile --json "${few[@]}" >report 2>/dev/null
for name in reorder_share cast_share nodes way primitives implementation layouts; do holds "JSON: $name" says "\"$name\""; done
holds 'JSON: nodes one by one' counts '^ +"op": "Conv"' 4
"$AMPCONV" bench cnn.onnx -d fp32 --profile -v --json --runs 1 >report 2>table
json() { sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}\$/\1/p" report; }
# The first is that of all nodes.
holds 'JSON: the times are those of the table' cmp -s <(json ms | tail -n +2 | xargs printf '%.3f\n') <(awk '
  /the way it ran in$/ { is_in = 1 }
  is_in && $1 ~ /^[0-9.]+$/ { print $1 }' table)
holds 'JSON: the calls are those of the table' cmp -s <(json calls | xargs printf '%.0f\n') <(awk '
  /primitive of oneDNN/ { is_in = 1 }
  is_in && $1 ~ /^[0-9.]+$/ { print $3 }' table)
holds 'JSON: the kinds are those of the table' cmp -s <(json kind | tr -d '"') <(awk '
  /primitive of oneDNN/ { is_in = 1 }
  is_in && $1 ~ /^[0-9.]+$/ { print $4 }' table)
"$AMPCONV" bench "$root/models/digits_transformer.onnx" -d fp32 --profile --runs 1 >report
holds 'the longest nodes' says '^ +[0-9]+ more; -v lists them$'
"$AMPCONV" bench "$root/models/digits_transformer.onnx" -d fp32 --profile --runs 1 -v >report
holds 'the times of operators add up' awk '
  / ms in nodes/ { total = $2 }
  /operator$/ { is_in = 1; next }
  /the way it ran in$/ { is_in = 0 }
  is_in { sum += $1; n++ }
  END { exit !(n > 5 && sum - total < 0.001 * n && total - sum < 0.001 * n) }' report
holds 'operators without a count of operations' says '^ +[0-9.]+ +[0-9.]+ +[0-9]+ {8}-  Softmax$'
holds 'all nodes with -v' bash -c '! grep -q "more; -v" report'

# A CPU that hides its caches has blocks of channels here: other layouts, which go as far.
hides_caches() { "$AMPCONV" --version | grep -q '^caches '; }

# On a CPU that computes in neither dtype values stay in float32, in the layout that convolutions give them: the image is reordered
# on its way in, the result on its way out, and what maps elements takes them as they lie.
for dtype in bf16 fp16; do
  if [ "$(uname -m)" != x86_64 ] || hides_caches; then break; fi
  ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" bench "$CASES/run/fused/keep_squeezed.onnx" --dim N=1 -d $dtype --profile -v "${few[@]}" >report
  holds "a reorder of the image in $dtype" counts '^ +[0-9.]+ +[0-9.]+ +1  reorder .* f32:abcd -> ' 1
  holds "a reorder of the result in $dtype" counts '^ +[0-9.]+ +[0-9.]+ +1  reorder .* -> f32:abcd$' 1
  holds "no other in $dtype" counts '  reorder ' 2
  holds "elements are mapped as they lie in $dtype" counts '  (Mul|Relu) [^ ]+  alone; blocked view; float32' 2
done
# So do casts, where nothing else needs another layout; and where the CPU computes in their dtypes.
echo BatchNormalization >norms.txt
for dtype in bf16 fp16; do
  if [ "$(uname -m)" != x86_64 ] || hides_caches; then break; fi
  casts=(cnn.onnx -d $dtype --fp32-ops norms.txt --strict --profile -v "${few[@]}")
  ONEDNN_MAX_CPU_ISA=AVX2 "$AMPCONV" bench "${casts[@]}" >report
  holds "casts take values as they lie in $dtype" counts '  Cast .*  alone; blocked view' 7
  holds "nothing is reordered around them in $dtype" counts '  reorder ' 0
  "$AMPCONV" bench "${casts[@]}" >report
  holds "casts take them so on this CPU in $dtype" says '  Cast .*  alone; blocked view'
done
if "$AMPCONV" --version | grep -q '^bfloat16  native$' && ! hides_caches; then
  "$AMPCONV" bench "$CASES/run/fused/keep_layout_bf16.onnx" -d bf16 --profile -v "${few[@]}" >report
  holds 'what reads two dtypes takes both as they lie' counts '  (Mul|Add) .*  reads casts; blocked view' 2
fi

"$AMPCONV" bench "$CASES/ops/image/resize_nearest_between/model.onnx" -d fp32 --profile -v "${few[@]}" >report
if ! hides_caches; then holds 'nearest resizing keeps the layout of convolutions' says '  Resize #1  alone$'; fi

"$AMPCONV" bench cnn.onnx --dim N=4 -d fp32 --json --runs 1 >report 2>&1
flops=$(awk '/"flops"/ { print $2 + 0 }' report)
"$AMPCONV" bench cnn.onnx -d fp32 --json --runs 1 >report 2>&1
holds 'four samples are four times the work' awk -v flops="$flops" '/"flops"/ { if ($2 * 4 != flops) exit 1 }' report
holds 'a model of 16 bits is timed in 32 too' bash -c '"$0" cnn.onnx -q -o half.onnx --io lower --no-validate && "$0" bench half.onnx --runs 1' "$AMPCONV"
cat cnn.onnx | "$AMPCONV" bench - --runs 1 >report
holds 'stdin' counts '^- +(fp32|bf16|fp16) ' 3
for words in 'nonsense,bf16' 'bf16,nonsense' ',bf16'; do
  "$AMPCONV" bench cnn.onnx --runs 1 -d "$words" >report 2>stderr
  holds "--dtype $words" test $? -eq 2 -a ! -s report
done
"$AMPCONV" bench cnn.onnx --runs 1 -d bf16,fp32,bf16 >report 2>stderr
holds 'a dtype twice' grep -qxF "ampconv: --dtype: 'bf16' is there twice" stderr
