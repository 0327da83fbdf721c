#!/usr/bin/env bash
# No key of a rule file is without effect: for each key that the program accepts, by its own message, a file with it and one without
# (or with another value) come to something else.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cp -rL "$CASES/rules/keys/." "$scratch" && cd "$scratch" || exit 2
printf 'Softmax\n' >ops.txt
printf 'version: 1\nname: base\nrules:\n  - {precision: lower, ops: [Neg]}\n' >base.yaml

# What a file comes to: what each node runs in, what the program says of it, and its exit code.
outcome() { # DTYPE LINES
  local head=
  [[ $2 == version:* ]] || head='version: 1\n'
  [[ $2 == name:* ]] || head+='name: x\n'
  printf '%b%b\n' "$head" "$2" >r.yaml
  OPS_LIST=ops.txt "$AMPCONV" model.onnx -d "$1" -r ./r.yaml --data data --no-validate -o out.onnx --explain -q 2>&1 | sed 's/ [^ ]*r\.yaml:[0-9]*//'
  echo "exit ${PIPESTATUS[0]}"
}
# What it says of itself.
print() { outcome "$@" >/dev/null; "$AMPCONV" rules ./r.yaml 2>&1; }

lower='rules:\n  - {precision: lower, ops: [Conv, MatMul, Softmax, Mul, Neg, Add]}\n'
limit() { echo "unlisted: lower\nlimits: {$1: {$2}}"; }
# The mapping, the key, what looks, the dtype, the lines with the key, the lines without it.
keys() {
  cat <<END
file|version|outcome|bf16|version: 2|
file|name|print|bf16|name: other|
file|description|print|bf16|description: words|
file|dtypes|outcome|bf16|dtypes: [fp16]|
file|extends|outcome|bf16|extends: [base.yaml]|
file|unlisted|outcome|bf16|unlisted: lower|
file|constants|outcome|bf16|constants: promote\nrules:\n  - {precision: lower, ops: [MatMul]}|rules:\n  - {precision: lower, ops: [MatMul]}
file|rules|outcome|bf16|$lower|
file|limits|outcome|fp16|$(limit fp16 'weight_max: 1000')|unlisted: lower
rule|precision|outcome|bf16|rules:\n  - {precision: fp32, ops: [Conv]}|rules:\n  - {precision: lower, ops: [Conv]}
rule|like|outcome|bf16|rules:\n  - {precision: lower, ops: [Conv]}\n  - {like: Conv, ops: [Neg]}|rules:\n  - {precision: lower, ops: [Conv]}
rule|dtypes|outcome|bf16|rules:\n  - {precision: lower, ops: [Conv], dtypes: [fp16]}|rules:\n  - {precision: lower, ops: [Conv]}
rule|ops|outcome|bf16|rules:\n  - {precision: lower, ops: [Conv], nodes: ["*"]}|rules:\n  - {precision: lower, nodes: ["*"]}
rule|ops_from|outcome|bf16|rules:\n  - {precision: lower, ops: [Conv], ops_from: [OPS_LIST]}|rules:\n  - {precision: lower, ops: [Conv]}
rule|nodes|outcome|bf16|rules:\n  - {precision: lower, ops: [MatMul], nodes: [product]}|rules:\n  - {precision: lower, ops: [MatMul]}
rule|nodes_regex|outcome|bf16|rules:\n  - {precision: lower, ops: [MatMul], nodes_regex: ["p.*"]}|rules:\n  - {precision: lower, ops: [MatMul]}
rule|tensors|outcome|bf16|rules:\n  - {precision: lower, ops: [MatMul], tensors: [m]}|rules:\n  - {precision: lower, ops: [MatMul]}
rule|when|outcome|bf16|rules:\n  - {precision: lower, ops: [Conv], when: {kernel_shape: [3, 3]}}|rules:\n  - {precision: lower, ops: [Conv]}
when|input_rank|outcome|bf16|rules:\n  - {precision: lower, ops: [Conv], when: {input_rank: 3}}|rules:\n  - {precision: lower, ops: [Conv]}
when|second_rank|outcome|bf16|rules:\n  - {precision: lower, ops: [Add], when: {second_rank: 4}}|rules:\n  - {precision: lower, ops: [Add]}
limits|bf16|outcome|bf16|$(limit bf16 'weight_max: 1000')|unlisted: lower
limits|fp16|outcome|fp16|$(limit fp16 'weight_max: 1000')|unlisted: lower
bf16|weight_max|outcome|bf16|$(limit bf16 'weight_max: 1000')|$(limit bf16 'weight_max: 3000')
bf16|activation_max|outcome|bf16|$(limit bf16 'activation_max: 20000')|$(limit bf16 'activation_max: 80000')
bf16|margin|outcome|bf16|$(limit bf16 'activation_max: 60000, margin: 2')|$(limit bf16 'activation_max: 60000, margin: 1')
bf16|guards|outcome|bf16|$(limit bf16 'activation_max: 20000, guards: off')|$(limit bf16 'activation_max: 20000, guards: on')
fp16|weight_max|outcome|fp16|$(limit fp16 'weight_max: 1000')|$(limit fp16 'weight_max: 3000')
fp16|activation_max|outcome|fp16|$(limit fp16 'activation_max: 20000')|$(limit fp16 'activation_max: 65000')
fp16|margin|outcome|fp16|$(limit fp16 'activation_max: 60000, margin: 2')|$(limit fp16 'activation_max: 60000, margin: 1')
fp16|flush_max|outcome|fp16|$(limit fp16 'flush_max: 1')|unlisted: lower
fp16|guards|outcome|fp16|$(limit fp16 'guards: off')|unlisted: lower
END
}
keys >table

