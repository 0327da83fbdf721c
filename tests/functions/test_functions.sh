#!/usr/bin/env bash
# Models with model-local functions: their outputs against those that ONNX Runtime computed after ONNX's own inliner
# (functions.cases); conversions, validated, through ONNX's checker (full_check) and ONNX Runtime, whose float16 outputs must be
# ours; a second conversion, which changes nothing; functions that are left alone, byte for byte; names after inlining.
set -u
: "${AMPCONV:?}" "${ORACLES:?}" "${CASES:?}"
here=$CASES/functions
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. ../oracle/ort_plain.sh

result() { # NAME: runs the rest of the words
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $(tr '\n' ' ' <<<"$output")"; fi
}

# The inputs of model NAME in the words of ort_run; ours are the same after --input.
inputs_of() {
  case $1 in
  edges) echo "x=$here/edges/test_data_set_0/input_0.pb flag=$here/edges/test_data_set_0/input_1.pb" ;;
  left) echo "x=$here/left/test_data_set_0/input_0.pb p=$here/left/test_data_set_0/input_1.pb" ;;
  *) echo "x=$here/$1/test_data_set_0/input_0.pb" ;;
  esac
}

stays() { # MODEL DTYPE
  "$AMPCONV" "$1" -d "$2" --node '*=lower' -o "$1.again" --no-validate && cmp "$1" "$1.again"
}

agrees() { # NAME MODEL: our outputs against ONNX Runtime's
  local words
  read -ra words < <(inputs_of "$1")
  rm -rf "$scratch/ort" && mkdir "$scratch/ort"
  ort_plain "$2" "$scratch/ort" "${words[@]}" &&
    "$AMPCONV" run "$2" --data "$here/$1" --expect "$scratch/ort" --tolerance rtol=1e-2 --tolerance atol=1e-5
}

for name in exporter edges left outside; do
  model=$here/$name.onnx
  result "$name runs" "$AMPCONV" run "$model" --data "$here/$name" --expect "$here/$name/test_data_set_0"
  for dtype in fp16 bf16; do
    out=$scratch/$name.$dtype.onnx
    result "$name $dtype" "$AMPCONV" "$model" -d $dtype --node '*=lower' -o "$out" --data "$here/$name"
    result "$name $dtype checker" "$ORACLES/onnx_check" "$out"
    result "$name $dtype again" stays "$out" $dtype
  done
  result "$name fp16 as ONNX Runtime" agrees $name "$scratch/$name.fp16.onnx"
done

# Raised: the nodes that came from functions too.
result 'exporter raised' "$AMPCONV" "$here/exporter.onnx" -d fp32 --opset 22 -o "$scratch/raised.onnx" --data "$here/exporter"
result 'exporter raised, checker' "$ORACLES/onnx_check" "$scratch/raised.onnx"
result 'exporter raised, as ONNX Runtime' agrees exporter "$scratch/raised.onnx"

# A domain that only a function imports.
result 'imported' "$AMPCONV" "$here/imported.onnx" --no-validate -o "$scratch/imported.onnx"
result 'imported, checker' "$ORACLES/onnx_check" "$scratch/imported.onnx"

# has MODEL FILE yes|no: whether MODEL holds the bytes of FILE.
has() {
  perl -e 'local $/; my @t = map { open my $f, "<:raw", $_ or die; scalar <$f> } @ARGV[0, 1];
           exit((index($t[0], $t[1]) >= 0 ? "yes" : "no") eq $ARGV[2] ? 0 : 1)' "$@"
}
for kept in Vote Both Spare Half; do
  result "left: $kept before" has "$here/left.onnx" "$here/left/$kept.function" yes
  result "left: $kept stays as it was" has "$scratch/left.bf16.onnx" "$here/left/$kept.function" yes
done
# gone NAME WORD: the function's name was in the model and is not in the converted one.
gone() { grep -qa "$2" "$here/$1.onnx" && ! grep -qa "$2" "$scratch/$1.bf16.onnx"; }
result 'left: Double is gone' gone left Double
result 'exporter: aten_layer_norm is gone' gone exporter aten_layer_norm

# Raised beyond what Half holds: what nothing calls goes, what is called stays.
result 'left raised' "$AMPCONV" "$here/left.onnx" --opset 22 -o "$scratch/left22.onnx" --data "$here/left"
result 'left raised, checker' "$ORACLES/onnx_check" "$scratch/left22.onnx"
for kept in Vote Both; do result "left raised: $kept stays" has "$scratch/left22.onnx" "$here/left/$kept.function" yes; done
for gone in Spare Half; do result "left raised: $gone goes" has "$scratch/left22.onnx" "$here/left/$gone.function" no; done
