#!/usr/bin/env bash
# --report: one file of HTML that needs no other, is the same each time, and names what is at fault. It needs no browser: the file
# must be well-formed XML, refer to nothing, and hold known numbers.
set -u
root=$(cd ../.. && pwd)
tool=$root/build/case_tool
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cp "$root/models/digits_transformer.onnx" "$scratch/m.onnx"
cp "$CASES/cli/page_overflow/model.onnx" "$scratch/overflow.onnx"
cp "$CASES/cli/page_overflow/other.onnx" "$scratch/overflow16.onnx"
cp "$CASES/cli/page_overflow/x.npy" "$scratch/x.npy"
LC_ALL=C sed 's/ZZZZ/\x1b\xff\x01\xc0/g' "$CASES/cli/html_hostile/model.onnx" >"$scratch/hostile.onnx"
cd "$scratch" || exit 2
data=(--data "$root/models/digits" --labels "$root/models/digits/labels.npy")

holds() { # NAME: the rest is a condition
  local name=$1
  shift
  if "$@" >said 2>&1; then echo "ok $name"; else echo "not ok $name: $(head -c 1000 said)"; fi
}
expect() { # NAME EXIT: the rest is run
  local name=$1 wanted=$2 code
  shift 2
  "$@" >said 2>&1 </dev/null
  code=$?
  if [ $code -eq "$wanted" ]; then echo "ok $name"; else echo "not ok $name: exit $code, $wanted expected: $(head -c 1000 said)"; fi
}
says() { grep -qF -- "$2" "$1"; }
counts() { [ "$(grep -oE -- "$2" "$1" | wc -l)" -eq "$3" ]; }
# What would fetch something or run, in any spelling; style that comes from elsewhere.
refers() { grep -oiE '<(script|link|img|iframe|object|embed|image|use)|https?:|[^a-z-](src|href) *= *"[^#]|url\(|@import|[ "]on[a-z]+ *= *"|javascript:' "$1"; }
is_page() { "$tool" xml "$1" && ! refers "$1" && [ "$(head -c 15 "$1")" = '<!DOCTYPE html>' ]; }

# A conversion.
expect 'a conversion' 0 "$AMPCONV" m.onnx -q -o out.onnx "${data[@]}" --report one.html
holds 'is a page' is_page one.html
for title in Verdict 'Where to look' 'Error along the graph' 'Error by source' Ranges Outputs Graph Models Operators Rules Settings; do
  holds "has $title" says one.html "<h2>$title</h2>"
