#!/usr/bin/env bash
# The validation of a conversion: verdicts, exit codes, whether a model is written, what is said about it.
set -u
here=$CASES/validate
models=$(cd ../../models && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

# convert CODE WRITTEN ARGS...: converts; true when it ends with CODE and has written a model, or not (yes or no).
convert() {
  local code=$1 written=$2 found
  shift 2
  rm -f out.onnx
  "$AMPCONV" "$@" -o out.onnx >stdout 2>stderr
  found=$?
  cat stderr
  [ $found = "$code" ] && [ "$([ -f out.onnx ] && echo yes || echo no)" = "$written" ] && [ ! -s stdout ]
}

# check NAME CODE WRITTEN ARGS... with the words that must be said on stdin, one line each.
check() {
  local name=$1 said line
  shift
  if ! said=$(convert "$@" 2>&1); then echo "not ok $name: $(tr '\n' ' ' <<<"$said")"; return; fi
  while read -r line; do
    grep -qF -- "$line" <<<"$said" || { echo "not ok $name: does not say '$line': $(tr '\n' ' ' <<<"$said")"; return; }
  done
  echo "ok $name"
}

digits=("$models/digits_cnn.onnx" --data "$models/digits")
for dtype in bf16 fp16; do
  check "digits in $dtype" 0 yes "${digits[@]}" -d $dtype --labels "$models/digits/labels.npy" <<'END'
top-1 100 %
99.72 % (359 of 360) in fp32, 99.72 % (359 of 360) converted
within tolerance (snr >=
END
done
check 'a bound that is not met' 1 no "${digits[@]}" -t snr=90 <<'END'
outside tolerance (snr >= 90 dB
ampconv: outside tolerance: output 'logits': snr
dB; at least 90 needed
END
check 'a bound that is not met, --accept' 1 yes "${digits[@]}" -t snr=90 --accept <<'END'
ampconv: outside tolerance: output 'logits': snr
END
check 'several bounds' 0 yes "${digits[@]}" -t snr=30 -t top1=0.99 -t max_abs=0.2 <<'END'
within tolerance (snr >= 30 dB, cosine >= 0.99, max_abs <= 0.2, top1 >= 0.99)
END
check 'float16 out of bfloat16, which is the coarser' 0 yes "$here/scores_bf16.onnx" -d fp16 <<'END'
within tolerance (snr >= 20 dB, cosine >= 0.99)
END
check 'float16 out of float32' 0 yes "$here/scores.onnx" -d fp16 <<'END'
within tolerance (snr >= 35 dB, cosine >= 0.999)
END
check 'an unknown metric' 2 no "${digits[@]}" -t sno=1 <<'END'
unknown metric 'sno'; did you mean 'snr'?
END
check 'labels of other data' 3 no "$models/digits_cnn.onnx" --labels "$models/digits/labels.npy" <<'END'
360 labels; the samples have 1 rows of scores
END
check 'random inputs' 0 yes "$models/digits_gru.onnx" --dim N=4 --samples 2 --seed 5 <<'END'
'image' float32 [4, 1, 8, 8]: random, seed 5
; 2 samples
END
check 'the worst of several outputs' 0 yes "$here/classes.onnx" --dim n=50 <<'END'
output     'scores' float32 [50, 4], the worst of 3: snr
within tolerance (snr >= 20 dB, cosine >= 0.99, differ <= 0.1)
END
check 'all outputs with -v' 0 yes "$here/classes.onnx" --dim n=50 -v <<'END'
output     'scores' float32 [50, 4]: snr
output     'class' int64 [50]: elements that differ
output     'shape' int64 [2]: elements that differ 0 %
, max rel error 0.
; 1 sample, 0.
 s converted, set-up included
END
check 'integers that differ' 1 no "$here/classes.onnx" --dim n=50000 -t differ=0 <<'END'
outside tolerance: output 'class': differ
END
check 'kept in the range of float16' 0 yes "$here/overflow.onnx" -d fp16 --op Mul=lower <<'END'
'scores': 3.968e+08 in random inputs
within tolerance
END
# Ranges of nothing leave the guards nothing to go by.
echo '{"ampconv-ranges": 1, "inputs": "22dc57e3411c66d3", "source": "none", "samples": 0, "values": {}}' >none.json
check 'beyond the range of float16' 1 no "$here/overflow.onnx" -d fp16 --op Mul=lower --ranges none.json <<'END'
outside tolerance: output 'scores': 4 of 4 elements are NaN or infinite in one model and not in the other
END
check 'within the range of bfloat16' 0 yes "$here/overflow.onnx" --op Mul=lower <<'END'
within tolerance
END
check 'NaN in both models' 1 no "$here/nan.onnx" <<'END'
reference: 4 NaN, 0 infinite, converted: 4 NaN, 0 infinite
outside tolerance: output 'scores': all elements are NaN in both models: these inputs tell nothing
END
check 'zeros in both models' 0 yes "$here/zeros.onnx" <<'END'
snr inf dB, cosine 1, max abs error 0
END
check 'selections that differ' 1 no "$here/places.onnx" --op Add=lower --op Sub=lower --seed 1 <<'END'
output 'places': differ 0.625; at most 0.1 allowed
END
check 'an operator without a kernel' 4 no "$here/mystery.onnx" <<'END'
node 'what' (example.org.Mystery): the executor has no kernel for it; --no-validate converts all the same
END
check 'an operator without a kernel, not validated' 0 yes "$here/mystery.onnx" --no-validate <<'END'
END

# The report on stdout, with what a script would ask for.
"$AMPCONV" "${digits[@]}" --labels "$models/digits/labels.npy" -o out.onnx -q --json - >report.json
for word in '"within": true' '"samples": 1' '"snr": 20.0' '"percent": 99.7222' '"rows": 360' '"nan": {' '"elements": 3600'; do
  if grep -qF -- "$word" report.json; then echo "ok JSON: $word"; else echo "not ok JSON: no $word in $(tr -d ' \n' <report.json)"; fi
done

cp "$models/digits_cnn.onnx" $'\xff.onnx'
if "$AMPCONV" $'\xff.onnx' -o out.onnx -q --json - 2>&1 | grep -qF '"model": "(not UTF-8)"'; then
  echo 'ok JSON: a path that is not UTF-8'
else
  echo 'not ok JSON: a path that is not UTF-8'
fi
