#!/usr/bin/env bash
# `ampconv completion`: what bash, zsh and fish complete is what the help of each command lists, and the values that tables know.
# bash's is run, at a terminal and by its function; zsh's and fish's are held to the help, checked and run where there is one.
set -u
root=$(cd ../.. && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
for shell in bash zsh fish; do
  "$AMPCONV" completion $shell >"$scratch/$shell" && [ -s "$scratch/$shell" ] || echo "not ok $shell: nothing is printed"
done
mkdir "$scratch/work" "$scratch/work/dd" && cd "$scratch/work" || exit 2
touch x.npy x.onnx 'y z.onnx'

same() { # NAME FOUND EXPECTED
  if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: '$2' where '$3' was expected"; fi
}
words() { tr -s ' \n' '\n' | grep . | LC_ALL=C sort -u | tr '\n' ' '; }

# The commands, by the usage, and the long options of one, by its help.
commands=(convert run compare bench calibrate train rules completion)
options_of() { "$AMPCONV" help "$1" | grep -oE '^  (-., |    )--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'; }
same 'the commands of the help' "$("$AMPCONV" help | sed -n '/^$/q; s/^       ampconv \([a-z]*\) .*/\1/p' | words)" \
  "$(printf '%s\n' "${commands[@]}" help | grep -v convert | words)"

# ---- bash ----
# What it offers for the words, the last of which is typed, cut as bash cuts them.
offers() { # WORD...
  bash --norc -c 'source "$1" && shift && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _ampconv 2>/dev/null && printf "%s\n" "${COMPREPLY[@]}"' \
    - "$scratch/bash" "$@" | words
}
for command in "${commands[@]}"; do
  expected=$(options_of "$command" | words)
  same "bash: options of $command" "$(offers ampconv "$command" --)" "$expected"
  [ -n "$expected" ] || echo "not ok $command: its help lists no option"
done
same 'bash: options of a conversion' "$(offers ampconv m.onnx --)" "$(options_of convert | words)"
same 'bash: commands and models' "$(offers ampconv '')" "bench calibrate compare completion convert dd help rules run train x.npy x.onnx y z.onnx "
same 'bash: help' "$(offers ampconv help '')" "$(printf '%s\n' "${commands[@]}" help | words)"
same 'bash: completion' "$(offers ampconv completion '')" 'bash fish zsh '
same 'bash: rule sets and files' "$(offers ampconv rules x)" 'x.npy x.onnx '
same 'bash: all rule sets' "$(cd dd && offers ampconv -r '')" "$(for file in "$root"/rules/*.yaml; do basename "$file" .yaml; done | words)"
same 'bash: a dtype' "$(offers ampconv m.onnx --dtype b)" 'bf16 '
same 'bash: by its letter' "$(offers ampconv m.onnx -d '')" 'bf16 fp16 fp32 '
same 'bash: behind =' "$(offers ampconv m.onnx --dtype = b)" 'bf16 '
same 'bash: = alone' "$(offers ampconv m.onnx --dtype =)" 'bf16 fp16 fp32 '
same 'bash: behind = only' "$(offers ampconv m.onnx --explain = n)" 'noise '
same 'bash: not in the next word' "$(offers ampconv m.onnx --explain x)" 'x.npy x.onnx '
same 'bash: an operator' "$(offers ampconv m.onnx --op ConvT)" 'ConvTranspose= '
same 'bash: its precision' "$(offers ampconv m.onnx --op Conv = '')" 'bf16 clear follow fp16 fp32 infer lower widest '
same 'bash: both behind =' "$(offers ampconv m.onnx --op = Conv = f)" 'follow fp16 fp32 '
same 'bash: a node is not known' "$(offers ampconv m.onnx --node '')" ''
same 'bash: its precision is' "$(offers ampconv m.onnx --node a = wi)" 'widest '
same 'bash: alone or in a pair' "$(offers ampconv m.onnx --io '') $(offers ampconv m.onnx --io y = '')" 'keep lower  keep lower '
same 'bash: a file in a pair' "$(offers ampconv run m.onnx -i x = x)" 'x.npy x.onnx '
same 'bash: a file alone or in a pair' "$(offers ampconv m.onnx --labels x) $(offers ampconv m.onnx --labels y = x.n)" 'x.npy x.onnx  x.npy '
same 'bash: a folder' "$(offers ampconv run m.onnx --output-dir '')" 'dd '
same 'bash: an option of another command' "$(offers ampconv run m.onnx --tune)" ''
same 'bash: metrics' "$(offers ampconv m.onnx --tolerance s)" "$("$AMPCONV" help | grep -oE 'a bound on [^;]*' | grep -oE '\bs[a-z0-9_]+' | sed 's/$/=/' | words)"
same 'bash: strategies' "$(offers ampconv m.onnx --strategy '')" \
  "$("$AMPCONV" help | sed -n 's/.* how to search: \(.*\) \[default.*/\1/p' | tr ',' ' ' | words)"
# The stages are those that the program names when it is given another.
same 'bash: stages' "$(offers ampconv m.onnx --dump-after '')" \
  "$("$AMPCONV" x.onnx --dump-after nothing 2>&1 | sed 's/.*: //; s/ or /, /' | tr ',' ' ' | words)"
# Other values that completion knows by itself are said in the help.
while read -r option rest; do
  help=$("$AMPCONV" help "$rest" | grep -A1 -E -- "^ +(-., )?--$option\b")
  for word in $(offers ampconv "$rest" --"$option" = ''); do
    case $word in *.npy | *.onnx | dd) ;; *) grep -qwF -- "$word" <<<"$help" || echo "not ok --$option $word is not in its help: $help" ;; esac
  done
  echo "ok values of --$option"
