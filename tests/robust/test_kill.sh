#!/usr/bin/env bash
# Ended in mid-write, robbed of its folder or its input, and written to disks of all sizes: the target is the old or the new one,
# whole; a model and its data file are of the same age; no temporary file is left, but by SIGKILL, which nothing can answer.
#   KILLS (200), SEED (random): how often it is killed and, a quarter of that, robbed; and the points in time
# Takes long.
set -u
models=$(cd "$(dirname "$0")/../../models" && pwd)
kills=${KILLS-200} seed=${SEED-$RANDOM}
if [ "${BUILD##*/}" = asan ]; then kills=${KILLS-40}; fi
scratch=$(mktemp -d) || exit 1
# A child that is killed before it has become another program would do this as well.
trap 'if [ $BASHPID = $$ ]; then rm -rf "$scratch"; fi' EXIT
cd "$scratch" || exit 1
ulimit -c 0
mkdir out

# ---- a model of 42 MB ----

# add_weight NAME BYTES: adds a uint8 initializer to in.onnx; protobuf merges messages in a row.
varint() {
  local n=$1
  while [ "$n" -gt 127 ]; do printf "\\x$(printf %x $((n & 127 | 128)))"; n=$((n >> 7)); done
  printf "\\x$(printf %x "$n")"
}
field() { varint $(($1 << 3 | 2)); varint "$(stat -c %s "$2")"; cat "$2"; }
add_weight() {
  { printf '\x08'; varint "$2"; printf "\\x10\\x02\\x42\\x01%s\\x4a" "$1"; varint "$2"; head -c "$2" /dev/zero; } >tensor
  field 5 tensor >graph
  field 7 graph >>in.onnx
}
cp "$models/digits_cnn.onnx" in.onnx
add_weight v $((2 << 20))
add_weight w $((40 << 20))

