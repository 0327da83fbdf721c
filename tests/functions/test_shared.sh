#!/usr/bin/env bash
# Functions that are called several times. What all calls have in common is in the converted model once: a Constant of the body,
# an initializer of a graph in it, called from the main graph and from a branch. Every call adds 2 and 3 to its argument.
set -u
: "${AMPCONV:?}" "${CASES:?}" "${ORACLES:?}"
. ../bytes.sh
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2

repeated() { printf "$1%.0s" $(seq "$2"); }
twos=$(repeated 00000040 64) threes=$(repeated 00004040 64)
tensor() { printf '08401001%s%s' "$(field 8 "$(text "$1")")" "$(field 9 "$2")"; }                # NAME HEX: float32 [64]
constant() { node Constant '' "$1" "$(field 5 "$(field 1 "$(text value)")$(field 5 "$2")a00104")"; } # OUTPUT TENSOR
branch() { field 5 "$(field 1 "$(text "$1")")$(field 6 "$2")a00105"; }                           # NAME GRAPH
true=10094a0101                                                                                  # a bool, as a TensorProto
vector=$(field 1 "0801$(field 2 "$(field 1 0840)")")
call() { node F "$1" "$2" "$(field 3 "$(text "$3")")$(field 7 "$(text f)")"; } # INPUT OUTPUT NAME

inner() { # OP: a graph that holds an initializer
  printf '%s%s%s%s' "$(field 1 "$(node "$1" 't u' r)")" "$(field 2 "$(text b)")" "$(field 5 "$(tensor u "$threes")")" \
    "$(value 12 r "$vector")"
}
body=$(field 7 "$(constant w "$(tensor '' "$twos")")")
body+=$(field 7 "$(node Add 'x w' t)")$(field 7 "$(constant c $true)")
body+=$(field 7 "$(node If c y "$(branch then_branch "$(inner Add)")$(branch else_branch "$(inner Sub)")")")
function=$(field 1 "$(text F)")$(field 4 "$(text x)")$(field 5 "$(text y)")$body$(field 9 1012)$(field 10 "$(text f)")
outer() { printf '%s%s%s' "$(field 1 "$(call v2 "$1" inside)")" "$(field 2 "$(text b)")" "$(value 12 "$1" "$vector")"; } # OUTPUT
graph=$(field 1 "$(node Sub 'x x' v0)")$(field 1 "$(call v0 v1 first)")$(field 1 "$(call v1 v2 second)")
graph+=$(field 1 "$(constant always $true)")
graph+=$(field 1 "$(node If always y "$(branch then_branch "$(outer p)")$(branch else_branch "$(outer q)")")")
graph+=$(field 2 "$(text g)")$(value 11 x "$vector")$(value 12 y "$vector")
write m.onnx "0808$(field 8 1012)$(field 8 "$(field 1 "$(text f)")1001")$(field 7 "$graph")$(field 25 "$function")"

is() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: $2; wanted: $3"; fi; }        # NAME FOUND WANTED
count() { perl -e 'local $/; my $n = () = <STDIN> =~ /\Q@{[pack("H*", $ARGV[0])]}\E/g; print $n' "$1" <m.out.onnx; } # HEX
said() { "$AMPCONV" run "$1" 2>&1 | tail -n 1; }

fifteen="  output     'y' float32 [64]: min 15, max 15, mean 15"
is 'the model runs' "$(said m.onnx)" "$fifteen"
is 'it is converted' "$("$AMPCONV" m.onnx -q --node '*=lower' -o m.out.onnx 2>&1)" ''
is 'what is written runs' "$(said m.out.onnx)" "$fifteen"
is 'it is valid' "$("$ORACLES/onnx_check" m.out.onnx 2>&1)" ''
is 'as it was, it is converted' "$("$AMPCONV" m.onnx -q -d fp32 -o m.out.onnx 2>&1)" ''
is 'the constant is there once' "$(count "$twos")" 1
# One for each of the two graphs of the body: they are different messages.
is 'the initializer is there once' "$(count "$threes")" 2
is 'it is valid, too' "$("$ORACLES/onnx_check" m.out.onnx 2>&1)" ''
is 'the names are those of the first call' \
  "$("$AMPCONV" m.onnx -q -d fp32 --dump-after=read | grep -o '[a-z]*/[wu][_0-9]*' | sort -u | tr '\n' ' ')" 'first/u first/u_1 first/w '

# A function that declares the types of its values, of which one call is lowered: what is written declares them for each call as they are.
types() { "$AMPCONV" "$scratch/out.onnx" --dump-after=read | sed -n 's|^node .* -> \(F/[ms][_0-9]* .*\)|\1|p' | tr '\n' ';'; }
convert() { "$AMPCONV" "$CASES/functions/types_of_calls/model.onnx" -q -d fp16 -o "$scratch/out.onnx" --accept "$@" 2>&1; } # WORD...

is 'the first call is lowered' "$(convert --node 'F/*=lower' --node 'F/*_1=fp32')" ''
is 'the first has other types' "$(types)" \
  'F/m float16 [2, 2];F/s sequence of float16;F/m_1 float32 [2, 2];F/s_1 sequence of float32;'
is 'with types it is valid' "$("$ORACLES/onnx_check" "$scratch/out.onnx" 2>&1)" ''
is 'with types it runs' "$("$AMPCONV" run -q --seed 1 "$scratch/out.onnx" 2>&1)" ''
is 'the second call is lowered' "$(convert --node 'F/*_1=lower' --node 'F/mul=fp32' --node 'F/abs=fp32')" ''
is 'the second has other types' "$(types)" \
  'F/m float32 [2, 2];F/s sequence of float32;F/m_1 float16 [2, 2];F/s_1 sequence of float16;'
