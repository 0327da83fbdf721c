#!/usr/bin/env bash
# The end-to-end tests.
#   tests/STAGE/*.cases    cases as text (tests/README.md), made into folders $CASES/STAGE/CASE/ first. A folder with `args` (words
#                          for the program, as a shell would split them) is run: beside are the files that the words name, and what
#                          is expected: `stdout`, `stderr` (absent: empty), `exit` (absent: 0). `setup`, a shell script, prepares
#                          what a text cannot hold. The program runs in a copy of the folder.
#   tests/STAGE/test_*.sh  a script that prints "ok NAME" or "not ok NAME: reason" lines; for what a folder cannot say. It runs in its
#                          own folder and finds the cases in $CASES.
# The stages are the folders here.
# Appends "NAME PASSED FAILED" to RESULTS for each stage. --update rewrites what the .cases files expect. Exits 1 when anything failed.
# Arguments: what to run, stages or globs of STAGE/CASE and STAGE/test_*.sh; none: all. Scripts, and folders by the dozen, run side
# by side (tests/pool.sh); what they print comes in the order of the stages, first a stage's folders, then its scripts.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
: "${AMPCONV:?the program}"
export CASES=${CASES-$here/../build/cases}
case_tool=$here/../build/case_tool
if [ ! -x "$case_tool" ]; then echo 'run.sh: build/case_tool is missing: make cases' >&2; exit 2; fi
"$case_tool" expand "$here" "$CASES" || exit 2
CASES=$(cd "$CASES" && pwd)
update=
if [ "${1-}" = --update ]; then update=1; shift; fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export here scratch update
. "$here/pool.sh"
# Under the sanitizers, where a process takes a third of a second to begin, scripts that try one thing on hundreds of models take one
# in STEP of them.
case ${BUILD-} in *asan) STEP=${STEP-4} ;; *) STEP=${STEP-1} ;; esac
export STEP
# Leaks are failures; they may not look like one of the program's own exit codes. Where a block was
# allocated takes as long to find out, for all of oneDNN's, as the rest of a run: ASAN_OPTIONS with more malloc_context_size tells.
export ASAN_OPTIONS=${ASAN_OPTIONS-exitcode=99:detect_leaks=1:allocator_may_return_null=1:malloc_context_size=1}

# What a report says without what depends on the machine: how many nodes its CPU has no kernel for, what computes, how long it takes; and
# a page without its style and the version.
without_machine() {
  sed -E '/^  widened  /d; / no kernel for the lower dtype\.<\/p>$/d; /^<tr><th scope="row">(ampconv|computed by)</d
    /^ *"(seconds|widened_nodes)": \{$/,/^ *\},?$/d; /^ *"(seconds|peak_bytes|widened_nodes)": [0-9]/d
    /^<style>$/,/^<\/style>$/d; /^<meta name="generator"/d; s/ [0-9.e+-]+ ms a step, [0-9.]+ [A-Za-z]+ at most/ .../' "$1"
}

# Runs one case folder in the folder $2; says what differs.
run_case() {
  local folder=$1 work=$2 words code status=0 stream expected
  mkdir -p "$work" && cp -rL "$folder" "$work/case" || return 1
  (cd "$work/case" && if [ -f setup ]; then bash ./setup; fi) || { echo 'setup failed'; return 1; }
  eval "words=($(cat "$folder/args"))" || return 1
  (cd "$work/case" && timeout 120 "$AMPCONV" "${words[@]}" </dev/null >"$work/stdout" 2>"$work/stderr")
  code=$?
  if [ -n "$update" ]; then
    for stream in stdout stderr; do
      if [ -s "$work/$stream" ]; then without_machine "$work/$stream" >"$folder/$stream"; else rm -f "$folder/$stream"; fi
    done
    if [ $code -ne 0 ]; then echo $code >"$folder/exit"; else rm -f "$folder/exit"; fi
    return 0
  fi
  for stream in stdout stderr; do
    if [ -f "$folder/$stream" ]; then expected=$folder/$stream; else expected=/dev/null; fi
    diff -u --label "expected $stream" --label "$stream" <(without_machine "$expected") <(without_machine "$work/$stream") || status=1
  done
  if [ "$code" != "$(cat "$folder/exit" 2>/dev/null || echo 0)" ]; then echo "exit $code"; status=1; fi
  return $status
}

