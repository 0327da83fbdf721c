#!/usr/bin/env bash
# What a run holds: elementwise operators write where they read, when nobody needs that any more.
set -u
here=$(cd "$(dirname "$0")" && pwd)
rows=100000 # of 12 bytes

peak=$("$AMPCONV" bench -q "$here/data_reused/model.onnx" --dim rows=$rows -d fp32 --runs 1 --json | sed -nE 's/.*"peak_bytes": ([0-9]+).*/\1/p')
if [ "$peak" -ge $((2 * 12 * rows)) ] && [ "$peak" -lt $((5 * 12 * rows / 2)) ]; then
  echo 'ok two tensors at a time'
else
  echo "not ok two tensors at a time: $peak bytes"
fi
