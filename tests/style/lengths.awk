# The lines of each function and of each macro: "LINES FILE:LINE NAME". A function begins with { and ends with } in the first
# column, as .clang-format has it; a macro goes on while its lines end in \.
FNR == 1 { open = macro = 0 }

/^[A-Za-z_].*\(/ && !open { head = $0 }
/^\{/ { open = FNR }
/^\}/ && open {
  sub(/\(.*/, "", head)
  sub(/.*[ *]/, "", head)
  print FNR - open + 1, FILENAME ":" open, head
  open = 0
}

/^#define/ && !macro { macro = FNR; name = $2; sub(/\(.*/, "", name) }
macro && !/\\$/ { print FNR - macro + 1, FILENAME ":" macro, name; macro = 0 }