# The job JOB, case folders or a script: $scratch/JOB says which. What is to be shown goes to JOB.out, the number of passed and
# failed tests to JOB.counts.
run_job() {
  local job=$scratch/$1 path output code good passed=0 failed=0 bad begun=$SECONDS
  while read -r path; do
    if [ -d "$CASES/$path" ]; then
      good=1 bad=0
      output=$(run_case "$CASES/$path" "$job.work" 2>&1) || good=0 bad=1
      rm -rf "$job.work"
    else
      output=$(cd "$here/${path%/*}" && timeout 1800 bash "$here/$path" 2>&1)
      code=$?
      good=$(grep -c '^ok ' <<<"$output") bad=$(grep -c '^not ok ' <<<"$output")
      if [ $code -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
      grep '^# ' <<<"$output"
      output=$(grep -v '^ok ' <<<"$output")
    fi
    passed=$((passed + good)) failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then printf 'FAIL %s\n%s\n' "$path" "$output"; fi
  done <"$job" >"$job.out"
  echo $passed $failed $((SECONDS - begun)) >"$job.counts"
}
export -f without_machine run_case run_job

# ---- the jobs ----

# Each has a number, in the order of what they print; folders come in jobs of 12.
n_jobs=0
declare -A jobs_of=() script_job=()
add_job() { # STAGE PATH...
  n_jobs=$((n_jobs + 1))
  jobs_of[$1]+=" $n_jobs"
  printf '%s\n' "${@:2}" >"$scratch/$n_jobs"
}

asked=("$@")
# Whether to run STAGE/CASE or STAGE/SCRIPT.
is_asked() {
  local glob
  for glob in "${asked[@]}"; do
    # shellcheck disable=SC2053 # a glob
    if [[ $1 == $glob || $1 == "$glob"/* ]]; then return 0; fi
  done
  [ ${#asked[@]} -eq 0 ]
}

list_cases() { # STAGE
  local args
  for args in "$1"/*/args; do
    if [ -f "$args" ] && is_asked "${args%/args}"; then echo "${args%/args}"; fi
  done
}

stages=() last=()
for folder in "$here"/*/; do
  stage=$(basename "$folder")
  stages+=("$stage")
  mapfile -t cases < <(cd "$CASES" && list_cases "$stage")
  for ((i = 0; i < ${#cases[@]}; i += 12)); do
    add_job "$stage" "${cases[@]:i:12}"
    last+=("$n_jobs")
  done
  for script in "$folder"test_*.sh; do
    if [ ! -f "$script" ] || [ -n "$update" ] || ! is_asked "$stage/${script##*/}"; then continue; fi
    add_job "$stage" "$stage/${script##*/}"
    script_job[$stage/${script##*/}]=$n_jobs
  done
done

# Jobs in the order in which they begin: scripts that say that they take long, the others, folders.
begin() {
  local path
  for path in "${!script_job[@]}"; do
    if grep -qx '# Takes long.' "$here/$path"; then echo "0 ${script_job[$path]}"; else echo "1 ${script_job[$path]}"; fi
  done | sort -k1,1n -k2,2n | cut -d' ' -f2
  if [ ${#last[@]} -gt 0 ]; then printf '%s\n' "${last[@]}"; fi
}

# ---- the report ----

declare -A is_done=()
# Whether all jobs of a stage are done.
is_over() {
  local job
  for job in ${jobs_of[$1]-}; do [ -n "${is_done[$job]-}" ] || return 1; done
}

# Prints what the jobs of a stage have to say; counts.
report() {
  local stage=$1 job passed=0 failed=0 good bad seconds=0 took
  for job in ${jobs_of[$stage]-}; do
    cat "$scratch/$job.out"
    read -r good bad took <"$scratch/$job.counts"
    passed=$((passed + good)) failed=$((failed + bad)) seconds=$((seconds + took))
  done
  if [ $((passed + failed)) -gt 0 ]; then
    if [ $failed -eq 0 ]; then printf 'ok   %s: %d passed, %d s\n' "$stage" $passed $seconds; fi
    printf '%s %d %d\n' "$stage" $passed $failed >>"${RESULTS:-/dev/null}"
  fi
  total=$((total + failed))
}

total=0
# Reports the next stages that are over.
report_over() {
  while [ ${#stages[@]} -gt 0 ] && is_over "${stages[0]}"; do
    report "${stages[0]}"
    stages=("${stages[@]:1}")
  done
}
while read -r job; do
  is_done[$job]=1
  report_over
done < <(begin | side_by_side run_job)
report_over
if [ ${#stages[@]} -gt 0 ]; then echo "FAIL ${stages[*]}: not all was run"; total=$((total + 1)); fi
if [ -n "$update" ]; then "$case_tool" update "$here" "$CASES" || exit 2; fi
[ $total -eq 0 ]
