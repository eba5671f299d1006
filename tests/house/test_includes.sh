#!/usr/bin/env bash
# labels: quick
# Dependencies go downwards only (fem -> fusion -> core), folders meet in public headers only, and
# gmshc.h is seen by apps/gmsh alone. Public inside the tree are also the tables of what is embedded,
# child processes, and the format of the stream from weft-gmsh to fem.
set -euo pipefail

# check_tree FOLDER: print every include that breaks the rules as "file:line: header: rule", then how many
# there are.
check_tree() (
    cd "$1"
    n=0 quoted='["<]([^">]*)[">]'
    includes=$(grep -rnE --include='*.c' --include='*.h' '^[[:space:]]*#[[:space:]]*include' core fusion fem apps)
    headers=$(find core fusion fem apps tests -name '*.h' -printf '%h %f\n')
    declare -A owners=() # of each name, the folders that have such a header
    while read -r owner name; do
        owners[$name]+=" $owner"
    done <<<"$headers"
    while IFS=: read -r file line text; do
        n=$((n + 1))
        [[ $text =~ $quoted ]]
        header=${BASH_REMATCH[1]##*/}
        folder=${file%/*}
        case "$folder" in
        core*) allowed="" ;;
        fusion*) allowed="weft_core.h embedded.h" ;;
        fem*) allowed="process.h weft_core.h weft_fusion.h prediction.h calibration.h embedded.h" ;;
        apps/gmsh*) allowed="process.h weft_core.h gmshc.h mesh_stream.h" ;;
        apps*) allowed="process.h weft_core.h weft_fusion.h prediction.h calibration.h weft_fem.h embedded.h embedded_scripts.h embedded_kernels.h" ;;
        esac
        if [ "$header" = gmshc.h ] && [[ $folder != apps/gmsh* ]]; then
            echo "$file:$line: $header: only apps/gmsh may use Gmsh"
        fi
        [ -e "$folder/$header" ] && continue
        [[ " $allowed " == *" $header "* ]] && continue
        for owner in ${owners[$header]:-}; do
            echo "$file:$line: $header: $folder may not use this header of $owner"
        done
    done <<<"$includes"
    echo "$n includes"
)

# The check itself: a tree with one mistake of each kind must give six lines.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{core,fusion,fem,apps/gmsh,apps/check,tests/unit}
touch "$scratch"/core/{weft_core.h,core_internal.h} "$scratch"/fusion/weft_fusion.h "$scratch"/fem/weft_fem.h \
    "$scratch"/apps/check/checked.h "$scratch"/tests/unit/tested.h
echo '#include "weft_fusion.h"' >"$scratch/core/upwards.c"
printf '#include "weft_core.h"\n#  include "../core/core_internal.h"\n' >"$scratch/fusion/internal.c"
printf '#include <stdio.h>\n#include <gmshc.h>\n#include "checked.h"\n' >"$scratch/fem/gmsh.c"
printf '#include "gmshc.h"\n#include "weft_fem.h"\n' >"$scratch/apps/gmsh/fem.c"
echo '#include "tested.h"' >"$scratch/fusion/internal.h"
found=$(check_tree "$scratch" | LC_ALL=C sort)
expected='9 includes
apps/gmsh/fem.c:2: weft_fem.h: apps/gmsh may not use this header of fem
core/upwards.c:1: weft_fusion.h: core may not use this header of fusion
fem/gmsh.c:2: gmshc.h: only apps/gmsh may use Gmsh
fem/gmsh.c:3: checked.h: fem may not use this header of apps/check
fusion/internal.c:2: core_internal.h: fusion may not use this header of core
fusion/internal.h:1: tested.h: fusion may not use this header of tests/unit'
if [ "$found" != "$expected" ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

found=$(check_tree "$WEFT_SOURCE")
echo "$found"
n=$(tail -n 1 <<<"$found")
[ "$(wc -l <<<"$found")" -eq 1 ] && [ "${n%% *}" -gt 500 ]
