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
AMPCONV_AS=()
says() { # NAME EXIT TEXT: the program, with the rest, ends so and says that alone
  local name=$1 wanted=$2 text=$3 said code
  shift 3
  said=$("${AMPCONV_AS[@]}" "$AMPCONV" "$@" 2>&1)
  code=$?
  if [ $code -eq "$wanted" ] && [ "$said" = "ampconv: $text" ]; then echo "ok $name"; else echo "not ok $name: exit $code: $said"; fi
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
holds 'that alone writes nothing' test ! -e outside.onnx
expect 'outside the tolerance with --accept' 1 "$AMPCONV" m.onnx -q -o outside.onnx -t snr=200 --accept
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

rm -f fresh.bf16.onnx && cp m.onnx fresh.onnx
expect '--accept does not overwrite' 0 "$AMPCONV" fresh.onnx -q --no-validate
says '--accept is not --force' 2 'fresh.bf16.onnx exists; use --force, or -o to name an output' fresh.onnx -q --no-validate --accept

# The input under another name is still the input, and kept.
mkdir same && cp m.onnx same/m.onnx && ln same/m.onnx same/hard.onnx && ln -s m.onnx same/soft.onnx && ln -s same samefolder
for name in same/m.onnx ./same/m.onnx same/hard.onnx same/soft.onnx samefolder/m.onnx samefolder/soft.onnx; do
  says "onto itself, $name" 2 "$name is the input and would be lost; use --force, or another name" same/m.onnx -q -o $name --no-validate
  says "onto itself from stdin, $name" 2 "$name is the input and would be lost; use --force, or another name" - -q -o $name --no-validate <same/m.onnx
  says "a report onto the input, $name" 2 "--json $name: that is the input, which would be lost" same/m.onnx -q -o o.onnx --json=$name --force
done
says 'a report of a run onto the input' 2 '--json same/hard.onnx: that is the input, which would be lost' run same/m.onnx --json=same/hard.onnx
says 'ranges onto the input' 2 '--output same/soft.onnx: that is the input, which would be lost' calibrate same/m.onnx -o same/soft.onnx
says 'a page onto the second model' 2 '--report m.onnx: that is the input, which would be lost' compare fresh.onnx m.onnx --report m.onnx
expect 'the input is what it was' 0 cmp same/m.onnx m.onnx
expect '--force writes onto itself' 0 "$AMPCONV" same/m.onnx -q -o same/soft.onnx --no-validate --force
expect 'which is converted then' 0 cmp same/m.onnx m.bf16.onnx
holds 'through the link, which stays' test -L same/soft.onnx
expect 'a hard link keeps the old one' 0 cmp same/hard.onnx m.onnx

# What cannot be created is said before anything is read (there is no none.onnx) or run; nothing is left of the look at it.
mkdir outputs outputs/folder && echo text >outputs/file && touch outputs/locked && before=$(find outputs | sort)
long=outputs/$(printf 'x%.0s' {1..300})
outputs=(
  "outputs/folder|Is a directory" "outputs/folder/|Is a directory" "outputs/none/o|No such file or directory" "outputs/none/|No such file or directory"
  "outputs/file/o|Not a directory" "$long|File name too long"
)
for option in '-o' '--json=' '--report' '--rules-out' '--costs-out' '--tune-log' 'run --json=' 'run --report' 'compare --json=' 'compare --report' \
  'bench --report' 'calibrate -o'; do
  case $option in *\ *) command=${option% *} ;; --rules-out | --costs-out | --tune-log) command=--tune ;; *) command= ;; esac
  option=${option##* }
  for place in "${outputs[@]}"; do
    path=${place%|*} why=${place##*|}
    verb=create
    [ "$option $why" != '--tune-log Is a directory' ] || verb=open
    case $option in *=) words=("$option$path") ;; *) words=("$option" "$path") ;; esac
    says "$command $option ${path:0:40}" 2 "$path: cannot $verb: $why" $command none.onnx $([ "$command" != compare ] || echo none.onnx) "${words[@]}"
  done
done
says 'bench --json=FILE' 2 'outputs/folder: cannot create: Is a directory' bench none.onnx --json=outputs/folder
says 'a data file that is a folder' 2 'outputs/folder: cannot create: Is a directory' m.onnx -q -o outputs/o.onnx --external-data folder
says 'a data file in no folder' 2 'outputs/none/d: cannot create: No such file or directory' m.onnx -q -o outputs/o.onnx --external-data none/d
mkdir split.data && "$AMPCONV" m.onnx -q -o outside.onnx --external-data w.data --no-validate
says 'the default data file is a folder' 2 'split.data: cannot create: Is a directory' outside.onnx -q -o split
says 'run --output-dir, a file' 2 'outputs/file: cannot create the folder: Not a directory' run none.onnx --output-dir outputs/file
says 'run --output-dir, no place' 2 'outputs/none/o: cannot create the folder: No such file or directory' run none.onnx --output-dir outputs/none/o
holds 'nothing is left of the look' test "$before" = "$(find outputs | sort)"

# Where the user has no right to write. Root has, and becomes nobody.
chmod 755 . outputs && chmod 600 outputs/locked
mkdir sticky && touch sticky/theirs && chmod 1777 sticky
nobody=()
[ "$(id -u)" != 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${nobody[@]}" "$AMPCONV" --version >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  AMPCONV_AS=("${nobody[@]}")
  says 'no right to the folder' 2 'outputs/o: cannot create: Permission denied' none.onnx -o outputs/o
  says 'no right to the log' 2 'outputs/locked: cannot open: Permission denied' none.onnx --tune --tune-log outputs/locked
  says 'no right to make the folder' 2 'outputs/new: cannot create the folder: Permission denied' run none.onnx --output-dir outputs/new
  says "another's file in a sticky folder" 2 'sticky/theirs: cannot create: Operation not permitted' none.onnx -o sticky/theirs
  AMPCONV_AS=()
fi

# Two outputs are two files.
says 'two outputs, one name' 2 '--report and --json cannot both go to o.json' none.onnx --json o.json --report o.json
says 'two outputs, one file' 2 '--report and --json cannot both go to ./o.json' none.onnx --json samefolder/../o.json --report ./o.json
says 'two outputs of a search' 2 '--rules-out and --costs-out cannot both go to o.yaml' none.onnx --tune --costs-out o.yaml --rules-out o.yaml
says 'a report onto the model' 2 '--json ./o.onnx: that is the model itself' m.onnx -q -o o.onnx --json=./o.onnx
"$AMPCONV" - -q -o - --no-validate <m.onnx >piped.onnx
expect 'stdout holds the model alone' 0 cmp piped.onnx m.bf16.onnx
expect 'an empty stream' 3 "$AMPCONV" - -q -o -
expect 'a folder' 2 "$AMPCONV" .
expect 'no such file' 2 "$AMPCONV" none.onnx
