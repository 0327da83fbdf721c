# Sourced by the tests here.

result() { # NAME: runs the rest of the words
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $output"; fi
}
