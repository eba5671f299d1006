#!/usr/bin/env bash
# Whole programs, their libraries included, with one allocation failing, or all from one on: each run must end with a
# documented exit code, say why where that is not 0, and leave nothing behind that a successful run does not leave.
# Sourced by the tests: sample_programs COUNT SEED takes COUNT samples of each case, the first and the last among them.
set -euo pipefail

injector=$WEFT_BUILD/tests/alloc_preload.so
if [ ! -e "$injector" ]; then
    echo "skipped: sanitizers bring a malloc of their own, so allocations cannot be made to fail"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/run" "$scratch/cache"
cp "$injector" "$scratch" # LD_PRELOAD is cut at blanks, which the path of the build folder may have
injector=$scratch/${injector##*/}
export XDG_CACHE_HOME=$scratch/cache TMPDIR=$scratch/run WEFT_DEVICE=host:1
n_runs=0 n_failed=0

# run AT ON LIBRARY PROGRAM ARGUMENT...: sets code; what it leaves is listed in $scratch/left.
run() {
    local at=$1 on=$2 library=$3
    shift 3
    rm -rf "$scratch/run"
    mkdir "$scratch/run"
    code=0
    # in a shell of its own, which says how a program was ended to a file of its own
    (cd "$scratch/run" && exec env LD_PRELOAD="$injector" WEFT_FAULT_AT="$at" WEFT_FAULT_ON="$on" \
        WEFT_FAULT_LIBRARY="$library" WEFT_FAULT_PROGRAM="${1##*/}" WEFT_FAULT_COUNT="$scratch/count" \
        timeout 100 "$@" >"$scratch/out" 2>"$scratch/err") 2>"$scratch/shell" || code=$?
    (cd "$scratch" && find run cache -name 'tmp-*' -o -path 'run/*' ! -path 'run/study/*') | sort >"$scratch/left"
    n_runs=$((n_runs + 1))
}

complain() {
    echo "$*"
    head -c 600 "$scratch/err"
    n_failed=$((n_failed + 1))
}

# sample COUNT LIBRARY PROGRAM ARGUMENT...
sample() {
    local count=$1 library=$2 n_allocations at on i extra
    shift 2
    run 0 0 "$library" "$@" # fills the cache
    run 0 0 "$library" "$@"
    cp "$scratch/left" "$scratch/usual"
    n_allocations=$(<"$scratch/count")
    if [ "$code" -ne 0 ] || [ "$n_allocations" -lt 1 ]; then
        complain "exit code $code with all of $n_allocations allocations allowed: $*"
        return
    fi
    for ((i = 0; i < count; ++i)); do
        at=$((1 + (RANDOM * 32768 + RANDOM) % n_allocations)) on=$((i % 2))
        [ $i -gt 1 ] || at=1
        [ $i -ne 2 ] || at=$n_allocations
        run $at $on "$library" "$@"
        extra=$(comm -23 "$scratch/left" "$scratch/usual")
        if [ "$code" -gt 3 ]; then
            complain "allocation $at of $n_allocations ($on): exit code $code: $*"
        elif [ "$code" -ne 0 ] && [ ! -s "$scratch/err" ]; then
            complain "allocation $at of $n_allocations ($on): exit code $code without a word: $*"
        elif [ -n "$extra" ]; then
            complain "allocation $at of $n_allocations ($on): leaves $extra: $*"
        fi
    done
}

sample_programs() {
    local count=$1
    RANDOM=$2
    sample "$count" "" "$WEFT_BUILD/poisson" --mesh square:4 --json result.json
    sample "$count" "" "$WEFT_BUILD/solve" helmholtz.weft --mesh square:4 --dirichlet left=0 --define 'source=x'
    sample "$count" "" "$WEFT_BUILD/weft" explain poisson.weft --html page.html
    sample "$count" "" "$WEFT_BUILD/weft" compile cg.weft --print plan
    sample "$count" "" "$WEFT_BUILD/advection_diffusion" --mesh square:4 --dt 0.01 --steps 2 --velocity 1,0
    sample "$count" "" "$WEFT_BUILD/scaling" --sizes 2 --assembly lma --repeat 1 --warmup 0 --no-plots --out study
    sample "$count" "" "$WEFT_BUILD/solve" --help
    sample "$count" "" "$WEFT_BUILD/poisson" --mesh square:4 --output result.vtkhdf
    # libraries that end the process, or are a small part of the allocations
    sample "$count" libglpk "$WEFT_BUILD/weft" compile poisson.weft --print cover
    sample "$count" libsqlite3 "$WEFT_BUILD/weft" calibrate --device host:1 --time-limit 0.01 --precision single mmul
    sample "$count" libjansson "$WEFT_BUILD/poisson" --mesh square:4 --json result.json
    sample "$count" libmetis "$WEFT_BUILD/poisson" --mesh square:150 --ordering metis --tolerance 0.5
    echo "$n_runs runs, $n_failed failed"
    [ "$n_failed" -eq 0 ]
}
