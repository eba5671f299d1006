#!/usr/bin/env bash
# labels: full
# Ranks with a GPU each, emulated (tests/support/fake_cuda.c): the history, values at points, integrals and energy of one rank, bit
# for bit, where kernels write into each other's memory and where the host passes numbers on; sums of the kernels themselves
# (unit_fusion_runtime_ranks); and what is refused. Decision: docs/decisions/0073-gpus-of-ranks-write-into-each-others-memory.md
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
names=()

run() { # NAME PROGRAM ARGUMENTS...
    local name=$1 program=$2
    shift 2
    "$build/$program" "$@" --verbose --tolerance 1e-7 --json "$name.json" >"$name.log" 2>&1 && return
    echo "$name: $program $*"
    tail -n 5 "$name.log"
    exit 1
}

try() { # NAME PROGRAM ARGUMENTS...
    local name=$1
    names+=("$name")
    run "$name-host" "$2" "${@:3}" --ranks 1 --device host:1
    run "$name-1" "$2" "${@:3}" --ranks 1 --device cuda
    run "$name-2" "$2" "${@:3}" --device cuda:3,cuda:0
    run "$name-by-host" "$2" "${@:3}" --ranks 2 --device cuda --exchange host
    FAKE_CUDA_ORDER=1 run "$name-reversed" "$2" "${@:3}" --ranks 1 --device cuda # threads and blocks
}

conditions=(--source '1+x*exp(y)' --diffusivity 1+x*y --dirichlet left=y --neumann 'right=sin(y)' --robin 'top=1+x,x')
for assembly in csr lma-gather matrix-free; do
    try "$assembly" poisson --mesh square:7 --assembly $assembly "${conditions[@]}" --probe 0.4,0.3
