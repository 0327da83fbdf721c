#!/usr/bin/env bash
# What is written and what is not: the default name, --force, tolerance, failures that must leave nothing behind.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cp "$root/models/digits_cnn.onnx" "$scratch/m.onnx"
cd "$scratch" || exit 2

expect() { # NAME EXIT: the rest is run, quietly
  local name=$1 wanted=$2 said code
  shift 2
  said=$("$@" 2>&1 </dev/null)
  code=$?
  if [ $code -eq "$wanted" ]; then echo "ok $name"; else echo "not ok $name: exit $code, $wanted expected: $said"; fi
}
holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@"; then echo "ok $name"; else echo "not ok $name: $(ls -la)"; fi
}

expect 'default name' 0 "$AMPCONV" m.onnx -q
holds 'default name is NAME.DTYPE.onnx' test -s m.bf16.onnx
expect 'an existing file is kept' 2 "$AMPCONV" m.onnx -q
mkdir links && ln -s nowhere.onnx links/m.bf16.onnx && cp m.onnx links/m.onnx
expect 'a link that leads nowhere is kept' 2 "$AMPCONV" links/m.onnx -q
holds 'and not followed' test ! -e links/nowhere.onnx
said=$("$AMPCONV" links/m.onnx -q --no-validate 2>&1)
holds 'and named' test "$said" = 'ampconv: links/m.bf16.onnx exists; use --force, or -o to name an output'
expect '--force follows it' 0 "$AMPCONV" links/m.onnx -q --no-validate --force
holds 'and leaves it' test -L links/m.bf16.onnx -a -s links/nowhere.onnx
expect '--force overwrites it' 0 "$AMPCONV" m.onnx -q --force
expect '-o replaces' 0 "$AMPCONV" m.onnx -q -o m.bf16.onnx
expect 'outside the tolerance' 1 "$AMPCONV" m.onnx -q -o outside.onnx -t snr=200
holds 'outside the tolerance nothing is written' test ! -e outside.onnx
expect 'outside the tolerance with --force' 1 "$AMPCONV" m.onnx -q -o outside.onnx -t snr=200 --force
holds 'then it is written' test -s outside.onnx
expect 'no such folder' 2 "$AMPCONV" m.onnx -q -o none/out.onnx
expect 'a full disk' 2 "$AMPCONV" m.onnx -q -o /dev/full --no-validate
expect 'a file size limit' 2 bash -c "ulimit -f 8; exec '$AMPCONV' m.onnx -q -o limited.onnx --no-validate"
expect 'a file size limit for stdout' 2 bash -c "ulimit -f 8; exec '$AMPCONV' m.onnx -q -o - --no-validate >limited.onnx"
rm -f limited.onnx
holds 'no temporary is left' test -z "$(find . -name '*.onnx.*')"
mkdir closed && chmod 555 closed
if [ ! -w closed ]; then expect 'a folder that cannot be written' 2 "$AMPCONV" m.onnx -q -o closed/out.onnx --no-validate; fi

# Whoever has the old file open keeps it whole: the new one is another file, with the permissions of the old one.
cp m.onnx replaced.onnx && chmod 640 replaced.onnx && exec 3<replaced.onnx
inode=$(stat -c %i replaced.onnx)
expect '-o replaces in one step' 0 "$AMPCONV" m.onnx -q -o replaced.onnx --no-validate
holds 'by another file' test "$inode" != "$(stat -c %i replaced.onnx)"
holds 'with its permissions' test "$(stat -c %a replaced.onnx)" = 640
expect 'the old one is still what it was' 0 cmp m.onnx /dev/fd/3
exec 3<&-
expect 'a failure keeps the old file' 1 "$AMPCONV" m.onnx -q -o replaced.onnx -t snr=200
expect 'as it was' 0 cmp replaced.onnx m.bf16.onnx
(umask 027 && "$AMPCONV" m.onnx -q -o masked.onnx --no-validate)
holds 'a new file follows the umask' test "$(stat -c %a masked.onnx)" = 640
mkfifo pipe && (timeout 60 cat pipe >from_pipe.onnx 2>/dev/null &) && expect 'into a FIFO' 0 "$AMPCONV" m.onnx -q -o pipe --no-validate
holds 'which stays one' test -p pipe

# Model bytes do not go to a terminal.
if command -v script >/dev/null; then
  refuses() { ! script -qec "$1" /dev/null </dev/null >typescript && grep -q 'the model is not written to a terminal' typescript; }
  holds 'no model to a terminal by -o -' refuses "'$AMPCONV' m.onnx -o -"
  holds 'no model to a terminal by default' refuses "'$AMPCONV' - <m.onnx"
fi

cp m.onnx same.onnx
expect 'onto itself' 0 "$AMPCONV" same.onnx -q -o same.onnx --no-validate
expect 'which is converted then' 0 cmp same.onnx m.bf16.onnx
"$AMPCONV" - -q -o - --no-validate <m.onnx >piped.onnx
expect 'stdout holds the model alone' 0 cmp piped.onnx m.bf16.onnx
expect 'an empty stream' 3 "$AMPCONV" - -q -o -
expect 'a folder' 2 "$AMPCONV" .
expect 'no such file' 2 "$AMPCONV" none.onnx