done <<'END'
dtype convert
opset convert
io convert
cast-cache convert
explain convert
tune-for convert
format run
sort compare
END

# At a terminal: M-* puts in all that it offers, ^A and ^E reach the ends of the line.
if command -v script >/dev/null; then
  at_terminal() { # TYPED: the words that it became
    printf 'PS1=; bind "set bell-style none"; bind "\\"\\e*\\": insert-completions"; source %q; cd %q; stty -echo\n' "$scratch/bash" "$PWD" >"$scratch/typed"
    printf '%b' "$1\e*\x01echo 'BEGIN \x05 END'\n exit\n" >>"$scratch/typed"
    script -qec 'TERM=dumb bash --norc --noprofile -i' /dev/null <"$scratch/typed" 2>&1 | tr -d '\r' | sed -n 's/^BEGIN \(.*\) END$/\1/p' | tail -n 1 | sed 's/ *$//'
  }
  same 'at a terminal: a value' "$(at_terminal 'ampconv m.onnx --dtype=b')" 'ampconv m.onnx --dtype=bf16'
  same 'at a terminal: an option' "$(at_terminal 'ampconv m.onnx --dump')" 'ampconv m.onnx --dump-after'
  same 'at a terminal: all' "$(at_terminal 'ampconv completion ')" 'ampconv completion bash fish zsh'
  same 'at a terminal: a pair' "$(at_terminal 'ampconv m.onnx --op=Conv=wi')" 'ampconv m.onnx --op=Conv=widest'
  same 'at a terminal: a file with a space' "$(at_terminal 'ampconv run y')" 'ampconv run y\ z.onnx'
else
  echo '# no script(1): not run at a terminal'
fi

# ---- zsh, fish ----
for command in "${commands[@]}"; do
  found=$(awk -v command="  $command)" '$0 == command { on = 1 } on && /^    ;;/ { exit } on' "$scratch/zsh" | sed -n '/^      /s/\[.*//p' |
    grep -oE -- '--[a-z0-9-]+' | words)
  same "zsh: options of $command" "$found" "$(options_of "$command" | words)"
  found=$(grep -E "^complete -c ampconv -n '__ampconv_is( [a-z]+)* $command( [a-z]+)*' -l " "$scratch/fish" | sed 's/.* -l \([a-z0-9-]*\) .*/--\1/' | words)
  same "fish: options of $command" "$found" "$(options_of "$command" | words)"