# The keys of a mapping, by the message that refuses another one; those of `when` are attributes and what the manual names.
accepted() { # MAPPING
  case $1 in
  file) echo 'zzz: 1' ;;
  rule) echo 'rules:\n  - {zzz: 1}' ;;
  limits) echo 'limits: {zzz: 1}' ;;
  bf16 | fp16) echo "limits: {$1: {zzz: 1}}" ;;
  esac
}
for mapping in file rule limits bf16 fp16; do
  expected=$(print bf16 "$(accepted $mapping)" | sed -n "s/.*'zzz'.*accepted: //p" | tr -s ', ' '\n' | sort | tr '\n' ' ')
  found=$(awk -F'|' -v mapping=$mapping '$1 == mapping { print $2 }' table | sort | tr '\n' ' ')
  if [ -n "$expected" ] && [ "$found" = "$expected" ]; then echo "ok keys of $mapping"; else echo "not ok keys of $mapping: '$found' are tried, '$expected' accepted"; fi
done
for key in $(sed -n '/^The key$/{n;p}' "$root/man/ampconv-rules.5" | sed -n 's/^\.B \([a-z]*_rank\)$/\1/p'); do
  grep -q "^when|$key|" table || echo "not ok $key: it is not tried"
done

while IFS='|' read -r mapping key look dtype with without; do
  first=$($look "$dtype" "$with") second=$($look "$dtype" "$without")
  case $key$first$second in
  version*'version: '*) ;;
  dtypes*'is not for bf16'*) ;;
  *accepted:*) echo "not ok $mapping $key: $first $second" && continue ;;
  esac
  if [ -n "$first" ] && [ "$first" != "$second" ]; then echo "ok $mapping $key"; else echo "not ok $mapping $key has no effect: $first"; fi
done <table

# A limit on activations is in what --ranges brings as it is in --data.
"$AMPCONV" calibrate model.onnx --data data -q -o ranges.json
printf 'version: 1\nname: x\n%b\n' "$(limit bf16 'activation_max: 20000')" >r.yaml
kept=$("$AMPCONV" model.onnx -r ./r.yaml --ranges ranges.json --no-validate --explain -q -o out.onnx 2>&1 | grep -c 'value-range')
if [ "$kept" -gt 1 ]; then echo 'ok activation_max by --ranges'; else echo "not ok activation_max by --ranges: $kept kept"; fi
# What a file says of a limit replaces what the one it extends said, on as well as off.
printf 'version: 1\nname: off\n%b\n' "$(limit fp16 'guards: off')" >off.yaml
if [ "$(outcome fp16 'extends: [off.yaml]\nlimits: {fp16: {guards: on}}')" = "$(outcome fp16 'unlisted: lower')" ] &&
  [ "$(outcome fp16 'extends: [off.yaml]')" = "$(outcome fp16 "$(limit fp16 'guards: off')")" ]; then
  echo 'ok guards are inherited and replaced'
else
  echo 'not ok guards are inherited and replaced'
fi
