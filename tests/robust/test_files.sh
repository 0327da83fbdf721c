#!/usr/bin/env bash
# Files that cannot be read or written, in all the ways there are: a message, exit code 2 and nothing left behind; and those
# that can though they are special: links, pipes, devices, the input itself.
set -u
models=$(cd "$(dirname "$0")/../../models" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
cp "$models/digits_cnn.onnx" in.onnx
mkdir out
"$AMPCONV" in.onnx -q --no-validate -o wanted.onnx || exit 1

# check NAME CODE PATTERN COMMAND...: ok when COMMAND exits with CODE, says one line that matches PATTERN (a whole line; '' for
# nothing) and leaves nothing in out/.
check() {
  local name=$1 code=$2 pattern=$3 found said
  shift 3
  "$@" >stdout 2>stderr </dev/null
  found=$?
  said=$(cat stderr)
  if [ "$found" != "$code" ]; then echo "not ok $name: exit $found: $said"; return; fi
  if [ -z "$pattern" ] && [ -n "$said" ]; then echo "not ok $name: $said"; return; fi
  if [ -n "$pattern" ] && ! grep -qx -- "$pattern" stderr; then echo "not ok $name: $said"; return; fi
  if [ "$(wc -l <stderr)" -gt 1 ]; then echo "not ok $name: $said"; return; fi
  if [ -n "$(ls -A out)" ]; then echo "not ok $name: left behind: $(ls -A out)"; rm -rf out; mkdir out; return; fi
  echo "ok $name"
}

# same NAME FILE: ok when FILE is the converted model and nothing else is in its folder but what was there.
same() {
  if cmp -s "$2" wanted.onnx; then echo "ok $1"; else echo "not ok $1: $2 is not the converted model"; fi
}

convert() { "$AMPCONV" "$@" -q --no-validate; }

# ---- reading ----

check 'empty stdin' 3 'ampconv: stdin: the file is empty' convert -
check 'closed stdin' 2 'ampconv: stdin: cannot read: Bad file descriptor' bash -c '"$AMPCONV" - -o out/x.onnx -q <&-'
check 'a folder as the model' 2 'ampconv: out: is a directory; a regular file is needed' convert out
check 'no such model' 2 'ampconv: none.onnx: cannot open: No such file or directory' convert none.onnx -o out/x.onnx
check 'an empty name as the model' 2 'ampconv: : cannot open: No such file or directory' convert '' -o out/x.onnx
long=$(printf 'd/%.0s' $(seq 3000))x.onnx
check 'a path that is too long' 2 'ampconv: d/d/.*/d/x.onnx: cannot open: File name too long' convert "$long" -o out/x.onnx
ln -s loop.onnx loop.onnx
check 'a link to itself' 2 'ampconv: loop.onnx: cannot open: Too many levels of symbolic links' convert loop.onnx -o out/x.onnx
# Root may do all, so that root does this as nobody.
chmod 755 . && cp in.onnx secret.onnx && chmod 000 secret.onnx && mkdir closed && cp in.onnx closed/x.onnx && chmod 555 closed
chmod 644 in.onnx && chmod 777 out
limited() { "$AMPCONV" "$@" -q --no-validate; }
if [ "$(id -u)" -eq 0 ]; then limited() { setpriv --reuid=65534 --regid=65534 --clear-groups "$AMPCONV" "$@" -q --no-validate; }; fi
if limited in.onnx -o /dev/null 2>stderr; then
  check 'an unreadable model' 2 'ampconv: secret.onnx: cannot open: Permission denied' limited secret.onnx -o out/x.onnx
  check 'a folder without permission' 2 'ampconv: closed/x.onnx: cannot create: Permission denied' limited in.onnx -o closed/x.onnx
  mkdir -m 777 open && mkdir -m 555 open/closed
  check 'data in a folder without permission' 2 'ampconv: open/closed/x.data: cannot create: Permission denied' \
    limited in.onnx -o open/x.onnx --external-data closed/x.data
  if [ "$(ls -A open)" = closed ]; then echo 'ok then there is no model either'; else echo "not ok then there is no model either: $(ls -A open)"; fi
  # The folder allows nothing any more while the model waits to be read.
  mkfifo -m 666 open/slow
  limited in.onnx -o open/slow --external-data x.data --external-threshold 100 2>stderr &
  until [ -n "$(find open -name '.ampconv.*')" ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
  chmod 555 open
  timeout 60 cat open/slow >/dev/null
  wait $!
  code=$?
  if [ $code -eq 2 ] && [ "$(cat stderr)" = 'ampconv: open/x.data: cannot rename: Permission denied' ] && [ ! -e open/x.data ] &&
    [ -z "$(find open -type f -size +0)" ]; then
    echo 'ok a folder that loses its permission'
  else
    echo "not ok a folder that loses its permission: exit $code: $(cat stderr): $(ls -lA open)"
  fi
  check 'a report without permission' 2 'ampconv: closed/r.json: cannot create: Permission denied' limited in.onnx -o /dev/null --json closed/r.json
  if cmp -s closed/x.onnx in.onnx; then echo 'ok what is there without permission stays'; else echo 'not ok what is there without permission changed'; fi
else
  echo "# not tested: a user without permissions ($(cat stderr))"
fi
ln -s in.onnx model_link.onnx
convert model_link.onnx -o linked.onnx && same 'a link as the model' linked.onnx
convert model_link.onnx && same 'the default output lies beside the link' model_link.bf16.onnx
mkfifo model_pipe
cat in.onnx >model_pipe &
convert model_pipe -o piped.onnx && same 'a pipe as the model' piped.onnx
convert <(cat in.onnx) -o piped.onnx && same 'a process as the model' piped.onnx

# ---- writing ----

check 'no such folder' 2 'ampconv: none/x.onnx: cannot create: No such file or directory' convert in.onnx -o none/x.onnx
check 'a file as a folder' 2 'ampconv: in.onnx/x: cannot create: Not a directory' convert in.onnx -o in.onnx/x
check 'a folder as the output' 2 'ampconv: out: cannot create: Is a directory' convert in.onnx -o out
check 'an empty name as the output' 2 'ampconv: : cannot create: No such file or directory' convert in.onnx -o ''
check 'a full disk' 2 'ampconv: /dev/full: cannot write: No space left on device' convert in.onnx -o /dev/full
check 'a full disk behind stdout' 2 'ampconv: stdout: cannot write: No space left on device' bash -c '"$AMPCONV" in.onnx -q -o - >/dev/full'
check 'closed stdout' 2 'ampconv: stdout: cannot write: Bad file descriptor' bash -c '"$AMPCONV" in.onnx -q -o - >&-'
check 'a limit on file sizes' 2 'ampconv: out/x.onnx: cannot write: File too large' bash -c 'ulimit -f 8; "$AMPCONV" in.onnx -q -o out/x.onnx'
check 'a full disk for the report' 2 'ampconv: /dev/full: cannot write: No space left on device' convert in.onnx -o /dev/null --json=/dev/full
check 'no folder for the report' 2 'ampconv: none/r.json: cannot create: No such file or directory' convert in.onnx -o /dev/null --json none/r.json
check 'a name that is too long' 2 'ampconv: n\{300\}: cannot \(create\|rename\): File name too long' convert in.onnx -o "$(printf 'n%.0s' $(seq 300))"
check 'a device as the output' 0 '' convert in.onnx -o /dev/null
name=$(printf 'n%.0s' $(seq 255))
convert in.onnx -o "$name" && same 'a name as long as they can be' "$name"
cp in.onnx itself.onnx
check 'the model as its own output' 2 'ampconv: itself.onnx is the input and would be lost; use --force, or another name' convert itself.onnx -o itself.onnx
check 'the model as its own output, forced' 0 '' convert itself.onnx -o itself.onnx --force
same 'the model as its own output' itself.onnx
mkfifo pipe && { timeout 60 cat pipe >from_pipe & convert in.onnx -o pipe; wait $!; } && same 'a pipe as the output' from_pipe
"$AMPCONV" in.onnx -o unheard.onnx --explain >&- 2>&- <&-
same 'reports that nobody hears stay out of the model' unheard.onnx

# ---- the input and its data ----

mkdir split && "$AMPCONV" in.onnx -q --dtype fp32 --opset 22 -o split/m.onnx --external-data m.data --external-threshold 100
before=$(cat split/m.onnx split/m.data | sha256sum)
stays() {
  if [ "$(cat split/m.onnx split/m.data | sha256sum)" = "$before" ]; then echo "ok $1"; else echo "not ok $1: the input changed"; fi
}
lost() { echo "ampconv: $1 is part of the input and would be lost; another name is needed"; }
check 'the data of the input as the output' 2 "$(lost split/m.data)" convert split/m.onnx -o split/m.data
check 'the data of the input as new data' 2 "$(lost split/m.data)" convert split/m.onnx -o split/n.onnx --external-data m.data
ln -s m.data split/data_link
check 'the data of the input, through a link' 2 "$(lost split/data_link)" convert split/m.onnx -o split/n.onnx --external-data data_link
check 'the input as the output' 2 'ampconv: split/m.onnx is the input and would be lost; use --force, or another name' convert split/m.onnx -o split/m.onnx --external-data n.data
check 'the input as new data' 2 "$(lost split/m.onnx)" convert split/m.onnx -o split/n.onnx --external-data m.onnx
check 'the model as its own data' 2 'ampconv: --external-data n.onnx: that is the model itself' convert split/m.onnx -o split/n.onnx --external-data n.onnx
check 'the model as its own report' 2 'ampconv: --json out/x.onnx: that is the model itself' convert in.onnx -o out/x.onnx --json=out/x.onnx
for name in a/../../x ../x a/b/../../../x; do
  check "data outside the folder of the model: $name" 2 "ampconv: --external-data $name: a name relative to the output's folder is needed" \
    convert in.onnx -o split/n.onnx --external-data $name
done
stays 'an input whose data would be lost stays'
"$AMPCONV" split/m.onnx -q --no-validate -o split/n.onnx --external-data n.data --external-threshold 100
"$AMPCONV" split/m.onnx -q --no-validate -o split/m.onnx --external-data m.data --external-threshold 100 --force
if cmp -s split/m.data split/n.data && [ "$(stat -c %s split/m.onnx)" = "$(stat -c %s split/n.onnx)" ]; then
  echo 'ok the input and its data as the output'
else
  echo 'not ok the input and its data as the output'
fi

# Data of a page or more begin on a page, others where vectors do. Protobuf merges messages in a row: tensors are added by that.
varint() {
  local n=$1
  while [ "$n" -gt 127 ]; do printf "\\x$(printf %x $((n & 127 | 128)))"; n=$((n >> 7)); done
  printf "\\x$(printf %x "$n")"
}
field() { varint $(($1 << 3 | 2)); varint "$(stat -c %s "$2")"; cat "$2"; }
cp in.onnx sized.onnx
for size in 600 4096 700 4095 70000; do
  { printf '\x08'; varint $size; printf '\x10\x02\x42'; varint ${#size}; printf '%s\x4a' $size; varint $size; head -c $size /dev/zero; } >tensor
  field 5 tensor >graph
  field 7 graph >>sized.onnx
done
convert sized.onnx -o split/sized.onnx --external-data sized.data --external-threshold 100
# "LENGTH OFFSET" of each tensor in the file.
LC_ALL=C tr -c '0-9a-z' '\n' <split/sized.onnx | awk '/^offset$/ { getline; while ($0 == "") getline; at = $0 + 0 }
  /^length$/ { getline; while ($0 == "") getline; print $0 + 0, at }' >places
if [ "$(head -n 5 places | awk '{ print $1 }' | tr '\n' ' ')" = '600 4096 700 4095 70000 ' ] &&
  awk '{ exit_code += $2 % ($1 < 4096 ? 64 : 4096) != 0; end = $2 + $1 } END { exit exit_code > 0 }' places &&
  [ "$(awk '$2 % 4096 != 0' places | wc -l)" -ge 2 ]; then
  echo 'ok where data begin'
else
  echo "not ok where data begin: $(tr '\n' ';' <places)"
fi

# ---- links ----

# A link stays a link; what it leads to is replaced, or made.
mkdir far && cp in.onnx far/old.onnx && ln -s far/old.onnx far_link && ln -s far_link link
convert in.onnx -o link && same 'a link as the output' far/old.onnx
if [ -L link ] && [ -L far_link ]; then echo 'ok links stay'; else echo 'not ok links stay'; fi
ln -s far/new.onnx new_link && convert in.onnx -o new_link && same 'a link to what is not there yet' far/new.onnx
check 'a link in a circle as the output' 2 'ampconv: loop.onnx: cannot create: Too many levels of symbolic links' convert in.onnx -o loop.onnx
chmod 640 far/old.onnx && convert in.onnx -o far/old.onnx
if [ "$(stat -c %a far/old.onnx)" = 640 ]; then echo 'ok permissions stay'; else echo 'not ok permissions stay'; fi
