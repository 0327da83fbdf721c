#!/usr/bin/env bash
# Searches for what to keep in float32 (--tune), by all strategies: min-cut with its default number of evaluations, the others
# without an end. On the models of models/ with their data, the small networks of make_small.pl, ONNX's light models that take no
# long time; in both dtypes, for signals 6 and 12 dB more above the noise than in the model with all low. Prints a row per search:
#   nodes   in float32, of those that may be low        first, all   evaluations until one met the target, and altogether
#   loss    predicted, in % of the cost of all low      plain        what finding the noise cost, in runs of the model
# then geometric means of min-cut against each other strategy, and where it does worst. Each answer is converted once more in a
# fresh process from its rule file alone, which has to give the same bytes and to meet the target.
# Heavy light models have a row each: fp16 at the default tolerance, of which an answer is wanted that is not all float32.
#   tune.sh [NAME...]     DTYPES (default 'bf16 fp16'), TARGETS ('6 12', in dB), TUNE_FOR (bytes; time, nodes), SAMPLES
#                         (8, of the small networks), LIMIT (600 seconds a search), STRATEGIES (all), MEASURE=1 (loss as timed,
#                         too, by medians of RUNS, 300), ROWS (a file for the rows as they are)
set -u
export LC_ALL=C OMP_NUM_THREADS=${OMP_NUM_THREADS-2}
: "${AMPCONV:?}" "${BUILD:?}" "${TESTDATA:?}"
here=$(cd "$(dirname "$0")" && pwd)
unit=${TUNE_FOR-bytes} limit=${LIMIT-600} runs=${RUNS-300}
strategies=${STRATEGIES-min-cut neural-compressor bisect greedy}
light='densenet121 inception_v2 resnet50 shufflenet squeezenet' heavy='bvlc_alexnet inception_v1 vgg19 zfnet512'
digits=$(cd "$here/../../models" && for file in *.onnx; do echo "${file%.onnx}"; done)
folder=$BUILD/bench
mkdir -p "$folder/inputs" && cd "$folder" || exit 2
trap 'rm -rf "$folder"' EXIT
rows=${ROWS-$folder/rows}

# Sets MODEL and DATA, a folder, to what NAME is.
prepare() { # NAME
  local dims
  rm -rf inputs && mkdir inputs
  data=inputs model=$1.onnx
  case " ${digits//$'\n'/ } | $light $heavy " in
  *" $1 "*"|"*) model=$here/../../models/$1.onnx data=$here/../../models/digits ;;
  *"|"*" $1 "*)
    model=$TESTDATA/light/light_$1.onnx
    read -r _ _ _ dims < <("$AMPCONV" "$model" --dump-after=infer | grep '^input')
    # shellcheck disable=SC2086
    perl "$here/../light/arange.pl" ${dims//[^0-9 ]/} >inputs/input_0.pb
    ;;
  *) perl "$here/make_small.pl" "$1" "$model" inputs "${SAMPLES-8}" ;;
  esac
}

# Converts the model in DTYPE to OUT, with the report OUT.json.
convert() { # DTYPE OUT OPTIONS...
  local dtype=$1 out=$2
  shift 2
  rm -f "$out" "$out.json"
  timeout "$limit" "$AMPCONV" "$model" --dtype "$dtype" --data "$data" -o "$out" --json "$out.json" -q "$@" 2>message
}

# The answer again, by its rule file: same, other bytes, or what failed.
again() { # DTYPE
  convert "$1" again.onnx --rules rules.yaml "${bounds[@]}" || { echo "rules fail: $(tail -n 1 message)"; return; }
  if cmp -s answer.onnx again.onnx; then echo same; else echo 'other bytes'; fi
}

measured() { # how much longer the answer takes than all low, in %
  [ -n "${MEASURE-}" ] || { echo -; return; }
  "$AMPCONV" bench answer.onnx low.onnx --dtype fp32 --runs "$runs" --data "$data" --json -q |
    awk -F '[:,] *' '/"median_ms"/ { ms[++n] = $2 } END { printf "%.1f\n", 100 * (ms[1] / ms[2] - 1) }'
}

search() { # NAME DTYPE TARGET STRATEGY: a row; BOUNDS are what the target comes to
  local code result
  local limits=()
  [ "$4" = min-cut ] || limits=(--max-trials 0)
  rm -f rules.yaml
  convert "$2" answer.onnx --tune --tune-for "$unit" --strategy "$4" --rules-out rules.yaml "${costs[@]}" "${limits[@]}" "${bounds[@]}"
  code=$?
  case $code in
  0) result="$(perl "$here/tuning.pl" row answer.onnx.json) $(measured) $(again "$2")" ;;
  1) result='none' ;;
  124) result="over $limit s" ;;
  *) result="failed, $code: $(tail -n 1 message)" ;;
  esac
  [ "$3" != default ] || result+=$(perl "$here/tuning.pl" lowered answer.onnx.json)
  echo "$1 $2 $3 $4 $result" | tee -a "$rows" | perl "$here/tuning.pl" table
}

# Times are taken once for all strategies, in a search that tries no more than two candidates: COSTS are the options that say so.
find_costs() { # DTYPE
  [ "$unit" = time ] || return
  rm -f costs.json
  convert "$1" priced.onnx --tune --tune-for time --strategy bisect --max-trials 2 "${bounds[@]}" --costs-out costs.json
  if [ -s costs.json ]; then costs=(--costs costs.json); fi
}

searches() { # NAME DTYPE
  local low target strategy
  costs=()
  convert "$2" low.onnx --accept
  low=$(perl "$here/tuning.pl" low low.onnx.json 2>&1) || { echo "$1 $2: $low"; return; }
  for target in ${TARGETS-6 12}; do
    bounds=(-t cosine=-1 -t differ=1 -t "snr=$(awk -v low="$low" -v more="$target" 'BEGIN { printf "%.2f", low + more }')")
    [ ${#costs[@]} -gt 0 ] || find_costs "$2"
    for strategy in $strategies; do
      search "$1" "$2" "+$target" "$strategy"
    done
  done
}

: >"$rows"
[ $# -gt 0 ] || mapfile -t names < <(echo "$digits"; perl "$here/make_small.pl" --list; tr ' ' '\n' <<<"$light $heavy")
[ $# -eq 0 ] || names=("$@")
echo "tuning for $unit, load $(cut -d ' ' -f 1 /proc/loadavg) at the start"
perl "$here/tuning.pl" head
for name in "${names[@]}"; do
  prepare "$name" || exit 1
  case " $heavy " in
  *" $name "*) bounds=() costs=() && search "$name" fp16 default min-cut ;;
  *) for dtype in ${DTYPES-bf16 fp16}; do searches "$name" "$dtype"; done ;;
  esac
done
perl "$here/tuning.pl" means <"$rows"
