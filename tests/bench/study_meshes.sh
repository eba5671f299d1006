#!/usr/bin/env bash
# Meshes for study_cuda.sh, by Gmsh, as VTKHDF: study_meshes.sh PROGRAMS SOURCE OUT
# markall_1 ... markall_5.vtkhdf: the sizes of meshes/markall_square.geo (31 MB in all); cube.vtkhdf: about
# 4600 tetrahedra, 300,000 once refined twice.
set -euo pipefail
programs=$1 source=$2 out=$3
mkdir -p "$out"
write() { # name, .geo, size: a mesh goes through the app that writes it, its one step taken for nothing
    "$programs/poisson" --mesh "$source/meshes/$2.geo" --size "$3" --source 0 --quiet \
        --max-iterations 1 --tolerance 1 --output "$out/$1.vtkhdf"
    echo "$out/$1.vtkhdf"
}
number=0
for size in 0.009 0.0066 0.00487 0.0036 0.00264; do
    number=$((number + 1))
    write "markall_$number" markall_square "$size"
done
write cube unit_cube 0.1