done
holds 'says the verdict' says one.html 'Within tolerance'
holds 'says where the model went' says one.html 'The model was written to out.onnx.'
holds 'counts right answers' counts one.html '97\.[0-9]+ % \(35[0-9] of 360\)' 2
holds 'has the nodes of both models' says one.html '<th scope="row">nodes</th><td class="n">149</td><td class="n">153</td>'
holds 'has the casts' says one.html '<th scope="row">casts between float types</th><td class="n">0</td><td class="n">14</td>'
holds 'has the opset' says one.html '<th scope="row">opset</th><td class="n">17</td><td class="n">17</td>'
holds 'counts operators' says one.html '<tr><td>LayerNormalization</td><td class="n">5</td><td class="n"></td><td class="n">5</td>'
holds 'names the rule' counts one.html 'lower by torch-cpu\.yaml:[0-9]+, matmul' 5
holds 'draws what is 1 of 1 sample' says one.html 'Each dot is an element, 1800 of 3600'
holds 'titles every drawing' test "$(grep -c '<svg role="img"' one.html)" -eq "$(grep -cE '<svg role="img"[^>]*><title>.+</title>' one.html)"
holds 'captions every table' test "$(grep -c '<table>' one.html)" -eq "$(grep -c '<caption>.' one.html)"
holds 'has both colour schemes and paper' counts one.html '@media (\(prefers-color-scheme:dark\)|print)' 3
expect 'again' 0 "$AMPCONV" m.onnx -q --accept -o out.onnx "${data[@]}" --report two.html
holds 'is the same' cmp one.html two.html
expect 'to stdout' 0 bash -c '"$AMPCONV" m.onnx -q --accept -o out.onnx "${@}" --report - >three.html' - "${data[@]}"
holds 'is the same, too' cmp one.html three.html
holds 'was not tuned' test "$(grep -c '<h2>Tuning</h2>' one.html)" -eq 0
fewer=$CASES/validate/selected_fewer
expect 'a conversion that selects otherwise' 0 "$AMPCONV" "$fewer/model.onnx" -q -o out.onnx --op Mul=lower -i "x=$fewer/x.npy" --accept --report fewer.html
holds 'is a page with selections' is_page fewer.html
holds 'says what the figures are of' counts fewer.html 'within tolerance, on the reference&#39;s selection' 2
holds 'counts what is selected' says fewer.html '</code></td><td class="n">20</td><td class="n">19</td><td class="n">1 of 20</td></tr>'
holds 'captions them' test "$(grep -c '<table>' fewer.html)" -eq "$(grep -c '<caption>.' fewer.html)"
holds 'has no selections where there are none' test "$(grep -c 'nodes selected' one.html)" -eq 0
expect 'a conversion with outputs alone in common' 0 "$AMPCONV" "$CASES/convert/rounding/model.onnx" -q -o out.onnx --report constant.html
holds 'is a page without layers' is_page constant.html
holds 'has no errors along the graph' test "$(grep -c '<h2>Error along the graph</h2>' constant.html)" -eq 0
holds 'has a verdict' says constant.html 'Within tolerance'
expect 'a tuned conversion' 0 "$AMPCONV" m.onnx -q --accept -o out.onnx "${data[@]}" --tune --tune-for bytes --tolerance snr=50 --max-trials 4 --report tuned.html
holds 'is a page when tuned' is_page tuned.html
holds 'has Tuning' says tuned.html '<h2>Tuning</h2>'
holds 'says what remains float32' counts tuned.html 'The criterion holds with [0-9]+ of 149 nodes in float32' 1
holds 'rings the answer, in the legend too' counts tuned.html '<path class="ring"' 2
holds 'names the strategy and the costs' counts tuned.html 'Strategy <code>min-cut</code>: 4 trials; .*; costs: bytes moved' 1
holds 'names operators of units' says tuned.html '<td>linear</td>'
expect 'a tuned conversion of what is good enough' 0 "$AMPCONV" m.onnx -q --accept -o out.onnx "${data[@]}" --tune --tolerance snr=20 --report enough.html
holds 'says that it is' says enough.html 'All low meets the criterion'
expect 'without running' 0 "$AMPCONV" m.onnx -q --accept -o out.onnx --no-validate --report unrun.html
holds 'says so' says unrun.html 'Not validated'
holds 'is a page without running' is_page unrun.html

# Where an overflow is.
expect 'a comparison' 1 "$AMPCONV" compare overflow.onnx overflow16.onnx -q -i x=x.npy --report over.html
holds 'is a page' is_page over.html
holds 'with the verdict' says over.html 'Outside tolerance'
holds 'the first infinity' says over.html 'The first infinity is given by node <strong><code>square</code></strong> (Mul, fp16): 0 NaN and 1 infinite elements of 4.'
holds 'what it reaches' says over.html 'the value reaches <strong>90000</strong>; the largest float16 is 65504; nodes that take the value need float32 too.'
holds 'what can be done' says over.html "<span class=\"k\">--node</span> 'square=fp32'"
holds 'how many values are too large' says over.html '<strong>1 of 3 values</strong> are larger in the reference than float16 holds'
holds 'the range' says over.html 'b (Mul) in fp16: from 2500 to 90000, beyond the dtype&#39;s largest'
holds 'what the others take' says over.html 'It comes behind the first infinity, and most likely of it.'
holds 'the marks in the graph' counts over.html 'class="low heavy"' 2
expect 'a conversion that looks first' 0 "$AMPCONV" overflow.onnx -q -d fp16 --op Mul=lower -i x=x.npy -o yes.onnx --report kept.html
holds 'says which value kept which node' counts kept.html "<td>node &#39;square&#39; \(Mul-14\)</td><td>[^<]+</td><td><code>b</code></td><td class=\"n\">90000</td><td>in data</td>" 1
expect 'one source of error' 0 "$AMPCONV" overflow.onnx -q -d bf16 --op Mul=lower -i x=x.npy --accept -o yes.onnx --report alone.html
holds 'has all of it' says alone.html 'b, value of node &#39;square&#39; (Mul-14): 100 % of the error'
expect 'outside tolerance' 1 "$AMPCONV" m.onnx -q -o no.onnx -t snr=200 "${data[@]}" --report outside.html
holds 'there is no model' test ! -e no.onnx
holds 'but a page' is_page outside.html
holds 'that says so' says outside.html 'No model was written'
expect 'outside by a score' 1 "$AMPCONV" "$root/models/digits_pedestal.onnx" -q -o no.onnx -t accuracy-drop=0.2% "${data[@]}" --report score.html
holds 'says by which' counts score.html '<tr class="bad"><td>accuracy</td>.*<td>accuracy-drop [0-9.]+ % \([0-9.]+ to [0-9.]+\); at most 0\.2 % allowed</td></tr>' 1

