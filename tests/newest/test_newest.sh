#!/usr/bin/env bash
# ONNX's node tests of what is newer than the installed test data (NOTICE says which): as for the backend tests, each archive
# passes at least as many cases as the list at the end says; the numbers there may only rise.
set -u
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
while read -r archive least; do
  mkdir "$scratch/$archive" && xz -dc "$archive.tar.xz" | tar -xf - -C "$scratch/$archive" || exit 2
  output=$("$AMPCONV" run --test-suite "$scratch/$archive" 2>&1)
  code=$?
  total=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' <<<"$output")
  passed=${total%% *}
  echo "# $archive: $total"
  if [ -n "$passed" ] && [ "$passed" -ge "$least" ] && [ $code -le 4 ]; then
    echo "ok $archive"
  else
    echo "not ok $archive: exit $code, ${passed:-none} passed, at least $least before: $(grep '^failed' <<<"$output" | cut -c1-200)"
  fi
done <<'END'
onnx-1.20 515
END
