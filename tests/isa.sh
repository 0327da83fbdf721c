#!/usr/bin/env bash
# The tests of what depends on the instruction set, once for each set below the one in use that this machine can play: oneDNN
# and the program's own kernels keep to ONEDNN_MAX_CPU_ISA. What cannot be played here is said to be untested.
# Arguments: cmocka programs, of which those are run that see a header of src/ops or src/run. Needs what the Makefile's test_env
# sets. Exits 1 when anything failed.
set -u
here=$(dirname "$0")
: "${AMPCONV:?the program}"
all='run ops backend digits light'
mapfile -t units < <(printf '%s.d\n' "$@" | xargs grep -lE 'src/(ops|run)/' | sed 's/\.d$//')

# The sets in rising order: the stages that are run of them (none of those between, which differ in what little of oneDNN they use;
# of the oldest the operators, whose kernels are what differs), the value of ONEDNN_MAX_CPU_ISA, the name that the program has for it.
sets='ops SSE41 SSE4.1
none AVX AVX
all AVX2 AVX2
none AVX2_VNNI AVX2 with VNNI
none AVX2_VNNI_2 AVX2 with VNNI, bf16 and fp16 conversion
all AVX512_CORE AVX-512
none AVX512_CORE_VNNI AVX-512 with VNNI
all AVX512_CORE_BF16 AVX-512 with bf16
all AVX512_CORE_FP16 AVX10.1/512
all AVX512_CORE_AMX AVX10.1/512 with AMX bf16 and int8
all AVX512_CORE_AMX_FP16 AVX10.1/512 with AMX bf16, int8 and fp16'

in_use() { "$AMPCONV" --version | sed -n 's/^oneDNN [0-9.]* on //p'; }

own=$(in_use) is_beyond='' status=0
while read -r stages cap name; do
  if [ "$name" = "$own" ]; then
    is_beyond=1
    echo "---- $cap: the set in use, with which all tests are run"
  elif [ "$stages" != none ]; then
    if [ -n "$is_beyond" ] || [ "$(ONEDNN_MAX_CPU_ISA=$cap in_use)" != "$name" ]; then
      echo "---- $cap: not tested, the set in use here is $own"
      continue
    fi
    echo "---- $cap"
    ONEDNN_MAX_CPU_ISA=$cap "$here/unit.sh" "${units[@]}" </dev/null || status=1
    # shellcheck disable=SC2086 # names
    ONEDNN_MAX_CPU_ISA=$cap "$here/run.sh" ${stages/all/$all} </dev/null || status=1
  fi
done <<<"$sets"
exit $status