convert() { "$AMPCONV" in.onnx -q "$@"; }
as_pair=(--external-data x.data --external-threshold $((8 << 20)))
mkdir alone pair
convert --no-validate -o alone/x.onnx && convert --no-validate -o pair/x.onnx "${as_pair[@]}" || echo 'not ok the model is not converted'
# The old targets, which nothing but a rename may touch: out/ gets links to them.
echo 'an old model' >old.onnx
echo 'old data' >old.data
put_old() { rm -f out/* out/.ampconv.*; ln old.onnx out/x.onnx; if [ "$1" = pair ]; then ln old.data out/x.data; fi; }

# age KIND FILE: old, new, none or broken.
age() {
  local kind=$1 file=$2
  if [ ! -e "out/$file" ]; then echo none
  elif [ "out/$file" -ef "old.${file#*.}" ]; then echo old
  elif cmp -s "out/$file" "$kind/$file"; then echo new
  else echo broken; fi
}

# judge KIND: what is in out/, in a word: old, new, or what is wrong.
judge() {
  local model data=
  model=$(age "$1" x.onnx)
  if [ "$1" = pair ]; then data=$(age pair x.data); fi
  if [ -n "$data" ] && [ "$data" != "$model" ]; then echo "model $model, data $data"; else echo "$model"; fi
}
left() { find out -name '.ampconv.*' | wc -l; }

# ---- signals ----

# The time that a conversion takes, in microseconds: the middle one of five.
took() {
  local i start
  for i in 1 2 3 4 5; do
    start=${EPOCHREALTIME/./}
    convert -o out/x.onnx "$@" >/dev/null
    echo $((${EPOCHREALTIME/./} - start))
  done | sort -n | sed -n 3p
}

# Waits without a new process.
mkfifo never && exec 9<>never
wait_for() { read -rt "$(printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)))" <&9; }

# Waits until there is a temporary file, or the program has ended.
wait_for_write() {
  local found
  while kill -0 $! 2>/dev/null; do
    found=(out/.ampconv.*)
    if [ -e "${found[0]}" ]; then return; fi
  done
}

# kill_once KIND SIGNAL START TIME OPTIONS...: kills it TIME after START (begin or write); prints SIGNAL, exit code, temporaries
# left, state.
kill_once() {
  local kind=$1 signal=$2 start=$3 time=$4 code
  shift 4
  put_old "$kind"
  # Shells start what runs in the background with SIGINT ignored.
  env --default-signal=INT,QUIT "$AMPCONV" in.onnx -q -o out/x.onnx "$@" 2>/dev/null &
  if [ "$start" = write ]; then wait_for_write; fi
  wait_for "$time"
  kill -s "$signal" $! 2>/dev/null
  wait $! 2>/dev/null
  code=$?
  echo "$signal $code $(left) $(judge "$kind")"
}

# Points in time over the whole run, with validation (when there are threads) and without, and over the time of writing.
RANDOM=$seed
signals=(INT TERM INT TERM INT TERM KILL KILL HUP QUIT)
for kind in alone pair; do
  options=()
  if [ $kind = pair ]; then options=("${as_pair[@]}"); fi
  time=$(took --no-validate "${options[@]}") time_validating=$(took "${options[@]}")
  for ((i = 0; i < kills / 2; i++)); do
    signal=${signals[$((RANDOM % 10))]} point=$((RANDOM << 15 | RANDOM))
    case $((i % 4)) in
      0) kill_once $kind "$signal" begin $((point % time)) --no-validate "${options[@]}" ;;
      1) kill_once $kind "$signal" begin $((point % time_validating)) "${options[@]}" ;;
      2) kill_once $kind "$signal" write $((point % (time / 3))) --no-validate "${options[@]}" ;;
      3) kill_once $kind "$signal" write $((point % (time / 3))) "${options[@]}" ;;
    esac
  done
  echo "# $kind: a conversion takes $((time / 1000)) ms, with validation $((time_validating / 1000)) ms" >&2
done >killed.log 2>times.log
cat times.log

# verdict NAME PATTERN: ok when no line of killed.log matches.
verdict() {
  if grep -E "$2" killed.log >found; then echo "not ok $1 (SEED=$seed): $(sort found | uniq -c | tr '\n' ';')"; else echo "ok $1"; fi
}
ended=$(awk '$2 > 128' killed.log | wc -l)
echo "# seed $seed: $(wc -l <killed.log) kills, of which $ended ended the program, $(grep -c '^KILL .* [1-9] ' killed.log) of" \
  "$(grep -c ^KILL killed.log) by SIGKILL with temporaries"
verdict 'killed: exit by the signal or done' ' ([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]) [0-9]+ '
verdict 'killed: the target is old or new and whole' '^(INT|TERM|HUP|QUIT) [0-9]+ [0-9]+ ([^on]|none|model)'
verdict 'killed by SIGKILL: the target is never broken' '^KILL [0-9]+ [0-9]+ .*(broken|model (old|new))'
verdict 'killed: no temporary is left' '^(INT|TERM|HUP|QUIT) [0-9]+ [1-9]'
verdict 'killed: what came through is there' ' 0 [0-9]+ ([^n]|none)'
if (($(wc -l <killed.log) != kills / 2 * 2 || ended < kills / 4)); then echo 'not ok killed: too few ended the program'; fi
if [ "$(cat old.onnx old.data)" != $'an old model\nold data' ]; then echo 'not ok killed: an old target was written to'; fi

# ---- the folder or the input goes ----

# strike ACTION: what others do meanwhile. FILE is an input, OUT's folder that of the output.
strike() {
  case $1 in
    removed) rm -rf out 2>/dev/null || rm -rf out ;;
    moved) mv out gone ;;
    swapped) mv out gone; mkdir out ;;
    cut) truncate -s $((point % size)) "$file" ;;
    emptied) : >"$file" ;;
    zeroed) truncate -s 0 "$file"; truncate -s "$size" "$file" ;;
  esac
}

# The state of both folders, in a word each, and what is left in them.
judge_all() {
  local state file
  state=$(judge "$1")
  if [ -d gone ]; then
    state="$state, gone:"
    for file in gone/x.*; do
      if cmp -s "$file" "old.${file#*.}"; then state="$state old"
      elif cmp -s "$file" "$1/${file#gone/}"; then state="$state new"
      else state="$state $file"; fi
    done
  fi
  echo "$(find out gone -name '.ampconv.*' 2>/dev/null | wc -l) $state"
}

# rob_once KIND ACTION START TIME INPUT OPTIONS...: ACTION comes TIME after START; prints ACTION, exit code, what is left, state and
# message.
rob_once() {
  local kind=$1 action=$2 start=$3 time=$4 input=$5 code
  shift 5
  rm -rf out gone work && mkdir out work && cp "$input".* work
  put_old "$kind"
  file=work/$input.onnx
  if [ -e "work/$input.data" ]; then file=work/$input.data; fi
  size=$(stat -c %s "$file")
  "$AMPCONV" "work/$input.onnx" -q -o out/x.onnx "$@" 2>stderr &
  if [ "$start" = write ]; then wait_for_write; fi
  wait_for "$time"
  strike "$action" 2>/dev/null
  wait $! 2>/dev/null
  code=$?
  echo "$action $code $(judge_all "$kind"): $(cat stderr)"
}

"$AMPCONV" in.onnx -q --no-validate -d fp32 --opset 22 -o outer.onnx --external-data outer.data || echo 'not ok no model with data'
mkdir outer && "$AMPCONV" outer.onnx -q --no-validate -o outer/x.onnx --inline || echo 'not ok the model with data is not converted'
robberies=$((kills / 4)) actions=(removed moved swapped cut emptied zeroed)
for ((i = 0; i < robberies; i++)); do
  action=${actions[$((i % 6))]} start=write point=$((RANDOM << 15 | RANDOM))
  # Data that are zeros before they are read are converted as such.
  if ((RANDOM % 4 == 0 && i / 6 % 3 != 2)); then start=begin; fi
  case $((i / 6 % 3)) in
    0) rob_once alone "$action" $start $((point % (time / 3))) in --no-validate ;;
    1) rob_once pair "$action" $start $((point % (time / 3))) in --no-validate "${as_pair[@]}" ;;
    2) rob_once outer "$action" $start $((point % (time / 3))) outer --no-validate --inline ;;
  esac
done >robbed.log
refuse() {
  if grep -vE "$2" robbed.log | grep -E "^($3) " >found; then echo "not ok $1 (SEED=$seed): $(sort found | uniq -c | tr '\n' ';')"; else echo "ok $1"; fi
}
echo "# robbed $(wc -l <robbed.log) times, of which $(grep -c '^[a-z]* 2 ' robbed.log) were told and $(grep -c '^[a-z]* 3 ' robbed.log) before" \
  "all was read"
lost='([^ ]*/)?work/[a-z]*\.(onnx|data): (was cut or cannot be read any more|was changed while it was read)'
folder_lost='ampconv: out/x\.(onnx|data): (its folder was removed or moved while it was written|cannot (create|rename): No such file or directory)$'
refuse 'robbed of the folder: a message and nothing left' \
  "^[a-z]+ (2 0 none(, gone:( old)+)?: $folder_lost|0 0 (none|new)(, gone:( new)+|, gone:( old)+)?: $)" 'removed|moved|swapped'
