#!/usr/bin/env bash
# labels: full
# --preconditioner lu on an emulated GPU by a stand-in for cuDSS (tests/support/fake_cudss.c), which the plug-in is compiled against
# when it is first asked for: exact solutions in the space, analyses once for each pattern, messages where it is missing. Residuals
# of 1e-12 mean errors of 1e-12 times the condition, below 1e5.
set -euo pipefail
build=${WEFT_BUILD:?}
emulated=$build/tests/emulated_gpu
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
[ -e "$emulated/libcuda.so.1" ] || { echo "skipped: the emulated GPU is not part of this build"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
export FAKE_CUDSS_LOG=$folder/phases WEFT_CUDSS=$build/tests/fake_cudss

fail() { # TEXT...
    echo "$*"
    cat "$folder/log"
    failures=$((failures + 1))
}

run() { # ARGUMENTS...: of solve, on the GPU
    rm -f "$FAKE_CUDSS_LOG"
    LD_LIBRARY_PATH=$emulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$build/solve" --device cuda \
        --preconditioner lu --json "$folder/json" "$@" >"$folder/log" 2>&1
}

# PHASES ARGUMENTS...: what cuDSS must have done besides solving, and a problem with --exact
try() {
    local expected=$1 phases
    shift
    run --tolerance 1e-12 "$@" || { fail "solve $*"; return; }
    phases=$(grep -v ^solve "$FAKE_CUDSS_LOG" | paste -sd,)
    [[ $phases =~ ^($expected)$ ]] || fail "$*: phases $phases, not $expected"
    python3 - "$folder/json" <<'PYTHON' || fail "solve $*"
import json, sys
report = json.load(open(sys.argv[1]))
errors = report.get("l2_errors") or [report["l2_error"]]
assert report["outcome"] == "converged", report["outcome"]
assert all(e < 1e-7 for e in errors), errors
assert report["iterations"] <= 3, report["iterations"]
PYTHON
}

# NAME VALUES ARGUMENTS...: a problem of the gallery, whose integrals agree with the host's, factorised there too, to 1e-7
gallery() {
    local name=$1 expected=$2 words
    shift 2
    read -ra words < <(sed -n 's/^# run: solve//p' "$WEFT_SOURCE/docs/examples/gallery/$name.yaml")
    (cd "$WEFT_SOURCE/docs/examples/gallery" && run "${words[@]}" "$@") || { fail "$name"; return; }
    grep -v ^solve "$FAKE_CUDSS_LOG" | sort | uniq -c | awk '{ print $2 }' | paste -sd, >"$folder/kinds"
    [ "$(cat "$folder/kinds")" = "$expected" ] || fail "$name: $(cat "$folder/kinds")"
    [ "$(grep -c ^analysis "$FAKE_CUDSS_LOG")" = 1 ] || fail "$name is analysed more than once"
    mv "$folder/json" "$folder/gpu.json"
    (cd "$WEFT_SOURCE/docs/examples/gallery" && "$build/solve" --device host --preconditioner jacobi --max-iterations 20000 \
        --json "$folder/json" "${words[@]}" "$@" >"$folder/log" 2>&1) || { fail "$name on the host"; return; }
    python3 - "$folder/json" "$folder/gpu.json" <<'PYTHON' || fail "$name"
import json, sys
host, gpu = (json.load(open(name))["integral_u"] for name in sys.argv[1:])
host, gpu = (x if isinstance(x, list) else [x] for x in (host, gpu))
assert len(host) == len(gpu) and host
assert all(abs(a - b) < 1e-6 * max(map(abs, host)) for a, b in zip(host, gpu)), (host, gpu)
PYTHON
}

cd "$folder"
cat >convection.ufl <<'TEXT'
V = FiniteElement('P', triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
a = (1e-3*inner(grad(u), grad(v)) + 2*u.dx(0)*v + u.dx(1)*v)*dx
L = 4*v*dx
TEXT
cat >helmholtz.ufl <<'TEXT'
V = FiniteElement('P', triangle, 2)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(triangle)
a = (inner(grad(u), grad(v)) - 60*u*v)*dx
L = -60*x[0]*x[1]*v*dx
TEXT
cat >diffusion.ufl <<'TEXT'
V = FiniteElement('P', triangle, 2)
u, v = TrialFunction(V), TestFunction(V)
a = inner(grad(u), grad(v))*dx
L = -4*v*dx
TEXT
cat >vector.ufl <<'TEXT'
V = VectorElement('P', triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
a = (inner(grad(u), grad(v)) + u[0].dx(0)*v[1])*dx
L = v[1]*dx
TEXT
cat >stokes.ufl <<'TEXT'
W = VectorElement('P', triangle, 2)*FiniteElement('P', triangle, 1)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
f = Constant(triangle)
a = inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx
L = f*q*dx
TEXT
cat >swapped.ufl <<'TEXT'
V = FiniteElement('P', triangle, 1)
W = V*V
x = SpatialCoordinate(triangle)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
a = p*v*dx + u*q*dx
L = x[1]*v*dx + x[0]*q*dx
TEXT
cat >singular.ufl <<'TEXT'
V = FiniteElement('P', triangle, 1)
u, v = TrialFunction(V), TestFunction(V)
a = u.dx(0)*v.dx(0)*dx
L = v*dx
TEXT
try 'analysis general,factorization general' convection.ufl --mesh square:8 --exact 'x+2*y' --dirichlet 'boundary=x+2*y'
try 'analysis symmetric,factorization symmetric' diffusion.ufl --mesh square:6 --exact 'x^2+y^2' --dirichlet 'boundary=x^2+y^2'
try 'analysis (symmetric|general),factorization (symmetric|general)(,analysis.*)?' helmholtz.ufl --method gmres --mesh square:4 \
    --exact 'x*y' --dirichlet 'boundary=x*y'
try 'analysis general,factorization general' vector.ufl --mesh square:6 --exact x,y --dirichlet boundary=x,free --dirichlet left=0,y \
    --dirichlet right=1,y --dirichlet bottom=x,0 --dirichlet top=x,1
try 'analysis general,factorization general' stokes.ufl --mesh square:4 --exact 'y^2,x^2,2*x+2*y-2' --input f=0 \
    --dirichlet 'boundary=y^2,x^2,free'
# pivots on the diagonal vanish: rows are matched
try 'analysis general,factorization general,analysis general matched,factorization general matched' swapped.ufl --mesh square:4 \
    --exact x,y
gallery navier_stokes analysis,factorization,refactorization --mesh square:4
gallery hyperelastic analysis,factorization,refactorization --mesh cube:1
gallery cahn_hilliard analysis,factorization,refactorization --mesh square:3 --time 5e-6,1e-5

# ---- what is refused ----

! run singular.ufl --mesh square:8 --dirichlet bottom=0 || fail "a singular matrix is solved"
grep -q 'the matrix is singular, as cuDSS found' log || fail "no word of a singular matrix"
mkdir -p lib
cp "$WEFT_CUDSS/lib/libcudss.so.0" lib
WEFT_CUDSS=none
! run diffusion.ufl --mesh square:2 --dirichlet boundary=0 || fail "solved without cuDSS"
grep -q 'cuDSS is not found.*' log && grep -q 'pip install nvidia-cudss-cu13' log || fail "no word of what to install"
WEFT_CUDSS=$folder
! run diffusion.ufl --mesh square:2 --dirichlet boundary=0 || fail "solved without a header"
grep -q "cuDSS is in $folder/lib, but there is no header cudss.h beside it" log || fail "no word of the header"
mkdir include
sed 's/VERSION_MINOR 7/VERSION_MINOR 6/' "$build/tests/fake_cudss/include/cudss.h" >include/cudss.h
! run diffusion.ufl --mesh square:2 --dirichlet boundary=0 || fail "solved with the header of another version"
grep -q 'this version of cuDSS is not known: 0.7' log || fail "no word of the version"
exit "$((failures > 0))"
