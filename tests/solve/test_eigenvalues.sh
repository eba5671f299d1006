#!/usr/bin/env bash
# labels: quick
# solve --eigenvalues: values of a square and of an L-shape against known ones, and how fast their errors fall; a free plate; the same
# values by each preconditioner and for each number of threads; files and reports; periodic sides; what is refused.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# drum DEGREE: -u'' = l u
drum() {
    cat <<END
V = FiniteElement("Lagrange", triangle, $1)
u, v = TrialFunction(V), TestFunction(V)
a = inner(grad(u), grad(v))*dx
m = u*v*dx
END
}
drum 1 >p1.ufl
drum 2 >p2.ufl
run() { "$WEFT_BUILD/solve" "$@" --json report.json >log 2>&1 || { cat log; exit 1; }; }
# values: expression over the report r of the last run must hold
holds() {
    python3 - "$@" <<'END' || { cat log; exit 1; }
import json
import math
import sys

r = json.load(open("report.json"))
l, pi = r["eigenvalues"], math.pi
assert eval(sys.argv[1]), (sys.argv[1], l)
END
}

# A square: multiplicities 1, 2, 1, 2, 2 of 2, 5, 8, 10, 13 pi^2; errors fall by 4 and 16.
for degree in 1 2; do
    for n in 16 32; do
        run "p$degree.ufl" --mesh "square:$n" --dirichlet boundary=0 --eigenvalues 6
        cp report.json "square_${degree}_$n.json"
    done
done
python3 - <<'END'
import json
import math

exact = [k*math.pi**2 for k in (2, 5, 5, 8, 10, 10)]
for degree, least in ((1, 0.02), (2, 3e-3)):
    errors = []
    for n in (16, 32):
        r = json.load(open("square_%d_%d.json" % (degree, n)))
        assert r["outcome"] == "converged" and max(r["eigenvalue_residuals"]) < 2e-8, r
        errors.append([l/e - 1 for l, e in zip(r["eigenvalues"], exact)])
    assert all(0 < e < least for e in errors[1]), errors
    orders = [math.log2(a/b) for a, b in zip(*errors)]
    assert all(abs(order - 2*degree) < 0.1*degree for order in orders), orders
END

# The same bits for any number of threads, the same values by each preconditioner
run p1.ufl --mesh square:40 --dirichlet boundary=0 --eigenvalues 6 --output a.pvd --device host:1
cp report.json one.json
run p1.ufl --mesh square:40 --dirichlet boundary=0 --eigenvalues 6 --output b.pvd --device host:3
python3 -c "
import json
a, b = json.load(open('one.json')), json.load(open('report.json'))
assert a['eigenvalues'] == b['eigenvalues'] and a['eigenvalue_residuals'] == b['eigenvalue_residuals']"
diff -r a_steps b_steps
for preconditioner in jacobi chebyshev multigrid aggregation none; do
    run p1.ufl --mesh square:16 --dirichlet boundary=0 --eigenvalues 6 --preconditioner "$preconditioner"
    holds "all(abs(a/b - 1) < 1e-10 for a, b in zip(l, json.load(open('square_1_16.json'))['eigenvalues']))"
done

