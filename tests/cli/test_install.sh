#!/usr/bin/env bash
# `make install`: the installed program converts, runs and finds its rules when the tree it was built in is gone; DESTDIR;
# `make uninstall`. The sanitized build is not meant to be installed.
set -u
case ${BUILD:?} in *asan*) exit 0 ;; esac
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS

result() { # NAME: runs the rest of the words
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $output"; fi
}
make() { command make -C "$root" BUILD="$BUILD" "$@"; }

result 'install' make install PREFIX="$scratch/usr"
cp "$root/models/digits_cnn.onnx" "$scratch/m.onnx"
cat >"$scratch/use" <<'EOF'
set -eu
cd "$1"
if [ $# -gt 1 ]; then mount -t tmpfs none "$2" && [ -z "$(ls "$2")" ]; fi
usr/bin/ampconv --version
usr/bin/ampconv rules | grep torch-cpu
usr/bin/ampconv m.onnx --no-metadata -o out.onnx
usr/bin/ampconv run out.onnx
EOF
if unshare -rm true 2>/dev/null; then
  result 'it runs without the tree' unshare -rm bash "$scratch/use" "$scratch" "$root"
else
  result 'it runs' bash "$scratch/use" "$scratch"
fi
# What runs: the program itself or, where it has libraries of its own, what its launcher starts.
libraries() {
  local own=$scratch/usr/lib/ampconv
  if [ -d "$own" ]; then
    "$own"/ld-linux*.so.? --library-path "$own" --list "$own/ampconv" >"$scratch/list"
  else
    LD_TRACE_LOADED_OBJECTS=1 "$scratch/usr/bin/ampconv" >"$scratch/list"
  fi
  grep -q libdnnl "$scratch/list" && ! grep -F "$root" "$scratch/list"
}
result 'no library of the tree' libraries
result 'the manual' test -s "$scratch/usr/share/man/man1/ampconv.1" -a -s "$scratch/usr/share/man/man5/ampconv-rules.5" -a -s "$scratch/usr/share/man/man5/ampconv-report.5" -a -s "$scratch/usr/share/ampconv/report.schema.json" -a \
  -s "$scratch/usr/share/man/man7/ampconv-ops.7"
for file in bash-completion/completions/ampconv zsh/site-functions/_ampconv fish/vendor_completions.d/ampconv.fish; do
  case $file in bash*) shell=bash ;; zsh*) shell=zsh ;; *) shell=fish ;; esac
  result "completions of $shell" cmp "$scratch/usr/share/$file" <("$AMPCONV" completion $shell)
done

# The whole tree somewhere else, called by its path, by a link and as a command; it starts itself again for jobs.
mkdir "$scratch/else where" && mv "$scratch/usr" "$scratch/else where/moved" && ln -s "else where/moved/bin/ampconv" "$scratch/linked"
moved() { (cd "$scratch" && rm -f moved.onnx && "$@" m.onnx --no-metadata -q -o moved.onnx && cmp moved.onnx out.onnx); }
result 'moved, it converts' moved "$scratch/else where/moved/bin/ampconv"
result 'moved, by a link' moved ./linked
result 'moved, as a command' moved env PATH="$scratch/else where/moved/bin:$PATH" ampconv
mv "$scratch/else where/moved/share/ampconv/rules" "$scratch/kept" && mkdir "$scratch/else where/moved/share/ampconv/rules"
own_rules() { grep -F "and none in $scratch/else where/moved/share/ampconv/rules;" <("$scratch/linked" rules torch-cpu 2>&1); }
result 'moved, by its own rule sets' own_rules
rmdir "$scratch/else where/moved/share/ampconv/rules" && mv "$scratch/kept" "$scratch/else where/moved/share/ampconv/rules"
result 'moved, with jobs' moved "$scratch/else where/moved/bin/ampconv" --tune --tune-for bytes --jobs 2
mv "$scratch/else where/moved" "$scratch/usr"

result 'DESTDIR' make install PREFIX=/usr DESTDIR="$scratch/stage"
result 'DESTDIR has it all' diff <(cd "$scratch" && find usr -type f | sort) <(cd "$scratch/stage" && find usr -type f | sort)
result 'uninstall' make uninstall PREFIX=/usr DESTDIR="$scratch/stage"
left() { [ -z "$(find "$scratch/stage" -type f)" ]; }
result 'uninstall leaves nothing' left
