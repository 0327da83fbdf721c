#!/usr/bin/env bash
# Sequences, optionals and maps as inputs, as outputs in files and in reports.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/sequences" && cp -r "$CASES"/ops/sequence/* "$scratch/sequences"
cp -r "$CASES/ops/ml" "$scratch/ml"
cd "$scratch" || exit 1

# verdict NAME COMMAND...: ok when the command succeeds.
verdict() {
  local name=$1
  shift
  if "$@" >"$scratch/said" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tr '\n' ' ' <"$scratch/said")"; fi
}

# refused NAME CODE MESSAGE ARGUMENTS...: the program ends with CODE and says MESSAGE.
refused() {
  local name=$1 code=$2 message=$3 found
  shift 3
  found=$("$AMPCONV" run -q "$@" 2>&1)
  if [ $? -eq "$code" ] && [ "$found" = "ampconv: $message" ]; then echo "ok $name"; else echo "not ok $name: $found"; fi
}

# round_trip NAME CASE INPUT OUTPUT: what is written of the output is the input, and is read again as such.
round_trip() {
  local name=$1 case=sequences/$2 input=$3 output=$4
  verdict "$name: written" "$AMPCONV" run -q "$case/model.onnx" -i "$input=$case/test_data_set_0/input_0.pb" --output-dir "$2" --format pb
  verdict "$name: as expected" "$AMPCONV" run -q "$case/model.onnx" --data "$case" --expect "$2"
  verdict "$name: read again" "$AMPCONV" run -q "$case/model.onnx" -i "$input=$2/$output.pb" --expect "$2" --output-dir "$2.2" --format pb
  verdict "$name: written the same" cmp "$2/$output.pb" "$2.2/$output.pb"
}
round_trip 'a sequence' identity s y
round_trip 'an optional' optional_identity o y
round_trip 'an optional sequence' optional_identity_sequence o y
round_trip 'an empty optional' optional_identity_empty o y

sequence=sequences/identity/model.onnx
refused 'a sequence as .npy' 4 "output 'y': a .npy file cannot hold a list of tensors; .pb can" \
  "$sequence" -i s=identity/y.pb --output-dir none
verdict 'nothing is left of it' test ! -e none/y.npy
refused 'a sequence of other elements' 3 "'s': element 0 is float32; the model wants int64" \
  "$sequence" -i s=sequences/split_each_0_axis_0/test_data_set_0/output_0.pb
"$AMPCONV" run -q sequences/insert_last/model.onnx --data sequences/insert_last --output-dir longer --format pb
cp sequences/erase_last/test_data_set_0/output_0.pb longer/y.pb
verdict 'other elements than expected' bash -c '"$0" run -q sequences/insert_last/model.onnx --data sequences/insert_last --expect longer; [ $? -eq 1 ]' \
  "$AMPCONV"

"$AMPCONV" run -q "$sequence" -i s=identity/y.pb --json=json
verdict 'JSON has the type' grep -q '"type": "sequence"' json
"$AMPCONV" run -q sequences/optional_out/model.onnx --data sequences/optional_out --json=json
verdict 'JSON has the type of an optional' grep -q '"type": "optional"' json
verdict 'the report says so too' bash -c '"$0" run "$1" -i s=identity/y.pb 2>&1 | grep -q "'"'y' sequence of int64 \[2\]"'"' "$AMPCONV" "$sequence"

for case in zip_map_ints zip_map_strings; do
  model=ml/$case/model.onnx
  verdict "$case: written" "$AMPCONV" run -q "$model" --data "ml/$case" --output-dir "$case" --format pb
  verdict "$case: as written" "$AMPCONV" run -q "$model" --data "ml/$case" --expect "$case"
done
verdict 'maps with other keys' bash -c '"$0" run -q ml/zip_map_ints/model.onnx --data ml/zip_map_ints --expect zip_map_strings; [ $? -eq 1 ]' \
  "$AMPCONV"
verdict 'maps in a report' bash -c '"$0" run ml/zip_map_ints/model.onnx --data ml/zip_map_ints 2>&1 | grep -q "sequence of maps"' "$AMPCONV"
