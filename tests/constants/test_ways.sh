#!/usr/bin/env bash
# The samples of all cases once more: node by node, and with two threads, for which oneDNN lays weights out by the number of rows.
set -u
cd "$CASES/constants" || exit 2
for folder in */data; do
  name=${folder%/data}
  read -ra words <"$name/args"
  want=$(cat "$name/exit" 2>/dev/null || echo 0)
  for way in strict threads; do
    options=() threads=1
    if [ $way = strict ]; then options=(--strict); else threads=2; fi
    output=$(cd "$name" && OMP_NUM_THREADS=$threads "$AMPCONV" "${words[@]}" ${options[@]+"${options[@]}"} 2>&1)
    code=$?
    if [ $code = "$want" ]; then echo "ok $name $way"; else echo "not ok $name $way: exit $code: $output"; fi
  done
done
