#!/usr/bin/env bash
# The tests of what depends on the instruction set, once for each set below the one in use that this machine can play: oneDNN
# and the program's own kernels keep to ONEDNN_MAX_CPU_ISA. What cannot be played here is said to be untested.
# Arguments: cmocka programs, of which those are run that see a header of src/ops or src/run. Needs what the Makefile's test_env
# sets. Exits 1 when anything failed.
set -u
here=$(dirname "$0")
: "${AMPCONV:?the program}"
stages=(run ops backend digits light)
mapfile -t units < <(printf '%s.d\n' "$@" | xargs grep -lE 'src/(ops|run)/' | sed 's/\.d$//')

# The sets in rising order: whether they are played (those between are not; they differ in what little of oneDNN they use), the
# value of ONEDNN_MAX_CPU_ISA, the name that the program has for the set.
sets='yes SSE41 SSE4.1
no AVX AVX
yes AVX2 AVX2
no AVX2_VNNI AVX2 with VNNI
no AVX2_VNNI_2 AVX2 with VNNI, bf16 and fp16 conversion
yes AVX512_CORE AVX-512
no AVX512_CORE_VNNI AVX-512 with VNNI
yes AVX512_CORE_BF16 AVX-512 with bf16
yes AVX512_CORE_FP16 AVX10.1/512
yes AVX512_CORE_AMX AVX10.1/512 with AMX bf16 and int8
yes AVX512_CORE_AMX_FP16 AVX10.1/512 with AMX bf16, int8 and fp16'

in_use() { "$AMPCONV" --version | sed -n 's/^oneDNN [0-9.]* on //p'; }

own=$(in_use) is_beyond='' status=0
while read -r is_played cap name; do
  if [ "$name" = "$own" ]; then
    is_beyond=1
    echo "---- $cap: the set in use, with which all tests are run"
  elif [ "$is_played" = yes ]; then
    if [ -n "$is_beyond" ] || [ "$(ONEDNN_MAX_CPU_ISA=$cap in_use)" != "$name" ]; then
      echo "---- $cap: not tested, the set in use here is $own"
      continue
    fi
    echo "---- $cap"
    ONEDNN_MAX_CPU_ISA=$cap "$here/unit.sh" "${units[@]}" </dev/null || status=1
    ONEDNN_MAX_CPU_ISA=$cap "$here/run.sh" "${stages[@]}" </dev/null || status=1
  fi
done <<<"$sets"
exit $status
