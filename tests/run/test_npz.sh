#!/usr/bin/env bash
# .npz files that are not what they were when they were written: each a message with the file and the array.
set -u
here=$CASES/run
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
cp "$here/data_npz/model.onnx" m.onnx

# refused NAME MESSAGE WORDS...: ok when the program reads data/a.npz, made by stdin, and exits with 3 and MESSAGE.
refused() {
  local name=$1 message=$2 code
  shift 2
  mkdir -p data && cat >data/a.npz
  "$AMPCONV" run m.onnx -q "$@" 2>stderr
  code=$?
  if [ $code -eq 3 ] && [ "$(cat stderr)" = "ampconv: data/a.npz: $message" ]; then echo "ok $name"
  else echo "not ok $name: exit $code: $(cat stderr)"; fi
}
# The file with a text replaced by one of the same length.
changed() { LC_ALL=C sed "s/$1/$2/g" "$here/data_npz/data/a.npz"; }

changed 'y\.npy' x.npy | refused 'an array that is there twice' "array 'x' is there twice" --data data
changed 'x\.npy' y.npy | refused 'an output that is there twice' "array 'y' is there twice" --expect data
changed 'x\.npy' z.npy | refused 'an array of another name' "array 'z' is no input or output of the model" --data data
changed '(1, 3)' '(3, 1)' | refused 'an array with another shape' "array 'x': cannot be read: CRC error" --data data
changed '(1, 3)' '(1, 2)' | refused 'more data than the shape has' "array 'x': 12 bytes of data; float32 [1, 2] has 8" --data data
changed '(1, 3)' '(9, 3)' | refused 'less data than the shape has' "array 'x': .npy file is truncated: 12 bytes of data, 108 needed" --data data
changed . . | head -c 200 | refused 'a cut file' 'not a .npz file (a zip of .npy files)' --data data
refused 'an empty file' 'not a .npz file (a zip of .npy files)' --data data </dev/null
