#!/usr/bin/env bash
# What --version says of the CPU: the instruction set that oneDNN uses, the instructions that the program's own kernels use, and
# which dtypes are native; none of them beyond ONEDNN_MAX_CPU_ISA, nor beyond what the system says that the processor has.
set -u
flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo | head -n 1) "

# has FLAG...: whether the processor has all of them.
has() {
  local flag
  for flag in "$@"; do if [[ $flags != *" $flag "* ]]; then return 1; fi; done
}

# expected CAP: the instructions, in the order in which they are said.
expected() {
  local list=()
  case $1 in AVX2 | AVX512*) if has avx2 bmi1 bmi2 f16c fma abm movbe; then list+=(x86-64-v3); fi ;; esac
  case $1 in AVX*) if has avx f16c; then list+=(F16C); fi ;; esac
  case $1 in AVX512*) if has avx512f avx512bw avx512vl avx512dq; then list+=(AVX-512); fi ;; esac
  case $1 in AVX512*BF16 | AVX512*AMX) if has avx512f avx512_bf16; then list+=(AVX-512-BF16); fi ;; esac
  case $1 in AVX512*AMX) if has amx_tile amx_bf16 amx_int8 avx512_fp16; then list+=(AMX-BF16); fi ;; esac
  if [ ${#list[@]} -eq 0 ]; then list=('generic code'); fi
  printf '%s, ' "${list[@]}" | sed 's/, $//'
}

if [ "$(uname -m)" != x86_64 ]; then echo '# not tested: no x86-64'; exit; fi
for cap in SSE41 AVX AVX2 AVX512_CORE AVX512_CORE_BF16 AVX512_CORE_AMX; do
  said=$(ONEDNN_MAX_CPU_ISA=$cap "$AMPCONV" --version | sed -n 's/^kernels   //p')
  if [ "$said" = "$(expected $cap)" ]; then echo "ok $cap"; else echo "not ok $cap: '$said', not '$(expected $cap)'"; fi
done
native=$(ONEDNN_MAX_CPU_ISA=SSE41 "$AMPCONV" --version | sed -n '4,$p')
wanted='float32   native
bfloat16  computed in float32, then rounded
float16   computed in float32, then rounded'
if [ "$native" = "$wanted" ]; then echo 'ok dtypes'; else echo "not ok dtypes: $native"; fi
