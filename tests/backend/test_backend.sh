#!/usr/bin/env bash
# ONNX's backend tests through `ampconv run --test-suite`: each suite passes at least as many cases as the list at the end says. The
# numbers there may only rise.
set -u
export OMP_NUM_THREADS=2
: "${TESTDATA:?}"
while read -r suite least; do
  output=$("$AMPCONV" run --test-suite "$TESTDATA/$suite" 2>&1)
  code=$?
  total=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' <<<"$output")
  passed=${total%% *}
  echo "# $suite: $total"
  if [ -n "$passed" ] && [ "$passed" -ge "$least" ] && [ $code -le 4 ]; then
    echo "ok $suite"
  else
    echo "not ok $suite: exit $code, ${passed:-none} passed, at least $least before: $(grep '^failed' <<<"$output" | cut -c1-200)"
  fi
done <<'END'
node 1265
simple 23
pytorch-converted 82
pytorch-operator 35
END
