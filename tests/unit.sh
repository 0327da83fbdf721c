#!/usr/bin/env bash
# Runs cmocka programs and counts their tests; a program that dies without a verdict counts as one failure.
# Appends "unit/NAME PASSED FAILED" to RESULTS for each. Exits 1 when anything failed.
set -u
status=0
for program in "$@"; do
  output=$(CMOCKA_MESSAGE_OUTPUT=tap timeout 600 "$program" 2>&1)
  code=$?
  passed=$(grep -c '^ok ' <<<"$output")
  failed=$(grep -c '^not ok ' <<<"$output")
  if [ $code -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  name=unit/$(basename "$program")
  if [ "$failed" -ne 0 ]; then
    status=1
    printf '%s\nFAIL %s: %d passed, %d failed, exit status %d\n' "$output" "$name" "$passed" "$failed" $code
  else
    printf 'ok   %s: %d passed\n' "$name" "$passed"
  fi
  printf '%s %d %d\n' "$name" "$passed" "$failed" >>"${RESULTS:-/dev/null}"
done
exit $status
