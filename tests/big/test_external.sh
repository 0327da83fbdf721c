#!/usr/bin/env bash
# Tensor data outside the model: what is written with a data file is the model that is written without, says ONNX's checker,
# ONNX Runtime and our own executor; both files appear whole or not at all; offsets beyond 4 GB are read.
# Takes long.
set -u
: "${ORACLES:?}"
make_model=$PWD/../bench/make_model.pl
. ./result.sh
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

convert() { "$AMPCONV" "$1" -q --no-validate -o "$2" "${@:3}"; }

loads() { # ONNX Runtime takes the model, or lacks a kernel for it
  "$ORACLES/ort_run" "$1" --load-only
  local code=$?
  [ $code -eq 0 ] || [ $code -eq 4 ]
}

# Our outputs of two models are the same bytes, and so are ONNX Runtime's when it has the kernels.
agree() { # MODEL MODEL
  rm -rf one two ort_one ort_two && mkdir one two ort_one ort_two
  "$AMPCONV" run "$1" -q --dim length=5 --output-dir one --format pb &&
    "$AMPCONV" run "$2" -q --dim length=5 --output-dir two --format pb && diff -r one two || return 1
  case $1 in *bf16*) return 0 ;; esac
  "$ORACLES/ort_run" "$1" ort_one ids=ids.pb && "$ORACLES/ort_run" "$2" ort_two ids=ids.pb && diff -r ort_one ort_two
}

fails() { # EXIT_CODE MESSAGE WORDS...: the program refuses, says so, and leaves no file behind
  local wanted=$1 message=$2 code
  shift 2
  ls >before
  "$AMPCONV" "$@" --no-validate -q >/dev/null 2>err
  code=$?
  grep -q -- "$message" err || { cat err; return 1; }
  rm err && ls >after && diff <(grep -v after before) <(grep -v after after) && [ $code -eq "$wanted" ]
}

perl "$make_model" inline.onnx && perl "$make_model" --data outside.data outside.onnx || exit 2
# int64 [1, 5] as a TensorProto
perl -e 'print pack("C*", 8, 1, 8, 5, 16, 7, 74, 40), pack("q<*", 3, 1, 4, 1, 5)' >ids.pb

result 'the two forms of the input are one model' agree inline.onnx outside.onnx
for dtype in bf16 fp16; do
  result "$dtype inline" convert inline.onnx inline.$dtype.onnx -d $dtype
  result "$dtype all outside" convert inline.onnx all.$dtype.onnx -d $dtype --external-data all.$dtype.data --external-threshold 0
  result "$dtype no data left inside" test "$(stat -c %s all.$dtype.onnx)" -lt 16000
  result "$dtype from outside" convert outside.onnx from.$dtype.onnx -d $dtype
  result "$dtype default file" test -s from.$dtype.onnx.data
  result "$dtype from outside to inline" convert outside.onnx back.$dtype.onnx -d $dtype --inline
  result "$dtype inline again from all outside" convert all.$dtype.onnx again.$dtype.onnx -d $dtype --inline
  result "$dtype inline models are the same" cmp inline.$dtype.onnx again.$dtype.onnx
  for form in all from back; do
    result "$dtype $form checker" "$ORACLES/onnx_check" $form.$dtype.onnx
    result "$dtype $form loads" loads $form.$dtype.onnx
    result "$dtype $form agrees with inline" agree inline.$dtype.onnx $form.$dtype.onnx
  done
  mkdir -p $dtype && cp all.$dtype.onnx all.$dtype.data from.$dtype.onnx from.$dtype.onnx.data $dtype
  result "$dtype converted again" convert $dtype/from.$dtype.onnx from.$dtype.onnx -d $dtype
  result "$dtype stays" cmp from.$dtype.onnx $dtype/from.$dtype.onnx
  result "$dtype data stay" cmp from.$dtype.onnx.data $dtype/from.$dtype.onnx.data
done

# Offsets: data of a page or more begin on one; the rest at multiples of 64.
offsets_are_aligned() {
  strings -n 1 "$1" | awk '/^offset/ { getline; if (($1 + 0) % 64) bad = 1; n++ } END { exit bad || !n }'
}
result 'aligned offsets' offsets_are_aligned all.bf16.onnx

