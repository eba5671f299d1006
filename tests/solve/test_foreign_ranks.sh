#!/usr/bin/env bash
# labels: full
# PETSc and hypre on the rows of 1 and 4 processes of mpirun, and of 2 with WEFT_TEST_FULL: values at points, integrals and energies
# are those of Weft's own solver in one process to 1e-8 (residuals are 1e-12, condition numbers below 1e3), in about as many iterations
# for any number of processes; what PETSc refuses is one message, and ends all.
# Decision: docs/decisions/0068-plug-ins-are-compiled-against-headers.md
set -euo pipefail
mpicc=${WEFT_MPICC:-mpicc}
bin=${WEFT_BUILD:?}
skip() {
    echo "skipped: $1"
    exit 77
}
command -v "$mpicc" >/dev/null || skip "there is no $mpicc"
command -v mpirun >/dev/null || skip "there is no mpirun"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
launch=(mpirun)
if [[ $(mpirun --version 2>&1) == *"Open MPI"* || $(mpirun --version 2>&1) == *OpenRTE* ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    launch+=(--oversubscribe)
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
kinds=()
for kind in petsc hypre; do
    if "$bin/poisson" --mesh square:4 --preconditioner $kind >out 2>errors; then
        kinds+=("$kind")
    else # not installed, or of another MPI than mpicc
        grep -qE "is not found|there is no header|configured with|uses another MPI" errors || fail "$kind: $(cat errors)"
        echo "skipped in part: $(head -n 1 errors)"
    fi
done
[ ${#kinds[@]} -gt 0 ] || skip "neither PETSc nor hypre is usable"

compare() { # FILE FILE MOST: values of the second are those of the first; prints its iterations
    python3 - "$@" <<'END'
import json, sys
one, other = (json.load(open(path)) for path in sys.argv[1:3])
def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]
def values(report):
    of_points = [x for probe in report["probes"] for x in flat(probe["u"])]
    return of_points + [report[key] for key in ("integral_u", "energy") if isinstance(report.get(key), float)]
a, b = values(one), values(other)
assert len(a) == len(b) >= 2, (a, b)
size = max(abs(x) for x in a)
assert size > 0 and all(abs(x - y) <= 1e-8*max(abs(x), size/100) for x, y in zip(a, b)), (a, b)
steps, most = other.get("time"), float(sys.argv[3])
newton = other.get("newton")
iterations = steps["iterations"]/steps["steps"] if steps else max(step["cg_iterations"] for step in newton) if newton else other["iterations"]
assert 0 < iterations <= most, iterations
print(iterations)
END
}
# check NAME MOST COMMAND...: with the kinds, and the preconditioner of the command last
check() {
    local name=$1 most=$2 n first=
    shift 2
    "$1" "${@:3}" --tolerance 1e-12 --json own.json >out 2>errors || fail "$name: $(cat errors)"
    for n in 1 ${WEFT_TEST_FULL:+2} 4; do
        ranks $n "$1" "${@:3}" --preconditioner "$2" --tolerance 1e-12 --json one.json >out 2>errors || fail "$name, $2, $n: $(cat errors)"
        iterations=$(compare own.json one.json "$most") || fail "$name, $2, $n: $(cat out)"
        first=${first:-$iterations}
        awk "BEGIN { exit $iterations > 2*$first + 4 }" || fail "$name, $2: $first iterations of one process, $iterations of $n"
        grep -q "^$2 " out || fail "$name, $2, $n: $(cat out)"
        [ $n = 1 ] || grep -q "^ranks  *$n, by mpi: " out || fail "$name, $2, $n: $(cat out)"
    done
}
plane=(--probe "0.4,0.3" --probe "0.5,0.5")
space=(--probe "0.4,0.3,0.2" --probe "0.5,0.5,0.5")
cat >square.ufl <<'END'
from ufl import *
from basix.ufl import element
V = FunctionSpace(Mesh(element("Lagrange", "tetrahedron", 1, shape=(3,))), element("Lagrange", "tetrahedron", 2))
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(V)
a = (1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds
L = (1 + x[1])*v*dx
END
cat >pair.ufl <<'END'
W = FiniteElement("Lagrange", triangle, 2)*FiniteElement("Lagrange", triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
x = SpatialCoordinate(triangle)
a = inner(grad(u), grad(v))*dx + inner(grad(p), grad(q))*dx + u*q*dx - p*v*dx + p*q*dx
L = x[1]*v*dx + q*dx
END
for kind in "${kinds[@]}"; do
    check Poisson 40 "$bin/poisson" "$kind" --mesh square:30 --source '1+x*exp(y)' --diffusivity 1+x*y --dirichlet left=y \
        --neumann 'right=sin(y)' --robin top=1+x,x "${plane[@]}"
    check Poisson 40 "$bin/poisson" "$kind" --mesh cube:8 --ordering bisection --source x*y+z "${space[@]}"
    check "insulated Poisson" 40 "$bin/poisson" "$kind" --mesh square:20 --neumann boundary=0 --source x-0.5 "${plane[@]}"
    check "degree 2" 60 "$bin/solve" "$kind" square.ufl --mesh cube:4 --dirichlet left=0 "${space[@]}"
    check elasticity 80 "$bin/solve" "$kind" elasticity.weft --mesh cube:6 --dirichlet left=0,0,0 --dirichlet bottom=free,free,0 \
        --dirichlet right=0.1,free,free "${space[@]}"
    check "advection and diffusion" 50 "$bin/solve" "$kind" "${WEFT_SOURCE:?}/docs/examples/convection.weft" --mesh square:24 --input velocity=2,1 \
        --input k=0.05 --method gmres "${plane[@]}"
    check "mixed functions" 100 "$bin/solve" "$kind" pair.ufl --mesh square:8 --dirichlet left=0,0 --method gmres "${plane[@]}"
    check Newton 20 "$bin/solve" "$kind" kirchhoff.weft --nonlinear --mesh square:6 --define poisson=0.25 --dirichlet left=0,free \
        --dirichlet bottom=free,0 --dirichlet right=0.1,free --newton-tolerance 1e-11 "${plane[@]}"
    check heat 150 "$bin/solve" "$kind" heat_nonlinear.weft --nonlinear --mesh square:8 --time 0.05,0.2 --define conductivity=1+u*u \
        --newton-tolerance 1e-11 --initial 'x*(1-x)' --dirichlet left=t "${plane[@]}"
    # ranks whose nodes are all fixed, and meshes of few nodes
    check "few nodes" 3 "$bin/poisson" "$kind" --mesh square:2 --source 1 --probe 0.4,0.3 --probe 0.5,0.5
    check "few nodes" 12 "$bin/poisson" "$kind" --mesh square:4 --source 1 --dirichlet bottom=x --dirichlet left=0 "${plane[@]}"
done

# fails CODE WORDS COMMAND...: one message of Weft, with the words
fails() {
    local expected=$1 words=$2 code=0
    shift 2
    "$@" >out 2>errors || code=$?
    [ $code = "$expected" ] || fail "$*: exit $code, expected $expected: $(cat errors)"
    grep -qF -- "$words" errors || fail "$*: expected '$words': $(cat errors)"
    [ "$(grep -cE '^[^ ]*(poisson|--[a-z-]+[0-9:]*): error: ' errors)" = 1 ] || fail "$*: more than one message: $(cat errors)"
}
poisson=("$bin/poisson" --mesh square:20 --preconditioner)
for kind in "${kinds[@]}"; do
    fails 2 "processes of MPI, not threads" "${poisson[@]}" "$kind" --ranks 2
    fails 2 "needs a stored matrix" ranks 2 "${poisson[@]}" "$kind" --assembly matrix-free
    fails 1 "not converged" ranks 2 "${poisson[@]}" "$kind" --max-iterations 2
    # a library that only the second rank misses
    # shellcheck disable=SC2016 # the shell of each process reads the rank
    fails 2 "rank 1: " ranks 3 sh -c 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then export WEFT_PETSC=none WEFT_HYPRE=none; fi; exec "$@"' \
        sh "${poisson[@]}" "$kind"
done
fails 2 "do not compute with lu" ranks 2 "${poisson[@]}" lu
fails 2 "are for the preconditioner petsc" "${poisson[@]}" jacobi --petsc-options "-pc_type lu"
if [[ " ${kinds[*]} " == *" petsc "* ]]; then
    # options WORDS MOST TEXT: in the report, at most so many iterations
    options() {
        local n iterations
        for n in 1 3; do
            ranks $n "${poisson[@]}" petsc --petsc-options "$3" --json one.json >out 2>errors || fail "$3: $(cat errors)"
            grep -q "^petsc  *PETSc [0-9.]*, $1" out || fail "$3: $(cat out)"
            iterations=$(python3 -c 'import json; print(json.load(open("one.json"))["iterations"])')
            [ "$iterations" -le "$2" ] || fail "$3: $iterations iterations"
        done
    }
    options "bjacobi with ilu, " 60 "-pc_type bjacobi -sub_pc_type ilu"
    options "asm with lu, " 40 "-pc_type asm -sub_pc_type lu -pc_asm_overlap 2"
    options "gamg, " 15 "-pc_gamg_threshold 0.02 -mg_levels_ksp_max_it 3"
    if "${poisson[@]}" petsc --petsc-options "-pc_type lu -pc_factor_mat_solver_type mumps" >out 2>errors; then
        options "lu of mumps, " 2 "-pc_type lu -pc_factor_mat_solver_type mumps -mat_mumps_icntl_14 40"
    else
        grep -qF "mumps" errors || fail "$(cat errors)"
    fi
    fails 2 "Unable to find requested PC type gmag" ranks 3 "${poisson[@]}" petsc --petsc-options "-pc_type gmag"
    fails 2 "does not use the option -pc_gmag_threshold" ranks 3 "${poisson[@]}" petsc --petsc-options "-pc_gmag_threshold 0.1"
    fails 2 "no numeric value" ranks 3 "${poisson[@]}" petsc --petsc-options "-pc_gamg_threshold much"
    fails 2 "-ksp_rtol does nothing" ranks 3 "${poisson[@]}" petsc --petsc-options "-ksp_rtol 1e-3"
    fails 2 '"pc_type" is neither a name' "${poisson[@]}" petsc --petsc-options "pc_type lu"
    fails 2 "none_such" ranks 3 "${poisson[@]}" petsc --petsc-options "-pc_type lu -pc_factor_mat_solver_type none_such"
    fails 2 "does not suit the matrix" ranks 3 "${poisson[@]}" petsc --petsc-options "-pc_type bjacobi -sub_pc_type lu -sub_pc_factor_zeropivot 1e10"
    fails 2 "a pivot is zero" "${poisson[@]}" petsc --petsc-options "-pc_type lu -pc_factor_zeropivot 1e10"
    # PETSc ends with MPI, and then prints
    ranks 2 "${poisson[@]}" petsc --petsc-options "-log_view" >out 2>errors || fail "$(cat errors)"
    grep -q "PCApply" out || fail "no log of PETSc: $(cat out)"
fi
