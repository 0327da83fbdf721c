#!/usr/bin/env bash
# What `ampconv run` writes: output files as NumPy and ONNX write them, JSON, nothing else on stdout.
set -u
here=$PWD cases=$CASES/run
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
scores=$cases/labels/model.onnx double=$cases/input_npy/model.onnx

# verdict NAME COMMAND...: ok when the command succeeds.
verdict() {
  local name=$1
  shift
  if "$@" >"$scratch/said" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tr '\n' ' ' <"$scratch/said")"; fi
}

# The number without digits that differ between runs.
without_times() { sed -E 's/"seconds": [0-9.e-]+/"seconds": 0/'; }

"$AMPCONV" run -q "$scores" -i x="$cases/labels/x.npy" --output-dir out >stdout
verdict 'a .npy file is as NumPy writes it' cmp out/scores.npy "$cases/labels/x.npy"
verdict 'nothing on stdout' cmp stdout /dev/null

"$AMPCONV" run -q "$double" -i x="$cases/input_pb/x.pb" --output-dir pb --format pb
verdict 'a .pb file is read again' "$AMPCONV" run -q "$double" -i x="$cases/input_pb/x.pb" --expect pb
verdict 'a .pb file has the name of its output' grep -q y pb/y.pb

"$AMPCONV" run -q "$double" --samples 3 --output-dir parent
verdict 'a folder for each sample' test -f parent/sample_2/y.npy
verdict 'the same values in another run' "$AMPCONV" run -q "$double" --samples 3 --expect parent
verdict 'other values with another seed' bash -c '! "$0" run -q "$1" --samples 3 --seed 1 --expect parent' "$AMPCONV" "$double"

verdict 'a model from stdin' bash -c '"$0" run - -i x="$1" --expect pb -q <"$2"' "$AMPCONV" "$cases/input_pb/x.pb" "$double"

"$AMPCONV" run -q "$scores" -i x="$cases/labels/x.npy" --labels "$cases/labels/l.npy" --expect out --json - | without_times |
  sed "s|$cases/||" >report.json
verdict 'JSON' diff "$here/report.json" report.json

"$AMPCONV" run -v "$scores" -i x="$cases/labels/x.npy" --expect out 2>&1 >/dev/null | sed -E "s|[0-9.e-]+ s\$|0 s|; s|$cases/||" >report
cat >wanted <<'END'
  input      'x' float32 [2, 3]: labels/x.npy
  output     'scores' float32 [2, 3]: min 1, max 6, mean 3.5
             snr inf dB, cosine 1, max abs error 0
  expected   1 tensor compared: within tolerance
  run        1 sample, 0 s
END
verdict 'more with -v' diff wanted report

# Names of files that would be longer than the system takes, in a folder that is there.
deep=$(printf './%.0s' {1..2045})
for samples in 1 2; do
  said=$("$AMPCONV" run -q "$double" --samples $samples --output-dir "$deep" 2>&1)
  if [[ "$? $said" == '2 ampconv: ./'*'./: the path is too long' ]]; then echo "ok a path that is too long, $samples"; else echo "not ok a path that is too long, $samples: ${said:0:80} ... ${said: -80}"; fi
done

chmod 555 out 2>/dev/null
if [ ! -w out ]; then
  verdict 'a folder that cannot be written' bash -c '! "$0" run -q "$1" --output-dir out' "$AMPCONV" "$scores"
fi

# Up to five outputs are all reported; of more, four.
. "$here/../bytes.sh"
two=$(field 1 "0801$(field 2 "$(field 1 0802)")")
for outputs in 4 5 6 7; do
  graph=$(value 11 x "$two")
  for ((i = 0; i < outputs; i++)); do graph+=$(field 1 "$(node Neg x "y$i")")$(value 12 "y$i" "$two"); done
  write many.onnx "0808$(field 7 "$graph")$(field 8 1011)"
  said=$("$AMPCONV" run many.onnx 2>&1)
  shown=$(grep -c "^  output " <<<"$said")
  more=$(sed -n 's/^ *\([0-9]*\) more outputs; -v lists them$/\1/p' <<<"$said")
  wanted=$((outputs <= 5 ? outputs : 4)) rest=$((outputs <= 5 ? 0 : outputs - 4))
  if [ "$shown" -eq $wanted ] && [ "${more:-0}" -eq $rest ]; then echo "ok $outputs outputs"; else echo "not ok $outputs outputs: $said"; fi
done
