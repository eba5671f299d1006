#!/usr/bin/env bash
# labels: full
# advection_diffusion on ranks: threads, processes of mpirun and emulated GPUs have the series, tables, files and checkpoints of one
# rank, bit for bit, for all schemes, and agree with the run without ranks; a constant T stays; what ranks do not compute is refused.
set -euo pipefail
build=${WEFT_BUILD:?}
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset WEFT_DEVICE
fail() {
    echo "$1"
    exit 1
}
run() { # NAME ARGUMENTS...
    local name=$1
    shift
    "$build/advection_diffusion" "$@" --json "$name.json" >"$name.log" 2>&1 || fail "$name: $* $(tail -n 5 "$name.log")"
}
# compare NAME OTHER TOLERANCE: 0: the same bits.
compare() {
    python3 - "$@" <<'END'
import json, sys
one, other = (json.load(open(name + ".json")) for name in sys.argv[1:3])
tolerance = float(sys.argv[3])
def near(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(near(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(near, a, b))
    return a == b if tolerance == 0 or a is None else abs(a - b) <= tolerance * max(1, abs(a))
assert other["outcome"] == "done" and len(one["series"]) > 1
assert near(one["series"], other["series"]), (one["series"][-1], other["series"][-1])
assert near(one["cfl"], other["cfl"])
END
}
try() { # NAME ARGUMENTS...
    local name=$1
    shift
    run "$name-0" "$@"
    run "$name-1" "$@" --ranks 1
    for n in 2 3 7; do
        run "$name-$n" "$@" --ranks "$n"
        grep -q "^ranks  *$n, by threads" "$name-$n.log" || fail "$name: no line of ranks"
        compare "$name-1" "$name-$n" 0 || fail "$name: $n ranks differ"
    done
    compare "$name-1" "$name-0" 1e-7 || fail "$name: without ranks"
}
cone='exp(-50*((x-0.3)^2+(y-0.5)^2))'
turning=(--mesh square:12 --velocity '0.5-y,x-0.5' --diffusivity 1e-2 --initial "$cone" --dt 0.02 --steps 4 --dirichlet 'left=t' --probe 0.4,0.3
    --output-every 2)
try lie "${turning[@]}"
try strang "${turning[@]}" --splitting strang --scheme rk3 --robin right=1,t --source 'x*t' --diffusivity '1e-2*(1+t)' --ordering bisection
try lumped --mesh cube:4 --velocity 'y,-x,0' --mass lumped --diffusivity 0.01 --initial x+z --dt 0.01 --steps 3 --capacity 1+x --output-every 1
try tensor --mesh square:9 --diffusivity '1,0.2;0.2,1+t' --initial x --dt 0.02 --steps 3 --neumann right=1 --preconditioner aggregation --output-every 1
try local "${turning[@]}" --assembly lma-gather --exact "$cone"
try constant --mesh square:8 --velocity '0.5-y,x-0.5' --diffusivity 0.1 --initial 2 --dt 0.05 --steps 3 --output-every 1
python3 -c '
import json
for record in json.load(open("constant-3.json"))["series"]:
    assert abs(record["minimum"] - 2) < 1e-9 and abs(record["maximum"] - 2) < 1e-9 and abs(record["mass"] - 2) < 1e-9'

# ---- files -----------------------------------------------------------------------------------------
files() { # NAME ARGUMENTS...
    local name=$1
    shift
    run "$name" "${turning[@]}" --output "$name.pvd" --history "$name.csv" --integral content=T --extrema T=T "$@"
}
files one --ranks 1
files three --ranks 3
cmp one.csv three.csv || fail "tables differ"
for step in one_steps/*.vtu; do
    cmp "$step" "three_steps/${step##*/}" || fail "$step differs"
done
run half "${turning[@]}" --ranks 3 --steps 2 --checkpoint half.vtkhdf
run whole "${turning[@]}" --ranks 2 --checkpoint whole.vtkhdf --checkpoint-every 2
run rest "${turning[@]}" --ranks 7 --restart half.vtkhdf --checkpoint rest.vtkhdf
python3 - <<'END'
import json
last = [json.load(open(name + ".json"))["series"][-1] for name in ("rest", "whole")]
assert last[0] == last[1], last
END
run alone "${turning[@]}" --restart half.vtkhdf --assembly csr # a run without ranks continues it

# ---- refused ---------------------------------------------------------------------------------------
refused() { # MESSAGE ARGUMENTS...
    local message=$1 code=0
    shift
    "$build/advection_diffusion" "${turning[@]}" --json x.json "$@" >out 2>&1 || code=$?
    [ "$code" -ge 2 ] || fail "$* ends with $code"
    grep -q -- "$message" out || fail "$*: expected $message, found $(cat out)"
    grep -q "^hint: " out || fail "$*: no hint in $(cat out)"
}
refused "several ranks do not compute with edge" --ranks 2 --assembly edge
refused "several ranks do not compute with lu" --ranks 2 --preconditioner lu
refused "169 nodes, fewer than the 200 ranks" --ranks 200
refused "2 devices for 3 ranks" --ranks 3 --device cuda:0,cuda:1
refused "this device is not computed on several ranks" --ranks 2 --device null
refused "has no group .nowhere" --ranks 3 --neumann nowhere=1
refused "the diffusivity is negative" --ranks 3 --diffusivity 'x-0.9'

# ---- GPUs ------------------------------------------------------------------------------------------
small=("${turning[@]}" --mesh square:7 --steps 2)
if [ -e "$build/tests/emulated_gpu/libcuda.so.1" ] && command -v g++ >/dev/null; then
    (
        export LD_LIBRARY_PATH=$build/tests/emulated_gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} WEFT_SHIPPED=none
        run gpu-1 "${small[@]}" --ranks 1 --device cuda
        run gpu-2 "${small[@]}" --device cuda:1,cuda:0
        run gpu-host "${small[@]}" --ranks 2 --device cuda --exchange host
    )
    run host "${small[@]}" --ranks 1
    compare gpu-1 gpu-2 0 || fail "two GPUs differ"
    compare gpu-1 gpu-host 0 || fail "GPUs that exchange by the host differ"
    compare host gpu-1 1e-7 || fail "a GPU differs from the host"
fi

# ---- processes -------------------------------------------------------------------------------------
mpicc=${WEFT_MPICC:-mpicc}
command -v "$mpicc" >/dev/null && command -v mpirun >/dev/null && "$mpicc" -E -include mpi.h -x c /dev/null >/dev/null 2>&1 || exit 0
launch=(mpirun)
if [[ $(mpirun --version 2>&1) == *"Open MPI"* || $(mpirun --version 2>&1) == *OpenRTE* ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    launch+=(--oversubscribe)
fi
timeout 120 "${launch[@]}" -n 3 "$build/advection_diffusion" "${turning[@]}" --json mpi.json --output mpi.pvd >mpi.log 2>&1 </dev/null ||
    fail "three processes: $(cat mpi.log)"
[ "$(grep -c "^ranks  *3, by mpi" mpi.log)" = 1 ] || fail "three processes print $(cat mpi.log)"
compare lie-1 mpi 0 || fail "processes differ from threads"
cmp mpi_steps/000002.vtu one_steps/000002.vtu || fail "files of processes differ"
