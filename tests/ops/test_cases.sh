#!/usr/bin/env bash
# Runs the cases that make_cases.py made: operators in the layout of ONNX's backend tests.
set -u
here=$(cd "$(dirname "$0")" && pwd)
"$AMPCONV" run -v --test-suite "$here/cases" 2>&1 | sed -nE 's/^passed /ok /p; s/^(failed|skipped) /not ok /p'
exit "${PIPESTATUS[0]}"
