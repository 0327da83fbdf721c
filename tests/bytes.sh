# Sourced by tests that make models byte by byte: messages in hex, by the numbers of their fields (onnx.proto).

varint() { # NUMBER
  local n=$1 hex=
  for (( ; n > 127; n >>= 7)); do hex+=$(printf %02x $((n & 127 | 128))); done
  printf '%s%02x' "$hex" "$n"
}
field() { printf '%s%s%s' "$(varint $(($1 << 3 | 2)))" "$(varint $((${#2} / 2)))" "$2"; } # NUMBER HEX
text() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
write() { # FILE HEX
  printf "$(sed 's/../\\x&/g' <<<"$2")" >"$1"
}
value() { field "$1" "$(field 1 "$(text "$2")")$(field 2 "$3")"; } # FIELD NAME TYPE
node() { # OP INPUTS OUTPUTS [MORE]: a NodeProto; the names with spaces between them
  local name
  for name in $2; do field 1 "$(text "$name")"; done
  for name in $3; do field 2 "$(text "$name")"; done
  field 4 "$(text "$1")"
  printf %s "${4-}"
}
