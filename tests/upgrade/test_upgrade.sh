#!/usr/bin/env bash
# The upgrade of every model of ONNX's backend tests, each from its own opset to 22 (`--dtype fp32 --opset 22`): the upgraded model
# must pass ONNX's checker wherever the one before does, and the executor wherever it passes before; raised again (every fourth) it
# must stay the same to the byte. `exceptions` names the cases that may fail, and why; one that no longer fails must be taken out of
# it. ONNX's light models likewise, with outputs that do not change. A build with sanitizers takes every 20th case and no light model.
# Takes long.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${AMPCONV:?the program}" "${TESTDATA:?the test models}" "${ORACLES:?the checker}" "${BUILD:?the build folder}"
opset=22 step=1
if [ "${BUILD##*/}" = asan ]; then step=20; fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir failed

# fail KIND CASE REASON: writes a failure down, to be judged by `exceptions` at the end.
fail() {
  printf '%s\n' "$3" >"failed/${2//\//:} $1"
}

# The names of the cases below FOLDER that pass in the executor.
passing() {
  "$AMPCONV" run -v --test-suite "$1" 2>/dev/null | sed -n 's/^passed //p' | sort
}

# Takes the cases of SUITE to the folder SUITE with the model upgraded, and to SUITE.before as they are; the data are shared.
upgrade_suite() {
  local suite=$1 i=0 folder name file data
  mkdir -p "$suite" "$suite.before"
  for folder in "$TESTDATA/$suite"/*/; do
    name=${folder%/} name=${name##*/}
    [[ -f $folder/model.onnx && $((i++ % step)) -eq 0 ]] || continue
    ln -s "$folder" "$suite.before/$name"
    mkdir "$suite/$name"
    data=()
    for file in "$folder"*; do
      if [ "${file##*/}" != model.onnx ]; then data+=("$file"); fi
    done
    if [ ${#data[@]} -gt 0 ]; then ln -s "${data[@]}" "$suite/$name/"; fi
    "$AMPCONV" "$folder/model.onnx" --dtype fp32 --opset $opset --no-validate -q -o "$suite/$name/model.onnx" 2>said ||
      { fail refused "$suite/$name" "$(<said)"; continue; }
    ((i % 4)) || stays "$suite/$name/model.onnx" || fail again "$suite/$name" 'raised again, it is another'
  done
}

stays() { # MODEL
  "$AMPCONV" "$1" --dtype fp32 --opset $opset --no-validate -q -o again.onnx && cmp -s "$1" again.onnx
}

upgrade_light() {
  local model name
  for model in "$TESTDATA"/light/*.onnx; do
    name=$(basename "$model")
    if "$AMPCONV" "$model" --dtype fp32 --opset $opset -o "$name" >said 2>&1 && grep -q 'max abs error 0,' said &&
      "$ORACLES/onnx_check" "$name" >said 2>&1 && stays "$name"; then
      echo "ok $name"
    else
      fail light "$name" "$(<said)"
    fi
    rm -f "$name"
  done
}

# Compares the suite before and after; adds to the counts.
check_suite() {
  local suite=$1 name
  local before=$suite.passed_before after=$suite.passed_after
  passing "$suite.before" >"$before"
  passing "$suite" >"$after"
  n_models=$((n_models + $(find "$suite.before" -mindepth 1 -maxdepth 1 | wc -l)))
  n_upgraded=$((n_upgraded + $(find "$suite" -name model.onnx | wc -l)))
  n_before=$((n_before + $(wc -l <"$before"))) n_after=$((n_after + $(wc -l <"$after")))
  while read -r name; do
    if [ -f "$suite/$name/model.onnx" ]; then fail executor "$suite/$name" 'passes before the upgrade only'; fi
  done < <(comm -23 "$before" "$after")
  while IFS= read -r line; do
    name=${line#onnx_check: "$suite"/} name=${name%%/*}
    n_invalid=$((n_invalid + 1))
    if "$ORACLES/onnx_check" "$suite.before/$name/model.onnx" 2>/dev/null; then fail checker "$suite/$name" "$line"; fi
  done < <("$ORACLES/onnx_check" "$suite"/*/model.onnx 2>&1 | grep '^onnx_check: ')
}

n_models=0 n_upgraded=0 n_before=0 n_after=0 n_invalid=0
for suite in node simple pytorch-converted pytorch-operator; do
  upgrade_suite $suite
  check_suite $suite
done
if [ $step -eq 1 ]; then upgrade_light; fi
if [ $n_models -lt 20 ]; then echo "not ok upgrade: only $n_models models found"; fi
echo "# upgraded $n_upgraded of $n_models models; passed before $n_before, after $n_after; checker $((n_upgraded - n_invalid)) of $n_upgraded"

while read -r case kind reason; do
  [ -e "${case%%/*}.before/${case#*/}" ] || continue
  if [ -f "failed/${case//\//:} $kind" ]; then
    rm "failed/${case//\//:} $kind"
    echo "ok $case: $kind as expected: $reason"
  else
    echo "not ok $case: does not fail ($kind) any more; take it out of the exceptions"
  fi
done < <(grep -v '^#' "$here/exceptions")
for file in failed/*; do
  [ -f "$file" ] || continue
  what=${file#failed/}
  echo "not ok ${what//:/\/}: $(<"$file")"
done
echo "ok upgraded $n_upgraded"
