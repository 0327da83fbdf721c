#!/usr/bin/env bash
# The environment variables that replace lists of the set gaudi ("Mixed Precision Training with PyTorch Autocast", "Override
# Options"). What each file has to lead to follows from the text and from the order of the lists in Gaudi's own bridge.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cp "$CASES"/rules/gaudi-lists/model.onnx "$scratch/m.onnx"
cd "$scratch" || exit 2
LOWER=PT_HPU_AUTOCAST_LOWER_PRECISION_OPS_LIST
FP32=PT_HPU_AUTOCAST_FP32_OPS_LIST
unset $LOWER $FP32 LOWER_LIST FP32_LIST AMPCONV_LOWER_PRECISION_OPS_LIST AMPCONV_FP32_OPS_LIST
printf 'version: 1\nname: ours\nextends: [gaudi]\nrules:\n  - {precision: fp32, nodes: [nothing]}\n' >ours.yaml
printf 'softmax\n' >softmax
printf 'bmm\nexp\n' >bmm_exp
printf 'exp\nbmm # both\n' >exp_bmm
printf 'view\nsoftmax\nt\nrelu_\nindex_copyy\nexpand\n' >unknown
: >empty

# "NAME=PRECISION" per node, of those that a rule decided on, after the words and variables given.
decided() { env "$@" 2>/dev/null | sed -nE "s/^node '([a-z]+)' .* (lower|fp32|widest) ([^ ]+:[0-9]|command line).*/\1=\2/p" | tr '\n' ' '; }

# WHAT EXPECTED VARIABLE=VALUE... -- WORD...: the rules decide that way on the nodes.
decides() {
  local what=$1 expected=$2 variables=() found
  shift 2
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  found=$(decided "${variables[@]}" "$AMPCONV" m.onnx --list "$@")
  if [ "$found" = "$expected " ]; then echo "ok $what"; else echo "not ok $what: $found"; fi
}

all='bmm=lower einsum=lower softmax=lower mul=lower exp=fp32 add=widest div=fp32 mm=lower'
decides 'no list' "$all" X= -- -r gaudi
decides 'variables that are empty' "$all" $LOWER= $FP32= LOWER_LIST= -- -r gaudi
decides 'a list for lower precision' 'softmax=lower mul=widest exp=fp32 add=widest div=fp32' $LOWER=softmax -- -r gaudi
decides 'a list for FP32' 'bmm=lower einsum=lower softmax=lower mul=lower exp=widest add=widest div=widest mm=lower' $FP32=softmax -- -r gaudi
decides 'both, lower precision first' 'bmm=lower einsum=lower mul=widest exp=lower add=widest div=widest' $LOWER=bmm_exp $FP32=exp_bmm -- -r gaudi
decides 'what is like an operator of FP32' 'bmm=fp32 einsum=fp32 softmax=lower mul=widest exp=fp32 add=widest div=widest' $LOWER=softmax $FP32=exp_bmm -- -r gaudi
decides 'empty lists' 'mul=widest exp=widest add=widest div=widest' $LOWER=empty $FP32=empty -- -r gaudi
decides 'the deprecated name' 'softmax=lower mul=widest exp=fp32 add=widest div=fp32' LOWER_LIST=softmax -- -r gaudi
decides 'the deprecated name for FP32' 'bmm=lower einsum=lower softmax=lower mul=lower exp=fp32 add=widest div=widest mm=lower' FP32_LIST=exp_bmm -- -r gaudi
decides 'the new name before the deprecated one' 'softmax=lower mul=widest exp=fp32 add=widest div=fp32' $LOWER=softmax LOWER_LIST=bmm_exp -- -r gaudi
decides 'a set that extends gaudi' 'softmax=lower mul=widest exp=fp32 add=widest div=fp32' $LOWER=softmax -- -r ./ours.yaml
decides 'another set' "$(decided X= "$AMPCONV" m.onnx --list -r torch-cpu | sed 's/ $//')" $LOWER=softmax $FP32=exp_bmm -- -r torch-cpu
decides 'lists that add, over lists that replace' 'softmax=fp32 mul=widest exp=lower add=widest div=fp32' $LOWER=softmax AMPCONV_LOWER_PRECISION_OPS_LIST=exp_bmm AMPCONV_FP32_OPS_LIST=softmax -- -r gaudi --op bmm=follow
decides 'an option over them' 'softmax=lower mul=widest exp=lower add=widest div=fp32' $LOWER=softmax -- -r gaudi --op exp=lower

# WHAT EXIT STDERR VARIABLE=VALUE... -- WORD...
says() {
  local what=$1 code=$2 expected=$3 variables=() said
  shift 3
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  said=$(env "${variables[@]}" "$AMPCONV" "$@" 2>&1 >/dev/null)
  if [ $? = "$code" ] && [ "$said" = "$expected" ]; then echo "ok $what"; else echo "not ok $what: $said"; fi
}

list=(m.onnx --list -r gaudi)
deprecated="ampconv: warning: LOWER_LIST is deprecated; use $LOWER"
unknown="ampconv: warning: unknown: 4 of the names are not known here and change nothing: 'view' (line 1), 't' (line 3), 'index_copyy' (line 5), ..."
says 'a warning names the new name' 0 "$deprecated" LOWER_LIST=softmax -- "${list[@]}"
says 'no warning for the new name' 0 '' $LOWER=softmax LOWER_LIST=softmax -- "${list[@]}"
says 'no warning where no set has the list' 0 '' LOWER_LIST=softmax -- m.onnx --list
says 'no warning for those who want none' 0 '' LOWER_LIST=softmax -- "${list[@]}" -q
says 'a warning for a set that is printed' 0 "$deprecated" LOWER_LIST=softmax -- rules gaudi
says 'a warning for a set that is compared' 0 "$deprecated" LOWER_LIST=softmax -- rules --diff gaudi torch-cpu m.onnx
says 'operators that are not known' 0 "$unknown" $FP32=unknown -- rules --check gaudi
says 'a file that is not there' 2 "ampconv: $FP32: none: cannot open: No such file or directory" $FP32=none -- "${list[@]}"
says 'a file that is no text' 3 "ampconv: LOWER_LIST: m.onnx: not a text; accepted: a name of an operator per line" LOWER_LIST=m.onnx -- "${list[@]}"

found=$(env $LOWER=softmax "$AMPCONV" "${list[@]}" | grep -o 'rule lower softmax:.*')
if [ "$found" = 'rule lower softmax:1 softmax' ]; then echo 'ok the place in the file'; else echo "not ok the place in the file: $found"; fi