refuse 'robbed of the input: the target is as it was' \
  "^[a-z]+ (2 0 old: ampconv: $lost$|3 0 old: ampconv: work/[a-z]*\.onnx: .*|0 0 new: $)" 'cut|emptied|zeroed'
rm -rf out gone work && mkdir out
if ((kills >= 40 && $(grep -c '^[a-z]* 2 ' robbed.log) < robberies / 8)); then echo 'not ok robbed: too few were told'; fi

# The input is cut at a certain point: while its data go into a FIFO that nobody reads. Of the first weight all is there still;
# of the second, which is copied after that into the model, nothing is.
reads_on() { # MESSAGE CUT OPTIONS...: what the program says, when it can write on after its input was cut to CUT bytes
  local message=$1 cut=$2 code
  shift 2
  cp waits.onnx work.onnx && put_old alone && rm -f out/slow && mkfifo out/slow
  "$AMPCONV" work.onnx -q --no-validate "$@" 2>stderr &
  exec 8<out/slow
  head -c 1 <&8 >/dev/null
  truncate -s "$cut" work.onnx
  cat <&8 >/dev/null
  exec 8<&-
  wait $!
  code=$?
  rm -f out/slow
  if [ "$code $(left) $(judge alone) $(cat stderr)" = "2 0 old $message" ]; then echo "ok cut while it is read: ${message#*: }"
  else echo "not ok cut while it is read: exit $code, $(left) left, $(judge alone): $(cat stderr)"; fi
}
mv in.onnx whole.onnx && : >in.onnx
add_weight v $((2 << 20))
add_weight u 60000
cat "$models/digits_cnn.onnx" >>in.onnx && mv in.onnx waits.onnx && mv whole.onnx in.onnx
reads_on 'ampconv: work.onnx: was cut or cannot be read any more' $(((2 << 20) + 8192)) -o out/x.onnx --external-data slow --external-threshold 1000000
reads_on 'ampconv: work.onnx: was changed while it was read' 4096 -o out/slow

