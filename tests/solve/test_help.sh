#!/usr/bin/env bash
# labels: full
# --version and --help of every program, and the examples of --help: they stand in lines of their own, as
# they were written, and run as they are copied. Those that need a GPU or minutes are left out.
set -u
export LC_ALL=C
unset WEFT_LOG
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export PATH="$WEFT_BUILD:$PATH"
failures=0 ran=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}

programs=(poisson solve scaling advection_diffusion weft)
while read -r command; do
    programs+=("weft $command")
done < <(weft --help | sed -n '/^$/,/^$/ s/^  \([a-z]*\) .*/\1/p' | grep -v '^weft$')
[ ${#programs[@]} -ge 16 ] || fail "only ${#programs[@]} programs and commands found"

version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' "$WEFT_SOURCE/CMakeLists.txt")
for program in "${programs[@]}"; do
    for option in --version -V; do
        # shellcheck disable=SC2086 # "weft compile" is two words
        out=$($program $option 2>&1) || fail "$program $option: exit $?"
        [ "$out" = "$program (Weft) $version" ] || fail "$program $option prints: $out"
    done
    $program --help >help.text 2>err || fail "$program --help: exit $?"
    [ ! -s err ] || fail "$program --help: $(cat err)"
    $program --help >/dev/full 2>err && fail "$program --help: a full disk is not noticed"
done
for program in bench_host bench_cuda fuzz_plans; do # of the tests
    [ ! -x "$WEFT_BUILD/$program" ] || [ "$($program --version)" = "$program (Weft) $version" ] ||
        fail "$program --version: $($program --version)"
done
if [ -x "$WEFT_BUILD/weft-gmsh" ]; then
    [[ $(weft-gmsh --version) == "weft-gmsh (Weft) $version"* ]] || fail "weft-gmsh --version: $(weft-gmsh --version)"
fi

# What the examples name.
weft new function weighted >/dev/null && weft new script weighted >/dev/null || fail "weft new"
mkdir my-kernels before after
cp weighted.kernel.c my-kernels/
rm weighted.*
cat >my-kernels/smooth.kernel.c <<'END'
//@ function  smooth(x: real[n]) -> y: real[n]
//@ kind      map
//@ tune      width = 1, 2
//@ flops     n
//@ source    none: y = x
//@ threads   1
for (int i = 0; i < n; ++i)
    y(i) = x(i);
END
cat "$WEFT_SOURCE/fem/scripts/poisson.weft" >my.weft
echo 'expression source(x, y, z) = 1;' >>my.weft
cat >part.geo <<'GEO'
h = 0.1;
Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h}; Point(4) = {0, 1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Physical Curve("hot") = {4}; Physical Curve("wall") = {4};
Physical Curve("skin") = {1, 2, 3}; Physical Curve("tip") = {2};
Physical Surface("part") = {1};
GEO
cp part.geo beam.geo
cat >wall.geo <<'GEO'
h = 0.1;
Point(1) = {0, 0, 0, h}; Point(2) = {0.3, 0, 0, h}; Point(3) = {0.4, 0, 0, h};
Point(4) = {0.4, 1, 0, h}; Point(5) = {0.3, 1, 0, h}; Point(6) = {0, 1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6}; Line(6) = {6, 1};
Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6}; Curve Loop(2) = {2, 3, 4, -7};
Plane Surface(1) = {1}; Plane Surface(2) = {2};
Physical Surface("brick") = {1}; Physical Surface("wool") = {2};
Physical Curve("inside") = {6}; Physical Curve("outside") = {3};
GEO

sed -n "/^cat > drum.weft/,/^END/p" "$WEFT_SOURCE/docs/transients.md" | sed '1d;$d' >drum.weft
for file in Poisson.ufl Stokes.ufl; do
    cat >$file <<'UFL'
element = FiniteElement("Lagrange", triangle, 1)
u, v = TrialFunction(element), TestFunction(element)
a = inner(grad(u), grad(v))*dx
UFL
done
cat >HyperElasticity.py <<'UFL'
from basix.ufl import element
from ufl import FunctionSpace, Mesh, TestFunction, TrialFunction, dx
mesh = Mesh(element("Lagrange", "triangle", 1, shape=(2,)))
V = FunctionSpace(mesh, element("Lagrange", "triangle", 2))
a = TrialFunction(V)*TestFunction(V)*dx
UFL

# The commands below "Examples:", with continued lines as one: each line begins with two blanks.
examples() {
    "$@" --help | awk '/^Examples?:$/ { inside = 1; next }
                       inside && /^$/ { exit }
                       inside && !/^  / { print "not an example: " $0; next }
                       inside           { print substr($0, 3) }'
}
run_examples() { # command file
    local command='' line
    while IFS= read -r line; do
        command+=$line
        if [[ $line == *\\ ]]; then
            command+=$'\n'
            continue
        fi
        case "$command" in
        *cuda*) ;;                                           # needs a GPU
        "weft calibrate"*--validate* | "weft calibrate --device host") ;; # takes minutes
        "weft calibrate --plot"*) ;;                         # draws what --validate has written
        "weft gemm "*[0-9][0-9][0-9][0-9]*) ;;               # large products: minutes on a host
        *.geo* | *.msh*)
            [ ! -x "$WEFT_BUILD/weft-gmsh" ] || run_example "$command"
            ;;
        *) run_example "$command" ;;
        esac
        command=''
    done <"$1"
    [ -z "$command" ] || fail "this example does not end: $command"
}
run_example() {
    local code=0 expected=0
    local -a environment=(env)
    case "$1" in
    "weft cache"* | "weft tuning"* | "weft calibrate"*) environment+=("XDG_CACHE_HOME=$scratch/cache") ;;
    "weft plan diff"*) expected=1 ;; # they differ
    esac
    if [[ $1 == "weft compare before/"* ]]; then
        cp study/results.json before/ && cp study/results.json after/ || return
    fi
    if [[ $1 == *"| dot"* ]] && ! command -v dot >/dev/null; then
        return
    fi
    "${environment[@]}" bash -o pipefail -c "$1" >out 2>&1 </dev/null || code=$?
    ran=$((ran + 1))
    [ "$code" -eq "$expected" ] || fail "exit $code of the example: $1
$(tail -n 5 out)"
}
# scaling first: weft compare takes its results
for program in scaling "${programs[@]}"; do
    [ "$program" != scaling ] || [ ! -d study ] || continue
    # shellcheck disable=SC2086
    examples $program >examples.text
    if grep 'not an example' examples.text; then
        fail "$program --help breaks its examples"
    fi
    run_examples examples.text
done
echo "$ran examples run"
[ "$ran" -ge 30 ] || fail "only $ran examples were found"
exit "$((failures > 0))"
