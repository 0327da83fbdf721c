# Attention in slices (run/sliced/*.onnx) gives what it gives node by node: with the heads cut (430 tokens) and with their rows cut
# (1100), in both cases with a rest at the end; in float32 and in conversions within what the dtype's rounding leaves. One thread
# is as good as a promise of slices of 2 MiB. That the scores are never there as a whole shows in the memory that suffices.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

run() { "$AMPCONV" run -q --seed 3 --threads 1 "$@" 2>said; }

# verdict NAME CODE
verdict() { if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1: exit $2: $(tr '\n' ' ' <said)"; fi; }

# agrees NAME MODEL SIZE TOLERANCE...
agrees() {
  local name=$1 model=$2 size=$3
  shift 3
  rm -rf strict
  run "$model" --dim n="$size" --strict --output-dir strict && run "$model" --dim n="$size" --expect strict "$@"
  verdict "$name of $size" $?
}

for model in "$CASES"/run/sliced/*.onnx; do
  name=$(basename "$model" .onnx)
  agrees "$name" "$model" 430
  agrees "$name" "$model" 1100
  for dtype in bf16 fp16; do
    "$AMPCONV" -q "$model" -d $dtype --no-validate -o lower.onnx || echo "not ok $name: cannot be converted"
    if [ $dtype = bf16 ]; then tolerance=(-t snr=30 -t cosine=0.999); else tolerance=(-t snr=48 -t cosine=0.999); fi
    agrees "$name in $dtype" lower.onnx 430 "${tolerance[@]}"
  done
done

# Scores of 29 MB (58 in float64) and what is as large as a mask beside them.
for name in plain scale mask_columns mask_matrix mask_batch mask_number opset_11 rank_5 keys_shared where where_infinite rows_hidden \
  between between_twice float64 exported; do
  model=$CASES/run/sliced/$name.onnx
  run "$model" --dim n=1100 --max-memory 25M
  verdict "$name in slices" $?
  run "$model" --dim n=1100 --max-memory 25M --strict
  if grep -q 'out of memory' said; then echo "ok $name as a whole"; else echo "not ok $name as a whole: takes less than 25 MB"; fi
done

# Scores of 31 MB in 16 bits, whether the CPU computes in them or in float32.
for name in plain mask_columns exported; do
  for dtype in bf16 fp16; do
    "$AMPCONV" -q "$CASES/run/sliced/$name.onnx" -d $dtype --no-validate -o lower.onnx
    run lower.onnx --dim n=1600 --max-memory 25M
    verdict "$name in slices in $dtype" $?
  done
done
