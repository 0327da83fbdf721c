# The fields of the reports, out of their schema (report.schema.json, a line each), in the place of the line `.\" FIELDS` of
# ampconv-report.5.
function text(line) {
    sub(/.*"description": "/, "", line)
    sub(/"[^"]*$/, "", line)
    gsub(/-/, "\\-", line)
    return line
}
# What a property is made of, where that has a section of its own.
function part(line, found) {
    found = ""
    while (match(line, /#\/\$defs\/[a-z_]+/)) {
        name = substr(line, RSTART + 8, RLENGTH - 8)
        if (name in sections && name != "tool")
            found = found (found == "" ? "" : " or ") name
        line = substr(line, RSTART + RLENGTH)
    }
    return found
}
FNR == NR {
    lines[++n] = $0
    if ($0 ~ /^    "[a-z_]+": \{/) {
        split($0, words, "\"")
        current = words[2]
    }
    if ($0 ~ /"properties": \{/)
        sections[current] = 1
    next
}
$0 != ".\\\" FIELDS" { print; next }
{
    for (i = 1; i <= n; i++) {
        split(lines[i], words, "\"")
        if (lines[i] ~ /^    "[a-z_]+": \{/) {
            current = words[2]
            if (current in sections)
                print ".SS " current
        }
        if (current in sections && lines[i] ~ /^      "description": |^    "[a-z_]+": \{.*"description": /)
            print text(lines[i])
        if (lines[i] ~ /^        "[a-z_]+": \{.*"description": /) {
            made_of = part(lines[i])
            print ".TP\n.B " words[2] "\n" text(lines[i]) (made_of != "" ? " (" made_of ")" : "")
        }
    }
}
