#!/usr/bin/env bash
# Models of a few bytes that ask for much: types within types, a message in many pieces. Made here, byte by byte, in hex. Every
# command has its answer within seconds, and it is the right one.
set -u
. ../bytes.sh
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
limit=10 # seconds of CPU time; what goes wrong here takes years

float=$(field 1 "0801$(field 2 "$(field 1 0801)")") # TypeProto of float32 [1]
node=$(field 1 "$(node Relu x y)")
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
  (ulimit -t $limit && exec "$AMPCONV" "$@") >stdout 2>stderr
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
write m.onnx "$(model "$(field 1 "$(node Optional '' o "$attribute")")$node$interface")"
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

# So is a type, but what reads it would keep the last piece alone.
twice="$(field 1 "0801$(field 2 "$(field 1 0801)")")$(field 1 '')"
write m.onnx "$(model "$node$(field 2 "$(text g)")$(value 11 x "$twice")$(value 12 y "$float")")"
everywhere 'a type in 2 pieces' 3 \
  'ampconv: m.onnx: field tensor_type of TypeProto at byte 44 is there more than 1 time; it holds one message'

# A list of 2^63 - 2 numbers is declared: no rank can be one more.
long=$(field 1 "0807$(field 2 "$(field 1 "08feffffffffffffff7f")")")
for node in 'Col2Im x i i' 'Unsqueeze x i'; do
  made=$(field 1 "$(node ${node%% *} "${node#* }" y)")$(field 2 "$(text g)")
  write m.onnx "$(model "$made$(value 11 x "$float")$(value 11 i "$long")$(value 12 y "$float")")"
  check "a rank of many digits: ${node%% *}" 0 '' m.onnx --no-validate -q -o out.onnx
done

# ---- functions that become more than there is memory for ----

# chain OP DOMAIN COUNT FIELD: nodes one after the other, from x to y.
chain() {
  local i from to domain=
  if [ -n "$2" ]; then domain=$(field 7 "$(text "$2")"); fi
  for ((i = 1; i <= $3; i++)); do
    from=v$((i - 1)) to=v$i
    if [ $i = 1 ]; then from=x; fi
    if [ $i = "$3" ]; then to=y; fi
    field "$4" "$(node "$1" $from $to "$domain")"
  done
}
define() { # NAME NODES
  field 25 "$(field 1 "$(text "$1")")$(field 4 "$(text x)")$(field 5 "$(text y)")$2$(field 9 1012)$(field 9 "$(field 1 "$(text f)")1001")$(field 10 "$(text f)")"
}
calls=$(define F5 "$(chain Relu '' 10 7)")
for i in 4 3 2 1; do calls+=$(define F$i "$(chain F$((i + 1)) f 10 7)"); done
write m.onnx "$(printf '%s%s%s%s' "$head" "$(field 8 "$(field 1 "$(text f)")1001")" "$(field 7 "$(chain F1 f 1 1)$interface")" "$calls")"
everything() { # NAME CODE WHAT COMMAND...: WHAT is all that is said, as a pattern.
  local name=$1 code=$2 what=$3 found
  shift 3
  rm -rf out && mkdir out
  (ulimit -t $limit && exec "$AMPCONV" "$@") >stdout 2>stderr
  found=$?
  if [ "$found" = "$code" ] && [ "$(wc -l <stderr)" -le 1 ] && grep -qx "$what" <(cat stderr; [ -s stderr ] || echo) && [ -z "$(ls -A out)" ]; then
    echo "ok $name"
  else
    echo "not ok $name: exit $found: $(head -c 300 stderr) $(ls -A out)"
  fi
}
short='ampconv: out of memory: the next part of the graph takes [0-9.]* [KM]B; [0-9.]* MB of 40\.0 MB are in use'
everything '100 000 nodes of 1 KB, converted' 2 "$short" m.onnx --no-validate -q -o out/m.onnx --max-memory 40M
everything '100 000 nodes of 1 KB, validated' 2 "$short" m.onnx -q -o out/m.onnx --max-memory 40M
everything '100 000 nodes of 1 KB, listed' 2 "$short" m.onnx -q --list --max-memory 40M
everything '100 000 nodes of 1 KB, explained' 2 "$short" m.onnx -q --no-validate --explain -o out/m.onnx --max-memory 40M
everything '100 000 nodes of 1 KB, printed' 2 "$short" m.onnx -q --dump-after=fold --max-memory 40M
everything '100 000 nodes of 1 KB, run' 2 "$short" run m.onnx -q --max-memory 40M
everything '100 000 nodes of 1 KB, timed' 2 "$short" bench m.onnx -q --max-memory 40M
everything '100 000 nodes of 1 KB, where there is room' 0 '' m.onnx --no-validate -q --dump-after=insert --max-memory 1G
