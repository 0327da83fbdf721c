#!/usr/bin/env bash
# Parity with PyTorch: what the program decides under torch-cpu, in bf16, and torch-cuda, in fp16, for each export in
# exports.tar.xz, against the dtypes in which PyTorch's autocast ran the calls that the nodes come from (recorded by record.py). Where
# they differ, the table `differences` must say why: a rule set, an export and a node, the three as globs, PyTorch's dtype, the
# program's, and the reason; a line of it that nothing needs is wrong too. Prints for each form of export and set how many agree.
: "${AMPCONV:?}"
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
xz -dc exports.tar.xz | tar -xf - -C "$scratch" || exit 2
: >"$scratch/used"
: >"$scratch/counts"

# "name<TAB>dtype" per node.
decided() { # MODEL DTYPE RULES
  "$AMPCONV" "$1" --list --explain=json -d "$2" -r "$3" -q |
    sed -nE 's/^    \{"name": "([^"]*)", .*"composite": .*, "dtype": "?([a-z0-9]+)"?, "reason": .*/\1\t\2/p'
}

# The reason why $node is in $found and not in $dtype; the number of the line that says it goes to `used`.
reason() {
  local line=0 in_rules in_export like theirs ours why
  while IFS=$'\t' read -r in_rules in_export like theirs ours why; do
    line=$((line + 1))
    # shellcheck disable=SC2053
    if [[ $rules == $in_rules && $export == $in_export && $node == $like && $dtype == $theirs && $found == "$ours" ]]; then
      echo $line >>"$scratch/used"
      echo "$why"
      return
    fi
  done <differences
}

# compare DEVICE COLUMN DTYPE: the export against what was recorded for the device.
compare() {
  local rules=torch-$1 wrong='' agreeing explained=0 node dtype found operators
  decided "$scratch/$export.onnx" "$3" "$rules" >"$scratch/decided" || wrong=' not converted'
  awk -F'\t' -v OFS='\t' -v column="$2" 'NR == FNR { found[$1] = $2; next }
    $column != "-" { print $1, $column, $1 in found ? found[$1] : "absent", $4 }' \
    "$scratch/decided" "$scratch/$export.tsv" >"$scratch/held"
  agreeing=$(awk -F'\t' '$2 == $3' "$scratch/held" | wc -l)
  while IFS=$'\t' read -r node dtype found operators; do
    if [ -n "$(reason)" ]; then explained=$((explained + 1)); else wrong+=" $node ($operators): $dtype, here $found;"; fi
  done < <(awk -F'\t' '$2 != $3' "$scratch/held")
  if [ -z "$wrong" ]; then echo "ok $export $rules"; else echo "not ok $export $rules:$wrong"; fi
  echo "${export##*.} $rules $(wc -l <"$scratch/held") $agreeing $explained" >>"$scratch/counts"
}

for model in "$scratch"/*.onnx; do
  export=$(basename "$model" .onnx)
  compare cpu 2 bf16
  if cut -f3 "$scratch/$export.tsv" | grep -qv -- '^-$'; then compare cuda 3 fp16; fi
done

unused=$(awk 'NR == FNR { used[$1] = 1; next } !/^#/ && !(FNR in used) { print FNR }' "$scratch/used" differences | paste -sd' ')
if [ -z "$unused" ]; then echo 'ok differences'; else echo "not ok differences: nothing needs line $unused"; fi

echo "# nodes of exports by TorchScript (ts), dynamo (dy) and dynamo, optimized (opt), that agree with PyTorch:"
awk '{ key = $1 " " $2; nodes[key] += $3; agree[key] += $4; why[key] += $5 }
  END { for (key in nodes) printf "# %-15s %5d of %5d agree, %5.1f %%; %4d differ with a reason\n",
          key, agree[key], nodes[key], 100 * agree[key] / nodes[key], why[key] }' \
  "$scratch/counts" | sort
least=$(awk '{ n += $3 } END { print n }' "$scratch/counts")
if [ "$least" -ge 5500 ]; then echo 'ok all'; else echo "not ok all: $least nodes"; fi
