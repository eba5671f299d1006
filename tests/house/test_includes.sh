#!/usr/bin/env bash
# labels: quick
# Dependencies go downwards only (fem -> fusion -> core), folders meet in public headers only, and
# gmshc.h is seen by apps/gmsh alone. Public inside the tree are also the tables of what is embedded
# and the format of the stream from weft-gmsh to fem.
set -euo pipefail

# check_tree FOLDER: print every include that breaks the rules as "file:line: header: rule".
check_tree() {
    local top=$1 folder file line header allowed owner
    (cd "$top" && grep -rnE --include='*.c' --include='*.h' '^[[:space:]]*#[[:space:]]*include' \
        core fusion fem apps 2>/dev/null || true) |
        while IFS=: read -r file line text; do
            header=$(sed -E 's/^[^"<]*["<]([^">]*)[">].*/\1/' <<<"$text")
            header=${header##*/}
            folder=${file%/*}
            case "$folder" in
            core*) allowed="" ;;
            fusion*) allowed="weft_core.h embedded.h" ;;
            fem*) allowed="weft_core.h weft_fusion.h prediction.h calibration.h embedded.h" ;;
            apps/gmsh*) allowed="weft_core.h gmshc.h mesh_stream.h" ;;
            apps*) allowed="weft_core.h weft_fusion.h prediction.h calibration.h weft_fem.h embedded.h embedded_scripts.h embedded_kernels.h" ;;
            esac
            if [ "$header" = gmshc.h ] && [[ $folder != apps/gmsh* ]]; then
                echo "$file:$line: $header: only apps/gmsh may use Gmsh"
            fi
            [ -e "$top/$folder/$header" ] && continue
            for owner in core fusion fem apps apps/gmsh tests; do
                if [ -e "$top/$owner/$header" ] && [[ " $allowed " != *" $header "* ]]; then
                    echo "$file:$line: $header: $folder may not use this header of $owner"
                fi
            done
        done
}

# The check itself: a tree with one mistake of each kind must give four lines.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{core,fusion,fem,apps/gmsh}
touch "$scratch"/core/{weft_core.h,core_internal.h} "$scratch"/fusion/weft_fusion.h "$scratch"/fem/weft_fem.h
echo '#include "weft_fusion.h"' >"$scratch/core/upwards.c"
printf '#include "weft_core.h"\n#  include "core_internal.h"\n' >"$scratch/fusion/internal.c"
printf '#include <stdio.h>\n#include <gmshc.h>\n' >"$scratch/fem/gmsh.c"
printf '#include "gmshc.h"\n#include "weft_fem.h"\n' >"$scratch/apps/gmsh/fem.c"
found=$(check_tree "$scratch" | sort)
expected='apps/gmsh/fem.c:2: weft_fem.h: apps/gmsh may not use this header of fem
core/upwards.c:1: weft_fusion.h: core may not use this header of fusion
fem/gmsh.c:2: gmshc.h: only apps/gmsh may use Gmsh
fusion/internal.c:2: core_internal.h: fusion may not use this header of core'
if [ "$found" != "$expected" ]; then
    echo "The check does not find what it should. Found:"
    echo "$found"
    exit 1
fi

found=$(check_tree "$WEFT_SOURCE")
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
n=$(find "$WEFT_SOURCE"/{core,fusion,fem,apps} -name '*.[ch]' | wc -l)
echo "$n files, no include in the wrong direction"
[ "$n" -gt 10 ]
