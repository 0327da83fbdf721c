#!/usr/bin/env bash
# The executor against ONNX Runtime, in turns in one run: networks made by make_network.pl, batch 1, two threads each, ONNX
# Runtime at its default optimization level. A round runs each of them RUNS times in a process of its own, after a warm-up.
# Prints medians of the rounds' medians in milliseconds, how many times faster than ONNX Runtime's float32 ours is, and what
# bf16 reaches of this machine's bf16 matrix product. Fair only when nothing else runs.
#   networks.sh NAME...        ROUNDS (default 5), RUNS (default 20)
set -u
export LC_ALL=C
: "${AMPCONV:?}" "${BUILD:?}" "${ORACLES:?}"
here=$(cd "$(dirname "$0")" && pwd)
rounds=${ROUNDS-5} runs=${RUNS-20}
folder=$BUILD/bench
mkdir -p "$folder/inputs" && cd "$folder" || exit 2
trap 'rm -rf "$folder"' EXIT

median() { sort -n | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int((NR + 2) / 2)]) / 2 }'; }

# "DTYPE MILLISECONDS SHARE" per dtype of a report.
results() {
  awk -F '[:,] *' '/"dtype"/ { gsub(/[" ]/, "", $2); dtype = $2 } /"median_ms"/ { ms = $2 }
    /"share"/ { print dtype, ms, $2 + 0 }'
}

column() { awk -v dtype="$1" -v i="$2" '$1 == dtype { print $i }' own | median; } # DTYPE COLUMN

bench() { # NAME
  local other fp32 bf16 fp16 dtype
  rm -f inputs/* others own
  perl "$here/make_network.pl" "$1" model.onnx inputs || return 1
  for _ in $(seq "$rounds"); do
    "$ORACLES/ort_bench" model.onnx --time "$runs" inputs/*.pb >timings || return 1
    head -n 1 timings >version
    tail -n +2 timings | median >>others
    for dtype in fp32 bf16 fp16; do # each in a process of its own, as ONNX Runtime is: they would share the caches
      "$AMPCONV" bench model.onnx --dtype $dtype --threads 2 --runs "$runs" --data inputs --json -q >report.json || return 1
      results <report.json >>own
    done
  done
  other=$(median <others) fp32=$(column fp32 2) bf16=$(column bf16 2) fp16=$(column fp16 2)
  awk -v name="$1" -v o="$other" -v a="$fp32" -v b="$bf16" -v c="$fp16" -v share="$(column bf16 3)" 'BEGIN {
    printf "%-12s %9.2f %9.2f %9.2f %9.2f %9.2f %6.2f %6.2f %8.0f %%\n", name, o, a, b, c, o / a, o / b, o / c, 100 * share }'
}

printf 'networks: medians of %s rounds of %s runs, load %s at the start\n' "$rounds" "$runs" "$(cut -d ' ' -f 1 /proc/loadavg)"
printf '%-12s %9s %29s %23s %10s\n' '' 'ORT ms' 'ours, ms' 'times faster than ORT' 'bf16 of'
printf '%-12s %9s %9s %9s %9s %9s %6s %6s %10s\n' model fp32 fp32 bf16 fp16 fp32 bf16 fp16 roofline
for model; do
  bench "$model" || exit 1
done
echo "ONNX Runtime $(cat version); $("$AMPCONV" --version | sed -n 2p)"
