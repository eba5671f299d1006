#!/usr/bin/env bash
# labels: full
# poisson --tune: the same solution, and the next run without it takes the plans that were found.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache WEFT_LOG=info
problem=(--mesh square:12 --device host:2 --assembly lma --source '2*pi^2*sin(pi*x)*sin(pi*y)'
    --exact 'sin(pi*x)*sin(pi*y)')
run() {
    "$WEFT_BUILD/poisson" "${problem[@]}" "$@" >"$scratch/out" 2>"$scratch/log"
}
# the line with the errors, to 6 digits: plans differ in the order of additions
errors() {
    grep -i 'error' "$scratch/out" | grep -oE '[0-9.]+e[-+][0-9]+' | sed -E 's/^([0-9.]{7})[0-9]*/\1/'
}
wants() {
    grep -qF -- "$1" "$scratch/log" || { echo "wanted '$1' in"; cat "$scratch/log"; exit 1; }
}
run
plain=$(errors)
[ -n "$plain" ]
if grep -qF "a search found best" "$scratch/log"; then
    echo "there is no best plan yet"
    exit 1
fi
run --tune 3
wants "covers measured, the fastest was predicted as number"
[ "$(errors)" = "$plain" ] || { echo "the solution changes: $(errors), not $plain"; exit 1; }
run
wants "the cover that a search found best is remembered"
[ "$(errors)" = "$plain" ] || { echo "the solution changes: $(errors), not $plain"; exit 1; }
"$WEFT_BUILD/weft" tuning list | tee "$scratch/list"
grep -qE '[1-9][0-9]* best plans' "$scratch/list"
WEFT_CACHE=off run
if grep -qF "a search found best" "$scratch/log"; then
    echo "WEFT_CACHE=off must not use what is remembered"
    exit 1
fi
echo "errors $plain, with and without tuning"

# iterations that are not as predicted: those of a mass matrix do not grow with the mesh
cat >"$scratch/mass.ufl" <<'END'
V = FiniteElement('P', triangle, 1)
u, v, x = TrialFunction(V), TestFunction(V), SpatialCoordinate(triangle)
a = inner(grad(u), grad(v))*dx + 1e7*u*v*dx
L = (1 + x[0]*x[1])*v*dx
END
count() { # KEY
    "$WEFT_BUILD/solve" "$scratch/mass.ufl" --mesh square:48 --device host:2 --quiet --json - "${@:2}" 2>"$scratch/log" |
        sed -nE "s/^ *\"$1\": ([0-9.]+),?\$/\1/p"
}
taken=$(count iterations)
predicted=$(count expected_iterations)
awk "BEGIN { exit !(2*$taken < $predicted) }" || { echo "$taken iterations, $predicted predicted"; exit 1; }
[ "$(count expected_iterations --tune 1)" = "$predicted" ] || { echo "changed before it was measured"; exit 1; }
learnt=$(count expected_iterations)
awk "BEGIN { exit !($learnt < 1.2*$taken && $learnt > 0.8*$taken) }" || { echo "$taken iterations, $learnt predicted after --tune"; exit 1; }
[ "$(WEFT_CACHE=off count expected_iterations)" = "$predicted" ] || { echo "WEFT_CACHE=off must not use what is remembered"; exit 1; }
echo "$taken iterations, $predicted predicted, $learnt after --tune"
