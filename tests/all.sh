#!/usr/bin/env bash
# One pass of all tests: the unit tests named as arguments, then the end-to-end tests (tests/run.sh).
# Needs what the Makefile's test_env sets: AMPCONV BUILD RESULTS TESTDATA ORACLES. Exits 1 when anything failed.
# Each runner appends "NAME PASSED FAILED" to RESULTS, from which tests/totals.sh makes the sum.
set -u
here=$(dirname "$0")
status=0
"$here/unit.sh" "$@" || status=1
"$here/run.sh" || status=1
exit $status
