#!/bin/bash
# labels: full
# A small study from its first run to its files, which a program in Python makes once more from the
# lines of the runs. Order 2 in L2 and 1 in the H1 seminorm are the theory of linear elements; on three
# halved meshes of a smooth solution the last is met within 0.02.
set -u
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
scaling=$WEFT_BUILD/scaling
here=$WEFT_SOURCE/tests/solve
fail() { echo "FAILED: $*" >&2; exit 1; }
study() { # expected exit code, options
    local expected=$1 code=0
    shift
    "$scaling" "$@" >out 2>err || code=$?
    [ "$code" = "$expected" ] || fail "scaling $*: exit $code, expected $expected: $(cat out err)"
}
recompute() { python3 "$here/scaling_check.py" "$1" || fail "$1 is not what its runs say"; }

study 0 --sizes 8,16,32 --repeat 3 --threads 1,2 --out plane
recompute plane
python3 - <<'END' || fail "orders"
import json
cases = json.load(open("plane/results.json"))["cases"]
names = {case["assembly"] for case in cases}
assert names == {"lma", "lma-gather", "csr", "matrix-free"}, names
assert {case["device"] for case in cases} == {"host:1", "host:2"}
assert len(cases) == 3 * 2 * 4
for case in cases[-8:]:
    assert abs(case["l2_order"] - 2) < 0.02 and abs(case["h1_order"] - 1) < 0.02, case
END

echo "ok"
