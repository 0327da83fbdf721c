# Reads a graph as --dump-after prints it and names each cast that could go without a bit of any result changing: a cast to the
# type that its input has; a second cast of a value to a type, in the same body; a cast of what another cast has widened; a cast of
# a constant that would be stored in no more room. A cast that makes an output keeps that output's name: it may repeat another one,
# and may have its input's type.
# Names must hold neither spaces nor parentheses, and be unique over all bodies.

function bits(dtype) { return dtype == "float32" ? 32 : dtype == "double" ? 64 : dtype ~ /^b?float16$/ ? 16 : 0 }
function is_widening(from, to) { return bits(from) > 0 && bits(to) > bits(from) }

# The values that the line gives, with their types: "name dtype" after the arrow.
function note_values(line,    word) {
    while (match(line, /^[^ ,]+ [a-z0-9]+/)) {
        split(substr(line, 1, RLENGTH), word, " ")
        dtype[word[1]] = word[2]
        line = substr(line, RLENGTH + 1)
        sub(/^ \[[^]]*\]/, "", line)
        if (line !~ /^, /)
            return word[1]
        line = substr(line, 3)
    }
}

$1 == "output" { is_output[$2] = 1 }
$1 == "input" || $1 == "weight" { dtype[$2] = $3 }
$1 == "input" { is_input[$2] = 1 }
$1 == "weight" && !is_input[$2] { is_constant[$2] = 1 } # a caller may override the others

# Each body is a scope of its own for repetitions: what is indented further than its name.
/^ +[a-z_]+:$/ { scope[match($0, /[^ ]/) + 1] = ++n_bodies }

$1 == "node" {
    arrow = index($0, ") -> ")
    head = substr($0, 1, arrow - 1)
    input = substr(head, match(head, /\([^(]*$/) + 1)
    output = note_values(substr($0, arrow + 5))
    if ($2 ~ /^Constant-/)
        is_constant[output] = 1
    if ($2 !~ /^Cast-/)
        next
    n++
    source[n] = input
    made[n] = output
    place[n] = scope[match($0, /[^ ]/) - 1]
    cast_of[output] = n
}

END {
    for (i = 1; i <= n; i++) {
        from = dtype[source[i]]
        to = dtype[made[i]]
        if (from == to && !is_output[made[i]])
            print "cast of '" source[i] "' to its own type " to
        key = place[i] SUBSEP source[i] SUBSEP to
        if (key in first && !is_output[made[i]])
            print "second cast of '" source[i] "' to " to
        first[key] = 1
        if (source[i] in cast_of && is_widening(dtype[source[cast_of[source[i]]]], from))
            print "cast of '" source[i] "', which is a widened '" source[cast_of[source[i]]] "'"
        if (is_constant[source[i]] && bits(to) > 0 && bits(to) <= bits(from) && !is_output[made[i]])
            print "cast of the constant '" source[i] "' to " to
    }
}
