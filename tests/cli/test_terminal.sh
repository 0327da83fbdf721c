#!/usr/bin/env bash
# Whatever the names in a model and on the command line are, no command sends the terminal anything to obey, and a name is no line:
# everything that prints is run with plain names and with hostile ones, and both say the same number of lines.
set -u
export LC_ALL=C
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
hostile=$'\e(0\e]0;t\a\r\b\x7f\xc2\x85\xe2\x80\xae\xe2\x80\xa8\xff\x9b\nfake line' # nothing that means something to a glob

# ---- a model by hand: its messages and fields as onnx.proto has them

byte() { printf "\\x$(printf %x "$1")"; }
varint() {
  local n=$1
  while [ "$n" -gt 127 ]; do byte $((n & 127 | 128)); n=$((n >> 7)); done
  byte "$n"
}
number() { varint $(($1 << 3)); varint "$2"; }                                      # FIELD VALUE
text() { varint $(($1 << 3 | 2)); varint ${#2}; printf %s "$2"; }                   # FIELD TEXT
message() { local f; f=$(mktemp ./XXXXXX); cat >"$f"; varint $(($1 << 3 | 2)); varint "$(stat -c %s "$f")"; cat "$f"; rm "$f"; } # FIELD <
node() { { text 1 "$3$s"; [ -z "${5-}" ] || text 1 "$5$s"; text 2 "$4$s"; text 3 "n_$4$s"; text 4 "$2"; [ -z "${6-}" ] || text 7 "$6"; text 6 "doc$s"; } | message "$1"; }
tensor_type() { { number 1 1; { for d in "$@"; do { case $d in [0-9]) number 1 "$d" ;; *) text 2 "$d" ;; esac; } | message 1; done; } | message 2; } | message 1; }
value() { { text 1 "$2$s"; tensor_type "${@:3}" | message 2; text 3 "doc$s"; } | message "$1"; }
weight() { { number 1 4; number 1 4; number 2 1; for i in {1..16}; do printf '%b' "$2"; done | message 9; text 8 "$1$s"; } | message 5; }
model() { # SUFFIX of all names
  local s=$1
  number 1 8
  text 2 "producer$s"
  text 4 "domain$s"
  text 6 "doc$s"
  {
    node 1 MatMul x m w
    node 1 "F$s" m f '' "d$s"
    node 1 MatMul f g big
    node 1 Relu g y
    text 2 "graph$s"
    weight w '\0\0\x80\x3f'
    weight big '\0\x24\x74\x49'
    text 10 "doc$s"
    value 11 x "N$s" 4
    value 12 y "N$s" 4
  } | message 7
  { text 1 ''; number 2 17; } | message 8
  { text 1 "d$s"; number 2 1; } | message 8
  { text 1 "key$s"; text 2 "value$s"; } | message 14
  { text 1 "F$s"; text 4 "a$s"; text 5 "b$s"; node 7 Relu a b; { text 1 ''; number 2 17; } | message 9; text 10 "d$s"; text 8 "doc$s"; } | message 25
}

prepare() { # FOLDER SUFFIX
  mkdir -p "$1/suite/case$2" && cd "$1" || exit 2
  s=$2
  model "$2" >"m$2.onnx"
  cp "m$2.onnx" "suite/case$2/model.onnx"
  printf 'version: 1\nname: "a%s"\ndescription: "d%s"\nrules:\n- {precision: lower, nodes: ["n_m*", "%s"], tensors: ["*"]}\n- {precision: fp32, ops: ["x::y%s"]}\n- {precision: fp32, ops: ["x::y%s"]}\n' "$3" "$3" "$3" "$3" "$3" >"r$2.yaml"
  printf 'version: 1\nname: "a%s"\nrules: [{precision: "p%s", ops: [Conv]}]\n' "$3" "$3" >"wrong$2.yaml"
  printf 'Con%s\n' "${2//$'\n'/}" >"ops$2.txt"
  cd ..
}
prepare plain _plain _plain
prepare hostile "$hostile" '\e[31m\a\r\n\x7F\x85\u202E\u2028'

# ---- what prints

