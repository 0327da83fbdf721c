#!/usr/bin/env bash
# Candidates of a search as processes: --jobs and --trials-via come to the model and the rules that the search comes to by itself, by
# the same trials, and what goes wrong with a candidate ends the search and leaves nothing. The options that it hangs on go with it.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cp "$root/models/digits_pedestal.onnx" "$scratch/m.onnx"
ln -s "$root/models/digits" "$scratch/digits"
mkdir "$scratch/tmp" "$scratch/a folder"
export TMPDIR=$scratch/tmp
cd "$scratch" || exit 2

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@"; then echo "ok $name"; else echo "not ok $name: ${said-} $(ls -la . tmp)"; fi
}
# tune NAME OPTION...: searches by nodes, which no timing changes, and leaves NAME.onnx, NAME.yaml, NAME.json.
tune() {
  local name=$1
  shift
  said=$("$AMPCONV" m.onnx -d bf16 --data digits --tune --tune-for nodes -q -o "$name.onnx" --rules-out "$name.yaml" --json "$name.json" \
    "$@" 2>&1 </dev/null)
}
# What was tried and what came of it.
trials() { sed -n '/"trials": \[/,$p' "$1.json" | grep -E '"(phase|verdict|reason|nodes|loss|measured|score)":'; }
# What the user's command said of the answer.
judgement() { sed -n '/^    "eval": {/,/^    }/p' "$1.json" | grep -v '"seconds":'; }
# same NAME WHAT: NAME is what WHAT is, and had the same trials.
same() {
  holds "$1: the same model" cmp "$1.onnx" "$2.onnx"
  holds "$1: the same rules" cmp "$1.yaml" "$2.yaml"
  holds "$1: the same trials" cmp <(trials "$1") <(trials "$2")
  holds "$1: the same judgement" cmp <(judgement "$1") <(judgement "$2")
}

cat >engine <<'EOF'
#!/bin/sh
# Two hosts: runs the commands on stdin two at a time; notes how many there were.
tee -a "$(dirname "$0")/seen" | tr '\n' '\0' | xargs -0 -P2 -n1 sh -c
EOF
cat >'a folder/judge' <<'EOF'
#!/bin/sh
# The first judges the model as it was; a later one prints the size of the model, which float32 adds to.
echo "$1" >>"$(dirname "$0")/judged"
wc -c <"$1"
EOF
chmod +x engine 'a folder/judge'

tune alone --labels digits/labels.npy --target 'snr>=45' --max-drop 1%
holds 'a search' test -s alone.onnx -a "$(trials alone | grep -c verdict)" -gt 2
tune jobs --labels digits/labels.npy --target 'snr>=45' --max-drop 1% --jobs 2
same jobs alone
tune engine --labels digits/labels.npy --target 'snr>=45' --max-drop 1% --jobs 2 --trials-via ./engine
same engine alone
holds 'the engine had each candidate once' test "$(wc -l <seen)" = "$(trials engine | grep -c verdict)"
tune file --labels digits/labels.npy --target 'snr>=45' --max-drop 1% --jobs 2 --trials-via 'test $AMPCONV_TRIALS = {} && sh {}'
same file alone
if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
  tune parallel --labels digits/labels.npy --target 'snr>=45' --max-drop 1% --jobs 2 --trials-via 'parallel -j 2'
  same parallel alone
fi

# Overrides and lists of the environment are in the rules of a candidate, and decide no second time.
echo Gemm >lower.txt
export AMPCONV_LOWER_PRECISION_OPS_LIST=$scratch/lower.txt
lists=(--op Softmax=lower --node '*/Conv=lower' --io lower --max-trials 3)
tune lists "${lists[@]}"
tune lists_jobs "${lists[@]}" --jobs 2
same lists_jobs lists
unset AMPCONV_LOWER_PRECISION_OPS_LIST

# First steps, to a second lower dtype, go with them.
both=$CASES/convert/two_dtypes_both_needed
for how in '' --jobs=2; do
  said=$("$AMPCONV" "$both/model.onnx" -d bf16,fp16 --tune --tune-for nodes -t snr=50 --data "$both/data" -f -q -o "two$how.onnx" \
    --rules-out "two$how.yaml" --json "two$how.json" $how 2>&1 </dev/null)
done
same two--jobs=2 two
holds 'both dtypes are needed, and they are enough' test "$(sed -n '/"nodes": {/,/}/p' two.json | grep float | tr -d ' \n')" = '"float16":5,"bfloat16":2,'

