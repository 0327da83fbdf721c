#!/usr/bin/env bash
# All measurements: the executor against ONNX Runtime (bench/networks.sh), then conversion against a copy (bench/conversion.sh).
# MODELS names some of them instead; the scripts say what ROUNDS and RUNS are.
set -u
here=$(cd "$(dirname "$0")" && pwd)
networks='resnet50 mobilenetv2 vit_s16 bert_base gpt2 lstm' conversions='encoder decoder nodes folder'

chosen() { # NAMES: those of them that are wanted
  local name
  for name in $1; do
    case " ${MODELS-$1} " in *" $name "*) echo "$name" ;; esac
  done
}

for name in ${MODELS-}; do
  case " $networks $conversions " in *" $name "*) ;; *) echo "bench.sh: no model '$name'; there are: $networks $conversions" >&2; exit 2 ;; esac
done
for kind in networks conversions; do
  mapfile -t names < <(chosen "${!kind}")
  [ ${#names[@]} -eq 0 ] || "$here/bench/${kind/%ions/ion}.sh" "${names[@]}" || exit 1
done
