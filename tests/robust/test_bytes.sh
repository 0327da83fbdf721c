#!/usr/bin/env bash
# Models of a few bytes that ask for much: types within types, a message in many pieces. Made here, byte by byte, in hex. Every
# command has its answer within seconds, and it is the right one.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
limit=10 # seconds; what goes wrong here takes years

varint() { # NUMBER
  local n=$1 hex=
  for (( ; n > 127; n >>= 7)); do hex+=$(printf %02x $((n & 127 | 128))); done
  printf '%s%02x' "$hex" "$n"
}
field() { printf '%s%s%s' "$(varint $(($1 << 3 | 2)))" "$(varint $((${#2} / 2)))" "$2"; } # NUMBER HEX
text() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
write() { # FILE HEX
  printf "$(sed 's/../\\x&/g' <<<"$2")" >"$1"
}

float=$(field 1 "0801$(field 2 "$(field 1 0801)")") # TypeProto of float32 [1]
value() { field "$1" "$(field 1 "$(text "$2")")$(field 2 "$3")"; } # FIELD NAME TYPE
node=$(field 1 "$(field 1 "$(text x)")$(field 2 "$(text y)")$(field 4 "$(text Relu)")")
interface=$(field 2 "$(text g)")$(value 11 x "$float")$(value 12 y "$float")
head=0808$(field 8 1012) # IR version 8, opset 18
model() { printf '%s%s' "$head" "$(field 7 "$1")"; } # GRAPH

# nested KIND DEPTH: a tensor in that many sequences, optionals, maps.
nested() {
  local type=$float i
  for ((i = 0; i < $2; i++)); do
    case $1 in
    sequence) type=$(field 4 "$(field 1 "$type")") ;;
    optional) type=$(field 9 "$(field 1 "$type")") ;;
    map) type=$(field 5 "0807$(field 2 "$type")") ;;
    esac
  done
  printf %s "$type"
}

# check NAME CODE STDERR COMMAND...
check() {
  local name=$1 code=$2 wanted=$3 found
  shift 3
  timeout $limit "$AMPCONV" "$@" >stdout 2>stderr
  found=$?
  if [ "$found" = "$code" ] && { [ -z "$wanted" ] || [ "$(cat stderr)" = "$wanted" ]; }; then
    echo "ok $name"
  else
    echo "not ok $name: exit $found: $(head -c 300 stderr)"
  fi
}

# everywhere NAME CODE STDERR: m.onnx by every command that reads a model.
everywhere() {
  check "$1, converted" "$2" "$3" m.onnx --no-validate -q -o out.onnx
  check "$1, validated" "$2" "$3" m.onnx -q -o out.onnx
  check "$1, listed" "$2" "$3" m.onnx -q --list
  check "$1, explained" "$2" "$3" m.onnx --no-validate -q --explain -o out.onnx
  check "$1, printed" "$2" "$3" m.onnx -q --dump-after=read
  check "$1, run" "$2" "$3" run -q m.onnx
  check "$1, timed" "$2" "$3" bench m.onnx -q -d fp32 --runs 1
}

for kind in sequence optional map; do
  write m.onnx "$(model "$node$interface$(value 13 t "$(nested $kind 30)")")"
  everywhere "$kind of value_info, 30 deep" 0 ''
done
type=$(nested sequence 60)
write m.onnx "$(model "$node$interface$(value 11 i "$type")")"
check 'sequences of an input, 60 deep' 0 '' m.onnx --no-validate -q -o out.onnx
attribute=$(field 5 "$(field 1 "$(text type)")$(field 14 "$type")a0010d") # Optional(type=...)
write m.onnx "$(model "$(field 1 "$(field 2 "$(text o)")$(field 4 "$(text Optional)")$attribute")$node$interface")"
check 'sequences of an attribute, 60 deep' 0 '' m.onnx --no-validate -q -o out.onnx
write m.onnx "$(model "$node$interface$(value 13 t "$(nested optional 110)")")"
everywhere 'optionals, 110 deep' 3 \
  'ampconv: m.onnx: messages nested more than 208 deep, as 64 subgraphs would be, at byte 642'

# A graph in pieces is one graph, as protobuf has it; in thousands of pieces it would be joined as often.
pieces() { # COUNT
  local hex=$head i
  hex+=$(field 7 "$node$interface")
  for ((i = 1; i < $1; i++)); do hex+=$(field 7 ''); done
  printf %s "$hex"
}
write m.onnx "$(pieces 8)"
everywhere 'a graph in 8 pieces' 0 ''
write m.onnx "$(pieces 9)"
everywhere 'a graph in 9 pieces' 3 \
  'ampconv: m.onnx: field graph of ModelProto at byte 75 is there more than 8 times; it holds one message'
