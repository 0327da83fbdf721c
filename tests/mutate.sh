#!/usr/bin/env bash
# Changes single points of the program, by itself, and says which changes the tests let through. Not a part of make check.
#   tests/mutate.sh [--seed N] [--count N] [--folder NAME]... [--files GLOB]... [--list] [--again] [--jobs N]
#                   [--most SECONDS] [--plain] [--unrun] [--work DIR]
#     --seed N        which changes are drawn (1)
#     --count N       how many (30)
#     --folder NAME   of the files below src/NAME; --files GLOB: of files whose paths match; several add up (all)
#     --list          only says which changes it would make, without those that do not compile or do not matter
#     --again         tests what survived the run before once more; only tests may have changed since
#     --jobs N        how many changes, or tests, run at a time (1)
#     --most SECONDS  without tests that take longer (600)
#     --plain         without the sanitizers, under which what survives is tested once more otherwise, as make check does
#     --unrun         makes no changes: prints the lines of those files that no test runs
#     --work DIR      where its files go (build/mutate): one for each that runs at the same time
# The changes are made in a copy of the tree. A change counts when its file compiles to another object than before; then the tests that
# run the changed line are run until one fails, the quickest first: a change that none runs survives. Which those are says a build
# with --coverage: it runs each test once, and again where the program or the test's files have changed, which takes most of an hour.
# Under the sanitizers only tests are run that take less than a third of --most.
# Changes of mutate.equivalent are not drawn. Exits 1 when changes survived.
# DEPS (build/deps), ORACLES (build/oracle), CC and GCOV say where to find what make sets up, and the compiler with its gcov.
set -u
shopt -s extglob
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
work=$top/build/mutate
seed=1 count=30 jobs=1 most=600 only_list='' only_unrun='' again='' globs=() only_plain=''
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2; shift ;;
    --count) count=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --most) most=$2; shift ;;
    --folder) globs+=("src/$2/*"); shift ;;
    --files) globs+=("$2"); shift ;;
    --list) only_list=1 ;;
    --unrun) only_unrun=1 ;;
    --again) again=1 ;;
    --work) work=$(realpath -m "$2"); shift ;;
    --plain) only_plain=1 ;;
    *) sed -n 's/^#   /  /p' "$0" >&2; exit 2 ;;
  esac
  shift
done
if [ ${#globs[@]} -eq 0 ]; then globs=('src/*'); fi
DEPS=${DEPS-$top/build/deps} ORACLES=${ORACLES-$top/build/oracle}
tree=$work/tree records=$work/records changes=$work/changes runs=$work/runs
export ASAN_OPTIONS=${ASAN_OPTIONS-exitcode=99:detect_leaks=1:allocator_may_return_null=1:malloc_context_size=1}
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
export CASES=$tree/build/cases DEPS ORACLES

# ---- the copy and its build ----

# The tree as it is. What is the same already keeps its time, so that only what has changed is built anew, whenever it was changed.
copy_tree() {
  local file
  mkdir -p "$tree/build" && ln -sfn "$DEPS" "$tree/build/deps" && ln -sfn "$ORACLES" "$tree/build/oracle" || return
  (cd "$top" && git ls-files -co --exclude-standard | xargs -d '\n' ls -d 2>/dev/null | sort) >"$work/files"
  (cd "$tree" && find . -path ./build -prune -o ! -type d -printf '%P\n' | sort | comm -23 - "$work/files" | xargs -r -d '\n' rm)
  while IFS= read -r file; do
    if ! cmp -s "$top/$file" "$tree/$file"; then echo "$file"; fi
  done <"$work/files" | tar c -C "$top" -T - | tar x -m -C "$tree"
}

# Types that do not agree are errors, so that swapped arguments count where they compile for a reason.
# The folder `coverage` has the program that notes which lines it runs, for what is asked before anything is changed; it notes them in
# exit, which a batch's processes end without. Folders whose names end in .sanitized have it with the sanitizers.
build() { # FOLDER TARGET...
  local flags=''
  case $1 in
    coverage) flags='--coverage -D_exit=exit' ;;
    *.sanitized) flags='-fsanitize=address,undefined -fsanitize-undefined-trap-on-error' ;;
  esac
  make -s -C "$tree" DEPS="$DEPS" CC="${CC:-gcc}" CFLAGS=-O2 BUILD="build/$1" \
    EXTRA="$flags -Werror=incompatible-pointer-types -Werror=int-conversion" "${@:2}"
}