commands() { # SUFFIX: a command a line, its words quoted for the shell
  local s=$1 m r
  printf -v m %q "./m$s.onnx"
  printf -v r %q "./r$s.yaml"
  printf -v s %q "$s"
  cat <<END
$m -o out.onnx -vv --threads 1
$m -o out.onnx -vv -d fp16 --no-validate -r $r
$m -o out.onnx --no-validate --explain
$m -o out.onnx --no-validate --explain -d fp16 -r $r
$m -o out.onnx --no-validate --explain=json
$m --list -r $r
$m -o out.onnx --json - -t snr=1
$m -o "out"$s.onnx --json "j"$s.json --external-data "d"$s --external-threshold 1 --no-validate -v
$m
$m
$m -o none$s/out.onnx
$m --dump-after read
$m --dump-after infer
$m --dump-after assign
$m --dump-after fold
$m -r ./wrong$s.yaml --list
$m -r ./none$s.yaml --list
$m -r none$s --list
$m --lower-ops ./ops$s.txt --list
$m --lower-ops ./none$s.txt --list
$m --node "*"$s=lower --list
$m --node x$s --list
$m --op "y"$s=fp32 --list
$m --dtype d$s
$m --opset o$s
$m --no$s
$m --io x$s=lower --list
$m --io z$s=lower --list
$m --dim z$s=1 -o out.onnx
$m --input z$s=f -o out.onnx
$m --input x$s=f$s.npy -o out.onnx
$m --data none$s -o out.onnx
$m -t t$s=1 -o out.onnx
$m --dump-after s$s
./none$s.onnx
./suite
run $m -v
run $m -vv --seed 3
run $m --json -
run $m --output-dir out$s --format npy
run $m --output-dir out$s --format pb -v
run $m --expect none$s
run $m --expect suite
run --test-suite suite -v
run --test-suite suite --json -
run --test-suite suite --filter "*case"$s
run --test-suite none$s
run ./r$s.yaml
bench $m --runs 1 --profile -vv -d fp32,bf16
bench $m --runs 1 --profile -v --json
bench $m --runs 1 -r $r --node "n_m"$s=fp32 -d bf16
bench ./none$s.onnx
rules $r
rules $r --resolved
rules $r --check
rules ./wrong$s.yaml
rules ./none$s.yaml
rules none$s
rules --diff torch-cpu $r $m
rules --diff $r none$s $m
END
}

run_all() { # FOLDER SUFFIX: the output of command N goes to N.out, in the folder
  local n=0 line words
  cd "$1" || exit 2
  while IFS= read -r line; do
    eval "words=($line)"
    "$AMPCONV" "${words[@]}" </dev/null >"$n.out" 2>"$n.err"
    echo $? >"$n.code"
    n=$((n + 1))
  done < <(commands "$2")
  cd ..
}
run_all plain _plain
run_all hostile "$hostile"

# ---- what came of it

# Bytes that a terminal would take for more than text, and what is none of UTF-8.
controls=$'[\x01-\x08\x0b-\x1f\x7f]|\xff|\x9b|\xc2\x85|\xe2\x80\xae|\xe2\x80\xa8'
n=0
while IFS= read -r line; do
  for stream in out err; do
    plain=$(wc -l <"plain/$n.$stream") lines=$(wc -l <"hostile/$n.$stream")
    if grep -aqE "$controls" "hostile/$n.$stream"; then
      echo "not ok $line, $stream: $(grep -aE -m 1 "$controls" "hostile/$n.$stream" | od -c | head -n 8)"
    elif [ "$plain" -ne "$lines" ]; then
      echo "not ok $line, $stream: $lines lines, $plain expected: $(cat "hostile/$n.$stream")"
    elif [ "$(cat "plain/$n.code")" != "$(cat "hostile/$n.code")" ]; then
      echo "not ok $line: exit $(cat "hostile/$n.code"), $(cat "plain/$n.code") expected: $(cat "hostile/$n.err")"
    else
      echo "ok $line, $stream"
    fi
  done
  n=$((n + 1))
done < <(commands _plain)

# ---- progress: how far a long run is, on a terminal and nowhere else

many=(run "$here/../models/digits_cnn.onnx" -q --samples 100000000)
timeout 6 script -qec "$(printf '%q ' "$AMPCONV" "${many[@]}")" /dev/null </dev/null >shown 2>&1
tr '\r' '\n' <shown | grep -qE $'^\e\\[Krunning: 0 % \\([0-9]+ of 100000000\\), [0-9:]+(:[0-9]+| s) left$' && echo 'ok progress' || echo "not ok progress: $(tail -c 300 shown)"
timeout 2 "$AMPCONV" "${many[@]}" </dev/null >shown 2>&1
if [ -s shown ]; then echo "not ok no progress into a file: $(head -c 300 shown)"; else echo 'ok no progress into a file'; fi

# ---- the model: into a pipe, not on a terminal

for words in '-o -' '-q --output=-'; do
  # shellcheck disable=SC2086 # words
  script -qec "$(printf '%q ' "$AMPCONV" "$here/../models/digits_cnn.onnx" $words)" /dev/null </dev/null >shown 2>&1
  code=$?
  if [ "$code $(tr -d '\r' <shown)" = '2 ampconv: the model is not written to a terminal; use -o FILE or a pipe' ]; then
    echo "ok no model on a terminal, $words"
  else
    echo "not ok no model on a terminal, $words: exit $code: $(head -c 300 shown)"
  fi
done
