#!/usr/bin/env bash
# What the text of a graph does not show: converted weights, bit by bit; text and unknown fields that come through; models with
# nothing to convert, byte by byte; the same result twice, and through a pipe; data from outside the model file.
set -u
cd "$CASES/convert" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out.onnx

check() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $said"; fi
}
convert() { "$AMPCONV" "$1" -o "$2" --no-validate -q "${@:3}"; }

rounded() {
  convert rounding/model.onnx "$out" -d "$1" --op Identity=lower &&
    "$AMPCONV" run "$out" -q --expect "rounding/$1" -t rtol=0 -t atol=0
}
check 'weights in bf16' rounded bf16
check 'weights in fp16' rounded fp16

# Infinities, NaN and what saturates are shown; so are signs of zeros, by their reciprocals.
saturated() {
  convert numbers/model.onnx "$out" -d "$1" --rules fast && "$AMPCONV" run "$out" -q --data numbers/shown --expect "numbers/$1" -t rtol=0 -t atol=0
}
check 'ends of the range in bf16' saturated bf16
check 'ends of the range in fp16' saturated fp16

kept() { grep -aoE 'kept:[A-Za-z0-9_-]+;' "$1" | sort; }
untouched() {
  convert untouched/model.onnx "$out" -d "$1" || return
  [ "$(kept untouched/model.onnx | wc -l)" -eq 34 ] || { echo "the model has $(kept untouched/model.onnx | wc -l) texts"; return 1; }
  diff <(kept untouched/model.onnx) <(kept "$out")
}
check 'text and unknown fields in bf16' untouched bf16
check 'text and unknown fields in fp16' untouched fp16

same() { convert "$1/model.onnx" "$out" "${@:2}" && cmp "$1/model.onnx" "$out"; }
check 'nothing to convert' same nothing_to_do
check 'no nodes' same empty_graph
check 'float64 and integers' same double_and_integers
check 'weight beyond the range' same weight_overflow -d fp16
check 'opset that cannot be raised' same raise_blocked
check 'text, when a rule keeps all in float32' same untouched --op MatMul=fp32

repeated() { convert "$1/model.onnx" "$out" && convert "$1/model.onnx" "$scratch/twice.onnx" && cmp "$out" "$scratch/twice.onnx"; }
for case in raise_conv bodies_nested names_taken weight_constants; do check "$case twice" repeated $case; done

# The casts of a conversion hide no neighbours from rules that look at them, where the opset keeps some nodes in float32.
beside() { convert "$1/model.onnx" "$out" "${@:2}" && convert "$out" "$scratch/twice.onnx" "${@:2}" && cmp "$out" "$scratch/twice.onnx"; }
check 'clear beside the refused, in bf16' beside resize_18 -d bf16 --rules tensorflow --opset keep
check 'clear beside the refused, in fp16' beside data_many -d fp16 --rules tensorflow --opset keep

# Users' own operators: what is declared of their outputs has the new type, so that the same words change nothing once more.
for case in custom_lower custom_fp32 custom_body custom_output; do
  for dtype in bf16 fp16; do check "$case once more, in $dtype" beside $case -d $dtype --op my.ops::Foo=lower; done
done
declared() {
  convert custom_lower/model.onnx "$out" -d "$1" --op my.ops::Foo=lower &&
    "$AMPCONV" "$out" --dump-after=read | grep -F "node my.ops.Foo 'Foo_b' (a_$1, n, v, d) -> b $2 [2, 4]"
}
check 'a declared type in bf16' declared bf16 bfloat16
check 'a declared type in fp16' declared fp16 float16

# What was converted and then raised to a newer opset is converted all the same.
raised() {
  convert "$1/model.onnx" "$out" -d "$2" && "$AMPCONV" "$out" -d fp32 --opset 23 -q -o "$scratch/raised.onnx" &&
    convert "$scratch/raised.onnx" "$scratch/twice.onnx" -d "$2" && cmp "$scratch/raised.onnx" "$scratch/twice.onnx"
}
for dtype in bf16 fp16; do
  for case in raise_conv bodies_nested names_taken resize_10 batch_normalization_9 lstm_lengths casts_merged function; do
    check "$case raised, in $dtype" raised $case $dtype
  done
done

piped() {
  convert "$1/model.onnx" "$out" && "$AMPCONV" - -o - --no-validate -q <"$1/model.onnx" | cat >"$scratch/piped.onnx" &&
    cmp "$out" "$scratch/piped.onnx"
}
check 'through a pipe' piped raise_conv

# The output lies elsewhere than the data that the model points to.
external() {
  convert "$1/model.onnx" "$out" -d "$2" "${@:3}" && "$AMPCONV" run "$out" -q --data "$1/test_data_set_0" --expect "$1/test_data_set_0"
}
for case in ../read/external_*/; do
  if [ -d "${case}test_data_set_0" ]; then check "${case:8:-1}" external "${case%/}" bf16; fi
done

# What converted a model, in its metadata: behind what was there, once, the same for the same conversion, and not where nothing changed.
says() { [ "$("$CASES/../case_tool" show "$1" | sed -n 's/.*metadata_props: \[\([^]]*\)\].*/\1/p;q')" = "$2" ]; }
kept='"kept:key;": "kept:value;"'
own() { printf '"ampconv.version": "%s", "ampconv.dtype": "%s"%s' "$("$AMPCONV" --version | sed -n '1s/^ampconv //p')" "$1" "${2:+, \"ampconv.rules\": \"$2\"}"; }
first=$scratch/first.onnx
check 'what converted it' convert raise_conv/model.onnx "$first"
check 'is said' says "$first" "$(own bfloat16 torch-cpu)"
again() { convert "$first" "$out" && cmp "$first" "$out"; }
check 'and the same when it is done twice' again
check 'nothing changes it by other rules' convert "$first" "$out" -r fast
check 'and it says what it said' cmp "$first" "$out"
check 'raised' convert "$first" "$out" -d fp32
check 'it says that' says "$out" "$(own float32)"
check 'not when it is not wanted' convert raise_conv/model.onnx "$out" --no-metadata
check 'then it says nothing' says "$out" ''
check 'of an earlier conversion either' convert "$first" "$out" -d fp32 --no-metadata
check 'then it says nothing either' says "$out" ''
check 'where nothing is lowered' convert raise_conv/model.onnx "$out" --node '*=fp32'
check 'nothing is said' says "$out" ''
check 'beside what others say' convert untouched/model.onnx "$first"
check 'it comes last' says "$first" "$kept, $(own bfloat16 torch-cpu)"
check 'also twice' again
printf 'version: 1\nname: mine\nextends: [torch-cpu]\nrules: []\n' >"$scratch/mine.yaml"
check 'by a file' convert raise_conv/model.onnx "$out" -r "$scratch/mine.yaml" -r torch-cpu
check 'its name is said' says "$out" "$(own bfloat16 'torch-cpu, mine')"
