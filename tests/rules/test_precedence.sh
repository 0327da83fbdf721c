#!/usr/bin/env bash
# What decides over what: node flag > op flag > list files of options > of the environment > rule files > built-in sets.
# Each pair of levels is tried with contradicting words for the one MatMul of a model, both ways round.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cp "$CASES"/convert/names_missing_explain/model.onnx "$scratch/m.onnx"
cd "$scratch" || exit 2
unset AMPCONV_LOWER_PRECISION_OPS_LIST AMPCONV_FP32_OPS_LIST
printf '# products\n\n  matmul  # all of them\r\nqr\n' >list
for precision in lower fp32; do
  printf 'version: 1\nname: %s\nrules:\n  - {precision: %s, ops: [MatMul]}\n' $precision $precision >$precision.yaml
done

# Puts what makes LEVEL say PRECISION into words and variables.
say() {
  case $1-$2 in
    node-*) words+=(--node "*=$2") ;;
    op-*) words+=(--op "matmul=$2") ;;
    list-*) words+=("--$2-ops" list) ;;
    environment-lower) variables+=(AMPCONV_LOWER_PRECISION_OPS_LIST=list) ;;
    environment-fp32) variables+=(AMPCONV_FP32_OPS_LIST=list) ;;
    file-*) words+=(-r "./$2.yaml") ;;
    set-lower) words+=(-r torch-cpu) ;; # the one that lowers MatMul
    set-fp32) return 1 ;;
  esac
}

# The precision that decided on the first node.
decided() { env "${variables[@]}" "$AMPCONV" m.onnx "$@" -o out.onnx --no-validate --explain "${words[@]}" 2>&1 |
  grep -om1 -E ' (rule|unlisted) *(lower|fp32)?' | grep -oE 'lower|fp32'; }

levels=(node op list environment file set)
for ((i = 0; i < ${#levels[@]}; i++)); do
  for ((j = i + 1; j < ${#levels[@]}; j++)); do
    for pair in 'fp32 lower' 'lower fp32'; do
      read -r high low <<<"$pair"
      words=() variables=(X=)
      say "${levels[j]}" $low || continue
      say "${levels[i]}" $high
      name="${levels[i]} ($high) over ${levels[j]} ($low)"
      found=$(decided)
      if [ "$found" = "$high" ]; then echo "ok $name"; else echo "not ok $name: $found"; fi
    done
  done
done

# WHAT EXIT TEXT WORD...: the program fails with that exit code and says the text.
fails() {
  local what=$1 code=$2 text=$3 said
  shift 3
  said=$(env "${variables[@]}" "$AMPCONV" m.onnx -o out.onnx --no-validate "$@" 2>&1)
  if [ $? = "$code" ] && [ "$said" = "ampconv: $text" ]; then echo "ok $what"; else echo "not ok $what: $said"; fi
}

variables=(X=)
printf 'Conv\nmatmull # no\n' >wrong
printf 'Conv\0' >binary
hint="unknown operator 'matmull' (did you mean 'MatMul'?); accepted: an operator of ONNX or PyTorch, or DOMAIN::NAME of another domain"
yes Add | head -n 10001 >many
fails 'a list of too many' 3 'many:10001: too many operators; accepted: a list of 10000 at most' --lower-ops many
fails 'a list with an unknown name' 3 "wrong:2: $hint" --lower-ops wrong
fails 'a list that is no text' 3 'binary: not a text; accepted: a name of an operator per line' --fp32-ops binary
fails 'a list that is not there' 2 'none: cannot open: No such file or directory' --fp32-ops none
: >empty
if said=$("$AMPCONV" m.onnx -q -o out.onnx --no-validate --lower-ops empty --fp32-ops empty 2>&1); then
  echo 'ok empty lists'
else
  echo "not ok empty lists: $said"
fi
variables=(AMPCONV_FP32_OPS_LIST=wrong)
fails 'a list of the environment with an unknown name' 3 "AMPCONV_FP32_OPS_LIST: wrong:2: $hint"
variables=(X=)
fails 'a set that is not for float16' 3 "gaudi.yaml: rule set 'gaudi' is not for fp16; accepted: bf16" -d fp16 -r gaudi

# WHAT TEXT WORD...: the report names the rule sets.
names() {
  local what=$1 text=$2
  shift 2
  if "$AMPCONV" m.onnx -o out.onnx --no-validate "$@" 2>&1 | grep -q " by $text;"; then echo "ok $what"; else echo "not ok $what"; fi
}
names 'torch-cpu for bf16' torch-cpu
names 'torch-cuda for fp16' torch-cuda -d fp16
names 'sets before files' 'gaudi, ./lower.yaml' -r ./lower.yaml -r gaudi

# a rule for one lower dtype
printf 'version: 1\nname: x\nrules:\n  - {precision: lower, dtypes: [fp16], ops: [MatMul]}\n' >fp16.yaml
words=(-r ./fp16.yaml) variables=(X=)
for dtype in bf16 fp16; do
  found=$(decided -d $dtype)
  if [ "$found" = "$([ $dtype = fp16 ] && echo lower)" ]; then echo "ok a rule for fp16, to $dtype"; else echo "not ok a rule for fp16, to $dtype: $found"; fi
done
