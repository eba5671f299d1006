#!/usr/bin/env bash
# labels: full
# The plug-in compiles against every cudss.h that is found (CUDSS_INCLUDE, a list of folders with ':'; wheels of Python; the
# system), without warnings, and the library beside it has the functions. Without the library's GPU nothing is run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0
IFS=: read -ra folders <<<"${CUDSS_INCLUDE:-}"
for include in "${folders[@]}" /usr/include /usr/local/cuda/include "${VIRTUAL_ENV:-/usr}"/lib/python3*/site-packages/nvidia/cu1?/include \
    "$HOME"/.local/lib/python3*/site-packages/nvidia/cu1?/include /usr/local/lib/python3*/dist-packages/nvidia/cu1?/include; do
    [ -n "$include" ] && [ -e "$include/cudss.h" ] || continue
    found=1
    # what the plug-in takes from CUDA's headers must be enough
    ${CC:-cc} -std=gnu17 -Wall -Wextra -Werror -fPIC -shared -o "$folder/plugin.so" "${WEFT_SOURCE:?}/kernels/plugins/cudss.c" \
        -I "$include" -I "$WEFT_SOURCE/tests/support/cudss/cuda"
    library=$(find "$include/../lib" -name 'libcudss.so.*' | head -n 1)
    [ -n "$library" ] || continue
    nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort >"$folder/names"
    grep -oE 'FUNCTION\((cudss[A-Za-z]+)\)' "$WEFT_SOURCE/kernels/plugins/cudss.c" | sed 's/.*(//; s/)//' | sort |
        comm -23 - "$folder/names" >"$folder/missing"
    [ ! -s "$folder/missing" ] || { echo "$library lacks"; cat "$folder/missing"; exit 1; }
done
[ $found = 1 ] || { echo "skipped: there is no cudss.h"; exit 77; }
