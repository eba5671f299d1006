#!/usr/bin/env bash
# labels: long
# A wide sample of allocation failures in whole programs (sample_programs.sh).
source "$WEFT_SOURCE/tests/fault/sample_programs.sh"
sample_programs 400 2
