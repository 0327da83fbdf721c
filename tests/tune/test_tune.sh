#!/usr/bin/env bash
# --tune: what is kept in float32 is what has to be, the answer is verified, its rule file gives the same bytes without a search, and
# an interrupted search ends as an undisturbed one. digits_pedestal is trained so that its first convolution and normalisation must stay.
# Takes long.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
pedestal=$root/models/digits_pedestal.onnx
transformer=$root/models/digits_transformer.onnx
data=(--data "$root/models/digits")
labels=(--labels "$root/models/digits/labels.npy")

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >said 2>&1; then echo "ok $name"; else echo "not ok $name: $(head -c 1000 said)"; fi
}
expect() { # NAME EXIT: the rest is run; what it says stays in said
  local name=$1 wanted=$2 code
  shift 2
  "$@" >said 2>&1 </dev/null
  code=$?
  if [ $code -eq "$wanted" ]; then echo "ok $name"; else echo "not ok $name: exit $code, $wanted expected: $(head -c 1000 said)"; fi
}
# What an expression in Perl says of the report $r.
number() { perl -MJSON::PP -0777 -e '$r = decode_json(<STDIN>); $v = eval $ARGV[0]; die $@ if $@; print $v // "null"' "$2" <"$1"; }
is() { [ "$(number "$1" "$2")" = "$3" ]; }
kept() { sed -n '/precision: fp32/,$s/^ *- "\(.*\)".*$/\1/p' "$1"; }
# The rule file alone gives the same bytes, without any data, and each of its rules matches something in its model.
repeats() { # MODEL DTYPE ANSWER RULES
  "$AMPCONV" "$1" -d "$2" -r "./$4" --no-validate --strict-rules -q -o again.onnx && cmp "$3" again.onnx
}

# ---- the model that is made for it ----
for dtype in bf16 fp16; do
  expect "$dtype alone is not good enough" 1 "$AMPCONV" "$pedestal" -d $dtype -q --accept -o low.onnx "${data[@]}"
  expect "$dtype is tuned" 0 "$AMPCONV" "$pedestal" -d $dtype --tune --tune-for bytes -q --accept -o out.onnx "${data[@]}" "${labels[@]}" \
    -t accuracy-drop=0.5% --rules-out out.yaml --json out.json
  holds "$dtype keeps the convolution that takes the counts" grep -qF body.0/Conv_output_0 <(kept out.yaml)
  holds "$dtype keeps a few nodes" test "$(kept out.yaml | wc -l)" -le 3
  holds "$dtype is right as often" is out.json '$r->{validation}{within} ? 1 : 0' 1
  holds "$dtype came of a trial that met" is out.json '$r->{tuning}{trials}[$r->{tuning}{answer}]{verdict}' met
  holds "$dtype took few trials" test "$(number out.json 'scalar @{$r->{tuning}{trials}}')" -le 10
  holds "$dtype is what its rules give" repeats "$pedestal" $dtype out.onnx out.yaml
done

# ---- all low is good enough ----
expect 'nothing has to stay' 0 "$AMPCONV" "$transformer" --tune --accept -o out.onnx "${data[@]}" --json out.json --rules-out none.yaml
holds 'one trial is enough' is out.json 'scalar @{$r->{tuning}{trials}}' 1
holds 'nothing is kept' is out.json 'scalar @{$r->{tuning}{float32}}' 0
expect 'the same without a search' 0 "$AMPCONV" "$transformer" --no-metadata -q --accept -o low.onnx "${data[@]}"
expect 'where no model says by which rules' 0 "$AMPCONV" "$transformer" --tune --no-metadata -q --accept -o same.onnx "${data[@]}"
holds 'is the same' cmp same.onnx low.onnx
holds 'also by its rules' repeats "$transformer" bf16 out.onnx none.yaml

# ---- strategies, units of cost ----
for strategy in min-cut neural-compressor bisect greedy; do
  expect "$strategy" 0 "$AMPCONV" "$transformer" --tune --strategy $strategy --tune-for nodes --max-trials 0 -t snr=48 -q --accept -o out.onnx "${data[@]}" \
    --json $strategy.json --rules-out out.yaml
  holds "$strategy meets the tolerance" is $strategy.json '$r->{validation}{outputs}[0]{metrics}{snr} >= 48 ? 1 : 0' 1
  holds "$strategy is what its rules give" repeats "$transformer" bf16 out.onnx out.yaml
done
for other in neural-compressor bisect greedy; do
  holds "min-cut keeps no more than $other" test "$(number min-cut.json 'my $n = 0; $n += $_->{nodes} for @{$r->{tuning}{float32}}; $n')" -le "$(number $other.json 'my $n = 0; $n += $_->{nodes} for @{$r->{tuning}{float32}}; $n')"
