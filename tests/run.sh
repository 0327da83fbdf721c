#!/usr/bin/env bash
# The end-to-end tests.
#   tests/STAGE/CASE/      a folder with `args` (words for the program, as a shell would split them), the files they name, and
#                          what is expected: `stdout`, `stderr` (absent: empty), `exit` (absent: 0). `setup`, a shell script,
#                          prepares what cannot be committed. The program runs in a copy of the folder.
#   tests/STAGE/test_*.sh  a script that prints "ok NAME" or "not ok NAME: reason" lines; for what a folder cannot say.
# Appends "NAME PASSED FAILED" to RESULTS for each stage. --update rewrites the expected files. Exits 1 when anything failed.
# Arguments: stages (folder names) to run; none: all of them.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
: "${AMPCONV:?the program}"
update=
if [ "${1-}" = --update ]; then update=1; shift; fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
# Leaks are failures, and so is undefined behaviour; neither may look like one of the program's own exit codes.
export ASAN_OPTIONS=${ASAN_OPTIONS-exitcode=99:detect_leaks=1:allocator_may_return_null=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-halt_on_error=1:exitcode=99}
export OMP_NUM_THREADS=${OMP_NUM_THREADS-2}

# Runs one case folder; says what differs.
run_case() {
  local folder=$1 work=$scratch/work words code
  rm -rf "$work" && cp -rL "$folder" "$work" || return 1
  (cd "$work" && if [ -f setup ]; then bash ./setup; fi) || { echo 'setup failed'; return 1; }
  eval "words=($(cat "$folder/args"))" || return 1
  (cd "$work" && timeout 120 "$AMPCONV" "${words[@]}" </dev/null >"$scratch/stdout" 2>"$scratch/stderr")
  code=$?
  if [ -n "$update" ]; then
    for stream in stdout stderr; do
      if [ -s "$scratch/$stream" ]; then cp "$scratch/$stream" "$folder/$stream"; else rm -f "$folder/$stream"; fi
    done
    if [ $code -ne 0 ]; then echo $code >"$folder/exit"; else rm -f "$folder/exit"; fi
    return 0
  fi
  local status=0
  for stream in stdout stderr; do
    if [ -f "$folder/$stream" ]; then expected=$folder/$stream; else expected=/dev/null; fi
    diff -u --label "expected $stream" --label "$stream" "$expected" "$scratch/$stream" || status=1
  done
  if [ "$code" != "$(cat "$folder/exit" 2>/dev/null || echo 0)" ]; then echo "exit $code"; status=1; fi
  return $status
}

total=0
for stage in "$here"/*/; do
  name=$(basename "$stage") passed=0 failed=0
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  for args in "$stage"*/args; do
    [ -f "$args" ] || continue
    folder=$(dirname "$args")
    if output=$(run_case "$folder" 2>&1); then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      printf 'FAIL %s/%s\n%s\n' "$name" "$(basename "$folder")" "$output"
    fi
  done
  for script in "$stage"test_*.sh; do
    [ -f "$script" ] && [ -z "$update" ] || continue
    output=$(cd "$stage" && timeout 1800 bash "$script" 2>&1)
    code=$?
    good=$(grep -c '^ok ' <<<"$output") bad=$(grep -c '^not ok ' <<<"$output")
    if [ $code -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    passed=$((passed + good)) failed=$((failed + bad))
    grep '^# ' <<<"$output"
    if [ "$bad" -gt 0 ]; then printf 'FAIL %s/%s\n%s\n' "$name" "$(basename "$script")" "$(grep -v '^ok ' <<<"$output")"; fi
  done
  if [ $((passed + failed)) -gt 0 ]; then
    if [ $failed -eq 0 ]; then printf 'ok   %s: %d passed\n' "$name" $passed; fi
    printf '%s %d %d\n' "$name" $passed $failed >>"${RESULTS:-/dev/null}"
  fi
  total=$((total + failed))
done
[ $total -eq 0 ]
