#!/usr/bin/env bash
# What the cases hold, not only their types: each that has a data set is run and compared with it.
set -u
cd "$CASES/read" || exit 2
for folder in */test_data_set_0; do
  name=${folder%/*}
  if output=$("$AMPCONV" run --test-suite . --filter "$name" 2>&1); then
    echo "ok $name"
  else
    echo "not ok $name: $output"
  fi
done
