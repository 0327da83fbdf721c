#!/usr/bin/env bash
# `ampconv run --test-suite`: counts, reasons, exit codes.
set -u
here=$CASES/run
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# add SUITE NAME CASE: a backend test out of a case that has samples in data/.
add() {
  mkdir -p "$scratch/$1/$2"
  cp "$here/$3/model.onnx" "$scratch/$1/$2/"
  if [ -d "$here/$3/data" ]; then cp -r "$here/$3/data/." "$scratch/$1/$2/"; fi
}

# check NAME SUITE EXIT [WORD...]: runs SUITE, compares what it says with the text on stdin.
check() {
  local name=$1 suite=$2 code=$3 said
  shift 3
  said=$(cd "$scratch" && "$AMPCONV" run --test-suite "$suite" "$@" 2>&1; echo "exit $?")
  if diff <(cat; echo "exit $code") - <<<"$said" >"$scratch/diff"; then
    echo "ok $name"
  else
    echo "not ok $name: $(cat "$scratch/diff")"
  fi
}

add good one data_sets
add good two data_constants
add mixed good data_sets
add mixed bad data_mismatch
add mixed lacking unknown_op
add lacking lacking unknown_op
add untyped untyped declared_other
for name in cut bare surplus short good lacking; do add broken $name data_sets; done
head -c 40 "$here/data_sets/model.onnx" >"$scratch/broken/cut/model.onnx"
cp "$here/unknown_op/model.onnx" "$scratch/broken/lacking/"
rm -r "$scratch"/broken/bare/test_data_set_*
rm "$scratch"/broken/surplus/test_data_set_*/output_0.pb
rm "$scratch"/broken/short/test_data_set_1/input_0.pb
for name in cut good; do add ties $name data_sets; done
cp "$scratch/broken/cut/model.onnx" "$scratch/ties/cut/"
add ties differs data_mismatch
add broken differs data_mismatch
add broken differs_too data_mismatch
echo 'no case' >"$scratch/mixed/readme"
mkdir -p "$scratch/mixed/empty" "$scratch/none"
cp "$here/data_sets/data/test_data_set_0/input_0.pb" "$scratch/mixed/lacking/"
cp "$here/data_sets/data/test_data_set_0/input_0.pb" "$scratch/lacking/lacking/"

check 'all pass' good 0 <<'END'
2 passed, 0 failed, 0 skipped
END
check 'each case with -v' good 0 -v <<'END'
passed one
passed two
2 passed, 0 failed, 0 skipped
END
check 'a failure and a skipped case' mixed 1 <<'END'
failed bad: output 'y': 3 of 3 elements differ; the worst is element [0, 0]: 8, expected 2
skipped lacking: mixed/lacking/model.onnx: node 'what' (example.org.Mystery): the executor has no kernel for it
1 passed, 1 failed, 1 skipped
     1 failed: outputs are not as expected
     1 skipped: no kernel for example.org.Mystery
ampconv: 1 of 3 cases failed
END
check 'a filter' mixed 0 --filter 'g*' <<'END'
1 passed, 0 failed, 0 skipped
END
check 'a wider tolerance' mixed 0 --filter bad -t atol=6 <<'END'
1 passed, 0 failed, 0 skipped
END
check 'a metric as tolerance' mixed 1 --filter bad -t max_abs=5 <<'END'
failed bad: output 'y': max_abs 6; at most 5 allowed
0 passed, 1 failed, 0 skipped
     1 failed: outputs are not as expected
ampconv: 1 of 1 cases failed
END
check 'a model that cannot be inferred' untyped 1 <<'END'
failed untyped: untyped/untyped/model.onnx: graph output 'y' is declared as int64, but its operator gives float32
0 passed, 1 failed, 0 skipped
     1 failed: the model is wrong
ampconv: 1 of 1 cases failed
END
check 'nothing could run' lacking 4 -q <<'END'
0 passed, 0 failed, 1 skipped
     1 skipped: no kernel for example.org.Mystery
ampconv: all 1 cases were skipped
END
check 'no cases' none 2 <<'END'
ampconv: none: no test case: no such folder with a model.onnx
END
check 'no folder' nowhere 2 <<'END'
ampconv: nowhere: cannot read the folder: No such file or directory
END
check 'what cannot be tested' broken 1 <<'END'
failed bare: broken/bare: no samples; test_data_set_N folders, input_K.pb or .npz files are read
failed cut: broken/cut/model.onnx: truncated: field 7 of ModelProto at byte 3 has 73 bytes, but 36 follow
failed differs: output 'y': 3 of 3 elements differ; the worst is element [0, 0]: 8, expected 2
failed differs_too: output 'y': 3 of 3 elements differ; the worst is element [0, 0]: 8, expected 2
skipped lacking: broken/lacking/model.onnx: node 'what' (example.org.Mystery): the executor has no kernel for it
failed short: broken/short/test_data_set_1: no input 'x'
failed surplus: broken/surplus/test_data_set_0: no expected outputs
1 passed, 6 failed, 1 skipped
     3 failed: test data are missing or cannot be read
     2 failed: outputs are not as expected
     1 failed: the model cannot be read
     1 skipped: no kernel for example.org.Mystery
ampconv: 6 of 8 cases failed
END
check 'as many of each reason' ties 1 -q <<'END'
1 passed, 2 failed, 0 skipped
     1 failed: outputs are not as expected
     1 failed: the model cannot be read
ampconv: 2 of 3 cases failed
END
check 'JSON' mixed 1 -q --json - <<'END'
{
  "tool": {
    "name": "ampconv",
    "version": "0.1.0"
  },
  "report": "suite",
  "exit_code": 1,
  "passed": 1,
  "failed": 1,
  "skipped": 1,
  "cases": [
    {
      "name": "bad",
      "result": "failed",
      "reason": "output 'y': 3 of 3 elements differ; the worst is element [0, 0]: 8, expected 2"
    },
    {
      "name": "good",
      "result": "passed",
      "reason": null
    },
    {
      "name": "lacking",
      "result": "skipped",
      "reason": "mixed/lacking/model.onnx: node 'what' (example.org.Mystery): the executor has no kernel for it"
    }
  ]
}
1 passed, 1 failed, 1 skipped
     1 failed: outputs are not as expected
     1 skipped: no kernel for example.org.Mystery
ampconv: 1 of 3 cases failed
END
# The text goes to stdout, or to stderr where the JSON report goes there.
# stream NAME TEXT
stream() { if [ "$2" = '2 passed, 0 failed, 0 skipped' ]; then echo "ok $1"; else echo "not ok $1: $2"; fi; }
cd "$scratch" || exit 1
stream 'the text on stdout' "$("$AMPCONV" run --test-suite good 2>/dev/null)"
stream 'the text beside JSON' "$("$AMPCONV" run --test-suite good --json - 2>&1 >/dev/null)"
