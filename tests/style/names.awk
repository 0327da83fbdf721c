# Of C sources, prints "FILE NAME" for each string that is an operator's name, comments apart, unless the file defines the operator:
# `.name = "NAME"`, or "NAME" within a call at the beginning of a line of a macro that makes descriptors. NAMES: a file of such names.
BEGIN { while ((getline line < NAMES) > 0) known[line] = 1 }
FNR == 1 { in_comment = 0 }
{
  text = $0
  if (in_comment) {
    end = index(text, "*/")
    if (!end) next
    text = substr(text, end + 2); in_comment = 0
  }
  while (start = index(text, "/*")) {
    rest = substr(text, start + 2); end = index(rest, "*/")
    if (end) text = substr(text, 1, start - 1) substr(rest, end + 2)
    else { text = substr(text, 1, start - 1); in_comment = 1 }
  }
  defines = text ~ /\.name = "/ || text ~ /^[A-Z_]+\(/
  while (match(text, /"[A-Z][A-Za-z0-9]*"/)) {
    name = substr(text, RSTART + 1, RLENGTH - 2)
    text = substr(text, RSTART + RLENGTH)
    if (!(name in known)) continue
    if (defines) defined[FILENAME " " name] = 1
    else said[FILENAME " " name] = 1
  }
}
END { for (pair in said) if (!(pair in defined)) print pair }
