#!/usr/bin/env bash
# Every model of this folder in float16, and raised to float32: valid.sh says what is tested.
. ./valid.sh
valid 165 160 fp16 fp32
