#!/usr/bin/env bash
# labels: quick
# weft gemm --algorithm 3m on the host: the bound that it prints is (K + 4) u / (1 - (K + 4) u) with u = 2^-53 or 2^-24, results pass
# the check against it, in batches too, and what 3m is not for is refused.
set -euo pipefail
weft=$WEFT_BUILD/weft

fail() {
    echo "$*"
    exit 1
}

# says WORDS COMMAND...: it succeeds, and prints the words
says() {
    local words=$1 output
    shift
    output=$("$@" 2>&1) || fail "$* fails: $output"
    grep -qF -- "$words" <<< "$output" || fail "$* does not print '$words': $output"
}
# refuses WORDS COMMAND...: it ends with 2, and says the words
refuses() {
    local words=$1 output code=0
    shift
    output=$("$@" 2>&1) || code=$?
    [ $code = 2 ] || fail "$* ends with $code: $output"
    grep -qF -- "$words" <<< "$output" || fail "$* does not say '$words': $output"
}

# 24 * 2^-53 = 2.7e-15 and 24 * 2^-24 = 1.4e-6
says "err by at most 2.7e-15 times" "$weft" gemm Z NN,CT 30 17 20 --device host:2 --algorithm 3m --check
says "err by at most 1.4e-06 times" "$weft" gemm C NC 9 30 20 --device host:1 --algorithm 3m --check --batch 50
says "same bits" "$weft" gemm C NC 9 30 20 --device host:1 --algorithm 3m --check --batch 50
refuses "types C and Z" "$weft" gemm D NN 8 8 8 --device host:1 --algorithm 3m
refuses "the same sizes with type D" "$weft" gemm Z NN 8 8 8 --device host:1 --algorithm 3m --tune 1
refuses "the same sizes with type S" "$weft" gemm C NN 8 8 8 --device host:1 --algorithm 3m --tune 1
refuses "leave out --compare or --batch" "$weft" gemm C NN 8 8 8 --device host:1 --algorithm 3m --compare openblas --batch 5
refuses "standard or 3m" "$weft" gemm C NN 8 8 8 --device host:1 --algorithm 4m
