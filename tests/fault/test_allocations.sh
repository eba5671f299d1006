#!/bin/bash
# labels: full
# Runs with their n-th allocation failing, once and from then on, libraries included, for n all over
# the part that reads and writes files: each ends with 0, or with 2 or 3 and a message; HDF5 prints
# nothing; and no temporary stays. Failures within HDF5 alone are sampled more densely.
set -euo pipefail
shopt -s inherit_errexit # a failure within $(count ...) ends the test
preload=$WEFT_BUILD/tests/alloc_preload.so
if [ ! -e "$preload" ]; then
    echo "skipped: sanitizers bring a malloc of their own, which cannot be replaced"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$preload" "$folder" # LD_PRELOAD is cut at blanks, which the path of the build folder may have
preload=$folder/${preload##*/}
export WEFT_DEVICE=host:1 WEFT_FAULT_PROGRAM
failed=0 n_runs=0 n_failing=0

# inject AT ON LIBRARY COMMAND...: one run in an empty folder of its own
inject() {
    local at=$1 on=$2 library=$3 code=0
    shift 3
    rm -rf "$folder/run"
    mkdir "$folder/run"
    cp "$folder"/*.vtkhdf "$folder/run"
    (cd "$folder/run" && WEFT_FAULT_AT=$at WEFT_FAULT_ON=$on WEFT_FAULT_LIBRARY=$library \
        LD_PRELOAD=$preload exec "$@" >"$folder/output" 2>"$folder/error") || code=$?
    n_runs=$((n_runs + 1))
    local why=
    if [ $code -ne 0 ]; then
        n_failing=$((n_failing + 1))
        [ $code -eq 2 ] || [ $code -eq 3 ] || why="exit $code"
        [ -s "$folder/error" ] || why="exit $code without a message"
    fi
    if grep -q "HDF5-DIAG\|infinite loop\|free()" "$folder/error"; then
        why="a library prints"
    fi
    [ -z "$(find "$folder/run" -name '*.tmp')" ] || why="a temporary is left"
    if [ -n "$why" ]; then
        echo "allocation $at${on:+ and all after it} (${library:-any}): $why: $(head -c 300 "$folder/error")"
        failed=1
    fi
}

# count LIBRARY COMMAND...: how many allocations there are; the kernels are in the cache then
count() {
    local library=$1
    shift
    rm -rf "$folder/run"
    mkdir "$folder/run"
    cp "$folder"/*.vtkhdf "$folder/run"
    (cd "$folder/run" && WEFT_FAULT_LIBRARY=$library WEFT_FAULT_COUNT=$folder/count \
        LD_PRELOAD=$preload "$@" >/dev/null)
    cat "$folder/count"
}

sample() {
    local n at start=$1 parts=$2
    shift 2
    WEFT_FAULT_PROGRAM=$(basename "$1")
    (cd "$folder" && "$@" >/dev/null) # once, for the cache
    rm -rf "$folder"/o.* "$folder"/o_steps
    n=$(count "" "$@")
    for ((at = n * start / 100 + 1; at <= n; at += 1 + n * (100 - start) / 100 / parts)); do
        inject $at "" "" "$@"
        inject $at 1 "" "$@"
    done
    # The child that HDF5 works in counts from what its parent had: sample above it
    for at in 1 2 3 5 8 13 60 140 300 377 411 534 657 900 1300 1887 2256 2379 2420 2584 2789 2994; do
        inject $at "" libhdf5 "$@"
        inject $at 1 libhdf5 "$@"
    done
}

"$WEFT_BUILD/poisson" --mesh square:6 --quiet --output "$folder/mesh.vtkhdf"
"$WEFT_BUILD/advection_diffusion" --mesh square:6 --diffusivity 0.1 --initial 'x*y' --dt 0.1 --steps 2 \
    --quiet --checkpoint "$folder/from.vtkhdf"
sample 80 12 "$WEFT_BUILD/poisson" --mesh mesh.vtkhdf --quiet --output o.vtkhdf
sample 80 12 "$WEFT_BUILD/advection_diffusion" --mesh square:6 --diffusivity 0.1 --initial 'x*y' --dt 0.1 \
    --steps 4 --quiet --output o.vtkhdf --output-every 1 --restart from.vtkhdf --checkpoint c.vtkhdf
sample 80 12 "$WEFT_BUILD/advection_diffusion" --mesh square:6 --diffusivity 0.1 --initial 'x*y' --dt 0.1 \
    --steps 4 --quiet --output o.pvd --output-every 1 --restart from.vtkhdf --checkpoint c.vtkhdf
echo "$n_runs runs, $n_failing of them ended early"
[ $n_failing -ge $((n_runs / 4)) ] || { echo "hardly anything failed: the samples miss"; failed=1; }
exit $failed
