#!/usr/bin/env bash
# labels: gpu
# Form files solved on the GPU against the host: elements of several degrees and cell types, facet integrals, mixed spaces,
# Newton's method, with and without a matrix. Solvers stop at 1e-11, condition numbers are below 1e4: numbers agree to 1e-7.
set -euo pipefail
source "${WEFT_SOURCE:?}/tests/gpu/solve_on_gpu.bash"
gallery=${WEFT_SOURCE:?}/docs/examples/gallery

poisson() { # family, cell, degree
    cat <<TEXT
V = FiniteElement("$1", $2, $3)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate($2)
a = inner(grad(u), grad(v))*dx
L = (1 + x[0])*v*dx
TEXT
}
poisson P triangle 2 > "$folder/p2.ufl"
poisson P triangle 4 > "$folder/p4.ufl"
poisson P tetrahedron 3 > "$folder/p3.ufl"
{
    poisson P tetrahedron 2
    echo "k = Coefficient(FiniteElement('P', tetrahedron, 1))"
    echo "a = k*inner(grad(u), grad(v))*dx"
} > "$folder/k2.ufl"
poisson Q quadrilateral 2 > "$folder/q2.ufl"
poisson Q hexahedron 3 > "$folder/q3.ufl"
cat > "$folder/stokes.ufl" <<'TEXT'
W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
f = Constant(triangle)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx
L = f*q*dx
TEXT

p2=("$folder/p2.ufl" --mesh square:24 --dirichlet left=0)
p4=("$folder/p4.ufl" --mesh square:12 --dirichlet left=0)
p3=("$folder/p3.ufl" --mesh cube:6 --dirichlet left=0)
k2=("$folder/k2.ufl" --mesh cube:8 --input k=1+x --dirichlet left=0)
q2=("$folder/q2.ufl" --mesh quads:20 --dirichlet left=0)
q3=("$folder/q3.ufl" --mesh hexes:6 --dirichlet left=0)
stokes=("$folder/stokes.ufl" --mesh square:8 --input f=0 --dirichlet 'boundary=y^2,x^2,free' --exact 'y^2,x^2,2*x + 2*y - 2')
for problem in p2 p4 p3 k2 q2 q3; do
    declare -n arguments=$problem
    run "$problem-host" host --assembly csr "${arguments[@]}"
    for assembly in csr matrix-free auto; do
        run "$problem-$assembly" cuda --assembly "$assembly" "${arguments[@]}"
    done
done
run stokes-host host "${stokes[@]}"
run stokes-cuda cuda "${stokes[@]}"
files="helmholtz hyperelastic discontinuous biharmonic navier_stokes interface"
cd "$gallery"
for problem in $files; do
    run "$problem-host" host --problem "$problem.yaml"
    run "$problem-cuda" cuda --problem "$problem.yaml"
done
compare 40 p2 p4 p3 k2 q2 q3 stokes $files
