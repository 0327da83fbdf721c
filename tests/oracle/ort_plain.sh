# Sourced by test scripts. ONNX Runtime need not compute the same twice: what it made of the same bytes stays in RESULTS.ort, which
# `make check` removes at its begin and fills and reads with two builds of the program.

# ort_plain MODEL OUTDIR NAME=FILE...: as `ort_run MODEL --plain OUTDIR NAME=FILE...`.
ort_plain() {
  local model=$1 out=$2 kept='' code
  shift 2
  if [ -n "${RESULTS-}" ]; then
    kept=$(for word in "$@"; do echo "${word%=*}"; cat "${word##*=}"; done | cat "$model" - | sha256sum)
    kept=$RESULTS.ort/${kept%% *}
  fi
  if [ -n "$kept" ] && [ -d "$kept" ]; then
    cp "$kept"/* "$out" && rm "$out/code" && return "$(<"$kept/code")"
  fi
  "$ORACLES/ort_run" "$model" --plain "$out" "$@"
  code=$?
  if [ -n "$kept" ] && { [ $code -eq 0 ] || [ $code -eq 4 ]; }; then
    mkdir -p "$kept.$$" && echo $code >"$kept.$$/code" && find "$out" -name 'output_*.pb' -exec cp -t "$kept.$$" {} + &&
      mv -T "$kept.$$" "$kept" 2>/dev/null || rm -rf "$kept.$$"
  fi
  return $code
}
