#!/bin/bash
# labels: full
# The device memory that poisson and solve estimate before they allocate any, compared with what they then allocate, for each
# assembly on the host and on an H200's limits: within 10 %. And what cannot fit is refused first.
set -u
fail() { echo "FAILED: $*" >&2; exit 1; }

estimated() {
    app_estimated poisson --dirichlet boundary=0 "$@"
}

app_estimated() {
    local output
    output=$("$WEFT_BUILD/$1" --verbose "${@:2}" 2>&1 >/dev/null) || fail "$*: $output"
    line=$(grep "were allocated at most" <<< "$output") || fail "$* says nothing of memory"
    total=$(grep "memory: in all" <<< "$output") || fail "$* has no table"
    awk '{ for (i = 1; i < NF; ++i) if ($(i + 1) == "MB" || $(i + 1) == "MB,") v[++n] = $i }
         END { if (n < 2 || v[1] <= 0 || v[2] < 0.9 * v[1] || v[2] > 1.1 * v[1]) exit 1 }' \
        <<< "$line" || fail "$*: $line"
}

for mesh in square:150 cube:20; do
    for assembly in lma lma-gather csr matrix-free; do
        for device in host:2 null:h200; do
            estimated --mesh "$mesh" --assembly "$assembly" --device "$device"
        done
    done
done
for device in host:2 null:h200; do
    estimated --mesh square:150 --assembly edge --device $device
    estimated --mesh cube:20 --assembly edge --device $device
done
for method in minres gmres bicgstab; do
    estimated --mesh square:150 --assembly csr --method $method --device host:2
    estimated --mesh square:150 --assembly matrix-free --method $method --restart 10 --device host:2
done
for assembly in lma lma-gather csr matrix-free edge; do
    for device in host:2 null:h200; do
        app_estimated solve elasticity.weft --dirichlet boundary=0,0 --mesh square:150 --tolerance 1e-2 \
            --assembly "$assembly" --device "$device"
        app_estimated solve elasticity.weft --dirichlet boundary=0,0,0 --mesh cube:20 --tolerance 1e-2 \
            --assembly "$assembly" --device "$device"
    done
done
# On the null device Newton's method does not run, so neither do its vectors count.
for assembly in lma matrix-free; do
    app_estimated solve kirchhoff.weft --nonlinear --mesh square:150 --assembly "$assembly" --device null:h200
    app_estimated solve diffusion.weft --mesh square:150 --assembly "$assembly" --device null:h200
done
estimated --mesh square:150 --exact "x*y" --source 0 --assembly auto --device host:1
# 10^9 nodes of triangles with multigrid: refused before the mesh is made, with what takes the memory and what fits.
output=$(timeout 20 "$WEFT_BUILD/poisson" --mesh square:31622 --preconditioner multigrid --device null:h200 2>&1)
code=$?
test $code -eq 3 || fail "10^9 nodes with multigrid end with $code: $output"
for words in "the largest arrays: " "bytes per node, for 1000014129 nodes; --mesh square:" " fits, with "; do
    grep -q -- "$words" <<< "$output" || fail "10^9 nodes with multigrid: no '$words' in: $output"
done
