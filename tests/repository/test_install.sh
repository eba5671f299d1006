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

mkdir "$scratch/outside"
cd "$scratch/outside"
# A square of 4 x 4 x 2 triangles has 25 nodes and 16 boundary edges.
cat >main.c <<'C'
#include <stdio.h>
#include <weft_fem.h>

int main(void)
{
    weft_error error = {0};
    weft_mesh *mesh = NULL;
    weft_device *device = NULL;
    weft_status status = WEFT_OK;
    weft_device_options options = weft_device_options_default(NULL);
    TRY(weft_mesh_read("square:4", 0, NULL, &mesh, &error));
    TRY(weft_device_open("null", &options, &device, &error));
    printf("%lld cells, %lld nodes, %lld edges\n", (long long)mesh->n_cells,
           (long long)mesh->n_nodes, (long long)mesh->n_boundary_facets);
done:
    if (status != WEFT_OK)
        fprintf(stderr, "%s\n", error.message);
    weft_device_free(&device);
    weft_mesh_free(&mesh);
    return weft_status_exit_code(status);
}
C
cat >CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.25)
project(outside C)
find_package(weft 0.1 REQUIRED)
add_executable(outside main.c)
target_link_libraries(outside PRIVATE weft::fem)
C
check() {
    local answer
    answer=$("$1")
    if [ "$answer" != "32 cells, 25 nodes, 16 edges" ]; then
        echo "$1 printed: $answer"
        exit 1
    fi
    echo "$1: $answer"
}
cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >log 2>&1 &&
    cmake --build build >>log 2>&1 || {
    cat log
    exit 1
}
check build/outside

# its own folder first, then the machine's
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc)")
read -ra flags <<<"$(pkg-config --cflags --libs weft)"
${CC:-cc} main.c -o by_pkg_config "${flags[@]}"
check ./by_pkg_config

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