done
for unit in time bytes nodes; do
  expect "the least $unit" 0 "$AMPCONV" "$transformer" --tune --tune-for $unit -t snr=48 -q --accept -o out.onnx "${data[@]}" --json out.json
  holds "counts $unit" is out.json '$r->{tuning}{costs}{unit}' "${unit/time/s}"
done

expect 'costs to keep' 0 "$AMPCONV" "$transformer" --tune -t snr=48 -q --accept -o out.onnx "${data[@]}" --costs-out costs.json --json out.json
expect 'costs of another run' 0 "$AMPCONV" "$transformer" --tune -t snr=48 -q --accept -o by.onnx "${data[@]}" --costs costs.json --json by.json
holds 'give the same answer' cmp out.onnx by.onnx
holds 'are said to' is by.json 'index($r->{tuning}{costs}{origin}, "costs.json") == 0 ? 1 : 0' 1

# ---- what cannot be met ----
# The model as it was is the only one that this command passes.
tune=("$AMPCONV" "$transformer" --tune --tune-for bytes "${data[@]}" -t snr=50 --eval "cmp -s {} '$transformer'")
expect 'a criterion that nothing meets' 1 bash -c '"$@" 2>report' - "${tune[@]}" --max-trials 3 --accept -o never.onnx --json out.json --report out.html --rules-out never.yaml
holds 'says so' grep -qF 'none is good enough' report
holds 'writes the model that comes nearest, as it is asked to' test -e never.onnx
holds 'writes no rules' test ! -e never.yaml
holds 'has no answer' is out.json '$r->{tuning}{answer}' null
holds 'has the trials' is out.json 'scalar @{$r->{tuning}{trials}}' 3
holds 'has a page' grep -qF '<h2>Tuning</h2>' out.html
expect 'no more trials than allowed' 1 "${tune[@]}" --max-trials 1 -q -o never1.onnx
holds 'writes no model' test ! -e never1.onnx

# ---- a search that is cut off ----
tune=("$AMPCONV" "$transformer" --tune --tune-for bytes -t snr=50 -q --accept "${data[@]}")
expect 'an undisturbed search' 0 "${tune[@]}" -o whole.onnx --tune-log whole.jsonl --rules-out whole.yaml
lines=$(wc -l <whole.jsonl)
holds 'previews are written down' grep -q '"preview":' whole.jsonl
for ((n = 0; n <= lines; n += 1 + ${STEP-1} * lines / 12)); do
  { head -n $n whole.jsonl; sed -n "$((n + 1))p" whole.jsonl | head -c 20 | tr -d '\n'; } >cut.jsonl
  expect "goes on after line $n" 0 "${tune[@]}" -o cut.onnx --tune-log cut.jsonl --rules-out cut.yaml
  holds "ends with the same model" cmp whole.onnx cut.onnx
done
holds 'ends with the same rules' cmp whole.yaml cut.yaml
expect 'a log of another search' 2 "$AMPCONV" "$transformer" --tune -t snr=49 -q --accept "${data[@]}" -o cut.onnx --tune-log whole.jsonl
expect 'no log' 2 "${tune[@]}" -o cut.onnx --tune-log "$transformer"
printf 'notes' >notes
expect 'no log, of one line that is not ended' 2 "${tune[@]}" -o cut.onnx --tune-log notes
refusal=$(<said)
holds 'says what it is not' test "$refusal" = 'ampconv: notes: no log of a search; accepted: one, or no file'
holds 'leaves it as it is' test "$(<notes)" = notes

# ---- graphs within graphs, composites ----
for case in convert/if_casts convert/loop_state composites/gelu; do
  [ -e "$CASES/$case/model.onnx" ] || continue
  expect "$case" 0 "$AMPCONV" "$CASES/$case/model.onnx" --tune --tune-for bytes -t snr=60 -t cosine=0 -q --accept -o out.onnx --rules-out out.yaml
  holds "$case is what its rules give" repeats "$CASES/$case/model.onnx" bf16 out.onnx out.yaml
done

# ---- two lower dtypes ----
# One path overflows float16 and counts for little, the other is too noisy in bfloat16.
both=$CASES/convert/two_dtypes_both_needed
tune=(--tune --tune-for nodes -t snr=50 --data "$both/data" -f)
for dtypes in bf16 fp16 bf16,fp16 fp16,bf16; do
  expect "$dtypes is tuned" 0 "$AMPCONV" "$both/model.onnx" -d $dtypes "${tune[@]}" -q -o out.onnx --json "both.$dtypes.json" --rules-out both.yaml
  holds "$dtypes is what its rules give" repeats "$both/model.onnx" $dtypes out.onnx both.yaml
