#!/usr/bin/env bash
# labels: quick
# weft calibrate and weft tuning as a user types them, with a database of their own.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache
weft=$WEFT_BUILD/weft

# expect CODE WORDS COMMAND...: its exit code, and words in what it prints on either stream
expect() {
    local code=$1 words=$2 got=0 output
    shift 2
    output=$("$@" 2>&1) || got=$?
    if [ "$got" != "$code" ] || ! grep -qF -- "$words" <<<"$output"; then
        printf '%s\nexit %s where %s was wanted, with "%s":\n%s\n' "$*" "$got" "$code" "$words" "$output"
        exit 1
    fi
    echo "ok: $*"
}

expect 0 "0 devices" "$weft" tuning list
expect 2 "there is nothing to measure" "$weft" calibrate --device null
expect 2 "there is nothing to measure" "$weft" calibrate --validate --device null:h200
# the names of the previous release
expect 2 "there is nothing to measure" "$weft" calibrate --check --n 9 --single --again --seconds 1 --device null:h200
expect 2 "did you mean 'trace'" "$weft" calibrate --device host:1 trac
expect 2 "unknown action" "$weft" tuning liste
expect 2 "a command takes at most 8" "$weft" calibrate --device host:1 a b c d e f g h i
expect 2 "does not depend on which operands" "$weft" gemm space D NT --device host:1
expect 2 "hint: leave it out" "$weft" gemm space D NT --device host:1
expect 0 "left" "$weft" calibrate --device host:1 --time-limit 0.01 mmul
# all functions of the library, each for the sizes that it is meant for
expect 0 "left" "$weft" calibrate --device host:1 --time-limit 0.01
expect 0 "known before" "$weft" calibrate --device host:1 --time-limit 2 trace
expect 0 "1 device" "$weft" tuning list
expect 0 ", 0 damaged" "$weft" tuning verify

# The search on a script: the best plan is remembered, and used by the next compilation.
cat >"$scratch/my.weft" <<'SCRIPT'
index N;
input A, B : real[3,3] over N;
input x : real[3] over N;
P = mmul(A, B);
y = mvmul(P, x);
return y;
SCRIPT
# On a busy machine repeated runs scatter, and no plan is stored.
for attempt in 1 2 3 4 5 6; do
    expect 0 "the best" "$weft" compile "$scratch/my.weft" --device host:1 --tune 3 --print cover
    ! "$weft" tuning list | grep -q "1 best plans" || break
    [ "$attempt" -lt 6 ] || { echo "skipped: the machine is too busy to choose a plan"; exit 77; }
done
expect 0 "the stored best cover is used" \
    env WEFT_LOG=info "$weft" compile "$scratch/my.weft" --device host:1 --print cover
expect 0 "1 best plans" "$weft" tuning list

# Each kernel of the best plan was measured: the page has a number for it, on that device and for as many elements alone.
# measured PAGE: the last column of its kernels
measured() { sed -n 's|^<tr style.*<td>\([^<]*\)</td></tr>$|\1|p' "$1"; }
page=$scratch/page.html
"$weft" explain "$scratch/my.weft" --device host:1 --html "$page"
[ "$(measured "$page" | wc -l)" -ge 1 ] || { echo "no kernel in the page"; exit 1; }
! measured "$page" | grep -qvE '^[0-9.]+ [num]?s$' || { echo "a kernel without a time:"; measured "$page"; exit 1; }
for other in "--device null" "--device host:1 --size 1000"; do
    # shellcheck disable=SC2086
    "$weft" explain "$scratch/my.weft" $other --html "$page"
    ! measured "$page" | grep -qvx -- - || { echo "a time of another device or size:"; measured "$page"; exit 1; }
done
echo "ok: measured kernels in the page"
expect 0 "predicted times: measured for every primitive of" "$weft" explain "$scratch/my.weft" --device host:1
expect 0 "predicted times: analytic" "$weft" explain "$scratch/my.weft" --device null
expect 2 "there is nothing to measure" "$weft" compile "$scratch/my.weft" --device null --tune 3
expect 0 "the first predicted is within 5 %" "$weft" calibrate --validate --tune 2 --size 5000 --device host:1 \
    --json "$scratch/check.json" "$scratch/my.weft"
"${PYTHON:-$(command -v python3)}" - "$scratch/check.json" <<'PYTHON'
import json
import sys

script, single = json.load(open(sys.argv[1]))["scripts"]
assert script["type"] == "double" and single["type"] == "float" and len(single["covers"]) == 2
assert script["script"].endswith("my.weft") and script["instances"] == 5000, script
assert len(script["covers"]) == 2
assert script["covers"][0]["cover"] != script["covers"][1]["cover"]
for cover in script["covers"]:
    # both read A, B and x and write y, in one kernel or through P: 24 or 42 doubles per element
    assert sum(kernel["bytes"] for kernel in cover["kernels"]) in (8.0 * 24, 8.0 * 42), cover
    assert 0 < cover["measured_seconds"] < 1 and cover["predicted_seconds"] > 0
    for kernel in cover["kernels"]:
        assert 0 <= kernel["wait_seconds"] < kernel["transfer_seconds"] < 1, cover
PYTHON


# What is damaged is found, and only that is removed.
file=$XDG_CACHE_HOME/weft/tuning-1.sqlite
before=$("$weft" tuning verify)
if command -v sqlite3 >/dev/null; then
    # The search has stored one plan; validation adds one per type of numbers where its runs did not scatter.
    plans=$(sqlite3 "$file" "UPDATE winners SET seconds = 1e-9; SELECT count(*) FROM winners")
    [ "$plans" -ge 1 ] || { echo "no plan is stored"; exit 1; }
    expect 1 ", $plans damaged" "$weft" tuning verify
    expect 0 "$plans entr" "$weft" tuning clear --invalid
    expect 0 ", 0 damaged" "$weft" tuning verify
fi
head -c 5000 "$file" >"$file.cut" && cat "$file.cut" >"$file"
expect 0 "it is made again" "$weft" tuning verify
expect 0 "0 devices" "$weft" tuning list
WEFT_CACHE=off expect 0 "in memory: nothing is kept" "$weft" calibrate --device host:1 --time-limit 0.01 trace
expect 0 "0 devices" "$weft" tuning list
echo "$before"
