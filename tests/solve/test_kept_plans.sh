#!/usr/bin/env bash
# labels: quick
# Programs that start again plan nothing: every plan is kept by the first run, and the report is the same but for times. So it is where all
# kept plans are damaged, which are planned again.
set -euo pipefail
build=${WEFT_BUILD:?}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache WEFT_LOG=debug
cd "$folder"
failures=0

fail() {
    echo "$*"
    failures=$((failures + 1))
}

run() { # NAME PROGRAM ARGUMENTS...
    local name=$1 program=$2
    shift 2
    "$build/$program" "$@" --json "$name.json" >"$name.log" 2>&1 || { cat "$name.log"; fail "$program $*"; }
    grep -q '"device"' "$name.json" || fail "$program $*: no report"
    grep -vE 'seconds|_peak"' "$name.json" | sed '/"start"/,/"total"/d' >"$name.report"
}

count() { # TEXT NAME
    grep -c "$1" "$2.log" || true
}

damage() {
    local entry
    for entry in cache/weft/*.weft; do
        [ "$(od -An -tu4 -j12 -N4 "$entry" | tr -d ' ')" != 4 ] || printf x | dd of="$entry" bs=1 seek=700 conv=notrunc status=none
    done
}

while read -r program arguments; do
    # shellcheck disable=SC2086 # words
    {
        run first "$program" $arguments
        for _ in 1 2 3 4 5; do # the end of a run drops what background threads have not begun to compile, for the next one
            run second "$program" $arguments
            [ "$(count 'planning ' second)" != 0 ] || break
        done
        damage
        run third "$program" $arguments
    }
    [ "$(count 'planning ' first)" -gt 0 ] || fail "$program $arguments: the first run plans nothing"
    [ "$(count 'planning ' second)" = 0 ] || fail "$program $arguments: the second run plans $(grep 'planning ' second.log)"
    [ "$(count 'the plan is kept' second)" -gt 0 ] || fail "$program $arguments: plans are not found"
    [ "$(count 'planning ' third)" -gt 0 ] || fail "$program $arguments: damaged plans are not noticed"
    [ "$(count 'is not used: its content is damaged' third)" -gt 0 ] || fail "$program $arguments: damage is not reported"
    for name in second third; do
        diff first.report "$name.report" || fail "$program $arguments: the report of the $name run differs"
    done
done <<'CASES'
poisson --device host --mesh square:8 --source 1
poisson --device null:h200 --mesh square:8 --source 1
solve --device host elasticity --mesh square:6 --dirichlet left=0,0 --preconditioner aggregation
solve --device null:h200 heat --mesh cube:3 --time 0.05,0.1 --initial x --dirichlet left=0
CASES
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
