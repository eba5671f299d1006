#!/usr/bin/env bash
# The table of Markall's sizes by assembly on a GPU, in 2D and in 3D, in one command of a minute:
#
#   study_cuda.sh PROGRAMS MESHES OUT [SECONDS]
#
# PROGRAMS  the folder with advection_diffusion, poisson and scaling
# MESHES    what study_meshes.sh has written where Gmsh is
# OUT       gets a folder a study: results.json, results.csv, report.md, plots.gp; what is there is gone on with
# SECONDS   for all of it (default 55): what is not run by then is missing in the tables, which say so
#
# advection_diffusion with constant coefficients, 200 steps, tolerance 1e-10 (Markall, Ham and Kelly 2010,
# section 3.1), Addto (csr) first, so that speed-ups are against it; then poisson on the same meshes.
set -uo pipefail
programs=$(cd "$1" && pwd) meshes=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd) seconds=${4:-55}
device=${WEFT_STUDY_DEVICE:-cuda} # host, to try the script
repeat=${WEFT_STUDY_REPEAT:-3} steps=${WEFT_STUDY_STEPS:-200}
started=$SECONDS
mkdir -p "${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}" 2>/dev/null ||
    export XDG_CACHE_HOME=$(mktemp -d) # without a cache each run would compile its kernels

plane=()
for mesh in "$meshes"/markall_*.vtkhdf; do plane+=(--mesh "$mesh"); done
space=(--mesh "$meshes/cube.vtkhdf" --refine "${WEFT_STUDY_REFINE:-0..2}")
assemblies=csr,lma,matrix-free,edge
# dt: a quarter of the mean edge of the finest mesh of the plane, an eighth of that of space, at |u| = 1.1
wind=(--diffusivity 0.005 --initial 'exp(-((x-0.3)^2+(y-0.4)^2)/0.008)' --tolerance 1e-10 --steps "$steps")
plane_wind=(--velocity '1,0.5' --dt 0.0006 "${wind[@]}")
space_wind=(--velocity '1,0.5,0' --dt 0.002 "${wind[@]}")
solution='sin(pi*x)*sin(pi*y)'

# Each kernel is compiled once, before any time is taken: one short run an assembly, at the same time.
warm() {
    for assembly in ${assemblies//,/ }; do
        "$programs/advection_diffusion" "$@" --assembly "$assembly" --device "$device" --quiet &
    done
}
warm --mesh "$meshes/cube.vtkhdf" "${space_wind[@]}" --steps 1
warm --mesh "${plane[1]}" "${plane_wind[@]}" --steps 1
wait
echo "compiled in $((SECONDS - started)) s"

study() { # name, per cent of the time that is left, options
    local name=$1 left=$(((seconds - (SECONDS - started)) * $2 / 100))
    shift 2
    [ "$left" -gt 1 ] || { echo "$name: no time is left"; return; }
    timeout "$left" "$programs/scaling" --assembly "$assemblies" --device "$device" --warmup 0 \
        --repeat "$repeat" --no-plots --out "$out/$name" "$@" || echo "$name: exit status $?"
    sed -n '/^## Time on/,/^Speed-up:/p; /^\*\*Not/p; /^## What failed/,/^## Plots/p' "$out/$name/report.md" |
        sed -e 's/\.vtkhdf//' -e 's/ --*: / -: /g'
}
study plane 60 --app advection_diffusion "${plane[@]}" -- "${plane_wind[@]}"
study space 70 --app advection_diffusion "${space[@]}" -- "${space_wind[@]}"
study poisson 100 --app poisson "${plane[@]}" -- --source "2*pi^2*$solution" \
    --dirichlet "boundary=$solution" --exact "$solution" --tolerance 1e-10
echo "$((SECONDS - started)) s in all"
