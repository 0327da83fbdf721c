#!/usr/bin/env bash
# How sources are written: no function and no macro has 100 lines or more; files include each other in no circle and in no long chain,
# and no room has many of them; text for people goes by amp_print; no failure is lost on its way; instructions of x86-64 stand where the
# file says so.
set -u
cd ../.. || exit 2
scratch=$(mktemp) || exit 2
trap 'rm -f "$scratch"' EXIT

# ---- lengths ----

# The lines of each function and of each macro: "LINES FILE:LINE NAME". A function begins with { and ends with } in the first
# column, as .clang-format has it; a macro goes on while its lines end in \.
lengths_of() { # FILE...
  awk '
    FNR == 1 { open = macro = 0 }
    /^[A-Za-z_].*\(/ && !open { head = $0 }
    /^\{/ { open = FNR }
    /^\}/ && open {
      sub(/\(.*/, "", head)
      sub(/.*[ *]/, "", head)
      print FNR - open + 1, FILENAME ":" open, head
      open = 0
    }
    /^#define/ && !macro { macro = FNR; name = $2; sub(/\(.*/, "", name) }
    macro && !/\\$/ { print FNR - macro + 1, FILENAME ":" macro, name; macro = 0 }' "$@"
}

# The count itself: a function and a macro of 100 lines each.
lines=$(yes '    x();' | head -98)
made=$(printf 'int f(int x,\n      int y)\n{\n%s\n}\n\n#define M(x) \\\n%s\n    x\n' "$lines" "${lines//;/ \\}" | lengths_of -)
if [ "$made" = $'100 -:3 f\n100 -:104 M' ]; then echo 'ok counted'; else echo "not ok counted: $made"; fi

mapfile -t files < <(find src -name '*.[ch]' -o -name '*.inc' | sort)
lengths=$(lengths_of "${files[@]}" | sort -rn)
echo "# longest of $(wc -l <<<"$lengths"): $(head -n 3 <<<"$lengths" | tr '\n' ';')"
long=$(awk '$1 > 99' <<<"$lengths")
if [ -z "$long" ] && [ "$(wc -l <<<"$lengths")" -gt 1000 ]; then echo 'ok functions'; else echo "not ok functions: ${long:-too few found}"; fi

# ---- includes and rooms ----

# Of each file, by how many includes the longest chain goes on from it, "DEPTH FILE"; a file that includes itself through others is
# "circle FILE".
depths_of() { # FILE..., below src
  awk '
    function depth(file,    i, names, n, d, most) {
      if (file in known) return known[file]
      if (file in is_open) { print "circle", file; return 0 }
      is_open[file]
      n = split(includes[file], names, " ")
      for (i = 1; i <= n; i++) if (names[i] in is_file) { d = 1 + depth(names[i]); if (d > most) most = d }
      delete is_open[file]
      return known[file] = most + 0
    }
    FNR == 1 { name = FILENAME; sub(/^src\//, "", name); is_file[name] }
    /^#include "/ { split($0, parts, "\""); includes[name] = includes[name] " " parts[2] }
    END { for (name in is_file) print depth(name), name }' "$@"
}

mkdir "$scratch.d" && printf '#include "%s"\n' b >"$scratch.d/a" && printf '#include "%s"\n' c >"$scratch.d/b" && echo >"$scratch.d/c"
if [ "$(cd "$scratch.d" && depths_of a b c | sort -r | tr '\n' ' ')" = '2 a 1 b 0 c ' ]; then echo 'ok depths'; else echo 'not ok depths: a chain is not seen'; fi
printf '#include "%s"\n' a >"$scratch.d/c"
if (cd "$scratch.d" && depths_of a b c | grep -q '^circle'); then echo 'ok circles'; else echo 'not ok circles: one is not seen'; fi
rm -r "$scratch.d"

depths=$(depths_of "${files[@]}" | sort -rn)
deep=$(awk '$1 == "circle" || $1 > 7' <<<"$depths")
if [ -z "$deep" ] && [ "$(wc -l <<<"$depths")" -gt 700 ]; then echo 'ok includes'; else echo "not ok includes: ${deep:-too few found}"; fi
full=$(find src -name '*.c' -printf '%h\n' | sort | uniq -c | awk '$1 > 22')
if [ -z "$full" ]; then echo 'ok rooms'; else echo "not ok rooms: $full"; fi

# ---- printing ----

# Text for people is put together by amp_print (core/print.h), which lets no name send anything to the terminal.
mapfile -t printing < <(find src/main.c src/cli src/core/graph/dump.c src/check src/run src/autocast src/pattern src/onnx -name '*.c')
found=$(grep -nE '(^|[^a-z_])(v?f?printf|puts)\(' "${printing[@]}")
if [ -z "$found" ]; then echo 'ok printing'; else echo "not ok printing: $found"; fi

# ---- failures ----

# The compiler warns where nobody looks at a status. A cast to void would tell it not to: what may be ignored goes by AMP_IGNORE, by name.
cast_away() { grep -nE '\(void\) ?(\(|[A-Za-z_][][A-Za-z0-9_.>-]*\()' "$@" | grep -v '(void)va_arg('; }

printf 'void f(void)\n(void)state;\n(void)f(x);\n(void)(g(x));\n(void)op->run(x);\n' >"$scratch"
if [ "$(cast_away "$scratch" | cut -d: -f1 | tr '\n' ' ')" = '3 4 5 ' ]; then echo 'ok casts to void'; else echo 'not ok casts to void: one is not seen'; fi
found=$(cast_away "${files[@]}")
if [ -z "$found" ]; then echo 'ok failures'; else echo "not ok failures: $found"; fi

# ---- instructions ----

uses='immintrin\.h|cpuid\.h|\b_mm[0-9]*_|\b__m(128|256|512)|__builtin_(ia32|cpu)|__asm__|target\("'

# silent FILE...: those that use instructions of x86-64 and do not say so in their opening comment.
silent() {
  local file
  grep -lE "$uses" "$@" | while read -r file; do
    if ! awk '{ print } /\*\// { exit }' "$file" | grep -q 'x86-64'; then echo "$file"; fi
  done
}

printf '/*\n * A kernel.\n */\n#include <immintrin.h>\n' >"$scratch"
if [ "$(silent "$scratch")" = "$scratch" ]; then echo 'ok found'; else echo 'not ok found: an intrinsic is not seen'; fi
found=$(silent "${files[@]}")
if [ -z "$found" ]; then echo 'ok x86-64'; else echo "not ok x86-64: $(tr '\n' ' ' <<<"$found")"; fi
