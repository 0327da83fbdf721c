#!/usr/bin/env bash
# Checks C files with clang-format, clang-tidy (settings in .clang-format, .clang-tidy) and cppcheck, and the direction of the
# includes between the source folders. A tool that is not installed is named and skipped. Exits 1 when something was found.
#   lint.sh FILE...       needs compile_commands.json in the current folder
set -u
status=0
sources=()
for file in "$@"; do
  case $file in src/*.c | tests/unit/*.c) sources+=("$file") ;; esac
done

installed() {
  command -v "$1" >/dev/null 2>&1 && return
  echo "lint: $1 is not installed: skipped" >&2
  return 1
}

# only PATTERN HEADER: files outside PATTERN (a regular expression over paths) may not include HEADER.
only() {
  local found
  found=$(grep -nE "#include [<\"]$2" "${sources[@]}" /dev/null | grep -vE "^($1)")
  [ -z "$found" ] || { echo "lint: <$2> is for $1 alone:"; echo "$found"; status=1; }
}

only 'src/onnx/|tests/unit/' '(onnx\.pb-c\.h|protobuf-c/)'
only 'src/ops/|src/run/|tests/unit/' 'oneapi/'
only 'src/autocast/rules|tests/unit/' 'yaml\.h'

installed clang-format && { clang-format --dry-run -Werror "$@" || status=1; }
installed cppcheck && {
  cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,performance,portability \
    --suppress=missingIncludeSystem -Isrc "${sources[@]}" || status=1
}
installed clang-tidy && {
  printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy --quiet -p . 2> >(grep -v 'warnings generated' >&2) || status=1
}
exit $status
