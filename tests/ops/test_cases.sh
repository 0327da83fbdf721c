#!/usr/bin/env bash
# Runs operators in the layout of ONNX's backend tests: the cases that the make_*.py here made, and those that are to be refused, in
# NAME, with what NAME.txt says of them.
set -u
export OMP_NUM_THREADS=2
here=$(cd "$(dirname "$0")" && pwd)
status=0
for suite in cases moves orders products windows ml contrib newest text gradients sequences; do
  "$AMPCONV" run -v --test-suite "$here/$suite" 2>&1 | sed -nE 's/^passed /ok /p; s/^(failed|skipped) /not ok /p'
  [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
done

for suite in refused products_refused windows_refused ml_refused contrib_refused newest_refused text_refused gradients_refused sequences_refused; do
  said=$("$AMPCONV" run --test-suite "$here/$suite" 2>&1 | sed -nE "s/^skipped/failed/; s|$here/$suite/[^/]*/||g; s|^failed ([^:]*): (model.onnx: )?|\1: |p")
  while IFS= read -r line; do
    name=${line%%:*}
    found=$(grep "^$name: " <<<"$said")
    if [ "$found" = "$line" ]; then echo "ok $name"; else echo "not ok $name: said '$found'"; status=1; fi
  done <"$here/$suite.txt"
done
exit $status