# A command of the user's judges the model as it was once, and each candidate once.
judged=(--eval "'a folder/judge' {} # it's a score" --max-drop 1000% --max-trials 3)
tune judged "${judged[@]}"
mv 'a folder/judged' alone.judged
tune judged_jobs "${judged[@]}" --jobs 2
same judged_jobs judged
holds 'judged as often' test "$(wc -l <'a folder/judged')" = "$(wc -l <alone.judged)"
holds 'judged by the command' grep -q '"score": ' <(judgement judged)
judged=("${judged[@]:0:2}" --max-drop 1000% --max-trials 2)
tune lower "${judged[@]}" --eval-lower
tune lower_jobs "${judged[@]}" --eval-lower --jobs 2
same lower_jobs lower
tune unsure --eval 'exit 125' --eval-reference passed --max-trials 2 --jobs 2
holds 'nobody can tell' grep -q '"verdict": "unsure"' unsure.json

# What the answer hangs on, of all options that there are: not where it goes, how long it is looked for and by whom.
cp "$CASES/cli/page_compared/model.onnx" small.onnx
echo Sub >lower.txt
echo Mul >wide.txt
holds 'ranges for a search' "$AMPCONV" calibrate small.onnx -q -o ranges.json
settings="--dtype=bf16 --opset=keep --io=keep --cast-cache=off --rules=torch-cpu --node='sh*=fp32' --op='Mul=lower' --op='Add=lower' --lower-ops=lower.txt \
--fp32-ops=wide.txt --strict-rules --samples=2 --seed=3 --input-range='x=-1,1' --eval='true {}' --eval-timeout=60 --tolerance='cosine=0.5' --ranges=ranges.json \
--target='snr>=20' --tune-for=nodes --strategy=min-cut"
others="--jobs=1 --max-trials=3 --rules-out=said.yaml --tune-log=said.jsonl --eval-reference=passed --threads=1 --max-memory=1G --no-metadata --accept -f -q \
-o said.onnx --json=said.json --report=said.html"
said=$(eval '"$AMPCONV" small.onnx --tune' "$settings" "$others" 2>&1 </dev/null)
holds 'a search with all that can be said' test $? -eq 0
holds 'the rules say what it hangs on' grep -qxF "# settings: $settings" said.yaml
holds 'and on which samples' grep -qE '; samples: FNV-1a 0*[1-9a-f]' said.yaml

# What goes wrong.
refused() { # NAME PATTERN OPTION...
  local name=$1 pattern=$2 code
  shift 2
  tune wrong --labels digits/labels.npy "$@"
  code=$?
  holds "$name" test $code -eq 2 -a "${said#*"$pattern"}" != "$said"
  holds "$name: nothing is left" test ! -e wrong.onnx -a -z "$(ls tmp)"
}
refused 'a candidate that fails' 'out of memory' --max-memory 1K --jobs 2
refused 'a command that ends all' '--eval: exit code 126' --eval 'exit 126' --eval-reference passed --jobs 2
refused 'the command is named' "--eval='exit 126' --eval-reference=passed" --eval 'exit 126' --eval-reference passed --jobs 2
# Threads are shared out, unless they are asked for or the engine's.
judge=(--eval 'exit 126' --eval-reference passed)
OMP_NUM_THREADS=7 refused 'threads of two' '--eval-reference=passed --threads=3 --rules=' "${judge[@]}" --jobs 2
OMP_NUM_THREADS=2 refused 'threads of three' '--eval-reference=passed --threads=1 --rules=' "${judge[@]}" --jobs 3
refused 'threads that are asked for' '--threads=3 --eval-reference=passed --rules=' "${judge[@]}" --jobs 2 --threads 3
refused 'threads of an engine' '--eval-reference=passed --rules=' "${judge[@]}" --trials-via sh
refused 'an engine that does nothing' 'ended with exit code 3' --trials-via 'exit 3'
refused 'an engine that is ended' 'signal 9' --trials-via 'kill -9 $$'
refused 'an engine that ends early' 'has no result' --trials-via 'head -c 0'
mkdir gone
said=$(cd gone && rmdir ../gone && "$AMPCONV" "$scratch/m.onnx" -d bf16 --data "$scratch/digits" --tune --tune-for nodes -q -o "$scratch/wrong.onnx" --jobs 2 2>&1)
holds 'a folder that is no more' test $? -eq 2 -a "$said" = 'ampconv: the current folder has no name: No such file or directory' -a ! -e wrong.onnx

# A program that is ended takes what it started with it, at once.
TMPDIR=$scratch/tmp "$AMPCONV" m.onnx -d bf16 --data digits --tune -q -o ended.onnx --eval-reference passed --jobs 2 \
  --eval "echo \$\$ >'$scratch/pid'; trap '' TERM; sleep 60" 2>/dev/null &
for _ in $(seq 300); do [ -s pid ] && break; sleep 0.1; done
kill -TERM $!
wait $!
holds 'ended' test $? -eq 143
for _ in $(seq 50); do kill -0 "$(cat pid)" 2>/dev/null || break; sleep 0.1; done
holds 'its candidates with it' bash -c '! kill -0 "$(cat pid)" 2>/dev/null'
holds 'and their files' test -z "$(ls tmp)"
