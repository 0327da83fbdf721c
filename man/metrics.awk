# The manual page ampconv(1) with the metrics of --tolerance, out of the comments and fields of the table of metrics:
#   awk -f man/metrics.awk src/check/metrics.c man/ampconv.1
# The metrics take the place of the line .\" METRICS. Fails for a metric without a comment or without the line.

function fail(text) { print "man/metrics.awk: " text >"/dev/stderr"; failed = 1; exit 1 }

# The value of field .NAME in a row, "" without it.
function field(row, name) {
  if (!match(row, "\\." name " = [^,}]+")) return ""
  return substr(row, RSTART + length(name) + 4, RLENGTH - length(name) - 4)
}

function add_metric(row, text,   name, bf16) {
  name = field(row, "name"); gsub(/"/, "", name)
  if (name == "" || text == "") fail("a metric has no name or no comment: " row)
  gsub(/-/, "\\-", text)
  metrics = metrics ".TP\n.B " name "\n" text "\nA bound is the " (field(row, "is_minimum") == "true" ? "least" : "most") " that is allowed"
  bf16 = field(row, "bf16")
  if (bf16 != "") metrics = metrics "; default: " bf16 " for bf16, " field(row, "fp16") " for fp16, " field(row, "fp32") " for fp32"
  metrics = metrics ".\n"
}

FNR == NR && /metrics_table\[\] = \{/ { in_table = 1; next }
FNR == NR && /^\};/ { in_table = 0 }
FNR == NR {
  if (!in_table) next
  line = $0; sub(/^ +/, "", line)
  if (line ~ /^\/\*/) { in_comment = 1; comment = ""; sub(/^\/\* /, "", line) }
  if (in_comment) {
    in_comment = line !~ /\*\//
    sub(/ *\*\/$/, "", line)
    comment = comment (comment == "" ? "" : " ") line
    next
  }
  row = row line
  if (line ~ /\}\},$/) { add_metric(row, comment); row = comment = "" }
  next
}
/^\.\\" METRICS$/ { printf "%s", metrics; found = 1; next }
{ print }
END { if (!failed && (!found || metrics == "")) fail("no place for metrics, or no metrics") }
