#!/bin/sh
# The manual page ampconv-ops(7), out of what the program says of itself: man/ops.sh PROGRAM >PAGE
set -eu
version=$("$1" --version | sed -n '1s/^\(ampconv [^ ]*\).*/\1/p')
cat <<END
.TH AMPCONV-OPS 7 "" "$version" "Operators"
.SH NAME
ampconv-ops \- the operators that ampconv knows, and how it runs them
.SH DESCRIPTION
What
.B ampconv run \-\-list\-ops
prints, by domain.
After an operator's name stand the versions that run (ONNX's
.BR since_version ),
and whether
.BR oneDNN ", in whole or in part, or " C
runs it.
What can be converted and not executed is
.BR "only converted" .
.PP
In float16 and bfloat16 an operator runs
.BR natively ,
on tensors of these types, or
.BR rounded :
its inputs are copied to float32 and its outputs rounded.
Where oneDNN has nothing for a dtype on the processor at hand, its operators are rounded too.
Those that a Gradient node may lie behind are
.BR derivable .
.PP
Then come the types, by type variable, of the newest of the versions.
A range like int8\-64 stands for all types of that name and of those widths, float8 for the four of ONNX's first ones.
END
"$1" run --list-ops | LC_ALL=C awk '
  function heading(domain, name) {
    if (domain == last) return
    last = domain
    print ".SH " toupper(domain)
  }
  NR == 1 { versions_at = index($0, "VERSIONS"); types_at = index($0, "TYPES"); next }
  {
    name = $1; domain = "ai.onnx"
    if (match(name, /.*\./)) { domain = substr(name, 1, RLENGTH - 1); name = substr(name, RLENGTH + 1) }
    versions = substr($0, versions_at, types_at - versions_at); sub(/ +$/, "", versions); gsub(/ /, ", ", versions)
    types = substr($0, types_at); gsub(/-/, "\\-", types)
    heading(domain)
    print ".TP"
    print ".BR " name " \" " versions (($2 == "-") ? "; only converted\"" : "; " $2 ($3 == "native" ? ", natively" : $3 == "rounded" ? ", rounded" : "") ($4 == "yes" ? ", derivable" : "") "\"")
    print types
  }'
cat <<'END'
.SH SEE ALSO
.BR ampconv (1)
END
