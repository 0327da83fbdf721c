#!/usr/bin/env bash
# Runs operators in the layout of ONNX's backend tests: the cases that make_cases.py and make_moves.py made, and those that are to
# be refused with what refused.txt says of them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
status=0
for suite in cases moves; do
  "$AMPCONV" run -v --test-suite "$here/$suite" 2>&1 | sed -nE 's/^passed /ok /p; s/^(failed|skipped) /not ok /p'
  [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
done

said=$("$AMPCONV" run --test-suite "$here/refused" 2>&1 | sed -nE "s|^failed ([^:]*): .*/model.onnx: |\1: |p")
while IFS= read -r line; do
  name=${line%%:*}
  found=$(grep "^$name: " <<<"$said")
  if [ "$found" = "$line" ]; then echo "ok $name"; else echo "not ok $name: said '$found'"; status=1; fi
done <"$here/refused.txt"
exit $status
