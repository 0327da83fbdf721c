#!/usr/bin/env bash
# What a conversion tells: five lines, nothing, more, and JSON; each figure once for people and once for programs.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
cp "$root/models/digits_cnn.onnx" m.onnx
data=(--data "$root/models/digits" --labels "$root/models/digits/labels.npy")

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >said 2>&1; then echo "ok $name"; else echo "not ok $name: $(cat said report)"; fi
}
says() { grep -qE -- "$1" report; }
counts() { [ "$(grep -cE -- "$1" report)" -eq "$2" ]; }

"$AMPCONV" m.onnx -o out.onnx "${data[@]}" >stdout 2>report
holds 'nothing on stdout' test ! -s stdout
holds 'what became what' says '^m.onnx -> out.onnx: bfloat16 by torch-cpu; opset 17 -> 22$'
holds 'nodes' says '^  nodes      17 bfloat16, 0 float32, 0 other$'
holds 'casts and sizes' says '^  casts      0 before; 2 inserted, 0 folded; 2 now; file [0-9.]+ KB -> [0-9.]+ KB$'
holds 'outputs' says "^  output     'logits' float32 \[360, 10\]: snr [0-9.]+ dB, cosine "
holds 'accuracy' says "^  accuracy   9[0-9.]+ % \([0-9]+ of 360\) in fp32, 9[0-9.]+ % \([0-9]+ of 360\) converted$"
holds 'verdict' says '^  verdict    within tolerance '
holds 'no more than that' test "$(wc -l <report)" -le 7

"$AMPCONV" m.onnx -q -o out.onnx >report 2>&1
holds '-q says nothing' test ! -s report
"$AMPCONV" m.onnx -v -o out.onnx --no-validate >report 2>&1
holds '-v counts the reasons' says '^        5 rule  '
"$AMPCONV" m.onnx -v -o out.onnx "${data[@]}" >report 2>&1
holds '-v names the inputs' says "^  input      'image' float32 \[360, 1, 8, 8\]: "
"$AMPCONV" m.onnx -vv -o out.onnx --no-validate >stdout 2>report
holds '-vv names every node' counts "^node '" 17
holds '-vv leaves stdout alone' test ! -s stdout
"$AMPCONV" m.onnx -q --explain -o out.onnx --no-validate >report 2>stderr
holds '--explain names every node' counts "^node '.* bfloat16 " 17
holds '--explain names the rule by file and line' counts 'rule lower torch-cpu.yaml:[0-9]+$' 5
holds '--explain leaves stderr alone' test ! -s stderr
"$AMPCONV" m.onnx -q --explain -o - --no-validate >piped.onnx 2>report
holds '--explain goes to stderr where the model goes to stdout' counts "^node '" 17
holds 'which is the model alone' cmp out.onnx piped.onnx

# JSON: the shape is compared, numbers are replaced; then what is sure of the numbers.
"$AMPCONV" m.onnx -q -o out.onnx "${data[@]}" --json report >stdout 2>&1
sed -E 's|: -?[0-9][0-9.e+-]*|: N|; s|"source": .*|"source": S|' report >shape
holds 'JSON' diff "$root/tests/cli/report.json" shape
holds 'JSON to a file leaves stdout alone' test ! -s stdout
"$AMPCONV" m.onnx -q -o out.onnx "${data[@]}" --json - >stdout
holds 'JSON to stdout' diff <(grep -v seconds -A 3 report | grep -vE '"(reference|converted)": [0-9.e-]+,?$') \
  <(grep -v seconds -A 3 stdout | grep -vE '"(reference|converted)": [0-9.e-]+,?$')
"$AMPCONV" m.onnx -q -o outside.onnx -t snr=200 --json report >stdout 2>&1
holds 'JSON says when nothing was written' says '^  "written": false,$'
holds 'JSON says what was outside' says '"reason": "snr [0-9.]+ dB; at least 200 needed"'
"$AMPCONV" m.onnx -q -o out.onnx --no-validate --json report
holds 'JSON without validation' says '^  "validation": null$'

"$AMPCONV" --version >report
holds '--version' says '^ampconv [0-9]+\.[0-9]+\.[0-9]+$'
holds '--version says oneDNN and the CPU' says '^oneDNN 3\.[0-9.]+ on .+$'
holds '--version says what is native' counts '^(float32|bfloat16|float16) +(native|.+)$' 3
