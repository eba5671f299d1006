#!/usr/bin/env bash
# labels: full
# weft gemm report on the host: the page has a row for each type and order, its counts are those of weft gemm space, the
# figures draw what the searches have stored, and a second report without --tune reads the same kernels from the
# database. Speeds are not compared. Options that have no effect are refused, with those that have one.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
weft=$WEFT_BUILD/weft
export XDG_CACHE_HOME=$scratch/cache
mkdir -p "$XDG_CACHE_HOME"
cd "$scratch"

fail() {
    echo "$*"
    exit 1
}

"$weft" gemm report NN,TN 60 60 60 --device host:1 --tune 0.001 --out first > log
for type in S D C Z; do
    for order in NN TN; do
        grep -q "^| $type $order | .* | \`host [0-9,]*\` | [0-9]" first/report.md || fail "no row of $type $order"
        grep -q "^\$space_${type}_$order << EOD" first/figures.gp || fail "no data of $type $order"
    done
    survivors=$("$weft" gemm space "$type" --device host:1 | sed -n 's/^ *\([0-9]*\)  survive.*/\1/p')
    grep -q "^| $type | host | .* | \*\*$survivors\*\* |" first/report.md || fail "$type: not $survivors survivors"
    grep -q "^$type NN: .* [1-9][0-9]* of [0-9]* candidates timed" log || fail "no candidate of $type was timed"
done
if command -v gnuplot > /dev/null; then
    for figure in space sizes; do
        grep -q "<svg" "first/$figure.svg" || fail "$figure.svg is no figure"
    done
fi

# shellcheck disable=SC2016 # the backquotes of Markdown
points() {
    grep -o '`host [0-9,]*`' "$1/report.md"
}
"$weft" gemm report NN,TN 60 60 60 --device host:1 --out second > log
[ "$(points first)" = "$(points second)" ] || fail "the second report has other kernels"
# shellcheck disable=SC2016 # a name of gnuplot
same() {
    sed -n '/^\$space/,/^EOD/p' "$1/figures.gp"
}
[ "$(same first)" = "$(same second)" ] || fail "the second report draws other times"

# expect WORDS COMMAND...: it fails with these words
expect() {
    local words=$1 output
    shift
    ! output=$("$@" 2>&1) || fail "$* succeeds"
    grep -qF -- "$words" <<< "$output" || fail "$*: $output"
}
expect "operands or sizes are missing" "$weft" gemm report NN 60 60
expect "cannot make the folder /dev/null/x" "$weft" gemm report NN 6 6 6 --device host:1 --out /dev/null/x
touch taken
expect "cannot make the folder taken: File exists" "$weft" gemm report NN 6 6 6 --device host:1 --out taken
expect "computes nothing" "$weft" gemm report NN 6 6 6 --device null

# refuse OPTION WORDS COMMAND...: it fails, naming the option and what applies
refuse() {
    local option=$1 words=$2
    shift 2
    expect "--$option does not apply to weft gemm $words" "$@"
    expect "options that apply: --device" "$@"
}
for option in "batch 3" "tune 1" check "compare openblas" "energy 1" "point host" "algorithm standard" "out there" "export t4 there"; do
    # shellcheck disable=SC2086 # an option and its values
    refuse "${option%% *}" space "$weft" gemm space D --device host:1 --$option
done
for option in "batch 3" check "energy 1" "point host" "algorithm 3m" "export t4 there"; do
    # shellcheck disable=SC2086
    refuse "${option%% *}" report "$weft" gemm report NN 60 60 60 --device host:1 --out third --$option
done
for option in "warps 8" "blocks 2" "reuse 20" "in-flight 0"; do
    # shellcheck disable=SC2086
    refuse "${option%% *}" report "$weft" gemm report NN 60 60 60 --device host:1 --out third --$option
    # shellcheck disable=SC2086
    expect "which is not given" "$weft" gemm D NN 60 60 60 --device host:1 --$option
done
[ ! -e third ] || fail "a refused report was begun"
# The guidelines are the last tests: weaker ones move points from what they exclude to the survivors, a stricter one leaves fewer.
points() { # PATTERN OPTION...: the sum of the counts whose texts it matches, of an H200
    "$weft" gemm space D --device null:h200 "${@:2}" | awk -v pattern="$1" '$0 ~ pattern { n += $1 } END { print n + 0 }'
}
guided=$(points "survive|too few warps|too little reuse|too few bytes")
[ "$guided" -gt "$(points survive)" ] || fail "the guidelines exclude nothing"
free=$(points "survive|too few warps|too little reuse|too few bytes" --warps 1 --reuse 0 --in-flight 0)
[ "$free" = "$guided" ] || fail "$free points are left for the weakest guidelines, expected $guided"
[ "$(points "too little reuse" --reuse 0)" = 0 ] || fail "--reuse 0 excludes points"
[ "$(points survive --warps 16)" -lt "$(points survive --warps 4)" ] || fail "--warps changes nothing"
[ "$(points survive --blocks 2)" -lt "$(points survive --blocks 1)" ] || fail "--blocks changes nothing"
[ "$(points survive --blocks 1)" = "$(points survive)" ] || fail "--blocks 1 excludes points"
[ "$(points survive --blocks 33)" = 0 ] || fail "a multiprocessor of 32 blocks holds 33"
[ "$(points survive --reuse 40)" -lt "$(points survive --reuse 10)" ] || fail "--reuse changes nothing"
refuse out "TYPE OPS M N K" "$weft" gemm D NN 6 6 6 --device host:1 --out there
expect "--export writes what --tune SECONDS measures" "$weft" gemm D NN 6 6 6 --device host:1 --export t4 there
expect "leave out one of them" "$weft" gemm D NN 6 6 6 --device host:1 --tune 1 --point "host 12,4,256,96,4096"
