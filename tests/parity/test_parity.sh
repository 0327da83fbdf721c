#!/usr/bin/env bash
# Parity with PyTorch: for each NAME.onnx, what the program decides under torch-cpu against the dtypes in which PyTorch's autocast
# ran the operators that the nodes come from (NAME.tsv, by record.py). Where they differ, the table `differences` must say why: a
# model and a node, both as globs, PyTorch's dtype, the program's, and the reason; a line of it that nothing needs is wrong too.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/used"

# "name<TAB>dtype" per node.
decided() {
  "$AMPCONV" "$1" --list --explain=json -d bf16 -r torch-cpu -q |
    sed -nE 's/^    \{"name": "([^"]*)", .*"composite": .*, "dtype": "?([a-z0-9]+)"?, "reason": .*/\1\t\2/p'
}

total=0 agreeing=0 explained=0
for model in *.onnx; do
  name=${model%.onnx}
  decided "$model" >"$scratch/decided" || echo "not ok $name: not converted"
  matched=0 wrong=
  while IFS=$'\t' read -r node dtype operator; do
    case $node in '#'*) continue ;; esac
    matched=$((matched + 1))
    found=$(awk -F'\t' -v node="$node" '$1 == node { print $2 }' "$scratch/decided")
    if [ "$found" = "$dtype" ]; then agreeing=$((agreeing + 1)); continue; fi
    reason=
    line=0
    while IFS=$'\t' read -r in_model like theirs ours why; do
      line=$((line + 1))
      # shellcheck disable=SC2053
      if [[ $name == $in_model && $node == $like && $dtype == "$theirs" && $found == "$ours" ]]; then
        reason=$why
        echo $line >>"$scratch/used"
        break
      fi
    done <differences
    if [ -n "$reason" ]; then explained=$((explained + 1)); else wrong+=" $node ($operator): $dtype, here ${found:-no such node};"; fi
  done <"$name.tsv"
  total=$((total + matched))
  if [ -z "$wrong" ] && [ $matched -gt 0 ]; then echo "ok $name"; else echo "not ok $name:$wrong"; fi
done

unused=$(awk 'NR == FNR { used[$1] = 1; next } !/^#/ && !(FNR in used) { print FNR }' "$scratch/used" differences | paste -sd' ')
if [ -z "$unused" ]; then echo 'ok differences'; else echo "not ok differences: nothing needs line $unused"; fi
echo "# parity: $total nodes matched with PyTorch's operators, $agreeing agree, $explained differ with a reason"
if [ $((agreeing + explained)) -eq $total ] && [ $total -ge 250 ]; then echo 'ok all'; else echo "not ok all: $total matched"; fi
