#!/usr/bin/env bash
# Every model of the stage in float16, and raised to float32: valid.sh says what is tested.
# Takes long.
. ./valid.sh
valid 165 160 fp16 fp32
