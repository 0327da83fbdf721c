#!/usr/bin/env bash
# Rule files that are read twice: the examples of ampconv-rules(5) load, and what `ampconv rules NAME` prints loads again to
# the same rules, for these, for the sets that come with the program and for the case `resolved`.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# The manual's examples that are rule files, in $scratch/man-1.yaml and so on.
awk -v folder="$scratch" '
  /^\.EX/ { inside = 1; file = ""; next }
  /^\.EE/ { inside = 0; next }
  inside && /^version:/ { file = folder "/man-" ++count ".yaml" }
  inside && file != "" { gsub(/\\-/, "-"); gsub(/\\\(dq/, "\""); gsub(/\\\(aq/, "\047"); gsub(/\\e/, "\\"); print >file }
' ../../man/ampconv-rules.5

# Without the comments, which name the places in the file that was read.
rules() { "$AMPCONV" rules "$1" >"$2" && grep -v '^  # ' "$2" >"$2.rules"; }

check() {
  if ! rules "$2" "$scratch/once.yaml" 2>"$scratch/stderr"; then
    echo "not ok $1: $(head -n 1 "$scratch/stderr")"
  elif rules "$scratch/once.yaml" "$scratch/twice.yaml" 2>"$scratch/stderr" &&
    cmp -s "$scratch/once.yaml.rules" "$scratch/twice.yaml.rules"; then
    echo "ok $1"
  else
    echo "not ok $1: printed and read again it is another set. $(head -n 1 "$scratch/stderr")"
  fi
}

[ -f "$scratch/man-2.yaml" ] && echo 'ok manual has examples' || echo 'not ok manual has examples: less than two found'
for file in "$scratch"/man-*.yaml; do check "$(basename "$file" .yaml)" "$file"; done
for name in $("$AMPCONV" rules | cut -d' ' -f1); do check "set $name" "$name"; done
check resolved "$CASES/rules/resolved/rules.yaml"

# Words of a list file need be no UTF-8: their bytes are printed so that YAML has them as characters.
printf 'a\xffb\xe2\x80::B\n' >"$scratch/list"
printf 'version: 1\nname: x\nrules:\n  - {precision: lower, ops: [Conv], ops_from: [LIST]}\n' >"$scratch/list.yaml"
said=$(LIST="$scratch/list" "$AMPCONV" rules "$scratch/list.yaml" 2>&1 | grep 'ops:')
[ "$said" = '    ops: ["a\xFFb\xE2\x80::B"]' ] && echo 'ok bytes' || echo "not ok bytes: $said"
