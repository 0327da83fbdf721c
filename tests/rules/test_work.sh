#!/usr/bin/env bash
# How much rules may look at: many names and many patterns are matched, or refused with a message, and nothing takes long.
set -u
export LC_ALL=C
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

# A chain of COUNT Relu nodes with names of SIZE characters, all of them a but for the number at the end; no length is below 128.
byte() { printf "\\x$(printf %x "$1")"; }
varint() {
  local n=$1
  while [ "$n" -gt 127 ]; do byte $((n & 127 | 128)); n=$((n >> 7)); done
  byte "$n"
}
message() { varint $(($1 << 3 | 2)); varint "$(stat -c %s "$2")"; cat "$2"; } # FIELD FILE
chain() { # COUNT SIZE
  local as i size name
  as=$(printf "%$(($2 - 5))s" '' | tr ' ' a)
  printf '\x08\x01\x12\x04\x0a\x02\x08\x01' >tensor # float32, one dimension of 1
  message 1 tensor >type
  { printf '\x0a\x06v00000'; message 2 type; } >input
  { printf '\x0a\x06v%05d' "$1"; message 2 type; } >output
  size=$(varint $((8 + 8 + 1 + $(varint "$2" | wc -c) + $2 + 6)) | od -An -v -tx1 | sed 's/ /\\x/g')
  name=$(varint "$2" | od -An -v -tx1 | sed 's/ /\\x/g')
  {
    for ((i = 0; i < $1; i++)); do printf "\\x0a$size\\x0a\\x06v%05d\\x12\\x06v%05d\\x1a$name%s%05d\\x22\\x04Relu" $i $((i + 1)) "$as" $i; done
    printf '\x12\x01g'
    message 11 input
    message 12 output
  } >graph
  printf '\x08\x08'
  message 7 graph
  printf '\x42\x04\x0a\x00\x10\x11'
}
chain 2000 1000 >long.onnx
chain 3000 200 >short.onnx
as=$(printf '%195s' '' | tr ' ' a)

rules() { # FILE: its rules come after this
  cat - >"$1" <<END
version: 1
name: test
unlisted: fp32
rules:
END
  cat >>"$1" <&3
}
expect() { # NAME EXIT TEXT: the rest is run; TEXT is the last line of what it prints
  local name=$1 code=$2 text=$3 said got
  shift 3
  said=$("$@" 2>&1 </dev/null)
  got=$?
  if [ $got -eq "$code" ] && [ "${said##*$'\n'}" = "$text" ]; then echo "ok $name"; else echo "not ok $name: exit $got, ${said: -200}"; fi
}
count() { # NAME COUNT FILE MODEL: how many nodes are float32 by a rule
  expect "$1" 0 "     $2 float32   rule            a rule matched" "$AMPCONV" "$4" --list -r "$3"
}
TOO_MUCH='300000000 steps were used up at this rule; accepted: fewer rules, operators, values and patterns, or shorter names in the model'

# Names that are written out cost next to nothing, in one rule or in one rule each.
rules names.yaml 3< <(printf -- '- precision: fp32\n  nodes:\n'; printf "  - $as%05d\n" {0..4999})
rules rules.yaml 3< <(printf -- "- {precision: fp32, nodes: [$as%05d]}\n" {0..3999})
count 'names in a rule' '3000' ./names.yaml short.onnx
count 'names in rules' '3000' ./rules.yaml short.onnx

# Globs and expressions that a part of the name tells from it, and such as no part does.
rules apart.yaml 3< <(printf -- '- precision: fp32\n  nodes:\n'; printf "  - '*a*x%d*a'\n" {0..999})
rules prefix.yaml 3< <(printf -- '- precision: fp32\n  nodes:\n'; printf "  - '/b%d/*'\n" {0..14999})
rules globs.yaml 3< <(printf -- '- precision: fp32\n  nodes:\n'; for i in {1..15000}; do echo "  - '*a*a*a*a*a*a*a?[b]'"; done)
rules plus.yaml 3< <(printf -- "- precision: fp32\n  nodes_regex: ['(((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+b', '.*[0-9]{5}']\n")
expect 'globs with parts' 0 "     2000 float32   unlisted        no rule matched: runs in its inputs' type" "$AMPCONV" long.onnx --list -r ./apart.yaml
expect 'globs with a beginning' 0 "     2000 float32   unlisted        no rule matched: runs in its inputs' type" "$AMPCONV" long.onnx --list -r ./prefix.yaml
count 'repetitions of repetitions' '2000' ./plus.yaml long.onnx
for command in "long.onnx --no-validate -o out.onnx -r ./globs.yaml" "rules --diff torch-cpu ./globs.yaml long.onnx"; do
  expect "too much: $command" 3 "ampconv: ./globs.yaml:5:3: too much to match: $TOO_MUCH" "$AMPCONV" $command
done

# So for other things that a rule can have many of.
rules operators.yaml 3< <(printf -- '- precision: fp32\n  ops: ['; for i in {1..95000}; do printf 'add,'; done; printf 'add]\n')
expect 'operators' 3 "ampconv: ./operators.yaml:5:3: too much to match: $TOO_MUCH" "$AMPCONV" short.onnx --list -r ./operators.yaml
rules compared.yaml 3< <(printf -- "- {precision: fp32, ops: [Relu], nodes: [b%d]}\n" {1..11000})
expect 'rules with each other' 3 \
  'ampconv: ./compared.yaml: too much to compare: 300000000 steps were used up; accepted: fewer rules, operators and values' "$AMPCONV" rules --check ./compared.yaml
expect 'a pattern of the command line' 3 "ampconv: command line: too much to match: $TOO_MUCH" \
  "$AMPCONV" long.onnx --list --node "$(printf '*a%.0s' {1..400})*[b]=fp32"
