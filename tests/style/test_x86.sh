#!/usr/bin/env bash
# Instructions of x86-64 stand only in files whose opening comment says so.
set -u
cd ../.. || exit 2
uses='immintrin\.h|cpuid\.h|\b_mm[0-9]*_|\b__m(128|256|512)|__builtin_(ia32|cpu)|__asm__|target\("'

# silent FILE...: those that use them without saying so.
silent() {
  local file
  grep -lE "$uses" "$@" | while read -r file; do
    if ! awk '{ print } /\*\// { exit }' "$file" | grep -q 'x86-64'; then echo "$file"; fi
  done
}

scratch=$(mktemp) || exit 2
trap 'rm -f "$scratch"' EXIT
printf '/*\n * A kernel.\n */\n#include <immintrin.h>\n' >"$scratch"
if [ "$(silent "$scratch")" = "$scratch" ]; then echo 'ok found'; else echo 'not ok found: an intrinsic is not seen'; fi
mapfile -t files < <(find src -name '*.[ch]' -o -name '*.inc' | sort)
found=$(silent "${files[@]}")
if [ -z "$found" ]; then echo 'ok x86-64'; else echo "not ok x86-64: $(tr '\n' ' ' <<<"$found")"; fi
