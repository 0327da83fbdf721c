#!/usr/bin/env bash
# Runs cmocka programs side by side, counts their tests and tells the seconds that each took; a program that dies without a verdict
# counts as one failure.
# Appends "unit/NAME PASSED FAILED" to RESULTS for each. Exits 1 when anything failed.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export scratch
# Kernels that share their work out need somebody to share it with.
export OMP_NUM_THREADS=${OMP_NUM_THREADS-2}
here=$(dirname "$0")
. "$here/pool.sh"

run_unit() {
  local begun=$SECONDS
  CMOCKA_MESSAGE_OUTPUT=tap timeout 1500 "$1" >"$scratch/${1##*/}.out" 2>&1
  echo $? $((SECONDS - begun)) >"$scratch/${1##*/}.code"
}
export -f run_unit

# The programs in the order in which they begin: those first whose source says that they take long.
begin() {
  local program
  for program in "$@"; do
    if grep -q 'Takes long\.' "$here/unit/${program##*/}.c"; then echo "0 $program"; else echo "1 $program"; fi
  done | sort -s -k1,1n | cut -d' ' -f2
}
begin "$@" | side_by_side run_unit >/dev/null

status=0
for program in "$@"; do
  name=unit/${program##*/} output=$(cat "$scratch/${program##*/}.out")
  read -r code took <"$scratch/${program##*/}.code"
  passed=$(grep -c '^ok ' <<<"$output")
  failed=$(grep -c '^not ok ' <<<"$output")
  if [ "$code" != 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  if [ "$failed" -ne 0 ]; then
    status=1
    printf '%s\nFAIL %s: %d passed, %d failed, exit status %s\n' "$output" "$name" "$passed" "$failed" "$code"
  else
    printf 'ok   %s: %d passed, %d s\n' "$name" "$passed" "$took"
  fi
  printf '%s %d %d\n' "$name" "$passed" "$failed" >>"${RESULTS:-/dev/null}"
done
exit $status
