#!/usr/bin/env bash
# The option table (by way of --help) and the manual name the same options with the same arguments, and the manual's examples
# do what they say.
set -u
root=$(cd ../.. && pwd)
manual=$root/man/ampconv.1
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# "--name ARGUMENT" or "--name[=ARGUMENT]" per line, as --help has it and as the manual has it.
"$AMPCONV" --help | grep -oE '^ +(-., )?--[a-z0-9-]+(\[=[A-Z]+\]| [^ ]+)?' |
  grep -oE -- '--[a-z0-9-]+(\[=[A-Z]+\]| [^ a-z][^ ]*)?' | sort >"$scratch/help"
awk '/^\.SH OPTIONS/ { on = 1 } /^\.SH EXIT/ { on = 0 } on && /^\.TP/ { getline; print }' "$manual" |
  sed 's/\\-/-/g; s/\\fI//g; s/\\f[RB]//g; s/"//g; s/ \+/ /g' | grep -oE -- '--[a-z0-9-]+(\[=[A-Z]+\]| [^ ]+)?$' | sort >"$scratch/manual"
if said=$(diff "$scratch/help" "$scratch/manual"); then echo "ok options"; else echo "not ok options: $said"; fi

# Each example is a line between .EX and .EE, run from the project's folder.
PATH=$scratch/bin:$PATH
mkdir "$scratch/bin" "$scratch/work" && ln -s "$AMPCONV" "$scratch/bin/ampconv" && ln -s "$root/models" "$scratch/work/models"
sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$manual" | sed -n '/^\.EX/,/^\.EE/p' | grep -v '^\.' | sed 's/\\-/-/g' >"$scratch/examples"
while read -r example; do
  if said=$(cd "$scratch/work" && bash -o pipefail -c "$example" 2>&1); then echo "ok $example"; else echo "not ok $example: $said"; fi
done <"$scratch/examples"
