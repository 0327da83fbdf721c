#!/usr/bin/env bash
# ONNX's nine light models (ImageNet CNNs): our float32 run against the reference outputs that ship with them; conversions to
# bfloat16 and float16 through ONNX's checker (full_check) and ONNX Runtime; in float16 its outputs against ours; and a second
# conversion, which must change nothing. Both are validated: the made-up weights of six models overflow float16, and the nodes where
# they do are named, with the value, and stay in float32.
# Under the sanitizers only the smaller models; of an instruction set that is played only what is computed.
# Takes long.
set -u
export OMP_NUM_THREADS=2
: "${TESTDATA:?}" "${ORACLES:?}" "${BUILD:?}"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. ../oracle/ort_plain.sh

result() { # NAME: runs the rest of the words
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $output"; fi
}

loads() { # ONNX Runtime takes the model, or lacks a kernel for it
  "$ORACLES/ort_run" "$1" --load-only
  local code=$?
  [ $code -eq 0 ] || [ $code -eq 4 ]
}

agrees() { # MODEL INPUT_NAME: our outputs against ONNX Runtime's
  rm -rf "$scratch/ort" && mkdir "$scratch/ort"
  ort_plain "$1" "$scratch/ort" "$2=$scratch/input_0.pb" &&
    "$AMPCONV" run "$1" --input "$2=$scratch/input_0.pb" --expect "$scratch/ort" --tolerance rtol=1e-2 --tolerance atol=1e-5
}

loads_for_it() { # MODEL DTYPE: converted for ONNX Runtime's CPU provider it loads there; where nothing is lowered it is what it was
  local said
  said=$("$AMPCONV" "$1" --dtype "$2" --target ort-cpu -o "$scratch/target.onnx" --no-validate 2>&1) &&
    "$ORACLES/ort_run" "$scratch/target.onnx" --load-only && { [ "$2" = fp16 ] || cmp "$1" "$scratch/target.onnx"; } || { echo "$said"; return 1; }
}

converts() { # MODEL DTYPE OUT
  "$AMPCONV" "$1" --dtype "$2" -o "$3" --input "$input=$scratch/input_0.pb"
}

names_overflow() { # MODEL: with node, value and number, before anything is run in float16
  "$AMPCONV" "$1" --dtype fp16 -o "$scratch/named.onnx" --no-validate --input "$input=$scratch/input_0.pb" -v 2>&1 |
    grep -E "value-range|kept from float16: node 'n[0-9]+' \(.*\), '[^']+': [0-9.e+]+ in data" | grep -c . | grep -qx 2
}

stays() { # MODEL DTYPE: converting it again changes nothing
  "$AMPCONV" "$1" --dtype "$2" -o "$1.again" --no-validate --input "$input=$scratch/input_0.pb" && cmp "$1" "$1.again"
}

for model in "$TESTDATA"/light/*.onnx; do
  name=$(basename "$model" .onnx)
  case $BUILD/$name in
  *asan*/*vgg19 | *asan*/*densenet121 | *asan*/*zfnet512 | *asan*/*inception*) continue ;;
  esac
  read -r _ input _ dims < <("$AMPCONV" "$model" --dump-after=infer | grep '^input')
  # shellcheck disable=SC2086
  perl arange.pl ${dims//[^0-9 ]/} >"$scratch/input_0.pb"
  mkdir -p "$scratch/expect" && cp "$TESTDATA/light/${name}_output_0.pb" "$scratch/expect/output_0.pb"
  result "$name fp32" "$AMPCONV" run "$model" --input "$input=$scratch/input_0.pb" --expect "$scratch/expect" \
    --tolerance rtol=1e-3 --tolerance atol=1e-5
  for dtype in bf16 fp16; do
    out=$scratch/$name.$dtype.onnx
    result "$name $dtype converts" converts "$model" $dtype "$out"
    if [ -n "${ONEDNN_MAX_CPU_ISA-}" ]; then continue; fi
    result "$name $dtype checker" "$ORACLES/onnx_check" "$out"
    result "$name $dtype loads" loads "$out"
    result "$name $dtype again" stays "$out" $dtype
    result "$name $dtype for ONNX Runtime" loads_for_it "$model" $dtype
  done
  case $name in
  *alexnet | *inception_v1 | *resnet50 | *squeezenet | *vgg19 | *zfnet512) result "$name fp16 names what overflows" names_overflow "$model" ;;
  esac
  result "$name fp16 as ONNX Runtime" agrees "$scratch/$name.fp16.onnx" "$input"
  rm -f "$scratch"/*.onnx
done