done
run csr-3 poisson --mesh square:7 --assembly csr "${conditions[@]}" --probe 0.4,0.3 --ranks 3 --device cuda
try lma poisson --mesh cube:3 --assembly lma --method minres --preconditioner jacobi --source 'x*y+z' --probe 0.4,0.3,0.2
try elasticity solve elasticity.weft --mesh cube:2 --dirichlet left=0,0,0 --neumann right=0,0,-0.1 --probe 0.4,0.3,0.2
cat >form.ufl <<'END'
from ufl import *
from basix.ufl import element
V = FunctionSpace(Mesh(element("Lagrange", "tetrahedron", 1, shape=(3,))), element("Lagrange", "tetrahedron", 2))
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(V)
a = (1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds
L = (1 + x[1])*v*dx
END
try degree_2 solve form.ufl --mesh cube:2 --dirichlet left=0 --probe 0.4,0.3,0.2
cat >facets.ufl <<'END'
V = FiniteElement("DG", triangle, 1)
u, v, n = TrialFunction(V), TestFunction(V), FacetNormal(triangle)
a = u*v*dx + inner(grad(u), grad(v))*dx - inner(avg(grad(u)), jump(v, n))*dS - inner(jump(u, n), avg(grad(v)))*dS + 50*jump(u)*jump(v)*dS
L = v*dx + v*ds
END
try facets solve facets.ufl --mesh square:5 --probe 0.4,0.3
try periodic poisson --mesh square:6 --source '1+x*y+x^2' --periodic left=right --dirichlet 'bottom=x*(1-x)' --probe 0.4,0.3
try points poisson --mesh square:6 --source x --dirichlet left=0 --tie right --point-value 0.6,0.55=2 --point-load 0.3,0.7=0.5 \
    --probe 0.4,0.3

# levels of multigrid of more than 5000 rows are divided; aggregation has long lists of fine rows. Matrices of vectors and of degree 2
# are added up in the order of cells
pairs=()
pair() { # NAME OPTIONS-OF-RANKS PROGRAM ARGUMENTS...
    pairs+=("$1")
    run "$1-1" "${@:3}" --ranks 1 --device cuda
    run "$1-2" "${@:3}" $2
}
further() { # as pair, with WEFT_TEST_FULL
    [ -z "${WEFT_TEST_FULL:-}" ] || pair "$@"
}
pair aggregation '--device cuda:0,cuda:1' poisson --mesh square:72 --preconditioner aggregation --source 1+x --probe 0.4,0.3
pair multigrid '--ranks 3 --device cuda --exchange host' \
    poisson --mesh square:9 --refine 3 --preconditioner multigrid "${conditions[@]}" --probe 0.4,0.3
further degrees '--device cuda:0,cuda:1' \
    solve form.ufl --mesh cube:1 --refine 2 --preconditioner multigrid --dirichlet left=0 --probe 0.4,0.3,0.2
pair vectors '--ranks 3 --device cuda' solve elasticity.weft --mesh cube:4 --preconditioner aggregation --dirichlet left=0,0,0 \
    --neumann right=0,0,-0.1 --probe 0.4,0.3,0.2
FAKE_CUDA_ORDER=1 run vectors-reversed solve elasticity.weft --mesh cube:4 --preconditioner aggregation --dirichlet left=0,0,0 \
    --neumann right=0,0,-0.1 --probe 0.4,0.3,0.2 --ranks 1 --device cuda
pair time '--device cuda:0,cuda:1' solve heat.weft --mesh square:6 --time 0.05,0.1 --initial 'sin(3*x)*y' --neumann left=1 \
    --probe 0.4,0.3 --integral total=u
further tied '--ranks 3 --device cuda' poisson --mesh square:72 --preconditioner aggregation --source 'x*y-0.25' --periodic left=right \
    --periodic bottom=top --probe 0.4,0.3
pair body '--ranks 3 --device cuda' solve elasticity.weft --mesh square:5 --neumann left=-1,0 --neumann right=1,0 --probe 0.4,0.3
further component '--device cuda:0,cuda:1' solve elasticity.weft --mesh square:5 --dirichlet left=0,free --neumann right=1,0 --probe 0.4,0.3
further tied_time '--ranks 3 --device cuda --exchange host' solve heat.weft --mesh square:6 --time 0.05,0.1 --initial 'sin(3*x)*y' \
    --tie top --scheme bdf2 --probe 0.4,0.3
if [ -x "$build/weft-gmsh" ]; then
    cat >two.geo <<'END'
h = 0.25;
Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h}; Point(4) = {0, 1, 0, h};
Point(5) = {2, 0, 0, h}; Point(6) = {3, 0, 0, h}; Point(7) = {3, 1, 0, h}; Point(8) = {2, 1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Line(5) = {5, 6}; Line(6) = {6, 7}; Line(7) = {7, 8}; Line(8) = {8, 5};
Curve Loop(1) = {1, 2, 3, 4}; Curve Loop(2) = {5, 6, 7, 8}; Plane Surface(1) = {1}; Plane Surface(2) = {2};
Physical Curve("a") = {4}; Physical Curve("c") = {8}; Physical Curve("d") = {6}; Physical Surface("one") = {1}; Physical Surface("two") = {2};
END
    further pieces '--device cuda:0,cuda:1' solve elasticity.weft --mesh two.geo --dirichlet a=0,0 --neumann d=1,0 --neumann c=-1,0 \
        --probe 0.4,0.3 --probe 2.5,0.5
fi
pair newton '--ranks 3 --device cuda' solve kirchhoff.weft --nonlinear --mesh square:4 --dirichlet left=0,0 \
    --dirichlet right=0.2,0 --probe 0.4,0.3
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
pair mixed '--device cuda:0,cuda:1' solve stokes.ufl --mesh square:4 --dirichlet boundary=0,0,free --probe 0.4,0.3
run mixed-host solve stokes.ufl --mesh square:4 --dirichlet boundary=0,0,free --probe 0.4,0.3 --device host:1
pair blocks '--ranks 3 --device cuda' solve stokes.ufl --mesh square:6 --preconditioner block --assembly csr --dirichlet bottom=0,0,free \
    --dirichlet top=0,0,free --probe 0.4,0.3
further saddle '--device cuda:0,cuda:1' solve stokes.ufl --mesh square:5 --preconditioner block --assembly matrix-free \
    --dirichlet boundary=0,0,free --probe 0.4,0.3
further insulated '--device cuda:0,cuda:1' poisson --mesh square:6 --source x-0.5 --neumann boundary=0 --probe 0.4,0.3
pair degree_2_matrix '--device cuda:0,cuda:1' solve form.ufl --mesh cube:2 --assembly csr --dirichlet left=0 --probe 0.4,0.3,0.2

# GPUs that do not reach each other's memory, and two ranks that share one: the host passes numbers on, and says so
FAKE_CUDA_ALONE=1 run csr-alone poisson --mesh square:7 --assembly csr "${conditions[@]}" --probe 0.4,0.3 --ranks 2 --device cuda
grep -q 'ranks exchange numbers by the host: cuda:0 does not reach the memory of cuda:1' csr-alone.log
run csr-shared poisson --mesh square:7 --assembly csr "${conditions[@]}" --probe 0.4,0.3 --device cuda:1,cuda:1
grep -q 'ranks exchange numbers by the host: several ranks share a GPU' csr-shared.log
grep -q 'ranks exchange numbers by their GPUs' csr-2.log

python3 - "${names[@]}" -- "${pairs[@]}" <<'END'
import json, math, sys
failures = 0
KEYS = "history", "probes", "integral_u", "energy", "iterations"
def read(name):
    with open(name + ".json") as file:
        return json.load(file)
end = sys.argv.index("--")
for name in sys.argv[1:end]:
    one, host = read(name + "-1"), read(name + "-host")
    others = ["2", "by-host", "reversed"] + (["3", "alone", "shared"] if name == "csr" else [])
    for other in others:
        found = read(name + "-" + other)
        for key in KEYS[:3] if other == "reversed" else KEYS: # energies are of products on the whole mesh
            if found.get(key) != one.get(key):
                print(f"{name}-{other}: {key} is not that of one rank")
                failures += 1
    if len(one["history"]) < 4 or not math.isclose(one["energy"], host["energy"], rel_tol=1e-6):
        print(f"{name}: energy {one['energy']}, on the host {host['energy']}, {one['iterations']} iterations")
        failures += 1
for name in sys.argv[end + 1:]:
    one = read(name + "-1")
    for other, key in [("2", key) for key in KEYS] + [("reversed", key) for key in KEYS[:3] if name == "vectors"]:
        if read(name + "-" + other).get(key) != one.get(key):
            print(f"{name}-{other}: {key} is not that of one rank")
            failures += 1
    if name in ("aggregation", "multigrid", "degrees", "vectors") and (one["iterations"] > 20 or one["preconditioner"] == "jacobi"):
        print(f"{name}: {one['iterations']} iterations with {one['preconditioner']}")
        failures += 1
if not math.isclose(read("degree_2_matrix-1")["energy"], read("degree_2-host")["energy"], rel_tol=1e-6):
    print("degree_2_matrix: another energy than on the host")
    failures += 1
for one, host in zip(*(read(name)["probes"][0]["u"] for name in ("mixed-1", "mixed-host"))): # the pressure's mean is 0
    if not math.isclose(one, host, rel_tol=1e-5):
        print(f"mixed: {one}, without ranks {host}")
        failures += 1
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
refused 'do not compute with gmres and GPUs yet' --ranks 2 --device cuda --method gmres
refused 'do not compute with full multigrid and GPUs yet' --ranks 2 --device cuda --until discretisation
refused '2 devices for 3 ranks' --ranks 3 --device cuda:0,cuda:1
refused 'cuda:8: there are 8 GPUs here' --device cuda:0,cuda:8
refused 'do not compute with edge yet' --ranks 2 --device cuda --assembly edge
refused 'lists of devices besides GPUs and the host' --device cuda:0,null
"$build/tests/unit_fusion_runtime_ranks" gpus >log 2>&1 || { cat log; exit 1; }
