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