# Nothing holds the constant: 0, then 1, 1, 2, 4, 4 pi^2; frequencies; the report
run p2.ufl --mesh square:8 --eigenvalues 5 --output free.vtkhdf
run p2.ufl --mesh square:8 --eigenvalues 5 --frequencies --output free.pvd --normalise component
holds 'r["rigid_modes"] == 1 and all(abs(a/(b*pi**2) - 1) < 2e-3 for a, b in zip(l, (1, 1, 2, 4, 4)))'
holds 'all(abs(2*pi*f/math.sqrt(a) - 1) < 1e-12 for f, a in zip(r["frequencies"], l))'
grep -q '1 motion that nothing holds, of value 0, is left out' log
grep -q '^problem     a(u, v) = l m(u, v) of p2.ufl' log || { cat log; exit 1; }
[ "$(ls free_steps | wc -l)" = 5 ]
# A displacement has three of them in the plane.
cat >plate.ufl <<'END'
V = VectorElement("Lagrange", triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
a = inner(sym(grad(u)), sym(grad(v)))*dx + div(u)*div(v)*dx
mass = 3*inner(u, v)*dx
END
run plate.ufl --mesh square:12 --eigenvalues 3 --mass mass
holds 'r["rigid_modes"] == 3 and l[0] > 1'
# A script with K and M, whose u is 0 on the boundary without a condition
run heat.weft --mesh square:16 --eigenvalues 6 --input t=0
holds 'all(abs(a/b - 1) < 1e-10 for a, b in zip(l, json.load(open("square_1_16.json"))["eigenvalues"]))'
# Springs on a side: k tan k = 1 for cos(k x), l = k^2
run p2.ufl --mesh square:8 --eigenvalues 2 --robin right=1,0
holds 'r["rigid_modes"] == 0 and abs(l[0]/0.860333589019380**2 - 1) < 1e-6'
# Periodic sides: 4 pi^2 four times, beside the constant
run p2.ufl --mesh square:10 --eigenvalues 4 --periodic left=right --periodic bottom=top
holds 'r["rigid_modes"] == 1 and all(abs(a/(4*pi**2) - 1) < 1e-3 for a in l)'
# too far from a solution is not a result
status=0
"$WEFT_BUILD/solve" p1.ufl --mesh square:40 --dirichlet boundary=0 --eigenvalues 6 --max-iterations 3 --output no.pvd >log 2>&1 || status=$?
[ "$status" = 1 ] && [ ! -e no.pvd ]
grep -q 'the eigenvalues have not converged: iteration limit reached after 3 iterations' log || { cat log; exit 1; }

# A string that is held at both ends, of mass 1: effective masses 8/(k pi)^2 of odd k, factors 2 sqrt(2)/(k pi); 4/(k pi) of vectors of length 1 at most
sed 's/triangle/interval/' p2.ufl >string.ufl
run string.ufl --mesh interval:64 --dirichlet boundary=0 --eigenvalues 5 --participation
holds 'all(abs(m[0] - (8/(k*k*pi*pi) if k % 2 else 0)) < 1e-6 for k, m in enumerate(r["effective_masses"], 1))'
holds 'all(abs(abs(g[0]) - (2*math.sqrt(2)/(k*pi) if k % 2 else 0)) < 1e-6 for k, g in enumerate(r["participation_factors"], 1))'
holds 'abs(r["total_masses"][0] - 1) < 1e-12'
grep -q 'direction 1: 93.3. % of 1 in all' log || { cat log; exit 1; }
run string.ufl --mesh interval:8 --dirichlet boundary=0 --eigenvalues 1 # a list, also of one
holds "len(l) == len(r[\"eigenvalue_residuals\"]) == len(r[\"effective_masses\"]) == 1"
run string.ufl --mesh interval:64 --dirichlet boundary=0 --eigenvalues 5 --normalise component
holds 'all(abs(abs(g[0]) - (4/(k*pi) if k % 2 else 0)) < 1e-4 for k, g in enumerate(r["participation_factors"], 1))'
# A side that follows another: the mean over the period does not move with waves
run string.ufl --mesh interval:16 --periodic left=right --eigenvalues 2
holds 'r["rigid_modes"] == 1 and all(abs(m[0]) < 1e-12 for m in r["effective_masses"])'

# A mass of both signs, -u'' = l u on one half and -l u on the other: values of both signs, squares of z with tan z/2 = -tanh z/2
cat >signs.ufl <<'END'
V = FiniteElement("Lagrange", interval, 2)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(interval)
a = inner(grad(u), grad(v))*dx
m = conditional(gt(x[0], 0.5), 1, -1)*u*v*dx
END
# Bending of a column of width 1 and length 40 by a load on its top: Euler's load, with the shear that Engesser added
cat >column.ufl <<'END'
V = VectorElement("Lagrange", quadrilateral, 2)
u, v = TrialFunction(V), TestFunction(V)
D = as_matrix([[1, 0], [0, 1/40]])
G, H = dot(grad(u), D), dot(grad(v), D)
a = inner(sym(G), sym(H))*dx
m = inner(dot(G, as_matrix([[0, 0], [0, 1]])), H)*dx
END
if "$WEFT_BUILD/solve" signs.ufl --mesh interval:64 --dirichlet boundary=0 --eigenvalues 4 --buckling --json report.json --output signs.pvd >log 2>&1; then
    holds 'all(abs(a/b - 1) < 1e-5 for a, b in zip(l, (-120.90337, -22.37329, 22.37329, 120.90337)))'
    holds 'r["method"] == "lanczos" and max(r["eigenvalue_residuals"]) < 1e-8'
    [ "$(ls signs_steps | wc -l)" = 4 ]
    run signs.ufl --mesh interval:64 --dirichlet boundary=0 --eigenvalues 5 --buckling --device host:3
    holds 'abs(abs(r["next_eigenvalue"]) - 298.5555) < 0.01 and l == sorted(l)'
    run column.ufl --mesh quads:16 --dirichlet bottom=0,0 --eigenvalues 3 --buckling
    holds 'abs(l[0]/(pi**2/(4*12*40**2)) - 1) < 2e-3'
    holds 'all(abs(a*(1/e + 2.4) - 1) < 6e-3 for a, e in zip(l, [k*k*pi**2/(4*12*40**2) for k in (1, 3, 5)]))'
    status=0
    "$WEFT_BUILD/solve" column.ufl --mesh quads:4 --eigenvalues 3 --buckling >log 2>&1 || status=$?
    [ "$status" != 0 ] && grep -q 'nothing holds u' log || { cat log; exit 1; }
else
    grep -q 'CHOLMOD is not found' log || { cat log; exit 1; }
fi

# The largest; without a library that factorises, none near a shift
run p1.ufl --mesh square:6 --dirichlet boundary=0 --eigenvalues 3 --largest
holds 'l == sorted(l) and l[0] > 600'
WEFT_UMFPACK=none WEFT_MUMPS=none "$WEFT_BUILD/solve" p1.ufl --mesh square:6 --dirichlet boundary=0 --eigenvalues 3 --near 100 >log 2>&1 && exit 1
grep -q 'near a shift need a factorization' log || { cat log; exit 1; }
# With one, also of an indefinite matrix, from -20 pi^2 on
sed 's/^a = .*/&\na = a - 20*pi**2*m/; s/^m = .*/M = u*v*dx/' p2.ufl | sed 's/20\*pi\*\*2\*m/20*pi**2*u*v*dx/; /^a = a/s/^/from math import pi\n/' >indefinite.ufl
if env -u WEFT_UMFPACK -u WEFT_MUMPS "$WEFT_BUILD/solve" indefinite.ufl --mesh square:16 --dirichlet boundary=0 --eigenvalues 4 --near -105 \
    --json report.json >log 2>&1; then
    holds 'r["method"] == "lanczos" and all(abs(a/pi**2 - b) < 0.05 for a, b in zip(l, (-12, -10, -10, -7)))'
    env -u WEFT_UMFPACK -u WEFT_MUMPS "$WEFT_BUILD/solve" p1.ufl --mesh square:16 --dirichlet boundary=0 --eigenvalues 6 --json report.json >log 2>&1
    holds 'all(abs(a/b - 1) < 1e-10 for a, b in zip(l, json.load(open("square_1_16.json"))["eigenvalues"]))'
    # A cavity: 1, 1 and 2 pi^2 are the nearest to 15; gradients have 0.
    sed 's/"Lagrange", triangle, 1/"N1curl", triangle, 1/; s/grad/curl/g; s/u\*v/inner(u, v)/' p1.ufl >cavity.ufl
    env -u WEFT_UMFPACK -u WEFT_MUMPS "$WEFT_BUILD/solve" cavity.ufl --mesh square:16 --dirichlet boundary=0,0 --eigenvalues 3 --near 15 \
        --json report.json >log 2>&1
    holds 'all(abs(a/pi**2/b - 1) < 3e-3 for a, b in zip(l, (1, 1, 2)))'
    # No spurious values: all that are nearer than the zeros, in the plane, in space and in an L; and the zeros, of which there are more.
    near() { # FILE OPTIONS...
        env -u WEFT_UMFPACK -u WEFT_MUMPS "$WEFT_BUILD/solve" "$@" --json report.json >log 2>&1 || { cat log; exit 1; }
    }
    sed 's/"N1curl", triangle, 1/"N1curl", triangle, 2/' cavity.ufl >cavity2.ufl
    near cavity2.ufl --mesh square:8 --dirichlet boundary=0,0 --eigenvalues 7 --near 25
    holds 'all(abs(a/pi**2/b - 1) < 1e-3 for a, b in zip(l, (1, 1, 2, 4, 4, 5, 5))) and not r["next_is_one_of_them"]'
    sed 's/triangle/tetrahedron/' cavity2.ufl >cavity3.ufl
    near cavity3.ufl --mesh cube:4 --dirichlet boundary=0,0,0 --eigenvalues 11 --near 28
    holds 'all(abs(a/pi**2/b - 1) < 1e-2 for a, b in zip(l, (2, 2, 2, 3, 3, 5, 5, 5, 5, 5, 5)))'
    near cavity.ufl --mesh square:8 --dirichlet boundary=0,0 --eigenvalues 6 --near 20
    holds 'abs(l[0]) < 1e-9 and r["next_eigenvalue"] < 1e-9 and r["next_is_one_of_them"]'
    grep -qE '^ +1 .* 1 or more$' log || { cat log; exit 1; }
    near cavity.ufl --mesh square:8 --dirichlet boundary=0,0 --eigenvalues 3 --near 1
    holds 'all(abs(a) < 1e-9 for a in l) and r["eigenvalue_multiplicities"] == [3, 3, 3]'
    if [ -x "$WEFT_BUILD/weft-gmsh" ]; then # Dauge's benchmark, on [-1, 1]^2 without a quarter
        cat >L.geo <<'END'
h = 0.1;
Point(1) = {0, 0, 0, h/20}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h}; Point(4) = {-1, 1, 0, h};
Point(5) = {-1, -1, 0, h}; Point(6) = {0, -1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6}; Line(6) = {6, 1};
Curve Loop(1) = {1, 2, 3, 4, 5, 6}; Plane Surface(1) = {1};
Physical Surface("inside") = {1}; Physical Curve("side") = {1, 2, 3, 4, 5, 6};
END
        near cavity2.ufl --mesh L.geo --dirichlet side=0,0 --eigenvalues 5 --near 5.8
        holds 'all(abs(a/b - 1) < 1e-3 for a, b in zip(l, (1.47562182, 3.53403137, pi**2, pi**2, 11.3894794)))'
    fi
