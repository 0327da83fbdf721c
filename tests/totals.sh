#!/usr/bin/env bash
# Adds up the lines "NAME PASSED FAILED" that the test runners left in a file and prints "N passed, N failed".
# Exits 1 when something failed or nothing ran at all.
set -u
awk '{ passed += $2; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }' \
  "${1:-build/results}" 2>/dev/null || { [ -s "${1:-build/results}" ] || echo '0 passed, 0 failed'; exit 1; }
