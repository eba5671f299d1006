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
programs='weft/poisson weft/advection_diffusion weft/scaling weft/solve weft/weft'
for program in $programs; do
    list=$(ldd "$program")
    if grep 'not found' <<<"$list"; then
        echo "$program does not find these"
        exit 1
    fi
    found=$(grep -o '/[^ ]*' <<<"$list")
    grep -q '/libc\.so' <<<"$found" || { echo "the loader lists nothing of $program: $list"; exit 1; }
    outside=$(awk -v own="$scratch/root/weft/" -v glibc="$glibc" 'index($0, own) != 1 && $0 !~ glibc' <<<"$found")
    if [ -n "$outside" ]; then
        echo "$program needs from outside: $outside"
        exit 1
    fi
    env -i "$program" --version
done

if [ "$(id -u)" -eq 0 ] && chroot / true 2>/dev/null; then
    ldd $programs | grep -o '/[^ ]*' | grep -E "$glibc" | sort -u | while read -r file; do
        mkdir -p ".${file%/*}"
        cp -L "$file" ".$file"
    done
    # the loader asks /proc for $ORIGIN, and this root has none
    for program in $programs; do
        LD_ORIGIN_PATH=/weft chroot . "/$program" --version
    done
    LD_ORIGIN_PATH=/weft chroot . /weft/weft library >/dev/null
    echo "all start in a root with glibc alone"
fi
