#!/usr/bin/env bash
# labels: full
# Problems in functions with continuous tangential or normal components. Errors fall with the orders of theory, to 0.15,
# over one halving of meshes with irregular numbers: k in L2 for the first kind and Raviart-Thomas, k + 1 for the second
# kind and Brezzi-Douglas-Marini, with conditions, and with integrals over facets. The divergence of a flux is the source
# exactly, fields that a space contains are found exactly. What is not there is refused by name.
set -u
export LC_ALL=C PATH="$WEFT_BUILD:$PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
fail() {
    echo "$*"
    failures=$((failures + 1))
}

# curl curl u + u = f; the tangential components of curl u are those of curl e
cat >curl.ufl <<'END'
V = FiniteElement(family, cell, degree)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(cell)
n = FacetNormal(cell)
e = as_vector([sin(pi*x[1]), sin(pi*x[2]), sin(pi*x[0])])
a = inner(curl(u), curl(v))*dx + inner(u, v)*dx
L = (1 + pi**2)*inner(e, v)*dx + inner(cross(curl(e), n), v)*ds
m = inner(u, v)*dx
END
# the same in the plane, with u x n given
cat >plane.ufl <<'END'
V = FiniteElement(family, cell, degree)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(cell)
e = as_vector([sin(pi*x[1]), sin(pi*x[0])])
a = inner(curl(u), curl(v))*dx + inner(u, v)*dx
L = (1 + pi**2)*inner(e, v)*dx
END
# -grad div u + u = f
cat >div.ufl <<'END'
V = FiniteElement(family, cell, degree)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(cell)
n = FacetNormal(cell)
e = as_vector([sin(pi*x[0]), sin(pi*x[1]), sin(pi*x[2])])
a = div(u)*div(v)*dx + inner(u, v)*dx
L = (1 + pi**2)*inner(e, v)*dx + div(e)*inner(v, n)*ds
END
# Darcy: s = grad p, div s = -f, p given weakly
cat >darcy.ufl <<'END'
W = FiniteElement(family, cell, degree)*FiniteElement("DG", cell, degree - 1)
(s, p), (t, q) = TrialFunctions(W), TestFunctions(W)
x = SpatialCoordinate(cell)
n = FacetNormal(cell)
p0 = cos(pi*x[0])*cos(pi*x[1])
a = dot(s, t)*dx + div(t)*p*dx + div(s)*q*dx
L = -2*pi**2*p0*q*dx + p0*dot(t, n)*ds
END
# F(u) = 0 with (1 + u.u) u
cat >newton.ufl <<'END'
V = FiniteElement("N1curl", triangle, 1)
u, v = Coefficient(V), TestFunction(V)
x = SpatialCoordinate(triangle)
e = as_vector([sin(pi*x[1]), sin(pi*x[0])])
F = inner(curl(u), curl(v))*dx + (1 + dot(u, u))*inner(u, v)*dx - inner((pi**2 + 1 + dot(e, e))*e, v)*dx
END
# p 'family' 'cell' degree FILE: the file with these
of() {
    sed "s/family/\"$1\"/; s/cell/$2/g; s/degree - 1/$(($3 - 1))/; s/degree/$3/" "$4" >"case.ufl"
}
error_of() { sed -n 's/^error  *L2 \([^,]*\),.*/\1/p' out; }
# order WANTED MESH:N EXACT OPTIONS...: of case.ufl on the mesh and on its refinement
order() {
    local wanted=$1 mesh=$2 exact=$3 before='' n
    shift 3
    for n in "${mesh#*:}" $((2 * ${mesh#*:})); do
        if ! solve case.ufl --mesh "${mesh%:*}:$n" --ordering bisection --exact "$exact" "$@" >out 2>&1 </dev/null; then
            fail "case.ufl $mesh: $(tail -n 3 out)"
            return
        fi
        if [ -n "$before" ]; then
            awk -v a="$before" -v b="$(error_of)" -v wanted="$wanted" \
                'BEGIN { o = log(a / b) / log(2); exit !(o > wanted - 0.15 && o < wanted + 0.5) }' ||
                fail "order of $(grep -c . case.ufl) lines, $(grep '^[VW] =' case.ufl), $mesh: errors $before, $(error_of)"
        fi
        before=$(error_of)
    done
}
space='sin(pi*y),sin(pi*z),sin(pi*x)'
plane='sin(pi*y),sin(pi*x)'
of N1curl triangle 1 plane.ufl && order 1 square:8 "$plane" --dirichlet "boundary=$plane"
of N1curl triangle 3 plane.ufl && order 3 square:4 "$plane" --dirichlet "boundary=$plane"
of N2curl triangle 2 plane.ufl && order 3 square:4 "$plane" --dirichlet "boundary=$plane"
of N1curl tetrahedron 1 curl.ufl && order 1 cube:4 "$space"
of N1curl tetrahedron 2 curl.ufl && order 2 cube:3 "$space"
of N2curl tetrahedron 1 curl.ufl && order 2 cube:4 "$space"
of RT tetrahedron 2 div.ufl && order 2 cube:3 'sin(pi*x),sin(pi*y),sin(pi*z)'
of BDM tetrahedron 1 div.ufl && order 2 cube:4 'sin(pi*x),sin(pi*y),sin(pi*z)' --dirichlet \
    'left=sin(pi*x),sin(pi*y),sin(pi*z)'
of RT triangle 2 darcy.ufl &&
    order 2 square:4 '-pi*sin(pi*x)*cos(pi*y),-pi*cos(pi*x)*sin(pi*y),cos(pi*x)*cos(pi*y)'
cp newton.ufl case.ufl && order 1 square:4 "$plane" --nonlinear --dirichlet "boundary=$plane"

# A flux with the source 1 has the divergence -1 in each cell.
of RT triangle 2 darcy.ufl
sed -i 's/^L = .*/L = -q*dx/' case.ufl
solve case.ufl --mesh square:6 --ordering bisection --tolerance 1e-12 --extrema 'd=grad(u)[0,0]+grad(u)[1,1]' \
    --integral 'out@boundary=u[0]*normal[0]+u[1]*normal[1]' >out 2>&1 || fail "$(tail -n 3 out)"
awk '/^extrema  *d / { low = $3; for (i = 4; i < NF; ++i) if ($i == "to") high = $(i + 1) }
     /^integral  *out/ { sum = $NF }
     function near(x) { return x > -1 - 1e-8 && x < -1 + 1e-8 }
     END { exit !(near(low) && near(high) && near(sum)) }' out ||
    fail "the divergence is not -1: $(grep -E '^(extrema|integral)' out)"

# The gradient of xyz is a function of the second kind of degree 2; the time leaves it as it is.
of N2curl tetrahedron 2 curl.ufl
sed -i 's/^e = .*/e = grad(x[0]*x[1]*x[2])/; s/(1 + pi\*\*2)/1.0/' case.ufl
for time in '' '--time 0.1,0.3 --scheme theta --theta 1 --initial y*z,x*z,x*y'; do
    # shellcheck disable=SC2086
    solve case.ufl --mesh cube:2 --ordering bisection --tolerance 1e-12 --exact 'y*z,x*z,x*y' \
        --probe 0.3,0.6,0.2 $time >out 2>&1 || fail "$(tail -n 3 out)"
    awk -v error="$(error_of)" 'BEGIN { exit !(error + 0 < 1e-9) }' || fail "a gradient, $time: error $(error_of)"
    sed -n 's/^probe  *u(0.3,0.6,0.2)  *//p' out | tr -d , |
        awk 'function near(x, y) { return x > y - 1e-9 && x < y + 1e-9 }
             { found = near($1, 0.12) && near($2, 0.06) && near($3, 0.18) } END { exit !found }' ||
        fail "a gradient at a point: $(grep probe out)"
done

# Auxiliary spaces: iterations to 1e-8 grow little with the mesh, do not depend on beta, and are few where materials jump;
# u is that of Jacobi's preconditioner. The limits are those of experiments with the method in Python (Basix, pyamg), and two.
cat >beta.ufl <<'END'
V = FiniteElement(family, cell, degree)
u, v = TrialFunction(V), TestFunction(V)
beta, nu = Coefficient(FiniteElement("DG", cell, 0)), Coefficient(FiniteElement("DG", cell, 0))
x = SpatialCoordinate(cell)
f = as_vector([x[1]*x[2], sin(3*x[2]), cos(2*x[0])])
a = nu*inner(D(u), D(v))*dx + beta*inner(u, v)*dx
L = inner(f, v)*dx
END
few() { # few MOST MESH OPTIONS...
    local most=$1 mesh=$2 kind
    shift 2
    for kind in auxiliary jacobi; do
        solve case.ufl --mesh "$mesh" --ordering bisection --preconditioner "$kind" --max-iterations 20000 --tolerance "$([ "$kind" = jacobi ] && echo 1e-11 || echo 1e-8)" --probe 0.31,0.42,0.57 "$@" \
            >"$kind" 2>&1 </dev/null || { fail "$(grep '^V =' case.ufl) $*: $(tail -n 3 "$kind")"; return; }
    done
    awk -v most="$most" '$2 ~ /^converged/ { n = $3 == "to" ? $5 : $3 } END { exit !(n > 0 && n <= most) }' auxiliary ||
        fail "$(grep '^V =' case.ufl) $mesh $*: $(grep converged auxiliary), at most $most"
    paste <(sed -n 's/^probe  *u([^)]*)//p' auxiliary | tr -d ,) <(sed -n 's/^probe  *u([^)]*)//p' jacobi | tr -d ,) |
        awk '{ for (k = 1; k <= NF / 2; ++k) { d = $k - $(k + NF / 2); e = $(k + NF / 2); far += d * d; all += e * e } }
             END { exit !(all > 0 && far <= 1e-8 * all) }' || fail "$(grep '^V =' case.ufl) $*: u differs from that of jacobi"
}
case_of() { of "$1" tetrahedron "$2" beta.ufl && sed -i "s/D(/$3(/g" case.ufl; }
case_of N1curl 1 curl
few 14 cube:5 --input beta=1 --input nu=1
few 15 cube:5 --input beta=1 --input nu=1 --dirichlet boundary=0,0,0
few 15 cube:5 --input beta=1e-4 --input nu=1 --dirichlet boundary=0,0,0
few 20 cube:6 --input 'beta=select(abs(x-0.5)<0.3,1e4,1)' --input nu=1 --dirichlet left=0,0,0
few 20 cube:6 --input beta=1 --input 'nu=select(abs(x-0.5)<0.3,1e-4,1)' --dirichlet left=0,0,0
# Where the curl alone counts, in the whole or but for a body, u is unique up to gradients, which are taken off it and the load.
few 16 cube:5 --input beta=0 --input nu=1 --dirichlet boundary=0,0,0
few 16 cube:5 --input 'beta=select(abs(x-0.5)+abs(y-0.5)+abs(z-0.5)<0.4,1,0)' --input nu=1 --dirichlet boundary=0,0,0
few 16 cube:5 --input beta=0 --input nu=1
grep -q 'only the curl of u counts, in the whole domain.*was taken off' auxiliary ||
    fail "no warning about a load on gradients: $(cat auxiliary)"
solve case.ufl --mesh cube:5 --input beta=1e-8 --input nu=1 --dirichlet boundary=0,0,0 --preconditioner auxiliary -v >out 2>&1 ||
    fail "a small mass: $(tail -n 3 out)"
grep -q 'only the curl' out && fail "a small mass counts as none"
case_of N1curl 2 curl
few 15 cube:3 --input beta=1 --input nu=1 --dirichlet boundary=0,0,0
case_of N2curl 1 curl
few 16 cube:4 --input beta=1 --input nu=1
case_of RT 1 div
few 16 cube:5 --input beta=1 --input nu=1
few 18 cube:5 --input beta=1e-3 --input nu=1 --dirichlet boundary=0,0,0
few 20 cube:4 --input beta=0 --input nu=1 --dirichlet left=0,0,0
case_of BDM 1 div
few 18 cube:4 --input beta=1 --input nu=1 --dirichlet left=0,0,0

# refused MESSAGE OPTIONS...
refused() {
    local message=$1
    shift
    if solve case.ufl --mesh cube:2 "$@" >out 2>&1 </dev/null; then
        fail "is not refused: $*"
    fi
    grep -qF -- "$message" out || fail "$*: no '$message' in $(cat out)"
}
of N1curl tetrahedron 1 curl.ufl
refused 'all 3 components, and that on '"'left'"' lacks component 1' --dirichlet left=0,free,0
refused 'constraints are for continuous (Lagrange) elements' --periodic left=right
refused 'loads at points are not computed for functions with continuous' --point-load 0.5,0.5,0.5=1,1,1
refused 'reactions are not computed for functions with continuous' --reactions --dirichlet left=0,0,0
refused 'fluxes are not prescribed for functions with continuous' --neumann left=0,0,1
refused 'multigrid is for elements with values at the vertices' --refine 1 --preconditioner multigrid
refused 'components are not computed on several ranks' --ranks 2
if solve elasticity.ufl --mesh cube:2 --input force=0,0,1 --dirichlet left=0,0,0 --preconditioner auxiliary >out 2>&1 || ! grep -q 'auxiliary is for functions with continuous' out; then
    fail "auxiliary for P1: $(tail -n 3 out)"
fi
refused 'conditions in t are not prescribed for functions' --dirichlet left=t,0,0 --time 0.1,0.2
exit $((failures > 0))
