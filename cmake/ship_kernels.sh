#!/usr/bin/env bash
# Fill PROGRAMS/weft-kernels/SET with kernels for one instruction set, by solving small problems with the programs in a folder,
# and by a command that solves others: ship_kernels.sh PROGRAMS COMPILER SET [COMMAND ARGUMENT...]
# None are made for a set that this processor lacks, since which kernels a solve needs is known only where it runs.
# Decision: docs/decisions/0067-common-kernels-are-shipped.md
set -euo pipefail
programs=$(cd "$1" && pwd) compiler=$2 set=$3
shift 3
folder=$programs/weft-kernels/$set
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The environment of the build decides nothing but the compiler. Kernels do not depend on the number of threads.
unset "${!WEFT_@}"
export CC=$compiler WEFT_INSTRUCTIONS=$set WEFT_DEVICE=host:1 WEFT_SHIPPED=none XDG_CACHE_HOME=$work/cache

cat >stokes_2.ufl <<'UFL'
V, Q = VectorElement("Lagrange", triangle, 2), FiniteElement("Lagrange", triangle, 1)
u, p = TrialFunctions(V*Q)
v, q = TestFunctions(V*Q)
f = Coefficient(V)
a = (inner(grad(u), grad(v)) - div(v)*p - q*div(u))*dx
L = inner(f, v)*dx
UFL
sed 's/triangle/tetrahedron/g' stokes_2.ufl >stokes_3.ufl

# Problems on meshes of each size that has kernels of its own. Numbers and formulas of a problem are in the text of its
# kernels, so they are those that are likely to come again.
problems() {
    local mesh
    for mesh in square:8 square:64 cube:4 cube:16; do
        echo "poisson --mesh $mesh --source 1"
        echo "poisson --mesh $mesh --source 1 --preconditioner multigrid"
        echo "poisson --mesh $mesh --source 1 --preconditioner aggregation"
        echo "poisson --mesh $mesh --source 1 --dirichlet left=0 --neumann right=1 --robin top=1,1 --reactions"
    done
    for mesh in square:8 square:64; do # what ./run and the tutorial solve
        echo "poisson --mesh $mesh --source '2*pi^2*sin(pi*x)*sin(pi*y)' --exact 'sin(pi*x)*sin(pi*y)' --dirichlet 'boundary=sin(pi*x)*sin(pi*y)'"
    done
    echo "poisson --mesh square:300 --source 1"
    for mesh in square:8 square:64 cube:4 cube:12; do
        echo "solve elasticity --mesh $mesh --dirichlet left=0,0$([ "${mesh%:*}" = square ] || echo ,0)"
    done
    for mesh in square:8 square:64 cube:4; do
        echo "solve heat --mesh $mesh --time 0.05,0.1 --initial x --dirichlet left=0"
    done
    echo "advection_diffusion --mesh square:64 --velocity 1,1 --diffusivity 1 --dt 0.01 --steps 2"
    echo "solve stokes_2.ufl --mesh square:8 --input f=1,1 --dirichlet boundary=0,0,free"
    echo "solve stokes_2.ufl --mesh square:32 --input f=1,1 --dirichlet boundary=0,0,free"
    echo "solve stokes_3.ufl --mesh cube:6 --input f=1,1,1 --dirichlet boundary=0,0,0,free"
}

solve_problem() { # command line
    local log
    log=$(eval "\"\$programs\"/$1 --quiet" 2>&1) || { printf '%s\n%s\n' "$1" "$log" >&2; return 1; }
}
export programs
export -f solve_problem

mkdir cache
if "$programs/poisson" --mesh square:2 --source 1 --quiet >log 2>&1; then
    problems | xargs -P "$(nproc)" -d '\n' -n 1 bash -c 'solve_problem "$1"' -
    "$@"
elif grep -q 'this processor' log; then
    echo "No kernels are shipped for $set, which this processor lacks." >&2
else
    cat log >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
# Entries of other kinds than 1 (docs/cache.md) are for this machine or these programs alone.
for entry in cache/weft/*.weft; do
    [ "$(od -An -tu4 -j12 -N4 "$entry" | tr -d ' ')" != 1 ] || install -m 644 -t "$folder" "$entry"
done
chmod 755 "$programs/weft-kernels" "$folder"
