#!/usr/bin/env bash
# Every model of the stage in bfloat16, with and without its inputs and outputs: valid.sh says what is tested.
# Takes long.
. ./valid.sh
valid 15 290 bf16 bf16-io
