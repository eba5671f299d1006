#!/usr/bin/env bash
# labels: quick
# Every block of commands in docs/tutorial-poisson.md runs and ends as the page says: "```sh" with 0, "```sh exit-N"
# with N. The blocks run one after the other in one folder, as a reader would type them.
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

# block-001.0, block-002.2, ...: the number, then the exit code that is expected
awk '
    /^```sh/ { n += 1; code = 0; if (match($0, /exit-[0-9]+/)) code = substr($0, RSTART + 5, RLENGTH - 5)
               name = sprintf("block-%03d.%d", n, code); inside = 1; next }
    /^```/   { inside = 0; next }
    inside   { print > name }' "$source/docs/tutorial-poisson.md"

PATH="$folder/build:$PATH"
failures=0 blocks=0
for block in block-*; do
    blocks=$((blocks + 1))
    expected=${block##*.}
    bash -e -o pipefail "$block" > "$block.out" 2> "$block.err"
    code=$?
    if [ "$code" -ne "$expected" ]; then
        echo "exit $code, expected $expected:"
        cat "$block" "$block.out" "$block.err"
        failures=$((failures + 1))
    fi
done
[ "$blocks" -ge 10 ] || { echo "only $blocks blocks found"; exit 1; }

# What the page promises of the numbers.
expect() {
    if ! grep -qE "$2" "$1".*.out; then
        echo "$1 does not print $2:"
        cat "$1".*.out
        failures=$((failures + 1))
    fi
}
expect block-004 '^probe +u\(0\.5,0\.5\) +(75(\.0+[0-9]*)?|74\.99999[0-9]*)$'
expect block-005 '^probe +u\(2,0\.5\) +(25(\.0000[0-9]*)?|24\.99999[0-9]*)$'
expect block-005 '^probe +u\(0,0\.5\) +(75(\.0000[0-9]*)?|74\.99999[0-9]*)$'
exit "$((failures > 0))"
