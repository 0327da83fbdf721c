# Fused and strict runs agree: on models whose nodes are done together in float32, and on their conversions, within what the
# dtype's rounding leaves. That nodes are done together shows in the conversions' last digits.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# agrees NAME MODEL TOLERANCE...
agrees() {
  local name=$1 model=$2
  shift 2
  rm -rf strict fused
  "$AMPCONV" run -q "$model" --seed 3 --strict --output-dir strict 2>said &&
    "$AMPCONV" run -q "$model" --seed 3 --output-dir fused --expect strict "$@" 2>>said
  local code=$?
  if [ $code -eq 0 ]; then echo "ok $name"; else echo "not ok $name: exit $code: $(tr '\n' ' ' <said)"; fi
  diff -rq strict fused >/dev/null || differ=$((differ + 1))
}

# What the dtypes' rounding leaves.
bf16=(-t snr=30 -t cosine=0.999) fp16=(-t snr=48 -t cosine=0.999)
mkdir exports && xz -dc "$top/tests/parity/exports.tar.xz" | tar -xf - -C exports || exit 1
differ=0 n_models=0
for model in "$top"/models/*.onnx "$CASES"/parity/*.onnx exports/*.ts.onnx "$CASES"/run/fused/*.onnx; do
  ((n_models++ % ${STEP-1} == 0)) || continue
  name=$(basename "$model" .onnx)
  case $name in
    digits_pedestal) continue ;; # made so that rounding leaves nothing in it to agree on
    *_bf16) agrees "$name" "$model" "${bf16[@]}" ;;
    *_fp16) agrees "$name" "$model" "${fp16[@]}" ;;
    *) agrees "$name" "$model" ;;
  esac
  for dtype in bf16 fp16; do
    "$AMPCONV" -q "$model" -d $dtype --no-validate -o lower.onnx || echo "not ok $name: cannot be converted"
    declare -n tolerance=$dtype
    agrees "$name in $dtype" lower.onnx "${tolerance[@]}"
  done
done
# Where the CPU does not compute in bfloat16, float32 that stays between nodes is rounded as they are: to a unit of float32.
ONEDNN_MAX_CPU_ISA=AVX2 agrees 'rounded before casts' "$CASES/run/fused/cast_moved_bf16.onnx" -t rtol=1e-6 -t atol=0
if [ $differ -gt 0 ]; then echo 'ok strict and fused differ somewhere'; else echo 'not ok strict and fused never differ'; fi