# A run, a bench.
"$AMPCONV" run m.onnx -q --data "$root/models/digits" --output-dir expected
mv expected/*.npy expected/logits.npy 2>/dev/null
expect 'a run' 0 "$AMPCONV" run m.onnx -q --data "$root/models/digits" --expect expected --report run.html
holds 'is a page' is_page run.html
holds 'as expected' says run.html 'As expected'
holds 'all equal' says run.html 'All 3600 elements are equal.'
expect 'a bench' 0 "$AMPCONV" bench overflow.onnx m.onnx -q --runs 2 --report bench.html
holds 'is a page' is_page bench.html
holds 'of each model' counts bench.html '<h1>(overflow|m).onnx</h1>' 2
for title in Times 'By operator' Roofline 'By node' Models Graph; do
  holds "has $title of each" counts bench.html "<h2>$title</h2>" 2
done

# A command that judges: what it says of both models.
expect 'a command that judges' 1 "$AMPCONV" m.onnx -q --no-validate -o out.onnx --eval 'case {} in */m.onnx) echo 0.9;; *) echo 0.5;; esac' -t eval-drop=0.1 --report eval.html
holds 'is a page' is_page eval.html
holds 'has its scores' says eval.html 'says: reference <strong>0.9</strong>; converted <strong>0.5</strong>.'
expect 'a command that refuses' 1 "$AMPCONV" m.onnx -q --no-validate -o out.onnx --eval 'case {} in */m.onnx) ;; *) false;; esac' --eval-reference passed --report eval.html
holds 'has its verdicts' says eval.html 'says: reference <strong>passed</strong>; converted <strong>failed</strong>.'

# Training: what each step gave out, as a curve.
training=$CASES/training
expect 'training' 0 "$AMPCONV" train "$training/train_sgd/model.onnx" -q --data "$training/train_sgd/data" --steps 3 --report train.html
holds 'is a page' is_page train.html
holds 'with where it ended' says train.html 'loss 1.09861 at first, 0.472775 at last'
holds 'draws a line through three steps' counts train.html '<path class="linelow" d="M0 0M[0-9. ]*L[0-9. ]*L[0-9. ]*"/>' 1

# An output of one number, which is right.
expect 'one number' 0 "$AMPCONV" "$training/train_batch_of_a_number/model.onnx" -q --data "$training/train_batch_of_a_number/data" -o out.onnx --report single.html
holds 'is a page' is_page single.html
holds 'has its number' says single.html 'All 1 elements are equal.'

# Names that are no text.
expect 'hostile names' 0 "$AMPCONV" hostile.onnx -q --accept -o out.onnx --report hostile.html
holds 'are no markup' is_page hostile.html
holds 'are shown' says hostile.html '&lt;script&gt;alert(1)&lt;/script&gt;'
holds 'with their bytes' says hostile.html '\x1B\xFF\x01\xC0'