else
    grep -q 'near a shift need a factorization' log || { cat log; exit 1; }
fi

bad() {
    local expected=$1
    shift
    "$WEFT_BUILD/solve" "$@" >log 2>&1 && exit 1
    grep -qF -- "$expected" log || { cat log; exit 1; }
}
sed '/^m/d' p1.ufl >massless.ufl
bad 'this one has no bilinear form m' massless.ufl --mesh square:4 --eigenvalues 2
bad 'has no bilinear form q' p1.ufl --mesh square:4 --eigenvalues 2 --mass q
bad 'values other than 0' p1.ufl --mesh square:4 --eigenvalues 2 --dirichlet boundary=1
sed 's/^a = .*/&\na = a + u.dx(0)*v*dx/' p1.ufl >convection.ufl
bad 'the matrix is not symmetric' convection.ufl --mesh square:4 --eigenvalues 2 --dirichlet boundary=0
sed 's/^m = .*/m = u*v.dx(0)*dx/' p1.ufl >skew.ufl
bad "the mass matrix 'm' is not symmetric" skew.ufl --mesh square:4 --eigenvalues 2 --dirichlet boundary=0
sed 's/^m = /m = -/' p1.ufl >negative.ufl
bad 'is not positive semidefinite' negative.ufl --mesh square:4 --eigenvalues 2 --dirichlet boundary=0
sed 's/^a = /a = -/' p1.ufl >negative.ufl
bad 'is not positive definite' negative.ufl --mesh square:4 --eigenvalues 2 --dirichlet boundary=0
bad 'and the problem has 9' p1.ufl --mesh square:4 --eigenvalues 10 --dirichlet boundary=0
bad 'stores its matrix' p1.ufl --mesh square:4 --eigenvalues 2 --assembly matrix-free --dirichlet boundary=0
bad '--ranks cannot be used with --eigenvalues' p1.ufl --mesh square:4 --eigenvalues 2 --ranks 2
bad '--time cannot be used with --eigenvalues' p1.ufl --mesh square:4 --eigenvalues 2 --time 1,1
bad '--mass is for problems in time and eigenvalues' p1.ufl --mesh square:4 --mass m
bad '--near, --largest and --buckling exclude each other' p1.ufl --mesh square:4 --eigenvalues 2 --near 3 --largest
bad '--near, --largest and --buckling exclude each other' p1.ufl --mesh square:4 --eigenvalues 2 --buckling --largest
bad 'are of vibrations, and --buckling finds factors of loads' p1.ufl --mesh square:4 --eigenvalues 2 --buckling --frequencies
bad '--buckling is for eigenvalues' p1.ufl --mesh square:4 --buckling
bad '--participation is for eigenvalues' p1.ufl --mesh square:4 --participation
bad 'take --buckling' signs.ufl --mesh interval:8 --dirichlet boundary=0 --eigenvalues 2
bad '--near is for eigenvalues' p1.ufl --mesh square:4 --near 3
bad '--frequencies is for eigenvalues' p1.ufl --mesh square:4 --frequencies
cat >mixed.ufl <<'END'
V = VectorElement("Lagrange", triangle, 2)
Q = FiniteElement("Lagrange", triangle, 1)
W = V*Q
u, p = TrialFunctions(W)
v, q = TestFunctions(W)
a = (inner(grad(u), grad(v)) - p*div(v) - q*div(u))*dx
m = inner(u, v)*dx
END
bad 'eigenvalues of mixed functions are not computed' mixed.ufl --mesh square:4 --eigenvalues 2