# The program as it is, and more; ends the script when that fails.
build_base() { # FOLDER TARGET...
  build "$1" -j"$(nproc)" "build/$1/ampconv" "${@:2}" >"$work/log.base" 2>&1 || { tail -5 "$work/log.base" >&2; exit 2; }
}

object_of() { echo "build/$1/${2%.c}.o"; }

# What tests are told of this machine: where the Makefile finds ONNX's test models.
read_test_env() {
  TESTDATA=$(make -s -C "$tree" DEPS="$DEPS" --eval='say: ; @echo "$(TESTDATA)"' deps say 2>/dev/null | tail -n 1)
  export TESTDATA RESULTS=/dev/null
}

# ---- the tests ----

# All tests: units, and of each stage its cases and each script. Those of style run no program.
list_tests() {
  local unit stage script
  for unit in "$tree"/tests/unit/test_*.c; do unit=${unit##*/}; echo "unit/${unit%.c}"; done
  for stage in "$tree"/tests/*/; do
    stage=$(basename "$stage")
    case $stage in unit | style) continue ;; esac
    if compgen -G "$CASES/$stage/*/args" >/dev/null; then echo "$stage/!(test_*)"; fi
    for script in "$tree/tests/$stage/"test_*.sh; do if [ -f "$script" ]; then echo "$stage/${script##*/}"; fi; done
  done
}

# What an endless loop may take of the machine. The sanitizers need all addresses.
limit_room() { # FOLDER
  ulimit -f 8388608
  case $1 in *.sanitized) ;; *) ulimit -v 16777216 ;; esac
}

