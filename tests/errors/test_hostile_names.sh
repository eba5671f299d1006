#!/usr/bin/env bash
# labels: quick
# Names that would end a comment, a string or a tag, or be a command, through the programs: nothing of them runs, and
# what is written is read back by the programs that it is for, where they are installed. The functions that escape,
# one by one, are tested in tests/unit/test_escape.c.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
here=$PWD

fail() {
    echo "FAILED: $*"
    cat "$here/out" "$here/err"
    exit 1
}

# expect CODE COMMAND...
expect() {
    local code=0 wanted=$1
    shift
    "$@" >"$here/out" 2>"$here/err" || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $*"
    [ -z "$(find "$here" -name 'pwned*' -print -quit)" ] || fail "a name was run as a command: $*"
}

# Scripts: solved, which compiles what is generated from them.
names=('x*/ system("touch pwned"); /*/d.weft' 'x*/d.weft' $'a\n#include "pwned.h"\n.weft'
    $'b\\\n*\\\n/ "$(touch pwned)`touch pwned`.weft' '-o pwned.weft')
for name in "${names[@]}"; do
    [[ $name != */* ]] || mkdir -p "./${name%/*}"
    cp "$WEFT_SOURCE/fem/scripts/poisson.weft" "./$name"
    expect 0 "$WEFT_BUILD/solve" --mesh square:2 --dirichlet left=0 -- "$name"
done

# Generated source for a GPU, its comments taken out by the preprocessor.
name=${names[0]}
expect 0 "$WEFT_BUILD/weft" compile "$name" --device null:h200 --print source
cp out generated.c
${CC:-cc} -fpreprocessed -E -P -x c generated.c >stripped.c 2>err || fail "the source for a GPU"
if grep -q 'system' stripped.c; then fail "the script's path is in the source for a GPU"; fi

# The page and the graph for other programs.
name="'\"></title><script>touch pwned</script>&.weft"
mkdir -p "./${name%/*}"
cp "$WEFT_SOURCE/fem/scripts/poisson.weft" "./$name"
expect 0 "$WEFT_BUILD/weft" explain "$name" --html page.html
if grep -q '<script' page.html; then fail "a tag of the script's name is in the page"; fi
for stage in graph plan; do
    expect 0 "$WEFT_BUILD/weft" compile "$name" --print $stage --format dot
    if command -v dot >/dev/null; then
        cp out $stage.dot
        expect 0 dot -Tsvg $stage.dot
    fi
    expect 0 "$WEFT_BUILD/weft" compile "$name" --print $stage --format json
    if command -v python3 >/dev/null; then
        cp out $stage.json
        expect 0 python3 -c 'import json, sys; json.load(open(sys.argv[1]))' $stage.json
    fi
done

# Formulas and groups: refused in words, or solved.
expect 2 "$WEFT_BUILD/poisson" --mesh square:2 --source '1 */ system("touch pwned") /*'
expect 2 "$WEFT_BUILD/poisson" --mesh square:2 --source '$(touch pwned)'
expect 2 "$WEFT_BUILD/poisson" --mesh square:2 --dirichlet '*/ system("touch pwned") /*=0'
expect 2 "$WEFT_BUILD/poisson" --mesh 'a;touch pwned;.geo'
expect 2 "$WEFT_BUILD/poisson" --mesh '$(touch pwned).vtkhdf'

# A mesh whose name has everything, written, read back, and studied.
mesh=$'m | `touch pwned` $(touch pwned)\'; system("touch pwned") # @x\n<b>.vtkhdf'
expect 0 "$WEFT_BUILD/poisson" --mesh square:3 --output "$mesh"
expect 0 "$WEFT_BUILD/poisson" --mesh "$mesh" --json result.json
expect 0 "$WEFT_BUILD/scaling" --mesh "$mesh" --assembly lma --repeat 1 --warmup 0 --out study -- --source 1 --dirichlet left=0
if command -v python3 >/dev/null; then
    expect 0 python3 - "$mesh" <<'END'
import csv, json, sys
assert json.load(open("result.json"))["mesh"]["source"] == sys.argv[1]
case = json.load(open("study/results.json"))["cases"][0]
assert sys.argv[1] in case["mesh"], case["mesh"]
with open("study/results.csv", newline="") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == 1 and rows[0]["mesh"] == case["mesh"], rows
END
fi
[ "$(grep -c '^| m \\| \\`touch pwned\\`' study/report.md)" -ge 1 ] || fail "the mesh's name in report.md: $(cat study/report.md)"

# Figures of a file that names its device and scripts so.
cat >figures.json <<'END'
{"device": "d'; system('touch pwned') #`touch pwned`\\", "scripts": [{"script": "it's `touch pwned` @m $(touch pwned)\nnext",
 "type": "f'; !touch pwned", "instances": 10, "covers": [{"cover": "c", "predicted_seconds": 1, "measured_seconds": 1, "kernels": []},
 {"cover": "d", "predicted_seconds": 2, "measured_seconds": 3, "kernels": []}]}]}
END
expect 0 "$WEFT_BUILD/weft" calibrate --plot figures.json --out figures
if command -v gnuplot >/dev/null; then
    [ "$(find figures -name '*.svg' -size +1k | wc -l)" -eq 2 ] || fail "gnuplot drew no figures"
    grep -q 'system' figures/*figure4.svg || fail "the device's name is not in the title"
fi

# A compiler in a folder with blanks, and one that is not a program.
mkdir 'a folder; touch pwned'
printf '#!/bin/sh\nexec %s "$@"\n' "${CC:-cc}" >'a folder; touch pwned/cc'
chmod +x 'a folder; touch pwned/cc'
CC="$PWD/a folder; touch pwned/cc" WEFT_CACHE=off expect 0 "$WEFT_BUILD/poisson" --mesh square:2
CC='cc; touch pwned' WEFT_CACHE=off expect 3 "$WEFT_BUILD/poisson" --mesh square:2
CC='$(touch pwned)' WEFT_CACHE=off expect 3 "$WEFT_BUILD/poisson" --mesh square:2