done
expect 'both say' 0 bash -c '"$AMPCONV" "$@" -v -o out.onnx 2>said.txt' - "$both/model.onnx" -d bf16,fp16 "${tune[@]}"
cat >wanted.txt <<'EOF'
  tuned      min-cut: 2 candidates run, noise found and 2 choices previewed on 1 sample in the time of N runs; N s
  trial      0 all low: 0 nodes in float32, 0 in float16, predicted N dB, measured N dB, missed
  trial      1 preview: 0 nodes in float32, 5 in float16, predicted N dB, measured N dB, met
  costs      0.000666667 nodes more than all low, predicted; all float32 6.998 nodes more; counted
  float16    5 of 7 nodes in place of bfloat16
  float32    0 of 7 nodes kept, in 0 of 7 units
  nodes      2 bfloat16, 5 float16, 0 float32, 0 other
EOF
holds 'what was wanted' diff wanted.txt <(grep -E '^  (tuned|trial|costs|float16|float32|nodes) ' said.txt | sed -E 's/[0-9.]+ (dB|runs|s)\b/N \1/g')
holds 'bfloat16 alone takes more float32' test "$(number both.bf16.json '$r->{nodes}{float32}')" -ge 4
holds 'and float16 alone' test "$(number both.fp16.json '$r->{nodes}{float32}')" -ge 2
holds 'the order is no matter' is both.fp16,bf16.json '$r->{nodes}{float32} // 0' 0
# What no guard looks at, the noise says.
cat >open.yaml <<'EOF'
version: 1
name: open
extends: [torch-cpu]
limits:
  bf16: {guards: off}
  fp16: {guards: off}
EOF
for strategy in min-cut neural-compressor bisect greedy; do
  expect "$strategy without guards" 0 "$AMPCONV" "$both/model.onnx" -d bf16,fp16 -r ./open.yaml --strategy $strategy "${tune[@]}" -q -o out.onnx \
    --max-trials 0 --rules-out out.yaml
  holds "$strategy is what its rules give" repeats "$both/model.onnx" bf16,fp16 out.onnx out.yaml
done
tune=("$AMPCONV" "$transformer" -d bf16,fp16 --tune --tune-for nodes -t snr=65 -q -f "${data[@]}")
expect 'an undisturbed search of both' 0 "${tune[@]}" -o pair.onnx --tune-log pair.jsonl --rules-out pair.yaml
lines=$(wc -l <pair.jsonl)
for ((n = 1; n <= lines; n += 1 + ${STEP-1} * lines / 6)); do
  head -n $n pair.jsonl >cut.jsonl
  expect "of both goes on after line $n" 0 "${tune[@]}" -o cut.onnx --tune-log cut.jsonl --rules-out cut.yaml
  holds 'of both ends with the same model' cmp pair.onnx cut.onnx
  holds 'of both ends with the same rules' cmp pair.yaml cut.yaml
done
expect 'both by processes' 0 "${tune[@]}" --jobs 2 -o jobs.onnx --rules-out jobs.yaml
holds 'by processes is what its rules give' repeats "$transformer" bf16,fp16 jobs.onnx jobs.yaml

# ---- a command that judges ----
cat >judge.sh <<'EOF'
echo run >>judged
"$AMPCONV" run "$1" -q --data "$2/models/digits" --labels "$2/models/digits/labels.npy" --json - | grep percent | grep -o '[0-9.]*' | head -n 1
EOF
expect 'a command decides' 0 "$AMPCONV" "$pedestal" --tune --tune-for bytes -q --accept -o out.onnx "${data[@]}" -t snr=0 -t cosine=0 -t max_abs=1000 \
  --eval "sh ./judge.sh {} '$root'" -t eval-drop=0.5% --json out.json --rules-out out.yaml
holds 'its scores are in the trials' test "$(number out.json 'scalar grep { defined $_->{score} } @{$r->{tuning}{trials}}')" -ge 2
holds 'no candidate is judged twice' test "$(wc -l <judged)" -le "$(($(number out.json 'scalar @{$r->{tuning}{trials}}') + 1))"

# ---- wrong options ----
expect 'an unknown strategy' 2 bash -c '"$AMPCONV" "$1" --tune --strategy greed -o x.onnx 2>refusal' - "$transformer"
holds 'has a nearest one' grep -qF "did you mean 'greedy'" refusal
expect 'an unknown cost' 2 "$AMPCONV" "$transformer" --tune --tune-for watts -o x.onnx
expect 'a list of what would be' 2 "$AMPCONV" "$transformer" --tune --list
expect 'costs that are no times' 2 "$AMPCONV" "$transformer" --tune --tune-for bytes --costs-out c.json -o x.onnx
expect 'rules with no place, before any work' 2 "$AMPCONV" "$transformer" --tune --rules-out none/x.yaml -o x.onnx --tune-log unbegun
holds 'no search was begun' test ! -e unbegun
expect 'without validation' 2 "$AMPCONV" "$transformer" --tune --no-validate -o x.onnx
