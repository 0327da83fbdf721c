#!/usr/bin/env bash
# What --version says of the CPU: the instruction set that oneDNN uses, the instructions that the program's own kernels use,
# those for lower precision that it has, and which dtypes are native; none of them beyond what the system says that the processor
# has, nor, but for the third, beyond ONEDNN_MAX_CPU_ISA.
set -u
flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo | head -n 1) "

# Whether the C library finds x86-64-v3 here, which some systems leave a flag out of.
has_v3() {
  local loader=/lib64/ld-linux-x86-64.so.2
  if [ -x $loader ] && $loader --help 2>/dev/null | grep -q 'x86-64-v[0-9]'; then
    $loader --help | grep -q 'x86-64-v3 (supported'
  else
    has avx2 bmi1 bmi2 f16c fma abm movbe
  fi
}

# has FLAG...: whether the processor has all of them.
has() {
  local flag
  for flag in "$@"; do if [[ $flags != *" $flag "* ]]; then return 1; fi; done
}

# expected CAP: the instructions, in the order in which they are said.
expected() {
  local list=()
  case $1 in AVX2 | AVX512*) if has_v3; then list+=(x86-64-v3); fi ;; esac
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
# What the CPU has does not depend on the cap.
has_flags=
for flag in avx512_bf16 avx512_fp16 amx_bf16 amx_fp16; do
  has_flags+=", $flag $(if has $flag; then echo yes; else echo no; fi)"
done
for cap in SSE41 ALL; do
  said=$(ONEDNN_MAX_CPU_ISA=$cap "$AMPCONV" --version | sed -n 's/^cpu       //p')
  if [ "$said" = "${has_flags#, }" ]; then echo "ok flags with $cap"; else echo "not ok flags with $cap: '$said', not '${has_flags#, }'"; fi
done
# The most that the variable can allow is what is in use without it.
most=$(ONEDNN_MAX_CPU_ISA=AVX512_CORE_AMX_FP16 "$AMPCONV" --version)
if [ "$most" = "$(env -u ONEDNN_MAX_CPU_ISA "$AMPCONV" --version)" ]; then echo 'ok AVX512_CORE_AMX_FP16 caps nothing'; else echo "not ok AVX512_CORE_AMX_FP16 caps nothing: $most"; fi
# A dtype is native where the CPU has the instructions and the cap lets oneDNN use them.
native_with() { ONEDNN_MAX_CPU_ISA=$1 "$AMPCONV" --version | grep -qx "$2 *native"; }
if has avx512_bf16; then
  if native_with AVX512_CORE_BF16 bfloat16; then echo 'ok avx512_bf16'; else echo 'not ok avx512_bf16'; fi
fi
if has avx512_fp16; then
  if native_with AVX512_CORE_FP16 float16 && ! native_with AVX512_CORE_BF16 float16; then echo 'ok avx512_fp16'; else echo 'not ok avx512_fp16'; fi
fi
native=$(ONEDNN_MAX_CPU_ISA=SSE41 "$AMPCONV" --version | sed -n '/^float32/,$p')
wanted='float32   native
bfloat16  computed in float32, then rounded
float16   computed in float32, then rounded'
if [ "$native" = "$wanted" ]; then echo 'ok dtypes'; else echo "not ok dtypes: $native"; fi
