#!/usr/bin/env bash
# Text for people is put together by amp_print (core/print.h), which lets no name send anything to the terminal.
set -u
cd ../.. || exit 2
found=$(grep -nE '(^|[^a-z_])(v?f?printf|puts)\(' src/main.c src/cli/*.c src/core/graph/dump.c src/check/*.c src/run/*.c src/autocast/*.c src/onnx/*.c)
if [ -z "$found" ]; then echo 'ok printing'; else echo "not ok printing: $found"; fi
