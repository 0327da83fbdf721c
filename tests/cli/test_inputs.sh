#!/usr/bin/env bash
# The inputs of a validation: random ones by seed, number and sizes; from files; from folders.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
cp "$CASES/convert/fp32_between/model.onnx" m.onnx
cp "$CASES/convert/fill_folded/model.onnx" rnn.onnx
cp -r "$CASES/convert/fill_folded/data" rnn
cp "$root/models/digits_cnn.onnx" digits.onnx

# check NAME EXIT PATTERN WORDS...: what the conversion says holds the pattern (a regular expression)
check() {
  local name=$1 wanted=$2 pattern=$3 code
  shift 3
  "$AMPCONV" "$@" -o out.onnx >said 2>&1
  code=$?
  if [ $code -eq "$wanted" ] && grep -qE -- "$pattern" said; then echo "ok $name"; else echo "not ok $name: exit $code: $(cat said)"; fi
}
figures() { grep '^  output' said; }

check 'random' 0 "^  input      'x' float32 \[2, 4\]: random, seed 0\$" m.onnx
first=$(figures)
check 'seed 0' 0 'within tolerance' m.onnx --seed 0
if [ "$(figures)" = "$first" ]; then echo 'ok the same figures'; else echo "not ok the same figures: $first $(figures)"; fi
check 'another seed' 0 "'x' float32 \[2, 4\]: random, seed 7\$" m.onnx --seed 7
if [ "$(figures)" != "$first" ]; then echo 'ok other figures'; else echo "not ok other figures: $first"; fi
check 'samples' 0 '; 3 samples' m.onnx --samples 3
check 'threads' 0 'within tolerance' m.onnx --threads 1
check 'files' 0 "'x' float32 \[3, 2, 4\]: rnn/input_0.pb\$" rnn.onnx -v --input s=rnn/input_1.pb --input x=rnn/input_0.pb
check 'sizes of symbolic dims' 0 "'image' float32 \[3, 1, 8, 8\]: random, seed 0\$" digits.onnx --dim N=3
check 'a size of 0' 0 "'image' float32 \[0, 1, 8, 8\]: random, seed 0\$" digits.onnx --dim N=0
check 'a size below 0' 2 '^ampconv: --dim N=-1: a number of 0 or more is needed$' digits.onnx --dim N=-1
check 'a size of 64 bits and more' 2 '^ampconv: --dim N=9223372036854775808: a number of 0 or more is needed$' \
  digits.onnx --dim N=9223372036854775808
check 'a folder of files' 0 "'x' float32 \[3, 2, 4\]: rnn\$" rnn.onnx -v --data rnn
mkdir -p sets/test_data_set_0 sets/test_data_set_1 && cp rnn/*.pb sets/test_data_set_0 && cp rnn/*.pb sets/test_data_set_1
check 'a folder of samples' 0 '; 2 samples' rnn.onnx --data sets
check 'fewer of them' 0 '; 1 sample$' rnn.onnx --data sets --samples 1
check 'more than there are' 0 '; 2 samples' rnn.onnx --data sets --samples 5
check 'one file for two inputs' 2 "no --input for 's'; give all inputs or none\$" rnn.onnx -i x=rnn/input_0.pb
cp rnn/input_1.pb s.pb
check 'a file of another type' 3 "input 'x'" rnn.onnx -i x=s.pb -i s=s.pb
check 'a file of another shape' 3 "input 'x'" m.onnx -i x=rnn/input_0.pb
check 'a tolerance that is met' 0 'within tolerance .*max_abs <= 1' m.onnx -t max_abs=1
check 'a tolerance that is not met' 1 "^ampconv: outside tolerance: output 'y': max_abs " m.onnx -t max_abs=0
check 'the last of two tolerances' 0 'within tolerance' m.onnx -t max_abs=0 -t max_abs=1

# npy FILE TYPE BYTES: two elements (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
npy() {
  printf "\\x93NUMPY\\1\\0\\x76\\0%-117s\\n" "{'descr': '$2', 'fortran_order': False, 'shape': (2,), }" >"$1"
  printf "$3" >>"$1"
}
# y = Neg(n) of two int64.
. "$root/tests/bytes.sh"
two=$(field 1 "0807$(field 2 "$(field 1 0802)")")
write ints.onnx "0808$(field 7 "$(field 1 "$(node Neg n y)")$(value 11 n "$two")$(value 12 y "$two")")$(field 8 100d)"
npy most.npy '<u8' '\xff\xff\xff\xff\xff\xff\xff\x7f\1\0\0\0\0\0\0\0'
npy more.npy '<u8' '\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80'
check 'the greatest int64 as uint64' 0 "'n' int64 \\[2\\]: most.npy\$" -v ints.onnx -i n=most.npy
check 'one more' 3 "^ampconv: input 'n': element 1, 9.2233720368547758e.18, does not fit into int64\$" ints.onnx -i n=more.npy

# Where a model does not run with sizes of 1, every command that makes samples finds others.
cp "$CASES/run/dims_found/model.onnx" pool.onnx
found="^  dims       height = 4, width = 4: found, the model does not run with 1\$"
check 'sizes found to convert' 0 "$found" pool.onnx
check 'sizes found to tune' 0 "$found" pool.onnx --tune
finds() {
  local name=$1
  shift
  if "$AMPCONV" "$@" >said 2>&1; then echo "ok sizes found to $name"; else echo "not ok sizes found to $name: $(cat said)"; fi
}
finds compare compare pool.onnx -d bf16
finds bench bench pool.onnx --runs 1
finds calibrate calibrate pool.onnx -o ranges.json
finds 'explain noise' pool.onnx --explain=noise -o out.onnx

check 'a verdict on random inputs' 1 "; on random inputs: --data runs real ones\$" m.onnx -t max_abs=0
check 'a verdict on data' 1 "max_abs [^;]*; at most 0 allowed\$" rnn.onnx --data rnn -t max_abs=0
"$AMPCONV" run "$CASES/run/kinds_of_text/model.onnx" -q --json said.json
if said=$(tr -d ' \n' <said.json) && [[ $said == *'"shape":[1,3],"kind":"indices","low":0.0,"high":6.0}'*'"kind":"positions","low":0.0,"high":1.0}'* ]]
then echo 'ok kinds as JSON'; else echo "not ok kinds as JSON: $said"; fi
