#!/bin/sh
# Copies what a program linked against a sysroot needs at run time: its loader and the closure of its shared libraries.
#   copy_libs.sh PROGRAM LOADER FOLDER
set -eu
program=$1
loader=$2
to=$3

libs=$("$loader" --list "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }')
[ -n "$libs" ] || { echo "copy_libs.sh: $loader lists no libraries of $program" >&2; exit 1; }
mkdir -p "$to"
for lib in $libs "$loader"; do
  cp -L "$lib" "$to/.new"
  chmod 755 "$to/.new"
  mv "$to/.new" "$to/$(basename "$lib")"
done
