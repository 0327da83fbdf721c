#!/usr/bin/env bash
# Several models in one call: each becomes what it does alone, one that fails fails alone, and nothing begins where two would meet.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
mkdir many other empty
for name in a b c d; do cp "$root/models/digits_cnn.onnx" many/$name.onnx; done
cp "$root/models/digits_cnn.onnx" other/a.onnx
head -c 1000 "$root/models/digits_cnn.onnx" >many/b.onnx
echo no model >many/readme.txt

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >why 2>&1; then echo "ok $name"; else echo "not ok $name: $(cat why said)"; fi
}
batch() { # NAME EXIT OPTION...: stdin is what is said, in stderr, with N for figures
  local name=$1 wanted=$2 code
  shift 2
  "$AMPCONV" "$@" >stdout 2>said </dev/null
  code=$?
  sed -E 's/snr [0-9.]+ dB/snr N dB/' said >plain
  if [ $code -ne "$wanted" ]; then echo "not ok $name: exit $code: $(cat said)"; elif ! diff - plain >why; then echo "not ok $name: $(cat why)"; else echo "ok $name"; fi
}
what() { perl -MJSON::PP -0777 -e '$r = decode_json(<STDIN>); print eval $ARGV[0]; die $@ if $@' "$2" <"$1"; }
is() { [ "$(what "$1" "$2")" = "$3" ]; }

batch 'a folder with one bad model' 3 many --output-dir out -j 2 --json=all.json --report all.html <<'END'
many/a.onnx -> out/a.bf16.onnx: 17 nodes bfloat16, 0 float32; snr N dB
many/b.onnx: truncated: field 7 of ModelProto at byte 19 has 91385 bytes, but 978 follow; exit code 3
many/c.onnx -> out/c.bf16.onnx: 17 nodes bfloat16, 0 float32; snr N dB
many/d.onnx -> out/d.bf16.onnx: 17 nodes bfloat16, 0 float32; snr N dB
ampconv: 4 models: 3 converted, 0 outside tolerance, 1 failed
END
holds 'stdout is for data' test ! -s stdout
holds 'the others are there' test "$(ls out | tr '\n' ' ')" = 'a.bf16.onnx c.bf16.onnx d.bf16.onnx '
holds 'each is what it is alone' eval '"$AMPCONV" many/a.onnx -q -o alone.onnx --json=alone.json && cmp alone.onnx out/a.bf16.onnx'
holds 'the report counts' is all.json 'join " ", $r->{report}, $r->{exit_code}, map { $r->{summary}{$_} } qw(models converted outside failed)' 'batch 3 4 3 0 1'
holds 'and has a report of each' is all.json 'join " ", map { "$_->{report} $_->{exit_code}" } @{$r->{models}}' \
  'conversion 0 failure 3 conversion 0 conversion 0'
times='s#("(reference|converted)": )[0-9.e-]+(,?)$#\1N\3#; s#"output": "[^"]*\.onnx"#"output": O#'
holds 'as it is alone' diff <(sed -E "$times" alone.json) <(sed -n '/^    {/,/^    },\{0,1\}$/p' all.json | sed '/^    },$/q' | sed -E 's/^    //; s/^},$/}/' | sed -E "$times")
holds 'a page' "$CASES/../case_tool" xml all.html
holds 'has a row of each' test "$(grep -c '^<tr><td>many/' all.html)" -eq 4
holds 'nobody left' test -z "$(pgrep -P $$ ampconv)"

