#!/usr/bin/env bash
# The tests that tests/arm64.txt lists, of a program built for arm64, on an emulator (QEMU's user mode).
# Needs what the Makefile's test_env sets, of that build, and
#   EMULATOR   runs its programs
#   NATIVE     this machine's own program, whose results are the right ones
# Each runner appends "NAME PASSED FAILED" to RESULTS. Exits 1 when anything failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${AMPCONV:?}" "${BUILD:?}" "${EMULATOR:?}" "${NATIVE:?}"
root=$(dirname "$here")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. "$here/pool.sh"

# ---- the emulated machine ----

# oneDNN looks up what processor it is on, and complains where that file is missing.
register=$scratch/machine/sys/devices/system/cpu/cpu0/regs/identification/midr_el1
mkdir -p "${register%/*}" && echo 0x00000000413fd0c1 >"$register"

# A CPU without SVE, whose vectors take an emulator several times as long; and with vectors of SIZE bytes. The system's libraries
# sign return addresses: by a simple cipher.
plain_cpu=neoverse-n1
vector_cpu() { echo "max,pauth-impdef=on,sve-default-vector-length=$1"; } # SIZE

emulate() { # CPU PROGRAM FILE: makes FILE run PROGRAM on CPU
  mkdir -p "${3%/*}"
  printf '#!/bin/sh\nexec %q -cpu %q -L %q %q "$@"\n' "$EMULATOR" "$1" "$scratch/machine" "$2" >"$3"
  chmod +x "$3"
}

listed() { sed -n "s/^$1 //p" "$here/arm64.txt"; } # KIND

# ---- the shipped models ----

# What the report says of NAME: the signal-to-noise ratio, and how many samples are right in float32 and converted.
figures() { grep -oE '"(snr|right)": [0-9.]+' "$1" | grep -oE '[0-9.]+$' | tail -n 3; } # REPORT

# Other kernels add in another order: a sample may tip over, and noise varies.
are_near() { # REPORT REPORT
  paste -d ' ' <(figures "$1") <(figures "$2") | awk '{
      print
      off = $1 > $2 ? $1 - $2 : $2 - $1
      if (off > (NR == 1 ? 3 : 1)) far = 1
    }
    END { exit far || NR != 3 }'
}

converts() { # PROGRAM NAME DTYPE OUTPUT [OPTIONS]
  "$1" "$root/models/$2.onnx" -d "$3" -q -o "$4" "${@:5}"
}

model_accuracy() { # NAME DTYPE
  local out=$scratch/$1.$2 data=(--data "$root/models/digits" --labels "$root/models/digits/labels.npy")
  converts "$AMPCONV" "$1" "$2" "$out.arm64.onnx" "${data[@]}" --json "$out.arm64.json" &&
    converts "$NATIVE" "$1" "$2" "$out.native.onnx" "${data[@]}" --json "$out.native.json" &&
    are_near "$out.arm64.json" "$out.native.json"
}

model_bytes() { # NAME DTYPE
  local out=$scratch/$1.$2.bytes
  converts "$AMPCONV" "$1" "$2" "$out.arm64" --no-validate && converts "$NATIVE" "$1" "$2" "$out.native" --no-validate &&
    cmp "$out.arm64" "$out.native"
}

vector_result() { # SIZE NAME DTYPE
  local program=$scratch/vector$1.$2.$3/ampconv
  emulate "$(vector_cpu "$1")" "$BUILD/ampconv" "$program"
  converts "$program" "$2" "$3" "${program%/*}/out.onnx"
}

# One line of the jobs below: a function and its arguments. Prints a verdict.
run_check() {
  local words said
  read -ra words <<<"$1"
  if said=$("${words[@]}" 2>&1); then echo "ok $1"; else echo "not ok $1: $said"; fi >"$(mktemp -p "$scratch" verdict.XXXXXX)"
}

check_models() {
  local passed failed
  {
    listed model | sed 's/.*/model_accuracy &\nmodel_bytes &/'
    listed vector | sed 's/.*/vector_result & bf16\nvector_result & fp16/'
  } | side_by_side run_check >/dev/null
  passed=$(cat "$scratch"/verdict.* | grep -c '^ok ') failed=$(cat "$scratch"/verdict.* | grep -c '^not ok ')
  cat "$scratch"/verdict.* | grep -v '^ok '
  if [ "$failed" -eq 0 ]; then echo "ok   models: $passed passed"; fi
  echo "models $passed $failed" >>"${RESULTS:-/dev/null}"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# ---- all of it ----

units=()
while read -r name; do
  emulate "$plain_cpu" "$BUILD/unit/$name" "$scratch/unit/$name"
  units+=("$scratch/unit/$name")
done < <(listed unit)
emulate "$plain_cpu" "$AMPCONV" "$scratch/ampconv"
export AMPCONV=$scratch/ampconv BUILD NATIVE EMULATOR scratch root
export -f vector_cpu emulate figures are_near converts model_accuracy model_bytes vector_result run_check
mapfile -t tests < <(listed test)

status=0
"$here/unit.sh" "${units[@]}" || status=1
check_models || status=1
"$here/run.sh" "${tests[@]}" || status=1
exit $status
