#!/usr/bin/env bash
# No function of the program, and no macro, has 100 lines or more.
set -u
most=99
cd ../.. || exit 2

# The count itself: a function and a macro of 100 lines each.
lines=$(yes '    x();' | head -98)
made=$(printf 'int f(int x,\n      int y)\n{\n%s\n}\n\n#define M(x) \\\n%s\n    x\n' "$lines" "${lines//;/ \\}" | awk -f tests/style/lengths.awk -)
if [ "$made" = $'100 -:3 f\n100 -:104 M' ]; then echo 'ok counted'; else echo "not ok counted: $made"; fi

lengths=$(find src -name '*.[ch]' -o -name '*.inc' | sort | xargs awk -f tests/style/lengths.awk | sort -rn)
echo "# longest of $(wc -l <<<"$lengths"): $(head -n 3 <<<"$lengths" | tr '\n' ';')"
long=$(awk -v most=$most '$1 > most' <<<"$lengths")
if [ -z "$long" ] && [ "$(wc -l <<<"$lengths")" -gt 1000 ]; then echo 'ok functions'; else echo "not ok functions: ${long:-too few found}"; fi
