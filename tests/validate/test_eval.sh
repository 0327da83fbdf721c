#!/usr/bin/env bash
# Commands of --eval that do what they should not: whatever they do, the program ends in time with the right exit code, the model that
# is written is the one that was converted, and no process and no file is left of them.
set -u
models=$(cd ../../models && pwd)
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
mkdir tmp && export TMPDIR=$scratch/tmp
cp "$models/digits_cnn.onnx" m.onnx
"$AMPCONV" m.onnx -q --no-validate -o expected.onnx || echo 'not ok no model'

# The processes that a command has left: those that have its variable, of this test's.
left_processes() { grep -lzE "^AMPCONV_MODEL=$scratch" /proc/[0-9]*/environ 2>/dev/null | wc -l; }

# Waits for what was killed to be gone; prints what is not.
left() {
  local i
  for ((i = 0; i < 50; i++)); do
    if [ "$(left_processes)" = 0 ] && [ -z "$(ls -A tmp)" ]; then return; fi
    sleep 0.1
  done
  echo "left: $(left_processes) processes, $(ls -A tmp)"
}

# check NAME CODE PATTERN COMMAND OPTIONS...: converts m.onnx with a command that goes through both models unless it ends the first.
check() {
  local name=$1 code=$2 pattern=$3 command=$4 found wrong
  shift 4
  rm -f out.onnx
  timeout 60 "$AMPCONV" m.onnx -q --no-validate -o out.onnx --eval "$command" "$@" >stdout 2>stderr </dev/null
  found=$?
  wrong=$(left)
  if [ $found != "$code" ]; then wrong+=" exit $found"; fi
  if [ $code = 0 ] && ! cmp -s out.onnx expected.onnx; then wrong+=' another model'; fi
  if [ $code != 0 ] && [ -e out.onnx ]; then wrong+=' a model'; fi
  if [ -n "$pattern" ] && ! grep -qE -- "$pattern" stderr; then wrong+=" no '$pattern'"; fi
  if [ -z "$wrong" ]; then echo "ok $name"; else echo "not ok $name:$wrong: $(head -c 500 stderr)"; fi
}

# Runs the rest on the converted model alone.
on_converted='case {} in */m.onnx) echo 1; exit ;; esac;'
late='ampconv: outside tolerance: --eval: no end within 1 s'

check 'no output' 0 '' true
check 'stdout closed' 0 '' 'exec >&-; sleep 0.1'
check 'stdin is empty' 0 '' '[ -z "$(cat)" ]'
check 'endless output' 1 "$late" "$on_converted exec yes" --eval-timeout 1
check 'endless lines without an end' 1 "$late" "$on_converted exec cat /dev/zero" --eval-timeout 1
check 'no end' 1 "$late" "$on_converted sleep 1000; :" --eval-timeout 1
check 'no end, SIGTERM ignored' 1 "$late" "$on_converted trap '' TERM; sleep 1000 & while :; do sleep 0.1; done" --eval-timeout 1
check 'stopped' 1 "$late" "$on_converted kill -STOP \$\$" --eval-timeout 1
check 'kills itself' 2 'signal 9' "$on_converted kill -9 \$\$"
check 'kills its group' 2 'signal 15' "$on_converted kill 0; sleep 1000"
check 'a child in the background' 0 '' 'sleep 1000 & echo 1'
check 'a child that keeps stdout and ignores SIGTERM' 0 '' "(trap '' TERM HUP; while :; do echo 7; sleep 0.1; done) & sleep 0.3; echo 1"
check 'a long line' 0 '' 'head -c 30000000 /dev/zero | tr "\0" 7; echo; echo 1' -t eval-drop=0
check 'a score behind a long line' 2 'is no number' 'echo 1; head -c 3000000 /dev/zero | tr "\0" 7' -t eval-drop=0
check 'no number in the language' 2 'is no number' 'echo 0,5' -t eval-drop=0
check 'writes to the model' 0 '' "$on_converted echo junk >>{}; : >{}; echo 1"
check 'removes the model' 0 '' "$on_converted rm {}; echo 1"
check 'replaces the model by a link' 0 '' "$on_converted ln -sf '$scratch/expected.onnx' {}; ln -s '$scratch' \$(dirname {})/up; echo 1"
check 'removes the folder' 0 '' "$on_converted rm -r \$(dirname {}); echo 1"
check 'leaves files and folders' 0 '' \
  "$on_converted cd \$(dirname {}); mkdir -p a/b/c .d; touch a/b/c/e .d/f 'g h'; chmod 400 .d/f; seq 2000 | xargs touch; mkfifo i; echo 1"
# Not by this command: the model as it was is the user's.
cp m.onnx kept.onnx
check 'writes to the input' 2 'm.onnx: was changed while it was read' 'case {} in */m.onnx) echo junk >>{} ;; esac'
cp kept.onnx m.onnx
check 'cuts the input' 2 'm.onnx: was (changed while it was read|cut or cannot be read any more)' 'case {} in */m.onnx) : >{} ;; esac'
cp kept.onnx m.onnx
TMPDIR=$scratch/none check 'no place for a file' 2 'TMPDIR cannot be created' true
TMPDIR=tmp check 'a relative place' 0 '' 'cd /; [ -s {} ]'
usual="case {} in */m.onnx | $(realpath /tmp)/ampconv-*) ;; *) exit 1 ;; esac"
TMPDIR='' check 'the usual place, where the variable is empty' 0 '' "$usual"
(unset TMPDIR && check 'the usual place, where there is no variable' 0 '' "$usual")

