#!/usr/bin/env bash
# labels: full
# Whole programs on an emulated GPU (tests/support/fake_cuda.c, emulated_nvrtc.c): problems of the gallery, smaller, and
# one of each element, preconditioner, assembly and method. What core/cuda asks of the driver is what it asks on a GPU, and what a
# driver refuses during a graph capture is refused here. Kernels run thread by thread on the host. Solvers stop at 1e-11, and
# numbers agree with the host's to 1e-7.
set -euo pipefail
build=${WEFT_BUILD:?}
emulated=$build/tests/emulated_gpu
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
command -v g++ >/dev/null || { echo "skipped: there is no g++"; exit 77; }
[ -e "$emulated/libcuda.so.1" ] || { echo "skipped: the emulated GPU is not part of this build"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
problems=()
failures=0

run() { # NAME DEVICE PROGRAM ARGUMENTS...
    local name=$1 device=$2 program=$3 path=${LD_LIBRARY_PATH:-}
    shift 3
    [ "$device" = host ] || path=$emulated${path:+:$path}
    LD_LIBRARY_PATH=$path "$build/$program" --device "$device" --tolerance 1e-11 --quiet \
        --json "$folder/$name.json" "$@" >"$folder/log" 2>&1 && return
    echo "$name: $program --device $device $*"
    cat "$folder/log"
    failures=$((failures + 1))
}

# PROBLEM PROGRAM ARGUMENTS... [-- VARIANT...]: the arguments on the host, and with each of the variants on the GPU
try() {
    local problem=$1 program=$2 n=0
    local arguments=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    [ $# -gt 0 ] && shift || set -- ""
    problems+=("$problem")
    run "$problem-host" host "$program" "${arguments[@]}"
    for variant; do
        n=$((n + 1))
        # shellcheck disable=SC2086 # words
        run "$problem-$n" cuda "$program" "${arguments[@]}" $variant
    done
}

# ---- the gallery ----

gallery() { # PROBLEM ARGUMENTS...
    local file=$1.yaml words
    shift
    grep -q 'mesh:.*\.geo' "$file" && [ ! -x "$build/weft-gmsh" ] && return
    grep -q '^ *preconditioner: *lu' "$file" && return # which factorises on the host alone
    grep -q '^eigenvalues:' "$file" && return # of a smaller mesh below
    read -ra words < <(sed -n 's/^# run: //p' "$file")
    try "${file%.yaml}" "${words[@]}" "$@"
}
cd "${WEFT_SOURCE:?}/docs/examples/gallery"
declare -A smaller=(
    [biharmonic]="--mesh square:3" [bracket]="--size 8" [cahn_hilliard]="--mesh square:3 --time 5e-6,1e-5"
    [capacitor]="--size 0.5" [cook_membrane]="--size 12" [discontinuous]="--mesh square:2" [fin]="--size 0.01"
    [groundwater]="--size 300" [heat_wave]="--size 0.2 --time 0.02,0.02" [helmholtz]="--mesh square:2"
    [homogenisation]="--size 0.3" [hyperelastic]="--mesh cube:1" [interface]="--mesh square:3"
    [nafems_t3]="--size 0.02 --time 1,2" [nafems_t4]="--size 0.2" [navier_stokes]="--mesh square:4"
    [plate_with_hole]="--size 0.2" [rotating_cone]="--mesh square:6 --steps 2" [thermal_bridge]="--size 8"
)
for file in *.yaml; do # without WEFT_TEST_FULL every third, for one of each element is below
    n=$((${n:-0} + 1))
    [ -n "${WEFT_TEST_FULL:-}" ] || [ $((n % 3)) = 0 ] || continue
    # shellcheck disable=SC2086 # words
    gallery "${file%.yaml}" ${smaller[${file%.yaml}]:-}
done

# ---- elements ----

cd "$folder"
form() { # FILE CELL ELEMENT: -Δu + u
    cat >"$1.ufl" <<TEXT
V = FunctionSpace(Mesh(VectorElement("Lagrange", $2, 1)), $3)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(V.ufl_domain())
a = inner(grad(u), grad(v))*dx + inner(u, v)*dx
L = (1 + x[0])*v*dx
TEXT
}
saddle() { # FILE CELL ELEMENT: Stokes' equations
    cat >"$1.ufl" <<TEXT
W = FunctionSpace(Mesh(VectorElement("Lagrange", $2, 1)), $3)
(u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
a = (inner(grad(u), grad(v)) - div(v)*p - q*div(u))*dx
L = v[0]*dx
TEXT
}
form p2 triangle 'FiniteElement("P", triangle, 2)'
form p3 triangle 'FiniteElement("P", triangle, 3)'
form p2_tetrahedron tetrahedron 'FiniteElement("P", tetrahedron, 2)'
form q2 quadrilateral 'FiniteElement("Q", quadrilateral, 2)'
form q1_hexahedron hexahedron 'FiniteElement("Q", hexahedron, 1)'
form bubble triangle 'FiniteElement("P", triangle, 1) + FiniteElement("Bubble", triangle, 3)'
saddle mini triangle 'VectorElement(FiniteElement("P", triangle, 1) + FiniteElement("Bubble", triangle, 3))*FiniteElement("P", triangle, 1)'
saddle taylor_hood triangle 'VectorElement("P", triangle, 2)*FiniteElement("P", triangle, 1)'
# an ordinary form whose product takes more statements than a body of them: -div((1 + |∇u|²) ∇u) of u = x² in P2
cat >gradient.ufl <<TEXT
V = FunctionSpace(Mesh(VectorElement("Lagrange", tetrahedron, 1)), FiniteElement("P", tetrahedron, 2))
u, v = Coefficient(V), TestFunction(V)
x = SpatialCoordinate(V.ufl_domain())
F = (1 + inner(grad(u), grad(u)))*inner(grad(u), grad(v))*dx + (2 + 24*x[0]**2)*v*dx
TEXT
try gradient solve gradient.ufl --nonlinear --mesh cube:2 --dirichlet boundary=x^2 --exact x^2 -- \
    "--assembly csr" "--assembly matrix-free"
try p3 solve p3.ufl --mesh square:2 -- "--assembly csr" "--assembly matrix-free"
try p2_tetrahedron solve p2_tetrahedron.ufl --mesh cube:1 -- "--assembly csr --preconditioner aggregation"
try elasticity solve elasticity.ufl --mesh cube:7 --dirichlet left=0,0,0 --input force=0,0,-1 -- \
    "--assembly csr --preconditioner aggregation"
try degrees solve p3.ufl --mesh square:4 -- "--assembly matrix-free --preconditioner aggregation" \
    "--assembly matrix-free --preconditioner multigrid"
try elastic_degrees solve elasticity.ufl --degree 2 --mesh cube:7 --dirichlet left=0,0,0 \
    --input force=0,0,-1 -- "--assembly matrix-free --preconditioner aggregation"
for cell in "triangle 2 square:48" "tetrahedron 2 cube:10" "hexahedron 3 hexes:6"; do # whose memory is counted below
    read -r name degree mesh <<<"$cell"
    printf 'V = FiniteElement("P", %s, %s)\nu, v = TrialFunction(V), TestFunction(V)\na, L = inner(grad(u), grad(v))*dx, v*dx\n' \
        "$name" "$degree" >"$folder/levels_$name.ufl"
    try "levels_$name" solve "$folder/levels_$name.ufl" --mesh "$mesh" --dirichlet boundary=0 -- \
        "--assembly matrix-free --preconditioner aggregation"
done
for family in N1curl RT; do # tangential or normal components are continuous
    cat >"$family.ufl" <<TEXT
V = FiniteElement("$family", tetrahedron, 1)
u, v = TrialFunction(V), TestFunction(V)
x = SpatialCoordinate(tetrahedron)
a = inner(D(u), D(v))*dx + inner(u, v)*dx
L = inner(as_vector([1, x[0], x[1]*x[2]]), v)*dx + v[1]*ds
TEXT
    sed -i "s/D(/$([ "$family" = RT ] && echo div || echo curl)(/g" "$family.ufl"
    try "$family" solve "$family.ufl" --mesh cube:2 --exact 'y,z,x' -- "--preconditioner auxiliary" \
        "--preconditioner jacobi --assembly matrix-free"
done
sed '/^L = /d; s/^a = .*/a, m = inner(grad(u), grad(v))*dx, u*v*dx/' p2.ufl >eigen.ufl
try eigen solve eigen.ufl --mesh square:8 --eigenvalues 4 -- "--preconditioner aggregation" "--preconditioner jacobi"
try q2 solve q2.ufl --mesh quads:2 -- "--assembly csr" "--assembly matrix-free"
try q1_hexahedron solve q1_hexahedron.ufl --mesh hexes:2
try bubble solve bubble.ufl --mesh square:2
try mini solve mini.ufl --mesh square:2 --dirichlet boundary=0,0,free -- "--preconditioner block" \
    "--preconditioner block --method gmres"
try taylor_hood solve taylor_hood.ufl --mesh square:3 --dirichlet boundary=0,0,free -- \
    "--preconditioner block" "--preconditioner block --method gmres" \
    "--preconditioner block --method bicgstab" "--preconditioner none" \
    "--preconditioner block --assembly csr" "--preconditioner block --assembly matrix-free --method gmres"

# ---- assemblies, preconditioners and methods ----

try poisson poisson --mesh square:6 -- "--assembly lma" "--assembly lma-gather" "--assembly csr" \
    "--assembly matrix-free" "--preconditioner none" "--preconditioner jacobi" \
    "--preconditioner chebyshev" "--preconditioner multigrid" "--preconditioner aggregation"
try method solve diffusion.weft --mesh square:4 -- "--method minres" "--method gmres" "--method bicgstab" \
    "--method gmres --preconditioner aggregation" "--method bicgstab --preconditioner multigrid" \
    "--method minres --preconditioner chebyshev"

# ---- little memory: cells and coordinates leave the GPU while a system is solved ----

export FAKE_CUDA_BYTES=5500000
try evicted poisson --mesh square:72 --exact 'x*(1-x)' -- "--assembly csr --preconditioner aggregation" \
    "--assembly csr --preconditioner multigrid"
try evicted_p2 solve p2.ufl --mesh square:40 --exact 'x*(1-x)' --output p2.vtkhdf -- \
    "--assembly csr --preconditioner aggregation"
unset FAKE_CUDA_BYTES

python3 - gradient-*.json <<'END' || failures=$((failures + 1))
import json, sys
errors = [json.load(open(path))["l2_error"] for path in sys.argv[1:]]
print("u = x^2 is found to", max(errors))
sys.exit(max(errors) > 1e-9)
END
# the preconditioner holds at most 80 B for each unknown, beside the inverse of the coarsest matrix
python3 - "$folder"/levels_*-1.json <<'END' || failures=$((failures + 1))
import json, sys
for path in sys.argv[1:]:
    run = json.load(open(path))
    report = run["preconditioner_report"]
    held = (report["bytes"] - 4 * report["levels"][-1]["rows"] ** 2) / run["dofs"]
    print(path.split("/")[-1], "%.1f B an unknown" % held)
    assert 24 < held <= 80, path
END
[ "$failures" = 0 ] || { echo "$failures runs failed"; exit 1; }
python3 "$WEFT_SOURCE/tests/gpu/compare_runs.py" "$folder" "$([ -n "${WEFT_TEST_FULL:-}" ] && echo 150 || echo 100)" "${problems[@]}"