pipes() { # the data file of a model that goes to a stream lies in the current folder
  mkdir -p pipe && (cd pipe && "$AMPCONV" - -q --no-validate -o - --external-data piped.data <../inline.onnx >piped.onnx) &&
    "$ORACLES/onnx_check" pipe/piped.onnx && agree inline.bf16.onnx pipe/piped.onnx
}
result 'to a stream with a data file' pipes
streams() { "$AMPCONV" outside.onnx -q --no-validate -o - >streamed.onnx && "$ORACLES/onnx_check" streamed.onnx && rm streamed.onnx; }
result 'to a stream without' streams

result 'inline and a file' fails 2 'exclude each other' inline.onnx -o o.onnx --inline --external-data x
result 'absolute' fails 2 'relative to the output' inline.onnx -o o.onnx --external-data "$PWD/x.data"
result 'above the folder' fails 2 'relative to the output' inline.onnx -o o.onnx --external-data ../x.data
result 'stdout as data' fails 2 'relative to the output' inline.onnx -o o.onnx --external-data -
result 'the model as data' fails 2 'the model itself' inline.onnx -o o.onnx --external-data o.onnx
result 'no such folder' fails 2 'cannot create' inline.onnx -o o.onnx --external-data none/x.data
mkdir folder.data
result 'the model in a folder as data' fails 2 'the model itself' inline.onnx -o folder.data/o.onnx --external-data o.onnx
result 'data file is a folder' fails 2 'cannot create' inline.onnx -o o.onnx --external-data folder.data
touch outside.bf16.onnx.data
result 'default data file exists' fails 2 'exists; use --force' outside.onnx
rm outside.bf16.onnx.data

# Tensors that share their data in the input share what becomes of them.
perl "$make_model" --data tied.data --tied tied.onnx || exit 2
for dtype in bf16 fp16; do
  result "$dtype tied weights" convert tied.onnx tied.$dtype.onnx -d $dtype
  result "$dtype tied weights inline" convert tied.onnx tied_inline.$dtype.onnx -d $dtype --inline
  result "$dtype tied weights are there once" test "$(stat -c %s tied.$dtype.onnx.data)" -eq \
    $(($(stat -c %s from.$dtype.onnx.data) - 2 * 64 * 64 * 2))
  result "$dtype tied weights agree with inline" agree tied_inline.$dtype.onnx tied.$dtype.onnx
  result "$dtype tied weights checker" "$ORACLES/onnx_check" tied.$dtype.onnx
done

# A full disk (a size limit here): the old files stay, no temporary is left.
stays_when_full() {
  cp inline.onnx kept.onnx && cp ids.pb kept.data && ls >before
  (trap '' XFSZ; ulimit -f 16; "$AMPCONV" inline.onnx -q --no-validate -o kept.onnx --external-data kept.data) 2>/dev/null
  [ $? -eq 2 ] && cmp inline.onnx kept.onnx && cmp ids.pb kept.data && ls >after && diff before after
}
result 'full disk' stays_when_full

# Ended by a signal at any time: both files are the old ones or both are new, and no temporary is left.
stays_when_ended() {
  perl "$make_model" --layers 4 --width 256 --hidden 1024 long.onnx && convert long.onnx new.onnx --external-data new.data || return 1
  cp new.data good.data && rm -f new.onnx new.data && mkdir ended || return 1
  for try in $(seq 20); do
    rm -rf ended/* && echo old >ended/o.onnx && echo old >ended/o.data
    (cd ended && exec "$AMPCONV" ../long.onnx -q --no-validate -o o.onnx --external-data o.data) &
    sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
    kill -TERM $! 2>/dev/null
    wait $! 2>/dev/null
    [ "$(ls ended | wc -l)" -eq 2 ] || { ls ended; return 1; }
    if cmp -s ended/o.data good.data; then [ "$(stat -c %s ended/o.onnx)" -gt 4 ]; else [ "$(cat ended/o.data ended/o.onnx)" = $'old\nold' ]; fi ||
      { echo "try $try: the files do not belong together"; return 1; }
  done
}
result 'ended by a signal' stays_when_ended 2>/dev/null

far() { # the weights begin 4.5 GB into a file of holes
  perl "$make_model" --data far.data --offset 4500000000 far.onnx || { echo 'no room for sparse files'; return 0; }
  convert far.onnx far.bf16.onnx && agree inline.bf16.onnx far.bf16.onnx &&
    [ "$(stat -c %s far.bf16.onnx.data)" -lt 1000000 ]
}
result 'offsets beyond 4 GB' far
