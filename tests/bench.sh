#!/usr/bin/env bash
# All measurements: the executor against ONNX Runtime on large networks (bench/networks.sh) and on the public set
# (bench/models.pl), then conversion against a copy (bench/conversion.sh). KINDS (networks models conversions) leaves some out, MODELS
# names some models instead; the scripts say what ROUNDS, RUNS and BUSY are.
set -u
here=$(cd "$(dirname "$0")" && pwd)
networks='resnet50 mobilenetv2 vit_s16 bert_base gpt2 lstm' conversions='encoder decoder nodes folder'
models=$(perl "$here/bench/make_public.pl" --list | tr '\n' ' ') || exit 2
kinds=${KINDS-networks models conversions}

chosen() { # NAMES: those of them that are wanted
  local name
  for name in $1; do
    case " ${MODELS-$1} " in *" $name "*) echo "$name" ;; esac
  done
}

for name in ${MODELS-}; do
  case " $networks $models $conversions " in *" $name "*) ;; *) echo "bench.sh: no model '$name'; there are: $networks $models $conversions" >&2; exit 2 ;; esac
done
declare -A scripts=([networks]=networks.sh [models]=models.pl [conversions]=conversion.sh)
for kind in $kinds; do
  mapfile -t names < <(chosen "${!kind}")
  [ ${#names[@]} -eq 0 ] || "$here/bench/${scripts[$kind]}" "${names[@]}" || exit 1
done
