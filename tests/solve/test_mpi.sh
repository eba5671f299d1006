#!/usr/bin/env bash
# labels: full
# poisson and solve as processes of mpirun: the history, values at points, integrals and energy of one rank, bit for bit; one message
# when all fail, that of the rank when one fails, and an end for all when one is killed. The plug-in itself sends long messages in
# pieces. Decision: docs/decisions/0068-plug-ins-are-compiled-against-headers.md
set -euo pipefail
mpicc=${WEFT_MPICC:-mpicc}
skip() {
    echo "skipped: $1"
    exit 77
}
command -v "$mpicc" >/dev/null || skip "there is no $mpicc"
command -v mpirun >/dev/null || skip "there is no mpirun"
"$mpicc" -E -include mpi.h -x c /dev/null >/dev/null 2>&1 || skip "$mpicc has no mpi.h"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
bin=$WEFT_BUILD
launch=(mpirun)
other=OMPI_COMM_WORLD_SIZE
if [[ $(mpirun --version 2>&1) == *"Open MPI"* || $(mpirun --version 2>&1) == *OpenRTE* ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    launch+=(--oversubscribe)
    other=PMI_SIZE
fi
fail() {
    echo "$1"
    exit 1
}
# ranks N COMMAND...
ranks() {
    local n=$1
    shift
    timeout 120 "${launch[@]}" -n "$n" "$@" </dev/null
}

# What must be the same: all but times and counts of bytes. Numbers of JSON have 17 digits.
compare() { # FILE FILE
    python3 - "$1" "$2" <<'END'
import json, sys
one, other = (json.load(open(path)) for path in sys.argv[1:])
for key in ("history", "probes", "integral_u", "energy", "iterations", "l2_error"):
    assert one.get(key) == other.get(key), (key, one.get(key), other.get(key))
assert len(one["history"]) > 5 and len(one["probes"]) == 2 and one["energy"] is not None
END
}
# same_bits NAME COMMAND...
same_bits() {
    local name=$1
    shift
    "$@" --verbose --json "$name.json" --ranks 1 >out 2>errors || fail "$name: $(cat errors)"
    ranks 1 "$@" --verbose --json "$name-1.json" --ranks 1 >out 2>errors || fail "$name: $(cat errors)"
    compare "$name.json" "$name-1.json"
    for n in 2 3; do
        ranks "$n" "$@" --verbose --json "$name-$n.json" --output "$name-$n.vtkhdf" >out 2>errors || fail "$name: $(cat errors)"
        compare "$name.json" "$name-$n.json"
        [ "$(grep -c '^energy' out)" = 1 ] || fail "$name: $n processes print $(cat out)"
        grep -q "^ranks  *$n, by mpi: " out || fail "$name: $n processes print $(cat out)"
        [ -s "$name-$n.vtkhdf" ] || fail "$name: no output"
    done
}
same_bits poisson "$bin/poisson" --mesh square:13 --source '1+x*exp(y)' --diffusivity 1+x*y --dirichlet left=y --neumann 'right=sin(y)' \
    --robin top=1+x,x --probe 0.4,0.3 --probe 0.5,0.5
cat >form.ufl <<'END'
from ufl import *
from basix.ufl import element
V = FunctionSpace(Mesh(element("Lagrange", "tetrahedron", 1, shape=(3,))), element("Lagrange", "tetrahedron", 2))
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(V)
a = (1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds
L = (1 + x[1])*v*dx
END
same_bits form "$bin/solve" form.ufl --mesh cube:4 --dirichlet left=0 --preconditioner jacobi --probe 0.4,0.3,0.2 --probe 0.5,0.5,0.5
cat >stokes.ufl <<'END'
W = VectorElement("Lagrange", triangle, 2)*FiniteElement("Lagrange", triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
x = SpatialCoordinate(triangle)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx
L = dot(as_vector([x[1], -x[0]*x[0]]), v)*dx
END
same_bits stokes "$bin/solve" stokes.ufl --mesh square:4 --dirichlet boundary=0,0,free --probe 0.4,0.3 --probe 0.5,0.5
# Steps whose lengths follow from errors: the first rank writes the table.
heat=("$bin/solve" heat_nonlinear.weft --nonlinear --mesh square:8 --time 0.02,0.2 --time-tolerance 1e-3 --define conductivity=1+u*u
    --initial 'x*(1-x)' --dirichlet left=t --probe 0.4,0.3)
"${heat[@]}" --ranks 1 --history heat.csv >out 2>errors || fail "heat: $(cat errors)"
for n in 2 3; do
    ranks "$n" "${heat[@]}" --history "heat-$n.csv" >out 2>errors || fail "heat: $(cat errors)"
    cmp heat.csv "heat-$n.csv" || fail "heat: other steps by $n processes"
done
# Checkpoints, which threads and processes continue.
heat=("$bin/solve" heat.weft --mesh square:8 --initial 'x*y' --dirichlet left=t --probe 0.4,0.3)
"${heat[@]}" --time 0.1,0.8 --ranks 1 --history heat.csv >out 2>errors || fail "heat: $(cat errors)"
ranks 3 "${heat[@]}" --time 0.1,0.4 --history first.csv --checkpoint first.vtkhdf >out 2>errors || fail "heat: $(cat errors)"
cp first.csv second.csv
ranks 2 "${heat[@]}" --time 0.1,0.8 --history second.csv --resume first.vtkhdf >out 2>errors || fail "heat: $(cat errors)"
cmp heat.csv second.csv || fail "heat: another continuation by 2 processes"
"${heat[@]}" --time 0.1,0.8 --history first.csv --resume first.vtkhdf --ranks 4 >out 2>errors || fail "heat: $(cat errors)"
cmp heat.csv first.csv || fail "heat: another continuation by 4 threads"
same_bits multigrid "$bin/poisson" --mesh square:96 --source '1+x' --preconditioner multigrid --probe 0.4,0.3 --probe 0.5,0.5

# fails CODE WORDS COMMAND...: one message of Weft, with the words
fails() {
    local expected=$1 words=$2 code=0
    shift 2
    "$@" >out 2>errors || code=$?
    [ $code = "$expected" ] || fail "$*: exit $code, expected $expected: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: expected '$words': $(cat errors)"
    [ "$(grep -cE '^[^ ]*(poisson|--[a-z]+[0-9:]*): error: ' errors)" = 1 ] || fail "$*: more than one message: $(cat errors)"
}
poisson=("$bin/poisson" --mesh square:8)
fails 2 "'q' is unknown" ranks 3 "${poisson[@]}" --source 'sin(q)'
fails 2 "do not compute with chebyshev" ranks 3 "${poisson[@]}" --preconditioner chebyshev
fails 2 "each of the 2 processes" ranks 2 "${poisson[@]}" --ranks 2
fails 2 "unknown option" ranks 3 "${poisson[@]}" --no-such-option
fails 1 "not converged" ranks 3 "${poisson[@]}" --max-iterations 2
! grep -q "rank [0-9]*:" errors || fail "$(cat errors)"
code=0 # on some nodes perhaps, so that each tells it
WEFT_MPICC=no-mpicc ranks 2 "${poisson[@]}" >out 2>errors || code=$?
[ $code = 2 ] && grep -q "no-mpicc is not found" errors || fail "$code: $(cat errors)"
fails 2 "this process sees 1 rank of 2" env $other=2 "${poisson[@]}"
# only the second rank fails
# shellcheck disable=SC2016 # the shell of each process reads the rank
second='rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; echo $$ >pid-$rank; if [ $rank = 1 ]; then exec "$@" $more; else exec "$@"; fi'
fails 2 "rank 1: 'q' is unknown" ranks 3 env more='--source sin(q)' sh -c "$second" sh "${poisson[@]}"

# A killed rank ends all.
rm -f pid-*
ranks 3 env more= sh -c "$second" sh "$bin/poisson" --mesh square:1500 --preconditioner jacobi --tolerance 1e-14 \
    --json never.json >out 2>errors &
run=$!
for _ in $(seq 300); do
    [ ! -s pid-0 ] || [ ! -s pid-1 ] || [ ! -s pid-2 ] || break
    sleep 0.1
done
sleep 1
kill -9 "$(cat pid-1)" || fail "the second rank has ended: $(cat errors)"
start=$SECONDS code=0
wait $run || code=$?
[ $code != 0 ] && [ $code != 124 ] || fail "killed: exit $code: $(cat errors)"
[ $((SECONDS - start)) -le 10 ] || fail "the others ended $((SECONDS - start)) s later"
# alive RANK: is it? A zombie, for which nobody waits in some containers, is not.
alive() { [[ $(sed 's/.*) //' "/proc/$(cat "pid-$1")/stat" 2>/dev/null) == [!ZX]* ]]; }
for rank in 0 2; do
    while alive $rank; do
        [ $((SECONDS - start)) -le 10 ] || fail "rank $rank is alive"
        sleep 0.1
    done
done
[ ! -e never.json ] || fail "a killed run has written its result"

# Pieces of messages; the share of ranks that may use the same processors, and of those with one for each.
"$mpicc" -std=gnu17 -Wall -Wextra -Werror -o pieces -I "${WEFT_SOURCE:?}/kernels/comm" "$WEFT_SOURCE/tests/support/mpi_pieces.c" ||
    fail "the plug-in has warnings"
for n in 2 3; do
    ranks $n taskset -c 0 ./pieces >out 2>errors || fail "$(cat out errors)"
    [ "$(grep -c "share $(awk "BEGIN { printf \"%.6f\", 1 / $n }")" out)" = $n ] || fail "$(cat out)"
done
