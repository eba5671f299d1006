#!/usr/bin/env bash
# labels: full
# Functions that are constant on each cell (DG0) or everywhere (Real), as unknowns and in mixed spaces, with integrands that vary in a
# cell: the integrals of the solutions are known. With and without matrices, on all cells.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# check NAME MESH EXPECTED [OPTION...]: the integrals of u, to 1e-8
check() {
    "$WEFT_BUILD/solve" "$folder/$1.ufl" --mesh "$2" --tolerance 1e-12 "${@:4}" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
    awk -v expected="$3" '/^integral u/ { sub("integral u", ""); gsub(",", ""); n = split($0, a, " "); m = split(expected, b, " ")
        fine = n == m
        for (i = 1; i <= n; ++i) { d = a[i] - b[i]; if (d > 1e-8 || d < -1e-8) fine = 0 } } END { exit !fine }' "$folder/log" ||
        { echo "$*"; grep '^integral' "$folder/log"; exit 1; }
}

for pair in interval:interval:5 triangle:square:3 quadrilateral:quads:3 tetrahedron:cube:2 hexahedron:hexes:2; do
    cell=${pair%%:*} mesh=${pair#*:}
    d=3
    [ "$cell" = interval ] && d=1
    case $cell in triangle | quadrilateral) d=2 ;; esac
    head="x = SpatialCoordinate($cell)
P1, DG0, R = FiniteElement('P', $cell, 1), FiniteElement('DG', $cell, 0), FiniteElement('R', $cell, 0)
"
    # u is the mean of exp(x) in each cell; jumps and what flows in add nothing to or x^2 on each side but x = 0 to the sum
    cat >"$folder/load.ufl" <<EOF
$head
u, v = TrialFunction(DG0), TestFunction(DG0)
a = u*v*dx + (1 + x[0])*jump(u)*jump(v)*dS
L = exp(x[0])*v*dx(degree=8) + x[0]*x[0]*v*ds(degree=4)
EOF
    # (1 + x^2) u = (1 + x^2) (1, 2), in vectors and in a mixed space
    cat >"$folder/vector.ufl" <<EOF
$head
V = VectorElement('DG', $cell, 0, dim=2)
u, v = TrialFunction(V), TestFunction(V)
a = (1 + x[0]**2)*inner(u, v)*dx
L = (1 + x[0]**2)*(v[0] + 2*v[1])*dx
EOF
    cat >"$folder/mixed.ufl" <<EOF
$head
(u, p), (v, q) = TrialFunctions(DG0*P1), TestFunctions(DG0*P1)
a = (1 + x[0]**2)*(u*v + p*q)*dx
L = (1 + x[0]**2)*(v + 2*q)*dx
EOF
    # one number: the integral of x over that of 1 + x
    cat >"$folder/real.ufl" <<EOF
$head
u, v = TrialFunction(R), TestFunction(R)
a = (1 + x[0])*u*v*dx
L = x[0]*v*dx
EOF
    # a natural problem with the mean 3; the multiplier is the mean of the load
    cat >"$folder/multiplier.ufl" <<EOF
$head
(u, p), (v, q) = TrialFunctions(P1*R), TestFunctions(P1*R)
a = inner(grad(u), grad(v))*dx + p*v*dx + u*q*dx
L = x[0]*v*dx + 3*q*dx
EOF
    # nothing fixes the constant, and the load does not balance: the hint divides by the length, area or volume, which is 1
    cat >"$folder/natural.ufl" <<EOF
$head
u, v = TrialFunction(P1), TestFunction(P1)
a = inner(grad(u), grad(v))*dx
L = 3*v*dx
EOF
    "$WEFT_BUILD/solve" "$folder/natural.ufl" --mesh "$mesh" >/dev/null 2>"$folder/log" && { echo "$cell: it does not balance"; exit 1; }
    grep -q 'its sum is 3$' "$folder/log" && grep -q 'subtract 3 from the source' "$folder/log" || { cat "$folder/log"; exit 1; }
    # a function that jumps between cells is one of those of a discontinuous element, with bubbles too: its projection is itself
    bubble=2
    case $cell in triangle | tetrahedron) bubble=$((d + 1)) ;; esac
    cat >"$folder/jump.ufl" <<EOF
$head
P = FiniteElement('DG', $cell, 1) + FiniteElement('Bubble', $cell, $bubble)
u, v = TrialFunction(P), TestFunction(P)
a = u*v*dx
L = conditional(lt(x[0], 0.5), 1, 0)*v*dx
EOF
    "$WEFT_BUILD/solve" "$folder/jump.ufl" --mesh "${mesh%:*}:2" --tolerance 1e-13 --exact 'select(x < 0.5, 1.0, 0.0)' >"$folder/log" 2>&1 &&
        awk '/^error/ { n = 1; fine = $3 + 0 < 1e-9 } END { exit !(n && fine) }' "$folder/log" || { cat "$folder/log"; exit 1; }
    # a coefficient at quadrature points is its formula there: as the formula in the integrand, by the same rule
    for k in 'Coefficient(FiniteElement("Quadrature", cell, 3, quad_scheme="default"))' \
        'Coefficient(VectorElement("Quadrature", cell, 3, dim=2, quad_scheme="default"))' 'as_vector((sin(x[0]), exp(3*x[0])))'; do
        cat >"$folder/points.ufl" <<EOF
