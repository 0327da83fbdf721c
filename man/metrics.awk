# The manual page ampconv(1) with the metrics of --tolerance, out of the comments and fields of the tables of metrics:
#   awk -f man/metrics.awk src/check/metrics.c src/check/task/task_metrics.c man/ampconv.1
# The metrics take the place of the line .\" METRICS, those of the task that of .\" TASK METRICS. Fails for a metric without a
# comment or without the line.

function fail(text) { print "man/metrics.awk: " text >"/dev/stderr"; failed = 1; exit 1 }

# The value of field .NAME in a row, "" without it.
function field(row, name) {
  if (!match(row, "\\." name " = [^,}]+")) return ""
  return substr(row, RSTART + length(name) + 4, RLENGTH - length(name) - 4)
}

function word(row, name) { name = field(row, name); gsub(/"/, "", name); gsub(/-/, "\\-", name); return name }

function add_task_metric(row, text) {
  tasks = tasks ".TP\n.B " word(row, "bound") "\nOn " word(row, "name") ", " tolower(substr(text, 1, 1)) substr(text, 2) "\n1% is " \
    (field(row, "is_share") == "true" ? "0.01" : "a hundredth of the value before") ".\nGoes with\n.BR \\-\\-" word(row, "source") " .\n"
}

function add_metric(row, text,   name, bf16) {
  name = field(row, "name"); gsub(/"/, "", name)
  if (name == "" || text == "") fail("a metric has no name or no comment: " row)
  gsub(/-/, "\\-", text)
  if (field(row, "bound") != "") { add_task_metric(row, text); return }
  metrics = metrics ".TP\n.B " name "\n" text "\nA bound is the " (field(row, "is_minimum") == "true" ? "least" : "most") " that is allowed"
  bf16 = field(row, "bf16")
  if (bf16 != "") metrics = metrics "; default: " bf16 " for bf16, " field(row, "fp16") " for fp16, " field(row, "fp32") " for fp32"
  metrics = metrics ".\n"
}

{ is_source = FILENAME ~ /\.c$/ }
is_source && /metrics_table\[\] = \{/ { in_table = 1; next }
is_source && /^\};/ { in_table = 0 }
is_source {
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
  if (line ~ /\},$/ && gsub(/\{/, "{", row) == gsub(/\}/, "}", row)) { add_metric(row, comment); row = comment = "" }
  next
}
/^\.\\" METRICS$/ { printf "%s", metrics; found++; next }
/^\.\\" TASK METRICS$/ { printf "%s", tasks; found++; next }
{ print }
END { if (!failed && (found != 2 || metrics == "" || tasks == "")) fail("no place for metrics, or no metrics") }
