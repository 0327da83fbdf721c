#!/usr/bin/env bash
# Parity with PyTorch: for each NAME.DEVICE.tsv, what the program decides for NAME.onnx under torch-DEVICE against the dtypes in which
# PyTorch's autocast ran the operators that the nodes come from (recorded by record.py). Where they differ, the table `differences`
# must say why: a rule set, a model and a node, the three as globs, PyTorch's dtype, the program's, and the reason; a line of it that
# nothing needs is wrong too.
: "${AMPCONV:?}" "${CASES:?}"
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/used"

# "name<TAB>dtype" per node.
decided() { # MODEL DTYPE RULES
  "$AMPCONV" "$1" --list --explain=json -d "$2" -r "$3" -q |
    sed -nE 's/^    \{"name": "([^"]*)", .*"composite": .*, "dtype": "?([a-z0-9]+)"?, "reason": .*/\1\t\2/p'
}

# The reason why $node is in $found and not in $dtype; the number of the line that says it goes to `used`.
reason() {
  local line=0 in_rules in_model like theirs ours why
  while IFS=$'\t' read -r in_rules in_model like theirs ours why; do
    line=$((line + 1))
    # shellcheck disable=SC2053
    if [[ $rules == $in_rules && $name == $in_model && $node == $like && $dtype == $theirs && $found == "$ours" ]]; then
      echo $line >>"$scratch/used"
      echo "$why"
      return
    fi
  done <differences
}

total=0 agreeing=0 explained=0
for record in *.tsv; do
  name=${record%%.*} rules=torch-${record#*.}
  rules=${rules%.tsv} matched=0 wrong=''
  case $rules in torch-cuda) lower=fp16 ;; *) lower=bf16 ;; esac
  decided "$CASES/parity/$name.onnx" $lower "$rules" >"$scratch/decided" || wrong=' not converted'
  while IFS=$'\t' read -r node dtype operator; do
    case $node in '#'*) continue ;; esac
    matched=$((matched + 1))
    found=$(awk -F'\t' -v node="$node" '$1 == node { print $2 }' "$scratch/decided")
    if [ "$found" = "$dtype" ]; then
      agreeing=$((agreeing + 1))
    elif [ -n "$(reason)" ]; then
      explained=$((explained + 1))
    else
      wrong+=" $node ($operator): $dtype, here ${found:-no such node};"
    fi
  done <"$record"
  total=$((total + matched))
  if [ -z "$wrong" ] && [ $matched -gt 0 ]; then echo "ok $name $rules"; else echo "not ok $name $rules:$wrong"; fi
done

unused=$(awk 'NR == FNR { used[$1] = 1; next } !/^#/ && !(FNR in used) { print FNR }' "$scratch/used" differences | paste -sd' ')
if [ -z "$unused" ]; then echo 'ok differences'; else echo "not ok differences: nothing needs line $unused"; fi
echo "# parity: $total nodes matched with PyTorch's operators, $agreeing agree, $explained differ with a reason"
if [ $((agreeing + explained)) -eq $total ] && [ $total -ge 500 ]; then echo 'ok all'; else echo "not ok all: $total matched"; fi