$head
cell = $cell
u, v = TrialFunction(P1), TestFunction(P1)
k = $k
a = u*v*dx(degree=6)
L = (1 + x[0])*(k if k.ufl_shape == () else k[1])*v*dx(degree=3)
EOF
        case $k in
        *Vector*) given=(--input 'k=sin(x),exp(3*x)') ;;
        *Finite*) given=(--input 'k=exp(3*x)') ;;
        *) given=() ;;
        esac
        "$WEFT_BUILD/solve" "$folder/points.ufl" --mesh "$mesh" --tolerance 1e-12 "${given[@]}" 2>"$folder/log" |
            awk '/^integral u/ { printf "%.8f\n", $3 }' >>"$folder/integrals" || { cat "$folder/log"; exit 1; }
    done
    [ "$(sort -u "$folder/integrals" | wc -l)" = 1 ] || { echo "$cell"; cat "$folder/integrals"; exit 1; }
    rm "$folder/integrals"
    sum=$(awk -v d=$d 'BEGIN { printf "%.10f", exp(1) - 1 + 1 + (d - 1)*2/3 }')
    for assembly in csr matrix-free; do
        check load "$mesh" "$sum" --assembly $assembly
        check vector "$mesh" "1 2" --assembly $assembly
        check mixed "$mesh" "1 2" --assembly $assembly
        check real "$mesh" 0.3333333333 --assembly $assembly
        check multiplier "$mesh" "3 0.5" --assembly $assembly
    done
done

# u^3 + u = 4/3, the mean of 1 + x^2 in the only cell of an interval
cat >"$folder/nonlinear.ufl" <<'EOF'
E = FiniteElement('DG', interval, 0)
u, v, x = Coefficient(E), TestFunction(E), SpatialCoordinate(interval)
F = (u**3 + u - 1 - x[0]**2)*v*dx
EOF
check nonlinear interval:1 0.8072624543 --nonlinear

# One step of the generalised alpha method has 17 coefficients and constants in one integral. A body in free fall with
# the acceleration (0, 2) keeps it: u1 = u0 + dt v0 + dt^2/2 (0, 2).
cat >"$folder/elastodynamics.ufl" <<'EOF'
element = VectorElement("Lagrange", triangle, 1)
u, r = TrialFunction(element), TestFunction(element)
u0, v0, a0 = Coefficient(element), Coefficient(element), Coefficient(element)
f, f0, p, p0 = Coefficient(element), Coefficient(element), Coefficient(element), Coefficient(element)
rho, eta, mu, lmbda, dt = [Constant(triangle) for k in range(5)]
alpha_m, alpha_f, beta, gamma = [Constant(triangle) for k in range(4)]

def sigma(w):
    return 2.0*mu*sym(grad(w)) + lmbda*tr(grad(w))*Identity(2)

# the accelerations and velocities of Newmark's formulas
def acceleration(w):
    return (w - u0 - dt*v0)/(beta*dt**2) - (1 - 2*beta)/(2*beta)*a0

def velocity(w):
    return v0 + dt*((1 - gamma)*a0 + gamma*acceleration(w))

def mean(new, old, alpha):
    return (1 - alpha)*new + alpha*old

F = (inner(rho*mean(acceleration(u), a0, alpha_m) + eta*mean(velocity(u), v0, alpha_f), r)
     + inner(mean(sigma(u), sigma(u0), alpha_f), grad(r)) - inner(mean(f, f0, alpha_f), r))*dx \
    - inner(mean(p, p0, alpha_f), r)*ds
a, L = lhs(F), rhs(F)
EOF
options=()
for value in rho=2 eta=0 mu=3 lmbda=1 dt=0.5 alpha_m=0.2 alpha_f=0.4 beta=0.36 gamma=0.7 \
    f=0,4 f0=0,4 p=0,0 p0=0,0 u0=1,0 v0=1,3 a0=0,2; do
    options+=(--input "$value")
done
check elastodynamics square:3 "1.5 1.75" "${options[@]}"

# The points of other schemes are not those of a space.
for scheme in vertex GLL; do
    cat >"$folder/scheme.ufl" <<EOF
E, Q = FiniteElement("P", interval, 1), FiniteElement("Quadrature", interval, 3, quad_scheme="$scheme")
u, v, k = TrialFunction(E), TestFunction(E), Coefficient(Q)
a, L = u*v*dx, k*v*dx
EOF
    code=0
    "$WEFT_BUILD/solve" "$folder/scheme.ufl" --mesh interval:3 --input k=x >"$folder/log" 2>&1 || code=$?
    [ "$code" = 2 ] && grep -q "quadrature elements with the scheme '$scheme' are not solved with" "$folder/log" ||
        { cat "$folder/log"; exit 1; }
done
