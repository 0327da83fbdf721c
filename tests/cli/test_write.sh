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
expect '--force overwrites it' 0 "$AMPCONV" m.onnx -q --force
expect '-o replaces' 0 "$AMPCONV" m.onnx -q -o m.bf16.onnx
expect 'outside the tolerance' 1 "$AMPCONV" m.onnx -q -o outside.onnx -t snr=200
holds 'outside the tolerance nothing is written' test ! -e outside.onnx
expect 'outside the tolerance with --force' 1 "$AMPCONV" m.onnx -q -o outside.onnx -t snr=200 --force
holds 'then it is written' test -s outside.onnx
expect 'no such folder' 2 "$AMPCONV" m.onnx -q -o none/out.onnx
expect 'a full disk' 2 "$AMPCONV" m.onnx -q -o /dev/full --no-validate
expect 'a file size limit' 2 bash -c "trap '' XFSZ; ulimit -f 8; exec '$AMPCONV' m.onnx -q -o limited.onnx --no-validate"
holds 'no temporary is left' test -z "$(find . -name '*.onnx.*')"
cp m.onnx same.onnx
expect 'onto itself' 0 "$AMPCONV" same.onnx -q -o same.onnx --no-validate
expect 'which is converted then' 0 cmp same.onnx m.bf16.onnx
"$AMPCONV" - -q -o - --no-validate <m.onnx >piped.onnx
expect 'stdout holds the model alone' 0 cmp piped.onnx m.bf16.onnx
expect 'an empty stream' 3 "$AMPCONV" - -q -o -
expect 'a folder' 2 "$AMPCONV" .
expect 'no such file' 2 "$AMPCONV" none.onnx
"$AMPCONV" m.onnx -q -o json.onnx --json report.json
for key in model output written dtype rules opset nodes reasons casts bytes validation outputs snr; do
  holds "--json has $key" grep -q "\"$key\"" report.json
done
holds '-q says nothing' test -z "$("$AMPCONV" m.onnx -q -o quiet.onnx 2>&1)"
holds '--explain names a rule by file and line' grep -q 'torch-cpu.yaml:[0-9]' <("$AMPCONV" m.onnx -q -o explain.onnx --explain)