# Runs one test with the program and the units in build/FOLDER, no longer than SECONDS; its exit code, 124 when that was too short, 125
# when what it runs cannot be built.
run_test() { # FOLDER TEST SECONDS
  local bin=$tree/build/$1 scratch=$work/scratch.$1.${SLOT0-} log=$work/log.$1.${SLOT0-} code command
  case $2 in
    unit/*) command=("$bin/$2"); build "$1" "build/$1/$2" ;;
    *) command=(tests/run.sh "$2"); build "$1" "build/$1/ampconv" "build/$1/man/ampconv-ops.7" ;;
  esac >"$log" 2>&1 || return 125
  mkdir -p "$scratch"
  (limit_room "$1" && cd "$tree" && AMPCONV=$bin/ampconv BUILD=$bin TMPDIR=$scratch JOBS=1 timeout -k 5 "$3" "${command[@]}" </dev/null >>"$log" 2>&1) 2>/dev/null
  code=$?
  chmod -R u+rwx "$scratch" && rm -rf "$scratch"
  return $code
}

# A checksum of the program and of a test's files, in the copy. Other stages' cases, which some tests read, are none of them.
checksum_of() { # TEST
  local own=tests/${1%/*}
  if [ "${1%/*}" = unit ]; then own="tests/$1.c tests/unit/*.h"; fi
  # shellcheck disable=SC2086 # globs
  (cd "$tree" && find src rules Makefile tests/run.sh $own -type f -print0 | sort -z | xargs -0 cat | md5sum | cut -d ' ' -f 1)
}

# Where the record of a test is: its checksum and milliseconds, whether those were enough, and what of the program it ran.
run_of() { echo "$runs/${1//\//.}"; }

# Whether the script that began this is still there. xargs, which goes on without it, stops at 255.
is_wanted() { kill -0 "$main" 2>/dev/null; }

# Runs a test once with the program that notes which lines it runs, unless that is known of it as it is.
record_run() { # TEST
  local record notes sum begin old time is_whole
  is_wanted || return 255
  record=$(run_of "$1") sum=$(checksum_of "$1")
  if [ -f "$record" ] && read -r _ old time is_whole <"$record" && [ "$old" = "$sum" ] &&
    { [ "$is_whole" = whole ] || [ "$time" -ge $((1000 * most)) ]; }; then return; fi
  notes=$(mktemp -d "$work/notes.XXXXXX") || return
  begin=$EPOCHREALTIME is_whole=whole
  GCOV_PREFIX=$notes GCOV_PREFIX_STRIP=$(tr -cd / <<<"$tree/build/coverage" | wc -c) run_test coverage "$1" "$most"
  if [ $? -eq 124 ]; then is_whole='cut'; fi
  echo "$1 $sum $(((${EPOCHREALTIME/./} - ${begin/./}) / 1000)) $is_whole" >"$record.new"
  (cd "$tree/build/coverage" && find src -name '*.gcno' -exec cp -l --parents -t "$notes" {} +)
  (cd "$tree" && find "$notes/src" -name '*.gcda' -print0 | xargs -0 -r "${GCOV:-gcov}" -i -t 2>/dev/null) |
    perl "$top/tests/mutate.pl" runs >>"$record.new"
  mv "$record.new" "$record" && rm -rf "$notes" 2>/dev/null
  return 0
}

# Builds the program that notes what it runs, and has each test recorded; records of tests that are no more go.
record_runs() {
  local tests test record
  mkdir -p "$runs" && rm -f "$runs"/*.new && tests=$(list_tests) || return
  # shellcheck disable=SC2046 # names without spaces
  build coverage -j"$(nproc)" build/coverage/ampconv build/coverage/man/ampconv-ops.7 $(sed -n 's|^unit/|build/coverage/&|p' <<<"$tests") \
    >"$work/log.coverage" 2>&1 || { tail -n 5 "$work/log.coverage" >&2; return 1; }
  for record in "$runs"/*; do
    if [ -f "$record" ] && { ! read -r test _ <"$record" || ! grep -qxF -- "$test" <<<"$tests"; }; then rm "$record"; fi
  done
  xargs -r -d '\n' -P "$jobs" --process-slot-var=SLOT0 -n 1 bash -c 'record_run "$1"' - <<<"$tests"
}

# The tests of less than SECONDS that run a line, or the one with code before it in its function, the quickest first: milliseconds, the
# test, the seconds that it may take. Of a line that is in no function (a macro's), the tests that run anything of the file.
timed_tests() { # FILE LINE SECONDS
  awk -v file="$1" -v line="$2" -v most="$3" '
    FNR == 1 { test = $1; time[test] = $3; next }
    $2 != file { next }
    $1 == "function" && $5 > 0 { runs_file[test] = 1 }
    $1 == "function" && $3 <= line && line <= $4 && $3 > first { first = $3 }
    $1 == "run" { for (i = 3; i <= NF; i++) if ($i <= line) ran[test, $i] = 1 }
    $1 == "code" { for (i = 3; i <= NF; i++) if ($i <= line && $i > at) at = $i }
    END {
      for (test in time) if ((first && at >= first ? (test, at) in ran : test in runs_file) && time[test] < 1000 * most) print time[test], test, int(time[test] / 100) + 20
    }' "$runs"/* | sort -n
}

# Whether a test passes without a change; it is run when that is first asked. A test that does not says nothing of changes. Where the
# program cannot be built without one, nothing does: that is noted.
passes_unchanged() { # FOLDER TEST
  local code asked="$1 $2"
  (
    flock 9
    if ! grep -qF " $asked " "$work/unchanged"; then
      run_test "$1" "$2" 600
      code=$?
      if [ $code -eq 125 ]; then cp "$work/log.$1.$SLOT0" "$work/broken"; fi
      if [ $code -eq 0 ]; then
        echo "yes $asked ." >>"$work/unchanged"
      else
        echo "no $asked ." >>"$work/unchanged"
        echo "mutate.sh: $2 fails without a change, too: it is left out" >&2
      fi
    fi
    grep -qF "yes $asked " "$work/unchanged"
  ) 9>"$work/lock"
}

# ---- the changes ----

# Makes a change and keeps its object as NUMBER; false when it does not compile or makes no other object than BASE, a folder, has.
make_change() { # BASE NUMBER FILE OFFSET LENGTH REPLACEMENT
  local object base=$work/objects/base.o status=1
  object=$tree/$(object_of "$1" "$3")
  cp -p "$object" "$base" && cp -p "$tree/$3" "$work/before.c"
  echo "$object" >"$work/changed"
  perl "$top/tests/mutate.pl" apply "$work/before.c" "${@:4}" >"$tree/$3"
  if build "$1" "$(object_of "$1" "$3")" >"$work/log.change" 2>&1 && ! cmp -s "$object" "$base"; then
    cp "$object" "$work/objects/$2.o"
    status=0
  fi
  cp -p "$work/before.c" "$tree/$3" && cp -p "$base" "$object" && rm "$work/changed"
  return $status
}

# Draws changes until COUNT of them count: $records holds a line for each, $changes what makes it.
draw_changes() {
  local n=0 file line kind offset length replacement before after
  : >"$records"
  : >"$changes"
  while [ $n -lt "$count" ] && IFS=$'\x1f' read -r file line kind offset length replacement before after; do
    make_change base $n "$file" "$offset" "$length" "$replacement" || continue
    printf '%s\t%s\t%s\t%s  ->  %s\n' "$n" "$file" "$file:$line" "$kind: $before" "$after" >>"$records"
    printf '%s\x1f%s\x1f%s\x1f%s\x1f%s\n' "$n" "$file" "$offset" "$length" "$replacement" >>"$changes"
    n=$((n + 1))
  done < <(list_changes "$tree" | tr '\t' '\037')
}

# The changes that survived so far; the verdicts are those of the others.
keep_survivors() {
  awk -F '\t' 'NR == FNR { if ($1 == "survived") is_left[$3 FS $4] = 1; next } ($3 FS $4) in is_left' "$work/verdicts" "$records" >"$records.left" &&
    mv "$records.left" "$records" && sed -i '/^survived/d' "$work/verdicts"
}

# Makes the changes of $records anew, with the sanitizers. Where one makes no other object there, it survives.
sanitize_changes() {
  local number file offset length replacement
  while IFS=$'\x1f' read -r number file offset length replacement; do
    grep -q "^$number"$'\t' "$records" || continue
    make_change base.sanitized "$number" "$file" "$offset" "$length" "$replacement" ||
      cp "$tree/$(object_of base.sanitized "$file")" "$work/objects/$number.o"
  done <"$changes"
}

list_files() { # FOLDER that has src
  local file glob
  while read -r file; do
    # shellcheck disable=SC2053 # a glob
    for glob in "${globs[@]}"; do if [[ $file == $glob ]]; then echo "$file"; break; fi; done
  done < <(cd "$1" && find src -name '*.c' | sort)
}

list_changes() { # FOLDER that has src
  local files
  mapfile -t files < <(list_files "$1")
  (cd "$1" && perl "$top/tests/mutate.pl" list "$seed" "$top/tests/mutate.equivalent" "${files[@]}")
}

# Tests the change of one line of $records by tests of less than SECONDS, in the folders whose names end in SUFFIX; says and notes what
# came of it. 255, with which xargs stops: the program cannot be built.
judge() { # SUFFIX SECONDS and NUMBER FILE PLACE CHANGE, with tabs between
  local number file place change test seconds code verdict=survived by='' folder=job$((SLOT0 + 1))$1 object
  is_wanted || return 255
  IFS=$'\t' read -r number file place change <<<"$3"
  object=$tree/$(object_of "$folder" "$file")
  cp "$work/objects/$number.o" "$object"
  while read -r _ test seconds; do
    run_test "$folder" "$test" "$seconds"
    code=$?
    if [ $code -eq 0 ]; then continue; fi
    if ! passes_unchanged "base$1" "$test"; then
      if [ -e "$work/broken" ]; then return 255; fi
      continue
    fi
    verdict=caught by=$test$1
    if [ $code -eq 124 ]; then verdict=timeout; fi
    break
  done < <(timed_tests "$file" "${place##*:}" "$2")
  cp "$tree/$(object_of "base$1" "$file")" "$object"
  printf '%s\t%s\t%s\t%s\t%s\n' $verdict "$file" "$place" "$change" "$by" >>"$work/verdicts"
  printf '%-8s %s  %s%s\n' $verdict "$place" "$change" "${by:+  [$by]}"
}

# Tests all changes of $records.
judge_all() { # SUFFIX SECONDS
  local i
  for ((i = 1; i <= jobs; i++)); do rm -rf "$tree/build/job$i$1" && cp -a "$tree/build/base$1" "$tree/build/job$i$1"; done
  tr '\n' '\0' <"$records" | xargs -0 -r -P "$jobs" --process-slot-var=SLOT0 -n 1 bash -c 'judge "$@"' - "$1" "$2"
  if [ -e "$work/broken" ]; then
    tail -5 "$work/broken" >&2
    echo "mutate.sh: the program cannot be built without a change: no verdict can be trusted" >&2
    exit 2
  fi
}

# ---- the report ----

# How many changes of each folder were caught; those that survived.
report() {
  awk -F '\t' '
    { folder = $2; sub(/\/[^\/]*$/, "", folder); n[folder]++; if ($1 != "survived") good[folder]++; else left = left "\n" $3 "  " $4 }
    END {
      for (folder in n) { all += n[folder]; caught += good[folder]; printf "%-24s %3d of %3d  %3d %%\n", folder, good[folder], n[folder], 100 * good[folder] / n[folder] | "sort" }
      close("sort"); printf "%-24s %3d of %3d  %3d %%\n", "all", caught, all, all ? 100 * caught / all : 0
      if (left != "") print "\nsurvived:" left
      exit left != "" }' "$work/verdicts"
}

if [ -n "$only_list" ]; then
  list_changes "$top" | awk -F '\t' -v n="$count" 'NR <= n { printf "%s:%s  %s: %s  ->  %s\n", $1, $2, $3, $7, $8 }'
  exit
fi
mkdir -p "$work" && copy_tree || exit 2
if [ -n "$again" ]; then keep_survivors; fi
# A run that was cut off may have left the object of a change.
if [ -f "$work/changed" ]; then rm -f "$(cat "$work/changed")" "$work/changed"; fi
build_base base cases
read_test_env
main=$$
export top work tree runs records most main
export -f is_wanted build object_of limit_room run_test checksum_of run_of record_run timed_tests passes_unchanged judge
record_runs || exit 2
if [ -n "$only_unrun" ]; then
  (cd "$tree" && list_files . | xargs -d '\n' perl "$top/tests/mutate.pl" unrun "$runs")
  exit
fi
if [ -z "$again" ]; then draw_changes; fi
: >"$work/verdicts"
: >"$work/unchanged"
rm -f "$work/broken"
judge_all '' "$most"
if [ -z "$only_plain" ]; then
  keep_survivors
  build_base base.sanitized
  sanitize_changes
  judge_all .sanitized $((most / 3))
fi
echo
report
