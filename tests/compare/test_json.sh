#!/usr/bin/env bash
# What a comparison tells as JSON: all that the text says, of all values, in the order asked for; and where the text goes then.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
cp "$CASES/compare/overflow/model.onnx" model.onnx
cp -r "$CASES/compare/overflow/data" data

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >said 2>&1; then echo "ok $name"; else echo "not ok $name: $(cat said) $(tr -d ' \n' <report)"; fi
}
# The report, without spaces and line ends, has these characters.
has() { tr -d ' \n' <report | grep -qF -- "$1"; }

compare=("$AMPCONV" compare model.onnx -d fp16 --node '*=lower' --data data)
"${compare[@]}" --layers --json - >report 2>stderr
holds 'the exit code is that of the verdict' test $? -eq 1
holds 'the text goes to stderr' grep -q '^  overflow ' stderr
holds 'models' has '"reference":"model.onnx","reference_hash":"fnv1a-32:f8c8033c","model":"model.onnx","model_hash":"fnv1a-32:f8c8033c","dtype":"fp16","seed":0'
holds 'the verdict' has '"validation":{"within":false'
holds 'pairs' has '"layers":{"paired_by":{"name":2,"casts":1,"position":0},"unpaired":{"reference":0,"converted":0}'
holds 'what stands out' has '"first_nan":"y","first_overflow":"squared","largest_jump":null'
holds 'a value that is equal' has '"name":{"reference":"twice","converted":"twice"},"node":{"reference":"double","converted":"double"}'
holds 'its errors' has '"cosine":1.0,"snr":"inf","elements":4,"different":0,"stray":0,"relative":0.0},"local":{'
holds 'a value through a cast' has '"name":{"reference":"y","converted":"y_fp16"},"node":{"reference":"rest","converted":"rest"},"op_type":"Sub","paired_by":"casts","is_output":true'
holds 'dtypes and shape' has '"dtype":{"reference":"float32","converted":"float16"},"shape":[4]'
holds 'the worst element' has '"worst":{"error":"inf","sample":0,"index":[2],"reference":1000000.0,"converted":"inf"}'
holds 'ranges' has '"range":{"reference":{"elements":4,"nan":0,"infinite":0,"zeros":0,"min":4.0,"max":1000000.0,"smallest":4.0},"converted":{"elements":4,"nan":0,"infinite":2,"zeros":0,"min":4.0,"max":10000.0,"smallest":4.0}}'

"${compare[@]}" --layers --sort accumulated --json=report >stdout 2>stderr
holds 'the text goes to stdout' grep -q '^  overflow ' stdout
holds 'the order' has '"values":[{"name":{"reference":"squared"'
"${compare[@]}" -q --json=report >stdout 2>stderr
holds '-q prints no text' test ! -s stdout
holds 'no layers without --layers' test "$(grep -c layers report)" -eq 0

fewer=$CASES/validate/selected_fewer
"$AMPCONV" compare "$fewer/model.onnx" -d bf16 --op Mul=lower -i "x=$fewer/x.npy" --json=report -v >text
holds 'a selected output' has '"selection":"NonZero'"'places'"'","selected_otherwise":true,"given_selection":true,"within":true'
holds 'a selection' has '"selections":[{"node":"NonZero'"'places'"'","items":{"reference":20,"converted":19},"larger":20,"otherwise":1}]'
holds 'its line' grep -qx "  selection  NonZero 'places': 20 in fp32, 19 converted, 1 of 20 otherwise" text
"$AMPCONV" compare "$fewer/model.onnx" "$fewer/model.onnx" -i "x=$fewer/x.npy" --json=report -v >text
holds 'what is selected alike' has '"selection":"NonZero'"'places'"'","selected_otherwise":false,"given_selection":false,"within":true'
holds 'has its line too' grep -qx "  selection  NonZero 'places': 20 in fp32, 20 converted, 0 of 20 otherwise" text
"$AMPCONV" compare "$CASES/validate/selected_by_integers/model.onnx" -d bf16 --seed 1 --json=report >text
holds 'integers make no selection' test "$(grep -c selection report)" -eq 0
