#!/bin/bash
# labels: full
# What poisson foresees of device memory before it makes any of it, beside what it then makes, for each
# assembly on the host and on an H200's limits: within 10 %. And what cannot fit is refused first.
set -u
fail() { echo "FAILED: $*" >&2; exit 1; }

foreseen() {
    local output
    output=$("$WEFT_BUILD/poisson" --dirichlet boundary=0 --verbose "$@" 2>&1 >/dev/null) ||
        fail "poisson $*: $output"
    line=$(grep "were made at most" <<< "$output") || fail "poisson $* says nothing of memory"
    total=$(grep "memory: in all" <<< "$output") || fail "poisson $* has no table"
    awk '{ for (i = 1; i < NF; ++i) if ($(i + 1) == "MB" || $(i + 1) == "MB,") v[++n] = $i }
         END { if (n < 2 || v[1] <= 0 || v[2] < 0.9 * v[1] || v[2] > 1.1 * v[1]) exit 1 }' \
        <<< "$line" || fail "poisson $*: $line"
}

for mesh in square:150 cube:20; do
    for assembly in lma lma-gather csr matrix-free; do
        for device in host:2 null:h200; do
            foreseen --mesh "$mesh" --assembly "$assembly" --device "$device"
        done
    done
done
for device in host:2 null:h200; do
    foreseen --mesh square:150 --assembly edge --device $device
    foreseen --mesh cube:20 --assembly edge --device $device
done
foreseen --mesh square:150 --exact "x*y" --source 0 --assembly auto --device host:1
