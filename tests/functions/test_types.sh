#!/usr/bin/env bash
# A function that is called twice and declares the types of its values, of which one call is lowered: what is written declares
# them for each call as they are there.
set -u
: "${AMPCONV:?}" "${CASES:?}" "${ORACLES:?}"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2; wanted: $3"; fi; } # NAME FOUND WANTED
types() { "$AMPCONV" "$scratch/out.onnx" --dump-after=read | sed -n 's|^node .* -> \(F/[ms][_0-9]* .*\)|\1|p' | tr '\n' ';'; }
convert() { "$AMPCONV" "$CASES/functions/types_of_calls/model.onnx" -q -d fp16 -o "$scratch/out.onnx" --accept "$@" 2>&1; } # WORD...

is 'the first call is lowered' "$(convert --node 'F/*=lower' --node 'F/*_1=fp32')" ''
is 'the first has other types' "$(types)" \
  'F/m float16 [2, 2];F/s sequence of float16;F/m_1 float32 [2, 2];F/s_1 sequence of float32;'
is 'it is valid' "$("$ORACLES/onnx_check" "$scratch/out.onnx" 2>&1)" ''
is 'it runs' "$("$AMPCONV" run -q --seed 1 "$scratch/out.onnx" 2>&1)" ''
is 'the second call is lowered' "$(convert --node 'F/*_1=lower' --node 'F/mul=fp32' --node 'F/abs=fp32')" ''
is 'the second has other types' "$(types)" \
  'F/m float32 [2, 2];F/s sequence of float32;F/m_1 float16 [2, 2];F/s_1 sequence of float16;'
