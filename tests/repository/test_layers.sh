#!/usr/bin/env bash
# labels: quick
# Includes run down the list of folders in cmake/layers.txt, are written from the project's root, and leave the
# private.h of other folders alone; tests/unit/FOLDER may include the private.h of FOLDER, other tests none. gmshc.h is included in apps/gmsh only, which uses nothing but core and the
# format of the mesh stream. Files of users are opened where they are checked: HDF5 in fem/io/hdf5_open.c, others
# for reading in core/base/file.c.
set -euo pipefail
shopt -s inherit_errexit # an error ends $(...) too
search() { grep "$@" || [ $? -eq 1 ]; } # to find nothing is not an error

# check_tree FOLDER: print every include that breaks the rules as "file:line: header: rule", then how many
# includes there are.
check_tree() (
    cd "$1"
    grep -rnE --include='*.c' --include='*.h' '^[[:space:]]*#[[:space:]]*include' core gemm fusion fem forms apps |
        awk -F: -v layers=cmake/layers.txt '
    BEGIN { while ((getline line < layers) > 0) if (line !~ /^(#|$)/) rank[line] = ++n_layers }
    {
        ++n
        folder = $1; sub(/\/[^\/]*$/, "", folder)
        if (!(folder in rank)) print $1 ":" $2 ": the folder is not in cmake/layers.txt"
        if ($0 ~ /gmshc\.h/ && folder != "apps/gmsh") print $1 ":" $2 ": gmshc.h: only apps/gmsh may use Gmsh"
        if (!match($0, /"[^"]*"/)) next
        header = substr($0, RSTART + 1, RLENGTH - 2)
        target = header
        if (!sub(/\/[^\/]*$/, "", target)) {
            if (folder != "apps/gmsh") print $1 ":" $2 ": " header ": not written from the root"
            next
        }
        name = header; sub(/.*\//, "", name)
        if (!(target in rank)) print $1 ":" $2 ": " header ": unknown folder"
        else if (rank[target] > rank[folder]) print $1 ":" $2 ": " header ": " folder " is below " target
        else if (name == "private.h" && target != folder) print $1 ":" $2 ": " header ": private to " target
        else if (folder == "apps/gmsh" && target !~ /^(core|apps\/gmsh)/ && header != "fem/io/stream.h")
            print $1 ":" $2 ": " header ": apps/gmsh may not use " target
    }
    END { print n + 0 " includes" }'
    search -rnE --include='*.c' --include='*.h' '^[[:space:]]*#[[:space:]]*include .*/private\.h"' tests |
        awk -F: '{
            folder = $1; sub(/\/[^\/]*$/, "", folder)
            match($0, /"[^"]*"/); header = substr($0, RSTART + 1, RLENGTH - 2)
            target = header; sub(/\/[^\/]*$/, "", target)
            if (folder != "tests/unit/" target) print $1 ":" $2 ": " header ": private to " target " and its tests"
        }'
)

# check_opening FOLDER: print every call that opens a file of a user, or an object in one, without the checks.
check_opening() (
    cd "$1"
    # files for reading that are not a user's: /proc, /sys, /dev, and folders
    search -rnE --include='*.c' '\b(fopen\([^,]*, "r|open(at)?\(.*O_RDONLY)' core gemm fusion fem forms apps |
        search -vE 'weft_file_open|core/base/file\.c|"/(proc|sys|dev)/|O_DIRECTORY|O_NOFOLLOW'
    search -rnE --include='*.c' '\bH5([FDG]open2?|[AO]open_by_name|Oopen)\(' core gemm fusion fem forms apps |
        search -v '^fem/io/hdf5_open\.c'
)

# The check itself: a tree with one mistake of each kind.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{cmake,gemm,core/base,forms/base,fusion/plan,fusion/other,fem/mesh,apps/gmsh,tests/unit/fusion/plan}
printf '# lowest first\ncore\ncore/base\nfusion/plan\nfem/mesh\napps/gmsh\n' >"$scratch/cmake/layers.txt"
echo '#include "fusion/plan/plan.h"' >"$scratch/core/base/upwards.c"
printf '#include "core/base/private.h"\n#include "fusion/plan/private.h"\n' >"$scratch/fusion/plan/private.c"
echo '#include <stdio.h>' >"$scratch/fusion/other/unlisted.c"
printf '#include <gmshc.h>\n#  include "mesh.h"\n#include "fusion/gone/gone.h"\n' >"$scratch/fem/mesh/gmsh.c"
printf '#include <gmshc.h>\n#include "fem/io/stream.h"\n#include "fem/mesh/mesh.h"\n' >"$scratch/apps/gmsh/fem.c"
printf '#include "fusion/plan/private.h"\n#include "core/base/private.h"\n' >"$scratch/tests/unit/fusion/plan/test_plan.c"
found=$(check_tree "$scratch" | LC_ALL=C sort)
expected='10 includes
apps/gmsh/fem.c:2: fem/io/stream.h: unknown folder
apps/gmsh/fem.c:3: fem/mesh/mesh.h: apps/gmsh may not use fem/mesh
core/base/upwards.c:1: fusion/plan/plan.h: core/base is below fusion/plan
fem/mesh/gmsh.c:1: gmshc.h: only apps/gmsh may use Gmsh
fem/mesh/gmsh.c:2: mesh.h: not written from the root
fem/mesh/gmsh.c:3: fusion/gone/gone.h: unknown folder
fusion/other/unlisted.c:1: the folder is not in cmake/layers.txt
fusion/plan/private.c:1: core/base/private.h: private to core/base
tests/unit/fusion/plan/test_plan.c:2: core/base/private.h: private to core/base and its tests'
if [ "$found" != "$expected" ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

found=$(check_tree "$WEFT_SOURCE")
echo "$found"
n=$(tail -n 1 <<<"$found")
[ "$(wc -l <<<"$found")" -eq 1 ]
[ "${n%% *}" -gt 500 ]

printf 'f = fopen(path, "r");\ng = open("/dev/null", O_RDONLY);\n' >"$scratch/fem/mesh/opens.c"
printf 'file = H5Fopen(path, how, list);\nset = H5Dopen2(file, name, H5P_DEFAULT);\n' >"$scratch/forms/base/opens.c"
if [ "$(check_opening "$scratch" | wc -l)" -ne 3 ]; then
    echo "The check of opening does not find what it should: $(check_opening "$scratch")"
    exit 1
fi
found=$(check_opening "$WEFT_SOURCE")
if [ -n "$found" ]; then
    echo "These files are opened without checks; use weft_file_open, weft_file_read_as or weft_hdf5_open_*:"
    echo "$found"
    exit 1
fi
