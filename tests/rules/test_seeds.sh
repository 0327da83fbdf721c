#!/usr/bin/env bash
# The autocast lists of the documentation that the sets are made from (seeds.txt: set, list and name per line) against the
# table of PyTorch's names and the sets: each name has a row, each set says of each name what its list says.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
"$AMPCONV" rules --names >"$scratch/names" || echo 'not ok the table of names is printed'

check() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $(tr '\n' ' ' <<<"$2")"; fi; }

missing=$(cut -d' ' -f3 seeds.txt | sort -u | join -v1 - <(cut -d' ' -f1 "$scratch/names" | sort))
check 'each name of each list has a row' "$missing"
rows=$(cut -d' ' -f3 seeds.txt | sort -u | join - <(awk '{print $1, $2}' "$scratch/names" | sort) |
  cut -d' ' -f2 | sort | uniq -c | awk '{n += $1; text = text ", " $1 " " $2} END {print n text}')
echo "# names in the lists: $rows"

# "PRECISION NAME" per name of a set, in the order of its rules.
words_of() {
  "$AMPCONV" rules "$1" | awk '
    /^  - precision: / { precision = $3 }
    /^    ops: /       { on = 1; sub(/^    ops: \[/, "") }
    on                 { line = $0; ends = sub(/\]$/, "", line); gsub(/[ "]/, "", line)
                         n = split(line, word, ","); for (i = 1; i <= n; i++) if (word[i] != "") print precision, word[i]
                         if (ends) on = 0 }'
}

# The names of two lists that a set has to choose for, and what it says: the reason stands in the set.
chosen() { case $1 in gaudi) printf '%s\n' 'fp32 addcdiv' 'fp32 div' 'fp32 exp' 'lower mul' 'fp32 pow' 'fp32 truediv' ;; esac; }

# What a set adds of its own: what is computed with the operators of a list, and what PyTorch 2.6 autocasts without a list that
# says so.
added='lower (einsum|lstm|gru|rnn_tanh|rnn_relu)'
beyond() {
  case $1 in
    torch-cpu) echo 'fp32 smooth_l1_loss' ;;
    torch-cuda) printf '%s\n' 'fp32 huber_loss' 'fp32 interpolate' 'fp32 logsumexp' 'lower scaled_dot_product_attention' ;;
    torch-autocast-xpu) echo 'lower scaled_dot_product_attention' ;;
  esac
}

for set in $(cut -d' ' -f1 seeds.txt | uniq); do
  # the last rule decides
  words_of "$set" | tac | awk '!seen[$2]++' | sort >"$scratch/said"
  chosen "$set" | sort -k2,2 >"$scratch/chosen"
  sed -n "s/^$set //p" seeds.txt | sed 's/^lower-[a-z0-9]* /lower /' | sort -u | sort -k2,2 >"$scratch/listed"
  join -v1 -1 2 -2 2 "$scratch/listed" "$scratch/chosen" | awk '{print $2, $1}' | sort - "$scratch/chosen" >"$scratch/expected"
  check "$set says what its lists say" "$(comm -23 "$scratch/expected" "$scratch/said")"
  extra=$(comm -13 "$scratch/expected" "$scratch/said" | grep -vE "^$added$" | grep -vxF "$(beyond "$set")")
  [ "$set" = torch-xpu ] && extra=$(grep -vx 'lower conv_transpose2d' <<<"$extra")
  check "$set names nothing else" "$extra"
  check "$set has all names" "$([ "$(wc -l <"$scratch/expected")" = "$(sed -n "s/^$set //p" seeds.txt | cut -d' ' -f2 | sort -u | wc -l)" ] || echo 'lines of its lists are missing')"
done

for set in $("$AMPCONV" rules | cut -d' ' -f1); do
  check "$set: each rule has an effect" "$("$AMPCONV" rules --check "$set" 2>&1 | grep -v ': note: ')"
done

# A set whose names were resolved says the same when it is read again.
printf 'version: 1\nname: none\nrules:\n  - {precision: lower, ops: [qr]}\n' >"$scratch/none.yaml"
for set in $("$AMPCONV" rules | cut -d' ' -f1) "$scratch/none.yaml"; do
  "$AMPCONV" rules "$set" --resolved >"$scratch/resolved.yaml"
  check "$(basename "$set") can be read again" "$("$AMPCONV" rules "$scratch/resolved.yaml" 2>&1 |
    diff <(grep -v '^ *#' "$scratch/resolved.yaml") <(grep -v '^ *#' /dev/stdin))"
done
