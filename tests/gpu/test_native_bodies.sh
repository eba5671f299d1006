#!/usr/bin/env bash
# labels: gpu
# Native bodies on the GPU against the plain ones: the library's, the example of docs/kernel-files.md, and bodies with shared
# memory and routines that load and store.
set -euo pipefail
weft=${WEFT_BUILD:?}/weft
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "${WEFT_SOURCE:?}/kernels/algebra/rows.kernel.c" "$scratch"
sed -n '/^```native$/,/^```$/p' "$WEFT_SOURCE/docs/kernel-files.md" | grep -v '^```' >"$scratch/dot.kernel.c"
# the kernel files of the test of the emulation
for name in kinds scaled reversed; do
    sed -n "/$name.kernel.c\" *<<'END'/,/^END$/p" "$WEFT_SOURCE/tests/unit/fusion/library/test_native_bodies.sh" | sed '1d;$d' >"$scratch/$name.kernel.c"
    grep -q '//@ body' "$scratch/$name.kernel.c"
done
if ! "$weft" test "$scratch" --device cuda >"$scratch/out" 2>"$scratch/why"; then
    grep -q "no CUDA driver\|no GPU\|no cuda:0" "$scratch/why" && { head -1 "$scratch/why"; exit 77; }
    cat "$scratch/out" "$scratch/why"
    exit 1
fi
[ "$(grep -c '^ok .* in cuda  *cuda ' "$scratch/out")" -ge 9 ]