# A large model: a chain of 3000 nodes with long names.
{
  echo '# A large model.'
  echo '== large'
  echo '# A chain of 3000 nodes.'
  echo '-- model.onnx'
  echo '<ir_version: 8, opset_import: ["" : 17]>'
  echo 'large (float[1,4] v0) => (float[1,4] v3000) <float[4,4] w = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}> {'
  for ((i = 0; i < 3000; i++)); do
    op='Tanh(v%d)'
    [ $((i % 3)) -eq 0 ] && op='MatMul(v%d, w)'
    # shellcheck disable=SC2059
    printf "  [\"/transformer/encoder/layers.%d/attention/projection/%d/with_a_long_name\"] v%d = $op\n" $((i / 30)) "$i" $((i + 1)) "$i"
  done
  echo '}'
  echo
  echo '== many'
  echo '# 208 outputs of nodes that float16 cannot have.'
  echo '-- model.onnx'
  echo '<ir_version: 8, opset_import: ["" : 17]>'
  echo "many (float[2] x) => ($(seq -f 'float[2] y%g' -s ', ' 208)) <float big = {1000000}> {"
  seq -f '  y%g = Mul(x, big)' 208
  echo '}'
} >large.cases
mkdir tests tests/large && mv large.cases tests/large/
"$tool" expand tests cases
expect 'a large model' 0 "$AMPCONV" compare cases/large/large/model.onnx -q -d bf16 --node '*/projection/*05/*=fp32' -t snr=-100 -t cosine=-1 --report large.html
holds 'is a page' is_page large.html
holds 'below 2 MB' test "$(stat -c %s large.html)" -lt 2000000
holds 'is folded by name' says large.html '/transformer/encoder/layers.99'
# Nodes 105, 205, ... 2905 are in float32, and what follows ten of them twice and ten others once, up to the next product. A box of several has a bar of 140 as wide as shares of its nodes, and the colour of the most.
holds 'has each node in a box, and bars of its shares' awk '
  function number(text, name) { return match(text, name "=\"[-0-9.]+\"") ? substr(text, RSTART + length(name) + 2) + 0 : -1 }
  function near(a, b) { return a - b < 0.11 && b - a < 0.11 }
  /^<g><title>.*: [0-9]+ nodes, [0-9]+ in bf16 or fp16, [0-9]+ in fp32\./ {
    match($0, /: [0-9]+ nodes, [0-9]+ in bf16 or fp16, [0-9]+ in fp32\./)
    split(substr($0, RSTART + 2), word, " ")
    n = word[1]; low = word[3]; full = word[8]; boxes++
    all += n; all_low += low; all_full += full
    parts = split($0, part, "<rect ")
    x = number(part[2], " x"); y = number(part[2], " y")
    if (part[2] !~ (low >= full ? /^class="low"/ : /^class="full"/)) bad = bad " colour"
    i = 3; at = x + 8
    if (low > 0 && !(part[i] ~ /^class="solidlow"/ && near(number(part[i], " x"), at) && near(number(part[i], " y"), y + 37) && near(number(part[i], " width"), 140 * low / n))) bad = bad " low"
    if (low > 0) { at += 140 * low / n; i++ }
    if (full > 0 && !(part[i] ~ /^class="solidfull"/ && near(number(part[i], " x"), at) && near(number(part[i], " width"), 140 * full / n))) bad = bad " full"
    if (full > 0) i++
    if (i != parts + 1) bad = bad " more"
    next
  }
  /^<g><title>[^<]* in bf16, takes/ { boxes++; all++; all_low++ }
  /^<g><title>[^<]* in fp32, takes/ { boxes++; all++; all_full++ }
  END { print all, all_low, all_full, boxes, bad; exit !(all == 3000 && all_low == 2941 && all_full == 59 && boxes > 100 && boxes <= 170 && bad == "") }' large.html
holds 'draws fifteen layers at a time' awk '
  match($0, /layers [0-9]+ to [0-9]+ of [0-9]+</) {
    split(substr($0, RSTART), word, " ")
    last = word[6] + 0; end = from + 15 < last ? from + 15 : last
    if (word[2] != from + 1 || word[4] != end) bad = 1
    from = end
  }
  END { exit bad || from != last || last < 20 }' large.html
# 28 of the largest, no small ones: 15 of the worst.
holds 'draws the largest ranges' counts large.html '<text x="240\.0"' 28
expect 'a model of many outputs' 0 "$AMPCONV" cases/large/many/model.onnx -q -d fp16 --op Mul=lower -o out.onnx --report many.html
holds 'is a page' is_page many.html
holds 'draws the first outputs' counts many.html '<h3>Output <code>y[0-9]+</code></h3>' 6
holds 'says how many are left out' says many.html '<p>202 more outputs are left out.</p>'

# Wrong uses.
expect 'on the model' 2 "$AMPCONV" m.onnx -q -o both --report both
holds 'writes nothing' test ! -e both
expect 'two on stdout' 2 "$AMPCONV" m.onnx -q -o - --report -
expect 'with --json' 2 "$AMPCONV" m.onnx -q -o new.onnx --json=x --report x
expect 'with --list' 2 "$AMPCONV" m.onnx --list --report x.html
expect 'with --list-ops' 2 "$AMPCONV" run --list-ops --report x.html
expect 'in no folder' 2 "$AMPCONV" m.onnx -q -o new.onnx --report none/x.html
holds 'before any work' test ! -e new.onnx
expect 'a full disk' 2 "$AMPCONV" m.onnx -q -o new.onnx --no-validate --report /dev/full
