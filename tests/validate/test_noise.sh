#!/usr/bin/env bash
# --explain=noise: what is said of the sources of a conversion's error, as text and as JSON. Numbers are the unit test's matter.
set -u
here=$CASES/validate
models=$(cd ../../models && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >said 2>&1; then echo "ok $name"; else echo "not ok $name: $(cat said report | head -c 2000)"; fi
}
says() { grep -qE -- "$1" report; }
counts() { [ "$(grep -cE -- "$1" report)" -eq "$2" ]; }
noise() { "$AMPCONV" "$@" --explain=noise -q --accept -o out.onnx >report 2>stderr; }

noise "$models/digits_transformer.onnx" --node '*=lower'
holds 'the sum and what is measured' says '^noise: snr [0-9.]+ dB predicted by the sum over 8[0-9] sources, [0-9.]+ dB measured: the sum is [0-9.]+ dB too (low|high), where chance makes [0-9.]+ dB$'
holds 'what it cost' says '^    probed on 1 of 1 sample in 8[0-9] groups, for [0-9.]+ plain runs; all rounded at once there: [0-9.]+ dB$'
holds 'twenty sources' counts "^ +[0-9.]+ %  +[0-9.]+ dB  (weight|value|cast) '[^']*' bfloat16, node '" 20
holds 'those that add most come first' test "$(grep -E ' %  ' report | grep -v ' the other ' | sort -s -k 3 -n | head -n 20 | cmp - <(grep -E ' %  ' report | grep -v ' the other ') && echo yes)" = yes
holds 'and the rest' counts '^ +[0-9.]+ %  +[0-9.]+ dB  the other 6[0-9]$' 1
holds 'the model is written' test -s out.onnx
holds 'nothing on stderr' test ! -s stderr

noise "$models/digits_cnn.onnx" --no-validate --json=json
holds 'shares add up to one' awk -F '[:,]' '/"share"/ { sum += $2 } END { exit !(sum > 0.999 && sum < 1.001) }' json
holds 'and powers to what is predicted' awk -F '[:,]' '/"power"/ { sum += $2 } /"predicted"/ { sum -= $2; all = $2 } END { exit !(sum < 1e-6 * all && -sum < 1e-6 * all) }' json
holds 'members' test "$(sed -n '/^  "noise"/,$p' json | grep -oE '^    "[a-z_]+"' | tr -d ' "' | paste -sd' ')" = \
  'predicted joint measured difference_db chance_db lost nonfinite outputs selected samples groups plain_runs sources'
"$AMPCONV" "$models/digits_cnn.onnx" --explain=noise -q -o - >piped.onnx 2>report
holds 'to stderr where the model goes to stdout' says '^noise: snr '

noise "$here/noise_integers/model.onnx"
holds 'nothing rounded' says '^noise: nothing is rounded$'
holds 'no energy' says '^    left out: 1 of 1 outputs, without energy: no floats, or all 0$'
noise "$here/classes.onnx" --dim n=4
holds 'outputs that do not count' says '^    left out: 2 of 3 outputs, without energy: no floats, or all 0$'
noise "$here/noise_selected/model.onnx"
holds 'outputs behind selections' says '^    behind selections: 1 output, in whose place stands what is selected from$'
noise "$here/noise_nan/model.onnx" --node '*=lower'
holds 'NaN of the reference' says '^    left out: 2 elements that the reference makes NaN or infinite$'
noise "$here/noise_overflow/model.onnx" --node '*=lower' -d fp16 --no-validate
holds 'what overflows' says "^    makes [0-9] elements NaN or infinite  value 'large' float16, node 'Mul_large' \(Mul-"
holds 'which is no error' counts ' makes [0-9] elements NaN or infinite$' 1
noise "$CASES/convert/scan_state/model.onnx" --node '*=lower'
holds 'bodies' says " dB  bodies 'y' float32, node 'Scan_y' \(Scan-"