batch 'what is there' 2 many --output-dir out <<'END'
ampconv: out/a.bf16.onnx exists; use --force, or another --output-dir
END
batch 'two of a name' 2 many/a.onnx other --output-dir met <<'END'
ampconv: many/a.onnx and other/a.onnx would both become met/a.bf16.onnx
END
holds 'nothing has begun' test ! -e met
cp many/a.onnx many/c.bf16.onnx
batch 'one of its own models' 2 many/c.onnx many/c.bf16.onnx --output-dir many -f <<'END'
ampconv: many/c.onnx would become many/c.bf16.onnx, which is to be converted
END
rm many/c.bf16.onnx
mkdir met
batch 'a report in its place' 2 many/a.onnx --output-dir met --report met/a.bf16.onnx <<'END'
ampconv: met/a.bf16.onnx: that is a model itself
END
rmdir met
batch 'an empty folder' 2 empty --output-dir met <<'END'
ampconv: empty: no model: no NAME.onnx in the folder
END
batch 'no place to go' 2 many/a.onnx many/c.onnx <<'END'
ampconv: 'many/c.onnx' is a second model: several need --output-dir DIR, where they go
END
batch 'an output of one' 2 many/a.onnx --output-dir met -o x.onnx <<'END'
ampconv: --output is of one model: --output-dir does not go with it
END
batch 'stdin' 2 - --output-dir met <<'END'
ampconv: --output-dir is for models that have names: stdin has none
END
batch 'a folder that cannot be' 2 many/a.onnx --output-dir none/met <<'END'
ampconv: none/met: cannot create the folder: No such file or directory
END
batch 'a folder that is a file' 2 many/a.onnx --output-dir all.json <<'END'
ampconv: all.json: cannot create the folder: Not a directory
END
batch 'jobs of one model' 2 many/a.onnx -j 2 <<'END'
ampconv: --jobs goes with --tune, or several models and --output-dir
END

batch 'outside the tolerance' 1 many/a.onnx many/c.onnx -q -t snr=200 --output-dir far <<'END'
many/a.onnx: outside tolerance: output 'logits': snr N dB; at least 200 needed; not written
many/c.onnx: outside tolerance: output 'logits': snr N dB; at least 200 needed; not written
ampconv: 2 models: 0 converted, 2 outside tolerance, 0 failed
END
holds 'nothing is written' test -z "$(ls far)"
batch 'all is well, quietly' 0 many/a.onnx many/c.onnx -q --output-dir well -j 1 </dev/null

"$AMPCONV" many/a.onnx many/c.onnx -v --threads 1 --output-dir loud -j 1 2>said </dev/null
holds 'what each says, in its turn' test "$(grep -oE '^(  verdict |many/.\.onnx -> )' said | tr '\n' '|')" = 'many/a.onnx -> |  verdict |many/a.onnx -> |many/c.onnx -> |  verdict |many/c.onnx -> |'
batch 'nothing of it, quietly' 0 many/a.onnx -vq --output-dir hushed </dev/null

# What ends one process ends one model: its command kills the first one's conversion.
cat >kill.sh <<'END'
mkdir met 2>/dev/null && kill -9 "$PPID"
exit 0
END
rm -rf met
batch 'a process that is killed' 2 many/a.onnx many/c.onnx --eval 'exec sh ./kill.sh {}' -j 1 --output-dir killed --json=killed.json <<'END'
many/a.onnx: signal 9 ended the conversion (Killed); exit code 2
many/c.onnx -> killed/c.bf16.onnx: 17 nodes bfloat16, 0 float32; snr N dB
ampconv: 2 models: 1 converted, 0 outside tolerance, 1 failed
END
holds 'the report says so' is killed.json '$r->{models}[0]{error}{message}' 'many/a.onnx: signal 9 ended the conversion (Killed)'
holds 'nothing of it is there' test "$(ls -A killed)" = c.bf16.onnx
"$AMPCONV" many/a.onnx --output-dir short --max-memory 1K -q 2>said
holds 'memory is of each' test $? -eq 2 -a "$(tail -n 1 said)" = 'ampconv: 1 model: 0 converted, 0 outside tolerance, 1 failed'

# A program that is ended ends what it started.
"$AMPCONV" many --output-dir ended -j 2 --eval 'sleep 30' 2>/dev/null &
for _ in $(seq 100); do [ "$(pgrep -P $! | wc -l)" -ge 2 ] && break; sleep 0.1; done
kill -TERM $!
wait $! 2>/dev/null
holds 'the end of it is the end of all' test $? -eq 143 -a -z "$(ls ended)"