# ---- no memory ----

# limited KIBIBYTES: converts with so much memory; as kill_once.
limited() {
  put_old alone
  (ulimit -v "$1" && exec "$AMPCONV" in.onnx -q --no-validate -o out/x.onnx 2>stderr)
  echo "limit $? $(left) $(judge alone)"
}

# The least memory that is enough; with a bit less it fails at the end, where the output is written.
if [ "${BUILD##*/}" != asan ]; then
  low=1024 high=$((8 << 20))
  while ((high - low > 512)); do
    middle=$(((low + high) / 2))
    limited $middle >state
    if grep -q ' 0 0 new' state; then high=$middle; else low=$middle; fi
  done
  for less in 1 2 3 4; do limited $((high - less * 1024)); done >starved
  if grep -vx 'limit 2 0 old' starved >found; then echo "not ok no memory: $(tr '\n' ';' <found)"; else echo "ok no memory: $(tail -n 1 stderr)"; fi
fi

# ---- full disks ----

# fill KIND BYTES OPTIONS...: converts on a disk with BYTES left, prints exit code, temporaries left, state and message.
fill() {
  local kind=$1 size=$2 code
  shift 2
  if [ "$disk" = tmpfs ]; then
    mount -o "remount,size=$size" out || echo 'not ok full disk: no other size'
    convert --no-validate -o out/x.onnx "$@" 2>stderr
  else
    (ulimit -f $((size / 1024)); convert --no-validate -o out/x.onnx "$@" 2>stderr)
  fi
  code=$?
  echo "$size $code $(left) $(judge "$kind"): $(cat stderr)"
}

# All sizes from nothing to enough.
fill_all() {
  local kind size
  mount -t tmpfs none out 2>/dev/null && disk=tmpfs || disk='a limit on file sizes, as nothing can be mounted here'
  for kind in alone pair; do
    options=()
    if [ $kind = pair ]; then options=("${as_pair[@]}"); fi
    for size in 16384 65536 131072 1048576 4000000 12000000 41900000 42100000 43000000 44000000 46000000 60000000; do
      if [ "$disk" = tmpfs ]; then mount -o remount,size=64m out; fi
      rm -f out/* out/.ampconv.*
      cp old.onnx out/x.onnx
      if [ $kind = pair ]; then cp old.data out/x.data; fi
      fill $kind $size "${options[@]}"
    done
  done >filled
  # On another disk the old ones are copies.
  sed 's/^/# /' filled >log
  echo "# disk: $disk; full for $(grep -c ' 2 0 ' filled) of $(wc -l <filled) sizes"
}

# Here the old targets are copies: they are told by what they hold.
age() {
  local kind=$1 file=$2
  if [ ! -e "out/$file" ]; then echo none
  elif cmp -s "out/$file" "old.${file#*.}"; then echo old
  elif cmp -s "out/$file" "$kind/$file"; then echo new
  else echo broken; fi
}

rm -f out/* out/.ampconv.*
enter=()
if [ "$(id -u)" -eq 0 ]; then enter=(unshare -m); else enter=(unshare -rm); fi
"${enter[@]}" true 2>/dev/null || enter=(env)
export -f fill fill_all age judge left convert
export kind=
"${enter[@]}" bash -c "$(declare -p as_pair); fill_all"
if grep -vE '^[0-9]+ (0 0 new: |2 0 old: ampconv: out/x\.(onnx|data): cannot (write|create): (No space left on device|File too large))$' filled >found; then
  echo "not ok full disk: $(tr '\n' ';' <found)"
else
  echo 'ok full disk: exit 2, the old target as it was, no temporary'
fi
for state in ' 0 0 new: ' ' 2 0 old: .*onnx' ' 2 0 old: .*data'; do
  grep -q "$state" filled || echo "not ok full disk: no size with '$state'"
done
