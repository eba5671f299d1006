#!/usr/bin/env bash
# labels: quick
# Every block of commands in the tutorials of the programs runs and ends as its page says: "```sh" with 0, "```sh exit-N"
# with N. The blocks of a page run one after the other in one folder, as a reader would type them.
set -u
source=${WEFT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${WEFT_BUILD:-$source/build}
if [ ! -x "$build/weft-gmsh" ]; then
    echo "skipped: weft-gmsh is not part of this build, and the tutorial meshes a .geo file"
    exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$build" "$folder/build"
cd "$folder" || exit 1
PATH="$folder/build:$PATH"
failures=0

# page-001.0, page-002.2, ...: the number, then the exit code that is expected
run_page() {
    local page=$1 least=$2 blocks=0 block expected code
    awk -v page="$page" '
        /^```sh/ { n += 1; code = 0; if (match($0, /exit-[0-9]+/)) code = substr($0, RSTART + 5, RLENGTH - 5)
                   name = sprintf("%s-%03d.%d", page, n, code); inside = 1; next }
        /^```/   { inside = 0; next }
        inside   { print > name }' "$source/docs/$page.md"
    for block in "$page"-*; do
        blocks=$((blocks + 1))
        expected=${block##*.}
        bash -e -o pipefail "$block" > "$block.out" 2> "$block.err"
        code=$?
        if [ "$code" -ne "$expected" ]; then
            echo "$page: exit $code, expected $expected:"
            cat "$block" "$block.out" "$block.err"
            failures=$((failures + 1))
        fi
    done
    if [ "$blocks" -lt "$least" ]; then
        echo "$page: only $blocks blocks found"
        failures=$((failures + 1))
    fi
}

run_page tutorial-poisson 10
run_page reading-an-explanation 5
run_page tutorial-new-element 12
run_page scaling 5

# What the pages promise of the numbers.
expect() {
    if ! grep -qE "$2" "$1".*.out; then
        echo "$1 does not print $2:"
        cat "$1".*.out
        failures=$((failures + 1))
    fi
}
expect tutorial-poisson-004 '^probe +u\(0\.5,0\.5\) +(75(\.0+[0-9]*)?|74\.99999[0-9]*)$'
expect tutorial-poisson-005 '^mesh +plate.geo, refined 2 times'
expect tutorial-poisson-005 '^probe +u\(0\.5,0\.5\) +(75(\.0+[0-9]*)?|74\.99999[0-9]*)$'
expect tutorial-poisson-006 '^probe +u\(2,0\.5\) +(25(\.0000[0-9]*)?|24\.99999[0-9]*)$'
expect tutorial-poisson-006 '^probe +u\(0,0\.5\) +(75(\.0000[0-9]*)?|74\.99999[0-9]*)$'
expect reading-an-explanation-002 '^6 calls: 6 kernels unfused, 3 fused'
expect reading-an-explanation-002 'mvmul_3, E +not fused: .y. must be complete before it is read'
# 1/cosh(1) = 0.648054 but for the error of 32 cells a side; errors that fall by four; exact solutions.
expect tutorial-new-element-001 '^probe +u\(1,0\.5\) +0\.6480[0-9]*$'
expect tutorial-new-element-003 '^error +L2 5\.1[0-9]*e-03'
expect tutorial-new-element-003 '^error +L2 1\.2[89][0-9]*e-03'
expect tutorial-new-element-003 '^error +L2 3\.2[0-9]*e-04'
expect tutorial-new-element-007 '^1 function, 1 granularity run, 0 wrong'
expect tutorial-new-element-009 '^error +L2 [0-9.]*e-1[3-9]'
expect tutorial-new-element-010 '^Newton +converged in 1 load step'
expect tutorial-new-element-011 '^sum +W'
expect tutorial-new-element-012 '^plan: 1 kernel'
expect tutorial-new-element-012 '^8 calls: 8 kernels unfused, 1 fused'
exit "$((failures > 0))"
