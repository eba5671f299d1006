#!/bin/bash
# labels: quick
# A disk that is full ends every app that writes results with exit 2 and a message that names the file
# and the reason, at every size of the disk, and nothing half-written stays under the final name. On a
# tmpfs where one can be mounted, by root or in a user's own namespace.
set -euo pipefail
if [ "${1:-}" != inside ]; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    try='mount -t tmpfs -o size=64k tmpfs "$0"'
    for how in "unshare -m" "unshare -rm"; do
        if $how bash -c "$try" "$place" 2>/dev/null; then
            $how bash "$0" inside "$place"
            exit 0
        fi
    done
    echo "skipped: neither root nor a user namespace may mount a tmpfs here (unshare -rm)"
    exit 77
fi

disk=$2 out=$(mktemp -d) failed=0
trap 'rm -rf "$out"' EXIT # the mounts end with the namespace
export WEFT_DEVICE=host:1
step="--diffusivity 0.1 --initial x*y --dt 0.01 --steps 12 --output-every 1"

# try KB WANTED NAME COMMAND...: run the command on a disk of so many kB
try() {
    local size=$1 wanted=$2 name=$3 code=0
    shift 3
    mount -t tmpfs -o size="${size}k" tmpfs "$disk"
    "$@" >"$out/output" 2>"$out/error" || code=$?
    if [ $code -ne 0 ]; then
        full=$((full + 1))
        if [ $code -ne 2 ] || ! grep -q "No space left on device" "$out/error" ||
            ! grep -q "$name" "$out/error" || grep -q "HDF5-DIAG\|Segmentation" "$out/error"; then
            echo "$size kB: exit $code: $(cat "$out/error")"
            failed=1
        fi
        if [ -n "$(find "$disk" -name '*.tmp')" ]; then
            echo "$size kB: left behind: $(find "$disk" -name '*.tmp')"
            failed=1
        fi
        if [ "$wanted" = none ] && [ -e "$disk/$name" ]; then
            echo "$size kB: $name is there"
            failed=1
        fi
    fi
    umount "$disk"
}

full=0
for size in 4 12 20 40 60 100 160 2000; do
    try $size none r.vtkhdf "$WEFT_BUILD/poisson" --mesh square:24 --quiet --output "$disk/r.vtkhdf"
    try $size none r.vtu "$WEFT_BUILD/poisson" --mesh square:24 --quiet --output "$disk/r.vtu"
    # shellcheck disable=SC2086
    try $size none s.vtkhdf "$WEFT_BUILD/advection_diffusion" --mesh square:24 $step --quiet \
        --output "$disk/s.vtkhdf"
    # shellcheck disable=SC2086
    try $size some s "$WEFT_BUILD/advection_diffusion" --mesh square:24 $step --quiet \
        --output "$disk/s.pvd"
    # shellcheck disable=SC2086
    try $size none c.vtkhdf "$WEFT_BUILD/advection_diffusion" --mesh square:24 $step --quiet \
        --checkpoint "$disk/c.vtkhdf" --json "$out/json"
done
if [ $full -lt 20 ] || [ $full -gt 35 ]; then
    echo "$full of 40 runs met a full disk: sizes do not fit any more"
    failed=1
fi
echo "$full of 40 runs met a full disk"
exit $failed