done
# What follows the description of an option of zsh's: words and files as they are, then those behind a =. A letter and a name exclude each
# other, unless they are repeatable; a value that need not be there is told by =- and two colons.
while IFS='|' read -r name value; do
  same "zsh: $name" "$(grep -F -- "${name}[" "$scratch/zsh" | head -n 1 | sed "s/^ *//; s/\\[.*\\]:\\(.*{_ampconv\\)/[]:\\1/; s/ *.\$//")" "${name}[]:$value"
done <<'END'
'(-d --dtype)'{-d+,--dtype=}'|DTYPE:{_ampconv_value "bf16 fp16 fp32" "" "" ""}'
'(-o --output)'{-o+,--output=}'|OUT:{_ampconv_value "" "files" "" ""}'
'--output-dir=|DIR:{_ampconv_value "" "folders" "" ""}'
'*--node=|PATTERN=PRECISION:{_ampconv_value "" "" "follow lower fp32 bf16 fp16 widest infer clear" "" pair}'
\*{-i+,--input=}'|NAME=FILE:{_ampconv_value "" "" "" "files" pair}'
'--threads=|N:{_ampconv_value "" "" "" ""}'
END
holds() { if grep -qxF -- "$3" "$scratch/$2"; then echo "ok $1"; else echo "not ok $1: $(grep -F -- "${3:0:60}" "$scratch/$2" | head -n 2)"; fi; }
holds 'zsh: a file that need not be there' zsh "      '--json=-[write the report as JSON; --json NAME.json is right too]::\\[=FILE\\]:{_ampconv_value \"\" \"files\" \"\" \"\"}' \\"
holds 'zsh: a file, alone or behind a =' zsh "      '*--labels=[class numbers or targets (.npy) of the samples, for an output\\: report each model'\\''s accuracy]:\\[NAME=\\]FILE:{_ampconv_value \"\" \"files\" \"\" \"files\" pair}' \\"
holds 'fish: words' fish "complete -c ampconv -n '__ampconv_is convert compare rules' -l dtype -s d -x -a 'bf16 fp16 fp32' -d 'the lower dtype: bf16, fp16, or bf16,fp16; fp32 raises a model of 16 bits'"
holds 'fish: words, alone or behind a =' fish "complete -c ampconv -n '__ampconv_is convert compare' -l io -x -a '(__ampconv_pair \"keep lower\" \"keep lower\" \"\" \"\")' -d 'keep or lower the graph\\'s float inputs and outputs; repeatable'"
holds 'fish: files' fish "complete -c ampconv -n '__ampconv_is convert' -l output -s o -r -F -a '' -d 'the converted model; - is stdout'"
holds 'fish: files behind a =' fish "complete -c ampconv -n '__ampconv_is convert run compare bench calibrate train' -l input -s i -x -a '(__ampconv_pair \"\" \"\" \"\" \"files\")' -d 'a graph input from a .npy or .pb file; repeatable'"
holds 'fish: a value that need not be there' fish "complete -c ampconv -n '__ampconv_is convert run compare bench train' -l json -a '' -d 'write the report as JSON; --json NAME.json is right too'"
for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    echo "# no $shell: not checked by it"
  elif said=$($shell -n "$scratch/$shell" 2>&1) && [ -z "$said" ]; then
    echo "ok $shell takes the script"
  else
    echo "not ok $shell takes the script: $said"
  fi
done
if command -v fish >/dev/null; then
  fish_offers() { HOME=$scratch fish --no-config -c "source '$scratch/fish'; complete -C '$1'" 2>&1 | cut -f1 | words; }
  same 'fish: a dtype' "$(fish_offers 'ampconv m.onnx --dtype ')" 'bf16 fp16 fp32 '
  same 'fish: a precision' "$(fish_offers 'ampconv m.onnx --op Conv=f')" 'Conv=follow Conv=fp16 Conv=fp32 '
  same 'fish: a file in a pair' "$(fish_offers 'ampconv run -i x=x.n')" 'x=x.npy '
  same 'fish: an option of another command' "$(fish_offers 'ampconv run --tune-l')" ''
fi

same 'no shell' "$("$AMPCONV" completion 2>&1)" 'ampconv: no SHELL given; see ampconv --help'
same 'another shell' "$("$AMPCONV" completion ksh 2>&1)" 'ampconv: completion ksh: bash, zsh or fish is needed'
