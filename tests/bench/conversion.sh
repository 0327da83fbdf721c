#!/usr/bin/env bash
# Conversion to bfloat16 without validation against a copy of the same files, in turns in one run: an encoder of the size of
# BERT base (434 MB, inline) and a decoder of 5.2 GB with external data, made by make_model.pl. Prints medians, their
# ratio, and the peak of anonymous memory (measure.pl says how it is measured) beside the input's size. Then what a
# node costs: two decoders of little weights and 10 000 and 100 000 nodes, and the ratio of their times.
# Then a folder of 20 models in one call, validated, two at a time, against xargs that starts as many processes, each with one
# thread, and the ratio of their times.
# Needs 14 GB of disk below BUILD and is fair only when the files stay in the page cache and nothing else runs.
#   conversion.sh encoder|decoder|nodes|folder...        ROUNDS (default 5) measurements of each
set -u
export LC_ALL=C
: "${AMPCONV:?}" "${BUILD:?}"
here=$(cd "$(dirname "$0")" && pwd)
rounds=${ROUNDS-5}
folder=$BUILD/bench
mkdir -p "$folder" && cd "$folder" || exit 2
trap 'rm -rf "$folder"' EXIT

median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

bench() { # NAME FILES...: the first file is the model, the others hold its data
  local name=$1 bytes copies conversions memory
  shift
  bytes=$(stat -c %s "$@" | awk '{ n += $1 } END { print n }')
  rm -f copies conversions
  for _ in $(seq "$rounds"); do
    rm -rf out && mkdir out
    perl "$here/measure.pl" cp "$@" out >>copies || return 1
    rm -rf out && mkdir out
    perl "$here/measure.pl" "$AMPCONV" "$1" -q --no-validate -o out/model.onnx >>conversions || return 1
  done
  rm -rf out
  copies=$(median <copies) conversions=$(median <conversions) memory=$(awk '{ print $2 }' conversions | sort -n | tail -1)
  awk -v name="$name" -v bytes="$bytes" -v cp="$copies" -v own="$conversions" -v memory="$memory" 'BEGIN {
    printf "%-8s %5.0f MB   cp %6.2f s   ampconv %6.2f s   ratio %.2f   peak anonymous memory %.0f MB\n",
      name, bytes / 1e6, cp, own, own / cp, memory }'
}

bench_nodes() { # the layers have 34 nodes each
  local layers median_of=()
  for layers in 294 2941; do
    perl "$here/make_model.pl" --causal --layers $layers --width 8 --hidden 16 --heads 2 --words 10 nodes.$layers.onnx || return 1
    for _ in $(seq "$rounds"); do
      perl "$here/measure.pl" "$AMPCONV" nodes.$layers.onnx -q --no-validate -o out.onnx || return 1
    done >conversions
    median_of+=("$(median <conversions)")
  done
  awk -v few="${median_of[0]}" -v many="${median_of[1]}" 'BEGIN {
    printf "%-8s 10 000   ampconv %6.2f s   100 000   ampconv %6.2f s   ratio %.1f\n", "nodes", few, many, many / few }'
}

bench_folder() { # models of 1 to 20 layers
  local layers
  mkdir -p many && for layers in $(seq 20); do
    perl "$here/make_model.pl" --layers "$layers" --width 128 --hidden 512 --heads 4 --words 1000 "many/encoder$layers.onnx" || return 1
  done
  for _ in $(seq "$rounds"); do
    rm -rf out && mkdir out
    OMP_NUM_THREADS=1 perl "$here/measure.pl" sh -c 'ls many | xargs -P 2 -I NAME "$0" many/NAME -q -o out/NAME' "$AMPCONV" >>pipelines || return 1
    rm -rf out && mkdir out
    perl "$here/measure.pl" "$AMPCONV" many --output-dir out -j 2 -q --json=report.json >>calls || return 1
  done
  awk -v xargs="$(median <pipelines)" -v own="$(median <calls)" 'BEGIN {
    printf "%-8s 20 models   xargs %6.2f s   ampconv %6.2f s   ratio %.2f\n", "folder", xargs, own, own / xargs }'
}

echo "conversion: medians of $rounds rounds, load $(cut -d ' ' -f 1 /proc/loadavg) at the start"
for model; do
  case $model in
  encoder)
    perl "$here/make_model.pl" --layers 12 --width 768 --hidden 3072 --heads 12 --words 30522 encoder.onnx &&
      bench encoder encoder.onnx ;;
  decoder)
    perl "$here/make_model.pl" --causal --layers 22 --width 2048 --hidden 8192 --heads 16 --words 50257 \
      --data decoder.data decoder.onnx && bench decoder decoder.onnx decoder.data ;;
  nodes) bench_nodes ;;
  folder) bench_folder ;;
  *) echo "conversion.sh: no model '$model'" >&2; false ;;
  esac || exit 1
  rm -f -- *.onnx *.data
done
