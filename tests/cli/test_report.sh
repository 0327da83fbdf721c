#!/usr/bin/env bash
# What a conversion tells: five lines, nothing, more, and JSON; each figure once for people and once for programs.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
cp "$root/models/digits_cnn.onnx" m.onnx
cp "$root/models/digits/labels.npy" .
data=(--data "$root/models/digits" --labels labels.npy)

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
holds 'where it runs' says '^  runs on    ampconv, OpenVINO [0-9]+; not ONNX Runtime [0-9.]+ CPU \(no bfloat16 Conv, '
holds 'casts and sizes' says '^  casts      0 before; 2 inserted, 0 folded; 2 now; file [0-9.]+ KB -> [0-9.]+ KB$'
holds 'outputs' says "^  output     'logits' float32 \[360, 10\]: snr [0-9.]+ dB, cosine "
holds 'accuracy' says "^  accuracy   9[0-9.]+ % \([0-9]+ of 360\) in fp32, 9[0-9.]+ % \([0-9]+ of 360\) converted$"
holds 'verdict' says '^  verdict    within tolerance '
holds 'no more than that' test "$(wc -l <report)" -le 8

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
holds '--explain names the rule by file and line, and the operator' counts 'rule lower torch-cpu.yaml:[0-9]+ (conv2d|addmm)$' 5
holds '--explain names the casts where they are caused' counts "^    cast '(image' -> 'image_bf16' bfloat16|logits_bf16' -> 'logits' float32)$" 2
holds '--explain counts' says '^17 nodes, 2 casts$'
holds '--explain counts reasons' says '^       12 bfloat16  unlisted  '
holds '--explain leaves stderr alone' test ! -s stderr
"$AMPCONV" m.onnx --list >listed 2>stderr
holds '--list says the same' cmp report listed
holds '--list leaves stderr alone' test ! -s stderr
holds '--list writes nothing' test ! -e m.bf16.onnx
"$AMPCONV" m.onnx -q --explain -o - --no-validate >piped.onnx 2>report
holds '--explain goes to stderr where the model goes to stdout' counts "^node '" 17
holds 'which is the model alone' cmp out.onnx piped.onnx
"$AMPCONV" m.onnx -q --explain=json -o out.onnx --no-validate >report 2>stderr
holds '--explain=json has a line per node' counts '^    \{"name": "/[^"]*", .*"casts": \[.*\]\},?$' 17
holds '--explain=json has the members' test "$(grep -oE '^  "[a-z_]+"' report | tr -d ' "' | paste -sd' ')" = \
  'ampconv model dtype rules nodes other_casts casts reasons'
holds '--explain=json leaves stderr alone' test ! -s stderr
"$AMPCONV" m.onnx --list --explain=json >listed
holds '--list --explain=json says the same' cmp report listed
"$AMPCONV" "$root/models/digits_transformer.onnx" --list >report
holds '--list names composites' says "^node '/embed/Add' \(Add-14\) +bfloat16  rule of linear lower torch-cpu.yaml:[0-9]+ linear$"
"$AMPCONV" "$root/models/digits_transformer.onnx" --list --explain=json >report
holds '--explain=json names composites' says '^    \{"name": "/embed/MatMul", .*"composite": \{"op": "linear", "by": "pattern", "root": "/embed/Add"\},'
cp "$CASES/convert/custom_op/model.onnx" c.onnx
"$AMPCONV" c.onnx --list --explain=json --node '*=lower' >report
holds '--explain=json is what the manual says of a node' counts '^    \{"name": "[^"]*", "output": "[^"]*", "domain": "[^"]*", "op": "[A-Za-z]+", "version": ([0-9]+|null), "composite": null, "dtype": ("[a-z0-9]+"|null), "reason": "[a-z0-9-]+", "rule": \{"precision": "lower", "file": "command line", "line": null, "torch": null\}, "constant": null, "casts": \[(\{"input": "[^"]*", "output": "[^"]*", "dtype": "[a-z0-9]+"\}(, )?)*\]\},?$' "$("$AMPCONV" c.onnx --dump-after=read | grep -c '^node')"

# Constants that are run and written are converted twice, and counted once; those that are run alone are counted too.
lost='^  weights    57 rounded to zero, 100 subnormal now; in 1 tensor \(-v names them\)$'
"$AMPCONV" "$CASES/convert/tiny/model.onnx" -d fp16 -o out.onnx 2>report
holds 'what constants lost' counts "$lost" 1
"$AMPCONV" "$CASES/convert/tiny/model.onnx" -d fp16 -o outside.onnx -t snr=200 2>report
holds 'also when nothing is written' counts "$lost" 1
"$AMPCONV" "$CASES/convert/guard_for_products/model.onnx" --data "$CASES/convert/guard_for_products/data" -v -o out.onnx 2>report
holds 'and of what fills' says "^    'f_bf16' bfloat16, of 1: 1 saturated$"

# JSON: the shape is compared, numbers are replaced; then what is sure of the numbers.
"$AMPCONV" m.onnx -q -o out.onnx "${data[@]}" --json=report >stdout 2>&1
sed -E 's|: -?[0-9][0-9.e+-]*|: N|; s|"source": .*|"source": S|' report >shape
holds 'JSON' diff "$root/tests/cli/report.json" shape
holds 'JSON to a file leaves stdout alone' test ! -s stdout
"$AMPCONV" m.onnx -q -o out.onnx "${data[@]}" --json - >stdout
holds 'JSON to stdout' diff <(grep -v seconds -A 3 report | grep -vE '"(reference|converted)": [0-9.e-]+,?$') \
  <(grep -v seconds -A 3 stdout | grep -vE '"(reference|converted)": [0-9.e-]+,?$')
"$AMPCONV" m.onnx -q -o outside.onnx -t snr=200 --json=report >stdout 2>&1
holds 'JSON says when nothing was written' says '^  "written": false,$'
holds 'JSON says what was outside' says '"reason": "snr [0-9.]+ dB; at least 200 needed"'
"$AMPCONV" m.onnx -q -o out.onnx --no-validate --json=report
holds 'JSON without validation' says '^  "validation": null$'

"$AMPCONV" --version >report
holds '--version' says '^ampconv [0-9]+\.[0-9]+\.[0-9]+$'
holds '--version says oneDNN and the CPU' says '^oneDNN 3\.[0-9.]+ on .+$'
holds '--version says what is native' counts '^(float32|bfloat16|float16) +(native|.+)$' 3