# Names that the shell has a meaning for.
mkdir "a b'c" && cp m.onnx "a b'c/\$d\`e\`.onnx"
"$AMPCONV" "a b'c/\$d\`e\`.onnx" -q --no-validate -o out.onnx --eval '[ -s {} ] && [ {} = "$AMPCONV_MODEL" ]' 2>stderr &&
  echo 'ok a path with quotes' || echo "not ok a path with quotes: $(cat stderr)"
mkdir 'tmp 2' && TMPDIR=$scratch/'tmp 2' "$AMPCONV" m.onnx -q --no-validate -o out.onnx --eval '[ -s {} ] && [ -s "$AMPCONV_MODEL" ]' 2>stderr &&
  rmdir 'tmp 2' && echo 'ok a place with a blank' || echo "not ok a place with a blank: $(cat stderr)"

# Data beside the model: the file is whole, and runs.
whole="'$AMPCONV' run {} -q --seed 3 --json - | sed -n 's/.*\"mean\": \\([-0-9.e]*\\),/\\1/p'"
for data in w.data deep/er/w.data model.onnx; do
  mkdir -p deep/er
  "$AMPCONV" m.onnx -q --no-validate -o out.onnx --external-data $data --external-threshold 1000 --eval "$on_converted $whole" --json report.json 2>stderr
  if [ $? = 0 ] && [ "$("$AMPCONV" run out.onnx -q --seed 3 --json - | sed -n 's/.*"mean": \([-0-9.e]*\),/\1/p')" = "$(sed -n 's/.*"score": //p' report.json | tail -n 1 | tr -d ,)" ] && [ -z "$(left)" ]; then
    echo "ok data in $data"
  else
    echo "not ok data in $data: $(cat stderr) $(left)"
  fi
  rm -rf out.onnx $data
done

# Streams: the command gets a file, with the same bytes.
cmp="case {} in $scratch/tmp/*) ;; *) exit 1 ;; esac; cmp {} m.onnx || cmp {} expected.onnx"
"$AMPCONV" - -q --no-validate -o - --eval "$cmp" <m.onnx >out.onnx 2>stderr
if [ $? = 0 ] && cmp -s out.onnx expected.onnx && [ -z "$(left)" ]; then echo 'ok a stream'; else echo "not ok a stream: $(cat stderr)"; fi
"$AMPCONV" m.onnx -q --no-validate -o x.onnx --external-data x.data --external-threshold 1000
"$AMPCONV" - -q --no-validate -o out.onnx --eval true <x.onnx >stdout 2>stderr
if [ $? = 2 ] && grep -q 'came through a stream' stderr; then echo 'ok a stream with data'; else echo "not ok a stream with data: $(cat stderr)"; fi

# A place whose path is so long that a folder can be made there, but no file in it: paths end at 4095 bytes.
place=$(pwd -P)/deep
while [ ${#place} -lt 3900 ]; do place+=/$(printf 'd%.0s' {1..100}); done
place+=/$(printf 'd%.0s' $(seq $((4074 - ${#place}))))
mkdir -p "$place" && rm -f out.onnx
TMPDIR=$place "$AMPCONV" - -q --no-validate -o out.onnx --eval true <m.onnx >stdout 2>stderr
code=$?
if [ $code = 2 ] && grep -q 'cannot create: File name too long' stderr && [ -z "$(ls -A "$place")" ] && [ ! -e out.onnx ]; then
  echo 'ok a stream, no place for the file'
else
  echo "not ok a stream, no place for the file: exit $code: $(tail -c 500 stderr)"
fi

# interrupt NAME SIGNAL COMMAND: the program is sent SIGNAL while the command is at it.
interrupt() {
  local name="$1, SIG$2" signal=$2 command=$3 code wrong i
  rm -f out.onnx begun
  # Shells start what runs in the background with SIGINT ignored.
  env --default-signal=INT,QUIT "$AMPCONV" m.onnx -q --no-validate -o out.onnx --eval "$command" >stdout 2>stderr </dev/null &
  for ((i = 0; i < 300; i++)); do [ -e begun ] && break; sleep 0.1; done
  kill -"$signal" $!
  wait $! 2>/dev/null
  code=$?
  wrong=$(left)
  if [ $code != $((128 + $(kill -l "$signal"))) ]; then wrong+=" exit $code"; fi
  if [ ! -e begun ] || [ -e out.onnx ]; then wrong+=' not while it ran'; fi
  if [ -z "$wrong" ]; then echo "ok $name"; else echo "not ok $name:$wrong: $(cat stderr)"; fi
}
for signal in INT TERM HUP QUIT; do
  interrupt 'interrupted at the input' $signal "touch '$scratch/begun'; sleep 1000 & sleep 1000"
  interrupt 'interrupted at the converted model' $signal "$on_converted mkdir \$(dirname {})/a; touch \$(dirname {})/a/b '$scratch/begun'; sleep 1000 & sleep 1000"
done
interrupt 'interrupted, SIGTERM ignored' INT "$on_converted trap '' TERM INT; touch '$scratch/begun'; sleep 1000 & while :; do touch \$(dirname {})/\$RANDOM; done"

# The command may tidy up.
interrupt 'a second to tidy up' TERM "trap 'touch \"$scratch/tidied\"; exit' TERM; touch '$scratch/begun'; sleep 1000 & wait"
if [ -e tidied ]; then echo 'ok it tidied up'; else echo 'not ok it did not tidy up'; fi
