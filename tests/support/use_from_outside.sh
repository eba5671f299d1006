# A project that uses an installed Weft, for tests, which source this.

# use_from_outside PREFIX FOLDER: build it in a new folder, by find_package and by pkg-config, and run it.
use_from_outside() (
    prefix=$1
    mkdir "$2"
    cd "$2"
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
)
