#!/usr/bin/env bash
# labels: full
# Ranks of which some have the host and others a GPU, which is emulated (tests/support/fake_cuda.c): values at points, integrals and
# energy are those of one rank on the host to a relative 1e-5, as methods, assemblies and roundings of host and GPU differ while residuals
# are below 1e-9; the same command has the same bits twice. Shares of ranks change no bit on the host, however unequal; wrong uses are told.
# Decision: docs/decisions/0083-host-and-gpu-share-by-prediction.md
set -euo pipefail
build=${WEFT_BUILD:?}
emulated=$build/tests/emulated_gpu
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
[ -e "$emulated/libcuda.so.1" ] || { echo "skipped: the emulated GPU is not part of this build"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset WEFT_DEVICE
export LD_LIBRARY_PATH=$emulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

run() { # NAME PROGRAM ARGUMENTS...
    local name=$1 program=$2
    shift 2
    "$build/$program" "$@" --verbose --json "$name.json" >"$name.log" 2>&1 && return
    echo "$name: $program $*"
    tail -n 5 "$name.log"
    exit 1
}

names=()
try() { # NAME PROGRAM ARGUMENTS...
    names+=("$1")
    run "$1-host" "${@:2}" --tolerance 1e-9 --ranks 1 --device host:1
    run "$1-pair" "${@:2}" --tolerance 1e-9 --device host,cuda:0 --shares 0.4,0.6
    [ -z "${WEFT_TEST_FULL:-}" ] || run "$1-three" "${@:2}" --tolerance 1e-9 --device cuda:1,host:2,cuda:0 --shares 0.5,0.2,0.3
}
further() { # as try, with WEFT_TEST_FULL
    [ -z "${WEFT_TEST_FULL:-}" ] || try "$@"
}

conditions=(--source '1+x*exp(y)' --diffusivity 1+x*y --dirichlet left=y --neumann 'right=sin(y)' --robin 'top=1+x,x')
beam=(--dirichlet left=0,0,0 --neumann right=0,0,-0.1 --probe 0.4,0.3,0.2)
try csr poisson --mesh square:7 --assembly csr "${conditions[@]}" --probe 0.4,0.3
further lma poisson --mesh square:7 --assembly lma "${conditions[@]}" --probe 0.4,0.3
further gather poisson --mesh square:7 --assembly lma-gather "${conditions[@]}" --probe 0.4,0.3
further bicgstab poisson --mesh cube:3 --method bicgstab --source 'x*y+z' --probe 0.4,0.3,0.2
try minres poisson --mesh cube:3 --assembly lma --method minres --source 'x*y+z' --probe 0.4,0.3,0.2
try elasticity solve elasticity.weft --mesh cube:2 "${beam[@]}"
cat >form.ufl <<'END'
from ufl import *
from basix.ufl import element
V = FunctionSpace(Mesh(element("Lagrange", "tetrahedron", 1, shape=(3,))), element("Lagrange", "tetrahedron", 2))
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(V)
a = (1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds
L = (1 + x[1])*v*dx
END
further degree_2 solve form.ufl --mesh cube:2 --dirichlet left=0 --probe 0.4,0.3,0.2
further degree_2_matrix solve form.ufl --mesh cube:2 --assembly csr --dirichlet left=0 --probe 0.4,0.3,0.2
cat >facets.ufl <<'END'
V = FiniteElement("DG", triangle, 1)
u, v, n = TrialFunction(V), TestFunction(V), FacetNormal(triangle)
a = u*v*dx + inner(grad(u), grad(v))*dx - inner(avg(grad(u)), jump(v, n))*dS - inner(jump(u, n), avg(grad(v)))*dS + 50*jump(u)*jump(v)*dS
L = v*dx + v*ds
END
try facets solve facets.ufl --mesh square:5 --probe 0.4,0.3
try tied poisson --mesh square:6 --source '1+x*y+x^2' --periodic left=right --dirichlet 'bottom=x*(1-x)' --probe 0.4,0.3
further points poisson --mesh square:6 --source x --dirichlet left=0 --tie right --point-value 0.6,0.55=2 --point-load 0.3,0.7=0.5 \
    --probe 0.4,0.3
try multigrid poisson --mesh square:9 --refine 3 --preconditioner multigrid "${conditions[@]}" --probe 0.4,0.3
further aggregation poisson --mesh square:72 --preconditioner aggregation --source 1+x --probe 0.4,0.3
try vectors solve elasticity.weft --mesh cube:4 --preconditioner aggregation "${beam[@]}"
further degrees solve form.ufl --mesh cube:1 --refine 2 --preconditioner multigrid --dirichlet left=0 --probe 0.4,0.3,0.2
try time solve heat.weft --mesh square:6 --time 0.05,0.1 --initial 'sin(3*x)*y' --neumann left=1 --probe 0.4,0.3 --integral total=u
further body solve elasticity.weft --mesh square:5 --neumann left=-1,0 --neumann right=1,0 --probe 0.4,0.3
try newton solve kirchhoff.weft --nonlinear --mesh square:4 --dirichlet left=0,0 --dirichlet right=0.2,0 --probe 0.4,0.3
cat >stokes.ufl <<'END'
from ufl import *
from basix.ufl import element, mixed_element
W = FunctionSpace(Mesh(element("Lagrange", "triangle", 1, shape=(2,))),
                  mixed_element([element("Lagrange", "triangle", 2, shape=(2,)), element("Lagrange", "triangle", 1)]))
u, p = TrialFunctions(W)
v, q = TestFunctions(W)
x = SpatialCoordinate(W)
a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx
L = sin(3*x[1])*v[0]*dx + x[0]**2*v[1]*dx
END
further mixed solve stokes.ufl --mesh square:4 --dirichlet boundary=0,0,free --probe 0.4,0.3
try blocks solve stokes.ufl --mesh square:6 --preconditioner block --assembly csr --dirichlet bottom=0,0,free --dirichlet top=0,0,free \
    --probe 0.4,0.3
further saddle solve stokes.ufl --mesh square:5 --preconditioner block --assembly matrix-free --dirichlet boundary=0,0,free --probe 0.4,0.3
try transport advection_diffusion --mesh square:8 --velocity 1,0.5 --diffusivity 0.01 --dt 0.01 --steps 5 --initial 'sin(3*x)*y' \
    --dirichlet left=0 --probe 0.4,0.3

# the same bits twice; shares by prediction; one node; a rank of the host first and last
solved=(poisson --mesh square:80 --ordering bisection --source x --probe 0.4,0.3)
for i in 1 2; do
    run "twice-$i" "${solved[@]}" --device cuda:0,host --shares 0.7,0.3
done
run predicted "${solved[@]}" --device host,cuda:0
grep -q 'ranks exchange numbers by the host: as asked for' twice-1.log
grep -q 'faster as predicted: .* alone, ' predicted.log # 6561 nodes are too few for two devices
run tiny "${solved[@]}" --device host,cuda:0 --shares 0.0000001,0.9999999
run equal "${solved[@]}" --ranks 3 --device host:1
run shares "${solved[@]}" --ranks 3 --device host:1 --shares 0.00001,0.2,0.79999
run threads "${solved[@]}" --device host:1,host:3

python3 - "${names[@]}" <<'END'
import glob, json, math, sys
failures = 0
KEYS = "history", "probes", "integral_u", "energy", "iterations"
def read(name):
    with open(name + ".json") as file:
        return json.load(file)
def numbers(one):
    if isinstance(one, dict):
        return [x for key in sorted(one) for x in numbers(one[key])]
    return [x for each in one for x in numbers(each)] if isinstance(one, list) else [one] if isinstance(one, (int, float)) else []
def fail(*what):
    global failures
    failures += 1
    print(*what)
for name in sys.argv[1:]:
    host = read(name + "-host")
    for other in glob.glob(name + "-pair.json") + glob.glob(name + "-three.json"):
        found = read(other[:-5])
        for key in "probes", "integral_u", "energy", "derived":
            a, b = numbers(host.get(key, [])), numbers(found.get(key, []))
            scale = max(map(abs, a), default=0)
            if len(a) != len(b) or any(abs(x - y) > 1e-5*scale for x, y in zip(a, b)):
                fail(f"{other}: {key} {b}, on the host {a}")
        if not numbers(host.get("probes", [])):
            fail(f"{name}: no value is compared")
for a, b in ("twice-1", "twice-2"), ("equal", "shares"), ("equal", "threads"):
    for key in KEYS:
        if read(a).get(key) != read(b).get(key):
            fail(f"{b}: {key} is not that of {a}")
def own(name):
    return read(name)["ranks"]["own_nodes"]
if own("tiny")[0] != 1 or own("shares")[0] != 1 or own("equal") != [2187, 2187]:
    fail("nodes of ranks:", own("tiny"), own("shares"), own("equal"))
shares = read("predicted")["ranks"]["shares"]
if len(shares) != 2 or not math.isclose(sum(one["share"] for one in shares), 1) or "stand-in" not in shares[1]["device"]:
    fail("predicted:", shares)
if read("equal")["ranks"]["shares"] or len(read("shares")["ranks"]["shares"]) != 3:
    fail("shares are reported where they are equal, or not where they are given")
threads = read("threads")["ranks"]["shares"] # both take equally long
if not math.isclose(threads[0]["predicted"], threads[1]["predicted"], rel_tol=0.01):
    fail("threads:", threads)
sys.exit(failures > 0)
END

refused() { # MESSAGE ARGUMENTS...
    local code=0
    "$build/poisson" --mesh square:5 "${@:2}" >log 2>&1 || code=$?
    [ $code -eq 2 ] && grep -qF "$1" log && return
    echo "$*: exit code $code"
    cat log
    exit 1
}
refused 'do not compute with gmres and GPUs yet' --device host,cuda:0 --method gmres
refused 'do not compute with full multigrid and GPUs yet' --device host,cuda:0 --until discretisation
refused '2 devices for 3 ranks' --ranks 3 --device host,cuda:0
refused 'the host is there twice' --device host,cuda:0,host
refused 'cuda:0 is there twice' --device cuda,host,cuda:0
refused 'the shares add up to 1.1, expected 1' --device host,cuda:0 --shares 0.5,0.6
refused 'a share is 0, expected a positive number' --ranks 2 --shares 0,1
refused '3 shares for 2 ranks' --ranks 2 --shares 0.2,0.2,0.6
refused '2 shares for 1 rank' --shares 0.5,0.5
refused "'0.5,x' is not a list of shares" --ranks 2 --shares 0.5,x
refused '36 nodes, fewer than the 37 ranks' --ranks 37 --shares "$(python3 -c 'print(",".join(["0.5"] + 36*[str(0.5/36)]))')"
