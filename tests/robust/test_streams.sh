#!/usr/bin/env bash
# Inputs that never end and those that are no files: a model may be a stream, by any name, within its budget; all other data are
# regular files, which nothing waits for. A stream has no folder: its external data lie in the current one.
# Takes long.
set -u
models=$(cd "$(dirname "$0")/../../models" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# check NAME CODE MESSAGE COMMAND...: ok when COMMAND exits with CODE, and soon, and says that ('': nothing).
check() {
  local name=$1 code=$2 message=$3 found said
  shift 3
  "$@" >stdout 2>stderr
  found=$?
  said=$(cat stderr)
  if [ "$found" != "$code" ]; then echo "not ok $name: exit $found: $said"
  elif [ "$said" != "$message" ]; then echo "not ok $name: $said"
  else echo "ok $name"; fi
}
amp() { timeout 60 "$AMPCONV" "$@"; }

# ---- streams without an end ----

# A model whose producer's name never ends.
endless() { printf '\x08\x08\x12\xff\xff\xff\xff\x06'; cat /dev/zero 2>/dev/null; }
full='out of memory: the stream takes 5.2 MB; 0 bytes of 5.0 MB are in use'
nothing='not a valid protobuf message: a wrong field number or type at byte 0'
for command in '' run bench; do
  for path in - /dev/stdin /dev/fd/0 /proc/self/fd/0; do
    label=${path/#-/stdin}
    check "endless: $command $path" 2 "ampconv: $label: $full" amp $command $path --max-memory 5M < <(endless)
    check "zeros: $command $path" 3 "ampconv: $label: $nothing" amp $command $path </dev/zero
    check "zeros in a pipe: $command $path" 3 "ampconv: $label: $nothing" amp $command $path < <(cat /dev/zero)
  done
  check "zeros: $command /dev/zero" 3 "ampconv: /dev/zero: $nothing" amp $command /dev/zero
  exec 7< <(endless)
  check "endless: $command /dev/fd/7" 2 "ampconv: /dev/fd/7: $full" amp $command /dev/fd/7 --max-memory 5M
  exec 7<&-
  rm -f pipe && mkfifo pipe
  endless >pipe &
  check "endless: $command in a FIFO" 2 "ampconv: ./pipe: $full" amp $command ./pipe --max-memory 5M
  wait
done
check 'a list of operators that never ends' 2 'ampconv: stdin: more than 1.0 MB; a stream of at most that is read' \
  amp "$models/digits_cnn.onnx" --no-validate --list --lower-ops - </dev/zero

# ---- the folder of a stream ----

# x + w, where w has 16 bytes in a file of four letters.
model_with() {
  printf '\x08\x08\x3a\x6d\x0a\x0e\x0a\x01x\x0a\x01w\x12\x01y\x22\x03Add\x12\x01g\x2a\x36\x08\x04\x10\x01\x42\x01w'
  printf '\x6a\x10\x0a\x08location\x12\x04%s\x6a\x0b\x0a\x06offset\x12\x010\x6a\x0c\x0a\x06length\x12\x0216\x70\x01' "$1"
  printf '\x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x04'
  printf '\x62\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x04\x42\x04\x0a\x00\x10\x11'
}
head -c 16 /dev/zero >data
mkdir far && model_with data >far/data.onnx && model_with zero >far/zero.onnx
away="initializer 'w': external data file './zero': No such file or directory"
for path in - /dev/stdin /dev/fd/0 /proc/self/fd/0; do
  label=${path/#-/stdin}
  check "data of a stream: $path" 0 '' amp run $path -q < <(cat far/data.onnx)
  check "data of a file as stdin: $path" 0 '' amp run $path -q <far/data.onnx
  check "no data in /dev: $path" 3 "ampconv: $label: $away" amp run $path < <(cat far/zero.onnx)
  check "no data in /dev, of a file: $path" 3 "ampconv: $label: $away" amp run $path <far/zero.onnx
done
exec 7< <(cat far/data.onnx)
check 'data of a stream: /dev/fd/7' 0 '' amp run /dev/fd/7 -q
exec 7<&-
mkfifo far/pipe
cat far/data.onnx >far/pipe &
check 'data of a FIFO elsewhere' 0 '' amp run far/pipe -q
wait
check 'a file has its own folder' 3 "ampconv: far/data.onnx: initializer 'w': external data file 'far/data': No such file or directory" \
  amp run far/data.onnx
mkdir near near2 && cp far/data.onnx near/m.onnx && cp data near2/data && ln -s ../near2/data near/data
check 'a link to a folder whose name begins alike' 3 \
  "ampconv: near/m.onnx: initializer 'w': external data location 'data' lies outside the model's folder" amp run near/m.onnx
# A stream has no name to make another from either.
amp "$models/digits_cnn.onnx" -q --no-validate -o wanted.onnx
for path in - /dev/stdin /proc/self/fd/0; do
  amp $path -q --no-validate <"$models/digits_cnn.onnx" >out.onnx 2>stderr
  if cmp -s out.onnx wanted.onnx; then echo "ok to stdout: $path"; else echo "not ok to stdout: $path: $(cat stderr)"; fi
done

# ---- data are regular files ----

model_with fifo >fifo.onnx && mkfifo fifo
model_with null >null.onnx && ln -s /dev/null null
model_with dirs >dirs.onnx && mkdir dirs
for path in a.npy a.pb a.yaml a.txt a.npz; do mkfifo $path && ln -s /dev/zero zero.${path#a.} && mkdir folder.${path#a.}; done
model_with data >m.onnx
fifo='is a FIFO; a regular file is needed' device='is a device; a regular file is needed'
folder='is a directory; a regular file is needed'
check 'a FIFO as external data' 2 "ampconv: fifo.onnx: initializer 'w': $PWD/fifo: $fifo" amp run fifo.onnx
check 'a folder as external data' 2 "ampconv: dirs.onnx: initializer 'w': $PWD/dirs: $folder" amp run dirs.onnx
check 'a device as external data' 3 "ampconv: null.onnx: initializer 'w': external data location 'null' lies outside the model's folder" \
  amp run null.onnx
for kind in a: zero: folder:; do
  stem=${kind%:}
  case $stem in a) what=$fifo ;; zero) what=$device ;; *) what=$folder ;; esac
  check "$stem as a rule file" 2 "ampconv: $stem.yaml: $what" amp m.onnx --list -r $stem.yaml
  printf 'version: 1\nname: x\nextends: [%s.yaml]\nrules: []\n' $stem >extends.yaml
  place=$'\n'"extends: [$stem.yaml]"$'\n          ^'
  check "$stem as a base" 3 "ampconv: extends.yaml:3:11: $stem.yaml: $what$place" amp m.onnx --list -r extends.yaml
  check "$stem as a rule file to show" 2 "ampconv: ./$stem.yaml: $what" amp rules ./$stem.yaml
  check "$stem as a list of operators" 2 "ampconv: $stem.txt: $what" amp m.onnx --list --lower-ops $stem.txt
  check "$stem as a list of others" 2 "ampconv: $stem.txt: $what" amp m.onnx --list --fp32-ops $stem.txt
  check "$stem as a list from outside" 2 "ampconv: AMPCONV_FP32_OPS_LIST: $stem.txt: $what" env AMPCONV_FP32_OPS_LIST=$stem.txt timeout 60 "$AMPCONV" m.onnx --list
  check "$stem as labels" 2 "ampconv: $stem.npy: $what" amp run m.onnx -q --labels $stem.npy
  check "$stem as labels of a conversion" 2 "ampconv: $stem.npy: $what" amp m.onnx -q -o o.onnx --labels $stem.npy
  check "$stem as a .npy input" 2 "ampconv: $stem.npy: $what" amp run m.onnx -q -i x=$stem.npy
  check "$stem as a .pb input" 2 "ampconv: $stem.pb: $what" amp bench m.onnx -q -i x=$stem.pb
  rm -rf samples && mkdir -p samples/zip samples/set/test_data_set_0 samples/suite/case samples/named
  mv $stem.npz samples/zip/s.npz && mv $stem.pb samples/set/test_data_set_0/input_0.pb && mv $stem.npy samples/named/y.npy
  check "$stem as a .npz sample" 2 "ampconv: samples/zip/s.npz: $what" amp run m.onnx -q --data samples/zip
  check "$stem as a sample" 2 "ampconv: samples/set/test_data_set_0/input_0.pb: $what" amp run m.onnx -q --data samples/set
  check "$stem as what is expected" 2 "ampconv: samples/named/y.npy: $what" amp run m.onnx -q --expect samples/named
  mv $stem.txt samples/suite/case/model.onnx
  check "$stem as a model of a suite" 1 'ampconv: 1 of 1 cases failed' amp run -q --test-suite samples/suite
  if grep -qx "1 failed: .*" <(amp run --test-suite samples/suite 2>&1 | sed 's/^ *//'); then echo "ok $stem is told"; else echo "not ok $stem is told"; fi
done
check 'a process as a rule file' 2 "ampconv: /dev/fd/7: $fifo" amp m.onnx --list -r /dev/fd/7 7< <(cat /dev/zero)
check 'stdin as an input' 3 'ampconv: -: not a .npy or .pb file' amp run m.onnx -q -i x=- </dev/zero
check 'stdin as an input by name' 3 'ampconv: /dev/stdin: not a .npy or .pb file' amp run m.onnx -q -i x=/dev/stdin </dev/zero
