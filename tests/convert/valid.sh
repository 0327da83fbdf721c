# Sourced by test_valid_*.sh: the models of the stage converted. The result is valid for ONNX's own checker, ONNX Runtime loads it or
# lacks a kernel, and it converts to itself, byte by byte. Where ONNX Runtime can run what came out, its outputs agree with the
# program's; where the program can, its outputs are within tolerance of those of the model that went in. Under the sanitizers one
# in $STEP models, and nothing is compared with ONNX Runtime.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. ../oracle/ort_plain.sh
cd "$CASES/convert" || exit 2
# An operator or opset that nobody knows is no model for ONNX Runtime; ONNX's type inference knows no sparse initializers, and takes a
# split by a scalar for what exporters do not mean.
unknown=' contrib_newer declared_types exact_unreleased layer_unbound target_custom untouched weight_sparse '
# Models that no run gets through.
stuck=' sequence_bf16_before sequence_bf16_beyond '
# Operators that ONNX Runtime has in ai.onnx, and ONNX itself does not.
added=' contrib_decoder contrib_layer_norm '
random=' random_like explicit_type types_like types_of_nothing types_said half_raised_casts '
compared=0 validated=0 n_models=0 step=${STEP-1}

fail() {
  echo "not ok $case $dtype: $*"
  failed=1
}

# Runs $1 with both programs on the case's inputs. With --plain, ONNX Runtime rounds after each node; sums may differ in the last
# places, and large ones cancel.
compare() {
  local said code
  if [ "$step" -gt 1 ]; then return; fi
  rm -rf "$scratch/ort" && mkdir "$scratch/ort"
  if [ ${#names[@]} -gt 0 ] && [ ${#pairs[@]} -eq 0 ]; then return; fi # the case has no inputs, as it is about decisions alone
  said=$(ort_plain "$1" "$scratch/ort" ${pairs[@]+"${pairs[@]}"} 2>&1)
  code=$?
  if [ $code -eq 4 ]; then return; fi
  if [ $code -ne 0 ]; then fail "ONNX Runtime: $said"; return; fi
  if [[ $random == *" $case "* ]]; then return; fi
  said=$("$AMPCONV" run "$1" --strict -q ${data[@]+"${data[@]}"} --expect "$scratch/ort" -t rtol=2e-3 -t atol=2e-3 2>&1)
  code=$?
  if [ $code -eq 0 ]; then compared=$((compared + 1)); elif [ $code -ne 4 ]; then fail "$said"; fi
}

# Converts the case to $1, validated where the executor can; the model that came in is the reference.
convert_validated() {
  local said code=4
  if [[ $random$stuck != *" $case "* ]]; then
    said=$("$AMPCONV" "$case/model.onnx" $options -o "$1" -q ${data[@]+"${data[@]}"} 2>&1)
    code=$?
  fi
  if [ $code -eq 0 ]; then validated=$((validated + 1)); return 0; fi
  if [ $code -ne 4 ]; then fail "$said"; fi
  said=$("$AMPCONV" "$case/model.onnx" $options -o "$1" --no-validate -q 2>&1)
  case $?$dtype in
    0*) return 0 ;;
    4*-io) return 1 ;; # it would need an opset that the model cannot have
    *) fail "$said"; return 1 ;;
  esac
}

# Converts the case with the options $2; $1 says which file it becomes.
convert() {
  options=$2 failed=0
  local out=$scratch/$case.$1.onnx said
  dtype=$1
  convert_validated "$out" || return
  local seen=(${data[@]+"${data[@]}"}) # what guards went by, where the model was run
  if [[ $random$stuck == *" $case "* ]]; then seen=(); fi
  said=$("$AMPCONV" "$out" $options -o "$scratch/again.onnx" --no-validate -q ${seen[@]+"${seen[@]}"} 2>&1) || fail "again: $said"
  cmp "$out" "$scratch/again.onnx" >/dev/null 2>&1 || fail 'converted again it changes'
  if [[ $unknown == *" $case "* || $case == custom_* ]]; then rm "$out"; elif [[ $dtype != *-io && $stuck != *" $case "* ]]; then compare "$out"; fi
  if [[ $added == *" $case "* ]]; then rm "$out"; fi
  [ $failed -ne 0 ] || echo "ok $case $dtype"
}

# What the program and ONNX Runtime get as inputs.
find_inputs() {
  local i
  mapfile -t names < <(sed -nE 's/^input ([^ ]+) .*/\1/p' "$scratch/dump")
  pairs=() data=()
  for i in "${!names[@]}"; do
    if [ -f "$case/data/input_$i.pb" ]; then pairs+=("${names[i]}=$case/data/input_$i.pb"); fi
  done
  if [ -f "$case/data/input_0.pb" ]; then data=(--data "$case/data"); fi
}

# valid LEAST_COMPARED LEAST_VALIDATED DTYPE...: all cases converted to each DTYPE.
valid() {
  local folder said least_compared=$1 least_validated=$2
  shift 2
  for folder in */; do
    case=${folder%/}
    [ -f "$case/model.onnx" ] && [ ! -L "$case/model.onnx" ] && ((n_models++ % step == 0)) || continue
    "$AMPCONV" "$case/model.onnx" --dump-after=infer >"$scratch/dump" 2>/dev/null
    find_inputs
    for dtype in "$@"; do
      case $dtype in
        *-io) convert "$dtype" "-d ${dtype%-io} --io lower" ;;
        # To raise there is something where the model has float types of 16 bits.
        fp32) if grep -qE ' b?float16 ' "$scratch/dump"; then convert fp32 '-d fp32'; fi ;;
        *) convert "$dtype" "-d $dtype" ;;
      esac
    done
  done
  rm -f "$scratch/again.onnx"
  if said=$("$ORACLES/onnx_check" "$scratch"/*.onnx 2>&1 | grep -v '^Warning: Model contains experimental ops:'; exit "${PIPESTATUS[0]}"); then echo 'ok checker'; else echo "not ok checker: $said"; fi
  echo "# $*: outputs of $compared converted models compared with ONNX Runtime's, of $validated with those of the model before"
  if [ "$step" -gt 1 ] || { [ $compared -ge "$least_compared" ] && [ $validated -ge "$least_validated" ]; }; then
    echo 'ok compared'
  else
    echo 'not ok compared: too few models'
  fi
}
