#!/usr/bin/env bash
# labels: full long
# The portable folder holds all that its programs need beside glibc: they start where nothing else
# is (in a root of their own when this is root, else judged by the loader's own list).
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
static=$(find /usr/lib -name libhdf5.a 2>/dev/null | head -n 1)
if [ -z "$static" ]; then
    echo "skipped: no static HDF5"
    exit 77
fi
cd "$WEFT_SOURCE"
cmake --preset portable -B "$scratch/build" >"$scratch/log" 2>&1 &&
    cmake --build "$scratch/build" -j "$(nproc)" >>"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
mkdir "$scratch/root"
mv "$scratch/build/weft" "$scratch/root/weft" # elsewhere than it was built
rm -rf "$scratch/build"
cd "$scratch/root"
du -sh weft | cut -f1

glibc='/(ld-linux[^/]*|lib(c|m|dl|rt|pthread)\.so[^/]*)$'
for program in weft/poisson weft/weft; do
    ldd "$program" | grep 'not found' && exit 1
    outside=$(ldd "$program" | grep -o '/[^ ]*' | grep -v "^$scratch/root/weft/" | grep -vE "$glibc" || true)
    if [ -n "$outside" ]; then
        echo "$program needs from outside: $outside"
        exit 1
    fi
    env -i "$program" --version
done

if [ "$(id -u)" -eq 0 ] && chroot / true 2>/dev/null; then
    ldd weft/poisson weft/weft | grep -o '/[^ ]*' | grep -E "$glibc" | sort -u | while read -r file; do
        mkdir -p ".${file%/*}"
        cp -L "$file" ".$file"
    done
    # the loader asks /proc for $ORIGIN, and this root has none
    LD_ORIGIN_PATH=/weft chroot . /weft/poisson --version
    LD_ORIGIN_PATH=/weft chroot . /weft/weft library >/dev/null
    echo "both start in a root with glibc alone"
fi
