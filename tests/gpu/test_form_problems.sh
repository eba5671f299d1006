#!/usr/bin/env bash
# labels: gpu
# Form files that users write, on the GPU against the host, with what is chosen automatically: on four cells Taylor-Hood, elasticity
# of degrees 2 and 3 with a nodal modulus, a nonlinear diffusion, convection and discontinuous Galerkin; heat in time; seven of
# the gallery. Numbers agree to 1e-8 of the largest of their kind; solvers stop at 1e-12. $PROBLEMS: the names of some of them.
set -euo pipefail
source "${WEFT_SOURCE:?}/tests/gpu/solve_on_gpu.bash"
gallery=${WEFT_SOURCE:?}/docs/examples/gallery

form() { # file, cell, text
    {
        echo "cell = $2"
        cat
    } > "$folder/$1.ufl"
}

names=()
alone="elastic_3-hexahedron" # its kernel needs nearly the whole memory of a card
one() { # name, arguments...: on both devices
    local name=$1 device start
    shift
    for device in host cuda; do
        start=$SECONDS
        if ! "$solve" --device "$device" --tolerance 1e-12 --json "$folder/$name-$device.json" --quiet "$@" 2> "$folder/$name-why"; then
            echo "$name on $device: $(head -n 2 "$folder/$name-why" | tr '\n' ' ')"
            rm -f "$folder/$name-$device.json"
        fi
        [ $((SECONDS - start)) -lt 30 ] || echo "$name on $device took $((SECONDS - start)) s"
    done
}

jobs=$((($(nproc) + 3) / 4)) # compilers have threads of their own
try() { # the same beside others
    [ -z "${PROBLEMS:-}" ] || [[ " $PROBLEMS " == *" $1 "* ]] || return 0
    names+=("$1")
    if [[ " $alone " == *" $1 "* ]]; then
        wait
        one "$@"
        return
    fi
    [ "$(jobs -rp | wc -l)" -lt "$jobs" ] || wait -n
    one "$@" &
}

form_files() { # cell, family of elements, dimension
    local cell=$1 family=$2 d=$3
    form "stokes-$cell" "$cell" <<TEXT
P2, P1 = VectorElement("$family", cell, 2), FiniteElement("$family", cell, 1)
f = Coefficient(P2)
(u, p), (v, q) = TrialFunctions(P2*P1), TestFunctions(P2*P1)
a = (inner(grad(u), grad(v)) - div(v)*p - q*div(u))*dx
L = inner(f, v)*dx
TEXT
    for degree in 2 3; do
        form "elastic_$degree-$cell" "$cell" <<TEXT
V = VectorElement("$family", cell, $degree)
E = Coefficient(FiniteElement("$family", cell, 1))
u, v = TrialFunction(V), TestFunction(V)
a = (2*E*inner(sym(grad(u)), sym(grad(v))) + E*div(u)*div(v))*dx
L = v[$((d - 1))]*dx
TEXT
    done
    form "nonlinear-$cell" "$cell" <<TEXT
V = FiniteElement("$family", cell, 2)
u, v = Coefficient(V), TestFunction(V)
F = (1 + inner(grad(u), grad(u)))*inner(grad(u), grad(v))*dx - 3*v*dx
TEXT
    form "convection-$cell" "$cell" <<TEXT
V = FiniteElement("$family", cell, 2)
u, v = TrialFunction(V), TestFunction(V)
a = (inner(grad(u), grad(v)) + 5*u.dx(0)*v)*dx
L = v*dx
TEXT
    form "dg-$cell" "$cell" <<TEXT
V = FiniteElement("D${family/P/G}", cell, 1)
u, v = TrialFunction(V), TestFunction(V)
n, h = FacetNormal(cell), Constant(cell)
s = 12/h
a = (inner(grad(u), grad(v))*dx - inner(avg(grad(u)), jump(v, n))*dS - inner(jump(u, n), avg(grad(v)))*dS + s*inner(jump(u), jump(v))*dS
     + 12/h*u*v*ds - inner(grad(u), n)*v*ds - u*inner(grad(v), n)*ds)
L = v*dx
TEXT
}
form_files triangle P 2
form_files tetrahedron P 3
form_files quadrilateral Q 2
form_files hexahedron Q 3
form heat triangle <<'TEXT'
V = FiniteElement("P", cell, 2)
u, v = TrialFunction(V), TestFunction(V)
m = u*v*dx
a = inner(grad(u), grad(v))*dx
L = v*dx
TEXT

for problem in "triangle square:12 2" "tetrahedron cube:4 3" "quadrilateral quads:12 2" "hexahedron hexes:4 3"; do
    read -r cell mesh d <<< "$problem"
    zeros=0,0 point=0.4,0.3 force='sin(3*y),cos(2*x)'
    [ "$d" = 2 ] || { zeros=0,0,0 point=0.4,0.3,0.6 force='sin(3*y),cos(2*x),x*y'; }
    at=(--mesh "$mesh" --probe "$point")
    try "stokes-$cell" "$folder/stokes-$cell.ufl" "${at[@]}" --input "f=$force" --dirichlet "boundary=$zeros,free"
    for degree in 2 3; do
        try "elastic_$degree-$cell" "$folder/elastic_$degree-$cell.ufl" "${at[@]}" --input E=1+x --dirichlet "left=$zeros"
    done
    try "nonlinear-$cell" "$folder/nonlinear-$cell.ufl" "${at[@]}" --nonlinear --dirichlet boundary=0
    try "convection-$cell" "$folder/convection-$cell.ufl" "${at[@]}" --dirichlet left=0
    try "dg-$cell" "$folder/dg-$cell.ufl" "${at[@]}" --input h=0.2
done
try heat "$folder/heat.ufl" --mesh square:12 --time 0.01,0.05 --initial 'x*(1-x)' --dirichlet left=0 --probe 0.4,0.3
cd "$gallery"
for problem in helmholtz hyperelastic discontinuous biharmonic navier_stokes interface cahn_hilliard; do
    try "$problem" --problem "$problem.yaml"
done
wait
"$python" "$WEFT_SOURCE/tests/gpu/compare_runs.py" --tolerance 1e-8 "$folder" $((3 * ${#names[@]} / 2)) "${names[@]}"
