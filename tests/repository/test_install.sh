#!/usr/bin/env bash
# labels: full
# Install into a fresh prefix, move it, and use it from outside: by find_package and by pkg-config.
set -euo pipefail
if grep -qE '^WEFT_(SANITIZE:STRING=.|FUZZ:BOOL=ON)' "$WEFT_BUILD/CMakeCache.txt"; then
    echo "skipped: a sanitizer build is not for installing"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$WEFT_BUILD" --prefix "$scratch/first" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix

. "$WEFT_SOURCE/tests/support/use_from_outside.sh"
use_from_outside "$prefix" "$scratch/outside"

# Programs and data where they are looked for.
for file in share/weft/meshes/unit_square.geo share/doc/weft/LICENSE; do
    [ -f "$prefix/$file" ] || { echo "$file was not installed"; exit 1; }
done
for program in poisson advection_diffusion scaling solve weft; do
    [ -x "$WEFT_BUILD/$program" ] || continue
    "$prefix/bin/$program" --version
done
if [ -x "$prefix/bin/weft-gmsh" ] && [ -x "$prefix/bin/poisson" ]; then
    # the weft-gmsh beside it, not the build's
    env -u WEFT_GMSH "$prefix/bin/poisson" --mesh "$prefix/share/weft/meshes/unit_square.geo" --source 1 \
        --quiet
fi
